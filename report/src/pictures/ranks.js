// SPDX-License-Identifier: MIT
// Ranks from the one with the most I/O time down: stacked by class, with the median and how unequal they are.

import { IO, NAMES } from '../classes.js';
import * as format from '../format.js';
import { cut, cutName, hint, legend, note, stage } from './canvas.js';
import { list } from './list.js';
import { hasCube, nameOf, nameWidth, otherNumbers, stateOf } from './parts.js';
import { ranksNumbers } from './ranks_numbers.js';

const ROW = 19,
    PROFILE = 70,
    MOST_ROWS = 16,
    FEW = 24;

function sentence(view, numbers) {
    const { rows, slowest, median, imbalance, total } = numbers;
    if (!total) return `No ${view.run.who === 'process' ? 'process' : 'rank'} does I/O here.`;
    const share =
        slowest.life_ns && slowest.processes === 1 ? ` = ${format.share(slowest.io, slowest.life_ns)} of its time` : '';
    if (rows.length === 1) return `In I/O for ${format.ns(slowest.io)}${share}: ${nameOf(view.run, slowest.p)}.`;
    const verdict = imbalance < 0.1 ? 'All are alike; slowest is' : 'Slowest is';
    return (
        `${verdict} ${nameOf(view.run, slowest.p)}: ${format.ns(slowest.io)} in I/O${share}; ` +
        `the median is ${nameOf(view.run, median.p)}, ${format.ns(median.io)}` +
        `${median.io ? ` (${format.factor(slowest.io / median.io)})` : ''}; the mean is ${format.ns(numbers.mean)} (${format.factor(1 + imbalance)})` +
        `${baseText(view, numbers)}.`
    );
}

function baseText(view, numbers) {
    const [base] = otherNumbers(view, ranks);
    if (!base?.mean || !numbers.mean) return '';
    return `, in ${view.base.run.name} ${format.ns(base.mean)}`;
}

/* All rows as one profile, sorted: of more rows than pixels the largest is as high, with the mean of classes. */
function paintProfile(view, numbers, it, most) {
    const { context, width } = it;
    const { rows } = numbers;
    const columns = Math.min(rows.length, Math.floor(width)),
        wide = width / columns;

    for (let i = 0; i < columns; i++) {
        const first = Math.floor((i * rows.length) / columns),
            last = Math.max(first + 1, Math.floor(((i + 1) * rows.length) / columns));
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
    for (let x = 0; x < width; x += 7) context.fillRect(x, y, 4, 1);
    const median = ((rows.indexOf(numbers.median) + 0.5) / rows.length) * width;
    context.fillRect(median, PROFILE - 8, 1.5, 8);
    context.textAlign = 'center';
    context.fillText('median', Math.max(22, Math.min(width - 22, median)), Math.min(y - 8, PROFILE - 14));
    context.textAlign = 'right';
    context.fillText(cut(context, `mean ${format.ns(numbers.mean)}`, width), width - 4, Math.max(7, y - 8));
    context.textAlign = 'left';
}

const titleOf = (view, row, chart) =>
    nameOf(view.run, row.p) + (row === chart.median && chart.rows.length > 2 ? '  median' : '');

function paintRow(view, it, row, y, chart) {
    const { context, width } = it;
    const { colours } = view;
    const left = (chart.left ??= nameWidth(
            it,
            chart.rows.slice(0, 500).map((one) => titleOf(view, one, chart)),
        )),
        right = 76;
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
    const title = titleOf(view, row, chart);
    context.fillStyle = row === chart.slowest && chart.rows.length > 1 ? colours.bad : colours.text;
    context.textAlign = 'right';
    context.fillText(cutName(context, title, left - 8), left - 6, y + ROW / 2);
    context.textAlign = 'left';
    context.fillStyle = colours.dim;
    context.fillText(cut(context, format.ns(row.io), right - 8), width - right + 8, y + ROW / 2);
}

function tipOf(view, row, base) {
    return [
        nameOf(view.run, row.p),
        ...IO.filter((kind) => row.classes[kind]).map((kind) => [
            NAMES[kind],
            format.ns(row.classes[kind]),
            view.colours.classes[kind],
        ]),
        ['I/O', format.ns(row.io)],
        row.life_ns && row.processes === 1 ? ['of its time', format.share(row.io, row.life_ns)] : null,
        base !== undefined ? [`I/O in ${view.base.run.name}`, format.ns(base)] : null,
    ];
}

function profileOf(element, view, numbers, chart) {
    let shown = null;
    const rowAt = (x) => numbers.rows[Math.floor((x / shown.width) * numbers.rows.length)];
    stage(element, {
        label: `All ${numbers.rows.length}, sorted`,
        height: PROFILE + 2,
        state: stateOf(view, 'ranks profile'),
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
            if (rowAt(x)) view.select({ p: [rowAt(x).p] }, event.shiftKey);
        },
    });
}

/* All rows, sorted. */
function listOf(element, view, numbers, chart) {
    const { rows } = numbers;

    list(element, {
        label: sentence(view, numbers),
        count: rows.length,
        high: ROW,
        most: MOST_ROWS,
        state: stateOf(view, 'ranks'),
        font: view.colours.font,
        edge: view.colours.text,
        paintRow: (it, i, y) => paintRow(view, it, rows[i], y, chart),
        tipOf: (i) => tipOf(view, rows[i], chart.base?.get(rows[i].label)),
        choose: (i, add) => view.select({ p: [rows[i].p] }, add),
    });
}

function draw(element, view, numbers) {
    const others = otherNumbers(view, ranks);
    const [base] = others;
    const chart = {
        ...numbers,
        most: Math.max(1, ...[numbers, ...others].map(({ slowest }) => slowest?.io ?? 0)),
        base: base && new Map(base.rows.map((row) => [row.label, row.io])),
    };
    if (numbers.rows.length > FEW) profileOf(element, view, numbers, chart);
    listOf(element, view, numbers, chart);
    const used = IO.filter((kind) => numbers.rows.some(({ classes }) => classes[kind]));
    legend(
        element,
        used.map((kind) => [NAMES[kind], view.colours.classes[kind]]),
    );
    const mark = base ? `The mark on a bar is the same one in ${view.base.run.name}.` : '';
    if (mark) note(element, mark);
    hint(
        element,
        `A click chooses, with shift it adds.${numbers.rows.length > MOST_ROWS ? ' Scroll to see all.' : ''}`,
    );
}

const ranks = {
    id: 'ranks',
    title: 'Imbalance',
    axes: ['p', 'class'],
    lacks: (run) => (!hasCube(run, ['p', 'class']) ? 'The data have no table of processes and calls.' : null),
    isFor: (run) => run.extent.p > 1,
    numbers: ranksNumbers,
    sentence,
    draw,
};

export default ranks;
