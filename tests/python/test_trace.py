# SPDX-License-Identifier: MIT
"""dftrace.open(): what it answers is what dftmerge says, in each form; wrong questions get a clear error."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, List

import pytest
from arrow_reader import batches, schema_of
from hypothesis import given, settings
from hypothesis import strategies as st
from traced import DFTMERGE, DFTRUN, TREE, dump, environment, python, run

import dftrace
from dftrace import _arrow, _table
from dftrace.integrations import jupyter

LACKS_SQL = b"without SQLite" in subprocess.run([DFTMERGE, "sql", "x"], check=False, stderr=subprocess.PIPE).stderr
NEEDS_SQL = pytest.mark.skipif(LACKS_SQL, reason="dftmerge was built without SQLite")
SCRIPT = """
    import os
    import dftrace
    os.mkdir("data")
    for number in range(20):
        with open(f"data/file{number}.bin", "wb") as file:
            file.write(b"x" * 1000)
    name = os.fsencode("data/odd") + bytes([0xff, 0x22, 0x5c, 0x0a])
    open(name, "wb").close()
    open("data/\\u00e4\\U0001f600", "wb").close()
    with dftrace.region("load", step=3, share=0.5, note='a "quoted" word'):
        for number in range(20):
            with open(f"data/file{number}.bin", "rb") as file:
                file.read()
    try:
        os.stat("data/none")
    except FileNotFoundError:
        pass
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A small trace with all that columns may hold."""
    done = python(SCRIPT, tmp_path_factory.mktemp("trace"))
    assert done.code == 0, done.err
    return done.traces


def asked(command: str, *words: object) -> Any:
    """dftmerge's own answer."""
    return json.loads(subprocess.run([str(word) for word in (DFTMERGE, command, "--json", *words)], check=True,
                                     stdout=subprocess.PIPE).stdout)


def merged(found: List[Any]) -> List[Any]:
    """The rows of all batches."""
    return [dict(zip(columns, row)) for _, columns in found for row in zip(*columns.values())]


def test_answers_are_those_of_dftmerge(traces: pathlib.Path) -> None:
    trace = dftrace.open(traces)
    by = trace.summary(by=["file", "name"], name="read,write")
    assert by.to_dicts() == asked("summary", "--by", "file,name", "--name", "read,write", traces)["groups"]
    assert sum(row["bytes"] for row in trace.summary(where={"class": "read"}, file="*.bin")) == 20000
    assert trace.summary(errors=True, file="*/none")[0]["errors"] == 1
    assert trace.findings().to_dicts() == asked("findings", traces)["findings"]
    verdict = trace.findings().info["verdict"]
    assert verdict == asked("findings", traces)["verdict"]
    if verdict["level"] not in ("findings", "lost"):
        assert str(trace.findings()).startswith(verdict["line"]) and verdict["line"][:8] in trace.findings()._repr_html_()
    assert trace.processes().to_dicts() == asked("ps", traces)["processes"]
    assert trace.timeline(interval=0.01).to_dicts() == asked("timeline", "--interval", "0.01", traces)["intervals"]
    assert trace.timeline("class").to_dicts() == asked("timeline", "--by", "class", traces)["series"]
    assert trace.summary().info["events"] == asked("summary", traces)["events"]


@NEEDS_SQL
def test_sql(traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    trace = dftrace.open(traces)
    rows = trace.sql("select name, sum(calls) as calls, sum(bytes) as bytes from events where class = 'read' group by name order by name")
    groups = trace.summary(by="name", class_="read", top=1000)
    assert [(row["name"], row["calls"], row["bytes"]) for row in rows] == sorted((g["name"], g["count"], g["bytes"]) for g in groups)
    assert rows.columns == ["name", "calls", "bytes"] and not rows.notes
    assert trace.sql("select sum(bytes) as b from rows", where={"class": "write"}).to_dicts() == [
        {"b": sum(group["bytes"] for group in trace.summary(by="name", class_="write"))}]
    assert trace.sql("-- a comment\nselect 1 as n, 2.5 as n, null as x -- and another")[0] == {"n": 1, "n:2": 2.5, "x": None}
    assert trace.sql("create temp table t as select 7 as a; select a from t").to_dicts() == [{"a": 7}]
    assert str(trace.sql("select name from events where name = 'none'")) == "no rows"
    assert trace.sql("select file from events where file like '%odd%' limit 1")[0]["file"].endswith('odd\udcff"\\\n')
    shown = str(trace.sql("select time, 1000 as last from events limit 1"))
    assert "20" == shown.splitlines()[1][:2] and ":" in shown and shown.endswith(" 1,000"), shown
    mixed = trace.sql("select 1 as a, 'x' as b union all select 2.5, 3")
    assert merged(list(batches(mixed.__arrow_c_stream__()))) == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "3"}]
    for query, text in (("selec 1", "syntax error"), ("select nmae from events", "Did you mean name?"), ("select 1; select 2", "2 statements"),
                        ("select abs(-9223372036854775808) from events", "integer overflow"), (".tables", "no statement of SQL"), (" ", "no statement")):
        with pytest.raises(dftrace.TraceError) as error:
            trace.sql(query)
        assert text in str(error.value)
    with pytest.raises(dftrace.TraceError, match="did you mean name"):
        trace.sql("select 1", nane="read")
    (tmp_path / "broken.dft").write_bytes(b"no trace")
    some = dftrace.open(traces, tmp_path).sql("select count(*) as n from events")
    assert some[0]["n"] > 100 and any("broken.dft" in note for note in some.notes)
    (tmp_path / "broken.dft").unlink()
    with pytest.raises(dftrace.TraceError, match="no trace found"):
        dftrace.open(tmp_path).sql("select 1 from events")


def test_events_are_those_of_dump(traces: pathlib.Path) -> None:
    events = dftrace.open(traces).events()
    mine, theirs = events.to_dicts(), dump(traces)
    assert len(mine) == len(theirs) > 100
    for row, event in zip(mine, theirs):
        for name, value in row.items():
            wanted = event.get(name, _arrow.ABSENT.get(name))
            if name in ("args", "stack") and value is not None:
                value = json.loads(value)
            assert value == wanted, (name, event)
    odd = [row["file"] for row in mine if row["file"] and "odd" in row["file"]]
    assert os.fsencode(odd[0]).endswith(b'odd\xff"\\\n')
    assert any((row["file"] or "").endswith("\u00e4\U0001f600") for row in mine)


def test_columns_and_filters_of_events(traces: pathlib.Path) -> None:
    events = dftrace.open(traces).events(where={"region": "load"}, columns=["name", "bytes"], name=["read", "pread*"])
    assert [row for row in events if row["bytes"]] == [{"name": "read", "bytes": 1000}] * 20
    assert list(events) == list(events), "each reading is a new one"


def test_one_column(traces: pathlib.Path) -> None:
    trace = dftrace.open(traces)
    assert trace.events(columns="ts").to_dicts() == [{"ts": event["ts"]} for event in dump(traces)]
    assert trace.events(columns="name,fd").columns == ["name", "fd"]


def test_arrow_of_events(traces: pathlib.Path) -> None:
    events = dftrace.open(traces).events()
    found = list(batches(events.__arrow_c_stream__()))
    rows = events.to_dicts()
    for row in rows:
        if row["file"]:
            row["file"] = row["file"].encode("utf-8", "replace").decode().replace("odd?", "odd\ufffd")
    assert merged(found) == rows
    formats = schema_of(events.__arrow_c_schema__())
    assert list(formats) == events.columns
    assert formats["ts"] == "tsn:UTC" and formats["dur"] == "l" and formats["name"] == "i" and formats["args"] == "u"


def test_arrow_of_tables(traces: pathlib.Path) -> None:
    trace = dftrace.open(traces)
    summary = trace.summary(by="file,name")
    assert merged(list(batches(summary.__arrow_c_stream__()))) == [
        {**row, "file": row["file"].encode("utf-8", "replace").decode().replace("odd?", "odd\ufffd"),
         "strides": json.dumps(row["strides"]) if row["strides"] is not None else None} for row in summary]
    assert sum(sum(columns["count"]) for _, columns in batches(summary.__arrow_c_stream__())) == \
        sum(row["count"] for row in asked("summary", "--by", "file,name", traces)["groups"])
    for table in (trace.findings(), trace.processes(), trace.timeline(), trace.summary(file="/none")):
        assert sum(length for length, _ in batches(table.__arrow_c_stream__())) == len(table)


def test_a_batch_is_bounded(tmp_path: pathlib.Path) -> None:
    subprocess.run([DFTMERGE.with_name("make_traces"), tmp_path, "processes=1", "threads=3", "events=30000"], check=True)
    events = dftrace.open(tmp_path).events(columns=["seq", "name", "tid"])
    pieces = [batch.rows() for batch in events._batches()]
    assert len(pieces) > 1 and max(len(piece) for piece in pieces) == 65536
    assert [dict(zip(events.columns, row)) for piece in pieces for row in piece] == [
        {name: event[name] for name in events.columns} for event in dump(tmp_path)]


def test_a_reader_that_stops_early(traces: pathlib.Path) -> None:
    """dftmerge is ended, and waited for."""
    for _ in range(50):
        capsule = dftrace.open(traces).events().__arrow_c_stream__()
        next(batches(capsule))
        del capsule
        assert len(dftrace.open(traces).events().head(3)) == 3
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_error_in_a_stream(traces: pathlib.Path) -> None:
    events = dftrace.open(traces).events(class_="bogus")
    with pytest.raises(OSError, match="there is no class 'bogus'"):
        list(batches(events.__arrow_c_stream__()))


def test_tables_print(traces: pathlib.Path) -> None:
    trace = dftrace.open(traces)
    text = str(trace.summary(by="name", name="read", region="load"))
    head, line, note = text.splitlines()
    assert note.startswith("note: ") and "left out" in note
    assert head.split()[:3] == ["name", "count", "errors"] and line.split()[:2] == ["read", "40"] and "KiB" in line
    assert len({len(line) for line in str(trace.summary()).splitlines() if "note: " not in line}) == 1, "aligned"
    shown = str(trace.summary(by="file")).splitlines()
    assert shown[0].startswith("file ")
    assert "\\n" in str(trace.summary(by="file", file="*odd*")) and "odd\\udcff" in repr(trace.summary(by="file", file="*odd*"))
    assert str(trace.summary(file="/none")).startswith("no rows\nnote: ")
    assert len(str(trace.events().head(45)).splitlines()) == 1 + 40 + 1
    assert str(trace.events()).splitlines()[-1] == "... more" and len(str(trace.events()).splitlines()) == 12
    page = trace.events(file="*odd*")._repr_html_()
    assert page.startswith("<table>") and "&quot;" in page


def test_names_disturb_no_screen() -> None:
    odd = "a\x1b[31m\x9b1m\u202e\udcff"
    sums = dict.fromkeys(("calls", "time", "read", "written", "opens", "fsyncs"), 1)
    cell = jupyter.CellIO(("file",), sums, [((odd,), sums)], 10, 0, sums)
    for text in (repr(cell), cell._repr_html_()):
        assert r"a\x1b[31m\x9b1m\u202e\udcff" in text and text.replace("\n", "").isprintable()


def test_what_is_missing_is_named(traces: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for path in traces.glob("*.dft"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "broken.dft").write_bytes(b"no trace")
    trace = dftrace.open(tmp_path)
    assert any("broken.dft" in note for note in trace.summary().notes)
    assert "note: " in str(trace.summary())
    events = trace.events()
    assert len(events.to_dicts()) == len(dump(traces))
    assert any("broken.dft" in note for note in events.notes)


def test_of_several_runs_the_newest_answers(tmp_path: pathlib.Path) -> None:
    """As the page of the command line does; run="all" and run=NAME choose."""
    for number in (1, 2):
        done = run([DFTRUN, "-q", "-o", "traces", "--", sys.executable, "-S", "-c", f"open('only{number}', 'w').close()"],
                   tmp_path)
        assert done.code == 0, done.err
    trace = dftrace.open(tmp_path / "traces")
    first, second = [entry["name"] for entry in trace.summary(run="all").info["runs"]]

    def opened(table: Any) -> List[str]:
        return sorted(row["file"][-5:] for row in table if (row["file"] or "")[-5:-1] == "only")

    assert opened(trace.summary(by="file")) == ["only2"]
    assert opened(trace.summary(by="file", run="all")) == ["only1", "only2"]
    assert opened(trace.summary(by="file", where={"run": first})) == ["only1"]
    for table in (trace.summary(), trace.timeline(), trace.findings()):
        assert any(note.startswith(f"{second} is the newest of 2 runs") for note in table.notes), table.notes
    assert not any("newest" in note for note in trace.summary(run=second).notes)
    assert len(trace.processes()) == 2


@pytest.mark.parametrize("question, text", [
    (lambda trace: trace.summary(by="nane"), "Did you mean name?"),
    (lambda trace: trace.summary(nane="x"), "did you mean name?"),
    (lambda trace: trace.events(where={"frm": 1}), "did you mean from?"),
    (lambda trace: trace.events(columns=["byte"]), "did you mean bytes?"),
    (lambda trace: trace.events(columns="t"), "column t: there is none; did you mean ts?"),
    (lambda trace: trace.events(columns=[]), '[] is no name and no list of names, such as ["ts", "name"]'),
    (lambda trace: trace.events(columns=3), "3 is no name and no list of names"),
    (lambda trace: trace.summary(by=[]), '[] is no name and no list of names, such as ["role", "name"]'),
    (lambda trace: trace.summary(by=[3]), "[3] is no name and no list of names"),
    (lambda trace: trace.summary(by=""), "'' is no name and no list of names"),
    (lambda trace: trace.events(where=3), "where: 3 is no dict of filters"),
    (lambda trace: trace.summary(where="name"), "where: 'name' is no dict of filters"),
    (lambda trace: trace.summary(rank=object()), "is no text, no number and no list"),
    (lambda trace: trace.summary(name=[]), "is no text, no number and no list"),
    (lambda trace: trace.summary(errors="yes"), "True or False"),
    (lambda trace: trace.findings(name="x"), "findings does not take --name"),
    (lambda trace: list(trace.events(name="a\0b")), "cannot be started"),
])
def test_wrong_questions(traces: pathlib.Path, question: Any, text: str) -> None:
    with pytest.raises(dftrace.TraceError) as error:
        question(dftrace.open(traces))
    assert text in str(error.value)


def test_no_trace(tmp_path: pathlib.Path) -> None:
    with pytest.raises(dftrace.TraceError, match="there is no such file or directory"):
        dftrace.open(tmp_path / "none")
    with pytest.raises(dftrace.TraceError, match="no path"):
        dftrace.open()
    for question in (lambda trace: trace.summary(), lambda trace: trace.events().to_dicts()):
        with pytest.raises(dftrace.TraceError, match="no trace found"):
            question(dftrace.open(tmp_path))


def test_without_dftmerge(tmp_path: pathlib.Path) -> None:
    (tmp_path / "alone").symlink_to(TREE / "dftrace")
    code = ("import sys, dftrace, dftrace._find as f\n"
            "f._prefixes = lambda: ['/none']\n"
            "try: dftrace.open('.').summary()\n"
            "except dftrace.TraceError as error: print(error)\n")
    done = subprocess.run([sys.executable, "-c", code], env=environment(PATH="/none"), cwd=tmp_path, check=True,
                          stdout=subprocess.PIPE, universal_newlines=True)
    assert "dftmerge is not installed" in done.stdout


def test_a_traced_reader_is_not_in_its_traces(tmp_path: pathlib.Path) -> None:
    """A program under the tracer may read traces: dftmerge is no part of it."""
    done = python("""
        import dftrace
        open("x", "w").close()
        dftrace.flush()
        print(len(dftrace.open("traces").summary()) > 0)
    """, tmp_path)
    assert done.code == 0 and "True" in done.out, done.err
    assert {row["exe"].rsplit("/", 1)[1][:6] for row in dftrace.open(done.traces).processes()} == {"python"}


NUMBERS = st.none() | st.integers(-2**63, 2**63 - 1)
TEXTS = st.none() | st.text(max_size=20) | st.binary(max_size=5).map(os.fsdecode)
COLUMNS = (("number", "i"), ("large", "u"), ("share", "f"), ("time", "t"), ("word", "w"), ("text", "s"))


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(st.tuples(NUMBERS, st.none() | st.integers(0, 2**64 - 1), st.none() | st.floats(allow_nan=False), NUMBERS,
                               TEXTS, TEXTS), max_size=40), damage=st.tuples(st.integers(0, 2000), st.integers(0, 255)))
def test_frames_become_columns(rows: List[Any], damage: Any) -> None:
    """Each value is in its place, as rows and as columns; a frame that is cut or damaged is refused, or gives rows."""
    columns = [list(column) for column in zip(*rows)] or [[] for _ in COLUMNS]
    frames: List[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_arrow, "Table", lambda _, frame: frames.append(frame))
        _table.arrow_table(COLUMNS, columns)
    assert _arrow.Table(COLUMNS, frames[0]).rows() == rows
    table = _arrow.Table(COLUMNS, frames[0])
    assert [tuple(row.values()) for row in merged(list(batches(table.stream([table]))))] == [
        tuple(value.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass").translate(REPLACED) if isinstance(value, str)
              else value for value in row) for row in rows]
    place, byte = damage[0] % len(frames[0]), damage[1]
    for wrong in (frames[0][:place], frames[0] + b"x"):
        with pytest.raises(ValueError, match="of another version"):
            _arrow.Table(COLUMNS, wrong)
    try:
        _arrow.Table(COLUMNS, frames[0][:place] + bytes([byte]) + frames[0][place + 1:]).rows()
    except (ValueError, MemoryError):  # also of a text that is cut within a character
        pass


REPLACED = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Whatever comes is rows or refused; nothing crashes."""
    try:
        table = _arrow.Table((("", "i"), ("0", "w"), ("1", "s")), data)
        assert len(table.rows()) == len(table)
    except ValueError:
        pass


def test_wrong_use_of_the_table() -> None:
    empty = _table.arrow_table((("a", "i"),), [[]])
    for columns in ((("a", "x"),), (("a",),), "ab", (("a", "ii"),)):
        with pytest.raises((TypeError, ValueError)):
            _arrow.Table(columns, b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _arrow.Table((("a", "i"),), "text")  # type: ignore[arg-type]
    table = _table.arrow_table((("a", "i"),), [[2**63 - 1]])
    capsule = table.stream([table])
    assert [columns for _, columns in batches(capsule)] == [{"a": [2**63 - 1]}]
    for use in (table.rows, table.schema):
        with pytest.raises(ValueError, match="handed on already"):
            use()
    with pytest.raises(OSError, match="a Table is wanted"):
        list(batches(empty.stream([1])))  # type: ignore[list-item]
