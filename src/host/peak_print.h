/* The peak of a plan, for people and as JSON: what is live in it, who keeps it alive, what it is
 * made of, and which steps come next. */
#ifndef BERTH_SRC_HOST_PEAK_PRINT_H
#define BERTH_SRC_HOST_PEAK_PRINT_H

#include "host/anatomy.h"
#include "host/plan_file.h"
#include "host/terminal.h"

/* Letters for the largest buffers of the peak, '\0' for all others: one for each buffer, on the
 * heap. NULL: out of memory. */
char *berth_peak_marks(const berth_subject_t *subject, const berth_anatomy_t *anatomy);

/* The table of what is live; `whole`: the bytes that shares are of. False: out of memory. */
bool berth_live_print(const berth_subject_t *subject, const berth_anatomy_t *anatomy,
                      uint64_t whole, const char *marks, berth_terminal_t terminal, FILE *stream);

/* The step, what is live in it and why, and what the peak is made of. `marks` may be NULL: letters
 * in order. False: out of memory. */
bool berth_peak_print(const berth_plan_report_t *report, uint32_t region,
                      const berth_anatomy_t *anatomy, const char *marks, berth_terminal_t terminal,
                      FILE *stream);

/* The fullest steps. False: out of memory. */
bool berth_near_print(const berth_plan_report_t *report, uint32_t region, FILE *stream);

/* ", operator CONV_2D" for a model's step; nothing for a problem's. */
void berth_step_operator_print(const berth_subject_t *subject, uint32_t step, FILE *stream);

/* An array "peaks", an entry for each region that is used; nothing without a plan. False: out of
 * memory, and the array is there but incomplete. */
struct berth_json;
bool berth_peaks_json(const berth_plan_report_t *report, struct berth_json *json);

#endif
