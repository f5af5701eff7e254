/* SPDX-License-Identifier: MIT */
/* A file on which calls take longer when several ranks use it at once. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/reported.h"
#include "findings/rules.h"

struct load {
    uint64_t calls, time_ns, bytes, median_ns;
    uint32_t ranks; /* at most at once */
    uint64_t from_ns, to_ns;
};

/* Groups of one part of the run, which follow each other when they are sorted by time. */
static int by_part(const void *left, const void *right)
{
    const struct dft_group *const *a = left, *const *b = right;

    return (*a)->key.time < (*b)->key.time ? -1 : (*a)->key.time > (*b)->key.time;
}

static int by_median(const void *left, const void *right)
{
    const struct dft_group *const *a = left, *const *b = right;

    return (*a)->p50 < (*b)->p50 ? -1 : (*a)->p50 > (*b)->p50;
}

/* The median of groups that are sorted by theirs, each counted as often as it has calls. */
static void measure(const struct dft_group **groups, size_t count, struct load *load)
{
    uint64_t before = 0;

    for (size_t i = 0; i < count; i++) {
        const struct dft_metrics *metrics = &groups[i]->metrics;

        load->calls += metrics->count;
        load->time_ns += metrics->dur_sum;
        load->bytes += metrics->bytes;
        load->from_ns = !load->from_ns || metrics->first_start < load->from_ns ? metrics->first_start : load->from_ns;
        load->to_ns = metrics->last_end > load->to_ns ? metrics->last_end : load->to_ns;
    }
    for (size_t i = 0; i < count && before * 2 < load->calls; i++) {
        before += groups[i]->metrics.count;
        load->median_ns = groups[i]->p50;
    }
}

/* Puts groups of parts in which one rank uses the file first. Returns how many these are. */
static size_t part_groups(const struct dft_group **groups, size_t count, uint32_t *max)
{
    const struct dft_group **busy = calloc(count + 1, sizeof *busy);
    size_t alone = 0, others = 0, n;

    if (!busy)
        return 0;
    qsort(groups, count, sizeof *groups, by_part);
    for (size_t i = 0; i < count; i += n) {
        for (n = 1; i + n < count && groups[i + n]->key.time == groups[i]->key.time; n++)
            busy[others + n] = groups[i + n];
        busy[others] = groups[i];
        *max = n > *max ? (uint32_t)n : *max;
        if (n == 1)
            groups[alone++] = groups[i];
        else
            others += n;
    }
    for (size_t i = 0; i < others; i++)
        groups[alone + i] = busy[i];
    free(busy);
    return alone;
}

/* Larger calls take longer in any company. */
static int are_larger(const struct load *many, const struct load *one)
{
    return many->bytes / many->calls > 2 * (one->bytes / one->calls);
}

static int say(struct dft_rules *rules, const struct load *one, const struct load *many, uint64_t cost_ns)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_group group = {.key = {.file = facts->shared_file}};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    struct dft_finding *finding;
    int rc = dft_rules_reported(rules, facts->shared_file) == DFT_FINDINGS
                 ? dft_rules_add(rules, DFT_FINDING_CONTENTION, cost_ns, facts->total_ns, &finding)
                 : 0;

    if (rc <= 0 || dft_rules_report(rules, facts->shared_file, DFT_FINDING_CONTENTION))
        return rc <= 0 ? rc : -ENOMEM;
    finding->calls = many->calls;
    finding->files = 1;
    finding->from_ns = many->from_ns;
    finding->to_ns = many->to_ns;
    finding->where = dft_facts_text(&facts->answers[DFT_FACT_RANK_FILES], &group, DFT_BY_FILE);
    if (!finding->where)
        return -ENOMEM;
    rc = dft_finding_say(&finding->title, "ranks are in each other's way in a file");
    if (!rc)
        rc = dft_finding_say(&finding->evidence,
                             "%s: a %s takes %s (median) while up to %u ranks use the file, against %s while one does; "
                             "%s calls",
                             finding->where, facts->shared_class == DFT_IO_READ ? "read" : "write",
                             dft_text_ns(a, many->median_ns), many->ranks, dft_text_ns(b, one->median_ns),
                             dft_text_count(c, many->calls));
    return rc ? rc
              : dft_finding_say(&finding->why_sure,
                                "medians are measured; the calls of both times may differ in more than company");
}

int dft_rule_contention(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *answer = &facts->answers[DFT_FACT_SHARED];
    const uint64_t least = dft_limit(rules, DFT_LIMIT_CONTENTION_CALLS);
    const struct dft_group **groups;
    struct load one = {0}, many = {0};
    size_t count = 0, alone;
    uint64_t usual_ns;

    if (!dft_facts_has(facts, DFT_FACT_SHARED))
        return 0;
    groups = calloc(answer->count + 1u, sizeof *groups);
    if (!groups)
        return -ENOMEM;
    for (uint32_t i = 0; i < answer->count; i++)
        if (answer->groups[i].key.class == facts->shared_class && answer->groups[i].metrics.count &&
            answer->groups[i].p50 != DFT_PERCENTILE_UNKNOWN && dft_facts_rank(answer, &answer->groups[i]) >= 0)
            groups[count++] = &answer->groups[i];
    alone = part_groups(groups, count, &many.ranks);
    qsort(groups, alone, sizeof *groups, by_median);
    qsort(groups + alone, count - alone, sizeof *groups, by_median);
    measure(groups, alone, &one);
    measure(groups + alone, count - alone, &many);
    free(groups);
    if (one.calls < least || many.calls < least || are_larger(&many, &one) ||
        many.median_ns < one.median_ns * dft_limit(rules, DFT_LIMIT_CONTENTION_FACTOR) / 1000)
        return 0;
    usual_ns = one.time_ns / one.calls * many.calls;
    return many.time_ns > usual_ns ? say(rules, &one, &many, many.time_ns - usual_ns) : 0;
}
