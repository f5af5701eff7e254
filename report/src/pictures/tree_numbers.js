// SPDX-License-Identifier: MIT
// The numbers of the process tree: processes below the one that started them, and how they ended.

import { endingOf } from '../run_state.js';
import { filtered, passing, windowOf } from './parts.js';

/* Children of each process in the order of their starts, as a list that is linked by row: the first, the next. */
function children(processes) {
    const count = processes.rows;
    const first = new Int32Array(count + 1).fill(-1),
        next = new Int32Array(count).fill(-1);
    const order = Array.from({ length: count }, (_, row) => row).sort(
        (a, b) => processes.start_ns[b] - processes.start_ns[a] || b - a,
    );

    for (const row of order) {
        const parent = processes.parent[row] <= count && processes.parent[row] !== row + 1 ? processes.parent[row] : 0;
        next[row] = first[parent];
        first[parent] = row;
    }
    return { first, next };
}

/** All processes in the order of the tree: `rows`, and the `depth` of each. Processes in a circle stand at its end. */
export function treeOrder(processes) {
    const { first, next } = children(processes);
    const rows = [],
        depths = [];
    const is_met = new Uint8Array(processes.rows);
    const visit = (start, deep) => {
        const open = [[start, deep]];
        while (open.length) {
            const [row, depth] = open.pop();
            if (row < 0 || is_met[row]) continue;
            is_met[row] = 1;
            rows.push(row);
            depths.push(depth);
            if (depth > deep) open.push([next[row], depth]);
            open.push([first[row + 1], depth + 1]);
        }
    };

    for (let row = first[0]; row >= 0; row = next[row]) visit(row, 0);
    is_met.forEach((met, row) => {
        if (!met) visit(row, 0);
    });
    return { rows, depths };
}

export function treeNumbers(view) {
    const processes = view.run.table('processes');
    const wanted = passing(view, 'p', view.run.extent.p);
    const window = windowOf(view);
    const { rows, depths } = treeOrder(processes);
    const out = { window, rows: [], depths: [], ignored: filtered(view, ['c', 'g', 'f']) };
    const endings = [0, 0, 0, 0];
    let longest = -1,
        together = 0,
        images = 0,
        deepest = 0;
    const signals = new Map();

    rows.forEach((row, i) => {
        const start = processes.start_ns[row],
            life = processes.life_ns[row];
        if (!wanted[processes.p[row]] || start > window[1] || start + life < window[0]) return;
        out.rows.push(row);
        out.depths.push(depths[i]);
        const { [row]: ended } = processes.ended,
            ending = endingOf(ended);
        endings[ending]++;
        if (ending === 1) signals.set(ended, (signals.get(ended) ?? 0) + 1);
        images += +(ended === 'exec');
        deepest = Math.max(deepest, depths[i]);
        together += life;
        if (longest < 0 || life > processes.life_ns[longest]) longest = row;
    });
    return { ...out, count: out.rows.length, endings, signals: [...signals], images, longest, together, deepest };
}
