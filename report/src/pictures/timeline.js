// SPDX-License-Identifier: MIT
// Processes and threads over time: the longest calls and regions one by one, all others as density behind them.

import { NAMES } from '../classes.js';
import { binsBetween, el, timeAxis } from '../draw.js';
import * as format from '../format.js';
import { choice, controls, cut, hint, legend, note, stage } from './canvas.js';
import { shortOf } from './folder.js';
import { drawnWindow, keepSpan, nameOf, nameWidth, stateOf } from './parts.js';
import { FEW, timelineNumbers } from './timeline_numbers.js';
import { laneName, paintTimeline } from './timeline_paint.js';
import { GAP, LINE, rowsOfTimeline, sliceAt, visible } from './timeline_rows.js';
import { moved, zoomed } from './span.js';

const AXIS = 24,
    TALLEST = 460,
    SMALL = 170;

const callName = (run, c) => run.table('calls').name[c] ?? '';

function sentence(view, numbers) {
    const { run } = view;
    const slices = run.table('slices');
    const many = numbers.of > numbers.kept;
    const [flight] = [...numbers.flights].sort((a, b) => b.dur_ns - a.dur_ns);
    const isLongest = numbers.longest >= 0 && !(flight?.dur_ns > slices.dur_ns[numbers.longest]);
    const longest = isLongest ? longestText(run, slices, numbers.longest) : '';
    const flown = flight ? ` Without an end: ${flight.text}, ${format.ns(flight.dur_ns)} so far.` : '';
    const rest = numbers.life_ns
        ? ` ${format.share(numbers.rest_ns, numbers.life_ns)} of the time is outside of calls.`
        : '';
    const drawn = many
        ? ` Calls and regions of at least ${format.ns(numbers.shortest_ns)} are drawn one by one: ` +
          `${format.count(numbers.kept)} of ${format.count(numbers.of)}; the others are ${numbers.density ? 'the density' : 'not drawn'}.`
        : ` All ${format.count(numbers.of)} calls and regions are drawn one by one.`;
    const chosen = view.filter.chosen.length ? ` ${format.count(numbers.shown)} of them are chosen.` : '';
    const threads = `${numbers.threads < numbers.all_threads ? `${format.count(numbers.threads)} of ` : ''}${format.counted(numbers.all_threads, 'thread')}`;
    return `${longest}${threads}.${flown}${rest}${slices.rows ? drawn + chosen : ''}`;
}

function longestText(run, slices, row) {
    const process = run.table('lanes').process[slices.lane[row]];
    const path = run.table('files').path[slices.f[row]];
    return (
        `The longest call is ${callName(run, slices.c[row])}${path ? ` of ${format.path(shortOf(run, path), 40)}` : ''}, ` +
        `${format.ns(slices.dur_ns[row])} at ${format.at(slices.start_ns[row] - run.start_ns)} in ` +
        `${nameOf(run, run.table('processes').p[process])}. `
    );
}

function tipOfSlice(view, row) {
    const { run, colours } = view;
    const slices = run.table('slices'),
        calls = run.table('calls');
    const c = slices.c[row],
        path = run.table('files').path[slices.f[row]];
    const bytes = slices.b[row],
        err = slices.err[row];
    return [
        calls.name[c],
        ['class', calls.is_region[c] ? 'region' : NAMES[calls.class[c]], colours.classes[calls.class[c]]],
        ['duration', format.ns(slices.dur_ns[row])],
        ['start', format.at(slices.start_ns[row] - run.start_ns)],
        path ? ['file', format.path(path, 56)] : null,
        bytes
            ? ['bytes', `${format.bytes(bytes)}, ${format.rate((bytes / Math.max(1, slices.dur_ns[row])) * 1e9)}`]
            : null,
        err ? ['failed', `errno ${err}`, colours.bad] : null,
    ];
}

function tipOfHead(view, numbers, row, ns) {
    const { run, colours } = view;
    const { density } = numbers;
    const bin = Math.floor(ns / run.time.width_ns);
    const sums = new Float64Array(8);

    for (let i = density?.start[row.p] ?? 0; i < (density?.start[row.p + 1] ?? 0); i++)
        if (density.cube.t[density.rows[i]] === bin) {
            const kind = density.cube.class ? density.cube.class[density.rows[i]] : 0;
            sums[kind] += density.cube.w[density.rows[i]];
        }
    const lines = NAMES.map((name, kind) =>
        sums[kind] ? [name, format.ns(sums[kind]), colours.classes[kind]] : null,
    ).filter(Boolean);
    return [
        nameOf(run, row.p),
        ['time', `${format.at(bin * run.time.width_ns - run.start_ns)}, ${format.ns(run.time.width_ns)} long`],
        ...(lines.length ? lines : ['no call and no region']),
    ];
}

/* The row, the time and the slice at a place; null beside the rows. */
function findAt(view, numbers, chart, x, y) {
    const row = visible(chart.layout, y + chart.it.top, 1)[0];
    if (!row || x < chart.left || y > chart.it.height - AXIS) return null;
    const ns = chart.timeAt(x),
        [from, to] = chart.span();
    const line = Math.floor((y + chart.it.top - row.y) / LINE),
        slack = ((to - from) / chart.wide()) * 2;
    const isStrip = row.kind === 'head' || y + chart.it.top >= row.y + row.high - GAP - row.strip;
    const slice = isStrip ? -1 : sliceAt(view.run.table('slices'), numbers.by_lane, row.lane, ns, line, slack);
    return { row, ns, slice, isStrip };
}

/* Chooses the call of a slice and its file; of a region the region. */
function chooseSlice(view, slice, add) {
    const slices = view.run.table('slices'),
        calls = view.run.table('calls');
    const c = slices.c[slice],
        f = slices.f[slice];
    const region = calls.is_region[c] ? [...view.run.table('regions').name].indexOf(calls.name[c]) : -1;

    view.select({ ...(region > 0 ? { g: [region] } : { c: [c] }), ...(f ? { f: [f] } : {}) }, add);
}

/* A drag moves; with shift it chooses a time. */
function dragTo(numbers, chart, from, to, isDone, isChoice) {
    chart.it.tip(0, 0, null);
    if (isChoice || chart.band) {
        chart.band = isDone === false ? [from.x, to.x] : null;
        if (isDone) chart.choose(Math.min(from.x, to.x), Math.max(from.x, to.x));
    } else {
        chart.grip ??= [...chart.span()];
        const by = ((from.x - to.x) / chart.wide()) * (chart.grip[1] - chart.grip[0]);
        chart.state.span = moved(chart.grip, chart.window, by);
        if (isDone !== false) chart.grip = null;
    }
    chart.it.repaint();
}

function actions(view, numbers, chart) {
    const at = (x, y) => findAt(view, numbers, chart, x, y);

    return {
        move: (x, y) => {
            const found = at(x, y);
            const tip = !found
                ? null
                : found.slice >= 0
                  ? tipOfSlice(view, found.slice)
                  : found.isStrip && numbers.density
                    ? tipOfHead(view, numbers, found.row, found.ns)
                    : null;
            chart.it.tip(x, y, tip);
        },
        click: (x, y, event) => {
            const found = at(x, y),
                row = visible(chart.layout, y + chart.it.top, 1)[0];
            if (found?.slice >= 0) chooseSlice(view, found.slice, event.shiftKey);
            else if (x < chart.left && row) view.select({ p: [row.p] }, event.shiftKey);
        },
        drag: (from, to, isDone, event) => dragTo(numbers, chart, from, to, isDone, event.shiftKey),
        wheel: (x, y, event) => {
            const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY),
                [from, to] = chart.span();
            if (x < chart.left && !isSideways) return false;
            if (isSideways)
                chart.state.span = moved([from, to], chart.window, (event.deltaX / chart.wide()) * (to - from));
            else chart.zoom(chart.timeAt(x), event.deltaY > 0 ? 1.25 : 0.8);
            chart.it.repaint();
            return true;
        },
    };
}

/* Arrows go from slice to slice and from lane to lane; + and - zoom, shift and arrows move, Escape shows all. */
function keysOf(view, numbers, chart) {
    const slices = view.run.table('slices');
    const lanes = () => chart.layout.rows.filter(({ kind }) => kind === 'lane');
    const show = () => {
        const { cursor } = chart.state;
        const row = chart.layout.rows.find(({ lane }) => lane === slices.lane[cursor]);
        const start = slices.start_ns[cursor],
            [from, to] = chart.span();
        if (start < from || start > to) chart.state.span = moved([from, to], chart.window, start - (from + to) / 2);
        if (row && (row.y < chart.it.top || row.y + row.high > chart.it.top + chart.it.height - AXIS))
            chart.it.box.scrollTop = row.y - chart.it.height / 3;
        chart.it.tip(
            chart.xOf(slices.start_ns[cursor]) + 12,
            (row?.y ?? 0) - chart.it.box.scrollTop + 24,
            tipOfSlice(view, cursor),
        );
    };
    const go = (dx, dy) => {
        const { start, rows } = numbers.by_lane;
        const all = lanes();
        let at = Math.max(
            0,
            all.findIndex(({ lane }) => lane === slices.lane[chart.state.cursor]),
        );
        if (dy) for (at += dy; all[at] && start[all[at].lane] === start[all[at].lane + 1];) at += dy;
        const lane = all[at]?.lane;
        if (lane === undefined || start[lane] === start[lane + 1]) return;
        const place = dy ? -1 : rows.subarray(start[lane], start[lane + 1]).indexOf(chart.state.cursor);
        chart.state.cursor =
            rows[Math.min(start[lane + 1] - 1, Math.max(start[lane], start[lane] + (place < 0 ? 0 : place + dx)))];
        show();
    };
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    return (event) => {
        const [from, to] = chart.span();
        const by = moves[event.key];
        if (by && event.shiftKey) chart.state.span = moved([from, to], chart.window, (by[0] * (to - from)) / 5);
        else if (by) go(...by);
        else if (event.key === '+' || event.key === '-')
            chart.zoom(
                chart.state.cursor >= 0 ? slices.start_ns[chart.state.cursor] : (from + to) / 2,
                event.key === '+' ? 0.5 : 2,
            );
        else if (event.key === 'Escape' && chart.state.span) chart.state.span = null;
        else if (event.key === 'Enter' && chart.state.cursor >= 0)
            chooseSlice(view, chart.state.cursor, event.shiftKey);
        else return false;
        chart.it.repaint();
        return true;
    };
}

function chartOf(view, numbers) {
    const state = stateOf(view, 'timeline', { cursor: -1 });
    const window = drawnWindow(view);
    keepSpan(view, state, window);
    if (state.cursor >= view.run.table('slices').rows) state.cursor = -1;
    const chart = { state, window, left: 0, it: null, band: null, grip: null };
    chart.layout = rowsOfTimeline(view, numbers, state.only === 'ranks');
    chart.span = () => state.span ?? chart.window;
    chart.wide = () => chart.it.width - chart.left;
    chart.timeAt = (x) => chart.span()[0] + ((x - chart.left) / chart.wide()) * (chart.span()[1] - chart.span()[0]);
    chart.xOf = (ns) => chart.left + ((ns - chart.span()[0]) / (chart.span()[1] - chart.span()[0])) * chart.wide();
    chart.zoom = (at, factor) => {
        state.span = zoomed(chart.span(), chart.window, at, factor, Math.min(1000, chart.window[1] - chart.window[0]));
    };
    chart.choose = (...ends) => {
        const [a, b] = ends.map((x) => (x - chart.left) / chart.wide());
        view.select({ t: binsBetween(view.run, ...chart.span(), a, b) });
    };
    return chart;
}

/* Names of the first rows, with the room that the inner ones stand back. */
const namesOf = (view, chart) =>
    chart.layout.rows
        .slice(0, 500)
        .map((row) =>
            row.kind === 'head' || row.isFirst ? nameOf(view.run, row.p) : `xxx${laneName(view.run, row.lane)}`,
        );

/* Classes of the calls that are drawn. */
function kindsOf(view, numbers) {
    const kinds = view.run.table('calls').class,
        found = new Set();
    for (const c of view.run.table('slices').c ?? []) found.add(kinds[c]);
    const { cube, rows } = numbers.density ?? {};
    if (cube?.class) for (const row of rows) found.add(cube.class[row]);
    return [...found].sort((a, b) => a - b);
}

function paint(view, numbers, chart, it) {
    chart.it = it;
    it.context.font = view.colours.font;
    chart.left = it.names ??= nameWidth(it, namesOf(view, chart));
    paintTimeline(view, numbers, chart, it.height - AXIS);
    const { context } = it;
    context.fillStyle = view.colours.surface;
    context.fillRect(0, it.height - AXIS, it.width, AXIS);
    const [from, to] = chart.span().map((ns) => ns - view.run.start_ns);
    timeAxis(context, { x: chart.left, width: chart.wide(), y: it.height - AXIS, from, to, colours: view.colours });
    if (chart.state.span) {
        context.fillStyle = view.colours.dim;
        context.fillText(cut(context, `${format.ns(to - from)}`, chart.left - 8), 4, it.height - AXIS / 2);
    }
    if (chart.band) {
        context.globalAlpha = 0.2;
        context.fillStyle = view.colours.accent;
        context.fillRect(Math.min(...chart.band), 0, Math.abs(chart.band[1] - chart.band[0]), it.height - AXIS);
        context.globalAlpha = 1;
    }
}

/* What wheel and keys do, for a finger: zoom, and choose the time that is seen. */
function zoomButtons(view, chart) {
    const button = (text, label, act) =>
        el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
    const zoom = (factor) => () => {
        const [from, to] = chart.span();
        chart.zoom((from + to) / 2, factor);
        chart.it.repaint();
    };

    return [
        button('+', 'zoom in', zoom(0.5)),
        button('\u2212', 'zoom out', zoom(2)),
        button('choose what is seen', 'choose the time that is seen', () =>
            view.select({ t: binsBetween(view.run, ...chart.span(), 0, 1) }),
        ),
    ];
}

/* Of more rows than are seen: how many these are, and why these. */
function noteOfRows(element, view, { order }, chart) {
    const seen = new Set(visible(chart.layout, 0, chart.it.height - AXIS).map(({ p }) => p)).size;
    const first = order.length > FEW ? ', those with the most time in I/O first' : '';

    if (seen < order.length)
        note(
            element,
            `${format.count(seen)} of ${format.count(order.length)} are seen${first}. Scroll to see the others.`,
        );
}

/* What is shown, and how near. */
function toolsOf(host, view, numbers, chart, again) {
    if (numbers.density && numbers.lanes.length)
        choice(
            host,
            'Show',
            [
                ['all', 'threads and calls'],
                ['ranks', 'only the density'],
            ],
            chart.state.only ?? 'all',
            again,
        );
    host.append(...zoomButtons(view, chart));
}

function draw(element, view, numbers) {
    const chart = chartOf(view, numbers);
    const again = (value) => {
        chart.state.only = value;
        element.replaceChildren();
        draw(element, view, numbers);
    };
    const kinds = kindsOf(view, numbers);

    if (!view.small) toolsOf(controls(element), view, numbers, chart, again);
    stage(element, {
        label: sentence(view, numbers),
        height: Math.min(view.small ? SMALL : TALLEST, Math.max(30, chart.layout.high) + AXIS),
        total: chart.layout.high + AXIS,
        rows: (height) => [chart.layout.ends.filter((end) => end <= height - AXIS).length, chart.layout.rows.length],
        state: chart.state,
        paint: (it) => paint(view, numbers, chart, it),
        ...actions(view, numbers, chart),
        key: keysOf(view, numbers, chart),
    });
    const hatch = `repeating-linear-gradient(135deg, transparent 0 2px, ${view.colours.line} 2px 3px)`;
    legend(element, [
        ...kinds.map((kind) => [NAMES[kind], view.colours.classes[kind]]),
        ...(numbers.density ? [['no call, no region', hatch]] : []),
    ]);
    noteOfRows(element, view, numbers, chart);
    if (!view.small)
        hint(
            element,
            'Drag to move, wheel (after a click) to zoom, shift and drag to choose a time; a click on a call chooses ' +
                'it and its file.',
        );
}

export default {
    id: 'timeline',
    title: 'Timeline',
    axes: ['t', 'p', 'class'],
    lacks: (run) => (run.has('lanes') || run.extent.p ? null : 'The data have no processes.'),
    completeness: (view, { kept, of }) =>
        of > kept ? `${format.count(kept)} of ${format.count(of)} calls and regions are known one by one` : '',
    numbers: timelineNumbers,
    sentence,
    draw,
};
