/* Proves by running that two models compute the same: the original with every tensor in memory of
 * its own, the result with its own plan and with every operator watched by the guard.
 *
 * Both get the same pseudo-random inputs, several invokes in a row (so that state carries over) for
 * each of several seeds, and all outputs are compared byte by byte. Used by `berth optimize`.
 *
 * Operators that Berth has no kernel for get a stand-in (host/stand_in.h) in both: what is proven
 * then holds for all operators in their place whose outputs depend on their inputs alone.
 *
 * In addition the plan in the result is rehearsed where stock TFLM puts everything
 * (stock/rehearsal.h). A foreign plan, which Berth cannot run in, is proven by that: the result
 * then runs with every tensor in memory of its own, and each operator's accesses are played with
 * its bytes in TFLM's arena, in the order of TFLM's reference kernel.
 */
#ifndef BERTH_SRC_HOST_PROVE_H
#define BERTH_SRC_HOST_PROVE_H

#include "host/runner.h"
#include "stock/tflm_forecast.h"

/* What rounding at other places may cost: more is an error somewhere. */
#define BERTH_PROOF_ROUNDING 1e-4

typedef struct berth_proof_options {
  uint32_t seeds;      /* runs from the initial state, at least 1 */
  uint32_t invokes;    /* in a row, at least 1 */
  bool allow_rounding; /* floats may differ by BERTH_PROOF_ROUNDING of the output's largest */
  /* Gives the original's inputs other shapes (berth_interpreter_resize_input); may be NULL. */
  berth_status_t (*reshape)(void *user, berth_interpreter_t *interpreter);
  void *user;
  bool foreign;                /* the result's plan is none that Berth can run in */
  berth_tflm_settings_t stock; /* of the firmware, for the rehearsal; its plan is the result's */
  void (*progress)(void *user, uint32_t run, uint32_t runs); /* before each run; may be NULL */
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
  uint32_t stand_ins;      /* operators that something else stood in for */
  uint32_t stand_in_kinds; /* of operators among them */
  char stand_in_name[64];  /* of the first of them, printable */
  bool rehearsed;          /* the plan was played in stock TFLM's arena; likewise below */
  bool with_bytes;         /* and the bytes of each run with it */
  uint32_t played;         /* operators */
  uint32_t in_order; /* of them, those with an output over an operand, played access by access */
  uint64_t checked;  /* bytes read in one run */
  bool clobbered;    /* something was read that had been overwritten: */
  char clobber[256]; /* what, in words */
} berth_proof_t;

/* Runs both files. OK also if they differ or the guard finds something. Errors: those of opening
 * and of invoking either, which `complaint` tells. */
berth_status_t berth_prove(const char *original, const char *result,
                           const berth_proof_options_t *options, berth_proof_t *proof,
                           berth_complaint_t *complaint);

/* Do they compute the same, and did every operator keep to its memory? */
static inline bool berth_proof_holds(const berth_proof_t *proof) {
  bool rounded = proof->allowed && proof->largest <= BERTH_PROOF_ROUNDING;
  return (!proof->differ || rounded) && proof->findings == 0 && !proof->clobbered;
}

#endif
