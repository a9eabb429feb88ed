/* A zoo of broken operators: each one lives in an otherwise honest network (kernels are hashes),
 * and the guard must name the operator, the kind of fault and the bytes. The broken one is operator
 * 9 of the shipped ResNet-8 (8x8x64 in and out, a skip connection live beside it), or operator 3 of
 * the SVDF network where variables matter. Each is tried with all checks, and the fast way, which
 * must name the same bytes of what one evaluation can show. */
#include "run/guarded.h"

#define MARGIN    4096u
#define BYTES     4096u /* of the victim's input and output */
#define ROW       512u  /* bytes of a row; 8 rows */
#define SCRATCH   64u
#define ANY       UINT32_MAX
#define NO_FAULT  (-1)
#define SKIP      20u /* the tensor of the skip connection */
#define VARIABLE  5u  /* operator 1's variable in the SVDF network */
#define LATER     27u /* the weights of operator 10 */
#define EARLIER   14u /* and of operator 5 */
#define LAST_BYTE (BYTES - 1u)

typedef struct fault {
  const char *name; /* a sentence about the broken operator */
  berth_status_t (*eval)(berth_call_t *call);
  void (*claim)(berth_contract_t *contract); /* changes the honest contract; NULL: nothing */
  int kind;                                  /* berth_guard_fault_t, or NO_FAULT */
  uint32_t owner;                            /* berth_guard_owner_t, or ANY */
  uint32_t first, count;                     /* bytes of the output concerned, or ANY */
  uint32_t victim_first, victim_count;       /* bytes of the owner, or ANY */
  uint32_t victim;                           /* tensor, or ANY */
  bool variables;                            /* in the SVDF network */
} fault_t;

static const fault_t *current;
static uint32_t evaluations;
static uint8_t remembered; /* state that an operator hides from everybody */

static uint8_t *in(berth_call_t *call) {
  return berth_input(call, 0).data;
}
static uint8_t *out(berth_call_t *call) {
  return berth_output(call, 0).data;
}
static uint8_t *scratch(berth_call_t *call) {
  return call->scratch[0];
}

/* What all of them should do, for output bytes [from, to). */
static void make(berth_call_t *call, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) out(call)[i] = (uint8_t)(in(call)[i] * 3 + 1);
}

static uint8_t *tensor_data(berth_call_t *call, uint32_t tensor) {
  return berth_interpreter_tensor(call->interpreter, call->subgraph, tensor).data;
}

/* ---- Bytes that are never written ------------------------------------------------------------ */

static berth_status_t leaves_last(berth_call_t *call) {
  make(call, 0, LAST_BYTE);
  return BERTH_OK;
}
static berth_status_t leaves_first(berth_call_t *call) {
  make(call, 1, BYTES);
  return BERTH_OK;
}
static berth_status_t leaves_middle(berth_call_t *call) {
  make(call, 0, 2000);
  make(call, 2001, BYTES);
  return BERTH_OK;
}
static berth_status_t leaves_sixteen(berth_call_t *call) {
  make(call, 0, BYTES - 16);
  return BERTH_OK;
}
static berth_status_t leaves_last_row(berth_call_t *call) {
  make(call, 0, BYTES - ROW);
  return BERTH_OK;
}
static berth_status_t leaves_first_row(berth_call_t *call) {
  make(call, ROW, BYTES);
  return BERTH_OK;
}
static berth_status_t leaves_last_channel(berth_call_t *call) {
  for (uint32_t pixel = 0; pixel < BYTES / 64; pixel++) make(call, pixel * 64, pixel * 64 + 63);
  return BERTH_OK;
}
static berth_status_t leaves_last_column(berth_call_t *call) {
  for (uint32_t row = 0; row < 8; row++) make(call, row * ROW, row * ROW + ROW - 64);
  return BERTH_OK;
}
static berth_status_t leaves_every_other(berth_call_t *call) {
  for (uint32_t i = 0; i < BYTES; i += 2) make(call, i, i + 1);
  return BERTH_OK;
}
static berth_status_t writes_nothing(berth_call_t *call) {
  (void)call;
  return BERTH_OK;
}
static berth_status_t writes_only_half_without_saying(berth_call_t *call) {
  make(call, 0, BYTES / 2);
  return BERTH_OK;
}
static berth_status_t leaves_last_in_second_invoke(berth_call_t *call) {
  make(call, 0, in(call)[0] == 0 ? LAST_BYTE : BYTES);
  return BERTH_OK;
}

/* ---- Bytes that are not its own -------------------------------------------------------------- */

#define OVERRUN(name, from, bytes)                                                                 \
  static berth_status_t name(berth_call_t *call) {                                                 \
    make(call, 0, BYTES);                                                                          \
    memset(out(call) + (from), 0x77, bytes);                                                       \
    return BERTH_OK;                                                                               \
  }
OVERRUN(overruns_by_1, BYTES, 1)
OVERRUN(overruns_by_4, BYTES, 4)
OVERRUN(overruns_by_16, BYTES, 16)
OVERRUN(overruns_by_a_row, BYTES, ROW)

static uint8_t *arena(berth_call_t *call) {
  return ((berth_interpreter_t *)call->interpreter)->memories.activations.data;
}
static uint32_t extent(berth_call_t *call) {
  return berth_interpreter_needs(call->interpreter).extent;
}

static berth_status_t writes_before_the_arena(berth_call_t *call) {
  make(call, 0, BYTES);
  arena(call)[-1] ^= 1;
  return BERTH_OK;
}
static berth_status_t writes_behind_the_arena(berth_call_t *call) {
  make(call, 0, BYTES);
  arena(call)[extent(call) + 9] ^= 1;
  return BERTH_OK;
}
static berth_status_t changes_input_start(berth_call_t *call) {
  make(call, 0, BYTES);
  in(call)[0] ^= 1;
  return BERTH_OK;
}
static berth_status_t changes_input_end(berth_call_t *call) {
  make(call, 0, BYTES);
  in(call)[LAST_BYTE] ^= 1;
  return BERTH_OK;
}
static berth_status_t clears_input(berth_call_t *call) {
  make(call, 0, BYTES);
  for (uint32_t i = 0; i < BYTES; i++) in(call)[i] = (uint8_t)~in(call)[i];
  return BERTH_OK;
}
static berth_status_t changes_skip(berth_call_t *call) {
  make(call, 0, BYTES);
  tensor_data(call, SKIP)[100] ^= 1;
  tensor_data(call, SKIP)[103] ^= 1;
  return BERTH_OK;
}
static berth_status_t changes_weights(berth_call_t *call) {
  make(call, 0, BYTES);
  berth_input(call, 1).data[5] ^= 1;
  return BERTH_OK;
}
static berth_status_t changes_bias(berth_call_t *call) {
  make(call, 0, BYTES);
  berth_input(call, 2).data[0] ^= 0x80;
  return BERTH_OK;
}
static berth_status_t changes_a_later_weight(berth_call_t *call) {
  make(call, 0, BYTES);
  tensor_data(call, LATER)[2] = 0x5B;
  return BERTH_OK;
}
static berth_status_t changes_an_earlier_weight(berth_call_t *call) {
  make(call, 0, BYTES);
  tensor_data(call, EARLIER)[6] = 0x5B;
  return BERTH_OK;
}
static berth_status_t changes_own_table(berth_call_t *call) {
  make(call, 0, BYTES);
  ((uint8_t *)call->workspace)[7] ^= 1;
  return BERTH_OK;
}
static berth_status_t overruns_state(berth_call_t *call) {
  make(call, 0, BYTES);
  ((uint8_t *)call->state)[16] ^= 1; /* its state has 8 bytes, rounded up to 16 */
  return BERTH_OK;
}
static berth_status_t changes_variable(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 5, output.bytes);
  tensor_data(call, VARIABLE)[3] ^= 1;
  return BERTH_OK;
}

/* ---- Bytes that it should not read ----------------------------------------------------------- */

static berth_status_t adds_to_output(berth_call_t *call) {
  out(call)[10] = (uint8_t)(out(call)[10] + 1);
  uint8_t kept = out(call)[10];
  make(call, 0, BYTES);
  out(call)[10] = kept;
  return BERTH_OK;
}
static berth_status_t maximum_over_output(berth_call_t *call) {
  uint8_t kept = out(call)[20] > 0x60 ? 1 : 0;
  make(call, 0, BYTES);
  out(call)[20] = kept;
  return BERTH_OK;
}
static berth_status_t reads_scratch_first(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[30] = scratch(call)[0];
  return BERTH_OK;
}
static berth_status_t reads_scratch_last(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[LAST_BYTE] ^= scratch(call)[SCRATCH - 1];
  return BERTH_OK;
}
static berth_status_t sums_uncleared_scratch(berth_call_t *call) {
  for (uint32_t i = 0; i < BYTES; i++) scratch(call)[8 + i % 8] ^= in(call)[i];
  make(call, 0, BYTES);
  memcpy(out(call), scratch(call) + 8, 8);
  return BERTH_OK;
}
static berth_status_t reads_before_the_arena(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[1] = arena(call)[-3];
  return BERTH_OK;
}
static berth_status_t reads_behind_the_arena(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[1] = arena(call)[extent(call)];
  return BERTH_OK;
}
static berth_status_t remembers_in_scratch(berth_call_t *call) {
  uint8_t last = scratch(call)[5];
  scratch(call)[5] = in(call)[0];
  make(call, 0, BYTES);
  out(call)[3] = last;
  return BERTH_OK;
}
static berth_status_t reads_a_dead_tensor(berth_call_t *call) {
  /* Tensor 3 (the stem's output) is dead since operator 3. */
  uint32_t hash = hash_bytes(1, tensor_data(call, 3), 16384);
  make(call, 0, BYTES);
  out(call)[0] = (uint8_t)(hash >> 24);
  return BERTH_OK;
}

/* ---- Results that change by themselves --------------------------------------------------------
 */

static berth_status_t counts(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[50] = (uint8_t)evaluations;
  return BERTH_OK;
}
static berth_status_t hides_state(berth_call_t *call) {
  make(call, 0, BYTES);
  out(call)[51] = remembered;
  remembered = (uint8_t)(remembered * 5 + 7);
  return BERTH_OK;
}

/* ---- Claims that it doesn't keep --------------------------------------------------------------
 */

static void claim_rows(berth_contract_t *contract) {
  contract->kind = BERTH_ROW_LOCAL;
  for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++) {
    contract->windows[i] = (berth_window_t){.numerator = 1, .denominator = 1, .extent = 1};
  }
}
static void claim_elementwise(berth_contract_t *contract) {
  berth_contract_elementwise(contract);
  contract->in_place = 1;
}
static void claim_view(berth_contract_t *contract) {
  contract->view = BERTH_VIEW_SAME;
}
static void claim_partial(berth_contract_t *contract) {
  contract->partial = true;
}

static berth_status_t makes_rows(berth_call_t *call) {
  make(call, call->first_row * ROW, call->last_row * ROW);
  return BERTH_OK;
}
static berth_status_t needs_the_next_row(berth_call_t *call) {
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t next = row < 7 ? row + 1 : 7;
    make(call, row * ROW, row * ROW + ROW);
    out(call)[row * ROW] = in(call)[next * ROW];
  }
  return BERTH_OK;
}
static berth_status_t needs_the_row_before(berth_call_t *call) {
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t before = row > 0 ? row - 1 : 0;
    make(call, row * ROW, row * ROW + ROW);
    out(call)[row * ROW + 9] = in(call)[before * ROW + 9];
  }
  return BERTH_OK;
}
static berth_status_t needs_the_whole_input(berth_call_t *call) {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < BYTES; i++) sum = (uint8_t)(sum + in(call)[i]);
  memset(out(call) + call->first_row * ROW, sum, (call->last_row - call->first_row) * ROW);
  return BERTH_OK;
}
static berth_status_t carries_from_row_to_row(berth_call_t *call) {
  uint8_t sum = 0; /* starts again in every part */
  for (uint32_t i = call->first_row * ROW; i < call->last_row * ROW; i++) {
    sum = (uint8_t)(sum + in(call)[i]);
    out(call)[i] = sum;
  }
  return BERTH_OK;
}
static berth_status_t ignores_first_row(berth_call_t *call) {
  make(call, 0, call->last_row * ROW); /* right only if asked for all */
  for (uint32_t i = 0; call->first_row > 0 && i < 4; i++) out(call)[i] = 0;
  return BERTH_OK;
}
static berth_status_t reverses(berth_call_t *call) {
  for (uint32_t i = 0; i < BYTES; i++) out(call)[i] = in(call)[LAST_BYTE - i];
  return BERTH_OK;
}
static void claim_in_place_only(berth_contract_t *contract) {
  contract->in_place = 1;
}
static berth_status_t looks_back(berth_call_t *call) {
  out(call)[0] = in(call)[0];
  for (uint32_t i = 1; i < BYTES; i++) out(call)[i] = (uint8_t)(in(call)[i] - in(call)[i - 1]);
  return BERTH_OK;
}
static void claim_in_step(berth_contract_t *contract) {
  contract->in_step = 1;
}
static void claim_ordered(berth_contract_t *contract) {
  claim_rows(contract);
  contract->kind = BERTH_WHOLE;
  contract->ordered = true;
}
static berth_status_t makes_the_last_row_first(berth_call_t *call) {
  for (uint32_t row = 8; row-- > 0;) make(call, row * ROW, row * ROW + ROW);
  return BERTH_OK;
}
static uint8_t sum_of_input(berth_call_t *call) {
  uint8_t sum = 0;
  for (uint32_t i = 0; i < BYTES; i++) sum = (uint8_t)(sum + in(call)[i]);
  return sum;
}
static berth_status_t scans_before_it_writes(berth_call_t *call) {
  uint8_t sum = sum_of_input(call);
  for (uint32_t i = 0; i < BYTES; i++) out(call)[i] = (uint8_t)(sum - in(call)[i]);
  return BERTH_OK;
}
static berth_status_t scans_before_every_row(berth_call_t *call) {
  for (uint32_t row = 0; row < 8; row++) {
    uint8_t sum = sum_of_input(call);
    for (uint32_t i = row * ROW; i < row * ROW + ROW; i++)
      out(call)[i] = (uint8_t)(sum - in(call)[i]);
  }
  return BERTH_OK;
}
static berth_status_t needs_an_earlier_row_too(berth_call_t *call) {
  for (uint32_t row = 0; row < 8; row++) {
    uint8_t before = in(call)[row > 1 ? (row - 1) * ROW - 1 : 0];
    make(call, row * ROW, row * ROW + ROW);
    out(call)[row * ROW] = before;
  }
  return BERTH_OK;
}
static berth_status_t copies(berth_call_t *call) {
  memmove(out(call), in(call), BYTES);
  return BERTH_OK;
}
static berth_status_t copies_but_one(berth_call_t *call) {
  memmove(out(call), in(call), BYTES);
  out(call)[77] ^= 1;
  return BERTH_OK;
}

/* ---- What is allowed --------------------------------------------------------------------------
 */

static berth_status_t honest(berth_call_t *call) {
  make(call, 0, BYTES);
  memset(scratch(call), 0xEE, SCRATCH);
  return BERTH_OK;
}
static berth_status_t keeps_declared_state(berth_call_t *call) {
  uint8_t *state = call->state;
  make(call, 0, BYTES);
  out(call)[0] = state[0];
  state[0] = (uint8_t)(state[0] * 3 + 1);
  state[7] = in(call)[0];
  return BERTH_OK;
}

enum {
  PARTIAL = BERTH_GUARD_PARTIAL_WRITE,
  STALE = BERTH_GUARD_STALE_READ,
  CLOBBER = BERTH_GUARD_CLOBBER,
  UNSTABLE = BERTH_GUARD_UNSTABLE,
  WINDOW = BERTH_GUARD_ROW_WINDOW,
  IN_PLACE = BERTH_GUARD_IN_PLACE,
  VIEW = BERTH_GUARD_VIEW
};
#define TENSOR     BERTH_GUARD_TENSOR
#define CONSTANT   BERTH_GUARD_CONSTANT
#define IN_SCRATCH BERTH_GUARD_SCRATCH
#define WORKSPACE  BERTH_GUARD_WORKSPACE
#define NOBODY     BERTH_GUARD_NOBODY
#define OUTSIDE    BERTH_GUARD_OUTSIDE

static const fault_t faults[] = {
    {"leaves the last byte", leaves_last, NULL, PARTIAL, ANY, LAST_BYTE, 1, ANY, ANY, ANY, false},
    {"leaves the first byte", leaves_first, NULL, PARTIAL, ANY, 0, 1, ANY, ANY, ANY, false},
    {"leaves a byte in the middle", leaves_middle, NULL, PARTIAL, ANY, 2000, 1, ANY, ANY, ANY,
     false},
    {"leaves the last 16 bytes", leaves_sixteen, NULL, PARTIAL, ANY, BYTES - 16, 16, ANY, ANY, ANY,
     false},
    {"stops one row early", leaves_last_row, NULL, PARTIAL, ANY, BYTES - ROW, ROW, ANY, ANY, ANY,
     false},
    {"starts one row late", leaves_first_row, NULL, PARTIAL, ANY, 0, ROW, ANY, ANY, ANY, false},
    {"stops one channel short", leaves_last_channel, NULL, PARTIAL, ANY, 63, BYTES - 63, ANY, ANY,
     ANY, false},
    {"stops one column short", leaves_last_column, NULL, PARTIAL, ANY, ROW - 64, BYTES - ROW + 64,
     ANY, ANY, ANY, false},
    {"writes every other byte", leaves_every_other, NULL, PARTIAL, ANY, 1, BYTES - 1, ANY, ANY, ANY,
     false},
    {"writes nothing", writes_nothing, NULL, PARTIAL, ANY, 0, BYTES, ANY, ANY, ANY, false},
    {"writes half of it without saying so", writes_only_half_without_saying, NULL, PARTIAL, ANY,
     BYTES / 2, BYTES / 2, ANY, ANY, ANY, false},
    {"leaves the last byte for some inputs only", leaves_last_in_second_invoke, NULL, PARTIAL, ANY,
     LAST_BYTE, 1, ANY, ANY, ANY, false},

    {"writes 1 byte too far", overruns_by_1, NULL, CLOBBER, ANY, ANY, ANY, ANY, 1, ANY, false},
    {"writes 4 bytes too far", overruns_by_4, NULL, CLOBBER, ANY, ANY, ANY, ANY, 4, ANY, false},
    {"writes 16 bytes too far", overruns_by_16, NULL, CLOBBER, ANY, ANY, ANY, ANY, 16, ANY, false},
    {"writes a row too far", overruns_by_a_row, NULL, CLOBBER, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"writes before the arena", writes_before_the_arena, NULL, CLOBBER, OUTSIDE, ANY, ANY, 1, 1,
     ANY, false},
    {"writes behind the arena", writes_behind_the_arena, NULL, CLOBBER, OUTSIDE, ANY, ANY, 9, 1,
     ANY, false},
    {"changes the first byte of its input", changes_input_start, NULL, CLOBBER, TENSOR, ANY, ANY, 0,
     1, 23, false},
    {"changes the last byte of its input", changes_input_end, NULL, CLOBBER, TENSOR, ANY, ANY,
     LAST_BYTE, 1, 23, false},
    {"works in place without saying so", clears_input, NULL, CLOBBER, TENSOR, ANY, ANY, 0, BYTES,
     23, false},
    {"changes a tensor that is read later", changes_skip, NULL, CLOBBER, TENSOR, ANY, ANY, 100, 4,
     SKIP, false},
    {"changes a weight", changes_weights, NULL, CLOBBER, CONSTANT, ANY, ANY, 5, 1, 24, false},
    {"changes a bias", changes_bias, NULL, CLOBBER, CONSTANT, ANY, ANY, 0, 1, 25, false},
    {"changes a weight that is read later", changes_a_later_weight, NULL, CLOBBER, CONSTANT, ANY,
     ANY, 2, 1, LATER, false},
    {"changes a weight that was read before", changes_an_earlier_weight, NULL, CLOBBER, CONSTANT,
     ANY, ANY, 6, 1, EARLIER, false},
    {"changes its table", changes_own_table, NULL, CLOBBER, WORKSPACE, ANY, ANY, 7, 1, ANY, false},
    {"writes behind its state", overruns_state, NULL, CLOBBER, ANY, ANY, ANY, ANY, 1, ANY, false},
    {"changes another operator's variable", changes_variable, NULL, CLOBBER, TENSOR, ANY, ANY, 3, 1,
     VARIABLE, true},

    {"adds to what its output held", adds_to_output, NULL, STALE, TENSOR, 10, 1, 10, 1, 26, false},
    {"compares with what its output held", maximum_over_output, NULL, STALE, TENSOR, 20, 1, 20, 1,
     26, false},
    {"reads the first byte of scratch", reads_scratch_first, NULL, STALE, IN_SCRATCH, 30, 1, 0, 1,
     ANY, false},
    {"reads the last byte of scratch", reads_scratch_last, NULL, STALE, IN_SCRATCH, LAST_BYTE, 1,
     SCRATCH - 1, 1, ANY, false},
    {"sums into scratch that it didn't clear", sums_uncleared_scratch, NULL, STALE, IN_SCRATCH, 0,
     8, 8, 8, ANY, false},
    {"reads before the arena", reads_before_the_arena, NULL, STALE, OUTSIDE, 1, 1, 3, 1, ANY,
     false},
    {"reads behind the arena", reads_behind_the_arena, NULL, STALE, OUTSIDE, 1, 1, 0, 1, ANY,
     false},
    {"keeps state in scratch", remembers_in_scratch, NULL, STALE, IN_SCRATCH, 3, 1, 5, 1, ANY,
     false},
    {"reads a tensor after its death", reads_a_dead_tensor, NULL, STALE, ANY, 0, 1, ANY, ANY, ANY,
     false},

    {"counts its evaluations", counts, NULL, UNSTABLE, ANY, 50, 1, ANY, ANY, ANY, false},
    {"hides its state", hides_state, NULL, UNSTABLE, ANY, 51, 1, ANY, ANY, ANY, false},

    {"needs the next row, and claims one", needs_the_next_row, claim_rows, WINDOW, ANY, 0, ANY, ANY,
     ANY, ANY, false},
    {"needs the row before, and claims one", needs_the_row_before, claim_rows, WINDOW, ANY, ANY,
     ANY, ANY, ANY, ANY, false},
    {"needs the whole input, and claims a row", needs_the_whole_input, claim_rows, WINDOW, ANY, ANY,
     ANY, ANY, ANY, ANY, false},
    {"carries a sum from row to row", carries_from_row_to_row, claim_rows, WINDOW, ANY, ANY, ANY,
     ANY, ANY, ANY, false},
    {"makes rows that it wasn't asked for", ignores_first_row, claim_rows, WINDOW, ANY, 0, ANY, ANY,
     ANY, ANY, false},
    {"reverses, and claims to work in place", reverses, claim_in_place_only, IN_PLACE, ANY, ANY,
     ANY, ANY, ANY, ANY, false},
    {"looks back, and claims to work in place", looks_back, claim_in_place_only, IN_PLACE, ANY, ANY,
     ANY, ANY, ANY, ANY, false},
    {"looks back, and claims to go in step", looks_back, claim_in_step, IN_PLACE, ANY, ANY, ANY,
     ANY, ANY, ANY, false},
    {"reverses, and claims to go in step", reverses, claim_in_step, IN_PLACE, ANY, ANY, ANY, ANY,
     ANY, ANY, false},
    {"makes the last row first, and claims to be in order", makes_the_last_row_first, claim_ordered,
     IN_PLACE, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"looks at everything again for each row", scans_before_every_row, claim_ordered, IN_PLACE, ANY,
     ANY, ANY, ANY, ANY, ANY, false},
    {"needs an earlier row, and claims to be in order", needs_an_earlier_row_too, claim_ordered,
     IN_PLACE, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"changes a byte, and claims to be a view", copies_but_one, claim_view, VIEW, ANY, ANY, ANY,
     ANY, ANY, ANY, false},

    {"is honest", honest, NULL, NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"keeps the state that it declares", keeps_declared_state, NULL, NO_FAULT, ANY, ANY, ANY, ANY,
     ANY, ANY, false},
    {"writes half of it and wants it zeroed", writes_only_half_without_saying, claim_partial,
     NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"makes each row from that row", makes_rows, claim_rows, NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY,
     false},
    {"works byte by byte in place", makes_rows, claim_elementwise, NO_FAULT, ANY, ANY, ANY, ANY,
     ANY, ANY, false},
    {"goes in step", scans_before_it_writes, claim_in_step, NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY,
     false},
    {"looks at everything, then makes rows in order", scans_before_it_writes, claim_ordered,
     NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY, false},
    {"is a view", copies, claim_view, NO_FAULT, ANY, ANY, ANY, ANY, ANY, ANY, false},
};

/* ---- The zoo ----------------------------------------------------------------------------------
 */

static uint32_t victim_op(void) {
  return current->variables ? 3 : 9;
}

static berth_status_t zoo_prepare(berth_call_t *call, berth_contract_t *contract) {
  if (call->index != victim_op()) return hash_prepare(call, contract);
  berth_value_t output = berth_output(call, 0);
  contract->scratch[0] = SCRATCH;
  contract->workspace = 24;
  contract->state = 8;
  if (current->claim != NULL) {
    contract->state = 0; /* claims of operators with state are not tested */
    current->claim(contract);
  }
  return berth_set_shape(call, 0, output.rank, output.dims);
}

static berth_status_t zoo_eval(berth_call_t *call) {
  if (call->index != victim_op()) return hash_eval(call);
  evaluations++;
  return current->eval(call);
}

/* To be closed; findings are in it. */
static void watch(guarded_t *g, const fault_t *fault, bool fast) {
  current = fault;
  evaluations = 0;
  remembered = 1;
  guarded_open(g, fault->variables ? "svdf_keyword_int8" : "resnet8_int8", zoo_prepare, zoo_eval,
               MARGIN, MARGIN);
  g->guard.deep = !fast;
  g->guard.fast = fast;
  g->guard.pristine = g->map.data;
  for (int invoke = 0; invoke < 600 && g->findings == 0; invoke++) {
    if (invoke == 4 && fault->eval != leaves_last_in_second_invoke) break;
    berth_value_t input = berth_interpreter_input(&g->interpreter, 0);
    uint32_t seed = (uint32_t)invoke / 2; /* each input twice */
    for (uint32_t i = 0; i < input.bytes; i++) input.data[i] = (uint8_t)(i * 7 + seed);
    assert_int_equal(berth_interpreter_invoke(&g->interpreter), BERTH_OK);
  }
}

static void expect(const char *what, uint32_t found, uint32_t expected) {
  if (expected != ANY && found != expected) {
    fail_msg("%s is %u, not %u", what, found, expected);
  }
}

typedef struct attempt {
  const fault_t *fault;
  bool fast;
  char name[96];
} attempt_t;

static bool shows_at_once(const fault_t *fault) {
  return fault->kind == PARTIAL || fault->kind == CLOBBER || fault->kind == UNSTABLE;
}

static void the_guard_names_it(void **state) {
  const attempt_t *attempt = *state;
  const fault_t *fault = attempt->fault;
  static guarded_t g;
  watch(&g, fault, attempt->fast);
  guarded_close(&g);
  if (fault->kind == NO_FAULT) {
    assert_int_equal(g.findings, 0);
    return;
  }
  if (attempt->fast && !shows_at_once(fault) && g.findings == 0) return;
  assert_true(g.findings > 0);
  assert_false(g.first.unconfirmed);
  expect("the operator", g.first.op, victim_op());
  expect("the kind of fault", (uint32_t)g.first.fault, (uint32_t)fault->kind);
  expect("the owner", (uint32_t)g.first.owner, fault->owner);
  expect("the first byte", g.first.first, fault->first);
  expect("the number of bytes", g.first.count, fault->count);
  expect("the first byte of the owner's", g.first.victim_first, fault->victim_first);
  expect("the number of bytes of the owner's", g.first.victim_count, fault->victim_count);
  expect("the victim", g.first.victim, fault->victim);
  if (fault->kind == BERTH_GUARD_PARTIAL_WRITE) expect("the tensor", g.first.tensor, 26);
}

int main(void) {
  enum { FAULTS = sizeof faults / sizeof *faults };
  static attempt_t attempts[2 * FAULTS];
  struct CMUnitTest tests[2 * FAULTS];
  for (size_t i = 0; i < 2 * FAULTS; i++) {
    attempt_t *attempt = &attempts[i];
    attempt->fault = &faults[i / 2];
    attempt->fast = i % 2 == 1;
    snprintf(attempt->name, sizeof attempt->name, "%s%s", attempt->fault->name,
             attempt->fast ? " (fast)" : "");
    tests[i] = (struct CMUnitTest){
        .name = attempt->name, .test_func = the_guard_names_it, .initial_state = attempt};
  }
  return cmocka_run_group_tests_name("an operator that ...", tests, NULL, NULL);
}
