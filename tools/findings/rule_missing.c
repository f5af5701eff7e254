/* SPDX-License-Identifier: MIT */
/* Files that were requested and never found. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "format/ops.h"

#define OP(op) (UINT64_C(1) << (op))
#define NAMED  3u /* directories in the evidence */

struct missing {
    struct dft_place_sum sum;
    uint64_t stats;
    uint64_t dirs, absent, probably; /* directories; those that do not exist, as far as can be known */
    const struct dft_file_place *top[NAMED];
};

/* Was anything ever found in it, or below it? */
static int has_found(const struct dft_places *dirs, const struct dft_file_place *dir)
{
    int found = dir->is_found;

    for (size_t i = 0; i < dirs->count && !found && dir->text.length; i++)
        found = dirs->list[i].found && dft_place_is_below(dirs->list[i].text, dir->text);
    return found;
}

static void insert_top(struct missing *missing, const struct dft_file_place *dir)
{
    for (unsigned i = 0; i < NAMED; i++) {
        const struct dft_file_place *other = missing->top[i];

        if (other && (other->lost.time_ns > dir->lost.time_ns ||
                      (other->lost.time_ns == dir->lost.time_ns && other->id < dir->id)))
            continue; /* by id, as they come in any order */
        missing->top[i] = dir;
        if (!other)
            return;
        dir = other;
    }
}

static void count_missing(const struct dft_places *dirs, struct missing *missing)
{
    for (size_t i = 0; i < dirs->count; i++) {
        const struct dft_file_place *dir = &dirs->list[i];

        if (!dir->lost.calls)
            continue;
        dft_place_sum_add(&missing->sum, &dir->lost);
        missing->stats += dir->lost_stats;
        missing->dirs++;
        insert_top(missing, dir);
    }
}

/* Only as many directories as matter: each is compared with all others. */
static void count_absent(const struct dft_places *dirs, struct missing *missing)
{
    for (size_t i = 0; i < dirs->count; i++) {
        const struct dft_file_place *dir = &dirs->list[i];

        if (!dir->lost.calls || (missing->dirs > 1000 && dir->lost.calls < missing->sum.calls / 1000) ||
            has_found(dirs, dir))
            continue;
        missing->absent += dir->is_asked != 0;
        missing->probably += !dir->is_asked;
    }
}

static int say_absent(char **text, const struct missing *missing)
{
    char a[DFT_TEXT_ROOM];
    int rc = 0;

    if (missing->absent)
        rc = dft_finding_say(text, ", %s of which %s not exist", dft_text_count(a, missing->absent),
                             missing->absent > 1 ? "do" : "does");
    if (!rc && missing->probably)
        rc = dft_finding_say(text, ", %s%s of which probably %s not exist (nothing was ever found there)",
                             missing->absent ? "and " : "", dft_text_count(a, missing->probably),
                             missing->probably > 1 ? "do" : "does");
    return rc;
}

static int say_where(const struct dft_facts *facts, char **text, const struct missing *missing)
{
    const struct dft_asker *asker = NULL;
    uint64_t calls = missing->sum.calls, dirs = missing->dirs;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int rc = 0;

    for (unsigned i = 0; i < NAMED && missing->top[i] && !rc; i++) {
        struct dft_text name = missing->top[i]->text;
        char *path = dft_text_escaped(name.length ? name.bytes : "", name.length);

        rc = path ? dft_finding_say(text, "%s%s in %s", i ? ", " : "; ", dft_text_count(a, missing->top[i]->lost.calls),
                                    dft_facts_short(facts, path))
                  : -ENOMEM;
        free(path);
        calls -= missing->top[i]->lost.calls;
        dirs--;
    }
    if (!rc && dirs)
        rc = dft_finding_say(text, ", %s in %s more", dft_text_count(a, calls), dft_text_count(b, dirs));
    for (size_t i = 0; i < facts->places.naskers; i++)
        if (!asker || facts->places.askers[i].time_ns > asker->time_ns)
            asker = &facts->places.askers[i];
    if (!rc && asker && facts->places.naskers > 1 && asker->time_ns * 2 > missing->sum.time_ns) {
        char *program = dft_text_escaped(asker->program.bytes, asker->program.length);

        rc = program ? dft_finding_say(text, "; %s of them by %s", dft_text_count(a, asker->calls), program) : -ENOMEM;
        free(program);
    }
    return rc;
}

static int say(const struct dft_facts *facts, struct dft_finding *finding, const struct missing *missing)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    uint64_t opens = missing->sum.opens, calls = missing->sum.calls;
    const char *what = opens == calls ? "opens" : missing->stats == calls ? "stats" : "lookups";
    struct dft_text name = missing->top[0]->text;
    int rc = dft_finding_say(&finding->title, "missing files asked for");

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s %s failed (ENOENT) in %s director%s", dft_text_count(a, calls),
                             what, dft_text_count(b, missing->dirs), missing->dirs == 1 ? "y" : "ies");
    if (!rc && !facts->lacks) /* others may have found something there */
        rc = say_absent(&finding->evidence, missing);
    if (!rc)
        rc = say_where(facts, &finding->evidence, missing);
    finding->where = dft_text_escaped(name.length ? name.bytes : "", name.length);
    if (!rc)
        rc = missing->sum.files * 2 <= calls && !missing->sum.folded
                 ? dft_finding_say(&finding->why_sure, "each of %s files is asked for %s times",
                                   dft_text_count(a, missing->sum.files),
                                   dft_text_count(b, (calls + missing->sum.files / 2) / missing->sum.files))
                 : dft_finding_say(&finding->why_sure, facts->lacks ? "none of these calls found its file"
                                                                    : "none of these files was ever found");
    return rc || finding->where ? rc : -ENOMEM;
}

int dft_rule_missing(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    struct missing missing = {0};
    struct dft_finding *finding;
    int rc = dft_rules_need(rules, DFT_FACT_DIRS, UINT64_C(1) << DFT_FINDING_MISSING);

    if (rc <= 0)
        return rc;
    count_missing(&facts->places.dirs, &missing);
    /* each rank looks for its own libraries and settings */
    if (missing.sum.calls < dft_limit(rules, DFT_LIMIT_MISSING_CALLS) * (facts->ranks ? facts->ranks : 1))
        return dft_rules_skip_folded(rules, UINT64_C(1) << DFT_FINDING_MISSING);
    rc = dft_rules_add(rules, DFT_FINDING_MISSING, missing.sum.time_ns, facts->total_ns, &finding);
    if (rc <= 0)
        return rc ? rc : dft_rules_skip_folded(rules, UINT64_C(1) << DFT_FINDING_MISSING);
    count_absent(&facts->places.dirs, &missing);
    finding->calls = finding->errors = missing.sum.calls;
    finding->files = missing.sum.folded ? 0 : missing.sum.files;
    finding->sure = DFT_SURE_HIGH;
    finding->line = dft_facts_error_line(facts, ENOENT, OP(DFT_OP_STAT) | OP(DFT_OP_OPEN));
    return say(facts, finding, &missing);
}
