/* SPDX-License-Identifier: MIT */
/* No time of calls is in two findings: how much of the time of calls of a class no finding has yet.
 * Findings about files know it file by file; those about ranks and about computing by the classes
 * of calls. */
#include "findings/reported.h"

#include <errno.h>
#include <stdlib.h>

#include "findings/facts_ranks.h"
#include "findings/rank_sums.h"
#include "findings/rules.h"

#define IO(class) (1u << DFT_IO_##class)
#define DATA      (IO(READ) | IO(WRITE))

int dft_rules_report(struct dft_rules *rules, uint64_t file, enum dft_finding_code code)
{
    uint64_t *reported = file ? dft_map_put(&rules->reported, file) : NULL;

    if (reported)
        *reported = (uint64_t)code + 1;
    return file && !reported ? -ENOMEM : 0;
}

int dft_rules_report_files(struct dft_rules *rules, const struct dft_map *files, enum dft_finding_code code)
{
    int rc = 0;

    for (size_t i = 0; i < files->capacity && !rc; i++)
        rc = dft_rules_report(rules, files->slots[i].key, code);
    return rc;
}

enum dft_finding_code dft_rules_reported(const struct dft_rules *rules, uint64_t file)
{
    const uint64_t *reported = file ? dft_map_find(&rules->reported, file) : NULL;

    return reported ? (enum dft_finding_code)(*reported - 1) : DFT_FINDINGS;
}

int dft_rules_has(const struct dft_rules *rules, enum dft_finding_code code)
{
    for (size_t i = 0; i < rules->findings->count; i++)
        if (rules->findings->list[i].code == code)
            return 1;
    return 0;
}

/* The classes that the time of a finding may be of; 0: it is not the time of calls. */
static unsigned classes_of(const struct dft_facts *facts, enum dft_finding_code code)
{
    static const unsigned classes[DFT_FINDINGS] = {
        [DFT_FINDING_ONE_BYTE] = DATA,
        [DFT_FINDING_SMALL_READS] = IO(READ),
        [DFT_FINDING_SMALL_WRITES] = IO(WRITE),
        [DFT_FINDING_STREAM] = DATA,
        [DFT_FINDING_FLUSH] = IO(WRITE),
        [DFT_FINDING_FSYNC] = IO(SYNC),
        [DFT_FINDING_LOCKS] = IO(WAIT),
        [DFT_FINDING_FAILING] = DATA | IO(SYNC) | IO(META),
        [DFT_FINDING_NO_COLLECTIVE] = DATA,
        [DFT_FINDING_CONTENTION] = DATA,
        [DFT_FINDING_MISSING] = IO(META) | IO(STARTUP),
        [DFT_FINDING_REOPENED] = IO(META) | DATA,
        [DFT_FINDING_SMALL_FILES] = IO(META) | DATA,
        [DFT_FINDING_SAVES] = IO(META) | DATA,
        [DFT_FINDING_FILE_EXPLOSION] = IO(META) | DATA,
        [DFT_FINDING_COPIES] = IO(META) | DATA,
        [DFT_FINDING_REMOVAL] = IO(META),
        [DFT_FINDING_GROWTH] = IO(META),
        [DFT_FINDING_METADATA] = IO(META),
        [DFT_FINDING_RANDOM] = DATA,
        [DFT_FINDING_REREAD] = IO(READ),
        [DFT_FINDING_MISALIGNED] = DATA,
        [DFT_FINDING_SEEKS] = IO(META),
        [DFT_FINDING_MOUNT] = DFT_CLASSES_IO,
        [DFT_FINDING_EXPOSED_IO] = DFT_CLASSES_OWN,
    };

    return code == DFT_FINDING_STRAGGLER || code == DFT_FINDING_IMBALANCE ? 1u << facts->slow.class : classes[code];
}

static uint64_t time_of(const struct dft_facts *facts, unsigned classes)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    uint64_t time_ns = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        time_ns += classes >> calls->groups[i].key.class & 1 ? calls->groups[i].metrics.dur_sum : 0;
    return time_ns;
}

/* Time of failures that findings report, of these classes. Answers by file may not separate it. */
static uint64_t failing_ns(const struct dft_rules *rules, unsigned classes)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint64_t time_ns = 0;
    int is_reported = dft_rules_has(rules, DFT_FINDING_FAILING);

    for (uint32_t i = 0; is_reported && i < calls->count; i++)
        if (classes >> calls->groups[i].key.class & 1 &&
            dft_failure_of_group(calls, &calls->groups[i]) != DFT_FAILING_KINDS)
            time_ns += calls->groups[i].metrics.dur_sum;
    return time_ns;
}

uint64_t dft_rules_reported_ns(const struct dft_rules *rules, unsigned classes)
{
    uint64_t reported_ns = 0;

    for (size_t i = 0; i < rules->findings->count; i++)
        if (classes_of(rules->facts, rules->findings->list[i].code) & classes)
            reported_ns += rules->findings->list[i].cost_ns;
    return reported_ns;
}

/* What a slow rank takes longer is not the time of other findings, and neither is that of calls that
 * fail. Findings about files know by file what was reported. */
uint64_t dft_rules_left_ns(const struct dft_rules *rules, enum dft_finding_code code)
{
    const unsigned classes = classes_of(rules->facts, code);
    const int of_ranks =
        code == DFT_FINDING_STRAGGLER || code == DFT_FINDING_IMBALANCE || code == DFT_FINDING_EXPOSED_IO;
    uint64_t all_ns, reported_ns = of_ranks ? dft_rules_reported_ns(rules, classes) : 0;

    if (!classes)
        return UINT64_MAX;
    for (size_t i = 0; !of_ranks && i < rules->findings->count; i++)
        if (rules->findings->list[i].code == DFT_FINDING_STRAGGLER && classes >> rules->facts->slow.class & 1)
            reported_ns += rules->findings->list[i].cost_ns;
    if (!of_ranks && code != DFT_FINDING_FAILING)
        reported_ns += failing_ns(rules, classes);
    if (!of_ranks && !reported_ns)
        return UINT64_MAX;
    all_ns = time_of(rules->facts, classes);
    return all_ns > reported_ns ? all_ns - reported_ns : 0;
}

/* Adds up calls of these classes by rank. Returns the time that any rank may have: of processes without one, and of
 * groups that the answer has left out. */
static uint64_t sum_ranks(const struct dft_answer *answer, unsigned classes, const struct dft_map *files,
                          struct dft_rank_sums *sums, int *rc)
{
    uint64_t listed_ns = 0, any_ns = 0;

    for (uint32_t i = 0; !*rc && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        int64_t rank = dft_facts_rank(answer, group);

        listed_ns += group->metrics.dur_sum;
        if (!(classes >> group->key.class & 1) || (files && !dft_map_find(files, group->key.file)))
            continue;
        any_ns += rank < 0 ? group->metrics.dur_sum : 0;
        *rc = dft_rank_sums_add(sums, rank, &group->metrics);
    }
    return any_ns + (answer->all.time_ns > listed_ns ? answer->all.time_ns - listed_ns : 0);
}

uint64_t dft_rules_job_cost_ns(const struct dft_rules *rules, enum dft_finding_code code, const struct dft_map *files,
                               uint64_t cost_ns, int *is_known)
{
    const struct dft_facts *facts = rules->facts;
    const unsigned classes = classes_of(facts, code);
    const int by_file = files && dft_facts_has(facts, DFT_FACT_RANK_FILES);
    const struct dft_answer *answer = &facts->answers[by_file ? DFT_FACT_RANK_FILES : DFT_FACT_PROCESSES];
    uint64_t most_ns = cost_ns < facts->wall_ns ? cost_ns : facts->wall_ns, any_ns = 0;
    struct dft_rank_sums sums = {0};
    int rc = classes ? 0 : -1;

    *is_known = by_file || classes == IO(SYNC) || classes == IO(WAIT);
    if (!rc)
        any_ns = sum_ranks(answer, classes, by_file ? files : NULL, &sums, &rc);
    dft_rank_sums_sort(&sums);
    if (!rc && sums.count && sums.list[0].time_ns + any_ns < most_ns)
        most_ns = sums.list[0].time_ns + any_ns;
    free(sums.list);
    return most_ns;
}

struct dft_finding *dft_rules_costliest(const struct dft_rules *rules, unsigned classes)
{
    struct dft_finding *found = NULL;

    for (size_t i = 0; i < rules->findings->count; i++) {
        struct dft_finding *finding = &rules->findings->list[i];

        if (classes_of(rules->facts, finding->code) & classes && (!found || finding->cost_ns > found->cost_ns))
            found = finding;
    }
    return found;
}
