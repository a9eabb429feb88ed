/* Text from models inside SVG and HTML. */
#ifndef BERTH_SRC_HOST_XML_H
#define BERTH_SRC_HOST_XML_H

#include <stddef.h>
#include <stdio.h>

/* Writes `length` bytes of a name as XML or HTML character data, also between double quotes: at
 * most `columns` characters (berth_printable says what is left out), `&`, `<`, `>` and quotes as
 * entities, and "?" for what XML has no characters for or what would turn the reading direction. */
void berth_xml_text(const char *text, size_t length, size_t columns, FILE *stream);

#endif
