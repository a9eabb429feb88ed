/* Pairing two lists (sorted by name and place, so O(n log n)), and telling what differs. */
#include "host/plan_diff.h"
#include "host/json.h"
#include "host/plan_text.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 40u /* differences that are printed for people */

typedef struct ranked {
  const char *key;
  uint32_t index;
} ranked_t;

static int compare_ranked(const void *x, const void *y) {
  const ranked_t *a = x, *b = y;
  int order = strcmp(a->key, b->key);
  if (order != 0) return order;
  return a->index < b->index ? -1 : a->index > b->index;
}

static bool all_named(const berth_plan_list_t *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->entries[i].name[0] == '\0') return false;
  }
  return true;
}

static ranked_t *rank(const berth_plan_list_t *list, bool by_name) {
  ranked_t *ranked = malloc(((size_t)list->count + 1) * sizeof *ranked);
  if (ranked == NULL) return NULL;
  for (uint32_t i = 0; i < list->count; i++) {
    ranked[i] = (ranked_t){by_name ? list->entries[i].name : list->entries[i].key, i};
  }
  qsort(ranked, list->count, sizeof *ranked, compare_ranked);
  return ranked;
}

static unsigned compare(const berth_listed_t *a, const berth_listed_t *b) {
  unsigned how = 0;
  bool known = a->raw != UINT64_MAX && b->raw != UINT64_MAX;
  if (a->size != b->size) how |= known && a->raw == b->raw ? BERTH_DIFF_PADDED : BERTH_DIFF_SIZE;
  if (a->has_offset && b->has_offset && a->offset != b->offset) how |= BERTH_DIFF_MOVED;
  bool lives = a->has_life && b->has_life;
  if (lives && (a->first != b->first || a->last != b->last)) how |= BERTH_DIFF_LIFE;
  return how;
}

static uint64_t change_of(const berth_difference_t *difference, const berth_plan_list_t *a,
                          const berth_plan_list_t *b) {
  uint64_t x = difference->a != UINT32_MAX ? a->entries[difference->a].size : 0;
  uint64_t y = difference->b != UINT32_MAX ? b->entries[difference->b].size : 0;
  return x > y ? x - y : y - x;
}

typedef struct weighed {
  uint64_t change;
  berth_difference_t difference;
} weighed_t;

static int compare_weighed(const void *x, const void *y) {
  const weighed_t *a = x, *b = y;
  if (a->change != b->change) return a->change > b->change ? -1 : 1;
  const berth_difference_t *p = &a->difference, *q = &b->difference;
  if (p->b != q->b) return p->b < q->b ? -1 : 1;
  return p->a < q->a ? -1 : p->a > q->a;
}

static berth_status_t sort(const berth_plan_list_t *a, const berth_plan_list_t *b,
                           berth_plan_diff_t *diff) {
  weighed_t *weighed = malloc(((size_t)diff->count + 1) * sizeof *weighed);
  if (weighed == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < diff->count; i++) {
    weighed[i] = (weighed_t){change_of(&diff->differences[i], a, b), diff->differences[i]};
  }
  qsort(weighed, diff->count, sizeof *weighed, compare_weighed);
  for (uint32_t i = 0; i < diff->count; i++) diff->differences[i] = weighed[i].difference;
  free(weighed);
  return BERTH_OK;
}

berth_status_t berth_plan_diff_of(const berth_plan_list_t *a, const berth_plan_list_t *b,
                                  berth_plan_diff_t *diff) {
  bool by_name = all_named(a) && all_named(b);
  ranked_t *x = rank(a, by_name), *y = rank(b, by_name);
  berth_plan_diff_t made = {NULL, 0, 0};
  made.differences = malloc(((size_t)a->count + b->count + 1) * sizeof *made.differences);
  berth_status_t status = BERTH_ERROR_MEMORY;
  if (x != NULL && y != NULL && made.differences != NULL) {
    uint32_t i = 0, k = 0;
    while (i < a->count || k < b->count) {
      int order = i == a->count ? 1 : k == b->count ? -1 : strcmp(x[i].key, y[k].key);
      berth_difference_t *next = &made.differences[made.count];
      if (order < 0) {
        *next = (berth_difference_t){x[i++].index, UINT32_MAX, BERTH_DIFF_GONE};
      } else if (order > 0) {
        *next = (berth_difference_t){UINT32_MAX, y[k++].index, BERTH_DIFF_APPEARED};
      } else {
        uint32_t p = x[i++].index, q = y[k++].index;
        *next = (berth_difference_t){p, q, compare(&a->entries[p], &b->entries[q])};
        made.same += next->how == 0;
      }
      made.count += next->how != 0;
    }
    status = sort(a, b, &made);
  }
  free(x);
  free(y);
  if (status == BERTH_OK) {
    *diff = made;
  } else {
    berth_plan_diff_free(&made);
  }
  return status;
}

void berth_plan_diff_free(berth_plan_diff_t *diff) {
  free(diff->differences);
  *diff = (berth_plan_diff_t){NULL, 0, 0};
}

/* ---- For people ------------------------------------------------------------------------------ */

static void total(const char *what, uint64_t a, uint64_t b, FILE *stream) {
  uint64_t change = a > b ? a - b : b - a;
  fprintf(stream, "%-14s %15s %15s", what, berth_grouped(a).text, berth_grouped(b).text);
  if (change == 0) {
    fputs("  the same\n", stream);
  } else {
    fprintf(stream, "  %s%s (%s%s)\n", a > b ? "-" : "+", berth_grouped(change).text,
            a > b ? "-" : "+", berth_percent(change, a).text);
  }
}

static void words(unsigned how, bool grew, char *out, size_t size) {
  snprintf(out, size, "%s%s%s%s%s", how & BERTH_DIFF_APPEARED ? "appeared " : "",
           how & BERTH_DIFF_GONE ? "gone " : "",
           how & (BERTH_DIFF_SIZE | BERTH_DIFF_PADDED) ? how & BERTH_DIFF_PADDED
                                                             ? grew ? "padded " : "unpadded "
                                                         : grew ? "grew "
                                                                : "shrank "
                                                       : "",
           how & BERTH_DIFF_MOVED ? "moved " : "", how & BERTH_DIFF_LIFE ? "lives otherwise " : "");
  size_t length = strlen(out);
  if (length > 0) out[length - 1] = '\0';
}

/* "a" where both are the same, else "a -> b"; a side that has none is "-". */
static void pair_cell(bool has_a, uint64_t a, bool has_b, uint64_t b, berth_text_table_t *table) {
  if (has_a && has_b && a == b) {
    berth_text_table_cell(table, "%s", berth_grouped(a).text);
  } else if (!has_a && !has_b) {
    berth_text_table_cell(table, "-");
  } else {
    berth_text_table_cell(table, "%s -> %s", has_a ? berth_grouped(a).text : "-",
                          has_b ? berth_grouped(b).text : "-");
  }
}

bool berth_plan_diff_print(const berth_plan_diff_t *diff, const berth_plan_list_t *a,
                           const berth_plan_list_t *b, const char *const names[2], FILE *stream) {
  static const char *const headings[] = {"what", "bytes", "offset", "steps", "buffer", NULL};
  static const berth_listed_t none = {.key = (char *)"", .name = (char *)"", .raw = UINT64_MAX};
  fprintf(stream, "A: %s\nB: %s\n\n%-14s %15s %15s\n", names[0], names[1], "", "A", "B");
  total("Peak", a->peak, b->peak, stream);
  total("Without reuse", a->sum, b->sum, stream);
  if (diff->count == 0) {
    fprintf(stream, "\nThe %" PRIu32 " buffers are the same in both.\n", diff->same);
    return true;
  }
  fputc('\n', stream);
  berth_text_table_t table = berth_text_table(headings, "lrrrl");
  for (uint32_t i = 0; i < diff->count && i < ROWS; i++) {
    const berth_difference_t *it = &diff->differences[i];
    const berth_listed_t *x = it->a != UINT32_MAX ? &a->entries[it->a] : &none;
    const berth_listed_t *y = it->b != UINT32_MAX ? &b->entries[it->b] : &none;
    const berth_listed_t *named = it->b != UINT32_MAX ? y : x;
    char what[96], name[BERTH_NAME_ROOM], steps[2][48] = {"-", "-"};
    words(it->how, y->size > x->size, what, sizeof what);
    berth_text_table_cell(&table, "%s", what);
    pair_cell(x != &none, x->size, y != &none, y->size, &table);
    pair_cell(x->has_offset, x->offset, y->has_offset, y->offset, &table);
    if (x->has_life) snprintf(steps[0], 48, "%" PRIu64 "..%" PRIu64, x->first, x->last);
    if (y->has_life) snprintf(steps[1], 48, "%" PRIu64 "..%" PRIu64, y->first, y->last);
    bool alike = strcmp(steps[0], steps[1]) == 0;
    berth_text_table_cell(&table, "%s%s%s", steps[0], alike ? "" : " -> ", alike ? "" : steps[1]);
    const char *shown = named->name[0] != '\0' ? named->name : named->key;
    berth_text_table_cell(&table, "%s",
                          berth_printable(shown, strlen(shown), 40, name, sizeof name));
  }
  bool good = berth_text_table_print(&table, 0, stream);
  if (diff->count > ROWS) {
    fprintf(stream, "and %" PRIu32 " more (--json lists all)\n", diff->count - ROWS);
  }
  fprintf(stream, "\n%" PRIu32 " buffers differ, %" PRIu32 " are the same.\n", diff->count,
          diff->same);
  return good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_side(const char *key, const berth_listed_t *entry, berth_json_t *json) {
  if (entry == NULL) {
    berth_json_null(json, key);
    return;
  }
  berth_json_open(json, key, '{');
  berth_json_number(json, "size", entry->size);
  if (entry->has_offset) berth_json_number(json, "offset", entry->offset);
  if (entry->has_life) berth_json_number(json, "first", entry->first);
  if (entry->has_life) berth_json_number(json, "last", entry->last);
  if (entry->raw != UINT64_MAX) berth_json_number(json, "raw_bytes", entry->raw);
  berth_json_close(json, '}');
}

static void json_plan(const char *key, const char *name, const berth_plan_list_t *list,
                      berth_json_t *json) {
  berth_json_open_line(json, key, '{');
  berth_json_string(json, "file", name);
  berth_json_number(json, "buffers", list->count);
  berth_json_number(json, "peak_bytes", list->peak);
  berth_json_number(json, "sum_bytes", list->sum);
  berth_json_close(json, '}');
}

void berth_plan_diff_json(const berth_plan_diff_t *diff, const berth_plan_list_t *a,
                          const berth_plan_list_t *b, const char *const names[2], FILE *stream) {
  static const char *const bits[] = {"appeared", "gone", "size", "padded", "moved", "life"};
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  json_plan("a", names[0], a, &json);
  json_plan("b", names[1], b, &json);
  berth_json_number(&json, "same", diff->same);
  berth_json_open(&json, "differences", '[');
  for (uint32_t i = 0; i < diff->count; i++) {
    const berth_difference_t *it = &diff->differences[i];
    const berth_listed_t *x = it->a != UINT32_MAX ? &a->entries[it->a] : NULL;
    const berth_listed_t *y = it->b != UINT32_MAX ? &b->entries[it->b] : NULL;
    const berth_listed_t *named = y != NULL ? y : x;
    berth_json_open_line(&json, NULL, '{');
    berth_json_string(&json, "key", named->key);
    berth_json_string(&json, "name", named->name);
    berth_json_open(&json, "how", '[');
    for (unsigned bit = 0; bit < sizeof bits / sizeof bits[0]; bit++) {
      if ((it->how >> bit & 1) != 0) berth_json_string(&json, NULL, bits[bit]);
    }
    berth_json_close(&json, ']');
    json_side("a", x, &json);
    json_side("b", y, &json);
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}
