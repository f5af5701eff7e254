/* SPDX-License-Identifier: MIT */
/* dftmerge timeline: how much I/O there was when. The command; what it counts is in
 * timeline_count.c, its output in timeline_text.c, timeline_heat.c and timeline_data.c. */
#include "timeline/timeline_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_wrapped.h"
#include "base/plot.h"
#include "base/write_text.h"
#include "job/job_state.h"
#include "mpi/comm.h"
#include "query/plan_times.h"
#include "judge/source_ending.h"

#define FOR_PROGRAMS 100u /* columns where nobody says how many, and no terminal */
#define LABELS       24u
#define LABELS_SHORT 12u
#define LABELS_ROLES 36u
#define NARROW       64u

struct asked {
    const char *by, *width, *interval, *of, *top;
    int heat, events;
};

const char *dft_timeline_measure_word(enum dft_timeline_measure measure)
{
    static const char *const words[DFT_TIMELINE_MEASURES] = {"bytes", "calls", "time"};

    return words[measure];
}

/* --- options ---------------------------------------------------------------------------------- */

static int deny(const char *option, const char *value, const char *why)
{
    fprintf(stderr, "dftmerge timeline: --%s %s: %s\n", option, value, why);
    return -EINVAL;
}

/* Finds a word among `count`. Returns its position, or -EINVAL. */
static int find_word(const char *option, const char *word, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(words[i], word))
            return (int)i;
    fprintf(stderr, "dftmerge timeline: --%s %s: there is no such word.", option, word);
    dft_say_words(word, "There are", words, count);
    return -EINVAL;
}

static const char *const keys[] = {"rank", "class", "process", "role"};
#define KEYS (sizeof keys / sizeof *keys)

static const char *key_word(size_t i)
{
    return i < KEYS ? keys[i] : NULL;
}

static const char *measure_word(size_t i)
{
    return i < DFT_TIMELINE_MEASURES ? dft_timeline_measure_word((enum dft_timeline_measure)i) : NULL;
}

static int parse_words(struct dft_timeline *timeline, const struct asked *asked)
{
    static const char *const measures[] = {"bytes", "calls", "time"};
    static const uint8_t bys[] = {DFT_BY_RANK, DFT_BY_CLASS, DFT_BY_PROCESS, DFT_BY_ROLE};
    int by = asked->by ? find_word("by", asked->by, keys, KEYS) : 0, of = 0;

    timeline->heat = asked->heat;
    timeline->events = asked->events;
    timeline->by = asked->by || asked->heat ? (enum dft_by)bys[by < 0 ? 0 : by] : DFT_BY_COUNT;
    if (asked->of)
        of = find_word("of", asked->of, measures, DFT_TIMELINE_MEASURES);
    else
        of = asked->heat ? DFT_TIMELINE_TIME : DFT_TIMELINE_BYTES;
    timeline->measure = (enum dft_timeline_measure)(of < 0 ? 0 : of);
    return by < 0 || of < 0 ? -EINVAL : 0;
}

/* A whole number of at least 1. Returns 0: it is none. */
static uint32_t parse_count(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return *end || n < 1 || n > (long)DFT_TIMELINE_COLUMNS_MAX ? 0 : (uint32_t)n;
}

static int parse_numbers(struct dft_timeline *timeline, const struct asked *asked, uint32_t *columns,
                         uint64_t *interval_ns)
{
    int64_t ns = 0;
    uint32_t n = asked->width ? parse_count(asked->width) : 0;

    timeline->top = asked->top ? parse_count(asked->top) : 0;
    if (asked->width && !n)
        return deny("width", asked->width, "not a number of columns, as in 80");
    if (asked->top && !timeline->top)
        return deny("top", asked->top, "not a number of lines, as in 40");
    if (asked->interval && (dft_filter_seconds(&ns, asked->interval) || ns <= 0 || (uint64_t)ns > DFT_INTERVAL_NS_MAX))
        return deny("interval", asked->interval, "not a number of seconds, as in 0.5");
    *columns = n;
    *interval_ns = (uint64_t)ns;
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static uint32_t labels_of(const struct dft_timeline *timeline)
{
    return dft_terminal_width() < NARROW ? LABELS_SHORT : timeline->by == DFT_BY_ROLE ? LABELS_ROLES : LABELS;
}

static struct dft_timeline_layout layout_of(const struct dft_timeline *timeline, uint32_t columns)
{
    struct dft_timeline_layout layout = {.unicode = dft_plot_is_unicode()};

    layout.indent = labels_of(timeline);
    layout.fold = timeline->count ? (timeline->count + columns - 1) / columns : 1;
    layout.count = (timeline->count + layout.fold - 1) / layout.fold;
    return layout;
}

static uint32_t columns_of(const struct dft_timeline *timeline, uint32_t asked)
{
    if (asked)
        return asked;
    if (timeline->options->json || timeline->options->csv)
        return FOR_PROGRAMS;
    return dft_terminal_width() - labels_of(timeline) - 1;
}

static int print(const struct dft_timeline *timeline, uint32_t columns)
{
    struct dft_timeline_layout layout = layout_of(timeline, columns);
    unsigned lines = timeline->top ? timeline->top : dft_terminal_height() - 6;

    if (timeline->options->json || timeline->options->csv) {
        (timeline->options->json ? dft_timeline_json : dft_timeline_csv)(timeline);
        return 0;
    }
    dft_command_print_newest(timeline->options, timeline->source);
    return timeline->heat                 ? dft_timeline_heat(timeline, &layout, lines)
           : timeline->by != DFT_BY_COUNT ? dft_timeline_lines(timeline, &layout)
                                          : dft_timeline_text(timeline, &layout);
}

static int answer(struct dft_timeline *timeline, const struct asked *asked)
{
    uint64_t interval_ns;
    uint32_t columns;
    int rc = parse_numbers(timeline, asked, &columns, &interval_ns), any;

    if (rc)
        return rc;
    columns = columns_of(timeline, columns);
    rc = dft_job_collect(&timeline->job, timeline->source);
    if (!rc)
        rc = dft_job_note_in_flight(&timeline->job, timeline->source);
    if (!rc)
        rc = dft_timeline_choose_width(timeline, interval_ns, columns);
    if (!rc)
        rc = dft_timeline_count(timeline);
    if (rc)
        return rc;
    any = timeline->count != 0;
    dft_comm_broadcast(&any, sizeof any);
    if (!any)
        dft_command_nothing(timeline->options, timeline->source);
    return dft_comm_rank() ? 0 : print(timeline, columns);
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_timeline timeline = {.options = &options};
    struct asked asked = {0};
    const struct dft_option own[] = {
        {"by", 'b', "KEY", &asked.by, NULL, "A line for each rank, class, process or role", .word = key_word},
        {"heat", 0, NULL, NULL, &asked.heat, "A map of ranks (or of --by) and time"},
        {"of", 0, "WHAT", &asked.of, NULL, "Show bytes (default), calls, or time (default of --heat)",
         .word = measure_word},
        {"interval", 0, "SECONDS", &asked.interval, NULL, "Width of a column in time (default: as fits)"},
        {"width", 0, "COLUMNS", &asked.width, NULL, "Width of the plot (default: the terminal's; 100 for programs)"},
        {"top", 0, "N", &asked.top, NULL, "Only the first N lines (default: 20; of a map: as the terminal has)"},
        {"events", 0, NULL, NULL, &asked.events, "Count events: slower, and exact where aggregates give bounds"},
        {0},
    };
    int code, rc;

    if (dft_options_parse(&options, &dft_command_timeline, own, argc, argv, &code))
        return code;
    if (parse_words(&timeline, &asked)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.only_queries = 1;
    dft_command_take_newest(&options);
    if (dft_command_begin(&options, &timeline.source, &code))
        return code;
    dft_source_note_outside(timeline.source);
    rc = answer(&timeline, &asked);
    if (rc == -E2BIG)
        fputs("dftmerge timeline: too many lines for so many columns: take a longer --interval\n", stderr);
    else if (rc && rc != -EINVAL)
        fprintf(stderr, "dftmerge timeline: %s\n", strerror(-rc));
    dft_timeline_fini(&timeline);
    dft_job_fini(&timeline.job);
    return dft_command_end(&options, timeline.source, rc == -EINVAL ? DFT_EXIT_USAGE : rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_timeline = {
    .name = "timeline",
    .arguments = "PATH...",
    .brief = "Bytes, calls and time over the run; ranks as a map",
    .details =
        "Input and output alone: no waiting, no regions. Bytes and calls count where the call starts, time where "
        "it is spent. In flight is how many calls were under way: on average, and at most. From aggregates two "
        "numbers are bounds: the most in flight (the threads that were active), and the share of time with I/O. "
        "--events counts both exactly. A map's cell shows the largest of the ranks of its line.",
    .example = "dftmerge timeline --heat traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_FILTER | DFT_TAKES_CLASSES | DFT_TAKES_RANKS,
    .run = run,
};
