// SPDX-License-Identifier: MIT
// Columns that several tables have.

import * as format from '../format.js';

const faintBelow = (values, row, largest) => (values[row] < largest / 1000 ? 'is-faint' : '');

/* The largest of VALUES: without a spread, which fails for long arrays. */
function largestOf(values) {
    let largest = 0;

    for (const value of values) if (value > largest) largest = value;
    return largest;
}

/** A column of counts, of times or of bytes: VALUES by row. Numbers below a thousandth of the largest are faint. */
export function numbers(title, values, text, more = {}) {
    const largest = largestOf(values);

    return {
        title,
        is_number: true,
        value: (row) => values[row],
        text: (row) => (values[row] ? text(values[row]) : '-'),
        css: (row) => faintBelow(values, row, largest),
        ...more,
    };
}

export const counts = (title, values, more) => numbers(title, values, format.count, more);
export const times = (title, values, more) =>
    numbers(title, values, format.ns, { csv: `${title}_ns`, width: 78, ...more });
export const bytes = (title, values, more) =>
    numbers(title, values, format.bytes, { csv: `${title}_bytes`, width: 78, ...more });

/** The share of VALUES of WHOLE, as a bar and as a number. */
export function shares(values, whole, colour) {
    return [
        {
            title: '',
            csv: 'share',
            is_minor: true,
            width: 90,
            is_number: true,
            value: (row) => values[row] / (whole || 1),
            share: (row) => values[row] / (whole || 1),
            colour: () => colour,
        },
        {
            title: '%',
            is_number: true,
            width: 54,
            value: (row) => (100 * values[row]) / (whole || 1),
            text: (row) => ((100 * values[row]) / (whole || 1)).toFixed(1),
        },
    ];
}

/** PARTS by COUNTS: the mean. */
export function means(title, parts, countsOf, text, more = {}) {
    return {
        title,
        is_number: true,
        width: 74,
        value: (row) => (countsOf[row] ? parts[row] / countsOf[row] : NaN),
        text: (row) => (countsOf[row] && parts[row] ? text(parts[row] / countsOf[row]) : '-'),
        ...more,
    };
}
