// SPDX-License-Identifier: MIT
// Numbers of the pictures over time: heat map, timeline, offsets, overlap. Held against sums over the raw columns.

import assert from 'node:assert/strict';
import test from 'node:test';

import { fold, fromCell, heatNumbers, toCell } from '../src/pictures/heat_numbers.js';
import offsets from '../src/pictures/offsets.js';
import { offsetsNumbers } from '../src/pictures/offsets_numbers.js';
import { isWait } from '../src/classes.js';
import classes from '../src/pictures/classes.js';
import { placeLabels } from '../src/pictures/latency.js';
import timeline from '../src/pictures/timeline.js';
import { overlapNumbers } from '../src/pictures/overlap_numbers.js';
import { timelineNumbers } from '../src/pictures/timeline_numbers.js';
import { rowsOfTimeline, sliceAt, visible } from '../src/pictures/timeline_rows.js';
import { ranksNumbers } from '../src/pictures/ranks_numbers.js';
import { colours, stubPage } from './stub_page.mjs';
import { changes, isIn, rawCube, rawTable, runOf, viewOf } from './views.mjs';

const IS_IO = [false, true, true, true, true, false, true];
const sum = (values) => Array.from(values).reduce((all, value) => all + value, 0);
const isClose = (a, b) =>
    assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)), `${a} is not ${b}`);

test('heat: cells and margins are sums of w over the rows that pass', async () => {
    const { run, raw } = await runOf('ranks');
    const cube = rawCube(raw, ['t', 'p', 'c']),
        kinds = rawTable(raw, 'calls').class;

    for (const change of [{}, ...changes(run, ['t', 'p', 'c'], 25)]) {
        const numbers = heatNumbers(viewOf(run, change));
        const cells = new Map(),
            byRow = new Map(),
            byTime = new Map();
        const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value);
        cube.t.forEach((t, i) => {
            const isWanted = change.c ? isIn(run, change, 'c', cube.c[i]) : IS_IO[kinds[cube.c[i]]];
            if (!isWanted || !cube.w[i] || !isIn(run, change, 't', t) || !isIn(run, change, 'p', cube.p[i])) return;
            add(cells, `${cube.p[i]} ${t}`, cube.w[i]);
            add(byRow, cube.p[i], cube.w[i]);
            add(byTime, t, cube.w[i]);
        });
        numbers.rows.forEach((p, row) => isClose(numbers.by_row[row], byRow.get(p) ?? 0));
        numbers.by_time.forEach((ns, bin) => isClose(ns, byTime.get(numbers.from + bin) ?? 0));
        numbers.cells.forEach((q, at) => {
            const ns =
                cells.get(
                    `${numbers.rows[Math.floor(at / numbers.columns)]} ${numbers.from + (at % numbers.columns)}`,
                ) ?? 0;
            assert.equal(q, ns ? toCell(Math.fround(ns)) : 0);
        });
        const filled = numbers.cells.filter(Boolean);
        assert.deepEqual([numbers.lowest, numbers.highest], [Math.min(255, ...filled), Math.max(0, ...filled)]);
        isClose(numbers.total, sum(byRow.values()));
        assert.equal(numbers.idle, numbers.rows.length - byRow.size);
        assert.equal(numbers.largest?.ns ?? 0, Math.max(0, ...byRow.values()));
        assert.deepEqual(numbers.ignored, []);
    }
});

test('heat: without a cube the table answers, and other filters are ignored', async () => {
    const { run, raw } = await runOf('many');
    const numbers = heatNumbers(viewOf(run, { p: [777, 3], c: [0], t: [10, 60] }));
    const q = raw.tables.heat.q[1];

    assert.equal(numbers.source, 'table');
    assert.deepEqual(numbers.rows, [3, 777]);
    assert.deepEqual(numbers.ignored, ['c']);
    [3, 777].forEach((p, row) => {
        const cells = q.slice(p * run.heat.columns + 10, p * run.heat.columns + 60);
        assert.deepEqual([...numbers.cells.slice(row * 50, (row + 1) * 50)], [...cells]);
        isClose(numbers.by_row[row], sum(Array.from(cells, fromCell)));
    });
});

test('heat: folding shows the largest of neighbours, and loses none', async () => {
    const { run } = await runOf('many');
    const numbers = heatNumbers(viewOf(run));

    for (const [wide, high] of [
        [1, 1],
        [7, 13],
        [200, 400],
        [200, 10000],
    ]) {
        const out = fold(numbers, [0, numbers.rows.length], [0, numbers.columns], wide, high);
        const expected = new Uint8Array(wide * high);
        numbers.cells.forEach((q, at) => {
            const row = Math.floor(at / numbers.columns),
                col = at % numbers.columns;
            const to =
                Math.floor((row * high) / numbers.rows.length) * wide + Math.floor((col * wide) / numbers.columns);
            expected[to] = Math.max(expected[to], q);
        });
        assert.deepEqual(out, expected);
    }
});

test('heat: a cell says the time within a tenth', () => {
    for (let ns = 1; ns < 1e15; ns *= 1.37) assert.ok(Math.abs(fromCell(toCell(ns)) / ns - 1) < 0.1);
});

test('timeline: slices that pass, time outside of calls and the longest call', async () => {
    const { run, raw } = await runOf('ranks');
    const slices = rawTable(raw, 'slices'),
        calls = rawTable(raw, 'calls'),
        cube = rawCube(raw, ['t', 'p', 'c']);
    const width = run.time.width_ns;

    for (const change of [{}, ...changes(run, ['t', 'p', 'c', 'f'], 25, 2)]) {
        const numbers = timelineNumbers(viewOf(run, change));
        const people = rawTable(raw, 'processes');
        const threads = sum(people.threads.filter((_, row) => isIn(run, change, 'p', people.p[row])));
        assert.equal(numbers.all_threads, Math.max(numbers.threads, threads));
        const [from, to] = change.t ? change.t.map((bin) => bin * width) : [0, run.wall_ns];
        const passes = slices.lane
            .map((lane, i) => i)
            .filter(
                (i) =>
                    slices.start_ns[i] < to &&
                    slices.start_ns[i] + slices.dur_ns[i] >= from &&
                    isIn(run, change, 'p', slices.lane[i]) &&
                    isIn(run, change, 'c', slices.c[i]) &&
                    isIn(run, change, 'f', slices.f[i]),
            );
        assert.equal(numbers.shown, passes.length);
        assert.deepEqual(
            [...numbers.by_lane.rows].sort((a, b) => a - b),
            passes,
        );
        const io = passes.filter(
            (i) => !calls.is_region[slices.c[i]] && calls.class[slices.c[i]] !== 5 && calls.class[slices.c[i]],
        );
        const most = Math.max(0, ...(io.length ? io : passes).map((i) => slices.dur_ns[i]));
        assert.equal(numbers.longest < 0 ? 0 : slices.dur_ns[numbers.longest], most);
        if (change.f || change.c) continue;
        const overlap = (start, dur) => Math.max(0, Math.min(start + dur, to) - Math.max(start, from));
        const lived = sum(
            people.p.map((p, i) => (isIn(run, change, 'p', p) ? overlap(people.start_ns[i], people.life_ns[i]) : 0)),
        );
        const spent = sum(
            cube.p.map((p, i) => {
                const isCounted = isIn(run, change, 'p', p) && isIn(run, change, 't', cube.t[i]);
                return isCounted && calls.class[cube.c[i]] !== 0 ? cube.d[i] : 0;
            }),
        );
        const view = viewOf(run, change),
            [all] = view.numbers(classes).bars;
        assert.equal(numbers.life_ns, lived);
        assert.ok(Math.abs(numbers.rest_ns - Math.max(0, lived - spent)) < 1, `${numbers.rest_ns} ${lived - spent}`);
        assert.ok(Math.abs(all.rest_ns * view.lives().count - numbers.rest_ns) < 1, 'one rule for all pictures');
    }
});

test('timeline: rows lie one below the other, and a slice is found where it is drawn', async () => {
    const { run, raw } = await runOf('ranks');
    const view = viewOf(run);
    const numbers = timelineNumbers(view);
    const layout = rowsOfTimeline(view, numbers, false);
    const slices = rawTable(raw, 'slices');

    assert.equal(layout.rows.length, 48);
    assert.ok(layout.rows.every((row) => row.kind === 'lane' && row.isFirst && row.strip > 0));
    assert.ok(rowsOfTimeline(view, numbers, true).rows.every((row) => row.kind === 'head'));
    const bare = rowsOfTimeline(view, Object.assign(Object.create(numbers), { density: null }), false);
    assert.ok(bare.rows.every((row) => row.isFirst && row.strip === 0));
    layout.rows.forEach((row, i) => assert.equal(row.y, i ? layout.ends[i - 1] : 0));
    assert.equal(layout.ends.at(-1), layout.high);
    assert.deepEqual(
        visible(layout, 100, 60),
        layout.rows.filter((row) => row.y < 160 && row.y + row.high > 100),
    );
    for (let i = 0; i < slices.lane.length; i += 97) {
        const found = sliceAt(
            run.table('slices'),
            numbers.by_lane,
            slices.lane[i],
            slices.start_ns[i] + slices.dur_ns[i] / 2,
            slices.depth[i],
            0,
        );
        assert.equal(slices.lane[found], slices.lane[i]);
        assert.ok(slices.dur_ns[found] <= slices.dur_ns[i]);
    }
});

test('ranks: a row lived no longer than the chosen time', async () => {
    const { run } = await runOf('ranks');
    const whole = ranksNumbers(viewOf(run)).rows,
        part = ranksNumbers(viewOf(run, { t: [10, 20] })).rows;

    assert.ok(whole.some((row) => row.life_ns > 10 * run.time.width_ns));
    assert.ok(part.every((row) => row.life_ns > 0 && row.life_ns <= 10 * run.time.width_ns));
});

test('offsets: numbers of a sample do not stand as those of the file', async () => {
    const { run } = await runOf('ranks');
    const view = viewOf(run),
        numbers = offsetsNumbers(view);
    const whole = offsets.sentence(view, numbers),
        part = offsets.sentence(view, { ...numbers, of: 600157, kept: 3997 });

    assert.match(whole, /accesses\); [\d,]+ (read|write)s?, together /);
    assert.match(part, /accesses in a sample\); the sample has 3,997 of 600,157 accesses, from /);
    assert.doesNotMatch(part, /together|writes?,/);
});

test('offsets: accesses of the file that was chosen, and how they follow', async () => {
    const { run, raw } = await runOf('ranks');
    const table = rawTable(raw, 'offsets');

    for (const change of [{}, { f: [7] }, { f: [2] }, ...changes(run, ['t', 'p', 'f'], 25, 3)]) {
        const numbers = offsetsNumbers(viewOf(run, change));
        const [from, to] = change.t ? change.t.map((bin) => bin * run.time.width_ns) : [0, run.wall_ns];
        const rows = table.f
            .map((f, i) => i)
            .filter(
                (i) =>
                    table.f[i] === numbers.file &&
                    table.start_ns[i] >= from &&
                    table.start_ns[i] <= to &&
                    isIn(run, change, 'p', table.p[i]),
            );
        assert.deepEqual(
            [...numbers.order].sort((a, b) => a - b),
            rows,
        );
        assert.equal(numbers.writes, rows.filter((i) => table.is_write[i]).length);
        assert.equal(numbers.read_bytes + numbers.written_bytes, sum(rows.map((i) => table.b[i])));
        const hows = ['first', 'random', 'strided', 'forward', 'consecutive'];
        hows.forEach((name, how) =>
            assert.equal(numbers.follows[name], rows.filter((i) => table.how[i] === how).length),
        );
        if (change.f?.some((f) => table.f.includes(f))) assert.ok(change.f.includes(numbers.file));
    }
});

test('overlap: sums of the strip in the chosen bins, and the hidden share', async () => {
    const { run, raw } = await runOf('ranks');
    const strip = rawTable(raw, 'strip');

    for (const change of [{}, ...changes(run, ['t', 'p'], 20, 4)]) {
        const numbers = overlapNumbers(viewOf(run, change));
        const [from, to] = change.t ?? [0, run.time.count];
        for (const part of ['compute', 'io', 'hidden', 'exposed', 'idle'])
            assert.equal(numbers[part], sum(strip[part].slice(from, to)));
        assert.equal(numbers.hidden_share, numbers.io ? numbers.hidden / numbers.io : null);
        assert.deepEqual(numbers.ignored, change.p ? ['p'] : []);
    }
});

test('timeline: of many ranks the one with the most I/O comes first, and how many are seen is said', async () => {
    const { run } = await runOf('ranks');
    const view = viewOf(run),
        numbers = timelineNumbers(view);
    const { host } = stubPage(1000);

    assert.equal(numbers.order[0], 17);
    assert.equal(rowsOfTimeline(view, numbers, false).rows[0].p, 17);
    assert.deepEqual(timelineNumbers(viewOf(run, { p: [5, 3, 17] })).order, [3, 5, 17]);
    timeline.draw(host, Object.assign(viewOf(run), { colours }), numbers);
    assert.match(host.textContent, /\d+ of 48 are seen, those with the most time in I\/O first/);
});

test('waits of MPI are told from computing', () => {
    for (const name of ['MPI_Barrier', 'MPI_Waitall', 'MPI_Allreduce', 'PMPI_Ibarrier'])
        assert.equal(isWait(name), true, name);
    for (const name of ['MPI_File_write_at_all', 'compute', 'MPI_Init']) assert.equal(isWait(name), false, name);
});

test('labels of percentiles lie beside each other on a narrow page, too', () => {
    const marks = [20, 120, 130].map((x) => ({ x, wide: 60 }));

    placeLabels(marks, 205);
    assert.ok(
        marks.every(({ at, wide }, i) => at + wide <= (marks[i + 1]?.at ?? 206) && at >= 0),
        JSON.stringify(marks),
    );
});
