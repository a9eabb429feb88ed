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
} berth_fully_connected_variant_t;

/* ---- Variants -------------------------------------------------------------------------------- */

berth_status_t berth_fully_connected_int8_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                  berth_contract_t *);
berth_status_t berth_fully_connected_int8_init(berth_call_t *, const berth_fully_connected_t *);
berth_status_t berth_fully_connected_int8_eval(berth_call_t *, const berth_fully_connected_t *,
                                               const uint8_t *in, uint8_t *out, uint32_t count);
berth_status_t berth_fully_connected_int16_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                   berth_contract_t *);
berth_status_t berth_fully_connected_int16_init(berth_call_t *, const berth_fully_connected_t *);
berth_status_t berth_fully_connected_int16_eval(berth_call_t *, const berth_fully_connected_t *,
                                                const uint8_t *in, uint8_t *out, uint32_t count);
berth_status_t berth_fully_connected_float_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                   berth_contract_t *);
berth_status_t berth_fully_connected_float_eval(berth_call_t *, const berth_fully_connected_t *,
                                                const uint8_t *in, uint8_t *out, uint32_t count);
berth_status_t berth_fully_connected_hybrid_prepare(berth_call_t *, const berth_fully_connected_t *,
                                                    berth_contract_t *);
berth_status_t berth_fully_connected_hybrid_eval(berth_call_t *, const berth_fully_connected_t *,
                                                 const uint8_t *in, uint8_t *out, uint32_t count);

#endif
