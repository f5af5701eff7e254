/* SPDX-License-Identifier: MIT */
/* Are places in a table what they should be? */
#ifndef DFT_LIVE_TABLE_INSIDE_H
#define DFT_LIVE_TABLE_INSIDE_H

#include "format/live_table.h"

static inline int dft_live_is_place(const struct dft_live_table *table, uint32_t place, size_t bytes)
{
    return place >= DFT_LIVE_ARENA && (size_t)place * 8 + bytes <= table->bytes;
}

static inline int dft_live_is_object(const struct dft_live_table *table, uint32_t place, uint8_t type, size_t bytes)
{
    return dft_live_is_place(table, place, bytes) &&
           ((const struct dft_live_object *)dft_live_at(table, place))->type == type;
}

#endif
