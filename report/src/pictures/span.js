// SPDX-License-Identifier: MIT
// Spans that are zoomed and moved, and a search in ascending values.

/** A span [lo, hi] within [least, most], zoomed around AT by FACTOR, no shorter than SHORTEST. */
export function zoomed([lo, hi], [least, most], at, factor, shortest) {
    const length = Math.min(most - least, Math.max(shortest, (hi - lo) * factor));
    const share = hi > lo ? (at - lo) / (hi - lo) : 0.5;
    return moved([at - share * length, at + (1 - share) * length], [least, most], 0);
}

/** A span moved by BY, kept within [least, most]. */
export function moved([lo, hi], [least, most], by) {
    const length = Math.min(hi - lo, most - least);
    const from = Math.max(least, Math.min(most - length, lo + by));
    return [from, from + length];
}

/** The first index of ascending VALUES that is above VALUE. */
export function above(values, value) {
    let low = 0,
        high = values.length;

    while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}
