/* SPDX-License-Identifier: MIT */
/* The state of this process, and of the calling thread. Every room reads this state; life/ changes
 * it. */
#ifndef DFT_SELF_H
#define DFT_SELF_H

#include <stdint.h>

#include "os/hidden.h"

/* Bits of what is traced. 0 until the constructor has run, and for good when DFTRACER_ENABLE is
 * off. */
extern int dft_on DFT_HIDDEN;
#define DFT_ON_POSIX   1
#define DFT_ON_STDIO   2
#define DFT_ON_PROCESS 4
#define DFT_ON_REGIONS 8

/* Zero in a forked child that has not noticed the fork yet: the kernel wipes this private page on
 * fork. */
extern volatile uint32_t *dft_generation DFT_HIDDEN;
/* Set by the finaliser: from then on, each append drains at once. */
extern int dft_late DFT_HIDDEN;

extern uint64_t dft_key, dft_parent_key; /* process keys; 0: the parent is unknown */
extern uint32_t dft_pid;

/* Guards the creation of the process's files and the lists of states. While the lock is held, only
 * first rings are made. Signals blocked. */
struct dft_spin;
extern struct dft_spin dft_process_lock;

/* The head page of the live file. Private memory where no file could be created. NULL before the
 * process's first event. */
struct dft_live;
extern struct dft_live *dft_live;

/* --- the calling thread ----------------------------------------------------------------------- */

/* The part of a thread's state that os/ knows: the first member of struct dft_thread. */
struct dft_task {
    uint32_t sandboxed;  /* atomic: the thread makes no system calls */
    uint32_t no_counter; /* the thread may not read the processor's counter */
    /* last tick before no_counter: the coarse clock must not show less */
    uint64_t ticks_least;
};

/* This thread's state. NULL before its first event, and while the thread cannot have a state. */
struct dft_thread;
extern __thread struct dft_thread *dft_self DFT_HIDDEN __attribute__((tls_model("initial-exec")));

static inline struct dft_task *dft_self_task(void)
{
    return (struct dft_task *)dft_self;
}

/* What may run on this thread's memory right now. Set before a vfork child is made, and cleared
 * when its parent goes on. */
enum {
    DFT_MARK_NONE,
    DFT_MARK_VFORK,
    DFT_MARK_SANDBOXED, /* a vfork child that makes no more system calls */
    /* this thread and, at the same time, a child of clone on its thread-local memory
     * (shared_tls.h) */
    DFT_MARK_SHARED_TLS,
    DFT_MARK_OWN_FILES /* nobody else; the thread has other descriptors than the process (own_files.h) */
};
extern __thread uint32_t dft_vfork_mark DFT_HIDDEN __attribute__((tls_model("initial-exec")));
/* Has a table of descriptors of its own. With a mark. */
extern __thread uint32_t dft_own_files DFT_HIDDEN __attribute__((tls_model("initial-exec")));

/* Only with a mark. Is the caller the child? A handler may run in the parent before the mark is
 * set, or after the child has ended. Such a handler is not the child. */
int dft_is_vfork_child(void);

/* Is the caller a vfork child, or a similar child in its parent's memory? */
static inline int dft_in_vfork_child(void)
{
    return __builtin_expect(dft_vfork_mark, 0) && dft_is_vfork_child();
}

/* Are the descriptors of the caller others than those in the tables of this process? */
static inline int dft_has_other_files(void)
{
    return __builtin_expect(dft_vfork_mark, 0) && (dft_own_files || dft_is_vfork_child());
}

/* The C library's __libc_single_threaded. Before glibc 2.32: a 0. */
extern const char *dft_single DFT_HIDDEN;

/* A single-threaded process needs no locked instructions. */
static inline int dft_is_single(void)
{
    return *dft_single;
}

/* --- without system calls --------------------------------------------------------------------- */

/* Bits that say who has been forbidden system calls (life/sandbox.c). Where such a caller is
 * possible, we make no system calls. */
extern int dft_sandbox DFT_HIDDEN;
#define DFT_SANDBOX_THREAD 1 /* a thread of this process */
#define DFT_SANDBOX_CHILD  2 /* a vfork child, which ran in our memory */

/* Has the caller been forbidden system calls? */
int dft_is_sandboxed(void);

/* If this thread is in the mode, counts a call that could not be recorded for want of a system
 * call. */
void dft_sandbox_drop(void);

/* In a forked child. Returns 1 when the child inherited the mode and cannot have its own files.
 * Tracing is then off, and the parent counts one dropped event. */
int dft_sandbox_forked(void);

#endif
