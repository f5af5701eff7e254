// SPDX-License-Identifier: MIT
// Whether I/O hides behind compute: compute above the line, I/O below it, and what stalls marked; then rank by rank.

import { binsBetween, timeAxis } from '../draw.js';
import * as format from '../format.js';
import { cut, legend, stage } from './canvas.js';
import { overlapBars, shadesOf } from './overlap_bars.js';
import { otherNumbers, stateOf, windowShare } from './parts.js';
import { overlapNumbers } from './overlap_numbers.js';

const HALF = 60,
    AXIS = 26,
    LEFT = 64;

function sentence(view, numbers) {
    const { io, hidden_share: share, exposed, compute, idle, bars } = numbers;
    const all = compute + exposed + idle;
    if (!io) return `No I/O here; compute is ${format.share(compute, all)} of the time.`;
    const [worst] = bars;
    const rank = worst?.exposed && bars.length > 1 ? ` ${worst.name} has the most: ${format.ns(worst.exposed)}.` : '';
    const when =
        numbers.worst === null || !exposed
            ? ''
            : ` Most of it is at ${format.at(numbers.worst * view.run.time.width_ns - view.run.start_ns)}.`;
    return (
        `${format.share(share, 1)} of the I/O is hidden behind compute. ${format.ns(exposed)} is exposed: nothing ` +
        `computes meanwhile. That is ${format.share(exposed, all)} of the time.${when}${rank}${waits(view, numbers)}`
    );
}

/* How long programs waited for data: known of the whole run only. */
function waits(view, { bars }) {
    const sum = (member) => bars.reduce((all, bar) => all + (bar[member] || 0), 0);
    const data = sum('data');

    return data && !view.filter.t ? ` Waiting for data: ${format.ns(data)}, ${format.share(data, sum('wall'))}.` : '';
}

function paintStrip(view, numbers, it, chart) {
    const { context } = it;
    const { colours, run } = view;
    const strip = run.table('strip');
    const { from, to } = numbers;
    const columns = Math.max(1, Math.min(to - from, Math.floor(chart.wide())));
    const sums = {
        compute: new Float64Array(columns),
        hidden: new Float64Array(columns),
        exposed: new Float64Array(columns),
    };

    for (const [part, values] of Object.entries(sums))
        for (let bin = from; bin < Math.min(to, strip.rows); bin++)
            values[Math.floor(((bin - from) * columns) / (to - from))] += strip[part][bin];
    const most = chart.most || 1;
    const bins = (to - from) / columns;
    const scale = (HALF - 4) / (most * bins),
        wide = chart.wide() / columns;
    for (let i = 0; i < columns; i++) {
        const x = Math.round(chart.left + i * wide),
            w = Math.max(1, Math.round(chart.left + (i + 1) * wide) - x);
        const bar = (y, high, colour) => {
            context.fillStyle = colour;
            context.fillRect(x, y, w, high);
        };
        bar(HALF - sums.compute[i] * scale, sums.compute[i] * scale, colours.compute);
        bar(HALF + 1, sums.hidden[i] * scale, colours.hidden);
        bar(HALF + 1 + sums.hidden[i] * scale, sums.exposed[i] * scale, colours.exposed);
        if (sums.exposed[i] > sums.compute[i] && sums.exposed[i] * scale >= 1) bar(2 * HALF, 5, colours.exposed);
    }
    context.fillStyle = colours.dim;
    context.fillRect(chart.left, HALF, chart.wide(), 1);
    context.textAlign = 'right';
    context.fillText(cut(context, 'compute', chart.left - 6), chart.left - 6, HALF / 2);
    context.fillText(cut(context, 'I/O', chart.left - 6), chart.left - 6, HALF * 1.5);
    context.fillText(cut(context, 'exposed', chart.left - 6), chart.left - 6, 2 * HALF + 3);
    context.textAlign = 'left';
    const time = [from, to].map((bin) => bin * run.time.width_ns - run.start_ns);
    timeAxis(context, { x: chart.left, width: chart.wide(), y: 2 * HALF + 8, from: time[0], to: time[1], colours });
}

/* The most that is computed or in I/O in a bin: the scale of both halves, and of both runs. */
function mostOf(view) {
    const strip = view.run.table('strip');
    let most = 0;
    for (let bin = 0; bin < strip.rows; bin++) most = Math.max(most, strip.compute[bin], strip.io[bin]);
    return most / view.run.time.width_ns;
}

function tipOf(view, numbers, bin) {
    const { run, colours } = view;
    const strip = run.table('strip');
    if (bin < numbers.from || bin >= Math.min(numbers.to, strip.rows)) return null;
    return [
        `${format.at(bin * run.time.width_ns - run.start_ns)}, ${format.ns(run.time.width_ns)} long`,
        ['compute', format.ns(strip.compute[bin]), colours.compute],
        ['hidden I/O', format.ns(strip.hidden[bin]), colours.hidden],
        ['exposed I/O', format.ns(strip.exposed[bin]), colours.exposed],
        ['idle', format.ns(strip.idle[bin]), colours.idle],
    ];
}

/* Maps between bins and places on the canvas. */
function chartOf(view, numbers) {
    const { from, to } = numbers;
    const share = windowShare(view),
        { width_ns: width } = view.run.time;
    const chart = { left: LEFT, it: null, band: null };

    chart.most = Math.max(mostOf(view), view.base ? mostOf(view.base) : 0) * width;
    chart.wide = () => (chart.it.width - LEFT) * share;
    chart.binAt = (x) => from + Math.floor(((x - LEFT) / chart.wide()) * (to - from));
    chart.xOf = (bin) => LEFT + ((bin - from) / (to - from)) * chart.wide();
    chart.choose = (a, b) => {
        const [first, last] = [a, b].sort((p, q) => p - q).map((x) => (x - LEFT) / chart.wide());
        view.select({ t: binsBetween(view.run, from * width, to * width, first, last) });
    };
    return chart;
}

function paint(view, numbers, chart, state) {
    const { context, canvas } = chart.it;
    context.font = view.colours.font;
    paintStrip(view, numbers, chart.it, chart);
    context.fillStyle = view.colours.accent;
    context.globalAlpha = 0.25;
    if (chart.band) context.fillRect(Math.min(...chart.band), 0, Math.abs(chart.band[1] - chart.band[0]), 2 * HALF + 8);
    if (state.cursor !== undefined && document.activeElement === canvas)
        context.fillRect(chart.xOf(state.cursor), 0, 3, 2 * HALF + 8);
    context.globalAlpha = 1;
}

function stripOf(element, view, numbers) {
    const state = stateOf(view, 'overlap'),
        chart = chartOf(view, numbers);
    const steps = { ArrowLeft: -1, ArrowRight: 1 };

    stage(element, {
        label: sentence(view, numbers),
        height: 2 * HALF + 8 + AXIS,
        state,
        paint: (it) => {
            chart.it = it;
            paint(view, numbers, chart, state);
        },
        move: (x, y) => chart.it.tip(x, y, tipOf(view, numbers, chart.binAt(x))),
        drag: (from, to, isDone) => {
            chart.band = isDone === false ? [from.x, to.x] : null;
            chart.it.repaint();
            if (isDone) chart.choose(from.x, to.x);
        },
        key: (event) => {
            const by = (steps[event.key] ?? 0) * (event.shiftKey ? 10 : 1);
            if (by) {
                state.cursor = Math.max(
                    numbers.from,
                    Math.min(numbers.to - 1, (state.cursor ?? numbers.from - 1) + by),
                );
                chart.it.tip(chart.xOf(state.cursor) + 8, 20, tipOf(view, numbers, state.cursor));
                chart.it.repaint();
            } else if (event.key === 'Enter' && state.cursor !== undefined) {
                view.select({ t: [state.cursor, state.cursor + 1] });
            } else {
                return false;
            }
            return true;
        },
    });
}

function draw(element, view, numbers) {
    if (numbers.is_strip) stripOf(element, view, numbers);
    if (numbers.bars.length) overlapBars(element, view, numbers, otherNumbers(view, overlap));
    legend(element, shadesOf(view.colours));
}

const overlap = {
    id: 'overlap',
    title: 'I/O behind compute',
    axes: ['t'],
    lacks: (run) =>
        run.has('strip') || run.overlap?.ranks?.length
            ? null
            : 'The data do not say what computes: no region of the program is known to compute.',
    isFor: (run) => run.has('strip') || (!!run.overlap?.ranks?.length && run.overlap.compute_is !== 'outside_io'),
    numbers: overlapNumbers,
    sentence,
    draw,
};

export default overlap;
