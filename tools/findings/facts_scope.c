/* SPDX-License-Identifier: MIT */
/* What facts are about: the time of the processes that a filter chooses, and what it leaves out. */
#include "findings/facts_ask.h"
#include "object/source_node.h"

/* --- what is all of the time ------------------------------------------------------------------ */

static void measure_time(struct dft_facts *facts)
{
    const struct dft_findings_request *request = facts->request;
    const struct dft_filter *filter = request->filter;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);
    uint64_t first = UINT64_MAX, last = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t start, end;

        if (dft_process_is_node(&processes[i]) || !dft_filter_process(filter, &processes[i]))
            continue;
        dft_process_lifetime(&processes[i], &start, &end);
        facts->uncut_ns += request->job->threads_of[i] * (end - start);
        facts->overhead_ns += processes[i].end.overhead_ns;
        start = start > filter->from_ns ? start : filter->from_ns;
        end = end < filter->to_ns ? end : filter->to_ns;
        if (end < start || !end)
            continue;
        facts->processes++;
        facts->total_ns += end - start;
        facts->threads_ns += request->job->threads_of[i] * (end - start);
        first = start < first ? start : first;
        last = end > last ? end : last;
    }
    facts->start_ns = first < last ? first : last;
    facts->wall_ns = last - facts->start_ns;
}

/* Options that choose processes; some of a rank, or of those that a process started. */
#define SOME_PROCESSES (DFT_FILTER_BIT(PID) | DFT_FILTER_BIT(PROGRAM) | DFT_FILTER_BIT(ROLE))
#define PROCESSES      (SOME_PROCESSES | DFT_FILTER_BIT(RANK) | DFT_FILTER_BIT(HOST))
#define FILES          (DFT_FILTER_BIT(FILE) | DFT_FILTER_BIT(DIR) | DFT_FILTER_BIT(EXT) | DFT_FILTER_BIT(MOUNT))
#define TIMES          (DFT_FILTER_BIT(FROM) | DFT_FILTER_BIT(TO) | DFT_FILTER_BIT(LAST))

uint64_t dft_facts_options(const struct dft_facts *facts, unsigned lacks)
{
    uint64_t options = 0;

    options |= lacks & DFT_LACKS_CALLS ? DFT_FILTER_OF_CALLS : 0;
    options |= lacks & DFT_LACKS_FILES ? FILES : 0;
    options |= lacks & DFT_LACKS_PROCESSES ? SOME_PROCESSES : 0;
    options |= lacks & DFT_LACKS_RANKS ? PROCESSES : 0;
    options |= lacks & DFT_LACKS_TIMES ? TIMES : 0;
    return options & dft_filter_options(facts->request->filter);
}

static int leaves_out_processes(const struct dft_findings_request *request)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);

    for (uint32_t i = 0; i < count; i++)
        if (!dft_process_is_node(&processes[i]) && !dft_filter_process(request->filter, &processes[i]))
            return 1;
    return 0;
}

static unsigned find_lacks(const struct dft_facts *facts)
{
    const struct dft_findings_request *request = facts->request;
    const struct dft_filter *filter = request->filter;
    const struct dft_job *job = request->job;
    const uint64_t options = dft_filter_options(filter);
    unsigned lacks = options & DFT_FILTER_OF_CALLS ? DFT_LACKS_CALLS : 0;

    if (dft_filter_has_files(filter)) /* rows of files know no calls */
        lacks |= DFT_LACKS_FILES | (dft_source_kept(request->source) == DFT_KEPT_ALL ? 0 : DFT_LACKS_CALLS);
    if (leaves_out_processes(request)) {
        lacks |= options & SOME_PROCESSES ? DFT_LACKS_PROCESSES : 0;
        lacks |= facts->ranks < job->ranks || !job->ranks ? DFT_LACKS_RANKS : 0;
    }
    if (filter->from_ns > job->start_ns || filter->to_ns < job->start_ns + job->wall_ns)
        lacks |= DFT_LACKS_TIMES;
    return lacks;
}

void dft_facts_measure(struct dft_facts *facts)
{
    measure_time(facts);
    facts->lacks = find_lacks(facts);
}
