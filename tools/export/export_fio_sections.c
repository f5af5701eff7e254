/* SPDX-License-Identifier: MIT */
/* Finds threads that do I/O alike; see export_fio_sections.h. */
#include "export/export_fio_sections.h"
#include "export/export_model_finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TURNS_MIN    10u /* reads and writes are mixed where so many percent of the fewer ones are turns */
/* Threads are no group that begin further apart than one in so many of the time, and this. */
#define APART        20u
#define APART_MIN_NS 50000000u

static unsigned digits(uint64_t number)
{
    return number ? 64u - (unsigned)__builtin_clzll(number) : 0;
}

static enum dft_fio_engine engine_of(const uint64_t ways[DFT_MODEL_WAYS])
{
    uint64_t all = ways[DFT_MODEL_MOVES] + ways[DFT_MODEL_AT] + ways[DFT_MODEL_STREAM] + ways[DFT_MODEL_REQUEST];

    if (ways[DFT_MODEL_REQUEST] * 2 > all)
        return DFT_FIO_LIBAIO;
    return ways[DFT_MODEL_AT] * 2 > all ? DFT_FIO_PSYNC : DFT_FIO_SYNC;
}

static void add_unit(struct dft_fio_lane *lane, const struct dft_model_unit *unit, uint64_t sums[2],
                     uint64_t ways[DFT_MODEL_WAYS])
{
    int dir = unit->is_write;
    uint64_t end = lane->start_ns + lane->wall_ns, start = lane->start_ns;

    lane->units[dir] = unit;
    lane->ios[dir] = unit->ios;
    lane->bytes[dir] = unit->bytes;
    lane->scale[dir] = digits(unit->ios);
    lane->busy_ns += unit->busy_ns + unit->sync_ns;
    lane->is_direct |= unit->direct * 2 > unit->files;
    if (dir && (unit->sync + unit->dsync) * 2 > unit->files)
        lane->wait = unit->sync >= unit->dsync ? DFT_FIO_OSYNC : DFT_FIO_DSYNC;
    lane->start_ns = !start || unit->first_ns < start ? unit->first_ns : start;
    end = unit->last_ns > end ? unit->last_ns : end;
    lane->wall_ns = end > lane->start_ns ? end - lane->start_ns : 0;
    sums[0] += unit->random;
    sums[1] += unit->placed;
    for (unsigned way = 0; way < DFT_MODEL_WAYS; way++)
        ways[way] += unit->ways[way];
    for (unsigned size = 0; size < DFT_SIZE_CLASSES; size++)
        if (unit->sizes[size].ios > unit->sizes[lane->size[dir]].ios)
            lane->size[dir] = size;
}

static struct dft_fio_lane make_lane(const struct dft_model_unit *first, const struct dft_model_unit *second)
{
    struct dft_fio_lane lane = {0};
    uint64_t ways[DFT_MODEL_WAYS] = {0}, sums[2] = {0};

    add_unit(&lane, first, sums, ways);
    if (second)
        add_unit(&lane, second, sums, ways);
    lane.random = sums[1] ? (unsigned)((sums[0] * 10 + sums[1] / 2) / sums[1]) : 0;
    lane.engine = engine_of(ways);
    lane.is_stream = ways[DFT_MODEL_STREAM] != 0;
    return lane;
}

/* Do the reads and the writes of a thread take turns? */
static int are_mixed(const struct dft_model_unit *reads, const struct dft_model_unit *writes)
{
    uint64_t fewer = reads->ios < writes->ios ? reads->ios : writes->ios;

    return reads->process == writes->process && reads->tid == writes->tid &&
           (reads->turns + writes->turns) * 100 >= fewer * TURNS_MIN && reads->turns + writes->turns > 2;
}

static int compare_texts(struct dft_text a, struct dft_text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);

    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static const struct dft_model_unit *any_unit(const struct dft_fio_lane *lane)
{
    return lane->units[0] ? lane->units[0] : lane->units[1];
}

/* A program or role up to its first digit: workers of a pool have numbers, and do the same. */
static struct dft_text program_of(const struct dft_fio_lane *lane)
{
    struct dft_text who = dft_model_who(any_unit(lane)->process);
    uint32_t length = 0;

    while (length < who.length && (who.bytes[length] < '0' || who.bytes[length] > '9'))
        length++;
    return (struct dft_text){who.bytes, length};
}

static int compare_kinds(const struct dft_fio_lane *a, const struct dft_fio_lane *b)
{
    const unsigned keys[2][9] = {{!a->units[0], !a->units[1], a->random, a->engine, (unsigned)a->is_direct, a->wait,
                                  a->size[0], a->size[1], a->scale[0] * 64 + a->scale[1]},
                                 {!b->units[0], !b->units[1], b->random, b->engine, (unsigned)b->is_direct, b->wait,
                                  b->size[0], b->size[1], b->scale[0] * 64 + b->scale[1]}};

    for (unsigned i = 0; i < 9; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return compare_texts(program_of(a), program_of(b));
}

static int compare_lanes(const void *left, const void *right)
{
    const struct dft_fio_lane *a = left, *b = right;
    int order = compare_kinds(a, b);

    if (order)
        return order;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return any_unit(a) < any_unit(b) ? -1 : any_unit(a) > any_unit(b);
}

static void make_lanes(struct dft_fio_sections *sections, const struct dft_model *model)
{
    uint64_t end = 0;

    sections->start_ns = UINT64_MAX;
    for (size_t i = 0; i < model->nunits; i++) {
        const struct dft_model_unit *unit = &model->units[i], *next = i + 1 < model->nunits ? unit + 1 : NULL;
        int is_mixed = next && !unit->is_write && next->is_write && are_mixed(unit, next);
        struct dft_fio_lane lane = make_lane(unit, is_mixed ? next : NULL);

        sections->start_ns = lane.start_ns < sections->start_ns ? lane.start_ns : sections->start_ns;
        end = lane.start_ns + lane.wall_ns > end ? lane.start_ns + lane.wall_ns : end;
        sections->lanes[sections->nlanes++] = lane;
        i += (size_t)is_mixed;
    }
    sections->wall_ns = end > sections->start_ns ? end - sections->start_ns : 0;
}

static void add_sizes(struct dft_model_size *into, const struct dft_model_size *from)
{
    if (from->ios)
        into->whole = !into->ios || into->whole == from->whole ? from->whole : 0;
    into->calls += from->calls;
    into->ios += from->ios;
    into->bytes += from->bytes;
}

static void add_lane(struct dft_fio_section *section, const struct dft_fio_lane *lane)
{
    section->count++;
    section->wall_ns += lane->wall_ns;
    section->busy_ns += lane->busy_ns < lane->wall_ns ? lane->busy_ns : lane->wall_ns;
    section->flying_ns += lane->busy_ns;
    for (unsigned dir = 0; dir < 2; dir++) {
        section->ios[dir] += lane->ios[dir];
        section->bytes[dir] += lane->bytes[dir];
        for (unsigned size = 0; lane->units[dir] && size < DFT_SIZE_CLASSES; size++)
            add_sizes(&section->sizes[dir][size], &lane->units[dir]->sizes[size]);
    }
    if (lane->units[1]) {
        section->fsyncs += lane->units[1]->fsyncs;
        section->fdatasyncs += lane->units[1]->fdatasyncs;
    }
}

/* --- files ------------------------------------------------------------------------------------ */

/* The use of a file by a section: whose lanes are joined. */
struct joint {
    uint32_t section, times;
    uint64_t extent;
    int reads, writes;
    uint32_t last_unit;
};

static void end_file(struct dft_fio_section *list, const struct joint *joints, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct dft_fio_section *section = &list[joints[i].section];
        int is_opposed = 0;

        for (size_t k = 0; k < count; k++)
            is_opposed |= k != i && ((joints[i].reads && joints[k].writes) || (joints[i].writes && joints[k].reads));
        section->opposite += (uint64_t)is_opposed;
        if (!section->files++ || joints[i].extent < section->extent_min)
            section->extent_min = joints[i].extent;
        section->used += joints[i].times;
        section->extent += joints[i].extent;
        section->extent_max = joints[i].extent > section->extent_max ? joints[i].extent : section->extent_max;
    }
}

#define JOINTS 256u /* of a file that more sections use, the first ones */

static size_t join(struct joint *joints, size_t count, const struct dft_model_use *use, uint32_t section, int is_write)
{
    size_t at = 0;

    while (at < count && joints[at].section != section)
        at++;
    if (at == JOINTS)
        return count;
    if (at == count)
        joints[count++] = (struct joint){.section = section, .last_unit = UINT32_MAX};
    joints[at].extent = use->extent > joints[at].extent ? use->extent : joints[at].extent;
    /* reads and writes of one thread follow each other, and are one lane here */
    joints[at].times += !(is_write && joints[at].last_unit + 1 == use->unit && joints[at].reads);
    joints[at].last_unit = use->unit;
    joints[at].reads |= !is_write;
    joints[at].writes |= is_write;
    return count;
}

/* `of`: the section of each unit. */
static void add_files(struct dft_fio_sections *sections, const struct dft_model *model, const uint32_t *of)
{
    struct joint joints[JOINTS];
    size_t count = 0;

    for (size_t i = 0; i < model->nuses; i++) {
        const struct dft_model_use *use = &model->uses[i];

        if (i && use->file != use[-1].file) {
            end_file(sections->list, joints, count);
            count = 0;
        }
        count = join(joints, count, use, of[use->unit], model->units[use->unit].is_write);
    }
    end_file(sections->list, joints, count);
}

int dft_fio_sections_make(struct dft_fio_sections *sections, const struct dft_model *model)
{
    uint32_t *of = calloc(model->nunits + 1, sizeof *of);

    *sections = (struct dft_fio_sections){.lanes = calloc(model->nunits + 1, sizeof *sections->lanes),
                                          .list = calloc(model->nunits + 1, sizeof *sections->list)};
    if (!of || !sections->lanes || !sections->list) {
        free(of);
        return -ENOMEM;
    }
    make_lanes(sections, model);
    qsort(sections->lanes, sections->nlanes, sizeof *sections->lanes, compare_lanes);
    for (size_t i = 0; i < sections->nlanes; i++) {
        const struct dft_fio_lane *lane = &sections->lanes[i];
        struct dft_fio_section *last = sections->count ? &sections->list[sections->count - 1] : NULL;

        if (!last || compare_kinds(last->lanes, lane) ||
            lane->start_ns - last->lanes->start_ns > sections->wall_ns / APART + APART_MIN_NS) {
            last = &sections->list[sections->count++];
            last->lanes = lane;
        }
        add_lane(last, lane);
        for (unsigned dir = 0; dir < 2; dir++)
            if (lane->units[dir])
                of[lane->units[dir] - model->units] = (uint32_t)(last - sections->list);
    }
    add_files(sections, model, of);
    free(of);
    return 0;
}

void dft_fio_sections_fini(struct dft_fio_sections *sections)
{
    free(sections->lanes);
    free(sections->list);
    memset(sections, 0, sizeof *sections);
}
