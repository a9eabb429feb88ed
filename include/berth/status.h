/* The result of every Berth function that can fail.
 *
 * Errors are negative and leave every output untouched. Positive values are honest answers that
 * are not a success: the function did its work and says what it found.
 */
#ifndef BERTH_STATUS_H
#define BERTH_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum berth_status {
  BERTH_OK = 0,                 /* done */
  BERTH_INFEASIBLE = 1,         /* proven: no plan exists within the capacity or the regions */
  BERTH_UNDECIDED = 2,          /* the budget ended before a plan was found or excluded */
  BERTH_ERROR_ARGUMENT = -1,    /* a parameter is outside its stated range */
  BERTH_ERROR_OVERFLOW = -2,    /* a size, or a sum of sizes, does not fit its type */
  BERTH_ERROR_MEMORY = -3,      /* the memory the caller gave is too small, or misaligned */
  BERTH_ERROR_UNSUPPORTED = -4, /* valid, but not something this function can handle */
  BERTH_ERROR_FORMAT = -5,      /* the data does not follow its file format */
  BERTH_ERROR_CANCELLED = -6,   /* the caller's callback asked to stop before any result */
  BERTH_ERROR_OPERATOR = -7,    /* an operator refused to prepare or to run */
  BERTH_ERROR_INTERNAL = -8     /* a result failed its own check: a defect in Berth */
} berth_status_t;

/* A short English phrase for `status`, for messages; never NULL, static storage. */
const char *berth_status_text(berth_status_t status);

#ifdef __cplusplus
}
#endif
#endif
