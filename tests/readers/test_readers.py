# SPDX-License-Identifier: MIT
"""DuckDB, Polars and hyparquet read the Parquet of dftmerge export, and agree with `dftmerge summary` on counts, sums, minima
and maxima. Needs npm and its registry; runs in tests/run.sh --full.

DFT_READERS_EVENTS=20000000 makes the native trace as large as that; DFT_READERS_TRACES=DIR reads the traces there instead."""

import atexit
import json
import os
import pathlib
import shutil
import tempfile

import pytest

from test_parquet import MAKE, mended
from tooltest import BUILD, ROOT, dftmerge, make, run, summary

HERE = pathlib.Path(__file__).resolve().parent
DATA = ROOT.parent / "shared" / "data" / "dftracer" / "cm1"
READERS = ("duckdb", "polars", "hyparquet")
PACKAGES = ("@duckdb/node-api@1.5.6-r.1", "nodejs-polars@0.26.1", "nodejs-polars-linux-x64-gnu@0.26.1", "hyparquet@1.33.0", "hyparquet-compressors@1.1.2")
SUMS = ("count", "errors", "time_ns", "time_min_ns", "time_max_ns", "bytes", "size_min", "size_max", "first_ns", "last_ns")
pytestmark = pytest.mark.skipif(not shutil.which("npm") or run("npm", "view", "hyparquet", "version").code != 0,
                                reason="there is no npm, or no way to its registry")


def packages(where=[]):
    """A folder with the readers, made once."""
    if not where:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dftrace-readers-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / "package.json").write_text('{"private": true}')
        done = run("npm", "install", "--no-audit", "--no-fund", *PACKAGES, cwd=folder)
        assert done.code == 0, done.err
        where.append(folder)
    return where[0]


def ask(reader, question, path):
    done = run("node", "--max-old-space-size=8192", HERE / "readers.mjs", packages(), reader, question, path)
    assert done.code == 0, (reader, done.err)
    if done.err:
        print(f"        {done.err.strip()}")
    return json.loads(done.out)


# --- sums ---------------------------------------------------------------------------------------------------------------


def number(value):
    return None if value is None else int(value)


def check_groups(directory, traces):
    """By category, name and class, as the section `calls` of the summary has them."""
    out = directory / "out"
    dftmerge("export", "--format", "parquet", "-o", out, traces)
    said = {(g["cat"], g["name"], g["class"]): {s: g[s] for s in SUMS} for g in summary("--all", traces)["calls"]}
    size = sum(p.stat().st_size for p in (out / "events").iterdir())
    events = sum(g["count"] for g in said.values())
    print(f"        {events} calls, {size} bytes of events")
    for reader in READERS:
        found = {tuple(row[:3]): dict(zip(SUMS, map(number, row[3:]))) for row in ask(reader, "groups", out)}
        assert found.keys() == said.keys(), (reader, found.keys() ^ said.keys())
        for key, wanted in said.items():
            got, wanted = dict(found[key]), dict(wanted)
            got.update({k: got[k] or 0 for k in ("bytes", "errors")})  # sums of nothing
            if reader == "duckdb":  # its times with a zone have microseconds
                got["first_ns"], wanted["first_ns"] = got["first_ns"], wanted["first_ns"] // 1000
                assert 0 <= wanted.pop("last_ns") - got.pop("last_ns") < 1000, (reader, key)
            assert got == wanted, (reader, key, got, wanted)
    shutil.rmtree(out)


def test_a_native_trace(directory):
    events = int(os.environ.get("DFT_READERS_EVENTS", 400_000))
    traces = os.environ.get("DFT_READERS_TRACES") or make(directory / "t", processes=8, threads=2, events=events // 16, block=4096, ranks=1)
    check_groups(directory, traces)


def test_a_job_of_a_thousand_ranks(directory):
    done = run(BUILD / "bin" / "make_ranks", directory / "t", "ranks=1000", "hosts=20", "seconds=20", "rate=10")
    assert done.code == 0, done.err
    check_groups(directory, directory / "t")


def test_a_trace_of_dftracer(directory):
    if not DATA.is_dir():
        print(f"skipped a_trace_of_dftracer: there is no {DATA}")
        return
    check_groups(directory, DATA)


# --- cells --------------------------------------------------------------------------------------------------------------


def real(value):
    return None if value is None else float(value.lower().replace("infinity", "inf"))


def cell(value, name, reader):
    if name == "value":
        return real(None if value is None else str(value))
    if name == "time" and reader == "duckdb" and isinstance(value, int):
        return value // 1000 if value > 0 else -(-value // 1000)  # it cuts to microseconds
    return mended(value) if value is None or name in ("cat", "name", "unit", "kind") else int(value)


def test_cells_of_every_form(directory):
    """Counters have columns of all types. Times near the ends of their range are no times of DuckDB."""
    path = directory / "cells.parquet"
    for seed, rows in enumerate((1, 9, 129, 1000, 70_000), 1):
        done = run(MAKE, path, "table=5", f"rows={rows}", "groups=2", f"seed={seed}")
        lines = [json.loads(line) for line in done.out.splitlines()]
        for reader in READERS:
            found = ask(reader, "cells", path)
            for name, cells in zip(lines[0], found):
                if name == "time" and reader == "duckdb" and any(abs(line["time"] or 0) > 2**62 for line in lines):
                    continue
                got, wanted = [cell(c, name, reader) for c in cells], [cell(line[name], name, reader) for line in lines]
                assert got == wanted, (reader, seed, name, next((g, w) for g, w in zip(got, wanted) if g != w))


def test_tables_without_rows(directory):
    traces = make(directory / "t", events=50)
    dftmerge("export", "--format", "parquet", "-o", directory / "out", traces)
    for reader in READERS:
        found = ask(reader, "cells", next((directory / "out" / "counters").iterdir()))
        assert found == [[]] * 8, (reader, found)
