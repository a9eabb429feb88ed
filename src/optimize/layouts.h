/* How the schema's tables store their fields, for those that the writer copies: one character per
 * field, in the order of schema.fbs (see berth_head_layout_t). Schema 3d. */
#ifndef BERTH_OPTIMIZE_LAYOUTS_H
#define BERTH_OPTIMIZE_LAYOUTS_H

#include "optimize/head.h"

#define LAYOUT_MODEL        "4rrrrrrrrr"
#define LAYOUT_SUBGRAPH     "rrrrr4"
#define LAYOUT_TENSOR       "r14rr1rr1r4"
#define LAYOUT_OPERATOR     "4rr1rr1rra81r4"
#define LAYOUT_BUFFER       "ra8"
#define LAYOUT_METADATA     "r4"
#define LAYOUT_SIGNATURE    "rrrr4"
#define LAYOUT_MAP          "r4"
#define LAYOUT_CODE         "1r44"
#define LAYOUT_QUANTIZATION "rrrr1r4"

/* The layout of an operator's options, if all of its fields are numbers and the table may thus be
 * copied; else NULL. Defined for those whose fields transforms replace. */
static inline berth_head_layout_t options_layout(berth_builtin_t code) {
  switch (code) {
  case BERTH_BUILTIN_CONV_2D:
    return "1441441";
  case BERTH_BUILTIN_DEPTHWISE_CONV_2D:
    return "1444144";
  case BERTH_BUILTIN_AVERAGE_POOL_2D:
  case BERTH_BUILTIN_MAX_POOL_2D:
  case BERTH_BUILTIN_L2_POOL_2D:
    return "144441";
  case BERTH_BUILTIN_FULLY_CONNECTED:
    return "11111";
  case BERTH_BUILTIN_ADD:
  case BERTH_BUILTIN_SUB:
    return "11";
  case BERTH_BUILTIN_MUL:
  case BERTH_BUILTIN_DIV:
    return "1";
  case BERTH_BUILTIN_CONCATENATION:
    return "41";
  case BERTH_BUILTIN_TRANSPOSE_CONV:
    return "14411";
  default:
    return NULL;
  }
}

#endif
