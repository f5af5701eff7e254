/* SPDX-License-Identifier: MIT */
/* Per-thread state: the ring, and small caches beside it. A thread gets its state at its first event; when it ends, the state waits
 * for the next thread. States are never freed, so any thread may walk the list of them; of all but a few that wait, no more than
 * two pages stay in memory.
 *
 *   who                     may                                            with whom at the same time
 *   the owner, handlers     everything in its state; handlers nest         one drain, those who walk the list
 *                           properly
 *   a drain (lock held)     the rings                                      the owner
 *   who begins or ends      take a waiting state, or put one               others who do: dft_process_lock is held for
 *                                                                          the list alone
 *   who took one            give its memory back, or have it again; it     whoever walks dft_threads (and drains: so the
 *                           is in no list of waiting ones meanwhile        rings are touched with its lock held)
 *   any thread              walk dft_threads                               all
 *
 * Locks, outermost first: a state's, dft_process_lock, that of the live file (livefile_rings.c), that of contexts in
 * the making.
 */
#ifndef DFT_THREAD_H
#define DFT_THREAD_H

#include <stdint.h>

#include "format/live_format.h"
#include "os/self.h"
#include "os/sys.h"

#define DFT_SENT_NAMES   256u
#define DFT_DIRS         8u
#define DFT_DIR_TEXT     456u
#define DFT_THREAD_RINGS 16u
#define DFT_DEEP_REGIONS 65400u /* beyond those in the live file; the depth of an event has 16 bits */
#define DFT_REGIONS_MAX  (DFT_OPEN_REGIONS + DFT_DEEP_REGIONS)

/* The path of a directory descriptor, valid while the table's word for it is the same. */
struct dft_dir {
    uint64_t word;
    uint64_t renames; /* how many there had been */
    int32_t fd;
    uint32_t length;
    char text[DFT_DIR_TEXT];
};

/* An open region that does not stand in the live file. */
struct dft_deep_region {
    struct dft_open_region region;
    uint64_t frame;
    _Atomic uint32_t args;
};

struct dft_thread {
    struct dft_task task;  /* what os/ knows of it */
    struct dft_ring *ring; /* where events go */
    struct dft_ring *home; /* where open regions and the call in flight stand: the first ring in the live file */
    struct dft_ring *rings[DFT_THREAD_RINGS]; /* all it has had: an interrupted append may still end in an older one */
    uint32_t nrings;
    uint32_t livefile;                 /* dft_livefile_number when `home` was made */
    uint64_t drain_at;                 /* occupied slots at which the owner drains */
    struct dft_spin lock;              /* held by a drain */
    uint32_t drains;                   /* because the ring was full enough */
    uint32_t hollow;                   /* idle: most of its memory was given back */
    uint32_t spares;                   /* the last of `rings`, not used yet: for when no other can be had */
    struct dft_thread *next;           /* in dft_threads */
    struct dft_thread *next_idle;      /* below it, of those whose thread has ended */
    uint32_t pauses;                   /* regions/pause.c */
    uint32_t spans;                    /* how many it has begun */
    struct dft_deep_region *deep;      /* DFT_DEEP_REGIONS; NULL until they are needed */
    uintptr_t capturing;               /* the frame of a capture of its call stack that is under way */
    struct dft_stack_room *stack_room; /* NULL: not needed so far (stack.c) */
    uint16_t args_used; /* bytes of `home`'s; and DFT_ARGS_CUT: not all of the innermost record's were kept */
    uint64_t frames[DFT_OPEN_REGIONS]; /* of the open regions: annotate.h */
    uint64_t sent[DFT_SENT_NAMES];     /* ids whose text this stream has carried; by the lowest bits */
    uint64_t burst_keys[DFT_RUNS],
        burst_words[DFT_RUNS]; /* of the runs in `home`: stream and call, the descriptor's word */
    uint32_t bursts_open;
    uint64_t cwd_version;
    uint32_t cwd_length;
    uint32_t dirs_at; /* the next to be replaced */
    struct dft_dir dirs[DFT_DIRS];
    char cwd[4096];
};

extern struct dft_thread *dft_threads; /* all states, newest first; read with acquire */

extern uint32_t dft_process_pauses; /* atomic; changed with dft_process_lock held: states are made under it */

/* 1: a new ring of this thread begins paused. */
static inline uint32_t dft_thread_pause_of_ring(const struct dft_thread *thread)
{
    return thread->pauses || __atomic_load_n(&dft_process_pauses, __ATOMIC_RELAXED);
}

/* What threads need done that rooms above this one do. */
struct dft_thread_orders {
    void (*ends)(struct dft_thread *self); /* a thread ends: its open regions end with it. Signals blocked */
    void (*forked)(void);                  /* dft_lifecycle_forked() */
};

/* The key whose destructor ends a thread. Constructor only. Returns 0 or -errno. */
int dft_thread_init(const struct dft_thread_orders *given);

/* Slow path of an event: makes or finds this thread's state, starting the process's files when this is the first event, or as a forked
 * child. NULL: there can be none (the event is counted as dropped). */
struct dft_thread *dft_thread_begin(void);

/* The calling thread ends by a system call, past the destructors of its keys. */
void dft_thread_end(void);

/* In a forked child: forgets all threads of the parent; this thread's ring becomes private memory that nobody reads. */
void dft_thread_forget_all(void);

#endif
