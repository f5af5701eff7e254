/* SPDX-License-Identifier: MIT */
/* What moved data and is not in the numbers. */
#ifndef DFT_FINDING_VERDICT_UNSEEN_H
#define DFT_FINDING_VERDICT_UNSEEN_H

struct dft_rules;

/* Appends what was not seen; *text stays NULL where nothing is known of any. Returns 0 or -ENOMEM. */
int dft_verdict_unseen(char **text, const struct dft_rules *rules);

#endif
