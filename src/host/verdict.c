/* Verdicts: a finding of the guard as a sentence that says who did what to whose bytes. */
#include "host/verdict.h"
#include "host/runner.h"
#include "host/text.h"
#include <stdarg.h>
#include <string.h>

static const char *const fault_names[] = {"partial_write", "stale_read", "clobber", "unstable",
                                          "row_window",    "in_place",   "view"};
static const char *const owner_names[] = {"tensor",    "constant", "scratch",
                                          "workspace", "nobody",   "outside"};

static bool is_same(const berth_guard_finding_t *a, const berth_guard_finding_t *b) {
  return a->fault == b->fault && a->subgraph == b->subgraph && a->op == b->op &&
         a->tensor == b->tensor && a->owner == b->owner && a->victim == b->victim &&
         a->unconfirmed == b->unconfirmed;
}

void berth_verdict_note(void *user, const berth_guard_finding_t *finding) {
  berth_verdicts_t *verdicts = user;
  verdicts->all++;
  for (uint32_t i = 0; i < verdicts->count; i++) {
    if (is_same(&verdicts->findings[i], finding)) return;
  }
  if (verdicts->count < BERTH_VERDICTS) verdicts->findings[verdicts->count++] = *finding;
}

/* ---- Words ---------------------------------------------------------------------------------- */

typedef struct line {
  char *text;
  size_t size;
  size_t used;
} line_t;

static void add(line_t *line, const char *format, ...) BERTH_PRINTF(2, 3);

static void add(line_t *line, const char *format, ...) {
  if (line->used >= line->size) return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
  va_end(arguments);
  if (length > 0) line->used += (size_t)length;
}

static void add_bytes(line_t *line, uint32_t first, uint32_t count) {
  if (count == 1) {
    add(line, "byte %u", first);
  } else {
    add(line, "bytes %u to %u", first, first + count - 1);
  }
}

static void add_tensor(line_t *line, const berth_model_t *model, uint32_t subgraph,
                       uint32_t tensor) {
  char name[96];
  if (tensor >= berth_model_subgraph(model, subgraph).tensor_count) {
    add(line, "its state");
    return;
  }
  berth_text_t text = berth_model_tensor(model, subgraph, tensor).name;
  add(line, "tensor %u (%s)", tensor,
      berth_printable(text.data, text.length, 40, name, sizeof name));
}

static void add_tenant(line_t *line, const berth_model_t *model,
                       const berth_guard_finding_t *finding) {
  if (finding->tenant == BERTH_NOBODY) return;
  add(line, ", where ");
  add_tensor(line, model, finding->subgraph, finding->tenant);
  add(line, " was before");
}

static void add_owner(line_t *line, const berth_model_t *model,
                      const berth_guard_finding_t *finding) {
  char name[128];
  switch (finding->owner) {
  case BERTH_GUARD_TENSOR:
  case BERTH_GUARD_CONSTANT:
    add_bytes(line, finding->victim_first, finding->victim_count);
    add(line, " of %s", finding->owner == BERTH_GUARD_CONSTANT ? "the constant " : "");
    add_tensor(line, model, finding->subgraph, finding->victim);
    break;
  case BERTH_GUARD_SCRATCH:
    add_bytes(line, finding->victim_first, finding->victim_count);
    add(line, " of its scratch");
    break;
  case BERTH_GUARD_WORKSPACE:
    add_bytes(line, finding->victim_first, finding->victim_count);
    if (finding->victim_op == BERTH_NOBODY) {
      add(line, " of persistent data");
    } else {
      add(line, " of the workspace of %s",
          berth_runner_operator_text(model, finding->subgraph, finding->victim_op, name,
                                     sizeof name));
    }
    break;
  case BERTH_GUARD_NOBODY:
    add(line, "%u byte%s of free memory at offset %u", finding->victim_count,
        finding->victim_count == 1 ? "" : "s", finding->victim_first);
    break;
  case BERTH_GUARD_OUTSIDE:
    add(line, "%u byte%s outside of the arena, %u from its edge", finding->victim_count,
        finding->victim_count == 1 ? "" : "s", finding->victim_first);
    break;
  }
}

static void add_reader(line_t *line, const berth_model_t *model,
                       const berth_guard_finding_t *finding) {
  berth_subgraph_t graph = berth_model_subgraph(model, finding->subgraph);
  char name[128];
  for (uint32_t op = finding->op + 1; op < graph.operator_count; op++) {
    berth_vector_t inputs = berth_model_operator(model, finding->subgraph, op).inputs;
    for (uint32_t i = 0; i < inputs.count; i++) {
      if (berth_vector_int(inputs, i) != (int32_t)finding->tensor) continue;
      add(line, "; %s reads them",
          berth_runner_operator_text(model, finding->subgraph, op, name, sizeof name));
      return;
    }
  }
}

/* Of a change that nobody could be watched at: between which two operators it happened. */
static void add_interval(line_t *line, const berth_model_t *model,
                         const berth_guard_finding_t *finding) {
  char name[128];
  add_owner(line, model, finding);
  if (finding->since == BERTH_NOBODY) {
    add(line, " changed from the invoke's start to the end of ");
  } else if (finding->since == finding->op) {
    add(line, " changed during ");
  } else {
    add(line, " changed after %s, by the end of ",
        berth_runner_operator_text(model, finding->subgraph, finding->since, name, sizeof name));
  }
  add(line, "%s",
      berth_runner_operator_text(model, finding->subgraph, finding->op, name, sizeof name));
}

char *berth_verdict_text(const berth_model_t *model, const berth_guard_finding_t *finding,
                         char *text, size_t size) {
  static const char *const once =
      ": seen once, and not when the invoke was repeated to look closer";
  line_t line = {.text = text, .size = size};
  char name[128];
  if (finding->unconfirmed && finding->fault == BERTH_GUARD_CLOBBER) {
    add_interval(&line, model, finding);
    add(&line, "%s", once);
    return text;
  }
  add(&line, "%s ",
      berth_runner_operator_text(model, finding->subgraph, finding->op, name, sizeof name));
  switch (finding->fault) {
  case BERTH_GUARD_PARTIAL_WRITE:
    add(&line, "never writes ");
    add_bytes(&line, finding->first, finding->count);
    add(&line, " of ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    add_tenant(&line, model, finding);
    add_reader(&line, model, finding);
    break;
  case BERTH_GUARD_STALE_READ:
    add(&line, "reads ");
    add_owner(&line, model, finding);
    add(&line, ", which it should not");
    add_tenant(&line, model, finding);
    add(&line, "; this shows in ");
    add_bytes(&line, finding->first, finding->count);
    add(&line, " of ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    break;
  case BERTH_GUARD_CLOBBER:
    add(&line, "changes ");
    add_owner(&line, model, finding);
    break;
  case BERTH_GUARD_UNSTABLE:
    add(&line, "gives different results for the same inputs, in ");
    add_bytes(&line, finding->first, finding->count);
    add(&line, " of ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    break;
  case BERTH_GUARD_ROW_WINDOW:
    add(&line, "needs other input rows than it claims: made in parts, ");
    add_bytes(&line, finding->first, finding->count);
    add(&line, " of ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    add(&line, " differ");
    break;
  case BERTH_GUARD_IN_PLACE:
    add(&line, "does not survive its output in its input's place, as it claims: ");
    add_bytes(&line, finding->first, finding->count);
    add(&line, " of ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    add(&line, " differ");
    break;
  case BERTH_GUARD_VIEW:
    add(&line, "is no view, as it claims, at ");
    add_tensor(&line, model, finding->subgraph, finding->tensor);
    break;
  }
  if (finding->unconfirmed) add(&line, "%s", once);
  return text;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void number_or_null(berth_json_t *json, const char *key, uint32_t value) {
  if (value == BERTH_NOBODY) {
    berth_json_null(json, key);
  } else {
    berth_json_number(json, key, value);
  }
}

void berth_verdicts_json(berth_json_t *json, const berth_model_t *model,
                         const berth_verdicts_t *verdicts) {
  berth_json_open(json, "findings", '[');
  for (uint32_t i = 0; i < verdicts->count; i++) {
    const berth_guard_finding_t *finding = &verdicts->findings[i];
    char text[1024];
    berth_json_open_line(json, NULL, '{');
    berth_json_string(json, "fault", fault_names[finding->fault]);
    berth_json_number(json, "subgraph", finding->subgraph);
    berth_json_number(json, "operator", finding->op);
    number_or_null(json, "tensor", finding->tensor);
    berth_json_number(json, "first", finding->first);
    berth_json_number(json, "count", finding->count);
    berth_json_string(json, "owner", owner_names[finding->owner]);
    number_or_null(json, "victim", finding->victim);
    berth_json_number(json, "victim_first", finding->victim_first);
    berth_json_number(json, "victim_count", finding->victim_count);
    number_or_null(json, "tenant", finding->tenant);
    berth_json_bool(json, "confirmed", !finding->unconfirmed);
    number_or_null(json, "since", finding->since);
    berth_json_string(json, "text", berth_verdict_text(model, finding, text, sizeof text));
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}
