/* SPDX-License-Identifier: MIT */
/* Looks at all calls on one file, and says whether it is a small one. */
#include "findings/whole_file.h"

#include <errno.h>

#include "findings/facts.h"
#include "format/facets.h"

#define OPENS_DATA 16u /* data calls between an open and the next one, of a file that is read whole */

static int is_open(uint8_t op)
{
    return op == DFT_OP_OPEN || op == DFT_OP_FOPEN;
}

/* Rows of files know how many calls failed, not why. */
static int is_lost(const struct dft_facts *facts, int rows_lost, const struct dft_group *group)
{
    if (facts->has_file_ops)
        return dft_facets_err(group->key.facets) == ENOENT;
    return rows_lost && group->metrics.errors == group->metrics.count;
}

void dft_whole_file_add(const struct dft_facts *facts, int rows_lost, struct dft_whole_file *whole,
                        const struct dft_group *group)
{
    const struct dft_metrics *metrics = &group->metrics;
    int has_ops = facts->has_file_ops;

    if (is_lost(facts, rows_lost, group)) {
        whole->lost += metrics->count;
        whole->lost_ns += metrics->dur_sum;
        whole->lost_max_ns = metrics->dur_max > whole->lost_max_ns ? metrics->dur_max : whole->lost_max_ns;
        whole->lost_opens += is_open(group->key.op) ? metrics->count : 0;
        whole->lost_stats += group->key.op == DFT_OP_STAT ? metrics->count : 0;
    }
    if (dft_facets_err(group->key.facets) || metrics->count == metrics->errors)
        return;
    whole->is_startup |= group->key.class == DFT_IO_STARTUP;
    whole->calls += metrics->count;
    if (group->key.class == DFT_IO_SYNC || group->key.op == DFT_OP_FFLUSH) /* told by another rule */
        return;
    whole->time_ns += metrics->dur_sum;
    whole->max_ns = metrics->dur_max > whole->max_ns ? metrics->dur_max : whole->max_ns;
    whole->opens += has_ops && is_open(group->key.op) ? metrics->count : 0;
    whole->data += metrics->data;
    whole->bytes += metrics->bytes;
    whole->end = metrics->offset_max > whole->end ? metrics->offset_max : whole->end;
    if (group->key.class != DFT_IO_META)
        return;
    whole->meta_ns += metrics->dur_sum;
    whole->meta_max_ns = metrics->dur_max > whole->meta_max_ns ? metrics->dur_max : whole->meta_max_ns;
    whole->kinds[has_ops ? dft_place_kind(group->key.op) : DFT_PLACE_OTHERS] += metrics->count;
}

/* A few calls for each open. Rows do not tell opens apart: at most half of the metadata calls are some. */
static int is_small(const struct dft_facts *facts, const struct dft_whole_file *whole)
{
    uint64_t size = facts->request->limits->values[DFT_LIMIT_SMALL_FILES_SIZE];
    uint64_t opens = facts->has_file_ops ? whole->opens : whole->kinds[DFT_PLACE_OTHERS] / 2;

    if ((!whole->data && !whole->mapped) || whole->mapped > size || whole->is_startup || whole->is_reopened ||
        (whole->end > 0 && (uint64_t)whole->end > size))
        return 0;
    return opens && whole->data <= opens * OPENS_DATA && whole->bytes <= opens * size;
}

void dft_whole_file_end(const struct dft_facts *facts, struct dft_whole_file *whole)
{
    if (whole->lost && (whole->calls || whole->is_made)) { /* it was not there yet, or no longer */
        whole->calls += whole->lost;
        whole->time_ns += whole->lost_ns;
        whole->max_ns = whole->lost_max_ns > whole->max_ns ? whole->lost_max_ns : whole->max_ns;
        whole->meta_ns += whole->lost_ns;
        whole->meta_max_ns = whole->lost_max_ns > whole->meta_max_ns ? whole->lost_max_ns : whole->meta_max_ns;
        whole->kinds[DFT_PLACE_OPENS] += whole->lost_opens;
        whole->kinds[DFT_PLACE_STATS] += whole->lost_stats;
        whole->kinds[DFT_PLACE_OTHERS] += whole->lost - whole->lost_opens - whole->lost_stats;
    }
    whole->is_small = is_small(facts, whole);
}

void dft_whole_file_place(struct dft_place *place, const struct dft_whole_file *whole)
{
    uint64_t folded = (uint64_t)whole->is_folded;
    const struct dft_place_sum lost = {
        .files = 1, .calls = whole->lost, .opens = whole->lost_opens, .time_ns = whole->lost_ns, .folded = folded};
    const struct dft_place_sum small = {.files = 1,
                                        .calls = whole->calls,
                                        .opens = whole->opens,
                                        .bytes = whole->bytes ? whole->bytes : whole->mapped,
                                        .sizes = whole->end > 0  ? (uint64_t)whole->end
                                                 : whole->mapped ? whole->mapped
                                                                 : whole->bytes,
                                        .time_ns = whole->time_ns,
                                        .meta_ns = whole->meta_ns,
                                        .max_ns = whole->max_ns,
                                        .folded = folded};
    struct dft_place_sum meta = {
        .files = 1, .opens = whole->opens, .time_ns = whole->meta_ns, .max_ns = whole->meta_max_ns, .folded = folded};

    place->found += whole->calls != 0 || whole->is_made;
    if (!whole->calls && whole->lost) {
        dft_place_sum_add(&place->lost, &lost);
        place->lost_stats += whole->lost_stats;
    }
    if (whole->is_small) {
        dft_place_sum_add(&place->small, &small);
        return;
    }
    for (unsigned i = 0; i < DFT_PLACE_CALLS; i++) {
        meta.calls += whole->kinds[i];
        place->calls[i] += whole->is_startup ? 0 : whole->kinds[i];
    }
    if (meta.calls && !whole->is_startup)
        dft_place_sum_add(&place->meta, &meta);
}
