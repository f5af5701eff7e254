/* `--to pfw` into a directory: a file for each process, as DFTracer writes them, which its analysers read in parallel.
 *
 * Each has its own dictionaries, with the entry for a file before its first event, and numbers its own lines. Every rank of
 * dftmerge-mpi writes some, all of about the same bytes of traces; what is in a file does not depend on that. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "export/export_pfw.h"
#include "merge/merge.h"
#include "base/outfile.h"
#include "base/map.h"
#include "source/source_share.h"
#include "source/source_notes.h"
#include "source/source_order.h"
#include "base/names.h"

struct files {
    struct dft_pfw_out pfw;
    const char *directory;
    struct dft_timeline *timeline;
    uint32_t count;       /* processes */
    char **names;         /* of their files; NULL: is not asked about */
    uint64_t *bytes;      /* of their blocks, those of all before included */
    unsigned ranks;       /* that write */
    struct dft_map known; /* files that the dictionary has */
    uint64_t written, all;
    uint32_t failed; /* the first file that was not written, behind the last: none */
};

/* --- names of files ------------------------------------------------------------------------------------------------- */

static char *cleaned(struct dft_text text, const char *otherwise)
{
    const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;
    size_t from = slash ? (size_t)(slash - text.bytes) + 1 : 0;
    char *name = text.length > from ? strndup(text.bytes + from, text.length - from) : strdup(otherwise);

    for (char *at = name; at && *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            *at = '_';
    return name;
}

/* Sorted by rank, and different for every process. */
static char *name_of(const struct dft_source_process *source)
{
    const struct dft_process *process = &source->process;
    char *program = cleaned(process->exe, "process"), *host = cleaned(process->host, "host"), *name = NULL,
         rank[32] = "";

    if (process->rank >= 0)
        snprintf(rank, sizeof rank, "rank-%05d-", process->rank);
    if (!program || !host ||
        asprintf(&name, "%s%.64s-%.64s-%u-%016" PRIx64 ".pfw.gz", rank, program, host, process->pid, source->key) < 0)
        name = NULL;
    free(program);
    free(host);
    return name;
}

static int prepare(struct files *files)
{
    struct dft_source *source = files->pfw.export->source;
    const struct dft_source_process *processes = dft_source_processes(source, &files->count);
    const uint64_t of_file = 4096; /* is some work too */
    const struct dft_block *blocks;
    size_t nblocks;
    int rc;

    files->names = calloc(files->count + 1u, sizeof *files->names);
    files->bytes = calloc(files->count + 1u, sizeof *files->bytes);
    files->pfw.events = calloc(files->count + 1u, sizeof *files->pfw.events);
    if (!files->names || !files->bytes || !files->pfw.events)
        return -ENOMEM;
    blocks = dft_source_blocks(source, &nblocks);
    for (size_t i = 0; i < nblocks; i++)
        if (dft_source_wants(source, files->pfw.export->filter, &blocks[i]))
            files->bytes[blocks[i].process] += blocks[i].stored;
    for (uint32_t i = 0; i < files->count; i++) {
        if (!dft_filter_process(files->pfw.export->filter, &processes[i])) {
            files->bytes[i] = i ? files->bytes[i - 1] : 0;
            continue;
        }
        files->names[i] = name_of(&processes[i]);
        if (!files->names[i])
            return -ENOMEM;
        files->all++;
        files->bytes[i] += of_file + (i ? files->bytes[i - 1] : 0);
    }
    rc = dft_timeline_create(&files->timeline, source, files->pfw.export->filter, 1);
    if (!rc)
        dft_timeline_outer_first(files->timeline);
    return rc;
}

static int check_directory(const struct files *files)
{
    char **names = malloc((files->count + 1u) * sizeof *names);
    size_t n = 0;
    int rc;

    if (!names)
        return -ENOMEM;
    for (uint32_t i = 0; i < files->count; i++)
        if (files->names[i])
            names[n++] = files->names[i];
    rc = dft_merge_directory(files->pfw.export->source, files->directory, names, n);
    free(names);
    return rc;
}

/* --- one file ------------------------------------------------------------------------------------------------------- */

static int give(void *context, const struct dft_event_at *at)
{
    struct files *files = context;
    uint64_t *known = at->event->file ? dft_map_put(&files->known, at->event->file) : NULL;
    char room[18];

    if (at->event->file && !known)
        return -ENOMEM;
    if (known && !*known) {
        *known = 1;
        dft_pfw_out_file(&files->pfw, at->event->file, dft_names_show(files->pfw.export->names, at->event->file, room));
    }
    return dft_pfw_out_event(&files->pfw, at);
}

static int write_lines(struct files *files, const struct dft_source_process *process)
{
    int rc;

    files->pfw.id = 1;
    dft_enclosing_clear(&files->pfw.enclosing);
    dft_map_clear(&files->known);
    fputs("[\n", files->pfw.export->out);
    rc = dft_pfw_out_process(&files->pfw, process);
    if (!rc)
        rc = dft_pfw_out_start(&files->pfw, process);
    if (!rc)
        rc = dft_timeline_give(files->timeline, process->number, 0, UINT64_MAX, give, files);
    dft_pfw_out_stop(&files->pfw, process);
    putc(']', files->pfw.export->out);
    return rc;
}

static int write_file(struct files *files, const struct dft_source_process *process)
{
    struct dft_outfile out;
    char *path;
    int rc = asprintf(&path, "%s/%s", files->directory, files->names[process->number]) < 0 ? -ENOMEM : 0;

    if (rc)
        return rc;
    rc = dft_outfile_open(&out, path);
    if (!rc) {
        files->pfw.export->out = out.stream;
        rc = write_lines(files, process);
        if (rc == -EIO && out.error)
            rc = out.error;
    }
    if (!rc)
        rc = dft_outfile_commit(&out, 0);
    dft_outfile_abort(&out);
    free(path);
    return rc;
}

/* --- all of them ---------------------------------------------------------------------------------------------------- */

static int is_mine(const struct files *files, uint32_t process)
{
    double all = (double)files->bytes[files->count - 1], before = process ? (double)files->bytes[process - 1] : 0;
    unsigned owner = (unsigned)(before / all * files->ranks);

    return (owner < files->ranks ? owner : files->ranks - 1) == dft_comm_rank();
}

static int write_mine(struct files *files)
{
    const struct dft_source_process *processes = dft_source_processes(files->pfw.export->source, &files->count);
    int rc = 0;

    for (uint32_t i = 0; i < files->count && !rc; i++) {
        if (!files->names[i] || !is_mine(files, i))
            continue;
        rc = write_file(files, &processes[i]);
        files->written += !rc;
        if (rc)
            files->failed = i;
        dft_source_progress(files->pfw.export->source, "processes", i + 1, files->count);
    }
    dft_source_progress(files->pfw.export->source, "", 1, 1);
    return rc;
}

/* Of several ranks that failed, the one with the first file is believed. */
static int outcome(struct files *files, int rc)
{
    int failed = rc ? (int)(files->count - files->failed) : 0, first = dft_comm_agree(failed);

    dft_comm_sum(&files->written, 1);
    if (!first)
        return 0;
    rc = dft_comm_agree(failed == first ? rc : 0);
    fprintf(stderr, "dftmerge: %s/%s: %s; %" PRIu64 " of %" PRIu64 " files were written\n", files->directory,
            files->names[files->count - (uint32_t)first], strerror(-rc), files->written, files->all);
    return rc;
}

static int write_all(struct files *files)
{
    struct dft_source *source = files->pfw.export->source;
    int common = dft_share_common(source), rc = common < 0 ? common : 0;

    if (rc)
        return rc;
    files->ranks = common ? dft_comm_size() : 1;
    if (common || dft_share_serve(source, &rc)) {
        rc = write_mine(files);
        if (!common)
            dft_share_served(source);
    }
    return outcome(files, rc);
}

int dft_pfw_write_files(struct dft_export *export, const char *directory)
{
    struct files files = {.pfw = {.export = export}, .directory = directory};
    int rc = dft_comm_agree(prepare(&files)), noted;

    if (!rc)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : check_directory(&files));
    if (!rc && files.all)
        rc = write_all(&files);
    for (uint32_t i = 0; files.names && i < files.count; i++)
        free(files.names[i]);
    free(files.names);
    free(files.bytes);
    free(files.pfw.events);
    dft_enclosing_fini(&files.pfw.enclosing);
    dft_map_fini(&files.known);
    dft_timeline_destroy(files.timeline);
    noted = dft_share_notes(export->source);
    return rc ? rc : noted;
}
