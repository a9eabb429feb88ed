/* Every kernel that comes with Berth: one line each, sorted by name, as in registry.c. */
#ifndef BERTH_OPERATORS_KERNELS_H
#define BERTH_OPERATORS_KERNELS_H

#include "berth/operator.h"

extern const berth_kernel_t berth_kernel_batch_to_space_nd;
extern const berth_kernel_t berth_kernel_broadcast_to;
extern const berth_kernel_t berth_kernel_concatenation;
extern const berth_kernel_t berth_kernel_conv_2d;
extern const berth_kernel_t berth_kernel_depth_to_space;
extern const berth_kernel_t berth_kernel_depthwise_conv_2d;
extern const berth_kernel_t berth_kernel_embedding_lookup;
extern const berth_kernel_t berth_kernel_expand_dims;
extern const berth_kernel_t berth_kernel_fill;
extern const berth_kernel_t berth_kernel_fully_connected;
extern const berth_kernel_t berth_kernel_gather;
extern const berth_kernel_t berth_kernel_gather_nd;
extern const berth_kernel_t berth_kernel_mirror_pad;
extern const berth_kernel_t berth_kernel_pack;
extern const berth_kernel_t berth_kernel_pad;
extern const berth_kernel_t berth_kernel_padv2;
extern const berth_kernel_t berth_kernel_range;
extern const berth_kernel_t berth_kernel_rank;
extern const berth_kernel_t berth_kernel_reshape;
extern const berth_kernel_t berth_kernel_reverse_v2;
extern const berth_kernel_t berth_kernel_shape;
extern const berth_kernel_t berth_kernel_slice;
extern const berth_kernel_t berth_kernel_space_to_batch_nd;
extern const berth_kernel_t berth_kernel_space_to_depth;
extern const berth_kernel_t berth_kernel_split;
extern const berth_kernel_t berth_kernel_split_v;
extern const berth_kernel_t berth_kernel_squeeze;
extern const berth_kernel_t berth_kernel_strided_slice;
extern const berth_kernel_t berth_kernel_tile;
extern const berth_kernel_t berth_kernel_transpose;
extern const berth_kernel_t berth_kernel_unpack;
extern const berth_kernel_t berth_kernel_zeros_like;

#endif
