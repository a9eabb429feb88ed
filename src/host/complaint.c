/* Error messages. They quote names from files, which may hold anything: a line stays one line, and
 * a terminal gets no control characters. */
#include "host/complaint.h"

#include <stdarg.h>
#include <stdio.h>

void berth_complain(berth_complaint_t *complaint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(complaint->text, sizeof complaint->text, format, arguments);
  va_end(arguments);
  for (char *c = complaint->text; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
}
