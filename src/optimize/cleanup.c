/* The table of clean-ups, and running them. */
#include "optimize/cleanup.h"

static const berth_cleanup_t cleanups[] = {
    {"constants", "operators on constants, where the file does not grow", berth_clean_constants},
    {"copies", "RESHAPE and QUANTIZE operators that change nothing", berth_clean_copies},
    {"activations", "RELU and RELU6 that the operator before can do itself",
     berth_clean_activations},
    {"pads", "PAD before a VALID convolution that SAME equals", berth_clean_pads},
    {"dead", "operators and tensors that no result depends on", berth_clean_dead},
};
#define COUNT (sizeof cleanups / sizeof *cleanups)

const berth_cleanup_t *berth_cleanup_at(uint32_t index) {
  return index < COUNT ? &cleanups[index] : NULL;
}

bool berth_numbers_operators(const berth_model_t *model) {
  return berth_model_metadata_named(model, "model_control_dependencies").size > 0;
}

berth_status_t berth_clean(berth_edit_t *edit, uint32_t keep, bool grow,
                           uint32_t counts[BERTH_CLEANUPS_MAX]) {
  for (uint32_t i = 0; i < BERTH_CLEANUPS_MAX; i++) counts[i] = 0;
  if (berth_numbers_operators(edit->model)) return BERTH_OK;
  uint32_t before, after = 0;
  do {
    before = after;
    for (uint32_t i = 0; i < COUNT; i++) {
      if ((keep >> i & 1u) != 0) continue;
      uint32_t done = 0;
      bool all = grow && cleanups[i].run == berth_clean_constants;
      berth_status_t status =
          all ? berth_clean_all_constants(edit, &done) : cleanups[i].run(edit, &done);
      if (status != BERTH_OK) return status;
      counts[i] += done;
      after += done;
    }
  } while (after > before); /* each one drops an operator, or a padding: this ends */
  return BERTH_OK;
}
