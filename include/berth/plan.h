/* Berth's planner: buffers with lifetimes in, offsets out.
 *
 * A library of its own (berth_plan): no dependency, no heap, no global state, C11 and C++. It
 * knows nothing about neural networks. All memory comes from the caller, and the same problem
 * gives the same plan on every machine, 32- or 64-bit.
 *
 *   berth_buffer_t buffers[3] = {
 *       berth_buffer(602112, 0, 0),      // size in bytes, first and last step in which it is live
 *       berth_buffer(802816, 0, 1),
 *       berth_buffer(401408, 1, 2)};
 *   berth_problem_t problem = {.buffers = buffers, .buffer_count = 3};
 *   berth_placement_t placements[3];
 *   berth_plan_t plan = {.placements = placements};
 *
 *   size_t bytes;
 *   berth_plan_workspace(&berth_planner_best, &problem, NULL, &bytes);
 *   void *workspace = malloc(bytes);
 *   berth_plan_make(&berth_planner_best, &problem, NULL, workspace, bytes, &plan);
 *   // placements[i].offset, plan.peak, plan.lower_bound, plan.optimal
 */
#ifndef BERTH_PLAN_H
#define BERTH_PLAN_H

#include "berth/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The problem ----------------------------------------------------------------------------- */

#define BERTH_ANYWHERE    UINT64_MAX /* berth_buffer_t.fixed: the planner chooses the offset */
#define BERTH_UNLIMITED   UINT64_MAX /* berth_region_t.capacity: as large as it needs to be */
#define BERTH_ANY_REGION  0u         /* berth_buffer_t.regions: every region will do */
#define BERTH_REGIONS_MAX 16u        /* most regions in one problem */
#define BERTH_OUTSIDE     UINT32_MAX /* berth_placement_t.region of a constant left where it is */

/* One buffer. It occupies [offset, offset + size) during the steps first..last, both included. */
typedef struct berth_buffer {
  uint64_t size;    /* bytes; not rounded by any planner. 0 is allowed and never conflicts */
  uint64_t align;   /* the offset is a multiple of this; at least 1, any value (0 counts as 1) */
  uint64_t fixed;   /* required offset in bytes, or BERTH_ANYWHERE */
  uint64_t traffic; /* bytes moved to or from it per inference; only its cost in a region */
  uint32_t first;   /* first step in which it is live */
  uint32_t last;    /* last step in which it is live: `first`..2^32 - 2 */
  uint32_t regions; /* bit r set: may live in region r; BERTH_ANY_REGION: in all of them */
  bool constant;    /* a weight: where there are regions, it may stay outside of all of them, at
                       cost `outside_cost`; without regions it is a buffer like any other */
} berth_buffer_t;

/* A buffer that may go anywhere, alignment 1. */
static inline berth_buffer_t berth_buffer(uint64_t size, uint32_t first, uint32_t last) {
  berth_buffer_t buffer;
  buffer.size = size;
  buffer.align = 1;
  buffer.fixed = BERTH_ANYWHERE;
  buffer.traffic = 0;
  buffer.first = first;
  buffer.last = last;
  buffer.regions = BERTH_ANY_REGION;
  buffer.constant = false;
  return buffer;
}

/* How two buffers a and b relate beyond "live in the same step, so apart in space". */
typedef enum berth_relation {
  BERTH_SHARE, /* same region and same offset, whatever their lifetimes. Transitive: buffers that
                  share with the same buffer share with each other, and they never conflict. */
  BERTH_APART, /* not in the same region (the X and Y banks of a DSP); outside is no region */
  BERTH_HEAD,  /* b may overlap the first `bytes` bytes of a while both are live, no other of a's */
  BERTH_TAIL,  /* b may overlap the last `bytes` bytes of a while both are live, no other of a's */
  BERTH_OVER   /* b may be at the very offset of a while both are live: one is written over the
                  other in place */
} berth_relation_t;

/* A relation between two different buffers. HEAD, TAIL and OVER permit: where several speak of the
 * same two buffers, it is enough that one of them permits all bytes that the two have in common. */
typedef struct berth_pair {
  uint32_t a, b; /* indices into the problem's buffers, a != b */
  berth_relation_t relation;
  uint64_t bytes; /* HEAD and TAIL: 1..size of a */
} berth_pair_t;

/* A memory. Every region has offsets of its own, from 0. */
typedef struct berth_region {
  uint64_t capacity; /* bytes, or BERTH_UNLIMITED */
  uint64_t cost;     /* price of one byte of traffic */
} berth_region_t;

/* What to plan. Arrays belong to the caller and are only read. */
typedef struct berth_problem {
  const berth_buffer_t *buffers;
  uint32_t buffer_count;
  const berth_pair_t *pairs; /* NULL if there are none */
  uint32_t pair_count;
  const berth_region_t *regions; /* fastest first; NULL: one region without limit, cost 0 */
  uint32_t region_count;         /* 0..BERTH_REGIONS_MAX; 0 if and only if regions is NULL */
  uint64_t outside_cost;         /* price of a byte of traffic of a constant left outside */
} berth_problem_t;

/* ---- The plan -------------------------------------------------------------------------------- */

typedef struct berth_placement {
  uint64_t offset; /* bytes from the region's start */
  uint32_t region; /* index of the region, or BERTH_OUTSIDE */
} berth_placement_t;

typedef struct berth_plan {
  berth_placement_t *placements; /* the caller's array, one for each buffer */
  uint64_t peak;                 /* bytes used of the first region: highest offset + size there,
                                    buffers of size 0 aside */
  uint64_t lower_bound;          /* proven: no plan has a smaller peak (with several regions: no
                                    plan of this cost) */
  uint64_t cost;                 /* sum of traffic x cost; 0 without regions */
  uint64_t work;                 /* units of work spent */
  bool optimal;                  /* proven: no plan is better */
} berth_plan_t;

/* Techniques of the exact planner, for `berth_plan_options_t.without`. Each one only prunes: the
 * result is the same without it, only later. */
typedef uint32_t berth_techniques_t;

/* Name and one sentence of technique number `index`, or NULL past the last one. Bit `index` of a
 * berth_techniques_t stands for it. */
const char *berth_technique_name(uint32_t index);
const char *berth_technique_summary(uint32_t index);

/* Asked now and then during long planning; `best` is the smallest peak found so far (UINT64_MAX
 * if none). Return false to stop: the best plan at hand is then the result. */
typedef bool (*berth_progress_t)(void *user, uint64_t work, uint64_t best, uint64_t lower_bound);

/* Zero-initialise for the defaults; NULL wherever options are taken means the same. */
typedef struct berth_plan_options {
  uint64_t capacity;          /* 0: minimise. Else stop at the first plan whose peak is at most
                                 this many bytes, or when it is proven that there is none. */
  uint64_t work_limit;        /* budget in units of work (about one candidate position each, some
                                 10 ns); 0: the planner's default. Deterministic. The one-pass
                                 planners (none to breadth) always finish their pass. */
  berth_techniques_t without; /* techniques of `exact` to leave out */
  berth_progress_t progress;  /* may be NULL */
  void *progress_user;        /* handed to `progress` */
} berth_plan_options_t;

/* ---- Planners -------------------------------------------------------------------------------- */

/* What a planner can respect beyond sizes, lifetimes, alignments and one region's capacity. */
#define BERTH_HANDLES_FIXED   1u /* fixed offsets */
#define BERTH_HANDLES_PAIRS   2u /* SHARE, HEAD, TAIL and OVER */
#define BERTH_HANDLES_REGIONS 4u /* several regions, APART, constants left outside */

/* A way to plan. All of them are used through berth_plan_make, which checks the problem before and
 * the plan after, knows the load bound and compares the peak with the capacities: `make` only has
 * to fill placements and peak and, where it knows better, lower_bound, work and optimal.
 *
 * What a planner finds in `plan` when called: `lower_bound` is proven; `peak` is UINT64_MAX, or
 * that of a right plan in `placements`, which it may improve on and never makes worse; otherwise
 * all placements are zero. */
typedef struct berth_planner {
  const char *name;    /* as on the command line */
  const char *summary; /* one line, for people */
  uint32_t handles;    /* BERTH_HANDLES_ bits; a problem that needs others is UNSUPPORTED */
  berth_status_t (*workspace)(const berth_problem_t *problem, const berth_plan_options_t *options,
                              size_t *bytes);
  berth_status_t (*make)(const berth_problem_t *problem, const berth_plan_options_t *options,
                         void *workspace, size_t workspace_bytes, berth_plan_t *plan);
} berth_planner_t;

extern const berth_planner_t berth_planner_none;    /* every buffer its own space */
extern const berth_planner_t berth_planner_linear;  /* falls back only past dead topmost buffers */
extern const berth_planner_t berth_planner_tflm;    /* stock TFLM's GreedyMemoryPlanner */
extern const berth_planner_t berth_planner_tflite;  /* stock TFLite's ArenaPlanner */
extern const berth_planner_t berth_planner_size;    /* greedy by size (Pisarchyk & Lee 2020) */
extern const berth_planner_t berth_planner_breadth; /* greedy by breadth (Pisarchyk & Lee 2020) */
extern const berth_planner_t berth_planner_search;  /* anytime search for large problems */
extern const berth_planner_t berth_planner_exact;   /* branch and bound, proves optimality */
extern const berth_planner_t berth_planner_best;    /* the default: all of the above as needed */

/* Planner number `index` in the order above, or NULL past the last one. (These two link every
 * planner; a device that names the one it uses links that one only.) */
const berth_planner_t *berth_planner_at(uint32_t index);

/* The planner of that name, or NULL. */
const berth_planner_t *berth_planner_named(const char *name);

/* Bytes of workspace that `planner` needs for `problem`; it must be aligned for any type.
 * Errors: ARGUMENT (a malformed problem), OVERFLOW (more than a size_t can say). */
berth_status_t berth_plan_workspace(const berth_planner_t *planner, const berth_problem_t *problem,
                                    const berth_plan_options_t *options, size_t *bytes);

/* Plans `problem` and fills `plan`, whose `placements` the caller has set. Every plan is checked by
 * the verifier before it is returned.
 *
 * OK: a plan (within the capacities, if any were given). INFEASIBLE: proven that there is none;
 * only `plan->lower_bound` and `plan->work` are set. UNDECIDED: the budget ended (or a one-pass
 * planner is done) without a plan within the capacities; `plan` holds the smallest that was found,
 * which does not fit, or peak UINT64_MAX if there is none.
 * Errors: ARGUMENT and OVERFLOW (berth_problem_check says where), MEMORY (workspace too small),
 * UNSUPPORTED (a constraint that the planner doesn't handle), INTERNAL (the verifier rejected the
 * plan: a defect of the planner). */
berth_status_t berth_plan_make(const berth_planner_t *planner, const berth_problem_t *problem,
                               const berth_plan_options_t *options, void *workspace,
                               size_t workspace_bytes, berth_plan_t *plan);

/* ---- Facts about a problem and a plan -------------------------------------------------------- */

/* Is the problem well-formed? OK, ARGUMENT or OVERFLOW; `*culprit` (may be NULL) then names the
 * first bad buffer, or buffer_count + k for pair k, or UINT32_MAX for the problem as a whole.
 * ARGUMENT: something is outside its stated range, a fixed offset contradicts its own alignment,
 * or buffers and pairs are 2^32 - 1 or more. OVERFLOW: all sizes, alignments and bytes of pairs
 * together with the highest fixed end exceed 2^63 - 1, so that offsets might, too; or costs do. */
berth_status_t berth_problem_check(const berth_problem_t *problem, uint32_t *culprit);

/* The largest sum of sizes that are live in one step, in bytes: no plan in one region without
 * SHARE, HEAD, TAIL and OVER pairs can have a smaller peak. `*step` (may be NULL) is the first step
 * that reaches it. `workspace` as large as berth_problem_load_workspace says; O(n log n). */
berth_status_t berth_problem_load(const berth_problem_t *problem, void *workspace,
                                  size_t workspace_bytes, uint64_t *load, uint32_t *step);
berth_status_t berth_problem_load_workspace(const berth_problem_t *problem, size_t *bytes);

/* What is wrong with a plan. */
typedef enum berth_fault {
  BERTH_FAULT_NONE,
  BERTH_FAULT_OVERLAP,   /* a and b are live in the same step and share a byte */
  BERTH_FAULT_ALIGNMENT, /* a's offset is not a multiple of its alignment */
  BERTH_FAULT_FIXED,     /* a is not where it must be */
  BERTH_FAULT_REGION,    /* a is in a region that it may not live in, or that does not exist */
  BERTH_FAULT_CAPACITY,  /* a reaches beyond its region's end, or beyond 2^64 */
  BERTH_FAULT_SHARE,     /* a and b must share and don't */
  BERTH_FAULT_APART,     /* a and b must be in different regions and aren't */
  BERTH_FAULT_PEAK,      /* the stated peak is not the plan's */
  BERTH_FAULT_COST       /* the stated cost is not the plan's */
} berth_fault_t;

typedef struct berth_finding {
  berth_fault_t fault;
  uint32_t a, b;  /* the buffers concerned; b is UINT32_MAX where there is only one */
  uint64_t bytes; /* by how much: bytes shared, past the end, off the alignment or offset; PEAK
                     and COST: the plan's true figure */
} berth_finding_t;

/* A short English phrase for `fault`; never NULL, static storage. */
const char *berth_fault_text(berth_fault_t fault);

/* Checks `plan` (placements, peak, cost) against the definition of the problem, sharing no code
 * with any planner. OK: the plan is right. INFEASIBLE: it is not, and `*finding` (may be NULL) says
 * why; otherwise `*finding` is untouched. `workspace` as large as berth_plan_verify_workspace says;
 * O(n log n + pairs of buffers that overlap in time). */
berth_status_t berth_plan_verify(const berth_problem_t *problem, const berth_plan_t *plan,
                                 void *workspace, size_t workspace_bytes, berth_finding_t *finding);
berth_status_t berth_plan_verify_workspace(const berth_problem_t *problem, size_t *bytes);

/* ---- Why there is no plan ------------------------------------------------------------------- */

/* What makes a plan impossible, from the simplest reason on. */
typedef enum berth_obstacle {
  BERTH_OBSTACLE_NONE,   /* none of these: if there is no plan, then only because of how the buffers
                         would have to lie in several steps at once */
  BERTH_OBSTACLE_BUFFER, /* buffer `a` alone is larger, or ends later, than any region for it */
  BERTH_OBSTACLE_CONFLICT, /* the constraints of `a` and `b` contradict each other */
  BERTH_OBSTACLE_STEP      /* what is live in `step` and may only be in `regions` exceeds them */
} berth_obstacle_t;

typedef struct berth_explanation {
  berth_obstacle_t obstacle;
  uint32_t a, b;      /* BUFFER and CONFLICT: the buffers; UINT32_MAX where there is none */
  uint32_t step;      /* STEP: the step; where several exceed, the one that does so most */
  uint32_t regions;   /* STEP: bit r set: region r is one of those */
  uint64_t needed;    /* BUFFER and STEP: bytes needed at least */
  uint64_t available; /* BUFFER and STEP: bytes there are; the difference is what is missing */
} berth_explanation_t;

/* Looks for a simple reason why `problem` has no plan (within options->capacity, if given).
 * INFEASIBLE: there is one, in `*explanation`. OK: there is none of them (obstacle NONE).
 * `workspace` as large as berth_plan_explain_workspace says; O(n log n) for each different set of
 * regions that buffers are bound to. */
berth_status_t berth_plan_explain(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_explanation_t *explanation);
berth_status_t berth_plan_explain_workspace(const berth_problem_t *problem, size_t *bytes);

/* Is `buffer` one of those that the explanation is about? (STEP: those whose bytes are needed.) */
bool berth_explanation_concerns(const berth_explanation_t *explanation,
                                const berth_problem_t *problem, uint32_t buffer);

#ifdef __cplusplus
}
#endif
#endif
