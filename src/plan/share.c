/* Union-find over SHARE pairs (Tarjan 1975, path halving). The smaller index becomes the root, so
 * that groups have the same names on every machine. */
#include "plan/share.h"

static uint32_t root(uint32_t *group, uint32_t i) {
  while (group[i] != i) {
    group[i] = group[group[i]];
    i = group[i];
  }
  return i;
}

void berth_plan_share_groups(const berth_problem_t *problem, uint32_t *group) {
  for (uint32_t i = 0; i < problem->buffer_count; i++) group[i] = i;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation != BERTH_SHARE) continue;
    uint32_t a = root(group, problem->pairs[k].a), b = root(group, problem->pairs[k].b);
    if (a < b) group[b] = a;
    if (b < a) group[a] = b;
  }
  for (uint32_t i = 0; i < problem->buffer_count; i++) group[i] = root(group, i);
}
