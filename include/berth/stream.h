/* Streaming: runs of operators that execute row by row, so that most tensors inside of them never
 * exist whole.
 *
 * A streamed plan is an order of execution, some runs (intervals of steps of that order), and for
 * each tensor inside a run the number of rows that are kept of it: a ring. Everything else runs
 * whole, as ever. Within a run, the row schedule says which operator makes which rows next. It is
 * driven by demand from the run's ends: a row is made when somebody is about to read it, not
 * before. There is one function for it, and both those who compute rings and the interpreter walk
 * it, so that they cannot disagree; the verifier (berth_stream_verify) follows it with the
 * definition of what each row reads, and shares no more than the schedule.
 *
 *   size_t bytes;
 *   berth_stream_workspace(&network, 0, last_step, &bytes);
 *   berth_stream_t stream;
 *   berth_stream_init(&network, 0, last_step, memory, bytes, &stream);
 *   berth_stream_begin(&stream, &run);
 *   berth_stream_piece_t piece;
 *   while (berth_stream_next(&stream, &piece)) evaluate(piece.step, piece.first_row,
 * piece.last_row);
 *
 * Sources: row streaming of image networks on small devices is known from MCUNetV2 (Lin et al.,
 * 2021), StreamNet (Zheng et al., 2023), Pex (Liberis & Lane, 2023) and msf-CNN (Huang & Baccelli,
 * 2025), which recompute rows or cut into patches where this keeps rings; output rows over dead
 * input rows from vMCU (Zheng et al., 2024).
 */
#ifndef BERTH_STREAM_H
#define BERTH_STREAM_H

#include "berth/contract.h"
#include "berth/graph.h"
#include "berth/model.h"
#include "berth/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The network as streaming sees it -------------------------------------------------------- */

/* The rows of a tensor: steps along berth_row_dimension, of every batch one after the other, with
 * rank 3 and more; a tensor of lower rank is one row. */
typedef struct berth_stream_tensor {
  uint32_t rows;       /* of all batches; 0: a constant, or without a size before it runs */
  uint32_t batch_rows; /* of one batch; 1 with a rank below 3 */
  uint32_t row_bytes;
} berth_stream_tensor_t;

/* Arrays belong to the caller, and are only read. */
typedef struct berth_stream_network {
  const berth_model_t *model;
  const berth_contract_t *contracts;    /* of subgraph 0's operators, in the file's order */
  const berth_stream_tensor_t *tensors; /* of subgraph 0 */
  const uint32_t *order;                /* operator of each step; NULL: the file's order */
} berth_stream_network_t;

/* The rows of a tensor of that shape: `bytes` in all. */
berth_stream_tensor_t berth_stream_tensor(uint32_t rank, const int32_t *dims, uint32_t bytes);

/* Rows [first, last) of an input, none if first >= last. */
typedef struct berth_stream_rows {
  uint32_t first;
  uint32_t last;
} berth_stream_rows_t;

/* The rows of an input of `from` shape that the rows [first, last) of an output of `to` shape need,
 * by the definition of berth_window_t; of several batches, each its own. */
berth_stream_rows_t berth_stream_needed(const berth_window_t *window, berth_stream_tensor_t from,
                                        berth_stream_tensor_t to, uint32_t first, uint32_t last);

/* ---- Plans ---------------------------------------------------------------------------------- */

/* Steps first..last (inclusive) of the order, executed row by row. Any operators may be in it, as
 * long as none has a subgraph or uses a resource: what cannot be cut is made whole as soon as it is
 * needed, and its inputs then keep all their rows. */
typedef struct berth_stream_run {
  uint32_t first;
  uint32_t last;
  uint32_t block; /* rows made at a time, at least 1; more need larger rings and fewer calls */
  uint32_t push_inputs; /* bit i: the rows of graph input i, if only this run reads it, come from
                           the caller, one after the other, when the schedule asks for them */
  bool pull_outputs;    /* the rows of graph outputs that this run makes go to the caller as soon as
                           they are made; they are not kept beyond what the run itself reads */
  bool reverse;         /* rows are made from the last one to the first, so that they may lie above
                           those that are still needed instead of below. Only of one row-local step
                           with one output, which is no graph output, and that carries nothing from
                           row to row (variables, state) */
} berth_stream_run_t;

typedef struct berth_stream_plan {
  const uint32_t *order;          /* operator of each step; NULL: the file's order */
  uint32_t step_count;            /* operators of subgraph 0 */
  const berth_stream_run_t *runs; /* sorted, disjoint */
  uint32_t run_count;
  const uint32_t *rings; /* of each tensor of subgraph 0: rows kept; 0: all of them, whole. Their
                            memory is ring x row_bytes. Not all live in all steps of their run
                            (berth_stream_measure_t); who doesn't know better may assume so */
} berth_stream_plan_t;

/* ---- The row schedule ------------------------------------------------------------------------ */

/* One call of one operator. */
typedef struct berth_stream_piece {
  uint32_t step;  /* in the order; BERTH_NOBODY: rows of a graph input are to be delivered */
  uint32_t input; /* then: which (number in the subgraph's list of inputs) */
  uint32_t
      first_row;     /* rows [first_row, last_row) of output 0 are made. Accumulating: of input 0 */
  uint32_t last_row; /*   are consumed; begins with row 0, is finished after the last one. Whole:
                        all rows of output 0, maybe [0, 0) */
} berth_stream_piece_t;

/* An operator or a graph input in the schedule. Private. */
typedef struct berth_stream_node {
  uint32_t step;       /* or BERTH_NOBODY: a graph input */
  uint32_t tensor;     /* output 0 */
  uint32_t output;     /* rows of output 0 */
  uint32_t batch_rows; /* of one batch of it */
  uint32_t given;      /* what counts as a row of work: rows made, rows of input 0 consumed, or 1 */
  uint32_t edges;      /* index of its first edge; they end where the next node's begin */
  uint32_t first_use;  /* first and last step that reads what it makes, or BERTH_NOBODY */
  uint32_t last_use;
  uint8_t kind;   /* berth_kind_t */
  bool kept;      /* what it makes is a graph output or a variable, or nobody reads it */
  bool delivered; /* all that it makes are graph outputs */
  bool single;    /* it makes one tensor */
  bool ordered;   /* whole, but makes its rows in order, from those that its windows say */
  bool can_view;  /* a RESHAPE that only readers of any rows read */
  bool shared;    /* more than one reader */
  bool has_past;  /* its rows may depend on those before by more than its inputs' rows */

  bool active;     /* belongs to the current run */
  bool is_end;     /* of it: somebody after the run wants what it makes */
  bool is_whole;   /* what it makes must be there whole: it cannot be cut, or an end keeps it */
  bool is_view;    /* never runs: its readers see its input's rows */
  uint32_t rows;   /* as `given`, or those of what is seen through views */
  uint32_t made;   /* so many of `rows` are done */
  uint32_t wanted; /* so many have been asked for */
  uint32_t caller; /* by this node */
  uint32_t most;   /* consecutive pieces may be one of so many rows; 0: they may not */
} berth_stream_node_t;

/* One operator reads what another one makes. Private. */
typedef struct berth_stream_edge {
  uint32_t source; /* node */
  uint32_t reader; /* node */
  uint32_t tensor; /* of subgraph 0 */
  uint32_t input;  /* number in the reader's list of inputs */
  berth_stream_tensor_t shape;
  berth_window_t window; /* extent 0: all rows. Of a reader that is whole but ordered: for what it
                            writes over; to begin with, it needs all rows */
  bool in_place;         /* output row r may be written over row r of it */
  bool in_step;          /* the output may lie over it as berth_contract_t.in_step says */
} berth_stream_edge_t;

/* The schedule of the steps of an interval, one run at a time. Private; the arrays are in the
 * caller's workspace. */
typedef struct berth_stream {
  berth_stream_node_t *nodes; /* graph inputs, then steps in order, then one that ends the list */
  berth_stream_edge_t *edges;
  uint32_t input_count; /* nodes that are graph inputs */
  uint32_t node_count;
  uint32_t first_step; /* of node `input_count` */
  berth_stream_run_t run;
  uint32_t end_count; /* nodes of the run that are ends */
  uint32_t at;        /* node whose rows are about to be made */
  uint32_t top;       /* end of the run for which it is */
  berth_stream_piece_t
      ahead; /* the piece after the one that berth_stream_join gave, if has_ahead */
  bool has_ahead;
  void *recall; /* the interpreter's own */
} berth_stream_t;

/* Bytes of workspace for the schedule of steps first..last, aligned for any type. OVERFLOW. */
berth_status_t berth_stream_workspace(const berth_stream_network_t *network, uint32_t first,
                                      uint32_t last, size_t *bytes);

/* Prepares the schedule of all runs within steps first..last. Nothing of `network` is kept.
 * Errors: ARGUMENT (no such steps, not a permutation), MEMORY, OVERFLOW. Cost: operands x
 * operators of the interval. */
berth_status_t berth_stream_init(const berth_stream_network_t *network, uint32_t first,
                                 uint32_t last, void *workspace, size_t workspace_bytes,
                                 berth_stream_t *stream);

/* (Re)starts one run. ARGUMENT: it isn't within the interval, block is 0, or it cannot go in
 * reverse. */
berth_status_t berth_stream_begin(berth_stream_t *stream, const berth_stream_run_t *run);

/* The next piece of the run; false: there is none, all is done. Amortised, the cost is that of
 * looking at each operator's inputs once for every piece. */
bool berth_stream_next(berth_stream_t *stream, berth_stream_piece_t *piece);

/* Lets consecutive pieces of step `step` be one of up to `rows` rows, in berth_stream_join; 0: not.
 * (Re)starting a run doesn't change it. Whoever sets it knows that the rings are large enough. */
void berth_stream_set_join(berth_stream_t *stream, uint32_t step, uint32_t rows);

/* As berth_stream_next, with pieces joined. Not to be mixed with it within a run: it looks one
 * piece ahead. */
bool berth_stream_join(berth_stream_t *stream, berth_stream_piece_t *piece);

/* The tensor that step `step` really reads where its operator names `tensor`: another one if a
 * RESHAPE between the two doesn't run. */
uint32_t berth_stream_seen(const berth_stream_t *stream, uint32_t step, uint32_t tensor);

/* Is it a step that never runs within the current run, a RESHAPE whose readers see its input? */
bool berth_stream_is_view(const berth_stream_t *stream, uint32_t step);

/* ---- What a run needs ------------------------------------------------------------------------ */

#define BERTH_STREAM_OVERLAPS_MAX 16u /* most that are found of one run */
#define BERTH_STREAM_READS_MAX    4u  /* most tensors of before a run that others may lie over */

/* Two tensors that are whole, one of which a run makes while it reads the other for the last time:
 * the rows made may lie over rows that nobody will read any more. */
typedef struct berth_stream_overlap {
  uint32_t made; /* tensors of subgraph 0 */
  uint32_t read;
  int64_t distance; /* `made` may begin at most so many bytes after where `read` begins, and is then
                       safe wherever it lies; INT64_MAX: `read` is dead before any row is made */
  int64_t reversed; /* if the run goes in reverse: at least so many bytes after where `read` begins,
                       and is then safe wherever it lies; INT64_MAX: it can't go so */
  bool in_place;    /* it may also begin at the very place where `read` begins */
} berth_stream_overlap_t;

/* What berth_stream_measure finds. The arrays are the caller's. */
typedef struct berth_stream_measure {
  uint32_t *rings; /* of each tensor of subgraph 0. Set for those that the run makes, and for pushed
                      graph inputs: rows to keep, 0 for all, BERTH_STREAM_NOTHING for a tensor that
                      is never made. Others are left as they are */
  uint32_t *firsts, *lasts; /* likewise, of those that nobody after the run wants: the steps of the
                      pieces that are made while some of their rows are needed are within
                      first..last. So two of which one ends before the other begins may have the
                      same memory. Rows of an input count for the step that reads it first. Both
                      may be NULL */
  berth_stream_overlap_t overlaps[BERTH_STREAM_OVERLAPS_MAX]; /* those of one `made` together */
  uint32_t overlap_count;
  uint32_t pieces;     /* calls of operators */
  uint64_t ring_bytes; /* so far, of the rings of output 0 of operators, and of pushed inputs: the
                          largest sum of those that live in one step */

  /* May be NULL. Asked now and then when a ring has grown or a distance has shrunk; overlaps and
   * ring_bytes are those of the walk so far. false: end it, CANCELLED. */
  bool (*go_on)(void *user, const struct berth_stream_measure *measure);
  void *user;
} berth_stream_measure_t;

#define BERTH_STREAM_NOTHING UINT32_MAX /* a RESHAPE's output that its readers see through */

/* Bytes of workspace for berth_stream_measure, aligned for any type. OVERFLOW. */
berth_status_t berth_stream_measure_workspace(const berth_stream_t *stream, size_t *bytes);

/* Walks a run and finds the fewest rows that each tensor must keep, and the overlaps, those for
 * both directions where it can go in both. `stream` was made from `network` and is left at the end
 * of a walk from the first row on. Errors: ARGUMENT (as berth_stream_begin),
 * MEMORY, CANCELLED (rings are left as they are). Cost: pieces x readers. */
berth_status_t berth_stream_measure(berth_stream_t *stream, const berth_stream_network_t *network,
                                    const berth_stream_run_t *run, void *workspace,
                                    size_t workspace_bytes, berth_stream_measure_t *measure);

/* ---- Search --------------------------------------------------------------------------------- */

#define BERTH_STREAM_SEARCH_WORK UINT64_C(1500000)

typedef struct berth_stream_search_options {
  uint32_t push_inputs; /* as in berth_stream_run_t, for every run where it applies */
  bool pull_outputs;    /* likewise */
  uint32_t align;       /* to which sizes are rounded up; 0: 16 */
  bool one;             /* only the first choice is wanted */
  uint64_t below; /* and none at all if its load isn't below this: the search ends as soon as it
                     knows. 0: any */
  uint64_t work_limit; /* budget in pieces of schedules that are walked, and some of what else has
                          to be looked at; 0: BERTH_STREAM_SEARCH_WORK. It decides
                          the result, no clock does */
  berth_progress_t progress; /* may be NULL; `best` is the smallest load found so far */
  void *progress_user;
} berth_stream_search_options_t;

/* One way to stream a network. */
typedef struct berth_stream_choice {
  uint64_t load;  /* bytes: the largest sum of what lives in one run or step, less what overlaps.
                     An estimate of the peak: placing may need more, and may find better overlaps */
  uint64_t calls; /* of operators: how much is cut into how small pieces */
  uint32_t first_run; /* its runs, in the result's list */
  uint32_t run_count;
} berth_stream_choice_t;

#define BERTH_STREAM_CHOICES_MAX 24u

/* The choices from which no better one can be had without more calls: from the smallest load to
 * the fewest calls, which is nothing streamed at all. The second one may be another way to the
 * smallest load: with more calls, but with smaller loads beside the largest, so that placing it may
 * succeed where the first one leaves gaps. */
typedef struct berth_stream_result {
  berth_stream_choice_t choices[BERTH_STREAM_CHOICES_MAX];
  uint32_t choice_count;
  const berth_stream_run_t *runs; /* in the workspace */
  uint64_t work;
  bool exact; /* no choice of intervals of this order has a smaller load */
} berth_stream_result_t;

/* Bytes of workspace for berth_stream_search, aligned for any type. OVERFLOW. */
berth_status_t berth_stream_search_workspace(const berth_stream_network_t *network, size_t *bytes);

/* Chooses which intervals of the order to stream. `graph` was analysed with the network's order.
 * `options` NULL: all defaults. Errors: MEMORY, OVERFLOW, ARGUMENT. */
berth_status_t berth_stream_search(const berth_stream_network_t *network,
                                   const berth_graph_t *graph,
                                   const berth_stream_search_options_t *options, void *workspace,
                                   size_t workspace_bytes, berth_stream_result_t *result);

/* Lets each of `runs` make more rows at a time, for fewer calls, as long as its load is at most
 * `budget`; one whose load is larger already stays as it is. Graph, options and workspace are those
 * of a berth_stream_search that offers such runs. Errors: MEMORY, OVERFLOW, ARGUMENT (a run is
 * none). */
berth_status_t berth_stream_coarsen(const berth_stream_network_t *network,
                                    const berth_graph_t *graph,
                                    const berth_stream_search_options_t *options, uint64_t budget,
                                    void *workspace, size_t workspace_bytes,
                                    berth_stream_run_t *runs, uint32_t run_count);

/* May this operator be in a run? Not if it has subgraphs, uses a resource, makes a variable or is
 * not known; nor if it reads a variable and is whole. */
bool berth_stream_can_run(const berth_model_t *model, const berth_operator_t *op,
                          const berth_contract_t *contract);

#ifdef __cplusplus
}
#endif
#endif
