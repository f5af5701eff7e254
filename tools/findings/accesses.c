/* SPDX-License-Identifier: MIT */
/* Reads events one by one for what no group tells: alignment, mappings, names and lengths. */
#include "findings/accesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/facts.h"
#include "format/event.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "intake/source_names.h"
#include "views/source_unordered.h"

static int add_access(struct dft_accesses *accesses, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    int is_write = at->io == DFT_IO_WRITE, is_misaligned = event->offset % DFT_ALIGNED_BYTES != 0;
    struct dft_access_class *class = &accesses->classes[is_write * DFT_SIZE_CLASSES + dft_size_class(event->size)];
    uint64_t *misaligned;

    class->calls[is_misaligned]++;
    class->time_ns[is_misaligned] += event->dur_ns;
    class->bins[is_misaligned][dft_bin_of(event->dur_ns)]++;
    if (!is_misaligned || !event->file)
        return 0;
    misaligned = dft_map_put(&accesses->misaligned, event->file);
    if (!misaligned)
        return -ENOMEM;
    *misaligned += event->dur_ns;
    return 0;
}

/* What a file was renamed to, and how long a truncate made it. */
static int add_change(struct dft_accesses *accesses, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    uint64_t *value;

    if (at->op == DFT_OP_TRUNCATE) {
        if (!event->file || !dft_event_has_offset(event))
            return 0;
        value = dft_map_put(&accesses->lengths, event->file);
        if (value && (uint64_t)event->offset > *value)
            *value = (uint64_t)event->offset;
        return value ? 0 : -ENOMEM;
    }
    if (!event->file2)
        return 0;
    value = dft_map_put(&accesses->made, event->file2);
    if (value)
        ++*value;
    if (value && at->op == DFT_OP_RENAME && event->file) {
        value = dft_map_put(&accesses->renamed, event->file);
        if (value)
            *value = event->file2;
    }
    return value ? 0 : -ENOMEM;
}

static int take(void *context, const struct dft_event_at *at)
{
    struct dft_accesses *accesses = context;
    const struct dft_event *event = at->event;
    uint64_t *mapped;

    if (event->err || event->phase != DFT_PHASE_COMPLETE)
        return 0;
    if ((at->io == DFT_IO_READ || at->io == DFT_IO_WRITE) && dft_op_is_data(at->op))
        return event->size >= DFT_ALIGNED_BYTES && event->calls == 1 && dft_event_has_offset(event)
                   ? add_access(accesses, at)
                   : 0;
    if (at->op == DFT_OP_RENAME || at->op == DFT_OP_LINK || at->op == DFT_OP_TRUNCATE)
        return add_change(accesses, at);
    if (at->op != DFT_OP_MAP || at->io != DFT_IO_META || !event->file || !event->size)
        return 0;
    mapped = dft_map_put(&accesses->mapped, event->file);
    if (!mapped)
        return -ENOMEM;
    *mapped = event->size > *mapped ? event->size : *mapped;
    return 0;
}

/* Are there mappings of data, or is enough time in large accesses, or truncates? Are files missing,
 * and others renamed, or many renamed? */
static int is_worth_it(const struct dft_facts *facts)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    const uint64_t *limits = facts->request->limits->values;
    uint64_t large_ns = 0, cuts_ns = 0, mappings = 0, renames = 0, lost = 0;

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];
        uint64_t count = group->metrics.count;

        mappings += group->key.op == DFT_OP_MAP && group->key.class == DFT_IO_META ? count : 0;
        renames += group->key.op == DFT_OP_RENAME || group->key.op == DFT_OP_LINK ? count : 0;
        cuts_ns += group->key.op == DFT_OP_TRUNCATE ? group->metrics.dur_sum : 0;
        lost += dft_facets_err(group->key.facets) == ENOENT ? count : 0;
        if (dft_facets_size_class(group->key.facets) >= dft_size_class(DFT_ALIGNED_BYTES))
            large_ns += group->metrics.dur_sum;
    }
    return mappings || (renames && lost >= limits[DFT_LIMIT_MISSING_CALLS]) ||
           renames >= limits[DFT_LIMIT_SAVES_RENAMES] ||
           dft_facts_matters(facts, large_ns > cuts_ns ? large_ns : cuts_ns);
}

/* The texts of the files that matter. */
static int name_files(struct dft_accesses *accesses, struct dft_source *source, uint64_t saves)
{
    const struct dft_map *maps[] = {&accesses->misaligned, &accesses->mapped, &accesses->made};
    uint64_t *ids = malloc((maps[0]->count + maps[1]->count + maps[2]->count + 1) * sizeof *ids);
    size_t n = 0;
    int rc = dft_comm_agree(ids ? 0 : -ENOMEM);

    for (size_t m = 0; !rc && m < sizeof maps / sizeof *maps; m++)
        for (size_t i = 0; i < maps[m]->capacity; i++)
            if (maps[m]->slots[i].key && (maps[m] != &accesses->made || maps[m]->slots[i].value >= saves))
                ids[n++] = maps[m]->slots[i].key;
    accesses->names = dft_source_names_table(source);
    if (!rc)
        rc = dft_source_names_into(source, accesses->names, ids, n);
    free(ids);
    return rc;
}

int dft_accesses_collect(struct dft_facts *facts)
{
    struct dft_accesses *accesses = &facts->accesses;
    const struct dft_findings_request *request = facts->request;
    int worth = facts->has_file_ops && is_worth_it(facts), rc = 0;

    dft_comm_broadcast(&worth, sizeof worth);
    if (!worth)
        return 0;
    if (!dft_comm_rank()) {
        accesses->classes = calloc(2u * DFT_SIZE_CLASSES, sizeof *accesses->classes);
        rc = accesses->classes ? dft_source_unordered(request->source, request->filter, take, accesses) : -ENOMEM;
    }
    rc = dft_comm_agree(rc);
    return rc ? rc : name_files(accesses, request->source, request->limits->values[DFT_LIMIT_SAVES_RENAMES]);
}

uint64_t dft_accesses_mapped(const struct dft_accesses *accesses)
{
    const struct dft_map *mapped = &accesses->mapped;
    uint64_t bytes = 0;

    for (size_t i = 0; i < mapped->capacity; i++)
        bytes += mapped->slots[i].key ? mapped->slots[i].value : 0;
    return bytes;
}

void dft_accesses_fini(struct dft_accesses *accesses)
{
    free(accesses->classes);
    dft_map_fini(&accesses->misaligned);
    dft_map_fini(&accesses->mapped);
    dft_map_fini(&accesses->made);
    dft_map_fini(&accesses->renamed);
    dft_map_fini(&accesses->lengths);
    memset(accesses, 0, sizeof *accesses);
}
