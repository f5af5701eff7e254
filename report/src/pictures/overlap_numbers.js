// SPDX-License-Identifier: MIT
// The numbers of the overlap: what was computed, what I/O was hidden behind it, what stalled.

import { binsOf, filtered, passing } from './parts.js';

export const PARTS = ['compute', 'io', 'hidden', 'exposed', 'idle'];

/* Ranks of `overlap` that the filter lets pass. Where rows of p are not ranks the filter of them does not apply. */
function barsOf(view) {
    const { run } = view;
    const ranks = run.overlap?.ranks ?? [];
    const wanted = passing(view, 'p', run.extent.p);
    const chosen = new Set([...(run.table('who').rank ?? [])].filter((_, p) => wanted[p]).map((rank) => rank - 1));
    const kept = run.who === 'rank' ? ranks.filter(({ rank }) => rank === null || chosen.has(rank)) : ranks;
    return kept
        .map((one) => ({
            name: one.rank === null ? `process ${one.trainer}` : `rank ${one.rank}`,
            rank: one.rank,
            compute: one.compute_ns,
            io: one.io_ns,
            hidden: one.hidden_ns,
            exposed: one.exposed_ns,
            idle: one.idle_ns,
            data: one.data_ns,
            wall: one.wall_ns,
        }))
        .sort((a, b) => b.exposed - a.exposed);
}

export function overlapNumbers(view) {
    const { run } = view;
    const strip = run.table('strip');
    const [from, to] = binsOf(view);
    const bars = barsOf(view);
    const sums = { compute: 0, io: 0, hidden: 0, exposed: 0, idle: 0 };
    const is_strip = strip.rows > 0;

    for (const part of PARTS)
        if (is_strip) for (let bin = from; bin < Math.min(to, strip.rows); bin++) sums[part] += strip[part][bin];
        else sums[part] = bars.reduce((sum, bar) => sum + bar[part], 0);
    return {
        ...sums,
        from,
        to,
        is_strip,
        bars,
        hidden_share: sums.io > 0 ? sums.hidden / sums.io : null,
        worst: worstBin(strip, from, to),
        ignored: filtered(
            view,
            is_strip ? ['p', 'c', 'g', 'f'] : [...(run.who === 'rank' ? [] : ['p']), 't', 'c', 'g', 'f'],
        ),
    };
}

function worstBin(strip, from, to) {
    let at = -1;
    for (let bin = from; bin < Math.min(to, strip.rows); bin++)
        if (strip.exposed[bin] > (at < 0 ? 0 : strip.exposed[at])) at = bin;
    return at < 0 ? null : at;
}
