/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: those who are blamed, in words: since when, who came then, and what each lost. */
#include "ranks/ranks_blamed.h"

#include <inttypes.h>

#include "base/names.h"
#include "base/write_text.h"
#include "ranks/ranks_tables.h"
#include "ranks/ranks_text.h"

#define NAMED     3u
#define LAST_PART 20u /* a time that ends so near to the end of the rank, of itself, ends with it */

const char *dft_ranks_word(const struct dft_ranks_job *job)
{
    return job->by_rank ? "rank" : "process";
}

void dft_ranks_put_span(FILE *out, const struct dft_ranks_job *job, uint64_t from, uint64_t to)
{
    char text[DFT_TEXT_ROOM];

    if (!to && from <= job->origin_ns + job->bucket_ns) {
        fputs("since the start", out);
        return;
    }
    fprintf(out, "%s %s", to ? "from" : "since", dft_ranks_since(text, job, from));
    if (to)
        fprintf(out, " to %s", dft_ranks_since(text, job, to));
}

uint64_t dft_ranks_until(const struct dft_ranks_job *job, const struct dft_blamed *blamed)
{
    uint32_t last = dft_rank_bucket(job, job->ranks[blamed->rank].last_event_ns);

    if (blamed->to + DFT_RANKS_LAST_BUCKETS > last || (last - blamed->to) * LAST_PART <= blamed->to - blamed->from)
        return 0;
    return job->origin_ns + blamed->to * job->bucket_ns;
}

static void put_other(FILE *out, const struct dft_ranks_job *job, const struct dft_blamed *before,
                      const struct dft_blamed *blamed)
{
    int is_later = blamed->from >= before->from + (before->to - before->from) / 3;

    fputs(is_later ? ", then " : ", and ", out);
    dft_ranks_put(out, job, blamed->rank);
    dft_ranks_put_host(out, job, blamed->rank);
    fputc(' ', out);
    dft_ranks_put_span(out, job, job->origin_ns + blamed->from * job->bucket_ns, dft_ranks_until(job, blamed));
}

/* A lag is against the others: where these were slow later, its end is none. */
void dft_ranks_put_when(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    const struct dft_blamed *blamed = measured->blamed;
    uint64_t spike = (uint64_t)measured->cause.suspects->aligned_ns, end = dft_ranks_until(job, blamed);

    dft_ranks_put_span(out, job, spike,
                       (measured->nblamed == 1 && measured->cause.has_onset) || end <= spike ? 0 : end);
    for (uint32_t i = 1; i < measured->nblamed && i < NAMED; i++)
        put_other(out, job, &blamed[i - 1], &blamed[i]);
    if (measured->nblamed > NAMED) /* more than a few are blamed only as all ranks of their hosts */
        fprintf(out, ", and %" PRIu32 " more, all that run on the same hosts", measured->nblamed - NAMED);
}

void dft_ranks_put_lost(FILE *out, const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    char text[DFT_TEXT_ROOM];

    if (measured->nblamed == 1) {
        fprintf(out, "it lost %s", dft_text_ns(text, measured->lost));
        return;
    }
    for (uint32_t i = 0; i < measured->nblamed && i < NAMED; i++) {
        fputs(i ? ", " : "", out);
        dft_ranks_put(out, job, measured->blamed[i].rank);
        fprintf(out, "%s %s", i ? "" : " lost", dft_text_ns(text, measured->blamed[i].lost));
    }
}
