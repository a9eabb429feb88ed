/* Elementwise operators on one to three inputs, with NumPy's broadcasting.
 *
 * A kernel gives one function that computes a run of consecutive output elements; the code here
 * finds the shape, states the contract and calls the function for runs that are as long as the
 * shapes allow: a whole tensor where all shapes agree. Within a run each input either advances with
 * the output or stays where it is.
 *
 * A run may overwrite one of its inputs, element by element, so loops over runs must not read ahead
 * of what they write beyond what BERTH_INDEPENDENT lets a compiler do.
 */
#ifndef BERTH_OPERATORS_ELEMENTWISE_H
#define BERTH_OPERATORS_ELEMENTWISE_H

#include "berth/operator.h"

#define BERTH_ELEMENTWISE_MAX 3u /* inputs */

/* Before a loop: its iterations are independent although the output may be one of the inputs. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that calls libm stays as it is */
#define BERTH_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BERTH_INDEPENDENT _Pragma("GCC ivdep")
#else
#define BERTH_INDEPENDENT
#endif

/* Computes `count` elements of `to`. Input i is at from[i]; it advances by one element for each
 * where steps[i] is 1 and stays where it is 0. All pointers are aligned to their elements. */
typedef void (*berth_run_t)(const void *const *from, const uint32_t *steps, void *to,
                            uint32_t count, const void *params);

/* Finds the common shape of the inputs. False: they cannot be broadcast together. */
bool berth_broadcast(const berth_value_t *inputs, uint32_t count, uint32_t *rank, int32_t *dims);

/* prepare: sets the shape of output 0 to the inputs' common one and states the contract. */
berth_status_t berth_elementwise_prepare(berth_call_t *call, berth_contract_t *contract,
                                         const berth_value_t *inputs, uint32_t count);

/* eval: calls `run` for the rows that are wanted. */
void berth_elementwise_eval(berth_call_t *call, const berth_value_t *inputs, uint32_t count,
                            berth_run_t run, const void *params);

/* The commonest prepare: `count` inputs (at most 3) that are present and have output 0's type, or
 * float16 where that is float32 and the kernel takes it so; runs are given float32. */
berth_status_t berth_elementwise_same_type(berth_call_t *call, berth_contract_t *contract,
                                           berth_value_t *inputs, uint32_t count);

/* Defines the run `name` and, where the processor may turn out to have AVX2, the same code compiled
 * for it; BERTH_RUN_FOR picks one of the two. Integer and float results are the same. */
#define BERTH_RUN_PARAMETERS                                                                       \
  const void *const *from, const uint32_t *steps, void *to, uint32_t count, const void *params
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define BERTH_RUN(name, body)                                                                      \
  static void name(BERTH_RUN_PARAMETERS) {                                                         \
    body                                                                                           \
  }                                                                                                \
  __attribute__((target("avx2,fma,f16c"))) static void name##_avx2(BERTH_RUN_PARAMETERS) {         \
    body                                                                                           \
  }
#define BERTH_RUN_FOR(call, name) ((call)->cpu & BERTH_CPU_AVX2 ? name##_avx2 : name)
#else
#define BERTH_RUN(name, body)                                                                      \
  static void name(BERTH_RUN_PARAMETERS) {                                                         \
    body                                                                                           \
  }
#define BERTH_RUN_FOR(call, name) ((void)(call), name)
#endif

/* Runs of two inputs of type `in_t` to elements of type `out_t`: in `expression`, a and b are the
 * elements. Each combination of advancing and staying inputs is a loop of its own. */
#define BERTH_BINARY_RUN(in_t, out_t, expression)                                                  \
  const in_t *left = from[0], *right = from[1];                                                    \
  out_t *result = to;                                                                              \
  (void)params;                                                                                    \
  if (steps[0] == 0) {                                                                             \
    const in_t a = *left;                                                                          \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < count; i++) {                                                         \
      const in_t b = right[(size_t)i * steps[1]];                                                  \
      result[i] = (out_t)(expression);                                                             \
    }                                                                                              \
  } else if (steps[1] == 0) {                                                                      \
    const in_t b = *right;                                                                         \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < count; i++) {                                                         \
      const in_t a = left[i];                                                                      \
      result[i] = (out_t)(expression);                                                             \
    }                                                                                              \
  } else {                                                                                         \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < count; i++) {                                                         \
      const in_t a = left[i], b = right[i];                                                        \
      result[i] = (out_t)(expression);                                                             \
    }                                                                                              \
  }

/* Runs of one input: in `expression`, x is the element. */
#define BERTH_UNARY_RUN(in_t, out_t, expression)                                                   \
  const in_t *source = from[0];                                                                    \
  out_t *result = to;                                                                              \
  (void)steps;                                                                                     \
  (void)params;                                                                                    \
  BERTH_INDEPENDENT                                                                                \
  for (uint32_t i = 0; i < count; i++) {                                                           \
    const in_t x = source[i];                                                                      \
    result[i] = (out_t)(expression);                                                               \
  }

#endif
