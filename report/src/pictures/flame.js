// SPDX-License-Identifier: MIT
// A flame graph, from the outermost function downwards: of call stacks, or of regions and the calls in them.

import { el } from '../draw.js';
import * as format from '../format.js';
import { choice, controls, cut, hint, inkOn, mix, searchField, shadeOf, stage } from './canvas.js';
import {
    aroundOf,
    flameNumbers,
    functionsOf,
    isLibrary,
    kindsOf,
    layout,
    MEASURES,
    NO_STACK,
} from './flame_numbers.js';
import { otherNumbers, stateOf, thinnedText } from './parts.js';

const LINE = 18,
    TALLEST = 420,
    MOST_AROUND = 8;

const texts = { d: format.ns, b: format.bytes, n: format.count };

function kindOf(view) {
    const kinds = kindsOf(view.run);

    return kinds.find((kind) => kind === stateOf(view, 'flame').kind) ?? kinds[0];
}

function sentence(view, numbers) {
    const { root, top, own, kind } = numbers;
    const what = numbers.is_io ? 'I/O' : 'calls';
    if (!root.d || !top) return 'No call has a stack here.';
    const [first] = [...root.children].sort((a, b) => b.d - a.d);
    if (kind === 'regions')
        return (
            `Most time in ${what}, ${format.share(first.d, root.d)} (${format.ns(first.d)}), is ${first.name === '(no region)' ? 'in no region' : `inside ${format.cut(first.name, 40)}`}; ` +
            `the call with most is ${format.cut(top.name, 40)}, ${format.ns(top.self)} = ${format.share(top.self, root.d)}.`
        );
    const none = root.places.get(NO_STACK)?.d ?? 0;
    const unknown = none ? ` ${format.share(none, root.d)} has no stack.` : '';
    return (
        `${format.cut(own.name, 60)} makes the calls that take longest: ${format.ns(own.self)} = ` +
        `${format.share(own.self, root.d)} of ` +
        `${format.ns(root.d)} in ${what}; ${format.counted(numbers.functions, 'function')}, at most ${numbers.depth} deep.${unknown}`
    );
}

function nodeAt(root, path) {
    return path.reduce((at, name) => at?.places.get(name), root) ?? root;
}

export function pathOf(node) {
    const names = [];
    for (let at = node; at.parent; at = at.parent) names.unshift(at.name);
    return names;
}

/* The whole line of ancestors above the focus, then all that is below it. */
function boxesOf(focus, measure) {
    const above = [];
    for (let at = focus.parent; at; at = at.parent)
        above.unshift({ node: at, from: 0, to: focus[measure], isAbove: true });
    above.forEach((box, depth) => {
        box.depth = depth;
    });
    return [...above, ...layout(focus, measure).map((box) => ({ ...box, depth: box.depth + above.length }))];
}

function paint(view, chart, it) {
    const { context } = it;
    const { colours } = view;
    const scale = it.width / chart.whole;

    chart.it = it;
    context.font = colours.font;
    for (const box of chart.boxes) {
        const y = box.depth * LINE - it.top,
            wide = (box.to - box.from) * scale;
        if (y < -LINE || y > it.height || wide < 0.4) continue;
        const isMatch = chart.search && box.node.name.toLowerCase().includes(chart.search);
        const { name } = box.node,
            ground = isLibrary(name) ? colours.dim : colours.accent;
        const fill = isMatch ? colours.classes[2] : mix(ground, colours.surface, 0.35 + shadeOf(name, 6) * 0.075);
        context.globalAlpha = box.isAbove ? 0.55 : chart.search && !isMatch ? 0.45 : 1;
        context.fillStyle = fill;
        context.fillRect(box.from * scale, y, Math.max(0.6, wide - (wide > 3 ? 1 : 0)), LINE - 1);
        context.globalAlpha = 1;
        if (wide > 24) {
            context.fillStyle = inkOn(fill);
            context.fillText(cut(context, box.node.name, wide - 8), box.from * scale + 4, y + LINE / 2);
        }
        if (box.node === chart.cursor) {
            context.strokeStyle = colours.text;
            context.strokeRect(box.from * scale + 0.5, y + 0.5, Math.max(2, wide - 2), LINE - 2);
        }
    }
}

function boxAt(chart, x, y) {
    const depth = Math.floor((y + chart.it.top) / LINE);
    const value = (x / chart.it.width) * chart.whole;
    return chart.boxes.find((box) => box.depth === depth && value >= box.from && value < box.to);
}

function tipOf(view, chart, { node }) {
    const { root, measure } = chart;
    const share = (key) => (key === measure ? ` = ${format.share(node[key], root[key])}` : '');
    return [
        node.name,
        ...MEASURES.map(([key, word]) => [word, texts[key](node[key]) + share(key)]),
        ['itself', texts[measure](node.self[measure])],
    ];
}

/* Arrows go to the outer and inner, to the left and right frame; Enter zooms; Escape shows all. */
function keysOf(view, chart, focusOn) {
    const step = (node, key) => {
        const sorted = (at) => [...at.children].sort((a, b) => b[chart.measure] - a[chart.measure]);
        if (key === 'ArrowUp') return node.parent;
        if (key === 'ArrowDown') return sorted(node)[0];
        const line = node.parent ? sorted(node.parent) : [node];
        return line[line.indexOf(node) + (key === 'ArrowLeft' ? -1 : 1)];
    };
    return (event) => {
        if (event.key.startsWith('Arrow'))
            chart.cursor = step(chart.cursor ?? chart.focus, event.key) ?? chart.cursor ?? chart.focus;
        else if (event.key === 'Enter' && chart.cursor) return focusOn(chart.cursor) ?? true;
        else if (event.key === 'Escape' && chart.focus !== chart.root) return focusOn(chart.root) ?? true;
        else return false;
        const box = chart.boxes.find(({ node }) => node === chart.cursor);
        if (box) {
            const y = box.depth * LINE;
            if (y < chart.it.top || y > chart.it.top + chart.it.height - LINE)
                chart.it.box.scrollTop = y - chart.it.height / 2;
            const x = (box.from / chart.whole) * chart.it.width + 10;
            chart.it.tip(x, y - chart.it.box.scrollTop + LINE, tipOf(view, chart, box));
        }
        chart.it.repaint();
        return true;
    };
}

/* Callers and callees of the chosen function as two short tables, names of which can be chosen. */
function around(host, view, chart) {
    const { root, measure, state } = chart;
    const name = state.name ?? chart.focus.name;
    const own = functionsOf(root, measure).get(name);
    if (!own) return;
    const { callers, callees } = aroundOf(root, name, measure);
    const text = texts[measure];
    const word = MEASURES.find(([key]) => key === measure)[1];
    const nameCell = (row) =>
        el(
            'td',
            { style: { 'white-space': 'normal', 'overflow-wrap': 'anywhere' } },
            row.name.startsWith('(')
                ? format.safe(row.name)
                : el(
                      'button',
                      { type: 'button', class: 'word', onclick: () => chart.choose(row.name) },
                      format.cut(row.name, 60),
                  ),
        );
    const list = (title, rows) =>
        el(
            'table',
            { class: 'plain' },
            el(
                'tbody',
                {},
                el('tr', {}, el('th', {}, title), el('th', { class: 'is-number' }, word), el('th')),
                ...rows
                    .slice(0, MOST_AROUND)
                    .map((row) =>
                        el(
                            'tr',
                            {},
                            nameCell(row),
                            el('td', { class: 'is-number' }, text(row.value)),
                            el('td', { class: 'is-number' }, format.share(row.value, own.total)),
                        ),
                    ),
                rows.length > MOST_AROUND
                    ? el('tr', {}, el('td', {}, `${format.count(rows.length - MOST_AROUND)} more`))
                    : null,
            ),
        );
    host.replaceChildren(
        el(
            'p',
            { style: { 'margin-top': '8px' } },
            el('b', {}, format.cut(name, 80)),
            `: ${text(own.total)} = ${format.share(own.total, root[measure])} of all, itself ${text(own.self)}`,
        ),
        el(
            'div',
            { style: { display: 'flex', gap: '0 48px', 'flex-wrap': 'wrap', 'align-items': 'flex-start' } },
            list('called by', callers),
            list('calls', callees),
        ),
    );
}

function matchText(root, search, measure) {
    let sum = 0,
        count = 0;
    const walk = (at, isInside) => {
        const isMatch = at.parent && at.name.toLowerCase().includes(search);
        count += isMatch ? 1 : 0;
        if (isMatch && !isInside) sum += at[measure];
        at.children.forEach((child) => walk(child, isInside || isMatch));
    };
    walk(root, false);
    return search ? `${format.counted(count, 'frame')}, ${format.share(sum, root[measure])}` : '';
}

function draw(element, view, given) {
    const { run } = view;
    const state = stateOf(view, 'flame', { measure: 'd', path: [] });
    const numbers = given.kind === kindOf(view) ? given : flameNumbers(view, kindOf(view));
    const again = (change) => {
        Object.assign(state, change);
        element.replaceChildren();
        draw(element, view, numbers);
    };
    const bar = controls(element),
        found = el('span', { class: 'dim', role: 'status' });
    const measure = numbers.root[state.measure] ? state.measure : 'd';
    const root = numbers.root,
        focus = nodeAt(root, state.path);
    const chart = { it: null, root, focus, measure, state, cursor: null, search: (state.search ?? '').toLowerCase() };

    const others = focus === root ? otherNumbers(view, flame).filter((one) => one.kind === numbers.kind) : [];
    chart.whole = Math.max(1, focus[measure], ...others.map((one) => one.root[measure]));
    chart.boxes = boxesOf(focus, measure);
    chart.choose = (name) => {
        state.name = name;
        around(table, view, chart);
    };
    const focusOn = (node) => again({ path: pathOf(node), name: node.parent ? node.name : null, top: 0 });
    if (kindsOf(run).length > 1)
        choice(
            bar,
            'Of',
            kindsOf(run).map((kind) => [kind, kind]),
            numbers.kind,
            (kind) => again({ kind, path: [], name: null }),
        );
    choice(
        bar,
        'By',
        MEASURES.filter(([key]) => root[key]),
        measure,
        (key) => again({ measure: key }),
    );
    searchField(bar, 'Search functions', state, (search) => {
        chart.search = search;
        found.textContent = matchText(root, search, measure);
        chart.it.repaint();
    });
    bar.append(found);
    found.textContent = matchText(root, chart.search, measure);
    if (focus !== root) bar.append(el('button', { type: 'button', onclick: () => focusOn(root) }, 'Show all'));
    const high = (chart.boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1) * LINE;
    stage(element, {
        label: sentence(view, numbers),
        height: Math.min(TALLEST, high),
        total: high,
        state,
        paint: (it) => paint(view, chart, it),
        move: (x, y) => {
            const box = boxAt(chart, x, y);
            chart.it.tip(x, y, box && tipOf(view, chart, box));
        },
        click: (x, y) => {
            const box = boxAt(chart, x, y);
            if (box) focusOn(box.node);
        },
        key: keysOf(view, chart, focusOn),
    });
    hint(
        element,
        'A click zooms, Escape shows all. Sizes are sums: left and right are no order in time.' +
            (chart.boxes.some(({ node }) => isLibrary(node.name)) ? ' Grey: libraries.' : ''),
    );
    const table = element.appendChild(el('div'));
    if (focus !== root || state.name) around(table, view, chart);
    else if (numbers.top) chart.choose(numbers.top.name);
}

const flame = {
    id: 'flame',
    title: 'Stacks and regions',
    axes: ['k'],
    lacks: (run) =>
        kindsOf(run).length
            ? null
            : 'The data have neither call stacks nor regions: trace with --stack 16, or annotate the program.',
    completeness: ({ run }) => thinnedText(run, 'stacks'),
    numbers: (view) => flameNumbers(view, kindsOf(view.run)[0]),
    sentence,
    draw,
};

export default flame;
