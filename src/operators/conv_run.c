/* Cuts a convolution into matrix products: used by the CONV_2D variants of every type.
 *
 * A pixel's inputs, in the order of the filter, are one row of the product's left matrix. With 1x1
 * filters they lie together in the input and are read in place; otherwise a few pixels' worth (a
 * strip) is gathered into scratch, with padding filled in, so that the product knows nothing about
 * borders, dilation, groups or rings. Never is the image expanded as a whole: a strip takes about
 * 2 KB, or three pixels where the filter is larger.
 */
#include "operators/conv.h"
#include <string.h>

#define STRIP_BYTES  2048u /* aim */
#define STRIP_PIXELS 3u    /* products work on so many pixels at a time: strips are multiples */
#define STRIP_MOST   24u   /* pixels; more don't make it faster */

/* Bytes from one patch to the next. */
static uint32_t patch_step(const berth_conv_t *conv, uint32_t element) {
  return conv->filter_h * conv->filter_w * conv->filter_c * element;
}

bool berth_conv_in_place(const berth_conv_t *conv) {
  return conv->filter_h == 1 && conv->filter_w == 1 && conv->pad_h == 0 && conv->pad_w == 0;
}

static uint32_t strip_pixels(const berth_conv_t *conv, uint32_t element) {
  uint32_t pixels = STRIP_BYTES / patch_step(conv, element);
  if (pixels > STRIP_MOST) pixels = STRIP_MOST;
  if (pixels > conv->output_w) pixels = conv->output_w;
  if (pixels < STRIP_PIXELS) pixels = conv->output_w < STRIP_PIXELS ? conv->output_w : STRIP_PIXELS;
  return pixels > STRIP_PIXELS ? pixels - pixels % STRIP_PIXELS : pixels;
}

/* Bytes of one patch; 0 where nothing is gathered. */
static uint32_t one_patch(const berth_conv_t *conv, uint32_t element) {
  return berth_conv_in_place(conv) ? 0 : patch_step(conv, element);
}

uint32_t berth_conv_patch_bytes(const berth_conv_t *conv, uint32_t element) {
  return berth_conv_in_place(conv) ? 0 : strip_pixels(conv, element) * patch_step(conv, element);
}

void berth_conv_wish(const berth_conv_t *conv, uint32_t element, uint32_t factors,
                     berth_contract_t *contract) {
  uint32_t patch = one_patch(conv, element);
  if (patch == 0) return;
  contract->wish = factors + berth_conv_patch_bytes(conv, element);
}

bool berth_conv_find_room(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                          uint32_t factors, berth_conv_room_t *room) {
  uint32_t patch = one_patch(conv, element);
  room->factors = NULL;
  room->patches = NULL;
  room->patch_bytes = 0;
  if (patch == 0) return true;
  uint8_t *scratch = call->scratch[0];
  uint32_t scratch_bytes = call->scratch_bytes, stack_bytes = BERTH_CONV_STACK;
  uint8_t *stack = room->stack;
  if (factors > 0 && scratch_bytes >= factors + patch) {
    room->factors = scratch;
    scratch += factors;
    scratch_bytes -= factors;
  } else if (factors > 0 && factors <= BERTH_CONV_STACK / 2 &&
             (patch <= BERTH_CONV_STACK - factors || patch <= scratch_bytes)) {
    room->factors = stack;
    stack += factors;
    stack_bytes -= factors;
  }
  bool on_stack = stack_bytes >= patch && stack_bytes > scratch_bytes;
  room->patches = on_stack ? stack : scratch;
  room->patch_bytes = on_stack ? stack_bytes : scratch_bytes;
  return room->patch_bytes >= patch;
}

void berth_conv_each(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                     uint32_t output_element, const berth_conv_each_t *each) {
  uint32_t group_size = conv->output_c / conv->groups;
  size_t tap = (size_t)conv->filter_c * element, pixel = (size_t)conv->input_c * element;
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t batch = row / conv->output_h, y = row % conv->output_h;
    berth_taps_t v =
        berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
    uint8_t *out = berth_row(&conv->output, row);
    for (uint32_t x = 0; x < conv->output_w; x++) {
      berth_taps_t h = berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w,
                                  conv->input_w);
      for (uint32_t c = 0; c < conv->output_c; c++, out += output_element) {
        const uint8_t *filter =
            conv->filter.data + (size_t)c * conv->filter_h * conv->filter_w * conv->filter_c;
        for (uint32_t i = v.first; i < v.last; i++) {
          uint32_t input_y = v.at + (i - v.first) * conv->dilation_h;
          const uint8_t *in =
              (const uint8_t *)berth_row(&conv->input, batch * conv->input_h + input_y) +
              c / group_size * tap;
          for (uint32_t j = h.first; j < h.last; j++) {
            uint32_t input_x = h.at + (j - h.first) * conv->dilation_w;
            each->tap(each->context, in + input_x * pixel,
                      filter + ((size_t)i * conv->filter_w + j) * conv->filter_c, conv->filter_c);
          }
        }
        each->finish(each->context, c, out);
      }
    }
  }
}

/* memcpy and memset for the few bytes that a row of a filter has: calls would cost more than they
 * copy. */
static inline void copy(uint8_t *to, const uint8_t *from, size_t size) {
  if (size >= 4 && size <= 8) { /* two overlapping words */
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + size - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + size - 4, &last, 4);
  } else if (size > 8 && size <= 16) {
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + size - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + size - 8, &last, 8);
  } else if (size < 4) {
    for (size_t i = 0; i < size; i++) to[i] = from[i];
  } else {
    memcpy(to, from, size);
  }
}

static inline void set(uint8_t *to, uint8_t value, size_t size) {
  if (size == 0) return;
  memset(to, value, size);
}

void berth_conv_gather(const berth_conv_t *conv, uint32_t element, uint8_t fill, uint32_t batch,
                       uint32_t y, uint32_t x, uint32_t group, uint8_t *to, size_t row_step) {
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  size_t inside = h.last - h.first;
  size_t pixel = (size_t)conv->input_c * element; /* of the input */
  size_t tap = (size_t)conv->filter_c * element;  /* of the patch */
  for (uint32_t i = 0; i < conv->filter_h; i++, to += row_step) {
    int64_t input_y = (int64_t)y * conv->stride_h - conv->pad_h + (int64_t)i * conv->dilation_h;
    if (input_y < 0 || input_y >= conv->input_h || inside == 0) {
      set(to, fill, conv->filter_w * tap);
      continue;
    }
    const uint8_t *from =
        (const uint8_t *)berth_row(&conv->input, batch * conv->input_h + (uint32_t)input_y) +
        h.at * pixel + group * tap;
    set(to, fill, h.first * tap);
    if (tap == pixel && conv->dilation_w == 1) {
      copy(to + h.first * tap, from, inside * tap);
    } else {
      for (size_t j = 0; j < inside; j++) {
        copy(to + (h.first + j) * tap, from + j * conv->dilation_w * pixel, tap);
      }
    }
    set(to + h.last * tap, fill, (conv->filter_w - h.last) * tap);
  }
}

void berth_conv_run(const berth_call_t *call, const berth_conv_t *conv, uint32_t element,
                    uint32_t output_element, uint8_t fill, const berth_conv_room_t *room,
                    berth_conv_product_t *product, const void *context) {
  size_t in_pixel = (size_t)conv->input_c * element;
  size_t out_pixel = (size_t)conv->output_c * output_element;
  size_t out_group = out_pixel / conv->groups;
  size_t in_group = (size_t)conv->filter_c * element;
  bool direct = berth_conv_in_place(conv);

  /* Row for row the same pixels, and no ring wraps: one product for all of them. */
  if (direct && conv->stride_h == 1 && conv->stride_w == 1 && berth_conv_rows_adjoin(call, conv)) {
    for (uint32_t group = 0; group < conv->groups; group++) {
      product(context, group,
              (const uint8_t *)berth_row(&conv->input, call->first_row) + group * in_group,
              in_pixel, (uint8_t *)berth_row(&conv->output, call->first_row) + group * out_group,
              out_pixel, (call->last_row - call->first_row) * conv->output_w);
    }
    return;
  }

  uint32_t step = patch_step(conv, element);
  size_t row_step = step / conv->filter_h;
  uint32_t strip = direct ? conv->output_w : strip_pixels(conv, element);
  if (!direct && strip > room->patch_bytes / step) strip = room->patch_bytes / step;
  uint8_t *patches = room->patches;
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t batch = row / conv->output_h, y = row % conv->output_h;
    uint8_t *out_row = berth_row(&conv->output, row);
    for (uint32_t group = 0; group < conv->groups; group++) {
      if (direct) {
        const uint8_t *in = berth_row(&conv->input, batch * conv->input_h + y * conv->stride_h);
        product(context, group, in + group * in_group, in_pixel * conv->stride_w,
                out_row + group * out_group, out_pixel, conv->output_w);
        continue;
      }
      for (uint32_t x = 0; x < conv->output_w; x += strip) {
        uint32_t count = conv->output_w - x < strip ? conv->output_w - x : strip;
        for (uint32_t i = 0; i < count; i++) {
          berth_conv_gather(conv, element, fill, batch, y, x + i, group, patches + (size_t)i * step,
                            row_step);
        }
        product(context, group, patches, step, out_row + x * out_pixel + group * out_group,
                out_pixel, count);
      }
    }
  }
}
