/* SPDX-License-Identifier: MIT */
/* Makes layers: asks what computes, makes teams, and goes through all events in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "layers/collect.h"
#include "analysis/overlap_events.h"
#include "analysis/overlap_teams.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/group_keys.h"
#include "query/query.h"
#include "views/filter_event.h"
#include "intake/source_names.h"
#include "views/source_order.h"

#define INTERVALS 40u /* of the time, if the user gives no width */

const char *const dft_layer_view_words[DFT_LAYER_VIEWS] = {"layer", "time", "process",   "rank",
                                                           "host",  "file", "directory", "pattern"};

struct making {
    const struct dft_layers_request *request;
    struct dft_layers *layers;
    struct dft_layer_collector collector;
    struct dft_layer_matching matching;
    struct dft_layer_spans spans;
    uint32_t *lane_of;               /* by process of the source: position in the overlap */
    uint64_t *compute_ns;            /* by process of the source */
    struct dft_layer_event *waiting; /* events that start together */
    size_t nwaiting, waiting_capacity;
    int error;
};

/* --- who computes ----------------------------------------------------------------------------- */

static int computes(const struct dft_preset *preset, struct dft_text category, struct dft_text name)
{
    for (uint32_t i = 0; i < preset->nrules; i++)
        if (preset->rules[i].layer != DFT_LAYER_NONE && preset->layers[preset->rules[i].layer].computes &&
            dft_layer_rule_fits(&preset->rules[i], DFT_IO_NONE, category, name))
            return 1;
    return 0;
}

static int take_compute(void *context, const struct dft_answer *answer)
{
    struct making *making = context;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct dft_key_value category, name;

        dft_group_value(answer, group, DFT_BY_CAT, &category);
        dft_group_value(answer, group, DFT_BY_NAME, &name);
        if (computes(making->layers->preset, category.text, name.text))
            making->compute_ns[answer->process_group[group->key.process_group - 1]->number] += group->metrics.dur_sum;
    }
    return 0;
}

/* Teams need to know who computes longest. */
static int make_teams(struct making *making)
{
    const struct dft_query query = {
        .by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_PROCESS}, .nby = 3, .ops = UINT64_C(1) << DFT_OP_REGION};
    struct dft_source *source = making->request->source;
    struct dft_filter filter = dft_overlap_any_call(making->request->filter);
    const struct dft_overlap_request overlap = {.source = source, .filter = making->request->filter};
    struct dft_answer answer;
    uint32_t count;
    int rc;

    dft_source_processes(source, &count);
    making->compute_ns = calloc(count + 1u, sizeof *making->compute_ns);
    if (!making->compute_ns)
        return -ENOMEM;
    rc = dft_query_each(source, &filter, &query, take_compute, making, &answer);
    if (rc)
        return rc;
    dft_answer_fini(&answer);
    rc = dft_overlap_teams(&overlap, making->compute_ns, &making->layers->overlap, &making->lane_of);
    for (uint32_t i = 0; !rc && i < making->layers->overlap.nteams; i++)
        making->layers->wall_ns += making->layers->overlap.teams[i].times.wall_ns;
    return rc;
}

/* --- events ----------------------------------------------------------------------------------- */

/* An event of a layer, in one view. */
static int add_view(struct making *making, const struct dft_layer_event *event, unsigned layer,
                    enum dft_layer_view view, uint64_t end_ns)
{
    const struct dft_filter *filter = making->request->filter;
    int is_counted = dft_filter_time(filter, &event->event), rc;
    uint32_t group;

    if (!is_counted && (view == DFT_LAYER_TIME || end_ns <= making->spans.now_ns))
        return 0;
    rc = dft_layer_collector_group(&making->collector, event, view, layer, &group);
    if (rc || group == DFT_LAYER_GROUP_NONE)
        return rc;
    if (is_counted)
        rc = dft_layer_collector_count(&making->collector, event, group);
    if (rc || view == DFT_LAYER_TIME || end_ns <= making->spans.now_ns)
        return rc;
    return dft_layer_spans_add(&making->spans, group, layer, view == DFT_LAYER_WHOLE, event->process, end_ns);
}

static int add_event(struct making *making, const struct dft_layer_event *event)
{
    const struct dft_filter *filter = making->request->filter;
    uint64_t start = event->event.start_ns, end = start + event->event.dur_ns;
    struct dft_layer_set layers;
    unsigned found = 0;
    int rc = dft_layer_match(&making->matching, event, &layers);

    end = end < start ? UINT64_MAX : end;
    end = end < filter->to_ns ? end : filter->to_ns;
    start = start > making->layers->base_ns ? start : making->layers->base_ns;
    if (!rc && start < filter->to_ns)
        rc = dft_layer_spans_until(&making->spans, start);
    for (unsigned layer = 0; !rc && start < filter->to_ns && layer < making->layers->preset->nlayers; layer++) {
        if (!dft_layer_set_has(&layers, layer))
            continue;
        found = 1;
        for (unsigned view = 0; !rc && view < DFT_LAYER_VIEWS; view++)
            if (making->collector.views >> view & 1)
                rc = add_view(making, event, layer, (enum dft_layer_view)view, end);
    }
    if (!rc && !found && dft_filter_time(filter, &event->event)) {
        making->layers->none_ops += event->event.calls;
        making->layers->none_ns += event->event.dur_ns;
    }
    return rc;
}

static int compare_waiting(const void *left, const void *right)
{
    return dft_layer_events_compare(left, right);
}

/* Events that start together come with the enclosing one first. */
static int add_waiting(struct making *making)
{
    int rc = 0;

    if (making->nwaiting > 1)
        qsort(making->waiting, making->nwaiting, sizeof *making->waiting, compare_waiting);
    for (size_t i = 0; !rc && i < making->nwaiting; i++)
        rc = add_event(making, &making->waiting[i]);
    making->nwaiting = 0;
    return rc;
}

/* Texts of files are about to be forgotten: no event may wait for the next one then. */
static void end_waiting(void *context)
{
    struct making *making = context;

    if (!making->error)
        making->error = add_waiting(making);
}

static int take_event(void *context, const struct dft_event_at *at)
{
    struct making *making = context;
    uint32_t lane = making->lane_of[at->process->number];
    struct dft_layer_event event = {
        .event = *at->event, .call = at->call, .process = lane, .tid = at->tid, .op = at->op, .io = at->io};

    if (lane == DFT_NO_LANE || !dft_event_counts(at->event, at->op))
        return 0;
    if (at->event->phase != DFT_PHASE_COMPLETE)
        event.event.dur_ns = 0; /* how long it took is unknown */
    if (making->nwaiting && making->waiting[0].event.start_ns != at->event->start_ns && add_waiting(making))
        return -ENOMEM;
    return DFT_ARRAY_PUSH(making->waiting, making->waiting_capacity, making->nwaiting, event);
}

/* --- the whole -------------------------------------------------------------------------------- */

static struct dft_layer_times *times_of(void *context, uint32_t group)
{
    struct making *making = context;

    return &making->layers->groups[group].times;
}

static struct dft_layer_times *times_at(void *context, unsigned layer, uint64_t interval)
{
    struct making *making = context;
    uint32_t group = dft_layer_collector_key(&making->collector, DFT_LAYER_TIME, layer, interval);

    return group == DFT_LAYER_GROUP_NONE ? NULL : &making->layers->groups[group].times;
}

/* The next of 1, 2, 5, 10 ... ns with which there are at most so many intervals. */
static uint64_t width_of(uint64_t wall_ns)
{
    uint64_t width = 1;

    for (unsigned step = 0; wall_ns / width >= INTERVALS; step++)
        width = width / (step % 3 == 1 ? 2 : 1) * (step % 3 == 1 ? 5 : 2);
    return width;
}

static int set_times(struct making *making)
{
    struct dft_layers *layers = making->layers;
    const struct dft_filter *filter = making->request->filter;
    uint64_t start, end;

    dft_source_lives(making->request->source, &start, &end);
    start = start > filter->from_ns ? start : filter->from_ns;
    end = end < filter->to_ns ? end : filter->to_ns;
    layers->base_ns = start;
    if (!(making->request->views >> DFT_LAYER_TIME & 1))
        return 0;
    layers->width_ns = making->request->width_ns ? making->request->width_ns : width_of(end > start ? end - start : 0);
    layers->last = (end > start ? end - start : 0) / layers->width_ns;
    return layers->last >= DFT_LAYER_INTERVALS_MAX ? -E2BIG : 0;
}

static int begin(struct making *making)
{
    struct dft_layers *layers = making->layers;
    struct dft_source *source = making->request->source;
    int rc = set_times(making);

    if (!rc)
        rc = dft_source_names_locate(source);
    if (!rc)
        rc = make_teams(making);
    if (rc)
        return rc;
    making->collector = (struct dft_layer_collector){.layers = layers,
                                                     .names = dft_source_names_table(source),
                                                     .views = making->request->views | 1u << DFT_LAYER_WHOLE};
    making->matching = (struct dft_layer_matching){.preset = layers->preset, .names = dft_source_names_table(source)};
    making->spans = (struct dft_layer_spans){.preset = layers->preset,
                                             .overlap = &layers->overlap,
                                             .times_of = times_of,
                                             .times_at = times_at,
                                             .context = making,
                                             .base_ns = layers->base_ns,
                                             .width_ns = layers->width_ns,
                                             .last = layers->last};
    rc = dft_layer_collector_init(&making->collector, source);
    return rc ? rc : dft_layer_spans_init(&making->spans);
}

static int go_through(struct making *making)
{
    struct dft_source *source = making->request->source;
    struct dft_filter all = dft_overlap_any_call(making->request->filter); /* regions may begin before --from */
    int rc;

    dft_source_names_on_return(source, end_waiting, making);
    rc = dft_source_ordered(source, &all, take_event, making);
    dft_source_names_on_return(source, NULL, NULL);
    if (!rc)
        rc = add_waiting(making);
    return rc ? rc : making->error;
}

int dft_layers_make(const struct dft_layers_request *request, struct dft_layers *layers)
{
    struct making making = {.request = request, .layers = layers};
    int rc;

    *layers = (struct dft_layers){.preset = request->preset, .worst = -1};
    rc = begin(&making);
    if (!rc)
        rc = go_through(&making);
    if (!rc)
        rc = dft_layer_spans_until(&making.spans, UINT64_MAX);
    if (!rc)
        rc = dft_layer_collector_finish(&making.collector);
    if (!rc)
        rc = dft_layers_finish(layers, request->source);
    dft_layer_collector_fini(&making.collector);
    dft_layer_matching_fini(&making.matching);
    dft_layer_spans_fini(&making.spans);
    free(making.lane_of);
    free(making.compute_ns);
    free(making.waiting);
    return rc;
}
