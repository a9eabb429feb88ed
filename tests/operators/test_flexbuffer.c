/* Options in FlexBuffers: what they say, and that nothing malformed leads out of them. */
#include "operators/case.h"
#include "operators/flexbuffer.h"
#include "operators/flexbuffer_maker.h"

static void numbers_are_found_by_name(void **state) {
  (void)state;
  const maker_entry_t entries[] = {MAKE_INT("first", -7), MAKE_FLOAT("ratio", 2.75f),
                                   MAKE_INT("zeroth", 1 << 20)};
  maker_t maker;
  berth_flexbuffer_t map;
  int64_t number;
  float real;
  assert_true(berth_flexbuffer_open(maker_map(&maker, entries, 3), &map));
  assert_true(berth_flexbuffer_int(&map, "first", &number));
  assert_int_equal(number, -7);
  assert_true(berth_flexbuffer_int(&map, "zeroth", &number));
  assert_int_equal(number, 1 << 20);
  assert_true(berth_flexbuffer_int(&map, "ratio", &number));
  assert_int_equal(number, 2);
  assert_true(berth_flexbuffer_float(&map, "ratio", &real));
  assert_true(real > 2.74f && real < 2.76f);
  assert_true(berth_flexbuffer_float(&map, "first", &real));
  assert_true(real > -7.01f && real < -6.99f);
  assert_false(berth_flexbuffer_int(&map, "firs", &number));
  assert_false(berth_flexbuffer_int(&map, "first2", &number));
}

/* What a stock converter wrote for TFLM's SignalEnergy: numbers of two bytes. */
static void narrow_numbers_are_read(void **state) {
  (void)state;
  static const uint8_t bytes[] =
      "end_index\0start_index\0\2\x17\x0e\0\3\0\1\0\2\0\xf1\0\5\0\5\5\6%\1";
  berth_flexbuffer_t map;
  int64_t number;
  assert_true(berth_flexbuffer_open((berth_bytes_t){bytes, sizeof bytes - 1}, &map));
  assert_true(berth_flexbuffer_int(&map, "end_index", &number));
  assert_int_equal(number, 0xf1);
  assert_true(berth_flexbuffer_int(&map, "start_index", &number));
  assert_int_equal(number, 5);
}

static void every_broken_byte_is_survived(void **state) {
  (void)state;
  const maker_entry_t entries[] = {MAKE_INT("first", -7), MAKE_FLOAT("ratio", 2.75f)};
  maker_t maker;
  berth_bytes_t whole = maker_map(&maker, entries, 2);
  for (uint32_t cut = 0; cut <= whole.size; cut++) {
    for (uint32_t at = 0; at < cut; at++) {
      for (uint32_t bit = 0; bit < 8; bit++) {
        uint8_t *copy = malloc(cut); /* of this very size, for the sanitizers */
        assert_non_null(copy);
        memcpy(copy, whole.data, cut);
        copy[at] ^= (uint8_t)(1u << bit);
        berth_flexbuffer_t map;
        int64_t number = 0;
        float real = 0;
        if (berth_flexbuffer_open((berth_bytes_t){copy, cut}, &map)) {
          (void)berth_flexbuffer_int(&map, "first", &number);
          (void)berth_flexbuffer_float(&map, "ratio", &real);
          (void)berth_flexbuffer_int(&map, "none", &number);
        }
        free(copy);
      }
    }
  }
  berth_flexbuffer_t map;
  assert_false(berth_flexbuffer_open((berth_bytes_t){NULL, 0}, &map));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_found_by_name),
      cmocka_unit_test(narrow_numbers_are_read),
      cmocka_unit_test(every_broken_byte_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
