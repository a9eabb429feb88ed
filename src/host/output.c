/* Atomic output files and interruption. The signal handler does only what POSIX allows in one: it
 * sets a flag, unlinks the temporary file, and lets the signal have its usual effect. */
#include "host/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40

/* The temporary files that a signal must remove, in the order in which they were opened; the list
 * changes with signals blocked. */
typedef struct pending {
  struct pending *next;
  char *path;
  char *target; /* of one that is complete and held back; it then owns both names */
} pending_t;
static pending_t *volatile pending;
static pending_t *newest; /* the list's end */
static bool held;
static volatile sig_atomic_t tolerant;
static volatile sig_atomic_t interrupted; /* since interrupts are tolerated */
static volatile sig_atomic_t ever;        /* at any time */

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static void on_signal(int number) {
  if (number == SIGINT && tolerant && !interrupted) {
    interrupted = ever = 1;
    return;
  }
  for (pending_t *at = pending; at != NULL; at = at->next) {
    bool kept = number == SIGPIPE && at->target != NULL; /* `berth plan -o plan.json | head` */
    if (!kept || rename(at->path, at->target) != 0) unlink(at->path);
  }
  signal(number, SIG_DFL);
  raise(number);
}

void berth_interrupt_watch(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
    sigaddset(&action.sa_mask, watched[i]);
  }
  for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) {
    struct sigaction before;
    /* What the parent had ignored (nohup) stays ignored. */
    if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(watched[i], &action, NULL);
    }
  }
}

void berth_interrupt_tolerate(bool yes) {
  if (yes) interrupted = 0;
  tolerant = yes;
}

bool berth_interrupted(void) {
  return interrupted != 0;
}

bool berth_interrupted_ever(void) {
  return ever != 0;
}

static void block_signals(sigset_t *before) {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++) sigaddset(&blocked, watched[i]);
  sigprocmask(SIG_BLOCK, &blocked, before);
}

/* From when on the file is to be removed, and until when. `file` says which it is. */
static void add_pending(pending_t *file) {
  sigset_t before;
  block_signals(&before);
  if (newest == NULL) {
    pending = file;
  } else {
    newest->next = file;
  }
  newest = file;
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static void remove_pending(const char *path) {
  sigset_t before;
  block_signals(&before);
  pending_t *at = pending, *last = NULL;
  while (at != NULL && at->path != path) {
    last = at;
    at = at->next;
  }
  if (at != NULL) {
    if (last == NULL) {
      pending = at->next;
    } else {
      last->next = at->next;
    }
    if (newest == at) newest = last;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(at);
}

/* Leaves the complete file of an output where it is. */
static void hold_back(berth_output_t *output) {
  pending_t *at = pending;
  while (at != NULL && at->path != output->temporary) at = at->next;
  if (at == NULL) return;
  at->target = output->target;
  output->target = output->temporary = NULL;
}

/* The file that is meant, which need not exist, on the heap. NULL: errno says why. */
static char *follow_links(const char *path) {
  char *at = strdup(path);
  for (int links = 0; at != NULL && links <= LINKS_MAX; links++) {
    char link[PATH_MAX];
    ssize_t length = readlink(at, link, sizeof link);
    if (length < 0) return at; /* no link */
    const char *slash = link[0] == '/' ? NULL : strrchr(at, '/');
    size_t folder = slash != NULL ? (size_t)(slash - at) + 1 : 0;
    char *next = malloc(folder + (size_t)length + 1);
    if (next != NULL) {
      memcpy(next, at, folder);
      memcpy(next + folder, link, (size_t)length);
      next[folder + (size_t)length] = '\0';
    }
    free(at);
    at = next;
  }
  if (at != NULL) errno = ELOOP;
  free(at);
  return NULL;
}

static void forget(berth_output_t *output) {
  free(output->target);
  free(output->temporary);
  *output = (berth_output_t){.path = output->path};
}

/* Opens a new file beside the target; `stream` is NULL if that fails, and errno says why. False:
 * out of memory. */
static bool open_temporary(berth_output_t *output) {
  static const char suffix[] = ".XXXXXX";
  size_t bytes = strlen(output->target) + sizeof suffix;
  char *temporary = malloc(bytes);
  pending_t *file = malloc(sizeof *file);
  if (temporary == NULL || file == NULL) {
    free(temporary);
    free(file);
    return false;
  }
  snprintf(temporary, bytes, "%s%s", output->target, suffix);
  *file = (pending_t){.path = temporary};
  int handle = mkstemp(temporary);
  if (handle < 0) {
    int cause = errno;
    free(temporary);
    free(file);
    errno = cause;
    return true;
  }
  add_pending(file);
  output->temporary = temporary;
  mode_t mask = umask(0);
  umask(mask);
  (void)fchmod(handle, 0666 & ~mask);
  output->stream = fdopen(handle, "w");
  if (output->stream == NULL) {
    int cause = errno;
    close(handle);
    unlink(temporary);
    remove_pending(temporary);
    errno = cause;
  }
  return true;
}

berth_status_t berth_output_open(const char *path, berth_output_t *output,
                                 berth_complaint_t *complaint) {
  *output = (berth_output_t){.path = path, .target = follow_links(path)};
  if (output->target == NULL) {
    berth_complain(complaint, "%s: cannot be written: %s", path, strerror(errno));
    return BERTH_ERROR_FORMAT;
  }
  struct stat existing;
  if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
    output->stream = S_ISDIR(existing.st_mode) ? NULL : fopen(path, "w");
    if (S_ISDIR(existing.st_mode)) errno = EISDIR;
  } else {
    if (!open_temporary(output)) {
      forget(output);
      berth_complain(complaint, "%s: out of memory", path);
      return BERTH_ERROR_MEMORY;
    }
  }
  if (output->stream != NULL) return BERTH_OK;
  berth_complain(complaint, "%s: cannot be written: %s", path, strerror(errno));
  forget(output);
  return BERTH_ERROR_FORMAT;
}

void berth_output_discard(berth_output_t *output) {
  if (output->stream != NULL) fclose(output->stream);
  if (output->temporary != NULL) {
    unlink(output->temporary);
    remove_pending(output->temporary);
  }
  forget(output);
}

berth_status_t berth_output_try(const char *path, berth_complaint_t *complaint) {
  struct stat existing;
  bool exists = stat(path, &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode) && !S_ISDIR(existing.st_mode)) return BERTH_OK;
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, complaint);
  if (status == BERTH_OK) berth_output_discard(&output);
  return status;
}

berth_status_t berth_output_commit(berth_output_t *output, berth_complaint_t *complaint) {
  errno = 0;
  bool good = fflush(output->stream) == 0 && ferror(output->stream) == 0;
  if (good && output->temporary != NULL) good = fsync(fileno(output->stream)) == 0;
  int cause = errno;
  if (fclose(output->stream) != 0 && good) {
    good = false;
    cause = errno;
  }
  output->stream = NULL;
  if (good && output->temporary != NULL && held) {
    hold_back(output);
  } else if (good && output->temporary != NULL) {
    good = rename(output->temporary, output->target) == 0;
    cause = errno;
    if (good) remove_pending(output->temporary);
  }
  if (good) {
    forget(output);
    return BERTH_OK;
  }
  berth_complain(complaint, "%s: cannot be written: %s", output->path,
                 cause != 0 ? strerror(cause) : "write error");
  berth_output_discard(output);
  return BERTH_ERROR_FORMAT;
}

void berth_output_hold(void) {
  held = true;
}

berth_status_t berth_output_release(bool keep, berth_complaint_t *complaint) {
  berth_status_t status = BERTH_OK;
  for (pending_t *at = pending, *next; at != NULL; at = next) {
    next = at->next;
    if (at->target == NULL) continue;
    char *path = at->path, *target = at->target;
    if (!keep || status != BERTH_OK) {
      unlink(path);
    } else if (rename(path, target) != 0) {
      berth_complain(complaint, "%s: cannot be written: %s", target, strerror(errno));
      status = BERTH_ERROR_FORMAT;
      unlink(path);
    }
    remove_pending(path);
    free(path);
    free(target);
  }
  held = false;
  return status;
}

bool berth_output_is_file(const char *path, const char *other) {
  struct stat a, b;
  if (path == NULL || other == NULL) return false;
  if (stat(path, &a) != 0) return strcmp(path, other) == 0;
  return S_ISREG(a.st_mode) && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void berth_output_guard_streams(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    /* Open for reading, so that writing fails as before. The lowest free number is `stream`. */
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) (void)!open("/dev/null", O_RDONLY);
  }
}

bool berth_output_flush_stdout(void) {
  bool good = fflush(stdout) == 0 && ferror(stdout) == 0;
  if (!good) return false;
  /* Some file systems report a full disk only on close; stdout itself stays open. */
  int copy = dup(STDOUT_FILENO);
  return copy >= 0 && close(copy) == 0;
}
