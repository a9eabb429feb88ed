/* The Signal* operators against their definitions in real numbers, and a recorded model. */
#include "operators/case.h"
#include "operators/flexbuffer_maker.h"
#include "operators/recorded.h"
#include <math.h>

static void begin(case_t *c, maker_t *maker, const berth_kernel_t *kernel,
                  const maker_entry_t *entries, uint32_t count) {
  case_begin(c, kernel);
  c->call.op.custom_options = maker_map(maker, entries, count);
}

static void window_multiplies_shifts_and_saturates(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t shift = MAKE_INT("shift", 12);
  int16_t input[6] = {100, -100, 32767, -32768, 3, -3}, weights[3] = {4096, 8192, 32767};
  begin(&c, &maker, &berth_kernel_signal_window, &shift, 1);
  case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){2, 3}, input, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, weights, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){2, 3});
  const int16_t expected[6] = {100, -200, 32767, -32768, 6, -24};
  assert_memory_equal(case_result(&c, 0).data, expected, sizeof expected);
  case_end(&c);
}

static void auto_scale(const int16_t *input, const int16_t *expected, int32_t bits) {
  case_t c;
  case_begin(&c, &berth_kernel_signal_fft_auto_scale);
  case_input(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, input, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, expected, 6);
  assert_memory_equal(case_result(&c, 1).data, &bits, 4);
  case_end(&c);
}

static void auto_scale_uses_all_bits_but_the_sign(void **state) {
  (void)state;
  auto_scale((int16_t[]){1, -3, 2}, (int16_t[]){8192, -24576, 16384}, 13);
  auto_scale((int16_t[]){0, 0, 0}, (int16_t[]){0, 0, 0}, 15);
  auto_scale((int16_t[]){16384, 1, 0}, (int16_t[]){16384, 1, 0}, 0);
  auto_scale((int16_t[]){5, 1, -32768}, (int16_t[]){5, 1, -32768}, 0);
}

/* The transform divides by its length; each of its stages rounds once. */
static void check_rfft(int length, int given, uint32_t seed) {
  case_t c;
  maker_t maker;
  const maker_entry_t option = MAKE_INT("fft_length", length);
  int16_t *input = calloc((size_t)given * 2, sizeof *input);
  assert_non_null(input);
  case_random_bytes(input, (size_t)given * 4, seed);
  begin(&c, &maker, &berth_kernel_signal_rfft, &option, 1);
  case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){2, given}, input, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){2, length + 2});
  const int16_t *result = (const int16_t *)(const void *)case_result(&c, 0).data;
  const double pi = 3.14159265358979323846;
  for (int row = 0; row < 2; row++) {
    for (int k = 0; k <= length / 2; k++) {
      double real = 0, imaginary = 0;
      for (int i = 0; i < given; i++) {
        double angle = -2 * pi * (double)((long)k * i % length) / length;
        real += input[row * given + i] * cos(angle) / length;
        imaginary += input[row * given + i] * sin(angle) / length;
      }
      const int16_t *got = &result[row * (length + 2) + 2 * k];
      assert_true(fabs(got[0] - real) < 4.0 && fabs(got[1] - imaginary) < 4.0);
    }
  }
  case_end(&c);
  free(input);
}

static void rfft_is_the_fourier_transform(void **state) {
  (void)state;
  for (int length = 4; length <= 512; length *= 2) {
    check_rfft(length, length, (uint32_t)length);
    check_rfft(length, length - 3, (uint32_t)length + 1);
  }
}

static void energy_is_zero_outside_of_its_range(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t range[] = {MAKE_INT("end_index", 3), MAKE_INT("start_index", 1)};
  int16_t input[8] = {1, 2, 3, 4, -32768, -32768, 7, 8};
  begin(&c, &maker, &berth_kernel_signal_energy, range, 2);
  case_input(&c, BERTH_TYPE_INT16, 1, (int32_t[]){8}, input, 0, 0);
  case_output(&c, BERTH_TYPE_UINT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  const uint32_t expected[4] = {0, 25, 0x80000000u, 0};
  assert_memory_equal(case_result(&c, 0).data, expected, sizeof expected);
  case_end(&c);
}

static void filter_bank(int16_t start, int16_t weight_start, int16_t width, bool fits) {
  case_t c;
  maker_t maker;
  const maker_entry_t channels = MAKE_INT("num_channels", 2);
  uint32_t input[5] = {10, 20, 30, 4000000000u, 50};
  int16_t weights[4] = {1, 2, 3, 4}, unweights[4] = {9, 8, 7, 6};
  int16_t starts[3] = {0, 2, start}, weight_starts[3] = {0, 1, weight_start};
  int16_t widths[3] = {1, 2, width};
  begin(&c, &maker, &berth_kernel_signal_filter_bank, &channels, 1);
  case_input(&c, BERTH_TYPE_UINT32, 1, (int32_t[]){5}, input, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){4}, weights, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){4}, unweights, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, starts, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, weight_starts, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, widths, 0, 0);
  case_output(&c, BERTH_TYPE_UINT64, 0, 0);
  if (!fits) {
    case_refused(&c);
    return;
  }
  assert_int_equal(case_run(&c), BERTH_OK);
  const uint64_t expected[2] = {10 * 9 + 30 * 2 + UINT64_C(4000000000) * 3,
                                30 * 8 + UINT64_C(4000000000) * 7 + 50 * 4};
  assert_memory_equal(case_result(&c, 0).data, expected, sizeof expected);
  case_end(&c);
}

static void filter_bank_adds_weighted_energies(void **state) {
  (void)state;
  filter_bank(4, 3, 1, true);
  filter_bank(5, 3, 1, false);
  filter_bank(4, 4, 1, false);
  filter_bank(-1, 3, 1, false);
  filter_bank(4, -1, 1, false);
}

static void square_roots_are_rounded(void **state) {
  (void)state;
  uint64_t input[200];
  uint32_t seed = 9, count = 200;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t high = case_random(&seed), low = case_random(&seed);
    input[i] = i < 20 ? i : (high << 32 | low) >> (case_random(&seed) % 64);
  }
  for (int32_t bits = 0; bits < 8; bits += 7) {
    case_t c;
    case_begin(&c, &berth_kernel_signal_filter_bank_square_root);
    case_input(&c, BERTH_TYPE_UINT64, 1, (int32_t[]){200}, input, 0, 0);
    case_input(&c, BERTH_TYPE_INT32, 0, NULL, &bits, 0, 0);
    case_output(&c, BERTH_TYPE_UINT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < count; i++) {
      uint32_t got;
      memcpy(&got, case_result(&c, 0).data + 4 * (size_t)i, sizeof got);
      /* The nearest integer, from below: r with r (r - 1) < x <= r (r + 1). */
      uint64_t r = (uint64_t)sqrtl((long double)input[i]);
      while (r > 0 && r * (r - 1) >= input[i]) r--;
      while (r < UINT32_MAX && r * (r + 1) < input[i]) r++;
      if (input[i] >> 32 == 0 && r > 65535) r = 65535;
      assert_int_equal(got, (uint32_t)r >> bits);
    }
    case_end(&c);
  }
}

static void spectral_subtraction_learns_the_noise(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t options[] = {MAKE_INT("alternate_one_minus_smoothing", 3 << 12),
                                   MAKE_INT("alternate_smoothing", 1 << 12),
                                   MAKE_INT("clamping", 0),
                                   MAKE_INT("min_signal_remaining", 1 << 11),
                                   MAKE_INT("num_channels", 2),
                                   MAKE_INT("one_minus_smoothing", 1 << 13),
                                   MAKE_INT("smoothing", 1 << 13),
                                   MAKE_INT("smoothing_bits", 10),
                                   MAKE_INT("spectral_subtraction_bits", 14)};
  begin(&c, &maker, &berth_kernel_signal_filter_bank_spectral_subtraction, options, 9);
  uint32_t input[2] = {1000, 1000};
  case_input(&c, BERTH_TYPE_UINT32, 1, (int32_t[]){2}, input, 0, 0);
  case_output(&c, BERTH_TYPE_UINT32, 0, 0);
  case_output(&c, BERTH_TYPE_UINT32, 0, 0);
  double noise[2] = {0, 0};
  for (int call = 0; call < 12; call++) {
    input[0] = call < 6 ? 1000 : 20;
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, input), BERTH_OK);
    for (int i = 0; i < 2; i++) {
      uint32_t rest, estimate;
      memcpy(&rest, case_result(&c, 0).data + 4 * i, sizeof rest);
      memcpy(&estimate, case_result(&c, 1).data + 4 * i, sizeof estimate);
      double share = i == 0 ? 0.5 : 0.25;
      noise[i] = input[i] * share + noise[i] * (1 - share);
      double expected = fmax(fmax(input[i] - noise[i], 0), floor(input[i] / 8.0));
      assert_true(fabs(estimate / 1024.0 - noise[i]) < 0.1);
      assert_true(fabs(rest - expected) < 1.5);
    }
  }
  case_end(&c);
}

static void pcan_divides_by_a_power_of_the_noise(void **state) {
  (void)state;
  /* A table of constants: gain = 1024 for every noise; the rest is the shrinking function. */
  case_t c;
  maker_t maker;
  const maker_entry_t shift = MAKE_INT("snr_shift", 4);
  int16_t table[125] = {1024, 1024, 1024};
  for (int interval = 3; interval <= 32 && 4 * interval - 6 < 125; interval++)
    table[4 * interval - 6] = 1024;
  uint32_t input[6] = {0, 10, 100, 128, 129, 5000}, noise[6] = {0, 2, 3, 77, 1u << 20, UINT32_MAX};
  begin(&c, &maker, &berth_kernel_signal_pcan, &shift, 1);
  case_input(&c, BERTH_TYPE_UINT32, 1, (int32_t[]){6}, input, 0, 0);
  case_input(&c, BERTH_TYPE_UINT32, 1, (int32_t[]){6}, noise, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){125}, table, 0, 0);
  case_output(&c, BERTH_TYPE_UINT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (int i = 0; i < 6; i++) {
    double snr = floor(input[i] * 1024.0 / 16) / 4096;
    double expected = floor((snr < 2 ? snr * snr / 4 : snr - 1) * 64 + 1e-9);
    uint32_t got;
    memcpy(&got, case_result(&c, 0).data + 4 * i, sizeof got);
    assert_true(fabs(got - expected) < 0.5);
  }
  case_end(&c);
}

static void logs_are_natural_and_saturate(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t options[] = {MAKE_INT("input_correction_bits", 2),
                                   MAKE_INT("output_scale", 1600)};
  uint32_t input[300], seed = 4;
  for (uint32_t i = 0; i < 300; i++) {
    input[i] = i < 30 ? i : case_random(&seed) >> (2 + case_random(&seed) % 29);
  }
  begin(&c, &maker, &berth_kernel_signal_filter_bank_log, options, 2);
  case_input(&c, BERTH_TYPE_UINT32, 1, (int32_t[]){300}, input, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (uint32_t i = 0; i < 300; i++) {
    int16_t got;
    memcpy(&got, case_result(&c, 0).data + 2 * (size_t)i, sizeof got);
    double expected = input[i] == 0 ? 0 : fmin(log(4.0 * input[i]) * 1600, 32767);
    /* Between the table's 128 points there is hardly any interpolation: 224 / 65536 octaves. */
    assert_true(fabs(got - expected) < 0.5 + 224.0 / 65536 * 0.6932 * 1600);
  }
  case_end(&c);
}

static void a_missing_option_is_refused(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t wrong = MAKE_INT("shift", 12);
  const int32_t lengths[] = {0, 2, 12, 65536, -4};
  begin(&c, &maker, &berth_kernel_signal_rfft, &wrong, 1);
  case_input(&c, BERTH_TYPE_INT16, 1, (int32_t[]){2}, (int16_t[]){1, 2}, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_refused(&c);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const maker_entry_t option = MAKE_INT("fft_length", lengths[i]);
    begin(&c, &maker, &berth_kernel_signal_rfft, &option, 1);
    case_input(&c, BERTH_TYPE_INT16, 1, (int32_t[]){2}, (int16_t[]){1, 2}, 0, 0);
    case_output(&c, BERTH_TYPE_INT16, 0, 0);
    case_refused(&c);
  }
}

static void audio_preprocessor_runs_as_recorded(void **state) {
  (void)state;
  recorded_reference("tflm/audio_preprocessor_int8", "tflm", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(window_multiplies_shifts_and_saturates),
      cmocka_unit_test(auto_scale_uses_all_bits_but_the_sign),
      cmocka_unit_test(rfft_is_the_fourier_transform),
      cmocka_unit_test(energy_is_zero_outside_of_its_range),
      cmocka_unit_test(filter_bank_adds_weighted_energies),
      cmocka_unit_test(square_roots_are_rounded),
      cmocka_unit_test(spectral_subtraction_learns_the_noise),
      cmocka_unit_test(pcan_divides_by_a_power_of_the_noise),
      cmocka_unit_test(logs_are_natural_and_saturate),
      cmocka_unit_test(a_missing_option_is_refused),
      cmocka_unit_test(audio_preprocessor_runs_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
