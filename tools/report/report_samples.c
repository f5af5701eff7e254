/* SPDX-License-Identifier: MIT */
/* Single events of the page: the calls and regions that take longest, and a sample of the accesses
 * of the files that moved the most bytes.
 *
 * Histograms say from which duration on events are kept, so one pass over the events is enough.
 * Which accesses are in the sample follows from their times and offsets alone, so that threads and
 * ranks do not matter. */
#include "report/report_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/hash.h"
#include "query/answer_pages.h"
#include "query/group_keys.h"
#include "query/query.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "intake/source_visit.h"

#define SLICES  120000u /* calls and, apart from them, a third as many regions */
#define OFFSETS 4000u   /* accesses of a file */

struct slice {
    uint64_t start_ns, dur_ns, bytes;
    uint32_t process, tid;
    uint32_t call, file;
    uint32_t lane;
    uint16_t depth, err;
};

struct access {
    uint64_t start_ns, offset, bytes;
    uint32_t file, who;    /* file: which of offset_files */
    uint8_t is_write, how; /* how: enum dft_access */
};

/* What one thread found. */
struct found {
    struct slice *slices;
    size_t nslices, slices_capacity;
    struct access *accesses;
    size_t naccesses, accesses_capacity;
    uint32_t *calls; /* value of each call of the batch */
    size_t calls_capacity;
    uint64_t events;
};

struct sampling {
    struct dft_report *report;
    struct dft_names *names;
    struct found *found;
    unsigned nfound;
    uint64_t shortest_ns[2];                   /* of calls, of regions */
    uint64_t chances[DFT_REPORT_OFFSET_FILES]; /* an access is kept when its hash is not above it */
};

/* --- how long an event must take -------------------------------------------------------------- */

/* The least duration of which at most `budget` events are not shorter. */
static uint64_t shortest_of(const uint64_t *bins, uint64_t budget)
{
    uint64_t sum = 0;

    for (uint32_t bin = DFT_BINS; bin--;) {
        sum += bins[bin];
        if (sum > budget)
            return bin + 1 < DFT_BINS ? dft_bin_low(bin + 1) : UINT64_MAX;
    }
    return 0;
}

static int choose_durations(struct sampling *sampling)
{
    const struct dft_query query = {.by = {DFT_BY_OP}, .nby = 1, .percentiles = 1, .bins = 1};
    uint64_t(*bins)[DFT_BINS] = calloc(2, sizeof *bins);
    struct dft_answer answer = {.count = 0};
    int rc =
        bins ? dft_query_run(sampling->report->source, &sampling->report->options->filter, &query, &answer) : -ENOMEM;

    for (uint32_t i = 0; !rc && i < answer.count; i++)
        for (uint32_t b = 0; b < answer.groups[i].nbins; b++)
            bins[answer.groups[i].key.op == DFT_OP_REGION][answer.groups[i].bins[b].bin % DFT_BINS] +=
                answer.groups[i].bins[b].count;
    if (!rc) {
        sampling->shortest_ns[0] = shortest_of(bins[0], SLICES);
        sampling->shortest_ns[1] = shortest_of(bins[1], SLICES / 3);
        dft_answer_fini(&answer);
    }
    free(bins);
    return rc;
}

/* --- one pass over the events ------------------------------------------------------------------ */

static int find_calls(const struct sampling *sampling, struct found *found, const struct dft_batch *batch)
{
    const struct dft_report *report = sampling->report;

    if (DFT_ARRAY_RESERVE(found->calls, found->calls_capacity, batch->ncalls + 1u))
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->ncalls; i++) {
        struct dft_text cat, name;
        char text[18];

        dft_names_call(sampling->names, batch->calls[i].id, &cat, &name, text);
        found->calls[i] = dft_report_call(report, dft_name_id(cat.bytes, cat.length),
                                          dft_name_id(name.bytes, name.length), batch->calls[i].io);
    }
    return 0;
}

static int add_slice(const struct sampling *sampling, struct found *found, const struct dft_batch *batch,
                     const struct dft_source_process *process, const struct dft_event *event)
{
    uint8_t op = batch->calls[event->call].op;
    struct slice slice = {.start_ns = event->start_ns,
                          .dur_ns = event->dur_ns,
                          .bytes = dft_event_bytes(event, op),
                          .process = process->number,
                          .tid = batch->tid,
                          .call = found->calls[event->call],
                          .file = dft_report_value(&sampling->report->file_of, event->file),
                          .depth = event->depth,
                          .err = event->err};

    return DFT_ARRAY_PUSH(found->slices, found->slices_capacity, found->nslices, slice);
}

static int add_access(const struct sampling *sampling, struct found *found, const struct dft_batch *batch,
                      const struct dft_source_process *process, const struct dft_event *event)
{
    const struct dft_report *report = sampling->report;
    uint8_t op = batch->calls[event->call].op;
    uint32_t file = 0;
    struct access access = {.start_ns = event->start_ns,
                            .offset = (uint64_t)event->offset,
                            .bytes = dft_event_bytes(event, op),
                            .who = report->who_of[process->number],
                            .is_write = dft_op_class(op) == DFT_CLASS_WRITE,
                            .how = (uint8_t)(dft_event_facets(event, op) >> 20 & 7)};

    while (file < report->noffset_files && report->offset_files[file] != event->file)
        file++;
    if (file == report->noffset_files || access.who == DFT_WHO_MAX ||
        dft_map_join(event->start_ns, (uint64_t)event->offset ^ batch->tid) > sampling->chances[file])
        return 0;
    access.file = file;
    return DFT_ARRAY_PUSH(found->accesses, found->accesses_capacity, found->naccesses, access);
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct sampling *sampling = context;
    const struct dft_filter *filter = &sampling->report->options->filter;
    struct found *found = &sampling->found[worker];
    int rc = find_calls(sampling, found, batch);

    (void)block;
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = event->call < batch->ncalls ? &batch->calls[event->call] : NULL;

        if (!call || !dft_event_counts(event, call->op) || !dft_filter_event(filter, event, call))
            continue;
        found->events++;
        if (event->dur_ns >= sampling->shortest_ns[call->op == DFT_OP_REGION])
            rc = add_slice(sampling, found, batch, process, event);
        if (!rc && event->file && dft_event_has_offset(event) && dft_op_is_data(call->op) && !event->err)
            rc = add_access(sampling, found, batch, process, event);
    }
    return rc;
}

static int wants_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct sampling *sampling = context;
    const struct dft_filter *filter = &sampling->report->options->filter;

    return sampling->report->row_of[process->number] && block->type == DFT_BLOCK_EVENTS &&
           dft_source_wants(sampling->report->source, filter, block);
}

static int visit(struct sampling *sampling)
{
    const struct dft_visit visit = {
        .context = sampling, .select = wants_block, .events = take_events, .progress = "events read"};

    sampling->nfound = dft_source_threads(sampling->report->source);
    sampling->found = calloc(sampling->nfound, sizeof *sampling->found);
    return sampling->found ? dft_source_visit(sampling->report->source, &visit) : -ENOMEM;
}

/* --- slices ----------------------------------------------------------------------------------- */

static int by_lane(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;

    DFT_ORDER(a->process, b->process); /* the row of the tree */
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(b->dur_ns, a->dur_ns);
    DFT_ORDER(a->depth, b->depth);
    DFT_ORDER(a->call, b->call);
    DFT_ORDER(a->file, b->file);
    return 0;
}

static void put_lanes(struct dft_report *report, struct slice *slices, size_t count)
{
    uint32_t lanes = 0;

    for (size_t i = 0; i < count; i++) {
        int is_same = i && slices[i - 1].process == slices[i].process && slices[i - 1].tid == slices[i].tid;

        lanes += !is_same;
        slices[i].lane = lanes - 1;
    }
    dft_data_begin_table(&report->data, "lanes", lanes);
    dft_data_begin_column(&report->data, "process", DFT_DATA_UNSIGNED);
    for (size_t i = 0; i < count; i++)
        if (!i || slices[i].lane != slices[i - 1].lane)
            dft_data_put(&report->data, slices[i].process);
    dft_data_begin_column(&report->data, "tid", DFT_DATA_UNSIGNED);
    for (size_t i = 0; i < count; i++)
        if (!i || slices[i].lane != slices[i - 1].lane)
            dft_data_put(&report->data, slices[i].tid);
}

static void put_slices(struct dft_report *report, const struct slice *slices, size_t count)
{
    struct dft_page_data *data = &report->data;

    dft_data_begin_table(data, "slices", count);
    DFT_DATA_COLUMN(data, "lane", DFT_DATA_DELTA, count, slices[i].lane);
    DFT_DATA_COLUMN(data, "start_ns", DFT_DATA_DELTA, count, dft_report_after(report, slices[i].start_ns));
    DFT_DATA_COLUMN(data, "dur_ns", DFT_DATA_UNSIGNED, count, slices[i].dur_ns);
    DFT_DATA_COLUMN(data, "depth", DFT_DATA_UNSIGNED, count, slices[i].depth);
    DFT_DATA_COLUMN(data, "c", DFT_DATA_UNSIGNED, count, slices[i].call);
    DFT_DATA_COLUMN(data, "f", DFT_DATA_UNSIGNED, count, slices[i].file);
    DFT_DATA_COLUMN(data, "b", DFT_DATA_UNSIGNED, count, slices[i].bytes);
    DFT_DATA_COLUMN(data, "err", DFT_DATA_UNSIGNED, count, slices[i].err);
}

static int end_slices(struct sampling *sampling)
{
    struct dft_report *report = sampling->report;
    struct found *all = &sampling->found[0];
    int rc = 0;

    for (unsigned k = 1; !rc && k < sampling->nfound; k++)
        for (size_t i = 0; !rc && i < sampling->found[k].nslices; i++)
            rc = DFT_ARRAY_PUSH(all->slices, all->slices_capacity, all->nslices, sampling->found[k].slices[i]);
    if (rc)
        return rc;
    for (size_t i = 0; i < all->nslices; i++)
        all->slices[i].process = report->row_of[all->slices[i].process] - 1;
    if (all->nslices)
        qsort(all->slices, all->nslices, sizeof *all->slices, by_lane);
    for (unsigned k = 0; k < sampling->nfound; k++)
        report->slices.of += sampling->found[k].events;
    report->slices.kept = all->nslices;
    report->slices.shortest_ns = sampling->shortest_ns[0];
    put_lanes(report, all->slices, all->nslices);
    put_slices(report, all->slices, all->nslices);
    return 0;
}

/* --- accesses --------------------------------------------------------------------------------- */

static int by_file(const void *left, const void *right)
{
    const struct access *a = left, *b = right;

    DFT_ORDER(a->file, b->file);
    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(a->offset, b->offset);
    DFT_ORDER(a->who, b->who);
    DFT_ORDER(a->bytes, b->bytes);
    return 0;
}

static void put_accesses(struct dft_report *report, const struct access *accesses, size_t count)
{
    struct dft_page_data *data = &report->data;

    dft_data_begin_table(data, "offsets", count);
    DFT_DATA_COLUMN(data, "f", DFT_DATA_DELTA, count,
                    dft_report_value(&report->file_of, report->offset_files[accesses[i].file]));
    DFT_DATA_COLUMN(data, "start_ns", DFT_DATA_DELTA, count, dft_report_after(report, accesses[i].start_ns));
    DFT_DATA_COLUMN(data, "offset", DFT_DATA_DELTA, count, accesses[i].offset);
    DFT_DATA_COLUMN(data, "b", DFT_DATA_UNSIGNED, count, accesses[i].bytes);
    DFT_DATA_COLUMN(data, "p", DFT_DATA_UNSIGNED, count, accesses[i].who);
    DFT_DATA_COLUMN(data, "is_write", DFT_DATA_BYTE, count, accesses[i].is_write);
    DFT_DATA_COLUMN(data, "how", DFT_DATA_BYTE, count, accesses[i].how);
}

static int end_accesses(struct sampling *sampling)
{
    struct dft_report *report = sampling->report;
    struct found *all = &sampling->found[0];
    int rc = 0;

    for (unsigned k = 1; !rc && k < sampling->nfound; k++)
        for (size_t i = 0; !rc && i < sampling->found[k].naccesses; i++)
            rc = DFT_ARRAY_PUSH(all->accesses, all->accesses_capacity, all->naccesses, sampling->found[k].accesses[i]);
    if (rc)
        return rc;
    if (all->naccesses)
        qsort(all->accesses, all->naccesses, sizeof *all->accesses, by_file);
    for (size_t i = 0; i < all->naccesses; i++)
        report->offsets[all->accesses[i].file].kept++;
    for (uint32_t i = 0; i < report->noffset_files; i++)
        report->offsets[i].of = report->offset_calls[i];
    put_accesses(report, all->accesses, all->naccesses);
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void sampling_fini(struct sampling *sampling)
{
    for (unsigned i = 0; sampling->found && i < sampling->nfound; i++) {
        free(sampling->found[i].slices);
        free(sampling->found[i].accesses);
        free(sampling->found[i].calls);
    }
    free(sampling->found);
}

int dft_report_samples(struct dft_report *report)
{
    struct sampling sampling = {.report = report, .names = dft_source_names_table(report->source)};
    int rc = choose_durations(&sampling);

    for (uint32_t i = 0; i < report->noffset_files; i++)
        sampling.chances[i] =
            report->offset_calls[i] > OFFSETS ? UINT64_MAX / report->offset_calls[i] * OFFSETS : UINT64_MAX;
    if (!rc && (dft_filter_has_files(&report->options->filter) || dft_filter_has_names(&report->options->filter)))
        rc = dft_source_names(report->source, NULL, 0);
    if (!rc)
        rc = dft_source_names_of_rows(report->source);
    if (!rc)
        rc = visit(&sampling);
    if (!rc)
        rc = end_slices(&sampling);
    if (!rc)
        rc = end_accesses(&sampling);
    sampling_fini(&sampling);
    return rc;
}
