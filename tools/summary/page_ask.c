/* SPDX-License-Identifier: MIT */
/* What the head of the page and all shares need: calls by class, the wall time of the processes,
 * the slowest of them. */
#include "summary/page_ask.h"

#include <string.h>

#include "format/ops.h"
#include "mpi/comm.h"
#include "judge/source_ending.h"
#include "object/source_node.h"
#include "base/saturate.h"

uint64_t dft_page_io_ops(void)
{
    uint64_t ops = 0;

    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        ops |= (uint64_t)dft_is_io(dft_op_io((uint8_t)op)) << op;
    return ops;
}

static void add_op(struct dft_page *page, const struct dft_group *group)
{
    page->ops |= UINT64_C(1) << (group->key.op < DFT_OP_COUNT ? group->key.op : DFT_OP_OTHER);
}

static void add_class(struct dft_page_class *class, const struct dft_metrics *metrics)
{
    class->count += metrics->count;
    class->errors += metrics->errors;
    class->time_ns += metrics->dur_sum;
    class->bytes += metrics->bytes;
    class->data += metrics->data;
}

/* Aggregates of files know classes, but no operations. */
static int ask_ops(struct dft_page *page)
{
    struct dft_query query = {.by = {DFT_BY_OP}, .nby = 1};
    struct dft_answer answer;
    int rc = dft_summary_ask(page->summary, &query, NULL, 0, DFT_SUMMARY_LINES, &answer);

    if (rc)
        return rc;
    for (uint32_t i = 0; i < answer.count; i++)
        add_op(page, &answer.groups[i]);
    dft_answer_fini(&answer);
    return 0;
}

/* The part of the run that the times of the filter leave. */
static void find_span(struct dft_page *page)
{
    const struct dft_filter *filter = &page->summary->options->filter;
    uint64_t start = page->summary->job.start_ns, end = start + page->summary->job.wall_ns;

    start = start < filter->from_ns ? filter->from_ns : start;
    end = end > filter->to_ns ? filter->to_ns : end;
    page->from_ns = start;
    page->span_ns = end > start ? end - start : 0;
}

/* Adds, for each process that passes the filter, the part of its life that does. */
static void add_lives(struct dft_page *page)
{
    const struct dft_filter *filter = &page->summary->options->filter;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(page->summary->source, &count);

    for (uint32_t p = 0; p < count; p++) {
        uint64_t start, end, life, uncut;

        if (dft_process_is_node(&processes[p]) || !dft_filter_process(filter, &processes[p]))
            continue;
        dft_process_lifetime(&processes[p], &start, &end);
        uncut = end > start ? end - start : 0;
        page->uncut_lives_ns += page->summary->job.threads_of[p] * uncut;
        page->overhead_ns += processes[p].end.overhead_ns;
        start = start < filter->from_ns ? filter->from_ns : start;
        end = end > filter->to_ns ? filter->to_ns : end;
        if (end < start && dft_filter_has_times(filter))
            continue;
        life = end > start ? end - start : 0;
        page->shortest_ns = page->processes && page->shortest_ns < life ? page->shortest_ns : life;
        page->longest_ns = page->longest_ns > life ? page->longest_ns : life;
        page->lives_ns += life;
        page->events += uncut ? dft_uint_of((double)processes[p].events * (double)life / (double)uncut) : 0;
        page->processes++;
    }
}

static void add_classes(struct dft_page *page, int with_ops)
{
    for (uint32_t i = 0; i < page->answer.count; i++) {
        const struct dft_group *group = &page->answer.groups[i];

        add_class(&page->classes[group->key.class], &group->metrics);
        if (dft_is_io(group->key.class))
            add_class(&page->io, &group->metrics);
        if (!dft_is_io(group->key.class) && (!with_ops || group->key.op != DFT_OP_REGION))
            page->waits_ns += group->metrics.dur_sum;
        if (with_ops)
            add_op(page, group);
    }
}

/* Do aggregates of files answer? These know no operations. */
static enum dft_kept_events kept_of(const struct dft_page *page)
{
    const struct dft_summary *summary = page->summary;

    return dft_filter_has_files(&summary->options->filter) ? dft_source_kept(summary->source) : DFT_KEPT_ALL;
}

unsigned dft_page_put(struct dft_page *page, struct dft_query_request *requests)
{
    enum dft_by who = page->summary->job.ranks > 1 ? DFT_BY_RANK : DFT_BY_PROCESS;

    find_span(page);
    add_lives(page);
    page->has_slowest = page->processes > 1;
    requests[0] =
        (struct dft_query_request){{.by = {DFT_BY_CLASS, DFT_BY_OP}, .nby = kept_of(page) == DFT_KEPT_ALL ? 2 : 1},
                                   {.at_once = DFT_SUMMARY_LINES},
                                   &page->answer};
    requests[1] = (struct dft_query_request){
        {.by = {(uint8_t)who}, .nby = 1, .classes = DFT_CLASSES_IO}, {.top = 1, .at_once = 1}, &page->slowest};
    return page->has_slowest ? 2 : 1;
}

int dft_page_take(struct dft_page *page)
{
    enum dft_kept_events kept = kept_of(page);
    int rc = 0;

    add_classes(page, kept == DFT_KEPT_ALL);
    if (kept == DFT_KEPT_SOME)
        rc = ask_ops(page);
    dft_page_answered(page, &page->answer, 0);
    dft_comm_broadcast(&page->ops, sizeof page->ops);
    return rc;
}

int dft_page_has_ops(const struct dft_page *page)
{
    return kept_of(page) != DFT_KEPT_NONE;
}

void dft_page_fini(struct dft_page *page)
{
    dft_answer_fini(&page->answer);
    dft_answer_fini(&page->slowest);
}

void dft_page_answered(struct dft_page *page, const struct dft_answer *answer, int of_files)
{
    *(of_files ? &page->files : &page->calls) = (struct dft_answer){.query = answer->query,
                                                                    .source = answer->source,
                                                                    .placed_rows = answer->placed_rows,
                                                                    .placed_events = answer->placed_events};
    page->has_files |= of_files;
    page->unsplit = answer->unsplit > page->unsplit ? answer->unsplit : page->unsplit;
}
