/* Another shape for a graph input, as the command line gives it. */
#ifndef BERTH_SRC_HOST_NAMED_SHAPE_H
#define BERTH_SRC_HOST_NAMED_SHAPE_H

#include "berth/model.h"

typedef struct berth_named_shape {
  const char *name; /* the tensor's, the signature's for it, or the input's number */
  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
} berth_named_shape_t;

/* Number of the graph input that is called so, or BERTH_NOBODY; likewise of an output. */
uint32_t berth_input_named(const berth_model_t *model, const char *name);
uint32_t berth_output_named(const berth_model_t *model, const char *name);

#endif
