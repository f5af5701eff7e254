/* SPDX-License-Identifier: MIT */
/* Collects the facts that rules look at. */
#ifndef DFT_FINDING_FACTS_COLLECT_H
#define DFT_FINDING_FACTS_COLLECT_H

#include "findings/facts.h"

/* Returns 0 or -ENOMEM. Collective. */
int dft_facts_collect(struct dft_facts *facts, const struct dft_findings_request *request);
void dft_facts_fini(struct dft_facts *facts);

#endif
