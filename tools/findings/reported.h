/* SPDX-License-Identifier: MIT */
/* Which finding has which time: no time of calls is in two. */
#ifndef DFT_FINDINGS_REPORTED_H
#define DFT_FINDINGS_REPORTED_H

#include "findings/limits.h"

struct dft_finding;
struct dft_map;
struct dft_rules;

/* The time of this file is in a finding: rules that come later in the list leave the file out.
 * Returns 0 or -ENOMEM. */
int dft_rules_report(struct dft_rules *rules, uint64_t file, enum dft_finding_code code);
/* The same of files that are keys. */
int dft_rules_report_files(struct dft_rules *rules, const struct dft_map *files, enum dft_finding_code code);
/* The code that has it; DFT_FINDINGS: none. */
enum dft_finding_code dft_rules_reported(const struct dft_rules *rules, uint64_t file);
/* The time that findings have, of calls of these classes (1 << enum dft_io), or of those and
 * others. */
uint64_t dft_rules_reported_ns(const struct dft_rules *rules, unsigned classes);
/* How much of the time of calls of its classes is left to a finding of this code: no other has it.
 * UINT64_MAX: it has no time of calls. */
uint64_t dft_rules_left_ns(const struct dft_rules *rules, enum dft_finding_code code);
/* For a cost in several ranks: what one of them has at most, which is all its time of calls that may have it (on these
 * files; NULL: any), and no more than the wall time of the job. *is_known: of no others, or hardly any. */
uint64_t dft_rules_job_cost_ns(const struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                               uint64_t cost_ns, int *is_known);
/* The finding that has most time of calls of these classes; NULL: there is none. */
struct dft_finding *dft_rules_costliest(const struct dft_rules *rules, unsigned classes);
/* Is there a finding of this kind? */
int dft_rules_has(const struct dft_rules *rules, enum dft_finding_code code);

#endif
