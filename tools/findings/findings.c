/* SPDX-License-Identifier: MIT */
/* Makes findings: collects the facts, and lets each rule look at them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "mpi/comm.h"

/* In this order: the time that a rule has told is left out by those behind it. Gaps need all of the
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
    {dft_rule_mount, CALLS, OF_ANY, CODE(MOUNT)}, /* what no rule before it has told */
    {dft_rule_cache, CALLS, OF_ANY, CODE(CACHE)},
    {dft_rule_imbalance, ALL_CALLS, OF_RANKS, CODE(IMBALANCE)}, /* likewise, as those behind it */
    {dft_rule_overlap, ALL_PROCESSES, OF_REGIONS, CODE(TRAINER_WAITS) | CODE(EXPOSED_IO)},
    {dft_rule_workers, ALL_PROCESSES, OF_REGIONS, CODE(SLOW_WORKER)},
    {dft_rule_gaps, ALL_PROCESSES | DFT_LACKS_RANKS | DFT_LACKS_TIMES, OF_REGIONS, CODE(IDLE_GAPS)},
    {dft_rule_serial, ALL_PROCESSES | DFT_LACKS_RANKS, OF_REGIONS, CODE(SERIAL)},
    {dft_rule_good, CALLS, OF_ANY, 0}, /* the last: it knows what was found */
};
/* clang-format on */

static const char no_calls[] = "aggregates do not say which call was on which file (record events)";

/* --- what rules use --------------------------------------------------------------------------- */

/* What is said first, and whatever it costs. */
static int urgency(enum dft_finding_code code)
{
    return code == DFT_FINDING_LOST ? 2 : code == DFT_FINDING_IN_FLIGHT;
}

/* Too little to say: of the job where there are ranks and it is known what one of them has, else of all. */
static int is_little(const struct dft_rules *rules, const struct dft_finding *finding, int is_known)
{
    const uint64_t share = dft_limit(rules, DFT_LIMIT_ANY_SHARE);
    const int is_of_job = finding->job_ns && finding->cost_job_ns < finding->job_ns / 1000 * share;

    return !finding->cost_ns || is_of_job ||
           (!(finding->job_ns && is_known) && finding->cost_ns < finding->of_ns / 1000 * share);
}

static int add(struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files, int urgent,
               uint64_t cost_ns, uint64_t of_ns, struct dft_finding **result)
{
    struct dft_findings *findings = rules->findings;
    uint64_t left_ns, reported_ns;
    enum dft_base of = of_ns == rules->facts->wall_ns ? DFT_OF_JOB : DFT_OF_PROCESSES;
    struct dft_finding *finding;
    int is_known = of == DFT_OF_JOB;

    if (rules->limits->off >> code & 1)
        return 0;
    left_ns = dft_rules_left_ns(rules, code);
    reported_ns = cost_ns > left_ns ? cost_ns - left_ns : 0;
    if (cost_ns > of_ns && of_ns == rules->facts->total_ns) { /* in several threads of a process at once */
        of_ns = rules->facts->threads_ns;
        of = DFT_OF_THREADS;
    }
    if (cost_ns > of_ns && rules->facts->lacks & DFT_LACKS_TIMES) /* a call may end behind the window */
        cost_ns = of_ns;
    cost_ns -= reported_ns < cost_ns ? reported_ns : cost_ns;
    if (DFT_ARRAY_RESERVE(findings->list, findings->capacity, findings->count + 1))
        return -ENOMEM;
    finding = &findings->list[findings->count];
    *finding = (struct dft_finding){.code = code,
                                    .urgency = urgent,
                                    .sure = DFT_SURE_MEDIUM,
                                    .cost_ns = cost_ns,
                                    .of_ns = of_ns,
                                    .of = of,
                                    .is_alone = rules->facts->processes == 1,
                                    .reported_ns = reported_ns,
                                    .rank = -1};
    if (rules->facts->ranks > 1 && of_ns) {
        finding->job_ns = rules->facts->wall_ns;
        finding->cost_job_ns =
            of == DFT_OF_JOB ? cost_ns : dft_rules_job_cost_ns(rules, code, files, cost_ns, &is_known);
    }
    if (!urgent && is_little(rules, finding, is_known))
        return 0;
    finding->advice = strdup(dft_finding_advice(code));
    if (!finding->advice)
        return -ENOMEM;
    findings->count++;
    *result = finding;
    return 1;
}

int dft_rules_add(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                  struct dft_finding **finding)
{
    return add(rules, code, NULL, urgency(code), cost_ns, of_ns, finding);
}

int dft_rules_add_files(struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                        uint64_t cost_ns, struct dft_finding **finding)
{
    return add(rules, code, files, urgency(code), cost_ns, rules->facts->total_ns, finding);
}

int dft_rules_tell(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                   struct dft_finding **finding)
{
    return add(rules, code, NULL, 1, cost_ns, of_ns, finding);
}

int dft_rules_has(const struct dft_rules *rules, enum dft_finding_code code)
{
    for (size_t i = 0; i < rules->findings->count; i++)
        if (rules->findings->list[i].code == code)
            return 1;
    return 0;
}

int dft_finding_say(char **text, const char *format, ...)
{
    va_list arguments;
    char *more, *both;
    int n;

    va_start(arguments, format);
    n = vasprintf(&more, format, arguments);
    va_end(arguments);
    if (n < 0)
        return -ENOMEM;
    if (!*text) {
        *text = more;
        return 0;
    }
    both = realloc(*text, strlen(*text) + (size_t)n + 1);
    if (both) {
        strcat(both, more);
        *text = both;
    }
    free(more);
    return both ? 0 : -ENOMEM;
}

int dft_finding_say_gain(struct dft_finding *finding)
{
    char ns[DFT_TEXT_ROOM];

    return dft_finding_say(&finding->advice, " At most %s to gain.", dft_text_ns(ns, dft_finding_cost_ns(finding)));
}

int dft_finding_advise(struct dft_finding *finding, const char *advice)
{
    free(finding->advice);
    finding->advice = strdup(advice);
    return finding->advice ? 0 : -ENOMEM;
}

int dft_rules_skip(struct dft_rules *rules, uint64_t codes, const char *why)
{
    char **text = &rules->findings->why_not;

    rules->findings->not_looked_for |= codes & ~rules->limits->off;
    if (*text && strstr(*text, why))
        return 0;
    return dft_finding_say(text, "%s%s", *text ? "; " : "", why);
}

int dft_rules_skip_folded(struct dft_rules *rules, uint64_t codes)
{
    uint64_t unknown_ns = rules->facts->places.unknown_ns;

    return unknown_ns && dft_facts_matters(rules->facts, unknown_ns)
               ? dft_rules_skip(rules, codes, "there are more files than aggregates tell apart (record events)")
               : 0;
}

int dft_rules_need(struct dft_rules *rules, enum dft_fact fact, uint64_t codes)
{
    const char *why = no_calls;

    if (dft_facts_has(rules->facts, fact))
        return 1;
    if (rules->facts->has_too_many)
        why = "there are many events, and that takes long (`dftmerge findings PATH` does it)";
    return dft_rules_skip(rules, codes, why);
}

int dft_rules_good(struct dft_rules *rules, const char *what)
{
    char **text = &rules->findings->nothing;

    return dft_finding_say(text, "%s%s", *text ? ", " : "", what);
}

int dft_rules_note(struct dft_rules *rules, const char *note)
{
    char **text = &rules->findings->notes;

    return dft_finding_say(text, "%s%s", *text ? "; " : "", note);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Of different wholes the shares are compared. */
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

/* Does the filter leave no event for any of the questions? */
static int is_empty(const struct dft_facts *facts)
{
    int empty = facts->asked && dft_filter_has_any(facts->request->filter);

    for (unsigned fact = 0; empty && fact < DFT_FACTS; fact++)
        empty =
            !dft_facts_has(facts, (enum dft_fact)fact) || (!facts->answers[fact].events && !facts->answers[fact].found);
    dft_comm_broadcast(&empty, sizeof empty);
    return empty;
}

/* --- what the filter leaves out ---------------------------------------------------------------- */

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
        rc = dft_rules_skip(rules, rule->codes, why ? why : no_calls);
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
