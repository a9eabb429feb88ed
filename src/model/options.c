/* Fields of an operator's options table, for kernels.
 *
 * Which fields a table has depends on the operator, and files pair operators with tables as they
 * like; so the verifier checks only that the table's vtable lies in the file, and each field is
 * checked here, when it is read. A field that doesn't fit the file counts as absent.
 */
#include "flatbuffer.h"

/* Where a field of `width` bytes lies; 0: nowhere. */
static uint32_t locate(berth_table_t options, uint32_t field, uint32_t width) {
  uint32_t at = flat_field(options, field);
  return at != 0 && (uint64_t)at + width <= options.file_size ? at : 0;
}

/* The vector that a field refers to; empty unless all of its elements and `tail` more bytes are in
 * the file. */
static berth_vector_t locate_vector(berth_table_t options, uint32_t field, uint32_t width,
                                    uint32_t tail) {
  const berth_vector_t none = {NULL, 0};
  uint32_t at = locate(options, field, 4);
  if (at == 0) return none;
  uint64_t start = (uint64_t)at + flat_load32(options.file + at) + 4;
  if (start > options.file_size) return none;
  uint32_t count = flat_load32(options.file + start - 4);
  if ((uint64_t)count * width + tail > options.file_size - start) return none;
  return (berth_vector_t){options.file + start, count};
}

int32_t berth_option_int(berth_table_t options, uint32_t field, int32_t fallback) {
  uint32_t at = locate(options, field, 4);
  return at == 0 ? fallback : (int32_t)flat_load32(options.file + at);
}

int32_t berth_option_byte(berth_table_t options, uint32_t field, int32_t fallback) {
  uint32_t at = locate(options, field, 1);
  return at == 0 ? fallback : (int8_t)options.file[at];
}

int64_t berth_option_long(berth_table_t options, uint32_t field, int64_t fallback) {
  uint32_t at = locate(options, field, 8);
  return at == 0 ? fallback : (int64_t)flat_load64(options.file + at);
}

float berth_option_float(berth_table_t options, uint32_t field, float fallback) {
  uint32_t at = locate(options, field, 4);
  return at == 0 ? fallback : flat_load_float(options.file + at);
}

berth_vector_t berth_option_ints(berth_table_t options, uint32_t field) {
  return locate_vector(options, field, 4, 0);
}

berth_vector_t berth_option_longs(berth_table_t options, uint32_t field) {
  return locate_vector(options, field, 8, 0);
}

berth_vector_t berth_option_floats(berth_table_t options, uint32_t field) {
  return locate_vector(options, field, 4, 0);
}

berth_text_t berth_option_text(berth_table_t options, uint32_t field) {
  berth_vector_t text = locate_vector(options, field, 1, 1);
  if (text.data == NULL || text.data[text.count] != 0) return (berth_text_t){"", 0};
  return (berth_text_t){(const char *)text.data, text.count};
}
