/* Runs the real program as a user's shell would, in the project's folder, and keeps what it prints.
 * Files that a test writes go into a folder of its own, $dir. */
#ifndef BERTH_TESTS_CLI_PROGRAM_H
#define BERTH_TESTS_CLI_PROGRAM_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/berth-test-XXXXXX";
static char out[1 << 20]; /* what the last command printed */
static char err[1 << 16];

static void read_whole(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t length = fread(text, 1, size - 1, file);
  assert_true(length < size - 1);
  text[length] = '\0';
  fclose(file);
}

/* Runs a shell command in which `berth` is the program; its exit status. */
static int run(const char *command) {
  char path[256], script[8192];
  int length = snprintf(script, sizeof script,
                        "cd '%s' && { dir='%s'; berth='%s'; berth() { \"$berth\" \"$@\"; }; %s\n} "
                        ">'%s/out' 2>'%s/err'",
                        BERTH_SOURCE_DIR, dir, BERTH_PROGRAM, command, dir, dir);
  assert_true(length > 0 && (size_t)length < sizeof script);
  int status = system(script);
  assert_true(WIFEXITED(status));
  snprintf(path, sizeof path, "%s/out", dir);
  read_whole(path, out, sizeof out);
  snprintf(path, sizeof path, "%s/err", dir);
  read_whole(path, err, sizeof err);
  return WEXITSTATUS(status);
}

/* Writes a file into $dir. */
static inline void write_bytes(const char *name, const void *data, size_t size) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static inline void write_file(const char *name, const char *text) {
  write_bytes(name, text, strlen(text));
}

static inline void assert_status(const char *command, int expected) {
  int status = run(command);
  if (status == expected) return;
  fail_msg("%s: exit status %d, not %d; it said: %s", command, status, expected, err);
}

static inline void assert_says(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* A failure: this status, nothing on standard output, one line on standard error with `part`. */
static inline void assert_refused(const char *command, int status, const char *part) {
  assert_status(command, status);
  if (out[0] != '\0') fail_msg("%s: printed: %s", command, out);
  const char *end = strchr(err, '\n');
  if (end == NULL || end[1] != '\0') fail_msg("%s: not one line on stderr: %s", command, err);
  assert_says(err, part);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command);
}

#endif
