/* What Berth's own kernels need besides tensors, as buffers to plan: scratch in their step,
 * workspace and state in every step. Used by berth_subject_open where `kernels` is asked for. */
#ifndef BERTH_SRC_HOST_KERNEL_BUFFERS_H
#define BERTH_SRC_HOST_KERNEL_BUFFERS_H

#include "host/subject.h"

/* Most buffers that berth_kernel_buffers_add appends: the caller makes room for them. */
uint32_t berth_kernel_buffers_max(const berth_model_t *model);

/* Appends them to the subject's buffers and labels; `*names`, on the heap, holds the labels' names
 * and must live as long. Operators without a kernel, or whose shapes are known only at run time,
 * are counted in `unknown_operators`. */
berth_status_t berth_kernel_buffers_add(berth_subject_t *subject,
                                        const berth_subject_options_t *options, void **names,
                                        berth_complaint_t *complaint);

#endif
