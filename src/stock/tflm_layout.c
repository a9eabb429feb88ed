/* Struct sizes by the C rules: each member at the next multiple of its alignment, the whole rounded
 * up to the largest alignment. See the header for the notation. */
#include "stock/tflm_layout.h"
#include "plan/round.h"

const char *berth_abi_name(berth_abi_t abi) {
  switch (abi) {
  case BERTH_ABI_64:
    return "64-bit";
  case BERTH_ABI_ARM:
    return "32-bit Arm";
  default:
    return "32-bit i386";
  }
}

uint32_t berth_abi_pointer(berth_abi_t abi) {
  return abi == BERTH_ABI_64 ? 8 : 4;
}

static berth_layout_t member(char letter, berth_abi_t abi) {
  uint32_t pointer = berth_abi_pointer(abi);
  switch (letter) {
  case 'b':
    return (berth_layout_t){1, 1};
  case 'h':
    return (berth_layout_t){2, 2};
  case 'i':
    return (berth_layout_t){4, 4};
  case 'l':
  case 'd':
    return (berth_layout_t){8, abi == BERTH_ABI_I386 ? 4 : 8};
  default: /* p, z */
    return (berth_layout_t){pointer, pointer};
  }
}

static uint32_t rounded(uint32_t size, uint32_t align) {
  return (uint32_t)berth_round_up(size, align);
}

/* Reads members up to a closing parenthesis or the end; `*text` is then behind it. */
static berth_layout_t read_struct(const char **text, berth_abi_t abi) {
  berth_layout_t whole = {0, 1};
  while (**text != '\0' && **text != ')') {
    uint32_t count = 0;
    while (**text >= '0' && **text <= '9') count = count * 10 + (uint32_t)(*(*text)++ - '0');
    if (count == 0) count = 1;
    char letter = *(*text)++;
    berth_layout_t part = letter == '(' ? read_struct(text, abi) : member(letter, abi);
    whole.size = rounded(whole.size, part.align) + count * part.size;
    if (part.align > whole.align) whole.align = part.align;
  }
  if (**text == ')') (*text)++;
  whole.size = rounded(whole.size, whole.align);
  return whole;
}

berth_layout_t berth_layout(const char *members, berth_abi_t abi) {
  return read_struct(&members, abi);
}
