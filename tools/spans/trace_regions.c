/* SPDX-License-Identifier: MIT */
/* Regions, spans and flows of traces. */
#include "spans/trace_regions.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/event.h"
#include "format/io.h"

static const struct dft_text none = {NULL, 0};

/* A region that is open. */
struct open {
    struct dft_uuid uuid;
    uint64_t end_ns, children;
    struct dft_trace_sums sums;
};

struct dft_trace_thread {
    struct open *list; /* the innermost is the last */
    uint32_t count, capacity;
    uint32_t process;
};

/* The span that a flow has come to. */
struct dft_trace_flow {
    struct dft_uuid at;
};

static void add_sums(struct dft_trace_sums *to, const struct dft_trace_sums *from)
{
    to->io_ns += from->io_ns;
    to->read_bytes += from->read_bytes;
    to->written_bytes += from->written_bytes;
    to->calls += from->calls;
}

int dft_trace_sums_put(struct dft_span_store *store, const struct dft_uuid *span, int64_t ns,
                       const struct dft_trace_sums *sums)
{
    int rc = dft_span_metric_number(store, span, ns, "io_ns", (int64_t)sums->io_ns);

    if (!rc)
        rc = dft_span_metric_number(store, span, ns, "read_bytes", (int64_t)sums->read_bytes);
    if (!rc)
        rc = dft_span_metric_number(store, span, ns, "written_bytes", (int64_t)sums->written_bytes);
    return rc ? rc : dft_span_metric_number(store, span, ns, "calls", (int64_t)sums->calls);
}

/* --- what is open ----------------------------------------------------------------------------- */

static struct dft_trace_thread *thread_of(struct dft_trace_regions *regions, const struct dft_event_at *at)
{
    uint64_t *number = dft_map_put(&regions->numbers, dft_map_join(at->process->number + 1u, at->tid));
    struct dft_trace_thread thread = {.process = at->process->number};

    if (!number)
        return NULL;
    if (!*number) {
        if (DFT_ARRAY_PUSH(regions->threads, regions->threads_capacity, regions->nthreads, thread))
            return NULL;
        *number = regions->nthreads;
    }
    return &regions->threads[*number - 1];
}

/* Where I/O of the thread is added now. */
static struct dft_trace_sums *sums_of(struct dft_trace_regions *regions, const struct dft_trace_thread *thread)
{
    return thread->count ? &thread->list[thread->count - 1].sums : &regions->processes[thread->process].sums;
}

static const struct dft_uuid *innermost(const struct dft_trace_regions *regions, const struct dft_trace_thread *thread)
{
    return thread->count ? &thread->list[thread->count - 1].uuid : &regions->processes[thread->process].uuid;
}

static int pop(struct dft_trace_regions *regions, struct dft_trace_thread *thread)
{
    struct open *region = &thread->list[--thread->count];

    add_sums(sums_of(regions, thread), &region->sums);
    if (!region->sums.calls)
        return 0;
    return dft_trace_sums_put(regions->store, &region->uuid, (int64_t)region->end_ns, &region->sums);
}

/* What ends before the event starts is over. One that ends when the event starts is around it where
 * the event says that so many regions are. */
static int pop_ended(struct dft_trace_regions *regions, struct dft_trace_thread *thread, const struct dft_event *event)
{
    int rc = 0;

    while (!rc && thread->count) {
        uint64_t end_ns = thread->list[thread->count - 1].end_ns;

        if (end_ns > event->start_ns || (end_ns == event->start_ns && thread->count <= event->depth))
            break;
        rc = pop(regions, thread);
    }
    return rc;
}

/* --- spans ------------------------------------------------------------------------------------ */

/* "dftrace.region.CATEGORY.NAME"; NULL: no memory. */
static char *type_of(const struct dft_trace_regions *regions, const char *prefix, uint64_t call, int with_category)
{
    struct dft_text category, name;
    char text[18], *type;

    dft_names_call(regions->names, call, &category, &name, text);
    if (!with_category)
        category.length = 0;
    return asprintf(&type, "%s%.*s%s%.*s", prefix, (int)category.length, category.length ? category.bytes : "",
                    category.length ? "." : "", (int)name.length, name.length ? name.bytes : "") < 0
               ? NULL
               : type;
}

/* Puts a span with its events. end_ns: UINT64_MAX: not known. */
static int put_span(struct dft_trace_regions *regions, const struct dft_uuid *uuid, const char *type, uint64_t start_ns,
                    uint64_t end_ns)
{
    int rc = dft_span_put_as(regions->store, uuid, dft_text_from(type), none);

    if (!rc)
        rc = dft_span_event(regions->store, uuid, (int64_t)start_ns, dft_text_from("begin"), none);
    if (!rc && end_ns != UINT64_MAX)
        rc = dft_span_event(regions->store, uuid, (int64_t)end_ns, dft_text_from("end"), none);
    return rc;
}

/* A UUID of a process's key and two numbers. */
static void uuid_of(struct dft_uuid *uuid, const char *kind, uint64_t key, uint64_t a, uint64_t b)
{
    uint64_t numbers[] = {htole64(key), htole64(a), htole64(b)};
    struct dft_text names[] = {dft_text_from(kind), {(const char *)numbers, sizeof numbers}};

    dft_uuid_of(uuid, names, 2);
}

static int push(struct dft_trace_regions *regions, struct dft_trace_thread *thread, const struct dft_event_at *at)
{
    struct open region = {.end_ns = at->event->start_ns + at->event->dur_ns};
    uint64_t *children =
        thread->count ? &thread->list[thread->count - 1].children : &regions->processes[thread->process].children;
    char *type = type_of(regions, "dftrace.region.", at->call, 1), key[24];
    int rc;

    uuid_of(&region.uuid, "region", at->process->key, at->stream, at->sequence);
    snprintf(key, sizeof key, "%" PRIu64, (*children)++);
    rc = type ? put_span(regions, &region.uuid, type, at->event->start_ns, region.end_ns) : -ENOMEM;
    free(type);
    if (!rc)
        rc = dft_span_below(regions->store, innermost(regions, thread), &region.uuid, dft_text_from(key), none);
    return rc ? rc : DFT_ARRAY_PUSH(thread->list, thread->capacity, thread->count, region);
}

/* --- asynchronous spans, and flows ------------------------------------------------------------ */

/* The id of the span around one that begins, or 0. */
static uint64_t parent_of(const struct dft_trace_regions *regions, const struct dft_event_at *at)
{
    for (uint32_t i = 0; i < at->nargs; i++) {
        struct dft_text category, name;
        char text[18];

        dft_names_call(regions->names, at->args[i].key, &category, &name, text);
        if (name.length == 6 && !memcmp(name.bytes, "parent", 6) && at->args[i].type == DFT_ARG_INT)
            return (uint64_t)at->args[i].i;
    }
    return 0;
}

/* The UUID of the span that has this id now. Programs may use an id again: the start tells spans
 * apart. */
static void span_uuid(const struct dft_trace_regions *regions, const struct dft_event_at *at, uint64_t id,
                      struct dft_uuid *uuid)
{
    const uint64_t *start = dft_map_find(&regions->span_starts, dft_map_join(at->process->number + 1u, id));

    uuid_of(uuid, "span", at->process->key, id, start ? *start : at->event->start_ns);
}

/* A begin and the complete event of a span stand together, for they have one start. */
static int keep_start(struct dft_trace_regions *regions, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    uint64_t *start, end_ns = event->start_ns + event->dur_ns;

    if (event->start_ns > regions->span_ends_ns)
        dft_map_clear(&regions->span_starts); /* all of them are over */
    start = dft_map_put(&regions->span_starts, dft_map_join(at->process->number + 1u, event->id));
    if (!start)
        return -ENOMEM;
    if (event->phase == DFT_PHASE_ASYNC_BEGIN && *start != event->start_ns)
        end_ns = UINT64_MAX; /* no complete event came before: it may never end */
    *start = event->start_ns;
    if (end_ns > regions->span_ends_ns)
        regions->span_ends_ns = end_ns;
    return 0;
}

static int put_below_parent(struct dft_trace_regions *regions, const struct dft_event_at *at,
                            const struct dft_uuid *uuid)
{
    struct dft_uuid above = regions->processes[at->process->number].uuid;
    uint64_t parent = parent_of(regions, at);
    char key[24];

    if (parent && dft_map_find(&regions->span_starts, dft_map_join(at->process->number + 1u, parent)))
        span_uuid(regions, at, parent, &above);
    snprintf(key, sizeof key, "span %" PRIx64, at->event->id);
    return dft_span_below(regions->store, &above, uuid, dft_text_from(key), none);
}

/* A begin says what the parent is, the complete event when it ended. An end alone is that of a span
 * whose begin nobody knows. */
static int put_part(struct dft_trace_regions *regions, const struct dft_event_at *at, const char *type)
{
    const struct dft_event *event = at->event;
    int is_complete = event->phase == DFT_PHASE_COMPLETE, rc = 0;
    struct dft_uuid uuid;

    if (event->phase != DFT_PHASE_ASYNC_END)
        rc = keep_start(regions, at);
    span_uuid(regions, at, event->id, &uuid);
    if (!rc && event->phase == DFT_PHASE_ASYNC_END)
        rc = dft_span_put_as(regions->store, &uuid, dft_text_from(type), none);
    if (!rc && event->phase == DFT_PHASE_ASYNC_END)
        return dft_span_event(regions->store, &uuid, (int64_t)event->start_ns, dft_text_from("end"), none);
    if (!rc)
        rc =
            put_span(regions, &uuid, type, event->start_ns, is_complete ? event->start_ns + event->dur_ns : UINT64_MAX);
    return rc || is_complete ? rc : put_below_parent(regions, at, &uuid);
}

static int take_span(struct dft_trace_regions *regions, const struct dft_event_at *at)
{
    uint8_t phase = at->event->phase;
    char *type;
    int rc;

    if (phase != DFT_PHASE_ASYNC_BEGIN && phase != DFT_PHASE_ASYNC_END && phase != DFT_PHASE_COMPLETE)
        return 0;
    type = type_of(regions, "dftrace.span.", at->call, 0);
    regions->store->quiet_known++;
    rc = type ? put_part(regions, at, type) : -ENOMEM;
    regions->store->quiet_known--;
    free(type);
    return rc;
}

static struct dft_trace_flow *flow_of(struct dft_trace_regions *regions, uint64_t *number, int *is_new)
{
    struct dft_trace_flow flow = {{{0}}};

    *is_new = !*number;
    if (!*number) {
        if (DFT_ARRAY_PUSH(regions->flows, regions->flows_capacity, regions->nflows, flow))
            return NULL;
        *number = regions->nflows;
        regions->open_flows++;
    }
    return &regions->flows[*number - 1];
}

/* A flow leads from the region in which it was to the one in which it comes next. */
static int take_flow(struct dft_trace_regions *regions, const struct dft_trace_thread *thread,
                     const struct dft_event_at *at)
{
    const struct dft_uuid *here = innermost(regions, thread);
    uint64_t *number = dft_map_put(&regions->flow_numbers, dft_map_join(at->event->id, at->call));
    struct dft_trace_flow *flow;
    char *key;
    int rc = 0, is_new;

    flow = number ? flow_of(regions, number, &is_new) : NULL;
    if (!flow)
        return -ENOMEM;
    if (!is_new && memcmp(&flow->at, here, sizeof *here) != 0) {
        key = type_of(regions, "flow ", at->call, 0);
        rc = key ? dft_span_below(regions->store, &flow->at, here, dft_text_from(key), dft_text_from("flow")) : -ENOMEM;
        free(key);
    }
    flow->at = *here;
    if (at->event->phase != DFT_PHASE_FLOW_END)
        return rc;
    *number = 0;
    if (!--regions->open_flows) {
        dft_map_clear(&regions->flow_numbers);
        regions->nflows = 0;
    }
    return rc;
}

/* --- events ----------------------------------------------------------------------------------- */

static void count_io(struct dft_trace_sums *sums, const struct dft_event_at *at)
{
    uint64_t bytes = dft_event_bytes(at->event, at->op);

    if (!dft_is_io(at->io) || at->event->phase != DFT_PHASE_COMPLETE || dft_op_class(at->op) == DFT_CLASS_MARK)
        return;
    sums->io_ns += at->event->dur_ns;
    sums->calls += at->event->calls;
    if (dft_op_class(at->op) == DFT_CLASS_READ)
        sums->read_bytes += bytes;
    else if (dft_op_class(at->op) == DFT_CLASS_WRITE)
        sums->written_bytes += bytes;
}

int dft_trace_regions_take(void *context, const struct dft_event_at *at)
{
    struct dft_trace_regions *regions = context;
    struct dft_trace_thread *thread = thread_of(regions, at);
    int rc = thread ? pop_ended(regions, thread, at->event) : -ENOMEM;

    if (rc)
        return rc;
    if (at->event->bits & DFT_BIT_OPEN) /* it has no end, and nothing is in it */
        return 0;
    if (at->op == DFT_OP_FLOW)
        return take_flow(regions, thread, at);
    if (at->op == DFT_OP_REGION && at->event->id)
        return take_span(regions, at);
    if (at->op == DFT_OP_REGION)
        return at->event->phase == DFT_PHASE_COMPLETE ? push(regions, thread, at) : 0;
    count_io(sums_of(regions, thread), at);
    return 0;
}

int dft_trace_regions_finish(struct dft_trace_regions *regions)
{
    int rc = 0;

    for (uint32_t i = 0; i < regions->nthreads; i++)
        while (!rc && regions->threads[i].count)
            rc = pop(regions, &regions->threads[i]);
    return rc;
}

void dft_trace_regions_fini(struct dft_trace_regions *regions)
{
    for (uint32_t i = 0; i < regions->nthreads; i++)
        free(regions->threads[i].list);
    free(regions->threads);
    free(regions->flows);
    dft_map_fini(&regions->numbers);
    dft_map_fini(&regions->flow_numbers);
    dft_map_fini(&regions->span_starts);
}
