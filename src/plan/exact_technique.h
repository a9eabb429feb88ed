/* The techniques of the exact planner, each of which can be left out to measure its worth. */
#ifndef BERTH_SRC_PLAN_EXACT_TECHNIQUE_H
#define BERTH_SRC_PLAN_EXACT_TECHNIQUE_H

#include "berth/plan.h"

/* In the order of berth_technique_name. */
typedef enum berth_technique {
  BERTH_TECHNIQUE_CUT,
  BERTH_TECHNIQUE_SPAN,
  BERTH_TECHNIQUE_TWIN,
  BERTH_TECHNIQUE_CANONICAL,
  BERTH_TECHNIQUE_GAP,
  BERTH_TECHNIQUE_RAISE,
  BERTH_TECHNIQUE_PASSED,
  BERTH_TECHNIQUE_SECTION,
  BERTH_TECHNIQUE_JUMP,
  BERTH_TECHNIQUE_RESTART,
  BERTH_TECHNIQUE_BREED,
  BERTH_TECHNIQUE_COUNT
} berth_technique_t;

/* Is it in use, given those to leave out? */
static inline bool berth_technique_used(berth_techniques_t without, berth_technique_t technique) {
  return (without >> technique & 1) == 0;
}

#endif
