/* Runs a model on a picture whose rows come one after the other, as from a camera: the picture
 * never exists whole, and neither do most tensors.
 *
 *   camera-rows MODEL.tflite PICTURE EXPECTED
 *
 * PICTURE is raw bytes of input 0, read a row at a time; EXPECTED what output 0 must be
 * (models/reference). The streamed plan was made when this program was built, by
 *
 *   berth plan --stream max --stream-input MODEL.tflite -o camera_plan.h
 *
 * Exit status 0: the output is equal, byte for byte. examples/cortex-m/run.sh --rows does the same
 * on a microcontroller.
 */
#include "berth/interpreter.h"
#include "camera_plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_MOST ((size_t)1 << 20)
#define ROW_MOST   4096u
static _Alignas(
    16) uint8_t memory[32768]; /* everything: tensors, metadata, what planning borrows */

/* As much of a file as fits; 0: there is none, or it is empty. */
static size_t read_file(const char *path, void *to, size_t most) {
  FILE *file = fopen(path, "rb");
  size_t bytes = file != NULL ? fread(to, 1, most, file) : 0;
  if (file != NULL) fclose(file);
  return bytes;
}

/* The camera: waits for the next row. */
static bool next_row(FILE *camera, uint8_t *row, uint32_t bytes) {
  return fread(row, 1, bytes, camera) == bytes;
}

/* One frame: rows are pushed until none is wanted any more; then all outputs are there. */
static berth_status_t look(berth_interpreter_t *interpreter, FILE *camera, uint32_t *rows) {
  berth_value_t input = berth_interpreter_input(interpreter, 0);
  uint8_t row[ROW_MOST];
  if (input.row_bytes > sizeof row) return BERTH_ERROR_MEMORY;
  *rows = 0;
  do {
    if (!next_row(camera, row, input.row_bytes)) return BERTH_ERROR_ARGUMENT;
    berth_status_t status = berth_interpreter_push_rows(interpreter, 0, row, 1, NULL);
    if (status != BERTH_OK) return status;
    ++*rows;
  } while (berth_interpreter_wanted(interpreter, NULL) != BERTH_NOBODY);
  return BERTH_OK;
}

static int run(const void *data, size_t size, FILE *camera, const char *expected_path) {
  berth_model_t model;
  berth_interpreter_t interpreter;
  const berth_interpreter_options_t options = {
      .kernels = berth_kernels,
      .stream = &camera_plan_stream,
      .offsets = camera_plan_tensor_offsets,
      .offset_count = sizeof camera_plan_tensor_offsets / sizeof *camera_plan_tensor_offsets,
      .trust_offsets = true, /* rows lie over rows; berth has verified it */
  };
  const berth_memories_t memories = {.activations = {memory, sizeof memory}};
  berth_status_t status = berth_model_open(data, size, &model, NULL);
  if (status == BERTH_OK) {
    status = berth_interpreter_init(&interpreter, &model, &options, &memories);
  }
  if (status == BERTH_OK) status = berth_interpreter_prepare(&interpreter);
  uint32_t rows = 0;
  if (status == BERTH_OK) status = look(&interpreter, camera, &rows);
  if (status != BERTH_OK) {
    fprintf(stderr, "camera-rows: %s\n", berth_status_text(status));
    return 1;
  }
  berth_needs_t needs = berth_interpreter_needs(&interpreter);
  berth_value_t output = berth_interpreter_output(&interpreter, 0);
  berth_value_t input = berth_interpreter_input(&interpreter, 0);
  printf("%u rows of %u bytes; the picture has %u, all memory is %u bytes\n", (unsigned)rows,
         (unsigned)input.row_bytes, (unsigned)input.bytes, (unsigned)needs.total);
  uint8_t expected[1024];
  bool equal = output.bytes <= sizeof expected &&
               read_file(expected_path, expected, sizeof expected) == output.bytes &&
               memcmp(expected, output.data, output.bytes) == 0;
  printf("output %s what is expected\n", equal ? "equals" : "differs from");
  return equal ? 0 : 3;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: camera-rows MODEL.tflite PICTURE EXPECTED\n", stderr);
    return 2;
  }
  void *data = malloc(MODEL_MOST);
  size_t size = data != NULL ? read_file(argv[1], data, MODEL_MOST) : 0;
  FILE *camera = fopen(argv[2], "rb");
  int status = 1;
  if (size == 0 || camera == NULL) {
    fprintf(stderr, "camera-rows: %s: cannot be read\n", size == 0 ? argv[1] : argv[2]);
  } else {
    status = run(data, size, camera, argv[3]);
  }
  if (camera != NULL) fclose(camera);
  free(data);
  return status;
}
