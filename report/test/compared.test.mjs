// SPDX-License-Identifier: MIT
// Two runs in one table, and how often a file was read.

import assert from 'node:assert/strict';
import test from 'node:test';

import { differences, differenceText, union } from '../src/pictures/compared.js';
import { again } from '../src/pictures/files.js';
import { sorted } from '../src/table.js';

const side = (names, time_ns) => ({
    numbers: { time_ns },
    rows: names.map((_, row) => row),
    keyOf: (row) => names[row],
});

test('rows of two runs are matched by their key', () => {
    const joint = union([side(['a', 'b', 'c'], [100, 20, 3]), side(['c', 'a', 'd'], [3, 10, 50])]);

    assert.deepEqual(
        joint.rows.map(({ key, rows }) => [key, ...rows]),
        [
            ['a', 0, 1],
            ['b', 1, -1],
            ['c', 2, 0],
            ['d', -1, 2],
        ],
    );
    assert.deepEqual([...joint.column('time_ns', 0)], [100, 20, 3, 0]);
    assert.deepEqual([...joint.column('time_ns', 1)], [10, 0, 3, 50]);

    const [difference, factor] = differences(joint, ['A', 'B']);
    assert.deepEqual(
        joint.rows.map((_, i) => difference.text(i)),
        ['-90 ns', '-20 ns', '', '+50 ns'],
    );
    assert.deepEqual(
        joint.rows.map((_, i) => factor.text(i)),
        ['-90 %', 'gone', '', 'new'],
    );
    assert.deepEqual(sorted([0, 1, 2, 3], difference, true), [0, 3, 1, 2]);
    assert.equal(
        differenceText(joint, ['A', 'B'], ({ key }) => key),
        'a differs most: 10 ns in B, 100 ns in A.',
    );
});

test('how often a file was read is not known where less was read than is distinct', () => {
    assert.equal(again(4000, 1001), 4);
    assert.ok(Number.isNaN(again(10, 1001)));
    assert.ok(Number.isNaN(again(10, 0)));
});
