// SPDX-License-Identifier: MIT
// Sums under a filter are those of the events that pass it; what does not apply is named.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decode } from '../src/data.js';
import { changed, everything, keyText, resolve } from '../src/filter.js';
import { fromHash, isInLink, toHash } from '../src/link.js';
import { Durations, binOf, bounds, octaveOf } from '../src/histogram.js';
import { View } from '../src/model.js';
import { encode } from './encode.mjs';
import { runsOf } from './made.mjs';
import { makeRun } from './run.mjs';
import { random } from './small_run.mjs';

const CALLS = [
    ['POSIX', 'read', 1],
    ['POSIX', 'write', 2],
    ['POSIX', 'open', 4],
    ['app', 'step', 0, 1],
];

/* A run of some hundred events with all dimensions, and the events. */
function run(seed = 1) {
    const next = random(seed),
        wall = 1e6,
        events = [];
    const pick = (count) => Math.floor(next() * count);

    for (let i = 0; i < 600; i++)
        events.push({
            start: pick(wall),
            d: pick(20000),
            p: pick(5),
            c: pick(4),
            g: pick(3),
            f: pick(4),
            b: pick(5000),
            e: +(next() < 0.1),
        });
    const who = Array.from({ length: 5 }, (_, p) => ({
        label: `rank ${p}`,
        rank: p + 1,
        processes: 1,
        start_ns: p * 1000,
        life_ns: wall - p * 1000,
    }));
    const spec = {
        title: 'x',
        kind: 'rank',
        events,
        bins: 20,
        wall_ns: wall,
        calls: CALLS,
        regions: ['', 'a', 'b'],
        files: [{ path: '/1' }, { path: '/2' }, { path: '/3' }],
        who,
        processes: who.map((one, p) => ({ ...one, p, pid: p, threads: 1 })),
    };
    const head = makeRun(spec);
    return [decode(Uint8Array.from(encode([head]))).runs[0], events];
}

const passes = (event, filter) =>
    (!filter.t || (event.t >= filter.t[0] && event.t < filter.t[1])) &&
    ['p', 'c', 'g', 'f'].every((dim) => !filter[dim] || filter[dim][event[dim]]);

test('sums by each axis are those of the events, under each filter that a cube has', () => {
    const [data, events] = run();

    for (const change of [
        {},
        { p: [2] },
        { t: [3, 9] },
        { c: [0, 2] },
        { t: [0, 5], p: [1, 3] },
        { f: [1] },
        { p: [4], g: [1] },
        { class: ['read'] },
    ]) {
        const filter = changed(everything(), data, change),
            view = new View(data, filter);
        for (const axes of [['c'], ['p'], ['p', 'c'], ['c', 'class'], ['t'], ['g']]) {
            const sums = view.sums(axes),
                rows = resolve(data, filter);
            for (const dim of sums.ignored) rows[dim] = null;
            const hasFiles = view.rows(axes.map((axis) => (axis === 'class' ? 'c' : axis))).cube.f !== undefined;
            const own = events.filter((event) => passes(event, rows) && (!hasFiles || event.f));
            assert.equal(
                sums.n.reduce((a, b) => a + b, 0),
                own.length,
                `${JSON.stringify(change)} ${axes}`,
            );
            const expected = new Float64Array(sums.d.length);
            for (const event of own) {
                const at = axes.reduce(
                    (place, axis) => place * view.size(axis) + (axis === 'class' ? CALLS[event.c][2] : event[axis]),
                    0,
                );
                expected[at] += event.d;
            }
            assert.deepEqual(sums.d, expected, `${JSON.stringify(change)} ${axes}`);
        }
    }
});

test('a picture names the filters that do not apply to it', () => {
    const [data] = run();
    const view = new View(data, changed(changed(everything(), data, { g: [1] }), data, { t: [0, 4] }));

    assert.deepEqual(view.rows(['p', 'c']).ignored.length, 1);
    assert.deepEqual(view.rows(['s', 'c']).ignored, ['t', 'g']);
    assert.deepEqual(view.rows(['p', 'c'], { without: ['t', 'g'] }).ignored, []);
});

test('time in bins is as long as the calls', () => {
    const [data, events] = run(),
        end = 20 * data.time.width_ns;

    assert.equal(
        new View(data, everything()).sums(['t']).w.reduce((a, b) => a + b, 0),
        events.reduce((sum, event) => sum + Math.min(event.d, end - event.start), 0),
    );
});

test('cubes of files answer only where files are asked for', () => {
    const [data, events] = run();

    assert.equal(
        new View(data, everything()).sums(['c']).n.reduce((a, b) => a + b),
        events.length,
    );
    assert.equal(
        new View(data, everything()).sums(['f']).n.reduce((a, b) => a + b),
        events.filter((event) => event.f).length,
    );
});

test('processes live in the chosen time', () => {
    const [data] = run(),
        width = data.time.width_ns;

    assert.equal(new View(data, everything()).lives().total, 5e6 - 10000);
    assert.equal(new View(data, changed(everything(), data, { t: [2, 4] })).lives().total, 5 * 2 * width);
    assert.deepEqual(Array.from(new View(data, changed(everything(), data, { p: [1] })).lives().each), [
        0,
        1e6 - 1000,
        0,
        0,
        0,
    ]);
});

test('choosing what is chosen frees it, and adding turns one', () => {
    const [data] = run();
    const one = changed(everything(), data, { p: [1] });

    assert.deepEqual([...changed(one, data, { p: [1] }).p], []);
    assert.deepEqual([...changed(one, data, { p: [2] }).p], ['rank 2']);
    assert.deepEqual([...changed(one, data, { p: [2] }, true).p], ['rank 1', 'rank 2']);
    assert.deepEqual([...changed(one, data, { p: [1] }, true).p], []);
    assert.deepEqual([...changed(one, data, { p: null }).p], []);
});

test('a filter holds for both runs: texts and times, not rows', () => {
    const [first] = run(),
        [second] = run(2);

    second.start_ns = 3 * second.time.width_ns;
    const filter = changed(changed(everything(), first, { f: [2] }), first, { t: [1, 3] });
    assert.deepEqual(resolve(second, filter).t, [4, 6]);
    assert.deepEqual(Array.from(resolve(second, filter).f), [0, 0, 1, 0]);
});

test('links hold the filter', () => {
    const [data] = run();
    const filter = changed(changed(changed(everything(), data, { p: [1, 2] }), data, { t: [1, 3] }), data, {
        class: ['read'],
    });
    const back = fromHash(toHash('files', filter));

    filter.f.add('/a?b&c=d#\u202e \ud83d\ude00');
    assert.deepEqual(back.id, 'files');
    assert.deepEqual(fromHash(toHash('files', filter)).filter, filter);
    assert.deepEqual(fromHash('#x?t=5..1&t=NaN').filter, everything());
    assert.equal(keyText('c', 'meta'), 'metadata');
    assert.equal(keyText('c', 'POSIX:read'), 'read');
});

test('links hold many values, folded and packed', () => {
    const filter = everything();

    for (let i = 0; i < 10000; i++) if (i !== 5164) filter.p.add(String(i));
    for (let i = 0; i < 3000; i++) filter.f.add(`/scratch/job/${i % 7 ? `item_000${i}` : i}.bin`);
    filter.f.add('').add('007').add('a=b-1').add('rank 9').add('rank 10');
    const hash = toHash('heat', filter);

    assert.deepEqual(fromHash(hash), { id: 'heat', filter });
    assert.ok(hash.length < 16000, String(hash.length));
    assert.ok(toHash(null, { ...filter, f: new Set() }).length < 80);
    for (const bad of ['#x?p~=', '#x?p~=!!', '#x?p~=AAAA', `${hash.slice(0, 40)}AB`])
        assert.ok(fromHash(bad).filter.p.size <= 200000);
    assert.ok(isInLink(filter.p));
    assert.ok(!isInLink(new Set(Array.from({ length: 20000 }, (_, i) => `${Math.sin(i)}x`))));
});

test('a duration lies in the bin whose bounds hold it', () => {
    for (const ns of [
        0,
        1,
        31,
        32,
        63,
        64,
        65,
        127,
        128,
        451,
        4095,
        4096,
        1e6,
        2 ** 31,
        2 ** 40 - 1,
        2 ** 40,
        2 ** 52,
    ]) {
        const [low, high] = bounds(binOf(ns));
        assert.ok(low <= ns && ns <= high, `${ns} in ${low}-${high}`);
        assert.equal(octaveOf(binOf(ns)), Math.floor(Math.log2(Math.max(1, ns))), String(ns));
    }
    assert.deepEqual(bounds(binOf(363)), [360, 367]);
    assert.deepEqual(bounds(64, 1), [64, 127]);
    assert.deepEqual(bounds(0, 1), [0, 31]);
});

test('percentiles follow the rule of ranks', () => {
    const durations = new Durations(32);
    const rows = { bin: [363, 1000, 60000].map(binOf), n: [50, 49, 1] };
    const middle = (ns) => {
        const [low, high] = bounds(binOf(ns));
        return low + Math.floor((high - low) / 2);
    };

    for (let i = 0; i < 3; i++) durations.add(rows, i);
    const between = [middle(363), middle(363), middle(1000), middle(1000), middle(60000)];
    assert.deepEqual(durations.percentiles([0, 50, 51, 99, 100]), between);
    assert.equal(durations.total, 100);
    assert.deepEqual(new Durations(32).percentiles([50]), [null]);
});

test('percentiles are not below the least duration, nor above the longest', () => {
    const [durations, other] = [new Durations(32), new Durations(32)];
    const from = bounds(binOf(60000))[0];

    durations.add({ bin: [binOf(60000)], n: [2], least: [1 + 59990 - from], most: [1 + 60001 - from] }, 0);
    assert.deepEqual(durations.percentiles([1, 99]), Array(2).fill(Math.min(60001, Math.max(59990, from + 511))));
    other.add({ bin: [binOf(60000)], n: [1], least: [1], most: [1] }, 0);
    assert.deepEqual(other.percentiles([50]), [from]);
    durations.merge(other);
    assert.deepEqual([durations.least, durations.most, durations.total], [from, 60001, 3]);
});

test('odd runs have views', () => {
    for (const name of ['empty', 'wall0', 'epoch', 'hostile']) {
        const data = decode(Uint8Array.from(encode(runsOf(name)))).runs[0];
        const view = new View(data, everything());
        for (const axes of [['c'], ['p', 'class'], ['t', 'class'], ['s', 'class'], ['g'], ['f']])
            assert.ok(view.sums(axes).n.every(Number.isFinite));
        assert.ok(view.latency(['c']).count >= 0);
    }
});
