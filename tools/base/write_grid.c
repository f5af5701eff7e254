/* SPDX-License-Identifier: MIT */
/* Tables in text. Cells are collected and columns are aligned. Columns are left out, and those that
 * may shrink are cut, until a line fits the terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_cut.h"
#include "base/write_text.h"

#define GAP 2u
#define KEY 16u

/* How narrow a column that may shrink gets before other columns are left out: those that are nice
 * to have, details, all that may be, and at last none any more. */
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
        char *text, *cut; /* cut: where it is too long, once it is printed */
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
        free(grid->cells[i].text), free(grid->cells[i].cut);
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
    grid->cells[grid->ncells] = (struct cell){.text = strdup(text)};
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

/* Hides one of the columns that are left out from `from` on. */
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

            if (width > grid->widths[c] && grid->columns[c].shrink != DFT_GRID_WHOLE)
                grid->widths[c] = width;
        }
    }
}

/* The column that says what a row is about: the first text that may be cut, else the first
 * column. */
static unsigned key_column(const struct dft_grid *grid)
{
    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c] && grid->columns[c].shrink)
            return c;
    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c])
            return c;
    return 0;
}

/* Where nothing else fits, the key and the last column that are shown. */
static void hide_first(struct dft_grid *grid, size_t limit)
{
    unsigned shown = 0, key = key_column(grid);

    for (unsigned c = 0; c < grid->count; c++)
        shown += !grid->hidden[c];
    for (unsigned c = 0; c < grid->count && shown > 2 && total_width(grid) > limit; c++) {
        if (c == key || grid->hidden[c])
            continue;
        shown--;
        grid->hidden[c] = 1;
    }
}

/* What a row is about comes before its numbers: other columns go before the key is cut to less
 * than KEY columns; and it takes what room they leave. */
static void widen_key(struct dft_grid *grid, size_t limit, const size_t *full)
{
    unsigned key = key_column(grid);
    size_t narrow = grid->widths[key], least = full[key] < KEY ? full[key] : KEY, all;

    if (narrow < least)
        grid->widths[key] = least;
    hide_first(grid, limit);
    all = total_width(grid);
    if (all > limit && narrow < least) {
        grid->widths[key] = narrow;
        all = total_width(grid);
    }
    if (all < limit)
        grid->widths[key] += limit - all < full[key] - grid->widths[key] ? limit - all : full[key] - grid->widths[key];
}

static void measure(struct dft_grid *grid)
{
    size_t all, limit = dft_terminal_width(), step = 0, full[DFT_TABLE_COLUMNS];

    measure_cells(grid);
    memcpy(full, grid->widths, sizeof full);
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
    widen_key(grid, limit, full);
}

/* --- cuts ------------------------------------------------------------------------------------- */

static int by_cut(const void *left, const void *right)
{
    const struct cell *a = *(struct cell *const *)left, *b = *(struct cell *const *)right;
    int order = strcmp(a->cut, b->cut);

    return order ? order : strcmp(a->text, b->text);
}

static size_t common(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

static int is_same_cut(const struct cell *a, const struct cell *b)
{
    return !strcmp(a->cut, b->cut) && strcmp(a->text, b->text) != 0;
}

/* Different texts that look the same still stay whole. Texts are sorted by their cuts. */
static void leave_uncut(struct cell **cells, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        int differ = 0;

        for (to = from + 1; to < count && !strcmp(cells[from]->cut, cells[to]->cut); to++)
            differ |= strcmp(cells[from]->text, cells[to]->text) != 0;
        for (size_t i = from; differ && i < to; i++) {
            free(cells[i]->cut);
            cells[i]->cut = NULL;
        }
    }
}

/* Different texts that were cut to the same one show where they differ. */
static void tell_apart(struct cell **cells, size_t count, size_t width)
{
    char **apart = calloc(count, sizeof *apart);

    qsort(cells, count, sizeof(struct cell *), by_cut);
    for (size_t i = 0; apart && i < count; i++) {
        const char *other = NULL;

        for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < count; k++)
            if (is_same_cut(cells[k], cells[i]) &&
                (!other || common(cells[k]->text, cells[i]->text) > common(other, cells[i]->text)))
                other = cells[k]->text;
        apart[i] = other ? dft_text_cut_apart(cells[i]->text, other, width) : NULL;
    }
    for (size_t i = 0; apart && i < count; i++)
        if (apart[i]) {
            free(cells[i]->cut);
            cells[i]->cut = apart[i];
        }
    free(apart);
    qsort(cells, count, sizeof(struct cell *), by_cut);
    leave_uncut(cells, count);
}

/* Cuts the texts of a column that are too long. What cannot be cut for want of memory stays as it
 * is. */
static void cut_column(struct dft_grid *grid, unsigned column)
{
    size_t width = grid->columns[column].shrink == DFT_GRID_WHOLE ? SIZE_MAX : grid->widths[column], count = 0;
    struct cell **cut = calloc(grid->ncells / grid->count + 1, sizeof(struct cell *));

    for (size_t i = column; cut && width > 4 && i < grid->ncells; i += grid->count) {
        struct cell *cell = &grid->cells[i];

        if (dft_text_columns(cell->text) <= width)
            continue;
        free(cell->cut);
        cell->cut = dft_text_cut(cell->text, width, grid->columns[column].shrink == DFT_GRID_PATH);
        if (cell->cut)
            cut[count++] = cell;
    }
    if (count > 1)
        tell_apart(cut, count, width);
    free(cut);
}

static void print_cell(FILE *out, const char *text, int left, size_t width, int last)
{
    size_t n = dft_text_columns(text);

    if (!left)
        fprintf(out, "%*s", (int)(width - (n < width ? n : width)), "");
    fputs(text, out);
    if (left && !last)
        fprintf(out, "%*s", (int)(width - (n < width ? n : width)), "");
}

static void print_row(const struct dft_grid *grid, FILE *out, const struct cell *cells, int colour)
{
    unsigned last = 0;
    int first = 1;

    for (unsigned c = 0; c < grid->count; c++)
        if (!grid->hidden[c] && cells[c].text && *cells[c].text) /* a title without memory has none */
            last = c;
    for (unsigned c = 0; c <= last; c++) {
        int is_dim = colour && cells[c].is_dim;

        if (grid->hidden[c])
            continue;
        fprintf(out, "%*s%s", first ? 0 : (int)GAP, "", is_dim ? "\033[2m" : "");
        print_cell(out, cells[c].cut ? cells[c].cut : cells[c].text, grid->columns[c].left, grid->widths[c], c == last);
        fputs(is_dim ? "\033[22m" : "", out);
        first = 0;
    }
}

static void print_titles(const struct dft_grid *grid, FILE *out)
{
    struct cell titles[DFT_TABLE_COLUMNS] = {0};
    char none[] = "";

    for (unsigned c = 0; c < grid->count; c++) {
        size_t width = grid->widths[c];
        const char *title = grid->columns[c].title;

        titles[c].text = width > 4 ? dft_text_fit(title, width, 0) : strdup(title);
        titles[c].cut = titles[c].text ? NULL : none;
    }
    print_row(grid, out, titles, 0);
    for (unsigned c = 0; c < grid->count; c++)
        free(titles[c].text);
}

void dft_grid_print(struct dft_grid *grid, FILE *out)
{
    int colour = out == stdout && dft_terminal_colour();
    size_t line = 0;

    measure(grid);
    for (unsigned c = 0; c < grid->count; c++)
        if (grid->columns[c].shrink && !grid->hidden[c])
            cut_column(grid, c);
    fputs(colour ? "\033[1m" : "", out);
    print_titles(grid, out);
    fputs(colour ? "\033[0m\n" : "\n", out);
    for (size_t i = 0; i + grid->count <= grid->ncells; i += grid->count) {
        print_row(grid, out, grid->cells + i, colour);
        putc('\n', out);
        for (; line < grid->nlines && grid->lines[line].ncells == i + grid->count; line++)
            fprintf(out, "%s\n", grid->lines[line].text);
    }
}
