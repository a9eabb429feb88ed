/* All planners by name and number. Kept apart from planner.c, so that a program that names the
 * planner it uses doesn't link the others. */
#include "berth/plan.h"

static const berth_planner_t *const planners[] = {
    &berth_planner_none,   &berth_planner_linear, &berth_planner_tflm,
    &berth_planner_tflite, &berth_planner_size,   &berth_planner_breadth,
    &berth_planner_search, &berth_planner_exact,  &berth_planner_best,
};

enum { PLANNER_COUNT = sizeof planners / sizeof planners[0] };

const berth_planner_t *berth_planner_at(uint32_t index) {
  return index < PLANNER_COUNT ? planners[index] : NULL;
}

static bool equal(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

const berth_planner_t *berth_planner_named(const char *name) {
  for (uint32_t i = 0; name != NULL && i < PLANNER_COUNT; i++) {
    if (equal(name, planners[i]->name)) return planners[i];
  }
  return NULL;
}
