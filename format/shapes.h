/* SPDX-License-Identifier: MIT */
/* The column SHAPE. */
#ifndef DFT_SHAPES_H
#define DFT_SHAPES_H

#include "decoder.h"
#include "encoder.h"

/* Writes the column, whose LEB128 values are `length` bytes. */
void dft_shapes_put(struct dft_raw *raw, const uint8_t *bytes, size_t length, uint32_t nshapes);

/* Makes the column one of `count` LEB128 values, if it was written otherwise. Returns 0, -ENOMEM or
 * -EBADMSG. */
int dft_shapes_get(struct dft_decoder *decoder, uint32_t count);

#endif
