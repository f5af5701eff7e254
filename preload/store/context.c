/* SPDX-License-Identifier: MIT */
/* Owns the contexts of drains. Makes them, and hands out idle ones by a bit mask. */
#include "store/context.h"

#include <errno.h>
#include <sys/mman.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "os/memory.h"
#include "os/onstack.h"
#include "os/sys.h"
#include "format/encode.h"

#define CONTEXTS_MAX 64u
#define STACK_BYTES  (96u << 10)
#define ARGS_MAX     8192u
#define VISIT_WAITS  32u
/* So many bytes of blocks are stored before the first one is deflated: with them, the trace of a
 * short process still fits one block of most file systems. */
#define STORED_BYTES 3072u

/* mlockall counts address space, and a short process needs little. So a context is made with 1/16
 * of the capacity, in which drains write more and smaller blocks. A drain of a larger ring widens
 * the context. */
#define SMALL_SHARE       4u
#define TEXT_BYTES(share) ((DFT_RING_SLOTS_MAX * DFT_PART_BYTES) >> ((share) / 2))

static struct dft_context *contexts[CONTEXTS_MAX];
static uint64_t idle; /* atomic bits: contexts that exist and are not in use */
static uint32_t made; /* atomic */
static struct dft_spin making;
static uint32_t releases; /* atomic: releases that found sleepers; sleepers wait on this word */
static uint32_t sleepers; /* atomic */

static size_t round_up(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

/* Cuts the next piece out of a mapping. */
static void *carve(char **at, size_t bytes)
{
    void *piece = *at;

    *at += round_up(bytes);
    return piece;
}

static uint32_t rows_of(unsigned share)
{
    return share ? 80 : 4096;
}

/* Lays out the pieces of a mapping, and returns its length. Without memory (NULL) the function only
 * computes the length. */
static size_t lay_out(struct dft_context *context, char *at, unsigned share)
{
    size_t events = DFT_BLOCK_EVENTS_MAX >> share, args = ARGS_MAX >> (share ? share - 1 : 0);
    size_t encoder = dft_encoder_share_bytes(share), table = dft_table_bytes(rows_of(share));
    struct dft_ring_decoder *decoder = &context->decoder;
    char *from = at;

    carve(&at, sizeof *context);
    context->encoder = carve(&at, encoder);
    context->table = carve(&at, table);
    decoder->events = carve(&at, events * sizeof *decoder->events);
    decoder->calls = carve(&at, events * sizeof *decoder->calls);
    decoder->names = carve(&at, events * sizeof *decoder->names);
    decoder->args = carve(&at, args * sizeof *decoder->args);
    decoder->text = carve(&at, TEXT_BYTES(share));
    decoder->call_of = carve(&at, DFT_RING_DECODER_HASH * 4);
    decoder->taken = (uint64_t *)carve(&at, 4096);
    context->calls = carve(&at, (events + 1) * sizeof *context->calls);
    context->rows.names = carve(&at, DFT_ROWS_NAMES * sizeof *context->rows.names);
    context->rows.text = carve(&at, DFT_ROWS_TEXT);
    context->staging = carve(&at, DFT_STAGING_BYTES);
    context->stack_top = (char *)carve(&at, STACK_BYTES) + STACK_BYTES;
    decoder->events_max = decoder->names_max = (uint32_t)events;
    decoder->args_max = (uint32_t)args;
    decoder->text_max = TEXT_BYTES(share);
    return (size_t)(at - from);
}

/* Maps memory that is not locked, even where the program has all its later mappings locked: most
 * pages are never touched. The pages have no access rights until they are unlocked. Otherwise the
 * kernel would first fill them. */
static char *map_unlocked(size_t bytes)
{
    long at = dft_memory_map(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at < 0)
        return NULL;
    DFT_SYS(munlock, at, bytes, 0, 0, 0, 0);
    if (!DFT_SYS(mprotect, at, bytes, PROT_READ | PROT_WRITE, 0, 0, 0))
        return (char *)at;
    DFT_SYS(munmap, at, bytes, 0, 0, 0, 0);
    return NULL;
}

static struct dft_context *make_context(uint32_t number, unsigned share)
{
    struct dft_context scratch = {0}, *context;
    size_t bytes = lay_out(&scratch, NULL, share);
    char *at = map_unlocked(bytes);

    if (!at)
        return NULL;
    context = (struct dft_context *)(void *)at;
    lay_out(context, at, share);
    context->number = number;
    context->share = share;
    context->bytes = bytes;
    dft_encoder_share_init(context->encoder, share);
    dft_encoder_set_compression(context->encoder, dft_config.trace_compression ? DFT_DEFLATE : DFT_STORE);
    dft_encoder_store_first(context->encoder, STORED_BYTES);
    dft_table_init(context->table, rows_of(share), dft_config.trace_interval_ms * 1000000u,
                   DFT_KEEP_HISTOGRAMS | (dft_config.enable_aggregation ? DFT_KEEP_FILES : 0));
    context->decoder.clock = &context->clock;
    context->decoder.metric = dft_config.time_metric;
    return context;
}

int dft_context_live_rows(struct dft_context *context)
{
    const size_t rows = DFT_LIVE_ROWS_MAX * sizeof(struct dft_row), calls = DFT_LIVE_ROWS_MAX * sizeof(struct dft_call),
                 bins = DFT_LIVE_BINS_MAX * sizeof(struct dft_bin),
                 patterns = DFT_LIVE_PATTERNS_MAX * sizeof(struct dft_pattern);
    char *at;

    if (context->live_rows.rows)
        return 0;
    at = map_unlocked(round_up(rows) + round_up(calls) + round_up(bins) + round_up(patterns));
    if (!at)
        return -ENOMEM;
    context->live_rows.rows = carve(&at, rows);
    context->live_rows.calls = carve(&at, calls);
    context->live_rows.capacity = DFT_LIVE_ROWS_MAX;
    context->live_rows.bins = carve(&at, bins);
    context->live_rows.bins_capacity = DFT_LIVE_BINS_MAX;
    context->live_rows.patterns = carve(&at, patterns);
    context->live_rows.patterns_capacity = DFT_LIVE_PATTERNS_MAX;
    return 0;
}

struct dft_context *dft_context_widen(struct dft_context *context)
{
    struct dft_context *wide = context->share ? make_context(context->number, 0) : NULL;

    if (!wide)
        return context;
    dft_encoder_inherit(wide->encoder, context->encoder);
    wide->live_rows = context->live_rows;
    contexts[context->number] = wide;
    DFT_SYS(munmap, context, context->bytes, 0, 0, 0, 0);
    return wide;
}

/* The number of processors that this thread may run on, of at most 32,768. */
static uint32_t processors(void)
{
    /* Guarded by `making`. The kernel refuses a mask that is too small for all its possible
     * processors. */
    static uint64_t mask[512] DFT_BULK;
    uint32_t n = 0;
    long bytes = DFT_SYS(sched_getaffinity, 0, sizeof mask, mask, 0, 0, 0);

    for (long i = 0; i < bytes / 8; i++)
        n += (uint32_t)__builtin_popcountll(mask[i]);
    return n == 0 ? 1 : n > CONTEXTS_MAX ? CONTEXTS_MAX : n;
}

/* One thread at a time makes a context, or asks for the permitted number. A second thread returns
 * and waits for an idle context, unless no context exists yet. */
static struct dft_context *make_one_more(void)
{
    struct dft_context *context = NULL;

    if (!__atomic_load_n(&made, __ATOMIC_ACQUIRE))
        dft_spin_lock(&making);
    else if (!dft_spin_try(&making))
        return NULL;
    if ((!made || made < processors()) && (context = make_context(made, SMALL_SHARE))) {
        contexts[made] = context;
        __atomic_store_n(&made, made + 1, __ATOMIC_RELEASE);
    }
    dft_spin_unlock(&making);
    return context;
}

static struct dft_context *take_idle(void)
{
    uint64_t bits = __atomic_load_n(&idle, __ATOMIC_SEQ_CST);

    while (bits)
        if (__atomic_compare_exchange_n(&idle, &bits, bits & (bits - 1), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return contexts[__builtin_ctzll(bits)];
    return NULL;
}

/* Sleeps until a context may be idle. A release marks the context idle, and then looks for
 * sleepers. A sleeper is counted first, and then looks for an idle context. So one of the two sees
 * the other. */
static void wait_for_idle(void)
{
    uint32_t seen = __atomic_load_n(&releases, __ATOMIC_SEQ_CST);

    __atomic_add_fetch(&sleepers, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&idle, __ATOMIC_SEQ_CST))
        dft_futex_wait(&releases, seen);
    __atomic_sub_fetch(&sleepers, 1, __ATOMIC_SEQ_CST);
}

struct dft_context *dft_context_acquire(void)
{
    for (;; wait_for_idle()) {
        struct dft_context *context = take_idle();

        if (!context)
            context = make_one_more();
        if (context || !__atomic_load_n(&made, __ATOMIC_ACQUIRE))
            return context;
    }
}

void dft_context_release(struct dft_context *context)
{
    __atomic_fetch_or(&idle, UINT64_C(1) << context->number, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST)) {
        __atomic_add_fetch(&releases, 1, __ATOMIC_SEQ_CST);
        dft_futex_wake(&releases, 1);
    }
}

/* Takes a certain context, if nobody uses it. */
static struct dft_context *take(uint32_t number)
{
    uint64_t bit = UINT64_C(1) << number;

    return __atomic_fetch_and(&idle, ~bit, __ATOMIC_SEQ_CST) & bit ? contexts[number] : NULL;
}

void dft_context_visit(void (*visit)(void *context))
{
    uint32_t times = 0; /* of all waits */

    for (uint32_t i = 0; i < __atomic_load_n(&made, __ATOMIC_ACQUIRE); i++) {
        struct dft_context *context = take(i);

        for (; !context && times < VISIT_WAITS; times++) {
            dft_sys_wait(times);
            context = take(i);
        }
        if (!context)
            continue;
        dft_on_stack(context->stack_top, visit, context);
        dft_context_release(context);
    }
}

/* The rows that wait are the parent's. */
void dft_context_forked(void)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < made; i++)
        if (idle >> i & 1) {
            dft_context_drop_rows(contexts[i]);
            contexts[i]->number = kept;
            contexts[kept++] = contexts[i];
        }
    made = kept;
    idle = kept == 64 ? ~UINT64_C(0) : (UINT64_C(1) << kept) - 1;
    making.held = 0;
    sleepers = 0;
}
