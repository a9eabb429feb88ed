/* What operators keep from one piece of a run to the next: it is theirs alone, lasts while the run
 * does, and is never there whole, under the guard, or beyond what there is.
 */
#include "run/random_network.h"
#include "run/streamed.h"

#include "berth/guard.h"
#include "host/fill.h"

#define ROOM     (4u << 20)
#define NETWORKS 60u
#define KERNELS  512u
#define SLOT     0u /* convolutions, which keep things themselves, are left alone */

/* Every kernel but convolutions once more, with an eval that keeps a note. */
static berth_kernel_t keeping[KERNELS];
static const berth_kernel_t *table[KERNELS + 1];

typedef struct note {
  uint32_t op, pieces;
  uint8_t rest[40];
} note_t;

static uint32_t given, found, refused; /* notes */

static berth_status_t eval(berth_call_t *call) {
  bool kept;
  note_t *note = berth_keep(call, SLOT, sizeof *note, &kept);
  if (note == NULL) {
    assert_false(kept);
    refused++;
  } else if (!kept) {
    given++;
    assert_int_equal((uintptr_t)note % 32, 0);
    memset(note, 0xA5, sizeof *note);
    note->op = call->index;
    note->pieces = 1;
  } else {
    found++;
    assert_true(call->first_row > 0);
    assert_int_equal(note->op, call->index);
    note->pieces++;
    for (size_t i = 0; i < sizeof note->rest; i++) assert_int_equal(note->rest[i], 0xA5);
  }
  bool other = true;
  assert_null(berth_keep(call, BERTH_KEEP_SLOTS, 16, &other)); /* no such slot */
  assert_null(berth_keep(call, SLOT + 1, UINT32_MAX, &other)); /* too much */
  assert_false(other);
  return berth_kernels[call->kernel - keeping]->eval(call);
}

static void make_table(void) {
  for (uint32_t i = 0; berth_kernels[i] != NULL && i < KERNELS; i++) {
    keeping[i] = *berth_kernels[i];
    bool is_conv = keeping[i].code == BERTH_BUILTIN_CONV_2D ||
                   keeping[i].code == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
    if (keeping[i].eval != NULL && !is_conv) keeping[i].eval = eval;
    table[i] = &keeping[i];
  }
}

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  (void)user;
  fail_msg("the guard found fault %d of operator %u", (int)finding->fault, finding->op);
}

static void run(const berth_model_t *model, const berth_stream_plan_t *plan, bool guarded) {
  berth_interpreter_options_t options = {.kernels = table, .stream = plan};
  uint8_t *memory = aligned_alloc(16, 4 * (size_t)ROOM);
  assert_non_null(memory);
  berth_memories_t memories = streamed_quarters(memory, ROOM);
  berth_interpreter_t interpreter;
  berth_guard_t guard;
  assert_int_equal(berth_interpreter_init(&interpreter, model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  void *room = NULL;
  if (guarded) {
    uint64_t bytes;
    assert_int_equal(berth_guard_bytes(&interpreter, 0, 0, &bytes), BERTH_OK);
    room = malloc(bytes);
    assert_non_null(room);
    assert_int_equal(berth_guard_attach(&guard, &interpreter, 0, 0, room, bytes, on_finding, NULL),
                     BERTH_OK);
  }
  uint64_t seed = 1;
  for (int invoke = 0; invoke < 2; invoke++) {
    for (uint32_t i = 0; berth_interpreter_input(&interpreter, i).present; i++) {
      berth_value_t value = berth_interpreter_input(&interpreter, i);
      berth_fill_random(&value, &seed);
    }
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
  }
  free(room);
  free(memory);
}

/* Runs random networks row by row, or whole. */
static void run_networks(bool whole, bool guarded) {
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  given = found = refused = 0;
  for (uint32_t seed = 0; seed < NETWORKS; seed++) {
    berth_model_t model = random_network(net, seed);
    streamed_t s;
    streamed_open(&s, &model, table);
    if (!whole) streamed_all(&s, 1, false, false);
    streamed_finish(&s);
    run(&model, whole ? NULL : &s.plan, guarded);
    streamed_close(&s);
  }
  free(net);
}

static void pieces_find_what_earlier_ones_of_their_operator_kept(void **state) {
  (void)state;
  run_networks(false, false);
#if UINTPTR_MAX > 0xffffffffu
  assert_true(given > 0 && found > given);
#else
  assert_true(given == 0 && found == 0);
#endif
}

static void nothing_is_kept_whole_or_under_the_guard(void **state) {
  (void)state;
  run_networks(true, false);
  assert_true(given == 0 && found == 0 && refused > 0);
  run_networks(false, true);
  assert_true(given == 0 && found == 0 && refused > 0);
}

int main(void) {
  make_table();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_find_what_earlier_ones_of_their_operator_kept),
      cmocka_unit_test(nothing_is_kept_whole_or_under_the_guard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
