// SPDX-License-Identifier: MIT
// Compute, hidden and exposed I/O and idle time of each rank as a bar, the one with the most exposed I/O first.

import * as format from '../format.js';
import { cut, cutName } from './canvas.js';
import { list } from './list.js';
import { stateOf } from './parts.js';

const ROW = 20,
    MOST_ROWS = 16,
    FEW_ROWS = 4,
    RIGHT = 110;

/** Words and colours of the parts of a bar. */
export const shadesOf = (colours) => [
    ['compute', colours.compute],
    ['hidden I/O', colours.hidden],
    ['exposed I/O', colours.exposed],
    ['idle', colours.idle],
];

const partsOf = (bar) => [bar.compute - bar.hidden, bar.hidden, bar.exposed, bar.idle];
const sumOf = (bar) => partsOf(bar).reduce((a, b) => a + b, 0);

function paintRow(view, it, bar, y, longest) {
    const { context, width } = it;
    const { colours } = view;
    const left = width < 520 ? 76 : 110,
        wide = Math.max(20, width - left - RIGHT);
    const end = bar.hidden > 0 ? `${format.share(bar.hidden, bar.io)} hidden` : `${format.ns(bar.exposed)} exposed`;
    let x = left;

    partsOf(bar).forEach((ns, part) => {
        context.fillStyle = shadesOf(colours)[part][1];
        context.fillRect(x, y + 3, (ns / longest) * wide, ROW - 6);
        x += (ns / longest) * wide;
    });
    context.fillStyle = colours.text;
    context.textAlign = 'right';
    context.fillText(cutName(context, bar.name, left - 8), left - 6, y + ROW / 2);
    context.textAlign = 'left';
    context.fillStyle = colours.dim;
    context.fillText(cut(context, end, RIGHT - 10), width - RIGHT + 8, y + ROW / 2);
}

/** Draws the bars of NUMBERS into ELEMENT, on one scale with those of OTHERS. */
export function overlapBars(element, view, numbers, others) {
    const { bars } = numbers;
    const longest = Math.max(1, ...[numbers, ...others].flatMap((one) => one.bars.map(sumOf)));
    const shades = shadesOf(view.colours);

    list(element, {
        label: bars
            .slice(0, MOST_ROWS)
            .map((bar) => `${bar.name}: ${format.ns(bar.exposed)} exposed`)
            .join('; '),
        count: bars.length,
        high: ROW,
        most: view.small ? FEW_ROWS : MOST_ROWS,
        state: stateOf(view, 'overlap bars'),
        font: view.colours.font,
        edge: view.colours.text,
        paintRow: (it, i, y) => paintRow(view, it, bars[i], y, longest),
        tipOf: (i) => [
            bars[i].name,
            ...partsOf(bars[i]).map((ns, part) => [shades[part][0], format.ns(ns), shades[part][1]]),
            bars[i].data ? ['waiting for data', format.ns(bars[i].data)] : null,
        ],
        choose: (i, add) => {
            const p = bars[i].rank === null ? -1 : [...view.run.table('who').rank].indexOf(bars[i].rank + 1);
            if (p >= 0 && view.run.who === 'rank') view.select({ p: [p] }, add);
        },
    });
}
