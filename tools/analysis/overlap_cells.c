/* SPDX-License-Identifier: MIT */
/* Estimates of overlap from 64ths of intervals. */
#include "analysis/overlap_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALL_OF_IT 0.999 /* of a 64th */

int dft_overlap_cells_init(struct dft_overlap_cells *cells, uint32_t intervals)
{
    uint32_t lanes = cells->overlap->nprocesses, teams = cells->overlap->nteams;

    cells->intervals = intervals;
    cells->cells = calloc((size_t)lanes * intervals * DFT_CELL_STATES + 1, sizeof *cells->cells);
    cells->levels = calloc((size_t)lanes * DFT_CELL_STATES + 1, sizeof *cells->levels);
    cells->lives = calloc(2 * (size_t)lanes + 1, sizeof *cells->lives);
    cells->sums = calloc(lanes + 1u, sizeof *cells->sums);
    cells->team_sums = calloc(teams + 1u, sizeof *cells->team_sums);
    cells->active = calloc((size_t)teams * DFT_SLOTS + 1, sizeof *cells->active);
    return cells->cells && cells->levels && cells->lives && cells->sums && cells->team_sums && cells->active ? 0
                                                                                                             : -ENOMEM;
}

void dft_overlap_cells_fini(struct dft_overlap_cells *cells)
{
    free(cells->cells);
    free(cells->levels);
    free(cells->lives);
    free(cells->sums);
    free(cells->team_sums);
    free(cells->active);
}

/* --- filling ---------------------------------------------------------------------------------- */

void dft_overlap_cell_add(struct dft_overlap_cells *cells, uint32_t lane, uint64_t interval, unsigned state,
                          const struct dft_overlap_cell *more)
{
    struct dft_overlap_cell *cell;

    if (interval < cells->first || interval - cells->first >= cells->intervals)
        return;
    cell = dft_overlap_cell_at(cells, lane, interval, state);
    __atomic_fetch_or(&cell->bits, more->bits, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cell->edge, more->edge, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cell->step, more->step, __ATOMIC_RELAXED);
}

void dft_overlap_cell_step(struct dft_overlap_cells *cells, uint32_t lane, unsigned state, uint64_t time, int64_t step)
{
    uint64_t at = time > cells->origin_ns ? time - cells->origin_ns : 0, interval = at / cells->width_ns;
    uint64_t inside = at % cells->width_ns;
    struct dft_overlap_cell cell = {.step = step};

    if (inside) {
        struct dft_overlap_cell part = {.edge = (uint64_t)step * (cells->width_ns - inside)};

        if (step > 0)
            part.bits = dft_occupancy_of(inside, cells->width_ns, cells->width_ns);
        dft_overlap_cell_add(cells, lane, interval, state, &part);
        interval++;
    }
    dft_overlap_cell_add(cells, lane, interval, state, &cell);
}

void dft_overlap_cell_span(struct dft_overlap_cells *cells, uint32_t lane, unsigned state, uint64_t start, uint64_t end)
{
    uint64_t width = cells->width_ns, from = start > cells->origin_ns ? start - cells->origin_ns : 0;
    uint64_t to = end > cells->origin_ns ? end - cells->origin_ns : 0, first = from / width, last = to / width;
    struct dft_overlap_cell cell = {0};

    if (to <= from)
        return;
    cell.bits = dft_occupancy_of(from % width, first == last ? to % width : width, width);
    cell.edge = first == last ? to - from : width - from % width;
    dft_overlap_cell_add(cells, lane, first, state, &cell);
    if (last > first + 1) {
        dft_overlap_cell_step(cells, lane, state, cells->origin_ns + (first + 1) * width, 1);
        dft_overlap_cell_step(cells, lane, state, cells->origin_ns + last * width, -1);
    }
    if (last == first || !(to % width))
        return;
    cell.bits = dft_occupancy_of(0, to % width, width);
    cell.edge = to % width;
    dft_overlap_cell_add(cells, lane, last, state, &cell);
}

/* --- counting --------------------------------------------------------------------------------- */

/* The share of each 64th of an interval that each state takes. */
struct shares {
    double of[DFT_CELL_STATES];
    uint64_t bits[DFT_CELL_STATES];
    uint64_t any; /* the union of all bits */
};

static struct shares shares_of(const struct dft_overlap_cells *cells, uint32_t lane, uint64_t interval)
{
    struct shares shares = {.any = 0};

    for (unsigned state = 0; state < DFT_CELL_STATES; state++) {
        struct dft_overlap_cell *cell = dft_overlap_cell_at(cells, lane, interval, state);
        int64_t *level = &cells->levels[(size_t)lane * DFT_CELL_STATES + state];
        double covered;

        *level += cell->step;
        shares.bits[state] = *level > 0 ? UINT64_MAX : cell->bits;
        shares.any |= shares.bits[state];
        covered = (double)cells->width_ns / DFT_SLOTS * __builtin_popcountll(shares.bits[state]);
        shares.of[state] =
            covered > 0 ? ((double)(int64_t)cell->edge + (double)*level * (double)cells->width_ns) / covered : 0;
        shares.of[state] = shares.of[state] < 0 ? 0 : shares.of[state] > 1 ? 1 : shares.of[state];
    }
    return shares;
}

static double share(const struct shares *shares, unsigned state, unsigned slot)
{
    return shares->bits[state] >> slot & 1 ? shares->of[state] : 0;
}

/* The part of [start, end) that lies in the 64th, of it. */
static double part_of(const struct dft_overlap_cells *cells, uint64_t interval, unsigned slot, uint64_t start,
                      uint64_t end)
{
    uint64_t at = cells->origin_ns + interval * cells->width_ns;
    double width = (double)cells->width_ns / DFT_SLOTS, first = slot * width;
    double from = start > at ? (double)(start - at) : 0, to = end > at ? (double)(end - at) : 0;

    from = from > first ? from : first;
    to = to < first + width ? to : first + width;
    return to > from ? (to - from) / width : 0;
}

/* That a team does not compute, is not in I/O, and neither, in a 64th. */
struct odds {
    double no_compute, no_io, neither, data, idle, no_item; /* data, idle: of the trainer; no_item: of its workers */
};

static void count_lane(struct dft_overlap_cells *cells, uint32_t lane, uint64_t interval, struct odds *team)
{
    struct shares shares = shares_of(cells, lane, interval);
    const struct dft_overlap *overlap = cells->overlap;
    const struct dft_overlap_process *process = &overlap->processes[lane];
    int is_trainer = dft_overlap_is_trainer(overlap, process);
    struct dft_cell_sums *sums = &cells->sums[lane];

    for (unsigned slot = shares.any || is_trainer || !overlap->has_compute ? 0 : DFT_SLOTS; slot < DFT_SLOTS; slot++) {
        double ns = (double)cells->width_ns / DFT_SLOTS * part_of(cells, interval, slot, cells->from_ns, cells->to_ns);
        double io = share(&shares, DFT_BUSY_IO, slot), data = share(&shares, DFT_BUSY_DATA, slot);
        double item = share(&shares, DFT_BUSY_ITEM, slot), none;
        double waits = 1 - (1 - share(&shares, DFT_BUSY_WAIT, slot)) * (1 - data), compute;

        if (overlap->has_compute) {
            compute = share(&shares, DFT_BUSY_COMPUTE, slot);
            none = (1 - compute) * (1 - io);
        } else {
            double lives = part_of(cells, interval, slot, cells->lives[2 * lane], cells->lives[2 * lane + 1]);

            compute = lives * (1 - io) * (1 - waits);
            none = (1 - io) * (1 - lives * (1 - waits));
        }
        sums->compute += ns * compute;
        sums->io += ns * io;
        sums->hidden += overlap->has_compute ? ns * compute * io : 0;
        sums->data += ns * data;
        sums->item += ns * item;
        sums->item_io += ns * (item < io ? item : io);
        team[slot].no_compute *= 1 - compute;
        team[slot].no_io *= 1 - io;
        team[slot].neither *= none;
        team[slot].no_item *= is_trainer ? 1 : 1 - item;
        if (is_trainer) {
            team[slot].data = data;
            team[slot].idle = none * part_of(cells, interval, slot, cells->lives[2 * lane], cells->lives[2 * lane + 1]);
        }
    }
}

static void count_team(struct dft_overlap_cells *cells, uint32_t team, uint32_t *lane, uint64_t interval)
{
    struct dft_cell_sums *sums = &cells->team_sums[team];
    struct dft_overlap_team *of = &cells->overlap->teams[team];
    unsigned part = dft_overlap_part(cells->overlap, cells->origin_ns + interval * cells->width_ns);
    double exposed = sums->io - sums->hidden, data = sums->data;
    struct odds odds[DFT_SLOTS];

    for (unsigned slot = 0; slot < DFT_SLOTS; slot++)
        odds[slot] = (struct odds){1, 1, 1, 0, 0, 1};
    for (; *lane < cells->overlap->nprocesses && cells->overlap->processes[*lane].team == team; ++*lane)
        count_lane(cells, *lane, interval, odds);
    for (unsigned slot = 0; slot < DFT_SLOTS; slot++) {
        double ns = (double)cells->width_ns / DFT_SLOTS * part_of(cells, interval, slot, cells->from_ns, cells->to_ns);
        const struct odds *o = &odds[slot];
        double waits = dft_overlap_guesses(cells->overlap) ? o->idle * (1 - o->no_item) : o->data;

        sums->compute += ns * (1 - o->no_compute);
        sums->io += ns * (1 - o->no_io);
        sums->hidden += ns * (1 - o->no_compute - o->no_io + o->neither);
        sums->data += ns * waits;
        sums->item_io += ns * waits * (1 - o->no_io);
        cells->active[(size_t)team * DFT_SLOTS + slot] = (float)(1 - o->neither);
    }
    exposed = sums->io - sums->hidden - exposed;
    of->exposed_parts[part] += exposed > 0 ? (uint64_t)exposed : 0;
    of->data_parts[part] += (uint64_t)(sums->data - data);
}

/* The time in which nobody is active, and in which one team alone is while another one lives. */
static void count_job(struct dft_overlap_cells *cells, uint64_t interval)
{
    struct dft_overlap *overlap = cells->overlap;
    double before = cells->none_ns;

    for (unsigned slot = 0; slot < DFT_SLOTS; slot++) {
        double ns = (double)cells->width_ns / DFT_SLOTS * part_of(cells, interval, slot, cells->from_ns, cells->to_ns);
        double nobody = 1; /* of the teams that are not surely active */
        uint32_t sure = 0, alive = 0, launching = 0;

        for (uint32_t t = 0; t < overlap->nteams; t++) {
            double active = (double)cells->active[(size_t)t * DFT_SLOTS + slot];
            uint32_t lives = part_of(cells, interval, slot, overlap->teams[t].start_ns, overlap->teams[t].end_ns) > 0;

            alive += lives;
            launching += overlap->teams[t].launches ? lives : 0;
            sure += active >= ALL_OF_IT;
            nobody *= active >= ALL_OF_IT ? 1 : 1 - active;
        }
        if (alive && !sure)
            cells->none_ns += ns * nobody;
        for (uint32_t t = 0; alive - launching > 1 && sure < 2 && t < overlap->nteams; t++) {
            double active = (double)cells->active[(size_t)t * DFT_SLOTS + slot];

            if (overlap->teams[t].launches)
                continue;
            if (active >= ALL_OF_IT)
                cells->team_sums[t].item += ns * nobody;
            else if (!sure)
                cells->team_sums[t].item += ns * active * nobody / (1 - active);
        }
    }
    overlap->none_parts[dft_overlap_part(overlap, cells->origin_ns + interval * cells->width_ns)] +=
        (uint64_t)(cells->none_ns - before);
}

void dft_overlap_cells_count(struct dft_overlap_cells *cells)
{
    const struct dft_overlap *overlap = cells->overlap;

    for (uint64_t k = cells->first; k < cells->first + cells->intervals; k++) {
        uint32_t lane = 0;

        for (uint32_t t = 0; t < overlap->nteams; t++)
            count_team(cells, t, &lane, k);
        count_job(cells, k);
    }
    memset(cells->cells, 0, (size_t)overlap->nprocesses * cells->intervals * DFT_CELL_STATES * sizeof *cells->cells);
    cells->first += cells->intervals;
}

static void put_times(struct dft_overlap_times *times, const struct dft_cell_sums *sums)
{
    times->compute_ns = (uint64_t)sums->compute;
    times->io_ns = (uint64_t)sums->io;
    times->hidden_ns = (uint64_t)sums->hidden;
}

void dft_overlap_cells_finish(const struct dft_overlap_cells *cells)
{
    struct dft_overlap *overlap = cells->overlap;

    for (uint32_t i = 0; i < overlap->nprocesses; i++) {
        put_times(&overlap->processes[i].times, &cells->sums[i]);
        overlap->processes[i].data_ns = (uint64_t)cells->sums[i].data;
        overlap->processes[i].item_ns = (uint64_t)cells->sums[i].item;
        overlap->processes[i].item_io_ns = (uint64_t)cells->sums[i].item_io;
    }
    for (uint32_t t = 0; t < overlap->nteams; t++) {
        put_times(&overlap->teams[t].times, &cells->team_sums[t]);
        overlap->teams[t].data_ns = (uint64_t)cells->team_sums[t].data;
        overlap->teams[t].data_io_ns = (uint64_t)cells->team_sums[t].item_io;
        overlap->teams[t].alone_ns = (uint64_t)cells->team_sums[t].item;
    }
    overlap->none_ns = (uint64_t)cells->none_ns;
}
