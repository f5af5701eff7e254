// SPDX-License-Identifier: MIT
// How a run ended, or that it goes on, for the header.

import * as format from './format.js';

/* Who died first, and of what: "rank 5 SIGSEGV", "exit 3", "killed". */
function deathOf({ first, killed }) {
    const rank = first?.rank ?? null,
        status = first?.status ?? 0;
    const how = first?.signal ?? (killed || !status ? 'killed' : `exit ${status}`);

    return rank === null ? how : `rank ${rank} ${how}`;
}

/** The state of RUN in a word or two: `{state: 'running' | 'failed' | 'unknown' | 'ended', text}`. */
export function stateOfRun({ ended }) {
    const { done = 0, running = 0, stopped = 0, unseen = 0, failed = 0, killed = 0 } = ended ?? {};
    const all = done + running + stopped + unseen + failed + killed,
        bad = failed + killed;
    const of = (count, word) => (all > 1 ? `${word}: ${format.count(count)} of ${format.count(all)}` : word);

    if (running) return { state: 'running', text: of(running, 'running') };
    if (bad) return { state: 'failed', text: bad > 1 ? of(bad, deathOf(ended)) : deathOf(ended) };
    return unseen ? { state: 'unknown', text: of(unseen, 'without an end') } : { state: 'ended', text: 'ended' };
}
