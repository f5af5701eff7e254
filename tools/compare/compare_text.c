/* SPDX-License-Identifier: MIT */
/* A comparison for people: first what matters, then tables. */
#include "compare/compare_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_verdict.h"
#include "compare/compare_words.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "compare/compare_match.h"
#include "compare/compare_runs.h"
#include "compare/comparison.h"
#include "job/job_state.h"

#define INDENT    10u
#define PATHS_MAX 8u /* of a side, that are shown */

/* --- the runs --------------------------------------------------------------------------------- */

/* "1.47 s", or "1.47 s (1.46 s to 1.52 s)" */
static void put_range(FILE *out, uint64_t median, uint64_t low, uint64_t high)
{
    char text[DFT_TEXT_ROOM], other[DFT_TEXT_ROOM];

    fputs(dft_text_ns(text, median), out);
    if (strcmp(dft_text_ns(text, low), dft_text_ns(other, high)))
        fprintf(out, " (%s to %s)", text, other);
}

static void put_paths(FILE *out, const struct dft_comparison *comparison, int side)
{
    unsigned n = 0;

    for (uint32_t number = 1; number <= comparison->counts[side]; number++) {
        const struct dft_source_options *source = &dft_compared_run_of(comparison, side, number)->options.source;

        for (int i = 0; i < source->npaths && n < PATHS_MAX; i++, n++) {
            fputs(!n ? "" : i ? " + " : ", ", out);
            dft_text_escape(out, source->paths[i], strlen(source->paths[i]));
        }
    }
    fputs(n < PATHS_MAX ? "" : " ...", out);
}

static int is_lossy(const struct dft_comparison *comparison, int side)
{
    int lossy = 0;

    for (uint32_t i = 0; i < comparison->nruns; i++)
        lossy |= comparison->runs[i].side == side && comparison->runs[i].lossy;
    return lossy;
}

/* For one run of several, the share is that of this run. */
static void print_unrecorded(const struct dft_comparison *comparison, int side)
{
    for (uint32_t number = 1; number <= comparison->counts[side]; number++) {
        char run[32] = "", *text;

        if (comparison->counts[side] > 1)
            snprintf(run, sizeof run, "run %" PRIu32 ": ", number);
        text = dft_job_unrecorded_text(run, &dft_compared_run_of(comparison, side, number)->job);
        if (text)
            dft_text_wrapped(stdout, "", 3, text);
        free(text);
    }
}

static void put_side(FILE *out, const struct dft_comparison *comparison, int side)
{
    const struct dft_compared_run *run = &comparison->runs[side];
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    static const struct dft_item nothing;
    const struct dft_change *changes = (totals->count ? &totals->items[0] : &nothing)->changes;
    const struct dft_change *time = &changes[DFT_MEASURE_TIME];
    const struct dft_repeated wall = dft_compare_wall(comparison, side);
    char text[DFT_TEXT_ROOM];

    if (comparison->counts[side] > 1)
        fprintf(out, "%u runs; the one in the middle has ", comparison->counts[side]);
    fprintf(out, "%s process%s", dft_text_count(text, run->job.pids), run->job.pids == 1 ? "" : "es");
    if (run->job.ranks)
        fprintf(out, ", %s of %u ranks", dft_text_count(text, run->job.ranks), run->job.world_size);
    fputs("; wall time ", out);
    put_range(out, wall.median, wall.low, wall.high);
    fputs("; I/O ", out);
    put_range(out, time->value[side], time->low[side], time->high[side]);
    fprintf(out, " in %s calls", dft_text_count(text, changes[DFT_MEASURE_COUNT].value[side]));
    fprintf(out, ", %s", dft_text_bytes(text, changes[DFT_MEASURE_BYTES].value[side]));
}

static int print_side(const struct dft_comparison *comparison, int side)
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    int rc;

    if (out)
        put_paths(out, comparison, side);
    rc = dft_sentence_end(&sentence, out, side ? "B" : "A", 3);
    out = rc ? NULL : dft_sentence_begin(&sentence);
    if (out)
        put_side(out, comparison, side);
    rc = rc ? rc : dft_sentence_end(&sentence, out, "", 3);
    if (!rc && is_lossy(comparison, side))
        dft_text_wrapped(stdout, "", 3,
                         "not all of it is there: events were lost, or processes have no end (dftmerge check)");
    print_unrecorded(comparison, side);
    return rc;
}

static void print_name(const struct dft_comparison *comparison, uint64_t id)
{
    char buffer[18];
    struct dft_text text = dft_compare_text(comparison, id, buffer);

    dft_text_escape(stdout, text.bytes, text.length);
}

static int print_verdict(const struct dft_comparison *comparison)
{
    struct dft_verdict verdict = {0};
    char *sure = NULL;
    int rc = dft_compare_verdict(comparison, &verdict);

    if (!rc && asprintf(&sure, "%s: %s", dft_repeated_sure_name(verdict.sure), verdict.reason) < 0)
        rc = -ENOMEM;
    if (!rc) {
        dft_text_wrapped(stdout, "", 0, verdict.headline);
        dft_text_wrapped(stdout, "evidence", INDENT, verdict.evidence);
        dft_text_wrapped(stdout, "how sure", INDENT, sure);
        free(sure);
    }
    dft_verdict_fini(&verdict);
    return rc;
}

/* "time of read +44 % (limit 10 %)" */
static int print_failure(const struct dft_comparison *comparison, const struct dft_failure *failure)
{
    const struct dft_item *item = &comparison->tables[failure->table].items[failure->item];
    char buffer[DFT_TEXT_ROOM], *text;
    uint32_t length;

    printf("%s of ", dft_measure_word(comparison->metric));
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
    printf(" %s (limit %g %%)", dft_change_percent(buffer, &item->changes[comparison->metric]), comparison->fail_over);
    return 0;
}

static int is_known(const struct dft_change *change)
{
    return change->known[0] && change->known[1];
}

/* All I/O grew by more than the limit, and yet it is no failure: why. Returns 0: it did not. */
static int print_total(const struct dft_comparison *comparison)
{
    const struct dft_compared_items *totals = &comparison->tables[DFT_COMPARED_TOTAL];
    const struct dft_change *change = totals->count ? &totals->items[0].changes[comparison->metric] : NULL;

    if (!change || !dft_change_is_up(change) || !is_known(change) ||
        100 * (double)dft_change_size(change) <= comparison->fail_over * (double)change->value[0])
        return 0;
    fputs("not worse for sure: ", stdout);
    print_failure(comparison, &(struct dft_failure){DFT_COMPARED_TOTAL, 0});
    printf(", but %s\n", change->spread == DFT_SPREAD_UNKNOWN  ? "whether by chance is not known"
                         : change->spread == DFT_SPREAD_WITHIN ? "that is within the spread"
                                                               : "more calls explain less than the limit of it");
    return 1;
}

/* What is no failure, as nobody knows. Of lines it is said, too, of all I/O that is not larger. */
static int print_no_failure(const struct dft_comparison *comparison)
{
    const char *word = dft_measure_word(comparison->metric);
    int rc = 0;

    if (comparison->untold && !is_known(&comparison->tables[DFT_COMPARED_TOTAL].items[0].changes[comparison->metric])) {
        printf("not worse for sure: %s of all I/O is not known of both\n", word);
        return 0;
    }
    if (print_total(comparison))
        return 0;
    if (!comparison->has_unsure) {
        printf("not worse: no %s that matters grew by more than %g %% beyond the spread\n", word,
               comparison->fail_over);
        return 0;
    }
    fputs("not worse for sure: ", stdout);
    rc = print_failure(comparison, &comparison->unsure);
    puts(", but whether by chance is not known");
    return rc;
}

static int print_failures(const struct dft_comparison *comparison)
{
    int rc = 0;

    if (comparison->fail_over < 0 || dft_compare_is_empty(comparison))
        return 0;
    if (!comparison->nfailures)
        return print_no_failure(comparison);
    for (uint32_t i = 0; !rc && i < comparison->nfailures; i++) {
        fputs("worse: ", stdout);
        rc = print_failure(comparison, &comparison->failures[i]);
        putchar('\n');
    }
    return rc;
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

    rc = print_verdict(comparison);
    if (!rc)
        rc = print_failures(comparison);
    if (rc)
        return rc;
    putchar('\n');
    rc = print_side(comparison, 0);
    rc = rc ? rc : print_side(comparison, 1);
    if (rc)
        return rc;
    if (left_out)
        dft_text_wrapped(stdout, "", 3, left_out);
    if (dft_compare_is_same(comparison))
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
