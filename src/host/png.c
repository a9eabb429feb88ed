/* The memory map as PNG: the SVG, drawn by rsvg-convert. Fonts and anti-aliasing are its business;
 * no image library is linked for the sake of one picture. */
#include "host/output.h"
#include "host/svg.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONVERTER "rsvg-convert"

extern char **environ;

/* Runs the converter from one open file to another; its exit status, or an errno as negative. */
static int convert(FILE *from, FILE *to) {
  char *arguments[] = {CONVERTER, "--format=png", "--zoom=2", NULL};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -ENOMEM;
  pid_t child;
  int error = posix_spawn_file_actions_adddup2(&actions, fileno(from), STDIN_FILENO);
  if (error == 0) {
    error = posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
  }
  if (error == 0) error = posix_spawnp(&child, CONVERTER, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

berth_status_t berth_png_write(const berth_plan_report_t *report, const char *path,
                               berth_complaint_t *complaint) {
  berth_output_t output;
  FILE *drawing = tmpfile();
  if (drawing == NULL) {
    berth_complain(complaint, "%s: no temporary file: %s", path, strerror(errno));
    return BERTH_ERROR_FORMAT;
  }
  berth_status_t status = berth_svg_write(report, drawing);
  if (status != BERTH_OK) {
    berth_complain(complaint, "out of memory");
  } else if (fflush(drawing) != 0 || lseek(fileno(drawing), 0, SEEK_SET) != 0) {
    berth_complain(complaint, "%s: the temporary file cannot be written: %s", path,
                   strerror(errno));
    status = BERTH_ERROR_FORMAT;
  } else {
    status = berth_output_open(path, &output, complaint);
  }
  if (status != BERTH_OK) {
    fclose(drawing);
    return status;
  }
  int result = convert(drawing, output.stream);
  fclose(drawing);
  if (result == 0) return berth_output_commit(&output, complaint);
  berth_output_discard(&output);
  /* 127 is what the C library's child says where it cannot tell us itself. */
  if (result == -ENOENT || result == 127) {
    berth_complain(complaint,
                   "%s: PNG needs " CONVERTER ", which is not installed (Debian's "
                   "package librsvg2-bin has it); --svg needs nothing",
                   path);
    return BERTH_ERROR_UNSUPPORTED;
  }
  if (result < 0) {
    berth_complain(complaint, "%s: " CONVERTER " cannot be run: %s", path, strerror(-result));
  } else {
    berth_complain(complaint, "%s: " CONVERTER " failed with status %d", path, result);
  }
  return BERTH_ERROR_FORMAT;
}
