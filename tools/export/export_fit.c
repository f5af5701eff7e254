/* SPDX-License-Identifier: MIT */
/* Owns the plan of a file that keeps to a size: counts the bytes of all records, and chooses one least duration. */
#include "export/export_fit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "export/export_perfetto_file.h"
#include "export/export_thin.h"
#include "mpi/comm.h"
#include "intake/source_exchange.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "views/source_order.h"

#define LEVELS_MAX  128u
#define ZEROS_MAX   20u  /* links are left out by the zeros of their hash, up to so many */
#define SPARE_BYTES 128u /* times in the sentence may be longer than those of the longest one */

/* An amount of slices or links. */
struct amount {
    uint64_t bytes, slices, ends, time_ns;
};

struct fit {
    struct dft_perfetto *p;
    uint64_t least_ns[LEVELS_MAX];
    unsigned nlevels;
    struct amount slices[LEVELS_MAX];                    /* by the last level whose duration they reach */
    struct amount links[ZEROS_MAX + 1];                  /* by zeros: arrows with their slices, flows, spans */
    uint64_t sample_bytes[LEVELS_MAX], left[LEVELS_MAX]; /* of samples at a level: that stay; that do not */
    uint64_t always, metadata_bytes;
};

/* --- one event -------------------------------------------------------------------------------- */

static uint64_t duration(const struct dft_event_at *at)
{
    return dft_export_phase(at->event, at->op) == 'X' ? at->event->dur_ns : 0;
}

/* The zeros of a link's hash; -1: the record is none. */
static int zeros_of(const struct dft_perfetto *p, const struct dft_event_at *at, enum dft_record record)
{
    const struct dft_source_process *child = record == DFT_RECORD_SLICE ? dft_flows_child(&p->flows, at) : NULL;
    uint64_t hash;

    if (child)
        hash = dft_map_join(child->key, 1);
    else if (record == DFT_RECORD_SPAN)
        hash = dft_map_join(at->event->id, p->pids.shown[at->process->number] + UINT64_C(2));
    else if (record == DFT_RECORD_LINK)
        hash = dft_map_join(at->event->id, 0);
    else
        return -1;
    return __builtin_ctzll(hash | UINT64_C(1) << ZEROS_MAX);
}

/* Does a sample stay, where the one of its counter that was last met has this time (0: none)? One stays of those that
 * lie between two multiples of the least duration. */
static int keeps_sample(const struct dft_perfetto *p, const struct dft_event_at *at, uint64_t last_ns,
                        uint64_t below_ns)
{
    return !below_ns || !last_ns ||
           (at->event->start_ns - p->origin_ns) / below_ns != (last_ns - p->origin_ns) / below_ns;
}

/* Where the time of a counter's last sample is; NULL: no memory. */
static uint64_t *last_sample(struct dft_perfetto *p, const struct dft_event_at *at)
{
    return dft_map_put(&p->samples, dft_map_join(p->pids.shown[at->process->number], at->call));
}

int dft_fit_keeps(struct dft_perfetto *p, const struct dft_event_at *at)
{
    enum dft_record record;
    uint64_t *last_ns;
    int zeros, keeps;

    if (!dft_plan_lacks(&p->plan))
        return 1;
    record = dft_perfetto_record(p, at);
    zeros = zeros_of(p, at, record);
    if (zeros >= 0)
        return (unsigned)zeros >= p->plan.zeros;
    if (record == DFT_RECORD_SLICE || record == DFT_RECORD_REQUEST)
        return duration(at) >= p->plan.below_ns;
    if (record != DFT_RECORD_SAMPLE)
        return 1;
    last_ns = last_sample(p, at);
    if (!last_ns) {
        p->error = -ENOMEM;
        return 0;
    }
    keeps = keeps_sample(p, at, *last_ns, p->plan.below_ns);
    *last_ns = at->event->start_ns;
    return keeps;
}

/* --- counting --------------------------------------------------------------------------------- */

/* The bytes of the event with its arrow. */
static int measure(struct dft_perfetto *p, const struct dft_event_at *at)
{
    if (!dft_perfetto_begin_text(p))
        return -ENOMEM;
    dft_perfetto_put(p, at);
    dft_perfetto_put_arrow(p, at);
    return dft_perfetto_end_text(p);
}

static int count_sample(struct fit *fit, const struct dft_event_at *at)
{
    struct dft_perfetto *p = fit->p;
    uint64_t *last_ns = last_sample(p, at);

    if (!last_ns)
        return -ENOMEM;
    for (unsigned level = 0; level < fit->nlevels; level++)
        if (keeps_sample(p, at, *last_ns, fit->least_ns[level]))
            fit->sample_bytes[level] += p->length;
        else
            fit->left[level]++;
    *last_ns = at->event->start_ns;
    return 0;
}

static int count(struct fit *fit, const struct dft_event_at *at)
{
    struct dft_perfetto *p = fit->p;
    enum dft_record record = dft_perfetto_record(p, at);
    int zeros = zeros_of(p, at, record), rc = measure(p, at);
    uint64_t dur_ns = duration(at);
    unsigned level = fit->nlevels - 1;

    if (rc)
        return rc;
    if (zeros >= 0) {
        fit->links[zeros].bytes += p->length;
        fit->links[zeros].ends += record == DFT_RECORD_SLICE ? 2 : 1;
        fit->links[zeros].slices += record == DFT_RECORD_SLICE;
        fit->links[zeros].time_ns += record == DFT_RECORD_SLICE ? dur_ns : 0;
    } else if (record == DFT_RECORD_SAMPLE) {
        return count_sample(fit, at);
    } else if (record == DFT_RECORD_SLICE || record == DFT_RECORD_REQUEST) {
        while (fit->least_ns[level] > dur_ns)
            level--;
        fit->slices[level].bytes += p->length;
        fit->slices[level].slices++;
        fit->slices[level].time_ns += dur_ns;
    } else {
        fit->always += p->length;
    }
    return 0;
}

static void count_event(void *context, const struct dft_event_at *at)
{
    struct fit *fit = context;

    if (!fit->p->error)
        fit->p->error = count(fit, at);
}

static int reorder(void *context, const struct dft_event_at *at)
{
    struct fit *fit = context;
    int rc = dft_reorder_add(&fit->p->reorder, at);

    return rc ? rc : fit->p->error;
}

/* Once through all events, in the order in which they are written. */
static int count_events(struct fit *fit)
{
    struct dft_perfetto *p = fit->p;
    struct dft_source *source = p->export->source;
    struct dft_ordering *timeline;
    int rc = dft_ordering_create(&timeline, source, p->export->filter, 0);

    p->reorder.emit = count_event;
    p->reorder.context = fit;
    dft_source_names_on_return(source, dft_reorder_flush, &p->reorder);
    if (!rc)
        rc = dft_ordering_emit(timeline, 0, reorder, fit);
    if (!rc)
        dft_reorder_flush(&p->reorder);
    dft_source_names_on_return(source, NULL, NULL);
    dft_ordering_destroy(timeline);
    dft_map_fini(&p->samples);
    return rc ? rc : p->error;
}

/* --- what a file takes beside its events ------------------------------------------------------ */

static int measure_metadata(struct fit *fit)
{
    FILE *out = dft_thin_counter(&fit->metadata_bytes);
    int rc;

    if (!out)
        return -ENOMEM;
    fit->p->export->out = out;
    rc = dft_perfetto_put_metadata(fit->p);
    fit->p->export->out = NULL;
    fclose(out);
    return rc;
}

/* Head, names, notice and end. */
static int measure_frame(struct fit *fit, const struct dft_plan *plan, uint64_t *bytes)
{
    struct dft_perfetto *p = fit->p;
    char *sentence = dft_plan_sentence(plan, UINT64_MAX);

    if (!sentence || !dft_perfetto_begin_text(p)) {
        free(sentence);
        return -ENOMEM;
    }
    dft_perfetto_put_head(p, plan, UINT64_MAX, sentence);
    dft_perfetto_put_notice(p, plan, sentence);
    dft_perfetto_put_end(p);
    free(sentence);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    *bytes = p->length + fit->metadata_bytes + (dft_plan_lacks(plan) ? SPARE_BYTES : 0);
    return 0;
}

char *dft_plan_sentence(const struct dft_plan *plan, uint64_t max_bytes)
{
    char *text = NULL, shown[DFT_TEXT_ROOM];
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    fprintf(out, "to fit into %" PRIu64 " bytes", max_bytes);
    if (plan->slices) {
        fprintf(out, ", %" PRIu64 " slices", plan->slices);
        if (plan->below_ns && plan->below_ns != UINT64_MAX)
            fprintf(out, " shorter than %s", dft_text_ns(shown, plan->below_ns));
        fprintf(out, " are left out, which took %s in all", dft_text_ns(shown, plan->time_ns));
    }
    if (plan->links)
        fprintf(out, ", %" PRIu64 " ends of arrows and spans are left out", plan->links);
    if (plan->samples)
        fprintf(out, ", %" PRIu64 " samples are left out", plan->samples);
    if (plan->width_ns == UINT64_MAX)
        fputs(", counter tracks are left out", out);
    else if (plan->width_ns)
        fprintf(out, ", counter tracks are means over %s", dft_text_ns(shown, plan->width_ns));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Each level is a third or a half above the one before. At the first all stays, at the last no slice does. */
static void make_levels(struct fit *fit)
{
    uint64_t range_ns = fit->p->end_ns - fit->p->origin_ns;

    fit->least_ns[1] = 1;
    fit->nlevels = 2;
    for (uint64_t ns = 2; ns < range_ns && fit->nlevels < LEVELS_MAX - 2; ns *= 2) {
        fit->least_ns[fit->nlevels++] = ns;
        fit->least_ns[fit->nlevels++] = ns + ns / 2;
    }
    fit->least_ns[fit->nlevels++] = UINT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Leaves links out until they take `most` bytes. Returns what they take. */
static uint64_t choose_links(struct fit *fit, uint64_t most)
{
    struct dft_plan *plan = &fit->p->plan;
    uint64_t bytes = 0;

    for (unsigned zeros = 0; zeros <= ZEROS_MAX; zeros++)
        bytes += fit->links[zeros].bytes;
    for (unsigned zeros = 0; bytes > most && zeros <= ZEROS_MAX; zeros++) {
        const struct amount *left = &fit->links[zeros];

        plan->zeros = zeros + 1;
        plan->links += left->ends;
        plan->slices += left->slices;
        plan->time_ns += left->time_ns;
        bytes -= left->bytes;
    }
    return bytes;
}

/* Leaves slices and samples out until they take `most` bytes. */
static void choose_level(struct fit *fit, uint64_t most)
{
    struct dft_plan *plan = &fit->p->plan;
    uint64_t bytes = 0;
    unsigned level = 0;

    for (unsigned i = 0; i < fit->nlevels; i++)
        bytes += fit->slices[i].bytes;
    for (; level + 1 < fit->nlevels && bytes + fit->sample_bytes[level] > most; level++) {
        const struct amount *left = &fit->slices[level];

        plan->slices += left->slices;
        plan->time_ns += left->time_ns;
        bytes -= left->bytes;
    }
    plan->below_ns = fit->least_ns[level];
    plan->samples = fit->left[level];
}

/* Returns 1, 0, or -ENOMEM. */
static int fits_whole(struct fit *fit)
{
    uint64_t bytes, tracks;
    int rc = measure_frame(fit, &fit->p->plan, &bytes);

    if (!rc)
        rc = dft_thin_bytes(fit->p, 0, &tracks);
    if (rc)
        return rc;
    bytes += fit->always + tracks + fit->sample_bytes[0];
    for (unsigned level = 0; level < fit->nlevels; level++)
        bytes += fit->slices[level].bytes;
    for (unsigned zeros = 0; zeros <= ZEROS_MAX; zeros++)
        bytes += fit->links[zeros].bytes;
    return bytes <= fit->p->export->max_bytes;
}

/* Gives tracks and links up to a quarter of the file each, and slices and samples all else. */
static int choose(struct fit *fit)
{
    const uint64_t max_bytes = fit->p->export->max_bytes, max = UINT64_MAX;
    const struct dft_plan most = {max - 1, 0, max - 1, max, max, max, max};
    uint64_t least, left, tracks;
    int rc = fits_whole(fit);

    if (rc)
        return rc < 0 ? rc : 0;
    rc = measure_frame(fit, &most, &least);
    if (rc)
        return rc;
    least += fit->always + fit->sample_bytes[fit->nlevels - 1];
    if (least > max_bytes) {
        fprintf(stderr,
                "dftmerge: export: --max-bytes %" PRIu64
                " is too small: names of processes and threads, and what never "
                "ended, take %" PRIu64 "; nothing was written\n",
                max_bytes, least);
        return DFT_EXPORT_SAID;
    }
    left = max_bytes - least;
    rc = dft_thin_fit(fit->p, smaller(max_bytes / 4, left), &tracks);
    if (rc)
        return rc;
    left -= tracks;
    left -= choose_links(fit, smaller(max_bytes / 4, left));
    choose_level(fit, left + fit->sample_bytes[fit->nlevels - 1]);
    return 0;
}

/* Tells people what the file lacks. */
static int note(const struct dft_perfetto *p)
{
    char *sentence;

    if (!dft_plan_lacks(&p->plan))
        return 0;
    sentence = dft_plan_sentence(&p->plan, p->export->max_bytes);
    if (!sentence)
        return -ENOMEM;
    dft_source_note(p->export->source, 0, "%s", sentence);
    free(sentence);
    return 0;
}

int dft_fit(struct dft_perfetto *p)
{
    struct dft_source *source = p->export->source;
    struct fit *fit = calloc(1, sizeof *fit);
    int rc = dft_comm_agree(fit ? 0 : -ENOMEM);

    if (!rc)
        rc = dft_source_names_locate(source);
    if (!rc) {
        if (dft_exchange_serve(source, &rc)) {
            fit->p = p;
            make_levels(fit);
            rc = measure_metadata(fit);
            rc = rc ? rc : count_events(fit);
            rc = rc ? rc : choose(fit);
            rc = rc ? rc : note(p);
            dft_exchange_served(source);
        }
        rc = dft_comm_agree(rc);
    }
    free(fit);
    return rc;
}
