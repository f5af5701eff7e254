/* SPDX-License-Identifier: MIT */
/* The column KEPT of PROCESS, both directions. */
#include "format/kept.h"

#include <stddef.h>

#include "format/leb128.h"
#include "format/row.h"

#define WHY_SHIFT 3u

uint32_t dft_kept_put_raw(uint8_t *to, uint64_t gap_ns, uint64_t what)
{
    return (uint32_t)(dft_leb_put(dft_leb_put(to, gap_ns), what) - to);
}

uint64_t dft_kept_what(enum dft_keep keep, enum dft_keep_why why)
{
    return (unsigned)keep | (unsigned)why << WHY_SHIFT;
}

uint32_t dft_kept_put(uint8_t *to, uint64_t gap_ns, enum dft_keep keep, enum dft_keep_why why)
{
    return dft_kept_put_raw(to, gap_ns, dft_kept_what(keep, why));
}

/* Returns 0, or -1: no whole number is here. */
static int get(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;

        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return 0;
    }
    return -1;
}

uint32_t dft_kept_count(struct dft_text column, uint64_t *last_ns)
{
    const uint8_t *at = (const uint8_t *)column.bytes, *end = column.length ? at + column.length : at;
    uint64_t gap_ns, what;
    uint32_t count = 0;

    *last_ns = 0;
    while (at < end && !get(&at, end, &gap_ns) && !get(&at, end, &what)) {
        *last_ns += gap_ns;
        count++;
    }
    return count;
}

void dft_kept_begin(struct dft_kept_reader *reader, const struct dft_process *process, uint64_t end_ns)
{
    const uint8_t *bytes = (const uint8_t *)process->kept.bytes;

    *reader = (struct dft_kept_reader){.at = bytes,
                                       .end = bytes ? bytes + process->kept.length : NULL,
                                       .end_ns = end_ns,
                                       .next = {.from_ns = process->start_ns, .keep = DFT_KEEP_EVENTS, .known = 1},
                                       .is_over = process->start_ns >= end_ns};
}

/* What follows `reader->next`, which holds until then. Returns 0 where nothing follows. */
static int read_pair(struct dft_kept_reader *reader, struct dft_kept_span *following)
{
    uint64_t gap_ns, what;

    if (reader->at == reader->end)
        return 0;
    *following = (struct dft_kept_span){.from_ns = reader->next.from_ns};
    if (get(&reader->at, reader->end, &gap_ns) || get(&reader->at, reader->end, &what) ||
        gap_ns > UINT64_MAX - reader->next.from_ns || (what & ((1u << WHY_SHIFT) - 1)) >= DFT_KEEP_COUNT) {
        reader->at = reader->end;
        return 1;
    }
    following->from_ns += gap_ns;
    following->keep = (enum dft_keep)(what & ((1u << WHY_SHIFT) - 1));
    following->why = (enum dft_keep_why)(what >> WHY_SHIFT & 0xffu);
    following->known = 1;
    return 1;
}

int dft_kept_next(struct dft_kept_reader *reader, struct dft_kept_span *kept)
{
    struct dft_kept_span following;

    while (!reader->is_over) {
        *kept = reader->next;
        if (!read_pair(reader, &following) || following.from_ns >= reader->end_ns) {
            reader->is_over = 1;
            kept->to_ns = reader->end_ns;
            return 1;
        }
        kept->to_ns = following.from_ns;
        reader->next = following;
        if (kept->to_ns > kept->from_ns)
            return 1;
    }
    return 0;
}

void dft_kept_times(const struct dft_process *process, uint64_t from_ns, uint64_t to_ns,
                    uint64_t times[DFT_KEEP_COUNT + 1])
{
    struct dft_kept_reader reader;
    struct dft_kept_span kept;

    dft_kept_begin(&reader, process, to_ns);
    while (dft_kept_next(&reader, &kept)) {
        uint64_t from = kept.from_ns > from_ns ? kept.from_ns : from_ns;

        if (kept.to_ns > from)
            times[kept.known ? (unsigned)kept.keep : DFT_KEEP_COUNT] += kept.to_ns - from;
    }
}

const char *dft_keep_text(enum dft_keep keep)
{
    static const char *const texts[DFT_KEEP_COUNT] = {"events", "selected events", "aggregates", "nothing"};

    return (unsigned)keep < DFT_KEEP_COUNT ? texts[keep] : "unknown";
}

const char *dft_keep_why_text(enum dft_keep_why why)
{
    static const char *const texts[] = {"settings", "overhead", "bytes", "control", "program"};

    return (unsigned)why < sizeof texts / sizeof *texts ? texts[why] : "unknown";
}
