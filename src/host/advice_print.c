/* Advice for people and as JSON. */
#include "host/advice.h"
#include "host/json.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>

bool berth_advices_print(const berth_advices_t *advices, uint64_t peak, FILE *stream) {
  static const char *const headings[] = {"saves", "share", "peak then", "what to change", NULL};
  if (advices->count == 0) {
    fputs("\nNothing that was tried lowers the peak.\n", stream);
    return true;
  }
  fputs("\nWhat would lower the peak (each planned; the options show it with berth plan):\n",
        stream);
  berth_text_table_t table = berth_text_table(headings, "rrrl");
  for (uint32_t i = 0; i < advices->count; i++) {
    const berth_advice_t *line = &advices->lines[i];
    bool saves = line->saved > 0;
    uint64_t bytes = saves ? (uint64_t)line->saved : (uint64_t)-line->saved;
    berth_text_table_cell(&table, "%s%s", line->saved < 0 ? "-" : "", berth_grouped(bytes).text);
    berth_text_table_cell(&table, "%s%s", line->saved < 0 ? "-" : "",
                          berth_percent(bytes, peak).text);
    berth_text_table_cell(&table, "%s", berth_grouped(line->peak).text);
    berth_text_table_cell(&table, "%s", line->what);
    bool tried = line->options[0] != '\0', limited = line->limit[0] != '\0';
    if (!tried && !limited) continue;
    for (int c = 0; c < 3; c++) berth_text_table_cell(&table, "%s", "");
    berth_text_table_cell(&table, "  %s%s%s%s", line->options, tried && limited ? "; " : "",
                          limited ? "then the limit is " : "", line->limit);
  }
  return berth_text_table_print(&table, 2, stream);
}

void berth_advices_json(const berth_advices_t *advices, berth_json_t *json) {
  berth_json_open(json, "advice", '[');
  for (uint32_t i = 0; i < advices->count; i++) {
    const berth_advice_t *line = &advices->lines[i];
    berth_json_open_line(json, NULL, '{');
    berth_json_string(json, "topic", line->topic);
    berth_json_string(json, "what", line->what);
    berth_json_string(json, "options", line->options);
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
