// SPDX-License-Identifier: MIT
// A run under the filter: which cube answers a picture, which of its rows pass, and sums of them.

import { resolve } from './filter.js';

const SUMS = ['n', 'e', 'd', 'b', 'w'];

/* Does SET know AXIS? The axis `class` is the dimension `i`, or the class of `c`. */
function knows(set, axis) {
    return set.dims.includes(axis) || (axis === 'class' && (set.dims.includes('c') || set.dims.includes('i')));
}

/**
 * Can SET answer for AXES, where WANTED are dimensions that are asked about? Sets with `f` or `k` lack calls without a
 * file or a stack, so they answer only where these are asked for.
 */
export function answers(set, axes, wanted = new Set(axes)) {
    return (
        axes.every((axis) => knows(set, axis)) && ['f', 'k'].every((dim) => wanted.has(dim) || !set.dims.includes(dim))
    );
}

/* Can SET be filtered by DIM? Whole classes can be told where calls cannot. */
function filters(set, dim, filter) {
    return set.dims.includes(dim) || (dim === 'c' && filter.i !== null && set.dims.includes('i'));
}

/* The set of rows that answers: it has AXES, and as many of the CHOSEN dimensions as any; of those the smallest. */
function choose(sets, axes, chosen, filter) {
    const wanted = new Set([...axes, ...chosen]);
    let best = null,
        cost = null;

    for (const set of sets) {
        if (!answers(set, axes, wanted)) continue;
        const price = [chosen.filter((dim) => !filters(set, dim, filter)).length, set.rows];
        const better = best === null ? 1 : price.findIndex((value, i) => value !== cost[i]);
        if (best === null || (better >= 0 && price[better] < cost[better])) [best, cost] = [set, price];
    }
    return best;
}

/* A byte for each row: whether DIMS of the filter let it pass. */
function passing(columns, count, rows, dims) {
    const passes = new Uint8Array(count).fill(1);

    for (const dim of dims) {
        const values = columns[dim];
        if (dim === 't') {
            const [from, to] = rows.t;
            for (let i = 0; i < count; i++) passes[i] &= +(values[i] >= from && values[i] < to);
        } else {
            const mask = rows[dim];
            for (let i = 0; i < count; i++) passes[i] &= mask[values[i]];
        }
    }
    return passes;
}

const NOTHING = {
    cube: Object.fromEntries([...'tpcgfksi', 'class', ...SUMS, 'bin'].map((name) => [name, new Float64Array(0)])),
    count: 0,
    passes: new Uint8Array(0),
    ignored: [],
    sub: 32,
};

/**
 * One run under the filter. Answers are kept: a view lives until the filter or the data change. SMALL: what its pictures
 * stand below, drawn small; "" for those that are cards.
 */
export class View {
    constructor(run, filter, { select = () => {}, colours = null, small = '' } = {}) {
        this.run = run;
        this.filter = resolve(run, filter);
        this.chosen = filter;
        this.select = select;
        this.colours = colours;
        this.base = null;
        this.small = small;
        this.kept = new Map();
    }

    /* What MAKE returns, made once for KEY. */
    keep(key, make) {
        if (!this.kept.has(key)) this.kept.set(key, make());
        return this.kept.get(key);
    }

    answer(kind, axes, { without = [] } = {}) {
        const chosen = this.filter.chosen.filter((dim) => !without.includes(dim));
        const set = choose(this.run[kind], axes, chosen, this.filter);

        if (!set) return { ...NOTHING, ignored: chosen };
        const dims = chosen
            .map((dim) => (dim === 'c' && !set.dims.includes('c') && this.filter.i ? 'i' : dim))
            .filter((dim) => set.dims.includes(dim));
        const ignored = chosen.filter((dim) => !filters(set, dim, this.filter));
        return this.keep(`${set.name} ${dims}`, () => {
            const cube = set.columns();
            return { cube, count: set.rows, passes: passing(cube, set.rows, this.filter, dims), ignored, sub: set.sub };
        });
    }

    /** Rows of the cube that answers for AXES; the filter of dimensions in `without` is left out on purpose. */
    rows(axes, options) {
        return this.answer('cubes', axes, options);
    }

    /** The same of histograms: columns `bin` and `n`, and `sub`. */
    latency(axes, options) {
        return this.answer('latency', axes, options);
    }

    /** How many values an axis has. */
    size(axis) {
        return axis === 'class' ? 7 : this.run.extent[axis];
    }

    /** Numbers of the page, made once for each picture. */
    numbers(picture) {
        return this.keep(`numbers ${picture.id}`, () => picture.numbers(this));
    }

    /**
     * Sums of columns (n e d b w) over rows that pass, by one or two axes: `{n, e, d, b, w, ignored, shape}`; the index
     * of an array is `first * shape[1] + second`. The axis `class` is the
     * class of calls.
     */
    sums(axes, { columns = SUMS, without = [] } = {}) {
        return this.keep(`sums ${axes} ${columns} ${without}`, () => {
            const { cube, count, passes, ignored } = this.rows(axes, { without });
            const shape = axes.map((axis) => this.size(axis));
            const answer = { ignored, shape };
            const index = this.indexes(axes, cube, count);

            for (const column of columns) {
                const sums = new Float64Array(shape.reduce((product, size) => product * size, 1));
                const values = cube[column];
                if (values) for (let i = 0; i < count; i++) if (passes[i]) sums[index[i]] += values[i];
                answer[column] = sums;
            }
            return answer;
        });
    }

    /* For each row of CUBE the place of its sums. */
    indexes(axes, cube, count) {
        const index = new Int32Array(count);

        for (const axis of axes) {
            const size = this.size(axis),
                values = cube[axis];

            for (let i = 0; i < count; i++) index[i] = index[i] * size + values[i];
        }
        return index;
    }

    /** The time range that is chosen, or all of it: [from, to) in ns after base. */
    range() {
        const { width_ns: width } = this.run.time;

        return this.filter.t
            ? this.filter.t.map((bin) => bin * width)
            : [this.run.start_ns, this.run.start_ns + this.run.wall_ns];
    }

    /**
     * The time that chosen processes lived, in the chosen range; `each`: by row of `who`. What execs goes on as another
     * row, and is not counted twice.
     */
    lives({ without = [] } = {}) {
        return this.keep(`lives ${without}`, () => {
            const processes = this.run.table('processes'),
                who = this.run.table('who');
            const rows = processes.rows ? processes : who;
            const each = new Float64Array(who.rows),
                mask = without.includes('p') ? null : this.filter.p;
            const [from, to] = this.filter.t ? this.range() : [-Infinity, Infinity];
            let total = 0,
                count = 0;

            for (let i = 0; i < rows.rows; i++) {
                const p = processes.rows ? rows.p[i] : i;
                if (mask && !mask[p]) continue;
                const start = rows.start_ns[i],
                    end = start + rows.life_ns[i];
                const lived = Math.max(0, Math.min(end, to) - Math.max(start, from));
                each[p] += lived;
                total += lived;
                count += +(processes.ended?.[i] !== 'exec');
            }
            return { total, count, each };
        });
    }
}
