/* SPDX-License-Identifier: MIT */
/* What regions are for, by patterns. */
#ifndef DFT_REGION_KINDS_H
#define DFT_REGION_KINDS_H

#include "base/names.h"

/* What regions are for. */
enum dft_region_kind {
    DFT_REGION_COMPUTE,
    DFT_REGION_DATA,
    DFT_REGION_ITEM,
    DFT_REGION_EPOCH,
    DFT_REGION_STEP,
    DFT_REGION_KINDS
};

/* For each kind, patterns with commas: "category:name" or "name", as a shell's. Case of letters does
 * not matter. A pattern that begins with ! takes away what those before it named. */
struct dft_region_patterns {
    const char *lists[DFT_REGION_KINDS];
};
extern const struct dft_region_patterns dft_region_usual;

struct dft_region_pattern {
    char *category, *name; /* category NULL: any */
    uint8_t kind, takes_away;
};

struct dft_region_kinds {
    struct dft_region_pattern *list;
    size_t count, capacity;
};

/* Returns 0 or -ENOMEM; the caller calls fini in either case. */
int dft_region_kinds_init(struct dft_region_kinds *kinds, const struct dft_region_patterns *patterns);
void dft_region_kinds_fini(struct dft_region_kinds *kinds);
/* The kinds of a region, as 1 << enum dft_region_kind. Any thread. */
unsigned dft_region_kinds_of(const struct dft_region_kinds *kinds, struct dft_text category, struct dft_text name);
/* The same of a name id. */
unsigned dft_region_kinds_of_call(const struct dft_region_kinds *kinds, const struct dft_names *names, uint64_t call);

#endif
