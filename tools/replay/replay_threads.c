/* SPDX-License-Identifier: MIT */
/* Threads that take calls from their queues, wait for what these need, and make them. */
#include "replay/replay_threads.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/ops.h"
#include "replay/replay_perform.h"
#include "replay/replay_wait.h"

#define STACK_BYTES (UINT64_C(192) << 10)
#define NAP_NS      UINT64_C(100000000) /* how long a stop may go unseen */
#define AHEAD       8192u               /* calls that are queued before the time begins */
#define TOGETHER    32u                 /* calls after which room is reported */

static _Atomic int is_stopped;

void dft_replay_stop(void)
{
    atomic_store(&is_stopped, 1);
}

int dft_replay_is_stopped(void)
{
    return atomic_load_explicit(&is_stopped, memory_order_relaxed);
}

uint64_t dft_replay_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* --- one thread ------------------------------------------------------------------------------- */

/* Takes all calls that are queued, or waits for some. NULL: there will be none. */
static struct dft_replay_call_at *take(struct dft_replay_thread *thread)
{
    struct dft_replay_threads *all = thread->all;
    struct dft_replay_call_at *calls;

    pthread_mutex_lock(&thread->lock);
    while (!thread->first && thread->left)
        pthread_cond_wait(&thread->filled, &thread->lock);
    calls = thread->first;
    thread->first = NULL;
    for (const struct dft_replay_call_at *call = calls; call; call = call->next)
        thread->left--;
    pthread_mutex_unlock(&thread->lock);
    pthread_mutex_lock(&all->lock);
    while (calls && !all->has_begun)
        pthread_cond_wait(&all->begun, &all->lock);
    pthread_mutex_unlock(&all->lock);
    return calls;
}

/* So many calls are done: there is room for others. */
static void make_room(struct dft_replay_threads *all, uint64_t calls)
{
    pthread_mutex_lock(&all->lock);
    if (all->queued >= DFT_REPLAY_QUEUED_MAX)
        pthread_cond_signal(&all->drained);
    all->queued -= calls;
    pthread_mutex_unlock(&all->lock);
}

static void sleep_until(uint64_t due_ns)
{
    for (uint64_t now = dft_replay_now(); now < due_ns && !dft_replay_is_stopped(); now = dft_replay_now()) {
        uint64_t to = due_ns - now < NAP_NS ? due_ns : now + NAP_NS;
        struct timespec until = {(time_t)(to / UINT64_C(1000000000)), (long)(to % UINT64_C(1000000000))};

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
}

static void wait_for_time(struct dft_replay_thread *thread, const struct dft_replay_call_at *call)
{
    uint64_t due = thread->all->begin_ns + call->after_ns, now;

    sleep_until(due);
    now = dft_replay_now();
    if (now > due && now - due > thread->outcome->late_ns)
        thread->outcome->late_ns = now - due;
}

static void finish(struct dft_replay_call_at *call)
{
    struct dft_replay_handle *handle = call->handle, *made = call->made;

    if (made)
        dft_replay_raise(&made->ready);
    if (handle && call->lazy)
        dft_replay_raise(&handle->ready);
    if (handle)
        dft_replay_raise(&handle->done);
    if (call->changes)
        dft_replay_raise(&call->file->done[DFT_ORDER_CHANGES]);
    if (dft_op_class(call->op) == DFT_CLASS_WRITE)
        dft_replay_raise(&call->file->done[DFT_ORDER_WRITES]);
    dft_replay_raise(&call->file->done[DFT_ORDER_USES]);
    dft_replay_raise(&call->process->done);
    if (call->file2) {
        dft_replay_raise(&call->file2->done[DFT_ORDER_CHANGES]);
        dft_replay_raise(&call->file2->done[DFT_ORDER_USES]);
    }
    if (call->path && call->file->parent)
        dft_replay_raise(&call->file->parent->done[DFT_ORDER_USES]);
    dft_replay_handle_put(handle);
    dft_replay_handle_put(made);
    free(call);
}

static void leave(struct dft_replay_thread *thread)
{
    struct dft_replay_threads *all = thread->all;
    struct dft_replay_outcome *sum = &all->outcome, *own = thread->outcome;

    pthread_mutex_lock(&all->lock);
    dft_tallies_merge(&sum->tallies, &own->tallies);
    for (unsigned i = 0; i < DFT_REPLAY_CALLS; i++) {
        sum->done[i] += own->done[i];
        sum->differs[i] += own->differs[i];
        sum->skipped[i] += own->skipped[i];
    }
    sum->refused += own->refused;
    sum->pieces += own->pieces;
    sum->no_descriptors += own->no_descriptors;
    sum->late_ns = own->late_ns > sum->late_ns ? own->late_ns : sum->late_ns;
    sum->threads++;
    all->end_ns = dft_replay_now();
    free(own);
    thread->outcome = NULL;
    all->live--;
    pthread_cond_broadcast(&all->ended);
    pthread_mutex_unlock(&all->lock);
}

static void make_call(struct dft_replay_thread *thread, struct dft_replay_call_at *call)
{
    if (thread->all->paced)
        wait_for_time(thread, call);
    for (uint32_t i = 0; i < call->nneeds; i++)
        dft_replay_await(call->needs[i].counter, call->needs[i].value);
    if (!dft_replay_is_stopped())
        dft_replay_perform(thread, call);
    finish(call);
}

static void *work(void *context)
{
    struct dft_replay_thread *thread = context;
    struct dft_replay_call_at *calls, *next;

    while ((calls = take(thread))) {
        uint64_t done = 0;

        for (; calls; calls = next) {
            next = calls->next;
            make_call(thread, calls);
            if (++done == TOGETHER || !next) {
                make_room(thread->all, done);
                done = 0;
            }
        }
    }
    leave(thread);
    return NULL;
}

/* --- all threads ------------------------------------------------------------------------------ */

void dft_replay_threads_init(struct dft_replay_threads *threads, const struct dft_replay_root *root, int paced)
{
    memset(threads, 0, sizeof *threads);
    threads->root = root;
    threads->paced = paced;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->drained, NULL);
    pthread_cond_init(&threads->ended, NULL);
    pthread_cond_init(&threads->begun, NULL);
}

static void forget(struct dft_replay_thread *thread)
{
    if (!thread)
        return;
    pthread_mutex_destroy(&thread->lock);
    pthread_cond_destroy(&thread->filled);
    free(thread->outcome);
    free(thread);
}

void dft_replay_threads_fini(struct dft_replay_threads *threads)
{
    for (size_t i = 0; i < threads->by_key.capacity; i++)
        forget((struct dft_replay_thread *)(uintptr_t)threads->by_key.slots[i].value);
    dft_map_fini(&threads->by_key);
    free(threads->refused_path);
    pthread_mutex_destroy(&threads->lock);
    pthread_cond_destroy(&threads->drained);
    pthread_cond_destroy(&threads->ended);
    pthread_cond_destroy(&threads->begun);
}

static int start(struct dft_replay_thread *thread)
{
    pthread_attr_t attributes;
    pthread_t id;
    int rc = pthread_attr_init(&attributes);

    if (rc)
        return rc;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    rc = pthread_create(&id, &attributes, work, thread);
    pthread_attr_destroy(&attributes);
    return rc;
}

static struct dft_replay_thread *make(struct dft_replay_threads *threads, uint64_t calls)
{
    struct dft_replay_thread *thread = calloc(1, sizeof *thread);

    if (!thread)
        return NULL;
    thread->outcome = calloc(1, sizeof *thread->outcome);
    if (!thread->outcome) {
        free(thread);
        return NULL;
    }
    thread->all = threads;
    thread->left = calls;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->filled, NULL);
    return thread;
}

struct dft_replay_thread *dft_replay_thread_of(struct dft_replay_threads *threads, uint64_t key, uint64_t calls)
{
    uint64_t *slot = dft_map_put(&threads->by_key, key);
    struct dft_replay_thread *thread;

    if (slot && *slot)
        return (struct dft_replay_thread *)(uintptr_t)*slot;
    thread = slot ? make(threads, calls) : NULL;
    if (!thread) {
        errno = ENOMEM;
        return NULL;
    }
    pthread_mutex_lock(&threads->lock);
    threads->live++;
    threads->most_live = threads->live > threads->most_live ? threads->live : threads->most_live;
    pthread_mutex_unlock(&threads->lock);
    errno = start(thread);
    if (errno) {
        pthread_mutex_lock(&threads->lock);
        threads->live--;
        pthread_mutex_unlock(&threads->lock);
        forget(thread);
        return NULL;
    }
    *slot = (uintptr_t)thread;
    return thread;
}

void dft_replay_threads_begin(struct dft_replay_threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    if (!threads->has_begun)
        threads->begin_ns = dft_replay_now();
    threads->has_begun = 1;
    pthread_cond_broadcast(&threads->begun);
    pthread_mutex_unlock(&threads->lock);
}

void dft_replay_give(struct dft_replay_call_at *call)
{
    struct dft_replay_thread *thread = call->thread;
    struct dft_replay_threads *all = thread->all;
    int is_ahead;

    pthread_mutex_lock(&all->lock);
    while (all->queued >= DFT_REPLAY_QUEUED_MAX)
        pthread_cond_wait(&all->drained, &all->lock);
    is_ahead = ++all->queued >= AHEAD && !all->has_begun;
    pthread_mutex_unlock(&all->lock);
    pthread_mutex_lock(&thread->lock);
    call->next = NULL;
    if (thread->first)
        thread->last->next = call;
    else
        thread->first = call;
    thread->last = call;
    pthread_cond_signal(&thread->filled);
    pthread_mutex_unlock(&thread->lock);
    if (is_ahead)
        dft_replay_threads_begin(all);
}

/* A thread may have got fewer calls than planned: after an error, or when the trace could not be read again. */
static void give_no_more(struct dft_replay_threads *threads)
{
    for (size_t i = 0; i < threads->by_key.capacity; i++) {
        struct dft_replay_thread *thread = (struct dft_replay_thread *)(uintptr_t)threads->by_key.slots[i].value;

        if (!thread)
            continue;
        pthread_mutex_lock(&thread->lock);
        thread->left = 0;
        for (const struct dft_replay_call_at *call = thread->first; call; call = call->next)
            thread->left++;
        pthread_cond_signal(&thread->filled);
        pthread_mutex_unlock(&thread->lock);
    }
}

void dft_replay_threads_end(struct dft_replay_threads *threads)
{
    dft_replay_threads_begin(threads);
    give_no_more(threads);
    pthread_mutex_lock(&threads->lock);
    while (threads->live)
        pthread_cond_wait(&threads->ended, &threads->lock);
    pthread_mutex_unlock(&threads->lock);
}
