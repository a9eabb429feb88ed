/* CONV_2D for int8 and uint8: prepare, and the way over the image.
 *
 * The outermost loop is over blocks of output channels, whose weights may be unpacked into scratch
 * once and then serve all pixels; then come rows, and runs of pixels within them. Pixels whose
 * inputs lie inside the image are computed where those lie. Those at the border are gathered first,
 * a few at a time, with the input's zero point for what is outside: the reference leaves such taps
 * out, and (zero point - zero point) x weight adds nothing. Filters of very thin rows are gathered
 * everywhere, since spans are read 16 bytes at a time: then the outermost loop is over as many
 * pixels as there is scratch for, so that each is gathered once. Filters that are too large to
 * unpack, all where the plan has no room for that, and any over a few pixels (a short row that is
 * streamed), become plain matrix products.
 */
#include "operators/conv_int8.h"
#include "operators/arm.h"
#include "operators/conv.h"
#include "operators/rescale_avx2.h"

#define PACKED_MOST   24576u /* bytes of scratch for the weights of a block */
#define GATHER_BYTES  6144u  /* of patches at a time, where all pixels are gathered */
#define GATHER_LEAST  8u     /* pixels, even if their patches take more */
#define BORDER_PIXELS 2u     /* gathered at a time, where only the border is */
#define PIXELS_LEAST  12u    /* for which weights are worth being unpacked */
#define PATCHES_LEAST 8u     /* likewise, if they must be gathered */
#define ALIGN         32u    /* of the packed weights */

/* How a convolution is carried out; follows from its geometry alone. */
typedef struct way {
  bool product;         /* as a matrix product, however much scratch there is */
  bool gathered;        /* every pixel is gathered, as one span */
  uint32_t spans, span; /* of a pixel */
  uint32_t patch_row;   /* bytes of a span in a patch */
  uint32_t patches;     /* gathered at a time; 0: never */
  uint32_t patch_bytes; /* all patches, and a span of zero points behind them */
  uint32_t packed_bytes;
} way_t;

static uint32_t round_up(uint32_t x, uint32_t to) {
  return (x + to - 1) / to * to;
}

static uint32_t max_of(uint32_t x, uint32_t y) {
  return x > y ? x : y;
}

static way_t way_of(const berth_conv_t *conv) {
  way_t way = {.spans = conv->filter_h, .span = conv->filter_w * conv->filter_c};
  uint32_t depth = way.spans * way.span;
  bool contiguous = conv->filter_w == 1 || (conv->dilation_w == 1 && conv->groups == 1);
  way.gathered =
      conv->filter_h * conv->filter_w > 1 &&
      (!contiguous || way.spans > BERTH_CONV_SPANS ||
       2 * round_up(depth, BERTH_CONV_STEP) <= way.spans * round_up(way.span, BERTH_CONV_STEP));
  if (way.gathered) {
    way.spans = 1;
    way.span = depth;
  }
  way.patch_row = way.gathered ? way.span / conv->filter_h : round_up(way.span, BERTH_CONV_STEP);
  if (way.gathered || !berth_conv_in_place(conv) || way.span < BERTH_CONV_STEP) {
    uint32_t patch = round_up(way.patch_row * conv->filter_h, BERTH_CONV_STEP);
    way.patches = BORDER_PIXELS;
    if (way.gathered) way.patches = max_of(GATHER_BYTES / patch, GATHER_LEAST);
    way.patch_bytes = way.patches * patch + (way.gathered ? 0 : way.patch_row);
  }
  way.packed_bytes = berth_conv_packed_bytes(way.spans, way.span) + ALIGN - 16;
  way.product = way.packed_bytes > PACKED_MOST;
  return way;
}

berth_status_t berth_conv_int8_prepare(berth_call_t *call, const berth_conv_t *conv,
                                       berth_contract_t *contract) {
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  if (is_unsigned && berth_rescale_is_per_channel(&conv->filter)) {
    return berth_refuse(call, "takes uint8 with one filter scale only");
  }
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 0);
  if (status != BERTH_OK) return status;
  way_t way = way_of(conv);
  berth_rescale_place(call, conv->filter.scales.count, &contract->workspace);
  berth_conv_wish(conv, 1, berth_rescale_bytes(call, conv->filter.scales.count), contract);
  if (!way.product) contract->wish = way.packed_bytes + way.patch_bytes;
  /* Where there are several blocks of channels, each passes over all rows; where pixels are
   * gathered, each group over those of several rows. */
  bool one_pass = conv->groups == 1 && (way.gathered || conv->output_c <= BERTH_CONV_BLOCK);
  contract->ordered = !berth_conv_in_place(conv) && (way.product || one_pass);
  return BERTH_OK;
}

static berth_rescale_t rescale_of(const berth_conv_t *conv) {
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  berth_rescale_t rescale =
      berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation, is_unsigned);
  rescale.ties_up = is_unsigned;
  return rescale;
}

berth_status_t berth_conv_int8_init(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

static berth_matmul_int8_t matmul_of(const berth_conv_t *conv) {
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  return (berth_matmul_int8_t){.filter = conv->filter.data,
                               .bias = conv->bias.data,
                               .depth = conv->filter_h * conv->filter_w * conv->filter_c,
                               .channels = conv->output_c / conv->groups,
                               .is_unsigned = is_unsigned,
                               .input_zero = conv->input.zero_point,
                               .filter_zero = is_unsigned ? conv->filter.zero_point : 0,
                               .rescale = rescale_of(conv)};
}

/* ---- As a matrix product --------------------------------------------------------------------- */

typedef struct context {
  berth_matmul_int8_t matmul;
  uint32_t cpu;
} context_t;

static void product(const void *context, uint32_t group, const uint8_t *in, size_t in_step,
                    uint8_t *out, size_t out_step, uint32_t count) {
  const context_t *c = context;
  berth_matmul_int8(&c->matmul, c->cpu, group, in, in_step, out, out_step, count);
}

/* Where there is no room even for one pixel's inputs: tap by tap. */
typedef struct sum {
  const berth_matmul_int8_t *matmul;
  uint32_t sum;
} sum_t;

static void add_tap(void *context, const uint8_t *in, const uint8_t *filter, uint32_t count) {
  sum_t *s = context;
  const berth_matmul_int8_t *m = s->matmul;
  for (uint32_t i = 0; i < count; i++) {
    int32_t a = m->is_unsigned ? in[i] : (int8_t)in[i];
    int32_t b = m->is_unsigned ? filter[i] : (int8_t)filter[i];
    s->sum += (uint32_t)((a - m->input_zero) * (b - m->filter_zero));
  }
}

static void finish_sum(void *context, uint32_t channel, uint8_t *out) {
  sum_t *s = context;
  const berth_matmul_int8_t *m = s->matmul;
  if (m->bias != NULL) s->sum += (uint32_t)berth_load_int32(m->bias, channel);
  berth_multiplier_t factor;
  berth_rescale_factors(&m->rescale, channel, 1, &factor.multiplier, &factor.shift);
  *out = (uint8_t)berth_rescale_apply(&m->rescale, (int32_t)s->sum, factor);
  s->sum = 0;
}

static void run_product(const berth_call_t *call, const berth_conv_t *conv, context_t *context) {
  berth_conv_room_t room;
  uint32_t factors = berth_rescale_bytes(call, conv->filter.scales.count);
  if (!berth_conv_find_room(call, conv, 1, factors, &room)) {
    sum_t sum = {.matmul = &context->matmul};
    berth_rescale_use(call, &context->matmul.rescale, conv->output_c, room.factors);
    berth_conv_each(call, conv, 1, 1, &(berth_conv_each_t){add_tap, finish_sum, &sum});
    return;
  }
  /* Of a few pixels each factor is used once or twice, and AVX2 derives them as they are needed. */
  bool few = call->last_row - call->first_row == 1 && conv->output_w < PATCHES_LEAST;
  if (few && call->cpu & BERTH_CPU_AVX2) room.factors = NULL;
  berth_rescale_use(call, &context->matmul.rescale, conv->output_c, room.factors);
  berth_conv_run(call, conv, 1, 1, (uint8_t)conv->input.zero_point, &room, product, context);
}

/* ---- Block by block -------------------------------------------------------------------------- */

typedef void kernel_t(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels);

/* One block of channels on its way over the image. */
typedef struct walk {
  const berth_conv_t *conv;
  const way_t *way;
  const berth_conv_block_t *block;
  kernel_t *kernel;
  uint8_t *patches;
  const uint8_t *zeros; /* a span of zero points */
  const uint8_t *end;   /* of the input's memory */
  uint32_t group;
  uint32_t channel; /* of the output, where the block's channels begin */
} walk_t;

/* Output pixels [first, last) of a row, gathered. */
static void gathered(const walk_t *walk, uint32_t row, uint32_t first, uint32_t last) {
  const berth_conv_t *conv = walk->conv;
  const way_t *way = walk->way;
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  uint32_t patch = round_up(way->patch_row * conv->filter_h, BERTH_CONV_STEP);
  berth_conv_pixels_t pixels;
  pixels.out_step = conv->output_c;
  for (uint32_t s = 0; s < way->spans; s++) {
    pixels.from[s] = walk->patches + (size_t)s * way->patch_row;
    pixels.step[s] = patch;
  }
  for (uint32_t x = first; x < last; x += way->patches) {
    pixels.count = last - x < way->patches ? last - x : way->patches;
    for (uint32_t i = 0; i < pixels.count; i++) {
      berth_conv_gather(conv, 1, (uint8_t)conv->input.zero_point, batch, y, x + i, walk->group,
                        walk->patches + (size_t)i * patch, way->patch_row);
    }
    pixels.out =
        (uint8_t *)berth_row(&conv->output, row) + (size_t)x * conv->output_c + walk->channel;
    walk->kernel(walk->block, &pixels);
  }
}

/* One output row. */
static void walk_row(const walk_t *walk, uint32_t row) {
  const berth_conv_t *conv = walk->conv;
  const way_t *way = walk->way;
  uint32_t first, last;
  berth_conv_inside(conv, &first, &last);

  berth_conv_pixels_t pixels = {.out_step = conv->output_c};
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  size_t start = ((size_t)first * conv->stride_w - conv->pad_w) * conv->input_c +
                 (size_t)walk->group * conv->filter_c;
  size_t step = (size_t)conv->stride_w * conv->input_c;
  for (uint32_t s = 0; s < way->spans && first < last; s++) {
    int64_t input_y = (int64_t)y * conv->stride_h - conv->pad_h + (int64_t)s * conv->dilation_h;
    if (input_y < 0 || input_y >= conv->input_h) {
      pixels.from[s] = walk->zeros;
      pixels.step[s] = 0;
      continue;
    }
    pixels.from[s] =
        (const uint8_t *)berth_row(&conv->input, batch * conv->input_h + (uint32_t)input_y) + start;
    pixels.step[s] = step;
    /* A short span is read beyond its end: not beyond the input's, though. */
    while (way->span < BERTH_CONV_STEP && first < last &&
           (size_t)(walk->end - pixels.from[s]) < (last - first - 1) * step + BERTH_CONV_STEP) {
      last--;
    }
  }
  if (first < last) {
    gathered(walk, row, 0, first);
    pixels.count = last - first;
    pixels.out =
        (uint8_t *)berth_row(&conv->output, row) + (size_t)first * conv->output_c + walk->channel;
    walk->kernel(walk->block, &pixels);
  } else {
    last = 0;
  }
  gathered(walk, row, last, conv->output_w);
}

/* All pixels of rows [first, last) of a 1x1 convolution, which lie one after the other. */
static berth_conv_pixels_t pixels_of(const walk_t *walk, uint32_t first, uint32_t last) {
  const berth_conv_t *conv = walk->conv;
  berth_conv_pixels_t pixels; /* of one span: the others are never looked at */
  pixels.from[0] = berth_row(&conv->input, first);
  pixels.from[0] += (size_t)walk->group * conv->filter_c;
  pixels.step[0] = conv->input_c;
  pixels.count = (last - first) * conv->output_w;
  pixels.out = (uint8_t *)berth_row(&conv->output, first) + walk->channel;
  pixels.out_step = conv->output_c;
  return pixels;
}

/* Rows [first, last) of a 1x1 convolution whose pixels all lie one after the other. */
static void walk_pixels(const walk_t *walk, uint32_t first, uint32_t last) {
  const berth_conv_t *conv = walk->conv;
  berth_conv_pixels_t pixels = pixels_of(walk, first, last);
  uint32_t tail = 0;
  if (walk->way->span < BERTH_CONV_STEP) { /* the last ones, whose spans are read beyond the end */
    tail = (BERTH_CONV_STEP + conv->input_c - 1) / conv->input_c;
    tail = (tail + conv->output_w - 1) / conv->output_w; /* rows */
    if (tail > last - first) tail = last - first;
    pixels.count -= tail * conv->output_w;
  }
  if (pixels.count > 0) walk->kernel(walk->block, &pixels);
  for (uint32_t row = last - tail; row < last; row++) walk_row(walk, row);
}

/* Makes the block of channels [first, first + count) of the filter ready, with its weights at
 * `packed`; returns its kernel. */
static kernel_t *open_block(uint32_t cpu, const berth_matmul_int8_t *matmul, const way_t *way,
                            uint32_t first, uint32_t count, void *packed,
                            berth_conv_block_t *block) {
  *block = (berth_conv_block_t){.matmul = matmul,
                                .first = first,
                                .count = count,
                                .spans = way->spans,
                                .span = way->span,
                                .packed = packed};
  for (uint32_t i = 0; i < BERTH_CONV_BLOCK; i++) {
    block->shifts[i] = -1;
    if (i < count && matmul->bias != NULL) {
      block->bias[i] = berth_load_int32(matmul->bias, first + i);
    }
  }
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2 && berth_conv_open_avx2(block)) return berth_conv_pixels_avx2;
#elif BERTH_HAS_ARM
  (void)cpu;
  if (berth_matmul_int8_suits_arm(matmul)) {
    berth_conv_open_arm(block);
    return berth_conv_pixels_arm;
  }
#else
  (void)cpu;
#endif
  berth_rescale_factors(&matmul->rescale, first, count, block->multipliers, block->shifts);
  return berth_conv_pixels_portable;
}

/* Channels of the block that starts at `channel`: none of another group. */
static uint32_t block_size(const berth_matmul_int8_t *matmul, uint32_t channel) {
  uint32_t rest = matmul->channels - channel % matmul->channels;
  return rest < BERTH_CONV_BLOCK ? rest : BERTH_CONV_BLOCK;
}

#if BERTH_HAS_AVX2
/* Blocks of all channels. */
static uint32_t block_count(const berth_conv_t *conv) {
  uint32_t channels = conv->output_c / conv->groups;
  return conv->groups * ((channels + BERTH_CONV_BLOCK - 1) / BERTH_CONV_BLOCK);
}
#endif

/* What a call works with, besides the image. */
typedef struct tools {
  const berth_matmul_int8_t *matmul;
  const way_t *way;
  const berth_conv_block_t *ready; /* all blocks, for AVX2; NULL: each is opened when it is used */
  void *packed;                    /* else: where its weights go */
  uint8_t *patches;
} tools_t;

/* The block of channels [channel, channel + count), its number being `number`: taken, or opened in
 * `own`. */
static kernel_t *block_of(const berth_call_t *call, const tools_t *tools, uint32_t channel,
                          uint32_t count, uint32_t number, berth_conv_block_t *own,
                          const berth_conv_block_t **block) {
#if BERTH_HAS_AVX2
  if (tools->ready != NULL) {
    *block = &tools->ready[number];
    return berth_conv_pixels_avx2;
  }
#else
  (void)number;
#endif
  *block = own;
  return open_block(call->cpu, tools->matmul, tools->way, channel, count, tools->packed, own);
}

static void run_blocks(const berth_call_t *call, const berth_conv_t *conv, const tools_t *tools) {
  const way_t *way = tools->way;
  walk_t walk = {.conv = conv,
                 .way = way,
                 .patches = tools->patches,
                 .end = conv->input.data + (size_t)conv->input.ring * conv->input.row_bytes};
  if (way->patches != 0) {
    memset(walk.patches, (uint8_t)conv->input.zero_point, way->patch_bytes);
    walk.zeros = walk.patches + way->patch_bytes - way->patch_row;
  }
  bool flat = berth_conv_in_place(conv) && conv->stride_h == 1 && conv->stride_w == 1 &&
              berth_conv_rows_adjoin(call, conv);
#if BERTH_HAS_AVX2
  if (flat && tools->ready != NULL && conv->groups == 1 && way->span >= BERTH_CONV_STEP) {
    berth_conv_pixels_t pixels = pixels_of(&walk, call->first_row, call->last_row);
    berth_conv_blocks_avx2(tools->ready, block_count(conv), &pixels);
    return;
  }
#endif
  uint32_t count, number = 0;
  for (uint32_t channel = 0; channel < conv->output_c; channel += count) {
    berth_conv_block_t own;
    count = block_size(tools->matmul, channel);
    walk.kernel = block_of(call, tools, channel, count, number++, &own, &walk.block);
    walk.group = channel / tools->matmul->channels;
    walk.channel = channel;
    if (flat) {
      walk_pixels(&walk, call->first_row, call->last_row);
    } else {
      for (uint32_t row = call->first_row; row < call->last_row; row++) walk_row(&walk, row);
    }
  }
}

/* ---- Pixels by pixels, where all are gathered ------------------------------------------------ */

/* `count` pixels from number `first` on (row by row), whose patches are ready. */
static void run_patches(const berth_conv_t *conv, const berth_conv_block_t *block, kernel_t *kernel,
                        uint32_t channel, const uint8_t *patches, size_t patch, uint32_t first,
                        uint32_t count) {
  berth_conv_pixels_t pixels; /* of one span */
  pixels.step[0] = patch;
  pixels.out_step = conv->output_c;
  for (uint32_t done = 0; done < count; done += pixels.count) {
    uint32_t row = (first + done) / conv->output_w, x = (first + done) % conv->output_w;
    uint32_t rest = conv->output_w - x;
    pixels.count = count - done < rest ? count - done : rest;
    pixels.from[0] = patches + done * patch;
    pixels.out = (uint8_t *)berth_row(&conv->output, row) + (size_t)x * conv->output_c + channel;
    kernel(block, &pixels);
  }
}

static void run_gathered(const berth_call_t *call, const berth_conv_t *conv, const tools_t *tools) {
  const way_t *way = tools->way;
  const berth_matmul_int8_t *matmul = tools->matmul;
  uint32_t patch = round_up(way->span, BERTH_CONV_STEP);
  uint32_t end = call->last_row * conv->output_w;
  uint32_t count;
  for (uint32_t first = call->first_row * conv->output_w; first < end; first += count) {
    uint32_t number = 0;
    count = end - first < way->patches ? end - first : way->patches;
    for (uint32_t group = 0; group < conv->groups; group++) {
      for (uint32_t i = 0; i < count; i++) {
        uint32_t row = (first + i) / conv->output_w, x = (first + i) % conv->output_w;
        berth_conv_gather(conv, 1, (uint8_t)conv->input.zero_point, row / conv->output_h,
                          row % conv->output_h, x, group, tools->patches + (size_t)i * patch,
                          way->patch_row);
      }
      uint32_t channel = group * matmul->channels, last = channel + matmul->channels, size;
      for (; channel < last; channel += size) {
        berth_conv_block_t own;
        const berth_conv_block_t *block;
        size = block_size(matmul, channel);
        kernel_t *kernel = block_of(call, tools, channel, size, number++, &own, &block);
        run_patches(conv, block, kernel, channel, tools->patches, patch, first, count);
      }
    }
  }
}

static void run_with(const berth_call_t *call, const berth_conv_t *conv, const tools_t *tools) {
  if (tools->way->gathered) {
    run_gathered(call, conv, tools);
  } else {
    run_blocks(call, conv, tools);
  }
}

static void run(const berth_call_t *call, const berth_conv_t *conv, const way_t *way,
                context_t *context) {
  uint32_t pixels = (call->last_row - call->first_row) * conv->output_w;
  bool few = pixels < (berth_conv_in_place(conv) ? PIXELS_LEAST : PATCHES_LEAST);
  if (few || way->product || call->scratch_bytes < way->packed_bytes + way->patch_bytes) {
    run_product(call, conv, context);
    return;
  }
  berth_rescale_use(call, &context->matmul.rescale, conv->output_c, NULL);
  uintptr_t packed = (uintptr_t)call->scratch[0];
  packed += (ALIGN - packed % ALIGN) % ALIGN;
  run_with(call, conv,
           &(tools_t){.matmul = &context->matmul,
                      .way = way,
                      .packed = (void *)packed,
                      .patches = (uint8_t *)call->scratch[0] + way->packed_bytes});
}

#if BERTH_HAS_AVX2
/* Where the plan has no room, weights and patches go onto the stack: the processors that have AVX2
 * have enough of it. */
#define STACK 16384u
__attribute__((noinline)) static void run_on_stack(const berth_call_t *call,
                                                   const berth_conv_t *conv, const way_t *way,
                                                   context_t *context) {
  _Alignas(16) uint8_t stack[STACK];
  berth_call_t own = *call;
  own.scratch[0] = stack;
  own.scratch_bytes = STACK;
  run(&own, conv, way, context);
}

/* What is kept from one piece of a run to the next: every block of the filter, ready. */
typedef struct kept {
  berth_matmul_int8_t matmul;
  bool is_ready; /* no factor is out of range */
  berth_conv_block_t blocks[];
} kept_t;

static void fill(const berth_call_t *call, const berth_conv_t *conv, const way_t *way, kept_t *kept,
                 uint8_t *packed) {
  kept->matmul = matmul_of(conv);
  kept->is_ready = true;
  berth_rescale_use(call, &kept->matmul.rescale, conv->output_c, NULL);
  uint32_t count, number = 0;
  for (uint32_t channel = 0; channel < conv->output_c; channel += count) {
    count = block_size(&kept->matmul, channel);
    kernel_t *kernel =
        open_block(call->cpu, &kept->matmul, way, channel, count, packed, &kept->blocks[number++]);
    kept->is_ready = kept->is_ready && kernel == berth_conv_pixels_avx2;
    packed += berth_conv_packed_bytes(way->spans, way->span);
  }
}

/* NULL: nothing can be kept, or it is of no use. */
static const kept_t *keep(const berth_call_t *call, const berth_conv_t *conv, const way_t *way) {
  if (!(call->cpu & BERTH_CPU_AVX2) || way->product || conv->keep == 0) return NULL;
  uint64_t count = block_count(conv);
  uint64_t bytes =
      (sizeof(kept_t) + count * sizeof(berth_conv_block_t) + ALIGN - 1) / ALIGN * ALIGN;
  uint64_t all = bytes + count * berth_conv_packed_bytes(way->spans, way->span);
  if (all > UINT32_MAX) return NULL;
  bool was_kept;
  kept_t *kept = berth_keep(call, conv->keep, (uint32_t)all, &was_kept);
  if (kept == NULL) return NULL;
  if (!was_kept) fill(call, conv, way, kept, (uint8_t *)kept + bytes);
  return kept->is_ready ? kept : NULL;
}

__attribute__((noinline)) static void run_kept_on_stack(const berth_call_t *call,
                                                        const berth_conv_t *conv, tools_t *tools) {
  _Alignas(16) uint8_t stack[STACK];
  tools->patches = stack;
  run_with(call, conv, tools);
}

/* With what was kept, if there is anything and room for patches. */
static bool run_kept(const berth_call_t *call, const berth_conv_t *conv, const way_t *way) {
  const kept_t *kept = way->patch_bytes <= STACK ? keep(call, conv, way) : NULL;
  if (kept == NULL) return false;
  tools_t tools = {.matmul = &kept->matmul, .way = way, .ready = kept->blocks};
  if (way->patch_bytes == 0 || call->scratch_bytes >= way->patch_bytes) {
    tools.patches = call->scratch[0];
    run_with(call, conv, &tools);
  } else {
    run_kept_on_stack(call, conv, &tools);
  }
  return true;
}
#endif

berth_status_t berth_conv_int8_eval(berth_call_t *call, const berth_conv_t *conv) {
  way_t way = way_of(conv);
#if BERTH_HAS_AVX2
  if (run_kept(call, conv, &way)) return BERTH_OK;
#endif
  context_t context = {.matmul = matmul_of(conv), .cpu = call->cpu};
#if BERTH_HAS_AVX2
  uint32_t wanted = way.packed_bytes + way.patch_bytes;
  if (call->cpu & BERTH_CPU_AVX2 && call->scratch_bytes < wanted && wanted <= STACK) {
    run_on_stack(call, conv, &way, &context);
    return BERTH_OK;
  }
#endif
  run(call, conv, &way, &context);
  return BERTH_OK;
}
