/* SPDX-License-Identifier: MIT */
/* Counts what the events would take at all levels of detail, and chooses a level; see export_fit.h.
 *
 * A slice that is kept, or alone in its run, takes the bytes of its record. A merged one is counted
 * with the most that it may take, because its numbers are not known here. So the file is never
 * larger than was counted. */
#include "export/export_fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "export/export_thin.h"

#define FIRST_LEVEL_NS UINT64_C(256)
#define SPARE_BYTES    128u /* times in the sentence may be longer than those of the longest one */

/* What a run would take. */
struct sized {
    struct dft_run run;
    struct dft_merged_size size;
    uint64_t first; /* bytes of its first slice */
};

/* --- one event -------------------------------------------------------------------------------- */

/* The bytes of the event at work. */
static int measure(struct dft_fit *fit)
{
    struct dft_perfetto *p = fit->route.p;

    if (fit->route.cost)
        return 0;
    if (!dft_perfetto_begin_text(p))
        return -ENOMEM;
    dft_perfetto_put(p, fit->route.at, fit->route.piece);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    fit->route.cost = p->length;
    return 0;
}

/* Levels that are too large already need not be counted. The last one says what is least. */
static void drop_levels(struct dft_fit *fit)
{
    struct dft_lanes *lanes = &fit->route.lanes;

    while (lanes->first + 1 < lanes->count && fit->bytes[lanes->first] + fit->always > fit->max_bytes)
        lanes->first++;
}

static int keep(void *context, unsigned level)
{
    struct dft_fit *fit = context;
    int rc = measure(fit);

    fit->bytes[level] += fit->route.cost;
    drop_levels(fit);
    return rc;
}

static int leave_out(void *context, unsigned level)
{
    struct dft_fit *fit = context;

    fit->samples[level]++;
    return 0;
}

static int join(void *context, unsigned level, struct dft_run *run)
{
    struct sized *sized = (struct sized *)(void *)run;
    struct dft_fit *fit = context;
    struct dft_route *route = &fit->route;
    int rc = 0;

    (void)level;
    if (route->bit < 0)
        route->bit = dft_merged_bit(&fit->names, route->p, route->at->call);
    if (route->bit < 0)
        return route->bit;
    if (!run->slices) {
        rc = measure(fit);
        sized->first = route->cost;
    }
    dft_merged_count(&sized->size, route->at, route->piece, route->bit);
    return rc;
}

static int end_run(void *context, unsigned level, enum dft_lane_kind kind, struct dft_run *run)
{
    const struct sized *sized = (const struct sized *)(const void *)run;
    struct dft_fit *fit = context;
    uint64_t end_ns = run->end_ns - fit->route.p->origin_ns;

    if (kind == DFT_LANE_SAMPLES)
        return 0;
    if (run->slices == 1) {
        fit->bytes[level] += sized->first;
    } else {
        fit->bytes[level] += dft_merged_most(&fit->names, &sized->size, kind, end_ns, fit->merged_bytes[kind]);
        fit->merged[level] += sized->size.slices;
        fit->into[level]++;
    }
    drop_levels(fit);
    return 0;
}

static int always(void *context)
{
    struct dft_fit *fit = context;
    int rc = measure(fit);

    fit->always += fit->route.cost;
    return rc;
}

static int take_text(void *context, const char *bytes, size_t length)
{
    struct dft_fit *fit = context;

    (void)bytes;
    fit->always += length;
    return 0;
}

static int take_link(void *context, unsigned zeros, int arrow)
{
    struct dft_perfetto *p;
    struct dft_fit *fit = context;
    int rc = 0;

    if (arrow) {
        p = fit->route.p;
        if (!dft_perfetto_begin_text(p))
            return -ENOMEM;
        dft_perfetto_put_arrow(p, fit->route.at);
        rc = dft_perfetto_end_text(p);
        fit->route.cost = p->length;
    } else {
        rc = measure(fit);
    }
    for (unsigned i = 0; i <= DFT_ZEROS_MAX && i <= zeros; i++) {
        fit->links[i] += fit->route.cost;
        fit->nlinks[i] += 1u + (unsigned)arrow;
    }
    return rc;
}

/* --- one file --------------------------------------------------------------------------------- */

char *dft_plan_sentence(const struct dft_plan *plan, uint64_t max_bytes)
{
    char *text = NULL, capacity[DFT_TEXT_ROOM];
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    fprintf(out, "to fit into %" PRIu64 " bytes", max_bytes);
    if (plan->into)
        fprintf(out, ", %" PRIu64 " slices%s%s are merged into %" PRIu64, plan->merged,
                plan->below_ns == UINT64_MAX ? "" : " shorter than ",
                plan->below_ns == UINT64_MAX ? "" : dft_text_ns(capacity, plan->below_ns), plan->into);
    if (plan->links)
        fprintf(out, ", %" PRIu64 " ends of arrows and spans are left out", plan->links);
    if (plan->samples)
        fprintf(out, ", %" PRIu64 " samples are left out", plan->samples);
    if (plan->width_ns == UINT64_MAX)
        fputs(", counter tracks are left out", out);
    else if (plan->width_ns)
        fprintf(out, ", counter tracks are means over %s", dft_text_ns(capacity, plan->width_ns));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* What a file takes beside its events and its tracks. */
static int measure_frame(struct dft_fit *fit, const struct dft_plan *plan, uint64_t *bytes)
{
    struct dft_perfetto *p = fit->route.p;
    char *sentence = dft_plan_sentence(plan, UINT64_MAX);

    if (!sentence || !dft_perfetto_begin_text(p)) {
        free(sentence);
        return -ENOMEM;
    }
    dft_perfetto_put_frame(p, plan, UINT64_MAX, sentence);
    free(sentence);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    *bytes = p->length + fit->metadata_bytes + (dft_plan_lacks(plan) ? SPARE_BYTES : 0);
    return 0;
}

static int begin(void *context, struct dft_plan *plan)
{
    struct dft_fit *fit = context;

    (void)plan;
    fit->route.lanes.first = 0;
    fit->always = 0;
    memset(fit->bytes, 0, sizeof fit->bytes);
    memset(fit->merged, 0, sizeof fit->merged);
    memset(fit->into, 0, sizeof fit->into);
    memset(fit->samples, 0, sizeof fit->samples);
    memset(fit->links, 0, sizeof fit->links);
    memset(fit->nlinks, 0, sizeof fit->nlinks);
    return 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Does everything fit? */
static int fits_whole(struct dft_fit *fit, struct dft_plan *plan)
{
    uint64_t frame, tracks;
    int rc = measure_frame(fit, plan, &frame);

    rc = rc ? rc : dft_thin_bytes(fit->route.p, plan, &tracks);
    return rc ? rc
              : !fit->route.lanes.first &&
                    frame + fit->always + fit->bytes[0] + fit->links[0] + tracks <= fit->max_bytes;
}

/* Gives tracks and links up to a quarter of the file each, and the events all else. */
static int choose(struct dft_fit *fit, struct dft_plan *plan, uint64_t least)
{
    unsigned level = fit->route.lanes.first, last = fit->route.lanes.count - 1, zeros = 0;
    uint64_t quarter = fit->max_bytes / 4, left = fit->max_bytes - least, tracks;
    int rc = dft_thin_fit(fit->route.p, plan, smaller(quarter, left), &tracks);

    if (rc)
        return rc;
    left -= tracks;
    while (zeros <= DFT_ZEROS_MAX && fit->links[zeros] > smaller(quarter, left))
        zeros++;
    plan->zeros = zeros <= DFT_ZEROS_MAX ? zeros : UINT32_MAX;
    plan->links = fit->nlinks[0] - (zeros <= DFT_ZEROS_MAX ? fit->nlinks[zeros] : 0);
    left += fit->bytes[last] - (zeros <= DFT_ZEROS_MAX ? fit->links[zeros] : 0);
    while (level < last && fit->bytes[level] > left)
        level++;
    plan->below_ns = fit->least_ns[level];
    plan->merged = fit->merged[level];
    plan->into = fit->into[level];
    plan->samples = fit->samples[level];
    return 0;
}

static int end(void *context, struct dft_plan *plan)
{
    struct dft_fit *fit = context;
    struct dft_plan most = *plan;
    uint64_t least;
    int rc = fits_whole(fit, plan);

    if (rc)
        return rc < 0 ? rc : 0;
    most.below_ns = most.width_ns = UINT64_MAX - 1;
    most.merged = most.into = most.samples = most.links = UINT64_MAX;
    rc = measure_frame(fit, &most, &least);
    if (rc)
        return rc;
    least += fit->always + fit->bytes[fit->route.lanes.count - 1];
    fit->least_bytes = fit->least_bytes > least ? fit->least_bytes : least;
    return least > fit->max_bytes ? 0 : choose(fit, plan, least);
}

/* --- all -------------------------------------------------------------------------------------- */

static int measure_metadata(struct dft_fit *fit)
{
    struct dft_perfetto *p = fit->route.p;
    FILE *out = dft_thin_counter(&fit->metadata_bytes);
    int rc;

    if (!out)
        return -ENOMEM;
    p->export->out = out;
    rc = dft_perfetto_put_metadata(p);
    p->export->out = NULL;
    fclose(out);
    return rc;
}

/* From the second level on, each is a third or a half above the one before, up to the length of the
 * trace. At the last one everything is merged. */
static unsigned make_levels(struct dft_fit *fit, uint64_t range_ns)
{
    unsigned count = 1;

    for (uint64_t ns = FIRST_LEVEL_NS; ns < range_ns && count < DFT_LEVELS_MAX - 2; ns *= 2) {
        fit->least_ns[count++] = ns;
        fit->least_ns[count++] = ns + ns / 2;
    }
    fit->least_ns[count++] = UINT64_MAX;
    return count;
}

int dft_fit_begin(struct dft_fit *fit, struct dft_perfetto *p, struct dft_plan *plans, uint32_t count)
{
    int rc;

    fit->route = (struct dft_route){.p = p,
                                    .plans = plans,
                                    .count = count,
                                    .context = fit,
                                    .begin = begin,
                                    .end = end,
                                    .always = always,
                                    .text = take_text,
                                    .link = take_link};
    fit->route.lanes = (struct dft_lanes){.least_ns = fit->least_ns,
                                          .count = make_levels(fit, p->end_ns - p->origin_ns),
                                          .run_bytes = sizeof(struct sized),
                                          .context = fit,
                                          .keep = keep,
                                          .leave_out = leave_out,
                                          .join = join,
                                          .end = end_run};
    rc = measure_metadata(fit);
    for (unsigned kind = 0; !rc && kind < DFT_LANE_SAMPLES; kind++)
        rc = dft_merged_empty(p, (enum dft_lane_kind)kind, &fit->merged_bytes[kind]);
    return rc;
}

void dft_fit_fini(struct dft_fit *fit)
{
    dft_route_fini(&fit->route);
    dft_merged_names_fini(&fit->names);
}
