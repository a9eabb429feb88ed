/* Which options there are, what they mean and which commands take them. */
#ifndef BERTH_CLI_OPTION_TABLE_H
#define BERTH_CLI_OPTION_TABLE_H

#include "options.h"

typedef struct option {
  const char *name;
  const char *argument; /* what it takes, for people; NULL: nothing; "[=...]": or nothing */
  unsigned commands;    /* FOR_* of those that take it */
  bool (*take)(options_t *options, const char *argument); /* false: not a valid argument; NULL: */
  size_t flag;                                            /* where in options_t the flag is */
  const char *help;
} option_t;

/* The option of that name, `length` characters long, if the command has it; else NULL. */
const option_t *option_find(const char *argument, size_t length, unsigned command);

/* Which values its argument may have, where `argument` does not say it; else NULL. */
const char *option_range(const option_t *option);

/* Sets the flag, or hands over the value. False: not a valid one. */
bool option_apply(const option_t *option, const char *value, options_t *options);

#endif
