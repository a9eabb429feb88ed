/* The load of a run: a lower bound for each, and what walking its schedule finds.
 *
 * The bound is what lives through the run, the larger of what it reads and makes whole, and the
 * rows that single windows need. Walking costs, so it ends as soon as the load is known to be
 * larger than anybody wants: rings only grow and overlaps only shrink on the way, and most are
 * nearly as they will be after a few rows. How far it came is then a better bound.
 */
#include "graph/stream_search.h"

/* What an overlap saves. */
static uint64_t gain_of(const berth_searching_t *s, const berth_stream_overlap_t *overlap) {
  uint64_t made = s->tensors[overlap->made].bytes, read = s->tensors[overlap->read].bytes;
  if (s->tensors[overlap->read].last > s->stream.run.last) return 0; /* kept for the caller */
  uint64_t lost = 0;
  if (!overlap->in_place && overlap->distance < 0) {
    lost = berth_searching_rounded(s, (uint64_t)-overlap->distance);
  }
  uint64_t gain = made > lost ? made - lost : 0;
  return gain < read ? gain : read;
}

/* What the overlaps save, each tensor taking part in one of them: the best assignment, by the set
 * of tensors that are lain over. Smaller gains never make it larger. */
static uint64_t saved_by_overlaps(const berth_searching_t *s) {
  enum { SETS = 1 << BERTH_STREAM_READS_MAX };
  uint32_t reads[BERTH_STREAM_READS_MAX], read_count = 0;
  uint64_t best[SETS] = {0};
  for (uint32_t i = 0; i < s->measure.overlap_count;) {
    uint32_t made = s->measure.overlaps[i].made;
    uint64_t before[SETS];
    for (uint32_t set = 0; set < SETS; set++) before[set] = best[set];
    for (; i < s->measure.overlap_count && s->measure.overlaps[i].made == made; i++) {
      const berth_stream_overlap_t *overlap = &s->measure.overlaps[i];
      uint32_t k = 0;
      while (k < read_count && reads[k] != overlap->read) k++;
      if (k == read_count) reads[read_count++] = overlap->read;
      uint64_t gain = gain_of(s, overlap);
      for (uint32_t set = 0; set < SETS; set++) { /* best: of sets that are within `set` */
        uint64_t with = set >> k & 1u ? before[set & ~(1u << k)] + gain : 0;
        if (with > best[set]) best[set] = with;
      }
    }
  }
  return best[SETS - 1];
}

static uint64_t ring_bytes(const berth_searching_t *s, uint32_t tensor) {
  uint32_t ring = s->measure.rings[tensor];
  if (ring == BERTH_STREAM_NOTHING) return 0;
  if (ring == 0) return s->tensors[tensor].bytes;
  return berth_searching_rounded(s, (uint64_t)ring * s->network->tensors[tensor].row_bytes);
}

/* A tensor that the run makes, or of which it is given rows: it lives where the walk has found. */
static void add_made(berth_searching_t *s, const berth_stream_run_t *run, uint32_t tensor) {
  uint64_t bytes = ring_bytes(s, tensor);
  bool known = s->measure.firsts[tensor] != BERTH_NOBODY;
  s->sums[known ? s->measure.firsts[tensor] : run->first] += bytes;
  s->sums[(known ? s->measure.lasts[tensor] : run->last) + 1] -= bytes; /* wraps: a difference */
}

/* The largest sum of all of these in one step. */
static uint64_t most_made(berth_searching_t *s, const berth_stream_run_t *run) {
  uint64_t sum = 0, most = 0;
  for (uint32_t step = run->first; step <= run->last + 1; step++) s->sums[step] = 0;
  for (uint32_t i = 0; i < s->stream.input_count; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    if (node->active && s->tensors[node->tensor].pushed) add_made(s, run, node->tensor);
  }
  for (uint32_t step = run->first; step <= run->last; step++) {
    const search_step_t *it = &s->steps[step];
    for (uint32_t k = it->outputs; k < it->end; k++) add_made(s, run, s->operands[k]);
  }
  for (uint32_t step = run->first; step <= run->last; step++) {
    sum += s->sums[step];
    if (sum > most) most = sum;
  }
  return most;
}

/* ---- Walking -------------------------------------------------------------------------------- */

/* Scratch and sums of a run. */
static uint64_t scratch_of(const berth_searching_t *s, const berth_stream_run_t *run) {
  uint64_t sums = 0, scratch = 0;
  for (uint32_t step = run->first; step <= run->last; step++) {
    const search_step_t *it = &s->steps[step];
    sums += it->sums;
    if (it->sums == 0 && it->scratch > scratch) scratch = it->scratch;
  }
  return sums + scratch;
}

/* What is there whatever the rings and overlaps are, once the run has begun. */
static uint64_t fixed_of(const berth_searching_t *s) {
  const berth_stream_run_t *run = &s->stream.run;
  uint64_t load = s->steps[run->first].live + scratch_of(s, run);
  for (uint32_t i = 0; i < s->stream.input_count; i++) { /* of one row: live, and counted below */
    const search_tensor_t *tensor = &s->tensors[s->stream.nodes[i].tensor];
    if (s->stream.nodes[i].active && !tensor->pushed) load -= tensor->bytes;
  }
  for (uint32_t step = run->first; step <= run->last; step++) {
    const search_step_t *it = &s->steps[step];
    const berth_stream_node_t *node = &s->stream.nodes[s->stream.input_count + step];
    for (uint32_t k = it->outputs; k < it->end && node->is_whole && node->is_end; k++) {
      const search_tensor_t *tensor = &s->tensors[s->operands[k]];
      bool inner = !node->single && node->kind == BERTH_ROW_LOCAL;
      if (!inner || tensor->kept || tensor->last > run->last) load += tensor->bytes;
    }
  }
  return load;
}

/* The load as far as the walk has come. */
static uint64_t least_load(berth_searching_t *s) {
  if (s->fixed == 0) s->fixed = fixed_of(s);
  return s->fixed + s->measure.ring_bytes - saved_by_overlaps(s);
}

static bool go_on(void *user, const berth_stream_measure_t *measure) {
  berth_searching_t *s = user;
  (void)measure;
  return least_load(s) <= s->cutoff;
}

uint64_t berth_searching_load(berth_searching_t *s, const berth_stream_run_t *run,
                              uint64_t enough) {
  s->cutoff = enough;
  s->fixed = 0;
  for (uint32_t i = 0; i < s->tensor_count; i++) s->measure.firsts[i] = BERTH_NOBODY;
  s->measure.go_on = go_on;
  s->measure.user = s;
  berth_status_t status = berth_stream_measure(&s->stream, s->network, run, s->measure_memory,
                                               s->measure_bytes, &s->measure);
  s->result->work += s->measure.pieces + 1u;
  if (status == BERTH_ERROR_CANCELLED) return least_load(s);
  if (status != BERTH_OK) return BERTH_STREAM_IMPOSSIBLE;
  uint64_t load = s->steps[run->first].live + scratch_of(s, run);
  return load + most_made(s, run) - saved_by_overlaps(s);
}

/* The least load of a strip, after a change in it. */
static void note_strip(berth_searching_t *s, uint32_t first, uint32_t last) {
  size_t start = (size_t)first * s->width,
         from = (last - first) & ~(size_t)(BERTH_STREAM_STRIP - 1);
  uint64_t least = BERTH_STREAM_IMPOSSIBLE;
  for (size_t i = from; i < from + BERTH_STREAM_STRIP && i < s->width; i++) {
    if (s->loads[start + i] < least) least = s->loads[start + i];
  }
  s->mins[berth_searching_strip(s, first, last)] = least;
}

void berth_searching_walk(berth_searching_t *s, uint32_t first, uint32_t last, uint64_t enough) {
  size_t index = berth_searching_index(s, first, last);
  if (s->walked[index] || s->stopped) return;
  uint64_t calls = s->steps[last].calls - (first > 0 ? s->steps[first - 1].calls : 0);
  uint64_t used = s->result->work + s->sketched / BERTH_SEARCHING_SKETCHED;
  if (used >= s->limit || calls > s->limit - used) {
    s->stopped = true;
    s->result->exact = false;
    return;
  }
  berth_stream_run_t run = berth_searching_run(s, first, last, 1);
  uint64_t load = berth_searching_load(s, &run, enough);
  if (load <= enough || load > s->loads[index]) s->loads[index] = load;
  note_strip(s, first, last);
  s->walked[index] = load <= enough || load == BERTH_STREAM_IMPOSSIBLE;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* A lower bound for the runs that begin at one step, while the last one moves on. */
typedef struct bound {
  uint64_t inside;  /* least bytes of what only the run sees and lives in all of its steps, */
  uint64_t passing; /* and of what else one step touches */
  uint64_t made;    /* bytes of what it makes and somebody later reads */
  uint64_t dying;   /* bytes of what was there before and is read for the last time */
  uint64_t scratch, sums;
} bound_t;

/* A tensor that only the run sees. */
static void add_inside(bound_t *b, const search_tensor_t *tensor, uint64_t *touched) {
  if (tensor->stays) {
    b->inside += tensor->least;
  } else {
    *touched += tensor->least;
  }
}

/* Moves the end of the runs that begin at `first` to `step`. */
static void extend(const berth_searching_t *s, bound_t *b, uint32_t first, uint32_t step) {
  uint64_t touched = 0;
  const search_step_t *it = &s->steps[step];
  const berth_stream_node_t *node = &s->stream.nodes[s->stream.input_count + step];
  b->sums += it->sums;
  if (it->sums == 0 && it->scratch > b->scratch) b->scratch = it->scratch;
  for (uint32_t k = it->outputs; k < it->end; k++) {
    const search_tensor_t *t = &s->tensors[s->operands[k]];
    bool kept = t->kept || (node->kept && (node->single || node->kind != BERTH_ROW_LOCAL));
    bool stays = !t->goes && (t->last > step || kept); /* else nobody reads this one */
    b->made += stays ? t->bytes : 0;
    if (!stays) add_inside(b, t, &touched);
  }
  for (uint32_t k = it->inputs; k < it->outputs; k++) {
    const search_tensor_t *t = &s->tensors[s->operands[k]];
    if (t->last != step) continue;
    bool before = t->made == BERTH_NOBODY || t->made < first;
    if (t->pushed) {
      add_inside(b, t, &touched);
    } else if (before) {
      b->dying += t->bytes;
    } else if (!t->kept) {
      b->made -= t->bytes;
      add_inside(b, t, &touched);
    }
  }
  if (touched > b->passing) b->passing = touched;
}

static uint64_t bound_of(const berth_searching_t *s, const bound_t *b, uint32_t first) {
  uint64_t through = s->steps[first].live - b->dying;
  return through + (b->dying > b->made ? b->dying : b->made) + b->inside + b->passing + b->scratch +
         b->sums;
}

/* Are all readers of the pushed inputs that a run reads in it? */
static bool pushed_fit(const berth_searching_t *s, uint32_t first, uint32_t last) {
  for (uint32_t i = 0; i < s->stream.input_count && s->options->push_inputs != 0; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    if (!s->tensors[node->tensor].pushed) continue;
    bool outside = node->last_use < first || node->first_use > last;
    bool within = node->first_use >= first && node->last_use <= last;
    if (!outside && !within) return false;
  }
  return true;
}

void berth_searching_bound(berth_searching_t *s) {
  size_t count = (size_t)s->step_count * s->width;
  for (size_t i = 0; i < count; i++) {
    s->loads[i] = BERTH_STREAM_IMPOSSIBLE;
    s->walked[i] = true;
  }
  for (uint32_t first = 0; first < s->step_count; first++) {
    bound_t bound = {0};
    for (uint32_t last = first; last < s->step_count && last - first < s->width; last++) {
      if (!s->steps[last].can_run) break;
      s->steps[first].reach = last + 1;
      extend(s, &bound, first, last);
      if (!pushed_fit(s, first, last)) continue;
      size_t index = berth_searching_index(s, first, last);
      s->loads[index] = bound_of(s, &bound, first);
      s->walked[index] = false;
    }
    for (uint32_t n = 0; n < s->width; n += BERTH_STREAM_STRIP) note_strip(s, first, first + n);
  }
}
