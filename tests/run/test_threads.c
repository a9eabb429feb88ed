/* Interpreters of different threads are independent, although they share one model: each gives the
 * results that one alone gives. Meant to run under ThreadSanitizer as well (preset `tsan`). */
#include "test.h"

#include "host/fill.h"
#include "host/map.h"
#include "host/runner.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, INVOKES = 5, BLOCK = 4 << 20 };

/* One thread's work: an interpreter of its own from init to the last output. */
typedef struct worker {
  const berth_model_t *model;
  void *memory;
  berth_status_t status;
  uint32_t crc; /* of all outputs of all invokes */
} worker_t;

static void fill_inputs(const berth_interpreter_t *interpreter, uint64_t seed) {
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(interpreter, i);
    if (!input.present) return;
    berth_fill_random(&input, &seed);
  }
}

static void *work(void *argument) {
  worker_t *worker = argument;
  berth_interpreter_t interpreter;
  berth_memories_t memories = {.activations = {worker->memory, BLOCK}};
  berth_interpreter_options_t options = {.kernels = berth_kernels};
  worker->crc = 0;
  worker->status = berth_interpreter_init(&interpreter, worker->model, &options, &memories);
  if (worker->status == BERTH_OK) worker->status = berth_interpreter_prepare(&interpreter);
  for (uint32_t n = 0; n < INVOKES && worker->status == BERTH_OK; n++) {
    fill_inputs(&interpreter, n);
    worker->status = berth_interpreter_invoke(&interpreter);
    for (uint32_t i = 0;; i++) {
      berth_value_t output = berth_interpreter_output(&interpreter, i);
      if (!output.present) break;
      worker->crc = worker->crc * 31 + berth_crc32(output.data, output.bytes);
    }
  }
  return NULL;
}

static void interpreters_of_different_threads_share_one_model(void **state) {
  (void)state;
  static const char *const names[] = {
      "mobilenet_v1_0.25_96_int8", "control_flow",         "lstm_sequence_int8",
      "resource_variables",        "segmentation_float16", "dynamic_shape",
  };
  for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
    char path[512], message[BERTH_HOST_MESSAGE];
    berth_host_map_t map;
    berth_model_t model;
    snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, names[m]);
    if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) fail_msg("%s", message);

    worker_t workers[THREADS + 1]; /* the last one works alone, before the others */
    for (int i = 0; i <= THREADS; i++) {
      workers[i].model = &model;
      workers[i].memory = aligned_alloc(4096, BLOCK);
      assert_non_null(workers[i].memory);
    }
    (void)work(&workers[THREADS]);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i <= THREADS; i++) {
      if (workers[i].status != BERTH_OK) {
        fail_msg("%s: %s", names[m], berth_status_text(workers[i].status));
      }
      assert_int_equal(workers[i].crc, workers[THREADS].crc);
      free(workers[i].memory);
    }
    berth_host_unmap(&map);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interpreters_of_different_threads_share_one_model),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
