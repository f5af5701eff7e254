/* SPDX-License-Identifier: MIT */
/* What the files that add events share: which are added, and what those that are alike add. */
#ifndef DFT_ADD_INSIDE_H
#define DFT_ADD_INSIDE_H

#include "format/event.h"
#include "format/ops.h"
#include "table.h"

#define DFT_INLINE static inline __attribute__((always_inline))

DFT_INLINE int add_is_aggregated(const struct dft_event *event, uint8_t op, enum dft_class class)
{
    if (class == DFT_CLASS_MARK || event->bits & DFT_BIT_OPEN)
        return 0;
    if (event->phase == DFT_PHASE_BEGIN)
        return op == DFT_OP_EXEC || op == DFT_OP_FORK;
    return event->phase == DFT_PHASE_COMPLETE;
}

/* Adds what `count` data events have in common, which moved and requested as many bytes each, and
 * have these bits. */
DFT_INLINE void add_alike(struct dft_metrics *sum, uint64_t bytes, uint64_t asked, uint32_t bits, uint64_t count)
{
    sum->bytes += bytes * count;
    sum->asked += asked * count;
    sum->size_min = bytes < sum->size_min ? bytes : sum->size_min;
    sum->size_max = bytes > sum->size_max ? bytes : sum->size_max;
    sum->sequential += bits & DFT_BIT_SEQUENTIAL ? count : 0;
    sum->consecutive += dft_bits_are_consecutive(bits) ? count : 0;
    sum->turns += bits & DFT_BIT_TURN ? count : 0;
}

/* The key of the event's call row, but for its interval. */
DFT_INLINE struct dft_key add_key(const struct dft_table *table, const struct dft_event *event,
                                  const struct dft_call *call)
{
    struct dft_key key = {.kind = DFT_ROW_CALL, .region = event->region, .subject = call->id};
    uint32_t facets;

    if (table->keep & DFT_MIX_OPS)
        return key;
    key.op = call->op;
    key.io = call->io;
    facets = dft_event_facets(event, call->op);
    key.size_class = dft_facets_size_class(facets);
    key.access = dft_facets_access(facets);
    key.err = dft_facets_err(facets);
    return key;
}

/* Is it of a row with these facets? `like` is one that is. */
DFT_INLINE int add_has_facets(const struct dft_event *event, uint8_t op, const struct dft_key *key,
                              const struct dft_event *like)
{
    uint32_t facets;

    if (event->size == like->size && !((event->bits ^ like->bits) & 3) && (event->offset ^ like->offset) >= 0)
        return 1; /* neither failed, both are one call */
    facets = dft_event_facets(event, op);
    return dft_facets_size_class(facets) == key->size_class && dft_facets_access(facets) == key->access;
}

/* Where an event with this key, of a call by its position in a batch, went last. */
DFT_INLINE struct dft_recent *add_recent(struct dft_table *table, uint32_t call, const struct dft_key *key)
{
    uint64_t mixed = (dft_table_traits(key) ^ key->region ^ call) * UINT64_C(0x9e3779b97f4a7c15);

    return &table->recent[mixed >> 32 & (DFT_RECENT - 1)];
}

/* A 64th of the interval of a row, in which what is covered already is a bit of the row. */
struct add_part {
    uint64_t from_ns, to_ns, number;
};

/* Where a 64th begins. Widths that are no multiple of 64 are at most DFT_INTERVAL_NS_MAX. */
DFT_INLINE uint64_t add_part_begin(uint64_t part, uint64_t width)
{
    return width % 64 ? (part * width + 63) / 64 : part * (width / 64);
}

/* The one in which this time lies, of an interval that begins at `row_ns`. */
DFT_INLINE struct add_part add_part_at(uint64_t row_ns, uint64_t width, uint64_t ns)
{
    uint64_t part = dft_occupancy_part(ns - row_ns, width), to_ns = row_ns + add_part_begin(part + 1, width);

    return (struct add_part){row_ns + add_part_begin(part, width), to_ns > row_ns ? to_ns : UINT64_MAX, part};
}

/* One event that is aggregated. *recent is where it went. Returns 0, -ENOSPC or -ENOMEM: it was not
 * added. */
int dft_table_add_one(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                      enum dft_class class, const struct dft_recent **recent);

#endif
