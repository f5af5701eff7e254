/* SPDX-License-Identifier: MIT */
/* The states of threads (thread/state.h): made at a thread's first event, handed on at its end, forgotten in a fork. */
#ifndef DFT_THREADS_H
#define DFT_THREADS_H

#include "thread/state.h"

/* Orders from a thread to the rooms above this one. */
struct dft_thread_orders {
    /* a thread ends, and its open regions end with it; signals blocked */
    void (*ends)(struct dft_thread *self);
    void (*forked)(void); /* dft_lifecycle_forked() */
};

/* Makes the key whose destructor ends a thread. Constructor only. Returns 0 or -errno. */
int dft_thread_init(const struct dft_thread_orders *given);

/* The slow path of an event. Finds or makes this thread's state. Starts the process's files at the
 * first event and in a forked child. NULL: there can be no state, and the event is counted as
 * dropped. */
struct dft_thread *dft_thread_begin(void);

/* The calling thread ends by a system call, which skips the destructors of its keys. */
void dft_thread_end(void);

/* In a forked child. Forgets all threads of the parent. This thread's ring becomes private memory
 * that nobody reads. */
void dft_thread_forget_all(void);

/* The calling thread is about to make a child in this memory, which can neither make a state nor drain: so it finds a
 * state, and a ring of which three quarters are free. */
void dft_thread_make_room(void);

/* This thread's state, ready for an event. NULL when there can be none. */
static inline struct dft_thread *dft_thread_get(void)
{
    struct dft_thread *self = dft_self;

    if (__builtin_expect(self == NULL || !*dft_generation, 0))
        return dft_thread_begin();
    return self;
}

#endif
