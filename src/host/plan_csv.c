/* A plan in CSV: the columns that say what was planned, the offsets, and for models who each buffer
 * is. Read as a problem, it asks for the same sizes, lifetimes and alignments. */
#include "host/csv.h"
#include "host/plan_file.h"

#include <inttypes.h>

void berth_plan_write_csv(const berth_plan_report_t *report, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_problem_t *problem = &subject->problem;
  bool regions = problem->region_count > 0;
  fprintf(stream, "id,lower,upper,size,align,offset%s%s\n", regions ? ",region" : "",
          subject->is_model ? ",kind,subgraph,tensor,name" : "");
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    const berth_label_t *label = &subject->labels[i];
    const berth_placement_t *place = &report->outcome->plan.placements[i];
    if (subject->is_model) {
      fprintf(stream, "%" PRIu32, i);
    } else {
      berth_csv_write(stream, label->name.data, label->name.length);
    }
    fprintf(stream, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", buffer->first,
            (uint64_t)buffer->last + 1, buffer->size, buffer->align);
    if (place->region != BERTH_OUTSIDE) fprintf(stream, "%" PRIu64, place->offset);
    if (regions) {
      fputc(',', stream);
      const char *name = berth_region_name(subject, place->region);
      size_t length = 0;
      while (name[length] != '\0') length++;
      berth_csv_write(stream, name, length);
    }
    if (subject->is_model) {
      fprintf(stream, ",%s,", berth_buffer_kind_name(label->kind));
      if (label->tensor != BERTH_NOBODY) {
        fprintf(stream, "%" PRIu32 ",%" PRIu32, label->subgraph, label->tensor);
      } else {
        fputc(',', stream);
      }
      fputc(',', stream);
      berth_csv_write(stream, label->name.data, label->name.length);
    }
    fputc('\n', stream);
  }
}
