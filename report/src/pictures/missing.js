// SPDX-License-Identifier: MIT
// What is not on the page: what was lost or thinned out, what was not looked for, and notes.

import { el } from '../draw.js';
import * as format from '../format.js';

/* What there is to say of RUN, each once: notes of the page and of its parts are the same in part. */
function lines(run) {
    const { summary } = run;
    const dropped = Object.entries(summary.dropped ?? {}).map(
        ([why, count]) => `${format.count(count)} events dropped: ${why}`,
    );
    const counts = [
        ['killed', 'process was killed, and has no end', 'processes were killed, and have no end'],
        ['unread', 'file could not be read', 'files could not be read'],
        ['events_missing', 'event is missing', 'events are missing'],
        ['running', 'process still runs', 'processes still run'],
    ];

    const said = [
        run.is_complete ? null : run.lost || 'What was lost is not known.',
        ...run.thinned.map((one) => one.text || `${one.what}: ${format.count(one.kept)} of ${format.count(one.of)}`),
        ...dropped,
        ...counts
            .filter(([name]) => summary[name])
            .map(([name, one, many]) => format.counted(summary[name], one, many)),
        (summary.missing_ranks ?? []).length
            ? `ranks without a trace: ${summary.missing_ranks.slice(0, 50).join(', ')}`
            : null,
        summary.findings_no_trace,
        (summary.findings_not_looked_for ?? []).length
            ? `not looked for: ${summary.findings_not_looked_for.join(', ')}`
            : null,
        summary.findings_why_not,
        summary.findings_notes,
        ...(summary.notes ?? []),
        ...(run.overlap?.notes ?? []),
    ].filter(Boolean);

    return said.filter((line, i) => !said.some((other, k) => other.includes(line) && (other !== line || k < i)));
}

export default {
    id: 'missing',
    title: 'What is not here',
    axes: [],
    lacks: () => null,
    isFor: (run) => lines(run).length > 0,
    numbers: ({ run }) => ({ lines: lines(run), ignored: [] }),
    sentence({ run }, numbers) {
        const { overhead_ns: overhead, threads_ns: time } = run.summary;
        const cost = overhead > 0 && time > 0 ? `; tracing took ${format.share(overhead, time)} of the time` : '';

        if (!numbers.lines.length)
            return `Nothing was lost, and nothing was left out of this page${cost}.`;
        const what = run.is_complete ? 'Nothing was lost' : 'Not all was recorded';
        return `${what}; ${format.counted(numbers.lines.length, 'thing')} to know${cost}.`;
    },
    completeness: ({ run }) => (run.is_complete ? '' : 'not complete, see above'),
    draw(element, view, numbers) {
        element.append(
            el('ul', { class: 'notes' }, ...numbers.lines.map((line) => el('li', {}, format.cut(line, 600)))),
        );
    },
};
