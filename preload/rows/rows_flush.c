/* SPDX-License-Identifier: MIT */
/* Writes the rows of tables to the trace, and gives threads their tables. */
#include "rows/rows_inside.h"

#include <linux/membarrier.h>
#include <string.h>

#include "format/encode.h"
#include "os/clock.h"
#include "settings/config.h"
#include "os/onstack.h"
#include "os/sys.h"
#include "store/context.h"
#include "store/livefile.h"
#include "store/staging.h"
#include "rows/own_time.h"
#include "store/drain_events.h"

#define TABLES_MAX   112u /* of a process: with their rings they take 7 MiB */
#define WAIT_BUSY_NS 10000000u

static uint32_t tables; /* atomic */

/* --- writing ---------------------------------------------------------------------------------- */

struct job {
    struct dft_context *context;
    const struct dft_live_table *live;
    uint32_t what;   /* one kind of rows */
    int is_too_long; /* out: the context is too small */
};

static uint64_t load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)number, memory_order_acquire);
}

/* Runs on the context's stack. */
static void write_rows(void *argument)
{
    struct job *job = argument;
    struct dft_live_rows *rows = &job->context->live_rows;
    const struct dft_live_table *live = job->live;
    const int calls = job->what == DFT_LIVE_CALLS_WRITTEN;
    struct dft_buckets buckets = {.key = dft_key,
                                  .stream = calls ? live->call_stream : live->file_stream,
                                  .tid = live->tid,
                                  .first = load(calls ? &live->calls_first : &live->files_first),
                                  .last = load(&live->events) - 1,
                                  .interval_ns = live->width_ns};
    const void *block;
    long length;

    job->context->failed = 0;
    job->context->keeps = dft_late && live->offset && dft_livefile_path[0];
    if (calls ? dft_live_table_calls(live, rows) : dft_live_table_files(live, rows)) {
        atomic_fetch_add(&dft_live->dropped[DFT_DROP_TORN], calls ? buckets.last + 1 - buckets.first : 0);
        return;
    }
    buckets.rows = rows->rows;
    buckets.count = rows->count;
    buckets.calls = rows->calls;
    buckets.ncalls = rows->ncalls;
    dft_buckets_find_times(&buckets);
    length = dft_encode_buckets(job->context->encoder, &buckets, &block);
    job->is_too_long = length == -E2BIG && job->context->share;
    if (job->is_too_long) { /* a wider context comes, without the rows that wait here */
        dft_drain_rows(job->context);
        dft_staging_flush(job->context);
        return;
    }
    dft_staging_put(job->context, block, length, calls ? (uint32_t)(buckets.last + 1 - buckets.first) : 0);
    dft_staging_flush(job->context);
}

/* Returns 0, or -errno with the rows still there. */
static int write_some(const struct dft_live_table *live, uint32_t what)
{
    struct job job = {.context = dft_context_acquire(), .live = live, .what = what};
    int is_kept;

    if (!job.context)
        return -ENOMEM;
    if (dft_context_live_rows(job.context)) {
        dft_context_release(job.context);
        return -ENOMEM;
    }
    dft_on_stack(job.context->stack_top, write_rows, &job);
    if (job.is_too_long) {
        job.context = dft_context_widen(job.context);
        dft_on_stack(job.context->stack_top, write_rows, &job);
    }
    is_kept = job.context->failed && job.context->keeps;
    dft_context_release(job.context);
    if (is_kept)
        __atomic_store_n(&dft_drain_kept, 1, __ATOMIC_RELAXED);
    return is_kept ? -EIO : 0;
}

static int is_busy(const struct dft_live_table *live)
{
    return load(&live->ticket) != load(&live->events);
}

/* Its owner begins no step from now on. Returns 0, or 1 when a step goes on, or may: without the
 * barrier the owner may not have seen that it is to keep away. */
static int freeze(struct dft_live_table *live)
{
    uint64_t until_ns = dft_clock_monotonic_ns() + WAIT_BUSY_NS;

    atomic_store(&live->frozen, 1);
    if (DFT_SYS(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) < 0 && !dft_is_single())
        return 1;
    for (uint32_t times = 0; is_busy(live) && dft_clock_monotonic_ns() < until_ns; times++)
        dft_sys_wait(times);
    return is_busy(live);
}

int dft_rows_flush_some(struct dft_thread *thread, unsigned what)
{
    struct dft_rows *rows = thread->rows;
    struct dft_live_table *live = rows->live;
    uint64_t begin = dft_ticks(), own_ns = dft_own_time_begin(), events;
    int is_other = thread != dft_self;

    if (is_other ? freeze(live) : is_busy(live)) {
        atomic_store(&live->frozen, 0);
        return 1;
    }
    events = load(&live->events);
    if (what & DFT_LIVE_CALLS_WRITTEN && events > load(&live->calls_first) && write_some(live, DFT_LIVE_CALLS_WRITTEN))
        what &= ~(unsigned)DFT_LIVE_CALLS_WRITTEN;
    if (what & DFT_LIVE_FILES_WRITTEN && events > load(&live->files_first) && write_some(live, DFT_LIVE_FILES_WRITTEN))
        what &= ~(unsigned)DFT_LIVE_FILES_WRITTEN;
    dft_rows_empty(rows, what);
    atomic_store(&live->frozen, 0);
    dft_own_time_end(own_ns);
    atomic_fetch_add(&dft_live->overhead_ns,
                     (uint64_t)(((__uint128_t)(dft_ticks() - begin) * dft_live->clock.mult) >> 32));
    return 0;
}

int dft_rows_is_busy(const struct dft_thread *thread)
{
    return thread->rows && is_busy(thread->rows->live);
}

uint64_t dft_rows_waiting(const struct dft_thread *thread)
{
    const struct dft_rows *rows = thread->rows;

    return rows ? load(&rows->live->events) - load(&rows->live->calls_first) : 0;
}

int dft_rows_flush(struct dft_thread *thread)
{
    int busy = 0;

    if (!thread->rows)
        return 0;
    busy = dft_rows_flush_some(thread, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN);
    if (!busy && thread == dft_self && thread->rows->livefile != dft_livefile_number && !dft_late)
        dft_rows_begin(thread); /* nobody finds a table of an earlier live file */
    return busy;
}

/* --- tables of threads ------------------------------------------------------------------------ */

static struct dft_live_table *make_table(uint32_t tid)
{
    struct dft_live_table *live;

    if (__atomic_fetch_add(&tables, 1, __ATOMIC_RELAXED) >= TABLES_MAX || !(live = dft_livefile_table())) {
        __atomic_fetch_sub(&tables, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    live->bytes = DFT_LIVE_TABLE_BYTES;
    live->tid = tid;
    live->width_ns = dft_config.trace_interval_ms * 1000000u;
    atomic_store(&live->low, DFT_LIVE_ARENA);
    atomic_store(&live->high, DFT_LIVE_TABLE_BYTES / 8);
    __atomic_store_n(&live->magic, DFT_LIVE_TABLE_MAGIC, __ATOMIC_RELEASE);
    return live;
}

void dft_rows_begin(struct dft_thread *self)
{
    struct dft_live_table *live = make_table(self->home->tid);
    struct dft_rows *rows = self->rows;

    if (rows) { /* other threads look at it meanwhile; without another table it goes on with this one */
        if (live) {
            __atomic_store_n(&rows->live, live, __ATOMIC_RELEASE);
            rows->nhistograms = 0;
            rows->window = 0;
            memset(rows->cursors, 0, sizeof rows->cursors);
            memset(rows->files, 0, sizeof rows->files);
            dft_rows_index_again(rows);
        }
        rows->livefile = dft_livefile_number;
        return;
    }
    if (live)
        rows = dft_sys_map(sizeof *rows);
    if (!live || !rows) {
        self->mode = DFT_MODE_EVENTS;
        return;
    }
    rows->live = live;
    rows->livefile = dft_livefile_number;
    __atomic_store_n(&self->rows, rows, __ATOMIC_RELEASE);
}

void dft_rows_assign(struct dft_thread *self, uint32_t tid)
{
    if (self->rows)
        self->rows->live->tid = tid;
}

void dft_rows_forked(struct dft_thread *self)
{
    tables = 0;
    if (!self || !self->rows)
        return;
    self->mode = DFT_MODE_EVENTS; /* code that a handler has interrupted, and forked, may go on with it */
    dft_livefile_table_detach(self->rows->live);
}
