// SPDX-License-Identifier: MIT
// A made run of a trainer: two ranks, four loader workers each, nested regions, a shell that starts all, ends of each kind.

import { makeRun } from './run.mjs';
import { random } from './small_run.mjs';

const CALLS = [
    ['POSIX', 'read', 1],
    ['POSIX', 'write', 2],
    ['POSIX', 'fsync', 3],
    ['POSIX', 'open', 4],
    ['POSIX', 'open', 6],
    ['POSIX', 'waitpid', 5],
    ['app', 'epoch', 0, 1],
    ['app', 'step', 0, 1],
    ['app', 'compute', 0, 1],
    ['app', 'getitem', 0, 1],
    ['app', 'checkpoint', 0, 1],
];
const READ = 0,
    WRITE = 1,
    FSYNC = 2,
    OPEN = 3,
    START = 4,
    WAIT = 5,
    EPOCH = 6,
    STEP = 7,
    COMPUTE = 8,
    ITEM = 9,
    CHECKPOINT = 10;
const REGIONS = ['', 'epoch', 'step', 'compute', 'getitem', 'checkpoint'];
const STACKS = [
    '',
    'main;load_libraries;open',
    'main;worker_loop;getitem;np_load;read',
    'main;worker_loop;getitem;np_load;open',
    'main;train;save;torch_save;write',
    'main;train;save;torch_save;flush;fsync',
    'main;train;log;write',
    'main;worker_loop;getitem;retry;getitem;np_load;read',
];
const ITEMS = 60,
    STEPS = 24,
    WORKERS = 4,
    RANKS = 2;
const ENDS = ['exit 0', 'signal 9 (SIGKILL)', 'exit 1', 'unknown'];

function processesOf(wall) {
    const shell = {
        p: 0,
        pid: 100,
        parent: 0,
        rank: 0,
        start_ns: 0,
        life_ns: wall,
        program: '/bin/bash',
        role: '',
        host: 'vm',
        command: 'bash train.sh',
        ended: 'exit 0',
        threads: 1,
    };
    const processes = [shell];

    for (let rank = 0; rank < RANKS; rank++) {
        const trainer = processes.push({
            ...shell,
            p: 1 + rank,
            pid: 200 + rank,
            parent: 1,
            rank: rank + 1,
            start_ns: 2e7,
            life_ns: wall - 4e7,
            program: '/usr/bin/python3',
            role: 'trainer',
            command: 'python3 train.py',
            threads: 2,
        });
        for (let worker = 0; worker < WORKERS; worker++)
            processes.push({
                ...shell,
                p: 1 + rank,
                pid: 300 + 10 * rank + worker,
                parent: trainer,
                rank: rank + 1,
                start_ns: 1e8 + worker * 1e7,
                life_ns: rank && worker === 3 ? wall * 0.6 : wall - 3e8,
                program: '/usr/bin/python3',
                role: `worker ${worker}`,
                command: 'python3 train.py',
                ended: ENDS[rank ? worker : 0],
            });
    }
    return processes;
}

/* What a worker does: items one after the other, some of which are slow. */
function work(events, next, at, wall) {
    const { p, lane, index } = at;

    for (let now = 1.6e8 + index * 1e7, i = 0; i < ITEMS && now < wall - 4e8; i++) {
        const begin = now,
            f = 3 + ((index * ITEMS + i) % 80),
            isSlow = next() > 0.93;
        events.push({ start: Math.round(now), d: 3e5, c: OPEN, p, lane, f, g: 4, k: 3, depth: 1, e: +(next() > 0.97) });
        now += 4e5;
        for (let part = 0; part < 4; part++) {
            const d = Math.round((2e6 + 4e6 * next()) * (isSlow ? 8 : 1));
            const offset = (isSlow ? Math.floor(next() * 64) : part + 4 * (i % 16)) * 262144;
            events.push({
                start: Math.round(now),
                d,
                c: READ,
                p,
                lane,
                f: part % 2 ? 2 : f,
                g: 4,
                k: isSlow ? 7 : 2,
                b: 262144,
                asked: 262144,
                depth: 1,
                offset,
            });
            now += d + 1e5;
        }
        events.push({ start: Math.round(begin), d: Math.round(now - begin), c: ITEM, p, lane, g: 4 });
        now += 1e7 * next();
    }
}

/* What a trainer does: steps, and a checkpoint every eight of them. */
function train(events, next, { p, lane }, wall) {
    let now = 4e7;

    for (let i = 0; i < 40; i++, now += 2e6) events.push({ start: now, d: 4e5, c: START, p, lane, f: 1, k: 1 });
    const first = (now = 1.5e8);
    for (let step = 0; step < STEPS && now < wall - 3e8; step++) {
        const begin = now;
        now += (step % 6 === 0 ? 6e7 : 8e6) * next();
        events.push({ start: Math.round(now), d: 9e7, c: COMPUTE, p, lane, g: 3, depth: 2 });
        now += 9e7;
        events.push({ start: Math.round(begin), d: Math.round(now - begin), c: STEP, p, lane, g: 2, depth: 1 });
        if (step % 8 < 7) continue;
        const save = now;
        for (let part = 0; part < 12; part++, now += 9e6)
            events.push({
                start: Math.round(now),
                d: 8e6,
                c: WRITE,
                p,
                lane,
                f: 83 + p,
                g: 5,
                k: 4,
                b: 4194304,
                asked: 4194304,
                depth: 2,
                offset: part * 4194304,
            });
        events.push({ start: Math.round(now), d: 3e7, c: FSYNC, p, lane, f: 83 + p, g: 5, k: 5, depth: 2 });
        now += 3.1e7;
        events.push({ start: Math.round(save), d: Math.round(now - save), c: CHECKPOINT, p, lane, g: 5, depth: 1 });
    }
    events.push({ start: first, d: Math.round(now - first), c: EPOCH, p, lane, g: 1 });
}

const overlapOf = (wall) => ({
    exact: true,
    compute_is: 'regions',
    wall_ns: 2 * wall,
    compute_ns: 4e9,
    io_ns: 2.4e9,
    hidden_ns: 1.6e9,
    exposed_ns: 8e8,
    idle_ns: 1e9,
    ranks: [0, 1].map((rank) => ({
        rank,
        trainer: 200 + rank,
        processes: 5,
        start_ns: 0,
        wall_ns: wall,
        compute_ns: 2e9,
        io_ns: 1.1e9 + rank * 2e8,
        hidden_ns: 8e8,
        exposed_ns: 3e8 + rank * 2e8,
        idle_ns: wall - 2.3e9 - rank * 2e8,
        data_ns: 2e8,
        data_io_ns: 1e8,
        items: 240,
        item_ns: 3e9,
        item_io_ns: 2e9,
        alone_ns: 0,
    })),
    processes: [],
    epochs: [],
    steps: [],
    notes: [],
});

export function training() {
    const next = random(21),
        events = [],
        wall = 3.4e9;
    const processes = processesOf(wall);
    const lanes = processes
        .flatMap((process, i) =>
            process.role === 'trainer'
                ? [
                      [i, process.pid],
                      [i, process.pid + 1000],
                  ]
                : [[i, process.pid]],
        )
        .map(([process, tid]) => ({ process, tid }));

    events.push({ start: 3e7, d: wall - 6e7, c: WAIT, p: 0, lane: 0 });
    lanes.forEach(({ process, tid }, lane) => {
        const { p, role, pid } = processes[process];
        if (role === 'trainer' && tid === pid) train(events, next, { p, lane }, wall);
        else if (role.startsWith('worker')) work(events, next, { p, lane, index: process }, wall);
    });
    const files = [
        { path: '/usr/lib/libtorch.so' },
        { path: '/data/imagenet/index.npy' },
        ...Array.from({ length: 80 }, (_, i) => ({
            path: `/data/imagenet/shard_${i}.npy`,
            pattern: '/data/imagenet/shard_#.npy',
        })),
        { path: '/data/imagenet/labels.txt' },
        { path: '/scratch/out/rank0/model.pt' },
        { path: '/scratch/out/rank1/model.pt' },
    ];
    const who = ['bash 100', 'rank 0', 'rank 1'].map((label, p) => ({
        label,
        rank: p,
        processes: p ? 5 : 1,
        start_ns: p ? 2e7 : 0,
        life_ns: wall - (p ? 4e7 : 0),
    }));
    return makeRun({
        title: 'bash train.sh',
        kind: 'rank',
        events,
        bins: 240,
        wall_ns: wall,
        calls: CALLS,
        regions: REGIONS,
        files,
        stacks: STACKS,
        lanes,
        who,
        processes,
        overlap: overlapOf(wall),
        strip: (bins, width) =>
            Array.from({ length: bins }, (_, t) => {
                const isBusy = t % 30 > 6,
                    io = Math.round(width * (t % 30 > 22 ? 1.8 : 0.7)),
                    compute = Math.round(isBusy ? width * 1.6 : width * 0.2);
                const hidden = Math.min(io, Math.round(compute * 0.5));
                return {
                    compute,
                    io,
                    hidden,
                    exposed: Math.round((io - hidden) / 2),
                    idle: Math.max(0, 2 * width - compute),
                };
            }),
    });
}
