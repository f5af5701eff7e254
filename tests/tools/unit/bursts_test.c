/* SPDX-License-Identifier: MIT */
/* Bursts that were open in the copy of a live file: which of them stand in a block by now. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/calls.h"
#include "format/encode.h"
#include "format/hash.h"
#include "format/live_read.h"
#include "object/source_inside.h"
#include "live/bursts.h"
#include "suites.h"

#define KEY    77u
#define TID    5u
#define STREAM 3u
#define FIRST  100u
#define START  UINT64_C(1700000000000000000)
#define STEP   50000u

/* A trace in memory with one block: bursts of putc, a STEP apart, of 10, 11 and 12 calls. */
struct trace {
    struct dft_source source;
    struct dft_source_file file;
    struct dft_scanned scanned;
    struct dft_block block;
    uint64_t key;
    char *memory;
    struct dft_event events[3];
    struct dft_call call;
};

static void write_trace(struct trace *trace)
{
    struct dft_encoder *encoder = dft_encoder_init(calloc(1, dft_encoder_bytes()));
    struct dft_batch batch = {.key = KEY, .stream = STREAM, .tid = TID, .first = FIRST, .last = FIRST + 2};
    struct dft_block_header header;
    const void *bytes;
    long length;

    for (uint32_t i = 0; i < 3; i++)
        trace->events[i] = (struct dft_event){.start_ns = START + i * STEP,
                                              .dur_ns = 100,
                                              .file = 9,
                                              .size = 10 + i,
                                              .result = 10 + i,
                                              .offset = -1,
                                              .calls = 10 + i,
                                              .unit = 1,
                                              .fd = 4};
    trace->call = (struct dft_call){.id = dft_name_id("putc", 4), .text = {"putc", 4}, .op = DFT_OP_FPUTS};
    batch.events = trace->events;
    batch.count = 3;
    batch.calls = &trace->call;
    batch.ncalls = 1;
    length = dft_encode_events(encoder, &batch, &bytes);
    CU_ASSERT_FATAL(length > 0);
    trace->memory = malloc((size_t)length);
    memcpy(trace->memory, bytes, (size_t)length);
    memcpy(&header, bytes, sizeof header);
    trace->block = (struct dft_block){.first = FIRST,
                                      .last = FIRST + 2,
                                      .start = header.start,
                                      .end = header.end,
                                      .stream = STREAM,
                                      .tid = TID,
                                      .count = header.count,
                                      .stored = header.stored,
                                      .raw = header.raw,
                                      .payload_crc = header.payload_crc,
                                      .type = header.type};
    free(encoder);
}

static void begin(struct trace *trace)
{
    memset(trace, 0, sizeof *trace);
    write_trace(trace);
    trace->key = KEY;
    trace->file.kind = DFT_FILE_TRACE;
    trace->file.memory = trace->memory;
    trace->source.files = &trace->file;
    trace->source.nfiles = 1;
    trace->scanned.blocks = &trace->block;
    trace->scanned.keys = &trace->key;
    trace->scanned.count = 1;
}

static int is_recorded(struct trace *trace, uint64_t key, uint64_t head, uint32_t stream, uint32_t tid,
                       const struct dft_call *call, const struct dft_event *burst)
{
    struct dft_live_bursts bursts = {.source = &trace->source, .scanned = &trace->scanned};
    struct dft_ring ring = {.stream = stream, .tid = tid, .head = head};
    int is = dft_live_burst_is_recorded(&bursts, key, &ring, call, burst);

    dft_live_bursts_fini(&bursts);
    return is;
}

static void test_recorded(void)
{
    const struct dft_call other = {.id = dft_name_id("getc", 4)};
    struct trace trace;

    begin(&trace);
    for (uint32_t i = 0; i < 3; i++) {
        struct dft_event burst = trace.events[i];

        burst.calls -= 3; /* as many as it had when it was copied */
        burst.start_ns += 700 * i;
        CU_ASSERT(is_recorded(&trace, KEY, FIRST, STREAM, TID, &trace.call, &burst));
        CU_ASSERT(is_recorded(&trace, KEY, FIRST + i, STREAM, TID, &trace.call, &burst));
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST + 3, STREAM, TID, &trace.call, &burst)); /* shorter ones before it */
        CU_ASSERT(
            is_recorded(&trace, KEY, FIRST + 50, STREAM + 1, TID, &trace.call, &burst)); /* numbers of another ring */
        CU_ASSERT(!is_recorded(&trace, KEY + 1, FIRST, STREAM, TID, &trace.call, &burst));
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST, STREAM, TID + 1, &trace.call, &burst));
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST, STREAM, TID, &other, &burst));
        burst = trace.events[i]; /* its record was being put when the head was copied */
        CU_ASSERT(is_recorded(&trace, KEY, FIRST + i + 1, STREAM, TID, &trace.call, &burst));
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST + i + 5, STREAM, TID, &trace.call, &burst)); /* not the last one */
        burst.start_ns += 10 * STEP;
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST + 3, STREAM, TID, &trace.call, &burst));
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST + 50, STREAM + 1, TID, &trace.call, &burst));
        burst = trace.events[i];
        burst.calls += 3; /* it goes on longer than any record */
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST, STREAM, TID, &trace.call, &burst));
        burst = trace.events[i];
        burst.file++;
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST, STREAM, TID, &trace.call, &burst));
        burst = trace.events[i];
        burst.fd++;
        CU_ASSERT(!is_recorded(&trace, KEY, FIRST, STREAM, TID, &trace.call, &burst));
    }
    free(trace.memory);
}

/* --- in a copy -------------------------------------------------------------------------------- */

#define SLOTS 64u
#define HEAD  5u

struct seen {
    uint32_t events, calls;
    int recorded; /* what the reader says of bursts */
};

static int count(void *context, const struct dft_batch *batch)
{
    struct seen *seen = context;

    for (uint32_t i = 0; i < batch->count; i++) {
        seen->events++;
        seen->calls += batch->events[i].calls;
    }
    return 0;
}

static int says_recorded(void *context, const struct dft_ring *ring, const struct dft_call *call,
                         const struct dft_event *burst)
{
    struct seen *seen = context;

    CU_ASSERT_EQUAL(atomic_load(&((struct dft_ring *)(uintptr_t)ring)->head), HEAD);
    CU_ASSERT_EQUAL(call->id, dft_name_id("STDIO\0putc", 10));
    CU_ASSERT_EQUAL(burst->calls, 10);
    return seen->recorded;
}

/* A burst was open when the head of its ring was copied. Its record stands behind the head: it was put there
 * before the slots were copied. The record is not read, so the burst is. */
static void test_open(void)
{
    const size_t length = DFT_LIVE_PAGE + dft_ring_bytes(SLOTS);
    char *file = aligned_alloc(DFT_LIVE_PAGE, length);
    struct dft_live *live = (struct dft_live *)(void *)file;
    struct dft_ring *ring = (struct dft_ring *)(void *)(file + DFT_LIVE_PAGE);
    struct dft_slot *slot;
    struct seen seen = {0};
    struct dft_live_reader reader = {
        .bytes = file, .length = length, .emit = count, .recorded = says_recorded, .context = &seen};

    memset(file, 0, length);
    live->key = KEY;
    live->clock.mult = UINT64_C(1) << 32;
    *ring = (struct dft_ring){.magic = DFT_RING_MAGIC,
                              .stream = STREAM,
                              .tid = TID,
                              .capacity = SLOTS,
                              .shift = 6,
                              .base = HEAD,
                              .head = HEAD,
                              .tail = HEAD};
    ring->bursts[0] = (struct dft_burst){
        .call = DFT_CALL_putc, .moved = dft_burst_pack(10, 10), .file = 9, .start = 1000, .duration = 50, .offset = -1};
    slot = dft_ring_slot(ring, HEAD);
    *slot = (struct dft_slot){.marker = dft_ring_marker(ring, HEAD, DFT_SLOT_VALID),
                              .start = 1000,
                              .duration = 50,
                              .call = DFT_CALL_putc,
                              .slots = 1,
                              .file = 9,
                              .offset = -1};
    CU_ASSERT_EQUAL(dft_live_batches(live, ring, &reader), 0);
    CU_ASSERT_EQUAL(seen.events, 1);
    CU_ASSERT_EQUAL(seen.calls, 10);
    seen = (struct seen){.recorded = 1};
    CU_ASSERT_EQUAL(dft_live_batches(live, ring, &reader), 0);
    CU_ASSERT_EQUAL(seen.events, 0);
    /* The head was copied behind the record, whose number the burst does not have yet: the record is read. */
    atomic_store(&ring->head, HEAD + 1);
    seen = (struct seen){.recorded = 0};
    CU_ASSERT_EQUAL(dft_live_batches(live, ring, &reader), 0);
    CU_ASSERT_EQUAL(seen.events, 1);
    free(file);
}

int suite_bursts(void)
{
    CU_pSuite suite = CU_add_suite("bursts of live files", NULL, NULL);

    return !suite || !CU_add_test(suite, "recorded by now", test_recorded) ||
           !CU_add_test(suite, "open in a copy", test_open);
}
