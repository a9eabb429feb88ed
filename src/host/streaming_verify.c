/* The verifier of streamed plans: every command that shows one runs it.
 *
 * Written from the definition. Memory is a map that says for each granule (the largest number of
 * bytes that divides all rows and offsets) whose row lies there. Steps and pieces happen in order;
 * each writes its rows, sums and scratch into the map, and what it reads must lie there whole
 * before and after: an operator may write while it still reads. Only a row that the contract lets
 * be written in place may be gone afterwards, if the row of the same number took its very place, or
 * in step, if the output is where that is permitted. One that is whole but ordered finds all it
 * reads at first, and then writes row after row, each of which is such a call of its own. At the
 * end the outputs and variables must be there. Which rows are read comes from the words of
 * contract.h. With the search, it shares the row schedule, which is the interpreter's as well, and
 * nothing else.
 *
 * Cost: all bytes written and read, divided by the granule. The map is no larger than 1 GiB: what
 * would need more, or looking at more granules than a few seconds allow, is refused, as a plan that
 * nobody has checked.
 */
#include "host/streaming_verify.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOBODYS 0u
#define MOST    (UINT64_C(1) << 28) /* granules, and rows of all tensors, that are followed */
#define LOOKS   (UINT64_C(1) << 32) /* granules that are written and looked at in all, and calls */

typedef struct following {
  berth_streaming_t *s;
  const berth_placement_t *placements;
  berth_complaint_t *complaint;
  uint32_t *owners; /* of each granule */
  uint64_t granules;
  uint64_t granule; /* bytes */
  uint32_t *names;  /* number of row 0 of each tensor; row r is names + r */
  const berth_stream_piece_t *piece;
  uint64_t *looks; /* granules so far, and a few for each call */
} following_t;

/* ---- The map -------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

static bool has_memory(const following_t *f, int32_t tensor) {
  if (tensor < 0) return false;
  uint32_t buffer = f->s->buffer_of[tensor];
  return buffer != UINT32_MAX && f->s->buffers[buffer].size > 0 && f->s->tensors[tensor].rows > 0;
}

/* Where row `row` of a tensor begins. */
static uint64_t place_of(const following_t *f, uint32_t tensor, uint32_t row) {
  uint32_t ring = f->s->rings[tensor];
  uint64_t at = ring > 0 ? row % ring : row;
  return f->placements[f->s->buffer_of[tensor]].offset + at * f->s->tensors[tensor].row_bytes;
}

static void fill(const following_t *f, uint64_t offset, uint64_t bytes, uint32_t owner) {
  *f->looks += bytes / f->granule + 8;
  for (uint64_t i = offset / f->granule; i < (offset + bytes) / f->granule; i++) {
    f->owners[i] = owner;
  }
}

/* The first granule in which somebody else's bytes are, or UINT64_MAX. */
static uint64_t spoiled(const following_t *f, uint64_t offset, uint64_t bytes, uint32_t owner) {
  *f->looks += bytes / f->granule + 8;
  for (uint64_t i = offset / f->granule; i < (offset + bytes) / f->granule; i++) {
    if (f->owners[i] != owner) return i * f->granule;
  }
  return UINT64_MAX;
}

static berth_status_t too_large(const following_t *f) {
  berth_complain(f->complaint, "%s: is too large for a streamed plan to be checked", f->s->path);
  return BERTH_ERROR_UNSUPPORTED;
}

static berth_status_t found(const following_t *f, uint32_t tensor, uint32_t row, uint64_t byte,
                            const char *when) {
  berth_complain(
      f->complaint,
      "%s: the streamed plan is wrong: row %" PRIu32 " of tensor %" PRIu32
      " is overwritten at byte %" PRIu64 " %s (step %" PRIu32 ", rows %" PRIu32 " to %" PRIu32 ")",
      f->s->path, row, tensor, byte, when, f->piece->step, f->piece->first_row, f->piece->last_row);
  return BERTH_ERROR_INTERNAL;
}

/* ---- What a piece reads and writes ------------------------------------------------------------
 */

static void write_rows(const following_t *f, int32_t tensor, uint32_t first, uint32_t last) {
  if (!has_memory(f, tensor)) return;
  uint64_t bytes = f->s->tensors[tensor].row_bytes;
  for (uint32_t row = first; row < last; row++) {
    fill(f, place_of(f, (uint32_t)tensor, row), bytes, f->names[tensor] + row);
  }
}

/* Does the output lie over input `index` so that it can be made in step with it? */
static bool is_in_step(const following_t *f, const berth_contract_t *contract, uint32_t index,
                       uint32_t input, uint32_t output) {
  if (!(contract->in_step >> index & 1u)) return false;
  if (f->s->rings[input] != 0 || f->s->rings[output] != 0) return false;
  const berth_stream_tensor_t *from = &f->s->tensors[input], *to = &f->s->tensors[output];
  uint64_t read = place_of(f, input, 0), made = place_of(f, output, 0);
  return made <= read &&
         made + (uint64_t)to->rows * to->row_bytes <= read + (uint64_t)from->rows * from->row_bytes;
}

/* May row `row` of input `index` be gone, since output row `row` is in its very place, or the
 * output in step with it? */
static bool is_replaced(const following_t *f, const berth_operator_t *op,
                        const berth_contract_t *contract, uint32_t index, uint32_t row) {
  int32_t input = berth_vector_int(op->inputs, index);
  int32_t output = op->outputs.count > 0 ? berth_vector_int(op->outputs, 0) : BERTH_NO_TENSOR;
  if (index >= 32 || !has_memory(f, output)) return false;
  if (is_in_step(f, contract, index, (uint32_t)input, (uint32_t)output)) return true;
  if (!(contract->in_place >> index & 1u)) return false;
  if (contract->kind == BERTH_WHOLE || f->s->tensors[output].rows != f->s->tensors[input].rows) {
    return place_of(f, (uint32_t)output, 0) == place_of(f, (uint32_t)input, 0);
  }
  return row >= f->piece->first_row && row < f->piece->last_row &&
         f->s->tensors[output].row_bytes == f->s->tensors[input].row_bytes &&
         place_of(f, (uint32_t)output, row) == place_of(f, (uint32_t)input, row);
}

static int64_t floor_of(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Looks at rows [first, last) of an input. */
static berth_status_t look(const following_t *f, const berth_operator_t *op,
                           const berth_contract_t *contract, uint32_t index, uint32_t tensor,
                           int64_t first, int64_t last, bool after) {
  for (int64_t row = first; row < last; row++) {
    uint32_t r = (uint32_t)row;
    uint64_t byte =
        spoiled(f, place_of(f, tensor, r), f->s->tensors[tensor].row_bytes, f->names[tensor] + r);
    if (byte == UINT64_MAX || (after && is_replaced(f, op, contract, index, r))) continue;
    return found(f, tensor, r, byte, after ? "while it is read" : "before it is read");
  }
  return BERTH_OK;
}

/* The rows of input `index` that the piece reads; `by_rows`: as its windows say. */
static berth_status_t look_at_input(const following_t *f, const berth_operator_t *op,
                                    const berth_contract_t *contract, uint32_t index, bool streamed,
                                    bool by_rows, bool after) {
  int32_t named = berth_vector_int(op->inputs, index);
  if (named < 0) return BERTH_OK;
  uint32_t tensor = (uint32_t)named;
  if (streamed) tensor = berth_stream_seen(&f->s->stream, f->piece->step, tensor);
  if (!has_memory(f, (int32_t)tensor)) return BERTH_OK;
  int64_t rows = f->s->tensors[tensor].rows;
  const berth_window_t *w =
      &contract->windows[index < BERTH_WINDOWS_MAX ? index : BERTH_WINDOWS_MAX - 1];
  if (streamed && contract->kind == BERTH_ACCUMULATING && index == 0) {
    return look(f, op, contract, index, tensor, f->piece->first_row, f->piece->last_row, after);
  }
  if (!by_rows || w->extent == 0) return look(f, op, contract, index, tensor, 0, rows, after);
  uint32_t output = (uint32_t)berth_vector_int(op->outputs, 0);
  int64_t height = f->s->tensors[output].batch_rows, batch = f->s->tensors[tensor].batch_rows;
  for (int64_t row = f->piece->first_row; row < f->piece->last_row; row++) {
    int64_t low = floor_of(row % height * w->numerator, w->denominator) + w->offset;
    int64_t high = low + w->extent, base = row / height * batch;
    if (low < 0) low = 0;
    if (high > batch) high = batch;
    berth_status_t status = look(f, op, contract, index, tensor, base + low, base + high, after);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* Scratch is written in every call; sums must outlast all calls from the first to the last. */
static berth_status_t use_scratch(const following_t *f, uint32_t op, bool sums, bool begins,
                                  bool after) {
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    uint32_t index = f->s->scratch_of[op * BERTH_SCRATCH_MAX + i];
    if (index == UINT32_MAX || index >= f->s->buffer_count) continue; /* in no file: not placed */
    uint64_t offset = f->placements[index].offset, bytes = f->s->buffers[index].size;
    uint32_t name = UINT32_MAX - index;
    if (!after && (begins || !sums || i > 0)) fill(f, offset, bytes, name);
    if (spoiled(f, offset, bytes, name) == UINT64_MAX) continue;
    berth_complain(f->complaint,
                   "%s: the streamed plan is wrong: the scratch of operator %" PRIu32
                   " is overwritten while in use",
                   f->s->path, op);
    return BERTH_ERROR_INTERNAL;
  }
  return BERTH_OK;
}

/* What the piece reads, of all inputs. */
static berth_status_t look_at_inputs(const following_t *f, const berth_operator_t *op,
                                     const berth_contract_t *contract, bool streamed, bool by_rows,
                                     bool after) {
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < op->inputs.count && status == BERTH_OK; i++) {
    status = look_at_input(f, op, contract, i, streamed, by_rows, after);
  }
  return status;
}

/* Has an accumulating operator come to its end, where it writes? */
static bool is_complete(const following_t *f, const berth_operator_t *op) {
  uint32_t input = (uint32_t)berth_vector_int(op->inputs, 0);
  uint32_t seen = berth_stream_seen(&f->s->stream, f->piece->step, input);
  return f->piece->last_row >= f->s->tensors[seen].rows;
}

/* One that is whole but ordered: has looked at everything, and makes row after row. */
static berth_status_t follow_in_order(following_t *f, const berth_operator_t *op,
                                      const berth_contract_t *contract) {
  const berth_stream_piece_t *whole = f->piece;
  int32_t output = berth_vector_int(op->outputs, 0);
  uint32_t rows = has_memory(f, output) ? f->s->tensors[output].rows : 0;
  berth_status_t status = BERTH_OK;
  for (uint32_t row = 0; row < rows && status == BERTH_OK; row++) {
    const berth_stream_piece_t piece = {whole->step, whole->input, row, row + 1};
    f->piece = &piece;
    status = look_at_inputs(f, op, contract, true, true, false);
    if (status != BERTH_OK) break;
    write_rows(f, output, row, row + 1);
    status = look_at_inputs(f, op, contract, true, true, true);
    if (status == BERTH_OK && *f->looks > LOOKS) status = too_large(f);
  }
  f->piece = whole;
  return status;
}

/* One call of an operator, a piece of a run or all at once. */
static berth_status_t follow(following_t *f, const berth_stream_piece_t *piece, bool streamed) {
  f->piece = piece;
  if (*f->looks > LOOKS) return too_large(f);
  uint32_t index = f->s->network.order != NULL ? f->s->network.order[piece->step] : piece->step;
  berth_operator_t op = berth_model_operator(f->s->network.model, 0, index);
  const berth_contract_t *contract = &f->s->network.contracts[index];
  bool sums = streamed && contract->kind == BERTH_ACCUMULATING;
  bool cut = streamed && contract->kind == BERTH_ROW_LOCAL;
  bool begins = piece->first_row == 0;
  bool in_order =
      streamed && contract->kind == BERTH_WHOLE && contract->ordered && op.outputs.count == 1;
  berth_status_t status = use_scratch(f, index, sums, begins, false);
  if (status == BERTH_OK) status = look_at_inputs(f, &op, contract, streamed, cut, false);
  if (status != BERTH_OK) return status;
  if (in_order) {
    status = follow_in_order(f, &op, contract);
    return status == BERTH_OK ? use_scratch(f, index, sums, begins, true) : status;
  }
  bool writes = !sums || is_complete(f, &op);
  for (uint32_t i = 0; i < op.outputs.count && writes; i++) {
    int32_t tensor = berth_vector_int(op.outputs, i);
    if (!has_memory(f, tensor)) continue;
    write_rows(f, tensor, cut ? piece->first_row : 0,
               cut ? piece->last_row : f->s->tensors[tensor].rows);
  }
  status = use_scratch(f, index, sums, begins, true);
  return status == BERTH_OK ? look_at_inputs(f, &op, contract, streamed, cut, true) : status;
}

/* ---- The whole plan ---------------------------------------------------------------------------
 */

static berth_status_t follow_run(following_t *f, const berth_stream_run_t *run) {
  berth_stream_piece_t piece;
  berth_status_t status = berth_stream_begin(&f->s->stream, run);
  while (status == BERTH_OK && berth_stream_next(&f->s->stream, &piece)) {
    if (piece.step == BERTH_NOBODY) {
      berth_vector_t inputs = berth_model_subgraph(f->s->network.model, 0).inputs;
      f->piece = &piece;
      write_rows(f, berth_vector_int(inputs, piece.input), piece.first_row, piece.last_row);
    } else {
      status = follow(f, &piece, true);
    }
  }
  return status;
}

static const berth_stream_piece_t none = {BERTH_NOBODY, 0, 0, 0};

/* Is a whole tensor, which somebody wants after the last step, still there? */
static berth_status_t look_at_end(following_t *f, int32_t tensor) {
  f->piece = &none;
  for (uint32_t row = 0; row < f->s->tensors[tensor].rows; row++) {
    uint64_t byte = spoiled(f, place_of(f, (uint32_t)tensor, row), f->s->tensors[tensor].row_bytes,
                            f->names[tensor] + row);
    if (byte != UINT64_MAX) return found(f, (uint32_t)tensor, row, byte, "before the end");
  }
  return BERTH_OK;
}

/* Do the rows of a graph input come while a run is on, if maybe all of them are kept? */
static bool is_pushed(const following_t *f, uint32_t input) {
  for (uint32_t i = 0; i < f->s->plan.run_count; i++) {
    berth_status_t status = berth_stream_begin(&f->s->stream, &f->s->plan.runs[i]);
    if (status == BERTH_OK && f->s->stream.nodes[input].active) return true;
  }
  return false;
}

/* What the caller finds or leaves in whole tensors: inputs, then outputs. */
static berth_status_t look_at_list(following_t *f, berth_vector_t list, bool write) {
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < list.count && status == BERTH_OK; i++) {
    int32_t tensor = berth_vector_int(list, i);
    if (!has_memory(f, tensor) || f->s->rings[tensor] != 0) continue;
    if (write && is_pushed(f, i)) continue;
    if (write) {
      write_rows(f, tensor, 0, f->s->tensors[tensor].rows);
    } else {
      status = look_at_end(f, tensor);
    }
  }
  return status;
}

/* Variables are there before the first step, and the next invoke wants them again. */
static berth_status_t look_at_variables(following_t *f, bool write) {
  uint32_t tensors = berth_model_subgraph(f->s->network.model, 0).tensor_count;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < tensors && status == BERTH_OK; i++) {
    int32_t tensor = (int32_t)i;
    if (!has_memory(f, tensor)) continue;
    if (f->s->labels[f->s->buffer_of[i]].kind != BERTH_KIND_VARIABLE) continue;
    if (write) {
      write_rows(f, tensor, 0, f->s->tensors[i].rows);
    } else {
      status = look_at_end(f, tensor);
    }
  }
  return status;
}

/* Does every tensor have room in its buffer for the rows that are kept of it? */
static berth_status_t check_room(following_t *f) {
  uint32_t tensors = berth_model_subgraph(f->s->network.model, 0).tensor_count;
  for (uint32_t i = 0; i < tensors; i++) {
    if (!has_memory(f, (int32_t)i)) continue;
    uint32_t kept = f->s->rings[i] > 0 ? f->s->rings[i] : f->s->tensors[i].rows;
    if ((uint64_t)kept * f->s->tensors[i].row_bytes <= f->s->buffers[f->s->buffer_of[i]].size) {
      continue;
    }
    berth_complain(f->complaint,
                   "the streamed plan is wrong: %" PRIu32 " rows of tensor %" PRIu32
                   " do not fit into its buffer",
                   kept, i);
    return BERTH_ERROR_INTERNAL;
  }
  return BERTH_OK;
}

static berth_status_t follow_plan(following_t *f) {
  berth_subgraph_t subgraph = berth_model_subgraph(f->s->network.model, 0);
  berth_status_t status = check_room(f);
  if (status == BERTH_OK) status = look_at_variables(f, true);
  if (status == BERTH_OK) status = look_at_list(f, subgraph.inputs, true);
  for (uint32_t step = 0; step < f->s->plan.step_count && status == BERTH_OK; step++) {
    const berth_stream_run_t *run = berth_streaming_run_at(f->s, step);
    if (run != NULL) {
      status = follow_run(f, run);
      step = run->last;
    } else {
      const berth_stream_piece_t all = {step, 0, 0, UINT32_MAX};
      status = follow(f, &all, false);
    }
  }
  if (status == BERTH_OK) status = look_at_list(f, subgraph.outputs, false);
  return status == BERTH_OK ? look_at_variables(f, false) : status;
}

/* The largest number that divides all that can be the beginning or the end of a row. */
static uint64_t granule_of(const berth_streaming_t *s, const berth_placement_t *placements,
                           uint32_t tensors) {
  uint64_t granule = 0;
  for (uint32_t i = 0; i < s->buffer_count; i++) {
    granule = common_divisor(granule, placements[i].offset);
    if (s->labels[i].subgraph != 0) granule = common_divisor(granule, s->buffers[i].size);
  }
  for (uint32_t i = 0; i < tensors; i++) {
    if (s->buffer_of[i] != UINT32_MAX) granule = common_divisor(granule, s->tensors[i].row_bytes);
  }
  return granule > 0 ? granule : 1;
}

berth_status_t berth_streaming_verify(berth_streaming_t *s, const berth_placement_t *placements,
                                      berth_complaint_t *complaint) {
  if (s->network.model == NULL) return BERTH_OK; /* a model without operators */
  berth_subgraph_t subgraph = berth_model_subgraph(s->network.model, 0);
  uint64_t looks = 0;
  following_t f = {.s = s, .placements = placements, .complaint = complaint, .looks = &looks};
  uint64_t end = 0, rows = 0;
  for (uint32_t i = 0; i < subgraph.tensor_count; i++) rows += s->tensors[i].rows;
  for (uint32_t i = 0; i < s->buffer_count; i++) {
    uint64_t top = placements[i].offset + s->buffers[i].size;
    if (top > end) end = top;
  }
  f.granule = granule_of(s, placements, subgraph.tensor_count);
  f.granules = end / f.granule + 1;
  if (f.granules > MOST || rows > MOST) return too_large(&f);
  f.owners = calloc((size_t)f.granules, sizeof *f.owners);
  f.names = calloc((size_t)subgraph.tensor_count + 1, sizeof *f.names);
  berth_status_t status = BERTH_ERROR_MEMORY;
  berth_complain(complaint, "%s: out of memory", s->path);
  if (f.owners != NULL && f.names != NULL) {
    uint32_t next = NOBODYS + 1;
    for (uint32_t i = 0; i < subgraph.tensor_count; i++) {
      f.names[i] = next;
      next += s->tensors[i].rows;
    }
    status = follow_plan(&f);
  }
  free(f.owners);
  free(f.names);
  return status;
}
