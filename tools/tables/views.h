/* SPDX-License-Identifier: MIT */
/* Views of the tables for common queries, as SQL. views.def lists them. */
#ifndef DFT_VIEWS_H
#define DFT_VIEWS_H

#include <stdio.h>

#include "tables/tables.h"

struct dft_view {
    const char *name, *help, *sql;
};

const struct dft_view *dft_views(unsigned *count);
/* Writes the columns of a table as a create statement has them: ("time" integer, ...). */
void dft_views_columns(FILE *out, const struct dft_table_shape *table);

#endif
