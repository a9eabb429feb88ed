/* Mapping files: what is mapped is the file, and each failure says why. */
#include "test.h"

#include "../model/sample.h"
#include "host/map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/berth-test-map-XXXXXX";
static char path[64];

static int make_folder(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/file", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

static void write_file(const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

/* Mapping must fail with these words and leave `map` alone. */
static void assert_refused(const char *name, const char *why) {
  berth_host_map_t map = {NULL, 77};
  char message[BERTH_HOST_MESSAGE] = "";
  assert_int_equal(berth_host_map(name, &map, message), BERTH_ERROR_ARGUMENT);
  assert_string_equal(message, why);
  assert_int_equal(map.size, 77);
  assert_int_equal(berth_host_map(name, &map, NULL), BERTH_ERROR_ARGUMENT);
}

static void a_file_is_mapped_whole(void **state) {
  (void)state;
  berth_host_map_t map;
  write_file("ships that share a berth");
  assert_int_equal(berth_host_map(path, &map, NULL), BERTH_OK);
  assert_int_equal(map.size, 24);
  assert_memory_equal(map.data, "ships that share a berth", 24);
  assert_int_equal(unlink(path), 0); /* the mapping outlives the name */
  assert_int_equal(map.data[23], 'h');
  berth_host_unmap(&map);
  assert_null(map.data);
  berth_host_unmap(&map); /* nothing is mapped: nothing happens */
}

static void failures_say_why(void **state) {
  (void)state;
  char pipe_path[80];
  snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_refused(pipe_path, "it is not a regular file");
  assert_int_equal(unlink(pipe_path), 0);
  write_file("");
  assert_refused(path, "the file is empty");
  assert_refused(folder, "it is a directory");
  assert_int_equal(unlink(path), 0);
  assert_refused(path, "No such file or directory");
}

static void a_model_is_opened_or_its_fault_is_named(void **state) {
  (void)state;
  berth_host_map_t map = {NULL, 77};
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  assert_int_equal(
      berth_host_open_model(BERTH_SOURCE_DIR "/models/resnet8_int8.tflite", &map, &model, message),
      BERTH_OK);
  assert_ptr_equal(model.data, map.data);
  berth_host_unmap(&map);
  write_file("this is no model");
  assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_ERROR_FORMAT);
  assert_string_equal(message,
                      "file is not a TensorFlow Lite model: it lacks the mark TFL3 (byte 4)");
  assert_null(map.data);
}

/* The file is sparse: it takes only a few pages of the disk. */
static void constants_may_lie_beyond_four_gigabytes(void **state) {
  (void)state;
  static sample_t sample;
  const uint64_t offset = 5000000001u;
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE] = "";
  sample_build(&sample);
  poke(&sample.file, field_at(&sample, sample.buffer[2], BUFFER_OFFSET), 8, offset);
  unlink(path);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  assert_true(fd >= 0);
  assert_true(pwrite(fd, sample.file.bytes, sample.file.size, 0) == (ssize_t)sample.file.size);
  if (ftruncate(fd, (off_t)(offset + 11)) != 0) {
    close(fd);
    print_message("no file of 5 GB is possible in %s\n", folder);
    skip();
  }
  berth_status_t status = berth_host_open_model(path, &map, &model, message);
  if (sizeof(size_t) < sizeof(uint64_t)) {
    assert_int_equal(status, BERTH_ERROR_OVERFLOW);
    assert_string_equal(message, "the file is too large for this machine");
  } else {
    assert_int_equal(status, BERTH_ERROR_FORMAT); /* one byte is missing */
    assert_non_null(strstr(message, "buffer outside the FlatBuffer reaches beyond the end"));
    assert_true(pwrite(fd, "a constant!!", 12, (off_t)offset) == 12);
    assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_OK);
    berth_tensor_t bias = berth_model_tensor(&model, 0, 2);
    berth_bytes_t data = berth_model_tensor_data(&model, &bias);
    assert_int_equal(data.size, 12);
    assert_memory_equal(data.data, "a constant!!", 12);
    berth_host_unmap(&map);
  }
  close(fd);
}

static void a_message_says_where_the_fault_is(void **state) {
  (void)state;
  char message[BERTH_HOST_MESSAGE];
  berth_model_error_t error = {
      "tensor name", "reaches beyond the end of the file", 5000000000u, 0, 5, UINT32_MAX};
  berth_host_model_message(&error, message);
  assert_string_equal(
      message, "tensor name reaches beyond the end of the file (byte 5000000000, subgraph 0, "
               "tensor 5)");
  error.tensor = UINT32_MAX;
  error.op = 7;
  berth_host_model_message(&error, message);
  assert_string_equal(
      message, "tensor name reaches beyond the end of the file (byte 5000000000, subgraph 0, "
               "operator 7)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_mapped_whole),
      cmocka_unit_test(failures_say_why),
      cmocka_unit_test(a_model_is_opened_or_its_fault_is_named),
      cmocka_unit_test(constants_may_lie_beyond_four_gigabytes),
      cmocka_unit_test(a_message_says_where_the_fault_is),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
