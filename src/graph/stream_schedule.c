/* The row schedule: which operator of a run makes which rows next.
 *
 * Used by everyone who computes rings and lifetimes and by the interpreter; deterministic, without
 * any memory but the nodes'. What matters is that a row is made as late as possible, so that few
 * rows wait for their readers:
 *   - the run's ends (whatever somebody after it reads) are advanced in turn, always the one that
 *     is least far, by one block of rows;
 *   - a node whose inputs lack rows calls the first source that does, which goes before it in the
 *     same way, down to one that has all it needs;
 *   - before a node with several readers makes more rows, other ends that can advance without them
 *     do: they will not need the old ones any more.
 * A run of one step may also go in reverse: the same pieces, from the last row to the first, unless
 * it remembers what came before, as an LSTM does.
 *
 * What no end asks for (rows below the last window, pushed rows that nobody reads) is made last, so
 * that a run does exactly the work of its operators run whole.
 *
 * The path of callers is kept in the nodes and taken up where it was left: a piece costs one look
 * at each input of each node that it enters. With several ends, a piece of a node with several
 * readers costs a way down from each of them as well.
 */
#include "graph/stream.h"

/* ---- Who belongs to a run -------------------------------------------------------------------- */

static bool is_active(const berth_stream_node_t *node, uint32_t index,
                      const berth_stream_run_t *run) {
  if (node->step != BERTH_NOBODY) return node->step >= run->first && node->step <= run->last;
  return index < 32 && (run->push_inputs >> index & 1u) && !node->kept &&
         node->first_use >= run->first && node->last_use <= run->last;
}

/* Does a node's edges begin with its input 0, made in this run? */
static bool is_fed(const berth_stream_t *stream, const berth_stream_node_t *node) {
  if (node->step == BERTH_NOBODY || node[0].edges == node[1].edges) return false;
  const berth_stream_edge_t *edge = &stream->edges[node->edges];
  return edge->input == 0 && stream->nodes[edge->source].active;
}

/* RESHAPEs that need not run: their readers, all in the run, take any rows. No view of a view. */
static void find_views(berth_stream_t *stream) {
  for (uint32_t i = 0; i < stream->node_count; i++) {
    berth_stream_node_t *node = &stream->nodes[i];
    node->is_view = node->active && node->can_view && !node->is_end && is_fed(stream, node) &&
                    !stream->nodes[stream->edges[node->edges].source].is_view;
  }
  for (uint32_t i = stream->node_count; i-- > stream->input_count;) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (!node->active) continue;
    for (uint32_t e = node->edges; e < node[1].edges; e++) {
      const berth_stream_edge_t *edge = &stream->edges[e];
      bool takes_any = edge->input == 0 && node->kind == BERTH_ACCUMULATING;
      if (!takes_any) stream->nodes[edge->source].is_view = false;
    }
  }
}

bool berth_stream_is_reversible(const berth_stream_t *stream) {
  uint32_t active = 0;
  const berth_stream_node_t *one = NULL;
  for (uint32_t i = 0; i < stream->node_count; i++) {
    if (!stream->nodes[i].active) continue;
    one = &stream->nodes[i];
    active++;
  }
  return active == 1 && one->step != BERTH_NOBODY && one->kind == BERTH_ROW_LOCAL && one->single &&
         one->is_whole && !one->kept && !one->has_past;
}

berth_status_t berth_stream_begin(berth_stream_t *stream, const berth_stream_run_t *run) {
  uint32_t steps = stream->node_count - stream->input_count;
  if (run->first > run->last || run->first < stream->first_step ||
      run->last - stream->first_step >= steps || run->block == 0) {
    return BERTH_ERROR_ARGUMENT;
  }
  stream->run = *run;
  stream->end_count = 0;
  stream->has_ahead = false;
  stream->recall = NULL;
  stream->at = stream->top = BERTH_NOBODY;
  for (uint32_t i = 0; i < stream->node_count; i++) {
    berth_stream_node_t *node = &stream->nodes[i];
    node->active = is_active(node, i, run);
    bool read_later = node->first_use != BERTH_NOBODY && node->last_use > run->last;
    node->is_end = node->active && (node->kept || read_later);
    bool goes = run->pull_outputs && node->delivered && !read_later;
    node->is_whole = node->kind != BERTH_ROW_LOCAL || (node->is_end && !goes);
    node->made = node->wanted = 0;
    node->rows = node->given;
    node->caller = BERTH_NOBODY;
    stream->end_count += node->is_end;
  }
  find_views(stream);
  for (uint32_t i = stream->input_count; i < stream->node_count; i++) {
    berth_stream_node_t *node = &stream->nodes[i];
    if (node->is_view) node->rows = 0;
    if (node->active && node->kind == BERTH_ACCUMULATING && is_fed(stream, node)) {
      node->rows = berth_stream_reach(stream, &stream->edges[node->edges])->shape.rows;
    }
  }
  bool refused = run->reverse && !berth_stream_is_reversible(stream);
  return refused ? BERTH_ERROR_ARGUMENT : BERTH_OK;
}

/* ---- What a node needs ----------------------------------------------------------------------- */

berth_stream_rows_t berth_stream_read(const berth_stream_node_t *node,
                                      const berth_stream_edge_t *edge, uint32_t first,
                                      uint32_t last) {
  if (node->kind == BERTH_ACCUMULATING && edge->input == 0) {
    return (berth_stream_rows_t){first, last};
  }
  if (node->kind == BERTH_WHOLE) return (berth_stream_rows_t){0, edge->shape.rows};
  berth_stream_tensor_t to = {node->output, node->batch_rows, 0};
  return berth_stream_needed(&edge->window, edge->shape, to, first, last);
}

/* Rows of a source that can be read by now. */
static uint32_t available(const berth_stream_node_t *source) {
  if (!source->active) return UINT32_MAX;
  if (source->kind == BERTH_ROW_LOCAL) return source->made;
  return source->made == source->rows ? UINT32_MAX : 0;
}

/* How far a node goes when it is its turn: rows of work. */
static uint32_t reach_of(const berth_stream_t *stream, const berth_stream_node_t *node,
                         uint32_t wanted) {
  uint32_t left = wanted - node->made;
  return node->made + (left < stream->run.block ? left : stream->run.block);
}

/* The first source that lacks rows which `node` needs to go on towards `wanted`, and how many of
 * its rows of work that takes; BERTH_NOBODY: it can go on. */
static uint32_t lacking(const berth_stream_t *stream, const berth_stream_node_t *node,
                        uint32_t wanted, uint32_t *source_wanted) {
  uint32_t last = reach_of(stream, node, wanted);
  for (uint32_t e = node->edges; e < node[1].edges; e++) {
    const berth_stream_edge_t *edge = berth_stream_reach(stream, &stream->edges[e]);
    const berth_stream_node_t *source = &stream->nodes[edge->source];
    if (!source->active) continue;
    uint32_t need = berth_stream_read(node, &stream->edges[e], node->made, last).last;
    if (available(source) >= need) continue;
    *source_wanted = source->kind == BERTH_ROW_LOCAL ? need : source->rows;
    return edge->source;
  }
  return BERTH_NOBODY;
}

/* ---- Whose turn it is ------------------------------------------------------------------------ */

static bool is_done(const berth_stream_node_t *node) {
  return !node->active || node->made >= node->rows;
}

/* Is `a` less far than `b`? */
static bool is_behind(const berth_stream_node_t *a, const berth_stream_node_t *b) {
  return (uint64_t)a->made * b->rows < (uint64_t)b->made * a->rows;
}

/* The next node that may belong to the run: graph inputs, then its own steps. A model may have
 * thousands of runs; looking at all nodes for every row would be their square. */
static uint32_t after(const berth_stream_t *stream, uint32_t index) {
  uint32_t first = stream->input_count + stream->run.first - stream->first_step;
  return index + 1 < stream->input_count || index >= first ? index + 1 : first;
}

static uint32_t first_of(const berth_stream_t *stream) {
  return stream->input_count > 0 ? 0 : stream->run.first - stream->first_step;
}

static uint32_t end_of(const berth_stream_t *stream) {
  return stream->input_count + stream->run.last - stream->first_step + 1;
}

/* The end that is least far; when all are done, whatever else has something left. */
static uint32_t next_top(const berth_stream_t *stream) {
  uint32_t best = BERTH_NOBODY, left = BERTH_NOBODY;
  for (uint32_t i = first_of(stream); i < end_of(stream); i = after(stream, i)) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (is_done(node)) continue;
    if (left == BERTH_NOBODY) left = i;
    if (node->is_end && (best == BERTH_NOBODY || is_behind(node, &stream->nodes[best]))) best = i;
  }
  return best != BERTH_NOBODY ? best : left;
}

/* Makes rows of a node that has all it needs. */
static void make(berth_stream_t *stream, uint32_t index, uint32_t wanted,
                 berth_stream_piece_t *piece) {
  berth_stream_node_t *node = &stream->nodes[index];
  uint32_t last = reach_of(stream, node, wanted);
  *piece = (berth_stream_piece_t){.step = node->step,
                                  .input = index,
                                  .first_row = node->kind == BERTH_WHOLE ? 0 : node->made,
                                  .last_row = node->kind == BERTH_WHOLE ? node->output : last};
  node->made = last;
  if (!stream->run.reverse) return;
  uint32_t first = piece->first_row;
  piece->first_row = node->rows - piece->last_row;
  piece->last_row = node->rows - first;
}

/* Lets another end go on that needs no new rows of `waiting`, a node with several readers. */
static bool let_others_go(berth_stream_t *stream, uint32_t waiting, berth_stream_piece_t *piece) {
  for (uint32_t i = first_of(stream); i < end_of(stream); i = after(stream, i)) {
    const berth_stream_node_t *end = &stream->nodes[i];
    if (!end->is_end || i == stream->top || is_done(end)) continue;
    uint32_t at = i, wanted = reach_of(stream, end, end->rows), source, source_wanted = 0;
    while ((source = lacking(stream, &stream->nodes[at], wanted, &source_wanted)) != BERTH_NOBODY) {
      at = source;
      wanted = source_wanted;
    }
    if (at == waiting || (stream->nodes[at].shared && !stream->nodes[at].is_end)) continue;
    make(stream, at, wanted, piece);
    return true;
  }
  return false;
}

/* Asks the end that is least far for its next rows; false: all is done. */
static bool start(berth_stream_t *stream) {
  uint32_t top = next_top(stream);
  if (top == BERTH_NOBODY) return false;
  berth_stream_node_t *node = &stream->nodes[top];
  node->caller = BERTH_NOBODY;
  node->wanted = reach_of(stream, node, node->rows);
  stream->at = stream->top = top;
  return true;
}

bool berth_stream_next(berth_stream_t *stream, berth_stream_piece_t *piece) {
  for (;;) {
    if (stream->at == BERTH_NOBODY && !start(stream)) return false;
    berth_stream_node_t *node = &stream->nodes[stream->at];
    if (node->made >= node->wanted) { /* done, or done meanwhile for another end */
      stream->at = node->caller;
      continue;
    }
    uint32_t source_wanted = 0, source = lacking(stream, node, node->wanted, &source_wanted);
    if (source != BERTH_NOBODY) {
      stream->nodes[source].caller = stream->at;
      stream->nodes[source].wanted = source_wanted;
      stream->at = source;
      continue;
    }
    if (!node->shared || stream->end_count < 2 || !let_others_go(stream, stream->at, piece)) {
      make(stream, stream->at, node->wanted, piece);
    }
    return true;
  }
}

/* ---- Pieces in one call ---------------------------------------------------------------------- */

static berth_stream_node_t *node_at(const berth_stream_t *stream, uint32_t step) {
  return &stream->nodes[stream->input_count + step - stream->first_step];
}

void berth_stream_set_join(berth_stream_t *stream, uint32_t step, uint32_t rows) {
  berth_stream_node_t *node = node_at(stream, step);
  node->most = node->kind == BERTH_WHOLE ? 0 : rows;
}

/* The next piece, which may have been looked at already. */
static bool take_next(berth_stream_t *stream, berth_stream_piece_t *piece) {
  if (!stream->has_ahead) return berth_stream_next(stream, piece);
  stream->has_ahead = false;
  *piece = stream->ahead;
  return true;
}

bool berth_stream_join(berth_stream_t *stream, berth_stream_piece_t *piece) {
  if (!take_next(stream, piece)) return false;
  if (piece->step == BERTH_NOBODY) return true;
  uint32_t most = stream->run.reverse ? 0 : node_at(stream, piece->step)->most;
  while (piece->last_row - piece->first_row < most && berth_stream_next(stream, &stream->ahead)) {
    const berth_stream_piece_t *next = &stream->ahead;
    stream->has_ahead = next->step != piece->step || next->last_row - piece->first_row > most;
    if (stream->has_ahead) break;
    piece->last_row = next->last_row;
  }
  return true;
}

/* ---- What is seen ---------------------------------------------------------------------------- */

uint32_t berth_stream_seen(const berth_stream_t *stream, uint32_t step, uint32_t tensor) {
  const berth_stream_node_t *node = node_at(stream, step);
  for (uint32_t e = node->edges; e < node[1].edges; e++) {
    if (stream->edges[e].tensor != tensor) continue;
    return berth_stream_reach(stream, &stream->edges[e])->tensor;
  }
  return tensor;
}

bool berth_stream_is_view(const berth_stream_t *stream, uint32_t step) {
  return node_at(stream, step)->is_view;
}
