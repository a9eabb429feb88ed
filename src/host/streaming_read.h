/* What a saved plan says besides its offsets: what runs row by row (`berth plan --stream ... -o
 * plan.json`, under the key "streaming"), and the order of operators that is not the file's
 * (there, or for `--order best` alone under the key "order"). */
#ifndef BERTH_SRC_HOST_STREAMING_READ_H
#define BERTH_SRC_HOST_STREAMING_READ_H

#include "host/plan_read.h"
#include "host/streaming.h"

/* A tensor that has a ring, as the file says. */
typedef struct berth_saved_ring {
  uint32_t run; /* number in `runs` */
  uint32_t tensor;
  uint32_t rows;
} berth_saved_ring_t;

/* The file's streaming, unverified. Arrays are on the heap. */
typedef struct berth_saved_streaming {
  berth_stream_run_t *runs;
  uint32_t run_count; /* 0: nothing is streamed */
  berth_saved_ring_t *rings;
  uint32_t ring_count;
  uint32_t *order; /* operator of each step, streamed or not; NULL: the file's order */
  uint32_t order_count;
} berth_saved_streaming_t;

/* Reads it from a plan in JSON; a file without it, or in CSV, has nothing streamed. Errors:
 * ARGUMENT (the file cannot be read), FORMAT, MEMORY. */
berth_status_t berth_saved_streaming_read(const char *path, berth_saved_streaming_t *saved,
                                          berth_complaint_t *complaint);
void berth_saved_streaming_free(berth_saved_streaming_t *saved);

/* Has the order, if there is one, each of the model's operators once, after those that it reads
 * from, and those with effects or with one variable as in the file? Errors: FORMAT (no: `complaint`
 * names `path`), MEMORY. */
berth_status_t berth_saved_order_check(const berth_saved_streaming_t *saved, const char *path,
                                       const berth_model_t *model, berth_complaint_t *complaint);

/* Lets `streaming` hold the saved plan, with `offsets` for the tensors, after a check of every part
 * of it: runs that are none, rings of tensors that no such run makes, offsets that are missing or
 * misaligned, and row by row whether anything is overwritten that is still needed. `subject` is the
 * model in the saved order. `*placements`, on the heap, are those of the subject's buffers. Errors:
 * FORMAT (it is wrong: `complaint` names `path` and the place), MEMORY, OVERFLOW, UNSUPPORTED. */
berth_status_t berth_saved_streaming_adopt(const berth_saved_streaming_t *saved, const char *path,
                                           const berth_offsets_t *offsets, berth_subject_t *subject,
                                           uint32_t align, berth_streaming_t *streaming,
                                           berth_placement_t **placements,
                                           berth_complaint_t *complaint);

#endif
