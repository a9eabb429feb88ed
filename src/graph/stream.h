/* What the files of streaming share: reading the schedule's nodes and edges. See
 * include/berth/stream.h for the whole. */
#ifndef BERTH_SRC_GRAPH_STREAM_H
#define BERTH_SRC_GRAPH_STREAM_H

#include "berth/stream.h"

/* What a reader really reads over an edge: past a RESHAPE that doesn't run. Its source may belong
 * to no run, and is then there from the start. */
static inline const berth_stream_edge_t *berth_stream_reach(const berth_stream_t *stream,
                                                            const berth_stream_edge_t *edge) {
  const berth_stream_node_t *source = &stream->nodes[edge->source];
  return source->is_view ? &stream->edges[source->edges] : edge;
}

/* The rows over its own `edge` that a node needs for its rows of work [first, last). */
berth_stream_rows_t berth_stream_read(const berth_stream_node_t *node,
                                      const berth_stream_edge_t *edge, uint32_t first,
                                      uint32_t last);

/* Is a variable among these tensors of the main subgraph? */
bool berth_stream_has_variable(const berth_model_t *model, berth_vector_t tensors);

/* Can the run that has begun make its rows from the last one on? */
bool berth_stream_is_reversible(const berth_stream_t *stream);

#endif
