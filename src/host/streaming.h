/* Streaming a model on a host: contracts, search, and the buffers of a streamed plan.
 *
 * Used by `berth plan --stream`, and by whoever runs a model with a streamed plan. The search
 * (berth_stream_search) offers ways to stream by an estimate of their peaks; each is placed here,
 * and the smallest placed peak decides. Every streamed plan is followed by the verifier
 * (host/streaming_verify.h) before anyone sees it.
 */
#ifndef BERTH_SRC_HOST_STREAMING_H
#define BERTH_SRC_HOST_STREAMING_H

#include "berth/stream.h"
#include "host/planning.h"
#include "host/subject.h"
#include "optimize/contracts.h"

/* The planner's default budget for the streamed plan that was chosen, whether it is shown, saved or
 * run: so all of these have the same peak. Pairs hide from a planner how low a peak can be, so that
 * it would go on looking for a long time. */
#define BERTH_STREAMING_WORK UINT64_C(10000000)

/* Likewise for each of the plans that are only compared with each other. */
#define BERTH_STREAMING_COMPARING_WORK (BERTH_STREAMING_WORK / 4)

typedef enum berth_streaming_mode {
  BERTH_STREAMING_OFF,
  BERTH_STREAMING_AUTO, /* the fewest calls among plans within a sixteenth of the smallest peak */
  BERTH_STREAMING_MAX   /* the smallest peak */
} berth_streaming_mode_t;

typedef struct berth_streaming_options {
  berth_streaming_mode_t mode;
  bool push_inputs;    /* the caller delivers inputs row by row */
  bool pull_outputs;   /* and takes outputs so */
  uint32_t align;      /* 0: 16 */
  uint64_t work_limit; /* of the search for runs, as in berth_stream_search_options_t; a runner's
                          also of placing them */
  uint64_t below;      /* likewise */
  bool keep_order;     /* the file's order it is (streaming_order.h) */
  bool one;            /* only the choice with the smallest load, to compare orders */
  bool peak_only;      /* only the peak is wanted: runs need not be as coarse as it permits */
} berth_streaming_options_t;

/* One way that was tried. */
typedef struct berth_streaming_trial {
  berth_stream_choice_t choice;
  uint64_t peak; /* placed; UINT64_MAX: not tried, there was a better one */
  bool single;   /* with one row at a time, since larger rings don't fit */
} berth_streaming_trial_t;

typedef struct berth_streaming {
  const char *path; /* of the model, for complaints; the subject's */
  berth_contracts_t contracts;
  berth_stream_network_t network;
  berth_stream_tensor_t *tensors;
  berth_stream_t stream; /* of all steps */
  void *measure_memory;
  size_t measure_bytes;
  void *search_memory;
  berth_stream_result_t result;
  uint64_t work; /* of all searches so far */
  berth_streaming_trial_t trials[BERTH_STREAM_CHOICES_MAX];
  uint32_t chosen; /* of result.choices */
  uint32_t way; /* which inputs come, and whether outputs go, by rows, of all ways that are tried;
                   0: none was found */

  berth_stream_plan_t plan; /* the one that was chosen */
  berth_stream_run_t *runs;
  uint32_t *rings;
  uint32_t *firsts,
      *lasts;           /* of each tensor that lives within a run: steps; BERTH_NOBODY: others */
  uint32_t *scratch_of; /* of each operator and part of its scratch: the buffer, which those of a
                           run share; UINT32_MAX: none */
  berth_stream_overlap_t *overlaps; /* of all its runs */
  uint32_t overlap_count;

  berth_buffer_t *buffers; /* what to place: of the subject's tensors, then scratch */
  berth_label_t *labels;
  uint32_t buffer_count;
  berth_pair_t *pairs;
  uint32_t pair_count;
  uint32_t *buffer_of; /* of each tensor of subgraph 0; UINT32_MAX: none */
  uint32_t *step_of;   /* of each operator of subgraph 0 */
  void *memory[20];
  uint32_t memory_count;
} berth_streaming_t;

/* Searches, chooses and lets `subject` be the streamed plan's problem. The subject then uses
 * memory of `*streaming`, which must be freed after it. A model in which nothing can be streamed is
 * left as it is, with plan.run_count 0. Errors: MEMORY, OVERFLOW, UNSUPPORTED (a problem file). */
berth_status_t berth_streaming_make(berth_subject_t *subject,
                                    const berth_streaming_options_t *options,
                                    berth_streaming_t *streaming, berth_complaint_t *complaint);
void berth_streaming_free(berth_streaming_t *streaming);

/* The part of it before the search: contracts, rows, the schedule of all steps. Without operators,
 * network.model stays NULL. */
berth_status_t berth_streaming_open(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    berth_complaint_t *complaint);

/* The smallest load that the search finds, every input and output row by row if `options` permit
 * that; UINT64_MAX: the model cannot be streamed, or not with a load below `options->below`. After
 * berth_streaming_open. Errors: MEMORY, OVERFLOW. */
berth_status_t berth_streaming_load(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    const berth_streaming_options_t *options, uint64_t *load);

/* The same with the default budget for streamed plans, where none is given. */
berth_planning_t berth_streaming_planning(const berth_planning_t *planning);

/* Plans the subject as berth_planning_run does and, if it is a streamed plan's (`streaming` is not
 * NULL), with berth_streaming_planning, and verifies the plan. `outcome` is to be freed in any
 * case. */
berth_status_t berth_streaming_plan(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    const berth_planner_t *planner,
                                    const berth_planning_t *planning, berth_outcome_t *outcome,
                                    berth_complaint_t *complaint);

/* Lets `streaming` hold the plan of these runs: rings, overlaps, buffers, pairs;
 * streaming_problem.c. Errors: MEMORY, ARGUMENT (a run is none). */
berth_status_t berth_streaming_set(berth_streaming_t *streaming, const berth_subject_t *subject,
                                   const berth_stream_run_t *runs, uint32_t run_count,
                                   uint32_t align);

/* Lets the runs whose outputs lie above what they read go in reverse, and all others forward;
 * streaming_problem.c. */
void berth_streaming_turn(berth_streaming_t *streaming, const berth_placement_t *placements);

/* That for a plan of what berth_streaming_make has left, and then the verifier. */
berth_status_t berth_streaming_settle(berth_streaming_t *streaming,
                                      const berth_placement_t *placements,
                                      berth_complaint_t *complaint);

/* Buffers and pairs anew, after a change of `rings`. */
void berth_streaming_fit(berth_streaming_t *streaming, const berth_subject_t *subject,
                         uint32_t align);

/* What there is to place. */
berth_problem_t berth_streaming_problem(const berth_streaming_t *streaming,
                                        const berth_subject_t *subject);

/* Lets the runs of the plan make more rows at a time, where its placed peak stays the same;
 * streaming_coarsen.c. Errors: MEMORY. */
berth_status_t berth_streaming_coarsen(berth_streaming_t *streaming, const berth_subject_t *subject,
                                       uint32_t align, berth_complaint_t *complaint);

/* The peak with which the plan can be placed with so much work, UINT64_MAX if with none; `*proven`:
 * no placing of it has a smaller one. */
berth_status_t berth_streaming_place(const berth_streaming_t *streaming,
                                     const berth_subject_t *subject, uint64_t work, uint64_t *peak,
                                     bool *proven, berth_complaint_t *complaint);

/* How many calls of operators the plan makes, and one run; 0: it is none. */
uint64_t berth_streaming_calls(berth_streaming_t *streaming);
uint64_t berth_streaming_run_calls(berth_streaming_t *streaming, const berth_stream_run_t *run);

/* Zeroed memory that berth_streaming_free frees; NULL if there is none. */
void *berth_streaming_take(berth_streaming_t *streaming, size_t count, size_t element);

/* The run that a step belongs to, or NULL. */
const berth_stream_run_t *berth_streaming_run_at(const berth_streaming_t *streaming, uint32_t step);

#endif
