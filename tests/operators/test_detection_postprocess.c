/* TFLite_Detection_PostProcess on boxes made by hand, and against a slow selection. */
#include "operators/case.h"
#include "operators/flexbuffer_maker.h"
#include <math.h>

#define BOXES   24
#define CLASSES 3
#define MOST    10

static void begin(case_t *c, maker_t *maker, int32_t most, int32_t each, int32_t classes,
                  bool regular, float least_score) {
  const maker_entry_t options[] = {MAKE_INT("detections_per_class", each),
                                   MAKE_FLOAT("h_scale", 5),
                                   MAKE_INT("max_classes_per_detection", 1),
                                   MAKE_INT("max_detections", most),
                                   MAKE_FLOAT("nms_iou_threshold", 0.5f),
                                   MAKE_FLOAT("nms_score_threshold", least_score),
                                   MAKE_INT("num_classes", classes),
                                   MAKE_INT("use_regular_nms", regular),
                                   MAKE_FLOAT("w_scale", 5),
                                   MAKE_FLOAT("x_scale", 10),
                                   MAKE_FLOAT("y_scale", 10)};
  case_begin(c, &berth_kernel_detection_postprocess);
  c->call.op.custom_options = maker_map(maker, options, sizeof options / sizeof *options);
}

static void outputs(case_t *c) {
  for (int i = 0; i < 4; i++) case_output(c, BERTH_TYPE_FLOAT32, 0, 0);
}

static float result(const case_t *c, uint32_t output, uint32_t index) {
  float number;
  memcpy(&number, case_result(c, output).data + 4 * (size_t)index, sizeof number);
  return number;
}

static void near(double a, double b) {
  assert_true(fabs(a - b) < 1e-5 * fmax(1, fabs(b)));
}

/* Three boxes at 0, two at 10, one at 100, all of size 1; the second and third are shifted by a
 * tenth. */
static const float boxes[6][4] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, -1, 0, 0},
                                  {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}};
static const float anchors[6][4] = {{0.5f, 0.5f, 1, 1},  {0.5f, 0.5f, 1, 1},  {0.5f, 0.5f, 1, 1},
                                    {0.5f, 10.5f, 1, 1}, {0.5f, 10.5f, 1, 1}, {0.5f, 100.5f, 1, 1}};
static const float scores[6][3] = {{0, 0.9f, 0.8f},   {0, 0.75f, 0.72f}, {0, 0.6f, 0.5f},
                                   {0, 0.93f, 0.95f}, {0, 0.5f, 0.4f},   {0, 0.3f, 0.2f}};

static void by_hand(case_t *c, maker_t *maker, bool regular) {
  begin(c, maker, 3, 1, 2, regular, 0);
  case_input(c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 6, 4}, boxes, 0, 0);
  case_input(c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 6, 3}, scores, 0, 0);
  case_constant(c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){6, 4}, anchors, 0, 0);
  outputs(c);
  assert_int_equal(case_run(c), BERTH_OK);
}

static void expect(const case_t *c, const float(*lefts), const float *classes, const float *values,
                   uint32_t count) {
  near((double)result(c, 3, 0), count);
  for (uint32_t i = 0; i < count; i++) {
    near((double)result(c, 0, 4 * i), 0);
    near((double)result(c, 0, 4 * i + 1), (double)lefts[i]);
    near((double)result(c, 0, 4 * i + 2), 1);
    near((double)result(c, 0, 4 * i + 3), (double)lefts[i] + 1);
    near((double)result(c, 1, i), (double)classes[i]);
    near((double)result(c, 2, i), (double)values[i]);
  }
}

static void fast_takes_the_best_class_of_each_box(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  by_hand(&c, &maker, false);
  expect(&c, (float[]){10, 0, 100}, (float[]){1, 0, 0}, (float[]){0.95f, 0.9f, 0.3f}, 3);
  case_end(&c);
}

static void regular_takes_the_best_boxes_of_each_class(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  by_hand(&c, &maker, true);
  expect(&c, (float[]){10, 10}, (float[]){1, 0}, (float[]){0.95f, 0.93f}, 2);
  for (uint32_t i = 8; i < 12; i++) assert_true(result(&c, 0, i) == 0);
  assert_true(result(&c, 2, 2) == 0);
  case_end(&c);
}

/* ---- Against a slow selection on random quantized boxes ---------------------------------------
 */

typedef struct rectangle {
  double y0, x0, y1, x1;
} rectangle_t;

static double overlap(const rectangle_t *a, const rectangle_t *b) {
  double h = fmin(a->y1, b->y1) - fmax(a->y0, b->y0), w = fmin(a->x1, b->x1) - fmax(a->x0, b->x0);
  double common = h > 0 && w > 0 ? h * w : 0;
  return common / ((a->y1 - a->y0) * (a->x1 - a->x0) + (b->y1 - b->y0) * (b->x1 - b->x0) - common);
}

/* Picks the best that is left until nothing is; `used` marks what is taken or dropped. */
static uint32_t pick(const rectangle_t *at, const double *score, uint32_t most, uint32_t *picked) {
  bool used[BOXES] = {false};
  uint32_t count = 0;
  while (count < most) {
    int best = -1;
    for (int i = 0; i < BOXES; i++)
      if (!used[i] && score[i] >= 0.2 && (best < 0 || score[i] > score[best])) best = i;
    if (best < 0) break;
    picked[count++] = (uint32_t)best;
    for (int i = 0; i < BOXES; i++)
      if (overlap(&at[best], &at[i]) > 0.5) used[i] = true;
    used[best] = true;
  }
  return count;
}

static void check_random(uint32_t seed) {
  uint8_t box[BOXES][4], score[BOXES][CLASSES + 1];
  float anchor[BOXES][4];
  rectangle_t at[BOXES];
  double best[BOXES];
  case_random_bytes(box, sizeof box, seed);
  case_random_bytes(score, sizeof score, seed + 1);
  for (int i = 0; i < BOXES; i++) {
    anchor[i][0] = (float)(case_random(&seed) % 4);
    anchor[i][1] = (float)(case_random(&seed) % 4);
    anchor[i][2] = anchor[i][3] = 2;
    double number[4];
    for (int k = 0; k < 4; k++) number[k] = (box[i][k] - 128) / 64.0;
    double y = number[0] / 10 * 2 + (double)anchor[i][0], h = exp(number[2] / 5);
    double x = number[1] / 10 * 2 + (double)anchor[i][1], w = exp(number[3] / 5);
    at[i] = (rectangle_t){y - h, x - w, y + h, x + w};
    best[i] = 0;
    for (int k = 1; k <= CLASSES; k++) best[i] = fmax(best[i], score[i][k] / 256.0);
  }
  uint32_t picked[MOST], count = pick(at, best, MOST, picked);
  case_t c;
  maker_t maker;
  begin(&c, &maker, MOST, 100, CLASSES, false, 0.2f);
  case_input(&c, BERTH_TYPE_UINT8, 3, (int32_t[]){1, BOXES, 4}, box, 1.0f / 64, 128);
  case_input(&c, BERTH_TYPE_UINT8, 3, (int32_t[]){1, BOXES, CLASSES + 1}, score, 1.0f / 256, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){BOXES, 4}, anchor, 0, 0);
  outputs(&c);
  assert_int_equal(case_run(&c), BERTH_OK);
  near((double)result(&c, 3, 0), count);
  for (uint32_t i = 0; i < MOST; i++) {
    near((double)result(&c, 2, i), i < count ? best[picked[i]] : 0);
    if (i >= count) continue;
    near((double)result(&c, 0, 4 * i), at[picked[i]].y0);
    near((double)result(&c, 0, 4 * i + 3), at[picked[i]].x1);
    uint32_t class = (uint32_t)result(&c, 1, i);
    near(score[picked[i]][class + 1] / 256.0, best[picked[i]]);
  }
  case_end(&c);
}

static void quantized_boxes_equal_a_slow_selection(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed < 60; seed++) check_random(seed * 31);
}

static void wrong_shapes_and_options_are_refused(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 4; wrong++) {
    case_t c;
    maker_t maker;
    begin(&c, &maker, wrong == 0 ? 0 : 3, 1, wrong == 1 ? 5 : 2, false, 0);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, wrong == 2 ? 5 : 6, 4}, boxes, 0, 0);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 6, 3}, scores, 0, 0);
    case_constant(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){6, wrong == 3 ? 3 : 4}, anchors, 0, 0);
    outputs(&c);
    case_refused(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fast_takes_the_best_class_of_each_box),
      cmocka_unit_test(regular_takes_the_best_boxes_of_each_class),
      cmocka_unit_test(quantized_boxes_equal_a_slow_selection),
      cmocka_unit_test(wrong_shapes_and_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
