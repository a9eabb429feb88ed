/* Output files appear whole or not at all, also when the program is interrupted. */
#include "test.h"

#include "host/advice.h"
#include "host/output.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/berth-output-XXXXXX";
static char path[64];

static int make_folder(void **state) {
  (void)state;
  if (mkdtemp(dir) == NULL) return -1;
  snprintf(path, sizeof path, "%s/plan.json", dir);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(dir);
}

static int files_in_folder(void) {
  int count = 0;
  DIR *folder = opendir(dir);
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void assert_holds(const char *expected) {
  char text[64];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

static void write_through(const char *text) {
  berth_output_t output;
  berth_complaint_t complaint;
  assert_int_equal(berth_output_open(path, &output, &complaint), BERTH_OK);
  fputs(text, output.stream);
  assert_int_equal(berth_output_commit(&output, &complaint), BERTH_OK);
}

static void a_committed_file_replaces_the_old_one_at_once(void **state) {
  (void)state;
  write_through("old");
  berth_output_t output;
  berth_complaint_t complaint;
  assert_int_equal(berth_output_open(path, &output, &complaint), BERTH_OK);
  fputs("new", output.stream);
  fflush(output.stream);
  assert_holds("old");
  assert_int_equal(berth_output_commit(&output, &complaint), BERTH_OK);
  assert_holds("new");
  assert_int_equal(files_in_folder(), 1);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  mode_t mask = umask(0);
  umask(mask);
  assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
}

static void a_link_stays_and_its_target_is_written(void **state) {
  (void)state;
  char link[80], chain[80], text[80];
  snprintf(link, sizeof link, "%s/link", dir);
  snprintf(chain, sizeof chain, "%s/chain", dir);
  assert_int_equal(symlink("plan.json", link), 0);
  assert_int_equal(symlink(link, chain), 0);
  for (int round = 0; round < 2; round++) { /* the target is there, and it is not */
    if (round == 1) unlink(path);
    berth_output_t output;
    berth_complaint_t complaint;
    assert_int_equal(berth_output_open(chain, &output, &complaint), BERTH_OK);
    fputs("through links", output.stream);
    assert_int_equal(berth_output_commit(&output, &complaint), BERTH_OK);
    assert_holds("through links");
    assert_int_equal(readlink(link, text, sizeof text), 9);
    assert_int_equal(files_in_folder(), 3);
  }
  unlink(link);
  assert_int_equal(symlink("chain", link), 0); /* now they lead in a circle */
  berth_output_t output;
  berth_complaint_t complaint;
  assert_int_equal(berth_output_open(chain, &output, &complaint), BERTH_ERROR_FORMAT);
  assert_non_null(strstr(complaint.text, "chain: cannot be written"));
  unlink(link);
  unlink(chain);
}

static void a_discarded_file_leaves_the_old_one(void **state) {
  (void)state;
  write_through("old");
  berth_output_t output;
  berth_complaint_t complaint;
  assert_int_equal(berth_output_open(path, &output, &complaint), BERTH_OK);
  fputs("half", output.stream);
  berth_output_discard(&output);
  assert_holds("old");
  assert_int_equal(files_in_folder(), 1);
}

/* Lets a child write half of two files and send itself a signal; how it ended. */
static int interrupted_by(int number, bool tolerate) {
  pid_t child = fork();
  if (child == 0) {
    berth_interrupt_watch();
    berth_interrupt_tolerate(tolerate);
    berth_output_t output, other;
    berth_complaint_t complaint;
    char second[80];
    snprintf(second, sizeof second, "%s/second", dir);
    if (berth_output_open(path, &output, &complaint) != BERTH_OK) _exit(99);
    if (berth_output_open(second, &other, &complaint) != BERTH_OK) _exit(99);
    fputs("half", output.stream);
    fflush(output.stream);
    raise(number);
    if (!berth_interrupted()) _exit(98);
    berth_output_discard(&output);
    berth_output_discard(&other);
    _exit(7);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void a_signal_ends_the_program_and_removes_temporary_files(void **state) {
  (void)state;
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  write_through("old");
  for (size_t i = 0; i < 3; i++) {
    int status = interrupted_by(numbers[i], false);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), numbers[i]);
    assert_holds("old");
    assert_int_equal(files_in_folder(), 1);
  }
}

static void the_first_interrupt_is_only_noted_where_that_is_asked_for(void **state) {
  (void)state;
  int status = interrupted_by(SIGINT, true);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 7);
  status = interrupted_by(SIGTERM, true);
  assert_true(WIFSIGNALED(status));
}

static void several_files_are_open_at_a_time(void **state) {
  (void)state;
  char names[3][80];
  berth_output_t outputs[3];
  berth_complaint_t complaint;
  for (int i = 0; i < 3; i++) {
    snprintf(names[i], sizeof names[i], "%s/file%d", dir, i);
    assert_int_equal(berth_output_open(names[i], &outputs[i], &complaint), BERTH_OK);
    fprintf(outputs[i].stream, "number %d", i);
  }
  berth_output_discard(&outputs[1]);
  for (int i = 0; i < 3; i += 2)
    assert_int_equal(berth_output_commit(&outputs[i], &complaint), BERTH_OK);
  assert_int_equal(access(names[0], F_OK), 0);
  assert_int_equal(access(names[1], F_OK), -1);
  assert_int_equal(access(names[2], F_OK), 0);
  unlink(names[0]);
  unlink(names[2]);
}

/* Lets a child commit two files while files are held back; `number`: a signal, or 0 to release. */
static void hold_in_child(int number, bool keep) {
  pid_t child = fork();
  if (child == 0) {
    berth_interrupt_watch();
    berth_output_hold();
    for (int i = 0; i < 2; i++) {
      char name[80];
      berth_output_t output;
      berth_complaint_t complaint;
      snprintf(name, sizeof name, "%s/held%d", dir, i);
      if (berth_output_open(name, &output, &complaint) != BERTH_OK) _exit(99);
      fputs("whole", output.stream);
      if (berth_output_commit(&output, &complaint) != BERTH_OK) _exit(99);
      if (access(name, F_OK) == 0) _exit(98);
    }
    if (number != 0) raise(number);
    berth_complaint_t complaint;
    _exit(berth_output_release(keep, &complaint) == BERTH_OK ? 0 : 99);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (number != 0) assert_true(WIFSIGNALED(status));
  if (number == 0) assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Also those of a program that is ended; but not if only its reader has enough. */
static void files_that_are_held_appear_together_or_not_at_all(void **state) {
  (void)state;
  const struct {
    int number;
    bool keep;
    int files;
  } ways[] = {{0, true, 2}, {0, false, 0}, {SIGINT, true, 0}, {SIGPIPE, true, 2}};
  unlink(path);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    hold_in_child(ways[i].number, ways[i].keep);
    assert_int_equal(files_in_folder(), ways[i].files);
    for (int k = 0; k < ways[i].files; k++) {
      char name[80];
      snprintf(name, sizeof name, "%s/held%d", dir, k);
      assert_int_equal(unlink(name), 0);
    }
  }
}

/* How many lines of advice a child gets for a model after it was interrupted or not; 99: none. */
static int advices_after(bool interrupt) {
  pid_t child = fork();
  if (child == 0) {
    berth_settings_t settings = {.subject = {.align = 16}, .planner = &berth_planner_best};
    berth_subject_t subject;
    berth_outcome_t outcome;
    berth_advices_t advices;
    berth_complaint_t complaint;
    berth_interrupt_watch();
    berth_interrupt_tolerate(true);
    if (interrupt) raise(SIGINT);
    berth_interrupt_tolerate(false);
    const char *model = BERTH_SOURCE_DIR "/models/mobilenet_v1_0.25_96_int8.tflite";
    if (berth_subject_open(model, &settings.subject, &subject, &complaint) != BERTH_OK) _exit(99);
    if (berth_planning_run(settings.planner, &subject.problem, &settings.planning, &outcome,
                           &complaint) != BERTH_OK) {
      _exit(99);
    }
    if (berth_advise(&subject, &settings, &outcome.plan, &advices, &complaint) != BERTH_OK) {
      _exit(99);
    }
    _exit((int)advices.count);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* Also where the search that was interrupted is over, and others have begun since. */
static void after_an_interrupt_nothing_more_is_tried(void **state) {
  (void)state;
  int lines = advices_after(false);
  assert_true(lines > 0 && lines != 99);
  assert_int_equal(advices_after(true), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_committed_file_replaces_the_old_one_at_once),
      cmocka_unit_test(a_link_stays_and_its_target_is_written),
      cmocka_unit_test(a_discarded_file_leaves_the_old_one),
      cmocka_unit_test(a_signal_ends_the_program_and_removes_temporary_files),
      cmocka_unit_test(the_first_interrupt_is_only_noted_where_that_is_asked_for),
      cmocka_unit_test(several_files_are_open_at_a_time),
      cmocka_unit_test(files_that_are_held_appear_together_or_not_at_all),
      cmocka_unit_test(after_an_interrupt_nothing_more_is_tried),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
