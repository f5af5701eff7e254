// SPDX-License-Identifier: MIT
// Views of made runs for tests, with the raw columns behind them, and filters that are chosen at random.

import { decode, inflate } from '../src/data.js';
import { changed, everything } from '../src/filter.js';
import { View } from '../src/model.js';
import { made, runsOf } from './made.mjs';
import { random } from './small_run.mjs';

const kept = new Map();

/** The first run of the page NAME, decoded, and the raw columns that it was made of. */
export async function runOf(name) {
    if (!kept.has(name)) {
        const { runs } = decode(await inflate(made(name)));
        kept.set(name, { run: runs[0], raw: runsOf(name)[0] });
    }
    return kept.get(name);
}

/** A view of RUN under a change of the filter, as pictures choose. */
export const viewOf = (run, change = {}) => new View(run, changed(everything(), run, change), {});

/** Raw columns of the cube with exactly DIMS. */
export function rawCube(raw, dims) {
    const { table } = raw.cubes.find((cube) => cube.dims.join() === dims.join());
    return Object.fromEntries(Object.entries(raw.tables[table]).map(([name, [, values]]) => [name, values]));
}

/** Raw columns of a table. */
export const rawTable = (raw, name) =>
    Object.fromEntries(Object.entries(raw.tables[name]).map(([column, [, values]]) => [column, values]));

/** COUNT changes of the filter of DIMS, the same each time. */
export function changes(run, dims, count, seed = 1) {
    const next = random(seed);
    const some = (size) => Array.from({ length: 1 + Math.floor(next() * 3) }, () => Math.floor(next() * size));
    return Array.from({ length: count }, () => {
        const change = {};
        for (const dim of dims) {
            if (next() < 0.4 || !run.extent[dim]) continue;
            if (dim === 't') {
                const from = Math.floor(next() * run.extent.t);
                change.t = [from, Math.min(run.extent.t, from + 1 + Math.floor(next() * 60))];
            } else {
                change[dim] = [...new Set(some(run.extent[dim]))];
            }
        }
        return change;
    });
}

/** Whether VALUE is in a change's list for DIM, by its name in the run: names that are equal are one choice. */
export function isIn(run, change, dim, value) {
    if (!change[dim]) return true;
    if (dim === 't') return value >= change.t[0] && value < change.t[1];
    if (dim === 'c') {
        const { cat, name } = run.table('calls');
        return change.c.some((c) => cat[c] === cat[value] && name[c] === name[value]);
    }
    return change[dim].includes(value);
}
