/* SPDX-License-Identifier: MIT */
/* Processes into teams. */
#include "analysis/overlap_teams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "analysis/launchers.h"
#include "views/ps_tree.h"
#include "object/source_images.h"
#include "object/source_node.h"

/* A process, with all images of it: what execs goes on as the same one. Its number is that of its first image. */
struct unit {
    uint32_t head;         /* of its team, once that is known; else DFT_NO_LANE */
    uint32_t ranked, best; /* images: that says a rank, and that stands for all; DFT_NO_LANE: there is none */
    uint64_t compute_ns, start_ns, end_ns;
    uint32_t lane; /* position in overlap->processes */
    uint8_t has_head_below;
};

/* A process in its team: that of a rank of a job, or of the process at its head. */
struct member {
    int64_t rank; /* -1: none */
    uint32_t job, head, unit;
    uint8_t is_launcher, launches; /* by its name; and it is in the team of one that has started others */
};

struct gathering {
    const struct dft_overlap_request *request;
    const struct dft_source_process *processes;
    const uint64_t *compute_ns; /* of each image */
    uint32_t count;
    struct dft_ps_tree tree;
    uint32_t *unit_of; /* by image */
    struct unit *units;
    struct member *members;
    uint32_t nmembers;
    int has_ranks;
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

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* Parents stand before their children as a rule, because numbers follow time. */
static int find_units(struct gathering *gathering)
{
    int rc = dft_source_images(gathering->request->source, gathering->unit_of);

    for (uint32_t i = 0; !rc && i < gathering->count; i++) {
        const struct dft_source_process *image = &gathering->processes[i], *before;
        uint32_t parent = gathering->tree.parent[i];

        before = parent == DFT_PS_ROOT ? NULL : &gathering->processes[parent];
        if (before && parent < i && before->exit_kind == DFT_ENDING_EXEC && before->process.pid == image->process.pid)
            gathering->unit_of[i] = gathering->unit_of[parent];
    }
    return rc;
}

/* Which of two images stands for the process: one with a rank, else the one that computes longest, else the last one
 * that is no launcher. */
static int is_better(const struct gathering *gathering, uint32_t image, uint32_t than)
{
    const struct dft_process *a = &gathering->processes[image].process, *b = &gathering->processes[than].process;
    int launches = dft_is_launcher(a->exe), launched = dft_is_launcher(b->exe);

    if ((a->rank >= 0) != (b->rank >= 0))
        return a->rank >= 0;
    if (gathering->compute_ns[image] != gathering->compute_ns[than])
        return gathering->compute_ns[image] > gathering->compute_ns[than];
    return launches == launched ? image > than : launched;
}

/* What the images of each process say together; only those that pass the filter count as alive. */
static void look(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->count; i++)
        gathering->units[i] =
            (struct unit){.head = DFT_NO_LANE, .ranked = DFT_NO_LANE, .best = DFT_NO_LANE, .lane = DFT_NO_LANE};
    for (uint32_t i = 0; i < gathering->count; i++) {
        const struct dft_source_process *image = &gathering->processes[i];
        struct unit *unit = &gathering->units[gathering->unit_of[i]];
        uint64_t start_ns, end_ns;

        gathering->has_ranks |= image->process.rank >= 0;
        unit->compute_ns += gathering->compute_ns[i];
        if (image->process.rank >= 0 && unit->ranked == DFT_NO_LANE)
            unit->ranked = i;
        if (dft_process_is_node(image) || !dft_filter_process(gathering->request->filter, image))
            continue;
        dft_overlap_life(gathering->request, image, &start_ns, &end_ns);
        if (end_ns < start_ns || !end_ns)
            continue;
        unit->start_ns = unit->best == DFT_NO_LANE || start_ns < unit->start_ns ? start_ns : unit->start_ns;
        unit->end_ns = end_ns > unit->end_ns ? end_ns : unit->end_ns;
        if (unit->best == DFT_NO_LANE || is_better(gathering, i, unit->best))
            unit->best = i;
    }
}

/* --- heads -------------------------------------------------------------------------------------------------------- */

/* The process that has started this one, or DFT_PS_ROOT. */
static uint32_t above(const struct gathering *gathering, uint32_t unit)
{
    uint32_t parent = gathering->tree.parent[unit];

    parent = parent == DFT_PS_ROOT ? DFT_PS_ROOT : gathering->unit_of[parent];
    return parent == unit ? DFT_PS_ROOT : parent;
}

static int is_head(const struct gathering *gathering, uint32_t unit)
{
    return gathering->has_ranks ? gathering->units[unit].ranked != DFT_NO_LANE : gathering->units[unit].compute_ns != 0;
}

/* The nearest of a process and those above it that has a rank, or computes; else the one at the top. What was found is
 * remembered for all on the way up to the head, so that long chains cost little: those above the head have another
 * one. Damaged traces may have a cycle of parents. */
static uint32_t find_head(struct gathering *gathering, uint32_t unit)
{
    struct unit *units = gathering->units;
    uint32_t at = unit, head;

    for (uint32_t steps = 0; units[at].head == DFT_NO_LANE && !is_head(gathering, at) && steps <= gathering->count;
         steps++) {
        if (above(gathering, at) == DFT_PS_ROOT)
            break;
        at = above(gathering, at);
    }
    head = units[at].head == DFT_NO_LANE ? at : units[at].head;
    for (at = unit; units[at].head == DFT_NO_LANE; at = above(gathering, at)) {
        units[at].head = head;
        if (at == head)
            break;
    }
    return head;
}

/* Tells all processes above a head that there is one below. */
static void look_above(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->count; i++)
        for (uint32_t at = gathering->unit_of[i] == i && is_head(gathering, i) ? above(gathering, i) : DFT_PS_ROOT;
             at != DFT_PS_ROOT && !gathering->units[at].has_head_below; at = above(gathering, at))
            gathering->units[at].has_head_below = 1;
}

/* --- teams -------------------------------------------------------------------------------------------------------- */

/* By team; of a team the trainer first: the one that computes longest, else the first one that is no launcher. */
static int by_team(const void *left, const void *right, void *context)
{
    const struct unit *units = context;
    const struct member *a = left, *b = right;
    const struct unit *x = &units[a->unit], *y = &units[b->unit];

    DFT_ORDER((uint64_t)a->rank, (uint64_t)b->rank); /* none comes last */
    DFT_ORDER(a->job, b->job);
    DFT_ORDER(a->head, b->head);
    DFT_ORDER(y->compute_ns, x->compute_ns);
    DFT_ORDER(a->is_launcher, b->is_launcher);
    DFT_ORDER(x->start_ns, y->start_ns);
    DFT_ORDER(a->unit, b->unit);
    return 0;
}

static int same_team(const struct member *a, const struct member *b)
{
    return a->rank == b->rank && a->job == b->job && a->head == b->head;
}

static void gather(struct gathering *gathering)
{
    for (uint32_t i = 0; i < gathering->count; i++) {
        struct member member = {.unit = i, .rank = -1};
        const struct unit *head;

        if (gathering->unit_of[i] != i || gathering->units[i].best == DFT_NO_LANE)
            continue;
        member.head = find_head(gathering, i);
        member.is_launcher = (uint8_t)dft_is_launcher(gathering->processes[gathering->units[i].best].process.exe);
        head = &gathering->units[member.head];
        member.launches = head->has_head_below && !is_head(gathering, member.head);
        if (head->ranked != DFT_NO_LANE) {
            member.rank = gathering->processes[head->ranked].process.rank;
            member.job = gathering->processes[head->ranked].job;
            member.head = 0;
        }
        gathering->members[gathering->nmembers++] = member;
    }
    if (gathering->nmembers)
        qsort_r(gathering->members, gathering->nmembers, sizeof *gathering->members, by_team, gathering->units);
}

static void number_teams(const struct gathering *gathering, struct dft_overlap *overlap, uint32_t *lane_of)
{
    struct dft_overlap_team *team = overlap->teams;

    for (uint32_t i = 0; i < gathering->nmembers; i++) {
        const struct member *member = &gathering->members[i];
        struct unit *unit = &gathering->units[member->unit];

        if (!i || !same_team(member, member - 1)) {
            team = &overlap->teams[overlap->nteams++];
            *team = (struct dft_overlap_team){
                .rank = member->rank, .trainer = unit->best, .launches = member->launches, .start_ns = unit->start_ns};
            overlap->nlaunching += member->launches;
        }
        team->processes++;
        team->start_ns = unit->start_ns < team->start_ns ? unit->start_ns : team->start_ns;
        team->end_ns = unit->end_ns > team->end_ns ? unit->end_ns : team->end_ns;
        team->times.wall_ns = team->end_ns - team->start_ns;
        overlap->processes[i] = (struct dft_overlap_process){
            .process = unit->best, .team = overlap->nteams - 1, .times.wall_ns = unit->end_ns - unit->start_ns};
        unit->lane = i;
    }
    overlap->nprocesses = gathering->nmembers;
    for (uint32_t i = 0; i < gathering->count; i++)
        if (dft_filter_process(gathering->request->filter, &gathering->processes[i]))
            lane_of[i] = gathering->units[gathering->unit_of[i]].lane;
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

int dft_overlap_teams(const struct dft_overlap_request *request, const uint64_t *compute_ns,
                      struct dft_overlap *overlap, uint32_t **lane_of)
{
    struct gathering gathering = {.request = request, .compute_ns = compute_ns};
    int rc = -ENOMEM;

    gathering.processes = dft_source_processes(request->source, &gathering.count);
    gathering.unit_of = malloc((gathering.count + 1u) * sizeof *gathering.unit_of);
    gathering.units = calloc(gathering.count + 1u, sizeof *gathering.units);
    gathering.members = calloc(gathering.count + 1u, sizeof *gathering.members);
    overlap->processes = calloc(gathering.count + 1u, sizeof *overlap->processes);
    overlap->teams = calloc(gathering.count + 1u, sizeof *overlap->teams);
    *lane_of = malloc((gathering.count + 1u) * sizeof **lane_of);
    if (!gathering.unit_of || !gathering.units || !gathering.members || !overlap->processes || !overlap->teams ||
        !*lane_of)
        goto out;
    memset(*lane_of, 0xff, (gathering.count + 1u) * sizeof **lane_of);
    rc = dft_ps_tree_make(&gathering.tree, request->source, request->filter);
    if (!rc)
        rc = find_units(&gathering);
    if (rc)
        goto out;
    look(&gathering);
    look_above(&gathering);
    gather(&gathering);
    number_teams(&gathering, overlap, *lane_of);
    measure(overlap);
out:
    dft_ps_tree_free(&gathering.tree);
    free(gathering.unit_of);
    free(gathering.units);
    free(gathering.members);
    return rc;
}
