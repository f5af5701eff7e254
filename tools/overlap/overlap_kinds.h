/* SPDX-License-Identifier: MIT */
/* What regions are for, by patterns. */
#ifndef DFT_OVERLAP_KINDS_H
#define DFT_OVERLAP_KINDS_H

#include "base/names.h"
#include "overlap/overlap.h"

struct dft_region_pattern {
    char *category, *name; /* category NULL: any */
    uint8_t kind, takes_away;
};

struct dft_region_kinds {
    struct dft_region_pattern *list;
    size_t count, capacity;
};

/* Returns 0 or -ENOMEM; the caller calls fini in either case. */
int dft_region_kinds_init(struct dft_region_kinds *kinds, const struct dft_overlap_patterns *patterns);
void dft_region_kinds_fini(struct dft_region_kinds *kinds);
/* The kinds of a region, as 1 << enum dft_overlap_kind. Any thread. */
unsigned dft_region_kinds_of(const struct dft_region_kinds *kinds, struct dft_text category, struct dft_text name);
/* The same of a name id. */
unsigned dft_region_kinds_of_call(const struct dft_region_kinds *kinds, const struct dft_names *names, uint64_t call);

#endif
