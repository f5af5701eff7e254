/* SPDX-License-Identifier: MIT */
/* Says what moved data unseen: rings, mapped files, raw system calls, programs without a trace, and
 * what the settings left out. */
#include "findings/verdict_unseen.h"

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "format/ops.h"
#include "job/job_losses.h"

/* Begins a part of the sentence. */
static const char * and (char *const *text)
{
    return *text ? "; " : "";
}

/* Calls of this name that worked. */
static uint64_t count_calls(const struct dft_facts *facts, const char *name)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    uint64_t count = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        if (calls->groups[i].key.op == DFT_OP_OTHER && dft_facts_is_call(calls, &calls->groups[i], name))
            count += calls->groups[i].metrics.count - calls->groups[i].metrics.errors;
    return count;
}

static uint64_t known(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* What the kernel counted, where rings or page faults moved data. */
static int say_kernel(char **text, const struct dft_kernel_io *io)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    if (!io->processes)
        return 0;
    return dft_finding_say(text, " (the kernel counted %s from storage, %s read and %s written by system calls)",
                           dft_text_bytes(a, known(io->fetched)), dft_text_bytes(b, known(io->read)),
                           dft_text_bytes(c, known(io->written)));
}

static int say_rings(char **text, const struct dft_facts *facts)
{
    uint64_t setups = count_calls(facts, "io_uring_setup"), enters = count_calls(facts, "io_uring_enter");
    char a[DFT_TEXT_ROOM];
    int rc;

    if (!setups && !enters && !facts->io.ringed)
        return 0;
    if (enters)
        rc = dft_finding_say(text, "io_uring moved data that is not in these numbers, in %s call%s of io_uring_enter",
                             dft_text_count(a, enters), enters == 1 ? "" : "s");
    else
        rc = dft_finding_say(text, "what io_uring moved is not in these numbers");
    return rc ? rc : say_kernel(text, &facts->io);
}

/* Time of page faults is in no call. How large a mapping is, aggregates do not tell. */
static int say_faults(char **text, const struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    uint64_t mapped = dft_accesses_mapped(&facts->accesses), faults = known(facts->io.faults), maps = 0, moved = 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc;

    for (uint32_t i = 0; i < calls->count; i++) {
        moved += calls->groups[i].metrics.bytes;
        maps += calls->groups[i].key.op == DFT_OP_MAP && calls->groups[i].key.class == DFT_IO_META;
    }
    if (faults < dft_limit(rules, maps ? DFT_LIMIT_UNSEEN_MAPPED : DFT_LIMIT_UNSEEN_FAULTS) &&
        (mapped < dft_limit(rules, DFT_LIMIT_MAPPED_BYTES) || mapped <= moved))
        return 0;
    rc = dft_finding_say(text, "%swhat page faults read%s%s%s is not in these numbers", and(text), mapped ? " of " : "",
                         mapped ? dft_text_bytes(a, mapped) : "", maps ? " of mapped files" : "");
    if (!rc && faults)
        rc = dft_finding_say(text, ", %s fault%s from storage", dft_text_count(b, faults), faults == 1 ? "" : "s");
    return rc ? rc : say_kernel(text, &facts->io);
}

/* Of processes whose calls the kernel counted: what was seen of them. 0: not all of it is known. */
static int see(const struct dft_facts *facts, uint64_t *bytes, uint64_t *calls)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_PROCESSES];

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];

        if (!facts->io.known[answer->process_group[group->key.process_group - 1]->number])
            continue;
        *bytes += group->metrics.bytes;
        if (group->key.class == DFT_IO_READ || group->key.class == DFT_IO_WRITE || group->key.class == DFT_IO_STARTUP)
            *calls += group->metrics.count;
    }
    return answer->found <= answer->count;
}

/* Calls and bytes must be missing alike: a stream reads more than its program takes, and tracing makes calls, too.
 * Where events were lost, what is missing was seen. */
static int say_raw(char **text, const struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    uint64_t all = known(facts->io.read) + known(facts->io.written),
             calls = known(facts->io.read_calls) + known(facts->io.write_calls), bytes_seen = 0, calls_seen = 0,
             share = dft_limit(rules, DFT_LIMIT_UNSEEN_SHARE);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    if (!facts->io.processes || dft_job_is_lossy(facts->request->job, facts->request->source) ||
        !see(facts, &bytes_seen, &calls_seen) || bytes_seen >= all || calls_seen >= calls)
        return 0;
    if ((double)(all - bytes_seen) * 1000 <= (double)all * (double)share ||
        (double)(calls - calls_seen) * 1000 <= (double)calls * (double)share ||
        (all - bytes_seen < dft_limit(rules, DFT_LIMIT_UNSEEN_BYTES) &&
         calls - calls_seen < dft_limit(rules, DFT_LIMIT_UNSEEN_CALLS)))
        return 0;
    return dft_finding_say(text,
                           "%sof %s that %s system calls moved, %s in %s are not in these numbers: raw calls, left-out "
                           "files, pipes, the C library",
                           and(text), dft_text_bytes(a, all), dft_text_count(b, calls),
                           dft_text_bytes(c, all - bytes_seen), dft_text_count(d, calls - calls_seen));
}

/* Settings that left out all that there was. Where some calls are recorded, the others were left out on purpose. */
static int say_left_out(char **text, const struct dft_rules *rules)
{
    const struct dft_findings_request *request = rules->facts->request;
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);
    uint64_t left_out = 0, recorded = 0;
    char a[DFT_TEXT_ROOM];

    for (uint32_t i = 0; i < count; i++)
        left_out += dft_filter_process(request->filter, &processes[i]) ? processes[i].end.outside : 0;
    for (uint32_t i = 0; i < calls->count; i++)
        recorded += dft_is_io(calls->groups[i].key.class) ? calls->groups[i].metrics.count : 0;
    if (!left_out || recorded)
        return 0;
    return dft_finding_say(text,
                           "%sDFTRACER_DATA_DIR left out %s call%s (opens, calls on paths), and none was recorded",
                           and(text), dft_text_count(a, left_out), left_out == 1 ? "" : "s");
}

int dft_verdict_unseen(char **text, const struct dft_rules *rules)
{
    const struct dft_findings *findings = rules->findings;
    const uint32_t ioless = rules->facts->request->job->ioless;
    int rc = 0;

    if (dft_facts_has(rules->facts, DFT_FACT_CALLS)) {
        rc = say_rings(text, rules->facts);
        rc = rc ? rc : say_faults(text, rules);
        rc = rc ? rc : say_raw(text, rules);
        rc = rc ? rc : say_left_out(text, rules);
    }
    if (!rc && findings->no_trace)
        rc = dft_finding_say(text, "%s%s", and(text), findings->no_trace);
    if (!rc && ioless)
        rc = dft_finding_say(text, "%sno I/O was recorded in %u process%s (annotations alone)", and(text), ioless,
                             ioless == 1 ? "" : "es");
    return rc;
}
