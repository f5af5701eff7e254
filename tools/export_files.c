/* The set of files in use: one open-addressed table a worker, merged and sorted by text at the end. */
#include "export_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 0 marks a free place: no name has that id. */
struct set {
    uint64_t *ids;
    size_t count, room; /* room: a power of two, or 0 */
};

struct files {
    const struct dft_filter *filter;
    struct set *sets; /* one a worker */
};

static void set_put(struct set *set, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15)) & (set->room - 1);

    while (set->ids[at] && set->ids[at] != id)
        at = (at + 1) & (set->room - 1);
    set->count += !set->ids[at];
    set->ids[at] = id;
}

static int set_add(struct set *set, uint64_t id)
{
    struct set bigger;

    if (2 * set->count >= set->room) {
        bigger = (struct set){.room = set->room ? 4 * set->room : 1024};
        bigger.ids = calloc(bigger.room, sizeof(*bigger.ids));
        if (!bigger.ids)
            return -ENOMEM;
        for (size_t i = 0; i < set->room; i++)
            if (set->ids[i])
                set_put(&bigger, set->ids[i]);
        free(set->ids);
        *set = bigger;
    }
    set_put(set, id);
    return 0;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct files *files = context;

    return block->type == DFT_BLOCK_EVENTS && (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS) &&
           dft_filter_block(files->filter, process, block);
}

static int collect(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_batch *batch)
{
    struct files *files = context;
    int error = 0;

    (void)process;
    (void)block;
    for (uint32_t i = 0; i < batch->count && !error; i++)
        if (batch->events[i].file &&
            dft_filter_event(files->filter, &batch->events[i], batch->calls[batch->events[i].call].id))
            error = set_add(&files->sets[worker], batch->events[i].file);
    return error;
}

struct named {
    uint64_t id;
    struct dft_text text;
};

static int by_text(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    uint32_t shorter = x->text.length < y->text.length ? x->text.length : y->text.length;
    int order = shorter ? memcmp(x->text.bytes, y->text.bytes, shorter) : 0;

    if (!order)
        order = (x->text.length > y->text.length) - (x->text.length < y->text.length);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int give_sorted(const struct dft_source *source, const struct set *set, void (*give)(void *context, uint64_t id),
                       void *context)
{
    const struct dft_names *names = dft_source_names_table(source);
    struct named *list = calloc(set->count + 1, sizeof(*list));
    size_t n = 0;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < set->room; i++)
        if (set->ids[i])
            list[n++] = (struct named){set->ids[i], dft_names_text(names, set->ids[i])};
    qsort(list, n, sizeof(*list), by_text);
    for (size_t i = 0; i < n; i++)
        give(context, list[i].id);
    free(list);
    return 0;
}

int dft_files_visit(struct dft_source *source, const struct dft_filter *filter,
                    void (*give)(void *context, uint64_t id), void *context)
{
    unsigned threads = dft_source_threads(source);
    struct files files = {.filter = filter, .sets = calloc(threads, sizeof(*files.sets))};
    int error = -ENOMEM;

    if (files.sets)
        error = dft_source_visit(
            source, &(struct dft_visit){
                        .context = &files, .select = select_block, .events = collect, .progress = "files listed"});
    for (unsigned w = 1; w < threads && !error; w++)
        for (size_t i = 0; i < files.sets[w].room && !error; i++)
            if (files.sets[w].ids[i])
                error = set_add(&files.sets[0], files.sets[w].ids[i]);
    if (!error)
        error = give_sorted(source, &files.sets[0], give, context);
    for (unsigned w = 0; files.sets && w < threads; w++)
        free(files.sets[w].ids);
    free(files.sets);
    return error;
}
