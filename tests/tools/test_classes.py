# SPDX-License-Identifier: MIT
"""--classes FILE: a user's classes of files, for events; whatever class a call has, it is counted once."""

import json
import re
import shutil

from pfw_files import Writer
from tooltest import DFTMERGE, counts, dftmerge, dump, make, run, summary

LOOKS = {"openat", "read", "pread", "fread", "fstat", "lseek", "close"}  # of the calls that make_traces makes
TABLE = """# of files
startup START /data/in/ # code, here
read END .bin

none  PART \t/y/
wait VERSION er/4
meta START /x
"""


def fits(where, text, path):
    if where == "START":
        text = text.rstrip("/") or "/"
        return path == text or path.startswith(text if text[-1] in ":/" else text + "/")
    if where == "PART":
        return text in path
    if where == "END":
        return path.endswith(text)
    return re.search(re.escape(text) + r"(\.[0-9]+)*$", path) is not None


def rows_of(table):
    lines = (re.sub(r"(^|\s)#.*", "", line).split(None, 2) for line in table.splitlines())
    return [(io, where, text.strip()) for io, where, text in filter(None, lines)]


def wanted(event, rows, own=lambda e: e["class"]):
    """The class of an event by these rows: of the first that fits its file."""
    for io, where, text in rows:
        if "file" in event and own(event) != "none" and fits(where, text, event["file"]):
            return io if io != "startup" or event["name"] in LOOKS else own(event)
    return own(event)


def table_in(directory, text=TABLE):
    (directory / "table").write_text(text)
    return "--classes", directory / "table"


def by_class(answer):
    return {g["class"]: (g["count"], g["time_ns"], g["errors"], g["bytes"]) for g in answer["groups"]}


def sums(groups):
    return tuple(map(sum, zip(*groups.values())))


def recount(events):
    found = {}
    for e in filter(counts, events):
        own = (e.get("calls", 1), e["dur"], e.get("calls", 1) * ("errno" in e), 0 if "errno" in e else e.get("bytes", 0))
        found[e["class"]] = tuple(map(sum, zip(found.get(e["class"], (0, 0, 0, 0)), own)))
    return found


def test_each_call_is_counted_once(directory):
    """Sums over all classes stay; dump tells the class that the table says, and summary counts just that."""
    traces = make(directory / "t", processes=3, events=500, ranks=1)
    plain = dump(traces)
    for text in (TABLE, "none START /\n", "sync PART a\nwrite START /\n", "# nothing\n", "wait END /\n"):
        option = table_in(directory, text)
        events = dump(*option, traces)
        rows = rows_of(text)
        assert [dict(e, **{"class": 0}) for e in events] == [dict(e, **{"class": 0}) for e in plain], "other members"
        for event, before in zip(events, plain):
            assert event["class"] == wanted(before, rows), (event, before, text)
        got = by_class(summary("--by", "class", *option, traces))
        before = by_class(summary("--by", "class", traces))
        counted = recount(events)
        assert {k: v[:3] for k, v in got.items()} == {k: v[:3] for k, v in counted.items()}, (got, counted)
        assert sums(got) == sums(before), (got, before)
        parts = summary("--by", "file,class", *option, traces)["groups"]
        for g in parts:
            assert g["count"] == sum(e.get("calls", 1) for e in events if counts(e) and e.get("file") == g["file"] and e["class"] == g["class"]), g
    found = set(by_class(summary("--by", "class", *table_in(directory), traces)))
    assert found == {"none", "read", "write", "meta", "wait", "startup"}, found


def test_classes_choose(directory):
    """--class asks for the classes of the table; pages and pictures show them."""
    traces, option = make(directory / "t", processes=2, events=400), table_in(directory)
    events = [e for e in dump(traces) if wanted(e, rows_of(TABLE)) == "startup"]
    assert events and len(dump("--class", "startup", *option, traces)) == len(events)
    assert not dump("--class", "startup", traces)
    files = summary("--by", "file", "--class", "startup", *option, traces)["groups"]
    assert {g["file"] for g in files} == {e["file"] for e in events if counts(e)}, files
    assert sum(g["count"] for g in files) == sum(e.get("calls", 1) for e in events if counts(e))
    page = dftmerge("summary", *option, traces).out.decode()
    assert re.search(r"^start-?up ", page, re.M), page
    none = table_in(directory, "none START /\n")
    series = json.loads(dftmerge("timeline", "--json", "--by", "class", *none, traces).out)["series"]
    assert not series, series
    for more in ((), ("--by", "rank")):
        assert json.loads(dftmerge("timeline", "--json", *more, traces).out)["intervals"]
    assert json.loads(dftmerge("overlap", "--json", traces).out)["io_ns"] > 0
    assert json.loads(dftmerge("overlap", "--json", *none, traces).out)["io_ns"] == 0
    dftmerge("findings", *option, traces)


def test_which_paths_fit(directory):
    """Each word of a place, on paths at its edges; of rows that fit the first one holds."""
    paths = ("/opt/conda", "/opt/conda/bin/x", "/opt/condas", "/a/opt/conda", "/lib/libm.so", "/lib/libm.so.6", "/lib/libm.so.6.1",
             "/lib/libm.so.a", "/lib/libm.so.", "/lib/libm.so6", "/d/x.h5", "/d/x.h5.1", "/d/x.h5x", "/d/a b#c", "/.5", "pipe:[7]")
    writer = Writer("2.x")
    for at, path in enumerate(paths):
        writer.call("POSIX", "read", 1_700_000_000_000_000 + 1000 * at, 10, file=path, ret=1)
    (directory / "x.pfw").write_text(writer.text())
    for text in ("wait START /opt/conda", "wait START /opt/conda/", "wait VERSION .so", "wait END .so", "wait END .h5", "wait PART conda",
                 "wait END a b#c # not this", "wait START /", "wait START pipe:", "wait VERSION 5", "wait VERSION .6",
                 "meta END .6\nwait VERSION .so\nsync START /lib", "sync START /lib\nwait VERSION .so"):
        events = dump("--no-index", *table_in(directory, text), directory / "x.pfw")
        own = {e["file"]: e["class"] for e in dump("--no-index", directory / "x.pfw")}
        for event in events:
            rows = rows_of(text)
            assert event["class"] == wanted(event, rows, lambda e: own[e["file"]]), (event, text)
    assert len(events) == len(paths), events


def test_bad_tables(directory):
    """The line and the nearest word are named; nothing is answered."""
    traces = make(directory / "t", processes=1, events=30)
    for text, *words in (("read END .h5\nreed END .x\n", "line 2: reed is no class", "Did you mean read?"),
                         ("read ENDS .h5\n", "line 1: ENDS does not say where", "Did you mean END?"),
                         ("\n\nread\n", "line 3: a text is missing"), ("read END # x\n", "line 1: a text is missing"),
                         ("read START data\n", "data: START takes a path from the root"),
                         ("read END .a\nsync END .a\n", "line 2: .a is already in line 1"),
                         ("read END " + "x" * 600, "line 1: the line is too long"), ("read\0", "line 1: this is no text file"),
                         ("\x1b[31m END .h5", "\\x1B[31m is no class")):
        done = dftmerge("summary", *table_in(directory, text), traces, expect=2)
        assert not done.out and all(word.lower() in done.err.lower() for word in words) and "--help" in done.err, (text, done)
    assert "No such file" in dftmerge("dump", "--classes", directory / "none", traces, expect=2).err
    assert "directory" in dftmerge("findings", "--classes", directory, traces, expect=2).err
    for command in ("ps", "check", "stat", "ranks", "export", "compare", "merge"):
        assert "does not take --classes" in run(DFTMERGE, command, "--classes", directory / "table", traces).err, command


def test_aggregates_keep_their_class(directory):
    """Of these the table says nothing, and the page says so; what events there are, it does."""
    option = table_in(directory)
    rows = make(directory / "rows", processes=2, events=300, keep=0)
    for question in (("--by", "class"), ("--by", "file,class"), ("--by", "file", "--class", "read")):
        assert summary(*question, *option, rows)["groups"] == summary(*question, rows)["groups"], question
    note = "--classes applies to events only: 100.0 % of the calls are known as aggregates and keep their class"
    for command in ("summary", "findings", "overlap", "timeline"):
        assert note in dftmerge(command, *option, rows).err, command
    events = make(directory / "events", processes=2, events=300, seed=5)
    assert "--classes applies" not in dftmerge("summary", *option, events).err
    (directory / "both").mkdir()
    for path in (*rows.iterdir(), *events.iterdir()):
        shutil.copy(path, directory / "both")
    both = dftmerge("summary", "--json", "--by", "class", *option, directory / "both")
    assert re.search(r"only: \d+\.\d % of the calls", both.err), both.err
    parts = [by_class(summary("--by", "class", *option, part)) for part in (rows, events)]
    together = by_class(json.loads(both.out))
    for io in set(parts[0]) | set(parts[1]):
        nothing = (0, 0, 0, 0)
        assert together[io] == tuple(map(sum, zip(parts[0].get(io, nothing), parts[1].get(io, nothing)))), io
