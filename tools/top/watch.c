/* SPDX-License-Identifier: MIT */
/* Owns the watch: its processes and notes, and the order of a look. */
#include "top/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/aggregate.h"
#include "base/array.h"
#include "format/decode.h"
#include "symbols/symbols.h"

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

void dft_top_watch_note(struct dft_top_watch *watch, int bad, const char *format, ...)
{
    va_list list;
    char *text = NULL;

    va_start(list, format);
    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    va_end(list);
    watch->bad |= bad;
    for (size_t i = 0; text && i < watch->nnotes; i++)
        if (!strcmp(watch->notes[i], text)) {
            free(text);
            return;
        }
    if (text && DFT_ARRAY_PUSH(watch->notes, watch->notes_capacity, watch->nnotes, text))
        free(text);
}

/* --- processes -------------------------------------------------------------------------------- */

struct dft_top_process *dft_top_process_of(struct dft_top_watch *watch, uint64_t key)
{
    uint64_t *place = dft_map_put(&watch->by_key, key ? key : 1);

    if (!place)
        return NULL;
    if (!*place) {
        if (DFT_ARRAY_PUSH(watch->processes, watch->processes_capacity, watch->nprocesses,
                           (struct dft_top_process){.key = key, .rank = -1, .shown = 1}))
            return NULL;
        *place = watch->nprocesses;
    }
    return &watch->processes[*place - 1];
}

struct dft_top_stream *dft_top_stream_of(struct dft_top_process *process, uint32_t stream)
{
    for (uint32_t i = 0; i < process->nstreams; i++)
        if (process->streams[i].stream == stream)
            return &process->streams[i];
    if (DFT_ARRAY_PUSH(process->streams, process->streams_capacity, process->nstreams,
                       (struct dft_top_stream){.stream = stream}))
        return NULL;
    return &process->streams[process->nstreams - 1];
}

int dft_top_covers(const struct dft_top_ranges *ranges, uint64_t number)
{
    for (uint32_t i = 0; i < DFT_TOP_RANGES && i < ranges->count; i++)
        if (number >= ranges->first[i] && number <= ranges->last[i])
            return 1;
    return 0;
}

void dft_top_cover(struct dft_top_ranges *ranges, uint64_t first, uint64_t last)
{
    uint32_t at = ranges->count++ % DFT_TOP_RANGES;

    ranges->first[at] = first;
    ranges->last[at] = last;
}

int dft_top_process_runs(const struct dft_top_process *process)
{
    return process->exit_kind == DFT_ENDING_RUNNING;
}

uint32_t dft_top_watch_running(const struct dft_top_watch *watch)
{
    uint32_t running = 0;

    for (uint32_t i = 0; i < watch->nprocesses; i++)
        running += dft_top_process_runs(&watch->processes[i]) != 0;
    return running;
}

int dft_top_names(struct dft_top_watch *watch, const struct dft_name *names, uint32_t count,
                  const struct dft_call *calls, uint32_t ncalls)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < count; i++)
        if (names[i].text.bytes)
            rc = dft_names_add(watch->names, names[i].id, names[i].text.bytes, names[i].text.length, NULL);
    for (uint32_t i = 0; !rc && i < ncalls; i++)
        if (calls[i].text.length)
            rc = dft_names_add(watch->names, calls[i].id, calls[i].text.bytes, calls[i].text.length, NULL);
    return rc;
}

/* --- a look ----------------------------------------------------------------------------------- */

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
