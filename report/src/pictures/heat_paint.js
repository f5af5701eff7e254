// SPDX-License-Identifier: MIT
// Paints the heat map: its cells, the sums above and at the right, names, colours, and the cursor.

import { timeAxis } from '../draw.js';
import * as format from '../format.js';
import { cut, cutName } from './canvas.js';
import { fold, fromCell } from './heat_numbers.js';
import { nameOf, nameWidth } from './parts.js';

export const TOP = 46,
    AXIS = 22,
    LEGEND = 24;

/**
 * Where what is: the map lies between the names at the left and the sums at the right. SHARE of the width is the map's.
 */
export function geometry(it, state, share, view, rows) {
    const isNarrow = it.width < 520,
        isAlone = rows.length < 2;
    const right = isAlone ? 20 : isNarrow ? 44 : 96;
    it.context.font = view.colours.font;
    it.names ??= nameWidth(
        it,
        rows.slice(0, 500).map((p) => nameOf(view.run, p)),
    );
    const left = isNarrow ? Math.min(80, it.names) : it.names;
    return {
        left,
        top: TOP,
        wide: (it.width - left - right) * share,
        high: it.height - TOP - AXIS - LEGEND,
        right,
        ...state,
    };
}

/** Whole cells of a range that may end within some. */
export const whole = ([from, to]) => [Math.floor(from), Math.max(Math.floor(from) + 1, Math.ceil(to))];

/** The place in the ramp of colours of a cell Q. */
export const shade = (scale, q) =>
    Math.max(0, Math.min(255, Math.round(((q - scale[0]) / (scale[1] - scale[0])) * 255)));

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
    if (numbers.rows.length < 2) return;
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
        const isMost = ns > 0 && ns === numbers.largest.ns;
        context.fillStyle = isMost ? colours.bad : colours.accent;
        context.fillRect(
            x,
            g.top + i * step,
            most.row ? (ns / most.row) * wide : 0,
            Math.max(isMost ? 2 : 1, step - (step > 4 ? 1 : 0)),
        );
    });
    if (numbers.largest) {
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
            cutName(context, nameOf(view.run, numbers.rows[row]), g.left - 10),
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

export function placeOf(g, [col, row]) {
    const cols = whole(g.cols),
        rows = whole(g.rows);
    const w = g.wide / (cols[1] - cols[0]),
        h = g.high / (rows[1] - rows[0]);
    return { x: g.left + (col - cols[0]) * w, y: g.top + (row - rows[0]) * h, w: Math.max(3, w), h: Math.max(3, h) };
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

/** Paints all of it. */
export function paintHeat(view, numbers, chart, it) {
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
