/* Replays recorded runs of a model and compares what comes out.
 *
 * A folder holds run<n>.in<k>.bin and run<n>.out<k>.bin for the n-th invoke (from 1) of one
 * interpreter, or in<k>.bin and out<k>.bin for a single one: raw little-endian values. If it also
 * has layers.csv (columns run, tensor, dtype, bytes, crc32: CRC-32 of each tensor of the main
 * subgraph after the invoke), every integer tensor is compared as soon as it is made.
 */
#ifndef BERTH_SRC_HOST_REPLAY_H
#define BERTH_SRC_HOST_REPLAY_H

#include "host/runner.h"
#include "host/verdict.h"

typedef struct berth_replay {
  uint32_t invokes;
  uint64_t outputs;           /* tensors compared */
  uint64_t layers;            /* tensors whose CRC was compared */
  uint64_t different_outputs; /* of them, how many differ beyond the tolerance */
  uint64_t different_layers;
  double largest;     /* largest difference of a float output, relative to its largest magnitude */
  uint32_t first_run; /* where the first difference is: run (from 1) */
  uint32_t first_op;  /*   after which operator, or BERTH_NOBODY: in a graph output */
  uint32_t first_tensor; /*   in which tensor of the main subgraph */
  uint32_t first_element;
  berth_verdicts_t verdicts; /* of the guard, if the options ask for it */
  char first_verdict[1024];  /* the first of them in words, or "" */
} berth_replay_t;

/* Runs the model as recorded in `folder`. `tolerance`: largest difference of a float output
 * relative to the recorded tensor's largest magnitude; integers must be equal, up to `units`.
 * Errors: ARGUMENT (no recording, or one that doesn't fit), and those of invoke. */
berth_status_t berth_replay_run(const char *path, const berth_runner_options_t *options,
                                const char *folder, double tolerance, uint32_t units,
                                berth_replay_t *replay, berth_complaint_t *complaint);

#endif
