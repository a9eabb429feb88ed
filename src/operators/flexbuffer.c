/* A map of numbers in a FlexBuffer; see flexbuffer.h. */
#include "operators/flexbuffer.h"
#include <string.h>

/* Types of values, and the two low bits of a type byte: the width is 1 << those. */
enum {
  TYPE_INT = 1,
  TYPE_UINT = 2,
  TYPE_FLOAT = 3,
  TYPE_INDIRECT_INT = 6, /* as above, but stored elsewhere */
  TYPE_INDIRECT_FLOAT = 8,
  TYPE_MAP = 9,
  TYPE_BOOL = 26
};

static bool holds(const berth_flexbuffer_t *map, uint32_t position, uint64_t bytes) {
  return position <= map->size && bytes <= map->size - position;
}

/* A little-endian number of 1, 2, 4 or 8 bytes. */
static bool read_unsigned(const berth_flexbuffer_t *map, uint32_t position, uint32_t width,
                          uint64_t *number) {
  if (!holds(map, position, width)) return false;
  uint64_t result = 0;
  for (uint32_t i = 0; i < width; i++) result |= (uint64_t)map->data[position + i] << (8 * i);
  *number = result;
  return true;
}

/* Follows a distance backwards. */
static bool follow(const berth_flexbuffer_t *map, uint32_t position, uint32_t width,
                   uint32_t *target) {
  uint64_t distance;
  if (!read_unsigned(map, position, width, &distance) || distance > position) return false;
  *target = position - (uint32_t)distance;
  return true;
}

bool berth_flexbuffer_open(berth_bytes_t bytes, berth_flexbuffer_t *map) {
  berth_flexbuffer_t m;
  memset(&m, 0, sizeof m);
  if (bytes.data == NULL || bytes.size < 3 || bytes.size > INT32_MAX) return false;
  m.data = bytes.data;
  m.size = (uint32_t)bytes.size;
  uint32_t root_width = m.data[m.size - 1], type = m.data[m.size - 2];
  if (root_width != 1 && root_width != 2 && root_width != 4 && root_width != 8) return false;
  if (type >> 2 != TYPE_MAP || root_width > m.size - 2) return false;
  if (!follow(&m, m.size - 2 - root_width, root_width, &m.values)) return false;
  m.width = 1u << (type & 3);
  /* In front of the values: where the keys are, their width, and the number of values. */
  uint64_t key_width, count, keys_count;
  if (m.values < 3 * m.width || !follow(&m, m.values - 3 * m.width, m.width, &m.keys) ||
      !read_unsigned(&m, m.values - 2 * m.width, m.width, &key_width) ||
      !read_unsigned(&m, m.values - m.width, m.width, &count)) {
    return false;
  }
  if (key_width != 1 && key_width != 2 && key_width != 4 && key_width != 8) return false;
  m.key_width = (uint32_t)key_width;
  if (count > m.size || !holds(&m, m.values, count * (m.width + 1)) ||
      !holds(&m, m.keys, count * m.key_width) || m.keys < m.key_width ||
      !read_unsigned(&m, m.keys - m.key_width, m.key_width, &keys_count) || keys_count != count) {
    return false;
  }
  m.count = (uint32_t)count;
  *map = m;
  return true;
}

static bool is_name(const berth_flexbuffer_t *map, uint32_t position, const char *name) {
  for (uint32_t at = position; at < map->size && map->data[at] == (uint8_t)*name; at++, name++) {
    if (*name == '\0') return true;
  }
  return false;
}

/* The value of a name: its bits, their width, and TYPE_INT, TYPE_UINT, TYPE_FLOAT or TYPE_BOOL. */
static bool find(const berth_flexbuffer_t *map, const char *name, uint64_t *bits, uint32_t *width,
                 uint32_t *type) {
  for (uint32_t i = 0; i < map->count; i++) {
    uint32_t key;
    if (!follow(map, map->keys + i * map->key_width, map->key_width, &key)) return false;
    if (!is_name(map, key, name)) continue;
    uint32_t packed = map->data[map->values + map->count * map->width + i];
    uint32_t position = map->values + i * map->width;
    *width = map->width;
    *type = packed >> 2;
    if (*type >= TYPE_INDIRECT_INT && *type <= TYPE_INDIRECT_FLOAT) {
      if (!follow(map, position, map->width, &position)) return false;
      *width = 1u << (packed & 3);
      *type -= TYPE_INDIRECT_INT - TYPE_INT;
    }
    if ((*type < TYPE_INT || *type > TYPE_FLOAT) && *type != TYPE_BOOL) return false;
    return read_unsigned(map, position, *width, bits);
  }
  return false;
}

static int64_t as_signed(uint64_t bits, uint32_t width) {
  if (width > 0 && width < 8 && bits >> (8 * width - 1)) bits |= UINT64_MAX << (8 * width);
  return (int64_t)bits;
}

/* A float of 4 or 8 bytes. */
static bool as_float(uint64_t bits, uint32_t width, double *number) {
  if (width == 8) {
    memcpy(number, &bits, sizeof *number);
    return true;
  }
  uint32_t low = (uint32_t)bits;
  float single;
  memcpy(&single, &low, sizeof single);
  *number = (double)single;
  return width == 4;
}

bool berth_flexbuffer_int(const berth_flexbuffer_t *map, const char *name, int64_t *number) {
  uint64_t bits;
  uint32_t width, type;
  if (!find(map, name, &bits, &width, &type)) return false;
  if (type == TYPE_FLOAT) {
    double real;
    if (!as_float(bits, width, &real) || !(real > -0x1p63 && real < 0x1p63)) return false;
    *number = (int64_t)real;
    return true;
  }
  if (type != TYPE_INT && bits > INT64_MAX) return false;
  *number = type == TYPE_INT ? as_signed(bits, width) : (int64_t)bits;
  return true;
}

bool berth_flexbuffer_float(const berth_flexbuffer_t *map, const char *name, float *number) {
  uint64_t bits;
  uint32_t width, type;
  double real;
  if (!find(map, name, &bits, &width, &type)) return false;
  if (type == TYPE_FLOAT) {
    if (!as_float(bits, width, &real)) return false;
    *number = (float)real;
  } else {
    *number = type == TYPE_INT ? (float)as_signed(bits, width) : (float)bits;
  }
  return true;
}
