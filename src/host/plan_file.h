/* A plan as a file: JSON, CSV or a C header. The formats are described in the README. */
#ifndef BERTH_SRC_HOST_PLAN_FILE_H
#define BERTH_SRC_HOST_PLAN_FILE_H

#include "host/planning.h"
#include "host/subject.h"
#include <stdio.h>

/* All that there is to say about a plan. */
typedef struct berth_plan_report {
  const berth_subject_t *subject;
  const berth_outcome_t *outcome;  /* the plan; NULL: none was asked for */
  const berth_outcome_t *outcomes; /* of all planners that were tried, `outcome` among them */
  uint32_t outcome_count;
  berth_totals_t folded;   /* models only */
  berth_totals_t unfolded; /* models only */
  uint64_t capacity;       /* 0: none was given */
  uint32_t load_step;      /* the first step whose load is the largest */
  uint64_t load;           /* that load */
  bool folds;              /* operators on constants count as folded */
  bool conflicts;          /* say which buffers may not overlap */
  bool allocations;        /* print the table of all buffers (JSON has them anyway) */
  const struct berth_streaming
      *streaming;                      /* the streamed plan that `subject` is; NULL: it is none */
  const struct berth_advices *advices; /* models only: what would lower the peak; NULL: not asked */
  const struct berth_running
      *running;       /* models only: what Berth needs to run it; NULL: not asked */
  uint32_t instances; /* with `running`: for so many threads */
  const struct berth_forecast *forecast; /* of a stock runtime's memory; NULL: not asked */
  const berth_subject_t *usage; /* the subject opened with `kernels`: show what each operator
                                   needs; NULL: don't */
} berth_plan_report_t;

/* A report without a plan: loads and totals. */
berth_status_t berth_plan_report_start(const berth_subject_t *subject,
                                       const berth_subject_options_t *options,
                                       berth_plan_report_t *report, berth_complaint_t *complaint);

void berth_plan_write_json(const berth_plan_report_t *report, FILE *stream);
void berth_plan_write_csv(const berth_plan_report_t *report, FILE *stream);
/* `path`: the header's own, from which its names are made. A streamed plan comes with what the
 * interpreter's options want: runs, rings, an offset for each tensor. False: out of memory. */
bool berth_plan_write_header(const berth_plan_report_t *report, const char *path, FILE *stream);

/* The name of a file without folders and ending, as a C identifier; in capitals if `upper`. */
void berth_header_identifier(const char *path, bool upper, char *out, size_t size);

/* The keys that every JSON document of berth begins with, and "buffers"; used by inspect, too. */
struct berth_json;
void berth_plan_json_summary(const berth_plan_report_t *report, struct berth_json *json);
void berth_plan_json_buffers(const berth_plan_report_t *report, struct berth_json *json);

/* Do the two buffers conflict: are both live in some step? */
bool berth_buffers_conflict(const berth_buffer_t *a, const berth_buffer_t *b);

/* The region's name as the user gave it; "arena" without regions, "outside" for BERTH_OUTSIDE. */
const char *berth_region_name(const berth_subject_t *subject, uint32_t region);

#endif
