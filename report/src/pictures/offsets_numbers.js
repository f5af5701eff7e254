// SPDX-License-Identifier: MIT
// The numbers of the picture of offsets: the accesses of one file, and how each follows the last one.

import { filtered, passing, windowOf } from './parts.js';

/** Files that have accesses, those with most bytes first: `{f, kept, of, bytes}`. */
export function filesOf(run) {
    const { f, b } = run.table('offsets');
    const bytes = new Map();
    for (let i = 0; i < (f?.length ?? 0); i++) bytes.set(f[i], (bytes.get(f[i]) ?? 0) + b[i]);
    const known = new Map((run.offsets?.files ?? []).map((file) => [file.f, file]));
    return [...bytes]
        .map(([file, sum]) => ({ kept: 0, of: 0, ...known.get(file), f: file, bytes: sum }))
        .sort((a, b2) => b2.bytes - a.bytes || a.f - b2.f);
}

/* The file that the picture is of: of those that the filter chooses that with most bytes, else that of all. */
function chosenFile(view) {
    const files = filesOf(view.run);
    return files.find(({ f }) => view.filter.f?.[f]) ?? files[0];
}

/* What the column `how` says of an access: where it begins, seen from the last one on the same open file. */
const HOWS = ['first', 'random', 'strided', 'forward', 'consecutive'];

export function offsetsNumbers(view, file = chosenFile(view)) {
    const table = view.run.table('offsets');
    const [from, to] = windowOf(view);
    const wanted = passing(view, 'p', view.run.extent.p);
    const order = [];
    const follows = Object.fromEntries(HOWS.map((how) => [how, 0]));
    const out = { reads: 0, writes: 0, read_bytes: 0, written_bytes: 0, lowest: 0, highest: 0 };

    for (let i = 0; i < table.rows; i++) {
        if (table.f[i] !== file?.f || table.start_ns[i] < from || table.start_ns[i] > to || !wanted[table.p[i]])
            continue;
        out[table.is_write[i] ? 'writes' : 'reads']++;
        out[table.is_write[i] ? 'written_bytes' : 'read_bytes'] += table.b[i];
        out.lowest = order.length ? Math.min(out.lowest, table.offset[i]) : table.offset[i];
        out.highest = Math.max(out.highest, table.offset[i] + table.b[i]);
        follows[HOWS[table.how[i]] ?? 'first']++;
        order.push(i);
    }
    return {
        ...out,
        window: [from, to],
        file: file?.f ?? 0,
        kept: file?.kept ?? 0,
        of: file?.of ?? 0,
        order,
        follows,
        ignored: filtered(view, ['c', 'g']),
    };
}
