/* DENSIFY: writes out a constant that the model stores sparsely, as every later operator wants it.
 *
 * A sparse tensor is a tree: each level is one dimension (or a block of one), in traversal order,
 * and either stores all its children or lists those that are there. The model's verifier has seen
 * that the lists exist, not what they say; so all are checked here, before anything is written.
 * Source: Chou et al., Format Abstraction for Sparse Tensor Algebra Compilers (2018), as the
 * schema's SparsityParameters has it. Cost: linear in the stored elements and the output's bytes.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

#define LEVELS_MAX (2u * BERTH_RANK_MAX) /* each dimension once, and once as a block */

typedef struct level {
  berth_sparse_dimension_t list;
  uint32_t extent; /* indices in this level are below it */
  uint32_t step;   /* elements of the output from one index to the next */
} level_t;

typedef struct tree {
  level_t levels[LEVELS_MAX];
  uint32_t depth;
  uint32_t element_bytes;
  const uint8_t *stored; /* the elements that are there */
  uint32_t stored_count;
} tree_t;

/* ---- Reading the encoding -------------------------------------------------------------------- */

/* Finds for each dimension the size of its blocks (1: it has none), and checks that every level
 * occurs once. */
static bool read_blocks(const berth_value_t *value, const berth_sparsity_t *sparsity,
                        uint32_t *blocks, const berth_sparse_dimension_t *lists) {
  uint32_t count = sparsity->dimension_count, seen = 0;
  if (count < value->rank || count > LEVELS_MAX || sparsity->traversal_order.count != count ||
      sparsity->block_map.count != count - value->rank) {
    return false;
  }
  for (uint32_t i = 0; i < value->rank; i++) blocks[i] = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t level = (uint32_t)berth_vector_int(sparsity->traversal_order, i);
    if (level >= count || (seen >> level & 1)) return false;
    seen |= 1u << level;
    if (level < value->rank) continue;
    uint32_t dimension = (uint32_t)berth_vector_int(sparsity->block_map, level - value->rank);
    if (dimension >= value->rank || blocks[dimension] != 1) return false;
    if (lists[i].is_sparse || lists[i].dense_size < 1) return false;
    blocks[dimension] = (uint32_t)lists[i].dense_size;
  }
  for (uint32_t i = 0; i < value->rank; i++) {
    if ((uint32_t)value->dims[i] % blocks[i] != 0) return false;
  }
  return true;
}

/* A list of children: as many segments as the level above can have nodes is checked on the way. */
static bool is_list(const berth_sparse_dimension_t *list) {
  return list->segments.count >= 1 &&
         (list->segments_width == 1 || list->segments_width == 2 || list->segments_width == 4) &&
         (list->indices.count == 0 || list->indices_width == 1 || list->indices_width == 2 ||
          list->indices_width == 4);
}

static berth_status_t read_tree(berth_call_t *call, const berth_value_t *value, tree_t *tree) {
  berth_sparsity_t sparsity = berth_model_sparsity(call->model, call->subgraph, value->index);
  berth_sparse_dimension_t lists[LEVELS_MAX];
  uint32_t blocks[BERTH_RANK_MAX];
  if (tree->element_bytes == 0) return berth_refuse(call, "does not take this type");
  if (sparsity.dimension_count == 0 || sparsity.dimension_count > LEVELS_MAX) {
    return berth_refuse(call, "has an input that is not sparse, or of too many dimensions");
  }
  for (uint32_t i = 0; i < sparsity.dimension_count; i++) {
    lists[i] = berth_model_sparse_dimension(call->model, call->subgraph, value->index, i);
  }
  if (!read_blocks(value, &sparsity, blocks, lists)) {
    return berth_refuse(call, "has an input whose sparse dimensions do not fit its shape");
  }
  tree->depth = sparsity.dimension_count;
  for (uint32_t i = 0; i < tree->depth; i++) {
    level_t *level = &tree->levels[i];
    uint32_t order = (uint32_t)berth_vector_int(sparsity.traversal_order, i);
    bool is_block = order >= value->rank;
    uint32_t dimension = order;
    if (is_block) {
      dimension = (uint32_t)berth_vector_int(sparsity.block_map, order - value->rank);
    }
    uint32_t inner = berth_shape_product(value->dims, dimension + 1, value->rank);
    level->list = lists[i];
    level->extent =
        is_block ? blocks[dimension] : (uint32_t)value->dims[dimension] / blocks[dimension];
    level->step = is_block ? inner : inner * blocks[dimension];
    bool fits =
        lists[i].is_sparse ? is_list(&lists[i]) : (uint32_t)lists[i].dense_size == level->extent;
    if (!fits) return berth_refuse(call, "has an input with a malformed sparse dimension");
  }
  berth_tensor_t tensor = berth_model_tensor(call->model, call->subgraph, value->index);
  berth_bytes_t data = berth_model_tensor_data(call->model, &tensor);
  uint64_t count = tree->element_bytes > 0 ? data.size / tree->element_bytes : 0;
  tree->stored = data.data;
  tree->stored_count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
  return BERTH_OK;
}

/* ---- Walking it ------------------------------------------------------------------------------ */

/* Where a walk is in one level: children [child, end) of a node are still to be visited. */
typedef struct place {
  uint32_t child, end; /* positions in the level: those of its nodes, over all parents */
  uint32_t offset;     /* of the parent, in elements of the output */
} place_t;

/* Opens the children of the node at `position` of the level above. */
static bool enter(const level_t *level, uint32_t position, uint32_t offset, place_t *place) {
  const berth_sparse_dimension_t *list = &level->list;
  place->offset = offset;
  if (!list->is_sparse) {
    if (level->extent > 0 && position > (UINT32_MAX - level->extent) / level->extent) return false;
    place->child = position * level->extent;
    place->end = place->child + level->extent;
    return true;
  }
  if (position >= list->segments.count - 1) return false;
  place->child = berth_vector_unsigned(list->segments, list->segments_width, position);
  place->end = berth_vector_unsigned(list->segments, list->segments_width, position + 1);
  return place->child <= place->end && place->end <= list->indices.count;
}

/* The index of a child in its dimension. */
static uint32_t index_of(const level_t *level, uint32_t child) {
  const berth_sparse_dimension_t *list = &level->list;
  if (!list->is_sparse) return level->extent > 0 ? child % level->extent : 0;
  return berth_vector_unsigned(list->indices, list->indices_width, child);
}

/* Visits every stored element in order; writes it to `out`, unless that is NULL. False: the lists
 * lead out of the tensor or of what is stored. */
static bool walk(const tree_t *tree, uint8_t *out) {
  place_t places[LEVELS_MAX];
  uint32_t depth = 0, last = tree->depth - 1;
  if (!enter(&tree->levels[0], 0, 0, &places[0])) return false;
  for (;;) {
    place_t *place = &places[depth];
    if (place->child == place->end) {
      if (depth == 0) return true;
      depth--;
      continue;
    }
    const level_t *level = &tree->levels[depth];
    uint32_t child = place->child++, index = index_of(level, child);
    if (index >= level->extent) return false;
    uint32_t offset = place->offset + index * level->step;
    if (depth < last) {
      depth++;
      if (!enter(&tree->levels[depth], child, offset, &places[depth])) return false;
      continue;
    }
    if (child >= tree->stored_count) return false;
    if (out != NULL) {
      memcpy(out + (size_t)offset * tree->element_bytes,
             tree->stored + (size_t)child * tree->element_bytes, tree->element_bytes);
    }
  }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  tree_t tree = {.element_bytes = berth_element_bytes(input.type)};
  if (!input.present || !input.constant || !output.present || output.type != input.type) {
    return berth_refuse(call, "needs a constant input and an output of its type");
  }
  if (input.rank == 0 || input.elements == 0) {
    return berth_refuse(call, "does not take a scalar or an empty tensor");
  }
  berth_status_t status = read_tree(call, &input, &tree);
  if (status != BERTH_OK) return status;
  if (!walk(&tree, NULL)) {
    return berth_refuse(call, "has an input whose sparse dimensions lead beyond its data");
  }
  return berth_set_shape(call, 0, input.rank, input.dims);
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  tree_t tree = {.element_bytes = berth_element_bytes(input.type)};
  berth_status_t status = read_tree(call, &input, &tree);
  if (status != BERTH_OK) return status;
  memset(output.data, 0, output.bytes);
  if (!walk(&tree, output.data)) return BERTH_ERROR_INTERNAL;
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_densify = {
    .code = BERTH_BUILTIN_DENSIFY, .prepare = prepare, .eval = eval};
