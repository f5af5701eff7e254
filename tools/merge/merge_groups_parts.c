/* `dftmerge merge --group`: the parts of blocks into the archives, in the order of the blocks.
 *
 * A window of blocks at a time is made into parts, in N threads, by one rank of dftmerge-mpi; the next window is another
 * rank's. Where parts go in each archive is known when those of the windows before it have their lengths: each rank tells
 * the next one, and writes while that goes on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "merge/merge_groups.h"
#include "mpi/pack.h"
#include "source/source_read.h"
#include "source/source_inside.h"
#include "source/source_notes.h"

#define WINDOW_MIN 16u
#define WINDOW_MAX 1024u /* blocks */

/* What a rank tells the next one: where its parts begin. */
struct places {
    int64_t error;
    uint64_t at[DFT_RULES_MAX + 1]; /* of each group */
};

struct parting {
    struct dft_grouping *grouping;
    const struct dft_block **blocks; /* that have events */
    size_t count, window;
    struct dft_parter *parters[DFT_THREADS_MAX];
    struct dft_parts *parts; /* of the blocks of the window */
    struct places places;
    int fds[DFT_RULES_MAX + 1];
    char *buffer; /* what one archive gets of the window */
    size_t room;
};

int dft_grouping_wants(const struct dft_block *block)
{
    return block->type == DFT_BLOCK_EVENTS && block->use & DFT_IN_EVENTS && block->count;
}

/* --- one window ----------------------------------------------------------------------------------------------------- */

static int make_parts(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct parting *parting = context;
    struct dft_grouping *grouping = parting->grouping;
    struct dft_batch batch;
    int rc;

    if (!parting->parters[worker])
        parting->parters[worker] =
            dft_parter_create(grouping->rules, dft_source_names_table(grouping->source), grouping->division);
    if (!parting->parters[worker])
        return -ENOMEM;
    rc = dft_reader_events(reader, block, &batch);
    if (rc)
        return rc == -ENOMEM ? rc : 0; /* noted */
    return dft_parter_run(parting->parters[worker], block, &batch,
                          block->use & DFT_IN_BOTH ? grouping->widest[block->process] : 0, &parting->parts[number]);
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* What the window has for an archive, as it comes to stand there. */
static int collect(struct parting *parting, size_t blocks, uint32_t group, size_t *length)
{
    struct dft_archive *archive = &parting->grouping->archives[group];
    int rc = 0;

    *length = 0;
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < parting->parts[b].npieces && !rc; i++) {
            const struct dft_parts *parts = &parting->parts[b];
            const struct dft_parts_piece *piece = &parts->pieces[i];
            size_t bytes = padded(piece->bytes);

            if (piece->group != group)
                continue;
            if (*length + bytes > parting->room) {
                size_t room = 2 * (*length + bytes);
                char *bigger = realloc(parting->buffer, room);

                if (!bigger)
                    return -ENOMEM;
                parting->buffer = bigger;
                parting->room = room;
            }
            memcpy(parting->buffer + *length, parts->bytes + piece->from, piece->bytes);
            memset(parting->buffer + *length + piece->bytes, 0, bytes - piece->bytes);
            *length += bytes;
            archive->events += piece->events;
            archive->blocks += piece->blocks;
            for (size_t k = 0; k < piece->names && !rc; k++)
                rc = dft_archive_refers(archive, parts->names[piece->names_from + k]);
        }
    return rc;
}

static void sum_lengths(const struct parting *parting, size_t blocks, uint64_t *lengths)
{
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < parting->parts[b].npieces; i++)
            lengths[parting->parts[b].pieces[i].group] += padded(parting->parts[b].pieces[i].bytes);
}

static void hear_places(struct parting *parting, unsigned from)
{
    size_t length;
    struct places *heard = dft_comm_receive(from, &length);

    if (heard && length == sizeof *heard)
        parting->places = *heard;
    else
        parting->places.error = -EIO;
    free(heard);
}

/* Takes the places of the window's parts, and tells those behind it. */
static struct places take_places(struct parting *parting, size_t number, size_t blocks, int rc)
{
    unsigned ranks = parting->grouping->ranks;
    struct places mine;

    if (number && ranks > 1)
        hear_places(parting, (unsigned)((number - 1) % ranks));
    mine = parting->places;
    if (rc && !parting->places.error)
        parting->places.error = rc;
    sum_lengths(parting, blocks, parting->places.at);
    if (ranks > 1 && (number + 1) * parting->window < parting->count)
        dft_comm_send((unsigned)((number + 1) % ranks), &parting->places, sizeof parting->places);
    return mine;
}

static int write_window(struct parting *parting, size_t number)
{
    struct dft_grouping *grouping = parting->grouping;
    size_t from = number * parting->window;
    size_t blocks = parting->count - from < parting->window ? parting->count - from : parting->window;
    struct places mine;
    int rc = parting->places.error
                 ? (int)parting->places.error
                 : dft_read_blocks(grouping->source, parting->blocks + from, blocks, 1, NULL, make_parts, parting);

    mine = take_places(parting, number, blocks, rc);
    rc = (int)parting->places.error;
    for (uint32_t group = 0; group < grouping->groups && !rc; group++) {
        size_t length;

        rc = collect(parting, blocks, group, &length);
        if (!rc)
            rc = dft_outfile_put_beside(parting->fds[group], parting->buffer, length, mine.at[group]);
    }
    for (size_t b = 0; b < blocks; b++)
        dft_parts_fini(&parting->parts[b]);
    if (rc && !parting->places.error)
        parting->places.error = rc;
    return rc;
}

/* All windows of this rank, whatever goes wrong: others wait for where theirs begin. */
static int write_windows(struct parting *parting)
{
    unsigned ranks = parting->grouping->ranks;
    int rc = 0;

    for (size_t number = dft_comm_rank(); number * parting->window < parting->count; number += ranks) {
        int error = write_window(parting, number);

        rc = rc ? rc : error;
        dft_source_progress(parting->grouping->source, "blocks organised", (number + 1) * parting->window,
                            parting->count + parting->window);
    }
    dft_source_progress(parting->grouping->source, "", 1, 1);
    return rc;
}

/* --- what rank 0 needs to know -------------------------------------------------------------------------------------- */

static int take_archives(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_grouping *grouping = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    for (uint32_t group = 0; rank && group < grouping->groups; group++) {
        struct dft_archive *archive = &grouping->archives[group];
        uint64_t counts[3];

        dft_unpack_get(&unpack, counts, sizeof counts);
        archive->events += counts[0];
        archive->blocks += counts[1];
        for (uint64_t i = 0; i < counts[2] && !rc; i++) {
            uint64_t id;

            dft_unpack_get(&unpack, &id, sizeof id);
            rc = dft_archive_refers(archive, id);
        }
        if (rc)
            return rc;
    }
    return 0;
}

static int tell_first(struct dft_grouping *grouping)
{
    struct dft_pack pack = {0};

    for (uint32_t group = 0; group < grouping->groups && dft_comm_rank(); group++) {
        const struct dft_archive *archive = &grouping->archives[group];
        uint64_t counts[3] = {archive->events, archive->blocks, archive->names.count};

        dft_pack_put(&pack, counts, sizeof counts);
        for (size_t i = 0; i < archive->names.capacity; i++)
            if (archive->names.slots[i].key)
                dft_pack_put(&pack, &archive->names.slots[i].key, sizeof(uint64_t));
    }
    return dft_pack_gather(&pack, take_archives, grouping);
}

/* Where the parts end, as whoever had the last window knows; what follows is written there. */
static int go_behind(struct parting *parting)
{
    struct dft_grouping *grouping = parting->grouping;
    size_t windows = (parting->count + parting->window - 1) / parting->window;
    int last = windows && (windows - 1) % grouping->ranks == dft_comm_rank();
    int rc = 0;

    if (!last)
        memset(parting->places.at, 0, sizeof parting->places.at);
    if (grouping->ranks > 1)
        dft_comm_sum(parting->places.at, grouping->groups);
    for (uint32_t group = 0; group < grouping->groups && !rc && !dft_comm_rank(); group++) {
        struct dft_archive *archive = &grouping->archives[group];

        archive->bytes = parting->places.at[group];
        if (fseeko(archive->out.stream, (off_t)archive->bytes, SEEK_SET) < 0)
            rc = -errno;
    }
    return rc;
}

/* --- all of it ------------------------------------------------------------------------------------------------------ */

static int prepare(struct parting *parting)
{
    struct dft_source *source = parting->grouping->source;
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);

    parting->blocks = malloc((count + 1) * sizeof(const struct dft_block *));
    if (!parting->blocks)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (dft_grouping_wants(&blocks[i]))
            parting->blocks[parting->count++] = &blocks[i];
    parting->window = parting->count / (8u * parting->grouping->ranks);
    parting->window = parting->window < WINDOW_MIN ? WINDOW_MIN : parting->window;
    parting->window = parting->window > WINDOW_MAX ? WINDOW_MAX : parting->window;
    parting->parts = calloc(parting->window, sizeof *parting->parts);
    return parting->parts ? 0 : -ENOMEM;
}

static int open_all(struct parting *parting)
{
    struct dft_grouping *grouping = parting->grouping;
    int rc = 0;

    for (uint32_t group = 0; group < grouping->groups && !rc; group++)
        if (grouping->ranks > 1)
            rc = dft_outfile_join(&grouping->archives[group].out, &parting->fds[group]);
        else
            parting->fds[group] = fileno(grouping->archives[group].out.stream);
    return rc;
}

/* Only these ranks are here: where there is one, nothing is collective. */
static int agree(const struct parting *parting, int rc)
{
    return parting->grouping->ranks > 1 ? dft_comm_agree(rc) : rc;
}

int dft_grouping_write(struct dft_grouping *grouping)
{
    struct parting *parting = calloc(1, sizeof *parting);
    int rc = grouping->ranks > 1 ? dft_comm_agree(parting ? 0 : -ENOMEM) : parting ? 0 : -ENOMEM;

    if (!parting || rc) {
        free(parting);
        return rc;
    }
    parting->grouping = grouping;
    memset(parting->fds, -1, sizeof parting->fds);
    rc = agree(parting, prepare(parting));
    if (!rc)
        rc = open_all(parting);
    if (!rc)
        rc = agree(parting, write_windows(parting));
    for (uint32_t group = 0; group < grouping->groups && grouping->ranks > 1; group++)
        rc = dft_outfile_leave(&parting->fds[group], rc, 1);
    rc = agree(parting, rc);
    if (!rc)
        rc = agree(parting, go_behind(parting));
    if (!rc && grouping->ranks > 1)
        rc = tell_first(grouping);
    for (uint32_t i = 0; i < DFT_THREADS_MAX; i++)
        dft_parter_destroy(parting->parters[i]);
    free(parting->blocks);
    free(parting->parts);
    free(parting->buffer);
    free(parting);
    return rc;
}
