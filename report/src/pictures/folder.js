// SPDX-License-Identifier: MIT
// The folder that most of a run's I/O is below: names are shown without it.

import { IO, STARTUP } from '../classes.js';
import { everything } from '../filter.js';
import { View } from '../model.js';
import { once } from './parts.js';

const MOST_OF = 0.8,
    LEAST_DEPTH = 2;

/* The folder, with a slash at its end, that has MOST_OF the WEIGHTS of PATHS, as deep as there is one; or "". */
export function commonFolder(paths, weights) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    let folder = '/',
        depth = 0;

    for (;;) {
        const below = new Map();
        for (let i = 0; i < paths.length; i++) {
            const end = weights[i] && paths[i].startsWith(folder) ? paths[i].indexOf('/', folder.length) : -1;
            if (end < 0) continue;
            const next = paths[i].slice(0, end + 1);
            below.set(next, (below.get(next) ?? 0) + weights[i]);
        }
        const [best, weight] = [...below].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
        if (!(weight > 0 && weight >= MOST_OF * total)) return depth < LEAST_DEPTH ? '' : folder;
        folder = best;
        depth++;
    }
}

/** The folder of RUN, with a slash at its end, or "". */
export const folderOf = once((run) => {
    const sums = new View(run, everything()).sums(['f', 'class'], { columns: ['d'] });
    const paths = run.table('files').path;
    const weights = Float64Array.from(paths, (_, f) =>
        IO.reduce((ns, kind) => ns + (kind === STARTUP ? 0 : sums.d[f * 7 + kind] || 0), 0),
    );

    return commonFolder(paths, weights);
});

/** PATH without the folder of RUN. */
export function shortOf(run, path) {
    const folder = folderOf(run);

    return folder && path.startsWith(folder) && path.length > folder.length ? path.slice(folder.length) : path;
}
