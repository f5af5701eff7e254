/* SPDX-License-Identifier: MIT */
/* Jobs: the processes that belong to one launch of a parallel program. Traces of several launches
 * may lie together.
 *
 * Known are the id of the batch system's job, if any, the number of ranks, and each process's
 * parent. One id may have several launches (steps). Without an id only these facts
 * tell launches apart. The rules are:
 *
 * 1. Roots are the processes with a rank whose parent has none, or is not here. Roots with the same
 *    id, world size, host and parent are a party: one launcher on one host. In a party of several
 *    ranks, a rank that comes again begins another party. The cause is a script with several
 *    launches. One rank alone may start program after program. Copies of a file
 *    (source_copies.c) are no other ranks.
 * 2. Parties of the same id and world size without a common rank are one launch. Parties without an
 *    id must also lie within FAR_NS of each other. A party that fits several launches joins the
 *    nearest in time. A process with an unknown parent may repeat a rank of a launch near in time.
 *    A worker may have the rank from its parent.
 * 3. Descendants belong to the launch of their parent. Ancestors without a rank belong to a launch
 *    when all ranks below them do. Other processes with a launch's id belong to the nearest launch
 *    of that id, or to one without ranks. The rest belongs to no job. */
#include "judge/source_jobs.h"

#include "object/source_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "views/ps_tree.h"
#include "judge/source_copies.h"
#include "judge/source_job_names.h"
#include "format/hash.h"

#define FAR_NS (UINT64_C(60) * 1000000000)

struct member {
    const struct dft_source_process *process;
    uint64_t start_ns, end_ns;
    uint32_t party;
};

struct party {
    uint32_t first, count; /* range in members */
    uint64_t start_ns, end_ns;
};

struct finding_jobs {
    struct dft_source *source;
    struct dft_ps_tree tree;
    uint64_t *start_ns, *end_ns; /* start and end, by process */
    uint32_t *job;               /* by process: number + 1 */
    struct member *members;      /* the roots */
    uint32_t nmembers;
    struct party *parties;
    uint32_t nparties;
    struct dft_map ranks; /* rank_key() of job and rank */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_texts(struct dft_text a, struct dft_text b)
{
    uint32_t n = a.length < b.length ? a.length : b.length;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;

    return order ? order : compare_numbers(a.length, b.length);
}

static uint64_t id_hash(const struct dft_process *process)
{
    return process->job_id.length ? dft_name_id(process->job_id.bytes, process->job_id.length) : 0;
}

/* --- parties ---------------------------------------------------------------------------------- */

/* Does the same process start both? Pids 0 and 1 start nobody. */
static int same_launcher(const struct dft_process *a, const struct dft_process *b)
{
    return a->ppid > 1 && a->ppid == b->ppid && a->world_size == b->world_size &&
           !compare_texts(a->job_id, b->job_id) && !compare_texts(a->host, b->host);
}

static int by_launcher(const void *left, const void *right)
{
    const struct member *x = left, *y = right;
    const struct dft_process *a = &x->process->process, *b = &y->process->process;
    int order = compare_texts(a->job_id, b->job_id);

    order = order ? order : compare_numbers(a->world_size, b->world_size);
    order = order ? order : compare_texts(a->host, b->host);
    order = order ? order : compare_numbers(a->ppid, b->ppid);
    order = order ? order : compare_numbers(x->start_ns, y->start_ns);
    /* copies stand side by side */
    order = order ? order : compare_numbers((uint32_t)a->rank, (uint32_t)b->rank);
    return order ? order : compare_numbers(x->process->number, y->process->number);
}

static int collect_roots(struct finding_jobs *finding)
{
    const struct dft_source *source = finding->source;

    finding->members = malloc((source->nprocesses + 1u) * sizeof *finding->members);
    finding->parties = malloc((source->nprocesses + 1u) * sizeof *finding->parties);
    if (!finding->members || !finding->parties)
        return -ENOMEM;
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        uint32_t parent = finding->tree.parent[p];

        if (source->processes[p].process.rank < 0 ||
            (parent != DFT_PS_ROOT && source->processes[parent].process.rank >= 0))
            continue;
        finding->members[finding->nmembers++] =
            (struct member){&source->processes[p], finding->start_ns[p], finding->end_ns[p], 0};
    }
    qsort(finding->members, finding->nmembers, sizeof *finding->members, by_launcher);
    return 0;
}

static uint64_t rank_key(uint32_t number, int32_t rank)
{
    return (number + UINT64_C(1)) << 32 | (uint32_t)rank;
}

static int rank_is_new(struct dft_map *map, uint32_t party, int32_t rank, int *is_new)
{
    uint64_t *seen = dft_map_put(map, rank_key(party, rank));

    if (!seen)
        return -ENOMEM;
    *is_new = !*seen;
    *seen = 1;
    return 0;
}

static int has_several_ranks(const struct finding_jobs *finding, uint32_t from)
{
    const struct member *first = &finding->members[from];

    for (uint32_t i = from + 1; i < finding->nmembers; i++) {
        if (!same_launcher(&first->process->process, &finding->members[i].process->process))
            return 0;
        if (finding->members[i].process->process.rank != first->process->process.rank)
            return 1;
    }
    return 0;
}

static int make_parties(struct finding_jobs *finding)
{
    struct dft_map seen = {0};
    int rc = 0, several = 0;

    for (uint32_t i = 0; !rc && i < finding->nmembers; i++) {
        struct member *member = &finding->members[i];
        struct party *party = finding->nparties ? &finding->parties[finding->nparties - 1] : NULL;
        int goes_on = i && same_launcher(&finding->members[i - 1].process->process, &member->process->process);
        int is_new = 1;

        if (!goes_on)
            several = has_several_ranks(finding, i);
        if (several)
            rc = rank_is_new(&seen, finding->nparties - (goes_on ? 1u : 0u), member->process->process.rank, &is_new);
        if (goes_on && dft_source_is_copy(finding->source, member[-1].process, member->process))
            is_new = 1;
        if (!goes_on || !is_new) {
            party = &finding->parties[finding->nparties++];
            *party = (struct party){i, 0, member->start_ns, member->end_ns};
            if (goes_on && several && !rc)
                rc = rank_is_new(&seen, finding->nparties - 1, member->process->process.rank, &is_new);
        }
        party->count++;
        party->end_ns = member->end_ns > party->end_ns ? member->end_ns : party->end_ns;
    }
    dft_map_fini(&seen);
    return rc;
}

/* --- launches --------------------------------------------------------------------------------- */

static uint64_t between(const struct dft_source_job *job, uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns > job->end_ns)
        return start_ns - job->end_ns;
    return job->start_ns > end_ns ? job->start_ns - end_ns : 0;
}

static int shares_a_rank(const struct finding_jobs *finding, uint32_t job, const struct party *party)
{
    for (uint32_t i = party->first; i < party->first + party->count; i++)
        if (dft_map_find(&finding->ranks, rank_key(job, finding->members[i].process->process.rank)))
            return 1;
    return 0;
}

/* Finds the launch that a party belongs to, or the number of the next launch. */
static uint32_t launch_of(const struct finding_jobs *finding, const struct party *party)
{
    const struct dft_source *source = finding->source;
    const struct dft_process *process = &finding->members[party->first].process->process;
    uint32_t best = source->njobs;
    uint64_t nearest = UINT64_MAX, hash = id_hash(process);

    for (uint32_t j = 0; j < source->njobs; j++) {
        const struct dft_source_job *job = &source->jobs[j];
        uint64_t far = between(job, party->start_ns, party->end_ns);
        uint64_t apart =
            party->start_ns > job->start_ns ? party->start_ns - job->start_ns : job->start_ns - party->start_ns;

        if (job->world_size != process->world_size || job->id_hash != hash || (!job->id.length && far > FAR_NS) ||
            apart >= nearest)
            continue;
        if ((process->ppid > 1 || far > FAR_NS) && shares_a_rank(finding, j, party))
            continue;
        nearest = apart;
        best = j;
    }
    return best;
}

static int by_start(const void *left, const void *right)
{
    const struct party *a = left, *b = right;
    int order = compare_numbers(a->start_ns, b->start_ns);

    return order ? order : compare_numbers(a->first, b->first);
}

static int make_launches(struct finding_jobs *finding)
{
    struct dft_source *source = finding->source;
    int rc = 0, is_new = 0;

    qsort(finding->parties, finding->nparties, sizeof *finding->parties, by_start);
    for (uint32_t p = 0; !rc && p < finding->nparties; p++) {
        const struct party *party = &finding->parties[p];
        const struct dft_process *process = &finding->members[party->first].process->process;
        uint32_t number = launch_of(finding, party);
        struct dft_source_job *job = &source->jobs[number];

        if (number == source->njobs)
            *job = (struct dft_source_job){.id = process->job_id,
                                           .id_hash = id_hash(process),
                                           .world_size = process->world_size,
                                           .number = source->njobs++};
        dft_source_job_widen(job, party->start_ns, party->end_ns);
        for (uint32_t i = party->first; !rc && i < party->first + party->count; i++) {
            const struct dft_source_process *member = finding->members[i].process;

            finding->job[member->number] = number + 1;
            rc = rank_is_new(&finding->ranks, number, member->process.rank, &is_new);
            job->ranks += (uint32_t)is_new;
        }
    }
    return rc;
}

/* --- other members of launches ---------------------------------------------------------------- */

#define SEVERAL UINT32_MAX

/* Spreads jobs to ancestors of the ranks, then to descendants. Parents stand before children in the
 * order of the tree. */
static void spread(struct finding_jobs *finding)
{
    const struct dft_ps_tree *tree = &finding->tree;

    for (uint32_t i = 0; i < finding->nmembers; i++) {
        uint32_t job = finding->job[finding->members[i].process->number];
        uint32_t p = tree->parent[finding->members[i].process->number];

        for (uint32_t steps = 0; p != DFT_PS_ROOT && finding->job[p] != job && steps < tree->count; steps++) {
            finding->job[p] = finding->job[p] ? SEVERAL : job;
            p = tree->parent[p];
        }
    }
    for (uint32_t p = 0; p < tree->count; p++)
        if (finding->job[p] == SEVERAL)
            finding->job[p] = 0;
    for (uint32_t i = 0; i < tree->shown; i++) {
        uint32_t p = tree->order[i];

        if (!finding->job[p] && tree->parent[p] != DFT_PS_ROOT)
            finding->job[p] = finding->job[tree->parent[p]];
    }
}

/* Gives jobs to processes that have an id, but neither a rank nor relatives with a rank. */
static void take_ids(struct finding_jobs *finding)
{
    struct dft_source *source = finding->source;

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        const struct dft_process *process = &source->processes[p].process;
        uint32_t best = source->njobs;
        uint64_t nearest = UINT64_MAX, hash;

        if (finding->job[p] || !process->job_id.length)
            continue;
        hash = id_hash(process);
        for (uint32_t j = 0; j < source->njobs; j++) {
            uint64_t far = between(&source->jobs[j], finding->start_ns[p], finding->end_ns[p]);

            if (source->jobs[j].id_hash != hash || far >= nearest)
                continue;
            nearest = far;
            best = j;
        }
        if (best == source->njobs)
            source->jobs[best] =
                (struct dft_source_job){.id = process->job_id, .id_hash = hash, .number = source->njobs++};
        dft_source_job_widen(&source->jobs[best], finding->start_ns[p], finding->end_ns[p]);
        finding->job[p] = best + 1;
    }
}

int dft_source_find_jobs(struct dft_source *source)
{
    struct finding_jobs finding = {.source = source};
    struct dft_filter everything;
    uint32_t n = source->nprocesses;
    int rc;

    dft_filter_init(&everything);
    source->jobs = calloc(n + 1u, sizeof *source->jobs);
    finding.start_ns = calloc(n + 1u, sizeof *finding.start_ns);
    finding.end_ns = calloc(n + 1u, sizeof *finding.end_ns);
    finding.job = calloc(n + 1u, sizeof *finding.job);
    rc = source->jobs && finding.start_ns && finding.end_ns && finding.job ? 0 : -ENOMEM;
    if (!rc)
        rc = dft_ps_tree_make(&finding.tree, source, &everything);
    if (!rc) {
        dft_source_find_lives(source, finding.start_ns, finding.end_ns);
        rc = collect_roots(&finding);
    }
    if (!rc)
        rc = make_parties(&finding);
    if (!rc)
        rc = make_launches(&finding);
    if (!rc) {
        spread(&finding);
        take_ids(&finding);
        rc = dft_source_name_jobs(source, finding.job);
    }
    dft_ps_tree_free(&finding.tree);
    dft_map_fini(&finding.ranks);
    free(finding.start_ns);
    free(finding.end_ns);
    free(finding.job);
    free(finding.members);
    free(finding.parties);
    return rc;
}
