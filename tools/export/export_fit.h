/* SPDX-License-Identifier: MIT */
/* How much detail fits into a size: goes through the events once, and counts what they take by their duration. */
#ifndef DFT_EXPORT_FIT_H
#define DFT_EXPORT_FIT_H

#include "export/export_perfetto_put.h"

/* Sets p->plan so that the file has p->export->max_bytes at most, and notes what it then lacks. Says on stderr where no
 * plan does. Collective. Returns 0, -errno or DFT_EXPORT_SAID. */
int dft_fit(struct dft_perfetto *p);
/* Has the file this event by its plan? Events come in the order in which they were counted: of samples, the one that
 * was kept before decides. */
int dft_fit_keeps(struct dft_perfetto *p, const struct dft_event_at *at);
/* What a file lacks by a plan. For people, and from malloc; NULL: no memory. */
char *dft_plan_sentence(const struct dft_plan *plan, uint64_t max_bytes);

#endif
