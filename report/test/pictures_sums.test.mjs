// SPDX-License-Identifier: MIT
// Numbers of the pictures of who and what: ranks, stacks, directories, processes. Held against sums over raw columns.

import assert from 'node:assert/strict';
import test from 'node:test';

import { decode } from '../src/data.js';
import { aroundOf, flameNumbers, functionsOf, layout } from '../src/pictures/flame_numbers.js';
import { heatNumbers } from '../src/pictures/heat_numbers.js';
import { ranksNumbers } from '../src/pictures/ranks_numbers.js';
import { searched } from '../src/pictures/tree.js';
import { treeNumbers, treeOrder } from '../src/pictures/tree_numbers.js';
import { endingOf } from '../src/run_state.js';
import { nodeAt, squares, treemapNumbers } from '../src/pictures/treemap_numbers.js';
import { encode } from './encode.mjs';
import { runsOf } from './made.mjs';
import { random } from './small_run.mjs';
import { changes, isIn, rawCube, rawTable, runOf, viewOf } from './views.mjs';

const IO = [1, 2, 4, 3, 6];
const sum = (values) => Array.from(values).reduce((all, value) => all + value, 0);

test('ranks: time by class of each, sorted, with median and imbalance', async () => {
    const { run, raw } = await runOf('ranks');
    const cube = rawCube(raw, ['p', 'c']),
        kinds = rawTable(raw, 'calls').class;

    for (const change of [{}, ...changes(run, ['p', 'c'], 25, 5)]) {
        const numbers = ranksNumbers(viewOf(run, change));
        const expected = new Map();
        cube.p.forEach((p, i) => {
            if (isIn(run, change, 'p', p) && isIn(run, change, 'c', cube.c[i]) && IO.includes(kinds[cube.c[i]]))
                expected.set(p, (expected.get(p) ?? 0) + cube.d[i]);
        });
        assert.equal(numbers.rows.length, change.p?.length ?? 48);
        for (const row of numbers.rows) {
            assert.equal(row.io, expected.get(row.p) ?? 0);
            assert.equal(row.io, sum(IO.map((kind) => row.classes[kind])));
        }
        const times = numbers.rows.map((row) => row.io);
        assert.deepEqual(
            times,
            [...times].sort((a, b) => b - a),
        );
        assert.equal(numbers.slowest.io, times[0]);
        assert.equal(numbers.median.io, times[Math.floor(times.length / 2)]);
        assert.ok(Math.abs(numbers.imbalance - (sum(times) ? (times[0] * times.length) / sum(times) - 1 : 0)) < 1e-9);
    }
    assert.equal(ranksNumbers(viewOf(run)).slowest.p, 17);
});

test('flame: a function has all that is below it, once', async () => {
    const { run, raw } = await runOf('train');
    const cube = rawCube(raw, ['p', 'k', 'c']),
        texts = rawTable(raw, 'stacks').text,
        calls = rawTable(raw, 'calls');

    for (const change of [{}, ...changes(run, ['p', 'c'], 20, 6)]) {
        const numbers = flameNumbers(viewOf(run, change), 'stacks');
        const rows = cube.k
            .map((k, i) => i)
            .filter(
                (i) =>
                    isIn(run, change, 'p', cube.p[i]) &&
                    isIn(run, change, 'c', cube.c[i]) &&
                    (change.c ? !calls.is_region[cube.c[i]] : IO.includes(calls.class[cube.c[i]])),
            );
        for (const column of ['d', 'b', 'n']) assert.equal(numbers.root[column], sum(rows.map((i) => cube[column][i])));
        const functions = functionsOf(numbers.root);
        for (const [name, one] of functions) {
            const names = (i) => (texts[cube.k[i]] || '(no stack)').split(';');
            assert.equal(one.total, sum(rows.filter((i) => names(i).includes(name)).map((i) => cube.d[i])), name);
            assert.equal(one.self, sum(rows.filter((i) => names(i).at(-1) === name).map((i) => cube.d[i])), name);
            const { callers, callees } = aroundOf(numbers.root, name);
            assert.equal(sum(callers.map((row) => row.value)), one.total, name);
            assert.equal(sum(callees.map((row) => row.value)), one.total, name);
        }
        assert.deepEqual(numbers.ignored, []);
    }
});

test('flame: who makes the calls is the last function of the program, not of a library', async () => {
    const { run } = await runOf('train');
    const stacks = [
        'main (a.cpp:9);get (a.cpp:28);xsgetn [libstdc++.so.6];read [libc.so.6]',
        'main (a.cpp:9);log (a.cpp:3)',
    ];
    const text = Array.from(run.table('stacks').text, (_, k) => (k ? stacks[+(k > 2)] : ''));
    const table = (name) => (name === 'stacks' ? { ...run.table(name), text } : run.table(name));
    const view = viewOf({ ...run, table });
    const numbers = flameNumbers(view, 'stacks');
    const own = functionsOf(numbers.root);

    assert.deepEqual(
        numbers.own,
        ['get (a.cpp:28)', 'log (a.cpp:3)']
            .map((name) => ({ name, self: own.get(name).total }))
            .reduce((a, b) => (b.self > a.self ? b : a)),
    );
    for (let k = 1; k < text.length; k++) text[k] = stacks[0];
    assert.equal(flameNumbers(viewOf(view.run), 'stacks').own.name, 'get (a.cpp:28)');
    for (let k = 1; k < text.length; k++) text[k] = 'a [x.so];b [y.so]';
    assert.equal(flameNumbers(viewOf(view.run), 'stacks').own.name, 'b [y.so]', 'there is no other');
});

test('flame: callees of a function that calls itself count once', async () => {
    const { run } = await runOf('train');
    const { root } = flameNumbers(viewOf(run), 'stacks');
    const { total } = functionsOf(root).get('getitem');

    assert.equal(sum(aroundOf(root, 'getitem').callees.map((row) => row.value)), total);
    const boxes = layout(root, 'd');
    assert.equal(boxes[0].to, root.d);
    boxes.forEach(({ node, from, to }) => assert.ok(Math.abs(to - from - node.d) < 1e-6 * root.d));
});

test('flame: regions have the calls in them, and no region', async () => {
    const { run, raw } = await runOf('train');
    const cube = rawCube(raw, ['g', 'c']),
        calls = rawTable(raw, 'calls'),
        regions = rawTable(raw, 'regions').name;
    const { root } = flameNumbers(viewOf(run), 'regions');

    regions.forEach((name, g) => {
        const rows = cube.g.map((_, i) => i).filter((i) => cube.g[i] === g && IO.includes(calls.class[cube.c[i]]));
        assert.equal(
            root.children.find((child) => child.name === (name || '(no region)'))?.d ?? 0,
            sum(rows.map((i) => cube.d[i])),
        );
    });
});

test('directories: each has what is below it', async () => {
    for (const name of ['ranks', 'train', 'hostile']) {
        const { run, raw } = await runOf(name);
        const cube = rawCube(raw, ['f', 'c']),
            kinds = rawTable(raw, 'calls').class,
            paths = run.table('files').path;

        for (const change of [{}, ...changes(run, ['f', 'c'], name === 'hostile' ? 0 : 12, 7)]) {
            const { root } = treemapNumbers(viewOf(run, change));
            const rows = cube.f
                .map((_, i) => i)
                .filter(
                    (i) =>
                        IO.includes(kinds[cube.c[i]]) &&
                        isIn(run, change, 'f', cube.f[i]) &&
                        isIn(run, change, 'c', cube.c[i]),
                );
            assert.equal(root.d, sum(rows.map((i) => cube.d[i])));
            const walk = (node) => {
                const below = new Set(rows.filter((i) => node.path === '' || paths[cube.f[i]].startsWith(node.path)));
                if (node.children.length && name !== 'hostile')
                    assert.equal(node.b, sum([...below].map((i) => cube.b[i])), node.path);
                if (node.children.length)
                    for (const column of ['d', 'b', 'n'])
                        assert.equal(node[column], sum(node.children.map((child) => child[column])));
                assert.equal(node === root || nodeAt(root, node.path).path === node.path, true);
                node.children.forEach((child) => walk(child));
            };
            walk(root);
        }
    }
});

test('directories: areas are true, fill the box and do not lie on each other', () => {
    const next = random(13);

    for (let round = 0; round < 40; round++) {
        const values = Array.from({ length: 1 + Math.floor(next() * 30) }, () => Math.floor(1 + 1000 * next() ** 4));
        const boxes = squares(
            values.map((value) => ({ value })),
            (item) => item.value,
            5,
            7,
            300,
            200,
        );
        const all = sum(values);
        boxes.forEach(({ item, x, y, w, h }) => {
            assert.ok(Math.abs(w * h - (item.value / all) * 60000) < 1e-3);
            assert.ok(x >= 5 - 1e-6 && y >= 7 - 1e-6 && x + w <= 305 + 1e-6 && y + h <= 207 + 1e-6);
        });
        boxes.forEach((a, i) =>
            boxes.slice(i + 1).forEach((b) => {
                const wide = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x),
                    high = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
                assert.ok(wide < 1e-6 || high < 1e-6);
            }),
        );
    }
    assert.deepEqual(
        squares([{ value: 0 }], (item) => item.value, 0, 0, 10, 10),
        [],
    );
});

test('processes: a tree in the order of starts, with how they ended', async () => {
    const { run } = await runOf('train');
    const numbers = treeNumbers(viewOf(run));

    assert.equal(numbers.count, 11);
    assert.deepEqual(numbers.depths, [0, 1, 2, 2, 2, 2, 1, 2, 2, 2, 2]);
    assert.deepEqual(numbers.endings, [8, 1, 1, 1]);
    const found = searched(run.table('processes'), numbers, 'sigkill');
    assert.equal(found.matches, 1);
    assert.deepEqual(found.isDim, [true, true, false]);
    assert.equal(treeNumbers(viewOf(run, { p: [2] })).count, 5);
    assert.equal(treeNumbers(viewOf(run, { t: [0, 1] })).count, 1);
});

test('processes: each stands once, whatever the parents say', () => {
    const next = random(17);

    for (let round = 0; round < 50; round++) {
        const rows = Math.floor(next() * 40);
        const processes = { rows, parent: [], start_ns: [] };
        for (let i = 0; i < rows; i++) {
            processes.parent.push(Math.floor(next() * (rows + 2)));
            processes.start_ns.push(Math.floor(next() * 5));
        }
        const order = treeOrder(processes);
        assert.deepEqual(
            [...order.rows].sort((a, b) => a - b),
            Array.from({ length: rows }, (_, i) => i),
        );
        order.rows.forEach((row, i) => assert.ok(!i || order.depths[i] <= order.depths[i - 1] + 1));
    }
    for (const [text, ending] of [
        ['exit 0', 0],
        ['exit', 0],
        ['signal 11', 1],
        ['killed', 1],
        ['exit 3', 2],
        ['status 1', 2],
        ['unknown', 3],
        ['running', 3],
        ['', 3],
    ])
        assert.equal(endingOf(text), ending, text);
});

/* A run whose cubes know classes where those of NAME know calls, as those of a large run do. */
function runOfClasses(name) {
    const raw = structuredClone(runsOf(name)[0]),
        kinds = rawTable(raw, 'calls').class;

    raw.cubes = raw.cubes
        .filter(({ dims }) => dims.includes('c') && !dims.includes('k'))
        .map(({ dims, table }) => {
            const { c, ...others } = raw.tables[table];
            raw.tables[table] = { ...others, i: ['u', c[1].map((call) => kinds[call])] };
            return { dims: dims.map((dim) => (dim === 'c' ? 'i' : dim)), table };
        });
    return decode(Uint8Array.from(encode([raw]))).runs[0];
}

test('cubes that know classes and no calls give the same sums', async () => {
    const { run } = await runOf('ranks'),
        large = runOfClasses('ranks');
    const plain = (value) => JSON.parse(JSON.stringify(value, (_, one) => (ArrayBuffer.isView(one) ? [...one] : one)));

    for (const change of [{}, { p: [3, 5] }, { t: [4, 90] }, { p: [7], t: [10, 60] }, { class: ['read', 'sync'] }])
        for (const numbers of [heatNumbers, ranksNumbers, treemapNumbers, (view) => view.sums(['t', 'class'])]) {
            const [got, want] = [large, run].map((one) => plain(numbers(viewOf(one, change))));
            if (got.ignored?.length) assert.deepEqual([numbers, got.ignored], [treemapNumbers, want.ignored]);
            else assert.deepEqual(got, want);
        }
    assert.deepEqual(ranksNumbers(viewOf(large, { c: [0] })).ignored, ['c']);
});
