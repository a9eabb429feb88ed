/* A model's history for people: its lines, then a little curve for each figure that was noted at
 * least twice. A curve reaches from the lowest value to the highest, so that it shows small changes
 * too; both stand beside it. */
#include "host/history.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 8u /* heights in a curve */

uint32_t berth_history_count(const berth_history_t *history, const char *model) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < history->count; i++) {
    count += strcmp(history->lines[i].model, model) == 0;
  }
  return count;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool print_lines(const berth_history_t *history, const char *model, FILE *stream) {
  static const char *const headings[] = {"date",        "label", "peak bytes", "change",
                                         "arena bytes", "ms",    "accuracy",   NULL};
  berth_text_table_t table = berth_text_table(headings, "llrrrrr");
  uint64_t before = 0;
  bool first = true;
  for (uint32_t i = 0; i < history->count; i++) {
    const berth_history_line_t *line = &history->lines[i];
    char date[48], label[96], accuracy[96];
    if (strcmp(line->model, model) != 0) continue;
    uint64_t change = line->peak > before ? line->peak - before : before - line->peak;
    berth_text_table_cell(
        &table, "%s", berth_printable(line->date, strnlen(line->date, 10), 10, date, sizeof date));
    berth_text_table_cell(
        &table, "%s", berth_printable(line->label, strlen(line->label), 20, label, sizeof label));
    berth_text_table_cell(&table, "%s", berth_grouped(line->peak).text);
    berth_text_table_cell(&table, "%s%s",
                          first || change == 0  ? ""
                          : line->peak > before ? "+"
                                                : "-",
                          first || change == 0 ? "" : berth_grouped(change).text);
    berth_text_table_cell(&table, "%s", line->arena > 0 ? berth_grouped(line->arena).text : "-");
    if (line->latency_ns > 0) {
      berth_text_table_cell(&table, "%.3f", (double)line->latency_ns / 1e6);
    } else {
      berth_text_table_cell(&table, "-");
    }
    berth_text_table_cell(
        &table, "%s",
        berth_printable(line->accuracy, strlen(line->accuracy), 20, accuracy, sizeof accuracy));
    before = line->peak;
    first = false;
  }
  return berth_text_table_print(&table, 0, stream);
}

/* ---- Trends ---------------------------------------------------------------------------------- */

typedef enum figure { PEAK, ARENA, LATENCY, ACCURACY, FIGURES } figure_t;

/* A figure of a line; false if it was not noted. */
static bool value_of(const berth_history_line_t *line, figure_t figure, double *value) {
  char *end;
  switch (figure) {
  case PEAK:
    *value = (double)line->peak;
    return true;
  case ARENA:
    *value = (double)line->arena;
    return line->arena > 0;
  case LATENCY:
    *value = (double)line->latency_ns / 1e6;
    return line->latency_ns > 0;
  default:
    *value = strtod(line->accuracy, &end);
    return end != line->accuracy && *end == '\0' && *value - *value == 0; /* finite */
  }
}

static void number(berth_text_table_t *table, figure_t figure, double value) {
  if (figure == PEAK || figure == ARENA) {
    berth_text_table_cell(table, "%s", berth_grouped((uint64_t)value).text);
  } else {
    berth_text_table_cell(table, figure == LATENCY ? "%.3f" : "%.6g", value);
  }
}

typedef struct trend {
  double first, last, least, most;
  uint32_t count;
} trend_t;

static trend_t trend_of(const berth_history_t *history, const char *model, figure_t figure) {
  trend_t trend = {0, 0, 0, 0, 0};
  for (uint32_t i = 0; i < history->count; i++) {
    double value;
    if (strcmp(history->lines[i].model, model) != 0) continue;
    if (!value_of(&history->lines[i], figure, &value)) continue;
    if (trend.count++ == 0) trend.first = trend.least = trend.most = value;
    if (value < trend.least) trend.least = value;
    if (value > trend.most) trend.most = value;
    trend.last = value;
  }
  return trend;
}

/* One character for each of the last lines, as many as `room`; a gap where nothing was noted. */
static void draw(const berth_history_t *history, const char *model, figure_t figure,
                 const trend_t *trend, uint32_t room, bool utf8, char *out) {
  static const char *const blocks[LEVELS] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                             "\u2585", "\u2586", "\u2587", "\u2588"};
  static const char *const plain[LEVELS] = {"_", ".", "-", "~", "=", "+", "*", "#"};
  uint32_t lines = berth_history_count(history, model), at = 0;
  double range = trend->most - trend->least;
  *out = '\0';
  for (uint32_t i = 0; i < history->count; i++) {
    double value;
    if (strcmp(history->lines[i].model, model) != 0) continue;
    if (at++ + room < lines) continue;
    const char *mark = " ";
    if (value_of(&history->lines[i], figure, &value)) {
      double share = range > 0 ? (value - trend->least) / range : 0.5;
      uint32_t level = (uint32_t)(share * (LEVELS - 1) + 0.5);
      mark = (utf8 ? blocks : plain)[level < LEVELS ? level : LEVELS - 1];
    }
    out += strlen(strcpy(out, mark));
  }
}

static bool print_trends(const berth_history_t *history, const char *model,
                         berth_terminal_t terminal, FILE *stream) {
  static const char *const headings[] = {"trend", "lowest", "",       "highest",
                                         "first", "last",   "change", NULL};
  static const char *const names[FIGURES] = {"peak bytes", "arena bytes", "ms", "accuracy"};
  berth_text_table_t table = berth_text_table(headings, "lrlrrrr");
  uint32_t room = terminal.columns > 90 ? terminal.columns - 70 : 20;
  char *curve = malloc((size_t)room * 4 + 1);
  if (curve == NULL) return false;
  for (int figure = 0; figure < FIGURES; figure++) {
    trend_t trend = trend_of(history, model, (figure_t)figure);
    if (trend.count < 2) continue;
    draw(history, model, (figure_t)figure, &trend, room, terminal.utf8, curve);
    berth_text_table_cell(&table, "%s", names[figure]);
    number(&table, (figure_t)figure, trend.least);
    berth_text_table_cell(&table, "%s", curve);
    number(&table, (figure_t)figure, trend.most);
    number(&table, (figure_t)figure, trend.first);
    number(&table, (figure_t)figure, trend.last);
    double change = trend.first > 0 ? 100 * (trend.last - trend.first) / trend.first : 0;
    berth_text_table_cell(&table, trend.first > 0 ? "%+.1f %%" : "-", change);
  }
  free(curve);
  fputc('\n', stream);
  return berth_text_table_print(&table, 0, stream);
}

bool berth_history_print(const berth_history_t *history, const char *model,
                         berth_terminal_t terminal, FILE *stream) {
  bool good = print_lines(history, model, stream);
  if (berth_history_count(history, model) < 2) return good;
  return print_trends(history, model, terminal, stream) && good;
}
