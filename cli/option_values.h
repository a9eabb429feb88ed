/* The readers of options' arguments. Each takes one argument into the options; false: it is not a
 * valid one, and the caller says what would be. */
#ifndef BERTH_CLI_OPTION_VALUES_H
#define BERTH_CLI_OPTION_VALUES_H

#include "options.h"

bool option_set_planner(options_t *options, const char *argument);
bool option_set_like(options_t *options, const char *argument);
bool option_set_stock_runtime(options_t *options, const char *argument);
bool option_set_abi(options_t *options, const char *argument);
bool option_set_kernel_set(options_t *options, const char *argument);
bool option_set_align(options_t *options, const char *argument);
bool option_add_reserve(options_t *options, const char *argument);
bool option_add_region(options_t *options, const char *argument);
bool option_add_without(options_t *options, const char *argument);
bool option_set_capacity(options_t *options, const char *argument);
bool option_set_work_limit(options_t *options, const char *argument);
bool option_set_time_limit(options_t *options, const char *argument);
bool option_set_output(options_t *options, const char *argument);
bool option_set_page(options_t *options, const char *argument);
bool option_set_svg(options_t *options, const char *argument);
bool option_set_png(options_t *options, const char *argument);
bool option_set_result(options_t *options, const char *argument);
bool option_set_order(options_t *options, const char *argument);
bool option_set_stock_kernels(options_t *options, const char *argument);
bool option_set_header(options_t *options, const char *argument);
bool option_add_keep(options_t *options, const char *argument);
bool option_set_pairs(options_t *options, const char *argument);
bool option_add_input(options_t *options, const char *argument);
bool option_add_shape(options_t *options, const char *argument);
bool option_add_assumption(options_t *options, const char *argument);
bool option_add_dropped(options_t *options, const char *argument);
bool option_set_stream(options_t *options, const char *argument);
bool option_set_overlap(options_t *options, const char *argument);
bool option_set_plan_overlap(options_t *options, const char *argument);
bool option_set_sweep(options_t *options, const char *argument);
bool option_set_instances(options_t *options, const char *argument);
bool option_set_runtime(options_t *options, const char *argument);
bool option_set_bits(options_t *options, const char *argument);
bool option_set_max_arena(options_t *options, const char *argument);
bool option_set_file(options_t *options, const char *argument);
bool option_set_history(options_t *options, const char *argument);
bool option_set_label(options_t *options, const char *argument);
bool option_set_accuracy(options_t *options, const char *argument);
bool option_set_fill(options_t *options, const char *argument);
bool option_set_invokes(options_t *options, const char *argument);
bool option_set_output_dir(options_t *options, const char *argument);
bool option_set_replay(options_t *options, const char *argument);
bool option_set_tolerance(options_t *options, const char *argument);
bool option_set_plan_file(options_t *options, const char *argument);
bool option_set_compare(options_t *options, const char *argument);
bool option_set_guard(options_t *options, const char *argument); /* NULL: `--guard` alone */

#endif
