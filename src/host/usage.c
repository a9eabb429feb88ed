/* What each step holds, and where a running model has its buffers. */
#include "host/usage.h"
#include "run/run.h"

#include <stdlib.h>

const berth_named_region_t berth_runner_regions[BERTH_RUNNER_REGIONS] = {
    {"arena", {BERTH_UNLIMITED, 1}}, {"persistent", {BERTH_UNLIMITED, 1}}};

berth_usage_t *berth_usage_of(const berth_subject_t *subject) {
  berth_usage_t *usage = calloc((size_t)subject->step_count + 1, sizeof *usage);
  if (usage == NULL) return NULL;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    const berth_label_t *label = &subject->labels[i];
    bool workspace = label->kind == BERTH_KIND_WORKSPACE;
    if (workspace && label->op_subgraph == 0) usage[label->op].workspace += buffer->size;
    for (uint32_t step = buffer->first; step <= buffer->last; step++) {
      berth_usage_t *at = &usage[step];
      at->live += buffer->size;
      if (workspace || label->kind == BERTH_KIND_VARIABLE) {
        at->persistent += buffer->size;
      } else if (label->kind == BERTH_KIND_SCRATCH) {
        at->scratch += buffer->size;
      } else {
        at->activations += buffer->size;
      }
    }
  }
  return usage;
}

/* ---- A running model ------------------------------------------------------------------------- */

/* From an address to the block that holds it. */
static berth_placement_t place(const berth_interpreter_t *interpreter, const uint8_t *address) {
  const berth_memories_t *memories = &interpreter->memories;
  const uint8_t *activations = memories->activations.data, *persistent = memories->persistent.data;
  berth_placement_t nowhere = {0, BERTH_OUTSIDE};
  if (address == NULL) return nowhere;
  if (address >= activations && address < activations + memories->activations.bytes) {
    return (berth_placement_t){(uint64_t)(address - activations), 0};
  }
  if (persistent != NULL && address >= persistent &&
      address < persistent + memories->persistent.bytes) {
    return (berth_placement_t){(uint64_t)(address - persistent), 1};
  }
  return nowhere; /* a constant of the file, which stands for a folded tensor */
}

static const uint8_t *address_of(berth_interpreter_t *interpreter, const berth_label_t *label) {
  uint32_t source; /* of a float32 tensor that only kernels read which take its float16 source */
  if (label->tensor != BERTH_NOBODY) {
    if (berth_run_is_folded(interpreter, label->subgraph, label->tensor, &source)) return NULL;
    return berth_interpreter_tensor(interpreter, label->subgraph, label->tensor).data;
  }
  berth_call_t call;
  berth_run_call(interpreter, label->op_subgraph, label->op, &call);
  berth_run_call_memory(interpreter, &call);
  if (label->kind == BERTH_KIND_SCRATCH) return call.scratch[label->part];
  return label->part == 0 ? call.workspace : call.state;
}

void berth_usage_of_runner(berth_runner_t *runner, berth_subject_t *subject,
                           berth_placement_t *placements) {
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    placements[i] =
        place(&runner->interpreter, address_of(&runner->interpreter, &subject->labels[i]));
    if (placements[i].region == BERTH_OUTSIDE) subject->buffers[i].size = 0;
  }
}
