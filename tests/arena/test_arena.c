/* The run-time arena against a byte map: what it hands out is aligned, inside and disjoint, and
 * what is freed can be had again. */
#include "test.h"

#include "berth/arena.h"
#include <stdlib.h>
#include <string.h>

static _Alignas(64) uint8_t memory[1024];

static void a_new_arena_gives_its_whole_capacity(void **state) {
  (void)state;
  berth_arena_t arena;
  uint32_t offset;
  berth_arena_init(&arena, memory, sizeof memory);
  assert_int_equal(berth_arena_allocate(&arena, 1024, 64, &offset), BERTH_OK);
  assert_int_equal(offset, 0);
  uint32_t untouched = 77;
  assert_int_equal(berth_arena_allocate(&arena, 1, 1, &untouched), BERTH_ERROR_MEMORY);
  assert_int_equal(untouched, 77);
  assert_int_equal(arena.high_water, 1024);
}

static void freed_neighbours_coalesce(void **state) {
  (void)state;
  berth_arena_t arena;
  uint32_t a, b, c, d, all;
  berth_arena_init(&arena, memory, sizeof memory);
  assert_int_equal(berth_arena_allocate(&arena, 256, 8, &a), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 256, 8, &b), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 256, 8, &c), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 256, 8, &d), BERTH_OK);
  assert_int_equal(berth_arena_free(&arena, a, 256), BERTH_OK);
  assert_int_equal(berth_arena_free(&arena, c, 256), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 512, 8, &all), BERTH_ERROR_MEMORY);
  assert_int_equal(berth_arena_free(&arena, b, 256), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 768, 8, &all), BERTH_OK);
  assert_int_equal(all, 0);
  assert_int_equal(berth_arena_free(&arena, d, 256), BERTH_OK);
  assert_int_equal(berth_arena_free(&arena, all, 768), BERTH_OK);
  assert_int_equal(arena.used, 0);
  assert_int_equal(arena.top, 0);
}

static void freeing_twice_or_outside_is_refused(void **state) {
  (void)state;
  berth_arena_t arena;
  uint32_t a, b;
  berth_arena_init(&arena, memory, sizeof memory);
  assert_int_equal(berth_arena_allocate(&arena, 64, 8, &a), BERTH_OK);
  assert_int_equal(berth_arena_allocate(&arena, 64, 8, &b), BERTH_OK);
  assert_int_equal(berth_arena_free(&arena, a, 64), BERTH_OK);
  assert_int_equal(berth_arena_free(&arena, a, 64), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_free(&arena, a + 8, 64), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_free(&arena, 4096, 8), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_free(&arena, b + 4, 8), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_free(&arena, b, UINT32_MAX), BERTH_ERROR_ARGUMENT);
  assert_int_equal(arena.used, 64);
}

static void sizes_that_overflow_and_bad_alignments_are_refused(void **state) {
  (void)state;
  berth_arena_t arena;
  uint32_t offset;
  berth_arena_init(&arena, memory, sizeof memory);
  assert_int_equal(berth_arena_allocate(&arena, UINT32_MAX, 8, &offset), BERTH_ERROR_OVERFLOW);
  assert_int_equal(berth_arena_allocate(&arena, UINT32_MAX - 7, 8, &offset), BERTH_ERROR_MEMORY);
  assert_int_equal(berth_arena_allocate(&arena, 8, 3, &offset), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_allocate(&arena, 8, 0, &offset), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_arena_allocate(&arena, 8, 8192, &offset), BERTH_ERROR_ARGUMENT);
}

static berth_status_t double_it(void *user, berth_arena_t *arena, uint32_t bytes) {
  uint8_t **block = user;
  uint32_t capacity = bytes * 2;
  *block = realloc(*block, capacity);
  arena->base = *block;
  arena->capacity = capacity;
  return BERTH_OK;
}

static void it_grows_where_the_caller_allows_it_and_the_base_may_move(void **state) {
  (void)state;
  berth_arena_t arena;
  uint8_t *block = malloc(16);
  berth_arena_init(&arena, block, 16);
  arena.grow = double_it;
  arena.grow_user = &block;
  uint32_t offsets[20];
  for (uint32_t i = 0; i < 20; i++) {
    assert_int_equal(berth_arena_allocate(&arena, 40, 8, &offsets[i]), BERTH_OK);
    memset(arena.base + offsets[i], (int)i, 40);
  }
  for (uint32_t i = 0; i < 20; i++) {
    for (uint32_t k = 0; k < 40; k++) assert_int_equal(arena.base[offsets[i] + k], i);
  }
  for (uint32_t i = 0; i < 20; i += 2) {
    assert_int_equal(berth_arena_free(&arena, offsets[i], 40), BERTH_OK);
  }
  for (uint32_t i = 1; i < 20; i += 2) {
    assert_int_equal(berth_arena_free(&arena, offsets[i], 40), BERTH_OK);
  }
  assert_int_equal(arena.top, 0);
  free(block);
}

static void random_use_never_overlaps_and_never_leaks(void **state) {
  (void)state;
  static uint8_t owner[sizeof memory];
  struct {
    uint32_t offset, bytes;
  } live[64];
  uint32_t count = 0, random = 12345;
  berth_arena_t arena;
  berth_arena_init(&arena, memory, sizeof memory);
  memset(owner, 0, sizeof owner);
  for (int step = 0; step < 200000; step++) {
    random = random * 1664525u + 1013904223u;
    uint32_t r = random >> 8;
    if (count < 64 && r % 3 != 0) {
      uint32_t bytes = r / 3 % 120, align = 1u << (r / 1000 % 7), offset;
      if (berth_arena_allocate(&arena, bytes, align, &offset) == BERTH_OK) {
        uint32_t span = bytes ? bytes : 1;
        assert_int_equal(offset % align, 0);
        assert_true(offset + span <= sizeof memory);
        for (uint32_t i = 0; i < span; i++) {
          assert_int_equal(owner[offset + i], 0);
          owner[offset + i] = 1;
        }
        memset(memory + offset, 0xA5, span);
        live[count].offset = offset;
        live[count++].bytes = bytes;
      }
    } else if (count > 0) {
      uint32_t victim = r / 3 % count;
      uint32_t span = live[victim].bytes ? live[victim].bytes : 1;
      memset(owner + live[victim].offset, 0, span);
      assert_int_equal(berth_arena_free(&arena, live[victim].offset, live[victim].bytes), BERTH_OK);
      live[victim] = live[--count];
    }
  }
  while (count > 0) {
    count--;
    assert_int_equal(berth_arena_free(&arena, live[count].offset, live[count].bytes), BERTH_OK);
  }
  assert_int_equal(arena.used, 0);
  assert_int_equal(arena.top, 0);
  assert_int_equal(arena.free, BERTH_NO_OFFSET);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_new_arena_gives_its_whole_capacity),
      cmocka_unit_test(freed_neighbours_coalesce),
      cmocka_unit_test(freeing_twice_or_outside_is_refused),
      cmocka_unit_test(sizes_that_overflow_and_bad_alignments_are_refused),
      cmocka_unit_test(it_grows_where_the_caller_allows_it_and_the_base_may_move),
      cmocka_unit_test(random_use_never_overlaps_and_never_leaks),
  };
  return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
