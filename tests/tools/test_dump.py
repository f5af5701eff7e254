# SPDX-License-Identifier: MIT
"""dump: order, completeness, texts; bounded windows give the same as one."""

import json
import sys

from tooltest import dftmerge, dump, make, summary


def test_in_order(where):
    for settings in ({}, {"same_time": 1}, {"slow": 1}, {"block": 7}, {"same_time": 1, "reverse": 1}):
        place = where / "-".join([*settings, "t"])
        make(place, processes=3, ranks=1, **settings)
        events = dump(place)
        assert len(events) == 3 * 2 * 500
        # Keys of make_traces differ by n * 7919 + 1 in the lowest bits: their order is looked up by what belongs to one process.
        keys = {1000 + n: 0xfeed000100000000 ^ (n * 7919 + 1) for n in range(3)}
        got = [(e["ts"], keys[e["pid"]], e["tid"], e["seq"]) for e in events]
        assert got == sorted(got)
        assert len(set(got)) == len(got)


def test_unsorted_has_the_same(where):
    make(where, ranks=1)
    lines = dftmerge("dump", "--json", "--unsorted", where).out.splitlines()
    assert sorted(lines) == sorted(dftmerge("dump", "--json", where).out.splitlines())
    assert sorted(dftmerge("dump", "-u", where).out.splitlines()) == sorted(dftmerge("dump", where).out.splitlines())


def test_fields(where):
    make(where, ranks=1)
    for event in dump(where):
        assert event["ts_s"] == f"{event['ts'] // 10**9}.{event['ts'] % 10**9:09d}"
        assert event["tid"] // 10 == 100 + event["rank"] and event["pid"] == 1000 + event["rank"]
        returned = "phase" not in event and event["cat"] not in ("APP", "LIB")
        assert ("ret" in event) == returned, event
        assert ("errno" in event) == (event.get("ret") == -1)
        moves = event["name"] in ("read", "write", "pread", "fread", "fputc")
        assert ("size" in event) == moves and ("bytes" in event) == (moves and "errno" not in event), event
        assert ("region" in event) == ("region_cat" in event)
        if event["name"] == "rename":
            assert event["file"].startswith("/") and event["file2"].startswith("/")
        if event["name"] in ("openat", "lseek"):
            assert "flags" in event
        if event["name"] == "fread" and "bytes" in event:
            assert event["ret"] <= event["bytes"] <= event["size"]
        if event["name"] == "tick":
            assert event["phase"] == "instant" and isinstance(event["args"]["value"], float)
    args = [e["args"] for e in dump(where) if "step" in e.get("args", {})]
    assert args and all(-50 <= a["step"] < 49 and a["label"] == "\udcff\"quoted\"\x01" for a in args)


def test_texts(where):
    """Bytes that are not UTF-8 are surrogates in JSON (so the bytes come back), and escapes in text."""
    make(where)
    raw = dftmerge("dump", "--json", where).out
    raw.decode("ascii" if all(b < 128 for b in raw) else "utf-8")
    files = {e["file"].encode("utf-8", "surrogateescape") for e in map(json.loads, raw.splitlines()) if "file" in e}
    assert {b"/data/odd/\xff\xfe\n\t.txt", "/data/odd/é€😀".encode(), b"/data/\xed\xa0\x80surrogate",
            b"/data/out/with,comma\".csv"} <= files
    text = dftmerge("dump", where).out
    assert not any(b < 32 and b != 10 for b in text) and b"\\xff\\xfe\\n\\t.txt" in text
    assert len(text.splitlines()) == 2000
    text.decode("utf-8")


def test_big_windows(where):
    """More events than one window holds, from many threads at once; then all in the same nanosecond."""
    make(where / "a", processes=3, threads=4, events=60000, block=4096)
    lines = dftmerge("dump", "--json", where / "a").out.splitlines()
    assert len(lines) == 720000
    last = 0
    for line in lines:
        ts = int(line[6:line.index(b",")])
        assert ts >= last
        last = ts
    total = summary("--by", "cat", where / "a")
    assert total["events_kept"] == total["events"]
    make(where / "b", processes=1, threads=1, events=5000, block=500, same_time=1)
    events = dump(where / "b")
    ties = [e["seq"] for e in events if e["ts"] == events[0]["ts"]]
    assert len(ties) > 100 and ties == sorted(ties)


def test_batches_are_of_known_columns(where):
    """What they hold, test_schema.py and the tests of Python compare."""
    make(where, processes=1, threads=1, events=50)
    for names, more in (("tss", "Did you mean ts?"), ("", "no column ''"), ("ts,", "no column ''"), ("process", "no column 'process'")):
        done = dftmerge("dump", "--batches", names, where, expect=2)
        assert more in done.err and not done.out, (names, done)
    once = dftmerge("dump", "--batches", "ts,name", where).out
    assert int.from_bytes(once[:8], sys.byteorder) == len(once) - 8 and once == dftmerge("dump", "--batches", "ts,name,ts", where).out
    assert dftmerge("dump", "--batches", "ts", "--name", "none", where).out == b""
