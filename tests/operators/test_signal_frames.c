/* The Signal* operators that keep samples, over a row of invokes: against what the whole signal
 * says. */
#include "operators/case.h"
#include "operators/flexbuffer_maker.h"

#define CALLS   7
#define CHUNK   6 /* samples of an invoke, of each vector */
#define VECTORS 2
#define ALL     (CALLS * CHUNK)

static int16_t samples[VECTORS][ALL];

static void random_signal(uint32_t seed) {
  case_random_bytes(samples, sizeof samples, seed);
}

/* The samples of call `call`, vector after vector. */
static const int16_t *chunk(int call) {
  static int16_t some[VECTORS * CHUNK];
  for (int v = 0; v < VECTORS; v++)
    memcpy(some + v * CHUNK, samples[v] + call * CHUNK, CHUNK * sizeof *some);
  return some;
}

/* A sample of the whole signal; zeros come before it. */
static int32_t at(int vector, int i) {
  return i < 0 ? 0 : samples[vector][i];
}

static void begin(case_t *c, maker_t *maker, const berth_kernel_t *kernel,
                  const maker_entry_t *entries, uint32_t count) {
  case_begin(c, kernel);
  c->call.op.custom_options = maker_map(maker, entries, count);
}

static void invoke(case_t *c, int call, const void *data) {
  assert_int_equal(call == 0 ? case_run(c) : case_again(c, data), BERTH_OK);
}

static int16_t result(const case_t *c, int i) {
  return ((const int16_t *)(void *)case_result(c, 0).data)[i];
}

static void check_delay(int32_t delay) {
  case_t c;
  maker_t maker;
  const maker_entry_t option = MAKE_INT("delay_length", delay);
  begin(&c, &maker, &berth_kernel_signal_delay, &option, 1);
  case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){VECTORS, CHUNK}, chunk(0), 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  for (int call = 0; call < CALLS; call++) {
    invoke(&c, call, chunk(call));
    case_expect_shape(&c, 2, (int32_t[]){VECTORS, CHUNK});
    for (int v = 0; v < VECTORS; v++)
      for (int i = 0; i < CHUNK; i++)
        assert_int_equal(result(&c, v * CHUNK + i), at(v, call * CHUNK + i - delay));
  }
  case_end(&c);
}

static void a_delayed_signal_comes_later(void **state) {
  (void)state;
  random_signal(1);
  for (int32_t delay = 0; delay < 15; delay++) check_delay(delay);
}

static void check_framer(int32_t size, int32_t step, bool prefill) {
  case_t c;
  maker_t maker;
  const maker_entry_t options[] = {MAKE_INT("frame_size", size), MAKE_INT("frame_step", step),
                                   MAKE_INT("prefill", prefill)};
  begin(&c, &maker, &berth_kernel_signal_framer, options, 3);
  case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){VECTORS, CHUNK}, chunk(0), 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_output(&c, BERTH_TYPE_BOOL, 0, 0);
  int frames = CHUNK / step, before = prefill ? size - step : 0, given = 0;
  for (int call = 0; call < CALLS; call++) {
    invoke(&c, call, chunk(call));
    case_expect_shape(&c, 3, (int32_t[]){VECTORS, frames, size});
    bool valid = true;
    for (int k = 0; k < frames; k++) {
      /* Frame n begins n steps after the first zero or sample; one is given for each step that
       * comes, once there are samples for it. */
      bool there = before + call * CHUNK + (k + 1) * step - given * step >= size;
      valid = valid && there;
      for (int v = 0; v < VECTORS; v++)
        for (int i = 0; i < size; i++)
          assert_int_equal(result(&c, (v * frames + k) * size + i),
                           there ? at(v, given * step + i - before) : 0);
      given += there;
    }
    assert_int_equal(case_result(&c, 1).rank, 0);
    assert_int_equal(case_result(&c, 1).data[0], valid);
  }
  case_end(&c);
}

static void frames_overlap(void **state) {
  (void)state;
  random_signal(2);
  for (int prefill = 0; prefill < 2; prefill++) {
    check_framer(6, 6, prefill);
    check_framer(7, 3, prefill);
    check_framer(10, 2, prefill);
    check_framer(4, 1, prefill);
    check_framer(17, 6, prefill);
  }
  check_framer(2, 3, false); /* samples between frames are left out */
}

static void check_stacker(int32_t left, int32_t right, int32_t step) {
  case_t c;
  maker_t maker;
  const maker_entry_t options[] = {
      MAKE_INT("num_channels", CHUNK), MAKE_INT("stacker_left_context", left),
      MAKE_INT("stacker_right_context", right), MAKE_INT("stacker_step", step)};
  begin(&c, &maker, &berth_kernel_signal_stacker, options, 4);
  case_input(&c, BERTH_TYPE_INT16, 1, (int32_t[]){CHUNK}, samples[0], 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_output(&c, BERTH_TYPE_BOOL, 0, 0);
  int frames = left + right + 1, given = 0;
  for (int call = 0; call < CALLS; call++) {
    invoke(&c, call, samples[0] + call * CHUNK);
    case_expect_shape(&c, 1, (int32_t[]){frames * CHUNK});
    bool there = left + call + 1 - given * step >= frames;
    for (int k = 0; k < frames; k++) {
      int frame = given * step + k - left; /* those before the first are the first */
      if (frame < 0) frame = 0;
      for (int i = 0; i < CHUNK; i++)
        assert_int_equal(result(&c, k * CHUNK + i), there ? at(0, frame * CHUNK + i) : 0);
    }
    assert_int_equal(case_result(&c, 1).data[0], there);
    given += there;
  }
  case_end(&c);
}

static void stacks_have_a_context(void **state) {
  (void)state;
  random_signal(3);
  check_stacker(0, 0, 1);
  check_stacker(1, 1, 1);
  check_stacker(2, 0, 2);
  check_stacker(0, 3, 4);
  check_stacker(3, 1, 3);
}

/* The sum of all frames, each a few steps after the one before. */
static void check_overlap(int size, int step, bool real) {
  enum { FRAMES = 3, MOST = 8 };
  static int16_t bytes[CALLS][VECTORS][FRAMES][MOST];
  static float floats[CALLS][VECTORS * FRAMES * MOST];
  static int16_t ints[CALLS][VECTORS * FRAMES * MOST];
  case_random_bytes(bytes, sizeof bytes, (uint32_t)(size * 10 + step));
  double sums[VECTORS][(CALLS * FRAMES + 1) * MOST] = {{0}};
  for (int call = 0; call < CALLS; call++) {
    for (int n = 0; n < VECTORS * FRAMES * size; n++) {
      int v = n / size / FRAMES, k = n / size % FRAMES, i = n % size;
      int16_t sample = bytes[call][v][k][i] / 16; /* no sum saturates */
      ints[call][n] = sample;
      floats[call][n] = (float)sample;
      sums[v][(call * FRAMES + k) * step + i] += sample;
    }
  }
  case_t c;
  maker_t maker;
  const maker_entry_t option = MAKE_INT("frame_step", step);
  berth_tensor_type_t type = real ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT16;
  begin(&c, &maker, &berth_kernel_signal_overlap_add, &option, 1);
  case_input(&c, type, 3, (int32_t[]){VECTORS, FRAMES, size},
             real ? (void *)floats[0] : (void *)ints[0], 0, 0);
  case_output(&c, type, 0, 0);
  for (int call = 0; call < CALLS; call++) {
    invoke(&c, call, real ? (void *)floats[call] : (void *)ints[call]);
    case_expect_shape(&c, 2, (int32_t[]){VECTORS, FRAMES * step});
    for (int i = 0; i < VECTORS * FRAMES * step; i++) {
      double want = sums[i / (FRAMES * step)][call * FRAMES * step + i % (FRAMES * step)];
      float got;
      memcpy(&got, case_result(&c, 0).data + (real ? 4 * i : 0), sizeof got);
      assert_true((real ? (double)got : result(&c, i)) == want);
    }
  }
  case_end(&c);
}

static void overlapping_frames_add_up(void **state) {
  (void)state;
  for (int real = 0; real < 2; real++) {
    check_overlap(8, 3, real);
    check_overlap(4, 4, real);
    check_overlap(5, 1, real);
  }
}

static void sums_of_int16_saturate(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  const maker_entry_t option = MAKE_INT("frame_step", 1);
  const int16_t loud[4] = {30000, -30000, -30000, 30000};
  begin(&c, &maker, &berth_kernel_signal_overlap_add, &option, 1);
  case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){2, 2}, loud, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(result(&c, 0), 30000);
  assert_int_equal(result(&c, 1), -32768);
  case_end(&c);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  const struct {
    const berth_kernel_t *kernel;
    maker_entry_t options[4];
  } wrong[] = {
      {&berth_kernel_signal_delay, {MAKE_INT("delay_length", -1)}},
      {&berth_kernel_signal_delay, {MAKE_INT("length", 1)}},
      {&berth_kernel_signal_framer,
       {MAKE_INT("frame_size", 8), MAKE_INT("frame_step", 5), MAKE_INT("prefill", 0)}},
      {&berth_kernel_signal_framer,
       {MAKE_INT("frame_size", 2), MAKE_INT("frame_step", 3), MAKE_INT("prefill", 1)}},
      {&berth_kernel_signal_stacker,
       {MAKE_INT("num_channels", CHUNK), MAKE_INT("stacker_left_context", 1),
        MAKE_INT("stacker_right_context", 1), MAKE_INT("stacker_step", 4)}},
      {&berth_kernel_signal_stacker,
       {MAKE_INT("num_channels", CHUNK + 1), MAKE_INT("stacker_left_context", 1),
        MAKE_INT("stacker_right_context", 1), MAKE_INT("stacker_step", 1)}},
      {&berth_kernel_signal_overlap_add, {MAKE_INT("frame_step", CHUNK + 1)}},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    case_t c;
    maker_t maker;
    uint32_t count = 0;
    while (count < 4 && wrong[i].options[count].name != NULL) count++;
    begin(&c, &maker, wrong[i].kernel, wrong[i].options, count);
    case_input(&c, BERTH_TYPE_INT16, 2, (int32_t[]){1, CHUNK}, chunk(0), 0, 0);
    case_output(&c, BERTH_TYPE_INT16, 0, 0);
    case_output(&c, BERTH_TYPE_BOOL, 0, 0);
    case_refused(&c);
  }
}

static void constants_that_are_not_aligned_are_refused(void **state) {
  (void)state;
  const maker_entry_t framer[] = {MAKE_INT("frame_size", 3), MAKE_INT("frame_step", 3),
                                  MAKE_INT("prefill", 0)};
  const maker_entry_t delay = MAKE_INT("delay_length", 1), step = MAKE_INT("frame_step", 1);
  const struct {
    const berth_kernel_t *kernel;
    const maker_entry_t *options;
    uint32_t count;
  } all[] = {{&berth_kernel_signal_delay, &delay, 1},
             {&berth_kernel_signal_framer, framer, 3},
             {&berth_kernel_signal_overlap_add, &step, 1}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    case_t c;
    maker_t maker;
    begin(&c, &maker, all[i].kernel, all[i].options, all[i].count);
    case_constant(&c, BERTH_TYPE_INT16, 2, (int32_t[]){1, CHUNK}, chunk(0), 0, 0);
    case_output(&c, BERTH_TYPE_INT16, 0, 0);
    case_output(&c, BERTH_TYPE_BOOL, 0, 0);
    case_refused(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_delayed_signal_comes_later),
      cmocka_unit_test(frames_overlap),
      cmocka_unit_test(stacks_have_a_context),
      cmocka_unit_test(overlapping_frames_add_up),
      cmocka_unit_test(sums_of_int16_saturate),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(constants_that_are_not_aligned_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
