// SPDX-License-Identifier: MIT
// Decoding: what was encoded comes back, and what is wrong with bytes is said in a sentence.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';

import { DataError, decode, fromBase64, inflate } from '../src/data.js';
import { encode } from './encode.mjs';
import { NAMES, made, runsOf } from './made.mjs';

const bytesOf = (buffer) => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
const wide = new Set(['many', 'rows', 'files']);

function assertSame(actual, expected, what) {
    assert.equal(actual.length, expected.length, what);
    for (let i = 0; i < actual.length; i++) if (actual[i] !== expected[i]) assert.equal(actual[i], expected[i], what);
}

test('each made run comes back as it was encoded', async () => {
    for (const name of NAMES.filter((one) => !wide.has(one))) {
        const runs = runsOf(name),
            data = decode(await inflate(bytesOf(made(name))));
        assert.equal(data.runs.length, runs.length);
        runs.forEach((run, i) => {
            for (const [table, columns] of Object.entries(run.tables))
                for (const [title, [, values]] of Object.entries(columns))
                    assertSame(data.runs[i].table(table)[title], values, `${name} ${table}.${title}`);
        });
    }
});

test('numbers of up to 2^53 and differences of both signs come back', () => {
    const values = [0, 127, 128, 300, 2 ** 32, 2 ** 53 - 1, 5],
        tables = { x: { u: ['u', values], d: ['d', values] } };
    const run = decode(bytesOf(encode([{ time: { width_ns: 1, count: 0 }, cubes: [], tables }]))).runs[0];

    assert.deepEqual(Array.from(run.table('x').u), values);
    assert.deepEqual(Array.from(run.table('x').d), values);
    assert.equal(run.table('nothing').rows, 0);
});

test('the fallback inflates what the browser does', async () => {
    const own = globalThis.DecompressionStream;

    delete globalThis.DecompressionStream;
    try {
        assert.deepEqual(
            await inflate(bytesOf(deflateSync(Buffer.from('abc'.repeat(1000))))),
            bytesOf(Buffer.from('abc'.repeat(1000))),
        );
    } finally {
        globalThis.DecompressionStream = own;
    }
});

const refuses = (bytes, words) =>
    assert.throws(
        () => {
            for (const run of decode(bytes).runs) {
                run.cubes.forEach((cube) => cube.columns());
                run.table('who').label.length;
            }
        },
        (error) => error instanceof DataError && words.test(error.message),
    );

test('bad bytes are refused in words', async () => {
    const good = bytesOf(encode(runsOf('epoch')));
    const cut = good.slice(0, good.length - 40),
        later = good.slice(),
        other = good.slice(),
        broken = good.slice();

    later[4] = 9;
    other[0] = 0;
    broken[14] = 0;
    refuses(new Uint8Array(0), /not the data/);
    refuses(other, /not the data/);
    refuses(later, /version 9.*version 1/);
    refuses(good.slice(0, 40), /cut off/);
    refuses(broken, /not JSON/);
    refuses(cut, /cut off/);
    await assert.rejects(inflate(new Uint8Array(0)), /no data/);
    await assert.rejects(inflate(new Uint8Array([1, 2, 3])), /damaged/);
    assert.throws(() => fromBase64('%%%'), /not base64/);
});

test('rows that speak of others that are not there are refused', () => {
    const runs = runsOf('epoch'),
        column = runs[0].tables.cube0.c[1];

    column[0] = 99;
    refuses(bytesOf(encode(runs)), /row 99 of dimension c/);
});

test('heads that lie about tables are refused', () => {
    for (const change of [
        (run) => {
            run.time = null;
        },
        (run) => {
            run.time.count = -1;
        },
        (run) => {
            run.cubes = [{ dims: ['x'], table: 'cube0' }];
        },
        (run) => {
            run.cubes = [{ dims: ['k'], table: 'cube0' }];
        },
        (run) => {
            run.cubes = [{ dims: ['t'], table: 'nothing' }];
        },
    ]) {
        const runs = runsOf('epoch');
        change(runs[0]);
        refuses(bytesOf(encode(runs)), /damaged/);
    }
});

test('each byte may be wrong: it decodes, or is refused in words', () => {
    const good = bytesOf(encode(runsOf('epoch')));

    for (let at = 0; at < good.length; at += 7) {
        const bad = good.slice();
        bad[at] ^= 0x55;
        try {
            for (const run of decode(bad).runs) for (const cube of run.cubes) cube.columns();
        } catch (error) {
            assert.ok(error instanceof DataError, `${at}: ${error.stack}`);
        }
    }
});
