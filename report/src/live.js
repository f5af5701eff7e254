// SPDX-License-Identifier: MIT
// Follows a server: fetches the data each second, and says when they came, or that the server is gone.

import { el } from './draw.js';

const EACH_MS = 1000;

const clock = () => new Date().toTimeString().slice(0, 8);

/**
 * Fetches URL each second and hands its bytes to LOAD. PAGE() is the page, or null before the first data; until then
 * ROOT says that the page waits.
 */
export function follow(url, root, load, page) {
    const status = el('span', { class: 'live', role: 'status' }, 'live');
    const pause = el('button', { type: 'button', 'aria-pressed': 'false', title: 'p' }, 'pause');
    let isPaused = false, last = null;
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

    async function step() {
        if (!isPaused && !document.hidden) {
            try {
                const response = await fetch(url, { cache: 'no-store' });
                if (!response.ok)
                    throw new Error(`the server answers ${response.status}`);
                const bytes = new Uint8Array(await response.arrayBuffer());
                if (!isPaused) {
                    await load(bytes);
                    last = clock();
                    say(`live, updated ${last}`);
                }
            } catch (error) {
                say(`the server is gone${last ? `; as of ${last}` : ''}`, true);
                status.title = String(error.message ?? error);
            }
            show();
        }
        setTimeout(step, EACH_MS);
    }

    pause.addEventListener('click', toggle);
    document.addEventListener('dftrace-pause', toggle);
    if (!page())
        root.replaceChildren(el('main', { class: 'failure' }, el('h1', {}, 'Waiting for the first data'), status));
    step();
}
