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

/** Durations that are counted: `counts` by bin, and the least and the longest where the data know them. */
export class Durations {
    constructor(sub) {
        this.sub = sub;
        this.counts = new Float64Array(BINS);
        [this.least, this.most] = [Infinity, -Infinity];
    }

    /** Counts row I of a table of histograms. */
    add(cube, i) {
        const bin = Math.min(BINS - 1, cube.bin[i]);

        this.counts[bin] += cube.n[i];
        if (cube.least?.[i]) this.least = Math.min(this.least, bounds(bin)[0] + cube.least[i] - 1);
        if (cube.most?.[i]) this.most = Math.max(this.most, bounds(bin)[0] + cube.most[i] - 1);
    }

    /** Counts all that OTHER has counted. */
    merge(other) {
        for (let bin = 0; bin < BINS; bin++) this.counts[bin] += other.counts[bin];
        this.least = Math.min(this.least, other.least);
        this.most = Math.max(this.most, other.most);
    }

    get total() {
        return this.counts.reduce((sum, count) => sum + count, 0);
    }

    /** The middle of the bin of a percentile, but no more than the longest, and no less than the least duration. */
    percentile(percent, total) {
        const rank = Math.max(1, Math.ceil((percent * total) / 100));
        let seen = 0,
            bin = 0;

        for (; bin < BINS && (seen += this.counts[bin]) < rank; bin++);
        const [low, high] = bounds(Math.min(bin, BINS - 1), this.sub);
        const middle = low + Math.floor((high - low) / 2);
        return this.least <= this.most ? Math.min(Math.max(middle, this.least), this.most) : middle;
    }

    /** Percentiles PERCENTS; null where nothing was counted. */
    percentiles(percents) {
        const total = this.total;

        return percents.map((percent) => (total ? this.percentile(percent, total) : null));
    }
}

/** The octave of a bin: its durations are below 2^(octave + 1), and at least 2^octave. */
export function octaveOf(bin) {
    return bin < 32 ? Math.floor(Math.log2(Math.max(1, bin))) : Math.floor(bin / 32) + 4;
}

/** More bins than any duration of 64 bits has. */
export const BINS = 32 * 60;
