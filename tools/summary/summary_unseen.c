/* SPDX-License-Identifier: MIT */
/* What the kernel counted of reads and writes (/proc/self/io) against what was seen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "format/hash.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "source/source_counters.h"
#include "summary/summary.h"

#define NAME(text) dft_name_id("process\0" text, sizeof "process\0" text - 1)

#define ODD 2000 /* less than one byte in so many is not said */

enum { RCHAR, WCHAR, TRACER_RCHAR, TRACER_WCHAR, NAMES, THREADS = NAMES, IDS };

/* The growth of a counter from the first to the last sample. Returns 0 with fewer than two. */
static int growth(const struct dft_counter_facts *facts, uint32_t process, uint64_t id, int64_t *value)
{
    const uint64_t *place = dft_map_find(&facts->places, dft_map_join(id, process));
    const struct dft_counter_fact *fact = place && *place ? &facts->list[*place - 1] : NULL;

    if (!fact || fact->samples < 2)
        return 0;
    *value = (int64_t)(fact->last - fact->first);
    return 1;
}

/* Does the kernel count children of the process as its own? It does for those of a process with threads. */
static int counts_children(const struct dft_counter_facts *facts, const struct dft_map *parents,
                           const struct dft_source_process *process, uint64_t threads)
{
    const uint64_t *place = dft_map_find(&facts->places, dft_map_join(threads, process->number));

    return place && *place && facts->list[*place - 1].most > 1 && dft_map_find(parents, process->key);
}

/* Adds what the kernel counted of each process, without tracing's own part. */
static int add_kernel(struct dft_unseen *unseen, const struct dft_counter_facts *facts,
                      const struct dft_source_process *processes, uint32_t count, const uint64_t ids[IDS],
                      uint8_t *known)
{
    struct dft_map parents = {0};
    int rc = 0;

    for (uint32_t p = 0; !rc && p < count; p++)
        if (processes[p].process.parent_key && !dft_map_put(&parents, processes[p].process.parent_key))
            rc = -ENOMEM;
    for (uint32_t p = 0; !rc && p < count; p++) {
        int64_t values[NAMES];
        unsigned i = 0;

        if (counts_children(facts, &parents, &processes[p], ids[THREADS]))
            continue;
        while (i < NAMES && growth(facts, p, ids[i], &values[i]))
            i++;
        known[p] = i == NAMES;
        if (!known[p])
            continue;
        unseen->processes++;
        unseen->read += values[RCHAR] - values[TRACER_RCHAR];
        unseen->written += values[WCHAR] - values[TRACER_WCHAR];
    }
    dft_map_fini(&parents);
    return rc;
}

/* The calls of the same processes. Only rank 0 has groups. */
static int add_seen(struct dft_summary *summary, struct dft_unseen *unseen, const uint8_t *known)
{
    struct dft_query query = {.by = {DFT_BY_PROCESS, DFT_BY_OP}, .nby = 2};
    struct dft_answer answer;
    int rc;

    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        query.ops |=
            (uint64_t)(dft_op_class((uint8_t)op) == DFT_CLASS_READ || dft_op_class((uint8_t)op) == DFT_CLASS_WRITE)
            << op;
    rc = dft_query_run(summary->source, &summary->options->filter, &query, &answer);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < answer.count; i++) {
        const struct dft_group *group = &answer.groups[i];

        if (!known[answer.process_group[group->key.process_group - 1]->number])
            continue;
        if (dft_op_class(group->key.op) == DFT_CLASS_READ)
            unseen->seen_read += group->metrics.bytes;
        else
            unseen->seen_written += group->metrics.bytes;
    }
    dft_answer_fini(&answer);
    return 0;
}

int dft_unseen_collect(struct dft_summary *summary, struct dft_unseen *unseen)
{
    const uint64_t ids[IDS + 1] = {NAME("rchar"),        NAME("wchar"),   NAME("tracer_rchar"),
                                   NAME("tracer_wchar"), NAME("threads"), 0};
    const struct dft_filter *filter = &summary->options->filter;
    const struct dft_source_process *processes;
    struct dft_counter_facts facts;
    uint32_t count;
    uint8_t *known;
    int rc;

    memset(unseen, 0, sizeof *unseen);
    if (dft_filter_is_partial(filter) || !dft_source_has_counters(summary->source))
        return 0;
    processes = dft_source_processes(summary->source, &count);
    rc = dft_source_counters(summary->source, filter, ids, &facts);
    if (rc)
        return rc;
    known = calloc(count + 1u, 1);
    rc = dft_comm_agree(known ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_comm_agree(add_kernel(unseen, &facts, processes, count, ids, known));
    if (!rc && unseen->processes)
        rc = add_seen(summary, unseen, known);
    free(known);
    dft_counter_facts_fini(&facts);
    return rc;
}

void dft_unseen_print(FILE *out, const struct dft_unseen *unseen)
{
    int64_t read = unseen->read - (int64_t)unseen->seen_read, written = unseen->written - (int64_t)unseen->seen_written;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    if (!unseen->processes || (read <= unseen->read / ODD && written <= unseen->written / ODD))
        return;
    fprintf(out, "%s of %s read, %s of %s written by system calls: raw calls, left-out files, pipes, the C library",
            dft_text_bytes(a, read > 0 ? (uint64_t)read : 0), dft_text_bytes(b, (uint64_t)unseen->read),
            dft_text_bytes(c, written > 0 ? (uint64_t)written : 0), dft_text_bytes(d, (uint64_t)unseen->written));
}

void dft_unseen_json(struct dft_json *json, const struct dft_unseen *unseen)
{
    if (!unseen->processes) {
        dft_json_null(json, "system_calls");
        return;
    }
    dft_json_object(json, "system_calls");
    dft_json_uint(json, "processes", unseen->processes);
    dft_json_int(json, "read_bytes", unseen->read);
    dft_json_int(json, "written_bytes", unseen->written);
    dft_json_uint(json, "seen_read_bytes", unseen->seen_read);
    dft_json_uint(json, "seen_written_bytes", unseen->seen_written);
    dft_json_int(json, "unseen_read_bytes", unseen->read - (int64_t)unseen->seen_read);
    dft_json_int(json, "unseen_written_bytes", unseen->written - (int64_t)unseen->seen_written);
    dft_json_end_object(json);
}
