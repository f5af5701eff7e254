/* SPDX-License-Identifier: MIT */
/* Makes the batches of a table. One thread has one maker. */
#ifndef DFT_TABLES_MAKER_H
#define DFT_TABLES_MAKER_H

#include "base/memory_text.h"
#include "base/names.h"
#include "tables/dictionary.h"
#include "tables/tables.h"

struct dft_source;

struct dft_maker {
    struct dft_source *source;
    const struct dft_names *names;
    uint64_t asked;    /* columns */
    unsigned ncolumns; /* of the table */
    uint32_t count, capacity;
    int64_t *integers[64]; /* by column; those that were not requested have none */
    double *reals[64];
    uint32_t *codes[64];
    struct dft_dictionary dictionaries[64];
    struct dft_cells cells[64];
    struct dft_memory_text memory; /* a text that is being made */
};

/* Returns 0 or -ENOMEM. dft_maker_fini is called in any case. */
int dft_maker_init(struct dft_maker *maker, struct dft_source *source, enum dft_table_number table, uint64_t columns);
void dft_maker_fini(struct dft_maker *maker);
/* Room for `rows` more rows. */
int dft_maker_reserve(struct dft_maker *maker, uint32_t rows);
/* Forgets all rows. */
void dft_maker_clear(struct dft_maker *maker);
/* Bytes that the rows take, with the room that is kept for more; and without. */
size_t dft_maker_bytes(const struct dft_maker *maker);
size_t dft_maker_used_bytes(const struct dft_maker *maker);

static inline int dft_maker_wants(const struct dft_maker *maker, unsigned column)
{
    return maker->asked >> column & 1;
}

/* The code of a call's category, or of its name; of a name's text (its text may be found only when
 * the batch is done); of a text. Return 0 or -ENOMEM. */
int dft_maker_category(struct dft_maker *maker, unsigned column, uint64_t call, uint32_t *code);
int dft_maker_call(struct dft_maker *maker, unsigned column, uint64_t call, uint32_t *code);
int dft_maker_name(struct dft_maker *maker, unsigned column, uint64_t id, uint32_t *code);

/* Row by row: the cells of a new row are null until they are set. Columns that were not requested
 * are passed over. */
int dft_maker_row(struct dft_maker *maker);
void dft_maker_set(struct dft_maker *maker, unsigned column, int64_t value);
void dft_maker_set_real(struct dft_maker *maker, unsigned column, double value);
/* NULL or no bytes: null. */
int dft_maker_set_text(struct dft_maker *maker, unsigned column, struct dft_text text);
int dft_maker_set_word(struct dft_maker *maker, unsigned column, const char *text);
/* The category and the name of a call or region; 0: null. */
int dft_maker_set_call(struct dft_maker *maker, unsigned category, unsigned name, uint64_t call);
void dft_maker_set_code(struct dft_maker *maker, unsigned column, uint32_t code);

/* Sorts the rows by a column of times. Returns 0 or -ENOMEM. */
int dft_maker_sort(struct dft_maker *maker, unsigned column);
/* Finds the texts that are still missing, and describes the batch. */
int dft_maker_finish(struct dft_maker *maker, struct dft_table_batch *batch);

#endif
