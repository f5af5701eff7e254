# SPDX-License-Identifier: MIT
"""Traces where some streams have events and others aggregates alone, within a process and beside each other: every
question is answered from both, and says for which share of the calls aggregates answered."""

import re

from tooltest import DFTMERGE, dftmerge, make, run, same_groups, summary

CALLS = ["call", "name", "class", "op", "rank", "tid", "region", "region,call", "size", "access", "errno", "size,access,errno,class", "pid,name", "program,size"]
FILES = ["file", "dir", "dir:2", "ext", "pattern", "mount", "file,class", "ext,class", "dir,rank", "file,region"]
FROM_EVENTS = ("busy_union_ns", "in_flight_max")


def without(groups, *names):
    return [{k: v for k, v in g.items() if k not in names} for g in groups]


def both(where, **settings):
    make(where / "mix", mix=1, **settings)
    make(where / "all", **settings)
    return where / "mix", where / "all"


def test_one_process_has_both(where):
    mix, every = both(where, processes=3, ranks=1, threads=2, events=900, mounts=1)
    total = sum(g["count"] for g in summary("--by", "rank", every)["groups"])
    for by in CALLS:
        for words in ((), ("--events",)):
            a, b = summary("--by", by, *words, mix), summary("--by", by, *words, every)
            same_groups(without(a["groups"], *FROM_EVENTS), without(b["groups"], *FROM_EVENTS), (by, words))
            assert a["calls_from_events"] + a["calls_from_aggregates"] == total
            assert bool(a["calls_from_events"]) == (words != ()), (by, words)
    for by in FILES:
        a, b = summary("--by", by, mix), summary("--by", by, every)
        assert a["source"] == "files" and a["calls_from_events"] and a["calls_from_aggregates"]
        lost = ("strided", "random", "strides", "common_size", "time_p50_ns", "time_p95_ns", "time_p99_ns")
        same_groups(without(a["groups"], *FROM_EVENTS, *lost), without(b["groups"], *FROM_EVENTS, *lost), by)
        assert "file" not in by.split(",") or sum(g["distinct_bytes"] is not None for g in a["groups"]) > 5, by
        assert all(g["strides"] is None for g in a["groups"]), by
        known = [(x, y) for x, y in zip(a["groups"], b["groups"]) if x["time_p50_ns"] is not None]
        assert all(x["time_p99_ns"] == y["time_p99_ns"] for x, y in known), by
    for by in ("file,name", "dir,size", "ext,errno", "file,access"):
        a = summary("--by", by, mix)
        assert any("in no group" in n for n in a["notes"]), by
        b = summary("--by", by, every)
        keys = [k for k in a["groups"][0] if k in ("file", "dir", "ext", "name", "size", "errno", "access")]
        counts = {tuple(g[k] for k in keys): g["count"] for g in b["groups"]}
        assert all(g["count"] <= counts[tuple(g[k] for k in keys)] for g in a["groups"]), by


def place(group):
    return tuple(str(group.get(k)) for k in ("t_ns", "cat", "name", "rank", "class", "size"))


def test_by_time(where):
    mix, every = both(where, processes=2, ranks=1, events=900, interval_ms=10)
    for by in ("time", "time,call", "time,rank,class", "time,size"):
        for words in (("--width", "0.02"), ("--width", "0.64"), ("--width", "0.64", "--events")):
            a, b = summary("--by", by, *words, mix), summary("--by", by, *words, every)
            assert a["width_ns"] == b["width_ns"]
            if a["groups"][0]["t_ns"] != b["groups"][0]["t_ns"]:
                continue  # the grids of calls and of histograms begin apart
            lost = FROM_EVENTS if words[1] == "0.64" else (*FROM_EVENTS, "time_p50_ns", "time_p95_ns", "time_p99_ns")
            same_groups(sorted(without(a["groups"], *lost), key=place), sorted(without(b["groups"], *lost), key=place), (by, words))
    a, b = (run(DFTMERGE, "timeline", "--csv", "--interval", "0.02", where / w) for w in ("mix", "all"))
    assert a.out == b.out and a.code == b.code == 0


def test_beside_each_other(where):
    """A trace of events and one of aggregates, of other processes, in one file."""
    make(where / "e", processes=2, ranks=1, rows=1, seed=1)
    make(where / "r", processes=2, ranks=1, keep=0, seed=2)
    make(where / "x", processes=2, ranks=1, seed=2)
    (where / "cat").mkdir()
    for name, folders in (("cat/one.dft", ("e", "r")), ("cat/two.dft", ("e", "x"))):
        (where / name).write_bytes(b"".join(p.read_bytes() for f in folders for p in sorted((where / f).glob("*.dft"))))
    for by in CALLS:
        a, b = (summary("--by", by, where / "cat" / f"{n}.dft") for n in ("one", "two"))
        same_groups(without(a["groups"], *FROM_EVENTS), without(b["groups"], *FROM_EVENTS), by)
    for by in FILES:
        a, b = (summary("--by", by, where / "cat" / f"{n}.dft") for n in ("one", "two"))
        lost = ("strided", "random", "strides", "common_size", "time_p50_ns", "time_p95_ns", "time_p99_ns", *FROM_EVENTS)
        same_groups(without(a["groups"], *lost), without(b["groups"], *lost), by)


def test_the_page_says_so(where):
    mix, every = both(where, processes=2, ranks=1, events=900)
    page = dftmerge("summary", "--by", "file", mix, env={"COLUMNS": "400"}).out.decode()
    found = re.search(r"^answered from events, and for ([0-9.]+) % of the calls from file aggregates; all events were kept for ([0-9.]+) % of the "
                      r"time, selected ones for ([0-9.]+) %; nothing lost; tracing took [0-9.]+ %$", page, re.M)
    assert found and 40 < float(found[1]) < 60 and 99.9 < float(found[2]) + float(found[3]) < 100.1, page
    answer = summary("--by", "call", "--events", mix)
    share = 100 * answer["calls_from_aggregates"] / (answer["calls_from_aggregates"] + answer["calls_from_events"])
    page = dftmerge("summary", "--by", "call", "--events", mix).out.decode()
    assert f"for {share:.1f} % of the calls from buckets; " in page, page
    assert answer["kept_ns"]["selected"] > 0 and answer["kept_ns"]["events"] == 2 * 1000000
    assert "answered from buckets; " in dftmerge("summary", "--by", "call", mix).out.decode()
    done = dftmerge("check", mix)
    assert "missing" not in done.err and not summary(mix)["events_missing"], done.err
    assert "of the calls" not in dftmerge("summary", every).out.decode()
