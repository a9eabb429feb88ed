/* Running two models side by side and comparing what comes out. */
#include "host/prove.h"
#include "host/fill.h"
#include "host/stand_in.h"
#include "host/text.h"
#include "host/verdict.h"
#include "stock/rehearsal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Comparing outputs ----------------------------------------------------------------------- */

/* Can differences of this type be measured? */
static bool has_numbers(berth_tensor_type_t type) {
  switch (type) {
  case BERTH_TYPE_FLOAT32:
  case BERTH_TYPE_INT8:
  case BERTH_TYPE_UINT8:
  case BERTH_TYPE_BOOL:
  case BERTH_TYPE_INT16:
  case BERTH_TYPE_INT32:
    return true;
  default:
    return false;
  }
}

static double element(const berth_value_t *value, uint32_t index) {
  const uint8_t *at = value->data;
  size_t i = index;
  switch (value->type) {
  case BERTH_TYPE_FLOAT32: {
    float x;
    memcpy(&x, at + 4 * i, sizeof x);
    return (double)x;
  }
  case BERTH_TYPE_INT8:
    return (int8_t)at[i];
  case BERTH_TYPE_UINT8:
  case BERTH_TYPE_BOOL:
    return at[i];
  case BERTH_TYPE_INT16: {
    int16_t x;
    memcpy(&x, at + 2 * i, sizeof x);
    return x;
  }
  case BERTH_TYPE_INT32: {
    int32_t x;
    memcpy(&x, at + 4 * i, sizeof x);
    return x;
  }
  default: /* has no numbers */
    return 0;
  }
}

/* Largest difference of two outputs whose bytes differ, in units or relative to the largest
 * magnitude; INFINITY where it is no number. */
static double distance(const berth_value_t *a, const berth_value_t *b) {
  double most = 0, largest = 0;
  if (a->elements != b->elements || a->type != b->type || !has_numbers(a->type)) return INFINITY;
  if (a->data == NULL || b->data == NULL) return INFINITY;
  for (uint32_t i = 0; i < a->elements; i++) {
    double x = element(a, i), y = element(b, i);
    if (isfinite(x) && fabs(x) > largest) largest = fabs(x);
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (!isfinite(x) || !isfinite(y)) return INFINITY;
    if (fabs(x - y) > most) most = fabs(x - y);
  }
  return a->type == BERTH_TYPE_FLOAT32 && largest > 0 ? most / largest : most;
}

static void compare_outputs(const berth_runner_t *a, const berth_runner_t *b, uint32_t seed,
                            uint32_t invoke, berth_proof_t *proof) {
  uint32_t count = berth_model_subgraph(&a->model, 0).outputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t x = berth_runner_output(a, i);
    berth_value_t y = berth_runner_output(b, i);
    if (x.data == NULL && y.data == NULL) continue; /* nothing makes it */
    uint32_t bytes = x.bytes < y.bytes ? x.bytes : y.bytes, at = 0;
    if (x.data == NULL || y.data == NULL) bytes = 0;
    while (at < bytes && x.data[at] == y.data[at]) at++;
    proof->bytes += bytes;
    if (at == x.bytes && at == y.bytes) continue;
    double far = distance(&x, &y);
    if (far > proof->largest) proof->largest = far;
    if (proof->differ) continue;
    proof->differ = true;
    proof->seed = seed;
    proof->invoke = invoke;
    proof->output = i;
    proof->byte = at;
  }
}

/* ---- The plan in stock TFLM's arena ------------------------------------------------------------
 */

typedef struct play {
  const berth_model_t *model;
  berth_tflm_forecast_t stock;
  bool forecast; /* there is one */
  berth_rehearsal_t rehearsal;
  bool open;
  uint32_t next; /* operator of the main subgraph */
  berth_status_t status;
  const berth_interpreter_t *interpreter; /* that knows values */
} play_t;

static void note_fault(const play_t *play, berth_proof_t *proof) {
  const berth_rehearsal_fault_t *fault = &play->rehearsal.fault;
  char reader[160] = "the application", writer[64] = "scratch was used there";
  proof->clobbered = true;
  if (fault->op != BERTH_REHEARSAL_NOBODY) {
    berth_runner_operator_text(play->model, fault->subgraph, fault->op, reader, sizeof reader);
  }
  if (fault->differs) {
    snprintf(writer, sizeof writer, "it had got another value");
  } else if (fault->by == BERTH_REHEARSAL_NOBODY) {
    snprintf(writer, sizeof writer, "nothing was written there");
  } else if (fault->by != BERTH_REHEARSAL_SCRATCH) {
    snprintf(writer, sizeof writer, "tensor %u was written over it", fault->by);
  }
  snprintf(proof->clobber, sizeof proof->clobber, "%s would read byte %llu of tensor %u when %s",
           reader, (unsigned long long)fault->byte, fault->tensor, writer);
}

/* Everything in the arena, and one run in it without values. That TFLM doesn't take the model, or
 * that it is too large to be played, is a failure only for a plan that nothing else proves. */
static berth_status_t open_play(const berth_model_t *model, const berth_proof_options_t *options,
                                play_t *play, berth_proof_t *proof, berth_complaint_t *complaint) {
  berth_status_t status = berth_tflm_forecast(model, &options->stock, &play->stock, NULL);
  play->model = model;
  play->forecast = status == BERTH_OK;
  if (status == BERTH_OK) {
    status = berth_rehearsal_open(model, play->stock.buffers, play->stock.buffer_count,
                                  &play->rehearsal);
    play->open = status == BERTH_OK;
  }
  if (play->open) status = berth_rehearsal_play(&play->rehearsal);
  if (status == BERTH_OK) {
    proof->rehearsed = true;
    proof->played = play->rehearsal.operators;
    proof->in_order = play->rehearsal.in_order;
    proof->checked = play->rehearsal.bytes_read;
    if (play->rehearsal.faulty) note_fault(play, proof);
    return BERTH_OK;
  }
  if (!options->foreign && status != BERTH_ERROR_MEMORY) return BERTH_OK;
  berth_complain(complaint, "the plan cannot be played to prove it: %s", berth_status_text(status));
  return status < 0 ? status : BERTH_ERROR_UNSUPPORTED;
}

static void close_play(play_t *play) {
  if (play->open) berth_rehearsal_close(&play->rehearsal);
  if (play->forecast) berth_tflm_forecast_free(&play->stock);
}

static const uint8_t *value_of(void *user, uint32_t subgraph, uint32_t tensor, uint64_t *bytes) {
  const play_t *play = user;
  berth_value_t value = berth_interpreter_tensor(play->interpreter, subgraph, tensor);
  *bytes = value.bytes;
  return value.data;
}

/* After each operator: the same with the bytes that it read and wrote. Some are skipped by the
 * interpreter, not by TFLM. */
static bool play_operator(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                          uint32_t op) {
  play_t *play = user;
  (void)interpreter;
  bool along = subgraph == 0 && play->rehearsal.value != NULL;
  while (along && play->next <= op && play->status == BERTH_OK) {
    play->status = berth_rehearsal_operator(&play->rehearsal, play->next++);
  }
  return play->status == BERTH_OK;
}

/* One invoke, played along. */
static berth_status_t invoke_and_play(berth_runner_t *runner, play_t *play, berth_proof_t *proof) {
  bool along = play->rehearsal.value != NULL;
  play->next = 0;
  play->status = BERTH_OK;
  if (along) berth_rehearsal_begin(&play->rehearsal);
  berth_status_t status = berth_interpreter_invoke(&runner->interpreter);
  if (status == BERTH_ERROR_CANCELLED && play->status != BERTH_OK) return BERTH_ERROR_UNSUPPORTED;
  if (status != BERTH_OK || !along) return status;
  berth_rehearsal_end(&play->rehearsal);
  proof->with_bytes = true;
  if (play->rehearsal.faulty && !proof->clobbered) note_fault(play, proof);
  return BERTH_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The same values into both models' inputs. */
static void fill_inputs(const berth_runner_t *a, const berth_runner_t *b, uint64_t *state) {
  uint32_t count = berth_model_subgraph(&a->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t x = berth_interpreter_input(&a->interpreter, i);
    berth_value_t y = berth_interpreter_input(&b->interpreter, i);
    if (x.data == NULL || x.constant) continue;
    berth_fill_random(&x, state);
    if (y.data != NULL && !y.constant && y.bytes == x.bytes) memcpy(y.data, x.data, x.bytes);
  }
}

static berth_status_t invoke(berth_runner_t *runner, play_t *play, berth_proof_t *proof,
                             berth_complaint_t *complaint) {
  berth_status_t status = play != NULL ? invoke_and_play(runner, play, proof)
                                       : berth_interpreter_invoke(&runner->interpreter);
  if (status != BERTH_OK) {
    berth_runner_complain(runner, "cannot be run to prove the result", status, complaint);
  }
  return status;
}

static berth_status_t run_both(berth_runner_t *original, berth_runner_t *result, play_t *play,
                               const berth_proof_options_t *options, berth_proof_t *proof,
                               berth_complaint_t *complaint) {
  berth_subgraph_t a = berth_model_subgraph(&original->model, 0);
  berth_subgraph_t b = berth_model_subgraph(&result->model, 0);
  if (a.inputs.count != b.inputs.count || a.outputs.count != b.outputs.count) {
    berth_complain(complaint, "%s: the result has other inputs or outputs", original->path);
    return BERTH_ERROR_INTERNAL;
  }
  berth_status_t status = BERTH_OK;
  for (uint32_t seed = 0; seed < options->seeds && status == BERTH_OK; seed++) {
    uint64_t state = seed + 1;
    berth_interpreter_reset(&original->interpreter);
    berth_interpreter_reset(&result->interpreter);
    for (uint32_t i = 0; i < options->invokes && status == BERTH_OK; i++) {
      if (options->progress != NULL) {
        options->progress(options->user, proof->runs, options->seeds * options->invokes);
      }
      fill_inputs(original, result, &state);
      status = invoke(original, NULL, proof, complaint);
      if (status == BERTH_OK) status = invoke(result, play, proof, complaint);
      if (status == BERTH_OK) compare_outputs(original, result, seed, i, proof);
      proof->runs++;
    }
  }
  return status;
}

/* With stand-ins, opens both and runs them. */
static berth_status_t prove_with(const char *original, const char *result,
                                 const berth_proof_options_t *options,
                                 const berth_stand_ins_t *stand_ins, berth_verdicts_t *verdicts,
                                 berth_proof_t *proof, berth_complaint_t *complaint) {
  play_t play = {.next = 0};
  berth_runner_options_t alone = {
      .interpreter = {.customs = stand_ins->customs, .no_reuse = true, .ignore_model_plan = true},
      .reshape = options->reshape,
      .user = options->user};
  berth_runner_options_t watched = {.interpreter = {.customs = stand_ins->customs,
                                                    .no_reuse = options->foreign,
                                                    .ignore_model_plan = options->foreign},
                                    .observe = options->foreign ? play_operator : NULL,
                                    .user = &play,
                                    .guard = true,
                                    .guard_report = berth_verdict_note,
                                    .guard_user = verdicts};
  berth_runner_t a, b;
  berth_status_t status = berth_runner_open(original, &alone, &a, complaint);
  if (status != BERTH_OK) return status;
  status = berth_runner_open(result, &watched, &b, complaint);
  if (status == BERTH_OK) {
    status = open_play(&b.model, options, &play, proof, complaint);
    play.interpreter = &b.interpreter;
    play.rehearsal.user = &play;
    /* Operators inside of calls are played without values. */
    bool along = options->foreign && proof->rehearsed && b.model.subgraph_count == 1;
    if (along) play.rehearsal.value = value_of;
    if (status == BERTH_OK) status = run_both(&a, &b, &play, options, proof, complaint);
    proof->findings = verdicts->count;
    if (verdicts->count > 0) {
      berth_verdict_text(&b.model, &verdicts->findings[0], proof->finding, sizeof proof->finding);
    }
    close_play(&play);
    berth_runner_close(&b);
  }
  berth_runner_close(&a);
  return status;
}

/* For what the original has; the result has no other operators. */
static berth_status_t make_stand_ins(const char *original, berth_stand_ins_t *stand_ins,
                                     berth_proof_t *proof, berth_complaint_t *complaint) {
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  berth_status_t status = berth_host_open_model(original, &map, &model, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", original, message);
    return status;
  }
  status = berth_stand_ins_make(&model, stand_ins);
  berth_host_unmap(&map);
  if (status != BERTH_OK) {
    berth_complain(complaint, "out of memory");
    return status;
  }
  proof->stand_ins = stand_ins->operators;
  proof->stand_in_kinds = stand_ins->count;
  if (stand_ins->count > 0) {
    const berth_kernel_t *first = stand_ins->customs[0];
    const char *name =
        first->code == BERTH_BUILTIN_CUSTOM ? first->custom_name : berth_builtin_name(first->code);
    berth_printable(name, strlen(name), 60, proof->stand_in_name, sizeof proof->stand_in_name);
  }
  return BERTH_OK;
}

berth_status_t berth_prove(const char *original, const char *result,
                           const berth_proof_options_t *options, berth_proof_t *proof,
                           berth_complaint_t *complaint) {
  berth_proof_t fresh = {.allowed = options->allow_rounding};
  berth_stand_ins_t stand_ins = {.count = 0};
  berth_verdicts_t *verdicts = calloc(1, sizeof *verdicts);
  if (verdicts == NULL) {
    berth_complain(complaint, "out of memory");
    return BERTH_ERROR_MEMORY;
  }
  berth_status_t status = make_stand_ins(original, &stand_ins, &fresh, complaint);
  if (status == BERTH_OK) {
    status = prove_with(original, result, options, &stand_ins, verdicts, &fresh, complaint);
  }
  berth_stand_ins_free(&stand_ins);
  free(verdicts);
  if (status == BERTH_OK) *proof = fresh;
  return status;
}
