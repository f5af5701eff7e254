/* SPDX-License-Identifier: MIT */
/* Which records of a state are kept in aggregates alone. */
#ifndef DFT_KEEP_H
#define DFT_KEEP_H

#include "rows/rows.h"

/* For a state whose calls are not all events: is this record kept in aggregates alone? It is added then.
 * The same of a record with items, and of a burst (rows.h). */
int dft_mode_keeps(struct dft_thread *self, const struct dft_slot *record);
int dft_mode_keeps_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items);
int dft_mode_keeps_burst(struct dft_thread *self, const struct dft_slot *record, const struct dft_burst *run,
                         struct dft_burst *open);

#endif
