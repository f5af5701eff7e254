# SPDX-License-Identifier: MIT
"""dftmerge export --format perfetto with --max-bytes: files keep to their size and lack the shortest slices alone, slices
nest, and what is left out is counted, against a dump."""

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
        self.slices = [r for r in records if r["ph"] in "XiB" and r.get("cat") != "dftmerge"]
        self.tracks = [r for r in records if r["ph"] == "C" and r["cat"] == "I/O"]
        self.samples = [r for r in records if r["ph"] == "C" and r["cat"] != "I/O"]

    def start(self, record):
        return self.origin + ns(record["ts"])


def is_slice(event):
    return event.get("phase") in (None, "begin", "instant")


def check_sums(trace, events):
    """What is there, and what is left out by the file's word, are all slices with all their time; and the longest are there."""
    slices, other = [e for e in events if is_slice(e)], trace.other
    below = other.get("left_out_below_ns", 2**63 if other.get("left_out_slices") else 0)
    assert len(trace.slices) + other.get("left_out_slices", 0) == len(slices)
    time = sum(e["dur"] for e in slices if e.get("phase") != "instant")
    assert sum(ns(r.get("dur", 0)) for r in trace.slices) + other.get("left_out_time_ns", 0) == time
    assert len(trace.samples) + other.get("left_out_samples", 0) == sum(e.get("phase") == "counter" for e in events)
    kept = collections.Counter((trace.start(r), ns(r.get("dur", 0)), r["tid"], r["name"]) for r in trace.slices)
    wanted = collections.Counter((e["ts"], 0 if e.get("phase") == "instant" else e["dur"], e["tid"], e["name"]) for e in slices
                                 if e.get("open") or (0 if e.get("phase") == "instant" else e["dur"]) >= below)
    opened = collections.Counter((e["ts"], 0, e["tid"], e["name"]) for e in slices if e.get("open"))
    assert not +collections.Counter({k: n for k, n in (wanted - kept).items() if not opened[k[0], 0, k[2], k[3]]}), wanted - kept


def check_nesting(trace):
    """Slices of a thread follow or contain each other; enclosing ones come first among those that start together."""
    threads = collections.defaultdict(list)
    for i, r in enumerate(trace.slices):
        if r["ph"] == "X":
            threads[r["pid"], r["tid"]].append((ns(r["ts"]), -ns(r["dur"]), i, r))
    for list_of in threads.values():
        ends = []
        for start, minus, _, r in sorted(list_of):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or start - minus <= ends[-1], r
            ends.append(start - minus)


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
    for size in (6_000, 20_000, 60_000, 150_000, 300_000, 500_000, 700_000, len(whole) - 1):
        trace, said = export(path, "--max-bytes", str(size), traces)
        trace = Trace(trace)
        assert len(path.read_bytes()) <= size
        check_sums(trace, events)
        check_nesting(trace)
        assert trace.metadata == full.metadata
        assert f"to fit into {size} bytes" in said and said.strip().endswith(trace.other["note"]), said
        assert [r["name"] for r in trace.notices] == [trace.other["note"]] and trace.notices[0]["dur"] > 0
        detail.append(len(trace.slices))
        if trace.tracks:
            for name in ("bytes read/s", "bytes written/s", "calls/s"):
                assert abs(area(trace, name) / area(full, name) - 1) < 1e-6, (size, name)
    assert detail == sorted(detail) and detail[0] < 100 < 2000 < detail[-1], detail
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
        number = int(done.err.partition(" take ")[2].partition(";")[0])
        assert dftmerge("export", "--format", "perfetto", "--max-bytes", str(number - 1), "-o", path, traces, expect=1).err
        trace = Trace(export(path, "--max-bytes", str(number), traces)[0])
        assert number - 1500 < len(path.read_bytes()) <= number, name
        check_nesting(trace)
        check_sums(trace, dump(traces, expect=None))
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
            check_sums(trace, events)
            check_nesting(trace)


def test_in_parts(directory):
    """A loop over --from and --to writes a file for each part of the time, and every event is in one of them."""
    traces = make(directory / "t", **FULL)
    full, found, origins = Trace(export(directory / "o.json", traces)[0]), collections.Counter(), set()
    for i in range(20):
        more = ["--from", f"{i * 25}ms", *(["--to", f"{(i + 1) * 25}ms"] if i < 19 else [])]
        trace = Trace(export(directory / f"{i}.json", *more, traces)[0])
        found.update(str(r) for r in trace.slices + trace.samples)
        origins.add(trace.origin)
        assert all(i * 25_000_000 <= ns(r["ts"]) for r in trace.slices + trace.samples)
    assert found == collections.Counter(str(r) for r in full.slices + full.samples) and origins == {full.origin}


def test_bad_input(directory):
    traces, out = make(directory / "t"), directory / "out"
    for options, word in ((("--max-bytes", "0"), "above 0"), (("--max-bytes", "12x"), "not '12x'"), (("--max-bytes", ""), "size"),
                          (("--max-bytes", "-5"), "size"), (("--max-bytes", "99999999999G"), "size"), (("--split", "1"), "--split")):
        done = dftmerge("export", "--format", "perfetto", *options, "-o", out, traces, expect=2)
        assert word in done.err and not out.exists(), done
    for form in ("csv", "pfw", "folded", "folded-bytes", "perfflow"):
        done = dftmerge("export", "--format", form, "--max-bytes", "1M", "-o", f"{out}/", traces, expect=2)
        assert f"--max-bytes has no effect on {form}" in done.err and not out.exists(), done


def test_nothing(directory):
    """No event and no process passes; aggregates alone have tracks."""
    traces = make(directory / "t", **FULL)
    for options in (("--rank", "77"), ("--name", "nothing")):
        trace = Trace(export(directory / "o.json", *options, "--max-bytes", "1M", traces)[0])
        assert not trace.slices, trace
    rows = make(directory / "rows", **dict(FULL, keep=0))
    trace = Trace(strict(run(DFTMERGE, "export", "--format", "perfetto", "--max-bytes", "20K", "-o", "-", rows).out))
    assert trace.tracks and not trace.slices, trace


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
    assert export(directory / "out.json", "--max-bytes", "20K", directory / "t.pfw") and (directory / "out.json").stat().st_size <= 20 << 10
    check_nesting(Trace(strict((directory / "out.json").read_text())))
