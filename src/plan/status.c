/* Words for status codes. */
#include "berth/status.h"

const char *berth_status_text(berth_status_t status) {
  switch (status) {
  case BERTH_OK:
    return "done";
  case BERTH_INFEASIBLE:
    return "proven infeasible";
  case BERTH_UNDECIDED:
    return "undecided within the budget";
  case BERTH_ERROR_ARGUMENT:
    return "a parameter is out of range";
  case BERTH_ERROR_OVERFLOW:
    return "a size is too large for its type";
  case BERTH_ERROR_MEMORY:
    return "the memory given is too small";
  case BERTH_ERROR_UNSUPPORTED:
    return "not supported";
  case BERTH_ERROR_FORMAT:
    return "the data does not follow its format";
  case BERTH_ERROR_CANCELLED:
    return "cancelled";
  case BERTH_ERROR_OPERATOR:
    return "an operator failed";
  case BERTH_ERROR_INTERNAL:
    return "a result failed its own check: a defect in Berth, please report it";
  }
  return "unknown status";
}
