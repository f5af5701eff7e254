// SPDX-License-Identifier: MIT
// Where in a file it is read and written, and when: one line an access, as long as the access.

import { READ, WRITE } from '../classes.js';
import { ticks, timeAxis } from '../draw.js';
import * as format from '../format.js';
import { choiceOfMany, controls, cut, hint, legend, note, stage } from './canvas.js';
import { filesOf, offsetsNumbers } from './offsets_numbers.js';
import { shortOf } from './folder.js';
import { drawnWindow, keepSpan, nameOf, otherNumbers, stateOf } from './parts.js';
import { moved, zoomed } from './span.js';

const HIGH = 320,
    AXIS = 24,
    MOST_FILES = 500;

/* How the accesses look: the word, and its share. */
function looks(numbers) {
    const { consecutive, strided, forward, random, first } = numbers.follows;
    const all = consecutive + strided + forward + random;
    const parts = [
        ['consecutive', consecutive],
        ['strided', strided],
        ['forward, with gaps', forward],
        ['random', random],
    ];
    const [word, most] = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
    return all ? { word, most, all } : { word: first ? 'single accesses' : 'nothing', most: first, all: first };
}

function sentence(view, numbers) {
    const path = view.run.table('files').path[numbers.file] || '(other files)';
    const { word, most, all } = looks(numbers);
    const sampled = numbers.of > numbers.kept;

    if (!numbers.order.length) return `${format.path(shortOf(view.run, path), 50)} is not accessed here.`;
    const how = `mostly ${word}`;
    const moved_bytes = [
        numbers.reads ? `${format.counted(numbers.reads, 'read')}, together ${format.bytes(numbers.read_bytes)}` : null,
        numbers.writes ? `${format.counted(numbers.writes, 'write')}, together ${format.bytes(numbers.written_bytes)}` : null,
    ];
    const name = format.path(shortOf(view.run, path), 50),
        places = `from ${numbers.lowest ? format.bytes(numbers.lowest) : 'the start'} to ${format.bytes(numbers.highest)}`;
    if (sampled)
        return (
            `${name}: ${how} (${format.share(most, all)} of accesses in a sample); ` +
            `the sample has ${format.count(numbers.kept)} of ${format.count(numbers.of)} accesses, ${places}.`
        );
    return `${name}: ${how} (${format.share(most, all)} of accesses); ${moved_bytes.filter(Boolean).join(', ')}, ${places}.`;
}

/* The offsets that are drawn: of two runs those of both, where it is the same file. */
function extentOf(view, numbers) {
    const pathOf = (run, { file }) => run.table('files').path[file];
    const others = otherNumbers(view, offsets).filter(
        (one) => one.order.length && pathOf(view.base.run, one) === pathOf(view.run, numbers),
    );
    const lowest = Math.min(numbers.lowest, ...others.map((one) => one.lowest));
    return [lowest, Math.max(lowest + 1, numbers.highest, ...others.map((one) => one.highest))];
}

/* Places on the canvas: time to the right, offsets upwards. */
function placesOf(view, it, state, numbers) {
    const left = it.width < 520 ? 62 : 80,
        wide = it.width - left - 8,
        high = it.height - AXIS - 8;
    const t = state.span ?? drawnWindow(view);
    const o = state.offsets ?? extentOf(view, numbers);
    return {
        left,
        wide,
        high,
        t,
        o,
        x: (ns) => left + ((ns - t[0]) / (t[1] - t[0])) * wide,
        y: (offset) => 8 + high - ((offset - o[0]) / (o[1] - o[0])) * high,
    };
}

function paintAxis(view, it, at) {
    const { context } = it;
    const { colours } = view;
    const unit = 1024 ** Math.max(0, Math.min(5, Math.floor(Math.log2(Math.max(1, at.o[1])) / 10)));

    context.font = colours.font;
    context.textAlign = 'right';
    for (const value of ticks(at.o[0] / unit, at.o[1] / unit, 6).map((tick) => tick * unit)) {
        const y = Math.round(at.y(value)) + 0.5;
        context.strokeStyle = colours.line;
        context.beginPath();
        context.moveTo(at.left, y);
        context.lineTo(at.left + at.wide, y);
        context.stroke();
        context.fillStyle = colours.dim;
        context.fillText(cut(context, value ? format.bytes(value) : '0', at.left - 6), at.left - 6, Math.max(6, y));
    }
    context.textAlign = 'left';
    const [from, to] = at.t.map((ns) => ns - view.run.start_ns);
    timeAxis(context, { x: at.left, width: at.wide, y: it.height - AXIS, from, to, colours });
}

function paint(view, numbers, state, it) {
    const at = placesOf(view, it, state, numbers);
    const { context } = it;
    const table = view.run.table('offsets');

    paintAxis(view, it, at);
    context.save();
    context.beginPath();
    context.rect(at.left, 4, at.wide + 4, at.high + 6);
    context.clip();
    context.globalAlpha = numbers.order.length > 3000 ? 0.6 : 0.9;
    const thick = numbers.order.length > 3000 ? 1.5 : 3;
    for (const kind of [READ, WRITE]) {
        context.fillStyle = view.colours.classes[kind];
        for (const i of numbers.order) {
            if ((table.is_write[i] ? WRITE : READ) !== kind) continue;
            const y = at.y(table.offset[i] + table.b[i]),
                end = at.y(table.offset[i]);
            context.fillRect(at.x(table.start_ns[i]) - thick / 2, Math.min(y, end - 2), thick, Math.max(2, end - y));
        }
    }
    context.restore();
    if (numbers.order.includes(state.cursor)) {
        context.strokeStyle = view.colours.text;
        const y = at.y(table.offset[state.cursor] + table.b[state.cursor]),
            end = at.y(table.offset[state.cursor]);
        context.strokeRect(at.x(table.start_ns[state.cursor]) - 4, y - 3, 8, Math.max(2, end - y) + 6);
    }
    return at;
}

/* The access that is nearest to a place, within 12 pixels. */
function nearest(view, numbers, at, x, y) {
    const table = view.run.table('offsets');
    let best = -1,
        cost = 12;

    for (const i of numbers.order) {
        const dx = Math.abs(at.x(table.start_ns[i]) - x);
        if (dx > cost) continue;
        const top = at.y(table.offset[i] + table.b[i]),
            end = at.y(table.offset[i]);
        const far = Math.hypot(dx, y < top ? top - y : y > end ? y - end : 0);
        if (far < cost) [best, cost] = [i, far];
    }
    return best;
}

function tipOf(view, i) {
    const table = view.run.table('offsets');
    const kind = table.is_write[i] ? WRITE : READ;
    return [
        table.is_write[i] ? 'write' : 'read',
        ['bytes', format.bytes(table.b[i]), view.colours.classes[kind]],
        ['from byte', format.count(table.offset[i])],
        ['follows', ['no other', 'randomly', 'in strides', 'with a gap', 'at the end of the last'][table.how[i]] ?? ''],
        ['time', format.at(table.start_ns[i] - view.run.start_ns)],
        ['by', nameOf(view.run, table.p[i])],
    ];
}

function keysOf(view, numbers, state, chart) {
    const table = view.run.table('offsets');
    return (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const inTime = step && [...numbers.order].sort((a, b) => table.start_ns[a] - table.start_ns[b]);
        if (step && inTime.length) {
            const place = inTime.indexOf(state.cursor) + step * (event.shiftKey ? 20 : 1);
            state.cursor = inTime[Math.max(0, Math.min(inTime.length - 1, place))];
            chart.it.tip(
                chart.at.x(table.start_ns[state.cursor]) + 8,
                chart.at.y(table.offset[state.cursor]),
                tipOf(view, state.cursor),
            );
        } else if (event.key === '+' || event.key === '-') {
            chart.zoom(
                (chart.at.t[0] + chart.at.t[1]) / 2,
                (chart.at.o[0] + chart.at.o[1]) / 2,
                event.key === '+' ? 0.5 : 2,
            );
        } else if (event.key === 'Escape' && state.span) {
            state.span = state.offsets = null;
        } else if (event.key === 'Enter') {
            view.select({ f: [numbers.file] }, event.shiftKey);
        } else {
            return false;
        }
        chart.it.repaint();
        return true;
    };
}

function canvasOf(element, view, numbers, state) {
    const chart = { it: null, at: null, grip: null };
    const allOffsets = extentOf(view, numbers);
    chart.zoom = (ns, offset, factor) => {
        state.span = zoomed(chart.at.t, drawnWindow(view), ns, factor, 1000);
        state.offsets = zoomed(chart.at.o, allOffsets, offset, factor, 64);
    };
    stage(element, {
        label: sentence(view, numbers),
        height: HIGH,
        state,
        paint: (it) => {
            chart.it = it;
            chart.at = paint(view, numbers, state, it);
        },
        move: (x, y) => {
            const i = nearest(view, numbers, chart.at, x, y);
            chart.it.tip(x, y, i < 0 ? null : tipOf(view, i));
        },
        click: (x, y) => {
            const i = nearest(view, numbers, chart.at, x, y);
            if (i >= 0) view.select({ p: [view.run.table('offsets').p[i]] });
        },
        drag: (from, to, isDone) => {
            const grip = (chart.grip ??= chart.at);
            state.span = moved(grip.t, drawnWindow(view), ((from.x - to.x) / grip.wide) * (grip.t[1] - grip.t[0]));
            state.offsets = moved(grip.o, allOffsets, ((to.y - from.y) / grip.high) * (grip.o[1] - grip.o[0]));
            if (isDone !== false) chart.grip = null;
            chart.it.repaint();
        },
        wheel: (x, y, event) => {
            const { t, o, left, wide, high } = chart.at;
            const ns = t[0] + ((x - left) / wide) * (t[1] - t[0]),
                offset = o[0] + (1 - (y - 8) / high) * (o[1] - o[0]);
            chart.zoom(ns, offset, event.deltaY > 0 ? 1.25 : 0.8);
            chart.it.repaint();
            return true;
        },
        key: keysOf(view, numbers, state, chart),
    });
}

function draw(element, view, numbers) {
    const state = stateOf(view, 'offsets');
    const files = filesOf(view.run);
    const wanted = files.find(({ f }) => f === state.file);
    const shown = wanted && !view.filter.f?.[numbers.file] ? offsetsNumbers(view, wanted) : numbers;
    const paths = view.run.table('files').path;
    if (state.shown !== shown.file) Object.assign(state, { shown: shown.file, key: '', offsets: null, cursor: -1 });
    keepSpan(view, state, drawnWindow(view));
    state.offsets = state.span && state.offsets;

    if (!view.small)
        choiceOfMany(
            controls(element),
            'File',
            files
                .slice(0, MOST_FILES)
                .map(({ f, of }) => [
                    f,
                    `${format.path(shortOf(view.run, paths[f] || '(other files)'), 60)}  ${format.counted(of, 'access', 'accesses')}`,
                ]),
            shown.file,
            (value) => {
                state.file = value;
                element.replaceChildren();
                draw(element, view, numbers);
            },
        );
    if (shown !== numbers) note(element, sentence(view, shown));
    canvasOf(element, view, shown, state);
    legend(element, [
        ['read', view.colours.classes[READ]],
        ['write', view.colours.classes[WRITE]],
    ]);
    if (!view.small)
        hint(
            element,
            'Drag to move, wheel (after a click) to zoom, Escape to see all; a click on an access chooses who made it.',
        );
}

const offsets = {
    id: 'offsets',
    title: 'Offsets in a file',
    axes: ['f', 't', 'p'],
    lacks: (run) =>
        run.has('offsets') ? null : 'The data have no offsets: no file was read or written, or events were not kept.',
    completeness: (view, { kept, of }) =>
        of > kept ? `${format.count(kept)} of ${format.count(of)} accesses of this file are kept` : '',
    numbers: (view) => offsetsNumbers(view),
    sentence,
    draw,
};

export default offsets;
