/* Elements of the vectors that the reader hands out. */
#include "flatbuffer.h"

int32_t berth_vector_int(berth_vector_t vector, uint32_t index) {
  return (int32_t)flat_load32(vector.data + 4 * (size_t)index);
}

int64_t berth_vector_long(berth_vector_t vector, uint32_t index) {
  return (int64_t)flat_load64(vector.data + 8 * (size_t)index);
}

float berth_vector_float(berth_vector_t vector, uint32_t index) {
  return flat_load_float(vector.data + 4 * (size_t)index);
}

uint32_t berth_vector_unsigned(berth_vector_t vector, uint32_t width, uint32_t index) {
  const uint8_t *at = vector.data + (size_t)width * index;
  return width == 1 ? at[0] : width == 2 ? flat_load16(at) : flat_load32(at);
}

bool berth_vector_holds(berth_vector_t vector, uint32_t value) {
  for (uint32_t i = 0; i < vector.count; i++) {
    if ((uint32_t)berth_vector_int(vector, i) == value) return true;
  }
  return false;
}
