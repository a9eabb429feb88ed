/* A plan as a list of buffers, wherever it comes from: a planned model or problem, a plan that was
 * saved, or somebody's dump in CSV. What `berth diff` compares. */
#ifndef BERTH_SRC_HOST_PLAN_LIST_H
#define BERTH_SRC_HOST_PLAN_LIST_H

#include "host/plan_file.h"

typedef struct berth_listed {
  char *key;     /* "subgraph:tensor", or what else identifies it; heap */
  char *name;    /* "" where there is none; heap */
  uint64_t size; /* as planned */
  uint64_t raw;  /* before rounding; UINT64_MAX: nobody says */
  uint64_t offset;
  uint64_t first, last;
  bool has_offset;
  bool has_life;
} berth_listed_t;

typedef struct berth_plan_list {
  berth_listed_t *entries; /* heap */
  uint32_t count;
  uint64_t peak; /* highest end of those that have an offset */
  uint64_t sum;  /* of all sizes */
} berth_plan_list_t;

/* From a report with a plan. MEMORY. */
berth_status_t berth_plan_list_of(const berth_plan_report_t *report, berth_plan_list_t *list);

/* Is this file a dump, and no problem? It is if it is CSV with columns size and offset. */
bool berth_plan_list_is_dump(const char *path);

/* Reads a dump: columns size and offset, and any of id, name, subgraph, tensor (or index), kind,
 * raw_bytes, first and last (or lower and upper). Errors: ARGUMENT, FORMAT, MEMORY; `complaint`
 * says where. */
berth_status_t berth_plan_list_read(const char *path, berth_plan_list_t *list,
                                    berth_complaint_t *complaint);

void berth_plan_list_free(berth_plan_list_t *list);

#endif
