/* SPDX-License-Identifier: MIT */
/* `--format perfetto`: one Chrome-trace JSON object, events in order of start.
 *
 * Events of one start wait until they are sorted (export_reorder.h). Counter tracks follow the
 * events. export_fit.c says what a file with a limit leaves out. */
#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "command/event_text.h"
#include "export/export_perfetto.h"
#include "export/export_fit.h"
#include "export/export_perfetto_file.h"
#include "export/export_perfetto_put.h"
#include "export/export_thin.h"
#include "intake/source_names.h"

static void put_event(void *context, const struct dft_event_at *at)
{
    if (!dft_fit_keeps(context, at))
        return;
    dft_perfetto_put(context, at);
    dft_perfetto_put_arrow(context, at);
}

static int reorder(void *context, const struct dft_event_at *at)
{
    struct dft_perfetto *p = context;
    int error = dft_reorder_add(&p->reorder, at);

    error = error ? error : p->error;
    return error ? error : ferror(p->export->out) ? -EIO : 0;
}

static int put_begin(void *context)
{
    struct dft_perfetto *p = context;
    char *sentence = dft_plan_sentence(&p->plan, p->export->max_bytes);
    int rc;

    if (!sentence)
        return -ENOMEM;
    dft_perfetto_put_head(p, &p->plan, p->export->max_bytes, sentence);
    rc = dft_perfetto_put_metadata(p);
    dft_perfetto_put_notice(p, &p->plan, sentence);
    free(sentence);
    return rc;
}

static int put_end(void *context)
{
    struct dft_perfetto *p = context;
    int rc;

    dft_reorder_flush(&p->reorder);
    rc = dft_thin_put(p, p->plan.width_ns);
    dft_perfetto_put_end(p);
    return rc ? rc : p->error;
}

static int write_file(struct dft_perfetto *p, const char *path)
{
    struct dft_event_text text = {.source = p->export->source,
                                  .filter = p->export->filter,
                                  .is_inside = p->export->is_inside,
                                  .out = &p->export->out,
                                  .context = p,
                                  .head = put_begin,
                                  .event = reorder,
                                  .tail = put_end};
    int error;

    p->reorder.emit = put_event;
    p->reorder.context = p;
    dft_source_names_on_return(p->export->source, dft_reorder_flush, &p->reorder);
    error = dft_event_text_write(&text, path);
    dft_source_names_on_return(p->export->source, NULL, NULL);
    return error;
}

static int write_perfetto(struct dft_export *export, const char *path)
{
    struct dft_perfetto p = {.export = export};
    int error;

    error = dft_comm_agree(dft_pids_make(&p.pids, export->source, export->filter));
    if (!error)
        error = dft_comm_agree(dft_flows_make(&p.flows, export->source, export->filter));
    if (!error)
        error = dft_tracks_make(&p.tracks, export);
    dft_source_lives(export->source, &p.origin_ns, &p.end_ns);
    if (!error && export->max_bytes)
        error = dft_fit(&p);
    if (!error)
        error = write_file(&p, path);
    dft_pids_free(&p.pids);
    dft_flows_free(&p.flows);
    dft_reorder_fini(&p.reorder);
    dft_tracks_fini(&p.tracks);
    dft_map_fini(&p.samples);
    if (p.memory)
        fclose(p.memory);
    free(p.text);
    return error;
}

const struct dft_exporter dft_export_perfetto = {"perfetto",   "one Chrome-trace JSON object",
                                                 "trace.json", .write_text = write_perfetto,
                                                 .fits = 1,    .takes_rows = 1 /* counter tracks */};
