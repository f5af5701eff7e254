/* Owns the per-thread states: makes them, hands those of ended threads on, and notices vfork and fork. */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "annotate.h"
#include "clock.h"
#include "config.h"
#include "drain.h"
#include "lifecycle.h"
#include "livefile.h"
#include "paths.h"
#include "pause.h"
#include "run.h"
#include "sandbox.h"

__thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));
__thread uint32_t dft_vfork_mark __attribute__((tls_model("initial-exec")));
struct dft_thread *dft_threads;

static pthread_key_t end_key;
static int have_key;
static struct __cds_wfs_stack free_states; /* popped with dft_process_lock held */
static uint32_t idle;                      /* atomic: how many they are */
static uint32_t inherited_pauses;          /* of the thread that forked */
static uint32_t grown;                     /* large rings there are; dft_process_lock */

#define IDLE_WHOLE 16u  /* states that wait as they are: a program with few threads at a time pays for nothing */
#define GROWN_MOST 256u /* large rings, 260 KiB each */

/* Gives back what the next thread will find as zeros: free slots, and the caches behind the first page. */
static void hollow_out(struct dft_thread *thread)
{
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        dft_livefile_ring_idle(thread->rings[i]);
    dft_spin_unlock(&thread->lock);
    DFT_SYS(madvise, (char *)thread + DFT_LIVE_PAGE, sizeof *thread - DFT_LIVE_PAGE, MADV_DONTNEED, 0, 0, 0);
    thread->hollow = 1;
}

/* The thread ends: its records go out, its state waits for another thread. Destructors that run later and do I/O begin again. */
static void thread_ends(void *state)
{
    struct dft_thread *self = state;
    struct dft_signals before;

    if (!dft_on || self != dft_self || !*dft_generation || dft_is_sandboxed())
        return;
    before = dft_signals_block();
    dft_run_break_all(self);
    dft_annotate_end_all(self, "thread", 1);
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    self->args_used = 0;
    self->pauses = 0;
    if (self->deep)
        DFT_SYS(madvise, self->deep, DFT_DEEP_REGIONS * sizeof *self->deep, MADV_DONTNEED, 0, 0, 0);
    if (dft_drain_all_of(self) == 0) {
        dft_self = NULL;
        if (__atomic_fetch_add(&idle, 1, __ATOMIC_RELAXED) >= IDLE_WHOLE && !dft_late)
            hollow_out(self);
        cds_wfs_push(&free_states, &self->free);
    }
    dft_signals_restore(before);
}

/* A child in this memory, made without thread-local memory of its own, is another task than that of the state. */
void dft_thread_end(void)
{
    struct dft_thread *self = dft_self;

    if (self && !dft_in_vfork_child() && !dft_config.disable_tids && self->home->tid == (uint32_t)dft_sys_gettid())
        thread_ends(self);
}

int dft_thread_init(void)
{
    int error = pthread_key_create(&end_key, thread_ends);

    have_key = !error;
    __cds_wfs_init(&free_states);
    return -error;
}

static void set_up(const struct dft_thread *thread, struct dft_ring *ring, uint32_t tid)
{
    ring->tid = tid;
    atomic_store_explicit(&ring->paused, dft_pause_of_ring(thread), memory_order_relaxed);
}

static struct dft_thread *reuse(uint32_t tid)
{
    struct cds_wfs_node *node;
    struct dft_thread *thread;

    for (uint32_t times = 0; (node = __cds_wfs_pop_nonblocking(&free_states)) == CDS_WFS_WOULDBLOCK; times++)
        dft_sys_wait(times);
    if (!node)
        return NULL;
    thread = caa_container_of(node, struct dft_thread, free);
    cds_wfs_node_init(&thread->free);
    __atomic_fetch_sub(&idle, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; thread->hollow && i < thread->nrings; i++)
        if (dft_livefile_ring_again(thread->rings[i]))
            return NULL; /* no memory: this state is lost */
    thread->hollow = 0;
    for (uint32_t i = 0; i < thread->nrings; i++)
        set_up(thread, thread->rings[i], tid);
    memset(thread->run_keys, 0, sizeof thread->run_keys);
    thread->runs_open = 0;
    thread->cwd_version = 0;
    return thread;
}

static void set_ring(struct dft_thread *thread, struct dft_ring *ring)
{
    set_up(thread, ring, ring->tid);
    thread->rings[thread->nrings++] = ring;
    thread->ring = ring;
    thread->drain_at = ring->capacity / 4 * 3;
}

static struct dft_thread *create(uint32_t tid)
{
    struct dft_thread *thread = dft_sys_map(sizeof *thread);
    struct dft_ring *ring = thread ? dft_livefile_ring(DFT_FIRST_SLOTS, tid, 0) : NULL;

    if (!ring)
        return NULL;
    thread->pauses = inherited_pauses;
    inherited_pauses = 0;
    set_ring(thread, ring);
    thread->home = ring;
    thread->livefile = dft_livefile_number;
    thread->no_counter = (uint32_t)dft_clock_is_forgone();
    cds_wfs_node_init(&thread->free);
    thread->next = dft_threads;
    __atomic_store_n(&dft_threads, thread, __ATOMIC_RELEASE);
    return thread;
}

/* Signals blocked. */
static struct dft_thread *begin(void)
{
    uint32_t tid = dft_config.disable_tids ? dft_pid : (uint32_t)dft_sys_gettid();
    struct dft_thread *thread = NULL;

    if (!*dft_generation)
        dft_process_forked();
    dft_spin_lock(&dft_process_lock);
    if (!dft_process_start()) {
        thread = reuse(tid);
        if (!thread)
            thread = create(tid);
    }
    dft_spin_unlock(&dft_process_lock);
    return thread;
}

struct dft_thread *dft_thread_begin(void)
{
    struct dft_signals before;

    if (!dft_on || dft_in_vfork_child()) {
        if (dft_on && dft_vfork_mark == DFT_MARK_LENT && !dft_self)
            dft_borrower_drop();
        else if (dft_on && !dft_self)
            dft_process_drop();
        return *dft_generation ? dft_self : NULL;
    }
    if (dft_is_sandboxed()) {
        if (*dft_generation)
            dft_sandbox_drop();
        else
            dft_sandbox_forked();
        return NULL;
    }
    if (*dft_generation && dft_process_waits()) {
        dft_process_drop();
        return NULL;
    }
    before = dft_signals_block();
    if (!dft_self || !*dft_generation) {
        dft_self = begin(); /* which forgets the state that a forked child inherited */
        if (dft_self && have_key)
            pthread_setspecific(end_key, dft_self);
        if (!dft_self)
            dft_process_drop();
    }
    dft_signals_restore(before);
    return dft_self;
}

void dft_thread_grow(struct dft_thread *thread)
{
    struct dft_ring *old = thread->ring, *ring;
    uint64_t head = atomic_load_explicit(&old->head, memory_order_relaxed);

    if (old->capacity >= DFT_RING_SLOTS_MAX || thread->nrings == DFT_THREAD_RINGS)
        return;
    dft_spin_lock(&dft_process_lock);
    ring = grown < GROWN_MOST && dft_livefile_has_room(dft_ring_bytes(DFT_RING_SLOTS_MAX))
               ? dft_livefile_ring(DFT_RING_SLOTS_MAX, old->tid, (head | (DFT_RING_SLOTS_MAX - 1)) + 1)
               : NULL;
    grown += ring != NULL;
    dft_spin_unlock(&dft_process_lock);
    if (ring)
        set_ring(thread, ring);
    thread->drains = 0;
}

void dft_thread_renew(struct dft_thread *thread)
{
    struct dft_ring *old = thread->home, *ring = NULL;
    uint32_t depth = atomic_load_explicit(&old->depth, memory_order_relaxed);

    if (thread->livefile == dft_livefile_number || thread->nrings == DFT_THREAD_RINGS || dft_late ||
        atomic_load_explicit(&old->runs_busy,
                             memory_order_relaxed)) /* this is a handler's drain: the next one will do */
        return;
    dft_spin_lock(&dft_process_lock);
    ring = dft_livefile_ring(thread->ring->capacity, old->tid, 0);
    dft_spin_unlock(&dft_process_lock);
    if (!ring)
        return;
    memcpy(ring->regions, old->regions, sizeof ring->regions);
    memcpy(ring->region_args, old->region_args, sizeof ring->region_args);
    memcpy(ring->args, old->args, sizeof ring->args);
    atomic_store_explicit(&ring->depth, depth, memory_order_release);
    if (dft_run_move_all(thread, ring))
        return;
    thread->livefile = dft_livefile_number;
    set_ring(thread, ring);
}

void dft_thread_forget_all(void)
{
    struct dft_thread *self = dft_self;

    for (uint32_t i = 0; self && i < self->nrings; i++)
        dft_livefile_ring_detach(self->rings[i]);
    inherited_pauses = self ? self->pauses : 0;
    dft_self = NULL;
    dft_threads = NULL;
    idle = grown = 0;
    __cds_wfs_init(&free_states);
}
