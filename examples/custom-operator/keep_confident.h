/* The custom operator KeepConfident; see keep_confident.c. */
#ifndef KEEP_CONFIDENT_H
#define KEEP_CONFIDENT_H

#include "berth/operator.h"

extern const berth_kernel_t keep_confident;

#endif
