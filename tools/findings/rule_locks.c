/* SPDX-License-Identifier: MIT */
/* Time in waiting for locks of files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/lock_waits.h"
#include "findings/rules.h"
#include "format/ops.h"

static int say_process(char **text, const struct dft_source_process *process)
{
    struct dft_text exe = process->process.exe;
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;
    const char *name = slash ? slash + 1 : exe.bytes;
    char *escaped =
        dft_text_escaped(exe.length ? name : "", exe.length ? (uint32_t)(exe.bytes + exe.length - name) : 0);
    int rc =
        escaped ? dft_finding_say(text, "%s%spid %u", escaped, *escaped ? ", " : "", process->process.pid) : -ENOMEM;

    free(escaped);
    return rc;
}

/* "; the longest, 3 s (a, pid 5), ended when b, pid 7, gave the lock back after 2 s". */
static int say_holder(char **text, const struct dft_lock_waits *waits)
{
    char a[DFT_TEXT_ROOM];
    int rc = dft_finding_say(text, "; the longest, %s (", dft_text_ns(a, waits->end_ns - waits->start_ns));

    if (!rc)
        rc = say_process(text, waits->waiter);
    if (!rc)
        rc = dft_finding_say(text, waits->holder ? "), ended when " : ")");
    if (!rc && waits->holder)
        rc = say_process(text, waits->holder);
    if (!rc && waits->holder)
        rc = dft_finding_say(text, ", gave the lock back after %s", dft_text_ns(a, waits->held_ns));
    return rc;
}

static int say_file(const struct dft_facts *facts, struct dft_finding *finding)
{
    const struct dft_lock_waits *waits = &facts->locks;
    const struct dft_group group = {.key = {.file = waits->file}};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc;

    finding->files = waits->files;
    finding->where = dft_facts_text(&facts->answers[DFT_FACT_LOCKS], &group, DFT_BY_FILE);
    finding->line = dft_facts_line(facts, DFT_BY_FILE, waits->file, UINT64_C(1) << DFT_OP_LOCK);
    if (!finding->where)
        return -ENOMEM;
    rc = dft_finding_say(&finding->evidence, "; %s%s: %s of these, %s, by %u process%s",
                         dft_facts_files_in(facts, waits->file), dft_facts_short(facts, finding->where),
                         dft_text_count(a, waits->calls), dft_text_ns(b, waits->time_ns), waits->processes,
                         waits->processes == 1 ? "" : "es");
    if (!rc)
        rc = waits->waiter ? say_holder(&finding->evidence, waits)
                           : dft_finding_say(&finding->evidence, ", the longest %s", dft_text_ns(c, waits->longest_ns));
    return rc;
}

int dft_rule_locks(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    uint64_t calls = 0, time_ns = dft_facts_lock_ns(facts, &calls);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    struct dft_finding *finding;
    int rc;

    if (!calls || time_ns / calls < dft_limit(rules, DFT_LIMIT_LOCKS_CALL))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_LOCKS, time_ns, facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = calls;
    finding->sure = DFT_SURE_HIGH;
    finding->when = dft_facts_when(facts, UINT64_C(1) << DFT_OP_LOCK, 0, &finding->from_ns, &finding->to_ns);
    rc = dft_finding_say(&finding->title, "waits for locks");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s calls that lock and unlock, %s, %s each", dft_text_count(a, calls),
                             dft_text_ns(b, time_ns), dft_text_ns(c, time_ns / calls));
    if (!rc && facts->locks.file)
        rc = say_file(facts, finding);
    if (!rc)
        rc = dft_finding_say(&finding->why_sure,
                             "a lock that is free is had at once: these calls wait for other processes");
    return rc ? rc : dft_finding_say_gain(finding);
}
