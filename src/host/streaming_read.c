/* Reads a saved plan's order and what of it is streamed, and checks it: nothing in the file is
 * believed. Rows are followed by the verifier (host/streaming_verify.h); what it takes for granted
 * is checked here. */
#include "host/streaming_read.h"
#include "host/json_read.h"
#include "host/map.h"
#include "host/streaming_verify.h"
#include <stdlib.h>
#include <string.h>

#define EXTENT_MAX (UINT64_C(1) << 30) /* bytes of a plan; more is refused, as by the runner */

void berth_saved_streaming_free(berth_saved_streaming_t *saved) {
  free(saved->runs);
  free(saved->rings);
  free(saved->order);
  memset(saved, 0, sizeof *saved);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

typedef struct reading {
  const char *path;
  berth_json_reader_t json;
  berth_saved_streaming_t *saved;
  berth_complaint_t *complaint;
} reading_t;

static berth_status_t wrong(const reading_t *r, const char *what) {
  berth_complain(r->complaint, "%s: line %llu: %s", r->path,
                 (unsigned long long)berth_json_line(&r->json), what);
  return BERTH_ERROR_FORMAT;
}

/* Room for one more element behind `count` others. */
static void *grown(void *array, uint32_t count, size_t element) {
  bool full = (count & (count - 1)) == 0; /* a power of two, or the first */
  if (!full) return array;
  size_t room = count > 0 ? 2 * (size_t)count : 1;
  return realloc(array, room * element);
}

static berth_status_t number(const reading_t *r, uint32_t *value) {
  if (r->json.token != BERTH_JSON_NUMBER || !r->json.is_whole || r->json.number < 0 ||
      r->json.number > INT32_MAX) {
    return wrong(r, "a number of the plan is no whole number in range");
  }
  *value = (uint32_t)r->json.number;
  return BERTH_OK;
}

static berth_status_t add_run(reading_t *r) {
  berth_saved_streaming_t *saved = r->saved;
  berth_stream_run_t *runs = grown(saved->runs, saved->run_count, sizeof *runs);
  if (runs == NULL) return BERTH_ERROR_MEMORY;
  saved->runs = runs;
  runs[saved->run_count++] = (berth_stream_run_t){.first = 1, .last = 0}; /* none, so far */
  return BERTH_OK;
}

static berth_status_t add_ring(reading_t *r) {
  berth_saved_streaming_t *saved = r->saved;
  berth_saved_ring_t *rings = grown(saved->rings, saved->ring_count, sizeof *rings);
  if (rings == NULL) return BERTH_ERROR_MEMORY;
  saved->rings = rings;
  rings[saved->ring_count++] = (berth_saved_ring_t){saved->run_count - 1, BERTH_NOBODY, 0};
  return BERTH_OK;
}

static bool is_true(const reading_t *r) {
  return r->json.token == BERTH_JSON_WORD && r->json.text[0] == 't';
}

static berth_status_t run_value(reading_t *r) {
  berth_stream_run_t *run = &r->saved->runs[r->saved->run_count - 1];
  if (berth_json_key_is(&r->json, "first")) return number(r, &run->first);
  if (berth_json_key_is(&r->json, "last")) return number(r, &run->last);
  if (berth_json_key_is(&r->json, "block_rows")) return number(r, &run->block);
  if (berth_json_key_is(&r->json, "pull_outputs")) run->pull_outputs = is_true(r);
  if (berth_json_key_is(&r->json, "reverse")) run->reverse = is_true(r);
  return BERTH_OK;
}

static berth_status_t ring_value(reading_t *r) {
  berth_saved_ring_t *ring = &r->saved->rings[r->saved->ring_count - 1];
  if (berth_json_key_is(&r->json, "tensor")) return number(r, &ring->tensor);
  if (berth_json_key_is(&r->json, "rows")) return number(r, &ring->rows);
  return BERTH_OK;
}

static berth_status_t push_value(reading_t *r) {
  uint32_t input = 0;
  berth_status_t status = number(r, &input);
  if (status == BERTH_OK && input >= 32) return wrong(r, "only inputs 0 to 31 can be pushed");
  if (status == BERTH_OK) r->saved->runs[r->saved->run_count - 1].push_inputs |= 1u << input;
  return status;
}

static berth_status_t order_value(reading_t *r) {
  berth_saved_streaming_t *saved = r->saved;
  uint32_t op = 0;
  berth_status_t status = number(r, &op);
  if (status != BERTH_OK) return status;
  uint32_t *order = grown(saved->order, saved->order_count, sizeof *order);
  if (order == NULL) return BERTH_ERROR_MEMORY;
  saved->order = order;
  order[saved->order_count++] = op;
  return BERTH_OK;
}

/* In which list of "streaming" a token is. */
typedef enum list { LIST_OTHER, LIST_RUNS, LIST_ORDER } list_t;

/* Where in "streaming" a token is. */
typedef struct where {
  list_t list;
  bool in_rings, in_pushed; /* of a run */
} where_t;

/* A token within "streaming", of which an opening one has the depth of what it opens, and a value
 * that of what it is in: {"streaming": {"runs": [{"rings": [{}]}]}} */
static berth_status_t take(reading_t *r, where_t *where) {
  const berth_json_reader_t *json = &r->json;
  bool opens = json->token == BERTH_JSON_OPEN;
  switch (json->depth) {
  case 3:
    if (opens) {
      where->list = berth_json_key_is(json, "runs")    ? LIST_RUNS
                    : berth_json_key_is(json, "order") ? LIST_ORDER
                                                       : LIST_OTHER;
      return BERTH_OK;
    }
    if (where->list == LIST_RUNS) return wrong(r, "a run of the streamed plan is no object");
    return where->list == LIST_ORDER ? order_value(r) : BERTH_OK;
  case 4:
    if (where->list != LIST_RUNS) return BERTH_OK;
    return opens ? add_run(r) : run_value(r);
  case 5:
    if (where->list != LIST_RUNS) return BERTH_OK;
    if (opens) {
      where->in_rings = berth_json_key_is(json, "rings");
      where->in_pushed = berth_json_key_is(json, "push_inputs");
      return BERTH_OK;
    }
    if (where->in_rings) return wrong(r, "a ring of the streamed plan is no object");
    return where->in_pushed ? push_value(r) : BERTH_OK;
  case 6:
    if (where->list != LIST_RUNS || !where->in_rings) return BERTH_OK;
    return opens ? add_ring(r) : ring_value(r);
  default:
    return BERTH_OK;
  }
}

static berth_status_t read_tokens(reading_t *r) {
  bool inside = false, in_order = false; /* "streaming"; "order" of a plan that isn't streamed */
  where_t where = {LIST_OTHER, false, false};
  while (berth_json_next(&r->json)) {
    const berth_json_reader_t *json = &r->json;
    if (json->depth == 2 && json->token == BERTH_JSON_OPEN) {
      inside = berth_json_key_is(json, "streaming");
      in_order = berth_json_key_is(json, "order") && json->open[1] == '[';
      if (in_order) continue;
    }
    if (in_order && json->token == BERTH_JSON_CLOSE && json->depth == 2) in_order = false;
    if (in_order) {
      berth_status_t status = order_value(r);
      if (status != BERTH_OK) return status;
    }
    if (!inside) continue;
    if (json->token == BERTH_JSON_CLOSE) {
      if (json->depth == 3) where.list = LIST_OTHER;
      if (json->depth <= 5) where.in_rings = where.in_pushed = false;
      inside = json->depth > 2;
      continue;
    }
    berth_status_t status = take(r, &where);
    if (status != BERTH_OK) return status;
  }
  return r->json.fault == NULL ? BERTH_OK : wrong(r, r->json.fault);
}

berth_status_t berth_saved_streaming_read(const char *path, berth_saved_streaming_t *saved,
                                          berth_complaint_t *complaint) {
  memset(saved, 0, sizeof *saved);
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, ".csv") == 0) return BERTH_OK;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_status_t status = berth_host_map(path, &map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  reading_t r = {.path = path,
                 .json = berth_json_read(map.data, (size_t)map.size),
                 .saved = saved,
                 .complaint = complaint};
  status = read_tokens(&r);
  if (status == BERTH_ERROR_MEMORY) berth_complain(complaint, "%s: out of memory", path);
  if (status != BERTH_OK) berth_saved_streaming_free(saved);
  berth_host_unmap(&map);
  return status;
}

/* ---- The order ------------------------------------------------------------------------------- */

/* Operators that share a variable must keep the file's order. `users`: of each tensor, the last. */
static bool takes_turn(const berth_model_t *model, berth_vector_t list, uint32_t op,
                       uint32_t *users) {
  for (uint32_t i = 0; i < list.count; i++) {
    int32_t tensor = berth_vector_int(list, i);
    if (tensor < 0 || !berth_model_tensor(model, 0, (uint32_t)tensor).is_variable) continue;
    if (users[tensor] > op) return false;
    users[tensor] = op;
  }
  return true;
}

berth_status_t berth_saved_order_check(const berth_saved_streaming_t *saved, const char *path,
                                       const berth_model_t *model, berth_complaint_t *complaint) {
  berth_subgraph_t graph = berth_model_subgraph(model, 0);
  if (saved->order == NULL) return BERTH_OK;
  bool *made = calloc((size_t)graph.tensor_count + 1, sizeof *made);
  bool *done = calloc((size_t)graph.operator_count + 1, sizeof *done);
  uint32_t *users = calloc((size_t)graph.tensor_count + 1, sizeof *users), effect = 0;
  bool right = saved->order_count == graph.operator_count;
  if (made == NULL || done == NULL || users == NULL) {
    berth_complain(complaint, "%s: out of memory", path);
    free(made);
    free(done);
    free(users);
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < graph.tensor_count; i++) made[i] = true;
  for (uint32_t op = 0; op < graph.operator_count; op++) {
    berth_vector_t outputs = berth_model_operator(model, 0, op).outputs;
    for (uint32_t i = 0; i < outputs.count; i++) {
      if (berth_vector_int(outputs, i) >= 0) made[berth_vector_int(outputs, i)] = false;
    }
  }
  for (uint32_t step = 0; step < graph.operator_count && right; step++) {
    uint32_t op = saved->order[step];
    right = op < graph.operator_count && !done[op];
    if (!right) break;
    done[op] = true;
    berth_operator_t what = berth_model_operator(model, 0, op);
    if (berth_graph_has_effects(&what)) {
      right = right && effect <= op;
      effect = op;
    }
    right = right && takes_turn(model, what.inputs, op, users) &&
            takes_turn(model, what.outputs, op, users);
    for (uint32_t i = 0; i < what.inputs.count; i++) {
      int32_t tensor = berth_vector_int(what.inputs, i);
      right = right && (tensor < 0 || made[tensor]);
    }
    for (uint32_t i = 0; i < what.outputs.count; i++) {
      if (berth_vector_int(what.outputs, i) >= 0) made[berth_vector_int(what.outputs, i)] = true;
    }
  }
  free(made);
  free(done);
  free(users);
  if (right) return BERTH_OK;
  berth_complain(complaint,
                 "%s: the order of the plan is none of the model's operators, each after "
                 "those that it reads from and those whose effects it sees",
                 path);
  return BERTH_ERROR_FORMAT;
}

/* ---- What it says ---------------------------------------------------------------------------- */

typedef struct checking {
  const berth_saved_streaming_t *saved;
  const char *path;
  const berth_offsets_t *offsets;
  berth_subject_t *subject;
  berth_streaming_t *s;
  berth_complaint_t *complaint;
} checking_t;

/* Complains about number `which` of something; FORMAT. */
static berth_status_t fault(const checking_t *c, const char *what, uint32_t which,
                            const char *why) {
  berth_complain(c->complaint, "%s: %s %u of the streamed plan %s", c->path, what, which, why);
  return BERTH_ERROR_FORMAT;
}

static berth_status_t check_runs(const checking_t *c) {
  const berth_model_t *model = &c->subject->model;
  uint32_t steps = berth_model_subgraph(model, 0).operator_count;
  for (uint32_t i = 0; i < c->saved->run_count; i++) {
    const berth_stream_run_t *run = &c->saved->runs[i];
    if (run->first > run->last || run->last >= steps || run->block == 0) {
      return fault(c, "run", i, "has no steps of the model, or no rows at a time");
    }
    if (i > 0 && run->first <= run[-1].last) return fault(c, "run", i, "is out of order");
    for (uint32_t step = run->first; step <= run->last; step++) {
      berth_operator_t op = berth_model_operator(model, 0, step);
      const berth_contract_t *contract = &c->s->network.contracts[step];
      if (berth_stream_can_run(model, &op, contract)) continue;
      return fault(c, "step", step, "has an operator that cannot run row by row");
    }
    if (berth_stream_begin(&c->s->stream, run) != BERTH_OK) {
      return fault(c, "run", i, "cannot be walked");
    }
  }
  return BERTH_OK;
}

/* Is the tensor made in that run, or one of its pushed inputs? What `rings` says was measured. */
static bool belongs(const checking_t *c, const berth_saved_ring_t *ring) {
  const berth_stream_run_t *run = &c->saved->runs[ring->run];
  const berth_model_t *model = &c->subject->model;
  for (uint32_t step = run->first; step <= run->last; step++) {
    if (berth_vector_holds(berth_model_operator(model, 0, step).outputs, ring->tensor)) return true;
  }
  berth_vector_t inputs = berth_model_subgraph(model, 0).inputs;
  for (uint32_t i = 0; i < inputs.count && i < 32; i++) {
    bool is_it = berth_vector_int(inputs, i) == (int32_t)ring->tensor;
    if (is_it && (run->push_inputs >> i & 1u)) return c->s->rings[ring->tensor] != 0;
  }
  return false;
}

/* Puts the file's rings in the place of the measured ones. Tensors that are never made stay so. */
static berth_status_t take_rings(const checking_t *c) {
  berth_streaming_t *s = c->s;
  uint32_t tensors = berth_model_subgraph(&c->subject->model, 0).tensor_count;
  for (uint32_t i = 0; i < c->saved->ring_count; i++) {
    const berth_saved_ring_t *ring = &c->saved->rings[i];
    if (ring->tensor >= tensors) return fault(c, "ring", i, "is of a tensor that there isn't");
    if (!belongs(c, ring)) return fault(c, "ring", i, "is of a tensor that its run doesn't make");
    bool never_made = s->rings[ring->tensor] == BERTH_STREAM_NOTHING;
    if (never_made != (ring->rows == 0) || ring->rows > s->tensors[ring->tensor].rows) {
      return fault(c, "ring", i, "has more rows than its tensor, or none");
    }
  }
  for (uint32_t i = 0; i < tensors; i++) {
    if (s->rings[i] != BERTH_STREAM_NOTHING) s->rings[i] = 0;
  }
  for (uint32_t i = 0; i < c->saved->ring_count; i++) {
    const berth_saved_ring_t *ring = &c->saved->rings[i];
    if (ring->rows == 0) continue;
    if (s->rings[ring->tensor] != 0) return fault(c, "ring", i, "is of a tensor that has another");
    if (ring->rows < s->tensors[ring->tensor].rows) s->rings[ring->tensor] = ring->rows;
  }
  return BERTH_OK;
}

/* Offsets of everything that has memory. Scratch is not in the file: the interpreter finds room. */
static berth_status_t take_offsets(const checking_t *c, berth_placement_t *placements) {
  berth_streaming_t *s = c->s;
  s->buffer_count = c->subject->problem.buffer_count;
  for (uint32_t i = 0; i < s->buffer_count; i++) {
    const berth_label_t *label = &s->labels[i];
    const berth_buffer_t *buffer = &s->buffers[i];
    if (label->subgraph == BERTH_NOBODY || buffer->size == 0) continue;
    int32_t offset = c->offsets->offsets[c->subject->graph.bases[label->subgraph] + label->tensor];
    if (offset < 0) return fault(c, "tensor", label->tensor, "has no offset");
    if ((uint32_t)offset % buffer->align != 0) {
      return fault(c, "tensor", label->tensor, "has an offset that is misaligned");
    }
    if ((uint64_t)offset + buffer->size > EXTENT_MAX) {
      return fault(c, "tensor", label->tensor, "ends beyond a gigabyte");
    }
    placements[i].offset = (uint32_t)offset;
  }
  return BERTH_OK;
}

static berth_status_t check(const checking_t *c, uint32_t align, berth_placement_t *placements) {
  berth_streaming_t *s = c->s;
  berth_status_t status = check_runs(c);
  if (status != BERTH_OK) return status;
  memcpy(s->runs, c->saved->runs, c->saved->run_count * sizeof *s->runs);
  status = berth_streaming_set(s, c->subject, s->runs, c->saved->run_count, align);
  if (status == BERTH_OK) status = take_rings(c);
  if (status != BERTH_OK) return status;
  berth_streaming_fit(s, c->subject, align);
  status = take_offsets(c, placements);
  if (status != BERTH_OK) return status;
  const char *model_path = s->path;
  s->path = c->path;
  status = berth_streaming_verify(s, placements, c->complaint);
  s->path = model_path;
  s->result.choices[0].calls = berth_streaming_calls(s);
  return status == BERTH_ERROR_INTERNAL ? BERTH_ERROR_FORMAT : status;
}

berth_status_t berth_saved_streaming_adopt(const berth_saved_streaming_t *saved, const char *path,
                                           const berth_offsets_t *offsets, berth_subject_t *subject,
                                           uint32_t align, berth_streaming_t *streaming,
                                           berth_placement_t **placements,
                                           berth_complaint_t *complaint) {
  checking_t c = {saved, path, offsets, subject, streaming, complaint};
  berth_status_t status = berth_streaming_open(streaming, subject, complaint);
  if (status != BERTH_OK) return status;
  *placements = calloc((size_t)subject->problem.buffer_count + 1, sizeof **placements);
  berth_complain(complaint, "%s: out of memory", path);
  status = *placements != NULL ? check(&c, align, *placements) : BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) return status;
  free(*placements);
  *placements = NULL;
  berth_streaming_free(streaming);
  return status;
}
