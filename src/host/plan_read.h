/* Reads a plan for a model: Berth's own JSON or CSV, or what the model carries in its metadata. */
#ifndef BERTH_SRC_HOST_PLAN_READ_H
#define BERTH_SRC_HOST_PLAN_READ_H

#include "berth/model.h"
#include "host/complaint.h"

/* What a plan says of a tensor besides its offset; -1: nothing. */
typedef struct berth_stated {
  int64_t size;        /* bytes */
  int64_t first, last; /* steps */
} berth_stated_t;

typedef struct berth_offsets {
  int32_t *offsets; /* of every tensor of all subgraphs, one after the other; -1: none. Heap. */
  uint32_t count;
  berth_stated_t *stated; /* of each, for who checks the plan; NULL: nothing is. Heap. */
} berth_offsets_t;

/* Reads `path` (.csv, else JSON). Errors: ARGUMENT (it cannot be read, or names tensors that the
 * model hasn't), FORMAT, MEMORY. */
berth_status_t berth_offsets_read(const berth_model_t *model, const char *path,
                                  berth_offsets_t *offsets, berth_complaint_t *complaint);

/* Takes the OfflineMemoryAllocation of the model: FORMAT if it is missing or malformed. */
berth_status_t berth_offsets_of_model(const berth_model_t *model, const char *path,
                                      berth_offsets_t *offsets, berth_complaint_t *complaint);

void berth_offsets_free(berth_offsets_t *offsets);

#endif
