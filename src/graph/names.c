/* Words for what graph.h enumerates, for messages, tables and JSON. */
#include "berth/graph.h"

const char *berth_allocation_name(berth_allocation_t allocation) {
  switch (allocation) {
  case BERTH_ALLOCATION_NONE:
    return "none";
  case BERTH_ALLOCATION_MMAP_RO:
    return "mmap_ro";
  case BERTH_ALLOCATION_ARENA_RW:
    return "arena_rw";
  case BERTH_ALLOCATION_PERSISTENT:
    return "arena_rw_persistent";
  case BERTH_ALLOCATION_DYNAMIC:
    return "dynamic";
  }
  return "unknown";
}

const char *berth_buffer_kind_name(berth_buffer_kind_t kind) {
  switch (kind) {
  case BERTH_KIND_INPUT:
    return "input";
  case BERTH_KIND_ACTIVATION:
    return "activation";
  case BERTH_KIND_SCRATCH:
    return "scratch";
  case BERTH_KIND_WORKSPACE:
    return "workspace";
  case BERTH_KIND_VARIABLE:
    return "variable";
  case BERTH_KIND_OUTPUT:
    return "output";
  case BERTH_KIND_RESERVED:
    return "reserved";
  }
  return "unknown";
}

const char *berth_cause_text(berth_cause_t cause) {
  switch (cause) {
  case BERTH_CAUSE_NONE:
    return "its size is known";
  case BERTH_CAUSE_TYPE:
    return "elements of its type have no fixed size";
  case BERTH_CAUSE_RANK:
    return "its custom operator leaves it without a shape";
  case BERTH_CAUSE_DATA:
    return "its shape depends on data";
  case BERTH_CAUSE_INPUT:
    return "its shape follows from another dynamic tensor";
  }
  return "unknown";
}
