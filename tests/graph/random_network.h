/* Small random networks for tests, and what their operators permit. */
#ifndef BERTH_TESTS_GRAPH_RANDOM_NETWORK_H
#define BERTH_TESTS_GRAPH_RANDOM_NETWORK_H

#include "berth/alias.h"
#include "graph/network.h"
#include <stdio.h>
#include <stdlib.h>

#define RANDOM_TENSORS 16
#define RANDOM_OPS     12
#define ROOM           4096u /* bytes of memory that a random network may take */

static inline berth_sharing_t sharing_of(int code) {
  switch (code) {
  case BERTH_BUILTIN_RELU:
    return (berth_sharing_t){1, BERTH_VIEW_NONE};
  case BERTH_BUILTIN_ADD:
    return (berth_sharing_t){3, BERTH_VIEW_NONE};
  case BERTH_BUILTIN_MUL: /* as if it could be written over its second input only */
    return (berth_sharing_t){2, BERTH_VIEW_NONE};
  case BERTH_BUILTIN_SQUEEZE:
    return (berth_sharing_t){1, BERTH_VIEW_SAME};
  case BERTH_BUILTIN_CONCATENATION:
    return (berth_sharing_t){0, BERTH_VIEW_CONCAT};
  case BERTH_BUILTIN_SPLIT:
    return (berth_sharing_t){0, BERTH_VIEW_SPLIT};
  default:
    return (berth_sharing_t){0, BERTH_VIEW_NONE};
  }
}

static inline uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static char texts[4 * RANDOM_OPS][64];
static uint32_t text_count;

static inline const char *text(const uint32_t *list, uint32_t count) {
  char *to = texts[text_count++];
  size_t used = 0;
  to[0] = '\0';
  for (uint32_t i = 0; i < count; i++) {
    used += (size_t)snprintf(to + used, sizeof texts[0] - used, "%s%u", i > 0 ? " " : "", list[i]);
  }
  return to;
}

/* Ten operators or so on what is there already. */
static inline void random_network(network_t *net, uint32_t seed, uint32_t ops) {
  static char shapes[RANDOM_TENSORS][16];
  uint32_t sizes[RANDOM_TENSORS], count = 0, readers[RANDOM_TENSORS] = {0};
  text_count = 0;
  uint32_t inputs = 1 + next_random(&seed) % 2;
  const uint32_t unit = next_random(&seed) % 4 == 0 ? 8 : 16;
  while (count < inputs) sizes[count++] = unit * (1 + next_random(&seed) % 3);
  network_subgraph_t *s = &net->subgraphs[0];
  while (s->op_count < ops && count < RANDOM_TENSORS - 2) {
    uint32_t a = next_random(&seed) % count, b = next_random(&seed) % count;
    uint32_t reads[2] = {a, b}, read_count = 1, writes[2] = {count, count + 1}, write_count = 1;
    int code = BERTH_BUILTIN_CONV_2D;
    sizes[count] = unit * (1 + next_random(&seed) % 4);
    switch (next_random(&seed) % 8) {
    case 0:
    case 1:
      code = BERTH_BUILTIN_RELU;
      sizes[count] = sizes[a];
      break;
    case 2:
      code = BERTH_BUILTIN_SQUEEZE;
      sizes[count] = sizes[a];
      break;
    case 3:
      code = next_random(&seed) % 2 ? BERTH_BUILTIN_ADD : BERTH_BUILTIN_MUL;
      sizes[count] = sizes[a]; /* b may be of another size, as if it were broadcast */
      read_count = 2;
      break;
    case 4:
      if (sizes[a] + sizes[b] > ROOM / RANDOM_TENSORS) break;
      code = BERTH_BUILTIN_CONCATENATION;
      sizes[count] = sizes[a] + sizes[b];
      read_count = 2;
      break;
    case 5:
      if (sizes[a] < 2 * unit) break;
      code = BERTH_BUILTIN_SPLIT;
      sizes[count] = unit;
      sizes[count + 1] = sizes[a] - unit;
      write_count = 2;
      break;
    default:
      break;
    }
    for (uint32_t i = 0; i < read_count; i++) readers[reads[i]]++;
    op(net, 0, code, text(reads, read_count), text(writes, write_count));
    count += write_count;
  }
  uint32_t outputs[RANDOM_TENSORS], output_count = 0;
  for (uint32_t t = 0; t < count; t++) {
    snprintf(shapes[t], sizeof shapes[t], "%u", sizes[t]);
    tensor(net, 0, BERTH_TYPE_INT8, shapes[t], 0);
    if (readers[t] == 0 ? next_random(&seed) % 4 != 0 : next_random(&seed) % 8 == 0) {
      outputs[output_count++] = t;
    }
  }
  const uint32_t first[2] = {0, 1};
  s->inputs = text(first, inputs);
  s->outputs = text(outputs, output_count);
}

#endif
