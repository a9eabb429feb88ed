/* Bottom-up merge sort over runs made by insertion. Used wherever a planner needs an order. */
#include "plan/sort.h"
#include <string.h>

enum { RUN = 8 }; /* items sorted by insertion before merging starts */

static void insertion(uint32_t *items, uint32_t count, berth_before_t before, const void *context) {
  for (uint32_t i = 1; i < count; i++) {
    uint32_t item = items[i];
    uint32_t j = i;
    for (; j > 0 && before(context, item, items[j - 1]); j--) items[j] = items[j - 1];
    items[j] = item;
  }
}

/* Merges from[0, middle) and from[middle, count) into `to`; of equal items the left goes first. */
static void merge(const uint32_t *from, uint32_t middle, uint32_t count, uint32_t *to,
                  berth_before_t before, const void *context) {
  uint32_t left = 0, right = middle;
  for (uint32_t i = 0; i < count; i++) {
    bool take_right = left == middle || (right < count && before(context, from[right], from[left]));
    to[i] = take_right ? from[right++] : from[left++];
  }
}

void berth_plan_sort(uint32_t *items, uint32_t count, uint32_t *spare, berth_before_t before,
                     const void *context) {
  for (uint32_t start = 0; start < count;) {
    uint32_t length = count - start < RUN ? count - start : RUN;
    insertion(items + start, length, before, context);
    start += length;
  }
  uint32_t *from = items, *to = spare;
  for (uint64_t width = RUN; width < count; width *= 2) {
    for (uint64_t start = 0; start < count; start += 2 * width) {
      uint64_t left = count - start;
      uint32_t length = (uint32_t)(left < 2 * width ? left : 2 * width);
      uint32_t middle = (uint32_t)(length < width ? length : width);
      merge(from + start, middle, length, to + start, before, context);
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}
