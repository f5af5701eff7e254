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

#include "format/live.h"
#include "os/sys.h"

#define DFT_SENT_NAMES   256u
#define DFT_DIRS         8u
#define DFT_DIR_TEXT     456u
#define DFT_FIRST_SLOTS  256u
#define DFT_THREAD_RINGS 16u
#define DFT_DEEP_REGIONS 65400u /* beyond those in the live file; the depth of an event has 16 bits */

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
    struct dft_ring *ring; /* where events go */
    struct dft_ring *home; /* where open regions and the call in flight stand: the first ring in the live file */
    struct dft_ring *rings[DFT_THREAD_RINGS]; /* all it has had: an interrupted append may still end in an older one */
    uint32_t nrings;
    uint32_t livefile;                 /* dft_livefile_number when `home` was made */
    uint64_t drain_at;                 /* occupied slots at which the owner drains */
    struct dft_spin lock;              /* held by a drain */
    uint32_t drains;                   /* because the ring was full enough */
    uint32_t sandboxed;                /* atomic: no system calls */
    uint32_t no_counter;               /* may not read the processor's */
    uint64_t ticks_least;              /* of such a thread: its clock is coarse, and time must not go back */
    uint32_t hollow;                   /* idle: most of its memory was given back */
    uint32_t spares;                   /* the last of `rings`, not used yet: for when no other can be had */
    struct dft_thread *next;           /* in dft_threads */
    struct dft_thread *next_idle;      /* below it, of those whose thread has ended */
    uint32_t pauses;                   /* pause.c */
    uint32_t spans;                    /* how many it has begun */
    struct dft_deep_region *deep;      /* DFT_DEEP_REGIONS; NULL until they are needed */
    uintptr_t capturing;               /* the frame of a capture of its call stack that is under way */
    struct dft_stack_room *stack_room; /* NULL: not needed so far (stack.c) */
    uint16_t args_used; /* bytes of `home`'s; and DFT_ARGS_CUT: not all of the innermost record's were kept */
    uint64_t frames[DFT_OPEN_REGIONS]; /* of the open regions: annotate.h */
    uint64_t sent[DFT_SENT_NAMES];     /* ids whose text this stream has carried; by the lowest bits */
    uint64_t run_keys[DFT_RUNS],
        run_words[DFT_RUNS]; /* of the runs in `home`: stream and call, the descriptor's word */
    uint32_t runs_open;
    uint64_t cwd_version;
    uint32_t cwd_length;
    uint32_t dirs_at; /* the next to be replaced */
    struct dft_dir dirs[DFT_DIRS];
    char cwd[4096];
};

/* This thread's state; NULL before its first event, and while it cannot have one. */
extern __thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));
/* What may run on this thread's memory right now: DFT_MARK_*. Set before a vfork child is made, cleared when its parent goes on. */
enum {
    DFT_MARK_NONE,
    DFT_MARK_VFORK,
    DFT_MARK_SANDBOXED, /* a vfork child that made no system calls any more */
    DFT_MARK_LENT       /* this thread, or at the same time a child of clone on its thread-local memory */
};
extern __thread uint32_t dft_vfork_mark __attribute__((tls_model("initial-exec")));

extern struct dft_thread *dft_threads; /* all states, newest first; read with acquire */

/* The key whose destructor ends a thread. Constructor only. Returns 0 or -errno. */
int dft_thread_init(void);

/* Slow path of an event: makes or finds this thread's state, starting the process's files when this is the first event, or as a forked
 * child. NULL: there can be none (the event is counted as dropped). */
struct dft_thread *dft_thread_begin(void);

/* The calling thread ends by a system call, past the destructors of its keys. */
void dft_thread_end(void);

/* Another ring for the calling thread, after its drain: a larger one when it keeps filling, or one in the new live file when there is
 * another than the thread began with. */
void dft_thread_grow(struct dft_thread *thread);
void dft_thread_renew(struct dft_thread *thread);

/* In a forked child: forgets all threads of the parent; this thread's ring becomes private memory that nobody reads. */
void dft_thread_forget_all(void);

/* With a mark: is the caller the child? A handler that runs in the parent before the mark is set or after the child is gone is not. (vfork.c) */
int dft_is_vfork_child(void);
/* While the memory is lent: is the caller a borrower? It records nothing: count it. (wrap_clone.c) */
int dft_is_borrower(void);
void dft_borrower_drop(void);
/* By the owner, before it lends its memory to a child made with these flags of clone. */
void dft_lend(uint64_t flags);
/* Does one who borrows this memory share the descriptors as well, as far as is known? */
int dft_lends_descriptors(void);

/* Is the caller a vfork child, or the like, running in its parent's memory? */
static inline int dft_in_vfork_child(void)
{
    return __builtin_expect(dft_vfork_mark, 0) && dft_is_vfork_child();
}

#endif
