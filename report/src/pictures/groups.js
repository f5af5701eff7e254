// SPDX-License-Identifier: MIT
// Sums for tables: of each row of a dimension its calls, time and bytes, of I/O and of all.

import { IO, READ, WAIT, WRITE } from '../classes.js';

/**
 * By row of DIM, as arrays: `calls failed time_ns bytes` of I/O, `read_bytes written_bytes wait_ns`, and `all_calls
 * all_failed all_ns all_bytes` of all classes, regions too. The filter of DIM itself is left out, so that more
 * rows can be chosen: see `chosenOf`.
 */
export function groupSums(view, dim) {
    const sums = view.sums([dim, 'class'], { columns: ['n', 'e', 'd', 'b'], without: [dim] });
    const rows = view.size(dim);
    const column = (values, kinds) => {
        const out = new Float64Array(rows);
        for (let row = 0; row < rows; row++) for (const kind of kinds) out[row] += values[row * 7 + kind];
        return out;
    };
    const all = [0, 1, 2, 3, 4, 5, 6];

    return {
        calls: column(sums.n, IO),
        failed: column(sums.e, IO),
        time_ns: column(sums.d, IO),
        bytes: column(sums.b, IO),
        read_bytes: column(sums.b, [READ]),
        written_bytes: column(sums.b, [WRITE]),
        wait_ns: column(sums.d, [WAIT]),
        all_calls: column(sums.n, all),
        all_failed: column(sums.e, all),
        all_ns: column(sums.d, all),
        all_bytes: column(sums.b, all),
        ignored: sums.ignored,
    };
}

/** VALUES of the rows of DIM that are chosen, 0 for others. */
export function chosenOf(view, dim, values) {
    const mask = view.filter[dim];

    return mask ? values.map((value, row) => (mask[row] ? value : 0)) : values;
}

/** The sum of an array. */
export function total(values) {
    let sum = 0;

    for (const value of values) sum += value;
    return sum;
}

/** Rows of which COUNTS is not zero. */
export function present(counts) {
    const rows = [];

    for (let row = 0; row < counts.length; row++) if (counts[row] > 0) rows.push(row);
    return rows;
}

/** The row of which VALUES has the most, -1 where all are zero. */
export function most(values) {
    let best = -1,
        value = 0;

    for (let row = 0; row < values.length; row++) if (values[row] > value) [best, value] = [row, values[row]];
    return best;
}
