/* berth diff: two models, two plans, two settings, two platforms' dumps. */
#include "program.h"

#define MODEL "models/resnet8_int8.tflite"

static void a_plan_is_equal_to_itself_in_every_form(void **state) {
  (void)state;
  assert_status("for model in models/*.tflite; do berth plan $model -o $dir/p.json >/dev/null && "
                "berth plan $model -o $dir/p.csv >/dev/null && berth diff $model $model && "
                "berth diff $model $dir/p.json && berth diff $dir/p.csv $model && "
                "berth diff $dir/p.json $dir/p.csv || exit 1; done",
                0);
  assert_says(out, "are the same in both.");
}

static void two_settings_of_one_model_are_compared(void **state) {
  (void)state;
  assert_status("berth diff " MODEL " --versus --align 64", 3);
  assert_says(out, "Without reuse          117,920         118,016  +96 (+0.1 %)");
  assert_says(out, "padded        16 -> 64         0  14..15  logits\n");
  assert_says(out, "2 buffers differ, 15 are the same.");
  assert_status("berth diff " MODEL " --planner none --versus --planner best --json", 3);
  assert_says(out, "\"moved\"");
  assert_status("berth diff --keep-inputs " MODEL " --versus", 3);
  assert_says(out, "0..15 -> 0..0  image\n");
}

static void what_appeared_and_what_went_is_told(void **state) {
  (void)state;
  write_file("a.csv", "id,lower,upper,size\nx,0,2,10\ny,1,3,10\nz,0,1,4\n");
  write_file("b.csv", "id,lower,upper,size\nx,0,2,30\ny,1,3,10\nw,2,3,7\n");
  assert_status("berth diff $dir/a.csv $dir/b.csv", 3);
  assert_says(out, "grew      10 -> 30");
  assert_says(out, "appeared    - -> 7");
  assert_says(out, "gone        4 -> -");
}

static void of_two_platforms_dumps_the_padded_tensor_is_named(void **state) {
  (void)state;
  write_file("a.csv", "kind,index,first,last,size,offset,subgraph,raw_bytes\n"
                      "tensor,0,0,1,16,0,0,10\ntensor,1,1,2,32,16,0,20\nscratch,1,2,2,16,0,0,16\n");
  write_file("b.csv", "kind,index,first,last,size,offset,subgraph,raw_bytes\n"
                      "tensor,0,0,1,16,0,0,10\ntensor,1,1,2,24,16,0,20\nscratch,1,2,2,48,0,0,48\n");
  assert_status("berth diff $dir/a.csv $dir/b.csv --json", 3);
  assert_says(out, "{\"key\": \"0:1\", \"name\": \"\", \"how\": [\"padded\"], "
                   "\"a\": {\"size\": 32, \"offset\": 16, \"first\": 1, \"last\": 2, "
                   "\"raw_bytes\": 20}");
  assert_says(out, "{\"key\": \"scratch 1\", \"name\": \"\", \"how\": [\"size\"]");
  assert_says(out, "\"same\": 1,");
}

static void wrong_usage_and_bad_files_are_refused(void **state) {
  (void)state;
  assert_refused("berth diff", 2, "two files");
  assert_refused("berth diff a", 2, "two files");
  assert_refused("berth diff a b --versus c", 2, "two files");
  assert_refused("berth diff a b c", 2, "c");
  assert_refused("berth diff a --versus --align 3", 2, "--align");
  assert_refused("berth diff " MODEL " $dir/none.tflite", 1, "none.tflite");
  write_file("p.json", "{\"buffers\": [{\"size\": }]}");
  assert_refused("berth diff $dir/p.json " MODEL, 1, "p.json:1");
  write_file("p.json", "{}");
  assert_refused("berth diff $dir/p.json " MODEL, 1, "p.json");
  write_file("p.csv", "id,size,offset\na,x,0\n");
  assert_refused("berth diff $dir/p.csv " MODEL, 1, "p.csv:2");
  write_file("p.csv", "id,size,offset\n\"a,1,0\n");
  assert_refused("berth diff $dir/p.csv " MODEL, 1, "a quote is not closed");
  assert_status("berth diff --help", 0);
  assert_says(out, "--versus");
}

static void one_model_streamed_and_whole_differ(void **state) {
  (void)state;
  assert_status("berth diff models/resnet8_int8.tflite --versus --stream auto", 3);
  assert_says(out, "16,384");
  assert_status("berth diff models/resnet8_int8.tflite --versus --overlap diagonal", 3);
  assert_says(out, "33,312");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_model_streamed_and_whole_differ),
      cmocka_unit_test(a_plan_is_equal_to_itself_in_every_form),
      cmocka_unit_test(two_settings_of_one_model_are_compared),
      cmocka_unit_test(what_appeared_and_what_went_is_told),
      cmocka_unit_test(of_two_platforms_dumps_the_padded_tensor_is_named),
      cmocka_unit_test(wrong_usage_and_bad_files_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
