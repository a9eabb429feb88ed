/* The interactive page: the bundle with the data between its halves. The data is a JSON array of
 * one or two documents inside a <script>, where only "<" could end it or open a comment. In JSON
 * "<" occurs inside strings alone, and there \u003c means the same. */
#include "host/page.h"
#include "host/model_print.h"
#include "host/page_bundle.h"

#include <stdlib.h>

bool berth_page_is_interactive(void) {
  return berth_page_head_size > 0;
}

static bool write_documents(const berth_plan_report_t *const *reports, uint32_t count,
                            FILE *stream) {
  bool good = true;
  fputc('[', stream);
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) fputc(',', stream);
    if (reports[i]->subject->is_model) {
      good &= berth_model_write_json(reports[i], stream);
    } else {
      berth_plan_write_json(reports[i], stream);
    }
  }
  fputc(']', stream);
  return good;
}

berth_status_t berth_page_write(const berth_plan_report_t *const *reports, uint32_t count,
                                FILE *stream) {
  if (!berth_page_is_interactive()) return berth_page_write_static(reports, count, stream);
  char *text = NULL;
  size_t length = 0;
  FILE *documents = open_memstream(&text, &length);
  if (documents == NULL) return BERTH_ERROR_MEMORY;
  bool good = write_documents(reports, count, documents) && ferror(documents) == 0;
  if (fclose(documents) != 0) good = false;
  if (good) {
    fwrite(berth_page_head, 1, berth_page_head_size, stream);
    for (size_t i = 0; i < length; i++) {
      if (text[i] == '<') {
        fputs("\\u003c", stream);
      } else {
        fputc(text[i], stream);
      }
    }
    fwrite(berth_page_tail, 1, berth_page_tail_size, stream);
  }
  free(text);
  return good ? BERTH_OK : BERTH_ERROR_MEMORY;
}
