/* SPDX-License-Identifier: MIT */
/* `--format perfetto`: one Chrome-trace JSON object, events in order of start.
 *
 * Events of one start wait until they are sorted (export_reorder.h). Counter tracks follow the
 * events. A file with a limit and files of parts of the time are written by export_parts.c. */
#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "command/event_text.h"
#include "export/export_perfetto.h"
#include "export/export_parts.h"
#include "export/export_perfetto_put.h"
#include "source/source_names.h"

static void put_event(void *context, const struct dft_event_at *at)
{
    dft_perfetto_put(context, at, NULL);
    dft_perfetto_put_arrow(context, at);
}

static int reorder(void *context, const struct dft_event_at *at)
{
    struct dft_perfetto *p = context;
    int error = dft_reorder_add(&p->reorder, at);

    return error ? error : ferror(p->export->out) ? -EIO : 0;
}

static int put_begin(void *context)
{
    dft_perfetto_put_head(context, NULL, 0, NULL);
    return dft_perfetto_put_metadata(context);
}

static int put_end(void *context)
{
    struct dft_perfetto *p = context;

    dft_reorder_flush(&p->reorder);
    dft_perfetto_put_tracks(p, &p->tracks);
    dft_perfetto_put_end(p);
    return 0;
}

static int write_plain(struct dft_perfetto *p, const char *path)
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
    dft_source_names_on_return(p->export->source, dft_reorder_flush, &p->reorder);
    error = dft_event_text_write(&text, path);
    dft_source_names_on_return(p->export->source, NULL, NULL);
    return error;
}

static int write_perfetto(struct dft_export *export, const char *path)
{
    struct dft_perfetto p = {.export = export};
    int error;

    p.reorder.context = &p;
    error = dft_comm_agree(dft_pids_make(&p.pids, export->source, export->filter));
    if (!error)
        error = dft_comm_agree(dft_flows_make(&p.flows, export->source, export->filter));
    if (!error)
        error = dft_tracks_make(&p.tracks, export);
    dft_source_lives(export->source, &p.origin_ns, &p.end_ns);
    if (!error)
        error = export->max_bytes || export->split_ns ? dft_parts_write(&p, path) : write_plain(&p, path);
    dft_pids_free(&p.pids);
    dft_flows_free(&p.flows);
    dft_reorder_fini(&p.reorder);
    dft_tracks_fini(&p.tracks);
    if (p.memory)
        fclose(p.memory);
    free(p.text);
    return error;
}

const struct dft_exporter dft_export_perfetto = {"perfetto",   "one Chrome-trace JSON object",
                                                 "trace.json", .write_text = write_perfetto,
                                                 .divides = 1, .takes_rows = 1 /* counter tracks */};
