/* Builds small FlatBuffers for tests, front to back, without any care for alignment (which the
 * reader must not need): a table is followed by its fields, and whatever refers to something is
 * linked to the end of the file, where that something is then put.
 *
 * Positions are kept by the tests that break a file at a certain place.
 */
#ifndef BERTH_TESTS_MODEL_BUILDER_H
#define BERTH_TESTS_MODEL_BUILDER_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#ifndef BUILDER_ROOM
#define BUILDER_ROOM 16384 /* bytes of the largest file */
#endif

typedef struct builder {
  uint8_t bytes[BUILDER_ROOM];
  uint32_t size;
} builder_t;

static inline void poke(builder_t *file, uint32_t at, uint32_t width, uint64_t value) {
  assert(at + width <= sizeof file->bytes);
  for (uint32_t i = 0; i < width; i++) file->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static inline uint32_t peek(const builder_t *file, uint32_t at, uint32_t width) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < width; i++) value |= (uint32_t)file->bytes[at + i] << 8 * i;
  return value;
}

/* Appends a number; its position. */
static inline uint32_t put(builder_t *file, uint32_t width, uint64_t value) {
  uint32_t at = file->size;
  poke(file, at, width, value);
  file->size += width;
  return at;
}

/* Appends a table with room for `fields` fields, all absent; its position. */
static inline uint32_t put_table(builder_t *file, uint32_t fields) {
  uint32_t vtable = put(file, 2, 4 + 2 * fields);
  put(file, 2, 4);
  for (uint32_t i = 0; i < fields; i++) put(file, 2, 0);
  return put(file, 4, file->size - vtable);
}

/* Where the vtable's entry for a field is. */
static inline uint32_t slot_of(const builder_t *file, uint32_t table, uint32_t field) {
  return table - peek(file, table, 4) + 4 + 2 * field;
}

/* Gives a table a field with a number; the number's position. */
static inline uint32_t put_field(builder_t *file, uint32_t table, uint32_t field, uint32_t width,
                                 uint64_t value) {
  assert(slot_of(file, table, field) < table && file->size - table < 65536);
  poke(file, slot_of(file, table, field), 2, file->size - table);
  poke(file, slot_of(file, table, 0) - 2, 2, file->size + width - table);
  return put(file, width, value);
}

/* Lets the reference at `at` refer to the end of the file. */
static inline void link_to_end(builder_t *file, uint32_t at) {
  poke(file, at, 4, file->size - at);
}

static inline void put_text(builder_t *file, uint32_t table, uint32_t field, const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  link_to_end(file, put_field(file, table, field, 4, 0));
  put(file, 4, length);
  for (uint32_t i = 0; i <= length; i++) put(file, 1, (uint8_t)text[i]);
}

/* A vector of numbers; the position of its length. */
static inline uint32_t put_vector(builder_t *file, uint32_t table, uint32_t field, uint32_t width,
                                  uint32_t count, const int64_t *values) {
  link_to_end(file, put_field(file, table, field, 4, 0));
  uint32_t at = put(file, 4, count);
  for (uint32_t i = 0; i < count; i++) put(file, width, (uint64_t)values[i]);
  return at;
}

/* Likewise, with the numbers written out: put_ints(file, table, field, 1, 2, 3). */
#define put_ints(file, table, field, ...)                                                          \
  put_vector(file, table, field, 4, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t),              \
             (const int64_t[]){__VA_ARGS__})

/* A vector of `count` tables, not there yet; the position of the first reference. */
static inline uint32_t put_list(builder_t *file, uint32_t table, uint32_t field, uint32_t count) {
  link_to_end(file, put_field(file, table, field, 4, 0));
  put(file, 4, count);
  uint32_t first = file->size;
  for (uint32_t i = 0; i < count; i++) put(file, 4, 0);
  return first;
}

/* Table number `index` of that list. */
static inline uint32_t put_element(builder_t *file, uint32_t list, uint32_t index,
                                   uint32_t fields) {
  uint32_t table = put_table(file, fields);
  poke(file, list + 4 * index, 4, table - (list + 4 * index));
  return table;
}

/* A table that a field refers to. */
static inline uint32_t put_child(builder_t *file, uint32_t table, uint32_t field, uint32_t fields) {
  uint32_t at = put_field(file, table, field, 4, 0);
  uint32_t child = put_table(file, fields);
  poke(file, at, 4, child - at);
  return child;
}

#endif
