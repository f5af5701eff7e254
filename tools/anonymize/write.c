/* SPDX-License-Identifier: MIT */
/* Writes the file of each process: its record, its blocks, what only its live file tells, and the texts
 * of the names that these refer to. */
#include "anonymize/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "anonymize/blocks.h"
#include "anonymize/names.h"
#include "anonymize/records.h"
#include "base/outfile.h"
#include "command/part_files.h"
#include "format/hash.h"
#include "intake/archive.h"
#include "live/recover.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "intake/source_read.h"

/* A block and the process that it is of. */
struct place {
    uint32_t process;
    uint32_t block;
};

struct writing {
    struct dft_anonymizer *anonymizer;
    struct dft_archive archive;
    struct dft_reader *reader;
    struct dft_anonymized *done;
    const _Atomic int *stopped;
    struct place *places;
    size_t count, at;
};

static int by_process(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

/* Groups belong to no process: they go with the first. */
static int find_places(struct writing *writing)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(writing->anonymizer->source, &count);

    writing->places = malloc((count + 1) * sizeof *writing->places);
    if (!writing->places)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!dft_archive_wants(&blocks[i]) || blocks[i].type == DFT_BLOCK_NAMES || blocks[i].type == DFT_BLOCK_PROCESS)
            continue;
        if (blocks[i].state == DFT_BLOCK_UNKNOWN)
            writing->done->left_out++;
        else
            writing->places[writing->count++] =
                (struct place){blocks[i].type == DFT_BLOCK_GROUP ? 0 : blocks[i].process, (uint32_t)i};
    }
    qsort(writing->places, writing->count, sizeof *writing->places, by_process);
    return 0;
}

/* --- one file --------------------------------------------------------------------------------- */

static int put_record(struct writing *writing, const struct dft_process *process)
{
    const void *block;
    long length = dft_encode_process(writing->anonymizer->encoder, process, &block);

    return length < 0 ? (int)length : dft_archive_put(&writing->archive, block, (size_t)length);
}

/* Rewrites one block, or notes why it is left out. */
static int put_block(struct writing *writing, const struct dft_block *block)
{
    struct dft_anonymizer *anonymizer = writing->anonymizer;
    struct dft_block_header header;
    const void *payload;
    uint32_t nfiles;
    int rc = dft_reader_block(writing->reader, block, &header, &payload);

    if (rc)
        return rc == -ENOMEM ? rc : 0; /* the block was noted; the rest is used */
    rc = dft_anonymizer_block(anonymizer, &header, payload, dft_archive_put, &writing->archive);
    if (!rc && anonymizer->reason)
        dft_source_note(anonymizer->source, DFT_BAD_UNREAD, "%s: block at %llu: %s; it was left out",
                        dft_source_files(anonymizer->source, &nfiles)[block->file].path,
                        (unsigned long long)block->offset, anonymizer->reason);
    return rc;
}

static int put_blocks(struct writing *writing, uint32_t process)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(writing->anonymizer->source, &count);
    int rc = 0;

    for (; !rc && writing->at < writing->count && writing->places[writing->at].process == process; writing->at++) {
        dft_source_progress(writing->anonymizer->source, "blocks anonymized", writing->at, writing->count);
        if (*writing->stopped)
            return -ECANCELED;
        rc = put_block(writing, &blocks[writing->places[writing->at].block]);
    }
    return rc;
}

/* What the source makes of a live file. */
static int put_recovered(void *context, const void *block, size_t length)
{
    struct writing *writing = context;
    const struct dft_block_header *header = block;

    (void)length;
    return dft_anonymizer_block(writing->anonymizer, header, header + 1, dft_archive_put, &writing->archive);
}

/* The new name of an id, whose text is appended to `all`. *count stays where no block has the text. */
static int make_name(struct dft_anonymizer *anonymizer, const struct dft_map_slot *slot, struct dft_name *names,
                     uint32_t *count, struct dft_long_text *all)
{
    struct dft_text text = dft_names_text(dft_source_names_table(anonymizer->source), slot->value);
    const struct dft_long_text *other = &anonymizer->text;
    int rc;

    if (!slot->key || !text.bytes)
        return 0;
    rc = dft_anonymizer_name(anonymizer, text);
    if (rc)
        return rc;
    names[(*count)++] = (struct dft_name){.id = slot->key,
                                          .text = {NULL, (uint32_t)other->length},
                                          .cut = dft_name_id(other->bytes, other->length) != slot->key};
    dft_long_text_add(all, other->bytes, other->length);
    return all->rc;
}

/* The texts of all names that the file refers to. */
static int put_names(struct writing *writing)
{
    const struct dft_map *referred = &writing->anonymizer->referred;
    struct dft_name *names = calloc(referred->count + 1, sizeof *names);
    struct dft_long_text all = {0};
    uint32_t count = 0;
    int rc = names ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < referred->capacity; i++)
        rc = make_name(writing->anonymizer, &referred->slots[i], names, &count, &all);
    for (size_t i = 0, at = 0; !rc && i < count; at += names[i++].text.length)
        names[i].text.bytes = all.length ? all.bytes + at : "";
    if (!rc)
        rc = dft_archive_put_names(&writing->archive, writing->anonymizer->encoder, names, count);
    free(names);
    free(all.bytes);
    return rc;
}

static int fill(struct writing *writing, const struct dft_source_process *source, const struct dft_process *process)
{
    struct dft_anonymizer *anonymizer = writing->anonymizer;
    int rc = source->known ? put_record(writing, process) : 0;

    if (!rc)
        rc = put_blocks(writing, source->number);
    if (!rc)
        rc = dft_recover_records(anonymizer->source, source, put_recovered, writing);
    if (!rc)
        rc = dft_anonymizer_refer_frames(anonymizer);
    return rc ? rc : put_names(writing);
}

/* A file of the process's new name. */
static int write_process(struct writing *writing, const struct dft_source_process *source, const char *folder)
{
    struct dft_source_process other = *source;
    char *memory = NULL, *name, *path = NULL;
    int rc = dft_anonymizer_process(writing->anonymizer, &source->process, &other.process, &memory);

    other.key = other.process.key;
    name = rc ? NULL : dft_part_name(&other, ".dft");
    path = name ? dft_outfile_inside(folder, name) : NULL;
    rc = rc ? rc : path ? 0 : -ENOMEM;
    if (!rc)
        rc = dft_archive_open(&writing->archive, writing->anonymizer->source, path, 0);
    dft_map_clear(&writing->anonymizer->referred);
    if (!rc)
        rc = fill(writing, source, &other.process);
    if (!rc)
        rc = dft_archive_commit(&writing->archive, 0);
    if (!rc) {
        writing->done->files++;
        writing->done->blocks += writing->archive.blocks;
        writing->done->bytes += writing->archive.bytes;
    }
    dft_archive_fini(&writing->archive);
    writing->archive = (struct dft_archive){0};
    free(name);
    free(path);
    free(memory);
    return rc;
}

int dft_anonymize_write(struct dft_anonymizer *anonymizer, const char *folder, const _Atomic int *stopped,
                        struct dft_anonymized *done)
{
    struct writing writing = {.anonymizer = anonymizer, .done = done, .stopped = stopped};
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(anonymizer->source, &count);
    int rc = find_places(&writing);

    writing.reader = dft_reader_create(anonymizer->source);
    if (!rc && !writing.reader)
        rc = -ENOMEM;
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = *stopped ? -ECANCELED : write_process(&writing, &processes[i], folder);
    dft_source_progress(anonymizer->source, "", 1, 1);
    dft_reader_destroy(writing.reader);
    free(writing.places);
    return rc;
}
