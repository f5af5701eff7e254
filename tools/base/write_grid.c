/* SPDX-License-Identifier: MIT */
/* Tables in text. Cells are collected and columns are aligned. Columns are left out, and those that
 * may shrink are cut, until a line fits the terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"

#define GAP 2u

/* How narrow a column that may shrink gets before other columns are left out: those that are nice to
 * have, details, all that may be, and at last none any more. */
static const struct {
    uint8_t width, from;
} squeezes[] = {{40, DFT_GRID_NICE}, {26, 8}, {16, 1}, {6, 1}};
#define SQUEEZES (sizeof squeezes / sizeof *squeezes)

struct dft_grid {
    struct dft_grid_column columns[DFT_TABLE_COLUMNS];
    size_t widths[DFT_TABLE_COLUMNS];
    uint8_t hidden[DFT_TABLE_COLUMNS];
    unsigned count;
    struct cell {
        char *text;
        int is_dim;
    } * cells;
    size_t ncells, capacity;
    struct line {
        char *text;
        size_t ncells; /* number of cells so far: the line stands behind the row that they end */
    } * lines;
    size_t nlines;
};

struct dft_grid *dft_grid_create(const struct dft_grid_column *columns, unsigned count)
{
    struct dft_grid *grid = calloc(1, sizeof *grid);

    if (!grid)
        return NULL;
    grid->count = count < DFT_TABLE_COLUMNS ? count : DFT_TABLE_COLUMNS;
    memcpy(grid->columns, columns, grid->count * sizeof *columns);
    return grid;
}

void dft_grid_destroy(struct dft_grid *grid)
{
    if (!grid)
        return;
    for (size_t i = 0; i < grid->ncells; i++)
        free(grid->cells[i].text);
    for (size_t i = 0; i < grid->nlines; i++)
        free(grid->lines[i].text);
    free(grid->lines);
    free(grid->cells);
    free(grid);
}

int dft_grid_cell(struct dft_grid *grid, const char *text)
{
    if (DFT_ARRAY_RESERVE(grid->cells, grid->capacity, grid->ncells + 1))
        return -ENOMEM;
    grid->cells[grid->ncells] = (struct cell){strdup(text), 0};
    return grid->cells[grid->ncells].text ? (grid->ncells++, 0) : -ENOMEM;
}

void dft_grid_dim(struct dft_grid *grid)
{
    if (grid->ncells)
        grid->cells[grid->ncells - 1].is_dim = 1;
}

int dft_grid_line(struct dft_grid *grid, const char *text)
{
    struct line *bigger = reallocarray(grid->lines, grid->nlines + 1, sizeof *bigger);

    if (!bigger)
        return -ENOMEM;
    grid->lines = bigger;
    bigger[grid->nlines] = (struct line){strdup(text), grid->ncells};
    return bigger[grid->nlines].text ? (grid->nlines++, 0) : -ENOMEM;
}

static size_t total_width(const struct dft_grid *grid)
{
    size_t all = 0;

    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c])
            all += grid->widths[c] + (all ? GAP : 0);
    return all;
}

/* Finds how narrow the table can be, with all columns shrunk to `least` that may shrink. */
static size_t least_width(const struct dft_grid *grid, size_t least)
{
    size_t all = total_width(grid);

    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c] && grid->columns[c].shrink && grid->widths[c] > least)
            all -= grid->widths[c] - least;
    return all;
}

/* Of the columns that are left out from `from` on. */
static int hide_one(struct dft_grid *grid, uint8_t from)
{
    unsigned worst = grid->count;

    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c] && grid->columns[c].drop >= from &&
            (worst == grid->count || grid->columns[c].drop > grid->columns[worst].drop))
            worst = c;
    if (worst == grid->count)
        return 0;
    grid->hidden[worst] = 1;
    return 1;
}

static void measure_cells(struct dft_grid *grid)
{
    for (unsigned c = 0; c < grid->count; c++) {
        grid->widths[c] = dft_text_columns(grid->columns[c].title);
        for (size_t i = c; i < grid->ncells; i += grid->count) {
            size_t width = dft_text_columns(grid->cells[i].text);

            if (width > grid->widths[c])
                grid->widths[c] = width;
        }
    }
}

/* Where nothing else fits, the last two columns that are shown. */
static void hide_first(struct dft_grid *grid, size_t limit)
{
    unsigned shown = 0;

    for (unsigned c = 0; c < grid->count; c++)
        shown += !grid->hidden[c];
    for (unsigned c = 0; c < grid->count && shown > 2 && total_width(grid) > limit; c++) {
        shown -= !grid->hidden[c];
        grid->hidden[c] = 1;
    }
}

static void measure(struct dft_grid *grid)
{
    size_t all, limit = dft_terminal_width(), step = 0;

    measure_cells(grid);
    for (unsigned c = 0; c < grid->count; c++)
        grid->hidden[c] |= grid->columns[c].drop == DFT_GRID_SPARE && total_width(grid) > limit;
    for (; step < SQUEEZES && least_width(grid, squeezes[step].width) > limit; step++)
        while (least_width(grid, squeezes[step].width) > limit && hide_one(grid, squeezes[step].from))
            ;
    step -= step == SQUEEZES;
    all = total_width(grid);
    for (unsigned c = 0; c < grid->count && all > limit; c++) {
        size_t least = grid->widths[c] < squeezes[step].width ? grid->widths[c] : squeezes[step].width;
        size_t over = all - limit, give = grid->widths[c] - least;

        if (!grid->columns[c].shrink || grid->hidden[c])
            continue;
        give = give < over ? give : over;
        grid->widths[c] -= give;
        all -= give;
    }
    hide_first(grid, limit);
}

/* Counts the bytes of the first n columns of a text. */
static size_t bytes_of(const char *text, size_t n)
{
    size_t i = 0;

    for (;; i++) {
        if (((unsigned char)text[i] & 0xc0) == 0x80)
            continue;
        if (!text[i] || !n--)
            return i;
    }
}

/* The end of a text says more than its beginning. A third of the width is for the beginning, then
 * follow "..." and the end. */
static void print_cut(FILE *out, const char *text, size_t width)
{
    size_t all = dft_text_columns(text), head = (width - 3) / 3, tail = width - 3 - head;

    fwrite(text, 1, bytes_of(text, head), out);
    fputs("...", out);
    fputs(text + bytes_of(text, all - tail), out);
}

/* Of a path whole components: as many of the last ones as there is room for behind "...". */
static void print_path(FILE *out, const char *text, size_t width)
{
    const char *tail = text;

    while (tail && dft_text_columns(tail) + 3 > width)
        tail = strchr(tail + 1, '/');
    if (!tail)
        print_cut(out, text, width);
    else
        fprintf(out, "...%s", tail);
}

static void print_cell(FILE *out, const char *text, const struct dft_grid_column *column, size_t width, int last)
{
    size_t n = dft_text_columns(text);

    if (n > width && width > 4) {
        char *cut = NULL;
        size_t size;
        FILE *part = open_memstream(&cut, &size);

        if (!part)
            return;
        (column->shrink == DFT_GRID_PATH ? print_path : print_cut)(part, text, width);
        if (!fclose(part))
            fprintf(out, "%s%*s", cut, last ? 0 : (int)(width - dft_text_columns(cut)), "");
        free(cut);
        return;
    }
    if (!column->left)
        fprintf(out, "%*s", (int)(width - (n < width ? n : width)), "");
    fputs(text, out);
    if (column->left && !last)
        fprintf(out, "%*s", (int)(width - (n < width ? n : width)), "");
}

static void print_row(const struct dft_grid *grid, FILE *out, const struct cell *cells, int colour)
{
    unsigned last = 0;
    int first = 1;

    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c] && (!cells || *cells[c].text))
            last = c;
    for (unsigned c = 0; c <= last; c++) {
        int is_dim = colour && cells && cells[c].is_dim;

        if (grid->hidden[c])
            continue;
        fprintf(out, "%*s%s", first ? 0 : (int)GAP, "", is_dim ? "\033[2m" : "");
        print_cell(out, cells ? cells[c].text : grid->columns[c].title, &grid->columns[c], grid->widths[c], c == last);
        fputs(is_dim ? "\033[22m" : "", out);
        first = 0;
    }
}

void dft_grid_print(struct dft_grid *grid, FILE *out)
{
    int colour = out == stdout && dft_terminal_colour();
    size_t line = 0;

    measure(grid);
    fputs(colour ? "\033[1m" : "", out);
    print_row(grid, out, NULL, 0);
    fputs(colour ? "\033[0m\n" : "\n", out);
    for (size_t i = 0; i + grid->count <= grid->ncells; i += grid->count) {
        print_row(grid, out, grid->cells + i, colour);
        putc('\n', out);
        for (; line < grid->nlines && grid->lines[line].ncells == i + grid->count; line++)
            fprintf(out, "%s\n", grid->lines[line].text);
    }
}
