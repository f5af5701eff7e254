/* SPDX-License-Identifier: MIT */
/* Takes from the calls on a mount what other findings account for. */
#include "findings/mount_parts.h"
#include "findings/reported.h"
#include "findings/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/file_facts.h"
#include "base/saturate.h"
#include "format/ops.h"

#define BIT(code) (UINT64_C(1) << (code))
/* Kinds of which it is known by file what they are about. */
#define BY_FILE                                                                                                        \
    (BIT(DFT_FINDING_ONE_BYTE) | BIT(DFT_FINDING_SMALL_READS) | BIT(DFT_FINDING_SMALL_WRITES) |                        \
     BIT(DFT_FINDING_STREAM) | BIT(DFT_FINDING_REOPENED) | BIT(DFT_FINDING_SMALL_FILES) | BIT(DFT_FINDING_RANDOM) |    \
     BIT(DFT_FINDING_REREAD) | BIT(DFT_FINDING_SAVES) | BIT(DFT_FINDING_FILE_EXPLOSION) | BIT(DFT_FINDING_COPIES))

int dft_mount_parts_collect(const struct dft_rules *rules, struct dft_mount_parts *parts)
{
    const struct dft_answer *answer = &rules->facts->answers[DFT_FACT_MOUNTS];

    memset(parts, 0, sizeof *parts);
    parts->list = calloc(answer->count + 1u, sizeof *parts->list);
    if (!parts->list)
        return -ENOMEM;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *metrics = &group->metrics;
        uint8_t size = dft_facets_size_class(group->key.facets);
        struct dft_key_value point;
        struct dft_text type;

        if (!dft_is_io(group->key.class) || !metrics->count)
            continue;
        if (!rules->facts->has_file_ops && metrics->data)
            size = dft_size_class(metrics->bytes / metrics->data);
        dft_group_value(answer, group, DFT_BY_MOUNT, &point);
        type = dft_file_facts_type(answer->files, point.text);
        parts->list[parts->count++] = (struct dft_mount_part){.mount = group->key.file,
                                                              .group = group,
                                                              .type = type,
                                                              .kind = dft_mount_kind(type),
                                                              .op = group->key.op,
                                                              .class = group->key.class,
                                                              .size = size,
                                                              .err = dft_facets_err(group->key.facets),
                                                              .calls = metrics->count,
                                                              .bytes = metrics->bytes,
                                                              .time_ns = metrics->dur_sum,
                                                              .all_calls = metrics->count,
                                                              .all_ns = metrics->dur_sum};
    }
    for (size_t i = 0; i < rules->findings->count; i++)
        parts->costs[rules->findings->list[i].code] += rules->findings->list[i].cost_ns;
    return 0;
}

void dft_mount_parts_fini(struct dft_mount_parts *parts)
{
    free(parts->list);
    parts->list = NULL;
}

/* --- what is known by file -------------------------------------------------------------------- */

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

static void reduce_by(const struct dft_facts *facts, struct dft_mount_parts *parts, uint64_t mount,
                      const struct dft_group *group)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct dft_mount_part *part = &parts->list[i];

        if (part->mount != mount || part->class != group->key.class ||
            (facts->has_file_ops && (part->op != group->key.op || part->err != dft_facets_err(group->key.facets) ||
                                     part->size != dft_facets_size_class(group->key.facets))))
            continue;
        part->calls = less(part->calls, group->metrics.count);
        part->bytes = less(part->bytes, group->metrics.bytes);
        part->time_ns = less(part->time_ns, group->metrics.dur_sum);
        return;
    }
}

/* Files that findings account for. time_ns: of these, by kind. */
static int reduce_by_files(const struct dft_rules *rules, struct dft_mount_parts *parts, uint64_t mount,
                           uint64_t time_ns[DFT_FINDINGS])
{
    const struct dft_answer *files = &rules->facts->answers[DFT_FACT_FILES];
    int rc = 0;

    for (uint32_t i = 0; i < files->count && !rc; i++) {
        const struct dft_group *group = &files->groups[i];
        enum dft_finding_code code = dft_rules_reported(rules, group->key.file);
        uint64_t own;

        if (code == DFT_FINDINGS)
            continue;
        rc = dft_file_facts_group(rules->facts->answers[DFT_FACT_MOUNTS].files, group->key.file, &own);
        if (rc || own != mount)
            continue;
        reduce_by(rules->facts, parts, mount, group);
        time_ns[code] += group->metrics.dur_sum;
    }
    return rc;
}

/* --- what is known otherwise ------------------------------------------------------------------ */

/* Can a finding of this kind be about calls like these? */
static int may_be_of(const struct dft_facts *facts, enum dft_finding_code code, const struct dft_mount_part *part)
{
    int is_data = part->class == DFT_IO_READ || part->class == DFT_IO_WRITE;

    switch (code) {
    case DFT_FINDING_FSYNC:
        return part->class == DFT_IO_SYNC;
    case DFT_FINDING_FLUSH:
        return facts->has_file_ops ? part->op == DFT_OP_FFLUSH : part->class == DFT_IO_WRITE;
    case DFT_FINDING_MISSING:
        return facts->has_file_ops ? part->err == ENOENT : !is_data && part->class != DFT_IO_SYNC;
    case DFT_FINDING_SEEKS:
        return part->class == DFT_IO_META && dft_place_kind(part->op) == DFT_PLACE_SEEKS;
    case DFT_FINDING_METADATA:
    case DFT_FINDING_REMOVAL:
    case DFT_FINDING_GROWTH:
        return part->class == DFT_IO_META;
    case DFT_FINDING_SAVES:
    case DFT_FINDING_FILE_EXPLOSION:
    case DFT_FINDING_COPIES:
    case DFT_FINDING_REOPENED:
    case DFT_FINDING_SMALL_FILES:
        return part->class != DFT_IO_SYNC;
    case DFT_FINDING_STRAGGLER:
    case DFT_FINDING_IMBALANCE:
        return part->class != DFT_IO_STARTUP;
    case DFT_FINDING_NO_COLLECTIVE:
    case DFT_FINDING_CONTENTION:
    case DFT_FINDING_MISALIGNED:
        return is_data;
    default:
        return is_data && BY_FILE >> code & 1;
    }
}

/* The time in directories of the mount of what findings by directory are about. */
static void measure_places(const struct dft_facts *facts, uint64_t mount, uint64_t time_ns[DFT_FINDINGS])
{
    const struct dft_places *dirs = &facts->places.dirs;

    for (size_t i = 0; i < dirs->count; i++) {
        const struct dft_file_place *dir = &dirs->list[i];

        if (!dir->text.length || dft_mounts_of(facts, dir->text) != mount)
            continue;
        time_ns[DFT_FINDING_MISSING] += dir->lost.time_ns;
        time_ns[DFT_FINDING_SMALL_FILES] += dir->small.time_ns;
        time_ns[DFT_FINDING_METADATA] += dir->meta.time_ns;
    }
}

/* The most that findings of a kind can say of a mount, besides what is known by file. */
static uint64_t upper_bound(const struct dft_facts *facts, const struct dft_mount_parts *parts,
                            enum dft_finding_code code, const uint64_t places_ns[DFT_FINDINGS],
                            const uint64_t files_ns[DFT_FINDINGS])
{
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES];
    uint64_t cost_ns = parts->costs[code], place_ns = places_ns[code];

    if (code == DFT_FINDING_SMALL_FILES || code == DFT_FINDING_MISSING || code == DFT_FINDING_METADATA)
        return less(place_ns < cost_ns ? place_ns : cost_ns, files_ns[code]);
    if (BY_FILE >> code & 1 && files->found <= files->count)
        return 0;
    return less(cost_ns, files_ns[code]);
}

static void reduce_evenly(const struct dft_facts *facts, struct dft_mount_parts *parts, uint64_t mount,
                          enum dft_finding_code code, uint64_t time_ns)
{
    double all_ns = 0, remaining;

    for (size_t i = 0; i < parts->count; i++)
        if (parts->list[i].mount == mount && may_be_of(facts, code, &parts->list[i]))
            all_ns += (double)parts->list[i].time_ns;
    remaining = (double)time_ns < all_ns ? 1 - (double)time_ns / all_ns : 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct dft_mount_part *part = &parts->list[i];

        if (part->mount != mount || !may_be_of(facts, code, part))
            continue;
        part->calls = dft_uint_of((double)part->calls * remaining);
        part->bytes = dft_uint_of((double)part->bytes * remaining);
        part->time_ns = dft_uint_of((double)part->time_ns * remaining);
    }
}

int dft_mount_parts_reduce(const struct dft_rules *rules, struct dft_mount_parts *parts, uint64_t mount)
{
    uint64_t files_ns[DFT_FINDINGS] = {0}, places_ns[DFT_FINDINGS] = {0};
    int rc = reduce_by_files(rules, parts, mount, files_ns);

    if (rc)
        return rc;
    measure_places(rules->facts, mount, places_ns);
    for (unsigned i = 0; i < DFT_FINDINGS; i++) {
        enum dft_finding_code code = (enum dft_finding_code)i;
        uint64_t time_ns = parts->costs[i] ? upper_bound(rules->facts, parts, code, places_ns, files_ns) : 0;

        if (time_ns)
            reduce_evenly(rules->facts, parts, mount, code, time_ns);
    }
    return 0;
}
