/* Who made a tensor, and who keeps it alive: the question behind every peak. Used by whoever shows
 * what is live in a step. */
#ifndef BERTH_SRC_HOST_KEEPER_H
#define BERTH_SRC_HOST_KEEPER_H

#include "host/subject.h"

/* Why a buffer is still there in a step. */
typedef enum berth_keep {
  BERTH_KEEP_NOBODY,    /* nobody reads it: its maker needs the memory to write to */
  BERTH_KEEP_HERE,      /* this step's operator reads it for the last time */
  BERTH_KEEP_READER,    /* `reader` comes later */
  BERTH_KEEP_SKIP,      /* a skip connection into `reader`: others have read it long before */
  BERTH_KEEP_OUTPUT,    /* a graph output: the application reads it */
  BERTH_KEEP_INPUT,     /* a graph input that keeps its memory to the end */
  BERTH_KEEP_VARIABLE,  /* its value is needed in the next invoke */
  BERTH_KEEP_CALL,      /* it is of a subgraph that runs in these steps */
  BERTH_KEEP_RUN,       /* streamed: its run is still to make it, or is to make more of its rows */
  BERTH_KEEP_SCRATCH,   /* an operator's own, in its step; streamed: in all of its run */
  BERTH_KEEP_WORKSPACE, /* an operator's own, always */
  BERTH_KEEP_RESERVED   /* the application asked for it; or a problem's buffer */
} berth_keep_t;

typedef struct berth_keeper {
  berth_keep_t why;
  uint32_t subgraph; /* of the two operators */
  uint32_t maker;    /* operator that writes it, or BERTH_NOBODY: the application */
  uint32_t reader;   /* the last operator that reads it, or BERTH_NOBODY */
  uint32_t waits;    /* SKIP and READER: steps from the use before to `reader` */
  bool in_run;       /* SCRATCH: for more than its step */
} berth_keeper_t;

/* About buffer `index` in a step in which it is live. Cost: a walk over the model's operators. */
berth_keeper_t berth_keeper_of(const berth_subject_t *subject, uint32_t index, uint32_t step);

/* "made by operator 3 CONV_2D; kept 14 steps by the skip connection into operator 22 ADD" into
 * `text`; returns it. */
char *berth_keeper_text(const berth_subject_t *subject, const berth_keeper_t *keeper, uint32_t step,
                        char *text, size_t size);

/* "skip" and the like, for JSON; static. */
const char *berth_keep_word(berth_keep_t why);

#endif
