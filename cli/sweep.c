/* Shows a curve. */
#include "sweep.h"
#include "commands.h"

#define INVOKES 5u /* of each point, where nothing else is said: the first is slow */

int sweep_show(const options_t *options, bool timed) {
  berth_complaint_t complaint;
  static berth_curve_t curve; /* large */
  const berth_planner_t *planner = options->planner;
  if (planner == NULL && !options->all_planners) planner = &berth_planner_best;
  if (planner == NULL) {
    berth_complain(&complaint, "%s: one planner at a time", options->path);
    return failed(&complaint);
  }
  uint32_t invokes = options->execution.invokes > 1 ? options->execution.invokes : INVOKES;
  if (berth_sweep_make(options->path, &options->subject, planner, &options->planning,
                       &options->sweep, timed, invokes, &curve, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    berth_curve_json(&curve, options->path, planner->name, stdout);
    return EXIT_DONE;
  }
  berth_curve_print(&curve, options->path, berth_terminal_of_stdout(), stdout);
  return EXIT_DONE;
}
