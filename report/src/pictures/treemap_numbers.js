// SPDX-License-Identifier: MIT
// The numbers of the map of directories: a tree of paths with time, bytes and calls, and the rectangles that show it.

import { IO } from '../classes.js';
import { withHidden } from './parts.js';

const directory = (name, path, parent) =>
    withHidden(
        { name, path, d: 0, b: 0, n: 0, classes: new Array(7).fill(0), files: [], children: [] },
        { parent, places: new Map() },
    );

/* What stands at KEY in AT, made where it is not there yet. */
function placeIn(at, key, name) {
    if (!at.places.has(key)) {
        at.children.push(directory(name, at.path + name, at));
        at.places.set(key, at.children.at(-1));
    }
    return at.places.get(key);
}

/* Puts the file into its directory; files of one pattern share a leaf. */
function leafOf(root, path, pattern, is_folded) {
    const parts = path.split('/');
    const name = parts.pop();
    let at = root;

    for (const part of parts) at = placeIn(at, `/${part}`, `${part}/`);
    const title = is_folded ? pattern.slice(pattern.lastIndexOf('/') + 1) || name : name || '(itself)';
    return placeIn(at, `${is_folded ? '#' : '='}${title}`, title);
}

/* Directories that have nothing but one directory become one with it. */
function joined(at) {
    at.children = at.children.map(joined);
    const [only] = at.children;
    if (at.parent && at.children.length === 1 && only.children.length) {
        only.name = at.name + only.name;
        only.parent = at.parent;
        return only;
    }
    return at;
}

export function treemapNumbers(view) {
    const { run } = view;
    const answer = view.rows(['f', 'class']);
    const { cube, passes } = answer;
    const { path: paths, pattern } = run.table('files');
    const texts = run.table('patterns').text ?? [];
    const folded = patternsOf(pattern ?? [], paths.length);
    const root = directory('', '', null);
    const leaves = new Map();

    for (let i = 0; i < answer.count; i++) {
        const f = cube.f[i],
            kind = cube.class[i];
        if (!passes[i] || !IO.includes(kind)) continue;
        if (!leaves.has(f)) {
            const path = f && paths[f] ? paths[f] : '(other files)';
            const leaf = leafOf(root, path, texts[pattern?.[f]] ?? '', f > 0 && folded(f));
            leaf.files.push(f);
            leaves.set(f, leaf);
        }
        for (let at = leaves.get(f); at; at = at.parent) {
            at.d += cube.d[i];
            at.b += cube.b[i];
            at.n += cube.n[i];
            at.classes[kind] += cube.d[i];
        }
    }
    const whole = joined(root);
    return { root: whole, files: leaves.size, largest: largestOf(whole), ignored: answer.ignored };
}

/* Whether a file is of a pattern that several files are of. */
function patternsOf(pattern, count) {
    const met = new Map();
    for (let f = 1; f < count; f++) met.set(pattern[f], (met.get(pattern[f]) ?? 0) + 1);
    return (f) => pattern.length > 0 && met.get(pattern[f]) > 1;
}

/* The deepest directory that has at least two thirds of the time, else the first of the largest. */
function largestOf(root) {
    let at = root;
    for (;;) {
        const next = at.children.filter((child) => child.children.length).sort((a, b) => b.d - a.d)[0];
        if (!next || (at !== root && next.d < (2 / 3) * at.d)) return at === root ? null : at;
        at = next;
    }
}

/** The directory or file at `path`, the root where there is none. */
export function nodeAt(root, path) {
    let at = root;
    while (at.path !== path) {
        const next = at.children.find(
            (child) => path === child.path || (child.children.length && path.startsWith(child.path)),
        );
        if (!next) return root;
        at = next;
    }
    return at;
}

/* How far from a square the worst of a row of areas is, laid along `side`. */
const badness = (least, most, sum, side) =>
    Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));

/** Rectangles for `items` with `value(item)` in [x, y, w, h], as square as can be: `{item, x, y, w, h}`. */
export function squares(items, value, x, y, w, h) {
    const sorted = items.filter((item) => value(item) > 0).sort((a, b) => value(b) - value(a));
    const total = sorted.reduce((sum, item) => sum + value(item), 0);
    const scale = total > 0 ? (w * h) / total : 0;
    const out = [];

    for (let i = 0; i < sorted.length && w > 0 && h > 0;) {
        const side = Math.min(w, h),
            most = value(sorted[i]) * scale;
        let end = i + 1,
            sum = most,
            worst = badness(most, most, sum, side);
        for (; end < sorted.length; end++) {
            const next = value(sorted[end]) * scale;
            const with_next = badness(next, most, sum + next, side);
            if (with_next > worst) break;
            worst = with_next;
            sum += next;
        }
        const thick = Math.min(sum / side, Math.max(w, h));
        let along = 0;
        for (; i < end; i++) {
            const length = (value(sorted[i]) * scale) / thick;
            out.push(
                w >= h
                    ? { item: sorted[i], x, y: y + along, w: thick, h: length }
                    : { item: sorted[i], x: x + along, y, w: length, h: thick },
            );
            along += length;
        }
        if (w >= h) [x, w] = [x + thick, w - thick];
        else [y, h] = [y + thick, h - thick];
    }
    return out;
}
