/* SPDX-License-Identifier: MIT */
/* Instances of regions, from events in two passes: first the regions, then the calls that start
 * meanwhile.
 *
 * Starts and ends of instances cut time into parts, for each thread alone and for all together.
 * Each call is added to the part in which it starts; an instance is a sum over parts. So instances
 * may overlap as they like. */
#include "summary/instance_names.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/names.h"
#include "job/region_kinds.h"
#include "query/group_keys.h"
#include "views/filter_event.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

#define MEMO 1024u

/* Times in order, and what started from each of them on to the next. */
struct parts {
    uint64_t *times;
    struct dft_instance_sums *sums;
    size_t count;
};

struct counting {
    struct dft_instances *instances;
    struct dft_source *source;
    struct dft_filter calls; /* the filter without --region */
    const struct dft_filter *filter;
    struct dft_region_kinds kinds;
    pthread_mutex_t lock;
    uint64_t memo[MEMO];    /* of regions: twice the id, and 1 where it waits for data */
    struct dft_map threads; /* by process and tid: number in `of_threads`, + 1 */
    struct parts *of_threads, all;
    size_t nthreads, threads_capacity;
};

/* --- which instances -------------------------------------------------------------------------- */

static int by_length(const void *left, const void *right)
{
    const struct dft_instance *a = left, *b = right;
    uint64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

    if (x != y)
        return x > y ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->process != b->process ? (a->process < b->process ? -1 : 1) : a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Leaves the longest. */
static void shorten(struct dft_instances *instances)
{
    if (instances->count <= DFT_INSTANCES_MAX)
        return;
    qsort(instances->list, instances->count, sizeof *instances->list, by_length);
    instances->count = DFT_INSTANCES_MAX;
}

static int is_region(const struct dft_event *event, const struct dft_call *call)
{
    return call->op == DFT_OP_REGION && dft_event_counts(event, call->op);
}

static int take_regions(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    struct dft_instances *instances = counting->instances;
    uint32_t arg = 0;
    int rc = 0;

    (void)worker;
    (void)block;
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        struct dft_instance instance = {
            event->start_ns, event->start_ns + event->dur_ns, call->id, process->number, batch->tid, 0, "", {0}, {0}};

        while (arg < batch->nargs && batch->args[arg].event < i)
            arg++;
        if (!is_region(event, call) || !dft_filter_time(counting->filter, event) ||
            !dft_filter_region(counting->filter, call->id) || instance.end_ns < instance.start_ns)
            continue;
        dft_instance_label(dft_source_names_table(counting->source), batch, i, arg, instance.args);
        pthread_mutex_lock(&counting->lock);
        instances->found++;
        rc = DFT_ARRAY_PUSH(instances->list, instances->capacity, instances->count, instance);
        if (!rc && instances->count == 2 * DFT_INSTANCES_MAX)
            shorten(instances);
        pthread_mutex_unlock(&counting->lock);
    }
    return rc;
}

/* --- parts of time ---------------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The first time that is not before this one. */
static size_t part_from(const struct parts *parts, uint64_t time)
{
    size_t low = 0, high = parts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (parts->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct parts *parts_of(struct counting *counting, uint32_t process, uint32_t tid)
{
    const uint64_t *number = dft_map_find(&counting->threads, dft_map_join(process, tid));

    return number ? &counting->of_threads[*number - 1] : NULL;
}

static int number_threads(struct counting *counting)
{
    const struct dft_instances *instances = counting->instances;

    for (size_t i = 0; i < instances->count; i++) {
        const struct dft_instance *instance = &instances->list[i];
        uint64_t *number = dft_map_put(&counting->threads, dft_map_join(instance->process, instance->tid));

        if (!number || (!*number && DFT_ARRAY_PUSH(counting->of_threads, counting->threads_capacity, counting->nthreads,
                                                   (struct parts){0})))
            return -ENOMEM;
        *number = *number ? *number : counting->nthreads;
        counting->of_threads[*number - 1].count += 2;
    }
    return 0;
}

static int reserve(struct parts *parts)
{
    parts->times = malloc((parts->count + 1) * sizeof *parts->times);
    parts->sums = calloc(parts->count + 1, sizeof *parts->sums);
    return parts->times && parts->sums ? 0 : -ENOMEM;
}

static int make_parts(struct counting *counting)
{
    const struct dft_instances *instances = counting->instances;
    int rc = number_threads(counting);

    counting->all.count = 2 * instances->count;
    rc = rc ? rc : reserve(&counting->all);
    for (size_t i = 0; i < counting->nthreads && !rc; i++) {
        rc = reserve(&counting->of_threads[i]);
        counting->of_threads[i].count = 0;
    }
    for (size_t i = 0; i < instances->count && !rc; i++) {
        const struct dft_instance *instance = &instances->list[i];
        struct parts *parts = parts_of(counting, instance->process, instance->tid);

        parts->times[parts->count++] = counting->all.times[2 * i] = instance->start_ns;
        parts->times[parts->count++] = counting->all.times[2 * i + 1] = instance->end_ns;
    }
    for (size_t i = 0; i < counting->nthreads && !rc; i++)
        qsort(counting->of_threads[i].times, counting->of_threads[i].count, sizeof(uint64_t), ascending);
    if (!rc)
        qsort(counting->all.times, counting->all.count, sizeof(uint64_t), ascending);
    return rc;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* From several threads at once. */
static void add(struct parts *parts, uint64_t time, const struct dft_instance_sums *sums)
{
    size_t at = parts ? part_from(parts, time + 1) : 0;
    struct dft_instance_sums *into;

    if (!at)
        return;
    into = &parts->sums[at - 1];
    __atomic_fetch_add(&into->calls, sums->calls, __ATOMIC_RELAXED);
    __atomic_fetch_add(&into->io_ns, sums->io_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&into->wait_ns, sums->wait_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&into->read, sums->read, __ATOMIC_RELAXED);
    __atomic_fetch_add(&into->written, sums->written, __ATOMIC_RELAXED);
}

static int waits_for_data(struct counting *counting, uint64_t call)
{
    uint64_t *memo = &counting->memo[call % MEMO], known = __atomic_load_n(memo, __ATOMIC_RELAXED);
    unsigned kinds;

    if (!call || known >> 1 == call << 1 >> 1)
        return call && known & 1;
    kinds = dft_region_kinds_of_call(&counting->kinds, dft_source_names_table(counting->source), call);
    known = call << 1 | (kinds >> DFT_REGION_DATA & 1);
    __atomic_store_n(memo, known, __ATOMIC_RELAXED);
    return known & 1;
}

/* What an event adds; waiting inside of what waits is not counted twice. Returns whether it adds
 * anything. */
static int sums_of(struct counting *counting, const struct dft_event *event, const struct dft_call *call,
                   struct dft_instance_sums *sums)
{
    uint64_t bytes;

    memset(sums, 0, sizeof *sums);
    if ((call->io == DFT_IO_WAIT && call->op != DFT_OP_FORK) ||
        (is_region(event, call) && waits_for_data(counting, call->id)))
        sums->wait_ns = waits_for_data(counting, event->region) ? 0 : event->dur_ns;
    if (dft_is_io(call->io) && dft_filter_event(&counting->calls, event, call)) {
        sums->calls = event->calls;
        sums->io_ns = event->calls ? event->dur_ns : 0;
        bytes = event->err ? 0 : dft_event_bytes(event, call->op);
        if (dft_op_class(call->op) == DFT_CLASS_READ)
            sums->read = bytes;
        else if (dft_op_class(call->op) == DFT_CLASS_WRITE)
            sums->written = bytes;
    }
    return sums->wait_ns || sums->calls || sums->read || sums->written;
}

static int take_calls(void *context, unsigned worker, const struct dft_source_process *process,
                      const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    struct parts *parts = parts_of(counting, process->number, batch->tid);

    (void)worker;
    (void)block;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        struct dft_instance_sums sums;

        if (!dft_event_counts(event, call->op) || !sums_of(counting, event, call, &sums))
            continue;
        add(parts, event->start_ns, &sums);
        add(&counting->all, event->start_ns, &sums);
    }
    return 0;
}

/* Each part gets the sum of all before it. */
static void add_up(struct parts *parts)
{
    struct dft_instance_sums before = {0};

    for (size_t i = 0; i <= parts->count; i++) {
        struct dft_instance_sums own = parts->sums[i];

        parts->sums[i] = before;
        before.calls += own.calls;
        before.io_ns += own.io_ns;
        before.wait_ns += own.wait_ns;
        before.read += own.read;
        before.written += own.written;
    }
}

static struct dft_instance_sums between(const struct parts *parts, uint64_t from, uint64_t to)
{
    const struct dft_instance_sums *a = &parts->sums[part_from(parts, from)], *b = &parts->sums[part_from(parts, to)];

    return (struct dft_instance_sums){b->calls - a->calls, b->io_ns - a->io_ns, b->wait_ns - a->wait_ns,
                                      b->read - a->read, b->written - a->written};
}

static void take_sums(struct counting *counting)
{
    add_up(&counting->all);
    for (size_t i = 0; i < counting->nthreads; i++)
        add_up(&counting->of_threads[i]);
    for (size_t i = 0; i < counting->instances->count; i++) {
        struct dft_instance *instance = &counting->instances->list[i];

        instance->own =
            between(parts_of(counting, instance->process, instance->tid), instance->start_ns, instance->end_ns);
        instance->every = between(&counting->all, instance->start_ns, instance->end_ns);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct counting *counting = context;

    return block->type == DFT_BLOCK_EVENTS && block->use & DFT_IN_EVENTS &&
           dft_filter_process(counting->filter, process);
}

static void fini(struct counting *counting)
{
    for (size_t i = 0; i < counting->nthreads; i++) {
        free(counting->of_threads[i].times);
        free(counting->of_threads[i].sums);
    }
    free(counting->of_threads);
    free(counting->all.times);
    free(counting->all.sums);
    dft_map_fini(&counting->threads);
    dft_region_kinds_fini(&counting->kinds);
    pthread_mutex_destroy(&counting->lock);
}

int dft_instances_collect(struct dft_instances *instances, struct dft_source *source, const struct dft_filter *filter)
{
    struct counting counting = {.instances = instances, .source = source, .calls = *filter, .filter = filter};
    struct dft_visit visit = {.context = &counting, .select = select_block, .progress = "blocks looked at"};
    int rc = dft_region_kinds_init(&counting.kinds, &dft_region_usual);

    *instances = (struct dft_instances){0};
    pthread_mutex_init(&counting.lock, NULL);
    memset(&counting.calls.values[DFT_FILTER_REGION], 0, sizeof counting.calls.values[DFT_FILTER_REGION]);
    rc = rc ? rc : dft_source_names(source, NULL, 0);
    visit.events = take_regions;
    rc = rc ? rc : dft_source_visit(source, &visit);
    shorten(instances);
    if (!rc && instances->count == instances->found) /* else numbers would be wrong */
        rc = dft_instances_number(instances);
    rc = rc ? rc : make_parts(&counting);
    visit.events = take_calls;
    if (!rc && instances->count)
        rc = dft_source_visit(source, &visit);
    if (!rc)
        take_sums(&counting);
    fini(&counting);
    return rc;
}

void dft_instances_fini(struct dft_instances *instances)
{
    free(instances->list);
    *instances = (struct dft_instances){0};
}
