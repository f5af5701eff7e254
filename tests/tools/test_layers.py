# SPDX-License-Identifier: MIT
"""dftmerge layers: every number of every layer and view as sets of intervals from the dump have it; presets by chance
over regions by chance; DLIO's shape, a native program, real traces; bad presets, bad words, hard names."""

import collections
import csv
import fnmatch
import io
import json
import random
import shutil
import subprocess

from intervals import length, less, union
from pfw_files import Writer
from tooltest import (DATA, DFTMERGE, LIBRARY, ROOT, SIZES, counts, csv_text, dftmerge, directory, dump, make, need_library, pattern,
                      percentile, run, size_at)

BASE = 1_700_000_000_000_000  # us
REAL = ROOT.parent / "shared" / "data" / "dftracer" / "cm1"
VIEWS = ("time", "process", "rank", "host", "file", "directory", "pattern")
IO = ("read", "write", "sync", "meta", "startup")
CALLS = ("posix", "stdio")


def layers(*arguments, **more):
    return json.loads(dftmerge("layers", "--json", *arguments, **more).out)


# --- the model: rules, in words of Python ---------------------------------------------------------


class Rule:
    def __init__(self, layer, parent=None, compute=False, inside=(), outside=(), classes=(), **patterns):
        self.layer, self.parent, self.compute, self.patterns = layer, parent, compute, patterns
        self.inside, self.outside, self.classes = inside, outside, classes

    def line(self):
        conditions = [f'{key}="{",".join(value)}"' for key, value in self.patterns.items()]
        for key, value in (("class", self.classes), ("inside", self.inside), ("outside", self.outside)):
            if value:
                conditions.append(f"{key}={','.join(value)}")
        if self.parent:
            conditions.append(f"parent={self.parent}")
        if self.compute:
            conditions.append("role=compute")
        return " ".join([self.layer, *conditions])

    def fits(self, event, own, around):
        texts = {"cat": event["cat"].lower(), "name": event["name"].lower()}
        for key, patterns in self.patterns.items():
            if key == "path":
                if not any(chosen(p, patterns) for p in (event.get("file"), event.get("file2")) if p is not None):
                    return False
            elif not chosen(texts[key], [p.lower() for p in patterns]):
                return False
        return ((not self.classes or event["class"] in self.classes) and (not self.inside or around & set(self.inside)) and
                not around & set(self.outside) and not own & set(self.outside))


def chosen(text, patterns):
    result = patterns[0].startswith("!")
    for p in patterns:
        if fnmatch.fnmatchcase(text, p.lstrip("!")):
            result = not p.startswith("!")
    return result


class Preset:
    def __init__(self, rules):
        self.rules, self.parents, self.compute = rules, {}, set()
        for rule in rules:
            self.parents[rule.layer] = rule.parent or self.parents.get(rule.layer)
            if rule.compute:
                self.compute.add(rule.layer)

    def text(self):
        return "".join(rule.line() + "\n" for rule in self.rules)

    def above(self, layer):
        result = []
        while self.parents[layer]:
            layer = self.parents[layer]
            result.append(layer)
        return result

    def below(self, layer):
        return {other for other in self.parents if layer in self.above(other)}


def end(event):
    return event["ts"] + (0 if "phase" in event else event["dur"])


def place(event):
    """Of a thread's events that start together, the enclosing one comes first. (The depth, which the dump does not have, is
    that of the trace's writer: the same for all that start and end together in these tests.)"""
    return event["ts"], -end(event), event["class"] != "none"


def find_layers(events, preset):
    """Adds `layers`, a set, to every event that counts."""
    threads = collections.defaultdict(list)
    for event in events:
        threads[event["pid"], event["tid"]].append(event)
    named = {layer for rule in preset.rules for layer in (*rule.inside, *rule.outside)}
    for list_of in threads.values():
        before = []
        for event in sorted(list_of, key=place):
            before = [e for e in before if end(e) > event["ts"]]
            around = set().union(*(e["layers"] for e in before if place(e) < place(event)))
            event["layers"] = set()
            for rule in preset.rules:
                if rule.fits(event, event["layers"], around):
                    event["layers"].add(rule.layer)
            if event["layers"] & named and end(event) > event["ts"]:
                before.append(event)


def is_data(event):
    return event["name"] in DATA or event["name"] in ("read", "write", "fwrite", "pread64")


def failed(event):
    """DFTracer's traces do not say which error it was."""
    return "errno" in event or event.get("ret", 0) < 0


class Model:
    def __init__(self, events, preset, team_of, window=(0, 1 << 64)):
        self.preset, self.window = preset, window
        self.events = [e for e in events if counts(e)]
        find_layers(self.events, preset)
        self.teams = {e["pid"]: team_of(e) for e in self.events}
        self.whole = collections.defaultdict(list)  # (layer, lane) -> spans
        for e in self.events:
            for layer in e["layers"]:
                for lane in (("team", self.teams[e["pid"]]), ("process", e["pid"])):
                    self.whole[layer, lane].append(self.span(e))
        self.whole = {key: union(spans) for key, spans in self.whole.items()}
        self.covers = {}

    def span(self, event):
        return max(event["ts"], self.window[0]), min(end(event), self.window[1])

    def cover(self, lane, layers_):
        key = lane, frozenset(layers_)
        if key not in self.covers:
            self.covers[key] = union([s for layer in layers_ for s in self.whole.get((layer, lane), ())])
        return self.covers[key]

    def times(self, layer, lane, spans):
        """Active, unoverlapped, own."""
        compute = self.cover(lane, self.preset.compute)
        below = self.cover(lane, self.preset.compute | self.preset.below(layer))
        if layer in self.preset.compute:
            return length(spans), 0, 0
        return length(spans), length(less(spans, compute)), length(less(spans, below))

    def group(self, layer, members, spans_of):
        """members: events that count; spans_of: lane -> spans."""
        data = [e for e in members if is_data(e) and not failed(e)]
        durations = [end(e) - e["ts"] for e in members if e.get("calls", 1)]
        team = [self.times(layer, lane, spans) for lane, spans in spans_of.items() if lane[0] == "team"]
        process = [self.times(layer, lane, spans) for lane, spans in spans_of.items() if lane[0] == "process"]
        sizes = collections.Counter()
        for e in members:
            if is_data(e):
                sizes[SIZES[size_at(e)], size_at(e)] += e.get("calls", 1)
        exposed = layer not in self.preset.compute
        active, count, moved = sum(t[0] for t in team), sum(e.get("calls", 1) for e in members), sum(e.get("bytes", 0) for e in data)
        slowest = max((t[0] for t in process), default=0)
        return {
            "ops": count,
            "errors": sum(e.get("calls", 1) for e in members if failed(e)),
            "time_ns": sum(durations),
            "mean_ns": sum(durations) // len(durations) if durations else None,
            **{f"p{p}_ns": percentile(durations, p) if durations else None for p in (50, 95, 99)},
            "active_ns": active,
            "unoverlapped_ns": sum(t[1] for t in team) if exposed else None,
            "own_ns": sum(t[2] for t in team) if exposed else None,
            "process_active_ns": sum(t[0] for t in process),
            "process_unoverlapped_ns": sum(t[1] for t in process) if exposed else None,
            "slowest_ns": slowest,
            "ops_per_s": count * 1e9 / active if active else None,
            "bytes": moved,
            "bytes_per_s": moved * 1e9 / active if active and data else None,
            "data_ops": len(data),
            "size_mean": moved // len(data) if data else None,
            "sequential": sum(e.get("access") in ("sequential", "consecutive") for e in data),
            "consecutive": sum(e.get("access") == "consecutive" for e in data),
            "sizes": [{"from": low, "ops": sizes[low, at]} for low, at in sorted(sizes, key=lambda s: s[1]) if sizes[low, at]],
        }

    def layer(self, layer):
        members = [e for e in self.events if layer in e["layers"] and self.window[0] <= e["ts"] < self.window[1]]
        return self.group(layer, members, {lane: spans for (l, lane), spans in self.whole.items() if l == layer})

    def key(self, event, view):
        if view in ("file", "directory", "pattern"):
            file = event.get("file")
            return file if view == "file" or file is None else directory(file) if view == "directory" else pattern(file)
        return {"process": event["pid"], "rank": self.teams[event["pid"]], "host": event["host"]}[view]

    def view(self, view):
        """(layer, key) -> numbers."""
        members, spans = collections.defaultdict(list), collections.defaultdict(lambda: collections.defaultdict(list))
        for e in self.events:
            key = self.key(e, view)
            first, last = self.span(e)
            is_in = self.window[0] <= e["ts"] < self.window[1]
            if key is None or not (is_in or last > first):
                continue
            for layer in e["layers"]:
                members[layer, key] += [e] * is_in
                for lane in (("team", self.teams[e["pid"]]), ("process", e["pid"])):
                    spans[layer, key][lane].append((first, last))
        return {(layer, key): self.group(layer, list_of, {lane: union(s) for lane, s in spans[layer, key].items()})
                for (layer, key), list_of in members.items()}

    def intervals(self, base, width):
        """(layer, number of the interval) -> numbers."""
        members, spans = collections.defaultdict(list), collections.defaultdict(dict)
        for e in self.events:
            if self.window[0] <= e["ts"] < self.window[1]:
                for layer in e["layers"]:
                    members[layer, (e["ts"] - base) // width].append(e)
        for (layer, lane), list_of in self.whole.items():
            for first, last in list_of:
                for k in range((first - base) // width, (last - 1 - base) // width + 1):
                    part = (max(first, base + k * width), min(last, base + (k + 1) * width))
                    spans[layer, k].setdefault(lane, []).append(part)
        return {key: self.group(key[0], members[key], spans[key]) for key in {*members, *spans}}


def same(got, want, what):
    for name, value in want.items():
        known = got[name]
        if isinstance(value, float):
            assert known is not None and abs(known - value) <= 1e-9 * abs(value), (what, name, known, value)
        else:
            assert known == value, (what, name, known, value)


def key_of(group, view, teams):
    return {"process": group.get("pid"), "rank": teams.get(group.get("pid"))}.get(view, group.get(view))


def check(answer, model):
    """Every number of an answer. Returns how many groups were looked at."""
    assert [g["layer"] for g in answer["layers"]] == list(model.preset.parents)
    for got in answer["layers"]:
        same(got, model.layer(got["layer"]), got["layer"])
        assert got["parent"] == model.preset.parents[got["layer"]] and got["is_compute"] == (got["layer"] in model.preset.compute)
    none = [e for e in model.events if not e["layers"] and model.window[0] <= e["ts"] < model.window[1]]
    assert (answer["other_ops"], answer["other_ns"]) == (sum(e.get("calls", 1) for e in none), sum(end(e) - e["ts"] for e in none))
    seen = len(answer["layers"])
    for view in answer["views"]:
        if view["view"] == "time":
            base = view["groups"][0]["t_ns"] % view["width_ns"] if view["groups"] else 0
            origin = min((g["t_ns"] for g in view["groups"]), default=0)
            want = model.intervals(origin, view["width_ns"])
            assert all(g["t_ns"] % view["width_ns"] == base for g in view["groups"])
            got = {(g["layer"], (g["t_ns"] - origin) // view["width_ns"]): g for g in view["groups"]}
        else:
            want = model.view(view["view"])
            got = {(g["layer"], key_of(g, view["view"], model.teams)): g for g in view["groups"]}
        assert set(got) == set(want) and len(got) == len(view["groups"]) == view["found"], (view["view"], set(got) ^ set(want))
        for key, numbers in want.items():
            same(got[key], numbers, (view["view"], key))
        seen += len(got)
    own = {layer: g["own_ns"] for layer, g in ((g["layer"], g) for g in answer["layers"]) if layer not in model.preset.compute and
           not model.preset.below(layer) & model.preset.compute}
    most = max(own.values(), default=0)
    assert answer["worst"] == (next(layer for layer, ns in own.items() if ns == most) if most else None)
    return seen


# --- by chance ------------------------------------------------------------------------------------


def nested(chance, writer, tid, at, room, depth):
    """Regions in each other, calls in them; and some that overlap, which no program should write."""
    while room > 2 and chance.random() < 0.85:
        at += chance.choice((0, 0, 1, 9))
        dur = chance.randrange(0, max(room, 1))
        if chance.random() < 0.5:
            file = chance.choice(("/data/a1", "/data/a2", "/out/x", None))
            more = {"ret": chance.choice((0, 3, 5000, -1))} if file else {}
            writer.call("POSIX", chance.choice(("read", "write", "open64", "fsync")), at, min(dur, 5), file, tid=tid, count=4096, **more)
        else:
            writer.call(chance.choice("ABC"), chance.choice(("one", "two", "three")), at, dur, tid=tid)
            if depth < 4:
                nested(chance, writer, tid, at, dur + chance.choice((0, 0, 0, 4)), depth + 1)
        at += dur
        room -= dur


def made(where, chance, ranks, processes):
    where.mkdir()
    for number in range(ranks * processes):
        writer = Writer("1.0.8", pid=100 + number, rank=number % ranks if ranks > 1 else None, host=f"node{number % 3}")
        for thread in range(chance.choice((1, 2, 4))):
            nested(chance, writer, 200 + thread, BASE + chance.randrange(300), chance.choice((30, 400, 3000)), 0)
        writer.call("A", "one", BASE, 1, tid=199)  # no trace is empty
        (where / f"{number}.pfw").write_text(writer.text())
    return where


def preset_by_chance(chance):
    rules, known = [], []
    for number in range(chance.randrange(1, 9)):
        layer = chance.choice([*known, f"l{number}"]) if chance.random() < 0.3 else f"l{number}"
        patterns = {}
        if chance.random() < 0.7:
            patterns["cat"] = chance.choice((["a"], ["POSIX"], ["A", "B"], ["*", "!posix"], ["!b"], ["?"]))
        if chance.random() < 0.4:
            patterns["name"] = chance.choice((["one"], ["t*"], ["*e*", "!three"], ["read", "write"]))
        if chance.random() < 0.2:
            patterns["path"] = chance.choice((["/data/*"], ["*a[12]"], ["!/out/*"]))
        classes = chance.choice(((), (), (), ("read",), IO, ("none", "meta")))
        if not patterns and not classes:
            patterns["cat"] = ["*"]
        rule = Rule(layer, compute=chance.random() < 0.2, classes=classes, **patterns)
        if known and chance.random() < 0.5:
            rule.inside = tuple(chance.sample(known, chance.choice((1, min(2, len(known))))))
        if known and chance.random() < 0.3:
            rule.outside = tuple(chance.sample(known, 1))
        if known and layer not in known and chance.random() < 0.6:
            rule.parent = chance.choice(known)
        rules.append(rule)
        known += [layer] * (layer not in known)
    return Preset(rules)


def with_hosts(events, host_of):
    for e in events:
        e["host"] = host_of(e)
    return events


def test_numbers_are_those_of_sets(where):
    chance = random.Random(3)
    seen = 0
    for turn in range(80):
        ranks = chance.choice((1, 2, 3))
        path = made(where / f"t{turn}", chance, ranks, chance.choice((1, 2)))
        preset = preset_by_chance(chance)
        (where / "preset").write_text("# by chance\n\n" + preset.text())
        events = with_hosts(dump(path), lambda e: f"node{(e['pid'] - 100) % 3}")
        model = Model(events, preset, (lambda e, n=ranks: (e["pid"] - 100) % n) if ranks > 1 else lambda e: e["pid"])
        arguments = ("--preset", where / "preset", "--view", ",".join(VIEWS), "--interval", chance.choice(("1us", "30us", "0.0004")), path)
        answer = layers(*arguments)
        seen += check(answer, model)
        for settings in ({"DFTMERGE_WINDOW_EVENTS": "10"}, {"DFTMERGE_WINDOW_EVENTS": "97"},
                         {"DFTMERGE_WINDOW_EVENTS": "30", "DFTMERGE_NAMES_BYTES": "0"}):
            assert layers("--threads", "3", *arguments, env=settings) == answer, settings
    assert seen > 3000, seen


def test_a_part_of_the_time(where):
    """--from and --to cut intervals; what began before is around what comes then."""
    chance = random.Random(5)
    for turn in range(8):
        path = made(where / f"t{turn}", chance, 2, 1)
        preset = preset_by_chance(chance)
        (where / "preset").write_text(preset.text())
        events = with_hosts(dump(path), lambda e: f"node{(e['pid'] - 100) % 3}")
        first = min(e["ts"] for e in events)
        window = (first + 100_000, first + 250_000)
        answer = layers("--preset", where / "preset", "--view", "process,rank,file,pattern", "--from", "100us", "--to", "250us", path)
        check(answer, Model(events, preset, lambda e: (e["pid"] - 100) % 2, window))


POSIX = Preset([Rule("compute", compute=True, cat=["compute", "ai_framework"]), Rule("compute", name=["compute", "forward", "backward"]),
                Rule("posix", classes=IO), *(Rule(layer, parent="posix", classes=(word,)) for layer, word in
                                             (("read", "read"), ("write", "write"), ("sync", "sync"), ("metadata", "meta"), ("startup", "startup")))])
DLIO = Preset([
    Rule("app", cat=["dlio_benchmark"], name=["*.run"]),
    Rule("training", parent="app", cat=["dlio_benchmark"], name=["*._train", "*.train"]),
    Rule("compute", parent="training", compute=True, cat=["ai_framework", "compute"]),
    Rule("fetch_data", parent="training", name=["*.iter"]),
    Rule("data_loader", parent="fetch_data", cat=["data_loader"], name=["!*.iter", "!*.yield"]),
    Rule("data_loader_fork", parent="data_loader", cat=["posix", "process"], name=["fork", "vfork"]),
    Rule("reader", parent="data_loader", cat=["reader"]),
    Rule("reader_posix", parent="reader", cat=CALLS, inside=("reader",)),
    Rule("checkpoint", parent="training", cat=["checkpoint"]),
    Rule("checkpoint_posix", parent="checkpoint", cat=CALLS, inside=("checkpoint",)),
    Rule("other_posix", cat=CALLS, outside=("data_loader_fork", "reader", "checkpoint"))])


def dlio_traces(where, ranks=8, workers=2, steps=6):
    """The shape of DLIO: regions of a trainer in one file, its calls in another, workers as processes that have no rank of
    their own or as threads."""
    chance = random.Random(8)
    for rank in range(ranks):
        app, calls = (Writer("1.0.8", pid=10 + rank, rank=rank, host="n1") for _ in range(2))
        app.call("dlio_benchmark", "DLIOBenchmark.run", BASE + rank, 60_000_000)
        app.call("dlio_benchmark", "DLIOBenchmark._train", BASE + 1_000_000, 55_000_000)
        calls.call("POSIX", "fork", BASE + 1_100_000, 900)
        for step in range(steps):
            at = BASE + 2_000_000 + step * 8_000_000
            app.call("data_loader", "fetch-data.iter", at, 2_500_000 + chance.randrange(1000), epoch=1, step=step)
            app.call("data_loader", "loop.yield", at + 2_600_000, 5_000_000, step=step)
            for thread in range(3):
                app.call("ai_framework", "TorchFramework.compute", at + 2_700_000, 4_000_000 + thread, tid=90 + thread, step=step)
            calls.call("POSIX", "write", at + 7_000_000, 100_000, "/logs/out.txt", ret=100, count=100)
            for worker in range(workers):
                tid, begin = 100 + worker, at - 1_500_000 + worker * 300_000 + chance.randrange(1000)
                app.call("data_loader", "TorchDataset.__getitem__", begin, 3_000_000, tid=tid, step=step)
                app.call("reader", "NPZReader.open", begin + 10, 2_900_000, tid=tid)
                calls.call("POSIX", "open64", begin + 20, 300, f"/data/img_{step}_{worker}.npz", tid=tid, ret=9)
                for k in range(4):
                    calls.call("POSIX", "read", begin + 1000 + k * 500_000, 400_000, f"/data/img_{step}_{worker}.npz", tid=tid, ret=1 << 20, count=1 << 20)
                calls.call("STDIO", "fread", begin + 2_950_000, 10, "/etc/x", tid=tid, ret=3, size=4)
        app.call("checkpoint", "TorchCheckpoint.save", BASE + 53_000_000, 2_000_000)
        calls.call("POSIX", "write", BASE + 53_000_100, 1_500_000, f"/ckpt/rank-{rank}.pt", ret=1 << 24, count=1 << 24)
        (where / f"r{rank}-app.pfw").write_text(app.text())
        (where / f"r{rank}.pfw").write_text(calls.text())
    return where


def test_dlio(where):
    dlio_traces(where)
    answer = layers("--view", ",".join(VIEWS), "--interval", "5", where)
    assert (answer["preset"], answer["is_chosen"], answer["ranks"], answer["processes"]) == ("dlio", True, 8, 8)
    check(answer, Model(with_hosts(dump(where), lambda e: "n1"), DLIO, lambda e: e["pid"]))
    by_name = {g["layer"]: g for g in answer["layers"]}
    assert by_name["compute"]["active_ns"] == 8 * 6 * 4_000_002_000
    assert (by_name["reader_posix"]["ops"], by_name["reader_posix"]["bytes"]) == (8 * 6 * 2 * 5, 8 * 6 * 2 * 4 << 20)
    assert by_name["checkpoint_posix"]["bytes"] == 8 << 24 and by_name["data_loader_fork"]["ops"] == 8
    assert by_name["other_posix"]["ops"] == 8 * 6 * 3
    text = dftmerge("layers", "--view", "file,time", "--interval", "5", where).out.decode()
    assert text.count("own time by interval") == 1 and text.rstrip().splitlines()[-1].split()[:2] == ["60.0", "s"], text
    assert text.startswith(f"{answer['worst']} takes most of the unoverlapped time") and "chosen by what the traces hold" in text, text


TORCH = Preset([
    Rule("epoch", cat=["torch"], name=["epoch"]),
    Rule("step", parent="epoch", cat=["torch"], name=["step"]),
    Rule("compute", parent="step", compute=True, cat=["compute"]),
    Rule("wait_for_data", parent="step", cat=["torch"], name=["wait for data"]),
    Rule("start_loader", parent="wait_for_data", cat=["torch"], name=["start loader"]),
    Rule("fetch", parent="wait_for_data", cat=["torch"], name=["fetch"]),
    Rule("item", parent="fetch", cat=["torch"], name=["getitem", "getitems"]),
    Rule("fetch_posix", parent="item", cat=CALLS, inside=("fetch", "item")),
    Rule("checkpoint", parent="epoch", cat=["checkpoint"]),
    Rule("checkpoint_posix", parent="checkpoint", cat=CALLS, inside=("checkpoint",)),
    Rule("other_posix", cat=CALLS, outside=("fetch", "item", "checkpoint"))])


def test_torch(where):
    """The names of python -m dftrace run --torch; a worker without a rank belongs to its trainer's."""
    trainer, worker = Writer("1.0.8", pid=20, host="h"), Writer("1.0.8", pid=20, host="h")
    trainer.call("TORCH", "epoch", BASE, 1000, epoch=0, batches=2)
    for step in range(2):
        at = BASE + 500 * step
        trainer.call("TORCH", "step", at, 480, epoch=0, step=step)
        trainer.call("TORCH", "wait for data", at, 200)
        trainer.call("COMPUTE", "forward", at + 210, 200)
        worker.call("TORCH", "fetch", at + 10, 250, tid=77, items=2)
        worker.call("TORCH", "getitem", at + 12, 200, tid=77)
        worker.call("POSIX", "read", at + 20, 180, "/d/x", tid=77, ret=10, count=10)
    trainer.call("CHECKPOINT", "torch.save", BASE + 980, 20, path="/c/p")
    worker.call("POSIX", "write", BASE + 985, 10, "/c/p", tid=20, ret=10, count=10)
    (where / "t.pfw").write_text(trainer.text())
    (where / "w.pfw").write_text(worker.text())
    answer = layers("--view", "time,process,file", where)
    assert answer["preset"] == "torch" and answer["processes"] == 1
    check(answer, Model(with_hosts(dump(where), lambda e: "h"), TORCH, lambda e: 0))
    assert {g["layer"]: g["ops"] for g in answer["layers"]}["checkpoint_posix"] == 1


def test_native_traces(where):
    """make_traces has regions in each other, threads and ranks; posix and rules with inside= count its calls."""
    preset = Preset([Rule("app", cat=["APP"]), Rule("lib", cat=["LIB"]), Rule("calls in app", cat=CALLS, inside=("app",)),
                     Rule("in both", cat=CALLS, inside=("lib",), path=["/data/*", "/x/*", "!*.bin"]), Rule("solve", compute=True, name=["solve"]),
                     Rule("elsewhere", parent="app", cat=["*", "!process"], outside=("app", "lib"))])
    for rule in preset.rules:
        rule.layer = rule.layer.replace(" ", "_")
    preset = Preset(preset.rules)
    (where / "preset").write_text(preset.text())
    for ranks in (0, 1):
        path = make(where / f"r{ranks}", processes=4, ranks=ranks, threads=3, events=300, hosts=2)
        hosts = {p["pid"]: p["host"] for p in json.loads(dftmerge("ps", "--json", path).out)["processes"]}
        for name, model in ((where / "preset", preset), ("posix", POSIX)):
            events = with_hosts(dump(path), lambda e: hosts[e["pid"]])
            answer = layers("--preset", name, "--view", ",".join(VIEWS), path)
            assert answer["complete"]
            assert answer == layers("--preset", name, "--view", ",".join(VIEWS), path, env={"DFTMERGE_NAMES_BYTES": "0"})
            check(answer, Model(events, model, lambda e: e["pid"]))


PROGRAM = r"""
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *load(void *path)
{
    char bytes[4096];

    for (int i = 0; i < 20; i++) {
        dftrace_region_begin("reader", "Reader.open");
        int fd = open(path, O_RDONLY);
        while (read(fd, bytes, sizeof bytes) > 0)
            ;
        dftrace_region_end("reader", "Reader.open");
        lseek(fd, 0, SEEK_SET);
        close(fd);
    }
    return path;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];

    dftrace_region_begin("dlio_benchmark", "Mine.run");
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, load, argv[1]);
    for (int i = 0; i < 10; i++) {
        dftrace_region_begin("ai_framework", "compute");
        usleep(300);
        dftrace_region_end("ai_framework", "compute");
        FILE *out = fopen(argv[2], "w");
        dftrace_region_begin("checkpoint", "save");
        fputs("hello", out);
        fclose(out);
        dftrace_region_end("checkpoint", "save");
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    dftrace_region_end("dlio_benchmark", "Mine.run");
    return argc != 3;
}
"""


def test_a_traced_program(where):
    need_library()
    source = where / "program.c"
    source.write_text(PROGRAM)
    (where / "in.bin").write_bytes(bytes(20000))
    built = subprocess.run(["cc", "-o", where / "program", source, f"-I{ROOT / 'include'}", "-pthread", "-ldl"], capture_output=True, check=False)
    assert built.returncode == 0, built.stderr
    done = run(where / "program", where / "in.bin", where / "out.txt",
               env={"LD_PRELOAD": LIBRARY, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(where / "t" / "x")})
    assert done.code == 0, done.err
    answer = layers("--view", ",".join(VIEWS), where / "t")
    assert answer["preset"] == "dlio" and answer["has_compute"]
    check(answer, Model(with_hosts(dump(where / "t"), lambda e: answer["views"][3]["groups"][0]["host"]), DLIO, lambda e: 0))
    by_name = {g["layer"]: g for g in answer["layers"]}
    assert (by_name["reader"]["ops"], by_name["compute"]["ops"], by_name["checkpoint"]["ops"]) == (60, 10, 10)
    assert by_name["reader_posix"]["bytes"] == 60 * 20000 and by_name["app"]["ops"] == 1


def test_real_traces(where):
    if not REAL.is_dir():
        print("        no shared data here: real traces are not tested")
        return
    for file in sorted(REAL.glob("*.pfw.gz"))[::6]:
        shutil.copy(file, where)
    hosts = {p["pid"]: p["host"] for p in json.loads(dftmerge("ps", "--json", where).out)["processes"]}
    answer = layers("--preset", "posix", "--view", "process,rank,host,file,directory,pattern", where)
    assert answer["ranks"] == 8, answer["ranks"]
    assert check(answer, Model(with_hosts(dump(where), lambda e: hosts[e["pid"]]), POSIX, lambda e: e["rank"])) > 300
    whole = layers(REAL, "--no-index")
    assert whole["ranks"] == 48 and whole["preset"] == "posix" and not whole["has_compute"]


# --- forms ----------------------------------------------------------------------------------------


def test_csv_is_json(where):
    path = dlio_traces(where, ranks=2, steps=2)
    answer = layers("--view", "rank,file", path)
    lines = list(csv.DictReader(io.StringIO(dftmerge("layers", "--csv", "--view", "rank,file", path).out.decode())))
    groups = [("layer", g) for g in answer["layers"]] + [(v["view"], g) for v in answer["views"] for g in v["groups"]]
    assert len(lines) == len(groups) > 20
    for line, (view, group) in zip(lines, groups):
        assert (line["view"], line["layer"]) == (view, group["layer"])
        assert line["key"] == {"layer": "", "rank": str(group.get("rank")), "file": group.get("file")}[view]
        for name, value in group.items():
            if isinstance(value, (int, float)) and name in line and name != "is_compute":
                assert float(line[name]) == value, (name, line[name], value)
        assert {int(k[9:]): int(v) for k, v in line.items() if k.startswith("ops_from_") and v != "0"} == {s["from"]: s["ops"] for s in group["sizes"]}
    few = layers("--view", "file", "--top", "3", path)["views"][0]
    assert len(few["groups"]) == 3 < few["found"]


def test_lists_are_presets(where):
    """What --list prints is read again, and means the same."""
    path = dlio_traces(where, ranks=1, steps=2)
    for name in ("posix", "dlio", "generic", "torch"):
        (where / "mine").write_bytes(dftmerge("layers", "--list", "--preset", name).out)
        mine, built_in = layers("--preset", where / "mine", path), layers("--preset", name, path)
        assert {**mine, "preset": name} == built_in
    assert dftmerge("layers", "--list").out.count(b"# Preset ") == 4


def test_generic_names(where):
    """One layer a category, whatever characters it has."""
    names = ('a "b"', "c,d", "e*[f", "g\nh\x1b[31m", "i\\j", "{cat}", "ü", "compute")
    writer = Writer("1.0.8")
    for i, name in enumerate(names):
        writer.call(name, "x\x07y", BASE + 100 * i, 50, f"/data/{name}/\x01f")
    (where / "t.pfw").write_text(writer.text())
    answer = layers("--preset", "generic", "--view", "file,directory", where)
    found = {g["layer"]: g for g in answer["layers"] if g["ops"] and g["layer"] != "dftracer"}
    assert set(found) == set(names) and all(g["active_ns"] == 50_000 for g in found.values()), found.keys()
    assert found["compute"]["is_compute"] and not found["ü"]["is_compute"]
    assert {g["file"] for g in answer["views"][0]["groups"]} == {f"/data/{name}/\x01f" for name in names}
    text = dftmerge("layers", "--preset", "generic", "--view", "file", where).out
    assert not any(byte in text for byte in (b"\x1b", b"\x01", b"\x07")) and b"g\\nh" in text
    lines = list(csv.DictReader(io.StringIO(dftmerge("layers", "--csv", "--preset", "generic", where).out.decode(), newline="")))
    assert {csv_text(line["layer"]) for line in lines} >= set(names)


def test_many_layers(where):
    writer = Writer("1.0.8")
    for i in range(140):
        writer.call(f"cat{i:03}", "x", BASE + 10 * i, 5)
    (where / "t.pfw").write_text(writer.text())
    (where / "mine").write_text("".join(f"l{i} cat=cat{i:03}{f' parent=l{i - 1}' if i else ''}\n" for i in range(100)))
    answer = layers("--preset", where / "mine", "--view", ",".join(VIEWS), where / "t.pfw")
    assert len(answer["layers"]) == 100 and all((g["ops"], g["active_ns"]) == (1, 5000) for g in answer["layers"])
    assert answer["other_ops"] == 40
    assert dftmerge("layers", "--preset", where / "mine", where / "t.pfw").out
    done = dftmerge("layers", "--preset", "generic", where / "t.pfw", expect=2)
    assert "more than 128 layers" in done.err and "cat=" in done.err, done.err
    (where / "mine").write_text("{cat} cat=cat0*\nnamed cat=cat1*\n")
    assert len(layers("--preset", where / "mine", where / "t.pfw")["layers"]) == 101
    (where / "mine").write_text("".join(f"l{i} cat=a\n" for i in range(129)))
    assert "line 129: l128: a preset has at most 128 layers" in dftmerge("layers", "--preset", where / "mine", where, expect=2).err


BROKEN = (
    ("reader ctegory=x", "line 1: ctegory: there is no such key."),
    ("reader nme=x", "nme: there is no such key. Did you mean name?"),
    ("reader", "line 1: the line chooses no events"),
    ("reader cat", "cat: a condition is KEY=VALUE"),
    ("# fine\n\nreader cat=", "line 3: cat= has no value"),
    ("reader cat=,", "line 1: cat: a list of names or patterns, none of them empty"),
    ("reader cat=x\nposix cat=y inside=raeder", "line 2: raeder: no layer of an earlier line has this name. Did you mean reader?"),
    ("reader cat=x parent=reader", "no layer of an earlier line"),
    ("a cat=x\na cat=y parent=a", "cannot be its own parent"),
    ("a cat=x\nb cat=y parent=a\na cat=z parent=b", "lead back"),
    ("a cat=x\nb cat=y\nc cat=z parent=a\nc cat=v parent=b", "another parent"),
    ("a class=raed", "there is no class 'raed'. Did you mean read?"),
    ("a cat=x role=computes", "the one role is compute. Did you mean compute?"),
    ("a cat=x cat=y", "cat stands in this line twice"),
    ('a name="x', "a quote is missing"),
    ('a name="x"y', "a quote is missing"),
    ("cat=x", "line 1: cat=x: a line begins with the name of a layer"),
    ("a\x1bb cat=x", "a\\x1bb: a line begins"),
    ("a cat=" + "x" * 600, "the line is too long"),
    ("a cat=x\0", "this is no text file"),
    ("", "there is no rule in it"),
    ("# only this\n", "there is no rule in it"),
    ("".join(f"a path=/{i}\n" for i in range(64)), "line 64: path: at most 63 rules have paths or regions"),
    ("".join(f"a cat={i}\n" for i in range(513)), "line 513: a: a preset has at most 512 rules"),
)


def test_broken_presets(where):
    path = make(where / "t", processes=1, events=20)
    for text, why in BROKEN:
        (where / "mine").write_text(text)
        done = dftmerge("layers", "--preset", where / "mine", path, expect=2)
        assert why in done.err and f"{where / 'mine'}" in done.err and not done.out, (text[:40], done.err)
    chance = random.Random(9)
    good = dftmerge("layers", "--list", "--preset", "dlio").out
    for _ in range(150):
        bytes_ = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            bytes_[chance.randrange(len(bytes_))] = chance.choice(b'=," \n#!{}*[]\xff\x00az')
        (where / "mine").write_bytes(bytes(bytes_))
        assert run(DFTMERGE, "layers", "--preset", where / "mine", path).code in (0, 2)


def test_bad_words(where):
    path = make(where / "t", processes=1, events=20)
    for arguments, why in ((("--preset", "dlioo"), "Did you mean dlio?"), (("--preset", where / "none"), "No such file"),
                           (("--preset", "nothing"), "Presets are posix, dlio, generic, torch"), (("--preset", where), "directory"),
                           (("--view", "tiem"), "Did you mean time?"), (("--view", "time,xyzzy"), "Views are time, process"),
                           (("--interval", "-1", "--view", "time"), "not a width"), (("--interval", "x"), "not a width"),
                           (("--view", "time", "--interval", "1ns"), "more than 10000 intervals"), (("--list", "--preset", "dilo"), "dlio")):
        done = dftmerge("layers", *arguments, path, expect=2)
        assert why in done.err and not done.out, (arguments, done.err)
    assert "layers" in dftmerge("layers", "--help").out.decode()


def test_little_there(where):
    """No events, no regions, aggregates alone."""
    (where / "empty").mkdir()
    writer = Writer("1.0.8")
    (where / "empty" / "t.pfw").write_text(writer.text())
    assert "nothing" in dftmerge("layers", where / "empty", expect=1).err
    native = make(where / "one", processes=1, events=20)
    assert "no event" in dftmerge("layers", "--pid", "1", native, expect=1).err
    answer = json.loads(dftmerge("layers", "--json", "--view", ",".join(VIEWS), "--from", "99999", native).out)
    assert all(not g["ops"] for g in answer["layers"]) and answer["worst"] is None
    writer.call("POSIX", "read", BASE, 5, "/x", ret=1, count=1)
    (where / "calls").mkdir()
    (where / "calls" / "t.pfw").write_text(writer.text())
    text = dftmerge("layers", "--preset", "dlio", where / "calls").out.decode()
    assert text.startswith("other_posix takes most") and "no layer computes here" in text.replace("\n", " ") and "without events: app" in text
    path = make(where / "rows", processes=2, threads=1, events=50, keep=0)
    done = dftmerge("layers", "--json", path, expect=1)
    assert "kept only as aggregates" in done.err and not json.loads(done.out)["complete"]
    mixed = make(where / "mixed", processes=2, threads=1, events=400, mix=1)
    done = dftmerge("layers", mixed)
    assert "aggregates alone is not in these numbers" in done.out.decode().replace("\n", " ") and "aggregates" in done.err
    assert not layers(mixed)["complete"]
