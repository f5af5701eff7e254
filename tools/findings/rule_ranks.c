/* SPDX-License-Identifier: MIT */
/* The slowest rank against the median: it does more, or each of its calls takes longer; since when, and where. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts_ranks.h"
#include "findings/rank_sums.h"

#define IO_CLASSES (1u << DFT_IO_READ | 1u << DFT_IO_WRITE | 1u << DFT_IO_SYNC | 1u << DFT_IO_META)

static const char *const class_words[DFT_IO_COUNT] = {
    [DFT_IO_READ] = "read", [DFT_IO_WRITE] = "write", [DFT_IO_SYNC] = "sync", [DFT_IO_META] = "metadata"};

struct slow {
    struct dft_rank_sum rank, median; /* I/O of the slowest one; of a rank in the middle */
    unsigned class;                   /* in which it loses most */
    uint64_t mean_ns, usual_ns;       /* a call of that class: of this rank, and of the others */
    uint64_t since_ns, to_ns;         /* 0: not known */
    const struct dft_group *dir;      /* where; NULL: not known */
};

/* --- sums ------------------------------------------------------------------------------------- */

/* I/O of each rank; calls inside collective calls of MPI-IO are made for the others. */
static int sum_ranks(const struct dft_facts *facts, struct dft_rank_sums *sums)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_RANK_REGIONS];
    int rc = 0;

    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        struct dft_key_value region;

        dft_group_value(answer, &answer->groups[i], DFT_BY_REGION, &region);
        if (region.type != DFT_KEY_TEXT || !dft_is_collective(region.text))
            rc = dft_rank_sums_add(sums, dft_facts_rank(answer, &answer->groups[i]), &answer->groups[i].metrics);
    }
    dft_rank_sums_sort(sums);
    return rc;
}

/* Time a call of this class, on the average: of `rank`, or of all others (in a directory, or in all). */
static uint64_t mean_of(const struct dft_answer *answer, int64_t rank, int others, unsigned class, uint64_t dir,
                        uint64_t *calls)
{
    uint64_t time_ns = 0;

    *calls = 0;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        int64_t own = dft_facts_rank(answer, group);

        if (group->key.class != class || own < 0 || (own == rank) == others || (dir && group->key.file != dir))
            continue;
        *calls += group->metrics.count;
        time_ns += group->metrics.dur_sum;
    }
    return *calls ? time_ns / *calls : 0;
}

/* The class in which the slow rank loses most against the mean call of the others. */
static void find_class(const struct dft_answer *ranks, struct slow *slow)
{
    uint64_t most = 0;

    for (unsigned class = 0; class < DFT_IO_COUNT; class ++) {
        uint64_t calls, other_calls, mean, usual, lost;

        if (!(IO_CLASSES >> class & 1))
            continue;
        mean = mean_of(ranks, slow->rank.rank, 0, class, 0, &calls);
        usual = mean_of(ranks, slow->rank.rank, 1, class, 0, &other_calls);
        lost = mean > usual && other_calls ? (mean - usual) * calls : 0;
        if (lost > most) {
            most = lost;
            slow->class = class;
            slow->mean_ns = mean;
            slow->usual_ns = usual;
        }
    }
}

/* --- where and when --------------------------------------------------------------------------- */

/* The directory in which the slow rank loses most, and what a call takes there. */
static void find_dir(const struct dft_facts *facts, struct slow *slow)
{
    const struct dft_answer *dirs = &facts->answers[DFT_FACT_RANK_DIRS];

    if (!dft_facts_has(facts, DFT_FACT_RANK_DIRS))
        return;
    for (uint32_t i = 0; i < dirs->count && !slow->dir; i++) { /* by time: the first has most */
        const struct dft_group *group = &dirs->groups[i];
        uint64_t calls, usual;

        if (group->key.class != slow->class || dft_facts_rank(dirs, group) != slow->rank.rank || !group->metrics.count)
            continue;
        slow->dir = group;
        slow->mean_ns = group->metrics.dur_sum / group->metrics.count;
        usual = mean_of(dirs, slow->rank.rank, 1, slow->class, group->key.file, &calls);
        slow->usual_ns = calls ? usual : slow->usual_ns;
    }
}

/* The first part of the run from which on the rank is slow in each part in which it makes such calls. */
static void find_since(const struct dft_facts *facts, const struct dft_rules *rules, struct slow *slow)
{
    const struct dft_answer *times = &facts->answers[DFT_FACT_RANK_TIMES];
    const uint64_t factor = dft_limit(rules, DFT_LIMIT_STRAGGLER_CALL);
    uint64_t last_usual = 0; /* the last part in which it was not slow, + 1 */

    for (uint32_t i = 0; i < times->count; i++) {
        const struct dft_group *group = &times->groups[i];

        if (group->key.class == slow->class && dft_facts_rank(times, group) == slow->rank.rank &&
            group->metrics.count && group->metrics.dur_sum / group->metrics.count < slow->usual_ns * factor / 1000 &&
            group->key.time >= last_usual)
            last_usual = group->key.time + 1;
    }
    for (uint32_t i = 0; i < times->count; i++) {
        const struct dft_group *group = &times->groups[i];

        if (group->key.class != slow->class || dft_facts_rank(times, group) != slow->rank.rank ||
            !group->metrics.count || group->key.time < last_usual)
            continue;
        if (!slow->since_ns || group->metrics.first_start < slow->since_ns)
            slow->since_ns = group->metrics.first_start;
        slow->to_ns = group->metrics.last_end > slow->to_ns ? group->metrics.last_end : slow->to_ns;
    }
}

/* --- what is said ----------------------------------------------------------------------------- */

static int say_place(const struct dft_facts *facts, struct dft_finding *finding, const struct slow *slow)
{
    const uint64_t start_ns = facts->request->job->start_ns;
    char since[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->evidence, "rank %lld", (long long)slow->rank.rank);

    if (!rc && slow->since_ns > start_ns)
        rc = dft_finding_say(&finding->evidence, " since +%s", dft_text_ns(since, slow->since_ns - start_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, " in %s", class_words[slow->class]);
    if (rc || !slow->dir)
        return rc;
    finding->where = dft_facts_text(&facts->answers[DFT_FACT_RANK_DIRS], slow->dir, DFT_BY_DIR);
    return finding->where ? dft_finding_say(&finding->evidence, " below %s/", finding->where) : -ENOMEM;
}

static int say_straggler(const struct dft_facts *facts, struct dft_finding *finding, const struct slow *slow)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "rank %lld is slow", (long long)slow->rank.rank);

    if (!rc)
        rc = say_place(facts, finding, slow);
    if (!rc)
        rc = dft_finding_say(&finding->evidence, ": %s a call against %s of the others; ",
                             dft_text_ns(a, slow->mean_ns), dft_text_ns(b, slow->usual_ns));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "the job ran %s instead of %s", dft_text_ns(a, facts->wall_ns),
                             dft_text_ns(b, facts->wall_ns - finding->cost_ns));
    finding->when = slow->since_ns > facts->start_ns + facts->wall_ns / 10 ? DFT_WHEN_GROWING : DFT_WHEN_PERSISTENT;
    return rc ? rc
              : dft_finding_say(
                    &finding->why_sure,
                    "its calls take longer for as many and as large ones; whether all wait for it is not seen");
}

static int say_imbalance(struct dft_finding *finding, const struct slow *slow)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM], e[DFT_TEXT_ROOM], f[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "rank %lld does more I/O", (long long)slow->rank.rank);

    if (!rc)
        rc = dft_finding_say(
            &finding->evidence, "rank %lld: %s in I/O, %s calls, %s; a rank in the middle: %s, %s calls, %s",
            (long long)slow->rank.rank, dft_text_ns(a, slow->rank.time_ns), dft_text_count(b, slow->rank.calls),
            dft_text_bytes(c, slow->rank.bytes), dft_text_ns(d, slow->median.time_ns),
            dft_text_count(e, slow->median.calls), dft_text_bytes(f, slow->median.bytes));
    return rc ? rc
              : dft_finding_say(&finding->why_sure, "this is measured; whether the others wait for it is not seen");
}

static int add(struct dft_rules *rules, const struct slow *slow, int is_straggler)
{
    const struct dft_facts *facts = rules->facts;
    uint64_t cost_ns = slow->rank.time_ns - slow->median.time_ns;
    struct dft_finding *finding;
    int rc;

    cost_ns = cost_ns < facts->wall_ns ? cost_ns : facts->wall_ns;
    rc = dft_rules_add(rules, is_straggler ? DFT_FINDING_STRAGGLER : DFT_FINDING_IMBALANCE, cost_ns, facts->wall_ns,
                       &finding);
    if (rc <= 0)
        return rc;
    finding->rank = slow->rank.rank;
    finding->calls = slow->rank.calls;
    finding->bytes = slow->rank.bytes;
    if (!is_straggler)
        return say_imbalance(finding, slow);
    finding->from_ns = slow->since_ns;
    finding->to_ns = slow->to_ns;
    return say_straggler(facts, finding, slow);
}

/* Does it make more calls, or move more, than a rank in the middle? */
static int does_more(const struct dft_rules *rules, const struct slow *slow)
{
    const uint64_t factor = dft_limit(rules, DFT_LIMIT_IMBALANCE_FACTOR);

    return slow->rank.calls > slow->median.calls * factor / 1000 ||
           slow->rank.bytes > slow->median.bytes * factor / 1000;
}

/* Does each of its calls take longer? */
static int has_slow_calls(const struct dft_rules *rules, struct slow *slow)
{
    find_class(&rules->facts->answers[DFT_FACT_RANKS], slow);
    return slow->usual_ns && slow->mean_ns >= slow->usual_ns * dft_limit(rules, DFT_LIMIT_STRAGGLER_CALL) / 1000;
}

int dft_rule_ranks(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct dft_rank_sums sums = {0};
    struct slow slow = {.class = DFT_IO_NONE};
    size_t middle = facts->request->job->ranks / 2;
    int rc = 0, is_straggler;

    if (!dft_facts_has(facts, DFT_FACT_RANK_REGIONS) || !dft_facts_has(facts, DFT_FACT_RANK_TIMES))
        return 0;
    rc = sum_ranks(facts, &sums);
    if (rc || !sums.count)
        goto out;
    slow.rank = sums.list[0];
    if (middle < sums.count) /* else ranks without I/O */
        slow.median = sums.list[middle];
    if (slow.rank.time_ns < slow.median.time_ns / 1000 * dft_limit(rules, DFT_LIMIT_IMBALANCE_FACTOR))
        goto out;
    is_straggler = !does_more(rules, &slow);
    if (is_straggler && !has_slow_calls(rules, &slow))
        goto out;
    if (is_straggler) {
        find_dir(facts, &slow);
        find_since(facts, rules, &slow);
    }
    rc = add(rules, &slow, is_straggler);
out:
    free(sums.list);
    return rc;
}
