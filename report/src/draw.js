// SPDX-License-Identifier: MIT
// What pictures share: elements, colours, canvases, axes of time, tooltips, and brushing.

import * as format from './format.js';

/**
 * An element: `el('div', {class: 'x', title: 'y', onclick: f}, 'text', child)`. Texts become text nodes, so nothing of
 * the data is ever markup.
 */
export function el(name, attributes = {}, ...children) {
    const svg = ['svg', 'g', 'rect', 'line', 'path', 'text', 'circle', 'title'].includes(name);
    const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);

    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
        else if (key === 'style')
            Object.entries(value).forEach(([property, text]) => node.style.setProperty(property, text));
        else node.setAttribute(key, value === true ? '' : String(value));
    }
    node.append(
        ...children
            .flat()
            .filter((child) => child !== null && child !== undefined)
            .map((child) => (child instanceof Node ? child : String(child))),
    );
    return node;
}

/** Colours as they stand in page.css now: by class of calls (an array), and by name. */
export function colours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim() || '#888';
    const named = {};

    for (const name of [
        'text',
        'dim',
        'faint',
        'line',
        'surface',
        'page',
        'accent',
        'bad',
        'compute',
        'hidden',
        'exposed',
        'idle',
    ])
        named[name] = get(name);
    return {
        ...named,
        classes: ['none', 'read', 'write', 'sync', 'meta', 'wait', 'startup'].map((word) => get(`class-${word}`)),
        font: '11px ' + get('font'),
        isDark: get('scheme') === 'dark',
        heat: ramp([0, 1, 2, 3, 4, 5].map((step) => get(`heat-${step}`))),
    };
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) || 0);

/* 256 colours through STOPS: `[red, green, blue]` each. */
function ramp(stops) {
    const points = stops.map(channels);

    return Array.from({ length: 256 }, (_, i) => {
        const place = (i / 255) * (points.length - 1);
        const left = Math.min(Math.floor(place), points.length - 2);
        return points[left].map((value, k) => Math.round(value + (points[left + 1][k] - value) * (place - left)));
    });
}

/**
 * A canvas as wide as HOST, HEIGHT pixels high, sharp on each screen: `{canvas, context, width, height}`. LABEL is what
 * a screen reader says.
 */
export function canvas(host, height, label) {
    const node = el('canvas', { role: 'img', 'aria-label': label, tabindex: 0 });
    const width = Math.max(60, Math.floor(host.clientWidth));
    const scale = window.devicePixelRatio || 1;

    node.width = Math.round(width * scale);
    node.height = Math.round(height * scale);
    node.style.width = width + 'px';
    node.style.height = height + 'px';
    host.append(node);
    const context = node.getContext('2d');
    context.scale(scale, scale);
    return { canvas: node, context, width, height };
}

/** Round values from FROM to TO, about COUNT of them. */
export function ticks(from, to, count = 5) {
    const span = to - from;

    if (!(span > 0)) return [from];
    const raw = span / Math.max(1, count),
        power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
    const values = [];
    for (let value = Math.ceil(from / step - 1e-9) * step; value <= to + step * 1e-9; value += step) values.push(value);
    return values;
}

/** A round number of bytes at or above VALUE: 1, 2, 4, 8 ... KiB. */
export function bytesAbove(value) {
    return value > 0 ? 2 ** Math.ceil(Math.log2(value)) : 1;
}

/**
 * Draws an axis of time from FROM to TO (ns from the start of the run) below Y, between X and X + WIDTH.
 */
export function timeAxis(context, { x, width, y, from, to, colours: shades }) {
    const values = ticks(from, to, Math.max(2, Math.floor(width / 90)));
    const step = values.length > 1 ? values[1] - values[0] : to - from;

    context.save();
    context.font = shades.font;
    context.fillStyle = shades.dim;
    context.strokeStyle = shades.line;
    context.textBaseline = 'top';
    context.beginPath();
    context.moveTo(x, y + 0.5);
    context.lineTo(x + width, y + 0.5);
    let free = -Infinity;
    for (const value of values) {
        const place = Math.round(x + ((value - from) / (to - from || 1)) * width) + 0.5;
        context.moveTo(place, y);
        context.lineTo(place, y + 4);
        const text = format.tick(value, step, to);
        const half = context.measureText(text).width / 2;
        const start = Math.min(Math.max(place - half, x), Math.max(x, x + width - 2 * half));
        if (start < free) continue;
        free = start + 2 * half + 8;
        context.fillText(text, start, y + 6);
    }
    context.stroke();
    context.restore();
}

/** Whether the page is drawn for paper, which does not scroll: what scrolls shows its first rows, and says so. */
export const paper = { isOn: false };

/** What a printed page says of what shows only the first SHOWN of COUNT rows. */
export const onPaper = (shown, count) =>
    el('p', { class: 'dim' }, `On paper: the first ${format.count(shown)} of ${format.counted(count, 'row')}.`);

let tip;

/** Shows a tooltip at an event or {clientX, clientY}. A line is a text, or [label, value, colour]. */
export function showTip(place, lines) {
    tip ??= document.body.appendChild(el('div', { class: 'tip', role: 'status' }));
    tip.replaceChildren(
        ...lines
            .filter(Boolean)
            .map((line, i) =>
                Array.isArray(line)
                    ? el(
                          'div',
                          { class: 'tip-row' },
                          el(
                              'span',
                              { class: 'tip-name' },
                              line[2] ? el('i', { class: 'swatch', style: { background: line[2] } }) : null,
                              format.safe(line[0]),
                          ),
                          el('b', {}, format.safe(line[1])),
                      )
                    : el('div', { class: i ? 'tip-note' : 'tip-head' }, format.safe(line)),
            ),
    );
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = place.clientX + 14 + width > innerWidth ? place.clientX - width - 10 : place.clientX + 14;
    const y = place.clientY + 14 + height > innerHeight ? place.clientY - height - 10 : place.clientY + 14;
    tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
}

export function hideTip() {
    if (tip) tip.hidden = true;
}

/** Shows LINES() while the pointer or the focus is on NODE. */
export function tipOn(node, lines) {
    node.addEventListener('pointermove', (event) => showTip(event, lines()));
    node.addEventListener('pointerleave', hideTip);
    node.addEventListener('focus', () => {
        const box = node.getBoundingClientRect();
        if (node.matches(':focus-visible'))
            showTip({ clientX: box.left + box.width / 2, clientY: box.bottom }, lines());
    });
    node.addEventListener('blur', hideTip);
    return node;
}

/**
 * Lets a range of x be brushed on NODE (position: relative), between LEFT and LEFT + WIDTH() pixels (or WIDTH):
 * `done(from, to)` with
 * shares from 0 to 1; `clear()` at a double click. A finger that moves sideways brushes, up or down it scrolls the page. A click without a drag is left to others. By keys: arrows move a
 * cursor (`hover(share)`), shift and arrows open a range, Enter chooses it.
 */
export function brush(node, { left, width, done, clear = () => {}, hover = () => {} }) {
    const band = node.appendChild(el('div', { class: 'brush', hidden: true }));
    const wide = () => (typeof width === 'function' ? width() : width) || 1;
    const shareOf = (event) =>
        Math.min(1, Math.max(0, (event.clientX - node.getBoundingClientRect().left - left) / wide()));
    node.style.touchAction = 'pan-y';
    let start = null,
        cursor = null,
        mark = null;
    const show = (a, b) => {
        band.hidden = false;
        band.style.left = left + Math.min(a, b) * wide() + 'px';
        band.style.width = Math.max(1, Math.abs(b - a) * wide()) + 'px';
    };

    node.addEventListener('pointerdown', (event) => {
        if (event.button === 0 && event.isPrimary !== false) start = shareOf(event);
    });
    node.addEventListener('pointermove', (event) => {
        if (start !== null && Math.abs(shareOf(event) - start) * wide() > 4) {
            node.setPointerCapture(event.pointerId);
            show(start, shareOf(event));
        }
    });
    node.addEventListener('pointerup', (event) => {
        const from = start,
            to = shareOf(event);
        start = null;
        band.hidden = true;
        if (from !== null && Math.abs(to - from) * wide() > 4) done(Math.min(from, to), Math.max(from, to));
    });
    node.addEventListener('pointercancel', () => {
        start = null;
        band.hidden = true;
    });
    node.addEventListener('dblclick', clear);
    node.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) {
            cursor = Math.min(1, Math.max(0, (cursor ?? 0.5) + step / (event.ctrlKey ? 20 : 200)));
            mark = event.shiftKey ? (mark ?? cursor - step / 200) : null;
            show(mark ?? cursor, cursor);
            hover(cursor);
            event.preventDefault();
        } else if (event.key === 'Enter' && mark !== null) {
            done(Math.min(mark, cursor), Math.max(mark, cursor));
        }
    });
    node.addEventListener('blur', () => {
        band.hidden = true;
    });
}

/** The bins of RUN between two shares of the range [from, to) in ns after base: whole bins, at least one. */
export function binsBetween(run, from, to, a, b) {
    const { width_ns: width, count } = run.time;
    const first = Math.min(Math.max(0, count - 1), Math.max(0, Math.floor((from + a * (to - from)) / width)));

    return [first, Math.max(first + 1, Math.min(count, Math.ceil((from + b * (to - from)) / width)))];
}
