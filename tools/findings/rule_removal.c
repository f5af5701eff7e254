/* SPDX-License-Identifier: MIT */
/* Metadata calls that take long because a large file loses its blocks, or gets some. */
#include <errno.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"

#define KIND(kind) (1u << DFT_PLACE_##kind)
#define FREES      (KIND(REMOVALS) | KIND(RENAMES) | KIND(CUTS))
#define GIVES      KIND(GROWTHS)

static const struct words {
    const char *title, *calls, *advice; /* NULL: that of the table */
} words[DFT_PLACE_CALLS] = {
    [DFT_PLACE_REMOVALS] = {"large files removed", "removal", NULL},
    [DFT_PLACE_RENAMES] = {"large files renamed over others", "rename",
                           "Each rename frees the file that had the name: do so less often, or write over the old "
                           "data."},
    [DFT_PLACE_CUTS] = {"large files truncated", "truncate", "Write over the old data, and truncate once at the end."},
    [DFT_PLACE_GROWTHS] = {"space given to large files", "call", NULL},
};

struct blocks {
    struct dft_place_kind_sum kinds[DFT_PLACE_CALLS], all;
    uint64_t files, bytes;
    const struct dft_large_file *top;
    enum dft_place_calls kind; /* that has most of the time */
};

/* All calls on these files are in a finding. */
static int is_told(const struct dft_rules *rules, uint64_t file)
{
    enum dft_finding_code code = dft_rules_reported(rules, file);

    return code == DFT_FINDING_FILE_EXPLOSION || code == DFT_FINDING_COPIES;
}

static void add_kind(struct blocks *blocks, enum dft_place_calls kind, const struct dft_place_kind_sum *sum)
{
    dft_place_kind_add(&blocks->all, sum);
    dft_place_kind_add(&blocks->kinds[kind], sum);
    if (!blocks->kinds[blocks->kind].calls || blocks->kinds[kind].time_ns > blocks->kinds[blocks->kind].time_ns)
        blocks->kind = kind;
}

static void collect(const struct dft_rules *rules, unsigned kinds, struct blocks *blocks)
{
    const struct dft_file_places *places = &rules->facts->places;
    uint64_t last = 0;

    for (size_t i = 0; i < places->nlarge; i++) {
        const struct dft_large_file *large = &places->large[i];

        if (!(kinds >> large->kind & 1) || is_told(rules, large->file))
            continue;
        add_kind(blocks, large->kind, &large->sum);
        blocks->files += large->file != last; /* those of a file stand together */
        blocks->bytes += large->file != last ? large->size : 0;
        last = large->file;
        if (!blocks->top || large->sum.time_ns > blocks->top->sum.time_ns)
            blocks->top = large;
    }
}

/* Aggregates do not tell operations apart by file. Where there are as many large files as calls,
 * these are about them. */
static void collect_from_run(const struct dft_facts *facts, unsigned kinds, struct blocks *blocks)
{
    const struct dft_file_places *places = &facts->places;
    struct dft_place_kind_sum run[DFT_PLACE_CALLS];

    dft_place_kinds_of_run(facts, run);
    for (unsigned i = 0; i < DFT_PLACE_CALLS; i++)
        if (kinds >> i & 1 && run[i].calls && dft_place_is_of_large(facts, &run[i]))
            add_kind(blocks, (enum dft_place_calls)i, &run[i]);
    blocks->files = places->large_files;
    blocks->bytes = places->large_bytes;
}

static char *text_of(const struct dft_facts *facts, const struct blocks *blocks)
{
    struct dft_text common;

    if (blocks->top)
        return blocks->files > 1 ? dft_facts_pattern_text(facts, dft_facts_pattern(facts, blocks->top->file))
                                 : dft_facts_file_text(facts, blocks->top->file);
    common = dft_places_common(&facts->places.dirs, offsetof(struct dft_file_place, meta.time_ns));
    return dft_text_escaped(common.bytes, common.length);
}

static int say(const struct dft_facts *facts, struct dft_finding *finding, const struct blocks *blocks)
{
    const struct words *own = &words[blocks->kind];
    const struct dft_place_kind_sum *top = &blocks->kinds[blocks->kind];
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc = dft_finding_say(&finding->title, "%s", own->title);

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s %s%s of files of %s, %s, %s each",
                             dft_facts_short(facts, finding->where), dft_text_count(a, top->calls), own->calls,
                             top->calls == 1 ? "" : "s", dft_text_bytes(b, blocks->bytes / blocks->files),
                             dft_text_ns(c, top->time_ns), dft_text_ns(d, top->time_ns / top->calls));
    for (unsigned i = 0; i < DFT_PLACE_CALLS && !rc; i++)
        if (i != blocks->kind && blocks->kinds[i].time_ns * 20 >= blocks->all.time_ns && blocks->kinds[i].calls)
            rc = dft_finding_say(&finding->evidence, ", and %s %s%s, %s", dft_text_count(a, blocks->kinds[i].calls),
                                 words[i].calls, blocks->kinds[i].calls == 1 ? "" : "s",
                                 dft_text_ns(b, blocks->kinds[i].time_ns));
    if (!rc && own->advice)
        rc = dft_finding_advise(finding, own->advice);
    return rc ? rc
              : dft_finding_say(&finding->why_sure, "the time goes with the size of the files, not with their number");
}

static int add(struct dft_rules *rules, enum dft_finding_code code, unsigned kinds, uint64_t least)
{
    struct blocks blocks = {0};
    struct dft_finding *finding;
    int rc;

    if (rules->facts->has_file_ops)
        collect(rules, kinds, &blocks);
    else
        collect_from_run(rules->facts, kinds, &blocks);
    if (!blocks.all.calls || blocks.all.time_ns < rules->facts->total_ns / 1000 * least)
        return 0;
    rc = dft_rules_add(rules, code, blocks.all.time_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = blocks.all.calls;
    finding->files = blocks.files;
    finding->bytes = blocks.bytes;
    finding->where = text_of(rules->facts, &blocks);
    return finding->where ? say(rules->facts, finding, &blocks) : -ENOMEM;
}

int dft_rule_removal(struct dft_rules *rules)
{
    int rc =
        dft_rules_need(rules, DFT_FACT_DIRS, UINT64_C(1) << DFT_FINDING_REMOVAL | UINT64_C(1) << DFT_FINDING_GROWTH);

    if (rc <= 0)
        return rc;
    rc = add(rules, DFT_FINDING_REMOVAL, FREES, dft_limit(rules, DFT_LIMIT_REMOVAL_SHARE));
    return rc ? rc : add(rules, DFT_FINDING_GROWTH, GIVES, 0);
}
