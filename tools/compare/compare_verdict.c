/* SPDX-License-Identifier: MIT */
/* Owns the sentences of a comparison: the headline, and the evidence. */
#include "compare/compare_verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "compare/compare_alone.h"
#include "compare/compare_match.h"
#include "compare/compare_words.h"
#include "compare/comparison.h"

#define SHARE_MORE 1.1 /* of the whole: others went the other way */
#define WALL_PART  20  /* a wall time that differs by one in so many is reported */
#define BUT_PART   100 /* a change of a call is reported from one in so many of all I/O, or of the wall time */
#define ONLY_MAX   8u

void dft_put_process(FILE *out, const struct dft_process *process)
{
    if (process->rank >= 0)
        fprintf(out, "rank %" PRId32, process->rank);
    else
        fprintf(out, "pid %" PRIu32, process->pid);
}

static void put_name(FILE *out, const struct dft_comparison *comparison, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_compare_text(comparison, id, buffer);

    dft_text_escape(out, text.bytes, text.length);
}

/* --- the headline ----------------------------------------------------------------------------- */

/* A count that changed for sure, by enough to be reported. */
static int is_other(const struct dft_change *change)
{
    uint64_t larger = change->value[0] > change->value[1] ? change->value[0] : change->value[1];

    return change->spread == DFT_SPREAD_BEYOND && dft_change_size(change) >= larger / BUT_PART;
}

/* "B makes 74 % fewer calls", "B moves no bytes", "B moves bytes where A has none" */
static void put_more(FILE *out, const struct dft_change *change, const char *verb, const char *what)
{
    char text[DFT_TEXT_ROOM];
    const char *part = dft_change_percent(text, change);
    int is_up = dft_change_is_up(change);

    if (!change->value[0] || !change->value[1])
        fprintf(out, change->value[0] ? "%s no %s" : "%s %s where A has none", verb, what);
    else if (*part == '+' || *part == '-')
        fprintf(out, "%s %s %s %s", verb, part + 1, is_up ? "more" : what[0] == 'c' ? "fewer" : "less", what);
    else
        fprintf(out, "%s %s as many %s", verb, part, what);
}

/* What is to be said before a time in I/O that does not differ: else the first words would hide
 * that something failed, or that calls changed. */
static void put_first(FILE *out, const struct dft_comparison *comparison, const struct dft_change *changes)
{
    const struct dft_change *count = &changes[DFT_MEASURE_COUNT], *bytes = &changes[DFT_MEASURE_BYTES];

    if (comparison->nfailures)
        fprintf(out, "B is worse than A by more than %g %% in %s (see \"worse\" below)%s", comparison->fail_over,
                dft_measure_word(comparison->metric), is_other(count) || is_other(bytes) ? ", and " : "; ");
    if (is_other(count)) {
        put_more(out, count, comparison->nfailures ? "makes" : "B makes", "calls");
        fputs(is_other(bytes) ? " and " : "; ", out);
    }
    if (is_other(bytes)) {
        put_more(out, bytes, is_other(count) || comparison->nfailures ? "moves" : "B moves", "bytes");
        fputs("; ", out);
    }
}

/* "B takes 92x as long as A in I/O: 14.2 s against 155 ms (+14.0 s)" */
static void put_times(FILE *out, const struct dft_change *time, int is_repeated, int is_first)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], by[DFT_TEXT_ROOM], part[DFT_TEXT_ROOM];
    double times = (double)time->value[1] / (double)time->value[0];
    int is_within = time->spread == DFT_SPREAD_WITHIN;

    if (1000 * (__int128)dft_change_size(time) < time->value[0] / 2) /* "0.0 %" */
        fputs("B takes as long as A in I/O", out);
    else if (is_within)
        fprintf(out, "%s in I/O by more than %s", is_first ? "A and B do not differ" : "as a whole they do not differ",
                is_repeated ? "runs do" : "each does within itself");
    else if (times >= 2)
        fprintf(out, "B takes %s as long as A in I/O", dft_text_ratio(part, times));
    else if (times <= 0.5)
        fprintf(out, "B is %s faster than A in I/O", dft_text_ratio(part, 1 / times));
    else
        fprintf(out, "B is %s %s than A in I/O", dft_change_percent(part, time) + 1,
                dft_change_is_up(time) ? "slower" : "faster");
    fprintf(out, ": %s against %s (%s", dft_text_ns(b, time->value[1]), dft_text_ns(a, time->value[0]),
            dft_change_ns(by, time));
    if (is_within)
        fprintf(out, ", %s", dft_change_percent(part, time));
    fputc(')', out);
}

/* The item that changed the most in the direction of the whole, and its share of that; NULL:
 * none. */
static const struct dft_item *largest(const struct dft_compared_items *items, const struct dft_change *total,
                                      double *share)
{
    for (uint32_t i = 0; i < items->count; i++) {
        const struct dft_item *item = &items->items[items->order[i]];
        const struct dft_change *time = &item->changes[DFT_MEASURE_TIME];

        if (!dft_change_size(time) || dft_change_is_up(time) != dft_change_is_up(total))
            continue;
        *share = (double)dft_change_size(time) / (double)dft_change_size(total);
        return item;
    }
    return NULL;
}

/* "; rank 2 of 4 alone since about +2.1 s: 2.10 ms a call against 4.02 us" */
static void put_alone(FILE *out, const struct dft_comparison *comparison, enum dft_compared table,
                      const struct dft_item *item)
{
    const struct dft_alone *alone = &item->alone;
    const struct dft_compared_run *run = &comparison->runs[alone->side];
    const struct dft_process *process = dft_compare_alone_process(comparison, table, item);
    const struct dft_query *query = &dft_compare_answer(run, table)->query;
    uint64_t since = query->base_ns + alone->since_slice * query->width_ns + query->width_ns / 2; /* or there about */
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (!process)
        return;
    fputs("; ", out);
    if (alone->count > 1 && alone->count == alone->processes)
        fprintf(out, "in all %s processes, the most in ", dft_text_count(a, alone->count));
    else if (alone->count > 1)
        fprintf(out, "in %s of %s processes, the most in ", dft_text_count(a, alone->count),
                dft_text_count(b, alone->processes));
    dft_put_process(out, process);
    if (alone->count == 1)
        fprintf(out, " of %s%s alone", dft_text_count(b, alone->processes), alone->side ? "" : " of A");
    if (alone->has_since && query->width_ns && since > run->job.start_ns)
        fprintf(out, " since about %+.*f s", query->width_ns < 1000000000 ? 2 : 1,
                (double)(since - run->job.start_ns) / 1e9);
    fprintf(out, ": %s a call against %s in %c", dft_text_ns(a, (uint64_t)alone->cost_ns),
            dft_text_ns(b, (uint64_t)alone->other_ns), alone->side ? 'A' : 'B');
}

/* " of .../ckpt-#" */
static int put_of_file(FILE *out, const struct dft_comparison *comparison, const struct dft_item *item)
{
    char *text;
    uint32_t length;

    if (dft_compare_pattern(comparison, item->key.file, &text, &length))
        return -ENOMEM;
    fputs(" of ", out);
    dft_text_escape(out, text, length);
    free(text);
    return 0;
}

/* The largest change beyond the spread, or of a process alone, that is worth a word; NULL: none. */
static const struct dft_item *exception(const struct dft_compared_items *items, uint64_t least)
{
    for (uint32_t i = 0; i < items->count; i++) {
        const struct dft_item *item = &items->items[items->order[i]];
        const struct dft_change *time = &item->changes[DFT_MEASURE_TIME];

        if ((time->spread == DFT_SPREAD_BEYOND || item->alone.count) && dft_change_size(time) >= least)
            return item;
    }
    return NULL;
}

/* For sides that do not differ as a whole: ", but openat of .../ckpt-# does: +11.8 s". What one
 * rank of many loses is little of all I/O, but the job may wait for it. */
static int put_but(FILE *out, const struct dft_comparison *comparison, const struct dft_change *total)
{
    const struct dft_repeated wall = dft_compare_wall(comparison, 1);
    uint64_t base = wall.median && wall.median < total->value[0] ? wall.median : total->value[0];
    const struct dft_item *of_file = exception(&comparison->tables[DFT_COMPARED_FILE_CALLS], base / BUT_PART);
    const struct dft_item *call = exception(&comparison->tables[DFT_COMPARED_CALLS], base / BUT_PART);
    const struct dft_item *item = of_file ? of_file : call;
    char text[DFT_TEXT_ROOM];

    if (!item)
        return 0;
    fputs(dft_compared_is_repeated(comparison) && item->changes[DFT_MEASURE_TIME].spread != DFT_SPREAD_BEYOND
              ? ", but in the runs in the middle "
              : ", but ",
          out);
    put_name(out, comparison, item->key.name);
    if (of_file && put_of_file(out, comparison, item))
        return -ENOMEM;
    fprintf(out, " does: %s", dft_change_ns(text, &item->changes[DFT_MEASURE_TIME]));
    if (of_file && (of_file->alone.count || !call || call->key.name != of_file->key.name))
        put_alone(out, comparison, DFT_COMPARED_FILE_CALLS, of_file);
    else
        put_alone(out, comparison, DFT_COMPARED_CALLS, call);
    return 0;
}

/* ", nearly all of it in openat of .../ckpt-#" */
static int put_where(FILE *out, const struct dft_comparison *comparison, const struct dft_change *total)
{
    double of_file = 0, of_call = 0, share;
    const struct dft_item *call = largest(&comparison->tables[DFT_COMPARED_CALLS], total, &of_call);
    const struct dft_item *file = largest(&comparison->tables[DFT_COMPARED_FILE_CALLS], total, &of_file);
    const struct dft_item *item = file && of_file >= 0.5 * of_call ? file : call;
    const struct dft_change *time;
    char text[DFT_TEXT_ROOM];

    if (!item)
        return 0;
    time = &item->changes[DFT_MEASURE_TIME];
    share = item == file ? of_file : of_call;
    fputs(share > SHARE_MORE ? ", the most in "
          : share >= 0.9     ? ", nearly all in "
          : share >= 0.5     ? ", most of it in "
                             : ", the largest part in ",
          out);
    put_name(out, comparison, item->key.name);
    if (item == file && put_of_file(out, comparison, item))
        return -ENOMEM;
    fprintf(out, ": %s", dft_change_ns(text, time));
    if (share > SHARE_MORE)
        fputs(dft_change_is_up(total) ? ", while others took less" : ", while others took more", out);
    if (item->alone.count)
        put_alone(out, comparison, item == file ? DFT_COMPARED_FILE_CALLS : DFT_COMPARED_CALLS, item);
    else
        put_alone(out, comparison, DFT_COMPARED_TOTAL, &comparison->tables[DFT_COMPARED_TOTAL].items[0]);
    return 0;
}

/* "; the job ran 14.8 s instead of 6.00 s" */
static void put_wall(FILE *out, const struct dft_comparison *comparison)
{
    const struct dft_repeated a = dft_compare_wall(comparison, 0), b = dft_compare_wall(comparison, 1);
    uint64_t off = a.median > b.median ? a.median - b.median : b.median - a.median;
    char text[DFT_TEXT_ROOM];

    if (!a.median || !b.median || off * WALL_PART <= a.median)
        return;
    fprintf(out, "; the job ran %s", dft_text_ns(text, b.median));
    fprintf(out, " instead of %s", dft_text_ns(text, a.median));
}

static int put_headline(FILE *out, const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    const struct dft_change *time;
    int rc = 0;

    if (dft_compare_is_same(comparison)) {
        fputs("A and B do not differ: the same calls on the same files, in the same time", out);
        return 0;
    }
    if (!totals->count) {
        fputs(dft_compare_is_empty(comparison) ? "nothing is compared: neither A nor B has an event that is asked for"
                                               : "neither side has I/O",
              out);
        return 0;
    }
    time = &totals->items[0].changes[DFT_MEASURE_TIME];
    if (time->spread == DFT_SPREAD_WITHIN || time->spread == DFT_SPREAD_SAME)
        put_first(out, comparison, totals->items[0].changes);
    if (!dft_change_size(time))
        fputs("B takes as long as A in I/O", out);
    else if (!time->value[0] || !time->value[1])
        fprintf(out, "%c alone has I/O", time->value[0] ? 'A' : 'B');
    else
        put_times(out, time, dft_compared_is_repeated(comparison), ftell(out) == 0);
    if (time->spread == DFT_SPREAD_WITHIN || !dft_change_size(time))
        rc = put_but(out, comparison, time);
    else
        rc = put_where(out, comparison, time);
    put_wall(out, comparison);
    return rc;
}

/* --- the evidence ----------------------------------------------------------------------------- */

static void put_counted(FILE *out, const struct dft_change *change, const char *what, int bytes)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], part[DFT_TEXT_ROOM];

    if (change->spread == DFT_SPREAD_WITHIN && (change->low[0] != change->high[0] || change->low[1] != change->high[1]))
        fprintf(out, "%s: within what runs differ by", what);
    else if (!dft_change_size(change))
        fprintf(out, "%s: the same", what);
    else
        fprintf(out, "%s: %s -> %s (%s)", what, (bytes ? dft_text_bytes : dft_text_count)(a, change->value[0]),
                (bytes ? dft_text_bytes : dft_text_count)(b, change->value[1]), dft_change_percent(part, change));
}

/* Calls that one side alone makes. */
static void put_only(FILE *out, const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_items *calls = &comparison->tables[DFT_COMPARED_CALLS];
    char text[DFT_TEXT_ROOM];
    unsigned n = 0;

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_item *item = &calls->items[calls->order[i]];
        const struct dft_change *count = &item->changes[DFT_MEASURE_COUNT];

        if (!count->value[side] || count->high[!side] || ++n > ONLY_MAX)
            continue;
        fputs(n > 1 ? ", " : side ? "; only in B: " : "; only in A: ", out);
        put_name(out, comparison, item->key.name);
        fprintf(out, " (%s)", dft_text_count(text, count->value[side]));
    }
    if (n > ONLY_MAX)
        fprintf(out, " and %u more", n - ONLY_MAX);
}

/* The last part of the first program of a run. */
static struct dft_text program_of(const struct dft_compared_run *run)
{
    struct dft_text exe = run->job.first ? run->job.first->process.exe : (struct dft_text){"", 0};
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;

    if (slash)
        exe = (struct dft_text){slash + 1, exe.length - (uint32_t)(slash + 1 - exe.bytes)};
    return exe;
}

/* Runs of different programs are compared all the same; that is reported. */
static void put_programs(FILE *out, const struct dft_comparison *comparison)
{
    const struct dft_text first = program_of(&comparison->runs[0]);

    for (uint32_t run = 1; run < comparison->nruns; run++) {
        const struct dft_text other = program_of(&comparison->runs[run]);

        if (!first.length || !other.length ||
            (first.length == other.length && !memcmp(first.bytes, other.bytes, other.length)))
            continue;
        fputs("; these are different programs: A is ", out);
        dft_text_escape(out, first.bytes, first.length);
        fprintf(out, ", run %" PRIu32 " of %c is ", comparison->runs[run].number,
                comparison->runs[run].side ? 'B' : 'A');
        dft_text_escape(out, other.bytes, other.length);
        return;
    }
}

static void put_evidence(FILE *out, const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    static const struct dft_item nothing;
    const struct dft_change *changes = (totals->count ? totals->items : &nothing)->changes;

    if (dft_compare_is_empty(comparison)) {
        fputs("no call and no region of either side", out);
    } else if (changes[DFT_MEASURE_COUNT].spread == DFT_SPREAD_SAME &&
               changes[DFT_MEASURE_BYTES].spread == DFT_SPREAD_SAME) {
        fputs("as many calls, and as many bytes", out);
    } else {
        put_counted(out, &changes[DFT_MEASURE_COUNT], "calls", 0);
        put_counted(out, &changes[DFT_MEASURE_BYTES], "; bytes", 1);
    }
    put_only(out, comparison, 0);
    put_only(out, comparison, 1);
    put_programs(out, comparison);
}

/* --- all -------------------------------------------------------------------------------------- */

int dft_compare_verdict(const struct dft_comparison *comparison, struct dft_verdict *verdict)
{
    size_t length[3];
    FILE *headline = open_memstream(&verdict->headline, &length[0]);
    FILE *evidence = open_memstream(&verdict->evidence, &length[1]);
    FILE *reason = open_memstream(&verdict->reason, &length[2]);
    int rc = headline && evidence && reason ? put_headline(headline, comparison) : -ENOMEM;

    if (!rc) {
        put_evidence(evidence, comparison);
        verdict->sure = dft_compare_sure(reason, comparison);
    }
    rc = (headline && fclose(headline)) ? -ENOMEM : rc;
    rc = (evidence && fclose(evidence)) ? -ENOMEM : rc;
    return (reason && fclose(reason)) ? -ENOMEM : rc;
}

void dft_verdict_fini(struct dft_verdict *verdict)
{
    free(verdict->headline);
    free(verdict->evidence);
    free(verdict->reason);
}
