// SPDX-License-Identifier: MIT
// Rows of the timeline from top to bottom: a head for each row of p with its density, and below it its lanes. A row of
// p with one lane has one row: the lane, with the density below its calls.

import { above } from './span.js';

export const HEAD = 24,
    LINE = 14,
    GAP = 3,
    STRIP = 10;
const DEEPEST = 7;

/** The lanes of each row of p. */
export function lanesByRow({ lanes }) {
    const byRow = new Map();

    for (const lane of lanes)
        if (byRow.has(lane.p)) byRow.get(lane.p).push(lane);
        else byRow.set(lane.p, [lane]);
    return byRow;
}

/**
 * Rows with their places: `{kind: 'head' | 'lane', p, lane, y, high, strip, isFirst}`, ends in `ends`, and the height of
 * all. `strip` is how high the density below the calls of a lane is. `isFirst`: it has the name of its row of p, as no
 * head stands above it.
 */
export function rowsOfTimeline(view, numbers, only) {
    const { depth } = view.run.table('slices');
    const { start, rows: slices } = numbers.by_lane;
    const rows = [];
    let y = 0;
    const add = (row) => {
        rows.push({ ...row, y });
        y += row.high;
    };
    const depthOf = (lane) => {
        let deep = 0;
        for (let i = start[lane]; i < start[lane + 1]; i++) deep = Math.max(deep, depth[slices[i]]);
        return Math.min(deep, DEEPEST);
    };
    const lanes = lanesByRow(numbers);

    for (const p of numbers.order) {
        const own = lanes.get(p) ?? [],
            isAlone = own.length === 1,
            hasHead = only || (numbers.density && !isAlone);
        const strip = isAlone && numbers.density ? STRIP : 0;
        if (hasHead) add({ kind: 'head', p, lane: -1, high: HEAD, strip: 0, isFirst: false });
        if (only) continue;
        own.forEach(({ lane }, i) => {
            const high = (depthOf(lane) + 1) * LINE + strip + GAP;
            add({ kind: 'lane', p, lane, high, strip, isFirst: !hasHead && !i });
        });
    }
    return { rows, ends: rows.map((row) => row.y + row.high), high: y };
}

/** The rows that lie between Y and Y + HIGH. */
export function visible(layout, y, high) {
    const first = above(layout.ends, y);
    let last = first;

    while (last < layout.rows.length && layout.rows[last].y < y + high) last++;
    return layout.rows.slice(first, last);
}

/** The slice at time NS, within SLACK, in the line DEPTH of a lane: the shortest that has it, else the nearest; -1 for none. */
export function sliceAt(table, by_lane, lane, ns, depth, slack) {
    let best = -1,
        cost = Infinity;

    for (let i = by_lane.start[lane]; i < by_lane.start[lane + 1]; i++) {
        const row = by_lane.rows[i];
        if (Math.min(table.depth[row], DEEPEST) !== depth) continue;
        const start = table.start_ns[row],
            end = start + table.dur_ns[row];
        const far = ns < start ? start - ns : ns > end ? ns - end : 0;
        if (far > slack) continue;
        const price = far * 1e6 + table.dur_ns[row];
        if (price < cost) [best, cost] = [row, price];
    }
    return best;
}

export const lineOf = (depth) => Math.min(depth, DEEPEST);
