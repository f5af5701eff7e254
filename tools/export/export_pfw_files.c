/* SPDX-License-Identifier: MIT */
/* `--format pfw` into a directory: a file for each process, as DFTracer writes them. Its analysers
 * read such files in parallel. Each file has its own dictionaries and numbers its own lines. The
 * entry for a file stands before the first event on that file. */
#include <errno.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/map.h"
#include "command/event_parts.h"
#include "mpi/comm.h"
#include "export/export_pfw_event.h"
#include "export/export_pfw_files.h"
#include "export/export_pfw_lines.h"

/* The functions that write lines get the first member. */
struct files {
    struct dft_pfw_out pfw;
    struct dft_map known; /* files that the dictionary has so far */
};

static int put_head(void *context, const struct dft_source_process *process)
{
    struct files *files = context;
    int rc;

    files->pfw.id = 1;
    dft_enclosing_clear(&files->pfw.enclosing);
    dft_map_clear(&files->known);
    fputs("[\n", files->pfw.export->out);
    rc = dft_pfw_out_process(&files->pfw, process);
    return rc ? rc : dft_pfw_out_start(&files->pfw, process);
}

static int put_event(void *context, const struct dft_event_at *at)
{
    struct files *files = context;
    uint64_t *known = at->event->file ? dft_map_put(&files->known, at->event->file) : NULL;
    char text[18];

    if (at->event->file && !known)
        return -ENOMEM;
    if (known && !*known) {
        *known = 1;
        dft_pfw_out_file(&files->pfw, at->event->file, dft_names_show(files->pfw.export->names, at->event->file, text));
    }
    return dft_pfw_out_event(&files->pfw, at);
}

static int put_tail(void *context, const struct dft_source_process *process)
{
    struct files *files = context;

    dft_pfw_out_stop(&files->pfw, process);
    putc(']', files->pfw.export->out);
    return 0;
}

int dft_pfw_write_files(struct dft_export *export, const char *directory)
{
    struct files files = {.pfw = {.export = export}};
    struct dft_event_parts parts = {.source = export->source,
                                    .filter = export->filter,
                                    .ending = ".pfw.gz",
                                    .outer_first = 1,
                                    .out = &export->out,
                                    .context = &files,
                                    .head = put_head,
                                    .event = put_event,
                                    .tail = put_tail};
    uint32_t count;
    int rc;

    dft_source_processes(export->source, &count);
    files.pfw.events = calloc(count + 1u, sizeof *files.pfw.events);
    rc = dft_comm_agree(files.pfw.events ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_event_parts_write(&parts, directory);
    free(files.pfw.events);
    dft_enclosing_fini(&files.pfw.enclosing);
    dft_map_fini(&files.known);
    return rc;
}
