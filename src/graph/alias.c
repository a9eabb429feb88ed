/* Aliases: groups of tensors that share memory. See berth/alias.h for what holds of them.
 *
 * Every tensor starts as a group of its own. Joining two groups, at the offset that one operator's
 * view or in-place permission asks for, is allowed if the one fits inside the other and no two of
 * their tensors get into each other's way; that check alone makes every result right, whatever is
 * tried in which order. What is tried:
 *   1. views that are the whole tensor (RESHAPE): they never cost anything;
 *   2. outputs over inputs of their size, in the order of execution: the sum of what is live is
 *      smaller in that step and the same in all others;
 *   3. slices of a CONCATENATION or SPLIT, which let the whole tensor live longer than needed: kept
 *      only where the largest sum does not grow;
 *   4. step 2 again, for what lies in such slices, under the same condition.
 * In place and views as planning freedom: Pisarchyk & Lee (2020) leave them out; ggml's graph
 * allocator and TVM do 1 and 2, without 3.
 */
#include "berth/alias.h"
#include "plan/round.h"
#include "plan/workspace.h"
#include <string.h>

typedef struct search {
  const berth_graph_t *graph;
  const berth_sharing_t *sharing;
  const berth_alias_options_t *options;
  berth_alias_t *aliases;
  berth_alias_t *before; /* while something is tried; NULL if nothing has to be */
  uint32_t *marks;       /* of each tensor: last round that reached it; NULL: there are no views */
  uint64_t *load;        /* of each step, and one more */
  uint64_t peak;         /* of the load, as things are */
  uint32_t operators;
  uint32_t round; /* of marks */
  /* Where tensors are while they are compared: in two groups, or at given offsets. */
  uint32_t inner, outer; /* roots; that of `inner` would lie `shift` bytes inside of `outer` */
  uint64_t shift;
  const uint64_t *given; /* NULL: those groups */
} search_t;

const char *berth_overlap_name(berth_overlap_t overlap) {
  switch (overlap) {
  case BERTH_OVERLAP_INPLACE:
    return "inplace";
  case BERTH_OVERLAP_VIEWS:
    return "views";
  case BERTH_OVERLAP_NONE:
    break;
  }
  return "none";
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* Is there a view among the operators, of some kind from `least` on? */
static bool has_views(const search_t *s, berth_view_t least) {
  if (s->options->overlap == BERTH_OVERLAP_NONE) return false;
  for (uint32_t op = 0; op < s->operators; op++) {
    if (s->sharing[op].view >= least) return true;
  }
  return false;
}

static void lay_out(search_t *s, berth_workspace_t *workspace) {
  uint32_t count = s->graph->tensor_count;
  s->operators = berth_model_subgraph(s->graph->model, 0).operator_count;
  s->aliases = berth_workspace_take(workspace, count, sizeof *s->aliases);
  if (has_views(s, BERTH_VIEW_SAME)) {
    s->marks = berth_workspace_take(workspace, count, sizeof *s->marks);
  }
  if (!has_views(s, BERTH_VIEW_CONCAT)) return; /* nor SPLIT */
  s->before = berth_workspace_take(workspace, count, sizeof *s->before);
  s->load = berth_workspace_take(workspace, (size_t)s->graph->step_count + 1, sizeof *s->load);
}

berth_status_t berth_alias_workspace(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                     const berth_alias_options_t *options, size_t *bytes) {
  search_t s = {.graph = graph, .sharing = sharing, .options = options};
  berth_workspace_t workspace = berth_workspace_measure();
  lay_out(&s, &workspace);
  return berth_workspace_needed(&workspace, bytes);
}

/* ---- Tensors and operators ------------------------------------------------------------------ */

static bool takes_part(const search_t *s, uint32_t tensor) {
  const berth_graph_tensor_t *info = &s->graph->tensors[tensor];
  return info->subgraph == 0 && info->allocation == BERTH_ALLOCATION_ARENA_RW;
}

/* The index in graph->tensors of a tensor of the main subgraph that takes part, or BERTH_NOBODY.
 * (Its tensors come first.) */
static uint32_t member(const search_t *s, berth_vector_t list, uint32_t index) {
  int32_t tensor = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (tensor == BERTH_NO_TENSOR || !takes_part(s, (uint32_t)tensor)) return BERTH_NOBODY;
  return (uint32_t)tensor;
}

static uint32_t operator_at(const search_t *s, uint32_t step) {
  return s->options->order != NULL ? s->options->order[step] : step;
}

/* Must the tensor's bytes outlive its last reader? */
static bool is_kept(const search_t *s, const berth_graph_tensor_t *tensor) {
  return tensor->kind == BERTH_KIND_OUTPUT ||
         (tensor->kind == BERTH_KIND_INPUT && s->options->keep_inputs);
}

/* May the operator that makes `output` in step output->first write it over `input`, which lies in
 * the same place? Wherever it reads the input, its contract must permit it. */
static bool may_replace(const search_t *s, uint32_t input, uint32_t output) {
  const berth_graph_tensor_t *from = &s->graph->tensors[input], *to = &s->graph->tensors[output];
  if (s->options->overlap != BERTH_OVERLAP_INPLACE || to->producer == BERTH_NOBODY) return false;
  if (from->last != to->first || from->bytes != to->bytes || is_kept(s, from)) return false;
  berth_operator_t op = berth_model_operator(s->graph->model, 0, to->producer);
  if (member(s, op.outputs, 0) != output) return false;
  bool read = false;
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    if (member(s, op.inputs, i) != input) continue;
    if (i >= 32 || !(s->sharing[to->producer].in_place >> i & 1u)) return false;
    read = true;
  }
  return read;
}

/* ---- Which bytes are the same --------------------------------------------------------------- */

#define NOWHERE UINT64_MAX

static uint64_t place_of(const search_t *s, uint32_t tensor) {
  if (s->given != NULL) return s->given[tensor];
  const berth_alias_t *alias = &s->aliases[tensor];
  if (alias->root == s->inner) return alias->offset + s->shift;
  return alias->root == s->outer ? alias->offset : NOWHERE;
}

/* A view says that `part` is a piece of `whole`, `offset` bytes from its start. */
typedef struct link {
  uint32_t part, whole;
  uint64_t offset;
} link_t;

/* The bytes of all parts together; UINT64_MAX if that is too much, or one's size is unknown. */
static uint64_t sum_of(const search_t *s, berth_vector_t parts) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < parts.count; i++) {
    int32_t tensor = berth_vector_int(parts, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *part = &s->graph->tensors[tensor];
    if (part->allocation == BERTH_ALLOCATION_DYNAMIC) return UINT64_MAX;
    if (part->bytes > UINT64_MAX - sum) return UINT64_MAX;
    sum += part->bytes;
  }
  return sum;
}

/* The whole that an operator views or makes, or BERTH_NOBODY; `*parts` are its pieces in order. */
static uint32_t whole_of(const search_t *s, const berth_operator_t *op, berth_view_t view,
                         berth_vector_t *parts) {
  uint32_t whole = BERTH_NOBODY;
  *parts = view == BERTH_VIEW_CONCAT ? op->inputs : op->outputs;
  if (view == BERTH_VIEW_SAME) parts->count = parts->count > 0;
  uint64_t bytes = sum_of(s, *parts);
  const berth_vector_t *wholes = view == BERTH_VIEW_CONCAT ? &op->outputs : &op->inputs;
  uint32_t count = view == BERTH_VIEW_SPLIT ? wholes->count : 1;
  for (uint32_t i = 0; i < count; i++) { /* SPLIT: the one as large as all outputs together */
    whole = member(s, *wholes, i);
    if (whole != BERTH_NOBODY && s->graph->tensors[whole].bytes == bytes) return whole;
  }
  return BERTH_NOBODY;
}

/* If one end of a link is known to hold the bytes [low, high), and the link is where it says, so
 * does the other. */
static bool follow(search_t *s, const link_t *link, uint64_t low, uint64_t high) {
  uint64_t part = place_of(s, link->part), whole = place_of(s, link->whole);
  if (part == NOWHERE || whole == NOWHERE || part != whole + link->offset) return false;
  if (part > low || part + s->graph->tensors[link->part].bytes < high) return false;
  bool part_marked = s->marks[link->part] == s->round;
  bool whole_marked = s->marks[link->whole] == s->round;
  if (part_marked == whole_marked) return false;
  s->marks[link->part] = s->marks[link->whole] = s->round;
  return true;
}

static bool follow_operator(search_t *s, uint32_t index, uint64_t low, uint64_t high) {
  berth_operator_t op = berth_model_operator(s->graph->model, 0, index);
  berth_vector_t parts;
  link_t link = {.whole = whole_of(s, &op, s->sharing[index].view, &parts), .offset = 0};
  bool any = false;
  for (uint32_t i = 0; i < parts.count && link.whole != BERTH_NOBODY; i++) {
    int32_t tensor = berth_vector_int(parts, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    link.part = member(s, parts, i);
    if (link.part != BERTH_NOBODY) any = follow(s, &link, low, high) || any;
    link.offset += s->graph->tensors[tensor].bytes;
  }
  return any;
}

/* Are the bytes [low, high), which both cover, the same in `a` and `b`, since views lead from the
 * one to the other? */
static bool hold_the_same(search_t *s, uint32_t a, uint32_t b, uint64_t low, uint64_t high) {
  if (s->marks == NULL) return false;
  s->round++;
  s->marks[a] = s->round;
  bool any = true;
  while (any && s->marks[b] != s->round) {
    any = false;
    for (uint32_t index = 0; index < s->operators; index++) {
      if (s->sharing[index].view == BERTH_VIEW_NONE) continue;
      any = follow_operator(s, index, low, high) || any;
    }
  }
  return s->marks[b] == s->round;
}

/* ---- Joining groups ------------------------------------------------------------------------- */

/* Could these two be where they are? */
static bool agree(search_t *s, uint32_t a, uint32_t b) {
  const berth_graph_tensor_t *x = &s->graph->tensors[a], *y = &s->graph->tensors[b];
  if (x->last < y->first || y->last < x->first || x->bytes == 0 || y->bytes == 0) return true;
  uint64_t at = place_of(s, a), other = place_of(s, b);
  uint64_t low = at > other ? at : other;
  uint64_t high = at + x->bytes < other + y->bytes ? at + x->bytes : other + y->bytes;
  if (low >= high) return true;
  if (at == other && (may_replace(s, a, b) || may_replace(s, b, a))) return true;
  return hold_the_same(s, a, b, low, high);
}

/* Puts the group of root `inner` into that of root `outer`, `offset` bytes from its start. */
static bool put_inside(search_t *s, uint32_t inner, uint32_t outer, uint64_t offset) {
  uint64_t inner_bytes = s->graph->tensors[inner].bytes;
  uint64_t outer_bytes = s->graph->tensors[outer].bytes;
  if (inner_bytes > outer_bytes || offset > outer_bytes - inner_bytes) return false;
  if (offset % s->options->align != 0) return false;
  berth_alias_t *aliases = s->aliases;
  s->inner = inner;
  s->outer = outer;
  s->shift = offset;
  uint32_t a = inner, b = outer;
  do {
    do {
      if (!agree(s, a, b)) return false;
      b = aliases[b].next;
    } while (b != outer);
    a = aliases[a].next;
  } while (a != inner);

  do {
    aliases[a].root = outer;
    aliases[a].offset += offset;
    a = aliases[a].next;
  } while (a != inner);
  uint32_t after = aliases[outer].next;
  aliases[outer].next = aliases[inner].next;
  aliases[inner].next = after;
  if (aliases[inner].first < aliases[outer].first) aliases[outer].first = aliases[inner].first;
  if (aliases[inner].last > aliases[outer].last) aliases[outer].last = aliases[inner].last;
  return true;
}

/* Lets tensor `part` lie `offset` bytes inside of tensor `whole`. */
static bool join(search_t *s, uint32_t part, uint32_t whole, uint64_t offset) {
  const berth_alias_t *p = &s->aliases[part], *w = &s->aliases[whole];
  if (p->root == w->root) return p->offset == w->offset + offset;
  uint64_t place = w->offset + offset; /* of `part`, from the start of the group of `whole` */
  if (place >= p->offset && put_inside(s, p->root, w->root, place - p->offset)) return true;
  return p->offset >= place && put_inside(s, w->root, p->root, p->offset - place);
}

/* ---- Load ----------------------------------------------------------------------------------- */

/* The largest sum of what is live in one step; wraps around at 2^64 as sums and differences do,
 * which cancels out. */
static uint64_t peak_load(search_t *s) {
  uint32_t steps = s->graph->step_count;
  memset(s->load, 0, ((size_t)steps + 1) * sizeof *s->load);
  for (uint32_t i = 0; i < s->graph->tensor_count; i++) {
    if (!takes_part(s, i) || s->aliases[i].root != i) continue;
    uint64_t bytes = berth_round_up(s->graph->tensors[i].bytes, s->options->align);
    s->load[s->aliases[i].first] += bytes;
    s->load[s->aliases[i].last + 1] -= bytes;
  }
  uint64_t sum = 0, peak = 0;
  for (uint32_t step = 0; step < steps; step++) {
    sum += s->load[step];
    uint64_t all = sum + (s->options->extra != NULL ? s->options->extra[step] : 0);
    if (all > peak) peak = all;
  }
  return peak;
}

/* ---- What is tried -------------------------------------------------------------------------- */

static void remember(search_t *s) {
  memcpy(s->before, s->aliases, s->graph->tensor_count * sizeof *s->aliases);
}

/* Keeps what was tried if the peak has not grown. */
static bool keep_or_undo(search_t *s) {
  uint64_t peak = peak_load(s);
  if (peak <= s->peak) {
    s->peak = peak;
    return true;
  }
  memcpy(s->aliases, s->before, s->graph->tensor_count * sizeof *s->aliases);
  return false;
}

static void try_same(search_t *s, const berth_operator_t *op) {
  uint32_t input = member(s, op->inputs, 0), output = member(s, op->outputs, 0);
  if (input == BERTH_NOBODY || output == BERTH_NOBODY) return;
  if (s->graph->tensors[input].bytes != s->graph->tensors[output].bytes) return;
  join(s, output, input, 0);
}

/* Output 0 over the first input that it fits over; `any_size`: in groups that differ in size, so
 * that it has to be tried. */
static void try_in_place(search_t *s, const berth_operator_t *op, uint32_t index, bool any_size) {
  uint32_t output = member(s, op->outputs, 0);
  if (output == BERTH_NOBODY) return;
  for (uint32_t i = 0; i < op->inputs.count && i < 32; i++) {
    if (!(s->sharing[index].in_place >> i & 1u)) continue;
    uint32_t input = member(s, op->inputs, i);
    if (input == BERTH_NOBODY || !may_replace(s, input, output)) continue;
    uint32_t from = s->aliases[input].root, to = s->aliases[output].root;
    if (from == to) return;
    bool same_size = s->graph->tensors[from].bytes == s->graph->tensors[to].bytes;
    if (!same_size && !any_size) continue;
    if (!same_size) remember(s);
    if (join(s, output, input, 0) && (same_size || keep_or_undo(s))) return;
  }
}

/* The slices of CONCATENATION or SPLIT: `parts` one after the other are `whole`. Tries all of them
 * (`only` BERTH_NOBODY) or one. */
static bool join_slices(search_t *s, berth_vector_t parts, uint32_t whole, uint32_t only) {
  uint64_t offset = 0;
  bool any = false;
  for (uint32_t i = 0; i < parts.count; i++) {
    int32_t tensor = berth_vector_int(parts, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    uint32_t part = member(s, parts, i);
    if (part != BERTH_NOBODY && (only == BERTH_NOBODY || only == i)) {
      any = join(s, part, whole, offset) || any;
    }
    offset += s->graph->tensors[tensor].bytes;
  }
  return any;
}

static void try_slices(search_t *s, const berth_operator_t *op, berth_view_t view) {
  berth_vector_t parts;
  uint32_t whole = whole_of(s, op, view, &parts);
  if (whole == BERTH_NOBODY) return;
  remember(s);
  if (join_slices(s, parts, whole, BERTH_NOBODY) && keep_or_undo(s)) return;
  for (uint32_t i = 0; i < parts.count; i++) {
    remember(s);
    if (join_slices(s, parts, whole, i)) keep_or_undo(s);
  }
}

static void try_all(search_t *s) {
  if (s->options->overlap == BERTH_OVERLAP_NONE) return;
  for (uint32_t step = 0; step < s->operators; step++) {
    uint32_t index = operator_at(s, step);
    berth_operator_t op = berth_model_operator(s->graph->model, 0, index);
    if (s->sharing[index].view == BERTH_VIEW_SAME) try_same(s, &op);
  }
  for (uint32_t step = 0; step < s->operators; step++) {
    uint32_t index = operator_at(s, step);
    berth_operator_t op = berth_model_operator(s->graph->model, 0, index);
    if (s->sharing[index].in_place != 0) try_in_place(s, &op, index, false);
  }
  if (s->before == NULL) return;
  s->peak = peak_load(s);
  for (uint32_t step = 0; step < s->operators; step++) {
    uint32_t index = operator_at(s, step);
    berth_operator_t op = berth_model_operator(s->graph->model, 0, index);
    berth_view_t view = s->sharing[index].view;
    if (view == BERTH_VIEW_CONCAT || view == BERTH_VIEW_SPLIT) try_slices(s, &op, view);
  }
  for (uint32_t step = 0; step < s->operators; step++) {
    uint32_t index = operator_at(s, step);
    berth_operator_t op = berth_model_operator(s->graph->model, 0, index);
    if (s->sharing[index].in_place != 0) try_in_place(s, &op, index, true);
  }
}

static berth_status_t start(search_t *s, void *workspace, size_t workspace_bytes) {
  uint32_t align = s->options->align;
  if (align == 0 || (align & (align - 1)) != 0) return BERTH_ERROR_ARGUMENT;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(s, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < s->graph->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &s->graph->tensors[i];
    if (tensor->bytes > (uint64_t)INT64_MAX - align) return BERTH_ERROR_OVERFLOW;
    s->aliases[i] =
        (berth_alias_t){.root = i, .next = i, .first = tensor->first, .last = tensor->last};
    if (s->marks != NULL) s->marks[i] = 0;
  }
  return BERTH_OK;
}

berth_status_t berth_alias_find(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                const berth_alias_options_t *options, void *workspace,
                                size_t workspace_bytes, berth_alias_t **aliases) {
  search_t s = {.graph = graph, .sharing = sharing, .options = options};
  berth_status_t status = start(&s, workspace, workspace_bytes);
  if (status != BERTH_OK) return status;
  try_all(&s);
  *aliases = s.aliases;
  return BERTH_OK;
}

/* ---- Offsets that are given ----------------------------------------------------------------- */

berth_status_t berth_alias_check(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                 const berth_alias_options_t *options, const uint64_t *offsets,
                                 void *workspace, size_t workspace_bytes,
                                 berth_alias_conflict_t conflict, void *user) {
  search_t s = {.graph = graph, .sharing = sharing, .options = options, .given = offsets};
  berth_status_t status = start(&s, workspace, workspace_bytes);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    if (offsets[i] != UINT64_MAX && graph->tensors[i].bytes > UINT64_MAX - offsets[i]) {
      return BERTH_ERROR_OVERFLOW;
    }
  }
  bool any = false;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    if (offsets[i] == UINT64_MAX) continue;
    for (uint32_t k = 0; k < i; k++) {
      if (offsets[k] == UINT64_MAX || agree(&s, k, i)) continue;
      any = true;
      if (conflict == NULL || !conflict(user, k, i)) return BERTH_INFEASIBLE;
    }
  }
  return any ? BERTH_INFEASIBLE : BERTH_OK;
}

/* ---- Buffers -------------------------------------------------------------------------------- */

berth_status_t berth_alias_buffers(const berth_graph_t *graph, const berth_alias_t *aliases,
                                   uint32_t align, berth_buffer_t *buffers, uint32_t *tensors,
                                   uint32_t *count) {
  uint32_t all;
  berth_status_t status = berth_graph_buffers(graph, align, buffers, tensors, &all);
  if (status != BERTH_OK) return status;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < all; i++) {
    uint32_t tensor = tensors[i];
    if (aliases[tensor].root != tensor) continue;
    buffers[kept] = buffers[i];
    buffers[kept].first = aliases[tensor].first;
    buffers[kept].last = aliases[tensor].last;
    uint32_t other = aliases[tensor].next;
    for (; other != tensor; other = aliases[other].next) { /* their traffic is the group's */
      uint64_t moves = 1 + (uint64_t)graph->tensors[other].reader_count;
      uint64_t bytes = graph->tensors[other].bytes; /* times moves: known not to overflow */
      if (bytes * moves > UINT64_MAX - buffers[kept].traffic) return BERTH_ERROR_OVERFLOW;
      buffers[kept].traffic += bytes * moves;
    }
    tensors[kept++] = tensor;
  }
  *count = kept;
  return BERTH_OK;
}
