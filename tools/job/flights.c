/* SPDX-License-Identifier: MIT */
/* Gathers what was in flight when processes ended, from all ranks. */
#include "job/flights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "format/event.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

static int in_flight(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    (void)context;
    (void)process;
    return block->type == DFT_BLOCK_EVENTS && block->first > block->last && block->state == DFT_BLOCK_USED;
}

static int add_flights(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_flights *all = context;
    int error = 0;

    (void)worker;
    (void)block;
    pthread_mutex_lock(&all->lock);
    for (uint32_t i = 0; i < batch->count && !error; i++) {
        const struct dft_event *event = &batch->events[i];

        if (all->count == all->capacity) {
            size_t capacity = all->capacity ? 2 * all->capacity : 64;
            struct dft_flight *more = reallocarray(all->list, capacity, sizeof(*more));

            if (!more) {
                error = -ENOMEM;
                break;
            }
            all->list = more;
            all->capacity = capacity;
        }
        all->list[all->count++] = (struct dft_flight){.process = process->number,
                                                      .tid = batch->tid,
                                                      .call = batch->calls[event->call].id,
                                                      .file = event->file,
                                                      .start_ns = event->start_ns,
                                                      .fd = event->fd,
                                                      .op = batch->calls[event->call].op};
    }
    pthread_mutex_unlock(&all->lock);
    return error;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_process(const void *a, const void *b)
{
    const struct dft_flight *x = a, *y = b;
    int order = compare(x->process, y->process);

    if (!order)
        order = compare(x->tid, y->tid);
    if (!order)
        order = compare(x->start_ns, y->start_ns);
    return order ? order : compare(x->call, y->call);
}

static int take_flights(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_flights *all = context;
    size_t more = length / sizeof(*all->list);
    struct dft_flight *flights;

    if (rank == dft_comm_rank())
        return 0;
    flights = reallocarray(all->list, all->count + more + 1, sizeof(*flights));
    if (!flights)
        return -ENOMEM;
    all->list = flights;
    if (more)
        memcpy(flights + all->count, bytes, length);
    all->count += more;
    all->capacity = all->count + 1;
    return 0;
}

/* Those that other ranks read. */
static int share_flights(struct dft_flights *all)
{
    size_t own = all->count;
    struct dft_flight *copy = malloc((own + 1) * sizeof(*copy));
    int error = dft_comm_agree(copy ? 0 : -ENOMEM);

    if (!error && own)
        memcpy(copy, all->list, own * sizeof(*copy));
    if (!error)
        error = dft_comm_exchange(copy, own * sizeof(*copy), take_flights, all);
    free(copy);
    return error;
}

void dft_flight_json(struct dft_json *json, const struct dft_flight *flight, const struct dft_source *source)
{
    const struct dft_names *names = dft_source_names_table(source);
    struct dft_text category, name, file;
    char text[18];

    dft_names_call(names, flight->call, &category, &name, text);
    dft_json_uint(json, "tid", flight->tid);
    dft_json_uint(json, "ts", flight->start_ns);
    dft_json_text(json, "cat", category.bytes, category.length);
    dft_json_text(json, "name", name.bytes, name.length);
    if (flight->file) {
        file = dft_names_show(names, flight->file, text);
        dft_json_text(json, "file", file.bytes, file.length);
    }
    if (flight->fd >= 0)
        dft_json_int(json, "fd", flight->fd);
}

void dft_flight_name(FILE *out, const struct dft_flight *flight, const struct dft_source *source)
{
    const struct dft_names *names = dft_source_names_table(source);
    struct dft_text category, name, file;
    char text[18];

    dft_names_call(names, flight->call, &category, &name, text);
    dft_text_escape(out, name.bytes, name.length);
    if (flight->file) {
        file = dft_names_show(names, flight->file, text);
        fputs(" of ", out);
        dft_text_escape(out, file.bytes, file.length);
    }
}

int dft_flights_fetch(struct dft_flights *all, struct dft_source *source)
{
    uint64_t *ids;
    size_t n = 0;
    int error =
        dft_source_visit(source, &(struct dft_visit){.context = all, .select = in_flight, .events = add_flights});

    if (!error)
        error = share_flights(all);
    if (error || !all->count)
        return error;
    qsort(all->list, all->count, sizeof(*all->list), by_process);
    ids = calloc(all->count, 2 * sizeof(*ids));
    if (!ids)
        return -ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        ids[n++] = all->list[i].call;
        if (all->list[i].file)
            ids[n++] = all->list[i].file;
    }
    error = dft_source_names(source, ids, n);
    free(ids);
    return error;
}

size_t dft_flights_of(const struct dft_flights *all, uint32_t process)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (all->list[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void dft_flights_free(struct dft_flights *all)
{
    free(all->list);
}
