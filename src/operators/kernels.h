/* Every kernel that comes with Berth: one line each, sorted by name, as in registry.c. */
#ifndef BERTH_OPERATORS_KERNELS_H
#define BERTH_OPERATORS_KERNELS_H

#include "berth/operator.h"

#endif
