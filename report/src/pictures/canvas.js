// SPDX-License-Identifier: MIT
// A canvas that is crisp, scrolls over more rows than a screen has, and hands on pointer, wheel and keys.

import { el, hideTip, onPaper, paper, showTip } from '../draw.js';
import { safe } from '../format.js';

const ON_PAPER = 800;

/**
 * A canvas in HOST. OPTIONS: label, height, total (of all rows, to scroll over), rows(height) (how many rows lie in a
 * height, and how many there are), state, paint(stage), and what it answers to: move(x, y), click(x, y, event), drag(from, to, isDone, event), wheel(x, y, event), key(event). The last two return
 * whether they used the event. A drag that was cancelled ends with isDone null. STATE remembers scroll and focus.
 */
export function stage(host, options) {
    const { state } = options;
    const total = Math.max(options.height, options.total ?? 0);
    const height = paper.isOn ? Math.min(total, Math.max(options.height, ON_PAPER)) : options.height;
    const canvas = el('canvas', { role: 'img', 'aria-label': options.label, tabindex: 0 });
    const box = host.appendChild(
        el('div', { class: 'stage' }, canvas, el('div', { style: { height: `${total - height}px` } })),
    );

    box.style.cssText = `position:relative;overflow:hidden ${total > height ? 'auto' : 'hidden'};height:${height}px`;
    canvas.style.cssText = 'position:sticky;top:0;display:block;touch-action:pan-y';
    const width = Math.max(160, box.clientWidth || host.clientWidth || 600);
    const ratio = Math.max(1, Math.min(3, window.devicePixelRatio || 1));
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const it = { box, canvas, context: canvas.getContext('2d'), width, height, ratio, top: 0, total };
    it.repaint = repainter(it, options);
    it.tip = (x, y, lines) => {
        const edge = canvas.getBoundingClientRect();
        if (lines) showTip({ clientX: edge.left + x, clientY: edge.top + y }, lines);
        else hideTip();
    };
    if (paper.isOn && total > height && options.rows) host.append(onPaper(...options.rows(height)));
    box.scrollTop = paper.isOn ? 0 : Math.min(state.top ?? 0, total - height);
    box.addEventListener('scroll', () => {
        if (!paper.isOn) state.top = box.scrollTop;
        it.repaint();
    });
    listen(it, options);
    paintNow(it, options);
    if (state.hasFocus) canvas.focus({ preventScroll: true });
    return it;
}

function paintNow(it, options) {
    it.top = it.box.scrollTop;
    it.context.setTransform(it.ratio, 0, 0, it.ratio, 0, 0);
    it.context.clearRect(0, 0, it.width, it.height);
    it.context.textBaseline = 'middle';
    options.paint(it);
}

/* Paints once a frame, however often it is asked to. */
function repainter(it, options) {
    let isAsked = false;
    return () => {
        if (isAsked) return;
        isAsked = true;
        requestAnimationFrame(() => {
            isAsked = false;
            paintNow(it, options);
        });
    };
}

function listen(it, options) {
    const { canvas } = it;
    const at = (event) => {
        const edge = canvas.getBoundingClientRect();
        return { x: event.clientX - edge.left, y: event.clientY - edge.top };
    };
    canvas.addEventListener(
        'wheel',
        (event) => {
            const may = event.ctrlKey || document.activeElement === canvas;
            if (may && options.wheel?.(at(event).x, at(event).y, event)) event.preventDefault();
        },
        { passive: false },
    );
    canvas.addEventListener('keydown', (event) => {
        if (!event.metaKey && !event.altKey && options.key?.(event)) {
            event.preventDefault();
            event.stopPropagation();
        }
    });
    canvas.addEventListener('focus', () => {
        options.state.hasFocus = true;
    });
    canvas.addEventListener('blur', () => {
        hideTip();
        options.state.hasFocus = !canvas.isConnected;
    });
    canvas.addEventListener('pointerleave', hideTip);
    listenToDrags(canvas, at, options);
}

function listenToDrags(canvas, at, options) {
    let from = null,
        isDrag = false;
    const end = (event) => {
        if (!from) return;
        const isDone = event.type === 'pointerup';
        if (isDrag) options.drag?.(from, at(event), isDone || null, event);
        else if (isDone) options.click?.(at(event).x, at(event).y, event);
        from = null;
    };

    canvas.addEventListener('pointerdown', (event) => {
        if (event.button || (event.pointerType === 'touch' && !event.isPrimary)) return;
        from = at(event);
        isDrag = false;
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
        const to = at(event);
        if (from && (isDrag || Math.hypot(to.x - from.x, to.y - from.y) > 4)) {
            isDrag = true;
            options.drag?.(from, to, false, event);
        } else {
            options.move?.(to.x, to.y, event);
        }
    });
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
}

/** The longest beginning of TEXT, with an ellipsis, that fits into WIDTH; "" where not even two letters do. */
export function cut(context, text, width) {
    const whole = safe(text);
    let low = 0,
        high = Math.min(whole.length, Math.ceil(width / 2));

    if (width < 8 || !whole) return '';
    if (high === whole.length && context.measureText(whole).width <= width) return whole;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`${whole.slice(0, middle)}\u2026`).width <= width) low = middle;
        else high = middle - 1;
    }
    return low < 2 ? '' : `${whole.slice(0, low)}\u2026`;
}

/** NAME, cut in its middle to fit into WIDTH: names of neighbours often differ at their ends alone. */
export function cutName(context, name, width) {
    const whole = safe(name);
    let low = 0,
        high = whole.length;

    if (context.measureText(whole).width <= width) return whole;
    const part = (letters) => {
        const tail = Math.floor((2 * letters) / 3);
        return `${whole.slice(0, letters - tail)}\u2026${whole.slice(whole.length - tail)}`;
    };
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(part(middle)).width <= width) low = middle;
        else high = middle - 1;
    }
    return low < 2 ? '' : part(low);
}

/** A choice in HOST of few OPTIONS `[[value, text], ...]`, all of them seen; CHANGED gets the value. */
export function choice(host, name, options, value, changed) {
    host.append(
        el(
            'span',
            { class: 'group', role: 'group', 'aria-label': name },
            ...options.map(([key, text]) =>
                el(
                    'button',
                    { type: 'button', 'aria-pressed': String(key === value), onclick: () => changed(key) },
                    safe(text),
                ),
            ),
        ),
    );
}

/** The same of many, in a list that opens. Values are numbers. */
export function choiceOfMany(host, name, options, value, changed) {
    const list = el(
        'select',
        { style: { font: 'inherit', 'max-width': '100%' }, onchange: () => changed(Number(list.value)) },
        ...options.map(([key, text]) => el('option', { value: key, selected: key === value }, safe(text))),
    );
    host.append(el('label', { class: 'dim', style: { 'font-size': '12px', 'max-width': '100%' } }, `${name} `, list));
}

/** A field to search in. CHANGED gets the text, lower case, while it is typed. */
export function searchField(host, name, state, changed) {
    const field = el('input', { type: 'search', placeholder: name, 'aria-label': name, value: state.search ?? '' });
    field.addEventListener('input', () => {
        state.search = field.value;
        changed(field.value.toLowerCase());
    });
    host.append(field);
}

/** What colours mean: `[[text, colour], ...]`. */
export function legend(host, entries) {
    host.append(
        el(
            'div',
            { class: 'legend', style: { 'margin-top': '4px' } },
            ...entries.map(([text, colour]) =>
                el(
                    'span',
                    { style: { 'white-space': 'nowrap' } },
                    el('i', { class: 'swatch', style: { background: colour } }),
                    text,
                ),
            ),
        ),
    );
}

/** A row of controls above a picture. */
export function controls(host) {
    return host.appendChild(el('div', { class: 'controls' }));
}

/** A note below a picture. */
export function note(host, text) {
    host.append(el('p', { class: 'dim note' }, text));
}

/** The same of what a pointer does: it is not printed. */
export function hint(host, text) {
    host.append(el('p', { class: 'dim note is-pointer' }, text));
}

/** SHARE of the colour B in A, both `#rrggbb`. */
export function mix(a, b, share) {
    const part = (text, at) => parseInt(text.slice(at, at + 2), 16) || 0;
    const mixed = [1, 3, 5].map((at) => Math.round(part(a, at) * (1 - share) + part(b, at) * share));
    return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** A number from 0 to below COUNT that is the same for the same NAME. */
export function shadeOf(name, count) {
    let hash = 7;
    for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
    return hash % count;
}

const inks = new Map();

/** Black or white, whichever is read more easily on a colour `#rrggbb`. */
export function inkOn(colour) {
    if (!inks.has(colour)) {
        const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) || 0) / 255);
        inks.set(colour, 0.2126 * red ** 2.2 + 0.7152 * green ** 2.2 + 0.0722 * blue ** 2.2 > 0.2 ? '#000' : '#fff');
    }
    return inks.get(colour);
}
