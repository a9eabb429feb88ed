/* CONV_2D against the definition. */
#include "operators/conv_cases.h"
#include "operators/kernels.h"

static void int8_equals_the_definition(void **state) {
  (void)state;
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_INT8, false}, 300);
}

static void int8_with_many_channels_equals_the_definition(void **state) {
  (void)state;
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_INT8, true}, 100);
}

static void uint8_equals_the_definition(void **state) {
  (void)state;
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_UINT8, false}, 200);
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_UINT8, true}, 60);
}

static void int16_equals_the_definition(void **state) {
  (void)state;
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_INT16, false}, 200);
  conv_check_many(&(conv_family_t){&berth_kernel_conv_2d, false, BERTH_TYPE_INT16, true}, 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(int8_equals_the_definition),
      cmocka_unit_test(int8_with_many_channels_equals_the_definition),
      cmocka_unit_test(uint8_equals_the_definition),
      cmocka_unit_test(int16_equals_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
