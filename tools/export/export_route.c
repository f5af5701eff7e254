/* SPDX-License-Identifier: MIT */
/* Gives each event to the file in which it begins, and pieces of it to those in which it goes on. */
#include "export/export_route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"

struct dft_label {
    char *text; /* the record */
    size_t length;
};

/* --- one event or piece ----------------------------------------------------------------------- */

static unsigned zeros_of(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_ctzll(dft_map_join(a, b));
}

static char *copy(const char *bytes, size_t length)
{
    char *result = malloc(length + 1);

    if (result && length)
        memcpy(result, bytes, length);
    return result;
}

/* Keeps the record of a thread's name for the files behind. The last name counts. */
static int keep_label(struct dft_route *route)
{
    uint64_t *number = dft_map_put(&route->label_of, route->thread);
    struct dft_perfetto *p = route->p;
    struct dft_label *label;

    if (!number || !dft_perfetto_begin_text(p))
        return -ENOMEM;
    dft_perfetto_put(p, route->at, NULL);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    if (!*number) {
        if (DFT_ARRAY_PUSH(route->labels, route->labels_capacity, route->nlabels, (struct dft_label){0}))
            return -ENOMEM;
        *number = route->nlabels;
    }
    label = &route->labels[*number - 1];
    free(label->text);
    label->length = p->length;
    label->text = copy(p->text, p->length);
    return label->text ? 0 : -ENOMEM;
}

static int put_slice(struct dft_route *route)
{
    const struct dft_event_at *at = route->at;
    uint64_t dur_ns = dft_export_phase(at->event, at->op) == 'X' ? at->event->dur_ns : 0;
    const struct dft_source_process *child = NULL;
    int rc = dft_lanes_put(&route->lanes, DFT_LANE_SLICES, route->thread, at->event->start_ns, dur_ns);

    if (!rc && !(route->piece && route->piece->continues))
        child = dft_flows_child(&route->p->flows, at);
    return child ? route->link(route->context, zeros_of(child->key, 1), 1) : rc;
}

static int take(struct dft_route *route, const struct dft_event_at *at, const struct dft_piece *piece)
{
    uint32_t shown = route->p->pids.shown[at->process->number];
    const struct dft_event *event = at->event;
    int rc;

    route->at = at;
    route->piece = piece;
    route->cost = 0;
    route->bit = -1;
    route->thread = (uint64_t)shown << 32 | at->tid;
    switch (dft_perfetto_record(route->p, at)) {
    case DFT_RECORD_SLICE:
        return put_slice(route);
    case DFT_RECORD_REQUEST:
        return dft_lanes_put(&route->lanes, DFT_LANE_REQUESTS, route->thread, event->start_ns, event->dur_ns);
    case DFT_RECORD_SAMPLE:
        return dft_lanes_put(&route->lanes, DFT_LANE_SAMPLES, dft_map_join(shown, at->call), event->start_ns, 0);
    case DFT_RECORD_SPAN:
        return route->link(route->context, zeros_of(event->id, shown + UINT64_C(2)), 0);
    case DFT_RECORD_LINK:
        return route->link(route->context, zeros_of(event->id, 0), 0);
    case DFT_RECORD_EDGE:
        rc = dft_lanes_cut(&route->lanes, route->thread);
        return rc ? rc : route->always(route->context);
    case DFT_RECORD_LABEL:
        break;
    }
    rc = route->count > 1 ? keep_label(route) : 0;
    return rc ? rc : route->always(route->context);
}

/* --- borders ---------------------------------------------------------------------------------- */

/* Cuts an event to a file. */
static void cut(struct dft_piece *piece, const struct dft_plan *plan)
{
    uint64_t end_ns = piece->start_ns + piece->dur_ns;

    piece->continues = piece->start_ns < plan->from_ns && plan->part > 0;
    piece->goes_on = end_ns > plan->to_ns;
    piece->event.start_ns = piece->continues ? plan->from_ns : piece->start_ns;
    piece->event.dur_ns = (piece->goes_on ? plan->to_ns : end_ns) - piece->event.start_ns;
}

static void forget(struct dft_piece *piece)
{
    free(piece->category);
    free(piece->name);
    free(piece->args);
}

/* Keeps an event for the files behind. Its texts may be forgotten until then. */
static int wait_for_next(struct dft_route *route, const struct dft_piece *first)
{
    struct dft_perfetto *p = route->p;
    struct dft_piece piece = *first;
    struct dft_text category, name;
    char capacity[18];

    dft_names_call(p->export->names, first->at.call, &category, &name, capacity);
    if (!dft_perfetto_begin_text(p))
        return -ENOMEM;
    dft_json_init_unicode(&p->json, p->export->out);
    dft_json_object(&p->json, NULL);
    dft_perfetto_put_arguments(p, &first->at);
    dft_json_end_object(&p->json);
    if (dft_perfetto_end_text(p))
        return -ENOMEM;
    piece.category = copy(category.bytes, piece.category_length = category.length);
    piece.name = copy(name.bytes, piece.name_length = name.length);
    piece.args = copy(p->text + 1, piece.args_length = p->length - 2); /* without the braces */
    piece.at.args = NULL;
    piece.at.nargs = 0;
    if (piece.category && piece.name && piece.args &&
        !DFT_ARRAY_PUSH(route->waiting, route->capacity, route->nwaiting, piece))
        return 0;
    forget(&piece);
    return -ENOMEM;
}

/* Ends a file, begins the next one, and gives it what goes on. */
static int next_file(struct dft_route *route)
{
    struct dft_plan *plan = &route->plans[route->current];
    int rc = dft_lanes_finish(&route->lanes);
    size_t n = 0;

    rc = rc ? rc : route->end(route->context, plan++);
    if (rc)
        return rc;
    route->current++;
    rc = route->begin(route->context, plan);
    for (size_t i = 0; !rc && i < route->nlabels; i++)
        rc = route->text(route->context, route->labels[i].text, route->labels[i].length);
    for (size_t i = 0; i < route->nwaiting; i++) {
        struct dft_piece *piece = &route->waiting[i];

        cut(piece, plan);
        piece->at.event = &piece->event;
        rc = rc ? rc : take(route, &piece->at, piece);
        if (piece->goes_on)
            route->waiting[n++] = *piece;
        else
            forget(piece);
    }
    route->nwaiting = n;
    return rc;
}

/* A slice without an end is open in all files up to the end of its process. */
static int wait_open(struct dft_route *route, const struct dft_event_at *at)
{
    struct dft_piece piece = {.event = *at->event, .at = *at, .start_ns = at->event->start_ns};
    uint64_t start_ns, end_ns;

    dft_process_lifetime(at->process, &start_ns, &end_ns);
    piece.dur_ns = end_ns > piece.start_ns ? end_ns - piece.start_ns : 0;
    return end_ns > route->plans[route->current].to_ns ? wait_for_next(route, &piece) : 0;
}

/* The innermost open slice of a thread ends. */
static void end_open(struct dft_route *route, const struct dft_event_at *at)
{
    for (size_t i = route->nwaiting; i-- > 0;) {
        struct dft_piece *piece = &route->waiting[i];

        if (piece->at.process != at->process || piece->at.tid != at->tid ||
            dft_export_phase(&piece->event, piece->at.op) != 'B')
            continue;
        forget(piece);
        memmove(piece, piece + 1, (--route->nwaiting - i) * sizeof *piece);
        return;
    }
}

/* Takes an event that may end behind its file. */
static int take_long(struct dft_route *route, const struct dft_event_at *at, uint64_t to_ns)
{
    const struct dft_event *event = at->event;
    char phase = dft_export_phase(event, at->op);
    struct dft_piece piece;
    int rc = 0;

    if (phase != 'X' || event->start_ns + event->dur_ns <= to_ns) {
        if (phase == 'B')
            rc = wait_open(route, at);
        else if (phase == 'E')
            end_open(route, at);
        return rc ? rc : take(route, at, NULL);
    }
    piece = (struct dft_piece){.event = *event, .at = *at, .start_ns = event->start_ns, .dur_ns = event->dur_ns};
    cut(&piece, &route->plans[route->current]);
    piece.at.event = &piece.event;
    rc = wait_for_next(route, &piece);
    return rc ? rc : take(route, &piece.at, &piece);
}

static int take_event(struct dft_route *route, const struct dft_event_at *at)
{
    uint64_t to_ns;
    int rc = 0;

    while (!rc && route->current + 1 < route->count && at->event->start_ns >= route->plans[route->current].to_ns)
        rc = next_file(route);
    to_ns = route->plans[route->current].to_ns;
    if (rc)
        return rc;
    return route->count == 1 ? take(route, at, NULL) : take_long(route, at, to_ns);
}

int dft_route_begin(struct dft_route *route)
{
    route->current = 0;
    return route->begin(route->context, route->plans);
}

void dft_route_event(void *context, const struct dft_event_at *at)
{
    struct dft_route *route = context;

    if (!route->p->error)
        route->p->error = take_event(route, at);
}

int dft_route_end(struct dft_route *route)
{
    int rc = route->p->error;

    while (!rc && route->current + 1 < route->count)
        rc = next_file(route);
    rc = rc ? rc : dft_lanes_finish(&route->lanes);
    return rc ? rc : route->end(route->context, &route->plans[route->current]);
}

void dft_route_fini(struct dft_route *route)
{
    for (size_t i = 0; i < route->nwaiting; i++)
        forget(&route->waiting[i]);
    for (size_t i = 0; i < route->nlabels; i++)
        free(route->labels[i].text);
    free(route->labels);
    dft_map_fini(&route->label_of);
    free(route->waiting);
    dft_lanes_fini(&route->lanes);
}
