/* SPDX-License-Identifier: MIT */
/* What tells instances of a region apart. */
#ifndef DFT_INSTANCE_NAMES_H
#define DFT_INSTANCE_NAMES_H

#include "summary/instances.h"

/* Short arguments of an event in order of their names, "epoch 1, step 3". Its arguments are from
 * `first` on. */
void dft_instance_label(const struct dft_names *table, const struct dft_batch *batch, uint32_t event, uint32_t first,
                        char text[DFT_INSTANCE_ARGS]);
/* Sorts instances by start, and numbers those of each region and thread. Returns 0 or -ENOMEM. */
int dft_instances_number(struct dft_instances *instances);

#endif
