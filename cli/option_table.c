/* The table of options. Whoever adds an option adds a line here and a field to options_t, and a
 * reader to option_values.c if it takes an argument of a new kind. */
#include "option_table.h"
#include "option_values.h"

#include <string.h>

/* What an option sets: a flag of options_t, or whatever the reader of its argument does. */
#define FLAG(field)  NULL, offsetof(options_t, field)
#define TAKE(reader) reader, 0

/* Commands that open and plan a file to show it in another way. */
#define FOR_VIEWS (FOR_GRAPH | FOR_TRACE | FOR_DIFF | FOR_LOG | FOR_REPORT)

/* Commands that plan in every way that there is, and those that stream. */
#define FOR_PLANS    (FOR_PLAN | FOR_INSPECT | FOR_REPORT | FOR_CHECK | FOR_DIFF)
#define FOR_STREAMED (FOR_PLAN | FOR_RUN | FOR_REPORT | FOR_CHECK | FOR_DIFF)

static const option_t table[] = {
    {"--planner", "NAME|all", FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_RUN | FOR_BISECT,
     TAKE(option_set_planner), "how to plan (default: best)"},
    {"--like", "tflm|tflite", FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT, TAKE(option_set_like),
     "planner, alignment and input rule of that runtime"},
    {"--runtime", "tflm|tflite", FOR_INSPECT, TAKE(option_set_stock_runtime),
     "the memory that this stock runtime will report and need"},
    {"--align", "N",
     FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN | FOR_BISECT,
     TAKE(option_set_align), "align, and round sizes up, to N bytes (default: 16; problems: 1)"},
    {"--keep-inputs", NULL,
     FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN,
     FLAG(subject.keep_inputs), "inputs live to the end, not only to their last use"},
    {"--no-fold", NULL, FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT, FLAG(subject.keep_foldable),
     "plan the results of operators on constants, too"},
    {"--no-reuse", NULL, FOR_PLAN | FOR_RUN | FOR_REPORT, FLAG(no_reuse),
     "every buffer its own space: --planner none"},
    {"--reserve", "NAME:BYTES[:FIRST-LAST]", FOR_PLAN | FOR_INSPECT | FOR_REPORT,
     TAKE(option_add_reserve), "plan a buffer of your own along (default: all steps)"},
    {"--overlap", "none|views|inplace", FOR_RUN | FOR_CHECK_PLAN, TAKE(option_set_overlap),
     "what may share memory (default: inplace)"},
    {"--overlap", "none|views|inplace|diagonal", FOR_OPTIMIZE, TAKE(option_set_plan_overlap),
     "what may share memory (default: inplace); diagonal: in TFLM's reference kernels only"},
    {"--overlap", "none|views|inplace|diagonal", FOR_PLANS, TAKE(option_set_plan_overlap),
     "what may share memory (default: none); diagonal: in TFLM's reference kernels"},
    {"--order", "file|best", FOR_PLANS, TAKE(option_set_order),
     "operators in the file's order (default) or that of the smallest peak"},
    {"--clean", NULL, FOR_PLANS, FLAG(subject.clean),
     "plan the model as berth optimize would clean it up"},
    {"--stream", "off|auto|max", FOR_STREAMED, TAKE(option_set_stream),
     "run operators row by row: never (default), where it pays, for the smallest peak"},
    {"--stream-input", NULL, FOR_STREAMED, FLAG(streaming.push_inputs),
     "inputs come row by row, and never exist whole"},
    {"--stream-output", NULL, FOR_STREAMED, FLAG(streaming.pull_outputs),
     "outputs go row by row, as they are made, and never exist whole"},
    {"--conflicts", NULL, FOR_PLAN | FOR_INSPECT, FLAG(conflicts),
     "show which buffers are live in the same step"},
    {"--json", NULL, FOR_ALL, FLAG(json), "print JSON"},
    {"-o", "FILE.json|.csv|.h", FOR_PLAN, TAKE(option_set_output), "write the plan to a file"},
    {"-o", "FILE.html", FOR_REPORT, TAKE(option_set_page), "write the page to a file"},
    {"-o", "FILE.dot", FOR_GRAPH, TAKE(option_set_file), "write the graph to a file"},
    {"-o", "FILE.json", FOR_TRACE, TAKE(option_set_file), "the trace's file"},
    {"--history", "FILE.csv", FOR_LOG, TAKE(option_set_history), "the file to keep"},
    {"--label", "TEXT", FOR_LOG, TAKE(option_set_label), "what to call this version"},
    {"--accuracy", "NUMBER", FOR_LOG, TAKE(option_set_accuracy), "noted as it is given"},
    {"--show", NULL, FOR_LOG, FLAG(show_only), "append nothing, only show the trend"},
    {"--untimed", NULL, FOR_TRACE, FLAG(untimed), "run nothing: each step takes a microsecond"},
    {"--svg", "FILE.svg", FOR_PLAN | FOR_REPORT, TAKE(option_set_svg),
     "write the map as a picture"},
    {"--png", "FILE.png", FOR_PLAN | FOR_REPORT, TAKE(option_set_png),
     "likewise (needs rsvg-convert: Debian's librsvg2-bin)"},
    {"--capacity", "N[K|M]", FOR_PLAN | FOR_CHECK_PLAN, TAKE(option_set_capacity),
     "stop at the first plan that fits into N bytes"},
    {"--minimize", NULL, FOR_PLAN, FLAG(minimize), "find the smallest peak (default)"},
    {"--pairs", "FILE", FOR_PLAN | FOR_REPORT, TAKE(option_set_pairs),
     "CSV of relations between buffers"},
    {"--region", "NAME=SIZE[@COST]", FOR_PLAN | FOR_REPORT, TAKE(option_add_region),
     "a memory, fastest first; COST per byte moved (1, 2, ...)"},
    {"--without", "TECHNIQUE", FOR_PLAN | FOR_REPORT, TAKE(option_add_without),
     "leave a technique of planner exact out (repeatable)"},
    {"--work-limit", "N", FOR_PLAN | FOR_REPORT, TAKE(option_set_work_limit),
     "budget in units of work, alike on any machine; with --stream, of both searches"},
    {"--time-limit", "SECONDS", FOR_PLAN | FOR_REPORT, TAKE(option_set_time_limit),
     "stop then, with the best plan so far"},
    {"--input", "NAME=FILE", FOR_RUN, TAKE(option_add_input),
     "raw little-endian values of a graph input"},
    {"--fill", "zero|random:SEED", FOR_RUN | FOR_BISECT, TAKE(option_set_fill),
     "inputs without a file (default: zero)"},
    {"--print-memory-usage", NULL, FOR_PLAN | FOR_INSPECT | FOR_RUN, FLAG(print_usage),
     "for each operator: activations, scratch, workspace, live total"},
    {"--print-allocations", NULL, FOR_PLAN | FOR_INSPECT | FOR_RUN, FLAG(print_allocations),
     "every buffer: class, bytes, offset, first and last step, region"},
    {"--max-arena", "N[K|M]", FOR_CHECK, TAKE(option_set_max_arena), "the limit"},
    {"--runtime", "plan|berth|tflm|tflite", FOR_CHECK, TAKE(option_set_runtime),
     "whose arena is meant (default: plan)"},
    {"--bits", "64|32|arm", FOR_CHECK | FOR_INSPECT, TAKE(option_set_bits),
     "stock TFLM's target: 64-bit (default), 32-bit x86, or Arm"},
    {"--kernel-set", "reference|cmsis-nn", FOR_CHECK | FOR_INSPECT, TAKE(option_set_kernel_set),
     "which kernels stock TFLM is built with (default: reference)"},
    {"--abi", "i386|arm", FOR_CHECK | FOR_INSPECT, TAKE(option_set_abi),
     "likewise: the rules of a 32-bit target for 8-byte types"},
    {"--sweep", "KIND[=FROM:TO[:STEP]]", FOR_PLAN | FOR_INSPECT | FOR_RUN, TAKE(option_set_sweep),
     "the peak over resolution, batch, align or regions"},
    {"--instances", "N", FOR_INSPECT, TAKE(option_set_instances),
     "what N threads cost: shared and private parts"},
    {"--set-shape", "NAME=1,96,96,3",
     FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_OPTIMIZE,
     TAKE(option_add_shape), "give a graph input another shape"},
    {"--assume", "WHAT", FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT,
     TAKE(option_add_assumption), "int8, int8:TENSOR, quantized-inputs or quantized-outputs"},
    {"--drop-output", "NAME", FOR_VIEWS | FOR_CHECK | FOR_PLAN | FOR_INSPECT,
     TAKE(option_add_dropped), "plan without a graph output (inner: all that are read on)"},
    {"--drop-unused", NULL, FOR_PLAN | FOR_INSPECT | FOR_REPORT, FLAG(subject.what_if.drop_unused),
     "plan without operators whose results nobody uses"},
    {"--kernels", NULL, FOR_VIEWS | FOR_PLAN | FOR_INSPECT, FLAG(subject.kernels),
     "plan the scratch and workspace of Berth's kernels along"},
    {"--invokes", "N", FOR_RUN, TAKE(option_set_invokes), "run so many times (default: 1)"},
    {"--output-dir", "DIR", FOR_RUN, TAKE(option_set_output_dir),
     "write outputs there: out<k>.bin, or run<n>.out<k>.bin"},
    {"--profile", NULL, FOR_RUN, FLAG(execution.profile), "time and memory of each operator"},
    {"--replay", "DIR", FOR_RUN, TAKE(option_set_replay),
     "run recorded inputs and compare with recorded outputs"},
    {"--tolerance", "REL", FOR_RUN, TAKE(option_set_tolerance),
     "for float outputs of --replay, relative to the largest (default: 0)"},
    {"--guard", "[=full|fast]", FOR_RUN, TAKE(option_set_guard),
     "check that operators keep their memory contracts; fast: what one evaluation shows"},
    {"--plan", "FILE.json|.csv", FOR_RUN | FOR_BISECT, TAKE(option_set_plan_file),
     "use this plan of the model as it is"},
    {"--compare", "none", FOR_RUN, TAKE(option_set_compare),
     "run without reuse as well, and compare every tensor"},
    {"--watch", NULL, FOR_RUN, FLAG(execution.watch), "plot the memory over the invokes"},
    {"--portable", NULL, FOR_RUN, FLAG(execution.runner.interpreter.portable),
     "use portable C kernels only"},
    {"--store-multipliers", NULL, FOR_RUN, FLAG(execution.runner.interpreter.store_multipliers),
     "keep per-channel multipliers: more memory, less time"},
    {"--ignore-model-plan", NULL, FOR_RUN, FLAG(execution.runner.interpreter.ignore_model_plan),
     "don't use the OfflineMemoryAllocation in the model"},
    {"--verbose", NULL, FOR_RUN, FLAG(execution.runner.verbose), "tell what prepare decided"},
    {"-o", "OUT.tflite", FOR_OPTIMIZE, TAKE(option_set_result),
     "where to write the model; without, nothing is written"},
    {"--order", "file|best", FOR_OPTIMIZE, TAKE(option_set_order),
     "the file's order of operators, or the one that needs least (default)"},
    {"--kernel-set", "reference|cmsis-nn", FOR_OPTIMIZE, TAKE(option_set_stock_kernels),
     "of the firmware, for their scratch (default: reference)"},
    {"--kernels", "reference|cmsis-nn", FOR_OPTIMIZE, TAKE(option_set_stock_kernels),
     "the same: --kernel-set's other name"},
    {"--header", "FILE.h", FOR_OPTIMIZE, TAKE(option_set_header),
     "also write the plan as a C header"},
    {"--keep", "WHAT|all", FOR_OPTIMIZE, TAKE(option_add_keep),
     "leave a clean-up out (repeatable; listed below)"},
    {"--allow-rounding", NULL, FOR_OPTIMIZE, FLAG(optimization.allow_rounding),
     "fold MUL and ADD into float convolutions, which rounds differently"},
    {"--grow", NULL, FOR_OPTIMIZE, FLAG(optimization.grow),
     "fold constants also where the file grows by it"},
    {"--no-plan", NULL, FOR_OPTIMIZE, FLAG(optimization.no_plan), "store no plan in the metadata"},
    {"--no-verify", NULL, FOR_OPTIMIZE, FLAG(optimization.no_verify),
     "don't run original and result to compare them"},
    {"--help", NULL, FOR_ALL, FLAG(help), "this"},
};
#define TABLE_SIZE (sizeof table / sizeof table[0])

const option_t *option_find(const char *argument, size_t length, unsigned command) {
  for (size_t i = 0; i < TABLE_SIZE; i++) {
    if ((table[i].commands & command) != 0 && strlen(table[i].name) == length &&
        memcmp(table[i].name, argument, length) == 0) {
      return &table[i];
    }
  }
  return NULL;
}

const char *option_range(const option_t *option) {
  static const char *const ranges[][2] = {
      {"--align", "a power of two, 1G at most"},
      {"--reserve", "at most 256 of them, and FIRST <= LAST"},
      {"--region", "each with another name"},
      {"--capacity", "at least 1"},
      {"--max-arena", "at least 1"},
      {"--work-limit", "at least 1"},
      {"--time-limit", "more than 0"},
      {"--sweep", "resolution, batch or align up to 64K, or regions; align by doubling"},
      {"--instances", "1 to 65536"},
      {"--invokes", "1 to 100000000"},
      {"--set-shape", "8 numbers at most, none negative"},
      {"--assume", "int8, int8:TENSOR, quantized-inputs or quantized-outputs"},
      {"--tolerance", "0 to 1"},
      {"--planner", "listed by berth plan --help"},
      {"--without", "listed by berth plan --help"},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    if (strcmp(ranges[i][0], option->name) == 0) return ranges[i][1];
  }
  return NULL;
}

bool option_apply(const option_t *option, const char *value, options_t *options) {
  if (option->take != NULL) return option->take(options, value);
  *(bool *)((char *)options + option->flag) = true;
  return true;
}

void options_print(unsigned command, FILE *stream) {
  fputs("Options:\n", stream);
  for (size_t i = 0; i < TABLE_SIZE; i++) {
    if ((table[i].commands & command) == 0) continue;
    char left[64];
    const char *argument = table[i].argument != NULL ? table[i].argument : "";
    bool apart = argument[0] != '\0' && argument[0] != '[';
    snprintf(left, sizeof left, "%s%s%s", table[i].name, apart ? " " : "", argument);
    fprintf(stream, "  %-34s %s\n", left, table[i].help);
  }
}
