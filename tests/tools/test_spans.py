# SPDX-License-Identifier: MIT
"""dftmerge spans: every analysis against the same one in Python, over graphs made by chance; the sample of Parsl; bad input."""

import collections
import csv
import datetime
import decimal
import fractions
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import pytest

import reportpage
from tooltest import DFTMERGE, ROOT, dftmerge, make, need_preload, run

SVG = "{http://www.w3.org/2000/svg}"
SAMPLE = ROOT.parent / "shared" / "data" / "spans" / "runinfo" / "monitoring.db"
TABLES = """
    create table span (uuid TEXT PRIMARY KEY, type TEXT NOT NULL, note TEXT);
    create table event (uuid TEXT PRIMARY KEY, span_uuid TEXT REFERENCES span(uuid), time TEXT NOT NULL, type TEXT NOT NULL, note TEXT);
    create table subspan (superspan_uuid, subspan_uuid, key TEXT NOT NULL, note TEXT);
    create table facet (left_uuid, right_uuid, note TEXT);
"""
pytestmark = pytest.mark.skipif("without SQLite" in dftmerge("spans", "types", "x.db", expect=None).err, reason="this dftmerge was built without SQLite")


def database(path, spans=(), events=(), subspans=(), facets=()):
    """spans: (uuid, type); events: (span, time, type); subspans and facets: pairs of uuids."""
    db = sqlite3.connect(path)
    db.executescript(TABLES)
    db.executemany("insert into span values (?, ?, null)", spans)
    db.executemany("insert into event values (?, ?, ?, ?, null)", [(f"e{i}", *event) for i, event in enumerate(events)])
    db.executemany("insert into subspan values (?, ?, 'k', null)", subspans)
    db.executemany("insert into facet values (?, ?, null)", facets)
    db.commit()
    db.close()
    return path


def answer(verb, path, *arguments, **more):
    return json.loads(dftmerge("spans", verb, path, "--json", *arguments, **more).out)


def rows(verb, path, *arguments):
    return list(csv.DictReader(io.StringIO(dftmerge("spans", verb, path, "--csv", *arguments).out.decode())))


# --- the same analyses in Python ----------------------------------------------------------------------------------------


def nanoseconds(text):
    return int((decimal.Decimal(text) * 10**9).to_integral_value(decimal.ROUND_HALF_UP))


class Model:
    """What a database holds, as Python has it: no type of numbers is shared with dftmerge."""

    def __init__(self, path):
        db = sqlite3.connect(path)
        self.types = dict(db.execute("select uuid, type from span"))
        self.events = collections.defaultdict(list)
        for uuid, when, kind in db.execute("select span_uuid, time, type from event"):
            self.events[uuid].append((nanoseconds(when), f"{self.types[uuid]}/{kind}"))
        self.next = collections.defaultdict(set)
        for upper, lower in db.execute("select superspan_uuid, subspan_uuid from subspan"):
            self.next[upper].add(lower)
        for left, right in db.execute("select left_uuid, right_uuid from facet"):
            self.next[left].add(right)
            self.next[right].add(left)
        db.close()

    def roots(self, kind):
        """(first own event, uuid), in that order."""
        uuids = [uuid for uuid, of in self.types.items() if of == kind]
        return [uuid for _, uuid in sorted((min((t for t, _ in self.events[u]), default=float("inf")), u) for u in uuids)]

    def sequence(self, root):
        seen, left = {root}, [root]
        while left:
            found = self.next[left.pop()] - seen
            seen |= found
            left += found
        return sorted(event for uuid in seen for event in self.events[uuid])


def mean(values):
    total, n = sum(values), len(values)
    return (2 * total + n) // (2 * n)


def orderings(model, root):
    """[(ordering, [sequences])], the most common first."""
    found = {}
    for uuid in model.roots(root):
        sequence = model.sequence(uuid)
        if sequence:
            found.setdefault(tuple(kind for _, kind in sequence), []).append([t for t, _ in sequence])
    return sorted(found.items(), key=lambda item: -len(item[1]))  # stable: of equal counts the first one


def text_of(root, found):
    """dnpcsql's form. It computes with doubles, and so do its digits."""
    (ordering, times), lines = found[0], []
    as_doubles = [[float(decimal.Decimal(t) / 10**9) for t in sequence] for sequence in times]
    for i, kind in enumerate(ordering):
        since = [t[i] - t[0] for t in as_doubles]
        before = [t[i] - t[i - 1] if i else 0.0 for t in as_doubles]
        lines.append("%15.9f %15.9f %15.9f-%15.9f %s" % (sum(since) / len(since), sum(before) / len(before), min(before), max(before), kind))
    return "\n".join([f"Looking for events rooted in span type {root}", f"There were {len(found)} different orderings of events",
                      f"Most common count: {len(times)}", "Mean times for most common event sequence (cumul, inter-event)", *lines, ""])


def pair(sequence, first, second):
    """Start and duration from the first event of one kind to the first of the other one that is not before it."""
    start = next((i for i, (_, kind) in enumerate(sequence) if kind == first), None)
    if start is None:
        return None
    ends = [t for i, (t, kind) in enumerate(sequence) if kind == second and i != start and t >= sequence[start][0]]
    return (sequence[start][0], min(ends) - sequence[start][0]) if ends else None


def percentile(values, p):
    return sorted(values)[-(-p * len(values) // 100) - 1]


# --- graphs made by chance ----------------------------------------------------------------------------------------------


def chance(path, seed, spans=60, circles=False, moments=None):
    """Workflows, tasks and tries, other views of them as facets, and edges that nobody would draw."""
    rng = random.Random(seed)
    kinds = {"flow": ["began", "done"], "task": ["in", "out"], "task.try": ["launched", "run", "end"], "other view": ["seen"]}
    all_spans = [(f"u{i}", rng.choice(list(kinds))) for i in range(spans)]
    base = rng.choice([1680774973, 0, -5, 1_000_000_000])
    moments = moments or [decimal.Decimal(base) + decimal.Decimal(rng.randrange(10**9)) / 10 ** rng.randrange(3, 10) for _ in range(spans)]
    events = []
    for uuid, kind in all_spans:
        for event in kinds[kind]:
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                events.append((uuid, f"{rng.choice(moments):f}", event))
    pairs = [(rng.randrange(spans), rng.randrange(spans)) for _ in range(spans // 2)]
    subspans = [(f"u{min(p) if not circles else p[0]}", f"u{max(p) if not circles else p[1]}") for p in pairs]
    facets = [(f"u{rng.randrange(spans)}", f"u{rng.randrange(spans)}") for _ in range(spans // 8)]
    rng.shuffle(events)
    return database(path, all_spans, events, subspans, facets)


def graphs(where):
    """Databases with what Python makes of them."""
    for seed in range(24):
        path = chance(where / f"{seed}.db", seed, 20 + 15 * (seed % 5), circles=seed % 3 == 0,
                      moments=[decimal.Decimal(t) for t in ("9.5", "10.25", "10.250", "100.000000001")] if seed % 4 == 1 else None)
        yield seed, path, Model(path)


def test_types_are_counted(where):
    for seed, path, model in graphs(where):
        got = answer("types", path)
        assert {t["type"]: t["spans"] for t in got["types"]} == collections.Counter(model.types.values()), seed
        counted = collections.Counter(kind for events in model.events.values() for _, kind in events)
        assert {f"{t['type']}/{e['event']}": e["count"] for t in got["types"] for e in t["events"]} == counted, seed
        assert got["events"] == sum(counted.values()) and got["spans"] == len(model.types) and got["unreadable_times"] == 0
        assert [t["type"] for t in got["types"]] == sorted(t["type"] for t in got["types"])
        assert {f"{r['type']}/{r['event']}": int(r["count"]) for r in rows("types", path) if r["event"]} == counted
    text = dftmerge("spans", "types", path).out.decode()
    assert re.search(r"^ +\d+  task\n +\d+      in\n +\d+      out$", text, re.MULTILINE), text


def test_sequences_are_those_of_python(where):
    several = 0
    for seed, path, model in graphs(where):
        for root in sorted(set(model.types.values())):
            found = orderings(model, root)
            got = answer("sequences", path, "--root", root, "--all")
            assert [(o["count"], tuple(o["events"])) for o in got["orderings"]] == [(len(t), o) for o, t in found], (seed, root)
            assert got["different"] == len(found) and got["roots"] == len(model.roots(root))
            assert got["roots_without_events"] == got["roots"] - sum(len(t) for _, t in found)
            several += len(found) > 1
            if not found:
                continue
            ordering, times = found[0]
            for i, step in enumerate(got["most_common"]):
                before = [t[i] - t[i - 1] if i else 0 for t in times]
                assert step == {"event": ordering[i], "since_first_mean_ns": mean([t[i] - t[0] for t in times]), "since_before_mean_ns": mean(before),
                                "since_before_min_ns": min(before), "since_before_max_ns": max(before)}, (seed, root, i)
            text = dftmerge("spans", "sequences", path, "--root", root).out.decode()
            assert text == text_of(root, found), (seed, root)
            everything = dftmerge("spans", "sequences", path, "--root", root, "--all").out.decode()
            assert everything.startswith(text) and everything.count("\nCount: ") == len(found) - 1
            lines = rows("sequences", path, "--root", root, "--all")
            assert [r["event"] for r in lines if r["ordering"] == "1"] == list(ordering) and len(lines) == sum(len(o) for o, _ in found)
            assert [int(r["since_first_mean_ns"]) for r in rows("sequences", path, "--root", root)] == [s["since_first_mean_ns"] for s in got["most_common"]]
    assert several > 20


def test_times_between_are_those_of_python(where):
    measured = 0
    for seed, path, model in graphs(where):
        kinds = sorted({kind for events in model.events.values() for _, kind in events})
        rng = random.Random(seed)
        for first, second in [(rng.choice(kinds), rng.choice(kinds)) for _ in range(4)]:
            root = rng.choice(sorted(set(model.types.values())))
            pairs = [(uuid, pair(model.sequence(uuid), first, second)) for uuid in model.roots(root)]
            pairs = [(uuid, *p) for uuid, p in pairs if p]
            got = answer("between", path, "--root", root, "--from", first, "--to", second)
            assert [(t["root"], t["start_ns"], t["duration_ns"]) for t in got["times"]] == pairs, (seed, root, first, second)
            durations = [p[2] for p in pairs]
            wanted = {"n": len(pairs), **dict.fromkeys(("min_ns", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"))}
            if durations:
                wanted.update(min_ns=min(durations), mean_ns=mean(durations), max_ns=max(durations),
                              **{f"p{p}_ns": percentile(durations, p) for p in (50, 95, 99)})
                text = dftmerge("spans", "between", path, "--root", root, "--from", first, "--to", second).out.decode().splitlines()
                assert len(text) == len(pairs) + 3 and [line.split()[2] for line in text[1:-2]] == [p[0] for p in pairs]
                assert [tuple(nanoseconds(word) for word in line.split()[:2]) for line in text[1:-2]] == [p[1:] for p in pairs]
            else:
                said = dftmerge("spans", "between", path, "--root", root, "--from", first, "--to", second, expect=1)
                assert not said.out and "none has the event --from and then the event --to" in said.err
            assert {name: got[name] for name in wanted} == wanted
            assert [(r["root"], int(r["start_ns"]), int(r["duration_ns"])) for r in rows("between", path, "--root", root, "--from", first, "--to", second)] == pairs
            measured += len(pairs)
    assert measured > 100, measured


def test_states_are_those_of_python(where):
    for seed, path, model in graphs(where):
        root = ("task", "flow")[seed % 2]
        sequences = [s for s in map(model.sequence, model.roots(root)) if s]
        width = [] if seed % 3 else ["--interval", "3ms" if seed % 2 else "0.25"]
        start, end = min(s[0][0] for s in sequences), max(s[-1][0] for s in sequences)
        if width and (end - start) // {"3ms": 3_000_000, "0.25": 250_000_000}[width[1]] > 5000:
            width = []
        got = answer("states", path, "--root", root, *width)
        assert (got["roots"], got["start_ns"], got["end_ns"]) == (len(sequences), start, end), seed
        if width:
            assert got["width_ns"] == {"3ms": 3_000_000, "0.25": 250_000_000}[width[1]]
        stays = collections.defaultdict(list)  # the last event begins a state, which lasts until the end of all
        for s in sequences:
            for (t, kind), (until, _) in zip(s, [*s[1:], (end, None)]):
                stays[kind].append((t, until))
        assert {s["state"]: s["entered"] for s in got["states"]} == {kind: len(of) for kind, of in stays.items()}
        count = max(1, -(-(end - start) // got["width_ns"]))
        for state in got["states"]:
            of = stays[state["state"]]
            assert abs(state["time_seconds"] - sum(b - a for a, b in of) / 1e9) < 1e-6 * max(1, state["time_seconds"])
            assert len(state["means"]) == count, (seed, count)
            for i, value in enumerate(state["means"]):
                first, last = start + i * got["width_ns"], min(end, start + (i + 1) * got["width_ns"])
                inside = sum(max(0, min(b, last) - max(a, first)) for a, b in of)
                assert abs(value - (inside / (last - first) if last > first else 0)) < 1e-9 * (1 + value), (seed, state["state"], i)
        lines = rows("states", path, "--root", root, *width)
        assert [float(r["roots"]) for r in lines if r["state"] == got["states"][0]["state"]] == got["states"][0]["means"]
        assert "Roots in each state" in dftmerge("spans", "states", path, "--root", root).out.decode()


def test_rates_are_those_of_python(where):
    for seed, path, model in graphs(where):
        kinds = sorted({kind for events in model.events.values() for _, kind in events})
        for kind in kinds:
            times = [t for events in model.events.values() for t, of in events if of == kind]
            got = answer("rate", path, "--event", kind)
            counts = collections.Counter((t - min(times)) // got["width_ns"] for t in times)
            assert [i["events"] for i in got["intervals"]] == [counts[i] for i in range(max(counts) + 1)], (seed, kind)
            assert all(i["start_ns"] == min(times) + n * got["width_ns"] for n, i in enumerate(got["intervals"]))
            assert got["events"] == len(times) and (got["start_ns"], got["end_ns"]) == (min(times), max(times))
            assert all(fractions.Fraction(i["per_second"]).limit_denominator(10**9) is not None for i in got["intervals"])
            assert abs(sum(i["per_second"] for i in got["intervals"]) * got["width_ns"] / 1e9 - len(times)) < 1e-6 * len(times)
            assert [int(r["events"]) for r in rows("rate", path, "--event", kind)] == [i["events"] for i in got["intervals"]]
        text = dftmerge("spans", "rate", path, "--event", kinds[0], "--interval", "1000s").out.decode().splitlines()
        assert "a second" in text[0] and nanoseconds(text[1].split()[1]) == 0


def test_the_graph_is_that_of_python(where):
    for seed, path, model in graphs(where):
        db = sqlite3.connect(path)
        edges = collections.Counter()
        for table, word in (("subspan", "subspan"), ("facet", "facet")):
            for a, b in db.execute(f"select * from (select {'superspan_uuid, subspan_uuid' if word == 'subspan' else 'left_uuid, right_uuid'} from {table})"):
                ends = model.types[a], model.types[b]
                edges[(*(sorted(ends) if word == "facet" else ends), word)] += 1
        db.close()
        got = answer("graph", path)
        assert {(e["from"], e["to"], e["kind"]): e["count"] for e in got["edges"]} == edges, seed
        assert {n["type"]: n["spans"] for n in got["nodes"]} == collections.Counter(model.types.values())
        assert {(r["from"], r["to"], r["kind"]): int(r["count"]) for r in rows("graph", path)} == edges
        dot = dftmerge("spans", "graph", path).out.decode()
        names = {f"n{i}": n["type"] for i, n in enumerate(got["nodes"])}
        drawn = {(names[a], names[b], "facet" if "dashed" in more else "subspan"): int(n)
                 for a, b, n, more in re.findall(r'(n\d+) -> (n\d+) \[label="(\d+)"(.*)\]', dot)}
        assert drawn == edges and dot.startswith("digraph") and dot.rstrip().endswith("}")
        picture = draw("graph", path, where / "graph.svg")
        paths = [(p.get("data-kind"), int(p.get("data-count"))) for p in picture.iter(SVG + "path") if p.get("data-kind")]
        assert sorted(paths) == sorted((kind, n) for (a, b, kind), n in edges.items() if a != b)
        assert [int(r.get("data-spans")) for r in picture.iter(SVG + "rect") if r.get("data-spans")] == [n["spans"] for n in got["nodes"]]


# --- pictures -----------------------------------------------------------------------------------------------------------


def draw(verb, path, to, *arguments):
    done = dftmerge("spans", verb, path, "-o", to, *arguments)
    assert not done.out, done.out
    return ElementTree.fromstring(to.read_bytes())


def inside(picture):
    """All that is drawn lies in the picture."""
    _, _, width, height = map(float, picture.get("viewBox").split())
    for bar in picture.iter(SVG + "rect"):
        if bar.get("x"):
            x, y, w, h = (float(bar.get(name)) for name in ("x", "y", "width", "height"))
            assert 0 <= x and 0 <= y and x + w <= width + 1 and y + h <= height + 1, bar.attrib
    assert not any(element.tag.endswith("script") for element in picture.iter())
    return picture


def test_pictures_show_the_numbers(where):
    for seed, path, model in graphs(where):
        root = "task"
        first = "task/in"
        got = answer("between", path, "--root", root, "--from", first, "--to", "task/out")
        if got["n"]:
            of = ["--root", root, "--from", first, "--to", "task/out"]
            durations = [t["duration_ns"] for t in got["times"]]
            for kind in ("scatter", "histogram", "density"):
                picture = inside(draw("between", path, where / "x.svg", *of, "--kind", kind))
                words = " ".join(t.text or "" for t in picture.iter(SVG + "text"))
                assert "From task/in to task/out" in words and f"n {len(durations)}, min" in words, words
                assert "duration" in words
                if kind == "histogram":
                    bins = {(int(r.get("data-from-ns")), int(r.get("data-width-ns"))): int(r.get("data-count")) for r in picture.iter(SVG + "rect") if r.get("data-count")}
                    assert bins == collections.Counter((((d - first_ns) // width) * width + first_ns, width)
                                                       for d in durations for first_ns, width in [(min(b[0] for b in bins), next(iter(bins))[1])]), seed
                else:
                    (shape,) = [p for p in picture.iter(SVG + "path") if p.get("data-count")]
                    assert int(shape.get("data-count")) == len(durations)
                    assert kind == "density" or shape.get("d").count("M") == len(durations)
        picture = inside(draw("states", path, where / "s.svg", "--root", root, "--width", "700", "--height", "350", "--title", "so & so"))
        assert picture.get("width") == "700" and next(picture.iter(SVG + "title")).text == "so & so"
        shown = answer("states", path, "--root", root)
        bands = [p for p in picture.iter(SVG + "path") if p.get("data-band")]
        assert len(bands) == min(8, len(shown["states"]))
        kind = sorted({kind for events in model.events.values() for _, kind in events})[0]
        picture = inside(draw("rate", path, where / "r.svg", "--event", kind))
        counts = [int(r.get("data-count")) for r in picture.iter(SVG + "rect") if r.get("data-count")]
        assert counts == [i["events"] for i in answer("rate", path, "--event", kind)["intervals"] if i["events"]]
    both = dftmerge("spans", "states", path, "--root", "task", "-o", where / "both.svg", "--json")
    assert json.loads(both.out) == shown and (where / "both.svg").exists()


def test_free_queries_are_drawn(where):
    path = database(where / "x.db", [(f"s{i}", "t") for i in range(50)],
                    [e for i in range(50) for e in ((f"s{i}", str(1000 + i), "a"), (f"s{i}", str(1002.5 + i * 1.5), "b"))])
    query = "select a.time as start, b.time as end from event a join event b using (span_uuid) where a.type = 'a' and b.type = 'b'"
    for kind in ("scatter", "histogram", "density"):
        picture = inside(draw("plot", path, where / f"{kind}.svg", query, "--kind", kind))
        words = " ".join(t.text or "" for t in picture.iter(SVG + "text"))
        assert "n 50, min 2.50 s, mean 14.8 s, p50 14.5 s" in words, words
        assert next(picture.iter(SVG + "title")).text == query
    bins = [r for r in inside(draw("plot", path, where / "one.svg", "select 1000.25 + value * 0.001 from (select 1 as value union all select 2 union all select -3)",
                                   "--title", "t")).iter(SVG + "rect") if r.get("data-count")]
    assert sum(int(b.get("data-count")) for b in bins) == 3
    texts = " ".join(t.text or "" for t in ElementTree.parse(where / "one.svg").iter(SVG + "text"))
    assert "duration above 1000.247 s" in texts, texts
    minus = inside(draw("plot", path, where / "minus.svg", "select -3 union all select 4"))
    assert "above -3 s" in " ".join(t.text or "" for t in minus.iter(SVG + "text"))
    many = draw("plot", path, where / "many.svg", "with recursive n(i) as (select 0 union all select i + 1 from n where i < 200000) select i, i + (i * 7919 % 1000) from n")
    (shape,) = [p for p in many.iter(SVG + "path") if p.get("data-count")]
    assert shape.get("data-count") == "200001" and len(shape.get("d")) < 3_000_000
    for wrong, code, word in [("select no from event", 1, "no such column: no"), ("select", 1, "incomplete input"), ("select 1, 2, 3", 2, "this one has 3"),
                              ("delete from event", 2, "this one has 0"), ("", 2, "this one has 0"), ("select 1; select 2", 2, "one query at a time"),
                              ("delete from event returning 1", 2, "only select is taken"), ("select 1 where 0", 1, "no row to draw"),
                              ("select 'word'", 1, "1 rows are no numbers"), ("select 1e300", 1, "1 rows are no numbers")]:
        done = dftmerge("spans", "plot", path, wrong, "-o", where / "no.svg", expect=code)
        assert word in done.err and not (where / "no.svg").exists(), (wrong, done.err)
    assert "needs two columns" in dftmerge("spans", "plot", path, "select 1", "-o", where / "no.svg", "--kind", "scatter", expect=2).err
    assert "where to?" in dftmerge("spans", "plot", path, "select 1", expect=2).err
    assert "which query?" in dftmerge("spans", "plot", path, "-o", where / "no.svg", expect=2).err
    assert "Did you mean histogram?" in dftmerge("spans", "plot", path, "select 1", "-o", where / "no.svg", "--kind", "histograms", expect=2).err
    assert "is the database" in dftmerge("spans", "plot", path, "select 1", "-o", path, expect=1).err
    assert Model(path).types


def test_a_query_without_end_ends_by_ctrl_c(where):
    path = database(where / "x.db", [("s", "t")])
    query = "with recursive n(i) as (select 0 union all select i + 1 from n) select i from n where i < 0"
    with subprocess.Popen([DFTMERGE, "spans", "plot", path, query, "-o", where / "x.svg"], stderr=subprocess.PIPE) as child:
        caught = re.compile(r"^SigCgt:\s*([0-9a-f]+)", re.MULTILINE)
        until = time.monotonic() + 60
        while not int(caught.search(open(f"/proc/{child.pid}/status").read()).group(1), 16) & 1 << signal.SIGINT - 1 and time.monotonic() < until:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        said = child.stderr.read().decode()
        assert child.wait(60) == 1 and "ended by a signal" in said, said
    assert os.listdir(where) == ["x.db"]


def test_a_signal_around_the_preparation_ends_the_query(where):
    """It comes when the handler is there and SQLite has nothing yet to interrupt, or while SQLite compiles."""
    need_preload()
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    path = database(where / "x.db", [("s", "t")])
    # 1 ms into a query with two million comments SQLite still reads them
    (where / "early.c").write_text("#include <dlfcn.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/time.h>\n"
                                   "static void on_alarm(int number) { raise(SIGINT); }\n"
                                   "static char *within(const char *sql) {\n"
                                   "    char *text = malloc(8000001), *end = stpcpy(text, sql);\n"
                                   "    struct itimerval soon = {.it_value.tv_usec = 1000};\n"
                                   '    while (end - text < 7900000) end = stpcpy(end, "/**/");\n'
                                   "    signal(SIGALRM, on_alarm);\n    setitimer(ITIMER_REAL, &soon, NULL);\n    return text;\n}\n"
                                   "int sqlite3_prepare_v2(void *db, const char *sql, int n, void **s, const char **tail) {\n"
                                   '    int (*real)(void *, const char *, int, void **, const char **) = dlsym(RTLD_NEXT, "sqlite3_prepare_v2");\n'
                                   '    if (!strncmp(sql, "with", 4) && getenv("WITHIN")) sql = within(sql);\n'
                                   '    else if (!strncmp(sql, "with", 4)) raise(SIGINT);\n    return real(db, sql, n, s, tail);\n}\n')
    done = run("gcc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", where / "early.so", where / "early.c")
    assert done.code == 0, done.err
    query = "with recursive n(i) as (select 0 union all select i + 1 from n where i < 1000000000) select i from n where i < 0"
    for within in {}, {"WITHIN": "1"}:
        done = run(DFTMERGE, "spans", "plot", path, query, "-o", where / "x.svg", env={"LD_PRELOAD": str(where / "early.so"), **within})
        assert done.code == 1 and "ended by a signal" in done.err and not (where / "x.svg").exists(), (within, done)


def test_names_become_no_markup(where):
    bad = '</text><script>alert(1)</script>"&\x1b[31m\x01'
    spans = [("<b>1", bad), ("2", "t"), ("3", bad + "2")]
    path = database(where / "x.db", spans, [("<b>1", "1", bad), ("<b>1", "2", "<i>"), ("3", "5", "e")], [("<b>1", "2")], [("2", "3")])
    for verb, more in (("states", ["--root", bad]), ("graph", []), ("rate", ["--event", f"{bad}/<i>"]), ("between", ["--root", bad, "--from", f"{bad}/{bad}", "--to", "<i>"]),
                       ("plot", [f"select 1, 2 -- {bad}"])):
        raw = dftmerge("spans", verb, path, *more, "-o", "-").out
        assert b"<script" not in raw and b"\x1b" not in raw and b"\x01" not in raw, (verb, raw)
        inside(ElementTree.fromstring(raw))
    for verb, more in (("types", []), ("sequences", ["--root", bad, "--all"]), ("states", ["--root", bad]), ("graph", []), ("between", ["--root", bad, "--from", f"{bad}/{bad}", "--to", "<i>"])):
        assert b"\x1b" not in dftmerge("spans", verb, path, *more).out, verb
        answer(verb, path, *more)
    said = dftmerge("spans", "states", path, "--root", "\x1bno", expect=1).err
    assert "\x1b" not in said and "Types of spans are" in said, said


# --- the sample of Parsl ------------------------------------------------------------------------------------------------


def parsl(source, path):
    """A monitoring.db of Parsl as a database of spans; times are local ones, here of UTC."""
    db = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    spans, events, subspans = [], [], []

    def add(span, when, kind):
        if when is not None:
            moment = datetime.datetime.fromisoformat(when).replace(tzinfo=datetime.timezone.utc)
            events.append((span, repr(moment.timestamp()), kind))

    for run_id, began, completed in db.execute("select run_id, time_began, time_completed from workflow"):
        spans.append((run_id, "parsl.monitoring.workflow"))
        add(run_id, began, "began")
        add(run_id, completed, "completed")
    for task, run_id, invoked, returned in db.execute("select task_id, run_id, task_time_invoked, task_time_returned from task"):
        spans.append((f"{run_id}-{task}", "parsl.monitoring.task"))
        subspans.append((run_id, f"{run_id}-{task}"))
        add(f"{run_id}-{task}", invoked, "invoked")
        add(f"{run_id}-{task}", returned, "returned")
    for number, task, run_id in db.execute("select try_id, task_id, run_id from try"):
        spans.append((f"{run_id}-{task}-{number}", "parsl.monitoring.try"))
        subspans.append((f"{run_id}-{task}", f"{run_id}-{task}-{number}"))
    for status, when, run_id, task, number in db.execute("select task_status_name, timestamp, run_id, task_id, try_id from status"):
        add(f"{run_id}-{task}-{number}", when, status)
    db.close()
    return database(path, spans, events, subspans)


def test_the_sample_is_printed_to_the_last_digit(where):
    if not SAMPLE.exists():
        pytest.skip(f"{SAMPLE} is not there")
    path = parsl(SAMPLE, where / "x.db")
    lines = dftmerge("spans", "sequences", path).out.decode().splitlines()
    assert lines[:6] == ["Looking for events rooted in span type parsl.monitoring.task", "There were 1 different orderings of events", "Most common count: 50",
                         "Mean times for most common event sequence (cumul, inter-event)",
                         "    0.000000000     0.000000000     0.000000000-    0.000000000 parsl.monitoring.task/invoked",
                         "    0.000136347     0.000136347     0.000095844-    0.001102209 parsl.monitoring.try/pending"], lines
    model = Model(path)
    assert "\n".join(lines) + "\n" == text_of("parsl.monitoring.task", orderings(model, "parsl.monitoring.task"))
    assert [t["spans"] for t in answer("types", path)["types"]] == [50, 50, 1]
    got = answer("between", path, "--from", "invoked", "--to", "returned")
    assert got["n"] == 50 and got["min_ns"] == 1_459_655_000


# --- bad input ----------------------------------------------------------------------------------------------------------


def test_times_are_ordered_as_numbers(where):
    """Text would put 10 before 9, and doubles would lose the last digits."""
    times = ["9", "10", "10.5", " 1e1 ", "1680774973.000000001", "1680774973.000000002", "-1.5", "+3", "0.0000000004", "0.0000000006", ".5", "5."]
    path = database(where / "x.db", [("s", "t")], [("s", t, f"e{i:02}") for i, t in enumerate(times)])
    got = answer("sequences", path, "--root", "t")
    order = ["-1.5", "0.0000000004", "0.0000000006", ".5", "+3", "5.", "9", "10", " 1e1 ", "10.5", "1680774973.000000001", "1680774973.000000002"]
    assert got["orderings"][0]["events"] == [f"t/e{times.index(t):02}" for t in order]
    assert [s["since_before_mean_ns"] for s in got["most_common"]][-1] == 1 and got["most_common"][2]["since_before_mean_ns"] == 1
    assert got["most_common"][1]["since_first_mean_ns"] == 1_500_000_000


def test_times_of_any_form_are_exact(where):
    rng = random.Random(11)

    def form():
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 25)))
        point = rng.randrange(len(digits) + 1)
        number = digits[:point] + "." + digits[point:] if rng.random() < 0.7 else digits
        power = rng.choice(["", "", f"e{rng.randrange(-30, 10)}", f"E+{rng.randrange(5)}"])
        return rng.choice(["", "", "-", "+"]) + number + power

    times = [text for text in (form() for _ in range(3000)) if abs(nanoseconds(text)) <= 4_600_000_000_000_000_000]
    assert len(times) > 1000 and sum("e" in text for text in times) > 300
    path = database(where / "x.db", [("s", "t")], [("s", text, f"{i:04}") for i, text in enumerate(times)])
    got = answer("sequences", path, "--root", "t")
    order = sorted(range(len(times)), key=lambda i: (nanoseconds(times[i]), i))
    assert got["orderings"][0]["events"] == [f"t/{i:04}" for i in order]
    first = nanoseconds(times[order[0]])
    assert [step["since_first_mean_ns"] for step in got["most_common"]] == [nanoseconds(times[i]) - first for i in order]


def test_absurd_times_are_passed_over(where):
    bad = ["", "x", "nan", "inf", "1e300", "99999999999", "-1e10", "1.2.3", "1 2", "0x10", "1e", "\x1b[1m"]
    path = database(where / "x.db", [("s", "t")], [("s", "1", "good"), *[("s", t, "bad") for t in bad], ("s", "4600000000", "last"), ("s", "-4600000000", "first"),
                                                   ("s", "1e-400", "tiny")])
    done = dftmerge("spans", "sequences", path, "--root", "t", "--json")
    assert json.loads(done.out)["orderings"][0]["events"] == ["t/first", "t/tiny", "t/good", "t/last"]
    assert f"{len(bad)} events have no time that can be read" in done.err and "\x1b" not in done.err, done.err
    assert dftmerge("spans", "sequences", path, "--root", "t", "--quiet").err == ""
    got = answer("between", path, "--root", "t", "--from", "first", "--to", "last")
    assert got["max_ns"] == 9_200_000_000_000_000_000
    for verb, more in (("states", ["--root", "t"]), ("rate", ["--event", "good"])):
        inside(draw(verb, path, where / "x.svg", *more))
    for kind in ("scatter", "histogram", "density"):
        inside(draw("between", path, where / "x.svg", "--root", "t", "--from", "first", "--to", "last", "--kind", kind))
    assert "more than" in dftmerge("spans", "states", path, "--root", "t", "--interval", "1ns", expect=2).err


def test_numbers_of_sqlite_are_times(where):
    """A table of somebody else's, whose times are no text."""
    db = sqlite3.connect(where / "x.db")
    db.executescript("create table span (uuid, type); create table event (uuid, span_uuid, time, type);"
                     "insert into span values ('s', 't'), (null, 't'), ('s', 'again');"
                     "insert into event values (1, 's', 1680774973.526384, 'a'), (2, 's', 1680774974, 'b'), (3, 's', null, 'c'), (4, 'gone', 1, 'd'), (5, null, 1, 'd');")
    db.close()
    done = dftmerge("spans", "sequences", where / "x.db", "--root", "t", "--json")
    assert [s["since_first_mean_ns"] for s in json.loads(done.out)["most_common"]] == [0, 473616000]
    assert "1 events have no time" in done.err and "2 events are of spans that are not there" in done.err


def test_circles_end(where):
    spans = [(f"s{i}", "t") for i in range(30)]
    path = database(where / "x.db", spans, [(f"s{i}", str(i), "e") for i in range(30)], [(f"s{i}", f"s{(i + 1) % 30}") for i in range(30)] + [("s3", "s3")],
                    [("s1", "s1"), ("s5", "s9")])
    got = answer("sequences", path, "--root", "t")
    assert got["orderings"] == [{"count": 30, "events": ["t/e"] * 30}]
    inside(draw("graph", path, where / "x.svg"))
    many = [(f"s{i}", "t") for i in range(20000)]  # quadratic work would not end
    path = database(where / "many.db", [*many, ("out", "u")], [(f"s{i}", str(i), f"e{i % 2}") for i in range(20000)] + [("out", "20001.5", "last")],
                    [(f"s{i}", f"s{(i + 1) % 20000}") for i in range(20000)] + [("s7", "out")])
    got = answer("sequences", path, "--root", "t")
    assert got["roots"] == got["orderings"][0]["count"] == 20000 and got["most_common"][-1]["since_first_mean_ns"] == 20001_500000000
    assert answer("between", path, "--root", "t", "--from", "e1", "--to", "last")["p50_ns"] == 20000_500000000
    states = {s["state"]: s for s in answer("states", path, "--root", "t")["states"]}
    assert states["t/e0"]["entered"] == 20000 * 10000 and states["t/e0"]["time_seconds"] == 20000 * 10000
    two = database(where / "two.db", [("a", "a"), ("b", "b"), ("c", "c")], [], [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")])
    inside(draw("graph", two, where / "x.svg"))


def test_ties_have_one_order(where):
    """Events of one moment: by name, in whatever order the rows are. Orderings of one count: the first root in time."""
    for swap in (False, True):
        events = [("s", "5", "b"), ("s", "5", "a"), ("s", "5.0", "c")]
        path = database(where / f"{swap}.db", [("s", "t")], events[::-1] if swap else events)
        assert answer("sequences", path, "--root", "t")["orderings"][0]["events"] == ["t/a", "t/b", "t/c"]
        roots = [("late", "t"), ("early", "t"), ("mute", "t")]
        path = database(where / f"two-{swap}.db", roots[::-1] if swap else roots, [("late", "10", "a"), ("late", "12", "b"), ("early", "9", "b"), ("early", "90", "a")])
        got = answer("sequences", path, "--root", "t", "--all")
        assert [o["events"] for o in got["orderings"]] == [["t/b", "t/a"], ["t/a", "t/b"]] and got["roots_without_events"] == 1
        assert answer("between", path, "--root", "t", "--from", "a", "--to", "b")["n"] == 1


def test_a_report_has_them(where):
    """The section of the page: the same numbers, and pictures that are whole."""
    make(where / "traces", processes=2, events=50)
    seed, path, model = next(graphs(where))
    page = where / "page.html"

    def sections(*arguments):
        dftmerge("report", "-o", page, *arguments)
        return [one["spans"] for one in reportpage.read(page.read_bytes())]

    assert sections(where / "traces") == [None]
    (section,) = sections("--spans", path, "--spans-root", "task", where / "traces")
    wanted = answer("sequences", path, "--root", "task")
    assert (section["file"], section["root"], section["roots"]) == (f"{seed}.db", "task", wanted["roots"])
    assert (section["most_common"], section["different"]) == (wanted["most_common"], wanted["different"])
    assert (section["count"], section["length"]) == (wanted["orderings"][0]["count"], len(wanted["most_common"]))
    assert [p["title"] for p in section["pictures"]] == ["States of task"] + 2 * ["From the first to the last event of task"]
    own = [[t for t, _ in model.events[uuid]] for uuid in model.roots("task") if model.events[uuid]]
    pictures = [inside(ElementTree.fromstring(p["svg"].encode())) for p in section["pictures"]]
    counts = [int(p.get("data-count")) for p in pictures[1].iter(SVG + "path") if p.get("data-count")]
    assert counts == [len(own)] and sum(int(r.get("data-count")) for r in pictures[2].iter(SVG + "rect") if r.get("data-count")) == len(own)
    both = sections("--spans", path, "--spans-root", "task", where / "traces", "--", where / "traces")
    assert both == [None, section]
    bad = '</script><script>alert(1)</script>'
    (section,) = sections("--spans", database(where / "bad.db", [(bad, bad)], [(bad, "1", bad)]), "--spans-root", bad, where / "traces")
    assert section["most_common"][0]["event"] == f"{bad}/{bad}" and not any("<script" in p["svg"] for p in section["pictures"])
    assert b"alert(1)" not in page.read_bytes()
    for words, code, word in ((["--spans", where / "none.db"], 1, "No such file"), (["--spans", path], 1, "--spans-root parsl.monitoring.task"),
                              (["--spans-root", "task"], 2, "needs a database"), (["--spans", database(where / "empty.db")], 1, "has none")):
        page.unlink(missing_ok=True)
        assert word in dftmerge("report", "-o", page, *words, where / "traces", expect=code).err and not page.exists(), words
    assert "is the database" in dftmerge("report", "-o", path, "--spans", path, where / "traces", expect=1).err and Model(path).types


def test_large_graphs_are_drawn_in_part(where):
    spans = [(f"{kind}-{i}", f"type{kind:03}") for kind in range(200) for i in range(kind % 7 + 1)]
    path = database(where / "x.db", spans, [], [(f"{kind}-0", f"{kind + 1}-0") for kind in range(199)])
    picture = draw("graph", path, where / "x.svg")
    assert "60 of 200 types" in " ".join(t.text or "" for t in picture.iter(SVG + "text"))
    assert len(answer("graph", path)["nodes"]) == 200


def test_nothing_is_said(where):
    empty = database(where / "empty.db")
    for verb, more in (("types", []), ("sequences", []), ("states", []), ("graph", []), ("between", ["--from", "a", "--to", "b"])):
        done = dftmerge("spans", verb, empty, *more, expect=1)
        assert not done.out and "has no spans" in done.err, (verb, done.err)
    assert answer("types", empty)["types"] == [] and answer("graph", empty) == {"nodes": [], "edges": []}
    mute = database(where / "mute.db", [("s", "parsl.monitoring.task")])
    for verb in ("sequences", "states"):
        done = dftmerge("spans", verb, mute, expect=1)
        assert not done.out and "events" in done.err
        answer(verb, mute)
    assert "no picture was written" in dftmerge("spans", "states", mute, "-o", where / "x.svg", expect=1).err
    assert not (where / "x.svg").exists()


def test_what_is_no_database_is_said(where):
    good = chance(where / "good.db", 1)
    raw = good.read_bytes()
    (where / "text.db").write_text("this is no database\n" * 100)
    (where / "cut.db").write_bytes(raw[:len(raw) // 2])
    rng = random.Random(5)
    for verb, more in (("types", []), ("sequences", ["--root", "task"]), ("plot", ["select time from event", "-o", where / "x.svg"])):
        for name, word in (("text.db", "no database of SQLite"), ("gone.db", "No such file"), ("", "unable to open"), ("cut.db", "damaged")):
            done = dftmerge("spans", verb, where / name, *more, expect=1)
            assert not done.out and (word in done.err or not name), (verb, name, done.err)
    for i in range(40):
        damaged = bytearray(raw)
        for _ in range(rng.randrange(1, 60)):
            damaged[rng.randrange(100, len(raw))] = rng.randrange(256)
        (where / "damaged.db").write_bytes(damaged)
        for verb, more in (("types", []), ("sequences", ["--root", "task", "--all"]), ("states", ["--root", "task"]), ("graph", [])):
            done = run(DFTMERGE, "spans", verb, where / "damaged.db", *more)
            assert done.code in (0, 1) and (done.code == 0 or done.err), (i, verb, done)
            assert "Sanitizer" not in done.err and "runtime error" not in done.err, (i, verb, done.err)
    for table in ("span", "event"):
        db = sqlite3.connect(where / f"no-{table}.db")
        db.executescript(TABLES + f"drop table {table};")
        db.close()
        assert f"there is no table {table}" in dftmerge("spans", "types", where / f"no-{table}.db", expect=1).err
    db = sqlite3.connect(where / "few.db")
    db.executescript("create table span (uuid, type); create table event (span_uuid, time, type); insert into span values ('s', 't')")
    db.close()
    assert answer("types", where / "few.db")["spans"] == 1
    db = sqlite3.connect(where / "columns.db")
    db.executescript("create table span (id, kind); create table event (a);")
    db.close()
    assert "no such column: uuid" in dftmerge("spans", "types", where / "columns.db", expect=1).err
    path = database(where / "ends.db", [("s", "t")], [], [("s", "gone"), (None, "s")], [("gone", "s")])
    assert "3 rows of subspan and facet" in dftmerge("spans", "types", path).err


def test_unknown_words_are_said(where):
    path = chance(where / "x.db", 2)
    for verb, more, code, word in [("sequences", [], 1, "--root parsl.monitoring.task"), ("states", ["--root", "tusk"], 1, "Did you mean task?"),
                                   ("rate", ["--event", "task/inn"], 1, "Did you mean task/in?"), ("rate", ["--event", "lunched"], 1, "Did you mean task.try/launched?"),
                                   ("rate", [], 2, "which event?"), ("between", ["--root", "task", "--from", "in"], 2, "--from EVENT and --to EVENT"),
                                   ("between", ["--root", "task", "--from", "in", "--to", "uot"], 1, "--to uot"),
                                   ("states", ["--root", "task", "--interval", "x"], 2, "--interval"), ("states", ["--root", "task", "--interval", "-1"], 2, "--interval"),
                                   ("states", ["--root", "task", "-o", "x.svg", "--width", "7"], 2, "not a number of pixels"),
                                   ("types", ["--root", "t"], 2, "no such option"), ("types", ["more.db"], 2, "one word too many"), ("types", ["--json", "--csv"], 2, "exclude")]:
        done = dftmerge("spans", verb, path, *more, expect=code, cwd=where)
        assert word in done.err and not done.out, (verb, more, done.err)
    both = database(where / "both.db", [("a", "x"), ("b", "y")], [("a", "1", "e"), ("b", "2", "e")])
    assert "x/e, y/e" in dftmerge("spans", "rate", both, "--event", "e", expect=1).err
    assert "which database?" in dftmerge("spans", "types", expect=2).err
    assert "Did you mean types?" in dftmerge("spans", "type", path, expect=2).err
    assert "which verb?" in dftmerge("spans", expect=2).err
    for verb in ("types", "sequences", "between", "states", "rate", "graph", "plot"):
        told = dftmerge("spans", verb, "--help").out
        assert b"Example:\n  dftmerge spans " + verb.encode() in told and told == dftmerge("spans", "help", verb).out
        assert told in dftmerge("spans", "--help").out
    assert dftmerge("spans", "types", path, "-o", "x", expect=2).err
