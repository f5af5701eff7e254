/* SPDX-License-Identifier: MIT */
/* Time in which nobody works, and time in which one rank works and others wait. */
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"

#define BUSY_MACHINE     10u                      /* a process may get a tenth of a processor where many want it */
#define PART(all, share) ((all) / 1000 * (share)) /* of the unit of limits */

static int has_compute(const struct dft_facts *facts)
{
    return facts->has_overlap && facts->overlap.has_compute;
}

/* "; the longest such time is 1.2 s from +3.4 s on" */
static int say_span(const struct dft_rules *rules, struct dft_finding *finding, const struct dft_overlap_span *span)
{
    uint64_t start = rules->facts->start_ns;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (!span->from_ns)
        return 0;
    finding->from_ns = span->from_ns;
    finding->to_ns = span->to_ns;
    return dft_finding_say(&finding->evidence, "; the longest such time is %s, from +%s on",
                           dft_text_ns(a, span->to_ns - span->from_ns),
                           dft_text_ns(b, span->from_ns > start ? span->from_ns - start : 0));
}

/* Waiting for data is reported alone, with what it waits for. Processor time that no region names
 * may be spent in any of this time, and takes longer on a busy machine. */
int dft_rule_gaps(struct dft_rules *rules)
{
    const struct dft_overlap *overlap = &rules->facts->overlap;
    uint64_t reported = 0, cost;
    struct dft_finding *finding;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc;

    if (!has_compute(rules->facts))
        return 0;
    for (uint32_t i = 0; i < overlap->nteams; i++)
        reported = overlap->teams[i].data_ns > reported ? overlap->teams[i].data_ns : reported;
    reported += BUSY_MACHINE * rules->facts->unnamed_ns;
    cost = overlap->none_ns > reported ? overlap->none_ns - reported : 0;
    if (!cost || cost < PART(overlap->wall_ns, dft_limit(rules, DFT_LIMIT_IDLE_GAPS_SHARE)))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_IDLE_GAPS, cost, rules->facts->wall_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->sure = rules->facts->has_cpu ? DFT_SURE_MEDIUM : DFT_SURE_LOW;
    finding->when = dft_facts_judge(overlap->none_parts);
    rc = dft_finding_say(&finding->title, "idle gaps");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "in %s%s of %s (%s) no process computes or is in I/O",
                             overlap->is_exact ? "" : "about ", dft_text_ns(a, overlap->none_ns),
                             dft_text_ns(b, overlap->wall_ns), dft_text_share(c, overlap->none_ns, overlap->wall_ns));
    if (!rc)
        rc = say_span(rules, finding, &overlap->gap);
    return rc ? rc
              : dft_finding_say(&finding->why_sure, rules->facts->has_cpu ? "processes take no processor time then"
                                                                          : "what no region names may be work");
}

/* How much of a rank's I/O beside which it does not compute may be in findings about calls. */
static uint64_t reported_of(const struct dft_rules *rules, const struct dft_overlap_team *team)
{
    uint64_t reported_ns = dft_rules_reported_ns(rules, DFT_CLASSES_IO);

    return reported_ns < team->times.exposed_ns ? reported_ns : team->times.exposed_ns;
}

int dft_rule_serial(struct dft_rules *rules)
{
    const struct dft_overlap *overlap = &rules->facts->overlap;
    const struct dft_overlap_team *first = NULL;
    uint64_t next_ns = 0, reported_ns, cost;
    struct dft_finding *finding;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc;

    if (!has_compute(rules->facts))
        return 0;
    for (uint32_t i = 0; i < overlap->nteams; i++)
        if (overlap->teams[i].rank >= 0 && (!first || overlap->teams[i].alone_ns > first->alone_ns))
            first = &overlap->teams[i];
    for (uint32_t i = 0; first && i < overlap->nteams; i++)
        if (&overlap->teams[i] != first && overlap->teams[i].alone_ns > next_ns)
            next_ns = overlap->teams[i].alone_ns;
    cost = first ? first->alone_ns - next_ns : 0; /* by chance each is alone at times */
    reported_ns = first ? reported_of(rules, first) : 0;
    reported_ns = reported_ns < cost ? reported_ns : cost;
    cost -= reported_ns;
    if (!cost || cost < reported_ns || cost < PART(overlap->wall_ns, dft_limit(rules, DFT_LIMIT_SERIAL_SHARE)))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_SERIAL, cost, rules->facts->wall_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->rank = first->rank;
    finding->reported_ns = reported_ns;
    finding->sure = overlap->is_exact ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    rc = dft_finding_say(&finding->title, "one rank works, others wait");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "rank %lld alone computes or is in I/O in %s%s of %s (%s)",
                             (long long)first->rank, overlap->is_exact ? "" : "about ", dft_text_ns(a, first->alone_ns),
                             dft_text_ns(b, overlap->wall_ns), dft_text_share(c, first->alone_ns, overlap->wall_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ", and none of %u others does", dft_overlap_working(overlap) - 1);
    if (!rc && first == &overlap->teams[overlap->alone.team])
        rc = say_span(rules, finding, &overlap->alone);
    return rc ? rc : dft_finding_say(&finding->why_sure, "regions of the program say what computes");
}
