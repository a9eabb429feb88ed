/* The `berth` program: finds the command and leaves the rest to it. */
#include "commands.h"
#include "host/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} command_t;

static const command_t commands[] = {
    {"plan", command_plan, "find the smallest memory for a model or a problem, and show it"},
    {"inspect", command_inspect, "list a model's operators and tensors, with sizes and lifetimes"},
    {"report", command_report, "write an HTML page that shows a plan, or compares two"},
    {"run", command_run, "execute a model inside its plan, time it, compare it with recordings"},
    {"check", command_check, "hold a model's arena against a limit, and name the largest causes"},
    {"optimize", command_optimize, "write a model that needs less memory in stock runtimes"},
    {"diff", command_diff, "say what grew, moved or appeared between two plans"},
    {"log", command_log, "keep a model's peak, arena, latency and accuracy, and show the trend"},
    {"graph", command_graph, "write the model for GraphViz, coloured by live bytes"},
    {"trace", command_trace, "run a model and write a trace for Perfetto or Chrome"},
    {"check-plan", command_check_plan, "say what is wrong with somebody's plan for a model"},
    {"bisect", command_bisect, "find the sharing of memory that changes a model's results"},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *stream) {
  fputs("berth plans the memory of neural-network inference.\n\n"
        "usage: berth COMMAND [OPTION]... FILE\n\nCommands:\n",
        stream);
  for (size_t i = 0; i < COMMANDS; i++) {
    fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
  }
  fputs("\nberth COMMAND --help says more; berth --version prints the version.\n"
        "Exit status: 0 done, 1 bad input or failure, 2 wrong usage, 3 a finding,\n"
        "4 undecided within the budget.\n",
        stream);
}

int failed(const berth_complaint_t *complaint) {
  fprintf(stderr, "berth: %s\n", complaint->text);
  return EXIT_FAILED;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_help(stdout);
    return EXIT_DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    puts("berth " BERTH_VERSION);
    return EXIT_DONE;
  }
  for (size_t i = 0; i < COMMANDS; i++) {
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  }
  berth_complaint_t complaint;
  berth_complain(&complaint, "there is no command \"%s\" (see berth --help)", argv[1]);
  failed(&complaint);
  return EXIT_USAGE;
}

/* What was printed and written is kept together, or nothing of it is. */
int main(int argc, char **argv) {
  berth_output_guard_streams();
  berth_interrupt_watch();
  berth_output_hold();
  int status = run(argc, argv);
  /* A full disk or a reader that has gone would otherwise pass for success. */
  errno = 0;
  if (!berth_output_flush_stdout()) {
    fprintf(stderr, "berth: standard output cannot be written: %s\n",
            errno != 0 ? strerror(errno) : "write error");
    if (status != EXIT_USAGE) status = EXIT_FAILED;
  }
  berth_complaint_t complaint;
  bool keep = status != EXIT_FAILED && status != EXIT_USAGE;
  if (berth_output_release(keep, &complaint) != BERTH_OK) return failed(&complaint);
  return status;
}
