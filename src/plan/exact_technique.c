/* Names of the exact planner's techniques, and what each of them prunes. */
#include "plan/exact_technique.h"
#include <stddef.h>

static const struct {
  const char *name, *summary;
} techniques[BERTH_TECHNIQUE_COUNT] = {
    [BERTH_TECHNIQUE_CUT] = {"cut", "Where no unplaced buffer is live on both sides of a moment, "
                                    "the two sides are planned apart from each other."},
    [BERTH_TECHNIQUE_SPAN] = {"span", "A buffer that meets all others of its part is put on top of "
                                      "them at once instead of at every height."},
    [BERTH_TECHNIQUE_TWIN] = {"twin", "Of buffers that are alike only one order is tried."},
    [BERTH_TECHNIQUE_CANONICAL] = {"canonical", "Buffers are placed by rising offset, so that a "
                                                "plan is met in one order only."},
    [BERTH_TECHNIQUE_GAP] = {"gap", "A buffer is not placed so high that another one would fit "
                                    "wholly below it."},
    [BERTH_TECHNIQUE_RAISE] = {"raise", "Where all others of a section would not fit above a "
                                        "buffer, it has to wait for one of them."},
    [BERTH_TECHNIQUE_PASSED] = {"passed", "A buffer that could have been placed at its floor and "
                                          "was not has to lie on one that is still to come."},
    [BERTH_TECHNIQUE_SECTION] = {"section", "In every section, what cannot be below some height "
                                            "has to fit between it and the capacity."},
    [BERTH_TECHNIQUE_JUMP] = {"jump", "A failure goes back to the last choice that has to do with "
                                      "it, past all others."},
    [BERTH_TECHNIQUE_RESTART] = {"restart", "After a while the search starts again in another "
                                            "order instead of staying where luck left it."},
    [BERTH_TECHNIQUE_BREED] = {"breed", "The order with which the search got furthest is varied "
                                        "rather than replaced by a new one."},
};

const char *berth_technique_name(uint32_t index) {
  return index < BERTH_TECHNIQUE_COUNT ? techniques[index].name : NULL;
}

const char *berth_technique_summary(uint32_t index) {
  return index < BERTH_TECHNIQUE_COUNT ? techniques[index].summary : NULL;
}
