/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the answer from traces as text: one screen, what matters first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks/ranks.h"
#include "ranks/ranks_job.h"
#include "base/write_text.h"
#include "base/names.h"

#define TOP_DEFAULT 10u

/* "rank 17", or "pid 1234" where no process says its rank. */
static void put_rank(const struct dft_ranks_job *job, uint32_t rank)
{
    if (job->by_rank)
        printf("rank %" PRId32, job->ranks[rank].rank);
    else
        printf("pid %" PRIu32, dft_ranks_process(job, rank)->process.pid);
}

static void put_host(const struct dft_ranks_job *job, uint32_t rank)
{
    struct dft_text host = dft_ranks_process(job, rank)->process.host;

    if (!host.length)
        return;
    printf(" (");
    dft_text_escape(stdout, host.bytes, host.length);
    putchar(')');
}

static void put_clock(uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char text[32] = "?";
    struct tm tm;

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    printf("%s UTC", text);
}

static void put_call(const struct dft_ranks_job *job, uint64_t call)
{
    struct dft_text category, name;
    char capacity[18];

    dft_names_call(dft_source_names_table(job->source), call, &category, &name, capacity);
    dft_text_escape(stdout, name.bytes, name.length);
}

static uint64_t aligned_time(const struct dft_suspect *suspect)
{
    return (uint64_t)suspect->aligned_ns;
}

/* --- what was first --------------------------------------------------------------------------- */

static void put_place(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    if (!measured->call)
        return;
    printf("\n          in ");
    put_call(job, measured->call);
    if (measured != &job->measured[DFT_RANKS_BYTES] && measured->times > 0)
        printf(", which took %.*f times the usual", measured->times < 9.95 ? 1 : 0, measured->times);
    if (measured->directory) {
        printf(", %.0f %% under ", 100 * measured->share);
        dft_text_escape(stdout, measured->directory, strlen(measured->directory));
    }
}

static void put_lead(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    const struct dft_first_cause *cause = &measured->cause;
    char capacity[DFT_TEXT_ROOM];

    if (!cause->has_onset)
        printf("and no other %s did", job->by_rank ? "rank" : "process");
    else if (!cause->suspects->lead_ns)
        printf("with %" PRIu32 " others in the same bucket of %s", dft_ranks_together(cause) - 1,
               dft_text_ns(capacity, job->bucket_ns));
    else
        printf("%s before %s", dft_text_ns(capacity, (uint64_t)cause->suspects->lead_ns),
               cause->candidates > 2 ? "the next ones" : "the next one");
    if (measured->over_before)
        printf(", and as usual again by then: perhaps two things");
}

/* In lines of the terminal's width, under a title of ten columns. */
static void put_wrapped(const char *title, const char *text)
{
    size_t width = dft_terminal_width() - 10, n;

    while ((n = strlen(text)) > width) {
        for (n = width; n && text[n] != ' '; n--)
            ;
        if (!n)
            break;
        printf("%-10s%.*s\n", title, (int)n, text);
        title = "";
        text += n + 1;
    }
    printf("%-10s%s\n", title, text);
}

/* Who is slow all in all, but never by enough at a time, has not slowed down first; it is not
 * nobody either. */
static void put_nobody(const struct dft_ranks_job *job)
{
    if (job->nranks < 2) {
        puts("one alone: there is nothing to compare it with");
    } else if (job->nslow) {
        printf("none stands out at any one time; ");
        put_rank(job, job->slow[0]);
        puts(job->nslow > 1 ? " and others are slow all in all, see below" : " is slow all in all, see below");
    } else {
        puts("none: nobody slowed down, or moved more, by itself");
    }
}

static void put_first(const struct dft_ranks_job *job)
{
    static const char *const did[] = {[DFT_RANKS_LATENCY] = "slowed down first",
                                      [DFT_RANKS_METADATA] = "slowed down first",
                                      [DFT_RANKS_BYTES] = "moved more than the others first"};
    const struct dft_measured *measured;
    const struct dft_suspect *suspect;
    char capacity[DFT_TEXT_ROOM];

    printf("first     ");
    if (job->headline < 0) {
        put_nobody(job);
        return;
    }
    measured = &job->measured[job->headline];
    suspect = measured->cause.suspects;
    put_rank(job, suspect->rank);
    put_host(job, suspect->rank);
    printf(" %s, at %s (", did[job->headline], dft_ranks_since(capacity, job, aligned_time(suspect)));
    put_clock(aligned_time(suspect));
    fputs("),\n          ", stdout);
    put_lead(job, measured);
    put_place(job, measured);
    printf("\n          it %s ", job->headline == DFT_RANKS_BYTES ? "moved" : "lost");
    printf("%s%s; confidence %s\n",
           job->headline == DFT_RANKS_BYTES ? dft_text_bytes(capacity, measured->lost)
                                            : dft_text_ns(capacity, measured->lost),
           job->headline == DFT_RANKS_BYTES ? " beyond twice the median" : "",
           dft_confidence_name(suspect->confidence));
    put_wrapped("", measured->reason);
}

/* The rank whose memory, or processor time, rose first. */
static void put_sampled(const struct dft_ranks_job *job)
{
    static const char *const titles[] = {"memory", "gpu", "cpu"};
    char capacity[DFT_TEXT_ROOM];

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
            printf("'s memory rose first, by %s", dft_text_bytes(capacity, (uint64_t)first->delta));
        printf(", at %s", dft_ranks_since(capacity, job, (uint64_t)first->aligned_ns));
        if (cause->has_onset)
            printf(", %s before the next", dft_text_ns(capacity, (uint64_t)first->lead_ns));
        if (region) {
            fputs(", in ", stdout);
            put_call(job, region);
        }
        printf(" (confidence %s)\n", dft_confidence_name(first->confidence));
    }
}

/* --- the job ---------------------------------------------------------------------------------- */

static void put_skew(const struct dft_ranks_job *job, const char *what, int is_end)
{
    uint32_t last = 0, first = 0;
    char capacity[DFT_TEXT_ROOM];
    uint64_t spread;

    for (uint32_t r = 1; r < job->nranks; r++) {
        uint64_t now = is_end ? job->ranks[r].end_ns : job->ranks[r].start_ns;

        if (now > (is_end ? job->ranks[last].end_ns : job->ranks[last].start_ns))
            last = r;
        if (now < (is_end ? job->ranks[first].end_ns : job->ranks[first].start_ns))
            first = r;
    }
    spread = is_end ? job->ranks[last].end_ns - job->ranks[first].end_ns
                    : job->ranks[last].start_ns - job->ranks[first].start_ns;
    if (spread)
        printf("%swithin %s", what, dft_text_ns(capacity, spread));
    else
        printf("%sat the same time", what);
    if (spread) {
        printf(", the last is ");
        put_rank(job, last);
        printf(", %s behind the median",
               dft_text_ns(capacity, is_end ? job->ranks[last].end_ns - job->median_end_ns
                                            : job->ranks[last].start_ns - job->median_start_ns));
    }
    putchar('\n');
}

static void put_stragglers(const struct dft_ranks_job *job)
{
    char capacity[DFT_TEXT_ROOM];

    if (!job->nstragglers)
        return;
    printf("late      %" PRIu32 " ended long behind the others: ", job->nstragglers);
    for (uint32_t i = 0; i < job->nstragglers && i < 5; i++) {
        printf(i ? ", " : "");
        put_rank(job, job->stragglers[i]);
        printf(" by %s", dft_text_ns(capacity, job->ranks[job->stragglers[i]].end_ns - job->median_end_ns));
    }
    puts(job->nstragglers > 5 ? " ..." : "");
}

static int put_job(const struct dft_ranks_job *job)
{
    char capacity[DFT_TEXT_ROOM], *clocks = dft_clocks_text(&job->clocks), *given = dft_filter_given(job->filter);

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
    printf("\nlasted    %s, from ", dft_text_ns(capacity, job->wall_ns));
    put_clock(job->zero_ns);
    putchar('\n');
    if (job->job) {
        printf("job       ");
        dft_text_escape(stdout, job->job, strlen(job->job));
        printf(", the largest of %" PRIu32 "; %" PRIu32 " processes of the others are left out (--job)\n", job->njobs,
               job->others);
    }
    put_wrapped("clocks", clocks);
    free(clocks);
    put_skew(job, "start     ", 0);
    put_skew(job, "end       ", 1);
    put_stragglers(job);
    printf("memory    not sampled in these traces: it takes no part\n");
    return 0;
}

int dft_ranks_text(const struct dft_ranks_job *job, uint64_t top)
{
    char capacity[DFT_TEXT_ROOM];
    int rc;

    top = top ? top : TOP_DEFAULT;
    put_first(job);
    put_sampled(job);
    rc = put_job(job);
    rc = rc ? rc : dft_ranks_text_slow(job, top);
    rc = rc ? rc : dft_ranks_text_calls(job, top);
    if (!rc)
        printf("answered from %s, in buckets of %s\n", job->from_rows ? "buckets" : "events",
               dft_text_ns(capacity, job->bucket_ns));
    return rc;
}
