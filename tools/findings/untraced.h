/* SPDX-License-Identifier: MIT */
/* Programs that were started and have no trace. */
#ifndef DFT_FINDING_UNTRACED_H
#define DFT_FINDING_UNTRACED_H

#include "findings/facts.h"

/* Collects untraced, nuntraced and DFT_FACT_EXECS. Returns 0 or -ENOMEM. Collective. */
int dft_untraced_collect(struct dft_facts *facts);

#endif
