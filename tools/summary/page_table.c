/* SPDX-License-Identifier: MIT */
/* The page's tables: which columns, which lines, and the sums at their end. */
#include "summary/page_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "query/file_facts.h"
#include "summary/page_cells.h"

#define KEYS  (DFT_TABLE_COLUMNS - DFT_CELLS)
#define AGAIN 105u /* hundredths: where nothing was accessed more often, there is no column of it */

/* What stands above columns: a title, with a mark where it is the column to sort by. */
struct titles {
    char list[DFT_TABLE_COLUMNS + DFT_BY_COUNT][DFT_TEXT_ROOM];
};

struct layout {
    const struct dft_page_table *table;
    unsigned nkeys; /* or 1: labels */
    unsigned label; /* the key column that says what a sum is */
    enum dft_page_cell cells[DFT_CELLS];
    uint64_t max[DFT_CELLS];
    unsigned ncells;
};

/* --- columns ---------------------------------------------------------------------------------- */

static int has_key(const struct dft_answer *answer, enum dft_by by)
{
    for (unsigned i = 0; i < answer->query.nby; i++)
        if (answer->query.by[i] == by)
            return 1;
    return 0;
}

static int is_percentile(enum dft_page_cell cell)
{
    return cell == DFT_CELL_P50 || cell == DFT_CELL_P95 || cell == DFT_CELL_P99;
}

/* Is self time other than time anywhere? */
static int self_differs(const struct dft_page_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->lines[i].answer->has_self &&
            table->lines[i].group->self_ns != (int64_t)table->lines[i].group->metrics.dur_sum)
            return 1;
    return 0;
}

/* Is a part of some line's time I/O, and a part is not? */
static int io_differs(const struct dft_page_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->lines[i].group->io_ns && table->lines[i].group->io_ns < table->lines[i].group->metrics.dur_sum)
            return 1;
    return 0;
}

/* Columns in which some line has a value; a mean only where there are no percentiles. */
static void choose_cells(struct layout *layout)
{
    const struct dft_page_table *table = layout->table;
    int percentiles = 0, by_time = has_key(table->answer, DFT_BY_TIME);

    for (int c = 0; c < DFT_CELLS; c++) {
        enum dft_page_cell cell = (enum dft_page_cell)c;
        uint64_t value, max = 0;
        int known = 0;

        for (uint32_t i = 0; i < table->count; i++)
            if (dft_page_cell_value(table, &table->lines[i], cell, &value)) {
                known = 1;
                max = value > max ? value : max;
            }
        layout->max[c] = max;
        percentiles |= known && is_percentile(cell);
        if ((cell == DFT_CELL_BUSY || cell == DFT_CELL_IN_FLIGHT) && !by_time)
            continue;
        if (!known && cell != DFT_CELL_COUNT && cell != DFT_CELL_TIME && cell != DFT_CELL_SHARE)
            continue;
        if (cell == DFT_CELL_AGAIN && max < AGAIN && !dft_order_is(table->answer, "again"))
            continue;
        if ((cell == DFT_CELL_SELF && !self_differs(table)) || (cell == DFT_CELL_IN_IO && !io_differs(table)) ||
            ((cell == DFT_CELL_FILES || cell == DFT_CELL_PROCESSES) && max < 2))
            continue;
        layout->cells[layout->ncells++] = cell;
    }
    for (unsigned i = 0; percentiles && !dft_order_is(table->answer, "mean") && i < layout->ncells; i++)
        if (layout->cells[i] == DFT_CELL_MEAN) {
            memmove(&layout->cells[i], &layout->cells[i + 1], (layout->ncells - i - 1) * sizeof layout->cells[0]);
            layout->ncells--;
        }
}

static void choose_keys(struct layout *layout, struct dft_grid_column *columns)
{
    const struct dft_answer *answer = layout->table->answer;
    int with_name = has_key(answer, DFT_BY_NAME);

    if (layout->table->label_title) {
        columns[0] = (struct dft_grid_column){layout->table->label_title, 1, DFT_GRID_PATH, 0};
        layout->nkeys = 1;
        return;
    }
    layout->nkeys = answer->query.nby < KEYS ? answer->query.nby : KEYS;
    for (unsigned i = 0; i < layout->nkeys; i++) {
        enum dft_by by = (enum dft_by)answer->query.by[i];
        int number = by == DFT_BY_RANK || by == DFT_BY_PID || by == DFT_BY_TID || by == DFT_BY_TIME;
        int is_path = (DFT_BY_FILES >> by & 1) != 0 || by == DFT_BY_LINE;
        int is_text = by == DFT_BY_REGION || by == DFT_BY_NAME || by == DFT_BY_STACK || by == DFT_BY_PROCESS;

        columns[i] = (struct dft_grid_column){by == DFT_BY_TIME ? "from" : dft_by_name(by), !number,
                                              layout->table->fits ? 0
                                              : is_path           ? DFT_GRID_PATH
                                              : is_text           ? 1
                                                                  : 0,
                                              by == DFT_BY_CAT && with_name ? 15 : 0};
        if (!columns[i].drop && columns[layout->label].drop)
            layout->label = i;
    }
}

/* Marks the column by which the lines are sorted; it is always shown. */
static void mark_sorted(const struct layout *layout, struct dft_grid_column *columns, struct titles *titles)
{
    for (unsigned i = 0; i < layout->nkeys + layout->ncells; i++) {
        int is_time =
            i >= layout->nkeys && layout->cells[i - layout->nkeys] == DFT_CELL_TIME; /* whatever it is called */

        if (!dft_order_is(layout->table->answer, columns[i].title) &&
            !(is_time && dft_order_is(layout->table->answer, "time")))
            continue;
        snprintf(titles->list[i], DFT_TEXT_ROOM, "*%s", columns[i].title);
        columns[i].title = titles->list[i];
        columns[i].drop = 0;
        return;
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A text with what belongs to it: the type of a file system, what a directory stands for. */
static int add_text_cell(struct dft_grid *grid, const struct dft_answer *answer, enum dft_by by, struct dft_text text)
{
    char *escaped = dft_text_escaped(text.bytes, text.length), *cell = NULL;
    struct dft_text type = {0};
    int rc = escaped ? 0 : -ENOMEM;

    if (by == DFT_BY_MOUNT)
        type = dft_file_facts_type(answer->files, text);
    if (!rc && type.length)
        rc = asprintf(&cell, "%s (%.*s)", escaped, (int)type.length, type.bytes) < 0 ? -ENOMEM : 0;
    else if (!rc && by == DFT_BY_FILE && dft_file_is_folded(text))
        rc = asprintf(&cell, "%s (files not told apart)", escaped) < 0 ? -ENOMEM : 0;
    if (!rc)
        rc = dft_grid_cell(grid, cell ? cell : escaped);
    free(cell);
    free(escaped);
    return rc;
}

/* "python3 4711, rank 3, loader": people know no keys of processes. */
static int add_process_cell(struct dft_grid *grid, const struct dft_process *process)
{
    struct dft_text program = dft_filter_trait(process, DFT_FILTER_PROGRAM);
    char *text = NULL, *escaped = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = out ? 0 : -ENOMEM;

    if (out) {
        fprintf(out, "%.*s %u", (int)program.length, program.length ? program.bytes : "", process->pid);
        if (process->rank >= 0)
            fprintf(out, ", rank %d", process->rank);
        if (process->role.length)
            fprintf(out, ", %.*s", (int)process->role.length, process->role.bytes);
        rc = fclose(out) ? -ENOMEM : 0;
    }
    if (!rc)
        escaped = dft_text_escaped(text + (*text == ' '), length - (*text == ' '));
    if (!rc)
        rc = escaped ? dft_grid_cell(grid, escaped) : -ENOMEM;
    free(escaped);
    free(text);
    return rc;
}

/* When a group begins, from the start of the run: the first one of a grid may begin before it. */
static double seconds_of(const struct dft_query *query, uint64_t time_ns)
{
    return time_ns > query->origin_ns ? (double)(time_ns - query->origin_ns) / 1e9 : 0;
}

static int add_key_cell(struct dft_grid *grid, const struct dft_answer *answer, const struct dft_group *group,
                        enum dft_by by)
{
    struct dft_key_value value;
    char text[DFT_TEXT_ROOM];

    if (by == DFT_BY_PROCESS && answer->process_group[group->key.process_group - 1]->known)
        return add_process_cell(grid, &answer->process_group[group->key.process_group - 1]->process);
    dft_group_value(answer, group, by, &value);
    if (value.type == DFT_KEY_NULL)
        return dft_grid_cell(grid, "-");
    if (value.type == DFT_KEY_UINT) {
        if (by == DFT_BY_TIME)
            snprintf(text, sizeof text, "%.3f s", seconds_of(&answer->query, value.number));
        else
            snprintf(text, sizeof text, "%llu", (unsigned long long)value.number);
        return dft_grid_cell(grid, text);
    }
    return add_text_cell(grid, answer, by, value.text);
}

static int add_cells(struct dft_grid *grid, const struct layout *layout, const struct dft_page_line *line)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < layout->ncells; i++) {
        enum dft_page_cell cell = layout->cells[i];
        char text[DFT_PAGE_CELL_CAPACITY] = "-";
        uint64_t value;
        int known = dft_page_cell_value(layout->table, line, cell, &value);

        if (known)
            dft_page_cell_text(layout->table, cell, value, text);
        rc = dft_grid_cell(grid, text);
        if (!rc && (!known || dft_page_cell_is_dim(cell, value, layout->max[cell])))
            dft_grid_dim(grid);
    }
    return rc;
}

static int add_line(struct dft_grid *grid, const struct layout *layout, const struct dft_page_line *line)
{
    int rc = 0;

    if (line->label)
        rc = dft_grid_cell(grid, line->label);
    for (unsigned i = 0; !rc && !line->label && i < layout->nkeys; i++)
        rc = add_key_cell(grid, line->answer, line->group, (enum dft_by)line->answer->query.by[i]);
    return rc ? rc : add_cells(grid, layout, line);
}

/* A line of sums: what is no sum is left blank. */
static int add_sums(struct dft_grid *grid, const struct layout *layout, const char *label,
                    const struct dft_totals *sums)
{
    struct dft_group group = {.metrics = {.count = sums->count,
                                          .errors = sums->errors,
                                          .dur_sum = sums->time_ns,
                                          .bytes = sums->bytes,
                                          .data = sums->bytes != 0}};
    struct dft_answer answer = {.source = layout->table->answer->source};
    struct dft_page_line line = {.answer = &answer, .group = &group};
    int rc = 0;

    for (unsigned i = 0; !rc && i < layout->nkeys; i++)
        rc = dft_grid_cell(grid, i == layout->label ? label : "");
    for (unsigned i = 0; !rc && i < layout->ncells; i++) {
        enum dft_page_cell cell = layout->cells[i];
        int is_sum = cell == DFT_CELL_COUNT || cell == DFT_CELL_ERRORS || cell == DFT_CELL_TIME ||
                     cell == DFT_CELL_SHARE || cell == DFT_CELL_WALL || cell == DFT_CELL_BYTES ||
                     cell == DFT_CELL_BAR || cell == DFT_CELL_CALLS_RATE || cell == DFT_CELL_RATE;
        char text[DFT_PAGE_CELL_CAPACITY] = "";
        uint64_t value;

        if (is_sum && dft_page_cell_value(layout->table, &line, cell, &value))
            dft_page_cell_text(layout->table, cell, value, text);
        rc = dft_grid_cell(grid, text);
    }
    return rc;
}

static struct dft_totals less(const struct dft_totals *a, const struct dft_totals *b)
{
    return (struct dft_totals){a->count - b->count, a->errors - b->errors, a->time_ns - b->time_ns,
                               a->bytes - b->bytes};
}

/* What all lines together lack of the whole, and the whole. */
static int add_end(struct dft_grid *grid, const struct layout *layout)
{
    const struct dft_page_table *table = layout->table;
    struct dft_totals rest;
    int rc = 0;

    if (!table->all)
        return 0;
    rest = less(table->all, &table->before);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct dft_metrics *m = &table->lines[i].group->metrics;

        rest = less(&rest, &(struct dft_totals){m->count, m->errors, m->dur_sum, m->bytes});
    }
    if (rest.count)
        rc = add_sums(grid, layout, table->rest, &rest);
    if (!rc && table->total && table->count + (rest.count != 0) > 1)
        rc = add_sums(grid, layout, table->total, table->all);
    return rc;
}

int dft_page_table(const struct dft_page_table *table)
{
    struct dft_grid_column columns[DFT_TABLE_COLUMNS + DFT_BY_COUNT] = {0};
    struct layout layout = {.table = table};
    struct titles titles;
    struct dft_grid *grid;
    int rc = 0;

    choose_keys(&layout, columns);
    choose_cells(&layout);
    for (unsigned i = 0; i < layout.ncells; i++)
        dft_page_cell_column(table, layout.cells[i], &columns[layout.nkeys + i]);
    mark_sorted(&layout, columns, &titles);
    grid = dft_grid_create(columns, layout.nkeys + layout.ncells);
    if (!grid)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < table->count; i++)
        rc = add_line(grid, &layout, &table->lines[i]);
    if (!rc)
        rc = add_end(grid, &layout);
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc;
}

/* A line has a common size where all its files have the same. */
void dft_page_add_group(struct dft_group *line, const struct dft_group *group)
{
    if (!line->metrics.data)
        line->common_size = group->common_size;
    else if (group->metrics.data && line->common_size != group->common_size)
        line->common_size = DFT_SIZE_CLASS_NONE;
    dft_metrics_merge(&line->metrics, &group->metrics);
}

struct dft_page_line *dft_page_lines(const struct dft_answer *answer, uint64_t share_ns, uint32_t *count)
{
    struct dft_page_line *lines = calloc(answer->count + 1u, sizeof *lines);

    *count = 0;
    for (uint32_t i = 0; lines && i < answer->count; i++)
        if (!share_ns || answer->groups[i].metrics.dur_sum >= share_ns / 1000)
            lines[(*count)++] = (struct dft_page_line){.answer = answer, .group = &answer->groups[i]};
    return lines;
}
