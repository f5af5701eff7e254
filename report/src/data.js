// SPDX-License-Identifier: MIT
// From the bytes of a page to tables: see "The data" in README.md. Says what is wrong with bytes that it cannot read.

import { unzlibSync } from 'fflate';

const MAGIC = 'DFTR';
const VERSION = 1;
const HEAD_AT = 12;
const LARGEST = 2 ** 63; // the scale of the tenth byte, the last of 64 bits

/** What is wrong with the data, as a sentence for the reader of the page. */
export class DataError extends Error {}

function fail(sentence) {
    throw new DataError(sentence);
}

/** The bytes of BASE64, or a DataError. Blanks and line ends in it count for nothing. */
export function fromBase64(base64) {
    let text;

    try {
        text = atob(base64);
    } catch {
        fail('The data of this page are damaged: they are not base64. Make the page again with "dftmerge report".');
    }
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}

async function inflateByBrowser(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));

    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The bytes that a zlib stream holds, or a DataError. */
export async function inflate(bytes) {
    if (!bytes.length)
        fail(
            'This page has no data: it is the template. "dftmerge report TRACES -o report.html" makes a page of a run.',
        );
    try {
        if (typeof DecompressionStream === 'function') return await inflateByBrowser(bytes);
        return unzlibSync(bytes);
    } catch {
        fail(
            'The data of this page are damaged, or cut off: they do not inflate. Make the page again with ' +
                '"dftmerge report", and copy it as binary.',
        );
    }
}

function unsigned(bytes, table, name, rows, sign) {
    const values = new Float64Array(rows);
    const end = bytes.length;
    let at = 0,
        last = 0;

    for (let i = 0; i < rows; i++) {
        const first = bytes[at];
        let value = 0,
            scale = 1,
            byte;
        do {
            if (at >= end || scale > LARGEST)
                fail(`The data are damaged: column ${name} of table ${table} ends early.`);
            byte = bytes[at++];
            value += sign && scale === 1 ? (byte & 127) >> 1 : (byte & 127) * (sign ? scale / 2 : scale);
            scale *= 128;
        } while (byte >= 128);
        if (sign) value = last += first & 1 ? -value - 1 : value;
        values[i] = value;
    }
    if (at !== end) fail(`The data are damaged: column ${name} of table ${table} has bytes left over.`);
    return values;
}

function texts(bytes, table, name, rows) {
    const values = new Array(rows);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const end = bytes.length;
    let at = 0;

    for (let i = 0; i < rows; i++) {
        let length = 0,
            scale = 1,
            byte = 128;
        while (byte >= 128 && at < end && scale < LARGEST) {
            byte = bytes[at++];
            length += (byte & 127) * scale;
            scale *= 128;
        }
        if (byte >= 128 || length > end - at)
            fail(`The data are damaged: column ${name} of table ${table} ends early.`);
        values[i] = length ? decoder.decode(bytes.subarray(at, at + length)) : '';
        at += length;
    }
    if (at !== end) fail(`The data are damaged: column ${name} of table ${table} has bytes left over.`);
    return values;
}

function column(bytes, table, name, rows, type) {
    if (type === 's') return texts(bytes, table, name, rows);
    if (type === 'b' || (type === 'u' && bytes.length === rows && bytes.every((byte) => byte < 128))) {
        if (bytes.length !== rows)
            fail(`The data are damaged: column ${name} of table ${table} is not one byte a row.`);
        return bytes;
    }
    if (type !== 'u' && type !== 'd')
        fail(`Column ${name} of table ${table} is of a type that this page does not know: ${type}.`);
    return unsigned(bytes, table, name, rows, type === 'd');
}

function isCount(value) {
    return Number.isSafeInteger(value) && value >= 0;
}

function isObject(value) {
    return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/* A table: `rows`, and its columns by name, each of which is decoded when somebody asks for it. */
function openTable(bytes, name, head) {
    const table = { rows: head.rows, names: Object.keys(head.columns) };

    for (const [title, { type, at, bytes: length }] of Object.entries(head.columns)) {
        if (!isCount(at) || !isCount(length) || at + length > bytes.length || head.rows > length)
            fail(`The data are cut off: column ${title} of table ${name} lies behind their end.`);
        let values;
        Object.defineProperty(table, title, {
            enumerable: true,
            get: () => (values ??= column(bytes.subarray(at, at + length), name, title, head.rows, type)),
        });
    }
    return table;
}

function openTables(bytes, heads) {
    const tables = new Map();

    if (!isObject(heads)) fail('The data are damaged: a run has no tables.');
    for (const [name, head] of Object.entries(heads)) {
        if (!isObject(head) || !isCount(head.rows) || !isObject(head.columns))
            fail(`The data are damaged: table ${name} has no rows or columns.`);
        tables.set(name, openTable(bytes, name, head));
    }
    return tables;
}

const CLASSES = 7;
const NONE = { rows: 0, names: [] };
const TEXTS = { who: ['label'], calls: ['cat', 'name'], regions: ['name'], files: ['path'], stacks: ['text'] };
const NUMBERS = { calls: ['class', 'is_region'] };

/* An empty table that has the columns which pictures look for without asking. */
function emptyTable(name) {
    const table = { ...NONE };

    for (const title of TEXTS[name] ?? []) table[title] = [];
    for (const title of NUMBERS[name] ?? []) table[title] = new Uint8Array(0);
    return table;
}

/* How many values each dimension has. */
function extents(run) {
    return {
        t: run.time.count,
        p: run.table('who').rows,
        c: run.table('calls').rows,
        g: run.table('regions').rows,
        f: run.table('files').rows,
        k: run.table('stacks').rows,
        s: run.sizes.length,
        i: CLASSES,
    };
}

/* The sets of rows of `heads`, with `dims` and lazily checked `columns()`. */
function openSets(run, heads, what) {
    return (heads ?? []).map(({ dims, table: name, sub }) => {
        const table = run.table(name);
        let columns;

        if (!Array.isArray(dims) || dims.some((dim) => !(dim in run.extent) || !table.names.includes(dim)))
            fail(`The data are damaged: ${what} ${name} lacks one of its dimensions.`);
        return {
            name,
            dims,
            rows: table.rows,
            sub: sub ?? 32,
            columns: () => (columns ??= checked(run, table, name, dims)),
        };
    });
}

/* The class of each row of COLUMNS: a dimension of its own, or that of the calls. */
function classesOf(run, columns) {
    const classes = run.table('calls').class;

    return columns.i ?? (columns.c ? Int32Array.from(columns.c, (c) => Math.min(classes[c], CLASSES - 1)) : null);
}

function checked(run, table, name, dims) {
    const columns = {};

    for (const title of table.names) columns[title] = table[title];
    for (const dim of dims) {
        const indexes = Int32Array.from(columns[dim]);
        const end = run.extent[dim];
        for (const index of indexes)
            if (index < 0 || index >= end)
                fail(
                    `The data are damaged: table ${name} speaks of row ${index} of dimension ${dim}, which has ${end}.`,
                );
        columns[dim] = indexes;
    }
    let classes;
    Object.defineProperty(columns, 'class', { get: () => (classes ??= classesOf(run, columns)) });
    return columns;
}

function openRun(bytes, head) {
    if (!isObject(head) || !isObject(head.time) || !isCount(head.time.count))
        fail('The data are damaged: a run has no time.');
    const tables = openTables(bytes, head.tables);
    const run = {
        name: '',
        title: '',
        base_ns: '0',
        start_ns: 0,
        wall_ns: 0,
        who: 'process',
        sizes: [],
        summary: {},
        overlap: null,
        is_complete: true,
        lost: null,
        in_flight: null,
        thinned: [],
        heat: null,
        slices: null,
        offsets: null,
        ...head,
        table: (name) => tables.get(name) ?? emptyTable(name),
        has: (name) => tables.has(name) && tables.get(name).rows > 0,
    };

    run.time = { count: head.time.count, width_ns: Math.max(1, head.time.width_ns || 0) };
    run.extent = extents(run);
    run.cubes = openSets(run, head.cubes, 'cube');
    run.latency = openSets(run, head.latency, 'histogram');
    return run;
}

function readHead(bytes) {
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

    if (bytes.length < HEAD_AT || String.fromCharCode(...bytes.subarray(0, 4)) !== MAGIC)
        fail('These are not the data of a dftrace report. Make the page again with "dftmerge report".');
    const version = words.getUint32(4, true),
        length = words.getUint32(8, true);
    if (version !== VERSION)
        fail(
            `The data are of version ${version}, and this page reads version ${VERSION}: page and data were made by ` +
                'different versions of dftrace. Make the page again with one of them.',
        );
    if (HEAD_AT + length > bytes.length)
        fail('The data are cut off: their head is not whole. Make the page again, and copy it as binary.');
    try {
        return [JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD_AT, HEAD_AT + length))), HEAD_AT + length];
    } catch {
        fail('The data are damaged: their head is not JSON. Make the page again with "dftmerge report".');
    }
}

/**
 * The runs that inflated BYTES hold: `{made, runs}`. A run has the members of its head; `table(name)`, which is empty
 * when the data lack it; `has(name)`, whether it has rows; `extent`, how many values each dimension has.
 */
export function decode(bytes) {
    const [head, at] = readHead(bytes);

    if (!isObject(head) || !Array.isArray(head.runs) || !head.runs.length || head.runs.length > 2)
        fail('The data are damaged: their head names no run.');
    return { made: head.made ?? '', runs: head.runs.map((run) => openRun(bytes.subarray(at), run)) };
}
