/* SPDX-License-Identifier: MIT */
/* Looks at all calls on one file, and says whether it is a small one. */
#include "findings/file_totals.h"

#include <errno.h>

#include "base/array.h"
#include "findings/facts.h"
#include "format/facets.h"
#include "format/ops.h"

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

static void extend(uint64_t *from_ns, uint64_t *to_ns, const struct dft_metrics *metrics)
{
    *from_ns = *to_ns && *from_ns < metrics->first_start ? *from_ns : metrics->first_start;
    *to_ns = metrics->last_end > *to_ns ? metrics->last_end : *to_ns;
}

static void add_data(struct dft_file_totals *totals, const struct dft_group *group)
{
    struct dft_copied_file *whole = &totals->whole;

    if (group->key.class == DFT_IO_READ) {
        totals->read_bytes += group->metrics.bytes;
        extend(&whole->read_from_ns, &whole->read_to_ns, &group->metrics);
    } else if (group->key.class == DFT_IO_WRITE) {
        totals->write_bytes += group->metrics.bytes;
        extend(&whole->write_from_ns, &whole->write_to_ns, &group->metrics);
    }
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
    if (group->key.class == DFT_IO_SYNC || group->key.op == DFT_OP_FFLUSH) /* reported by another rule */
        return;
    totals->time_ns += metrics->dur_sum;
    totals->max_ns = metrics->dur_max > totals->max_ns ? metrics->dur_max : totals->max_ns;
    totals->opens += has_ops && is_open(group->key.op) ? metrics->count : 0;
    if (metrics->data && has_ops)
        add_data(totals, group);
    totals->data += metrics->data;
    totals->bytes += metrics->bytes;
    totals->end = metrics->offset_max > totals->end ? metrics->offset_max : totals->end;
    if (group->key.class != DFT_IO_META)
        return;
    totals->meta_ns += metrics->dur_sum;
    dft_place_kind_add(&totals->kinds[has_ops ? dft_place_kind(group->key.op) : DFT_PLACE_OTHERS],
                       &(struct dft_place_kind_sum){metrics->count, metrics->dur_sum, metrics->dur_max});
}

/* A few calls for each open. Rows do not tell opens apart: at most half of the metadata calls are
 * some. */
static int is_small(const struct dft_facts *facts, const struct dft_file_totals *totals)
{
    uint64_t size = facts->request->limits->values[DFT_LIMIT_SMALL_FILES_SIZE];
    uint64_t opens = facts->has_file_ops ? totals->opens : totals->kinds[DFT_PLACE_OTHERS].calls / 2;

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
        dft_place_kind_add(&totals->kinds[facts->has_file_ops ? DFT_PLACE_LOOKUPS : DFT_PLACE_OTHERS],
                           &(struct dft_place_kind_sum){totals->lost, totals->lost_ns, totals->lost_max_ns});
    }
    if (totals->length && (totals->end <= 0 || totals->length >= (uint64_t)totals->end)) {
        dft_place_kind_add(&totals->kinds[DFT_PLACE_GROWTHS], &totals->kinds[DFT_PLACE_CUTS]);
        totals->kinds[DFT_PLACE_CUTS] = (struct dft_place_kind_sum){0};
    }
    totals->is_small = !totals->saved_as && is_small(facts, totals);
}

static int take_whole(const struct dft_facts *facts, struct dft_file_places *places,
                      const struct dft_file_totals *totals)
{
    struct dft_copied_file whole = totals->whole;

    whole.file = totals->file;
    whole.size = totals->write_bytes;
    whole.time_ns = totals->time_ns;
    whole.is_removed = totals->kinds[DFT_PLACE_REMOVALS].calls != 0;
    if (totals->read_bytes != totals->write_bytes)
        whole.read_from_ns = whole.read_to_ns = 0;
    if (whole.size < facts->request->limits->values[DFT_LIMIT_COPIES_SIZE] || (uint64_t)totals->end != whole.size)
        return 0;
    return DFT_ARRAY_PUSH(places->whole, places->whole_capacity, places->nwhole, whole);
}

int dft_file_totals_take_large(const struct dft_facts *facts, struct dft_file_places *places,
                               struct dft_file_totals *totals)
{
    uint64_t size = totals->end > 0 ? (uint64_t)totals->end : 0;
    int rc = take_whole(facts, places, totals);

    if (size < totals->length)
        size = totals->length;
    if (size < facts->request->limits->values[DFT_LIMIT_REMOVAL_SIZE] || totals->is_startup)
        return rc;
    places->large_files++;
    places->large_bytes += size;
    for (unsigned i = DFT_PLACE_REMOVALS; i <= DFT_PLACE_GROWTHS && !rc; i++) {
        struct dft_place_kind_sum *kind = &totals->kinds[i];

        if (kind->calls)
            rc = DFT_ARRAY_PUSH(places->large, places->large_capacity, places->nlarge,
                                (struct dft_large_file){totals->file, size, (enum dft_place_calls)i, *kind});
        *kind = (struct dft_place_kind_sum){0};
    }
    return rc;
}

void dft_file_totals_place(struct dft_file_place *place, const struct dft_file_totals *totals)
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
    struct dft_place_sum meta = {.files = 1, .opens = totals->opens, .folded = folded};

    place->found += totals->calls != 0 || totals->is_made;
    if (!totals->calls && totals->lost) {
        dft_place_sum_add(&place->lost, &lost);
        place->lost_stats += totals->lost_stats;
    }
    if (totals->is_small)
        dft_place_sum_add(&place->small, &small);
    if (totals->is_small || totals->saved_as)
        return;
    for (unsigned i = 0; i < DFT_PLACE_SEEKS && !totals->is_startup; i++) {
        const struct dft_place_kind_sum *kind = &totals->kinds[i];

        meta.calls += kind->calls;
        meta.time_ns += kind->time_ns;
        meta.max_ns = kind->max_ns > meta.max_ns ? kind->max_ns : meta.max_ns;
        dft_place_kind_add(&place->kinds[i], kind);
    }
    if (meta.calls)
        dft_place_sum_add(&place->meta, &meta);
}
