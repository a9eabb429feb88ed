/* Stand-ins for operators that Berth has no kernel for, so that models with them can be compared.
 *
 * A stand-in fills its outputs with numbers that depend on all bytes of its inputs and on nothing
 * else, in the shapes that the file states (or its first input's). Two models that are equal with
 * stand-ins are equal with any operators in their place whose outputs depend on their inputs alone:
 * they get the same bytes and their results are used alike. Used by the proof of `berth optimize`.
 */
#ifndef BERTH_SRC_HOST_STAND_IN_H
#define BERTH_SRC_HOST_STAND_IN_H

#include "berth/interpreter.h"

typedef struct berth_stand_ins {
  const berth_kernel_t *
      *customs;            /* NULL-terminated, for an interpreter; heap. NULL: none is needed */
  berth_kernel_t *kernels; /* heap */
  char **names;            /* of custom operators, empty for others; heap */
  uint32_t count;
  uint32_t operators; /* of all subgraphs, that they stand in for */
} berth_stand_ins_t;

/* For all operators of a model that no kernel knows. Errors: MEMORY. */
berth_status_t berth_stand_ins_make(const berth_model_t *model, berth_stand_ins_t *stand_ins);
void berth_stand_ins_free(berth_stand_ins_t *stand_ins);

#endif
