/* SPDX-License-Identifier: MIT */
/* Collects reads and writes by the size of their requests, and estimates what larger ones would
 * save. */
#include "findings/rules.h"
#include "findings/sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturate.h"
#include "format/ops.h"

#define OP(op)     (UINT64_C(1) << (op))
#define MEASURED   (UINT64_C(1) << 20) /* bytes; a rate of fewer says little */
#define COPY_A_NS  2u                  /* bytes: memory is copied at 2 GB/s at least */
#define STREAM_NS  20u                 /* a call of a stream that finds its data in the buffer */
#define CHARACTERS 2u                  /* the size class of 1 byte */

uint64_t dft_flow_ops(enum dft_flow flow)
{
    static const uint64_t ops[DFT_FLOWS] = {OP(DFT_OP_READ) | OP(DFT_OP_PREAD), OP(DFT_OP_WRITE) | OP(DFT_OP_PWRITE),
                                            OP(DFT_OP_FREAD) | OP(DFT_OP_FGETS), OP(DFT_OP_FWRITE) | OP(DFT_OP_FPUTS)};

    return ops[flow];
}

static int is_stream(enum dft_flow flow)
{
    return flow == DFT_FLOW_STREAM_IN || flow == DFT_FLOW_STREAM_OUT;
}

static enum dft_flow flow_of(uint8_t op)
{
    unsigned flow = 0;

    while (flow < DFT_FLOWS && !(dft_flow_ops((enum dft_flow)flow) >> op & 1))
        flow++;
    return (enum dft_flow)flow;
}

static struct dft_size_unit *find(struct dft_size_units *units, uint64_t pattern, enum dft_flow flow)
{
    for (size_t i = 0; i < units->count; i++)
        if (units->list[i].pattern == pattern && units->list[i].flow == flow)
            return &units->list[i];
    return NULL;
}

/* A burst of characters has no mean size of its own: what a stream moves without a size are
 * characters. */
static unsigned size_of(const struct dft_group *group, enum dft_flow flow)
{
    unsigned size = dft_facets_size_class(group->key.facets);

    return is_stream(flow) && size < CHARACTERS ? CHARACTERS : size;
}

/* Streams go on where they are; a call without an offset (of a pipe) follows the one before, too.
 * Behind the end of the one before, with a gap, is where half of all accesses at random are. */
static void add_order(struct dft_size_sum *sum, const struct dft_group *group, enum dft_flow flow, int has_access)
{
    const struct dft_metrics *m = &group->metrics;
    uint8_t access = dft_facets_access(group->key.facets);
    uint64_t apart = m->random + m->strided + m->sequential - m->consecutive;

    if (has_access)
        apart = access == DFT_ACCESS_NONE || access == DFT_ACCESS_CONSECUTIVE ? 0 : m->data;
    sum->placed += m->data;
    sum->random += has_access ? (access == DFT_ACCESS_RANDOM ? m->data : 0) : m->random;
    sum->has_offsets |= m->offset_max >= 0;
    sum->in_order += is_stream(flow) ? m->data : m->data - (apart < m->data ? apart : m->data);
}

static int add(struct dft_size_units *units, const struct dft_group *group, uint64_t request, int has_access)
{
    enum dft_flow flow = flow_of(group->key.op);
    struct dft_size_unit *unit;
    struct dft_size_sum *sum;
    unsigned size;

    if (flow == DFT_FLOWS || dft_facets_err(group->key.facets))
        return 0;
    if (!group->metrics.count) /* writing halves of transfers: the time is that of the reading ones */
        return 0;
    size = size_of(group, flow);
    unit = find(units, group->key.file, flow);
    if (!unit) {
        if (DFT_ARRAY_PUSH(
                units->list, units->capacity, units->count,
                (struct dft_size_unit){
                    .group = group->key.file ? group : NULL, .pattern = group->key.file, .flow = flow, .end = -1}))
            return -ENOMEM;
        unit = &units->list[units->count - 1];
    }
    unit->end = group->metrics.offset_max > unit->end ? group->metrics.offset_max : unit->end;
    sum = &unit->sums[size];
    sum->calls += group->metrics.count;
    sum->time_ns += group->metrics.dur_sum;
    sum->bytes += group->metrics.bytes;
    add_order(sum, group, flow, has_access);
    if (dft_size_class_low((uint8_t)size) < request)
        return 0;
    units->large[flow].time_ns += group->metrics.dur_sum;
    units->large[flow].bytes += group->metrics.bytes;
    return 0;
}

static void add_opens_and_seeks(struct dft_size_units *units, const struct dft_group *group)
{
    int is_open = group->key.op == DFT_OP_OPEN || group->key.op == DFT_OP_FOPEN,
        is_seek = group->key.op == DFT_OP_FSEEK;
    uint64_t n = group->metrics.count - group->metrics.errors;

    for (size_t i = 0; (is_open || is_seek) && i < units->count; i++)
        if (units->list[i].pattern == group->key.file)
            *(is_open ? &units->list[i].opens : &units->list[i].seeks) += n;
}

/* Reads and writes of processes whose system calls nobody counted, as of those that end by exec or are killed. */
struct uncounted {
    uint64_t calls, bytes;
};

static void find_uncounted(const struct dft_facts *facts, struct uncounted uncounted[2])
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_PROCESSES];

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct uncounted *of = &uncounted[group->key.class == DFT_IO_WRITE];

        if ((group->key.class != DFT_IO_READ && group->key.class != DFT_IO_WRITE) ||
            facts->io.known[answer->process_group[group->key.process_group - 1]->number])
            continue;
        of->calls += group->metrics.count;
        of->bytes += group->metrics.bytes;
    }
}

/* The system calls that moved data and are no calls of the program are those of its streams, and of tracing. So a
 * stream moves as much by each at least as if all of them were its own. Where too much is not counted, it is not
 * known. */
static void add_flushes(const struct dft_facts *facts, struct dft_size_units *units)
{
    uint64_t hidden[2] = {dft_uint_of((double)facts->io.read_calls), dft_uint_of((double)facts->io.write_calls)};
    struct uncounted uncounted[2] = {{0}};

    if (!facts->io.processes || facts->answers[DFT_FACT_PROCESSES].found > facts->answers[DFT_FACT_PROCESSES].count)
        return;
    find_uncounted(facts, uncounted);
    for (size_t i = 0; i < units->count; i++)
        for (unsigned size = 0; !is_stream(units->list[i].flow) && size < DFT_SIZE_CLASSES; size++) {
            uint64_t calls = units->list[i].sums[size].calls, *of = &hidden[units->list[i].flow == DFT_FLOW_WRITE];

            *of -= calls < *of ? calls : *of;
        }
    for (size_t i = 0; i < units->count; i++) {
        struct dft_size_unit *unit = &units->list[i];
        const struct uncounted *rest = &uncounted[unit->flow == DFT_FLOW_STREAM_OUT];
        uint64_t bytes = 0, calls = hidden[unit->flow == DFT_FLOW_STREAM_OUT] + rest->calls;

        for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++)
            bytes += unit->sums[size].bytes;
        if (is_stream(unit->flow) && rest->calls * 2 <= calls && rest->bytes * 2 <= bytes)
            unit->flush = (bytes - rest->bytes) / (calls ? calls : 1);
    }
}

int dft_sizes_collect(const struct dft_facts *facts, uint64_t request, struct dft_size_units *units)
{
    int by_pattern = facts->has_file_ops && dft_facts_has(facts, DFT_FACT_PATTERNS), rc = 0;
    const struct dft_answer *answer = &facts->answers[by_pattern ? DFT_FACT_PATTERNS : DFT_FACT_CALLS];

    memset(units, 0, sizeof *units);
    for (uint32_t i = 0; !rc && i < answer->count; i++)
        rc = add(units, &answer->groups[i], request, !by_pattern);
    for (uint32_t i = 0; !rc && i < answer->count; i++)
        add_opens_and_seeks(units, &answer->groups[i]);
    if (!rc)
        add_flushes(facts, units);
    if (rc)
        dft_sizes_fini(units);
    return rc;
}

void dft_sizes_fini(struct dft_size_units *units)
{
    free(units->list);
    memset(units, 0, sizeof *units);
}

static struct dft_size_sum large_of(const struct dft_size_unit *unit, uint64_t request)
{
    struct dft_size_sum large = {0};

    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++) {
        if (dft_size_class_low((uint8_t)size) < request)
            continue;
        large.bytes += unit->sums[size].bytes;
        large.time_ns += unit->sums[size].time_ns;
    }
    return large;
}

/* A write that takes longer than the slowest disk needs for its bytes waits for something else each
 * time: O_SYNC, a network, an append by many. What is left of that time with fewer and larger
 * writes. */
static double wait_of(const struct dft_rules *rules, const struct dft_size_sum *sum, double request)
{
    double moved = (double)sum->bytes, rate = (double)dft_limit(rules, DFT_LIMIT_SMALL_WRITES_RATE);

    if (!sum->has_offsets || sum->time_ns / sum->calls < dft_limit(rules, DFT_LIMIT_SMALL_READS_CACHED))
        return (double)sum->time_ns;
    return moved * 1e9 / rate + (moved / request + 1) * (double)sum->time_ns / (double)sum->calls;
}

int dft_sizes_are_apart(const struct dft_size_sum *sum)
{
    return sum->in_order * 2 < sum->placed;
}

/* What larger requests have to move: of places that are apart, all that lies between them, each time that the file is
 * opened. */
static uint64_t needed(const struct dft_size_unit *unit, const struct dft_size_sum *sum)
{
    uint64_t extent = unit->end > 0 ? dft_uint_of((double)unit->end * (double)(unit->opens ? unit->opens : 1)) : 0;

    return dft_sizes_are_apart(sum) && extent > sum->bytes ? extent : sum->bytes;
}

uint64_t dft_sizes_calls(const struct dft_size_unit *unit, const struct dft_size_sum *sum, uint64_t request)
{
    uint64_t bytes = needed(unit, sum), calls = bytes / request + (bytes % request != 0);

    return calls > unit->opens ? calls : unit->opens < sum->calls ? unit->opens : sum->calls;
}

/* As many calls as are needed take as long each: so it is below a page, and for pages that memory answers. */
static int is_by_calls(const struct dft_rules *rules, const struct dft_size_sum *sum, unsigned size, uint64_t tiny)
{
    return dft_size_class_low((uint8_t)size) < tiny ||
           (sum->bytes / sum->calls <= tiny &&
            sum->time_ns / sum->calls < dft_limit(rules, DFT_LIMIT_SMALL_READS_CACHED));
}

uint64_t dft_sizes_lost(const struct dft_rules *rules, const struct dft_size_units *units,
                        const struct dft_size_unit *unit, unsigned size, enum dft_yardstick *yardstick)
{
    int out = unit->flow == DFT_FLOW_WRITE;
    uint64_t request = dft_limit(rules, out ? DFT_LIMIT_SMALL_WRITES_REQUEST : DFT_LIMIT_SMALL_READS_REQUEST);
    uint64_t tiny = dft_limit(rules, out ? DFT_LIMIT_SMALL_WRITES_TINY : DFT_LIMIT_SMALL_READS_TINY);
    const struct dft_size_sum *sum = &unit->sums[size];
    struct dft_size_sum own = large_of(unit, request), run = units->large[unit->flow];
    double best, moved = (double)needed(unit, sum);

    *yardstick = DFT_YARD_NONE;
    if (!sum->calls || !sum->bytes || dft_size_class_low((uint8_t)size) >= request)
        return 0;
    if (own.bytes >= MEASURED && own.time_ns) {
        *yardstick = DFT_YARD_SAME_FILES;
        best = moved * (double)own.time_ns / (double)own.bytes;
    } else if (run.bytes >= MEASURED && run.time_ns) {
        *yardstick = DFT_YARD_SAME_RUN;
        best = moved * (double)run.time_ns / (double)run.bytes;
    } else if (is_by_calls(rules, sum, size, tiny)) {
        *yardstick = DFT_YARD_CALLS;
        best =
            moved / COPY_A_NS + (double)dft_sizes_calls(unit, sum, request) * (double)sum->time_ns / (double)sum->calls;
    } else if (out) {
        *yardstick = DFT_YARD_WAIT;
        best = wait_of(rules, sum, (double)request);
    } else {
        return 0;
    }
    best += is_stream(unit->flow) ? (double)sum->calls * STREAM_NS : 0;
    best = (double)sum->time_ns - best;
    if (dft_size_class_low((uint8_t)size) < tiny) /* a page at a time, wherever it is: the order does not matter */
        return dft_uint_of(best);
    return dft_uint_of(best * (double)sum->in_order / (double)(sum->placed ? sum->placed : 1));
}

/* The file of a pattern that has nine tenths of its time, if there is one. */
static const struct dft_group *find_file(const struct dft_facts *facts, const struct dft_size_unit *unit)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    const struct dft_group *first = NULL;
    uint64_t time_ns = 0, file_ns = 0;

    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++)
        time_ns += unit->sums[size].time_ns;
    for (uint32_t i = 0; unit->pattern && i < files->count; i++) { /* by time: the first has most */
        const struct dft_group *group = &files->groups[i];

        if (!(dft_flow_ops(unit->flow) >> group->key.op & 1) ||
            dft_facts_pattern(facts, group->key.file) != unit->pattern)
            continue;
        first = first ? first : group;
        file_ns += group->key.file == first->key.file ? group->metrics.dur_sum : 0; /* one group a size */
    }
    return file_ns >= time_ns / 10 * 9 ? first : NULL;
}

char *dft_size_unit_where(const struct dft_facts *facts, const struct dft_size_unit *unit,
                          const struct dft_group **file)
{
    *file = unit->group ? find_file(facts, unit) : NULL;
    if (*file)
        return dft_facts_text(&facts->answers[DFT_FACT_FILES], *file, DFT_BY_FILE);
    return unit->group ? dft_facts_pattern_text(facts, unit->pattern) : strdup("");
}
