/* What the terminal (or whatever standard output is) can show. */
#ifndef BERTH_SRC_HOST_TERMINAL_H
#define BERTH_SRC_HOST_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct berth_terminal {
  uint32_t columns; /* its width: COLUMNS if set, else the window's, else 80; 40 to 1000 */
  bool colour;      /* a terminal that is not dumb, and NO_COLOR is not set */
  bool utf8;        /* unless the locale's variables name another encoding */
} berth_terminal_t;

berth_terminal_t berth_terminal_of_stdout(void);

#endif
