/* As few calls as some memory permits: how many rows a run makes at a time.
 *
 * More rows at a time need larger rings and leave fewer places for outputs over inputs, so the load
 * hardly ever falls: the number grows by halves, 2, 3, 4, 6, 8, ..., and the first that exceeds the
 * budget ends it. What is tried is walked, so the result is right whatever the load does. Only one
 * run of a plan makes its peak; others have room below it that costs nothing.
 *
 * Cost: a walk for each number of rows that is tried.
 */
#include "graph/stream_search.h"

static uint32_t next_block(uint32_t block) {
  bool is_power = (block & (block - 1)) == 0;
  return block < 2 ? block + 1 : is_power ? block / 2 * 3 : block / 3 * 4;
}

uint64_t berth_searching_coarsen(berth_searching_t *s, berth_stream_run_t *run, uint64_t budget,
                                 uint32_t most) {
  uint32_t steps = run->last - run->first + 1;
  berth_searching_load(s, run, BERTH_STREAM_IMPOSSIBLE);
  uint64_t calls = s->measure.pieces;
  berth_stream_run_t coarser = *run;
  while (calls > steps && !s->stopped && s->result->work < s->limit) {
    coarser.block = next_block(coarser.block);
    if (coarser.block > most || berth_searching_load(s, &coarser, budget) > budget) break;
    if (s->measure.pieces < calls) {
      calls = s->measure.pieces;
      *run = coarser;
    }
  }
  return calls;
}

berth_status_t berth_stream_coarsen(const berth_stream_network_t *network,
                                    const berth_graph_t *graph,
                                    const berth_stream_search_options_t *options, uint64_t budget,
                                    void *workspace, size_t workspace_bytes,
                                    berth_stream_run_t *runs, uint32_t run_count) {
  berth_searching_t s = {.network = network, .graph = graph, .options = options};
  berth_stream_result_t result;
  berth_status_t status = berth_searching_open(&s, workspace, workspace_bytes, &result);
  for (uint32_t i = 0; status == BERTH_OK && i < run_count; i++) {
    if (runs[i].first > runs[i].last || runs[i].last >= s.step_count || runs[i].block == 0) {
      status = BERTH_ERROR_ARGUMENT;
    }
  }
  for (uint32_t i = 0; status == BERTH_OK && i < run_count; i++) {
    berth_searching_coarsen(&s, &runs[i], budget, UINT32_MAX / 2);
  }
  return status;
}
