/* As few calls as the placed peak permits: runs that make more rows at a time, where that is free.
 *
 * The search grows blocks as far as loads permit; but a plan may have been placed only with one row
 * at a time everywhere, and its peak may be above its largest load. Here every run may have as much
 * load as is tried, from the peak downwards, and whatever is placed without a larger peak is kept.
 * Then runs that could be coarser still are tried one by one, those first that save most calls.
 *
 * Cost: a walk for each block and a placing for each trial, of which there are at most TRIALS.
 */
#include "host/streaming.h"
#include <stdlib.h>
#include <string.h>

#define TRIALS 8u

typedef struct coarsening {
  berth_streaming_t *s;
  const berth_subject_t *subject;
  berth_complaint_t *complaint;
  berth_stream_search_options_t options;
  void *workspace;
  size_t workspace_bytes;
  berth_stream_run_t *best; /* of the smallest peak so far */
  berth_stream_run_t *next; /* to be tried */
  berth_stream_run_t *most; /* as coarse as each one's load permits */
  uint64_t *gains;          /* calls that each then saves; 0: it has been tried */
  uint32_t count;
  uint64_t peak;
  uint64_t best_calls;
  uint32_t trials; /* left */
} coarsening_t;

static berth_status_t place(const coarsening_t *c, uint64_t work, uint64_t *peak, bool *proven) {
  return berth_streaming_place(c->s, c->subject, work, peak, proven, c->complaint);
}

/* As thoroughly as the plan itself will be placed. */
static berth_status_t place_well(const coarsening_t *c, uint64_t *peak) {
  bool proven;
  berth_status_t status = place(c, BERTH_STREAMING_COMPARING_WORK, peak, &proven);
  if (status != BERTH_OK || proven) return status;
  return place(c, BERTH_STREAMING_WORK, peak, &proven);
}

static void take(berth_stream_run_t *to, const berth_stream_run_t *from, uint32_t count) {
  memcpy(to, from, count * sizeof *to);
}

/* Places the plan of c->next and keeps it if it is as small and has fewer calls. */
static berth_status_t try_next(coarsening_t *c, bool *kept) {
  uint64_t peak;
  bool proven;
  *kept = false;
  take(c->s->runs, c->next, c->count);
  berth_status_t status =
      berth_streaming_set(c->s, c->subject, c->s->runs, c->count, c->options.align);
  uint64_t calls = status == BERTH_OK ? berth_streaming_calls(c->s) : 0;
  if (status != BERTH_OK || calls >= c->best_calls) return status;
  c->trials--;
  status = place(c, BERTH_STREAMING_COMPARING_WORK, &peak, &proven);
  if (status != BERTH_OK || peak > c->peak) return status;
  *kept = true;
  c->best_calls = calls;
  take(c->best, c->next, c->count);
  return BERTH_OK;
}

static berth_status_t coarsen(const coarsening_t *c, uint64_t budget, berth_stream_run_t *runs,
                              uint32_t count) {
  return berth_stream_coarsen(&c->s->network, &c->subject->graph, &c->options, budget, c->workspace,
                              c->workspace_bytes, runs, count);
}

/* All runs at once, with less and less load. */
static berth_status_t try_all(coarsening_t *c) {
  bool kept = false;
  for (uint32_t sixteenths = 16; sixteenths >= 8 && !kept; sixteenths -= 2) {
    take(c->next, c->best, c->count);
    berth_status_t status = coarsen(c, c->peak / 16 * sixteenths, c->next, c->count);
    if (status == BERTH_OK) status = try_next(c, &kept);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* The run that would save most calls if it made as many rows at a time as its load permits, of
 * those that have not been tried; `count`: there is none. */
static uint32_t best_to_try(const coarsening_t *c) {
  uint32_t best = c->count;
  for (uint32_t i = 0; i < c->count; i++) {
    if (c->gains[i] > 0 && (best == c->count || c->gains[i] > c->gains[best])) best = i;
  }
  return best;
}

/* One run after the other, those first that save most. */
static berth_status_t try_each(coarsening_t *c) {
  take(c->most, c->best, c->count);
  berth_status_t status = coarsen(c, c->peak, c->most, c->count);
  for (uint32_t i = 0; i < c->count; i++) {
    c->gains[i] = 0;
    if (c->most[i].block == c->best[i].block) continue;
    uint64_t calls = berth_streaming_run_calls(c->s, &c->best[i]),
             fewer = berth_streaming_run_calls(c->s, &c->most[i]);
    c->gains[i] = calls > fewer ? calls - fewer : 0;
  }
  while (status == BERTH_OK && c->trials > 0) {
    bool kept;
    uint32_t run = best_to_try(c);
    if (run == c->count) break;
    take(c->next, c->best, c->count);
    c->next[run] = c->most[run];
    c->gains[run] = 0;
    status = try_next(c, &kept);
  }
  return status;
}

/* The runs that were found become the plan's, unless placing them well still needs more. */
static berth_status_t settle(coarsening_t *c, const berth_stream_run_t *fine) {
  berth_streaming_t *s = c->s;
  uint64_t peak;
  take(s->runs, c->best, c->count);
  berth_status_t status = berth_streaming_set(s, c->subject, s->runs, c->count, c->options.align);
  if (status == BERTH_OK) status = place_well(c, &peak);
  if (status == BERTH_OK && peak > c->peak) {
    take(s->runs, fine, c->count);
    status = berth_streaming_set(s, c->subject, s->runs, c->count, c->options.align);
  }
  if (status == BERTH_OK) s->result.choices[s->chosen].calls = berth_streaming_calls(s);
  return status;
}

berth_status_t berth_streaming_coarsen(berth_streaming_t *s, const berth_subject_t *subject,
                                       uint32_t align, berth_complaint_t *complaint) {
  uint32_t count = s->plan.run_count;
  if (count == 0) return BERTH_OK;
  coarsening_t c = {.s = s,
                    .subject = subject,
                    .complaint = complaint,
                    .options = {.push_inputs = s->runs[0].push_inputs,
                                .pull_outputs = s->runs[0].pull_outputs,
                                .align = align},
                    .count = count,
                    .best_calls = berth_streaming_calls(s),
                    .trials = TRIALS};
  berth_stream_run_t *fine = NULL; /* as they were */
  berth_status_t status = berth_stream_search_workspace(&s->network, &c.workspace_bytes);
  if (status != BERTH_OK) return status;
  c.workspace = malloc(c.workspace_bytes);
  c.best = malloc(4 * count * sizeof *c.best);
  c.gains = malloc(count * sizeof *c.gains);
  if (c.workspace == NULL || c.best == NULL || c.gains == NULL) status = BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) {
    c.next = c.best + count;
    c.most = c.next + count;
    fine = c.most + count;
    take(c.best, s->runs, count);
    take(fine, s->runs, count);
    status = place_well(&c, &c.peak);
  }
  if (status == BERTH_OK) status = try_all(&c);
  if (status == BERTH_OK) status = try_each(&c);
  if (status == BERTH_OK) status = settle(&c, fine);
  free(c.workspace);
  free(c.best);
  free(c.gains);
  return status;
}
