/* The shipped models against what stock TensorFlow Lite recorded, under the guard, and replay's own
 * eyes: a changed byte, a missing file and a wrong size are seen. */
#include "test.h"

#include "host/fill.h"
#include "host/replay.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Units that an integer output may be off: the recorder's CONV_2D and FULLY_CONNECTED round ties of
 * negative sums the other way than the reference kernels (models/README.md). */
static const struct {
  const char *name;
  double tolerance;
  uint32_t units;
} models[] = {
    {"mobilenet_v1_0.25_96_int8", 0, 0}, {"ds_cnn_kws_int8", 0, 0}, {"resnet8_int8", 0, 2},
    {"detector_two_outputs_int8", 0, 0}, {"control_flow", 1e-5, 0},

    {"dynamic_shape", 1e-5, 0},
};

static berth_status_t replay(const char *model, const char *folder, double tolerance,
                             uint32_t units, berth_replay_t *result, berth_complaint_t *complaint) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, model);
  berth_runner_options_t options;
  memset(&options, 0, sizeof options);
  options.messages = stderr;
  options.guard = true;
  options.guard_deep = true;
  return berth_replay_run(path, &options, folder, tolerance, units, result, complaint);
}

static void shipped_models_give_what_stock_tflite_recorded(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    char folder[512];
    berth_replay_t result;
    berth_complaint_t complaint = {""};
    snprintf(folder, sizeof folder, "%s/models/reference/%s", BERTH_SOURCE_DIR, models[i].name);
    if (replay(models[i].name, folder, models[i].tolerance, models[i].units, &result, &complaint) !=
        BERTH_OK) {
      fail_msg("%s", complaint.text);
    }
    print_message("%s: %u invokes, largest float difference %g\n", models[i].name, result.invokes,
                  result.largest);
    assert_true(result.invokes > 0);
    assert_true(result.outputs > 0);
    assert_int_equal(result.different_outputs, 0);
    if (result.verdicts.count > 0) fail_msg("%s: %s", models[i].name, result.first_verdict);
  }
}

/* A folder of the test's own with a copy of a recording. */
static char *copy_recording(const char *name, char *folder) {
  char command[2048];
  strcpy(folder, "/tmp/berth-replay-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "cp '%s/models/reference/%s/'* '%s/'", BERTH_SOURCE_DIR, name,
           folder);
  assert_int_equal(system(command), 0);
  return folder;
}

static void remove_folder(const char *folder) {
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
}

static void a_changed_byte_is_found_and_named(void **state) {
  (void)state;
  char folder[64], path[128];
  copy_recording("mobilenet_v1_0.25_96_int8", folder);
  snprintf(path, sizeof path, "%s/run1.out0.bin", folder);
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  int first = fgetc(file), byte = fgetc(file);
  assert_true(first != EOF && byte != EOF);
  fseek(file, 1, SEEK_SET);
  fputc(byte ^ 0x10, file);
  fclose(file);
  berth_replay_t result;
  berth_complaint_t complaint = {""};
  assert_int_equal(replay("mobilenet_v1_0.25_96_int8", folder, 0, 0, &result, &complaint),
                   BERTH_OK);
  assert_int_equal(result.different_outputs, 1);
  assert_int_equal(result.first_run, 1);
  assert_int_equal(result.first_op, BERTH_NOBODY);
  assert_int_equal(result.first_element, 1);
  remove_folder(folder);
}

static void a_file_that_is_missing_or_of_another_size_is_an_error(void **state) {
  (void)state;
  char folder[64], path[128];
  berth_replay_t result;
  berth_complaint_t complaint = {""};
  copy_recording("ds_cnn_kws_int8", folder);
  snprintf(path, sizeof path, "%s/run1.in0.bin", folder);
  assert_int_equal(truncate(path, 3), 0);
  assert_int_equal(replay("ds_cnn_kws_int8", folder, 0, 0, &result, &complaint),
                   BERTH_ERROR_ARGUMENT);
  assert_non_null(strstr(complaint.text, "run1.in0.bin"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(replay("ds_cnn_kws_int8", folder, 0, 0, &result, &complaint),
                   BERTH_ERROR_ARGUMENT);
  remove_folder(folder);
  assert_int_equal(replay("ds_cnn_kws_int8", "/nonexistent", 0, 0, &result, &complaint),
                   BERTH_ERROR_ARGUMENT);
}

static void the_checksum_is_the_usual_crc32(void **state) {
  (void)state;
  assert_int_equal(berth_crc32("123456789", 9), 0xcbf43926u);
  assert_int_equal(berth_crc32("", 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_models_give_what_stock_tflite_recorded),
      cmocka_unit_test(a_changed_byte_is_found_and_named),
      cmocka_unit_test(a_file_that_is_missing_or_of_another_size_is_an_error),
      cmocka_unit_test(the_checksum_is_the_usual_crc32),
  };
  return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
