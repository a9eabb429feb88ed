/* Numbers, names, CSV and JSON as people and programs read them. */
#include "test.h"

#include "host/csv.h"
#include "host/json.h"
#include "host/table.h"
#include "host/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void numbers_are_grouped_and_rounded_for_people(void **state) {
  (void)state;
  assert_string_equal(berth_grouped(0).text, "0");
  assert_string_equal(berth_grouped(999).text, "999");
  assert_string_equal(berth_grouped(1404928).text, "1,404,928");
  assert_string_equal(berth_grouped(UINT64_MAX).text, "18,446,744,073,709,551,615");
  assert_string_equal(berth_human_bytes(1023).text, "1023 B");
  assert_string_equal(berth_human_bytes(55296).text, "54.0 KiB");
  assert_string_equal(berth_human_bytes(1048575).text, "1.0 MiB");
  assert_string_equal(berth_human_bytes(UINT64_MAX).text, "16.0 EiB");
  assert_string_equal(berth_percent(2, 3).text, "66.7 %");
  assert_string_equal(berth_percent(0, 0).text, "0.0 %");
}

static const char *printable(const char *name, size_t columns) {
  static char out[64];
  return berth_printable(name, strlen(name), columns, out, sizeof out);
}

static void names_are_shortened_in_the_middle_and_never_disturb_the_terminal(void **state) {
  (void)state;
  assert_string_equal(printable("conv1/Relu6", 20), "conv1/Relu6");
  assert_string_equal(printable("model/block_12/depthwise", 11), "mode...wise");
  assert_string_equal(printable("abcdef", 5), "a...f");
  assert_string_equal(printable("\033[31mred\n", 20), "?[31mred?");
  assert_string_equal(printable("\xc2\x9b"
                                "31m",
                                20),
                      "?31m"); /* CSI in one character */
  assert_string_equal(printable("gr\xc3\xb6\xc3\x9f"
                                "e",
                                20),
                      "gr\xc3\xb6\xc3\x9f"
                      "e");
  assert_string_equal(printable("\xff\xc3", 20), "??");
  assert_string_equal(printable("\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", 5),
                      "\xc3\xb6...\xc3\xb6");
  assert_int_equal(berth_text_columns("gr\xc3\xb6\xc3\x9f"
                                      "e"),
                   5);

  char small[8]; /* what does not fit is cut at a whole character */
  berth_printable("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, 20, small, sizeof small);
  assert_string_equal(small, "\xe2\x82\xac\xe2\x82\xac");
}

static void csv_knows_quotes_line_ends_and_what_is_wrong(void **state) {
  (void)state;
  const char *text = "\xef\xbb\xbf"
                     "a, b ,\"c,\"\"d\"\"\n\"\r\n\n1,2\n,\"x\"";
  berth_csv_t csv = berth_csv_over(text, strlen(text));
  berth_csv_field_t fields[4];
  size_t count;
  char copy[16];
  assert_int_equal(berth_csv_row(&csv, fields, 4, &count), BERTH_CSV_ROW);
  assert_int_equal(count, 3);
  assert_true(berth_csv_is(fields[0], "a") && berth_csv_is(fields[1], "b"));
  assert_int_equal(berth_csv_copy(fields[2], copy), 6);
  assert_string_equal(copy, "c,\"d\"\n");
  assert_int_equal(berth_csv_row(&csv, fields, 4, &count), BERTH_CSV_ROW);
  assert_int_equal(csv.line, 4); /* the quoted field holds a line end, and a line is empty */
  uint64_t number;
  assert_true(berth_csv_number(fields[1], &number) && number == 2);
  assert_int_equal(berth_csv_row(&csv, fields, 1, &count), BERTH_CSV_ROW);
  assert_int_equal(count, 2); /* one more than fits */
  assert_false(berth_csv_number(fields[0], &number));
  assert_int_equal(berth_csv_row(&csv, fields, 4, &count), BERTH_CSV_END);

  csv = berth_csv_over("\"open", 5);
  assert_int_equal(berth_csv_row(&csv, fields, 4, &count), BERTH_CSV_FAULT);
  csv = berth_csv_over("", 0);
  assert_int_equal(berth_csv_row(&csv, fields, 4, &count), BERTH_CSV_END);
}

/* What a writer writes into a stream. */
static const char *written(void (*write)(FILE *stream)) {
  static char text[512];
  FILE *file = tmpfile();
  assert_non_null(file);
  write(file);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void write_csv_fields(FILE *stream) {
  static const char *const fields[] = {"plain", "a,b", "say \"x\"", " edge", "", "two\nlines"};
  for (size_t i = 0; i < 6; i++) {
    berth_csv_write(stream, fields[i], strlen(fields[i]));
    fputc('|', stream);
  }
}

static void csv_is_written_with_quotes_where_they_are_needed(void **state) {
  (void)state;
  assert_string_equal(written(write_csv_fields),
                      "plain|\"a,b\"|\"say \"\"x\"\"\"|\" edge\"||\"two\nlines\"|");
}

static void write_json(FILE *stream) {
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "n", UINT64_MAX);
  berth_json_text(&json, "t", "q\"\\\n\x01\xff\xc3\xb6", 8);
  berth_json_open(&json, "list", '[');
  berth_json_open_line(&json, NULL, '{');
  berth_json_bool(&json, "b", true);
  berth_json_null(&json, "z");
  berth_json_open(&json, "in", '[');
  berth_json_signed(&json, NULL, -1);
  berth_json_number(&json, NULL, 2);
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
  berth_json_close(&json, ']');
  berth_json_open(&json, "none", '[');
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}

static void json_is_escaped_indented_and_ends_with_a_line_end(void **state) {
  (void)state;
  assert_string_equal(written(write_json), "{\n  \"n\": 18446744073709551615,\n"
                                           "  \"t\": \"q\\\"\\\\\\u000a\\u0001\\ufffd\xc3\xb6\",\n"
                                           "  \"list\": [\n"
                                           "    {\"b\": true, \"z\": null, \"in\": [-1, 2]}\n"
                                           "  ],\n"
                                           "  \"none\": []\n}\n");
}

static void write_text_table(FILE *stream) {
  static const char *const headings[] = {"name", "bytes", "", NULL};
  berth_text_table_t table = berth_text_table(headings, "lrl");
  static const char *const cells[] = {"\xc3\xb6", "1,000", "x", "long name", "5", ""};
  for (size_t i = 0; i < 6; i++) berth_text_table_cell(&table, "%s", cells[i]);
  assert_true(berth_text_table_print(&table, 1, stream));
}

static void tables_align_numbers_to_the_right_and_leave_no_trailing_blanks(void **state) {
  (void)state;
  assert_string_equal(written(write_text_table), " name       bytes\n"
                                                 " \xc3\xb6          1,000  x\n"
                                                 " long name      5\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_grouped_and_rounded_for_people),
      cmocka_unit_test(names_are_shortened_in_the_middle_and_never_disturb_the_terminal),
      cmocka_unit_test(csv_knows_quotes_line_ends_and_what_is_wrong),
      cmocka_unit_test(csv_is_written_with_quotes_where_they_are_needed),
      cmocka_unit_test(json_is_escaped_indented_and_ends_with_a_line_end),
      cmocka_unit_test(tables_align_numbers_to_the_right_and_leave_no_trailing_blanks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
