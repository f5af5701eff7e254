// SPDX-License-Identifier: MIT
// Reads a dataset of Parquet with a reader that others wrote, and prints what test_readers.py asks for, as JSON.
//
//   node readers.mjs PACKAGES READER groups DIR      sums of DIR/events by category, name and class
//   node readers.mjs PACKAGES READER cells FILE      all cells: a list of lists, column by column
//
// PACKAGES: a folder with node_modules. READER: duckdb, polars or hyparquet. Numbers are printed as texts, because those
// of JavaScript have 53 bits.
import { createRequire } from "node:module";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const [packages, reader, question, path] = process.argv.slice(2);
const require = createRequire(join(packages, "package.json"));
const imported = (name) => import(require.resolve(name));
const KEYS = ["cat", "name", "class"];
const SUMS = ["count", "errors", "time_ns", "time_min_ns", "time_max_ns", "bytes", "size_min", "size_max", "first_ns", "last_ns"];

const text = (value) => (value === null || value === undefined ? null : typeof value === "object" ? value : String(value));
const events = () => join(path, "events", "*.parquet");

async function duckdb() {
    const { DuckDBInstance } = require("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:", { threads: "2" })).connect();
    const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
    await rows("set timezone = 'UTC'");
    if (question === "cells") {
        const names = (await rows(`describe select * from '${path}'`)).map((r) => [r[0], r[1]]);
        // its times with a zone have microseconds
        const cells = names.map(([n, t]) => (t.startsWith("TIMESTAMP") ? `epoch_us("${n}")` : `"${n}"`)).join(", ");
        const all = await rows(`select ${cells} from '${path}'`);
        return names.map((_, i) => all.map((r) => text(r[i])));
    }
    const sql = `select cat, name, class, sum(calls), sum(calls) filter (errno is null or errno <> 0),
        sum(dur) filter (calls > 0), min(dur) filter (calls > 0), max(dur) filter (calls > 0), sum(bytes) filter (errno = 0),
        min(bytes) filter (errno = 0), max(bytes) filter (errno = 0), min(epoch_us(time)), max(epoch_us(time) * 1000 + dur)
        from '${events()}' group by all`;
    const begin = performance.now(), before = process.cpuUsage();
    const groups = await rows(sql);
    const used = process.cpuUsage(before);
    console.error(`duckdb: ${Math.round(performance.now() - begin)} ms, ${Math.round((used.user + used.system) / 1000)} ms of all cores`);
    return groups.map((r) => r.map(text));
}

async function polars() {
    const pl = require("nodejs-polars");
    const number = (name) => pl.col(name).cast(pl.Int64);
    if (question === "cells") {
        const frame = pl.readParquet(path);
        return frame.columns.map((n) => {
            const cells = frame.getColumn(n), kind = cells.dtype.variant;
            const shown = kind === "Datetime" ? cells.cast(pl.Int64) : cells;
            return (kind === "Float64" ? shown : shown.cast(pl.Utf8)).toArray().map(text);
        });
    }
    const some = number("calls").gt(0), well = pl.col("errno").eq(0);
    const begin = performance.now();
    const frame = pl.scanParquet(events()).withColumns(
        number("time").alias("begin"), number("time").plus(number("dur")).alias("end"),
        pl.when(pl.col("errno").isNull().or(pl.col("errno").neq(0))).then(number("calls")).otherwise(pl.lit(0)).cast(pl.Int64).alias("bad"),
        pl.when(some).then(number("dur")).otherwise(pl.lit(null)).cast(pl.Int64).alias("d"),
        pl.when(well).then(number("bytes")).otherwise(pl.lit(null)).cast(pl.Int64).alias("b"),
    ).groupBy(KEYS).agg(
        number("calls").sum().alias("count"), number("bad").sum().alias("errors"), number("d").sum().alias("time_ns"),
        number("d").min().alias("time_min_ns"), number("d").max().alias("time_max_ns"), number("b").sum().alias("bytes"),
        number("b").min().alias("size_min"), number("b").max().alias("size_max"), number("begin").min().alias("first_ns"),
        number("end").max().alias("last_ns"),
    ).select(...KEYS.map((k) => pl.col(k)), ...SUMS.map((s) => pl.col(s).cast(pl.Utf8))).collectSync();
    console.error(`polars: ${Math.round(performance.now() - begin)} ms`);
    return frame.rows();
}

async function hyparquet() {
    const { asyncBufferFromFile, parquetMetadataAsync, parquetRead } = await imported("hyparquet");
    const { compressors } = await imported("hyparquet-compressors");
    const parsers = { timestampFromNanoseconds: (value) => value };
    const columns = async (name, names) => {
        const file = await asyncBufferFromFile(name);
        const metadata = await parquetMetadataAsync(file);
        const all = names ?? metadata.schema.slice(1).map((s) => s.name);
        const found = Object.fromEntries(all.map((n) => [n, []]));
        const onChunk = ({ columnName, columnData }) => found[columnName].push(columnData);
        if (metadata.num_rows)
            await parquetRead({ file, metadata, compressors, parsers, columns: all, onChunk });
        return all.map((n) => found[n].flatMap((part) => Array.from(part)));
    };
    if (question === "cells")
        return (await columns(path)).map((cells) => cells.map(text));
    const groups = new Map();
    const least = (a, b) => (a === null || (b !== null && b < a) ? b : a), greatest = (a, b) => (a === null || (b !== null && b > a) ? b : a);
    for (const name of readdirSync(join(path, "events"))) {
        const [cat, call, kind, calls, errno, dur, bytes, time] = await columns(join(path, "events", name),
            ["cat", "name", "class", "calls", "errno", "dur", "bytes", "time"]);
        for (let i = 0; i < cat.length; i++) {
            const key = `${cat[i]}\0${call[i]}\0${kind[i]}`;
            let g = groups.get(key);
            if (!g)
                groups.set(key, (g = [cat[i], call[i], kind[i], 0n, 0n, 0n, null, null, 0n, null, null, null, null]));
            const end = BigInt(time[i]) + dur[i];
            g[3] += calls[i];
            if (errno[i] !== 0n)
                g[4] += calls[i];
            if (calls[i] > 0n) {
                g[5] += dur[i];
                g[6] = least(g[6], dur[i]);
                g[7] = greatest(g[7], dur[i]);
            }
            if (errno[i] === 0n && bytes[i] !== null && bytes[i] !== undefined) {
                g[8] += bytes[i];
                g[9] = least(g[9], bytes[i]);
                g[10] = greatest(g[10], bytes[i]);
            }
            g[11] = least(g[11], BigInt(time[i]));
            g[12] = greatest(g[12], end);
        }
    }
    return [...groups.values()].map((g) => g.map(text));
}

console.log(JSON.stringify(await { duckdb, polars, hyparquet }[reader]()));
