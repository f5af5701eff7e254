// SPDX-License-Identifier: MIT
// Bins of durations: which bin a duration is in, the bounds of a bin, and percentiles by the rule of README.md.

/** The bin of a duration of NS. */
export function binOf(ns) {
    if (ns < 64) return Math.floor(ns);
    const e = Math.floor(Math.log2(ns)) - 5;
    const exact = ns >= 64 * 2 ** e ? e + 1 : ns < 32 * 2 ** e ? e - 1 : e;
    return 32 * exact + Math.floor(ns / 2 ** exact);
}

/** [low, high], inclusive, of BIN. Where SUB is 1 a bin stands for its whole octave. */
export function bounds(bin, sub = 32) {
    if (sub === 1) {
        const first = bin - (bin % 32);
        return first ? [bounds(first)[0], bounds(first + 31)[1]] : [0, 31];
    }
    if (bin < 64) return [bin, bin];
    const e = Math.floor(bin / 32) - 1;
    const low = (bin - 32 * e) * 2 ** e;
    return [low, low + 2 ** e - 1];
}

/** Percentiles PERCENTS of a histogram: `counts` by bin. Null of an empty one. */
export function percentiles(counts, sub, percents) {
    let total = 0;

    for (const count of counts) total += count;
    if (!total) return percents.map(() => null);
    return percents.map((percent) => {
        const rank = Math.max(1, Math.ceil((percent * total) / 100));
        let seen = 0,
            bin = 0;
        for (; bin < counts.length && (seen += counts[bin]) < rank; bin++);
        const [low, high] = bounds(Math.min(bin, counts.length - 1), sub);
        return low + Math.floor((high - low) / 2);
    });
}

/** The octave of a bin: its durations are below 2^(octave + 1), and at least 2^octave. */
export function octaveOf(bin) {
    return bin < 32 ? Math.floor(Math.log2(Math.max(1, bin))) : Math.floor(bin / 32) + 4;
}

/** More bins than any duration of 64 bits has. */
export const BINS = 32 * 60;
