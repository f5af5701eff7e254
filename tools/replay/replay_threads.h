/* SPDX-License-Identifier: MIT */
/* The threads that repeat calls: one for each recorded thread, with a queue of calls. The thread that reads the trace
 * fills the queues in order of time. A call waits only for calls that were queued before it, so the threads never wait
 * for each other in a circle. */
#ifndef DFT_REPLAY_THREADS_H
#define DFT_REPLAY_THREADS_H

#include <pthread.h>
#include <stdint.h>

#include "replay/replay_calls.h"
#include "replay/replay_root.h"
#include "replay/replay_tables.h"
#include "replay/replay_tally.h"

#define DFT_REPLAY_QUEUED_MAX 32768u /* calls in all queues together */
#define DFT_REPLAY_NEEDS_MAX  10u

struct dft_replay_need {
    const _Atomic uint32_t *counter;
    uint32_t value;
};

/* The calls of a recorded process image: as passed to the threads, and as done. */
struct dft_replay_progress {
    uint32_t given;
    _Atomic uint32_t done;
};

/* One call to be repeated, in the queue of its thread. */
struct dft_replay_call_at {
    struct dft_replay_call_at *next;
    struct dft_replay_thread *thread;
    struct dft_replay_handle *handle, *made;
    struct dft_replay_file *file, *file2;
    struct dft_replay_progress *process;
    uint64_t after_ns;    /* when it began, after the first call of all */
    uint64_t size, bytes; /* size: of a call on data what it asks for, else as recorded */
    int64_t result, offset;
    uint32_t calls, unit, flags, mode;
    enum dft_replay_call call;
    uint8_t op, io;
    uint8_t lazy, shared, seeks, changes, succeeded;
    const char *stream_mode; /* of fopen */
    uint32_t nneeds;
    struct dft_replay_need needs[DFT_REPLAY_NEEDS_MAX];
    char *path, *path2; /* below the root, with the root's path before; NULL: none. They stand behind the call */
};

/* What came out, of one thread or of all. */
struct dft_replay_outcome {
    struct dft_replay_tallies tallies;
    uint64_t done[DFT_REPLAY_CALLS];    /* calls that were made */
    uint64_t differs[DFT_REPLAY_CALLS]; /* failed, succeeded, or moved other bytes than recorded */
    uint64_t skipped[DFT_REPLAY_CALLS]; /* not made: a link, or no open file */
    uint64_t refused;                   /* a link was in the way */
    uint64_t pieces;                    /* calls above DFT_REPLAY_PIECE, made in pieces */
    uint64_t no_descriptors;            /* calls that failed because too many descriptors were open */
    uint64_t late_ns;                   /* the most that a call began after its time */
    uint64_t threads;
};

struct dft_replay_thread {
    struct dft_replay_threads *all;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct dft_replay_call_at *first, *last;
    uint64_t left;                      /* calls that it has not taken yet */
    struct dft_replay_outcome *outcome; /* while it lives */
};

struct dft_replay_threads {
    const struct dft_replay_root *root;
    int paced; /* --speed 1: calls begin at their time */
    struct dft_map by_key;
    pthread_mutex_t lock;
    pthread_cond_t drained, ended, begun;
    uint64_t queued; /* calls in queues; under `lock` */
    uint32_t live, most_live;
    int has_begun;
    uint64_t begin_ns, end_ns; /* monotonic */
    char *refused_path;        /* the first one; under `lock` */
    struct dft_replay_outcome outcome;
};

void dft_replay_threads_init(struct dft_replay_threads *threads, const struct dft_replay_root *root, int paced);
void dft_replay_threads_fini(struct dft_replay_threads *threads);
/* The thread of a key, which will get `calls` calls. NULL: no memory, or no thread can be had (errno). */
struct dft_replay_thread *dft_replay_thread_of(struct dft_replay_threads *threads, uint64_t key, uint64_t calls);
/* Puts a call into the queue of its thread, which frees it. Waits while the queues are full. */
void dft_replay_give(struct dft_replay_call_at *call);
/* The time begins, if it has not yet. */
void dft_replay_threads_begin(struct dft_replay_threads *threads);
/* No thread gets further calls. Waits until all have ended. */
void dft_replay_threads_end(struct dft_replay_threads *threads);

/* From here on threads take calls without making them. For signal handlers, too. */
void dft_replay_stop(void);
int dft_replay_is_stopped(void);

uint64_t dft_replay_now(void); /* monotonic ns */

#endif
