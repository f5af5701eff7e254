/* SPDX-License-Identifier: MIT */
/* Seeks, and metadata calls that no other finding has: many small, missing and reopened files are
 * told before. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "query/file_facts.h"

#define AGAIN 10u /* calls on a file, on average, but for its listing: it is asked about again */

/* Is this group by file one of seeks that no other finding has? */
static int is_of_seeks(const struct dft_rules *rules, const struct dft_group *group)
{
    const uint64_t *listed = dft_map_find(&rules->facts->places.listed, group->key.file);
    enum dft_finding_code code = dft_rules_reported(rules, group->key.file);

    return group->key.file && group->key.class == DFT_IO_META && dft_place_kind(group->key.op) == DFT_PLACE_SEEKS &&
           !dft_facets_err(group->key.facets) && code != DFT_FINDING_REOPENED && code != DFT_FINDING_SMALL_FILES &&
           (!listed || *listed != DFT_LISTED_SMALL);
}

/* What was told of files is no longer the directories'. */
static int leave_out_reported(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    int has_seeks = 0, rc = 0;

    for (size_t i = 0; i < rules->findings->count; i++)
        has_seeks |= rules->findings->list[i].code == DFT_FINDING_SEEKS;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_DIRS) && i < files->count && !rc; i++) {
        const struct dft_group *group = &files->groups[i];
        struct dft_place *dir;
        uint64_t id;

        if (group->key.class != DFT_IO_META || dft_facets_err(group->key.facets) ||
            (dft_rules_reported(rules, group->key.file) != DFT_FINDING_REOPENED &&
             !(has_seeks && is_of_seeks(rules, group))))
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
    return finding->where ? say(rules->facts, finding, calls, sum.folded != 0) : -ENOMEM;
}

/* --- seeks ------------------------------------------------------------------------------------ */

struct seeks {
    uint64_t calls, time_ns, files;
    const struct dft_group *top; /* a group of the file that has the most time */
    uint64_t top_calls, top_ns;
    uint64_t accesses; /* of that file */
};

/* The seeks, and reads and writes, of the file that a group is of. Returns 0: these were counted
 * with a group before. */
static int count_file(const struct dft_rules *rules, uint32_t at, struct seeks *file)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];
    uint64_t id = files->groups[at].key.file;

    *file = (struct seeks){.top = &files->groups[at], .files = 1};
    for (uint32_t i = 0; i < files->count; i++) {
        const struct dft_group *group = &files->groups[i];

        if (group->key.file != id)
            continue;
        file->accesses += group->metrics.data;
        if (!is_of_seeks(rules, group))
            continue;
        if (i < at)
            return 0;
        file->calls += group->metrics.count;
        file->time_ns += group->metrics.dur_sum;
    }
    return 1;
}

static void count_seeks(const struct dft_rules *rules, struct seeks *seeks)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];

    for (uint32_t i = 0; i < files->count; i++) {
        struct seeks file;

        if (!is_of_seeks(rules, &files->groups[i]) || !count_file(rules, i, &file))
            continue;
        seeks->calls += file.calls;
        seeks->time_ns += file.time_ns;
        seeks->files++;
        if (file.time_ns <= seeks->top_ns)
            continue;
        seeks->top = file.top;
        seeks->top_calls = file.calls;
        seeks->top_ns = file.time_ns;
        seeks->accesses = file.accesses;
    }
}

static int say_seeks(const struct dft_facts *facts, struct dft_finding *finding, const struct seeks *seeks)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "many seeks");

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s seeks, %s, %s each, with %s reads and writes",
                             dft_facts_short(facts, finding->where), dft_text_count(a, seeks->top_calls),
                             dft_text_ns(b, seeks->top_ns), dft_text_ns(c, seeks->top_ns / seeks->top_calls),
                             dft_text_count((char[DFT_TEXT_ROOM]){0}, seeks->accesses));
    if (!rc && seeks->files > 1)
        rc = dft_finding_say(&finding->evidence, "; and %s more file%s, %s seeks in all",
                             dft_text_count(a, seeks->files - 1), seeks->files > 2 ? "s" : "",
                             dft_text_count(b, seeks->calls));
    if (!rc)
        rc = dft_finding_say(&finding->advice, " At most %s to gain.", dft_text_ns(a, seeks->time_ns));
    return rc ? rc : dft_finding_say(&finding->why_sure, "seeks move no data");
}

int dft_rule_seeks(struct dft_rules *rules)
{
    struct seeks seeks = {0};
    struct dft_finding *finding;
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_SEEKS);

    if (rc <= 0)
        return rc;
    count_seeks(rules, &seeks);
    if (seeks.calls < dft_limit(rules, DFT_LIMIT_SEEKS_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_SEEKS, seeks.time_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = seeks.calls;
    finding->files = seeks.files;
    finding->sure = DFT_SURE_HIGH;
    finding->where = dft_facts_text(&rules->facts->answers[DFT_FACT_FILES], seeks.top, DFT_BY_FILE);
    finding->line = dft_facts_line(rules->facts, DFT_BY_FILE, seeks.top->key.file, UINT64_C(1) << seeks.top->key.op);
    return finding->where ? say_seeks(rules->facts, finding, &seeks) : -ENOMEM;
}
