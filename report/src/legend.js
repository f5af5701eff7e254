// SPDX-License-Identifier: MIT
// Names of classes with their colours: a click chooses the calls of a class.

import { NAMES, WORDS } from './classes.js';
import { el } from './draw.js';

/** A button that chooses the calls of class KIND, with its colour and TEXT. */
export function classButton(view, kind, { text = NAMES[kind], css = null } = {}) {
    return el(
        'button',
        { type: 'button', class: css, onclick: (event) => view.select({ class: [WORDS[kind]] }, event.shiftKey) },
        el('i', { class: 'swatch', style: { background: view.colours.classes[kind] } }),
        text,
    );
}

/** A legend of the classes KINDS. */
export function legend(view, kinds, ...more) {
    return el('div', { class: 'legend' }, ...more, ...kinds.map((kind) => classButton(view, kind)));
}
