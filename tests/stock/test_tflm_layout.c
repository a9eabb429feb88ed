/* Struct sizes, against the compiler's own for the target that the tests run on, and by hand. */
#include "test.h"

#include "stock/tflm_layout.h"
#include <stdbool.h>

#define SAME(members, type)                                                                        \
  do {                                                                                             \
    berth_layout_t layout = berth_layout(members, here());                                         \
    assert_int_equal(layout.size, sizeof(type));                                                   \
    assert_int_equal(layout.align, _Alignof(type));                                                \
  } while (0)

static berth_abi_t here(void) {
  if (sizeof(void *) == 8) return BERTH_ABI_64;
  struct aligned {
    char first;
    double second;
  };
  return sizeof(struct aligned) == 12 ? BERTH_ABI_I386 : BERTH_ABI_ARM;
}

typedef struct inner {
  int16_t a[3];
  void *b;
} inner_t;

typedef struct outer {
  bool first;
  inner_t two[2];
  double number;
  int32_t rest[3];
} outer_t;

static void structs_are_as_large_as_the_compiler_makes_them(void **state) {
  (void)state;
  SAME("3hp", inner_t);
  SAME("b2(3hp)d3i", outer_t);
  SAME("b", bool);
  SAME(
      "zb", struct {
        size_t a;
        bool b;
      });
  SAME(
      "ilb", struct {
        int32_t a;
        int64_t b;
        bool c;
      });
}

/* { int; double; char }: the double at 8 and the end at 24, or at 4 and 16 where 4 is enough. */
static void eight_byte_types_follow_the_target(void **state) {
  (void)state;
  assert_int_equal(berth_layout("idb", BERTH_ABI_64).size, 24);
  assert_int_equal(berth_layout("idb", BERTH_ABI_ARM).size, 24);
  assert_int_equal(berth_layout("idb", BERTH_ABI_I386).size, 16);
  assert_int_equal(berth_layout("pz", BERTH_ABI_64).size, 16);
  assert_int_equal(berth_layout("pz", BERTH_ABI_ARM).size, 8);
}

static void nothing_takes_nothing(void **state) {
  (void)state;
  assert_int_equal(berth_layout("", BERTH_ABI_64).size, 0);
  assert_int_equal(berth_layout("", BERTH_ABI_64).align, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structs_are_as_large_as_the_compiler_makes_them),
      cmocka_unit_test(eight_byte_types_follow_the_target),
      cmocka_unit_test(nothing_takes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
