/* Plans and models for people: paragraphs, tables and the drawing. */
#ifndef BERTH_SRC_HOST_PLAN_TEXT_H
#define BERTH_SRC_HOST_PLAN_TEXT_H

#include "host/plan_file.h"
#include "host/terminal.h"

/* Everything about a plan: totals, peak, drawing. False: out of memory. */
bool berth_plan_print(const berth_plan_report_t *report, berth_terminal_t terminal, FILE *stream);

/* The dynamic tensors of a model, by name and cause; nothing if there are none. */
void berth_dynamic_print(const berth_subject_t *subject, FILE *stream);

/* The matrix of conflicts: one line for each buffer. */
void berth_conflicts_print(const berth_subject_t *subject, berth_terminal_t terminal, FILE *stream);

/* A label's name, made printable and no wider than `columns`; `out` has BERTH_NAME_ROOM bytes. */
#define BERTH_NAME_ROOM 512
const char *berth_label_print(const berth_label_t *label, uint32_t columns, char *out);

/* The same with what it is: "tensor 9 conv/Relu", "reserved audio". */
const char *berth_buffer_text(const berth_label_t *label, uint32_t columns, char *out);

#endif
