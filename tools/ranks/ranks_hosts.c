/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: hosts whose clocks may be wrong. CLOCK records bring the processes of a host
 * together; how far the hosts are apart no trace tells. But where the ranks of each host start
 * together, and those of two hosts far apart, a clock is more likely to be wrong than the launcher
 * to be that slow. */
#include "ranks/ranks_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "ranks/ranks_tables.h"
#include "object/source_notes.h"

#define FAR_NS    UINT64_C(1000000000)
#define FAR_TIMES 10u /* what ranks of one host differ by */

struct starting {
    struct dft_text host;
    uint64_t ns;
};

static int by_host(const void *left, const void *right)
{
    const struct starting *a = left, *b = right;
    uint32_t n = a->host.length < b->host.length ? a->host.length : b->host.length;
    int order = n ? memcmp(a->host.bytes, b->host.bytes, n) : 0;

    order = order ? order : (a->host.length > b->host.length) - (a->host.length < b->host.length);
    return order ? order : (a->ns > b->ns) - (a->ns < b->ns);
}

static int same_host(const struct starting *a, const struct starting *b)
{
    return a->host.length == b->host.length && !memcmp(a->host.bytes, b->host.bytes, a->host.length);
}

static int note(const struct dft_ranks_job *job, const struct starting *first, const struct starting *last,
                uint64_t within)
{
    char *early = dft_text_escaped(first->host.bytes, first->host.length);
    char *late = dft_text_escaped(last->host.bytes, last->host.length);
    char apart[DFT_TEXT_ROOM], together[DFT_TEXT_ROOM];

    if (early && late)
        dft_source_note(
            job->source, 0,
            "ranks on %s start %s after those on %s, on one host within %s: perhaps a clock is wrong. A call or "
            "region that ends in all ranks at once brings them together: --align MPI_Init",
            late, dft_text_ns(apart, last->ns - first->ns), early, dft_text_ns(together, within));
    free(early);
    free(late);
    return early && late ? 0 : -ENOMEM;
}

/* Compares hosts with several ranks; the starts are sorted. */
static int compare_hosts(const struct dft_ranks_job *job, const struct starting *starts, uint32_t count)
{
    const struct starting *first = NULL, *last = NULL;
    uint64_t within = 0;

    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_host(&starts[i], &starts[end]);)
            end++;
        if (end - i < 2)
            continue;
        within = starts[end - 1].ns - starts[i].ns > within ? starts[end - 1].ns - starts[i].ns : within;
        first = !first || starts[i].ns < first->ns ? &starts[i] : first;
        last = !last || starts[i].ns > last->ns ? &starts[i] : last;
    }
    if (!first || last->ns - first->ns <= FAR_NS || last->ns - first->ns <= FAR_TIMES * within)
        return 0;
    return note(job, first, last, within);
}

int dft_ranks_hosts(const struct dft_ranks_job *job)
{
    struct starting *starts;
    int rc;

    if (!job->by_rank || job->clocks.kind == DFT_CLOCKS_EVENT || job->clocks.kind == DFT_CLOCKS_FIRST)
        return 0;
    starts = malloc((job->nranks + 1u) * sizeof *starts);
    if (!starts)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->nranks; r++)
        starts[r] = (struct starting){dft_ranks_process(job, r)->process.host, job->ranks[r].start_ns};
    qsort(starts, job->nranks, sizeof *starts, by_host);
    rc = compare_hosts(job, starts, job->nranks);
    free(starts);
    return rc;
}
