// SPDX-License-Identifier: MIT
// How a run, its jobs and its processes ended, or that they go on, for the header and for tables.

import * as format from './format.js';

/** What the word in the column `ended` means: 0 well, 1 a signal or killed, 2 a status that is not 0, 3 not known. */
export function endingOf(text) {
    if (/signal|kill|\bSIG/i.test(text)) return 1;
    if (/\b(?:status|exit|code)\D*[1-9]/i.test(text)) return 2;
    return /unknown|running|^$/i.test(text) ? 3 : 0;
}

/** Whether an end, as TEXT has it, is an accident. */
export const isBad = (text) => [1, 2].includes(endingOf(text));

/** The jobs that RUN is of, with what the overview knows of each: `ended` and `io_ns` are null where it does not. */
export function jobsOf({ summary }) {
    const known = new Map((summary?.overview ?? []).map((row) => [row.job ?? row.name, row]));

    return (summary?.jobs ?? []).map((job) => {
        const { ended = null, io_ns = null } = known.get(job.name) ?? {};
        return { ...job, ended, io_ns };
    });
}

/* Who died first, and of what: "rank 5 died: SIGSEGV", "exit 3", "killed". */
function deathOf({ first, killed }) {
    const rank = first?.rank ?? null,
        status = first?.status ?? 0;
    const how = first?.signal ?? (killed || !status ? 'killed' : `exit ${status}`);

    return rank === null ? how : `rank ${rank} died: ${how}`;
}

/* Of several jobs: how many ended badly, and which; null where none is known to. */
function failedJobs(run) {
    const jobs = jobsOf(run),
        failed = jobs.filter((job) => isBad(job.ended ?? ''));
    const least = jobs.some((job) => job.ended === null) ? 'at least ' : '';

    if (jobs.length < 2 || !failed.length) return null;
    return {
        state: 'failed',
        text: `${least}${format.count(failed.length)} of ${format.counted(jobs.length, 'job')} ended badly`,
        whole: failed.map((job) => `${job.name}: ${job.ended}`).join(', '),
    };
}

/**
 * The state of RUN: `{state: 'running' | 'failed' | 'unknown' | 'ended', text}`, and of what failed `whole`, which is
 * more than there is room for.
 */
export function stateOfRun(run) {
    const { text, done = 0, running = 0, stopped = 0, unseen = 0, failed = 0, killed = 0 } = run.ended ?? {};
    const all = done + running + stopped + unseen + failed + killed,
        bad = failed + killed;
    const of = (count, word) => (all > 1 ? `${word}: ${format.count(count)} of ${format.count(all)}` : word);
    const badly = `${format.count(bad)} of ${format.count(all)} ended badly`;

    if (running) return { state: 'running', text: of(running, 'running') };
    const jobs = failedJobs(run);
    if (jobs) return jobs;
    if (bad)
        return {
            state: 'failed',
            text: bad > 1 && !run.ended.first ? badly : deathOf(run.ended),
            whole: [badly, text].filter(Boolean).join(': '),
        };
    return unseen ? { state: 'unknown', text: of(unseen, 'without an end') } : { state: 'ended', text: 'ended' };
}
