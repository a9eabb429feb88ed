/* SignalDelay, SignalFramer, SignalStacker and SignalOverlapAdd of TFLM's audio front end:
 * operators that keep samples from one invoke to the next.
 *
 * What they keep lies in state, oldest sample first, and moves down as samples leave; TFLM has a
 * circular buffer of twice the size. State is zero at first, so what is counted in it is counted
 * from there. A framer or stacker that has too few samples yet gives zeros, and says so in its
 * second output. Source: tflite-micro's signal library.
 */
#include "operators/fixed_point.h"
#include "operators/shape.h"
#include "operators/signal.h"

#define MOST (1 << 20) /* of any option */

/* The input's last dimension, and how many vectors of that length it has. False: none. */
static bool read_vectors(const berth_value_t *input, uint32_t *length, uint32_t *count) {
  if (!input->present || input->rank == 0 || input->elements == 0) return false;
  *length = (uint32_t)input->dims[input->rank - 1];
  *count = input->elements / *length;
  return true;
}

static berth_status_t keep(berth_contract_t *contract, uint64_t counters, uint64_t samples,
                           uint32_t element) {
  uint64_t bytes = counters * sizeof(uint32_t) + samples * element;
  if (bytes > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  contract->state = (uint32_t)bytes;
  return BERTH_OK;
}

/* ---- SignalDelay ----------------------------------------------------------------------------- */

typedef struct delay {
  int32_t samples;
  uint32_t length, count; /* of the input's vectors */
} delay_t;

static berth_status_t read_delay(berth_call_t *call, const berth_value_t *input, delay_t *d) {
  if (!read_vectors(input, &d->length, &d->count)) return berth_refuse(call, "needs samples");
  return berth_signal_option(call, "delay_length", 0, MOST, &d->samples);
}

static berth_status_t prepare_delay(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  delay_t d = {0};
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_INT16)) {
    return berth_refuse(call, "takes int16 only");
  }
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  berth_status_t status = read_delay(call, &input, &d);
  if (status != BERTH_OK) return status;
  status = keep(contract, 0, (uint64_t)d.count * (uint32_t)d.samples, sizeof(int16_t));
  return status == BERTH_OK ? berth_set_shape(call, 0, input.rank, input.dims) : status;
}

static berth_status_t eval_delay(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  delay_t d = {0};
  berth_status_t status = read_delay(call, &input, &d);
  if (status != BERTH_OK) return status;
  const int16_t *in = (const int16_t *)(const void *)input.data;
  int16_t *out = (int16_t *)(void *)output.data, *kept = call->state;
  uint32_t length = d.length, delay = (uint32_t)d.samples;
  uint32_t old = delay < length ? delay : length; /* samples that leave the state */
  if (delay == 0) {
    memcpy(out, in, output.bytes);
    return BERTH_OK;
  }
  for (uint32_t i = 0; i < d.count; i++, in += length, out += length, kept += delay) {
    memcpy(out, kept, old * sizeof *out);
    memcpy(out + old, in, (length - old) * sizeof *out);
    memmove(kept, kept + old, (delay - old) * sizeof *kept);
    memcpy(kept + (delay - old), in + (length - old), old * sizeof *kept);
  }
  return BERTH_OK;
}

/* ---- SignalFramer ---------------------------------------------------------------------------- */

typedef struct framer {
  uint32_t size, step;     /* samples of a frame, and from one to the next */
  uint32_t first;          /* zeros that are there at first */
  uint32_t room;           /* for samples, of each vector */
  uint32_t vectors, steps; /* in the input, and in each of them */
} framer_t;

static berth_status_t read_framer(berth_call_t *call, const berth_value_t *input, framer_t *f) {
  int32_t size = 1, step = 1, prefill = 0;
  uint32_t length;
  berth_status_t status = berth_signal_option(call, "frame_size", 1, MOST, &size);
  if (status == BERTH_OK) status = berth_signal_option(call, "frame_step", 1, MOST, &step);
  if (status == BERTH_OK) status = berth_signal_option(call, "prefill", 0, 1, &prefill);
  if (status != BERTH_OK) return status;
  f->size = (uint32_t)size;
  f->step = (uint32_t)step;
  if (!read_vectors(input, &length, &f->vectors) || length % f->step != 0) {
    return berth_refuse(call, "needs a multiple of its step of samples");
  }
  if (prefill && f->step > f->size) return berth_refuse(call, "has a step longer than a frame");
  f->first = prefill ? f->size - f->step : 0;
  f->room = (f->size + f->step - 1) / f->step * f->step;
  f->steps = length / f->step;
  return BERTH_OK;
}

static berth_status_t prepare_framer(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t valid = berth_output(call, 1);
  framer_t f;
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_INT16) ||
      !berth_signal_is(&valid, BERTH_TYPE_BOOL)) {
    return berth_refuse(call, "takes int16, and gives int16 and bool");
  }
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  berth_status_t status = read_framer(call, &input, &f);
  if (status != BERTH_OK) return status;
  if (input.rank == BERTH_RANK_MAX) return berth_refuse(call, "has too many dimensions");
  int32_t dims[BERTH_RANK_MAX];
  memcpy(dims, input.dims, sizeof dims);
  dims[input.rank - 1] = (int32_t)f.steps;
  dims[input.rank] = (int32_t)f.size;
  status = keep(contract, 1, (uint64_t)f.vectors * f.room, sizeof(int16_t));
  if (status == BERTH_OK) status = berth_set_shape(call, 0, input.rank + 1, dims);
  return status == BERTH_OK ? berth_set_shape(call, 1, 0, NULL) : status;
}

static berth_status_t eval_framer(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  framer_t f;
  berth_status_t status = read_framer(call, &input, &f);
  if (status != BERTH_OK) return status;
  const int16_t *in = (const int16_t *)(const void *)input.data;
  int16_t *out = (int16_t *)(void *)output.data;
  uint32_t *more = call->state, filled = f.first; /* how many samples there are beyond `first` */
  int16_t *kept = (int16_t *)(void *)(more + 1);
  bool valid = true;
  for (uint32_t i = 0; i < f.vectors; i++, kept += f.room) {
    filled = f.first + *more;
    for (uint32_t k = 0; k < f.steps; k++, in += f.step, out += f.size) {
      memcpy(kept + filled, in, f.step * sizeof *kept);
      filled += f.step;
      if (filled < f.size) {
        memset(out, 0, f.size * sizeof *out);
        valid = false;
        continue;
      }
      memcpy(out, kept, f.size * sizeof *out);
      filled -= f.step;
      memmove(kept, kept + f.step, filled * sizeof *kept);
    }
  }
  *more = filled - f.first;
  berth_output(call, 1).data[0] = valid;
  return BERTH_OK;
}

/* ---- SignalStacker --------------------------------------------------------------------------- */

typedef struct stacker {
  uint32_t channels, left;
  uint32_t size, step; /* samples of a stack, and from one to the next */
} stacker_t;

static berth_status_t read_stacker(berth_call_t *call, stacker_t *s) {
  int32_t channels = 1, left = 0, right = 0, step = 1;
  berth_status_t status = berth_signal_option(call, "num_channels", 1, MOST, &channels);
  if (status == BERTH_OK)
    status = berth_signal_option(call, "stacker_left_context", 0, MOST, &left);
  if (status == BERTH_OK) {
    status = berth_signal_option(call, "stacker_right_context", 0, MOST, &right);
  }
  if (status == BERTH_OK) {
    status = berth_signal_option(call, "stacker_step", 1, left + right + 1, &step);
  }
  if (status != BERTH_OK) return status;
  if ((int64_t)(left + right + 1) * channels > INT32_MAX / 4) return BERTH_ERROR_OVERFLOW;
  s->channels = (uint32_t)channels;
  s->left = (uint32_t)left;
  s->size = (uint32_t)((left + right + 1) * channels);
  s->step = (uint32_t)(step * channels);
  return BERTH_OK;
}

static berth_status_t prepare_stacker(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t valid = berth_output(call, 1);
  stacker_t s;
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_INT16) ||
      !berth_signal_is(&valid, BERTH_TYPE_BOOL)) {
    return berth_refuse(call, "takes int16, and gives int16 and bool");
  }
  berth_status_t status = read_stacker(call, &s);
  if (status != BERTH_OK) return status;
  if (input.elements != s.channels) return berth_refuse(call, "needs one sample of each channel");
  int32_t size = (int32_t)s.size;
  status = keep(contract, 2, s.size, sizeof(int16_t));
  if (status == BERTH_OK) status = berth_set_shape(call, 0, 1, &size);
  return status == BERTH_OK ? berth_set_shape(call, 1, 0, NULL) : status;
}

static berth_status_t eval_stacker(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  stacker_t s;
  berth_status_t status = read_stacker(call, &s);
  if (status != BERTH_OK) return status;
  uint32_t *filled = call->state, *begun = filled + 1;
  int16_t *kept = (int16_t *)(void *)(begun + 1);
  /* The first frame stands for those before it as well. */
  for (uint32_t times = *begun ? 1 : 1 + s.left; times > 0; times--) {
    memcpy(kept + *filled, input.data, s.channels * sizeof *kept);
    *filled += s.channels;
  }
  *begun = 1;
  bool valid = *filled == s.size;
  berth_output(call, 1).data[0] = valid;
  if (!valid) {
    memset(output.data, 0, output.bytes);
    return BERTH_OK;
  }
  memcpy(output.data, kept, output.bytes);
  *filled -= s.step;
  memmove(kept, kept + s.step, *filled * sizeof *kept);
  return BERTH_OK;
}

/* ---- SignalOverlapAdd ------------------------------------------------------------------------ */

typedef struct overlap {
  uint32_t size, step; /* samples of a frame, and from one to the next */
  uint32_t frames, vectors;
} overlap_t;

static berth_status_t read_overlap(berth_call_t *call, const berth_value_t *input, overlap_t *o) {
  uint32_t count;
  int32_t step = 1;
  if (!read_vectors(input, &o->size, &count) || input->rank < 2) {
    return berth_refuse(call, "needs frames");
  }
  int32_t most = input->dims[input->rank - 1];
  berth_status_t status = berth_signal_option(call, "frame_step", 1, most, &step);
  if (status != BERTH_OK) return status;
  o->step = (uint32_t)step;
  o->frames = (uint32_t)input->dims[input->rank - 2];
  o->vectors = count / o->frames;
  return BERTH_OK;
}

static berth_status_t prepare_overlap(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  overlap_t o;
  if (!input.present || !output.present || input.type != output.type ||
      (input.type != BERTH_TYPE_INT16 && input.type != BERTH_TYPE_FLOAT32)) {
    return berth_refuse(call, "takes int16 and float32 only");
  }
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  berth_status_t status = read_overlap(call, &input, &o);
  if (status != BERTH_OK) return status;
  if ((uint64_t)o.frames * o.step > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  int32_t dims[BERTH_RANK_MAX];
  memcpy(dims, input.dims, sizeof dims);
  dims[input.rank - 2] = (int32_t)(o.frames * o.step);
  uint32_t element = input.bytes / input.elements;
  status = keep(contract, 0, (uint64_t)o.vectors * o.size, element);
  return status == BERTH_OK ? berth_set_shape(call, 0, input.rank - 1, dims) : status;
}

static void add_int16(int16_t *kept, const int16_t *in, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    kept[i] = (int16_t)berth_clamp(kept[i] + in[i], INT16_MIN, INT16_MAX);
  }
}

static void add_float(float *kept, const float *in, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) kept[i] += in[i];
}

static berth_status_t eval_overlap(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  overlap_t o;
  berth_status_t status = read_overlap(call, &input, &o);
  if (status != BERTH_OK) return status;
  size_t element = input.bytes / input.elements, step = o.step * element, size = o.size * element;
  const uint8_t *in = input.data;
  uint8_t *out = output.data, *kept = call->state;
  for (uint32_t i = 0; i < o.vectors; i++, kept += size) {
    for (uint32_t k = 0; k < o.frames; k++, in += size, out += step) {
      if (input.type == BERTH_TYPE_INT16) {
        add_int16((int16_t *)(void *)kept, (const int16_t *)(const void *)in, o.size);
      } else {
        add_float((float *)(void *)kept, (const float *)(const void *)in, o.size);
      }
      memcpy(out, kept, step);
      memmove(kept, kept + step, size - step);
      memset(kept + (size - step), 0, step);
    }
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_signal_delay = {.code = BERTH_BUILTIN_CUSTOM,
                                                  .custom_name = "SignalDelay",
                                                  .prepare = prepare_delay,
                                                  .eval = eval_delay};
const berth_kernel_t berth_kernel_signal_framer = {.code = BERTH_BUILTIN_CUSTOM,
                                                   .custom_name = "SignalFramer",
                                                   .prepare = prepare_framer,
                                                   .eval = eval_framer};
const berth_kernel_t berth_kernel_signal_overlap_add = {.code = BERTH_BUILTIN_CUSTOM,
                                                        .custom_name = "SignalOverlapAdd",
                                                        .prepare = prepare_overlap,
                                                        .eval = eval_overlap};
const berth_kernel_t berth_kernel_signal_stacker = {.code = BERTH_BUILTIN_CUSTOM,
                                                    .custom_name = "SignalStacker",
                                                    .prepare = prepare_stacker,
                                                    .eval = eval_stacker};
