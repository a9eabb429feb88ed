/* From a file to the buffers that are planned, whatever kind of file it is. */
#include "host/subject.h"
#include "host/kernel_buffers.h"
#include "host/problem_csv.h"
#include "host/sharing.h"
#include "optimize/cleanup.h"
#include "optimize/write.h"
#include "plan/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static berth_status_t out_of_memory(const char *path, berth_complaint_t *complaint) {
  berth_complain(complaint, "%s: out of memory", path);
  return BERTH_ERROR_MEMORY;
}

/* ---- Models --------------------------------------------------------------------------------- */

static void complain_about_graph(const char *path, const berth_graph_error_t *error,
                                 berth_complaint_t *complaint) {
  char op[32] = "", tensor[32] = "";
  if (error->op != UINT32_MAX) snprintf(op, sizeof op, ", operator %" PRIu32, error->op);
  if (error->tensor != UINT32_MAX)
    snprintf(tensor, sizeof tensor, ", tensor %" PRIu32, error->tensor);
  berth_complain(complaint, "%s: %s (subgraph %" PRIu32 "%s%s)", path, error->what, error->subgraph,
                 op, tensor);
}

static berth_status_t analyse(const char *path, const berth_model_t *model,
                              const berth_subject_options_t *options, bool folded, void **memory,
                              berth_graph_t *graph, berth_complaint_t *complaint) {
  berth_graph_options_t rules = {NULL, options->keep_inputs, folded};
  size_t bytes;
  berth_status_t status = berth_graph_workspace(model, &bytes);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: too many tensors for this machine", path);
    return status;
  }
  *memory = malloc(bytes > 0 ? bytes : 1);
  if (*memory == NULL) return out_of_memory(path, complaint);
  berth_graph_error_t error = {"its lifetimes cannot be found", 0, UINT32_MAX, UINT32_MAX};
  status = berth_graph_analyse(model, &rules, *memory, bytes, graph, &error);
  if (status != BERTH_OK) {
    complain_about_graph(path, &error, complaint);
    return status;
  }
  if (!berth_what_if_any(&options->what_if)) return BERTH_OK;
  return berth_what_if_apply(&options->what_if, path, graph, complaint);
}

/* The buffers of a graph's tensors, in memory that the caller frees; room for `extra` more. */
static berth_status_t tensor_buffers(const char *path, const berth_graph_t *graph,
                                     const berth_subject_options_t *options, uint32_t extra,
                                     berth_buffer_t **buffers, uint32_t **tensors, uint32_t *count,
                                     berth_complaint_t *complaint) {
  size_t room = (size_t)graph->tensor_count + extra + 1;
  *buffers = malloc(room * sizeof **buffers);
  *tensors = malloc(room * sizeof **tensors);
  if (*buffers == NULL || *tensors == NULL) return out_of_memory(path, complaint);
  uint32_t align = options->align != 0 ? options->align : 16;
  berth_status_t status = berth_graph_buffers(graph, align, *buffers, *tensors, count);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: sizes of tensors are too large", path);
    return status;
  }
  for (uint32_t i = 0; i < *count && options->exact_sizes; i++) {
    (*buffers)[i].size = graph->tensors[(*tensors)[i]].bytes;
  }
  return BERTH_OK;
}

/* The model in its best or a given order, and its lifetimes anew. */
static berth_status_t take_order(berth_subject_t *subject, const berth_subject_options_t *options,
                                 berth_complaint_t *complaint) {
  void **bytes = &subject->memory[BERTH_SUBJECT_ORDERED];
  berth_status_t status = options->best_order
                              ? berth_sharing_order(subject, options, bytes, complaint)
                              : berth_sharing_reorder(subject, options->order, bytes, complaint);
  if (status != BERTH_OK || subject->memory[BERTH_SUBJECT_ORDERED] == NULL) return status;
  free(subject->memory[BERTH_SUBJECT_GROUND]);
  subject->memory[BERTH_SUBJECT_GROUND] = NULL;
  return analyse(subject->path, &subject->model, options, !options->keep_foldable,
                 &subject->memory[BERTH_SUBJECT_GROUND], &subject->graph, complaint);
}

/* Lets the subject's model be the one that is left after the clean-ups. */
static berth_status_t clean_up(berth_subject_t *subject, berth_complaint_t *complaint) {
  uint32_t counts[BERTH_CLEANUPS_MAX] = {0};
  uint8_t *bytes = NULL;
  uint64_t size = 0;
  berth_edit_t edit;
  berth_status_t status = berth_edit_open(&subject->model, &edit);
  if (status == BERTH_OK) {
    status = berth_clean(&edit, 0, false, counts);
    if (status == BERTH_OK) status = berth_edit_bytes(&edit, NULL, &bytes, &size, NULL);
    berth_edit_close(&edit);
  }
  subject->memory[BERTH_SUBJECT_CLEANED] = bytes;
  if (status == BERTH_OK) status = berth_model_open(bytes, size, &subject->model, NULL);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: cannot be cleaned up: %s", subject->path,
                   berth_status_text(status));
  }
  return status;
}

static berth_status_t read_model(berth_subject_t *subject, const berth_subject_options_t *options,
                                 berth_complaint_t *complaint) {
  berth_model_error_t error;
  berth_status_t status =
      berth_model_open(subject->map.data, subject->map.size, &subject->model, &error);
  if (status != BERTH_OK) {
    char message[BERTH_HOST_MESSAGE] = "not a usable model";
    if (status == BERTH_ERROR_FORMAT) berth_host_model_message(&error, message);
    berth_complain(complaint, "%s: %s", subject->path, message);
    return status;
  }
  if (options->clean) {
    status = clean_up(subject, complaint);
    if (status != BERTH_OK) return status;
  }
  status = analyse(subject->path, &subject->model, options, !options->keep_foldable,
                   &subject->memory[BERTH_SUBJECT_GROUND], &subject->graph, complaint);
  if (status == BERTH_OK && (options->best_order || options->order != NULL)) {
    status = take_order(subject, options, complaint);
  }
  if (status != BERTH_OK) return status;

  berth_buffer_t *buffers = NULL;
  uint32_t *tensors = NULL;
  uint32_t count = 0;
  uint32_t extra = 0;
  if (options->kernels) extra = berth_kernel_buffers_max(&subject->model);
  status = tensor_buffers(subject->path, &subject->graph, options, options->reserve_count + extra,
                          &buffers, &tensors, &count, complaint);
  subject->memory[BERTH_SUBJECT_BUFFERS] = buffers;
  subject->memory[BERTH_SUBJECT_ORIGINS] = tensors;
  if (status != BERTH_OK) return status;
  subject->labels =
      malloc(((size_t)count + options->reserve_count + extra + 1) * sizeof *subject->labels);
  subject->memory[BERTH_SUBJECT_LABELS] = subject->labels;
  if (subject->labels == NULL) return out_of_memory(subject->path, complaint);

  for (uint32_t i = 0; i < count; i++) {
    const berth_graph_tensor_t *tensor = &subject->graph.tensors[tensors[i]];
    berth_tensor_t info = berth_model_tensor(&subject->model, tensor->subgraph, tensor->tensor);
    subject->labels[i] = (berth_label_t){.name = info.name,
                                         .bytes = tensor->bytes,
                                         .subgraph = tensor->subgraph,
                                         .tensor = tensor->tensor,
                                         .kind = tensor->kind,
                                         .has_kind = true};
    if (tensor->allocation == BERTH_ALLOCATION_PERSISTENT) {
      subject->variable_bytes += buffers[i].size;
    }
  }
  subject->buffers = buffers;
  subject->problem.buffers = buffers;
  subject->problem.buffer_count = count;
  subject->step_count = subject->graph.step_count;
  if (!options->kernels) return BERTH_OK;
  return berth_kernel_buffers_add(subject, options, &subject->memory[BERTH_SUBJECT_KERNELS],
                                  complaint);
}

/* ---- What comes on top ---------------------------------------------------------------------- */

static berth_status_t add_reserves(berth_subject_t *subject, const berth_subject_options_t *options,
                                   berth_complaint_t *complaint) {
  berth_buffer_t *buffers = subject->buffers; /* both kinds of subject have left room behind them */
  uint32_t end = subject->step_count > 0 ? subject->step_count - 1 : 0;
  uint64_t align = options->align != 0 ? options->align : subject->is_model ? 16 : 1;
  for (uint32_t i = 0; i < options->reserve_count; i++) {
    const berth_reserve_t *reserve = &options->reserves[i];
    if (!reserve->every_step && reserve->last > end) {
      berth_complain(complaint,
                     "%s: --reserve %s: step %" PRIu32 " is beyond the last one, %" PRIu32,
                     subject->path, reserve->name, reserve->last, end);
      return BERTH_ERROR_ARGUMENT;
    }
    if (reserve->bytes > (uint64_t)INT64_MAX - align) {
      berth_complain(complaint, "%s: --reserve %s is too large", subject->path, reserve->name);
      return BERTH_ERROR_OVERFLOW;
    }
    uint64_t size = options->exact_sizes ? reserve->bytes : berth_round_up(reserve->bytes, align);
    uint32_t index = subject->problem.buffer_count++;
    buffers[index] = berth_buffer(size, reserve->every_step ? 0 : reserve->first,
                                  reserve->every_step ? end : reserve->last);
    buffers[index].align = align;
    subject->labels[index] =
        (berth_label_t){.name = {reserve->name, (uint32_t)strlen(reserve->name)},
                        .bytes = reserve->bytes,
                        .subgraph = BERTH_NOBODY,
                        .tensor = BERTH_NOBODY,
                        .kind = BERTH_KIND_RESERVED,
                        .has_kind = true};
  }
  return BERTH_OK;
}

static berth_status_t add_regions(berth_subject_t *subject, const berth_subject_options_t *options,
                                  berth_complaint_t *complaint) {
  if (options->region_count == 0) return BERTH_OK;
  berth_region_t *regions = malloc(options->region_count * sizeof *regions);
  subject->memory[BERTH_SUBJECT_REGIONS] = regions;
  if (regions == NULL) return out_of_memory(subject->path, complaint);
  for (uint32_t r = 0; r < options->region_count; r++) regions[r] = options->regions[r].region;
  subject->problem.regions = regions;
  subject->problem.region_count = options->region_count;
  subject->problem.outside_cost = options->region_count + 1;
  for (uint32_t r = 0; r < options->region_count; r++) {
    if (regions[r].cost >= subject->problem.outside_cost) {
      subject->problem.outside_cost =
          regions[r].cost < UINT64_MAX ? regions[r].cost + 1 : UINT64_MAX;
    }
  }
  return BERTH_OK;
}

/* Is the problem one that can be planned at all? The complaint names the buffer that isn't. */
static berth_status_t check(const berth_subject_t *subject, berth_complaint_t *complaint) {
  uint32_t culprit = UINT32_MAX;
  berth_status_t status = berth_problem_check(&subject->problem, &culprit);
  if (status == BERTH_OK) return status;
  const char *what = status == BERTH_ERROR_OVERFLOW
                         ? "sizes, alignments and fixed offsets add up to more than 2^63 - 1"
                         : "a value is outside its range";
  if (culprit < subject->problem.buffer_count) {
    const berth_label_t *label = &subject->labels[culprit];
    berth_complain(complaint, "%s: buffer \"%.*s\": %s", subject->path, (int)label->name.length,
                   label->name.data, what);
  } else if (culprit != UINT32_MAX) {
    berth_complain(complaint, "%s: pair %" PRIu32 ": %s", subject->path,
                   culprit - subject->problem.buffer_count, what);
  } else {
    berth_complain(complaint, "%s: %s", subject->path, what);
  }
  return status;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

berth_status_t berth_subject_open(const char *path, const berth_subject_options_t *options,
                                  berth_subject_t *subject, berth_complaint_t *complaint) {
  *subject = (berth_subject_t){.path = path, .regions = options->regions};
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_map(path, &subject->map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  bool marked = subject->map.size >= 8 && memcmp(subject->map.data + 4, "TFL", 3) == 0;
  subject->is_model = marked || !ends_with(path, ".csv");
  if (subject->is_model) {
    status = read_model(subject, options, complaint);
  } else if (options->kernels || options->share || options->best_order || options->clean ||
             berth_what_if_any(&options->what_if)) {
    berth_complain(complaint, "%s: is a problem, and only a model has shapes and operators", path);
    status = BERTH_ERROR_ARGUMENT;
  } else {
    status = berth_problem_csv_read(subject, options, complaint);
  }
  if (status == BERTH_OK) status = add_reserves(subject, options, complaint);
  if (status == BERTH_OK) status = add_regions(subject, options, complaint);
  if (status == BERTH_OK && options->pairs_path != NULL) {
    status = berth_pairs_csv_read(subject, options->pairs_path, complaint);
  }
  if (status == BERTH_OK && options->share) {
    status =
        berth_sharing_pairs(subject, options, &subject->memory[BERTH_SUBJECT_SHARING], complaint);
  }
  if (status == BERTH_OK) status = check(subject, complaint);
  for (uint32_t i = 0; i < subject->problem.buffer_count && status == BERTH_OK; i++) {
    subject->sum_bytes += subject->problem.buffers[i].size;
  }
  if (status != BERTH_OK) berth_subject_close(subject);
  return status;
}

void berth_subject_close(berth_subject_t *subject) {
  for (size_t i = 0; i < BERTH_SUBJECT_BLOCKS; i++) free(subject->memory[i]);
  berth_host_unmap(&subject->map);
  *subject = (berth_subject_t){.path = subject->path};
}

/* ---- Totals --------------------------------------------------------------------------------- */

berth_status_t berth_subject_load(const berth_problem_t *problem, uint64_t *load, uint32_t *step,
                                  berth_complaint_t *complaint) {
  size_t bytes;
  berth_status_t status = berth_problem_load_workspace(problem, &bytes);
  void *workspace = status == BERTH_OK ? malloc(bytes > 0 ? bytes : 1) : NULL;
  if (workspace == NULL) {
    berth_complain(complaint, "out of memory");
    return BERTH_ERROR_MEMORY;
  }
  status = berth_problem_load(problem, workspace, bytes, load, step);
  free(workspace);
  if (status != BERTH_OK) berth_complain(complaint, "%s", berth_status_text(status));
  return status;
}

berth_status_t berth_subject_totals(const berth_subject_t *subject,
                                    const berth_subject_options_t *options, bool folded,
                                    berth_totals_t *totals, berth_complaint_t *complaint) {
  berth_graph_t graph;
  void *memory = NULL;
  berth_buffer_t *buffers = NULL;
  uint32_t *tensors = NULL;
  berth_problem_t problem = {0};
  berth_status_t status =
      analyse(subject->path, &subject->model, options, folded, &memory, &graph, complaint);
  if (status == BERTH_OK) {
    status = tensor_buffers(subject->path, &graph, options, 0, &buffers, &tensors,
                            &problem.buffer_count, complaint);
  }
  problem.buffers = buffers;
  berth_totals_t found = {0, 0};
  for (uint32_t i = 0; status == BERTH_OK && i < problem.buffer_count; i++) {
    found.sum_bytes += buffers[i].size;
  }
  if (status == BERTH_OK) {
    status = berth_subject_load(&problem, &found.lower_bound_bytes, NULL, complaint);
  }
  free(tensors);
  free(buffers);
  free(memory);
  if (status == BERTH_OK) *totals = found;
  return status;
}
