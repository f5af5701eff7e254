# SPDX-License-Identifier: MIT
"""`dftmerge compare`: every number and every verdict, recomputed from `dump --json`; matching of files and ranks; exit codes."""

import collections
import csv
import fractions
import io
import itertools
import json
import math
import random
import re
import shutil
import statistics
import subprocess

from tooltest import CLASSES, DATA, counts, csv_text, dftmerge, dump, make, pattern, percentile, run, summary, DFTMERGE

MEASURES = ["count", "bytes", "time_ns", "time_p50_ns", "time_p95_ns", "time_p99_ns"]
T0 = 1_700_000_000_000_000
READS, WRITES = {"read", "pread", "fread"}, {"write", "fputc", "pwrite"}


def compare(*arguments, expect=0, **more):
    return json.loads(dftmerge("compare", "--json", *arguments, expect=expect, **more).out)


# --- an independent comparison -------------------------------------------------------------------------------------------


def class_of(event):
    if event["cat"] in ("APP", "LIB", "PROCESS"):
        return "none"
    return "read" if event["name"] in READS else "write" if event["name"] in WRITES else "meta"


def tested(a, b):
    """1: b is higher beyond chance, -1: lower, 0: neither, None: too few. The rank-sum test by its textbook formula."""
    if len(a) < 8 or len(b) < 8:
        return None
    both = sorted(a + b)
    first, number = {}, collections.Counter(both)
    for i, value in enumerate(both):
        first.setdefault(value, i)
    rank = {v: fractions.Fraction(2 * first[v] + number[v] + 1, 2) for v in number}
    n, m, all_ = len(a), len(b), len(a) + len(b)
    u = sum(rank[v] for v in a) - fractions.Fraction(n * (n + 1), 2)
    ties = sum(t ** 3 - t for t in number.values())
    variance = fractions.Fraction(n * m, 12) * (all_ + 1 - fractions.Fraction(ties, all_ * (all_ - 1)))
    distance = abs(u - fractions.Fraction(n * m, 2)) - fractions.Fraction(1, 2)
    if distance <= 0 or distance ** 2 <= fractions.Fraction(10828, 1000) * variance:
        return 0
    return 1 if u < fractions.Fraction(n * m, 2) else -1


class Run:
    def __init__(self, path):
        events = dump(path)
        self.start = min(e["ts"] for e in events)
        self.end = max(e["ts"] + e.get("dur", 0) for e in events)
        self.events = [e for e in events if counts(e)]
        self.processes = summary(path)["processes"]

    def unit(self, event, most):
        who = (event.get("host"), event["pid"]) if self.processes <= most else None
        slices = min(24, 4096 // self.processes) if who else 24
        if slices < 2:
            return who, 0
        width = (self.end - self.start) // slices + 1
        if width >= 64 * 10**9:
            width = -(-width // (64 * 10**9)) * 64 * 10**9
        return who, event["ts"] // width


def sums(events):
    data = [e for e in events if e["name"] in DATA and "errno" not in e]
    durations = [e["dur"] for e in events]
    result = {"count": sum(e.get("calls", 1) for e in events), "bytes": sum(e["bytes"] for e in data),
              "time_ns": sum(durations)}
    for p in (50, 95, 99):
        result[f"time_p{p}_ns"] = percentile(durations, p) if events else None
    return result


def units(members, by_process):
    cells = collections.defaultdict(list)
    for (who, slice_), event in members:
        cells[who if by_process else (who, slice_)].append(event)
    return [sums(events) for events in cells.values()]


def explained(members, kind):
    kinds = collections.defaultdict(lambda: [[0, 0], [0, 0]])
    for side in (0, 1):
        for _, event in members[side]:
            kinds[kind(event)][side][0] += event.get("calls", 1)
            kinds[kind(event)][side][1] += event["dur"]
    total = 0
    for (n, t), (m, s) in kinds.values():
        part = (m - n) * t if n else s - t
        total += (abs(part) // n if part >= 0 else -(abs(part) // n)) if n else part
    return total


def verdict(change, test):
    a, b = change
    if a is None or b is None:
        return "unknown"
    if a == b:
        return "same"
    if test is None:
        return "unknown"
    return "beyond" if test == (1 if b > a else -1) else "within"


def costs(members, key):
    """The cost of a call in each unit: unit -> ns."""
    parts = collections.defaultdict(list)
    for unit, event in members:
        parts[key(unit)].append(event)
    return {unit: sum(e["dur"] for e in events) / sum(e.get("calls", 1) for e in events) for unit, events in parts.items()}


def alone(members, whole):
    """Who of the slower run stands out from all processes of the other one: (side, their costs, is it sure), or None."""
    side = int(whole[1]["time_ns"] > whole[0]["time_ns"])
    own, other = costs(members[side], lambda u: u[0]), costs(members[1 - side], lambda u: u[0])
    if len(own) < 2 or not sum(e["dur"] for _, e in members[1 - side]):
        return None
    usual = max(other.values())
    spent = {who: sum(e["dur"] - usual * e.get("calls", 1) for unit, e in members[side] if unit[0] == who) for who in own}
    out = {who: cost for who, cost in own.items() if cost > 2 * usual}
    out = {who: cost for who, cost in out.items() if spent[who] >= 0.05 * max(spent[w] for w in out)}
    slices, others = (list(costs(members[s], lambda u: u).items()) for s in (side, 1 - side))
    limit = max(cost for _, cost in others)
    sure = sum(cost > 0 for _, cost in others) >= 8 and any(
        sum(unit[0] == who and cost > limit for unit, cost in slices) >= 8 for who in out)
    return (side, out, sure) if out else None


def amended(spread, change, out, is_time):
    a, b = change
    if a is None or b is None:
        return spread
    slow, other = (b, a) if out and out[0] else (a, b)
    if out and slow > other and (is_time or slow > 2 * other):
        spread = "beyond" if out[2] else {"within": "unknown"}.get(spread, spread)
    return "within" if 0 < abs(b - a) * 200 < a else spread


def item(members, kind=lambda e: (e["cat"], e["name"], class_of(e))):
    """members: for each run its [(unit, event)]."""
    by_process = all(len({who for (who, _), _ in side}) >= 8 for side in members)
    parts = [units(side, by_process) for side in members]
    whole = [sums([event for _, event in side]) for side in members]
    result, out = {}, alone(members, whole)
    for measure in MEASURES:
        a, b = (one[measure] for one in whole)
        if measure in ("count", "bytes"):
            spread = "same" if a == b else "beyond"
        elif measure == "time_ns":
            spread = verdict((a, b), tested(*([u["time_ns"] // u["count"] for u in side] for side in parts)))
            part = explained(members, kind)
            spread = amended(spread, (a, b), out, True)
            if (a < b <= a + 2 * part or a > b >= a + 2 * part) and abs(b - a) * 200 >= a:
                spread = "beyond"
        else:
            spread = amended(verdict((a, b), tested(*([u[measure] for u in side] for side in parts))), (a, b), out, False)
        result[measure] = {"a": a, "b": b, "spread": spread,
                           "percent": 100 * (b - a) / a if a and b is not None else None}
    result["alone"] = out and ("ab"[out[0]], len(out[1]), out[2])
    return result


def expect_table(lines, runs, key, most, kind=None):
    """`key`: of an event, a dict or None. Every line of the table must be as computed here, and none be missing."""
    members = collections.defaultdict(lambda: ([], []))
    for side in (0, 1):
        for event in runs[side].events:
            which = key(event)
            if which is not None:
                members[json.dumps(which)][side].append((runs[side].unit(event, most), event))
    assert len(lines) == len(members), (len(lines), len(members))
    for line in lines:
        own = {k: v for k, v in line.items() if k not in MEASURES and k != "alone"}
        want = item(members[json.dumps(own)], *([kind] if kind else []))
        for measure in MEASURES:
            got = dict(line[measure])
            assert [got.pop(key) for key in ("a_range", "b_range", "sure", "chance", "interval")] == [None] * 5, line  # of one run a side nothing is known
            if got["percent"] is not None:
                assert abs(got["percent"] - want[measure]["percent"]) < 1e-9
                got = dict(got, percent=want[measure]["percent"])
            assert got == want[measure], (own, measure, got, want[measure])
        told = line["alone"] and (line["alone"]["in"], line["alone"]["count"], line["alone"]["sure"])
        assert told == want["alone"], (own, line["alone"], want["alone"])
    sizes = [abs(line["time_ns"]["b"] - line["time_ns"]["a"]) for line in lines]
    assert sizes == sorted(sizes, reverse=True)


def agrees(a, b, *options, **more):
    answer, runs = compare(a, b, *options, **more), [Run(a), Run(b)]

    def call(event):
        return {"cat": event["cat"], "name": event["name"]}
    expect_table(answer["total"], runs, lambda e: {} if class_of(e) != "none" else None, 1024)
    expect_table(answer["calls"], runs, lambda e: call(e) if class_of(e) != "none" else None, 1024)
    expect_table(answer["regions"], runs, lambda e: call(e) if class_of(e) == "none" else None, 1024)
    expect_table(answer["files"], runs,
                 lambda e: {"pattern": pattern(e["file"])} if class_of(e) != "none" and "file" in e else None, 64)
    return answer, runs


# --- traces of chosen durations --------------------------------------------------------------------------------------------


def write(directory, processes, name="a", at=0):
    """processes: one list of calls each: (name, file or None, start us, duration us, bytes or None); ranks 0, 1, ...
    at: seconds later."""
    directory.mkdir(parents=True, exist_ok=True)
    for rank, calls in enumerate(processes):
        lines, files = [], {}
        lines.append(json.dumps({"name": "PR", "cat": "dftracer", "pid": 100 + rank, "tid": 1, "ph": "M",
                                 "args": {"name": "rank", "value": str(rank)}}))
        for i, (call, file, start, duration, moved) in enumerate(calls):
            arguments = {}
            if file is not None:
                if file not in files:
                    files[file] = len(files) + 1
                    lines.append(json.dumps({"name": "FH", "cat": "dftracer", "pid": 100 + rank, "tid": 1, "ph": "M",
                                             "args": {"name": file, "value": files[file]}}))
                arguments["fhash"] = files[file]
            if moved is not None:
                arguments["ret"] = moved
            lines.append(json.dumps({"id": i, "name": call, "cat": "POSIX", "pid": 100 + rank, "tid": 1, "ph": "X",
                                     "ts": T0 + at * 1_000_000 + start, "dur": duration, "args": arguments}))
        (directory / f"{name}{rank}.pfw").write_text("\n".join(lines))
    return directory


def steady(seed, n=200, mean=100, call="read", file="/data/in", moved=4096, step=1000):
    chance = random.Random(seed)
    return [(call, file, i * step, round(mean * (0.5 + chance.random())), moved) for i in range(n)]


def told(*arguments, **more):
    """What the text says, in one line."""
    return " ".join(dftmerge("compare", *arguments, **more).out.decode().split())


def line_of(answer, table, **key):
    found = [line for line in answer[table] if all(line[k] == v for k, v in key.items())]
    assert len(found) == 1, (table, key, answer[table])
    return found[0]


# --- tests ----------------------------------------------------------------------------------------------------------------


def test_every_number(where):
    """Different runs of one and of many processes: sums, percentiles and verdicts of every line."""
    make(where / "one", processes=1, seed=1, threads=3)
    make(where / "other", processes=1, seed=2, threads=3)
    make(where / "many", processes=12, seed=3, events=200)
    make(where / "more", processes=10, seed=4, events=250)
    for a, b in (("one", "other"), ("many", "more"), ("one", "many")):
        answer, _ = agrees(where / a, where / b)
        assert not answer["same"] and answer["notes"] == []
    spreads = {line[m]["spread"] for table in ("calls", "files") for line in answer[table] for m in MEASURES}
    assert {"beyond", "within"} <= spreads, spreads


def test_the_same_run(where):
    """A run and itself, in whatever form: no difference, and it never fails."""
    make(where / "a", ranks=1, processes=3)
    dftmerge("merge", "-o", where / "archive.dft", where / "a")
    for b in (where / "a", where / "archive.dft"):
        for metric in ("time", "bytes", "count", "p50", "p95", "p99"):
            answer = compare("--fail-over", "0", "--metric", metric, where / "a", b)
            assert answer["same"] and answer["worse"] == [], metric
        spreads = {line[m]["spread"] for t in ("total", "calls", "files", "ranks") for line in answer[t] for m in MEASURES}
        assert spreads == {"same"}
    parts = sorted((where / "a").glob("*.dft"))
    assert len(parts) == 3
    assert compare(*parts[:2], parts[2], "--", where / "a")["same"]
    assert "do not differ" in dftmerge("compare", where / "a", where / "a").out.decode()


def test_slower(where):
    """Same calls, a third slower: found beyond the spread in one process by slices of time, in many by process."""
    for ranks in (1, 4, 16):
        a = write(where / f"a{ranks}", [steady(i) for i in range(ranks)])
        b = write(where / f"b{ranks}", [steady(1000 + i, mean=133) for i in range(ranks)])
        same = write(where / f"c{ranks}", [steady(2000 + i) for i in range(ranks)])
        answer, _ = agrees(a, b, "--fail-over", "10%", "--no-index", expect=1)
        read = line_of(answer, "calls", name="read")
        assert read["time_ns"]["spread"] == "beyond" and 25 < read["time_ns"]["percent"] < 42, read
        assert (read["count"]["spread"], read["bytes"]["spread"]) == ("same", "same")
        assert {w["table"] for w in answer["worse"]} == {"total", "calls", "files", "ranks"}
        assert compare("--fail-over", "60%", "--no-index", a, b)["worse"] == []
        for metric, code in (("bytes", 0), ("count", 0), ("p50", 1), ("p99", 1)):
            done = run(DFTMERGE, "compare", "--no-index", "--fail-over", "10", "--metric", metric, a, b)
            assert done.code == code, (ranks, metric, done)
        assert compare("--fail-over", "5", "--no-index", b, a)["worse"] == []  # faster is not worse
        answer, _ = agrees(a, same, "--fail-over", "1%", "--no-index")
        assert line_of(answer, "calls", name="read")["time_ns"]["spread"] == "within"


def test_chance_does_not_fail(where):
    """Many pairs of runs that differ by chance alone: none is beyond the spread."""
    chance = random.Random(7)

    def heavy(seed):
        own = random.Random(seed)
        return [("write", "/out", i * 500, round(own.paretovariate(1.5) * 50), 100) for i in range(300)]
    for i in range(12):
        a = write(where / f"a{i}", [heavy(chance.random()) for _ in range(2)])
        b = write(where / f"b{i}", [heavy(chance.random()) for _ in range(2)])
        compare("--fail-over", "0", "--no-index", a, b)
        compare("--fail-over", "0", "--metric", "p95", "--no-index", b, a)


def test_one_alone(where):
    """One rank of four, slow for good: no line that has it is within the spread, and it has a line of its own."""
    def job(seed, *means, n=200):
        return [steady(seed + r, n=n, mean=mean) for r, mean in enumerate(means)]
    a = write(where / "a", job(10, 100, 100, 100, 100))
    for times in (92, 3):
        b = write(where / f"b{times}", job(20, 100, 100, 100 * times, 100))
        answer, _ = agrees(a, b, "--fail-over", "10%", "--no-index", expect=1)
        for line in (line_of(answer, "total"), line_of(answer, "calls", name="read"), line_of(answer, "ranks", ranks="2")):
            assert line["time_ns"]["spread"] == "beyond", line
        out = line_of(answer, "total")["alone"]
        assert (out["in"], out["count"], out["of"], out["rank"], out["sure"]) == ("b", 1, 4, 2, True), out
        assert abs(out["times"] - times) < 0.1 * times
        assert [line["ranks"] for line in answer["ranks"]] == ["2", "0-1,3"]
        assert line_of(answer, "ranks", ranks="0-1,3")["time_ns"]["spread"] in ("within", "same")
        text = told("--no-index", a, b)
        costs_ = re.search(r"; rank 2 of 4 alone: ([\d.]+) (ms|us) a call against ([\d.]+) us in A", text)
        assert costs_ and abs(float(costs_[1]) * {"ms": 1000, "us": 1}[costs_[2]] / float(costs_[3]) - times) < 0.1 * times, text
        assert "how sure medium: rank 2's calls cost more than any of A in 8 slices of time at least; with one run a side" in text, text
        back = line_of(compare("--no-index", b, a), "total")
        assert back["time_ns"]["spread"] == "beyond" and back["alone"]["in"] == "a", back
    # Too little of it to be sure: it is not told that it is within the spread.
    few = write(where / "few", [steady(30 + r, n=12) for r in range(16)])
    odd = [steady(60 + r, n=12) for r in range(16)]
    odd[5] = [(*call[:3], 9000 if i == 6 else call[3], call[4]) for i, call in enumerate(odd[5])]
    answer, _ = agrees(few, write(where / "odd", odd), "--fail-over", "0", "--no-index", expect=3)
    line = line_of(answer, "total")
    assert line["time_ns"]["spread"] == "unknown" and line["alone"]["rank"] == 5 and not line["alone"]["sure"], line
    # Ranks that changed alike stay together, however much that is.
    b = write(where / "all", job(40, 1000, 1000, 1000, 1000))
    assert [line["ranks"] for line in compare("--no-index", a, b)["ranks"]] == ["0-3"]


def test_one_among_many(where):
    """A rank of sixty whose opens are slow from the middle on: nothing to all I/O together, but the job may wait for
    it."""
    def job(seed, slow):
        return [steady(seed + r) + [("open", f"/data/f{i}", 500 + i * 5000, 500 if r == slow and i >= 20 else 50 + (i + seed) % 3, None)
                                    for i in range(40)] for r in range(60)]
    a, b, same = (write(where / name, job(seed, slow)) for name, seed, slow in (("a", 100, -1), ("b", 300, 17), ("c", 300, -1)))
    text = told("--no-index", a, b)
    found = re.match(r"A and B do not differ in I/O by more than each does within itself: .*, but open of /data/f# does: \+[89]\.\d+ ms; "
                     r"rank 17 of 60 alone since about \+(0\.\d+) s: 500 us a call against 5\d\.\d us in A", text)
    assert found and 0.09 < float(found[1]) < 0.12, text
    assert line_of(compare("--no-index", a, b), "calls", name="open")["alone"]["rank"] == 17
    text = told("--no-index", a, same)
    assert ", but " not in text and "alone" not in text, text


def test_one_that_explains_nothing(where):
    """Beside a rank that lost seconds another one's calls cost thrice the usual, of microseconds: the first stands alone."""
    def job(seed, means):
        return [steady(seed + r, mean=mean) for r, mean in enumerate(means)]
    a = write(where / "a", job(100, (100, 100, 100, 100)))
    for third, who in ((500, "rank 2 of 4 alone"), (5000, "in 2 of 4 processes, the most in rank 2: ")):
        b = write(where / f"b{third}", job(300, (100, 100, 20_000, third)))
        answer, text = agrees(a, b, "--no-index")[0], told("--no-index", a, b)
        assert who in text, text
        assert line_of(answer, "calls", name="read")["alone"]["rank"] == 2


def test_too_small_to_matter(where):
    """A change that rounds to 0.0 % is none, however sure; one of a few per cent, as sure, is."""
    def job(mean):
        return [[("read", "/data/in", 10 * mean * i, mean + (i + r) % 3, 4096) for i in range(200)] for r in range(4)]
    a = write(where / "a", job(100_000))
    for mean, spread in ((100_030, "within"), (100_400, "within"), (103_000, "beyond")):
        b = write(where / str(mean), job(mean))
        answer, _ = agrees(a, b, "--no-index")
        assert line_of(answer, "total")["time_ns"]["spread"] == spread, mean
        assert line_of(answer, "total")["count"]["spread"] == "same"
    text = told("--no-index", a, where / "100030")
    assert text.startswith("B takes as long as A in I/O: ") and "beyond" not in text, text
    assert "how sure low: within the spread of the runs themselves; with one run a side nothing is known about" in text, text


def test_more_and_other_calls(where):
    """Twice the calls; a call that is new; one that is gone."""
    base = steady(1) + [("unlink", "/tmp/x", 300_000 + i * 100, 40, None) for i in range(20)]
    a = write(where / "a", [base])
    b = write(where / "b", [steady(2, n=400, step=500) + [("fsync", "/data/out", 300_000, 9000, None)]])
    answer, _ = agrees(a, b, "--fail-over", "10", "--no-index", expect=1)
    read, new, gone = (line_of(answer, "calls", name=n) for n in ("read", "fsync", "unlink"))
    assert read["count"] == {"a": 200, "b": 400, "percent": 100.0, "spread": "beyond", "a_range": None, "b_range": None, "sure": None, "chance": None, "interval": None}
    assert read["time_ns"]["spread"] == "beyond" and read["bytes"]["spread"] == "beyond"
    assert new["count"]["a"] == 0 and new["time_ns"]["spread"] == "beyond" and new["time_p50_ns"]["a"] is None
    assert gone["count"]["b"] == 0 and gone["time_ns"]["spread"] == "beyond"
    assert {w.get("name") for w in answer["worse"] if w["table"] == "calls"} == {"read", "fsync"}
    text = told("--no-index", a, b)
    assert "only in B: fsync (1)" in text and "only in A: unlink (20)" in text, text
    assert "evidence calls: 220 -> 401 (+82 %); bytes: 800 KiB -> 1.56 MiB (2.0x); only" in text, text
    answer = compare("--fail-over", "10", "--metric", "count", "--no-index", a, b, expect=1)
    assert {w.get("name") for w in answer["worse"] if w["table"] == "calls"} == {"read"}  # one fsync is nothing


def test_too_little_to_tell(where):
    """One process and a few calls: slower, and nobody knows."""
    a = write(where / "a", [steady(1, n=5)])
    b = write(where / "b", [steady(2, n=5, mean=500)])
    answer, _ = agrees(a, b, "--fail-over", "10", "--no-index", expect=3)
    assert line_of(answer, "calls", name="read")["time_ns"]["spread"] == "unknown"
    assert not answer["worse"] and answer["notes"] == ["whether all I/O of B is worse by more than 10 %, and not by chance, is not known"], answer
    for arguments in ((b, a), ("1000", a, b)):  # less, or not by so much: nothing is left to tell
        compare("--no-index", "--fail-over", *(arguments if len(arguments) == 3 else ("10", *arguments)))
    assert not compare("--no-index", a, b)["notes"]
    text = told("--no-index", a, b)
    assert "how sure low: whether by chance is not known" in text and " ? " in text, text
    lossy = make(where / "lossy", lossy=1, seed=2)
    answer = compare(make(where / "whole"), lossy)
    assert line_of(answer, "calls", name="read")["count"]["spread"] == "unknown" and answer["b"]["lossy"]


def test_files_in_other_directories(where):
    """Numbered files, and runs that write elsewhere."""
    def calls(directory, host, extra=()):
        names = [f"{directory}/ckpt-{i:04}.h5" for i in range(6)] + [f"{directory}/log/{host}.txt", f"{directory}/log/all.txt",
                                                                    "/etc/passwd", *extra]
        return [("write", name, 100 * i, 10 + i, 10) for i, name in enumerate(names)]
    a = write(where / "a", [calls("/scratch/u/base", "node17", ["/var/tmp/base.lock", "/tmp/a/one", "/home/old/lib/x.so"])])
    b = write(where / "b", [calls("/scratch/u/new", "node3", ["/var/tmp/new.lock", "/tmp/b/c/one", "/opt/lib/x.so"])])
    answer = compare("--no-index", a, b)
    counts_ = {f["pattern"]: (f["count"]["a"], f["count"]["b"]) for f in answer["files"]}
    assert counts_ == {".../ckpt-#.h#": (6, 6), ".../log/node#.txt": (1, 1), ".../log/all.txt": (1, 1),
                       "/etc/passwd": (1, 1), "/var/tmp/base.lock": (1, 0), "/var/tmp/new.lock": (0, 1),
                       ".../one": (1, 1), ".../lib/x.so": (1, 1)}, counts_
    pairs = {(d["a"], d["b"]) for d in answer["directories"]}
    assert pairs == {("/scratch/u/base", "/scratch/u/new"), ("/tmp/a", "/tmp/b/c"), ("/home/old", "/opt")}, pairs
    text = dftmerge("compare", "--no-index", a, b).out.decode()
    assert "/scratch/u/base in A, /scratch/u/new in B" in text and ".../ckpt-#.h#" in text


def test_where_it_is(where):
    """The first line says what matters: which call on which files."""
    def calls(directory, cost):
        return [("open", f"{directory}/ckpt-{i}", 1000 * i, cost + i % 7, None) for i in range(100)] + steady(3)
    a, b = write(where / "a", [calls("/w/a", 50)]), write(where / "b", [calls("/w/b", 400)])
    text = told("--no-index", a, b)
    assert re.match(r"B takes 2\.\dx as long as A in I/O: [\d.]+ ms against [\d.]+ ms \(\+[\d.]+ ms\), nearly all in open of .../ckpt-#: "
                    r"\+35\.0 ms", text) and "how sure medium: beyond the spread" in text, text
    more = write(where / "c", [calls("/w/b", 400)[:100] + [("read", "/w/big", 500, 30000, None)]])
    less = write(where / "d", [calls("/w/b", 50)[:100] + [("read", "/w/big", 500, 60000, None)]])
    text = told("--no-index", more, less)
    assert "the most in open of /w/b/ckpt-#: -35.0 ms, while others took more" in text, text
    back = told("--no-index", b, a)
    assert "faster than A in I/O" in back and "nearly all in open of .../ckpt-#: -35.0 ms" in back, back


def test_groups_of_ranks(where):
    """Ranks that do about as much are one line; a rank that one run alone has is another."""
    def job(ranks, first):
        return [steady(100 + r, n=400 if r == 0 else 40 + r, mean=first if r == 0 else 100,
                       moved=4096 if r % 2 else 100_000) for r in range(ranks)]
    a, b = write(where / "a", job(6, 100)), write(where / "b", job(8, 200))
    answer = compare("--no-index", a, b)
    got = {line["ranks"]: (line["count"]["a"], line["count"]["b"]) for line in answer["ranks"]}
    assert got == {"0": (400, 400), "1,3,5": (129, 129), "2,4": (86, 86), "6": (0, 46), "7": (0, 47)}, got
    expect_table([line for line in answer["ranks"]], [Run(a), Run(b)],
                 lambda e: {"ranks": {0: "0", 2: "2,4", 4: "2,4", 6: "6", 7: "7"}.get(e["rank"], "1,3,5")}, 10**9,
                 lambda e: class_of(e))
    assert line_of(answer, "ranks", ranks="0")["time_ns"]["spread"] == "beyond"
    assert line_of(answer, "ranks", ranks="1,3,5")["time_ns"]["spread"] in ("same", "within")
    make(where / "none")
    assert compare("--no-index", a, where / "none")["ranks"] == []


def test_aggregates_alone(where):
    """Runs of which no event is kept: calls and files are compared all the same."""
    for seed in (1, 2):
        make(where / f"rows{seed}", processes=9, seed=seed, keep=0)
        make(where / f"all{seed}", processes=9, seed=seed)
    rows, all_ = (compare(where / f"{k}1", where / f"{k}2") for k in ("rows", "all"))
    for answer in (rows, all_):
        for out in (line["alone"] for table in ("total", "calls") for line in answer[table] if line["alone"]):
            assert out.pop("since_ns") is None or answer is all_  # that, and the cost from there on, takes slices of time
            out.pop("cost_ns")
    assert rows["total"] == all_["total"] and rows["calls"] == all_["calls"]  # nine processes: no slices are needed
    def known(answer):
        return [{k: f[k] for k in ("pattern", "count", "bytes")} for f in sorted(answer["files"], key=str)
                if f.update(time_ns={}, time_p50_ns={}, time_p95_ns={}, time_p99_ns={}) is None]
    assert sorted(map(str, known(rows))) == sorted(map(str, known(all_)))


def test_files_counted_by_directory(where):
    """What one run counts by directory alone is neither new nor gone, nor are the files there; all else is compared."""
    make(where / "events", processes=2, fold=0)
    make(where / "rows", processes=2, fold=1, keep=0)
    patterns = {line["pattern"] for line in compare(where / "rows", where / "rows")["files"]}
    assert any(p.endswith("/") for p in patterns), patterns
    for a, b in (("events", "rows"), ("rows", "events")):
        for metric in ("time", "count", "bytes"):
            done = dftmerge("compare", "--json", "--fail-over", "1000", "--metric", metric, where / a, where / b)
            assert not json.loads(done.out)["worse"], done.out
        answer = compare(where / a, where / b)
        assert {line[m]["spread"] for line in answer["calls"] for m in ("count", "bytes")} == {"same"}
        changed = [line for line in answer["files"] if line["count"]["spread"] != "same"]
        assert changed and {line[m]["spread"] for line in changed for m in ("count", "time_ns")} <= {"unknown"}, changed
        assert any(None in (line["count"]["a"], line["count"]["b"]) for line in changed), changed
        text = told("--top", "0", where / a, where / b)
        assert not {"new", "gone", "beyond"} & set(text.split()), text
    assert {line["count"]["spread"] for line in compare(where / "rows", where / "rows")["files"]} == {"same"}


def test_what_both_know(where):
    """One run without events, or a part of one: what it cannot know is unknown, and nothing is new or gone for that."""
    for seed in (1, 2):
        make(where / f"rows{seed}", processes=9, seed=seed, keep=0)
        make(where / f"all{seed}", processes=9, seed=seed)
    (where / "mixed1").mkdir()
    for i, (rows, full) in enumerate(zip(sorted((where / "rows1").iterdir()), sorted((where / "all1").iterdir()))):
        shutil.copy(rows if i % 2 else full, where / "mixed1")
    for a, b, who in (("rows1", "all1", "A"), ("all1", "rows1", "B"), ("mixed1", "all1", "A"), ("mixed1", "rows1", "A and B")):
        answer = compare(where / a, where / b)
        assert answer["same"] and answer["not_compared"].endswith(f"no events were kept of processes of {who}"), (a, b)
        text = dftmerge("compare", where / a, where / b).out.decode()
        assert answer["not_compared"] in " ".join(text.split()) and not {"new", "gone"} & set(text.split()), text
    whole = compare(where / "all1", where / "all2")
    assert whole["not_compared"] is None
    for a, b in (("rows1", "all2"), ("all1", "rows2"), ("mixed1", "all2")):
        answer = compare(where / a, where / b)
        for table in ("calls", "files", "regions"):
            counted = [sorted(([line.get(k) for k in ("cat", "name", "pattern")], *(line[m][s] for m in MEASURES[:3] for s in "ab"))
                              for line in one[table]) for one in (answer, whole)]
            assert counted[0] == counted[1], (a, b, table)
        for line in answer["files"]:
            unknown = [line[m] for m in MEASURES[3:]]
            assert all(u["spread"] == "unknown" and u["percent"] is None and None in (u["a"], u["b"]) for u in unknown), line
        text = dftmerge("compare", where / a, where / b).out.decode()
        assert " in " in text and " of /" not in " ".join(text.partition("\n\n")[0].split()), text
        found = line_of(compare("--file", "*", where / a, where / b), "total")
        assert all(found[m][side] for m in ("count", "bytes") for side in "ab"), found


def test_csv_and_text(where):
    """CSV says what JSON says; text fits."""
    make(where / "a", ranks=1, processes=2, seed=1)
    make(where / "b", ranks=1, processes=2, seed=2)
    answer = compare(where / "a", where / "b")
    text = dftmerge("compare", "--csv", where / "a", where / "b").out.decode("utf-8", "surrogateescape")
    lines = list(csv.DictReader(io.StringIO(text, newline="")))
    wanted = [(t, line) for t in ("total", "calls", "regions", "files", "ranks") for line in answer[t]]
    assert len(lines) == len(wanted)
    for line, (table, want) in zip(lines, wanted):
        assert line["table"] == table
        for key in ("cat", "name", "pattern"):
            assert csv_text(line[key]) == want.get(key, "")
        assert line["ranks"] == want.get("ranks", "").replace(",", " ")
        for m in MEASURES:
            got = (line[f"{m}_a"], line[f"{m}_b"], line[f"{m}_spread"])
            assert got == ("" if want[m]["a"] is None else str(want[m]["a"]),
                           "" if want[m]["b"] is None else str(want[m]["b"]), want[m]["spread"])
    by_count = [abs(c["count"]["b"] - c["count"]["a"]) for c in compare("--sort", "count", where / "a", where / "b")["calls"]]
    assert by_count == sorted(by_count, reverse=True) and len(set(by_count)) > 3
    assert len(compare("--top", "2", where / "a", where / "b")["calls"]) == 2
    for width in (80, 100, 160):
        text = dftmerge("compare", where / "a", where / "b", env={"COLUMNS": str(width)}).out.decode()
        tables = text[text.index("\nCalls by"):]
        assert "\x1b" not in text and max(map(len, tables.splitlines())) <= width, (width, text)


def test_rows_have_names(where):
    """At any width each row says what it is about, and no two rows say the same, which is worth more than the width."""
    files = [f"/data/{a}/include/{b}/certificates_and_more.h" for a, b in (("first", "openssl"), ("second", "openssl"), ("first", "node/openssl"))]
    def job(mean):
        calls = [(call, file, 0, mean + i, 4096) for i, file in enumerate(files) for call in ("read", "posix_fallocate", "posix_fadvise")]
        return [[(*c[:2], 1000 * i, *c[3:]) for i, c in enumerate(calls * 20)]]
    a, b = write(where / "a", job(100)), write(where / "b", job(900))
    for width in (40, 60, 80, 100):
        text = dftmerge("compare", "--no-index", a, b, env={"COLUMNS": str(width)}).out.decode()
        tables = [part.splitlines()[1:] for part in text.split("\n\n")[2:]]
        calls = {line.split()[0] for line in tables[0][1:]}
        assert tables[0][0].startswith("call ") and calls == {"read", "posix_fallocate", "posix_fadvise"}, (width, text)
        names = [line.split("  ")[0] for line in tables[1][1:]]
        assert tables[1][0].startswith("pattern ") and len(set(names)) == len(names) == 3 and all(len(n) >= 14 for n in names), (width, text)
        assert all(len(line) <= width or line.startswith("/data/") for table in tables for line in table), (width, text)


def repetition(where, name, number, mean, **more):
    """A run of four ranks, a minute after the one before."""
    return write(where / f"{name}{number}", [steady(1000 * mean + 10 * number + r, mean=mean, **more) for r in range(4)],
                 at=60 * (number + (30 if name == "b" else 0)))


def dealt(a, b):
    """How many of all ways to deal these values have each U, equal ones counting a half: {2 U: ways}."""
    both, ways = a + b, collections.Counter()
    for chosen in itertools.combinations(range(len(both)), len(a)):
        others = [both[i] for i in range(len(both)) if i not in chosen]
        ways[sum((both[i] > o) * 2 + (both[i] == o) for i in chosen for o in others)] += 1
    return ways


def student(a, b):
    """The two-sided chance of t, by adding up its density."""
    logs = [[math.log1p(v) for v in side] for side in (a, b)]
    freedom = len(a) + len(b) - 2
    squares = sum((v - statistics.mean(side)) ** 2 for side in logs for v in side)
    if squares < 1e-20:
        return 0
    t = abs(statistics.mean(logs[0]) - statistics.mean(logs[1])) / math.sqrt(squares / freedom * (1 / len(a) + 1 / len(b)))
    n, density = 200_000, math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
    return max(0, 1 - 2 * sum(density * (1 + ((i + 0.5) * t / n) ** 2 / freedom) ** (-(freedom + 1) / 2) * t / n for i in range(n)))


def judged(a, b, is_counted):
    """The verdict on values of repetitions, how sure it is, its chance and interval; a second time, for lines that are
    one test."""
    least, (before, after) = min(len(a), len(b)), [statistics.median(v) for v in (a, b)]
    by_ranks = 2 / math.comb(len(a) + len(b), len(a)) <= 0.05
    surest = "high" if least >= 3 else "medium" if least == 2 else "low"
    if len({*a}) == len({*b}) == 1 and (is_counted or a[0] == b[0]):
        return "beyond" if a[0] != b[0] else "same", surest, None, None
    ways, distinct = dealt(a, b), dealt(list(range(len(a))), list(range(len(a), len(a) + len(b))))
    if by_ranks:
        own = sum((x > y) * 2 + (x == y) for x in a for y in b)
        chance = sum(n for u, n in ways.items() if abs(u - len(a) * len(b)) >= abs(own - len(a) * len(b))) / sum(ways.values())
    else:
        chance = student(a, b) if max(a) < min(b) or max(b) < min(a) else 1
    pairs, trim = sorted(y - x for x in a for y in b), 0
    while 2 * sum(n for u, n in distinct.items() if u <= 2 * (trim + 1)) <= 0.05 * sum(distinct.values()):
        trim += 1
    low, high = pairs[trim], pairs[-1 - trim]
    confidence = 1 - 2 * sum(n for u, n in distinct.items() if u <= 2 * trim) / sum(distinct.values())
    told = chance, (low, high, confidence)
    if chance <= 0.05 and before != after and (is_counted or abs(after - before) * 200 >= before):
        is_sure = chance <= (0.01 if by_ranks else 0.001)
        return "beyond", surest if is_sure else {"high": "medium"}.get(surest, "low"), *told
    most = max(abs(low), abs(high)) / before
    return "within", "high" if most <= 0.05 and confidence >= 0.95 else "medium" if most <= 0.25 and confidence >= 0.9 else "low", *told


def test_repetitions(where):
    """Several runs a side: medians, ranges and verdicts are those of the single runs, in whatever order."""
    a = [repetition(where, "a", i, 100) for i in range(5)]
    b = [repetition(where, "b", i, 133) for i in range(4)]
    same = [repetition(where, "c", i, 100) for i in range(5, 8)]
    single = {path: compare("--no-index", path, path) for path in (*a, *b, *same)}

    def of(path, measure, key):
        return next(line[measure]["a"] for line in single[path][key] if key != "files" or line["pattern"] == "/data/in")
    seen = set()
    for left, right in ((a[:3], b[:3]), (a[:3], same), (a, b), (a[:2], b[:2]), (a[:1], b[:3]), (b[:3], a[:3]), (a[2::-1], b[2::-1])):
        answer = compare("--no-index", *left, "--", *right)
        assert [[run["paths"] for run in answer[side]["repetitions"]] for side in "ab"] == [[[str(p)] for p in s] for s in (left, right)]
        for measure in MEASURES:
            for key in ("total", "calls", "files"):
                got = answer[key][0][measure]
                values = [[of(path, measure, key) for path in side] for side in (left, right)]
                assert (got["a_range"], got["b_range"]) == tuple([min(v), max(v)] for v in values), (measure, key, got)
                assert all(abs(got[side] - statistics.median(v)) <= 0.5 for side, v in zip("ab", values)), (measure, key, got, values)
                spread, sure, chance, interval = judged(*values, measure in ("count", "bytes"))
                assert (got["spread"], got["sure"]) == (spread, sure), (measure, key, got, values, chance)
                assert (got["chance"] is None) == (chance is None) and abs((got["chance"] or 0) - (chance or 0)) < 1e-6, (measure, got, chance)
                told_interval = got["interval"] and tuple(got["interval"][k] for k in ("low", "high", "confidence"))
                assert (told_interval is None) == (interval is None), (got, interval)
                assert not interval or all(abs(x - y) < 1e-9 for x, y in zip(told_interval, interval)), (got, interval)
        times = sorted(run["time_ns"] for run in answer["a"]["repetitions"])
        middle = next(run for run in answer["a"]["repetitions"] if run["time_ns"] == times[(len(times) - 1) // 2])
        assert answer["a"]["paths"] == middle["paths"]
        total = answer["total"][0]["time_ns"]
        assert answer["sure"] == total["sure"], answer["why_sure"]
        seen.add((len(left), len(right), total["spread"], total["sure"]))
    assert {(3, 3, "beyond", "high"), (5, 4, "beyond", "medium"), (3, 3, "within", "medium")} <= seen, seen
    assert {(n, m, spread) for n, m, spread, _ in seen} >= {(2, 2, "beyond"), (1, 3, "beyond")}, seen
    text = told("--no-index", *a[:3], "--", *b[:3])
    assert re.match(r"B is \d\d % slower than A in I/O: ", text) and re.search(
        r"how sure high: 3 runs of A against 3 of B: the medians are [\d.]+ ms apart, [\d.]+x what those of . alone "
        r"differ by \([\d.]+ (ms|us)\); chance alone does as much in (0\.0\d|less than 0\.01) % of cases; the difference is "
        r"\+[\d.]+ ms to \+[\d.]+ ms \(\+\d\d[.\d]* % to \+\d\d[.\d]* %\) at 90 % confidence; with fewer than 5 runs a side all I/O "
        r"alone is tested A ", text), text
    assert re.search(r"A \S+/a0, \S+/a1, \S+/a2 3 runs; the one in the middle has 4 processes, ", text), text
    text = told("--no-index", *a[:3], "--", *same)
    assert text.startswith("A and B do not differ in I/O by more than runs do: ") and " alone differ by " in text, text
    assert "of one run of A nothing is known about its spread" in told("--no-index", a[0], "--", *b[:2])
    # What fails is what the repetitions say; options stand anywhere.
    assert compare(*a[:3], "--no-index", "--", "--fail-over", "10%", *b[:3], "--metric", "time", expect=1)["worse"]
    assert not compare("--no-index", *a[:3], "--", *same, "--fail-over", "0")["worse"]


def test_a_cold_run(where):
    """One cold run widens the range of its side: the sides differ all the same, and the run is named."""
    a = [repetition(where, "a", i, mean) for i, mean in enumerate((1000, 410, 420))]
    b = [repetition(where, "b", i, 300 + 10 * i, n=40, moved=100) for i in range(3)]
    text = told("--no-index", *a, "--", *b)
    assert re.match(r"B is [67]\.\dx faster than A in I/O: ", text), text
    assert re.search(r"how sure medium: 3 runs of A against 3 of B: .*; A1 \(\S+/a0\) is an outlier: [78]\d\d ms, the others "
                     r"3\d\d ms to 3\d\d ms \(a cold cache\?\)", text), text
    assert compare("--no-index", *a, "--", *b)["total"][0]["time_ns"]["spread"] == "beyond"
    text = told("--no-index", "--fail-over", "10%", *b, "--", *a, expect=1)
    assert text.startswith("B takes ") and "worse: time of all I/O" in text, text
    assert "outlier" not in told("--no-index", *a[1:], "--", *b)
    # A fifth run more, and the cold one decides nothing, even where it lies in the range of the other side.
    many = [repetition(where, "c", i, mean) for i, mean in enumerate((1000, 100, 101, 102, 103))]
    more = [repetition(where, "d", i, mean) for i, mean in enumerate((900, 950, 1020, 1050, 1080))]
    total = compare("--no-index", *many, "--", *more)["total"][0]["time_ns"]
    assert (total["spread"], total["sure"]) == ("beyond", "medium"), total


def test_the_first_line_and_what_fails(where):
    """Where all I/O does not differ, the first line still says what failed, and that calls changed."""
    def job(i, opens, mean):
        return [steady(i) + [("open", f"/data/f{k}", 300_000 + 5000 * k, opens + k % 3 + i, None) for k in range(40)] +
                [("fsync", "/data/out", 900_000, mean, None)]]
    means = (10_000, 40_000, 70_000, 20_000, 50_000, 60_000)
    a = [write(where / f"a{i}", job(i, 50, mean), at=60 * i) for i, mean in enumerate(means)]
    b = [write(where / f"b{i}", job(i, 90, mean), at=600 + 60 * i) for i, mean in enumerate(means)]
    plain = told("--no-index", *a, "--", *b)
    assert plain.startswith("A and B do not differ in I/O by more than runs do: "), plain
    assert re.search(r"how sure low: 6 runs of A against 6 of B: ", plain), plain  # the interval is wide: nobody knows that nothing differs
    text = told("--no-index", "--fail-over", "10%", *a, "--", *b, expect=1)
    assert text.startswith('B is worse than A by more than 10 % in time (see "worse" below); as a whole they do not differ in I/O by more than '
                           'runs do: '), text
    assert re.search(r"worse: time of open \+\d\d %", text), text
    # Of three runs a side nobody can tell that of a line among several: it fails nothing.
    answer = compare("--no-index", "--fail-over", "10%", *a[:3], "--", *b[:3])
    assert [line_of(answer, "calls", name="open")["time_ns"][key] for key in ("spread", "sure", "chance")] == ["unknown", "low", None], answer
    text = told("--no-index", "--fail-over", "10%", *a[:3], "--", *b[:3])
    assert ", but in the runs in the middle open" not in text and re.search(
        r"not worse for sure: time of open \+\d\d % \(limit 10 %\), but whether by chance is not known ", text), text
    half = [write(where / f"c{i}", [[(*c[:3], c[3] * 2, c[4]) for c in job(i, 50, mean)[0][::2]]], at=1200 + 60 * i)
            for i, mean in enumerate(means)]
    text = told("--no-index", *a, "--", *half)
    assert text.startswith("B makes 50 % fewer calls and moves 50 % less bytes; as a whole they do not differ in I/O by more than runs do: "), text
    none = [write(where / f"d{i}", [[(*c[:4], None) for c in job(i, 50, mean)[0]]], at=1800 + 60 * i) for i, mean in enumerate(means)]
    text = told("--no-index", *a, "--", *none)
    assert text.startswith("B moves no bytes; B takes as long as A in I/O "), text
    text = told("--no-index", *none, "--", *a)
    assert text.startswith("B moves bytes where A has none; B takes as long as A in I/O "), text
    # One run a side, slower, and nobody knows: it is not told that it is not worse.
    few = [write(where / name, [steady(1, n=5, mean=mean)]) for name, mean in (("few", 100), ("slow", 500))]
    text = told("--no-index", "--fail-over", "10%", *few, expect=3)
    assert re.search(r" not worse for sure: time of all I/O 5\.0x \(limit 10 %\), but whether by chance is not known ", text), text


def noisy(where, name, i, seed, times=1, names=("read", "write", "open", "close", "fsync", "lseek", "unlink", "rename", "pread", "pwrite")):
    """A run of ten calls, each with its file; each as a whole differs by 10 % from run to run."""
    chance, calls, at = random.Random(seed), [], 0
    for k, call in enumerate(names):
        mean = 2000 * times * math.exp(chance.gauss(0, 0.1))
        for _ in range(12):
            calls.append((call, f"/d{k}/f", at, max(1, round(mean * math.exp(chance.gauss(0, 0.2)))), None))
            at += calls[-1][3] + 100
    return write(where / f"{name}{i}", [calls], at=60 * i)


def test_equal_runs_do_not_fail(where):
    """Runs that differ by chance alone fail in one comparison of twenty at most, however few and of however many lines;
    slower ones do."""
    for n, rounds in ((2, 10), (3, 10), (6, 10)):
        alarms, found = 0, 0
        for k in range(rounds):
            runs = [[noisy(where / f"{n}-{k}", side, 30 * s + i, f"{n} {k} {side} {i}", 1.4 if side == "c" else 1) for i in range(n)]
                    for s, side in enumerate("abc")]
            for other in runs[1:]:
                done = run(DFTMERGE, "compare", "--no-index", "--fail-over", "10%", *runs[0], "--", *other)
                assert done.code in (0, 1), done
                alarms += other is runs[1] and done.code
                found += other is runs[2] and done.code
        assert alarms <= 1 and found >= (3 if n < 3 else 8), (n, alarms, found)


def test_one_run_in_the_range_of_the_others(where):
    """Twenty runs a side; B takes twice as long, and two of A were as slow: it is found. The more runs, the smaller
    what is found."""
    means = [1000, 1010, 990, 980, 1020, 1000] * 3 + [2100, 2100]
    a = [write(where / f"a{i}", [steady(i, n=30, mean=mean)], at=60 * i) for i, mean in enumerate(means)]
    b = [write(where / f"b{i}", [steady(50 + i, n=30, mean=2000 + i)], at=2000 + 60 * i) for i in range(20)]
    answer = compare("--no-index", "--fail-over", "10%", *a, "--", *b, expect=1)
    total = answer["total"][0]["time_ns"]
    assert (total["spread"], total["sure"]) == ("beyond", "high") and total["chance"] < 0.001, total
    assert 0.95 <= total["interval"]["confidence"] < 0.96 and 0 < total["interval"]["low"], total
    # 25 runs: the normal law has taken over, and agrees.
    more = [write(where / f"d{i}", [steady(100 + i, n=30, mean=1000)], at=4000 + 60 * i) for i in range(5)]
    assert compare("--no-index", *a, *more, "--", *b)["total"][0]["time_ns"]["spread"] == "beyond"


def test_all_of_it_is_asked_first(where):
    """All I/O has four fifths of the level, however many lines differ in other ways. Of five and five runs two pairs
    may be out of order."""
    totals, part = ((100, 101, 102, 103, 106), (104, 105, 107, 108, 109)), (41, 52, 43, 50, 45, 48, 46, 53, 42, 51)
    runs = [[], []]
    for i, (side, total) in enumerate([(0, t) for t in totals[0]] + [(1, t) for t in totals[1]]):
        runs[side].append(write(where / str(i), [[("read", "/a/in", 0, 1000 * part[i], 1), ("write", "/b/out", 200_000, 1000 * (total - part[i]), 1)]], at=60 * i))
    total = compare("--no-index", *runs[0], "--", *runs[1])["total"][0]["time_ns"]
    assert total["spread"] == "beyond" and abs(total["chance"] - 8 / 252 * 5 / 4) < 1e-9, total


def test_counts_that_vary(where):
    """Calls that vary by chance are tested like times; what all runs of each side have alike is exact, of two runs and
    more."""
    def job(i, calls):
        return [[("read", "/data/in", 1000 * k, 100 + i, 4096) for k in range(calls)]]
    a, b, more, fixed = ([write(where / f"{name}{i}", job(i, calls), at=60 * (i + 10 * at)) for i, calls in enumerate(many)]
                         for at, (name, many) in enumerate((("a", (50, 60, 55, 58, 52)), ("b", (53, 61, 54, 57, 59)), ("c", (80, 84, 90, 88, 81)), ("d", (70,) * 5))))
    answer = compare("--no-index", "--metric", "count", "--fail-over", "1%", *a, "--", *b)
    count = line_of(answer, "calls", name="read")["count"]
    assert count["spread"] == "within" and 0.05 < count["chance"] <= 1 and count["sure"] == "medium", count
    assert "calls: within what runs differ by" in answer["evidence"], answer["evidence"]
    answer = compare("--no-index", "--metric", "count", "--fail-over", "10%", *a, "--", *more, expect=1)
    count = line_of(answer, "calls", name="read")["count"]
    assert (count["spread"], count["chance"]) == ("beyond", 2 / 252), count
    # One side alone that varies: no longer exact. Neither does: exact.
    assert line_of(compare("--no-index", *fixed, "--", *more), "calls", name="read")["count"]["chance"] == 2 / 252
    same = [write(where / f"e{i}", job(i, 71), at=6000 + 60 * i) for i in range(2)]
    count = line_of(compare("--no-index", *fixed[:2], "--", *same), "calls", name="read")["count"]
    assert (count["spread"], count["sure"], count["chance"]) == ("beyond", "medium", None), count
    # Of two runs a side a call is exact only where all calls are: else two alike are no rarity.
    def pair(name, at, reads, opens):
        return [write(where / f"{name}{i}", [[("read", "/data/in", 1000 * k, 100, 4096) for k in range(n)] +
                                             [("open", "/data/in", 200_000 + 1000 * k, 100, None) for k in range(opens)]], at=8000 + 60 * (at + i))
                for i, n in enumerate(reads)]
    f, g, h = pair("f", 0, (60, 66), 20), pair("g", 2, (61, 64), 40), pair("h", 4, (60, 60), 20)
    for left, right, spread in ((f, g, "unknown"), (h, pair("i", 6, (60, 60), 40), "beyond")):
        answer = compare("--no-index", "--metric", "count", *left, "--", *right)
        assert line_of(answer, "calls", name="open")["count"]["spread"] == spread, (spread, answer)
    few = line_of(compare("--no-index", *a[:2], "--", *more[:2]), "calls", name="read")["count"]
    assert few["spread"] in ("within", "beyond") and few["chance"] is not None, few


def test_calls_of_some_repetitions(where):
    """A call that one repetition of a side makes is none of its side's. Where that varies, so may a call that all three
    of B make and none of A; where no number of calls varies, it is B's. Directories of each run are the same."""
    def job(i, directory, extra):
        return [steady(i, n=50) + [("write", f"/scratch/{directory}/ckpt-{k}", 60_000 + 100 * k, 10 + k, 10) for k in range(6)] + extra]
    odd = [("unlink", "/tmp/x", 90_000, 40, None)]
    a = [write(where / f"a{i}", job(i, f"base{'xyz'[i]}", odd if i == 1 else []), at=60 * i) for i in range(3)]
    b = [write(where / f"b{i}", job(10 + i, f"new{'xyz'[i]}", [("fsync", "/data/out", 95_000, 50 + i, None)]), at=300 + 60 * i)
         for i in range(3)]
    answer = compare("--no-index", *a, "--", *b)
    unlink, fsync = (line_of(answer, "calls", name=name) for name in ("unlink", "fsync"))
    assert (unlink["count"]["a"], unlink["count"]["a_range"], unlink["count"]["spread"]) == (0, [0, 1], "within"), unlink
    assert (fsync["count"]["b"], fsync["count"]["b_range"], fsync["count"]["spread"], fsync["time_ns"]["spread"]) == (1, [1, 1], "unknown", "unknown"), fsync
    assert run(DFTMERGE, "compare", "--no-index", "--fail-over", "1%", "--metric", "count", *a, "--", *b).code == 0
    fixed = [write(where / f"c{i}", job(i, f"base{'xyz'[i]}", []), at=60 * i) for i in range(3)]
    assert line_of(compare("--no-index", *fixed, "--", *b), "calls", name="fsync")["count"]["spread"] == "beyond"
    more = [write(where / f"d{i}", job(20 + i, f"base{'vw'[i]}", []), at=900 + 60 * i) for i in range(2)]
    much = [write(where / f"e{i}", job(30 + i, f"new{'vw'[i]}", [("fsync", "/data/out", 95_000, 50, None)]), at=1200 + 60 * i) for i in range(2)]
    assert line_of(compare("--no-index", *a, *more, "--", *b, *much), "calls", name="fsync")["count"]["spread"] == "beyond"
    patterns = {line["pattern"]: (line["count"]["a_range"], line["count"]["b_range"]) for line in answer["files"]}
    assert patterns[".../ckpt-#"] == ([6, 6], [6, 6]), patterns
    assert "only in B: fsync (1)" in answer["evidence"] and "unlink" not in answer["evidence"], answer["evidence"]


def test_parts_and_repetitions(where):
    """Paths whose processes lived together are one run; --parts says it of all; a path twice counts once."""
    job = [steady(i) for i in range(4)]
    whole = write(where / "whole", job)
    for rank in range(4):
        (where / f"node{rank}").mkdir()
        shutil.copy(whole / f"a{rank}.pfw", where / f"node{rank}")
    nodes, later = [where / f"node{rank}" for rank in range(4)], write(where / "later", job, at=60)
    answer = compare("--no-index", *nodes, "--", whole)
    assert answer["same"] and [run["paths"] for run in answer["a"]["repetitions"]] == [[str(path) for path in nodes]]
    answer = compare("--no-index", *nodes, later, "--", whole)
    assert [len(run["paths"]) for run in answer["a"]["repetitions"]] == [4, 1]
    assert " + ".join(map(str, nodes)) + ", " + str(later) in told("--no-index", *nodes, later, "--", whole)
    answer = compare("--no-index", "--parts", whole, later, "--", whole)
    assert len(answer["a"]["repetitions"]) == 1 and answer["total"][0]["count"]["a"] == 2 * answer["total"][0]["count"]["b"]
    answer = compare("--no-index", whole, whole, "--", later)
    assert len(answer["a"]["repetitions"]) == 1 and answer["total"][0]["count"]["a"] == answer["total"][0]["count"]["b"]
    done = run(DFTMERGE, "compare", *[whole] * 65, "--", later)
    assert done.code == 2 and "64 repetitions at most" in done.err and "--parts" in done.err, done


def test_it_says_what_is_odd(where):
    """A side without traces is named; the same path on both sides; what is missing; a narrow terminal, and a pipe
    that is closed."""
    a, b = (write(where / name, [steady(i + 5 * n) for i in range(3)], at=60 * n) for n, name in enumerate(("a", "b")))
    (where / "empty").mkdir()
    for arguments, side in (((a, where / "empty"), "B"), ((a, b, "--", b, where / "empty"), "B"), ((where / "empty", "--", b), "A")):
        done = run(DFTMERGE, "compare", *arguments)
        assert done.code == 3 and f"that is of side {side}: {where / 'empty'}" in done.err and not done.out, done
    assert "is on both sides" in run(DFTMERGE, "compare", "--no-index", a, "--", a, b).err
    assert "is on both sides" not in run(DFTMERGE, "compare", "--no-index", a, b).err
    for width in ("20", "60", "80", "200"):
        done = run(DFTMERGE, "compare", "--no-index", a, b, env={"COLUMNS": width, "LANG": "C"})
        lines = done.out.decode("ascii").splitlines()
        prose = lines[:lines.index("Calls by change")]
        longest = max(len(word) for line in prose for word in line.split())
        assert done.code == 0 and max(map(len, prose)) <= max(int(width) if width != "20" else 100, 10 + longest), (width, prose)
    closed = subprocess.run(f"'{DFTMERGE}' compare --no-index '{a}' '{b}' | true", shell=True, stderr=subprocess.PIPE, check=False)
    assert b"Broken" not in closed.stderr or b"standard output" in closed.stderr, closed.stderr
    broken = where / "broken"
    shutil.copytree(b, broken)
    (broken / "a1.pfw").write_bytes(b"\x1f\x8b\x00no gzip")
    answer = compare("--no-index", a, broken, expect=3)
    assert answer["b"]["lossy"] and answer["sure"] == "low" and "something is missing from the traces" in answer["why_sure"], answer["why_sure"]


def test_more_files_than_fit(where):
    """Files of more patterns than there is memory for: coarser, step by step, which is told; all else stays as it is."""
    def letters(number):
        return "".join("ghijklmnop"[int(digit)] for digit in f"{number:03}")
    for side in "ab":
        calls = [("read", f"/data/{letters(number % 24)}/{letters(number)}", 1000 * (900 * turn + number), 100 + turn, 4096)
                 for turn in range(4) for number in range(900)]
        write(where / side, [calls if side == "a" else [(*call[:3], call[3] + 1, 8192) for call in calls]])
    whole, seen = compare(where / "a", where / "b"), []
    assert not whole["notes"] and len(whole["files"]) == 900
    for budget in ("10000000", "600000", "350000", "40000", "1"):
        answer = compare(where / "a", where / "b", env={"DFTMERGE_GROUP_BYTES": budget})
        files, notes = answer.pop("files"), answer.pop("notes")
        assert answer == {key: value for key, value in whole.items() if key not in ("files", "notes")}, budget
        if files:
            assert sum(line["count"]["a"] for line in files) == 3600
            assert sum(line["bytes"]["b"] for line in files) == 3600 * 8192
        if len(files) == 24:
            assert {line["pattern"] for line in files} == {f"/data/{letters(n)}" for n in range(24)}
        seen.append((len(files), "".join(notes)))
    assert [n for n, _ in seen] == [900, 900, 24, 24, 0], seen
    for (_, note), words in zip(seen, ("", "spread is not known", "put together by directory", "the whole run", "not compared")):
        assert words in note and bool(words) == bool(note), seen


def test_filters(where):
    """The filters of other commands hold for both runs."""
    make(where / "a", ranks=1, processes=3, seed=1)
    make(where / "b", ranks=1, processes=3, seed=2)
    answer = compare("--name", "read,p*", "--rank", "1-2", where / "a", where / "b")
    for side in "ab":
        want = {g["name"]: g["count"] for g in summary("--name", "read,p*", "--rank", "1-2", where / side)["groups"]}
        assert {line["name"]: line["count"][side] for t in ("calls", "regions") for line in answer[t]} == want


def test_usage(where):
    """Wrong use is 2, an input that cannot be read 3: 1 is kept for what is worse."""
    make(where / "a")
    a = where / "a"
    for arguments in ([a], [a, a, a], [], ["--", a], [a, "--"], ["--fail-over", "x", a, a], ["--fail-over", "-5%", a, a],
                      ["--fail-over", "10%%", a, a], ["--fail-over", "nan", a, a], ["--metric", "speed", a, a], ["--sort", "speed", a, a],
                      ["--json", "--csv", a, a]):
        done = run(DFTMERGE, "compare", *arguments)
        assert done.code == 2 and done.err and not done.out, (arguments, done)
    for arguments in ([a, where / "nothing"], [where / "nothing", a]):
        assert run(DFTMERGE, "compare", *arguments).code == 3
        assert run(DFTMERGE, "compare", "--fail-over", "10%", *arguments).code == 3
    slow = write(where / "slow", [steady(1, mean=900)])
    fast, torn = write(where / "fast", [steady(1)]), write(where / "torn", [steady(1)])
    (torn / "a0.pfw").write_text((torn / "a0.pfw").read_text()[:-40])
    nothing = run(DFTMERGE, "compare", "--no-index", "--fail-over", "9", "--name", "nosuch", fast, slow)
    assert nothing.code == 3 and "nothing is compared" in nothing.err, nothing
    assert b"do not differ" not in nothing.out and b"not worse" not in nothing.out and b"how sure  low: nothing is compared" in nothing.out, nothing
    nothing = compare("--no-index", "--name", "nosuch", fast, fast)
    assert not nothing["same"] and nothing["sure"] == "low" and nothing["headline"].startswith("nothing is compared"), nothing
    for arguments, code in (((fast, slow), 1), ((slow, fast), 0), ((fast, torn), 3), ((torn, slow), 1)):
        assert run(DFTMERGE, "compare", "--no-index", "--fail-over", "50%", *arguments).code == code, arguments
    assert "rank-sum" in dftmerge("compare", "--help").out.decode()
