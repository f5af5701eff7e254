// SPDX-License-Identifier: MIT
// What the canvas pictures ask of a run and of a view: the chosen window and rows, state that survives a redraw.

import { IS_IO } from '../classes.js';
import { answers } from '../model.js';
import { moved } from './span.js';

const states = new Map();

/** State of picture ID of VIEW: zoom, choices, cursor. It stays when the data of the run are fetched again. */
export function stateOf({ run, small }, id, initial = {}) {
    const key = `${run.name} ${small} ${id}`;
    if (!states.has(key)) states.set(key, { ...initial });
    return states.get(key);
}

/** MAKE, which is called once for its last argument: a run, or a finding of one. */
export function once(make) {
    const known = new WeakMap();

    return (...of) => {
        const key = of.at(-1);
        if (!known.has(key)) known.set(key, make(...of));
        return known.get(key);
    };
}

/** Whether PICTURE says something of one of RUNS at least: what says nothing is no card. */
export const isShown = (picture, runs) => runs.some((run) => !picture.lacks?.(run) && (picture.isFor?.(run) ?? true));

/** A byte for each of COUNT values of dimension DIM: 1 where the filter lets it pass. */
export function passing(view, dim, count) {
    return view.filter[dim] ?? new Uint8Array(count).fill(1);
}

/** Rows that a mask has, in order. */
export function rowsOf(mask) {
    const rows = [];
    mask.forEach((is_in, row) => {
        if (is_in) rows.push(row);
    });
    return rows;
}

/** The chosen bins [from, to), at least one. */
export function binsOf(view) {
    return view.filter.t ?? [0, Math.max(1, view.run.time.count)];
}

/** The chosen time in ns after base, never empty. */
export function windowOf(view) {
    const [from, to] = view.range();
    return [from, Math.max(to, from + 1)];
}

/** The window that is drawn: of two runs the longer one, so that both have one scale. */
export function drawnWindow(view) {
    const [from, to] = windowOf(view);
    const [start, end] = view.base ? windowOf(view.base) : [0, 0];
    return [from, from + Math.max(to - from, end - start)];
}

/** The share of the drawn window that this run has. */
export function windowShare(view) {
    const [from, to] = windowOf(view),
        [start, end] = drawnWindow(view);
    return (to - from) / (end - start);
}

/** Forgets the zoom of STATE when the chosen time changes, and keeps it within WINDOW when that grows. */
export function keepSpan(view, state, window) {
    const key = view.filter.t?.join() ?? '';
    if (state.key !== key || (state.span && state.span[1] - state.span[0] >= window[1] - window[0])) state.span = null;
    state.key = key;
    if (state.span) state.span = moved(state.span, window, 0);
}

/** Those of DIMS that the filter restricts. */
export const filtered = (view, dims) => view.filter.chosen.filter((dim) => dims.includes(dim));

export const hasCube = (run, axes) => run.cubes.some((cube) => answers(cube, axes));

/** Rows of a cube in which classes are told apart, unless a cube of AXES alone honours more of the filter. */
export function rowsByClass(view, axes) {
    const bare = view.rows(axes);
    if (!hasCube(view.run, [...axes, 'class'])) return bare;
    const answer = view.rows([...axes, 'class']);
    return answer.ignored.length > bare.ignored.length ? bare : answer;
}

/** Whether a row of a cube counts: as I/O, or as one of the calls that the filter has chosen. */
export function ioTest(view, cube) {
    if (!cube.class || view.filter.c) return () => true;
    return (row) => IS_IO[cube.class[row]];
}

/** OBJECT with MEMBERS that drawing needs, and that who copies or compares the object does not see. */
export function withHidden(object, members) {
    for (const [name, value] of Object.entries(members)) Object.defineProperty(object, name, { value, writable: true });
    return object;
}

/** Index of the greatest value, -1 where none is above zero. */
export function greatest(values) {
    let at = -1;
    for (let i = 0; i < values.length; i++) if (values[i] > (at < 0 ? 0 : values[at])) at = i;
    return at;
}

/** Groups rows by key in one pass: the rows of key k are `rows[start[k]]` to before `rows[start[k + 1]]`. */
export function grouped(keys, count, passes) {
    const start = new Uint32Array(count + 1);
    for (let i = 0; i < keys.length; i++) if (passes[i]) start[keys[i] + 1]++;
    for (let k = 0; k < count; k++) start[k + 1] += start[k];
    const next = start.slice(0, count);
    const rows = new Uint32Array(start[count]);
    for (let i = 0; i < keys.length; i++) if (passes[i]) rows[next[keys[i]]++] = i;
    return { start, rows };
}

/** What was thinned out of WHAT, as a sentence; "" when nothing was. */
export const thinnedText = (run, what) =>
    run.thinned
        .filter((one) => one.what === what)
        .map((one) => one.text)
        .join('; ');

/** The numbers of PICTURE of the other run, in a list: empty where there is none. */
export function otherNumbers(view, picture) {
    return view.base && !picture.lacks(view.base.run) ? [view.base.numbers(picture)] : [];
}

/** The name of row P as a reader knows it: a bare number is a rank, or a process without a name. */
export function nameOf(run, p) {
    const label = run.table('who').label[p] || String(p);
    if (!/^\d+$/.test(label) || run.who === 'ranks') return label;
    return `${run.who} ${label}`;
}

/** How wide NAMES at the left of the canvas IT are, with the font that is set: no more than there is room for. */
export function nameWidth(it, names) {
    const most = Math.min(190, Math.max(96, it.width / 4));
    const widest = names.reduce((wide, name) => Math.max(wide, it.context.measureText(name).width), 30);
    return Math.min(most, Math.ceil(widest) + 14);
}
