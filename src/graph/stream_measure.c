/* What a run needs: the rings of its tensors, and how far its outputs may lie over its inputs.
 *
 * Walks the row schedule once. A row is needed as long as somebody in the run has it in the window
 * of a row that is not made yet; the rows being read by the very call that writes count as needed
 * until it ends. So:
 *   - a ring must hold, whenever rows are written, everything from the first row that is still
 *     needed to the last one written;
 *   - output byte number w, once written, must lie below input byte number n, the first one still
 *     needed: the output may begin n - w bytes after the input's start, the least of all moments.
 *     An operator that is one piece but makes its rows in order has such moments within it, and one
 *     that goes through input and output in step needs no moments, but both their sizes.
 *   - in reverse, it is the other way round: the output may begin where the last byte that is still
 *     needed ends, less what comes before the rows that are made by then.
 *
 * All are exact for the schedule; tests/graph/test_stream_measure.c derives them from a record of
 * who reads what when. The second is the distance of vMCU (Zheng et al., 2024), found by walking
 * instead of by a formula for each kind of operator.
 *
 * Cost: for each piece, one look at each reader of what is made, and of the inputs if an end is.
 */
#include "graph/stream_measure.h"
#include "plan/workspace.h"

#define ASK_AFTER 16u /* pieces between two questions whether to go on */

static void lay_out(berth_measuring_t *m, berth_workspace_t *workspace) {
  const berth_stream_t *stream = m->stream;
  size_t nodes = stream->node_count;
  m->starts = berth_workspace_take(workspace, nodes + 1, sizeof *m->starts);
  m->rings = berth_workspace_take(workspace, nodes, sizeof *m->rings);
  m->readers = berth_workspace_take(workspace, stream->nodes[nodes].edges, sizeof *m->readers);
  m->sums = berth_workspace_take(workspace, nodes + 1, sizeof *m->sums);
  m->firsts = berth_workspace_take(workspace, nodes, sizeof *m->firsts);
  m->lasts = berth_workspace_take(workspace, nodes, sizeof *m->lasts);
  m->live = berth_workspace_take(workspace, nodes, sizeof *m->live);
  m->is_live = berth_workspace_take(workspace, nodes, sizeof *m->is_live);
}

berth_status_t berth_stream_measure_workspace(const berth_stream_t *stream, size_t *bytes) {
  berth_stream_t copy = *stream;
  berth_measuring_t m = {.stream = &copy};
  berth_workspace_t workspace = berth_workspace_measure();
  lay_out(&m, &workspace);
  return berth_workspace_needed(&workspace, bytes);
}

/* The edges of each source, by counting. */
static void index_readers(const berth_measuring_t *m) {
  const berth_stream_t *stream = m->stream;
  uint32_t nodes = stream->node_count, edges = stream->nodes[nodes].edges;
  for (uint32_t i = 0; i <= nodes; i++) m->starts[i] = 0;
  for (uint32_t e = 0; e < edges; e++) m->starts[stream->edges[e].source]++;
  uint32_t sum = 0;
  for (uint32_t i = 0; i <= nodes; i++) {
    sum += m->starts[i];
    m->starts[i] = sum;
  }
  for (uint32_t e = edges; e-- > 0;) m->readers[--m->starts[stream->edges[e].source]] = e;
}

/* ---- What is still needed -------------------------------------------------------------------- */

/* The first row over `edge` that its reader needs while it makes its rows of work from `from` on;
 * of one that is whole but ordered, its rows. */
static uint32_t first_read(const berth_stream_node_t *reader, const berth_stream_edge_t *edge,
                           uint32_t from) {
  if (!reader->ordered) return berth_stream_read(reader, edge, from, from + 1).first;
  berth_stream_tensor_t to = {reader->output, reader->batch_rows, 0};
  return berth_stream_needed(&edge->window, edge->shape, to, from, from + 1).first;
}

uint32_t berth_measuring_first_needed(const berth_measuring_t *m, uint32_t source, uint32_t writer,
                                      uint32_t from, uint32_t except) {
  const berth_stream_t *stream = m->stream;
  /* Rows through a RESHAPE are counted as its input's. */
  uint32_t first = stream->nodes[source].is_view ? UINT32_MAX : stream->nodes[source].output;
  for (uint32_t i = m->starts[source]; i < m->starts[source + 1]; i++) {
    const berth_stream_edge_t *edge = &stream->edges[m->readers[i]];
    const berth_stream_node_t *reader = &stream->nodes[edge->reader];
    if (!reader->active || m->readers[i] == except) continue;
    uint32_t need = first;
    if (reader->is_view) {
      need = berth_measuring_first_needed(m, edge->reader, writer, from, except);
    } else if (edge->reader == writer) {
      need = first_read(reader, edge, from);
    } else if (reader->made < reader->rows) {
      need = berth_stream_read(reader, edge, reader->made, reader->made + 1).first;
    }
    if (need < first) first = need;
  }
  return first;
}

static void note_ring(berth_measuring_t *m, uint32_t index, const berth_stream_piece_t *piece) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  bool some = node->kind == BERTH_ROW_LOCAL && !node->single; /* may have a ring */
  if (node->is_whole && !some) return;
  uint32_t first = berth_measuring_first_needed(m, index, BERTH_NOBODY, 0, BERTH_NOBODY);
  if (first > piece->first_row) first = piece->first_row;
  uint32_t ring = piece->last_row - first;
  if (ring <= m->rings[index]) return;
  m->rings[index] = ring;
  m->worse = true;
}

/* ---- Outputs over inputs --------------------------------------------------------------------- */

/* Whole tensors from before that nobody after the run reads. */
static void find_reads(berth_measuring_t *m) {
  const berth_stream_t *stream = m->stream;
  for (uint32_t i = 0; i < stream->node_count; i++) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (node->active || node->kept || !node->single || node->first_use == BERTH_NOBODY) continue;
    if (node->last_use < m->run->first || node->last_use > m->run->last) continue;
    if (node->step != BERTH_NOBODY && node->step > m->run->last) continue;
    if (m->read_count == BERTH_STREAM_READS_MAX) return;
    m->reads[m->read_count++] = i;
  }
}

/* The outputs of the operator that a node is. */
static berth_vector_t outputs_of(const berth_measuring_t *m, uint32_t index) {
  uint32_t step = m->stream->nodes[index].step;
  uint32_t op = m->network->order != NULL ? m->network->order[step] : step;
  return berth_model_operator(m->network->model, 0, op).outputs;
}

/* Does somebody after the run want a tensor that the node makes? Of several, each may differ. */
static bool lasts(const berth_measuring_t *m, uint32_t index, uint32_t tensor) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  const berth_stream_network_t *network = m->network;
  if (!node->is_end || node->single || node->kind != BERTH_ROW_LOCAL) return node->is_end;
  berth_subgraph_t subgraph = berth_model_subgraph(network->model, 0);
  if (berth_vector_holds(subgraph.outputs, tensor)) return true;
  for (uint32_t step = m->run->last + 1; step < subgraph.operator_count; step++) {
    uint32_t op = network->order != NULL ? network->order[step] : step;
    if (berth_vector_holds(berth_model_operator(network->model, 0, op).inputs, tensor)) return true;
  }
  return false;
}

/* A whole tensor that node `index` makes may lie over each of those that the run reads last. */
static void add_overlaps(berth_measuring_t *m, uint32_t index, uint32_t tensor) {
  for (uint32_t k = 0; k < m->read_count; k++) {
    if (m->measure->overlap_count == BERTH_STREAM_OVERLAPS_MAX) return;
    uint32_t count = m->measure->overlap_count++;
    m->made[count] = index;
    m->read[count] = m->reads[k];
    m->measure->overlaps[count] = (berth_stream_overlap_t){
        tensor, m->stream->nodes[m->reads[k]].tensor, INT64_MAX, INT64_MAX, true};
  }
}

static void find_overlaps(berth_measuring_t *m) {
  const berth_stream_t *stream = m->stream;
  find_reads(m);
  m->measure->overlap_count = 0;
  for (uint32_t i = 0; i < stream->node_count && m->read_count > 0; i++) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (!node->active || !node->is_end || !node->is_whole) continue;
    if (node->single) {
      add_overlaps(m, i, node->tensor);
      continue;
    }
    berth_vector_t outputs = outputs_of(m, i);
    for (uint32_t k = 0; k < outputs.count && node->kind == BERTH_ROW_LOCAL; k++) {
      int32_t tensor = berth_vector_int(outputs, k);
      if (tensor >= 0 && lasts(m, i, (uint32_t)tensor)) add_overlaps(m, i, (uint32_t)tensor);
    }
  }
}

/* The one edge over which `reader` reads `source`; BERTH_NOBODY: there is none, or several. */
static uint32_t own_edge(const berth_measuring_t *m, uint32_t source, uint32_t reader) {
  uint32_t found = BERTH_NOBODY;
  for (uint32_t i = m->starts[source]; i < m->starts[source + 1]; i++) {
    if (m->stream->edges[m->readers[i]].reader != reader) continue;
    if (found != BERTH_NOBODY) return BERTH_NOBODY;
    found = m->readers[i];
  }
  return found;
}

/* Bytes of a tensor that a node makes. */
static int64_t bytes_of(const berth_measuring_t *m, uint32_t node, uint32_t tensor) {
  return (int64_t)m->stream->nodes[node].output * m->network->tensors[tensor].row_bytes;
}

/* What it means for an overlap that its output's rows up to `written` are there once those from
 * `from` on have been made. */
static void note_rows(berth_measuring_t *m, uint32_t index, uint32_t from, uint32_t written) {
  const berth_stream_tensor_t *tensors = m->network->tensors;
  berth_stream_overlap_t *overlap = &m->measure->overlaps[index];
  uint32_t made = m->made[index], source = m->read[index], own = own_edge(m, source, made);
  const berth_stream_node_t *read = &m->stream->nodes[source];
  const berth_stream_edge_t *edge = own != BERTH_NOBODY ? &m->stream->edges[own] : NULL;
  bool in_step = edge != NULL && edge->in_step;
  uint32_t first =
      berth_measuring_first_needed(m, source, made, from, in_step ? own : BERTH_NOBODY);
  int64_t distance = INT64_MAX;
  if (first < read->output) {
    distance = (int64_t)first * tensors[read->tensor].row_bytes -
               (int64_t)written * tensors[overlap->made].row_bytes;
  }
  if (in_step) {
    int64_t most = bytes_of(m, source, overlap->read) - bytes_of(m, made, overlap->made);
    if (most > 0) most = 0;
    if (most < distance) distance = most;
  }
  m->worse = m->worse || distance < overlap->distance;
  if (distance < overlap->distance) overlap->distance = distance;
  if (!overlap->in_place) return;
  overlap->in_place = edge != NULL && edge->in_place &&
                      berth_measuring_first_needed(m, source, made, from, own) >= written;
}

static void note_overlap(berth_measuring_t *m, uint32_t index, const berth_stream_piece_t *piece) {
  const berth_stream_node_t *node = &m->stream->nodes[m->made[index]];
  if (node->ordered) {
    for (uint32_t row = 0; row < node->output; row++) note_rows(m, index, row, row + 1);
  } else if (node->kind != BERTH_ACCUMULATING) {
    note_rows(m, index, piece->first_row, piece->last_row);
  } else if (piece->last_row == node->rows) { /* before, nothing is written */
    note_rows(m, index, piece->first_row, node->output);
  }
}

/* What the only overlap of a run that can go in reverse needs if it does: pieces from the last row
 * on, each of which needs what it reads and what those before it read. Several overlaps might want
 * different directions. */
static void find_reversed(berth_measuring_t *m) {
  if (!berth_stream_is_reversible(m->stream) || m->measure->overlap_count != 1) return;
  uint32_t own = own_edge(m, m->read[0], m->made[0]);
  if (own == BERTH_NOBODY) return;
  const berth_stream_edge_t *edge = &m->stream->edges[own];
  const berth_stream_node_t *node = &m->stream->nodes[m->made[0]];
  int64_t made_bytes = m->network->tensors[node->tensor].row_bytes,
          read_bytes = edge->shape.row_bytes;
  int64_t least = INT64_MIN;
  for (uint32_t first, last = node->output; last > 0; last = first) {
    first = last > m->run->block ? last - m->run->block : 0;
    uint32_t needed = berth_stream_read(node, edge, first, last).last;
    int64_t begin = needed * read_bytes - first * made_bytes;
    if (needed > 0 && begin > least) least = begin; /* else nothing is read any more */
  }
  if (least > INT64_MIN) m->measure->overlaps[0].reversed = least;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static uint32_t node_of(const berth_stream_t *stream, const berth_stream_piece_t *piece) {
  return piece->step == BERTH_NOBODY ? piece->input
                                     : stream->input_count + piece->step - stream->first_step;
}

/* Asks whether to go on, if there is news. */
static bool may_go_on(berth_measuring_t *m) {
  if (!m->worse || ++m->waited < ASK_AFTER || m->measure->go_on == NULL) return true;
  m->worse = false;
  m->waited = 0;
  m->measure->ring_bytes = berth_measuring_most_live(m);
  return m->measure->go_on(m->measure->user, m->measure);
}

static void give(const berth_measuring_t *m, uint32_t index, uint32_t tensor) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  bool wanted = lasts(m, index, tensor);
  bool whole = node->kind != BERTH_ROW_LOCAL || (node->is_whole && wanted);
  uint32_t ring = node->is_view ? BERTH_STREAM_NOTHING : whole ? 0 : m->rings[index];
  if (ring == node->output) ring = 0; /* if the caller wants it, it is found whole at the end */
  m->measure->rings[tensor] = ring;
  bool followed = m->firsts[index] != BERTH_NOBODY && !(wanted && (node->is_whole || ring == 0));
  if (m->measure->firsts == NULL || !followed) return;
  m->measure->firsts[tensor] = m->firsts[index];
  m->measure->lasts[tensor] = m->lasts[index];
}

/* The rings of all tensors that a node makes. */
static void give_rings(const berth_measuring_t *m, uint32_t index) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  if (node->step == BERTH_NOBODY) {
    give(m, index, node->tensor);
    return;
  }
  berth_vector_t outputs = outputs_of(m, index);
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (tensor >= 0) give(m, index, (uint32_t)tensor);
  }
}

berth_status_t berth_stream_measure(berth_stream_t *stream, const berth_stream_network_t *network,
                                    const berth_stream_run_t *run, void *memory,
                                    size_t workspace_bytes, berth_stream_measure_t *measure) {
  berth_measuring_t m = {.stream = stream, .network = network, .run = run, .measure = measure};
  berth_stream_run_t forward = *run; /* which is what both directions are measured on */
  forward.reverse = false;
  berth_workspace_t workspace = berth_workspace_over(memory, workspace_bytes);
  lay_out(&m, &workspace);
  berth_status_t status = berth_workspace_status(&workspace);
  if (status == BERTH_OK) status = berth_stream_begin(stream, run);
  if (status == BERTH_OK) status = berth_stream_begin(stream, &forward);
  if (status != BERTH_OK) return status;
  index_readers(&m);
  for (uint32_t i = 0; i < stream->node_count; i++) m.rings[i] = 0;
  berth_measuring_begin_lives(&m);
  find_overlaps(&m);
  find_reversed(&m);
  measure->pieces = 0;
  measure->ring_bytes = 0;

  berth_stream_piece_t piece;
  while (berth_stream_next(stream, &piece)) {
    uint32_t node = node_of(stream, &piece);
    if (piece.step != BERTH_NOBODY) measure->pieces++;
    note_ring(&m, node, &piece);
    berth_measuring_note_lives(&m, node);
    for (uint32_t i = 0; i < measure->overlap_count; i++) {
      if (m.made[i] == node) note_overlap(&m, i, &piece);
    }
    if (!may_go_on(&m)) return BERTH_ERROR_CANCELLED;
  }
  measure->ring_bytes = berth_measuring_most_live(&m);
  for (uint32_t i = 0; i < stream->node_count; i++) {
    if (stream->nodes[i].active) give_rings(&m, i);
  }
  return BERTH_OK;
}
