/* Random networks through everything that streaming is made of: orders, the search, the planner
 * with its pairs, the verifier, the interpreter. Whatever is asked for, the plan is right by the
 * verifier (the runner opens no other) and gives the very bytes of the model with every tensor in
 * memory of its own. BERTH_TEST_CASES sets the number of networks.
 */
#include "run/random_network.h"

#include "host/fill.h"
#include "host/runner.h"
#include <stdio.h>
#include <unistd.h>

#define NETWORKS 150u
#define INVOKES  2
#define ROOM     (1u << 20)

typedef struct outcome {
  uint8_t bytes[ROOM]; /* all outputs of all invokes */
  size_t used;
  uint32_t runs;
  bool reordered;
  bool reversed; /* a run goes from the last row to the first */
} outcome_t;

static void keep_outputs(outcome_t *outcome, const berth_runner_t *runner) {
  for (uint32_t i = 0;; i++) {
    berth_value_t output = berth_runner_output(runner, i);
    if (!output.present) return;
    assert_true(outcome->used + output.bytes <= ROOM);
    memcpy(outcome->bytes + outcome->used, output.data, output.bytes);
    outcome->used += output.bytes;
  }
}

/* NULL: whole, with every tensor in memory of its own. */
static void run(const char *path, const berth_streaming_options_t *streaming, uint64_t seed,
                outcome_t *outcome) {
  berth_runner_options_t options = {.interpreter = {.no_reuse = streaming == NULL}};
  if (streaming != NULL) options.streaming = *streaming;
  berth_runner_t runner;
  berth_complaint_t complaint;
  if (berth_runner_open(path, &options, &runner, &complaint) != BERTH_OK) {
    fail_msg("network %d: %s", (int)seed, complaint.text);
  }
  outcome->used = 0;
  outcome->runs = runner.streaming != NULL ? runner.streaming->plan.run_count : 0;
  outcome->reversed = false;
  for (uint32_t i = 0; i < outcome->runs; i++) {
    outcome->reversed = outcome->reversed || runner.streaming->plan.runs[i].reverse;
  }
  outcome->reordered = runner.streaming != NULL && runner.streaming->plan.order != NULL;
  uint64_t state = seed;
  for (int n = 0; n < INVOKES; n++) {
    for (uint32_t i = 0; berth_runner_input(&runner, i).present; i++) {
      berth_value_t input = berth_runner_input(&runner, i);
      berth_fill_random(&input, &state);
    }
    assert_int_equal(berth_runner_invoke(&runner), BERTH_OK);
    keep_outputs(outcome, &runner);
  }
  berth_runner_close(&runner);
}

static void save(const builder_t *file, const char *path) {
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(file->bytes, 1, file->size, stream), file->size);
  assert_int_equal(fclose(stream), 0);
}

/* Networks that have at least one of each. */
typedef struct counted {
  uint32_t grouped, multiplied, transposed, converted, sequences;
} counted_t;

static void count_kinds(const random_network_t *net, counted_t *counted) {
  bool grouped = false, multiplied = false, transposed = false, converted = false;
  for (uint32_t i = 0; i < net->op_count; i++) {
    const random_op_t *op = &net->ops[i];
    bool conv = op->code == BERTH_BUILTIN_CONV_2D;
    bool depthwise = op->code == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
    int32_t channels = conv || depthwise ? net->tensors[op->inputs[0]].dims[3] : 0;
    grouped = grouped || (conv && net->tensors[op->inputs[1]].dims[3] < channels);
    multiplied = multiplied || (depthwise && net->tensors[op->outputs[0]].dims[3] > channels);
    transposed = transposed || op->code == BERTH_BUILTIN_TRANSPOSE_CONV;
    converted = converted || op->code == BERTH_BUILTIN_QUANTIZE || op->code == BERTH_BUILTIN_CAST;
  }
  counted->grouped += grouped;
  counted->multiplied += multiplied;
  counted->transposed += transposed;
  counted->converted += converted;
  counted->sequences += net->tensors[0].dims[1] == 1 && net->tensors[0].dims[2] > 1;
}

static void streamed_networks_give_the_bytes_of_whole_ones(void **state) {
  (void)state;
  static const berth_streaming_options_t ways[] = {
      {.mode = BERTH_STREAMING_MAX},
      {.mode = BERTH_STREAMING_MAX, .push_inputs = true},
      {.mode = BERTH_STREAMING_AUTO, .push_inputs = true},
  };
  const char *cases = getenv("BERTH_TEST_CASES");
  uint32_t networks = cases != NULL ? (uint32_t)strtoul(cases, NULL, 10) : NETWORKS;
  uint32_t runs = 0, reordered = 0, reversed = 0;
  counted_t counted = {0, 0, 0, 0, 0};
  char path[] = "/tmp/berth-streaming-XXXXXX";
  int handle = mkstemp(path);
  assert_true(handle >= 0);
  close(handle);
  random_network_t *net = malloc(sizeof *net);
  outcome_t *whole = malloc(sizeof *whole), *streamed = malloc(sizeof *streamed);
  assert_true(net != NULL && whole != NULL && streamed != NULL);
  for (uint32_t seed = 1; seed <= networks; seed++) {
    random_network(net, seed);
    count_kinds(net, &counted);
    save(&net->file, path);
    run(path, NULL, seed, whole);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
      run(path, &ways[way], seed, streamed);
      assert_int_equal(streamed->used, whole->used);
      if (memcmp(streamed->bytes, whole->bytes, whole->used) != 0) {
        fail_msg("network %d, way %d: other outputs", (int)seed, (int)way);
      }
      runs += streamed->runs > 0;
      reordered += streamed->reordered;
      reversed += streamed->reversed;
    }
  }
  unlink(path);
  free(net);
  free(whole);
  free(streamed);
  print_message("%u of %u plans stream, %u of them in another order, %u in reverse\n", runs,
                3 * networks, reordered, reversed);
  print_message("networks with grouped convolutions: %u, several outputs of a channel: %u, "
                "transposed: %u, conversions: %u, of sequences: %u\n",
                counted.grouped, counted.multiplied, counted.transposed, counted.converted,
                counted.sequences);
  assert_true(runs > networks && reordered > 0 && reversed > 0);
  assert_true(counted.grouped > networks / 30 && counted.multiplied > networks / 30);
  assert_true(counted.transposed > networks / 30 && counted.converted > networks / 30);
  assert_true(counted.sequences > networks / 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streamed_networks_give_the_bytes_of_whole_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
