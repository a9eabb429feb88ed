/* FULLY_CONNECTED: what its variants have in common, whatever their types. */
#ifndef BERTH_OPERATORS_FULLY_CONNECTED_H
#define BERTH_OPERATORS_FULLY_CONNECTED_H

#include "berth/operator.h"

/* One layer, from the options and shapes of its operator: `batches` vectors of `depth` elements
 * become as many of `units` elements. */
typedef struct berth_fully_connected {
  berth_value_t input, filter, output;
  berth_value_t bias; /* may be absent */
  uint32_t batches, depth, units;
  bool keep_dims; /* the output has the input's shape but for the last dimension */
  int32_t activation;
} berth_fully_connected_t;

/* How the functions for one pair of types look. */
typedef struct berth_fully_connected_variant {
  berth_tensor_type_t input, filter, output;
  berth_status_t (*prepare)(berth_call_t *call, const berth_fully_connected_t *layer,
                            berth_contract_t *contract);
  berth_status_t (*init)(berth_call_t *call, const berth_fully_connected_t *layer); /* or NULL */
  /* `count` vectors, from `in` to `out`. */
  berth_status_t (*eval)(berth_call_t *call, const berth_fully_connected_t *layer,
                         const uint8_t *in, uint8_t *out, uint32_t count);
  /* One vector, piece by piece, with sums in scratch[0] (zero at first), which has `sum_bytes` for
   * each unit, rounded up to eight units, and `sum_extra` more. NULL: cannot. */
  void (*accumulate)(const berth_call_t *call, const berth_fully_connected_t *layer, uint32_t at,
                     const uint8_t *in, uint32_t count); /* elements [at, at + count) */
  void (*finish)(const berth_call_t *call, const berth_fully_connected_t *layer, uint8_t *out);
  uint32_t sum_bytes, sum_extra;
} berth_fully_connected_variant_t;

/* Units that are done together; sums are there for a multiple of them. */
#define BERTH_FULLY_CONNECTED_UNITS 8u

/* ---- Variants -------------------------------------------------------------------------------- */

berth_status_t berth_fully_connected_int8_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                  berth_contract_t *);
berth_status_t berth_fully_connected_int8_init(berth_call_t *, const berth_fully_connected_t *);
berth_status_t berth_fully_connected_int8_eval(berth_call_t *, const berth_fully_connected_t *,
                                               const uint8_t *in, uint8_t *out, uint32_t count);
void berth_fully_connected_int8_accumulate(const berth_call_t *, const berth_fully_connected_t *,
                                           uint32_t at, const uint8_t *in, uint32_t count);
void berth_fully_connected_int8_finish(const berth_call_t *, const berth_fully_connected_t *,
                                       uint8_t *out);
berth_status_t berth_fully_connected_int16_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                   berth_contract_t *);
berth_status_t berth_fully_connected_int16_init(berth_call_t *, const berth_fully_connected_t *);
berth_status_t berth_fully_connected_int16_eval(berth_call_t *, const berth_fully_connected_t *,
                                                const uint8_t *in, uint8_t *out, uint32_t count);
void berth_fully_connected_int16_accumulate(const berth_call_t *, const berth_fully_connected_t *,
                                            uint32_t at, const uint8_t *in, uint32_t count);
void berth_fully_connected_int16_finish(const berth_call_t *, const berth_fully_connected_t *,
                                        uint8_t *out);
berth_status_t berth_fully_connected_float_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                   berth_contract_t *);
berth_status_t berth_fully_connected_float_eval(berth_call_t *, const berth_fully_connected_t *,
                                                const uint8_t *in, uint8_t *out, uint32_t count);
void berth_fully_connected_float_accumulate(const berth_call_t *, const berth_fully_connected_t *,
                                            uint32_t at, const uint8_t *in, uint32_t count);
void berth_fully_connected_float_finish(const berth_call_t *, const berth_fully_connected_t *,
                                        uint8_t *out);
berth_status_t berth_fully_connected_hybrid_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                    berth_contract_t *);
berth_status_t berth_fully_connected_hybrid_eval(berth_call_t *, const berth_fully_connected_t *,
                                                 const uint8_t *in, uint8_t *out, uint32_t count);

#endif
