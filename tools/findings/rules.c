/* SPDX-License-Identifier: MIT */
/* What every rule calls: a finding is added where it costs enough, and what was not looked for is said. */
#include "findings/rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"
#include "findings/reported.h"

const char dft_no_calls[] = "aggregates do not say which call was on which file (record events)";

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

int dft_rules_add_reported(struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                           uint64_t cost_ns, struct dft_finding **finding)
{
    int rc = dft_rules_add_files(rules, code, files, cost_ns, finding);

    return rc > 0 && dft_rules_report_files(rules, files, code) ? -ENOMEM : rc;
}

int dft_rules_tell(struct dft_rules *rules, enum dft_finding_code code, uint64_t cost_ns, uint64_t of_ns,
                   struct dft_finding **finding)
{
    return add(rules, code, NULL, 1, cost_ns, of_ns, finding);
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
    const char *why = dft_no_calls;

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
