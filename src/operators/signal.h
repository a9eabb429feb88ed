/* What the Signal* operators share: their options, and checks of vectors. */
#ifndef BERTH_OPERATORS_SIGNAL_H
#define BERTH_OPERATORS_SIGNAL_H

#include "operators/flexbuffer.h"
#include "operators/kernels.h"

/* The option of that name, which must be in [least, most]; refuses if it isn't there. */
static inline berth_status_t berth_signal_option(berth_call_t *call, const char *name,
                                                 int64_t least, int64_t most, int32_t *value) {
  berth_flexbuffer_t map;
  int64_t number;
  if (!berth_flexbuffer_open(call->op.custom_options, &map) ||
      !berth_flexbuffer_int(&map, name, &number)) {
    return berth_refuse(call, "lacks one of its options");
  }
  if (number < least || number > most) return berth_refuse(call, "has an option out of range");
  *value = (int32_t)number;
  return BERTH_OK;
}

/* Is it there, of that type and known? */
static inline bool berth_signal_is(const berth_value_t *value, berth_tensor_type_t type) {
  return value->present && value->type == type;
}

#endif
