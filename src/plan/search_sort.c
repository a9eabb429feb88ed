/* Sorts of the search planner: keys by radix, the short lists of taken intervals by quicksort.
 *
 * Both depend on nothing but the values, so that the order is the same on every machine.
 */
#include "plan/search.h"
#include <string.h>

void berth_search_sort_by_key(uint32_t *items, uint32_t count, const uint64_t *key,
                              uint32_t *spare) {
  uint32_t *from = items, *to = spare;
  for (uint32_t shift = 0; shift < 64; shift += 8) {
    uint32_t at[256] = {0};
    for (uint32_t i = 0; i < count; i++) at[~key[from[i]] >> shift & 255]++;
    if (count == 0 || at[~key[from[0]] >> shift & 255] == count) continue; /* all equal here */
    for (uint32_t d = 0, sum = 0; d < 256; d++) {
      uint32_t here = at[d];
      at[d] = sum;
      sum += here;
    }
    for (uint32_t i = 0; i < count; i++) to[at[~key[from[i]] >> shift & 255]++] = from[i];
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

/* Quicksort (Hoare 1961) with the median of three, which sorts the smaller side first, so that the
 * stack stays low; a heap sort takes over where the partitions are lopsided (Musser 1997). */
#define DEFINE_SORT(NAME, TYPE, FIELD)                                                             \
  static void NAME##_sift(TYPE *a, uint32_t i, uint32_t count) {                                   \
    TYPE value = a[i];                                                                             \
    for (uint32_t child; i < count / 2; i = child) {                                               \
      child = 2 * i + 1;                                                                           \
      if (child + 1 < count && a[child].FIELD < a[child + 1].FIELD) child++;                       \
      if (a[child].FIELD <= value.FIELD) break;                                                    \
      a[i] = a[child];                                                                             \
    }                                                                                              \
    a[i] = value;                                                                                  \
  }                                                                                                \
  static void NAME##_heap(TYPE *a, uint32_t count) {                                               \
    for (uint32_t i = count / 2; i > 0; i--) NAME##_sift(a, i - 1, count);                         \
    for (uint32_t end = count; end > 1; end--) {                                                   \
      TYPE top = a[0];                                                                             \
      a[0] = a[end - 1];                                                                           \
      a[end - 1] = top;                                                                            \
      NAME##_sift(a, 0, end - 1);                                                                  \
    }                                                                                              \
  }                                                                                                \
  static uint64_t NAME##_median(const TYPE *a, uint32_t count) {                                   \
    uint64_t x = a[0].FIELD, y = a[count / 2].FIELD, z = a[count - 1].FIELD;                       \
    if (x > y) {                                                                                   \
      uint64_t swap = x;                                                                           \
      x = y;                                                                                       \
      y = swap;                                                                                    \
    }                                                                                              \
    return z <= x ? x : z < y ? z : y;                                                             \
  }                                                                                                \
  static void NAME##_some(TYPE *a, uint32_t count, uint32_t depth) {                               \
    while (count > 24) {                                                                           \
      if (depth-- == 0) {                                                                          \
        NAME##_heap(a, count);                                                                     \
        return;                                                                                    \
      }                                                                                            \
      uint64_t pivot = NAME##_median(a, count);                                                    \
      uint32_t i = 0, j = count - 1;                                                               \
      for (;; i++, j--) {                                                                          \
        while (a[i].FIELD < pivot) i++;                                                            \
        while (a[j].FIELD > pivot) j--;                                                            \
        if (i >= j) break;                                                                         \
        TYPE swap = a[i];                                                                          \
        a[i] = a[j];                                                                               \
        a[j] = swap;                                                                               \
      }                                                                                            \
      uint32_t left = j + 1, right = count - left;                                                 \
      if (left < right) {                                                                          \
        NAME##_some(a, left, depth);                                                               \
        a += left;                                                                                 \
        count = right;                                                                             \
      } else {                                                                                     \
        NAME##_some(a + left, right, depth);                                                       \
        count = left;                                                                              \
      }                                                                                            \
    }                                                                                              \
    for (uint32_t i = 1; i < count; i++) {                                                         \
      TYPE value = a[i];                                                                           \
      uint32_t j = i;                                                                              \
      for (; j > 0 && a[j - 1].FIELD > value.FIELD; j--) a[j] = a[j - 1];                          \
      a[j] = value;                                                                                \
    }                                                                                              \
  }

DEFINE_SORT(intervals, berth_search_interval_t, low)
DEFINE_SORT(ends, berth_search_end_t, high)

enum { DEPTH = 64 }; /* partitions one inside the other before the heap sort takes over */

void berth_search_sort_intervals(berth_search_interval_t *intervals, uint32_t count) {
  intervals_some(intervals, count, DEPTH);
}

void berth_search_sort_ends(berth_search_end_t *ends, uint32_t count) {
  ends_some(ends, count, DEPTH);
}
