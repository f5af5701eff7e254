/* SPDX-License-Identifier: MIT */
/* Live files: the encoder turns them into blocks in memory. All later stages thus see only one kind
 * of input.
 *
 * Traces are scanned first. They tell which records of a ring a block has already. */
#include "live/live.h"

#include "base/array.h"
#include "base/open_regular.h"
#include "object/source_inside.h"
#include "live/bursts.h"
#include "live/ranges.h"
#include "live/told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/decode.h"
#include "format/encode.h"
#include "format/live_counters.h"
#include "format/live_read.h"
#include "format/ops.h"
#include "live/source_life.h"
#include "live/file.h"
#include "object/source_notes.h"
#include "live/source_snapshot.h"
#include "live/source_tables.h"

/* --- into blocks ------------------------------------------------------------------------------ */

struct converting {
    struct dft_live_ranges ranges; /* must be first: dft_live_reader has one context for both callbacks */
    struct dft_live_bursts bursts;
    struct dft_source *source;
    uint32_t file;
    struct dft_encoder *encoder;
    struct dft_decoder *decoder;
    size_t capacity;
};

static int keep_block(struct converting *converting, const void *block, long n)
{
    struct dft_source_file *file = &converting->source->files[converting->file];

    if (DFT_ARRAY_RESERVE(file->memory, converting->capacity, file->memory_bytes + (size_t)n))
        return -ENOMEM;
    memcpy(file->memory + file->memory_bytes, block, (size_t)n);
    file->memory_bytes += (size_t)n;
    return 0;
}

/* Describes a vfork child whose parent did not live to describe the child. What the child's own
 * trace says goes before this. The ring has everything that the child did. */
static int describe_child(struct converting *converting, const struct dft_batch *batch)
{
    static const uint8_t endings[] = {[DFT_LIFE_RUNNING] = DFT_ENDING_RUNNING,
                                      [DFT_LIFE_OVER] = DFT_ENDING_KILLED,
                                      [DFT_LIFE_UNKNOWN] = DFT_ENDING_UNKNOWN};
    const struct dft_source_file *file = &converting->source->files[converting->file];
    const struct dft_process child = {.key = batch->key,
                                      .parent_key = file->key,
                                      .pid = batch->tid,
                                      .ppid = file->pid,
                                      .rank = -1,
                                      .local_rank = -1,
                                      .start_ns = batch->events[0].start_ns};
    const struct dft_event *last = &batch->events[batch->count - 1];
    uint8_t op = batch->calls[last->call].op;
    /* without a number of events, so that an END in the trace goes before this END */
    const struct dft_end end = {.key = batch->key,
                                .exit_kind = (uint8_t)(op == DFT_OP_EXIT   ? DFT_ENDING__EXIT
                                                       : op == DFT_OP_EXEC ? DFT_ENDING_EXEC
                                                                           : endings[file->life]),
                                .status = op == DFT_OP_EXIT ? (int32_t)(last->result & 0xff) : 0};
    const void *block;
    long n = dft_encode_process(converting->encoder, &child, &block);
    int rc = n < 0 ? 0 : keep_block(converting, block, n);

    if (rc)
        return rc;
    n = dft_encode_end(converting->encoder, &end, &block);
    return n < 0 ? 0 : keep_block(converting, block, n);
}

static int emit_batch(void *context, const struct dft_batch *batch)
{
    struct converting *converting = context;
    struct dft_source_file *file = &converting->source->files[converting->file];
    int rc = batch->count && batch->key != file->key ? describe_child(converting, batch) : 0;
    const void *block;
    long n = dft_encode_events(converting->encoder, batch, &block);

    if (rc)
        return rc;
    if (n < 0) {
        dft_source_note(converting->source, 1, "%s: %u records cannot be kept: %s", file->path, batch->count,
                        strerror((int)-n));
        return 0;
    }
    return keep_block(converting, block, n);
}

static int is_recorded(void *context, const struct dft_ring *ring, const struct dft_call *call,
                       const struct dft_event *burst)
{
    struct converting *converting = context;
    const struct dft_source_file *file = &converting->source->files[converting->file];

    return file->life == DFT_LIFE_RUNNING &&
           dft_live_burst_is_recorded(&converting->bursts, file->key, ring, call, burst);
}

static int keep_header(struct dft_source_file *file, const struct dft_live *live)
{
    file->end = calloc(1, sizeof *file->end);
    if (!file->end)
        return -ENOMEM;
    file->key = live->key;
    file->live_state = (uint16_t)atomic_load(&((struct dft_live *)(uintptr_t)live)->state);
    file->pid = live->pid;
    file->start_ns = live->start_ns;
    file->end->key = live->key;
    file->end->events = atomic_load(&((struct dft_live *)(uintptr_t)live)->events);
    file->end->exit_kind = (uint8_t)atomic_load(&((struct dft_live *)(uintptr_t)live)->exit_kind);
    file->end->status = (int32_t)atomic_load(&((struct dft_live *)(uintptr_t)live)->status);
    file->end->overhead_ns = atomic_load(&((struct dft_live *)(uintptr_t)live)->overhead_ns);
    for (int i = 0; i <= DFT_DROP_LAST; i++)
        file->end->dropped[i] = atomic_load(&((struct dft_live *)(uintptr_t)live)->dropped[i]);
    return 0;
}

static int convert_rings(struct converting *converting, const void *bytes, size_t length, const struct dft_live *live)
{
    struct dft_source_file *file = &converting->source->files[converting->file];
    struct dft_live_reader reader = {.bytes = bytes,
                                     .length = length,
                                     .emit = emit_batch,
                                     .covered = dft_live_covered,
                                     .recorded = is_recorded,
                                     .context = converting};
    const struct dft_ring *ring;
    size_t offset = 0;
    int rc = 0;

    while (!rc && (ring = dft_live_ring(bytes, length, &offset))) {
        for (int i = 0; i <= DFT_DROP_LAST; i++)
            file->end->dropped[i] += atomic_load(&((struct dft_ring *)(uintptr_t)ring)->dropped[i]);
        for (int i = 0; i <= DFT_MISUSE_LAST; i++)
            file->end->misuse[i] += atomic_load(&((struct dft_ring *)(uintptr_t)ring)->misuse[i]);
        reader.torn = 0;
        rc = dft_live_batches(live, ring, &reader);
        file->torn += reader.torn;
    }
    return rc;
}

/* Keeps the samples that wait in the head of the file. Blocks of the trace may hold some of them. */
static int convert_counters(struct converting *converting, const struct dft_live *live)
{
    const struct dft_live_counters *waiting = dft_live_counters((struct dft_live *)(uintptr_t)live);
    struct dft_live_samples *room;
    struct dft_counters counters;
    const void *block;
    long n;
    int rc = 0;

    if (waiting->id != dft_live_counters_id() ||
        !atomic_load(&((struct dft_live_counters *)(uintptr_t)waiting)->nmoments))
        return 0;
    room = malloc(sizeof *room);
    if (!room)
        return -ENOMEM;
    counters = dft_live_counters_get(waiting, room);
    counters.key = live->key;
    counters.tid = live->pid;
    n = counters.count ? dft_encode_counters(converting->encoder, &counters, &block) : 0;
    if (n > 0)
        rc = keep_block(converting, block, n);
    free(room);
    return rc;
}

/* Rows that nothing else has, or only a part of. */
static int emit_rows(void *context, const struct dft_buckets *buckets)
{
    struct converting *converting = context;
    struct dft_source_file *file = &converting->source->files[converting->file];
    const void *block;
    long n = dft_encode_buckets(converting->encoder, buckets, &block);

    if (n < 0) {
        dft_source_note(converting->source, 1, "%s: %u rows cannot be kept: %s", file->path, buckets->count,
                        strerror((int)-n));
        return 0;
    }
    if (buckets->rows[0].kind == DFT_ROW_CALL &&
        !dft_live_covered(&converting->ranges, buckets->key, buckets->stream, buckets->last))
        file->in_rows += buckets->last - buckets->first + 1;
    return keep_block(converting, block, n);
}

static int convert_tables(struct converting *converting, const void *bytes, size_t length, uint64_t key)
{
    struct dft_source_file *file = &converting->source->files[converting->file];
    uint64_t bad = 0;
    int rc = dft_live_tables(bytes, length, key, emit_rows, converting, &bad);

    if (!rc && bad)
        dft_source_note(converting->source, 1, "%s: the aggregates of %llu threads in it make no sense", file->path,
                        (unsigned long long)bad);
    return rc;
}

/* Was the file created, and nothing more? Its room is then zeros. The magic number is written last,
 * and rings follow only after that. */
static int is_unused(const void *bytes, size_t length)
{
    uint64_t magic = 0;
    size_t offset = 0;

    memcpy(&magic, bytes, length < sizeof magic ? length : sizeof magic);
    return !magic && !dft_live_ring(bytes, length, &offset);
}

static int convert_bytes(struct converting *converting, struct dft_scanned *scanned, const void *bytes)
{
    struct dft_source_file *file = &converting->source->files[converting->file];
    const struct dft_live *live;
    int rc;

    if (is_unused(bytes, file->bytes)) {
        file->key = 0;
        dft_source_note(converting->source, 0, "%s: its process ended before its first event", file->path);
        return 0;
    }
    if (dft_live_check(bytes, file->bytes, &live, &file->reason)) {
        file->key = 0;
        dft_source_note(converting->source, 1, "%s: %s", file->path, file->reason);
        return 0;
    }
    rc = keep_header(file, live);
    if (!rc)
        rc = dft_live_told(converting->source, file, bytes);
    if (rc)
        return rc;
    converting->capacity = 0;
    rc = convert_rings(converting, bytes, file->bytes, live);
    if (!rc)
        rc = convert_tables(converting, bytes, file->bytes, live->key);
    if (!rc)
        rc = convert_counters(converting, live);
    if (!rc && file->memory_bytes)
        rc = dft_scan_bytes(converting->source, converting->file, file->memory, file->memory_bytes, converting->decoder,
                            scanned);
    return rc;
}

/* Looks again at a file that was not ready when live files were looked at. Its process had just
 * created it. */
static void look_late(struct dft_source_file *file, const struct dft_live *live, int fd)
{
    struct dft_mapped mapped = {0};

    if (file->bytes < DFT_LIVE_PAGE || live->magic != DFT_LIVE_MAGIC || file->life != DFT_LIFE_UNKNOWN)
        return;
    file->life = (uint8_t)dft_life_of_live(&mapped, live, fd);
    file->seen_ns = file->life == DFT_LIFE_RUNNING ? dft_life_now_ns(live) : 0;
    free(mapped.list);
}

/* Reads the live file of a process that is over, and converts it. */
static int convert_read(struct converting *converting, struct dft_scanned *scanned, int fd, uint64_t cut)
{
    struct dft_source_file *file = &converting->source->files[converting->file];
    uint64_t unread;
    char *bytes = dft_live_bytes(fd, file->bytes, &unread);
    int rc = -ENOMEM;

    if (bytes) {
        look_late(file, (const struct dft_live *)(void *)bytes, fd);
        rc = convert_bytes(converting, scanned, bytes);
    }
    if (!rc && file->key && cut + unread)
        dft_source_note(converting->source, 1, "%s: %llu bytes of it are missing or cannot be read; the rest used",
                        file->path, (unsigned long long)(cut + unread));
    free(bytes);
    return rc;
}

static int convert_file(struct converting *converting, struct dft_scanned *scanned)
{
    struct dft_source_file *file = &converting->source->files[converting->file];
    struct stat st;
    uint64_t cut;
    size_t length = 0;
    int fd, error;

    if (file->snapshot)
        return convert_bytes(converting, scanned, file->snapshot);
    fd = dft_open_regular(file->path, O_RDONLY, &st);
    error = fd < 0 ? fd : dft_live_length(fd, &st, &length, &cut);
    if (!error && length) {
        file->bytes = length;
        error = convert_read(converting, scanned, fd, cut);
        close(fd);
        return error;
    }
    file->gone = fd == -ENOENT;
    file->key = file->gone ? file->key : 0; /* dft_scan_gone looks at it */
    if (error && !file->gone && !file->error)
        dft_source_note(converting->source, 1, "%s: %s", file->path,
                        error == -EFBIG ? "larger than any live file; not read" : dft_open_reason(-error));
    if (fd >= 0)
        close(fd);
    return 0;
}

static int convert_all(struct converting *converting, struct dft_scanned *scanned)
{
    struct dft_source *source = converting->source;
    int rc = 0;

    for (uint32_t f = 0; !rc && f < source->nfiles; f++) {
        if (source->files[f].kind != DFT_FILE_LIVE)
            continue;
        converting->file = f;
        source->files[f].changed = 1;
        source->files[f].owner = 0; /* the user is on rank 0, which sees whether processes run */
        if (!source->files[f].gone)
            rc = convert_file(converting, &scanned[f]);
    }
    return rc;
}

int dft_live_files(struct dft_source *source, struct dft_scanned **scanned)
{
    struct converting converting = {.source = source, .bursts.source = source};
    size_t capacity = dft_encoder_bytes();
    void *memory = MAP_FAILED;
    int rc = dft_live_snapshots(source, scanned), any = 0;

    for (uint32_t f = 0; f < source->nfiles; f++)
        any |= source->files[f].kind == DFT_FILE_LIVE;
    if (rc || !any)
        return rc;
    memory = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    converting.decoder = dft_decoder_create();
    rc = memory == MAP_FAILED || !converting.decoder ? -ENOMEM
                                                     : dft_live_ranges_collect(source, *scanned, &converting.ranges);
    if (!rc) {
        converting.encoder = dft_encoder_init(memory);
        converting.bursts.scanned = *scanned;
        rc = convert_all(&converting, *scanned);
    }
    if (!rc)
        rc = dft_scan_gone(source, *scanned);
    dft_live_bursts_fini(&converting.bursts);
    free(converting.ranges.list);
    dft_decoder_destroy(converting.decoder);
    if (memory != MAP_FAILED)
        munmap(memory, capacity);
    return rc;
}
