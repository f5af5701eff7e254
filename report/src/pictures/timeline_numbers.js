// SPDX-License-Identifier: MIT
// The numbers of the timeline: lanes by rank and process, slices of each lane, density of the calls that have no slice.

import { WAIT } from '../classes.js';
import { flightsOf } from './flights.js';
import { inIo, outside, timesOf } from './outside.js';
import { binsOf, filtered, grouped, hasCube, passing, rowsByClass, rowsOf, windowOf, withHidden } from './parts.js';

/** Rows of p that stand in their own order; more are sorted. */
export const FEW = 16;

/* Lanes of the chosen rows of `p`, in the order of rows, processes, threads: `{lane, p}`, ascending by p. */
function lanesOf(view) {
    const { process } = view.run.table('lanes');
    const owner = view.run.table('processes').p;
    const wanted = passing(view, 'p', view.run.extent.p);
    const lanes = [];
    for (let lane = 0; lane < (process?.length ?? 0); lane++)
        if (wanted[owner[process[lane]]]) lanes.push({ lane, p: owner[process[lane]] });
    return lanes.sort((a, b) => a.p - b.p || process[a.lane] - process[b.lane] || a.lane - b.lane);
}

/* Chosen rows of p from top to bottom: of few in their order, of many those with the most time in I/O first. */
function orderOf(view) {
    const rows = rowsOf(passing(view, 'p', view.run.extent.p));

    if (rows.length <= FEW) return rows;
    const { d } = view.sums(['p', 'class'], { columns: ['d'], without: ['p'] });
    const io = Float64Array.from({ length: view.run.extent.p }, (_, p) => inIo(d, p));

    return rows.sort((a, b) => io[b] - io[a] || a - b);
}

/* A byte for each slice: whether it passes the filter of calls and files, and touches the window. */
function passingSlices(view, slices, [from, to]) {
    const { c: calls, f: files } = view.filter;
    const { start_ns: start, dur_ns: dur, c, f } = slices;
    const out = new Uint8Array(slices.rows);
    for (let i = 0; i < out.length; i++)
        out[i] =
            start[i] < to && start[i] + dur[i] >= from && (!calls || calls[c[i]]) && (!files || files[f[i]]) ? 1 : 0;
    return out;
}

/* Rows of the cube that is the background, by row of p: `{start, rows, cube, ignored}`, null where no cube can be. */
function densityOf(view) {
    if (!hasCube(view.run, ['t', 'p'])) return null;
    const { cube, passes, ignored } = rowsByClass(view, ['t', 'p']);
    return { ...grouped(cube.p, view.run.extent.p, passes), cube, ignored };
}

/* The longest slice that is a call and not a wait, and the longest of all. */
function longest(view, slices, passes) {
    const { class: kinds, is_region: isRegion } = view.run.table('calls');
    let call = -1,
        any = -1;

    for (let i = 0; i < passes.length; i++) {
        if (!passes[i]) continue;
        if (any < 0 || slices.dur_ns[i] > slices.dur_ns[any]) any = i;
        const kind = kinds[slices.c[i]];
        if (!isRegion[slices.c[i]] && kind && kind !== WAIT && (call < 0 || slices.dur_ns[i] > slices.dur_ns[call]))
            call = i;
    }
    return call < 0 ? any : call;
}

/* The time of the chosen rows, and what of it is neither I/O nor a wait: that of "Where the time went". */
function restOf(view, flights) {
    const sums = view.sums(['p', 'class'], { columns: ['d'], without: ['c', 'f', 'g'] });
    const life_ns = view.lives().total;

    return { life_ns, rest_ns: outside(timesOf(sums, view.run.extent.p, null, flights), life_ns).rest_ns };
}

/* Threads of the chosen processes, also those of which no call is known one by one. */
function allThreads(view) {
    const { p, threads } = view.run.table('processes');
    const wanted = passing(view, 'p', view.run.extent.p);
    let sum = 0;

    for (let i = 0; i < (threads?.length ?? 0); i++) if (wanted[p[i]]) sum += threads[i];
    return sum;
}

export function timelineNumbers(view) {
    const { run } = view;
    const slices = run.table(run.slices?.table ?? 'slices');
    const lanes = lanesOf(view);
    const is_shown = new Uint8Array(run.table('lanes').rows);
    for (const { lane } of lanes) is_shown[lane] = 1;
    const window = windowOf(view);
    const passes = slices.rows ? passingSlices(view, slices, window) : new Uint8Array(0);
    let shown = 0;
    for (let i = 0; i < passes.length; i++) {
        passes[i] &= is_shown[slices.lane[i]];
        shown += passes[i];
    }
    const by_lane = grouped(slices.lane ?? [], run.table('lanes').rows, passes);
    const density = densityOf(view);
    const flights = flightsOf(view);
    return withHidden(
        {
            window,
            threads: lanes.length,
            all_threads: Math.max(lanes.length, allThreads(view)),
            shown,
            kept: run.slices?.kept ?? slices.rows,
            of: run.slices?.of ?? slices.rows,
            shortest_ns: run.slices?.shortest_ns ?? 0,
            ...restOf(view, flights),
            flights,
            longest: longest(view, slices, passes),
            ignored: [...new Set([...(density?.ignored ?? []), ...filtered(view, ['g'])])],
        },
        { lanes, by_lane, density, order: orderOf(view) },
    );
}
