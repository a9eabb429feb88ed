/* TFLite_Detection_PostProcess: from an SSD's raw boxes and scores to a list of detections.
 *
 * Boxes are decoded relative to their anchors; then non-maximum suppression drops boxes that
 * overlap a better one too much: over the best class of each box (fast), or for each class on its
 * own (regular). Class 0 of the scores is the background if there is one class more than the option
 * num_classes says. Decoded boxes and candidates lie in scratch.
 * Source: Liu et al., SSD: Single Shot MultiBox Detector (2016); the operator's order of results is
 * TFLite's, where equal scores keep the order of their boxes. Cost: quadratic in the boxes above
 * the score threshold.
 */
#include "operators/fixed_point.h"
#include "operators/flexbuffer.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"

typedef struct detector {
  berth_value_t boxes, scores, anchors;
  int32_t most;         /* detections to give */
  int32_t most_classes; /* of each box (fast) */
  int32_t most_each;    /* of each class (regular) */
  int32_t classes;      /* without the background */
  uint32_t count;       /* boxes */
  uint32_t background;  /* classes in front of the first one: 0 or 1 */
  uint32_t coordinates; /* of each box in the input; 4 of them are used */
  bool regular;
  float least_score, most_overlap;
  float y_scale, x_scale, h_scale, w_scale;
} detector_t;

/* A decoded box: corners. */
typedef struct box {
  float y_min, x_min, y_max, x_max;
} box_t;

/* A box that may become a detection. */
typedef struct candidate {
  float score;
  uint32_t box;
  uint32_t class;
} candidate_t;

/* ---- Reading --------------------------------------------------------------------------------- */

static float real(const berth_value_t *value, size_t index) {
  if (value->type == BERTH_TYPE_FLOAT32) return berth_load_float(value->data, index);
  int32_t stored = value->data[index];
  if (value->type == BERTH_TYPE_INT8) stored = (stored ^ 128) - 128; /* the sign */
  return value->scale * (float)(stored - value->zero_point);
}

static bool read_int(const berth_flexbuffer_t *map, const char *name, int32_t least, int32_t *to) {
  int64_t number;
  if (!berth_flexbuffer_int(map, name, &number)) return false;
  if (number < least || number > 1 << 20) return false;
  *to = (int32_t)number;
  return true;
}

static bool read_options(berth_bytes_t bytes, detector_t *d) {
  berth_flexbuffer_t map;
  int64_t regular = 0;
  if (!berth_flexbuffer_open(bytes, &map)) return false;
  if (!read_int(&map, "max_detections", 1, &d->most) ||
      !read_int(&map, "max_classes_per_detection", 1, &d->most_classes) ||
      !read_int(&map, "num_classes", 1, &d->classes) ||
      !berth_flexbuffer_float(&map, "nms_score_threshold", &d->least_score) ||
      !berth_flexbuffer_float(&map, "nms_iou_threshold", &d->most_overlap) ||
      !berth_flexbuffer_float(&map, "y_scale", &d->y_scale) ||
      !berth_flexbuffer_float(&map, "x_scale", &d->x_scale) ||
      !berth_flexbuffer_float(&map, "h_scale", &d->h_scale) ||
      !berth_flexbuffer_float(&map, "w_scale", &d->w_scale)) {
    return false;
  }
  if (!read_int(&map, "detections_per_class", 1, &d->most_each)) d->most_each = 100;
  if (berth_flexbuffer_int(&map, "use_regular_nms", &regular)) d->regular = regular != 0;
  return d->most_overlap > 0.0f && d->most_overlap <= 1.0f && d->y_scale > 0.0f &&
         d->x_scale > 0.0f && d->h_scale > 0.0f && d->w_scale > 0.0f;
}

static bool is_number(const berth_value_t *value) {
  if (!value->present) return false;
  if (value->type == BERTH_TYPE_FLOAT32) return true;
  return (value->type == BERTH_TYPE_UINT8 || value->type == BERTH_TYPE_INT8) && value->scale > 0.0f;
}

static berth_status_t read_detector(berth_call_t *call, detector_t *d) {
  *d = (detector_t){.boxes = berth_input(call, 0),
                    .scores = berth_input(call, 1),
                    .anchors = berth_input(call, 2)};
  if (!read_options(call->op.custom_options, d)) {
    return berth_refuse(call, "lacks an option, or has one out of range");
  }
  const berth_value_t *boxes = &d->boxes, *scores = &d->scores, *anchors = &d->anchors;
  if (!is_number(boxes) || !is_number(scores) || !is_number(anchors)) {
    return berth_refuse(call, "takes float32, uint8 and int8 only");
  }
  if (boxes->rank != 3 || boxes->dims[0] != 1 || boxes->dims[2] < 4 || scores->rank != 3 ||
      scores->dims[0] != 1 || scores->dims[1] != boxes->dims[1] || anchors->rank != 2 ||
      anchors->dims[0] != boxes->dims[1] || anchors->dims[1] != 4) {
    return berth_refuse(call, "needs boxes, scores and anchors of one image, equally many");
  }
  int32_t background = scores->dims[2] - d->classes;
  if (background != 0 && background != 1) {
    return berth_refuse(call, "has scores of another number of classes");
  }
  d->count = (uint32_t)boxes->dims[1];
  d->coordinates = (uint32_t)boxes->dims[2];
  d->background = (uint32_t)background;
  return BERTH_OK;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void decode(const detector_t *d, box_t *boxes) {
  for (uint32_t i = 0; i < d->count; i++) {
    size_t at = (size_t)i * d->coordinates, anchor = (size_t)i * 4;
    float anchor_y = real(&d->anchors, anchor), anchor_x = real(&d->anchors, anchor + 1);
    float anchor_h = real(&d->anchors, anchor + 2), anchor_w = real(&d->anchors, anchor + 3);
    float y = real(&d->boxes, at) / d->y_scale * anchor_h + anchor_y;
    float x = real(&d->boxes, at + 1) / d->x_scale * anchor_w + anchor_x;
    float h = 0.5f * berth_exp(real(&d->boxes, at + 2) / d->h_scale) * anchor_h;
    float w = 0.5f * berth_exp(real(&d->boxes, at + 3) / d->w_scale) * anchor_w;
    boxes[i] = (box_t){y - h, x - w, y + h, x + w};
  }
}

/* Intersection over union. */
static float overlap(const box_t *a, const box_t *b) {
  float area_a = (a->y_max - a->y_min) * (a->x_max - a->x_min);
  float area_b = (b->y_max - b->y_min) * (b->x_max - b->x_min);
  if (!(area_a > 0.0f) || !(area_b > 0.0f)) return 0.0f;
  float height = fminf(a->y_max, b->y_max) - fmaxf(a->y_min, b->y_min);
  float width = fminf(a->x_max, b->x_max) - fmaxf(a->x_min, b->x_min);
  float common = fmaxf(height, 0.0f) * fmaxf(width, 0.0f);
  return common / (area_a + area_b - common);
}

/* ---- Suppression ------------------------------------------------------------------------------
 */

static float score_of(const detector_t *d, uint32_t box, uint32_t class) {
  size_t classes = (size_t)d->classes + d->background;
  return real(&d->scores, box * classes + d->background + class);
}

/* Comes `a` before `b`? Better ones do; of equals, those that were there first. */
static bool is_before(const candidate_t *a, const candidate_t *b) {
  return a->score > b->score || (a->score == b->score && a->box < b->box);
}

static void sink(candidate_t *heap, uint32_t count, uint32_t at) {
  candidate_t item = heap[at];
  for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && is_before(&heap[child], &heap[child + 1])) child++;
    if (!is_before(&item, &heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = item;
}

/* Heapsort, best first (Williams, 1964). */
static void sort(candidate_t *candidates, uint32_t count) {
  for (uint32_t i = count / 2; i-- > 0;) sink(candidates, count, i);
  for (uint32_t end = count; end > 1;) {
    end--;
    candidate_t last = candidates[0];
    candidates[0] = candidates[end];
    candidates[end] = last;
    sink(candidates, end, 0);
  }
}

/* Keeps of sorted candidates those that overlap no better one that is kept, at most `most`; they
 * move to the front. Returns how many. */
static uint32_t suppress(const detector_t *d, const box_t *boxes, candidate_t *candidates,
                         uint32_t count, uint32_t most) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count && kept < most; i++) {
    bool keep = true;
    for (uint32_t k = 0; k < kept && keep; k++) {
      keep = !(overlap(&boxes[candidates[k].box], &boxes[candidates[i].box]) > d->most_overlap);
    }
    if (keep) candidates[kept++] = candidates[i];
  }
  return kept;
}

/* For each class on its own: `found` are the best over the classes so far, sorted. */
static uint32_t regular(const detector_t *d, const box_t *boxes, candidate_t *candidates,
                        candidate_t *found) {
  uint32_t total = 0;
  for (uint32_t class = 0; class < (uint32_t)d->classes; class ++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->count; i++) {
      float score = score_of(d, i, class);
      if (score >= d->least_score) candidates[count++] = (candidate_t){score, i, class};
    }
    sort(candidates, count);
    count = suppress(d, boxes, candidates, count, (uint32_t)d->most_each);
    /* Merge from behind: of equal scores, those of the earlier class come first. */
    for (uint32_t i = 0; i < count; i++) {
      uint32_t at = total;
      while (at > 0 && found[at - 1].score < candidates[i].score) at--;
      if (at == (uint32_t)d->most) break;
      if (total < (uint32_t)d->most) total++;
      memmove(found + at + 1, found + at, (total - 1 - at) * sizeof *found);
      found[at] = candidates[i];
    }
  }
  return total;
}

/* The best class of each box that was not taken yet: below (score, class) of `last`. */
static candidate_t next_class(const detector_t *d, uint32_t box, const candidate_t *last) {
  candidate_t best = {.score = -INFINITY, .box = box, .class = (uint32_t)d->classes};
  for (uint32_t class = 0; class < (uint32_t)d->classes; class ++) {
    float score = score_of(d, box, class);
    if (last != NULL && (score > last->score || (score == last->score && class <= last->class))) {
      continue;
    }
    if (best.class == (uint32_t)d->classes || score > best.score) {
      best.score = score;
      best.class = class;
    }
  }
  return best;
}

/* Over the best class of each box; each box that is left gives its best `most_classes`. */
static uint32_t fast(const detector_t *d, const box_t *boxes, candidate_t *candidates,
                     candidate_t *found) {
  uint32_t count = 0, total = 0;
  for (uint32_t i = 0; i < d->count; i++) {
    candidate_t best = next_class(d, i, NULL);
    if (best.score >= d->least_score) candidates[count++] = best;
  }
  sort(candidates, count);
  count = suppress(d, boxes, candidates, count, (uint32_t)d->most);
  for (uint32_t i = 0; i < count; i++) {
    candidate_t one = candidates[i];
    for (int32_t k = 0; k < d->most_classes && one.class < (uint32_t)d->classes; k++) {
      found[total++] = one;
      one = next_class(d, one.box, &one);
    }
  }
  return total;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* How many detections the outputs have room for; the regular way leaves the rest zero. */
static uint64_t room_of(const detector_t *d) {
  return (uint64_t)d->most * (uint64_t)d->most_classes;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  detector_t d;
  berth_status_t status = read_detector(call, &d);
  if (status != BERTH_OK) return status;
  if (call->op.outputs.count != 4) return berth_refuse(call, "needs four outputs");
  for (uint32_t i = 0; i < 4; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present || output.type != BERTH_TYPE_FLOAT32) {
      return berth_refuse(call, "gives float32 only");
    }
  }
  uint64_t room = room_of(&d);
  if (room > 1 << 20 || d.count > 1 << 24) return BERTH_ERROR_OVERFLOW;
  contract->scratch[0] = d.count * (uint32_t)sizeof(box_t);
  contract->scratch[1] = d.count * (uint32_t)sizeof(candidate_t);
  contract->scratch[2] = (uint32_t)room * (uint32_t)sizeof(candidate_t);
  int32_t dims[3] = {1, (int32_t)room, 4}, one = 1;
  status = berth_set_shape(call, 0, 3, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 1, 2, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 2, 2, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 3, 1, &one);
  return status;
}

static berth_status_t eval(berth_call_t *call) {
  detector_t d;
  berth_status_t status = read_detector(call, &d);
  if (status != BERTH_OK) return status;
  box_t *boxes = call->scratch[0];
  candidate_t *candidates = call->scratch[1], *found = call->scratch[2];
  decode(&d, boxes);
  uint32_t count =
      d.regular ? regular(&d, boxes, candidates, found) : fast(&d, boxes, candidates, found);
  box_t *to = (box_t *)(void *)berth_output(call, 0).data;
  float *classes = (float *)(void *)berth_output(call, 1).data;
  float *scores = (float *)(void *)berth_output(call, 2).data;
  for (uint32_t i = 0; i < room_of(&d); i++) {
    bool there = i < count;
    to[i] = there ? boxes[found[i].box] : (box_t){0.0f, 0.0f, 0.0f, 0.0f};
    classes[i] = there ? (float)found[i].class : 0.0f;
    scores[i] = there ? found[i].score : 0.0f;
  }
  *(float *)(void *)berth_output(call, 3).data = (float)count;
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_detection_postprocess = {.code = BERTH_BUILTIN_CUSTOM,
                                                           .custom_name =
                                                               "TFLite_Detection_PostProcess",
                                                           .prepare = prepare,
                                                           .eval = eval};
