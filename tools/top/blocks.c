/* SPDX-License-Identifier: MIT */
/* What one block of a trace adds to the watch. */
#include "top/blocks.h"
#include "top/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "base/array.h"
#include "base/pread_all.h"
#include "base/write_text.h"
#include "format/decode.h"
#include "top/lives.h"

/* Sets *process to NULL where the block is a copy of one that was read. */
static int process_of(struct dft_top_watch *watch, const struct dft_block_header *header,
                      struct dft_top_process **process)
{
    uint64_t id = dft_map_join(header->key, (uint64_t)header->type << 32 | header->stream), *place;

    id = dft_map_join(dft_map_join(id, header->first), header->last ^ (uint64_t)header->part << 40);
    id = dft_map_join(id, header->payload_crc);
    place = dft_map_put(&watch->seen, id);
    *process = place && !*place ? dft_top_process_of(watch, header->key) : NULL;
    if (!place || (!*place && !*process))
        return -ENOMEM;
    *place = 1;
    return 0;
}

/* Arguments with spaces between. */
static char *command_of(struct dft_text command, struct dft_text exe)
{
    struct dft_text text = command.length ? command : exe;
    char *line = text.length ? strndup(text.bytes, text.length) : NULL, *escaped;

    if (!line)
        return NULL;
    line = realloc(line, text.length + 1);
    if (!line)
        return NULL;
    memcpy(line, text.bytes, text.length);
    line[text.length] = 0;
    for (uint32_t i = 0; i + 1 < text.length; i++)
        if (!line[i])
            line[i] = ' ';
    escaped = dft_text_escaped(line, strlen(line));
    free(line);
    return escaped;
}

static int read_process(struct dft_top_watch *watch, struct dft_top_process *process,
                        const struct dft_block_header *header, const void *payload)
{
    struct dft_process found;
    const char *why;
    int rc = dft_decode_process(watch->decoder, header, payload, &found, &why);

    if (rc)
        return rc;
    if (process->order > found.order)
        return 0;
    process->order = found.order;
    process->pid = found.pid;
    process->ppid = found.ppid;
    process->rank = found.rank;
    process->start_ns = found.start_ns;
    free(process->command);
    free(process->host);
    process->command = command_of(found.command, found.exe);
    process->host = dft_text_escaped(found.host.bytes, found.host.length);
    return process->host ? dft_top_live_named(watch, found.live_path) : -ENOMEM;
}

static int read_end(struct dft_top_watch *watch, struct dft_top_process *process, const struct dft_block_header *header,
                    const void *payload)
{
    struct dft_end end;
    const char *why;
    int rc = dft_decode_end(watch->decoder, header, payload, &end, &why);

    if (rc || end.exit_kind == DFT_ENDING_WAITED)
        return rc;
    process->exit_kind = end.exit_kind;
    process->dropped = 0;
    for (unsigned i = 0; i <= DFT_DROP_LAST; i++)
        process->dropped += end.dropped[i];
    return 0;
}

void dft_top_waiting_fini(struct dft_top_waiting *waiting)
{
    dft_top_cells_fini(&waiting->calls);
}

/* The rows of these events are here. */
static void end_waiting(struct dft_top_stream *stream, const struct dft_block_header *header)
{
    for (size_t i = 0; i < stream->nwaiting;) {
        struct dft_top_waiting *waiting = &stream->waiting[i];

        if (waiting->part != header->part || waiting->first < header->first || waiting->last > header->last) {
            i++;
            continue;
        }
        dft_top_waiting_fini(waiting);
        *waiting = stream->waiting[--stream->nwaiting];
    }
}

static int read_rows(struct dft_top_watch *watch, struct dft_top_process *process,
                     const struct dft_block_header *header, const void *payload)
{
    struct dft_top_stream *stream = dft_top_stream_of(process, header->stream);
    struct dft_buckets buckets;
    const char *why;
    int rc = stream ? dft_decode_buckets(watch->decoder, header, payload, &buckets, &why) : -ENOMEM;

    if (rc)
        return rc;
    process->blocks++;
    end_waiting(stream, header);
    if (!header->part)
        dft_top_cover(&stream->rows, header->first, header->last);
    for (uint32_t i = 0; !rc && i < buckets.count; i++)
        if (buckets.rows[i].kind != DFT_ROW_HISTOGRAM)
            rc = dft_top_cells_add(buckets.rows[i].kind == DFT_ROW_FILE ? &process->files : &process->calls,
                                   &buckets.rows[i]);
    return rc ? rc : dft_top_names(watch, buckets.names, buckets.nnames, buckets.calls, buckets.ncalls);
}

/* Adds the events of a block to the cells of its calls, or of its files. */
static int add_events(struct dft_top_watch *watch, const struct dft_batch *batch, struct dft_top_cells *cells,
                      enum dft_row_kind kind)
{
    struct dft_table *table = kind == DFT_ROW_FILE ? watch->files : watch->calls;
    uint32_t at = 0;
    int rc;

    dft_table_clear(table);
    rc = dft_table_add(table, batch, &at);
    return rc ? rc : dft_top_cells_add_table(cells, table, kind);
}

/* Blocks of events are only noted: their rows come soon, and rows tell all but the files. */
static int note_events(struct dft_top_watch *watch, struct dft_top_process *process, uint32_t trace, uint64_t offset,
                       const struct dft_block_header *header)
{
    struct dft_top_stream *stream = dft_top_stream_of(process, header->stream);
    struct dft_top_trace *in = &watch->traces[trace];
    uint64_t end = offset + sizeof *header + header->stored;

    if (!stream)
        return -ENOMEM;
    if (header->first > header->last) /* what was in flight when a process ended */
        return 0;
    process->blocks++;
    if (!header->part && dft_top_covers(&stream->rows, header->first) && dft_top_covers(&stream->rows, header->last))
        dft_top_cover(&stream->events, header->first, header->last);
    else if (DFT_ARRAY_PUSH(stream->waiting, stream->waiting_capacity, stream->nwaiting,
                            (struct dft_top_waiting){
                                offset, end, header->first, header->last, trace, header->part, 0, {{0}, NULL, 0, 0}}))
        return -ENOMEM;
    else if (!header->part)
        dft_top_cover(&stream->events, header->first, header->last);
    return DFT_ARRAY_PUSH(in->left, in->left_capacity, in->nleft, (struct dft_top_hole){offset, end, 0});
}

/* Reads a block of events again that was whole. Returns -EBADMSG where it is no more. */
static int load_events(struct dft_top_watch *watch, const struct dft_top_trace *trace, uint64_t from, uint64_t to,
                       struct dft_batch *batch)
{
    size_t length = (size_t)(to - from);
    struct dft_block_header header;
    const char *why;
    int rc;

    if (DFT_ARRAY_RESERVE(watch->window, watch->window_bytes, length))
        return -ENOMEM;
    if (dft_pread_all(trace->fd, watch->window, length, from))
        return -EBADMSG;
    memcpy(&header, watch->window, sizeof header);
    if (header.magic != DFT_BLOCK_MAGIC || header.type != DFT_BLOCK_EVENTS || sizeof header + header.stored != length)
        return -EBADMSG;
    rc = dft_decode_events(watch->decoder, &header, watch->window + sizeof header, batch, &why);
    return rc ? rc : dft_top_names(watch, batch->names, batch->nnames, batch->calls, batch->ncalls);
}

static int note_bad(struct dft_top_watch *watch, const struct dft_top_trace *trace, uint64_t offset, int rc)
{
    if (rc != -EBADMSG)
        return rc;
    dft_top_watch_note(watch, 1, "%s: block at %llu cannot be read: `dftmerge check` says more", trace->path,
                       (unsigned long long)offset);
    return 0;
}

static int read_waiting(struct dft_top_watch *watch, struct dft_top_waiting *waiting)
{
    const struct dft_top_trace *trace = &watch->traces[waiting->trace];
    struct dft_batch batch;
    int rc = load_events(watch, trace, waiting->from, waiting->to, &batch);

    waiting->is_read = 1;
    if (!rc)
        rc = add_events(watch, &batch, &waiting->calls, DFT_ROW_CALL);
    return note_bad(watch, trace, waiting->from, rc);
}

int dft_top_waiting_read(struct dft_top_watch *watch)
{
    int rc = 0;

    for (uint32_t i = 0; i < watch->nprocesses; i++)
        for (uint32_t k = 0; k < watch->processes[i].nstreams; k++) {
            struct dft_top_stream *stream = &watch->processes[i].streams[k];

            for (size_t n = 0; !rc && n < stream->nwaiting; n++)
                if (!stream->waiting[n].is_read)
                    rc = read_waiting(watch, &stream->waiting[n]);
        }
    return rc;
}

static int read_names(struct dft_top_watch *watch, const struct dft_block_header *header, const void *payload)
{
    const struct dft_name *names;
    uint32_t count;
    const char *why;
    int rc = dft_decode_names(watch->decoder, header, payload, &names, &count, &why);

    return rc ? rc : dft_top_names(watch, names, count, NULL, 0);
}

int dft_top_block_read(struct dft_top_watch *watch, struct dft_top_trace *trace, uint64_t offset,
                       const struct dft_block_header *header, const void *payload)
{
    struct dft_top_process *process;
    int rc = process_of(watch, header, &process);

    if (rc || !process)
        return rc;
    switch (header->type) {
    case DFT_BLOCK_PROCESS:
        rc = read_process(watch, process, header, payload);
        break;
    case DFT_BLOCK_END:
        rc = read_end(watch, process, header, payload);
        break;
    case DFT_BLOCK_BUCKETS:
        rc = read_rows(watch, process, header, payload);
        break;
    case DFT_BLOCK_EVENTS:
        rc = note_events(watch, process, (uint32_t)(trace - watch->traces), offset, header);
        break;
    case DFT_BLOCK_NAMES:
        rc = read_names(watch, header, payload);
        break;
    }
    return note_bad(watch, trace, offset, rc);
}

int dft_top_left_read(struct dft_top_watch *watch, struct dft_top_trace *trace)
{
    struct dft_top_process *process;
    struct dft_batch batch;
    int rc = 0;

    for (size_t i = 0; !rc && i < trace->nleft; i++) {
        rc = load_events(watch, trace, trace->left[i].from, trace->left[i].to, &batch);
        process = rc ? NULL : dft_top_process_of(watch, batch.key);
        if (process)
            rc = add_events(watch, &batch, &process->files, DFT_ROW_FILE);
        rc = note_bad(watch, trace, trace->left[i].from, rc);
    }
    trace->nleft = 0;
    return rc;
}
