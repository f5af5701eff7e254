// SPDX-License-Identifier: MIT
// A made run of one program: an fsync per 20 records, reads of one byte, a file opened again and again, missing files.

import { makeRun } from './run.mjs';

const CALLS = [
    ['POSIX', 'read', 1],
    ['POSIX', 'write', 2],
    ['POSIX', 'fsync', 3],
    ['POSIX', 'open', 4],
    ['POSIX', 'close', 4],
    ['POSIX', 'stat', 4],
    ['POSIX', 'stat', 6],
    ['app', 'load', 0, 1],
    ['app', 'journal', 0, 1],
    ['POSIX', 'fork', 5],
];
const READ = 0,
    WRITE = 1,
    FSYNC = 2,
    OPEN = 3,
    CLOSE = 4,
    STAT = 5,
    START_STAT = 6,
    LOAD = 7,
    JOURNAL = 8,
    FORK = 9;

/** Numbers between 0 and 1, the same each time. */
export function random(seed) {
    let state = seed >>> 0;

    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

function findings(wall, slow) {
    const base = 1795691494000000000;
    const common = { sure: 'high', rank: null, files: 0, errors: 0, of_ns: wall };

    return [
        {
            ...common,
            number: 1,
            code: 'fsync',
            title: 'fsync every 20 writes',
            cost_ns: 200 * 4.2e6 * slow,
            when: 'growing',
            why_sure: 'these calls wait for the device, whatever they write',
            from_ns: base + 0.4e9,
            to_ns: base + wall,
            where: '/scratch/run/journal.log',
            line: '/home/ann/slow.c:64',
            calls: 200,
            bytes: 480000,
            evidence: '200 calls that make data durable; journal.log: 469 KiB in 4,000 writes of 120 B',
            advice: 'Make what is written durable less often: once a batch, or once at the end.',
        },
        {
            ...common,
            number: 2,
            code: 'one-byte',
            title: '1-byte reads',
            cost_ns: 280e6,
            when: 'at the start',
            why_sure: '1.40 us a call: memory answers, and what costs is the calls themselves',
            from_ns: base + 20e6,
            to_ns: base + 380e6,
            where: '/scratch/run/table.bin',
            line: '/home/ann/slow.c:31',
            calls: 200000,
            bytes: 200000,
            evidence:
                'table.bin: 200,000 reads of 1 B, all sequential, 280 ms, 1.40 us each; with a 64 KiB buffer 4 calls',
            advice: 'Read and write blocks, not characters. At most 280 ms to gain.',
        },
        {
            ...common,
            number: 3,
            code: 'missing',
            title: 'missing files asked for',
            cost_ns: 33e6,
            when: null,
            sure: 'medium',
            why_sure: 'each of 40 files is asked for 400 times',
            from_ns: null,
            to_ns: null,
            where: '/opt/app/plugins',
            line: null,
            calls: 4000,
            bytes: 0,
            errors: 4000,
            evidence: '4,000 stats failed (ENOENT) in 1 directory, which probably does not exist',
            advice: 'Remember that a file is not there, or shorten the list of places that are searched.',
        },
    ];
}

const STACKS = [
    '',
    'main;load_table;next_byte;read',
    'main;load_table;open',
    'main;keep_journal;append;write',
    'main;keep_journal;append;fsync',
    'main;read_config;open',
    'main;read_config;read',
    'main;find_plugins;stat',
    '_start;__libc_start_main;main',
];

/** SLOW multiplies the time of each fsync. */
export function small({ name = '', slow = 1 } = {}) {
    const next = random(7),
        events = [];
    const start_ns = 1000000;
    const regionLoad = { start: start_ns + 1e6, c: LOAD, depth: 0 };
    let now = start_ns + 1e6;
    const add = (c, d, more = {}) => {
        events.push({ start: Math.round(now), d: Math.round(d), c, ...more });
        now += d * (more.n ?? 1) + 300 * next();
    };

    for (let i = 0; i < 60; i++) add(START_STAT, 2000 + 9000 * next(), { f: 5, k: 8, e: +(i % 3 === 0) });
    add(OPEN, 8e4, { f: 1, g: 1, k: 2 });
    for (let i = 0; i < 2000; i++)
        add(READ, 900 + Math.round(1000 * next() ** 8 * 40), {
            f: 1,
            g: 1,
            k: 1,
            b: 1,
            asked: 1,
            n: 100,
            offset: i * 100,
        });
    add(CLOSE, 2e3, { f: 1, g: 1 });
    regionLoad.d = Math.round(now - regionLoad.start);
    events.push(regionLoad);
    for (let i = 0; i < 4000; i++) {
        add(OPEN, 1500 + 4000 * next(), { f: 3, k: 5 });
        add(READ, 600, { f: 3, b: 12, asked: 12, k: 6, offset: 0 });
        add(CLOSE, 400, { f: 3 });
        add(STAT, 2e3 + 1e4 * next() ** 3, { f: 4, k: 7, e: 1 });
    }
    const journal = Math.round(now);
    add(OPEN, 5.3e6, { f: 2, g: 2 });
    for (let i = 0; i < 4000; i++) {
        add(WRITE, 1400 + 9e4 * next() ** 40, { f: 2, g: 2, b: 120, asked: 120, k: 3, offset: i * 120 });
        if (i % 20 === 19) add(FSYNC, (1.6e6 + 1.2e7 * next() ** 4) * slow, { f: 2, g: 2, k: 4, depth: 1 });
    }
    events.push({ start: journal, d: Math.round(now - journal), c: JOURNAL });
    add(FORK, 4e5);
    const wall_ns = Math.round(now + 1e7 - start_ns);
    return makeRun({
        name,
        title: name === 'B' ? './slow demo --copy' : './slow demo',
        events,
        bins: 200,
        start_ns,
        wall_ns,
        calls: CALLS,
        regions: ['', 'load', 'journal'],
        stacks: STACKS,
        files: [
            { path: '/scratch/run/table.bin', distinct: 200001 },
            { path: '/scratch/run/journal.log', distinct: 480001 },
            { path: '/scratch/run/app.conf', distinct: 13 },
            { path: '/opt/app/plugins/audio.so', pattern: '/opt/app/plugins/#' },
            { path: '/usr/lib/locale/locale-archive' },
        ],
        who: [{ label: 'slow 8708', rank: 0, processes: 1, start_ns, life_ns: wall_ns }],
        processes: [
            {
                p: 0,
                pid: 8708,
                parent: 0,
                rank: 0,
                start_ns,
                life_ns: wall_ns,
                program: '/home/ann/slow',
                role: '',
                host: 'vm',
                command: './slow demo',
                ended: 'exit 0',
                threads: 1,
            },
        ],
        findings: findings(wall_ns, slow),
        risks: [
            {
                code: 'fsync',
                title: 'data made durable often',
                trips: 240,
                at_ns: 1.2e8,
                of_ns: wall_ns,
                rank: null,
                where: '/scratch/run/journal.log',
                evidence: '240 calls by 1 process',
            },
        ],
    });
}
