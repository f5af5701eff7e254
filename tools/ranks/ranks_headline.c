/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the first lines of the text: which rank, since when, in what and what it costs;
 * the evidence; how sure that is. */
#include "ranks/ranks_headline.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/names.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "job/job_state.h"
#include "ranks/ranks_blamed.h"
#include "ranks/ranks_confidence.h"
#include "ranks/ranks_tables.h"
#include "ranks/ranks_text.h"

#define INDENT     10u
#define MORE_CALLS 2u /* times those of another rank: it has more to do */

void dft_ranks_put_clock(FILE *out, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char text[32] = "?";
    struct tm tm;

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    fprintf(out, "%s UTC", text);
}

/* "rank 2 of 4 (node1)" */
static void put_who(FILE *out, const struct dft_ranks_job *job, uint32_t rank)
{
    dft_ranks_put(out, job, rank);
    fprintf(out, " of %" PRIu32, job->by_rank ? job->world_size : job->nranks);
    dft_ranks_put_host(out, job, rank);
}

static uint64_t spike_of(const struct dft_measured *measured)
{
    return (uint64_t)measured->cause.suspects->aligned_ns;
}

/* --- somebody --------------------------------------------------------------------------------- */

/* "in write below /scratch/out: 2.10 ms a call against 4.02 us" */
static void put_place(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    char text[DFT_TEXT_ROOM];

    if (!measured->call)
        return;
    fputs(" in ", out);
    dft_ranks_put_call(out, job, measured->call);
    if (measured->directory) {
        fputs(" below ", out);
        dft_text_escape(out, measured->directory, strlen(measured->directory));
    }
    if (measured == &job->measured[DFT_RANKS_BYTES] || !measured->calls || !measured->usual_ns)
        return;
    fprintf(out, ": %s a call", dft_text_ns(text, measured->call_ns / measured->calls));
    fprintf(out, " against %s", dft_text_ns(text, measured->usual_ns / measured->calls));
}

static int is_of_bytes(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    return measured == &job->measured[DFT_RANKS_BYTES];
}

static void put_headline(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    int is_bytes = is_of_bytes(job, measured);
    char text[DFT_TEXT_ROOM];

    put_who(out, job, measured->cause.suspects->rank);
    fputs(is_bytes ? " moves more than the others " : " is slow ", out);
    dft_ranks_put_when(out, job, measured);
    put_place(out, job, measured);
    if (!is_bytes && measured->lost < job->wall_ns) {
        fprintf(out, "; the job ran %s", dft_text_ns(text, job->wall_ns));
        fprintf(out, ", without that %s at best", dft_text_ns(text, job->wall_ns - measured->lost));
    }
}

static void put_lead(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    const struct dft_first_cause *cause = &measured->cause;
    char text[DFT_TEXT_ROOM];

    if (!cause->has_onset)
        fprintf(out, "no other %s lost as much", dft_ranks_word(job));
    else if (!cause->suspects->lead_ns)
        fprintf(out, "%" PRIu32 " other%s began in the same bucket of %s", dft_ranks_together(cause) - 1,
                dft_ranks_together(cause) == 2 ? "" : "s", dft_text_ns(text, job->bucket_ns));
    else
        fprintf(out, "that was %s before %s", dft_text_ns(text, (uint64_t)cause->suspects->lead_ns),
                cause->candidates > 2 ? "the next ones" : "the next one");
    if (measured->over_before)
        fputs(", and it was as usual again by then: perhaps two things", out);
}

static void put_evidence(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    char text[DFT_TEXT_ROOM];

    fputs("it began at ", out);
    dft_ranks_put_clock(out, spike_of(measured));
    fputs("; ", out);
    if (is_of_bytes(job, measured))
        fprintf(out, "it moved %s more than the others on average", dft_text_bytes(text, measured->lost));
    else
        dft_ranks_put_lost(out, job, measured);
    if (measured->call && measured->calls)
        fprintf(out, ", in %s call%s", dft_text_count(text, measured->calls), measured->calls == 1 ? "" : "s");
    if (measured->directory && measured->share < 0.995)
        fprintf(out, " (%.0f %% of that below this directory)", 100 * measured->share);
    fputs("; ", out);
    put_lead(out, job, measured);
}

static void put_confidence(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    (void)job;
    fprintf(out, "%s: %s", dft_confidence_name(measured->cause.suspects->confidence), measured->reason);
}

typedef void put_fn(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured);

static int put_sentence(const struct dft_ranks_job *job, put_fn *put, const char *title, unsigned indent)
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);

    if (out)
        put(out, job, &job->measured[job->headline]);
    return dft_sentence_end(&sentence, out, title, indent);
}

static int put_somebody(const struct dft_ranks_job *job)
{
    int rc = put_sentence(job, put_headline, "", 0);

    rc = rc ? rc : put_sentence(job, put_evidence, "evidence", INDENT);
    return rc ? rc : put_sentence(job, put_confidence, "how sure", INDENT);
}

/* --- nobody ----------------------------------------------------------------------------------- */

/* The rank with the most time in I/O. */
static uint32_t busiest_of(const struct dft_ranks_job *job)
{
    uint32_t busiest = 0;

    for (uint32_t r = 1; r < job->nranks; r++)
        if (job->ranks[r].io_ns > job->ranks[busiest].io_ns)
            busiest = r;
    return busiest;
}

/* "4.20 s in I/O, 92x the median of 45.6 ms" */
static void put_against_median(FILE *out, const struct dft_ranks_job *job, uint32_t rank)
{
    char text[DFT_TEXT_ROOM];

    fprintf(out, "%s in I/O", dft_text_ns(text, job->ranks[rank].io_ns));
    if (!job->median_io_ns)
        return;
    fprintf(out, ", %s", dft_text_ratio(text, (double)job->ranks[rank].io_ns / (double)job->median_io_ns));
    fprintf(out, " the median of %s", dft_text_ns(text, job->median_io_ns));
}

/* What ranks spend in one call. */
struct shares {
    uint64_t count, ns;               /* of the one */
    uint64_t others_count, others_ns; /* of the others, on average */
};

static struct shares shares_of(const struct dft_ranks_job *job, uint32_t rank, uint64_t call)
{
    struct shares shares = {0};

    for (uint32_t r = 0; r < job->nranks; r++)
        for (uint32_t i = 0; i < job->ranks[r].ncalls; i++) {
            const struct dft_rank_call *one = &job->ranks[r].calls[i];

            if (one->call != call)
                continue;
            *(r == rank ? &shares.count : &shares.others_count) += one->count;
            *(r == rank ? &shares.ns : &shares.others_ns) += one->ns;
        }
    shares.others_count /= job->nranks - 1;
    shares.others_ns /= job->nranks - 1;
    return shares;
}

/* "894 ms in 199 calls of fsync, another rank on average 1.20 ms in 3" */
static void put_shares(FILE *out, const struct dft_ranks_job *job, const struct shares *shares, uint64_t call)
{
    char ns[DFT_TEXT_ROOM], count[DFT_TEXT_ROOM];

    fprintf(out, "%s in %s call%s of ", dft_text_ns(ns, shares->ns), dft_text_count(count, shares->count),
            shares->count == 1 ? "" : "s");
    dft_ranks_put_call(out, job, call);
    if (shares->others_count)
        fprintf(out, ", another %s on average %s in %s", dft_ranks_word(job), dft_text_ns(ns, shares->others_ns),
                dft_text_count(count, shares->others_count));
    else
        fprintf(out, ", hardly any in another %s", dft_ranks_word(job));
}

static const char *sure_of(const struct dft_ranks_job *job, const struct shares *shares)
{
    if (job->nranks < 3)
        return "low: of two, no third says which is unusual";
    return shares->count > MORE_CALLS * shares->others_count
               ? "medium: it makes more calls than the others, rather than slower ones"
               : "low: it may have more to do, rather than be slower at it";
}

/* Who is slow all in all, but never by enough at a time, or has more to do, has not slowed down
 * first; it is not nobody either. */
static int put_slow_all_in_all(const struct dft_ranks_job *job)
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    uint32_t slow = job->slow[0];
    const struct dft_lag *lag = &job->ranks[slow].lag;
    uint64_t call = dft_ranks_dominant_call(&job->ranks[slow]);
    const struct shares shares = shares_of(job, slow, call);
    int rc;

    if (!out)
        return -ENOMEM;
    put_who(out, job, slow);
    fputs(" is slow ", out);
    if (lag->from == DFT_NO_BUCKET)
        fputs("all in all", out);
    else
        dft_ranks_put_span(out, job, job->origin_ns + lag->from * job->bucket_ns,
                           lag->to < job->nbuckets ? job->origin_ns + lag->to * job->bucket_ns : 0);
    if (call) {
        fputs(", the most in ", out);
        dft_ranks_put_call(out, job, call);
    }
    fputs(": ", out);
    put_against_median(out, job, slow);
    rc = dft_sentence_end(&sentence, out, "", 0);
    if (rc || !(out = dft_sentence_begin(&sentence)))
        return -ENOMEM;
    if (job->nslow > 1)
        fprintf(out, "it is the slowest of %" PRIu32 " (see below); ", job->nslow);
    if (shares.count > MORE_CALLS * shares.others_count || lag->from != DFT_NO_BUCKET)
        put_shares(out, job, &shares, call);
    else
        fputs("at no one time does it stand out, so nothing says when, or where, it began", out);
    rc = dft_sentence_end(&sentence, out, "evidence", INDENT);
    dft_text_wrapped(stdout, "how sure", INDENT, sure_of(job, &shares));
    return rc;
}

/* The call of the measure's kind that all ranks together spend most time in; 0: there are too few of it to say that it
 * slowed down. */
static uint64_t costliest_call(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    int kind = measured == &job->measured[DFT_RANKS_METADATA] ? DFT_LOST_META : DFT_LOST_DATA;
    uint64_t call = 0, ns = 0, count = 0;

    for (uint32_t c = 0; c < job->ncalls; c++)
        if (dft_lost_of(job->calls[c].op) == kind && job->calls[c].ns > ns) {
            call = job->calls[c].call;
            ns = job->calls[c].ns;
            count = job->calls[c].count;
        }
    return count >= UINT64_C(20) * job->nranks ? call : 0;
}

/* That by which all ranks lost most; NULL: they did not slow down together. */
static const struct dft_measured *all_slow(const struct dft_ranks_job *job)
{
    const struct dft_measured *found = NULL;

    for (int m = 0; m < DFT_RANKS_BYTES; m++)
        if (job->measured[m].all.to && costliest_call(job, &job->measured[m]) &&
            (!found || job->measured[m].all.most > found->all.most))
            found = &job->measured[m];
    return found;
}

/* "all ranks slowed down in write since +2.17 s" */
static void put_all_slow(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    uint64_t call = costliest_call(job, measured);

    fprintf(out, "all %s slowed down in ", job->by_rank ? "ranks" : "processes");
    dft_ranks_put_call(out, job, call);
    fputc(' ', out);
    dft_ranks_put_span(out, job, job->origin_ns + measured->all.from * job->bucket_ns, measured->all.until_ns);
}

static int put_nobody(const struct dft_ranks_job *job)
{
    const struct dft_measured *all = all_slow(job);
    int is_hung = dft_job_flying(&job->state, job->source, 1).calls != 0;
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    char text[DFT_TEXT_ROOM];
    int rc;

    if (!out)
        return -ENOMEM;
    fprintf(out, "no %s of %" PRIu32 " stands out%s: ", dft_ranks_word(job), job->nranks,
            is_hung ? " by calls that have ended" : "");
    if (all)
        put_all_slow(out, job, all);
    else if (job->nslow)
        fprintf(out, "%" PRIu32 " spen%s more time in I/O (see below), as may be by chance", job->nslow,
                job->nslow == 1 ? "ds" : "d");
    else
        fputs(is_hung ? "those in flight are in no number here" : "none slowed down, or moved more, by itself", out);
    rc = dft_sentence_end(&sentence, out, "", 0);
    if (rc || !(out = dft_sentence_begin(&sentence)))
        return -ENOMEM;
    if (all) {
        fprintf(out, "each lost %s", dft_text_ns(text, all->all.least));
        fprintf(out, " to %s then; ", dft_text_ns(text, all->all.most));
    }
    fputs("the slowest, ", out);
    dft_ranks_put(out, job, busiest_of(job));
    fputs(", spent ", out);
    put_against_median(out, job, busiest_of(job));
    rc = dft_sentence_end(&sentence, out, "evidence", INDENT);
    if (rc || !(out = dft_sentence_begin(&sentence)))
        return -ENOMEM;
    fprintf(out, "what is less than %s", dft_text_ratio(text, job->measured[DFT_RANKS_LATENCY].beyond));
    fprintf(out, " the usual, or shorter than a few buckets of %s, is not looked for",
            dft_text_ns(text, job->bucket_ns));
    return dft_sentence_end(&sentence, out, "how sure", INDENT);
}

int dft_ranks_headline(const struct dft_ranks_job *job)
{
    int rc;

    if (job->headline >= 0) {
        rc = put_somebody(job);
    } else if (job->nranks < 2 && job->nmissing) {
        printf("%" PRIu32 " of %" PRIu32
               " ranks %s no trace here, and one rank alone has nothing to be compared with\n",
               job->nmissing, job->world_size, job->nmissing == 1 ? "has" : "have");
        rc = 0;
    } else if (job->nranks < 2) {
        printf("one %s alone: there is nothing to compare it with\n", dft_ranks_word(job));
        rc = 0;
    } else {
        rc = job->slow_stands ? put_slow_all_in_all(job) : put_nobody(job);
    }
    putchar('\n');
    return rc;
}
