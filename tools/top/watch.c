/* SPDX-License-Identifier: MIT */
/* Owns the watch, and the order of a look. */
#include "top/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/aggregate.h"
#include "base/array.h"
#include "format/decode.h"
#include "symbols/symbols.h"
#include "top/blocks.h"
#include "top/find.h"
#include "top/lives.h"
#include "top/lives_add.h"
#include "top/traces.h"

#define SETTLE_MAX 20
#define SETTLE_NS  2000000

int dft_top_watch_init(struct dft_top_watch *watch, char *const *paths, int npaths)
{
    *watch = (struct dft_top_watch){.paths = paths, .npaths = npaths};
    dft_names_enter();
    watch->names = dft_names_create(dft_symbols_show);
    watch->decoder = dft_decoder_create();
    watch->calls = dft_table_create(DFT_INTERVAL_NS_MAX, 0);
    watch->files = dft_table_create(DFT_INTERVAL_NS_MAX, DFT_KEEP_FILES);
    watch->order = malloc(DFT_COUNT_MAX * sizeof *watch->order);
    return watch->names && watch->decoder && watch->calls && watch->files && watch->order ? 0 : -ENOMEM;
}

static void free_process(struct dft_top_process *process)
{
    dft_top_cells_fini(&process->calls);
    dft_top_cells_fini(&process->files);
    dft_top_cells_fini(&process->live_calls);
    dft_top_cells_fini(&process->live_files);
    for (uint32_t i = 0; i < process->nstreams; i++) {
        for (size_t k = 0; k < process->streams[i].nwaiting; k++)
            dft_top_waiting_fini(&process->streams[i].waiting[k]);
        free(process->streams[i].waiting);
    }
    free(process->streams);
    free(process->command);
    free(process->host);
}

static void lives_fini(struct dft_top_watch *watch)
{
    for (uint32_t i = 0; i < watch->nlives; i++) {
        dft_top_live_drop(&watch->lives[i]);
        free(watch->lives[i].path);
    }
    free(watch->lives);
}

static void traces_fini(struct dft_top_watch *watch)
{
    for (uint32_t i = 0; i < watch->ntraces; i++) {
        if (watch->traces[i].fd >= 0)
            close(watch->traces[i].fd);
        free(watch->traces[i].path);
        free(watch->traces[i].holes);
        free(watch->traces[i].left);
    }
    free(watch->traces);
}

void dft_top_watch_fini(struct dft_top_watch *watch)
{
    for (uint32_t i = 0; i < watch->nprocesses; i++)
        free_process(&watch->processes[i]);
    free(watch->processes);
    lives_fini(watch);
    traces_fini(watch);
    for (uint32_t i = 0; i < watch->ndirectories; i++)
        free(watch->directories[i].path);
    free(watch->directories);
    for (size_t i = 0; i < watch->nnotes; i++)
        free(watch->notes[i]);
    free(watch->notes);
    dft_map_fini(&watch->by_key);
    dft_map_fini(&watch->by_path);
    dft_map_fini(&watch->by_inode);
    dft_map_fini(&watch->seen);
    dft_table_destroy(watch->calls);
    dft_table_destroy(watch->files);
    dft_decoder_destroy(watch->decoder);
    dft_names_destroy(watch->names);
    free(watch->order);
    free(watch->flights);
    free(watch->window);
    dft_names_leave();
}

int dft_top_watch_look(struct dft_top_watch *watch, int settled)
{
    const struct timespec moment = {0, SETTLE_NS};
    struct timespec now;
    int rc = dft_top_find(watch), is_open = 0;
    uint32_t lives;

    clock_gettime(CLOCK_REALTIME, &now);
    watch->now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    do { /* traces may name live files that lie elsewhere */
        lives = watch->nlives;
        if (!rc)
            rc = dft_top_lives_copy(watch);
        if (!rc)
            rc = dft_top_traces_read(watch, &is_open);
    } while (!rc && watch->nlives > lives);
    for (int i = 0; !rc && settled && is_open && i < SETTLE_MAX; i++) {
        nanosleep(&moment, NULL);
        rc = dft_top_traces_read(watch, &is_open);
    }
    if (!rc)
        rc = dft_top_waiting_read(watch);
    return rc ? rc : dft_top_lives_add(watch);
}
