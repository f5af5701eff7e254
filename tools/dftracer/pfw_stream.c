/* SPDX-License-Identifier: MIT */
/* Streams: the events of one thread, gathered into EVENTS blocks, and their aggregates into BUCKETS
 * blocks that cover the same events. */
#include "dftracer/pfw_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/hash.h"
#include "format/leb128.h"
#include "dftracer/pfw_memory.h"
#include "dftracer/pfw_names.h"

#define BUFFERED_MAX 65536u /* events in all streams of a file */
#define HOLDING_MAX  8192u  /* streams that have memory for them, and for aggregates: 10 KiB each */
#define TABLES_MAX   64u
#define ROWS_MAX     4096u /* of a table; then it is written */
#define ARGS_MAX     65536u
#define STREAM_TEXT  ((size_t)1 << 20)
#define ARGUMENT_MAX ((size_t)65535)

/* --- finding ---------------------------------------------------------------------------------- */

static struct dft_pfw_stream *make_stream(struct dft_pfw *pfw, struct dft_pfw_process *process, uint64_t thread,
                                          uint32_t kind)
{
    struct dft_pfw_stream *stream = calloc(1, sizeof *stream);

    if (!stream || dft_pfw_grow(pfw, &pfw->streams, &pfw->streams_capacity, pfw->nstreams, sizeof *pfw->streams)) {
        free(stream);
        pfw->error = -ENOMEM;
        return NULL;
    }
    stream->process = process;
    stream->thread = thread;
    stream->number = process->streams++ | kind;
    stream->first = stream->rows_first = 1;
    pfw->streams[pfw->nstreams++] = stream;
    return stream;
}

struct dft_pfw_stream *dft_pfw_stream(struct dft_pfw *pfw, struct dft_pfw_process *process, uint64_t thread,
                                      uint32_t kind)
{
    uint64_t words[3] = {process->record.key, thread, kind}, *number;
    struct dft_pfw_stream *stream;

    number = dft_map_put(&pfw->stream_of, dft_name_id(words, sizeof words));
    if (!number) {
        pfw->error = -ENOMEM;
        return NULL;
    }
    if (*number)
        return pfw->streams[*number - 1];
    stream = make_stream(pfw, process, thread, kind);
    if (stream)
        *number = pfw->nstreams;
    return stream;
}

/* --- events ----------------------------------------------------------------------------------- */

struct dft_event *dft_pfw_event_new(struct dft_pfw *pfw, struct dft_pfw_stream *stream)
{
    struct dft_event *event;

    if (dft_unlikely(stream->count == stream->capacity)) {
        pfw->holding += !stream->capacity;
        if (dft_pfw_grow(pfw, &stream->events, &stream->capacity, stream->count, sizeof *stream->events))
            return NULL;
    }
    event = &stream->events[stream->count++];
    memset(event, 0, sizeof *event);
    event->offset = -1;
    event->fd = -1;
    event->calls = event->unit = 1;
    event->result = DFT_RESULT_UNKNOWN;
    pfw->buffered++;
    return event;
}

static struct dft_arg *arg_new(struct dft_pfw *pfw, struct dft_pfw_stream *stream, uint64_t key)
{
    struct dft_arg *arg;

    if (dft_pfw_grow(pfw, &stream->args, &stream->args_capacity, stream->nargs, sizeof *stream->args))
        return NULL;
    arg = &stream->args[stream->nargs++];
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->event = stream->count - 1;
    return arg;
}

static void put_int(struct dft_pfw *pfw, struct dft_pfw_stream *stream, uint64_t key, int64_t value)
{
    struct dft_arg *arg = arg_new(pfw, stream, key);

    if (!arg)
        return;
    arg->type = DFT_ARG_INT;
    arg->i = value;
}

static void put_text(struct dft_pfw *pfw, struct dft_pfw_stream *stream, uint64_t key, struct dft_text text)
{
    struct dft_arg *arg = arg_new(pfw, stream, key);

    if (!arg)
        return;
    if (text.length > ARGUMENT_MAX) {
        text.length = ARGUMENT_MAX;
        stream->events[stream->count - 1].bits |= DFT_BIT_CUT;
        pfw->counts->arguments++;
    }
    /* Also for empty texts: they stand somewhere. */
    if (DFT_ARRAY_RESERVE(stream->text, stream->text_capacity, stream->text_used + text.length + 1)) {
        pfw->error = -ENOMEM;
        stream->nargs--;
        return;
    }
    if (text.length)
        memcpy(stream->text + stream->text_used, text.bytes, text.length);
    arg->type = DFT_ARG_STRING;
    arg->s = (struct dft_text){(const char *)(uintptr_t)stream->text_used, text.length};
    stream->text_used += text.length;
}

static int ends_with(struct dft_text text, const char *end)
{
    size_t n = strlen(end);

    return text.length >= n && !memcmp(text.bytes + text.length - n, end, n);
}

static uint64_t key_id(struct dft_pfw *pfw, struct dft_text key)
{
    struct dft_pfw_value value = {.text = key, .kind = DFT_PFW_STRING, .escaped = 1};
    char *buffer = dft_pfw_reserve(pfw, key.length + 1);
    struct dft_text text;

    if (!buffer)
        return 0;
    buffer[0] = 0; /* keys of arguments have an empty category */
    text = dft_pfw_unescape(&value, buffer + 1);
    return dft_pfw_name(pfw, buffer, text.length + 1u);
}

/* A hash of a string that the file explains becomes that string. */
void dft_pfw_arg(struct dft_pfw *pfw, struct dft_pfw_stream *stream, struct dft_text key,
                 const struct dft_pfw_value *value)
{
    uint64_t id = key_id(pfw, key);
    struct dft_text text = {"", 0};
    struct dft_arg *arg;
    int64_t number;
    double real;
    char *buffer;

    if (ends_with(key, "hash"))
        text = dft_pfw_short_text(pfw, dft_pfw_resolve(pfw, DFT_HASH_STRING, value));
    if (!text.length && value->kind == DFT_PFW_INTEGER && value->number <= INT64_MAX &&
        !dft_pfw_signed(value, &number)) {
        put_int(pfw, stream, id, number);
    } else if (!text.length && value->kind == DFT_PFW_REAL && !dft_pfw_double(value, &real)) {
        arg = arg_new(pfw, stream, id);
        if (arg) {
            arg->type = DFT_ARG_DOUBLE;
            arg->d = real;
        }
    } else {
        buffer = dft_pfw_reserve(pfw, value->text.length);
        if (buffer)
            put_text(pfw, stream, id, text.length ? text : dft_pfw_unescape(value, buffer));
    }
}

void dft_pfw_event_done(struct dft_pfw *pfw, struct dft_pfw_stream *stream)
{
    if (dft_unlikely(stream->count == DFT_BLOCK_EVENTS_MAX || stream->nargs >= ARGS_MAX ||
                     stream->text_used >= STREAM_TEXT))
        dft_pfw_stream_flush(pfw, stream);
    else if (dft_unlikely(pfw->buffered >= BUFFERED_MAX || pfw->holding >= HOLDING_MAX))
        dft_pfw_streams_flush(pfw);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Rows refer to calls by id and op: those of the whole file are few. */
static uint32_t calls_of(struct dft_pfw *pfw, const struct dft_row *rows, uint32_t count, struct dft_call *calls)
{
    struct dft_map seen = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *kind = rows[i].kind == DFT_ROW_FILE ? NULL : dft_map_find(&pfw->kind_of, rows[i].subject);
        uint64_t *place = kind ? dft_map_put(&seen, rows[i].subject ^ (uint64_t)rows[i].io << 60) : NULL,
                 op = UINT64_C(1) << (rows[i].op % 64);

        if (!place || *place & op)
            continue;
        *place |= op;
        calls[n++] = (struct dft_call){
            .id = rows[i].subject, .text = pfw->kinds[*kind - 1]->text, .op = rows[i].op, .io = rows[i].io};
    }
    dft_map_fini(&seen);
    return n;
}

void dft_pfw_rows_flush(struct dft_pfw *pfw, struct dft_pfw_stream *stream)
{
    struct dft_buckets buckets = {.key = stream->process->record.key,
                                  .stream = stream->number,
                                  .tid = (uint32_t)stream->thread,
                                  .first = stream->rows_first,
                                  .last = stream->first - 1,
                                  .start = stream->rows_start,
                                  .end = stream->rows_end,
                                  .interval_ns = stream->interval_ns};
    const void *block;
    long bytes;

    if (!stream->rows || !dft_table_count(stream->rows) || pfw->error)
        return;
    pfw->error = dft_table_rows(stream->rows, &buckets.rows, &buckets.count);
    buckets.calls = malloc((buckets.count + 1u) * sizeof *buckets.calls);
    if (!buckets.calls)
        pfw->error = -ENOMEM;
    if (!pfw->error) {
        buckets.ncalls = calls_of(pfw, buckets.rows, buckets.count, buckets.calls);
        dft_pfw_names_take(pfw, &buckets.names, &buckets.nnames);
        bytes = dft_encode_buckets(pfw->encoder, &buckets, &block);
        /* Rows that do not fit are not written: their events answer. */
        dft_pfw_put(pfw, block, bytes);
        if (bytes > 0) {
            dft_pfw_names_taken(pfw);
        } else {
            for (uint32_t i = 0; i < pfw->nnames; i++)
                pfw->names[i].text.bytes = (const char *)(pfw->names[i].text.bytes - pfw->name_text);
            if (stream->number & DFT_STREAM_COUNTED)
                pfw->counts->not_kept += buckets.count;
        }
    }
    free(buckets.calls);
    dft_table_clear(stream->rows);
    stream->rows_first = stream->first;
    stream->rows_start = stream->rows_end = 0;
}

static void add_rows(struct dft_pfw *pfw, struct dft_pfw_stream *stream, const struct dft_batch *batch)
{
    uint32_t position = 0;

    if (!stream->rows) {
        stream->interval_ns = DFT_PFW_INTERVAL_NS;
        stream->rows = dft_table_create(stream->interval_ns, DFT_KEEP_HISTOGRAMS);
        pfw->tables++;
    }
    pfw->error = stream->rows ? dft_table_add(stream->rows, batch, &position) : -ENOMEM;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];

        if (!stream->rows_end || event->start_ns < stream->rows_start)
            stream->rows_start = event->start_ns;
        if (event->start_ns + event->dur_ns > stream->rows_end)
            stream->rows_end = event->start_ns + event->dur_ns;
    }
}

/* One block, or, when it would be too large, two halves. */
static void put_events(struct dft_pfw *pfw, struct dft_batch *batch)
{
    struct dft_batch half = *batch, rest = *batch;
    const void *block;
    long bytes = dft_encode_events(pfw->encoder, batch, &block);

    if (bytes > 0) {
        dft_pfw_put(pfw, block, bytes);
        return;
    }
    if (batch->count < 2) {
        pfw->counts->not_kept++;
        return;
    }
    half.count = batch->count / 2;
    half.last = half.first + half.count - 1;
    half.nargs = 0;
    while (half.nargs < batch->nargs && batch->args[half.nargs].event < half.count)
        half.nargs++;
    rest.events += half.count;
    rest.count -= half.count;
    rest.first = half.last + 1;
    rest.args += half.nargs;
    rest.nargs -= half.nargs;
    rest.nnames = 0;
    for (uint32_t i = 0; i < rest.nargs; i++)
        rest.args[i].event -= half.count;
    put_events(pfw, &half);
    put_events(pfw, &rest);
}

void dft_pfw_stream_flush(struct dft_pfw *pfw, struct dft_pfw_stream *stream)
{
    struct dft_batch batch = {.key = stream->process->record.key,
                              .stream = stream->number,
                              .tid = (uint32_t)stream->thread,
                              .first = stream->first,
                              .last = stream->first + stream->count - 1,
                              .events = stream->events,
                              .count = stream->count,
                              .calls = pfw->calls,
                              .ncalls = pfw->ncalls,
                              .args = stream->args,
                              .nargs = stream->nargs};

    if (!stream->count)
        return;
    if (!pfw->error && !pfw->surveys) {
        for (uint32_t i = 0; i < stream->nargs; i++)
            if (stream->args[i].type == DFT_ARG_STRING)
                stream->args[i].s.bytes = stream->text + (uintptr_t)stream->args[i].s.bytes;
        add_rows(pfw, stream, &batch);
        dft_pfw_names_take(pfw, &batch.names, &batch.nnames);
        put_events(pfw, &batch);
        dft_pfw_names_taken(pfw);
    }
    stream->first += stream->count;
    pfw->buffered -= stream->count;
    if (!(stream->number & DFT_STREAM_REPEATED)) /* a reader may leave those out: END does not count them */
        stream->process->events += stream->count;
    stream->count = stream->nargs = 0;
    stream->text_used = 0;
    if (stream->rows && dft_table_count(stream->rows) > ROWS_MAX)
        dft_pfw_rows_flush(pfw, stream);
}

static void give_back(struct dft_pfw *pfw, struct dft_pfw_stream *stream)
{
    if (stream->rows) {
        dft_pfw_rows_flush(pfw, stream);
        dft_table_destroy(stream->rows);
        stream->rows = NULL;
        pfw->tables--;
    }
    pfw->holding -= stream->capacity != 0;
    free(stream->events);
    free(stream->args);
    free(stream->text);
    stream->events = NULL;
    stream->args = NULL;
    stream->text = NULL;
    stream->capacity = stream->args_capacity = 0;
    stream->text_capacity = 0;
}

/* Everything that is gathered, for good: memory goes back too when there are many streams. */
void dft_pfw_streams_flush(struct dft_pfw *pfw)
{
    int many = pfw->tables > TABLES_MAX || pfw->holding >= HOLDING_MAX;

    for (uint32_t i = 0; i < pfw->nstreams; i++) {
        struct dft_pfw_stream *stream = pfw->streams[i];

        dft_pfw_stream_flush(pfw, stream);
        if (many)
            give_back(pfw, stream);
    }
}
