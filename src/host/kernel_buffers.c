/* Scratch, workspace and state, from the kernels' contracts. */
#include "host/kernel_buffers.h"
#include "host/runner.h"

#include <stdlib.h>
#include <string.h>

#define OF_ONE_OPERATOR (BERTH_SCRATCH_MAX + 2) /* its scratch buffers, workspace and state */
#define NAME_BYTES      96u

uint32_t berth_kernel_buffers_max(const berth_model_t *model) {
  uint32_t operators = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    operators += berth_model_subgraph(model, s).operator_count;
  }
  return operators < UINT32_MAX / OF_ONE_OPERATOR ? operators * OF_ONE_OPERATOR : UINT32_MAX;
}

typedef struct adding {
  berth_subject_t *subject;
  uint64_t align;
  bool rounded; /* sizes are rounded up to the alignment */
  char *names;  /* NAME_BYTES for each buffer */
  uint32_t count;
} adding_t;

static void add(adding_t *adding, uint32_t subgraph, uint32_t op, berth_buffer_kind_t kind,
                uint32_t part, uint64_t bytes, uint32_t first, uint32_t last) {
  if (bytes == 0) return;
  berth_subject_t *subject = adding->subject;
  uint32_t index = subject->problem.buffer_count++;
  uint64_t size =
      adding->rounded ? (bytes + adding->align - 1) / adding->align * adding->align : bytes;
  subject->buffers[index] = berth_buffer(size, first, last);
  subject->buffers[index].align = adding->align;
  subject->buffers[index].traffic = 2 * bytes; /* written and read */
  char *name = adding->names + (size_t)adding->count++ * NAME_BYTES;
  berth_runner_operator_text(&subject->model, subgraph, op, name, NAME_BYTES);
  subject->labels[index] = (berth_label_t){.name = {name, (uint32_t)strlen(name)},
                                           .bytes = bytes,
                                           .subgraph = BERTH_NOBODY,
                                           .tensor = BERTH_NOBODY,
                                           .kind = kind,
                                           .has_kind = true,
                                           .op_subgraph = subgraph,
                                           .op = op,
                                           .part = part};
}

static void add_operator(adding_t *adding, uint32_t subgraph, uint32_t op,
                         const berth_contract_t *contract) {
  const berth_graph_t *graph = &adding->subject->graph;
  uint32_t first = subgraph == 0 ? op : graph->called_first[subgraph];
  uint32_t last = subgraph == 0 ? op : graph->called_last[subgraph];
  uint32_t end = graph->step_count - 1;
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    add(adding, subgraph, op, BERTH_KIND_SCRATCH, i, contract->scratch[i], first, last);
  }
  add(adding, subgraph, op, BERTH_KIND_WORKSPACE, 0, contract->workspace, 0, end);
  add(adding, subgraph, op, BERTH_KIND_WORKSPACE, 1, contract->state, 0, end);
}

berth_status_t berth_kernel_buffers_add(berth_subject_t *subject,
                                        const berth_subject_options_t *options, void **names,
                                        berth_complaint_t *complaint) {
  uint32_t align = options->align > 16 ? options->align : 16; /* as the interpreter's */
  adding_t adding = {subject, align, !options->exact_sizes,
                     malloc(((size_t)berth_kernel_buffers_max(&subject->model) + 1) * NAME_BYTES),
                     0};
  *names = adding.names;
  if (adding.names == NULL) {
    berth_complain(complaint, "%s: out of memory", subject->path);
    return BERTH_ERROR_MEMORY;
  }
  berth_contracts_t contracts;
  berth_status_t status = berth_what_if_contracts(&options->what_if, subject->path, &subject->graph,
                                                  false, &contracts, complaint);
  if (status != BERTH_OK) return status;
  for (uint32_t s = 0; s < subject->model.subgraph_count; s++) {
    if (subject->graph.called_first[s] == BERTH_NOBODY) continue;
    uint32_t count = berth_model_subgraph(&subject->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      const berth_contract_t *contract = &contracts.table[contracts.bases[s] + op];
      if (!contract->known) subject->unknown_operators++;
      if (contract->known) add_operator(&adding, s, op, contract);
    }
  }
  berth_contracts_free(&contracts);
  return BERTH_OK;
}
