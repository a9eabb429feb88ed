/* The plan in a model's metadata: read as TFLM does, and refused where it cannot be followed. */
#include "test.h"

#include "berth/model.h"
#include "model/builder.h"
#include "model/fields.h"

/* A model of two subgraphs with two tensors and one, whose metadata holds these numbers. */
static berth_model_t model_with(builder_t *file, const int32_t *numbers, uint32_t count,
                                uint32_t extra_bytes) {
  memset(file, 0, sizeof *file);
  uint32_t root = put(file, 4, 0);
  put(file, 4, 0x334c4654); /* TFL3 */
  uint32_t model = put_table(file, 8);
  poke(file, root, 4, model - root);
  put_field(file, model, MODEL_VERSION, 4, 3);
  uint32_t subgraphs = put_list(file, model, MODEL_SUBGRAPHS, 2);
  for (uint32_t s = 0; s < 2; s++) {
    uint32_t subgraph = put_element(file, subgraphs, s, 6);
    uint32_t tensors = put_list(file, subgraph, SUBGRAPH_TENSORS, 2 - s);
    for (uint32_t t = 0; t < 2 - s; t++) put_element(file, tensors, t, 0);
  }
  int64_t bytes[64] = {0};
  for (uint32_t i = 0; i < 4 * count; i++) bytes[i] = (uint32_t)numbers[i / 4] >> 8 * (i % 4) & 255;
  uint32_t buffers = put_list(file, model, MODEL_BUFFERS, 2);
  put_element(file, buffers, 0, 3);
  put_vector(file, put_element(file, buffers, 1, 3), BUFFER_DATA, 1, 4 * count + extra_bytes,
             bytes);
  uint32_t metadata = put_element(file, put_list(file, model, MODEL_METADATA, 1), 0, 2);
  put_text(file, metadata, METADATA_NAME, BERTH_OFFLINE_PLAN);
  put_field(file, metadata, METADATA_BUFFER, 4, 1);
  berth_model_t opened;
  berth_model_error_t error;
  if (berth_model_open(file->bytes, file->size, &opened, &error) != BERTH_OK) {
    fail_msg("%s %s", error.subject, error.fault);
  }
  return opened;
}

static void it_has_one_offset_for_each_tensor_of_all_subgraphs(void **state) {
  (void)state;
  builder_t file;
  static const int32_t numbers[] = {1, 2, 3, 64, -1, 0};
  berth_model_t model = model_with(&file, numbers, 6, 0);
  berth_vector_t offsets;
  assert_int_equal(berth_model_offline_plan(&model, &offsets, NULL), BERTH_OK);
  assert_int_equal(offsets.count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(berth_vector_int(offsets, i), numbers[3 + i]);
  }
}

/* Some writers put a version of 0, or the number of a subgraph where others put how many there are;
 * TFLM reads neither. Bytes behind the offsets don't matter either. */
static void version_subgraph_and_what_follows_are_not_looked_at(void **state) {
  (void)state;
  builder_t file;
  static const int32_t numbers[] = {0, 0, 3, 0, 16, 32, 5};
  berth_model_t model = model_with(&file, numbers, 7, 3);
  berth_vector_t offsets;
  assert_int_equal(berth_model_offline_plan(&model, &offsets, NULL), BERTH_OK);
  assert_int_equal(offsets.count, 3);
  assert_int_equal(berth_vector_int(offsets, 2), 32);
}

static void a_plan_that_cannot_be_followed_is_refused_with_the_reason(void **state) {
  (void)state;
  static const struct {
    int32_t numbers[6];
    uint32_t count, extra;
    const char *fault;
  } bad[] = {
      {{0}, 0, 3, "is too short"},
      {{1, 2}, 2, 3, "is too short"},
      {{1, 2, 2, 0, 0}, 5, 0, "has not one offset for each tensor"},
      {{1, 2, -1, 0, 0, 0}, 6, 0, "has not one offset for each tensor"},
      {{1, 2, 3, 0, 0}, 5, 3, "ends before its last offset"},
      {{1, 2, 3, 0, -2, 0}, 6, 0, "has a negative offset"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    builder_t file;
    berth_model_t model = model_with(&file, bad[i].numbers, bad[i].count, bad[i].extra);
    berth_vector_t offsets = {NULL, 7};
    const char *fault = "";
    assert_int_equal(berth_model_offline_plan(&model, &offsets, &fault), BERTH_ERROR_FORMAT);
    assert_string_equal(fault, bad[i].fault);
    assert_int_equal(offsets.count, 7);
  }
}

static void a_model_without_one_has_no_offsets(void **state) {
  (void)state;
  builder_t file;
  static const int32_t numbers[] = {1, 2, 3, 0, 0, 0};
  berth_model_t model = model_with(&file, numbers, 6, 0);
  model.metadata_count = 0;
  berth_vector_t offsets = {NULL, 7};
  assert_int_equal(berth_model_offline_plan(&model, &offsets, NULL), BERTH_OK);
  assert_int_equal(offsets.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_has_one_offset_for_each_tensor_of_all_subgraphs),
      cmocka_unit_test(version_subgraph_and_what_follows_are_not_looked_at),
      cmocka_unit_test(a_plan_that_cannot_be_followed_is_refused_with_the_reason),
      cmocka_unit_test(a_model_without_one_has_no_offsets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
