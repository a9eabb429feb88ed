/* Wrong usage, bad input and outputs that cannot be written: one clear line each, the right exit
 * status, and nothing left behind. */
#include "program.h"

static void wrong_usage_exits_with_2_and_names_what_is_wrong(void **state) {
  (void)state;
  assert_refused("berth fly", 2, "fly");
  assert_refused("berth plan", 2, "which file?");
  assert_refused("berth plan a b", 2, "b");
  assert_refused("berth plan --fast a", 2, "--fast");
  assert_refused("berth plan --planner", 2, "--planner");
  assert_refused("berth plan --planner magic a", 2, "magic");
  assert_refused("berth plan --json=yes a", 2, "--json");
  assert_refused("berth plan --align 3 a", 2, "power of two");
  assert_refused("berth plan --align 0 a", 2, "--align");
  assert_refused("berth plan --align -16 a", 2, "-16");
  assert_refused("berth plan --like onnx a", 2, "onnx");
  assert_refused("berth plan --reserve buffer a", 2, "--reserve");
  assert_refused("berth plan --reserve buffer:12x a", 2, "12x");
  assert_refused("berth plan --reserve buffer:12:3 a", 2, "--reserve");
  assert_refused("berth plan --reserve buffer:12:5-3 a", 2, "--reserve");
  assert_refused("berth plan --capacity 0 a", 2, "--capacity");
  assert_refused("berth plan --capacity 99999999999999999999 a", 2, "--capacity");
  assert_refused("berth plan --capacity 64Kb a", 2, "64Kb");
  assert_refused("berth plan --capacity 64K --minimize a", 2, "--minimize");
  assert_refused("berth plan --region sram a", 2, "--region");
  assert_refused("berth plan --region sram=1K@ a", 2, "--region");
  assert_refused("berth plan --region s=1K --region s=2K a", 2, "--region");
  assert_refused("berth plan --time-limit never a", 2, "--time-limit");
  assert_refused("berth plan --work-limit 0 a", 2, "--work-limit");
  assert_refused("berth plan --without magic a", 2, "magic");
  assert_refused("berth plan --no-reuse --planner size a", 2, "--no-reuse");
  assert_refused("berth plan -o plan.txt a", 2, "plan.txt");
  assert_refused("berth inspect -o plan.json a", 2, "-o");
  assert_refused("berth plan --order best -o plan.csv a", 2, "-o FILE.json or FILE.h");
  assert_refused("berth plan --clean --order best -o plan.json a", 2, "berth optimize");
  assert_refused("berth inspect --planner size a", 2, "--planner");
}

static void no_command_shows_the_help_and_exits_with_2(void **state) {
  (void)state;
  assert_status("berth", 2);
  assert_string_equal(out, "");
  assert_says(err, "usage: berth COMMAND");
}

static void help_and_version_are_answers(void **state) {
  (void)state;
  assert_status("berth --help", 0);
  assert_says(out, "inspect");
  assert_status("berth --version", 0);
  assert_says(out, "berth 0.");
  assert_status("berth plan --help", 0);
  assert_says(out, "--planner NAME|all");
  assert_says(out, "greedy by size");
  assert_status("berth inspect -h", 0);
  assert_says(out, "--keep-inputs");
}

static void a_file_that_is_no_model_is_named_with_the_reason(void **state) {
  (void)state;
  assert_refused("berth plan $dir/missing.tflite", 1, "missing.tflite: No such file");
  assert_refused("berth plan $dir", 1, "it is a directory");
  assert_refused("berth plan $(head -c 3000 /dev/zero | tr '\\0' x).tflite", 1,
                 "x.tflite: File name too long");
  assert_refused("berth plan $(printf '\\303\\244%.0s' $(seq 1500)).tflite", 1, " ... \303\244");
  write_file("empty.tflite", "");
  assert_refused("berth inspect $dir/empty.tflite", 1, "empty.tflite");
  write_file("text.tflite", "this is a text and not a model at all, but long enough");
  assert_refused("berth inspect $dir/text.tflite", 1, "text.tflite: ");
  assert_refused("head -c 1000 models/resnet8_int8.tflite >$dir/cut.tflite; "
                 "berth plan $dir/cut.tflite",
                 1, "cut.tflite: ");
  write_file("p.csv", "id,lower,upper,size\na,0,1,1\n");
  assert_refused("berth inspect $dir/p.csv", 1, "not a model");
}

static void a_bad_problem_is_named_with_its_line(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"", "p.csv"},
      {"\n", "header"},
      {"id,lower,upper\na,0,1\n", "no column \"size\""},
      {"id,lower,upper,size,size\na,0,1,1,1\n", "appears twice"},
      {"id,lower,upper,size\na,0,1,1\nb,0,1\n", "p.csv:3: 3 fields"},
      {"id,lower,upper,size\na,0,1,1,7\n", "p.csv:2: 5 fields"},
      {"id,lower,upper,size\na,0,1,-1\n", "p.csv:2: column size: \"-1\""},
      {"id,lower,upper,size\na,0,1,1.5\n", "\"1.5\""},
      {"id,lower,upper,size\na,0,1,99999999999999999999\n", "p.csv:2"},
      {"id,lower,upper,size\na,0,1,18446744073709551615\n", "add up"},
      {"id,lower,upper,size\r\n\r\na,3,3,1\r\n", "p.csv:3: upper is not greater"},
      {"id,lower,upper,size\na,0,4294967296,1\n", "too large"},
      {"id,lower,upper,size\na,0,1,1\n\"a\",0,1,1\n", "id \"a\""},
      {"id,lower,upper,size\n\"a,0,1,1\n", "p.csv:2: a quote is not closed"},
      {"id,lower,upper,size\n\"a\"b,0,1,1\n", "comma is missing"},
      {"id,lower,upper,size,align\na,0,1,1,0\n", "column align"},
      {"id,lower,upper,size,align,fixed\na,0,1,1,4,6\n", "buffer \"a\""},
      {"id,lower,upper,size,const\na,0,1,1,2\n", "column const"},
      {"id,lower,upper,size,region\na,0,1,1,sram\n", "no --region describes"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_file("p.csv", bad[i][0]);
    assert_refused("berth plan $dir/p.csv -o $dir/left.json", 1, bad[i][1]);
  }
  assert_status("test -e $dir/left.json", 1);
}

static void a_bad_pair_is_named_with_its_line(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"a,b\n", "no column \"relation\""},
      {"a,b,relation\nx,q,share\n", "q.csv:2: column b: \"q\""},
      {"a,b,relation\nx,x,share\n", "same buffer"},
      {"a,b,relation\nx,y,near\n", "\"near\""},
      {"a,b,relation\nx,y,head\n", "need bytes"},
      {"a,b,relation,bytes\nx,y,head,11\n", "\"11\" is too large"},
      {"a,b,relation,bytes\nx,y,tail,0\n", "\"0\""},
  };
  write_file("p.csv", "id,lower,upper,size\nx,0,2,10\ny,1,3,10\n");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_file("q.csv", bad[i][0]);
    assert_refused("berth plan $dir/p.csv --pairs $dir/q.csv", 1, bad[i][1]);
  }
  assert_refused("berth plan $dir/p.csv --pairs $dir/none.csv", 1, "none.csv: No such file");
}

static void output_that_cannot_be_written_is_a_failure_and_leaves_nothing(void **state) {
  (void)state;
  assert_refused("berth plan models/resnet8_int8.tflite >/dev/full", 1, "standard output");
  assert_refused("berth plan models/resnet8_int8.tflite >&-", 1, "standard output");
  assert_refused("berth inspect models/resnet8_int8.tflite --json >&-", 1, "standard output");
  assert_refused("berth --help >/dev/full", 1, "standard output");
  assert_refused("berth plan models/resnet8_int8.tflite -o $dir/none/x.json", 1, "none/x.json");
  assert_refused("berth optimize models/resnet8_int8.tflite -o $dir/x.tfl --header $dir/none/x.h",
                 1, "none/x.h");
  assert_refused("mkdir $dir/d.csv; berth plan models/resnet8_int8.tflite -o $dir/d.csv", 1,
                 "directory");
  static const char *const written[] = {"optimize -o $dir/x.tfl --header $dir/x.h",
                                        "plan -o $dir/x.json --svg $dir/x.svg",
                                        "report -o $dir/x.html",
                                        "trace -o $dir/x.json",
                                        "run --output-dir $dir",
                                        "log --history $dir/x.log"};
  for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
    char command[160];
    snprintf(command, sizeof command, "berth %s models/resnet8_int8.tflite >/dev/full", written[i]);
    assert_refused(command, 1, "standard output");
  }
  /* A file may grow to no more than 1 KiB, and the signal for that is ignored. */
  assert_refused("(trap '' XFSZ; ulimit -f 1; berth plan models/resnet8_int8.tflite "
                 "-o $dir/big.json)",
                 1, "big.json");
  assert_status("ls $dir | grep -v -e '^out$' -e '^err$' -e '^d.csv$' -e '[.]tflite$' "
                "-e '^[pq].csv$'",
                1);
}

static void an_input_is_never_written_over(void **state) {
  (void)state;
  assert_status(
      "cp models/resnet8_int8.tflite $dir/own.tflite && ln -s own.tflite $dir/soft.tflite", 0);
  static const char *const commands[] = {
      "berth graph $dir/own.tflite -o $dir/own.tflite",
      "berth graph $dir/own.tflite -o $dir/soft.tflite",
      "berth trace --untimed $dir/own.tflite -o $dir/./own.tflite",
      "berth optimize $dir/own.tflite --header $dir/own.tflite",
      "berth optimize $dir/own.tflite -o $dir/new.tflite --header $dir/new.tflite",
      "cd $dir; berth plan --pairs q.csv p.csv -o p.csv",
      "cd $dir; berth plan --pairs q.csv p.csv -o q.csv",
  };
  write_file("p.csv", "id,lower,upper,size\nx,0,2,10\ny,1,3,10\n");
  write_file("q.csv", "a,b,relation\n");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    assert_refused(commands[i], 2, i == 4 ? "two outputs" : "overwrite");
  }
  assert_status("cmp models/resnet8_int8.tflite $dir/own.tflite && test ! -e $dir/new.tflite", 0);
}

static void a_streamed_plan_is_only_that_of_the_model_as_it_is(void **state) {
  (void)state;
  static const char *const changes[] = {"--assume int8", "--set-shape image=1,64,64,3",
                                        "--drop-output inner", "--drop-unused",
                                        "--sweep resolution"};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    char command[160];
    snprintf(command, sizeof command,
             "berth plan --stream max %s models/segmentation_float16.tflite", changes[i]);
    assert_refused(command, 2, "--stream");
  }
  assert_refused("berth plan --stream-input --keep-inputs a", 2, "--keep-inputs");
  assert_refused("berth run --stream-input --keep-inputs a", 2, "--keep-inputs");
  assert_refused("berth plan --stream max --overlap none a", 2, "--overlap");
  assert_refused("berth run --stream max --planner tflm a", 2, "unlike tflm");
  assert_refused("berth plan --stream auto --kernels a", 2, "--kernels");
  assert_refused("berth run --stream max --overlap inplace a", 2, "--overlap");
  assert_refused("berth log --history h.csv --accuracy 1..2 a", 2, "1..2");
  assert_refused("berth check --max-arena 1M --runtime berth --bits arm a", 2, "--runtime tflm");
  assert_refused("berth check --max-arena 1M --kernel-set cmsis-nn a", 2, "--runtime tflm");
  assert_refused("berth inspect --abi arm --runtime tflite a", 2, "--runtime tflm");
}

static void a_model_whose_shapes_disagree_is_not_streamed(void **state) {
  (void)state;
  /* The image's width, 28 in the file's own shapes, becomes 255. */
  assert_status("cp models/dynamic_shape.tflite $dir/wide.tflite && chmod u+w $dir/wide.tflite && "
                "printf '\\377' | dd of=$dir/wide.tflite bs=1 seek=428 conv=notrunc 2>/dev/null",
                0);
  assert_refused("berth plan --stream max $dir/wide.tflite", 1, "wide.tflite: cannot be streamed");
  assert_refused("berth run --stream max $dir/wide.tflite", 1, "wide.tflite: cannot be streamed");
}

static void a_model_without_operators_is_planned_and_run(void **state) {
  (void)state;
  static const unsigned char model[] = {
      24, 0, 0,  0, 84, 70, 76, 51, 14, 0, 20, 0, 4,  0, 8, 0, 12, 0, 0, 0, 16, 0, 0, 0,
      16, 0, 0,  0, 3,  0,  0,  0,  12, 0, 0,  0, 12, 0, 0, 0, 16, 0, 0, 0, 0,  0, 0, 0,
      1,  0, 0,  0, 32, 0,  0,  0,  1,  0, 0,  0, 8,  0, 0, 0, 4,  0, 4, 0, 4,  0, 0, 0,
      12, 0, 20, 0, 4,  0,  8,  0,  12, 0, 16, 0, 12, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0,
      16, 0, 0,  0, 16, 0,  0,  0,  0,  0, 0,  0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0};
  char path[256];
  snprintf(path, sizeof path, "%s/none.tflite", dir);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(model, 1, sizeof model, file), sizeof model);
  assert_int_equal(fclose(file), 0);
  assert_status("berth plan $dir/none.tflite", 0);
  assert_status("berth plan --stream max $dir/none.tflite", 0);
  assert_status("berth report --stream max $dir/none.tflite -o $dir/none.html", 0);
  assert_status("berth run --stream max $dir/none.tflite", 0);
}

static void data_of_a_variable_are_not_written_to(void **state) {
  (void)state;
  /* The weights' field for "is a variable" points to a byte that is not zero. */
  assert_status(
      "cp models/segmentation_float16.tflite $dir/var.tflite && chmod u+w $dir/var.tflite "
      "&& printf '\\177' | dd of=$dir/var.tflite bs=1 seek=596 conv=notrunc 2>/dev/null",
      0);
  assert_status("berth run $dir/var.tflite && berth run --guard $dir/var.tflite", 0);
  assert_status("berth bisect $dir/var.tflite", 0);
  assert_says(out, "equal");
  assert_status("berth run --compare none models/segmentation_float16.tflite", 0);
}

static void a_plan_with_a_bad_number_is_named_with_its_line(void **state) {
  (void)state;
  static const char *const bad[] = {"\"offset\": 1e30", "\"offset\": \"0\"",
                                    "\"offset\": 0.5",  "\"offset\": 9223372036854775808",
                                    "\"offset\": [0]",  "\"subgraph\": {}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[160];
    snprintf(text, sizeof text, "{\"buffers\": [\n{\"tensor\": 3, %s}]}", bad[i]);
    write_file("bad.json", text);
    assert_refused("berth check-plan models/resnet8_int8.tflite $dir/bad.json", 1,
                   "bad.json: line 2: ");
    assert_refused("berth run --plan $dir/bad.json models/resnet8_int8.tflite", 1,
                   "bad.json: line 2: ");
  }
}

static void a_closed_standard_stream_never_becomes_the_output_file(void **state) {
  (void)state;
  assert_refused("berth plan models/resnet8_int8.tflite -o $dir/kept.csv >&-", 1,
                 "standard output");
  assert_status("test -e $dir/kept.csv", 1);
  assert_status("berth plan models/resnet8_int8.tflite -o $dir/kept.csv <&- 2>&-", 0);
  assert_status("head -n 1 $dir/kept.csv", 0);
  assert_says(out, "id,lower,upper,size,align,offset,kind,subgraph,tensor,name");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_usage_exits_with_2_and_names_what_is_wrong),
      cmocka_unit_test(no_command_shows_the_help_and_exits_with_2),
      cmocka_unit_test(help_and_version_are_answers),
      cmocka_unit_test(a_file_that_is_no_model_is_named_with_the_reason),
      cmocka_unit_test(a_bad_problem_is_named_with_its_line),
      cmocka_unit_test(a_bad_pair_is_named_with_its_line),
      cmocka_unit_test(output_that_cannot_be_written_is_a_failure_and_leaves_nothing),
      cmocka_unit_test(an_input_is_never_written_over),
      cmocka_unit_test(a_streamed_plan_is_only_that_of_the_model_as_it_is),
      cmocka_unit_test(a_model_whose_shapes_disagree_is_not_streamed),
      cmocka_unit_test(a_model_without_operators_is_planned_and_run),
      cmocka_unit_test(data_of_a_variable_are_not_written_to),
      cmocka_unit_test(a_plan_with_a_bad_number_is_named_with_its_line),
      cmocka_unit_test(a_closed_standard_stream_never_becomes_the_output_file),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
