/* SPDX-License-Identifier: MIT */
/* Per-thread state: the ring, and small caches beside it. A thread gets its state at its first
 * event. When the thread ends, its state waits for the next thread. States are never freed, so any
 * thread may walk the list of them. A few waiting states keep their memory. The others keep at most
 * two pages each.
 *
 *   who                     may                                       with whom at the same time
 *   the owner, handlers     everything in its state; handlers nest    one drain;
 *                           properly                                  threads that walk the list
 *   a drain (lock held)     the rings                                 the owner
 *   a thread that begins    take a waiting state, or put one back     others that do the same:
 *   or ends                                                           dft_process_lock is held
 *                                                                     for the list alone
 *   the taker of a state    return its memory, or obtain it again;    walkers of dft_threads;
 *                           no list of waiting states has the state   drains: the rings are touched
 *                                                                     with the state's lock held
 *   any thread              walk dft_threads                          all
 *
 * Locks, outermost first: a state's lock, dft_process_lock, the lock of the live file
 * (livefile_rings.c), the lock for new contexts. */
#ifndef DFT_STATE_H
#define DFT_STATE_H

#include <stdint.h>

#include "format/live_format.h"
#include "os/self.h"
#include "os/sys.h"

#define DFT_SENT_NAMES   256u
#define DFT_DIRS         8u
#define DFT_DIR_TEXT     456u
#define DFT_THREAD_RINGS 16u
#define DFT_DEEP_REGIONS 65400u /* beyond those in the live file; an event's depth has 16 bits */
#define DFT_REGIONS_MAX  (DFT_OPEN_REGIONS + DFT_DEEP_REGIONS)

/* The path of a directory: of every descriptor on this description, duplicates too. That of a
 * descriptor without a description is valid while its word in the table is unchanged. */
struct dft_dir {
    uint64_t word;
    uint64_t renames; /* the number of renames before */
    int32_t fd;
    uint32_t description; /* its serial number; 0: there is none */
    uint32_t length;      /* 0: nothing is here */
    uint32_t version;     /* how often something was kept here */
    char text[DFT_DIR_TEXT];
};

/* An open region that is not stored in the live file. */
struct dft_deep_region {
    struct dft_open_region region;
    uint64_t frame;
    _Atomic uint32_t args;
};

/* What becomes of a thread's calls. */
enum dft_mode {
    DFT_MODE_EVENTS = 0, /* a record each, in the ring */
    DFT_MODE_ROWS = 1,   /* aggregates alone, in the table (rows.h) */
    DFT_MODE_RULES = 2,  /* the one or the other, as the rules say (mode.h) */
};

struct dft_rows;

struct dft_thread {
    struct dft_task task;  /* the part that os/ knows */
    uint32_t mode;         /* enum dft_mode */
    struct dft_rows *rows; /* its table; NULL: none */
    struct dft_ring *ring; /* the ring that receives events */
    /* the first ring in the live file: holds open regions and the call in flight */
    struct dft_ring *home;
    /* all rings so far: an interrupted append may still end in an older one */
    struct dft_ring *rings[DFT_THREAD_RINGS];
    uint32_t nrings;
    uint32_t livefile;    /* dft_livefile_number when `home` was made */
    uint64_t drain_at;    /* occupied slots at which the owner drains */
    struct dft_spin lock; /* held by a drain */
    uint32_t drains;      /* drains because the ring was full enough */
    uint32_t hollow;      /* idle: most of its memory was released */
    /* the last of `rings`, not used yet: for when no other can be had */
    uint32_t spares;
    struct dft_thread *next; /* in dft_threads */
    /* the next below this one among the states whose thread has ended */
    struct dft_thread *next_idle;
    uint32_t pauses;                           /* regions/pause.c */
    uint32_t spans;                            /* spans begun so far */
    struct dft_deep_region *deep;              /* DFT_DEEP_REGIONS entries; NULL until needed */
    uintptr_t capturing;                       /* the frame of the current capture of the call stack */
    struct dft_stack_capacity *stack_capacity; /* NULL: not needed so far (stack.c) */
    /* Bytes used of the arguments in `home`. DFT_ARGS_CUT: some of the innermost record's were not
     * kept. */
    uint16_t args_used;
    uint64_t frames[DFT_OPEN_REGIONS]; /* frames of the open regions: annotate.h */
    /* ids whose text this stream has carried; by the lowest bits */
    uint64_t sent[DFT_SENT_NAMES];
    uint8_t sent_io[DFT_SENT_NAMES]; /* of those that are paths: the class of the file */
    uint64_t burst_keys[DFT_BURSTS],
        /* of the bursts in `home`: stream and call, and the descriptor's word */
        burst_words[DFT_BURSTS];
    uint32_t bursts_open;
    uint64_t cwd_version;
    uint32_t cwd_length;
    uint32_t dirs_at;    /* the next entry to replace */
    uint32_t dirs_found; /* the entry that was found last */
    struct dft_dir dirs[DFT_DIRS];
    struct dft_dir opened; /* the last file opened: it may be a directory */
    char cwd[4096];
};

extern struct dft_thread *dft_threads; /* all states, newest first; read with acquire */

/* atomic; changed with dft_process_lock held, under which states are made */
extern uint32_t dft_process_pauses;

/* 1: a new ring of this thread begins paused. */
static inline uint32_t dft_thread_pause_of_ring(const struct dft_thread *thread)
{
    return thread->pauses || __atomic_load_n(&dft_process_pauses, __ATOMIC_RELAXED);
}

/* What a full ring and a table need of rooms above: set before the first state is made. */
struct dft_thread_hooks {
    void (*drain)(struct dft_thread *self);     /* dft_drain_own() */
    int (*next_spare)(struct dft_thread *self); /* dft_rings_next_spare() */
    void (*look)(void);                         /* dft_control_look() */
};
extern struct dft_thread_hooks dft_thread_hooks DFT_HIDDEN;

#endif
