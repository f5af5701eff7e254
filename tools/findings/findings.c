/* SPDX-License-Identifier: MIT */
/* Makes findings: collects the facts, and lets each rule look at them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "findings/facts.h"
#include "mpi/comm.h"

/* In this order: the time that a rule has told is left out by those behind it. */
/* clang-format off */
static dft_rule_fn *const all_rules[] = {
    dft_rule_lost,
    dft_rule_untraced,
    dft_rule_sync,
    dft_rule_mpi,
    dft_rule_ranks,
    dft_rule_contention,
    dft_rule_missing,
    dft_rule_reopened,
    dft_rule_small_files,
    dft_rule_random,
    dft_rule_sizes,
    dft_rule_reread,
    dft_rule_misaligned,
    dft_rule_mapped,
    dft_rule_metadata,
    dft_rule_overlap,
    dft_rule_workers,
    dft_rule_idle,
    dft_rule_good, /* the last: it knows what was found */
};
/* clang-format on */

/* --- what rules use --------------------------------------------------------------------------- */

int dft_rules_add(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                  struct dft_finding **finding)
{
    struct dft_findings *findings = rules->findings;
    const char *advice = dft_finding_advice(code);
    uint64_t least = of_ns / 1000 * dft_limit(rules, DFT_LIMIT_ANY_SHARE);

    if (cost_ns > of_ns && of_ns == rules->facts->total_ns) /* in several threads of a process at once */
        of_ns = rules->facts->request->job->threads_ns;
    if (rules->limits->off >> code & 1 || (code != DFT_FINDING_LOST && (!cost_ns || cost_ns < least)))
        return 0;
    if (DFT_ARRAY_RESERVE(findings->list, findings->capacity, findings->count + 1))
        return -ENOMEM;
    *finding = &findings->list[findings->count];
    **finding = (struct dft_finding){.code = code,
                                     .sure = DFT_SURE_MEDIUM,
                                     .cost_ns = cost_ns,
                                     .of_ns = of_ns,
                                     .rank = -1,
                                     .advice = strdup(advice)};
    if (!(*finding)->advice)
        return -ENOMEM;
    findings->count++;
    return 1;
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

int dft_rules_skip(struct dft_rules *rules, uint64_t codes, const char *why)
{
    char **text = &rules->findings->why_not;

    rules->findings->not_looked_for |= codes & ~rules->limits->off;
    if (*text && strstr(*text, why))
        return 0;
    return dft_finding_say(text, "%s%s", *text ? "; " : "", why);
}

int dft_rules_need(struct dft_rules *rules, enum dft_fact fact, uint64_t codes)
{
    const char *why = "calls were kept as aggregates, which do not say which call was on which file "
                      "(without DFTRACER_ENABLE_AGGREGATION they are kept one by one)";

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

int dft_rules_tell(struct dft_rules *rules, uint64_t file, enum dft_finding_code code)
{
    uint64_t *told = file ? dft_map_put(&rules->told, file) : NULL;

    if (told)
        *told = (uint64_t)code + 1;
    return file && !told ? -ENOMEM : 0;
}

enum dft_finding_code dft_rules_told(const struct dft_rules *rules, uint64_t file)
{
    const uint64_t *told = file ? dft_map_find(&rules->told, file) : NULL;

    return told ? (enum dft_finding_code)(*told - 1) : DFT_FINDINGS;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_cost(const void *left, const void *right)
{
    const struct dft_finding *a = left, *b = right;
    int lost = (b->code == DFT_FINDING_LOST) - (a->code == DFT_FINDING_LOST);
    /* Of different wholes the shares are compared. */
    double x = a->of_ns ? (double)a->cost_ns / (double)a->of_ns : 0,
           y = b->of_ns ? (double)b->cost_ns / (double)b->of_ns : 0;

    if (lost || x != y)
        return lost ? lost : x < y ? 1 : -1;
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
        rc = all_rules[i](&rules);
    dft_map_fini(&rules.told);
    dft_facts_fini(&facts);
    dft_comm_broadcast(&rc, sizeof rc);
    if (rc)
        dft_findings_fini(findings);
    else if (findings->count)
        qsort(findings->list, findings->count, sizeof *findings->list, by_cost);
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
    free(findings->list);
    free(findings->no_trace);
    free(findings->why_not);
    free(findings->nothing);
    free(findings->notes);
    memset(findings, 0, sizeof *findings);
}
