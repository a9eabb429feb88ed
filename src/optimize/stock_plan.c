/* Offsets for stock TFLM. See stock_plan.h.
 *
 * Cost: the default planner's, and, only where scratch does not end up where it was planned, one
 * pass of each other planner.
 */
#include "optimize/stock_task.h"
#include "stock/diagonal.h"
#include "stock/overlap.h"
#include "stock/rehearsal.h"
#include <stdlib.h>
#include <string.h>

/* ---- Offsets --------------------------------------------------------------------------------- */

/* One planner's plan; heap. */
static berth_status_t run_planner(const berth_stock_task_t *task, const berth_planner_t *planner,
                                  berth_plan_t *plan) {
  berth_plan_options_t options = {.progress = task->options->progress,
                                  .progress_user = task->options->progress_user};
  size_t bytes;
  memset(plan, 0, sizeof *plan);
  berth_status_t status = berth_plan_workspace(planner, &task->problem, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  plan->placements = calloc((size_t)task->problem.buffer_count + 1, sizeof *plan->placements);
  status = workspace != NULL && plan->placements != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) {
    status = berth_plan_make(planner, &task->problem, &options, workspace, bytes, plan);
  }
  free(workspace);
  if (status == BERTH_OK && plan->peak > INT32_MAX) status = BERTH_ERROR_OVERFLOW;
  if (status != BERTH_OK) {
    free(plan->placements);
    plan->placements = NULL;
  }
  return status;
}

/* Is a buffer live while an operator runs whose scratch is unknown? */
static bool is_beside_unknown(const berth_stock_task_t *task, const berth_buffer_t *buffer) {
  for (uint32_t i = 0; i < task->stock.operator_count && task->timed; i++) {
    if (task->stock.operators[i].known) continue;
    uint32_t step = i + 2; /* TFLM's count, and one more for the tensors before step 0 */
    if (buffer->first <= step && step <= buffer->last) return true;
  }
  return false;
}

/* The plan as TFLM's offsets. */
static uint32_t set_offsets(const berth_stock_task_t *task, const berth_plan_t *plan,
                            int32_t *offsets) {
  uint32_t left_out = 0;
  for (uint32_t i = 0; i < task->tensor_count; i++) offsets[i] = -1;
  for (uint32_t i = 0; i < task->problem.buffer_count; i++) {
    uint32_t root = task->tensors[i], tensor = root;
    if (root == BERTH_NOBODY) continue;
    bool unknown = is_beside_unknown(task, &task->buffers[i]);
    do {
      uint64_t offset = plan->placements[i].offset + task->aliases[tensor].offset;
      offsets[tensor] = unknown ? -1 : (int32_t)offset;
      left_out += unknown;
      tensor = task->aliases[tensor].next;
    } while (tensor != root);
  }
  return left_out;
}

/* The head with the offsets; what was planned where the forecast knows nothing. */
static berth_status_t head_of(const berth_stock_task_t *task, const int32_t *offsets, uint64_t peak,
                              uint64_t *head) {
  *head = peak;
  if (!task->has_stock) return BERTH_OK;
  berth_tflm_forecast_t stock;
  berth_status_t status = berth_stock_task_forecast(task, offsets, &stock);
  if (status != BERTH_OK) return status;
  *head = stock.head_bytes;
  berth_tflm_forecast_free(&stock);
  return BERTH_OK;
}

/* One planner's try: kept in task->offsets if its head is the smallest so far. */
static berth_status_t try_planner(berth_stock_task_t *task, const berth_planner_t *planner,
                                  int32_t *offsets, berth_stock_plan_t *result) {
  berth_plan_t plan;
  uint64_t head;
  berth_status_t status = run_planner(task, planner, &plan);
  if (status != BERTH_OK) return status;
  if (plan.lower_bound > result->lower_bound) result->lower_bound = plan.lower_bound;
  uint32_t left_out = set_offsets(task, &plan, offsets);
  free(plan.placements);
  status = head_of(task, offsets, plan.peak, &head);
  if (status != BERTH_OK || head >= result->head_bytes) return status;
  result->head_bytes = head;
  result->left_out = left_out;
  memcpy(task->offsets, offsets, task->tensor_count * sizeof *offsets);
  return BERTH_OK;
}

/* Scratch goes where TFLM puts it, which may not be where it was planned: then other plans that are
 * as small may suit it better. A planner that fails, or can't do with pairs, takes nothing away
 * from what others have found. */
static berth_status_t find_offsets(berth_stock_task_t *task, berth_stock_plan_t *result) {
  const berth_planner_t *const planners[] = {&berth_planner_best,   &berth_planner_size,
                                             &berth_planner_tflm,   &berth_planner_breadth,
                                             &berth_planner_tflite, &berth_planner_search};
  int32_t *offsets = malloc(((size_t)task->tensor_count + 1) * sizeof *offsets);
  if (offsets == NULL) return BERTH_ERROR_MEMORY;
  berth_status_t failure = BERTH_OK;
  result->head_bytes = UINT64_MAX;
  for (uint32_t i = 0; i < sizeof planners / sizeof *planners; i++) {
    if (result->head_bytes <= result->lower_bound) break;
    berth_status_t status = try_planner(task, planners[i], offsets, result);
    if (status != BERTH_OK && failure == BERTH_OK) failure = status;
  }
  free(offsets);
  return result->head_bytes != UINT64_MAX ? BERTH_OK : failure;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

/* How `output` and an operand of `op` lie, if they have memory in common. */
static bool share_of(const berth_stock_task_t *task, uint32_t op, uint32_t operand, uint32_t output,
                     berth_stock_share_t *share) {
  berth_operator_t what = berth_model_operator(task->model, 0, op);
  int32_t input = berth_vector_int(what.inputs, operand);
  if (input == BERTH_NO_TENSOR || task->offsets[input] == -1) return false;
  uint64_t from = (uint64_t)task->offsets[input], to = (uint64_t)task->offsets[output];
  uint64_t from_bytes = task->graph.tensors[input].bytes, bytes = task->graph.tensors[output].bytes;
  *share = (berth_stock_share_t){
      .op = op, .code = what.code, .input = (uint32_t)input, .output = output, .bytes = bytes};
  if (task->aliases[input].root == task->aliases[output].root) {
    const berth_stock_overlap_t *entry = berth_stock_overlap(what.code);
    share->view = task->sharing[op].view != BERTH_VIEW_NONE;
    share->reason = entry != NULL ? entry->reason : "";
    return from == to;
  }
  if (from < to || from >= to + bytes || from_bytes == 0) return false;
  share->diagonal = true;
  share->gap = from - to;
  share->bytes = bytes - share->gap < from_bytes ? bytes - share->gap : from_bytes;
  share->reason = berth_stock_diagonal_reason(what.code);
  return berth_stock_diagonal(task->model, 0, op, operand, &share->distance);
}

static berth_status_t list_shares(const berth_stock_task_t *task, berth_stock_plan_t *result) {
  result->shares = calloc((size_t)task->operators + 1, sizeof *result->shares);
  if (result->shares == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t op = 0; op < task->operators; op++) {
    berth_operator_t what = berth_model_operator(task->model, 0, op);
    int32_t output = what.outputs.count > 0 ? berth_vector_int(what.outputs, 0) : BERTH_NO_TENSOR;
    if (output == BERTH_NO_TENSOR || task->offsets[output] == -1) continue;
    for (uint32_t i = 0; i < what.inputs.count; i++) {
      berth_stock_share_t *share = &result->shares[result->share_count];
      if (!share_of(task, op, i, (uint32_t)output, share)) continue;
      result->share_count++;
      break;
    }
  }
  return BERTH_OK;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Once more from the definition: does every pair of tensors that overlap have a permission of
 * Berth's? INFEASIBLE: not all have. */
static berth_status_t verify(const berth_stock_task_t *task) {
  berth_alias_options_t options = {.overlap = task->options->overlap, .align = BERTH_STOCK_ALIGN};
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&task->graph, task->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  uint64_t *places = malloc(((size_t)task->tensor_count + 1) * sizeof *places);
  status = workspace != NULL && places != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < task->tensor_count && status == BERTH_OK; i++) {
    places[i] = task->offsets[i] == -1 ? UINT64_MAX : (uint64_t)task->offsets[i];
  }
  if (status == BERTH_OK) {
    status = berth_alias_check(&task->graph, task->sharing, &options, places, workspace, bytes,
                               NULL, NULL);
  }
  free(workspace);
  free(places);
  return status;
}

/* Played in TFLM's arena, with scratch where TFLM puts it: does every operator read what was
 * written for it? */
static berth_status_t rehearse(const berth_stock_task_t *task) {
  berth_tflm_forecast_t stock;
  berth_rehearsal_t rehearsal;
  berth_status_t status = berth_stock_task_forecast(task, task->offsets, &stock);
  if (status != BERTH_OK) return status;
  status = berth_rehearsal_open(task->model, stock.buffers, stock.buffer_count, &rehearsal);
  if (status == BERTH_OK) {
    status = berth_rehearsal_play(&rehearsal);
    if (status == BERTH_UNDECIDED) status = BERTH_ERROR_UNSUPPORTED;
    if (status == BERTH_OK && rehearsal.faulty) status = BERTH_ERROR_INTERNAL;
    berth_rehearsal_close(&rehearsal);
  }
  berth_tflm_forecast_free(&stock);
  return status;
}

/* Is the plan right, and for whom? */
static berth_status_t check(const berth_stock_task_t *task, berth_stock_plan_t *result) {
  berth_status_t status = verify(task);
  result->foreign = status == BERTH_INFEASIBLE;
  bool expected = task->timed && (task->options->diagonal || task->model->subgraph_count > 1);
  if (result->foreign) status = expected ? BERTH_OK : BERTH_ERROR_INTERNAL;
  if (status != BERTH_OK || !task->has_stock) return status;
  status = rehearse(task);
  /* What Berth's permissions say is enough for a plan that is too large to be played. */
  return status == BERTH_ERROR_UNSUPPORTED && !result->foreign ? BERTH_OK : status;
}

/* ---- All together ---------------------------------------------------------------------------- */

static berth_status_t make(berth_stock_task_t *task, berth_stock_plan_t *result) {
  berth_status_t status = berth_stock_task_start(task);
  if (status == BERTH_OK) status = berth_stock_task_buffers(task);
  if (status == BERTH_OK) status = find_offsets(task, result);
  if (status != BERTH_OK) return status;
  result->known = task->timed && task->stock.unknown_count == 0 && task->stock.refused_count == 0;
  if (task->has_stock) result->own_head_bytes = task->stock.head_bytes;
  if (task->has_stock && result->head_bytes >= task->stock.head_bytes) {
    result->head_bytes = task->stock.head_bytes;
    return BERTH_OK; /* TFLM does as well alone */
  }
  status = check(task, result);
  if (status == BERTH_OK) status = list_shares(task, result);
  if (status != BERTH_OK) return status;
  result->count = task->tensor_count;
  result->offsets = task->offsets;
  task->offsets = NULL;
  return BERTH_OK;
}

berth_status_t berth_stock_plan_make(const berth_model_t *model,
                                     const berth_stock_plan_options_t *options,
                                     berth_stock_plan_t *plan) {
  berth_stock_task_t task = {.model = model, .options = options};
  berth_stock_plan_t made;
  memset(&made, 0, sizeof made);
  berth_status_t status = make(&task, &made);
  berth_stock_task_release(&task);
  if (status == BERTH_OK) {
    *plan = made;
  } else {
    berth_stock_plan_free(&made);
  }
  return status;
}

void berth_stock_plan_free(berth_stock_plan_t *plan) {
  free(plan->offsets);
  free(plan->shares);
  plan->offsets = NULL;
  plan->shares = NULL;
}
