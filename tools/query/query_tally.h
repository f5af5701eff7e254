/* SPDX-License-Identifier: MIT */
/* Groups while they are counted: keys, their rows, and the time inside regions. One thread at a time. */
#ifndef DFT_QUERY_TALLY_H
#define DFT_QUERY_TALLY_H

#include "query/group_map.h"

/* Any interval that is a group's does the same: the interval is in the key. Long enough for few boundaries. */
#define DFT_QUERY_INTERVAL DFT_INTERVAL_NS_MAX

/* A group's number as the subject of a row, and back: ids are never 0. */
#define DFT_SUBJECT(group) ((uint64_t)(group) + 1)
#define DFT_GROUP(subject) ((subject)-1)

struct dft_tally {
    struct dft_group_map map;     /* of groups */
    struct dft_table *table;      /* call and histogram rows whose subject is the group's number */
    struct dft_group_map parents; /* who, tid, region */
    uint64_t *children_ns;        /* of each parent: time of the events directly inside */
    uint32_t children_capacity;
};

/* All zero at first. Returns 0 or -ENOMEM. */
int dft_tally_init(struct dft_tally *tally, int histograms);
void dft_tally_fini(struct dft_tally *tally);
void dft_tally_clear(struct dft_tally *tally);
/* Bytes that its groups take. Cheap. */
size_t dft_tally_used(const struct dft_tally *tally);
int dft_tally_add_child(struct dft_tally *tally, const struct dft_group_key *parent, uint64_t dur_ns);
/* All of `from` into `into`; `from` is good for nothing but dft_tally_clear and dft_tally_fini then. Returns 0 or -ENOMEM. */
int dft_tally_merge(struct dft_tally *into, struct dft_tally *from);
/* As bytes from malloc, for another rank; the tally is cleared. And what another rank packed into this one. */
int dft_tally_pack(struct dft_tally *tally, void **bytes, size_t *length);
int dft_tally_unpack(struct dft_tally *into, const void *bytes, size_t length);

#endif
