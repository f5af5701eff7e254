/* SPDX-License-Identifier: MIT */
/* Which slices of a thread neither follow nor contain each other. A program may tell of any spans after the fact, and
 * viewers drop a slice that begins in another one and ends behind it. */
#ifndef DFT_EXPORT_NESTING_H
#define DFT_EXPORT_NESTING_H

#include "base/map.h"
#include "object/object.h"

/* A bit of an event on its way into a file: it crosses another slice, and its id is made. It is shown as what may overlap. */
#define DFT_EXPORT_CROSSES 128u

struct dft_nesting {
    struct dft_map threads; /* key of a thread -> position + 1 */
    struct dft_nest *list;
    size_t count, capacity;
    uint64_t now_ns;
};

/* Looks at the next event, in order of start, the outermost first; where it crosses another one, gives it the bit and an
 * id. Time that goes back begins anew. Without memory nothing crosses. */
void dft_nesting_look(struct dft_nesting *nesting, const struct dft_event_at *at, struct dft_event *event);
void dft_nesting_fini(struct dft_nesting *nesting);

#endif
