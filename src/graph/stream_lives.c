/* In which steps of a run a ring lives.
 *
 * All operators of a run take turns, so what holds rows over from one turn to the next is needed
 * in all steps. But many tensors hold none: a row is made, read, and forgotten before anybody else
 * has a turn, or before those have one that come later in the order. Such a tensor's lifetime is
 * the interval of steps whose pieces were made while some of its rows were needed. Two tensors of
 * which one ends before the other begins are never needed at once: if they were, while a piece of
 * some step is made, that step would be in both intervals.
 *
 * Cost: for each piece, one look at each tensor that is live and not yet known to live in all
 * steps, and one at the readers of each tensor that the piece reads.
 */
#include "graph/stream_measure.h"

/* Has it memory, and is it, or maybe one of several tensors, forgotten by the end of the run? */
static bool is_followed(const berth_stream_node_t *node) {
  return node->active && !node->is_view && !(node->is_end && node->is_whole && node->single);
}

void berth_measuring_begin_lives(berth_measuring_t *m) {
  m->live_count = 0;
  for (uint32_t i = 0; i < m->stream->node_count; i++) {
    m->firsts[i] = m->lasts[i] = BERTH_NOBODY;
    m->is_live[i] = false;
  }
}

/* Has it rows that are there and needed? */
static bool is_needed(const berth_measuring_t *m, uint32_t index) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  uint32_t there = node->kind == BERTH_ROW_LOCAL ? node->made : node->output;
  return berth_measuring_first_needed(m, index, BERTH_NOBODY, 0, BERTH_NOBODY) < there;
}

/* It is needed while a piece of `step` is made; false: it is known to live in all steps. */
static bool widen(berth_measuring_t *m, uint32_t index, uint32_t step) {
  bool begins = m->firsts[index] == BERTH_NOBODY;
  if (begins || step < m->firsts[index]) m->firsts[index] = step, m->worse = true;
  if (begins || step > m->lasts[index]) m->lasts[index] = step, m->worse = true;
  return m->firsts[index] > m->run->first || m->lasts[index] < m->run->last;
}

static void add_live(berth_measuring_t *m, uint32_t index, uint32_t step) {
  const berth_stream_node_t *node = &m->stream->nodes[index];
  if (m->is_live[index] || !is_followed(node)) return;
  if (node->kind != BERTH_ROW_LOCAL && node->made < node->rows) return; /* nothing is written yet */
  if (!widen(m, index, step)) return;
  m->is_live[index] = true;
  m->live[m->live_count++] = index;
}

void berth_measuring_note_lives(berth_measuring_t *m, uint32_t index) {
  const berth_stream_t *stream = m->stream;
  const berth_stream_node_t *node = &stream->nodes[index];
  uint32_t step = node->step != BERTH_NOBODY ? node->step : node->first_use;
  add_live(m, index, step);
  for (uint32_t i = 0; i < m->live_count; i++) {
    uint32_t live = m->live[i];
    bool read = live == index; /* or made: may it have been needed for the last time? */
    for (uint32_t e = node->edges; e < node[1].edges && node->step != BERTH_NOBODY && !read; e++) {
      read = berth_stream_reach(stream, &stream->edges[e])->source == live;
    }
    if (widen(m, live, step) && !(read && !is_needed(m, live))) continue;
    m->is_live[live] = false;
    m->live[i--] = m->live[--m->live_count];
  }
}

uint64_t berth_measuring_most_live(const berth_measuring_t *m) {
  const berth_stream_run_t *run = m->run;
  uint64_t sum = 0, most = 0;
  for (uint32_t i = 0; i <= run->last - run->first + 1; i++) m->sums[i] = 0;
  for (uint32_t i = 0; i < m->stream->node_count; i++) {
    const berth_stream_node_t *node = &m->stream->nodes[i];
    if (m->firsts[i] == BERTH_NOBODY || node->tensor == BERTH_NOBODY) continue;
    if (node->is_end && node->is_whole) continue; /* of several, the first may last */
    uint32_t rows = node->is_whole ? node->output : m->rings[i];
    uint64_t bytes = (uint64_t)rows * m->network->tensors[node->tensor].row_bytes;
    m->sums[m->firsts[i] - run->first] += bytes;
    m->sums[m->lasts[i] + 1 - run->first] -= bytes; /* wraps: a difference */
  }
  for (uint32_t i = 0; i <= run->last - run->first; i++) {
    sum += m->sums[i];
    if (sum > most) most = sum;
  }
  return most;
}
