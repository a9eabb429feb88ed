/* Who writes and who reads the tensors of an edited subgraph; what the clean-ups ask. */
#ifndef BERTH_OPTIMIZE_USES_H
#define BERTH_OPTIMIZE_USES_H

#include "berth/graph.h"
#include "optimize/edit.h"

typedef struct berth_use {
  uint32_t producer; /* operator of the edit that writes it, or BERTH_NOBODY */
  uint32_t reader;   /* the first operator that reads it, or BERTH_NOBODY */
  uint32_t readings; /* operands that it is, over all operators */
  bool input;        /* of the subgraph */
  bool output;       /* of the subgraph, or named by a signature */
  bool constant;     /* its bytes are in the model */
  bool variable;
  bool mentioned; /* an intermediate of some operator */
} berth_use_t;

/* One for each tensor of the edit's subgraph; the caller frees it. Errors: MEMORY. */
berth_status_t berth_uses_find(const berth_edit_t *edit, uint32_t subgraph, berth_use_t **uses);

/* A value that exists for one reader only, which may then be given another: written by an operator,
 * read as one operand, and nothing else. */
static inline bool berth_use_is_private(const berth_use_t *use) {
  return use->producer != BERTH_NOBODY && use->readings == 1 && !use->input && !use->output &&
         !use->constant && !use->variable && !use->mentioned;
}

/* Changes what an operator of a subgraph gives cause to, if anything. True: it did. */
typedef bool (*berth_clean_operator_t)(berth_edit_t *edit, uint32_t subgraph, uint32_t op,
                                       const berth_use_t *uses);

/* Lets `change` look at every operator, again from the first one after each change, until nothing
 * is left to do; adds the number of changes to `*count`. Errors: MEMORY. */
berth_status_t berth_clean_operators(berth_edit_t *edit, berth_clean_operator_t change,
                                     uint32_t *count);

/* ---- The file's facts, by the edit's numbers ------------------------------------------------- */

/* The tensor, as in the file; `shape` is the edit's. */
berth_tensor_t berth_edit_tensor(const berth_edit_t *edit, uint32_t subgraph, uint32_t tensor);

/* The operator, as in the file: its operands are in the edit. */
berth_operator_t berth_edit_operator(const berth_edit_t *edit, uint32_t subgraph, uint32_t op);

/* Bytes of a constant, of the file or new; empty for what is none. */
berth_bytes_t berth_edit_data(const berth_edit_t *edit, uint32_t subgraph, uint32_t tensor);

/* A one-byte field of the options, as replaced or as in the file. */
int32_t berth_edit_option(const berth_edit_t *edit, uint32_t subgraph, uint32_t op, uint32_t field,
                          int32_t fallback);

/* Replaces it. False: the operator's options cannot be edited. */
bool berth_edit_set_option(berth_edit_t *edit, uint32_t subgraph, uint32_t op, uint32_t field,
                           uint8_t value);

/* Same type and same quantization: the same bytes mean the same numbers. */
bool berth_same_numbers(const berth_tensor_t *a, const berth_tensor_t *b);

/* Same dimensions, all of them known. */
bool berth_same_shape(const berth_tensor_t *a, const berth_tensor_t *b);

/* Does the operator do something besides writing its outputs, or may it? Such a one is never
 * dropped: it changes variables or resources, calls subgraphs, draws random numbers, or is unknown.
 */
bool berth_has_effects(const berth_edit_t *edit, uint32_t subgraph, uint32_t op,
                       const berth_use_t *uses);

#endif
