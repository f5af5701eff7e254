/* SPDX-License-Identifier: MIT */
/* Processes of a source: one for each key of a block or a live file. Here blocks get their final
 * form, too. */
#include "judge/source_process.h"

#include "base/array.h"
#include "object/source_inside.h"
#include "object/source_number.h"
#include "object/source_texts.h"
#include "judge/source_waits.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define FILES_PER_TRIM 16384u

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Collects all keys, ascending, each key once. Keys of live files count: their process may have
 * written nothing else. */
static int collect_keys(const struct dft_source *source, const struct dft_scanned *scanned, uint64_t **keys,
                        size_t *count)
{
    size_t all = 0, n = 0;

    for (uint32_t f = 0; f < source->nfiles; f++)
        all += scanned[f].count + 1;
    *keys = malloc((all + 1) * sizeof **keys);
    if (!*keys)
        return -ENOMEM;
    all = 0;
    for (uint32_t f = 0; f < source->nfiles; f++) {
        uint64_t last = 0;

        /* Most files are of one process. Repetitions are therefore left out here, before the
         * sort. */
        for (size_t i = 0; i < scanned[f].count; i++) {
            if (scanned[f].keys[i] && (!i || scanned[f].keys[i] != last)) /* key 0: of no process */
                (*keys)[all++] = scanned[f].keys[i];
            last = scanned[f].keys[i];
        }
        if (source->files[f].kind == DFT_FILE_LIVE && source->files[f].key)
            (*keys)[all++] = source->files[f].key;
    }
    qsort(*keys, all, sizeof **keys, by_number);
    for (size_t i = 0; i < all; i++)
        if (!i || (*keys)[i] != (*keys)[i - 1])
            (*keys)[n++] = (*keys)[i];
    *count = n;
    return 0;
}

/* Should `record` replace the record that is there? The answer does not depend on the order of
 * files. */
static int wins(const struct dft_found_record *record, int there, uint64_t order, uint32_t crc)
{
    return !there || record->order > order || (record->order == order && record->payload_crc > crc);
}

struct rank_of_record {
    uint64_t process_order, end_order;
    uint32_t process_crc, end_crc;
};

static void take_record(struct dft_source *source, struct dft_found_record *record, struct rank_of_record *ranks)
{
    int is_end = record->type == DFT_BLOCK_END;
    struct dft_source_process *process = dft_process_of(source, is_end ? record->end->key : record->process->key);
    struct rank_of_record *rank = &ranks[process->number];

    if (is_end && record->end->exit_kind == DFT_ENDING_WAITED) {
        dft_source_take_waited(process, record->end);
    } else if (is_end) {
        if (!wins(record, process->ended, rank->end_order, rank->end_crc))
            return;
        process->end = *record->end;
        process->ended = 1;
        process->exit_kind = record->end->exit_kind;
        rank->end_order = record->order;
        rank->end_crc = record->payload_crc;
    } else {
        if (!wins(record, process->known, rank->process_order, rank->process_crc)) {
            if (record->payload_crc == rank->process_crc && record->file < process->file)
                process->file = record->file;
            return;
        }
        process->process = *record->process;
        process->known = 1;
        process->file = record->file;
        rank->process_order = record->order;
        rank->process_crc = record->payload_crc;
    }
}

static int add_group(struct dft_source *source, const struct dft_group_record *record, uint32_t file)
{
    return DFT_ARRAY_PUSH(source->groups, source->groups_capacity, source->ngroups,
                          (struct dft_found_group){.record = *record, .file = file});
}

/* Puts PROCESS and END records into the processes, and GROUP records into the source. */
static int take_records(struct dft_source *source, struct dft_scanned *scanned)
{
    struct rank_of_record *ranks = calloc(source->nprocesses + 1u, sizeof *ranks);
    int rc = 0;

    if (!ranks)
        return -ENOMEM;
    for (uint32_t f = 0; f < source->nfiles; f++) {
        for (size_t i = 0; i < scanned[f].nrecords; i++) {
            if (scanned[f].records[i].type == DFT_BLOCK_GROUP)
                rc = rc ? rc : add_group(source, scanned[f].records[i].group, f);
            else
                take_record(source, &scanned[f].records[i], ranks);
        }
    }
    free(ranks);
    dft_interned_texts_fini(&source->contents); /* everything needed was copied */
    return rc;
}

static int take_blocks(struct dft_source *source, struct dft_scanned *scanned)
{
    size_t all = 0;

    for (uint32_t f = 0; f < source->nfiles; f++)
        all += scanned[f].count;
    source->blocks = malloc((all + 1) * sizeof *source->blocks);
    if (!source->blocks)
        return -ENOMEM;
    for (uint32_t f = 0; f < source->nfiles; f++) {
        uint32_t number = 0;

        for (size_t i = 0; i < scanned[f].count; i++) {
            struct dft_block *block = &source->blocks[source->nblocks++];

            if (!i || scanned[f].keys[i] != scanned[f].keys[i - 1])
                number = dft_process_of(source, scanned[f].keys[i])->number;
            *block = scanned[f].blocks[i];
            block->process = number;
        }
        dft_scanned_fini(&scanned[f]);
        /* else the lists of all files stay in the heap beside the arrays made of them */
        if (!((f + 1) % FILES_PER_TRIM))
            malloc_trim(0);
    }
    malloc_trim(0);
    return 0;
}

int dft_source_collect(struct dft_source *source, struct dft_scanned *scanned)
{
    uint64_t *keys = NULL;
    size_t count = 0;
    int rc = collect_keys(source, scanned, &keys, &count);

    if (rc)
        goto out;
    rc = -ENOMEM;
    source->processes = calloc(count + 1, sizeof *source->processes);
    if (!source->processes)
        goto out;
    source->nprocesses = (uint32_t)count;
    source->by_key = malloc((count + 1) * sizeof *source->by_key);
    if (!source->by_key)
        goto out;
    source->by_key[count] = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct dft_source_process *process = &source->processes[i];

        process->key = process->process.key = keys[i];
        process->number = source->by_key[i] = i;
        /* an empty END needs no memory */
        dft_source_keep_end(source, &(struct dft_end){0}, &process->end);
        process->process.rank = process->process.local_rank = -1;
    }
    rc = take_records(source, scanned);
    malloc_trim(0);
    if (!rc)
        rc = take_blocks(source, scanned);
out:
    free(keys);
    return rc;
}
