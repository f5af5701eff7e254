// SPDX-License-Identifier: MIT
// Made runs that are odd: no calls, no time, a process at 1970, names that try to break the page.

import { makeRun } from './run.mjs';
import { small } from './small_run.mjs';

const CALLS = [
    ['POSIX', 'read', 1],
    ['POSIX', 'write', 2],
];
const one = (life_ns, start_ns = 0) => ({
    who: [{ label: 'true 1', rank: 0, processes: 1, start_ns, life_ns }],
    processes: [
        {
            p: 0,
            pid: 1,
            parent: 0,
            rank: 0,
            start_ns,
            life_ns,
            program: '/bin/true',
            role: '',
            host: 'vm',
            command: 'true',
            ended: 'exit 0',
            threads: 1,
        },
    ],
});

/** A program without a call. */
export function empty() {
    return makeRun({
        title: 'true',
        events: [],
        bins: 1,
        wall_ns: 1000000,
        calls: [],
        regions: [''],
        files: [],
        ...one(1000000),
    });
}

/** A trace in which no time passed. */
export function wallZero() {
    return makeRun({
        title: 'true',
        events: [{ start: 0, d: 0, c: 0, f: 1 }],
        bins: 1,
        wall_ns: 0,
        calls: CALLS,
        regions: [''],
        files: [{ path: '/a' }],
        ...one(0),
    });
}

/** A process whose clock stood at 1970. */
export function epoch() {
    return makeRun({
        title: 'true',
        base_ns: '0',
        bins: 10,
        wall_ns: 5000,
        calls: CALLS,
        regions: [''],
        files: [{ path: '/a' }],
        events: [
            { start: 10, d: 1000, c: 0, f: 1, b: 10 },
            { start: 2000, d: 63, c: 1, f: 1, b: 5 },
        ],
        ...one(5000),
    });
}

/** Names that are long, that have quotes and tags, control characters, and marks that turn text around. */
export const NASTY = [
    '</script><script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked = 1">',
    '"\'`&lt;&amp;',
    'a\u0001b\u001b[31m\u007f',
    '\u202egnp.exe',
    '\u2066x\u2069',
    '\ufeff\u200b',
    'javascript:window.hacked=1',
    '__proto__',
    'constructor',
    '=cmd|" /C calc"!A0',
    '\ud83d\ude00',
    'x'.repeat(4096),
    '/' + 'd/'.repeat(2047),
    'line\nbreak\ttab',
    '',
];

/** The small run with such names everywhere. */
export function hostile() {
    const run = small();
    const nasty = (i) => NASTY[i % NASTY.length];
    const rename = (table, column, from = 0) => {
        const values = run.tables[table][column][1];
        run.tables[table][column][1] = values.map((value, i) => (i < from ? value : nasty(i)));
    };

    run.title = nasty(0);
    run.summary.command = nasty(1);
    run.summary.notes = NASTY;
    run.lost = nasty(1);
    run.is_complete = false;
    run.thinned = NASTY.map((text, i) => ({ what: text, kept: i, of: 20, text }));
    run.spans = {
        file: nasty(0),
        root: nasty(1),
        roots: 2,
        different: 1,
        count: 2,
        length: 300,
        most_common: NASTY.map((event, i) => ({
            event,
            since_first_mean_ns: i,
            since_before_mean_ns: i,
            since_before_min_ns: 0,
            since_before_max_ns: 2 * i,
        })),
        pictures: NASTY.map((title) => ({
            title,
            svg: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>window.hacked = 1</script></svg>',
        })),
    };
    run.summary.findings = run.summary.findings.map((finding, i) => ({
        ...finding,
        title: nasty(i),
        evidence: nasty(i + 1),
        advice: nasty(i + 2),
        where: nasty(i + 3),
        line: nasty(i),
    }));
    run.summary.risks = run.summary.risks.map((risk, i) => ({
        ...risk,
        title: nasty(i),
        evidence: nasty(i + 1),
        where: nasty(i + 2),
    }));
    for (const [table, column, from] of [
        ['who', 'label'],
        ['calls', 'name'],
        ['calls', 'cat'],
        ['regions', 'name', 1],
        ['files', 'path', 1],
        ['stacks', 'text', 1],
        ['processes', 'program'],
        ['processes', 'host'],
        ['processes', 'command'],
        ['processes', 'ended'],
        ['processes', 'role'],
        ['patterns', 'text', 1],
    ])
        rename(table, column, from);
    return run;
}
