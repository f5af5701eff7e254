// SPDX-License-Identifier: MIT
// The `summary` of a made run: the members of `dftmerge summary --all --json` that can be counted from its events.

import { WORDS } from '../src/classes.js';

function group(events, keyOf, nameOf) {
    const groups = new Map();

    for (const event of events) {
        const key = keyOf(event);
        const sums =
            groups.get(key) ??
            groups.set(key, { ...nameOf(event), count: 0, errors: 0, time_ns: 0, bytes: 0 }).get(key);
        sums.count += event.n;
        sums.errors += event.e * event.n;
        sums.time_ns += event.d * event.n;
        sums.bytes += event.b * event.n;
    }
    return [...groups.values()].sort((a, b) => b.time_ns - a.time_ns);
}

/** What the first line says of the findings alone. */
function verdictOf([first]) {
    return first
        ? { level: 'findings', line: `${first.title}: ${first.cost_ns} ns`, more: [], more_levels: [] }
        : { level: 'good', line: 'nothing wrong: lost 0', more: [], more_levels: [] };
}

/** The summary of SPEC (see makeRun), whose events have all members. */
export function summaryOf(spec) {
    const { events, classes, calls, files, processes } = spec;
    const start = BigInt(spec.base_ns ?? '1795691494000000000') + BigInt(spec.start_ns ?? 0);
    const named = (event) => ({ cat: calls[event.c][0], name: calls[event.c][1], class: WORDS[classes[event.c]] });

    return {
        command: spec.title,
        processes: processes.length,
        pids: processes.length,
        ranks: spec.kind === 'rank' ? spec.who.length : 0,
        world_size: spec.kind === 'rank' ? spec.who.length : 0,
        missing_ranks: [],
        start_ns: Number(start),
        wall_ns: spec.wall_ns,
        threads: processes.reduce((sum, process) => sum + (process.threads ?? 1), 0),
        threads_ns: processes.reduce((sum, process) => sum + process.life_ns, 0),
        jobs: [],
        runs: [],
        events: events.reduce((sum, event) => sum + event.n, 0),
        dropped: {},
        killed: 0,
        running: 0,
        unknown: 0,
        without_end: 0,
        events_missing: 0,
        unread: 0,
        recovered: 0,
        overhead_ns: Math.round(spec.wall_ns * 0.014),
        system_calls: null,
        source: 'buckets',
        verdict: verdictOf(spec.findings ?? []),
        findings: spec.findings ?? [],
        risks: spec.risks ?? [],
        findings_not_looked_for: spec.notLookedFor ?? [],
        findings_no_trace: null,
        findings_why_not: spec.whyNot ?? null,
        findings_nothing: spec.nothing ?? 'lost 0, failures to write 0, tracing 1.4 %',
        findings_notes: null,
        calls: group(
            events.filter((event) => !calls[event.c][3]),
            (event) => event.c,
            named,
        ),
        classes: group(
            events,
            (event) => classes[event.c],
            (event) => ({ class: WORDS[classes[event.c]] }),
        ),
        by_rank: group(
            events,
            (event) => event.p,
            (event) => ({ rank: spec.kind === 'rank' ? event.p : null }),
        ),
        files: group(
            events.filter((event) => event.f),
            (event) => event.f,
            (event) => ({ file: files[event.f].path }),
        ).slice(0, 1000),
        regions: group(
            events.filter((event) => calls[event.c][3]),
            (event) => event.c,
            named,
        ),
        notes: spec.notes ?? [],
    };
}
