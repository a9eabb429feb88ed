/* Fixes the shapes of graph inputs in a model, and all shapes that follow from them.
 *
 * Converters leave dimensions open (-1 in shape_signature) that a device will never change. With
 * them fixed, every tensor has a size, and a runtime that cannot resize can run the model.
 */
#ifndef BERTH_OPTIMIZE_SET_SHAPE_H
#define BERTH_OPTIMIZE_SET_SHAPE_H

#include "berth/operator.h"
#include "optimize/edit.h"

typedef struct berth_input_shape {
  uint32_t input; /* number of the graph input */
  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
} berth_input_shape_t;

typedef struct berth_set_shape_report {
  uint32_t changed; /* tensors whose shape is another, or was open */
  uint32_t unknown; /* tensors whose shape is known only at run time all the same */
  const char *why;  /* on OPERATOR: a static phrase, or NULL */
  uint32_t op;      /* on OPERATOR: which (of `subgraph`) */
  uint32_t subgraph;
} berth_set_shape_report_t;

/* Asks Berth's kernels for the shapes that follow. The edit must not have been changed yet.
 * Errors: MEMORY, OVERFLOW, ARGUMENT (no such input), OPERATOR (one has no kernel, or refuses the
 * new shapes: see the report). */
berth_status_t berth_set_shapes(berth_edit_t *edit, const berth_input_shape_t *shapes,
                                uint32_t count, berth_set_shape_report_t *report);

#endif
