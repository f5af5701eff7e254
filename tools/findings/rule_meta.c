/* SPDX-License-Identifier: MIT */
/* Seeks, and metadata calls that no other finding has: many small, missing and reopened files, and
 * large ones that lose their blocks, are reported before. */
#include <errno.h>
#include <string.h>

#include "base/saturate.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"
#include "format/ops.h"
#include "query/file_facts.h"

#define AGAIN 10u /* calls on a file, on average, but for its listing: it is looked up again */

/* All metadata calls on a file with this code are in that finding. */
static int has_metadata(enum dft_finding_code code)
{
    return code == DFT_FINDING_REOPENED || code == DFT_FINDING_SMALL_FILES || code == DFT_FINDING_SAVES ||
           code == DFT_FINDING_FILE_EXPLOSION || code == DFT_FINDING_COPIES;
}

/* Is this group by file one of seeks that no other finding has? */
static int is_of_seeks(const struct dft_rules *rules, const struct dft_group *group)
{
    const uint64_t *listed = dft_map_find(&rules->facts->places.listed, group->key.file);

    return group->key.file && group->key.class == DFT_IO_META && dft_place_kind(group->key.op) == DFT_PLACE_SEEKS &&
           !dft_facets_err(group->key.facets) && !has_metadata(dft_rules_reported(rules, group->key.file)) &&
           (!listed || *listed != DFT_LISTED_SMALL);
}

static void take(struct dft_place_kind_sum *from, const struct dft_metrics *what)
{
    from->time_ns -= what->dur_sum < from->time_ns ? what->dur_sum : from->time_ns;
    from->calls -= what->count < from->calls ? what->count : from->calls;
    if (what->dur_max >= from->max_ns || from->max_ns > from->time_ns)
        from->max_ns = 0; /* the longest call was reported, too */
}

/* What was reported of files no longer counts for the directories. */
static int leave_out_reported(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    int rc = 0;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_DIRS) && i < files->count && !rc; i++) {
        const struct dft_group *group = &files->groups[i];
        enum dft_place_calls kind = facts->has_file_ops ? dft_place_kind(group->key.op) : DFT_PLACE_OTHERS;
        enum dft_finding_code code = dft_rules_reported(rules, group->key.file);
        struct dft_file_place *dir;
        uint64_t id;

        if (group->key.class != DFT_IO_META || dft_facets_err(group->key.facets) || !has_metadata(code) ||
            code == DFT_FINDING_SMALL_FILES || code == DFT_FINDING_SAVES) /* these never were */
            continue;
        rc = dft_file_facts_group(facts->answers[DFT_FACT_DIRS].files, group->key.file, &id);
        dir = rc ? NULL : dft_places_find(&facts->places.dirs, id);
        if (dir)
            take(&dir->kinds[kind], &group->metrics);
    }
    return rc;
}

/* --- metadata --------------------------------------------------------------------------------- */

static const struct words {
    const char *calls, *advice;
} words[DFT_PLACE_CALLS] = {
    [DFT_PLACE_OPENS] = {"open and close", "Keep files open, or have fewer files."},
    [DFT_PLACE_STATS] = {"stat", "Keep what stat said, or ask for many files at once (readdir has their types)."},
    [DFT_PLACE_LISTS] = {"listings", "List a directory once, and keep what readdir said."},
    [DFT_PLACE_LOOKUPS] = {"lookups that fail",
                           "Do not ask before: make the file, or open it, and see whether that works."},
    [DFT_PLACE_REMOVALS] = {"removals", "Have fewer files: each is removed by itself."},
    [DFT_PLACE_RENAMES] = {"renames", "Rename less often: write under the final name, or many records into one file."},
    [DFT_PLACE_CUTS] = {"truncates", "Write over the old data, and truncate once at the end."},
    [DFT_PLACE_GROWTHS] = {"space given to files", "Give a file all of its space at once, or none."},
    [DFT_PLACE_CHANGES] = {"changes",
                           "Give files their mode when they are made, and have fewer directories and links."},
    [DFT_PLACE_OTHERS] = {"others", NULL},
};

/* The kinds that are many, below a directory, and have a twentieth of the time; of these the
 * directories keep theirs. Few calls are no storm, however long they take. */
struct storm {
    struct dft_place_sum sum;
    struct dft_place_kind_sum kinds[DFT_PLACE_CALLS]; /* `sum` shared out, as far as is known */
};

static void add_kinds(const struct dft_places *dirs, struct dft_text common, struct dft_place_kind_sum *kinds)
{
    memset(kinds, 0, DFT_PLACE_CALLS * sizeof *kinds);
    for (size_t i = 0; i < dirs->count; i++)
        for (unsigned k = 0; k < DFT_PLACE_CALLS && dft_place_is_below(dirs->list[i].text, common); k++)
            dft_place_kind_add(&kinds[k], &dirs->list[i].kinds[k]);
}

static unsigned choose_kinds(const struct dft_rules *rules, const struct dft_place_kind_sum *kinds)
{
    uint64_t all_ns = 0;
    unsigned chosen = 0;

    for (unsigned k = 0; k < DFT_PLACE_SEEKS; k++)
        all_ns += kinds[k].calls >= dft_limit(rules, DFT_LIMIT_METADATA_KIND) ? kinds[k].time_ns : 0;
    for (unsigned k = 0; k < DFT_PLACE_SEEKS; k++)
        if (kinds[k].calls >= dft_limit(rules, DFT_LIMIT_METADATA_KIND) && kinds[k].time_ns * 20 >= all_ns)
            chosen |= 1u << k;
    return chosen;
}

static void keep_kinds(const struct dft_rules *rules, struct dft_text below, struct storm *storm)
{
    const struct dft_places *dirs = &rules->facts->places.dirs;
    unsigned chosen;

    add_kinds(dirs, below, storm->kinds);
    chosen = choose_kinds(rules, storm->kinds);
    for (unsigned k = 0; k < DFT_PLACE_CALLS; k++)
        if (!(chosen >> k & 1))
            storm->kinds[k] = (struct dft_place_kind_sum){0};
    for (size_t i = 0; i < dirs->count; i++) {
        struct dft_file_place *dir = &dirs->list[i];
        struct dft_place_kind_sum sum = {0};

        for (unsigned k = 0; k < DFT_PLACE_CALLS; k++)
            if (chosen >> k & 1)
                dft_place_kind_add(&sum, &dir->kinds[k]);
        dir->meta.calls = sum.calls;
        dir->meta.time_ns = sum.time_ns;
        dir->meta.max_ns = sum.max_ns;
    }
}

/* Rows of files do not tell operations apart: what is not part of the storm in the whole run is
 * none here. */
static void share_out(const struct dft_rules *rules, struct storm *storm)
{
    struct dft_place_kind_sum run[DFT_PLACE_CALLS];
    uint64_t time_ns = 0, calls = 0, left_ns = 0, left = 0;
    unsigned chosen;

    dft_place_kinds_of_run(rules->facts, run);
    for (unsigned k = 0; k < DFT_PLACE_CALLS; k++) {
        time_ns += run[k].time_ns;
        calls += run[k].calls;
        if (k >= DFT_PLACE_REMOVALS && k <= DFT_PLACE_GROWTHS && dft_place_is_of_large(rules->facts, &run[k]))
            run[k] = (struct dft_place_kind_sum){0};
    }
    chosen = choose_kinds(rules, run);
    memset(storm->kinds, 0, sizeof storm->kinds);
    for (unsigned k = 0; k < DFT_PLACE_CALLS; k++)
        if (chosen >> k & 1) {
            storm->kinds[k] = run[k];
            left_ns += run[k].time_ns;
            left += run[k].calls;
        }
    if (left_ns < time_ns)
        storm->sum.time_ns = dft_uint_of((double)storm->sum.time_ns * (double)left_ns / (double)time_ns);
    if (left < calls)
        storm->sum.calls = dft_uint_of((double)storm->sum.calls * (double)left / (double)calls);
    if (storm->sum.time_ns > left_ns) /* calls that fail are in rows of files that are not known */
        storm->sum.time_ns = left_ns;
    if (storm->sum.calls > left)
        storm->sum.calls = left;
}

static int say_kinds(struct dft_finding *finding, const struct dft_place_kind_sum *kinds)
{
    char a[DFT_TEXT_ROOM];
    uint64_t all_ns = 0;
    unsigned top = 0, next;
    int rc = 0;

    for (unsigned k = 0; k < DFT_PLACE_CALLS; k++) {
        all_ns += kinds[k].time_ns;
        top = kinds[k].time_ns > kinds[top].time_ns ? k : top;
    }
    for (unsigned said = 0; !rc && all_ns; said |= 1u << next) { /* by time */
        next = DFT_PLACE_CALLS;
        for (unsigned k = 0; k < DFT_PLACE_CALLS; k++)
            if (!(said >> k & 1) && kinds[k].time_ns * 20 >= all_ns &&
                (next == DFT_PLACE_CALLS || kinds[k].time_ns > kinds[next].time_ns))
                next = k;
        if (next == DFT_PLACE_CALLS)
            break;
        rc = dft_finding_say(&finding->evidence, "%s%s %s", said ? ", " : "; of the time ",
                             dft_text_share(a, kinds[next].time_ns, all_ns), words[next].calls);
    }
    return rc || !words[top].advice ? rc : dft_finding_advise(finding, words[top].advice);
}

static int say(struct dft_finding *finding, const struct storm *storm)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    uint64_t folded = storm->sum.folded,
             seen = storm->kinds[DFT_PLACE_LISTS].calls + storm->kinds[DFT_PLACE_OTHERS].calls;
    uint64_t each = folded || finding->calls < seen ? 0 : (finding->calls - seen) / finding->files;
    int rc = dft_finding_say(&finding->title, "metadata storm");

    finding->sure = each >= AGAIN ? DFT_SURE_MEDIUM : DFT_SURE_LOW;
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "below %s: %s calls on %s%s file%s, %s each", finding->where,
                             dft_text_count(a, finding->calls), folded ? "more than " : "",
                             dft_text_count(b, finding->files), finding->files == 1 ? "" : "s and directories",
                             dft_text_ns(c, finding->cost_ns / finding->calls));
    if (!rc)
        rc = say_kinds(finding, storm->kinds);
    if (rc)
        return rc;
    return each >= AGAIN ? dft_finding_say(&finding->why_sure, "%s calls a file", dft_text_count(a, each))
                         : dft_finding_say(&finding->why_sure, "few calls a file: only fewer files would help");
}

/* Files have findings, and some are not among the groups that the answers by file have: which part of the storm was
 * reported is not known then. */
static int cannot_leave_out(const struct dft_rules *rules)
{
    static const enum dft_fact facts[] = {DFT_FACT_FILES, DFT_FACT_RANK_FILES};
    int is_told = dft_rules_has(rules, DFT_FINDING_REOPENED) || dft_rules_has(rules, DFT_FINDING_FILE_EXPLOSION) ||
                  dft_rules_has(rules, DFT_FINDING_COPIES);

    for (unsigned i = 0; is_told && i < sizeof facts / sizeof *facts; i++)
        if (dft_facts_has(rules->facts, facts[i]) &&
            rules->facts->answers[facts[i]].found > rules->facts->answers[facts[i]].count)
            return 1;
    return 0;
}

int dft_rule_metadata(struct dft_rules *rules)
{
    const struct dft_places *dirs = &rules->facts->places.dirs;
    const struct dft_place_sum *anywhere = &rules->facts->places.anywhere.meta;
    struct storm storm = {0};
    struct dft_finding *finding;
    struct dft_text common;
    int rc = dft_rules_need(rules, DFT_FACT_DIRS, UINT64_C(1) << DFT_FINDING_METADATA);

    if (rc <= 0)
        return rc;
    if (cannot_leave_out(rules))
        return dft_rules_skip(rules, UINT64_C(1) << DFT_FINDING_METADATA,
                              "more files than are looked at one by one, and findings have some of them");
    rc = leave_out_reported(rules);
    if (rc)
        return rc;
    keep_kinds(rules, (struct dft_text){"", 0}, &storm);
    common = dft_places_common(dirs, offsetof(struct dft_file_place, meta.time_ns));
    keep_kinds(rules, common, &storm);
    for (size_t i = 0; i < dirs->count; i++)
        if (dft_place_is_below(dirs->list[i].text, common) && dirs->list[i].meta.calls)
            dft_place_sum_add(&storm.sum, &dirs->list[i].meta);
    if (anywhere->time_ns > storm.sum.time_ns) {
        common = (struct dft_text){"/", 1};
        dft_place_sum_add(&storm.sum, anywhere);
    }
    if (!rules->facts->has_file_ops)
        share_out(rules, &storm);
    if (storm.sum.calls < dft_limit(rules, DFT_LIMIT_METADATA_CALLS))
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_METADATA, dft_place_sum_cost(&storm.sum), rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = storm.sum.calls;
    finding->files = storm.sum.files;
    finding->where = dft_text_escaped(common.bytes, common.length);
    return finding->where ? say(finding, &storm) : -ENOMEM;
}

/* --- seeks ------------------------------------------------------------------------------------ */

struct seeks {
    uint64_t calls, time_ns, max_ns, files;
    uint64_t streams_ns;         /* of this, seeks of streams: where a stream reads, such a call reads a block, too */
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
        file->streams_ns += group->key.op == DFT_OP_FSEEK ? group->metrics.dur_sum : 0;
        file->max_ns = group->metrics.dur_max > file->max_ns ? group->metrics.dur_max : file->max_ns;
    }
    return 1;
}

/* keys: of the files. */
static int count_seeks(const struct dft_rules *rules, struct seeks *seeks, struct dft_map *keys)
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];

    for (uint32_t i = 0; i < files->count; i++) {
        struct seeks file;

        if (!is_of_seeks(rules, &files->groups[i]) || !count_file(rules, i, &file))
            continue;
        if (!dft_map_put(keys, files->groups[i].key.file))
            return -ENOMEM;
        seeks->calls += file.calls;
        seeks->time_ns += file.time_ns;
        seeks->streams_ns += file.streams_ns;
        seeks->max_ns = file.max_ns > seeks->max_ns ? file.max_ns : seeks->max_ns;
        seeks->files++;
        if (file.time_ns <= seeks->top_ns)
            continue;
        seeks->top = file.top;
        seeks->top_calls = file.calls;
        seeks->top_ns = file.time_ns;
        seeks->accesses = file.accesses;
    }
    return 0;
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
        rc = dft_finding_say_gain(finding);
    finding->sure = seeks->streams_ns * 2 > seeks->time_ns ? DFT_SURE_MEDIUM : DFT_SURE_HIGH;
    return rc ? rc
              : dft_finding_say(&finding->why_sure, finding->sure == DFT_SURE_HIGH
                                                        ? "seeks move no data"
                                                        : "where a stream is read, its seek reads a block, too");
}

int dft_rule_seeks(struct dft_rules *rules)
{
    struct seeks seeks = {0};
    struct dft_map keys = {0};
    struct dft_finding *finding;
    uint64_t usual_ns; /* the longest call alone makes no finding, and is part of its cost */
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_SEEKS);

    if (rc <= 0)
        return rc;
    rc = count_seeks(rules, &seeks, &keys);
    usual_ns = dft_place_sum_cost(&(struct dft_place_sum){.time_ns = seeks.time_ns, .max_ns = seeks.max_ns});
    if (!rc && usual_ns >= dft_limit(rules, DFT_LIMIT_SEEKS_TIME) &&
        usual_ns >= rules->facts->total_ns / 1000 * dft_limit(rules, DFT_LIMIT_SEEKS_SHARE))
        rc = dft_rules_add_files(rules, DFT_FINDING_SEEKS, &keys, seeks.time_ns, &finding);
    dft_map_fini(&keys);
    if (rc <= 0)
        return rc;
    finding->calls = seeks.calls;
    finding->files = seeks.files;
    finding->where = dft_facts_text(&rules->facts->answers[DFT_FACT_FILES], seeks.top, DFT_BY_FILE);
    finding->line = dft_facts_line(rules->facts, DFT_BY_FILE, seeks.top->key.file, UINT64_C(1) << seeks.top->key.op);
    return finding->where ? say_seeks(rules->facts, finding, &seeks) : -ENOMEM;
}
