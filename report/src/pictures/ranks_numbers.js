// SPDX-License-Identifier: MIT
// The numbers of the ranks: I/O time by class of each, the slowest and the median one, and how unequal they are.

import { inIo } from './outside.js';
import { passing } from './parts.js';

export function ranksNumbers(view) {
    const { run } = view;
    const answer = view.rows(['p', 'class']);
    const { cube, passes } = answer;
    const wanted = passing(view, 'p', run.extent.p);
    const sums = new Float64Array(wanted.length * 8);

    for (let i = 0; i < answer.count; i++) if (passes[i]) sums[cube.p[i] * 8 + cube.class[i]] += cube.d[i];
    const rows = [];
    const { label, life_ns: whole, rank, processes } = run.table('who');
    const life = answer.ignored.includes('t') ? whole : view.lives().each;
    wanted.forEach((is_wanted, p) => {
        const classes = Array.from(sums.subarray(p * 8, p * 8 + 7));
        if (is_wanted)
            rows.push({
                p,
                label: label[p],
                rank: rank[p],
                processes: processes[p],
                life_ns: life[p],
                classes,
                io: inIo(classes),
            });
    });
    rows.sort((a, b) => b.io - a.io || a.p - b.p);
    const ranked = rows.filter((row) => row.rank > 0);
    return { rows, ...spread(ranked.length ? ranked : rows), ignored: answer.ignored };
}

/* Of rows sorted by I/O (ranks alone, where there are some): the mean, the median row, and how far the slowest is above
 * the mean. */
function spread(rows) {
    const total = rows.reduce((sum, row) => sum + row.io, 0);
    const mean = rows.length ? total / rows.length : 0;
    const slowest = rows[0] ?? null,
        median = rows[Math.floor(rows.length / 2)] ?? null;
    return { total, mean, slowest, median, imbalance: mean > 0 ? slowest.io / mean - 1 : 0 };
}
