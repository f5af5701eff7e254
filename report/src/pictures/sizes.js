// SPDX-License-Identifier: MIT
// Sizes of accesses, by count and by time: what programs ask for is rarely what file systems are good at.

import { NAMES, READ, WORDS, WRITE } from '../classes.js';
import { el, tipOn } from '../draw.js';
import * as format from '../format.js';
import { legend } from '../legend.js';

const SHOWN = [READ, WRITE];

function half(view, row, column, text, scale) {
    const pieces = SHOWN.filter((kind) => row[column][WORDS[kind]] > 0).map((kind) =>
        tipOn(
            el('button', {
                'aria-label': `${row.name} ${NAMES[kind]}`,
                style: {
                    width: `${(100 * row[column][WORDS[kind]]) / scale}%`,
                    'min-width': '1px',
                    background: view.colours.classes[kind],
                },
                onclick: (event) => view.select({ class: [WORDS[kind]] }, event.shiftKey),
            }),
            () => [
                `${NAMES[kind]}, ${row.name}`,
                ['calls', format.count(row.calls[WORDS[kind]])],
                ['time', format.ns(row.time_ns[WORDS[kind]])],
                ['bytes', format.bytes(row.bytes[WORDS[kind]])],
                ['a call', format.ns(row.time_ns[WORDS[kind]] / row.calls[WORDS[kind]])],
            ],
        ),
    );

    return [el('div', { class: 'stack' }, ...pieces), el('span', { class: 'end' }, text)];
}

/* The first of two classes of 0 B has the calls of which the size is not known. */
const isUnknown = ({ sizes }, s) => s === 0 && sizes[1]?.to === 0;

const sum = (values) => SHOWN.reduce((all, kind) => all + values[WORDS[kind]], 0);
const most = (rows, column) => Math.max(0, ...rows.map((row) => sum(row[column])));

function largest(rows, column) {
    return rows.reduce((best, row) => (best && sum(best[column]) >= sum(row[column]) ? best : row), null);
}

export default {
    id: 'sizes',
    title: 'Sizes of accesses',
    axes: ['s', 'class'],
    is_narrow: true,
    lacks: (run) => (run.sizes.length ? null : 'These data do not know sizes of accesses.'),
    isFor: ({ summary }) => (summary.classes ?? []).some((one) => SHOWN.some((kind) => WORDS[kind] === one.class)),
    numbers(view) {
        const sums = view.sums(['s', 'class'], { columns: ['n', 'd', 'b'] });
        const by = (values, s) => Object.fromEntries(SHOWN.map((kind) => [WORDS[kind], values[s * 7 + kind]]));
        const rows = view.run.sizes.map((size, s) => ({
            ...size,
            name: isUnknown(view.run, s) ? 'not known' : format.sizeClass(size),
            calls: by(sums.n, s),
            time_ns: by(sums.d, s),
            bytes: by(sums.b, s),
        }));

        return { rows: rows.filter((row) => sum(row.calls) > 0), ignored: sums.ignored };
    },
    sentence(view, { rows }) {
        const calls = rows.reduce((all, row) => all + sum(row.calls), 0),
            time = rows.reduce((all, row) => all + sum(row.time_ns), 0);
        const count = largest(rows, 'calls'),
            cost = largest(rows, 'time_ns');

        if (!count) return 'Nothing was read or written.';
        return (
            `Most common: ${count.name}, ${format.share(sum(count.calls), calls)} of ` +
            `${format.counted(calls, 'read or write', 'reads and writes')}; ` +
            `most time: ${cost.name}, ${format.share(sum(cost.time_ns), time)} of ${format.ns(time)}.`
        );
    },
    draw(element, view, numbers) {
        if (!numbers.rows.length) return;
        const other = view.base?.numbers(this).rows ?? [];
        const calls = Math.max(most(numbers.rows, 'calls'), most(other, 'calls')) || 1;
        const time = Math.max(most(numbers.rows, 'time_ns'), most(other, 'time_ns')) || 1;

        element.append(
            legend(view, SHOWN),
            el(
                'div',
                { class: 'size-row is-head' },
                el('span', {}, 'bytes asked for'),
                el('span', {}, 'calls'),
                el('span'),
                el('span', {}, 'time'),
                el('span'),
            ),
            ...numbers.rows.map((row) =>
                el(
                    'div',
                    { class: 'size-row' },
                    el('span', {}, row.name),
                    ...half(view, row, 'calls', format.count(sum(row.calls)), calls),
                    ...half(view, row, 'time_ns', format.ns(sum(row.time_ns)), time),
                ),
            ),
        );
    },
};
