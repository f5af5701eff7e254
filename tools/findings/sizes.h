/* SPDX-License-Identifier: MIT */
/* Reads and writes by the size of their requests, and what larger requests would save. */
#ifndef DFT_SIZES_H
#define DFT_SIZES_H

#include "findings/facts.h"

/* How data move: by calls of the kernel or of a stream, in or out. */
enum dft_flow { DFT_FLOW_READ, DFT_FLOW_WRITE, DFT_FLOW_STREAM_IN, DFT_FLOW_STREAM_OUT, DFT_FLOWS };

struct dft_size_sum {
    uint64_t calls, time_ns, bytes;
    uint64_t in_order, placed; /* accesses that follow the one before (or have no offset), of all */
    uint64_t random;           /* to no place in particular, of those that go back */
    int has_offsets;           /* not of a pipe, whose other end is waited for */
};

/* One way of files that are alike (a pattern), or of all files where no answer tells them apart. */
struct dft_size_unit {
    const struct dft_group *group; /* one of the pattern's; NULL: all files */
    uint64_t pattern;
    uint64_t opens, seeks; /* seeks of its streams */
    int64_t end;           /* the highest offset; -1: none is known */
    struct dft_size_sum sums[DFT_SIZE_CLASSES];
    enum dft_flow flow;
    uint64_t flush;                 /* bytes that its stream moves by a system call, at least; 0: not known */
    uint64_t known_ns, reported_ns; /* of its files that are known one by one; of these in findings */
    uint64_t reported_by;           /* 1 << enum dft_finding_code */
};

struct dft_size_units {
    struct dft_size_unit *list;
    size_t count, capacity;
    /* bytes and time of large requests of the run, by flow: what its files can reach */
    struct dft_size_sum large[DFT_FLOWS];
};

/* What larger requests are known, or taken, to cost. DFT_YARD_WAIT: none was made, and each write
 * of these waits for storage. */
enum dft_yardstick { DFT_YARD_NONE, DFT_YARD_SAME_FILES, DFT_YARD_SAME_RUN, DFT_YARD_CALLS, DFT_YARD_WAIT };

/* Where a unit lies, escaped: the file that has nine tenths of its time (*file, borrowed), else its
 * pattern (*file is NULL); "" for all files. Owned by the caller; NULL: no memory. */
char *dft_size_unit_where(const struct dft_facts *facts, const struct dft_size_unit *unit,
                          const struct dft_group **file);
uint64_t dft_flow_ops(enum dft_flow flow);
static inline int dft_flow_is_in(enum dft_flow flow)
{
    return flow == DFT_FLOW_READ || flow == DFT_FLOW_STREAM_IN;
}
/* Returns 0 or -ENOMEM. */
int dft_sizes_collect(const struct dft_facts *facts, uint64_t request, struct dft_size_units *units);
void dft_sizes_fini(struct dft_size_units *units);
/* Do most of these not follow the one before? */
int dft_sizes_are_apart(const struct dft_size_sum *sum);
/* How many calls it takes with requests of `request` bytes: at least one each time that a file is
 * opened. */
uint64_t dft_sizes_calls(const struct dft_size_unit *unit, const struct dft_size_sum *sum, uint64_t request);
/* Time that requests of this size class lose against larger ones, by the yardstick that is used. */
uint64_t dft_sizes_lost(const struct dft_rules *rules, const struct dft_size_units *units,
                        const struct dft_size_unit *unit, unsigned size, enum dft_yardstick *yardstick);

#endif
