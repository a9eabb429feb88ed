/* Why a part of the search failed: conflict-directed backjumping (Prosser 1993).
 *
 * A reason is a set of buffers: those of them that are placed, where they are, leave no room for
 * those that are not. It stays true when any other buffer is taken away, so the search may go back
 * to the last choice in it at once. Used by exact_skyline.c; with the technique left out, every
 * reason holds all buffers and the search goes back step by step.
 */
#ifndef BERTH_SRC_PLAN_EXACT_REASON_H
#define BERTH_SRC_PLAN_EXACT_REASON_H

#include "plan/exact_skyline.h"

/* `member` cannot be at its floor, for it would end above the capacity or not be there at all. */
void berth_reason_too_high(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                           uint32_t member);

/* The buffers of `component` that reach over `section` and cannot be below `height` (by `raised`)
 * overfill it. */
void berth_reason_overfull(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                           uint32_t section, int32_t height);

/* The choice is exhausted: adds why each of its buffers cannot be the next one, and makes the
 * choice's reason the reason of the search. */
void berth_reason_exhausted(berth_skyline_t *skyline, const berth_skyline_choice_t *choice);

/* Is the chosen buffer part of why the search failed below it? If so, the reason goes into that of
 * the choice. */
bool berth_reason_involves(berth_skyline_t *skyline, const berth_skyline_choice_t *choice);

/* The reason of the choice just made is empty yet. */
void berth_reason_begin(berth_skyline_t *skyline);

#endif
