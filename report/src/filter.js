// SPDX-License-Identifier: MIT
// What is chosen, in words that hold for each run (times from its start, texts), and as rows of one run.

import { NAMES, WORDS } from './classes.js';

/** The dimensions that a filter can choose values of. */
export const DIMS = ['t', 'p', 'c', 'g', 'f'];

/** No filter: all that is in the data. `t` is [from, to) in ns from the start of the run. */
export function everything() {
    return { t: null, p: new Set(), c: new Set(), g: new Set(), f: new Set() };
}

export function isEmpty(filter) {
    return !filter.t && DIMS.slice(1).every((dim) => !filter[dim].size);
}

const nameOfCall = (calls, row) => `${calls.cat[row]}:${calls.name[row]}`;

/** The text that stands for row ROW of dimension DIM in the filter. */
export function keyOf(run, dim, row) {
    switch (dim) {
        case 'p':
            return run.table('who').label[row];
        case 'c':
            return nameOfCall(run.table('calls'), row);
        case 'g':
            return run.table('regions').name[row];
        default:
            return run.table('files').path[row];
    }
}

/* Rows of DIM that the filter chooses, a byte for each; null where all are chosen. Class words choose calls. */
function mask(run, filter, dim) {
    const chosen = filter[dim];

    if (!chosen.size) return null;
    const rows = new Uint8Array(run.extent[dim]);
    const classes = dim === 'c' ? run.table('calls').class : null;
    for (let row = 0; row < rows.length; row++)
        rows[row] = +(chosen.has(keyOf(run, dim, row)) || (classes !== null && chosen.has(WORDS[classes[row]])));
    return rows;
}

/* Classes that the filter chooses, a byte for each; null where it chooses single calls, or nothing. */
function classMask(filter) {
    const words = [...filter.c];

    return words.length && words.every((word) => WORDS.includes(word))
        ? Uint8Array.from(WORDS, (word) => +filter.c.has(word))
        : null;
}

/** The bins of RUN that the time range covers, at least one; null where all are chosen. */
export function binsOf(run, range) {
    if (!range) return null;
    const { width_ns: width, count } = run.time;
    const from = Math.min(Math.max(0, Math.round((range[0] + run.start_ns) / width)), Math.max(0, count - 1));
    const to = Math.round((range[1] + run.start_ns) / width);
    return [from, Math.max(from + 1, Math.min(to, count))];
}

/**
 * FILTER as rows of RUN: `t` [from, to) in bins, the others a byte a row; null where all are chosen. `i`: the classes,
 * where the filter of calls chooses whole classes alone.
 */
export function resolve(run, filter) {
    const rows = { t: binsOf(run, filter.t) };

    for (const dim of DIMS.slice(1)) rows[dim] = mask(run, filter, dim);
    rows.i = classMask(filter);
    rows.chosen = DIMS.filter((dim) => rows[dim]);
    return rows;
}

/* The set SET with KEYS chosen: they alone, or (ADD) each of them turned. Choosing what is chosen frees it. */
function turned(set, keys, add) {
    if (!add) return keys.length === set.size && keys.every((key) => set.has(key)) ? new Set() : new Set(keys);
    const next = new Set(set);
    for (const key of keys) if (!next.delete(key)) next.add(key);
    return next;
}

/**
 * FILTER changed as somebody who looks at RUN asks: `t: [from, to)` in bins, `p c g f: [row, ...]`,
 * `class: [word, ...]`,
 * each null to free it. ADD adds to what is chosen, and takes away what was.
 */
export function changed(filter, run, change, add = false) {
    const next = { ...filter };

    for (const [dim, value] of Object.entries(change)) {
        if (dim === 't') {
            const width = run.time.width_ns;
            next.t = value && [value[0] * width - run.start_ns, value[1] * width - run.start_ns];
        } else if (dim === 'class') {
            next.c = turned(filter.c, value ?? [], add);
        } else if (dim in next) {
            next[dim] = value
                ? turned(
                      filter[dim],
                      value.map((row) => keyOf(run, dim, row)),
                      add,
                  )
                : new Set();
        }
    }
    return next;
}

/** The name of the values of DIM, for texts. */
export function dimName(run, dim) {
    return { t: 'time range', p: run.who === 'process' ? 'processes' : 'ranks', c: 'calls', g: 'regions', f: 'files' }[
        dim
    ];
}

/** Names of DIMS, in a text. */
export function dimNames(run, dims) {
    return dims.map((dim) => dimName(run, dim)).join(', ');
}

/** A value of the filter as people read it. */
export function keyText(dim, key) {
    if (dim === 'c') return WORDS.includes(key) ? NAMES[WORDS.indexOf(key)] : key.slice(key.indexOf(':') + 1);
    if (key === '') return dim === 'g' ? '(no region)' : dim === 'f' ? '(other files)' : '(no name)';
    return key;
}
