/* The keys of --json: what docs/json.md describes and what the commands print. */
#include "program.h"

static void every_key_of_every_command_is_documented(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/check_json_keys.py \"$berth\" $dir", 0);
  assert_says(out, "sections agree");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_of_every_command_is_documented),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
