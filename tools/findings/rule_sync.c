/* SPDX-License-Identifier: MIT */
/* What is made durable, or flushed, more often than it needs be.
 *
 * A file that was opened with O_SYNC makes each write durable by itself: flags of opens are in no
 * answer, so that is not reported here, but as slow small writes. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "format/ops.h"

#define OP(op)  (UINT64_C(1) << (op))
#define FLUSHED (OP(DFT_OP_FWRITE) | OP(DFT_OP_FPUTS))

/* Calls that make data durable, and what they are about. */
struct syncs {
    uint64_t calls, time_ns;
    const struct dft_group *name; /* whose call has most of the time */
    uint64_t name_ns;
    /* of the file that has most of the time, or else of its pattern */
    const struct dft_group *files;
    enum dft_fact fact;
    uint64_t own, own_ns, writes, bytes;
};

static void count_calls(const struct dft_facts *facts, struct syncs *syncs)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];

        if (group->key.class != DFT_IO_SYNC ||
            dft_facets_err(group->key.facets)) /* what fails is a finding of its own */
            continue;
        syncs->calls += group->metrics.count;
        syncs->time_ns += group->metrics.dur_sum;
        if (group->metrics.dur_sum < syncs->name_ns)
            continue;
        syncs->name = group;
        syncs->name_ns = group->metrics.dur_sum;
    }
}

/* The group whose syncs take longest, and what is written there. */
static void find_files(const struct dft_facts *facts, enum dft_fact fact, struct syncs *syncs)
{
    const struct dft_answer *answer = &facts->answers[fact];

    syncs->files = NULL;
    syncs->fact = fact;
    syncs->own = syncs->own_ns = syncs->writes = syncs->bytes = 0;
    if (!dft_facts_has(facts, fact))
        return;
    for (uint32_t i = 0; i < answer->count && !syncs->files; i++) /* by time: the first has most */
        if (answer->groups[i].key.class == DFT_IO_SYNC && !dft_facets_err(answer->groups[i].key.facets))
            syncs->files = &answer->groups[i];
    for (uint32_t i = 0; syncs->files && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];

        if (group->key.file != syncs->files->key.file || dft_facets_err(group->key.facets))
            continue;
        if (group->key.class == DFT_IO_SYNC) {
            syncs->own += group->metrics.count;
            syncs->own_ns += group->metrics.dur_sum;
        } else if (group->key.class == DFT_IO_WRITE) {
            syncs->writes += group->metrics.count;
            syncs->bytes += group->metrics.bytes;
        }
    }
}

static int say_title(const struct syncs *syncs, const char *name, struct dft_finding *finding)
{
    char each[DFT_TEXT_ROOM];
    uint64_t writes = syncs->own ? (syncs->writes + syncs->own / 2) / syncs->own : 0;

    if (!syncs->writes)
        return dft_finding_say(&finding->title, "many calls of %s", name);
    if (writes < 2)
        return dft_finding_say(&finding->title, "%s after each write", name);
    return dft_finding_say(&finding->title, "%s every %s writes", name, dft_text_count(each, writes));
}

static int say_files(const struct dft_facts *facts, const struct syncs *syncs, struct dft_finding *finding)
{
    int is_file = syncs->fact == DFT_FACT_FILES;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint64_t file = syncs->files->key.file;
    int rc;

    finding->where = is_file ? dft_facts_text(&facts->answers[syncs->fact], syncs->files, DFT_BY_FILE)
                             : dft_facts_pattern_text(facts, file);
    if (!finding->where)
        return -ENOMEM;
    finding->line = dft_facts_line(facts, is_file ? DFT_BY_FILE : DFT_BY_PATTERN, file, OP(DFT_OP_SYNC));
    rc = dft_finding_say(&finding->evidence, "; %s%s: ", is_file ? dft_facts_files_in(facts, file) : "",
                         dft_facts_short(facts, finding->where));
    if (!rc && !syncs->writes)
        return dft_finding_say(&finding->evidence,
                               facts->lacks ? "no write that was looked at is to it" : "nothing was written by calls");
    if (!rc && syncs->own != syncs->calls)
        rc = dft_finding_say(&finding->evidence, "%s of these, ", dft_text_count(a, syncs->own));
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s in %s writes of %s", dft_text_bytes(a, syncs->bytes),
                             dft_text_count(b, syncs->writes), dft_text_bytes(c, syncs->bytes / syncs->writes));
    if (!rc && syncs->own)
        rc = dft_finding_say(&finding->evidence, ", %s made durable at a time",
                             dft_text_bytes(a, syncs->bytes / syncs->own));
    return rc;
}

static int say(struct dft_rules *rules, const struct syncs *syncs, struct dft_finding *finding)
{
    char *name = dft_facts_text(&rules->facts->answers[DFT_FACT_CALLS], syncs->name, DFT_BY_NAME);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc = name ? say_title(syncs, name, finding) : -ENOMEM;

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s calls that make data durable, %s, %s each",
                             dft_text_count(a, syncs->calls), dft_text_ns(b, syncs->time_ns),
                             dft_text_ns(c, syncs->time_ns / syncs->calls));
    if (!rc && syncs->files)
        rc = say_files(rules->facts, syncs, finding);
    if (!rc)
        rc = dft_finding_say(&finding->why_sure, "these calls wait for the device, whatever they write");
    if (!rc)
        rc = dft_finding_say_gain(finding);
    free(name);
    return rc;
}

static int look_at_syncs(struct dft_rules *rules)
{
    struct syncs syncs = {0};
    struct dft_finding *finding;
    int rc;

    count_calls(rules->facts, &syncs);
    /* each process may make its data durable at its end */
    if (!syncs.calls || syncs.calls / dft_facts_syncing(rules->facts) < dft_limit(rules, DFT_LIMIT_FSYNC_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_FSYNC, syncs.time_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    find_files(rules->facts, DFT_FACT_FILES, &syncs);
    if (syncs.own_ns * 2 < syncs.time_ns) /* many files have a little each */
        find_files(rules->facts, DFT_FACT_PATTERNS, &syncs);
    finding->calls = syncs.calls;
    finding->bytes = syncs.bytes;
    finding->sure = DFT_SURE_HIGH;
    finding->when = dft_facts_when(rules->facts, OP(DFT_OP_SYNC), 0, &finding->from_ns, &finding->to_ns);
    return say(rules, &syncs, finding);
}

static int look_at_flushes(struct dft_rules *rules)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    uint64_t flushes = 0, time_ns = 0, writes = 0, bytes = 0;
    struct dft_finding *finding;
    int rc;

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];

        if (group->key.op == DFT_OP_FFLUSH) {
            flushes += group->metrics.count;
            time_ns += group->metrics.dur_sum;
        } else if (FLUSHED >> group->key.op & 1) {
            writes += group->metrics.count;
            bytes += group->metrics.bytes;
        }
    }
    if (!flushes || flushes < dft_limit(rules, DFT_LIMIT_FLUSH_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_FLUSH, time_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    rules->flushes_ns = rules->facts->has_file_ops ? 0 : time_ns;
    finding->calls = flushes;
    finding->line = dft_facts_line(rules->facts, DFT_BY_FILE, 0, OP(DFT_OP_FFLUSH));
    finding->when = dft_facts_when(rules->facts, OP(DFT_OP_FFLUSH), 0, &finding->from_ns, &finding->to_ns);
    rc = writes >= 2 * flushes
             ? dft_finding_say(&finding->title, "fflush every %s writes", dft_text_count(a, writes / flushes))
             : dft_finding_say(&finding->title, "fflush after each write");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s flushes, %s, %s each, of %s in %s writes to streams",
                             dft_text_count(a, flushes), dft_text_ns(b, time_ns), dft_text_ns(c, time_ns / flushes),
                             dft_text_bytes(d, bytes), dft_text_count((char[DFT_TEXT_ROOM]){0}, writes));
    if (!rc)
        rc = dft_finding_say(&finding->why_sure, "who reads the data meanwhile is not known");
    if (!rc)
        rc = dft_finding_say_gain(finding);
    return rc;
}

int dft_rule_sync(struct dft_rules *rules)
{
    int rc = look_at_syncs(rules);

    return rc ? rc : look_at_flushes(rules);
}
