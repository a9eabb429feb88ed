/* Tables for people. The cells are kept until all are known, since only then the widths are. */
#include "host/table.h"
#include "host/text.h"

#include <stdarg.h>
#include <stdlib.h>

berth_text_table_t berth_text_table(const char *const *headings, const char *sides) {
  berth_text_table_t table = {headings, sides, 0, NULL, 0, 0, false};
  while (headings[table.columns] != NULL) table.columns++;
  return table;
}

void berth_text_table_cell(berth_text_table_t *table, const char *format, ...) {
  if (table->failed) return;
  if (table->count == table->room) {
    size_t room = table->room > 0 ? 2 * table->room : 64;
    char **cells = realloc(table->cells, room * sizeof *cells);
    if (cells == NULL) {
      table->failed = true;
      return;
    }
    table->cells = cells;
    table->room = room;
  }
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *cell = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (cell == NULL) {
    table->failed = true;
    return;
  }
  va_start(arguments, format);
  vsnprintf(cell, (size_t)length + 1, format, arguments);
  va_end(arguments);
  table->cells[table->count++] = cell;
}

/* Nothing is padded on the right of a row's last cell. */
static void print_row(const berth_text_table_t *table, const char *const *cells,
                      const size_t *widths, int indent, FILE *stream) {
  size_t last = table->columns;
  while (last > 0 && cells[last - 1][0] == '\0') last--;
  if (last > 0) fprintf(stream, "%*s", indent, "");
  for (size_t c = 0; c < last; c++) {
    int padding = (int)(widths[c] - berth_text_columns(cells[c]));
    bool right = table->sides[c] == 'r';
    if (right) fprintf(stream, "%*s", padding, "");
    fputs(cells[c], stream);
    if (c + 1 < last) fprintf(stream, "%*s", right ? 2 : padding + 2, "");
  }
  fputc('\n', stream);
}

bool berth_text_table_print(berth_text_table_t *table, int indent, FILE *stream) {
  size_t widths[BERTH_TEXT_TABLE_COLUMNS];
  if (table->columns == 0) return true;
  for (size_t c = 0; c < table->columns; c++) widths[c] = berth_text_columns(table->headings[c]);
  for (size_t i = 0; i < table->count; i++) {
    size_t width = berth_text_columns(table->cells[i]);
    if (width > widths[i % table->columns]) widths[i % table->columns] = width;
  }
  print_row(table, table->headings, widths, indent, stream);
  for (size_t i = 0; i + table->columns <= table->count; i += table->columns) {
    print_row(table, (const char *const *)&table->cells[i], widths, indent, stream);
  }
  for (size_t i = 0; i < table->count; i++) free(table->cells[i]);
  free(table->cells);
  bool good = !table->failed;
  *table = berth_text_table(table->headings, table->sides);
  return good;
}
