/* Runs a model that has an operator of the application's own, and compares the outputs with
 * recorded ones.
 *
 *   custom-operator MODEL.tflite FOLDER
 *
 * FOLDER holds run<n>.in<k>.bin and run<n>.out<k>.bin, n = 1, 2, ... (models/reference/custom_op).
 * Exit status 0: equal within 1e-5 of each output's largest magnitude.
 */
#include "berth/interpreter.h"
#include "keep_confident.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)262144) /* for all: the plan, and the output whose size nobody knows */

/* A whole file in memory of its own; NULL if there is none. */
static void *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  void *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
  rewind(file);
  if (data != NULL && fread(data, 1, (size_t)size, file) != (size_t)size) {
    free(data);
    data = NULL;
  }
  fclose(file);
  *bytes = size >= 0 ? (size_t)size : 0;
  return data;
}

static void *read_run(const char *folder, unsigned run, const char *kind, unsigned index,
                      size_t *bytes) {
  char path[512];
  snprintf(path, sizeof path, "%s/run%u.%s%u.bin", folder, run, kind, index);
  return read_file(path, bytes);
}

/* What the interpreter has to say: here, whose output costs memory at run time. */
static void on_event(void *user, const berth_event_t *event) {
  const berth_model_t *model = user;
  if (event->kind == BERTH_EVENT_PREPARED) {
    printf("prepared in %llu bytes\n", (unsigned long long)event->needed);
    return;
  }
  printf("%s", event->why != NULL ? event->why : "");
  if (event->op != BERTH_NOBODY) {
    berth_operator_t op = berth_model_operator(model, event->subgraph, event->op);
    printf("operator %u, %s", (unsigned)event->op, berth_operator_name(&op).data);
  }
  if (event->kind == BERTH_EVENT_DYNAMIC) {
    berth_tensor_t tensor = berth_model_tensor(model, event->subgraph, event->tensor);
    printf(": the size of its output \"%s\" is known only when it has run", tensor.name.data);
  }
  printf("\n");
}

static bool is_close(const float *value, const float *expected, size_t count) {
  float largest = 0.0f;
  for (size_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(expected[i]));
  for (size_t i = 0; i < count; i++) {
    if (!(fabsf(value[i] - expected[i]) <= 1e-5f * largest)) return false;
  }
  return true;
}

/* 0: equal, 1: something differs, -1: there is no such run. */
static int run(berth_interpreter_t *interpreter, const char *folder, unsigned number) {
  size_t bytes;
  for (unsigned i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(interpreter, i);
    if (!input.present) break;
    void *data = read_run(folder, number, "in", i, &bytes);
    if (data == NULL) return -1;
    if (bytes == input.bytes) memcpy(input.data, data, bytes);
    free(data);
    if (bytes != input.bytes) return 1;
  }
  if (berth_interpreter_invoke(interpreter) != BERTH_OK) return 1;
  int result = 0;
  for (unsigned i = 0;; i++) {
    berth_value_t output = berth_interpreter_output(interpreter, i);
    if (!output.present) break;
    void *data = read_run(folder, number, "out", i, &bytes);
    bool equal = data != NULL && bytes == output.bytes && output.type == BERTH_TYPE_FLOAT32 &&
                 is_close((const float *)(const void *)output.data, data, output.elements);
    free(data);
    printf("run %u, output %u, %d x %d: %s\n", number, i, (int)output.dims[0],
           output.rank > 1 ? (int)output.dims[1] : 1, equal ? "equal" : "differs");
    if (!equal) result = 1;
  }
  return result;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: custom-operator MODEL.tflite FOLDER\n");
    return 2;
  }
  size_t bytes;
  void *file = read_file(argv[1], &bytes), *memory = aligned_alloc(64, MEMORY);
  berth_model_t model;
  berth_interpreter_t interpreter;
  int status = 1;
  if (file == NULL || memory == NULL || berth_model_open(file, bytes, &model, NULL) != BERTH_OK) {
    fprintf(stderr, "custom-operator: %s is no model\n", argv[1]);
  } else {
    const berth_kernel_t *const customs[] = {&keep_confident, NULL};
    berth_interpreter_options_t options = {
        .kernels = berth_kernels, .customs = customs, .log = on_event, .user = &model};
    berth_memories_t memories = {.activations = {memory, (uint32_t)MEMORY}};
    if (berth_interpreter_init(&interpreter, &model, &options, &memories) == BERTH_OK &&
        berth_interpreter_prepare(&interpreter) == BERTH_OK) {
      status = 0;
      unsigned number = 1;
      for (int result = 0; result >= 0; number++) {
        result = run(&interpreter, argv[2], number);
        if (result > 0) status = 1;
      }
      if (number == 2) status = 1; /* not even one */
    }
  }
  free(memory);
  free(file);
  return status;
}
