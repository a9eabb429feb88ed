/* What went wrong, in one line for people: which file, what, and where in it. */
#ifndef BERTH_SRC_HOST_COMPLAINT_H
#define BERTH_SRC_HOST_COMPLAINT_H

#if defined(__GNUC__)
#define BERTH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BERTH_PRINTF(text, first)
#endif

typedef struct berth_complaint {
  char text[512]; /* one line, without its end; control characters are replaced */
} berth_complaint_t;

/* Writes the complaint; if it is too long, without its middle. */
void berth_complain(berth_complaint_t *complaint, const char *format, ...) BERTH_PRINTF(2, 3);

#endif
