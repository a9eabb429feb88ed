/* What makes a planning problem well-formed.
 *
 * Everything else in this layer relies on what is checked here: indices are in range, lifetimes are
 * intervals, and no sum or difference of sizes, offsets and costs leaves a signed 64-bit number.
 */
#include "berth/plan.h"

/* Adds up to 2^63 - 1; false when it is exceeded. */
static bool add(uint64_t *sum, uint64_t value) {
  if (value > INT64_MAX || *sum > INT64_MAX - value) return false;
  *sum += value;
  return true;
}

static berth_status_t check_buffer(const berth_problem_t *problem, const berth_buffer_t *buffer) {
  uint32_t region_count = problem->region_count != 0 ? problem->region_count : 1;
  if (buffer->first > buffer->last || buffer->last == UINT32_MAX) return BERTH_ERROR_ARGUMENT;
  if (buffer->regions >> region_count != 0) return BERTH_ERROR_ARGUMENT;
  if (buffer->fixed != BERTH_ANYWHERE) {
    if (buffer->align > 1 && buffer->fixed % buffer->align != 0) return BERTH_ERROR_ARGUMENT;
    uint64_t end = buffer->fixed;
    if (end > INT64_MAX || !add(&end, buffer->size)) return BERTH_ERROR_OVERFLOW;
  }
  return BERTH_OK;
}

static berth_status_t check_pair(const berth_problem_t *problem, const berth_pair_t *pair) {
  if (pair->a >= problem->buffer_count || pair->b >= problem->buffer_count || pair->a == pair->b) {
    return BERTH_ERROR_ARGUMENT;
  }
  switch (pair->relation) {
  case BERTH_SHARE:
  case BERTH_APART:
  case BERTH_OVER:
    return BERTH_OK;
  case BERTH_HEAD:
  case BERTH_TAIL:
    return pair->bytes >= 1 && pair->bytes <= problem->buffers[pair->a].size ? BERTH_OK
                                                                             : BERTH_ERROR_ARGUMENT;
  }
  return BERTH_ERROR_ARGUMENT;
}

/* The highest price of one byte of traffic. */
static uint64_t dearest(const berth_problem_t *problem) {
  uint64_t cost = problem->region_count != 0 ? problem->outside_cost : 0;
  for (uint32_t i = 0; i < problem->region_count; i++) {
    if (problem->regions[i].cost > cost) cost = problem->regions[i].cost;
  }
  return cost;
}

berth_status_t berth_problem_check(const berth_problem_t *problem, uint32_t *culprit) {
  uint32_t ignored;
  if (culprit == NULL) culprit = &ignored;
  *culprit = UINT32_MAX;
  if (problem == NULL || (problem->buffers == NULL && problem->buffer_count != 0) ||
      (problem->pairs == NULL && problem->pair_count != 0) ||
      (problem->regions == NULL) != (problem->region_count == 0) ||
      problem->region_count > BERTH_REGIONS_MAX ||
      problem->pair_count >= UINT32_MAX - problem->buffer_count) {
    return BERTH_ERROR_ARGUMENT;
  }

  uint64_t price = dearest(problem);
  uint64_t bytes = 0, fixed_end = 0, cost = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    *culprit = i;
    berth_status_t status = check_buffer(problem, buffer);
    if (status != BERTH_OK) return status;
    if (!add(&bytes, buffer->size) || !add(&bytes, buffer->align)) return BERTH_ERROR_OVERFLOW;
    if (buffer->fixed != BERTH_ANYWHERE && buffer->fixed + buffer->size > fixed_end) {
      fixed_end = buffer->fixed + buffer->size;
    }
    if (price != 0 && buffer->traffic > INT64_MAX / price) return BERTH_ERROR_OVERFLOW;
    if (!add(&cost, buffer->traffic * price)) return BERTH_ERROR_OVERFLOW;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    *culprit = problem->buffer_count + k;
    berth_status_t status = check_pair(problem, pair);
    if (status != BERTH_OK) return status;
    if ((pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL) &&
        !add(&bytes, pair->bytes)) {
      return BERTH_ERROR_OVERFLOW;
    }
  }
  *culprit = UINT32_MAX;
  return add(&bytes, fixed_end) ? BERTH_OK : BERTH_ERROR_OVERFLOW;
}
