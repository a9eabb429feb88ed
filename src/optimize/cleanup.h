/* Clean-ups: changes of a model's graph that cannot change a bit of any result.
 *
 * Each is one function that looks through all subgraphs of an edit and does what it can;
 * berth_clean runs them until none finds anything. A model that orders its operators by hand
 * (metadata "model_control_dependencies", which names operators by number) is left alone.
 */
#ifndef BERTH_OPTIMIZE_CLEANUP_H
#define BERTH_OPTIMIZE_CLEANUP_H

#include "optimize/edit.h"

typedef struct berth_cleanup {
  const char *name;    /* as on the command line */
  const char *summary; /* one line, for people */
  /* Adds to `*count` what it did. Errors: MEMORY, OVERFLOW. */
  berth_status_t (*run)(berth_edit_t *edit, uint32_t *count);
} berth_cleanup_t;

/* Number `index`, in the order in which they run, or NULL past the last one. */
const berth_cleanup_t *berth_cleanup_at(uint32_t index);
#define BERTH_CLEANUPS_MAX 8u

/* Runs all but those whose bit is in `keep`; `counts[i]` becomes how often number i did something.
 * `grow`: constants are folded also where the result is larger than what it is made from. The
 * edit's tensors must have the file's numbers. Errors: MEMORY, OVERFLOW. */
berth_status_t berth_clean(berth_edit_t *edit, uint32_t keep, bool grow,
                           uint32_t counts[BERTH_CLEANUPS_MAX]);

/* Does the model name operators by their number? */
bool berth_numbers_operators(const berth_model_t *model);

/* ---- The clean-ups, a file each -------------------------------------------------------------- */

berth_status_t berth_clean_constants(berth_edit_t *edit, uint32_t *count);
berth_status_t berth_clean_all_constants(berth_edit_t *edit,
                                         uint32_t *count); /* if it grows, too */
berth_status_t berth_clean_copies(berth_edit_t *edit, uint32_t *count);
berth_status_t berth_clean_activations(berth_edit_t *edit, uint32_t *count);
berth_status_t berth_clean_pads(berth_edit_t *edit, uint32_t *count);
berth_status_t berth_clean_dead(berth_edit_t *edit, uint32_t *count);

/* No clean-up, since results are rounded differently: folds a MUL or ADD with constants per channel
 * into the float convolution before it. Before the clean-ups. Errors: MEMORY, OVERFLOW. */
berth_status_t berth_fold_scales(berth_edit_t *edit, uint32_t *count);

/* Removes the tensors that nothing refers to; the last ones take their numbers. Run once at the
 * end, since it moves numbers. Errors: MEMORY. */
berth_status_t berth_drop_tensors(berth_edit_t *edit, uint32_t *count);

#endif
