// SPDX-License-Identifier: MIT
// Calls that are in flight, or were when their processes were killed: no event tells of them, as they have no end.

import * as format from '../format.js';
import { shortOf } from './folder.js';
import { passing } from './parts.js';

/**
 * Calls in flight of chosen rows of p: `[{p, lane, start_ns, dur_ns, name, text}]`; LANE is -1 where the thread has
 * none. None under a filter of times, calls or files.
 */
export function flightsOf(view) {
    const { run, filter } = view;
    const wanted = passing(view, 'p', run.extent.p);
    const { process = [], tid = [] } = run.table('lanes');
    const { pid = [], p: owner = [] } = run.table('processes');
    const { name: names, is_region: isRegion } = run.table('calls');
    const base = Number(run.base_ns);
    const laneOf = (flight) => {
        for (let lane = 0; lane < process.length; lane++)
            if (tid[lane] === flight.tid && pid[process[lane]] === flight.pid) return lane;
        return -1;
    };

    if (filter.t || filter.c || filter.f) return [];
    return (run.summary.in_flight ?? [])
        .filter(({ name }) => !isRegion[[...names].indexOf(name)])
        .map((flight) => ({
            p: owner[[...pid].indexOf(flight.pid)] ?? -1,
            lane: laneOf(flight),
            start_ns: Math.max(0, flight.ts - base),
            dur_ns: flight.for_ns ?? 0,
            name: flight.name,
            text: flight.file ? `${flight.name} of ${format.path(shortOf(run, flight.file), 40)}` : flight.name,
        }))
        .filter(({ p }) => wanted[p]);
}
