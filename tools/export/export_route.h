/* SPDX-License-Identifier: MIT */
/* What becomes of each event of a file that may have less detail, and of events at borders of files. */
#ifndef DFT_EXPORT_ROUTE_H
#define DFT_EXPORT_ROUTE_H

#include "export/export_lanes.h"
#include "export/export_perfetto_put.h"

/* Callbacks return 0 or -errno. The user sets all but the last group of members. */
struct dft_route {
    struct dft_perfetto *p;
    struct dft_plan *plans; /* by time */
    uint32_t count;
    void *context;
    struct dft_lanes lanes; /* their callbacks decide about `at` and `piece` */
    /* around the events of a file */
    int (*begin)(void *context, struct dft_plan *plan);
    int (*end)(void *context, struct dft_plan *plan);
    int (*always)(void *context);                                 /* `at` is in the file in any case */
    int (*text)(void *context, const char *bytes, size_t length); /* so are these records */
    /* `at` is one end of an arrow or a span. `arrow`: instead the arrow from it to a process. Links whose
     * hash ends in few zeros are left out first. */
    int (*link)(void *context, unsigned zeros, int arrow);

    const struct dft_event_at *at;
    const struct dft_piece *piece; /* NULL: the whole event */
    uint64_t thread;               /* key of its lane */
    uint64_t cost;                 /* for the user: 0 at each event */
    int bit;                       /* -1 at each event */
    uint32_t current;              /* plan */
    struct dft_piece *waiting;     /* slices that go on in the next file, by start */
    size_t nwaiting, capacity;
    struct dft_label *labels; /* names that threads gave themselves: each file has them */
    size_t nlabels, labels_capacity;
    struct dft_map label_of; /* thread -> position + 1 */
};

/* Takes events in order, enclosing ones first, between the other two. All return 0 or -errno; an
 * error of dft_route_event is in p->error. `route` is a struct dft_route. */
int dft_route_begin(struct dft_route *route);
void dft_route_event(void *route, const struct dft_event_at *at);
int dft_route_end(struct dft_route *route);
/* Frees memory, also that of the lanes. */
void dft_route_fini(struct dft_route *route);

#endif
