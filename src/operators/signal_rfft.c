/* SignalRfft: the Fourier transform of real int16 vectors, as one custom operator of TFLM's audio
 * front end.
 *
 * A vector of N numbers is transformed as N / 2 complex ones, whose spectrum is then taken apart;
 * both happen in the output's memory. Radix 4, and once radix 2 where N / 2 is no power of four.
 * Every stage divides by its radix, so nothing overflows, and rounds as KISS FFT does with 16-bit
 * fixed point: results equal TFLM's to the bit. All roots of unity come from a quarter of a cosine,
 * N / 4 + 1 numbers of workspace that equal operators share.
 * Source: Cooley & Tukey, An Algorithm for the Machine Calculation of Complex Fourier Series
 * (1965); M. Borgerding, KISS FFT. Cost: O(N log N).
 */
#include "operators/shape.h"
#include "operators/signal.h"
#include <math.h>
#include <string.h>

#define LEAST_LENGTH 4
#define MOST_LENGTH  32768

typedef struct complex16 {
  int16_t real, imaginary;
} complex16_t;

/* A length's roots of unity. */
typedef struct roots {
  const int16_t *cosines; /* of the first quarter of the circle, times 32767 */
  uint32_t length;        /* N: positions on the whole circle */
} roots_t;

/* exp(-2 pi i k / N), k in [0, N). */
static complex16_t root(const roots_t *roots, uint32_t k) {
  const int16_t *c = roots->cosines;
  uint32_t quarter = roots->length / 4, at = k % quarter;
  switch (k / quarter) {
  case 0:
    return (complex16_t){c[at], (int16_t)-c[quarter - at]};
  case 1:
    return (complex16_t){(int16_t)-c[quarter - at], (int16_t)-c[at]};
  case 2:
    return (complex16_t){(int16_t)-c[at], c[quarter - at]};
  default:
    return (complex16_t){c[quarter - at], c[at]};
  }
}

/* ---- Arithmetic with 15 fractional bits, each result rounded once ---------------------------- */

static int16_t rounded(int32_t x) {
  return (int16_t)((x + (1 << 14)) >> 15);
}

static complex16_t multiply(complex16_t a, complex16_t b) {
  return (complex16_t){rounded(a.real * b.real - a.imaginary * b.imaginary),
                       rounded(a.real * b.imaginary + a.imaginary * b.real)};
}

/* Divides by 2 or 4: multiplies with what is next below in 15 bits. */
static complex16_t divide(complex16_t a, int32_t by) {
  return (complex16_t){rounded(a.real * (INT16_MAX / by)), rounded(a.imaginary * (INT16_MAX / by))};
}

static complex16_t add(complex16_t a, complex16_t b) {
  return (complex16_t){(int16_t)(a.real + b.real), (int16_t)(a.imaginary + b.imaginary)};
}

static complex16_t subtract(complex16_t a, complex16_t b) {
  return (complex16_t){(int16_t)(a.real - b.real), (int16_t)(a.imaginary - b.imaginary)};
}

/* a x -i */
static complex16_t turn(complex16_t a) {
  return (complex16_t){a.imaginary, (int16_t)-a.real};
}

/* ---- Transforms ------------------------------------------------------------------------------ */

static uint32_t radix_of(uint32_t count) {
  return count % 4 == 0 ? 4 : 2;
}

/* Puts input pairs where the stages want them: the digits of the position reversed. What is beyond
 * the input is zero. */
static void scatter(const int16_t *in, uint32_t length, complex16_t *out, uint32_t count) {
  for (uint32_t o = 0; o < count; o++) {
    uint32_t step = 1, rest = o;
    size_t from = 0;
    for (uint32_t left = count; left > 1;) {
      uint32_t radix = radix_of(left);
      left /= radix;
      from += (size_t)(rest / left) * step;
      rest %= left;
      step *= radix;
    }
    out[o] = (complex16_t){2 * from < length ? in[2 * from] : (int16_t)0,
                           2 * from + 1 < length ? in[2 * from + 1] : (int16_t)0};
  }
}

/* Two transforms of `m` become one; `step` between roots. */
static void butterfly_2(complex16_t *x, uint32_t m, uint32_t step, const roots_t *roots) {
  for (uint32_t k = 0; k < m; k++) {
    complex16_t a = divide(x[k], 2), b = multiply(divide(x[k + m], 2), root(roots, k * step));
    x[k + m] = subtract(a, b);
    x[k] = add(a, b);
  }
}

static void butterfly_4(complex16_t *x, uint32_t m, uint32_t step, const roots_t *roots) {
  for (uint32_t k = 0; k < m; k++) {
    complex16_t a = divide(x[k], 4);
    complex16_t b = multiply(divide(x[k + m], 4), root(roots, k * step));
    complex16_t c = multiply(divide(x[k + 2 * m], 4), root(roots, 2 * k * step));
    complex16_t d = multiply(divide(x[k + 3 * m], 4), root(roots, 3 * k * step));
    complex16_t minus = subtract(a, c), plus = add(a, c);
    complex16_t odd = add(b, d), turned = turn(subtract(b, d));
    x[k + 2 * m] = subtract(plus, odd);
    x[k] = add(plus, odd);
    x[k + m] = add(minus, turned);
    x[k + 3 * m] = subtract(minus, turned);
  }
}

/* The transform of `count` complex numbers in scattered order. */
static void transform(complex16_t *x, uint32_t count, const roots_t *roots) {
  for (uint32_t m = 1; m < count;) {
    /* The innermost stage is the one of radix 2, if there is one. */
    uint32_t radix = m == 1 && (count & 0x55555555u) == 0 ? 2 : 4;
    uint32_t step = roots->length / (m * radix);
    for (uint32_t first = 0; first < count; first += m * radix) {
      if (radix == 2) {
        butterfly_2(x + first, m, step, roots);
      } else {
        butterfly_4(x + first, m, step, roots);
      }
    }
    m *= radix;
  }
}

/* From the spectrum of N / 2 complex numbers to the N / 2 + 1 of the N real ones, in place. */
static void take_apart(complex16_t *x, const roots_t *roots) {
  uint32_t count = roots->length / 2;
  complex16_t first = divide(x[0], 2);
  x[0] = (complex16_t){(int16_t)(first.real + first.imaginary), 0};
  x[count] = (complex16_t){(int16_t)(first.real - first.imaginary), 0};
  for (uint32_t k = 1; k <= count / 2; k++) {
    complex16_t a = divide(x[k], 2), b = x[count - k];
    b.imaginary = (int16_t)-b.imaginary;
    b = divide(b, 2);
    complex16_t sum = add(a, b);
    complex16_t turned = multiply(subtract(a, b), root(roots, k + count / 2));
    x[k] = (complex16_t){(int16_t)((sum.real + turned.real) >> 1),
                         (int16_t)((sum.imaginary + turned.imaginary) >> 1)};
    x[count - k] = (complex16_t){(int16_t)((sum.real - turned.real) >> 1),
                                 (int16_t)((turned.imaginary - sum.imaginary) >> 1)};
  }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static berth_status_t read_length(berth_call_t *call, uint32_t *length) {
  int32_t value = 0;
  berth_status_t status =
      berth_signal_option(call, "fft_length", LEAST_LENGTH, MOST_LENGTH, &value);
  if (status != BERTH_OK) return status;
  if ((value & (value - 1)) != 0) return berth_refuse(call, "takes powers of two as length only");
  *length = (uint32_t)value;
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!berth_signal_is(&input, BERTH_TYPE_INT16) || !berth_signal_is(&output, BERTH_TYPE_INT16) ||
      input.rank == 0) {
    return berth_refuse(call, "takes and gives int16 vectors only");
  }
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  uint32_t length = LEAST_LENGTH;
  berth_status_t status = read_length(call, &length);
  if (status != BERTH_OK) return status;
  int32_t dims[BERTH_RANK_MAX];
  memcpy(dims, input.dims, sizeof dims);
  if ((uint32_t)dims[input.rank - 1] > length) {
    return berth_refuse(call, "has an input that is longer than the transform");
  }
  dims[input.rank - 1] = (int32_t)length + 2;
  contract->workspace = (length / 4 + 1) * (uint32_t)sizeof(int16_t);
  return berth_set_shape(call, 0, input.rank, dims);
}

static berth_status_t init(berth_call_t *call) {
  uint32_t length = LEAST_LENGTH;
  berth_status_t status = read_length(call, &length);
  if (status != BERTH_OK) return status;
  const double pi = 3.14159265358979323846;
  int16_t *cosines = call->workspace;
  for (uint32_t k = 0; k <= length / 4; k++) {
    cosines[k] = (int16_t)floor(0.5 + INT16_MAX * cos(2 * pi * k / length));
  }
  return BERTH_OK;
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  roots_t roots = {.cosines = call->workspace, .length = LEAST_LENGTH};
  berth_status_t status = read_length(call, &roots.length);
  if (status != BERTH_OK) return status;
  const int16_t *in = (const int16_t *)(const void *)input.data;
  complex16_t *out = (complex16_t *)(void *)output.data;
  uint32_t in_length = (uint32_t)input.dims[input.rank - 1], out_length = roots.length / 2 + 1;
  for (uint32_t row = 0; row < output.elements / (2 * out_length); row++) {
    scatter(in, in_length, out, out_length - 1);
    transform(out, out_length - 1, &roots);
    take_apart(out, &roots);
    in += in_length;
    out += out_length;
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_signal_rfft = {.code = BERTH_BUILTIN_CUSTOM,
                                                 .custom_name = "SignalRfft",
                                                 .prepare = prepare,
                                                 .init = init,
                                                 .eval = eval};
