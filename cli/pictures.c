/* --svg and --png: the memory map as a file of its own. */
#include "pictures.h"
#include "host/output.h"
#include "host/svg.h"

static berth_status_t write_svg(const berth_plan_report_t *report, const char *path,
                                berth_complaint_t *complaint) {
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, complaint);
  if (status != BERTH_OK) return status;
  status = berth_svg_write(report, output.stream);
  if (status == BERTH_OK) return berth_output_commit(&output, complaint);
  berth_output_discard(&output);
  berth_complain(complaint, "out of memory");
  return status;
}

berth_status_t try_outputs(const options_t *options, berth_complaint_t *complaint) {
  const char *const paths[] = {options->output, options->svg, options->png};
  berth_status_t status = BERTH_OK;
  for (size_t i = 0; i < sizeof paths / sizeof *paths && status == BERTH_OK; i++) {
    if (paths[i] != NULL) status = berth_output_try(paths[i], complaint);
  }
  return status;
}

berth_status_t write_pictures(const options_t *options, const berth_plan_report_t *report,
                              berth_complaint_t *complaint) {
  berth_status_t status = BERTH_OK;
  if (options->svg != NULL) status = write_svg(report, options->svg, complaint);
  if (status == BERTH_OK && options->png != NULL) {
    status = berth_png_write(report, options->png, complaint);
  }
  return status;
}
