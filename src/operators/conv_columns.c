/* Convolutions of images of height 1, whose columns are the tensors' rows: 1-D convolutions, as
 * TFLite writes them.
 *
 * The variants go along the width, which is fast, as long as the columns that they need lie one
 * after the other in their rings: so columns are cut into stretches, each of which is an image of
 * its own, with the padding that is left of it. A column whose inputs are where a ring wraps is
 * evaluated with height and width exchanged: the filter's bytes are the same, and every tap then
 * has a row of its own. In both cases sums are added up in the same order.
 */
#include "operators/conv.h"

bool berth_conv_columns_are_local(const berth_conv_t *conv) {
  return conv->filter_h == 1;
}

/* Input columns [first, last) that some output columns read, and the columns of padding before. */
typedef struct reach {
  uint32_t first, last, pad;
} reach_t;

static uint64_t filter_reach(const berth_conv_t *conv) {
  return (uint64_t)(conv->filter_w - 1) * conv->dilation_w + 1;
}

/* Cuts a stretch of output columns off [first, last); returns where it ends, or `first` if not even
 * one column's inputs lie together. */
static uint32_t cut(const berth_conv_t *conv, uint32_t first, uint32_t last, reach_t *reach) {
  const berth_value_t *input = &conv->input, *output = &conv->output;
  uint64_t start = (uint64_t)first * conv->stride_w, pad = conv->pad_w;
  uint64_t from = start > pad ? start - pad : 0; /* the first input column */
  if (from >= conv->input_w) return first;
  uint64_t room = output->ring - first % output->ring;
  uint64_t to = room < last - first ? first + room : last;
  uint64_t wrap = from + input->ring - from % input->ring;
  if (wrap < conv->input_w) {
    if (wrap + pad < start + filter_reach(conv)) return first;
    uint64_t most = (wrap + pad - filter_reach(conv)) / conv->stride_w + 1;
    if (most < to) to = most;
  }
  uint64_t end = (to - 1) * conv->stride_w + filter_reach(conv); /* with the padding */
  end = end > pad ? end - pad : 0;
  if (end > conv->input_w) end = conv->input_w;
  if (end <= from) end = from + 1;
  *reach = (reach_t){(uint32_t)from, (uint32_t)end, start < pad ? (uint32_t)(pad - start) : 0};
  return (uint32_t)to;
}

/* Columns [first, last) of a tensor as an image of its own. */
static berth_value_t image_of(const berth_value_t *value, uint32_t first, uint32_t last) {
  berth_value_t image = *value;
  image.data = berth_row(value, first);
  image.bytes = image.row_bytes = (last - first) * value->row_bytes;
  image.elements = (last - first) * (value->elements / value->rows);
  image.rows = image.ring = 1;
  return image;
}

/* Output columns [first, last), which read `reach`. */
static berth_status_t eval_stretch(const berth_call_t *call, const berth_conv_t *conv,
                                   const berth_conv_variant_t *variant, uint32_t first,
                                   uint32_t last, reach_t reach) {
  berth_conv_t part = *conv;
  berth_call_t own = *call;
  part.input = image_of(&conv->input, reach.first, reach.last);
  part.output = image_of(&conv->output, first, last);
  part.input_w = reach.last - reach.first;
  part.output_w = last - first;
  part.pad_w = reach.pad;
  own.first_row = 0;
  own.last_row = 1;
  return variant->eval(&own, &part);
}

/* One output column, with the image on its side. */
static berth_status_t eval_turned(const berth_call_t *call, const berth_conv_t *conv,
                                  const berth_conv_variant_t *variant, uint32_t column) {
  berth_conv_t turned = *conv;
  berth_call_t own = *call;
  turned.input_h = conv->input_w;
  turned.filter_h = conv->filter_w;
  turned.output_h = conv->output_w;
  turned.stride_h = conv->stride_w;
  turned.dilation_h = conv->dilation_w;
  turned.pad_h = conv->pad_w;
  turned.input_w = turned.filter_w = turned.output_w = turned.stride_w = turned.dilation_w = 1;
  turned.pad_w = 0;
  if (conv->keep != 0) turned.keep = 2; /* another geometry */
  own.first_row = column;
  own.last_row = column + 1;
  return variant->eval(&own, &turned);
}

berth_status_t berth_conv_columns_eval(const berth_call_t *call, const berth_conv_t *conv,
                                       const berth_conv_variant_t *variant) {
  for (uint32_t first = call->first_row; first < call->last_row;) {
    reach_t reach;
    uint32_t last = cut(conv, first, call->last_row, &reach);
    berth_status_t status = last > first ? eval_stretch(call, conv, variant, first, last, reach)
                                         : eval_turned(call, conv, variant, first);
    if (status != BERTH_OK) return status;
    first = last > first ? last : first + 1;
  }
  return BERTH_OK;
}
