/* SPDX-License-Identifier: MIT */
/* Tables of the summary in text: which cells, how wide; and the slow ranks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/file_facts.h"
#include "summary/summary.h"
#include "base/write_text.h"

#define TOP_RANKS 10

enum cell {
    CELL_COUNT,
    CELL_ERRORS,
    CELL_TIME,
    CELL_BUSY,
    CELL_IN_FLIGHT,
    CELL_SHARE,
    CELL_SELF,
    CELL_MEAN,
    CELL_P50,
    CELL_P95,
    CELL_P99,
    CELL_MAX,
    CELL_BYTES,
    CELL_DISTINCT,
    CELL_RATE,
    CELLS
};

/* Which go first on a narrow terminal. */
static const uint8_t cell_drops[CELLS] = {[CELL_ERRORS] = 2, [CELL_IN_FLIGHT] = 1, [CELL_SELF] = 1,
                                          [CELL_MEAN] = 3,   [CELL_P50] = 6,       [CELL_P95] = 3,
                                          [CELL_P99] = 5,    [CELL_MAX] = 4,       [CELL_DISTINCT] = DFT_GRID_SPARE,
                                          [CELL_RATE] = 7};
static const char *const cell_titles[CELLS] = {"calls", "failed", "time",  "busy",     "in flight",
                                               "%",     "self",   "mean",  "p50",      "p95",
                                               "p99",   "max",    "bytes", "distinct", "rate"};

/* Self time where it is known: so that a region and what is inside it do not count twice. */
static double share_of(const struct dft_answer *answer, const struct dft_group *group)
{
    if (!answer->has_self)
        return (double)group->metrics.dur_sum;
    return group->self_ns > 0 ? (double)group->self_ns : 0;
}

static void set_cell(const struct dft_answer *answer, const struct dft_group *group, enum cell cell, uint64_t all_ns,
                     char *capacity)
{
    const struct dft_metrics *m = &group->metrics;
    int64_t value;

    strcpy(capacity, "-");
    if (cell == CELL_COUNT)
        dft_text_count(capacity, m->count);
    else if (cell == CELL_ERRORS && m->errors)
        dft_text_count(capacity, m->errors);
    else if (cell == CELL_TIME)
        dft_text_ns(capacity, m->dur_sum);
    else if (cell == CELL_BUSY && answer->has_busy)
        dft_text_ns(capacity, m->edge);
    else if (cell == CELL_IN_FLIGHT && answer->has_busy)
        snprintf(capacity, DFT_TEXT_ROOM, "%.2f", (double)m->edge / (double)answer->query.width_ns);
    else if (cell == CELL_SHARE && all_ns)
        snprintf(capacity, DFT_TEXT_ROOM, "%.1f", 100.0 * share_of(answer, group) / (double)all_ns);
    else if (cell == CELL_SELF && group->self_ns >= 0)
        dft_text_ns(capacity, (uint64_t)group->self_ns);
    else if (cell == CELL_MEAN && m->samples)
        dft_text_ns(capacity, m->dur_sum / m->samples);
    else if (cell == CELL_P50 && dft_column_value(answer, group, DFT_COLUMN_P50, &value))
        dft_text_ns(capacity, (uint64_t)value);
    else if (cell == CELL_P95 && dft_column_value(answer, group, DFT_COLUMN_P95, &value))
        dft_text_ns(capacity, (uint64_t)value);
    else if (cell == CELL_P99 && dft_column_value(answer, group, DFT_COLUMN_P99, &value))
        dft_text_ns(capacity, (uint64_t)value);
    else if (cell == CELL_MAX && dft_column_value(answer, group, DFT_COLUMN_TIME_MAX, &value))
        dft_text_ns(capacity, (uint64_t)value);
    else if (cell == CELL_BYTES && m->data)
        dft_text_bytes(capacity, m->bytes);
    else if (cell == CELL_DISTINCT && group->has_distinct)
        dft_text_bytes(capacity, group->distinct_bytes);
    else if (cell == CELL_RATE && m->bytes && m->dur_sum) {
        dft_text_bytes(capacity, dft_metrics_rate(m));
        strcat(capacity, "/s");
    }
}

/* Which cells the table has: self time only where it differs, percentiles where they are known. */
static unsigned choose_cells(const struct dft_answer *answer, enum cell *cells)
{
    int self = 0, errors = 0, bytes = 0, time = 0, percentiles = 0, distinct = 0;
    unsigned n = 0;

    for (unsigned i = 0; i < answer->query.nby; i++)
        time |= answer->query.by[i] == DFT_BY_TIME;

    for (uint32_t i = 0; i < answer->count; i++) {
        self |= answer->has_self && answer->groups[i].self_ns != (int64_t)answer->groups[i].metrics.dur_sum;
        errors |= answer->groups[i].metrics.errors != 0;
        bytes |= answer->groups[i].metrics.data != 0;
        distinct |= answer->groups[i].has_distinct != 0;
        percentiles |= answer->has_percentiles && answer->groups[i].p50 != DFT_PERCENTILE_UNKNOWN;
    }
    for (int c = 0; c < CELLS; c++) {
        if ((c == CELL_SELF && !self) || (c == CELL_ERRORS && !errors) || (c == CELL_DISTINCT && !distinct))
            continue;
        if ((c == CELL_BUSY || c == CELL_IN_FLIGHT) && !time)
            continue;
        if ((c == CELL_BYTES || c == CELL_RATE) && !bytes)
            continue;
        if ((c == CELL_P50 || c == CELL_P95 || c == CELL_P99) && !percentiles)
            continue;
        if (c == CELL_MEAN && percentiles && !dft_order_is(answer, cell_titles[c]))
            continue;
        cells[n++] = (enum cell)c;
    }
    return n;
}

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

static int add_key_cell(struct dft_grid *grid, const struct dft_answer *answer, const struct dft_group *group,
                        enum dft_by by)
{
    struct dft_key_value value;
    char capacity[DFT_TEXT_ROOM];

    if (by == DFT_BY_PROCESS && answer->process_group[group->key.process_group - 1]->known)
        return add_process_cell(grid, &answer->process_group[group->key.process_group - 1]->process);
    dft_group_value(answer, group, by, &value);
    if (value.type == DFT_KEY_NULL)
        return dft_grid_cell(grid, "-");
    if (value.type == DFT_KEY_UINT) {
        if (by == DFT_BY_TIME)
            snprintf(capacity, sizeof capacity, "%.3f s", (double)(value.number - answer->query.base_ns) / 1e9);
        else
            snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)value.number);
        return dft_grid_cell(grid, capacity);
    }
    return add_text_cell(grid, answer, by, value.text);
}

/* The title of a column, with a mark where it was asked for to sort by. */
static const char *title_of(const struct dft_answer *answer, const char *title, char room[DFT_TEXT_ROOM])
{
    snprintf(room, DFT_TEXT_ROOM, "%s%s", dft_order_is(answer, title) ? "*" : "", title);
    return room;
}

static int print_lines(const struct dft_answer *answer)
{
    char titles[DFT_TABLE_COLUMNS + DFT_BY_COUNT][DFT_TEXT_ROOM];
    struct dft_grid_column columns[DFT_TABLE_COLUMNS + DFT_BY_COUNT] = {0};
    unsigned nby = answer->query.nby < DFT_TABLE_COLUMNS - CELLS ? answer->query.nby : DFT_TABLE_COLUMNS - CELLS;
    enum cell cells[CELLS];
    unsigned ncells = choose_cells(answer, cells);
    struct dft_grid *grid;
    uint64_t all_ns = answer->all_ns;
    int rc = 0;

    for (unsigned i = 0; i < nby; i++) {
        enum dft_by by = (enum dft_by)answer->query.by[i];
        int number = by == DFT_BY_RANK || by == DFT_BY_PID || by == DFT_BY_TID || by == DFT_BY_TIME;

        columns[i] =
            (struct dft_grid_column){title_of(answer, by == DFT_BY_TIME ? "from" : dft_by_name(by), titles[i]), !number,
                                     (DFT_BY_FILES >> by & 1) || by == DFT_BY_REGION || by == DFT_BY_NAME ||
                                         by == DFT_BY_STACK || by == DFT_BY_LINE || by == DFT_BY_PROCESS};
    }
    for (unsigned i = 0; i < ncells; i++)
        columns[nby + i] =
            (struct dft_grid_column){title_of(answer, cell_titles[cells[i]], titles[nby + i]), 0, 0,
                                     dft_order_is(answer, cell_titles[cells[i]]) ? 0 : cell_drops[cells[i]]};
    grid = dft_grid_create(columns, nby + ncells);
    if (!grid)
        return -ENOMEM;
    for (uint32_t g = 0; !rc && g < answer->count; g++) {
        for (unsigned i = 0; !rc && i < nby; i++)
            rc = add_key_cell(grid, answer, &answer->groups[g], (enum dft_by)answer->query.by[i]);
        for (unsigned i = 0; !rc && i < ncells; i++) {
            char capacity[DFT_TEXT_ROOM + 4];

            set_cell(answer, &answer->groups[g], cells[i], all_ns, capacity);
            rc = dft_grid_cell(grid, capacity);
        }
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc;
}

int dft_summary_table(const struct dft_answer *answer)
{
    struct dft_answer piece = *answer;
    int rc = 0;

    do {
        uint32_t left = answer->count - (uint32_t)(piece.groups - answer->groups);

        piece.count = left < DFT_SUMMARY_LINES ? left : DFT_SUMMARY_LINES;
        rc = print_lines(&piece);
        piece.groups += piece.count;
    } while (!rc && piece.groups < answer->groups + answer->count);
    return rc;
}

/* --- ranks ------------------------------------------------------------------------------------ */

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
static int take_ranks(void *context, const struct dft_answer *answer)
{
    struct rank_lines *ranks = context;
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
        line->io_ns = DFT_CLASSES_IO >> class & 1 ? group->metrics.dur_sum : 0;
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
    static const struct dft_grid_column columns[] = {{"rank", 0, 0},      {"host", 1, 1}, {"I/O time", 0, 0},
                                                     {"of median", 0, 0}, {"read", 0, 0}, {"written", 0, 0}};
    struct dft_grid *grid = dft_grid_create(columns, 6);
    uint64_t median = lines[count / 2].io_ns;
    char capacity[DFT_TEXT_ROOM];
    int rc = grid ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < count && i < top; i++) {
        char *host = dft_text_escaped(lines[i].host.bytes, lines[i].host.length);

        snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)lines[i].rank);
        rc = dft_grid_cell(grid, capacity) || dft_grid_cell(grid, host ? host : "-") ||
             dft_grid_cell(grid, dft_text_ns(capacity, lines[i].io_ns)) ||
             dft_grid_cell(grid, dft_text_share(capacity, lines[i].io_ns, median)) ||
             dft_grid_cell(grid, dft_text_bytes(capacity, lines[i].read)) ||
             dft_grid_cell(grid, dft_text_bytes(capacity, lines[i].written));
        free(host);
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc ? -ENOMEM : 0;
}

int dft_summary_ranks(struct dft_summary *summary)
{
    struct dft_query query = {.by = {DFT_BY_RANK, DFT_BY_HOST, DFT_BY_CLASS}, .nby = 3};
    uint32_t top = summary->options->top ? (uint32_t)summary->options->top : TOP_RANKS, count;
    struct rank_lines ranks = {0};
    struct dft_answer answer;
    int rc = dft_query_each(summary->source, &summary->options->filter, &query, take_ranks, &ranks, &answer);

    if (rc)
        goto out;
    count = collect_ranks(&ranks);
    if (count > 1) {
        char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

        printf("\nRanks with the most I/O time (%s of %s)\n", dft_text_count(a, count < top ? count : top),
               dft_text_count(b, count));
        rc = print_ranks(ranks.lines, count, top);
        if (!rc)
            dft_summary_last_line(summary, &answer);
    }
    dft_answer_fini(&answer);
out:
    free(ranks.lines);
    return rc;
}
