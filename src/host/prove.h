/* Proves by running that two models compute the same: the original with every tensor in memory of
 * its own, the result with its own plan and with every operator watched by the guard.
 *
 * Both get the same pseudo-random inputs, several invokes in a row (so that state carries over) for
 * each of several seeds, and all outputs are compared byte by byte. Used by `berth optimize`.
 */
#ifndef BERTH_SRC_HOST_PROVE_H
#define BERTH_SRC_HOST_PROVE_H

#include "host/runner.h"

/* What rounding at other places may cost: more is an error somewhere. */
#define BERTH_PROOF_ROUNDING 1e-4

typedef struct berth_proof_options {
  uint32_t seeds;      /* runs from the initial state, at least 1 */
  uint32_t invokes;    /* in a row, at least 1 */
  bool allow_rounding; /* floats may differ by BERTH_PROOF_ROUNDING of the output's largest */
  /* Gives the original's inputs other shapes (berth_interpreter_resize_input); may be NULL. */
  berth_status_t (*reshape)(void *user, berth_interpreter_t *interpreter);
  void *user;
  FILE *messages; /* what prepare has to say; NULL: none */
} berth_proof_options_t;

typedef struct berth_proof {
  uint32_t runs;  /* seeds x invokes */
  uint64_t bytes; /* of outputs, compared */
  bool allowed;   /* a difference of no more than BERTH_PROOF_ROUNDING is no failure */
  bool differ;
  uint32_t seed; /* the first difference, from 0: here, */
  uint32_t invoke;
  uint32_t output; /* number of the graph output */
  uint64_t byte;
  double largest;    /* largest difference: of integers in units, of floats relative to the output's
                        largest magnitude */
  uint32_t findings; /* of the guard */
  char finding[512]; /* the first of them in words */
} berth_proof_t;

/* Runs both files. OK also if they differ or the guard finds something. Errors: those of opening
 * and of invoking either, which `complaint` tells. */
berth_status_t berth_prove(const char *original, const char *result,
                           const berth_proof_options_t *options, berth_proof_t *proof,
                           berth_complaint_t *complaint);

/* Do they compute the same, and did every operator keep to its memory? */
static inline bool berth_proof_holds(const berth_proof_t *proof) {
  bool rounded = proof->allowed && proof->largest <= BERTH_PROOF_ROUNDING;
  return (!proof->differ || rounded) && proof->findings == 0;
}

#endif
