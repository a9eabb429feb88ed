/* PosenetDecoderOp: from the maps of a PoseNet or BodyPix network to poses, in Coral's models.
 *
 * Heatmaps say how likely each part of a body is at each place; short offsets lead from there to
 * the part's exact place, and mid offsets from one part to its neighbours along the edges of a
 * skeleton. Local maxima of the heatmaps are taken best first; each that is not near the same part
 * of an earlier pose is the root of a new one, which grows along the edges, best part first. A
 * pose's score is the mean over its parts, without those that an earlier pose covers. With a fourth
 * input, long offsets, each place is given to the pose that its offsets come closest to: a mask for
 * every pose.
 *
 * Offsets are used where they are, so all that lies in scratch is one number for each candidate.
 * Results are those of Coral's operator: equal scores, which are common in quantized heatmaps,
 * leave the queue in the order of the C++ library's heap; the first backward edge reads the
 * channels of the forward ones. Poses that were not found are zero. Source: Papandreou et al.,
 * PersonLab (2018); the operator in google-coral/libcoral. Cost: candidates x parts, and poses
 * squared.
 */
#include "operators/fixed_point.h"
#include "operators/flexbuffer.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

#define PARTS       17u
#define EDGES       16u /* there are as many backward */
#define REFINEMENTS 5   /* by short offsets */
#define MASK_SIDE   33u
#define MASK_STEPS  3 /* along long offsets */
#define POSES_MOST  1024

enum { HEATMAPS, SHORTS, MIDS, LONGS, MAPS };

/* Nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left ones first. */
static const uint8_t edges[EDGES][2] = {{0, 1},  {1, 3},  {0, 2},   {2, 4},   {0, 5}, {5, 7},
                                        {7, 9},  {5, 11}, {11, 13}, {13, 15}, {0, 6}, {6, 8},
                                        {8, 10}, {6, 12}, {12, 14}, {14, 16}};

/* An input, float32 or uint8: real = (stored - zero point) x scale. */
typedef struct map {
  berth_value_t value;
  float scale; /* offsets: to steps of the map, not pixels */
  uint32_t channels;
} map_t;

typedef struct point {
  float y, x;
} point_t;

typedef struct pose {
  point_t parts[PARTS];
  float scores[PARTS];
} pose_t;

typedef struct decoder {
  map_t maps[MAPS];
  uint32_t height, width;
  uint32_t poses; /* at most */
  float threshold, radius, stride;
  bool masks;
} decoder_t;

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_options(berth_bytes_t bytes, decoder_t *d) {
  berth_flexbuffer_t map;
  int64_t poses, stride;
  if (!berth_flexbuffer_open(bytes, &map) ||
      !berth_flexbuffer_int(&map, "max_detections", &poses) ||
      !berth_flexbuffer_float(&map, "score_threshold", &d->threshold) ||
      !berth_flexbuffer_int(&map, "stride", &stride) ||
      !berth_flexbuffer_float(&map, "nms_radius", &d->radius)) {
    return false;
  }
  if (poses < 1 || poses > POSES_MOST || stride < 1 || stride > 1 << 20) return false;
  d->poses = (uint32_t)poses;
  d->stride = (float)stride;
  d->radius /= d->stride;
  return true;
}

static berth_status_t read_map(berth_call_t *call, decoder_t *d, uint32_t index,
                               uint32_t channels) {
  map_t *map = &d->maps[index];
  const berth_value_t *value = &map->value;
  *map = (map_t){.value = berth_input(call, index), .scale = 1.0f, .channels = channels};
  if (!value->present || (value->type != BERTH_TYPE_UINT8 && value->type != BERTH_TYPE_FLOAT32)) {
    return berth_refuse(call, "takes uint8 and float32 only");
  }
  if (value->rank != 4 || value->dims[0] != 1 || (uint32_t)value->dims[3] != channels) {
    return berth_refuse(call, "needs maps of one image with 17, 34, 64 and perhaps 34 channels");
  }
  if (value->type == BERTH_TYPE_UINT8) {
    if (!berth_has_scale(value)) return berth_refuse(call, "needs scales and zero points");
    map->scale = value->scale;
  }
  if (index != HEATMAPS) map->scale *= (float)(1.0 / (double)d->stride);
  return BERTH_OK;
}

static berth_status_t read_decoder(berth_call_t *call, decoder_t *d) {
  static const uint8_t channels[MAPS] = {PARTS, 2 * PARTS, 4 * EDGES, 2 * PARTS};
  *d = (decoder_t){.masks = call->op.inputs.count == MAPS};
  if (!read_options(call->op.custom_options, d)) {
    return berth_refuse(call, "lacks an option, or has one out of range");
  }
  uint32_t maps = d->masks ? MAPS : MAPS - 1;
  if (call->op.inputs.count != maps || call->op.outputs.count != maps + 1) {
    return berth_refuse(call, "needs three inputs and four outputs, or four and five");
  }
  for (uint32_t i = 0; i < maps; i++) {
    berth_status_t status = read_map(call, d, i, channels[i]);
    if (status != BERTH_OK) return status;
  }
  const int32_t *dims = d->maps[HEATMAPS].value.dims;
  for (uint32_t i = 1; i < maps; i++) {
    if (memcmp(d->maps[i].value.dims + 1, dims + 1, 2 * sizeof *dims) != 0) {
      return berth_refuse(call, "has maps of different sizes");
    }
  }
  d->height = (uint32_t)dims[1];
  d->width = (uint32_t)dims[2];
  if (d->masks && (d->height != MASK_SIDE || d->width != MASK_SIDE)) {
    return berth_refuse(call, "makes masks of 33x33 maps only");
  }
  return BERTH_OK;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static float number(const map_t *map, size_t index) {
  if (map->value.type == BERTH_TYPE_FLOAT32) {
    return berth_load_float(map->value.data, index) * map->scale;
  }
  return (float)(map->value.data[index] - map->value.zero_point) * map->scale;
}

/* Within the map; NaN: 0. */
static float limit(float at, uint32_t size) {
  float last = (float)(size - 1);
  return at > last ? last : at >= 0.0f ? at : 0.0f;
}

/* Between the four places around `at`, which lies in the map. */
static float sample(const decoder_t *d, const map_t *map, point_t at, uint32_t channel) {
  uint32_t top = (uint32_t)at.y, left = (uint32_t)at.x;
  float y = at.y - (float)top, x = at.x - (float)left;
  uint32_t bottom = top + (y > 0.0f), right = left + (x > 0.0f);
  const uint32_t rows[2] = {top * d->width, bottom * d->width};
  float sides[2];
  for (int i = 0; i < 2; i++) {
    float a = number(map, (size_t)(rows[i] + left) * map->channels + channel);
    float b = number(map, (size_t)(rows[i] + right) * map->channels + channel);
    sides[i] = (1.0f - x) * a + x * b;
  }
  return (1.0f - y) * sides[0] + y * sides[1];
}

/* From a point along the offsets in two channels. */
static point_t move(const decoder_t *d, const map_t *map, point_t from, uint32_t y, uint32_t x) {
  float down = sample(d, map, from, y), right = sample(d, map, from, x);
  return (point_t){limit(from.y + down, d->height), limit(from.x + right, d->width)};
}

static float distance(point_t a, point_t b) {
  float y = b.y - a.y, x = b.x - a.x;
  return y * y + x * x;
}

/* ---- A queue --------------------------------------------------------------------------------- */

/* A binary heap of indices into a map; the highest score is first. Of equal ones, which is next
 * follows from where each step looks first, so the steps are those of the C++ library. */
typedef struct queue {
  const map_t *scores;
  uint32_t *items;
  uint32_t count;
} queue_t;

static void rise(queue_t *queue, uint32_t at, uint32_t item) {
  float score = number(queue->scores, item);
  while (at > 0) {
    uint32_t parent = (at - 1) / 2;
    if (!(number(queue->scores, queue->items[parent]) < score)) break;
    queue->items[at] = queue->items[parent];
    at = parent;
  }
  queue->items[at] = item;
}

static void push(queue_t *queue, uint32_t item) {
  rise(queue, queue->count++, item);
}

/* The better child moves up all the way down; then the last item takes the free place and rises. */
static uint32_t pop(queue_t *queue) {
  uint32_t first = queue->items[0], count = --queue->count, at = 0;
  for (uint32_t child = 2; child <= count; child = 2 * at + 2) {
    if (child == count || number(queue->scores, queue->items[child]) <
                              number(queue->scores, queue->items[child - 1])) {
      child--;
    }
    queue->items[at] = queue->items[child];
    at = child;
  }
  if (count > 0) rise(queue, at, queue->items[count]);
  return first;
}

/* Orders indices by their scores, best first; equal ones stay as they are. */
static void sort(const float *scores, uint32_t count, uint32_t *order) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at > 0 && scores[order[at - 1]] < scores[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* ---- Poses ----------------------------------------------------------------------------------- */

/* Is no place around a better one for that part? */
static bool is_peak(const decoder_t *d, uint32_t y, uint32_t x, uint32_t part, float score) {
  for (uint32_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < d->height; v++) {
    for (uint32_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < d->width; u++) {
      if (number(&d->maps[HEATMAPS], (v * d->width + u) * PARTS + part) > score) return false;
    }
  }
  return true;
}

static void find_roots(const decoder_t *d, queue_t *queue) {
  float least = (float)-log((double)1.0f / ((double)d->threshold + 1e-6) - 1.0);
  uint32_t index = 0;
  for (uint32_t y = 0; y < d->height; y++) {
    for (uint32_t x = 0; x < d->width; x++) {
      for (uint32_t part = 0; part < PARTS; part++, index++) {
        float score = number(&d->maps[HEATMAPS], index);
        if (score >= least && is_peak(d, y, x, part, score)) push(queue, index);
      }
    }
  }
}

/* Where a part is that has a peak at `index` of the heatmaps. */
static point_t root_of(const decoder_t *d, uint32_t index) {
  const map_t *shorts = &d->maps[SHORTS];
  uint32_t part = index % PARTS, place = index / PARTS;
  size_t at = (size_t)place * shorts->channels + part;
  float y = (float)(place / d->width) + number(shorts, at);
  float x = (float)(place % d->width) + number(shorts, at + PARTS);
  return (point_t){limit(y, d->height), limit(x, d->width)};
}

/* From a part along an edge (those from EDGES on lead backward) to the part `target`. */
static point_t neighbour(const decoder_t *d, point_t from, uint32_t edge, uint32_t target) {
  /* The channels: y of the forward edges, their x, y of the backward ones, their x. */
  uint32_t y = edge > EDGES ? edge + EDGES : edge;
  point_t at = move(d, &d->maps[MIDS], from, y, y + EDGES);
  for (int i = 0; i < REFINEMENTS; i++) {
    at = move(d, &d->maps[SHORTS], at, target, target + PARTS);
  }
  return at;
}

/* Grows a pose from one part. */
static void grow(const decoder_t *d, uint32_t part, point_t root, pose_t *pose) {
  enum { MOST = 1 + 2 * EDGES };
  point_t points[MOST] = {root};
  float scores[MOST] = {sample(d, &d->maps[HEATMAPS], root, part)};
  uint8_t parts[MOST] = {(uint8_t)part};
  uint32_t items[MOST], count = 1;
  map_t found = {.value = {.type = BERTH_TYPE_FLOAT32, .data = (uint8_t *)scores}, .scale = 1.0f};
  queue_t queue = {.scores = &found, .items = items};
  bool done[PARTS] = {false};
  push(&queue, 0);
  while (queue.count > 0) {
    uint32_t next = pop(&queue), from = parts[next];
    if (done[from]) continue;
    done[from] = true;
    pose->parts[from] = points[next];
    pose->scores[from] = scores[next];
    for (uint32_t edge = 0; edge < 2 * EDGES; edge++) {
      bool back = edge >= EDGES;
      uint32_t to = edges[edge % EDGES][back ? 0 : 1];
      if (edges[edge % EDGES][back ? 1 : 0] != from || done[to]) continue;
      points[count] = neighbour(d, points[next], edge, to);
      scores[count] = sample(d, &d->maps[HEATMAPS], points[count], to);
      parts[count] = (uint8_t)to;
      push(&queue, count++);
    }
  }
  for (uint32_t i = 0; i < PARTS; i++) pose->scores[i] = berth_logistic(pose->scores[i]);
}

/* The mean over all parts that are not covered by one of the first `count` poses in `order`. */
static float score_of(const decoder_t *d, const pose_t *poses, const pose_t *pose,
                      const uint32_t *order, uint32_t count) {
  uint32_t best[PARTS];
  float sum = 0.0f;
  sort(pose->scores, PARTS, best);
  for (uint32_t i = 0; i < PARTS; i++) { /* in this order, for the rounding */
    uint32_t part = best[i];
    bool covered = false;
    for (uint32_t k = 0; k < count && !covered; k++) {
      const pose_t *other = &poses[order[k]];
      covered = distance(pose->parts[part], other->parts[part]) <= d->radius * d->radius;
    }
    if (!covered) sum += pose->scores[part];
  }
  return sum / (float)PARTS;
}

static uint32_t find_poses(const decoder_t *d, queue_t *roots, pose_t *poses, float *scores) {
  uint32_t count = 0;
  while (count < d->poses && roots->count > 0) {
    uint32_t index = pop(roots), part = index % PARTS;
    point_t root = root_of(d, index);
    bool is_new = true;
    for (uint32_t i = 0; i < count && is_new; i++) {
      is_new = !(distance(root, poses[i].parts[part]) <= d->radius * d->radius);
    }
    if (!is_new) continue;
    grow(d, part, root, &poses[count]);
    scores[count] = score_of(d, poses, &poses[count], NULL, 0);
    if (scores[count] >= d->threshold) count++;
  }
  return count;
}

/* ---- Results --------------------------------------------------------------------------------- */

static float *floats(const berth_call_t *call, uint32_t output) {
  return (float *)(void *)berth_output(call, output).data;
}

/* Gives each place to the pose (of `count` in the output) that its long offsets lead closest to. */
static void draw_masks(const decoder_t *d, const berth_call_t *call, uint32_t count) {
  const point_t *poses = (const point_t *)(const void *)floats(call, 0);
  berth_value_t masks = berth_output(call, MAPS);
  memset(masks.data, 0, masks.bytes);
  for (uint32_t place = 0; place < MASK_SIDE * MASK_SIDE; place++) {
    point_t parts[PARTS];
    for (uint32_t part = 0; part < PARTS; part++) {
      point_t at = {(float)(place / MASK_SIDE), (float)(place % MASK_SIDE)};
      for (int i = 0; i < MASK_STEPS; i++) at = move(d, &d->maps[LONGS], at, part, part + PARTS);
      parts[part] = (point_t){at.y * d->stride, at.x * d->stride};
    }
    uint32_t nearest = 0; /* also without any pose, as in Coral's operator */
    float least = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
      float sum = 0.0f;
      for (uint32_t k = 0; k < PARTS; k++) sum += distance(parts[k], poses[i * PARTS + k]);
      if (i > 0 && !(sum < least)) continue;
      nearest = i;
      least = sum;
    }
    floats(call, MAPS)[nearest * MASK_SIDE * MASK_SIDE + place] = 1.0f;
  }
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  decoder_t d;
  berth_status_t status = read_decoder(call, &d);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present || output.type != BERTH_TYPE_FLOAT32) {
      return berth_refuse(call, "gives float32 only");
    }
  }
  uint32_t places = d.maps[HEATMAPS].value.elements;
  if (places == 0) return berth_refuse(call, "needs maps that are not empty");
  if (places > 1 << 24) return BERTH_ERROR_OVERFLOW; /* floats count so far exactly */
  contract->scratch[0] = places * (uint32_t)sizeof(uint32_t);
  contract->scratch[1] = d.poses * (uint32_t)sizeof(pose_t);
  contract->scratch[2] = d.poses * (uint32_t)sizeof(float);
  contract->scratch[3] = d.poses * (uint32_t)sizeof(uint32_t);
  int32_t dims[4] = {1, (int32_t)d.poses, PARTS, 2}, one = 1;
  status = berth_set_shape(call, 0, 4, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 1, 3, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 2, 2, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 3, 1, &one);
  if (status != BERTH_OK || !d.masks) return status;
  dims[2] = dims[3] = MASK_SIDE;
  return berth_set_shape(call, 4, 4, dims);
}

static berth_status_t eval(berth_call_t *call) {
  decoder_t d;
  berth_status_t status = read_decoder(call, &d);
  if (status != BERTH_OK) return status;
  queue_t roots = {.scores = &d.maps[HEATMAPS], .items = call->scratch[0]};
  pose_t *poses = call->scratch[1];
  float *scores = call->scratch[2];
  uint32_t *order = call->scratch[3];
  find_roots(&d, &roots);
  uint32_t found = find_poses(&d, &roots, poses, scores), count = 0;
  sort(scores, found, order);
  for (uint32_t i = 0; i < found; i++) {
    scores[order[i]] = score_of(&d, poses, &poses[order[i]], order, i);
  }
  sort(scores, found, order);
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    memset(output.data, 0, output.bytes);
  }
  for (; count < found && !(scores[order[count]] < d.threshold); count++) {
    const pose_t *pose = &poses[order[count]];
    point_t *parts = (point_t *)(void *)floats(call, 0) + count * PARTS;
    for (uint32_t k = 0; k < PARTS; k++) {
      parts[k] = (point_t){pose->parts[k].y * d.stride, pose->parts[k].x * d.stride};
    }
    memcpy(floats(call, 1) + count * PARTS, pose->scores, sizeof pose->scores);
    floats(call, 2)[count] = scores[order[count]];
  }
  floats(call, 3)[0] = (float)count;
  if (d.masks) draw_masks(&d, call, count);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_posenet_decoder = {.code = BERTH_BUILTIN_CUSTOM,
                                                     .custom_name = "PosenetDecoderOp",
                                                     .prepare = prepare,
                                                     .eval = eval};
