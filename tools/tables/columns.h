/* SPDX-License-Identifier: MIT */
/* The numbers of all columns: DFT_EVENTS_TIME, DFT_ROWS_WIDTH ... */
#ifndef DFT_TABLES_COLUMNS_H
#define DFT_TABLES_COLUMNS_H

#define DFT_TABLE(NAME, name, help)                            enum {
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help) DFT_##NAME##_##COLUMN,
#define DFT_TABLE_END(NAME)                                                                                            \
    DFT_##NAME##_COLUMNS                                                                                               \
    }                                                                                                                  \
    ;
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END

#endif
