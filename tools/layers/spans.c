/* SPDX-License-Identifier: MIT */
/* Unions of intervals: a sweep in order of time. */
#include "layers/spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "layers/layers.h"

/* A group in a lane. */
struct dft_layer_span {
    uint64_t start_ns, end_ns;      /* of what goes on */
    uint64_t compute_ns, below_ns;  /* of the covers, when it began */
    uint64_t active_ns;             /* all that is over */
    uint64_t interval, interval_ns; /* of a whole layer: active in that interval */
    uint32_t group, lane;
    uint16_t layer;
    uint8_t is_whole, is_active;
};

int dft_layer_spans_init(struct dft_layer_spans *spans)
{
    size_t lanes = (size_t)spans->overlap->nteams + spans->overlap->nprocesses;

    spans->covers = calloc(lanes * (spans->preset->nlayers + 1) + 1, sizeof *spans->covers);
    spans->now_ns = 0;
    spans->cut_ns = UINT64_MAX;
    return spans->covers ? 0 : -ENOMEM;
}

void dft_layer_spans_fini(struct dft_layer_spans *spans)
{
    dft_map_fini(&spans->numbers);
    free(spans->list);
    free(spans->covers);
    free(spans->ends.list);
    *spans = (struct dft_layer_spans){0};
}

/* --- covers ----------------------------------------------------------------------------------- */

static struct dft_cover *compute_of(const struct dft_layer_spans *spans, uint32_t lane)
{
    return &spans->covers[(size_t)lane * (spans->preset->nlayers + 1)];
}

static struct dft_cover *below_of(const struct dft_layer_spans *spans, uint32_t lane, unsigned layer)
{
    return compute_of(spans, lane) + 1 + layer;
}

/* A whole layer becomes active in a lane, or ends. */
static void change_covers(struct dft_layer_spans *spans, const struct dft_layer_span *span, int by)
{
    const struct dft_preset *preset = spans->preset;
    unsigned layer = preset->layers[span->layer].parent;

    for (; layer != DFT_LAYER_NONE; layer = preset->layers[layer].parent)
        dft_cover_change(below_of(spans, span->lane, layer), by, spans->now_ns);
    if (!preset->layers[span->layer].computes)
        return;
    dft_cover_change(compute_of(spans, span->lane), by, spans->now_ns);
    for (layer = 0; layer < preset->nlayers; layer++)
        dft_cover_change(below_of(spans, span->lane, layer), by, spans->now_ns);
}

/* --- what goes on ----------------------------------------------------------------------------- */

static void begin(struct dft_layer_spans *spans, struct dft_layer_span *span)
{
    span->start_ns = spans->now_ns;
    span->compute_ns = dft_cover_sum(compute_of(spans, span->lane), spans->now_ns);
    span->below_ns = dft_cover_sum(below_of(spans, span->lane, span->layer), spans->now_ns);
}

/* Is the process of a lane alone in its team? */
static int is_alone(const struct dft_layer_spans *spans, uint32_t process)
{
    return spans->overlap->teams[spans->overlap->processes[process].team].processes == 1;
}

/* The times since the span began. `total`: all of its process in the group. */
static void add_times(const struct dft_layer_spans *spans, const struct dft_layer_span *span,
                      struct dft_layer_times *times, uint64_t total)
{
    uint64_t active = spans->now_ns - span->start_ns;
    uint64_t compute = dft_cover_sum(compute_of(spans, span->lane), spans->now_ns) - span->compute_ns;
    uint64_t below = dft_cover_sum(below_of(spans, span->lane, span->layer), spans->now_ns) - span->below_ns;
    int computes = spans->preset->layers[span->layer].computes, is_team = span->lane < spans->overlap->nteams;
    uint32_t process = is_team ? 0 : span->lane - spans->overlap->nteams;

    if (is_team || is_alone(spans, process)) {
        times->active_ns += active;
        times->unoverlapped_ns += computes ? 0 : active - compute;
        times->own_ns += computes ? 0 : active - below;
    }
    if (is_team)
        return;
    times->process_active_ns += active;
    times->process_unoverlapped_ns += computes ? 0 : active - compute;
    if (total > times->slowest_ns || (total == times->slowest_ns && process < times->slowest)) {
        times->slowest_ns = total;
        times->slowest = process;
    }
}

/* Counts what has gone on until now. */
static int count(struct dft_layer_spans *spans, struct dft_layer_span *span)
{
    struct dft_layer_times *times = spans->times_of(spans->context, span->group);
    uint64_t active = spans->now_ns - span->start_ns, interval;

    span->active_ns += active;
    if (!times)
        return -ENOMEM;
    add_times(spans, span, times, span->active_ns);
    if (!span->is_whole || !spans->width_ns || !active)
        return 0;
    interval = dft_layer_interval(span->start_ns, spans->base_ns, spans->width_ns, spans->last);
    if (interval != span->interval)
        span->interval_ns = 0;
    span->interval = interval;
    span->interval_ns += active;
    times = spans->times_at(spans->context, span->layer, interval);
    if (!times)
        return -ENOMEM;
    add_times(spans, span, times, span->interval_ns);
    return 0;
}

/* --- going on --------------------------------------------------------------------------------- */

/* Cuts the layers that are active where an interval ends. */
static int cut(struct dft_layer_spans *spans)
{
    int rc = 0;

    spans->now_ns = spans->cut_ns;
    for (size_t i = 0; !rc && i < spans->ends.count; i++) {
        struct dft_layer_span *span = &spans->list[spans->ends.list[i].what];

        if (!span->is_whole)
            continue;
        rc = count(spans, span);
        begin(spans, span);
    }
    return rc;
}

static int end_first(struct dft_layer_spans *spans)
{
    struct dft_sweep_end first = spans->ends.list[0];
    struct dft_layer_span *span = &spans->list[first.what];
    int rc;

    if (span->end_ns > first.time) { /* more has come meanwhile */
        dft_ends_replace(&spans->ends, (struct dft_sweep_end){span->end_ns, first.what});
        return 0;
    }
    spans->now_ns = first.time;
    rc = count(spans, span);
    span->is_active = 0;
    if (span->is_whole)
        change_covers(spans, span, -1);
    dft_ends_pop(&spans->ends);
    return rc;
}

static uint64_t end_of_interval(const struct dft_layer_spans *spans, uint64_t time)
{
    uint64_t interval = dft_layer_interval(time, spans->base_ns, spans->width_ns, spans->last);

    return interval == spans->last ? UINT64_MAX : spans->base_ns + (interval + 1) * spans->width_ns;
}

int dft_layer_spans_until(struct dft_layer_spans *spans, uint64_t now_ns)
{
    int rc = 0;

    while (!rc && spans->ends.count && (spans->ends.list[0].time <= now_ns || spans->cut_ns <= now_ns)) {
        if (spans->ends.list[0].time <= spans->cut_ns) {
            rc = end_first(spans);
            continue;
        }
        rc = cut(spans);
        spans->cut_ns = end_of_interval(spans, spans->cut_ns);
    }
    spans->now_ns = now_ns;
    if (spans->width_ns)
        spans->cut_ns = end_of_interval(spans, now_ns);
    return rc;
}

static struct dft_layer_span *span_of(struct dft_layer_spans *spans, const struct dft_layer_span *model)
{
    uint64_t *number = dft_map_put(&spans->numbers, dft_map_join(model->group, model->lane));

    if (!number)
        return NULL;
    if (!*number) {
        if (DFT_ARRAY_PUSH(spans->list, spans->capacity, spans->count, *model))
            return NULL;
        *number = spans->count;
    }
    return &spans->list[*number - 1];
}

static int add(struct dft_layer_spans *spans, const struct dft_layer_span *model)
{
    struct dft_layer_span *span = span_of(spans, model);

    if (!span)
        return -ENOMEM;
    if (span->is_active) {
        span->end_ns = model->end_ns > span->end_ns ? model->end_ns : span->end_ns;
        return 0;
    }
    if (dft_ends_push(&spans->ends, (struct dft_sweep_end){model->end_ns, (size_t)(span - spans->list)}))
        return -ENOMEM;
    span->end_ns = model->end_ns;
    span->is_active = 1;
    if (span->is_whole)
        change_covers(spans, span, 1);
    begin(spans, span);
    return 0;
}

int dft_layer_spans_add(struct dft_layer_spans *spans, uint32_t group, unsigned layer, int is_whole, uint32_t process,
                        uint64_t end_ns)
{
    struct dft_layer_span span = {.group = group,
                                  .lane = spans->overlap->nteams + process,
                                  .layer = (uint16_t)layer,
                                  .is_whole = (uint8_t)is_whole,
                                  .interval = UINT64_MAX,
                                  .end_ns = end_ns};
    int rc = add(spans, &span);

    if (rc || is_alone(spans, process))
        return rc;
    span.lane = spans->overlap->processes[process].team;
    return add(spans, &span);
}
