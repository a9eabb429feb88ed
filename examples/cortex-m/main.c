/* A model on a microcontroller, without an operating system: one static block of memory, the model
 * in flash, no heap. Prints what it needed and a CRC-32 of each output (over semihosting, which an
 * emulator or a debugger answers); `run.sh` compares that with the host's.
 *
 * The build gives MODEL_ARENA_BYTES (from `berth run`), CLOCK_HZ, and `kernels`, a table of only
 * those kernels that the model uses, so that the linker drops the rest. With MODEL_ROWS there is
 * also rows_plan.h, a streamed plan: rows of the input are then pushed as a camera would deliver
 * them.
 */
#include "berth/interpreter.h"
#include "host/fill.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef MODEL_ROWS
#include "rows_plan.h"
#define ROW_MOST 4096u /* bytes of an input's row */
#endif

extern const uint8_t model_start[], model_end[];
extern const berth_kernel_t *const kernels[];
extern uint32_t stack_low[], stack_high[];
extern uint32_t *stack_deepest(void);

static _Alignas(16) uint8_t memory[MODEL_ARENA_BYTES];

static void on_event(void *user, const berth_event_t *event) {
  (void)user;
  if (event->why != NULL) printf("operator %lu: %s\n", (unsigned long)event->op, event->why);
}

static int fail(const char *what, berth_status_t status) {
  printf("failed: %s: %s\n", what, berth_status_text(status));
  return 1;
}

/* The core's 24-bit timer, which counts down. Where the emulator says that each instruction takes a
 * nanosecond (-icount shift=0), it counts instructions. */
#define TIMER ((volatile uint32_t *)0xE000E010u) /* control, start, now */

static void start_timer(void) {
  TIMER[1] = 0xFFFFFFu;
  TIMER[2] = 0;
  TIMER[0] = 5; /* on, with the core's clock */
}

static uint64_t nanoseconds(void) {
  uint32_t ticks = 0xFFFFFFu - TIMER[2];
  bool wrapped = TIMER[0] >> 16 & 1;
  return wrapped ? 0 : (uint64_t)ticks * 1000000000u / CLOCK_HZ;
}

/* Inputs that are whole get their values before an invoke. */
static berth_status_t invoke(berth_interpreter_t *interpreter) {
#ifdef MODEL_ROWS
  static uint8_t bytes[ROW_MOST];
  uint64_t random = 1;
  berth_value_t row = berth_interpreter_input(interpreter, 0);
  bool single = !berth_interpreter_input(interpreter, 1).present;
  if (!single || !berth_interpreter_is_pushed(interpreter, 0) || row.row_bytes > sizeof bytes) {
    return BERTH_ERROR_UNSUPPORTED;
  }
  row.data = bytes;
  row.elements /= row.rows;
  do {
    berth_fill_random(&row, &random);
    berth_status_t status = berth_interpreter_push_rows(interpreter, 0, bytes, 1, NULL);
    if (status != BERTH_OK) return status;
  } while (berth_interpreter_wanted(interpreter, NULL) != BERTH_NOBODY);
  return BERTH_OK;
#else
  return berth_interpreter_invoke(interpreter);
#endif
}

static int run(void) {
  static berth_model_t model;
  static berth_interpreter_t interpreter;
  berth_interpreter_options_t options = {.kernels = kernels, .log = on_event};
#ifdef MODEL_ROWS
  options.stream = &rows_plan_stream;
  options.offsets = rows_plan_tensor_offsets;
  options.offset_count = sizeof rows_plan_tensor_offsets / sizeof *rows_plan_tensor_offsets;
  options.trust_offsets = true; /* berth plan has verified them */
#endif
  berth_memories_t memories = {.activations = {memory, sizeof memory}};
  berth_model_error_t error;

  berth_status_t status =
      berth_model_open(model_start, (uint64_t)(model_end - model_start), &model, &error);
  if (status != BERTH_OK) return fail(error.fault, status);
  status = berth_interpreter_init(&interpreter, &model, &options, &memories);
  if (status != BERTH_OK) return fail("init", status);
  status = berth_interpreter_prepare(&interpreter);
  if (status != BERTH_OK) return fail("prepare", status);

  uint64_t random = 1;
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(&interpreter, i);
    if (!input.present) break;
    if (!berth_interpreter_is_pushed(&interpreter, i)) berth_fill_random(&input, &random);
  }
  start_timer();
  status = invoke(&interpreter);
  uint64_t time = nanoseconds();
  if (status != BERTH_OK) return fail("invoke", status);

  for (uint32_t i = 0;; i++) {
    berth_value_t output = berth_interpreter_output(&interpreter, i);
    if (!output.present) break;
    printf("output %lu crc32 %lu\n", (unsigned long)i,
           (unsigned long)berth_crc32(output.data, output.bytes));
  }
  berth_needs_t needs = berth_interpreter_needs(&interpreter);
  printf("memory %lu (activations %lu, persistent %lu, metadata %lu, interpreter %lu)\n",
         (unsigned long)(needs.total + sizeof interpreter), (unsigned long)needs.extent,
         (unsigned long)needs.persistent, (unsigned long)needs.metadata,
         (unsigned long)sizeof interpreter);
  printf("invoke %lu thousand instructions\n", (unsigned long)(time / 1000));
  printf("stack %lu\n", (unsigned long)((uint8_t *)stack_high - (uint8_t *)stack_deepest()));
  return 0;
}

int main(void) {
  int status = run();
  fflush(stdout);
  exit(status);
}
