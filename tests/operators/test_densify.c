/* DENSIFY against an encoder that goes the other way, broken encodings, and a recorded model. */
#include "model/builder.h"
#include "model/fields.h"
#include "operators/case.h"
#include "operators/recorded.h"

#define LEVELS   6
#define ELEMENTS 512

/* A tensor, how it is to be stored, and a model that holds it. */
typedef struct sparse {
  uint32_t rank, levels;
  int32_t dims[LEVELS];
  uint32_t order[LEVELS], map[LEVELS]; /* as in the file: traversal order, block map */
  int32_t block[LEVELS];               /* size of each block dimension */
  bool listed[LEVELS];                 /* by level */
  uint32_t elements;
  uint16_t dense[ELEMENTS];
  uint32_t segments_at[LEVELS], indices_at[LEVELS]; /* positions of the vectors' lengths */
  builder_t file;
} sparse_t;

/* Size of a level's dimension, in blocks if it has any. */
static int32_t extent(const sparse_t *s, uint32_t level) {
  uint32_t order = s->order[level];
  if (order >= s->rank) return s->block[order - s->rank];
  int32_t size = s->dims[order];
  for (uint32_t b = 0; b < s->levels - s->rank; b++)
    if (s->map[b] == order) size /= s->block[b];
  return size;
}

/* Where the element with these indices, one for each level, is in the dense tensor. */
static uint32_t position(const sparse_t *s, const int32_t *index) {
  int32_t coordinate[LEVELS] = {0};
  for (uint32_t l = 0; l < s->levels; l++) { /* blocks first: they multiply */
    uint32_t order = s->order[l];
    if (order >= s->rank) continue;
    int32_t size = 1;
    for (uint32_t b = 0; b < s->levels - s->rank; b++)
      if (s->map[b] == order) size = s->block[b];
    coordinate[order] += index[l] * size;
  }
  for (uint32_t l = 0; l < s->levels; l++)
    if (s->order[l] >= s->rank) coordinate[s->map[s->order[l] - s->rank]] += index[l];
  uint32_t at = 0;
  for (uint32_t d = 0; d < s->rank; d++) at = at * (uint32_t)s->dims[d] + (uint32_t)coordinate[d];
  return at;
}

/* Is there anything but zeros below the node that the first `level` indices name? */
static bool is_used(const sparse_t *s, int32_t *index, uint32_t level) {
  if (level == s->levels) return s->dense[position(s, index)] != 0;
  bool used = false;
  for (int32_t i = 0; i < extent(s, level) && !used; i++) {
    index[level] = i;
    used = is_used(s, index, level + 1);
  }
  return used;
}

static void put_index_list(sparse_t *s, uint32_t table, uint32_t type_field, uint32_t field,
                           uint32_t width, uint32_t count, const int64_t *list, uint32_t *at) {
  put_field(&s->file, table, type_field, 1, width == 4 ? 1 : width == 2 ? 2 : 3);
  uint32_t values = put_child(&s->file, table, field, 1);
  *at = put_vector(&s->file, values, INDEX_VALUES, width, count, list);
}

/* Stores the tensor level by level: all nodes of one before those of the next. */
static void encode(sparse_t *s) {
  static int32_t nodes[2][ELEMENTS + 1][LEVELS];
  static int64_t segments[ELEMENTS + 1], indices[ELEMENTS], values[2 * ELEMENTS];
  builder_t *f = &s->file;
  memset(f, 0, sizeof *f);
  put(f, 4, 0);
  put(f, 4, 0x334c4654); /* "TFL3" */
  uint32_t model = put_table(f, 8);
  poke(f, 0, 4, model);
  put_field(f, model, MODEL_VERSION, 4, 3);
  uint32_t main = put_element(f, put_list(f, model, MODEL_SUBGRAPHS, 1), 0, 5);
  uint32_t tensor = put_element(f, put_list(f, main, SUBGRAPH_TENSORS, 1), 0, 11);
  int64_t numbers[LEVELS];
  for (uint32_t i = 0; i < s->rank; i++) numbers[i] = s->dims[i];
  put_vector(f, tensor, TENSOR_SHAPE, 4, s->rank, numbers);
  put_field(f, tensor, TENSOR_TYPE, 1, BERTH_TYPE_FLOAT16);
  put_field(f, tensor, TENSOR_BUFFER, 4, 1);
  uint32_t sparsity = put_child(f, tensor, TENSOR_SPARSITY, 3);
  for (uint32_t i = 0; i < s->levels; i++) numbers[i] = s->order[i];
  put_vector(f, sparsity, SPARSITY_TRAVERSAL_ORDER, 4, s->levels, numbers);
  for (uint32_t i = 0; i < s->levels - s->rank; i++) numbers[i] = s->map[i];
  put_vector(f, sparsity, SPARSITY_BLOCK_MAP, 4, s->levels - s->rank, numbers);
  uint32_t list = put_list(f, sparsity, SPARSITY_DIMENSIONS, s->levels), count = 1;
  for (uint32_t level = 0; level < s->levels; level++) {
    int32_t(*from)[LEVELS] = nodes[level % 2], (*to)[LEVELS] = nodes[(level + 1) % 2];
    uint32_t table = put_element(f, list, level, 6), next = 0;
    for (uint32_t n = 0; n < count; n++) {
      segments[n] = next;
      for (int32_t i = 0; i < extent(s, level); i++) {
        int32_t index[LEVELS];
        memcpy(index, from[n], sizeof index);
        index[level] = i;
        if (s->listed[level] && !is_used(s, index, level + 1)) continue;
        index[level] = i;
        memcpy(to[next], index, sizeof index);
        indices[next++] = i;
      }
    }
    segments[count] = next;
    if (s->listed[level]) {
      put_field(f, table, DIMENSION_FORMAT, 1, 1);
      put_index_list(s, table, DIMENSION_SEGMENTS_TYPE, DIMENSION_SEGMENTS, 1u << level % 3,
                     count + 1, segments, &s->segments_at[level]);
      put_index_list(s, table, DIMENSION_INDICES_TYPE, DIMENSION_INDICES, 1u << (level + 1) % 3,
                     next, indices, &s->indices_at[level]);
    } else {
      put_field(f, table, DIMENSION_DENSE_SIZE, 4, (uint64_t)extent(s, level));
    }
    count = next;
  }
  for (uint32_t n = 0; n < count; n++) {
    uint16_t value = s->dense[position(s, nodes[s->levels % 2][n])];
    values[2 * n] = value & 255;
    values[2 * n + 1] = value >> 8;
  }
  uint32_t buffers = put_list(f, model, MODEL_BUFFERS, 2);
  put_element(f, buffers, 0, 1);
  put_vector(f, put_element(f, buffers, 1, 1), BUFFER_DATA, 1, 2 * count, values);
}

/* A tensor whose values are kept with some probability of 16. */
static void fill(sparse_t *s, uint32_t share, uint32_t seed) {
  s->elements = 1;
  for (uint32_t d = 0; d < s->rank; d++) s->elements *= (uint32_t)s->dims[d];
  assert_true(s->elements <= ELEMENTS);
  for (uint32_t i = 0; i < s->elements; i++) {
    uint16_t value = (uint16_t)(case_random(&seed) >> 5);
    s->dense[i] = case_random(&seed) % 16 < share ? value : 0;
  }
}

static berth_status_t densify(case_t *c, sparse_t *s, berth_model_t *model) {
  berth_model_error_t error;
  if (berth_model_open(s->file.bytes, s->file.size, model, &error) != BERTH_OK)
    fail_msg("%s %s", error.subject, error.fault);
  case_begin(c, &berth_kernel_densify);
  c->call.model = model;
  case_constant(c, BERTH_TYPE_FLOAT16, s->rank, s->dims, s->dense, 0, 0);
  case_output(c, BERTH_TYPE_FLOAT16, 0, 0);
  return case_run(c);
}

static void check(sparse_t *s, uint32_t share, uint32_t seed) {
  case_t c;
  berth_model_t model;
  fill(s, share, seed);
  encode(s);
  if (densify(&c, s, &model) != BERTH_OK)
    fail_msg("%s (seed %u, share %u)", c.call.why, (unsigned)seed, (unsigned)share);
  assert_int_equal(case_result(&c, 0).rank, s->rank);
  assert_int_equal(case_result(&c, 0).elements, s->elements);
  assert_memory_equal(case_result(&c, 0).data, s->dense, 2 * s->elements);
  case_end(&c);
}

static void every_encoding_gives_the_tensor(void **state) {
  (void)state;
  static sparse_t s;
  for (uint32_t share = 0; share <= 16; share += 4) {
    /* Compressed rows. */
    s = (sparse_t){.rank = 2, .levels = 2, .dims = {7, 9}, .order = {0, 1}, .listed = {0, 1}};
    check(&s, share, 1);
    /* Compressed columns. */
    s = (sparse_t){.rank = 2, .levels = 2, .dims = {7, 9}, .order = {1, 0}, .listed = {0, 1}};
    check(&s, share, 2);
    /* Lists in lists, and nothing but lists. */
    s = (sparse_t){.rank = 3, .levels = 3, .dims = {3, 4, 5}, .order = {2, 0, 1}};
    s.listed[0] = s.listed[1] = s.listed[2] = true;
    check(&s, share, 3);
    /* Blocks of columns. */
    s = (sparse_t){.rank = 2, .levels = 3, .dims = {6, 8}, .order = {0, 1, 2}, .map = {1}};
    s.block[0] = 4;
    s.listed[1] = true;
    check(&s, share, 4);
    /* A convolution's filter with blocks of 4 x 4 of its outer- and innermost dimension. */
    s = (sparse_t){.rank = 4, .levels = 6, .dims = {8, 1, 3, 8}, .order = {0, 1, 2, 3, 4, 5}};
    s.map[0] = 0;
    s.map[1] = 3;
    s.block[0] = s.block[1] = 4;
    s.listed[3] = true;
    check(&s, share, 5);
    /* All dense. */
    s = (sparse_t){.rank = 2, .levels = 2, .dims = {4, 4}, .order = {1, 0}};
    check(&s, share, 6);
  }
}

/* Whatever the lists say, they are followed inside of the tensor and the file only: under the
 * sanitizers this finds every other access. */
static void broken_lists_are_refused_or_harmless(void **state) {
  (void)state;
  static sparse_t s;
  s = (sparse_t){.rank = 2, .levels = 3, .dims = {6, 8}, .order = {0, 1, 2}, .map = {1}};
  s.block[0] = 4;
  s.listed[1] = true;
  fill(&s, 8, 9);
  encode(&s);
  static builder_t whole;
  whole = s.file;
  uint32_t refusals = 0, first = s.segments_at[1];
  for (uint32_t at = first; at < s.indices_at[1] + 4 + 12; at++) {
    static const uint8_t bytes[] = {0, 1, 2, 13, 127, 128, 255};
    for (uint32_t b = 0; b < sizeof bytes; b++) {
      s.file = whole;
      s.file.bytes[at] = bytes[b];
      berth_model_t model;
      if (berth_model_open(s.file.bytes, s.file.size, &model, NULL) != BERTH_OK) continue;
      case_t c;
      berth_status_t status = densify(&c, &s, &model);
      assert_true(status == BERTH_OK || status == BERTH_ERROR_OPERATOR);
      if (status == BERTH_ERROR_OPERATOR) refusals++;
      case_end(&c);
    }
  }
  assert_true(refusals > 20);
}

static void refuse(const sparse_t *broken) {
  static sparse_t s;
  case_t c;
  berth_model_t model;
  s = *broken;
  fill(&s, 8, 3);
  encode(&s);
  if (berth_model_open(s.file.bytes, s.file.size, &model, NULL) != BERTH_OK) return;
  assert_int_equal(densify(&c, &s, &model), BERTH_ERROR_OPERATOR);
  assert_non_null(c.call.why);
  case_end(&c);
}

static void dimensions_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static sparse_t s;
  s = (sparse_t){.rank = 2, .levels = 2, .dims = {4, 4}, .order = {0, 0}}; /* one of them twice */
  refuse(&s);
  s = (sparse_t){.rank = 2, .levels = 3, .dims = {4, 6}, .order = {0, 1, 2}, .map = {1}};
  s.block[0] = 4; /* does not divide 6 */
  refuse(&s);
}

static void sparse_face_detection_runs_as_recorded(void **state) {
  (void)state;
  recorded_reference("mediapipe/face_detection_full_range_sparse", "litert", 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_encoding_gives_the_tensor),
      cmocka_unit_test(broken_lists_are_refused_or_harmless),
      cmocka_unit_test(dimensions_that_do_not_fit_are_refused),
      cmocka_unit_test(sparse_face_detection_runs_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
