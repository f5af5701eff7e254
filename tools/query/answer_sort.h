/* SPDX-License-Identifier: MIT */
/* The order of groups. */
#ifndef DFT_ANSWER_SORT_H
#define DFT_ANSWER_SORT_H

#include "query/query_types.h"

/* A column is named by a word of JSON, by a title on the screen, by a key, or by what only one of
 * these begins with. -EINVAL: the query has no such column. */
int dft_order_check(const struct dft_order *order, const struct dft_query *query);
/* The words for columns that stand on the screen, and what a misspelt one was likely meant to be
 * (NULL: nothing). Returns how many there are. Valid until the next call. */
#define DFT_ORDER_WORDS 192u
size_t dft_order_words(const struct dft_query *query, const char *text, const char **nearest,
                       const char *list[DFT_ORDER_WORDS]);
/* Titles on the screen, by number, then NULL. */
const char *dft_order_title(size_t i);
/* Is this the requested column to sort by? */
int dft_order_is(const struct dft_answer *answer, const char *title);
/* Sorts by a column, largest first (NULL: time_ns), or by a key, ascending; ties by the keys,
 * ascending. Returns 0, or -EINVAL: no such column. Fetches the texts of all files first when
 * `top` is 0 (keys decide between ties), else only those of groups that may be among the first
 * `top`, and forgets the others. */
int dft_answer_sort(struct dft_answer *answer, const char *column, uint64_t top);

/* How groups are compared: by a column, or by a key. */
struct dft_sorting {
    const struct dft_answer *answer;
    int column;    /* enum dft_column, or -1 */
    int key;       /* enum dft_by, or -1 */
    int with_keys; /* ties by keys, and order by a key */
};
int dft_order_find(const struct dft_answer *answer, const char *column, struct dft_sorting *sorting);
int dft_group_compare(const void *left, const void *right, void *sorting);
/* Texts of files and regions of these groups. Collective. */
int dft_answer_texts(const struct dft_answer *answer, struct dft_names *into, const struct dft_group *groups,
                     uint32_t count);

#endif
