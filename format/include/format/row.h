/* SPDX-License-Identifier: MIT */
/* Rows of aggregates, and the records that describe a process and its end: their form in memory.
 * Times ns, sizes bytes. */
#ifndef DFT_ROW_H
#define DFT_ROW_H

#include <stdint.h>

#include "format/text.h"
#include "format/facets.h"
#include "format/format.h"

struct dft_call;

#define DFT_COARSE           64u                 /* histogram and file rows have intervals of this many W */
#define DFT_ROW_INTERVAL_MAX (UINT64_C(1) << 57) /* W, so that 64 W is a 64-bit number */

enum dft_row_kind { DFT_ROW_CALL = 0, DFT_ROW_HISTOGRAM = 1, DFT_ROW_FILE = 2 };

/* One histogram bin: number and count. Histograms are lists with ascending numbers. */
struct dft_bin {
    uint32_t bin;
    uint64_t count;
};

/* What one row knows, the fields that all rows have first. Every field merges by sum, min or max,
 * and an empty row is the neutral element (minima ~0 / INT64_MAX, maxima 0 / -1), so that merging
 * in any order gives the same integers. What exactly an event adds: aggregator/aggregate.h.
 *
 * Rows that others counted may not know the least or the most: these are then as in an empty row,
 * though there are calls, and a merge takes them from rows that know. Whether they are known:
 * dft_metrics_knows_dur_min and the like. */
struct dft_metrics {
    uint64_t count;   /* calls that start in the interval */
    uint64_t samples; /* events that start in it; less than count where runs of calls are kept as one event */
    uint64_t errors;  /* calls that failed */
    uint64_t dur_sum, dur_min, dur_max; /* of events */
    uint64_t edge;                      /* ns of events in the intervals in which they start and end ... */
    int64_t
        step; /* ... and how many more (or fewer) cover whole intervals from this one on: busy(k) = edge(k) + W * sum of
                      steps up to k. A row may hold edge and step alone, with count 0. */
    uint64_t first_start, last_end; /* of all events that start in it, Unix ns; ~0 and 0 when there are none */
    uint64_t data;                  /* successful data events, those that carry sizes; all below are of them */
    uint64_t bytes;                 /* moved */
    uint64_t size_min, size_max;    /* bytes moved by one of them (a run of calls: by the whole run) */
    int64_t offset_min, offset_max; /* lowest start, highest end; INT64_MAX and -1 when none had an offset */
    uint64_t sequential, consecutive;
    uint64_t asked; /* bytes requested */
    uint64_t turns; /* accesses with DFT_BIT_TURN */
    /* Which 64ths of the interval some event covers, by the rows where its `edge` lies. Merged by OR;
     * whole intervals are in `step`. 0 where nothing is known. */
    uint64_t occupancy;
    /* Strided and random accesses, where rows of several accesses are put together: a call row has
     * them as `access` and `data`. Not in traces. */
    uint64_t strided, random;
};

/* Which bytes of a file were accessed, "at most": bit i is the part of 2^shift bytes from
 * i << shift on. */
#define DFT_TOUCHED_PARTS 1024u
struct dft_touched {
    uint32_t shift; /* the least with which the highest end fits */
    uint64_t bits[DFT_TOUCHED_PARTS / 64];
};

/* A distance between the starts of strided accesses, and how often it was met. */
struct dft_stride {
    int64_t bytes;
    uint64_t count;
};

/* How a file was accessed. */
struct dft_pattern {
    struct dft_touched touched;
    struct dft_stride strides[2]; /* the two most common, about; count 0: none */
};

/* Marks the parts from `first` to `last`, which are below DFT_TOUCHED_PARTS. */
static inline void dft_touched_mark(struct dft_touched *touched, uint64_t first, uint64_t last)
{
    for (uint64_t word = first / 64; word <= last / 64; word++)
        touched->bits[word] |= (word == first / 64 ? UINT64_MAX << first % 64 : UINT64_MAX) &
                               (word == last / 64 ? UINT64_MAX >> (63 - last % 64) : UINT64_MAX);
}

/* Which 64ths of an interval of this width an event covers that lies in [from, to) of it: bit i is
 * floor(t * 64 / width) = i. One without duration covers where it starts. */
static inline uint64_t dft_occupancy_part(uint64_t ns, uint64_t width)
{
    return width % 64 ? ns * 64 / width : ns / (width / 64); /* only multiples of 64 are so large that it matters */
}

static inline uint64_t dft_occupancy_of(uint64_t from, uint64_t to, uint64_t width)
{
    uint64_t first = dft_occupancy_part(from, width), last = to > from ? dft_occupancy_part(to - 1, width) : first;

    return UINT64_MAX << first & UINT64_MAX >> (63 - last);
}

/* A maximum of 0 means that all are 0: where the sum says otherwise, the maximum is not known. */
static inline int dft_metrics_knows_dur_min(const struct dft_metrics *m)
{
    return m->samples && m->dur_min != UINT64_MAX;
}

static inline int dft_metrics_knows_dur_max(const struct dft_metrics *m)
{
    return m->samples && (m->dur_max || !m->dur_sum);
}

static inline int dft_metrics_knows_size_min(const struct dft_metrics *m)
{
    return m->data && m->size_min != UINT64_MAX;
}

static inline int dft_metrics_knows_size_max(const struct dft_metrics *m)
{
    return m->data && (m->size_max || !m->bytes);
}

/* Four cache lines where rows are aligned to them: most of merging rows is waiting for memory. */
struct dft_row {
    uint8_t kind;
    uint8_t class;      /* file rows: META, READ, WRITE */
    uint8_t op;         /* of the call, which has a row for each of its ops; not for file rows */
    uint8_t io;         /* enum dft_io */
    uint8_t size_class; /* dft_size_class of the bytes requested; this and all below not for file rows */
    uint8_t access;     /* enum dft_access */
    uint16_t err;       /* errno, 0: success */
    uint16_t ndurations, nsizes, nasked; /* histogram rows */
    uint64_t interval;          /* floor(start / width), width = W for call rows, DFT_COARSE * W for the others */
    uint64_t region;            /* name id, 0 none */
    uint64_t subject;           /* call id or file id */
    struct dft_metrics metrics; /* call and file rows */
    const struct dft_bin *durations, *sizes, *asked; /* histogram rows */
    const struct dft_pattern *pattern;               /* file rows; NULL: not known */
};

/* All facets of a row of a call, as dft_facets_of has them. */
static inline uint32_t dft_all_row_facets(const struct dft_row *row)
{
    return row->err | (uint32_t)row->size_class << 16 | (uint32_t)row->access << 20;
}

struct dft_buckets {
    uint64_t key;
    uint32_t stream, tid;
    uint64_t first, last;
    uint64_t start, end;  /* into the header */
    uint64_t interval_ns; /* W */
    struct dft_row *rows;
    uint32_t count;
    struct dft_call *calls; /* those that rows refer to */
    uint32_t ncalls;
    struct dft_name *names; /* definitions at hand */
    uint32_t nnames;
    uint32_t part; /* 0: all events of the range */
};

struct dft_process {
    uint64_t key, parent_key;
    uint64_t order; /* the highest is true: notes are added in the course of time */
    uint32_t pid, ppid;
    int32_t rank, local_rank; /* -1: unknown */
    uint32_t world_size;      /* 0: unknown */
    uint64_t start_ns;
    int64_t clock_offset;
    uint64_t pid_namespace; /* 0: unknown */
    struct dft_text host, job_id, exe, command, cwd, version, options, live_path, notes, boot_id, run_id, role, mounts;
    struct dft_text kept; /* kept.h */
};

struct dft_end {
    uint64_t key;
    uint64_t events;                      /* written to blocks since load */
    uint64_t dropped[DFT_DROP_LAST + 1];  /* by enum dft_drop; [0]: for reasons that this reader does not know */
    uint64_t misuse[DFT_MISUSE_LAST + 1]; /* by enum dft_misuse, likewise */
    uint64_t overhead_ns;
    uint64_t time_ns;
    uint64_t
        outside; /* calls that DFTRACER_DATA_DIR left out: opens, others on paths, the first on each inherited descriptor */
    uint64_t pauses, paused_ns; /* of threads, beyond those that KEPT tells */
    int32_t status;
    uint8_t exit_kind;     /* enum dft_ending */
    struct dft_text unmet; /* functions to be woven that were in no library: lines */
};

/* One group of a division of events. */
struct dft_group_record {
    uint64_t key;
    uint32_t part, groups;
    struct dft_text name, rules;
    uint64_t events;
};

/* What the blocks of a file were converted from. */
struct dft_origin {
    uint64_t key;
    uint64_t converter;
    uint64_t bytes, mtime_ns, changed_ns, inode;
    uint64_t identity;
    struct dft_text found, reason;
    uint64_t length;
};

#endif
