/* `dftmerge merge --group`: one archive for each group of events.
 *
 * Every EVENTS block becomes a part for each group that its events are in (group_parts.c), in N threads, a window of
 * blocks at a time, and the parts are written in the order of the blocks. What tells of processes goes into every
 * archive, and at the end the texts of the names that an archive uses, and its GROUP block. The number of the division
 * comes from the rules and the blocks: the same division of the same events is the same, anything else is another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "group_parts.h"
#include "merge.h"
#include "recover.h"
#include "source_inside.h"
#include "source_read.h"

#define WINDOW     1024u /* blocks decoded before their parts are written */
#define AGGREGATES "aggregates.dft"

struct grouping {
    struct dft_source *source;
    const char *path;
    struct dft_rules *rules;
    uint32_t groups, division;
    char *names[DFT_RULES_MAX + 2]; /* of files; behind the groups: AGGREGATES */
    struct dft_archive archives[DFT_RULES_MAX + 2];
    uint64_t *intervals; /* of the rows, by process */
    uint64_t unsplit;    /* calls that are known only as aggregates */
    struct dft_encoder *encoder;
    struct dft_parter *parters[DFT_THREADS_MAX];
    struct dft_parts *parts; /* of the blocks of the window */
};

/* --- what is there -------------------------------------------------------------------------------------------------- */

/* Events that are to be organised, and not just names. */
static int is_events(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && block->use & DFT_IN_EVENTS && block->count;
}

/* Rows whose events were not kept. */
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

/* The sum over all blocks does not depend on their order. */
static int find_division(struct grouping *grouping)
{
    size_t count;
    uint32_t nprocesses;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count);
    const struct dft_source_process *processes = dft_source_processes(grouping->source, &nprocesses);
    struct dft_text text = dft_rules_text(grouping->rules);
    uint64_t sum = dft_name_id(text.bytes, text.length);

    for (size_t i = 0; i < count; i++) {
        uint64_t words[5] = {processes[blocks[i].process].key, blocks[i].stream, blocks[i].first, blocks[i].last,
                             blocks[i].payload_crc};

        if (!is_events(&blocks[i]))
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
    struct grouping *grouping = context;

    (void)worker;
    (void)block;
    if (buckets->interval_ns && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        grouping->intervals[process->number] = buckets->interval_ns;
    return 0;
}

/* One block of rows of each process says how wide its intervals are. */
static int select_first(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct grouping *grouping = context;

    if (block->type != DFT_BLOCK_BUCKETS || !(block->use & DFT_IN_BOTH) || grouping->intervals[process->number])
        return 0;
    grouping->intervals[process->number] = 1;
    return 1;
}

static int find_intervals(struct grouping *grouping)
{
    uint32_t count;

    dft_source_processes(grouping->source, &count);
    grouping->intervals = calloc(count + 1u, sizeof *grouping->intervals);
    if (!grouping->intervals)
        return -ENOMEM;
    return dft_source_visit(grouping->source,
                            &(struct dft_visit){.context = grouping, .select = select_first, .buckets = find_interval});
}

/* --- parts ---------------------------------------------------------------------------------------------------------- */

static int make_parts(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct grouping *grouping = context;
    struct dft_parts *parts = &grouping->parts[number];
    struct dft_batch batch;
    int rc;

    if (!grouping->parters[worker])
        grouping->parters[worker] =
            dft_parter_create(grouping->rules, dft_source_names_table(grouping->source), grouping->division);
    if (!grouping->parters[worker])
        return -ENOMEM;
    rc = dft_reader_events(reader, block, &batch);
    if (rc)
        return rc == -ENOMEM ? rc : 0; /* noted */
    return dft_parter_run(grouping->parters[worker], block, &batch,
                          block->use & DFT_IN_BOTH ? grouping->intervals[block->process] : 0, parts);
}

static int write_parts(struct grouping *grouping, const struct dft_parts *parts)
{
    int rc = 0;

    for (size_t i = 0; i < parts->npieces && !rc; i++) {
        const struct dft_parts_piece *piece = &parts->pieces[i];
        struct dft_archive *archive = &grouping->archives[piece->group];

        archive->events += piece->events;
        archive->blocks += piece->blocks - 1;
        rc = dft_archive_put(archive, parts->bytes + piece->from, piece->bytes);
        for (size_t k = 0; k < piece->names && !rc; k++)
            rc = dft_archive_refers(archive, parts->names[piece->names_from + k]);
    }
    return rc;
}

static int organise(struct grouping *grouping)
{
    size_t count, n = 0, all = 0, done = 0;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count), *window[WINDOW];
    int rc = 0;

    grouping->parts = calloc(WINDOW, sizeof *grouping->parts);
    if (!grouping->parts)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        all += (size_t)is_events(&blocks[i]);
    for (size_t i = 0; i <= count && !rc; i++) {
        if (i < count && is_events(&blocks[i]))
            window[n++] = &blocks[i];
        if (n < WINDOW && i < count)
            continue;
        rc = dft_read_blocks(grouping->source, window, n, 1, NULL, make_parts, grouping);
        for (size_t k = 0; k < n; k++) {
            rc = rc ? rc : write_parts(grouping, &grouping->parts[k]);
            dft_parts_fini(&grouping->parts[k]);
        }
        done += n;
        dft_source_progress(grouping->source, "blocks organised", done, all);
        n = 0;
    }
    return rc;
}

/* --- all the rest --------------------------------------------------------------------------------------------------- */

/* Rows without events, whole, into an archive of their own; it is made only when there are any. */
static int copy_aggregates(struct grouping *grouping, struct dft_reader *reader)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(grouping->source, &count);
    struct dft_archive *archive = &grouping->archives[grouping->groups];
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        struct dft_block_header header;
        struct dft_buckets buckets;
        const void *payload;
        const char *why;

        if (!is_aggregate(&blocks[i]) || dft_reader_block(reader, &blocks[i], &header, &payload))
            continue;
        if (!archive->source) {
            char *path;

            if (asprintf(&path, "%s/" AGGREGATES, grouping->path) < 0)
                return -ENOMEM;
            rc = dft_archive_open(archive, grouping->source, path);
            free(path);
        }
        if (!rc && !dft_decode_buckets(dft_reader_decoder(reader), &header, payload, &buckets, &why))
            for (uint32_t k = 0; k < buckets.count; k++)
                grouping->unsplit += buckets.rows[k].kind == DFT_ROW_CALL ? buckets.rows[k].metrics.count : 0;
        if (!rc)
            rc = dft_archive_refers_all(archive, dft_reader_decoder(reader), &header, payload);
        if (!rc)
            rc = dft_archive_copy(archive, reader, &blocks[i]);
    }
    return rc;
}

/* One block of each process, and what else is not of events, into every archive. */
static int copy_common(struct grouping *grouping, struct dft_reader *reader)
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

static int put_records(struct grouping *grouping)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(grouping->source, &count);
    int rc = 0;

    for (uint32_t group = 0; group <= grouping->groups; group++)
        for (uint32_t i = 0; i < count && !rc && grouping->archives[group].source; i++)
            rc = dft_recover_records(grouping->source, &processes[i], dft_archive_put, &grouping->archives[group]);
    return rc;
}

static int put_group(struct grouping *grouping, uint32_t group)
{
    struct dft_archive *archive = &grouping->archives[group];
    const char *name = dft_rules_name(grouping->rules, group);
    struct dft_group_record record = {.part = grouping->division * DFT_PART_GROUPS + group,
                                      .groups = grouping->groups,
                                      .name = {name, (uint32_t)strlen(name)},
                                      .rules = dft_rules_text(grouping->rules),
                                      .events = archive->events};
    const void *block;
    long bytes = dft_encode_group(grouping->encoder, &record, &block);

    return bytes < 0 ? (int)bytes : dft_archive_put(archive, block, (size_t)bytes);
}

/* --- the archives --------------------------------------------------------------------------------------------------- */

static int open_archives(struct grouping *grouping)
{
    int rc = 0;

    for (uint32_t group = 0; group < grouping->groups && !rc; group++) {
        char *path;

        if (asprintf(&path, "%s/%s", grouping->path, grouping->names[group]) < 0)
            return -ENOMEM;
        rc = dft_archive_open(&grouping->archives[group], grouping->source, path);
        free(path);
    }
    return rc;
}

/* They get their names when all are whole. */
static int close_archives(struct grouping *grouping)
{
    int rc = 0;

    for (uint32_t group = 0; group <= grouping->groups && !rc; group++) {
        if (!grouping->archives[group].source)
            continue;
        rc = dft_archive_names(&grouping->archives[group], grouping->encoder);
        if (!rc && group < grouping->groups)
            rc = put_group(grouping, group);
    }
    for (uint32_t group = 0; group <= grouping->groups && !rc; group++)
        if (grouping->archives[group].source)
            rc = dft_archive_commit(&grouping->archives[group], 1);
    return rc;
}

static int write_all(struct grouping *grouping)
{
    struct dft_reader *reader = dft_reader_create(grouping->source);
    int rc = reader ? open_archives(grouping) : -ENOMEM;

    if (!rc)
        rc = organise(grouping);
    if (!rc)
        rc = copy_aggregates(grouping, reader);
    if (!rc)
        rc = copy_common(grouping, reader);
    if (!rc)
        rc = put_records(grouping);
    if (!rc)
        rc = close_archives(grouping);
    dft_reader_destroy(reader);
    if (rc)
        fprintf(stderr, "dftmerge: %s: %s\n", grouping->path, strerror(-rc));
    return rc;
}

static void say(const struct grouping *grouping)
{
    for (uint32_t group = 0; group < grouping->groups; group++)
        fprintf(stderr, "dftmerge: %s/%s: %llu events, %llu bytes\n", grouping->path, grouping->names[group],
                (unsigned long long)grouping->archives[group].events,
                (unsigned long long)grouping->archives[group].bytes);
}

static int prepare(struct grouping *grouping)
{
    int rc = 0;

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
    rc = find_division(grouping);
    if (!rc)
        rc = find_intervals(grouping);
    if (!rc)
        rc = dft_source_names(grouping->source, NULL, 0);
    return rc ? rc
              : dft_merge_directory(grouping->source, grouping->path, grouping->names,
                                    grouping->groups + has_aggregates(grouping->source));
}

int dft_merge_groups(struct dft_source *source, const char *path, const char *rules, int quiet)
{
    struct grouping *grouping = calloc(1, sizeof *grouping);
    int rc = grouping ? dft_rules_read(&grouping->rules, rules) : -ENOMEM;

    if (!grouping)
        return rc;
    grouping->source = source;
    grouping->path = path;
    if (!rc)
        rc = prepare(grouping);
    if (!rc)
        rc = write_all(grouping);
    if (!rc && !quiet)
        say(grouping);
    if (!rc && grouping->unsplit)
        dft_source_note(
            source, 0,
            "%llu calls are known only as aggregates, which do not say what single calls did: they belong to "
            "no group, and are in %s/" AGGREGATES,
            (unsigned long long)grouping->unsplit, path);
    for (uint32_t i = 0; i < DFT_THREADS_MAX; i++)
        dft_parter_destroy(grouping->parters[i]);
    for (uint32_t i = 0; i < sizeof grouping->names / sizeof *grouping->names; i++) {
        dft_archive_fini(&grouping->archives[i]);
        free(grouping->names[i]);
    }
    dft_merge_encoder_free(grouping->encoder);
    dft_rules_destroy(grouping->rules);
    free(grouping->intervals);
    free(grouping->parts);
    free(grouping);
    return rc;
}
