/* Invoking asks the heap for nothing, and memory stays what it is however often it is done: on the
 * shipped models and, where there are any, on the reference data's. BERTH_TEST_INVOKES sets how
 * often each of the latter runs. */
#include "test.h"

#include "host/fill.h"
#include "host/runner.h"
#include "run/heap_counter.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pages that memory may grow by: what the test itself and the kernel's counting may do; a sanitizer
 * keeps records of its own. */
#if defined(HEAP_SANITIZED)
enum { PAGES = 4096 };
#else
enum { PAGES = 4 };
#endif

static uint32_t cases(uint32_t usual) {
  const char *text = getenv("BERTH_TEST_INVOKES");
  return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : usual;
}

/* Pages of this process in memory; 0 where the system doesn't tell. */
static long resident_pages(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  long size = 0, resident = 0;
  if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
  fclose(file);
  return resident;
}

static berth_status_t open_model(const char *path, berth_runner_t *runner,
                                 berth_complaint_t *complaint) {
  berth_runner_options_t options;
  memset(&options, 0, sizeof options);
  return berth_runner_open(path, &options, runner, complaint);
}

static void fill_inputs(berth_runner_t *runner, uint64_t seed) {
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(&runner->interpreter, i);
    if (!input.present) return;
    berth_fill_random(&input, &seed);
  }
}

/* Heap calls and growth of resident pages over `invokes` invokes, the first one aside: it touches
 * pages for the first time. */
static void run(const char *path, uint32_t invokes, uint64_t *calls, long *growth) {
  berth_runner_t runner;
  berth_complaint_t complaint = {""};
  if (open_model(path, &runner, &complaint) != BERTH_OK) fail_msg("%s", complaint.text);
  long pages = 0;
  *calls = 0;
  for (uint32_t n = 0; n <= invokes; n++) {
    fill_inputs(&runner, n);
    uint64_t before = heap_calls;
    berth_status_t status = berth_interpreter_invoke(&runner.interpreter);
    *calls += heap_calls - before;
    if (status != BERTH_OK) fail_msg("%s: %s", path, berth_status_text(status));
    if (n == 0) pages = resident_pages();
  }
  *growth = resident_pages() - pages;
  berth_runner_close(&runner);
}

/* Those that need no operators beyond Berth's own. */
static void shipped(const char *name, char *path, size_t size) {
  snprintf(path, size, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
}

static void the_counter_counts(void **state) {
  (void)state;
  if (!HEAP_COUNTED) skip();
  uint64_t before = heap_calls;
  void *volatile block = malloc(10);
  free(block);
  assert_int_equal(heap_calls - before, 2);
}

static void invokes_make_no_heap_calls(void **state) {
  (void)state;
  static const char *const names[] = {
      "control_flow",         "detector_two_outputs_int8", "ds_cnn_kws_int8", "dynamic_shape",
      "lstm_sequence_int8",   "mobilenet_v1_0.25_96_int8", "resnet8_int8",    "resource_variables",
      "segmentation_float16", "svdf_keyword_int8",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[512];
    uint64_t calls;
    long growth;
    shipped(names[i], path, sizeof path);
    run(path, 3, &calls, &growth);
    if (calls != 0) fail_msg("%s: %llu heap calls", names[i], (unsigned long long)calls);
  }
}

static void memory_is_flat_over_many_invokes(void **state) {
  (void)state;
#if defined(HEAP_SANITIZED)
  uint32_t invokes = 1000;
#else
  uint32_t invokes = 100000;
#endif
  char path[512];
  uint64_t calls;
  long growth;
  shipped("svdf_keyword_int8", path, sizeof path);
  run(path, invokes, &calls, &growth);
  print_message("%u invokes: %llu heap calls, %ld pages more\n", invokes, (unsigned long long)calls,
                growth);
  assert_int_equal(calls, 0);
  assert_true(growth <= PAGES);
}

static void the_reference_models_stay_flat_too(void **state) {
  (void)state;
  const char *shared = getenv("BERTH_SHARED");
  char pattern[4096];
  snprintf(pattern, sizeof pattern, "%s/corpus/*/*/model.tflite",
           shared != NULL ? shared : BERTH_SOURCE_DIR "/../shared");
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) {
    print_message("the reference data (%s) is not there\n", pattern);
    skip();
  }
  uint32_t invokes = cases(1), models = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    berth_runner_t runner;
    berth_complaint_t complaint = {""};
    if (open_model(found.gl_pathv[i], &runner, &complaint) != BERTH_OK) {
      print_message("%s\n", complaint.text);
      continue;
    }
    berth_runner_close(&runner);
    uint64_t calls;
    long growth;
    run(found.gl_pathv[i], invokes, &calls, &growth);
    if (calls != 0 || growth > PAGES) {
      fail_msg("%s: %llu heap calls, %ld pages more", found.gl_pathv[i], (unsigned long long)calls,
               growth);
    }
    models++;
  }
  print_message("%u models, %u invokes each\n", models, invokes + 1);
  assert_true(models + 5 > found.gl_pathc);
  globfree(&found);
}

int main(void) {
  heap_count();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(invokes_make_no_heap_calls),
      cmocka_unit_test(memory_is_flat_over_many_invokes),
      cmocka_unit_test(the_reference_models_stay_flat_too),
  };
  return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
