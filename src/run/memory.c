/* The blocks that the caller gave: what is taken from their ends, and what is left. */
#include "run.h"
#include <string.h>

static bool is_shared(const berth_memory_t *memory) {
  return memory->data == NULL;
}

/* The end of a block, rounded down so that distances from it are aligned addresses. */
static uint32_t usable(const berth_memory_t *memory) {
  return memory->bytes & ~15u;
}

static const berth_memory_t *persistent_block(const berth_interpreter_t *interpreter) {
  const berth_memories_t *memories = &interpreter->memories;
  return is_shared(&memories->persistent) ? &memories->activations : &memories->persistent;
}

static const berth_memory_t *metadata_block(const berth_interpreter_t *interpreter) {
  const berth_memories_t *memories = &interpreter->memories;
  return is_shared(&memories->metadata) ? &memories->activations : &memories->metadata;
}

uint32_t berth_run_head_room(const berth_interpreter_t *interpreter) {
  const berth_memories_t *memories = &interpreter->memories;
  uint32_t taken = 0;
  if (is_shared(&memories->metadata)) taken += interpreter->metadata_used;
  taken = (taken + 15u) & ~15u;
  if (is_shared(&memories->persistent)) taken += interpreter->persistent_used;
  return usable(&memories->activations) - taken;
}

void *berth_run_take_metadata(berth_interpreter_t *interpreter, uint32_t bytes, uint32_t align) {
  const berth_memory_t *block = metadata_block(interpreter);
  uint32_t room = usable(block);
  if (bytes > room || interpreter->metadata_used > room - bytes) return NULL;
  uint32_t used = interpreter->metadata_used + bytes;
  used = (used + align - 1) & ~(align - 1);
  if (used > room) return NULL;
  interpreter->metadata_used = used;
  return (uint8_t *)block->data + room - used;
}

/* Where the persistent block's distances count from: below the metadata if they share a block. */
static uint8_t *persistent_end(const berth_interpreter_t *interpreter) {
  const berth_memory_t *block = persistent_block(interpreter);
  uint32_t end = usable(block);
  if (block == metadata_block(interpreter)) end -= (interpreter->metadata_used + 15u) & ~15u;
  return (uint8_t *)block->data + end;
}

void *berth_run_take_persistent(berth_interpreter_t *interpreter, uint32_t bytes,
                                uint32_t *distance) {
  const berth_memory_t *block = persistent_block(interpreter);
  uint32_t room = (uint32_t)(persistent_end(interpreter) - (uint8_t *)block->data);
  if (bytes > ACTIVATIONS_MAX - 15u) return NULL;
  bytes = (bytes + 15u) & ~15u;
  if (bytes > room || interpreter->persistent_used > room - bytes) return NULL;
  interpreter->persistent_used += bytes;
  *distance = interpreter->persistent_used;
  return berth_run_persistent(interpreter, *distance);
}

void *berth_run_persistent(const berth_interpreter_t *interpreter, uint32_t distance) {
  return persistent_end(interpreter) - distance;
}

uint32_t berth_run_state_bytes(const void *state) {
  uint32_t bytes;
  memcpy(&bytes, (const uint8_t *)state - 16, sizeof bytes);
  return bytes;
}
