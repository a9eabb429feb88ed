/* Names for the numbers in a .tflite file: tensor types, operator codes, fields of option tables.
 *
 * Everything here is a fact of the file format (tensorflow/compiler/mlir/lite/schema/schema.fbs,
 * version 3d): the numbers can grow but never change.
 */
#ifndef BERTH_SCHEMA_H
#define BERTH_SCHEMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the elements of a tensor are. */
typedef enum berth_tensor_type {
  BERTH_TYPE_FLOAT32 = 0,
  BERTH_TYPE_FLOAT16 = 1,
  BERTH_TYPE_INT32 = 2,
  BERTH_TYPE_UINT8 = 3,
  BERTH_TYPE_INT64 = 4,
  BERTH_TYPE_STRING = 5,
  BERTH_TYPE_BOOL = 6,
  BERTH_TYPE_INT16 = 7,
  BERTH_TYPE_COMPLEX64 = 8,
  BERTH_TYPE_INT8 = 9,
  BERTH_TYPE_FLOAT64 = 10,
  BERTH_TYPE_COMPLEX128 = 11,
  BERTH_TYPE_UINT64 = 12,
  BERTH_TYPE_RESOURCE = 13,
  BERTH_TYPE_VARIANT = 14,
  BERTH_TYPE_UINT32 = 15,
  BERTH_TYPE_UINT16 = 16,
  BERTH_TYPE_INT4 = 17,
  BERTH_TYPE_BFLOAT16 = 18,
  BERTH_TYPE_INT2 = 19,
  BERTH_TYPE_UINT4 = 20,
  BERTH_TYPE_FLOAT8_E4M3FN = 21,
  BERTH_TYPE_FLOAT8_E5M2 = 22,
  BERTH_TYPE_COUNT
} berth_tensor_type_t;

/* The type's name in lower case ("float32"); "unknown" if it isn't one. Static. */
const char *berth_tensor_type_name(berth_tensor_type_t type);

/* Bits of one element as constants are stored (4-bit and 2-bit types are packed, lowest bits
 * first); 0 for types without a fixed size: strings, resources, variants, unknown ones. */
uint32_t berth_tensor_type_bits(berth_tensor_type_t type);

/* Which operator. A file may hold numbers that are newer than this list: they are kept. */
typedef enum berth_builtin {
  BERTH_BUILTIN_ADD = 0,
  BERTH_BUILTIN_AVERAGE_POOL_2D = 1,
  BERTH_BUILTIN_CONCATENATION = 2,
  BERTH_BUILTIN_CONV_2D = 3,
  BERTH_BUILTIN_DEPTHWISE_CONV_2D = 4,
  BERTH_BUILTIN_DEPTH_TO_SPACE = 5,
  BERTH_BUILTIN_DEQUANTIZE = 6,
  BERTH_BUILTIN_EMBEDDING_LOOKUP = 7,
  BERTH_BUILTIN_FLOOR = 8,
  BERTH_BUILTIN_FULLY_CONNECTED = 9,
  BERTH_BUILTIN_HASHTABLE_LOOKUP = 10,
  BERTH_BUILTIN_L2_NORMALIZATION = 11,
  BERTH_BUILTIN_L2_POOL_2D = 12,
  BERTH_BUILTIN_LOCAL_RESPONSE_NORMALIZATION = 13,
  BERTH_BUILTIN_LOGISTIC = 14,
  BERTH_BUILTIN_LSH_PROJECTION = 15,
  BERTH_BUILTIN_LSTM = 16,
  BERTH_BUILTIN_MAX_POOL_2D = 17,
  BERTH_BUILTIN_MUL = 18,
  BERTH_BUILTIN_RELU = 19,
  BERTH_BUILTIN_RELU_N1_TO_1 = 20,
  BERTH_BUILTIN_RELU6 = 21,
  BERTH_BUILTIN_RESHAPE = 22,
  BERTH_BUILTIN_RESIZE_BILINEAR = 23,
  BERTH_BUILTIN_RNN = 24,
  BERTH_BUILTIN_SOFTMAX = 25,
  BERTH_BUILTIN_SPACE_TO_DEPTH = 26,
  BERTH_BUILTIN_SVDF = 27,
  BERTH_BUILTIN_TANH = 28,
  BERTH_BUILTIN_CONCAT_EMBEDDINGS = 29,
  BERTH_BUILTIN_SKIP_GRAM = 30,
  BERTH_BUILTIN_CALL = 31,
  BERTH_BUILTIN_CUSTOM = 32, /* named by a string */
  BERTH_BUILTIN_EMBEDDING_LOOKUP_SPARSE = 33,
  BERTH_BUILTIN_PAD = 34,
  BERTH_BUILTIN_UNIDIRECTIONAL_SEQUENCE_RNN = 35,
  BERTH_BUILTIN_GATHER = 36,
  BERTH_BUILTIN_BATCH_TO_SPACE_ND = 37,
  BERTH_BUILTIN_SPACE_TO_BATCH_ND = 38,
  BERTH_BUILTIN_TRANSPOSE = 39,
  BERTH_BUILTIN_MEAN = 40,
  BERTH_BUILTIN_SUB = 41,
  BERTH_BUILTIN_DIV = 42,
  BERTH_BUILTIN_SQUEEZE = 43,
  BERTH_BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM = 44,
  BERTH_BUILTIN_STRIDED_SLICE = 45,
  BERTH_BUILTIN_BIDIRECTIONAL_SEQUENCE_RNN = 46,
  BERTH_BUILTIN_EXP = 47,
  BERTH_BUILTIN_TOPK_V2 = 48,
  BERTH_BUILTIN_SPLIT = 49,
  BERTH_BUILTIN_LOG_SOFTMAX = 50,
  BERTH_BUILTIN_DELEGATE = 51,
  BERTH_BUILTIN_BIDIRECTIONAL_SEQUENCE_LSTM = 52,
  BERTH_BUILTIN_CAST = 53,
  BERTH_BUILTIN_PRELU = 54,
  BERTH_BUILTIN_MAXIMUM = 55,
  BERTH_BUILTIN_ARG_MAX = 56,
  BERTH_BUILTIN_MINIMUM = 57,
  BERTH_BUILTIN_LESS = 58,
  BERTH_BUILTIN_NEG = 59,
  BERTH_BUILTIN_PADV2 = 60,
  BERTH_BUILTIN_GREATER = 61,
  BERTH_BUILTIN_GREATER_EQUAL = 62,
  BERTH_BUILTIN_LESS_EQUAL = 63,
  BERTH_BUILTIN_SELECT = 64,
  BERTH_BUILTIN_SLICE = 65,
  BERTH_BUILTIN_SIN = 66,
  BERTH_BUILTIN_TRANSPOSE_CONV = 67,
  BERTH_BUILTIN_SPARSE_TO_DENSE = 68,
  BERTH_BUILTIN_TILE = 69,
  BERTH_BUILTIN_EXPAND_DIMS = 70,
  BERTH_BUILTIN_EQUAL = 71,
  BERTH_BUILTIN_NOT_EQUAL = 72,
  BERTH_BUILTIN_LOG = 73,
  BERTH_BUILTIN_SUM = 74,
  BERTH_BUILTIN_SQRT = 75,
  BERTH_BUILTIN_RSQRT = 76,
  BERTH_BUILTIN_SHAPE = 77,
  BERTH_BUILTIN_POW = 78,
  BERTH_BUILTIN_ARG_MIN = 79,
  BERTH_BUILTIN_FAKE_QUANT = 80,
  BERTH_BUILTIN_REDUCE_PROD = 81,
  BERTH_BUILTIN_REDUCE_MAX = 82,
  BERTH_BUILTIN_PACK = 83,
  BERTH_BUILTIN_LOGICAL_OR = 84,
  BERTH_BUILTIN_ONE_HOT = 85,
  BERTH_BUILTIN_LOGICAL_AND = 86,
  BERTH_BUILTIN_LOGICAL_NOT = 87,
  BERTH_BUILTIN_UNPACK = 88,
  BERTH_BUILTIN_REDUCE_MIN = 89,
  BERTH_BUILTIN_FLOOR_DIV = 90,
  BERTH_BUILTIN_REDUCE_ANY = 91,
  BERTH_BUILTIN_SQUARE = 92,
  BERTH_BUILTIN_ZEROS_LIKE = 93,
  BERTH_BUILTIN_FILL = 94,
  BERTH_BUILTIN_FLOOR_MOD = 95,
  BERTH_BUILTIN_RANGE = 96,
  BERTH_BUILTIN_RESIZE_NEAREST_NEIGHBOR = 97,
  BERTH_BUILTIN_LEAKY_RELU = 98,
  BERTH_BUILTIN_SQUARED_DIFFERENCE = 99,
  BERTH_BUILTIN_MIRROR_PAD = 100,
  BERTH_BUILTIN_ABS = 101,
  BERTH_BUILTIN_SPLIT_V = 102,
  BERTH_BUILTIN_UNIQUE = 103,
  BERTH_BUILTIN_CEIL = 104,
  BERTH_BUILTIN_REVERSE_V2 = 105,
  BERTH_BUILTIN_ADD_N = 106,
  BERTH_BUILTIN_GATHER_ND = 107,
  BERTH_BUILTIN_COS = 108,
  BERTH_BUILTIN_WHERE = 109,
  BERTH_BUILTIN_RANK = 110,
  BERTH_BUILTIN_ELU = 111,
  BERTH_BUILTIN_REVERSE_SEQUENCE = 112,
  BERTH_BUILTIN_MATRIX_DIAG = 113,
  BERTH_BUILTIN_QUANTIZE = 114,
  BERTH_BUILTIN_MATRIX_SET_DIAG = 115,
  BERTH_BUILTIN_ROUND = 116,
  BERTH_BUILTIN_HARD_SWISH = 117,
  BERTH_BUILTIN_IF = 118,
  BERTH_BUILTIN_WHILE = 119,
  BERTH_BUILTIN_NON_MAX_SUPPRESSION_V4 = 120,
  BERTH_BUILTIN_NON_MAX_SUPPRESSION_V5 = 121,
  BERTH_BUILTIN_SCATTER_ND = 122,
  BERTH_BUILTIN_SELECT_V2 = 123,
  BERTH_BUILTIN_DENSIFY = 124,
  BERTH_BUILTIN_SEGMENT_SUM = 125,
  BERTH_BUILTIN_BATCH_MATMUL = 126,
  BERTH_BUILTIN_PLACEHOLDER_FOR_GREATER_OP_CODES = 127, /* never of an operator */
  BERTH_BUILTIN_CUMSUM = 128,
  BERTH_BUILTIN_CALL_ONCE = 129,
  BERTH_BUILTIN_BROADCAST_TO = 130,
  BERTH_BUILTIN_RFFT2D = 131,
  BERTH_BUILTIN_CONV_3D = 132,
  BERTH_BUILTIN_IMAG = 133,
  BERTH_BUILTIN_REAL = 134,
  BERTH_BUILTIN_COMPLEX_ABS = 135,
  BERTH_BUILTIN_HASHTABLE = 136,
  BERTH_BUILTIN_HASHTABLE_FIND = 137,
  BERTH_BUILTIN_HASHTABLE_IMPORT = 138,
  BERTH_BUILTIN_HASHTABLE_SIZE = 139,
  BERTH_BUILTIN_REDUCE_ALL = 140,
  BERTH_BUILTIN_CONV_3D_TRANSPOSE = 141,
  BERTH_BUILTIN_VAR_HANDLE = 142,
  BERTH_BUILTIN_READ_VARIABLE = 143,
  BERTH_BUILTIN_ASSIGN_VARIABLE = 144,
  BERTH_BUILTIN_BROADCAST_ARGS = 145,
  BERTH_BUILTIN_RANDOM_STANDARD_NORMAL = 146,
  BERTH_BUILTIN_BUCKETIZE = 147,
  BERTH_BUILTIN_RANDOM_UNIFORM = 148,
  BERTH_BUILTIN_MULTINOMIAL = 149,
  BERTH_BUILTIN_GELU = 150,
  BERTH_BUILTIN_DYNAMIC_UPDATE_SLICE = 151,
  BERTH_BUILTIN_RELU_0_TO_1 = 152,
  BERTH_BUILTIN_UNSORTED_SEGMENT_PROD = 153,
  BERTH_BUILTIN_UNSORTED_SEGMENT_MAX = 154,
  BERTH_BUILTIN_UNSORTED_SEGMENT_SUM = 155,
  BERTH_BUILTIN_ATAN2 = 156,
  BERTH_BUILTIN_UNSORTED_SEGMENT_MIN = 157,
  BERTH_BUILTIN_SIGN = 158,
  BERTH_BUILTIN_BITCAST = 159,
  BERTH_BUILTIN_BITWISE_XOR = 160,
  BERTH_BUILTIN_RIGHT_SHIFT = 161,
  BERTH_BUILTIN_STABLEHLO_LOGISTIC = 162,
  BERTH_BUILTIN_STABLEHLO_ADD = 163,
  BERTH_BUILTIN_STABLEHLO_DIVIDE = 164,
  BERTH_BUILTIN_STABLEHLO_MULTIPLY = 165,
  BERTH_BUILTIN_STABLEHLO_MAXIMUM = 166,
  BERTH_BUILTIN_STABLEHLO_RESHAPE = 167,
  BERTH_BUILTIN_STABLEHLO_CLAMP = 168,
  BERTH_BUILTIN_STABLEHLO_CONCATENATE = 169,
  BERTH_BUILTIN_STABLEHLO_BROADCAST_IN_DIM = 170,
  BERTH_BUILTIN_STABLEHLO_CONVOLUTION = 171,
  BERTH_BUILTIN_STABLEHLO_SLICE = 172,
  BERTH_BUILTIN_STABLEHLO_CUSTOM_CALL = 173,
  BERTH_BUILTIN_STABLEHLO_REDUCE = 174,
  BERTH_BUILTIN_STABLEHLO_ABS = 175,
  BERTH_BUILTIN_STABLEHLO_AND = 176,
  BERTH_BUILTIN_STABLEHLO_COSINE = 177,
  BERTH_BUILTIN_STABLEHLO_EXPONENTIAL = 178,
  BERTH_BUILTIN_STABLEHLO_FLOOR = 179,
  BERTH_BUILTIN_STABLEHLO_LOG = 180,
  BERTH_BUILTIN_STABLEHLO_MINIMUM = 181,
  BERTH_BUILTIN_STABLEHLO_NEGATE = 182,
  BERTH_BUILTIN_STABLEHLO_OR = 183,
  BERTH_BUILTIN_STABLEHLO_POWER = 184,
  BERTH_BUILTIN_STABLEHLO_REMAINDER = 185,
  BERTH_BUILTIN_STABLEHLO_RSQRT = 186,
  BERTH_BUILTIN_STABLEHLO_SELECT = 187,
  BERTH_BUILTIN_STABLEHLO_SUBTRACT = 188,
  BERTH_BUILTIN_STABLEHLO_TANH = 189,
  BERTH_BUILTIN_STABLEHLO_SCATTER = 190,
  BERTH_BUILTIN_STABLEHLO_COMPARE = 191,
  BERTH_BUILTIN_STABLEHLO_CONVERT = 192,
  BERTH_BUILTIN_STABLEHLO_DYNAMIC_SLICE = 193,
  BERTH_BUILTIN_STABLEHLO_DYNAMIC_UPDATE_SLICE = 194,
  BERTH_BUILTIN_STABLEHLO_PAD = 195,
  BERTH_BUILTIN_STABLEHLO_IOTA = 196,
  BERTH_BUILTIN_STABLEHLO_DOT_GENERAL = 197,
  BERTH_BUILTIN_STABLEHLO_REDUCE_WINDOW = 198,
  BERTH_BUILTIN_STABLEHLO_SORT = 199,
  BERTH_BUILTIN_STABLEHLO_WHILE = 200,
  BERTH_BUILTIN_STABLEHLO_GATHER = 201,
  BERTH_BUILTIN_STABLEHLO_TRANSPOSE = 202,
  BERTH_BUILTIN_DILATE = 203,
  BERTH_BUILTIN_STABLEHLO_RNG_BIT_GENERATOR = 204,
  BERTH_BUILTIN_REDUCE_WINDOW = 205,
  BERTH_BUILTIN_STABLEHLO_COMPOSITE = 206,
  BERTH_BUILTIN_STABLEHLO_SHIFT_LEFT = 207,
  BERTH_BUILTIN_STABLEHLO_CBRT = 208,
  BERTH_BUILTIN_STABLEHLO_CASE = 209,
  BERTH_BUILTIN_COUNT,
  BERTH_BUILTIN_LARGEST = INT32_MAX /* so that every number in a file fits, short enums or not */
} berth_builtin_t;

/* The schema's name ("CONV_2D"); "UNKNOWN" for a number that isn't listed above. Static. */
const char *berth_builtin_name(berth_builtin_t code);

/* ---- Values of option fields ---------------------------------------------------------------- */

typedef enum berth_padding { BERTH_PADDING_SAME = 0, BERTH_PADDING_VALID = 1 } berth_padding_t;

/* The function that an operator applies to its result. */
typedef enum berth_activation {
  BERTH_ACTIVATION_NONE = 0,
  BERTH_ACTIVATION_RELU = 1,
  BERTH_ACTIVATION_RELU_N1_TO_1 = 2,
  BERTH_ACTIVATION_RELU6 = 3,
  BERTH_ACTIVATION_TANH = 4,
  BERTH_ACTIVATION_SIGN_BIT = 5
} berth_activation_t;

typedef enum berth_weights_format {
  BERTH_WEIGHTS_DEFAULT = 0,
  BERTH_WEIGHTS_SHUFFLED_4X16_INT8 = 1
} berth_weights_format_t;

typedef enum berth_lstm_kernel {
  BERTH_LSTM_FULL = 0, /* peepholes and projection possible */
  BERTH_LSTM_BASIC = 1
} berth_lstm_kernel_t;

typedef enum berth_mirror_pad {
  BERTH_MIRROR_REFLECT = 0,  /* the border itself is not repeated */
  BERTH_MIRROR_SYMMETRIC = 1 /* it is */
} berth_mirror_pad_t;

/* ---- Fields of option tables ---------------------------------------------------------------- *
 *
 * Numbers for the berth_option_* functions of model.h: `int` is read with berth_option_int, enums
 * (berth_*_t) and `bool` with berth_option_byte, the others with the function of that name. The
 * default, which is the right `fallback`, is 0 unless it is stated. Operators that aren't listed
 * have no fields. */

enum berth_conv_2d_field {
  BERTH_CONV_2D_PADDING = 0,    /* berth_padding_t */
  BERTH_CONV_2D_STRIDE_W = 1,   /* int */
  BERTH_CONV_2D_STRIDE_H = 2,   /* int */
  BERTH_CONV_2D_ACTIVATION = 3, /* berth_activation_t */
  BERTH_CONV_2D_DILATION_W = 4, /* int, default 1 */
  BERTH_CONV_2D_DILATION_H = 5, /* int, default 1 */
  BERTH_CONV_2D_BIAS_TYPE = 6   /* berth_tensor_type_t */
};

/* CONV_3D, CONV_3D_TRANSPOSE */
enum berth_conv_3d_field {
  BERTH_CONV_3D_PADDING = 0,    /* berth_padding_t */
  BERTH_CONV_3D_STRIDE_D = 1,   /* int */
  BERTH_CONV_3D_STRIDE_W = 2,   /* int */
  BERTH_CONV_3D_STRIDE_H = 3,   /* int */
  BERTH_CONV_3D_ACTIVATION = 4, /* berth_activation_t */
  BERTH_CONV_3D_DILATION_D = 5, /* int, default 1 */
  BERTH_CONV_3D_DILATION_W = 6, /* int, default 1 */
  BERTH_CONV_3D_DILATION_H = 7  /* int, default 1 */
};

enum berth_depthwise_conv_2d_field {
  BERTH_DEPTHWISE_CONV_2D_PADDING = 0,    /* berth_padding_t */
  BERTH_DEPTHWISE_CONV_2D_STRIDE_W = 1,   /* int */
  BERTH_DEPTHWISE_CONV_2D_STRIDE_H = 2,   /* int */
  BERTH_DEPTHWISE_CONV_2D_MULTIPLIER = 3, /* int, redundant: output / input channels */
  BERTH_DEPTHWISE_CONV_2D_ACTIVATION = 4, /* berth_activation_t */
  BERTH_DEPTHWISE_CONV_2D_DILATION_W = 5, /* int, default 1 */
  BERTH_DEPTHWISE_CONV_2D_DILATION_H = 6  /* int, default 1 */
};

enum berth_transpose_conv_field {
  BERTH_TRANSPOSE_CONV_PADDING = 0,    /* berth_padding_t */
  BERTH_TRANSPOSE_CONV_STRIDE_W = 1,   /* int */
  BERTH_TRANSPOSE_CONV_STRIDE_H = 2,   /* int */
  BERTH_TRANSPOSE_CONV_ACTIVATION = 3, /* berth_activation_t */
  BERTH_TRANSPOSE_CONV_BIAS_TYPE = 4   /* berth_tensor_type_t */
};

/* AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D */
enum berth_pool_2d_field {
  BERTH_POOL_2D_PADDING = 0,   /* berth_padding_t */
  BERTH_POOL_2D_STRIDE_W = 1,  /* int */
  BERTH_POOL_2D_STRIDE_H = 2,  /* int */
  BERTH_POOL_2D_FILTER_W = 3,  /* int */
  BERTH_POOL_2D_FILTER_H = 4,  /* int */
  BERTH_POOL_2D_ACTIVATION = 5 /* berth_activation_t */
};

enum berth_fully_connected_field {
  BERTH_FULLY_CONNECTED_ACTIVATION = 0,        /* berth_activation_t */
  BERTH_FULLY_CONNECTED_WEIGHTS_FORMAT = 1,    /* berth_weights_format_t */
  BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS = 2,     /* bool */
  BERTH_FULLY_CONNECTED_ASYMMETRIC_INPUTS = 3, /* bool */
  BERTH_FULLY_CONNECTED_BIAS_TYPE = 4          /* berth_tensor_type_t */
};

enum berth_add_field {
  BERTH_ADD_ACTIVATION = 0,     /* berth_activation_t */
  BERTH_ADD_POT_SCALE_INT16 = 1 /* bool, default true */
};

enum berth_sub_field {
  BERTH_SUB_ACTIVATION = 0,     /* berth_activation_t */
  BERTH_SUB_POT_SCALE_INT16 = 1 /* bool, default true */
};

enum berth_mul_field {
  BERTH_MUL_ACTIVATION = 0 /* berth_activation_t */
};

enum berth_div_field {
  BERTH_DIV_ACTIVATION = 0 /* berth_activation_t */
};

enum berth_softmax_field {
  BERTH_SOFTMAX_BETA = 0 /* float */
};

enum berth_l2_normalization_field {
  BERTH_L2_NORMALIZATION_ACTIVATION = 0 /* berth_activation_t */
};

enum berth_local_response_normalization_field {
  BERTH_LOCAL_RESPONSE_NORMALIZATION_RADIUS = 0, /* int */
  BERTH_LOCAL_RESPONSE_NORMALIZATION_BIAS = 1,   /* float */
  BERTH_LOCAL_RESPONSE_NORMALIZATION_ALPHA = 2,  /* float */
  BERTH_LOCAL_RESPONSE_NORMALIZATION_BETA = 3    /* float */
};

enum berth_leaky_relu_field {
  BERTH_LEAKY_RELU_ALPHA = 0 /* float */
};

enum berth_gelu_field {
  BERTH_GELU_APPROXIMATE = 0 /* bool */
};

enum berth_concatenation_field {
  BERTH_CONCATENATION_AXIS = 0,      /* int */
  BERTH_CONCATENATION_ACTIVATION = 1 /* berth_activation_t */
};

enum berth_split_field {
  BERTH_SPLIT_COUNT = 0 /* int */
};

enum berth_split_v_field {
  BERTH_SPLIT_V_COUNT = 0 /* int */
};

enum berth_pack_field {
  BERTH_PACK_COUNT = 0, /* int */
  BERTH_PACK_AXIS = 1   /* int */
};

enum berth_unpack_field {
  BERTH_UNPACK_COUNT = 0, /* int */
  BERTH_UNPACK_AXIS = 1   /* int */
};

enum berth_reshape_field {
  BERTH_RESHAPE_SHAPE = 0 /* ints */
};

enum berth_squeeze_field {
  BERTH_SQUEEZE_DIMENSIONS = 0 /* ints */
};

enum berth_strided_slice_field {
  BERTH_STRIDED_SLICE_BEGIN_MASK = 0,       /* int */
  BERTH_STRIDED_SLICE_END_MASK = 1,         /* int */
  BERTH_STRIDED_SLICE_ELLIPSIS_MASK = 2,    /* int */
  BERTH_STRIDED_SLICE_NEW_AXIS_MASK = 3,    /* int */
  BERTH_STRIDED_SLICE_SHRINK_AXIS_MASK = 4, /* int */
  BERTH_STRIDED_SLICE_OFFSET = 5            /* bool: `end` is relative to `begin` */
};

/* RESIZE_BILINEAR; fields 0 and 1 are obsolete */
enum berth_resize_bilinear_field {
  BERTH_RESIZE_BILINEAR_ALIGN_CORNERS = 2,     /* bool */
  BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS = 3 /* bool */
};

/* RESIZE_NEAREST_NEIGHBOR */
enum berth_resize_nearest_field {
  BERTH_RESIZE_NEAREST_ALIGN_CORNERS = 0,     /* bool */
  BERTH_RESIZE_NEAREST_HALF_PIXEL_CENTERS = 1 /* bool */
};

enum berth_depth_to_space_field {
  BERTH_DEPTH_TO_SPACE_BLOCK = 0 /* int */
};

enum berth_space_to_depth_field {
  BERTH_SPACE_TO_DEPTH_BLOCK = 0 /* int */
};

/* MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL */
enum berth_reducer_field {
  BERTH_REDUCER_KEEP_DIMS = 0 /* bool */
};

enum berth_arg_max_field {
  BERTH_ARG_MAX_OUTPUT_TYPE = 0 /* berth_tensor_type_t */
};

enum berth_arg_min_field {
  BERTH_ARG_MIN_OUTPUT_TYPE = 0 /* berth_tensor_type_t */
};

enum berth_cast_field {
  BERTH_CAST_IN_TYPE = 0, /* berth_tensor_type_t */
  BERTH_CAST_OUT_TYPE = 1 /* berth_tensor_type_t */
};

enum berth_shape_field {
  BERTH_SHAPE_OUT_TYPE = 0 /* berth_tensor_type_t */
};

enum berth_gather_field {
  BERTH_GATHER_AXIS = 0,      /* int */
  BERTH_GATHER_BATCH_DIMS = 1 /* int */
};

enum berth_one_hot_field {
  BERTH_ONE_HOT_AXIS = 0 /* int */
};

enum berth_cumsum_field {
  BERTH_CUMSUM_EXCLUSIVE = 0, /* bool */
  BERTH_CUMSUM_REVERSE = 1    /* bool */
};

enum berth_mirror_pad_field {
  BERTH_MIRROR_PAD_MODE = 0 /* berth_mirror_pad_t */
};

enum berth_reverse_sequence_field {
  BERTH_REVERSE_SEQUENCE_SEQUENCE_DIMENSION = 0, /* int */
  BERTH_REVERSE_SEQUENCE_BATCH_DIMENSION = 1     /* int */
};

enum berth_unique_field {
  BERTH_UNIQUE_INDEX_TYPE = 0 /* berth_tensor_type_t, default INT32 */
};

enum berth_sparse_to_dense_field {
  BERTH_SPARSE_TO_DENSE_VALIDATE = 0 /* bool */
};

enum berth_fake_quant_field {
  BERTH_FAKE_QUANT_MIN = 0,         /* float */
  BERTH_FAKE_QUANT_MAX = 1,         /* float */
  BERTH_FAKE_QUANT_BITS = 2,        /* int */
  BERTH_FAKE_QUANT_NARROW_RANGE = 3 /* bool */
};

enum berth_bucketize_field {
  BERTH_BUCKETIZE_BOUNDARIES = 0 /* floats */
};

/* RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL */
enum berth_random_field {
  BERTH_RANDOM_SEED = 0, /* long */
  BERTH_RANDOM_SEED2 = 1 /* long */
};

enum berth_batch_matmul_field {
  BERTH_BATCH_MATMUL_ADJ_X = 0,            /* bool */
  BERTH_BATCH_MATMUL_ADJ_Y = 1,            /* bool */
  BERTH_BATCH_MATMUL_ASYMMETRIC_INPUTS = 2 /* bool */
};

enum berth_svdf_field {
  BERTH_SVDF_RANK = 0,             /* int */
  BERTH_SVDF_ACTIVATION = 1,       /* berth_activation_t */
  BERTH_SVDF_ASYMMETRIC_INPUTS = 2 /* bool */
};

enum berth_rnn_field {
  BERTH_RNN_ACTIVATION = 0,       /* berth_activation_t */
  BERTH_RNN_ASYMMETRIC_INPUTS = 1 /* bool */
};

/* UNIDIRECTIONAL_SEQUENCE_RNN */
enum berth_sequence_rnn_field {
  BERTH_SEQUENCE_RNN_TIME_MAJOR = 0,       /* bool */
  BERTH_SEQUENCE_RNN_ACTIVATION = 1,       /* berth_activation_t */
  BERTH_SEQUENCE_RNN_ASYMMETRIC_INPUTS = 2 /* bool */
};

/* BIDIRECTIONAL_SEQUENCE_RNN */
enum berth_bidirectional_rnn_field {
  BERTH_BIDIRECTIONAL_RNN_TIME_MAJOR = 0,       /* bool */
  BERTH_BIDIRECTIONAL_RNN_ACTIVATION = 1,       /* berth_activation_t */
  BERTH_BIDIRECTIONAL_RNN_MERGE_OUTPUTS = 2,    /* bool */
  BERTH_BIDIRECTIONAL_RNN_ASYMMETRIC_INPUTS = 3 /* bool */
};

enum berth_lstm_field {
  BERTH_LSTM_ACTIVATION = 0,       /* berth_activation_t */
  BERTH_LSTM_CELL_CLIP = 1,        /* float, 0: none */
  BERTH_LSTM_PROJ_CLIP = 2,        /* float, 0: none */
  BERTH_LSTM_KERNEL = 3,           /* berth_lstm_kernel_t */
  BERTH_LSTM_ASYMMETRIC_INPUTS = 4 /* bool */
};

/* UNIDIRECTIONAL_SEQUENCE_LSTM */
enum berth_sequence_lstm_field {
  BERTH_SEQUENCE_LSTM_ACTIVATION = 0,        /* berth_activation_t */
  BERTH_SEQUENCE_LSTM_CELL_CLIP = 1,         /* float, 0: none */
  BERTH_SEQUENCE_LSTM_PROJ_CLIP = 2,         /* float, 0: none */
  BERTH_SEQUENCE_LSTM_TIME_MAJOR = 3,        /* bool */
  BERTH_SEQUENCE_LSTM_ASYMMETRIC_INPUTS = 4, /* bool */
  BERTH_SEQUENCE_LSTM_DIAGONAL_RECURRENT = 5 /* bool */
};

/* BIDIRECTIONAL_SEQUENCE_LSTM */
enum berth_bidirectional_lstm_field {
  BERTH_BIDIRECTIONAL_LSTM_ACTIVATION = 0,       /* berth_activation_t */
  BERTH_BIDIRECTIONAL_LSTM_CELL_CLIP = 1,        /* float, 0: none */
  BERTH_BIDIRECTIONAL_LSTM_PROJ_CLIP = 2,        /* float, 0: none */
  BERTH_BIDIRECTIONAL_LSTM_MERGE_OUTPUTS = 3,    /* bool */
  BERTH_BIDIRECTIONAL_LSTM_TIME_MAJOR = 4,       /* bool, default true */
  BERTH_BIDIRECTIONAL_LSTM_ASYMMETRIC_INPUTS = 5 /* bool */
};

enum berth_embedding_lookup_sparse_field {
  BERTH_EMBEDDING_LOOKUP_SPARSE_COMBINER = 0 /* byte: 0 sum, 1 mean, 2 sqrt(n) */
};

enum berth_call_field {
  BERTH_CALL_SUBGRAPH = 0 /* int */
};

enum berth_call_once_field {
  BERTH_CALL_ONCE_SUBGRAPH = 0 /* int */
};

enum berth_if_field {
  BERTH_IF_THEN = 0, /* int */
  BERTH_IF_ELSE = 1  /* int */
};

enum berth_while_field {
  BERTH_WHILE_CONDITION = 0, /* int */
  BERTH_WHILE_BODY = 1       /* int */
};

enum berth_var_handle_field {
  BERTH_VAR_HANDLE_CONTAINER = 0,  /* text */
  BERTH_VAR_HANDLE_SHARED_NAME = 1 /* text */
};

enum berth_hashtable_field {
  BERTH_HASHTABLE_ID = 0,        /* int */
  BERTH_HASHTABLE_KEY_TYPE = 1,  /* berth_tensor_type_t */
  BERTH_HASHTABLE_VALUE_TYPE = 2 /* berth_tensor_type_t */
};

enum berth_stablehlo_reduce_field {
  BERTH_STABLEHLO_REDUCE_DIMENSIONS = 0, /* longs */
  BERTH_STABLEHLO_REDUCE_BODY = 1        /* int: subgraph */
};

enum berth_stablehlo_reduce_window_field {
  BERTH_STABLEHLO_REDUCE_WINDOW_BODY = 5 /* int: subgraph */
};

enum berth_stablehlo_scatter_field {
  BERTH_STABLEHLO_SCATTER_UPDATE = 6 /* int: subgraph */
};

enum berth_stablehlo_sort_field {
  BERTH_STABLEHLO_SORT_COMPARATOR = 2 /* int: subgraph */
};

enum berth_stablehlo_while_field {
  BERTH_STABLEHLO_WHILE_CONDITION = 0, /* int */
  BERTH_STABLEHLO_WHILE_BODY = 1       /* int */
};

enum berth_stablehlo_case_field {
  BERTH_STABLEHLO_CASE_BRANCHES = 0 /* ints: subgraphs */
};

enum berth_stablehlo_custom_call_field {
  BERTH_STABLEHLO_CUSTOM_CALL_CALLED = 4 /* ints: subgraphs */
};

enum berth_stablehlo_composite_field {
  BERTH_STABLEHLO_COMPOSITE_NAME = 0,         /* text */
  BERTH_STABLEHLO_COMPOSITE_DECOMPOSITION = 1 /* int: subgraph */
};

#ifdef __cplusplus
}
#endif
#endif
