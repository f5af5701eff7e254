/* SPDX-License-Identifier: MIT */
/* Owns how sure a comparison is of its headline, and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "compare/compare_alone.h"
#include "compare/compare_spread.h"
#include "compare/compare_verdict.h"
#include "compare/compare_words.h"
#include "compare/comparison.h"
#include "compare/family.h"

#define CHANCE_LEAST 0.01 /* per cent: smaller chances are one */

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* "3 runs of A against 3 of B" */
static void put_counts(FILE *out, const struct dft_comparison *comparison)
{
    fprintf(out, "%" PRIu32 " run%s of A against %" PRIu32 " of B", comparison->counts[0],
            plural(comparison->counts[0]), comparison->counts[1]);
}

/* "+50.0 ms" */
static const char *signed_ns(char buffer[DFT_TEXT_ROOM], int64_t ns)
{
    char text[DFT_TEXT_ROOM];

    snprintf(buffer, DFT_TEXT_ROOM, "%s%.24s",
             ns > 0   ? "+"
             : ns < 0 ? "-"
                      : "",
             dft_text_ns(text, (uint64_t)llabs(ns)));
    return buffer;
}

/* "+10 %" */
static const char *change_by(char text[DFT_TEXT_ROOM], uint64_t a, int64_t by)
{
    if (!by)
        return "0 %";
    return dft_text_change(text, a, by < 0 && (uint64_t)-by >= a ? 1 : a + (uint64_t)by);
}

/* "; chance alone does as much in 0.02 % of cases; the difference is +48.0 ms to +61.0 ms (+10 % to +13 %) at 95 %
 * confidence" */
static void put_tested(FILE *out, const struct dft_change *time)
{
    const struct dft_repeated_interval *interval = &time->interval;
    uint64_t a = time->value[0];
    double percent = 100 * time->chance;
    char low[DFT_TEXT_ROOM], high[DFT_TEXT_ROOM];

    if (percent < CHANCE_LEAST)
        fprintf(out, "; chance alone does as much in less than %g %% of cases", CHANCE_LEAST);
    else if (percent < 100)
        fprintf(out, "; chance alone does as much in %.*f %% of cases", percent < 0.1 ? 2 : percent < 10, percent);
    fprintf(out, "; the difference is %s to %s", signed_ns(low, interval->low), signed_ns(high, interval->high));
    if (a)
        fprintf(out, " (%s to %s)", change_by(low, a, interval->low), change_by(high, a, interval->high));
    fprintf(out, " at %.3g %% confidence", 100 * interval->confidence);
}

/* By how much sides lie apart that differ; `width`: how far the runs of one do. */
static void put_apart(FILE *out, const struct dft_item *total, uint64_t width, int side)
{
    const struct dft_change *time = &total->changes[DFT_MEASURE_TIME];
    double times = width ? (double)dft_change_size(time) / (double)width : 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    fprintf(out, ": the medians are %s apart", dft_text_ns(a, dft_change_size(time)));
    if (!total->by_cost)
        fprintf(out, ", and the number of calls makes half of that at least; those of %c alone differ by %s",
                side ? 'B' : 'A', dft_text_ns(a, width));
    else if (width)
        fprintf(out, ", %s what those of %c alone differ by (%s)", dft_text_ratio(b, times), side ? 'B' : 'A',
                dft_text_ns(a, width));
    else
        fputs(", and those of one side do not differ", out);
}

/* "; A1 (t/a1) is an outlier: 1.04 s, the others 383 ms to 417 ms (a cold cache?)" */
static void put_outlier(FILE *out, const struct dft_comparison *comparison, int side)
{
    const struct dft_measured_item *measured = comparison->tables[DFT_COMPARED_TOTAL].measured;
    uint64_t values[DFT_REPETITIONS_MAX];
    struct dft_repeated of;
    uint32_t n = 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    for (uint32_t run = 0; run < comparison->nruns; run++)
        if (comparison->runs[run].side == side)
            values[n++] = measured[run].value[DFT_MEASURE_TIME];
    of = dft_repeated_of(values, n);
    for (uint32_t i = 0; of.outlier && i < comparison->nruns; i++) {
        const struct dft_compared_run *run = &comparison->runs[i];
        uint64_t time = measured[i].value[DFT_MEASURE_TIME];

        if (run->side != side || time != (of.outlier > 0 ? of.high : of.low))
            continue;
        fprintf(out, "; %c%" PRIu32 " (", side ? 'B' : 'A', run->number);
        dft_text_escape(out, run->options.source.paths[0], strlen(run->options.source.paths[0]));
        fprintf(out, ") is an outlier: %s", dft_text_ns(a, time));
        fprintf(out, ", the others %s to %s%s", dft_text_ns(a, of.rest_low), dft_text_ns(b, of.rest_high),
                of.outlier > 0 ? " (a cold cache?)" : "");
    }
}

/* What as few runs as these cannot tell. */
static void put_few(FILE *out, const struct dft_comparison *comparison)
{
    uint32_t least = comparison->counts[comparison->counts[1] < comparison->counts[0]];

    if (least == 1)
        fprintf(out, "; of one run of %c nothing is known about its spread", comparison->counts[0] == 1 ? 'A' : 'B');
    if (least < DFT_FAMILY_RUNS_MIN)
        fprintf(out, "; with fewer than %u runs a side all I/O alone is tested", DFT_FAMILY_RUNS_MIN);
}

static enum dft_repeated_sure put_repeated(FILE *out, const struct dft_comparison *comparison,
                                           const struct dft_item *total)
{
    const struct dft_change *time = &total->changes[DFT_MEASURE_TIME];
    uint64_t widths[2] = {time->high[0] - time->low[0], time->high[1] - time->low[1]};
    int wider = widths[1] > widths[0];
    char a[DFT_TEXT_ROOM];

    put_counts(out, comparison);
    if (time->spread == DFT_SPREAD_SAME) {
        fputs(": all took the same time", out);
    } else if (time->spread == DFT_SPREAD_WITHIN) {
        fprintf(out, ": the medians are %s apart", dft_text_ns(a, dft_change_size(time)));
        fprintf(out, ", and those of %c alone differ by %s", wider ? 'B' : 'A', dft_text_ns(a, widths[wider]));
        if (time->chance <= DFT_REPEATED_LEVEL && dft_change_is_below_floor(time))
            fputs("; less than 0.5 % is not called a change", out);
    } else if (time->spread == DFT_SPREAD_BEYOND) {
        put_apart(out, total, widths[wider], wider);
    } else {
        fputs(": whether by chance is not known", out);
    }
    if (time->is_tested)
        put_tested(out, time);
    put_outlier(out, comparison, 0);
    put_outlier(out, comparison, 1);
    put_few(out, comparison);
    return (enum dft_repeated_sure)time->sure;
}

/* Why one run a side differs beyond its own spread. */
static void put_beyond(FILE *out, const struct dft_comparison *comparison, const struct dft_item *total)
{
    const struct dft_process *process = dft_compare_alone_process(comparison, DFT_COMPARED_TOTAL, total);

    if (process && total->alone.sure) {
        dft_put_process(out, process);
        fprintf(out, "'s calls cost more than any of %c in %u slices of time at least", total->alone.side ? 'A' : 'B',
                DFT_UNITS_MIN);
    } else if (total->by_cost) {
        fputs("beyond the spread within the runs, which chance does less than once in 1,000 times", out);
    } else {
        fputs("the number of calls makes half of it at least", out);
    }
}

static enum dft_repeated_sure put_single(FILE *out, const struct dft_comparison *comparison,
                                         const struct dft_item *total)
{
    const struct dft_change *time = &total->changes[DFT_MEASURE_TIME];

    if (time->spread == DFT_SPREAD_BEYOND)
        put_beyond(out, comparison, total);
    else if (time->spread == DFT_SPREAD_UNKNOWN)
        fputs("whether by chance is not known (too few processes and intervals, or events lost)", out);
    else
        fputs("within the spread of the runs themselves", out);
    fputs("; with one run a side nothing is known about the spread between runs: compare A1 A2 A3 -- B1 B2 B3 shows it",
          out);
    return time->spread == DFT_SPREAD_BEYOND ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
}

enum dft_repeated_sure dft_compare_sure(FILE *out, const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    enum dft_repeated_sure sure;
    int lossy = 0;

    if (dft_compare_is_same(comparison)) {
        fputs("every number of every call and file is the same", out);
        sure = DFT_REPEATED_HIGH;
    } else if (dft_compare_is_empty(comparison)) {
        fputs("nothing is compared", out);
        sure = DFT_REPEATED_LOW;
    } else if (!totals->count) {
        fputs("neither side has a call of I/O", out);
        sure = DFT_REPEATED_HIGH;
    } else if (dft_compared_is_repeated(comparison)) {
        sure = put_repeated(out, comparison, totals->items);
    } else {
        sure = put_single(out, comparison, totals->items);
    }
    for (uint32_t run = 0; run < comparison->nruns; run++)
        lossy |= comparison->runs[run].lossy;
    if (lossy)
        fputs("; and something is missing from the traces (see below)", out);
    return lossy ? DFT_REPEATED_LOW : sure;
}
