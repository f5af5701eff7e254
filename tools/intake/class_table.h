/* SPDX-License-Identifier: MIT */
/* A user's table of files with a class of their own (--classes FILE). It says of events what
 * classes.def says of calls while they are traced. */
#ifndef DFT_CLASS_TABLE_H
#define DFT_CLASS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct dft_batch;
struct dft_call;

struct dft_source;

struct dft_class_table {
    struct dft_class_row *rows;
    size_t count, capacity;
    struct dft_map files; /* name id of each file that fits -> its class + 1 */
};

/* Reads a table. What the table had before goes; after an error it stays. Returns 0, or -errno with
 * a text in `error`. */
int dft_class_table_read(struct dft_class_table *table, const char *path, char *error, size_t size);
void dft_class_table_fini(struct dft_class_table *table);

/* Finds the files that fit, and has all events that are read from now on get their classes. Call
 * this before events are read. `table` lives as long as the source. Collective. Returns 0 or
 * -ENOMEM. */
int dft_source_classify(struct dft_source *source, struct dft_class_table *table);
/* Was that done? Then rows and events may have different classes. */
int dft_source_is_classified(const struct dft_source *source);

/* --- private to source_read.c ------------------------------------------------------------------ */

/* Calls of a batch, and behind them those that have got another class. */
struct dft_classed_calls {
    struct dft_call *list;
    size_t count, capacity;
    struct dft_map places; /* number of the call and class -> number of the call that has it */
};

/* Gives the events of a batch their classes. The batch's calls are those of `calls` then, until the
 * next batch. Returns 0 or -ENOMEM. */
int dft_class_table_apply(const struct dft_class_table *table, struct dft_classed_calls *calls,
                          struct dft_batch *batch);

#endif
