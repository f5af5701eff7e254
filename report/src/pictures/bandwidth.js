// SPDX-License-Identifier: MIT
// Bytes read and written over time, and how much of the time was I/O. A time that is dragged over is chosen.

import uPlot from 'uplot';

import { IO, NAMES, READ, WORDS, WRITE } from '../classes.js';
import { binsBetween, brush, el, hideTip, showTip, ticks } from '../draw.js';
import * as format from '../format.js';
import { classButton, legend } from '../legend.js';
import { switcher } from '../table.js';
import { shareOf } from './outside.js';

const MOVED_HEIGHT = 170,
    BUSY_HEIGHT = 120,
    AXIS = 62;

let shown = 'share';

/* How long processes lived in each bin. */
function livesByBin(view) {
    const { width_ns: width, count } = view.run.time,
        processes = view.run.table('processes'),
        lives = new Float64Array(count);

    for (let i = 0; i < processes.rows; i++) {
        if (view.filter.p && !view.filter.p[processes.p[i]]) continue;
        const start = processes.start_ns[i],
            end = start + processes.life_ns[i];
        for (let t = Math.max(0, Math.floor(start / width)); t < count && t * width < end; t++)
            lives[t] += Math.min(end, (t + 1) * width) - Math.max(start, t * width);
    }
    return lives;
}

function column(sums, bins, kind, name) {
    return Float64Array.from({ length: bins }, (_, t) => sums[name][t * 7 + kind]);
}

function numbersOf(view) {
    const { width_ns: width, count } = view.run.time;
    const sums = view.sums(['t', 'class'], { columns: ['b', 'w'], without: ['t'] });
    const inside = view.sums(['class'], { columns: ['b', 'd'] });
    const flight = Object.fromEntries(IO.map((kind) => [WORDS[kind], column(sums, count, kind, 'w')]));
    const lives = livesByBin(view);

    return {
        width_ns: width,
        read_bytes: column(sums, count, READ, 'b'),
        written_bytes: column(sums, count, WRITE, 'b'),
        busy_ns: flight,
        share: Float64Array.from({ length: count }, (_, t) =>
            lives[t] > 0 ? IO.reduce((sum, kind) => sum + flight[WORDS[kind]][t], 0) / lives[t] : 0,
        ),
        read_total: inside.b[READ],
        written_total: inside.b[WRITE],
        io_ns: IO.reduce((sum, kind) => sum + inside.d[kind], 0),
        lives_ns: view.lives().total,
        processes: view.lives().count,
        ignored: [...new Set([...sums.ignored, ...inside.ignored])],
    };
}

/* Marks of an axis of bytes: round in the unit that they are shown in. */
function byteSplits(most) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, most)) / Math.log(1024)));

    return ticks(0, most / unit, 3).map((value) => value * unit);
}

function largest(...lists) {
    let most = 0;

    for (const list of lists) for (const value of list ?? []) most = Math.max(most, value);
    return most;
}

/* Axes, cursor and shade of what is not chosen: what both charts share. */
function options(view, { width, height, most, end, splits, text, series }) {
    const { colours: shades, run } = view;
    const axis = {
        stroke: shades.dim,
        grid: { stroke: shades.line, width: 1 },
        ticks: { show: false },
        font: shades.font,
    };
    const shadeRest = (u) => {
        if (!view.filter.t) return;
        const { ctx, bbox } = u,
            x = (bin) => u.valToPos(bin * run.time.width_ns - run.start_ns, 'x', true);
        const [from, to] = view.filter.t.map(x);
        ctx.save();
        ctx.globalAlpha = 0.72;
        ctx.fillStyle = shades.surface;
        ctx.fillRect(bbox.left, bbox.top, Math.max(0, from - bbox.left), bbox.height);
        ctx.fillRect(to, bbox.top, Math.max(0, bbox.left + bbox.width - to), bbox.height);
        ctx.restore();
    };

    return {
        width,
        height,
        legend: { show: false },
        padding: [6, 20, 0, 0],
        cursor: { drag: { x: false, y: false }, y: false, sync: { key: `time ${run.name}` }, points: { show: false } },
        scales: { x: { time: false, range: [0, end] }, y: { range: [0, most] } },
        axes: [
            {
                ...axis,
                size: 26,
                splits: () => ticks(0, end, Math.max(2, width / 110)),
                values: (u, values) => values.map((value) => format.tick(value, values[1] - values[0] || end, end)),
            },
            { ...axis, size: AXIS, splits, values: (u, values) => values.map(text), label: null },
        ],
        series: [{}, ...series],
        hooks: { draw: [shadeRest] },
    };
}

/* A chart in HOST that is brushed, and that says at the cursor what LINES(bin) says. */
function chart(host, view, settings, data, lines) {
    const { run } = view,
        { width_ns: width } = run.time;
    const u = new uPlot(options(view, settings), data, host);
    const end = settings.end,
        binAt = (share) =>
            Math.min(run.time.count - 1, Math.max(0, Math.floor((run.start_ns + share * end) / run.time.width_ns)));
    const show = (share, place) =>
        showTip(place, [
            `${format.at(Math.max(0, binAt(share) * width - run.start_ns))}, ${format.ns(width)}`,
            ...lines(binAt(share)),
        ]);

    u.over.tabIndex = 0;
    u.over.setAttribute('role', 'img');
    u.over.setAttribute('aria-label', settings.label);
    u.over.addEventListener('pointermove', (event) => show(event.offsetX / u.over.clientWidth, event));
    u.over.addEventListener('pointerleave', hideTip);
    u.over.addEventListener('blur', hideTip);
    brush(u.over, {
        left: 0,
        width: () => u.over.clientWidth,
        done: (from, to) => view.select({ t: binsBetween(run, run.start_ns, run.start_ns + end, from, to) }),
        clear: () => view.select({ t: null }),
        hover: (share) => {
            const box = u.over.getBoundingClientRect();
            show(share, { clientX: box.left + share * box.width, clientY: box.top + 30 });
        },
    });
    return u;
}

const stepped = uPlot.paths.stepped({ align: 1 });

function line(colour, fill) {
    return { stroke: colour, fill: fill ?? colour + '38', width: 1.4, paths: stepped, points: { show: false } };
}

/* Beginnings of bins, ns from the start of the run; one more than there are bins, so that the last has its width. */
function times(run) {
    return Float64Array.from({ length: run.time.count + 1 }, (_, t) => t * run.time.width_ns - run.start_ns);
}

const closed = (values) =>
    Array.from({ length: values.length + 1 }, (_, i) => values[Math.min(i, values.length - 1)] ?? 0);

function drawMoved(host, view, numbers, other, end) {
    const { run, colours: shades } = view,
        seconds = run.time.width_ns / 1e9;
    const rates = (values) => closed(values).map((value) => value / seconds);
    const otherSeconds = (view.base?.run.time.width_ns ?? 1) / 1e9;
    const most =
        Math.max(
            largest(numbers.read_bytes, numbers.written_bytes) / seconds,
            other ? largest(other.read_bytes, other.written_bytes) / otherSeconds : 0,
        ) * 1.05 || 1;

    return chart(
        host,
        view,
        {
            width: host.clientWidth,
            height: MOVED_HEIGHT,
            most,
            end,
            splits: () => byteSplits(most),
            text: (value) => format.rate(value).replace(/\.0+(?= )/, ''),
            label: 'bytes read and written over time',
            series: [line(shades.classes[READ]), line(shades.classes[WRITE])],
        },
        [times(run), rates(numbers.read_bytes), rates(numbers.written_bytes)],
        (t) => [
            ['read', format.rate(numbers.read_bytes[t] / seconds), shades.classes[READ]],
            ['written', format.rate(numbers.written_bytes[t] / seconds), shades.classes[WRITE]],
            ['in I/O', format.share(numbers.share[t], 1)],
        ],
    );
}

/* Sums of classes from the first on, so that areas lie on each other; drawn from the highest one down. */
function stackedFlights(numbers) {
    const sums = [];

    IO.forEach((kind, i) => {
        const own = numbers.busy_ns[WORDS[kind]];
        sums.push(own.map((value, t) => value / numbers.width_ns + (i ? sums[i - 1][t] : 0)));
    });
    return sums;
}

function drawBusy(host, view, numbers, other, end) {
    const { run, colours: shades } = view,
        flights = stackedFlights(numbers);
    const isShare = shown === 'share';
    const most =
        (isShare
            ? largest(numbers.share, other?.share)
            : Math.max(largest(flights.at(-1)), other ? largest(stackedFlights(other).at(-1)) : 0)) * 1.08 || 1;
    const data = isShare ? [closed(numbers.share)] : flights.map(closed).reverse();
    const series = isShare
        ? [line(shades.accent)]
        : [...IO].reverse().map((kind) => line(shades.classes[kind], shades.classes[kind]));

    return chart(
        host,
        view,
        {
            width: host.clientWidth,
            height: BUSY_HEIGHT,
            most,
            end,
            splits: () => ticks(0, most, 3),
            text: (value) => (isShare ? `${+(100 * value).toFixed(1)} %` : `${+value.toFixed(2)}`),
            series,
            label: isShare ? 'share of time in I/O over time' : 'calls in flight over time',
        },
        [times(run), ...data],
        (t) => [
            ['in I/O', format.share(numbers.share[t], 1)],
            ...IO.filter((kind) => numbers.busy_ns[WORDS[kind]][t] > 0).map((kind) => [
                NAMES[kind],
                `${(numbers.busy_ns[WORDS[kind]][t] / run.time.width_ns).toFixed(2)} in flight`,
                shades.classes[kind],
            ]),
        ],
    );
}

export default {
    id: 'bandwidth',
    title: 'Bandwidth over time',
    axes: ['t', 'class'],
    lacks: (run) => (run.time.count && run.wall_ns > 0 ? null : 'No time passed in this run.'),
    numbers: numbersOf,
    sentence(view, numbers) {
        const seconds = numbers.width_ns / 1e9,
            [from, to] = view.range(),
            chosen = view.filter.t ?? [0, Infinity];
        const peak = (values) =>
            `${format.rate(largest(values.slice(...chosen)) / seconds)} in ${format.ns(numbers.width_ns)}`;
        if (!largest(numbers.share, numbers.read_bytes, numbers.written_bytes)) return 'No time in I/O.';
        const io = `I/O is ${shareOf(view, numbers.io_ns, numbers.lives_ns, numbers.processes)}.`;
        if (!numbers.read_total && !numbers.written_total) return `Nothing was read or written; ${io}`;
        const mean = (bytes) => (to > from ? `${format.rate(bytes / ((to - from) / 1e9))} on average` : '-');
        const moved = (word, bytes, values) =>
            bytes ? `${word} ${format.bytes(bytes)}, ${mean(bytes)}, at most ${peak(values)}; ` : '';
        const text =
            moved('read', numbers.read_total, numbers.read_bytes) +
            moved('written', numbers.written_total, numbers.written_bytes);

        return text[0].toUpperCase() + text.slice(1) + io;
    },
    draw(element, view, numbers) {
        const { colours: shades, base } = view;
        if (!largest(numbers.share, numbers.read_bytes, numbers.written_bytes)) return null;
        const other = base && !this.lacks(base.run) ? base.numbers(this) : null;
        const lasts = (one) => Math.max(one.run.wall_ns, 1),
            end = Math.max(lasts(view), base ? lasts(base) : 0);
        const modes = [
            ['share', 'share of time in I/O'],
            ['flight', 'calls in flight'],
        ];
        /* Without bytes there is no axis of them. */
        const isMoved = [numbers, other].some((one) => largest(one?.read_bytes, one?.written_bytes) > 0);
        let charts = [];
        const clean = () => charts.splice(0).forEach((u) => u.destroy());
        const fill = (mode) => {
            /* The heights are there at once; uPlot sets its own later, which would move the page. */
            const moved = el('div', { style: { height: `${MOVED_HEIGHT}px` } }),
                busy = el('div', { style: { height: `${BUSY_HEIGHT}px` } });
            shown = mode;
            clean();
            element.replaceChildren(
                ...(isMoved
                    ? [
                          el(
                              'div',
                              { class: 'legend' },
                              classButton(view, READ),
                              classButton(view, WRITE, { text: 'written' }),
                          ),
                          moved,
                      ]
                    : []),
                legend(view, shown === 'flight' ? IO : [], switcher(modes, shown, fill)),
                busy,
            );
            charts = [
                ...(isMoved ? [drawMoved(moved, view, numbers, other, end)] : []),
                drawBusy(busy, view, numbers, other, end),
            ];
        };
        fill(shown);
        return clean;
    },
};
