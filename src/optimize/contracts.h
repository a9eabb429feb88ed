/* The contracts of a model's operators, as Berth's own kernels state them, on the heap.
 *
 * Used by whatever plans, orders or streams a model on a host. Nothing is planned or run; models
 * with operators that no kernel knows have contracts, too (those are not `known` then).
 *
 *   berth_contracts_t contracts;
 *   if (berth_contracts_make(&model, NULL, &contracts) == BERTH_OK) {
 *     use(&contracts.table[contracts.bases[subgraph] + op]);
 *     berth_contracts_free(&contracts);
 *   }
 */
#ifndef BERTH_SRC_OPTIMIZE_CONTRACTS_H
#define BERTH_SRC_OPTIMIZE_CONTRACTS_H

#include "berth/interpreter.h"

typedef struct berth_contracts_options {
  const berth_kernel_t *const *customs; /* kernels besides Berth's own; may be NULL */
  berth_log_t log;                      /* what is missing or refused; may be NULL */
  /* Gives inputs other shapes than the file's (berth_interpreter_resize_input); may be NULL. */
  berth_status_t (*reshape)(void *user, berth_interpreter_t *interpreter);
  void *user; /* handed to both */
} berth_contracts_options_t;

typedef struct berth_contracts {
  berth_contract_t *table;         /* of the operators of all subgraphs, one after the other */
  uint32_t *bases;                 /* index in `table` of the first operator of each subgraph */
  uint32_t count;                  /* operators */
  uint32_t unknown;                /* of them, those whose contract is not known */
  berth_interpreter_t interpreter; /* tells the shapes: berth_interpreter_tensor. Not prepared. */
  void *memory;                    /* the interpreter's */
} berth_contracts_t;

/* Asks all operators; `options` NULL: all defaults. The model must outlive `*contracts`.
 * Errors: MEMORY, OVERFLOW, and what `reshape` returns; `*contracts` is then untouched. */
berth_status_t berth_contracts_make(const berth_model_t *model,
                                    const berth_contracts_options_t *options,
                                    berth_contracts_t *contracts);

void berth_contracts_free(berth_contracts_t *contracts);

#endif
