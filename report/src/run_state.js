// SPDX-License-Identifier: MIT
// How a run ended, or that it goes on, for the header.

import * as format from './format.js';

const BAD = ['killed', 'signal'];

/* What the ends of the processes say: for data that do not say it of the run. */
function fromProcesses({ summary, table }) {
    const ends = [...(table('processes').ended ?? [])];
    const running = summary.running ?? ends.filter((end) => end === 'running').length,
        bad = ends.filter((end) => BAD.includes(end)).length,
        unknown = summary.without_end ?? 0;
    const of = (count, word) =>
        ends.length > 1 ? `${word}: ${format.count(count)} of ${format.count(ends.length)}` : word;

    if (running) return { state: 'running', text: of(running, 'running') };
    if (summary.verdict?.level === 'ended') return { state: 'failed', text: summary.verdict.line };
    if (bad) return { state: 'failed', text: of(bad, 'killed') };
    return unknown ? { state: 'unknown', text: of(unknown, 'without an end') } : { state: 'ended', text: 'ended' };
}

/** The state of RUN: `{state: 'running' | 'failed' | 'unknown' | 'ended', text}`. */
export const stateOfRun = (run) => run.ended ?? fromProcesses(run);
