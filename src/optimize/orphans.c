/* Two walks over the old file: one that lists its objects, one that marks what stays. O(n log n) in
 * the number of objects. */
#include "optimize/orphans.h"
#include "model/model.h"

#include <stdlib.h>

/* Fields that no reader follows, so that they are not verified. */
#define MODEL_OLD_METADATA       5u
#define QUANTIZATION_MIN         0u /* the range seen in training */
#define QUANTIZATION_MAX         1u
#define OPERATOR_MUTATING_INPUTS 7u

/* Numbers of options in their union whose one field is a list. */
#define RESHAPE_OPTIONS 17
#define SQUEEZE_OPTIONS 30

/* What an object refers to. */
typedef enum shape {
  SHAPE_BYTES, /* nothing */
  SHAPE_LIST,  /* a table with each element */
  SHAPE_MODEL, /* a table; likewise below */
  SHAPE_SUBGRAPH,
  SHAPE_TENSOR,
  SHAPE_OPERATOR,
  SHAPE_BUFFER,
  SHAPE_METADATA,
  SHAPE_SIGNATURE,
  SHAPE_MAP,
  SHAPE_CODE,
  SHAPE_QUANTIZATION
} shape_t;

static berth_head_layout_t layout_of(shape_t shape) {
  static const berth_head_layout_t layouts[] = {
      [SHAPE_BYTES] = "",
      [SHAPE_LIST] = "",
      [SHAPE_MODEL] = LAYOUT_MODEL,
      [SHAPE_SUBGRAPH] = LAYOUT_SUBGRAPH,
      [SHAPE_TENSOR] = LAYOUT_TENSOR,
      [SHAPE_OPERATOR] = LAYOUT_OPERATOR,
      [SHAPE_BUFFER] = LAYOUT_BUFFER,
      [SHAPE_METADATA] = LAYOUT_METADATA,
      [SHAPE_SIGNATURE] = LAYOUT_SIGNATURE,
      [SHAPE_MAP] = LAYOUT_MAP,
      [SHAPE_CODE] = LAYOUT_CODE,
      [SHAPE_QUANTIZATION] = LAYOUT_QUANTIZATION,
  };
  return layouts[shape];
}

typedef struct object {
  uint32_t start, end;
  shape_t shape;
  bool stays;
} object_t;

/* A place that something refers to. */
typedef struct place {
  uint32_t position;
  bool table; /* a table, in any case */
} place_t;

typedef struct survey {
  const berth_writer_t *w;
  const uint8_t *file;
  uint64_t size;
  object_t *objects; /* sorted by start, once all are there */
  uint32_t count, room;
  berth_hole_t *taken; /* by what is not among the objects */
  uint32_t taken_count, taken_room;
  uint8_t *seen[2]; /* a bit for every byte: looked at as a place of which nothing is known, or
                       that is a table */
  place_t *pending; /* still to be looked at */
  uint32_t pending_count, pending_room;
  uint64_t work;
  berth_status_t status; /* MEMORY; CANCELLED: nothing is given up */
} survey_t;

/* Room for one more element. */
static bool grow(survey_t *s, void **block, uint32_t count, uint32_t *room, size_t size) {
  if (s->status != BERTH_OK) return false;
  if (count < *room) return true;
  uint32_t wanted = *room > 0 ? 2 * *room : 256;
  void *larger = *room > UINT32_MAX / 4 ? NULL : realloc(*block, (size_t)wanted * size);
  if (larger == NULL) {
    s->status = BERTH_ERROR_MEMORY;
    return false;
  }
  *block = larger;
  *room = wanted;
  return true;
}

/* ---- The old file's objects ------------------------------------------------------------------ */

static void add(survey_t *s, uint64_t start, uint64_t end, shape_t shape) {
  void *block = s->objects;
  if (end > s->size) end = s->size;
  if (start >= end || end > INT32_MAX) return;
  if (!grow(s, &block, s->count, &s->room, sizeof *s->objects)) return;
  s->objects = block;
  s->objects[s->count++] = (object_t){(uint32_t)start, (uint32_t)end, shape, false};
}

static void add_table(survey_t *s, berth_table_t table, shape_t shape) {
  if (table.position == 0) return;
  uint32_t vtable = flat_vtable(table), bytes = flat_load16(table.file + vtable);
  uint32_t inline_bytes = flat_load16(table.file + vtable + 2);
  add(s, vtable, (uint64_t)vtable + (bytes < 4 ? 4 : bytes), SHAPE_BYTES);
  /* Whatever the vtable says, the distance to it is there. */
  add(s, table.position, (uint64_t)table.position + (inline_bytes < 4 ? 4 : inline_bytes), shape);
}

/* A vector of elements of `width` bytes, `more` bytes behind them; it may be unverified. */
static void add_vector(survey_t *s, berth_table_t table, uint32_t field, uint32_t width,
                       uint32_t more) {
  uint32_t at = flat_field(table, field);
  if (at == 0 || (uint64_t)at + 4 > s->size) return;
  uint64_t start = (uint64_t)at + flat_load32(s->file + at);
  if (start + 4 > s->size) return;
  add(s, start, start + 4 + (uint64_t)flat_load32(s->file + start) * width + more, SHAPE_BYTES);
}

/* A list of tables; how many. */
static uint32_t add_list(survey_t *s, berth_table_t table, uint32_t field) {
  uint32_t at = flat_target(table, field);
  if (at == 0) return 0;
  uint32_t count = flat_load32(table.file + at);
  add(s, at, (uint64_t)at + 4 + 4 * (uint64_t)count, SHAPE_LIST);
  return count;
}

static void add_tensor(survey_t *s, berth_table_t tensor) {
  add_table(s, tensor, SHAPE_TENSOR);
  add_vector(s, tensor, TENSOR_SHAPE, 4, 0);
  add_vector(s, tensor, TENSOR_SHAPE_SIGNATURE, 4, 0);
  add_vector(s, tensor, TENSOR_NAME, 1, 1);
  berth_table_t quantization = flat_child(tensor, TENSOR_QUANTIZATION);
  add_table(s, quantization, SHAPE_QUANTIZATION);
  add_vector(s, quantization, QUANTIZATION_MIN, 4, 0);
  add_vector(s, quantization, QUANTIZATION_MAX, 4, 0);
  add_vector(s, quantization, QUANTIZATION_SCALE, 4, 0);
  add_vector(s, quantization, QUANTIZATION_ZERO_POINT, 8, 0);
}

static void add_operator(survey_t *s, berth_table_t op) {
  add_table(s, op, SHAPE_OPERATOR);
  add_vector(s, op, OPERATOR_INPUTS, 4, 0);
  add_vector(s, op, OPERATOR_OUTPUTS, 4, 0);
  add_vector(s, op, OPERATOR_CUSTOM_OPTIONS, 1, 0);
  add_vector(s, op, OPERATOR_MUTATING_INPUTS, 1, 0);
  int32_t options = flat_byte(op, OPERATOR_OPTIONS_TYPE, 0);
  if (options == RESHAPE_OPTIONS || options == SQUEEZE_OPTIONS) {
    add_vector(s, flat_child(op, OPERATOR_OPTIONS), 0, 4, 0); /* dimensions */
  }
  add_vector(s, op, OPERATOR_INTERMEDIATES, 4, 0);
}

static void add_subgraph(survey_t *s, berth_table_t subgraph) {
  add_table(s, subgraph, SHAPE_SUBGRAPH);
  add_vector(s, subgraph, SUBGRAPH_INPUTS, 4, 0);
  add_vector(s, subgraph, SUBGRAPH_OUTPUTS, 4, 0);
  add_vector(s, subgraph, SUBGRAPH_NAME, 1, 1);
  uint32_t tensors = add_list(s, subgraph, SUBGRAPH_TENSORS);
  for (uint32_t i = 0; i < tensors && s->status == BERTH_OK; i++) {
    add_tensor(s, flat_element(subgraph, SUBGRAPH_TENSORS, i));
  }
  uint32_t operators = add_list(s, subgraph, SUBGRAPH_OPERATORS);
  for (uint32_t i = 0; i < operators && s->status == BERTH_OK; i++) {
    add_operator(s, flat_element(subgraph, SUBGRAPH_OPERATORS, i));
  }
}

static void add_signature(survey_t *s, berth_table_t signature) {
  static const uint32_t fields[] = {SIGNATURE_INPUTS, SIGNATURE_OUTPUTS};
  add_table(s, signature, SHAPE_SIGNATURE);
  add_vector(s, signature, SIGNATURE_KEY, 1, 1);
  for (int k = 0; k < 2; k++) {
    uint32_t count = add_list(s, signature, fields[k]);
    for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
      berth_table_t map = flat_element(signature, fields[k], i);
      add_table(s, map, SHAPE_MAP);
      add_vector(s, map, MAP_NAME, 1, 1);
    }
  }
}

static void add_model(survey_t *s) {
  berth_table_t root = s->w->root;
  add(s, 0, 8, SHAPE_BYTES); /* the reference to the root, and the file's mark */
  add_table(s, root, SHAPE_MODEL);
  add_vector(s, root, MODEL_DESCRIPTION, 1, 1);
  add_vector(s, root, MODEL_OLD_METADATA, 4, 0);
  uint32_t count = add_list(s, root, MODEL_OPERATOR_CODES);
  for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
    berth_table_t code = flat_element(root, MODEL_OPERATOR_CODES, i);
    add_table(s, code, SHAPE_CODE);
    add_vector(s, code, CODE_CUSTOM_NAME, 1, 1);
  }
  count = add_list(s, root, MODEL_SUBGRAPHS);
  for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
    add_subgraph(s, flat_element(root, MODEL_SUBGRAPHS, i));
  }
  count = add_list(s, root, MODEL_BUFFERS);
  for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
    berth_table_t buffer = flat_element(root, MODEL_BUFFERS, i);
    add_table(s, buffer, SHAPE_BUFFER);
    add_vector(s, buffer, BUFFER_DATA, 1, 0);
  }
  count = add_list(s, root, MODEL_METADATA);
  for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
    berth_table_t entry = flat_element(root, MODEL_METADATA, i);
    add_table(s, entry, SHAPE_METADATA);
    add_vector(s, entry, METADATA_NAME, 1, 1);
  }
  count = add_list(s, root, MODEL_SIGNATURES);
  for (uint32_t i = 0; i < count && s->status == BERTH_OK; i++) {
    add_signature(s, flat_element(root, MODEL_SIGNATURES, i));
  }
}

static int compare_objects(const void *a, const void *b) {
  const object_t *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

/* Each object once. Nothing is given up of a file in which one place is several things at once. */
static void sort_objects(survey_t *s) {
  uint32_t kept = 0;
  if (s->count > 0) qsort(s->objects, s->count, sizeof *s->objects, compare_objects);
  for (uint32_t i = 0; i < s->count; i++) {
    const object_t *last = kept > 0 ? &s->objects[kept - 1] : NULL;
    if (last == NULL || last->start != s->objects[i].start) {
      s->objects[kept++] = s->objects[i];
    } else if (last->shape != s->objects[i].shape || last->end != s->objects[i].end) {
      if (s->status == BERTH_OK) s->status = BERTH_ERROR_CANCELLED;
    }
  }
  s->count = kept;
}

static object_t *find(const survey_t *s, uint32_t start) {
  uint32_t low = 0, high = s->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (s->objects[middle].start < start) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < s->count && s->objects[low].start == start ? &s->objects[low] : NULL;
}

/* ---- What stays ------------------------------------------------------------------------------ */

static void keep(survey_t *s, uint64_t start, uint64_t end) {
  void *block = s->taken;
  if (end > s->size) end = s->size;
  if (end > INT32_MAX) end = INT32_MAX;
  if (start >= end || !grow(s, &block, s->taken_count, &s->taken_room, sizeof *s->taken)) return;
  s->taken = block;
  s->taken[s->taken_count++] = (berth_hole_t){(uint32_t)start, (uint32_t)end};
}

static void visit_place(survey_t *s, uint64_t position, bool table) {
  void *block = s->pending;
  if (position == 0 || position >= s->size || position > INT32_MAX) return;
  if (!grow(s, &block, s->pending_count, &s->pending_room, sizeof *s->pending)) return;
  s->pending = block;
  s->pending[s->pending_count++] = (place_t){(uint32_t)position, table};
}

static void visit(survey_t *s, uint64_t position) {
  visit_place(s, position, false);
}

/* Could the four bytes at `at` be a reference? Where to; 0: no. */
static uint64_t could_refer(const survey_t *s, uint64_t at) {
  if (at % 4 != 0 || at + 4 > s->size) return 0;
  uint64_t target = at + flat_load32(s->file + at);
  return target >= at + 4 && target % 4 == 0 && target + 4 <= s->size ? target : 0;
}

static bool spend(survey_t *s, uint64_t work) {
  s->work += work;
  if (s->work > 64 * s->size + 1000000 && s->status == BERTH_OK) s->status = BERTH_ERROR_CANCELLED;
  return s->status == BERTH_OK;
}

/* The fields of what may be a table, which ends at `end`, from number `first` on: references, and
 * whatever lies beyond the end. */
static void follow_fields(survey_t *s, uint32_t table, uint32_t vtable, uint64_t end,
                          uint32_t first) {
  uint32_t bytes = flat_load16(s->file + vtable), count = bytes < 4 ? 0 : (bytes - 4) / 2;
  for (uint32_t i = 0; i < count && (uint64_t)vtable + 6 + 2 * (uint64_t)i <= s->size; i++) {
    uint32_t distance = flat_load16(s->file + vtable + 4 + 2 * i);
    uint64_t at = (uint64_t)table + distance;
    if (distance == 0 || !spend(s, 1)) continue;
    if (at + 8 > end) keep(s, at, at + (at < end ? end - at : 8));
    uint64_t target = i < first ? 0 : could_refer(s, at);
    if (target != 0) visit(s, target);
  }
}

/* As a list of anything, maybe of tables. */
static void keep_as_list(survey_t *s, uint32_t at) {
  uint32_t count = flat_load32(s->file + at);
  if ((uint64_t)at + 4 + count > s->size) return;
  keep(s, at, (uint64_t)at + 4 + 8 * (uint64_t)count);
  bool tables = count > 0 && count <= (s->size - at - 4) / 4;
  for (uint32_t i = 0; i < count && tables && spend(s, 1); i++) {
    tables = could_refer(s, (uint64_t)at + 4 + 4 * (uint64_t)i) != 0;
  }
  for (uint32_t i = 0; i < count && tables && spend(s, 1); i++) {
    visit(s, could_refer(s, (uint64_t)at + 4 + 4 * (uint64_t)i));
  }
}

/* As a table: if it is one in any case, whatever its vtable says. */
static void keep_as_table(survey_t *s, uint32_t at, bool table) {
  int64_t vtable = (int64_t)at - (int32_t)flat_load32(s->file + at);
  if (vtable < 0 || (uint64_t)vtable + 4 > s->size) return;
  uint32_t bytes = flat_load16(s->file + vtable), inline_bytes = flat_load16(s->file + vtable + 2);
  bool right = vtable % 2 == 0 && bytes >= 4 && bytes % 2 == 0 && inline_bytes >= 4 &&
               (uint64_t)vtable + bytes <= s->size;
  if (!right && !table) return;
  keep(s, (uint64_t)vtable, (uint64_t)vtable + (bytes < 4 ? 4 : bytes));
  keep(s, at, (uint64_t)at + inline_bytes);
  follow_fields(s, at, (uint32_t)vtable, (uint64_t)at + inline_bytes, 0);
}

/* A place of which nothing is known, or only that it is a table. */
static void keep_unknown(survey_t *s, uint32_t at, bool table) {
  if ((uint64_t)at + 4 > s->size) return;
  uint8_t bit = (uint8_t)(1u << at % 8);
  if (s->seen[table][at / 8] & bit) return;
  s->seen[table][at / 8] |= bit;
  keep(s, at, (uint64_t)at + 4);
  if (!table) keep_as_list(s, at);
  keep_as_table(s, at, table);
}

static void keep_table(survey_t *s, const object_t *object) {
  berth_table_t table = flat_table_at(s->w->root, object->start);
  berth_head_layout_t layout = layout_of(object->shape);
  uint32_t vtable = flat_vtable(table), known = 0;
  visit(s, vtable);
  for (; layout[known] != '\0'; known++) {
    uint32_t at = flat_field(table, known);
    if (layout[known] == 'r' && at != 0 && (uint64_t)at + 4 <= s->size) {
      bool options = object->shape == SHAPE_OPERATOR &&
                     (known == OPERATOR_OPTIONS || known == OPERATOR_OPTIONS_2);
      visit_place(s, (uint64_t)at + flat_load32(s->file + at), options);
    }
  }
  follow_fields(s, object->start, vtable, object->end, known);
}

static void keep_object(survey_t *s, object_t *object) {
  if (object->stays) return;
  object->stays = true;
  if (object->shape == SHAPE_LIST) {
    for (uint64_t at = (uint64_t)object->start + 4; at < object->end && spend(s, 1); at += 4) {
      visit(s, at + flat_load32(s->file + at));
    }
  } else if (object->shape != SHAPE_BYTES) {
    keep_table(s, object);
  }
}

/* Bytes that are reached otherwise than by a reference: data behind the FlatBuffer. */
static void keep_outside(survey_t *s) {
  const berth_model_t *model = s->w->edit->model;
  for (uint32_t i = 0; i < model->buffer_count; i++) {
    berth_table_t buffer = flat_element(s->w->root, MODEL_BUFFERS, i);
    berth_bytes_t outside = outside_bytes(buffer, BUFFER_OFFSET, BUFFER_SIZE);
    if (outside.data == NULL) continue;
    uint64_t start = (uint64_t)(outside.data - s->file);
    keep(s, start, start + outside.size);
  }
  for (uint32_t g = 0; g < model->subgraph_count; g++) {
    for (uint32_t i = 0; i < berth_model_subgraph(model, g).operator_count; i++) {
      berth_bytes_t options = berth_model_operator(model, g, i).custom_options;
      if (options.size == 0) continue;
      uint64_t start = (uint64_t)(options.data - s->file);
      keep(s, start, start + options.size);
    }
  }
}

static void mark(survey_t *s) {
  const berth_head_t *head = &s->w->head;
  for (uint32_t i = 0; i < head->reference_count; i++) {
    if (head->references[i].kind == BERTH_HEAD_OLD) visit(s, head->references[i].target);
  }
  keep_outside(s);
  while (s->pending_count > 0 && s->status == BERTH_OK) {
    place_t place = s->pending[--s->pending_count];
    object_t *object = find(s, place.position);
    if (object != NULL) {
      keep_object(s, object);
    } else {
      keep_unknown(s, place.position, place.table);
    }
  }
}

/* ---- What is left ---------------------------------------------------------------------------- */

static int compare_holes(const void *a, const void *b) {
  uint32_t x = ((const berth_hole_t *)a)->start, y = ((const berth_hole_t *)b)->start;
  return x < y ? -1 : x > y;
}

/* Objects that don't stay and meet nothing that does, joined where they are neighbours. Both lists
 * are sorted. */
static berth_status_t list_holes(survey_t *s, berth_hole_t **holes, uint32_t *count) {
  berth_hole_t *list = malloc(((size_t)s->count + 1) * sizeof *list);
  if (list == NULL) return BERTH_ERROR_MEMORY;
  uint32_t found = 0, next = 0;
  uint64_t taken_end = 0; /* of all that start before the object's end */
  for (uint32_t i = 0; i < s->count; i++) {
    const object_t *object = &s->objects[i];
    if (object->stays) continue;
    while (next < s->taken_count && s->taken[next].start < object->end) {
      if (s->taken[next].end > taken_end) taken_end = s->taken[next].end;
      next++;
    }
    if (taken_end > object->start) continue;
    if (found > 0 && list[found - 1].end >= object->start) {
      if (object->end > list[found - 1].end) list[found - 1].end = object->end;
    } else {
      list[found++] = (berth_hole_t){object->start, object->end};
    }
  }
  *holes = list;
  *count = found;
  return BERTH_OK;
}

berth_status_t berth_orphans_find(const berth_writer_t *w, berth_hole_t **holes, uint32_t *count) {
  survey_t s = {.w = w, .file = w->edit->model->data, .size = w->edit->model->size};
  uint64_t reach = s.size < INT32_MAX ? s.size : INT32_MAX;
  *holes = NULL;
  *count = 0;
  for (int i = 0; i < 2; i++) s.seen[i] = calloc((size_t)(reach / 8) + 1, 1);
  if (s.seen[0] == NULL || s.seen[1] == NULL) s.status = BERTH_ERROR_MEMORY;
  add_model(&s);
  sort_objects(&s);
  mark(&s);
  for (uint32_t i = 0; i < s.count; i++) {
    if (s.objects[i].stays) keep(&s, s.objects[i].start, s.objects[i].end);
  }
  if (s.status == BERTH_OK) {
    if (s.taken_count > 0) qsort(s.taken, s.taken_count, sizeof *s.taken, compare_holes);
    s.status = list_holes(&s, holes, count);
  }
  free(s.objects);
  free(s.taken);
  free(s.seen[0]);
  free(s.seen[1]);
  free(s.pending);
  return s.status == BERTH_ERROR_CANCELLED ? BERTH_OK : s.status;
}
