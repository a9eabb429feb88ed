/* PosenetDecoderOp against its definition, in double precision and without a queue. */
#include "operators/case.h"
#include "operators/flexbuffer_maker.h"
#include <math.h>

#define PARTS 17
#define EDGES 16
#define SIDE  33 /* the largest map */
#define MOST  8

static const char *const names[PARTS] = {
    "nose",           "left eye",   "right eye",   "left ear",   "right ear",   "left shoulder",
    "right shoulder", "left elbow", "right elbow", "left wrist", "right wrist", "left hip",
    "right hip",      "left knee",  "right knee",  "left ankle", "right ankle"};

/* The skeleton, in the order of the mid offsets. */
static const char *const bones[EDGES][2] = {
    {"nose", "left eye"},           {"left eye", "left ear"},
    {"nose", "right eye"},          {"right eye", "right ear"},
    {"nose", "left shoulder"},      {"left shoulder", "left elbow"},
    {"left elbow", "left wrist"},   {"left shoulder", "left hip"},
    {"left hip", "left knee"},      {"left knee", "left ankle"},
    {"nose", "right shoulder"},     {"right shoulder", "right elbow"},
    {"right elbow", "right wrist"}, {"right shoulder", "right hip"},
    {"right hip", "right knee"},    {"right knee", "right ankle"}};

static int part(const char *name) {
  for (int i = 0; i < PARTS; i++)
    if (strcmp(names[i], name) == 0) return i;
  fail();
  return 0;
}

typedef struct maps {
  int height, width, stride;
  double threshold, radius;
  float heat[SIDE * SIDE * PARTS], shorts[SIDE * SIDE * 2 * PARTS], mids[SIDE * SIDE * 4 * EDGES],
      longs[SIDE * SIDE * 2 * PARTS];
} maps_t;

static maps_t maps; /* large */

typedef struct body {
  double y[PARTS], x[PARTS], score[PARTS], total;
} body_t;

/* ---- The definition -------------------------------------------------------------------------- */

static double within(double at, int size) {
  return fmin(fmax(at, 0), size - 1);
}

/* Every place of the map counts by its distance: at most four are nearer than 1 both ways. */
static double between(const float *map, int channels, double y, double x, int channel) {
  double sum = 0;
  for (int v = (int)y; v <= (int)y + 1 && v < maps.height; v++)
    for (int u = (int)x; u <= (int)x + 1 && u < maps.width; u++)
      sum += (1 - fabs(y - v)) * (1 - fabs(x - u)) *
             (double)map[(v * maps.width + u) * channels + channel];
  return sum;
}

static void follow(const float *map, int channels, int to_y, int to_x, double *y, double *x) {
  double dy = between(map, channels, *y, *x, to_y) / maps.stride;
  double dx = between(map, channels, *y, *x, to_x) / maps.stride;
  *y = within(*y + dy, maps.height);
  *x = within(*x + dx, maps.width);
}

/* Of the parts that border on the body, takes the one with the best score; again until all are
 * there. */
static void grow(body_t *body, int root, double y, double x) {
  bool in[PARTS] = {false}, seen[2 * EDGES] = {false};
  double ys[2 * EDGES], xs[2 * EDGES], scores[2 * EDGES];
  int next = root;
  double score = between(maps.heat, PARTS, y, x, root);
  for (int count = 1;; count++) {
    in[next] = true;
    body->y[next] = y;
    body->x[next] = x;
    body->score[next] = score;
    if (count == PARTS) break;
    int best = -1;
    for (int e = 0; e < 2 * EDGES; e++) {
      int from = part(bones[e % EDGES][e / EDGES]), to = part(bones[e % EDGES][1 - e / EDGES]);
      if (from == next) {
        int channel = e <= EDGES ? e : e + EDGES; /* of the first backward edge, too */
        seen[e] = true;
        ys[e] = y;
        xs[e] = x;
        follow(maps.mids, 4 * EDGES, channel, channel + EDGES, &ys[e], &xs[e]);
        for (int i = 0; i < 5; i++) follow(maps.shorts, 2 * PARTS, to, to + PARTS, &ys[e], &xs[e]);
        scores[e] = between(maps.heat, PARTS, ys[e], xs[e], to);
      }
      if (seen[e] && !in[to] && (best < 0 || scores[e] > scores[best])) best = e;
    }
    /* `y` is changed last: the loop above reads it. */
    next = part(bones[best % EDGES][1 - best / EDGES]);
    y = ys[best];
    x = xs[best];
    score = scores[best];
  }
  for (int i = 0; i < PARTS; i++) body->score[i] = 1 / (1 + exp(-body->score[i]));
}

static bool close_to(const body_t *body, int i, double y, double x) {
  double r = maps.radius / maps.stride;
  return (body->y[i] - y) * (body->y[i] - y) + (body->x[i] - x) * (body->x[i] - x) <= r * r;
}

static bool is_peak(int y, int x, int p) {
  for (int v = y - 1; v <= y + 1; v++)
    for (int u = x - 1; u <= x + 1; u++)
      if (v >= 0 && u >= 0 && v < maps.height && u < maps.width &&
          maps.heat[(v * maps.width + u) * PARTS + p] > maps.heat[(y * maps.width + x) * PARTS + p])
        return false;
  return true;
}

static int decode(body_t *bodies) {
  static bool used[SIDE * SIDE * PARTS];
  int count = 0, places = maps.height * maps.width * PARTS;
  double least = -log(1 / (maps.threshold + 1e-6) - 1);
  memset(used, 0, sizeof used);
  while (count < MOST) {
    int best = -1;
    for (int i = 0; i < places; i++)
      if (!used[i] && (double)maps.heat[i] >= least &&
          is_peak(i / PARTS / maps.width, i / PARTS % maps.width, i % PARTS) &&
          (best < 0 || maps.heat[i] > maps.heat[best]))
        best = i;
    if (best < 0) break;
    used[best] = true;
    int p = best % PARTS;
    const float *offset = maps.shorts + best / PARTS * 2 * PARTS + p;
    double y = within(best / PARTS / maps.width + (double)offset[0] / maps.stride, maps.height);
    double x = within(best / PARTS % maps.width + (double)offset[PARTS] / maps.stride, maps.width);
    bool fresh = true;
    for (int i = 0; i < count; i++) fresh = fresh && !close_to(&bodies[i], p, y, x);
    if (!fresh) continue;
    body_t *body = &bodies[count];
    grow(body, p, y, x);
    body->total = 0;
    for (int i = 0; i < PARTS; i++) body->total += body->score[i] / PARTS;
    if (body->total >= maps.threshold) count++;
  }
  return count;
}

static int by_total(const void *a, const void *b) {
  double x = ((const body_t *)a)->total, y = ((const body_t *)b)->total;
  return x > y ? -1 : x < y;
}

static int poses(body_t *bodies) {
  int count = decode(bodies), kept = 0;
  qsort(bodies, (size_t)count, sizeof *bodies, by_total);
  for (int i = 0; i < count; i++) {
    bodies[i].total = 0;
    for (int p = 0; p < PARTS; p++) {
      bool covered = false;
      for (int k = 0; k < i; k++)
        covered = covered || close_to(&bodies[k], p, bodies[i].y[p], bodies[i].x[p]);
      if (!covered) bodies[i].total += bodies[i].score[p] / PARTS;
    }
  }
  qsort(bodies, (size_t)count, sizeof *bodies, by_total);
  while (kept < count && bodies[kept].total >= maps.threshold) kept++;
  return kept;
}

static int nearest(const body_t *bodies, int count, int place) {
  double least = INFINITY;
  int best = 0;
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int p = 0; p < PARTS; p++) {
      double y = place / maps.width, x = place % maps.width;
      for (int k = 0; k < 3; k++) follow(maps.longs, 2 * PARTS, p, p + PARTS, &y, &x);
      sum += pow(y - bodies[i].y[p], 2) + pow(x - bodies[i].x[p], 2);
    }
    if (sum >= least) continue;
    least = sum;
    best = i;
  }
  return best;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static void begin(case_t *c, maker_t *maker, int32_t most) {
  const maker_entry_t options[] = {
      MAKE_INT("max_detections", most), MAKE_FLOAT("nms_radius", (float)maps.radius),
      MAKE_FLOAT("score_threshold", (float)maps.threshold), MAKE_INT("stride", maps.stride)};
  case_begin(c, &berth_kernel_posenet_decoder);
  c->call.op.custom_options = maker_map(maker, options, sizeof options / sizeof *options);
}

static void outputs(case_t *c, int count) {
  for (int i = 0; i < count; i++) case_output(c, BERTH_TYPE_FLOAT32, 0, 0);
}

/* A map as a float32 input; or quantized, and then the floats become what the bytes stand for. */
static void add_map(case_t *c, float *map, int channels, bool quantized, float scale, int zero) {
  int32_t dims[4] = {1, maps.height, maps.width, channels};
  int count = maps.height * maps.width * channels;
  static uint8_t bytes[SIDE * SIDE * 4 * EDGES];
  if (!quantized) {
    case_input(c, BERTH_TYPE_FLOAT32, 4, dims, map, 0, 0);
    return;
  }
  for (int i = 0; i < count; i++) {
    long stored = lroundf(map[i] / scale) + zero;
    bytes[i] = (uint8_t)(stored < 0 ? 0 : stored > 255 ? 255 : stored);
    map[i] = (float)(bytes[i] - zero) * scale;
  }
  case_input(c, BERTH_TYPE_UINT8, 4, dims, bytes, scale, zero);
}

static void near(double a, double b) {
  assert_true(fabs(a - b) < 1e-4 * fmax(1, fabs(b)));
}

static float result(const case_t *c, uint32_t output, int index) {
  return ((const float *)(void *)case_result(c, output).data)[index];
}

/* Offsets that differ little from place to place: else rounding would grow along the way. */
static void make_offsets(float *map, int channels, float reach, uint32_t seed) {
  float base[4 * EDGES];
  case_random_floats(base, (size_t)channels, reach * (float)maps.stride, seed);
  case_random_floats(map, (size_t)(maps.height * maps.width * channels), 0.2f * (float)maps.stride,
                     seed + 100);
  for (int i = 0; i < maps.height * maps.width * channels; i++) map[i] += base[i % channels];
}

/* Scores around -1.5 with a few high ones, all different, and offsets of up to a few places. */
static void make_maps(int height, int width, uint32_t seed) {
  maps.height = height;
  maps.width = width;
  maps.stride = 8 << seed % 2;
  maps.threshold = 0.1 + 0.05 * (double)(seed % 4);
  maps.radius = 12;
  int places = height * width;
  case_random_floats(maps.heat, (uint32_t)(places * PARTS), 1, seed);
  for (int i = 0; i < places * PARTS; i++) {
    maps.heat[i] += case_random(&seed) % 10 > 0 ? -1.5f : 2.0f;
  }
  make_offsets(maps.shorts, 2 * PARTS, 0.3f, seed + 1);
  make_offsets(maps.mids, 4 * EDGES, 2, seed + 2);
  make_offsets(maps.longs, 2 * PARTS, 3, seed + 3);
}

static int check(int height, int width, bool quantized_offsets, bool masks, uint32_t seed) {
  body_t bodies[MOST];
  case_t c;
  maker_t maker;
  make_maps(height, width, seed);
  begin(&c, &maker, MOST);
  add_map(&c, maps.heat, PARTS, false, 0, 0); /* quantized, there would be equal scores */
  add_map(&c, maps.shorts, 2 * PARTS, quantized_offsets, 0.3f, 120);
  add_map(&c, maps.mids, 4 * EDGES, quantized_offsets, 0.25f, 131);
  if (masks) add_map(&c, maps.longs, 2 * PARTS, quantized_offsets, 0.25f, 128);
  outputs(&c, masks ? 5 : 4);
  assert_int_equal(case_run(&c), BERTH_OK);
  int count = poses(bodies);
  case_expect_shape(&c, 4, (int32_t[]){1, MOST, PARTS, 2});
  assert_int_equal((int)result(&c, 3, 0), count);
  for (int i = 0; i < MOST; i++) {
    near((double)result(&c, 2, i), i < count ? bodies[i].total : 0);
    for (int p = 0; p < PARTS; p++) {
      bool there = i < count;
      near((double)result(&c, 0, (i * PARTS + p) * 2), there ? bodies[i].y[p] * maps.stride : 0);
      near((double)result(&c, 0, (i * PARTS + p) * 2 + 1),
           there ? bodies[i].x[p] * maps.stride : 0);
      near((double)result(&c, 1, i * PARTS + p), there ? bodies[i].score[p] : 0);
    }
  }
  for (int place = 0; masks && place < height * width; place++) {
    int best = nearest(bodies, count, place);
    for (int i = 0; i < MOST; i++)
      assert_true(result(&c, 4, i * height * width + place) == (i == best ? 1.0f : 0.0f));
  }
  case_end(&c);
  return count;
}

static void poses_equal_the_definition(void **state) {
  (void)state;
  int found = 0;
  for (uint32_t seed = 1; seed < 40; seed++)
    found += check(3 + (int)(seed % 5), 4 + (int)(seed % 3), seed % 2, false, seed * 77);
  assert_true(found > 60);
}

static void masks_equal_the_definition(void **state) {
  (void)state;
  assert_true(check(SIDE, SIDE, false, true, 5) > 1);
  assert_true(check(SIDE, SIDE, true, true, 6) > 1);
}

static void without_a_pose_the_first_mask_is_full(void **state) {
  (void)state;
  case_t c;
  maker_t maker;
  make_maps(SIDE, SIDE, 9);
  maps.threshold = 0.9999;
  begin(&c, &maker, 2);
  add_map(&c, maps.heat, PARTS, true, 0.05f, 128);
  add_map(&c, maps.shorts, 2 * PARTS, false, 0, 0);
  add_map(&c, maps.mids, 4 * EDGES, false, 0, 0);
  add_map(&c, maps.longs, 2 * PARTS, false, 0, 0);
  outputs(&c, 5);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_true(result(&c, 3, 0) == 0.0f && result(&c, 0, 0) == 0.0f);
  for (int i = 0; i < 2 * SIDE * SIDE; i++)
    assert_true(result(&c, 4, i) == (i < SIDE * SIDE ? 1.0f : 0.0f));
  case_end(&c);
}

/* Noses with few different scores, all others too unlikely to be a root. */
static void equal_scores_come_as_from_a_priority_queue(void **state) {
  (void)state;
  /* What std::priority_queue gives, filled in order with scores i x 7 % 3 + i % 2. */
  static const int expected[15] = {5, 11, 13, 14, 1, 2, 7, 8, 10, 4, 9, 3, 6, 12, 0};
  memset(&maps, 0, sizeof maps);
  maps.height = 9; /* every second row and column, so that each is a peak */
  maps.width = 5;
  maps.stride = 4;
  maps.threshold = 0.05;
  for (int i = 0; i < 9 * 5 * PARTS; i++) maps.heat[i] = -30;
  for (int i = 0; i < 15; i++)
    maps.heat[(i / 3 * 2 * 5 + i % 3 * 2) * PARTS] = 10 + (float)(i * 7 % 3 + i % 2);
  case_t c;
  maker_t maker;
  begin(&c, &maker, 15);
  add_map(&c, maps.heat, PARTS, true, 0.25f, 200);
  add_map(&c, maps.shorts, 2 * PARTS, true, 0.25f, 128);
  add_map(&c, maps.mids, 4 * EDGES, true, 0.25f, 128);
  outputs(&c, 4);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal((int)result(&c, 3, 0), 15);
  for (int i = 0; i < 15; i++) {
    assert_true(result(&c, 0, i * PARTS * 2) == (float)(expected[i] / 3 * 2 * maps.stride));
    assert_true(result(&c, 0, i * PARTS * 2 + 1) == (float)(expected[i] % 3 * 2 * maps.stride));
  }
  case_end(&c);
}

static void wrong_shapes_and_options_are_refused(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 7; wrong++) {
    case_t c;
    maker_t maker;
    make_maps(4, 5, 3);
    if (wrong == 1) maps.stride = 0;
    begin(&c, &maker, wrong == 0 ? 0 : 3);
    add_map(&c, maps.heat, wrong == 2 ? PARTS - 1 : PARTS, wrong == 3, 0, 0);
    maps.width = wrong == 4 ? 4 : 5;
    add_map(&c, maps.shorts, 2 * PARTS, false, 0, 0);
    add_map(&c, maps.mids, 4 * EDGES, false, 0, 0);
    if (wrong == 5) add_map(&c, maps.longs, 2 * PARTS, false, 0, 0);
    outputs(&c, wrong == 5 ? 5 : wrong == 6 ? 3 : 4);
    case_refused(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poses_equal_the_definition),
      cmocka_unit_test(masks_equal_the_definition),
      cmocka_unit_test(without_a_pose_the_first_mask_is_full),
      cmocka_unit_test(equal_scores_come_as_from_a_priority_queue),
      cmocka_unit_test(wrong_shapes_and_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
