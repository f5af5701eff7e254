/* SPDX-License-Identifier: MIT */
/* Traces of DFTracer: converts them into blocks of our own. Users of a source see only these
 * blocks.
 *
 * One thread takes one file, and the largest files come first. */
#include "intake/source_imported.h"

#include "base/array.h"
#include "object/source_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spill_file.h"
#include "mpi/comm.h"
#include "dftracer/imported_index.h"
#include "intake/imported_notes.h"
#include "dftracer/pfw.h"
#include "object/source_notes.h"
#include "intake/source_range.h"
#include "base/work.h"

#define PAGE        UINT64_C(65536)
#define WRITE_BYTES ((size_t)1 << 20)
/* bound for converted blocks in memory, without an index; what is only there is not compressed,
 * because compression takes more time than reading it once */
#define MEMORY_MAX  (UINT64_C(128) << 20)

/* --- where blocks go -------------------------------------------------------------------------- */

struct converting {
    struct dft_source *source;
    struct dft_scanned *scanned;
    uint32_t *files; /* largest first */
    struct dft_pfw_worker *workers[DFT_THREADS_MAX];
    struct dft_decoder *decoders[DFT_THREADS_MAX];
    uint64_t bytes; /* bytes of all files */
    _Atomic uint64_t done;
};

/* Gathers the blocks of one file in memory. With an index, the blocks go on to its file. Without an
 * index they stay in memory until there are too many. They then go to a file without a name. Each
 * worker has one such file, which many traces share. */
struct output {
    struct converting *converting;
    unsigned worker;
    int fd; /* -1: only memory holds the blocks */
    int is_index;
    int plain;          /* the next block is not compressed */
    uint64_t begin, at; /* in fd: where the blocks of this trace begin; where the next bytes go */
    char *bytes;
    size_t used, capacity;
    uint64_t seen; /* bytes of the trace that `done` counts so far */
};

static int write_out(struct output *output)
{
    size_t done = 0;

    while (done < output->used) {
        ssize_t n = pwrite(output->fd, output->bytes + done, output->used - done, (off_t)(output->at + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    output->at += output->used;
    output->used = 0;
    return 0;
}

/* Offsets of mappings must be multiples of pages. */
static int spill(struct output *output)
{
    struct dft_source *source = output->converting->source;
    int *fd = &source->spill[output->worker];
    off_t end;

    if (!*fd) {
        int opened = dft_temporary_open();

        if (opened < 0)
            return opened;
        *fd = opened + 1;
    }
    end = lseek(*fd - 1, 0, SEEK_END);
    if (end < 0)
        return -errno;
    output->fd = *fd - 1;
    output->plain = 0;
    output->begin = output->at = ((uint64_t)end + PAGE - 1) / PAGE * PAGE;
    return write_out(output);
}

static int put(void *context, const void *block, size_t bytes)
{
    struct output *output = context;

    if (DFT_ARRAY_RESERVE(output->bytes, output->capacity, output->used + bytes))
        return -ENOMEM;
    memcpy(output->bytes + output->used, block, bytes);
    output->used += bytes;
    if (output->used < WRITE_BYTES)
        return 0;
    if (output->fd >= 0)
        return write_out(output);
    return atomic_load(&output->converting->source->in_memory) + output->used > MEMORY_MAX ? spill(output) : 0;
}

static int again(void *context)
{
    struct output *output = context;

    output->used = 0;
    output->at = output->begin;
    return output->fd >= 0 && ftruncate(output->fd, (off_t)output->begin) ? -errno : 0;
}

static void progress(void *context, uint64_t bytes)
{
    struct output *output = context;
    struct converting *converting = output->converting;
    uint64_t new = bytes > output->seen ? bytes - output->seen : 0;

    output->seen += new;
    dft_source_progress(converting->source, "MiB of DFTracer traces converted",
                        (atomic_fetch_add(&converting->done, new) + new) >> 20, (converting->bytes >> 20) + 1);
}

/* --- conversion ------------------------------------------------------------------------------- */

/* Takes the index that an earlier query left. Returns 1: there was none, 0, or -errno. */
static int take_index(struct converting *converting, uint32_t number, const struct dft_index_key *key,
                      struct dft_decoder *decoder)
{
    struct dft_source_file *file = &converting->source->files[number];
    int rc = 1;

    for (int where = 0; where < 2 && rc == 1; where++) {
        char *path = dft_index_path(file->path, where);
        int fd = path ? dft_index_open(path, key, decoder, file->counts) : -1;
        struct stat st;

        if (fd < 0) {
            free(path);
            continue;
        }
        if (!fstat(fd, &st)) {
            file->blocks_path = path;
            path = NULL;
            rc = dft_scan_range(converting->source, number, fd, DFT_ORIGIN_ROOM, (uint64_t)st.st_size, decoder,
                                &converting->scanned[number]);
            if (!rc)
                dft_rows_keep(converting->source, number, fd, &converting->scanned[number]);
            if (file->skipped.damaged || file->skipped.bytes || file->skipped.holes || rc < 0) {
                /* the index has changed since it was written: make a new index */
                dft_scanned_fini(&converting->scanned[number]);
                dft_rows_forget(converting->source, number);
                memset(&file->skipped, 0, sizeof file->skipped);
                file->blocks = 0;
                free(file->blocks_path);
                file->blocks_path = NULL;
                rc = rc == -ENOMEM ? rc : 1;
            }
        }
        close(fd);
        free(path);
    }
    return rc;
}

/* Begins an index where an index may be written. */
static void begin_index(struct output *output, const char *trace, mode_t mode, char **path, struct dft_index_file *file)
{
    *path = NULL;
    for (int where = 0; where < 2 && output->fd < 0; where++) {
        free(*path);
        *path = dft_index_path(trace, where);
        output->fd = *path && !dft_index_begin(file, *path, mode) ? file->fd : -1;
    }
    if (output->fd < 0) {
        free(*path);
        *path = NULL;
        return;
    }
    output->is_index = 1;
    output->begin = output->at = DFT_ORIGIN_ROOM;
}

/* Makes the converted blocks the blocks of the file. */
static int settle(struct converting *converting, uint32_t number, struct output *output, struct dft_decoder *decoder)
{
    struct dft_source_file *file = &converting->source->files[number];
    int rc;

    if (output->fd < 0) {
        file->memory = output->bytes;
        file->memory_bytes = output->used;
        output->bytes = NULL;
        atomic_fetch_add(&converting->source->in_memory, file->memory_bytes);
        return dft_scan_bytes(converting->source, number, file->memory, file->memory_bytes, decoder,
                              &converting->scanned[number]);
    }
    rc = write_out(output);
    if (!rc && !output->is_index && asprintf(&file->blocks_path, "/proc/self/fd/%d", output->fd) < 0) {
        file->blocks_path = NULL;
        rc = -ENOMEM;
    }
    if (!rc)
        rc = dft_scan_range(converting->source, number, output->fd, output->begin, output->at, decoder,
                            &converting->scanned[number]);
    if (!rc)
        dft_rows_keep(converting->source, number, output->fd, &converting->scanned[number]);
    return rc;
}

/* The index is of the trace at the begin of the conversion. If the trace has grown since, the index
 * no longer fits. The next query then makes a new index. */
static void note_growth(struct dft_source *source, const char *path, const struct dft_index_key *key)
{
    struct dft_index_key now;
    struct stat st;

    if (stat(path, &st))
        return;
    dft_index_key_of(&now, &st, key->converter);
    if (now.identity != key->identity || now.changed_ns != key->changed_ns)
        dft_source_note(source, 0, "%s: it changed while it was read; shown is what was there then", path);
}

static int convert_into(struct converting *converting, uint32_t number, unsigned worker,
                        const struct dft_index_key *key, const struct stat *st, int with_index)
{
    struct dft_source_file *file = &converting->source->files[number];
    struct output output = {.converting = converting, .worker = worker, .fd = -1};
    struct dft_pfw_job job = {.path = file->path,
                              .identity = key->identity,
                              .period_ns = converting->source->period_ns,
                              .period_ends = converting->source->period_ends,
                              .plain = &output.plain,
                              .put = put,
                              .again = again,
                              .progress = progress,
                              .context = &output};
    struct dft_index_file index;
    char *path = NULL;
    int rc;

    if (with_index)
        begin_index(&output, file->path, st->st_mode, &path, &index);
    output.plain =
        output.fd < 0 && !converting->source->copied && atomic_load(&converting->source->in_memory) < MEMORY_MAX;
    rc = dft_pfw_convert(converting->workers[worker], &job, file->counts);
    if (!rc)
        rc = settle(converting, number, &output, converting->decoders[worker]);
    if (output.is_index && !rc) {
        rc = dft_index_end(&index, output.at, key, file->counts, dft_pfw_worker_encoder(converting->workers[worker]));
        if (!rc) {
            file->blocks_path = path;
            path = NULL;
        }
    } else if (output.is_index) {
        dft_index_abort(&index);
    }
    free(output.bytes);
    free(path);
    return rc;
}

static int convert(struct converting *converting, uint32_t number, unsigned worker)
{
    struct dft_source *source = converting->source;
    struct dft_source_file *file = &source->files[number];
    struct dft_index_key key;
    struct stat st;
    int rc = stat(file->path, &st) ? -errno : 1;

    file->counts = calloc(1, sizeof *file->counts);
    if (!file->counts)
        return -ENOMEM;
    if (rc == 1) {
        dft_index_key_of(&key, &st, dft_pfw_version(source->period_ns, source->period_ends));
        if (!source->no_index)
            rc = take_index(converting, number, &key, converting->decoders[worker]);
    }
    if (rc == 1) {
        rc = convert_into(converting, number, worker, &key, &st, !source->no_index && st.st_size);
        if (rc && rc != -ENOMEM &&
            /* no room for the index, or its directory is gone: convert without an index */
            !source->no_index) {
            dft_scanned_fini(&converting->scanned[number]);
            dft_rows_forget(source, number);
            memset(&file->skipped, 0, sizeof file->skipped);
            file->blocks = 0;
            rc = convert_into(converting, number, worker, &key, &st, 0);
        }
        note_growth(source, file->path, &key);
    }
    if (rc && rc != -ENOMEM) {
        file->error = -rc;
        dft_source_note(source, 1, "%s: %s", file->path, strerror(-rc));
        return 0;
    }
    if (!rc)
        dft_imported_note(source, file->path, file->counts);
    return rc;
}

static int convert_piece(void *context, unsigned worker, size_t from, size_t to)
{
    struct converting *converting = context;
    int rc = 0;

    if (!converting->workers[worker])
        converting->workers[worker] = dft_pfw_worker_create();
    if (!converting->decoders[worker])
        converting->decoders[worker] = dft_decoder_create();
    if (!converting->workers[worker] || !converting->decoders[worker])
        return -ENOMEM;
    for (size_t i = from; !rc && i < to; i++)
        rc = convert(converting, converting->files[i], worker);
    return rc;
}

static int by_size(const void *left, const void *right, void *context)
{
    const struct dft_source_file *files = context, *a = &files[*(const uint32_t *)left],
                                 *b = &files[*(const uint32_t *)right];

    return a->bytes != b->bytes                                 ? (a->bytes < b->bytes ? 1 : -1)
           : *(const uint32_t *)left < *(const uint32_t *)right ? -1
                                                                : 1;
}

int dft_imported_files(struct dft_source *source, struct dft_scanned *scanned)
{
    struct converting converting = {.source = source, .scanned = scanned};
    size_t count = 0;
    int rc;

    converting.files = malloc((source->nfiles + 1u) * sizeof *converting.files);
    rc = dft_comm_agree(converting.files ? 0 : -ENOMEM);
    if (rc) {
        free(converting.files);
        return rc;
    }
    for (uint32_t f = 0; f < source->nfiles; f++) {
        if (source->files[f].kind != DFT_FILE_IMPORTED || source->files[f].error || !dft_source_is_mine(source, f))
            continue;
        converting.files[count++] = f;
        converting.bytes += source->files[f].bytes;
    }
    qsort_r(converting.files, count, sizeof *converting.files, by_size, source->files);
    rc = dft_work_run(source->threads, count, 1, convert_piece, &converting);
    dft_source_progress(source, "", 1, 1);
    dft_imported_note_all(source);
    for (unsigned i = 0; i < DFT_THREADS_MAX; i++) {
        dft_pfw_worker_destroy(converting.workers[i]);
        dft_decoder_destroy(converting.decoders[i]);
    }
    free(converting.files);
    return rc;
}
