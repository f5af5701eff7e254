// SPDX-License-Identifier: MIT
// Follows a server: fetches the data each second, and says when they came, or that the server is gone.

import { DataError } from './data.js';
import { el } from './draw.js';
import { cut } from './format.js';

const EACH_MS = 1000,
    MOST_LETTERS = 300,
    MOST_IN_BAR = 60;

/* Whether two arrays have the same bytes. */
function isSame(a, b) {
    return a !== null && a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/* What a server says that has no data. */
class Answer extends Error {}

/* What is wrong, for the reader of the page. */
function sentenceOf(error) {
    if (error instanceof Answer) return error.message;
    return error instanceof DataError ? 'the server sends what cannot be read' : 'the server is gone';
}

/** Why a server has no data: its text, cut, or the number of its answer. */
export async function reasonOf(response) {
    const lines = (await response.text().catch(() => '')).replace(/^dftmerge: /gm, '');
    const text = lines.replace(/\s+/g, ' ').trim();
    const isText = text && !/^\s*</.test(text);

    return isText ? cut(text, MOST_LETTERS) : `the server answers ${response.status}`;
}

const clock = () => new Date().toTimeString().slice(0, 8);

/**
 * Fetches URL each second and hands its bytes to LOAD. PAGE() is the page, or null before the first data; until then
 * ROOT says that the page waits.
 */
export function follow(url, root, load, page) {
    const status = el('span', { class: 'live', role: 'status' }, 'live');
    const pause = el('button', { type: 'button', 'aria-pressed': 'false', title: 'p' }, 'pause');
    let isPaused = false,
        isHeld = false,
        last = null,
        shown = null;
    const say = (text, isGone = false) => {
        status.textContent = text;
        status.classList.toggle('is-gone', isGone);
    };
    const toggle = () => {
        isPaused = !isPaused;
        pause.textContent = isPaused ? 'go on' : 'pause';
        pause.setAttribute('aria-pressed', String(isPaused));
        say(isPaused ? `paused, as of ${last ?? 'never'}` : 'live');
    };
    const show = () => page()?.showLive(status, pause);

    /* A page that is dragged over stays as it is. */
    async function update() {
        const response = await fetch(url, { cache: 'no-store' });
        if (!response.ok) throw new Answer(await reasonOf(response));
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (isPaused || isHeld) return;
        if (!isSame(shown, bytes)) await load(bytes);
        shown = bytes;
        last = clock();
        say(page()?.isRunning() ? `live, updated ${last}` : `the run has ended; as of ${last}`);
        status.title = '';
    }

    async function step() {
        if (!isPaused && !isHeld && !document.hidden) {
            try {
                await update();
            } catch (error) {
                const what = cut(sentenceOf(error), page() ? MOST_IN_BAR : MOST_LETTERS);
                say(`${what}${last ? `; as of ${last}` : ''}`, true);
                status.title = String(error.message ?? error);
            }
            show();
        }
        setTimeout(step, EACH_MS);
    }

    document.addEventListener('pointerdown', () => {
        isHeld = true;
    });
    for (const end of ['pointerup', 'pointercancel'])
        document.addEventListener(end, () => {
            isHeld = false;
        });
    pause.addEventListener('click', toggle);
    document.addEventListener('dftrace-pause', toggle);
    if (!page())
        root.replaceChildren(el('main', { class: 'failure' }, el('h1', {}, 'Waiting for the first data'), status));
    step();
}
