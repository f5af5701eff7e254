/* SPDX-License-Identifier: MIT */
/* The columns of BUCKETS blocks that are no numbers by themselves, both directions: occupancy.c and
 * patterns.c, for the files that make and read blocks of rows. */
#ifndef DFT_BUCKETS_H
#define DFT_BUCKETS_H

#include "decoder.h"
#include "encoder.h"

#define DFT_TOUCHED_SHIFT_MAX 53u /* the highest end is below 2^63 */

void dft_occupancy_put(struct dft_raw *raw, const struct dft_buckets *buckets);
/* For rows whose metrics are known. */
void dft_occupancy_get(struct dft_columns *columns, const struct dft_buckets *buckets);

void dft_patterns_put(struct dft_raw *raw, const struct dft_buckets *buckets);
/* Returns 0 or -ENOMEM. */
int dft_patterns_get(struct dft_decoder *decoder, const struct dft_buckets *buckets);

/* The class of a call that a row of a file has without one of its own, from what was done with the file. */
static inline enum dft_io dft_class_io(uint8_t class)
{
    static const uint8_t ios[] = {
        [DFT_CLASS_META] = DFT_IO_META, [DFT_CLASS_READ] = DFT_IO_READ, [DFT_CLASS_WRITE] = DFT_IO_WRITE};

    return class < sizeof ios ? (enum dft_io)ios[class] : DFT_IO_NONE;
}

#endif
