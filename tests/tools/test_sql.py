# SPDX-License-Identifier: MIT
"""SQL over traces: every column of every table; what is handed to the reader changes no answer; orders, joins, errors; the
command and its prompt; the module in sqlite3's shell and in Python; the database that export writes."""

import csv
import io
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

from test_mpi import MPIRUN, PROGRAM
from test_tables import expected, key, read
from tooltest import BUILD, DFTMERGE, LONG, ROOT, counts, dftmerge, dump, make, need_preload, run, summary

MODULE = BUILD / "lib" / "libdftsqlite.so"
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # Debian's loads extensions
TABLES = ("events", "rows", "files", "processes", "regions", "counters", "jobs", "notes")
REAL = ROOT.parent / "shared" / "data" / "dftracer" / "cm1"
ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select max(x) from c"
pytestmark = pytest.mark.skipif("built without SQLite" in run(DFTMERGE, "sql", "x").err, reason="this dftmerge was built without SQLite")


def rows_of(query, *arguments, **more):
    return json.loads(dftmerge("sql", "--json", *arguments, query, **more).out)


def arrays(text):
    """Those of several statements."""
    found, at = [], 0
    while text[at:].strip():
        rows, length = json.JSONDecoder().raw_decode(text[at:].lstrip())
        found.append(rows)
        at = len(text) - len(text[at:].lstrip()) + length
    return found


def canonical(rows):
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def same(found, wanted, what):
    found, wanted = canonical(found), canonical(wanted)
    assert found == wanted, (what, len(found), len(wanted), [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:1])


def inputs(where):
    make(where / "a", processes=4, threads=2, events=700, ranks=1, hosts=2)
    make(where / "live", processes=2, threads=2, events=100, live=1)
    make(where / "bare", processes=2, threads=2, events=300, rows=0)
    make(where / "alone", processes=2, threads=2, events=300, keep=0)
    assert run(BUILD / "bin" / "make_ranks", where / "ranks", "ranks=3", "seconds=10").code == 0
    return where


# --- answers ------------------------------------------------------------------------------------------------------------


def test_columns_are_those_of_the_tables(where):
    inputs(where)
    for folder in ("a", "live", "bare", "alone", "ranks"):
        for table in TABLES:
            same(rows_of(f"select * from {table}", where / folder), read(table, where / folder), (folder, table))
    for folder in ("a", "live"):
        events = sorted((expected(e) for e in dump(where / folder) if counts(e)), key=key)
        rows = sorted(rows_of("select * from events", where / folder), key=key)
        assert len(rows) == len(events) > 100
        for row, event in zip(rows, events):
            for name, value in event.items():
                assert row[name] == value or (name == "args" and json.loads(row[name]) == json.loads(value)), (name, row, event)
    assert rows_of("select count(*) as n from events", where / "a") == [{"n": len(read("events", where / "a"))}]


def test_sums_are_those_of_the_summary(where):
    inputs(where)
    said = {(g["cat"], g["name"]): (g["count"], g["errors"], g["time_ns"], g["bytes"] or 0) for g in summary("--by", "cat,name", where / "a")["groups"]}
    for table, failed in (("events", "0"), ("rows", "sum(errors)")):
        found = rows_of(f"select cat, name, sum(calls) as c, {failed} as e, sum(dur) as d, sum(bytes) as b from {table} group by cat, name", where / "a")
        names = {(r["cat"], r["name"]): (r["c"], r["e"] if table == "rows" else None, r["d"], r["b"] or 0) for r in found}
        assert names == {k: (c, e if table == "rows" else None, d, b) for k, (c, e, d, b) in said.items()}, table


def test_a_real_job(where):
    """CM1's traces by DFTracer: the same sums from events, rows, a database and the summary."""
    if not REAL.exists():
        pytest.skip("the shared data are not there")
    said = {g["name"]: (g["count"], g["errors"], g["time_ns"], g["bytes"] or 0) for g in summary("--by", "name", REAL)["groups"]}
    dftmerge("export", "--format", "sqlite", "-o", where / "cm1.db", REAL)
    for table, failed in (("events", "sum(errno is not 0)"), ("rows", "sum(errors)")):
        query = f"select name, sum(calls) as c, {failed} as e, sum(dur) as d, coalesce(sum(bytes), 0) as b from {table} group by name"
        for path in (REAL, where / "cm1.db"):
            assert {r["name"]: (r["c"], r["e"], r["d"], r["b"]) for r in rows_of(query, path)} == said, (table, path)


def literal(value):
    return "null" if value is None else "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def conditions(generator, rows):
    """A random condition on columns that the reader narrows by, in both forms: as it is, and kept from the reader."""
    known = [c for c in ("time", "rank", "pid", "cat", "name", "class", "region", "file", "process") if c in rows[0]] or list(rows[0])[:1]
    parts = []
    for _ in range(generator.randint(1, 3)):
        column = generator.choice(known)
        values = [row[column] for row in rows]
        one = literal(generator.choice(values + [None, "nothing", "*", "re?d", -1, 2**62, 1.5]))
        if column == "time":
            some = sorted(generator.choice(values) + generator.choice((-1, 0, 0, 1)) for _ in range(2))
            form = generator.choice((f"{{}} {generator.choice(('=', '<', '<=', '>', '>='))} {some[0]}", f"{{}} between {some[0]} and {some[1]}",
                                     f"{{}} < {one}", f"{{}} >= {some[0]}.5"))
        else:
            few = ", ".join(literal(generator.choice(values + [None, "", 7])) for _ in range(generator.randint(1, 4)))
            form = generator.choice((f"{{}} = {one}", f"{{}} in ({few})", f"{{}} is {one}", f"{{}} = {one} collate nocase", f"{{}} <> {one}"))
        parts.append((form.format(column), form.format("+" + column)))
    word = generator.choice((" and ", " and ", " or "))
    return word.join(p[0] for p in parts), word.join(p[1] for p in parts)


def test_narrowing_changes_no_answer(where):
    inputs(where)
    generator = random.Random(7)
    for folder, filters in (("a", []), ("a", ["--rank", "0,2", "--class", "read,write"]), ("a", ["--file", "*.bin", "--from", "0.1"]),
                            ("live", []), ("bare", []), ("alone", ["--name", "*read"]), ("ranks", [])):
        queries, tables = [], [t for t in TABLES if t != "notes"]
        samples = {t: rows_of(f"select * from {t}", *filters, where / folder, expect=None) for t in tables}
        for table in [t for t in tables if samples[t]] * (8 if LONG else 2):
            queries += [f"select * from {table} where {condition}" for condition in conditions(generator, samples[table])]
        answers = arrays(dftmerge("sql", "--json", *filters, where / folder, "; ".join(queries), expect=None).out.decode())
        assert len(answers) == len(queries)
        for i in range(0, len(queries), 2):
            same(answers[i], answers[i + 1], (folder, filters, queries[i]))


def plan(query, *paths):
    return " ".join(row["detail"] for row in rows_of("explain query plan " + query, *paths))


def test_orders_need_no_sort(where):
    make(where, processes=3, threads=2, events=700, ranks=1)
    events = read("events", where)
    for column in ("name", "rank", "time"):
        query = f"select {column}, count(*) as n, sum(dur) as d from events group by {column}"
        assert "TEMP B-TREE" not in plan(query, where), plan(query, where)
        found = rows_of(query, where)
        same(found, rows_of(query.replace(f"by {column}", f"by +{column}"), where), column)
        assert sum(row["n"] for row in found) == len(events)
        ordered = [row[column] for row in rows_of(f"select {column} from events order by {column}", where)]
        assert ordered == sorted(row[column] for row in events), column
        down = [row[column] for row in rows_of(f"select {column} from events order by {column} desc limit 10", where)]
        assert down == ordered[:-11:-1], column
        assert [row[column] for row in rows_of(f"select distinct {column} from events order by {column}", where)] == sorted(set(ordered))


def test_joins(where):
    make(where, processes=3, threads=2, events=400, ranks=1, hosts=2)
    events, processes = read("events", where), {p["process"]: p for p in read("processes", where)}
    query = "select host, count(*) as n from events join processes using (process) group by host"
    wanted = {}
    for event in events:
        host = processes[event["process"]]["host"]
        wanted[host] = wanted.get(host, 0) + 1
    assert {r["host"]: r["n"] for r in rows_of(query, where)} == wanted
    assert re.search(r"SCAN events .*SEARCH processes|SCAN events .*processes VIRTUAL TABLE INDEX 0:\w+ 0 0=1", plan(query, where)), plan(query, where)
    pairs = rows_of("select count(*) as n from events a join events b on b.process = a.process and b.tid = a.tid and b.seq = a.seq + 1 "
                    "where a.name = 'read' and b.name = 'read'", where)[0]["n"]
    place = {(e["process"], e["tid"], e["seq"]): e["name"] for e in events}
    assert pairs == sum(1 for (p, t, s), name in place.items() if name == "read" and place.get((p, t, s + 1)) == "read")
    same(rows_of("select e.file, e.class, f.calls from (select distinct file, class from events) e join files f using (file, class)", where),
         rows_of("select f.file, f.class, f.calls from files f", where), "files")
    assert rows_of("select (select count(*) from events e where e.process = p.process) as n from processes p order by process", where) == \
        [{"n": sum(e["process"] == p for e in events)} for p in sorted(processes)]


def test_views_and_examples_run(where):
    inputs(where)
    names = re.findall(r"^DFT_VIEW\((\w+)", (ROOT / "tools" / "tables" / "views.def").read_text(), re.MULTILINE)
    examples = [example.split("\n", 1)[1] for example in dftmerge("sql", "--examples").out.decode().split("\n\n")]
    assert len(examples) == 10 and len(names) > 5
    for folder in ("a", "live", "alone", "ranks"):
        for query in [f"select * from {name}" for name in names] + examples:
            rows_of(query, where / folder)
    failed = next(example for example in examples if "errno is not 0" in example).replace(" limit 10", "")
    sized = next(example for example in examples if "from_bytes" in example).replace(" limit 20", "")
    for folder in ("a", "ranks"):
        events = [e for e in read("events", where / folder) if e["file"] is not None]
        assert sum(row["times"] for row in rows_of(failed, where / folder)) == sum(e["errno"] != 0 for e in events)
        events = [e for e in read("events", where / folder) if (e["size"] or 0) > 0]
        assert sum(row["calls"] for row in rows_of(sized, where / folder)) == sum(e["calls"] for e in events)
    span = rows_of("select sum(bytes_read) as r, sum(bytes_written) as w from bandwidth", where / "a")
    assert span == rows_of("select sum(bytes) filter (where class = 'read') as r, sum(bytes) filter (where class = 'write') as w from events", where / "a")
    assert rows_of("select sum(calls) as n, sum(bytes) as b from by_call", where / "a") == rows_of("select sum(calls) as n, sum(bytes) as b from events", where / "a")


# --- the command --------------------------------------------------------------------------------------------------------


def test_forms(where):
    make(where / "a", processes=2, threads=1, events=200, ranks=1)
    query = "select 1 as n, 'a\"b,c' as t, null as e, 0.5 as r, x'00ff' as n"
    assert rows_of(query, where / "a") == [{"n": 1, "t": 'a"b,c', "e": None, "r": 0.5, "n:2": "00ff"}]
    assert list(csv.reader(io.StringIO(dftmerge("sql", "--csv", where / "a", query).out.decode()))) == [["n", "t", "e", "r", "n"], ["1", 'a"b,c', "", "0.5", "00ff"]]
    assert dftmerge("sql", where / "a", query).out.decode().splitlines() == ["n  t      e    r  n", '1  a"b,c  -  0.5  blob of 2 bytes']
    reals = "select 4.9e-05 as a, -1e-6 as b, 0.0001 as c, 1e-9 as d, 1.25e-11 as e, 1e20 as f, 1.0 / 3e5 as g, 2.0 as h"
    assert dftmerge("sql", where / "a", reals).out.decode().split()[8:] == ["0.000049", "-0.000001", "0.0001", "0.000000001", "1.25e-11", "1.0e+20", "0.00000333333333333333", "2.0"]
    assert dftmerge("sql", where / "a", "select 1; select 2", "--csv").out == b"1\n1\n2\n2\n"
    assert dftmerge("sql", where / "a", "select name from events where name = 'no'", "--json").out == b"[]\n"
    lines = dftmerge("sql", where / "a", "with recursive c(x) as (select 1 union all select x + 1 from c limit 2500) select x from c").out.decode().split()
    assert [line for line in lines if line != "x"] == [str(i) for i in range(1, 2501)]
    for word in (".tables", ".schema", ".schema files", ".help", ".examples"):
        assert dftmerge("sql", where / "a", word).out
    assert b"distinct_bytes" in dftmerge("sql", where / "a", ".schema files").out
    many = ", ".join(f"{i} as c{i}" for i in range(60))
    assert len(dftmerge("sql", where / "a", f"select {many}").out.split()) == 120


def test_errors(where):
    make(where / "a", processes=1, threads=1, events=50)
    for query, word in (("select nmae from events", "Did you mean name?"), ("select * from evnts", "Did you mean events?"), ("selec 1 from x", "syntax error"),
                        ("select e.bites from events e", "Did you mean bytes?"), ("select nofunction(1)", "no such function")):
        done = dftmerge("sql", where / "a", query, expect=2)
        assert word in done.err and not done.out, done.err
    assert "integer overflow" in dftmerge("sql", where / "a", "select abs(-9223372036854775808)", expect=1).err
    assert "no trace found" in dftmerge("sql", where / "none", "select 1 from events", expect=1).err
    assert "which traces?" in dftmerge("sql", "select 1 from events", expect=2).err
    assert "which query?" in dftmerge("sql", where / "a", expect=2).err
    assert "QUERY comes behind all paths" in dftmerge("sql", "select 1 from events", where / "a", expect=2).err
    assert "Did you mean files?" in dftmerge("sql", where / "a", ".schema fils", expect=2).err
    assert "Did you mean .tables?" in dftmerge("sql", where / "a", ".tabels", expect=2).err
    assert ". There are: bandwidth " in dftmerge("sql", where / "a", "select * from zzzz", expect=2).err
    (where / "half.db").write_bytes(b"SQLite format 3\0" + b"x" * 100)
    assert dftmerge("sql", where / "half.db", "select 1 from events", expect=1).err
    trace = next((where / "a").glob("*.dft"))
    content = bytearray(trace.read_bytes())
    content[len(content) // 2] ^= 255
    trace.write_bytes(content)
    done = dftmerge("sql", "--json", where / "a", "select note from notes", expect=1)
    assert any("checksum" in row["note"] for row in json.loads(done.out)) and "checksum" in done.err, done
    trace.write_bytes(b"nothing of ours")
    dftmerge("sql", where / "a", "select 1 from events", expect=1)


def test_databases(where):
    make(where / "a", processes=2, threads=1, events=200, ranks=1)
    kept = where / "kept.db"
    dftmerge("sql", where / "a", f"attach '{kept}' as kept; create table kept.calls as select name, count(*) as n from events group by name")
    assert rows_of("select sum(n) as n from calls", kept) == [{"n": len(read("events", where / "a"))}]
    assert rows_of("select count(*) as n from calls join (select distinct name from events) using (name)", kept, where / "a") == rows_of("select count(*) as n from calls", kept)
    dftmerge("sql", kept, where / "a", "create table more as select * from by_rank")
    assert len(rows_of("select * from more", kept)) == 2
    assert "no trace is named" in dftmerge("sql", kept, "--rank", "1", "select 1 from more", expect=2).err
    assert "one is opened" in dftmerge("sql", kept, kept, "select 1 from more", expect=2).err


def typed(text, *arguments):
    done = subprocess.run([DFTMERGE, "sql", *arguments], input=text.encode(), capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_statements_come_from_a_pipe(where):
    make(where, processes=1, threads=1, events=50)
    assert typed("select 1;\nselect\n 2 as b\n;\n.mode csv\nselect 3 as c", where) == (0, "1\n1\n\nb\n2\nc\n3\n", "")
    code, out, err = typed("select 1;\nselect x;\nselect 2;\n", where)
    assert code == 2 and out == "1\n1\n" and "no such column: x" in err
    assert typed(".quit\nselect 1;\n", where) == (0, "", "")
    assert typed("select 1 as a /* ;\n*/ ;\nselect ';' as b\n;", where)[1].split() == ["a", "1", "b", ";"]
    count = 10_000 if os.environ.get("DFT_SANITIZE") else 100_000
    rows = ",\n".join(f"({i})" for i in range(count))
    assert typed(f"create temp table mine(a);\ninsert into mine values\n{rows};\nselect count(*) as n from mine;\n", where)[1].split() == ["n", str(count)]
    assert typed("create temp table mine(a);\ncreate temp table other(b);\n.schema mine\n", where) == (0, "CREATE TABLE mine(a)\n", "")
    code, out, err = typed(".schema mine\n", where)
    assert code == 2 and not out and "no such table: mine" in err
    assert typed("exit;\nselect 1;\n", where) == (0, "", "")
    assert typed("help\n", where) == typed(".help\n", where)
    code, _, err = typed(".tabels\n", where)
    assert code == 2 and "Did you mean .tables?" in err


def test_prompt_goes_on_after_ctrl_c(where):
    """Ctrl-C drops what is being typed; without libedit it ends the program, as everywhere."""
    if "libedit" not in subprocess.run(["ldd", DFTMERGE], capture_output=True, text=True, check=True).stdout:
        return
    make(where, processes=1, threads=1, events=50)
    pid, terminal = pty.fork()
    if not pid:
        os.execve(DFTMERGE, [str(DFTMERGE), "sql", "-q", str(where)], {**os.environ, "TERM": "dumb"})
    seen = b""

    def until(text):
        nonlocal seen
        while text not in seen:
            ready, _, _ = select.select([terminal], [], [], 60)
            assert ready, seen
            seen += os.read(terminal, 65536)
        seen = seen.split(text, 1)[1]

    until(b"sql> ")
    os.write(terminal, b"select 40 +\n")
    until(b"...> ")
    os.write(terminal, b"\x03")
    until(b"sql> ")
    os.write(terminal, b"select 40 + 2 as answer;\n")
    until(b"answer\r\n    42")
    until(b"sql> ")
    os.write(terminal, b".quit\n")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # its end
    assert os.waitpid(pid, 0)[1] == 0


def interrupted(process, after):
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=300)


def test_signals_end_a_query(where):
    make(where / "a", processes=2, threads=2, events=3000)
    for query in (ENDLESS, "select count(*) from events a, events b, events c", "select count(*) from events a, events b, events c where c.name = 'none' or a.dur < 0"):
        process = subprocess.Popen([DFTMERGE, "sql", where / "a", "select 1 as begun; " + query], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout.readline().split() == [b"begun"]
        out, err = interrupted(process, 0.5)
        assert process.returncode == 1 and b"ended by a signal" in err, (process.returncode, out, err)
    command = "trap '' INT; \"$@\" & child=$!; sleep 0.2; kill -INT $child; wait $child"
    done = run("sh", "-c", command, "sh", DFTMERGE, "sql", where / "a", ENDLESS.replace("from c)", "from c limit 3000000)"))
    assert done.code == 0 and done.out.split()[-1] == b"3000000", done
    process = subprocess.Popen([DFTMERGE, "sql", where / "a"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"select 1;" * 500_000 + b"\n")
    process.stdin.close()
    process.stdin = None
    assert process.stdout.readline().split() == [b"1"]
    out, err = interrupted(process, 0)
    assert process.returncode == 1 and b"ended by a signal" in err and out.count(b"\n") < 1_400_000, (process.returncode, err)
    if not MODULE.exists() or os.environ.get("DFT_SANITIZE"):
        return
    script = f"""
import json, os, sqlite3, threading
db = sqlite3.connect(":memory:", check_same_thread=False)
db.text_factory = lambda text: text.decode(errors="surrogateescape")
db.enable_load_extension(True)
db.load_extension({str(MODULE)!r})
db.execute("select dftrace_open(?)", [{str(where / 'a')!r}])
def interrupted(query, after):
    timer = threading.Timer(after, db.interrupt)
    timer.start()
    try:
        db.execute(query).fetchall()
    except sqlite3.OperationalError as error:
        return str(error)
    finally:
        timer.cancel()
        timer.join()
for after in (0, 0.0005, 0.001, 0.002, 0.004):  # some are through before
    for query in ("select * from files", "select * from regions", "select name from events", "select name from events order by name", "select name from rows"):
        assert interrupted(query, after) in (None, "interrupted")
print(interrupted("select count(*) from events a, events b, events c", 0.3))
print(json.dumps([list(map(list, db.execute("select name, calls, bytes from " + view + " order by 1, 2"))) for view in
                  ("by_call", "(select file as name, calls, bytes from files)", "(select name, count(*) as calls, sum(bytes) as bytes from events group by name)")]))
db.close()
print(len(os.listdir("/proc/self/task")))
"""
    done = run(PYTHON, "-c", script)
    if "enable_load_extension" in done.err:
        return
    told = done.out.decode().split("\n")
    wanted = [[list(row.values()) for row in rows_of(f"select name, calls, bytes from {view} order by 1, 2", where / "a")] for view in
              ("by_call", "(select file as name, calls, bytes from files)", "(select name, count(*) as calls, sum(bytes) as bytes from events group by name)")]
    assert told[0] == "interrupted" and json.loads(told[1]) == wanted and told[2] == "1", done


# --- the module ---------------------------------------------------------------------------------------------------------


def test_shell_and_python_load_the_module(where):
    need_preload()
    make(where / "a", processes=2, threads=2, events=300, ranks=1)
    make(where / "b", processes=1, threads=1, events=300, seed=5)
    needed = run("readelf", "-d", MODULE).out.decode()
    assert "NEEDED" in needed and "sqlite" not in needed.split("NEEDED", 1)[1], needed
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", MODULE).out.decode().splitlines()}
    assert exported == {"sqlite3_dftsqlite_init", "sqlite3_extension_init"}, exported
    total = len(read("events", where / "a"))
    wanted = rows_of("select * from by_call", where / "a")
    if shutil.which("sqlite3"):
        script = f".load {MODULE}\nselect length(dftrace_open('{where / 'a'}')) > 0;\nselect count(*) from events;\nselect dftrace_open('{where / 'no'}');\nselect count(*) from events;\n"
        done = subprocess.run(["sqlite3", ":memory:"], input=script, capture_output=True, text=True, timeout=300, check=False)
        assert done.stdout.split() == ["1", str(total), str(total)] and "no trace found" in done.stderr, done
    script = f"""
import json, sqlite3
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension({str(MODULE.with_suffix(''))!r})
a, b = {str(where / 'a')!r}, {str(where / 'b')!r}
def fails(text, *values):
    try:
        db.execute(text, values).fetchall()
    except sqlite3.Error as error:
        return str(error)
out = {{}}
db.execute("select dftrace_open(?)", [a])
db.row_factory = sqlite3.Row
out["by_call"] = [dict(row) for row in db.execute("select * from by_call")]
db.row_factory = None
db.execute("create virtual table temp.e using dftrace('events', '" + b + "')")
db.execute('create virtual table temp.f using dftrace("files", "' + a + '", "' + b + '")')
out["counts"] = [db.execute("select count(*) from " + t).fetchone()[0] for t in ("events", "e", "f")]
cursor, other = db.execute("select seq from events"), db.execute("select seq from events where name = 'read'")
out["beside"] = sum(1 for _ in zip(cursor, other))
out["locked"] = fails("select dftrace_open(?)", b)
cursor.close()
other.close()
db.execute("select dftrace_open(?)", [b])
out["again"] = db.execute("select count(*) from events").fetchone()[0]
db.execute("select dftrace_open(?, ?)", [a, b])
out["both"] = db.execute("select count(*) from events").fetchone()[0]
out["wrong"] = [fails("select dftrace_open()"), fails("select dftrace_open(7)"), fails("create virtual table temp.x using dftrace('evnts', '" + a + "')"),
                fails("create virtual table temp.x using dftrace('events')"), fails("create virtual table temp.x using dftrace")]
db.execute("drop table events")
db.execute("create temp table events(x)")
out["taken"] = fails("select dftrace_open(?)", a)
for _ in range(20):
    again = sqlite3.connect(":memory:")
    again.enable_load_extension(True)
    again.load_extension({str(MODULE)!r})
    again.execute("select dftrace_open(?)", [a])
    cursor = again.execute("select * from events")
    cursor.fetchone()
    cursor.close()
    again.close()
print(json.dumps(out))
"""
    done = run(PYTHON, "-c", script)
    if "enable_load_extension" in done.err:
        print("skipped: this Python loads no extensions")
        return
    out = json.loads(done.out)
    other = len(read("events", where / "b"))
    assert out["by_call"] == wanted
    assert out["counts"][:2] == [total, other] and out["beside"] > 0
    assert (out["again"], out["both"]) == (other, len(read("events", where / "a", where / "b")))
    assert "end it first" in out["locked"] and "temp.events is there already" in out["taken"], out
    for text, word in zip(out["wrong"], ("which traces?", "which traces?", "Did you mean events?", "which traces?", "which table?")):
        assert word in text, (text, word)


def test_a_child_of_fork_goes_on(where):
    """It lacks the threads of its parent. What it closes does not wait for them."""
    need_preload()
    make(where / "a", processes=2, threads=2, events=300)
    script = f"""
import os, signal, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension({str(MODULE)!r})
db.execute("select dftrace_open(?)", [{str(where / 'a')!r}])
count = db.execute("select count(*) from events").fetchone()
child = os.fork()
if not child:
    signal.alarm(60)
    same = db.execute("select count(*) from events").fetchone() == count
    db.close()
    os._exit(0 if same else 1)
status = os.waitpid(child, 0)[1]
again = db.execute("select count(*) from events").fetchone()
db.close()
sys.exit(0 if not status and again == count else f"{{status}} {{again}} {{count}}")
"""
    done = run(PYTHON, "-c", script)
    assert done.code == 0, done


def test_a_trace_that_grows(where):
    """While a program writes: each open sees what is there."""
    make(where / "a", processes=1, threads=1, events=2000)
    trace = next((where / "a").glob("*.dft"))
    content = trace.read_bytes()
    for end in range(len(content) // 10, len(content), len(content) // 10):
        trace.write_bytes(content[:end])
        done = dftmerge("sql", "--json", where / "a", "select count(*) as n from events; select count(*) as n from rows", expect=None)
        assert done.code in (0, 1) and "Traceback" not in done.err, done
    trace.write_bytes(content)
    assert rows_of("select count(*) as n from events", where / "a")[0]["n"] == len(read("events", where / "a"))


# --- export -------------------------------------------------------------------------------------------------------------


def test_a_database_has_the_tables(where):
    inputs(where)
    for folder in ("a", "live", "alone", "ranks"):
        dftmerge("export", "--format", "sqlite", "-o", where / "out.db", where / folder)
        for table in TABLES:
            same(rows_of(f"select * from {table}", where / "out.db"), read(table, where / folder), (folder, table))
        same(rows_of("select * from by_call", where / "out.db"), rows_of("select * from by_call", where / folder), folder)
        assert rows_of("pragma integrity_check", where / "out.db") == [{"integrity_check": "ok"}]
    os.mkfifo(where / "pipe")  # nobody reads it: it must not be opened
    for special in (where / "pipe", "/dev/null", "/dev/stdout"):
        assert "a database is a file, regular" in dftmerge("export", "--format", "sqlite", "-o", special, where / "a", expect=1).err, special
    dftmerge("export", "--format", "sqlite", "-o", f"{where}/dir/", where / "a", "--rank", "1")
    same(rows_of("select * from events", where / "dir" / "traces.db"), rows_of("select * from events", where / "a", "--rank", "1"), "filter")
    if MPIRUN and PROGRAM.exists():
        done = run(*MPIRUN, "-n", 2, PROGRAM, "export", "--format", "sqlite", "-o", where / "many.db", where / "a")
        assert done.code == 0 and "one rank does it" in done.err, done
        same(rows_of("select * from events", where / "many.db"), read("events", where / "a"), "ranks of MPI")
        done = run(*MPIRUN, "-n", 2, PROGRAM, "sql", "--json", where / "a", "select * from by_rank")
        same(json.loads(done.out), rows_of("select * from by_rank", where / "a"), "ranks of MPI")


def test_whole_or_nothing(where):
    make(where / "a", processes=4, threads=2, events=4000)
    out = where / "out"
    out.mkdir()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    done = subprocess.run([DFTMERGE, "export", "--format", "sqlite", "-o", out / "x.db", where / "a"], preexec_fn=limit, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 1 and "make room on the disk" in done.stderr, done
    assert not list(out.iterdir())
    process = subprocess.Popen([DFTMERGE, "export", "--format", "sqlite", "-o", out / "x.db", where / "a"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and not list(out.iterdir()):
        time.sleep(0.001)
    interrupted(process, 0)
    assert not list(out.iterdir()) or (process.returncode == 0 and [p.name for p in out.iterdir()] == ["x.db"]), list(out.iterdir())
    for target, word in (("-", "is a file"), (out / "x.db.gz", "is a file"), (out / "none" / "x.db", "there is no directory")):
        assert word in dftmerge("export", "--format", "sqlite", "-o", target, where / "a", expect=1).err, target
