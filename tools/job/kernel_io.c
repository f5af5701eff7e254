/* SPDX-License-Identifier: MIT */
/* Sums up samples of /proc/self/io. */
#include "job/kernel_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "mpi/comm.h"
#include "views/source_counters.h"
#include "base/saturate.h"

#define NAME(text) dft_name_id("process\0" text, sizeof "process\0" text - 1)

enum { RCHAR, WCHAR, TRACER_RCHAR, TRACER_WCHAR, SYSCR, SYSCW, NAMES, FETCHED = NAMES, THREADS, FAULTS, RINGS, IDS };

/* The growth of a counter from the first to the last sample. Returns 0 with fewer than two. */
static int growth(const struct dft_counter_facts *facts, uint32_t process, uint64_t id, int64_t *value)
{
    const uint64_t *place = dft_map_find(&facts->places, dft_map_join(id, process));
    const struct dft_counter_fact *fact = place && *place ? &facts->list[*place - 1] : NULL;

    if (!fact || fact->samples < 2)
        return 0;
    *value = dft_int_of(fact->last - fact->first);
    return 1;
}

/* Does the kernel count children of the process as its own? It does for those of a process with
 * threads. */
static int counts_children(const struct dft_counter_facts *facts, const struct dft_map *parents,
                           const struct dft_source_process *process, uint64_t threads)
{
    const uint64_t *place = dft_map_find(&facts->places, dft_map_join(threads, process->number));

    return place && *place && facts->list[*place - 1].most > 1 && dft_map_find(parents, process->key);
}

/* Sums of what a damaged trace says may wrap around. */
static void add(int64_t *sum, int64_t more, int64_t less)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)more - (uint64_t)less);
}

static void add_process(struct dft_kernel_io *io, const struct dft_counter_facts *facts, uint32_t process,
                        const uint64_t ids[IDS])
{
    int64_t values[NAMES], fetched;
    unsigned i = 0;

    while (i < NAMES && growth(facts, process, ids[i], &values[i]))
        i++;
    io->known[process] = i == NAMES;
    if (!io->known[process])
        return;
    io->processes++;
    add(&io->read, values[RCHAR], values[TRACER_RCHAR]);
    add(&io->written, values[WCHAR], values[TRACER_WCHAR]);
    add(&io->read_calls, values[SYSCR], 0);
    add(&io->write_calls, values[SYSCW], 0);
    if (!growth(facts, process, ids[FETCHED], &fetched))
        return;
    add(&io->fetched, fetched, 0);
    add(&io->fetched_of, values[RCHAR], values[TRACER_RCHAR]);
}

/* What no process counts for its children. */
static void add_marks(struct dft_kernel_io *io, const struct dft_counter_facts *facts, uint32_t process,
                      const uint64_t ids[IDS])
{
    const uint64_t *ring = dft_map_find(&facts->places, dft_map_join(ids[RINGS], process));
    int64_t faults;

    io->ringed += ring && *ring;
    if (!growth(facts, process, ids[FAULTS], &faults))
        return;
    io->counts_faults++;
    add(&io->faults, faults, 0);
}

static int add_processes(struct dft_kernel_io *io, const struct dft_counter_facts *facts, struct dft_source *source,
                         const uint64_t ids[IDS])
{
    struct dft_map parents = {0};
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    int rc = 0;

    io->known = calloc(count + 1u, 1);
    if (!io->known)
        return -ENOMEM;
    for (uint32_t p = 0; !rc && p < count; p++)
        if (processes[p].process.parent_key && !dft_map_put(&parents, processes[p].process.parent_key))
            rc = -ENOMEM;
    for (uint32_t p = 0; !rc && p < count; p++) {
        if (!counts_children(facts, &parents, &processes[p], ids[THREADS]))
            add_process(io, facts, p, ids);
        add_marks(io, facts, p, ids);
    }
    dft_map_fini(&parents);
    return rc;
}

int dft_kernel_io_collect(struct dft_kernel_io *io, struct dft_source *source, const struct dft_filter *filter)
{
    const uint64_t ids[IDS + 1] = {NAME("rchar"),
                                   NAME("wchar"),
                                   NAME("tracer_rchar"),
                                   NAME("tracer_wchar"),
                                   NAME("syscr"),
                                   NAME("syscw"),
                                   NAME("read_bytes"),
                                   NAME("threads"),
                                   NAME("major_faults"),
                                   NAME("io_uring"),
                                   0};
    struct dft_counter_facts facts;
    int rc;

    memset(io, 0, sizeof *io);
    if (dft_filter_is_partial(filter) || !dft_source_has_counters(source))
        return 0;
    rc = dft_source_counters(source, filter, ids, &facts);
    if (rc)
        return rc;
    rc = dft_comm_agree(add_processes(io, &facts, source, ids));
    dft_counter_facts_fini(&facts);
    if (rc)
        dft_kernel_io_fini(io);
    return rc;
}

void dft_kernel_io_fini(struct dft_kernel_io *io)
{
    free(io->known);
    io->known = NULL;
}
