/* SPDX-License-Identifier: MIT */
/* Accesses that begin inside a block, and files that are read where they are mapped. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/reported.h"
#include "findings/rules.h"

struct misaligned {
    const struct dft_access_class *top;
    uint64_t cost_ns, top_ns, aligned_ns, misaligned_ns; /* the last two: medians of `top` */
    uint8_t size_class;
    int is_write;
};

static char *text_of(const struct dft_facts *facts, uint64_t file)
{
    struct dft_text text = dft_names_text(facts->accesses.names, file);

    return dft_text_escaped(text.length ? text.bytes : "", text.length);
}

/* The file with the largest number. */
static uint64_t find_top(const struct dft_map *map, uint64_t *top)
{
    uint64_t file = 0;

    for (size_t i = 0; i < map->capacity; i++) {
        const struct dft_map_slot *slot = &map->slots[i];

        if (slot->key && (!file || slot->value > *top || (slot->value == *top && slot->key < file))) {
            file = slot->key;
            *top = slot->value;
        }
    }
    return file;
}

/* --- misaligned ------------------------------------------------------------------------------- */

static uint64_t median_of(const struct dft_access_class *class, int is_misaligned)
{
    uint64_t below = 0;

    for (uint32_t bin = 0; bin < DFT_BINS; bin++) {
        below += class->bins[is_misaligned][bin];
        if (below * 2 >= class->calls[is_misaligned])
            return dft_bin_middle(bin);
    }
    return 0;
}

/* What misaligned calls of a class take more than aligned ones, by medians: a mean is that of a
 * few. */
static void look_at(const struct dft_rules *rules, struct misaligned *misaligned, unsigned number)
{
    const struct dft_access_class *class = &rules->facts->accesses.classes[number];
    uint64_t calls = dft_limit(rules, DFT_LIMIT_MISALIGNED_CALLS), aligned_ns, misaligned_ns, cost_ns;

    if (class->calls[0] < calls || class->calls[1] < calls)
        return;
    aligned_ns = median_of(class, 0);
    misaligned_ns = median_of(class, 1);
    if (misaligned_ns * 1000 < aligned_ns * dft_limit(rules, DFT_LIMIT_MISALIGNED_FACTOR))
        return;
    cost_ns = (misaligned_ns - aligned_ns) * class->calls[1];
    cost_ns = cost_ns < class->time_ns[1] ? cost_ns : class->time_ns[1];
    misaligned->cost_ns += cost_ns;
    if (cost_ns <= misaligned->top_ns)
        return;
    misaligned->top = class;
    misaligned->top_ns = cost_ns;
    misaligned->aligned_ns = aligned_ns;
    misaligned->misaligned_ns = misaligned_ns;
    misaligned->size_class = (uint8_t)(number % DFT_SIZE_CLASSES);
    misaligned->is_write = number >= DFT_SIZE_CLASSES;
}

int dft_rule_misaligned(struct dft_rules *rules)
{
    const struct dft_accesses *accesses = &rules->facts->accesses;
    struct misaligned misaligned = {0};
    struct dft_finding *finding;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];
    uint64_t top = 0, file = find_top(&accesses->misaligned, &top);
    int rc = dft_rules_need(rules, DFT_FACT_OPENS, UINT64_C(1) << DFT_FINDING_MISALIGNED);

    for (unsigned i = 0; rc > 0 && accesses->classes && i < 2u * DFT_SIZE_CLASSES; i++)
        look_at(rules, &misaligned, i);
    if (rc <= 0 || !misaligned.cost_ns || dft_rules_reported(rules, file) != DFT_FINDINGS)
        return rc < 0 ? rc : 0;
    rc = dft_rules_add(rules, DFT_FINDING_MISALIGNED, misaligned.cost_ns, rules->facts->total_ns, &finding);
    if (rc <= 0)
        return rc;
    finding->calls = misaligned.top->calls[1];
    finding->files = accesses->misaligned.count;
    finding->where = text_of(rules->facts, file);
    rc = finding->where ? dft_finding_say(&finding->title, "misaligned %s", misaligned.is_write ? "writes" : "reads")
                        : -ENOMEM;
    if (!rc)
        rc = dft_finding_say(
            &finding->evidence,
            "%s: %s %s of %s and more begin inside a block of 4 KiB: %s each, aligned ones %s (medians)",
            dft_facts_short(rules->facts, finding->where), dft_text_count(a, misaligned.top->calls[1]),
            misaligned.is_write ? "writes" : "reads", dft_text_bytes(b, dft_size_class_low(misaligned.size_class)),
            dft_text_ns(c, misaligned.misaligned_ns), dft_text_ns(d, misaligned.aligned_ns));
    return rc ? rc : dft_finding_say(&finding->why_sure, "calls of like sizes are compared");
}

/* --- mapped ----------------------------------------------------------------------------------- */

/* Page faults are no calls: a note, for what they cost is not known. */
int dft_rule_mapped(struct dft_rules *rules)
{
    const struct dft_map *mapped = &rules->facts->accesses.mapped;
    uint64_t bytes = 0, top = 0, file = find_top(mapped, &top);
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], *path, *note = NULL;
    int rc;

    for (size_t i = 0; i < mapped->capacity; i++)
        bytes += mapped->slots[i].key ? mapped->slots[i].value : 0;
    if (!file || bytes < dft_limit(rules, DFT_LIMIT_MAPPED_BYTES) || rules->limits->off >> DFT_FINDING_MAPPED & 1)
        return 0;
    path = text_of(rules->facts, file);
    if (!path)
        return -ENOMEM;
    rc = dft_finding_say(&note, "%s mapped: %s", dft_text_bytes(a, top), dft_facts_short(rules->facts, path));
    if (!rc && mapped->count > 1)
        rc = dft_finding_say(&note, " and %s more file%s, %s in all", dft_text_count(a, mapped->count - 1),
                             mapped->count > 2 ? "s" : "", dft_text_bytes(b, bytes));
    if (!rc)
        rc = dft_finding_say(&note, "; reads of %s are not seen", mapped->count > 1 ? "them" : "it");
    if (!rc)
        rc = dft_rules_note(rules, note);
    free(note);
    free(path);
    return rc;
}
