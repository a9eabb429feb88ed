/* DEPTHWISE_CONV_2D against the definition. */
#include "operators/conv_cases.h"
#include "operators/kernels.h"

static void check(berth_tensor_type_t type) {
  const berth_kernel_t *kernel = &berth_kernel_depthwise_conv_2d;
  conv_check_many(&(conv_family_t){kernel, true, type, false}, 200);
  conv_check_many(&(conv_family_t){kernel, true, type, true}, 100);
}

static void int8_equals_the_definition(void **state) {
  (void)state;
  check(BERTH_TYPE_INT8);
}

static void uint8_equals_the_definition(void **state) {
  (void)state;
  check(BERTH_TYPE_UINT8);
}

static void int16_equals_the_definition(void **state) {
  (void)state;
  check(BERTH_TYPE_INT16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(int8_equals_the_definition),
      cmocka_unit_test(uint8_equals_the_definition),
      cmocka_unit_test(int16_equals_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
