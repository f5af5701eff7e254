/* SPDX-License-Identifier: MIT */
/* Writes files with the detail that their plans have; see export_details.h.
 *
 * The first slice of a run waits as text: it may stay alone. Links wait with their run, because they
 * refer to the slice that stands before them. */
#include "export/export_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/export_fit.h"
#include "export/export_thin.h"

struct text {
    char *bytes;
    size_t length, capacity;
};

struct pending {
    struct dft_merged merged;
    struct text first, links;
};

static int append(struct text *text, const char *bytes, size_t length)
{
    if (DFT_ARRAY_RESERVE(text->bytes, text->capacity, text->length + length))
        return -ENOMEM;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    return 0;
}

/* Appends the event, or its arrow. */
static int append_record(struct dft_details *details, struct text *text, int arrow)
{
    struct dft_perfetto *p = details->route.p;

    if (!dft_perfetto_begin_text(p))
        return -ENOMEM;
    if (arrow)
        dft_perfetto_put_arrow(p, details->route.at);
    else
        dft_perfetto_put(p, details->route.at, details->route.piece);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    return append(text, p->text, p->length);
}

static void forget(struct pending *pending)
{
    free(pending->first.bytes);
    free(pending->links.bytes);
    free(pending->merged.names);
}

/* --- slices ----------------------------------------------------------------------------------- */

static int always(void *context)
{
    struct dft_details *details = context;

    dft_perfetto_put(details->route.p, details->route.at, details->route.piece);
    return 0;
}

static int take_text(void *context, const char *bytes, size_t length)
{
    struct dft_details *details = context;

    return fwrite(bytes, 1, length, details->out.stream) == length ? 0 : -EIO;
}

static int keep(void *context, unsigned level)
{
    (void)level;
    return always(context);
}

static int leave_out(void *context, unsigned level)
{
    (void)context;
    (void)level;
    return 0;
}

static int join(void *context, unsigned level, struct dft_run *run)
{
    struct pending *pending = (struct pending *)(void *)run;
    struct dft_details *details = context;
    struct dft_perfetto *p = details->route.p;
    int bit = dft_merged_bit(details->names, p, details->route.at->call), rc = bit < 0 ? bit : 0;

    (void)level;
    if (!rc && !run->slices)
        rc = append_record(details, &pending->first, 0);
    return rc ? rc : dft_merged_add(&pending->merged, p, details->route.at, details->route.piece, bit);
}

static int end_run(void *context, unsigned level, enum dft_lane_kind kind, struct dft_run *run)
{
    struct pending *pending = (struct pending *)(void *)run;
    struct dft_details *details = context;
    FILE *out = details->out.stream;

    (void)level;
    if (run->slices == 1)
        fwrite(pending->first.bytes, 1, pending->first.length, out);
    else
        dft_merged_put(details->route.p, details->names, &pending->merged, kind, details->ids++);
    if (pending->links.length)
        fwrite(pending->links.bytes, 1, pending->links.length, out);
    forget(pending);
    return ferror(out) ? -EIO : details->route.p->error;
}

static int take_link(void *context, unsigned zeros, int arrow)
{
    struct dft_details *details = context;
    struct dft_run *run = dft_lanes_run(&details->route.lanes, details->route.thread, 0);

    if (zeros < details->route.plans[details->route.current].zeros)
        return 0;
    if (run)
        return append_record(details, &((struct pending *)(void *)run)->links, arrow);
    if (!arrow)
        return always(context);
    dft_perfetto_put_arrow(details->route.p, details->route.at);
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

void dft_details_name(char *name, uint32_t part)
{
    snprintf(name, DFT_PART_NAME_BYTES, "trace-%04u.json", part);
}

static int open_file(struct dft_details *details, const struct dft_plan *plan)
{
    char name[DFT_PART_NAME_BYTES], *path = NULL;
    int rc;

    if (!plan->parts)
        return dft_export_open(details->route.p->export, &details->out, details->path);
    dft_details_name(name, plan->part);
    path = dft_outfile_inside(details->path, name);
    rc = path ? dft_outfile_open_inside(&details->out, path) : -ENOMEM;
    free(path);
    return rc;
}

static int begin(void *context, struct dft_plan *plan)
{
    struct dft_details *details = context;
    struct dft_perfetto *p = details->route.p;
    char *sentence = dft_plan_sentence(plan, details->max_bytes);
    int rc = sentence ? open_file(details, plan) : -ENOMEM;

    details->is_open = !rc;
    if (!rc) {
        p->export->out = details->out.stream;
        details->below_ns = plan->below_ns;
        dft_perfetto_put_head(p, plan, details->max_bytes, sentence);
        rc = dft_perfetto_put_metadata(p);
        dft_perfetto_put_notice(p, plan, sentence);
    }
    free(sentence);
    return rc;
}

static int end(void *context, struct dft_plan *plan)
{
    struct dft_details *details = context;
    struct dft_perfetto *p = details->route.p;
    struct dft_tracks thin;
    int rc = dft_thin_make(&thin, &p->tracks, plan);

    if (!rc)
        dft_perfetto_put_tracks(p, &thin);
    free(thin.points);
    dft_perfetto_put_end(p);
    p->export->out = NULL;
    details->is_open = 0;
    return dft_outfile_close(&details->out, rc ? rc : p->error, 0);
}

void dft_details_begin(struct dft_details *details, struct dft_perfetto *p, struct dft_plan *plans, uint32_t count)
{
    details->route = (struct dft_route){.p = p,
                                        .plans = plans,
                                        .count = count,
                                        .context = details,
                                        .begin = begin,
                                        .end = end,
                                        .always = always,
                                        .text = take_text,
                                        .link = take_link};
    details->route.lanes = (struct dft_lanes){.least_ns = &details->below_ns,
                                              .count = 1,
                                              .run_bytes = sizeof(struct pending),
                                              .context = details,
                                              .keep = keep,
                                              .leave_out = leave_out,
                                              .join = join,
                                              .end = end_run};
}

static void forget_run(struct dft_run *run)
{
    forget((struct pending *)(void *)run);
}

void dft_details_fini(struct dft_details *details)
{
    dft_lanes_each(&details->route.lanes, forget_run);
    dft_route_fini(&details->route);
    if (details->is_open)
        dft_outfile_abort(&details->out);
}
