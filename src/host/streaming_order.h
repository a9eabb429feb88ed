/* In which order a model's operators are streamed best. */
#ifndef BERTH_SRC_HOST_STREAMING_ORDER_H
#define BERTH_SRC_HOST_STREAMING_ORDER_H

#include "host/streaming.h"

/* Opens a file as berth_subject_open does. If `options` leave the order open and `wanted` asks for
 * streaming, other orders than the file's are tried, and the model is opened in the one with the
 * smallest peak (subject->order; NULL if that is the file's). Errors: those of berth_subject_open.
 */
berth_status_t berth_streaming_subject_open(const char *path,
                                            const berth_subject_options_t *options,
                                            const berth_streaming_options_t *wanted,
                                            berth_subject_t *subject, berth_complaint_t *complaint);

#endif
