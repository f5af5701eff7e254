/* SPDX-License-Identifier: MIT */
/* Metadata records: dictionaries, ranks, units of time, and what the user said.
 *
 * DFTracer's have no time. What is kept as an event gets that of the last event before it; what
 * comes before all events waits for the first one. */
#include "dftracer/pfw_metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw_calls.h"
#include "dftracer/pfw_event.h"
#include "dftracer/pfw_fields.h"
#include "dftracer/pfw_memory.h"
#include "dftracer/pfw_names.h"
#include "dftracer/pfw_place.h"
#include "dftracer/pfw_stream.h"
#include "dftracer/pfw_time.h"
#include "dftracer/pfw_unit.h"

#define WAITING_BYTES ((size_t)4 << 20)

/* --- what belongs to a process ---------------------------------------------------------------- */

static int64_t rank_of(struct dft_text text)
{
    struct dft_pfw_value value = {.text = text, .kind = DFT_PFW_STRING};
    int64_t rank;

    if (text.length > 5 && !memcmp(text.bytes, "Rank ", 5)) {
        value.text.bytes += 5;
        value.text.length -= 5;
    }
    return dft_pfw_signed(&value, &rank) || rank < 0 || rank > INT32_MAX ? -1 : rank;
}

/* Returns whether the record said no more than that. */
static int take_rank(struct dft_pfw *pfw, struct dft_text name)
{
    const struct dft_pfw_record *record = pfw->record;
    const struct dft_pfw_value *key = DFT_PFW_GET(record, ARG_NAME), *value = DFT_PFW_GET(record, ARG_VALUE);
    struct dft_pfw_stream *stream;
    int64_t rank = -1;

    if (dft_text_is(name, "process_name") && DFT_PFW_HAS(record, ARG_NAME))
        rank = rank_of(key->text);
    else if (dft_text_is(name, "PR") && DFT_PFW_HAS(record, ARG_NAME) && DFT_PFW_HAS(record, ARG_VALUE) &&
             dft_text_is(key->text, "rank"))
        rank = rank_of(value->text);
    if (rank < 0)
        return 0;
    stream = dft_pfw_stream_of_record(pfw, 0);
    if (stream)
        stream->process->record.rank = (int32_t)rank;
    return 1;
}

/* The name that is just the thread's number says nothing. */
static int is_plain_thread_name(const struct dft_pfw_record *record, struct dft_text name)
{
    uint64_t a, b;
    int negative;

    return dft_text_is(name, "thread_name") && DFT_PFW_HAS(record, ARG_NAME) && DFT_PFW_HAS(record, TID) &&
           !dft_pfw_unsigned(DFT_PFW_GET(record, ARG_NAME), &a, &negative) &&
           !dft_pfw_unsigned(DFT_PFW_GET(record, TID), &b, &negative) && a == b;
}

/* --- as events -------------------------------------------------------------------------------- */

static void wait_for_time(struct dft_pfw *pfw, struct dft_text line)
{
    struct dft_pfw_waiting *waiting;

    if (pfw->waiting_bytes + line.length > WAITING_BYTES) {
        pfw->counts->arguments++;
        return;
    }
    if (dft_pfw_grow(pfw, &pfw->waiting, &pfw->waiting_capacity, pfw->nwaiting, sizeof *pfw->waiting))
        return;
    waiting = &pfw->waiting[pfw->nwaiting];
    waiting->text = calloc(1, line.length + DFT_PFW_PADDING);
    if (!waiting->text) {
        pfw->error = -ENOMEM;
        return;
    }
    memcpy(waiting->text, line.bytes, line.length);
    waiting->length = line.length;
    pfw->waiting_bytes += line.length;
    pfw->nwaiting++;
}

/* The category of what is said: its name is the key. Values are an argument "value", as in our own
 * traces. */
static void as_event(struct dft_pfw *pfw, uint8_t op)
{
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_value whole = *DFT_PFW_GET(record, NAME);
    struct dft_pfw_stream *stream = dft_pfw_stream_of_record(pfw, pfw->repeated ? DFT_STREAM_REPEATED : 0);
    struct dft_pfw_call *call;
    struct dft_event *event;

    /* CM and PR tell of a key and its value; the others are recognized by their own name. */
    if (DFT_PFW_HAS(record, ARG_NAME) && DFT_PFW_HAS(record, ARG_VALUE) && DFT_PFW_GET(record, ARG_NAME)->text.length &&
        (dft_text_is(whole.text, "CM") || dft_text_is(whole.text, "PR"))) {
        *DFT_PFW_GET(record, NAME) = *DFT_PFW_GET(record, ARG_NAME);
        record->changed |= DFT_PFW_BIT(NAME);
        record->have &= ~DFT_PFW_BIT(ARG_NAME);
    }
    call = stream ? dft_pfw_call(pfw, record) : NULL;
    *DFT_PFW_GET(record, NAME) = whole; /* the scanner goes by it */
    record->changed |= DFT_PFW_BIT(NAME);
    if (!call || pfw->surveys || pfw->error)
        return;
    dft_pfw_calls_bound(pfw);
    event = dft_pfw_event_new(pfw, stream);
    if (!event)
        return;
    if (!DFT_PFW_HAS(record, TS) || dft_pfw_when(pfw, DFT_PFW_GET(record, TS), &event->start_ns))
        event->start_ns = pfw->now_ns;
    event->phase = DFT_PHASE_METADATA;
    event->result = 0;
    event->call = dft_pfw_call_position(pfw, call, op, 0);
    dft_pfw_arguments(pfw, stream, record);
    dft_pfw_event_done(pfw, stream);
}

void dft_pfw_metadata_waiting(struct dft_pfw *pfw)
{
    for (uint32_t i = 0; i < pfw->nwaiting; i++) {
        struct dft_pfw_waiting *waiting = &pfw->waiting[i];

        if (dft_pfw_scan(waiting->text, waiting->text + waiting->length, pfw->record))
            as_event(pfw, DFT_OP_METADATA);
        free(waiting->text);
    }
    pfw->nwaiting = 0;
    pfw->waiting_bytes = 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static enum dft_pfw_hash dictionary(struct dft_text name)
{
    if (name.length != 2 || name.bytes[1] != 'H')
        return 0;
    return name.bytes[0] == 'F'   ? DFT_HASH_FILE
           : name.bytes[0] == 'H' ? DFT_HASH_HOST
           : name.bytes[0] == 'S' ? DFT_HASH_STRING
                                  : (enum dft_pfw_hash)0;
}

int dft_pfw_metadata(struct dft_pfw *pfw, struct dft_text line)
{
    struct dft_pfw_record *record = pfw->record;
    struct dft_text name;
    enum dft_pfw_hash kind;

    if (!DFT_PFW_HAS(record, NAME) || DFT_PFW_GET(record, NAME)->kind != DFT_PFW_STRING)
        return -1;
    name = DFT_PFW_GET(record, NAME)->text;
    pfw->counts->metadata++;
    dft_pfw_see(pfw, line);
    kind = dictionary(name);
    if (kind && DFT_PFW_HAS(record, ARG_NAME) && DFT_PFW_HAS(record, ARG_VALUE)) {
        dft_pfw_define(pfw, kind, DFT_PFW_GET(record, ARG_VALUE), DFT_PFW_GET(record, ARG_NAME));
        if (kind == DFT_HASH_HOST) {
            pfw->last_host = 0;
            pfw->last_have = 0;
        }
        return 0;
    }
    if (dft_text_is(name, "time_metric")) {
        if (DFT_PFW_HAS(record, ARG_NAME)) /* the unit stands in one of them, the other says what it is */
            dft_pfw_unit(pfw, DFT_PFW_GET(record, ARG_NAME));
        if (DFT_PFW_HAS(record, ARG_VALUE))
            dft_pfw_unit(pfw, DFT_PFW_GET(record, ARG_VALUE));
        return 0;
    }
    if (DFT_PFW_HAS(record, ARG_NAME) && DFT_PFW_HAS(record, ARG_VALUE) &&
        dft_text_is(DFT_PFW_GET(record, ARG_NAME)->text, "time_metric"))
        dft_pfw_unit(pfw, DFT_PFW_GET(record, ARG_VALUE));
    if (take_rank(pfw, name) || is_plain_thread_name(record, name) || pfw->surveys)
        return 0;
    pfw->timed |= DFT_PFW_HAS(record, TS);
    if (pfw->timed)
        as_event(pfw, DFT_OP_METADATA);
    else
        wait_for_time(pfw, line);
    return 0;
}
