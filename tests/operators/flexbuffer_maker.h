/* Makes a FlexBuffer: a map of numbers, as operators' custom options are. */
#ifndef BERTH_TESTS_OPERATORS_FLEXBUFFER_MAKER_H
#define BERTH_TESTS_OPERATORS_FLEXBUFFER_MAKER_H

#include "test.h"

#include "berth/model.h"
#include <string.h>

typedef struct maker_entry {
  const char *name;
  bool is_float;
  int32_t integer;
  float real;
} maker_entry_t;

#define MAKE_INT(n, v)                                                                             \
  { .name = (n), .integer = (v) }
#define MAKE_FLOAT(n, v)                                                                           \
  { .name = (n), .is_float = true, .real = (v) }

typedef struct maker {
  uint8_t bytes[1024];
  uint32_t size;
} maker_t;

static inline void maker_put(maker_t *m, uint32_t number) {
  for (int i = 0; i < 4; i++) m->bytes[m->size++] = (uint8_t)(number >> (8 * i));
}

/* A map with numbers of 4 bytes. */
static inline berth_bytes_t maker_map(maker_t *m, const maker_entry_t *entries, uint32_t count) {
  uint32_t names[32];
  memset(m, 0, sizeof *m);
  assert_true(count <= 32);
  for (uint32_t i = 0; i < count; i++) {
    names[i] = m->size;
    strcpy((char *)m->bytes + m->size, entries[i].name);
    m->size += (uint32_t)strlen(entries[i].name) + 1;
  }
  maker_put(m, count);
  uint32_t keys = m->size;
  for (uint32_t i = 0; i < count; i++) maker_put(m, m->size - names[i]);
  maker_put(m, m->size - keys);
  maker_put(m, 4);
  maker_put(m, count);
  uint32_t values = m->size;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t bits = (uint32_t)entries[i].integer;
    if (entries[i].is_float) memcpy(&bits, &entries[i].real, sizeof bits);
    maker_put(m, bits);
  }
  for (uint32_t i = 0; i < count; i++) {
    m->bytes[m->size++] = (uint8_t)((entries[i].is_float ? 3 : 1) << 2 | 2);
  }
  uint32_t root = m->size;
  maker_put(m, root - values);
  m->bytes[m->size++] = 9 << 2 | 2;
  m->bytes[m->size++] = 4;
  assert_true(m->size <= sizeof m->bytes);
  return (berth_bytes_t){m->bytes, m->size};
}

#endif
