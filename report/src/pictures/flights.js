// SPDX-License-Identifier: MIT
// Calls that are in flight, or were when their processes were killed: no event tells of them, as they have no end.

import * as format from '../format.js';
import { shortOf } from './folder.js';
import { passing } from './parts.js';

/* The first row of each of VALUES. */
function rowsBy(values) {
    const rows = new Map();

    values.forEach((value, row) => rows.has(value) || rows.set(value, row));
    return rows;
}

/**
 * Calls in flight of chosen rows of p: `[{p, lane, start_ns, dur_ns, name, text}]`; LANE is -1 where the thread has
 * none. None under a filter of times, calls or files.
 */
export const flightsOf = (view) => view.keep('flights', () => made(view));

function made(view) {
    const { run, filter } = view;

    if (filter.t || filter.c || filter.f || !run.summary.in_flight?.length) return [];
    const wanted = passing(view, 'p', run.extent.p);
    const { process = [], tid = [] } = run.table('lanes');
    const { pid = [], p: owner = [] } = run.table('processes');
    const { name: names, is_region: isRegion } = run.table('calls');
    const base = Number(run.base_ns);
    const calls = rowsBy(names),
        processes = rowsBy(pid),
        lanes = rowsBy([...process].map((row, lane) => `${pid[row]} ${tid[lane]}`));

    return run.summary.in_flight
        .filter(({ name }) => !isRegion[calls.get(name)])
        .map((flight) => ({
            p: owner[processes.get(flight.pid)] ?? -1,
            lane: lanes.get(`${flight.pid} ${flight.tid}`) ?? -1,
            start_ns: Math.max(0, flight.ts - base),
            dur_ns: flight.for_ns ?? 0,
            name: flight.name,
            text: flight.file ? `${flight.name} of ${format.path(shortOf(run, flight.file), 40)}` : flight.name,
        }))
        .filter(({ p }) => wanted[p]);
}
