// SPDX-License-Identifier: MIT
// How long calls take: a histogram by octave, with percentiles by the rule of the data's bins.

import { IO, IS_IO, NAMES, WORDS } from '../classes.js';
import { canvas, el, hideTip, showTip, ticks } from '../draw.js';
import * as format from '../format.js';
import { Durations, octaveOf } from '../histogram.js';
import { classButton } from '../legend.js';
import { switcher } from '../table.js';

const HEIGHT = 190,
    LEFT = 46,
    TOP = 18,
    BOTTOM = 20,
    GAP = 10,
    PERCENTS = [50, 95, 99];

let scale = 'linear';

/* Durations of each class. */
function countsOf(view) {
    const { cube, count, passes, ignored, sub } = view.latency(['class']);
    const each = Array.from({ length: 7 }, () => new Durations(sub));

    for (let i = 0; i < count; i++) if (passes[i]) each[cube.class[i]].add(cube, i);
    return { each, ignored, sub };
}

function byOctave(counts) {
    const octaves = new Array(64).fill(0);

    counts.forEach((count, bin) => {
        if (count) octaves[octaveOf(bin)] += count;
    });
    return octaves;
}

/* Durations of all I/O. */
function together(each, sub) {
    const all = new Durations(sub);

    for (const kind of IO) all.merge(each[kind]);
    return all;
}

/* Calls without a duration of their own: of a run of quick calls the whole has one. */
function inRuns(view, timed) {
    const { n } = view.sums(['class'], { columns: ['n'] });

    return Math.max(0, IO.reduce((sum, kind) => sum + n[kind], 0) - timed);
}

/* A part of the axis of counts, from 0 to 1. */
function heightOf(count, most) {
    if (!count) return 0;
    return scale === 'log' ? Math.log10(1 + count) / Math.log10(1 + most) : count / most;
}

function columnTotals(numbers) {
    return numbers.octaves.map((octave) => Object.values(octave.calls).reduce((sum, count) => sum + count, 0));
}

function drawAxis(context, { width, shades, from, to, most, place }) {
    const bottom = HEIGHT - BOTTOM;

    context.font = shades.font;
    context.fillStyle = shades.dim;
    context.strokeStyle = shades.line;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    const marks =
        scale === 'log'
            ? [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].filter((value) => value <= most)
            : ticks(0, most, 3).filter((value) => value <= most * 1.001);
    for (const value of marks) {
        const y = Math.round(bottom - heightOf(value, most) * (bottom - TOP)) + 0.5;
        context.beginPath();
        context.moveTo(LEFT, y);
        context.lineTo(width, y);
        context.stroke();
        context.fillText(
            value >= 1e6
                ? `${+(value / 1e6).toFixed(1)}M`
                : value >= 1e4
                  ? `${+(value / 1e3).toFixed(1)}k`
                  : format.count(value),
            LEFT - 6,
            y,
        );
    }
    context.textAlign = 'center';
    context.textBaseline = 'top';
    let free = LEFT - 20;
    for (let power = 0; power < 13; power++) {
        const x = place(Math.log2(10 ** power)),
            text = format.ns(10 ** power).replace(/\.0+(?= )/, '');
        const half = context.measureText(text).width / 2;
        if (10 ** power < 2 ** from || 10 ** power > 2 ** to || x - half < free) continue;
        context.fillText(text, Math.min(x, width - half), bottom + 5);
        free = x + half + 8;
    }
}

function drawBars(context, { view, numbers, place, most }) {
    const bottom = HEIGHT - BOTTOM,
        totals = columnTotals(numbers);

    numbers.octaves.forEach(({ octave, calls }, i) => {
        const x = place(octave) + 1,
            wide = place(octave + 1) - place(octave) - 2;
        const high = totals[i] ? Math.max(2, heightOf(totals[i], most) * (bottom - TOP)) : 0;
        let y = bottom;
        for (const kind of IO) {
            const part = high * (calls[WORDS[kind]] / (totals[i] || 1));
            context.fillStyle = view.colours.classes[kind];
            context.fillRect(x, y - part, wide, part);
            y -= part;
        }
    });
}

/** Gives MARKS `{x, wide}`, ascending, a place `at` each: right of x, none over another, none behind WIDTH. */
export function placeLabels(marks, width) {
    let free = -Infinity,
        end = width;

    for (const mark of marks) {
        mark.at = Math.max(mark.x + 3, free);
        free = mark.at + mark.wide + GAP;
    }
    for (const mark of [...marks].reverse()) {
        mark.at = Math.max(0, Math.min(mark.at, end - mark.wide));
        end = mark.at - GAP;
    }
}

function drawPercentiles(context, { view, numbers, place, width }) {
    context.font = view.colours.font;
    context.textBaseline = 'top';
    context.textAlign = 'left';
    const marks = PERCENTS.map((percent, i) => [percent, numbers.percentiles_ns[i]])
        .filter(([, ns]) => ns !== null)
        .map(([percent, ns]) => {
            const text = `p${percent} ${format.ns(ns)}`;
            return {
                text,
                wide: context.measureText(text).width,
                x: Math.round(place(Math.log2(Math.max(1, ns)))) + 0.5,
            };
        });
    placeLabels(marks, width);
    for (const { text, x, at } of marks) {
        context.strokeStyle = context.fillStyle = view.colours.text;
        context.setLineDash([3, 3]);
        context.beginPath();
        context.moveTo(x, 13);
        context.lineTo(x, HEIGHT - BOTTOM);
        context.stroke();
        context.setLineDash([]);
        context.fillText(text, at, 0);
    }
}

function picture(host, view, numbers, other) {
    const all = [...numbers.octaves, ...(other?.octaves ?? [])].map(({ octave }) => octave);
    const from = Math.min(...all),
        to = Math.max(...all) + 1;
    const {
        canvas: node,
        context,
        width,
    } = canvas(
        host,
        HEIGHT,
        'histogram of durations, ' +
            PERCENTS.map((percent, i) => `p${percent} ${format.ns(numbers.percentiles_ns[i])}`).join(', '),
    );
    const place = (octave) => LEFT + ((octave - from) / (to - from)) * (width - LEFT);
    const most = Math.max(1, ...columnTotals(numbers), ...(other ? columnTotals(other) : []));
    let cursor = -1;
    const show = (at, clientX, clientY) => {
        const found = numbers.octaves.find(({ octave }) => octave === at);
        if (found)
            showTip({ clientX, clientY }, [
                `${format.ns(at ? 2 ** at : 0)} to ${format.ns(2 ** (at + 1))}`,
                ...IO.filter((kind) => found.calls[WORDS[kind]]).map((kind) => [
                    NAMES[kind],
                    format.counted(found.calls[WORDS[kind]], 'call'),
                    view.colours.classes[kind],
                ]),
            ]);
        else hideTip();
    };

    drawAxis(context, { width, shades: view.colours, from, to, most, place });
    drawBars(context, { view, numbers, place, most });
    drawPercentiles(context, { view, numbers, place, width });
    node.addEventListener('pointermove', (event) =>
        show(Math.floor(from + ((event.offsetX - LEFT) / (width - LEFT)) * (to - from)), event.clientX, event.clientY),
    );
    node.addEventListener('pointerleave', hideTip);
    node.addEventListener('blur', hideTip);
    node.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        cursor = cursor < 0 ? from : Math.min(to - 1, Math.max(from, cursor + step));
        const box = node.getBoundingClientRect();
        show(cursor, box.left + place(cursor + 0.5), box.top + 40);
    });
}

function legendTable(view, numbers) {
    const row = (name, line) =>
        el(
            'tr',
            {},
            el('td', {}, name),
            el('td', { class: 'is-number' }, format.count(line.calls)),
            ...line.percentiles_ns.map((ns) => el('td', { class: 'is-number' }, format.ns(ns))),
        );

    return el(
        'table',
        { class: 'plain' },
        el(
            'thead',
            {},
            el(
                'tr',
                {},
                el('th', {}, 'class'),
                ...['calls', 'p50', 'p95', 'p99'].map((name) => el('th', { class: 'is-number' }, name)),
            ),
        ),
        el(
            'tbody',
            {},
            ...numbers.classes.map((line) => row(classButton(view, WORDS.indexOf(line.class), { css: 'word' }), line)),
            row('all I/O', numbers),
        ),
    );
}

export default {
    id: 'latency',
    title: 'How long calls take',
    axes: ['c'],
    lacks: (run) => (run.latency.length ? null : 'These data have no histograms of durations.'),
    numbers(view) {
        const { each, ignored, sub } = countsOf(view),
            all = together(each, sub),
            octaves = each.map((durations) => byOctave(durations.counts));
        const used = Array.from({ length: 64 }, (_, octave) => octave).filter((octave) =>
            IO.some((kind) => octaves[kind][octave]),
        );

        return {
            octaves: used.map((octave) => ({
                octave,
                calls: Object.fromEntries(IO.map((kind) => [WORDS[kind], octaves[kind][octave]])),
            })),
            calls: all.total,
            in_runs: inRuns(view, all.total),
            percentiles_ns: all.percentiles(PERCENTS),
            is_about: sub === 1,
            ignored,
            classes: IO.filter((kind) => IS_IO[kind] && each[kind].total).map((kind) => ({
                class: WORDS[kind],
                calls: each[kind].total,
                percentiles_ns: each[kind].percentiles(PERCENTS),
            })),
        };
    },
    sentence(view, numbers) {
        const [p50, p95, p99] = numbers.percentiles_ns.map(format.ns);

        if (!numbers.calls) return 'No calls that are I/O.';
        const most = numbers.is_about ? 'about' : 'at most';
        return `Half of ${format.counted(numbers.calls, 'call')} take ${most} ${p50}; p95 ${p95}, p99 ${p99}.`;
    },
    completeness: (view, numbers) =>
        [
            numbers.is_about ? 'bins were thinned out: percentiles are about' : '',
            numbers.in_runs
                ? `${format.counted(numbers.in_runs, 'call')} in runs of getc and the like, each run timed as one`
                : '',
        ]
            .filter(Boolean)
            .join('; '),
    draw(element, view, numbers) {
        if (!numbers.calls) return;
        const other = view.base && !this.lacks(view.base.run) ? view.base.numbers(this) : null;
        const host = el('div', { class: 'grow' });
        const fill = () => {
            host.replaceChildren();
            element.replaceChildren(
                el(
                    'div',
                    { class: 'controls' },
                    switcher(
                        [
                            ['linear', 'linear'],
                            ['log', 'log'],
                        ],
                        scale,
                        (value) => {
                            scale = value;
                            fill();
                        },
                    ),
                ),
                el('div', { class: 'beside' }, host, legendTable(view, numbers)),
            );
            picture(host, view, numbers, other);
        };
        if (view.small) picture(element.appendChild(host), view, numbers, other);
        else fill();
    },
};
