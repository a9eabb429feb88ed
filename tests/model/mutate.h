/* Mutations of model files for the fuzzing programs: the same mutants on every machine.
 *
 * Set `mutate_state` from a seed and the mutant's number, then call mutate() a few times. */
#ifndef BERTH_TESTS_MODEL_MUTATE_H
#define BERTH_TESTS_MODEL_MUTATE_H

#include "model/flatbuffer.h"

#include <stdint.h>
#include <string.h>

/* ---- Random numbers (splitmix64; Steele, Lea & Flood, 2014) --------------------------------- */

static uint64_t mutate_state;

static uint64_t next_random(void) {
  uint64_t z = mutate_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Two calls must not stand where C leaves their order open: mutants are the same everywhere. */
static size_t below(size_t limit) {
  return (size_t)(next_random() % limit);
}

/* ---- Mutations ------------------------------------------------------------------------------ */

typedef struct file {
  uint8_t *data;
  size_t size;
} file_t;

/* A place to change. Tables gather at the two ends of most files; weights lie between. */
static size_t place(const file_t *file) {
  size_t near_end = file->size < 4096 ? file->size : 4096;
  switch (below(4)) {
  case 0:
    return below(near_end);
  case 1:
    return file->size - 1 - below(near_end);
  default:
    return below(file->size);
  }
}

static void store(file_t *file, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width && at + i < file->size; i++)
    file->data[at + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t interesting(const file_t *file) {
  static const uint64_t numbers[] = {
      0,      1,       2,          3,          4,          7,          8,
      16,     31,      32,         127,        128,        255,        256,
      0x7fff, 0x8000,  0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
      99999,  1000000, 0xfffffffe, 0xfffffffc, 0x40000000, UINT64_MAX, (uint64_t)INT64_MAX};
  if (below(4) == 0) return (uint64_t)file->size - 4 + below(9);
  return numbers[below(sizeof numbers / sizeof numbers[0])];
}

static void mutate(file_t *file) {
  if (file->size == 0) return;
  size_t at = place(file);
  switch (below(10)) {
  case 0:
  case 1: /* a bit */
    file->data[at] ^= (uint8_t)(1u << below(8));
    break;
  case 2: /* a byte */
    file->data[at] = (uint8_t)next_random();
    break;
  case 3: /* the end is missing */
    file->size -= below(2) == 0 ? below(file->size) : below(file->size < 64 ? file->size : 64);
    break;
  case 4: { /* an interesting number */
    size_t width = (size_t)1 << below(4);
    store(file, at, width, interesting(file));
    break;
  }
  case 5: /* a reference to somewhere else */
    store(file, at & ~(size_t)3, 4, place(file) - (at & ~(size_t)3));
    break;
  case 6: { /* a number from somewhere else */
    size_t from = place(file);
    if (from + 4 <= file->size) store(file, at, 4, flat_load32(file->data + from));
    break;
  }
  case 7: { /* a block of the file over another one */
    size_t from = place(file);
    size_t room = file->size - (at > from ? at : from);
    memmove(file->data + at, file->data + from, below((room < 64 ? room : 64) + 1));
    break;
  }
  case 8: /* an element of a list refers to where its neighbour does */
    if (at + 8 <= file->size) {
      uint32_t neighbour = flat_load32(file->data + at);
      store(file, at + 4, 4, neighbour - 4);
    }
    break;
  default: /* a small change of a number */
    store(file, at, 1, (uint64_t)(file->data[at] + (below(2) == 0 ? 1 : -1)));
    break;
  }
}

#endif
