/* Options of the command line: one table says which there are, what they mean and which command
 * takes them; parsing and --help both follow it. */
#ifndef BERTH_CLI_OPTIONS_H
#define BERTH_CLI_OPTIONS_H

#include "host/planning.h"
#include "host/subject.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which commands take an option, a bit each. */
enum { FOR_INSPECT = 1, FOR_PLAN = 2 };

#define RESERVES_MAX 256

typedef struct options {
  const char *path;               /* the one file that commands take */
  const berth_planner_t *planner; /* NULL with all_planners */
  bool all_planners;
  bool planner_given;
  bool no_reuse;
  bool conflicts;
  bool json;
  bool minimize;
  bool help;
  const char *like;   /* "tflm", "tflite" or NULL */
  const char *output; /* NULL: none */
  berth_subject_options_t subject;
  berth_planning_t planning;
  berth_reserve_t reserves[RESERVES_MAX];
  berth_named_region_t regions[BERTH_REGIONS_MAX];
  char *names; /* of reserves and regions, NUL after each, on the heap */
  size_t names_used;
} options_t;

/* Parses argv[1..]. False: wrong usage, which has been told on standard error. */
bool options_parse(int argc, char **argv, unsigned command, options_t *options);
void options_free(options_t *options);

/* The options of a command, for its --help. */
void options_print(unsigned command, FILE *stream);

#endif
