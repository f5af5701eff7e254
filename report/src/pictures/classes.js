// SPDX-License-Identifier: MIT
// Where the time went: by class, on average and of the rank or process with the most I/O.

import { IO, NAMES, READ, WAIT, WORDS } from '../classes.js';
import { el, tipOn } from '../draw.js';
import * as format from '../format.js';
import { classButton } from '../legend.js';
import { flightsOf } from './flights.js';
import { inIo, outside, shareOf, timesOf } from './outside.js';

const STACKED = [...IO, WAIT];

function part(name, times, life_ns, count, row) {
    const { io_ns, rest_ns, is_over } = outside(times, life_ns);

    return {
        name,
        row,
        times: Object.fromEntries(STACKED.map((kind) => [WORDS[kind], times[kind] / count])),
        io_ns: io_ns / count,
        life_ns: life_ns / count,
        rest_ns: rest_ns / count,
        is_over,
    };
}

/* Whether calls of class KIND are among those that are chosen. */
function isChosen({ run, filter }, kind) {
    const { class: classes } = run.table('calls');

    return !filter.c || filter.c.some((byte, c) => byte && classes[c] === kind);
}

function segments(view, bar, scale) {
    const pieces = STACKED.map((kind) => {
        const ns = bar.times[WORDS[kind]];
        return ns > 0
            ? [
                  NAMES[kind],
                  ns,
                  view.colours.classes[kind],
                  (event) => view.select({ class: [WORDS[kind]] }, event.shiftKey),
                  !isChosen(view, kind),
              ]
            : null;
    });

    return [...pieces, bar.rest_ns > 0 ? ['outside of calls', bar.rest_ns, null, null] : null]
        .filter(Boolean)
        .map(([name, ns, colour, choose, isDim]) =>
            tipOn(
                el(choose ? 'button' : 'span', {
                    'aria-label': `${name} ${format.ns(ns)}`,
                    onclick: choose,
                    style: {
                        width: `${(100 * ns) / scale}%`,
                        ...(colour ? { background: colour } : {}),
                        ...(isDim ? { opacity: 0.25 } : {}),
                    },
                }),
                () => [
                    bar.name,
                    [name, `${format.ns(ns)}  ${format.share(ns, bar.life_ns)}`, colour ?? view.colours.idle],
                    choose ? 'click to choose these calls' : null,
                ],
            ),
        );
}

function barRow(view, bar, scale) {
    const name = el('span', { class: 'name', title: format.safe(bar.name) }, format.cut(bar.name, 40));

    return el(
        'div',
        { class: 'stack-row' },
        bar.row === undefined
            ? name
            : el(
                  'a',
                  {
                      class: 'name',
                      href: '#',
                      title: 'choose it',
                      onclick: (event) => {
                          event.preventDefault();
                          view.select({ p: [bar.row] }, event.shiftKey);
                      },
                  },
                  format.cut(bar.name, 40),
              ),
        el('div', { class: 'stack' }, ...segments(view, bar, scale)),
        el('span', { class: 'end' }, format.ns(bar.io_ns)),
    );
}

/* The table of classes: also the legend. */
function legendTable(view, bars) {
    const kinds = STACKED.filter((kind) => bars.some((bar) => bar.times[WORDS[kind]] > 0));
    const head = el(
        'tr',
        {},
        el('th', {}, 'class'),
        ...bars.flatMap((bar) => [
            el('th', { class: 'is-number' }, format.cut(bar.name, 24)),
            el('th', { class: 'is-number' }, '%'),
        ]),
    );
    const line = (name, pick) =>
        el(
            'tr',
            {},
            el('td', {}, name),
            ...bars.flatMap((bar) => [
                el('td', { class: 'is-number' }, format.ns(pick(bar))),
                el('td', { class: 'is-number' }, format.share(pick(bar), bar.life_ns).replace(' %', '')),
            ]),
        );

    return el(
        'table',
        { class: 'plain' },
        el('thead', {}, head),
        el(
            'tbody',
            {},
            ...kinds.map((kind) => line(classButton(view, kind, { css: 'word' }), (bar) => bar.times[WORDS[kind]])),
            line(
                el('span', { class: 'word' }, el('i', { class: 'swatch is-rest' }), 'outside of calls'),
                (bar) => bar.rest_ns,
            ),
        ),
    );
}

const longest = (bars) => Math.max(...bars.map((bar) => bar.io_ns + bar.times.wait + bar.rest_ns), 0);

export default {
    id: 'classes',
    title: 'Where the time went',
    axes: ['p', 'class'],
    is_narrow: true,
    lacks: (run) => (run.extent.p ? null : 'This run has no processes.'),
    numbers(view) {
        const rows = view.run.extent.p,
            sums = view.sums(['p', 'class'], { columns: ['d'], without: ['c'] });
        const { total, count, each } = view.lives(),
            flights = flightsOf(view);
        const bars = [
            part(
                count === 1 ? '1 process' : `average of ${format.count(count)}`,
                timesOf(sums, rows, null, flights),
                total,
                Math.max(1, count),
            ),
        ];
        let slowest = -1,
            most = 0;

        for (let p = 0; p < rows; p++) {
            const ns = inIo(sums.d, p);
            if (ns > most) [slowest, most] = [p, ns];
        }
        if (slowest >= 0 && count > 1)
            bars.push(
                part(
                    `most: ${view.run.table('who').label[slowest]}`,
                    timesOf(sums, rows, slowest, flights),
                    each[slowest],
                    1,
                    slowest,
                ),
            );
        return { bars, count, ignored: sums.ignored };
    },
    sentence(view, { bars, count }) {
        const [all, most] = bars;
        const top = IO.reduce((best, kind) => (all.times[WORDS[kind]] > all.times[WORDS[best]] ? kind : best));
        const kind = view.run.who === 'process' ? 'process' : 'rank';

        const waits = all.times.wait > 0 ? `; ${format.share(all.times.wait, all.life_ns)} waiting` : '';

        if (!all.io_ns) return `No time in I/O${waits}.`;
        return (
            `I/O is ${shareOf(view, all.io_ns, all.life_ns, count)}, most of it ${NAMES[top]} ` +
            `(${format.share(all.times[WORDS[top]], all.life_ns)})${waits}` +
            (most && all.io_ns
                ? `; the ${kind} with the most, ${format.cut(most.name.slice(6), 40)}, ` +
                  `${format.factor(most.io_ns / all.io_ns)} the average.`
                : '.')
        );
    },
    completeness: (view, { bars }) =>
        bars.some((bar) => bar.is_over) ? 'threads do I/O together: their sum exceeds the time of the process' : '',
    draw(element, view, numbers) {
        const scale = Math.max(longest(numbers.bars), view.base ? longest(view.base.numbers(this).bars) : 0) || 1;

        element.append(...numbers.bars.map((bar) => barRow(view, bar, scale)), legendTable(view, numbers.bars));
    },
};
