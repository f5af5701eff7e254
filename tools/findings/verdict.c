/* SPDX-License-Identifier: MIT */
/* Owns the first line: in this order what was not seen, what ended badly, what was lost, calls that failed, findings,
 * and that nothing is wrong. */
#include "findings/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "findings/verdict_unseen.h"
#include "job/job_state.h"

#define DATA   (1u << DFT_IO_READ | 1u << DFT_IO_WRITE | 1u << DFT_IO_SYNC)
#define OP(op) (UINT64_C(1) << DFT_OP_##op)
/* For these, too, files are opened, without a byte read or written. */
#define USES                                                                                                           \
    (OP(MAP) | OP(UNLINK) | OP(MKDIR) | OP(RENAME) | OP(LINK) | OP(OPENDIR) | OP(READDIR) | OP(ATTRIBUTE) |            \
     OP(TRUNCATE) | OP(ALLOCATE) | OP(REQUEST))

/* --- calls that failed ------------------------------------------------------------------------ */

enum { WRITES, SYNCS, READS, OPENS, OTHERS, KINDS };

static const char *const kind_words[KINDS] = {"writes", "syncs", "reads", "opens", "other calls"};

struct failed {
    uint64_t calls, failed, time_ns, most_ns, most;
    uint16_t err; /* that took most time */
};

static void add_failed(struct failed *failed, const struct dft_group *group)
{
    uint64_t ns = group->metrics.dur_sum, count = group->metrics.count;

    failed->failed += count;
    failed->time_ns += ns;
    if (ns < failed->most_ns || (ns == failed->most_ns && count <= failed->most))
        return;
    failed->most_ns = ns;
    failed->most = count;
    failed->err = dft_facets_err(group->key.facets);
}

static unsigned kind_of(const struct dft_group *group, enum dft_failing failing)
{
    static const uint8_t kinds[DFT_FAILING_KINDS + 1] = {
        [DFT_FAILING_WRITES] = WRITES, [DFT_FAILING_READS] = READS, [DFT_FAILING_OPENS] = OPENS,
        [DFT_FAILING_OTHERS] = OTHERS, [DFT_FAILING_KINDS] = KINDS,
    };

    return group->key.class == DFT_IO_SYNC && failing != DFT_FAILING_KINDS ? SYNCS : kinds[failing];
}

/* A read of a folder is how programs find out that it is one: the finding reports it where it costs. */
static int is_found_out(const struct dft_group *group)
{
    return group->key.class == DFT_IO_READ && dft_facets_err(group->key.facets) == EISDIR;
}

static void count_failed(const struct dft_answer *calls, struct failed failed[KINDS + 1])
{
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];
        enum dft_failing failing = dft_failure_of_group(calls, group);

        failed[kind_of(group, dft_failure_tried(group, failing))].calls += group->metrics.count;
        if (failing != DFT_FAILING_KINDS && group->metrics.count && !is_found_out(group))
            add_failed(&failed[kind_of(group, failing)], group);
    }
}

static int say_failed(char **text, const struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct failed failed[KINDS + 1] = {{0}};
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc = 0;

    count_failed(&facts->answers[DFT_FACT_CALLS], failed);
    for (unsigned kind = 0; kind < KINDS && !rc; kind++) {
        const struct failed *own = &failed[kind];
        const char *word = dft_errno_word(own->err);

        if (!own->failed || (kind >= OPENS && (!own->time_ns || !dft_facts_matters(facts, own->time_ns))))
            continue;
        rc = dft_finding_say(text, "%s%s of %s %s, %s%s%s", *text ? "; " : "", dft_text_count(a, own->failed),
                             dft_text_count(b, own->calls), kind_words[kind], dft_text_ns(c, own->time_ns),
                             word ? ", most with " : "", word ? word : "");
    }
    return rc;
}

/* --- what is left ----------------------------------------------------------------------------- */

static int say_first(char **text, const struct dft_finding *finding)
{
    char cost[DFT_TEXT_ROOM], share[DFT_SHARE_ROOM];

    if (!finding->of_ns)
        return dft_finding_say(text, "%s", finding->title);
    return dft_finding_say(text, "%s: %s, %s%s", finding->title, dft_text_ns(cost, dft_finding_cost_ns(finding)),
                           dft_finding_share(share, finding), finding->is_alone ? " of the time" : "");
}

/* Was there anything in which trouble could have shown? */
static int say_unknown(char **text, const struct dft_rules *rules)
{
    const struct dft_findings *findings = rules->findings;
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint64_t io = 0, errors = 0, opens = 0, data = 0;
    char a[DFT_TEXT_ROOM];

    if (findings->is_empty)
        return dft_finding_say(text, "nothing passes the filter");
    if (findings->is_of_calls)
        return dft_finding_say(text, "findings: not looked for: %s", findings->why_not);
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];
        const uint8_t op = group->key.op;

        if (DFT_CLASSES_OWN >> group->key.class & 1) {
            io += group->metrics.count;
            errors += group->metrics.errors;
        }
        if (DFT_CLASSES_OWN >> group->key.class & 1 && (op == DFT_OP_OPEN || op == DFT_OP_FOPEN))
            opens += group->metrics.count - group->metrics.errors;
        data += DATA >> group->key.class & 1 || USES >> op & 1 ? group->metrics.count : 0;
    }
    if (!io)
        return dft_finding_say(text,
                               "no I/O: there is no call in which trouble could show, but for the start of programs");
    if (io == errors)
        return dft_finding_say(text, "no I/O that worked: %s call%s failed", dft_text_count(a, io), io == 1 ? "" : "s");
    return opens && !data
               ? dft_finding_say(text, "no data: %s open%s, and no call that reads, writes or maps what was opened",
                                 dft_text_count(a, opens), opens == 1 ? "" : "s")
               : 0;
}

/* Of those that pass the filter. */
static int say_ends(char **text, const struct dft_findings_request *request)
{
    struct dft_fates fates;
    int rc = dft_fates_find(&fates, request->source, request->filter);

    if (!rc)
        rc = dft_fates_text(text, &fates, request->source);
    dft_fates_free(&fates);
    return rc;
}

static int say_flights(char **text, const struct dft_findings_request *request)
{
    size_t length;
    FILE *out = open_memstream(text, &length);

    if (!out)
        return -ENOMEM;
    dft_job_in_flight(out, request->job, request->source);
    if (fclose(out))
        return -ENOMEM;
    if (!length) {
        free(*text);
        *text = NULL;
    }
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Puts the label before the text. */
static int label(char **text, const char *word)
{
    char *both = NULL;
    int rc = *text ? dft_finding_say(&both, "%s: %s", word, *text) : 0;

    if (*text) {
        free(*text);
        *text = both;
    }
    return rc;
}

int dft_verdict_make(struct dft_rules *rules)
{
    struct dft_findings *findings = rules->findings;
    const struct dft_findings_request *request = rules->facts->request;
    const struct dft_finding *first = findings->count ? findings->list : NULL;
    char **lines = findings->verdict;
    int rc = say_flights(&lines[DFT_VERDICT_IN_FLIGHT], request);

    if (!rc && !findings->is_empty)
        rc = dft_verdict_unseen(&lines[DFT_VERDICT_UNSEEN], rules);
    if (!rc)
        rc = label(&lines[DFT_VERDICT_UNSEEN], "not seen");
    if (!rc)
        rc = say_ends(&lines[DFT_VERDICT_ENDED], request);
    if (!rc)
        rc = label(&lines[DFT_VERDICT_ENDED], "ended badly");
    if (!rc && first)
        rc = say_first(&lines[first->code == DFT_FINDING_LOST ? DFT_VERDICT_LOST : DFT_VERDICT_FINDINGS], first);
    if (!rc)
        rc = say_failed(&lines[DFT_VERDICT_FAILED], rules);
    if (!rc)
        rc = label(&lines[DFT_VERDICT_FAILED], "failed");
    if (!rc)
        rc = say_unknown(&lines[DFT_VERDICT_UNKNOWN], rules);
    if (!rc && !lines[DFT_VERDICT_UNKNOWN])
        rc = dft_finding_say(&lines[DFT_VERDICT_GOOD], "nothing wrong: %s",
                             findings->nothing ? findings->nothing : "nothing was looked for");
    return rc;
}

enum dft_verdict_level dft_verdict_level(const struct dft_findings *findings)
{
    unsigned level = 0;

    while (level < DFT_VERDICT_GOOD && !findings->verdict[level])
        level++;
    return (enum dft_verdict_level)level;
}

const char *dft_verdict_word(enum dft_verdict_level level)
{
    static const char *const words[DFT_VERDICTS] = {"in-flight", "unseen",   "ended",   "lost",
                                                    "failed",    "findings", "unknown", "good"};

    return words[level];
}
