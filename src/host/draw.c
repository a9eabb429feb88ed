/* The drawing of an arena. A character is two cells, one above the other, and a cell belongs to the
 * buffer that covers most of it, or to nobody if less than half of it is covered. Neighbours get
 * different colours (greedily, in the order of their first cell), or different shades where there
 * are no colours, so that every buffer's outline can be seen.
 */
#include "host/draw.h"
#include "host/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS   22         /* lines of characters */
#define CELLS  (2 * ROWS) /* rows of cells */
#define MARGIN 11         /* columns for the addresses */
#define NOBODY UINT32_MAX
#define TINTS  6 /* colours; there are SHADES shades */
#define SHADES 4

typedef struct picture {
  const berth_drawing_t *drawing;
  uint32_t width;  /* columns of cells */
  uint32_t *owner; /* of each cell, row by row from the top: a buffer or NOBODY */
  double *covered; /* of each cell: area covered so far */
  double *largest; /* of each cell: area that its owner covers */
  uint8_t *tint;   /* of each buffer; 0: none yet */
} picture_t;

/* ---- Which buffer each cell belongs to ------------------------------------------------------- */

static double overlap(double a, double b, double c, double d) {
  double low = a > c ? a : c, high = b < d ? b : d;
  return high > low ? high - low : 0;
}

static void cover(picture_t *picture, uint32_t buffer) {
  const berth_drawing_t *drawing = picture->drawing;
  const berth_buffer_t *it = &drawing->problem->buffers[buffer];
  double across = (double)picture->width / drawing->step_count;
  double up = CELLS / (double)drawing->height;
  double left = it->first * across, right = ((double)it->last + 1) * across;
  if (across >= 1) { /* whole columns: edges of neighbours meet */
    left = floor(left + 0.5);
    right = floor(right + 0.5);
  }
  double bottom = (double)drawing->placements[buffer].offset * up;
  double top = bottom + (double)it->size * up;

  for (uint32_t y = (uint32_t)bottom; y < CELLS && y < top; y++) {
    double tall = overlap(bottom, top, y, y + 1.0);
    for (uint32_t x = (uint32_t)left; x < picture->width && x < right; x++) {
      double area = tall * overlap(left, right, x, x + 1.0);
      size_t cell = (size_t)(CELLS - 1 - y) * picture->width + x;
      picture->covered[cell] += area;
      if (area > picture->largest[cell]) {
        picture->largest[cell] = area;
        picture->owner[cell] = buffer;
      }
    }
  }
}

static void find_owners(picture_t *picture) {
  const berth_drawing_t *drawing = picture->drawing;
  size_t cells = (size_t)CELLS * picture->width;
  for (size_t i = 0; i < cells; i++) picture->owner[i] = NOBODY;
  for (uint32_t b = 0; b < drawing->problem->buffer_count; b++) {
    if (drawing->placements[b].region == drawing->region && drawing->problem->buffers[b].size > 0) {
      cover(picture, b);
    }
  }
  for (size_t i = 0; i < cells; i++) {
    if (picture->covered[i] < 0.5) picture->owner[i] = NOBODY;
  }
}

/* ---- Colours -------------------------------------------------------------------------------- */

/* Tints that the neighbours of `buffer`'s cells have, a bit each. */
static uint32_t neighbours(const picture_t *picture, uint32_t buffer, size_t from) {
  uint32_t used = 0;
  size_t cells = (size_t)CELLS * picture->width;
  /* The buffer is a rectangle whose first cell is `from`: go along its cells only. */
  for (size_t row = from; row < cells && picture->owner[row] == buffer; row += picture->width) {
    size_t end = row - row % picture->width + picture->width;
    for (size_t i = row; i < end && picture->owner[i] == buffer; i++) {
      const size_t around[4] = {i >= picture->width ? i - picture->width : i,
                                i + picture->width < cells ? i + picture->width : i,
                                i % picture->width > 0 ? i - 1 : i, i + 1 < end ? i + 1 : i};
      for (int k = 0; k < 4; k++) {
        uint32_t other = picture->owner[around[k]];
        if (other != buffer && other != NOBODY) used |= 1u << picture->tint[other];
      }
    }
  }
  return used;
}

static void choose_tints(picture_t *picture, uint32_t tints) {
  size_t cells = (size_t)CELLS * picture->width;
  uint32_t next = 0;
  for (size_t i = 0; i < cells; i++) {
    uint32_t buffer = picture->owner[i];
    if (buffer == NOBODY || picture->tint[buffer] != 0) continue;
    uint32_t used = neighbours(picture, buffer, i), tint = next;
    for (uint32_t tries = 0; tries < tints && (used >> (tint + 1) & 1) != 0; tries++) {
      tint = (tint + 1) % tints;
    }
    picture->tint[buffer] = (uint8_t)(tint + 1);
    next = (tint + 1) % tints;
  }
}

/* ---- Letters -------------------------------------------------------------------------------- */

/* Writes each marked buffer's letter into the middle of the line in which it is widest. */
static void place_marks(const picture_t *picture, char *letters) {
  uint32_t count = picture->drawing->problem->buffer_count;
  uint32_t *best = calloc(count > 0 ? count : 1, sizeof *best);
  size_t *place = calloc(count > 0 ? count : 1, sizeof *place);
  for (uint32_t line = 0; line < ROWS && best != NULL && place != NULL; line++) {
    const uint32_t *upper = &picture->owner[(size_t)2 * line * picture->width];
    const uint32_t *lower = upper + picture->width;
    for (uint32_t x = 0, start = 0; x < picture->width; x++) {
      uint32_t buffer = lower[x];
      if (buffer == NOBODY) continue;
      if (x == 0 || lower[x - 1] != buffer) start = x;
      /* A line in which both cells are the buffer's looks better. */
      uint32_t length = 2 * (x - start + 1) + (upper[x] == buffer);
      if (length > best[buffer]) {
        best[buffer] = length;
        place[buffer] = (size_t)line * picture->width + start + (x - start) / 2;
      }
    }
  }
  for (uint32_t b = 0; b < count && best != NULL && place != NULL; b++) {
    if (best[b] > 0 && picture->drawing->marks[b] != '\0') {
      letters[place[b]] = picture->drawing->marks[b];
    }
  }
  free(best);
  free(place);
}

/* ---- Printing ------------------------------------------------------------------------------- */

/* Light enough to carry black letters, and told apart by the colour-blind (Okabe & Ito, 2008, in
 * the 256-colour palette). */
static const uint8_t palette[TINTS + 1] = {0, 214, 117, 36, 227, 75, 175};
static const char *const shades[SHADES + 1] = {" ", "\xe2\x96\x93", "\xe2\x96\x91", "\xe2\x96\x88",
                                               "\xe2\x96\x92"};
static const char *const ascii_shades[SHADES + 1] = {" ", "#", "-", "%", "+"};

static void print_coloured(uint32_t upper, uint32_t lower, char letter, FILE *stream) {
  if (letter != '\0') {
    fprintf(stream, "\033[30;48;5;%um%c\033[0m", palette[lower], letter);
  } else if (upper == lower) {
    if (upper == 0) {
      fputc(' ', stream);
    } else {
      fprintf(stream, "\033[48;5;%um \033[0m", palette[upper]);
    }
  } else if (upper == 0) {
    fprintf(stream, "\033[38;5;%um\xe2\x96\x84\033[0m", palette[lower]);
  } else if (lower == 0) {
    fprintf(stream, "\033[38;5;%um\xe2\x96\x80\033[0m", palette[upper]);
  } else {
    fprintf(stream, "\033[38;5;%u;48;5;%um\xe2\x96\x84\033[0m", palette[lower], palette[upper]);
  }
}

static void print_line(const picture_t *picture, uint32_t line, const char *letters,
                       berth_terminal_t terminal, FILE *stream) {
  const uint32_t *upper = &picture->owner[(size_t)2 * line * picture->width];
  const uint32_t *lower = upper + picture->width;
  uint32_t end = picture->width;
  bool coloured = terminal.colour && terminal.utf8;
  while (end > 0 && lower[end - 1] == NOBODY && (!coloured || upper[end - 1] == NOBODY)) end--;
  for (uint32_t x = 0; x < end; x++) {
    uint32_t above = upper[x] == NOBODY ? 0 : picture->tint[upper[x]];
    uint32_t below = lower[x] == NOBODY ? 0 : picture->tint[lower[x]];
    char letter = letters[(size_t)line * picture->width + x];
    if (coloured) {
      print_coloured(above, below, letter, stream);
    } else if (letter != '\0') {
      fputc(letter, stream);
    } else {
      fputs((terminal.utf8 ? shades : ascii_shades)[below], stream);
    }
  }
  fputc('\n', stream);
}

/* Step numbers under the picture: the first, the last, and an arrow at the peak. */
static void print_axis(const picture_t *picture, berth_terminal_t terminal, FILE *stream) {
  const berth_drawing_t *drawing = picture->drawing;
  double across = (double)picture->width / drawing->step_count;
  uint32_t peak = (uint32_t)((drawing->peak_step + 0.5) * across);
  fprintf(stream, "%*s%s", MARGIN - 1, "", terminal.utf8 ? "\xe2\x94\x94" : "+");
  for (uint32_t x = 0; x < picture->width; x++) {
    fputs(x == peak ? "^" : terminal.utf8 ? "\xe2\x94\x80" : "-", stream);
  }
  char first[] = "step 0", last[16], middle[32];
  int last_length = snprintf(last, sizeof last, "%" PRIu32, drawing->step_count - 1);
  int middle_length = snprintf(middle, sizeof middle, "peak: %" PRIu32, drawing->peak_step);
  int width = (int)picture->width, first_length = (int)sizeof first - 1;
  int at = (int)peak - middle_length / 2;
  if (at < first_length + 2) at = first_length + 2;
  if (at + middle_length + 2 + last_length > width) at = width - last_length - 2 - middle_length;
  fprintf(stream, "\n%*s%s%*s%s%*s%s\n", MARGIN, "", first, at - first_length, "", middle,
          width - at - middle_length - last_length, "", last);
}

berth_status_t berth_draw(const berth_drawing_t *drawing, berth_terminal_t terminal, FILE *stream) {
  if (drawing->height == 0 || drawing->step_count == 0) return BERTH_OK;
  picture_t picture = {.drawing = drawing, .width = terminal.columns - MARGIN};
  size_t cells = (size_t)CELLS * picture.width;
  picture.owner = calloc(cells, sizeof *picture.owner);
  picture.covered = calloc(cells, sizeof *picture.covered);
  picture.largest = calloc(cells, sizeof *picture.largest);
  picture.tint = calloc((size_t)drawing->problem->buffer_count + 1, 1);
  char *letters = calloc(cells / 2, 1);
  bool good = picture.owner != NULL && picture.covered != NULL && picture.largest != NULL &&
              picture.tint != NULL && letters != NULL;
  if (good) {
    find_owners(&picture);
    choose_tints(&picture, terminal.colour && terminal.utf8 ? TINTS : SHADES);
    place_marks(&picture, letters);
    for (uint32_t line = 0; line < ROWS; line++) {
      /* The address of the line's upper edge, every few lines. */
      bool labelled = line == 0 || (line % 4 == 0 && line + 2 < ROWS);
      uint64_t address = (uint64_t)((double)drawing->height * (ROWS - line) / ROWS);
      fprintf(stream, "%*s%s", MARGIN - 1,
              labelled ? berth_human_bytes(line == 0 ? drawing->height : address).text : "",
              terminal.utf8 ? "\xe2\x94\x82" : "|");
      print_line(&picture, line, letters, terminal, stream);
    }
    print_axis(&picture, terminal, stream);
  }
  free(letters);
  free(picture.tint);
  free(picture.largest);
  free(picture.covered);
  free(picture.owner);
  return good ? BERTH_OK : BERTH_ERROR_MEMORY;
}
