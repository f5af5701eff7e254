/* SPDX-License-Identifier: MIT */
/* Metadata calls that no other finding has: many small, missing and reopened files are told before. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "query/file_facts.h"

#define AGAIN 10u /* calls on a file, on average, but for its listing: it is asked about again */

/* What was told of files is no longer the directories'. */
static int leave_out_reported(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    int rc = 0;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_DIRS) && i < files->count && !rc; i++) {
        const struct dft_group *group = &files->groups[i];
        struct dft_place *dir;
        uint64_t id;

        if (group->key.class != DFT_IO_META || dft_facets_err(group->key.facets) ||
            dft_rules_reported(rules, group->key.file) != DFT_FINDING_REOPENED)
            continue;
        rc = dft_file_facts_group(facts->answers[DFT_FACT_DIRS].files, group->key.file, &id);
        dir = rc ? NULL : dft_places_find(&facts->places.dirs, id);
        if (!dir || dir->meta.time_ns < group->metrics.dur_sum || dir->meta.calls < group->metrics.count)
            continue;
        dir->meta.time_ns -= group->metrics.dur_sum;
        if (group->metrics.dur_max >= dir->meta.max_ns || dir->meta.max_ns > dir->meta.time_ns)
            dir->meta.max_ns = 0; /* the longest call was told, too */
        dir->meta.calls -= group->metrics.count;
        dir->calls[dft_place_kind(group->key.op)] -= group->metrics.count;
    }
    return rc;
}

static int say_kinds(char **text, const uint64_t *calls, uint64_t all)
{
    static const char *const words[DFT_PLACE_CALLS] = {"open and close", "stat",    "listings",
                                                       "seek",           "changes", "others"};
    char a[DFT_TEXT_ROOM];
    const char *before = ": ";
    int rc = 0;

    for (unsigned i = 0; i < DFT_PLACE_CALLS && !rc; i++) {
        if (calls[i] * 20 < all)
            continue;
        rc = dft_finding_say(text, "%s%s %s", before, dft_text_share(a, calls[i], all), words[i]);
        before = ", ";
    }
    return rc;
}

/* Seeks that take most of the time, most of them in one file: that file, and no storm. Returns 1: it is said. */
static int say_seeks(const struct dft_facts *facts, struct dft_finding *finding, const uint64_t *calls)
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], *where;
    uint64_t seeks = 0, time_ns = 0;
    int rc;

    if (!facts->has_file_ops || calls[DFT_PLACE_SEEKS] * 2 <= finding->calls)
        return 0;
    for (uint32_t i = 0; i < files->count; i++) { /* by time: the first has most */
        const struct dft_group *group = &files->groups[i];

        if (dft_place_kind(group->key.op) != DFT_PLACE_SEEKS)
            continue;
        for (uint32_t k = i; k < files->count; k++) {
            const struct dft_group *other = &files->groups[k];

            if (other->key.file != group->key.file || dft_place_kind(other->key.op) != DFT_PLACE_SEEKS)
                continue;
            seeks += other->metrics.count;
            time_ns += other->metrics.dur_sum;
        }
        if (time_ns * 2 <= finding->cost_ns)
            return 0;
        where = dft_facts_text(files, group, DFT_BY_FILE);
        if (!where)
            return -ENOMEM;
        free(finding->where);
        finding->where = where;
        finding->line = dft_facts_line(facts, DFT_BY_FILE, group->key.file, UINT64_C(1) << group->key.op);
        rc = dft_finding_say(&finding->title, "many seeks");
        if (!rc)
            rc = dft_finding_say(&finding->evidence, "%s: %s of %s metadata calls are seeks in this file",
                                 dft_facts_short(facts, where), dft_text_count(a, seeks),
                                 dft_text_count(b, finding->calls));
        if (!rc)
            rc = dft_finding_say(&finding->advice, " Seeks: read on through a buffer, or use pread and pwrite.");
        return rc ? rc : dft_finding_say(&finding->why_sure, "seeks move no data") ? -ENOMEM : 1;
    }
    return 0;
}

static int say(const struct dft_facts *facts, struct dft_finding *finding, const uint64_t *calls, int folded)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint64_t each = folded ? 0 : (finding->calls - calls[DFT_PLACE_LISTS] - calls[DFT_PLACE_OTHERS]) / finding->files;
    int rc = dft_finding_say(&finding->title, "metadata storm");

    finding->sure = each >= AGAIN ? DFT_SURE_MEDIUM : DFT_SURE_LOW;
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "below %s: %s calls on %s%s file%s, %s each", finding->where,
                             dft_text_count(a, finding->calls), folded ? "more than " : "",
                             dft_text_count(b, finding->files), finding->files == 1 ? "" : "s and directories",
                             dft_text_ns(c, finding->cost_ns / finding->calls));
    if (!rc && facts->has_file_ops)
        rc = say_kinds(&finding->evidence, calls, finding->calls);
    if (rc)
        return rc;
    return each >= AGAIN ? dft_finding_say(&finding->why_sure, "%s calls a file", dft_text_count(a, each))
                         : dft_finding_say(&finding->why_sure, "few calls a file: only fewer files would help");
}

int dft_rule_metadata(struct dft_rules *rules)
{
    const struct dft_places *dirs = &rules->facts->places.dirs;
    struct dft_place_sum sum = {0};
    struct dft_finding *finding;
    struct dft_text common;
    uint64_t calls[DFT_PLACE_CALLS] = {0};
    int rc = dft_rules_need(rules, DFT_FACT_DIRS, UINT64_C(1) << DFT_FINDING_METADATA);

    if (rc <= 0)
        return rc;
    rc = leave_out_reported(rules);
    if (rc)
        return rc;
    common = dft_places_common(dirs, offsetof(struct dft_place, meta.time_ns));
    for (size_t i = 0; i < dirs->count; i++) {
        if (!dft_place_is_below(dirs->list[i].text, common))
            continue;
        dft_place_sum_add(&sum, &dirs->list[i].meta);
        for (unsigned k = 0; k < DFT_PLACE_CALLS; k++)
            calls[k] += dirs->list[i].calls[k];
    }
    if (sum.calls < dft_limit(rules, DFT_LIMIT_METADATA_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_METADATA, dft_place_sum_cost(&sum), rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = sum.calls;
    finding->files = sum.files;
    finding->where = dft_text_escaped(common.bytes, common.length);
    rc = finding->where ? say_seeks(rules->facts, finding, calls) : -ENOMEM;
    return rc ? rc < 0 ? rc : 0 : say(rules->facts, finding, calls, sum.folded != 0);
}
