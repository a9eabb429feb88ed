/* Names of operator codes with their lengths. */
#ifndef BERTH_MODEL_NAMES_H
#define BERTH_MODEL_NAMES_H

#include "berth/model.h"

/* berth_builtin_name as a text. */
berth_text_t berth_model_builtin_text(berth_builtin_t code);

#endif
