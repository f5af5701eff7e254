/* SPDX-License-Identifier: MIT */
/* The verdict: what the first line says. It never says more than is known: that nothing is wrong stands there only
 * where the traces could have shown trouble. */
#ifndef DFT_FINDING_VERDICT_H
#define DFT_FINDING_VERDICT_H

/* In the order of what is said first. */
enum dft_verdict_level {
    DFT_VERDICT_IN_FLIGHT, /* a call that goes on, or went on when its process was killed */
    DFT_VERDICT_UNSEEN,    /* data moved that are not in the numbers */
    DFT_VERDICT_ENDED,     /* by a signal, or killed */
    DFT_VERDICT_LOST,
    DFT_VERDICT_FAILED, /* calls */
    DFT_VERDICT_FINDINGS,
    DFT_VERDICT_UNKNOWN, /* nothing was looked for, or there was nothing to look at */
    DFT_VERDICT_GOOD,
    DFT_VERDICTS
};

struct dft_findings;
struct dft_rules;

/* Makes the lines of all levels that apply. For rank 0, when all findings are made and sorted. Returns 0 or
 * -ENOMEM. */
int dft_verdict_make(struct dft_rules *rules);
enum dft_verdict_level dft_verdict_level(const struct dft_findings *findings);
/* "unseen" ... */
const char *dft_verdict_word(enum dft_verdict_level level);

#endif
