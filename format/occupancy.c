/* SPDX-License-Identifier: MIT */
/* The column OCCUPANCY of BUCKETS blocks, both directions. What a row's first start and last end say
 * is mostly right; else the bits that differ come as the places where they begin and end. */
#include "buckets.h"

#define TOGGLES_MAX 16u
#define WHOLE       (TOGGLES_MAX + 2) /* all 64 bits follow */

/* From the first start of the row to the last end, as far as the interval goes. A row of no samples
 * has what reaches into its interval from before. */
static uint64_t predict(const struct dft_row *row, uint64_t interval_ns)
{
    const struct dft_metrics *m = &row->metrics;
    uint64_t width = row->kind == DFT_ROW_FILE ? interval_ns * DFT_COARSE : interval_ns;
    uint64_t begin = row->interval * width, from = 0, to = m->edge;

    if (!interval_ns || interval_ns > DFT_ROW_INTERVAL_MAX)
        return 0;
    if (m->samples) {
        from = m->first_start - begin;
        to = m->last_end < m->first_start || m->last_end - begin > width ? width : m->last_end - begin;
    }
    return from >= width || to > width || (!m->samples && !to) ? 0 : dft_occupancy_of(from, to, width);
}

void dft_occupancy_put(struct dft_raw *raw, const struct dft_buckets *buckets)
{
    dft_raw_open(raw, DFT_BK_OCCUPANCY, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        uint64_t occupancy = row->metrics.occupancy, differs, toggles;
        uint32_t count, last = 0;

        if (row->kind == DFT_ROW_HISTOGRAM)
            continue;
        differs = occupancy ^ predict(row, buckets->interval_ns);
        toggles = differs ^ differs << 1;
        count = (uint32_t)__builtin_popcountll(toggles);
        dft_raw_leb(raw, !occupancy ? 0 : count > TOGGLES_MAX ? WHOLE : 1 + count);
        if (occupancy && count > TOGGLES_MAX)
            dft_raw_bytes(raw, &occupancy, sizeof occupancy);
        for (; occupancy && count <= TOGGLES_MAX && toggles; toggles &= toggles - 1) {
            uint32_t place = (uint32_t)__builtin_ctzll(toggles);

            dft_raw_leb(raw, place - last);
            last = place;
        }
    }
    dft_raw_close_or_drop(raw);
}

static uint64_t get_differences(struct dft_columns *columns, uint64_t count)
{
    uint64_t differs = 0, place = 0;

    for (uint64_t i = 0; i < count; i++) {
        place += dft_column_leb_max(columns, DFT_BK_OCCUPANCY, 63);
        if (place > 63) {
            dft_column_fault(columns, DFT_BK_OCCUPANCY);
            return 0;
        }
        differs ^= UINT64_MAX << place;
    }
    return differs;
}

void dft_occupancy_get(struct dft_columns *columns, const struct dft_buckets *buckets)
{
    for (uint32_t i = 0; i < buckets->count && !columns->reason; i++) {
        struct dft_row *row = &buckets->rows[i];
        uint64_t head;

        if (row->kind == DFT_ROW_HISTOGRAM)
            continue;
        head = dft_column_leb_max(columns, DFT_BK_OCCUPANCY, WHOLE);
        if (head == WHOLE)
            row->metrics.occupancy = dft_column_word(columns, DFT_BK_OCCUPANCY);
        else if (head)
            row->metrics.occupancy = predict(row, buckets->interval_ns) ^ get_differences(columns, head - 1);
    }
}
