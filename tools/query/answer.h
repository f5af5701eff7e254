/* SPDX-License-Identifier: MIT */
/* Reading an answer: keys, columns, order. */
#ifndef DFT_ANSWER_H
#define DFT_ANSWER_H

#include "base/names.h"
#include "query/query_types.h"

/* "call,rank": names of keys (`call` is cat and name, `dir:2` is dir with a depth). Returns 0 or
 * -EINVAL with *wrong: the word. */
int dft_query_parse(struct dft_query *query, const char *by, const char **wrong);

/* How many keys say which file an event belongs to: a group has room for one. */
unsigned dft_query_files(const struct dft_query *query);

/* Name of a key as JSON has it: "cat", "t_ns". */
const char *dft_by_name(enum dft_by by);
/* The same as --by has it: "cat", "time". */
const char *dft_by_word(enum dft_by by);
/* The table that has the text of a file or region of a group. */
const struct dft_names *dft_answer_names(const struct dft_answer *answer, uint64_t id);
/* The value of a key of a group. */
void dft_group_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by,
                     struct dft_key_value *value);

const char *dft_column_name(enum dft_column column);
/* Is it one of those that a sweep over all events in order gives? */
static inline int dft_column_is_swept(int column)
{
    return column == DFT_COLUMN_UNION || column == DFT_COLUMN_IN_FLIGHT;
}
/* Returns 0: it means nothing here (null), 1: *value (only self_ns may be negative). */
int dft_column_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_column column,
                     int64_t *value);

#endif
