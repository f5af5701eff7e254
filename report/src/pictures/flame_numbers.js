// SPDX-License-Identifier: MIT
// The numbers of the flame graph: a tree of functions or of regions, and who calls a function and whom it calls.

import { hasCube, ioTest, rowsByClass, withHidden } from './parts.js';

/** What a flame graph can be by: column of a cube, word, and whether it is time. */
export const MEASURES = [
    ['d', 'time'],
    ['b', 'bytes'],
    ['n', 'calls'],
];

/** Whether frame NAME is of a library, "write [libc.so.6]"; own code has its line, "main (a.c:12)". */
export const isLibrary = (name) => / \[(?!clone )[^\]]*\]$/.test(name);

/** The name of the frame of calls without a stack. */
export const NO_STACK = '(no stack)';

const SEPARATOR = ';',
    DEEPEST = 256;

const node = (name, parent, depth) =>
    withHidden(
        { name, depth, d: 0, b: 0, n: 0, self: { d: 0, b: 0, n: 0 }, children: [] },
        { parent, places: new Map() },
    );

function addAt(root, names, d, b, n) {
    let at = root;
    const add = (to) => {
        to.d += d;
        to.b += b;
        to.n += n;
    };

    add(root);
    for (const name of names) {
        if (!at.places.has(name)) {
            at.children.push(node(name, at, at.depth + 1));
            at.places.set(name, at.children.at(-1));
        }
        at = at.places.get(name);
        add(at);
    }
    add(at.self);
}

/** Which kinds of tree a run can have: of call stacks, of regions. */
export function kindsOf(run) {
    const kinds = [];
    if (run.has('stacks') && hasCube(run, ['k'])) kinds.push('stacks');
    if (run.table('regions').rows > 1 && hasCube(run, ['g', 'c'])) kinds.push('regions');
    return kinds;
}

/** The tree under the filter: of I/O, or of the calls that are chosen. */
export function flameNumbers(view, kind) {
    const { run } = view;
    const root = node('all', null, 0);
    const answer = kind === 'stacks' ? rowsByClass(view, ['k']) : view.rows(['g', 'c']);
    const { cube, passes } = answer;
    const texts = kind === 'stacks' ? run.table('stacks').text : run.table('regions').name;
    const { name: calls, is_region: isRegion } = run.table('calls');
    const split = new Map();
    const counts = ioTest(view, cube);
    const namesOf = (row) => {
        if (kind === 'regions') return [texts[cube.g[row]] || '(no region)', calls[cube.c[row]]];
        const k = cube.k[row];
        if (!split.has(k)) split.set(k, texts[k] ? texts[k].split(SEPARATOR, DEEPEST) : [NO_STACK]);
        return split.get(k);
    };

    for (let i = 0; i < answer.count; i++)
        if (passes[i] && counts(i) && (cube.n[i] || cube.d[i]) && !(cube.c && isRegion[cube.c[i]]))
            addAt(root, namesOf(i), cube.d[i], cube.b[i], cube.n[i]);
    return { kind, root, is_io: Boolean(cube.class) && !view.filter.c, ...heaviest(root), ignored: answer.ignored };
}

/*
 * The function that is at the end of stacks for most of the time, and `own`: the one that is the last of the program's
 * own, which is the same where there is none; the deepest depth.
 */
function heaviest(root) {
    const own = functionsOf(root);
    let top = null,
        depth = 0;

    for (const one of own.values()) if (one.name !== NO_STACK && (!top || one.self > top.self)) top = one;
    const selves = new Map();
    const walk = (at, last) => {
        const mine = at.parent && at.name !== NO_STACK && !isLibrary(at.name) ? at.name : last;
        depth = Math.max(depth, at.depth);
        if (mine) selves.set(mine, (selves.get(mine) ?? 0) + at.self.d);
        at.children.forEach((child) => walk(child, mine));
    };
    walk(root, null);
    const [name, self] = [...selves].reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
    return { top, own: name ? { name, self } : top, depth, functions: own.size };
}

/** By name: `total` in which it is anywhere on the stack, counted once where it recurs, and `self` at its end. */
export function functionsOf(root, measure = 'd') {
    const own = new Map();
    const open = new Map();
    const walk = (at) => {
        if (!own.has(at.name)) own.set(at.name, { name: at.name, total: 0, self: 0 });
        const one = own.get(at.name);
        const depth = open.get(at.name) ?? 0;
        if (!depth) one.total += at[measure];
        one.self += at.self[measure];
        open.set(at.name, depth + 1);
        at.children.forEach(walk);
        open.set(at.name, depth);
    };

    root.children.forEach(walk);
    return own;
}

/**
 * Who calls function NAME, and whom it calls, each `[{name, value}]`, greatest first. Where it calls itself the outermost
 * one counts, so both lists sum up to its total.
 */
export function aroundOf(root, name, measure = 'd') {
    const callers = new Map(),
        callees = new Map();
    const add = (to, key, value) => to.set(key, (to.get(key) ?? 0) + value);
    const walk = (at) => {
        if (at.name !== name) {
            at.children.forEach(walk);
            return;
        }
        add(callers, at.parent.parent ? at.parent.name : '(outermost)', at[measure]);
        add(callees, '(itself)', at.self[measure]);
        at.children.forEach((child) => add(callees, child.name, child[measure]));
    };

    root.children.forEach(walk);
    const sorted = (map) =>
        [...map]
            .filter(([, value]) => value > 0)
            .map(([key, value]) => ({ name: key, value }))
            .sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    return { callers: sorted(callers), callees: sorted(callees) };
}

/** Rectangles of the tree below `root`, ordered: `{node, depth, from, to}` as shares of the root's measure. */
export function layout(root, measure) {
    const out = [];
    const walk = (at, depth, from) => {
        if (!at[measure]) return;
        out.push({ node: at, depth, from, to: from + at[measure] });
        let next = from;
        for (const child of [...at.children].sort((a, b) => b[measure] - a[measure])) {
            walk(child, depth + 1, next);
            next += child[measure];
        }
    };

    walk(root, 0, 0);
    return out;
}
