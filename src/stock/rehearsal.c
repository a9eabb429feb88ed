/* The arena as a rehearsal sees it, and the operators that are played in it. */
#include "stock/rehearsal.h"
#include "berth/graph.h"
#include "stock/reference_order.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (UINT64_C(1) << 28)
#define WORK_MAX  (UINT64_C(1) << 36) /* bytes read and written */
#define DEPTH_MAX 32u                 /* calls within calls */

/* Owners that are no tensor. */
#define NOBODY  BERTH_REHEARSAL_NOBODY
#define SCRATCH BERTH_REHEARSAL_SCRATCH

static uint32_t *numbers(uint64_t count) {
  return count >= SIZE_MAX / sizeof(uint32_t) ? NULL
                                              : malloc(((size_t)count + 1) * sizeof(uint32_t));
}

static uint64_t end_of(const berth_tflm_buffer_t *buffer) {
  return buffer->offset + buffer->bytes;
}

static berth_status_t number_tensors(berth_rehearsal_t *r) {
  uint64_t tensors = 0;
  r->bases = numbers(r->model->subgraph_count);
  if (r->bases == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t s = 0; s < r->model->subgraph_count; s++) {
    r->bases[s] = (uint32_t)tensors;
    tensors += berth_model_subgraph(r->model, s).tensor_count;
    if (tensors >= SCRATCH) return BERTH_ERROR_OVERFLOW;
  }
  r->tensor_count = (uint32_t)tensors;
  return BERTH_OK;
}

static berth_status_t open(berth_rehearsal_t *r) {
  for (uint32_t i = 0; i < r->buffer_count; i++) {
    const berth_tflm_buffer_t *buffer = &r->buffers[i];
    if (buffer->offset > ARENA_MAX || buffer->bytes > ARENA_MAX - buffer->offset) {
      return BERTH_ERROR_UNSUPPORTED;
    }
    if (end_of(buffer) > r->arena_bytes) r->arena_bytes = end_of(buffer);
  }
  berth_status_t status = number_tensors(r);
  if (status != BERTH_OK) return status;
  r->place = numbers(r->tensor_count);
  r->identity = numbers(r->tensor_count);
  r->scratch = numbers(r->buffer_count);
  r->owner = numbers(r->arena_bytes);
  r->bytes = malloc((size_t)r->arena_bytes + 1);
  if (r->place == NULL || r->identity == NULL || r->scratch == NULL || r->owner == NULL ||
      r->bytes == NULL) {
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < r->tensor_count; i++) r->place[i] = NOBODY;
  for (uint32_t i = 0; i < r->buffer_count; i++) {
    const berth_tflm_buffer_t *buffer = &r->buffers[i];
    if (buffer->tensor == UINT32_MAX) {
      r->scratch[r->scratch_count++] = i;
    } else {
      r->place[r->bases[buffer->subgraph] + buffer->tensor] = i;
    }
  }
  return BERTH_OK;
}

berth_status_t berth_rehearsal_open(const berth_model_t *model, const berth_tflm_buffer_t *buffers,
                                    uint32_t buffer_count, berth_rehearsal_t *rehearsal) {
  berth_rehearsal_t fresh = {.model = model, .buffers = buffers, .buffer_count = buffer_count};
  berth_status_t status = open(&fresh);
  if (status == BERTH_OK) {
    *rehearsal = fresh;
  } else {
    berth_rehearsal_close(&fresh);
  }
  return status;
}

void berth_rehearsal_close(berth_rehearsal_t *rehearsal) {
  free(rehearsal->bases);
  free(rehearsal->place);
  free(rehearsal->identity);
  free(rehearsal->scratch);
  free(rehearsal->owner);
  free(rehearsal->bytes);
  memset(rehearsal, 0, sizeof *rehearsal);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* An operator that is being played. */
typedef struct scene {
  berth_rehearsal_t *r;
  uint32_t subgraph;
  uint32_t op; /* NOBODY: the application */
  berth_operator_t what;
} scene_t;

/* Where tensor `number` of the scene's subgraph lies; NULL: not in the arena. */
static const berth_tflm_buffer_t *buffer_of(const scene_t *scene, int32_t number) {
  if (number == BERTH_NO_TENSOR) return NULL;
  uint32_t place = scene->r->place[scene->r->bases[scene->subgraph] + (uint32_t)number];
  return place == NOBODY ? NULL : &scene->r->buffers[place];
}

static const uint8_t *value_of(const scene_t *scene, int32_t number, uint64_t bytes) {
  uint64_t size = 0;
  if (scene->r->value == NULL) return NULL;
  const uint8_t *value = scene->r->value(scene->r->user, scene->subgraph, (uint32_t)number, &size);
  return size == bytes ? value : NULL;
}

static void work(berth_rehearsal_t *r, uint64_t bytes) {
  r->work += bytes + 8;
  if (r->work > WORK_MAX) r->tired = true;
}

static void find_fault(const scene_t *scene, int32_t number, uint64_t byte, uint32_t owner) {
  berth_rehearsal_t *r = scene->r;
  if (r->faulty) return;
  r->faulty = true;
  r->fault = (berth_rehearsal_fault_t){.subgraph = scene->subgraph,
                                       .op = scene->op,
                                       .tensor = (uint32_t)number,
                                       .byte = byte,
                                       .by = BERTH_REHEARSAL_SCRATCH};
  if (owner == NOBODY) {
    r->fault.by = BERTH_REHEARSAL_NOBODY;
  } else if (owner == r->identity[r->bases[scene->subgraph] + (uint32_t)number]) {
    r->fault.differs = true;
  } else if (owner != SCRATCH) {
    uint32_t s = r->model->subgraph_count;
    while (r->bases[--s] > owner) continue;
    r->fault.by_subgraph = s;
    r->fault.by = owner - r->bases[s];
  }
}

/* The bytes must be the tensor's, if anything has written it: what nothing writes has no value that
 * could be lost. */
static void read_bytes(const scene_t *scene, int32_t number, uint64_t at, uint64_t bytes) {
  const berth_tflm_buffer_t *buffer = buffer_of(scene, number);
  berth_rehearsal_t *r = scene->r;
  if (buffer == NULL || at >= buffer->bytes || r->faulty || r->tired) return;
  if (bytes > buffer->bytes - at) bytes = buffer->bytes - at;
  work(r, bytes);
  r->bytes_read += bytes;
  uint32_t identity = r->identity[r->bases[scene->subgraph] + (uint32_t)number];
  if (identity == NOBODY) return;
  const uint32_t *owner = r->owner + buffer->offset + at;
  uint64_t right = 0;
  while (right < bytes && owner[right] == identity) right++;
  if (right < bytes) {
    find_fault(scene, number, at + right, owner[right]);
    return;
  }
  const uint8_t *value = value_of(scene, number, buffer->bytes);
  if (value == NULL || memcmp(r->bytes + buffer->offset + at, value + at, (size_t)bytes) == 0) {
    return;
  }
  while (r->bytes[buffer->offset + at] == value[at]) at++;
  find_fault(scene, number, at, identity);
}

/* The bytes become the tensor's. */
static void write_bytes(const scene_t *scene, int32_t number, uint64_t at, uint64_t bytes) {
  const berth_tflm_buffer_t *buffer = buffer_of(scene, number);
  berth_rehearsal_t *r = scene->r;
  if (buffer == NULL || at >= buffer->bytes || r->faulty || r->tired) return;
  if (bytes > buffer->bytes - at) bytes = buffer->bytes - at;
  work(r, bytes);
  uint32_t tensor = r->bases[scene->subgraph] + (uint32_t)number;
  r->identity[tensor] = tensor;
  uint32_t *owner = r->owner + buffer->offset + at;
  for (uint64_t i = 0; i < bytes; i++) owner[i] = tensor;
  const uint8_t *value = value_of(scene, number, buffer->bytes);
  if (value != NULL) memcpy(r->bytes + buffer->offset + at, value + at, (size_t)bytes);
}

static void read_all(const scene_t *scene, berth_vector_t tensors) {
  for (uint32_t i = 0; i < tensors.count; i++) {
    read_bytes(scene, berth_vector_int(tensors, i), 0, UINT64_MAX);
  }
}

static void write_all(const scene_t *scene, berth_vector_t tensors) {
  for (uint32_t i = 0; i < tensors.count; i++) {
    write_bytes(scene, berth_vector_int(tensors, i), 0, UINT64_MAX);
  }
}

/* The operator uses its scratch: whatever was there is gone. */
static void write_scratch(const scene_t *scene) {
  berth_rehearsal_t *r = scene->r;
  for (uint32_t i = 0; i < r->scratch_count; i++) {
    const berth_tflm_buffer_t *buffer = &r->buffers[r->scratch[i]];
    if (buffer->subgraph != scene->subgraph || buffer->op != scene->op) continue;
    work(r, buffer->bytes);
    for (uint64_t k = 0; k < buffer->bytes; k++) r->owner[buffer->offset + k] = SCRATCH;
    memset(r->bytes + buffer->offset, 0xa5, (size_t)buffer->bytes);
  }
}

/* ---- Operators ------------------------------------------------------------------------------- */

static int32_t output_of(const scene_t *scene) {
  return scene->what.outputs.count > 0 ? berth_vector_int(scene->what.outputs, 0) : BERTH_NO_TENSOR;
}

static void on_read(void *user, uint32_t operand, uint64_t at, uint64_t bytes) {
  const scene_t *scene = user;
  read_bytes(scene, berth_vector_int(scene->what.inputs, operand), at, bytes);
}

static void on_write(void *user, uint64_t at, uint64_t bytes) {
  const scene_t *scene = user;
  write_bytes(scene, output_of(scene), at, bytes);
}

static bool on_meet(void *user, uint32_t operand, uint64_t at, uint64_t bytes, uint64_t output_at,
                    uint64_t output_bytes) {
  const scene_t *scene = user;
  const berth_tflm_buffer_t *in = buffer_of(scene, berth_vector_int(scene->what.inputs, operand));
  const berth_tflm_buffer_t *out = buffer_of(scene, output_of(scene));
  if (in == NULL || out == NULL) return false;
  uint64_t from = in->offset + at, to = out->offset + output_at;
  return from < to + output_bytes && to < from + bytes;
}

static bool is_known(const scene_t *scene, uint32_t operand) {
  return berth_reference_order_known(scene->r->model, scene->subgraph, scene->op, operand);
}

/* Operands whose order isn't known may be read at any time. */
static void read_others(const scene_t *scene) {
  for (uint32_t i = 0; i < scene->what.inputs.count; i++) {
    if (is_known(scene, i)) continue;
    read_bytes(scene, berth_vector_int(scene->what.inputs, i), 0, UINT64_MAX);
  }
}

/* Further outputs may be written at any time, too. */
static void write_others(const scene_t *scene) {
  for (uint32_t i = 1; i < scene->what.outputs.count; i++) {
    write_bytes(scene, berth_vector_int(scene->what.outputs, i), 0, UINT64_MAX);
  }
}

/* An output at its input's very place, of an operator that only copies: both are the same bytes. */
static bool is_view(const scene_t *scene) {
  if (scene->what.code != BERTH_BUILTIN_RESHAPE && scene->what.code != BERTH_BUILTIN_EXPAND_DIMS) {
    return false;
  }
  int32_t input =
      scene->what.inputs.count > 0 ? berth_vector_int(scene->what.inputs, 0) : BERTH_NO_TENSOR;
  const berth_tflm_buffer_t *in = buffer_of(scene, input),
                            *out = buffer_of(scene, output_of(scene));
  return in != NULL && out != NULL && in->offset == out->offset && in->bytes == out->bytes;
}

static bool overlaps(const scene_t *scene) {
  const berth_tflm_buffer_t *out = buffer_of(scene, output_of(scene));
  for (uint32_t i = 0; i < scene->what.inputs.count && out != NULL; i++) {
    const berth_tflm_buffer_t *in = buffer_of(scene, berth_vector_int(scene->what.inputs, i));
    if (in == NULL || !is_known(scene, i)) continue;
    if (in->offset < end_of(out) && out->offset < end_of(in)) return true;
  }
  return false;
}

static void play_kernel(const scene_t *scene) {
  berth_rehearsal_t *r = scene->r;
  const berth_accesses_t accesses = {.read = on_read,
                                     .write = on_write,
                                     .meet = on_meet,
                                     .user = (void *)(uintptr_t)scene,
                                     .stop = &r->tired};
  write_scratch(scene);
  if (is_view(scene)) {
    read_all(scene, scene->what.inputs);
    uint32_t base = r->bases[scene->subgraph];
    r->identity[base + (uint32_t)output_of(scene)] =
        r->identity[base + (uint32_t)berth_vector_int(scene->what.inputs, 0)];
    return;
  }
  if (overlaps(scene)) {
    r->in_order++;
    write_others(scene);
    read_others(scene);
    berth_reference_order(r->model, scene->subgraph, scene->op, &accesses);
    read_others(scene);
    write_others(scene);
  } else {
    write_all(scene, scene->what.outputs);
    read_all(scene, scene->what.inputs);
    write_all(scene, scene->what.outputs);
  }
  write_scratch(scene);
  read_all(scene, scene->what.outputs);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void play_subgraph(berth_rehearsal_t *r, uint32_t subgraph);

/* The operator's operands from the first on become the callee's inputs. */
static void play_callee(const scene_t *scene, uint32_t callee) {
  berth_rehearsal_t *r = scene->r;
  scene_t inside = {.r = r, .subgraph = callee, .op = NOBODY};
  berth_subgraph_t subgraph = berth_model_subgraph(r->model, callee);
  write_all(&inside, subgraph.inputs);
  play_subgraph(r, callee);
  read_all(&inside, subgraph.outputs);
}

static void play_call(const scene_t *scene, uint32_t callees) {
  berth_rehearsal_t *r = scene->r;
  bool loop = scene->what.code == BERTH_BUILTIN_WHILE;
  if (++r->depth > DEPTH_MAX) r->tired = true;
  write_scratch(scene);
  read_all(scene, scene->what.inputs);
  for (uint32_t round = 0; round < (loop ? 2u : 1u) && !r->tired; round++) {
    for (uint32_t i = 0; i < callees; i++) {
      uint32_t callee = berth_graph_callee(r->model, &scene->what, i);
      if (callee == BERTH_NOBODY) continue;
      if (round == 0) {
        read_all(scene, scene->what.inputs);
      } else {
        read_all(scene, scene->what.outputs); /* what the last round made */
      }
      play_callee(scene, callee);
    }
    write_all(scene, scene->what.outputs);
  }
  write_scratch(scene);
  read_all(scene, scene->what.outputs);
  r->depth--;
}

static void play_operator(berth_rehearsal_t *r, uint32_t subgraph, uint32_t op) {
  scene_t scene = {
      .r = r, .subgraph = subgraph, .op = op, .what = berth_model_operator(r->model, subgraph, op)};
  bool calls = scene.what.code == BERTH_BUILTIN_IF || scene.what.code == BERTH_BUILTIN_WHILE ||
               scene.what.code == BERTH_BUILTIN_CALL_ONCE;
  work(r, 64);
  r->operators++;
  if (calls) {
    play_call(&scene, berth_graph_callee_count(&scene.what));
  } else {
    play_kernel(&scene);
  }
}

static void play_subgraph(berth_rehearsal_t *r, uint32_t subgraph) {
  uint32_t operators = berth_model_subgraph(r->model, subgraph).operator_count;
  for (uint32_t op = 0; op < operators && !r->faulty && !r->tired; op++) {
    play_operator(r, subgraph, op);
  }
}

/* ---- A run ----------------------------------------------------------------------------------- */

void berth_rehearsal_begin(berth_rehearsal_t *rehearsal) {
  scene_t application = {.r = rehearsal, .subgraph = 0, .op = NOBODY};
  for (uint64_t i = 0; i < rehearsal->arena_bytes; i++) rehearsal->owner[i] = NOBODY;
  memset(rehearsal->bytes, 0x5a, (size_t)rehearsal->arena_bytes);
  rehearsal->operators = rehearsal->in_order = 0;
  for (uint32_t i = 0; i < rehearsal->tensor_count; i++) rehearsal->identity[i] = NOBODY;
  write_all(&application, berth_model_subgraph(rehearsal->model, 0).inputs);
}

berth_status_t berth_rehearsal_operator(berth_rehearsal_t *rehearsal, uint32_t op) {
  play_operator(rehearsal, 0, op);
  return rehearsal->tired ? BERTH_UNDECIDED : BERTH_OK;
}

void berth_rehearsal_end(berth_rehearsal_t *rehearsal) {
  scene_t application = {.r = rehearsal, .subgraph = 0, .op = NOBODY};
  read_all(&application, berth_model_subgraph(rehearsal->model, 0).outputs);
}

berth_status_t berth_rehearsal_play(berth_rehearsal_t *rehearsal) {
  berth_rehearsal_begin(rehearsal);
  play_subgraph(rehearsal, 0);
  berth_rehearsal_end(rehearsal);
  return rehearsal->tired ? BERTH_UNDECIDED : BERTH_OK;
}
