// SPDX-License-Identifier: MIT
// Numbers read as in the terminal; names are safe to show; tables sort, and go into CSV.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as format from '../src/format.js';
import { csv, sorted } from '../src/table.js';

test('times have three digits and a unit', () => {
    const cases = [
        [0, '0 ns'],
        [451, '451 ns'],
        [999, '999 ns'],
        [1000, '1.00 us'],
        [1490, '1.49 us'],
        [851e6, '851 ms'],
        [999.4e6, '999 ms'],
        [999.6e6, '1.00 s'],
        [1.26e9, '1.26 s'],
        [9.994e9, '9.99 s'],
        [9.996e9, '10.0 s'],
        [6974e9, '6974 s'],
        [36000e9, '10.0 h'],
        [null, '-'],
        [NaN, '-'],
        [-1500, '-1.50 us'],
    ];

    for (const [ns, text] of cases) assert.equal(format.ns(ns), text);
});

test('bytes, counts, shares and factors', () => {
    assert.deepEqual([0, 1023, 1024, 242 * 1024, 1023.6 * 1024, 1.5 * 2 ** 30].map(format.bytes), [
        '0 B',
        '1023 B',
        '1.00 KiB',
        '242 KiB',
        '1.00 MiB',
        '1.50 GiB',
    ]);
    assert.deepEqual([0, 999, 1000, 232212, 1e9].map(format.count), ['0', '999', '1,000', '232,212', '1,000,000,000']);
    assert.deepEqual([format.share(1, 3), format.share(1, 0)], ['33.3 %', '-']);
    assert.deepEqual([1.84, 9.9, 92.4, 1234, 0.05, 0.004, 0].map(format.factor), [
        '1.8x',
        '9.9x',
        '92x',
        '1,234x',
        '0.05x',
        '<0.01x',
        '-',
    ]);
    assert.equal(format.moment('0'), '1970-01-01 00:00:00 UTC');
    assert.equal(format.moment('rubbish'), '-');
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
