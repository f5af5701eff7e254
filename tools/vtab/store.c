/* SPDX-License-Identifier: MIT */
/* The sources of a connection. A source is opened and closed in a thread of its own: SQLite may call
 * from another thread each time, and a source belongs to one. */
#include "vtab/store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge/source.h"
#include "object/source_notes.h"

struct dft_keeper {
    struct dft_store *store;
    struct dft_source_options options;
    struct dft_filter filter;
    char *why;
    pthread_t thread;
    pid_t process; /* that has the thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_open, rc, leave;
};

int dft_store_keeps(enum dft_table_number table)
{
    return table != DFT_TABLE_EVENTS && table != DFT_TABLE_ROWS && table != DFT_TABLE_COUNTERS;
}

static void estimate(struct dft_store *store)
{
    uint32_t nprocesses;
    size_t nblocks;
    const struct dft_source_process *processes = dft_source_processes(store->source, &nprocesses);
    const struct dft_block *blocks = dft_source_blocks(store->source, &nblocks);

    for (uint32_t i = 0; i < nprocesses; i++)
        store->events += processes[i].events;
    for (size_t i = 0; i < nblocks; i++)
        if (blocks[i].use & DFT_IN_ROWS)
            store->rows += blocks[i].count;
}

/* The notes say what is wrong with each path. */
static char *notes_of(struct dft_source *source)
{
    size_t count, length;
    char *const *notes = dft_source_notes(source, &count);
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; out && i < count; i++)
        fprintf(out, "%s%s", i ? "; " : "", notes[i]);
    if (out && !fclose(out))
        return text;
    free(text);
    return NULL;
}

static int open_source(struct dft_keeper *keeper)
{
    struct dft_store *store = keeper->store;
    uint32_t nprocesses;
    int rc = dft_source_open(&store->source, &keeper->options);

    if (rc)
        return rc;
    dft_source_processes(store->source, &nprocesses);
    if (!nprocesses) {
        keeper->why = notes_of(store->source);
        return -ENOENT;
    }
    estimate(store);
    store->filter = &keeper->filter;
    return dft_filter_begin(&keeper->filter, store->source);
}

static void *keep(void *context)
{
    struct dft_keeper *keeper = context;
    int rc = open_source(keeper);

    pthread_mutex_lock(&keeper->lock);
    keeper->rc = rc;
    keeper->is_open = 1;
    pthread_cond_broadcast(&keeper->changed);
    while (!keeper->leave)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    pthread_mutex_unlock(&keeper->lock);
    dft_source_close(keeper->store->source);
    return NULL;
}

static int start_keeper(struct dft_keeper *keeper)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&keeper->thread, NULL, keep, keeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

static void end_keeper(struct dft_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->leave = 1;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
}

static void free_keeper(struct dft_keeper *keeper)
{
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    dft_filter_fini(&keeper->filter);
    free(keeper->why);
    free(keeper);
}

/* Opens the source of a store, and waits until it is open. */
static int open_store(struct dft_store *store, char *const *paths, int npaths, char **why)
{
    struct dft_keeper *keeper = calloc(1, sizeof *keeper);
    int rc;

    if (!keeper)
        return -ENOMEM;
    keeper->store = store;
    keeper->process = getpid();
    keeper->options = (struct dft_source_options){.paths = paths, .npaths = npaths, .quiet = 1};
    dft_filter_init(&keeper->filter);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->changed, NULL);
    rc = start_keeper(keeper);
    if (rc) {
        free_keeper(keeper);
        return rc;
    }
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->is_open)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    rc = keeper->rc;
    pthread_mutex_unlock(&keeper->lock);
    store->keeper = keeper;
    if (rc) {
        *why = keeper->why;
        keeper->why = NULL;
    }
    return rc;
}

/* A child that fork has made lacks the thread: waiting for it would never end. So the source stays
 * open there. */
static void close_store(struct dft_store *store)
{
    for (unsigned i = 0; i < DFT_TABLES; i++)
        dft_kept_free(store->kept[i]);
    if (store->keeper && store->keeper->process == getpid()) {
        end_keeper(store->keeper);
        free_keeper(store->keeper);
    }
    free(store->key);
    free(store);
}

static char *key_of(char *const *paths, int npaths)
{
    char *key = NULL;
    size_t length;
    FILE *out = open_memstream(&key, &length);

    for (int i = 0; out && i < npaths; i++)
        fprintf(out, "%zu:%s", strlen(paths[i]), paths[i]); /* a path may have any byte but NUL */
    if (out && !fclose(out))
        return key;
    free(key);
    return NULL;
}

int dft_store_use(struct dft_store **list, struct dft_store **result, char *const *paths, int npaths, char **why)
{
    char *key = npaths ? key_of(paths, npaths) : NULL;
    struct dft_store *store = *list;
    int rc;

    if (npaths && !key)
        return -ENOMEM;
    while (store && (key && store->key ? strcmp(key, store->key) != 0 : key || store->key))
        store = store->next;
    if (store || !npaths) {
        free(key);
        *result = store;
        return store ? (store->users++, 0) : -EINVAL;
    }
    store = calloc(1, sizeof *store);
    if (!store) {
        free(key);
        return -ENOMEM;
    }
    store->key = key;
    rc = open_store(store, paths, npaths, why);
    if (rc) {
        close_store(store);
        return rc;
    }
    store->users = 1;
    store->next = *list;
    *list = *result = store;
    return 0;
}

int dft_store_given(struct dft_store **list, struct dft_source *source, const struct dft_filter *filter)
{
    struct dft_store *store = calloc(1, sizeof *store);

    if (!store)
        return -ENOMEM;
    *store = (struct dft_store){.next = *list, .users = 1, .source = source, .filter = filter};
    estimate(store);
    *list = store;
    return 0;
}

void dft_store_leave(struct dft_store **list, struct dft_store *store)
{
    if (--store->users)
        return;
    while (*list != store)
        list = &(*list)->next;
    *list = store->next;
    close_store(store);
}
