/* SPDX-License-Identifier: MIT */
/* Groups while they are counted: keys, their rows, and the time inside regions. One thread at a
 * time. */
#ifndef DFT_QUERY_TALLY_H
#define DFT_QUERY_TALLY_H

#include "query/group_map.h"
#include "query/members.h"

/* Any interval that is a group's does the same: the interval is in the key. Long enough for few
 * boundaries. */
#define DFT_QUERY_INTERVAL DFT_INTERVAL_NS_MAX

/* A group's number as the subject of a row, and back: ids are never 0. */
#define DFT_SUBJECT(group) ((uint64_t)(group) + 1)
#define DFT_GROUP(subject) ((subject)-1)

struct dft_partial {
    struct dft_group_map map; /* of groups */
    struct dft_table *table;  /* call and histogram rows, and those of patterns, whose subject is the group's number */
    struct dft_group_map parents; /* process group, tid, region */
    uint64_t *children_ns;        /* of each parent: time of the events directly inside */
    uint32_t children_capacity;
    struct dft_map members; /* of groups */
};

/* All zero at first. Returns 0 or -ENOMEM. */
int dft_partial_init(struct dft_partial *partial, int histograms);
void dft_partial_fini(struct dft_partial *partial);
void dft_partial_clear(struct dft_partial *partial);
/* Bytes that its groups take. Cheap. */
size_t dft_partial_used(const struct dft_partial *partial);
int dft_partial_add_child(struct dft_partial *partial, const struct dft_group_key *parent, uint64_t dur_ns);
/* All of `from` into `into`; `from` is good for nothing but dft_partial_clear and dft_partial_fini
 * then. Returns 0 or -ENOMEM. */
int dft_partial_merge(struct dft_partial *into, struct dft_partial *from);
/* As bytes from malloc, for another rank; the partial is cleared. And what another rank packed
 * into this one. */
int dft_partial_pack(struct dft_partial *partial, void **bytes, size_t *length);
int dft_partial_unpack(struct dft_partial *into, const void *bytes, size_t length);

#endif
