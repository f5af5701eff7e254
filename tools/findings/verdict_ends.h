/* SPDX-License-Identifier: MIT */
/* Which processes ended badly. */
#ifndef DFT_FINDING_VERDICT_ENDS_H
#define DFT_FINDING_VERDICT_ENDS_H

struct dft_facts;

/* Appends how many were ended by which signal; *text stays NULL where none was. Returns 0 or -ENOMEM. */
int dft_verdict_ends(char **text, const struct dft_facts *facts);

#endif
