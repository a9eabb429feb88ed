/* Orders to stream a model in: a run is an interval of steps, so branches can be streamed apart
 * from each other only where the order has them one after the other.
 *
 * Tried are the order with the smallest peak when nothing is streamed (berth/order.h) and four that
 * follow one branch to its end before the next one begins: depth first from the outputs, the inputs
 * of each operator as they are listed or the other way round, the longest or the shortest branch
 * first. The best of them is tried once more with every operator that makes more than it reads, a
 * PAD of channels on a skip for instance, as late as can be: what it reads is waiting then, not
 * what it makes. The smallest load of each is searched; the best, these two if it is another one,
 * and the file's, unless its load is far larger, are placed, and the smallest peak decides. Models
 * with operators that have effects keep their order. Cost: a search for each order, until one
 * search's budget is spent.
 */
#include "host/streaming_order.h"
#include <stdlib.h>
#include <string.h>

typedef enum preference { AS_LISTED, BACKWARDS, LONGEST, SHORTEST, PREFERENCES } preference_t;

typedef struct trying {
  const char *path;
  berth_subject_options_t options;
  const berth_streaming_options_t *wanted;
  berth_subject_t subject; /* the model in the file's order */
  uint32_t count;          /* operators */
  uint32_t *depths;        /* of each operator: steps of the longest way to it */
  uint32_t *stack, *order; /* of the depth-first search */
  bool *done;
  uint32_t *best;
  uint32_t *tried; /* the depth-first orders, one after the other */
  uint64_t least;  /* load of the best order so far, once `measured` */
  uint64_t files;  /* likewise of the file's order */
  uint64_t used;   /* work of all searches */
  uint32_t way;    /* of the order that was placed last; see berth_subject_t */
  bool measured;   /* there is another order than the file's */
} trying_t;

/* ---- Depth first ----------------------------------------------------------------------------- */

static bool has_effects(const berth_model_t *model) {
  berth_subgraph_t subgraph = berth_model_subgraph(model, 0);
  for (uint32_t i = 0; i < subgraph.operator_count; i++) {
    berth_operator_t op = berth_model_operator(model, 0, i);
    if (berth_graph_has_effects(&op)) return true;
  }
  for (uint32_t i = 0; i < subgraph.tensor_count; i++) {
    if (berth_model_tensor(model, 0, i).is_variable) return true;
  }
  return false;
}

static uint32_t maker_of(const trying_t *t, int32_t tensor) {
  if (tensor < 0) return BERTH_NOBODY;
  const berth_graph_t *graph = &t->subject.graph;
  return graph->tensors[graph->bases[0] + (uint32_t)tensor].producer;
}

static void find_depths(trying_t *t) {
  for (uint32_t i = 0; i < t->count; i++) {
    berth_vector_t inputs = berth_model_operator(&t->subject.model, 0, i).inputs;
    t->depths[i] = 1;
    for (uint32_t k = 0; k < inputs.count; k++) {
      uint32_t maker = maker_of(t, berth_vector_int(inputs, k));
      if (maker < i && t->depths[maker] >= t->depths[i]) t->depths[i] = t->depths[maker] + 1;
    }
  }
}

/* The operator that must come first of those that `op` reads from and that aren't done; or
 * BERTH_NOBODY. */
static uint32_t next_before(const trying_t *t, uint32_t op, preference_t preference) {
  berth_vector_t inputs = berth_model_operator(&t->subject.model, 0, op).inputs;
  uint32_t best = BERTH_NOBODY;
  for (uint32_t k = 0; k < inputs.count; k++) {
    uint32_t index = preference == BACKWARDS ? inputs.count - 1 - k : k;
    uint32_t maker = maker_of(t, berth_vector_int(inputs, index));
    if (maker == BERTH_NOBODY || t->done[maker]) continue;
    bool longer = best != BERTH_NOBODY && t->depths[maker] > t->depths[best];
    bool shorter = best != BERTH_NOBODY && t->depths[maker] < t->depths[best];
    if (best == BERTH_NOBODY || (preference == LONGEST && longer) ||
        (preference == SHORTEST && shorter)) {
      best = maker;
    }
  }
  return best;
}

static void visit(trying_t *t, uint32_t op, preference_t preference, uint32_t *made) {
  uint32_t top = 0;
  if (t->done[op]) return;
  t->stack[top++] = op;
  while (top > 0) {
    uint32_t before = next_before(t, t->stack[top - 1], preference);
    if (before != BERTH_NOBODY) {
      t->stack[top++] = before;
      continue;
    }
    t->done[t->stack[--top]] = true;
    t->order[(*made)++] = t->stack[top];
  }
}

static void find_order(trying_t *t, preference_t preference) {
  berth_vector_t outputs = berth_model_subgraph(&t->subject.model, 0).outputs;
  uint32_t made = 0;
  memset(t->done, 0, t->count * sizeof *t->done);
  for (uint32_t i = 0; i < outputs.count; i++) {
    uint32_t index = preference == BACKWARDS ? outputs.count - 1 - i : i;
    uint32_t maker = maker_of(t, berth_vector_int(outputs, index));
    if (maker != BERTH_NOBODY) visit(t, maker, preference, &made);
  }
  for (uint32_t i = 0; i < t->count; i++) visit(t, i, preference, &made); /* nobody's */
}

/* ---- As late as possible --------------------------------------------------------------------- */

/* Of those tensors that are in the arena. */
static uint64_t bytes_of(const trying_t *t, berth_vector_t tensors) {
  const berth_graph_tensor_t *all = t->subject.graph.tensors + t->subject.graph.bases[0];
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < tensors.count; k++) {
    int32_t tensor = berth_vector_int(tensors, k);
    if (tensor >= 0 && all[tensor].allocation == BERTH_ALLOCATION_ARENA_RW) {
      bytes += all[tensor].bytes;
    }
  }
  return bytes;
}

/* Does the operator make more than it reads, for others to read? */
static bool enlarges(const trying_t *t, uint32_t index) {
  const berth_graph_tensor_t *all = t->subject.graph.tensors + t->subject.graph.bases[0];
  berth_operator_t op = berth_model_operator(&t->subject.model, 0, index);
  uint64_t reads = bytes_of(t, op.inputs);
  if (reads == 0 || bytes_of(t, op.outputs) <= reads) return false;
  for (uint32_t k = 0; k < op.outputs.count; k++) {
    int32_t tensor = berth_vector_int(op.outputs, k);
    if (tensor >= 0 && all[tensor].reader_count > 0) return true;
  }
  return false;
}

/* Lets `order` be the best one, but for operators that enlarge: whoever reads what they make has
 * them run just before itself. */
static void find_late(trying_t *t) {
  uint32_t made = 0;
  memset(t->done, 0, t->count * sizeof *t->done);
  for (uint32_t i = 0; i < t->count; i++) {
    if (!enlarges(t, t->best[i])) visit(t, t->best[i], AS_LISTED, &made);
  }
  for (uint32_t i = 0; i < t->count; i++) visit(t, t->best[i], AS_LISTED, &made);
}

/* ---- Trying ---------------------------------------------------------------------------------- */

/* Opens the model in some order and finds how small its load can be or, if `place`, the peak of the
 * way with the smallest load; UINT64_MAX: it cannot be streamed. */
static berth_status_t try_order(trying_t *t, const uint32_t *order, bool place, uint64_t *bytes) {
  t->way = 0;
  berth_subject_options_t options = t->options;
  options.order = order;
  berth_complaint_t ignored;
  berth_subject_t subject;
  berth_streaming_t streaming;
  *bytes = UINT64_MAX;
  berth_status_t status = berth_subject_open(t->path, &options, &subject, &ignored);
  if (status != BERTH_OK) return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
  berth_streaming_options_t wanted = *t->wanted;
  if (place) {
    wanted.peak_only = wanted.one = true;
    status = berth_streaming_make(&subject, &wanted, &streaming, &ignored);
    bool any = status == BERTH_OK && streaming.result.choice_count > 0;
    if (any) *bytes = streaming.trials[streaming.chosen].peak;
    if (any) t->way = streaming.way;
  } else {
    if (t->measured) wanted.below = t->least; /* others need not be known */
    status = berth_streaming_open(&streaming, &subject, &ignored);
    if (status == BERTH_OK) status = berth_streaming_load(&streaming, &subject, &wanted, bytes);
  }
  t->used += streaming.work;
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
  return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
}

/* Has one search's budget been spent? No other order is tried then. */
static bool is_spent(const trying_t *t) {
  uint64_t limit = t->wanted->work_limit;
  return t->used >= (limit != 0 ? limit : BERTH_STREAM_SEARCH_WORK);
}

static bool is_files(const trying_t *t, const uint32_t *order) {
  for (uint32_t i = 0; i < t->count; i++) {
    if (order[i] != i) return false;
  }
  return true;
}

/* Takes an order over if its load is smaller than that of the best so far. The file's is searched
 * once there is another one. */
static berth_status_t consider(trying_t *t, const uint32_t *order) {
  uint64_t load;
  if (is_files(t, order) || memcmp(order, t->best, t->count * sizeof *order) == 0) return BERTH_OK;
  berth_status_t status = BERTH_OK;
  if (!t->measured) status = try_order(t, NULL, false, &t->files);
  if (!t->measured) t->least = t->files;
  t->measured = true;
  if (status != BERTH_OK || is_spent(t)) return status;
  status = try_order(t, order, false, &load);
  if (status != BERTH_OK || load >= t->least) return status;
  t->least = load;
  memcpy(t->best, order, t->count * sizeof *order);
  return BERTH_OK;
}

/* The order that is best for whole tensors. */
static berth_status_t consider_whole(trying_t *t) {
  berth_subject_options_t options = t->options;
  options.best_order = true;
  berth_complaint_t ignored;
  berth_subject_t subject;
  berth_status_t status = berth_subject_open(t->path, &options, &subject, &ignored);
  if (status != BERTH_OK) return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
  if (subject.order != NULL) status = consider(t, subject.order);
  berth_subject_close(&subject);
  return status;
}

/* Has depth-first order number `p` been found before? It is kept in any case. */
static bool is_known(const trying_t *t, int p) {
  uint32_t *kept = t->tried + (size_t)p * t->count;
  memcpy(kept, t->order, t->count * sizeof *kept);
  for (int k = 0; k < p; k++) {
    if (memcmp(t->tried + (size_t)k * t->count, kept, t->count * sizeof *kept) == 0) return true;
  }
  return false;
}

static berth_status_t consider_all(trying_t *t) {
  find_depths(t);
  for (uint32_t i = 0; i < t->count; i++) t->best[i] = i;
  berth_status_t status = BERTH_OK;
  for (int p = 0; p < (int)PREFERENCES && status == BERTH_OK; p++) {
    find_order(t, (preference_t)p);
    if (!is_known(t, p)) status = consider(t, t->order);
  }
  return status == BERTH_OK && t->measured ? consider_whole(t) : status;
}

typedef struct finalist {
  const uint32_t *order; /* NULL: the file's */
  uint64_t load;
} finalist_t;

/* The orders that are worth placing: the best one with operators as late as can be, the best, and
 * the file's; but not where placing would not make up for the load. By rising load. */
static berth_status_t find_finalists(trying_t *t, finalist_t *finalists, uint32_t *count) {
  berth_status_t status = consider_all(t);
  if (status != BERTH_OK) return status;
  uint64_t best = t->least;
  memcpy(t->tried, t->best, t->count * sizeof *t->best);
  find_late(t);
  status = consider(t, t->order);
  *count = 0;
  bool late = t->measured && memcmp(t->tried, t->best, t->count * sizeof *t->best) != 0;
  if (late) finalists[(*count)++] = (finalist_t){t->best, t->least};
  uint64_t most = t->least + t->least / 16; /* placing adds no more */
  bool is_file = is_files(t, t->tried);
  if (!is_file && (!late || best <= most)) finalists[(*count)++] = (finalist_t){t->tried, best};
  if ((is_file && !late) || t->files <= most) finalists[(*count)++] = (finalist_t){NULL, t->files};
  return status;
}

/* Placed; or the load, if there is no work left to do it. */
static berth_status_t peak_of(trying_t *t, const finalist_t *finalist, uint64_t *peak) {
  if (!is_spent(t)) return try_order(t, finalist->order, true, peak);
  *peak = finalist->load;
  t->way = 0;
  return BERTH_OK;
}

/* `*order` is the finalist with the smallest peak, in memory of `t`, or NULL: the file's; `*way`,
 * if that was found out. One whose load is larger than another one's peak cannot be it; of equals
 * it is the simpler one. */
static berth_status_t choose(trying_t *t, const uint32_t **order, uint32_t *way) {
  finalist_t finalists[3];
  uint32_t count = 0;
  uint64_t least = UINT64_MAX, peak = 0;
  berth_status_t status = find_finalists(t, finalists, &count);
  *order = NULL;
  for (uint32_t i = 0; i < count && status == BERTH_OK; i++) {
    if (finalists[i].load > least) continue;
    if (count > 1) status = peak_of(t, &finalists[i], &peak);
    if (status != BERTH_OK || peak > least) continue;
    least = peak;
    *order = finalists[i].order;
    *way = count > 1 ? t->way : 0;
  }
  return status;
}

/* `*order`, on the heap, is the one with the smallest peak; NULL: the file's, or the one that the
 * options say. `*way`: see berth_subject_t. Errors: MEMORY; whatever else is wrong with the model
 * is left to who opens it. */
static berth_status_t find_best(const char *path, const berth_subject_options_t *options,
                                const berth_streaming_options_t *wanted, uint32_t **order,
                                uint32_t *way, berth_complaint_t *complaint) {
  *order = NULL;
  *way = 0;
  if (wanted->mode == BERTH_STREAMING_OFF || wanted->keep_order || options->best_order ||
      options->order != NULL || berth_what_if_any(&options->what_if)) {
    return BERTH_OK;
  }
  trying_t t = {.path = path, .options = *options, .wanted = wanted};
  berth_complaint_t ignored;
  berth_status_t status = berth_subject_open(path, options, &t.subject, &ignored);
  if (status != BERTH_OK) return BERTH_OK;
  if (!t.subject.is_model || has_effects(&t.subject.model)) {
    berth_subject_close(&t.subject);
    return BERTH_OK;
  }
  t.count = berth_model_subgraph(&t.subject.model, 0).operator_count;
  size_t room = ((size_t)t.count + 1) * sizeof(uint32_t);
  t.depths = malloc(room);
  t.stack = malloc(room);
  t.order = malloc(room);
  t.best = malloc(room);
  t.tried = malloc(room * PREFERENCES);
  t.done = malloc((size_t)t.count + 1);
  bool ready = t.depths != NULL && t.stack != NULL && t.order != NULL && t.best != NULL &&
               t.tried != NULL && t.done != NULL;
  const uint32_t *chosen = NULL;
  status = ready ? choose(&t, &chosen, way) : BERTH_ERROR_MEMORY;
  if (status == BERTH_OK && chosen != NULL) {
    *order = malloc(room);
    if (*order == NULL) status = BERTH_ERROR_MEMORY;
    if (*order != NULL) memcpy(*order, chosen, t.count * sizeof *chosen);
  }
  if (status != BERTH_OK) berth_complain(complaint, "%s: out of memory", path);
  berth_subject_close(&t.subject);
  free(t.depths);
  free(t.stack);
  free(t.order);
  free(t.best);
  free(t.tried);
  free(t.done);
  return status;
}

berth_status_t berth_streaming_subject_open(const char *path,
                                            const berth_subject_options_t *options,
                                            const berth_streaming_options_t *wanted,
                                            berth_subject_t *subject,
                                            berth_complaint_t *complaint) {
  berth_subject_options_t ordered = *options;
  uint32_t *order, way;
  berth_status_t status = find_best(path, options, wanted, &order, &way, complaint);
  if (status != BERTH_OK) return status;
  if (order != NULL) ordered.order = order;
  status = berth_subject_open(path, &ordered, subject, complaint);
  if (status == BERTH_OK) subject->way = way;
  free(order);
  return status;
}
