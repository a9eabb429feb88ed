/* The interactive page, as web/ builds it: what stands before the data and what stands behind it.
 * Generated into the build folder (web/bundle.cmake); both sizes are 0 where it could not be built.
 */
#ifndef BERTH_SRC_HOST_PAGE_BUNDLE_H
#define BERTH_SRC_HOST_PAGE_BUNDLE_H

#include <stddef.h>

extern const unsigned char berth_page_head[];
extern const size_t berth_page_head_size;
extern const unsigned char berth_page_tail[];
extern const size_t berth_page_tail_size;

#endif
