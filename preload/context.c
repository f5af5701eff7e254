/* Owns the contexts of drains: makes them, and hands them out by a bit mask of those that are idle. */
#include "context.h"

#include "clock.h"
#include "config.h"
#include "sys.h"

#define CONTEXTS_MAX 64u
#define STACK_BYTES  (96u << 10)
#define TABLE_ROWS   4096u
#define ARGS_MAX     8192u
#define TEXT_BYTES   (DFT_RING_SLOTS_MAX * DFT_PART_BYTES)

static struct dft_context *contexts[CONTEXTS_MAX];
static uint64_t idle; /* atomic bits: made, and not in use */
static uint32_t made; /* atomic */
static struct dft_spin making;

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

static struct dft_context *make_context(uint32_t number)
{
    size_t events = DFT_BLOCK_EVENTS_MAX * sizeof(struct dft_event),
           calls = DFT_BLOCK_EVENTS_MAX * sizeof(struct dft_call);
    size_t names = DFT_BLOCK_EVENTS_MAX * sizeof(struct dft_name), args = ARGS_MAX * sizeof(struct dft_arg);
    size_t streaks = DFT_BLOCK_EVENTS_MAX / 2 * sizeof(struct dft_streak),
           when = DFT_BLOCK_EVENTS_MAX * sizeof(struct dft_when);
    size_t encoder = dft_encoder_bytes(), table = dft_table_bytes(TABLE_ROWS);
    size_t total = round_up(sizeof(struct dft_context)) + round_up(encoder) + round_up(table) + round_up(events) +
                   round_up(calls) + round_up(names) + round_up(args) + round_up(streaks) + round_up(when) +
                   round_up(TEXT_BYTES) + round_up(DFT_TAKE_HASH * 4) + DFT_STAGING_BYTES + STACK_BYTES + 4096;
    char *at = dft_sys_map(total);
    struct dft_context *context;

    if (!at)
        return NULL;
    context = carve(&at, sizeof *context);
    context->number = number;
    context->encoder = dft_encoder_init(carve(&at, encoder));
    dft_encoder_set(context->encoder, dft_config.trace_compression ? DFT_DEFLATE : DFT_STORE, 0);
    context->table = dft_table_init(carve(&at, table), TABLE_ROWS, dft_config.trace_interval_ms * 1000000u,
                                    DFT_KEEP_HISTOGRAMS | (dft_config.enable_aggregation ? DFT_KEEP_FILES : 0));
    context->take = (struct dft_take){.events_max = DFT_BLOCK_EVENTS_MAX,
                                      .names_max = DFT_BLOCK_EVENTS_MAX,
                                      .args_max = ARGS_MAX,
                                      .text_max = TEXT_BYTES,
                                      .clock = &context->clock,
                                      .metric = dft_config.time_metric};
    context->take.events = carve(&at, events);
    context->take.calls = carve(&at, calls);
    context->take.names = carve(&at, names);
    context->take.args = carve(&at, args);
    context->take.streaks = carve(&at, streaks);
    context->take.when = carve(&at, when);
    context->take.text = carve(&at, TEXT_BYTES);
    context->take.call_of = carve(&at, DFT_TAKE_HASH * 4);
    context->take.taken = (uint64_t *)carve(&at, 4096);
    context->staging = carve(&at, DFT_STAGING_BYTES);
    context->stack_top = (char *)carve(&at, STACK_BYTES) + STACK_BYTES;
    return context;
}

/* As many as this thread may run on; of 32,768 at most. */
static uint32_t processors(void)
{
    static uint64_t mask[512]; /* `making` is held; the kernel refuses one that is too small for all it could have */
    uint32_t n = 0;
    long bytes = DFT_SYS(sched_getaffinity, 0, sizeof mask, mask, 0, 0, 0);

    for (long i = 0; i < bytes / 8; i++)
        n += (uint32_t)__builtin_popcountll(mask[i]);
    return n == 0 ? 1 : n > CONTEXTS_MAX ? CONTEXTS_MAX : n;
}

static struct dft_context *make_one_more(void)
{
    struct dft_context *context = NULL;

    dft_spin_lock(&making);
    if (made < processors() && (context = make_context(made)))
        contexts[made++] = context;
    dft_spin_unlock(&making);
    return context;
}

/* An idle context, a new one, or after a wait the next that becomes idle. NULL: no memory for even one. */
struct dft_context *dft_context_acquire(void)
{
    for (uint32_t times = 0;; times++) {
        uint64_t bits = __atomic_load_n(&idle, __ATOMIC_ACQUIRE);
        struct dft_context *context;

        if (bits) {
            uint64_t bit = bits & -bits;

            if (__atomic_compare_exchange_n(&idle, &bits, bits & ~bit, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                return contexts[__builtin_ctzll(bit)];
            continue;
        }
        context = make_one_more();
        if (context || !__atomic_load_n(&made, __ATOMIC_ACQUIRE))
            return context;
        dft_sys_wait(times);
    }
}

void dft_context_release(struct dft_context *context)
{
    __atomic_fetch_or(&idle, UINT64_C(1) << context->number, __ATOMIC_RELEASE);
}

void dft_context_forked(void)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < made; i++)
        if (idle >> i & 1) {
            contexts[i]->number = kept;
            contexts[kept++] = contexts[i];
        }
    made = kept;
    idle = kept == 64 ? ~UINT64_C(0) : (UINT64_C(1) << kept) - 1;
    making.held = 0;
}
