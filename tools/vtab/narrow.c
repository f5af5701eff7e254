/* SPDX-License-Identifier: MIT */
/* Filters out of comparisons. SQLite compares again, so that a filter may let more pass. */
#include "vtab/narrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

int dft_narrow_value(struct dft_kept_value *to, enum dft_cell_type type, sqlite3_value *value)
{
    int is = sqlite3_value_type(value);
    double real;

    if (is == SQLITE_NULL)
        return 0;
    if (type == DFT_CELL_TEXT && is == SQLITE_TEXT) {
        to->text.bytes = (const char *)sqlite3_value_text(value);
        to->text.length = (uint32_t)sqlite3_value_bytes(value);
        return to->text.bytes ? 1 : -1;
    }
    if (type == DFT_CELL_TEXT || (is != SQLITE_INTEGER && is != SQLITE_FLOAT))
        return -1;
    to->integer = sqlite3_value_int64(value);
    real = sqlite3_value_double(value);
    return is == SQLITE_INTEGER || (real == (double)to->integer && real > -9e15 && real < 9e15) ? 1 : -1;
}

/* --- values of options -------------------------------------------------------------------------- */

static int add_range(struct dft_filter_values *values, int64_t number)
{
    struct dft_filter_range *bigger = reallocarray(values->ranges, values->count + 1, sizeof *bigger);

    if (!bigger)
        return -ENOMEM;
    values->ranges = bigger;
    bigger[values->count++] = (struct dft_filter_range){(uint64_t)number, (uint64_t)number};
    return 0;
}

/* A text as a pattern that only this text fits. */
static int add_pattern(struct dft_filter_values *values, struct dft_text text)
{
    const char **bigger = reallocarray(values->patterns, values->count + 1, sizeof *bigger);
    char *pattern = malloc(2 * (size_t)text.length + 1);

    if (bigger)
        values->patterns = bigger;
    if (!bigger || !pattern) {
        free(pattern);
        return -ENOMEM;
    }
    pattern[dft_glob_escape(pattern, text.bytes, text.length)] = 0;
    bigger[values->count++] = pattern;
    return 0;
}

/* A word that there is not lets nothing pass; the mask of no word does that, too. */
static int add_class(struct dft_filter *filter, struct dft_text text)
{
    struct dft_filter_values *values = &filter->values[DFT_FILTER_CLASS];
    struct dft_filter one = {0};
    char why[DFT_FILTER_WHY], *word = strndup(text.bytes, text.length);

    if (!word)
        return -ENOMEM;
    if (!dft_filter_set(&one, DFT_FILTER_CLASS, word, why))
        values->mask |= one.values[DFT_FILTER_CLASS].mask;
    values->count++;
    free(one.values[DFT_FILTER_CLASS].ranges);
    free(word);
    return 0;
}

static int add_value(struct dft_filter *filter, enum dft_filter_option option, const struct dft_kept_value *value)
{
    struct dft_filter_values *values = &filter->values[option];

    if (option == DFT_FILTER_CLASS)
        return add_class(filter, value->text);
    if (option != DFT_FILTER_RANK && option != DFT_FILTER_PID)
        return add_pattern(values, value->text);
    return value->integer < 0 ? 0 : add_range(values, value->integer);
}

static void drop(struct dft_narrow *narrow, enum dft_filter_option option)
{
    struct dft_filter_values *values = &narrow->filter.values[option];

    for (size_t i = 0; values->patterns && i < values->count; i++)
        free((char *)(uintptr_t)values->patterns[i]);
    free(values->patterns);
    free(values->ranges);
    *values = (struct dft_filter_values){0};
}

/* --- arguments ---------------------------------------------------------------------------------- */

/* The next value of an argument, which may be a list. Returns NULL at its end. */
static sqlite3_value *next_value(sqlite3_value *argument, int is_set, unsigned number)
{
    sqlite3_value *value = NULL;

    if (!is_set)
        return number ? NULL : argument;
#if SQLITE_VERSION_NUMBER >= 3038000
    if ((number ? sqlite3_vtab_in_next(argument, &value) : sqlite3_vtab_in_first(argument, &value)) != SQLITE_OK)
        value = NULL;
#endif
    return value;
}

/* An option that the user has set already stays as it is. */
static int narrow_by_values(struct dft_narrow *narrow, enum dft_filter_option option, enum dft_cell_type type,
                            sqlite3_value *argument, int is_set)
{
    struct dft_kept_value value;
    sqlite3_value *one;
    int rc = 0;

    if (dft_filter_has(&narrow->filter, option))
        return 0;
    narrow->owned |= UINT64_C(1) << option;
    for (unsigned i = 0; !rc && (one = next_value(argument, is_set, i)); i++) {
        int is = dft_narrow_value(&value, type, one);

        if (is < 0) {
            drop(narrow, option);
            return 0;
        }
        rc = is ? add_value(&narrow->filter, option, &value) : 0;
    }
    narrow->is_empty |= !rc && !dft_filter_has(&narrow->filter, option);
    return rc;
}

/* A row of `rows` begins before the calls that it stands for, by which blocks are chosen. So those are
 * narrowed from below alone. */
static void narrow_by_time(struct dft_narrow *narrow, unsigned op, int below_too, sqlite3_value *argument)
{
    struct dft_filter *filter = &narrow->filter;
    struct dft_kept_value value;
    int is = dft_narrow_value(&value, DFT_CELL_TIME, argument);
    int above = op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE;
    int below = op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE;
    uint64_t from, to;

    narrow->is_empty |= !is;
    if (is <= 0)
        return;
    if (value.integer < 0 || value.integer == INT64_MAX) {
        narrow->is_empty |= value.integer < 0 ? below : op == SQLITE_INDEX_CONSTRAINT_GT;
        return;
    }
    from = (uint64_t)value.integer + (op == SQLITE_INDEX_CONSTRAINT_GT);
    to = (uint64_t)value.integer + (op != SQLITE_INDEX_CONSTRAINT_LT);
    if (above && from > filter->from_ns) {
        filter->from_ns = from;
        filter->values[DFT_FILTER_FROM].count = 1;
    }
    if (below && below_too && to < filter->to_ns) {
        filter->to_ns = to;
        filter->values[DFT_FILTER_TO].count = 1;
    }
}

/* Says the times from the start of the traces, too, as the user's own options do. */
static void settle_times(struct dft_narrow *narrow, const struct dft_source *source)
{
    struct dft_filter *filter = &narrow->filter;
    uint64_t start, end;

    dft_source_lives(source, &start, &end);
    narrow->is_empty |= filter->to_ns <= filter->from_ns || filter->to_ns <= start;
    if (narrow->is_empty)
        return;
    filter->values[DFT_FILTER_LAST] = (struct dft_filter_values){0};
    filter->values[DFT_FILTER_FROM] = (struct dft_filter_values){
        .count = filter->from_ns > start, .ns = filter->from_ns > start ? (int64_t)(filter->from_ns - start) : 0};
    if (filter->to_ns != UINT64_MAX)
        filter->values[DFT_FILTER_TO] = (struct dft_filter_values){.count = 1, .ns = (int64_t)(filter->to_ns - start)};
}

/* Literal paths are absolute ones: they are compared as they are. */
static void settle_files(struct dft_narrow *narrow)
{
    struct dft_filter *filter = &narrow->filter;

    if (narrow->owned & DFT_FILTER_BIT(FILE)) {
        filter->files.list = filter->values[DFT_FILTER_FILE].patterns;
        filter->files.count = filter->values[DFT_FILTER_FILE].count;
    }
}

int dft_narrow_make(struct dft_narrow *narrow, const struct dft_store *store, enum dft_table_number table,
                    const struct dft_vtab_plan *plan, sqlite3_value **values)
{
    int rc = 0, times = 0;

    *narrow = (struct dft_narrow){.filter = *store->filter};
    for (unsigned i = 0; i < plan->nterms && !rc; i++) {
        const struct dft_vtab_term *term = &plan->terms[i];
        int option = dft_vtab_option_of(table, term->column);

        if (option == DFT_FILTER_FROM) {
            times = 1;
            if (!term->is_set)
                narrow_by_time(narrow, term->op, table != DFT_TABLE_ROWS, values[i]);
        } else if (option >= 0) {
            rc = narrow_by_values(narrow, (enum dft_filter_option)option,
                                  dft_tables_at(table)->columns[term->column].type, values[i], term->is_set);
        }
    }
    if (times)
        settle_times(narrow, store->source);
    settle_files(narrow);
    return rc;
}

void dft_narrow_free(struct dft_narrow *narrow)
{
    for (int i = 0; i < DFT_FILTER_OPTIONS; i++)
        if (narrow->owned >> i & 1)
            drop(narrow, (enum dft_filter_option)i);
    narrow->owned = 0;
}
