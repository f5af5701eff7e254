/* SPDX-License-Identifier: MIT */
/* The cells of the page's tables: their values and how these are written. */
#include "summary/page_cells.h"

#include <stdio.h>

#include "base/facet_words.h"
#include "base/plot.h"
#include "base/write_text.h"

#define BAR_CELLS 10u
#define ONE_SIZE  (UINT64_C(1) << 63) /* not a class, but a number of bytes */

enum kind { NUMBER, TIME, BYTES, SHARE, BAR, PER_SECOND, BYTES_PER_SECOND, HUNDREDTHS, TIMES, SIZE_CLASS };

/* `drop`: which go first on a narrow terminal, the largest number first. */
static const struct {
    const char *title;
    enum kind kind;
    uint8_t drop;
} cells[DFT_CELLS] = {
    [DFT_CELL_FILES] = {"files", NUMBER, 4},
    [DFT_CELL_COUNT] = {"calls", NUMBER, 3},
    [DFT_CELL_ERRORS] = {"failed", NUMBER, 9},
    [DFT_CELL_TIME] = {"time", TIME, 0},
    [DFT_CELL_IN_IO] = {"in I/O", TIME, 4},
    [DFT_CELL_BUSY] = {"busy", TIME, 2},
    [DFT_CELL_IN_FLIGHT] = {"in flight", HUNDREDTHS, 8},
    [DFT_CELL_BAR] = {"", BAR, 7},
    [DFT_CELL_SHARE] = {"%", SHARE, 1},
    [DFT_CELL_WALL] = {"% of wall", SHARE, 14},
    [DFT_CELL_SELF] = {"self", TIME, 6},
    [DFT_CELL_MEAN] = {"mean", TIME, 10},
    [DFT_CELL_P50] = {"p50", TIME, 10},
    [DFT_CELL_P95] = {"p95", TIME, DFT_GRID_NICE + 1},
    [DFT_CELL_P99] = {"p99", TIME, 13},
    [DFT_CELL_MAX] = {"max", TIME, 12},
    [DFT_CELL_BYTES] = {"bytes", BYTES, 5},
    [DFT_CELL_EACH] = {"a call", BYTES, 11},
    [DFT_CELL_COMMON] = {"common size", SIZE_CLASS, DFT_GRID_NICE + 3},
    [DFT_CELL_DISTINCT] = {"distinct", BYTES, DFT_GRID_SPARE},
    [DFT_CELL_AGAIN] = {"again", TIMES, 8},
    [DFT_CELL_RATE] = {"rate", BYTES_PER_SECOND, DFT_GRID_NICE},
    [DFT_CELL_CALLS_RATE] = {"calls/s", PER_SECOND, DFT_GRID_NICE + 2},
    [DFT_CELL_PROCESSES] = {"processes", NUMBER, DFT_GRID_NICE + 4},
};

void dft_page_cell_column(const struct dft_page_table *table, enum dft_page_cell cell, struct dft_grid_column *column)
{
    const char *title = cells[cell].title;

    if (cell == DFT_CELL_TIME && table->answer->query.classes == DFT_CLASSES_IO)
        title = cells[DFT_CELL_IN_IO].title;
    if (cell == DFT_CELL_WALL && table->processes > 1)
        title = "% of processes";
    *column = (struct dft_grid_column){title, cells[cell].kind == BAR, 0, cells[cell].drop};
}

static uint64_t ratio(double value)
{
    return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

static int column_value(const struct dft_page_line *line, enum dft_column column, uint64_t *value)
{
    return dft_column_value(line->answer, line->group, column, (int64_t *)value);
}

static int metric_value(const struct dft_page_line *line, enum dft_page_cell cell, uint64_t *value)
{
    const struct dft_metrics *m = &line->group->metrics;

    *value = cell == DFT_CELL_COUNT    ? m->count
             : cell == DFT_CELL_ERRORS ? m->errors
             : cell == DFT_CELL_TIME   ? m->dur_sum
             : cell == DFT_CELL_BUSY   ? m->edge
                                       : m->bytes;
    if (cell == DFT_CELL_ERRORS)
        return m->errors != 0;
    if (cell == DFT_CELL_BUSY)
        return line->answer->has_busy;
    return cell != DFT_CELL_BYTES || m->data;
}

/* The size class that most calls requested. Where all moved what they requested, and as much: that
 * size, with ONE_SIZE. */
static int common_size(const struct dft_page_line *line, uint64_t *value)
{
    const struct dft_metrics *m = &line->group->metrics;
    int is_one = dft_metrics_knows_size_min(m) && m->size_min == m->size_max && m->asked == m->bytes &&
                 m->count == m->samples && dft_size_class(m->size_min) == line->group->common_size;

    *value = is_one ? m->size_min | ONE_SIZE : line->group->common_size;
    return line->group->common_size != 0;
}

int dft_page_cell_value(const struct dft_page_table *table, const struct dft_page_line *line, enum dft_page_cell cell,
                        uint64_t *value)
{
    const struct dft_answer *answer = line->answer;
    const struct dft_group *group = line->group;
    const struct dft_metrics *m = &group->metrics;
    uint64_t span;

    switch (cell) {
    case DFT_CELL_FILES:
        *value = line->files;
        return line->files != 0;
    case DFT_CELL_IN_FLIGHT:
        *value = answer->query.width_ns ? ratio((double)m->edge * 100 / (double)answer->query.width_ns + 0.5) : 0;
        return answer->has_busy;
    case DFT_CELL_BAR:
    case DFT_CELL_SHARE:
        return column_value(line, DFT_COLUMN_SHARE, value) && table->share_ns;
    case DFT_CELL_WALL:
        *value = m->dur_sum;
        return table->wall_ns != 0;
    case DFT_CELL_IN_IO:
        return column_value(line, DFT_COLUMN_IO, value);
    case DFT_CELL_SELF:
        *value = (uint64_t)group->self_ns;
        return answer->has_self && group->self_ns >= 0;
    case DFT_CELL_MEAN:
        return column_value(line, DFT_COLUMN_MEAN, value);
    case DFT_CELL_P50:
        return column_value(line, DFT_COLUMN_P50, value);
    case DFT_CELL_P95:
        return column_value(line, DFT_COLUMN_P95, value);
    case DFT_CELL_P99:
        return column_value(line, DFT_COLUMN_P99, value);
    case DFT_CELL_MAX:
        return column_value(line, DFT_COLUMN_TIME_MAX, value);
    case DFT_CELL_EACH:
        return column_value(line, DFT_COLUMN_A_CALL, value);
    case DFT_CELL_DISTINCT:
        *value = group->distinct_bytes;
        return group->has_distinct != 0;
    case DFT_CELL_COMMON:
        return common_size(line, value);
    case DFT_CELL_AGAIN:
        return column_value(line, DFT_COLUMN_AGAIN, value);
    case DFT_CELL_PROCESSES:
        return column_value(line, DFT_COLUMN_PROCESSES, value);
    case DFT_CELL_RATE:
        return column_value(line, DFT_COLUMN_RATE, value);
    case DFT_CELL_CALLS_RATE:
        span = line->span_ns ? line->span_ns : table->span_ns;
        *value = span ? ratio((double)m->count * 1e9 / (double)span + 0.5) : 0;
        return span != 0;
    default:
        return metric_value(line, cell, value);
    }
}

void dft_page_cell_text(const struct dft_page_table *table, enum dft_page_cell cell, uint64_t value, char *text)
{
    uint64_t all = cell == DFT_CELL_WALL ? table->wall_ns : table->share_ns;
    char number[DFT_TEXT_ROOM];

    switch (cells[cell].kind) {
    case NUMBER:
    case PER_SECOND:
        dft_text_count(text, value);
        break;
    case TIME:
        dft_text_ns(text, value);
        break;
    case BYTES:
        dft_text_bytes(text, value);
        break;
    case SHARE:
        snprintf(text, DFT_PAGE_CELL_CAPACITY, "%.1f", 100.0 * (double)value / (double)all);
        break;
    case BAR:
        dft_plot_cells(text, dft_plot_is_unicode(), value, all, BAR_CELLS);
        break;
    case BYTES_PER_SECOND:
        snprintf(text, DFT_PAGE_CELL_CAPACITY, "%s/s", dft_text_bytes(number, value));
        break;
    case SIZE_CLASS:
        if (value & ONE_SIZE)
            dft_text_bytes(text, value & ~ONE_SIZE);
        else
            dft_size_class_text(text, (uint8_t)value);
        break;
    case TIMES:
        dft_text_ratio(text, (double)value / 100);
        break;
    case HUNDREDTHS:
        snprintf(text, DFT_PAGE_CELL_CAPACITY, "%.2f", (double)value / 100);
        break;
    }
}

int dft_page_cell_is_dim(enum dft_page_cell cell, uint64_t value, uint64_t max)
{
    enum kind kind = cells[cell].kind;

    if (kind != TIME && kind != BYTES && kind != BYTES_PER_SECOND && kind != NUMBER)
        return 0;
    return value < max / 1000;
}
