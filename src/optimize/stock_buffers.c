/* What has to be placed in stock TFLM's head, and which of it may lie over what. */
#include "optimize/stock_task.h"
#include "stock/diagonal.h"
#include <stdlib.h>

/* ---- Buffers --------------------------------------------------------------------------------- */

static berth_status_t find_aliases(berth_stock_task_t *task) {
  uint64_t *extra = task->extra; /* in the file's order operators are steps */
  berth_alias_options_t options = {
      .overlap = task->options->overlap, .align = BERTH_STOCK_ALIGN, .extra = extra};
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
static berth_status_t list_stock_buffers(berth_stock_task_t *task) {
  uint32_t *buffer_of = malloc(((size_t)task->tensor_count + 1) * sizeof *buffer_of);
  if (buffer_of == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < task->tensor_count; i++) buffer_of[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < task->stock.buffer_count; i++) {
    const berth_tflm_buffer_t *from = &task->stock.buffers[i];
    uint32_t first = (uint32_t)(from->first + 1), last = (uint32_t)(from->last + 1);
    uint32_t root = BERTH_NOBODY;
    if (from->tensor != UINT32_MAX) {
      root = task->aliases[task->graph.bases[from->subgraph] + from->tensor].root;
    }
    uint32_t known = root == BERTH_NOBODY ? BERTH_NOBODY : buffer_of[root];
    if (known == BERTH_NOBODY) {
      known = task->problem.buffer_count++;
      task->buffers[known] = berth_buffer(berth_stock_rounded(from->bytes), first, last);
      task->buffers[known].align = BERTH_STOCK_ALIGN;
      task->tensors[known] = root;
      if (root != BERTH_NOBODY) buffer_of[root] = known;
      continue;
    }
    berth_buffer_t *buffer = &task->buffers[known];
    if (first < buffer->first) buffer->first = first;
    if (last > buffer->last) buffer->last = last;
    if (buffer->size < berth_stock_rounded(from->bytes))
      buffer->size = berth_stock_rounded(from->bytes);
  }
  free(buffer_of);
  return BERTH_OK;
}

/* The same by the graph's lifetimes, for a model that TFLM doesn't run, or of which it isn't known
 * when operators run that it has no kernel for.
 * Variables stay out: TFLM keeps them at the other end. */
static berth_status_t list_graph_buffers(berth_stock_task_t *task) {
  uint32_t all, kept = 0;
  berth_status_t status = berth_alias_buffers(&task->graph, task->aliases, BERTH_STOCK_ALIGN,
                                              task->buffers, task->tensors, &all);
  for (uint32_t i = 0; i < all && status == BERTH_OK; i++) {
    if (task->graph.tensors[task->tensors[i]].allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    task->buffers[kept] = task->buffers[i];
    task->tensors[kept++] = task->tensors[i];
  }
  task->problem.buffer_count = kept;
  return status;
}

static berth_status_t list_buffers(berth_stock_task_t *task) {
  size_t room = (size_t)task->tensor_count + (task->has_stock ? task->stock.buffer_count : 0) + 1;
  task->buffers = malloc(room * sizeof *task->buffers);
  task->tensors = malloc(room * sizeof *task->tensors);
  if (task->buffers == NULL || task->tensors == NULL) return BERTH_ERROR_MEMORY;
  berth_status_t status = task->timed ? list_stock_buffers(task) : list_graph_buffers(task);
  task->problem.buffers = task->buffers;
  return status;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

/* Does an application or another run read this group's bytes later, whatever operators do? */
static bool is_kept(const berth_stock_task_t *task, uint32_t root) {
  uint32_t tensor = root;
  do {
    const berth_graph_tensor_t *info = &task->graph.tensors[tensor];
    if (info->kind == BERTH_KIND_OUTPUT || info->kind == BERTH_KIND_VARIABLE) return true;
    tensor = task->aliases[tensor].next;
  } while (tensor != root);
  return false;
}

/* How many bytes behind group b's start group a must start, so that `op` reads each byte of a in
 * time while it writes `output`. False: that isn't known. */
static bool distance_of(const berth_stock_task_t *task, uint32_t op, uint32_t output,
                        uint32_t a_root, uint64_t *distance) {
  berth_operator_t what = berth_model_operator(task->model, 0, op);
  *distance = 0;
  for (uint32_t i = 0; i < what.inputs.count; i++) {
    int32_t input = berth_vector_int(what.inputs, i);
    if (input == BERTH_NO_TENSOR || task->aliases[input].root != a_root) continue;
    uint64_t safe;
    if (!berth_stock_diagonal(task->model, 0, op, i, &safe)) return false;
    safe += task->aliases[output].offset;
    safe -= task->aliases[input].offset < safe ? task->aliases[input].offset : safe;
    if (safe > *distance) *distance = safe;
  }
  return true;
}

/* A pair for operator `op`, if its output may reach into the group of its operand `input`. */
static void add_head(berth_stock_task_t *task, const uint32_t *buffer_of, uint32_t op,
                     uint32_t input, uint32_t output) {
  uint32_t root = task->aliases[input].root, from = buffer_of[root];
  uint32_t to = buffer_of[task->aliases[output].root];
  if (from == BERTH_NOBODY || to == BERTH_NOBODY || from == to || is_kept(task, root)) return;
  const berth_buffer_t *a = &task->buffers[from], *b = &task->buffers[to];
  uint64_t distance;
  if (a->last != b->first || !distance_of(task, op, output, root, &distance)) return;
  if (a->size < 2 || distance >= b->size) return;
  /* Not the last byte of a: b could then begin anywhere in it. */
  uint64_t bytes = b->size - distance < a->size ? b->size - distance : a->size - 1;
  task->pairs[task->problem.pair_count++] =
      (berth_pair_t){.a = from, .b = to, .relation = BERTH_HEAD, .bytes = bytes};
}

/* Outputs that may reach into an input which is read for the last time. */
static berth_status_t list_heads(berth_stock_task_t *task) {
  size_t room = 1;
  for (uint32_t op = 0; op < task->operators; op++) {
    room += berth_model_operator(task->model, 0, op).inputs.count;
  }
  uint32_t *buffer_of = malloc(((size_t)task->tensor_count + 1) * sizeof *buffer_of);
  task->pairs = malloc(room * sizeof *task->pairs);
  if (buffer_of == NULL || task->pairs == NULL) {
    free(buffer_of);
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < task->tensor_count; i++) buffer_of[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < task->problem.buffer_count; i++) {
    if (task->tensors[i] != BERTH_NOBODY) buffer_of[task->tensors[i]] = i;
  }
  for (uint32_t op = 0; op < task->operators; op++) {
    berth_operator_t what = berth_model_operator(task->model, 0, op);
    int32_t output = what.outputs.count == 1 ? berth_vector_int(what.outputs, 0) : BERTH_NO_TENSOR;
    for (uint32_t i = 0; i < what.inputs.count && output != BERTH_NO_TENSOR; i++) {
      int32_t input = berth_vector_int(what.inputs, i);
      bool again = input == BERTH_NO_TENSOR; /* or has its group been an operand already? */
      for (uint32_t k = 0; k < i && !again; k++) {
        int32_t other = berth_vector_int(what.inputs, k);
        again = other != BERTH_NO_TENSOR && task->aliases[other].root == task->aliases[input].root;
      }
      if (!again) add_head(task, buffer_of, op, (uint32_t)input, (uint32_t)output);
    }
  }
  free(buffer_of);
  task->problem.pairs = task->pairs;
  return BERTH_OK;
}

berth_status_t berth_stock_task_buffers(berth_stock_task_t *task) {
  berth_status_t status = find_aliases(task);
  if (status == BERTH_OK) status = list_buffers(task);
  if (status == BERTH_OK && task->options->diagonal && task->timed) status = list_heads(task);
  return status;
}
