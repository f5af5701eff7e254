/* SPDX-License-Identifier: MIT */
/* Work for N threads. The threads take pieces by counting. */
#include "base/work.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/names.h"

struct work {
    dft_work_fn *fn;
    void *context;
    size_t count, piece;
    /* where the next piece begins; no piece is left when it is count or more */
    _Atomic size_t next;
    pthread_mutex_t lock;
    size_t failed_at;
    int rc;
};

struct worker {
    struct work *work;
    unsigned number;
    pthread_t thread;
};

static void fail(struct work *work, size_t at, int rc)
{
    pthread_mutex_lock(&work->lock);
    if (!work->rc || at < work->failed_at) {
        work->rc = rc;
        work->failed_at = at;
    }
    pthread_mutex_unlock(&work->lock);
    /* the other threads finish their piece */
    atomic_store_explicit(&work->next, work->count, memory_order_relaxed);
}

static void take_pieces(struct work *work, unsigned number)
{
    size_t from;

    while ((from = atomic_fetch_add_explicit(&work->next, work->piece, memory_order_relaxed)) < work->count) {
        size_t rest = work->count - from;
        int rc = work->fn(work->context, number, from, rest < work->piece ? work->count : from + work->piece);

        if (rc)
            fail(work, from, rc);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;

    dft_names_enter();
    take_pieces(worker->work, worker->number);
    dft_names_leave();
    return NULL;
}

static void run_threads(struct work *work, unsigned threads)
{
    struct worker workers[threads ? threads : 1];
    unsigned started = 1;

    for (; started < threads; started++) {
        workers[started].work = work;
        workers[started].number = started;
        if (pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]))
            break;
    }
    take_pieces(work, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

int dft_work_run(unsigned threads, size_t count, size_t piece, dft_work_fn *fn, void *context)
{
    struct work work = {
        .fn = fn, .context = context, .count = count, .piece = piece, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t pieces = count / piece + (count % piece != 0);

    run_threads(&work, threads < pieces ? threads : (unsigned)pieces);
    return work.rc;
}
