// SPDX-License-Identifier: MIT
// Directories and files as areas: as large as their time or bytes, coloured by the class that takes most of their time.

import { IO, NAMES } from '../classes.js';
import { el } from '../draw.js';
import * as format from '../format.js';
import { choice, controls, cut, hint, inkOn, legend, mix, note, stage } from './canvas.js';
import { hasCube, otherNumbers, stateOf, thinnedText } from './parts.js';
import { nodeAt, squares, treemapNumbers } from './treemap_numbers.js';

const HEAD = 17,
    HIGH = 380,
    LEAST = 14,
    LEVELS = 4,
    FEW = 4; /* rows of files that need no picture: the table of files has them */
const MEASURES = [
    ['d', 'time'],
    ['b', 'bytes'],
    ['n', 'calls'],
];
const texts = { d: format.ns, b: format.bytes, n: format.count };

function sentence(view, numbers) {
    const { root, largest, files } = numbers;
    if (!root.d && !root.n) return 'No file is in use here.';
    if (!largest) return `${format.counted(files, 'file')}: ${format.ns(root.d)} of I/O, ${format.bytes(root.b)}.`;
    return (
        `${format.share(largest.d, root.d)} of the I/O time of ${format.counted(files, 'file')} ` +
        `(${format.ns(largest.d)} of ${format.ns(root.d)}) is in ` +
        `${format.path(largest.path, 60)}: ${format.counted(largest.n, 'call')}, ${format.bytes(largest.b)}.`
    );
}

/* NODE, or the first directory below it that has more than one thing. */
function wide(node) {
    let at = node;
    while (at.children.length === 1 && at.children[0].children.length) [at] = at.children;
    return at;
}

const mainClass = (node) => IO.reduce((best, kind) => (node.classes[kind] > node.classes[best] ? kind : best), IO[0]);

/* Boxes of what is in NODE, and in that, as long as there is room. */
function boxesIn(node, measure, [x, y, w, h], level, out) {
    for (const box of squares(node.children, (child) => child[measure], x, y, w, h)) {
        out.push({ ...box, node: box.item, level });
        if (box.item.children.length && level < LEVELS && box.w > 4 * LEAST && box.h > HEAD + LEAST)
            boxesIn(box.item, measure, [box.x + 2, box.y + HEAD, box.w - 4, box.h - HEAD - 2], level + 1, out);
    }
    return out;
}

const titleOf = (node) =>
    node.files.length > 1 ? `${node.name}  (${format.counted(node.files.length, 'file')})` : node.name || '/';

function paintBox(view, chart, context, box) {
    const { colours } = view;
    const { node, x, y, w, h } = box;
    const isDirectory = node.children.length > 0;
    const shade = isDirectory
        ? mix(colours.line, colours.surface, Math.min(0.8, box.level * 0.25))
        : mix(colours.classes[mainClass(node)], colours.surface, 0.15);

    if (w < 0.7 || h < 0.7) return;
    context.fillStyle = shade;
    context.fillRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), Math.max(0.5, h - 1));
    if (isDirectory && (w <= 4 * LEAST || h <= HEAD + LEAST)) {
        context.fillStyle = mix(colours.classes[mainClass(node)], colours.surface, 0.45);
        context.fillRect(x + 1, y + 1, Math.max(0.5, w - 2), Math.max(0.5, h - 2));
    }
    if (w > 30 && h > 12) {
        context.fillStyle = isDirectory ? colours.text : inkOn(shade);
        const title = titleOf(node),
            both = `${title}  ${texts[chart.measure](node[chart.measure])}`;
        const isBoth = isDirectory && context.measureText(both).width <= w - 8;
        context.fillText(cut(context, isBoth ? both : title, w - 8), x + 4, y + 9);
        if (!isDirectory && h > 30)
            context.fillText(cut(context, texts[chart.measure](node[chart.measure]), w - 8), x + 4, y + 23);
    }
    if (node === chart.cursor) {
        context.strokeStyle = colours.text;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, w - 2, h - 2);
        context.lineWidth = 1;
    }
}

const innermost = (chart, x, y) => {
    for (let i = chart.boxes.length - 1; i >= 0; i--) {
        const box = chart.boxes[i];
        if (x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h) return box;
    }
    return null;
};

function tipOf(view, chart, { node }) {
    const kinds = IO.filter((kind) => node.classes[kind]).sort((a, b) => node.classes[b] - node.classes[a]);
    return [
        format.path(node.path || '/', 70),
        node.files.length > 1 ? ['files', format.count(node.files.length)] : null,
        ...MEASURES.map(([key, word]) => [
            word,
            `${texts[key](node[key])} = ${format.share(node[key], chart.root[key])}`,
        ]),
        ...kinds.map((kind) => [NAMES[kind], format.ns(node.classes[kind]), view.colours.classes[kind]]),
    ];
}

/* Arrows go to the nearest box in their direction; Enter opens a directory or chooses files; Escape goes up. */
function keysOf(view, chart, open) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    return (event) => {
        const by = moves[event.key];
        const tops = chart.boxes.filter(({ level }) => level === 0);
        const now = tops.find(({ node }) => node === chart.cursor);
        if (by) {
            const middle = ({ x, y, w, h }) => [x + w / 2, y + h / 2];
            const ahead =
                now &&
                tops
                    .map((box) => [box, middle(box)[0] - middle(now)[0], middle(box)[1] - middle(now)[1]])
                    .filter(([, dx, dy]) => dx * by[0] + dy * by[1] > 1)
                    .sort((a, b) => Math.hypot(a[1], a[2]) - Math.hypot(b[1], b[2]));
            const next = now ? (ahead[0]?.[0] ?? now) : tops[0];
            if (!next) return true;
            chart.cursor = next.node;
            chart.it.tip(next.x + 12, next.y + 12, tipOf(view, chart, next));
            chart.it.repaint();
        } else if (event.key === 'Enter' && now) {
            open(now.node, event.shiftKey);
        } else if (event.key === 'Escape' && chart.focus.parent) {
            open(chart.focus.parent);
        } else {
            return false;
        }
        return true;
    };
}

/* The way from the root to the focus, each a button. */
function crumbs(bar, chart, open) {
    const way = [];
    for (let at = chart.focus; at; at = at.parent) way.unshift(at);
    bar.append(
        el(
            'nav',
            { 'aria-label': 'Directory' },
            ...way
                .map((node, i) =>
                    i === way.length - 1
                        ? el('b', {}, format.cut(node.name || 'all', 60))
                        : el(
                              'button',
                              { type: 'button', class: 'word', onclick: () => open(node) },
                              format.cut(node.name || 'all', 40),
                          ),
                )
                .flatMap((part, i) => (i ? [' ', part] : [part])),
        ),
    );
}

function draw(element, view, numbers) {
    const state = stateOf(view, 'treemap', { measure: 'd', path: '' });
    const { root } = numbers;
    const measure = root[state.measure] ? state.measure : 'd';
    const chart = { it: null, root, focus: wide(nodeAt(root, state.path)), measure, cursor: null, boxes: [] };
    const again = (change) => {
        Object.assign(state, change);
        element.replaceChildren();
        draw(element, view, numbers);
    };
    const open = (node, add) => {
        if (node.children.length) again({ path: node.path });
        else if (node.files.length) view.select({ f: node.files }, add);
    };
    const bar = controls(element),
        others = otherNumbers(view, treemap).map((one) => one.root[measure]);
    const side = state.path ? 1 : Math.sqrt(root[measure] / Math.max(1, root[measure], ...others));

    choice(
        bar,
        'By',
        MEASURES.filter(([key]) => root[key]),
        measure,
        (key) => again({ measure: key }),
    );
    crumbs(bar, chart, open);
    stage(element, {
        label: sentence(view, numbers),
        height: HIGH,
        state,
        paint: (it) => {
            chart.it = it;
            chart.boxes = boxesIn(chart.focus, measure, [0, 0, it.width * side, it.height * side], 0, []);
            it.context.font = view.colours.font;
            for (const box of chart.boxes) paintBox(view, chart, it.context, box);
        },
        move: (x, y) => {
            const box = innermost(chart, x, y);
            chart.it.tip(x, y, box && tipOf(view, chart, box));
        },
        click: (x, y, event) => {
            const box = innermost(chart, x, y);
            if (box) open(box.node, event.shiftKey);
        },
        key: keysOf(view, chart, open),
    });
    const used = new Set(chart.boxes.map(({ node }) => mainClass(node)));
    legend(
        element,
        IO.filter((kind) => used.has(kind)).map((kind) => [NAMES[kind], view.colours.classes[kind]]),
    );
    note(element, 'Files whose names differ in numbers alone are one area.');
    hint(element, 'A click opens a directory, or chooses a file; Escape goes up.');
}

const treemap = {
    id: 'treemap',
    title: 'Directories',
    axes: ['f', 'class'],
    isFor: (run) => run.extent.f > FEW,
    lacks: (run) => (hasCube(run, ['f', 'class']) ? null : 'The data have no table of files.'),
    completeness: ({ run }) => thinnedText(run, 'files'),
    numbers: treemapNumbers,
    sentence,
    draw,
};

export default treemap;
