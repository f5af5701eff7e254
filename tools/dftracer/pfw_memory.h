/* SPDX-License-Identifier: MIT */
/* What every part of the conversion stands on. */
#ifndef DFT_DFTRACER_PFW_MEMORY_H
#define DFT_DFTRACER_PFW_MEMORY_H

#include "dftracer/pfw_inside.h"

/* Grows an array so that it takes one more; sets pfw->error. Returns 0 or -ENOMEM. */
int dft_pfw_grow(struct dft_pfw *pfw, void *array, uint32_t *capacity, uint32_t count, size_t size);
/* Chooses the compression of the next block, as the job has it now. */
void dft_pfw_choose_compression(struct dft_pfw *pfw);
/* Room for a text of so many bytes and as many again. */
char *dft_pfw_reserve(struct dft_pfw *pfw, size_t bytes);
void dft_pfw_put(struct dft_pfw *pfw, const void *block, long bytes);

#endif
