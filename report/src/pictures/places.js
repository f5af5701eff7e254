// SPDX-License-Identifier: MIT
// The places that a finding speaks of: its rank, its files, its time, its line of the source.

import * as format from '../format.js';
import { shortOf } from './folder.js';
import { once } from './parts.js';

/* Rows of files that are PATH, are of the pattern PATH, or lie below it. */
function filesAt(run, path) {
    const { path: paths, pattern: patterns } = run.table('files'),
        rows = [],
        pattern = [...(run.table('patterns').text ?? [])].indexOf(path);

    if (pattern >= 0) return [...paths.keys()].filter((row) => row && patterns[row] === pattern);

    for (let row = 1; row < paths.length; row++)
        if (paths[row] === path) return [row];
        else if (paths[row].startsWith(path.endsWith('/') ? path : path + '/')) rows.push(row);
    return rows;
}

/** The bins of RUN between two times of Unix, at least one; null where these are not known. */
export function binsAt(run, from, to) {
    if (from === null || to === null || from === undefined || to === undefined) return null;
    const base = Number(run.base_ns),
        width = run.time.width_ns;
    const first = Math.min(Math.max(0, Math.floor((from - base) / width)), Math.max(0, run.time.count - 1));
    return [first, Math.max(first + 1, Math.min(run.time.count, Math.ceil((to - base) / width)))];
}

/**
 * Places that FINDING speaks of: `[{text, change, to}]`, a change of the filter and the card that shows it; of the line
 * of its source `search`, what the card looks for.
 */
export const placesOf = once((run, finding) => {
    const places = [],
        who = run.table('who');

    if (finding.rank !== null && finding.rank !== undefined) {
        const row = Array.from(who.rank ?? []).indexOf(finding.rank + 1);
        if (row >= 0) places.push({ text: `rank ${finding.rank}`, change: { p: [row] }, to: 'classes' });
    }
    const files = finding.where ? filesAt(run, finding.where) : [];
    if (files.length)
        places.push({
            text:
                files.length === 1
                    ? format.path(shortOf(run, run.table('files').path[files[0]]), 40)
                    : `${format.count(files.length)} files ${finding.where.includes('#') ? 'like' : 'below'} ${format.path(shortOf(run, finding.where), 40)}`,
            change: { f: files },
            to: 'files',
        });
    const bins = binsAt(run, finding.from_ns, finding.to_ns);
    if (bins) {
        const width = run.time.width_ns;
        places.push({
            text: bins.map((bin) => format.at(Math.max(0, bin * width - run.start_ns))).join(' to '),
            change: { t: bins },
            to: 'bandwidth',
        });
    }
    const { text: stacks } = run.table('stacks'),
        line = finding.line?.slice(finding.line.lastIndexOf('/') + 1);
    if (line && stacks.some((stack) => stack.includes(`(${line})`)))
        places.push({ text: format.cut(line, 60), change: {}, to: 'flame', search: `(${line})` });
    return places;
});
