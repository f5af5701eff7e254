/* SPDX-License-Identifier: MIT */
/* `--max-bytes` and `--split` of `--format perfetto`: cuts the time, counts, and writes. */
#include "export/export_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/part_files.h"
#include "export/export_details.h"
#include "export/export_fit.h"
#include "mpi/comm.h"
#include "source/source_exchange.h"
#include "source/source_names.h"
#include "source/source_notes.h"
#include "source/source_order.h"

#define PARTS_MAX 10000u

struct parts {
    struct dft_perfetto *p;
    const char *path;
    struct dft_plan *plans;
    uint32_t count;
    struct dft_timeline *timeline;
    struct dft_fit *fit; /* NULL: there is no limit */
};

/* --- plans ------------------------------------------------------------------------------------ */

static int too_many(uint64_t range_ns)
{
    if (!dft_comm_rank())
        fprintf(stderr, "dftmerge: export: --split would make more than %u files; --split %" PRIu64 " makes fewer\n",
                PARTS_MAX, range_ns / PARTS_MAX / 1000000000 + 1);
    return DFT_EXPORT_SAID;
}

/* Cuts the time that is asked about. The last part has everything behind it, too. */
static int make_plans(struct parts *parts)
{
    const struct dft_filter *filter = parts->p->export->filter;
    uint64_t from_ns = parts->p->origin_ns, to_ns = parts->p->end_ns, width_ns = parts->p->export->split_ns, count;

    from_ns = filter->from_ns > from_ns ? filter->from_ns : from_ns;
    to_ns = filter->to_ns < to_ns ? filter->to_ns : to_ns;
    count = !width_ns || to_ns <= from_ns ? 1 : (to_ns - from_ns - 1) / width_ns + 1;
    if (count > PARTS_MAX)
        return too_many(to_ns - from_ns);
    parts->plans = calloc(count, sizeof *parts->plans);
    if (!parts->plans)
        return -ENOMEM;
    parts->count = (uint32_t)count;
    for (uint32_t i = 0; i < parts->count; i++)
        parts->plans[i] = (struct dft_plan){.from_ns = from_ns + i * width_ns,
                                            .to_ns = i + 1 < parts->count ? from_ns + (i + 1) * width_ns : UINT64_MAX,
                                            .part = i,
                                            .parts = width_ns ? parts->count : 0};
    return 0;
}

static int check_directory(const struct parts *parts)
{
    char(*texts)[DFT_PART_NAME_BYTES] = calloc(parts->count, sizeof *texts);
    char **names = calloc(parts->count, sizeof *names);
    int rc = texts && names ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < parts->count; i++)
        dft_details_name(names[i] = texts[i], i);
    if (!rc && dft_part_directory(parts->p->export->source, parts->path, ".json", names, parts->count))
        rc = DFT_EXPORT_SAID;
    free(texts);
    free(names);
    return rc;
}

/* --- events ----------------------------------------------------------------------------------- */

static int reorder(void *context, const struct dft_event_at *at)
{
    struct dft_perfetto *p = context;
    int rc = dft_reorder_add(&p->reorder, at);

    rc = rc ? rc : p->error;
    return rc ? rc : p->export->out && ferror(p->export->out) ? -EIO : 0;
}

/* Gives all events to a route. */
static int go_through(struct parts *parts, struct dft_route *route)
{
    struct dft_perfetto *p = parts->p;
    int rc;

    p->reorder.emit = dft_route_event;
    p->reorder.context = route;
    dft_source_names_on_return(p->export->source, dft_reorder_flush, &p->reorder);
    rc = dft_route_begin(route);
    if (!rc)
        rc = dft_timeline_emit(parts->timeline, 0, reorder, p);
    if (!rc)
        dft_reorder_flush(&p->reorder);
    dft_source_names_on_return(p->export->source, NULL, NULL);
    return rc ? rc : dft_route_end(route);
}

static int fit(struct parts *parts)
{
    struct dft_fit *fit = parts->fit;
    int rc = dft_fit_begin(fit, parts->p, parts->plans, parts->count);

    if (!rc)
        rc = go_through(parts, &fit->route);
    if (rc || fit->least_bytes <= fit->max_bytes)
        return rc;
    fprintf(stderr,
            "dftmerge: export: --max-bytes %" PRIu64 " is too small%s: names of processes and threads and a merged "
            "slice of each take %" PRIu64 "; nothing was written\n",
            fit->max_bytes, parts->plans->parts ? " for a part" : "", fit->least_bytes);
    return DFT_EXPORT_SAID;
}

static int say_failed(const struct parts *parts, uint32_t part, int rc)
{
    char name[DFT_PART_NAME_BYTES], *path;

    dft_details_name(name, part);
    path = dft_outfile_inside(parts->path, name);
    fprintf(stderr, "dftmerge: %s: %s; %u of %u files were written\n", path ? path : name, strerror(-rc), part,
            parts->count);
    free(path);
    return DFT_EXPORT_SAID;
}

static int write_files(struct parts *parts)
{
    struct dft_details details = {
        .names = parts->fit ? &parts->fit->names : NULL, .path = parts->path, .max_bytes = parts->p->export->max_bytes};
    int rc;

    dft_details_begin(&details, parts->p, parts->plans, parts->count);
    rc = go_through(parts, &details.route);
    if (rc == -EIO && details.is_open && details.out.error)
        rc = details.out.error;
    dft_details_fini(&details);
    parts->p->export->out = NULL;
    return rc && parts->plans->parts ? say_failed(parts, details.route.current, rc) : rc;
}

/* Says on stderr what the files lack. */
static int say_lacks(const struct parts *parts)
{
    uint32_t lacking = 0;
    uint64_t merged = 0, into = 0;
    char *sentence;

    for (uint32_t i = 0; i < parts->count; i++) {
        lacking += (uint32_t)dft_plan_lacks(&parts->plans[i]);
        merged += parts->plans[i].merged;
        into += parts->plans[i].into;
    }
    if (!lacking)
        return 0;
    if (parts->plans->parts) {
        dft_source_note(parts->p->export->source, 0,
                        "to fit into %" PRIu64 " bytes, %u of %u parts have less detail: %" PRIu64
                        " slices are merged into %" PRIu64 "; otherData.note of a part says more",
                        parts->fit->max_bytes, lacking, parts->count, merged, into);
        return 0;
    }
    sentence = dft_plan_sentence(parts->plans, parts->fit->max_bytes);
    if (!sentence)
        return -ENOMEM;
    dft_source_note(parts->p->export->source, 0, "%s", sentence);
    free(sentence);
    return 0;
}

static int write_parts(struct parts *parts)
{
    const struct dft_export *export = parts->p->export;
    int rc = dft_timeline_create(&parts->timeline, export->source, export->filter, 0);

    if (!rc && parts->fit)
        rc = fit(parts);
    if (!rc)
        rc = write_files(parts);
    if (!rc)
        rc = say_lacks(parts);
    dft_timeline_destroy(parts->timeline);
    return rc;
}

int dft_parts_write(struct dft_perfetto *p, const char *path)
{
    struct parts parts = {.p = p, .path = path};
    struct dft_source *source = p->export->source;
    int rc = dft_source_names_locate(source), noted;

    if (!rc)
        rc = dft_comm_agree(make_plans(&parts));
    if (!rc && p->export->split_ns)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : check_directory(&parts));
    if (!rc && p->export->max_bytes) {
        parts.fit = calloc(1, sizeof *parts.fit);
        rc = dft_comm_agree(parts.fit ? 0 : -ENOMEM);
    }
    if (!rc && parts.fit)
        parts.fit->max_bytes = p->export->max_bytes;
    if (!rc) {
        if (dft_exchange_serve(source, &rc)) {
            rc = write_parts(&parts);
            dft_exchange_served(source);
        }
        rc = dft_comm_agree(rc);
    }
    if (parts.fit)
        dft_fit_fini(parts.fit);
    free(parts.fit);
    free(parts.plans);
    noted = dft_exchange_notes(source);
    return rc ? rc : noted;
}
