/* Every kernel that comes with Berth: one line each, sorted by name, as in registry.c. */
#ifndef BERTH_OPERATORS_KERNELS_H
#define BERTH_OPERATORS_KERNELS_H

#include "berth/operator.h"

extern const berth_kernel_t berth_kernel_conv_2d;
extern const berth_kernel_t berth_kernel_depthwise_conv_2d;
extern const berth_kernel_t berth_kernel_fully_connected;

#endif
