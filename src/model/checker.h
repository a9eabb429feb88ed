/* Checks of single parts of a FlatBuffer - a field, a vector, a string, a table - against the end
 * of the file: what verify.c, which knows the schema, is made of.
 *
 * Each function returns true if the part may be followed. Otherwise it notes in `error` what is
 * wrong with `subject` (a phrase such as "tensor name") and returns false; the first fault ends the
 * verification. An absent part is always right.
 */
#ifndef BERTH_MODEL_CHECKER_H
#define BERTH_MODEL_CHECKER_H

#include "flatbuffer.h"

typedef struct berth_checker {
  const uint8_t *file;
  uint32_t size;             /* of the part that a FlatBuffer can reach: below 2^31 */
  uint64_t file_size;        /* of the whole file */
  uint64_t budget;           /* what may still be spent; see berth_check_spend */
  berth_model_error_t error; /* subgraph, tensor and op say what is being checked just now */
} berth_checker_t;

/* Notes the fault; false. */
bool berth_check_refuse(berth_checker_t *checker, const char *subject, const char *fault,
                        uint64_t position);

/* Spends `bytes` of the budget. Lists may share elements, so that a small file can describe a huge
 * walk. Therefore each part is charged with the bytes that it takes at least if nothing is shared
 * (a table in a list 8, an element of a vector 1), and a file may spend BERTH_CHECKER_SHARING times
 * its size. */
bool berth_check_spend(berth_checker_t *checker, uint64_t bytes, const char *subject);
#define BERTH_CHECKER_SHARING 4u

/* A table that the reference at `from` refers to: its vtable must be in the file. */
bool berth_check_table(berth_checker_t *checker, uint32_t from, uint64_t position,
                       const char *subject, berth_table_t *table);

/* A field that holds a number of `width` bytes. */
bool berth_check_number(berth_checker_t *checker, berth_table_t table, uint32_t field,
                        uint32_t width, const char *subject);

/* A field that refers to a vector of elements of `width` bytes. The _data form is for weights,
 * which nobody walks through: they aren't charged. */
bool berth_check_data(berth_checker_t *checker, berth_table_t table, uint32_t field, uint32_t width,
                      const char *subject, berth_vector_t *vector);
bool berth_check_vector(berth_checker_t *checker, berth_table_t table, uint32_t field,
                        uint32_t width, const char *subject, berth_vector_t *vector);

/* A field that refers to a string: there is a NUL behind it. */
bool berth_check_text(berth_checker_t *checker, berth_table_t table, uint32_t field,
                      const char *subject);

/* A field that refers to a table; `child->position` is 0 if it is absent. */
bool berth_check_child(berth_checker_t *checker, berth_table_t table, uint32_t field,
                       const char *subject, berth_table_t *child);

/* A field that refers to a vector of at most `most` tables. The elements aren't checked. */
bool berth_check_list(berth_checker_t *checker, berth_table_t table, uint32_t field, uint32_t most,
                      const char *subject, uint32_t *count);

/* Element `index` of a checked vector of tables. */
bool berth_check_element(berth_checker_t *checker, berth_table_t table, uint32_t field,
                         uint32_t index, const char *subject, berth_table_t *element);

/* A vector of int32 in which every element is in [least, limit). `fault` says what is wrong with an
 * element that isn't. */
bool berth_check_range(berth_checker_t *checker, berth_table_t table, uint32_t field, int64_t least,
                       int64_t limit, const char *subject, const char *fault,
                       berth_vector_t *vector);

/* Bytes outside the FlatBuffer, given by two 64-bit fields: in use if the offset is above 1. */
bool berth_check_outside(berth_checker_t *checker, berth_table_t table, uint32_t offset_field,
                         uint32_t size_field, const char *subject);

#endif
