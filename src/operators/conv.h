/* What the two-dimensional convolutions have in common, whatever their types: the geometry, and the
 * way from a convolution to a matrix product.
 *
 * CONV_2D and DEPTHWISE_CONV_2D read a berth_conv_t from each call (nothing is stored), and hand it
 * to the functions of one pair of types. A float kernel joins in by a line in the table of
 * conv_2d.c.
 */
#ifndef BERTH_OPERATORS_CONV_H
#define BERTH_OPERATORS_CONV_H

#include "berth/operator.h"

/* One convolution, from the options and shapes of its operator. */
typedef struct berth_conv {
  berth_value_t input, filter, output;
  berth_value_t bias;                    /* may be absent */
  uint32_t batches;                      /* images; 1 for most models */
  uint32_t input_h, input_w, input_c;    /* of one image */
  uint32_t filter_h, filter_w;           /* taps */
  uint32_t filter_c;                     /* input channels that an output channel reads */
  uint32_t output_h, output_w, output_c; /* of one image */
  uint32_t groups;                       /* channels are cut into so many independent parts */
  uint32_t stride_h, stride_w;           /* at least 1 */
  uint32_t dilation_h, dilation_w;       /* at least 1 */
  uint32_t pad_h, pad_w;                 /* rows above, columns to the left of the image */
  int32_t activation;                    /* berth_activation_t */
  uint64_t pixels; /* output_h x output_w of the whole image, also while a part is evaluated */
  bool columns;    /* the columns of the image are the tensors' rows (height 1) */
  uint32_t keep;   /* eval: the slot in which to keep what follows from filter and geometry for the
                      next piece (berth_keep); 0: there is none, the call is for all rows */
} berth_conv_t;

/* How the functions for one pair of types look. */
typedef struct berth_conv_variant {
  berth_tensor_type_t input, filter, output;
  /* Checks what depends on the types and asks for scratch and workspace; the rest of the contract
   * and the output's shape are set already. */
  berth_status_t (*prepare)(berth_call_t *call, const berth_conv_t *conv,
                            berth_contract_t *contract);
  berth_status_t (*init)(berth_call_t *call, const berth_conv_t *conv); /* or NULL */
  berth_status_t (*eval)(berth_call_t *call, const berth_conv_t *conv);
} berth_conv_variant_t;

/* Reads a convolution. `depthwise`: the filter is [1, h, w, output channels] and the groups are the
 * input channels. output_h and output_w are computed; output's dims are not looked at. Refuses what
 * makes no sense. */
berth_status_t berth_conv_read(berth_call_t *call, bool depthwise, berth_conv_t *conv);

/* prepare, init and eval of a kernel with these variants (ended by a NULL prepare). */
berth_status_t berth_conv_prepare(berth_call_t *call, berth_contract_t *contract, bool depthwise,
                                  const berth_conv_variant_t *variants);
berth_status_t berth_conv_init(berth_call_t *call, bool depthwise,
                               const berth_conv_variant_t *variants);
berth_status_t berth_conv_eval(berth_call_t *call, bool depthwise,
                               const berth_conv_variant_t *variants);

/* ---- Columns as rows: conv_columns.c ---- */

/* Can a convolution whose `columns` are rows be evaluated some of them at a time? */
bool berth_conv_columns_are_local(const berth_conv_t *conv);

/* eval for columns [call->first_row, call->last_row), by `variant`. */
berth_status_t berth_conv_columns_eval(const berth_call_t *call, const berth_conv_t *conv,
                                       const berth_conv_variant_t *variant);

/* eval, where output row r reads input row r alone: do the rows that are wanted lie one after the
 * other, in either? */
bool berth_conv_rows_adjoin(const berth_call_t *call, const berth_conv_t *conv);

/* ---- Borders ---- */

/* The taps of a filter that lie in the image, along one axis: [first, last), of which the first is
 * at `at` in the image. */
typedef struct berth_taps {
  uint32_t first, last, at;
} berth_taps_t;

static inline berth_taps_t berth_taps(uint32_t output, uint32_t stride, uint32_t pad,
                                      uint32_t dilation, uint32_t taps, uint32_t input) {
  int64_t start = (int64_t)output * stride - pad, end = (int64_t)input - start;
  int64_t first = start < 0 ? -start : 0, last = end > 0 ? end : 0; /* in pixels of the image */
  if (dilation != 1) {
    first = (first + dilation - 1) / dilation;
    last = (last + dilation - 1) / dilation;
  }
  if (last > taps) last = taps;
  if (first > last) first = last;
  return (berth_taps_t){(uint32_t)first, (uint32_t)last, (uint32_t)(start + first * dilation)};
}

/* Output pixels [*first, *last) of a row have all their taps inside the image, from side to side.
 */
void berth_conv_inside(const berth_conv_t *conv, uint32_t *first, uint32_t *last);

/* ---- Convolution as a matrix product --------------------------------------------------------- */

/* Computes the output channels of `group` for `count` pixels: their inputs (filter_h x filter_w x
 * filter_c elements in the filter's order) start `in_step` bytes apart, their outputs `out_step`.
 */
typedef void berth_conv_product_t(const void *context, uint32_t group, const uint8_t *in,
                                  size_t in_step, uint8_t *out, size_t out_step, uint32_t count);

/* Whether every pixel's inputs lie together in the input: 1x1 without padding. */
bool berth_conv_in_place(const berth_conv_t *conv);

/* Copies the inputs of output pixel (x, y) of image `batch` for `group` to `to`, filter row after
 * filter row `row_step` bytes apart, with `fill` for what lies outside. `element`: bytes of an
 * element. */
void berth_conv_gather(const berth_conv_t *conv, uint32_t element, uint8_t fill, uint32_t batch,
                       uint32_t y, uint32_t x, uint32_t group, uint8_t *to, size_t row_step);

/* Where products keep what they gather: in scratch as far as there is some, else on the stack. */
#define BERTH_CONV_STACK 1024u /* bytes, for the factors and for the patches of a few pixels */
typedef struct berth_conv_room {
  _Alignas(8) uint8_t stack[BERTH_CONV_STACK];
  void *factors;    /* of all channels; NULL: there is no room, or no need */
  uint8_t *patches; /* where every pixel's inputs lie together already, nothing is gathered */
  uint32_t patch_bytes;
} berth_conv_room_t;

/* Bytes of all patches that berth_conv_run can use at a time; 0 where nothing is gathered. */
uint32_t berth_conv_patch_bytes(const berth_conv_t *conv, uint32_t element);

/* prepare: wishes for as much scratch as berth_conv_run can use. `element`: bytes of an input
 * element. `factors`: bytes for all channels' factors, 0 if they are kept elsewhere. */
void berth_conv_wish(const berth_conv_t *conv, uint32_t element, uint32_t factors,
                     berth_contract_t *contract);

/* eval: divides what there is. False: not even one patch fits; use berth_conv_each. */
bool berth_conv_find_room(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                          uint32_t factors, berth_conv_room_t *room);

/* Without room for patches: calls `tap` for every tap inside the image of every output pixel, in
 * the filter's order: `in` and `filter` are filter_c elements, of the input and of one output
 * channel. `finish` comes after the last tap of each output element. Slow, and the same sums. */
typedef struct berth_conv_each {
  void (*tap)(void *context, const uint8_t *in, const uint8_t *filter, uint32_t count);
  void (*finish)(void *context, uint32_t channel, uint8_t *out);
  void *context;
} berth_conv_each_t;
void berth_conv_each(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                     uint32_t output_element, const berth_conv_each_t *each);

/* Runs `product` over the output rows that the call asks for. `fill` is the byte that stands for
 * zero in padding. */
void berth_conv_run(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                    uint32_t output_element, uint8_t fill, const berth_conv_room_t *room,
                    berth_conv_product_t *product, const void *context);

/* ---- Variants -------------------------------------------------------------------------------- */

berth_status_t berth_conv_int8_prepare(berth_call_t *, const berth_conv_t *, berth_contract_t *);
berth_status_t berth_conv_int8_init(berth_call_t *, const berth_conv_t *);
berth_status_t berth_conv_int8_eval(berth_call_t *, const berth_conv_t *);
berth_status_t berth_conv_int16_prepare(berth_call_t *, const berth_conv_t *, berth_contract_t *);
berth_status_t berth_conv_int16_init(berth_call_t *, const berth_conv_t *);
berth_status_t berth_conv_int16_eval(berth_call_t *, const berth_conv_t *);
berth_status_t berth_conv_float_prepare(berth_call_t *, const berth_conv_t *, berth_contract_t *);
berth_status_t berth_conv_float_eval(berth_call_t *, const berth_conv_t *);

berth_status_t berth_conv_hybrid_prepare(berth_call_t *, const berth_conv_t *, berth_contract_t *);
berth_status_t berth_conv_hybrid_eval(berth_call_t *, const berth_conv_t *);

berth_status_t berth_depthwise_int8_prepare(berth_call_t *, const berth_conv_t *,
                                            berth_contract_t *);
berth_status_t berth_depthwise_int8_init(berth_call_t *, const berth_conv_t *);
berth_status_t berth_depthwise_int8_eval(berth_call_t *, const berth_conv_t *);
berth_status_t berth_depthwise_int16_prepare(berth_call_t *, const berth_conv_t *,
                                             berth_contract_t *);
berth_status_t berth_depthwise_int16_init(berth_call_t *, const berth_conv_t *);
berth_status_t berth_depthwise_int16_eval(berth_call_t *, const berth_conv_t *);
berth_status_t berth_depthwise_float_prepare(berth_call_t *, const berth_conv_t *,
                                             berth_contract_t *);
berth_status_t berth_depthwise_float_eval(berth_call_t *, const berth_conv_t *);

#endif
