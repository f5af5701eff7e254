// SPDX-License-Identifier: MIT
// Numbers read as in the terminal; names are safe to show; tables sort, and go into CSV.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import * as format from '../src/format.js';
import { csv, sorted } from '../src/table.js';

test('numbers are written as in the terminal', () => {
    const table = readFileSync(new URL('../../tests/tools/unit/written.tsv', import.meta.url), 'utf8');
    const write = { ...format, ratio: format.factor };
    let lines = 0;

    for (const [kind, number, text] of table.split('\n').map((line) => line.split('\t'))) {
        if (!text) continue;
        assert.equal(write[kind](...number.split(':').map(Number)), text, `${kind} of ${number}`);
        lines++;
    }
    assert.ok(lines > 40);
});

test('what is not known or negative; shares and moments', () => {
    assert.deepEqual([null, NaN, -1500].map(format.ns), ['-', '-', '-1.50 us']);
    assert.deepEqual([format.share(1, 3), format.share(1, 0)], ['33.3 %', '-']);
    assert.equal(format.moment('0'), '1970-01-01 00:00:00 UTC');
    assert.equal(format.moment('rubbish'), '-');
});

test('marks of an axis are in one unit, and long times are as elsewhere', () => {
    const marks = (values, most) => values.map((value) => format.tick(value, values[1] - values[0], most));

    assert.deepEqual(marks([0, 2e9, 4e9], 5e9), ['0 s', '2 s', '4 s']);
    assert.deepEqual(marks([0, 5e8, 1e9], 1.2e9), ['0.0 s', '0.5 s', '1.0 s']);
    assert.deepEqual(marks([0, 2e4], 3e4), ['0 us', '20 us']);
    assert.deepEqual(marks([0, 1800e9, 3600e9], 4000e9), ['0 s', '30 m 00 s', '1 h 00 m']);
});

test('names of size classes are those of the terminal', () => {
    const names = [
        [0, 0],
        [1, 1],
        [2, 63],
        [64, 1023],
        [1024, 4095],
        [262144, 1048575],
        [2 ** 30, null],
    ].map(([from, to]) => format.sizeClass({ from, to }));

    assert.deepEqual(names, ['0 B', '1 B', '2 B-64 B', '64 B-1 KiB', '1 KiB-4 KiB', '256 KiB-1 MiB', '1 GiB or more']);
});

test('what is not seen is escaped, what is long is cut', () => {
    assert.equal(format.safe('a\u0001\u202eb\ufeff'), 'a\\u0001\\u202eb\\ufeff');
    assert.equal(format.cut('x'.repeat(4096), 20).length, 20);
    assert.equal(format.path('/scratch/u/run1/output/file.dat', 24), '.../run1/output/file.dat');
    assert.equal(format.path('/short', 24), '/short');
});

test('CSV quotes, and disarms formulas', () => {
    const columns = [
        { title: 'name', value: (row) => ['=1+1', 'a,"b"', 'x\ny'][row] },
        { title: 'n', value: (row) => [1, NaN, 3][row] },
    ];

    assert.equal(csv(columns, [0, 1, 2]), 'name,n\n\'=1+1,1\n"a,""b""",\n"x\ny",3\n');
});

test('tables sort numbers and texts; what is not known goes last', () => {
    const values = [3, NaN, 10, 1],
        names = ['f10', 'f9', 'a', 'b'];

    assert.deepEqual(sorted([0, 1, 2, 3], { value: (row) => values[row] }, true), [2, 0, 3, 1]);
    assert.deepEqual(sorted([0, 1, 2, 3], { value: (row) => values[row] }, false), [3, 0, 2, 1]);
    assert.deepEqual(sorted([0, 1, 2, 3], { value: (row) => names[row] }, false), [2, 3, 1, 0]);
});
