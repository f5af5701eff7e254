/* SPDX-License-Identifier: MIT */
/* The sweep over starts and ends: what holds between two points is added to everything it holds
 * for.
 *
 * Each process, each team and the job know since when their state is as it is. Whatever changes a
 * state first settles the time before. So a point costs the same however many processes there
 * are. */
#include "analysis/overlap_sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dft_overlap_sweep_init(struct dft_overlap_sweep *sweep, struct dft_overlap *overlap)
{
    *sweep = (struct dft_overlap_sweep){.overlap = overlap};
    sweep->lanes = calloc(overlap->nprocesses + 1u, sizeof *sweep->lanes);
    sweep->crews = calloc(overlap->nteams + 1u, sizeof *sweep->crews);
    return sweep->lanes && sweep->crews ? 0 : -ENOMEM;
}

void dft_overlap_sweep_fini(struct dft_overlap_sweep *sweep)
{
    free(sweep->lanes);
    free(sweep->crews);
}

/* --- settling --------------------------------------------------------------------------------- */

static void add(struct dft_overlap_times *times, int computes, int is_in_io, uint64_t ns)
{
    times->compute_ns += computes ? ns : 0;
    times->io_ns += is_in_io ? ns : 0;
    times->hidden_ns += computes && is_in_io ? ns : 0;
}

/* Adds [from, to) to the parts of the job's time. */
static void add_parts(const struct dft_overlap *overlap, uint64_t *parts, uint64_t from, uint64_t to)
{
    uint64_t width = overlap->wall_ns / DFT_OVERLAP_PARTS + 1;

    while (from < to) {
        unsigned part = dft_overlap_part(overlap, from);
        uint64_t end = part + 1 < DFT_OVERLAP_PARTS ? overlap->start_ns + (part + 1) * width : to;

        end = end > from && end < to ? end : to;
        parts[part] += end - from;
        from = end;
    }
}

/* Adds [from, to) of a team in one state to the bins of the strip. */
static void add_strip(const struct dft_overlap_strip *strip, const struct dft_sweep_crew *crew, uint64_t from,
                      uint64_t to)
{
    uint64_t end = strip->base_ns + strip->count * strip->width_ns;

    from = from > strip->base_ns ? from : strip->base_ns;
    to = to < end ? to : end;
    while (from < to) {
        uint64_t at = (from - strip->base_ns) / strip->width_ns, next = strip->base_ns + (at + 1) * strip->width_ns;
        uint64_t ns = (next < to ? next : to) - from;
        struct dft_overlap_bin *bin = &strip->bins[at];

        bin->compute_ns += crew->computing ? ns : 0;
        bin->io_ns += crew->in_io ? ns : 0;
        bin->hidden_ns += crew->computing && crew->in_io ? ns : 0;
        bin->alive_ns += crew->alive ? ns : 0;
        from += ns;
    }
}

static void settle_process(struct dft_overlap_sweep *sweep, uint32_t number, uint64_t now)
{
    struct dft_sweep_lane *lane = &sweep->lanes[number];
    struct dft_overlap_process *process = &sweep->overlap->processes[number];
    uint64_t ns = now - lane->since;

    lane->since = now;
    add(&process->times, lane->computes, lane->is_in_io, ns);
    process->data_ns += lane->level[DFT_BUSY_DATA] ? ns : 0;
    process->item_ns += lane->level[DFT_BUSY_ITEM] ? ns : 0;
    process->item_io_ns += lane->level[DFT_BUSY_ITEM] && lane->is_in_io ? ns : 0;
}

/* Where no region says that a trainer waits for data, it does when it does nothing and a worker
 * loads. */
static int is_waiting(const struct dft_overlap *overlap, const struct dft_sweep_crew *crew)
{
    return dft_overlap_guesses(overlap) ? crew->idling && crew->loading : crew->waiting != 0;
}

static void settle_team(struct dft_overlap_sweep *sweep, uint32_t number, uint64_t now)
{
    struct dft_sweep_crew *crew = &sweep->crews[number];
    struct dft_overlap_team *team = &sweep->overlap->teams[number];
    uint64_t since = crew->since, ns = now - since;
    int waits = is_waiting(sweep->overlap, crew);

    crew->since = now;
    if (sweep->overlap->strip)
        add_strip(sweep->overlap->strip, crew, since, now);
    if (waits)
        add_parts(sweep->overlap, team->data_parts, since, now);
    if (crew->in_io && !crew->computing)
        add_parts(sweep->overlap, team->exposed_parts, since, now);
    add(&team->times, crew->computing != 0, crew->in_io != 0, ns);
    team->data_ns += waits ? ns : 0;
    team->data_io_ns += waits && crew->in_io ? ns : 0;
}

/* The longer of two stretches, of equal ones the first. */
static void end_span(struct dft_overlap_span *now, struct dft_overlap_span *longest)
{
    if (now->to_ns - now->from_ns > longest->to_ns - longest->from_ns)
        *longest = *now;
    *now = (struct dft_overlap_span){0};
}

/* A stretch of one team alone goes on while nobody is active in between. */
static void settle_job(struct dft_overlap_sweep *sweep, uint64_t now)
{
    struct dft_overlap *overlap = sweep->overlap;
    uint64_t from = sweep->since, ns = now - from;
    uint32_t only = (uint32_t)sweep->active_sum;

    sweep->since = now;
    if (!ns)
        return;
    if (sweep->active || !sweep->alive) {
        end_span(&sweep->gap, &overlap->gap);
    } else {
        overlap->none_ns += ns;
        add_parts(overlap, overlap->none_parts, from, now);
        sweep->gap.from_ns = sweep->gap.from_ns ? sweep->gap.from_ns : from;
        sweep->gap.to_ns = now;
    }
    if (sweep->active == 1 && sweep->alive - sweep->launching > 1 && !overlap->teams[only].launches) {
        overlap->teams[only].alone_ns += ns;
        if (sweep->alone.from_ns && sweep->alone.team != only)
            end_span(&sweep->alone, &overlap->alone);
        sweep->alone = (struct dft_overlap_span){sweep->alone.from_ns ? sweep->alone.from_ns : from, now, only};
    } else if (sweep->active) {
        end_span(&sweep->alone, &overlap->alone);
    }
}

/* --- points ----------------------------------------------------------------------------------- */

static int is_active(const struct dft_sweep_crew *crew)
{
    return crew->computing || crew->in_io;
}

/* Puts a lane's new state into its team, and that of its team into the job. */
static void put_state(struct dft_overlap_sweep *sweep, uint32_t number, uint64_t now, const struct dft_sweep_lane *next)
{
    struct dft_sweep_lane *lane = &sweep->lanes[number];
    uint32_t of = sweep->overlap->processes[number].team;
    struct dft_sweep_crew *crew = &sweep->crews[of];
    int active = is_active(crew), alive = crew->alive != 0, goes_on;

    if (lane->computes == next->computes && lane->is_in_io == next->is_in_io && lane->is_alive == next->is_alive &&
        lane->waits == next->waits && lane->idles == next->idles && lane->loads == next->loads)
        return;
    settle_team(sweep, of, now);
    crew->computing += (uint32_t)next->computes - lane->computes;
    crew->in_io += (uint32_t)next->is_in_io - lane->is_in_io;
    crew->alive += (uint32_t)next->is_alive - lane->is_alive;
    crew->waiting += (uint32_t)next->waits - lane->waits;
    crew->idling += (uint32_t)next->idles - lane->idles;
    crew->loading += (uint32_t)next->loads - lane->loads;
    goes_on = active == is_active(crew) && alive == (crew->alive != 0);
    if (goes_on)
        return;
    settle_job(sweep, now);
    sweep->alive += (uint32_t)(crew->alive != 0) - (uint32_t)alive;
    if (sweep->overlap->teams[of].launches)
        sweep->launching += (uint32_t)(crew->alive != 0) - (uint32_t)alive;
    sweep->active += (uint32_t)is_active(crew) - (uint32_t)active;
    sweep->active_sum += ((uint64_t)is_active(crew) - (uint64_t)active) * of;
}

/* A scope's times are those of its team at its end less those at its start. Unsigned sums may
 * wrap. */
static void put_scope(struct dft_overlap_sweep *sweep, uint32_t number, uint64_t now, int ends)
{
    struct dft_overlap_scope *scope = &sweep->overlap->scopes[number];
    const struct dft_overlap_team *team = &sweep->overlap->teams[scope->team];
    uint64_t sign = ends ? 1 : UINT64_MAX;

    settle_team(sweep, scope->team, now);
    scope->times.compute_ns += sign * team->times.compute_ns;
    scope->times.io_ns += sign * team->times.io_ns;
    scope->times.hidden_ns += sign * team->times.hidden_ns;
    scope->data_ns += sign * team->data_ns;
}

void dft_overlap_sweep_point(struct dft_overlap_sweep *sweep, const struct dft_timed *point)
{
    uint32_t what = point->item >> 1, number = point->group;
    int ends = point->item & 1, has_compute = sweep->overlap->has_compute, is_trainer;
    const struct dft_overlap *overlap = sweep->overlap;
    struct dft_sweep_lane *lane, next;

    if (what == DFT_BUSY_SCOPE) {
        put_scope(sweep, number, point->time, ends);
        return;
    }
    lane = &sweep->lanes[number];
    settle_process(sweep, number, point->time);
    next = *lane;
    next.level[what] += ends ? UINT32_MAX : 1;
    sweep->overlap->processes[number].items += what == DFT_BUSY_ITEM && !ends;
    next.is_alive = next.level[DFT_BUSY_ALIVE] != 0;
    next.is_in_io = next.level[DFT_BUSY_IO] != 0;
    is_trainer = dft_overlap_is_trainer(overlap, &overlap->processes[number]);
    next.waits = is_trainer && next.level[DFT_BUSY_DATA];
    next.computes = has_compute
                        ? next.level[DFT_BUSY_COMPUTE] != 0
                        : next.is_alive && !next.is_in_io && !next.level[DFT_BUSY_WAIT] && !next.level[DFT_BUSY_DATA];
    next.idles = is_trainer && next.is_alive && !next.computes && !next.is_in_io;
    next.loads = !is_trainer && next.level[DFT_BUSY_ITEM];
    put_state(sweep, number, point->time, &next);
    *lane = next;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Estimates from rows may come to more than there is. */
static void finish(struct dft_overlap_times *times)
{
    uint64_t busy;

    if (times->hidden_ns > times->io_ns)
        times->hidden_ns = times->io_ns;
    times->exposed_ns = times->io_ns - times->hidden_ns;
    busy = times->compute_ns + times->exposed_ns;
    times->idle_ns = times->wall_ns > busy ? times->wall_ns - busy : 0;
}

void dft_overlap_sweep_finish(struct dft_overlap_sweep *sweep)
{
    struct dft_overlap *overlap = sweep->overlap;

    end_span(&sweep->gap, &overlap->gap);
    end_span(&sweep->alone, &overlap->alone);
    for (uint32_t i = 0; i < overlap->nprocesses; i++) {
        const struct dft_overlap_process *process = &overlap->processes[i];
        struct dft_overlap_team *team = &overlap->teams[process->team];

        finish(&overlap->processes[i].times);
        if (dft_overlap_is_trainer(overlap, process))
            continue;
        team->items += process->items;
        team->item_ns += process->item_ns;
        team->item_io_ns += process->item_io_ns;
    }
    for (uint32_t i = 0; i < overlap->nscopes; i++)
        finish(&overlap->scopes[i].times);
    for (uint32_t i = 0; i < overlap->nteams; i++) {
        const struct dft_overlap_times *times = &overlap->teams[i].times;

        finish(&overlap->teams[i].times);
        overlap->all.wall_ns += times->wall_ns;
        overlap->all.compute_ns += times->compute_ns;
        overlap->all.io_ns += times->io_ns;
        overlap->all.hidden_ns += times->hidden_ns;
        overlap->all.exposed_ns += times->exposed_ns;
        overlap->all.idle_ns += times->idle_ns;
    }
}
