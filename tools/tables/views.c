/* SPDX-License-Identifier: MIT */
/* Which views there are. */
#include "tables/views.h"

static const struct dft_view views[] = {
#define DFT_VIEW(name, help, sql) {#name, help, sql},
#include "tables/views.def"
#undef DFT_VIEW
};

const struct dft_view *dft_views(unsigned *count)
{
    *count = sizeof views / sizeof *views;
    return views;
}

void dft_views_columns(FILE *out, const struct dft_table_shape *table)
{
    static const char *const types[] = {[DFT_CELL_INTEGER] = "integer",
                                        [DFT_CELL_TIME] = "integer",
                                        [DFT_CELL_REAL] = "real",
                                        [DFT_CELL_TEXT] = "text"};

    for (unsigned i = 0; i < table->ncolumns; i++)
        fprintf(out, "%s\"%s\" %s", i ? ", " : "(", table->columns[i].name, types[table->columns[i].type]);
    fputc(')', out);
}
