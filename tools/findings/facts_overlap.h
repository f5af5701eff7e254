/* SPDX-License-Identifier: MIT */
/* Facts of computing and waiting. */
#ifndef DFT_FINDING_FACTS_OVERLAP_H
#define DFT_FINDING_FACTS_OVERLAP_H

#include "findings/facts.h"

/* Fills in `overlap` where regions say what computes, or what waits for data; exactly, where there
 * are few events. Returns 0 or -ENOMEM. Collective. */
int dft_facts_collect_overlap(struct dft_facts *facts, uint64_t events);

#endif
