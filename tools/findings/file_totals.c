/* SPDX-License-Identifier: MIT */
/* Looks at all calls on one file, and says whether it is a small one. */
#include "findings/file_totals.h"

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

void dft_file_totals_add(const struct dft_facts *facts, int rows_lost, struct dft_file_totals *totals,
                         const struct dft_group *group)
{
    const struct dft_metrics *metrics = &group->metrics;
    int has_ops = facts->has_file_ops;

    if (is_lost(facts, rows_lost, group)) {
        totals->lost += metrics->count;
        totals->lost_ns += metrics->dur_sum;
        totals->lost_max_ns = metrics->dur_max > totals->lost_max_ns ? metrics->dur_max : totals->lost_max_ns;
        totals->lost_opens += is_open(group->key.op) ? metrics->count : 0;
        totals->lost_stats += group->key.op == DFT_OP_STAT ? metrics->count : 0;
    }
    if (dft_facets_err(group->key.facets) || metrics->count == metrics->errors)
        return;
    totals->is_startup |= group->key.class == DFT_IO_STARTUP;
    totals->calls += metrics->count;
    if (group->key.class == DFT_IO_SYNC || group->key.op == DFT_OP_FFLUSH) /* told by another rule */
        return;
    totals->time_ns += metrics->dur_sum;
    totals->max_ns = metrics->dur_max > totals->max_ns ? metrics->dur_max : totals->max_ns;
    totals->opens += has_ops && is_open(group->key.op) ? metrics->count : 0;
    totals->data += metrics->data;
    totals->bytes += metrics->bytes;
    totals->end = metrics->offset_max > totals->end ? metrics->offset_max : totals->end;
    if (group->key.class != DFT_IO_META)
        return;
    totals->meta_ns += metrics->dur_sum;
    totals->meta_max_ns = metrics->dur_max > totals->meta_max_ns ? metrics->dur_max : totals->meta_max_ns;
    totals->kinds[has_ops ? dft_place_kind(group->key.op) : DFT_PLACE_OTHERS] += metrics->count;
}

/* A few calls for each open. Rows do not tell opens apart: at most half of the metadata calls are
 * some. */
static int is_small(const struct dft_facts *facts, const struct dft_file_totals *totals)
{
    uint64_t size = facts->request->limits->values[DFT_LIMIT_SMALL_FILES_SIZE];
    uint64_t opens = facts->has_file_ops ? totals->opens : totals->kinds[DFT_PLACE_OTHERS] / 2;

    if ((!totals->data && !totals->mapped) || totals->mapped > size || totals->is_startup || totals->is_reopened ||
        (totals->end > 0 && (uint64_t)totals->end > size))
        return 0;
    return opens && totals->data <= opens * OPENS_DATA && totals->bytes <= opens * size;
}

void dft_file_totals_end(const struct dft_facts *facts, struct dft_file_totals *totals)
{
    if (totals->lost && (totals->calls || totals->is_made)) { /* it was not there yet, or no longer */
        totals->calls += totals->lost;
        totals->time_ns += totals->lost_ns;
        totals->max_ns = totals->lost_max_ns > totals->max_ns ? totals->lost_max_ns : totals->max_ns;
        totals->meta_ns += totals->lost_ns;
        totals->meta_max_ns = totals->lost_max_ns > totals->meta_max_ns ? totals->lost_max_ns : totals->meta_max_ns;
        totals->kinds[DFT_PLACE_OPENS] += totals->lost_opens;
        totals->kinds[DFT_PLACE_STATS] += totals->lost_stats;
        totals->kinds[DFT_PLACE_OTHERS] += totals->lost - totals->lost_opens - totals->lost_stats;
    }
    totals->is_small = is_small(facts, totals);
}

void dft_file_totals_place(struct dft_place *place, const struct dft_file_totals *totals)
{
    uint64_t folded = (uint64_t)totals->is_folded;
    const struct dft_place_sum lost = {
        .files = 1, .calls = totals->lost, .opens = totals->lost_opens, .time_ns = totals->lost_ns, .folded = folded};
    const struct dft_place_sum small = {.files = 1,
                                        .calls = totals->calls,
                                        .opens = totals->opens,
                                        .bytes = totals->bytes ? totals->bytes : totals->mapped,
                                        .sizes = totals->end > 0  ? (uint64_t)totals->end
                                                 : totals->mapped ? totals->mapped
                                                                  : totals->bytes,
                                        .time_ns = totals->time_ns,
                                        .meta_ns = totals->meta_ns,
                                        .max_ns = totals->max_ns,
                                        .folded = folded};
    struct dft_place_sum meta = {.files = 1,
                                 .opens = totals->opens,
                                 .time_ns = totals->meta_ns,
                                 .max_ns = totals->meta_max_ns,
                                 .folded = folded};

    place->found += totals->calls != 0 || totals->is_made;
    if (!totals->calls && totals->lost) {
        dft_place_sum_add(&place->lost, &lost);
        place->lost_stats += totals->lost_stats;
    }
    if (totals->is_small) {
        dft_place_sum_add(&place->small, &small);
        return;
    }
    for (unsigned i = 0; i < DFT_PLACE_CALLS; i++) {
        meta.calls += totals->kinds[i];
        place->calls[i] += totals->is_startup ? 0 : totals->kinds[i];
    }
    if (meta.calls && !totals->is_startup)
        dft_place_sum_add(&place->meta, &meta);
}
