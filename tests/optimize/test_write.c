/* The writer of .tflite files: what was edited is there, and everything else is as it was. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test.h"

#include "../model/sample.h"
#include "same.h"

#include "berth/graph.h"
#include "berth/model.h"
#include "host/map.h"
#include "optimize/write.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PLAN "OfflineMemoryAllocation"

static const char *const shipped[] = {
    "mobilenet_v1_0.25_96_int8", "ds_cnn_kws_int8",      "resnet8_int8", "svdf_keyword_int8",
    "lstm_sequence_int8",        "segmentation_float16", "control_flow", "dynamic_shape",
};
#define SHIPPED (sizeof shipped / sizeof *shipped)

/* A model and what a writer made of it. */
typedef struct pair {
  berth_host_map_t map;
  berth_model_t model;
  berth_edit_t edit;
  uint8_t *data;
  uint64_t size;
  berth_model_t written;
} pair_t;

static void open_shipped(pair_t *pair, const char *name) {
  char path[1024];
  memset(pair, 0, sizeof *pair);
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
  assert_int_equal(berth_host_open_model(path, &pair->map, &pair->model, NULL), BERTH_OK);
  assert_int_equal(berth_edit_open(&pair->model, &pair->edit), BERTH_OK);
}

static void open_bytes(pair_t *pair, const void *data, uint64_t size) {
  memset(pair, 0, sizeof *pair);
  assert_int_equal(berth_model_open(data, size, &pair->model, NULL), BERTH_OK);
  assert_int_equal(berth_edit_open(&pair->model, &pair->edit), BERTH_OK);
}

static void write_pair(pair_t *pair, bool all) {
  berth_edit_write_options_t options = {.all = all};
  berth_model_error_t error = {0};
  const char *why = NULL;
  berth_status_t status = berth_edit_bytes(&pair->edit, &options, &pair->data, &pair->size, &why);
  if (status != BERTH_OK) fail_msg("%s: %s", berth_status_text(status), why != NULL ? why : "");
  if (berth_model_open(pair->data, pair->size, &pair->written, &error) != BERTH_OK) {
    fail_msg("%s %s at %llu", error.subject, error.fault, (unsigned long long)error.position);
  }
}

static void close_pair(pair_t *pair) {
  berth_edit_close(&pair->edit);
  berth_host_unmap(&pair->map);
  free(pair->data);
}

static void expect_same(const pair_t *pair) {
  const char *difference = model_difference(&pair->model, &pair->written);
  if (difference != NULL) fail_msg("another %s", difference);
}

static void without_edits_the_file_comes_back_unchanged(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    pair_t pair;
    open_shipped(&pair, shipped[i]);
    write_pair(&pair, false);
    assert_int_equal(pair.size, pair.model.size);
    assert_memory_equal(pair.data, pair.model.data, (size_t)pair.size);
    close_pair(&pair);
  }
}

static void a_model_whose_tables_are_all_made_anew_reads_the_same(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    pair_t pair;
    open_shipped(&pair, shipped[i]);
    write_pair(&pair, true);
    assert_true(pair.size > pair.model.size);
    expect_same(&pair);
    close_pair(&pair);
  }
}

static void one_of_everything_survives_being_made_anew(void **state) {
  (void)state;
  static sample_t sample;
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  write_pair(&pair, true);
  expect_same(&pair);
  berth_operator_t outside = berth_model_operator(&pair.written, 0, 3);
  assert_int_equal(outside.custom_options.size, 8);
  assert_memory_equal(outside.custom_options.data, "outside!", 8);
  berth_bytes_t bias = berth_model_buffer(&pair.written, 2);
  assert_int_equal(berth_vector_int((berth_vector_t){bias.data, 3}, 2), 300);
  close_pair(&pair);
}

static void operators_come_in_the_order_that_was_asked_for(void **state) {
  (void)state;
  static sample_t sample;
  static const uint32_t order[] = {2, 0, 3, 1};
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  assert_int_equal(berth_edit_reorder(&pair.edit, 0, order), BERTH_OK);
  write_pair(&pair, false);
  for (uint32_t k = 0; k < 4; k++) {
    berth_operator_t before = berth_model_operator(&pair.model, 0, order[k]);
    berth_operator_t after = berth_model_operator(&pair.written, 0, k);
    assert_null(operator_difference(&pair.model, &before, &pair.written, &after));
  }
  close_pair(&pair);
}

static void an_order_that_is_no_permutation_is_refused(void **state) {
  (void)state;
  static sample_t sample;
  static const uint32_t twice[] = {0, 1, 1, 3}, beyond[] = {0, 1, 2, 4};
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  assert_int_equal(berth_edit_reorder(&pair.edit, 0, twice), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_edit_reorder(&pair.edit, 0, beyond), BERTH_ERROR_ARGUMENT);
  write_pair(&pair, false);
  assert_int_equal(pair.size, pair.model.size);
  close_pair(&pair);
}

static void metadata_are_added_where_there_were_none(void **state) {
  (void)state;
  static const int32_t plan[] = {1, 0, 3, 0, -1, 16};
  for (size_t i = 0; i < SHIPPED; i++) {
    pair_t pair;
    open_shipped(&pair, shipped[i]);
    assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
    write_pair(&pair, false);
    expect_same(&pair);
    berth_bytes_t found = berth_model_metadata_named(&pair.written, PLAN);
    assert_int_equal(found.size, sizeof plan);
    assert_memory_equal(found.data, plan, sizeof plan);
    assert_int_equal((found.data - pair.data) % 16, 0);
    close_pair(&pair);
  }
}

static void metadata_of_the_same_name_are_replaced_and_others_stay(void **state) {
  (void)state;
  static sample_t sample;
  static const int32_t plan[] = {1, 0, 2, 48, 64};
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
  write_pair(&pair, false);
  expect_same(&pair);
  assert_int_equal(pair.written.metadata_count, 2);
  berth_bytes_t found = berth_model_metadata_named(&pair.written, PLAN);
  assert_int_equal(found.size, sizeof plan);
  assert_memory_equal(found.data, plan, sizeof plan);
  close_pair(&pair);
}

static void metadata_that_are_there_already_change_nothing(void **state) {
  (void)state;
  static sample_t sample;
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  berth_bytes_t now = berth_model_metadata_named(&pair.model, PLAN);
  assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, now.data, now.size), BERTH_OK);
  write_pair(&pair, false);
  assert_int_equal(pair.size, pair.model.size);
  close_pair(&pair);
}

static void shapes_and_constants_are_replaced(void **state) {
  (void)state;
  static sample_t sample;
  static const int32_t shape[] = {2, 4};
  static const int8_t weights[12] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2};
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  assert_int_equal(berth_edit_set_shape(&pair.edit, 0, 0, shape, 2), BERTH_OK);
  berth_edit_tensor_t *tensor = &pair.edit.subgraphs[0].tensors[1];
  assert_int_equal(berth_edit_add_buffer(&pair.edit, weights, 12, &tensor->buffer), BERTH_OK);
  write_pair(&pair, false);
  berth_tensor_t input = berth_model_tensor(&pair.written, 0, 0);
  assert_int_equal(berth_vector_int(input.shape, 0), 2);
  assert_int_equal(input.signature.count, 0);
  assert_int_equal(input.name.length, 2);
  berth_tensor_t changed = berth_model_tensor(&pair.written, 0, 1);
  assert_memory_equal(berth_model_tensor_data(&pair.written, &changed).data, weights, 12);
  assert_int_equal(changed.scales.count, 3);
  close_pair(&pair);
}

static void dropped_tensors_leave_signatures_with_the_right_numbers(void **state) {
  (void)state;
  static sample_t sample;
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  /* Operator 2 goes, and tensor 5, which only it reads: 6 becomes 5, 7 becomes 6. */
  berth_edit_subgraph_t *main = &pair.edit.subgraphs[0];
  berth_edit_drop_operator(&pair.edit, 0, 2);
  memmove(&main->tensors[5], &main->tensors[6], 2 * sizeof *main->tensors);
  main->tensor_count = 7;
  main->outputs.values[1] = 5;
  main->operators[1].outputs.values[0] = 5;
  main->operators[1].intermediates.values[0] = 6;
  write_pair(&pair, false);
  uint32_t tensor;
  berth_text_t name = berth_model_signature_output(&pair.written, 0, 1, &tensor);
  assert_int_equal(name.length, 4);
  assert_int_equal(tensor, 5);
  assert_int_equal(berth_model_subgraph(&pair.written, 0).operator_count, 3);
  assert_int_equal(berth_model_tensor(&pair.written, 0, 5).type, BERTH_TYPE_BOOL);
  close_pair(&pair);
}

static void options_are_replaced_and_the_others_stay(void **state) {
  (void)state;
  static sample_t sample;
  pair_t pair;
  sample_build(&sample);
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  berth_edit_operator_t *op = &pair.edit.subgraphs[0].operators[0];
  op->options[op->option_count++] =
      (berth_edit_option_t){BERTH_FULLY_CONNECTED_ACTIVATION, BERTH_ACTIVATION_NONE};
  write_pair(&pair, false);
  berth_table_t options = berth_model_operator(&pair.written, 0, 0).options;
  assert_int_equal(berth_option_byte(options, BERTH_FULLY_CONNECTED_ACTIVATION, 9), 0);
  assert_int_equal(berth_option_byte(options, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, 0), 1);
  close_pair(&pair);
}

/* ---- What a later schema may add ------------------------------------------------------------- */

/* The sample, with a field in its model table that the schema doesn't have; where it is. */
static uint32_t build_with_unknown(sample_t *sample, uint32_t width, uint64_t value) {
  sample_build(sample);
  while (sample->file.size % 4 != 0) put(&sample->file, 1, 0);
  return put_field(&sample->file, sample->model, 11, width, value);
}

static void an_unknown_field_that_can_only_be_a_number_is_kept(void **state) {
  (void)state;
  static sample_t sample;
  static const struct {
    uint32_t width;
    uint64_t value;
  } cases[] = {{1, 0x81}, {2, 0x8123}, {4, 3}, {4, 0x40000000}};
  static const int32_t plan[] = {1, 0, 0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pair_t pair;
    build_with_unknown(&sample, cases[i].width, cases[i].value);
    open_bytes(&pair, sample.file.bytes, sample.file.size);
    assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
    write_pair(&pair, false);
    uint32_t root = pair.written.root;
    uint32_t vtable = root - (uint32_t)berth_vector_int((berth_vector_t){pair.data + root, 1}, 0);
    uint32_t slot = (uint32_t)(pair.data[vtable + 26] | pair.data[vtable + 27] << 8);
    assert_true(slot != 0);
    for (uint32_t k = 0; k < cases[i].width; k++) {
      assert_int_equal(pair.data[root + slot + k], (cases[i].value >> 8 * k) & 0xff);
    }
    close_pair(&pair);
  }
}

static void an_unknown_field_that_may_be_a_reference_is_not_copied(void **state) {
  (void)state;
  static sample_t sample;
  static const int32_t plan[] = {1, 0, 0};
  uint32_t at = build_with_unknown(&sample, 4, 4); /* to 8 zero bytes right behind it */
  put(&sample.file, 8, 0);
  assert_int_equal(at % 4, 0);

  pair_t pair;
  const char *why = NULL;
  open_bytes(&pair, sample.file.bytes, sample.file.size);
  assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
  assert_int_equal(berth_edit_bytes(&pair.edit, NULL, &pair.data, &pair.size, &why),
                   BERTH_ERROR_UNSUPPORTED);
  assert_non_null(strstr(why, "later schema"));
  close_pair(&pair);
}

/* ---- Where things lie ------------------------------------------------------------------------ */

static void constants_stay_as_aligned_as_they_were(void **state) {
  (void)state;
  static const int32_t plan[] = {1, 0, 0};
  pair_t pair;
  open_shipped(&pair, "resnet8_int8");
  assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
  write_pair(&pair, false);
  for (uint32_t i = 0; i < pair.model.buffer_count; i++) {
    berth_bytes_t before = berth_model_buffer(&pair.model, i);
    berth_bytes_t after = berth_model_buffer(&pair.written, i);
    if (before.size == 0) continue;
    assert_int_equal((before.data - pair.model.data) % 16, (after.data - pair.data) % 16);
  }
  close_pair(&pair);
}

/* ---- What is given up ------------------------------------------------------------------------ */

static void another_order_takes_no_byte_more(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    pair_t pair;
    open_shipped(&pair, shipped[i]);
    uint32_t count = pair.edit.subgraphs[0].operator_count, order[256];
    assert_true(count <= 256);
    for (uint32_t k = 0; k < count; k++) order[k] = count - 1 - k;
    assert_int_equal(berth_edit_reorder(&pair.edit, 0, order), BERTH_OK);
    write_pair(&pair, false);
    /* Subgraphs share a description of their tables, so a single one that changes needs its own. */
    assert_true(pair.size <= pair.model.size + (pair.model.subgraph_count > 1 ? 64 : 0));
    for (uint32_t k = 0; k < count; k++) {
      berth_operator_t before = berth_model_operator(&pair.model, 0, order[k]);
      berth_operator_t after = berth_model_operator(&pair.written, 0, k);
      assert_null(operator_difference(&pair.model, &before, &pair.written, &after));
    }
    close_pair(&pair);
  }
}

static void another_plan_takes_the_place_of_the_first(void **state) {
  (void)state;
  static const int32_t plan[] = {1, 0, 3, 0, -1, 16}, other[] = {1, 0, 3, 48, 0, -1};
  for (size_t i = 0; i < SHIPPED; i++) {
    pair_t first, second;
    open_shipped(&first, shipped[i]);
    assert_int_equal(berth_edit_set_metadata(&first.edit, PLAN, plan, sizeof plan), BERTH_OK);
    write_pair(&first, false);
    open_bytes(&second, first.data, first.size);
    assert_int_equal(berth_edit_set_metadata(&second.edit, PLAN, other, sizeof other), BERTH_OK);
    write_pair(&second, false);
    assert_true(second.size <= first.size + 64); /* a table and a reference; not the plan */
    berth_bytes_t found = berth_model_metadata_named(&second.written, PLAN);
    assert_int_equal(found.size, sizeof other);
    assert_memory_equal(found.data, other, sizeof other);
    /* The first plan is nowhere any more. */
    for (uint64_t at = 0; at + sizeof plan <= second.size; at++) {
      assert_true(memcmp(second.data + at, plan, sizeof plan) != 0);
    }
    close_pair(&second);
    close_pair(&first);
  }
}

static uint32_t place_in(const pair_t *pair, const uint8_t *data) {
  return (uint32_t)(data - pair->model.data);
}

/* A number in the options of one operator that could be a reference to the operands of another one:
 * these stay where that reference finds them, though the schema says that nothing refers to them.
 */
static void what_a_field_could_refer_to_is_not_given_up(void **state) {
  (void)state;
  pair_t pair;
  open_shipped(&pair, "resnet8_int8");
  uint8_t *copy = malloc((size_t)pair.model.size);
  uint64_t size = pair.model.size;
  memcpy(copy, pair.model.data, (size_t)size);
  uint32_t from = BERTH_NOBODY, to = BERTH_NOBODY, slot = 0;
  for (uint32_t a = 0; a < pair.edit.subgraphs[0].operator_count && from == BERTH_NOBODY; a++) {
    berth_operator_t op = berth_model_operator(&pair.model, 0, a);
    slot = flat_field(op.options, BERTH_CONV_2D_STRIDE_W);
    if (op.code != BERTH_BUILTIN_CONV_2D || slot == 0 || slot % 4 != 0) continue;
    for (uint32_t b = 0; b < pair.edit.subgraphs[0].operator_count && from == BERTH_NOBODY; b++) {
      berth_operator_t other = berth_model_operator(&pair.model, 0, b);
      uint32_t operands = place_in(&pair, other.inputs.data) - 4;
      if (a == b || other.inputs.count != 3 || operands <= slot || operands % 4 != 0) continue;
      from = a, to = b;
      for (int i = 0; i < 4; i++) copy[slot + (uint32_t)i] = (uint8_t)((operands - slot) >> 8 * i);
    }
  }
  assert_true(from != BERTH_NOBODY);
  close_pair(&pair);

  open_bytes(&pair, copy, size);
  int32_t *inputs = pair.edit.subgraphs[0].operators[to].inputs.values;
  int32_t kept[3] = {inputs[0], inputs[1], inputs[2]};
  inputs[2] = inputs[0];
  write_pair(&pair, false);
  assert_int_equal(berth_vector_int(berth_model_operator(&pair.written, 0, to).inputs, 2), kept[0]);
  berth_vector_t found = berth_option_ints(berth_model_operator(&pair.written, 0, from).options,
                                           BERTH_CONV_2D_STRIDE_W);
  assert_int_equal(found.count, 3);
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(berth_vector_int(found, i), kept[i]);
  close_pair(&pair);
  free(copy);
}

/* Appends a ZIP archive with one stored file to the sample; where its parts are. */
typedef struct archive {
  uint32_t local, directory, end;
} archive_t;

static void put_zeros(builder_t *file, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) put(file, 1, 0);
}

static archive_t put_archive(builder_t *file, uint32_t counted_from) {
  archive_t archive = {.local = file->size};
  put(file, 4, 0x04034b50u);
  put_zeros(file, 22);
  put(file, 2, 5); /* length of the name */
  put(file, 2, 0);
  for (uint32_t i = 0; i < 5; i++) put(file, 1, (uint8_t) "a.txt"[i]);
  archive.directory = file->size;
  put(file, 4, 0x02014b50u);
  put_zeros(file, 24);
  put(file, 2, 5);
  put_zeros(file, 12);
  put(file, 4, archive.local - counted_from);
  for (uint32_t i = 0; i < 5; i++) put(file, 1, (uint8_t) "a.txt"[i]);
  archive.end = file->size;
  put(file, 4, 0x06054b50u);
  put(file, 4, 0);
  put(file, 2, 1);
  put(file, 2, 1);
  put(file, 4, archive.end - archive.directory);
  put(file, 4, archive.directory - counted_from);
  put(file, 2, 0);
  return archive;
}

static uint32_t read32(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void a_zip_archive_behind_the_model_keeps_true_positions(void **state) {
  (void)state;
  static sample_t sample;
  static const int32_t plan[] = {1, 0, 0};
  for (int relative = 0; relative < 2; relative++) {
    pair_t pair;
    sample_build(&sample);
    archive_t archive = put_archive(&sample.file, relative ? sample.file.size : 0);
    open_bytes(&pair, sample.file.bytes, sample.file.size);
    assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
    write_pair(&pair, false);
    uint32_t moved = (uint32_t)(pair.size - sample.file.size);
    uint32_t expected = relative ? 0 : moved;
    const uint8_t *old = sample.file.bytes;
    assert_int_equal(read32(pair.data + moved + archive.directory + 42),
                     read32(old + archive.directory + 42) + expected);
    assert_int_equal(read32(pair.data + moved + archive.end + 16),
                     read32(old + archive.end + 16) + expected);
    close_pair(&pair);
  }
}

/* Where a writer's bytes go: the first of them, and how many there were. */
typedef struct start {
  uint8_t bytes[1 << 16];
  uint64_t size;
} start_t;

static bool keep_start(void *user, const void *data, size_t size) {
  start_t *start = user;
  if (start->size < sizeof start->bytes) {
    size_t room = sizeof start->bytes - (size_t)start->size;
    memcpy(start->bytes + start->size, data, size < room ? size : room);
  }
  start->size += size;
  return true;
}

static uint64_t read64(const uint8_t *at) {
  return read32(at) | (uint64_t)read32(at + 4) << 32;
}

static void constants_beyond_two_gigabytes_are_moved_without_being_copied(void **state) {
  (void)state;
  static sample_t sample;
  static start_t start;
  static const int32_t plan[] = {1, 0, 0};
  const uint64_t size = 5ull << 30, far = 4ull << 30;
  if (sizeof(size_t) < 8) skip();
  uint8_t *file = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (file == MAP_FAILED) {
    print_message("skipped: no 5 GiB of address space\n");
    skip();
  }
  sample_build(&sample);
  uint32_t slot = field_at(&sample, sample.buffer[2], BUFFER_OFFSET);
  memcpy(file, sample.file.bytes, sample.file.size);
  for (uint32_t i = 0; i < 8; i++) file[slot + i] = (uint8_t)(far >> 8 * i);
  pair_t pair;
  open_bytes(&pair, file, size);
  assert_int_equal(berth_edit_set_metadata(&pair.edit, PLAN, plan, sizeof plan), BERTH_OK);
  start.size = 0;
  assert_int_equal(berth_edit_write(&pair.edit, NULL, keep_start, &start, NULL), BERTH_OK);
  uint64_t moved = start.size - size;
  assert_true(moved > 0 && moved % 16 == 0 && moved < 4096);
  assert_true(read64(start.bytes + moved + slot) == far + moved);
  close_pair(&pair);
  munmap(file, (size_t)size);
}

static bool refuse(void *user, const void *data, size_t size) {
  (void)user;
  (void)data;
  return size == 0;
}

static void a_sink_that_refuses_ends_the_writing(void **state) {
  (void)state;
  pair_t pair;
  open_shipped(&pair, "control_flow");
  assert_int_equal(berth_edit_write(&pair.edit, NULL, refuse, NULL, NULL), BERTH_ERROR_CANCELLED);
  close_pair(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_edits_the_file_comes_back_unchanged),
      cmocka_unit_test(a_model_whose_tables_are_all_made_anew_reads_the_same),
      cmocka_unit_test(one_of_everything_survives_being_made_anew),
      cmocka_unit_test(operators_come_in_the_order_that_was_asked_for),
      cmocka_unit_test(an_order_that_is_no_permutation_is_refused),
      cmocka_unit_test(metadata_are_added_where_there_were_none),
      cmocka_unit_test(metadata_of_the_same_name_are_replaced_and_others_stay),
      cmocka_unit_test(metadata_that_are_there_already_change_nothing),
      cmocka_unit_test(shapes_and_constants_are_replaced),
      cmocka_unit_test(dropped_tensors_leave_signatures_with_the_right_numbers),
      cmocka_unit_test(options_are_replaced_and_the_others_stay),
      cmocka_unit_test(an_unknown_field_that_can_only_be_a_number_is_kept),
      cmocka_unit_test(an_unknown_field_that_may_be_a_reference_is_not_copied),
      cmocka_unit_test(another_order_takes_no_byte_more),
      cmocka_unit_test(another_plan_takes_the_place_of_the_first),
      cmocka_unit_test(what_a_field_could_refer_to_is_not_given_up),
      cmocka_unit_test(constants_stay_as_aligned_as_they_were),
      cmocka_unit_test(a_zip_archive_behind_the_model_keeps_true_positions),
      cmocka_unit_test(constants_beyond_two_gigabytes_are_moved_without_being_copied),
      cmocka_unit_test(a_sink_that_refuses_ends_the_writing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
