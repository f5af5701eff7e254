/* SPDX-License-Identifier: MIT */
/* Tables of a comparison in text; and how changes are written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/compare_words.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "compare/compare_match.h"
#include "compare/comparison.h"

#define TOP          10
#define TIME_LEAST   100 /* of a unit, that the largest of a column has at least */
#define BYTES_LEAST  10
#define BEYOND_LEAST 5u /* calls that take longer than a percentile; of fewer it is chance */

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
const char *dft_change_ns(char *buffer, const struct dft_change *change)
{
    char text[DFT_TEXT_ROOM];

    if (dft_change_size(change))
        snprintf(buffer, DFT_TEXT_ROOM, "%c%.24s", dft_change_is_up(change) ? '+' : '-',
                 dft_text_ns(text, dft_change_size(change)));
    else
        strcpy(buffer, "-");
    return buffer;
}

/* As dft_text_change has it; "?": it is unknown. */
const char *dft_change_percent(char *text, const struct dft_change *change)
{
    if (change->unsaid)
        strcpy(text, "?");
    else if (!change->known[0] || !change->known[1])
        strcpy(text, change->known[0] ? "gone" : change->known[1] ? "new" : "-");
    else
        dft_text_change(text, change->value[0], change->value[1]);
    return text;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* One unit for all numbers of a kind: so large that the largest of them still has a digit or two
 * behind the point, and four before it at most. */
struct unit {
    const char *name;
    double size;
    int decimals;
};

static const struct unit times[] = {{"ns", 1, 0}, {"us", 1e3, 1}, {"ms", 1e6, 1}, {"s", 1e9, 1}};
static const struct unit sizes[] = {{"B", 1, 0}, {"KiB", 1024, 1}, {"MiB", 1048576, 1}, {"GiB", 1073741824, 1}};
#define UNITS 4

static const struct unit *unit_of(const struct unit *units, double largest, double least)
{
    unsigned i = 0;

    while (i + 1 < UNITS && largest >= least * units[i + 1].size)
        i++;
    return &units[i];
}

static uint64_t largest_of(const struct dft_compared_items *items, uint32_t top, enum dft_measure measure)
{
    uint64_t largest = 0;

    for (uint32_t i = 0; i < top; i++)
        for (int side = 0; side < 2; side++) {
            uint64_t value = items->items[items->order[i]].changes[measure].high[side];

            largest = value > largest ? value : largest;
        }
    return largest;
}

/* "3,069.8" */
static const char *in_unit(char *text, const struct unit *unit, uint64_t value)
{
    double number = (double)value / unit->size;
    uint64_t whole = unit->decimals ? (uint64_t)(number * 10 + 0.5) / 10 : value;

    dft_text_count(text, whole);
    if (unit->decimals)
        snprintf(text + strlen(text), 3, ".%u", (unsigned)((uint64_t)(number * 10 + 0.5) % 10));
    return text;
}

/* The units of a table's columns. */
struct units {
    const struct unit *time, *bytes;
};

/* "1,000", or "1,000 -> 1,200" where it changed; "-" for nothing. `unit` NULL: a count. */
static int add_both(struct dft_grid *grid, const struct dft_change *change, const struct unit *unit)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], both[2 * DFT_TEXT_ROOM + 8];

    if (!change->value[0] && !change->value[1])
        return dft_grid_cell(grid, "-");
    if (unit) {
        in_unit(a, unit, change->value[0]);
        in_unit(b, unit, change->value[1]);
    } else {
        dft_text_count(a, change->value[0]);
        dft_text_count(b, change->value[1]);
    }
    snprintf(both, sizeof both, "%s -> %s", a, b);
    return dft_grid_cell(grid, strcmp(a, b) ? both : a);
}

static int add_label(struct dft_grid *grid, const struct dft_comparison *comparison, enum dft_compared table,
                     const struct dft_item *item)
{
    char buffer[18], *plain = NULL, *text;
    struct dft_text label;
    int rc;

    if (table == DFT_COMPARED_RANKS)
        return dft_grid_cell(grid, comparison->rank_groups[item->key.process_group - 1].label);
    if (table == DFT_COMPARED_FILES) {
        if (dft_compare_pattern(comparison, item->key.file, &plain, &label.length))
            return -ENOMEM;
        label.bytes = plain;
    } else {
        label = dft_compare_text(comparison, item->key.name, buffer);
    }
    text = dft_text_escaped(label.bytes, label.length);
    rc = text ? dft_grid_cell(grid, text) : -ENOMEM;
    free(text);
    free(plain);
    return rc;
}

static int add_time(struct dft_grid *grid, const struct unit *unit, uint64_t ns)
{
    char text[DFT_TEXT_ROOM];

    return dft_grid_cell(grid, ns ? in_unit(text, unit, ns) : "-");
}

/* "1.2 - 1.5": how far repetitions differ */
static int add_range(struct dft_grid *grid, const struct unit *unit, const struct dft_change *change, int side)
{
    char low[DFT_TEXT_ROOM], high[DFT_TEXT_ROOM], text[2 * DFT_TEXT_ROOM + 8];

    if (change->low[side] == change->high[side])
        return dft_grid_cell(grid, "");
    snprintf(text, sizeof text, "%s - %s", in_unit(low, unit, change->low[side]),
             in_unit(high, unit, change->high[side]));
    return dft_grid_cell(grid, text);
}

static int add_change(struct dft_grid *grid, const struct unit *unit, const struct dft_change *change)
{
    char number[DFT_TEXT_ROOM], text[DFT_TEXT_ROOM + 2];

    if (!dft_change_size(change))
        return dft_grid_cell(grid, "-");
    snprintf(text, sizeof text, "%c%s", dft_change_is_up(change) ? '+' : '-',
             in_unit(number, unit, dft_change_size(change)));
    return dft_grid_cell(grid, text);
}

/* Blank where it is within the spread, and where a few calls alone make the percentile: what is left to read is what
 * matters. */
static int add_percentile(struct dft_grid *grid, const struct dft_item *item, enum dft_measure measure)
{
    static const uint8_t beyond[] = {[DFT_MEASURE_P50] = 50, [DFT_MEASURE_P95] = 5, [DFT_MEASURE_P99] = 1};
    const struct dft_change *change = &item->changes[measure], *count = &item->changes[DFT_MEASURE_COUNT];
    uint64_t calls = count->value[0] < count->value[1] ? count->value[0] : count->value[1];
    char text[DFT_TEXT_ROOM];
    int is_within = change->spread == DFT_SPREAD_WITHIN || change->spread == DFT_SPREAD_SAME;

    is_within |= calls * beyond[measure] < BEYOND_LEAST * 100;
    return dft_grid_cell(grid, is_within ? "" : dft_change_percent(text, change));
}

static int add_line(struct dft_grid *grid, const struct dft_comparison *comparison, enum dft_compared table,
                    const struct dft_item *item, const struct units *units)
{
    static const char *const spreads[] = {
        [DFT_SPREAD_SAME] = "", [DFT_SPREAD_BEYOND] = "beyond", [DFT_SPREAD_WITHIN] = "", [DFT_SPREAD_UNKNOWN] = "?"};
    const struct dft_change *changes = item->changes, *time = &changes[DFT_MEASURE_TIME];
    char text[DFT_TEXT_ROOM];
    int rc = add_label(grid, comparison, table, item);

    if (!rc)
        rc = add_both(grid, &changes[DFT_MEASURE_COUNT], NULL);
    for (int side = 0; !rc && side < 2; side++) {
        rc = add_time(grid, units->time, time->value[side]);
        if (!rc && dft_compared_is_repeated(comparison))
            rc = add_range(grid, units->time, time, side);
    }
    if (!rc)
        rc = add_change(grid, units->time, time);
    if (!rc)
        rc = dft_grid_cell(grid, dft_change_percent(text, time));
    if (!rc)
        rc = dft_grid_cell(grid, spreads[time->spread]);
    for (int m = DFT_MEASURE_P50; !rc && m <= DFT_MEASURE_P99; m++)
        rc = add_percentile(grid, item, (enum dft_measure)m);
    return rc ? rc : add_both(grid, &changes[DFT_MEASURE_BYTES], units->bytes);
}

/* Columns of a table; titles of those with a unit lie in `titles`. Returns how many. */
static unsigned make_columns(const struct dft_comparison *comparison, const char *first, int is_path,
                             const struct units *units, struct dft_grid_column *columns, char titles[4][16])
{
    int is_repeated = dft_compared_is_repeated(comparison);
    unsigned n = 0;

    snprintf(titles[0], sizeof titles[0], "A, %s", units->time->name);
    snprintf(titles[1], sizeof titles[1], "B, %s", units->time->name);
    snprintf(titles[2], sizeof titles[2], "change, %s", units->time->name);
    snprintf(titles[3], sizeof titles[3], "bytes, %s", units->bytes->name);
    columns[n++] = (struct dft_grid_column){first, 1, is_path ? DFT_GRID_PATH : 1, 0};
    columns[n++] = (struct dft_grid_column){"calls", 0, 0, 2};
    for (int side = 0; side < 2; side++) {
        columns[n++] = (struct dft_grid_column){titles[side], 0, 0, 0};
        if (is_repeated)
            columns[n++] = (struct dft_grid_column){side ? "runs of B" : "runs of A", 0, 0, DFT_GRID_SPARE};
    }
    columns[n++] = (struct dft_grid_column){titles[2], 0, 0, 1};
    columns[n++] = (struct dft_grid_column){"%", 0, 0, 0};
    columns[n++] = (struct dft_grid_column){"spread", 1, 0, 0};
    columns[n++] = (struct dft_grid_column){"p50", 0, 0, 9};
    columns[n++] = (struct dft_grid_column){"p95", 0, 0, 10};
    columns[n++] = (struct dft_grid_column){"p99", 0, 0, 8};
    columns[n++] = (struct dft_grid_column){titles[3], 0, 0, 11};
    return n;
}

int dft_compare_table(const struct dft_comparison *comparison, enum dft_compared table, const char *title,
                      const char *first)
{
    const struct dft_compared_items *items = &comparison->tables[table];
    uint32_t top = comparison->runs[0].options.top ? (uint32_t)comparison->runs[0].options.top : TOP;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], titles[4][16];
    struct dft_grid_column columns[DFT_TABLE_COLUMNS];
    struct units units;
    struct dft_grid *grid;
    int rc = 0;

    if (!items->count)
        return 0;
    top = top < items->count ? top : items->count;
    units.time = unit_of(times, (double)largest_of(items, top, DFT_MEASURE_TIME), TIME_LEAST);
    units.bytes = unit_of(sizes, (double)largest_of(items, top, DFT_MEASURE_BYTES), BYTES_LEAST);
    grid =
        dft_grid_create(columns, make_columns(comparison, first, table == DFT_COMPARED_FILES, &units, columns, titles));
    if (!grid)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < top; i++)
        rc = add_line(grid, comparison, table, &items->items[items->order[i]], &units);
    if (!rc) {
        putchar('\n');
        if (top < items->count)
            dft_print_wrapped("%s (the first %s of %s)", title, dft_text_count(a, top),
                              dft_text_count(b, items->count));
        else
            puts(title);
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return rc;
}
