/* Files that appear whole or not at all, and interruption by the user.
 *
 * A file is written under a temporary name beside its own, flushed to the disk and renamed. Until
 * then it is removed on failure, and on SIGINT, SIGTERM, SIGHUP and SIGPIPE. A symbolic link stays:
 * what it points to is written. Any number of outputs may be open.
 */
#ifndef BERTH_SRC_HOST_OUTPUT_H
#define BERTH_SRC_HOST_OUTPUT_H

#include "berth/status.h"
#include "host/complaint.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct berth_output {
  FILE *stream;
  const char *path; /* as the caller gave it; must outlive the output */
  char *target;     /* what `path` is, links followed */
  char *temporary;  /* NULL: `path` is no regular file (a device, a pipe) and is written directly */
} berth_output_t;

/* Opens `path` for writing. FORMAT if the directory doesn't take it. */
berth_status_t berth_output_open(const char *path, berth_output_t *output,
                                 berth_complaint_t *complaint);

/* Would `path` be opened? Leaves everything as it is; devices and pipes are not touched. */
berth_status_t berth_output_try(const char *path, berth_complaint_t *complaint);

/* Closes and puts the file in place, or removes it and says why. */
berth_status_t berth_output_commit(berth_output_t *output, berth_complaint_t *complaint);

/* From now on, files that are committed keep their temporary names, and are removed where others
 * would be, until they are released: put in place in their order, or removed. For a program that
 * may yet fail after it has written them. A reader of standard output that has enough (SIGPIPE)
 * has them put in place. FORMAT: one cannot be. */
void berth_output_hold(void);
berth_status_t berth_output_release(bool keep, berth_complaint_t *complaint);

/* Closes and removes it. */
void berth_output_discard(berth_output_t *output);

/* Are both the same file, by name or through links? Devices and pipes never are: what is written
 * there doesn't replace anything. NULL is no file. */
bool berth_output_is_file(const char *path, const char *other);

/* Makes sure that no file is opened under the number of a standard stream that was closed: writing
 * to a closed standard output still fails. To be called first. */
void berth_output_guard_streams(void);

/* Flushes standard output; false if anything written to it was lost. */
bool berth_output_flush_stdout(void);

/* Takes over the signals named above. The first SIGINT only makes berth_interrupted() true while
 * `tolerant`; anything else ends the program as it would have, but without rubbish left behind. */
void berth_interrupt_watch(void);
void berth_interrupt_tolerate(bool tolerant);
bool berth_interrupted(void);

/* Was there one that was tolerated, also in a search that is over? Then the user waits for no more
 * of them than it takes. */
bool berth_interrupted_ever(void);

#endif
