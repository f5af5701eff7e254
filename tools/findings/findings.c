/* SPDX-License-Identifier: MIT */
/* Makes findings: collects the facts, and lets each rule look at them. */
#include "findings/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts_collect.h"
#include "findings/risks.h"
#include "findings/rules.h"
#include "mpi/comm.h"

/* In this order: the time that a rule has reported is left out by those behind it. Gaps need all of the
 * time, as processor time is not cut to a window. */
/* clang-format off */
#define CODE(code)    (UINT64_C(1) << DFT_FINDING_##code)
#define CALLS         DFT_LACKS_CALLS
#define ALL_CALLS     (CALLS | DFT_LACKS_FILES)
#define ALL_PROCESSES (ALL_CALLS | DFT_LACKS_PROCESSES)
static const struct rule {
    dft_rule_fn *run;
    unsigned needs;   /* enum dft_lacks: what the filter must not leave out */
    enum { OF_ANY, OF_RANKS, OF_REGIONS } about; /* several ranks; regions that compute, or wait */
    uint64_t codes;   /* 1 << what it finds */
} all_rules[] = {
    {dft_rule_lost, 0, OF_ANY, CODE(LOST)},
    {dft_rule_in_flight, 0, OF_ANY, CODE(IN_FLIGHT)},
    {dft_rule_untraced, 0, OF_ANY, 0},
    {dft_rule_mpi, ALL_CALLS | DFT_LACKS_RANKS, OF_RANKS, CODE(AGGREGATORS) | CODE(COLLECTIVE) | CODE(NO_COLLECTIVE)},
    {dft_rule_straggler, ALL_CALLS, OF_RANKS, CODE(STRAGGLER)},
    {dft_rule_failing, CALLS, OF_ANY, CODE(FAILING)},
    {dft_rule_locks, CALLS, OF_ANY, CODE(LOCKS)},
    {dft_rule_random, CALLS, OF_ANY, CODE(RANDOM)},
    {dft_rule_contention, CALLS | DFT_LACKS_RANKS, OF_RANKS, CODE(CONTENTION)},
    {dft_rule_sync, CALLS, OF_ANY, CODE(FSYNC) | CODE(FLUSH)},
    {dft_rule_saves, CALLS, OF_ANY, CODE(SAVES)},
    {dft_rule_missing, CALLS, OF_ANY, CODE(MISSING)},
    {dft_rule_reopened, CALLS, OF_ANY, CODE(REOPENED)},
    {dft_rule_small_files, CALLS, OF_ANY, CODE(SMALL_FILES)},
    {dft_rule_sizes, CALLS, OF_ANY, CODE(ONE_BYTE) | CODE(SMALL_READS) | CODE(SMALL_WRITES) | CODE(STREAM)},
    {dft_rule_reread, CALLS, OF_ANY, CODE(REREAD)},
    {dft_rule_misaligned, CALLS, OF_ANY, CODE(MISALIGNED)},
    {dft_rule_mapped, CALLS, OF_ANY, CODE(MAPPED)},
    {dft_rule_file_explosion, CALLS | DFT_LACKS_RANKS, OF_RANKS, CODE(FILE_EXPLOSION)},
    {dft_rule_copies, CALLS, OF_ANY, CODE(COPIES)},
    {dft_rule_seeks, CALLS, OF_ANY, CODE(SEEKS)},
    {dft_rule_removal, CALLS, OF_ANY, CODE(REMOVAL) | CODE(GROWTH)},
    {dft_rule_metadata, CALLS, OF_ANY, CODE(METADATA)},
    {dft_rule_mount, CALLS, OF_ANY, CODE(MOUNT)}, /* what no rule before it has reported */
    {dft_rule_cache, CALLS, OF_ANY, CODE(CACHE)},
    {dft_rule_imbalance, ALL_CALLS, OF_RANKS, CODE(IMBALANCE)}, /* likewise, as those behind it */
    {dft_rule_overlap, ALL_PROCESSES, OF_REGIONS, CODE(TRAINER_WAITS) | CODE(EXPOSED_IO)},
    {dft_rule_workers, ALL_PROCESSES, OF_REGIONS, CODE(SLOW_WORKER)},
    {dft_rule_gaps, ALL_PROCESSES | DFT_LACKS_RANKS | DFT_LACKS_TIMES, OF_REGIONS, CODE(IDLE_GAPS)},
    {dft_rule_serial, ALL_PROCESSES | DFT_LACKS_RANKS, OF_REGIONS, CODE(SERIAL)},
    {dft_rule_good, CALLS, OF_ANY, 0}, /* the last: it knows what was found */
};
/* clang-format on */

/* With different wholes the shares are compared. */
static double share_of(const struct dft_finding *finding)
{
    uint64_t of_ns = finding->job_ns ? finding->job_ns : finding->of_ns;

    return of_ns ? (double)dft_finding_cost_ns(finding) / (double)of_ns : 0;
}

static int by_cost(const void *left, const void *right)
{
    const struct dft_finding *a = left, *b = right;
    int urgent = b->urgency - a->urgency;
    double x = share_of(a), y = share_of(b);

    if (urgent || x != y)
        return urgent ? urgent : x < y ? 1 : -1;
    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    return strcmp(a->where ? a->where : "", b->where ? b->where : "");
}

/* Does the filter leave no event for any of the queries? */
static int is_empty(const struct dft_facts *facts)
{
    int empty = facts->asked && dft_filter_has_any(facts->request->filter);

    for (unsigned fact = 0; empty && fact < DFT_FACTS; fact++)
        empty =
            !dft_facts_has(facts, (enum dft_fact)fact) || (!facts->answers[fact].events && !facts->answers[fact].found);
    dft_comm_broadcast(&empty, sizeof empty);
    return empty;
}

/* Says why this rule is not run. */
static int skip(struct dft_rules *rules, const struct rule *rule)
{
    const struct dft_facts *facts = rules->facts;
    unsigned lacks = facts->lacks & rule->needs;
    uint64_t options = dft_facts_options(facts, lacks & DFT_LACKS_CALLS ? DFT_LACKS_CALLS : lacks);
    char *names = dft_filter_text(options), *why = NULL;
    int rc = names ? 0 : -ENOMEM;

    rules->findings->is_of_calls |= (lacks & DFT_LACKS_CALLS) != 0;
    if (!rc && lacks & DFT_LACKS_CALLS && options)
        rc = dft_finding_say(&why,
                             "%s choose%s single calls, and findings are about all (`dftmerge findings PATH` has them)",
                             names + 1, options & (options - 1) ? "" : "s");
    else if (!rc && !(lacks & DFT_LACKS_CALLS))
        rc = dft_finding_say(&why, "they are looked for without%s", names);
    if (!rc)
        rc = dft_rules_skip(rules, rule->codes, why ? why : dft_no_calls);
    free(names);
    free(why);
    return rc;
}

static int say_reported(struct dft_finding *finding)
{
    char ns[DFT_TEXT_ROOM];

    return finding->reported_ns ? dft_finding_say(&finding->evidence, "; %s of this is in other findings",
                                                  dft_text_ns(ns, finding->reported_ns))
                                : 0;
}

/* Two runs of one program differ by as much: whether the change has helped will not be seen. */
static int be_less_sure(const struct dft_rules *rules, struct dft_finding *finding)
{
    const uint64_t cost_ns = dft_finding_cost_ns(finding);
    char *why = finding->why_sure, ns[DFT_TEXT_ROOM];
    int rc;

    if (finding->sure != DFT_SURE_HIGH || finding->urgency || cost_ns >= dft_limit(rules, DFT_LIMIT_ANY_SURE))
        return 0;
    finding->sure = DFT_SURE_MEDIUM;
    finding->why_sure = NULL;
    rc = dft_finding_say(&finding->why_sure, "%s is little: two runs differ by as much; %s", dft_text_ns(ns, cost_ns),
                         why ? why : "");
    free(why);
    return rc;
}

static int run(struct dft_rules *rules, const struct rule *rule)
{
    const struct dft_facts *facts = rules->facts;
    size_t i = rules->findings->count;
    int rc, applies = (rule->about != OF_RANKS || facts->request->job->ranks > 1) &&
                      (rule->about != OF_REGIONS || facts->has_overlap || facts->lacks & ALL_CALLS);

    if (facts->lacks & rule->needs)
        return applies ? skip(rules, rule) : 0;
    rc = rule->run(rules);
    for (; !rc && i < rules->findings->count; i++) {
        rc = say_reported(&rules->findings->list[i]);
        if (!rc)
            rc = be_less_sure(rules, &rules->findings->list[i]);
    }
    return rc;
}

int dft_findings_make(const struct dft_findings_request *request, struct dft_findings *findings)
{
    struct dft_facts facts;
    struct dft_rules rules = {.facts = &facts, .limits = request->limits, .findings = findings};
    int rc;

    memset(findings, 0, sizeof *findings);
    rc = dft_facts_collect(&facts, request);
    if (rc)
        return rc;
    findings->is_empty = is_empty(&facts);
    for (size_t i = 0; !rc && !findings->is_empty && !dft_comm_rank() && i < sizeof all_rules / sizeof *all_rules; i++)
        rc = run(&rules, &all_rules[i]);
    if (!rc && !findings->is_empty && !dft_comm_rank())
        rc = dft_risks_make(&rules);
    if (!rc && findings->count)
        qsort(findings->list, findings->count, sizeof *findings->list, by_cost);
    if (!rc && !dft_comm_rank())
        rc = dft_verdict_make(&rules);
    dft_map_fini(&rules.reported);
    dft_facts_fini(&facts);
    dft_comm_broadcast(&rc, sizeof rc);
    if (rc)
        dft_findings_fini(findings);
    return rc;
}

void dft_findings_fini(struct dft_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct dft_finding *finding = &findings->list[i];

        free(finding->title);
        free(finding->where);
        free(finding->evidence);
        free(finding->advice);
        free(finding->why_sure);
        free(finding->line);
    }
    for (size_t i = 0; i < findings->nrisks; i++)
        dft_risk_fini(&findings->risks[i]);
    for (unsigned level = 0; level < DFT_VERDICTS; level++)
        free(findings->verdict[level]);
    free(findings->risks);
    free(findings->list);
    free(findings->no_trace);
    free(findings->why_not);
    free(findings->nothing);
    free(findings->notes);
    memset(findings, 0, sizeof *findings);
}
