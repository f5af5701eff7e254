/* SPDX-License-Identifier: MIT */
/* `dftmerge merge --group`: one archive for each group of events.
 *
 * Every EVENTS block becomes a part for each group of its events (group_parts.c). The parts are
 * written in the order of the blocks (merge_groups_parts.c). Every archive gets the records about
 * processes. At its end an archive gets the texts of the names that it uses, and its GROUP block.
 * Each rank of dftmerge-mpi writes whole archives. The number of the division comes from the rules
 * and the blocks. The same division of the same events therefore has the same number. Any other
 * division has another number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "command/part_files.h"
#include "mpi/comm.h"
#include "merge/merge_encoder.h"
#include "merge/merge_groups.h"
#include "merge/merge_groups_parts.h"
#include "live/recover.h"
#include "intake/source_exchange.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "intake/source_read.h"
#include "intake/source_visit.h"
#include "format/decode.h"
#include "format/encode.h"
#include "format/hash.h"

#define AGGREGATES    "aggregates.dft"
/* Parts that other versions made by the same rules are no parts of one division: there class= had other words. */
#define RULES_VERSION 2u

/* --- what is there ---------------------------------------------------------------------------- */

/* Does a block hold rows whose events were not kept? */
static int is_aggregate(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_BUCKETS && block->use & DFT_IN_ROWS && !(block->use & DFT_IN_BOTH);
}

static uint32_t has_aggregates(const struct dft_source *source)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);

    for (size_t i = 0; i < count; i++)
        if (is_aggregate(&blocks[i]))
            return 1;
    return 0;
}

/* Sums over all blocks, so that the result does not depend on their order. */
static int find_division(struct dft_grouping *grouping)
{
    size_t count;
    uint32_t nprocesses;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count);
    const struct dft_source_process *processes = dft_source_processes(grouping->source, &nprocesses);
    struct dft_text text = dft_rules_text(grouping->rules);
    uint64_t sum = dft_name_id(text.bytes, text.length) + RULES_VERSION;

    for (size_t i = 0; i < count; i++) {
        uint64_t words[5] = {processes[blocks[i].process].key, blocks[i].stream, blocks[i].first, blocks[i].last,
                             blocks[i].payload_crc};

        if (!dft_grouping_wants(&blocks[i]))
            continue;
        if (blocks[i].part) {
            uint32_t nfiles;

            fprintf(stderr,
                    "dftmerge: %s: holds one group of the events already; name the traces that it was made of\n",
                    dft_source_files(grouping->source, &nfiles)[blocks[i].file].path);
            return -EEXIST;
        }
        sum += dft_name_id(words, sizeof words);
    }
    grouping->division = (uint32_t)(dft_name_id(&sum, sizeof sum) >> 40);
    grouping->division += !grouping->division;
    return 0;
}

static int find_interval(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_grouping *grouping = context;

    (void)worker;
    (void)block;
    if (buckets->interval_ns && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        grouping->intervals[process->number] = buckets->interval_ns;
    return 0;
}

/* Selects one block of rows of each process. That block tells how wide the intervals are. */
static int select_first(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct dft_grouping *grouping = context;

    if (block->type != DFT_BLOCK_BUCKETS || !(block->use & DFT_IN_BOTH) || grouping->intervals[process->number])
        return 0;
    grouping->intervals[process->number] = 1;
    return 1;
}

static int take_intervals(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_grouping *grouping = context;
    const uint64_t *intervals = bytes;

    (void)rank;
    for (size_t i = 0; i < length / sizeof *intervals; i++)
        if (intervals[i] > grouping->widest[i])
            grouping->widest[i] = intervals[i];
    return 0;
}

/* For each process, only the rank that read its block knows more than 1. */
static int find_intervals(struct dft_grouping *grouping)
{
    uint32_t count;
    int rc;

    dft_source_processes(grouping->source, &count);
    grouping->intervals = calloc(count + 1u, sizeof *grouping->intervals);
    grouping->widest = calloc(count + 1u, sizeof *grouping->widest);
    rc = dft_comm_agree(grouping->intervals && grouping->widest ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_source_visit(
            grouping->source,
            &(struct dft_visit){.context = grouping, .select = select_first, .buckets = find_interval});
    return rc ? rc
              : dft_comm_exchange(grouping->intervals, count * sizeof *grouping->intervals, take_intervals, grouping);
}

/* --- blocks without parts --------------------------------------------------------------------- */

/* Copies rows without events, whole, into an archive of their own. The archive is made only when
 * there are such rows. */
static int copy_aggregates(struct dft_grouping *grouping, struct dft_reader *reader)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count);
    struct dft_archive *archive = &grouping->archives[grouping->groups];
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        struct dft_block_header header;
        struct dft_buckets buckets;
        const void *payload;
        const char *reason;

        if (!is_aggregate(&blocks[i]) || dft_reader_block(reader, &blocks[i], &header, &payload))
            continue;
        if (!archive->source) {
            char *path;

            if (asprintf(&path, "%s/" AGGREGATES, grouping->path) < 0)
                return -ENOMEM;
            rc = dft_archive_open(archive, grouping->source, path, 0);
            free(path);
        }
        if (!rc && !dft_decode_buckets(dft_reader_decoder(reader), &header, payload, &buckets, &reason))
            for (uint32_t k = 0; k < buckets.count; k++)
                grouping->unsplit += buckets.rows[k].kind == DFT_ROW_CALL ? buckets.rows[k].metrics.count : 0;
        if (!rc)
            rc = dft_archive_refers_all(archive, dft_reader_decoder(reader), &header, payload);
        if (!rc)
            rc = dft_archive_copy(archive, reader, &blocks[i]);
    }
    return rc;
}

/* Copies one block of each process, and all else that is not of events, into every archive. */
static int copy_common(struct dft_grouping *grouping, struct dft_reader *reader)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count);
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        if (!dft_archive_wants(&blocks[i]) || blocks[i].type == DFT_BLOCK_EVENTS ||
            blocks[i].type == DFT_BLOCK_BUCKETS || blocks[i].type == DFT_BLOCK_NAMES ||
            blocks[i].type == DFT_BLOCK_GROUP)
            continue;
        for (uint32_t group = 0; group <= grouping->groups && !rc; group++)
            if (grouping->archives[group].source)
                rc = dft_archive_copy(&grouping->archives[group], reader, &blocks[i]);
    }
    return rc;
}

static int put_records(struct dft_grouping *grouping)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(grouping->source, &count);
    int rc = 0;

    for (uint32_t group = 0; group <= grouping->groups; group++)
        for (uint32_t i = 0; i < count && !rc && grouping->archives[group].source; i++)
            rc = dft_recover_records(grouping->source, &processes[i], dft_archive_put, &grouping->archives[group]);
    return rc;
}

static int put_group(struct dft_grouping *grouping, uint32_t group)
{
    struct dft_archive *archive = &grouping->archives[group];
    const char *name = dft_rules_name(grouping->rules, group);
    struct dft_group_record record = {.part = grouping->division * DFT_PART_GROUPS + group,
                                      .groups = grouping->groups,
                                      .name = dft_text_from(name),
                                      .rules = dft_rules_text(grouping->rules),
                                      .events = archive->events};
    const void *block;
    long bytes = dft_encode_group(grouping->encoder, &record, &block);

    return bytes < 0 ? (int)bytes : dft_archive_put(archive, block, (size_t)bytes);
}

/* --- the archives ----------------------------------------------------------------------------- */

static int open_archives(struct dft_grouping *grouping)
{
    int rc = 0;

    for (uint32_t group = 0; group < grouping->groups && !rc; group++) {
        char *path;

        if (!grouping->is_mine[group])
            continue;
        path = dft_outfile_inside(grouping->path, grouping->names[group]);
        rc = path ? dft_archive_open(&grouping->archives[group], grouping->source, path, 0) : -ENOMEM;
        free(path);
    }
    return rc;
}

static int end_archives(struct dft_grouping *grouping)
{
    int rc = 0;

    for (uint32_t group = 0; group <= grouping->groups && !rc; group++) {
        if (!grouping->archives[group].source)
            continue;
        rc = dft_archive_names(&grouping->archives[group], grouping->encoder);
        if (!rc && group < grouping->groups)
            rc = put_group(grouping, group);
    }
    return rc;
}

static int name_archives(struct dft_grouping *grouping)
{
    int rc = 0;

    for (uint32_t group = 0; group <= grouping->groups && !rc; group++)
        if (grouping->archives[group].source)
            rc = dft_archive_commit(&grouping->archives[group], 1);
    return rc;
}

/* Writes the archives of this rank, but does not give them their names yet. */
static int write_mine(struct dft_grouping *grouping)
{
    struct dft_reader *reader = dft_reader_create(grouping->source);
    int rc = reader ? open_archives(grouping) : -ENOMEM;

    if (!rc)
        rc = dft_grouping_write(grouping);
    if (!rc && grouping->is_mine[grouping->groups])
        rc = copy_aggregates(grouping, reader);
    if (!rc)
        rc = copy_common(grouping, reader);
    if (!rc)
        rc = put_records(grouping);
    if (!rc)
        rc = end_archives(grouping);
    dft_reader_destroy(reader);
    return rc;
}

/* Each rank writes some archives. The archives get their names when all of them are whole. Where
 * not every rank can read every block, rank 0 writes all. The other ranks then give rank 0 their
 * blocks. */
static int write_all(struct dft_grouping *grouping)
{
    int common = dft_exchange_common(grouping->source), rc = common < 0 ? common : 0;

    for (uint32_t group = 0; group <= grouping->groups; group++)
        grouping->is_mine[group] = dft_comm_rank() == (common > 0 ? group % dft_comm_size() : 0);
    if (!rc && (common || dft_exchange_serve(grouping->source, &rc))) {
        rc = write_mine(grouping);
        if (!common)
            dft_exchange_served(grouping->source);
    }
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_agree(name_archives(grouping));
    if (rc)
        fprintf(stderr, "dftmerge: %s: %s\n", grouping->path, strerror(-rc));
    return rc;
}

/* Rank 0 reports what all ranks have written. */
static void say(struct dft_grouping *grouping, int quiet)
{
    dft_comm_sum(&grouping->unsplit, 1);
    for (uint32_t group = 0; group < grouping->groups; group++) {
        uint64_t written[2] = {grouping->archives[group].events, grouping->archives[group].bytes};

        dft_comm_sum(written, 2);
        if (!quiet)
            fprintf(stderr, "dftmerge: %s/%s: %llu events, %llu bytes\n", grouping->path, grouping->names[group],
                    (unsigned long long)written[0], (unsigned long long)written[1]);
    }
}

static int prepare(struct dft_grouping *grouping)
{
    int rc;

    grouping->groups = dft_rules_groups(grouping->rules);
    for (uint32_t group = 0; group < grouping->groups; group++)
        if (asprintf(&grouping->names[group], "%s.dft", dft_rules_name(grouping->rules, group)) < 0) {
            grouping->names[group] = NULL;
            return -ENOMEM;
        }
    grouping->names[grouping->groups] = strdup(AGGREGATES);
    grouping->encoder = dft_merge_encoder();
    if (!grouping->names[grouping->groups] || !grouping->encoder)
        return -ENOMEM;
    rc = dft_rules_begin(grouping->rules, grouping->source);
    return rc ? rc : find_division(grouping);
}

/* Collective. */
static int organise(struct dft_grouping *grouping)
{
    int rc = dft_comm_agree(prepare(grouping));

    if (!rc)
        rc = find_intervals(grouping);
    if (!rc)
        rc = dft_source_names(grouping->source, NULL, 0);
    if (!rc && !dft_comm_rank())
        rc = dft_part_directory(grouping->source, grouping->path, ".dft", grouping->names,
                                grouping->groups + has_aggregates(grouping->source));
    rc = dft_comm_agree(rc);
    return rc ? rc : write_all(grouping);
}

int dft_merge_groups(struct dft_source *source, const char *path, const char *rules, int quiet)
{
    struct dft_grouping *grouping = calloc(1, sizeof *grouping);
    int rc = dft_comm_agree(grouping ? dft_rules_read(&grouping->rules, rules) : -ENOMEM), noted;

    if (!grouping)
        return rc;
    grouping->source = source;
    grouping->path = path;
    if (!rc)
        rc = organise(grouping);
    if (!rc)
        say(grouping, quiet);
    if (!rc && grouping->unsplit)
        dft_source_note(
            source, 0,
            "%llu calls are known only as aggregates, which do not say what single calls did: they belong to "
            "no group, and are in %s/" AGGREGATES,
            (unsigned long long)grouping->unsplit, path);
    for (uint32_t i = 0; i < sizeof grouping->names / sizeof *grouping->names; i++) {
        dft_archive_fini(&grouping->archives[i]);
        free(grouping->names[i]);
    }
    dft_merge_encoder_free(grouping->encoder);
    dft_rules_destroy(grouping->rules);
    free(grouping->intervals);
    free(grouping->widest);
    free(grouping);
    noted = dft_exchange_notes(source);
    return rc ? rc : noted;
}
