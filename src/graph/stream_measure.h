/* What the files of measuring a run share: the walk's state. See stream_measure.c for the whole. */
#ifndef BERTH_SRC_GRAPH_STREAM_MEASURE_H
#define BERTH_SRC_GRAPH_STREAM_MEASURE_H

#include "graph/stream.h"

typedef struct berth_measuring {
  berth_stream_t *stream;
  const berth_stream_network_t *network;
  const berth_stream_run_t *run;
  berth_stream_measure_t *measure;
  uint32_t *starts;  /* index in `readers` of each node's first one, and an end */
  uint32_t *readers; /* edges, by source */
  uint32_t *rings;   /* of each node */
  uint32_t *firsts;  /* of each node: the steps of the pieces while rows of it are needed; */
  uint32_t *lasts;   /*   BERTH_NOBODY: it is none whose lifetime is followed, or not made yet */
  uint32_t *live;    /* nodes of which rows are needed at the moment, unless that is known to be so
                        in all steps of the run */
  bool *is_live;     /* of each node: is it in that list? */
  uint64_t *sums;    /* scratch: of each step */
  uint32_t live_count;
  uint32_t reads[BERTH_STREAM_READS_MAX]; /* nodes before the run that it reads for the last time */
  uint32_t read_count;
  uint32_t made[BERTH_STREAM_OVERLAPS_MAX]; /* nodes of each overlap's tensors */
  uint32_t read[BERTH_STREAM_OVERLAPS_MAX];
  bool worse;      /* than when `go_on` was last asked: rings or distances */
  uint32_t waited; /* pieces since then */
} berth_measuring_t;

/* The first row of what `source` makes that some reader in the run still needs; all its rows if
 * nobody does. While `writer` makes its rows of work from `from` on, it still needs what they read;
 * BERTH_NOBODY: nobody is at work. `except`: this edge doesn't count. */
uint32_t berth_measuring_first_needed(const berth_measuring_t *m, uint32_t source, uint32_t writer,
                                      uint32_t from, uint32_t except);

/* ---- stream_lives.c --------------------------------------------------------------------------
 */

/* Nobody has been made. After berth_stream_begin. */
void berth_measuring_begin_lives(berth_measuring_t *m);

/* A piece of node `index` has been made. */
void berth_measuring_note_lives(berth_measuring_t *m, uint32_t index);

/* The largest sum of rings that live in one step, in bytes, as far as the walk has come. */
uint64_t berth_measuring_most_live(const berth_measuring_t *m);

#endif
