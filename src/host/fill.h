/* Made-up inputs: the same values on every machine, also on a microcontroller. */
#ifndef BERTH_SRC_HOST_FILL_H
#define BERTH_SRC_HOST_FILL_H

#include "berth/operator.h"
#include <string.h>

/* splitmix64 (Steele, Lea & Flood 2014). */
static inline uint64_t berth_fill_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Floats uniform in [-1, 1); integers of 8 and 16 bits over their whole range; wider ones, which
 * are often indices, 0 to 9; booleans. */
static inline void berth_fill_random(const berth_value_t *value, uint64_t *state) {
  uint32_t bits = berth_tensor_type_bits(value->type);
  for (uint32_t i = 0; i < value->elements; i++) {
    uint64_t random = berth_fill_next(state) >> 16;
    if (value->type == BERTH_TYPE_FLOAT32) {
      float x = (float)(random & 0xffffffu) / 8388608.0f - 1.0f;
      memcpy(value->data + (size_t)i * sizeof x, &x, sizeof x);
    } else if (value->type == BERTH_TYPE_BOOL) {
      value->data[i] = random & 1u;
    } else if (bits == 8) {
      value->data[i] = (uint8_t)random;
    } else if (bits == 16) {
      memcpy(value->data + (size_t)i * 2, &random, 2);
    } else if (bits == 32 || bits == 64) {
      uint64_t x = random % 10;
      memcpy(value->data + (size_t)i * (bits / 8), &x, bits / 8);
    }
  }
}

/* CRC-32 (IEEE 802.3) of some bytes. */
static inline uint32_t berth_crc32(const void *data, size_t bytes) {
  const uint8_t *p = (const uint8_t *)data;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0u);
  }
  return ~crc;
}

#endif
