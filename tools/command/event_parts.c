/* SPDX-License-Identifier: MIT */
/* A directory with a file for each process; see event_parts.h. */
#include "command/event_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "command/part_files.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "object/source_notes.h"
#include "intake/source_exchange.h"

/* counted for each file, because a file without events is some work, too */
#define FILE_BYTES 4096u

struct writing {
    const struct dft_event_parts *parts;
    const char *directory;
    const struct dft_source_process *processes;
    uint32_t count;
    struct dft_ordering *timeline;
    char **names;    /* names of files, by process; NULL: the process does not pass the filter */
    uint64_t *bytes; /* bytes of the blocks of a process and of all processes before */
    unsigned ranks;  /* number of ranks that write */
    uint64_t written, all;
    uint32_t failed; /* the process whose file was not written */
};

/* --- before all files ------------------------------------------------------------------------- */

static int make_names(struct writing *writing)
{
    const struct dft_event_parts *parts = writing->parts;
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(parts->source, &count);

    for (size_t i = 0; i < count; i++)
        if (dft_source_wants(parts->source, parts->filter, &blocks[i]))
            writing->bytes[blocks[i].process] += blocks[i].stored;
    for (uint32_t i = 0; i < writing->count; i++) {
        if (dft_filter_process(parts->filter, &writing->processes[i])) {
            writing->names[i] = dft_part_name(&writing->processes[i], parts->ending);
            if (!writing->names[i])
                return -ENOMEM;
            writing->all++;
            writing->bytes[i] += FILE_BYTES;
        }
        writing->bytes[i] += i ? writing->bytes[i - 1] : 0;
    }
    return 0;
}

static int prepare(struct writing *writing)
{
    const struct dft_event_parts *parts = writing->parts;
    int rc;

    writing->processes = dft_source_processes(parts->source, &writing->count);
    writing->names = calloc(writing->count + 1u, sizeof *writing->names);
    writing->bytes = calloc(writing->count + 1u, sizeof *writing->bytes);
    if (!writing->names || !writing->bytes)
        return -ENOMEM;
    rc = make_names(writing);
    if (!rc)
        rc = dft_ordering_create(&writing->timeline, parts->source, parts->filter, 1);
    if (!rc && parts->outer_first)
        dft_ordering_outer_first(writing->timeline);
    return rc;
}

static int check_directory(const struct writing *writing)
{
    char **names = malloc((writing->count + 1u) * sizeof *names);
    size_t n = 0;
    int rc;

    if (!names)
        return -ENOMEM;
    for (uint32_t i = 0; i < writing->count; i++)
        if (writing->names[i])
            names[n++] = writing->names[i];
    rc = dft_part_directory(writing->parts->source, writing->directory, writing->parts->ending, names, n);
    free(names);
    return rc;
}

/* --- the files -------------------------------------------------------------------------------- */

static int write_file(struct writing *writing, const struct dft_source_process *process)
{
    const struct dft_event_parts *parts = writing->parts;
    char *path = dft_outfile_inside(writing->directory, writing->names[process->number]);
    struct dft_outfile out;
    int rc = path ? dft_outfile_open_inside(&out, path) : -ENOMEM;

    free(path);
    if (rc)
        return rc;
    *parts->out = out.stream;
    rc = parts->head ? parts->head(parts->context, process) : 0;
    if (!rc)
        rc = dft_ordering_emit(writing->timeline, process->number, parts->event, parts->context);
    if (!rc && parts->tail)
        rc = parts->tail(parts->context, process);
    *parts->out = NULL;
    return dft_outfile_close(&out, rc, 0);
}

static int is_mine(const struct writing *writing, uint32_t process)
{
    double all = (double)writing->bytes[writing->count - 1], before = process ? (double)writing->bytes[process - 1] : 0;
    unsigned owner = (unsigned)(before / all * writing->ranks);

    return (owner < writing->ranks ? owner : writing->ranks - 1) == dft_comm_rank();
}

static int write_mine(struct writing *writing)
{
    int rc = 0;

    for (uint32_t i = 0; i < writing->count && !rc; i++) {
        if (!writing->names[i] || !is_mine(writing, i))
            continue;
        rc = write_file(writing, &writing->processes[i]);
        writing->written += !rc;
        if (rc)
            writing->failed = i;
        dft_source_progress(writing->parts->source, "processes", i + 1, writing->count);
    }
    dft_source_progress(writing->parts->source, "", 1, 1);
    return rc;
}

/* When several ranks failed, the error for the first file counts. */
static int outcome(struct writing *writing, int rc)
{
    int failed = rc ? (int)(writing->count - writing->failed) : 0, first = dft_comm_agree(failed);

    dft_comm_sum(&writing->written, 1);
    if (!first)
        return 0;
    rc = dft_comm_agree(failed == first ? rc : 0);
    fprintf(stderr, "dftmerge: %s/%s: %s; %" PRIu64 " of %" PRIu64 " files were written\n", writing->directory,
            writing->names[writing->count - (uint32_t)first], strerror(-rc), writing->written, writing->all);
    return rc;
}

/* Where not every rank can read every block, rank 0 writes all files. The other ranks give rank 0
 * their blocks. */
static int write_all(struct writing *writing)
{
    struct dft_source *source = writing->parts->source;
    int common = dft_exchange_common(source), rc = common < 0 ? common : 0;

    if (rc)
        return rc;
    writing->ranks = common ? dft_comm_size() : 1;
    if (common || dft_exchange_serve(source, &rc)) {
        rc = write_mine(writing);
        if (!common)
            dft_exchange_served(source);
    }
    return outcome(writing, rc);
}

int dft_event_parts_write(const struct dft_event_parts *parts, const char *directory)
{
    struct writing writing = {.parts = parts, .directory = directory};
    int rc = dft_source_names_locate(parts->source), noted;

    if (!rc)
        rc = dft_comm_agree(prepare(&writing));
    if (!rc)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : check_directory(&writing));
    if (!rc && writing.all)
        rc = write_all(&writing);
    for (uint32_t i = 0; writing.names && i < writing.count; i++)
        free(writing.names[i]);
    free(writing.names);
    free(writing.bytes);
    dft_ordering_destroy(writing.timeline);
    noted = dft_exchange_notes(parts->source);
    return rc ? rc : noted;
}
