/* SPDX-License-Identifier: MIT */
/* Overlap of a job: asks which regions there are, makes teams, and goes through events or rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "mpi/comm.h"
#include "analysis/overlap_events.h"
#include "analysis/overlap_teams.h"
#include "format/ops.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "intake/source_names.h"

/* What is known of regions before anything is gone through. */
struct regions {
    struct dft_overlapping *overlapping;
    uint64_t *compute_ns, *items; /* by process */
    unsigned kinds;               /* that any region is of */
};

static int take_regions(void *context, const struct dft_answer *answer)
{
    struct regions *regions = context;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint32_t process = answer->process_group[group->key.process_group - 1]->number;
        struct dft_key_value category, name;
        unsigned kinds;

        dft_group_value(answer, group, DFT_BY_CAT, &category);
        dft_group_value(answer, group, DFT_BY_NAME, &name);
        kinds = dft_region_kinds_of(&regions->overlapping->kinds, category.text, name.text);
        regions->kinds |= kinds;
        if (kinds >> DFT_REGION_COMPUTE & 1)
            regions->compute_ns[process] += group->metrics.dur_sum;
        if (kinds >> DFT_REGION_ITEM & 1)
            regions->items[process] += group->metrics.count;
    }
    return 0;
}

static int ask_regions(struct regions *regions)
{
    const struct dft_overlap_request *request = regions->overlapping->request;
    const struct dft_query query = {
        .by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_PROCESS}, .nby = 3, .ops = UINT64_C(1) << DFT_OP_REGION};
    struct dft_filter filter = dft_overlap_any_call(request->filter); /* whenever they are */
    struct dft_answer answer;
    uint32_t count;
    int rc;

    dft_source_processes(request->source, &count);
    regions->compute_ns = calloc(count + 1u, sizeof *regions->compute_ns);
    regions->items = calloc(count + 1u, sizeof *regions->items);
    rc = dft_comm_agree(regions->compute_ns && regions->items ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_query_each(request->source, &filter, &query, take_regions, regions, &answer);
    if (!rc)
        dft_answer_fini(&answer);
    dft_comm_broadcast(&regions->kinds, sizeof regions->kinds);
    if (!rc)
        dft_comm_broadcast(regions->compute_ns, count * sizeof *regions->compute_ns);
    return rc;
}

static int make_teams(struct regions *regions)
{
    struct dft_overlapping *overlapping = regions->overlapping;
    struct dft_overlap *overlap = overlapping->overlap;
    uint32_t count;
    int rc = dft_overlap_teams(overlapping->request, regions->compute_ns, overlap, &overlapping->lane_of);

    if (rc)
        return rc;
    dft_source_processes(overlapping->request->source, &count);
    overlap->has_compute = regions->kinds >> DFT_REGION_COMPUTE & 1;
    overlap->has_data = regions->kinds >> DFT_REGION_DATA & 1;
    overlap->has_items = regions->kinds >> DFT_REGION_ITEM & 1;
    for (uint32_t i = 0; i < count; i++)
        if (overlapping->lane_of[i] != DFT_NO_LANE)
            overlap->processes[overlapping->lane_of[i]].items += regions->items[i];
    return dft_overlap_sweep_init(&overlapping->sweep, overlap);
}

static int by_kind(const void *left, const void *right)
{
    const struct dft_overlap_scope *a = left, *b = right;

    DFT_ORDER(a->kind, b->kind);
    DFT_ORDER(a->team, b->team);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(b->times.wall_ns, a->times.wall_ns);
    DFT_ORDER(a->call, b->call);
    return 0;
}

/* Scopes that say no number are counted. */
static void order_scopes(struct dft_overlap *overlap)
{
    int64_t next = 0;

    if (overlap->nscopes)
        qsort(overlap->scopes, overlap->nscopes, sizeof *overlap->scopes, by_kind);
    for (uint32_t i = 0; i < overlap->nscopes; i++) {
        struct dft_overlap_scope *scope = &overlap->scopes[i];

        if (i && (scope->kind != scope[-1].kind || scope->team != scope[-1].team))
            next = 0;
        if (scope->number < 0)
            scope->number = next;
        next++;
    }
}

int dft_overlap_flight(const struct dft_overlapping *overlapping, const struct dft_flight *flight, uint32_t *lane,
                       uint64_t *start, uint64_t *end)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(overlapping->request->source, &count);

    *lane = overlapping->lane_of[flight->process];
    dft_overlap_life(overlapping->request, &processes[flight->process], start, end);
    if (*start < flight->start_ns)
        *start = flight->start_ns;
    return flight->op != DFT_OP_REGION && *lane != DFT_NO_LANE && *end > *start;
}

static int go_through(struct dft_overlapping *overlapping)
{
    const struct dft_overlap_request *request = overlapping->request;
    struct dft_overlap *overlap = overlapping->overlap;
    int rc;

    overlap->is_exact = request->from == DFT_OVERLAP_EVENTS ||
                        (request->from == DFT_OVERLAP_BEST && dft_source_kept(request->source) == DFT_KEPT_ALL);
    for (uint32_t i = 0; overlap->is_exact && i < overlap->nprocesses; i++)
        overlap->processes[i].items = 0; /* counted anew, in the time that is requested */
    rc = overlap->is_exact ? dft_overlap_from_events(overlapping) : dft_overlap_from_rows(overlapping);
    if (rc)
        return rc;
    dft_overlap_sweep_finish(&overlapping->sweep);
    order_scopes(overlap);
    return 0;
}

int dft_overlap_make(const struct dft_overlap_request *request, struct dft_overlap *overlap)
{
    struct dft_overlapping overlapping = {
        .request = request, .overlap = overlap, .flights.lock = PTHREAD_MUTEX_INITIALIZER};
    struct regions regions = {.overlapping = &overlapping};
    int rc;

    *overlap = (struct dft_overlap){.strip = request->strip};
    rc = dft_comm_agree(dft_region_kinds_init(&overlapping.kinds, &request->patterns));
    if (!rc && (dft_filter_has_files(request->filter) || dft_filter_has_names(request->filter)))
        rc = dft_source_names(request->source, NULL, 0);
    if (!rc)
        rc = dft_source_names_of_rows(request->source);
    if (!rc)
        rc = ask_regions(&regions);
    if (!rc)
        rc = dft_comm_agree(make_teams(&regions));
    if (!rc)
        rc = dft_comm_agree(dft_flights_fetch(&overlapping.flights, request->source));
    if (!rc)
        rc = go_through(&overlapping);
    dft_flights_free(&overlapping.flights);
    dft_overlap_sweep_fini(&overlapping.sweep);
    dft_region_kinds_fini(&overlapping.kinds);
    free(overlapping.lane_of);
    free(regions.compute_ns);
    free(regions.items);
    return rc;
}

int dft_overlap_applies(const struct dft_answer *regions, const struct dft_region_patterns *patterns)
{
    struct dft_region_kinds kinds;
    unsigned found = 0;
    int rc = dft_region_kinds_init(&kinds, patterns);

    for (uint32_t i = 0; !rc && i < regions->count; i++) {
        struct dft_key_value category, name;

        dft_group_value(regions, &regions->groups[i], DFT_BY_CAT, &category);
        dft_group_value(regions, &regions->groups[i], DFT_BY_NAME, &name);
        found |= dft_region_kinds_of(&kinds, category.text, name.text);
    }
    dft_region_kinds_fini(&kinds);
    return (found & (1u << DFT_REGION_COMPUTE | 1u << DFT_REGION_DATA)) != 0;
}

void dft_overlap_fini(struct dft_overlap *overlap)
{
    free(overlap->processes);
    free(overlap->teams);
    free(overlap->scopes);
    *overlap = (struct dft_overlap){0};
}
