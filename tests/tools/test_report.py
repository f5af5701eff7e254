# SPDX-License-Identifier: MIT
"""dftmerge report: what the page can sum up, under each filter, is what summary says under the same."""

import collections
import itertools
import json
import random

import pytest

import reportpage
from tooltest import BUILD, DFTMERGE, LIBRARY, LONG, ROOT, bin_middle, counts, dftmerge, dump, make, need_library, run, summary

SIZES = ["0 B", "1 B", "2 B-64 B", "64 B-1 KiB", "1 KiB-4 KiB", "4 KiB-16 KiB", "16 KiB-64 KiB", "64 KiB-256 KiB", "256 KiB-1 MiB",
         "1 MiB-4 MiB", "4 MiB-16 MiB", "16 MiB-64 MiB", "64 MiB-256 MiB", "256 MiB-1 GiB", "1 GiB-"]
CLASSES = ["none", "read", "write", "sync", "meta", "wait", "startup"]
SUMS = ("count", "errors", "time_ns", "bytes")
DATA = ROOT.parent / "shared" / "data" / "dftracer"


def report(*arguments, **more):
    return reportpage.read(dftmerge("report", "-o", "-", *arguments, **more).out)


def ranks(where, **settings):
    done = run(BUILD / "bin" / "make_ranks", where, *(f"{k}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return where


def answering(page, dimensions):
    """The smallest cube with all these dimensions. A call has a class. Only questions about files are for cubes of files."""
    def has(cube):
        only = {"f", "k"} & set(cube["dims"])
        return set(dimensions) <= set(cube["dims"]) | ({"i"} if "c" in cube["dims"] else set()) and only <= set(dimensions)
    cubes = [c for c in page["cubes"] if has(c)]
    assert cubes, (dimensions, [c["dims"] for c in page["cubes"]])
    return min(cubes, key=lambda c: page["tables"][c["table"]]["rows"])["table"]


def sums(page, axis, passes, dimensions):
    """{value of the axis: (count, errors, time, bytes)} over the cells that pass."""
    cells, calls = page.table(answering(page, dimensions)), page.table("calls")
    found = collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter()
    if "i" not in cells and "c" in cells:
        cells["i"] = [calls["class"][c] for c in cells["c"]]
    for i in range(len(cells["n"])):
        cell = {name: values[i] for name, values in cells.items()}
        if passes(cell):
            for counter, measure in zip(found, "nedb"):
                counter[axis(cell)] += cell[measure]
    return {key: tuple(counter[key] for counter in found) for key in found[0] if found[0][key]}


def wanted(groups, key):
    totals = collections.defaultdict(lambda: [0, 0, 0, 0])
    for group in groups:
        for i, member in enumerate(SUMS):
            totals[key(group)][i] += group[member]
    return {key: tuple(total) for key, total in totals.items() if total[0]}


def same_as_summary(page, filters, where, passes, dimensions):
    """All axes under one filter: `passes` of a cell, and the same as options."""
    said = summary("--all", "--top", "100000", *filters, where)
    calls, files, who = page.table("calls"), page.table("files"), page.table("who")
    got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]], CLASSES[calls["class"][c["c"]]]), passes, dimensions | {"c"})
    assert got == wanted(said["calls"], lambda g: (g["cat"], g["name"], g["class"])), filters
    got = sums(page, lambda c: CLASSES[c["i"]], passes, dimensions | {"i"})
    assert got == wanted(said["classes"], lambda g: g["class"]), filters
    got = sums(page, lambda c: (CLASSES[c["i"]], c["s"]), lambda c: passes(c) and c["i"] not in (0, 5), dimensions | {"c", "s"})
    words = [None, *SIZES]
    assert {(k, words[s]): v for (k, s), v in got.items()} == wanted(said["sizes"], lambda g: (g["class"], g["size"])), filters
    got = sums(page, lambda c: who["rank"][c["p"]] - 1, lambda c: passes(c) and c["i"] not in (0, 5), dimensions | {"p", "i"})
    assert got == wanted(said["by_rank"], lambda g: -1 if g["rank"] is None else g["rank"]), filters
    got = sums(page, lambda c: files["path"][c["f"]], passes, dimensions | {"f"})
    assert got == wanted(said["files"], lambda g: escaped(g["file"])), filters
    return said


def escaped(path):
    """As the page has it."""
    return "".join(f"\\x{c & 255:02x}" if c < 32 or 127 <= c < 160 or 0xdc80 <= c <= 0xdcff else chr(c) for c in map(ord, path)).replace("\\x0a", "\\n").replace("\\x09", "\\t")


def options_of_time(page, first, last):
    """Bins [first, last) as --from and --to: seconds after the job's start."""
    start = page["start_ns"]
    width = page["time"]["width_ns"]
    seconds = [f"{(at * width - start) / 1e9:.9f}" for at in (first, last)]
    return (["--from", seconds[0]] if first * width > start else []) + ["--to", seconds[1]]


def test_each_filter_is_that_of_summary(where):
    make(where, ranks=1, processes=4, threads=2)
    (page,) = report(where)
    who, calls, files, regions = (page.table(t) for t in ("who", "calls", "files", "regions"))
    everything = same_as_summary(page, [], where, lambda c: True, set())
    assert page["is_complete"] and not page["thinned"]
    assert everything["wall_ns"] == page["wall_ns"] and int(page["base_ns"]) + page["start_ns"] == everything["start_ns"]
    rank = who["rank"][1] - 1
    same_as_summary(page, ["--rank", str(rank)], where, lambda c: c["p"] == 1, {"p"})
    count = page["time"]["count"]
    for first, last in ((0, count // 3), (count // 4, count // 2), (count // 2, count)):
        same_as_summary(page, options_of_time(page, first, last), where, lambda c: first <= c["t"] < last, {"t"})
    by_file = summary("--by", "file,call,class", where)["groups"]
    for number in range(1, len(files["path"])):
        got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]], CLASSES[c["i"]]), lambda c: c["f"] == number, {"f", "c"})
        assert got == wanted([g for g in by_file if escaped(g["file"]) == files["path"][number]], lambda g: (g["cat"], g["name"], g["class"]))
    names = collections.Counter(calls["name"])
    for number in [c for c, name in enumerate(calls["name"]) if names[name] == 1][:4]:
        same_as_summary(page, ["--name", calls["name"][number]], where, lambda c: c["c"] == number, {"c"})
    for name in sorted(set(regions["name"][1:])):
        same_as_summary(page, ["--region", name], where, lambda c: regions["name"][c["g"]] == name, {"g"})
    assert len(regions["name"]) > 1 and len(files["path"]) > 3


def test_filters_at_once(where):
    make(where, ranks=1, processes=3)
    (page,) = report(where)
    half, calls, files = page["time"]["count"] // 2, page.table("calls"), page.table("files")
    rank = page.table("who")["rank"][2] - 1
    groups = summary("--by", "call,class,file", "--rank", str(rank), *options_of_time(page, 0, half), where)["groups"]
    got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]], files["path"][c["f"]]), lambda c: c["p"] == 2 and c["t"] < half, {"p", "f", "t", "c"})
    assert got and got == wanted(groups, lambda g: (g["cat"], g["name"], escaped(g["file"])))
    same_as_summary(page, ["--rank", str(rank), *options_of_time(page, 0, half)], where, lambda c: c["p"] == 2 and c["t"] < half, {"p", "t"})


def test_a_large_run_is_answered_in_parts(where):
    ranks(where, ranks=700, seconds=120, rate=5)
    (page,) = report(where)
    texts = " ".join(t["text"] for t in page["thinned"])
    assert "combinations of time, process, call" in texts, page["thinned"]
    who = page.table("who")
    assert len(who["rank"]) == 700
    same_axes = [(set(), lambda c: True, [])]
    same_axes.append(({"p"}, lambda c: c["p"] == 7, ["--rank", str(who["rank"][7] - 1)]))
    calls = page.table("calls")
    for dimensions, passes, filters in same_axes:
        said = summary("--all", "--top", "100000", *filters, where)
        got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]]), passes, dimensions | {"c"})
        assert got == wanted(said["calls"], lambda g: (g["cat"], g["name"])), filters
    heat = page["heat"]
    if heat:
        table = page.table("heat")
        cells = collections.Counter()
        for group in summary("--by", "rank,time,class", "--width", str(heat["width_ns"] / 1e9), where)["groups"]:
            if group["class"] not in ("none", "wait"):
                cells[group["rank"], (group["t_ns"] - int(page["base_ns"])) // heat["width_ns"]] += group["busy_ns"]
        for p, t in itertools.product(range(0, 700, 13), range(heat["columns"])):
            step, busy = table["q"][p * heat["columns"] + t], cells[who["rank"][p] - 1, t]
            assert (step == 0) == (busy == 0), (p, t, step, busy)
            if busy:
                assert 0.9 < 2 ** ((step - 1) / 4) / busy < 1.11, (p, t, step, busy)


def test_percentiles_are_those_of_the_bins(where):
    make(where, ranks=1, processes=3)
    (page,) = report(where)
    calls = page.table("calls")
    for entry in page["latency"]:
        table = page.table(entry["table"])
        assert entry["sub"] == 32
        for group in summary("--by", "call,class", where)["groups"]:
            bins, ends = collections.Counter(), []
            for i, c in enumerate(table["c"]):
                if (calls["cat"][c], calls["name"][c], CLASSES[calls["class"][c]]) == (group["cat"], group["name"], group["class"]):
                    bins[table["bin"][i]] += table["n"][i]
                    ends += [bin_low(table["bin"][i]) + table[end][i] - 1 for end in ("least", "most") if table[end][i]]
            total = sum(bins.values())
            if "f" in entry["dims"] and total < group["count"]:
                continue  # some of these calls have no file
            for p in (50, 95, 99):
                rank, seen = max(1, -(-p * total // 100)), 0
                for number in sorted(bins):
                    seen += bins[number]
                    if seen >= rank:
                        break
                got = min(max(bin_middle(number), min(ends)), max(ends))
                assert got == group[f"time_p{p}_ns"], (entry["dims"], group["name"], p)


def bin_low(number):
    return number if number < 64 else (32 + number % 32) << number // 32 - 1


def test_slices_and_offsets_are_events(where):
    make(where, ranks=1, processes=3, threads=2)
    (page,) = report(where)
    calls, files, slices, lanes, processes = (page.table(t) for t in ("calls", "files", "slices", "lanes", "processes"))
    base = int(page["base_ns"])
    events = collections.Counter()
    accesses = set()
    for e in dump(where):
        if not counts(e):
            continue
        events[e["pid"], e["tid"], e["ts"], e["dur"], e["cat"], e["name"]] += 1
        if "offset" in e and e.get("file"):
            accesses.add((escaped(e["file"]), e["ts"], e["offset"], e.get("bytes", 0)))
    found = collections.Counter()
    for i in range(len(slices["lane"])):
        process, c = lanes["process"][slices["lane"][i]], slices["c"][i]
        key = processes["pid"][process], lanes["tid"][slices["lane"][i]], base + slices["start_ns"][i], slices["dur_ns"][i], calls["cat"][c], calls["name"][c]
        found[key] += 1
    assert found and page["slices"]["kept"] == sum(found.values()) <= page["slices"]["of"]
    assert not found - events, list((found - events).items())[:3]
    assert sum(events.values()) == page["slices"]["of"]
    offsets = page.table("offsets")
    assert offsets["f"]
    for i in range(len(offsets["f"])):
        assert (files["path"][offsets["f"][i]], base + offsets["start_ns"][i], offsets["offset"][i], offsets["b"][i]) in accesses, i


def test_two_runs_stand_side_by_side(where):
    make(where / "a", processes=2)
    make(where / "b", processes=3, seed=5)
    pages = report(where / "a", "--", where / "b")
    assert [p["name"] for p in pages] == ["A", "B"]
    for page, folder in zip(pages, ("a", "b")):
        (alone,) = report(where / folder)
        assert alone["tables"].keys() == page["tables"].keys()
        for name in page["tables"]:
            assert alone.table(name) == page.table(name), (folder, name)
    done = dftmerge("report", "-o", "-", "--", where / "b", expect=2)
    assert "A -- B" in done.err
    listed = {name: run("sh", "-c", f"echo {where / 'b'} | {DFTMERGE} report -o - --files-from - {paths}").out
              for name, paths in (("one", ""), ("two", f"{where / 'a'} --"))}
    assert listed["one"] == dftmerge("report", "-o", "-", where / "b").out
    assert listed["two"] == dftmerge("report", "-o", "-", where / "a", "--", where / "b").out


def test_the_same_traces_give_the_same_page(where):
    make(where, ranks=1, processes=4, threads=3)
    pages = {dftmerge("report", "-o", "-", "--threads", n, where).out for n in ("1", "2", "5")}
    assert len(pages) == 1


def test_bad_words_and_empty_answers(where):
    make(where / "t")
    assert "where to?" in dftmerge("report", where / "t", expect=2).err
    done = dftmerge("report", "-o", where / "none" / "x.html", where / "t", expect=1)
    assert "none" in done.err and not (where / "none").exists()
    trace = next((where / "t").rglob("*.dft"))
    before = trace.read_bytes()
    done = dftmerge("report", "-o", trace, where / "t", expect=1)
    assert "choose another file" in done.err and trace.read_bytes() == before
    (page,) = report("--name", "no_such_call", where / "t", expect=None)
    assert not sums(page, lambda c: 0, lambda c: True, {"c"}) and page["time"]["count"] >= 1
    assert "no trace found" in dftmerge("report", "-o", where / "x.html", where / "nothing", expect=1).err


def test_names_cannot_break_out_of_the_page(where):
    need_library()
    hostile = '</script><script>alert(1)</script>"\'\x01\x7f\u202e' + "x" * 200
    folder = where / "d"
    folder.mkdir()
    program = where / "p.c"
    program.write_text(f'#include <fcntl.h>\n#include <unistd.h>\nint main(int c, char **v) {{ int fd = open(v[1], O_CREAT | O_WRONLY, 0600); return write(fd, "x", 1) != 1; }}\n')
    assert run("cc", "-o", where / "p", program).code == 0
    name = hostile.replace("/", "_")
    env = {"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(where / "t" / "x")}
    assert run(where / "p", folder / name, env=env).code == 0
    page = dftmerge("report", "-o", "-", where / "t").out
    assert b"alert(1)" not in page
    (decoded,) = reportpage.read(page)
    assert any("script" in path and "\\x01" in path for path in decoded.table("files")["path"])


RUNS = ({}, {"keep": 0}, {"mix": 1}, {"fold": 1}, {"mix": 1, "fold": 1}, {"start": 0}, {"slow": 1}, {"same_time": 1}, {"many": 40}, {"transfers": 1},
        {"live": 1}, {"end": 0}, {"texts": 0}, {"hosts": 2}, {"lossy": 1}, {"rows": 0}, {"strides": 1}, {"slow": 1, "mix": 1}, {"keep": 0, "slow": 1})


def some_filter(rng, wall_ns):
    """At most two options."""
    part = lambda: f"{max(1000, int(rng.random() * wall_ns)) / 1e9:.9f}"
    choices = [("--from", part()), ("--to", part()), ("--last", part()), ("--file", rng.choice(["/data/*", "*.bin", "*4096*", "/x/y/*"])),
               ("--class", rng.choice(["read", "write", "meta", "read,write"])), ("--name", rng.choice(["read", "write,pread", "fstat"])),
               ("--cat", rng.choice(["POSIX", "STDIO", "APP"])), ("--region", rng.choice(["step", "solve", "pack"])), ("--rank", "0")]
    return [word for option in rng.sample(choices, rng.randrange(3)) for word in option]


def all_sums(groups, members=SUMS):
    """Of groups without a call, too: what of calls lies in their time, or the other half of a transfer."""
    return tuple(sum(g[m] for g in groups) for m in members)


def test_any_run_under_any_filter(where):
    """Each cube sums up to what summary says, by call, file and time; durations are whole, or said to lack something."""
    asked = 0
    for seed, settings in enumerate(RUNS):
        rng = random.Random(seed)
        place = make(where / str(seed), seed=seed, events=rng.choice([60, 300]), processes=rng.choice([1, 3]), **{"ranks": 1, **settings})
        filters = some_filter(rng, summary("--all", place, expect=None)["wall_ns"])
        done = dftmerge("summary", "--all", "--json", "--top", "100000", *filters, place, expect=None)
        if done.code == 2:  # these two contradict each other
            dftmerge("report", "-o", "-", *filters, place, expect=2)
            continue
        said, what = json.loads(done.out), (settings, filters)
        (page,) = report(*filters, place, expect=None)
        calls, files = page.table("calls"), page.table("files")
        for cube in page["cubes"]:
            cells = page.table(cube["table"])
            got, want = tuple(sum(cells[m]) for m in "nedb"), all_sums(said["files" if "f" in cube["dims"] else "calls"])
            assert got == want, (what, cube, got, want)
        got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]], CLASSES[calls["class"][c["c"]]]), lambda c: True, {"c"})
        assert got == wanted(said["calls"], lambda g: (g["cat"], g["name"], g["class"])), what
        got = sums(page, lambda c: files["path"][c["f"]], lambda c: True, {"f"})
        assert got == wanted(said["files"], lambda g: escaped(g["file"])), what
        assert page["summary"] == summary("--all", *filters, place, expect=None), what
        same_in_time(page, filters, place, what)
        if settings.get("keep") != 0:
            same_events(page, filters, place, what)
        asked += 1
    assert asked > len(RUNS) // 2


def same_in_time(page, filters, place, what):
    """The bins are those of summary, and so is what lies in them."""
    width, base = page["time"]["width_ns"], int(page["base_ns"])
    said = json.loads(dftmerge("summary", "--json", "--by", "time,class", "--width", f"{width / 1e9:.9f}", *filters, place, expect=None).out)
    cells, calls = page.table(answering(page, {"t", "i"})), page.table("calls")
    busy = collections.Counter()
    for i, t in enumerate(cells["t"]):
        busy[t, CLASSES[calls["class"][cells["c"][i]] if "c" in cells else cells["i"][i]]] += cells["w"][i]
        assert t < page["time"]["count"], what
    if not said["groups"]:
        assert not busy, what
        return
    assert said["width_ns"] == width, what
    assert sums(page, lambda c: (c["t"], CLASSES[c["i"]]), lambda c: True, {"t", "i"}) == wanted(
        said["groups"], lambda g: ((g["t_ns"] - base) // width, g["class"])), what
    assert (said["groups"][0]["busy_ns"] is None) == any(t["what"] == "times" for t in page["thinned"]), what
    if said["groups"][0]["busy_ns"] is not None:
        assert {k: v for k, v in busy.items() if v} == {((g["t_ns"] - base) // width, g["class"]): g["busy_ns"] for g in said["groups"] if g["busy_ns"]}, what


def same_events(page, filters, place, what):
    """So few events stand there one by one, all of them."""
    slices, lanes, processes, calls, files = (page.table(t) for t in ("slices", "lanes", "processes", "calls", "files"))
    found, base = collections.Counter(), int(page["base_ns"])
    for lane, start, dur, c, f, moved in zip(*(slices[member] for member in ("lane", "start_ns", "dur_ns", "c", "f", "b"))):
        found[processes["pid"][lanes["process"][lane]], lanes["tid"][lane], base + start, dur, calls["cat"][c], calls["name"][c], files["path"][f], moved] += 1
    events = collections.Counter((e["pid"], e["tid"], e["ts"], e.get("dur", 0), e["cat"], e["name"], escaped(e.get("file", "")), e.get("bytes", 0))
                                 for e in dump(*filters, place, expect=None) if counts(e))
    assert found == events, (what, list((found - events).items())[:3], list((events - found).items())[:3])
    assert page["slices"]["kept"] == page["slices"]["of"] == sum(events.values()), what


def test_bins_of_overlap_sum_up_to_it(where):
    rng, place = random.Random(1), where / "t"
    place.mkdir()
    kinds = (("compute", "forward"), ("POSIX", "read"), ("POSIX", "write"), ("app", "loop"))
    events = [{"id": i, "name": name, "cat": cat, "pid": i % 4 + 1, "tid": i % 8 + 1, "ts": 1700000000000000 + rng.randrange(10**7), "dur": rng.randrange(10**5), "ph": "X",
               "args": {}} for i in range(600) for cat, name in [rng.choice(kinds)]]
    (place / "x.pfw").write_text("[\n" + "".join(json.dumps(e) + "\n" for e in events))
    for filters in ([], ["--from", "2.2"], ["--from", "1.01", "--to", "7.77"], ["--last", "3"], ["--pid", "2"], ["--class", "read"], ["--name", "read"]):
        (page,) = report("--no-index", *filters, place)
        said = json.loads(dftmerge("overlap", "--no-index", "--json", *filters, place).out)
        assert page["overlap"] == said and said["compute_is"] == "regions", filters
        assert {name: sum(values) for name, values in page.table("strip").items()} == {
            name: said[f"{name}_ns"] for name in ("compute", "io", "hidden", "exposed", "idle")}, filters


def test_durations_that_aggregates_do_not_know(where):
    """A part of the time has no histograms where these are of 64 intervals: what summary does not know, the page does not either."""
    make(where / "none", keep=0, ranks=1)
    (page,) = report("--to", "0.15", where / "none")
    assert all(g["time_p50_ns"] is None for g in summary("--by", "call", "--to", "0.15", where / "none")["groups"])
    assert not page["latency"] and any("do not know" in t["text"] for t in page["thinned"]), (page["latency"], page["thinned"])
    make(where / "some", mix=1, ranks=1)
    (page,) = report("--from", "0.1", where / "some")
    (entry,) = page["latency"]
    (lack,) = (t for t in page["thinned"] if t["what"] == "latency" and t["of"])
    groups = summary("--by", "call,class,region", "--from", "0.1", where / "some")["groups"]
    known = sum(g["count"] for g in groups if g["time_p50_ns"] is not None)
    assert entry["dims"] == ["c", "g"] and sum(page.table(entry["table"])["n"]) == lack["kept"] < lack["of"] and lack["kept"] <= known, lack


@pytest.mark.skipif(not LONG, reason="in the long form")
def test_many_calls_of_many_processes(where):
    """Where no cube has both processes and calls, or both times and calls, each of them still has one."""
    rng, total, where = random.Random(1), collections.Counter(), where / "t"
    where.mkdir()
    with open(where / "x.pfw", "w", encoding="ascii") as out:
        out.write("[\n")
        for i in range(260000):
            name, ts = f"c{rng.randrange(900):03}", 1700000000000000 + rng.randrange(23 * 10**7)
            total[name] += 1
            out.write(f'{{"id":{i},"name":"{name}","cat":"POSIX","pid":{i % 200 + 1},"tid":{i % 200 + 1},"ts":{ts},"dur":5,"ph":"X","args":{{}}}}\n')
    (page,) = report("--no-index", where)
    assert not any({"c", "p"} <= set(c["dims"]) or {"c", "t"} <= set(c["dims"]) for c in page["cubes"] if "f" not in c["dims"]), page["cubes"]
    calls = page.table("calls")
    assert {k: v[0] for k, v in sums(page, lambda c: calls["name"][c["c"]], lambda c: True, {"c"}).items()} == total
    for axis in "tpg":
        got = sums(page, lambda c, axis=axis: (c[axis], c["i"]), lambda c: True, {axis, "i"})
        assert sum(v[0] for v in got.values()) == 260000, axis


def test_aggregates_alone_are_said(where):
    ranks(where, ranks=8, seconds=30, keep=0)
    done = dftmerge("report", "-o", "-", where)  # nothing is wrong: it is a run without events
    assert "in no group" not in done.err, done.err
    (page,) = reportpage.read(done.out)
    calls = page.table("calls")
    said = summary("--all", where)
    got = sums(page, lambda c: (calls["cat"][c["c"]], calls["name"][c["c"]]), lambda c: True, {"c"})
    assert got == wanted(said["calls"], lambda g: (g["cat"], g["name"]))
    assert page["slices"]["kept"] == 0 and any("events were not kept" in t["text"] for t in page["thinned"])


def test_real_traces(where):
    if not DATA.exists():
        pytest.skip("the shared data are not there")
    (page,) = report("--no-index", DATA / "cm1")
    assert page["who"] == "rank" and len(page.table("who")["rank"]) == 48
    for filters, passes, dimensions in (([], lambda c: True, set()), (["--rank", "5"], lambda c: c["p"] == 5, {"p"})):
        same_as_summary(page, ["--no-index", *filters], DATA / "cm1", passes, dimensions)
