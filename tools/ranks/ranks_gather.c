/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: processes into ranks, and alignment on their first events. */
#include "ranks/ranks_gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks_filter.h"
#include "object/source_images.h"
#include "object/source_node.h"

#define WORLD_MAX (1u << 24) /* a larger job is not believed */

struct member {
    int64_t rank;
    uint64_t start_ns;
    uint32_t process;
    uint32_t image; /* the first of the files that one process wrote; itself where there is one */
};

static int by_rank(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return a->process < b->process ? -1 : 1;
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* From the load of its first process to the end of its last, as far as they are known. */
static void take_process(struct dft_ranks_job *job, struct dft_rank *rank, const struct dft_source_process *process)
{
    uint64_t start, end;

    dft_process_lifetime(process, &start, &end);
    if (start) {
        start = dft_ranks_aligned(job, process->number, start);
        rank->start_ns = rank->start_ns && rank->start_ns < start ? rank->start_ns : start;
    }
    if (end) {
        end = dft_ranks_aligned(job, process->number, end);
        rank->end_ns = rank->end_ns > end ? rank->end_ns : end;
    }
    rank->processes++;
}

/* Finds missing ranks among the requested ones. */
static int find_missing(struct dft_ranks_job *job, const struct dft_source_process *processes, uint32_t count)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < count; i++)
        if (job->rank_of[i] && processes[i].process.world_size > job->world_size &&
            processes[i].process.world_size <= WORLD_MAX)
            job->world_size = processes[i].process.world_size;
    if ((uint32_t)job->ranks[job->nranks - 1].rank >= job->world_size)
        job->world_size = (uint32_t)job->ranks[job->nranks - 1].rank + 1;
    if (job->world_size > WORLD_MAX)
        job->world_size = WORLD_MAX;
    job->missing = malloc((job->world_size + 1u) * sizeof *job->missing);
    if (!job->missing)
        return -ENOMEM;
    for (uint32_t rank = 0; rank < job->world_size; rank++)
        if (next < job->nranks && (uint32_t)job->ranks[next].rank == rank)
            next++;
        else if (dft_filter_rank(job->filter, rank))
            job->missing[job->nmissing++] = rank;
    return 0;
}

/* The first events of all ranks become one moment: that of the first rank's. */
static void align_first(struct dft_ranks_job *job, const struct dft_source_process *processes, uint32_t count)
{
    uint64_t *first = job->call_ns;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = job->rank_of[i] - 1;

        if (job->rank_of[i] && processes[i].start_ns && (!first[rank] || processes[i].start_ns < first[rank]))
            first[rank] = processes[i].start_ns;
    }
    for (uint32_t i = 0; i < count; i++)
        if (job->rank_of[i] && first[job->rank_of[i] - 1])
            job->clocks.first_shift[i] = (int64_t)(first[0] - first[job->rank_of[i] - 1]);
}

/* Ranks of two jobs are not the same ranks: of several the one with most ranks is looked at. Its
 * number + 1, or 0: there are not several. */
static uint32_t choose_job(struct dft_ranks_job *job)
{
    uint32_t count, best = 0;
    const struct dft_source_job *jobs = dft_source_jobs(job->source, &count);

    if (count < 2)
        return 0;
    for (uint32_t j = 1; j < count; j++)
        if (jobs[j].ranks > jobs[best].ranks ||
            (jobs[j].ranks == jobs[best].ranks && jobs[j].processes > jobs[best].processes))
            best = j;
    job->job = jobs[best].name;
    job->njobs = count;
    return jobs[best].number + 1;
}

static int number_ranks(struct dft_ranks_job *job, struct member *members, uint32_t count)
{
    qsort(members, count, sizeof *members, by_rank);
    job->nranks = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!i || (job->by_rank ? members[i].rank != members[i - 1].rank : members[i].image != members[i - 1].image))
            job->ranks[job->nranks++] = (struct dft_rank){.rank = job->by_rank ? (int32_t)members[i].rank : -1,
                                                          .process = members[i].process,
                                                          .first_event_ns = UINT64_MAX,
                                                          .lag = {.from = DFT_NO_BUCKET}};
        job->rank_of[members[i].process] = job->nranks;
    }
    return job->nranks ? 0 : -ENOENT;
}

/* Only ranks with a process that passes the filter stay, and only such processes. */
static int choose_asked(struct dft_ranks_job *job, struct member *members, uint32_t count,
                        const struct dft_source_process *processes)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        job->rank_of[members[i].process] = 0;
        if (dft_filter_process(job->filter, &processes[members[i].process]))
            members[n++] = members[i];
    }
    return number_ranks(job, members, n);
}

/* Aligned. */
static void find_zero(struct dft_ranks_job *job, const struct dft_source_process *processes, uint32_t count)
{
    uint64_t start, end;

    job->zero_ns = UINT64_MAX;
    job->last_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        dft_process_lifetime(&processes[i], &start, &end);
        if (!job->rank_of[i] || !start)
            continue;
        start = dft_ranks_aligned(job, i, start);
        end = dft_ranks_aligned(job, i, end);
        job->zero_ns = start < job->zero_ns ? start : job->zero_ns;
        job->last_ns = end > job->last_ns ? end : job->last_ns;
    }
}

int dft_ranks_gather(struct dft_ranks_job *job)
{
    uint32_t count, n = 0, chosen = choose_job(job);
    const struct dft_source_process *processes = dft_source_processes(job->source, &count);
    struct member *members = malloc((count + 1u) * sizeof *members);
    uint32_t *images = malloc((count + 1u) * sizeof *images);
    int rc = images ? dft_source_images(job->source, images) : -ENOMEM;

    job->rank_of = calloc(count + 1u, sizeof *job->rank_of);
    job->ranks = calloc(count + 1u, sizeof *job->ranks);
    job->call_ns = calloc(count + 1u, sizeof *job->call_ns); /* borrowed until the calls are known */
    if (!members || !job->rank_of || !job->ranks || !job->call_ns)
        rc = -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        job->by_rank |= processes[i].process.rank >= 0 && (!chosen || processes[i].job == chosen);
    for (uint32_t i = 0; !rc && i < count; i++) {
        if (dft_process_is_node(&processes[i]))
            continue;
        if (chosen && processes[i].job != chosen)
            job->others++;
        else if (job->by_rank && processes[i].process.rank < 0)
            job->unranked++;
        else if (job->by_rank || processes[i].start_ns)
            members[n++] =
                (struct member){processes[i].process.rank, processes[job->by_rank ? i : images[i]].process.start_ns, i,
                                job->by_rank ? i : images[i]};
    }
    if (!rc)
        rc = number_ranks(job, members, n);
    if (!rc && job->clocks.kind == DFT_CLOCKS_FIRST)
        align_first(job, processes, count);
    find_zero(job, processes, rc ? 0 : count);
    if (!rc && job->by_rank)
        rc = find_missing(job, processes, count);
    if (!rc)
        rc = choose_asked(job, members, n, processes);
    for (uint32_t i = 0; !rc && i < count; i++)
        if (job->rank_of[i])
            take_process(job, &job->ranks[job->rank_of[i] - 1], &processes[i]);
    free(job->call_ns);
    job->call_ns = NULL;
    free(images);
    free(members);
    return rc;
}

void dft_ranks_fini(struct dft_ranks_job *job)
{
    for (uint32_t i = 0; job->ranks && i < job->nranks; i++) {
        free(job->ranks[i].calls);
        dft_map_fini(&job->ranks[i].numbers);
    }
    for (unsigned m = 0; m < DFT_RANKS_MEASURES; m++) {
        dft_first_cause_fini(&job->measured[m].cause);
        free(job->measured[m].directory);
        free(job->measured[m].reason);
        free(job->measured[m].blamed);
    }
    for (int m = 0; m < DFT_SAMPLED; m++)
        dft_first_cause_fini(&job->sampled[m].cause);
    free(job->moments);
    dft_fates_free(&job->died.fates);
    dft_usual_fini(&job->usual);
    dft_ranks_filter_fini(job);
    free(job->rank_of);
    free(job->ranks);
    free(job->missing);
    free(job->cells);
    free(job->calls);
    free(job->call_ns);
    free(job->slow_ns);
    free(job->slow);
    free(job->stragglers);
    dft_job_fini(&job->state);
}
