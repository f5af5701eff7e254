# SPDX-License-Identifier: MIT
"""`summary --hist`: histograms of durations and sizes, recomputed from `dump --json`; the same from buckets and events."""

import collections
import re

import facets
from tooltest import counts, dftmerge, dump, make, percentile, summary

IO = ("read", "write", "sync", "meta", "startup")


def octave(ns):
    return 0 if ns < 2 else 1 << (ns.bit_length() - 1)


def durations(events):
    return dict(collections.Counter(octave(0 if "phase" in e else e["dur"]) for e in events))


def sizes(events):
    """Calls and their time by the least size of the class; None: they ask for no bytes."""
    found = collections.defaultdict(lambda: [0, 0])
    for event in events:
        least = facets.value_of(event, "size", None)
        found[least][0] += facets.calls_of(event)
        found[least][1] += 0 if "phase" in event else event["dur"]
    return {key: tuple(value) for key, value in found.items()}


def same(histogram, events, what=""):
    assert {d["from_ns"]: d["count"] for d in histogram["durations"]} == durations(events), what
    assert all(d["to_ns"] == 2 * max(d["from_ns"], 1) for d in histogram["durations"]), what
    assert histogram["durations_missing"] == 0
    assert histogram["count"] == sum(facets.calls_of(e) for e in events), what
    taken = [0 if "phase" in e else e["dur"] for e in events]
    assert [histogram[f"time_p{p}_ns"] for p in (50, 95, 99)] == [percentile(taken, p) for p in (50, 95, 99)], what
    assert sum(s["count"] for s in histogram["sizes"]) == histogram["count"], what
    assert sum(s["time_ns"] for s in histogram["sizes"]) == histogram["time_ns"] == sum(taken), what


def test_all_io_is_recomputed(where):
    make(where, ranks=1, processes=3, hosts=2)
    events = [e for e in dump(where) if counts(e)]
    (histogram,) = summary("--hist", "--all", where)["histograms"]
    same(histogram, [e for e in events if e["class"] in IO])


def test_groups_are_recomputed(where):
    make(where / "rows", ranks=2, processes=3)
    make(where / "bare", ranks=2, processes=3, rows=0)
    events = [e for e in dump(where / "rows") if counts(e)]
    for by in ("cat,name", "rank", "class,pid", "region", "size"):
        answer = summary("--hist", "--by", by, where / "rows")
        bare = summary("--hist", "--by", by, where / "bare")
        assert (answer["source"], bare["source"]) == ("buckets", "events")
        assert answer["histograms"] == bare["histograms"] and len(answer["histograms"]) == len(answer["groups"]), by
        for histogram, group in zip(answer["histograms"], answer["groups"]):
            for member in ("count", "time_ns", "time_p50_ns", "time_p95_ns", "time_p99_ns", *by.split(",")):
                assert histogram[member] == group[member], (by, member)
        if by == "cat,name":
            for histogram in answer["histograms"]:
                same(histogram, [e for e in events if (e["cat"], e["name"]) == (histogram["cat"], histogram["name"])], histogram["name"])


def test_sizes_are_those_of_groups_by_size(where):
    make(where, ranks=1, processes=2)
    for filters in ([], ["--rank", "0"], ["--class", "read,write"], ["--name", "read,pread"], ["--file", "*.bin"]):
        (histogram,) = summary("--hist", "--all", *filters, where)["histograms"]
        classes = [] if any(f in filters for f in ("--class", "--name")) else ["--class", ",".join(IO)]
        groups = summary("--by", "size", *filters, *classes, where)["groups"]
        assert {(s["size"], s["count"], s["time_ns"], s["bytes"]) for s in histogram["sizes"]} == \
            {(g["size"], g["count"], g["time_ns"], g["bytes"]) for g in groups}, filters
        assert len(groups) > 1


def test_sizes_are_recomputed(where):
    make(where, ranks=1, processes=2)
    events = [e for e in dump("--class", "read,write", where) if counts(e)]
    (histogram,) = summary("--hist", "--all", "--class", "read,write", where)["histograms"]
    assert {s["from"]: (s["count"], s["time_ns"]) for s in histogram["sizes"]} == sizes(events)


def test_aggregates_alone(where):
    make(where / "events", ranks=1, processes=2)
    make(where / "rows", ranks=1, processes=2, keep=0)
    a, b = (summary("--hist", "--by", "call", where / part)["histograms"] for part in ("events", "rows"))
    assert a == b and a


def test_text_has_all_calls(where):
    make(where, ranks=2, processes=2)
    for more in ([], ["--by", "rank", "--class", "read"]):
        for columns in ("80", "160"):
            text = dftmerge("summary", "--hist", *more, where, env={"COLUMNS": columns}).out.decode()
            expected = summary("--hist", "--all" if not more else "--quiet", *more, where)["histograms"]
            tables = text.split("asked for")[1:]
            assert len(tables) == len(expected) > 0
            for table, histogram in zip(tables, expected):
                lines = [line for line in table.splitlines()[1:] if line.strip()]
                shown = [re.match(r" *[\d.]+ \S+-[\d.]+ \S+ +([\d,]+) ", line) for line in lines]
                shown = sum(int(m.group(1).replace(",", "")) for m in shown if m)
                assert shown == sum(d["count"] for d in histogram["durations"]), table
            if columns == "80":
                assert max(len(line) for line in text.split("All I/O")[-1].splitlines()) <= 80, text


def test_top_is_said(where):
    make(where, ranks=1, processes=2)
    text = dftmerge("summary", "--hist", "--by", "name", "--top", "2", where).out.decode()
    assert text.count("asked for") == 2 and "histograms of the first 2 of " in text, text
    assert len(summary("--hist", "--by", "name", "--top", "2", where)["histograms"]) == 2


def test_what_has_no_histogram_is_refused(where):
    make(where)
    for more, why in ((["--csv"], "--json"), (["--by", "time"], "--from"), (["--by", "instance"], "--hist"),
                      (["--tree"], "--hist")):
        done = dftmerge("summary", "--hist", *more, where, expect=2)
        assert why in done.err and not done.out, done.err


def test_nothing_is_empty(where):
    make(where)
    done = dftmerge("summary", "--hist", "--by", "rank", "--name", "nothing_like_it", where, expect=1)
    assert b"asked for" not in done.out and "passes" in done.err + done.out.decode(), done
    assert summary("--hist", "--by", "rank", "--name", "nothing_like_it", where)["histograms"] == []
