/* CAST: numbers of one type as numbers of another.
 *
 * Conversions go by way of int64 or double, in chunks on the stack, so that n types need 2n loops
 * and not n x n. Integers wrap, as in C; a float that an integer cannot hold becomes the nearest
 * one that it can, NaN becomes 0 (C leaves both open). Anything but 0 is true.
 */
#include "operators/elementwise.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/shape.h"

#define CHUNK 32u /* elements */

typedef struct cast {
  berth_tensor_type_t from, to;
} cast_t;

static bool is_real(berth_tensor_type_t type) {
  return type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_FLOAT64;
}

static bool is_castable(berth_tensor_type_t type) {
  switch (type) {
  case BERTH_TYPE_FLOAT32:
  case BERTH_TYPE_FLOAT64:
  case BERTH_TYPE_INT8:
  case BERTH_TYPE_INT16:
  case BERTH_TYPE_INT32:
  case BERTH_TYPE_INT64:
  case BERTH_TYPE_UINT8:
  case BERTH_TYPE_UINT16:
  case BERTH_TYPE_UINT32:
  case BERTH_TYPE_UINT64:
  case BERTH_TYPE_BOOL:
    return true;
  default:
    return false;
  }
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (!is_castable(input.type)) return berth_refuse(call, "cannot take this type");
  if (!is_castable(output.type)) return berth_refuse(call, "cannot give this type");
  return berth_elementwise_prepare(call, contract, &input, 1);
}

#define LOAD(type, target)                                                                         \
  for (uint32_t i = 0; i < count; i++) target[i] = ((const type *)from)[i];                        \
  break

static void load_integers(const void *from, berth_tensor_type_t type, int64_t *to, uint32_t count) {
  switch (type) {
  case BERTH_TYPE_INT8:
    LOAD(int8_t, to);
  case BERTH_TYPE_INT16:
    LOAD(int16_t, to);
  case BERTH_TYPE_INT32:
    LOAD(int32_t, to);
  case BERTH_TYPE_INT64:
    LOAD(int64_t, to);
  case BERTH_TYPE_UINT16:
    LOAD(uint16_t, to);
  case BERTH_TYPE_UINT32:
    LOAD(uint32_t, to);
  case BERTH_TYPE_UINT64:
    for (uint32_t i = 0; i < count; i++) to[i] = (int64_t)((const uint64_t *)from)[i];
    break;
  case BERTH_TYPE_BOOL:
    for (uint32_t i = 0; i < count; i++) to[i] = ((const uint8_t *)from)[i] != 0;
    break;
  default:
    LOAD(uint8_t, to);
  }
}

static void load_reals(const void *from, berth_tensor_type_t type, double *to, uint32_t count) {
  if (type == BERTH_TYPE_FLOAT32) {
    for (uint32_t i = 0; i < count; i++) to[i] = (double)((const float *)from)[i];
  } else {
    for (uint32_t i = 0; i < count; i++) to[i] = ((const double *)from)[i];
  }
}

#define STORE(type)                                                                                \
  for (uint32_t i = 0; i < count; i++) ((type *)to)[i] = (type)from[i];                            \
  break

static void store_integers(const int64_t *from, berth_tensor_type_t type, void *to,
                           uint32_t count) {
  switch (type) {
  case BERTH_TYPE_INT8:
    STORE(int8_t);
  case BERTH_TYPE_INT16:
    STORE(int16_t);
  case BERTH_TYPE_INT32:
    STORE(int32_t);
  case BERTH_TYPE_UINT16:
    STORE(uint16_t);
  case BERTH_TYPE_UINT32:
    STORE(uint32_t);
  case BERTH_TYPE_INT64:
  case BERTH_TYPE_UINT64:
    STORE(int64_t);
  case BERTH_TYPE_FLOAT32:
    STORE(float);
  case BERTH_TYPE_FLOAT64:
    STORE(double);
  case BERTH_TYPE_BOOL:
    for (uint32_t i = 0; i < count; i++) ((uint8_t *)to)[i] = from[i] != 0;
    break;
  default:
    STORE(uint8_t);
  }
}

/* The least and the largest double that the type holds. */
static double least(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? -128.0
         : type == BERTH_TYPE_INT16 ? -32768.0
         : type == BERTH_TYPE_INT32 ? -2147483648.0
         : type == BERTH_TYPE_INT64 ? -9223372036854775808.0
                                    : 0.0;
}

static double largest(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8     ? 127.0
         : type == BERTH_TYPE_UINT8  ? 255.0
         : type == BERTH_TYPE_INT16  ? 32767.0
         : type == BERTH_TYPE_UINT16 ? 65535.0
         : type == BERTH_TYPE_INT32  ? 2147483647.0
         : type == BERTH_TYPE_UINT32 ? 4294967295.0
         : type == BERTH_TYPE_INT64  ? 9223372036854774784.0
                                     : 18446744073709549568.0;
}

static void store_reals(const double *from, berth_tensor_type_t type, void *to, uint32_t count) {
  int64_t integers[CHUNK];
  if (type == BERTH_TYPE_FLOAT32) {
    for (uint32_t i = 0; i < count; i++) ((float *)to)[i] = (float)from[i];
    return;
  }
  if (type == BERTH_TYPE_FLOAT64) {
    for (uint32_t i = 0; i < count; i++) ((double *)to)[i] = from[i];
    return;
  }
  double low = least(type), high = largest(type);
  for (uint32_t i = 0; i < count; i++) {
    double x = from[i] >= low ? from[i] : low; /* NaN too */
    x = x <= high ? x : high;
    integers[i] = type == BERTH_TYPE_BOOL     ? from[i] < 0 || from[i] > 0 || isnan(from[i])
                  : type == BERTH_TYPE_UINT64 ? (int64_t)(uint64_t)x
                  : isnan(from[i])            ? 0
                                              : (int64_t)x;
  }
  store_integers(integers, type, to, count);
}

static void run(BERTH_RUN_PARAMETERS) {
  const cast_t *cast = params;
  uint32_t from_bytes = berth_element_bytes(cast->from), to_bytes = berth_element_bytes(cast->to);
  (void)steps;
  for (uint32_t done = 0; done < count; done += CHUNK) {
    uint32_t now = count - done < CHUNK ? count - done : CHUNK;
    const uint8_t *source = (const uint8_t *)from[0] + (size_t)done * from_bytes;
    uint8_t *target = (uint8_t *)to + (size_t)done * to_bytes;
    int64_t integers[CHUNK];
    double reals[CHUNK];
    if (is_real(cast->from)) {
      load_reals(source, cast->from, reals, now);
      store_reals(reals, cast->to, target, now);
    } else {
      load_integers(source, cast->from, integers, now);
      store_integers(integers, cast->to, target, now);
    }
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  cast_t cast = {input.type, output.type};
  berth_elementwise_eval(call, &input, 1, run, &cast);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_cast = {
    .code = BERTH_BUILTIN_CAST, .prepare = prepare, .eval = eval};
