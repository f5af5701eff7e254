/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the answer from traces as text: one screen, what matters first. */
#include "ranks/ranks_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks/ranks.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "base/names.h"
#include "job/job_state.h"
#include "ranks/ranks_confidence.h"
#include "ranks/ranks_died.h"
#include "ranks/ranks_headline.h"
#include "ranks/ranks_regions.h"
#include "ranks/ranks_tables.h"

#define TOP_DEFAULT 10u
#define INDENT      10u

void dft_ranks_put(FILE *out, const struct dft_ranks_job *job, uint32_t rank)
{
    if (job->by_rank)
        fprintf(out, "rank %" PRId32, job->ranks[rank].rank);
    else
        fprintf(out, "pid %" PRIu32, dft_ranks_process(job, rank)->process.pid);
}

static void put_rank(const struct dft_ranks_job *job, uint32_t rank)
{
    dft_ranks_put(stdout, job, rank);
}

void dft_ranks_put_host(FILE *out, const struct dft_ranks_job *job, uint32_t rank)
{
    struct dft_text host = dft_ranks_process(job, rank)->process.host;

    if (!host.length)
        return;
    fputs(" (", out);
    dft_text_escape(out, host.bytes, host.length);
    fputc(')', out);
}

void dft_ranks_put_call(FILE *out, const struct dft_ranks_job *job, uint64_t call)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(dft_source_names_table(job->source), call, &category, &name, text);
    dft_text_escape(out, name.bytes, name.length);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* The rank whose memory, or processor time, rose first. */
static void put_sampled(const struct dft_ranks_job *job)
{
    static const char *const titles[] = {"memory", "gpu", "cpu"};
    char text[DFT_TEXT_ROOM];

    for (int m = 0; m < DFT_SAMPLED; m++) {
        const struct dft_first_cause *cause = &job->sampled[m].cause;
        const struct dft_suspect *first = cause->suspects;
        uint64_t region = cause->nsuspects ? dft_ranks_region(job, first) : 0;

        /* half of the ranks together are no rank's doing */
        if (!cause->nsuspects || 2 * dft_ranks_together(cause) > job->nranks)
            continue;
        printf("%-10s", titles[m]);
        put_rank(job, first->rank);
        if (m == DFT_SAMPLED_CPU)
            printf("'s processor time rose first, by %.1f of a processor", (double)first->delta / 1000);
        else
            printf("'s memory rose first, by %s", dft_text_bytes(text, (uint64_t)first->delta));
        printf(", at %s", dft_ranks_since(text, job, (uint64_t)first->aligned_ns));
        if (cause->has_onset)
            printf(", %s before the next", dft_text_ns(text, (uint64_t)first->lead_ns));
        if (region) {
            fputs(", in ", stdout);
            dft_ranks_put_call(stdout, job, region);
        }
        printf(" (confidence %s)\n", dft_confidence_name(first->confidence));
    }
}

/* --- the job ---------------------------------------------------------------------------------- */

/* Do some processes still run, and is it unknown of some when they ended? */
static uint32_t count_ends(const struct dft_ranks_job *job, uint32_t *running)
{
    uint32_t count, unknown = 0;
    const struct dft_source_process *processes = dft_source_processes(job->source, &count);

    *running = 0;
    for (uint32_t p = 0; p < count; p++) {
        if (!job->rank_of[p])
            continue;
        *running += processes[p].exit_kind == DFT_ENDING_RUNNING;
        unknown += processes[p].exit_kind == DFT_ENDING_KILLED || processes[p].exit_kind == DFT_ENDING_UNKNOWN;
    }
    return unknown;
}

static int put_skew(const struct dft_ranks_job *job, int is_end)
{
    uint32_t last = 0, first = 0, unknown, running;
    char text[DFT_TEXT_ROOM];
    struct dft_sentence sentence;
    uint64_t spread;
    FILE *out;

    for (uint32_t r = 1; r < job->nranks; r++) {
        uint64_t now = is_end ? job->ranks[r].end_ns : job->ranks[r].start_ns;

        if (now > (is_end ? job->ranks[last].end_ns : job->ranks[last].start_ns))
            last = r;
        if (now < (is_end ? job->ranks[first].end_ns : job->ranks[first].start_ns))
            first = r;
    }
    unknown = count_ends(job, &running);
    spread = is_end ? job->ranks[last].end_ns - job->ranks[first].end_ns
                    : job->ranks[last].start_ns - job->ranks[first].start_ns;
    out = dft_sentence_begin(&sentence);
    if (out && is_end && running) {
        fprintf(out, "%" PRIu32 " process%s still run%s", running, running == 1 ? "" : "es", running == 1 ? "s" : "");
    } else if (out && spread) {
        fprintf(out, "%swithin %s, the last is ", is_end && unknown ? "last calls " : "", dft_text_ns(text, spread));
        dft_ranks_put(out, job, last);
        fprintf(out, ", %s behind the median",
                dft_text_ns(text, is_end ? job->ranks[last].end_ns - job->median_end_ns
                                         : job->ranks[last].start_ns - job->median_start_ns));
    } else if (out) {
        fputs("at the same time", out);
    }
    return dft_sentence_end(&sentence, out, is_end ? "end" : "start", INDENT);
}

static int put_stragglers(const struct dft_ranks_job *job)
{
    char text[DFT_TEXT_ROOM];
    uint32_t unknown, running;
    struct dft_sentence sentence;
    FILE *out;

    unknown = count_ends(job, &running);
    if (!job->nstragglers || running)
        return 0;
    out = dft_sentence_begin(&sentence);
    if (out)
        fprintf(out, "%" PRIu32 " %s long behind the others: ", job->nstragglers, unknown ? "called last" : "ended");
    for (uint32_t i = 0; out && i < job->nstragglers && i < 5; i++) {
        fputs(i ? ", " : "", out);
        dft_ranks_put(out, job, job->stragglers[i]);
        fprintf(out, " by %s", dft_text_ns(text, job->ranks[job->stragglers[i]].end_ns - job->median_end_ns));
    }
    if (out && job->nstragglers > 5)
        fputs(" ...", out);
    return dft_sentence_end(&sentence, out, "late", INDENT);
}

static int put_job(const struct dft_ranks_job *job)
{
    char text[DFT_TEXT_ROOM], *clocks = dft_clocks_text(&job->clocks),
                              *given = dft_filter_text(dft_filter_options(job->filter));
    int rc;

    if (!clocks || !given) {
        free(clocks);
        free(given);
        return -ENOMEM;
    }
    if (*given)
        printf("asked     only what passes%s\n", given);
    free(given);
    if (job->by_rank) {
        printf("ranks     %" PRIu32 " of %" PRIu32, job->nranks, job->world_size);
        if (job->nmissing) {
            printf("; missing: ");
            dft_print_ranks(stdout, job->missing, job->nmissing, 12);
        }
        if (job->unranked)
            printf("; %" PRIu32 " processes without a rank are left out", job->unranked);
    } else {
        printf("processes %" PRIu32 ": none says its rank, each is looked at by itself", job->nranks);
    }
    printf("\nlasted    %s, from ", dft_text_ns(text, job->wall_ns));
    dft_ranks_put_clock(stdout, job->zero_ns);
    putchar('\n');
    if (job->job) {
        printf("job       ");
        dft_text_escape(stdout, job->job, strlen(job->job));
        printf(", the largest of %" PRIu32 "; %" PRIu32 " processes of the others are left out (--job)\n", job->njobs,
               job->others);
    }
    if (job->clocks.kind != DFT_CLOCKS_ANCHORS || job->clocks.nhosts > 1 || job->clocks.without)
        dft_text_wrapped(stdout, "clocks", INDENT, clocks);
    free(clocks);
    if (job->nranks < 2) /* it starts and ends with itself */
        return 0;
    rc = put_skew(job, 0);
    rc = rc ? rc : put_skew(job, 1);
    return rc ? rc : put_stragglers(job);
}

int dft_ranks_text(const struct dft_ranks_job *job, uint64_t top)
{
    char text[DFT_TEXT_ROOM];
    int rc;

    top = top ? top : TOP_DEFAULT;
    if (dft_job_flying(&job->state, job->source, 1).calls)
        dft_job_print_in_flight(&job->state, job->source);
    rc = dft_ranks_put_died(job);
    rc = rc ? rc : dft_ranks_headline(job);
    if (rc)
        return rc;
    put_sampled(job);
    rc = put_job(job);
    if (!rc && job->nranks < 2)
        return 0;
    rc = rc ? rc : dft_ranks_text_slow(job, top);
    rc = rc ? rc : dft_ranks_text_calls(job, top);
    if (!rc)
        dft_print_wrapped("answered from %s, in buckets of %s", job->from_rows ? "buckets" : "events",
                          dft_text_ns(text, job->bucket_ns));
    return rc;
}
