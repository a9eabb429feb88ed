/* What a streamed plan is: which steps run row by row, with which rings. */
#include "host/streaming_print.h"
#include "host/table.h"
#include "host/text.h"
#include <inttypes.h>

/* Calls `each` for the tensors that have a ring in `run`. */
static uint32_t rings_of(const berth_streaming_t *s, const berth_stream_run_t *run,
                         uint32_t *tensors, uint32_t room) {
  uint32_t count = 0, all = berth_model_subgraph(s->network.model, 0).tensor_count;
  for (uint32_t i = 0; i < all && count < room; i++) {
    if (s->rings[i] == 0 || s->buffer_of[i] == UINT32_MAX) continue;
    const berth_buffer_t *buffer = &s->buffers[s->buffer_of[i]];
    if (buffer->first >= run->first && buffer->last <= run->last) tensors[count++] = i;
  }
  return count;
}

#define RINGS_MAX 4096u

static uint64_t ring_bytes(const berth_streaming_t *s, const uint32_t *tensors, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) bytes += s->buffers[s->buffer_of[tensors[i]]].size;
  return bytes;
}

bool berth_streaming_print(const berth_streaming_t *s, FILE *stream) {
  if (s->plan.run_count == 0) {
    fputs("Streamed: nothing; no run of operators needs less memory row by row\n", stream);
    return true;
  }
  fprintf(stream, "Streamed row by row: %" PRIu32 " run%s\n", s->plan.run_count,
          s->plan.run_count == 1 ? "" : "s");
  static const char *const headings[] = {"Steps",          "Rows at a time", "Rings",
                                         "Bytes of rings", "Input",          NULL};
  berth_text_table_t table = berth_text_table(headings, "lrrrl");
  uint32_t tensors[RINGS_MAX], reversed = 0;
  for (uint32_t i = 0; i < s->plan.run_count; i++) {
    const berth_stream_run_t *run = &s->plan.runs[i];
    reversed += run->reverse;
    uint32_t count = rings_of(s, run, tensors, RINGS_MAX);
    bool pushed = false;
    for (uint32_t k = 0; k < count; k++) {
      pushed = pushed || s->labels[s->buffer_of[tensors[k]]].kind == BERTH_KIND_INPUT;
    }
    berth_text_table_cell(&table, "%" PRIu32 "-%" PRIu32, run->first, run->last);
    berth_text_table_cell(&table, "%" PRIu32, run->block);
    berth_text_table_cell(&table, "%" PRIu32, count);
    berth_text_table_cell(&table, "%s", berth_human_bytes(ring_bytes(s, tensors, count)).text);
    berth_text_table_cell(&table, "%s", pushed ? "row by row" : "");
  }
  bool good = berth_text_table_print(&table, 2, stream);
  fprintf(stream, "  %" PRIu64 " calls of operators instead of %" PRIu32 "\n",
          s->result.choices[s->chosen].calls, s->plan.step_count);
  if (reversed > 0) {
    fprintf(stream, "  %" PRIu32 " of the runs from the last row to the first\n", reversed);
  }
  return good;
}

static void write_run(const berth_streaming_t *s, const berth_stream_run_t *run,
                      berth_json_t *json) {
  berth_json_open(json, NULL, '{');
  berth_json_number(json, "first", run->first);
  berth_json_number(json, "last", run->last);
  berth_json_number(json, "block_rows", run->block);
  berth_json_open(json, "push_inputs", '[');
  berth_vector_t inputs = berth_model_subgraph(s->network.model, 0).inputs;
  for (uint32_t i = 0; i < inputs.count && i < 32; i++) {
    if (run->push_inputs >> i & 1u) berth_json_number(json, NULL, i);
  }
  berth_json_close(json, ']');
  berth_json_bool(json, "pull_outputs", run->pull_outputs);
  berth_json_bool(json, "reverse", run->reverse);
  berth_json_open(json, "rings", '[');
  uint32_t tensors[RINGS_MAX], count = rings_of(s, run, tensors, RINGS_MAX);
  for (uint32_t i = 0; i < count; i++) {
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "tensor", tensors[i]);
    uint32_t ring = s->rings[tensors[i]];
    berth_json_number(json, "rows", ring == BERTH_STREAM_NOTHING ? 0 : ring);
    berth_json_number(json, "of_rows", s->tensors[tensors[i]].rows);
    berth_json_number(json, "row_bytes", s->tensors[tensors[i]].row_bytes);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
  berth_json_close(json, '}');
}

void berth_streaming_json(const berth_streaming_t *s, const uint32_t *order, berth_json_t *json) {
  berth_json_open(json, "streaming", '{');
  if (order != NULL) {
    berth_json_open(json, "order", '[');
    for (uint32_t i = 0; i < s->plan.step_count; i++) berth_json_number(json, NULL, order[i]);
    berth_json_close(json, ']');
  }
  berth_json_open(json, "runs", '[');
  for (uint32_t i = 0; i < s->plan.run_count; i++) write_run(s, &s->plan.runs[i], json);
  berth_json_close(json, ']');
  berth_json_open(json, "overlaps", '[');
  for (uint32_t i = 0; i < s->pair_count; i++) {
    const berth_pair_t *pair = &s->pairs[i];
    static const char *const names[] = {"share", "apart", "head", "tail", "over"};
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "a", pair->a);
    berth_json_number(json, "b", pair->b);
    berth_json_string(json, "relation", names[pair->relation]);
    berth_json_number(json, "bytes", pair->bytes);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
  berth_json_open(json, "choices", '[');
  for (uint32_t i = 0; i < s->result.choice_count; i++) {
    const berth_stream_choice_t *choice = &s->result.choices[i];
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "load_bytes", choice->load);
    berth_json_number(json, "calls", choice->calls);
    berth_json_number(json, "runs", choice->run_count);
    if (s->trials[i].peak != UINT64_MAX) berth_json_number(json, "peak_bytes", s->trials[i].peak);
    berth_json_bool(json, "chosen", i == s->chosen);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
  berth_json_number(json, "work", s->result.work);
  berth_json_bool(json, "exact", s->result.exact);
  berth_json_close(json, '}');
}
