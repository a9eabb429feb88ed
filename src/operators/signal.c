/* Operators of TFLM's audio front end, from a windowed frame to logarithms of mel energies: custom
 * operators whose names begin with Signal. The Fourier transform is in signal_rfft.c.
 *
 * All is integer arithmetic and equals TFLM's signal library to the bit. Vectors of a few hundred
 * elements: whole, and in place where an element is read before it is written.
 * Source: Wang et al., Trainable Frontend For Robust and Far-Field Keyword Spotting (2017), for
 * PCAN; tflite-micro, signal/.
 */
#include "operators/signal.h"
#include "operators/fixed_point.h"

static uint32_t load_uint32(const berth_value_t *value, uint32_t index) {
  return (uint32_t)berth_load_int32(value->data, index);
}

static int32_t load_int16(const berth_value_t *value, uint32_t index) {
  int16_t number;
  memcpy(&number, value->data + 2 * (size_t)index, sizeof number);
  return number;
}

/* The output has the shape of an input of this rank, and may take its place. */
static berth_status_t same_shape(berth_call_t *call, const berth_value_t *input, uint32_t output) {
  return berth_set_shape(call, output, input->rank, input->dims);
}

/* Position of the highest bit that is set, from 1; 0 for 0. */
static uint32_t bit_length(uint64_t x) {
  uint32_t length = 0;
  while (x != 0) {
    x >>= 1;
    length++;
  }
  return length;
}

/* ---- SignalWindow: multiplies by a window function ------------------------------------------- */

static berth_status_t window_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), weights = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  int32_t shift = 0;
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&weights, BERTH_TYPE_INT16) ||
      !berth_signal_is(&output, BERTH_TYPE_INT16)) {
    return berth_refuse(call, "takes int16 only");
  }
  if (weights.elements == 0 || input.elements % weights.elements != 0) {
    return berth_refuse(call, "has a window that does not fit the input");
  }
  berth_status_t status = berth_signal_option(call, "shift", 0, 31, &shift);
  if (status != BERTH_OK) return status;
  contract->in_place = 1;
  return same_shape(call, &input, 0);
}

static berth_status_t window_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), weights = berth_input(call, 1);
  int16_t *to = (int16_t *)(void *)berth_output(call, 0).data;
  int32_t shift = 0;
  berth_status_t status = berth_signal_option(call, "shift", 0, 31, &shift);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < input.elements; i++) {
    int32_t product = load_int16(&input, i) * load_int16(&weights, i % weights.elements);
    to[i] = (int16_t)berth_clamp(product >> shift, INT16_MIN, INT16_MAX);
  }
  return BERTH_OK;
}

/* ---- SignalFftAutoScale: shifts to the left as far as no value overflows --------------------- */

static berth_status_t auto_scale_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t bits = berth_output(call, 1);
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_INT16) ||
      !berth_signal_is(&bits, BERTH_TYPE_INT32)) {
    return berth_refuse(call, "takes int16, and gives int16 and int32");
  }
  contract->in_place = 1;
  berth_status_t status = same_shape(call, &input, 0);
  return status == BERTH_OK ? berth_set_shape(call, 1, 0, NULL) : status;
}

static berth_status_t auto_scale_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  int16_t *to = (int16_t *)(void *)berth_output(call, 0).data;
  /* As in the reference, the magnitude of -32768 wraps, and what follows starts anew from there. */
  int16_t largest = 0;
  for (uint32_t i = 0; i < input.elements; i++) {
    int32_t value = load_int16(&input, i);
    if (value > largest) {
      largest = (int16_t)value;
    } else if (-value > largest) {
      largest = (int16_t)-value;
    }
  }
  uint32_t magnitude = (uint32_t)largest; /* of a wrapped one: all upper bits are set */
  int32_t bits = 15 - (int32_t)bit_length(magnitude);
  if (bits < 0) bits = 0;
  for (uint32_t i = 0; i < input.elements; i++) {
    to[i] = (int16_t)(load_int16(&input, i) * (INT32_C(1) << bits));
  }
  memcpy(berth_output(call, 1).data, &bits, sizeof bits);
  return BERTH_OK;
}

/* ---- SignalEnergy: squared magnitudes of complex numbers ------------------------------------- */

static berth_status_t energy_range(berth_call_t *call, uint32_t count, uint32_t *first,
                                   uint32_t *end) {
  int32_t a = 0, b = 0;
  berth_status_t status = berth_signal_option(call, "start_index", 0, count, &a);
  if (status == BERTH_OK) status = berth_signal_option(call, "end_index", 0, count, &b);
  *first = (uint32_t)a;
  *end = (uint32_t)b;
  return status;
}

static berth_status_t energy_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_UINT32) ||
      input.rank != 1 || input.elements % 2 != 0) {
    return berth_refuse(call, "takes a vector of complex int16 and gives uint32");
  }
  uint32_t first = 0, end = 0;
  int32_t count = (int32_t)(input.elements / 2);
  berth_status_t status = energy_range(call, (uint32_t)count, &first, &end);
  if (status != BERTH_OK) return status;
  contract->in_place = 1;
  return berth_set_shape(call, 0, 1, &count);
}

/* Zeros outside of the range, where the reference leaves what was there. */
static berth_status_t energy_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  uint32_t first = 0, end = 0;
  berth_status_t status = energy_range(call, output.elements, &first, &end);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < output.elements; i++) {
    int32_t real = load_int16(&input, 2 * i), imaginary = load_int16(&input, 2 * i + 1);
    uint32_t energy = (uint32_t)(real * real) + (uint32_t)(imaginary * imaginary);
    if (i < first || i >= end) energy = 0;
    memcpy(output.data + 4 * (size_t)i, &energy, sizeof energy);
  }
  return BERTH_OK;
}

/* ---- SignalFilterBank: overlapping triangles over the energies -------------------------------
 *
 * Channel i covers the frequencies from starts[i]; each energy counts for it with `weights` and for
 * the next channel with `unweights`. There is one channel more, in front, of which only the latter
 * is used. */

typedef struct bank {
  berth_value_t input, weights, unweights, starts, weight_starts, widths;
  uint32_t channels; /* with the one in front */
} bank_t;

static berth_status_t read_bank(berth_call_t *call, bank_t *bank) {
  int32_t channels = 0;
  berth_status_t status = berth_signal_option(call, "num_channels", 1, INT16_MAX, &channels);
  *bank = (bank_t){berth_input(call, 0),
                   berth_input(call, 1),
                   berth_input(call, 2),
                   berth_input(call, 3),
                   berth_input(call, 4),
                   berth_input(call, 5),
                   status == BERTH_OK ? (uint32_t)channels + 1 : 0};
  return status;
}

static berth_status_t bank_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  bank_t bank;
  berth_status_t status = read_bank(call, &bank);
  if (status != BERTH_OK) return status;
  const berth_value_t *vectors[] = {&bank.weights, &bank.unweights, &bank.starts,
                                    &bank.weight_starts, &bank.widths};
  for (uint32_t i = 0; i < 5; i++) {
    if (!berth_signal_is(vectors[i], BERTH_TYPE_INT16) || !vectors[i]->constant) {
      return berth_refuse(call, "needs five constant vectors of int16");
    }
    if (i >= 2 && vectors[i]->elements < bank.channels) {
      return berth_refuse(call, "has fewer filters than channels");
    }
  }
  if (!berth_signal_is(&bank.input, BERTH_TYPE_UINT32) || !berth_output(call, 0).present ||
      berth_output(call, 0).type != BERTH_TYPE_UINT64) {
    return berth_refuse(call, "takes uint32 and gives uint64");
  }
  for (uint32_t i = 0; i < bank.channels; i++) {
    int32_t start = load_int16(&bank.starts, i), first = load_int16(&bank.weight_starts, i);
    int32_t width = load_int16(&bank.widths, i);
    if (width <= 0) continue;
    if (start < 0 || first < 0 || (uint32_t)(start + width) > bank.input.elements ||
        (uint32_t)(first + width) > bank.weights.elements ||
        (uint32_t)(first + width) > bank.unweights.elements) {
      return berth_refuse(call, "has a filter beyond its input or weights");
    }
  }
  int32_t count = (int32_t)bank.channels - 1;
  return berth_set_shape(call, 0, 1, &count);
}

static berth_status_t bank_eval(berth_call_t *call) {
  bank_t bank;
  berth_status_t status = read_bank(call, &bank);
  if (status != BERTH_OK) return status;
  uint8_t *out = berth_output(call, 0).data;
  uint64_t sum = 0, next = 0;
  for (uint32_t i = 0; i < bank.channels; i++) {
    uint32_t start = (uint32_t)load_int16(&bank.starts, i);
    uint32_t first = (uint32_t)load_int16(&bank.weight_starts, i);
    int32_t width = load_int16(&bank.widths, i);
    for (uint32_t k = 0; (int32_t)k < width; k++) {
      uint64_t energy = load_uint32(&bank.input, start + k);
      sum += (uint64_t)(int64_t)load_int16(&bank.weights, first + k) * energy;
      next += (uint64_t)(int64_t)load_int16(&bank.unweights, first + k) * energy;
    }
    if (i > 0) memcpy(out + 8 * (size_t)(i - 1), &sum, sizeof sum);
    sum = next;
    next = 0;
  }
  return BERTH_OK;
}

/* ---- SignalFilterBankSquareRoot -------------------------------------------------------------- */

/* Rounded to the nearest, at most 2^bits - 1; digit by digit. */
static uint64_t square_root(uint64_t x, uint32_t bits) {
  uint64_t root = 0, bit = UINT64_C(1) << (2 * bits - 2);
  for (; bit != 0; bit >>= 2) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return x > root && root != (UINT64_C(1) << bits) - 1 ? root + 1 : root;
}

static berth_status_t root_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), bits = berth_input(call, 1);
  if (!berth_signal_is(&input, BERTH_TYPE_UINT64) || !berth_signal_is(&bits, BERTH_TYPE_INT32) ||
      bits.elements != 1 || !berth_output(call, 0).present ||
      berth_output(call, 0).type != BERTH_TYPE_UINT32) {
    return berth_refuse(call, "takes uint64 and the bits it was scaled by, and gives uint32");
  }
  return same_shape(call, &input, 0);
}

/* Numbers below 2^32 have roots of 16 bits, which makes those next to 2^32 one less. */
static berth_status_t root_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  int32_t bits = berth_load_int32(berth_input(call, 1).data, 0);
  if (bits < 0 || bits > 31) return berth_refuse(call, "is to shift by more bits than there are");
  for (uint32_t i = 0; i < input.elements; i++) {
    uint64_t x = (uint64_t)berth_load_int64(input.data, i);
    uint32_t root = (uint32_t)square_root(x, x >> 32 == 0 ? 16 : 32) >> bits;
    memcpy(output.data + 4 * (size_t)i, &root, sizeof root);
  }
  return BERTH_OK;
}

/* ---- SignalFilterBankSpectralSubtraction: takes away a running estimate of the noise --------- */

typedef struct subtraction {
  int32_t smoothing[2], complement[2]; /* for even and odd channels; see scale_bits */
  int32_t clamping, least, channels;
  int32_t smoothing_bits; /* additional bits of the estimate */
  int32_t scale_bits;     /* of the factors: 1 is 1 << scale_bits */
} subtraction_t;

static berth_status_t read_subtraction(berth_call_t *call, subtraction_t *s) {
  const struct {
    const char *name;
    int64_t most;
    int32_t *value;
  } options[] = {{"smoothing", INT32_MAX, &s->smoothing[0]},
                 {"alternate_smoothing", INT32_MAX, &s->smoothing[1]},
                 {"one_minus_smoothing", INT32_MAX, &s->complement[0]},
                 {"alternate_one_minus_smoothing", INT32_MAX, &s->complement[1]},
                 {"clamping", 1, &s->clamping},
                 {"min_signal_remaining", INT32_MAX, &s->least},
                 {"num_channels", INT16_MAX, &s->channels},
                 {"smoothing_bits", 31, &s->smoothing_bits},
                 {"spectral_subtraction_bits", 63, &s->scale_bits}};
  for (uint32_t i = 0; i < sizeof options / sizeof *options; i++) {
    berth_status_t status =
        berth_signal_option(call, options[i].name, 0, options[i].most, options[i].value);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static berth_status_t subtraction_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t noise = berth_output(call, 1);
  subtraction_t s = {.channels = 0};
  berth_status_t status = read_subtraction(call, &s);
  if (status != BERTH_OK) return status;
  if (!berth_signal_is(&input, BERTH_TYPE_UINT32) || !berth_signal_is(&output, BERTH_TYPE_UINT32) ||
      !berth_signal_is(&noise, BERTH_TYPE_UINT32) || input.elements != (uint32_t)s.channels) {
    return berth_refuse(call, "takes and gives one uint32 for each channel");
  }
  contract->state = input.bytes; /* the noise */
  contract->in_place = 1;
  status = same_shape(call, &input, 0);
  return status == BERTH_OK ? same_shape(call, &input, 1) : status;
}

static berth_status_t subtraction_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  subtraction_t s = {.channels = 0};
  berth_status_t status = read_subtraction(call, &s);
  if (status != BERTH_OK) return status;
  uint32_t *noise = call->state;
  for (uint32_t i = 0; i < input.elements; i++) {
    uint32_t level = load_uint32(&input, i), scaled = level << s.smoothing_bits;
    noise[i] = (uint32_t)(((uint64_t)scaled * (uint32_t)s.smoothing[i & 1] +
                           (uint64_t)noise[i] * (uint32_t)s.complement[i & 1]) >>
                          s.scale_bits);
    uint32_t estimate = noise[i];
    if (estimate > scaled) {
      estimate = scaled;
      if (s.clamping) noise[i] = estimate;
    }
    uint32_t least = (uint32_t)((uint64_t)level * (uint32_t)s.least >> s.scale_bits);
    uint32_t rest = (scaled - estimate) >> s.smoothing_bits;
    if (rest < least) rest = least;
    memcpy(output.data + 4 * (size_t)i, &rest, sizeof rest);
  }
  memcpy(berth_output(call, 1).data, noise, input.bytes);
  return BERTH_OK;
}

/* ---- SignalPCAN: per-channel amplitude normalization ------------------------------------------
 *
 * The gain is a piecewise polynomial of the noise estimate: for each power of two four numbers of a
 * table, of which three are used. */

#define GAIN_TABLE  125u /* elements of the table for all 32 bits */
#define SNR_BITS    12
#define OUTPUT_BITS 6

static berth_status_t pcan_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), noise = berth_input(call, 1);
  berth_value_t gains = berth_input(call, 2), output = berth_output(call, 0);
  int32_t shift = 0;
  berth_status_t status = berth_signal_option(call, "snr_shift", 0, 63, &shift);
  if (status != BERTH_OK) return status;
  if (!berth_signal_is(&input, BERTH_TYPE_UINT32) || !berth_signal_is(&noise, BERTH_TYPE_UINT32) ||
      !berth_signal_is(&output, BERTH_TYPE_UINT32) || input.elements != noise.elements) {
    return berth_refuse(call, "takes two equally long vectors of uint32 and gives one");
  }
  if (!berth_signal_is(&gains, BERTH_TYPE_INT16) || gains.elements < GAIN_TABLE) {
    return berth_refuse(call, "needs a table of 125 int16");
  }
  contract->in_place = 3;
  return same_shape(call, &input, 0);
}

static int16_t gain(uint32_t noise, const berth_value_t *table) {
  if (noise <= 2) return (int16_t)load_int16(table, noise);
  uint32_t length = bit_length(noise), at = 4 * length - 6;
  uint32_t fraction = (length < 11 ? noise << (11 - length) : noise >> (length - 11)) & 0x3ff;
  int32_t result = load_int16(table, at + 2) * (int32_t)fraction >> 5;
  uint32_t slope = (uint32_t)result + ((uint32_t)load_int16(table, at + 1) << 5);
  result = (int32_t)(slope * fraction + (1u << 14)) >> 15;
  return (int16_t)(result + load_int16(table, at));
}

/* x^2 / 4 below 2, x - 1 from there on; from SNR_BITS to OUTPUT_BITS fractional bits. */
static uint32_t shrink(uint32_t x) {
  if (x < 2u << SNR_BITS) return x * x >> (2 + 2 * SNR_BITS - OUTPUT_BITS);
  return (x >> (SNR_BITS - OUTPUT_BITS)) - (1u << OUTPUT_BITS);
}

static berth_status_t pcan_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), noise = berth_input(call, 1);
  berth_value_t gains = berth_input(call, 2), output = berth_output(call, 0);
  int32_t shift = 0;
  berth_status_t status = berth_signal_option(call, "snr_shift", 0, 63, &shift);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < input.elements; i++) {
    uint32_t factor = (uint32_t)gain(load_uint32(&noise, i), &gains);
    uint32_t result = shrink((uint32_t)((uint64_t)load_uint32(&input, i) * factor >> shift));
    memcpy(output.data + 4 * (size_t)i, &result, sizeof result);
  }
  return BERTH_OK;
}

/* ---- SignalFilterBankLog ----------------------------------------------------------------------
 */

/* Entry i: 65536 x (log2(1 + i / 128) - i / 128), as the reference has it. */
static const uint16_t log_table[129] = {
    0,    224,  442,  654,  861,  1063, 1259, 1450, 1636, 1817, 1992, 2163, 2329, 2490, 2646,
    2797, 2944, 3087, 3224, 3358, 3487, 3611, 3732, 3848, 3960, 4068, 4172, 4272, 4368, 4460,
    4549, 4633, 4714, 4791, 4864, 4934, 5001, 5063, 5123, 5178, 5231, 5280, 5326, 5368, 5408,
    5444, 5477, 5507, 5533, 5557, 5578, 5595, 5610, 5622, 5631, 5637, 5640, 5641, 5638, 5633,
    5626, 5615, 5602, 5586, 5568, 5547, 5524, 5498, 5470, 5439, 5406, 5370, 5332, 5291, 5249,
    5203, 5156, 5106, 5054, 5000, 4944, 4885, 4825, 4762, 4697, 4630, 4561, 4490, 4416, 4341,
    4264, 4184, 4103, 4020, 3935, 3848, 3759, 3668, 3575, 3481, 3384, 3286, 3186, 3084, 2981,
    2875, 2768, 2659, 2549, 2437, 2323, 2207, 2090, 1971, 1851, 1729, 1605, 1480, 1353, 1224,
    1094, 963,  830,  695,  559,  421,  282,  142,  0};

/* ln(x) x scale for x > 0, from its logarithm to base 2 with 16 fractional bits. */
static uint32_t natural_log(uint32_t x, uint32_t scale) {
  const uint32_t ln2 = 45426; /* with 16 fractional bits */
  uint32_t whole = bit_length(x) - 1, rest = x - (1u << whole);
  uint32_t fraction = whole < 16 ? rest << (16 - whole) : rest >> (whole - 16);
  uint32_t segment = fraction >> 9;
  int32_t low = log_table[segment], high = log_table[segment + 1];
  int32_t between = (high - low) * (int32_t)(fraction & 511) >> 16;
  uint32_t log2 = (whole << 16) + fraction + (uint32_t)(low + between);
  uint32_t log = (uint32_t)(((uint64_t)ln2 * log2 + 32768) >> 16);
  return (scale * log + 32768) >> 16;
}

static berth_status_t read_log(berth_call_t *call, int32_t *bits, int32_t *scale) {
  berth_status_t status = berth_signal_option(call, "input_correction_bits", 0, 31, bits);
  if (status != BERTH_OK) return status;
  return berth_signal_option(call, "output_scale", 0, INT32_MAX, scale);
}

static berth_status_t log_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  int32_t bits = 0, scale = 0;
  if (!berth_signal_is(&input, BERTH_TYPE_UINT32) || !berth_signal_is(&output, BERTH_TYPE_INT16)) {
    return berth_refuse(call, "takes uint32 and gives int16");
  }
  berth_status_t status = read_log(call, &bits, &scale);
  return status == BERTH_OK ? same_shape(call, &input, 0) : status;
}

static berth_status_t log_eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  int32_t bits = 0, scale = 0;
  berth_status_t status = read_log(call, &bits, &scale);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < input.elements; i++) {
    uint32_t x = load_uint32(&input, i) << bits;
    uint32_t log = x > 1 ? natural_log(x, (uint32_t)scale) : 0;
    int16_t result = (int16_t)(log < INT16_MAX ? log : INT16_MAX);
    memcpy(output.data + 2 * (size_t)i, &result, sizeof result);
  }
  return BERTH_OK;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

const berth_kernel_t berth_kernel_signal_energy = {.code = BERTH_BUILTIN_CUSTOM,
                                                   .custom_name = "SignalEnergy",
                                                   .prepare = energy_prepare,
                                                   .eval = energy_eval};
const berth_kernel_t berth_kernel_signal_fft_auto_scale = {.code = BERTH_BUILTIN_CUSTOM,
                                                           .custom_name = "SignalFftAutoScale",
                                                           .prepare = auto_scale_prepare,
                                                           .eval = auto_scale_eval};
const berth_kernel_t berth_kernel_signal_filter_bank = {.code = BERTH_BUILTIN_CUSTOM,
                                                        .custom_name = "SignalFilterBank",
                                                        .prepare = bank_prepare,
                                                        .eval = bank_eval};
const berth_kernel_t berth_kernel_signal_filter_bank_log = {.code = BERTH_BUILTIN_CUSTOM,
                                                            .custom_name = "SignalFilterBankLog",
                                                            .prepare = log_prepare,
                                                            .eval = log_eval};
const berth_kernel_t berth_kernel_signal_filter_bank_spectral_subtraction = {
    .code = BERTH_BUILTIN_CUSTOM,
    .custom_name = "SignalFilterBankSpectralSubtraction",
    .prepare = subtraction_prepare,
    .eval = subtraction_eval};
const berth_kernel_t berth_kernel_signal_filter_bank_square_root = {
    .code = BERTH_BUILTIN_CUSTOM,
    .custom_name = "SignalFilterBankSquareRoot",
    .prepare = root_prepare,
    .eval = root_eval};
const berth_kernel_t berth_kernel_signal_pcan = {.code = BERTH_BUILTIN_CUSTOM,
                                                 .custom_name = "SignalPCAN",
                                                 .prepare = pcan_prepare,
                                                 .eval = pcan_eval};
const berth_kernel_t berth_kernel_signal_window = {.code = BERTH_BUILTIN_CUSTOM,
                                                   .custom_name = "SignalWindow",
                                                   .prepare = window_prepare,
                                                   .eval = window_eval};
