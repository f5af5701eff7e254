/* SPDX-License-Identifier: MIT */
/* A table that is read in a thread of its own. The threads that read hand their batches over one by
 * one: each waits until its batch is used up. */
#include "vtab/feed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/names.h"
#include "intake/source_read.h"

#define ASK_EVERY_NS 20000000L /* while nothing comes */

struct dft_feed {
    struct dft_source *source;
    struct dft_table_request request;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t came, taken; /* something for the reader; the reader is done with a batch */
    const struct dft_table_batch *batch;
    int is_used, is_over, rc; /* is_used: the reader has the batch */
    int interrupted;
    _Atomic int stop;
};

static int emit_batch(void *context, unsigned worker, const struct dft_table_batch *batch)
{
    struct dft_feed *feed = context;
    int stop;

    (void)worker;
    pthread_mutex_lock(&feed->lock);
    while (feed->batch && !feed->stop)
        pthread_cond_wait(&feed->taken, &feed->lock);
    if (!feed->stop) {
        feed->batch = batch;
        pthread_cond_signal(&feed->came);
    }
    while (feed->batch == batch && !feed->stop)
        pthread_cond_wait(&feed->taken, &feed->lock);
    stop = feed->stop;
    pthread_mutex_unlock(&feed->lock);
    return stop ? -ECANCELED : 0;
}

static void *read_table(void *context)
{
    struct dft_feed *feed = context;
    int rc;

    dft_names_enter();
    rc = dft_tables_read(feed->source, &feed->request, emit_batch, feed);
    dft_names_leave();
    pthread_mutex_lock(&feed->lock);
    feed->rc = rc;
    feed->is_over = 1;
    pthread_cond_signal(&feed->came);
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

/* Signals are for the threads of the program. */
static int start_thread(struct dft_feed *feed)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&feed->thread, NULL, read_table, feed);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void forget(struct dft_feed *feed)
{
    pthread_cond_destroy(&feed->came);
    pthread_cond_destroy(&feed->taken);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

struct dft_feed *dft_feed_start(struct dft_source *source, const struct dft_table_request *request)
{
    struct dft_feed *feed = calloc(1, sizeof *feed);

    if (!feed)
        return NULL;
    feed->source = source;
    feed->request = *request;
    feed->request.stop = &feed->stop;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->came, NULL);
    pthread_cond_init(&feed->taken, NULL);
    if (!start_thread(feed))
        return feed;
    forget(feed);
    return NULL;
}

static void wait_a_while(struct dft_feed *feed)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ASK_EVERY_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&feed->came, &feed->lock, &until);
}

int dft_feed_next(struct dft_feed *feed, const struct dft_table_batch **batch, int (*interrupted)(void *context),
                  void *context)
{
    int rc = 0;

    pthread_mutex_lock(&feed->lock);
    if (feed->is_used) {
        feed->batch = NULL;
        feed->is_used = 0;
        pthread_cond_broadcast(&feed->taken);
    }
    while (!feed->batch && !feed->is_over && !rc) {
        wait_a_while(feed);
        if (!feed->batch && !feed->is_over) {
            pthread_mutex_unlock(&feed->lock);
            rc = interrupted(context) ? -EINTR : 0;
            pthread_mutex_lock(&feed->lock);
        }
    }
    feed->interrupted |= rc == -EINTR;
    *batch = rc ? NULL : feed->batch;
    feed->is_used = *batch != NULL;
    if (!rc && !feed->batch)
        rc = feed->rc;
    pthread_mutex_unlock(&feed->lock);
    return rc;
}

void dft_feed_stop(struct dft_feed *feed)
{
    if (!feed)
        return;
    pthread_mutex_lock(&feed->lock);
    feed->stop = 1;
    pthread_cond_broadcast(&feed->taken);
    pthread_mutex_unlock(&feed->lock);
    if (feed->interrupted)
        dft_source_stop(feed->source, 1);
    pthread_join(feed->thread, NULL);
    if (feed->interrupted)
        dft_source_stop(feed->source, 0);
    forget(feed);
}
