/* SPDX-License-Identifier: MIT */
/* The time line for people: the head, a plot, and a line of bars for each number. */
#include "timeline/timeline_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot.h"
#include "base/saturate.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "job/job_footer.h"
#include "query/answer_source.h"

#define PLOT_LINES 6u

const char *dft_timeline_rate(char *room, enum dft_timeline_measure measure, uint64_t value, uint64_t ns)
{
    double rate = (double)value * 1e9 / (double)ns;

    if (measure == DFT_TIMELINE_TIME) {
        snprintf(room, DFT_TIMELINE_ROOM, "%.2f", rate / 1e9);
        return room;
    }
    if (measure == DFT_TIMELINE_BYTES)
        dft_text_bytes(room, dft_uint_of(rate));
    else if (rate < 100)
        snprintf(room, DFT_TIMELINE_ROOM, "%.1f", rate);
    else
        dft_text_count(room, dft_uint_of(rate));
    strcat(room, "/s");
    return room;
}

/* A value of a column, by number: those of the plot's lines. */
enum shown { SHOWN_READ, SHOWN_WRITTEN, SHOWN_CALLS, SHOWN_IN_FLIGHT, SHOWN_IO, SHOWN_PROCESSES, SHOWN };

static uint64_t shown_value(const struct dft_timeline_column *column, enum shown what)
{
    const uint64_t values[SHOWN] = {column->read,    column->written,  column->calls,
                                    column->busy_ns, column->union_ns, column->alive};

    return values[what];
}

/* The characters' values: sums of their columns, or the largest of those of which a sum means
 * nothing. */
static void fold(const uint64_t *values, uint32_t count, const struct dft_timeline_layout *layout, int sums,
                 uint64_t *folded)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        folded[i] = 0;
        for (uint32_t k = i * layout->fold; k < count && k < (i + 1) * layout->fold; k++)
            folded[i] = sums ? folded[i] + values[k] : folded[i] > values[k] ? folded[i] : values[k];
    }
}

/* Which character is the highest, as a rate. */
static uint32_t peak_of(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                        const uint64_t *values)
{
    double most = -1;
    uint32_t at = 0;

    for (uint32_t i = 0; i < layout->count; i++) {
        double rate = (double)values[i] / (double)dft_timeline_span(timeline, i * layout->fold, layout->fold);

        if (rate > most) {
            most = rate;
            at = i;
        }
    }
    return at;
}

static void put_spaces(unsigned count)
{
    while (count--)
        putchar(' ');
}

static void print_bars(const uint64_t *folded, const struct dft_timeline_layout *layout)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < layout->count; i++)
        most = folded[i] > most ? folded[i] : most;
    for (uint32_t i = 0; i < layout->count; i++)
        fputs(dft_plot_bar(layout->unicode, dft_plot_level(folded[i], most, DFT_PLOT_LEVELS)), stdout);
    putchar('\n');
}

int dft_timeline_bars(const uint64_t *values, const struct dft_timeline *timeline,
                      const struct dft_timeline_layout *layout)
{
    uint64_t *folded = malloc((layout->count + 1u) * sizeof *folded);

    if (!folded)
        return -ENOMEM;
    fold(values, timeline->count, layout, 1, folded);
    print_bars(folded, layout);
    free(folded);
    return 0;
}

/* A time since the start of the job. The first column may begin before it. */
static const char *text_time(char *room, const struct dft_timeline *timeline, uint64_t column)
{
    uint64_t at = timeline->base_ns + column * timeline->width_ns, start = timeline->job.start_ns;

    return dft_text_ns(room, at > start ? at - start : 0);
}

void dft_timeline_axis(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout)
{
    char room[DFT_TEXT_ROOM];
    uint32_t at = 0, marks = layout->count >= 60 ? 4 : layout->count >= 24 ? 2 : 1;

    put_spaces(layout->indent);
    for (uint32_t mark = 0; mark < marks; mark++) {
        uint32_t column = mark * layout->count / marks;

        if (column < at)
            continue;
        put_spaces(column - at);
        at = column + (uint32_t)printf("%s ", text_time(room, timeline, (uint64_t)column * layout->fold));
    }
    putchar('\n');
}

/* --- the head --------------------------------------------------------------------------------- */

static void print_head(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                       const uint64_t *folded)
{
    uint32_t peak = peak_of(timeline, layout, folded);
    uint64_t span = dft_timeline_span(timeline, 0, timeline->count), ns;
    char a[DFT_TIMELINE_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return;
    ns = dft_timeline_span(timeline, peak * layout->fold, layout->fold);
    fprintf(out, "peak %s%s at %s; %s read, %s written in %s calls",
            dft_timeline_rate(a, timeline->measure, folded[peak], ns),
            timeline->measure == DFT_TIMELINE_BYTES   ? ""
            : timeline->measure == DFT_TIMELINE_CALLS ? " calls"
                                                      : " in flight",
            text_time(b, timeline, (uint64_t)peak * layout->fold), dft_text_bytes(c, timeline->read),
            dft_text_bytes((char[DFT_TEXT_ROOM]){0}, timeline->written),
            dft_text_count(d, timeline->total[DFT_TIMELINE_CALLS]));
    if (timeline->is_exact || timeline->knows_occupancy)
        fprintf(out, "; I/O went on for %s%s of %s", timeline->is_exact ? "" : "at most ",
                dft_text_share(a, timeline->union_ns < span ? timeline->union_ns : span, span), dft_text_ns(b, span));
    dft_sentence_end(&text, out, "", 0);
}

/* --- the plot --------------------------------------------------------------------------------- */

static void print_plot(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                       const uint64_t *folded)
{
    uint32_t peak = peak_of(timeline, layout, folded);
    uint64_t most = folded[peak], ns = dft_timeline_span(timeline, peak * layout->fold, layout->fold);
    char room[DFT_TIMELINE_ROOM];
    uint64_t full;

    /* heights are of whole characters' time: a shorter one at the end is as high as its rate */
    full = dft_uint_of((double)most / (double)ns * (double)(layout->fold * timeline->width_ns));
    for (unsigned line = PLOT_LINES; line-- > 0;) {
        printf("%*s %s", (int)layout->indent - 2,
               line == PLOT_LINES - 1 ? dft_timeline_rate(room, timeline->measure, most, ns)
               : line                 ? ""
                                      : "0",
               layout->unicode ? "┤" : "|");
        for (uint32_t i = 0; i < layout->count; i++) {
            double whole = (double)(layout->fold * timeline->width_ns);
            double value =
                (double)folded[i] / (double)dft_timeline_span(timeline, i * layout->fold, layout->fold) * whole;
            unsigned level = dft_plot_level(value < 0x1p63 ? (uint64_t)value : 0, full, PLOT_LINES * DFT_PLOT_LEVELS);

            level = level > line * DFT_PLOT_LEVELS ? level - line * DFT_PLOT_LEVELS : 0;
            fputs(dft_plot_bar(layout->unicode, level > DFT_PLOT_LEVELS ? DFT_PLOT_LEVELS : level), stdout);
        }
        putchar('\n');
    }
    dft_timeline_axis(timeline, layout);
}

/* --- lines of bars ---------------------------------------------------------------------------- */

static uint64_t total_of(const struct dft_timeline *timeline, enum shown what)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < timeline->count; i++)
        total += shown_value(&timeline->columns[i], what);
    return total;
}

/* The highest character of a line, as text. */
static void peak_text(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout, enum shown what,
                      const uint64_t *folded, char *room)
{
    uint32_t peak = peak_of(timeline, layout, folded);
    uint64_t ns = dft_timeline_span(timeline, peak * layout->fold, layout->fold), most = 0;

    if (what == SHOWN_READ || what == SHOWN_WRITTEN) {
        dft_timeline_rate(room, DFT_TIMELINE_BYTES, folded[peak], ns);
    } else if (what == SHOWN_CALLS) {
        dft_timeline_rate(room, DFT_TIMELINE_CALLS, folded[peak], ns);
    } else if (what == SHOWN_IN_FLIGHT) {
        dft_timeline_rate(room, DFT_TIMELINE_TIME, folded[peak], ns);
    } else if (what == SHOWN_IO) {
        dft_text_share(room, folded[peak], ns);
    } else {
        for (uint32_t i = 0; i < layout->count; i++)
            most = folded[i] > most ? folded[i] : most;
        dft_text_count(room, most);
    }
}

static int print_line(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout, enum shown what)
{
    static const char *const names[SHOWN] = {"read", "written", "calls", "in flight", "I/O", "processes"};
    uint64_t *values = malloc((timeline->count + layout->count + 1u) * sizeof *values), *folded;
    const char *name = what == SHOWN_IO && !timeline->is_exact ? "I/O at most" : names[what];
    char room[DFT_TIMELINE_ROOM];
    int columns;

    if (!values)
        return -ENOMEM;
    folded = values + timeline->count;
    for (uint32_t i = 0; i < timeline->count; i++)
        values[i] = shown_value(&timeline->columns[i], what);
    fold(values, timeline->count, layout, what != SHOWN_PROCESSES, folded);
    peak_text(timeline, layout, what, folded, room);
    columns = printf("%s ", name);
    if (layout->indent > 20)
        printf("%*s  ", (int)layout->indent - 2 - columns, room);
    else
        printf("%*s", (int)layout->indent - columns, "");
    print_bars(folded, layout);
    free(values);
    return 0;
}

/* The most in flight, and whether that is exact. */
static void print_flight(const struct dft_timeline *timeline)
{
    uint64_t span = dft_timeline_span(timeline, 0, timeline->count), most = 0, threads = 0;
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return;
    for (uint32_t i = 0; i < timeline->count; i++) {
        most = timeline->columns[i].in_flight_max > most ? timeline->columns[i].in_flight_max : most;
        threads = timeline->columns[i].threads > threads ? timeline->columns[i].threads : threads;
    }
    fprintf(out, "in flight %.2f on average, at most %llu%s", (double)timeline->total[DFT_TIMELINE_TIME] / (double)span,
            (unsigned long long)(timeline->is_exact ? most : threads),
            timeline->is_exact ? "" : " (a bound: the threads that were active)");
    dft_sentence_end(&text, out, "", 0);
}

void dft_timeline_footer(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout)
{
    char room[DFT_TEXT_ROOM];
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return;
    fprintf(out, "a column is %s; answered ", dft_text_ns(room, timeline->width_ns * layout->fold));
    dft_answer_print_source(out, &timeline->last);
    fputs("; ", out);
    dft_job_print_kept(out, &timeline->job);
    dft_job_print_losses(out, &timeline->job, timeline->source, "lost: ");
    dft_sentence_end(&text, out, "", 0);
}

static int print_lines_of_job(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout)
{
    int rc = 0;

    for (int what = 0; what < SHOWN && !rc; what++) {
        if (what == SHOWN_IO && !timeline->is_exact && !timeline->knows_occupancy)
            continue;
        if (what <= SHOWN_WRITTEN && !total_of(timeline, (enum shown)what))
            continue;
        rc = print_line(timeline, layout, (enum shown)what);
    }
    if (!rc && timeline->knows_busy)
        print_flight(timeline);
    return rc;
}

int dft_timeline_text(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout)
{
    uint64_t *values = malloc((timeline->count + layout->count + 1u) * sizeof *values), *folded;
    int rc = values ? 0 : -ENOMEM;

    if (!rc && timeline->count) {
        folded = values + timeline->count;
        for (uint32_t i = 0; i < timeline->count; i++)
            values[i] = dft_timeline_value(&timeline->columns[i], timeline->measure);
        fold(values, timeline->count, layout, 1, folded);
        print_head(timeline, layout, folded);
        putchar('\n');
        print_plot(timeline, layout, folded);
        rc = print_lines_of_job(timeline, layout);
        if (!rc)
            dft_timeline_footer(timeline, layout);
    }
    free(values);
    return rc;
}
