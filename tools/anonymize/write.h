/* SPDX-License-Identifier: MIT */
/* A folder of traces without names: one file for each process. */
#ifndef DFT_ANONYMIZE_WRITE_H
#define DFT_ANONYMIZE_WRITE_H

#include "anonymize/anonymizer.h"

struct dft_anonymized {
    uint32_t files;
    uint64_t blocks, bytes, left_out; /* left out: blocks of types that this version does not know */
};

/* Writes all processes of the source into an empty folder. *stopped becomes not 0 to end it. Returns 0
 * or -errno. Names of all blocks have been fetched. */
int dft_anonymize_write(struct dft_anonymizer *anonymizer, const char *folder, const _Atomic int *stopped,
                        struct dft_anonymized *done);

#endif
