/* Advice for people and as JSON. */
#include "host/advice.h"
#include "host/json.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>

/* Under the column of what to change. */
static void under(berth_text_table_t *table, const char *indent, const char *text) {
  for (int c = 0; c < 3; c++) berth_text_table_cell(table, "%s", "");
  berth_text_table_cell(table, "%s%s", indent, text);
}

static void print_left_out(const berth_advices_t *advices, FILE *stream) {
  if (advices->left_out != NULL) fprintf(stream, "Not tried: %s.\n", advices->left_out);
}

bool berth_advices_print(const berth_advices_t *advices, uint64_t peak, FILE *stream) {
  static const char *const headings[] = {"saves", "share", "peak then", "what to change", NULL};
  static const char *const kinds[] = {
      "The same model with the same results:", "The same network with other inputs or outputs:",
      "Another network, to be trained or tested anew:"};
  if (advices->count == 0) {
    fputs("\nNothing that was tried lowers the peak.\n", stream);
    print_left_out(advices, stream);
    return true;
  }
  fputs("\nWhat would lower the peak (each planned; the command shows it):\n", stream);
  berth_text_table_t table = berth_text_table(headings, "rrrl");
  for (uint32_t i = 0; i < advices->count; i++) {
    const berth_advice_t *line = &advices->lines[i];
    bool saves = line->saved > 0;
    uint64_t bytes = saves ? (uint64_t)line->saved : (uint64_t)-line->saved;
    if (i == 0 || line->kind != advices->lines[i - 1].kind) under(&table, "", kinds[line->kind]);
    berth_text_table_cell(&table, "%s%s", line->saved < 0 ? "-" : "", berth_grouped(bytes).text);
    berth_text_table_cell(&table, "%s%s", line->saved < 0 ? "-" : "",
                          berth_percent(bytes, peak).text);
    berth_text_table_cell(&table, "%s", berth_grouped(line->peak).text);
    berth_text_table_cell(&table, "- %s%s%s", line->what,
                          line->limit[0] != '\0' ? "; then the limit is " : "", line->limit);
    under(&table, "  ", line->command);
  }
  bool good = berth_text_table_print(&table, 2, stream);
  print_left_out(advices, stream);
  return good;
}

void berth_advices_json(const berth_advices_t *advices, berth_json_t *json) {
  berth_json_open(json, "advice", '[');
  for (uint32_t i = 0; i < advices->count; i++) {
    const berth_advice_t *line = &advices->lines[i];
    berth_json_open_line(json, NULL, '{');
    berth_json_string(json, "topic", line->topic);
    berth_json_string(json, "kind", berth_advice_kind_name(line->kind));
    berth_json_string(json, "what", line->what);
    berth_json_string(json, "options", line->options);
    berth_json_string(json, "command", line->command);
    berth_json_signed(json, "saved_bytes", line->saved);
    berth_json_number(json, "peak_bytes", line->peak);
    berth_json_bool(json, "optimal", line->optimal);
    if (line->has_limit) {
      berth_json_number(json, "limit_step", line->limit_step);
      berth_json_string(json, "limit", line->limit);
    } else {
      berth_json_null(json, "limit_step");
      berth_json_null(json, "limit");
    }
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}
