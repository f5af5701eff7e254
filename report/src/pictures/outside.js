// SPDX-License-Identifier: MIT
// The time that processes spend outside of calls: one rule for all pictures that speak of it.

import { IO, WAIT } from '../classes.js';
import * as format from '../format.js';

/** Of VALUES by class, or by row and class those of ROW, the sum of what is I/O. */
export const inIo = (values, row = 0) => IO.reduce((sum, kind) => sum + values[row * 7 + kind], 0);

/** What a time of I/O is a share of: PART of the lives of COUNT processes, in words: "27.4 % of all processes". */
export const shareOf = ({ filter }, part, lives_ns, count) =>
    `${format.share(part, lives_ns)} of ${count === 1 ? 'the time' : filter.p ? 'these processes' : 'all processes'}`;

/**
 * Of TIMES by class and the LIFE of who spent them: `{io_ns, rest_ns, is_over}`, ns. What is neither I/O nor a wait is
 * the rest; `is_over` where threads that call together have more time than the process that they are of.
 */
export function outside(times, life_ns) {
    const io_ns = inIo(times);
    const used = io_ns + times[WAIT];

    return { io_ns, rest_ns: Math.max(0, life_ns - used), is_over: used > life_ns };
}

/**
 * Times by class of row P of `who`, or of all rows (null), from SUMS by p and class. FLIGHTS, calls in flight, are
 * waits.
 */
export function timesOf(sums, rows, p, flights = []) {
    const times = new Array(7).fill(0);

    for (let row = p ?? 0; row < (p === null ? rows : p + 1); row++)
        for (let kind = 0; kind < 7; kind++) times[kind] += sums.d[row * 7 + kind];
    for (const flight of flights) if (p === null || flight.p === p) times[WAIT] += flight.dur_ns;
    return times;
}
