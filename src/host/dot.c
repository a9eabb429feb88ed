/* Nodes are operators, graph inputs and graph outputs; an edge is a tensor on its way from maker to
 * reader. Constants are left out: they take no memory that is planned. */
#include "host/dot.h"
#include "host/anatomy.h"
#include "host/json.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
  const berth_subject_t *subject;
  const uint64_t *load; /* of each step */
  uint64_t most;        /* of them */
  FILE *stream;
  berth_json_t *json; /* NULL: DOT */
} walk_t;

/* Bytes that are live while an operator runs; of a called subgraph, in the fullest of its steps. */
static uint64_t load_of(const walk_t *walk, uint32_t subgraph, uint32_t op) {
  const berth_graph_t *graph = &walk->subject->graph;
  if (subgraph == 0) return walk->load[op];
  uint64_t load = 0;
  if (graph->called_first[subgraph] == BERTH_NOBODY) return 0;
  for (uint32_t s = graph->called_first[subgraph]; s <= graph->called_last[subgraph]; s++) {
    if (walk->load[s] > load) load = walk->load[s];
  }
  return load;
}

static const berth_graph_tensor_t *tensor_at(const walk_t *walk, uint32_t subgraph,
                                             uint32_t tensor) {
  return &walk->subject->graph.tensors[walk->subject->graph.bases[subgraph] + tensor];
}

/* A name in a DOT string: quotes and backslashes would end it. */
static void quote(berth_text_t text, FILE *stream) {
  char name[160];
  berth_printable(text.data, text.length, 40, name, sizeof name);
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') fputc('\\', stream);
    fputc(*c, stream);
  }
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void write_operator(const walk_t *walk, uint32_t subgraph, uint32_t index) {
  berth_operator_t op = berth_model_operator(&walk->subject->model, subgraph, index);
  berth_text_t name = berth_operator_name(&op);
  uint64_t load = load_of(walk, subgraph, index);
  bool peak = subgraph == 0 && load == walk->most && load > 0;
  if (walk->json != NULL) {
    berth_json_open_line(walk->json, NULL, '{');
    berth_json_number(walk->json, "subgraph", subgraph);
    berth_json_number(walk->json, "operator", index);
    berth_json_text(walk->json, "name", name.data, name.length);
    berth_json_number(walk->json, "live_bytes", load);
    berth_json_bool(walk->json, "fullest", peak);
    berth_json_close(walk->json, '}');
    return;
  }
  /* From white to orange: readable in print, and for those who see no red or green. */
  uint64_t thousandth = walk->most > 0 ? (load * 1000 + walk->most / 2) / walk->most : 0;
  fprintf(walk->stream, "  s%" PRIu32 "o%" PRIu32 " [label=\"%" PRIu32 " ", subgraph, index, index);
  quote(name, walk->stream);
  fprintf(
      walk->stream, "\\n%s bytes live\", fillcolor=\"0.08 %" PRIu64 ".%03" PRIu64 " 1.0\"%s];\n",
      berth_grouped(load).text, thousandth / 1000, thousandth % 1000, peak ? ", penwidth=3" : "");
}

/* A graph input (tensor that nobody makes) or output, as a node of its own. */
static void write_end(const walk_t *walk, const char *prefix, uint32_t tensor) {
  if (walk->json != NULL) return; /* "tensors" of inspect say it */
  const berth_graph_tensor_t *it = tensor_at(walk, 0, tensor);
  fprintf(walk->stream, "  %s%" PRIu32 " [shape=ellipse, label=\"", prefix, tensor);
  quote(berth_model_tensor(&walk->subject->model, 0, tensor).name, walk->stream);
  fprintf(walk->stream, "\\n%s bytes\"];\n", berth_grouped(it->bytes).text);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static void write_edge(const walk_t *walk, const char *from, const char *to,
                       const berth_graph_tensor_t *tensor) {
  bool dynamic = tensor->allocation == BERTH_ALLOCATION_DYNAMIC;
  if (walk->json != NULL) {
    berth_json_open_line(walk->json, NULL, '{');
    berth_json_string(walk->json, "from", from);
    berth_json_string(walk->json, "to", to);
    berth_json_number(walk->json, "subgraph", tensor->subgraph);
    berth_json_number(walk->json, "tensor", tensor->tensor);
    if (dynamic) {
      berth_json_null(walk->json, "bytes");
    } else {
      berth_json_number(walk->json, "bytes", tensor->bytes);
    }
    berth_json_close(walk->json, '}');
    return;
  }
  uint64_t width = walk->most > 0 ? 1 + 6 * tensor->bytes / walk->most : 1;
  fprintf(walk->stream, "  %s -> %s [label=\"%" PRIu32 ": %s\", penwidth=%" PRIu64 "];\n", from, to,
          tensor->tensor, dynamic ? "?" : berth_grouped(tensor->bytes).text, width > 7 ? 7 : width);
}

static void write_inputs_of(const walk_t *walk, uint32_t subgraph, uint32_t index) {
  berth_operator_t op = berth_model_operator(&walk->subject->model, subgraph, index);
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    int32_t tensor = berth_vector_int(op.inputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *it = tensor_at(walk, subgraph, (uint32_t)tensor);
    bool none = it->allocation == BERTH_ALLOCATION_NONE;
    if (none || it->allocation == BERTH_ALLOCATION_MMAP_RO) continue;
    char from[48], to[48];
    snprintf(to, sizeof to, "s%" PRIu32 "o%" PRIu32, subgraph, index);
    if (it->producer != BERTH_NOBODY) {
      snprintf(from, sizeof from, "s%" PRIu32 "o%" PRIu32, subgraph, it->producer);
    } else if (subgraph == 0 && it->kind == BERTH_KIND_INPUT) {
      snprintf(from, sizeof from, "in%" PRId32, tensor);
    } else {
      continue; /* a variable, or handed down by a call */
    }
    write_edge(walk, from, to, it);
  }
}

static void write_ends(const walk_t *walk, bool edges) {
  berth_subgraph_t main = berth_model_subgraph(&walk->subject->model, 0);
  for (uint32_t i = 0; i < main.inputs.count && !edges; i++) {
    int32_t tensor = berth_vector_int(main.inputs, i);
    if (tensor != BERTH_NO_TENSOR) write_end(walk, "in", (uint32_t)tensor);
  }
  for (uint32_t i = 0; i < main.outputs.count; i++) {
    int32_t tensor = berth_vector_int(main.outputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *it = tensor_at(walk, 0, (uint32_t)tensor);
    if (!edges) {
      write_end(walk, "out", (uint32_t)tensor);
    } else if (it->producer != BERTH_NOBODY) {
      char from[48], to[48];
      snprintf(from, sizeof from, "s0o%" PRIu32, it->producer);
      snprintf(to, sizeof to, "out%" PRId32, tensor);
      write_edge(walk, from, to, it);
    }
  }
}

/* ---- Both forms ------------------------------------------------------------------------------ */

static bool start(const berth_plan_report_t *report, walk_t *walk, uint64_t **load) {
  *load = berth_load_by_step(report->subject, NULL, 0);
  walk->subject = report->subject;
  walk->load = *load;
  for (uint32_t s = 0; *load != NULL && s < report->subject->step_count; s++) {
    if ((*load)[s] > walk->most) walk->most = (*load)[s];
  }
  return *load != NULL;
}

bool berth_dot_write(const berth_plan_report_t *report, FILE *stream) {
  walk_t walk = {.stream = stream};
  uint64_t *load;
  if (!start(report, &walk, &load)) return false;
  fputs("digraph model {\n  node [shape=box, style=filled, fillcolor=white, "
        "fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=10];\n",
        stream);
  write_ends(&walk, false);
  for (uint32_t s = 0; s < report->subject->model.subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(&report->subject->model, s).operator_count;
    if (s > 0) {
      fprintf(stream, "  subgraph cluster%" PRIu32 " {\n  label=\"subgraph %" PRIu32 "\";\n", s, s);
    }
    for (uint32_t op = 0; op < count; op++) write_operator(&walk, s, op);
    for (uint32_t op = 0; op < count; op++) write_inputs_of(&walk, s, op);
    if (s > 0) fputs("  }\n", stream);
  }
  write_ends(&walk, true);
  fputs("}\n", stream);
  free(load);
  return true;
}

bool berth_dot_json(const berth_plan_report_t *report, FILE *stream) {
  berth_json_t json = berth_json_to(stream);
  walk_t walk = {.stream = stream, .json = &json};
  uint64_t *load;
  if (!start(report, &walk, &load)) return false;
  const berth_model_t *model = &report->subject->model;
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", report->subject->path);
  berth_json_open(&json, "nodes", '[');
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) write_operator(&walk, s, op);
  }
  berth_json_close(&json, ']');
  berth_json_open(&json, "edges", '[');
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) write_inputs_of(&walk, s, op);
  }
  write_ends(&walk, true);
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
  free(load);
  return true;
}
