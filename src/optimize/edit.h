/* An editable form of a model: what the transforms of `berth optimize` change, and nothing else.
 *
 * The model's file stays as it is. An edit holds for each subgraph the list of its operators and of
 * its tensors, each with the number it has in the file (`origin`), so that they can be reordered,
 * dropped and connected anew; shapes and constants can be replaced, and new constants and metadata
 * added. Everything else - quantization, names, options, custom options, whatever a later schema
 * adds - is reached through `origin`, and is never copied (see write.h).
 *
 *   berth_edit_t edit;
 *   berth_edit_open(&model, &edit);
 *   ... change edit.subgraphs[0].operators ...
 *   berth_edit_write(&edit, sink, user, NULL);
 *   berth_edit_close(&edit);
 *
 * Used by the transforms and by the writer. Memory is on the heap, in proportion to the numbers of
 * tensors and operators; weights are not touched.
 */
#ifndef BERTH_OPTIMIZE_EDIT_H
#define BERTH_OPTIMIZE_EDIT_H

#include "berth/model.h"

/* A list of tensor numbers, or of dimensions. */
typedef struct berth_edit_list {
  int32_t *values; /* on the heap; NULL if count is 0 */
  uint32_t count;
} berth_edit_list_t;

#define BERTH_EDIT_OPTIONS_MAX 2u /* fields of an operator's options that can be replaced */

/* Another value for a field of an operator's options that is one byte wide (an enumeration). */
typedef struct berth_edit_option {
  uint32_t field;
  uint8_t value;
} berth_edit_option_t;

typedef struct berth_edit_operator {
  uint32_t origin; /* its number in the file's subgraph */
  berth_edit_list_t inputs;
  berth_edit_list_t outputs;
  berth_edit_list_t intermediates;
  berth_edit_option_t options[BERTH_EDIT_OPTIONS_MAX];
  uint32_t option_count;
} berth_edit_operator_t;

#define BERTH_EDIT_SAME UINT32_MAX /* the file's buffer */

typedef struct berth_edit_tensor {
  uint32_t origin;         /* its number in the file's subgraph */
  uint32_t buffer;         /* another constant, or BERTH_EDIT_SAME */
  bool reshaped;           /* `shape` replaces the file's, and there is no shape signature */
  berth_edit_list_t shape; /* if reshaped */
} berth_edit_tensor_t;

typedef struct berth_edit_subgraph {
  berth_edit_operator_t *operators; /* in the order of execution */
  uint32_t operator_count;
  berth_edit_tensor_t *tensors;
  uint32_t tensor_count;
  berth_edit_list_t inputs;
  berth_edit_list_t outputs;
} berth_edit_subgraph_t;

/* A constant that the file doesn't have. */
typedef struct berth_edit_buffer {
  uint8_t *data; /* on the heap */
  uint32_t size;
} berth_edit_buffer_t;

/* Metadata that the file has not, or has otherwise. */
typedef struct berth_edit_metadata {
  const char *name; /* the caller's, to outlive the edit */
  uint32_t buffer;
} berth_edit_metadata_t;

#define BERTH_EDIT_METADATA_MAX 4u

typedef struct berth_edit {
  const berth_model_t *model;
  berth_edit_subgraph_t *subgraphs; /* model->subgraph_count */
  berth_edit_buffer_t *buffers;     /* new ones, numbered from model->buffer_count */
  uint32_t buffer_count;
  berth_edit_metadata_t metadata[BERTH_EDIT_METADATA_MAX];
  uint32_t metadata_count;
} berth_edit_t;

/* An edit that changes nothing; `model` and its bytes must outlive it. Errors: MEMORY. */
berth_status_t berth_edit_open(const berth_model_t *model, berth_edit_t *edit);
void berth_edit_close(berth_edit_t *edit);

/* Puts the operators of a subgraph into another order: `order[k]` is which comes k-th, of those
 * that the edit has now. Errors: ARGUMENT (not a permutation), MEMORY. */
berth_status_t berth_edit_reorder(berth_edit_t *edit, uint32_t subgraph, const uint32_t *order);

/* Drops operator number `op` of the edit. */
void berth_edit_drop_operator(berth_edit_t *edit, uint32_t subgraph, uint32_t op);

/* Adds a constant, of which a copy is taken; its number is in `*buffer`. Errors: MEMORY, OVERFLOW
 * (it is too large for a FlatBuffer). */
berth_status_t berth_edit_add_buffer(berth_edit_t *edit, const void *data, uint64_t size,
                                     uint32_t *buffer);

/* Adds the metadata entry `name`, or gives it another content; nothing changes if the file has it
 * with this very content. Errors: MEMORY, OVERFLOW, UNSUPPORTED (too many entries). */
berth_status_t berth_edit_set_metadata(berth_edit_t *edit, const char *name, const void *data,
                                       uint64_t size);

/* Replaces a tensor's shape. Errors: MEMORY. */
berth_status_t berth_edit_set_shape(berth_edit_t *edit, uint32_t subgraph, uint32_t tensor,
                                    const int32_t *dims, uint32_t rank);

/* Does the list hold the same numbers as the file's? */
bool berth_edit_list_is(const berth_edit_list_t *list, berth_vector_t vector);

#endif
