// SPDX-License-Identifier: MIT
// Ranks x time as a heat map: colour is the logarithm of the time in calls, sums stand above and at the right.

import { timeAxis } from '../draw.js';
import * as format from '../format.js';
import { cut, note, stage } from './canvas.js';
import { fold, fromCell, heatNumbers } from './heat_numbers.js';
import { hasCube, nameOf, otherNumbers, stateOf, windowShare } from './parts.js';
import { moved, zoomed } from './span.js';

const TOP = 46,
    AXIS = 22,
    LEGEND = 24;

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

/* Where what is: the map lies between the names at the left and the sums at the right. */
function geometry(it, state, share) {
    const isNarrow = it.width < 520;
    const left = isNarrow ? 58 : 92,
        right = isNarrow ? 44 : 96;
    return {
        left,
        top: TOP,
        wide: (it.width - left - right) * share,
        high: it.height - TOP - AXIS - LEGEND,
        right,
        ...state,
    };
}

/* The zoom is forgotten when other times or rows are chosen; when the run grows it stays. */
function zoomOf(view, numbers) {
    const state = stateOf(view.run, 'heat');
    const key = `${view.filter.t} ${view.filter.p && numbers.rows.join()}`;
    const all = { cols: [0, numbers.columns], rows: [0, Math.max(1, numbers.rows.length)] };

    if (state.key !== key || !state.isZoomed) Object.assign(state, { key, isZoomed: false, cursor: null, ...all });
    state.cols = moved(state.cols, all.cols, 0);
    state.rows = moved(state.rows, all.rows, 0);
    return state;
}

const whole = ([from, to]) => [Math.floor(from), Math.max(Math.floor(from) + 1, Math.ceil(to))];

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

const shade = (scale, q) => Math.max(0, Math.min(255, Math.round(((q - scale[0]) / (scale[1] - scale[0])) * 255)));

function paintCells(it, g, numbers, scale, heat) {
    const cols = whole(g.cols),
        rows = whole(g.rows);
    const wide = Math.max(1, Math.min(cols[1] - cols[0], Math.floor(g.wide * it.ratio)));
    const high = Math.max(1, Math.min(rows[1] - rows[0], Math.floor(g.high * it.ratio)));
    const cells = fold(numbers, [rows[0], Math.min(rows[1], numbers.rows.length)], cols, wide, high);
    const image = new ImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const table = Uint32Array.from({ length: 256 }, (_, q) => {
        const [red, green, blue] = heat[shade(scale, q)];
        return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });

    for (let i = 0; i < cells.length; i++) if (cells[i]) pixels[i] = table[cells[i]];
    const buffer = document.createElement('canvas');
    buffer.width = wide;
    buffer.height = high;
    buffer.getContext('2d').putImageData(image, 0, 0);
    it.context.imageSmoothingEnabled = false;
    it.context.drawImage(buffer, g.left, g.top, g.wide, g.high);
}

/* Sums over time above, with the largest at its height. */
function paintTop(it, g, numbers, colours, most) {
    const [from, to] = whole(g.cols);
    const { context } = it;
    const high = TOP - 16;
    const sums = new Float64Array(Math.max(1, Math.min(to - from, Math.floor(g.wide))));

    for (let i = from; i < to; i++) {
        const at = Math.floor(((i - from) * sums.length) / (to - from));
        sums[at] = Math.max(sums[at], numbers.by_time[i]);
    }
    context.fillStyle = colours.accent;
    const step = g.wide / sums.length;
    sums.forEach((sum, i) => {
        const size = most.rate ? (sum / numbers.width_ns / most.rate) * high : 0;
        context.fillRect(g.left + i * step, TOP - 4 - size, Math.max(1, step - (step > 4 ? 1 : 0)), size);
    });
    context.fillStyle = colours.dim;
    context.textAlign = 'left';
    const highest = sums.reduce((a, b) => Math.max(a, b), 0);
    context.fillText(
        cut(context, `all together: at most ${format.ns(highest)} in ${format.ns(numbers.width_ns)}`, g.wide),
        g.left,
        6,
    );
}

/* Sums of rows at the right; the largest row has its name. */
function paintRight(it, g, numbers, view, most) {
    const [from, to] = whole(g.rows);
    const { context } = it;
    const { colours } = view;
    const x = g.left + g.wide + 6,
        wide = g.right - 10;
    const lines = Math.max(1, Math.min(to - from, Math.floor(g.high)));
    const sums = new Float64Array(lines);

    for (let row = from; row < Math.min(to, numbers.rows.length); row++) {
        const at = Math.floor(((row - from) * lines) / (to - from));
        sums[at] = Math.max(sums[at], numbers.by_row[row]);
    }
    const step = g.high / lines;
    sums.forEach((ns, i) => {
        const isMost = ns > 0 && ns === numbers.largest.ns && numbers.rows.length > 1;
        context.fillStyle = isMost ? colours.bad : colours.accent;
        context.fillRect(
            x,
            g.top + i * step,
            most.row ? (ns / most.row) * wide : 0,
            Math.max(isMost ? 2 : 1, step - (step > 4 ? 1 : 0)),
        );
    });
    if (numbers.largest && numbers.rows.length > 1) {
        context.fillStyle = colours.bad;
        context.textAlign = 'right';
        context.fillText(cut(context, nameOf(view.run, numbers.largest.p), wide + 6), x + wide + 4, TOP - 22);
        context.fillText(cut(context, format.ns(numbers.largest.ns), wide + 6), x + wide + 4, TOP - 9);
    }
}

function paintNames(it, g, numbers, view) {
    const [from, to] = whole(g.rows);
    const { context } = it;
    const size = g.high / (to - from);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, 15 / size)));
    const each = [1, 2, 5, 10].map((step) => step * power).find((step) => step * size >= 15) ?? 1;
    const base = (each - ((numbers.rows[from] ?? 0) % each)) % each;

    context.fillStyle = view.colours.dim;
    context.textAlign = 'right';
    for (let row = from + base; row < Math.min(to, numbers.rows.length); row += each)
        context.fillText(
            cut(context, nameOf(view.run, numbers.rows[row]), g.left - 10),
            g.left - 6,
            g.top + (row - from + 0.5) * size,
        );
    context.textAlign = 'left';
}

function paintLegend(it, g, scale, colours) {
    const { context } = it;
    const wide = Math.min(180, it.width / 4),
        y = it.height - LEGEND + 8;
    const x = it.width - wide - 70;

    for (let i = 0; i < wide; i++) {
        context.fillStyle = `rgb(${colours.heat[Math.floor((i / wide) * 255)]})`;
        context.fillRect(x + i, y, 1.5, 9);
    }
    context.fillStyle = colours.dim;
    context.textAlign = 'right';
    context.fillText(format.ns(Math.round(fromCell(scale[0]))), x - 6, y + 5);
    context.textAlign = 'left';
    context.fillText(cut(context, format.ns(Math.round(fromCell(scale[1]))), 60), x + wide + 6, y + 5);
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

function placeOf(g, [col, row]) {
    const cols = whole(g.cols),
        rows = whole(g.rows);
    const w = g.wide / (cols[1] - cols[0]),
        h = g.high / (rows[1] - rows[0]);
    return { x: g.left + (col - cols[0]) * w, y: g.top + (row - rows[0]) * h, w: Math.max(3, w), h: Math.max(3, h) };
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

function frame(it, g, colours, state, box) {
    const { context } = it;
    context.strokeStyle = colours.line;
    context.strokeRect(g.left - 0.5, g.top - 0.5, g.wide + 1, g.high + 1);
    if (state.cursor && document.activeElement === it.canvas) {
        const { x, y, w, h } = placeOf(g, state.cursor);
        context.strokeStyle = colours.text;
        context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    }
    if (box) {
        context.fillStyle = colours.accent;
        context.globalAlpha = 0.2;
        context.fillRect(box[0].x, box[0].y, box[1].x - box[0].x, box[1].y - box[0].y);
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.strokeRect(box[0].x, box[0].y, box[1].x - box[0].x, box[1].y - box[0].y);
    }
}

function paint(view, numbers, chart, it) {
    const { state, scale, most } = chart;
    const { colours } = view;
    const g = chart.place(it);

    it.context.font = colours.font;
    paintCells(it, g, numbers, scale, colours.heat);
    paintTop(it, g, numbers, colours, most);
    paintRight(it, g, numbers, view, most);
    paintNames(it, g, numbers, view);
    if (numbers.total) paintLegend(it, g, scale, colours);
    frame(it, g, colours, state, chart.box);
    const [from, to] = whole(state.cols).map((col) => (numbers.from + col) * numbers.width_ns - view.run.start_ns);
    timeAxis(it.context, { x: g.left, width: g.wide, y: g.top + g.high + 1, from, to, colours });
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
    const map = Math.max(64, Math.min(420, numbers.rows.length * 18));
    const chart = { state, it: null, box: null, scale: scaleOf(numbers, ...others), most: mostOf(numbers, ...others) };

    chart.place = (it) => geometry(it, state, share);
    stage(element, {
        label: sentence(view, numbers),
        height: TOP + map + AXIS + LEGEND,
        state,
        ...actions(view, numbers, chart),
        paint: (it) => {
            chart.it = it;
            paint(view, numbers, chart, it);
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
    note(
        element,
        (numbers.rows.length > map
            ? `${format.count(numbers.rows.length)} rows share ${map} lines: each shows the largest. `
            : '') + 'Drag to choose time and rows, wheel (after a click) to zoom, Escape to see all.',
    );
}

const heat = {
    id: 'heat',
    title: 'Who does I/O, and when',
    axes: ['t', 'p'],
    lacks: (run) =>
        hasCube(run, ['t', 'p']) || (run.heat && run.has(run.heat.table))
            ? null
            : 'The data have no table of time and processes: they were thinned out.',
    completeness: (view, numbers) =>
        numbers.source === 'table' ? 'times of rows are sums of cells, each within a tenth' : '',
    numbers: heatNumbers,
    sentence,
    draw,
};

export default heat;
