// SPDX-License-Identifier: MIT
// Writes the data of a page, as README.md describes them: the opposite of src/data.js.

import { deflateSync } from 'node:zlib';

function leb(out, value) {
    if (typeof value === 'bigint') {
        for (; value >= 128n; value >>= 7n) out.push(Number(value & 127n) + 128);
        value = Number(value);
    }
    while (value >= 128) {
        out.push((value % 128) + 128);
        value = Math.floor(value / 128);
    }
    out.push(value);
}

function encodeColumn(type, values) {
    const out = [];
    let last = 0;

    if (type === 'b') return Uint8Array.from(values);
    for (const value of values) {
        if (type === 's') {
            const bytes = Buffer.from(String(value), 'utf8');
            leb(out, bytes.length);
            for (const byte of bytes) out.push(byte);
        } else if (type === 'd') {
            const by = value - last;
            leb(out, by < 0 ? -2n * BigInt(by) - 1n : 2n * BigInt(by));
            last = value;
        } else {
            leb(out, value);
        }
    }
    return Uint8Array.from(out);
}

/* The head of RUN, whose `tables` are {NAME: {COLUMN: [type, values]}}; columns go to the end of PARTS. */
function encodeRun(run, parts, state) {
    const tables = {};

    for (const [name, columns] of Object.entries(run.tables)) {
        const head = { rows: 0, columns: {} };
        for (const [title, [type, values]] of Object.entries(columns)) {
            const bytes = encodeColumn(type, values);
            head.rows = values.length;
            head.columns[title] = { type, at: state.at, bytes: bytes.length };
            parts.push(bytes);
            state.at += bytes.length;
        }
        tables[name] = head;
    }
    return { ...run, tables };
}

/** The bytes of RUNS before they are deflated. */
export function encode(runs, { version = 1, made = '2026-11-26T10:00:00Z' } = {}) {
    const parts = [],
        state = { at: 0 };
    const head = Buffer.from(JSON.stringify({ version, made, runs: runs.map((run) => encodeRun(run, parts, state)) }));
    const words = Buffer.alloc(12);

    words.write('DFTR', 0, 'latin1');
    words.writeUInt32LE(version, 4);
    words.writeUInt32LE(head.length, 8);
    return Buffer.concat([words, head, ...parts]);
}

/** The bytes of RUNS as they lie in a page. */
export function deflated(runs, options) {
    return deflateSync(encode(runs, options));
}

/** TEMPLATE with BYTES inside. */
export function fill(template, bytes) {
    const mark = 'id="dftrace-data">';
    const at = template.indexOf(mark) + mark.length;

    return template.slice(0, at) + Buffer.from(bytes).toString('base64') + template.slice(at);
}
