/* Makers and keepers. A skip connection is a tensor that some operator reads and another one reads
 * more than a step after everybody else: the steps in between pay for it. */
#include "host/keeper.h"
#include "host/runner.h"

#include <inttypes.h>
#include <stdio.h>

/* The reader before the last one, or BERTH_NOBODY. */
static uint32_t reader_before(const berth_model_t *model, const berth_graph_tensor_t *tensor) {
  if (tensor->reader_count < 2) return BERTH_NOBODY;
  for (uint32_t op = tensor->last_reader; op-- > 0;) {
    berth_operator_t it = berth_model_operator(model, tensor->subgraph, op);
    if (berth_vector_holds(it.inputs, tensor->tensor)) return op;
  }
  return BERTH_NOBODY;
}

/* A tensor of the main subgraph that somebody reads after `step`. */
static void find_wait(const berth_subject_t *subject, const berth_graph_tensor_t *tensor,
                      berth_keeper_t *keeper) {
  uint32_t before = reader_before(&subject->model, tensor);
  uint32_t from = before != BERTH_NOBODY ? before : tensor->first;
  keeper->waits = tensor->last - from;
  keeper->why = before != BERTH_NOBODY && keeper->waits > 1 ? BERTH_KEEP_SKIP : BERTH_KEEP_READER;
}

berth_keeper_t berth_keeper_of(const berth_subject_t *subject, uint32_t index, uint32_t step) {
  const berth_label_t *label = &subject->labels[index];
  const berth_buffer_t *buffer = &subject->problem.buffers[index];
  berth_keeper_t keeper = {.why = BERTH_KEEP_RESERVED,
                           .maker = BERTH_NOBODY,
                           .reader = BERTH_NOBODY,
                           .in_run = buffer->last > buffer->first};
  if (label->has_kind && label->kind == BERTH_KIND_SCRATCH) keeper.why = BERTH_KEEP_SCRATCH;
  if (label->has_kind && label->kind == BERTH_KIND_WORKSPACE) keeper.why = BERTH_KEEP_WORKSPACE;
  if (!subject->is_model || label->tensor == BERTH_NOBODY) return keeper;
  const berth_graph_tensor_t *tensor =
      &subject->graph.tensors[subject->graph.bases[label->subgraph] + label->tensor];
  keeper.subgraph = label->subgraph;
  keeper.maker = tensor->producer;
  keeper.reader = tensor->last_reader;
  if (label->kind == BERTH_KIND_VARIABLE) {
    keeper.why = BERTH_KEEP_VARIABLE;
  } else if (label->subgraph != 0) {
    keeper.why = BERTH_KEEP_CALL;
  } else if (step < tensor->first || step > tensor->last) {
    keeper.why = BERTH_KEEP_RUN; /* nothing else makes a life longer */
  } else if (label->kind == BERTH_KIND_OUTPUT) {
    keeper.why = BERTH_KEEP_OUTPUT;
  } else if (keeper.reader == BERTH_NOBODY) {
    keeper.why = BERTH_KEEP_NOBODY;
  } else if (keeper.reader == step) {
    keeper.why = BERTH_KEEP_HERE;
  } else if (keeper.reader > step) {
    find_wait(subject, tensor, &keeper);
  } else {
    keeper.why = BERTH_KEEP_INPUT; /* nothing else outlives its last reader */
  }
  return keeper;
}

/* ---- Words ---------------------------------------------------------------------------------- */

const char *berth_keep_word(berth_keep_t why) {
  static const char *const words[] = {"unread", "read",    "waits",     "skip",
                                      "output", "input",   "variable",  "call",
                                      "run",    "scratch", "workspace", "reserved"};
  return words[why];
}

static int say_maker(const berth_subject_t *subject, const berth_keeper_t *keeper, uint32_t step,
                     char *text, size_t size) {
  char name[160];
  if (keeper->maker == BERTH_NOBODY) {
    return snprintf(text, size, "%s",
                    keeper->why == BERTH_KEEP_VARIABLE ? "a variable" : "given by the caller");
  }
  if (keeper->maker == step && keeper->subgraph == 0) return snprintf(text, size, "made here");
  berth_runner_operator_text(&subject->model, keeper->subgraph, keeper->maker, name, sizeof name);
  return snprintf(text, size, "made by %s", name);
}

char *berth_keeper_text(const berth_subject_t *subject, const berth_keeper_t *keeper, uint32_t step,
                        char *text, size_t size) {
  char reader[160] = "";
  if (keeper->why >= BERTH_KEEP_SCRATCH) {
    static const char *const words[] = {"the operator's own, gone after this step",
                                        "the operator's own tables and state, kept for good",
                                        "reserved by the application"};
    const char *word = words[keeper->why - BERTH_KEEP_SCRATCH];
    if (keeper->why == BERTH_KEEP_SCRATCH && keeper->in_run) {
      word = "an operator's own, needed while the steps of a run take turns";
    }
    snprintf(text, size, "%s", subject->is_model ? word : "");
    return text;
  }
  if (keeper->reader != BERTH_NOBODY) {
    berth_runner_operator_text(&subject->model, keeper->subgraph, keeper->reader, reader,
                               sizeof reader);
  }
  int used = say_maker(subject, keeper, step, text, size);
  if (used < 0 || (size_t)used >= size) return text;
  char *rest = text + used;
  size -= (size_t)used;
  switch (keeper->why) {
  case BERTH_KEEP_NOBODY:
    snprintf(rest, size, "; nobody reads it");
    break;
  case BERTH_KEEP_HERE:
    snprintf(rest, size, "; read here for the last time");
    break;
  case BERTH_KEEP_READER:
    snprintf(rest, size, "; kept %" PRIu32 " step%s for %s", keeper->waits,
             keeper->waits == 1 ? "" : "s", reader);
    break;
  case BERTH_KEEP_SKIP:
    snprintf(rest, size, "; kept %" PRIu32 " steps by the skip connection into %s", keeper->waits,
             reader);
    break;
  case BERTH_KEEP_OUTPUT:
    snprintf(rest, size, "; an output, kept to the end");
    break;
  case BERTH_KEEP_INPUT:
    snprintf(rest, size, "; an input, kept to the end though nobody reads it after %s", reader);
    break;
  case BERTH_KEEP_VARIABLE:
    snprintf(rest, size, ", kept from one invoke to the next");
    break;
  case BERTH_KEEP_CALL:
    snprintf(rest, size, "; kept while its subgraph runs");
    break;
  case BERTH_KEEP_RUN:
    snprintf(rest, size, "; needed while the steps of a run take turns");
    break;
  case BERTH_KEEP_SCRATCH:
  case BERTH_KEEP_WORKSPACE:
  case BERTH_KEEP_RESERVED:
    break;
  }
  return text;
}
