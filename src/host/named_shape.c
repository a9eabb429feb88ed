/* Inputs and outputs by name. */
#include "host/named_shape.h"
#include "berth/graph.h"

#include <stdlib.h>
#include <string.h>

static bool is_text(berth_text_t text, const char *name) {
  return strlen(name) == text.length && memcmp(name, text.data, text.length) == 0;
}

/* Does a signature of the main subgraph call this input (output) so? */
static bool is_signed_so(const berth_model_t *model, bool input, uint32_t tensor,
                         const char *name) {
  for (uint32_t s = 0; s < model->signature_count; s++) {
    berth_signature_t signature = berth_model_signature(model, s);
    if (signature.subgraph != 0) continue;
    uint32_t count = input ? signature.input_count : signature.output_count;
    for (uint32_t k = 0; k < count; k++) {
      uint32_t named;
      berth_text_t text = input ? berth_model_signature_input(model, s, k, &named)
                                : berth_model_signature_output(model, s, k, &named);
      if (named == tensor && is_text(text, name)) return true;
    }
  }
  return false;
}

static uint32_t find(const berth_model_t *model, bool input, const char *name) {
  berth_subgraph_t graph = berth_model_subgraph(model, 0);
  berth_vector_t list = input ? graph.inputs : graph.outputs;
  for (uint32_t i = 0; i < list.count; i++) {
    int32_t tensor = berth_vector_int(list, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    if (is_text(berth_model_tensor(model, 0, (uint32_t)tensor).name, name) ||
        is_signed_so(model, input, (uint32_t)tensor, name)) {
      return i;
    }
  }
  char *end;
  unsigned long number = strtoul(name, &end, 10);
  bool is_number = name[0] >= '0' && name[0] <= '9' && *end == '\0';
  return is_number && number < list.count ? (uint32_t)number : BERTH_NOBODY;
}

uint32_t berth_input_named(const berth_model_t *model, const char *name) {
  return find(model, true, name);
}

uint32_t berth_output_named(const berth_model_t *model, const char *name) {
  return find(model, false, name);
}
