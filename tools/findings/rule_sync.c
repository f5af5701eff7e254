/* SPDX-License-Identifier: MIT */
/* What is made durable more often than it needs be. */
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts.h"

#define OP(op) (UINT64_C(1) << (op))
#define WRITES (OP(DFT_OP_WRITE) | OP(DFT_OP_PWRITE) | OP(DFT_OP_FWRITE) | OP(DFT_OP_FPUTS))

struct syncs {
    uint64_t calls, time_ns, writes, bytes, file;
    uint64_t most_ns; /* of syncs of one file */
};

static struct syncs count_calls(const struct dft_facts *facts)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    struct syncs syncs = {0};

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];

        if (group->key.class != DFT_IO_SYNC)
            continue;
        syncs.calls += group->metrics.count;
        syncs.time_ns += group->metrics.dur_sum;
    }
    return syncs;
}

/* The file whose syncs take longest, and what is written to it. */
static const struct dft_group *find_file(const struct dft_facts *facts, struct syncs *syncs)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    const struct dft_group *found = NULL;

    if (!dft_facts_has(facts, DFT_FACT_FILES))
        return NULL;
    for (uint32_t i = 0; i < files->count && !found; i++)
        if (files->groups[i].key.class == DFT_IO_SYNC)
            found = &files->groups[i];
    for (uint32_t i = 0; found && i < files->count; i++) {
        const struct dft_group *group = &files->groups[i];

        if (group->key.file != found->key.file)
            continue;
        syncs->most_ns += group->key.class == DFT_IO_SYNC ? group->metrics.dur_sum : 0;
        syncs->writes += group->key.class == DFT_IO_WRITE ? group->metrics.count : 0;
        syncs->bytes += group->key.class == DFT_IO_WRITE ? group->metrics.bytes : 0;
    }
    return found;
}

static int say(struct dft_rules *rules, struct dft_finding *finding, struct syncs *syncs)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_group *file = find_file(facts, syncs);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = 0;

    if (syncs->writes >= 2 * syncs->calls)
        rc = dft_finding_say(&finding->title, "fsync every %s writes", dft_text_count(a, syncs->writes / syncs->calls));
    else
        rc = dft_finding_say(&finding->title, "fsync after each write");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s calls make data durable, %s each", dft_text_count(a, syncs->calls),
                             dft_text_ns(b, syncs->time_ns / syncs->calls));
    if (!rc && file) {
        finding->where = dft_facts_text(&facts->answers[DFT_FACT_FILES], file, DFT_BY_FILE);
        finding->line = dft_facts_line(facts, file->key.file, OP(DFT_OP_SYNC));
        rc = finding->where ? dft_finding_say(&finding->evidence, "; %s: %s in %s writes of %s", finding->where,
                                              dft_text_bytes(a, syncs->bytes), dft_text_count(c, syncs->writes),
                                              dft_text_bytes(d, syncs->writes ? syncs->bytes / syncs->writes : 0))
                            : -1;
    }
    return rc;
}

int dft_rule_sync(struct dft_rules *rules)
{
    struct syncs syncs = count_calls(rules->facts);
    struct dft_finding *finding;
    char a[DFT_TEXT_ROOM];
    int rc;

    if (syncs.calls < dft_limit(rules, DFT_LIMIT_FSYNC_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_FSYNC, syncs.time_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = syncs.calls;
    finding->sure = DFT_SURE_HIGH;
    finding->when = dft_facts_when(rules->facts, OP(DFT_OP_SYNC), 0, &finding->from_ns, &finding->to_ns);
    rc = say(rules, finding, &syncs);
    if (!rc)
        rc = dft_finding_say(&finding->advice, " At most %s to gain.", dft_text_ns(a, syncs.time_ns));
    return rc;
}
