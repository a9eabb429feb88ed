/* Takes the interactive page's place where it is not built: `berth report` is static then. */
#include "host/page_bundle.h"

const unsigned char berth_page_head[1] = {0};
const size_t berth_page_head_size = 0;
const unsigned char berth_page_tail[1] = {0};
const size_t berth_page_tail_size = 0;
