/* SPDX-License-Identifier: MIT */
/* `dftmerge merge` into a directory: one archive for each process, rank or host. The archives are
 * written in turn, which keeps memory small. Each rank of dftmerge-mpi writes some archives.
 *
 * Blocks go where their process belongs. A file may hold processes of several archives (an archive
 * itself, or a trace of DFTracer). A name's text may then stand in a block that goes elsewhere. So
 * the names in its blocks are noted, and missing texts are added. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/part_files.h"
#include "mpi/comm.h"
#include "merge/merge_encoder.h"
#include "merge/merge_split.h"
#include "live/recover.h"
#include "intake/source_exchange.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "intake/source_read.h"

#define EVERYWHERE UINT32_MAX
#define NOBODY     UINT32_MAX
#define SEVERAL    (UINT32_MAX - 1)

/* A process or a block, and the unit that it goes to. */
struct place {
    uint32_t unit;
    uint32_t number;
};

struct split {
    struct dft_source *source;
    const char *path;
    enum dft_split_by by;
    int quiet;
    char **names; /* of files, sorted */
    uint32_t count;
    uint32_t *unit_of;           /* process -> unit */
    uint8_t *mixed;              /* by file: its blocks go to several places */
    struct place *places, *live; /* blocks; processes with a live file */
    size_t nplaces, nlive, place, live_at;
    /* by unit: a rank of dftmerge-mpi; or SEVERAL, when several ranks alone can read its blocks */
    uint32_t *writers;
    uint32_t unit; /* the unit that is being written */
    uint64_t written;
    struct dft_reader *reader;
    struct dft_encoder *encoder;
};

/* --- names of files --------------------------------------------------------------------------- */

/* Writes bytes that do not suit file names as %XX, so that different hosts stay different. */
static char *host_name(struct dft_text host)
{
    char *name = malloc(3 * (size_t)host.length + 16), *at = name;

    if (!name)
        return NULL;
    at += sprintf(at, host.length ? "host-" : "no-host");
    for (uint32_t i = 0; i < host.length; i++) {
        unsigned char byte = (unsigned char)host.bytes[i];

        at += sprintf(at, isalnum(byte) || byte == '-' || byte == '_' || byte == '.' ? "%c" : "%%%02x", byte);
    }
    strcpy(at, ".dft");
    return name;
}

static char *unit_name(const struct split *split, const struct dft_source_process *source)
{
    const struct dft_process *process = &source->process;
    char *name = NULL;

    if (split->by == DFT_SPLIT_BY_PROCESS)
        return dft_part_name(source, ".dft");
    if (split->by == DFT_SPLIT_BY_HOST)
        return host_name(process->host);
    if (process->rank < 0)
        return strdup("no-rank.dft");
    return asprintf(&name, "rank-%05d.dft", process->rank) < 0 ? NULL : name;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Finds a name for each process, then keeps each name once. */
static int find_units(struct split *split)
{
    uint32_t count, n = 0;
    const struct dft_source_process *processes = dft_source_processes(split->source, &count);
    char **all = calloc(count + 1u, sizeof *all);
    int rc = 0;

    split->names = calloc(count + 1u, sizeof *split->names);
    split->unit_of = calloc(count + 1u, sizeof *split->unit_of);
    if (!all || !split->names || !split->unit_of)
        rc = -ENOMEM;
    for (uint32_t i = 0; i < count && !rc; i++) {
        all[i] = split->names[i] = unit_name(split, &processes[i]);
        rc = all[i] ? 0 : -ENOMEM;
    }
    if (!rc) {
        qsort(split->names, count, sizeof *split->names, by_text);
        for (uint32_t i = 0; i < count; i++)
            if (!n || strcmp(split->names[i], split->names[n - 1]))
                split->names[n++] = split->names[i];
        split->count = n;
    }
    for (uint32_t i = 0; i < count && !rc; i++)
        split->unit_of[i] = (uint32_t)((char **)bsearch(&all[i], split->names, n, sizeof *all, by_text) - split->names);
    for (uint32_t i = 0; all && i < count; i++) {
        uint32_t unit = rc ? 0 : split->unit_of[i];

        if (rc || split->names[unit] != all[i])
            free(all[i]);
    }
    if (rc)
        split->count = 0;
    free(all);
    return rc;
}

/* --- where blocks go -------------------------------------------------------------------------- */

static int by_unit(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Does a block belong to no process? */
static int is_common(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_NAMES || block->type == DFT_BLOCK_GROUP;
}

static int find_places(struct split *split)
{
    size_t count;
    uint32_t nfiles, unit = 0;
    const struct dft_block *blocks = dft_source_blocks(split->source, &count);
    const struct dft_block *before = NULL;

    dft_source_files(split->source, &nfiles);
    split->mixed = calloc(nfiles + 1u, 1);
    split->places = malloc((count + 1) * sizeof *split->places);
    if (!split->mixed || !split->places)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (is_common(&blocks[i]))
            continue;
        if (before && before->file == blocks[i].file && split->unit_of[blocks[i].process] != unit)
            split->mixed[blocks[i].file] = 1;
        before = &blocks[i];
        unit = split->unit_of[blocks[i].process];
    }
    for (size_t i = 0, file = SIZE_MAX; i < count; i++) {
        /* Names that stand before the first block of a process go with that block. */
        if (blocks[i].file != file) {
            size_t k = i;

            for (file = blocks[i].file; k < count && blocks[k].file == file && is_common(&blocks[k]);)
                k++;
            unit = k < count && blocks[k].file == file ? split->unit_of[blocks[k].process] : EVERYWHERE;
        }
        if (blocks[i].type == DFT_BLOCK_GROUP)
            split->places[split->nplaces++] = (struct place){EVERYWHERE, (uint32_t)i};
        else if (blocks[i].type == DFT_BLOCK_NAMES && !split->mixed[blocks[i].file])
            split->places[split->nplaces++] = (struct place){unit, (uint32_t)i};
        else if (blocks[i].type != DFT_BLOCK_NAMES)
            split->places[split->nplaces++] = (struct place){split->unit_of[blocks[i].process], (uint32_t)i};
    }
    qsort(split->places, split->nplaces, sizeof *split->places, by_unit);
    return 0;
}

static int find_live(struct split *split)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(split->source, &count);

    split->live = malloc((count + 1u) * sizeof *split->live);
    if (!split->live)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (processes[i].live_file)
            split->live[split->nlive++] = (struct place){split->unit_of[i], i};
    qsort(split->live, split->nlive, sizeof *split->live, by_unit);
    return 0;
}

/* Ranks with blocks in memory write the archives of these. The others are spread by bytes. */
static int choose_writers(struct split *split)
{
    size_t count;
    uint32_t nfiles;
    const struct dft_block *blocks = dft_source_blocks(split->source, &count);
    const struct dft_source_file *files = dft_source_files(split->source, &nfiles);
    uint64_t all = 1, before = 0;

    split->writers = malloc((split->count + 1u) * sizeof *split->writers);
    if (!split->writers)
        return -ENOMEM;
    for (size_t i = 0; i < split->nplaces; i++)
        all += blocks[split->places[i].number].stored;
    for (uint32_t unit = 0, i = 0; unit < split->count; unit++) {
        uint32_t holder = NOBODY;

        split->writers[unit] = (uint32_t)((double)before / (double)all * dft_comm_size());
        for (; i < split->nplaces && split->places[i].unit == unit; i++) {
            const struct dft_block *block = &blocks[split->places[i].number];

            before += block->stored;
            if (files[block->file].local)
                holder = holder == NOBODY || holder == files[block->file].owner ? files[block->file].owner : SEVERAL;
        }
        if (holder != NOBODY)
            split->writers[unit] = holder;
    }
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int copy(struct split *split, struct dft_archive *archive, const struct dft_block *block)
{
    struct dft_block_header header;
    const void *payload;

    if (!dft_archive_wants(block))
        return dft_merge_covered_names(archive, split->reader, split->encoder, block);
    if (split->mixed[block->file] && (block->type == DFT_BLOCK_EVENTS || block->type == DFT_BLOCK_BUCKETS) &&
        !dft_reader_block(split->reader, block, &header, &payload)) {
        int rc = dft_archive_refers_all(archive, dft_reader_decoder(split->reader), &header, payload);

        if (rc)
            return rc;
    }
    return dft_archive_copy(archive, split->reader, block);
}

/* Copies the blocks of the unit, and the blocks that belong everywhere. */
static int copy_unit(struct split *split, struct dft_archive *archive, uint32_t unit)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(split->source, &count);
    int rc = 0;

    for (; !rc && split->place < split->nplaces && split->places[split->place].unit == unit; split->place++) {
        dft_source_progress(split->source, "blocks copied", split->place, split->nplaces);
        rc = copy(split, archive, &blocks[split->places[split->place].number]);
    }
    for (size_t i = split->nplaces; !rc && i > 0 && split->places[i - 1].unit == EVERYWHERE; i--)
        rc = copy(split, archive, &blocks[split->places[i - 1].number]);
    return rc;
}

/* Writes what only live files tell, because live files do not come along. */
static int put_records(struct split *split, struct dft_archive *archive, uint32_t unit)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(split->source, &count);
    int rc = 0;

    for (; !rc && split->live_at < split->nlive && split->live[split->live_at].unit == unit; split->live_at++)
        rc = dft_recover_records(split->source, &processes[split->live[split->live_at].number], dft_archive_put,
                                 archive);
    return rc;
}

static int write_unit(struct split *split, uint32_t unit)
{
    struct dft_archive archive = {0};
    char *path;
    int rc = asprintf(&path, "%s/%s", split->path, split->names[unit]) < 0 ? -ENOMEM : 0;

    if (rc)
        return rc;
    rc = dft_archive_open(&archive, split->source, path, 0);
    if (!rc)
        rc = copy_unit(split, &archive, unit);
    if (!rc)
        rc = put_records(split, &archive, unit);
    if (!rc)
        rc = dft_archive_names(&archive, split->encoder);
    if (!rc)
        rc = dft_archive_commit(&archive, 0);
    split->written += !rc;
    dft_archive_fini(&archive);
    free(path);
    return rc;
}

/* Writes all units of this writer. */
static int write_units(struct split *split, uint32_t writer)
{
    int rc = 0;

    split->place = split->live_at = 0;
    for (uint32_t unit = 0; unit < split->count && !rc; unit++) {
        split->unit = unit;
        if (split->writers[unit] == writer)
            rc = write_unit(split, unit);
        while (split->place < split->nplaces && split->places[split->place].unit == unit)
            split->place++;
        while (split->live_at < split->nlive && split->live[split->live_at].unit == unit)
            split->live_at++;
    }
    dft_source_progress(split->source, "", 1, 1);
    return rc;
}

/* Agrees on the result. When several ranks failed, the error for the first archive counts. */
static int outcome(struct split *split, int rc)
{
    int failed = rc ? (int)(split->count - split->unit) : 0, first = dft_comm_agree(failed);

    if (!first)
        return 0;
    rc = dft_comm_agree(failed == first ? rc : 0);
    dft_comm_sum(&split->written, 1);
    fprintf(stderr, "dftmerge: %s/%s: %s; %llu of %u archives were written\n", split->path,
            split->names[split->count - (uint32_t)first], strerror(-rc), (unsigned long long)split->written,
            split->count);
    return rc;
}

static int write_all(struct split *split)
{
    uint32_t nfiles, several = 0;
    int rc = 0, mixed = 0;

    dft_source_files(split->source, &nfiles);
    for (uint32_t i = 0; i < nfiles; i++)
        mixed |= split->mixed[i];
    for (uint32_t i = 0; i < split->count; i++)
        several += split->writers[i] == SEVERAL;
    if (mixed)
        rc = dft_source_names(split->source, NULL, 0);
    if (rc)
        return rc;
    rc = outcome(split, write_units(split, dft_comm_rank()));
    if (rc || !several)
        return rc;
    if (dft_exchange_serve(split->source, &rc)) {
        rc = write_units(split, SEVERAL);
        dft_exchange_served(split->source);
    }
    return outcome(split, rc);
}

static int prepare(struct split *split)
{
    int rc = find_units(split);

    if (!rc)
        rc = find_places(split);
    if (!rc)
        rc = find_live(split);
    if (!rc)
        rc = choose_writers(split);
    split->reader = dft_reader_create(split->source);
    split->encoder = dft_merge_encoder();
    return rc || (split->reader && split->encoder) ? rc : -ENOMEM;
}

int dft_merge_split(struct dft_source *source, const char *path, enum dft_split_by by, int quiet)
{
    struct split split = {.source = source, .path = path, .by = by, .quiet = quiet};
    int rc = dft_comm_agree(prepare(&split));

    if (!rc)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : dft_part_directory(source, path, ".dft", split.names, split.count));
    if (!rc)
        rc = write_all(&split);
    if (!rc)
        rc = dft_exchange_notes(source);
    if (!rc && !quiet)
        fprintf(stderr, "dftmerge: %s: %u archives, %s%s%s\n", path, split.count, split.names[0],
                split.count > 1 ? " to " : "", split.count > 1 ? split.names[split.count - 1] : "");
    for (uint32_t i = 0; i < split.count; i++)
        free(split.names[i]);
    dft_reader_destroy(split.reader);
    dft_merge_encoder_free(split.encoder);
    free(split.names);
    free(split.unit_of);
    free(split.mixed);
    free(split.places);
    free(split.writers);
    free(split.live);
    return rc;
}
