/* SPDX-License-Identifier: MIT */
/* What was looked at and is no problem; and what costs no known time, but is worth to know. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"

/* Calls that were to write, or to make durable what was written. The verdict reports those that failed. */
static int look_at_failures(struct dft_rules *rules)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];
        uint16_t err = dft_facets_err(group->key.facets);

        if ((group->key.class == DFT_IO_WRITE || group->key.class == DFT_IO_SYNC) && group->metrics.errors &&
            err != EAGAIN && err != EINTR)
            return 0;
    }
    return dft_rules_good(rules, "failures to write 0");
}

static int look_at_tracing(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const char *cut = facts->lacks & DFT_LACKS_TIMES ? " of the whole run" : "";
    char share[DFT_TEXT_ROOM], text[160];

    if (!facts->uncut_ns || !facts->overhead_ns)
        return 0;
    dft_text_share(share, facts->overhead_ns, facts->uncut_ns);
    if (facts->overhead_ns > facts->uncut_ns / 1000 * dft_limit(rules, DFT_LIMIT_ANY_TRACING)) {
        snprintf(text, sizeof text, "tracing took %s of the %s: short calls cost less without it", share,
                 *cut ? "whole run" : "time");
        return dft_rules_note(rules, text);
    }
    snprintf(text, sizeof text, "tracing %s%s", share, cut);
    return dft_rules_good(rules, text);
}

/* Said where nothing is wrong: then it is why. */
static int look_at_time(struct dft_rules *rules)
{
    const struct dft_answer *calls = &rules->facts->answers[DFT_FACT_CALLS];
    uint64_t io_ns = 0;
    char share[DFT_TEXT_ROOM], text[2 * DFT_TEXT_ROOM];

    for (uint32_t i = 0; i < calls->count; i++)
        if (dft_is_io(calls->groups[i].key.class))
            io_ns += calls->groups[i].metrics.dur_sum;
    if (rules->findings->count || !rules->facts->total_ns)
        return 0;
    snprintf(text, sizeof text, "I/O %s of %s", dft_text_share(share, io_ns, rules->facts->total_ns),
             rules->facts->processes > 1 ? "all processes" : "the time");
    return dft_rules_good(rules, text);
}

int dft_rule_good(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    int wants_lines = 0, rc = look_at_failures(rules);

    if (!rc)
        rc = look_at_tracing(rules);
    if (!rc)
        rc = look_at_time(rules);
    for (size_t i = 0; i < rules->findings->count; i++)
        wants_lines |= rules->findings->list[i].calls && !rules->findings->list[i].line;
    if (!rc && wants_lines && !facts->has_stacks && facts->has_file_ops)
        rc = dft_rules_note(rules, "DFTRACER_STACK=1 (dftrun --stack) adds source lines");
    return rc;
}
