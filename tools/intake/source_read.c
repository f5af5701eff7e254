/* SPDX-License-Identifier: MIT */
/* Reads blocks again: each thread has a reader with an open file, a buffer and a decoder. */
#include "mpi/comm.h"
#include "intake/source_read.h"
#include "intake/source_exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intake/class_table.h"
#include "intake/clocks.h"
#include "base/open_regular.h"
#include "base/pread_all.h"
#include "object/source_inside.h"
#include "object/source_notes.h"
#include "intake/source_range.h"
#include "base/names.h"
#include "base/work.h"
#include "format/crc32c.h"
#include "format/decode.h"

struct dft_reader {
    struct dft_source *source;
    struct dft_decoder *decoder;
    char *buffer;
    size_t capacity;
    struct dft_classed_calls calls;
    uint32_t file; /* the file of `fd` */
    int fd;
};

struct dft_reader *dft_reader_create(struct dft_source *source)
{
    struct dft_reader *reader = calloc(1, sizeof *reader);

    if (!reader)
        return NULL;
    reader->source = source;
    reader->fd = -1;
    reader->decoder = dft_decoder_create();
    if (!reader->decoder) {
        free(reader);
        return NULL;
    }
    return reader;
}

void dft_reader_destroy(struct dft_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    dft_decoder_destroy(reader->decoder);
    free(reader->buffer);
    free(reader->calls.list);
    dft_map_fini(&reader->calls.places);
    free(reader);
}

struct dft_decoder *dft_reader_decoder(struct dft_reader *reader)
{
    return reader->decoder;
}

static int reserve(struct dft_reader *reader, size_t length)
{
    char *bigger;

    if (length <= reader->capacity)
        return 0;
    bigger = realloc(reader->buffer, length);
    if (!bigger)
        return -ENOMEM;
    reader->buffer = bigger;
    reader->capacity = length;
    return 0;
}

/* Reads from the file, not from a mapping. A file that shrinks meanwhile then causes an error, and
 * no SIGBUS. */
static int read_bytes(struct dft_reader *reader, const struct dft_block *block, size_t length)
{
    if (reserve(reader, length))
        return -ENOMEM;
    if (reader->fd < 0 || reader->file != block->file) {
        if (reader->fd >= 0)
            close(reader->fd);
        const struct dft_source_file *file = &reader->source->files[block->file];

        reader->file = block->file;
        reader->fd = dft_open_regular(file->blocks_path ? file->blocks_path : file->path, O_RDONLY, NULL);
        if (reader->fd < 0)
            return reader->fd;
    }
    return dft_pread_all(reader->fd, reader->buffer, length, block->offset);
}

/* Finds the bytes of a block: in the memory that keeps them, or by reading them again. */
static int find_bytes(struct dft_reader *reader, const struct dft_block *block, const char **bytes)
{
    const struct dft_source_file *file = &reader->source->files[block->file];
    size_t length = sizeof(struct dft_block_header) + block->stored;
    int rc = 0;

    *bytes = file->memory ? file->memory + block->offset : dft_rows_find(file, block);
    if (*bytes)
        return 0;
    if (file->local && file->owner != dft_comm_rank()) {
        rc = reserve(reader, length);
        if (!rc)
            rc = dft_exchange_block(reader->source, block, reader->buffer, length);
    } else {
        rc = read_bytes(reader, block, length);
        if (rc && rc != -ENOMEM)
            dft_source_note(reader->source, 1, "%s: cannot be read again: %s", file->path,
                            rc == -ENODATA ? "it became shorter" : dft_open_reason(-rc));
    }
    *bytes = reader->buffer;
    return rc;
}

int dft_reader_block(struct dft_reader *reader, const struct dft_block *block, struct dft_block_header *header,
                     const void **payload)
{
    const struct dft_source_file *file = &reader->source->files[block->file];
    const char *bytes;
    int rc = find_bytes(reader, block, &bytes);

    if (rc)
        return rc;
    memcpy(header, bytes, sizeof *header);
    *payload = bytes + sizeof *header;
    if (header->magic != DFT_BLOCK_MAGIC || header->stored != block->stored || header->type != block->type ||
        header->payload_crc != block->payload_crc || header->count != block->count || header->raw != block->raw ||
        header->tail > header->stored || dft_crc32c(0, *payload, header->stored) != block->payload_crc) {
        dft_source_note(reader->source, 1, "%s: changed while it was read", file->path);
        return -ESTALE;
    }
    return 0;
}

static void note_undecodable(struct dft_reader *reader, const struct dft_block *block, const char *reason)
{
    dft_source_note(reader->source, 1, "%s: block at %llu: %s; left out", reader->source->files[block->file].path,
                    (unsigned long long)block->offset, reason ? reason : "cannot be decoded");
}

/* Keeps the texts of calls: they are few, and nearly every caller needs them. */
static int keep_calls(struct dft_reader *reader, const struct dft_call *calls, uint32_t count)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < count; i++)
        if (calls[i].text.bytes)
            rc = dft_names_add(reader->source->names, calls[i].id, calls[i].text.bytes, calls[i].text.length, NULL);
    return rc;
}

/* Leaves out the events that another block holds. Arguments refer to events by index. Numbers count
 * from `first`. */
static void leave_out(struct dft_batch *batch, uint64_t covered)
{
    uint32_t drop = 0, args = 0;

    while (drop < batch->count && dft_batch_number(batch, drop) <= covered)
        drop++;
    while (args < batch->nargs && batch->args[args].event < drop)
        args++;
    batch->args += args;
    batch->nargs -= args;
    for (uint32_t i = 0; i < batch->nargs; i++)
        batch->args[i].event -= drop;
    batch->events += drop;
    batch->count -= drop;
    if (batch->numbers)
        batch->numbers += drop;
    else
        batch->first += drop;
}

static void correct_times(const struct dft_clocks *clocks, uint32_t process, struct dft_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        batch->events[i].start_ns += (uint64_t)dft_clocks_shift(clocks, process, batch->events[i].start_ns);
}

/* Who asks whether a block is wanted. */
struct choosing {
    struct dft_reader *reader;
    int (*wants)(void *context, const struct dft_batch *batch);
    void *context;
    int rc;
};

/* The texts of calls are known before the query. */
static int choose(void *context, const struct dft_batch *batch)
{
    struct choosing *choosing = context;

    choosing->rc = keep_calls(choosing->reader, batch->calls, batch->ncalls);
    return !choosing->rc && (!choosing->wants || choosing->wants(choosing->context, batch));
}

int dft_reader_events_if(struct dft_reader *reader, const struct dft_block *block,
                         int (*wants)(void *context, const struct dft_batch *batch), void *context,
                         struct dft_batch *batch)
{
    struct choosing choosing = {reader, wants, context, 0};
    struct dft_block_header header;
    const void *payload;
    const char *reason = NULL;
    int rc = dft_reader_block(reader, block, &header, &payload);

    if (rc)
        return rc;
    rc = dft_decode_events_if(reader->decoder, &header, payload, choose, &choosing, batch, &reason);
    if (rc == -EBADMSG)
        note_undecodable(reader, block, reason);
    if (rc || choosing.rc)
        return rc ? rc : choosing.rc;
    if (block->state == DFT_BLOCK_OVERLAPS)
        leave_out(batch, block->covered);
    if (reader->source->clocks)
        correct_times(reader->source->clocks, block->process, batch);
    return reader->source->classes ? dft_class_table_apply(reader->source->classes, &reader->calls, batch) : 0;
}

int dft_reader_events(struct dft_reader *reader, const struct dft_block *block, struct dft_batch *batch)
{
    return dft_reader_events_if(reader, block, NULL, NULL, batch);
}

int dft_reader_buckets(struct dft_reader *reader, const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_block_header header;
    const void *payload;
    const char *reason = NULL;
    int rc = dft_reader_block(reader, block, &header, &payload);

    if (rc)
        return rc;
    rc = dft_decode_buckets(reader->decoder, &header, payload, buckets, &reason);
    if (rc == -EBADMSG)
        note_undecodable(reader, block, reason);
    return rc ? rc : keep_calls(reader, buckets->calls, buckets->ncalls);
}

/* Leaves out the samples that another block holds. */
static void leave_out_samples(struct dft_counters *counters, uint64_t covered)
{
    uint64_t drop = covered < counters->first ? 0 : covered - counters->first + 1;

    if (drop > counters->count)
        drop = counters->count;
    counters->samples += drop;
    counters->count -= (uint32_t)drop;
    counters->first += drop;
}

int dft_reader_counters(struct dft_reader *reader, const struct dft_block *block, struct dft_counters *counters)
{
    struct dft_block_header header;
    const void *payload;
    const char *reason = NULL;
    int rc = dft_reader_block(reader, block, &header, &payload);

    if (rc)
        return rc;
    rc = dft_decode_counters(reader->decoder, &header, payload, counters, &reason);
    if (rc == -EBADMSG)
        note_undecodable(reader, block, reason);
    if (rc)
        return rc;
    if (block->state == DFT_BLOCK_OVERLAPS)
        leave_out_samples(counters, block->covered);
    for (uint32_t i = 0; reader->source->clocks && i < counters->count; i++)
        counters->samples[i].time_ns +=
            (uint64_t)dft_clocks_shift(reader->source->clocks, block->process, counters->samples[i].time_ns);
    for (uint32_t i = 0; !rc && i < counters->nnames; i++)
        if (counters->names[i].text.bytes)
            rc = dft_names_add(reader->source->names, counters->names[i].id, counters->names[i].text.bytes,
                               counters->names[i].text.length, NULL);
    return rc;
}

/* --- many blocks in many threads -------------------------------------------------------------- */

struct reading {
    struct dft_source *source;
    const struct dft_block *const *blocks;
    size_t count;
    const char *progress;
    dft_blocks_fn *fn;
    void *context;
    struct dft_reader *readers[DFT_THREADS_MAX];
    _Atomic uint64_t done;
};

static int reading_piece(void *context, unsigned worker, size_t from, size_t to)
{
    struct reading *reading = context;
    int rc = 0;

    if (!reading->readers[worker])
        reading->readers[worker] = dft_reader_create(reading->source);
    if (!reading->readers[worker])
        return -ENOMEM;
    for (size_t i = from; !rc && i < to; i++)
        rc = atomic_load_explicit(&reading->source->stopped, memory_order_relaxed)
                 ? -ECANCELED
                 : reading->fn(reading->context, worker, reading->readers[worker], reading->blocks[i], i);
    if (reading->progress)
        dft_source_progress(reading->source, reading->progress, atomic_fetch_add(&reading->done, to - from) + to - from,
                            reading->count);
    return rc;
}

void dft_source_stop(struct dft_source *source, int stop)
{
    atomic_store(&source->stopped, stop);
}

int dft_read_blocks(struct dft_source *source, const struct dft_block *const *blocks, size_t count, size_t piece,
                    const char *progress, dft_blocks_fn *fn, void *context)
{
    struct reading *reading = calloc(1, sizeof *reading);
    int rc;

    if (!reading)
        return -ENOMEM;
    *reading = (struct reading){
        .source = source, .blocks = blocks, .count = count, .progress = progress, .fn = fn, .context = context};
    if (!piece) {
        piece = count / (source->threads * 16u);
        piece = piece < 1 ? 1 : piece > 64 ? 64 : piece;
    }
    rc = dft_work_run(source->threads, count, piece, reading_piece, reading);
    for (unsigned i = 0; i < DFT_THREADS_MAX; i++)
        dft_reader_destroy(reading->readers[i]);
    free(reading);
    return rc;
}
