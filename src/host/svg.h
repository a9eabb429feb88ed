/* The memory map of a plan as an SVG picture: time runs to the right, addresses go up. */
#ifndef BERTH_SRC_HOST_SVG_H
#define BERTH_SRC_HOST_SVG_H

#include "host/plan_file.h"

/* Draws the plan of `report`, which must have one: for each region that is used, a map with the
 * buffers coloured by class, those of the peak strongly and with the letters that `berth plan`
 * gives them, the peak's step, and the load of each step as a dashed line. Every rectangle says in
 * its title what it is. A whole SVG 1.1 document, 1000 units wide, without scripts. MEMORY. */
berth_status_t berth_svg_write(const berth_plan_report_t *report, FILE *stream);

/* The same as PNG, by way of rsvg-convert (Debian: librsvg2-bin), into a file that appears whole or
 * not at all. UNSUPPORTED if that program isn't installed; MEMORY, FORMAT if something fails. */
berth_status_t berth_png_write(const berth_plan_report_t *report, const char *path,
                               berth_complaint_t *complaint);

#endif
