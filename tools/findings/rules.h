/* SPDX-License-Identifier: MIT */
/* What a rule is, what all rules call, and the list of them. */
#ifndef DFT_FINDINGS_RULES_H
#define DFT_FINDINGS_RULES_H

#include "base/map.h"
#include "findings/facts.h"
#include "findings/findings.h"

struct dft_rules {
    const struct dft_facts *facts;
    const struct dft_limits *limits;
    struct dft_findings *findings;
    struct dft_map reported; /* file -> code + 1 */
    uint64_t flushes_ns;     /* reported already, of files that aggregates cannot name */
};

/* A rule adds what it finds. It runs on rank 0 alone, and asks no queries. Returns 0 or
 * -ENOMEM. */
typedef int dft_rule_fn(struct dft_rules *rules);

/* Why rules that need single calls were not run. */
extern const char dft_no_calls[];

/* Adds a finding of this code that costs `cost_ns` of `of_ns`, with advice from the table. Returns
 * 1 and *finding, for the caller to complete; 0: it is below the limit any.share, or not wanted; or
 * -ENOMEM. *finding is valid until the next one is added. */
int dft_rules_add(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                  struct dft_finding **finding);
/* The same of calls on these files (each is a key), of the wall times of all processes. */
int dft_rules_add_files(struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                        uint64_t cost_ns, struct dft_finding **finding);
/* The same, and reports these files, as dft_rules_report_files does. */
int dft_rules_add_reported(struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                           uint64_t cost_ns, struct dft_finding **finding);
/* The same as dft_rules_add, whatever it costs, and before what is not urgent. */
int dft_rules_tell(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                   struct dft_finding **finding);
/* Says what costs no time that is known, but is worth to know. Returns 0 or -ENOMEM. */
int dft_rules_note(struct dft_rules *rules, const char *note);
/* Appends to a text of a finding, NULL at first. Returns 0 or -ENOMEM. */
int dft_finding_say(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends to the advice how much there is to gain at most. Returns 0 or -ENOMEM. */
int dft_finding_say_gain(struct dft_finding *finding);
/* Says what to do instead of what the table of kinds says. Returns 0 or -ENOMEM. */
int dft_finding_advise(struct dft_finding *finding, const char *advice);
/* Is there this answer? Where it is not, these kinds (1 << code) were not looked for, and it is
 * said why. Returns 1, 0 or -ENOMEM. */
int dft_rules_need(struct dft_rules *rules, enum dft_fact fact, uint64_t codes);
/* Says that kinds of findings (1 << code) were not looked for, and why. Returns 0 or -ENOMEM. */
int dft_rules_skip(struct dft_rules *rules, uint64_t codes, const char *why);
/* The same where much of the time is that of files anywhere that aggregates do not distinguish. */
int dft_rules_skip_folded(struct dft_rules *rules, uint64_t codes);
/* Says what was looked at and found good: a few words. Returns 0 or -ENOMEM. */
int dft_rules_good(struct dft_rules *rules, const char *what);

static inline uint64_t dft_limit(const struct dft_rules *rules, enum dft_limit limit)
{
    return rules->limits->values[limit];
}

dft_rule_fn dft_rule_lost, dft_rule_in_flight, dft_rule_untraced, dft_rule_sync, dft_rule_sizes, dft_rule_good,
    dft_rule_locks, dft_rule_failing;
dft_rule_fn dft_rule_mpi, dft_rule_straggler, dft_rule_contention, dft_rule_imbalance;
dft_rule_fn dft_rule_saves, dft_rule_file_explosion, dft_rule_copies, dft_rule_removal;
dft_rule_fn dft_rule_missing, dft_rule_reopened, dft_rule_small_files, dft_rule_metadata, dft_rule_random,
    dft_rule_reread, dft_rule_misaligned, dft_rule_mapped, dft_rule_seeks, dft_rule_mount, dft_rule_cache;
dft_rule_fn dft_rule_overlap, dft_rule_workers, dft_rule_gaps, dft_rule_serial;

#endif
