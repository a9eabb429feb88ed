/* What the commands of `berth` share: exit statuses, their entry points, their last words. */
#ifndef BERTH_CLI_COMMANDS_H
#define BERTH_CLI_COMMANDS_H

#include "host/complaint.h"

/* Exit statuses of every command. */
enum {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,   /* bad input, or something failed */
  EXIT_USAGE = 2,    /* wrong usage */
  EXIT_FINDING = 3,  /* difference, fault, over the limit, proven infeasible */
  EXIT_UNDECIDED = 4 /* the budget ended first */
};

/* argv[0] is the command's own name. */
int command_bisect(int argc, char **argv);
int command_check(int argc, char **argv);
int command_check_plan(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_inspect(int argc, char **argv);
int command_log(int argc, char **argv);
int command_optimize(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_report(int argc, char **argv);
int command_run(int argc, char **argv);
int command_trace(int argc, char **argv);

/* Prints "berth: ..." to standard error; EXIT_FAILED. */
int failed(const berth_complaint_t *complaint);

#endif
