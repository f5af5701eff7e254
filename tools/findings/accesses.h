/* SPDX-License-Identifier: MIT */
/* Accesses: what only single events tell of them: whether they are aligned, how much of
 * files is mapped, and what files were made of others. */
#ifndef DFT_ACCESSES_H
#define DFT_ACCESSES_H

#include "aggregator/histogram.h"
#include "base/map.h"
#include "format/text.h"
#include "format/facets.h"

#define DFT_ALIGNED_BYTES 4096u

struct dft_facts;

/* Calls of one class of sizes, from DFT_ALIGNED_BYTES on, that read (0) or write (1), by where they
 * begin. */
struct dft_access_class {
    uint64_t calls[2], time_ns[2]; /* aligned, misaligned */
    uint32_t bins[2][DFT_BINS];    /* of durations */
};

struct dft_accesses {
    struct dft_access_class *classes; /* [2][DFT_SIZE_CLASSES]; NULL: these were not requested */
    struct dft_map misaligned;        /* file -> ns */
    struct dft_map mapped;            /* file -> bytes of its largest mapping */
    struct dft_map made;              /* file -> how often another one was renamed, or linked, to it */
    struct dft_map renamed;           /* file -> the one that it was renamed to */
    struct dft_map lengths;           /* file -> the largest length that a truncate gave it */
    struct dft_names *names;          /* that have the texts of these files */
};

/* Reads the events, where something may be found. Returns 0 or -ENOMEM. Collective; on rank 0. */
int dft_accesses_collect(struct dft_facts *facts);
/* The sum over files of what is mapped of them. */
uint64_t dft_accesses_mapped(const struct dft_accesses *accesses);
void dft_accesses_fini(struct dft_accesses *accesses);

#endif
