/* Chooses how to stream a model: the search's offers, placed. */
#include "host/streaming.h"
#include "host/streaming_verify.h"
#include <stdlib.h>
#include <string.h>

static berth_status_t out_of_memory(const berth_subject_t *subject, berth_complaint_t *complaint) {
  berth_complain(complaint, "%s: out of memory", subject->path);
  return BERTH_ERROR_MEMORY;
}

void *berth_streaming_take(berth_streaming_t *streaming, size_t count, size_t element) {
  if (streaming->memory_count == sizeof streaming->memory / sizeof *streaming->memory) return NULL;
  void *memory = calloc(count + 1, element);
  if (memory != NULL) streaming->memory[streaming->memory_count++] = memory;
  return memory;
}

void berth_streaming_free(berth_streaming_t *streaming) {
  for (uint32_t i = 0; i < streaming->memory_count; i++) free(streaming->memory[i]);
  if (streaming->contracts.table != NULL) berth_contracts_free(&streaming->contracts);
  memset(streaming, 0, sizeof *streaming);
}

/* ---- The network ----------------------------------------------------------------------------- */

/* Rows are counted by the shapes that the kernels infer, buffers by those that the file has. */
static berth_status_t compare_sizes(const berth_streaming_t *s, const berth_subject_t *subject,
                                    berth_complaint_t *complaint) {
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    if (label->subgraph != 0) continue;
    berth_value_t value = berth_interpreter_tensor(&s->contracts.interpreter, 0, label->tensor);
    if (!value.known || value.constant || value.bytes <= label->bytes) continue;
    berth_complain(complaint,
                   "%s: cannot be streamed: tensor %u has %llu bytes by its shape in the file, but "
                   "%llu by its operator",
                   subject->path, (unsigned)label->tensor, (unsigned long long)label->bytes,
                   (unsigned long long)value.bytes);
    return BERTH_ERROR_UNSUPPORTED;
  }
  return BERTH_OK;
}

static berth_status_t read_network(berth_streaming_t *s, const berth_subject_t *subject,
                                   berth_complaint_t *complaint) {
  berth_status_t status = berth_contracts_make(&subject->model, NULL, &s->contracts);
  if (status != BERTH_OK) return status;
  berth_subgraph_t subgraph = berth_model_subgraph(&subject->model, 0);
  uint32_t tensors = subgraph.tensor_count, steps = subgraph.operator_count;
  size_t buffers = (size_t)subject->problem.buffer_count + (size_t)steps * BERTH_SCRATCH_MAX;
  s->tensors = berth_streaming_take(s, tensors, sizeof *s->tensors);
  s->rings = berth_streaming_take(s, tensors, sizeof *s->rings);
  s->firsts = berth_streaming_take(s, tensors, sizeof *s->firsts);
  s->lasts = berth_streaming_take(s, tensors, sizeof *s->lasts);
  s->scratch_of = berth_streaming_take(s, (size_t)steps * BERTH_SCRATCH_MAX, sizeof *s->scratch_of);
  s->buffer_of = berth_streaming_take(s, tensors, sizeof *s->buffer_of);
  s->step_of = berth_streaming_take(s, steps, sizeof *s->step_of);
  s->buffers = berth_streaming_take(s, buffers, sizeof *s->buffers);
  s->labels = berth_streaming_take(s, buffers, sizeof *s->labels);
  s->runs = berth_streaming_take(s, steps, sizeof *s->runs);
  s->overlaps =
      berth_streaming_take(s, (size_t)steps * BERTH_STREAM_OVERLAPS_MAX, sizeof *s->overlaps);
  s->pairs = /* two for each overlap (and a third for the only one of a run), or one for each of 32
                inputs */
      berth_streaming_take(s, (size_t)steps * 2 * BERTH_STREAM_OVERLAPS_MAX, sizeof *s->pairs);
  if (s->memory_count != 12) return BERTH_ERROR_MEMORY;
  status = compare_sizes(s, subject, complaint);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < tensors; i++) {
    berth_value_t value = berth_interpreter_tensor(&s->contracts.interpreter, 0, i);
    s->tensors[i] = (berth_stream_tensor_t){0, 1, 0};
    if (!value.known || value.constant) continue;
    s->tensors[i] = berth_stream_tensor(value.rank, value.dims, value.bytes);
  }
  for (uint32_t i = 0; i < steps; i++) s->step_of[i] = i; /* --order best reorders the model */
  s->network = (berth_stream_network_t){
      .model = &subject->model, .contracts = s->contracts.table, .tensors = s->tensors};
  return BERTH_OK;
}

static berth_status_t make_stream(berth_streaming_t *s, uint32_t steps) {
  size_t bytes;
  berth_status_t status = berth_stream_workspace(&s->network, 0, steps - 1, &bytes);
  if (status != BERTH_OK) return status;
  void *memory = berth_streaming_take(s, bytes, 1);
  if (memory == NULL) return BERTH_ERROR_MEMORY;
  status = berth_stream_init(&s->network, 0, steps - 1, memory, bytes, &s->stream);
  if (status == BERTH_OK) status = berth_stream_measure_workspace(&s->stream, &s->measure_bytes);
  if (status != BERTH_OK) return status;
  s->measure_memory = berth_streaming_take(s, s->measure_bytes, 1);
  return s->measure_memory != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
}

/* `below`: as in berth_stream_search_options_t. */
static berth_status_t search(berth_streaming_t *s, const berth_subject_t *subject,
                             const berth_streaming_options_t *options, uint32_t pushed, bool pulled,
                             bool one, uint64_t below) {
  berth_watch_t watch;
  const berth_stream_search_options_t wanted = {.push_inputs = pushed,
                                                .pull_outputs = pulled,
                                                .align = options->align,
                                                .one = one,
                                                .below = below,
                                                .work_limit = options->work_limit,
                                                .progress = berth_watch_progress,
                                                .progress_user = &watch};
  size_t bytes;
  berth_status_t status = berth_stream_search_workspace(&s->network, &bytes);
  if (status != BERTH_OK) return status;
  if (s->search_memory == NULL) s->search_memory = berth_streaming_take(s, bytes, 1);
  if (s->search_memory == NULL) return BERTH_ERROR_MEMORY;
  watch = berth_watch_begin("looking for what to run row by row", 0);
  status = berth_stream_search(&s->network, &subject->graph, &wanted, s->search_memory, bytes,
                               &s->result);
  berth_watch_end(&watch);
  if (status == BERTH_OK) s->work += s->result.work;
  return status;
}

berth_status_t berth_streaming_load(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    const berth_streaming_options_t *options, uint64_t *load) {
  *load = UINT64_MAX;
  if (streaming->network.model == NULL) return BERTH_OK;
  uint32_t pushed = options->push_inputs ? UINT32_MAX : 0;
  berth_status_t status =
      search(streaming, subject, options, pushed, options->pull_outputs, true, options->below);
  if (status == BERTH_OK && streaming->result.choice_count > 0) {
    *load = streaming->result.choices[0].load;
  }
  return status;
}

/* ---- The choice ------------------------------------------------------------------------------ */

berth_problem_t berth_streaming_problem(const berth_streaming_t *s,
                                        const berth_subject_t *subject) {
  berth_problem_t problem = subject->problem;
  problem.buffers = s->buffers;
  problem.buffer_count = s->buffer_count;
  problem.pairs = s->pair_count > 0 ? s->pairs : NULL;
  problem.pair_count = s->pair_count;
  return problem;
}

/* Takes over the runs of an offer; `single`: one row at a time, whatever it says. */
static berth_status_t set(berth_streaming_t *s, const berth_subject_t *subject, uint32_t choice,
                          bool single, uint32_t align) {
  const berth_stream_choice_t *it = &s->result.choices[choice];
  for (uint32_t i = 0; i < it->run_count; i++) {
    s->runs[i] = s->result.runs[it->first_run + i];
    if (single) s->runs[i].block = 1;
  }
  return berth_streaming_set(s, subject, s->runs, it->run_count, align);
}

berth_status_t berth_streaming_place(const berth_streaming_t *s, const berth_subject_t *subject,
                                     uint64_t work, uint64_t *peak, bool *proven,
                                     berth_complaint_t *complaint) {
  berth_problem_t problem = berth_streaming_problem(s, subject);
  const berth_planning_t planning = {.work_limit = work};
  berth_outcome_t outcome;
  berth_status_t status =
      berth_planning_run(&berth_planner_best, &problem, &planning, &outcome, complaint);
  bool any = status == BERTH_OK && outcome.has_plan;
  *peak = any ? outcome.plan.peak : UINT64_MAX;
  *proven = any && outcome.plan.peak == outcome.plan.lower_bound;
  berth_outcome_free(&outcome);
  return status;
}

/* To be compared with others. */
static berth_status_t place(const berth_streaming_t *s, const berth_subject_t *subject,
                            uint64_t *peak, berth_complaint_t *complaint) {
  bool proven;
  return berth_streaming_place(s, subject, BERTH_STREAMING_COMPARING_WORK, peak, &proven,
                               complaint);
}

/* Places one offer, thoroughly enough to compare; with small rings if large ones don't fit. */
static berth_status_t try_choice(berth_streaming_t *s, const berth_subject_t *subject,
                                 uint32_t choice, uint32_t align, berth_complaint_t *complaint) {
  berth_streaming_trial_t *trial = &s->trials[choice];
  berth_status_t status = set(s, subject, choice, false, align);
  if (status == BERTH_OK) status = place(s, subject, &trial->peak, complaint);
  if (status != BERTH_OK || trial->peak <= trial->choice.load) return status;
  uint64_t peak;
  status = set(s, subject, choice, true, align);
  if (status == BERTH_OK) status = place(s, subject, &peak, complaint);
  if (status == BERTH_OK && peak < trial->peak) {
    trial->peak = peak;
    trial->single = true;
    trial->choice.calls = s->result.choices[choice].calls = berth_streaming_calls(s);
  }
  return status;
}

/* Offers come by rising load. One whose load alone is no better than a placed peak can't win; nor
 * than `known`, the peak of another way. */
static berth_status_t choose(berth_streaming_t *s, const berth_subject_t *subject,
                             berth_streaming_mode_t mode, uint32_t align, uint64_t known,
                             berth_complaint_t *complaint) {
  uint64_t best = known;
  s->chosen = 0;
  if (s->result.choice_count == 0) return BERTH_OK;
  for (uint32_t i = 0; i < s->result.choice_count; i++) {
    s->trials[i] = (berth_streaming_trial_t){s->result.choices[i], UINT64_MAX, false};
  }
  for (uint32_t i = 0; i < s->result.choice_count; i++) {
    uint64_t enough = mode == BERTH_STREAMING_AUTO && best < UINT64_MAX ? best + best / 16 : best;
    if (s->result.choices[i].load >= enough) break;
    berth_status_t status = try_choice(s, subject, i, align, complaint);
    if (status != BERTH_OK) return status;
    if (s->trials[i].peak < best) {
      best = s->trials[i].peak;
      s->chosen = i;
    }
  }
  for (uint32_t i = 0; i < s->result.choice_count && mode == BERTH_STREAMING_AUTO; i++) {
    const berth_streaming_trial_t *trial = &s->trials[i];
    if (trial->peak > best + best / 16) continue;
    if (trial->choice.calls < s->trials[s->chosen].choice.calls) s->chosen = i;
  }
  return set(s, subject, s->chosen, s->trials[s->chosen].single, align);
}

/* The best of the ways so far: what was searched, and tried of it. */
typedef struct found {
  berth_stream_result_t result; /* its runs are in a block of its own */
  berth_stream_run_t *runs;     /* on the heap */
  berth_streaming_trial_t trials[BERTH_STREAM_CHOICES_MAX];
  uint32_t chosen, way;
  uint64_t peak;
} found_t;

static uint32_t runs_of(const berth_stream_result_t *result) {
  const berth_stream_choice_t *last = &result->choices[result->choice_count - 1];
  return last->first_run + last->run_count;
}

static berth_status_t keep(const berth_streaming_t *s, uint32_t way, found_t *found) {
  uint32_t runs = runs_of(&s->result);
  berth_stream_run_t *copy = realloc(found->runs, ((size_t)runs + 1) * sizeof *copy);
  if (copy == NULL) return BERTH_ERROR_MEMORY;
  memcpy(copy, s->result.runs, runs * sizeof *copy);
  memcpy(found->trials, s->trials, sizeof s->trials);
  found->runs = copy;
  found->result = s->result;
  found->chosen = s->chosen;
  found->way = way;
  found->peak = s->trials[s->chosen].peak;
  return BERTH_OK;
}

/* Lets `s` be as it was when that was found. */
static berth_status_t restore(berth_streaming_t *s, const berth_subject_t *subject,
                              const found_t *found, uint32_t align) {
  uint32_t runs = runs_of(&found->result);
  berth_stream_run_t *own = berth_streaming_take(s, runs, sizeof *own);
  if (own == NULL) return BERTH_ERROR_MEMORY;
  memcpy(own, found->runs, runs * sizeof *own);
  memcpy(s->trials, found->trials, sizeof s->trials);
  s->result = found->result;
  s->result.runs = own;
  s->chosen = found->chosen;
  s->way = found->way;
  return set(s, subject, s->chosen, s->trials[s->chosen].single, align);
}

/* Which inputs should come, and should outputs go, row by row? Sometimes one that is written over
 * in place is better whole: tries all inputs, none, and one alone, with outputs row by row and not;
 * or only the way that was the best when the order was chosen, with the same options. */
static berth_status_t decide(berth_streaming_t *s, const berth_subject_t *subject,
                             const berth_streaming_options_t *options, uint32_t align,
                             berth_complaint_t *complaint) {
  const uint32_t sets[] = {UINT32_MAX, 0, 1, 2};
  uint32_t inputs = berth_model_subgraph(&subject->model, 0).inputs.count;
  uint32_t count = inputs == 2 ? 4 : 2;
  uint64_t before = s->work;
  uint64_t limit = options->work_limit != 0 ? options->work_limit : BERTH_STREAM_SEARCH_WORK;
  found_t found = {.peak = UINT64_MAX};
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < 2 * count && status == BERTH_OK; i++) {
    bool pulled = i < count, pushed = sets[i % count] != 0;
    if (subject->way != 0 && subject->way != i + 1) continue;
    if (found.way != 0 && s->work - before >= limit) break;
    if ((pulled && !options->pull_outputs) || (pushed && !options->push_inputs)) continue;
    uint64_t below = found.peak != UINT64_MAX ? found.peak : 0;
    status = search(s, subject, options, sets[i % count], pulled, options->one, below);
    if (status == BERTH_OK) {
      status = choose(s, subject, options->mode, align, found.peak, complaint);
    }
    if (status != BERTH_OK || s->result.choice_count == 0) continue;
    if (found.way == 0 || s->trials[s->chosen].peak < found.peak) status = keep(s, i + 1, &found);
  }
  if (status == BERTH_OK && found.way != 0) status = restore(s, subject, &found, align);
  free(found.runs);
  return status;
}

berth_status_t berth_streaming_open(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    berth_complaint_t *complaint) {
  memset(streaming, 0, sizeof *streaming);
  streaming->path = subject->path;
  if (!subject->is_model || subject->problem.region_count > 1) {
    berth_complain(complaint, "%s: only models can be streamed, in one region", subject->path);
    return BERTH_ERROR_UNSUPPORTED;
  }
  uint32_t steps = berth_model_subgraph(&subject->model, 0).operator_count;
  if (steps == 0) return BERTH_OK;
  berth_complain(complaint, "%s: cannot be streamed", subject->path);
  berth_status_t status = read_network(streaming, subject, complaint);
  if (status == BERTH_OK) status = make_stream(streaming, steps);
  if (status == BERTH_ERROR_MEMORY) out_of_memory(subject, complaint);
  if (status != BERTH_OK) berth_streaming_free(streaming);
  return status;
}

berth_status_t berth_streaming_make(berth_subject_t *subject,
                                    const berth_streaming_options_t *options,
                                    berth_streaming_t *streaming, berth_complaint_t *complaint) {
  uint32_t align = options->align != 0 ? options->align : 16;
  berth_status_t status = berth_streaming_open(streaming, subject, complaint);
  if (status != BERTH_OK || options->mode == BERTH_STREAMING_OFF ||
      streaming->network.model == NULL) {
    return status;
  }
  status = decide(streaming, subject, options, align, complaint);
  if (status == BERTH_OK && !options->peak_only)
    status = berth_streaming_coarsen(streaming, subject, align, complaint);
  if (status == BERTH_ERROR_MEMORY) out_of_memory(subject, complaint);
  if (status != BERTH_OK) {
    berth_streaming_free(streaming);
    return status;
  }
  subject->problem = berth_streaming_problem(streaming, subject);
  subject->labels = streaming->labels;
  subject->buffers = streaming->buffers;
  subject->sum_bytes = 0;
  for (uint32_t i = 0; i < streaming->buffer_count; i++) {
    subject->sum_bytes += streaming->buffers[i].size;
  }
  return BERTH_OK;
}

berth_status_t berth_streaming_settle(berth_streaming_t *streaming,
                                      const berth_placement_t *placements,
                                      berth_complaint_t *complaint) {
  berth_streaming_turn(streaming, placements);
  return berth_streaming_verify(streaming, placements, complaint);
}

berth_planning_t berth_streaming_planning(const berth_planning_t *planning) {
  berth_planning_t wanted = *planning;
  if (wanted.work_limit == 0) wanted.work_limit = BERTH_STREAMING_WORK;
  return wanted;
}

berth_status_t berth_streaming_plan(berth_streaming_t *streaming, const berth_subject_t *subject,
                                    const berth_planner_t *planner,
                                    const berth_planning_t *planning, berth_outcome_t *outcome,
                                    berth_complaint_t *complaint) {
  berth_planning_t wanted = streaming != NULL ? berth_streaming_planning(planning) : *planning;
  berth_status_t status =
      berth_planning_run(planner, &subject->problem, &wanted, outcome, complaint);
  if (status != BERTH_OK || streaming == NULL || !outcome->has_plan) return status;
  return berth_streaming_settle(streaming, outcome->plan.placements, complaint);
}
