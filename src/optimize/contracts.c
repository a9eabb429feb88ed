/* Contracts on the heap: an interpreter that has memory for its metadata only. */
#include "optimize/contracts.h"
#include "run/run.h"
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16u

/* The most metadata that asking may take: the interpreter's tables, and a shape for each tensor. */
static uint64_t metadata_bytes(const berth_model_t *model) {
  uint64_t bytes = (uint64_t)model->opcode_count * sizeof(berth_kernel_t *) + 16 * ALIGNMENT;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_subgraph_t subgraph = berth_model_subgraph(model, s);
    bytes += 2 * sizeof(uint32_t);
    bytes += (uint64_t)subgraph.operator_count * sizeof(berth_operator_place_t);
    bytes += (uint64_t)subgraph.tensor_count * (sizeof(uint32_t) + sizeof(berth_shape_t));
  }
  return bytes;
}

static berth_status_t ask(const berth_model_t *model, const berth_contracts_options_t *options,
                          berth_contracts_t *contracts) {
  uint64_t bytes = (metadata_bytes(model) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (bytes > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  contracts->memory = aligned_alloc(ALIGNMENT, (size_t)bytes);
  if (contracts->memory == NULL) return BERTH_ERROR_MEMORY;
  berth_memories_t blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.metadata.data = contracts->memory;
  blocks.metadata.bytes = (uint32_t)bytes;
  berth_interpreter_options_t settings = {.kernels = berth_kernels,
                                          .customs = options->customs,
                                          .log = options->log,
                                          .user = options->user};
  berth_status_t status =
      berth_interpreter_init(&contracts->interpreter, model, &settings, &blocks);
  if (status == BERTH_OK && options->reshape != NULL) {
    status = options->reshape(options->user, &contracts->interpreter);
  }
  if (status != BERTH_OK) return status;
  return berth_interpreter_contracts(&contracts->interpreter, contracts->table, contracts->count);
}

berth_status_t berth_contracts_make(const berth_model_t *model,
                                    const berth_contracts_options_t *options,
                                    berth_contracts_t *contracts) {
  static const berth_contracts_options_t defaults = {0};
  berth_contracts_t made;
  memset(&made, 0, sizeof made);
  made.bases = malloc(((size_t)model->subgraph_count + 1) * sizeof *made.bases);
  if (made.bases == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    uint32_t operators = berth_model_subgraph(model, s).operator_count;
    made.bases[s] = made.count;
    if (operators > UINT32_MAX - 1 - made.count) {
      berth_contracts_free(&made);
      return BERTH_ERROR_OVERFLOW;
    }
    made.count += operators;
  }
  made.table = malloc(((size_t)made.count + 1) * sizeof *made.table);
  berth_status_t status = BERTH_ERROR_MEMORY;
  if (made.table != NULL) status = ask(model, options != NULL ? options : &defaults, &made);
  if (status != BERTH_OK) {
    berth_contracts_free(&made);
    return status;
  }
  for (uint32_t i = 0; i < made.count; i++) made.unknown += !made.table[i].known;
  *contracts = made;
  return BERTH_OK;
}

void berth_contracts_free(berth_contracts_t *contracts) {
  free(contracts->memory);
  free(contracts->table);
  free(contracts->bases);
  memset(contracts, 0, sizeof *contracts);
}
