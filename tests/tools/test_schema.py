# SPDX-License-Identifier: MIT
"""An event is the same in every form: dump --json, CSV, SQL, Parquet and Python have the columns that
tools/tables/tables.def lists, by their names there, and agree in every cell."""

import csv
import gzip
import importlib.util
import io
import json
import os
import re
import sys

from parquetfile import read_table
from tooltest import BUILD, LIBRARY, ROOT, csv_text, dftmerge, dump, make, run

spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

# Of each column: name, name in lines, type, what an absent member of JSON means.
COLUMNS = [(name, line, kind, {"ZERO": 0, "ONE": 1}.get(absent))
           for _, name, line, kind, _, absent, _ in generate.rows_of(ROOT / "tools" / "tables" / "tables.def", "DFT_EVENT_COLUMN", 7)]
LINES = [line for _, line, _, _ in COLUMNS if line]
LACKS_SQL = "without SQLite" in run(BUILD / "bin" / "dftmerge", "sql", "x").err
PROGRAM = """
import ctypes, os
if not os.fork():
    os.execv("/bin/true", ["true"])
os.wait()
name = os.fsencode("odd") + bytes([0xff, 0x22, 0x2c, 0x5c, 0x0a, 0x3d])
with open(name, "w+b") as file:
    file.write(b"x" * 5000)
    file.seek(0)
    file.read()
os.rename(name, "\\u00e4\\U0001f600")
ctypes.CDLL(None).read(ctypes.c_int(0), None, ctypes.c_size_t(2**64 - 1))
try:
    os.stat("none")
except OSError:
    os.mkdir("made")
"""
FOREIGN = [  # a call that failed, and nobody knows why; a region with arguments; a number that is large
    '{"id":0,"name":"write","cat":"POSIX","pid":7,"tid":8,"ts":1000,"dur":5,"ph":"X","args":{"fhash":"/a","ret":-1,"fd":3,"count":9}}',
    '{"id":1,"name":"step","cat":"APP","pid":7,"tid":8,"ts":1100,"dur":50,"ph":"X","args":{"epoch":3,"note":"a \\"b\\""}}',
    '{"id":2,"name":"read","cat":"POSIX","pid":7,"tid":8,"ts":1110,"dur":5,"ph":"X","args":{"fname":"/b","ret":4096,"fd":4}}']


def traces(where):
    """Traces that have, together, every column."""
    yield make(where / "made", processes=3, threads=2, events=700, ranks=3, live=1)
    with gzip.open(where / "foreign.pfw.gz", "wt") as file:
        file.write("[\n" + "\n".join(FOREIGN) + "\n]\n")
    yield where / "foreign.pfw.gz"
    if os.environ.get("DFT_SANITIZE") or not LIBRARY.exists():
        return
    program = where / "spans"
    done = run("gcc", "-O1", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", "-o", program, ROOT / "tests" / "preload" / "annotated_spans.c", "-pthread")
    assert done.code == 0, done.err
    for name, words, env in (("python", [sys.executable, "-S", "-c", PROGRAM], {"DFTRACER_STACK": "1"}),
                             ("spans", [program, where / "file", "all", where / "file2"], {"DFTRACER_DATA_DIR": str(where)})):
        (where / f"{name}.work").mkdir()
        done = run(BUILD / "bin" / "dftrun", "-q", "-o", where / f"{name}.out", "--", *words, cwd=where / f"{name}.work", env=env)
        assert done.code == 0, done.err
        yield where / f"{name}.out"


def valid(value):
    """Bytes that are no UTF-8 are surrogates in lines of JSON, and U+FFFD in JSON inside of tables, and in Parquet."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else \
        {valid(k): valid(v) for k, v in value.items()} if isinstance(value, dict) else \
        [valid(v) for v in value] if isinstance(value, list) else value


def cells_of_json(event):
    assert [name for name in event if name != "ts_s"] == [name for name in LINES if name in event], list(event)
    assert event["ts_s"] == f"{event['ts'] // 10**9}.{event['ts'] % 10**9:09}"
    return {line: event.get(line, absent) for _, line, _, absent in COLUMNS if line}


def cells_of_csv(row):
    def cell(name, kind, text):
        if text == "":
            return None
        if name in ("args", "stack"):
            return json.loads(text)
        return csv_text(text) if kind == "TEXT" else int(text)

    return {line: cell(name, kind, row[line]) for name, line, kind, _ in COLUMNS if line}


def in_lines(row):
    """A row of a table, by the names of lines."""
    assert list(row) == [name for name, _, _, _ in COLUMNS], list(row)
    cells = {}
    for name, line, kind, _ in COLUMNS:
        value = row[name].decode() if isinstance(row[name], bytes) else row[name]
        if kind == "UNSIGNED" and value is not None:
            value %= 2**64
        if line:
            cells[line] = json.loads(value) if name in ("args", "stack") and value is not None else value
    return cells


def key(cells):
    return cells["pid"], cells["tid"], cells["seq"], cells["ts"]


def shown(cells, everything=False):
    """As a form has them whose JSON, or all of whose texts, are Unicode."""
    return {name: valid(value) if everything or name in ("args", "stack") else value for name, value in cells.items()}


def cells_of_python(path):
    """The events that dftrace.open() gives; None where the package is not built."""
    if not (BUILD / "python" / "dftrace").is_dir():
        return None
    done = run(sys.executable, "-c", "import dftrace, json, sys\nfor event in dftrace.open(sys.argv[1]).events(): print(json.dumps(event))", path,
               env={"PYTHONPATH": str(BUILD / "python"), "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"})
    assert done.code == 0, done.err
    events = [json.loads(line) for line in done.out.splitlines()]
    assert all(list(event) == LINES for event in events), list(events[0])
    return [{name: json.loads(value) if name in ("args", "stack") and value is not None else value for name, value in event.items()}
            for event in events]


def same_in_every_form(where, path, seen):
    lines = [cells_of_json(event) for event in dump(path)]
    for cells in lines:
        seen.update(name for name, value in cells.items() if value)
    rows = csv.DictReader(io.StringIO(dftmerge("export", "--format", "csv", "-o", "-", path).out.decode(), newline=""))
    found = [cells_of_csv(row) for row in rows]
    assert rows.fieldnames == LINES and len(found) == len(lines) > 2
    for form in (found, cells_of_python(path) or found):
        assert len(form) == len(lines)
        for mine, theirs in zip(form, lines):
            assert mine == shown(theirs), (path, mine, theirs)
    by_key = {key(cells): cells for cells in lines}
    calls = json.loads(dftmerge("summary", "--json", path).out)["events_kept"]
    tables = {}
    if not LACKS_SQL:
        tables["SQL"] = json.loads(dftmerge("sql", "--json", path, "select * from events").out)
    dftmerge("export", "--format", "parquet", "-o", where / f"{path.name}.parquet", path)
    tables["Parquet"] = read_table(where / f"{path.name}.parquet", "events")[0]
    for form, table in tables.items():
        assert sum(row["calls"] for row in table) == calls and table, (form, len(table), calls)
        for row in table:
            mine = in_lines(row)
            assert mine == shown(by_key[key(mine)], everything=form == "Parquet"), (form, mine, by_key[key(mine)])


def test_an_event_is_the_same_in_every_form(where):
    seen = set()
    for path in traces(where):
        same_in_every_form(where, path, seen)
    assert set(LINES) - seen <= {"rank", "cut"} or not LIBRARY.exists(), set(LINES) - seen


def test_the_schema_has_the_columns_of_the_table():
    schema = json.loads((ROOT / "docs" / "schema" / "dump.json").read_text())
    assert [name for name in schema["properties"] if name != "ts_s"] == LINES
    always = [line for (_, line, _, _), row in zip(COLUMNS, generate.rows_of(ROOT / "tools" / "tables" / "tables.def", "DFT_EVENT_COLUMN", 7))
              if line and row[5] == "NEVER"]
    assert [name for name in schema["required"] if name != "ts_s"] == always
    words = (ROOT / "tools" / "base" / "facet_words.h").read_text()
    for name, of in (("class", "dft_io_word"), ("access", "dft_access_word"), ("phase", "dft_phase_word")):
        listed = re.search(rf"\*{of}\(.*?words\[.*?\] = {{(.*?)}};", words, re.DOTALL)[1]
        assert set(schema["properties"][name]["enum"]) == set(re.findall(r'"(\w+)"', listed)), name
