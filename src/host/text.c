/* Numbers and names as people read them. Names come from files: they may be long, hold control
 * characters, or not be UTF-8 at all, and must not disturb the terminal. */
#include "host/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

berth_short_t berth_grouped(uint64_t number) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
  berth_short_t out;
  size_t used = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) out.text[used++] = ',';
    out.text[used++] = digits[i];
  }
  out.text[used] = '\0';
  return out;
}

berth_short_t berth_human_bytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  berth_short_t out;
  if (bytes < 1024) {
    snprintf(out.text, sizeof out.text, "%" PRIu64 " B", bytes);
    return out;
  }
  double value = (double)bytes;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
    value /= 1024;
    unit++;
  }
  snprintf(out.text, sizeof out.text, "%.1f %s", value, units[unit]);
  return out;
}

berth_short_t berth_percent(uint64_t part, uint64_t whole) {
  berth_short_t out;
  double value = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
  snprintf(out.text, sizeof out.text, "%.1f %%", value);
  return out;
}

size_t berth_utf8_length(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  if (length == 0) return 0;
  if (bytes[0] < 0x80) return 1;
  size_t count = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
  if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || count > length) return 0;
  for (size_t i = 1; i < count; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return 0;
  }
  /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
  if (bytes[0] == 0xe0 && bytes[1] < 0xa0) return 0;
  if (bytes[0] == 0xed && bytes[1] > 0x9f) return 0;
  if (bytes[0] == 0xf0 && bytes[1] < 0x90) return 0;
  if (bytes[0] == 0xf4 && bytes[1] > 0x8f) return 0;
  return count;
}

size_t berth_text_columns(const char *text) {
  size_t columns = 0;
  for (; *text != '\0'; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
  return columns;
}

/* Is the character at `text` one that would move the cursor: C0, DEL or C1 (U+0080 to U+009F)? */
static int is_control(const char *text, size_t length) {
  unsigned char first = (unsigned char)text[0];
  return first < 0x20 || first == 0x7f ||
         (length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

char *berth_printable(const char *name, size_t length, size_t columns, char *out, size_t size) {
  size_t total = 0;
  for (size_t i = 0; i < length; total++) {
    size_t step = berth_utf8_length(name + i, length - i);
    i += step > 0 ? step : 1;
  }
  size_t head = total, tail = 0;
  if (total > columns) {
    tail = columns > 3 ? (columns - 3 + 1) / 2 : 0;
    head = columns > 3 ? columns - 3 - tail : 0;
  }

  size_t used = 0, at = 0;
  for (size_t i = 0; i < length && used + 5 <= size; at++) {
    size_t step = berth_utf8_length(name + i, length - i);
    size_t bytes = step > 0 ? step : 1;
    if (total > columns && at == head) {
      size_t dots = columns > 3 ? 3 : columns;
      if (used + dots + 5 > size) break;
      memcpy(out + used, "...", dots);
      used += dots;
    }
    if (at < head || at >= total - tail) {
      if (step == 0 || is_control(name + i, step)) {
        out[used++] = '?';
      } else {
        memcpy(out + used, name + i, step);
        used += step;
      }
    }
    i += bytes;
  }
  out[used] = '\0';
  return out;
}
