/* SPDX-License-Identifier: MIT */
/* Calls that fail: those that write, or make durable what was written, whatever they cost; reads and opens by their
 * time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"

#define ERRORS 256u /* numbers of errors that are counted by themselves */

static const struct words {
    const char *one, *many;
} words[DFT_FAILING_KINDS] = {{"failed writes", "calls that write, or make durable,"},
                              {"failed reads", "reads"},
                              {"failed opens", "opens"},
                              {"failed calls", "calls about files"}};

struct failing {
    enum dft_failing kind;
    uint64_t tried, calls, time_ns, ops, syncs;
    unsigned classes;
    uint64_t from_ns, to_ns;
    struct {
        uint64_t calls, time_ns;
    } errors[ERRORS];
    const struct dft_group *file; /* that has most of them */
    uint64_t file_calls;
};

static void count(const struct dft_facts *facts, struct failing *failing)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_CALLS];

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *metrics = &group->metrics;
        uint16_t err = dft_facets_err(group->key.facets);
        enum dft_failing kind = dft_failure_of_group(answer, group);

        if (dft_failure_tried(group, kind) == failing->kind)
            failing->tried += metrics->count;
        if (kind != failing->kind || !metrics->count)
            continue;
        failing->calls += metrics->count;
        failing->syncs += group->key.class == DFT_IO_SYNC ? metrics->count : 0;
        failing->time_ns += metrics->dur_sum;
        failing->classes |= 1u << group->key.class;
        failing->ops |= UINT64_C(1) << group->key.op;
        failing->errors[err % ERRORS].calls += metrics->count;
        failing->errors[err % ERRORS].time_ns += metrics->dur_sum;
        failing->from_ns =
            !failing->from_ns || metrics->first_start < failing->from_ns ? metrics->first_start : failing->from_ns;
        failing->to_ns = metrics->last_end > failing->to_ns ? metrics->last_end : failing->to_ns;
    }
}

/* The error that takes most time of those that are left; 0: none. */
static uint16_t next_error(struct failing *failing)
{
    unsigned most = 0;

    for (unsigned err = 1; err < ERRORS; err++)
        if (failing->errors[err].calls &&
            (!failing->errors[most].calls || failing->errors[err].time_ns > failing->errors[most].time_ns))
            most = err;
    return (uint16_t)most;
}

/* Failures of a group by file. Rows of files count failures by class, without the errno. */
static uint64_t failures_in(const struct dft_facts *facts, const struct failing *failing, const struct dft_group *group)
{
    uint8_t class = group->key.class;

    if (!group->key.file)
        return 0;
    if (facts->has_file_ops)
        return dft_failure_of(group->key.op, class, dft_facets_err(group->key.facets)) == failing->kind
                   ? group->metrics.count
                   : 0;
    return class != DFT_IO_META && dft_failure_of(0, class, EIO) == failing->kind ? group->metrics.errors : 0;
}

static int find_file(const struct dft_facts *facts, struct failing *failing)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    struct dft_map calls = {0};
    int rc = 0;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_FILES) && i < files->count && !rc; i++) {
        uint64_t failures = failures_in(facts, failing, &files->groups[i]), *sum;

        if (!failures)
            continue;
        sum = dft_map_put(&calls, files->groups[i].key.file);
        if (!sum) {
            rc = -ENOMEM;
            break;
        }
        *sum += failures;
        if (*sum > failing->file_calls) {
            failing->file_calls = *sum;
            failing->file = &files->groups[i];
        }
    }
    dft_map_fini(&calls);
    return rc;
}

/* What helps against an error; NULL: nothing that is known. */
static const char *advice_of(const struct failing *failing, uint16_t err)
{
    if (err == EINVAL && failing->kind <= DFT_FAILING_READS)
        return "Past the page cache (O_DIRECT) buffer, offset and size must be multiples of the logical block of the "
               "device, 512 B or 4 KiB: align them (posix_memalign), and write the rest without O_DIRECT.";
    if (err == ENOSPC || err == EDQUOT)
        return err == ENOSPC
                   ? "The file system is full: what was to be written is not there. Make room, or write elsewhere."
                   : "The quota is used up: what was to be written is not there. Make room, or write elsewhere.";
    if (err == EIO || err == ESTALE)
        return "The device or its server fails: look into the log of the kernel (dmesg) before you trust the data.";
    if (err == EACCES || err == EPERM || err == EROFS)
        return "The program may not do this: mend the rights of the file, or do not ask.";
    if (err == EMFILE || err == ENFILE)
        return "Too many files are open: close them, or raise the limit (ulimit -n).";
    if (err == EBADF)
        return "The descriptor is closed, or open for the other direction: what was to be moved is not.";
    return NULL;
}

static int say_errors(char **text, struct failing *failing)
{
    char a[DFT_TEXT_ROOM];
    const char *before = ": ";
    uint16_t err;
    int rc = 0;

    for (unsigned n = 0; n < 3 && !rc && (err = next_error(failing)); n++) {
        const char *word = dft_errno_word(err);

        rc = dft_finding_say(text, "%s%s with %s (%s)", before, dft_text_count(a, failing->errors[err].calls),
                             word ? word : "an error", strerror(err));
        failing->errors[err].calls = 0;
        before = ", ";
    }
    return rc;
}

static int say_file(const struct dft_facts *facts, struct dft_finding *finding, const struct failing *failing)
{
    const uint64_t file = failing->file->key.file;
    char a[DFT_TEXT_ROOM];

    finding->where = dft_facts_text(&facts->answers[DFT_FACT_FILES], failing->file, DFT_BY_FILE);
    if (!finding->where)
        return -ENOMEM;
    return dft_finding_say(
        &finding->evidence, "; %s%s: %s", dft_facts_files_in(facts, file), dft_facts_short(facts, finding->where),
        failing->file_calls < failing->calls ? dft_text_count(a, failing->file_calls) : "all of them");
}

static int say_again(const struct dft_facts *facts, struct dft_finding *finding, const struct failing *failing)
{
    uint64_t again = facts->failures.again[failing->kind];
    char a[DFT_TEXT_ROOM];

    if (!facts->failures.are_known)
        return 0;
    again = again < failing->calls ? again : failing->calls;
    return dft_finding_say(&finding->evidence,
                           again ? "; %s were done again, and succeeded" : "; none was done again with success",
                           dft_text_count(a, again));
}

static int say(const struct dft_facts *facts, struct dft_finding *finding, struct failing *failing)
{
    const struct words *word = &words[failing->kind];
    const uint16_t err = next_error(failing);
    const char *name = dft_errno_word(err), *advice = advice_of(failing, err);
    const int is_direct = err == EINVAL && failing->kind <= DFT_FAILING_READS;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = advice ? dft_finding_advise(finding, advice) : 0;

    if (rc)
        return rc;
    finding->line = dft_facts_error_line(facts, err, failing->ops);
    rc = dft_finding_say(&finding->title, "%s%s%s", failing->syncs * 2 > failing->calls ? "failed syncs" : word->one,
                         name ? ": " : "", name ? name : "");
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s of %s %s failed, %s, %s each", dft_text_count(a, failing->calls),
                             dft_text_count(b, failing->tried), word->many, dft_text_ns(c, failing->time_ns),
                             dft_text_ns(d, failing->time_ns / failing->calls));
    if (!rc)
        rc = say_errors(&finding->evidence, failing);
    if (!rc && failing->file)
        rc = say_file(facts, finding, failing);
    if (!rc)
        rc = say_again(facts, finding, failing);
    finding->sure = is_direct && !facts->failures.direct[failing->kind] ? DFT_SURE_MEDIUM : DFT_SURE_HIGH;
    if (rc)
        return rc;
    if (!is_direct)
        return dft_finding_say(&finding->why_sure, "the kernel said so, and what fails moves nothing");
    return facts->failures.direct[failing->kind]
               ? dft_finding_say(&finding->why_sure,
                                 "%s of these were on a file that is open with O_DIRECT, or of parts of sectors",
                                 dft_text_count(a, facts->failures.direct[failing->kind]))
               : dft_finding_say(&finding->why_sure,
                                 "a read or write of a file has seldom another reason to be invalid");
}

static int look_at(struct dft_rules *rules, enum dft_failing kind)
{
    const struct dft_facts *facts = rules->facts;
    struct failing failing = {.kind = kind};
    struct dft_finding *finding;
    int rc;

    count(facts, &failing);
    if (!failing.calls)
        return 0;
    rc = (kind == DFT_FAILING_WRITES ? dft_rules_tell : dft_rules_add)(rules, DFT_FINDING_FAILING, failing.time_ns,
                                                                       facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    rc = find_file(facts, &failing);
    finding->calls = finding->errors = failing.calls;
    finding->classes = failing.classes;
    finding->from_ns = failing.from_ns;
    finding->to_ns = failing.to_ns;
    return rc ? rc : say(facts, finding, &failing);
}

int dft_rule_failing(struct dft_rules *rules)
{
    int rc = 0;

    for (unsigned kind = 0; kind < DFT_FAILING_KINDS && !rc; kind++)
        rc = look_at(rules, (enum dft_failing)kind);
    return rc;
}
