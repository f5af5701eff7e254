// SPDX-License-Identifier: MIT
// Ranks x time as a heat map: colour is the logarithm of the time in calls, sums stand above and at the right.

import * as format from '../format.js';
import { hint, note, stage } from './canvas.js';
import { fromCell, heatNumbers } from './heat_numbers.js';
import { AXIS, geometry, LEGEND, paintHeat, placeOf, shade, TOP, whole } from './heat_paint.js';
import { hasCube, nameOf, otherNumbers, stateOf, windowShare } from './parts.js';
import { moved, zoomed } from './span.js';

const TALL = 420,
    SMALL = 150;

const nouns = (run) => (run.who === 'process' ? ['process', 'processes'] : ['rank', 'ranks']);

function sentence(view, numbers) {
    const { run } = view;
    const { largest, total, rows, idle } = numbers;
    const [one, many] = nouns(run);

    if (!largest) return `No ${one} is in a call here.`;
    if (rows.length === 1)
        return `${format.ns(total)} in ${numbers.is_io ? 'I/O' : 'calls'}, most of it at ${format.at(numbers.busiest * numbers.width_ns - run.start_ns)}.`;
    const mean = total / rows.length;
    const part = `, ${format.factor(largest.ns / mean)} the mean and ${format.share(largest.ns, total)} of all`;
    const when = ` Most is under way at ${format.at(numbers.busiest * numbers.width_ns - run.start_ns)}.`;
    const still = idle
        ? ` ${format.count(idle)} of ${format.counted(rows.length, one, many)} ${idle === 1 ? 'does' : 'do'} nothing.`
        : '';
    return `Longest in ${numbers.is_io ? 'I/O' : 'calls'} is ${nameOf(run, largest.p)}: ${format.ns(largest.ns)}${part}.${when}${still}`;
}

/* The zoom is forgotten when other times or rows are chosen; when the run grows it stays. */
function zoomOf(view, numbers) {
    const state = stateOf(view, 'heat');
    const key = `${view.filter.t} ${view.filter.p && numbers.rows.join()}`;
    const all = { cols: [0, numbers.columns], rows: [0, Math.max(1, numbers.rows.length)] };

    if (state.key !== key || !state.isZoomed) Object.assign(state, { key, isZoomed: false, cursor: null, ...all });
    state.cols = moved(state.cols, all.cols, 0);
    state.rows = moved(state.rows, all.rows, 0);
    return state;
}

/* The lowest and highest cell of both runs: they share the scale. */
function scaleOf(...all) {
    const low = Math.min(...all.map(({ lowest }) => lowest)),
        high = Math.max(...all.map(({ highest }) => highest));
    return high ? [Math.max(Math.min(low, high - 1), high - 60), high] : [0, 1];
}

/* The largest row, and the most at a time, of both runs. */
function mostOf(...all) {
    return {
        row: Math.max(0, ...all.map(({ largest }) => largest?.ns ?? 0)),
        rate: Math.max(0, ...all.map((one) => one.by_time.reduce((a, b) => Math.max(a, b), 0) / one.width_ns)),
    };
}

/* The cell at a place: column and row of the numbers; folded rows give the largest one. */
function cellAt(g, numbers, x, y) {
    const cols = whole(g.cols),
        rows = whole(g.rows);
    const col = Math.floor(cols[0] + ((x - g.left) / g.wide) * (cols[1] - cols[0]));
    const per = (rows[1] - rows[0]) / g.high;
    const first = Math.floor(rows[0] + (y - g.top) * per);

    if (x < g.left || y < g.top || col < cols[0] || col >= cols[1] || first >= Math.min(rows[1], numbers.rows.length))
        return null;
    let row = first;
    const last = Math.min(numbers.rows.length, Math.max(first + 1, Math.floor(first + per)));
    for (let i = first; i < last; i++)
        if (numbers.cells[i * numbers.columns + col] > numbers.cells[row * numbers.columns + col]) row = i;
    return { col, row, folded: last - first };
}

function tipOf(view, numbers, cell, scale) {
    const { run, colours } = view;
    const q = numbers.cells[cell.row * numbers.columns + cell.col];
    const from = (numbers.from + cell.col) * numbers.width_ns - run.start_ns;
    const ns = fromCell(q);
    return [
        nameOf(run, numbers.rows[cell.row]),
        ['time', `${format.at(from)}, ${format.ns(numbers.width_ns)} long`],
        [
            numbers.is_io ? 'in I/O' : 'in calls',
            q ? `about ${format.ns(Math.round(ns))}` : 'nothing',
            `rgb(${colours.heat[shade(scale, q)]})`,
        ],
        q ? ['at a time', (ns / numbers.width_ns).toPrecision(2)] : null,
        ['this row', format.ns(numbers.by_row[cell.row])],
        cell.folded > 1 ? `the largest of ${format.count(cell.folded)} that share this line` : null,
    ];
}

/* The change that chooses columns [c0, c1) of rows [r0, r1). */
function changeOf(view, numbers, [c0, c1], [r0, r1]) {
    const scale = numbers.width_ns / view.run.time.width_ns;
    const from = Math.floor((numbers.from + c0) * scale),
        to = Math.ceil((numbers.from + c1) * scale);
    const change = {};

    if (c0 > 0 || c1 < numbers.columns) change.t = [from, Math.min(view.run.time.count, Math.max(from + 1, to))];
    if (r0 > 0 || r1 < numbers.rows.length) change.p = numbers.rows.slice(r0, r1);
    return change;
}

/* Columns and rows between two places on the canvas. */
function boxOf(g, a, b) {
    const clamp = (value) => Math.min(1, Math.max(0, value));
    const span = ([from, to], low, high) => whole([from + clamp(low) * (to - from), from + clamp(high) * (to - from)]);
    const x = [a.x, b.x].sort((p, q) => p - q),
        y = [a.y, b.y].sort((p, q) => p - q);
    return [
        span(whole(g.cols), (x[0] - g.left) / g.wide, (x[1] - g.left) / g.wide),
        span(whole(g.rows), (y[0] - g.top) / g.high, (y[1] - g.top) / g.high),
    ];
}

function keys(view, numbers, state, it, g, scale) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    return (event) => {
        const at = (state.cursor ??= [0, 0]);
        if (step[event.key]) {
            const by = event.shiftKey ? 10 : 1;
            at[0] = Math.max(0, Math.min(numbers.columns - 1, at[0] + by * step[event.key][0]));
            at[1] = Math.max(0, Math.min(numbers.rows.length - 1, at[1] + by * step[event.key][1]));
            const { x, y } = placeOf(g(), at);
            it().tip(x + 10, y + 10, tipOf(view, numbers, { col: at[0], row: at[1], folded: 1 }, scale));
        } else if (event.key === 'Enter') {
            view.select(changeOf(view, numbers, [at[0], at[0] + 1], [at[1], at[1] + 1]), event.shiftKey);
        } else if (event.key === '+' || event.key === '-') {
            zoomBoth(state, numbers, at[0] + 0.5, at[1] + 0.5, event.key === '+' ? 0.5 : 2);
        } else if (event.key === 'Escape' && state.isZoomed) {
            state.isZoomed = false;
            zoomOf(view, numbers);
        } else {
            return false;
        }
        it().repaint();
        return true;
    };
}

function zoomBoth(state, numbers, col, row, factor) {
    state.isZoomed = true;
    state.cols = zoomed(state.cols, [0, numbers.columns], col, factor, Math.min(8, numbers.columns));
    state.rows = zoomed(
        state.rows,
        [0, Math.max(1, numbers.rows.length)],
        row,
        factor,
        Math.min(4, Math.max(1, numbers.rows.length)),
    );
}

/* What answers to the pointer: `at` finds the cell, `chart.place` says where the map is. */
function actions(view, numbers, chart) {
    const { state } = chart;
    const at = (x, y) => cellAt(chart.place(chart.it), numbers, x, y);

    return {
        move: (x, y) => {
            const cell = at(x, y);
            chart.it.tip(x, y, cell && tipOf(view, numbers, cell, chart.scale));
        },
        drag: (from, to, isDone) => {
            chart.box = isDone === false ? [from, to] : null;
            chart.it.tip(0, 0, null);
            chart.it.repaint();
            if (isDone) view.select(changeOf(view, numbers, ...boxOf(chart.place(chart.it), from, to)));
        },
        click: (x, y, event) => {
            const cell = at(x, y);
            if (cell) view.select({ p: [numbers.rows[cell.row]] }, event.shiftKey);
        },
        wheel: (x, y, event) => {
            const cell = at(x, y);
            if (!cell) return false;
            const [from, to] = state.rows,
                by = ((to - from) / 10) * Math.sign(event.deltaY || event.deltaX);
            if (event.shiftKey) state.rows = moved(state.rows, [0, numbers.rows.length], by);
            else zoomBoth(state, numbers, cell.col, cell.row, event.deltaY > 0 ? 1.25 : 0.8);
            chart.it.repaint();
            return true;
        },
    };
}

function draw(element, view, numbers) {
    const state = zoomOf(view, numbers),
        others = otherNumbers(view, heat),
        share = windowShare(view);
    const map = Math.max(64, Math.min(view.small ? SMALL : TALL, numbers.rows.length * 18));
    const chart = { state, it: null, box: null, scale: scaleOf(numbers, ...others), most: mostOf(numbers, ...others) };

    chart.place = (it) => geometry(it, state, share, view, numbers.rows);
    stage(element, {
        label: sentence(view, numbers),
        height: TOP + map + AXIS + LEGEND,
        state,
        ...actions(view, numbers, chart),
        paint: (it) => {
            chart.it = it;
            paintHeat(view, numbers, chart, it);
        },
        key: keys(
            view,
            numbers,
            state,
            () => chart.it,
            () => chart.place(chart.it),
            chart.scale,
        ),
    });
    if (numbers.rows.length > map)
        note(element, `${format.count(numbers.rows.length)} rows share ${map} lines: each shows the largest.`);
    if (!view.small) hint(element, 'Drag to choose time and rows, wheel (after a click) to zoom, Escape to see all.');
}

const heat = {
    id: 'heat',
    title: 'Who does I/O, and when',
    axes: ['t', 'p'],
    lacks: (run) =>
        hasCube(run, ['t', 'p']) || (run.heat && run.has(run.heat.table))
            ? null
            : 'The data have no table of time and processes: they were thinned out.',
    isFor: (run) => run.extent.p > 1,
    completeness: (view, numbers) =>
        numbers.source === 'table' ? 'times of rows are sums of cells, each within a tenth' : '',
    numbers: heatNumbers,
    sentence,
    draw,
};

export default heat;
