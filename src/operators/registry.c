/* The table of all kernels. An application that wants fewer gives the interpreter its own. */
#include "operators/kernels.h"

/* Sorted by name; one line each. */
const berth_kernel_t *const berth_kernels[] = {
    &berth_kernel_conv_2d,
    &berth_kernel_depthwise_conv_2d,
    &berth_kernel_fully_connected,
    NULL,
};
