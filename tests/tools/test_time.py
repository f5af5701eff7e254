# SPDX-License-Identifier: MIT
"""Time that spans intervals: calls belong where they start, busy time to all intervals that it lies in, concurrency is true
overlap. Every aggregate by time and something else, recomputed from `dump --json`, whatever the answer comes from."""

import json
import random
import re

import pytest

from tooltest import ROOT, counts, dftmerge, dump, groups, make, phase, same_groups, summary

DATA = ROOT.parent / "shared" / "data" / "dftracer"
OTHERS = ("call", "file", "dir", "rank", "host", "region", "pid", "tid", "pattern", "class,rank", "region,call,tid")


def names(by):
    return by.replace("call", "cat,name").split(",")


def sums_hold(answer, events_time):
    """Nothing is lost between intervals."""
    assert sum(g["busy_ns"] for g in answer["groups"]) == sum(g["time_ns"] for g in answer["groups"]) == events_time
    for g in answer["groups"]:
        if g["busy_union_ns"] is not None:
            assert 0 <= g["busy_union_ns"] <= min(g["busy_ns"], WIDTH) and g["in_flight_max"] >= (g["busy_ns"] > 0)
            assert g["in_flight_max"] * WIDTH >= g["busy_ns"], "the mean is not above the maximum"


WIDTH = 60_000_000_000


def test_a_long_call(where):
    """A read of ten seconds and a half is ten and a half busy seconds, one in each second."""
    where.mkdir(exist_ok=True)
    start = 1_700_000_000_250_000
    lines = [{"id": 1, "name": "read", "cat": "POSIX", "pid": 5, "tid": 5, "ph": "X", "ts": start, "dur": 10_500_000, "args": {"ret": 7}},
             {"id": 2, "name": "read", "cat": "POSIX", "pid": 5, "tid": 6, "ph": "X", "ts": start + 3_000_000, "dur": 1_000_000,
              "args": {"ret": 8}}]
    (where / "a.pfw").write_text("\n".join(map(json.dumps, lines)))
    answer = summary("--no-index", "--by", "time", "--width", "1", "--sort", "t_ns", where)
    got = [(g["count"], g["bytes"], g["busy_ns"] // 10**6, g["busy_union_ns"] // 10**6, g["in_flight_max"]) for g in answer["groups"]]
    assert got == [(1, 7, 750, 750, 1), (0, 0, 1000, 1000, 1), (0, 0, 1000, 1000, 1), (1, 8, 1750, 1000, 2), (0, 0, 1250, 1000, 2),
                   *[(0, 0, 1000, 1000, 1)] * 5, (0, 0, 750, 750, 1)], got
    text = dftmerge("summary", "--no-index", "--by", "time", "--width", "1", where).out.decode()
    assert "in flight" in text and "1.75" in text, text
    whole = summary("--no-index", "--by", "name", where)["groups"][0]
    assert (whole["busy_ns"], whole["busy_union_ns"], whole["in_flight_max"]) == (11_500_000_000, None, None)  # from rows


def test_from_events(where):
    make(where, ranks=1, processes=3, hosts=2, slow=1, rows=0, seed=5, events=150)
    hosts = {p["pid"]: p["host"] for p in json.loads(dftmerge("ps", "--json", where).out)["processes"]}
    events = [dict(e, host=hosts[e["pid"]]) for e in dump(where)]
    empty = overlap = 0
    for other in OTHERS:
        answer = summary("--by", f"time,{other}", "--width", "60", where)
        assert answer["source"] == "events"
        same_groups(answer["groups"], groups(events, ["t_ns"] + names(other), with_union=True, width=WIDTH, base=phase(answer)), other)
        sums_hold(answer, sum(g["time_ns"] for g in answer["groups"]))
        empty += sum(g["count"] == 0 for g in answer["groups"])
        overlap += sum(g["in_flight_max"] > 1 for g in answer["groups"])
        same_groups(summary("--by", other, where)["groups"], groups(events, names(other), with_union=True), other)
    assert empty and overlap


def test_from_rows(where):
    """Rows give the same groups, where the width is a multiple of their intervals; on the page, as they know no percentiles of such."""
    make(where, ranks=1, processes=2, slow=1, seed=6, events=200, interval_ms=300)
    for width in ("0.3", "0.9", "6.3", "19.2", "60"):
        for other in ("call", "rank", "tid,region"):
            question = ("summary", "--by", f"time,{other}", "--width", width, "--top", "10000")
            rows, kept = (dftmerge(*question, *events, where).out.decode() for events in ((), ("--events",)))
            rows, kept = (text[text.index("Groups by time"):].rsplit("answered from ", 1) for text in (rows, kept))
            assert rows[0] == kept[0] and "grid of 300 ms" in rows[0], (width, other)
            assert rows[1].startswith("buckets" if float(width) > 5 else ("buckets", "events")), (width, rows[1])  # hours in fine ones
            assert kept[1].startswith("events"), (width, kept[1])
        answer = summary("--by", "time,rank", "--width", width, where)
        want = groups(dump(where), ["t_ns", "rank"], with_union=True, width=answer["width_ns"], base=phase(answer))
        same_groups(answer["groups"], want, width)
        assert any(g["count"] == 0 for g in answer["groups"])


def test_from_aggregates_alone(where):
    make(where / "rows", ranks=1, processes=2, slow=1, seed=7, events=200, keep=0)
    make(where / "kept", ranks=1, processes=2, slow=1, seed=7, events=200)
    for width in ("0.2", "6.4", "25.6"):
        rows, kept = (summary("--by", "time,call", "--width", width, where / d) for d in ("rows", "kept"))
        for answer in (rows, kept):
            for g in answer["groups"]:
                for key in ("busy_union_ns", "in_flight_max", *(("time_p50_ns", "time_p95_ns", "time_p99_ns") if width == "0.2" else ())):
                    g.pop(key)
        if width == "0.2":  # histograms are of 64 intervals
            assert any("percentiles of some groups are not known" in n for n in rows["notes"])
        same_groups(rows["groups"], kept["groups"], width)
    # By file the rows have intervals of 6.4 s.
    rows, kept = (summary("--by", "time,file", "--width", "12.8", where / d) for d in ("rows", "kept"))
    assert rows["source"] == "files"
    for g in kept["groups"]:
        g.update(time_p50_ns=None, time_p95_ns=None, time_p99_ns=None, busy_union_ns=None, in_flight_max=None, common_size=None)
        g.update({} if g["strided"] is None else {"strided": None, "random": None})
        g.update({} if g["distinct_bytes"] is None else {"strides": []})  # none were met
    same_groups(rows["groups"], kept["groups"], "file rows")
    cut = summary("--by", "time,call", "--width", "6.4", "--from", "100", where / "rows")
    assert cut["groups"] and all(g["busy_ns"] is None for g in cut["groups"])


def test_in_windows(where):
    """The sweep over all calls in windows that hold few of them: calls go on from one to the next, alone or many at once."""
    make(where, ranks=1, processes=3, threads=2, hosts=2, slow=1, rows=0, seed=9, events=150)
    events = dump(where)
    few = {"DFTMERGE_WINDOW_EVENTS": "40"}
    assert dump(where, env=few) == events
    for other in ("call", "file", "rank"):
        for by, width in (((other, 0), (f"time,{other}", 60))):
            answer = summary("--by", by, *(("--width", str(width)) if width else ()), where, env=few)
            same_groups(answer["groups"], groups(events, names(by.replace("time", "t_ns")), with_union=True, width=width * 10**9 or 1,
                                                  base=phase(answer) if width else 0), by)
            assert any(g["in_flight_max"] > 1 for g in answer["groups"])
    cut = ("--by", "time,name", "--width", "60", "--from", "40.5", "--to", "200", "--name", "read,p*", where)
    assert summary(*cut, env=few) == summary(*cut)


def test_cut_by_from_and_to(where):
    """Calls that start in the part asked about, with all of their time."""
    make(where, processes=2, slow=1, seed=8, events=200)
    events = dump("--from", "40.5", "--to", "200", where)
    answer = summary("--by", "time,name", "--width", "60", "--from", "40.5", "--to", "200", where)
    same_groups(answer["groups"], groups(events, ["t_ns", "name"], with_union=True, width=WIDTH, base=phase(answer)), "--from --to")
    assert max(g["t_ns"] for g in answer["groups"]) + WIDTH > max(e["ts"] for e in events)


def test_foreign(where):
    """DFTracer's traces, of made-up calls, at the bounds of intervals too."""
    chance = random.Random(12)
    base = 1_700_000_000_000_000 // 5_000_000 * 5_000_000
    for rank in range(4):
        lines = [{"name": "PR", "cat": "dftracer", "pid": 50 + rank, "tid": 1, "ph": "M", "args": {"name": "rank", "value": str(rank)}},
                 {"name": "FH", "cat": "dftracer", "pid": 50 + rank, "tid": 1, "ph": "M", "args": {"name": "/d/a", "value": 1}},
                 {"name": "FH", "cat": "dftracer", "pid": 50 + rank, "tid": 1, "ph": "M", "args": {"name": "/d/b1", "value": 2}}]
        for i in range(250):
            start = base + chance.choice((chance.randrange(200_000_000), 5_000_000 * chance.randrange(40)))
            duration = chance.choice((0, 1, chance.randrange(3_000), chance.randrange(30_000_000), 5_000_000, 10_000_000))
            lines.append({"id": i, "name": chance.choice(("read", "write", "close")), "cat": "POSIX", "pid": 50 + rank,
                          "tid": 50 + rank + chance.randrange(3), "ph": "X", "ts": start, "dur": duration,
                          "args": {"fhash": 1 + chance.randrange(2), "ret": chance.randrange(5000)}})
        (where / f"{rank}.pfw").write_text("\n".join(map(json.dumps, lines)))
    events = [dict(e, host=None) for e in dump("--no-index", where)]
    for other in ("call", "file", "rank", "tid", "pid", "host", "dir"):
        answer = summary("--no-index", "--by", f"time,{other}", "--width", "5", where)
        got = [dict(g, bytes=None, size_min=None, size_max=None, offset_min=None, offset_max=None) for g in answer["groups"]]
        want = [dict(g, bytes=None, size_min=None, size_max=None, offset_min=None, offset_max=None)
                for g in groups(events, ["t_ns"] + names(other), with_union=answer["source"] == "events", width=5 * 10**9, base=phase(answer))]
        same_groups(got, want, other)


def column(text, title):
    """What stands under a title of a table, as numbers, by line."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if re.search(rf"  \*?{re.escape(title)}(  |$)", line) or line.strip().startswith("*" + title))
    end = lines[head].index(title) + len(title)
    body = [line for line in lines[head + 1:] if re.match(r" *[\d.]+ s ", line)]
    return [line[:end].split("  ")[-1].strip().removesuffix(" s").replace(",", "") for line in body]


def test_groups_begin_when_they_say(where):
    """Groups lie on the grid of the wall clock, or begin with the run: each says when, and has what starts then."""
    make(where, processes=2, interval_ms=700, events=2000)
    times = sorted(e["ts"] for e in dump(where) for _ in range(e.get("calls", 1)) if counts(e))
    for width, options, source, on_grid in (("1.4", (), "buckets", True), ("1.4", ("--events",), "events", True), ("1", (), "events", False)):
        wide = round(float(width) * 1e9)
        answer = summary("--by", "time", "--width", width, *options, where)
        start, begins = answer["start_ns"], [g["t_ns"] for g in answer["groups"]]
        want = [sum(b <= t < b + wide for t in times) for b in begins]
        assert [g["count"] for g in answer["groups"]] == want and sum(want) == len(times) and len(want) > 2, (width, want)
        assert begins[0] <= start < begins[0] + wide and on_grid == (begins[0] < start), (begins, start)
        text = dftmerge("summary", "--by", "time", "--width", width, *options, where, env={"COLUMNS": "220"}).out.decode()
        assert f"answered from {source}" in text, text
        assert column(text, "from") == [f"{max(0, b - start) / 1e9:.3f}" for b in begins], text
        assert column(text, "calls") == [str(n) for n in want], text
        end = start + answer["wall_ns"]
        spans = [min(b + wide, end) - max(b, start) for b in begins]
        assert column(text, "calls/s") == [str(int(n * 1e9 / s + 0.5)) for n, s in zip(want, spans)], text


def test_a_window_is_its_own_whole(where):
    """Calls a second are those of the window; what tracing took is known of the whole run alone, and is said of it."""
    make(where, processes=1, interval_ms=100, events=3000)
    events = [e for e in dump(where) if counts(e) and e.get("class") == "write"]
    start = summary(where)["start_ns"]
    for window, low, high, said in ((("--to", "1"), 0, 1, "0 ns to 1.00 s of "), (("--from", "0.5", "--to", "0.75"), 0.5, 0.75, "500 ms to 750 ms of ")):
        n = sum(e.get("calls", 1) for e in events if low * 1e9 <= e["ts"] - start < high * 1e9)
        text = dftmerge("summary", "--class", "write", "--by", "class", *window, where, env={"COLUMNS": "220"}).out.decode()
        line = next(line for line in text.splitlines() if line.startswith("write "))
        assert n > 0 and line.split()[1] == f"{n:,}" and line.split()[-1] == f"{round(n / (high - low)):,}", (n, text)
        assert said in text and " x " not in text.splitlines()[0] and re.search(r"tracing took [\d.]+ % of the whole run", text), text
    whole, part = (re.search(r"tracing took ([\d.]+ %)", dftmerge("summary", *words, where).out.decode())[1] for words in ((), ("--to", "1")))
    assert whole == part, (whole, part)
    assert "the last 1.00 s of " in dftmerge("summary", "--last", "1", where).out.decode()


def test_too_many_intervals(where):
    """A call of years in intervals of microseconds: no number rather than a wrong one, at once."""
    line = {"id": 1, "name": "read", "cat": "POSIX", "pid": 5, "tid": 5, "ph": "X", "ts": 1_700_000_000_000_000, "dur": 10**14}
    where.mkdir(exist_ok=True)
    (where / "a.pfw").write_text(json.dumps(line))
    answer = summary("--no-index", "--by", "time", "--width", "0.0001", where)
    assert [(g["count"], g["busy_ns"], g["busy_union_ns"], g["in_flight_max"]) for g in answer["groups"]] == [(1, None, None, None)]
    assert any("too many intervals" in n for n in answer["notes"]), answer["notes"]


def test_real_traces(where):
    """A real job of 48 ranks, where it is: by time and rank, call and file; and the figures of its README."""
    if not DATA.exists():
        pytest.skip("the shared data are not there")
    paths = sorted((DATA / "cm1").glob("*.pfw.gz"))
    events = [dict(e, bytes=e.get("bytes", 0)) for e in dump("--no-index", *paths[:2])]
    for other in ("rank", "call", "tid,class"):
        answer = summary("--no-index", "--by", f"time,{other}", "--width", "10", *paths[:2])
        keys = ["t_ns"] + names(other)
        def busy(list_of):
            return {tuple(g[k] for k in keys): (g["count"], g["time_ns"], g["busy_ns"], g["busy_union_ns"]) for g in list_of}
        if other != "tid,class":
            want = groups(events, keys, with_union=answer["source"] == "events", width=10**10, base=phase(answer))
            assert busy(answer["groups"]) == busy(want), other
        assert sum(g["busy_ns"] for g in answer["groups"]) == sum(g["time_ns"] for g in answer["groups"])
    whole = summary("--no-index", DATA / "cm1")
    check = json.loads(dftmerge("check", "--json", "--no-index", DATA / "cm1").out)
    assert (check["dftracer_files"], check["dftracer_records"], check["dftracer_lines_invalid"]) == (48, 316_702, 0), check
    counts = {}
    for g in whole["groups"]:
        counts[g["name"]] = counts.get(g["name"], 0) + g["count"]
    assert whole["events"] == sum(counts.values()) == 284_041 and check["dftracer_records"] - whole["events"] == 32_661
    figures = {"write": 112_353, "__xstat": 46_899, "fclose": 25_992, "open": 21_814, "close": 21_563, "fopen64": 20_496,
               "read": 13_489, "opendir": 9_215, "fopen": 5_736}
    assert {name: counts[name] for name in figures} == figures
    assert sorted(counts, key=counts.get, reverse=True)[:len(figures)] == list(figures)
    assert round(whole["wall_ns"] / 1e9, 2) == 145.36, whole["wall_ns"]
    assert (whole["processes"], whole["ranks"]) == (48, 48)
    one = summary("--no-index", DATA / "posix-2023.pfw.gz")
    assert one["processes"] == 1 and one["events"] == 1012
    assert sum(g["count"] for g in one["groups"] if g["name"] == "read") == 1000
