# SPDX-License-Identifier: MIT
"""The page of dftmerge report in Chromium: it is built from its sources, draws what it has, and its numbers are those of
summary under the same filter. Needs npm and Chromium; runs in tests/run.sh --full."""

import atexit
import collections
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import reportpage
from test_layers import dlio_traces
from test_report import escaped
from test_spans import chance
from tooltest import BUILD, DFTMERGE, ROOT, dftmerge, make, run, summary

HERE = pathlib.Path(__file__).resolve().parent
REPORT = ROOT / "report"
DATA = ROOT.parent / "shared" / "data" / "dftracer" / "cm1"
CLASSES = ["none", "read", "write", "sync", "meta", "wait", "startup"]
IO = ["read", "write", "sync", "meta", "startup"]
PICTURES = ["headline", "sizes", "latency", "calls", "files", "people", "bandwidth"]
WRITTEN = "tests/tools/unit/written.tsv"
DRAWN = ["heat", "classes", "ranks", "treemap", "regions", "flame", "timeline", "tree"]
MISSING = [tool for tool in ("node", "npm", "chromium") if not shutil.which(tool)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not installed")


def built(where=[]):
    """A copy of the folder with its packages, and of the file that its tests share with others, made once."""
    if not where:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dftrace-report-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(REPORT, folder / "report", ignore=shutil.ignore_patterns("node_modules"))
        (folder / WRITTEN).parent.mkdir(parents=True)
        shutil.copy(ROOT / WRITTEN, folder / WRITTEN)
        done = run("npm", "ci", "--no-audit", "--no-fund", cwd=folder / "report")
        assert done.code == 0, done.err
        where.append(folder / "report")
    return where[0]


def browse(url, **job):
    """What Chromium saw. An error on the console, or a request to anywhere, fails the test."""
    url = url if str(url).startswith("http") else f"file://{url}"
    done = subprocess.run(["node", HERE / "browser.mjs", built() / "package.json"], input=json.dumps({"url": url, **job}), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert not seen["console"], seen["console"]
    assert all(r.startswith((url, "data:", "blob:")) for r in seen["requests"]), seen["requests"]
    return seen


def page_of(where, *arguments, expect=0):
    page = where / "page.html"
    dftmerge("report", "-o", page, *arguments, expect=expect)
    return page


# --- numbers ------------------------------------------------------------------------------------------------------------


def total(groups, member, classes):
    return sum(g[member] for g in groups if g["class"] in classes)


def rows_of(groups, key, *members):
    rows = collections.defaultdict(lambda: [0] * len(members))
    for group in groups:
        rows[key(group)] = [a + group[m] for a, m in zip(rows[key(group)], members)]
    return dict(rows)


def same_rows(got, want, is_own, what):
    """A table leaves out the filter of its own dimension: then what was asked for is among its rows."""
    got = {key: list(values) for key, values in got if values[0]}
    assert {key: got.get(key) for key in want} == want, (what, want)
    assert is_own or got.keys() == want.keys(), (what, got.keys() - want.keys())


def head_holds(head, classes, filters):
    assert [head["calls"], head["failed"], head["io_ns"]] == [total(classes, m, IO) for m in ("count", "errors", "time_ns")], filters
    for word, members in (("read", ("read_bytes", "reads", "read_ns")), ("write", ("written_bytes", "writes", "write_ns"))):
        assert [head[m] for m in members] == [total(classes, m, [word]) for m in ("bytes", "count", "time_ns")], (filters, word)


def holds(numbers, said, hist, chosen, who_of):
    """The numbers of a page under a filter are those of summary under the same; what does not apply is named."""
    head, sizes, latency, call, file, who, bandwidth = (numbers[id_][0] for id_ in PICTURES)
    assert not any(picture["ignored"] for picture in (head, sizes, call, file, who, bandwidth)), chosen
    head_holds(head, said["classes"], chosen)
    assert bandwidth["io_ns"] == head["io_ns"] or "t" in chosen, chosen
    got = {(r["name"], w): [r["calls"][w], r["time_ns"][w], r["bytes"][w]] for r in sizes["rows"] for w in ("read", "write") if r["calls"][w]}
    moved = [g for g in said["sizes"] if g["class"] in ("read", "write")]
    assert got == rows_of(moved, lambda g: (g["size"] or "not known", g["class"]), "count", "time_ns", "bytes"), chosen
    assert hist or not latency["calls"], chosen
    if not latency["ignored"] and hist:
        assert latency["calls"] == sum(d["count"] for d in hist["durations"]), chosen
        assert latency["percentiles_ns"] == [hist[f"time_p{p}_ns"] for p in (50, 95, 99)], (chosen, latency["percentiles_ns"])
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for c, name, *values in zip(call["cat"], call["name"], call["calls"], call["failed"], call["time_ns"], call["bytes"]):
        rows[c, name] = [a + b for a, b in zip(rows[c, name], values)]
    regions = {(g["cat"], g["name"]) for g in said["regions"]}
    calls = rows_of([g for g in said["calls"] if (g["cat"], g["name"]) not in regions], lambda g: (g["cat"], g["name"]), "count", "errors", "time_ns", "bytes")
    same_rows(rows.items(), calls, "c" in chosen, "calls")
    same_rows(((p, v) for p, *v in zip(file["path"], file["all_calls"], file["all_ns"])), rows_of(said["files"], lambda g: escaped(g["file"]), "count", "time_ns"),
              "f" in chosen, "files")
    rows = collections.defaultdict(lambda: [0, 0])
    for p, values in enumerate(zip(who["calls"], who["time_ns"])):
        rows[who_of[p]] = [a + b for a, b in zip(rows[who_of[p]], values)]
    if "p" not in chosen or who_of[chosen["p"][0]] is not None:
        same_rows(rows.items(), rows_of(said["by_rank"], lambda g: g["rank"], "count", "time_ns"), "p" in chosen, "ranks")


def pictures_hold(numbers, said, by_file, by_region, chosen):
    """The same of the pictures that have no table: their sums are those of summary, unless they say that a filter is left out."""
    one = {id_: answer[0] for id_, answer in numbers.items() if answer and answer[0]}
    io_ns = total(said["classes"], "time_ns", IO)
    if not one["heat"]["ignored"] and "t" not in chosen and "c" not in chosen:
        assert sum(one["heat"]["by_row"]) == io_ns, (chosen, "heat")
    if not one["classes"]["ignored"] and "c" not in chosen:
        processes = max(1, numbers["headline"][0]["processes"])
        times = one["classes"]["bars"][0]["times"]
        assert {w: round(times[w] * processes) for w in IO} == {w: total(said["classes"], "time_ns", [w]) for w in IO}, (chosen, "classes")
    assert one["ranks"]["ignored"] or sum(r["io"] for r in one["ranks"]["rows"]) == io_ns, (chosen, "ranks")
    assert one["treemap"]["ignored"] or one["treemap"]["root"]["d"] == total(by_file, "time_ns", IO), (chosen, "treemap")
    if "regions" in one and not one["regions"]["ignored"]:
        rows = rows_of([g for g in by_region if g["class"] in IO and g["region"]], lambda g: g["region"], "count", "time_ns")
        got = collections.defaultdict(lambda: [0, 0])
        for name, *values in zip(one["regions"]["name"], one["regions"]["calls"], one["regions"]["time_ns"]):
            got[name] = [a + b for a, b in zip(got[name], values)]
        same_rows(((name, v) for name, v in got.items() if name), rows, "g" in chosen, "regions")
    if not chosen:
        assert one["tree"]["count"] == said["processes"] and 0 < one["timeline"]["kept"] <= one["timeline"]["of"] <= said["events_kept"]
        assert "flame" not in one or one["flame"]["root"]["d"] > 0


def filters_of(page):
    """(what is chosen in the page, the same as options): none, a process, a time, a call, a file, a region."""
    (data,) = reportpage.read(page.read_bytes())
    who, calls, files, regions, processes = (data.table(t) for t in ("who", "calls", "files", "regions", "processes"))
    count, width, start = data["time"]["count"], data["time"]["width_ns"], data["start_ns"]
    first, last = count // 3, max(count // 3 + 1, 2 * count // 3)
    seconds = [f"{(at * width - start) / 1e9:.9f}" for at in (first, last)]
    out = [({}, []), ({"t": [first, last]}, (["--from", seconds[0]] if first else []) + ["--to", seconds[1]])]
    ranks = sorted(set(who["rank"]) - {0})
    if ranks:
        rank = ranks[len(ranks) // 2]
        chosen, option = [p for p, r in enumerate(who["rank"]) if r == rank], ["--rank", str(rank - 1)]
    else:
        alone = [i for i, pid in enumerate(processes["pid"]) if processes["pid"].count(pid) == 1]
        chosen, option = [processes["p"][alone[len(alone) // 2]]], ["--pid", str(processes["pid"][alone[len(alone) // 2]])]
    out.append(({"p": chosen}, option))
    out.append(({"p": chosen, "t": [first, last]}, [*option, *(["--from", seconds[0]] if first else []), "--to", seconds[1]]))
    names = collections.Counter(calls["name"])
    chosen = [c for c, name in enumerate(calls["name"]) if names[name] == 1 and CLASSES[calls["class"][c]] in ("read", "write")]
    if chosen:
        out.append(({"c": chosen[:1]}, ["--name", calls["name"][chosen[0]]]))
    if len(files["path"]) > 1:
        out.append(({"f": [1]}, ["--file", files["path"][1]]))
    if len(regions["name"]) > 1:
        name = regions["name"][1]
        out.append(({"g": [g for g, n in enumerate(regions["name"]) if n == name]}, ["--region", name]))
    return out


def numbers_are_those_of_summary(where, traces, *options, without=()):
    page = page_of(where, *options, traces)
    filters = [(select, arguments) for select, arguments in filters_of(page) if not set(select) & set(without)]
    seen = browse(page, steps=[{"select": select, "ids": PICTURES + DRAWN} for select, _ in filters])
    assert seen["state"] == "ready"
    (data,) = reportpage.read(page.read_bytes())
    who_of = [rank - 1 if rank else None for rank in data.table("who")["rank"]]
    for (select, arguments), answer in zip(filters, seen["answers"]):
        said = summary("--all", "--top", "100000", *options, *arguments, traces)
        (hist,) = summary("--hist", "--all", "--class", ",".join(IO), *options, *arguments, traces)["histograms"] or [None]
        holds(answer, said, hist, select, who_of)
        groups = [summary("--by", f"{key},class", *options, *arguments, traces)["groups"] for key in ("file", "region")]
        pictures_hold(answer, said, *groups, select)
    return seen, page


def drawn(seen, *lacking):
    """Every picture shows something, or says why not."""
    for picture in seen["pictures"]:
        shows = picture["rows"] or any(c > 4 for c in picture["canvases"]) or len(picture["text"]) > 60
        assert shows, picture
    blank = [p["id"] for p in seen["pictures"] if p["canvases"] and max(p["canvases"]) < 4]
    assert set(blank) <= set(lacking), blank


def small_and_dark(page):
    for job in ({"width": 400}, {"dark": True}, {"width": 400, "dark": True}):
        seen = browse(page, **job)
        assert seen["state"] == "ready" and not seen["scrolls"], job
        drawn(seen)


# --- pages --------------------------------------------------------------------------------------------------------------


def test_is_built_from_its_sources(where):
    folder = built()
    before = (REPORT / "built" / "report.html").read_bytes()
    done = run("npm", "run", "build", cwd=folder)
    assert done.code == 0, done.err
    assert (folder / "built" / "report.html").read_bytes() == before, "the committed page is another one than the sources make"
    done = run("npm", "test", cwd=folder)
    assert done.code == 0, done.out.decode()[-3000:]


def test_a_program_in_c(where):
    assert run("cc", "-g", "-O2", "-o", where / "slow", ROOT / "examples" / "slow.c").code == 0
    (where / "work").mkdir()
    done = run(BUILD / "bin" / "dftrun", "--no-summary", "--stack", "8", "-o", where / "traces", "--", where / "slow", where / "work")
    assert done.code == 0, done.err
    seen, page = numbers_are_those_of_summary(where, where / "traces")
    drawn(seen)
    assert "1-byte reads" in seen["text"] and "fsync" in seen["text"]
    small_and_dark(page)


def test_ranks_threads_and_regions(where):
    make(where / "t", ranks=1, processes=5, threads=3)
    # A call on two files counts for the first one in the page, and passes --file by either.
    seen, _ = numbers_are_those_of_summary(where, where / "t", without="f")
    drawn(seen)


def test_torch_example(where):
    if run("/usr/bin/python3", "-c", "import torch").code:
        print("skipped: torch is not installed")
        return
    (where / "work").mkdir()
    done = run("/usr/bin/python3", "-m", "dftrace", "run", "-o", where / "traces", "--torch", "--no-summary", ROOT / "examples" / "torch_loader.py",
               "--data", where / "work", "--files", "600", env={"PYTHONPATH": str(BUILD / "python")})
    assert done.code == 0, done.err[-2000:]
    seen, _ = numbers_are_those_of_summary(where, where / "traces")
    drawn(seen)
    assert "wait for data" in seen["text"] or "trainer" in seen["text"]


def test_forty_eight_ranks_of_cm1(where):
    if not DATA.exists():
        print("skipped: the shared data are not there")
        return
    seen, page = numbers_are_those_of_summary(where, DATA, "--no-index")
    drawn(seen)
    small_and_dark(page)


def test_eight_ranks_like_dlio(where):
    (where / "t").mkdir()
    dlio_traces(where / "t")
    seen, _ = numbers_are_those_of_summary(where, where / "t", "--no-index")
    drawn(seen)
    assert any(p["id"] == "overlap" and "compute" in p["text"] for p in seen["pictures"])


def test_ten_thousand_ranks(where):
    done = run(BUILD / "bin" / "make_ranks", where / "t", "ranks=10000", "seconds=10", "rate=2")
    assert done.code == 0, done.err
    page = page_of(where, where / "t")
    assert page.stat().st_size < 20_000_000
    ids = ["headline", "calls", "people", "heat", "ranks"]
    seen = browse(page, steps=[{"ids": ids}, {"select": {"p": [77]}, "ids": ids}, {"select": {"t": [2, 5]}, "ids": ids}])
    drawn(seen)
    print(f"        ready after {seen['ready_ms']} ms")
    for answer, arguments in zip(seen["answers"], ([], ["--rank", "77"])):
        said = summary("--all", "--top", "100000", *arguments, where / "t")
        assert answer["headline"][0]["calls"] == total(said["classes"], "count", IO) and answer["headline"][0]["io_ns"] == total(said["classes"], "time_ns", IO)
        assert not answer["headline"][0]["ignored"] and not answer["people"][0]["ignored"]
        rows = zip(answer["people"][0]["label"], zip(answer["people"][0]["time_ns"]))
        same_rows(rows, {f"rank {g['rank']}": [g["time_ns"]] for g in said["by_rank"]}, bool(arguments), "ranks")
    assert seen["answers"][2]["people"][0]["ignored"] == ["t"], "a time of single ranks is not known, and that is said"


def test_two_runs(where):
    make(where / "a", ranks=1, processes=3)
    make(where / "b", ranks=1, processes=4, seed=9)
    page = page_of(where, where / "a", "--", where / "b")
    seen = browse(page, steps=[{"ids": ["headline", "calls"]}])
    drawn(seen)
    for number, folder in enumerate(("a", "b")):
        said = summary("--all", where / folder)
        assert seen["answers"][0]["headline"][number]["calls"] == total(said["classes"], "count", IO)
    small_and_dark(page)


# --- bad input ----------------------------------------------------------------------------------------------------------


def foreign(where, *lines):
    (where / "t").mkdir(exist_ok=True)
    (where / "t" / "a.pfw").write_text("[\n" + "\n".join(json.dumps(line) for line in lines) + "\n]\n")
    return where / "t"


def event(name, ts, dur=5, **args):
    return {"id": ts, "name": name, "cat": "POSIX", "ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def test_odd_times(where):
    for lines in ([event("read", 0, ret=5), event("read", 1_700_000_000_000_000, ret=5)],  # a process at 1970
                  [event("read", 1_700_000_000_000_000, 0, ret=5)],                        # no time
                  [event("my region", 1_700_000_000_000_000, 10)]):
        page = page_of(where, "--no-index", foreign(where, *lines))
        assert browse(page)["state"] == "ready"


def test_nothing_passes(where):
    make(where / "t")
    seen = browse(page_of(where, "--name", "no_such_call", where / "t", expect=None))
    assert seen["state"] == "ready"


def test_hostile_names(where):
    nasty = '</script><img src=x onerror=alert(1)>"\'`\u202e\u0007' + "n" * 4000
    table = [{"name": "FH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": f"/d/{i}/{nasty}", "value": i + 1}} for i in range(3)]
    lines = [event(nasty[:200], 1_700_000_000_000_000 + 10 * i, fhash=i % 3 + 1, ret=10) for i in range(9)]
    lines += [event("read", 1_700_000_000_000_500 + 10 * i, fhash=i % 3 + 1, ret=10) for i in range(9)]
    page = page_of(where, "--no-index", foreign(where, *table, *lines))
    seen = browse(page, before="window.alert = () => console.error('executed');")
    assert seen["state"] == "ready" and not seen["scrolls"]
    assert browse(page, width=400)["scrolls"] is False


def test_spans_of_a_workflow(where):
    """Its pictures are images, which the page's policy lets in; a page without --spans has no such card."""
    traces = where / "traces"
    make(traces, processes=2, events=50)
    if "without SQLite" in dftmerge("spans", "types", "x.db", expect=None).err:
        return
    widths = "Promise.all([...document.querySelectorAll('#spans img')].map((image) => image.decode().then(() => image.naturalWidth)))"
    page = page_of(where, "--spans", chance(where / "x.db", 0), "--spans-root", "task", traces)
    seen = browse(page, steps=[{"ids": ["spans"], "run": widths}, {"select": {"class": ["read"]}, "ids": ["spans"]}])
    assert seen["said"] == [[800, 800, 800]] and seen["answers"][0]["spans"][0]["root"] == "task"
    (card,) = [picture for picture in seen["pictures"] if picture["id"] == "spans"]
    assert card["rows"] == seen["answers"][0]["spans"][0]["length"] and "events in" in card["text"]
    assert seen["answers"][1]["spans"][0]["ignored"] == ["c"]
    narrow = "[...document.querySelectorAll('#spans .steps td:first-child')].map((cell) => cell.getBoundingClientRect().width)"
    seen = browse(page, width=400, steps=[{"run": narrow}])
    assert seen["scrolls"] is False and seen["said"][0] and min(seen["said"][0]) > 100, "a phone has room for words"
    assert not [picture for picture in browse(page_of(where, traces))["pictures"] if picture["id"] == "spans"]


# Where the table of files stands before and after what is above it changes, and after a moment.
STAYS = """(async () => {
    const files = document.getElementById('files'), later = (ms) => new Promise((done) => setTimeout(done, ms));
    files.scrollIntoView({ block: 'start' });
    files.querySelector('input').focus({ preventScroll: true });
    await later(1000);
    const before = files.getBoundingClientRect().top;
    window.dftrace.select({ class: ['write'] });
    await later(300);
    const after = files.getBoundingClientRect().top;
    window.dftrace.select({ c: null });
    return after - before;
})()"""

# The canvases that are wider than the card that they stand in, or do not fill it, a moment after the window has another width.
FITS = """(async () => {
    await new Promise((done) => setTimeout(done, 1500));
    return [...document.querySelectorAll('.card canvas')]
        .filter((canvas) => canvas.getBoundingClientRect().top < innerHeight)
        .map((canvas) => [canvas.closest('.card').id, canvas.getBoundingClientRect().right, canvas.closest('.plot').getBoundingClientRect().right])
        .filter(([, right, edge]) => right > edge + 1);
})()"""


def test_another_width(where):
    """Pictures are drawn anew when the window gets narrower, also while cards come into sight by it."""
    make(where / "t", ranks=1, processes=5)
    seen = browse(page_of(where, where / "t"), steps=[{"width": width, "run": FITS} for width in (1000, 400, 1400, 400)])
    assert seen["said"] == [[]] * 4 and not seen["scrolls"], seen["said"]


# What a printed page has of the table of files.
PAPER = """(() => {
    dispatchEvent(new Event('beforeprint'));
    const files = document.getElementById('files');
    [...files.querySelectorAll('button')].find((button) => button.textContent === 'files').click();
    const seen = [files.querySelectorAll('tbody tr').length, files.innerText.includes('On paper: the first 30 of 5,001 rows.')];
    dispatchEvent(new Event('afterprint'));
    return [...seen, document.getElementById('files').innerText.includes('On paper')];
})()"""


def test_very_many(where):
    make(where / "t", processes=1, threads=20000, events=4)
    assert browse(page_of(where, where / "t"))["state"] == "ready"
    files = where / "files"
    files.mkdir()
    with open(files / "a.pfw", "w") as out:
        out.write("[\n")
        for i in range(100_000):
            out.write(json.dumps({"name": "FH", "cat": "dftracer", "ph": "M", "pid": 1, "tid": 1, "args": {"name": f"/d/{i % 977}/f{i}.x", "value": i + 1}}) + "\n")
            out.write(json.dumps(event("read", 1_700_000_000_000_000 + 10 * i, fhash=i + 1, ret=100)) + "\n")
        out.write("]\n")
    seen = browse(page_of(where, "--no-index", files), steps=[{"run": STAYS}, {"run": PAPER}])
    moved, paper = seen["said"]
    assert abs(moved) < 3, moved
    assert paper == [30, True, False], paper
    assert seen["state"] == "ready" and "100,000" in seen["text"].replace("100000", "100,000")


def test_old_browsers_and_damaged_data(where):
    make(where / "t")
    page = page_of(where, where / "t")
    seen = browse(page, before="delete window.DecompressionStream;")
    assert seen["state"] == "ready"
    text = page.read_text()
    start = text.index('id="dftrace-data">') + 18
    for name, damaged in (("empty", text[:start] + text[text.index("<", start):]), ("cut", text[: start + 400] + text[text.index("<", start):]),
                          ("other", text[:start] + "AAAA" + text[start + 4 :]), ("letters", text[:start] + "!!" + text[start:])):
        page.write_text(damaged)
        seen = browse(page)
        assert seen["state"] == "failed" and "dftmerge report" in seen["text"], (name, seen["text"])


def test_follows_a_job(where):
    make(where / "t", processes=2)
    with subprocess.Popen([DFTMERGE, "serve", where / "t"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        url = server.stdout.readline().strip()
        # The traces are whole: the page of a run that has ended does not call itself live.
        seen = browse(url, steps=[{"wait": "document.body.innerText.includes('the run has ended; as of')", "ids": ["headline"]}])
        server.send_signal(signal.SIGINT)
    said = summary("--all", where / "t")
    assert seen["answers"][0]["headline"][0]["calls"] == total(said["classes"], "count", IO)
