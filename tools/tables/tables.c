/* SPDX-License-Identifier: MIT */
/* Which tables there are, and their columns. */
#include "tables/tables.h"

#include <string.h>

#define DFT_TABLE(NAME, name, help)                                    static const struct dft_table_column columns_##NAME[] = {
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help)         {#name, DFT_CELL_##type, unit, help},
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help) {#name, DFT_CELL_##type, unit, help},
#define DFT_TABLE_END(NAME)                                                                                            \
    }                                                                                                                  \
    ;                                                                                                                  \
    _Static_assert(sizeof columns_##NAME / sizeof *columns_##NAME <= 64, "a mask has 64 columns");
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END

static const struct dft_table_shape tables[] = {
#define DFT_TABLE(NAME, name, help)                                                                                    \
    [DFT_TABLE_##NAME] = {#name, help, columns_##NAME, sizeof columns_##NAME / sizeof *columns_##NAME},
#define DFT_TABLE_COLUMN(...)
#define DFT_TABLE_END(NAME)
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END
};

const struct dft_table_shape *dft_tables_at(enum dft_table_number number)
{
    return &tables[number];
}

const struct dft_table_shape *dft_tables_find(const char *name, enum dft_table_number *number)
{
    for (unsigned i = 0; i < DFT_TABLES; i++)
        if (!strcmp(name, tables[i].name))
            return *number = (enum dft_table_number)i, &tables[i];
    return NULL;
}
