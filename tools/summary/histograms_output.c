/* SPDX-License-Identifier: MIT */
/* Histograms for people, and as JSON. */
#include "summary/histograms_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/plot.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "mpi/comm.h"

#define TOP_TEXT 5u    /* groups with histograms, unless --top says otherwise */
#define TOP_JSON 1000u /* the same of JSON */
#define BAR      8u    /* cells of a bar */
#define LINES    18u   /* with more octaves than these, two share a line */

enum { DURATION, DURATION_CALLS, DURATION_BAR, MARKS, SIZE, SIZE_CALLS, SIZE_BAR, SIZE_TIME, TIME_BAR, COLUMNS };

static const struct dft_grid_column columns[COLUMNS] = {
    [DURATION] = {.title = "took", .left = 0},        [DURATION_CALLS] = {.title = "calls"},
    [DURATION_BAR] = {.title = "", .left = 1},        [MARKS] = {.title = "", .left = 1},
    [SIZE] = {.title = "asked for", .left = 1},       [SIZE_CALLS] = {.title = "calls"},
    [SIZE_BAR] = {.title = "", .left = 1, .drop = 2}, [SIZE_TIME] = {.title = "time"},
    [TIME_BAR] = {.title = "", .left = 1, .drop = 3},
};

int dft_histograms_check(const struct dft_summary *summary)
{
    if (!summary->hist)
        return 0;
    if (summary->options->csv)
        fputs("dftmerge summary: --hist is for people and for --json: a table has no place for it\n", stderr);
    else if (summary->by && memchr(summary->query.by, DFT_BY_TIME, summary->query.nby))
        fputs("dftmerge summary: --hist goes without groups of time: --from and --to choose a part of the run\n",
              stderr);
    else
        return 0;
    return -EINVAL;
}

/* A line of durations: octaves [first, last]. */
struct octaves {
    unsigned first, last, step;
};

static struct octaves used_octaves(const struct dft_histogram *histogram)
{
    struct octaves used = {DFT_OCTAVES, 0, 1};

    for (unsigned k = 0; k < DFT_OCTAVES; k++)
        if (histogram->octaves[k]) {
            used.first = used.first < k ? used.first : k;
            used.last = k;
        }
    if (used.first < DFT_OCTAVES && used.last - used.first >= LINES) {
        used.step = 2;
        used.first -= used.first % 2;
    }
    return used;
}

static uint64_t from_of(unsigned octave)
{
    return octave ? UINT64_C(1) << octave : 0;
}

/* That of a line, from octave k on. */
static uint64_t calls_of(const struct dft_histogram *histogram, const struct octaves *used, unsigned k)
{
    uint64_t calls = 0;

    for (unsigned i = k; i < k + used->step && i < DFT_OCTAVES; i++)
        calls += histogram->octaves[i];
    return calls;
}

static uint64_t most_calls(const struct dft_histogram *histogram, const struct octaves *used)
{
    uint64_t most = 0;

    for (unsigned k = used->first; k <= used->last; k += used->step) {
        uint64_t calls = calls_of(histogram, used, k);

        most = calls > most ? calls : most;
    }
    return most;
}

/* "p50 p95": the percentiles that lie in [from, to). */
static void write_marks(char marks[16], const struct dft_group *group, uint64_t from, uint64_t to)
{
    const uint64_t values[] = {group->p50, group->p95, group->p99};
    static const char *const names[] = {"p50", "p95", "p99"};
    size_t used = 0;

    marks[0] = 0;
    for (unsigned i = 0; i < 3; i++)
        if (values[i] != DFT_PERCENTILE_UNKNOWN && values[i] >= from && values[i] < to)
            used += (size_t)snprintf(marks + used, 16 - used, "%s%s", used ? " " : "", names[i]);
}

static int add_cells(struct dft_grid *grid, const char *const *cells, unsigned count)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < count; i++)
        rc = dft_grid_cell(grid, cells[i]);
    return rc;
}

/* The left half of a line: durations from octave k on, or nothing. */
static int add_durations(struct dft_grid *grid, const struct dft_histogram *histogram, const struct dft_group *group,
                         const struct octaves *used, unsigned k)
{
    char from[DFT_TEXT_ROOM], to[DFT_TEXT_ROOM], range[2 * DFT_TEXT_ROOM + 2], calls[DFT_TEXT_ROOM], marks[16];
    char bar[3 * BAR + 1];
    uint64_t end = k + used->step < DFT_OCTAVES ? from_of(k + used->step) : UINT64_MAX, count;

    if (used->first > used->last || k > used->last)
        return add_cells(grid, (const char *const[]){"", "", "", ""}, SIZE - DURATION);
    count = calls_of(histogram, used, k);
    snprintf(range, sizeof range, "%s-%s", dft_text_ns(from, from_of(k)), dft_text_ns(to, end));
    write_marks(marks, group, from_of(k), end);
    dft_plot_cells(bar, dft_plot_is_unicode(), count, most_calls(histogram, used), BAR);
    return add_cells(grid, (const char *const[]){range, dft_text_count(calls, count), bar, marks}, SIZE - DURATION);
}

struct sizes {
    uint8_t classes[DFT_SIZE_CLASSES];
    unsigned count;
    uint64_t most_calls, most_ns;
};

static struct sizes used_sizes(const struct dft_histogram *histogram)
{
    struct sizes used = {.count = 0};

    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++) {
        const struct dft_totals *size = &histogram->sizes[class];

        if (!size->count)
            continue;
        used.classes[used.count++] = class;
        used.most_calls = size->count > used.most_calls ? size->count : used.most_calls;
        used.most_ns = size->time_ns > used.most_ns ? size->time_ns : used.most_ns;
    }
    return used;
}

/* The right half of a line. */
static int add_size(struct dft_grid *grid, const struct dft_histogram *histogram, const struct sizes *used, unsigned i)
{
    char name[DFT_SIZE_CLASS_CAPACITY], calls[DFT_TEXT_ROOM], time[DFT_TEXT_ROOM];
    char bar[3 * BAR + 1], time_bar[3 * BAR + 1];
    const struct dft_totals *size;
    int unicode = dft_plot_is_unicode();

    if (i >= used->count)
        return add_cells(grid, (const char *const[]){"", "", "", "", ""}, COLUMNS - SIZE);
    size = &histogram->sizes[used->classes[i]];
    dft_size_class_text(name, used->classes[i]);
    dft_plot_cells(bar, unicode, size->count, used->most_calls, BAR);
    dft_plot_cells(time_bar, unicode, size->time_ns, used->most_ns, BAR);
    return add_cells(grid,
                     (const char *const[]){name, dft_text_count(calls, size->count), bar,
                                           dft_text_ns(time, size->time_ns), time_bar},
                     COLUMNS - SIZE);
}

static int print_grid(const struct dft_histogram *histogram, const struct dft_group *group)
{
    struct octaves octaves = used_octaves(histogram);
    struct sizes sizes = used_sizes(histogram);
    unsigned lines = octaves.first > octaves.last ? 0 : (octaves.last - octaves.first) / octaves.step + 1;
    struct dft_grid *grid = dft_grid_create(columns, COLUMNS);
    int rc = grid ? 0 : -ENOMEM;

    lines = lines > sizes.count ? lines : sizes.count;
    for (unsigned i = 0; !rc && i < lines; i++) {
        rc = add_durations(grid, histogram, group, &octaves, octaves.first + i * octaves.step);
        if (!rc)
            rc = add_size(grid, histogram, &sizes, i);
    }
    if (!rc)
        dft_grid_print(grid, stdout);
    dft_grid_destroy(grid);
    return rc;
}

/* "posix read", the values of the keys; "all I/O" without keys. */
static void print_keys(FILE *out, const struct dft_answer *answer, const struct dft_group *group, const char *all)
{
    if (!answer->query.nby)
        fputs(all, out);
    for (unsigned i = 0; i < answer->query.nby; i++) {
        enum dft_by by = (enum dft_by)answer->query.by[i];
        struct dft_key_value value;

        if (i)
            putc(' ', out);
        dft_group_value(answer, group, by, &value);
        if (value.type == DFT_KEY_TEXT)
            dft_text_escape(out, value.text.bytes, value.text.length);
        else if (by == DFT_BY_CAT || by == DFT_BY_NAME || value.type == DFT_KEY_NULL)
            fprintf(out, "no %s", dft_by_word(by));
        else
            fprintf(out, "%s %llu", dft_by_word(by), (unsigned long long)value.number);
    }
}

static int print_title(const struct dft_answer *answer, const struct dft_group *group,
                       const struct dft_histogram *histogram)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint64_t missing = group->metrics.samples - histogram->counted,
             unsized = histogram->sizes[DFT_SIZE_CLASS_NONE].count;
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return -ENOMEM;
    print_keys(out, answer, group, answer->query.classes ? "All I/O" : "All calls");
    fprintf(out, ": %s calls, %s", dft_text_count(a, group->metrics.count), dft_text_ns(b, group->metrics.dur_sum));
    if (group->p50 != DFT_PERCENTILE_UNKNOWN)
        fprintf(out, "; p50 %s, p95 %s, p99 %s", dft_text_ns(a, group->p50), dft_text_ns(b, group->p95),
                dft_text_ns(c, group->p99));
    if (group->metrics.samples < group->metrics.count)
        fprintf(out, "; a run of calls has one duration: %s durations", dft_text_count(a, group->metrics.samples));
    if (missing)
        fprintf(out, "; %s durations are in no histogram", dft_text_count(a, missing));
    if (unsized)
        fprintf(out, "; %s calls ask for no bytes", dft_text_count(a, unsized));
    putchar('\n');
    return dft_sentence_end(&text, out, "", 0);
}

/* Those of --by, in order of --sort; all I/O as one group without it. */
static int ask(const struct dft_summary *summary, uint64_t usual, struct dft_histograms *histograms)
{
    const struct dft_options *options = summary->options;
    const struct dft_order order = {.column = summary->by ? options->sort : NULL,
                                    .top = options->top ? options->top : usual};

    return dft_histograms_ask(summary->source, &options->filter, &summary->query, !summary->by, &order, histograms);
}

int dft_histograms_print(struct dft_summary *summary)
{
    struct dft_histograms histograms;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = ask(summary, TOP_TEXT, &histograms);

    for (uint32_t i = 0; !rc && i < histograms.groups.count; i++) {
        const struct dft_group *group = &histograms.groups.groups[i];
        struct dft_histogram histogram;

        dft_histogram_of(&histograms, group, &histogram);
        rc = print_title(&histograms.groups, group, &histogram);
        if (!rc)
            rc = print_grid(&histogram, group);
    }
    if (!rc && histograms.groups.count < histograms.groups.found) {
        putchar('\n');
        dft_print_wrapped("histograms of the first %s of %s groups: --top shows more",
                          dft_text_count(a, histograms.groups.count), dft_text_count(b, histograms.groups.found));
    }
    dft_histograms_fini(&histograms);
    return rc;
}

static void json_durations(struct dft_json *json, const struct dft_histogram *histogram)
{
    dft_json_array(json, "durations");
    for (unsigned k = 0; k < DFT_OCTAVES; k++) {
        if (!histogram->octaves[k])
            continue;
        dft_json_object(json, NULL);
        dft_json_uint(json, "from_ns", from_of(k));
        dft_json_known_uint(json, "to_ns", k + 1 < DFT_OCTAVES, k + 1 < DFT_OCTAVES ? from_of(k + 1) : 0);
        dft_json_uint(json, "count", histogram->octaves[k]);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void json_sizes(struct dft_json *json, const struct dft_histogram *histogram)
{
    dft_json_array(json, "sizes");
    for (uint8_t class = 0; class < DFT_SIZE_CLASSES; class ++) {
        const struct dft_totals *size = &histogram->sizes[class];
        int last = class + 1u == DFT_SIZE_CLASSES;
        char name[DFT_SIZE_CLASS_CAPACITY];

        if (!size->count)
            continue;
        dft_size_class_text(name, class);
        dft_json_object(json, NULL);
        if (class == DFT_SIZE_CLASS_NONE)
            dft_json_null(json, "size");
        else
            dft_json_string(json, "size", name);
        dft_json_known_uint(json, "from", class != DFT_SIZE_CLASS_NONE, dft_size_class_low(class));
        dft_json_known_uint(json, "to", class != DFT_SIZE_CLASS_NONE && !last,
                            class == 1 ? 1 : dft_size_class_low((uint8_t)(class + 1)));
        dft_json_uint(json, "count", size->count);
        dft_json_uint(json, "time_ns", size->time_ns);
        dft_json_uint(json, "bytes", size->bytes);
        dft_json_end_object(json);
    }
    dft_json_end_array(json);
}

static void json_group(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group,
                       const struct dft_histogram *histogram)
{
    dft_json_object(json, NULL);
    dft_summary_json_keys(json, answer, group);
    dft_json_uint(json, "count", group->metrics.count);
    dft_json_uint(json, "time_ns", group->metrics.dur_sum);
    dft_json_known_uint(json, "time_p50_ns", group->p50 != DFT_PERCENTILE_UNKNOWN, group->p50);
    dft_json_known_uint(json, "time_p95_ns", group->p95 != DFT_PERCENTILE_UNKNOWN, group->p95);
    dft_json_known_uint(json, "time_p99_ns", group->p99 != DFT_PERCENTILE_UNKNOWN, group->p99);
    dft_json_uint(json, "durations_missing", group->metrics.samples - histogram->counted);
    json_durations(json, histogram);
    json_sizes(json, histogram);
    dft_json_end_object(json);
}

int dft_histograms_json(struct dft_json *json, struct dft_summary *summary)
{
    struct dft_histograms histograms;
    int rc = ask(summary, TOP_JSON, &histograms);

    dft_json_array(json, "histograms");
    for (uint32_t i = 0; !rc && i < histograms.groups.count; i++) {
        struct dft_histogram histogram;

        dft_histogram_of(&histograms, &histograms.groups.groups[i], &histogram);
        json_group(json, &histograms.groups, &histograms.groups.groups[i], &histogram);
    }
    dft_json_end_array(json);
    dft_histograms_fini(&histograms);
    return rc;
}
