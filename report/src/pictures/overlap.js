// SPDX-License-Identifier: MIT
// Whether I/O hides behind compute: compute above the line, I/O below it, and what stalls marked; then rank by rank.

import { binsBetween, timeAxis } from '../draw.js';
import * as format from '../format.js';
import { cut, legend, note, stage } from './canvas.js';
import { otherNumbers, stateOf, windowShare } from './parts.js';
import { overlapNumbers } from './overlap_numbers.js';

const HALF = 60, AXIS = 26, ROW = 20, MOST_ROWS = 16;

function sentence(view, numbers) {
    const { io, hidden_share: share, exposed, compute, idle, bars } = numbers;
    const all = compute + exposed + idle;
    if (!io)
        return `No I/O here; compute is ${format.share(compute, all)} of the time.`;
    const [worst] = bars;
    const rank = worst?.exposed && bars.length > 1 ? ` Most stalls ${worst.name}, ${format.ns(worst.exposed)}.` : '';
    const when = numbers.worst === null || !exposed ? '' :
        ` Most of it is at ${format.at(numbers.worst * view.run.time.width_ns - view.run.start_ns)}.`;
    return `${format.share(share, 1)} of the I/O is hidden behind compute; ${format.ns(exposed)} stall, which is ` +
           `${format.share(exposed, all)} of the time.${when}${rank}`;
}

const shadesOf = (colours) => [['compute', colours.compute], ['I/O hidden behind it', colours.hidden], ['I/O that stalls', colours.exposed],
                               ['idle', colours.idle]];

function paintStrip(view, numbers, it, chart) {
    const { context } = it;
    const { colours, run } = view;
    const strip = run.table('strip');
    const { from, to } = numbers;
    const columns = Math.max(1, Math.min(to - from, Math.floor(chart.wide(it))));
    const sums = { compute: new Float64Array(columns), hidden: new Float64Array(columns), exposed: new Float64Array(columns) };

    for (const [part, values] of Object.entries(sums))
        for (let bin = from; bin < Math.min(to, strip.rows); bin++)
            values[Math.floor(((bin - from) * columns) / (to - from))] += strip[part][bin];
    const most = chart.most || 1;
    const bins = (to - from) / columns;
    const scale = (HALF - 4) / (most * bins), wide = chart.wide(it) / columns;
    for (let i = 0; i < columns; i++) {
        const x = Math.round(chart.left + i * wide), w = Math.max(1, Math.round(chart.left + (i + 1) * wide) - x);
        const bar = (y, high, colour) => {
            context.fillStyle = colour;
            context.fillRect(x, y, w, high);
        };
        bar(HALF - sums.compute[i] * scale, sums.compute[i] * scale, colours.compute);
        bar(HALF + 1, sums.hidden[i] * scale, colours.hidden);
        bar(HALF + 1 + sums.hidden[i] * scale, sums.exposed[i] * scale, colours.exposed);
        if (sums.exposed[i] > sums.compute[i])
            bar(2 * HALF, 5, colours.exposed);
    }
    context.fillStyle = colours.dim;
    context.fillRect(chart.left, HALF, chart.wide(it), 1);
    context.textAlign = 'right';
    context.fillText(cut(context, 'compute', chart.left - 6), chart.left - 6, HALF / 2);
    context.fillText(cut(context, 'I/O', chart.left - 6), chart.left - 6, HALF * 1.5);
    context.fillText(cut(context, 'stall', chart.left - 6), chart.left - 6, 2 * HALF + 3);
    context.textAlign = 'left';
    const time = [from, to].map((bin) => bin * run.time.width_ns - run.start_ns);
    timeAxis(context, { x: chart.left, width: chart.wide(it), y: 2 * HALF + 8, from: time[0], to: time[1], colours });
}

/* The most that is computed or in I/O in a bin: the scale of both halves, and of both runs. */
function mostOf(view) {
    const strip = view.run.table('strip');
    let most = 0;
    for (let bin = 0; bin < strip.rows; bin++)
        most = Math.max(most, strip.compute[bin], strip.io[bin]);
    return most / view.run.time.width_ns;
}

function stripOf(element, view, numbers, state) {
    const { run } = view;
    const share = windowShare(view);
    const chart = { left: 64, wide: (it) => (it.width - 64) * share, most: Math.max(mostOf(view), view.base ? mostOf(view.base) : 0) * run.time.width_ns, it: null };
    let band = null;
    const binAt = (x) => numbers.from + Math.floor(((x - chart.left) / chart.wide(chart.it)) * (numbers.to - numbers.from));
    const tipOf = (bin) => {
        const strip = run.table('strip');
        if (bin < numbers.from || bin >= numbers.to || bin >= strip.rows)
            return null;
        const { colours } = view;
        return [`${format.at(bin * run.time.width_ns - run.start_ns)}, ${format.ns(run.time.width_ns)} long`,
                ['compute', format.ns(strip.compute[bin]), colours.compute], ['I/O hidden', format.ns(strip.hidden[bin]), colours.hidden],
                ['I/O that stalls', format.ns(strip.exposed[bin]), colours.exposed], ['idle', format.ns(strip.idle[bin]), colours.idle]];
    };
    const choose = (a, b) => {
        const width = run.time.width_ns, wide = chart.wide(chart.it);
        view.select({ t: binsBetween(run, numbers.from * width, numbers.to * width, (a - chart.left) / wide, (b - chart.left) / wide) });
    };

    stage(element, {
        label: sentence(view, numbers), height: 2 * HALF + 8 + AXIS, state,
        paint: (it) => {
            chart.it = it;
            it.context.font = view.colours.font;
            paintStrip(view, numbers, it, chart);
            it.context.fillStyle = view.colours.accent;
            it.context.globalAlpha = 0.25;
            if (band)
                it.context.fillRect(Math.min(...band), 0, Math.abs(band[1] - band[0]), 2 * HALF + 8);
            if (state.cursor !== undefined && document.activeElement === it.canvas)
                it.context.fillRect(chart.left + ((state.cursor - numbers.from) / (numbers.to - numbers.from)) * chart.wide(it), 0, 3, 2 * HALF + 8);
            it.context.globalAlpha = 1;
        },
        move: (x, y) => chart.it.tip(x, y, tipOf(binAt(x))),
        drag: (from, to, isDone) => {
            band = isDone === false ? [from.x, to.x] : null;
            chart.it.repaint();
            if (isDone)
                choose(Math.min(from.x, to.x), Math.max(from.x, to.x));
        },
        key: (event) => {
            const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (step) {
                state.cursor = Math.max(numbers.from, Math.min(numbers.to - 1, (state.cursor ?? numbers.from) + step * (event.shiftKey ? 10 : 1)));
                chart.it.tip(chart.left + ((state.cursor - numbers.from) / (numbers.to - numbers.from)) * chart.wide(chart.it) + 8, 20, tipOf(state.cursor));
            } else if (event.key === 'Enter' && state.cursor !== undefined) {
                view.select({ t: [state.cursor, state.cursor + 1] });
            } else {
                return false;
            }
            chart.it.repaint();
            return true;
        },
    });
}

const partsOf = (bar) => [bar.compute - bar.hidden, bar.hidden, bar.exposed, bar.idle];

/* A bar for each rank, the one that stalls longest first. */
function barsOf(element, view, numbers, state) {
    const { bars } = numbers;
    const longest = Math.max(1, ...[numbers, ...otherNumbers(view, overlap)]
        .flatMap((one) => one.bars.map((bar) => partsOf(bar).reduce((a, b) => a + b, 0))));
    const shades = shadesOf(view.colours);
    let chart = null;
    const rowAt = (y) => bars[Math.floor((y + chart.top) / ROW)];
    const left = (it) => (it.width < 520 ? 76 : 110), right = 110;
    const select = (bar) => {
        const p = bar && bar.rank !== null ? [...view.run.table('who').rank].indexOf(bar.rank + 1) : -1;
        if (p >= 0 && view.run.who === 'rank')
            view.select({ p: [p] });
    };

    stage(element, {
        label: bars.map((bar) => `${bar.name}: ${format.ns(bar.exposed)} stall`).slice(0, 20).join('; '),
        height: Math.min(bars.length, MOST_ROWS) * ROW, total: bars.length * ROW, state,
        paint: (it) => {
            chart = it;
            const { context } = it;
            const from = left(it), wide = Math.max(20, it.width - from - right);
            context.font = view.colours.font;
            for (let i = Math.floor(it.top / ROW); i < Math.min(bars.length, (it.top + it.height) / ROW); i++) {
                const y = i * ROW - it.top, bar = bars[i];
                let x = from;
                partsOf(bar).forEach((ns, part) => {
                    context.fillStyle = shades[part][1];
                    context.fillRect(x, y + 3, (ns / longest) * wide, ROW - 6);
                    x += (ns / longest) * wide;
                });
                context.fillStyle = view.colours.text;
                context.textAlign = 'right';
                context.fillText(cut(context, bar.name, from - 8), from - 6, y + ROW / 2);
                context.textAlign = 'left';
                context.fillStyle = view.colours.dim;
                context.fillText(cut(context, `${bar.io ? format.share(bar.hidden, bar.io) : '-'} hidden`, right - 10), it.width - right + 8, y + ROW / 2);
                if (i === state.row && document.activeElement === it.canvas) {
                    context.strokeStyle = view.colours.text;
                    context.strokeRect(0.5, y + 0.5, it.width - 1, ROW - 1);
                }
            }
        },
        move: (x, y) => {
            const bar = rowAt(y);
            chart.tip(x, y, bar && [bar.name, ...partsOf(bar).map((ns, part) => [shades[part][0], format.ns(ns), shades[part][1]]),
                                    bar.data ? ['waiting for data', format.ns(bar.data)] : null]);
        },
        click: (x, y) => select(rowAt(y)),
        key: (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (step)
                state.row = Math.max(0, Math.min(bars.length - 1, (state.row ?? -1) + step));
            else if (event.key === 'Enter')
                select(bars[state.row]);
            else
                return false;
            if (state.row * ROW < chart.top || (state.row + 1) * ROW > chart.top + chart.height)
                chart.box.scrollTop = (state.row - 2) * ROW;
            chart.repaint();
            return true;
        },
    });
}

function draw(element, view, numbers) {
    if (numbers.is_strip)
        stripOf(element, view, numbers, stateOf(view.run, 'overlap'));
    if (numbers.bars.length)
        barsOf(element, view, numbers, stateOf(view.run, 'overlap bars'));
    legend(element, shadesOf(view.colours));
    if (view.run.overlap?.compute_is === 'outside_io')
        note(element, 'No region computes in this run: compute is the time outside of I/O and waits.');
}

const overlap = {
    id: 'overlap', title: 'I/O behind compute', axes: ['t'],
    lacks: (run) => (run.has('strip') || run.overlap?.ranks?.length ? null
        : 'The data do not say what computes: no region of the program is known to compute.'),
    numbers: overlapNumbers, sentence, draw,
};

export default overlap;
