/* SPDX-License-Identifier: MIT */
/* Processes into teams. */
#include "overlap/overlap_teams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "source/ps_tree.h"
#include "source/source_images.h"
#include "source/source_node.h"

/* What makes a team: a rank of a job, or the process at its head. */
struct member {
    int64_t rank; /* -1: none */
    uint32_t job, head;
    uint32_t process; /* the first image */
    uint64_t start_ns, end_ns, compute_ns;
};

struct gathering {
    const struct dft_source_process *processes;
    uint32_t count;
    struct dft_ps_tree tree;
    uint32_t *images, *heads; /* heads: of each image, once it is known; else DFT_NO_LANE */
    uint64_t *compute_ns;     /* by image */
    struct member *members;
    uint32_t nmembers;
    int has_ranks, has_compute;
};

void dft_overlap_life(const struct dft_overlap_request *request, const struct dft_source_process *process,
                      uint64_t *start, uint64_t *end)
{
    dft_process_lifetime(process, start, end);
    if (*start < request->filter->from_ns)
        *start = request->filter->from_ns;
    if (*end > request->filter->to_ns)
        *end = request->filter->to_ns;
}

static int is_head(const struct gathering *gathering, uint32_t image)
{
    return gathering->tree.parent[image] == DFT_PS_ROOT ||
           (gathering->has_ranks ? gathering->processes[image].process.rank >= 0 : gathering->compute_ns[image] != 0);
}

/* The nearest of a process and those above it that has a rank, or computes; else the one at the
 * top. What was found is remembered for all on the way, so that long chains cost little. Damaged
 * traces may have a cycle of parents. */
static uint32_t find_head(struct gathering *gathering, uint32_t process)
{
    uint32_t *heads = gathering->heads, at = gathering->images[process], head;

    for (uint32_t steps = 0; heads[at] == DFT_NO_LANE && !is_head(gathering, at) && steps <= gathering->count; steps++)
        at = gathering->images[gathering->tree.parent[at]];
    head = heads[at] == DFT_NO_LANE ? at : heads[at];
    for (at = gathering->images[process]; heads[at] == DFT_NO_LANE;) {
        heads[at] = head;
        if (gathering->tree.parent[at] != DFT_PS_ROOT)
            at = gathering->images[gathering->tree.parent[at]];
    }
    return head;
}

static int by_process(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    return 0;
}

/* By team; of a team the trainer first: the one that computes longest, else the first one. */
static int by_team(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    DFT_ORDER((uint64_t)a->rank, (uint64_t)b->rank); /* none comes last */
    DFT_ORDER(a->job, b->job);
    DFT_ORDER(a->head, b->head);
    DFT_ORDER(b->compute_ns, a->compute_ns);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(a->process, b->process);
    return 0;
}

static int same_team(const struct member *a, const struct member *b)
{
    return a->rank == b->rank && a->job == b->job && a->head == b->head;
}

static void gather(struct gathering *gathering, const struct dft_overlap_request *request)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        const struct dft_source_process *process = &gathering->processes[i], *head;
        struct member member = {.process = gathering->images[i], .rank = -1};

        if (dft_process_is_node(process) || !dft_filter_process(request->filter, process))
            continue;
        dft_overlap_life(request, process, &member.start_ns, &member.end_ns);
        if (member.end_ns < member.start_ns || !member.end_ns)
            continue;
        member.compute_ns = gathering->compute_ns[member.process];
        member.head = find_head(gathering, i);
        head = &gathering->processes[member.head];
        member.rank = head->process.rank;
        if (member.rank >= 0) {
            member.job = head->job;
            member.head = 0;
        }
        gathering->members[gathering->nmembers++] = member;
    }
}

/* Images of one process become one member. */
static void join_images(struct gathering *gathering)
{
    struct member *members = gathering->members;
    uint32_t n = 0;

    if (gathering->nmembers)
        qsort(members, gathering->nmembers, sizeof *members, by_process);
    for (uint32_t i = 0; i < gathering->nmembers; i++) {
        struct member *last = n ? &members[n - 1] : NULL;

        if (!last || last->process != members[i].process) {
            members[n++] = members[i];
            continue;
        }
        if (members[i].rank > last->rank) { /* one image may say what the other does not */
            last->rank = members[i].rank;
            last->job = members[i].job;
            last->head = members[i].head;
        }
        last->start_ns = members[i].start_ns < last->start_ns ? members[i].start_ns : last->start_ns;
        last->end_ns = members[i].end_ns > last->end_ns ? members[i].end_ns : last->end_ns;
    }
    gathering->nmembers = n;
}

static void number_teams(const struct gathering *gathering, struct dft_overlap *overlap, uint32_t *lane_of)
{
    struct dft_overlap_team *team = overlap->teams;

    for (uint32_t i = 0; i < gathering->nmembers; i++) {
        const struct member *member = &gathering->members[i];

        if (!i || !same_team(member, member - 1)) {
            team = &overlap->teams[overlap->nteams++];
            *team = (struct dft_overlap_team){
                .rank = member->rank, .trainer = member->process, .start_ns = member->start_ns};
        }
        team->processes++;
        team->start_ns = member->start_ns < team->start_ns ? member->start_ns : team->start_ns;
        team->end_ns = member->end_ns > team->end_ns ? member->end_ns : team->end_ns;
        team->times.wall_ns = team->end_ns - team->start_ns;
        overlap->processes[i] = (struct dft_overlap_process){.process = member->process,
                                                             .team = overlap->nteams - 1,
                                                             .times.wall_ns = member->end_ns - member->start_ns};
        lane_of[member->process] = i;
    }
    overlap->nprocesses = gathering->nmembers;
    for (uint32_t i = 0; i < gathering->count; i++)
        lane_of[i] = lane_of[gathering->images[i]];
}

/* From the start of the first to the end of the last. */
static void measure(struct dft_overlap *overlap)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (uint32_t i = 0; i < overlap->nteams; i++) {
        start = overlap->teams[i].start_ns < start ? overlap->teams[i].start_ns : start;
        end = overlap->teams[i].end_ns > end ? overlap->teams[i].end_ns : end;
    }
    overlap->start_ns = end > start ? start : 0;
    overlap->wall_ns = end > start ? end - start : 0;
}

/* Who has a rank, and how long the images of each process compute. */
static void look(struct gathering *gathering, const uint64_t *compute_ns)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        gathering->has_ranks |= gathering->processes[i].process.rank >= 0;
        gathering->compute_ns[gathering->images[i]] += compute_ns[i];
    }
}

int dft_overlap_teams(const struct dft_overlap_request *request, const uint64_t *compute_ns,
                      struct dft_overlap *overlap, uint32_t **lane_of)
{
    struct gathering gathering = {0};
    int rc = -ENOMEM;

    gathering.processes = dft_source_processes(request->source, &gathering.count);
    gathering.images = malloc((gathering.count + 1u) * sizeof *gathering.images);
    gathering.heads = malloc((gathering.count + 1u) * sizeof *gathering.heads);
    gathering.compute_ns = calloc(gathering.count + 1u, sizeof *gathering.compute_ns);
    gathering.members = calloc(gathering.count + 1u, sizeof *gathering.members);
    overlap->processes = calloc(gathering.count + 1u, sizeof *overlap->processes);
    overlap->teams = calloc(gathering.count + 1u, sizeof *overlap->teams);
    *lane_of = malloc((gathering.count + 1u) * sizeof **lane_of);
    if (!gathering.images || !gathering.heads || !gathering.compute_ns || !gathering.members || !overlap->processes ||
        !overlap->teams || !*lane_of)
        goto out;
    memset(gathering.heads, 0xff, (gathering.count + 1u) * sizeof *gathering.heads);
    memset(*lane_of, 0xff, (gathering.count + 1u) * sizeof **lane_of);
    rc = dft_source_images(request->source, gathering.images);
    if (!rc)
        rc = dft_ps_tree_make(&gathering.tree, request->source, request->filter);
    if (rc)
        goto out;
    look(&gathering, compute_ns);
    gather(&gathering, request);
    join_images(&gathering);
    if (gathering.nmembers)
        qsort(gathering.members, gathering.nmembers, sizeof *gathering.members, by_team);
    number_teams(&gathering, overlap, *lane_of);
    measure(overlap);
out:
    dft_ps_tree_free(&gathering.tree);
    free(gathering.images);
    free(gathering.heads);
    free(gathering.compute_ns);
    free(gathering.members);
    return rc;
}
