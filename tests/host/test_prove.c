/* The proof of berth optimize: it must hold for equal models, and must not for others. */
#include "test.h"

#include "host/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL BERTH_SOURCE_DIR "/models/resnet8_int8.tflite"

/* A copy of the model with these bits flipped in all weights of its FULLY_CONNECTED operators;
 * the caller removes it. */
static void write_changed(char *path, int difference) {
  berth_host_map_t map;
  berth_model_t model;
  assert_int_equal(berth_host_open_model(MODEL, &map, &model, NULL), BERTH_OK);
  uint8_t *copy = malloc((size_t)map.size);
  assert_non_null(copy);
  memcpy(copy, map.data, (size_t)map.size);
  berth_subgraph_t main = berth_model_subgraph(&model, 0);
  for (uint32_t i = 0; i < main.operator_count; i++) {
    berth_operator_t op = berth_model_operator(&model, 0, i);
    if (op.code != BERTH_BUILTIN_FULLY_CONNECTED) continue;
    berth_tensor_t weights =
        berth_model_tensor(&model, 0, (uint32_t)berth_vector_int(op.inputs, 1));
    berth_bytes_t data = berth_model_tensor_data(&model, &weights);
    for (uint64_t k = 0; k < data.size; k++) {
      copy[data.data - map.data + (ptrdiff_t)k] ^= (uint8_t)difference;
    }
  }
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, copy, (size_t)map.size), (ssize_t)map.size);
  close(file);
  free(copy);
  berth_host_unmap(&map);
}

static berth_proof_t prove(const char *result) {
  berth_complaint_t complaint;
  berth_proof_options_t options = {.seeds = 2, .invokes = 2};
  berth_proof_t proof;
  if (berth_prove(MODEL, result, &options, &proof, &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  return proof;
}

static void a_model_equals_itself(void **state) {
  (void)state;
  berth_proof_t proof = prove(MODEL);
  assert_true(berth_proof_holds(&proof));
  assert_int_equal(proof.runs, 4);
  assert_int_equal(proof.bytes, 4 * 10);
  assert_true(proof.largest == 0);
}

static void other_weights_are_found_out(void **state) {
  (void)state;
  char path[] = "/tmp/berth-prove-XXXXXX";
  write_changed(path, 0x40);
  berth_proof_t proof = prove(path);
  unlink(path);
  assert_false(berth_proof_holds(&proof));
  assert_true(proof.differ);
  assert_int_equal(proof.output, 0);
  assert_true(proof.largest >= 1);
}

static void an_equal_copy_is_no_difference(void **state) {
  (void)state;
  char path[] = "/tmp/berth-prove-XXXXXX";
  write_changed(path, 0);
  berth_proof_t proof = prove(path);
  unlink(path);
  assert_true(berth_proof_holds(&proof));
}

static void a_model_with_other_inputs_is_no_result(void **state) {
  (void)state;
  berth_complaint_t complaint;
  berth_proof_options_t options = {.seeds = 1, .invokes = 1};
  berth_proof_t proof;
  assert_int_equal(berth_prove(MODEL, BERTH_SOURCE_DIR "/models/control_flow.tflite", &options,
                               &proof, &complaint),
                   BERTH_ERROR_INTERNAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_equals_itself),
      cmocka_unit_test(other_weights_are_found_out),
      cmocka_unit_test(an_equal_copy_is_no_difference),
      cmocka_unit_test(a_model_with_other_inputs_is_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
