/* Steps through a FlatBuffer whose offsets have been verified.
 *
 * A table is a position in the file; before its fields lies (anywhere) a vtable that says for each
 * field how far from the table it is, so that fields can be left out. Vectors and strings are a
 * 32-bit length followed by the elements; both, and tables inside tables, are reached through a
 * 32-bit distance. Everything is little-endian and loaded byte by byte, because files in flash need
 * not be aligned.
 *
 * Used by the reader, which never meets an unverified position: verify.c has checked every field
 * that is named in fields.h. Positions are 32-bit, since a FlatBuffer ends before 2^31.
 */
#ifndef BERTH_MODEL_FLATBUFFER_H
#define BERTH_MODEL_FLATBUFFER_H

#include "berth/model.h"

#include <string.h>

static inline uint32_t flat_load16(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t flat_load32(const uint8_t *at) {
  return flat_load16(at) | flat_load16(at + 2) << 16;
}

static inline uint64_t flat_load64(const uint8_t *at) {
  return flat_load32(at) | (uint64_t)flat_load32(at + 4) << 32;
}

static inline float flat_load_float(const uint8_t *at) {
  uint32_t bits = flat_load32(at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The table's vtable. The distance to it is signed; the subtraction wraps to the right place. */
static inline uint32_t flat_vtable(berth_table_t table) {
  return table.position - flat_load32(table.file + table.position);
}

/* Where the value of a field lies; 0 if the field, or the whole table, is absent. */
static inline uint32_t flat_field(berth_table_t table, uint32_t field) {
  if (table.position == 0 || field > UINT16_MAX / 2) return 0;
  uint32_t vtable = flat_vtable(table);
  uint32_t slot = 4 + 2 * field; /* behind the sizes of the vtable and of the table */
  if (slot + 2 > flat_load16(table.file + vtable)) return 0;
  uint32_t distance = flat_load16(table.file + vtable + slot);
  return distance == 0 ? 0 : table.position + distance;
}

/* ---- Values of fields ----------------------------------------------------------------------- */

static inline int32_t flat_byte(berth_table_t table, uint32_t field, int32_t fallback) {
  uint32_t at = flat_field(table, field);
  return at == 0 ? fallback : (int8_t)table.file[at];
}

static inline uint32_t flat_u32(berth_table_t table, uint32_t field, uint32_t fallback) {
  uint32_t at = flat_field(table, field);
  return at == 0 ? fallback : flat_load32(table.file + at);
}

static inline int32_t flat_int(berth_table_t table, uint32_t field, int32_t fallback) {
  return (int32_t)flat_u32(table, field, (uint32_t)fallback);
}

static inline uint64_t flat_u64(berth_table_t table, uint32_t field, uint64_t fallback) {
  uint32_t at = flat_field(table, field);
  return at == 0 ? fallback : flat_load64(table.file + at);
}

/* Where the vector, string or table that a field refers to lies; 0: absent. */
static inline uint32_t flat_target(berth_table_t table, uint32_t field) {
  uint32_t at = flat_field(table, field);
  return at == 0 ? 0 : at + flat_load32(table.file + at);
}

static inline berth_table_t flat_table_at(berth_table_t same_file, uint32_t position) {
  return (berth_table_t){same_file.file, position, same_file.file_size};
}

static inline berth_table_t flat_child(berth_table_t table, uint32_t field) {
  return flat_table_at(table, flat_target(table, field));
}

static inline berth_vector_t flat_vector(berth_table_t table, uint32_t field) {
  uint32_t at = flat_target(table, field);
  if (at == 0) return (berth_vector_t){NULL, 0};
  return (berth_vector_t){table.file + at + 4, flat_load32(table.file + at)};
}

/* Element `index` of a vector of tables. */
static inline berth_table_t flat_element(berth_table_t table, uint32_t field, uint32_t index) {
  uint32_t at = flat_target(table, field) + 4 + 4 * index;
  return flat_table_at(table, at + flat_load32(table.file + at));
}

static inline berth_bytes_t flat_bytes(berth_table_t table, uint32_t field) {
  berth_vector_t vector = flat_vector(table, field);
  if (vector.count == 0) return (berth_bytes_t){NULL, 0};
  return (berth_bytes_t){vector.data, vector.count};
}

static inline berth_text_t flat_text(berth_table_t table, uint32_t field) {
  berth_vector_t vector = flat_vector(table, field);
  if (vector.data == NULL) return (berth_text_t){"", 0};
  return (berth_text_t){(const char *)vector.data, vector.count};
}

#endif
