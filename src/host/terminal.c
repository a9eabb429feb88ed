/* What the terminal can show, by the conventions of COLUMNS, NO_COLOR (no-color.org), TERM and the
 * locale's variables. Without any locale set, UTF-8 is assumed: that is the bare container. */
#include "host/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static uint32_t width(void) {
  const char *columns = getenv("COLUMNS");
  unsigned long value = columns != NULL ? strtoul(columns, NULL, 10) : 0;
  if (value == 0) {
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) value = window.ws_col;
  }
  if (value == 0) value = 80;
  if (value < 40) value = 40;
  if (value > 1000) value = 1000;
  return (uint32_t)value;
}

static const char *first_set(const char *const *names) {
  for (; *names != NULL; names++) {
    const char *value = getenv(*names);
    if (value != NULL && value[0] != '\0') return value;
  }
  return NULL;
}

static bool speaks_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG", NULL};
  const char *locale = first_set(names);
  return locale == NULL || strstr(locale, "UTF-8") != NULL || strstr(locale, "utf8") != NULL ||
         strstr(locale, "UTF8") != NULL || strstr(locale, "utf-8") != NULL;
}

berth_terminal_t berth_terminal_of_stdout(void) {
  const char *refused = getenv("NO_COLOR");
  const char *kind = getenv("TERM");
  berth_terminal_t terminal;
  terminal.columns = width();
  terminal.colour = isatty(STDOUT_FILENO) && (refused == NULL || refused[0] == '\0') &&
                    kind != NULL && strcmp(kind, "dumb") != 0;
  terminal.utf8 = speaks_utf8();
  return terminal;
}
