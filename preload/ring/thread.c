/* Owns the per-thread states: makes them, hands those of ended threads on, and notices vfork and fork. */
#include "ring/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "regions/annotate.h"
#include "os/clock.h"
#include "os/config.h"
#include "ring/drain.h"
#include "life/lifecycle.h"
#include "store/livefile.h"
#include "probe/paths.h"
#include "regions/pause.h"
#include "ring/run.h"
#include "life/sandbox.h"

__thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));
__thread uint32_t dft_vfork_mark __attribute__((tls_model("initial-exec")));
struct dft_thread *dft_threads;

static pthread_key_t end_key;
static int have_key;
static uint32_t inherited_pauses; /* of the thread that forked */
static uint32_t grown;            /* atomic: large rings there are */

/* States that wait for a thread; dft_process_lock. */
static struct {
    struct dft_thread *whole, *hollow;
    uint32_t nwhole;
    int hollowing; /* a thread is at it */
} idle;

#define IDLE_WHOLE 16u  /* states that wait as they are: a program with few threads at a time pays for nothing */
#define IDLE_MANY  64u  /* where there are more, or large ones, all but IDLE_WHOLE give back what they had */
#define GROWN_MOST 256u /* large rings, 260 KiB each */

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

/* One thread does it for all that end meanwhile: the rings lie in one file, and the kernel would have the others wait
 * for it. */
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
        put_away(self);
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
    return -error;
}

static void set_up(const struct dft_thread *thread, struct dft_ring *ring, uint32_t tid)
{
    ring->tid = tid;
    atomic_store_explicit(&ring->paused, dft_pause_of_ring(thread), memory_order_relaxed);
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

/* Whoever pauses the process marks the rings with the state's lock held: so it is either before or after this. */
static struct dft_thread *reuse(uint32_t tid)
{
    struct dft_thread *thread = take_idle();

    if (!thread)
        return NULL;
    for (uint32_t i = 0; thread->hollow && i < thread->nrings; i++)
        if (dft_livefile_ring_again(thread->rings[i]))
            return NULL; /* no memory: this state is lost */
    thread->hollow = 0;
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        set_up(thread, thread->rings[i], tid);
    dft_spin_unlock(&thread->lock);
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

/* A process that is paused meanwhile finds the state in the list, or the state finds the pause. */
static void publish(struct dft_thread *thread, struct dft_ring *ring)
{
    dft_spin_lock(&dft_process_lock);
    thread->pauses = inherited_pauses;
    inherited_pauses = 0;
    set_ring(thread, ring);
    thread->home = ring;
    thread->next = dft_threads;
    __atomic_store_n(&dft_threads, thread, __ATOMIC_RELEASE);
    dft_spin_unlock(&dft_process_lock);
}

static struct dft_thread *create(uint32_t tid)
{
    struct dft_thread *thread = dft_sys_map(sizeof *thread);
    struct dft_ring *ring;

    if (!thread)
        return NULL;
    thread->livefile = dft_livefile_number; /* of a new one that comes meanwhile it will be told */
    ring = dft_livefile_ring(DFT_FIRST_SLOTS, tid, 0);
    if (!ring) {
        DFT_SYS(munmap, thread, sizeof *thread, 0, 0, 0, 0);
        return NULL;
    }
    thread->no_counter = (uint32_t)dft_clock_is_forgone();
    publish(thread, ring);
    return thread;
}

static int start(void)
{
    int result;

    if (dft_process_is_started())
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
        dft_process_forked();
    if (start())
        return NULL;
    thread = reuse(tid);
    return thread ? thread : create(tid);
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
    struct dft_ring *old = thread->ring, *ring = NULL;
    uint64_t head = atomic_load_explicit(&old->head, memory_order_relaxed);

    if (old->capacity >= DFT_RING_SLOTS_MAX || thread->nrings == DFT_THREAD_RINGS)
        return;
    thread->drains = 0;
    if (__atomic_load_n(&grown, __ATOMIC_RELAXED) >= GROWN_MOST)
        return;
    if (__atomic_fetch_add(&grown, 1, __ATOMIC_RELAXED) < GROWN_MOST)
        ring = dft_livefile_lasting_ring(DFT_RING_SLOTS_MAX, old->tid, (head | (DFT_RING_SLOTS_MAX - 1)) + 1);
    if (ring)
        set_ring(thread, ring);
    else
        __atomic_fetch_sub(&grown, 1, __ATOMIC_RELAXED);
}

void dft_thread_renew(struct dft_thread *thread)
{
    struct dft_ring *old = thread->home, *ring = NULL;
    uint32_t depth = atomic_load_explicit(&old->depth, memory_order_relaxed), number = dft_livefile_number;

    if (thread->livefile == number || thread->nrings == DFT_THREAD_RINGS || dft_late ||
        atomic_load_explicit(&old->runs_busy,
                             memory_order_relaxed)) /* this is a handler's drain: the next one will do */
        return;
    ring = dft_livefile_ring(thread->ring->capacity, old->tid, 0);
    if (!ring)
        return;
    memcpy(ring->regions, old->regions, sizeof ring->regions);
    memcpy(ring->region_args, old->region_args, sizeof ring->region_args);
    memcpy(ring->args, old->args, sizeof ring->args);
    atomic_store_explicit(&ring->depth, depth, memory_order_release);
    if (dft_run_move_all(thread, ring))
        return;
    thread->livefile = number;
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
    memset(&idle, 0, sizeof idle);
    grown = 0;
}
