/* SPDX-License-Identifier: MIT */
/* Gives events to a command, together with the texts of their names.
 *
 * Not all texts may be kept (dft_source_names_locate). Texts are then fetched before their events are passed on. They
 * are fetched for as many events as there is room for: first about as many as the last time. When that is too much, the
 * number is halved. */
#include "views/source_give.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/event.h"
#include "object/source_inside.h"
#include "intake/source_names.h"

struct giving {
    struct dft_source *source;
    dft_at_fn *at;
    const void *from;
    uint64_t *ids; /* names of the events that come next */
    size_t count, capacity;
};

static int want(struct giving *giving, uint64_t id)
{
    return id ? DFT_ARRAY_PUSH(giving->ids, giving->capacity, giving->count, id) : 0;
}

static int want_names(struct giving *giving, const struct dft_event_at *at, uint64_t file_before)
{
    int rc = at->event->file == file_before ? 0 : want(giving, at->event->file);

    if (!rc)
        rc = want(giving, at->event->file2);
    if (!rc && at->event->region)
        rc = want(giving, at->event->region);
    for (uint32_t i = 0; !rc && i < at->nargs; i++)
        rc = want(giving, at->args[i].key);
    return rc;
}

/* Fetches the texts for events [first, last). */
static int lend(struct giving *giving, size_t first, size_t last)
{
    struct dft_event_at at;
    uint64_t before = 0;
    int rc = 0;

    giving->count = 0;
    for (size_t i = first; !rc && i < last; i++) {
        if (!giving->at(giving->from, i, &at))
            continue;
        rc = want_names(giving, &at, before);
        before = at.event->file;
    }
    return rc ? rc : dft_source_names_lend(giving->source, giving->ids, giving->count, last - first == 1);
}

/* Finds where to part events, at most up to `last`: where their start changes before that, if it
 * does. */
static size_t part(const struct giving *giving, size_t first, size_t last)
{
    struct dft_event_at at;
    uint64_t start;

    giving->at(giving->from, last, &at);
    start = at.event->start_ns;
    for (size_t i = last; i > first; i--) {
        giving->at(giving->from, i - 1, &at);
        if (at.event->start_ns != start)
            return i;
    }
    return last;
}

static int emit_all(const struct giving *giving, size_t first, size_t last,
                    int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    int rc = 0;

    for (size_t i = first; !rc && i < last; i++) {
        struct dft_event_at at;

        if (giving->at(giving->from, i, &at))
            rc = emit(context, &at);
    }
    return rc;
}

int dft_source_emit_bare(size_t count, dft_at_fn *at, const void *from,
                         int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    struct giving giving = {.at = at, .from = from};

    return emit_all(&giving, 0, count, emit, context);
}

int dft_source_emit(struct dft_source *source, size_t count, dft_at_fn *at, const void *from,
                    int (*emit)(void *context, const struct dft_event_at *at), void *context)
{
    struct giving giving = {.source = source, .at = at, .from = from};
    size_t first = 0, last;
    int rc = 0;

    if (!atomic_load(&source->all_located))
        return dft_source_emit_bare(count, at, from, emit, context);
    for (; !rc && first < count; first = last) {
        last = count - first > source->fitted ? part(&giving, first, first + source->fitted) : count;
        while ((rc = lend(&giving, first, last)) == -E2BIG)
            last = part(&giving, first, first + (last - first) / 2);
        /* probably the right number the next time */
        source->fitted = (last - first) + (last - first) / 4 + 1;
        if (!rc)
            rc = emit_all(&giving, first, last, emit, context);
        dft_source_names_return(source);
    }
    free(giving.ids);
    return rc;
}
