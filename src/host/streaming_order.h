/* In which order a model's operators are streamed best. */
#ifndef BERTH_SRC_HOST_STREAMING_ORDER_H
#define BERTH_SRC_HOST_STREAMING_ORDER_H

#include "host/streaming.h"

/* Tries other orders than the file's, if `options` leave the order open and `wanted` asks for
 * streaming: `*order` (on the heap) is the one with the smallest peak, NULL if that is the file's.
 * To be given as options.order to whoever opens the model to stream it. Errors: MEMORY; whatever
 * else is wrong with the model is left to that. */
berth_status_t berth_streaming_order(const char *path, const berth_subject_options_t *options,
                                     const berth_streaming_options_t *wanted, uint32_t **order,
                                     berth_complaint_t *complaint);

#endif
