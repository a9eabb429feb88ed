/* The verifier's face towards the reader. */
#ifndef BERTH_MODEL_VERIFY_H
#define BERTH_MODEL_VERIFY_H

#include "berth/model.h"

/* Checks everything that the reader follows in the file. On success `*root` is the Model table. */
berth_status_t berth_model_verify(const uint8_t *data, uint64_t size, berth_table_t *root,
                                  berth_model_error_t *error);

#endif
