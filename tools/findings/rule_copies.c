/* SPDX-License-Identifier: MIT */
/* What is written more often than it has to be: one name that is saved again and again, and data
 * that go through temporary files. */
#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"
#include "intake/source_names.h"

#define STAGES 16u /* temporary files that a copy goes through, at most; also ends what leads to itself */

/* --- one name, saved again and again ---------------------------------------------------------- */

static const struct dft_file_place *costliest(const struct dft_places *saves, struct dft_place_sum *sum)
{
    const struct dft_file_place *top = saves->list;

    for (size_t i = 0; i < saves->count; i++) {
        const struct dft_file_place *name = &saves->list[i];

        dft_place_sum_add(sum, &name->small);
        if (name->small.time_ns > top->small.time_ns ||
            (name->small.time_ns == top->small.time_ns && name->id < top->id))
            top = name;
    }
    return top;
}

static int say_saves(const struct dft_facts *facts, struct dft_finding *finding, const struct dft_file_place *top,
                     size_t names)
{
    uint64_t times = *dft_map_find(&facts->accesses.made, top->id);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    int rc =
        dft_finding_say(&finding->title, names > 1 ? "files saved again and again" : "a file saved again and again");

    if (!rc)
        rc = dft_finding_say(&finding->evidence,
                             "%s: saved %s times as a new file that is renamed to it, %s each time, %s, %s each",
                             dft_facts_short(facts, finding->where), dft_text_count(a, times),
                             dft_text_bytes(b, top->small.bytes / times), dft_text_ns(c, top->small.time_ns),
                             dft_text_ns(d, top->small.time_ns / times));
    if (!rc && names > 1)
        rc = dft_finding_say(&finding->evidence, "; and %s more name%s", dft_text_count(a, names - 1),
                             names > 2 ? "s" : "");
    if (!rc)
        rc = dft_finding_say_gain(finding);
    return rc ? rc : dft_finding_say(&finding->why_sure, "how often it must be saved is not known");
}

int dft_rule_saves(struct dft_rules *rules)
{
    const struct dft_facts *facts = rules->facts;
    const struct dft_map *renamed = &facts->accesses.renamed;
    const struct dft_places *saves = &facts->places.saves;
    struct dft_place_sum sum = {0};
    struct dft_finding *finding;
    const struct dft_file_place *top;
    struct dft_text name;
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_SAVES);

    if (rc <= 0 || !saves->count)
        return rc < 0 ? rc : 0;
    top = costliest(saves, &sum);
    rc = dft_rules_add(rules, DFT_FINDING_SAVES, sum.time_ns, facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    name = dft_names_text(facts->accesses.names, top->id);
    finding->calls = sum.calls;
    finding->bytes = sum.bytes;
    finding->files = saves->count;
    finding->where = dft_text_escaped(name.length ? name.bytes : "", name.length);
    rc = finding->where ? 0 : -ENOMEM;
    for (size_t i = 0; i < renamed->capacity && !rc; i++)
        if (dft_places_saved_as(facts, renamed->slots[i].key))
            rc = dft_rules_report(rules, renamed->slots[i].key, DFT_FINDING_SAVES);
    return rc ? rc : say_saves(facts, finding, top, saves->count);
}

/* --- copies through temporary files ----------------------------------------------------------- */

static int by_size_and_time(const void *left, const void *right)
{
    const struct dft_copied_file *a = left, *b = right;

    DFT_ORDER(a->size, b->size);
    DFT_ORDER(a->write_from_ns, b->write_from_ns);
    DFT_ORDER(a->file, b->file);
    return 0;
}

/* The file that was written, in as many bytes, while or right after this one was read. Files are
 * those of one size, by time. */
static const struct dft_copied_file *next_stage(const struct dft_copied_file *files, size_t count,
                                                const struct dft_copied_file *from)
{
    size_t low = 0, high = count;
    const struct dft_copied_file *next;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (files[middle].write_from_ns < from->read_from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    next = &files[low];
    return next->write_from_ns <= from->read_to_ns + (from->read_to_ns - from->read_from_ns) +
                                      (next->write_to_ns - next->write_from_ns)
               ? next
               : NULL;
}

struct copies {
    uint64_t files, bytes, time_ns;
    const struct dft_copied_file *top, *last; /* a temporary file, and what became of it */
};

/* Follows a temporary file through others, to one that stays. NULL: it does not come to one. */
static const struct dft_copied_file *follow(const struct dft_copied_file *files, size_t count,
                                            const struct dft_copied_file *from)
{
    const struct dft_copied_file *next = from;

    for (unsigned n = 0; n < STAGES && next && next->is_removed; n++)
        next = next->read_to_ns ? next_stage(files, count, next) : NULL;
    return next && !next->is_removed ? next : NULL;
}

/* Adds up the temporary files of one size. `copies` NULL: reports them instead. */
static int add_size(struct dft_rules *rules, const struct dft_copied_file *files, size_t count, struct copies *copies)
{
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct dft_copied_file *file = &files[i], *last;
        enum dft_finding_code code = dft_rules_reported(rules, file->file);

        if (!file->is_removed || (code != DFT_FINDINGS && code != DFT_FINDING_COPIES))
            continue;
        last = follow(files, count, file);
        if (!last)
            continue;
        if (!copies) {
            rc = dft_rules_report(rules, file->file, DFT_FINDING_COPIES);
            continue;
        }
        copies->files++;
        copies->bytes += file->size;
        copies->time_ns += file->time_ns;
        if (!copies->top || file->time_ns > copies->top->time_ns) {
            copies->top = file;
            copies->last = last;
        }
    }
    return rc;
}

/* The same of all sizes. */
static int each_size(struct dft_rules *rules, struct copies *copies)
{
    const struct dft_file_places *places = &rules->facts->places;
    int rc = 0;

    for (size_t from = 0, to; from < places->nwhole && !rc; from = to) {
        for (to = from; to < places->nwhole && places->whole[to].size == places->whole[from].size; to++)
            ;
        rc = add_size(rules, &places->whole[from], to - from, copies);
    }
    return rc;
}

static int say_copies(const struct dft_facts *facts, struct dft_finding *finding, const struct copies *copies)
{
    char *last = dft_facts_file_text(facts, copies->last->file);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];
    int rc = last ? dft_finding_say(&finding->title, "data copied through temporary files") : -ENOMEM;

    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s written, read once and removed, %s; %s is as large",
                             dft_facts_short(facts, finding->where), dft_text_bytes(a, copies->top->size),
                             dft_text_ns(b, copies->top->time_ns), dft_facts_short(facts, last));
    if (!rc && copies->files > 1)
        rc = dft_finding_say(&finding->evidence, "; and %s more temporary file%s", dft_text_count(c, copies->files - 1),
                             copies->files > 2 ? "s" : "");
    if (!rc)
        rc = dft_finding_say_gain(finding);
    free(last);
    return rc ? rc
              : dft_finding_say(&finding->why_sure, "as many bytes were written when it was read; whether they are "
                                                    "the same is not known");
}

int dft_rule_copies(struct dft_rules *rules)
{
    const struct dft_file_places *places = &rules->facts->places;
    struct copies copies = {0};
    struct dft_finding *finding;
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_COPIES);

    if (rc <= 0 || !places->nwhole)
        return rc < 0 ? rc : 0;
    qsort(places->whole, places->nwhole, sizeof *places->whole, by_size_and_time);
    rc = each_size(rules, &copies);
    if (!rc)
        rc = copies.files ? dft_rules_add(rules, DFT_FINDING_COPIES, copies.time_ns, rules->facts->total_ns, &finding)
                          : 0;
    if (rc <= 0)
        return rc;
    finding->files = copies.files;
    finding->bytes = copies.bytes;
    finding->where = dft_facts_file_text(rules->facts, copies.top->file);
    rc = finding->where ? each_size(rules, NULL) : -ENOMEM;
    return rc ? rc : say_copies(rules->facts, finding, &copies);
}
