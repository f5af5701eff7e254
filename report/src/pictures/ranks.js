// SPDX-License-Identifier: MIT
// Ranks from the one with the most I/O time down: stacked by class, with the median and how unequal they are.

import { IO, NAMES } from '../classes.js';
import * as format from '../format.js';
import { cut, legend, note, stage } from './canvas.js';
import { hasCube, nameOf, otherNumbers, stateOf } from './parts.js';
import { ranksNumbers } from './ranks_numbers.js';

const ROW = 19, PROFILE = 70, MOST_ROWS = 16, FEW = 24;

function sentence(view, numbers) {
    const { rows, slowest, median, imbalance, total } = numbers;
    if (!total)
        return `None of ${format.counted(rows.length, 'row')} does I/O here.`;
    const share = slowest.life_ns && slowest.processes === 1 ? ` = ${format.share(slowest.io, slowest.life_ns)} of its life` : '';
    if (rows.length === 1)
        return `In I/O for ${format.ns(slowest.io)}${share}: ${nameOf(view.run, slowest.p)}.`;
    const verdict = imbalance < 0.1 ? 'All are alike; slowest is' : 'Slowest is';
    return `${verdict} ${nameOf(view.run, slowest.p)}: ${format.ns(slowest.io)} in I/O${share}; the median is ${nameOf(view.run, median.p)}, ${format.ns(median.io)}` +
           `${median.io ? ` (${format.factor(slowest.io / median.io)})` : ''}; imbalance ${format.share(imbalance, 1)}` +
           `${baseText(view, numbers)}.`;
}

function baseText(view, numbers) {
    const [base] = otherNumbers(view, ranks);
    if (!base?.mean || !numbers.mean)
        return '';
    return `; the mean is ${format.ns(numbers.mean)}, in ${view.base.run.name} ${format.ns(base.mean)}`;
}

/* All rows as one profile, sorted: of more rows than pixels the largest is as high, with the mean of classes. */
function paintProfile(view, numbers, it, most) {
    const { context, width } = it;
    const { rows } = numbers;
    const columns = Math.min(rows.length, Math.floor(width)), wide = width / columns;

    for (let i = 0; i < columns; i++) {
        const first = Math.floor((i * rows.length) / columns), last = Math.max(first + 1, Math.floor(((i + 1) * rows.length) / columns));
        const classes = IO.map((kind) => rows.slice(first, last).reduce((sum, row) => sum + row.classes[kind], 0));
        const scale = (rows[first].io / (classes.reduce((a, b) => a + b, 0) || 1) / most) * (PROFILE - 6);
        let y = PROFILE;
        IO.forEach((kind, at) => {
            const high = classes[at] * scale;
            context.fillStyle = view.colours.classes[kind];
            context.fillRect(i * wide, y - high, Math.max(1, wide - (wide > 4 ? 1 : 0) + 0.2), high);
            y -= high;
        });
    }
    const y = PROFILE - (numbers.mean / most) * (PROFILE - 6);
    context.fillStyle = view.colours.text;
    for (let x = 0; x < width; x += 7)
        context.fillRect(x, y, 4, 1);
    const median = (rows.indexOf(numbers.median) + 0.5) / rows.length * width;
    context.fillRect(median, PROFILE - 8, 1.5, 8);
    context.textAlign = 'center';
    context.fillText('median', Math.max(22, Math.min(width - 22, median)), Math.min(y - 8, PROFILE - 14));
    context.textAlign = 'right';
    context.fillText(cut(context, `mean ${format.ns(numbers.mean)}`, width), width - 4, Math.max(7, y - 8));
    context.textAlign = 'left';
}

function paintRow(view, it, row, y, chart) {
    const { context, width } = it;
    const { colours } = view;
    const left = width < 520 ? 96 : 150, right = 76;
    const wide = Math.max(20, width - left - right);
    let x = left;

    for (const kind of IO) {
        const size = (row.classes[kind] / chart.most) * wide;
        context.fillStyle = colours.classes[kind];
        context.fillRect(x, y + 3, size, ROW - 6);
        x += size;
    }
    const base = chart.base?.get(row.label);
    if (base !== undefined) {
        context.fillStyle = colours.text;
        context.fillRect(left + (base / chart.most) * wide - 1, y + 1, 2, ROW - 2);
    }
    const title = nameOf(view.run, row.p) + (row === chart.median ? '  median' : '');
    context.fillStyle = row === chart.slowest ? colours.bad : colours.text;
    context.textAlign = 'right';
    context.fillText(cut(context, title, left - 8), left - 6, y + ROW / 2);
    context.textAlign = 'left';
    context.fillStyle = colours.dim;
    context.fillText(cut(context, format.ns(row.io), right - 8), width - right + 8, y + ROW / 2);
}

function tipOf(view, row, base) {
    return [nameOf(view.run, row.p), ...IO.filter((kind) => row.classes[kind]).map((kind) =>
        [NAMES[kind], format.ns(row.classes[kind]), view.colours.classes[kind]]), ['I/O', format.ns(row.io)],
            row.life_ns && row.processes === 1 ? ['of its life', format.share(row.io, row.life_ns)] : null,
            base !== undefined ? [`I/O in ${view.base.run.name}`, format.ns(base)] : null];
}

function profileOf(element, view, numbers, chart) {
    let shown = null;
    const rowAt = (x) => numbers.rows[Math.floor((x / shown.width) * numbers.rows.length)];
    stage(element, {
        label: `All ${numbers.rows.length}, sorted`, height: PROFILE + 2, state: stateOf(view.run, 'ranks profile'),
        paint: (it) => {
            shown = it;
            it.context.font = view.colours.font;
            paintProfile(view, numbers, it, chart.most);
        },
        move: (x, y) => {
            const row = rowAt(x);
            shown.tip(x, y, row && tipOf(view, row, chart.base?.get(row.label)));
        },
        click: (x, y, event) => {
            if (rowAt(x))
                view.select({ p: [rowAt(x).p] }, event.shiftKey);
        },
    });
}

/* The rows that are listed: all, sorted. Keys move a cursor over them. */
function listOf(element, view, numbers, chart) {
    const { rows } = numbers;
    const state = stateOf(view.run, 'ranks', { row: 0 });
    let shown = null;
    const rowAt = (y) => rows[Math.floor((y + shown.top) / ROW)];

    stage(element, {
        label: sentence(view, numbers), height: Math.min(rows.length, MOST_ROWS) * ROW, total: rows.length * ROW, state,
        paint: (it) => {
            shown = it;
            it.context.font = view.colours.font;
            for (let i = Math.floor(it.top / ROW); i < Math.min(rows.length, (it.top + it.height) / ROW); i++) {
                paintRow(view, it, rows[i], i * ROW - it.top, chart);
                if (i === state.row && document.activeElement === it.canvas) {
                    it.context.strokeStyle = view.colours.text;
                    it.context.strokeRect(0.5, i * ROW - it.top + 0.5, it.width - 1, ROW - 1);
                }
            }
        },
        move: (x, y) => {
            const row = rowAt(y);
            shown.tip(x, y, row && tipOf(view, row, chart.base?.get(row.label)));
        },
        click: (x, y, event) => {
            if (rowAt(y))
                view.select({ p: [rowAt(y).p] }, event.shiftKey);
        },
        key: (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -MOST_ROWS, PageDown: MOST_ROWS }[event.key];
            if (event.key === 'Enter' && rows[state.row])
                view.select({ p: [rows[state.row].p] }, event.shiftKey);
            if (!step)
                return event.key === 'Enter';
            state.row = Math.max(0, Math.min(rows.length - 1, state.row + step));
            if (state.row * ROW < shown.top || (state.row + 1) * ROW > shown.top + shown.height)
                shown.box.scrollTop = (state.row - MOST_ROWS / 2) * ROW;
            shown.repaint();
            return true;
        },
    });
}

function draw(element, view, numbers) {
    const others = otherNumbers(view, ranks);
    const [base] = others;
    const chart = {
        ...numbers, most: Math.max(1, ...[numbers, ...others].map(({ slowest }) => slowest?.io ?? 0)),
        base: base && new Map(base.rows.map((row) => [row.label, row.io])),
    };
    if (numbers.rows.length > FEW)
        profileOf(element, view, numbers, chart);
    listOf(element, view, numbers, chart);
    legend(element, IO.filter((kind) => numbers.rows.some(({ classes }) => classes[kind])).map((kind) => [NAMES[kind], view.colours.classes[kind]]));
    note(element, `${base ? `The mark on a bar is the same one in ${view.base.run.name}. ` : ''}Imbalance is how far the slowest is above the mean. ` +
         `A click chooses, with shift it adds.${numbers.rows.length > MOST_ROWS ? ' Scroll to see all.' : ''}`);
}

const ranks = {
    id: 'ranks', title: 'Imbalance', axes: ['p', 'c'],
    lacks: (run) => (!hasCube(run, ['p', 'c']) ? 'The data have no table of processes and calls.' : null),
    numbers: ranksNumbers, sentence, draw,
};

export default ranks;
