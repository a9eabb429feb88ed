/* The loops of reference kernels: they read what Berth's kernels depend on, neither more nor less;
 * and the safe distances, which are derived without them, are the smallest at which nothing is read
 * after it was overwritten, for every kind of operator. */
#include "test.h"

#include "berth/interpreter.h"
#include "graph/network.h"
#include "stock/diagonal.h"
#include "stock/reference_order.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t random_state;
static uint32_t below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % limit;
}

/* ---- Small operators ------------------------------------------------------------------------- */

/* One operator: tensor 0 is its input, tensor 1 its output, tensor 2 weights or amounts. */
typedef struct small {
  network_t net;
  char shapes[3][64];
  int fields[8];
  int32_t pads[8];
} small_t;

static const int kinds[] = {
    BERTH_BUILTIN_CONV_2D,
    BERTH_BUILTIN_DEPTHWISE_CONV_2D,
    BERTH_BUILTIN_AVERAGE_POOL_2D,
    BERTH_BUILTIN_MAX_POOL_2D,
    BERTH_BUILTIN_FULLY_CONNECTED,
    BERTH_BUILTIN_PAD,
    BERTH_BUILTIN_DEQUANTIZE,
    BERTH_BUILTIN_QUANTIZE,
    BERTH_BUILTIN_SOFTMAX,
    BERTH_BUILTIN_LOGISTIC,
    BERTH_BUILTIN_ADD,
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct side {
  uint32_t in, out, filter, stride, dilation;
} side_t;

static side_t make_side(bool same, bool dilates) {
  side_t s = {.in = 1 + below(8), .filter = 1 + below(3), .stride = 1 + below(3)};
  s.dilation = dilates && s.stride == 1 ? 1 + below(3) : 1;
  uint32_t span = (s.filter - 1) * s.dilation + 1;
  if (!same && span > s.in) s.in = span;
  s.out = same ? (s.in + s.stride - 1) / s.stride : (s.in - span) / s.stride + 1;
  return s;
}

static void make_window(small_t *small, int kind) {
  bool same = below(2) == 0, pool = kind != BERTH_BUILTIN_CONV_2D;
  pool = pool && kind != BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  bool depthwise = kind == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  side_t h = make_side(same, !pool), w = make_side(same, !pool);
  uint32_t batches = 1 + below(2), channels = 1 + below(4);
  uint32_t outputs = pool ? channels : depthwise ? channels * (1 + below(3)) : 1 + below(5);
  snprintf(small->shapes[0], 64, "%ux%ux%ux%u", batches, h.in, w.in, channels);
  snprintf(small->shapes[1], 64, "%ux%ux%ux%u", batches, h.out, w.out, outputs);
  snprintf(small->shapes[2], 64, "%ux%ux%ux%u", depthwise ? 1 : outputs, h.filter, w.filter,
           depthwise ? outputs : channels);
  /* The padding is a byte; the one beside it may be anything, an activation for instance. */
  int padding = (same ? 0 : 1) + 256;
  int conv[] = {padding, (int)w.stride, (int)h.stride, 0, (int)w.dilation, (int)h.dilation};
  int depthwise_fields[] = {padding, (int)w.stride,   (int)h.stride,  (int)(outputs / channels),
                            0,       (int)w.dilation, (int)h.dilation};
  int pool_fields[] = {padding, (int)w.stride, (int)h.stride, (int)w.filter, (int)h.filter};
  memcpy(small->fields, depthwise_fields, sizeof depthwise_fields);
  if (pool) memcpy(small->fields, pool_fields, sizeof pool_fields);
  if (kind == BERTH_BUILTIN_CONV_2D) memcpy(small->fields, conv, sizeof conv);
}

static void make_pads(small_t *small) {
  uint32_t in[4], out[4];
  for (int i = 0; i < 4; i++) {
    in[i] = 1 + below(4);
    small->pads[2 * i] = (int32_t)below(3);
    small->pads[2 * i + 1] = (int32_t)below(3);
    out[i] = in[i] + (uint32_t)small->pads[2 * i] + (uint32_t)small->pads[2 * i + 1];
  }
  snprintf(small->shapes[0], 64, "%ux%ux%ux%u", in[0], in[1], in[2], in[3]);
  snprintf(small->shapes[1], 64, "%ux%ux%ux%u", out[0], out[1], out[2], out[3]);
  snprintf(small->shapes[2], 64, "4x2");
}

static berth_model_t make(small_t *small, int kind, berth_tensor_type_t in,
                          berth_tensor_type_t out) {
  memset(small, 0, sizeof *small);
  uint32_t fields = 0;
  bool third = true;
  if (kind == BERTH_BUILTIN_PAD) {
    make_pads(small);
  } else if (kind == BERTH_BUILTIN_FULLY_CONNECTED) {
    uint32_t batches = 1 + below(3), depth = 1 + below(9), outputs = 1 + below(9);
    snprintf(small->shapes[0], 64, "%ux%u", batches, depth);
    snprintf(small->shapes[1], 64, "%ux%u", batches, outputs);
    snprintf(small->shapes[2], 64, "%ux%u", outputs, depth);
  } else if (kind == BERTH_BUILTIN_CONV_2D || kind == BERTH_BUILTIN_DEPTHWISE_CONV_2D ||
             kind == BERTH_BUILTIN_AVERAGE_POOL_2D || kind == BERTH_BUILTIN_MAX_POOL_2D) {
    make_window(small, kind);
    fields = 7;
  } else {
    snprintf(small->shapes[0], 64, "%ux%ux%u", 1 + below(3), 1 + below(4), 1 + below(5));
    memcpy(small->shapes[1], small->shapes[0], 64);
    third = kind == BERTH_BUILTIN_ADD;
    if (third) memcpy(small->shapes[2], small->shapes[0], 64);
  }
  if (kind == BERTH_BUILTIN_AVERAGE_POOL_2D || kind == BERTH_BUILTIN_MAX_POOL_2D) {
    third = false;
    fields = 5;
  }
  if (kind == BERTH_BUILTIN_CONV_2D) fields = 6;
  network_t *net = &small->net;
  bool pads = kind == BERTH_BUILTIN_PAD;
  tensor(net, 0, in, small->shapes[0], 0);
  tensor(net, 0, out, small->shapes[1], 0);
  tensor(net, 0, pads ? BERTH_TYPE_INT32 : in, third ? small->shapes[2] : "1", CONSTANT);
  net->constant_bytes = pads ? 32 : 1024;
  if (kind == BERTH_BUILTIN_ADD) net->subgraphs[0].tensors[2].flags = 0;
  bool bias = kind == BERTH_BUILTIN_CONV_2D || kind == BERTH_BUILTIN_DEPTHWISE_CONV_2D ||
              kind == BERTH_BUILTIN_FULLY_CONNECTED;
  call(net, 0, kind,
       !third ? "0"
       : bias ? "0 2 -1"
              : "0 2",
       "1", fields > 0 ? small->fields : NULL, fields);
  net->subgraphs[0].inputs = kind == BERTH_BUILTIN_ADD ? "0 2" : "0";
  net->subgraphs[0].outputs = "1";
  berth_model_t model = build(net);
  berth_tensor_t constant = berth_model_tensor(&model, 0, 2);
  berth_bytes_t data = berth_model_tensor_data(&model, &constant);
  for (uint32_t i = 0; i < data.size / 4; i++) {
    float one = 1;
    uint8_t *at = net->file.bytes + (data.data - net->file.bytes) + (size_t)4 * i;
    memcpy(at, pads ? (const void *)&small->pads[i] : (const void *)&one, 4);
  }
  return model;
}

static uint32_t elements(const berth_model_t *model, uint32_t number, uint32_t *width) {
  berth_tensor_t it = berth_model_tensor(model, 0, number);
  uint64_t bytes;
  assert_int_equal(berth_tensor_bytes(it.type, it.shape, &bytes), BERTH_OK);
  *width = berth_tensor_type_bits(it.type) / 8;
  return (uint32_t)bytes / *width;
}

/* ---- Distances ------------------------------------------------------------------------------- */

#define BYTES_MAX 65536

/* Memory with the output at 0 and operand 0 `distance` bytes behind. */
typedef struct memory {
  bool overwritten[BYTES_MAX];
  uint64_t distance;
  bool clobbered; /* something was read too late */
  uint64_t written;
} memory_t;

static void on_read(void *user, uint32_t operand, uint64_t at, uint64_t bytes) {
  memory_t *memory = user;
  if (operand != 0) return;
  for (uint64_t i = at; i < at + bytes; i++) {
    assert_true(memory->distance + i < BYTES_MAX);
    if (memory->overwritten[memory->distance + i]) memory->clobbered = true;
  }
}

static void on_write(void *user, uint64_t at, uint64_t bytes) {
  memory_t *memory = user;
  assert_int_equal(at, memory->written); /* in ascending order, each once */
  memory->written += bytes;
  for (uint64_t i = at; i < at + bytes; i++) memory->overwritten[i] = true;
}

/* As pieces of work that can't meet are made at once: exactly where they can. */
static bool on_meet(void *user, uint32_t operand, uint64_t at, uint64_t bytes, uint64_t output_at,
                    uint64_t output_bytes) {
  const memory_t *memory = user;
  (void)operand;
  return memory->distance + at < output_at + output_bytes &&
         output_at < memory->distance + at + bytes;
}

static bool is_safe(const berth_model_t *model, uint64_t distance, bool at_once) {
  static memory_t memory;
  memset(&memory, 0, sizeof memory);
  memory.distance = distance;
  berth_accesses_t accesses = {
      .read = on_read, .write = on_write, .meet = at_once ? on_meet : NULL, .user = &memory};
  berth_reference_order(model, 0, 0, &accesses);
  uint32_t width, count = elements(model, 1, &width);
  assert_int_equal(memory.written, count * width);
  return !memory.clobbered;
}

static void distances_are_safe_and_the_smallest_for_every_kind(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_INT16,
                                              BERTH_TYPE_FLOAT32};
  static small_t small;
  random_state = 11;
  for (size_t k = 0; k < KINDS; k++) {
    uint32_t tight = 0, overlapping = 0;
    for (int n = 0; n < 300; n++) {
      berth_tensor_type_t in = types[below(3)];
      berth_tensor_type_t out = kinds[k] == BERTH_BUILTIN_PAD ? in : types[below(3)];
      berth_model_t model = make(&small, kinds[k], in, out);
      uint64_t distance = UINT64_MAX;
      assert_true(berth_stock_diagonal(&model, 0, 0, 0, &distance));
      assert_true(berth_reference_order_known(&model, 0, 0, 0));
      bool safe = is_safe(&model, distance, false);
      bool tighter = distance > 0 && is_safe(&model, distance - 1, false);
      if (!safe || tighter) {
        fail_msg("%s, %s -> %s: %u is %s", berth_builtin_name((berth_builtin_t)kinds[k]),
                 small.shapes[0], small.shapes[1], (unsigned)distance,
                 safe ? "not the smallest distance" : "not safe");
      }
      /* Work that is done at once changes nothing. */
      assert_true(is_safe(&model, distance, true));
      if (distance > 0) assert_false(is_safe(&model, distance - 1, true));
      uint32_t width, count = elements(&model, 1, &width);
      tight += distance > 0;
      overlapping += distance < (uint64_t)count * width;
    }
    assert_true(overlapping > 50);
    if (kinds[k] != BERTH_BUILTIN_QUANTIZE) assert_true(tight > 20);
  }
}

/* ---- What is read ---------------------------------------------------------------------------- */

#define ELEMENTS_MAX 1024

/* Which elements of operand 0 each output element reads. */
typedef struct relation {
  bool reads[ELEMENTS_MAX][ELEMENTS_MAX];
  bool pending[ELEMENTS_MAX];
} relation_t;

static void note_read(void *user, uint32_t operand, uint64_t at, uint64_t bytes) {
  relation_t *relation = user;
  if (operand != 0) return;
  for (uint64_t i = at / 4; i < (at + bytes) / 4; i++) relation->pending[i] = true;
}

static void note_write(void *user, uint64_t at, uint64_t bytes) {
  relation_t *relation = user;
  for (uint64_t i = at / 4; i < (at + bytes) / 4; i++) {
    memcpy(relation->reads[i], relation->pending, sizeof relation->pending);
  }
  memset(relation->pending, 0, sizeof relation->pending);
}

/* Output element t must change with input element i just if it reads it. */
static void expect_relation(const berth_model_t *model, const relation_t *relation) {
  static _Alignas(16) uint8_t block[1 << 17];
  static float before[ELEMENTS_MAX];
  berth_interpreter_t interpreter;
  berth_memories_t memories = {.activations = {block, sizeof block}};
  berth_interpreter_options_t options = {.kernels = berth_kernels, .no_reuse = true};
  assert_int_equal(berth_interpreter_init(&interpreter, model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  uint32_t width, inputs = elements(model, 0, &width), outputs = elements(model, 1, &width);
  float *input = (float *)(void *)berth_interpreter_input(&interpreter, 0).data;
  berth_value_t second = berth_interpreter_input(&interpreter, 1);
  if (second.data != NULL) memset(second.data, 0, second.bytes);
  const float *output = (const float *)(const void *)berth_interpreter_output(&interpreter, 0).data;
  for (uint32_t i = 0; i < inputs; i++) input[i] = (float)(1 + i % 7);
  assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
  memcpy(before, output, outputs * sizeof *before);
  for (uint32_t i = 0; i < inputs; i++) {
    float kept = input[i];
    input[i] = 4096; /* enough to be any window's largest */
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    for (uint32_t t = 0; t < outputs; t++) {
      bool depends = memcmp(&output[t], &before[t], 4) != 0;
      if (depends != relation->reads[t][i]) {
        fail_msg("operator of code %d: output element %u %s input element %u",
                 (int)berth_model_operator(model, 0, 0).code, (unsigned)t,
                 depends ? "depends on" : "does not depend on", (unsigned)i);
      }
    }
    input[i] = kept;
  }
}

static void an_output_element_depends_on_what_is_read_for_it(void **state) {
  (void)state;
  static const int of_values[] = {
      BERTH_BUILTIN_CONV_2D,     BERTH_BUILTIN_DEPTHWISE_CONV_2D, BERTH_BUILTIN_AVERAGE_POOL_2D,
      BERTH_BUILTIN_MAX_POOL_2D, BERTH_BUILTIN_FULLY_CONNECTED,   BERTH_BUILTIN_PAD,
      BERTH_BUILTIN_ADD};
  static small_t small;
  static relation_t relation;
  random_state = 5;
  for (size_t k = 0; k < sizeof of_values / sizeof *of_values; k++) {
    for (int n = 0; n < 12; n++) {
      berth_model_t model = make(&small, of_values[k], BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32);
      uint32_t width;
      if (elements(&model, 1, &width) > ELEMENTS_MAX) continue;
      memset(&relation, 0, sizeof relation);
      berth_accesses_t accesses = {.read = note_read, .write = note_write, .user = &relation};
      berth_reference_order(&model, 0, 0, &accesses);
      expect_relation(&model, &relation);
    }
  }
}

static void other_operators_have_no_known_order(void **state) {
  (void)state;
  static network_t net;
  tensor(&net, 0, BERTH_TYPE_INT8, "2x4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "4x2", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "2x2", 0);
  op(&net, 0, BERTH_BUILTIN_TRANSPOSE, "0", "1");
  op(&net, 0, BERTH_BUILTIN_ADD, "0 1", "2"); /* neither has as many elements as the output */
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "2";
  berth_model_t model = build(&net);
  assert_false(berth_reference_order_known(&model, 0, 0, 0));
  assert_false(berth_reference_order_known(&model, 0, 1, 0));
  assert_false(berth_reference_order_known(&model, 0, 1, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_safe_and_the_smallest_for_every_kind),
      cmocka_unit_test(an_output_element_depends_on_what_is_read_for_it),
      cmocka_unit_test(other_operators_have_no_known_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
