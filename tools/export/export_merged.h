/* SPDX-License-Identifier: MIT */
/* One slice instead of many short ones: what it stands for, and its record. */
#ifndef DFT_EXPORT_MERGED_H
#define DFT_EXPORT_MERGED_H

#include "export/export_lanes.h"
#include "export/export_perfetto_put.h"

/* The first names of calls in a trace have a bit each. All other names share the last bit. */
#define DFT_MERGED_NAMES 63u
struct dft_merged_names {
    struct dft_map bits; /* name id of a call -> bit + 1 */
    uint64_t ids[DFT_MERGED_NAMES];
    uint32_t bytes[DFT_MERGED_NAMES]; /* as strings of JSON */
    unsigned count;
};

/* The bit of the name of a call. A name that has none gets one, if there is one. Returns the bit or
 * -ENOMEM. */
int dft_merged_bit(struct dft_merged_names *names, struct dft_perfetto *p, uint64_t call);
void dft_merged_names_fini(struct dft_merged_names *names);

struct dft_merged_call {
    uint64_t slices, time_ns;
    uint8_t bit;
};

/* Slices of a run. Pieces that continue (struct dft_piece) count with their time alone. */
struct dft_merged {
    struct dft_run run;
    uint64_t start_ns;
    uint32_t pid, tid; /* as the file has them */
    uint64_t slices, calls, bytes, errors;
    uint64_t time_ns, busy_ns, longest_ns; /* busy_ns: while at least one of them went on */
    struct dft_merged_call *names;         /* from malloc */
    size_t nnames, capacity;
};

/* Adds a slice, before the run has it. Returns 0 or -ENOMEM. */
int dft_merged_add(struct dft_merged *merged, struct dft_perfetto *p, const struct dft_event_at *at,
                   const struct dft_piece *piece, int bit);
/* Writes the slice. `id`: a number that no other merged slice of the file has. */
void dft_merged_put(struct dft_perfetto *p, const struct dft_merged_names *names, const struct dft_merged *merged,
                    enum dft_lane_kind kind, uint64_t id);
/* What is counted of a slice that is not written yet. */
struct dft_merged_size {
    uint64_t names; /* their bits */
    uint64_t slices, calls, bytes, time_ns;
};

/* Adds a slice, as dft_merged_add does. */
void dft_merged_count(struct dft_merged_size *size, const struct dft_event_at *at, const struct dft_piece *piece,
                      int bit);
/* How many bytes its record has at most. end_ns: after the origin. `empty`: of dft_merged_empty. */
uint64_t dft_merged_most(const struct dft_merged_names *names, const struct dft_merged_size *size,
                         enum dft_lane_kind kind, uint64_t end_ns, uint64_t empty);
/* The bytes of a record whose numbers have one digit. Returns 0 or -ENOMEM. */
int dft_merged_empty(struct dft_perfetto *p, enum dft_lane_kind kind, uint64_t *bytes);

#endif
