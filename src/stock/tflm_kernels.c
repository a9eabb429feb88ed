/* The table of TFLM's kernels: see the header for what a row says. */
#include "stock/tflm_kernels.h"
#include <stddef.h>
#include <string.h>

/* Structs that several kernels have, by the name they have in TFLM. */
#define CONV_DATA       "4i5i2p3i"     /* OpDataConv */
#define POOL_OPTIONS    "6i4i"         /* TfLitePoolParams with the padding it computes */
#define RESHAPE_OPTIONS "8ii"          /* TfLiteReshapeParams, TfLiteSqueezeParams */
#define REDUCE_DATA     "11i"          /* OpDataReduce */
#define FC_PARAMS       "7i2i3b"       /* FullyConnectedParams */
#define ARITHMETIC      "b12i2i2l2h5i" /* ArithmeticParams */
#define CONV_PARAMS     "b(4h)4h7i2i"  /* ConvParams */
#define LSTM_DATA                                                                                  \
  "(b4i)(ihi)i"                                                                                    \
  "4(2(" FC_PARAMS "))"                                                                            \
  "3(" ARITHMETIC ")4i"       /* OpDataLSTM */
#define COMPARISON_DATA "7ib" /* ComparisonParams */

#define RULE(name) berth_tflm_rule_##name
#define BUILTIN(name, options, data, temps, rule)                                                  \
  { BERTH_BUILTIN_##name, NULL, options, data, temps, rule, false }
#define CUSTOM(name, data, temps, rule, early)                                                     \
  { BERTH_BUILTIN_CUSTOM, name, "", data, temps, rule, early }

static const berth_tflm_kernel_t kernels[] = {
    /* Weighted operators */
    BUILTIN(CONV_2D, "7i", CONV_DATA, "A01012A", RULE(conv)),
    BUILTIN(DEPTHWISE_CONV_2D, "7i", CONV_DATA, "A01012A", RULE(depthwise_conv)),
    BUILTIN(TRANSPOSE_CONV, "5i", CONV_PARAMS "2i2p", "A21213A", RULE(transpose_conv)),
    BUILTIN(FULLY_CONNECTED, "2i2bi", "8ii2pb", "012A", RULE(fully_connected)),
    BUILTIN(BATCH_MATMUL, "3b", "3p3b", "01A", RULE(batch_matmul)),
    BUILTIN(SVDF, "2ib", "9i", "01234A", RULE(svdf)),
    BUILTIN(UNIDIRECTIONAL_SEQUENCE_LSTM, "3i3b", LSTM_DATA, "*A", RULE(lstm)),

    /* Pooling and reductions */
    BUILTIN(AVERAGE_POOL_2D, POOL_OPTIONS, "8i", "0A", NULL),
    BUILTIN(MAX_POOL_2D, POOL_OPTIONS, "8i", "0A", NULL),
    BUILTIN(L2_POOL_2D, POOL_OPTIONS, "", "A0", RULE(writable_shape)),
    BUILTIN(MEAN, "b", REDUCE_DATA, "01A01A", RULE(mean)),
    BUILTIN(SUM, "b", REDUCE_DATA, "01A01A", RULE(mean)),
    BUILTIN(REDUCE_MAX, "b", REDUCE_DATA, "01A01A", RULE(reduce_max)),

    /* Elementwise, of two */
    BUILTIN(ADD, "ib", "b14i", "01A", NULL),
    BUILTIN(SUB, "ib", "b12i", "01A", NULL),
    BUILTIN(MUL, "i", "9i", "01A", NULL),
    BUILTIN(DIV, "i", "7i", "01A", NULL),
    BUILTIN(MAXIMUM, "", "", "", NULL),
    BUILTIN(MINIMUM, "", "", "", NULL),
    BUILTIN(FLOOR_DIV, "", "", "01A", NULL),
    BUILTIN(FLOOR_MOD, "", "", "01A", NULL),
    BUILTIN(SQUARED_DIFFERENCE, "", "b(" ARITHMETIC ")", "01A", NULL),
    BUILTIN(LOGICAL_AND, "", "", "", NULL),
    BUILTIN(LOGICAL_OR, "", "", "", NULL),
    BUILTIN(EQUAL, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(NOT_EQUAL, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(LESS, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(LESS_EQUAL, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(GREATER, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(GREATER_EQUAL, "", COMPARISON_DATA, "01", NULL),
    BUILTIN(PRELU, "", "7i", "01A", NULL),
    BUILTIN(SELECT_V2, "", "2b", "012A", NULL),
    BUILTIN(ADD_N, "", "", "0A*", RULE(add_n)),

    /* Elementwise, of one */
    BUILTIN(ABS, "", "4ib2i", "0A", NULL),
    BUILTIN(RSQRT, "", "4ib2i", "0A", NULL),
    BUILTIN(COS, "", "", "0A", NULL),
    BUILTIN(SIN, "", "", "0A", NULL),
    BUILTIN(LOG, "", "", "0A", NULL),
    BUILTIN(SQRT, "", "", "0A", NULL),
    BUILTIN(SQUARE, "", "", "0A", NULL),
    BUILTIN(LOGICAL_NOT, "", "", "0A", NULL),
    BUILTIN(CEIL, "", "", "0A", NULL),
    BUILTIN(FLOOR, "", "", "", NULL),
    BUILTIN(ROUND, "", "", "0A", NULL),
    BUILTIN(NEG, "", "", "", NULL),
    BUILTIN(EXP, "", "", "0A", NULL),
    BUILTIN(ELU, "", "256b", "0A", NULL),
    BUILTIN(RELU, "", "b6i", "0A", NULL),
    BUILTIN(RELU6, "", "2i", "0", NULL),
    BUILTIN(HARD_SWISH, "", "3hihi", "0A", NULL),
    BUILTIN(LEAKY_RELU, "i", "6i", "0A", NULL),
    BUILTIN(LOGISTIC, "", "4i", "00A", NULL),
    BUILTIN(TANH, "", "4i", "00A", NULL),
    BUILTIN(QUANTIZE, "", "(id)3i", "0A", NULL),
    BUILTIN(DEQUANTIZE, "", "(di)3i", "0A", RULE(dequantize)),
    BUILTIN(CAST, "2i", "", "0A", NULL),

    /* Along an axis */
    BUILTIN(SOFTMAX, "i", "d7i5p", "0A", RULE(softmax)),
    BUILTIN(LOG_SOFTMAX, "", "", "0A", RULE(log_softmax)),
    BUILTIN(L2_NORMALIZATION, "i", "i", "0A", NULL),
    BUILTIN(ARG_MAX, "i", "", "", NULL),
    BUILTIN(ARG_MIN, "i", "", "", NULL),
    BUILTIN(CUMSUM, "2b", "", "01A", RULE(cumsum)),

    /* Copying */
    BUILTIN(RESHAPE, RESHAPE_OPTIONS, "", "0A", NULL),
    BUILTIN(SQUEEZE, RESHAPE_OPTIONS, "", "0A", NULL),
    BUILTIN(EXPAND_DIMS, "", "", "01A", NULL),
    BUILTIN(CONCATENATION, "2i", "b2phii", "0A*A*", RULE(concatenation)),
    BUILTIN(SPLIT, "i", "", "0", NULL),
    BUILTIN(SPLIT_V, "i", "", "2", NULL),
    BUILTIN(PACK, "2i", "", "", NULL),
    BUILTIN(UNPACK, "2i", "", "", NULL),
    BUILTIN(SLICE, "", "", "012A", NULL),
    BUILTIN(STRIDED_SLICE, "5ib", "3(b5i)5hb", "0123A", NULL),
    BUILTIN(PAD, "", "2(b5i)bi", "012A", NULL),
    BUILTIN(PADV2, "", "2(b5i)bi", "012A", NULL),
    BUILTIN(MIRROR_PAD, "i", "5i", "01A", RULE(mirror_pad)),
    BUILTIN(GATHER, "2i", "", "01A", RULE(writable_shape)),
    BUILTIN(GATHER_ND, "", "", "01A", NULL),
    BUILTIN(DYNAMIC_UPDATE_SLICE, "", "", "012A", NULL),
    BUILTIN(DEPTH_TO_SPACE, "i", "", "0A", RULE(writable_shape)),
    BUILTIN(SPACE_TO_DEPTH, "i", "", "0A", RULE(writable_shape)),
    BUILTIN(SPACE_TO_BATCH_ND, "", "i", "012A", NULL),
    BUILTIN(BATCH_TO_SPACE_ND, "", "", "0A", NULL),
    BUILTIN(TRANSPOSE, "", "", "01A", NULL),
    BUILTIN(BROADCAST_TO, "", "", "01A", NULL),
    BUILTIN(BROADCAST_ARGS, "", "", "01A", NULL),
    BUILTIN(FILL, "", "", "01A", NULL),
    BUILTIN(ZEROS_LIKE, "", "", "0A", NULL),
    BUILTIN(SHAPE, "i", "", "", NULL),
    BUILTIN(RESIZE_BILINEAR, "2b", "", "01A", NULL),
    BUILTIN(RESIZE_NEAREST_NEIGHBOR, "2b", "", "01A", NULL),

    /* Control flow */
    BUILTIN(IF, "2i", "2i", "0", NULL),
    BUILTIN(WHILE, "2i", "2i", "", NULL),
    BUILTIN(CALL_ONCE, "i", "ib", "", NULL),

    /* The audio front end, and others of TFLM's own */
    CUSTOM("CIRCULAR_BUFFER", "2i", "0AB", NULL, false),
    CUSTOM("SignalWindow", "2i", "01A", NULL, false),
    CUSTOM("SignalFftAutoScale", "", "0AB", NULL, false),
    CUSTOM("SignalRfft", "5ipip", "0A", RULE(rfft), true),
    CUSTOM("SignalEnergy", "2i", "0A", NULL, false),
    CUSTOM("SignalFilterBank", "(i5p2i)p", "012345A", RULE(filter_bank), true),
    CUSTOM("SignalFilterBankSquareRoot", "", "01A", NULL, false),
    CUSTOM("SignalFilterBankSpectralSubtraction", "(7ibi)pz", "0AB", RULE(spectral_subtraction),
           true),
    CUSTOM("SignalPCAN", "i", "012A", NULL, false),
    CUSTOM("SignalFilterBankLog", "2i", "0A", NULL, false),
};

static bool same_name(const char *name, berth_text_t text) {
  return strlen(name) == text.length && memcmp(name, text.data, text.length) == 0;
}

const berth_tflm_kernel_t *berth_tflm_kernel(const berth_operator_t *op) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    if (kernels[i].code != op->code) continue;
    if (kernels[i].custom == NULL || same_name(kernels[i].custom, op->custom_name)) {
      return &kernels[i];
    }
  }
  return NULL;
}
