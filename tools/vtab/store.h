/* SPDX-License-Identifier: MIT */
/* The sources of a connection, and what their small tables hold. All tables that name the same paths
 * share one. */
#ifndef DFT_VTAB_STORE_H
#define DFT_VTAB_STORE_H

#include "views/filter.h"
#include "tables/tables.h"
#include "vtab/kept.h"

struct dft_store {
    struct dft_store *next;
    char *key; /* the paths and their lengths; NULL: the source that the connection was created with */
    unsigned users;
    struct dft_source *source;
    const struct dft_filter *filter;
    struct dft_kept *kept[DFT_TABLES]; /* NULL: not read yet */
    uint64_t events, rows;             /* about so many rows have these tables */
    struct dft_keeper *keeper;         /* the thread that has opened the source, if it is ours */
};

/* The store of these paths in a list, opened when it is not there. Returns 0 or -errno; -ENOENT: no
 * path has a trace; *why (may stay NULL) then says more, and the caller frees it. */
int dft_store_use(struct dft_store **list, struct dft_store **store, char *const *paths, int npaths, char **why);
/* Puts a source into the list that somebody else has opened, and will close. Returns 0 or -ENOMEM. */
int dft_store_given(struct dft_store **list, struct dft_source *source, const struct dft_filter *filter);
/* The last user closes the source. */
void dft_store_leave(struct dft_store **list, struct dft_store *store);

/* Is the table small, so that it is held in memory? All but the notes are, from the first query
 * on; notes are added meanwhile. */
int dft_store_keeps(enum dft_table_number table);

#endif
