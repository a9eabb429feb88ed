/* Strings of JSON without their escapes (RFC 8259, section 7). */
#include "host/json_read.h"
#include "test.h"

#include <string.h>

static void assert_means(const char *escaped, const char *text) {
  char out[64] = "";
  size_t length = strlen(escaped);
  assert_true(length < sizeof out);
  size_t used = berth_json_unescape(escaped, length, out);
  assert_true(used <= length);
  out[used] = '\0';
  assert_string_equal(out, text);
}

static void short_escapes_are_the_characters_they_name(void **state) {
  (void)state;
  assert_means("plain", "plain");
  assert_means("\\\"\\\\\\/", "\"\\/");
  assert_means("\\b\\f\\n\\r\\t", "\b\f\n\r\t");
  assert_means("caf\xc3\xa9", "caf\xc3\xa9");
}

static void unicode_escapes_become_utf_8(void **state) {
  (void)state;
  assert_means("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac");
  assert_means("\\ud83d\\ude00!", "\xf0\x9f\x98\x80!");
}

static void half_a_pair_of_surrogates_and_bad_digits_become_the_replacement(void **state) {
  (void)state;
  assert_means("\\ud83d", "\xef\xbf\xbd");
  assert_means("\\ude00x", "\xef\xbf\xbdx");
  assert_means("\\ud83d\\u0041", "\xef\xbf\xbd"
                                 "A");
  assert_means("\\u12", "\xef\xbf\xbd");
  assert_means("\\uwxyz", "\xef\xbf\xbd");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_escapes_are_the_characters_they_name),
      cmocka_unit_test(unicode_escapes_become_utf_8),
      cmocka_unit_test(half_a_pair_of_surrogates_and_bad_digits_become_the_replacement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
