/* SPDX-License-Identifier: MIT */
/* `--format pfw`: JSON lines in the form of DFTracer 1.0.8, for its analysers.
 *
 * Dictionaries come first: HH for hosts, FH for files, SH for other strings. Hashes are the 64-bit
 * ids of names. Then come one `start` for each process, the events in order of start, and one `end`
 * for each process. Times are whole microseconds, rounded down at both ends. What was nested thus
 * stays nested. A directory gets a file for each process (export_pfw_files.c). */
#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "command/event_text.h"
#include "export/export_files.h"
#include "export/export_pfw.h"
#include "export/export_pfw_event.h"
#include "export/export_pfw_files.h"
#include "export/export_pfw_lines.h"
#include "intake/source_names.h"

/* Writes all processes into one file. The functions that write lines get the first member. */
struct whole {
    struct dft_pfw_out pfw;
    struct dft_files *files;
};

static int each_process(struct dft_pfw_out *pfw,
                        int (*put)(struct dft_pfw_out *pfw, const struct dft_source_process *process))
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(pfw->export->source, &count);
    int error = 0;

    for (uint32_t i = 0; i < count && !error; i++)
        if (dft_filter_process(pfw->export->filter, &processes[i]))
            error = put(pfw, &processes[i]);
    return error;
}

static int put_stop(struct dft_pfw_out *pfw, const struct dft_source_process *process)
{
    dft_pfw_out_stop(pfw, process);
    return 0;
}

static int put_head(void *context)
{
    struct whole *whole = context;
    struct dft_pfw_out *pfw = &whole->pfw;
    int error;

    fputs("[\n", pfw->export->out);
    error = each_process(pfw, dft_pfw_out_process);
    if (!error)
        error = dft_files_emit(whole->files, dft_pfw_out_file, pfw);
    return error ? error : each_process(pfw, dft_pfw_out_start);
}

static int put_tail(void *context)
{
    struct dft_pfw_out *pfw = context;
    int error = each_process(pfw, put_stop);

    putc(']', pfw->export->out);
    return error;
}

static int write_pfw(struct dft_export *export, const char *path)
{
    struct whole whole = {.pfw = {.export = export, .id = 1}};
    struct dft_event_text text = {.source = export->source,
                                  .filter = export->filter,
                                  .outer_first = 1,
                                  .out = &export->out,
                                  .context = &whole,
                                  .head = put_head,
                                  .event = dft_pfw_out_event,
                                  .tail = put_tail};
    uint32_t count;
    int error;

    dft_source_processes(export->source, &count);
    whole.pfw.events = calloc(count + 1u, sizeof *whole.pfw.events);
    error = dft_comm_agree(whole.pfw.events ? 0 : -ENOMEM);
    if (!error)
        error = dft_source_names_locate(export->source);
    if (!error)
        error = dft_files_collect(&whole.files, export->source, export->filter);
    if (!error)
        error = dft_event_text_write(&text, path);
    dft_files_destroy(whole.files);
    dft_enclosing_fini(&whole.pfw.enclosing);
    free(whole.pfw.events);
    return error;
}

const struct dft_exporter dft_export_pfw = {"pfw", "JSON lines as DFTracer 1.0.8 writes them", NULL,
                                            .write_text = write_pfw, .write_files = dft_pfw_write_files};
