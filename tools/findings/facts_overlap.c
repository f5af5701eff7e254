/* SPDX-License-Identifier: MIT */
/* Facts of computing and waiting: overlap, and processor time that nothing names. */
#include "findings/facts_overlap.h"

#include <errno.h>
#include <stdlib.h>

#include "format/hash.h"
#include "mpi/comm.h"
#include "views/source_counters.h"

#define NAME(text) dft_name_id("process\0" text, sizeof "process\0" text - 1)

/* The most processor time of a process that is neither in a region that computes nor in one that
 * loads items. */
static int measure_unnamed(struct dft_facts *facts, const struct dft_counter_facts *counters)
{
    const struct dft_overlap *overlap = &facts->overlap;
    uint32_t count;
    double *cpu;

    dft_source_processes(facts->request->source, &count);
    cpu = calloc(count + 1u, sizeof *cpu);
    if (!cpu)
        return -ENOMEM;
    for (size_t i = 0; i < counters->count; i++) {
        const struct dft_counter_fact *fact = &counters->list[i];

        if (fact->samples > 1 && fact->process < count)
            cpu[fact->process] += (double)(fact->last - fact->first);
        facts->has_cpu |= fact->samples > 1;
    }
    for (uint32_t i = 0; i < overlap->nprocesses; i++) {
        const struct dft_overlap_process *process = &overlap->processes[i];
        double named = (double)process->times.compute_ns + (double)(process->item_ns - process->item_io_ns);
        double unnamed = cpu[process->process] - named;

        if (unnamed > (double)facts->unnamed_ns)
            facts->unnamed_ns = (uint64_t)unnamed;
    }
    free(cpu);
    return 0;
}

static int ask_processors(struct dft_facts *facts)
{
    const struct dft_findings_request *request = facts->request;
    const uint64_t ids[] = {NAME("cpu_user_ns"), NAME("cpu_system_ns"), 0};
    struct dft_counter_facts counters;
    int rc;

    if (dft_filter_is_partial(request->filter) || !dft_source_has_counters(request->source))
        return 0;
    rc = dft_source_counters(request->source, request->filter, ids, &counters);
    if (rc)
        return rc;
    rc = dft_comm_agree(measure_unnamed(facts, &counters));
    dft_counter_facts_fini(&counters);
    return rc;
}

int dft_facts_collect_overlap(struct dft_facts *facts, uint64_t events)
{
    const struct dft_findings_request *asked = facts->request;
    int exact = dft_source_kept(asked->source) == DFT_KEPT_ALL && (asked->thorough || events <= DFT_FACT_SWEPT), rc;
    const struct dft_overlap_request request = {.source = asked->source,
                                                .filter = asked->filter,
                                                .patterns = dft_limits_patterns(asked->limits),
                                                .classes = DFT_CLASSES_OWN,
                                                .from = exact ? DFT_OVERLAP_EVENTS : DFT_OVERLAP_ROWS};

    facts->has_overlap = dft_facts_has(facts, DFT_FACT_REGIONS) && !dft_comm_rank() &&
                         dft_overlap_applies(&facts->answers[DFT_FACT_REGIONS], &request.patterns);
    dft_comm_broadcast(&facts->has_overlap, sizeof facts->has_overlap);
    if (!facts->has_overlap)
        return 0;
    rc = dft_overlap_make(&request, &facts->overlap);
    return rc ? rc : ask_processors(facts);
}
