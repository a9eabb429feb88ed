/* Is a placed streamed plan right? Followed piece by piece, row by row. */
#ifndef BERTH_SRC_HOST_STREAMING_VERIFY_H
#define BERTH_SRC_HOST_STREAMING_VERIFY_H

#include "host/streaming.h"

/* Follows the whole plan and looks at every byte that is read: is it still what it was written as?
 * Errors: INTERNAL (it isn't, `complaint` says what and when), UNSUPPORTED (it is too large to be
 * followed), MEMORY. */
berth_status_t berth_streaming_verify(berth_streaming_t *streaming,
                                      const berth_placement_t *placements,
                                      berth_complaint_t *complaint);

#endif
