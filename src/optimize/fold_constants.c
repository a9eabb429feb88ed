/* Folding operators whose inputs are all constants: their results become constants.
 *
 * The values are those of Berth's kernels, taken from one run of the model with every tensor in
 * memory of its own. Unless growth is wanted, an operator stays whose result is larger than what it
 * is made from, such as the DEQUANTIZE of float16 weights and the DENSIFY of sparse ones.
 */
#include "berth/interpreter.h"
#include "optimize/cleanup.h"
#include "optimize/uses.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT   16u
#define FIRST_GUESS (1u << 20) /* bytes of memory to run in */
#define MOST        (1u << 30)

/* An operator of the main subgraph that can be folded. */
static bool is_candidate(const berth_edit_t *edit, uint32_t op, const berth_use_t *uses,
                         bool grow) {
  const berth_edit_operator_t *edited = &edit->subgraphs[0].operators[op];
  uint64_t in = 0, out = 0;
  if (edited->inputs.count == 0 || berth_has_effects(edit, 0, op, uses)) return false;
  for (uint32_t i = 0; i < edited->inputs.count; i++) {
    if (edited->inputs.values[i] == BERTH_NO_TENSOR) continue;
    uint32_t tensor = (uint32_t)edited->inputs.values[i];
    berth_bytes_t data = berth_edit_data(edit, 0, tensor);
    if (data.size == 0 || uses[tensor].variable) return false;
    in += data.size;
  }
  for (uint32_t i = 0; i < edited->outputs.count; i++) {
    if (edited->outputs.values[i] == BERTH_NO_TENSOR) return false;
    uint64_t bytes;
    berth_tensor_t tensor = berth_edit_tensor(edit, 0, (uint32_t)edited->outputs.values[i]);
    const berth_use_t *use = &uses[edited->outputs.values[i]];
    if (use->output || use->variable || use->mentioned) return false;
    if (berth_tensor_bytes(tensor.type, tensor.shape, &bytes) != BERTH_OK) return false;
    out += bytes;
  }
  return out > 0 && (grow || out <= in);
}

static bool any_candidate(const berth_edit_t *edit, const berth_use_t *uses, bool grow) {
  for (uint32_t op = 0; op < edit->subgraphs[0].operator_count; op++) {
    if (is_candidate(edit, op, uses, grow)) return true;
  }
  return false;
}

/* ---- Running the model ----------------------------------------------------------------------- */

static berth_status_t prepare_in(const berth_model_t *model, void *memory, uint32_t bytes,
                                 berth_interpreter_t *interpreter) {
  berth_memories_t blocks = {.activations = {memory, bytes}};
  berth_interpreter_options_t options = {
      .kernels = berth_kernels, .no_reuse = true, .ignore_model_plan = true};
  berth_status_t status = berth_interpreter_init(interpreter, model, &options, &blocks);
  return status == BERTH_OK ? berth_interpreter_prepare(interpreter) : status;
}

/* Prepared in a block on the heap, which is doubled until it is enough; NULL: it cannot run. */
static void *prepare(const berth_model_t *model, berth_interpreter_t *interpreter) {
  for (uint32_t bytes = FIRST_GUESS; bytes <= MOST; bytes *= 2) {
    void *memory = aligned_alloc(ALIGNMENT, bytes);
    if (memory == NULL) return NULL;
    berth_status_t status = prepare_in(model, memory, bytes, interpreter);
    if (status == BERTH_OK) return memory;
    free(memory);
    if (status != BERTH_ERROR_MEMORY) return NULL;
  }
  return NULL;
}

static void zero_inputs(const berth_interpreter_t *interpreter) {
  uint32_t count = berth_model_subgraph(interpreter->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_interpreter_input(interpreter, i);
    if (value.data != NULL && !value.constant) memset(value.data, 0, value.bytes);
  }
}

/* ---- Folding --------------------------------------------------------------------------------- */

static berth_status_t take_value(berth_edit_t *edit, const berth_interpreter_t *interpreter,
                                 uint32_t tensor) {
  berth_edit_tensor_t *edited = &edit->subgraphs[0].tensors[tensor];
  berth_value_t value = berth_interpreter_tensor(interpreter, 0, edited->origin);
  return berth_edit_add_buffer(edit, value.data, value.bytes, &edited->buffer);
}

/* Are the values of all outputs there, and of the size that the file states? */
static bool has_values(const berth_edit_t *edit, const berth_interpreter_t *interpreter,
                       const berth_edit_operator_t *op) {
  for (uint32_t i = 0; i < op->outputs.count; i++) {
    uint64_t bytes;
    uint32_t tensor = (uint32_t)op->outputs.values[i];
    berth_tensor_t info = berth_edit_tensor(edit, 0, tensor);
    berth_value_t value =
        berth_interpreter_tensor(interpreter, 0, edit->subgraphs[0].tensors[tensor].origin);
    if (value.data == NULL || !value.known || value.type != info.type) return false;
    if (berth_tensor_bytes(info.type, info.shape, &bytes) != BERTH_OK) return false;
    if (bytes != value.bytes) return false;
  }
  return true;
}

static berth_status_t fold_all(berth_edit_t *edit, const berth_interpreter_t *interpreter,
                               const berth_use_t *uses, bool grow, uint32_t *count) {
  berth_edit_subgraph_t *main = &edit->subgraphs[0];
  for (uint32_t op = 0; op < main->operator_count;) {
    const berth_edit_operator_t *edited = &main->operators[op];
    if (!is_candidate(edit, op, uses, grow) || !has_values(edit, interpreter, edited)) {
      op++;
      continue;
    }
    for (uint32_t i = 0; i < edited->outputs.count; i++) {
      berth_status_t status = take_value(edit, interpreter, (uint32_t)edited->outputs.values[i]);
      if (status != BERTH_OK) return status;
    }
    berth_edit_drop_operator(edit, 0, op);
    (*count)++;
  }
  return BERTH_OK;
}

static berth_status_t fold(berth_edit_t *edit, bool grow, uint32_t *count) {
  berth_use_t *uses;
  berth_interpreter_t interpreter;
  berth_status_t status = berth_uses_find(edit, 0, &uses);
  if (status != BERTH_OK) return status;
  void *memory = any_candidate(edit, uses, grow) ? prepare(edit->model, &interpreter) : NULL;
  if (memory != NULL) {
    zero_inputs(&interpreter);
    if (berth_interpreter_invoke(&interpreter) == BERTH_OK) {
      status = fold_all(edit, &interpreter, uses, grow, count);
    }
  }
  free(memory);
  free(uses);
  return status;
}

berth_status_t berth_clean_constants(berth_edit_t *edit, uint32_t *count) {
  return fold(edit, false, count);
}

berth_status_t berth_clean_all_constants(berth_edit_t *edit, uint32_t *count) {
  return fold(edit, true, count);
}
