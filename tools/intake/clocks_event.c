/* SPDX-License-Identifier: MIT */
/* Clocks of hosts, from an event that ends in all ranks at once; see clocks.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/event.h"
#include "intake/clocks.h"
#include "mpi/comm.h"
#include "mpi/pack.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "intake/source_visit.h"

#define EVENTS_MAX 256u  /* first events taken of each rank */
#define KEEP_MAX   8192u /* events kept before the first ones are picked */

/* The ends of the event in one rank, on the rank's own clock. */
struct ends {
    uint32_t process; /* the process of these ends */
    int32_t rank;
    int64_t clock_offset;
    uint32_t count, capacity;
    int64_t *times;
};

struct collecting {
    struct dft_source *source;
    const char *name;
    size_t length;
    struct dft_names *names;
    pthread_mutex_t lock;
    struct ends *ends; /* by process number */
    _Atomic int unknown;
};

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

static void keep_first(struct ends *ends)
{
    qsort(ends->times, ends->count, sizeof *ends->times, by_time);
    if (ends->count > EVENTS_MAX)
        ends->count = EVENTS_MAX;
}

static int add_end(struct ends *ends, int64_t time)
{
    if (ends->count == KEEP_MAX)
        keep_first(ends);
    return DFT_ARRAY_PUSH(ends->times, ends->capacity, ends->count, time);
}

static int is_named(struct collecting *collecting, const struct dft_call *call)
{
    struct dft_text category, name;
    char text[18];

    dft_names_call(collecting->names, call->id, &category, &name, text);
    if (name.bytes == text)
        collecting->unknown = 1;
    return name.length == collecting->length && !memcmp(name.bytes, collecting->name, name.length);
}

static int collect(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_batch *batch)
{
    struct collecting *collecting = context;
    uint8_t small[512] = {0}, *fits = batch->ncalls <= sizeof small ? small : calloc(batch->ncalls, 1);
    int rc = fits ? 0 : -ENOMEM, any = 0;

    (void)worker;
    (void)block;
    for (uint32_t i = 0; !rc && i < batch->ncalls; i++)
        any |= fits[i] = (uint8_t)is_named(collecting, &batch->calls[i]);
    if (any) {
        pthread_mutex_lock(&collecting->lock);
        for (uint32_t i = 0; !rc && i < batch->count; i++) {
            const struct dft_event *event = &batch->events[i];

            if (fits[event->call] && !(event->bits & DFT_BIT_OPEN) &&
                (event->phase == DFT_PHASE_COMPLETE || event->phase == DFT_PHASE_INSTANT))
                rc = add_end(&collecting->ends[process->number], (int64_t)(event->start_ns + event->dur_ns));
        }
        pthread_mutex_unlock(&collecting->lock);
    }
    if (fits != small)
        free(fits);
    return rc;
}

static int has_events(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    (void)context;
    (void)process;
    return block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS) && block->count;
}

static int by_rank(const void *left, const void *right)
{
    const struct ends *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

/* Picks the processes that have the event, by rank. Each of several processes of one rank counts by
 * itself. Without ranks, processes count. */
static uint32_t pick(struct collecting *collecting, uint32_t count)
{
    const struct dft_source_process *processes = dft_source_processes(collecting->source, &count);
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct ends ends = collecting->ends[i];

        if (!ends.count)
            continue;
        keep_first(&ends);
        ends.process = i;
        ends.rank = processes[i].process.rank;
        ends.clock_offset = processes[i].process.clock_offset;
        collecting->ends[i] = (struct ends){0};
        collecting->ends[n++] = ends;
    }
    qsort(collecting->ends, n, sizeof *collecting->ends, by_rank);
    return n;
}

/* --- least squares ---------------------------------------------------------------------------- */

/* Fits each host's ends to the common times. */
static void fit_hosts(struct dft_clocks *clocks, const struct ends *ends, uint32_t n, const int64_t *common,
                      const uint32_t *order, struct dft_clock_point *points)
{
    for (uint32_t i = 0, same; i < n; i += same) {
        uint32_t host = clocks->host_of[ends[order[i]].process];
        size_t count = 0;

        for (same = 0; i + same < n && clocks->host_of[ends[order[i + same]].process] == host; same++)
            for (uint32_t k = 0; k < clocks->events; k++) {
                const struct ends *rank = &ends[order[i + same]];
                int64_t end = dft_clock_difference(rank->times[k], rank->clock_offset);

                points[count++] = (struct dft_clock_point){end, dft_clock_difference(common[k], end)};
            }
        dft_clock_fit(&clocks->hosts[host], points, count, clocks->events >= 3);
    }
}

/* Finds the time of the k-th event on the reference clock. This is the mean over ranks, each
 * corrected by what is known so far. The mean is over differences to the first time, because the
 * numbers are large. */
static void common_times(const struct dft_clocks *clocks, const struct ends *ends, uint32_t n, int64_t *common)
{
    for (uint32_t k = 0; k < clocks->events; k++) {
        int64_t first = 0;
        double sum = 0;

        for (uint32_t i = 0; i < n; i++) {
            int64_t time = ends[i].times[k];

            time = dft_clock_sum(time, dft_clocks_shift(clocks, ends[i].process, (uint64_t)time));
            if (!i)
                first = time;
            sum += (double)dft_clock_difference(time, first);
        }
        common[k] = dft_clock_sum(first, (int64_t)(sum / n));
    }
}

struct of_host {
    uint32_t host, position;
};

static int by_host(const void *left, const void *right)
{
    const struct of_host *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Fits twice: first to the host of the lowest rank, then to the mean of all. The mean depends less
 * on chance. */
static int fit(struct dft_clocks *clocks, const struct ends *ends, uint32_t n)
{
    int64_t *common = malloc((clocks->events + 1u) * sizeof *common);
    uint32_t *order = malloc((n + 1u) * sizeof *order);
    struct of_host *hosts = malloc((n + 1u) * sizeof *hosts);
    struct dft_clock_point *points = malloc(((size_t)n * clocks->events + 1u) * sizeof *points);
    uint32_t same = 0;
    int rc = common && order && hosts && points ? 0 : -ENOMEM;

    if (!rc) {
        for (uint32_t i = 0; i < n; i++)
            hosts[i] = (struct of_host){clocks->host_of[ends[i].process], i};
        qsort(hosts, n, sizeof *hosts, by_host);
        for (uint32_t i = 0; i < n; i++)
            order[i] = hosts[i].position;
        while (same < n && clocks->host_of[ends[same].process] == clocks->host_of[ends->process])
            same++;
        common_times(clocks, ends, same, common); /* no shifts are known yet */
        fit_hosts(clocks, ends, n, common, order, points);
        common_times(clocks, ends, n, common);
        fit_hosts(clocks, ends, n, common, order, points);
    }
    free(common);
    free(order);
    free(hosts);
    free(points);
    return rc;
}

/* Counts the events that all ranks have. When some ranks have more, their first events count as the
 * same. */
static uint32_t events_of_all(struct dft_source *source, const struct ends *ends, uint32_t n, const char *name)
{
    uint32_t least = UINT32_MAX, most = 0;

    for (uint32_t i = 0; i < n; i++) {
        least = ends[i].count < least ? ends[i].count : least;
        most = ends[i].count > most ? ends[i].count : most;
    }
    if (least != most)
        dft_source_note(source, 0,
                        "%s ends %u times in some ranks and up to %u times in others: the first %u of each are taken "
                        "for the same",
                        name, least, most, least);
    return least;
}

static int take_ends(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct collecting *collecting = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end) {
        uint32_t head[2];

        dft_unpack_get(&unpack, head, sizeof head);
        for (uint32_t i = 0; i < head[1] && !rc; i++) {
            int64_t time;

            dft_unpack_get(&unpack, &time, sizeof time);
            rc = add_end(&collecting->ends[head[0]], time);
        }
    }
    return rc;
}

/* Shares the ends: all ranks of dftmerge-mpi then have all. */
static int share(struct collecting *collecting)
{
    struct dft_pack pack = {0};
    uint32_t count;

    if (dft_comm_size() == 1)
        return 0;
    collecting->unknown = dft_comm_agree(collecting->unknown);
    dft_source_processes(collecting->source, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t head[2] = {i, collecting->ends[i].count};

        if (!head[1])
            continue;
        dft_pack_put(&pack, head, sizeof head);
        dft_pack_put(&pack, collecting->ends[i].times, head[1] * sizeof *collecting->ends[i].times);
    }
    return dft_pack_exchange(&pack, take_ends, collecting);
}

static int collect_ends(struct collecting *collecting)
{
    struct dft_visit visit = {
        .context = collecting, .select = has_events, .events = collect, .progress = "blocks searched for the event"};
    int rc = dft_source_names_of_rows(collecting->source);

    if (!rc)
        rc = dft_source_visit(collecting->source, &visit);
    if (!rc)
        rc = share(collecting);
    if (rc || !collecting->unknown)
        return rc;
    rc = dft_source_names(collecting->source, NULL, 0);
    if (rc)
        return rc;
    uint32_t count;

    dft_source_processes(collecting->source, &count);
    for (uint32_t i = 0; i < count; i++)
        collecting->ends[i].count = 0;
    rc = dft_source_visit(collecting->source, &visit);
    return rc ? rc : share(collecting);
}

int dft_clocks_by_event(struct dft_clocks *clocks, struct dft_source *source, const char *name)
{
    struct collecting collecting = {
        .source = source, .name = name, .length = strlen(name), .lock = PTHREAD_MUTEX_INITIALIZER};
    uint32_t count, n = 0;
    int rc;

    dft_source_processes(source, &count);
    *clocks = (struct dft_clocks){.kind = DFT_CLOCKS_EVENT, .event = name};
    collecting.names = dft_source_names_table(source);
    collecting.ends = calloc(count + 1u, sizeof *collecting.ends);
    rc = collecting.ends ? dft_clocks_hosts(clocks, source) : -ENOMEM;
    if (!rc)
        rc = collect_ends(&collecting);
    if (!rc)
        n = pick(&collecting, count);
    if (!rc && n < 2)
        rc = -ENOENT;
    if (!rc) {
        clocks->events = events_of_all(source, collecting.ends, n, name);
        rc = fit(clocks, collecting.ends, n);
    }
    for (uint32_t i = 0; collecting.ends && i < count; i++)
        free(collecting.ends[i].times);
    free(collecting.ends);
    if (rc)
        dft_clocks_fini(clocks);
    else
        dft_clocks_range(clocks);
    return rc;
}
