# SPDX-License-Identifier: MIT
"""dftmerge export --format parquet: an independent reader finds every row of every table in the parts, with true statistics,
in order of time; and nothing is left where it could not be written."""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

import parquetfile
from test_mpi import MPIRUN, PROGRAM, parallel
from test_tables import expected, key, read
from tooltest import BUILD, DFTMERGE, counts, dftmerge, dump, make, run

MAKE = BUILD / "bin" / "make_parquet"
TABLES = ["events", "rows", "files", "processes", "regions", "counters", "jobs", "notes"]
pytestmark = pytest.mark.skipif(not parquetfile.can_zstd(), reason="neither libzstd nor the program zstd is here")


def mended(value):
    """Bytes that are no UTF-8 are surrogates in our JSON, and U+FFFD in Parquet."""
    if isinstance(value, str):
        return "".join("\ufffd" if 0xdc80 <= ord(c) <= 0xdcff else c for c in value)
    return value


def export(path, *arguments, **more):
    return dftmerge("export", "--format", "parquet", "-o", path, *arguments, **more)


def canonical(records):
    return sorted(json.dumps({k: mended(v) for k, v in r.items()}, sort_keys=True) for r in records)


def check_tables(traces, out):
    """All cells of all tables are those that the reading of tables gives. Returns the rows of events."""
    sizes = {}
    for table in TABLES:
        rows, files = parquetfile.read_table(out, table)
        assert files and all(f.table == table and f.created_by.startswith("dftrace ") for f in files), table
        assert canonical(rows) == canonical(read(table, traces)), table
        sizes[table] = len(rows)
        for file in files:
            assert table != "events" or len(file.groups) == (1 if rows else 0)
            for name in ("time", "first", "last", "start", "end"):
                assert name not in file.names or file.is_time(name), (table, name)
    assert sorted(p.name for p in out.iterdir()) == sorted(TABLES)
    return sizes


# --- the writer ---------------------------------------------------------------------------------------------------------


def check_cells(directory, **settings):
    path = directory / "cells.parquet"
    done = run(MAKE, path, *(f"{k}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    file, rows = parquetfile.File(path), [json.loads(line) for line in done.out.splitlines()]
    found = [{k: str(v) if v in (float("inf"), float("-inf")) else v for k, v in r.items()} for r in file.records()]
    assert found == [{k: mended(v) for k, v in r.items()} for r in rows], settings
    return {(c.kind, c.encodings[-1]) for group in file.groups for c in group}


def test_cells_of_every_form(directory):
    met = set()
    for seed, rows in enumerate((1, 7, 8, 9, 31, 127, 128, 129, 130, 257, 1000, 3000), 1):
        for table in (0, 1, 5):
            met |= check_cells(directory, table=table, rows=rows, groups=seed % 3 + 1, seed=seed * 10 + table)
    assert met == {(parquetfile.INT64, parquetfile.PLAIN), (parquetfile.INT64, parquetfile.DELTA),
                   (parquetfile.INT64, parquetfile.RLE_DICTIONARY), (parquetfile.DOUBLE, parquetfile.PLAIN),
                   (parquetfile.DOUBLE, parquetfile.RLE_DICTIONARY), (parquetfile.BYTE_ARRAY, parquetfile.PLAIN),
                   (parquetfile.BYTE_ARRAY, parquetfile.RLE_DICTIONARY)}, met


def test_chunks_of_several_pages(directory):
    pages = set()
    for seed in (1, 2, 3, 4):
        check_cells(directory, table=5, rows=66_000, seed=seed, left_out=0b01011010)
        pages |= {len(c.pages) for c in parquetfile.File(directory / "cells.parquet").groups[0]}
    assert min(pages) == 2 and max(pages) > 2, pages  # pages of long texts have less rows


def test_no_rows(directory):
    assert check_cells(directory, rows=0) == set()


# --- the tables ---------------------------------------------------------------------------------------------------------


def test_parts_have_all_rows(directory):
    traces, out = make(directory / "t", processes=3, threads=2, events=1500, ranks=1, transfers=1), directory / "out"
    assert not export(f"{out}/", traces).err
    assert check_tables(traces, out)["events"] > 5000
    events = sorted((expected(e) for e in dump(traces) if counts(e)), key=key)
    rows, files = parquetfile.read_table(out, "events")
    for file in files:
        times = [r["time"] for r in file.records()]
        assert times == sorted(times)
    rows.sort(key=key)
    assert len(rows) == len(events)
    for row, event in zip(rows, events):
        row["args"] = json.dumps(json.loads(row["args"])) if row["args"] else None
        assert {k: row[k] for k in event} == {k: mended(v) for k, v in event.items()}, (row, event)


def test_traces_of_other_kinds(directory):
    kinds = {"alone": dict(keep=0), "bare": dict(rows=0), "nameless": dict(texts=0), "live": dict(live=1, lossy=1), "mix": dict(mix=1),
             "many": dict(many=300, long=200)}
    for name, settings in kinds.items():
        traces = make(directory / name, processes=2, events=300, seed=9, **settings)
        done = export(directory / f"{name}.out", traces, "--threads", 3, expect=None)
        sizes = check_tables(traces, directory / f"{name}.out") if name not in ("alone", "mix") else None
        assert done.code == 0 and (name not in ("alone", "mix") or "kept only as aggregates" in done.err), done
        if name == "alone":
            rows = [sum(1 for _ in parquetfile.read_table(directory / f"{name}.out", t)[0]) for t in ("events", "rows", "notes")]
            assert rows[0] == 0 < rows[1] and rows[2] == 1, rows
        assert sizes is None or sizes["events"], name


def test_filters_apply(directory):
    traces = make(directory / "t", processes=4, threads=2, events=500, ranks=1)
    for i, arguments in enumerate((["--rank", 2], ["--from", 0.1, "--to", 0.2], ["--name", "read"], ["--file", "/data/in/a.bin"],
                                   ["--name", "no-such-call"])):
        export(directory / f"o{i}", traces, *arguments)
        rows, _ = parquetfile.read_table(directory / f"o{i}", "events")
        events = [e for e in dump(traces, *arguments, expect=None) if counts(e)]
        assert bool(events) == (arguments[-1] != "no-such-call") and len(events) < 3000, arguments
        assert sorted(map(key, rows)) == sorted((e["pid"], e["tid"], e["seq"], e["ts"]) for e in events), arguments


def test_unusual_texts(directory):
    """Bytes that are no UTF-8 in paths."""
    line = b'{"id":%d,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":5,"ph":"X","args":{"fname":"/d/%s","ret":1}}\n'
    names = [b"plain", b"\xff\xfe", b"caf\xc3\xa9", b"\xf0\x9f\x98\x80", b"x" * 3000, b"half\xc3", b""]
    (directory / "t.pfw").write_bytes(b"[\n" + b"".join(line % (i, 1000 * i, n) for i, n in enumerate(names)))
    export(directory / "out", directory / "t.pfw", expect=None)
    rows, _ = parquetfile.read_table(directory / "out", "events")
    wanted = {"/d/" + n.decode(errors="replace") if n else "/d" for n in names}  # a directory is named without a slash
    assert {r["file"] for r in rows} == wanted, {r["file"] for r in rows}


def test_long_arguments_make_parts_smaller(directory):
    """Sixteen threads share 400 MiB: 60 MB of arguments are more than one batch."""
    line = '{"id":%d,"name":"step","cat":"APP","pid":1,"tid":1,"ts":%d,"dur":5,"ph":"X","args":{"note":"%01000d"}}\n'
    (directory / "t.pfw").write_text("[\n" + "".join(line % (i, 10 * i, i) for i in range(60_000)))
    export(directory / "out", directory / "t.pfw", "--threads", 16)
    files = [parquetfile.File(path) for path in (directory / "out" / "events").iterdir()]
    notes = sorted(int(json.loads(r["args"])["note"]) for file in files for r in file.records())
    assert len(files) > 1 and notes == list(range(60_000)), len(files)


def test_damage_is_told(directory):
    traces = make(directory / "t", events=3000)
    broken = next(traces.glob("*.dft"))
    content = bytearray(broken.read_bytes())
    content[len(content) // 2] ^= 0xff
    broken.write_bytes(content)
    done = export(directory / "out", traces, expect=1)
    notes, _ = parquetfile.read_table(directory / "out", "notes")
    assert "checksum" in done.err and any("checksum" in n["note"] for n in notes), (done, notes)


# --- the directory ------------------------------------------------------------------------------------------------------


def everything(directory):
    return sorted(p for p in directory.rglob("*"))


def test_parts_of_an_earlier_export_stay(directory):
    traces, out = make(directory / "t", events=200), directory / "out"
    export(out, traces)
    before = {p: p.read_bytes() for p in everything(out) if p.is_file()}
    done = export(out, traces, expect=1)
    assert "is there already" in done.err and "name an empty directory" in done.err and done.err.count("\n") == 1, done.err
    assert {p: p.read_bytes() for p in everything(out) if p.is_file()} == before
    for path in everything(out):
        if path.is_dir() and path.name not in ("notes",):
            shutil.rmtree(path)
    export(out, traces, expect=1)
    assert [p.name for p in out.iterdir()] == ["notes"], "folders that were made are taken away"


def test_places_that_cannot_be(directory):
    traces = make(directory / "t", events=200)
    (directory / "file").write_text("x")
    (directory / "mine").mkdir()
    (directory / "mine" / "other.txt").write_text("x")
    assert "writes a directory" in export("-", traces, expect=2).err
    assert "there is no directory" in export(directory / "no" / "such", traces, expect=1).err
    assert "Not a directory" in export(directory / "file", traces, expect=1).err
    export(directory / "mine", traces)
    assert (directory / "mine" / "other.txt").read_text() == "x"
    assert "no effect on parquet" in export(directory / "o", "--max-bytes", "1M", traces, expect=2).err


def test_nothing_stays_of_a_failure(directory):
    """As on a full disk: no file may be larger than 100 kB."""
    traces = make(directory / "t", processes=2, events=4000, ranks=1)
    out = directory / "out"
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000,) * 2); os.execv(sys.argv[1], sys.argv[1:])"
    done = run(sys.executable, "-c", limit, DFTMERGE, "export", "--format", "parquet", "-o", out, traces)
    assert done.code == 1 and "File too large; nothing was written" in done.err, done
    assert everything(out) == [], everything(out)


def test_a_full_disk(directory):
    """A small file system in memory, where one can be mounted."""
    traces, disk = make(directory / "t", processes=2, events=4000, ranks=1), directory / "disk"
    disk.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=300k", "none", disk).code:
        pytest.skip("cannot mount a file system here")
    try:
        done = export(disk / "out", traces, expect=1)
        assert "No space left on device; nothing was written" in done.err, done
        assert everything(disk / "out") == [], everything(disk)
    finally:
        run("umount", disk)


def test_signals_leave_nothing(directory):
    """Also of parts that are whole: half of a table would look like all of it. An export that was quicker is whole."""
    traces, ended = make(directory / "t", processes=8, threads=2, events=20_000, ranks=1), 0
    for number, (which, after) in enumerate(((signal.SIGINT, 0), (signal.SIGTERM, 0.02), (signal.SIGHUP, 0.05), (signal.SIGINT, 0.1))):
        out = directory / f"out{number}"
        process = subprocess.Popen([DFTMERGE, "export", "--format", "parquet", "-o", out, traces], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not (out / "events").is_dir():
            time.sleep(0.001)
        time.sleep(after)
        process.send_signal(which)
        _, err = process.communicate(timeout=300)
        if process.returncode == 0:
            check_tables(traces, out)
            continue
        ended += 1
        assert process.returncode == 1 and err.decode() == f"dftmerge: {out}: ended by a signal; nothing was written\n", (process.returncode, err)
        assert everything(out) == [], everything(out)
    assert ended


def test_an_ignored_signal_stays_ignored(directory):
    traces = make(directory / "t", events=300)
    command = "trap '' INT; \"$@\" & child=$!; kill -INT $child; wait $child"
    done = run("sh", "-c", command, "sh", DFTMERGE, "export", "--format", "parquet", "-o", directory / "out", traces)
    assert done.code == 0, done
    check_tables(traces, directory / "out")


# --- ranks --------------------------------------------------------------------------------------------------------------


def test_ranks_write_their_own(directory):
    if not MPIRUN or not PROGRAM.exists():
        pytest.skip("no mpirun, or no dftmerge-mpi")
    traces, out = make(directory / "t", processes=6, threads=2, events=800, ranks=1), directory / "out"
    done = parallel(3, "export", "--format", "parquet", "-o", out, traces)
    assert done.code == 0 and not done.err, done
    check_tables(traces, out)
    assert len({p.name.split("-")[1] for p in (out / "events").iterdir()}) == 3
    done = parallel(3, "export", "--format", "parquet", "-o", out, traces)
    assert done.code == 1 and "is there already" in done.err[0] and len(done.err) == 1, done
    shutil.rmtree(out)
    limit = pathlib.Path(directory / "limit.sh")
    limit.write_text('ulimit -f 100; exec "$@"\n')
    done = run(*MPIRUN, "-n", 2, "sh", limit, PROGRAM, "export", "--format", "parquet", "-o", out, traces)
    assert done.code and everything(out) == [], (done, everything(out))
