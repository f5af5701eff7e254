/* SPDX-License-Identifier: MIT */
/* The section of the page about ranks: which have the most I/O time, and by how much. */
#include "summary/page_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"

#define TOP_RANKS 10u
#define ALIKE     20 /* ranks that lie within this percentage of the median need no table */

struct rank_line {
    uint64_t rank, io_ns, read, written;
    struct dft_text host;
};

static int by_io(const void *left, const void *right)
{
    const struct rank_line *a = left, *b = right;

    if (a->io_ns != b->io_ns)
        return a->io_ns > b->io_ns ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

struct rank_lines {
    struct rank_line *lines;
    size_t count;
};

static int by_rank(const void *left, const void *right)
{
    const struct rank_line *a = left, *b = right;
    uint32_t n = a->host.length < b->host.length ? a->host.length : b->host.length;
    int order = a->rank == b->rank ? memcmp(a->host.bytes, b->host.bytes, n) : a->rank < b->rank ? -1 : 1;

    return order ? order : a->host.length < b->host.length ? -1 : a->host.length > b->host.length;
}

/* One line for each class and host of a rank, which may come in different parts. */
static int take_ranks(struct rank_lines *ranks, const struct dft_answer *answer)
{
    struct rank_line *lines = reallocarray(ranks->lines, ranks->count + answer->count + 1, sizeof *lines);

    if (!lines)
        return -ENOMEM;
    ranks->lines = lines;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct dft_key_value rank, host;
        uint8_t class = group->key.class;
        struct rank_line *line = &lines[ranks->count];

        dft_group_value(answer, group, DFT_BY_RANK, &rank);
        dft_group_value(answer, group, DFT_BY_HOST, &host);
        if (rank.type != DFT_KEY_UINT)
            continue;
        *line = (struct rank_line){.rank = rank.number,
                                   .host = host.type == DFT_KEY_TEXT ? host.text : (struct dft_text){"-", 1}};
        line->io_ns = dft_is_io(class) ? group->metrics.dur_sum : 0;
        line->read = class == DFT_IO_READ || class == DFT_IO_STARTUP ? group->metrics.bytes : 0;
        line->written = class == DFT_IO_WRITE ? group->metrics.bytes : 0;
        ranks->count++;
    }
    return 0;
}

/* Adds up the lines of each rank; of several hosts the first is shown. */
static uint32_t collect_ranks(struct rank_lines *ranks)
{
    struct rank_line *lines = ranks->lines;
    uint32_t n = 0;

    if (!ranks->count)
        return 0;
    qsort(lines, ranks->count, sizeof *lines, by_rank);
    for (size_t i = 0; i < ranks->count; i++) {
        if (!n || lines[n - 1].rank != lines[i].rank) {
            lines[n++] = lines[i];
            continue;
        }
        lines[n - 1].io_ns += lines[i].io_ns;
        lines[n - 1].read += lines[i].read;
        lines[n - 1].written += lines[i].written;
    }
    qsort(lines, n, sizeof *lines, by_io);
    return n;
}

static int print_ranks(const struct rank_line *lines, uint32_t count, uint32_t top)
{
    static const struct dft_grid_column columns[] = {{"rank", 0, 0, 0},   {"host", 1, 1, 5},      {"I/O time", 0, 0, 0},
                                                     {"", 1, 0, 4},       {"of median", 0, 0, 1}, {"read", 0, 0, 2},
                                                     {"written", 0, 0, 3}};
    struct dft_grid *grid = dft_grid_create(columns, 7);
    uint64_t median = lines[count / 2].io_ns;
    char text[128], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc = grid ? 0 : -ENOMEM, unicode = dft_plot_is_unicode();

    for (uint32_t i = 0; !rc && i < count && i < top; i++) {
        char *host = dft_text_escaped(lines[i].host.bytes, lines[i].host.length);

        snprintf(text, sizeof text, "%llu", (unsigned long long)lines[i].rank);
        rc = dft_grid_cell(grid, text) || dft_grid_cell(grid, host ? host : "-") ||
             dft_grid_cell(grid, dft_text_ns(text, lines[i].io_ns)) ||
             dft_grid_cell(grid, dft_plot_cells(text, unicode, lines[i].io_ns, lines[0].io_ns, 10)) ||
             dft_grid_cell(grid, dft_text_ratio(text, (double)lines[i].io_ns / (double)median)) ||
             dft_grid_cell(grid, dft_text_bytes(text, lines[i].read)) ||
             dft_grid_cell(grid, dft_text_bytes(text, lines[i].written));
        free(host);
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    if (!rc && top < count) {
        snprintf(text, sizeof text, "%s other%s: %s to %s", dft_text_count(a, count - top), count - top == 1 ? "" : "s",
                 dft_text_ns(b, lines[count - 1].io_ns), dft_text_ns(c, lines[top].io_ns));
        dft_text_wrapped(stdout, "", 0, text);
    }
    dft_grid_destroy(grid);
    return rc ? -ENOMEM : 0;
}

/* Ranks that are alike are one line. */
static int are_alike(const struct rank_line *lines, uint32_t count)
{
    uint64_t median = lines[count / 2].io_ns, step = median / 100 * ALIKE;

    return lines[0].io_ns <= median + step && lines[count - 1].io_ns + step >= median;
}

/* How many have more than the others, at most TOP_RANKS, but at least one. */
static uint32_t ahead_of(const struct rank_line *lines, uint32_t count)
{
    uint64_t median = lines[count / 2].io_ns;
    uint32_t n = 1;

    while (n < count && n < TOP_RANKS && lines[n].io_ns > median + median / 100 * ALIKE)
        n++;
    return n;
}

static int print_section(const struct rank_lines *ranks, uint32_t count, uint64_t top)
{
    const struct rank_line *lines = ranks->lines;
    uint32_t shown = top && top < count ? (uint32_t)top : top ? count : ahead_of(lines, count);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);
    int alike = !top && are_alike(lines, count);

    if (!out)
        return -ENOMEM;
    if (alike)
        fprintf(out, "Ranks: %s, alike: I/O of each %s to %s", dft_text_count(a, count),
                dft_text_ns(b, lines[count - 1].io_ns), dft_text_ns(c, lines[0].io_ns));
    else
        fprintf(out, "Ranks with the most I/O time (%s of %s)", dft_text_count(a, shown), dft_text_count(b, count));
    putchar('\n');
    dft_sentence_end(&text, out, "", 0);
    if (alike)
        return 0;
    return print_ranks(lines, count, shown);
}

const struct dft_query dft_page_ranks_query = {.by = {DFT_BY_RANK, DFT_BY_HOST, DFT_BY_CLASS}, .nby = 3};

int dft_page_ranks(const struct dft_page *page, struct dft_answer *answer)
{
    struct rank_lines ranks = {0};
    uint32_t count;
    int rc;

    do
        rc = take_ranks(&ranks, answer);
    while (!rc && (rc = dft_answer_next(answer)) > 0);
    count = rc ? 0 : collect_ranks(&ranks);
    if (count > 1)
        rc = print_section(&ranks, count, page->summary->options->top);
    free(ranks.lines);
    return rc;
}
