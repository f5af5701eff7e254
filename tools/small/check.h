/* SPDX-License-Identifier: MIT */
/* dftmerge check: what its files share. */
#ifndef DFT_CHECK_H
#define DFT_CHECK_H

#include <stdatomic.h>
#include <stdint.h>

#include "job/job.h"
#include "object/object.h"

struct dft_verification {
    struct dft_source *source;
    struct dft_decoder **decoders; /* one a worker */
    _Atomic uint64_t undecodable;
    uint64_t blocks, repeated, overlapping, unknown, unfinished, damaged, unreadable_bytes, bad_files;
    uint64_t imported, records, invalid_lines, repeated_lines; /* of DFTracer's files */
    uint64_t live_left, live_running, live_unknown, recovered_files, repaired_files;
    uint64_t endless;   /* processes without END or live file */
    uint64_t missing;   /* events that END says were written, and that are not here */
    struct dft_job job; /* what it has lost */
    uint8_t *bad;       /* one byte a block: it cannot be decoded */
    uint8_t *counts;    /* likewise: events in it are counted in rows */
};

/* Notes which processes lack blocks that each one writes: CLOCK, and BUCKETS beside its events.
 * counts: a byte a block, whether events in it are counted in rows. Returns 0 or -ENOMEM.
 * Collective. */
int dft_check_whole(struct dft_source *source, const uint8_t *counts);

/* The verdict and the counts, on stdout: JSON (docs/schema), or one line of text. */
void dft_check_print_json(const struct dft_verification *check);
void dft_check_print_text(const struct dft_verification *check);

#endif
