/* The logistic function and tanh of int16 numbers, for int16 operators and LSTM gates.
 *
 * Entry i of the table is about 65536 / (1 + exp(-i / 24)), for [0, 32/3); the numbers are those of
 * stock TFLite, which are up to 2 larger than that.
 */
#ifndef BERTH_OPERATORS_SIGMOID_TABLE_H
#define BERTH_OPERATORS_SIGMOID_TABLE_H

#include <stdint.h>

extern const uint16_t berth_sigmoid_table[256];

/* What an input is multiplied with, and shifted to the right, to come to units of 1 / (3 x 4096).
 */
typedef struct berth_sigmoid_scale {
  int32_t multiplier;
  int32_t shift;
} berth_sigmoid_scale_t;

/* The factor for inputs of this scale. A power of two of 2^-12 up to 2^(left_max - 12) is taken
 * exactly (left_max is 0 for LOGISTIC, 1 for TANH), any other scale to 15 bits. */
berth_sigmoid_scale_t berth_sigmoid_scale(float scale, int32_t left_max);

/* 32768 x logistic(x) and 32768 x tanh(x), as int16. */
int16_t berth_logistic_int16(int16_t x, berth_sigmoid_scale_t scale);
int16_t berth_tanh_int16(int16_t x, berth_sigmoid_scale_t scale);

#endif
