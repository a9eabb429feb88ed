/* A forecast for people: the totals, what the tail consists of, which kernels take most, and why
 * the smallest arena is larger than what the runtime reports, if it is. */
#include "host/forecast.h"
#include "host/plan_text.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>

#define KERNELS_SHOWN 5u
#define NOTES_SHOWN   10u

static const char *operator_name(const berth_model_t *model, const berth_tflm_operator_t *record,
                                 char *out) {
  berth_operator_t op = berth_model_operator(model, record->subgraph, record->op);
  berth_text_t name = berth_operator_name(&op);
  return berth_printable(name.data, name.length, 40, out, BERTH_NAME_ROOM);
}

/* "operator 3", or "operator 3 of subgraph 1". */
static void print_place(const berth_tflm_operator_t *record, FILE *stream) {
  fprintf(stream, "operator %" PRIu32, record->op);
  if (record->subgraph > 0) fprintf(stream, " of subgraph %" PRIu32, record->subgraph);
}

/* ---- TFLM ------------------------------------------------------------------------------------ */

static void total(berth_text_table_t *table, const char *name, uint64_t bytes, const char *what) {
  berth_text_table_cell(table, "%s", name);
  berth_text_table_cell(table, "%s", berth_grouped(bytes).text);
  berth_text_table_cell(table, "%s", what);
}

static const char *part_note(berth_tflm_part_t part) {
  switch (part) {
  case BERTH_TFLM_ALLOCATOR:
    return "the allocators' own objects";
  case BERTH_TFLM_EVAL_TENSORS:
    return "a struct for every tensor, weights included";
  case BERTH_TFLM_NODES:
    return "a struct for every operator";
  case BERTH_TFLM_OPTIONS:
    return "stride, padding and the like, parsed";
  case BERTH_TFLM_OP_DATA:
    return "what kernels allocate in Init";
  case BERTH_TFLM_PREPARED:
    return "what they allocate in Prepare: multipliers of each channel, tables";
  case BERTH_TFLM_HANDLES:
    return "a pointer for every scratch buffer";
  case BERTH_TFLM_VARIABLES:
    return "tensors that keep their value between invokes";
  case BERTH_TFLM_IO_TENSORS:
    return "what input() and output() return";
  default:
    return "scale and zero point of those";
  }
}

static bool print_totals(const berth_tflm_forecast_t *forecast, FILE *stream) {
  static const char *const headings[] = {"", "bytes", "", NULL};
  berth_text_table_t table = berth_text_table(headings, "lrl");
  total(&table, "arena used", forecast->arena_used_bytes, "as arena_used_bytes() reports");
  total(&table, "  head", forecast->head_bytes, "tensors and scratch, planned");
  total(&table, "  tail", forecast->tail_bytes, "kept for good:");
  for (uint32_t i = 0; i < BERTH_TFLM_PART_COUNT; i++) {
    if (forecast->tail[i].count == 0) continue;
    char name[48];
    snprintf(name, sizeof name, "    %s", berth_tflm_part_name((berth_tflm_part_t)i));
    total(&table, name, forecast->tail[i].bytes, part_note((berth_tflm_part_t)i));
  }
  total(&table, "smallest arena", forecast->min_arena_bytes, "with which AllocateTensors succeeds");
  return berth_text_table_print(&table, 2, stream);
}

static void explain_arena(const berth_tflm_forecast_t *forecast, const berth_model_t *model,
                          FILE *stream) {
  char name[BERTH_NAME_ROOM];
  uint64_t more = forecast->min_arena_bytes - forecast->arena_used_bytes;
  switch (forecast->moment) {
  case BERTH_TFLM_AT_PLANNING:
    fprintf(stream,
            "\n%s bytes more are needed than are used in the end, because planning borrows memory "
            "in\nthe arena: %s for scratch requests, %s for a record of each tensor and %s for the "
            "planner,\nbeside the %s that are kept by then.\n",
            berth_grouped(more).text, berth_grouped(forecast->planning_request_bytes).text,
            berth_grouped(forecast->planning_info_bytes).text,
            berth_grouped(forecast->planning_planner_bytes).text,
            berth_grouped(forecast->planning_tail_bytes).text);
    break;
  case BERTH_TFLM_AT_PREPARE: {
    const berth_tflm_operator_t *record = &forecast->operators[forecast->moment_operator];
    fprintf(stream, "\n%s bytes more are needed than are used in the end, because preparing ",
            berth_grouped(more).text);
    print_place(record, stream);
    fprintf(stream, ", %s,\nborrows %s bytes for descriptions of its tensors.\n",
            operator_name(model, record, name), berth_grouped(record->temporary_bytes).text);
    break;
  }
  default:
    fprintf(stream, "\nThe smallest arena is what is used in the end%s.\n",
            more > 0 ? ", rounded up to a multiple of 16" : "");
  }
}

static uint64_t taken(const berth_tflm_operator_t *record) {
  return record->data_bytes + record->prepared_bytes + record->scratch_bytes;
}

static int by_size(const void *a, const void *b) {
  const berth_tflm_operator_t *x = *(berth_tflm_operator_t *const *)a;
  const berth_tflm_operator_t *y = *(berth_tflm_operator_t *const *)b;
  if (taken(x) != taken(y)) return taken(x) > taken(y) ? -1 : 1;
  return x < y ? -1 : x > y;
}

static bool print_kernels(const berth_tflm_forecast_t *forecast, const berth_model_t *model,
                          FILE *stream) {
  const berth_tflm_operator_t **order = calloc((size_t)forecast->operator_count + 1, sizeof *order);
  if (order == NULL) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    if (taken(&forecast->operators[i]) > 0) order[count++] = &forecast->operators[i];
  }
  qsort(order, count, sizeof *order, by_size);
  bool good = true;
  if (count > 0) {
    static const char *const headings[] = {"operator", "", "kept", "scratch", NULL};
    char name[BERTH_NAME_ROOM];
    uint32_t shown = count < KERNELS_SHOWN ? count : KERNELS_SHOWN;
    if (count > shown) {
      fprintf(stream, "\nKernels that take most, %" PRIu32 " of %" PRIu32 ":\n", shown, count);
    } else {
      fputs("\nWhat kernels take:\n", stream);
    }
    berth_text_table_t table = berth_text_table(headings, "rlrr");
    for (uint32_t i = 0; i < shown; i++) {
      if (order[i]->subgraph > 0) {
        berth_text_table_cell(&table, "%" PRIu32 ":%" PRIu32, order[i]->subgraph, order[i]->op);
      } else {
        berth_text_table_cell(&table, "%" PRIu32, order[i]->op);
      }
      berth_text_table_cell(&table, "%s", operator_name(model, order[i], name));
      berth_text_table_cell(&table, "%s",
                            berth_grouped(order[i]->data_bytes + order[i]->prepared_bytes).text);
      berth_text_table_cell(&table, "%s", berth_grouped(order[i]->scratch_bytes).text);
    }
    good = berth_text_table_print(&table, 2, stream);
  }
  free(order);
  return good;
}

/* Operators that make the forecast too low, or useless. */
static void print_doubts(const berth_tflm_forecast_t *forecast, const berth_model_t *model,
                         FILE *stream) {
  char name[BERTH_NAME_ROOM];
  uint32_t shown = 0;
  if (forecast->refused_count > 0) {
    fprintf(stream, "\nThese figures are what would be, for TFLM would not run this model:\n");
  } else if (forecast->unknown_count > 0) {
    fprintf(stream, "\nNot known, and counted as nothing, so TFLM may need more:\n");
  }
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    const berth_tflm_operator_t *record = &forecast->operators[i];
    if (record->known && record->refusal == NULL) continue;
    if (shown++ == NOTES_SHOWN) {
      fprintf(stream, "  and others\n");
      return;
    }
    fprintf(stream, "  ");
    print_place(record, stream);
    fprintf(stream, ", %s: %s\n", operator_name(model, record, name),
            record->known ? record->refusal : "not known what its kernel takes");
  }
}

static bool print_tflm(const berth_forecast_t *forecast, const berth_model_t *model, FILE *stream) {
  fprintf(stream, "On stock TFLM, %s, %s kernels%s%s:\n", berth_abi_name(forecast->tflm.abi),
          berth_tflm_kernel_set_name(forecast->tflm.kernels),
          forecast->tflm.offline ? ", following the model's offline plan" : "",
          forecast->tflm.refused_count > 0 ? ", if it ran this model (below: why not)" : "");
  bool good = print_totals(&forecast->tflm, stream);
  explain_arena(&forecast->tflm, model, stream);
  good &= print_kernels(&forecast->tflm, model, stream);
  print_doubts(&forecast->tflm, model, stream);
  return good;
}

/* ---- TFLite ---------------------------------------------------------------------------------- */

static bool print_tflite(const berth_tflite_forecast_t *forecast, FILE *stream) {
  static const char *const headings[] = {"", "bytes", "", NULL};
  fputs("On stock TensorFlow Lite:\n", stream);
  berth_text_table_t table = berth_text_table(headings, "lrl");
  total(&table, "arenas", forecast->arena_used_bytes, "for tensors");
  total(&table, "  head", forecast->head_bytes, "where tensors share memory, aligned to 64");
  total(&table, "  tail", forecast->tail_bytes,
        "variables, and weights that are decompressed once");
  bool good = berth_text_table_print(&table, 2, stream);
  fputs("\nKernels' temporary tensors, objects on the heap and delegates come on top.\n", stream);
  if (forecast->dynamic_count > 0) {
    fprintf(stream, "%" PRIu32 " tensors are left out: their size only shows when running.\n",
            forecast->dynamic_count);
  }
  return good;
}

bool berth_forecast_print(const berth_forecast_t *forecast, const berth_model_t *model,
                          FILE *stream) {
  if (forecast->options.runtime == BERTH_RUNTIME_TFLM) return print_tflm(forecast, model, stream);
  return print_tflite(&forecast->tflite, stream);
}
