/* The report as one HTML page that needs nothing else: interactive where berth was built with the
 * page from web/, a static picture with a table otherwise. */
#ifndef BERTH_SRC_HOST_PAGE_H
#define BERTH_SRC_HOST_PAGE_H

#include "host/plan_file.h"

/* Was berth built with the interactive page? */
bool berth_page_is_interactive(void);

/* Writes the page about one plan, or about two (before, after). The reports must have plans. The
 * data inside is what `berth inspect --json` and `berth plan --json` print, with offsets. MEMORY.
 */
berth_status_t berth_page_write(const berth_plan_report_t *const *reports, uint32_t count,
                                FILE *stream);

/* The static page alone. MEMORY. */
berth_status_t berth_page_write_static(const berth_plan_report_t *const *reports, uint32_t count,
                                       FILE *stream);

#endif
