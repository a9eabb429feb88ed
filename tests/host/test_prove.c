/* The proof of berth optimize: it must hold for equal models, and must not for others. */
#include "test.h"

#include "host/prove.h"
#include "optimize/offline.h"
#include "optimize/stock_plan.h"
#include "optimize/write.h"

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

/* Rounding is allowed, another result is not. */
static void a_large_difference_is_no_rounding(void **state) {
  (void)state;
  char path[] = "/tmp/berth-prove-XXXXXX";
  write_changed(path, 0x40);
  berth_complaint_t complaint;
  berth_proof_options_t options = {.seeds = 1, .invokes = 1, .allow_rounding = true};
  berth_proof_t proof;
  assert_int_equal(berth_prove(MODEL, path, &options, &proof, &complaint), BERTH_OK);
  unlink(path);
  assert_true(proof.differ && proof.allowed && proof.largest > BERTH_PROOF_ROUNDING);
  assert_false(berth_proof_holds(&proof));
  proof.largest = BERTH_PROOF_ROUNDING / 2;
  assert_true(berth_proof_holds(&proof));
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

/* MODEL with a diagonal plan for stock TFLM; `tensor`, if it is planned, lies `nearer` bytes before
 * its place. The last `missing` offsets are left out. */
static void write_diagonal(char *path, uint32_t tensor, int32_t nearer, uint32_t missing) {
  berth_host_map_t map;
  berth_model_t model;
  berth_edit_t edit;
  berth_stock_plan_t plan;
  uint8_t *bytes;
  uint64_t size;
  assert_int_equal(berth_host_open_model(MODEL, &map, &model, NULL), BERTH_OK);
  berth_stock_plan_options_t options = {.diagonal = true, .abi = BERTH_ABI_ARM};
  assert_int_equal(berth_stock_plan_make(&model, &options, &plan), BERTH_OK);
  assert_true(plan.foreign && tensor < plan.count && plan.offsets[tensor] >= nearer);
  plan.offsets[tensor] -= nearer;
  assert_int_equal(berth_edit_open(&model, &edit), BERTH_OK);
  assert_int_equal(berth_offline_put(&edit, plan.offsets, plan.count - missing), BERTH_OK);
  assert_int_equal(berth_edit_bytes(&edit, NULL, &bytes, &size, NULL), BERTH_OK);
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, bytes, (size_t)size), (ssize_t)size);
  close(file);
  free(bytes);
  berth_edit_close(&edit);
  berth_stock_plan_free(&plan);
  berth_host_unmap(&map);
}

/* The tensor that the first diagonal overlap of MODEL reaches into. */
static uint32_t first_reached(void) {
  berth_host_map_t map;
  berth_model_t model;
  berth_stock_plan_t plan;
  assert_int_equal(berth_host_open_model(MODEL, &map, &model, NULL), BERTH_OK);
  berth_stock_plan_options_t options = {.diagonal = true, .abi = BERTH_ABI_ARM};
  assert_int_equal(berth_stock_plan_make(&model, &options, &plan), BERTH_OK);
  uint32_t tensor = UINT32_MAX;
  for (uint32_t i = 0; i < plan.share_count && tensor == UINT32_MAX; i++) {
    const berth_stock_share_t *share = &plan.shares[i];
    if (share->diagonal && share->gap - share->distance < 16) tensor = share->input;
  }
  berth_stock_plan_free(&plan);
  berth_host_unmap(&map);
  assert_true(tensor != UINT32_MAX);
  return tensor;
}

static void a_foreign_plan_is_proven_in_the_order_of_tflms_kernels(void **state) {
  (void)state;
  uint32_t tensor = first_reached();
  for (int32_t nearer = 0; nearer <= 16; nearer += 16) {
    char path[] = "/tmp/berth-prove-XXXXXX";
    write_diagonal(path, tensor, nearer, 0);
    berth_complaint_t complaint;
    berth_proof_options_t options = {
        .seeds = 1, .invokes = 2, .foreign = true, .stock = {.abi = BERTH_ABI_ARM}};
    berth_proof_t proof;
    if (berth_prove(MODEL, path, &options, &proof, &complaint) != BERTH_OK) {
      fail_msg("%s", complaint.text);
    }
    unlink(path);
    assert_true(proof.rehearsed && proof.in_order > 0);
    assert_false(proof.differ); /* in memory of its own */
    assert_int_equal(proof.clobbered, nearer > 0);
    assert_int_equal(berth_proof_holds(&proof), nearer == 0);
    if (nearer == 0) assert_true(proof.with_bytes);
    if (nearer > 0) assert_non_null(strstr(proof.clobber, "was written over it"));
  }
}

/* Such a plan is proven by nothing else. */
static void a_foreign_plan_that_cannot_be_played_is_not_proven(void **state) {
  (void)state;
  char path[] = "/tmp/berth-prove-XXXXXX";
  write_diagonal(path, first_reached(), 0, 1); /* stock TFLM refuses it */
  berth_complaint_t complaint;
  berth_proof_options_t options = {
      .seeds = 1, .invokes = 1, .foreign = true, .stock = {.abi = BERTH_ABI_ARM}};
  berth_proof_t proof;
  berth_status_t status = berth_prove(MODEL, path, &options, &proof, &complaint);
  unlink(path);
  assert_int_equal(status, BERTH_ERROR_FORMAT);
  assert_non_null(strstr(complaint.text, "cannot be played"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_equals_itself),
      cmocka_unit_test(other_weights_are_found_out),
      cmocka_unit_test(a_large_difference_is_no_rounding),
      cmocka_unit_test(an_equal_copy_is_no_difference),
      cmocka_unit_test(a_foreign_plan_is_proven_in_the_order_of_tflms_kernels),
      cmocka_unit_test(a_foreign_plan_that_cannot_be_played_is_not_proven),
      cmocka_unit_test(a_model_with_other_inputs_is_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
