/* SPDX-License-Identifier: MIT */
/* How much detail fits into a size: goes through the events once, and counts at all levels of detail. */
#ifndef DFT_EXPORT_FIT_H
#define DFT_EXPORT_FIT_H

#include "export/export_merged.h"
#include "export/export_route.h"

/* Ends of arrows and spans are left out by the zeros of their hash, up to so many. */
#define DFT_ZEROS_MAX 20u

struct dft_fit {
    struct dft_route route;
    uint64_t max_bytes, least_bytes; /* least_bytes: that every file can keep to */
    uint64_t least_ns[DFT_LEVELS_MAX];
    struct dft_merged_names names;
    uint64_t merged_bytes[DFT_LANE_KINDS]; /* dft_merged_empty */
    uint64_t metadata_bytes;
    /* of the file at work */
    uint64_t bytes[DFT_LEVELS_MAX], merged[DFT_LEVELS_MAX], into[DFT_LEVELS_MAX], samples[DFT_LEVELS_MAX];
    uint64_t always, links[DFT_ZEROS_MAX + 1], nlinks[DFT_ZEROS_MAX + 1];
};

/* Prepares fit->route, for these plans, whose times are set. dft_route_end then has set what else the
 * plans say. When fit->least_bytes is above fit->max_bytes, the plans mean nothing. Returns 0 or
 * -ENOMEM. */
int dft_fit_begin(struct dft_fit *fit, struct dft_perfetto *p, struct dft_plan *plans, uint32_t count);
void dft_fit_fini(struct dft_fit *fit);

/* What a file lacks by its plan. For people, and from malloc; NULL: no memory. */
char *dft_plan_sentence(const struct dft_plan *plan, uint64_t max_bytes);

#endif
