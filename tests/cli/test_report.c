/* `berth report` and the pictures of `berth plan`: what the files say, names that could break out
 * of them, and what happens when they cannot be written. The interactive page itself is tested in a
 * browser (web/test). */
#include "program.h"

static char file[4 << 20]; /* what read_output has read */

static const char *read_output(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  read_whole(path, file, sizeof file);
  return file;
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

/* Two steps, 400 bytes: `low` in both at 0, `high` in the first on top of it. */
static const char two_buffers[] = "id,lower,upper,size\nlow,0,2,300\nhigh,0,1,100\n";

static void the_map_shows_each_buffer_at_its_time_and_address(void **state) {
  (void)state;
  write_file("two.csv", two_buffers);
  assert_status("berth plan $dir/two.csv --svg $dir/two.svg", 0);
  assert_says(out, "Peak");
  const char *svg = read_output("two.svg");
  /* The map spans x = 78..982 for the two steps and y = 84..504 for the 400 bytes. */
  assert_says(svg, "<rect x=\"78.00\" y=\"189.00\" width=\"904.00\" height=\"315.00\"");
  assert_says(svg, "<rect x=\"78.00\" y=\"84.00\" width=\"452.00\" height=\"105.00\"");
  assert_says(svg, "<title>high\n100 bytes, steps 0 to 0, address 300</title>");
  /* The load: 400 bytes in the first step, 300 in the second. */
  assert_says(svg, "d=\"M78.00 84.00H530.00V189.00H982\"");
  assert_says(svg, "peak: step 0");
}

static void bytes_that_two_buffers_share_are_striped(void **state) {
  (void)state;
  write_file("two.csv", two_buffers);
  write_file("share.csv", "a,b,relation,bytes\nhigh,low,share,\n");
  assert_status("berth plan $dir/two.csv --pairs $dir/share.csv --svg $dir/share.svg", 0);
  const char *svg = read_output("share.svg");
  /* `high` lies over the first third of `low`, in the first of two steps. */
  assert_says(svg, "<pattern id=\"shared\"");
  assert_says(svg, "<rect x=\"78.00\" y=\"364.00\" width=\"452.00\" height=\"140.00\" "
                   "class=\"shared\"");
  assert_says(svg, "striped: shared bytes");
  assert_status("berth plan $dir/two.csv --svg $dir/two.svg", 0);
  assert_null(strstr(read_output("two.svg"), "shared"));
}

static void no_two_addresses_of_the_axis_are_alike(void **state) {
  (void)state;
  /* A peak of 1.3 MiB: ticks are a quarter of one apart. */
  write_file("axis.csv", "id,lower,upper,size\nall,0,1,1376256\n");
  assert_status("berth plan $dir/axis.csv --svg $dir/axis.svg", 0);
  assert_status("grep -o '>[0-9.]* [KM]*i*B</text>' $dir/axis.svg | tr -d '\\n'", 0);
  assert_string_equal(out, ">0 B</text>>256 KiB</text>>512 KiB</text>>768 KiB</text>"
                           ">1.00 MiB</text>>1.25 MiB</text>>1.3 MiB</text>");
}

static void operators_are_named_in_the_order_of_execution(void **state) {
  (void)state;
  if (run("test -d \"${BERTH_SHARED:-../shared}/corpus\"") != 0) skip();
  assert_status(
      "m=${BERTH_SHARED:-../shared}/corpus/mediapipe/pose_landmark_lite/model.tflite; "
      "berth plan $m --order best --svg $dir/order.svg | "
      "sed -n 's/^The peak is at \\(step [0-9]*\\), operator \\([A-Z_0-9]*\\).*/\\1 \\2/p' "
      ">$dir/said && grep -o 'peak: step [^<]*' $dir/order.svg | sed 's/peak: //' | "
      "cmp - $dir/said && cat $dir/said",
      0);
  assert_says(out, "step ");
}

static void a_file_that_cannot_be_written_leaves_none_behind(void **state) {
  (void)state;
  assert_refused("berth plan models/resnet8_int8.tflite -o $dir/first.json --svg $dir/none/x.svg",
                 1, "none/x.svg");
  assert_refused("berth plan models/resnet8_int8.tflite --svg $dir/first.svg --png $dir/none/x.png",
                 1, "none/x.png");
  assert_refused("berth report models/resnet8_int8.tflite -o $dir/first.html --svg $dir/none/x.svg",
                 1, "none/x.svg");
  assert_status("ls $dir | grep first", 1);
}

static void the_picture_in_the_readme_is_what_the_program_draws(void **state) {
  (void)state;
  assert_status(
      "berth plan models/mobilenet_v1_0.25_96_int8.tflite --svg $dir/map.svg >$dir/said && "
      "cmp $dir/map.svg docs/memory-map.svg",
      0);
}

static void the_map_of_a_model_names_tensors_operators_and_classes(void **state) {
  (void)state;
  assert_status("berth report models/svdf_keyword_int8.tflite --svg $dir/map.svg", 0);
  assert_says(out, "map.svg: map");
  const char *svg = read_output("map.svg");
  assert_says(svg, "<title>svdf1/state\n1,024 bytes, steps 0 to 8, address ");
  assert_says(svg, ", variable\ntensor 5</title>");
  assert_says(svg, "made by operator 1 SVDF</title>");
  assert_says(svg, "peak: step 0 QUANTIZE");
  assert_status("python3 -c 'import xml.dom.minidom as x, sys; x.parse(sys.argv[1])' "
                "$dir/map.svg || test -z \"$(command -v python3)\"",
                0);
}

static void each_region_has_a_map_of_its_own(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite --region sram=32K@1 --region psram=8M@10 "
                "--svg $dir/regions.svg",
                0);
  const char *svg = read_output("regions.svg");
  assert_int_equal(count_of(svg, "peak: step"), 2);
  assert_says(svg, ">sram</text>");
  assert_says(svg, ">psram</text>");
}

static void names_cannot_break_out_of_page_or_picture(void **state) {
  (void)state;
  /* Markup, a quote, a control character, no UTF-8, U+202E, U+FFFF, and the ends of elements. */
  write_file("evil.csv", "id,lower,upper,size\n"
                         "</script><script>alert(1)</script>,0,1,64\n"
                         "\"<!--\"\"' &amp;\",0,1,64\n"
                         "a\x01\x1b[31m\xff\xc3\xe2\x80\xae\xef\xbf\xbf]]>,0,1,64\n"
                         "</title></svg></style>,0,1,64\n");
  assert_status("berth report $dir/evil.csv -o $dir/evil.html --svg $dir/evil.svg", 0);
  const char *html = read_output("evil.html");
  assert_null(strstr(html, "<script>alert"));
  assert_null(strstr(html, "<!--\""));
  assert_null(strstr(html, "\xff"));
  assert_null(strstr(html, "\x1b"));
  const char *svg = read_output("evil.svg");
  assert_null(strstr(svg, "<script"));
  assert_null(strstr(svg, "\xff"));
  assert_null(strstr(svg, "\xe2\x80\xae"));
  assert_says(svg, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
  assert_int_equal(count_of(svg, "</svg>"), 1);
  assert_status("python3 -c 'import xml.dom.minidom as x, sys; x.parse(sys.argv[1])' "
                "$dir/evil.svg || test -z \"$(command -v python3)\"",
                0);
}

static void the_page_says_what_it_is_about_and_json_says_what_was_written(void **state) {
  (void)state;
  assert_status("berth report models/resnet8_int8.tflite -o $dir/one.html --json", 0);
  assert_says(out, "\"schema_version\": 1");
  assert_says(out, "\"model\": \"models/resnet8_int8.tflite\"");
  assert_says(out, "\"peak_bytes\": 49152");
  assert_says(out, "one.html\", \"format\": \"html\"}");
  assert_says(out, "\"sections\": [\"summary\", \"map\", ");
  const char *html = read_output("one.html");
  assert_says(html, "<!DOCTYPE html>");
  assert_says(html, "stage1/conv2");
  assert_says(html, "berth plan models/resnet8_int8.tflite --stream auto");
  assert_says(html, "</html>");
}

static void two_files_make_one_page_before_and_after(void **state) {
  (void)state;
  write_file("two.csv", two_buffers);
  write_file("one.csv", "id,lower,upper,size\nonly_here,0,1,96\n");
  assert_status("berth report $dir/two.csv $dir/one.csv -o $dir/both.html --json", 0);
  assert_says(out, "\"after\": {");
  const char *html = read_output("both.html");
  assert_says(html, "only_here");
  assert_says(html, "high");
}

static void a_streamed_plan_is_shown_as_plan_plans_it(void **state) {
  (void)state;
  assert_status("berth plan models/mobilenet_v1_0.25_96_int8.tflite --stream max --svg $dir/a.svg "
                ">$dir/said && berth report models/mobilenet_v1_0.25_96_int8.tflite --stream max "
                "--svg $dir/b.svg -o $dir/stream.html && cmp $dir/a.svg $dir/b.svg",
                0);
  assert_says(read_output("stream.html"), "stream");
  const char *svg = read_output("a.svg");
  assert_true(count_of(svg, "class=\"run\"") > 0);
  assert_true(count_of(svg, "class=\"ring\"") > 0);
  assert_says(svg, "shaded: row by row, lined: a ring of rows; striped: shared bytes; ");
}

static void other_ways_to_plan_are_drawn_as_plan_plans_them(void **state) {
  (void)state;
  assert_status(
      "for o in '--overlap inplace' '--overlap diagonal' '--order best' --drop-unused; do "
      "berth plan models/detector_two_outputs_int8.tflite $o --svg $dir/a.svg >$dir/said && "
      "berth report models/detector_two_outputs_int8.tflite $o --svg $dir/b.svg "
      "-o $dir/o.html && cmp $dir/a.svg $dir/b.svg || exit 1; done",
      0);
}

static void a_saved_plan_is_drawn_as_it_was(void **state) {
  (void)state;
  /* Same rectangles as those of the model's own plan, with one region and with two. */
  static const char *const regions[] = {"", "--region sram=32K@1 --region psram=8M@10"};
  for (size_t i = 0; i < 2; i++) {
    char command[1024];
    snprintf(command, sizeof command,
             "berth plan models/resnet8_int8.tflite --like tflm --planner best %s "
             "-o $dir/saved.json --svg $dir/a.svg >$dir/said && "
             "berth report $dir/saved.json --svg $dir/b.svg && "
             "for f in a b; do grep -o '<rect x[^>]*>' $dir/$f.svg >$dir/$f.rects; done && "
             "test $(wc -l <$dir/a.rects) -gt 17 && cmp $dir/a.rects $dir/b.rects",
             regions[i]);
    assert_status(command, 0);
  }
  assert_status("berth report $dir/saved.json models/resnet8_int8.tflite -o $dir/both.html", 0);
  assert_says(read_output("both.html"), "stage1/conv2");
}

static void a_file_that_is_no_saved_plan_is_refused(void **state) {
  (void)state;
  static const char head[] =
      "{\"planner\": \"best\", \"peak_bytes\": 8, \"steps\": 2, \"buffers\": [";
  static const char *const bad[][3] = {
      {"", "", "saved.json: the file is empty"},
      {"{", "", "saved.json:1: it ends too early"},
      {"{\"planner\": \"best\"}", "", "there is no plan in it"},
      {"{\n\"peak_bytes\": 8,}", "", "saved.json:2: "},
      {head, "{\"size\": -1}]}", "a bad size"},
      {head, "{\"size\": 8, \"first\": 0, \"last\": 2}]}", "buffer 0 lives in steps"},
      {head, "{\"size\": 8}]}", "buffer 0 lives in steps"},
      {head, "{\"size\": 8, \"offset\": \"x\"}]}", "a bad offset"},
      {head, "{\"size\": 8, \"kind\": \"sofa\"}]}", "an unknown kind"},
      {head,
       "{\"size\": 9000000000000000000, \"first\": 0, \"last\": 0, \"offset\": "
       "9000000000000000000}]}",
       "too large"},
      {head, "{\"size\": 8}", "it ends too early"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[512];
    snprintf(text, sizeof text, "%s%s", bad[i][0], bad[i][1]);
    write_file("saved.json", text);
    assert_refused("berth report $dir/saved.json -o $dir/no.html", 1, bad[i][2]);
  }
  assert_status("test -e $dir/no.html", 1);
}

static void png_is_the_picture_drawn_by_rsvg_convert(void **state) {
  (void)state;
  write_file("two.csv", two_buffers);
  /* Another program of that name shows what it is given. */
  assert_status("mkdir $dir/bin && printf '#!/bin/sh\\ncat\\n' >$dir/bin/rsvg-convert && "
                "chmod +x $dir/bin/rsvg-convert && PATH=$dir/bin:$PATH && "
                "berth plan $dir/two.csv --png $dir/map.png --svg $dir/map.svg && "
                "cmp $dir/map.png $dir/map.svg",
                0);
  assert_refused("printf '#!/bin/sh\\nexit 3\\n' >$dir/bin/rsvg-convert && PATH=$dir/bin:$PATH && "
                 "berth plan $dir/two.csv --png $dir/bad.png",
                 1, "failed with status 3");
  assert_refused("PATH=/nowhere; berth plan $dir/two.csv --png $dir/bad.png", 1, "librsvg2-bin");
  assert_status("test -e $dir/bad.png", 1);
}

static void wrong_usage_and_bad_input_leave_no_file(void **state) {
  (void)state;
  assert_refused("berth report models/resnet8_int8.tflite", 2, "-o FILE.html");
  assert_refused("berth report models/resnet8_int8.tflite -o page.txt", 2, "page.txt");
  assert_refused("berth report models/resnet8_int8.tflite --svg page.txt", 2, "page.txt");
  assert_refused("berth report a b c -o $dir/no.html", 2, "c");
  assert_refused("berth report a --planner all -o $dir/no.html", 2, "one planner");
  assert_refused("berth report $dir/missing.tflite -o $dir/no.html", 1, "missing.tflite");
  assert_refused("berth report models/resnet8_int8.tflite $dir/missing.tflite -o $dir/no.html", 1,
                 "missing.tflite");
  assert_refused("berth report models/resnet8_int8.tflite -o $dir/none/no.html", 1, "none/no.html");
  assert_refused("(trap '' XFSZ; ulimit -f 1; berth report models/resnet8_int8.tflite "
                 "-o $dir/no.html)",
                 1, "no.html");
  assert_status("ls $dir | grep no.html", 1);
}

static void where_nothing_fits_there_is_nothing_to_draw(void **state) {
  (void)state;
  write_file("two.csv", two_buffers);
  assert_refused("berth report $dir/two.csv --region sram=100 -o $dir/tight.html", 3,
                 "proven that no plan fits");
  assert_status("test -e $dir/tight.html", 1);
}

static void a_model_that_needs_no_memory_has_a_page_all_the_same(void **state) {
  (void)state;
  write_file("empty.csv", "id,lower,upper,size\nnothing,0,1,0\n");
  assert_status("berth report $dir/empty.csv -o $dir/empty.html --svg $dir/empty.svg", 0);
  assert_says(read_output("empty.svg"), "peak 0 B");
}

/* What is shown as it is would not become another plan; along with a model, that one is streamed.
 */
static void a_saved_plan_or_a_problem_is_not_streamed(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite -o $dir/p.json >/dev/null && "
                "printf 'id,lower,upper,size\\nx,0,2,10\\n' >$dir/p.csv",
                0);
  assert_refused("berth report $dir/p.json --stream max -o $dir/x.html", 1, "shown as it is");
  assert_refused("berth report $dir/p.json $dir/p.json --stream max -o $dir/x.html", 1,
                 "shown as it is");
  assert_refused("berth report $dir/p.csv --stream max -o $dir/x.html", 1, "p.csv: ");
  assert_status("berth report $dir/p.json models/resnet8_int8.tflite --stream max --svg $dir/x.svg",
                0);
}

/* Also for the plan that the device's memory is told by: it is no smaller than the one shown. */
static void a_work_limit_is_for_all_that_is_planned(void **state) {
  (void)state;
  assert_status("berth report --stream max --work-limit 1000 "
                "models/mobilenet_v1_0.25_96_int8.tflite -o $dir/x.html --json",
                0);
  assert_says(out, "\"block_rows\"");
  assert_status("grep -o '\"beside_peak_bytes\": [0-9]' $dir/x.html", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_map_shows_each_buffer_at_its_time_and_address),
      cmocka_unit_test(bytes_that_two_buffers_share_are_striped),
      cmocka_unit_test(no_two_addresses_of_the_axis_are_alike),
      cmocka_unit_test(operators_are_named_in_the_order_of_execution),
      cmocka_unit_test(a_file_that_cannot_be_written_leaves_none_behind),
      cmocka_unit_test(the_picture_in_the_readme_is_what_the_program_draws),
      cmocka_unit_test(the_map_of_a_model_names_tensors_operators_and_classes),
      cmocka_unit_test(each_region_has_a_map_of_its_own),
      cmocka_unit_test(names_cannot_break_out_of_page_or_picture),
      cmocka_unit_test(the_page_says_what_it_is_about_and_json_says_what_was_written),
      cmocka_unit_test(two_files_make_one_page_before_and_after),
      cmocka_unit_test(a_streamed_plan_is_shown_as_plan_plans_it),
      cmocka_unit_test(other_ways_to_plan_are_drawn_as_plan_plans_them),
      cmocka_unit_test(a_saved_plan_is_drawn_as_it_was),
      cmocka_unit_test(a_file_that_is_no_saved_plan_is_refused),
      cmocka_unit_test(png_is_the_picture_drawn_by_rsvg_convert),
      cmocka_unit_test(wrong_usage_and_bad_input_leave_no_file),
      cmocka_unit_test(where_nothing_fits_there_is_nothing_to_draw),
      cmocka_unit_test(a_model_that_needs_no_memory_has_a_page_all_the_same),
      cmocka_unit_test(a_saved_plan_or_a_problem_is_not_streamed),
      cmocka_unit_test(a_work_limit_is_for_all_that_is_planned),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
