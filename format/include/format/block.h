/* SPDX-License-Identifier: MIT */
/* Finding whole blocks in bytes. */
#ifndef DFT_FORMAT_BLOCK_H
#define DFT_FORMAT_BLOCK_H

#include <stddef.h>

#include "format/format.h"

/* Finding blocks in a byte range. Starts at *offset; on success
 * *offset stands behind the block found at *found (its header is copied to *header, already
 * checked: magic, version, checksums, limits), and what was passed over is added to *skipped
 * (zeroed by the caller at first). */
struct dft_skipped {
    uint64_t holes;         /* bytes of zeros, and of unfinished blocks */
    uint32_t unfinished;    /* blocks of that type: no damage */
    uint64_t bytes;         /* other bytes that belong to no whole block */
    uint32_t damaged;       /* blocks with a magic whose checksum or limits do not fit, or that are cut by the end */
    uint64_t first_damaged; /* offset of the first of them */
    const char *reason;     /* of the first: "header checksum differs", "payload checksum differs", "cut short" ... */
    uint64_t vain;          /* payload bytes checked without success: bounds the time that hostile bytes can take */
};
/* Returns 1: found, 0: end of the range. Blocks of unknown types are found too: the caller passes
 * over them and counts them. A block that the end of the range cuts is damaged. */
int dft_block_next(const void *bytes, size_t length, size_t *offset, struct dft_block_header *header, size_t *found,
                   struct dft_skipped *skipped);

/* The same of a window, behind which `rest` bytes follow. Returns also DFT_BLOCK_MORE: bytes behind the window decide
 * about what stands at *offset. The next window begins there, and is larger if *offset has not moved. A window of
 * DFT_WINDOW_MAX bytes always goes on. first_damaged counts from the begin of the window. */
#define DFT_BLOCK_MORE 2
#define DFT_WINDOW_MAX (sizeof(struct dft_block_header) + DFT_STORED_MAX + 8)
int dft_block_next_of(const void *bytes, size_t length, uint64_t rest, size_t *offset, struct dft_block_header *header,
                      size_t *found, struct dft_skipped *skipped);

#endif
