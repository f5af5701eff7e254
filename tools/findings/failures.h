/* SPDX-License-Identifier: MIT */
/* Calls that fail: which of them matter, and what single events tell of them. */
#ifndef DFT_FAILURES_H
#define DFT_FAILURES_H

#include <stdint.h>

struct dft_answer;
struct dft_facts;
struct dft_group;

enum dft_failing {
    DFT_FAILING_WRITES, /* that were to write, or to make durable what was written: what is lost by them */
    DFT_FAILING_READS,
    DFT_FAILING_OPENS,
    DFT_FAILING_OTHERS, /* for want of room or of rights, or by a device or server that fails */
    DFT_FAILING_KINDS
};

/* From events alone. */
struct dft_failures {
    int are_known;
    uint64_t
        again[DFT_FAILING_KINDS]; /* failed calls that the process did again the same way, and then they succeeded */
    uint64_t direct[DFT_FAILING_KINDS]; /* reads and writes past the page cache, or of parts of sectors, with EINVAL */
};

/* What kind of failure is this call? DFT_FAILING_KINDS: none that matters. Not those that are answers: there is no such
 * file, nothing is there yet, this is not supported here. */
enum dft_failing dft_failure_of(uint8_t op, uint8_t class, uint16_t err);
/* The same of a group that tells errors apart, with its name, if it is a key. */
enum dft_failing dft_failure_of_group(const struct dft_answer *answer, const struct dft_group *group);
/* With which calls it is counted: those that fail, with their kind. A close is no write, unless it fails as one. */
enum dft_failing dft_failure_tried(const struct dft_group *group, enum dft_failing failing);

/* Returns 0 or -ENOMEM. Collective; the failures are on rank 0. */
int dft_failures_collect(struct dft_facts *facts);

#endif
