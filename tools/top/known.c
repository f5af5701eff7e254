/* SPDX-License-Identifier: MIT */
/* What a watch knows so far: processes, their streams, names, and notes. */
#include "top/known.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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
