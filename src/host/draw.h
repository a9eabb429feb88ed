/* A picture of a plan in the terminal: time runs to the right, addresses go up. */
#ifndef BERTH_SRC_HOST_DRAW_H
#define BERTH_SRC_HOST_DRAW_H

#include "berth/plan.h"
#include "host/terminal.h"
#include <stdio.h>

typedef struct berth_drawing {
  const berth_problem_t *problem;
  const berth_placement_t *placements;
  const char *marks;   /* of each buffer: the letter to write into it, or '\0' */
  uint32_t region;     /* which one is drawn */
  uint64_t height;     /* bytes from bottom to top */
  uint32_t step_count; /* steps from left to right */
  uint32_t peak_step;  /* pointed at */
} berth_drawing_t;

/* Draws it, as wide as the terminal. MEMORY. */
berth_status_t berth_draw(const berth_drawing_t *drawing, berth_terminal_t terminal, FILE *stream);

#endif
