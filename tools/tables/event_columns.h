/* SPDX-License-Identifier: MIT */
/* The cells of the table events, made from events. */
#ifndef DFT_TABLES_EVENT_COLUMNS_H
#define DFT_TABLES_EVENT_COLUMNS_H

#include "object/object.h"
#include "tables/maker.h"

/* Adds rows. Returns 0 or -ENOMEM. */
int dft_maker_events(struct dft_maker *maker, const struct dft_event_at *const *events, uint32_t count);

/* Columns whose texts must have been located (dft_source_names_locate). */
#define DFT_EVENTS_BIT(COLUMN) (UINT64_C(1) << DFT_EVENTS_##COLUMN)
#define DFT_EVENTS_NAMED                                                                                               \
    (DFT_EVENTS_BIT(CAT) | DFT_EVENTS_BIT(NAME) | DFT_EVENTS_BIT(REGION) | DFT_EVENTS_BIT(REGION_CAT) |                \
     DFT_EVENTS_BIT(FILE) | DFT_EVENTS_BIT(FILE2) | DFT_EVENTS_BIT(ARGS) | DFT_EVENTS_BIT(STACK))

#endif
