/* SPDX-License-Identifier: MIT */
/* Asks once for the answers that rules look at. */
#include "findings/facts_collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "findings/facts_ask.h"
#include "findings/facts_overlap.h"
#include "findings/facts_ranks.h"
#include "findings/untraced.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "query/answer_pages.h"

#define OP(op) (UINT64_C(1) << (op))

static int put_rows(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    uint64_t width;
    int rc = dft_facts_width(facts, DFT_FACT_WINDOWS, facts->has_file_ops, &width);

    if (rc)
        return rc;
    dft_facts_put(facts, questions, DFT_FACT_CALLS,
                  (struct dft_query){.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_SIZE,
                                            DFT_BY_ACCESS, DFT_BY_ERRNO},
                                     .nby = 7,
                                     .accesses = 1});
    dft_facts_put(facts, questions, DFT_FACT_TIMES,
                  (struct dft_query){.by = {DFT_BY_TIME, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_SIZE, DFT_BY_ERRNO},
                                     .nby = 5,
                                     .width_ns = width});
    dft_facts_put(
        facts, questions, DFT_FACT_REGIONS,
        (struct dft_query){.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_PROCESS}, .nby = 3, .ops = OP(DFT_OP_REGION)});
    return 0;
}

/* Queries by file: from events all that is known of calls, from rows of files only their
 * class. */
static struct dft_query by_file(const struct dft_facts *facts, enum dft_by by)
{
    struct dft_query query = {.by = {by, DFT_BY_CLASS}, .nby = 2};

    if (facts->has_file_ops) {
        query.nby = 5;
        query.by[2] = DFT_BY_OP;
        query.by[3] = DFT_BY_ERRNO;
        query.by[4] = DFT_BY_SIZE;
        query.accesses = 1;
    }
    return query;
}

static void put_files(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    struct dft_query files = by_file(facts, DFT_BY_FILE);

    files.patterns = 1;
    dft_facts_put(facts, questions, DFT_FACT_FILES, files);
    dft_facts_put(facts, questions, DFT_FACT_PATTERNS, by_file(facts, DFT_BY_PATTERN));
    dft_facts_put(facts, questions, DFT_FACT_DIRS,
                  (struct dft_query){
                      .by = {DFT_BY_DIR, DFT_BY_CLASS}, .nby = 2, .ops = facts->has_file_ops ? OP(DFT_OP_OPENDIR) : 0});
    if (facts->has_remote)
        dft_facts_put(facts, questions, DFT_FACT_MOUNTS, by_file(facts, DFT_BY_MOUNT));
    dft_places_put(facts, questions);
    if (!facts->has_file_ops)
        return;
    dft_facts_put(
        facts, questions, DFT_FACT_OPENS,
        (struct dft_query){.by = {DFT_BY_FILE, DFT_BY_PROCESS}, .nby = 2, .ops = OP(DFT_OP_OPEN) | OP(DFT_OP_FOPEN)});
    if (!facts->has_stacks)
        return;
    dft_facts_put(facts, questions, DFT_FACT_LINES,
                  (struct dft_query){.by = {DFT_BY_LINE, DFT_BY_FILE, DFT_BY_OP}, .nby = 3});
    dft_facts_put(facts, questions, DFT_FACT_ERRORS,
                  (struct dft_query){.by = {DFT_BY_LINE, DFT_BY_OP, DFT_BY_ERRNO}, .nby = 3});
}

static uint64_t count_events(const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    uint64_t events = 0;

    for (uint32_t i = 0; i < count; i++)
        events += processes[i].events;
    return events;
}

/* Did some process record stacks? */
static int has_stacks(const struct dft_source *source)
{
    static const char option[] = "DFTRACER_STACK=", none[] = "DFTRACER_STACK=0";
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    int has = 0;

    for (uint32_t i = 0; i < count && !has; i++) {
        const struct dft_text *options = &processes[i].process.options;

        has = options->length && memmem(options->bytes, options->length, option, sizeof option - 1) &&
              !memmem(options->bytes, options->length, none, sizeof none - 1);
    }
    return has;
}

/* All queries about calls. by_file: groups by file may be requested. */
static int ask(struct dft_facts *facts, struct dft_facts_questions *questions, uint64_t events, int by_file)
{
    int rc = dft_mounts_collect(facts);

    if (!rc)
        rc = put_rows(facts, questions);
    if (by_file) {
        put_files(facts, questions);
        dft_facts_put_ranks(facts, questions);
    }
    if (!rc)
        rc = dft_facts_ask(facts, questions, facts->request->filter);
    if (!rc)
        rc = dft_facts_collect_ranks(facts);
    if (!rc)
        rc = dft_accesses_collect(facts);
    if (!rc)
        rc = dft_places_collect(facts); /* knows what was mapped */
    if (!rc && by_file)
        rc = dft_lock_waits_collect(facts);
    if (!rc)
        rc = dft_failures_collect(facts);
    if (!rc)
        rc = dft_facts_collect_overlap(facts, events);
    if (!rc)
        rc = dft_kernel_io_collect(&facts->io, facts->request->source, facts->request->filter);
    return rc;
}

int dft_facts_collect(struct dft_facts *facts, const struct dft_findings_request *request)
{
    enum dft_kept_events kept = dft_source_kept(request->source);
    uint64_t events = count_events(request->source);
    struct dft_facts_questions questions;
    int few, rc;

    dft_facts_questions_init(&questions, request);
    memset(facts, 0, sizeof *facts);
    facts->request = request;
    rc = dft_comm_agree(dft_facts_count_ranks(facts));
    dft_facts_measure(facts);
    few = request->thorough || events <= dft_setting(DFT_SETTING_PAGE_EVENTS) * dft_source_threads(request->source);
    facts->has_too_many = !few && kept != DFT_KEPT_NONE;
    facts->has_stacks = has_stacks(request->source);
    facts->has_file_ops = few && kept == DFT_KEPT_ALL;
    dft_facts_put(facts, &questions, DFT_FACT_PROCESSES,
                  (struct dft_query){.by = {DFT_BY_PROCESS, DFT_BY_CLASS}, .nby = 2});
    if (!rc && facts->lacks & DFT_LACKS_CALLS) /* does anything pass? */
        rc = dft_facts_ask(facts, &questions, request->filter);
    else if (!rc)
        rc = ask(facts, &questions, events, few || kept == DFT_KEPT_NONE);
    if (!rc)
        rc = dft_untraced_collect(facts);
    if (rc)
        dft_facts_fini(facts);
    return rc;
}

void dft_facts_fini(struct dft_facts *facts)
{
    for (unsigned fact = 0; fact < DFT_FACTS; fact++)
        if (facts->asked >> fact & 1)
            dft_answer_fini(&facts->answers[fact]);
    facts->asked = 0;
    dft_places_fini(&facts->places);
    dft_accesses_fini(&facts->accesses);
    dft_overlap_fini(&facts->overlap);
    dft_file_grouping_fini(&facts->mounts);
    dft_kernel_io_fini(&facts->io);
    free(facts->untraced);
    facts->untraced = NULL;
}
