// SPDX-License-Identifier: MIT
// From a list of events to a run: tables, cubes, histograms and summary are counted from the same events.

import { binOf } from '../src/histogram.js';
import { summaryOf } from './summary.mjs';

/** Bounds of classes of sizes. */
const LOWS = [
    0, 1, 2, 64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864, 268435456, 1073741824,
];
export const SIZES = LOWS.map((from, i) => ({ from, to: i + 1 < LOWS.length ? LOWS[i + 1] - 1 : null }));

function sizeOf(asked) {
    let s = LOWS.length - 1;

    while (LOWS[s] > asked) s--;
    return s;
}

/* Rows of a cube of DIMS: {key: [dims..., n, e, d, b, w]}. */
class Cube {
    constructor(dims, extents) {
        this.dims = dims;
        this.extents = extents;
        this.rows = new Map();
    }

    row(values) {
        const key = values.reduce((sum, value, i) => sum * this.extents[i] + value, 0);
        let row = this.rows.get(key);

        if (!row) this.rows.set(key, (row = [...values, 0, 0, 0, 0, 0]));
        return row;
    }

    add(event, width) {
        const at = this.dims.length;
        const row = this.row(this.dims.map((dim) => event[dim]));

        row[at] += event.n;
        row[at + 1] += event.e * event.n;
        row[at + 2] += event.d * event.n;
        row[at + 3] += event.b * event.n;
        if (this.dims.includes('t')) this.spread(event, width);
    }

    /* The bins that the event lies in. */
    spread(event, width) {
        const last = this.extents[this.dims.indexOf('t')] - 1;
        const end = event.start + event.d;

        for (let t = event.t; t <= last && (t === event.t || t * width < end); t++) {
            const inside =
                event.n > 1 ? event.d * event.n : Math.min(end, (t + 1) * width) - Math.max(event.start, t * width);
            if (inside > 0)
                this.row(this.dims.map((dim) => (dim === 't' ? t : event[dim])))[this.dims.length + 4] += inside;
            if (event.n > 1) break;
        }
    }

    table() {
        const rows = [...this.rows.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
        const columns = {};
        const sums = this.dims.includes('t') ? ['n', 'e', 'd', 'b', 'w'] : ['n', 'e', 'd', 'b'];

        [...this.dims, ...sums].forEach((name, i) => {
            columns[name] = [i ? 'u' : 'd', rows.map((row) => row[i])];
        });
        return columns;
    }
}

function histogram(dims, extents, events) {
    const rows = new Map();

    for (const event of events) {
        const values = [...dims.map((dim) => event[dim]), binOf(event.d)];
        const key = values.reduce((sum, value, i) => sum * (extents[i] ?? 4096) + value, 0);
        const row = rows.get(key) ?? rows.set(key, [...values, 0]).get(key);
        row[row.length - 1] += event.n;
    }
    const sorted = [...rows.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
    return Object.fromEntries(
        [...dims, 'bin', 'n'].map((name, i) => [name, [i ? 'u' : 'd', sorted.map((row) => row[i])]]),
    );
}

function heatOf(events, people, bins, width) {
    const ns = new Float64Array(people * bins);

    for (const event of events)
        for (let t = event.t; t < bins && (t === event.t || t * width < event.start + event.d); t++)
            ns[event.p * bins + t] +=
                event.n > 1
                    ? event.d * event.n
                    : Math.max(0, Math.min(event.start + event.d, (t + 1) * width) - Math.max(event.start, t * width));
    return Uint8Array.from(ns, (value) => (value >= 1 ? Math.min(255, 1 + Math.round(4 * Math.log2(value))) : 0));
}

const columnsOf = (rows, types) =>
    Object.fromEntries(Object.entries(types).map(([name, type]) => [name, [type, rows.map((row) => row[name] ?? 0)]]));

function slicesOf(events, laneOf, most) {
    const kept = events
        .filter((event) => event.n === 1)
        .sort((a, b) => b.d - a.d)
        .slice(0, most);

    kept.sort((a, b) => laneOf(a) - laneOf(b) || a.start - b.start);
    return columnsOf(
        kept.map((event) => ({
            lane: laneOf(event),
            start_ns: event.start,
            dur_ns: event.d,
            depth: event.depth ?? 0,
            c: event.c,
            f: event.f,
            b: event.b,
            err: event.e,
        })),
        { lane: 'd', start_ns: 'd', dur_ns: 'u', depth: 'u', c: 'u', f: 'u', b: 'u', err: 'u' },
    );
}

function offsetsOf(events, classes) {
    const rows = events
        .filter((event) => event.offset !== undefined && event.f && (classes[event.c] === 1 || classes[event.c] === 2))
        .slice(0, 20000)
        .sort((a, b) => a.f - b.f || a.start - b.start);
    const files = [...new Set(rows.map((row) => row.f))].map((f) => {
        const kept = rows.filter((row) => row.f === f).length;
        return { f, kept, of: kept };
    });
    return [
        files,
        columnsOf(
            rows.map((row, i) => ({
                f: row.f,
                start_ns: row.start,
                offset: row.offset,
                b: row.b,
                p: row.p,
                is_write: +(classes[row.c] === 2),
                how: i % 5,
            })),
            { f: 'd', start_ns: 'u', offset: 'u', b: 'u', p: 'u', is_write: 'b', how: 'b' },
        ),
    ];
}

const CUBES = [
    ['t', 'p', 'c'],
    ['t', 'c'],
    ['p', 'c'],
    ['c'],
    ['c', 's'],
    ['p', 'c', 's'],
    ['g', 'c'],
    ['p', 'g', 'c'],
    ['f', 'c'],
    ['p', 'f', 'c'],
    ['t', 'f', 'c'],
    ['k', 'c'],
    ['p', 'k', 'c'],
];

/**
 * A run of EVENTS. An event has `start`, `d`, `c`, and may have `p g f k b asked e n offset depth`; times are ns after
 * base. SPEC has `calls: [[cat, name, class, is_region]]`, `regions`, `files`, `stacks`, `who`, `processes`, `lanes`,
 * and members of the run.
 */
export function makeRun(spec) {
    const { events, bins, wall_ns: wall, start_ns: start = 0 } = spec;
    const width = Math.max(1, Math.ceil((start + wall) / bins));
    const classes = spec.calls.map((call) => call[2]);
    const files = [{ path: '' }, ...spec.files];
    const extents = {
        t: bins,
        p: spec.who.length,
        c: spec.calls.length,
        g: spec.regions.length,
        f: files.length,
        s: SIZES.length,
        k: Math.max(1, spec.stacks?.length ?? 0),
    };
    const tables = {},
        cubes = [],
        latency = [];

    for (const event of events)
        Object.assign(event, {
            p: event.p ?? 0,
            g: event.g ?? 0,
            f: event.f ?? 0,
            k: event.k ?? 0,
            b: event.b ?? 0,
            e: event.e ?? 0,
            n: event.n ?? 1,
            s: sizeOf(event.asked ?? event.b ?? 0),
            t: Math.min(bins - 1, Math.floor(event.start / width)),
        });
    for (const dims of (spec.cubes ?? CUBES).filter((dims) => spec.stacks || !dims.includes('k'))) {
        const cube = new Cube(
            dims,
            dims.map((dim) => extents[dim]),
        );
        for (const event of events) if (!dims.includes('f') || event.f) cube.add(event, width);
        cubes.push({ dims, table: `cube${cubes.length}` });
        tables[cubes.at(-1).table] = cube.table();
    }
    for (const dims of spec.histograms ?? [['c'], ['p', 'c']]) {
        latency.push({ dims, table: `latency${latency.length}`, sub: 32 });
        tables[latency.at(-1).table] = histogram(
            dims,
            dims.map((dim) => extents[dim]),
            events,
        );
    }
    const patterns = [...new Set(files.map((file) => file.pattern ?? file.path))];
    const laneOf = (event) => event.lane ?? event.p;
    const lanes = spec.lanes ?? spec.processes.map((process, i) => ({ process: i, tid: process.pid }));
    const [offsetFiles, offsets] = offsetsOf(events, classes);
    Object.assign(tables, {
        who: columnsOf(spec.who, { label: 's', rank: 'u', processes: 'u', start_ns: 'u', life_ns: 'u' }),
        processes: columnsOf(spec.processes, {
            p: 'u',
            pid: 'u',
            parent: 'u',
            rank: 'u',
            start_ns: 'u',
            life_ns: 'u',
            program: 's',
            role: 's',
            host: 's',
            command: 's',
            ended: 's',
            threads: 'u',
        }),
        calls: columnsOf(
            spec.calls.map(([cat, name, kind, region]) => ({ cat, name, class: kind, is_region: region ?? 0 })),
            { cat: 's', name: 's', class: 'b', is_region: 'b' },
        ),
        regions: columnsOf(
            spec.regions.map((name) => ({ name })),
            { name: 's' },
        ),
        files: columnsOf(
            files.map((file) => ({ ...file, pattern: patterns.indexOf(file.pattern ?? file.path) })),
            { path: 's', pattern: 'u', distinct: 'u' },
        ),
        patterns: columnsOf(
            patterns.map((text) => ({
                text,
                files: files.filter((file) => (file.pattern ?? file.path) === text).length,
            })),
            { text: 's', files: 'u' },
        ),
        heat: { q: ['b', heatOf(events, spec.who.length, bins, width)] },
        lanes: columnsOf(lanes, { process: 'u', tid: 'u' }),
        slices: slicesOf(events, laneOf, 20000),
        offsets,
    });
    if (spec.stacks) tables.stacks = { text: ['s', spec.stacks] };
    if (spec.strip)
        tables.strip = columnsOf(spec.strip(bins, width), {
            compute: 'u',
            io: 'u',
            hidden: 'u',
            exposed: 'u',
            idle: 'u',
        });
    return {
        name: spec.name ?? '',
        title: spec.title,
        base_ns: spec.base_ns ?? '1795691494000000000',
        start_ns: start,
        wall_ns: wall,
        time: { width_ns: width, count: bins },
        who: spec.kind ?? 'process',
        sizes: SIZES,
        summary: summaryOf({ ...spec, events, classes, files }),
        overlap: spec.overlap ?? null,
        ended: spec.ended ?? { text: null, done: spec.processes.length, first: null },
        is_complete: spec.is_complete ?? true,
        lost: spec.lost ?? null,
        thinned: spec.thinned ?? [],
        cubes,
        latency,
        heat: { table: 'heat', rows: spec.who.length, columns: bins, width_ns: width },
        slices: {
            table: 'slices',
            shortest_ns: 0,
            kept: tables.slices.c[1].length,
            of: events.reduce((sum, event) => sum + event.n, 0),
        },
        offsets: { table: 'offsets', files: offsetFiles },
        tables,
    };
}
