/* SPDX-License-Identifier: MIT */
/* Plans: which comparisons and orders a table takes, and what that costs. */
#include "vtab/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/columns.h"

#define FEW 1000.0 /* rows of a small table that was not read yet */

int dft_vtab_option_of(enum dft_table_number table, unsigned column)
{
    static const struct {
        const char *name;
        enum dft_filter_option option;
        uint8_t of_rows, of_counters;
    } options[] = {{"time", DFT_FILTER_FROM, 1, 1}, {"rank", DFT_FILTER_RANK, 1, 1},
                   {"pid", DFT_FILTER_PID, 1, 0},   {"cat", DFT_FILTER_CAT, 1, 1},
                   {"name", DFT_FILTER_NAME, 1, 1}, {"class", DFT_FILTER_CLASS, 1, 0},
                   {"file", DFT_FILTER_FILE, 0, 0}, {"region", DFT_FILTER_REGION, 1, 0}};

    for (size_t i = 0; i < sizeof options / sizeof *options && !dft_store_keeps(table); i++)
        if (!strcmp(dft_tables_at(table)->columns[column].name, options[i].name) &&
            (table == DFT_TABLE_EVENTS || (table == DFT_TABLE_ROWS && options[i].of_rows) ||
             (table == DFT_TABLE_COUNTERS && options[i].of_counters)))
            return (int)options[i].option;
    return -1;
}

/* Is the comparison one that bytes decide? */
static int compares_bytes(sqlite3_index_info *info, int i, enum dft_cell_type type)
{
    if (type != DFT_CELL_TEXT)
        return 1;
    return DFT_VTAB_SINCE(3022000) && !sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY");
}

/* Can the table narrow its rows by this comparison? */
static int takes(sqlite3_index_info *info, int i, enum dft_table_number table)
{
    int column = info->aConstraint[i].iColumn, op = info->aConstraint[i].op;
    enum dft_cell_type type;

    if (!info->aConstraint[i].usable || column < 0)
        return 0;
    type = dft_tables_at(table)->columns[column].type;
    if (!compares_bytes(info, i, type))
        return 0;
    if (dft_store_keeps(table))
        return op == SQLITE_INDEX_CONSTRAINT_EQ && type != DFT_CELL_REAL;
    if (dft_vtab_option_of(table, (unsigned)column) < 0)
        return 0;
    return op == SQLITE_INDEX_CONSTRAINT_EQ ||
           (type == DFT_CELL_TIME && (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE ||
                                      op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE));
}

/* Takes the whole list of an IN at once, where that can be had: SQLite would read the table once for
 * each of its values. */
static int takes_set(sqlite3_index_info *info, int i, enum dft_table_number table)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    if (DFT_VTAB_SINCE(3038000) && !dft_store_keeps(table) && sqlite3_vtab_in(info, i, -1))
        return sqlite3_vtab_in(info, i, 1);
#endif
    (void)info, (void)i, (void)table;
    return 0;
}

/* --- order ------------------------------------------------------------------------------------- */

/* The order in which the table can give what is requested. */
static enum dft_table_order order_of(const sqlite3_index_info *info, enum dft_table_number table)
{
    const struct sqlite3_index_orderby *by = info->aOrderBy;

    if (table != DFT_TABLE_EVENTS || info->nOrderBy != 1 || by->desc)
        return DFT_ORDER_NONE;
    return by->iColumn == DFT_EVENTS_TIME   ? DFT_ORDER_TIME
           : by->iColumn == DFT_EVENTS_NAME ? DFT_ORDER_NAME
           : by->iColumn == DFT_EVENTS_RANK ? DFT_ORDER_RANK
                                            : DFT_ORDER_NONE;
}

/* --- costs ------------------------------------------------------------------------------------- */

static double rows_of(const struct dft_store *store, enum dft_table_number table)
{
    if (store->kept[table])
        return dft_kept_batch(store->kept[table])->count + 1.0;
    if (dft_store_keeps(table))
        return FEW;
    return (double)(table == DFT_TABLE_ROWS ? store->rows : store->events) + FEW;
}

static void tell_costs(sqlite3_index_info *info, const struct dft_vtab_plan *plan, const struct dft_store *store,
                       enum dft_table_number table)
{
    double rows = rows_of(store, table), cost;

    if (dft_store_keeps(table)) {
        if (plan->nterms)
            rows = rows > 10 ? rows / 10 : 1;
        cost = plan->nterms ? 10 + rows * 0.1 : 20 + rows;
        if (plan->nterms && plan->terms[0].column == DFT_PROCESSES_PROCESS && table == DFT_TABLE_PROCESSES)
            rows = 1;
    } else {
        /* A thread, and all blocks are looked at. For `or` SQLite would read once for each side, and
         * tell rows apart by numbers that they do not have: two readings must never look better than
         * one of all. */
        rows *= plan->nterms ? 0.9 : 1;
        cost = 100000 + rows * (plan->nterms ? 0.9 : 1);
    }
    info->estimatedCost = plan->order ? cost * 1.2 : cost;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
}

/* --- all --------------------------------------------------------------------------------------- */

static char *write(const struct dft_vtab_plan *plan)
{
    char terms[3 * DFT_VTAB_TERMS + 1], *at = terms;

    for (unsigned i = 0; i < plan->nterms; i++) {
        *at++ = (char)('0' + plan->terms[i].column);
        *at++ = plan->terms[i].op == SQLITE_INDEX_CONSTRAINT_EQ   ? '='
                : plan->terms[i].op == SQLITE_INDEX_CONSTRAINT_LT ? '<'
                : plan->terms[i].op == SQLITE_INDEX_CONSTRAINT_LE ? 'l'
                : plan->terms[i].op == SQLITE_INDEX_CONSTRAINT_GT ? '>'
                                                                  : 'g';
        *at++ = plan->terms[i].is_set ? 's' : '1';
    }
    *at = 0;
    return sqlite3_mprintf("%llx %d %s", (sqlite3_uint64)plan->columns, (int)plan->order, terms);
}

void dft_vtab_plan_read(struct dft_vtab_plan *plan, const char *text)
{
    char *at;

    memset(plan, 0, sizeof *plan);
    plan->columns = strtoull(text, &at, 16);
    plan->order = (enum dft_table_order)strtol(at, &at, 10);
    for (at++; *at; at += 3)
        plan->terms[plan->nterms++] = (struct dft_vtab_term){.column = (uint8_t)(at[0] - '0'),
                                                             .op = at[1] == '='   ? SQLITE_INDEX_CONSTRAINT_EQ
                                                                   : at[1] == '<' ? SQLITE_INDEX_CONSTRAINT_LT
                                                                   : at[1] == 'l' ? SQLITE_INDEX_CONSTRAINT_LE
                                                                   : at[1] == '>' ? SQLITE_INDEX_CONSTRAINT_GT
                                                                                  : SQLITE_INDEX_CONSTRAINT_GE,
                                                             .is_set = at[2] == 's'};
}

int dft_vtab_plan_make(sqlite3_index_info *info, const struct dft_store *store, enum dft_table_number table)
{
    struct dft_vtab_plan plan = {.columns = info->colUsed, .order = order_of(info, table)};
    unsigned most = dft_store_keeps(table) ? 1 : DFT_VTAB_TERMS;

    for (int i = 0; i < info->nConstraint && plan.nterms < most; i++) {
        if (!takes(info, i, table))
            continue;
        plan.terms[plan.nterms++] = (struct dft_vtab_term){.column = (uint8_t)info->aConstraint[i].iColumn,
                                                           .op = info->aConstraint[i].op,
                                                           .is_set = (uint8_t)takes_set(info, i, table)};
        info->aConstraintUsage[i].argvIndex = (int)plan.nterms;
        info->aConstraintUsage[i].omit = 0;
    }
    info->orderByConsumed = plan.order != DFT_ORDER_NONE;
    tell_costs(info, &plan, store, table);
    info->idxStr = write(&plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
