/* The guard's checksums: 64 bits for any number of bytes, of which every changed word changes them,
 * wherever it is.
 *
 * Words go to sixteen lanes in turn, each of which is rotated and added to: what a compiler turns
 * into vector code. Rotation puts the same bit of different words of a lane at different places,
 * so that flipped bits (as by changing signs) cannot cancel, as long as nothing has gone round:
 * after 32 words of a lane, all lanes are stirred into the sum by "xor, multiply by an odd number,
 * rotate", which is reversible, too.
 */
#include "watch_fast.h"
#include <string.h>

#define LANES 16
#define TURNS 32u                 /* at 7 bits each, no bit meets another one's place */
#define ODD   0x9E3779B97F4A7C15u /* 2^64 divided by the golden ratio */

static inline uint64_t word_at(const uint8_t *data) {
  uint64_t word;
  memcpy(&word, data, sizeof word);
  return word;
}

static inline uint64_t stir(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * ODD;
  return sum << 29 | sum >> 35;
}

uint64_t berth_watch_sum(const uint8_t *data, uint32_t bytes) {
  const uint32_t line = LANES * (uint32_t)sizeof(uint64_t);
  uint64_t sum = bytes;
  while (bytes >= line) {
    uint64_t lanes[LANES] = {0};
    uint32_t turns = bytes / line < TURNS ? bytes / line : TURNS;
    bytes -= turns * line;
    for (; turns > 0; turns--) {
      for (int i = 0; i < LANES; i++) {
        lanes[i] = (lanes[i] << 7 | lanes[i] >> 57) + word_at(data + 8 * i);
      }
      data += line;
    }
    for (int i = 0; i < LANES; i++) sum = stir(sum, lanes[i]);
  }
  for (; bytes >= sizeof(uint64_t); bytes -= (uint32_t)sizeof(uint64_t)) {
    sum = stir(sum, word_at(data));
    data += sizeof(uint64_t);
  }
  uint64_t rest = 0;
  if (bytes > 0) memcpy(&rest, data, bytes);
  sum = stir(sum, rest);
  return sum != BERTH_SUM_NONE ? sum : 1;
}

uint64_t berth_watch_chain(uint64_t sum, uint64_t next) {
  return stir(sum, next);
}

/* ---- Bytes that still hold a pattern --------------------------------------------------------- */

#define LOWEST  0x0101010101010101u
#define HIGHEST 0x8080808080808080u

static bool any_byte_is(const uint8_t *data, uint32_t bytes, uint8_t pattern) {
  for (uint32_t i = 0; i < bytes; i++) {
    if (data[i] == pattern) return true;
  }
  return false;
}

/* Ones where a little-endian word has the lower bytes of elements: they are not looked at. */
static uint64_t lower_bytes(uint32_t element) {
  switch (element) {
  case 2:
    return 0x00FF00FF00FF00FFu;
  case 4:
    return 0x00FFFFFF00FFFFFFu;
  case 8:
    return 0x00FFFFFFFFFFFFFFu;
  default:
    return 0;
  }
}

bool berth_watch_is_left(const uint8_t *data, uint32_t bytes, uint32_t element, uint8_t pattern) {
  uint32_t edge = bytes < sizeof(uint64_t) ? bytes : (uint32_t)sizeof(uint64_t);
  if (any_byte_is(data, edge, pattern) || any_byte_is(data + bytes - edge, edge, pattern)) {
    return true;
  }
  uint64_t left = 0, wanted = LOWEST * pattern, lower = lower_bytes(element);
  size_t words = bytes / sizeof(uint64_t);
  for (size_t i = 0; i < words; i++) {
    uint64_t differs = (word_at(data + i * sizeof(uint64_t)) ^ wanted) | lower;
    left |= (differs - LOWEST) & ~differs; /* the highest bit of a byte that was zero */
  }
  return (left & HIGHEST) != 0;
}

uint8_t berth_watch_first_pattern(berth_tensor_type_t type) {
  switch (type) {
  case BERTH_TYPE_FLOAT32:
  case BERTH_TYPE_FLOAT64:
  case BERTH_TYPE_FLOAT16:
    return 0xFE; /* huge, and negative */
  case BERTH_TYPE_INT8:
    return 0x7E; /* nearly the largest: less often than saturated ones */
  case BERTH_TYPE_INT16:
    return 0x81; /* nearly the smallest */
  default:
    return 0xFD;
  }
}

uint8_t berth_watch_rare(const uint8_t *data, uint32_t bytes, uint32_t element, uint8_t now) {
  uint64_t seen[4] = {0};
  uint32_t count = bytes / element, step = 1 + count / 1024;
  for (uint32_t i = 0; i < count; i += step) {
    uint8_t byte = data[(size_t)i * element + element - 1];
    seen[byte / 64] |= (uint64_t)1 << byte % 64;
  }
  for (uint32_t i = 1; i < 256; i++) {
    uint8_t byte = (uint8_t)(now + 151u * i);
    if ((seen[byte / 64] >> byte % 64 & 1u) == 0) return byte;
  }
  return (uint8_t)(now + 151u);
}
