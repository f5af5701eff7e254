// SPDX-License-Identifier: MIT
// The tree of processes over time: a bar from start to end, below the process that started it; ends by a signal marked.

import { el, timeAxis } from '../draw.js';
import * as format from '../format.js';
import { controls, cut, hint, legend, searchField, stage } from './canvas.js';
import { drawnWindow, keepSpan, stateOf, thinnedText } from './parts.js';
import { endingOf } from '../run_state.js';
import { treeNumbers } from './tree_numbers.js';
import { moved, zoomed } from './span.js';

const ROW = 18,
    AXIS = 24,
    TALLEST = 432,
    INDENT = 12,
    DEEPEST = 12;

const baseName = (text) => text.slice(text.lastIndexOf('/') + 1);

/* "16 killed: 3 by SIGTERM, 1 by SIGSEGV, 12 by an unknown signal (or left by a raw exit_group)." */
function killedText(signals) {
    const known = signals.filter(([name]) => name.startsWith('SIG'));
    const sum = (list) => list.reduce((all, [, count]) => all + count, 0);
    const unknown = sum(signals) - sum(known);
    const parts = known.map(([name, count]) => `${format.count(count)} by ${name}`);

    if (unknown) parts.push(`${format.count(unknown)} by an unknown signal (or left by a raw exit_group)`);
    return `${format.count(sum(signals))} killed: ${parts.join(', ')}. `;
}

function sentence(view, numbers) {
    const processes = view.run.table('processes');
    const [, killed, failed] = numbers.endings;
    const { longest } = numbers;

    if (!numbers.count) return 'No process lives here.';
    const ends =
        killed || failed
            ? (killed ? killedText(numbers.signals) : '') +
              `${failed ? `${format.counted(failed, 'ends', 'end')} with a status that is not 0. ` : ''}`
            : 'No process was ended by a signal. ';
    const name = format.cut(baseName(processes.program[longest]), 40);
    const programs = numbers.images ? ` (${format.counted(numbers.count, 'program')})` : '';
    const few = numbers.count === 1 ? '' : `, together ${format.ns(numbers.together)}`;
    return (
        `${ends}${format.counted(numbers.count - numbers.images, 'process', 'processes')}${programs}${few}; ` +
        `${name} ${processes.pid[longest]} lives longest, ${format.ns(processes.life_ns[longest])}.`
    );
}

/* Rows of the tree that have SEARCH in what a reader knows of them, and their ancestors, which are dim. */
export function searched(processes, numbers, search) {
    if (!search) return { rows: numbers.rows, depths: numbers.depths, isDim: null, matches: numbers.rows.length };
    const has = (row) =>
        [processes.program, processes.pid, processes.role, processes.host, processes.command, processes.ended].some(
            (column) => String(column[row]).toLowerCase().includes(search),
        ) ||
        (processes.rank[row] > 0 && `rank ${processes.rank[row] - 1}` === search);
    const kept = [],
        isDim = [];
    let next = -1,
        matches = 0;

    for (let i = numbers.rows.length - 1; i >= 0; i--) {
        const isMatch = has(numbers.rows[i]);
        if (!isMatch && numbers.depths[i] >= next) continue;
        next = numbers.depths[i];
        matches += isMatch ? 1 : 0;
        kept.push(i);
        isDim.push(!isMatch);
    }
    kept.reverse();
    isDim.reverse();
    return { rows: kept.map((i) => numbers.rows[i]), depths: kept.map((i) => numbers.depths[i]), isDim, matches };
}

function tipOf(view, row) {
    const processes = view.run.table('processes');
    const ending = endingOf(processes.ended[row]);
    return [
        `${baseName(processes.program[row])} ${processes.pid[row]}`,
        ['start', format.at(processes.start_ns[row] - view.run.start_ns)],
        ['lived', format.ns(processes.life_ns[row])],
        processes.rank[row] ? ['rank', String(processes.rank[row] - 1)] : null,
        processes.role[row] ? ['role', format.cut(processes.role[row], 40)] : null,
        processes.host[row] ? ['host', format.cut(processes.host[row], 40)] : null,
        ['threads', format.count(processes.threads[row])],
        ['ended', processes.ended[row] || 'not known', ending === 1 ? view.colours.bad : null],
        processes.command[row] ? format.cut(processes.command[row], 120) : null,
    ];
}

function paintRow(view, chart, i, y) {
    const { it, list, left } = chart;
    const { context } = it;
    const { colours } = view;
    const processes = view.run.table('processes');
    const row = list.rows[i],
        depth = Math.min(DEEPEST, list.depths[i]);
    const indent = 6 + depth * (it.width < 520 ? 6 : INDENT);
    const start = processes.start_ns[row],
        ending = endingOf(processes.ended[row]);
    const from = Math.max(left, chart.xOf(start)),
        to = Math.min(it.width, chart.xOf(start + processes.life_ns[row]));

    context.globalAlpha = list.isDim?.[i] ? 0.45 : 1;
    if (to >= left && from <= it.width) {
        context.fillStyle = ending === 1 ? colours.bad : colours.accent;
        if (ending === 1) context.globalAlpha *= 0.75;
        context.fillRect(from, y + 4, Math.max(2, to - from), ROW - 8);
        if (ending === 1) {
            paintCross(context, colours, Math.min(it.width - 6, Math.max(left + 5, to)), y + ROW / 2);
        } else if (ending) {
            context.fillStyle = ending === 2 ? colours.classes[2] : colours.dim;
            context.fillRect(Math.max(from, to - 4), y + 4, 4, ROW - 8);
        }
    }
    context.globalAlpha = list.isDim?.[i] ? 0.5 : 1;
    context.fillStyle = colours.line;
    for (let level = 0; level < depth; level++) context.fillRect(9 + level * (it.width < 520 ? 6 : INDENT), y, 1, ROW);
    context.fillStyle = colours.text;
    const name = processes.role[row] || baseName(processes.program[row]);
    const rank = processes.rank[row] ? `, rank ${processes.rank[row] - 1}` : '';
    context.fillText(cut(context, `${name} ${processes.pid[row]}${rank}`, left - indent - 8), indent, y + ROW / 2);
    context.globalAlpha = 1;
}

function paintCross(context, colours, x, y) {
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.beginPath();
    for (const [dx, dy] of [
        [-4, -4],
        [-4, 4],
    ]) {
        context.moveTo(x + dx, y + dy);
        context.lineTo(x - dx, y - dy);
    }
    context.stroke();
    context.lineWidth = 1;
}

function paint(view, chart, it) {
    const { context } = it;
    const high = it.height - AXIS;

    chart.it = it;
    chart.left = Math.round(it.width * (it.width < 520 ? 0.42 : 0.26));
    context.font = view.colours.font;
    for (let i = Math.floor(it.top / ROW); i < Math.min(chart.list.rows.length, (it.top + high) / ROW); i++) {
        paintRow(view, chart, i, i * ROW - it.top);
        if (i === chart.state.row && document.activeElement === it.canvas) {
            context.strokeStyle = view.colours.text;
            context.strokeRect(0.5, i * ROW - it.top + 0.5, it.width - 1, ROW - 1);
        }
    }
    context.fillStyle = view.colours.surface;
    context.fillRect(0, high, it.width, AXIS);
    const [from, to] = chart.span().map((ns) => ns - view.run.start_ns);
    timeAxis(context, { x: chart.left, width: it.width - chart.left, y: high, from, to, colours: view.colours });
}

function keysOf(view, chart, select) {
    return (event) => {
        const { state, it, list } = chart;
        const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9 }[event.key];
        const [from, to] = chart.span();
        if (step) state.row = Math.max(0, Math.min(list.rows.length - 1, (state.row ?? -1) + step));
        else if (event.key === 'Enter') select(list.rows[state.row ?? -1], event.shiftKey);
        else if (event.key === '+' || event.key === '-') chart.zoom((from + to) / 2, event.key === '+' ? 0.5 : 2);
        else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight')
            state.span = moved([from, to], chart.window, ((to - from) / 5) * (event.key === 'ArrowLeft' ? -1 : 1));
        else if (event.key === 'Escape' && state.span) state.span = null;
        else return false;
        if (step) {
            const y = state.row * ROW;
            if (y < it.top || y + ROW > it.top + it.height - AXIS) it.box.scrollTop = y - it.height / 2;
            it.tip(chart.left + 8, y - it.box.scrollTop + ROW, tipOf(view, list.rows[state.row]));
        }
        it.repaint();
        return true;
    };
}

function chartOf(view, state) {
    const window = drawnWindow(view);
    keepSpan(view, state, window);
    const chart = { state, it: null, left: 0, grip: null, window };
    chart.span = () => state.span ?? window;
    chart.wide = () => chart.it.width - chart.left;
    chart.xOf = (ns) => chart.left + ((ns - chart.span()[0]) / (chart.span()[1] - chart.span()[0])) * chart.wide();
    chart.zoom = (at, factor) => {
        state.span = zoomed(chart.span(), window, at, factor, Math.min(1000, window[1] - window[0]));
    };
    return chart;
}

function canvasOf(host, view, numbers, chart) {
    const { state } = chart;
    const processes = view.run.table('processes');
    const select = (row, add) => {
        if (row !== undefined) view.select({ p: [processes.p[row]] }, add);
    };
    const rowAt = (y) =>
        y < chart.it.height - AXIS ? chart.list.rows[Math.floor((y + chart.it.top) / ROW)] : undefined;
    const high = Math.max(1, chart.list.rows.length) * ROW + AXIS;

    stage(host, {
        label: sentence(view, numbers),
        height: Math.min(TALLEST, high),
        total: high,
        rows: (height) => [Math.floor((height - AXIS) / ROW), chart.list.rows.length],
        state,
        paint: (it) => paint(view, chart, it),
        move: (x, y) => {
            const row = rowAt(y);
            chart.it.tip(x, y, row === undefined ? null : tipOf(view, row));
        },
        click: (x, y, event) => select(rowAt(y), event.shiftKey),
        drag: (from, to, isDone) => {
            chart.grip ??= [...chart.span()];
            state.span = moved(
                chart.grip,
                chart.window,
                ((from.x - to.x) / chart.wide()) * (chart.grip[1] - chart.grip[0]),
            );
            if (isDone !== false) chart.grip = null;
            chart.it.repaint();
        },
        wheel: (x, y, event) => {
            if (x < chart.left || event.shiftKey) return false;
            const [from, to] = chart.span();
            chart.zoom(from + ((x - chart.left) / chart.wide()) * (to - from), event.deltaY > 0 ? 1.25 : 0.8);
            chart.it.repaint();
            return true;
        },
        key: keysOf(view, chart, select),
    });
}

function draw(element, view, numbers) {
    const state = stateOf(view, 'tree');
    const processes = view.run.table('processes');
    const chart = chartOf(view, state);
    const bar = controls(element),
        found = el('span', { class: 'dim', role: 'status' });
    const host = el('div');
    const show = (search) => {
        chart.list = searched(processes, numbers, search);
        state.row = Math.min(state.row ?? -1, chart.list.rows.length - 1);
        found.textContent = search ? format.counted(chart.list.matches, 'match', 'matches') : '';
        host.replaceChildren();
        canvasOf(host, view, numbers, chart);
    };

    if (numbers.count > 10) searchField(bar, 'Search processes', state, show);
    bar.append(found);
    element.append(host);
    show(numbers.count > 10 ? (state.search ?? '').toLowerCase() : '');
    const { colours } = view;
    const kinds = [
        ['process', colours.accent],
        ['ended by a signal (\u00d7)', colours.bad],
        ['ended with a status that is not 0', colours.classes[2]],
        ['end not known', colours.dim],
    ];
    legend(
        element,
        kinds.filter((_, ending) => !ending || numbers.endings[ending]),
    );
    const chosen = view.run.who === 'process' ? 'the process' : 'its rank';
    hint(element, `Drag to move, wheel over bars (after a click) to zoom; a click chooses ${chosen}.`);
}

export default {
    id: 'tree',
    title: 'Process tree',
    axes: ['p'],
    isFor: (run) => run.table('processes').rows > 1,
    lacks: (run) => (run.has('processes') ? null : 'The data have no processes.'),
    completeness: ({ run }) => thinnedText(run, 'processes'),
    numbers: treeNumbers,
    sentence,
    draw,
};
