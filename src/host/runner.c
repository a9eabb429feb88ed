/* Opening a model to run it. How much memory it needs is found by preparing it in a block that is
 * doubled until it is enough; then it gets a block of just the size that prepare reported.
 */
#include "host/runner.h"
#include "host/text.h"
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT     4096u        /* of the block: enough for every plan */
#define FIRST_GUESS   (256u << 10) /* bytes */
#define MOST          (1u << 30)   /* bytes; more is refused */
#define DYNAMIC_BYTES (64u << 20)
#define MARGIN        4096u /* bytes to watch on either side of guarded activations */

char *berth_runner_operator_text(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                                 char *text, size_t size) {
  char name[96];
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  berth_text_t full = berth_operator_name(&what);
  berth_printable(full.data, full.length, 60, name, sizeof name);
  if (subgraph == 0) {
    snprintf(text, size, "operator %u %s", op, name);
  } else {
    snprintf(text, size, "operator %u %s of subgraph %u", op, name, subgraph);
  }
  return text;
}

/* "int8, int8, int32 -> int8" */
static void types_text(const berth_model_t *model, uint32_t subgraph, uint32_t op, char *text,
                       size_t size) {
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  berth_vector_t lists[2] = {what.inputs, what.outputs};
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < lists[k].count && i < 8 && used < size; i++) {
      int32_t tensor = berth_vector_int(lists[k], i);
      const char *type =
          tensor == BERTH_NO_TENSOR
              ? "-"
              : berth_tensor_type_name(berth_model_tensor(model, subgraph, (uint32_t)tensor).type);
      used += (size_t)snprintf(text + used, size - used, "%s%s",
                               i > 0    ? ", "
                               : k == 1 ? " -> "
                                        : "",
                               type);
    }
  }
}

/* Keeps what the first event of a failure says. */
static void keep_why(berth_runner_t *runner, const char *subject, const char *types,
                     const char *why) {
  if (runner->why_count++ > 0) return;
  bool typed = types[0] != '\0';
  snprintf(runner->why, sizeof runner->why, typed ? "%s (%s): %s" : "%s%s%s", subject, types, why);
}

static const char *plan_hint(const berth_runner_t *runner) {
  bool in_file = runner->options.interpreter.offsets == NULL && runner->offsets.offsets == NULL;
  return in_file ? " (--ignore-model-plan runs it without the plan in its file)"
                 : " (berth check-plan and berth bisect take the plan and tell which)";
}

static void on_event(void *user, const berth_event_t *event) {
  berth_runner_t *runner = user;
  FILE *out = runner->options.verbose ? runner->options.messages : NULL;
  char name[160] = "", types[160] = "";
  if (event->op != BERTH_NOBODY) {
    berth_runner_operator_text(&runner->model, event->subgraph, event->op, name, sizeof name);
    types_text(&runner->model, event->subgraph, event->op, types, sizeof types);
  }
  if (event->kind == BERTH_EVENT_DYNAMIC && runner->dynamic_count++ == 0) {
    snprintf(runner->dynamic_cause, sizeof runner->dynamic_cause, "%s", name);
  }
  switch (event->kind) {
  case BERTH_EVENT_MISSING:
    keep_why(runner, name, types, "there is no kernel for it");
    break;
  case BERTH_EVENT_REFUSED:
    keep_why(runner, name, types, event->why);
    break;
  case BERTH_EVENT_PLAN:
    keep_why(runner, event->why, "", plan_hint(runner));
    break;
  case BERTH_EVENT_DYNAMIC:
    if (out == NULL) break;
    fprintf(out, "%s: tensor %u gets its size only at run time, from %s\n", runner->path,
            event->tensor, name);
    break;
  case BERTH_EVENT_SHARED:
    if (out == NULL) break;
    fprintf(out, "%s: %s shares the table of an earlier one (%llu bytes)\n", runner->path, name,
            (unsigned long long)event->needed);
    break;
  case BERTH_EVENT_MEMORY:
  case BERTH_EVENT_PREPARED:
    break;
  }
}

static bool on_operator(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                        uint32_t op) {
  berth_runner_t *runner = user;
  return runner->options.observe(runner->options.user, interpreter, subgraph, op);
}

static bool on_rows(void *user, const berth_interpreter_t *interpreter, uint32_t op,
                    uint32_t first_row, uint32_t last_row) {
  berth_runner_t *runner = user;
  return runner->options.observe_rows(runner->options.user, interpreter, op, first_row, last_row);
}

static void deliver_rows(void *user, uint32_t output, const berth_value_t *value,
                         uint32_t first_row, uint32_t last_row) {
  berth_runner_t *runner = user;
  berth_runner_take_rows(runner, output, value, first_row, last_row);
  if (runner->options.on_rows == NULL) return;
  runner->options.on_rows(runner->options.user, output, value, first_row, last_row);
}

/* A new block, with the one before it gone. */
static bool get_block(void **block, uint32_t bytes) {
  free(*block);
  size_t rounded = ((size_t)bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  *block = aligned_alloc(ALIGNMENT, rounded > 0 ? rounded : ALIGNMENT);
  return *block != NULL;
}

/* Init and prepare in these blocks. */
static berth_status_t prepare_in(berth_runner_t *runner, const berth_memories_t *blocks) {
  berth_interpreter_options_t options = runner->options.interpreter;
  if (runner->offsets.offsets != NULL) {
    options.offsets = runner->offsets.offsets;
    options.offset_count = runner->offsets.count;
  }
  if (options.kernels == NULL) options.kernels = berth_kernels;
  options.planner = runner->options.planner;
  options.log = on_event;
  options.observe = runner->options.observe != NULL ? on_operator : NULL;
  options.observe_rows = runner->options.observe_rows != NULL ? on_rows : NULL;
  options.deliver_rows = deliver_rows;
  options.user = runner;
  runner->dynamic_count = runner->why_count = 0;
  berth_status_t status =
      berth_interpreter_init(&runner->interpreter, &runner->model, &options, blocks);
  if (status == BERTH_OK && runner->options.reshape != NULL) {
    status = runner->options.reshape(runner->options.user, &runner->interpreter);
  }
  return status == BERTH_OK ? berth_interpreter_prepare(&runner->interpreter) : status;
}

/* Planning has memory of its own if a planner was named; else it borrows. */
static berth_memory_t planning_block(const berth_runner_t *runner, uint32_t bytes) {
  return (berth_memory_t){runner->planning, runner->planning != NULL ? bytes : 0};
}

/* The same in one block, and maybe one for planning. */
static berth_status_t try_once(berth_runner_t *runner, uint32_t planning_bytes) {
  berth_memories_t blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.activations.data = runner->memory;
  blocks.activations.bytes = runner->memory_bytes;
  blocks.planning = planning_block(runner, planning_bytes);
  return prepare_in(runner, &blocks);
}

/* Doubles the blocks until the model can be prepared in them. */
static berth_status_t measure(berth_runner_t *runner, uint32_t *planning_bytes) {
  bool own_planning = runner->options.planner != NULL;
  for (uint32_t bytes = FIRST_GUESS;; bytes *= 2) {
    runner->memory_bytes = bytes;
    *planning_bytes = bytes;
    if (!get_block(&runner->memory, bytes) ||
        (own_planning && !get_block(&runner->planning, bytes))) {
      return BERTH_ERROR_MEMORY;
    }
    berth_status_t status = try_once(runner, bytes);
    if (status != BERTH_ERROR_MEMORY || bytes >= MOST) return status;
  }
}

/* Room for tensors whose size is known only at run time. */
static uint32_t dynamic_room(const berth_runner_t *runner) {
  if (runner->dynamic_count == 0) return 0;
  return runner->options.dynamic_bytes > 0 ? runner->options.dynamic_bytes : DYNAMIC_BYTES;
}

/* Blocks of their own for everything, margins around the activations, and a guard that watches. */
static berth_status_t prepare_guarded(berth_runner_t *runner, uint32_t planning_bytes) {
  berth_needs_t needs = berth_interpreter_needs(&runner->interpreter);
  uint32_t dynamic = dynamic_room(runner);
  if (dynamic > MOST - needs.extent - 2 * MARGIN) return BERTH_ERROR_MEMORY;
  uint32_t activations = needs.activations + dynamic;
  if (!get_block(&runner->memory, activations + 2 * MARGIN) ||
      !get_block(&runner->persistent, needs.persistent) ||
      !get_block(&runner->metadata, needs.metadata)) {
    return BERTH_ERROR_MEMORY;
  }
  berth_memories_t blocks = {
      .activations = {(uint8_t *)runner->memory + MARGIN, activations},
      .persistent = {runner->persistent, needs.persistent},
      .metadata = {runner->metadata, needs.metadata},
      .planning = planning_block(runner, planning_bytes),
  };
  berth_status_t status = prepare_in(runner, &blocks);
  if (status != BERTH_OK) return status;
  uint64_t bytes;
  uint32_t after = runner->dynamic_count > 0 ? 0 : MARGIN;
  status = berth_guard_bytes(&runner->interpreter, MARGIN, after, &bytes);
  if (status != BERTH_OK) return status;
  if (bytes > MOST || !get_block(&runner->guard_memory, (uint32_t)bytes)) return BERTH_ERROR_MEMORY;
  runner->guard_bytes = (uint32_t)bytes;
  status =
      berth_guard_attach(&runner->guard, &runner->interpreter, MARGIN, after, runner->guard_memory,
                         bytes, runner->options.guard_report, runner->options.guard_user);
  runner->guard.deep = runner->options.guard_deep;
  runner->guard.fast = runner->options.guard_fast;
  runner->guard.pristine = runner->map.data;
  return status;
}

static berth_status_t prepare(berth_runner_t *runner) {
  uint32_t planning_bytes;
  berth_status_t status = measure(runner, &planning_bytes);
  if (status != BERTH_OK) return status;
  FILE *messages = runner->options.messages; /* everything has been said once */
  runner->options.messages = NULL;
  if (runner->options.guard) {
    status = prepare_guarded(runner, planning_bytes);
  } else {
    uint32_t bytes = berth_interpreter_needs(&runner->interpreter).total;
    uint32_t more = dynamic_room(runner);
    runner->memory_bytes = bytes + more;
    if (more > MOST - bytes || !get_block(&runner->memory, runner->memory_bytes)) {
      return BERTH_ERROR_MEMORY;
    }
    status = try_once(runner, planning_bytes);
  }
  runner->options.messages = messages;
  return status;
}

/* The model in a copy of the file that can be written. */
static berth_status_t make_writable(berth_runner_t *runner) {
  runner->writable = malloc((size_t)runner->map.size);
  if (runner->writable == NULL) return BERTH_ERROR_MEMORY;
  memcpy(runner->writable, runner->map.data, (size_t)runner->map.size);
  return berth_model_open(runner->writable, runner->map.size, &runner->model, NULL);
}

berth_status_t berth_runner_open(const char *path, const berth_runner_options_t *options,
                                 berth_runner_t *runner, berth_complaint_t *complaint) {
  char message[BERTH_HOST_MESSAGE];
  memset(runner, 0, sizeof *runner);
  runner->path = path;
  if (options != NULL) runner->options = *options;
  berth_status_t status = berth_host_open_model(path, &runner->map, &runner->model, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  if (runner->options.plan_path != NULL) {
    status =
        berth_offsets_read(&runner->model, runner->options.plan_path, &runner->offsets, complaint);
    if (status != BERTH_OK) {
      berth_runner_close(runner);
      return status;
    }
  }
  status = berth_runner_stream(runner, complaint);
  if (status != BERTH_OK) {
    berth_runner_close(runner);
    return status;
  }
  if (runner->options.guard) status = make_writable(runner);
  if (status == BERTH_OK) status = prepare(runner);
  if (status != BERTH_OK) {
    berth_runner_complain(runner, "cannot be prepared", status, complaint);
    berth_runner_close(runner);
  }
  return status;
}

void berth_runner_complain(const berth_runner_t *runner, const char *what, berth_status_t status,
                           berth_complaint_t *complaint) {
  char others[64] = "";
  if (runner->why_count == 0) {
    berth_complain(complaint, "%s: %s: %s", runner->path, what,
                   runner->rows_lost ? "out of memory for the rows of an output"
                                     : berth_status_text(status));
    return;
  }
  if (runner->why_count > 1) {
    snprintf(others, sizeof others, " (%u such operators in all)", runner->why_count);
  }
  berth_complain(complaint, "%s: %s: %s%s", runner->path, what, runner->why, others);
}

void berth_runner_close(berth_runner_t *runner) {
  berth_runner_stream_free(runner); /* it still asks the model */
  void **const blocks[] = {&runner->memory,   &runner->planning,     &runner->persistent,
                           &runner->metadata, &runner->guard_memory, &runner->writable};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    free(*blocks[i]);
    *blocks[i] = NULL;
  }
  berth_offsets_free(&runner->offsets);
  berth_host_unmap(&runner->map);
}
