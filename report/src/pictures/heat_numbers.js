// SPDX-License-Identifier: MIT
// The numbers of the heat map: cells as logarithms, exact sums of both margins.

import { binsOf, filtered, greatest, hasCube, ioTest, passing, rowsByClass, rowsOf } from './parts.js';

/* A cell of q means about 2^((q - 1) / 4) ns, as in the table `heat`. */
export const toCell = (ns) => (ns > 0 ? Math.max(1, Math.min(255, 1 + Math.round(4 * Math.log2(ns)))) : 0);
export const fromCell = (q) => (q ? 2 ** ((q - 1) / 4) : 0);

export function heatNumbers(view) {
    return hasCube(view.run, ['t', 'p']) ? fromCube(view) : fromTable(view);
}

function frame(view, rows, from, to) {
    return {
        rows,
        from,
        to,
        columns: to - from,
        width_ns: view.run.time.width_ns,
        cells: new Uint8Array(rows.length * (to - from)),
        by_time: new Float64Array(to - from),
        by_row: new Float64Array(rows.length),
    };
}

function finish(numbers, more) {
    const at = greatest(numbers.by_row);
    let total = 0;
    let idle = 0;
    for (const ns of numbers.by_row) {
        total += ns;
        idle += ns === 0;
    }
    const most = greatest(numbers.by_time);
    const largest = at < 0 ? null : { p: numbers.rows[at], ns: numbers.by_row[at] };
    let lowest = 255,
        highest = 0;
    for (let i = 0; i < numbers.cells.length; i++) {
        const q = numbers.cells[i];
        if (q && q < lowest) lowest = q;
        if (q > highest) highest = q;
    }
    const margins = { by_time: [...numbers.by_time], by_row: [...numbers.by_row] };
    return {
        ...numbers,
        ...margins,
        ...more,
        total,
        idle,
        lowest,
        highest,
        largest,
        busiest: most < 0 ? null : numbers.from + most,
    };
}

function fromCube(view) {
    const [from, to] = binsOf(view);
    const passes = passing(view, 'p', view.run.extent.p);
    const rows = rowsOf(passes);
    const place = new Int32Array(passes.length).fill(-1);
    rows.forEach((p, i) => {
        place[p] = i;
    });
    const out = frame(view, rows, from, to);
    const sums = new Float32Array(out.cells.length);
    const answer = rowsByClass(view, ['t', 'p']);
    const { cube } = answer;
    const counts = ioTest(view, cube);
    for (let i = 0; i < answer.count; i++) {
        if (!answer.passes[i] || !cube.w[i] || !counts(i)) continue;
        const row = place[cube.p[i]];
        const bin = cube.t[i] - from;
        if (row < 0 || bin < 0 || bin >= out.columns) continue;
        sums[row * out.columns + bin] += cube.w[i];
        out.by_time[bin] += cube.w[i];
        out.by_row[row] += cube.w[i];
    }
    for (let i = 0; i < sums.length; i++) if (sums[i]) out.cells[i] = toCell(sums[i]);
    return finish(out, { source: 'cube', is_io: Boolean(cube.class), ignored: answer.ignored });
}

function fromTable(view) {
    const { run } = view;
    const { q } = run.table(run.heat.table);
    const columns = run.heat.columns;
    const [first, last] = binsOf(view);
    const scale = run.time.width_ns / run.heat.width_ns;
    const from = Math.min(columns - 1, Math.floor(first * scale));
    const to = Math.max(from + 1, Math.min(columns, Math.ceil(last * scale)));
    const out = frame(view, rowsOf(passing(view, 'p', run.heat.rows)), from, to);
    out.width_ns = run.heat.width_ns;
    const values = Float64Array.from({ length: 256 }, (_, cell) => fromCell(cell));
    out.rows.forEach((p, row) => {
        for (let bin = 0; bin < out.columns; bin++) {
            const cell = q[p * columns + from + bin];
            if (!cell) continue;
            out.cells[row * out.columns + bin] = cell;
            out.by_time[bin] += values[cell];
            out.by_row[row] += values[cell];
        }
    });
    return finish(out, { source: 'table', is_io: true, ignored: filtered(view, ['c', 'g', 'f']) });
}

/* Folds the cells [r0, r1) x [c0, c1) into `high` x `wide` by the largest one; idle rows are skipped. */
export function fold(numbers, [r0, r1], [c0, c1], wide, high) {
    const out = new Uint8Array(wide * high);
    const { cells, columns, by_row } = numbers;
    const target = Uint32Array.from({ length: c1 - c0 }, (_, i) => Math.floor((i * wide) / (c1 - c0)));
    for (let row = r0; row < r1; row++) {
        if (!by_row[row]) continue;
        const line = Math.floor(((row - r0) * high) / (r1 - r0)) * wide;
        const at = row * columns + c0;
        for (let i = 0; i < target.length; i++) {
            const to = line + target[i];
            if (cells[at + i] > out[to]) out[to] = cells[at + i];
        }
    }
    return out;
}
