/* SPDX-License-Identifier: MIT */
/* Owns the per-thread states. Makes them, hands the states of ended threads to new threads, and
 * notices vfork and fork. */
#include "ring/threads.h"

#include "ring/control.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "os/bulk.h"
#include "os/clock.h"
#include "settings/config.h"
#include "loader/own_calls.h"
#include "os/own_files.h"
#include "ring/drain.h"
#include "os/shared_tls.h"
#include "store/kept.h"
#include "store/livefile.h"
#include "store/process_start.h"
#include "ring/bursts.h"
#include "rows/mode.h"
#include "ring/rings.h"
#include "rows/rows.h"

static struct dft_thread_orders orders;
static pthread_key_t end_key;
static int have_key;
#define FIRST_KEYS 32u            /* glibc has memory for the values of these in each thread */
static uint32_t inherited_pauses; /* of the thread that forked */

/* States that wait for a thread. Guarded by dft_process_lock. */
static struct {
    struct dft_thread *whole, *hollow;
    uint32_t nwhole;
    int hollowing; /* a thread is hollowing states out */
} idle;

#define IDLE_WHOLE 16u /* states that wait unchanged: a program of few threads pays nothing */
#define IDLE_MANY  64u /* above this number, or with large rings, only IDLE_WHOLE keep memory */

static void push(struct dft_thread **list, struct dft_thread *thread)
{
    thread->next_idle = *list;
    *list = thread;
}

static struct dft_thread *pop(struct dft_thread **list)
{
    struct dft_thread *thread = *list;

    if (thread)
        *list = thread->next_idle;
    return thread;
}

/* Gives back memory that the next thread finds as zeros: free slots, and the caches behind the
 * first page. */
static void hollow_out(struct dft_thread *thread)
{
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        dft_livefile_ring_idle(thread->rings[i]);
    dft_spin_unlock(&thread->lock);
    DFT_SYS(madvise, (char *)thread + DFT_LIVE_PAGE, sizeof *thread - DFT_LIVE_PAGE, MADV_DONTNEED, 0, 0, 0);
    thread->hollow = 1;
}

/* One thread hollows out the states of all threads that end meanwhile. The rings lie in one file,
 * and the kernel would make the other threads wait for the file. */
static void hollow_out_many(void)
{
    struct dft_thread *thread = NULL;

    do {
        if (thread)
            hollow_out(thread);
        dft_spin_lock(&dft_process_lock);
        if (thread)
            push(&idle.hollow, thread);
        thread = idle.nwhole > IDLE_WHOLE && !dft_late ? pop(&idle.whole) : NULL;
        idle.nwhole -= thread != NULL;
        idle.hollowing = thread != NULL;
        dft_spin_unlock(&dft_process_lock);
    } while (thread);
}

static void put_away(struct dft_thread *thread)
{
    int many;

    dft_spin_lock(&dft_process_lock);
    push(&idle.whole, thread);
    idle.nwhole++;
    many = idle.nwhole > (thread->nrings > 1 ? IDLE_WHOLE : IDLE_MANY) && !idle.hollowing && !dft_late;
    idle.hollowing |= many;
    dft_spin_unlock(&dft_process_lock);
    if (many)
        hollow_out_many();
}

/* The thread ends. Its records are written, and its state waits for another thread. Later
 * destructors that do I/O begin a new state. */
static void thread_ends(void *state)
{
    struct dft_thread *self = state;
    struct dft_signals before;

    if (!dft_on || self != dft_self || !*dft_generation || dft_is_sandboxed())
        return;
    before = dft_signals_block();
    dft_bursts_end(self);
    orders.ends(self);
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    self->args_used = 0;
    if (self->pauses) {
        self->pauses = 0;
        dft_pauses_apply(self);
    }
    if (self->deep)
        DFT_SYS(madvise, self->deep, DFT_DEEP_REGIONS * sizeof *self->deep, MADV_DONTNEED, 0, 0, 0);
    if (dft_drain_all_of(self) == 0) {
        dft_self = NULL;
        put_away(self);
    }
    dft_signals_restore(before);
}

/* A child in this memory may lack its own thread-local memory. Its task is not the task of the
 * state. */
void dft_thread_end(void)
{
    struct dft_thread *self = dft_self;

    if (self && !dft_in_vfork_child() && !dft_config.disable_tids && self->home->tid == (uint32_t)dft_sys_gettid())
        thread_ends(self);
}

int dft_thread_init(const struct dft_thread_orders *given)
{
    int error;

    dft_thread_hooks = (struct dft_thread_hooks){dft_drain_own, dft_rings_next_spare, dft_control_look};
    error = dft_own_find_keys() ? dft_own.key_create(&end_key, thread_ends) : 0;
    orders = *given;
    have_key = dft_own.key_create && !error;
    return -error;
}

/* The first thread beside the main thread, where the library of threads was loaded later. Setting a
 * value of a later key would allocate memory. The program needs the other keys, so one is tried. */
static void make_key_late(void)
{
    static int is_tried;
    pthread_key_t key;

    dft_spin_lock(&dft_process_lock);
    if (!have_key && !is_tried && dft_own_find_keys()) {
        is_tried = 1;
        if (!dft_own.key_create(&key, thread_ends) && key < FIRST_KEYS) {
            end_key = key;
            have_key = 1;
        }
    }
    dft_spin_unlock(&dft_process_lock);
}

/* Arranges that thread_ends() is called. */
static void await_end(struct dft_thread *self)
{
    if (!have_key && (uint32_t)dft_sys_gettid() != dft_pid)
        make_key_late();
    if (have_key)
        dft_own.setspecific(end_key, self);
}

static struct dft_thread *take_idle(void)
{
    struct dft_thread *thread;

    dft_spin_lock(&dft_process_lock);
    thread = pop(&idle.whole);
    idle.nwhole -= thread != NULL;
    if (!thread)
        thread = pop(&idle.hollow);
    dft_spin_unlock(&dft_process_lock);
    return thread;
}

static struct dft_thread *reuse(uint32_t tid)
{
    struct dft_thread *thread = take_idle();

    if (!thread)
        return NULL;
    for (uint32_t i = 0; thread->hollow && i < thread->nrings; i++)
        if (dft_livefile_ring_again(thread->rings[i]))
            return NULL; /* no memory: this state is lost */
    thread->hollow = 0;
    dft_rings_assign(thread, tid);
    dft_rows_assign(thread, tid);
    dft_mode_update(thread);
    memset(thread->burst_keys, 0, sizeof thread->burst_keys);
    thread->bursts_open = 0;
    thread->cwd_version = 0;
    return thread;
}

/* A thread may pause the process meanwhile. Either that thread finds the state in the list, or the
 * state finds the pause. */
static void publish(struct dft_thread *thread, struct dft_ring *ring)
{
    dft_spin_lock(&dft_process_lock);
    thread->pauses = inherited_pauses;
    if (inherited_pauses && !dft_kept_has_pause()) {
        atomic_store_explicit(&ring->pauses, 1, memory_order_relaxed);
        atomic_store_explicit(&ring->paused_since, dft_clock_start_ns, memory_order_relaxed);
    }
    inherited_pauses = 0;
    dft_rings_add(thread, ring);
    thread->home = ring;
    thread->next = dft_threads;
    __atomic_store_n(&dft_threads, thread, __ATOMIC_RELEASE);
    dft_spin_unlock(&dft_process_lock);
}

/* The first state needs no mapping of its own. Its memory is not used twice, also not in a forked
 * child, where it is not empty. */
static char first[(sizeof(struct dft_thread) + DFT_LIVE_PAGE - 1) / DFT_LIVE_PAGE * DFT_LIVE_PAGE] DFT_BULK;
static uint32_t first_is_used; /* atomic */

static struct dft_thread *get_memory(void)
{
    if (!__atomic_exchange_n(&first_is_used, 1, __ATOMIC_RELAXED))
        return (struct dft_thread *)(void *)first;
    return dft_sys_map(sizeof(struct dft_thread));
}

static struct dft_thread *create(uint32_t tid)
{
    struct dft_thread *thread = get_memory();
    struct dft_ring *ring;

    if (!thread)
        return NULL;
    thread->livefile = dft_livefile_number; /* dft_rings_renew() reacts to a newer live file */
    ring = dft_livefile_ring(DFT_FIRST_SLOTS, tid, 0);
    if (!ring) {
        if ((char *)thread != first)
            DFT_SYS(munmap, thread, sizeof *thread, 0, 0, 0, 0);
        return NULL;
    }
    thread->task.no_counter = (uint32_t)dft_clock_counter_is_disabled();
    publish(thread, ring);
    dft_mode_update(thread);
    return thread;
}

static int start(void)
{
    int result;

    if (dft_process_start_is_done())
        return 0;
    dft_spin_lock(&dft_process_lock);
    result = dft_process_start();
    dft_spin_unlock(&dft_process_lock);
    return result;
}

/* Signals blocked. */
static struct dft_thread *begin(void)
{
    uint32_t tid = dft_config.disable_tids ? dft_pid : (uint32_t)dft_sys_gettid();
    struct dft_thread *thread;

    if (!*dft_generation)
        orders.forked();
    if (start())
        return NULL;
    thread = reuse(tid);
    return thread ? thread : create(tid);
}

struct dft_thread *dft_thread_begin(void)
{
    struct dft_signals before;

    if (!dft_on || dft_in_vfork_child()) {
        if (dft_on && dft_vfork_mark == DFT_MARK_SHARED_TLS && !dft_self)
            dft_shared_tls_drop();
        else if (dft_on && !dft_self)
            dft_process_start_drop();
        return *dft_generation ? dft_self : NULL;
    }
    if (dft_is_sandboxed()) {
        if (*dft_generation)
            dft_sandbox_drop();
        else
            dft_sandbox_forked();
        return NULL;
    }
    if (*dft_generation && dft_process_start_waits()) {
        dft_process_start_drop();
        return NULL;
    }
    before = dft_signals_block();
    if (!dft_self || !*dft_generation) {
        dft_self = begin(); /* begin() drops the state that a forked child inherited */
        if (dft_self) {
            dft_own_files_inherit();
            await_end(dft_self);
        } else {
            dft_process_start_drop();
        }
    }
    dft_signals_restore(before);
    return dft_self;
}

void dft_thread_forget_all(void)
{
    struct dft_thread *self = dft_self;

    for (uint32_t i = 0; self && i < self->nrings; i++)
        dft_livefile_ring_detach(self->rings[i]);
    dft_control_forked();
    dft_rows_forked(self);
    inherited_pauses = self ? self->pauses : 0;
    dft_mode_forked();
    dft_self = NULL;
    dft_threads = NULL;
    memset(&idle, 0, sizeof idle);
    dft_rings_forked();
}

void dft_thread_make_room(void)
{
    struct dft_thread *self = dft_thread_get();

    if (self && atomic_load_explicit(&self->ring->head, memory_order_relaxed) - dft_ring_tail(self->ring) >
                    self->ring->capacity / 4)
        dft_drain_own(self);
}
