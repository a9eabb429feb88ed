/* Text from models inside SVG and HTML. A name may hold markup, control characters, or characters
 * that turn the direction of the text around them: none of it may reach beyond the name. */
#include "host/xml.h"
#include "host/text.h"

#include <string.h>

#define ROOM 2048 /* bytes of one name; the rest would be nobody's to read */

/* Is the UTF-8 sequence at `c` one of U+FFFE and U+FFFF, which XML 1.0 forbids, or a mark of the
 * bidirectional algorithm (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069)? */
static int is_unwanted(const unsigned char *c, size_t bytes) {
  if (bytes != 3) return 0;
  if (c[0] == 0xef && c[1] == 0xbf) return c[2] >= 0xbe;
  if (c[0] != 0xe2) return 0;
  if (c[1] == 0x80) return c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae);
  return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
}

void berth_xml_text(const char *text, size_t length, size_t columns, FILE *stream) {
  char printable[ROOM];
  berth_printable(text, length, columns < ROOM / 4 ? columns : ROOM / 4, printable,
                  sizeof printable);
  size_t left = strlen(printable);
  for (const char *at = printable; left > 0;) {
    size_t bytes = berth_utf8_length(at, left);
    if (bytes == 0) bytes = 1;
    switch (*at) {
    case '&':
      fputs("&amp;", stream);
      break;
    case '<':
      fputs("&lt;", stream);
      break;
    case '>':
      fputs("&gt;", stream);
      break;
    case '"':
      fputs("&quot;", stream);
      break;
    default:
      if (is_unwanted((const unsigned char *)at, bytes)) {
        fputc('?', stream);
      } else {
        fwrite(at, 1, bytes, stream);
      }
    }
    at += bytes;
    left -= bytes;
  }
}
