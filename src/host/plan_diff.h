/* What differs between two plans, buffer by buffer. Behind `berth diff`. */
#ifndef BERTH_SRC_HOST_PLAN_DIFF_H
#define BERTH_SRC_HOST_PLAN_DIFF_H

#include "host/plan_list.h"

/* How a buffer differs: bits. */
enum {
  BERTH_DIFF_APPEARED = 1, /* only in the second plan */
  BERTH_DIFF_GONE = 2,     /* only in the first */
  BERTH_DIFF_SIZE = 4,     /* grew or shrank */
  BERTH_DIFF_PADDED = 8,   /* its size differs, but not what it holds: it was rounded differently */
  BERTH_DIFF_MOVED = 16,   /* another offset */
  BERTH_DIFF_LIFE = 32     /* lives in other steps */
};

typedef struct berth_difference {
  uint32_t a, b; /* entries of the two lists; UINT32_MAX: none */
  unsigned how;
} berth_difference_t;

typedef struct berth_plan_diff {
  berth_difference_t *differences; /* heap: largest change of size first */
  uint32_t count;
  uint32_t same; /* buffers that are alike in both */
} berth_plan_diff_t;

/* Pairs buffers by name where every buffer has one, else by key; the n-th of a name with the n-th.
 * MEMORY. */
berth_status_t berth_plan_diff_of(const berth_plan_list_t *a, const berth_plan_list_t *b,
                                  berth_plan_diff_t *diff);
void berth_plan_diff_free(berth_plan_diff_t *diff);

/* `names`: of the two sides, for people. False: out of memory. */
bool berth_plan_diff_print(const berth_plan_diff_t *diff, const berth_plan_list_t *a,
                           const berth_plan_list_t *b, const char *const names[2], FILE *stream);
void berth_plan_diff_json(const berth_plan_diff_t *diff, const berth_plan_list_t *a,
                          const berth_plan_list_t *b, const char *const names[2], FILE *stream);

#endif
