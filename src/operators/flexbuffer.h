/* Reads the options of custom operators: a FlexBuffer whose root is a map from names to numbers.
 *
 * The bytes come from an untrusted file: every offset is checked before it is followed, and what is
 * malformed is answered with false. Source of the format: FlexBuffers, "FlexBuffers Internals".
 */
#ifndef BERTH_OPERATORS_FLEXBUFFER_H
#define BERTH_OPERATORS_FLEXBUFFER_H

#include "berth/model.h"

typedef struct berth_flexbuffer {
  const uint8_t *data;
  uint32_t size;
  uint32_t values; /* position of the first value; their types follow the last one, a byte each */
  uint32_t width;  /* bytes of a value */
  uint32_t keys;   /* position of the first key: distances backwards to NUL-terminated names */
  uint32_t key_width;
  uint32_t count;
} berth_flexbuffer_t;

/* Opens the map; false: the bytes are no FlexBuffer, or its root is no map. */
bool berth_flexbuffer_open(berth_bytes_t bytes, berth_flexbuffer_t *map);

/* The number under that (NUL-terminated) name, whatever its type (bool, integer or float); false if
 * there is none. As an integer, a float is cut, and must be in range. */
bool berth_flexbuffer_int(const berth_flexbuffer_t *map, const char *name, int64_t *number);
bool berth_flexbuffer_float(const berth_flexbuffer_t *map, const char *name, float *number);

#endif
