/* What the files of the search for runs share: what is known of the network, and the loads of runs.
 * See stream_search.c for the whole. */
#ifndef BERTH_SRC_GRAPH_STREAM_SEARCH_H
#define BERTH_SRC_GRAPH_STREAM_SEARCH_H

#include "graph/stream.h"
#include "plan/round.h"
#include "plan/workspace.h"

#define BERTH_STREAM_IMPOSSIBLE UINT64_MAX /* a load: no such run */
#define BERTH_STREAM_STRIP      8u         /* loads */

/* What the search knows of a tensor of subgraph 0. */
typedef struct search_tensor {
  uint64_t bytes; /* rounded up; 0: it takes no memory of its own here */
  uint64_t least; /* bytes of the fewest rows that any ring of it has */
  uint32_t made;  /* step, or BERTH_NOBODY: there before step 0 */
  uint32_t last;  /* step */
  bool kept;      /* a graph output */
  bool pushed;    /* a graph input that may come row by row */
  bool goes;      /* a graph output that may go row by row */
  bool stays;     /* rows of it are held over from one row of a reader to the next: inside of a run,
                     it lives in all steps */
} search_tensor_t;

typedef struct search_step {
  uint64_t live;    /* bytes made before it and read in it or later */
  uint64_t scratch; /* for one call */
  uint64_t sums;    /* what it accumulates in, if streamed */
  uint64_t calls;   /* of this and all earlier steps, if streamed */
  uint64_t whole;   /* load, if run whole */
  uint64_t extra;   /* bytes of called subgraphs' tensors */
  uint32_t reach;   /* the longest run that begins with it ends before this step */
  uint32_t inputs;  /* index in `operands` of its different inputs in the arena; */
  uint32_t outputs; /*   of its outputs; */
  uint32_t end;     /*   of their end */
  bool can_run;
} search_step_t;

/* Of a cut: the best way to it. */
typedef struct search_cut {
  uint64_t value; /* load or calls, whichever is minimised */
  uint64_t load;
  uint32_t from; /* cut */
  bool streamed; /* by a run, else a whole step */
} search_cut_t;

#define BERTH_SEARCHING_SKETCHED 256u /* so many of them are as much work as a piece */

typedef struct berth_searching {
  const berth_stream_network_t *network;
  const berth_graph_t *graph;
  const berth_stream_search_options_t *options;
  berth_stream_result_t *result;
  berth_stream_t stream;
  berth_stream_measure_t measure;
  search_tensor_t *tensors;
  search_step_t *steps;
  uint32_t *operands;
  uint32_t *need; /* scratch: of each node, rows that must be there */
  uint64_t *sums; /* scratch: of each step, and an end */
  search_cut_t *cuts;
  uint64_t
      *loads;     /* of the run of length n + 1 from step i: loads[i * width + n]; a bound, until */
  bool *walked;   /*   it was walked to its end */
  uint64_t *mins; /* the least of each BERTH_STREAM_STRIP of a step's loads: loads that are too
                     large are passed over by the strip */
  uint64_t guess; /* the smallest load is sought up to this one first */
  berth_stream_run_t *runs;
  uint32_t run_count, run_room;
  void *stream_memory, *measure_memory;
  size_t stream_bytes, measure_bytes;
  uint32_t step_count, tensor_count, width;
  uint64_t align, limit;
  uint64_t sketched; /* runs that were looked at in sketches of paths, which is work as well */
  uint64_t total;    /* bytes of everything: a budget for any plan */
  uint64_t cutoff;   /* of the walk at hand: what is beyond need not be known */
  uint64_t fixed;    /* of the walk at hand: load besides rings and overlaps, 0: not added up yet */
  bool stopped;
} berth_searching_t;

static inline uint64_t berth_searching_rounded(const berth_searching_t *s, uint64_t bytes) {
  return berth_round_up(bytes, s->align);
}

static inline size_t berth_searching_index(const berth_searching_t *s, uint32_t first,
                                           uint32_t last) {
  return (size_t)first * s->width + (last - first);
}

static inline berth_stream_run_t berth_searching_run(const berth_searching_t *s, uint32_t first,
                                                     uint32_t last, uint32_t block) {
  return (berth_stream_run_t){first, last, block, s->options->push_inputs, s->options->pull_outputs,
                              false};
}

/* ---- stream_search.c --------------------------------------------------------------------------
 */

/* Lays out the workspace and reads what is known of the network; network, graph and options are
 * set. */
berth_status_t berth_searching_open(berth_searching_t *s, void *workspace, size_t workspace_bytes,
                                    berth_stream_result_t *result);

/* ---- stream_coarsen.c -------------------------------------------------------------------------
 */

/* Lets the run make more rows at a time, up to `most`, as long as its load is at most `budget`.
 * Returns its calls of operators. */
uint64_t berth_searching_coarsen(berth_searching_t *s, berth_stream_run_t *run, uint64_t budget,
                                 uint32_t most);

/* ---- stream_facts.c ---------------------------------------------------------------------------
 */

/* Operands of all operators: the room that `operands` needs. */
size_t berth_searching_operands(const berth_stream_network_t *network);

/* Fills tensors, steps and operands. */
void berth_searching_read(berth_searching_t *s);

/* ---- stream_load.c ----------------------------------------------------------------------------
 */

/* Of the strip that the load at this index of step `first` is in: the index in `mins`. */
static inline size_t berth_searching_strip(const berth_searching_t *s, uint32_t first,
                                           uint32_t last) {
  size_t strips = (s->width + BERTH_STREAM_STRIP - 1) / BERTH_STREAM_STRIP;
  return first * strips + (last - first) / BERTH_STREAM_STRIP;
}

/* Fills `loads` with lower bounds; IMPOSSIBLE for what is no run. */
void berth_searching_bound(berth_searching_t *s);

/* Walks the run of steps first..last until its load is known or known to be larger than `enough`;
 * `loads` and `walked` then say so. Nothing, when the work limit is reached, or this run alone may
 * exceed it. */
void berth_searching_walk(berth_searching_t *s, uint32_t first, uint32_t last, uint64_t enough);

/* The load of any run; more than `enough`: at least that. s->measure has its pieces. */
uint64_t berth_searching_load(berth_searching_t *s, const berth_stream_run_t *run, uint64_t enough);

#endif
