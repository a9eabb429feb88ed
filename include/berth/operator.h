/* Operators: what one must provide so that Berth can plan, stream, check and run it.
 *
 * Berth's own kernels (src/operators) and an application's custom operators register through the
 * same berth_kernel_t. Kernels are stateless code: everything that belongs to one operator of one
 * model comes in a berth_call_t.
 *
 *   static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
 *     berth_value_t input = berth_input(call, 0);
 *     if (input.type != BERTH_TYPE_FLOAT32) return berth_refuse(call, "takes float32 only");
 *     berth_contract_elementwise(contract);
 *     return berth_set_shape(call, 0, input.rank, input.dims);
 *   }
 *   static berth_status_t eval(berth_call_t *call) {
 *     berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
 *     for (uint32_t row = call->first_row; row < call->last_row; row++) {
 *       const float *from = berth_row(&input, row);
 *       float *to = berth_row(&output, row);
 *       for (uint32_t i = 0; i < output.row_bytes / sizeof *to; i++) to[i] = from[i] * 2.0f;
 *     }
 *     return BERTH_OK;
 *   }
 *   const berth_kernel_t doubler = {.code = BERTH_BUILTIN_CUSTOM, .custom_name = "Double",
 *                                   .prepare = prepare, .eval = eval};
 */
#ifndef BERTH_OPERATOR_H
#define BERTH_OPERATOR_H

#include "berth/contract.h"
#include "berth/model.h"
#include "berth/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values: tensors as a kernel sees them -------------------------------------------------- */

/* A tensor at run time, or a window of its rows.
 *
 * Row r is at data + (r mod ring) x row_bytes: a whole tensor has ring == rows, one that is being
 * streamed keeps the last `ring` rows only. With rank 3 and more, rows are steps along
 * berth_row_dimension (of every batch, one after the other); with less, the tensor is one row. */
typedef struct berth_value {
  uint8_t *data;      /* row 0 (of the ring); NULL: absent, or not placed yet */
  uint32_t bytes;     /* of the whole tensor */
  uint32_t row_bytes; /* of one row */
  uint32_t rows;      /* in the whole tensor */
  uint32_t ring;      /* rows that are kept, at least 1 */
  berth_tensor_type_t type;
  bool present;  /* false: an optional input that was left out */
  bool constant; /* `data` is in the model, also during prepare */
  bool known;    /* the shape is known; false: dynamic, until it was computed */
  bool variable; /* keeps its bytes between invokes; a kernel may write to it, though an input */
  uint32_t rank; /* 0: scalar */
  int32_t dims[BERTH_RANK_MAX];
  uint32_t elements; /* product of dims */
  float scale;       /* of per-tensor quantization, or channel 0's; 0: none */
  int32_t zero_point;
  berth_vector_t scales; /* per channel of `quantized_dimension`; or one; or none */
  int32_t quantized_dimension;
  uint32_t index; /* of the tensor in its subgraph */
} berth_value_t;

/* The row `row` of a value. */
static inline void *berth_row(const berth_value_t *value, uint32_t row) {
  return value->data + (size_t)(row % value->ring) * value->row_bytes;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

struct berth_kernel;

/* Instruction sets that a kernel may use beyond the portable C, in berth_call_t.cpu. */
#define BERTH_CPU_AVX2 1u /* with FMA and F16C */

/* What this processor offers of them. */
uint32_t berth_cpu_detect(void);

#define BERTH_RANK_UNKNOWN UINT32_MAX /* for berth_call_t.shape */

/* One operator of one model, while it is prepared or evaluated. Made by the interpreter on its own
 * stack; kernels use the functions below, and read the fields. */
typedef struct berth_call {
  const berth_model_t *model;
  const struct berth_kernel *kernel;
  berth_operator_t op; /* as the file has it, with its options */
  uint32_t subgraph;
  uint32_t index;     /* of the operator in the subgraph */
  uint32_t first_row; /* eval: output rows [first_row, last_row) are wanted; accumulate: input */
  uint32_t last_row;  /*   rows [first_row, last_row) are there */
  uint32_t cpu;       /* BERTH_CPU_* that may be used */
  bool store_multipliers; /* spend workspace on per-channel multipliers instead of time */
  void *workspace;        /* contract.workspace bytes, 16-byte aligned; written by init only */
  void *state;            /* contract.state bytes, zero before the first invoke */
  void *scratch[BERTH_SCRATCH_MAX]; /* contract.scratch bytes each, 16-byte aligned; NULL: none */
  uint32_t scratch_bytes; /* of scratch[0]: what the contract demands, or more if it wishes more */
  const char *why;        /* set by berth_refuse */
  void *interpreter;      /* the interpreter's; kernels don't use it */
  berth_value_t (*tensor)(const struct berth_call *call, uint32_t tensor);
  /* States a shape; rank BERTH_RANK_UNKNOWN (with dims NULL): known only by evaluating. */
  berth_status_t (*shape)(struct berth_call *call, uint32_t tensor, uint32_t rank,
                          const int32_t *dims);
  /* See berth_keep; NULL: nothing can be kept. */
  void *(*keep)(const struct berth_call *call, uint32_t slot, uint32_t bytes, bool *kept);
} berth_call_t;

/* Input (output, intermediate) number `index`; `present` is false where there is none. */
berth_value_t berth_input(const berth_call_t *call, uint32_t index);
berth_value_t berth_output(const berth_call_t *call, uint32_t index);
berth_value_t berth_intermediate(const berth_call_t *call, uint32_t index);

#define BERTH_KEEP_SLOTS 3u

/* eval, of a piece of a streamed run: memory, 32-byte aligned, in which this operator may keep from
 * one piece to the next what follows from the model and from where its tensors are: geometry,
 * factors, unpacked weights. It lasts as long as the run, or shorter. `*kept`: an earlier piece got
 * it, and it is as that one left it; else it must be filled at once. NULL: there is none (on small
 * devices, whole, under the guard, or since others have taken it); nothing but time may depend on
 * it. An operator that asks again under the same `slot` (< BERTH_KEEP_SLOTS) asks for as many
 * bytes. */
void *berth_keep(const berth_call_t *call, uint32_t slot, uint32_t bytes, bool *kept);

/* prepare: states the shape of an output. eval: the same for an output whose shape is known only
 * now (it was marked by berth_set_unknown); its memory is there afterwards.
 * Errors: ARGUMENT (a negative dimension), OVERFLOW, MEMORY (eval only). */
berth_status_t berth_set_shape(berth_call_t *call, uint32_t output, uint32_t rank,
                               const int32_t *dims);

/* prepare: the shape of this output is known only by evaluating. It will cost memory at run time,
 * and is reported with the operator's name. */
berth_status_t berth_set_unknown(berth_call_t *call, uint32_t output);

/* Refuses to prepare or evaluate; `why` is a static phrase for people. Returns
 * BERTH_ERROR_OPERATOR. */
berth_status_t berth_refuse(berth_call_t *call, const char *why);

/* ---- Kernels -------------------------------------------------------------------------------- */

typedef struct berth_kernel {
  berth_builtin_t code;    /* BERTH_BUILTIN_CUSTOM for one with a name of its own */
  const char *custom_name; /* or NULL */

  /* Bit i: input i may be float16 where the model has a DEQUANTIZE make it float32. The kernel is
   * then shown the float16 tensor, and the DEQUANTIZE does not run. */
  uint32_t float16_inputs;

  /* Checks types and shapes, sets the shape of every output, and fills the contract (which comes
   * zeroed: whole, no scratch). Constants can be read; nothing else has data yet. */
  berth_status_t (*prepare)(berth_call_t *call, berth_contract_t *contract);

  /* Fills `workspace` once, after prepare; NULL where nothing is to be done. */
  berth_status_t (*init)(berth_call_t *call);

  /* Whole and row-local: computes the output rows [first_row, last_row); whole kernels are asked
   * for all. Every byte of those rows is written, unless the contract says `partial`. */
  berth_status_t (*eval)(berth_call_t *call);

  /* Accumulating: begin, then accumulate for input rows in order, each once, then finish. What is
   * carried from one to the next lies in scratch. `eval`, if there is one, does it all at once.
   * With `any_rows` in the contract, input 0 may come in other rows than its shape has (rows,
   * row_bytes and ring are another tensor's with the same bytes). */
  berth_status_t (*begin)(berth_call_t *call);
  berth_status_t (*accumulate)(berth_call_t *call);
  berth_status_t (*finish)(berth_call_t *call);
} berth_kernel_t;

/* Fills a contract for the commonest case: output row r needs row r of every input, and the output
 * may take the memory of any input of its size. */
void berth_contract_elementwise(berth_contract_t *contract);

/* All kernels that come with Berth, in a NULL-terminated table. An application may give the
 * interpreter a shorter table of its own, so that the linker drops the rest. */
extern const berth_kernel_t *const berth_kernels[];

#ifdef __cplusplus
}
#endif
#endif
