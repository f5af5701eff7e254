/* SPDX-License-Identifier: MIT */
/* Tables of a comparison in text; and how changes are written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/compare_words.h"
#include "base/write_text.h"

#define TOP 10

uint64_t dft_change_size(const struct dft_change *change)
{
    uint64_t a = change->value[0], b = change->value[1];

    return a > b ? a - b : b - a;
}

int dft_change_is_up(const struct dft_change *change)
{
    return change->value[1] > change->value[0];
}

/* "+12.1 s" */
const char *dft_change_ns(char *capacity, const struct dft_change *change)
{
    char text[DFT_TEXT_ROOM];

    if (dft_change_size(change))
        snprintf(capacity, DFT_TEXT_ROOM, "%c%.24s", dft_change_is_up(change) ? '+' : '-',
                 dft_text_ns(text, dft_change_size(change)));
    else
        strcpy(capacity, "-");
    return capacity;
}

/* "+23 %", "new", "gone", "-", "?" */
const char *dft_change_percent(char *capacity, const struct dft_change *change)
{
    double a = (double)change->value[0], part = a ? 100.0 * (double)dft_change_size(change) / a : 0;

    if (change->unsaid)
        strcpy(capacity, "?");
    else if (!change->known[0] || !change->known[1])
        strcpy(capacity, change->known[0] ? "gone" : change->known[1] ? "new" : "-");
    else if (!dft_change_size(change))
        strcpy(capacity, "-");
    else if (!change->value[0])
        strcpy(capacity, "new");
    else if (!change->value[1])
        strcpy(capacity, "gone");
    else if (part >= 1000)
        snprintf(capacity, DFT_TEXT_ROOM, "x%.*f", part < 9900 ? 1 : 0, (double)change->value[1] / a);
    else
        snprintf(capacity, DFT_TEXT_ROOM, "%c%.*f %%", dft_change_is_up(change) ? '+' : '-', part < 9.95 ? 1 : 0, part);
    return capacity;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* "1,000", or "1,000 -> 1,200" where it changed. */
static int add_both(struct dft_grid *grid, const struct dft_change *change, const char *(*text)(char *, uint64_t))
{
    char capacity[DFT_TEXT_ROOM], both[2 * DFT_TEXT_ROOM + 8];

    if (!change->value[0] && !change->value[1])
        return dft_grid_cell(grid, "-");
    if (!dft_change_size(change))
        return dft_grid_cell(grid, text(capacity, change->value[0]));
    strcpy(both, text(capacity, change->value[0]));
    strcat(both, " -> ");
    strcat(both, text(capacity, change->value[1]));
    return dft_grid_cell(grid, both);
}

static int add_label(struct dft_grid *grid, const struct dft_comparison *comparison, enum dft_compared table,
                     const struct dft_item *item)
{
    char capacity[18], *plain = NULL, *text;
    struct dft_text label;
    int rc;

    if (table == DFT_COMPARED_RANKS)
        return dft_grid_cell(grid, comparison->rank_groups[item->key.process_group - 1].label);
    if (table == DFT_COMPARED_FILES) {
        if (dft_compare_pattern(comparison, item->key.file, &plain, &label.length))
            return -ENOMEM;
        label.bytes = plain;
    } else {
        label = dft_compare_text(comparison, item->key.name, capacity);
    }
    text = dft_text_escaped(label.bytes, label.length);
    rc = text ? dft_grid_cell(grid, text) : -ENOMEM;
    free(text);
    free(plain);
    return rc;
}

static int add_time(struct dft_grid *grid, uint64_t ns)
{
    char capacity[DFT_TEXT_ROOM];

    return dft_grid_cell(grid, ns ? dft_text_ns(capacity, ns) : "-");
}

static int add_line(struct dft_grid *grid, const struct dft_comparison *comparison, enum dft_compared table,
                    const struct dft_item *item)
{
    static const char *const spreads[] = {[DFT_SPREAD_SAME] = "same",
                                          [DFT_SPREAD_BEYOND] = "beyond",
                                          [DFT_SPREAD_WITHIN] = "within",
                                          [DFT_SPREAD_UNKNOWN] = "?"};
    const struct dft_change *changes = item->changes, *time = &changes[DFT_MEASURE_TIME];
    char capacity[DFT_TEXT_ROOM];
    int rc = add_label(grid, comparison, table, item);

    if (!rc)
        rc = add_both(grid, &changes[DFT_MEASURE_COUNT], dft_text_count);
    if (!rc)
        rc = add_time(grid, time->value[0]);
    if (!rc)
        rc = add_time(grid, time->value[1]);
    if (!rc)
        rc = dft_grid_cell(grid, dft_change_ns(capacity, time));
    if (!rc)
        rc = dft_grid_cell(grid, dft_change_percent(capacity, time));
    if (!rc)
        rc = dft_grid_cell(grid, spreads[time->spread]);
    for (int m = DFT_MEASURE_P50; !rc && m <= DFT_MEASURE_P99; m++)
        rc = dft_grid_cell(grid, changes[m].spread == DFT_SPREAD_WITHIN ? "within"
                                                                        : dft_change_percent(capacity, &changes[m]));
    return rc ? rc : add_both(grid, &changes[DFT_MEASURE_BYTES], dft_text_bytes);
}

int dft_compare_table(const struct dft_comparison *comparison, enum dft_compared table, const char *title,
                      const char *first)
{
    const struct dft_grid_column columns[] = {{first, 1, 1, 0},    {"calls", 0, 0, 0},  {"time A", 0, 0, 0},
                                              {"time B", 0, 0, 0}, {"change", 0, 0, 0}, {"%", 0, 0, 0},
                                              {"spread", 1, 0, 0}, {"p50", 0, 0, 2},    {"p95", 0, 0, 3},
                                              {"p99", 0, 0, 1},    {"bytes", 0, 0, 4}};
    const struct dft_compared_items *items = &comparison->tables[table];
    uint32_t top = comparison->runs[0].options.top ? (uint32_t)comparison->runs[0].options.top : TOP;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_grid *grid;
    int rc = 0;

    if (!items->count)
        return 0;
    grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    if (!grid)
        return -ENOMEM;
    top = top < items->count ? top : items->count;
    for (uint32_t i = 0; !rc && i < top; i++)
        rc = add_line(grid, comparison, table, &items->items[items->order[i]]);
    if (!rc) {
        printf("\n%s", title);
        if (top < items->count)
            printf(" (the first %s of %s)", dft_text_count(a, top), dft_text_count(b, items->count));
        putchar('\n');
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return rc;
}
