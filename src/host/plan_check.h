/* Is somebody's plan for a model right? Every fault, with the names of the tensors. */
#ifndef BERTH_SRC_HOST_PLAN_CHECK_H
#define BERTH_SRC_HOST_PLAN_CHECK_H

#include "host/plan_read.h"
#include "host/subject.h"

typedef enum berth_plan_fault {
  BERTH_PLAN_FAULT_MISSING,   /* a tensor that needs memory has no offset */
  BERTH_PLAN_FAULT_NEEDLESS,  /* a constant, or a tensor that nobody uses, has one */
  BERTH_PLAN_FAULT_ALIGNMENT, /* an offset is no multiple of the alignment */
  BERTH_PLAN_FAULT_OUTSIDE,   /* a tensor reaches beyond the arena */
  BERTH_PLAN_FAULT_OVERLAP,   /* two tensors that are live in the same step share bytes */
  BERTH_PLAN_FAULT_OUTPUT,    /* a graph output is overwritten before the end */
  BERTH_PLAN_FAULT_SIZE,      /* it was planned with fewer bytes than it has */
  BERTH_PLAN_FAULT_LIFETIME   /* it was planned for fewer steps than it lives */
} berth_plan_fault_t;

typedef struct berth_plan_finding {
  berth_plan_fault_t fault;
  uint32_t subgraph;
  uint32_t a, b; /* tensors of that subgraph; b is BERTH_NOBODY where there is only one */
  uint32_t b_subgraph;
  uint32_t first, last;              /* steps in which both are live, or the one is */
  uint64_t bytes;                    /* shared, beyond the end, off the alignment, or missing */
  int64_t stated_first, stated_last; /* LIFETIME: the steps that the plan says; -1: it doesn't */
} berth_plan_finding_t;

typedef struct berth_plan_check {
  berth_plan_finding_t *findings; /* heap */
  size_t count;
  uint64_t peak; /* of the plan, in bytes */
} berth_plan_check_t;

/* What a plan is held against. */
typedef struct berth_plan_rules {
  uint32_t align;
  uint64_t capacity;              /* of the arena; 0: unlimited */
  bool allow_missing;             /* -1 means that the runtime plans it */
  const berth_sharing_t *sharing; /* what the main subgraph's operators permit; NULL: nothing may
                                     share memory */
  berth_overlap_t overlap;        /* with `sharing`: which tensors may */
  bool keep_inputs;
} berth_plan_rules_t;

/* Checks `offsets` for the model of `subject`. MEMORY. */
berth_status_t berth_plan_check(const berth_subject_t *subject, const berth_offsets_t *offsets,
                                const berth_plan_rules_t *rules, berth_plan_check_t *check);
void berth_plan_check_free(berth_plan_check_t *check);

#endif
