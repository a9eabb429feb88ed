/* Finding places for the pieces of a head: in holes of the old file, where that is possible.
 *
 * A reference points forward, so a piece must lie before all that it refers to. Pieces are made
 * parents first; from the last one to the first, each goes as far back as it can, so that there is
 * room before it for those that refer to it. What refers to a piece in front must be in front
 * itself. O(pieces x holes), with at most TRIES holes looked at for each.
 */
#include "optimize/head.h"

#include <stdlib.h>

#define TRIES 4096u

typedef struct holes {
  berth_hole_t *list;
  uint32_t count, room;
} holes_t;

/* The last place in the hole where the piece fits and ends before `limit`; UINT32_MAX: none. */
static uint32_t fit(const berth_hole_t *hole, const berth_head_piece_t *piece, uint32_t limit) {
  uint32_t end = hole->end < limit ? hole->end : limit, size = piece->end - piece->start;
  if (end < hole->start || end - hole->start < size) return UINT32_MAX;
  uint32_t place = end - size;
  uint32_t off = (place + piece->before) & (piece->align - 1);
  return off <= place - hole->start ? place - off : UINT32_MAX;
}

/* Takes [place, place + size) out of hole `index`. False: out of memory. */
static bool take(holes_t *holes, uint32_t index, uint32_t place, uint32_t size) {
  berth_hole_t *hole = &holes->list[index];
  berth_hole_t behind = {place + size, hole->end};
  hole->end = place;
  if (behind.start == behind.end) return true;
  if (hole->start == hole->end) {
    *hole = behind;
    return true;
  }
  if (holes->count == holes->room) {
    uint32_t room = 2 * holes->room + 16;
    berth_hole_t *list = realloc(holes->list, (size_t)room * sizeof *list);
    if (list == NULL) return false;
    holes->list = list;
    holes->room = room;
  }
  memmove(&holes->list[index + 2], &holes->list[index + 1],
          (holes->count - index - 1) * sizeof *holes->list);
  holes->list[index + 1] = behind;
  holes->count++;
  return true;
}

static uint32_t reference_end(const berth_head_t *head, uint32_t piece) {
  return piece + 1 < head->piece_count ? head->pieces[piece + 1].references : head->reference_count;
}

/* The first byte that the piece must end before, given what it refers to; 0: it must be in front.
 */
static uint32_t limit_of(const berth_head_t *head, uint32_t index) {
  uint64_t limit = INT32_MAX;
  for (uint32_t i = head->pieces[index].references; i < reference_end(head, index); i++) {
    const berth_head_reference_t *reference = &head->references[i];
    uint64_t target = reference->target;
    if (reference->kind == BERTH_HEAD_LABEL) {
      const berth_head_piece_t *piece = berth_head_piece(head, head->labels[target]);
      if (!piece->in_hole) return 0;
      target = piece->place;
    } else if (reference->kind != BERTH_HEAD_OLD) {
      continue;
    }
    if (target < limit) limit = target;
  }
  return (uint32_t)limit;
}

/* False: out of memory. */
static bool put_in_hole(berth_head_t *head, uint32_t index, holes_t *holes) {
  berth_head_piece_t *piece = &head->pieces[index];
  uint32_t limit = limit_of(head, index), low = 0, high = holes->count;
  while (low < high) { /* the holes that begin before the limit */
    uint32_t middle = low + (high - low) / 2;
    if (holes->list[middle].start < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (uint32_t tries = 0; low > 0 && tries < TRIES; tries++) {
    low--;
    uint32_t place = fit(&holes->list[low], piece, limit);
    if (place == UINT32_MAX) continue;
    piece->in_hole = true;
    piece->place = place;
    return take(holes, low, place, piece->end - piece->start);
  }
  return true;
}

/* In front, in the order in which they were made. */
static void put_in_front(berth_head_t *head) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < head->piece_count; i++) {
    berth_head_piece_t *piece = &head->pieces[i];
    if (piece->in_hole) continue;
    at += (0u - (at + piece->before)) & (piece->align - 1);
    piece->place = at;
    at += piece->end - piece->start;
  }
  head->size = (at + 15) & ~15u;
}

berth_status_t berth_head_place(berth_head_t *head, berth_hole_t **holes, uint32_t *hole_count) {
  if (head->status != BERTH_OK || head->piece_count == 0) return head->status;
  holes_t free_space = {*holes, *hole_count, *hole_count};
  uint32_t in_front = 0;
  bool good = true;
  head->pieces[head->piece_count - 1].end = head->size;
  for (uint32_t i = head->piece_count - 1; i > 0 && good; i--) {
    good = put_in_hole(head, i, &free_space);
    in_front += !head->pieces[i].in_hole;
  }
  *holes = free_space.list;
  *hole_count = free_space.count;
  if (!good) return head->status = BERTH_ERROR_MEMORY;
  if (in_front > 0 || !head->start_is_free) {
    put_in_front(head);
  } else {
    head->pieces[0].in_hole = true; /* of the old file's start, which is no hole */
    head->size = 0;
  }
  return BERTH_OK;
}
