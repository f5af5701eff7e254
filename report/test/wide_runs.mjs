// SPDX-License-Identifier: MIT
// Made runs of many ranks, many rows and many files.

import { makeRun } from './run.mjs';
import { random } from './small_run.mjs';

const CALLS = [
    ['POSIX', 'read', 1],
    ['POSIX', 'pwrite', 2],
    ['POSIX', 'fsync', 3],
    ['POSIX', 'open', 4],
    ['POSIX', 'close', 4],
    ['MPI', 'MPI_File_write_at_all', 5],
    ['POSIX', 'open', 6],
    ['app', 'step', 0, 1],
    ['app', 'checkpoint', 0, 1],
];

function people(count, wall, kind = 'rank', start_ns = 0) {
    const who = [],
        processes = [];

    for (let p = 0; p < count; p++) {
        const life_ns = wall - (p % 7) * 1e6;
        who.push({
            label: kind === 'rank' ? `rank ${p}` : `worker ${4000 + p}`,
            rank: kind === 'rank' ? p + 1 : 0,
            processes: 1,
            start_ns,
            life_ns,
        });
        processes.push({
            p,
            pid: 4000 + p,
            parent: kind === 'rank' || p === 0 ? 0 : 1,
            rank: kind === 'rank' ? p + 1 : 0,
            start_ns,
            life_ns,
            program: '/apps/cm1.exe',
            role: '',
            host: `node${Math.floor(p / 16)}`,
            command: './cm1.exe',
            ended: 'exit 0',
            threads: 1,
        });
    }
    return { who, processes };
}

function rankFindings(wall, slowest) {
    const base = 1795691494000000000;

    return [
        {
            number: 1,
            code: 'straggler',
            title: `rank ${slowest} is slow`,
            cost_ns: wall * 0.31,
            of_ns: wall,
            sure: 'high',
            why_sure: 'its calls take longer than the same calls of the others',
            when: 'persistent',
            from_ns: base + wall * 0.3,
            to_ns: base + wall,
            rank: slowest,
            where: '/scratch/run/out',
            line: null,
            calls: 900,
            bytes: 0,
            files: 1,
            errors: 0,
            evidence: `rank ${slowest} of 48 since +3.10 s in pwrite: 8.10 ms a call against 1.10 ms`,
            advice: 'See what node it runs on, and what else writes there.',
        },
    ];
}

/** 48 ranks of which one is slow: checkpoints into a shared file and one of their own, with compute between. */
export function ranks({ name = '', slow = 1 } = {}) {
    const count = 48,
        steps = 8,
        next = random(11),
        events = [];
    const slowest = 17,
        gap = 8e8;
    let end = 0;

    for (let p = 0; p < count; p++) {
        let now = 5e7 + 4e7 * next();
        for (let i = 0; i < 12; i++, now += 3e5)
            events.push({ start: Math.round(now), d: Math.round(2e4 + 2e5 * next()), c: 6, p, f: 1 });
        for (let step = 0; step < steps; step++) {
            const begin = Math.max(now, 2e8 + step * gap);
            now = begin + gap * 0.55 + 2e7 * next();
            events.push({ start: Math.round(begin), d: Math.round(now - begin), c: 7, p });
            const check = now;
            for (let i = 0; i < 20; i++) {
                const d = Math.round(
                    (8e5 + 6e5 * next() + (next() > 0.97 ? 2e7 * next() : 0)) * slow * (p === slowest ? 7 : 1),
                );
                events.push({
                    start: Math.round(now),
                    d,
                    c: i % 10 === 9 ? 0 : 1,
                    p,
                    g: 2,
                    f: i % 2 ? 2 : 3 + p,
                    b: i % 10 === 9 ? 65536 : 1048576,
                    asked: 1048576,
                    offset: (step * 20 + i) * 1048576 * (i % 2 ? count : 1) + (i % 2 ? p * 1048576 : 0),
                    depth: 1,
                });
                now += d + 4e4;
                if (i % 5 === 0)
                    events.push({
                        start: Math.round(now),
                        d: Math.round(5e4 + 2e5 * next()),
                        c: i % 2 ? 3 : 4,
                        p,
                        g: 2,
                        f: 3 + p,
                        e: +(next() > 0.98),
                    });
                now += 3e5;
            }
            events.push({ start: Math.round(now), d: 4e6, c: 2, p, g: 2, f: 2, depth: 1 });
            now += 4.1e6;
            events.push({ start: Math.round(check), d: Math.round(now - check), c: 8, p });
        }
        end = Math.max(end, now);
    }
    const wall = Math.round(end + 5e7);
    const files = [{ path: '/usr/lib/libmpi.so' }, { path: '/scratch/run/out/shared.h5', distinct: 1e9 }];
    for (let p = 0; p < count; p++)
        files.push({
            path: `/scratch/run/out/rank_${String(p).padStart(2, '0')}.dat`,
            pattern: '/scratch/run/out/rank_#.dat',
            distinct: 2e7,
        });
    return makeRun({
        name,
        title: 'mpirun -n 48 ./cm1.exe',
        kind: 'rank',
        events,
        bins: 200,
        wall_ns: wall,
        calls: CALLS,
        regions: ['', 'step', 'checkpoint'],
        files,
        ...people(count, wall),
        findings: rankFindings(wall, slowest),
        strip: (bins, width) =>
            Array.from({ length: bins }, (_, t) => {
                const io = t % 20 > 11 ? width * 30 : width * 2;
                return {
                    compute: width * 40 - io,
                    io,
                    hidden: (io * 0.4) | 0,
                    exposed: (io * 0.6) | 0,
                    idle: width * 4,
                };
            }),
    });
}

/** COUNT ranks, each with few calls. */
export function many(count) {
    const next = random(5),
        events = [],
        wall = 60e9;

    for (let p = 0; p < count; p++)
        for (let i = 0; i < 12; i++)
            events.push({
                start: Math.round((i * 5 + 0.4 * next()) * 1e9),
                d: Math.round(1e6 + 4e8 * next() ** 6 * (p === 777 ? 8 : 1)),
                p,
                c: i % 4,
                f: 1 + ((p + i) % 50),
                b: i % 4 < 2 ? 4194304 : 0,
                asked: 4194304,
                offset: i * 4194304,
            });
    return makeRun({
        title: `srun -n ${count} ./wide`,
        kind: 'rank',
        events,
        bins: 200,
        wall_ns: wall,
        calls: CALLS,
        regions: [''],
        files: Array.from({ length: 50 }, (_, i) => ({
            path: `/scratch/wide/part_${i}`,
            pattern: '/scratch/wide/part_#',
        })),
        ...people(count, wall),
        cubes: [['t', 'c'], ['p', 'c'], ['c'], ['c', 's'], ['g', 'c'], ['f', 'c']],
        histograms: [['c']],
        thinned: [
            { what: 'slices', kept: 20000, of: 120000, text: '20,000 of 120,000 calls, those that take longest' },
        ],
    });
}

/** A cube of some 400,000 rows, of COUNT calls. */
export function manyRows(count = 420000) {
    const next = random(3),
        events = [],
        wall = 100e9;

    for (let i = 0; i < count; i++)
        events.push({
            start: Math.round(next() * wall),
            d: Math.round(1000 + 1e6 * next() ** 5),
            p: Math.floor(next() * 512),
            c: Math.floor(next() * 7),
            f: 1 + Math.floor(next() * 200),
            b: 4096,
            asked: 4096,
        });
    return makeRun({
        title: './rows',
        kind: 'rank',
        events,
        bins: 400,
        wall_ns: wall,
        calls: CALLS,
        regions: [''],
        files: Array.from({ length: 200 }, (_, i) => ({ path: `/data/f${i}` })),
        ...people(512, wall),
        cubes: [
            ['t', 'p', 'c'],
            ['c', 's'],
            ['p', 'f', 'c'],
            ['g', 'c'],
        ],
    });
}

/** 100,000 files, and 20,000 processes. */
export function manyFiles() {
    const next = random(9),
        events = [],
        wall = 30e9,
        count = 100000;

    for (let f = 1; f <= count; f++)
        events.push({
            start: Math.round(next() * wall),
            d: Math.round(1e4 + 1e6 * next() ** 4),
            c: f % 5,
            p: f % 20000,
            f,
            b: f % 5 < 2 ? f : 0,
            asked: f,
        });
    return makeRun({
        title: './files',
        events,
        bins: 100,
        wall_ns: wall,
        calls: CALLS,
        regions: [''],
        files: Array.from({ length: count }, (_, i) => ({
            path: `/data/${i % 97}/d${i % 13}/f_${i}`,
            pattern: `/data/#/d#/f_#`,
        })),
        ...people(20000, wall, 'process'),
        cubes: [['t', 'c'], ['p', 'c'], ['c'], ['c', 's'], ['f', 'c'], ['g', 'c']],
        histograms: [['c']],
    });
}
