/* Work for N threads: pieces in a wait-free queue (liburcu's wfcqueue), taken under its lock. */
#include "base/work.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <urcu/wfcqueue.h>

#include "base/names.h"

struct piece {
    struct cds_wfcq_node node;
    size_t from, to;
};

struct work {
    struct cds_wfcq_head head;
    struct cds_wfcq_tail tail;
    dft_work_fn *fn;
    void *context;
    atomic_int stop;
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
    atomic_store_explicit(&work->stop, 1, memory_order_relaxed); /* a hint: others may finish their piece */
}

static void take_pieces(struct work *work, unsigned number)
{
    while (!atomic_load_explicit(&work->stop, memory_order_relaxed)) {
        struct cds_wfcq_node *node = cds_wfcq_dequeue_blocking(&work->head, &work->tail);
        struct piece *piece;
        int rc;

        if (!node)
            return;
        piece = caa_container_of(node, struct piece, node);
        rc = work->fn(work->context, number, piece->from, piece->to);
        if (rc)
            fail(work, piece->from, rc);
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
    struct worker workers[threads];
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
    size_t pieces = piece ? (count + piece - 1) / piece : 0;
    struct work work = {.fn = fn, .context = context};
    struct piece *list;

    if (!pieces)
        return 0;
    if (threads < 2 || pieces < 2) {
        for (size_t i = 0; i < count; i += piece) {
            int rc = fn(context, 0, i, i + piece < count ? i + piece : count);

            if (rc)
                return rc;
        }
        return 0;
    }
    list = calloc(pieces, sizeof *list);
    if (!list)
        return -ENOMEM;
    cds_wfcq_init(&work.head, &work.tail);
    pthread_mutex_init(&work.lock, NULL);
    for (size_t i = 0; i < pieces; i++) {
        list[i].from = i * piece;
        list[i].to = (i + 1) * piece < count ? (i + 1) * piece : count;
        cds_wfcq_node_init(&list[i].node);
        cds_wfcq_enqueue(&work.head, &work.tail, &list[i].node);
    }
    run_threads(&work, threads < pieces ? threads : (unsigned)pieces);
    pthread_mutex_destroy(&work.lock);
    cds_wfcq_destroy(&work.head, &work.tail);
    free(list);
    return work.rc;
}
