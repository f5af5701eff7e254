# SPDX-License-Identifier: MIT
"""The tables of a source, as SQL and Parquet have them: every event against the dump, in each order, with little memory;
rows, files, regions, processes and counters against what other commands say."""

import collections
import json
import os
import shutil
import subprocess

from tooltest import BUILD, counts, dftmerge, dump, make, run, summary

READ = BUILD / "bin" / "read_tables"
SANITIZED = os.environ.get("DFT_SANITIZE")
DUMPED = ("dur", "rank", "pid", "tid", "seq", "cat", "name", "class", "access", "region_cat", "region", "file", "file2", "fd")
MOVES = ("read", "write", "pread", "fread", "fputc", "sendfile")


def read(table, *paths, order="none", rows=1000, env=None):
    done = run(READ, table, order, rows, *paths, env=env)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def expected(event):
    """The row of an event of the dump."""
    row = {key: event.get(key) for key in DUMPED}
    row["time"] = event["ts"]
    row["dur"] = 0 if "phase" in event else event["dur"]
    row["turn"] = int(event.get("turn", False))
    row["errno"] = event.get("errno", 0)
    row["calls"] = event.get("calls", 1)
    row["args"] = json.dumps(mended(event["args"])) if "args" in event else None
    return row


def mended(value):
    """Bytes that are no UTF-8 are surrogates in our JSON, and U+FFFD in that of tables: DuckDB and others take no lone surrogates."""
    if isinstance(value, dict):
        return {mended(k): mended(v) for k, v in value.items()}
    return "".join("\ufffd" if 0xdc80 <= ord(c) <= 0xdcff else c for c in value) if isinstance(value, str) else value


def key(row):
    return row["pid"], row["tid"], row["seq"], row["time"]


def check_events(path, env=None, **more):
    events = sorted((expected(e) for e in dump(path) if counts(e)), key=key)
    rows = sorted(read("events", path, env=env, **more), key=key)
    assert len(rows) == len(events), (len(rows), len(events))
    for row, event in zip(rows, events):
        row["args"] = json.dumps(json.loads(row["args"])) if row["args"] else None
        for name, value in event.items():
            assert row[name] == value, (name, row, event)
    return len(rows)


def test_events_are_those_of_the_dump(where):
    path = make(where / "a", processes=3, threads=3, events=2000, ranks=3)
    for order in ("none", "time", "name", "rank"):
        check_events(path, order=order)
    assert int(run(READ, "events", "count", 0, path).out) == check_events(path)


def test_orders_are_kept(where):
    path = make(where / "a", processes=5, threads=2, events=1500, ranks=5)
    times = [r["time"] for r in read("events", path, order="time", rows=77)]
    assert times == sorted(times)
    names = [r["name"].encode() for r in read("events", path, order="name", rows=77)]
    assert names == sorted(names) and len(set(names)) > 5
    ranks = [-1 if r["rank"] is None else r["rank"] for r in read("events", path, order="rank", rows=77)]
    assert ranks == sorted(ranks)


def test_events_by_name_go_to_the_disk(where):
    """With 16 KiB for all batches; nothing is left in TMPDIR."""
    path = make(where / "a", processes=2, threads=3, events=4000)
    spills = where / "spills"
    spills.mkdir()
    little = {"DFTMERGE_GROUP_BYTES": "16384", "TMPDIR": str(spills)}
    names = [r["name"].encode() for r in read("events", path, order="name", rows=50, env=little)]
    assert names == sorted(names)
    check_events(path, order="name", rows=50, env=little)
    assert not list(spills.iterdir())
    shutil.rmtree(spills)
    done = run(READ, "events", "name", 50, path, env=little)
    assert done.code == 1, "no place for a temporary file, and no error"


def test_many_names_take_little_memory(where):
    """Events of each name are put aside, and so is what collects them."""
    line = '{"id":%d,"name":"step-%d","cat":"APP","pid":1,"tid":1,"ts":%d,"dur":5,"ph":"X","args":{}}\n'
    (where / "t.pfw").write_text("[\n" + "".join(line % (i, i % 20_000, 10 * i) for i in range(40_000)))
    process = subprocess.Popen([READ, "events", "name", "1000", where / "t.pfw"], stdout=subprocess.PIPE, env={**os.environ, "DFTMERGE_GROUP_BYTES": str(8 << 20)})
    names = [json.loads(text)["name"] for text in process.stdout]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and names == sorted(names) and len(names) == 40_000 and len(set(names)) == 20_000
    assert SANITIZED or usage.ru_maxrss < 150 << 10, usage.ru_maxrss


def test_texts_come_again_where_memory_is_little(where):
    """Texts of names that are not kept are looked up again, for each batch."""
    path = make(where / "a", processes=2, threads=2, events=2000)
    for order in ("none", "time", "name", "rank"):
        check_events(path, order=order, env={"DFTMERGE_NAMES_BYTES": "1"})


def test_parts_are_in_order_of_time(where):
    path = make(where / "a", processes=6, threads=2, events=1500, ranks=6)
    parts, all_ranks = [], []
    for row in read("events", path, order="parts", rows=4000):
        if row is None:
            parts.append([])
        else:
            parts[-1].append(row)
    assert len(parts) > 3
    for part in parts:
        times = [r["time"] for r in part]
        assert times == sorted(times)
        all_ranks.append({r["rank"] for r in part})
    assert sum(len(p) for p in parts) == len(read("events", path))
    assert max(len(ranks) for ranks in all_ranks) < 6, "parts hold as few ranks as can be"


def totals(rows, *by):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        for i, name in enumerate(("calls", "errors", "dur", "bytes")):
            sums[tuple(row[k] for k in by)][i] += row[name]
    return {k: tuple(v) for k, v in sums.items() if any(v)}


def answered(by, *paths):
    keys = by.split(",")
    return {tuple(None if k == "access" and g[k] == "none" else g[k] for k in keys): (g["count"], g["errors"], g["time_ns"], g["bytes"] or 0)
            for g in summary("--by", by, *paths)["groups"]}


def test_rows_stand_for_all_calls(where):
    kept = make(where / "kept", processes=2, threads=2, events=1500, ranks=2)
    for path in (kept, make(where / "bare", processes=2, threads=2, events=1500, ranks=2, rows=0),
                 make(where / "alone", processes=2, threads=1, events=1500, ranks=2, keep=0)):
        rows = read("rows", path)
        for by in ("cat,name", "rank", "class", "name,access"):
            said = answered(by, path)
            found = totals(rows, *by.split(","))
            assert found == said, (path, by, set(found.items()) ^ set(said.items()))


def test_files_are_those_of_the_summary(where):
    path = make(where / "a", processes=3, threads=2, events=1500)
    said = summary("--by", "file,class", path)["groups"]
    rows = {(r["file"], r["class"]): r for r in read("files", path)}
    assert len(rows) == len(said)
    for group in said:
        row = rows[group["file"], group["class"]]
        assert (row["calls"], row["errors"], row["dur"], row["bytes"], row["dur_max"]) == \
            (group["count"], group["errors"], group["time_ns"], group["bytes"], group["time_max_ns"]), (row, group)


def test_regions_and_what_is_inside(where):
    path = make(where / "a", processes=2, threads=2, events=1500)
    rows, inside, entered = read("regions", path), collections.Counter(), collections.Counter()
    for event in dump(path):
        if not counts(event):
            continue
        if event["class"] in ("read", "write", "sync", "meta", "startup") and "region" in event:
            inside[event["pid"], event["region_cat"], event["region"]] += event.get("calls", 1)
        if "ret" not in event and event["cat"] in ("APP", "LIB"):
            entered[event["pid"], event["cat"], event["name"]] += 1
    pids = {p["process"]: p["pid"] for p in read("processes", path)}
    assert {(pids[r["process"]], r["cat"], r["name"]): r["io_calls"] for r in rows if r["io_calls"]} == dict(inside)
    assert {(pids[r["process"]], r["cat"], r["name"]): r["calls"] for r in rows if r["calls"]} == dict(entered)


def test_processes_are_those_of_ps(where):
    path = make(where / "a", processes=4, threads=1, events=300, ranks=4)
    told = {p["pid"]: p for p in json.loads(dftmerge("ps", "--json", path).out)["processes"]}
    rows = read("processes", path)
    assert len(rows) == len(told) and sorted(r["process"] for r in rows) == list(range(len(rows)))
    for row in rows:
        process = told[row["pid"]]
        assert (row["rank"], row["host"], row["events"], row["ending"], row["status"]) == \
            (process["rank"], process["host"], process["events"], process["ended"], process["status"]), (row, process)
        assert row["command"] == " ".join(process["command"])


def test_notes_say_what_is_missing(where):
    path = make(where / "a", processes=1, threads=1, events=3000)
    trace = next(path.glob("*.dft"))
    data = bytearray(trace.read_bytes())
    data[len(data) // 2] ^= 255
    trace.write_bytes(data)
    notes = [r["note"] for r in read("notes", path)]
    assert any("checksum" in note for note in notes), notes
