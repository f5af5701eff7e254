/* SPDX-License-Identifier: MIT */
/* Risks: what would cost time where memory does not answer. */
#ifndef DFT_FINDINGS_RISKS_H
#define DFT_FINDINGS_RISKS_H

struct dft_risk;
struct dft_rules;

/* Adds the risks, when all findings are made. Returns 0 or -ENOMEM. */
int dft_risks_make(struct dft_rules *rules);
void dft_risk_fini(struct dft_risk *risk);

#endif
