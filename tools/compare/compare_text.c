/* SPDX-License-Identifier: MIT */
/* A comparison for people: first what matters, then tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "compare/compare_words.h"
#include "base/write_text.h"

/* --- the first lines -------------------------------------------------------------------------- */

static void print_run(const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_run *run = &comparison->runs[side];
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    static const struct dft_item nothing;
    const struct dft_change *changes = (totals->count ? &totals->items[0] : &nothing)->changes;
    char capacity[DFT_TEXT_ROOM];

    printf("%c  ", side ? 'B' : 'A');
    for (int i = 0; i < run->options.source.npaths && i < 3; i++) {
        const char *path = run->options.source.paths[i];

        fputs(i ? " " : "", stdout);
        dft_text_escape(stdout, path, strlen(path));
    }
    fputs(run->options.source.npaths > 3 ? " ...\n" : "\n", stdout);
    printf("   %s process%s", dft_text_count(capacity, run->job.pids), run->job.pids == 1 ? "" : "es");
    if (run->job.ranks)
        printf(", %s of %u ranks", dft_text_count(capacity, run->job.ranks), run->job.world_size);
    printf(", wall time %s", dft_text_ns(capacity, run->job.wall_ns));
    printf("; I/O %s", dft_text_ns(capacity, changes[DFT_MEASURE_TIME].value[side]));
    printf(" in %s calls", dft_text_count(capacity, changes[DFT_MEASURE_COUNT].value[side]));
    printf(", %s\n", dft_text_bytes(capacity, changes[DFT_MEASURE_BYTES].value[side]));
    if (run->lossy)
        printf("   not all of it is there: events were lost, or processes have no end (dftmerge check)\n");
}

static const char *spread_sentence(enum dft_spread spread)
{
    static const char *const texts[] = {
        [DFT_SPREAD_SAME] = "",
        [DFT_SPREAD_BEYOND] = ", beyond the spread within the runs",
        [DFT_SPREAD_WITHIN] = ", within the spread of the runs",
        [DFT_SPREAD_UNKNOWN] = "; whether by chance cannot be told (too few processes and intervals, or events lost)"};

    return texts[spread];
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

static void print_name(const struct dft_comparison *comparison, uint64_t id)
{
    char capacity[18];
    struct dft_text text = dft_compare_text(comparison, id, capacity);

    dft_text_escape(stdout, text.bytes, text.length);
}

/* "in rank 2 of 4 alone, whose calls take 92 times as long as A's" */
static void print_alone(const struct dft_comparison *comparison, enum dft_compared table, const struct dft_item *item)
{
    const struct dft_alone *alone = &item->alone;
    const struct dft_process *process = dft_compare_alone_process(comparison, table, item);
    int is_rank = process && process->rank >= 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (!process)
        return;
    if (alone->count > 1)
        printf("   in %s of %s processes, the most in ", dft_text_count(a, alone->count),
               dft_text_count(b, alone->processes));
    else
        fputs("   in ", stdout);
    printf(is_rank ? "rank %u" : "pid %u", is_rank ? (unsigned)process->rank : process->pid);
    if (alone->count == 1)
        printf(" of %s alone", dft_text_count(b, alone->processes));
    printf(": its calls take %.*f times as long as those of %c\n", alone->times < 9.95, alone->times,
           alone->side ? 'A' : 'B');
}

#define SHARE_MORE 1.1 /* of the whole: others went the other way */

/* "nearly all in openat of .../ckpt-#: +11.8 s" */
static int print_where(const struct dft_comparison *comparison, const struct dft_change *total)
{
    double of_file = 0, of_call = 0, share;
    const struct dft_item *call = largest(&comparison->tables[DFT_COMPARED_CALLS], total, &of_call);
    const struct dft_item *file = largest(&comparison->tables[DFT_COMPARED_FILE_CALLS], total, &of_file);
    const struct dft_item *item = file && of_file >= 0.5 * of_call ? file : call;
    const struct dft_change *time;
    char capacity[DFT_TEXT_ROOM], *text;
    uint32_t length;

    if (!item)
        return 0;
    time = &item->changes[DFT_MEASURE_TIME];
    share = item == file ? of_file : of_call;
    fputs(share > SHARE_MORE ? "   the most in "
          : share >= 0.9     ? "   nearly all in "
          : share >= 0.5     ? "   most of it in "
                             : "   the largest part in ",
          stdout);
    print_name(comparison, item->key.name);
    if (item == file) {
        if (dft_compare_pattern(comparison, item->key.file, &text, &length))
            return -ENOMEM;
        fputs(" of ", stdout);
        dft_text_escape(stdout, text, length);
        free(text);
    }
    printf(": %s%s%s\n", dft_change_ns(capacity, time),
           share <= SHARE_MORE       ? ""
           : dft_change_is_up(total) ? ", while others took less"
                                     : ", while others took more",
           total->spread != DFT_SPREAD_WITHIN || time->spread != DFT_SPREAD_BEYOND ? ""
                                                                                   : "; that is beyond the spread");
    if (item->alone.count)
        print_alone(comparison, item == file ? DFT_COMPARED_FILE_CALLS : DFT_COMPARED_CALLS, item);
    else
        print_alone(comparison, DFT_COMPARED_TOTAL, &comparison->tables[DFT_COMPARED_TOTAL].items[0]);
    return 0;
}

static void print_counted(const struct dft_change *change, const char *what, int bytes)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], part[DFT_TEXT_ROOM];

    if (!dft_change_size(change))
        return;
    printf("   %s: %s -> %s (%s)\n", what, (bytes ? dft_text_bytes : dft_text_count)(a, change->value[0]),
           (bytes ? dft_text_bytes : dft_text_count)(b, change->value[1]), dft_change_percent(part, change));
}

/* Calls that one run alone makes. */
static void print_only(const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_items *calls = &comparison->tables[DFT_COMPARED_CALLS];
    char capacity[DFT_TEXT_ROOM];
    unsigned n = 0;

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_item *item = &calls->items[calls->order[i]];
        const struct dft_change *count = &item->changes[DFT_MEASURE_COUNT];

        if (!count->value[side] || count->value[!side])
            continue;
        if (++n > 8)
            continue;
        fputs(n > 1 ? ", " : side ? "   only in B: " : "   only in A: ", stdout);
        print_name(comparison, item->key.name);
        printf(" (%s)", dft_text_count(capacity, count->value[side]));
    }
    if (n > 8)
        printf(" and %u more", n - 8);
    if (n)
        putchar('\n');
}

/* "B is 23 % slower in I/O: 52.6 s -> 64.7 s (+12.1 s), beyond the spread within the runs" */
static void print_times(const struct dft_change *time)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], by[DFT_TEXT_ROOM], part[DFT_TEXT_ROOM];
    double times = (double)time->value[1] / (double)time->value[0];

    if (1000 * (__int128)dft_change_size(time) < time->value[0] / 2) /* "0.0 %" */
        printf("B takes as long as A in I/O");
    else if (times >= 2)
        printf("B takes %.*f times as long in I/O", times < 9.95, times);
    else
        printf("B is %s %s in I/O", dft_change_percent(part, time) + 1, dft_change_is_up(time) ? "slower" : "faster");
    printf(": %s -> %s (%s)%s\n", dft_text_ns(a, time->value[0]), dft_text_ns(b, time->value[1]),
           dft_change_ns(by, time), spread_sentence(time->spread));
}

static int print_verdict(const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    const struct dft_change *changes, *time;
    int rc = 0;

    if (dft_compare_is_same(comparison)) {
        puts("A and B do not differ: the same calls on the same files, in the same time");
        return 0;
    }
    if (!totals->count) {
        puts("neither run has I/O");
        return 0;
    }
    changes = totals->items[0].changes;
    time = &changes[DFT_MEASURE_TIME];
    if (!dft_change_size(time))
        puts("B takes as long as A in I/O");
    else if (!time->value[0] || !time->value[1])
        printf("%c alone has I/O\n", time->value[0] ? 'A' : 'B');
    else
        print_times(time);
    if (dft_change_size(time))
        rc = print_where(comparison, time);
    print_counted(&changes[DFT_MEASURE_COUNT], "calls", 0);
    print_counted(&changes[DFT_MEASURE_BYTES], "bytes", 1);
    print_only(comparison, 0);
    print_only(comparison, 1);
    return rc;
}

static int print_failures(const struct dft_comparison *comparison)
{
    if (comparison->fail_over < 0)
        return 0;
    if (!comparison->nfailures)
        printf("not worse: no %s that matters grew by more than %g %% beyond the spread\n",
               dft_measure_word(comparison->metric), comparison->fail_over);
    for (uint32_t i = 0; i < comparison->nfailures; i++) {
        const struct dft_failure *failure = &comparison->failures[i];
        const struct dft_item *item = &comparison->tables[failure->table].items[failure->item];
        char capacity[DFT_TEXT_ROOM], *text;
        uint32_t length;

        printf("worse: %s of ", dft_measure_word(comparison->metric));
        if (failure->table == DFT_COMPARED_TOTAL)
            fputs("all I/O", stdout);
        else if (failure->table == DFT_COMPARED_RANKS)
            printf("ranks %s", comparison->rank_groups[item->key.process_group - 1].label);
        else if (failure->table != DFT_COMPARED_FILES)
            print_name(comparison, item->key.name);
        else if (dft_compare_pattern(comparison, item->key.file, &text, &length))
            return -ENOMEM;
        else {
            dft_text_escape(stdout, text, length);
            free(text);
        }
        printf(" %s (limit %g %%)\n", dft_change_percent(capacity, &item->changes[comparison->metric]),
               comparison->fail_over);
    }
    return 0;
}

static void print_directories(const struct dft_comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->ndirectories; i++) {
        const struct dft_text *text = comparison->directories[i].text;

        fputs(i ? "    and " : "... is  ", stdout);
        dft_text_escape(stdout, text[0].bytes, text[0].length);
        fputs(" in A, ", stdout);
        dft_text_escape(stdout, text[1].bytes, text[1].length);
        fputs(" in B\n", stdout);
    }
}

int dft_compare_print(const struct dft_comparison *comparison)
{
    const char *left_out = dft_compare_left_out(comparison);
    int rc;

    print_run(comparison, 0);
    print_run(comparison, 1);
    if (left_out)
        printf("   %s\n", left_out);
    putchar('\n');
    rc = print_verdict(comparison);
    if (!rc)
        rc = print_failures(comparison);
    if (rc || dft_compare_is_same(comparison))
        return rc;
    rc = dft_compare_table(comparison, DFT_COMPARED_CALLS, "Calls by change", "call");
    if (!rc)
        rc = dft_compare_table(comparison, DFT_COMPARED_REGIONS, "Regions and processes", "region");
    if (!rc)
        rc = dft_compare_table(comparison, DFT_COMPARED_FILES, "Files", "pattern");
    if (!rc && comparison->tables[DFT_COMPARED_FILES].count)
        print_directories(comparison);
    return rc ? rc : dft_compare_table(comparison, DFT_COMPARED_RANKS, "Ranks", "ranks");
}
