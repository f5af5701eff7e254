/* SPDX-License-Identifier: MIT */
/* What this process is, and what runs on the calling thread: read by every room, changed by those that order things (life/). */
#ifndef DFT_SELF_H
#define DFT_SELF_H

#include <stdint.h>

/* What is traced, as bits; 0 until the constructor has run, and for good when DFTRACER_ENABLE is off. */
extern int dft_on;
#define DFT_ON_POSIX   1
#define DFT_ON_STDIO   2
#define DFT_ON_PROCESS 4
#define DFT_ON_REGIONS 8

/* Zero in a forked child that has not noticed yet: a private page that the kernel wipes on fork. */
extern volatile uint32_t *dft_generation;
/* Set by the finaliser: whoever appends from now on drains at once. */
extern int dft_late;

extern uint64_t dft_key, dft_parent_key; /* process keys; 0: no parent known */
extern uint32_t dft_pid;

/* Guards the making of the process's files and the lists of states; no ring is made while it is held, but for the first
 * ones. Signals blocked. */
struct dft_spin;
extern struct dft_spin dft_process_lock;

/* The head page of the live file; private memory where no file could be had. NULL before the process's first event. */
struct dft_live;
extern struct dft_live *dft_live;

/* --- the calling thread ------------------------------------------------------------------------------------------- */

/* What os/ knows of a thread's state: the first member of struct dft_thread. */
struct dft_task {
    uint32_t sandboxed;   /* atomic: makes no system calls */
    uint32_t no_counter;  /* may not read the processor's counter */
    uint64_t ticks_least; /* of such a thread: its clock is coarse, and time must not go back */
};

/* This thread's state; NULL before its first event, and while it cannot have one. */
struct dft_thread;
extern __thread struct dft_thread *dft_self __attribute__((tls_model("initial-exec")));

static inline struct dft_task *dft_self_task(void)
{
    return (struct dft_task *)dft_self;
}

/* What may run on this thread's memory right now. Set before a vfork child is made, cleared when its parent goes on. */
enum {
    DFT_MARK_NONE,
    DFT_MARK_VFORK,
    DFT_MARK_SANDBOXED, /* a vfork child that made no system calls any more */
    DFT_MARK_SHARED_TLS /* this thread, or at the same time a child of clone on its thread-local memory (shared_tls.h) */
};
extern __thread uint32_t dft_vfork_mark __attribute__((tls_model("initial-exec")));

/* With a mark: is the caller the child? A handler that runs in the parent before the mark is set, or after the child is
 * gone, is not. */
int dft_is_vfork_child(void);

/* Is the caller a vfork child, or the like, running in its parent's memory? */
static inline int dft_in_vfork_child(void)
{
    return __builtin_expect(dft_vfork_mark, 0) && dft_is_vfork_child();
}

/* The single-threaded process needs no locked instructions. */
extern char __libc_single_threaded __attribute__((weak));

static inline int dft_is_single(void)
{
    return &__libc_single_threaded && __libc_single_threaded;
}

/* --- without system calls ----------------------------------------------------------------------------------------- */

/* Who has been forbidden system calls (life/sandbox.c), as bits: then none of ours is made where that may be so. */
extern int dft_sandbox;
#define DFT_SANDBOX_THREAD 1 /* some thread of this process */
#define DFT_SANDBOX_CHILD  2 /* a vfork child, which ran in our memory */

/* Is the caller one of them? */
int dft_is_sandboxed(void);

/* Counts a call that could not be recorded for want of a system call, if this thread is in the mode. */
void dft_sandbox_drop(void);

/* In a forked child. Returns 1: it inherited the mode and cannot have files of its own; tracing is off (the parent counts
 * one). */
int dft_sandbox_forked(void);

#endif
