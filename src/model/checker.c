/* Checks of single parts of a FlatBuffer; see checker.h. Sums of positions and lengths are formed
 * in 64 bits, where they cannot wrap: a position is below 2^31 + 2^32, a vector below 2^35 bytes.
 */
#include "checker.h"

static const char beyond[] = "reaches beyond the end of the file";

bool berth_check_refuse(berth_checker_t *checker, const char *subject, const char *fault,
                        uint64_t position) {
  checker->error.subject = subject;
  checker->error.fault = fault;
  checker->error.position = position;
  return false;
}

bool berth_check_spend(berth_checker_t *checker, uint64_t bytes, const char *subject) {
  if (bytes > checker->budget)
    return berth_check_refuse(checker, subject, "shares its bytes with too many other parts", 0);
  checker->budget -= bytes;
  return true;
}

static bool fits(const berth_checker_t *checker, uint64_t position, uint64_t bytes) {
  return bytes <= checker->size && position <= checker->size - bytes;
}

bool berth_check_table(berth_checker_t *checker, uint32_t from, uint64_t position,
                       const char *subject, berth_table_t *table) {
  if (!fits(checker, position, 4)) return berth_check_refuse(checker, subject, beyond, from);
  int64_t vtable = (int64_t)position - (int32_t)flat_load32(checker->file + position);
  if (vtable < 0 || !fits(checker, (uint64_t)vtable, 4))
    return berth_check_refuse(checker, subject, "has its vtable outside the file", position);
  uint32_t bytes = flat_load16(checker->file + vtable);
  if (bytes < 4 || !fits(checker, (uint64_t)vtable, bytes))
    return berth_check_refuse(checker, subject, "has a vtable of impossible size", position);
  *table = (berth_table_t){checker->file, (uint32_t)position, checker->size};
  return true;
}

bool berth_check_number(berth_checker_t *checker, berth_table_t table, uint32_t field,
                        uint32_t width, const char *subject) {
  uint32_t at = flat_field(table, field);
  return at == 0 || fits(checker, at, width) || berth_check_refuse(checker, subject, beyond, at);
}

/* A field that refers to something: `*target` is its position, with at least 4 bytes, or 0. */
static bool check_target(berth_checker_t *checker, berth_table_t table, uint32_t field,
                         const char *subject, uint32_t *target) {
  *target = 0;
  if (!berth_check_number(checker, table, field, 4, subject)) return false;
  uint32_t at = flat_field(table, field);
  if (at == 0) return true;
  uint64_t position = (uint64_t)at + flat_load32(table.file + at);
  if (!fits(checker, position, 4)) return berth_check_refuse(checker, subject, beyond, at);
  *target = (uint32_t)position;
  return true;
}

bool berth_check_data(berth_checker_t *checker, berth_table_t table, uint32_t field, uint32_t width,
                      const char *subject, berth_vector_t *vector) {
  uint32_t target;
  *vector = (berth_vector_t){NULL, 0};
  if (!check_target(checker, table, field, subject, &target)) return false;
  if (target == 0) return true;
  uint32_t count = flat_load32(table.file + target);
  if (!fits(checker, (uint64_t)target + 4, (uint64_t)count * width))
    return berth_check_refuse(checker, subject, beyond, target);
  *vector = (berth_vector_t){table.file + target + 4, count};
  return true;
}

bool berth_check_vector(berth_checker_t *checker, berth_table_t table, uint32_t field,
                        uint32_t width, const char *subject, berth_vector_t *vector) {
  return berth_check_data(checker, table, field, width, subject, vector) &&
         berth_check_spend(checker, vector->count, subject);
}

bool berth_check_text(berth_checker_t *checker, berth_table_t table, uint32_t field,
                      const char *subject) {
  berth_vector_t text;
  if (!berth_check_vector(checker, table, field, 1, subject, &text)) return false;
  if (text.data == NULL) return true;
  uint64_t end = (uint64_t)(text.data - checker->file) + text.count;
  if (!fits(checker, end, 1)) return berth_check_refuse(checker, subject, beyond, end);
  return checker->file[end] == 0 ||
         berth_check_refuse(checker, subject, "does not end with a NUL", end);
}

bool berth_check_child(berth_checker_t *checker, berth_table_t table, uint32_t field,
                       const char *subject, berth_table_t *child) {
  uint32_t target;
  *child = flat_table_at(table, 0);
  if (!check_target(checker, table, field, subject, &target)) return false;
  return target == 0 ||
         berth_check_table(checker, flat_field(table, field), target, subject, child);
}

bool berth_check_list(berth_checker_t *checker, berth_table_t table, uint32_t field, uint32_t most,
                      const char *subject, uint32_t *count) {
  berth_vector_t list;
  if (!berth_check_data(checker, table, field, 4, subject, &list)) return false;
  if (list.count > most)
    return berth_check_refuse(checker, subject, "are more than Berth accepts",
                              flat_target(table, field));
  *count = list.count;
  return true;
}

bool berth_check_element(berth_checker_t *checker, berth_table_t table, uint32_t field,
                         uint32_t index, const char *subject, berth_table_t *element) {
  uint32_t at = flat_target(table, field) + 4 + 4 * index;
  uint64_t position = (uint64_t)at + flat_load32(table.file + at);
  return berth_check_spend(checker, 8, subject) &&
         berth_check_table(checker, at, position, subject, element);
}

bool berth_check_range(berth_checker_t *checker, berth_table_t table, uint32_t field, int64_t least,
                       int64_t limit, const char *subject, const char *fault,
                       berth_vector_t *vector) {
  if (!berth_check_vector(checker, table, field, 4, subject, vector)) return false;
  for (uint32_t i = 0; i < vector->count; i++) {
    int32_t value = berth_vector_int(*vector, i);
    if (value < least || value >= limit)
      return berth_check_refuse(checker, subject, fault,
                                (uint64_t)(vector->data - checker->file) + 4 * (uint64_t)i);
  }
  return true;
}

bool berth_check_outside(berth_checker_t *checker, berth_table_t table, uint32_t offset_field,
                         uint32_t size_field, const char *subject) {
  if (!berth_check_number(checker, table, offset_field, 8, subject) ||
      !berth_check_number(checker, table, size_field, 8, subject))
    return false;
  uint64_t offset = flat_u64(table, offset_field, 0);
  uint64_t size = flat_u64(table, size_field, 0);
  if (offset <= 1) return true;
  if (size > checker->file_size || offset > checker->file_size - size)
    return berth_check_refuse(checker, subject, beyond, flat_field(table, offset_field));
  return true;
}
