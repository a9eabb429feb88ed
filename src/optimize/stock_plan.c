/* Order and offsets for stock TFLM. See stock_plan.h.
 *
 * Cost: one order search, the default planner's, and, only where scratch does not end up where it
 * was planned, one pass of each other planner.
 */
#include "optimize/stock_plan.h"
#include "optimize/contracts.h"
#include "stock/overlap.h"
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u /* TFLM's, of offsets and sizes */

typedef struct task {
  const berth_model_t *model;
  const berth_stock_plan_options_t *options;
  uint32_t tensor_count; /* of all subgraphs */
  uint32_t operators;    /* of the main subgraph */
  void *graph_memory;
  berth_graph_t graph;
  berth_sharing_t *sharing;
  uint64_t *extra; /* scratch of each operator of the main subgraph */
  void *alias_memory;
  berth_alias_t *aliases;
  berth_tflm_forecast_t stock; /* with TFLM's own plan */
  bool has_stock;
  bool flat; /* TFLM's count of time is that of the main subgraph */
  berth_problem_t problem;
  berth_buffer_t *buffers;
  uint32_t *tensors; /* of each buffer: the root, or BERTH_NOBODY: scratch */
  int32_t *offsets;
} task_t;

static void release(task_t *task) {
  free(task->graph_memory);
  free(task->alias_memory);
  free(task->sharing);
  free(task->extra);
  free(task->buffers);
  free(task->tensors);
  free(task->offsets);
  if (task->has_stock) berth_tflm_forecast_free(&task->stock);
}

static uint64_t rounded(uint64_t bytes) {
  return (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* ---- What is known of the model -------------------------------------------------------------- */

static berth_status_t forecast(const task_t *task, const int32_t *offsets,
                               berth_tflm_forecast_t *result) {
  berth_tflm_settings_t settings = {.abi = task->options->abi,
                                    .kernels = task->options->kernels,
                                    .offsets = offsets,
                                    .offset_count = task->tensor_count};
  return berth_tflm_forecast(task->model, &settings, result, NULL);
}

/* With no offsets at all. That TFLM does not take the model is no failure. */
static berth_status_t take_stock(task_t *task) {
  task->offsets = malloc(((size_t)task->tensor_count + 1) * sizeof *task->offsets);
  task->extra = calloc((size_t)task->operators + 1, sizeof *task->extra);
  if (task->offsets == NULL || task->extra == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < task->tensor_count; i++) task->offsets[i] = -1;
  berth_status_t status = forecast(task, task->offsets, &task->stock);
  if (status == BERTH_ERROR_MEMORY) return status;
  task->has_stock = status == BERTH_OK;
  for (uint32_t i = 0; task->has_stock && i < task->stock.buffer_count; i++) {
    const berth_tflm_buffer_t *buffer = &task->stock.buffers[i];
    if (buffer->op == UINT32_MAX || buffer->subgraph != 0) continue;
    task->extra[buffer->op] += rounded(buffer->bytes);
  }
  return BERTH_OK;
}

static berth_status_t analyse(task_t *task) {
  size_t bytes;
  berth_status_t status = berth_graph_workspace(task->model, &bytes);
  if (status != BERTH_OK) return status;
  task->graph_memory = malloc(bytes + 1);
  if (task->graph_memory == NULL) return BERTH_ERROR_MEMORY;
  return berth_graph_analyse(task->model, NULL, task->graph_memory, bytes, &task->graph, NULL);
}

/* What TFLM's kernels and Berth's both permit. */
static berth_status_t share(task_t *task) {
  berth_contracts_t contracts;
  berth_status_t status = berth_contracts_make(task->model, NULL, &contracts);
  if (status != BERTH_OK) return status;
  task->sharing = calloc((size_t)task->operators + 1, sizeof *task->sharing);
  if (task->sharing == NULL) status = BERTH_ERROR_MEMORY;
  for (uint32_t op = 0; op < task->operators && status == BERTH_OK; op++) {
    berth_sharing_t stock = berth_stock_sharing(task->model, 0, op);
    if (contracts.table[op].known) { /* else Berth does not run it anyway */
      berth_sharing_t own = berth_sharing_of(&contracts.table[op]);
      stock.in_place &= own.in_place;
      if (own.view != stock.view) stock.view = BERTH_VIEW_NONE;
    }
    task->sharing[op] = stock;
  }
  berth_contracts_free(&contracts);
  return status;
}

static berth_status_t start(task_t *task) {
  uint64_t tensors = 0;
  for (uint32_t s = 0; s < task->model->subgraph_count; s++) {
    tensors += berth_model_subgraph(task->model, s).tensor_count;
  }
  if (tensors > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  task->tensor_count = (uint32_t)tensors;
  task->operators = berth_model_subgraph(task->model, 0).operator_count;
  berth_status_t status = take_stock(task);
  if (status == BERTH_OK) status = analyse(task);
  if (status == BERTH_OK) status = share(task);
  task->flat = task->has_stock && task->model->subgraph_count == 1;
  return status;
}

/* ---- Order ----------------------------------------------------------------------------------- */

berth_status_t berth_stock_order(const berth_model_t *model,
                                 const berth_stock_plan_options_t *options, uint32_t *order,
                                 berth_order_result_t *result) {
  task_t task = {.model = model, .options = options};
  void *workspace = NULL;
  size_t bytes = 0;
  berth_status_t status = start(&task);
  berth_order_options_t settings = {.overlap = options->overlap,
                                    .align = ALIGN,
                                    .extra = task.extra,
                                    .work_limit = options->work_limit,
                                    .progress = options->progress,
                                    .progress_user = options->progress_user};
  if (status == BERTH_OK) {
    status = berth_order_workspace(&task.graph, task.sharing, &settings, &bytes);
  }
  if (status == BERTH_OK) {
    workspace = malloc(bytes + 1);
    if (workspace == NULL) status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) {
    status =
        berth_order_find(&task.graph, task.sharing, &settings, workspace, bytes, order, result);
  }
  free(workspace);
  release(&task);
  return status;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static berth_status_t find_aliases(task_t *task) {
  uint64_t *extra = task->extra; /* in the file's order operators are steps */
  berth_alias_options_t options = {
      .overlap = task->options->overlap, .align = ALIGN, .extra = extra};
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&task->graph, task->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  task->alias_memory = malloc(bytes + 1);
  if (task->alias_memory == NULL) return BERTH_ERROR_MEMORY;
  return berth_alias_find(&task->graph, task->sharing, &options, task->alias_memory, bytes,
                          &task->aliases);
}

/* TFLM's buffers, a group of tensors that share memory being one; a tensor that is never used lives
 * before step 0, where TFLM plans it as well. */
static berth_status_t list_stock_buffers(task_t *task) {
  uint32_t *buffer_of = malloc(((size_t)task->tensor_count + 1) * sizeof *buffer_of);
  if (buffer_of == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < task->tensor_count; i++) buffer_of[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < task->stock.buffer_count; i++) {
    const berth_tflm_buffer_t *from = &task->stock.buffers[i];
    uint32_t first = (uint32_t)(from->first + 1), last = (uint32_t)(from->last + 1);
    uint32_t root = from->tensor == UINT32_MAX ? BERTH_NOBODY : task->aliases[from->tensor].root;
    uint32_t known = root == BERTH_NOBODY ? BERTH_NOBODY : buffer_of[root];
    if (known == BERTH_NOBODY) {
      known = task->problem.buffer_count++;
      task->buffers[known] = berth_buffer(rounded(from->bytes), first, last);
      task->buffers[known].align = ALIGN;
      task->tensors[known] = root;
      if (root != BERTH_NOBODY) buffer_of[root] = known;
      continue;
    }
    berth_buffer_t *buffer = &task->buffers[known];
    if (first < buffer->first) buffer->first = first;
    if (last > buffer->last) buffer->last = last;
    if (buffer->size < rounded(from->bytes)) buffer->size = rounded(from->bytes);
  }
  free(buffer_of);
  return BERTH_OK;
}

/* The same by the graph's lifetimes, for a model that TFLM doesn't run or counts otherwise.
 * Variables stay out: TFLM keeps them at the other end. */
static berth_status_t list_graph_buffers(task_t *task) {
  uint32_t all, kept = 0;
  berth_status_t status =
      berth_alias_buffers(&task->graph, task->aliases, ALIGN, task->buffers, task->tensors, &all);
  for (uint32_t i = 0; i < all && status == BERTH_OK; i++) {
    if (task->graph.tensors[task->tensors[i]].allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    task->buffers[kept] = task->buffers[i];
    task->tensors[kept++] = task->tensors[i];
  }
  task->problem.buffer_count = kept;
  return status;
}

static berth_status_t list_buffers(task_t *task) {
  size_t room = (size_t)task->tensor_count + (task->has_stock ? task->stock.buffer_count : 0) + 1;
  task->buffers = malloc(room * sizeof *task->buffers);
  task->tensors = malloc(room * sizeof *task->tensors);
  if (task->buffers == NULL || task->tensors == NULL) return BERTH_ERROR_MEMORY;
  berth_status_t status = task->flat ? list_stock_buffers(task) : list_graph_buffers(task);
  task->problem.buffers = task->buffers;
  return status;
}

/* ---- Offsets --------------------------------------------------------------------------------- */

/* One planner's plan; heap. */
static berth_status_t run_planner(const task_t *task, const berth_planner_t *planner,
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
static bool is_beside_unknown(const task_t *task, const berth_buffer_t *buffer) {
  for (uint32_t i = 0; i < task->stock.operator_count && task->flat; i++) {
    if (task->stock.operators[i].known) continue;
    uint32_t step = i + 2; /* TFLM's count, and one more for the tensors before step 0 */
    if (buffer->first <= step && step <= buffer->last) return true;
  }
  return false;
}

/* The plan as TFLM's offsets. */
static uint32_t set_offsets(const task_t *task, const berth_plan_t *plan, int32_t *offsets) {
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
static berth_status_t head_of(const task_t *task, const int32_t *offsets, uint64_t peak,
                              uint64_t *head) {
  *head = peak;
  if (!task->has_stock) return BERTH_OK;
  berth_tflm_forecast_t stock;
  berth_status_t status = forecast(task, offsets, &stock);
  if (status != BERTH_OK) return status;
  *head = stock.head_bytes;
  berth_tflm_forecast_free(&stock);
  return BERTH_OK;
}

/* Scratch goes where TFLM puts it, which may not be where it was planned: then other plans that are
 * as small may suit it better. */
static berth_status_t find_offsets(task_t *task, berth_stock_plan_t *result) {
  const berth_planner_t *const planners[] = {&berth_planner_best,   &berth_planner_size,
                                             &berth_planner_tflm,   &berth_planner_breadth,
                                             &berth_planner_tflite, &berth_planner_search};
  int32_t *offsets = malloc(((size_t)task->tensor_count + 1) * sizeof *offsets);
  if (offsets == NULL) return BERTH_ERROR_MEMORY;
  berth_status_t status = BERTH_OK;
  result->head_bytes = UINT64_MAX;
  for (uint32_t i = 0; i < sizeof planners / sizeof *planners && status == BERTH_OK; i++) {
    if (result->head_bytes <= result->lower_bound) break;
    berth_plan_t plan;
    uint64_t head;
    status = run_planner(task, planners[i], &plan);
    if (status != BERTH_OK) break;
    if (plan.lower_bound > result->lower_bound) result->lower_bound = plan.lower_bound;
    uint32_t left_out = set_offsets(task, &plan, offsets);
    free(plan.placements);
    status = head_of(task, offsets, plan.peak, &head);
    if (status != BERTH_OK || head >= result->head_bytes) continue;
    result->head_bytes = head;
    result->left_out = left_out;
    memcpy(task->offsets, offsets, task->tensor_count * sizeof *offsets);
  }
  free(offsets);
  return status;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

static berth_status_t list_shares(const task_t *task, berth_stock_plan_t *result) {
  result->shares = calloc((size_t)task->operators + 1, sizeof *result->shares);
  if (result->shares == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t index = 0; index < task->operators; index++) {
    berth_operator_t op = berth_model_operator(task->model, 0, index);
    int32_t output = op.outputs.count > 0 ? berth_vector_int(op.outputs, 0) : BERTH_NO_TENSOR;
    if (output == BERTH_NO_TENSOR || task->offsets[output] == -1) continue;
    for (uint32_t i = 0; i < op.inputs.count; i++) {
      int32_t input = berth_vector_int(op.inputs, i);
      if (input == BERTH_NO_TENSOR || task->offsets[input] != task->offsets[output]) continue;
      if (task->aliases[input].root != task->aliases[output].root) continue;
      const berth_stock_overlap_t *entry = berth_stock_overlap(op.code);
      result->shares[result->share_count++] =
          (berth_stock_share_t){.op = index,
                                .input = (uint32_t)input,
                                .output = (uint32_t)output,
                                .bytes = task->graph.tensors[output].bytes,
                                .view = task->sharing[index].view != BERTH_VIEW_NONE,
                                .reason = entry != NULL ? entry->reason : ""};
      break;
    }
  }
  return BERTH_OK;
}

/* Once more from the definition: does every pair of tensors that overlap have a permission? */
static berth_status_t verify(const task_t *task) {
  berth_alias_options_t options = {.overlap = task->options->overlap, .align = ALIGN};
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
  return status == BERTH_INFEASIBLE ? BERTH_ERROR_INTERNAL : status;
}

/* ---- All together ---------------------------------------------------------------------------- */

static berth_status_t make(task_t *task, berth_stock_plan_t *result) {
  berth_status_t status = start(task);
  if (status == BERTH_OK) status = find_aliases(task);
  if (status == BERTH_OK) status = list_buffers(task);
  if (status == BERTH_OK) status = find_offsets(task, result);
  if (status == BERTH_OK) status = verify(task);
  if (status != BERTH_OK) return status;
  result->known = task->flat && task->stock.unknown_count == 0 && task->stock.refused_count == 0;
  if (task->has_stock) result->own_head_bytes = task->stock.head_bytes;
  if (task->has_stock && result->head_bytes >= task->stock.head_bytes) {
    result->head_bytes = task->stock.head_bytes;
    return BERTH_OK; /* TFLM does as well alone */
  }
  status = list_shares(task, result);
  if (status != BERTH_OK) return status;
  result->count = task->tensor_count;
  result->offsets = task->offsets;
  task->offsets = NULL;
  return BERTH_OK;
}

berth_status_t berth_stock_plan_make(const berth_model_t *model,
                                     const berth_stock_plan_options_t *options,
                                     berth_stock_plan_t *plan) {
  task_t task = {.model = model, .options = options};
  berth_stock_plan_t made;
  memset(&made, 0, sizeof made);
  berth_status_t status = make(&task, &made);
  release(&task);
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
