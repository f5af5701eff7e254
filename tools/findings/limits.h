/* SPDX-License-Identifier: MIT */
/* The kinds of findings and their limits: those of findings.def, as a user's file changes them. */
#ifndef DFT_LIMITS_H
#define DFT_LIMITS_H

#include <stdint.h>
#include <stdio.h>

#include "job/region_kinds.h"

#define DFT_PATTERNS_BYTES 400u

#define DFT_FINDING(code, name, advice) DFT_FINDING_##code,
#define DFT_LIMIT(code, limit, name, unit, value, reason)
enum dft_finding_code {
#include "findings/findings.def"
    DFT_FINDINGS
};
#undef DFT_FINDING
#undef DFT_LIMIT

#define DFT_FINDING(code, name, advice)
#define DFT_LIMIT(code, limit, name, unit, value, reason) DFT_LIMIT_##code##_##limit,
enum dft_limit {
#include "findings/findings.def"
    DFT_LIMITS
};
#undef DFT_FINDING
#undef DFT_LIMIT

struct dft_limits {
    uint64_t values[DFT_LIMITS];
    uint64_t off;                                        /* 1 << code of findings that the user does not want */
    char patterns[DFT_REGION_KINDS][DFT_PATTERNS_BYTES]; /* of regions; "": the usual ones */
};

void dft_limits_init(struct dft_limits *limits);
/* What regions are for. Valid as long as the limits. */
struct dft_region_patterns dft_limits_patterns(const struct dft_limits *limits);
/* Reads lines "small-reads.request = 64 KiB" and "reread = off"; # begins a comment. On an error
 * nothing is changed, and `error` (of `size` bytes) names the line, what is wrong and the nearest
 * word. Returns 0, -EINVAL, or another -errno of the file. */
int dft_limits_read(struct dft_limits *limits, const char *path, char *error, size_t size);
/* The limits of a command: the usual ones, those of a file (NULL: none), and whether risks are left
 * out. Prints what is wrong. Returns 0 or -EINVAL. */
int dft_limits_choose(struct dft_limits *limits, const char *command, const char *rules, int no_risk);
/* Prints all limits, with their reasons, in the form that dft_limits_read reads. */
void dft_limits_print(FILE *out, const struct dft_limits *limits);
const char *dft_finding_word(enum dft_finding_code code);
const char *dft_finding_advice(enum dft_finding_code code);

#endif
