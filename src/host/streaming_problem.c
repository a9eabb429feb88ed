/* A streamed plan as a planning problem: rings instead of tensors, lifetimes as wide as runs, and
 * pairs for rows that may lie over rows.
 *
 * All steps of a run happen at once, piece by piece, so what is live in one of them is live in all,
 * but for tensors whose rows are forgotten before others have their turn (berth_stream_measure_t).
 */
#include "host/streaming.h"
#include "plan/round.h"
#include <stdlib.h>
#include <string.h>

const berth_stream_run_t *berth_streaming_run_at(const berth_streaming_t *streaming,
                                                 uint32_t step) {
  for (uint32_t i = 0; i < streaming->plan.run_count; i++) {
    const berth_stream_run_t *run = &streaming->plan.runs[i];
    if (step >= run->first && step <= run->last) return run;
  }
  return NULL;
}

static berth_operator_t operator_at(const berth_streaming_t *s, uint32_t step) {
  uint32_t op = s->network.order != NULL ? s->network.order[step] : step;
  return berth_model_operator(s->network.model, 0, op);
}

/* ---- Rings and overlaps ---------------------------------------------------------------------- */

/* Measures every run; rings and overlaps are then the plan's. */
static berth_status_t measure_runs(berth_streaming_t *s) {
  uint32_t tensors = berth_model_subgraph(s->network.model, 0).tensor_count;
  memset(s->rings, 0, tensors * sizeof *s->rings);
  for (uint32_t i = 0; i < tensors; i++) s->firsts[i] = s->lasts[i] = BERTH_NOBODY;
  s->overlap_count = 0;
  for (uint32_t i = 0; i < s->plan.run_count; i++) {
    berth_stream_measure_t measure = {.rings = s->rings, .firsts = s->firsts, .lasts = s->lasts};
    berth_status_t status = berth_stream_measure(&s->stream, &s->network, &s->plan.runs[i],
                                                 s->measure_memory, s->measure_bytes, &measure);
    if (status != BERTH_OK) return status;
    memcpy(&s->overlaps[s->overlap_count], measure.overlaps,
           measure.overlap_count * sizeof *s->overlaps);
    s->overlap_count += measure.overlap_count;
  }
  return BERTH_OK;
}

/* ---- Buffers -------------------------------------------------------------------------------- */

/* Makes a lifetime as wide as the runs that it touches. */
static void widen(const berth_streaming_t *s, berth_buffer_t *buffer) {
  const berth_stream_run_t *run = berth_streaming_run_at(s, buffer->first);
  if (run != NULL) buffer->first = run->first;
  run = berth_streaming_run_at(s, buffer->last);
  if (run != NULL) buffer->last = run->last;
}

/* A tensor of the main subgraph, as the plan has it. */
static void fit_tensor(const berth_streaming_t *s, const berth_graph_tensor_t *info,
                       berth_buffer_t *buffer, berth_label_t *label, uint32_t align) {
  uint32_t ring = s->rings[info->tensor];
  widen(s, buffer);
  if (s->firsts[info->tensor] != BERTH_NOBODY) {
    buffer->first = s->firsts[info->tensor];
    buffer->last = s->lasts[info->tensor];
  }
  if (ring == 0) return;
  label->bytes = 0;
  if (ring != BERTH_STREAM_NOTHING) {
    label->bytes = (uint64_t)ring * s->tensors[info->tensor].row_bytes;
  }
  buffer->size = berth_round_up(label->bytes, align);
}

/* Scratch that operators of a run use in one call each is the same memory for all of them, apart
 * from everything that lives in the run: the runtime places it so. */
static uint32_t scratch_shared_in(const berth_streaming_t *s, const berth_stream_run_t *run,
                                  uint32_t step, uint32_t part) {
  for (uint32_t other = run->first; other < step; other++) {
    uint32_t op = s->network.order != NULL ? s->network.order[other] : other;
    uint32_t buffer = s->scratch_of[op * BERTH_SCRATCH_MAX + part];
    bool sums = part == 0 && s->network.contracts[op].kind == BERTH_ACCUMULATING;
    if (buffer != UINT32_MAX && !sums) return buffer;
  }
  return UINT32_MAX;
}

static void add_part(berth_streaming_t *s, uint32_t step, uint32_t part, uint64_t bytes, bool sums,
                     uint32_t align) {
  uint32_t op = s->network.order != NULL ? s->network.order[step] : step;
  const berth_stream_run_t *run = berth_streaming_run_at(s, step);
  uint32_t *index = &s->scratch_of[op * BERTH_SCRATCH_MAX + part];
  *index = run != NULL && !sums ? scratch_shared_in(s, run, step, part) : UINT32_MAX;
  if (*index != UINT32_MAX) {
    berth_label_t *label = &s->labels[*index];
    if (bytes > label->bytes) label->bytes = bytes;
    s->buffers[*index].size = berth_round_up(label->bytes, align);
    return;
  }
  *index = s->buffer_count++;
  berth_operator_t info = operator_at(s, step);
  s->buffers[*index] = berth_buffer(berth_round_up(bytes, align), run != NULL ? run->first : step,
                                    run != NULL ? run->last : step);
  s->buffers[*index].align = align;
  s->labels[*index] = (berth_label_t){.name = berth_operator_name(&info),
                                      .bytes = bytes,
                                      .subgraph = BERTH_NOBODY,
                                      .tensor = BERTH_NOBODY,
                                      .kind = BERTH_KIND_SCRATCH,
                                      .has_kind = true,
                                      .op_subgraph = 0,
                                      .op = op,
                                      .part = part};
}

static void add_scratch(berth_streaming_t *s, uint32_t step, uint32_t align) {
  uint32_t op = s->network.order != NULL ? s->network.order[step] : step;
  const berth_contract_t *contract = &s->network.contracts[op];
  bool in_run = berth_streaming_run_at(s, step) != NULL;
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    bool sums = i == 0 && in_run && contract->kind == BERTH_ACCUMULATING;
    uint64_t bytes = contract->scratch[i];
    if (sums && contract->accumulator > bytes) bytes = contract->accumulator;
    s->scratch_of[op * BERTH_SCRATCH_MAX + i] = UINT32_MAX;
    if (bytes > 0) add_part(s, step, i, bytes, sums, align);
  }
}

static void make_buffers(berth_streaming_t *s, const berth_subject_t *subject, uint32_t align) {
  uint32_t tensors = berth_model_subgraph(s->network.model, 0).tensor_count;
  for (uint32_t i = 0; i < tensors; i++) s->buffer_of[i] = UINT32_MAX;
  s->buffer_count = subject->problem.buffer_count;
  for (uint32_t i = 0; i < s->buffer_count; i++) {
    s->buffers[i] = subject->problem.buffers[i];
    berth_label_t *label = &s->labels[i];
    *label = subject->labels[i];
    if (label->subgraph != 0) continue;
    s->buffer_of[label->tensor] = i;
    const berth_graph_tensor_t *info =
        &subject->graph.tensors[subject->graph.bases[0] + label->tensor];
    if (info->allocation == BERTH_ALLOCATION_ARENA_RW)
      fit_tensor(s, info, &s->buffers[i], label, align);
  }
  for (uint32_t step = 0; step < s->plan.step_count; step++) add_scratch(s, step, align);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

/* Does the tensor's buffer die within these steps? */
static bool dies_in(const berth_streaming_t *s, uint32_t tensor, uint32_t first, uint32_t last) {
  uint32_t buffer = s->buffer_of[tensor];
  return buffer != UINT32_MAX && s->buffers[buffer].last >= first &&
         s->buffers[buffer].last <= last;
}

static void add_pair(berth_streaming_t *s, uint32_t a, uint32_t b, berth_relation_t relation,
                     uint64_t bytes) {
  s->pairs[s->pair_count++] = (berth_pair_t){a, b, relation, bytes};
}

/* Buffer `made` may begin at most `distance` bytes after where `read` begins; `reverse`: likewise
 * from above, it may end at most so many bytes before where `read` ends. As a pair: the end of the
 * one may lie under the beginning of the other, so far and no farther. A pair that permits all of
 * one of the two would permit any place, so it stays one byte below. */
static void add_distance(berth_streaming_t *s, uint32_t made, uint32_t read, int64_t distance,
                         bool reverse) {
  berth_relation_t head = reverse ? BERTH_TAIL : BERTH_HEAD;
  berth_relation_t tail = reverse ? BERTH_HEAD : BERTH_TAIL;
  int64_t made_size = (int64_t)s->buffers[made].size, read_size = (int64_t)s->buffers[read].size;
  if (made_size == 0 || read_size == 0) return;
  if (distance == INT64_MAX) {
    add_pair(s, read, made, head, (uint64_t)read_size);
    return;
  }
  int64_t most = read_size - 1 - made_size;
  if (distance > most && distance >= 0) distance = most >= 0 ? most : -1;
  int64_t common = made_size + distance;
  if (common <= 0) return;
  if (common < read_size) {
    add_pair(s, read, made, head, (uint64_t)common);
  } else {
    add_pair(s, made, read, tail, (uint64_t)common);
  }
}

/* What may lie over what in a run. */
static void add_overlap(berth_streaming_t *s, const berth_stream_overlap_t *overlap) {
  uint32_t made = s->buffer_of[overlap->made], read = s->buffer_of[overlap->read];
  if (made == UINT32_MAX || read == UINT32_MAX) return;
  const berth_stream_run_t *run = berth_streaming_run_at(s, s->buffers[made].first);
  if (run == NULL || !dies_in(s, overlap->read, run->first, run->last)) return;
  bool in_place = overlap->in_place && s->buffers[made].size == s->buffers[read].size;
  if (in_place || overlap->distance >= 0) add_pair(s, read, made, BERTH_OVER, 0);
  add_distance(s, made, read, overlap->distance, false);
  if (overlap->reversed == INT64_MAX) return;
  int64_t above = (int64_t)s->buffers[read].size - (int64_t)s->buffers[made].size;
  add_distance(s, made, read, above - overlap->reversed, true);
}

/* Is the output of an overlap where the forward run may have it? */
static bool is_forward(const berth_streaming_t *s, const berth_stream_overlap_t *overlap,
                       const berth_placement_t *placements) {
  uint32_t a = s->buffer_of[overlap->made], b = s->buffer_of[overlap->read];
  if (a == UINT32_MAX || b == UINT32_MAX || overlap->reversed == INT64_MAX) return true;
  uint64_t made = placements[a].offset, read = placements[b].offset;
  if (made >= read + s->buffers[b].size || read >= made + s->buffers[a].size) return true;
  if (made == read && (overlap->in_place || overlap->distance >= 0)) return true;
  return (int64_t)(made - read) <= overlap->distance;
}

void berth_streaming_turn(berth_streaming_t *s, const berth_placement_t *placements) {
  for (uint32_t i = 0; i < s->overlap_count; i++) {
    const berth_stream_overlap_t *overlap = &s->overlaps[i];
    uint32_t made = s->buffer_of[overlap->made];
    for (uint32_t k = 0; made != UINT32_MAX && k < s->plan.run_count; k++) {
      bool is_it = s->runs[k].first == s->buffers[made].first && overlap->reversed != INT64_MAX;
      if (is_it) s->runs[k].reverse = !is_forward(s, overlap, placements);
    }
  }
}

/* A step that runs whole and may write over an input that dies in it, or over another one. */
static void add_in_place(berth_streaming_t *s, uint32_t step) {
  berth_operator_t op = operator_at(s, step);
  uint32_t index = s->network.order != NULL ? s->network.order[step] : step;
  const berth_contract_t *contract = &s->network.contracts[index];
  int32_t output = op.outputs.count > 0 ? berth_vector_int(op.outputs, 0) : BERTH_NO_TENSOR;
  if (!contract->known || output < 0 || s->buffer_of[output] == UINT32_MAX) return;
  if (s->labels[s->buffer_of[output]].kind == BERTH_KIND_VARIABLE) return; /* lives before */
  uint32_t before = s->pair_count;
  for (uint32_t i = 0; i < op.inputs.count && i < 32; i++) {
    int32_t input = berth_vector_int(op.inputs, i);
    if (input < 0 || !(contract->in_place >> i & 1u) || s->rings[input] != 0) continue;
    uint32_t from = s->buffer_of[input], to = s->buffer_of[output];
    if (from == UINT32_MAX || s->buffers[from].size != s->buffers[to].size ||
        s->labels[from].bytes != s->labels[to].bytes ||
        s->labels[from].kind == BERTH_KIND_VARIABLE || !dies_in(s, (uint32_t)input, step, step)) {
      continue;
    }
    bool again = false; /* the same tensor twice */
    for (uint32_t k = before; k < s->pair_count; k++) again = again || s->pairs[k].a == from;
    if (!again) add_pair(s, from, to, BERTH_OVER, 0);
  }
}

static void make_pairs(berth_streaming_t *s) {
  s->pair_count = 0;
  for (uint32_t i = 0; i < s->overlap_count; i++) add_overlap(s, &s->overlaps[i]);
  for (uint32_t step = 0; step < s->plan.step_count; step++) {
    if (berth_streaming_run_at(s, step) == NULL) add_in_place(s, step);
  }
}

void berth_streaming_fit(berth_streaming_t *s, const berth_subject_t *subject, uint32_t align) {
  make_buffers(s, subject, align);
  make_pairs(s);
}

berth_status_t berth_streaming_set(berth_streaming_t *s, const berth_subject_t *subject,
                                   const berth_stream_run_t *runs, uint32_t run_count,
                                   uint32_t align) {
  s->plan = (berth_stream_plan_t){.order = s->network.order,
                                  .step_count = subject->graph.step_count,
                                  .runs = runs,
                                  .run_count = run_count,
                                  .rings = s->rings};
  berth_status_t status = measure_runs(s);
  if (status == BERTH_OK) berth_streaming_fit(s, subject, align);
  return status;
}

uint64_t berth_streaming_run_calls(berth_streaming_t *s, const berth_stream_run_t *run) {
  berth_stream_piece_t piece;
  uint64_t calls = 0;
  if (berth_stream_begin(&s->stream, run) != BERTH_OK) return 0;
  while (berth_stream_next(&s->stream, &piece)) calls += piece.step != BERTH_NOBODY;
  return calls;
}

uint64_t berth_streaming_calls(berth_streaming_t *s) {
  uint64_t calls = s->plan.step_count;
  for (uint32_t i = 0; i < s->plan.run_count; i++) {
    const berth_stream_run_t *run = &s->plan.runs[i];
    calls -= run->last - run->first + 1;
    calls += berth_streaming_run_calls(s, run);
  }
  return calls;
}
