/* SPDX-License-Identifier: MIT */
/* The slowest rank against the median: it does more, or each of its calls takes longer; since when,
 * and where. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/reported.h"
#include "findings/rules.h"

#define PARTS 512u /* of the run, at most */

struct slow {
    struct dft_slow_rank found;
    uint64_t mean_ns, usual_ns; /* a call while the rank is slow; of the rank in the middle */
    uint64_t calls, slow_calls; /* since then; of these in parts of the run in which calls take long */
    uint64_t since_ns, to_ns;
    const struct dft_group *dir; /* where; NULL: not known */
    const struct dft_answer *times;
};

/* A rank that was slow before the slow one. */
struct earlier {
    int64_t rank; /* -1: none */
    uint64_t from_ns, to_ns, mean_ns, lost_ns;
};

/* Does it make more calls, or move more, than the rank in the middle? */
static int does_more(const struct dft_rules *rules, const struct slow *slow)
{
    const uint64_t factor = dft_limit(rules, DFT_LIMIT_IMBALANCE_FACTOR);

    return slow->found.rank.calls > slow->found.median.calls * factor / 1000 ||
           slow->found.rank.bytes > slow->found.median.bytes * factor / 1000;
}

/* --- since when, and where -------------------------------------------------------------------- */

struct part {
    uint64_t time_ns, calls, max_ns, from_ns, to_ns;
};

static void add_parts(const struct dft_answer *times, struct part *parts)
{
    for (uint32_t i = 0; i < times->count; i++) {
        const struct dft_group *group = &times->groups[i];
        struct part *part = &parts[group->key.time < PARTS ? group->key.time : PARTS - 1];

        if (!group->metrics.count)
            continue;
        part->time_ns += group->metrics.dur_sum;
        part->calls += group->metrics.count;
        part->max_ns = group->metrics.dur_max > part->max_ns ? group->metrics.dur_max : part->max_ns;
        part->from_ns = group->metrics.first_start;
        part->to_ns = group->metrics.last_end > part->to_ns ? group->metrics.last_end : part->to_ns;
    }
}

/* Do calls of a part take long? One long call among others does not say so. */
static int is_slow_part(const struct part *part, uint64_t slow_ns)
{
    if (part->calls < 2)
        return part->time_ns >= slow_ns * part->calls;
    return (part->time_ns - part->max_ns) / (part->calls - 1) >= slow_ns;
}

/* The rank is slow from the part on from which it loses most; half of the limit is as good as
 * usual. */
static int find_since(const struct dft_rules *rules, struct slow *slow)
{
    const uint64_t slow_ns = slow->usual_ns * dft_limit(rules, DFT_LIMIT_STRAGGLER_CALL) / 1000, fair_ns = slow_ns / 2;
    struct part *parts = calloc(PARTS, sizeof *parts);
    struct part sum = {0};
    uint64_t slow_calls = 0;
    int64_t lost = 0, max = 0;

    if (!parts)
        return -ENOMEM;
    add_parts(slow->times, parts);
    for (unsigned i = PARTS; i--;) {
        if (!parts[i].calls)
            continue;
        lost += (int64_t)(parts[i].time_ns - parts[i].calls * fair_ns);
        sum.time_ns += parts[i].time_ns;
        sum.calls += parts[i].calls;
        slow_calls += is_slow_part(&parts[i], slow_ns) ? parts[i].calls : 0;
        slow->to_ns = slow->to_ns ? slow->to_ns : parts[i].to_ns;
        if (lost > max) {
            max = lost;
            slow->since_ns = parts[i].from_ns;
            slow->calls = sum.calls;
            slow->mean_ns = sum.time_ns / sum.calls;
            slow->slow_calls = slow_calls;
        }
    }
    free(parts);
    return 0;
}

/* The parts in a row, up to `until_ns`, in which a rank loses most. */
static int find_earlier(const struct dft_rules *rules, const struct slow *slow, uint64_t until_ns,
                        struct earlier *earlier)
{
    const uint64_t slow_ns = slow->usual_ns * dft_limit(rules, DFT_LIMIT_STRAGGLER_CALL) / 1000, fair_ns = slow_ns / 2;
    struct part *parts = calloc(PARTS, sizeof *parts);
    struct part sum = {0};
    int64_t lost = 0, max = 0;
    uint64_t slow_calls = 0;

    if (!parts)
        return -ENOMEM;
    add_parts(slow->times, parts);
    for (unsigned i = 0; i < PARTS && parts[i].from_ns <= until_ns; i++) {
        if (!parts[i].calls)
            continue;
        lost += (int64_t)(parts[i].time_ns - parts[i].calls * fair_ns);
        if (lost <= 0) {
            lost = 0;
            slow_calls = 0;
            sum = (struct part){0};
            continue;
        }
        sum.from_ns = sum.calls ? sum.from_ns : parts[i].from_ns;
        sum.time_ns += parts[i].time_ns;
        sum.calls += parts[i].calls;
        slow_calls += is_slow_part(&parts[i], slow_ns) ? parts[i].calls : 0;
        if (lost <= max)
            continue;
        max = lost;
        if (sum.calls >= dft_limit(rules, DFT_LIMIT_STRAGGLER_CALLS) && slow_calls * 2 >= sum.calls &&
            sum.time_ns / sum.calls >= slow_ns)
            *earlier = (struct earlier){slow->found.rank.rank, sum.from_ns, parts[i].to_ns, sum.time_ns / sum.calls,
                                        sum.time_ns - sum.calls * slow->usual_ns};
    }
    free(parts);
    return 0;
}

/* The directory in which the slow rank is longest. */
static void find_dir(const struct dft_facts *facts, struct slow *slow)
{
    const struct dft_answer *dirs = &facts->answers[DFT_FACT_RANK_DIRS];

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_RANK_DIRS) && i < dirs->count && !slow->dir; i++)
        if (dirs->groups[i].key.class == slow->found.class &&
            dft_facts_rank(dirs, &dirs->groups[i]) == slow->found.rank.rank)
            slow->dir = &dirs->groups[i]; /* by time: the first has most */
}

/* --- what is said ----------------------------------------------------------------------------- */

static int say_place(const struct dft_facts *facts, struct dft_finding *finding, const struct slow *slow)
{
    const uint64_t start_ns = facts->request->job->start_ns;
    char since[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->evidence, "rank %lld", (long long)slow->found.rank.rank);

    if (!rc && slow->since_ns > start_ns)
        rc = dft_finding_say(&finding->evidence, " since +%s", dft_text_ns(since, slow->since_ns - start_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, " in %s", dft_slow_rank_word(slow->found.class));
    if (rc || !slow->dir)
        return rc;
    finding->where = dft_facts_text(&facts->answers[DFT_FACT_RANK_DIRS], slow->dir, DFT_BY_DIR);
    return finding->where ? dft_finding_say(&finding->evidence, " below %s/", finding->where) : -ENOMEM;
}

static int say_earlier(const struct dft_facts *facts, struct dft_finding *finding, const struct earlier *earlier)
{
    const uint64_t start_ns = facts->request->job->start_ns;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    return dft_finding_say(&finding->evidence, "; before, rank %lld was slow from +%s to +%s: %s a call",
                           (long long)earlier->rank, dft_text_ns(a, earlier->from_ns - start_ns),
                           dft_text_ns(b, earlier->to_ns - start_ns), dft_text_ns(c, earlier->mean_ns));
}

static int say_straggler(const struct dft_facts *facts, struct dft_finding *finding, const struct slow *slow,
                         const struct earlier *earlier)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = earlier->rank < 0 ? dft_finding_say(&finding->title, "rank %lld is slow", (long long)slow->found.rank.rank)
                               : dft_finding_say(&finding->title, "rank %lld is slow, then rank %lld",
                                                 (long long)earlier->rank, (long long)slow->found.rank.rank);

    if (!rc)
        rc = say_place(facts, finding, slow);
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ": %s a call against %s of the others; ",
                             dft_text_ns(a, slow->mean_ns), dft_text_ns(b, slow->usual_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s ran %s instead of %s",
                             facts->lacks ? "what was looked at" : "the job", dft_text_ns(a, facts->wall_ns),
                             dft_text_ns(b, facts->wall_ns - finding->cost_ns));
    if (!rc && earlier->rank >= 0)
        rc = say_earlier(facts, finding, earlier);
    finding->when = slow->since_ns > facts->start_ns + facts->wall_ns / 10 ? DFT_WHEN_UNKNOWN : DFT_WHEN_PERSISTENT;
    return rc ? rc
              : dft_finding_say(
                    &finding->why_sure,
                    "its calls take longer for as many and as large ones; whether all wait for it is not seen");
}

static int say_imbalance(struct dft_finding *finding, const struct slow *slow)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM], e[DFT_TEXT_ROOM], f[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "rank %lld does more I/O", (long long)slow->found.rank.rank);

    if (!rc)
        rc = dft_finding_say(&finding->evidence,
                             "rank %lld: %s in %s, %s calls, %s; a rank in the middle: %s, %s calls, %s",
                             (long long)slow->found.rank.rank, dft_text_ns(a, slow->found.rank.time_ns),
                             dft_slow_rank_word(slow->found.class), dft_text_count(b, slow->found.rank.calls),
                             dft_text_bytes(c, slow->found.rank.bytes), dft_text_ns(d, slow->found.median.time_ns),
                             dft_text_count(e, slow->found.median.calls), dft_text_bytes(f, slow->found.median.bytes));
    return rc ? rc
              : dft_finding_say(&finding->why_sure, "this is measured; whether the others wait for it is not seen");
}

static uint64_t cost_of(const struct dft_facts *facts, const struct slow *slow, const struct earlier *earlier)
{
    uint64_t cost_ns = slow->found.rank.time_ns - slow->found.median.time_ns + earlier->lost_ns;

    return cost_ns < facts->wall_ns ? cost_ns : facts->wall_ns;
}

static int add(struct dft_rules *rules, const struct slow *slow, const struct earlier *earlier, int is_straggler)
{
    const struct dft_facts *facts = rules->facts;
    struct dft_finding *finding;
    int rc = dft_rules_add(rules, is_straggler ? DFT_FINDING_STRAGGLER : DFT_FINDING_IMBALANCE,
                           cost_of(facts, slow, earlier), facts->wall_ns, &finding);

    if (rc <= 0)
        return rc;
    finding->rank = slow->found.rank.rank;
    finding->calls = slow->found.rank.calls;
    finding->bytes = slow->found.rank.bytes;
    if (!is_straggler)
        return say_imbalance(finding, slow);
    finding->from_ns = earlier->rank < 0 ? slow->since_ns : earlier->from_ns;
    finding->to_ns = slow->to_ns;
    return say_straggler(facts, finding, slow, earlier);
}

/* A few long calls make no slow rank: most of its calls must take long. */
static int is_slow(const struct dft_rules *rules, const struct slow *slow)
{
    return slow->calls >= dft_limit(rules, DFT_LIMIT_STRAGGLER_CALLS) && slow->slow_calls * 2 >= slow->calls &&
           slow->mean_ns >= slow->usual_ns * dft_limit(rules, DFT_LIMIT_STRAGGLER_CALL) / 1000;
}

/* 1: it is slow rather than busy with more; since when. */
static int judge(const struct dft_rules *rules, struct slow *slow)
{
    const struct dft_rank_sum *median = &slow->found.median;
    int rc;

    slow->usual_ns = median->calls ? median->time_ns / median->calls : 0;
    if (does_more(rules, slow))
        return 0;
    rc = find_since(rules, slow);
    return rc ? rc : is_slow(rules, slow);
}

/* The one that is slow to the end; who was slow before it, and lost half as much at least, was another one.
 * Ranks lag behind each other, so their times may overlap. */
int dft_rule_straggler(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct slow slow = {.found = facts->slow, .times = &facts->answers[DFT_FACT_RANK_TIMES]};
    struct slow other = {.found = facts->slow, .times = &facts->answers[DFT_FACT_NEXT_TIMES]};
    struct earlier earlier = {.rank = -1};
    int has_other = dft_facts_has(facts, DFT_FACT_NEXT_TIMES), rc;

    if (!dft_facts_has(facts, DFT_FACT_RANK_TIMES))
        return 0;
    other.found.rank = facts->slow.next;
    rc = judge(rules, &slow);
    if (!rc && has_other && (rc = judge(rules, &other)) > 0) {
        const struct slow first = slow;

        slow = other;
        other = first;
    }
    if (rc <= 0)
        return rc;
    other.usual_ns = slow.usual_ns;
    rc = has_other && !does_more(rules, &other)
             ? find_earlier(rules, &other, slow.since_ns / 2 + slow.to_ns / 2, &earlier)
             : 0;
    if (rc)
        return rc;
    if (earlier.from_ns >= slow.since_ns || earlier.lost_ns * 2 < slow.found.rank.time_ns - slow.found.median.time_ns)
        earlier = (struct earlier){.rank = -1};
    find_dir(facts, &slow);
    return add(rules, &slow, &earlier, 1);
}

/* The finding that has the time of these calls says which rank makes them. */
static int point_at(struct dft_rules *rules, const struct dft_slow_rank *slow)
{
    struct dft_finding *finding = dft_rules_costliest(rules, 1u << slow->class);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    if (!finding || finding->rank >= 0)
        return 0;
    finding->rank = slow->rank.rank;
    return dft_finding_say(
        &finding->evidence, "; rank %lld: %s in %s (%s of the job), a rank in the middle: %s",
        (long long)slow->rank.rank, dft_text_ns(a, slow->rank.time_ns), dft_slow_rank_word(slow->class),
        dft_text_share(c, slow->rank.time_ns, rules->facts->wall_ns), dft_text_ns(b, slow->median.time_ns));
}

/* Where other findings have most of the time, they name the cause. */
int dft_rule_imbalance(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct slow slow = {.found = facts->slow};
    const struct earlier none = {.rank = -1};
    uint64_t cost_ns = cost_of(facts, &slow, &none);

    if (!dft_facts_has(facts, DFT_FACT_RANK_TIMES) || !does_more(rules, &slow) ||
        rules->limits->off >> DFT_FINDING_IMBALANCE & 1)
        return 0;
    if (dft_rules_left_ns(rules, DFT_FINDING_IMBALANCE) * 2 < cost_ns)
        return cost_ns < facts->wall_ns / 1000 * dft_limit(rules, DFT_LIMIT_ANY_SHARE) ? 0
                                                                                       : point_at(rules, &facts->slow);
    return add(rules, &slow, &none, 0);
}
