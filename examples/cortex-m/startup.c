/* From reset to main: the vector table, the floating-point unit, memory, a painted stack. */
#include <stdint.h>
#include <string.h>

extern uint32_t stack_low[], stack_high[], bss_start[], bss_end[], data_start[], data_end[];
extern const uint32_t data_load[];
int main(void);
void initialise_monitor_handles(void);
void reset(void);
uint32_t *stack_deepest(void);

#define PAINT 0xC0FFEE11u

/* The lowest word of the stack that was ever used. */
uint32_t *stack_deepest(void) {
  uint32_t *word = stack_low;
  while (word < stack_high && *word == PAINT) word++;
  return word;
}

static void hang(void) {
  for (;;) {
  }
}

void reset(void) {
  /* Coprocessor access: the FPU, and on a Cortex-M55 the vector extension. */
  *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
  __asm__ volatile("dsb\n isb");
  uint32_t here;
  for (uint32_t *word = stack_low; word < &here - 16; word++) *word = PAINT;
  memcpy(data_start, data_load, (size_t)((uint8_t *)data_end - (uint8_t *)data_start));
  memset(bss_start, 0, (size_t)((uint8_t *)bss_end - (uint8_t *)bss_start));
  initialise_monitor_handles();
  main();
  hang();
}

typedef void handler_t(void);

__attribute__((section(".vectors"), used)) static handler_t *const vectors[16] = {
    (handler_t *)(void *)stack_high,
    reset,
    hang,
    hang,
    hang,
    hang,
    hang,
    0,
    0,
    0,
    0,
    hang,
    hang,
    0,
    hang,
    hang};
