// SPDX-License-Identifier: MIT
// Two runs in one table: rows that both have, or one of them, and columns with their differences.

import * as format from '../format.js';
import { bytes, counts, times } from './columns.js';

/**
 * Rows of two runs matched by their key. SIDES: `{view, numbers, rows, keyOf(row)}`, the base first. Each row of the
 * answer is `{key, rows: [row of the base, row of the other]}`, -1 where a run lacks it; `column(name, side)` has the
 * numbers of a side by row of the answer, 0 where it lacks them.
 */
export function union(sides) {
    const byKey = new Map();

    sides.forEach(({ rows, keyOf }, side) =>
        rows.forEach((row) => {
            const key = keyOf(row);
            if (!byKey.has(key)) byKey.set(key, { key, rows: [-1, -1] });
            byKey.get(key).rows[side] = row;
        }),
    );
    const rows = [...byKey.values()];
    const column = (name, side) =>
        Float64Array.from(rows, (row) => (row.rows[side] < 0 ? 0 : sides[side].numbers[name][row.rows[side]]));
    return { rows, column };
}

/* Holds a number of B against that of A; "" where they are about the same. */
const ratioText = (a, b) => (Math.abs(b - a) <= 0.02 * a ? '' : format.change(a, b));

/** Names of the runs for titles of columns. */
export const namesOf = (view, base) => [base.run.name || 'A', view.run.name || 'B'].map((name) => format.cut(name, 8));

/** Columns of both runs side by side: make(title, values, more) makes one. */
export function pair(joint, [a, b], make, title, name, more) {
    return [make(`${title} ${a}`, joint.column(name, 0), more), make(`${title} ${b}`, joint.column(name, 1), more)];
}

/** Columns of the difference, the factor and both times: the difference first, so that a phone shows it. */
export function differences(joint, names) {
    const [timeA, timeB] = [joint.column('time_ns', 0), joint.column('time_ns', 1)];
    const difference = timeB.map((value, i) => value - timeA[i]);
    const side = (i) => (ratioText(timeA[i], timeB[i]) === '' ? '' : difference[i] > 0 ? 'worse' : 'better');

    return [
        {
            title: 'difference',
            csv: 'difference_ns',
            width: 104,
            is_number: true,
            help: 'the largest change first, in either direction',
            value: (i) => difference[i],
            order: (i) => Math.abs(difference[i]),
            css: side,
            text: (i) => (side(i) ? (difference[i] > 0 ? '+' : '') + format.ns(difference[i]) : ''),
        },
        {
            title: 'factor',
            width: 70,
            is_number: true,
            value: (i) => timeB[i] / timeA[i],
            css: side,
            text: (i) => ratioText(timeA[i], timeB[i]),
        },
        ...pair(joint, names, times, 'time', 'time_ns', { width: 86 }),
    ];
}

/** Columns of calls and of bytes of both runs. */
export const countsOfBoth = (joint, names) => pair(joint, names, counts, 'calls', 'calls', { width: 92 });
export const bytesOfBoth = (joint, names) => pair(joint, names, bytes, 'bytes', 'bytes', { width: 84, is_minor: true });

/** "read differs most: 66.9 us in B, 73.9 ms in A.": the row with the largest difference, by its NAME(row). */
export function differenceText(joint, [a, b], name) {
    const [timeA, timeB] = [joint.column('time_ns', 0), joint.column('time_ns', 1)];
    let at = -1,
        most = 0;

    timeA.forEach((value, i) => {
        if (Math.abs(timeB[i] - value) > most) [at, most] = [i, Math.abs(timeB[i] - value)];
    });
    if (at < 0) return '';
    return `${name(joint.rows[at])} differs most: ${format.ns(timeB[at])} in ${b}, ${format.ns(timeA[at])} in ${a}.`;
}
