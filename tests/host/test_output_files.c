/* Files of graph outputs that come row by row: all of them are written as the rows come, and what
 * cannot be kept or written is a failure that leaves no file behind. */
#include "run/random_network.h"

#include "host/execute.h"
#include "host/output_files.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static char dir[] = "/tmp/berth-output-files-XXXXXX";

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(dir) == NULL ? -1 : 0;
}

/* Removes all files in the folder; how many there were. */
static int clear_folder(void) {
  int count = 0;
  DIR *folder = opendir(dir);
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[512];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
    assert_int_equal(unlink(path), 0);
    count++;
  }
  closedir(folder);
  return count;
}

static int remove_folder(void **state) {
  (void)state;
  clear_folder();
  return rmdir(dir);
}

static void assert_holds(const char *name, const char *expected) {
  char path[512], text[64];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

/* A value of two rows of three letters, in a ring of one. */
static berth_value_t ring(char *row) {
  return (berth_value_t){
      .data = (uint8_t *)row, .bytes = 6, .row_bytes = 3, .rows = 2, .ring = 1, .present = true};
}

static void rows_of_several_outputs_go_to_their_files_as_they_come(void **state) {
  (void)state;
  berth_output_files_t files;
  berth_runner_t runner = {.path = "none"};
  berth_complaint_t complaint;
  assert_int_equal(berth_output_files_init(&files, dir, 2, 2), BERTH_OK);
  for (uint32_t invoke = 0; invoke < 2; invoke++) {
    char rows[4][4] = {"abc", "xyz", "def", "uvw"};
    for (uint32_t i = 0; i < 4; i++) {
      berth_value_t value = ring(rows[i]);
      berth_output_files_rows(&files, invoke, i % 2, &value, i / 2, i / 2 + 1);
    }
    assert_int_equal(berth_output_files_finish(&files, &runner, invoke, &complaint), BERTH_OK);
  }
  berth_output_files_free(&files);
  assert_holds("run1.out0.bin", "abcdef");
  assert_holds("run1.out1.bin", "xyzuvw");
  assert_holds("run2.out1.bin", "xyzuvw");
  assert_int_equal(clear_folder(), 4);
}

static void files_that_are_not_finished_are_removed(void **state) {
  (void)state;
  berth_output_files_t files;
  char row[4] = "abc";
  berth_value_t value = ring(row);
  assert_int_equal(berth_output_files_init(&files, dir, 1, 2), BERTH_OK);
  berth_output_files_rows(&files, 0, 0, &value, 0, 1);
  berth_output_files_rows(&files, 0, 1, &value, 0, 1);
  berth_output_files_free(&files);
  assert_int_equal(clear_folder(), 0);
}

static void a_folder_that_is_not_there_is_told_at_the_end(void **state) {
  (void)state;
  berth_output_files_t files;
  berth_runner_t runner = {.path = "none"};
  berth_complaint_t complaint = {""};
  char row[4] = "abc";
  berth_value_t value = ring(row);
  assert_int_equal(berth_output_files_init(&files, "/no/such/folder", 1, 2), BERTH_OK);
  berth_output_files_rows(&files, 0, 0, &value, 0, 1);
  berth_output_files_rows(&files, 0, 1, &value, 0, 1);
  assert_int_equal(berth_output_files_finish(&files, &runner, 0, &complaint), BERTH_ERROR_FORMAT);
  assert_non_null(strstr(complaint.text, "/no/such/folder/out0.bin"));
  berth_output_files_free(&files);
}

#ifndef SANITIZED
#define SIDE 8192 /* of an output that is 64 MB */

static void make_large_output(random_network_t *net, const char *path) {
  net->tensor_count = net->op_count = net->constant_bytes = 0;
  net->state = 1;
  net->type = BERTH_TYPE_INT8;
  int32_t from = random_activation(net, 16, 16, 1);
  int32_t size = random_ints(net, 2, (int32_t[]){SIDE, SIDE});
  random_op_t *op = random_op(net, BERTH_BUILTIN_RESIZE_NEAREST_NEIGHBOR);
  random_reads(net, op, from);
  random_reads(net, op, size);
  random_writes(op, random_activation(net, SIDE, SIDE, 1));
  random_emit(net, 1);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(net->file.bytes, 1, net->file.size, stream), net->file.size);
  assert_int_equal(fclose(stream), 0);
}

static uint64_t mapped_bytes(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%llu", &pages), 1);
  fclose(file);
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The rows are a few KB, what they are put together in is not to be had. */
static void an_output_that_cannot_be_kept_is_a_failure(void **state) {
  (void)state;
  char path[512];
  snprintf(path, sizeof path, "%s/model.tflite", dir);
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  make_large_output(net, path);
  free(net);
  berth_complaint_t complaint = {""};
  berth_execution_t execution;
  berth_execution_options_t options = {.invokes = 1, .output_dir = dir};
  options.runner.streaming =
      (berth_streaming_options_t){.mode = BERTH_STREAMING_MAX, .pull_outputs = true};
  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  limit = before;
  limit.rlim_cur = mapped_bytes() + (UINT64_C(48) << 20);
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
  berth_status_t status = berth_execute(path, &options, &execution, &complaint);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(status, BERTH_ERROR_MEMORY);
  if (strstr(complaint.text, "invoke 1 failed: out of memory") == NULL)
    fail_msg("%s", complaint.text);
  assert_int_equal(clear_folder(), 1); /* the model */
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_several_outputs_go_to_their_files_as_they_come),
      cmocka_unit_test(files_that_are_not_finished_are_removed),
      cmocka_unit_test(a_folder_that_is_not_there_is_told_at_the_end),
#ifndef SANITIZED
      cmocka_unit_test(an_output_that_cannot_be_kept_is_a_failure),
#endif
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
