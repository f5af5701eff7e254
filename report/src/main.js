// SPDX-License-Identifier: MIT
// The start: finds the data, builds the page, says why when it cannot; what scripts and tests may ask the page.

import { DataError, decode, fromBase64, inflate } from './data.js';
import { el } from './draw.js';
import { follow } from './live.js';
import { Page } from './page.js';

const root = document.getElementById('page');
let page = null,
    settle;

/* Says what is wrong instead of the page. */
function sayFailure(error) {
    const sentence =
        error instanceof DataError
            ? error.message
            : `The page met an error that it does not know: ${error.message ?? error}`;

    root.replaceChildren(
        el(
            'main',
            { class: 'failure', role: 'alert' },
            el('h1', {}, 'This report cannot be shown'),
            el('p', {}, sentence),
        ),
    );
    page = null;
    document.documentElement.dataset.state = 'failed';
}

/** Shows the runs in BYTES (a zlib stream). The filter, and the place that is looked at, stay. */
async function load(bytes) {
    try {
        const data = decode(await inflate(bytes));
        if (page) page.replace(data);
        else page = new Page(root, data);
        document.documentElement.dataset.state = 'ready';
    } catch (error) {
        if (page && error instanceof DataError) throw error;
        sayFailure(error);
        if (!(error instanceof DataError)) throw error;
    }
}

window.dftrace = {
    load,
    /** Numbers of the picture ID, one for each run. */
    numbers: (id) => page?.numbers(id) ?? [],
    /** What is chosen, as texts. */
    get filter() {
        return page?.filterTexts() ?? null;
    },
    /** Chooses, as views do: select({p: [3]}, add). The rows are those of the first run. */
    select: (change, add) => page?.select(0, change, add),
    /** Settles when the page, or the reason why there is none, is shown. */
    ready: new Promise((resolve) => {
        settle = resolve;
    }),
};

async function start() {
    const url = document.querySelector('meta[name="dftrace-live"]')?.content;
    const text = document.getElementById('dftrace-data')?.textContent.trim() ?? '';

    try {
        if (text || !url) await load(fromBase64(text));
        if (url) follow(url, root, load, () => page);
    } catch (error) {
        sayFailure(error);
    } finally {
        settle();
    }
}

start();
