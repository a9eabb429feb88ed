/* Error messages. They quote names from files, which may hold anything: a line stays one line, and
 * a terminal gets no control characters. */
#include "host/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is too long loses its middle: it ends with the reason, and that stays. */
static void shorten(const char *whole, size_t length, char *text, size_t size) {
  static const char gap[] = " ... ";
  size_t head = size / 2, tail = size - 1 - head - (sizeof gap - 1);
  const char *end = whole + length - tail;
  while (head > 0 && ((unsigned char)whole[head] & 0xc0) == 0x80) head--; /* whole characters */
  while (((unsigned char)*end & 0xc0) == 0x80) end++;
  snprintf(text, size, "%.*s%s%s", (int)head, whole, gap, end);
}

void berth_complain(berth_complaint_t *complaint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(complaint->text, sizeof complaint->text, format, arguments);
  va_end(arguments);
  size_t needed = length > 0 ? (size_t)length + 1 : 0;
  char *whole = needed > sizeof complaint->text ? malloc(needed) : NULL;
  if (whole != NULL) {
    va_start(arguments, format);
    vsnprintf(whole, needed, format, arguments);
    va_end(arguments);
    shorten(whole, needed - 1, complaint->text, sizeof complaint->text);
    free(whole);
  }
  for (char *c = complaint->text; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
}
