# SPDX-License-Identifier: MIT
"""dftmerge export --format perfetto with --max-bytes and --split: files keep to their size, slices nest, and counts, times
and bytes are those of a dump."""

import collections
import json
import random

from tooltest import DFTMERGE, dftmerge, dump, make, run

FULL = dict(processes=3, threads=2, events=800, ranks=1)


def strict(text):
    """JSON without NaN, and without keys that stand twice."""
    def pairs(items):
        assert len({k for k, _ in items}) == len(items), items
        return dict(items)

    def constant(name):
        raise AssertionError(name)
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)


def export(path, *arguments):
    """The trace, and what stderr says."""
    done = dftmerge("export", "--format", "perfetto", "-o", path, *arguments)
    return strict(path.read_text()), done.err


def ns(us):
    return round(us * 1000)


class Trace:
    """The records of a file by what they are."""

    def __init__(self, trace):
        self.other, records = trace["otherData"], trace["traceEvents"]
        self.origin = int(self.other["origin_ns"])
        self.notices = [r for r in records if r.get("cat") == "dftmerge"]
        self.metadata = [r for r in records if r["ph"] == "M" and r["args"].get("name") != "about this file"
                         and r["args"].get("sort_index") != -1]
        slices = [r for r in records if r["ph"] in "XiB" and r.get("cat") != "dftmerge"]
        self.merged = [r for r in slices if r["cat"] == "merged"]
        self.single = [r for r in slices if r["cat"] != "merged"]
        self.tracks = [r for r in records if r["ph"] == "C" and r["cat"] == "I/O"]
        self.samples = [r for r in records if r["ph"] == "C" and r["cat"] != "I/O"]

    def start(self, record):
        return self.origin + ns(record["ts"])

    def begun(self):
        """Slices that are no pieces of what other files have already."""
        return [r for r in self.single if not r["args"].get("dftmerge", {}).get("continues")]


def is_slice(event):
    return event.get("phase") in (None, "begin", "instant")


def check_sums(traces, events):
    """Whatever was merged: as many slices and calls of each name, as much time and as many bytes as events have."""
    slices = [e for e in events if is_slice(e)]
    names, calls, time, moved, samples = collections.Counter(), 0, 0, 0, 0
    for trace in traces:
        for r in trace.begun():
            names[r["name"]] += 1
            calls += r["args"].get("calls", 1)
            moved += r["args"].get("bytes", 0)
        time += sum(ns(r.get("dur", 0)) for r in trace.single) + sum(ns(r["args"]["time"]) for r in trace.merged)
        for r in trace.merged:
            assert sum(r["args"]["names"].values()) + r["args"].get("other_names", 0) == r["args"]["slices"], r
            names.update(r["args"]["names"])
            calls += r["args"]["calls"]
            moved += r["args"]["bytes"]
        samples += len(trace.samples) + trace.other.get("left_out_samples", 0)
        assert trace.other.get("merged_slices", 0) == sum(r["args"]["slices"] for r in trace.merged)
        assert trace.other.get("merged_into", 0) == len(trace.merged)
    wanted = collections.Counter(e["name"] for e in slices)
    assert +names == wanted, (names - wanted, wanted - names)
    assert calls == sum(e.get("calls", 1) for e in slices)
    assert time == sum(e["dur"] for e in slices if e.get("phase") != "instant"), time
    assert moved == sum(e.get("bytes", 0) for e in slices)
    assert samples == sum(e.get("phase") == "counter" for e in events)


def check_nesting(trace):
    """Slices of a thread follow or contain each other; enclosing ones come first among those that start together."""
    threads = collections.defaultdict(list)
    for i, r in enumerate(trace.merged + trace.single):
        if r["ph"] == "X":
            threads[r["pid"], r["tid"]].append((ns(r["ts"]), -ns(r["dur"]), i, r))
    for list_of in threads.values():
        ends = []
        for start, minus, _, r in sorted(list_of):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or start - minus <= ends[-1], r
            ends.append(start - minus)


def check_merged(trace, events):
    """Each merged slice against the events that lie in it; longer ones are there as they are."""
    below = trace.other.get("merged_below_ns", 2**63)
    threads = collections.defaultdict(list)
    for e in events:
        if is_slice(e):
            dur = 0 if e.get("phase") == "instant" else e["dur"]
            threads[e["pid"], e["tid"]].append((e["ts"], dur, e))
    for r in trace.merged:
        start, end = trace.start(r), trace.start(r) + ns(r["dur"])
        inside = [(ts, dur, e) for ts, dur, e in threads[r["pid"], r["tid"]] if start <= ts and ts + dur <= end]
        args, reached, busy = r["args"], 0, 0
        for ts, dur, _ in sorted(inside, key=lambda e: (e[0], -e[1])):
            busy += max(0, ts + dur - max(reached, ts))
            reached = max(reached, ts + dur)
        assert (args["slices"], ns(args["busy"])) == (len(inside), busy), r
        assert ns(args["longest"]) == max(dur for _, dur, _ in inside) < below, r
        assert ns(args["time"]) == sum(dur for _, dur, _ in inside) and args["slices"] > 1, r
        assert args.get("errors", 0) == sum("errno" in e for *_, e in inside), r
        times = collections.Counter()
        for _, dur, e in inside:
            times[e["name"]] += dur
        title = r["name"].split(", ")
        assert title[0] in times and times[title[0]] == max(times.values()) and len(title) <= 4, r
    kept = collections.Counter((trace.start(r), ns(r["dur"]), r["tid"], r["name"]) for r in trace.single if r["ph"] == "X")
    long = collections.Counter((ts, dur, tid, e["name"]) for (_, tid), list_of in threads.items() for ts, dur, e in list_of
                               if dur >= below)
    assert not long - kept, long - kept


def area(trace, name):
    """Of a track of rates, which end in 0."""
    sums, points = 0, collections.defaultdict(list)
    for r in trace.tracks:
        if r["name"] == name:
            points[r["pid"]].append((r["ts"], r["args"]["value"]))
    for list_of in points.values():
        sums += sum(value * (later - ts) for (ts, value), (later, _) in zip(list_of, list_of[1:]))
    return sums


def test_sizes(directory):
    traces, path = make(directory / "t", **FULL), directory / "o.json"
    events = dump(traces)
    full = Trace(export(path, traces)[0])
    whole = path.read_bytes()
    detail = []
    for size in (12_000, 20_000, 60_000, 150_000, 300_000, 500_000, 700_000, len(whole) - 1):
        trace, said = export(path, "--max-bytes", str(size), traces)
        trace = Trace(trace)
        assert len(path.read_bytes()) <= size
        check_sums([trace], events)
        check_nesting(trace)
        check_merged(trace, events)
        assert trace.metadata == full.metadata
        assert f"to fit into {size} bytes" in said and said.strip().endswith(trace.other["note"]), said
        assert [r["name"] for r in trace.notices] == [trace.other["note"]] and trace.notices[0]["dur"] > 0
        detail.append(len(trace.single))
        if trace.tracks:
            for name in ("bytes read/s", "bytes written/s", "calls/s"):
                assert abs(area(trace, name) / area(full, name) - 1) < 1e-6, (size, name)
    assert detail == sorted(detail) and detail[0] < 100 < 3000 < detail[-1], detail
    for size in (str(len(whole)), "1G", "5 MiB"):
        assert export(path, "--max-bytes", size, traces)[1] == "" and path.read_bytes() == whole, size
    dftmerge("export", "--format", "perfetto", "--max-bytes", "100K", "-o", directory / "o.json.gz", traces)
    dftmerge("export", "--format", "perfetto", "--max-bytes", "100K", "-o", directory / "o.json", traces)
    assert run("gzip", "-dc", directory / "o.json.gz").out == path.read_bytes()  # the limit is for what is inside


def test_least(directory):
    """A size that is too small is refused with the least one that is not; that one works."""
    for name, settings in (("a", FULL), ("b", dict(FULL, same_time=1)), ("c", dict(slow=1)), ("d", dict(FULL, keep=0))):
        traces, path = make(directory / name, **settings), directory / "o.json"
        done = dftmerge("export", "--format", "perfetto", "--max-bytes", "10 B", "-o", path, traces, expect=1)
        assert "too small" in done.err and "nothing was written\n" in done.err and not path.exists(), done
        number = int(done.err.partition(" each take ")[2].partition(";")[0])
        assert dftmerge("export", "--format", "perfetto", "--max-bytes", str(number - 1), "-o", path, traces, expect=1).err
        trace = Trace(export(path, "--max-bytes", str(number), traces)[0])
        assert number - 1500 < len(path.read_bytes()) <= number, name
        check_nesting(trace)
        check_sums([trace], dump(traces, expect=None))
        path.unlink()


def test_shapes(directory):
    """Other traces: all at once, hours long, in flight, of many names, filtered."""
    for name, settings, options in (("same", dict(FULL, same_time=1), ()), ("slow", dict(FULL, slow=1), ()),
                                    ("live", dict(FULL, live=1, end=0), ()), ("one", FULL, ("--rank", "1", "--name", "read,write")),
                                    ("late", FULL, ("--from", "0.5", "--to", "1.5"))):
        traces, path = make(directory / name, **settings), directory / "o.json"
        events = dump(*options, traces, expect=None)
        full = len(json.dumps(export(path, *options, traces)[0]))
        for part in (12, 5, 2):
            size = max(16_000, full // part)
            trace = Trace(export(path, "--max-bytes", str(size), *options, traces)[0])
            assert path.stat().st_size <= size, (name, size)
            check_sums([trace], events)
            check_nesting(trace)


def parts_of(directory):
    names = sorted(p.name for p in directory.iterdir())
    assert names == [f"trace-{i:04}.json" for i in range(len(names))], names
    return [Trace(strict((directory / n).read_text())) for n in names]


def check_pieces(traces, events, width):
    """Pieces of a slice lie edge to edge in one file after the other, and are as long as the slice."""
    pieces = collections.defaultdict(list)
    for i, trace in enumerate(traces):
        begin = i * width
        assert (trace.other["part"], trace.other["parts"], ns(trace.other["part_ts"])) == (i, len(traces), begin)
        for r in trace.single + trace.merged + trace.samples:
            assert begin <= ns(r["ts"]) and (i + 1 == len(traces) or ns(r["ts"]) + ns(r.get("dur", 0)) <= begin + width), r
        for r in trace.single:
            cut = r["args"].get("dftmerge")
            if r["ph"] == "B":
                assert not cut or cut["continues"] and ns(r["ts"]) == begin > ns(cut["whole_ts"]), r
            elif cut:
                pieces[r["pid"], r["tid"], r["name"], cut["whole_ts"], cut["whole_dur"]].append((ns(r["ts"]), ns(r["dur"]), cut, r))
    starts = collections.Counter((e["ts"], e["dur"]) for e in events)
    for (_, _, _, ts, dur), list_of in pieces.items():
        assert starts[traces[0].origin + ns(ts), ns(dur)], (ts, dur)
        assert [("continues" in cut, "goes_on" in cut) for *_, cut, _ in list_of] == \
            [(i > 0, i + 1 < len(list_of)) for i in range(len(list_of))], list_of
        assert (list_of[0][0], sum(length for _, length, *_ in list_of)) == (ns(ts), ns(dur))
        assert all(a[0] + a[1] == b[0] for a, b in zip(list_of, list_of[1:]))
        assert len({json.dumps({k: v for k, v in r["args"].items() if k != "dftmerge"}) for *_, r in list_of}) == 1
    return len(pieces)


def test_split(directory):
    traces = make(directory / "t", **FULL)
    events = dump(traces)
    full = Trace(export(directory / "o.json", traces)[0])
    width = 25_000_000
    dftmerge("export", "--format", "perfetto", "--split", "25ms", "-o", f"{directory}/parts/", traces)
    parts = parts_of(directory / "parts")
    assert len(parts) > 10 and check_pieces(parts, events, width) > 20
    check_sums(parts, events)
    for trace in parts:
        check_nesting(trace)
        assert (trace.origin, trace.metadata, len(trace.notices), trace.merged) == (full.origin, full.metadata, 1, [])
    whole = [r for r in full.single if not any(ns(r["ts"]) < b < ns(r["ts"]) + ns(r.get("dur", 0))
                                               for b in range(width, width * len(parts), width))]
    assert sorted(map(str, whole)) == sorted(str(r) for t in parts for r in t.single if "dftmerge" not in r["args"])
    points = collections.Counter(map(str, full.tracks))
    got = collections.Counter(str(r) for i, t in enumerate(parts) for r in t.tracks)
    assert not points - got
    for i, trace in enumerate(parts[1:], 1):  # what is new is the value that holds at the border
        for r in trace.tracks:
            if str(r) not in points:
                before = [p for p in full.tracks if (p["pid"], p["name"]) == (r["pid"], r["name"]) and ns(p["ts"]) <= i * width]
                assert ns(r["ts"]) == i * width and before[-1]["args"] == r["args"], r


def test_split_of_killed(directory):
    """Calls and regions that never ended are open in each part up to the end of their process."""
    traces = make(directory / "t", **dict(FULL, live=1, end=0))
    dftmerge("export", "--format", "perfetto", "--split", "25ms", "-o", f"{directory}/parts/", traces)
    parts, events = parts_of(directory / "parts"), dump(traces)
    check_pieces(parts, events, 25_000_000)
    check_sums(parts, events)
    opened, last = {}, collections.Counter()
    for i, trace in enumerate(parts):
        for r in trace.single + trace.samples:
            last[r["pid"]] = i
            if r["ph"] == "B":
                opened.setdefault((r["pid"], r["tid"], r["name"]), []).append(i)
    assert len(opened) == len([e for e in events if e.get("open")]) >= 6
    assert any(len(where) > 1 for where in opened.values())
    for (pid, *_), where in opened.items():
        assert where == list(range(where[0], where[-1] + 1)) and where[-1] >= last[pid], (pid, where)


def test_split_sizes(directory):
    """The size is for each part. The same parts may be written again."""
    traces = make(directory / "t", **FULL)
    events = dump(traces)
    for size in (12_000, 30_000):
        done = dftmerge("export", "--format", "perfetto", "--split", "0.1", "--max-bytes", str(size), "-o", f"{directory}/parts/", traces)
        assert all(p.stat().st_size <= size for p in (directory / "parts").iterdir())
        parts = parts_of(directory / "parts")
        check_sums(parts, events)
        for trace in parts:
            check_nesting(trace)
        lacking = sum("note" in t.other for t in parts)
        assert f"to fit into {size} bytes, {lacking} of {len(parts)} parts have less detail" in done.err and lacking > 2, done.err
    done = dftmerge("export", "--format", "perfetto", "--split", "0.1", "--max-bytes", "1K", "-o", f"{directory}/parts/", traces, expect=1)
    assert "too small for a part" in done.err, done.err
    options = ("--from", "0.15", "--to", "0.35")
    dftmerge("export", "--format", "perfetto", "--split", "100ms", *options, "-o", f"{directory}/few/", traces)
    parts = parts_of(directory / "few")
    assert [ns(t.other["part_ts"]) for t in parts] == [150_000_000, 250_000_000]
    check_sums(parts, dump(*options, traces))


def test_bad_input(directory):
    traces, out = make(directory / "t"), directory / "out"
    for options, word in ((("--max-bytes", "0"), "above 0"), (("--max-bytes", "12x"), "not '12x'"), (("--max-bytes", ""), "size"),
                          (("--max-bytes", "-5"), "size"), (("--max-bytes", "99999999999G"), "size"), (("--split", "0"), "above 0"),
                          (("--split", "-1"), "above 0"), (("--split", "soon"), "not 'soon'"), (("--split", "1"), f"-o {out}/")):
        done = dftmerge("export", "--format", "perfetto", *options, "-o", out, traces, expect=2)
        assert word in done.err and not out.exists(), done
    for form in ("csv", "pfw", "folded", "folded-bytes", "perfflow"):
        for option, value in (("--max-bytes", "1M"), ("--split", "1")):
            done = dftmerge("export", "--format", form, option, value, "-o", f"{out}/", traces, expect=2)
            assert f"{option} has no effect on {form}" in done.err and not out.exists(), done
    done = dftmerge("export", "--format", "perfetto", "--split", "1ns", "-o", f"{out}/", traces, expect=1)
    assert "more than 10000 files" in done.err and not out.exists(), done
    out.mkdir()
    (out / "other.json").write_text("{}")
    done = dftmerge("export", "--format", "perfetto", "--split", "1", "-o", out, traces, expect=1)
    assert "other.json is there already" in done.err and len(list(out.iterdir())) == 1, done
    (out / "other.json").rename(out / "other.txt")
    dftmerge("export", "--format", "perfetto", "--split", "1", "-o", out, traces)
    assert "there is no directory" in dftmerge("export", "--format", "perfetto", "--split", "1", "-o", f"{out}/no/x/", traces, expect=1).err


def test_nothing(directory):
    """No event and no process passes; aggregates alone have tracks."""
    traces = make(directory / "t", **FULL)
    for options in (("--rank", "77"), ("--name", "nothing")):
        for more in (("--max-bytes", "1M"), ("--max-bytes", "4K", "--split", "0.1"), ("--split", "0.1")):
            out = directory / f"{len(options[1])}{len(more)}{more[0]}"
            out.mkdir()
            run(DFTMERGE, "export", "--format", "perfetto", *options, *more, "-o", out, traces)
            for path in out.iterdir():
                trace = Trace(strict(path.read_text()))
                assert not trace.single and not trace.merged, path
    rows = make(directory / "rows", **dict(FULL, keep=0))
    trace = Trace(strict(run(DFTMERGE, "export", "--format", "perfetto", "--max-bytes", "20K", "-o", "-", rows).out))
    assert trace.tracks and not trace.single, trace


def test_crossing(directory):
    """Slices of a thread that neither follow nor contain each other: none is a slice in a slice that ends before, and none is lost."""
    chance, t0 = random.Random(7), 1_700_000_000_000_000
    wanted = collections.Counter()
    lines = []
    for i in range(400):
        start, dur, tid = t0 + chance.randrange(20_000), chance.choice([1, 30, 400, 5000]), chance.randrange(2)
        wanted[f"n{i % 9}", dur * 1000] += 1
        lines.append(json.dumps({"id": i, "name": f"n{i % 9}", "cat": chance.choice(["GPU", "POSIX"]), "pid": 7, "tid": tid, "ph": "X", "ts": start, "dur": dur}))
    (directory / "t.pfw").write_text("\n".join(lines))
    trace, _ = export(directory / "out.json", directory / "t.pfw")
    check_nesting(Trace(trace))
    found, begun = collections.Counter(), {}
    for r in trace["traceEvents"]:
        if r["ph"] == "X":
            found[r["name"], ns(r["dur"])] += 1
        elif r["ph"] == "b":
            assert begun.setdefault((r["pid"], r["id2"]["local"]), r) is r, "ids differ"
        elif r["ph"] == "e":
            found[r["name"], ns(r["ts"]) - ns(begun.pop((r["pid"], r["id2"]["local"]))["ts"])] += 1
    assert found == wanted and not begun and any(r["ph"] == "b" for r in trace["traceEvents"]), (found - wanted, wanted - found)
    for more in (["--split", "0.005"], ["--max-bytes", "20K"], ["--max-bytes", "20K", "--split", "0.005"]):
        out = directory / "".join(more)
        dftmerge("export", "--format", "perfetto", *more, "-o", f"{out}/", directory / "t.pfw") if "--split" in more else export(out, *more, directory / "t.pfw")
        for path in sorted(out.iterdir()) if out.is_dir() else [out]:
            assert "--max-bytes" not in more or path.stat().st_size <= 20_000 * 1.1, path.stat()
            check_nesting(Trace(strict(path.read_text())))
