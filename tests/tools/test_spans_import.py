# SPDX-License-Identifier: MIT
"""dftmerge spans import: every importer over samples of all forms of its lines, twice, and in any order; what is joined;
broken lines, nulls, zones of time; traces against their dump; signals, bad databases, unreadable and strange files."""

import collections
import datetime
import hashlib
import json
import os
import pathlib
import pickle
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import uuid
import zoneinfo

import pytest

from pfw_files import Writer
from tooltest import DFTMERGE, LIBRARY, ROOT, dftmerge, dump, make, need_library

REAL = ROOT.parent / "shared" / "data" / "spans"
RUN = "0aeb31ac-cf4a-42c5-8086-1ae3d0f53842"
IO = ("read", "write", "sync", "meta", "startup")


def load(database, *paths, expect=0, **more):
    return dftmerge("spans", "import", database, *paths, expect=expect, **more)


def ask(database, sql, *values):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return db.execute(sql, values).fetchall()


def content(database):
    with sqlite3.connect(database) as db:
        names = [row[0] for row in db.execute("select name from sqlite_schema where type = 'table'")]
        return {name: sorted(map(repr, db.execute(f"select * from {name}"))) for name in names}


def types(database):
    return dict(ask(database, "select type, count(*) from span group by 1"))


def events(database):
    """(type of the span, event) -> how many."""
    return {row[:2]: row[2] for row in ask(database, "select s.type, e.type, count(*) from event e join span s on "
                                                     "s.uuid = e.span_uuid group by 1, 2")}


def edges(database):
    return {row[:3]: row[3] for row in ask(database, "select a.type, b.type, key, count(*) from subspan join span a on "
                                                     "a.uuid = superspan_uuid join span b on b.uuid = subspan_uuid "
                                                     "group by 1, 2, 3")}


def facets(database):
    return dict((row[:2], row[2]) for row in ask(database, "select a.type, b.type, count(*) from facet f join span a on a.uuid ="
                                                           " left_uuid join span b on b.uuid = right_uuid group by 1, 2"))


def twice(database, *paths, **more):
    """Imports, and imports again, which changes nothing."""
    done = load(database, *paths, **more)
    before = content(database)
    load(database, *paths, **more)
    assert content(database) == before
    return done


def write(path, *lines, end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + end for line in lines), newline="")
    return path


# --- samples ----------------------------------------------------------------------------------------

MONITORING = """
create table workflow (run_id text not null, workflow_name text, time_began datetime, time_completed datetime);
create table task (task_id integer, run_id text, task_func_name text, task_time_invoked datetime, task_time_returned datetime);
create table try (try_id integer, task_id integer, run_id text, hostname text);
create table status (task_id integer, task_status_name text, timestamp datetime, run_id text, try_id integer);
"""
BASE = datetime.datetime(2023, 4, 6, 9, 55, 58)


def moment(us):
    return (BASE + datetime.timedelta(microseconds=us)).strftime("%Y-%m-%d %H:%M:%S.%f")


def monitoring(path, runs=(RUN,), tasks=3, nulls=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.executescript(MONITORING)
        for run in runs:
            db.execute("insert into workflow values (?, 'w', ?, ?)", (run, moment(0), None if nulls else moment(9_000_000)))
            for task in range(tasks):
                db.execute("insert into task values (?, ?, 'f', ?, ?)",
                           (task, run, moment(1000 * task), None if nulls and task == 1 else moment(5_000_000 + task)))
                db.execute("insert into try values (0, ?, ?, 'h')", (task, run))
                for i, state in enumerate(("pending", "launched", "exec_done")):
                    db.execute("insert into status values (?, ?, ?, ?, 0)", (task, state, moment(1000 * task + 10 * i + 7), run))
        if nulls:
            db.execute("insert into status values (0, 'running', null, ?, 0)", (runs[0],))
            db.execute("insert into try values (1, null, ?, 'h')", (runs[0],))
    db.close()
    return path


def line(us, text, module="parsl.dataflow.dflow:1"):
    return f"{1680774958 + us / 1e6:.6f} 2023-04-06 09:55:58 MainProcess-1 MainThread-2 {module} f INFO: {text}"


def rundir(path, run=RUN, tasks=3):
    """A run whose tasks 0 and 2 are of Work Queue under a label of its own, and 1 of another executor."""
    lines = [line(0, f"Run id is: {run}"), line(1, "a line of another kind")]
    forms = ("Task {0} submitted to WorkQueue with id {1}", "Executor task {0} submitted to Work Queue with Work Queue task id {1}",
             "Executor task {0} submitted as Work Queue task {1}")
    for task in range(tasks):
        label = "threads" if task == 1 else "my_wq"
        lines.append(line(10 + task, f"Parsl task {task} try 0 launched on executor {label} with executor id {task + 10}"))
        if task != 1:
            lines.append(line(20 + task, forms[task % 3].format(task + 10, task + 100)))
            lines.append(line(30 + task, f"Completed Work Queue task {task + 100}, parsl {'executor ' if task else ''}task {task + 10}"))
    write(path / "parsl.log", *lines)
    for task in (0, 2):
        write(path / "my_wq" / "function_data" / f"{task + 10:04}" / "log", f"{1680774960 + task}.25 LOADFUNCTION",
              f"{1680774960 + task}.5 META_PATH /usr", f"{1680774961 + task} DONE")
    return path


TRANSACTIONS = [
    "# time manager_pid MANAGER START|END", "# time manager_pid TASK taskid RUNNING worker_address", "",
    "1680774973462610 372 MANAGER START",
    "1680774973462611 372 WORKER worker-1 10.0.0.1:9 CONNECTION",
    '1680774973462612 372 WORKER worker-1 RESOURCES {"cores":[1]}',
    "1680774973462613 372 CATEGORY f MAX {}",
    "1680774973483034 372 TASK 10 WAITING f FIRST_RESOURCES {}",
    "1680774985526985 372 TRANSFER INPUT 10 1 0.000000 0.000002 exec_parsl_function.py",
    '1680774985527157 372 TASK 10 RUNNING 10.0.0.1:9  FIRST_RESOURCES {"cores":[1]}',
    "1680774985770218 372 TASK 10 WAITING_RETRIEVAL 10.0.0.1:9 ",
    "1680774985770455 372 TRANSFER OUTPUT 10 0 0.000005 0.000209 result",
    "1680774985770667 372 TASK 10 RETRIEVED SUCCESS  0  {} {}",
    "1680774985770700 372 TASK 10 DONE SUCCESS  0  {} {}",
    "1680774985770800 372 TASK 11 A_NEW_WORD x",
    "1680774985770900 372 MANAGER END",
]


def htex(path, tasks=(1, 2)):
    listed = ", ".join(map(str, tasks))
    write(path / "interchange.log", "2023-04-06 09:56:00.100 interchange:1 f [INFO]  starting",
          f"2023-04-06 09:56:01.123 interchange:2 f [DEBUG]  Sent tasks: [{listed}] to manager b'0c'",
          *(f"2023-04-06 09:56:05,000 interchange:3 f [DEBUG]  Removing task {t} from manager record b'0c'" for t in tasks))
    write(path / "block-0" / "0c" / "manager.log", f"1680774961.5 manager [DEBUG]  Got executor tasks: [{listed}], cumulative count 2")
    write(path / "block-0" / "0c" / "worker_3.log",
          *(f"2023-04-06T09:56:02Z worker {text} {t}" for t in tasks
            for text in ("Received executor task", "Completed executor task", "All processing finished for executor task")))
    return path


def tracing(path, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"events": [[1680774958.526384, "NEW", "TASK", 0], ["1680774958.526384123", "DONE", "TASK", 0],
                                           [1680774958, "NEW", "TASK", 2], [1680774960.5, "BEGIN", "EXECUTOR_TASK", 10]],
                                "binds": [["TASK", 0, "EXECUTOR_TASK", 10]], **more}))
    return path


# --- importers --------------------------------------------------------------------------------------


def test_monitoring_database(directory):
    path = monitoring(directory / "m" / "any name", ("one", "two"))
    done = twice(directory / "s.db", path, "--timezone", "UTC")
    assert b"monitoring database" in done.out and not done.err, done
    assert types(directory / "s.db") == {"parsl.monitoring.workflow": 2, "parsl.monitoring.task": 6, "parsl.monitoring.try": 6}
    assert events(directory / "s.db")[("parsl.monitoring.try", "pending")] == 6
    assert edges(directory / "s.db") == {("parsl.monitoring.workflow", "parsl.monitoring.task", str(t)): 2 for t in range(3)} | {
        ("parsl.monitoring.task", "parsl.monitoring.try", "0"): 6}
    assert ask(directory / "s.db", "select distinct time from event where type = 'returned' order by 1") == [
        ("1680774963",), ("1680774963.000001",), ("1680774963.000002",)]
    assert dict(ask(directory / "s.db", "select type, min(time) from event group by 1"))["launched"] == "1680774958.000017"


def test_monitoring_nulls(directory):
    path = monitoring(directory / "m.db", nulls=True)
    done = twice(directory / "s.db", path, "--timezone", "UTC")
    assert b"4 skipped because they are null" in done.out, done.out
    found = events(directory / "s.db")
    assert ("parsl.monitoring.workflow", "completed") not in found and found[("parsl.monitoring.task", "returned")] == 2
    with sqlite3.connect(path) as db:
        db.execute("update task set task_time_invoked = 'never' where task_id = 2")
    db.close()
    done = load(directory / "t.db", path)
    assert b"1 skipped because they make no sense" in done.out and f"{path}:task:3: skipped: the time" in done.err, done
    with sqlite3.connect(path) as db:  # an empty text and a blank are no times; nothing is made of them
        db.execute("update task set task_time_invoked = '' where task_id = 2")
        db.execute("update status set timestamp = case task_id when 0 then '' else ' ' end where task_status_name = 'launched'")
    db.close()
    done = load(directory / "u.db", path, "--timezone", "UTC")
    assert b"4 skipped because they make no sense" in done.out, done
    assert ("parsl.monitoring.try", "launched") not in events(directory / "u.db"), events(directory / "u.db")


def test_rundirs(directory):
    path = rundir(directory / "runinfo" / "000")
    twice(directory / "s.db", directory / "runinfo")
    assert types(directory / "s.db") == {
        "parsl.rundir.workflow": 1, "parsl.rundir.task": 3, "parsl.rundir.try": 3, "parsl.executors.workqueue.executor_task": 2,
        "parsl.executors.workqueue.executor_task.remote": 2}, types(directory / "s.db")
    assert events(directory / "s.db") == {
        ("parsl.executors.workqueue.executor_task", "executor_completed"): 2,
        ("parsl.executors.workqueue.executor_task.remote", "LOADFUNCTION"): 2,
        ("parsl.executors.workqueue.executor_task.remote", "DONE"): 2}
    assert edges(directory / "s.db") == {
        **{("parsl.rundir.workflow", "parsl.rundir.task", str(t)): 1 for t in range(3)},
        ("parsl.rundir.task", "parsl.rundir.try", "rundir task try bind"): 3,
        ("parsl.rundir.try", "parsl.executors.workqueue.executor_task", "parsl.executors.wq.task"): 2,
        ("parsl.executors.workqueue.executor_task", "parsl.executors.workqueue.executor_task.remote",
         "parsl.executors.wq.task.remote"): 2}, edges(directory / "s.db")
    shutil.rmtree(path / "my_wq")
    load(directory / "part.db", path)  # a partial run
    assert types(directory / "part.db")["parsl.rundir.try"] == 3
    rundir(directory / "runinfo" / "001", "another run")
    load(directory / "s.db", directory / "runinfo")
    assert types(directory / "s.db")["parsl.rundir.task"] == 6


def test_work_queue(directory):
    path = write(directory / "log", *TRANSACTIONS)
    done = twice(directory / "s.db", path)
    assert b"transaction log of Work Queue" in done.out and b" 8 lines of other kinds" in done.out, done.out
    assert types(directory / "s.db") == {"workqueue.task": 2, "workqueue.worker": 1}
    assert events(directory / "s.db") == {("workqueue.task", name): 1 for name in (
        "WAITING", "RUNNING", "WAITING_RETRIEVAL", "RETRIEVED", "DONE", "A_NEW_WORD", "TRANSFER_INPUT", "TRANSFER_OUTPUT")}
    assert edges(directory / "s.db") == {("workqueue.worker", "workqueue.task", "10"): 1}
    assert ask(directory / "s.db", "select time from event where type = 'DONE'") == [("1680774985.7707",)]
    again = [text.replace("1680774", "1680775").replace(" 372 ", " 373 ") for text in TRANSACTIONS[3:]]
    write(path, *TRANSACTIONS, *again)  # a second manager goes on in the same file
    load(directory / "s.db", path)
    assert types(directory / "s.db") == {"workqueue.task": 4, "workqueue.worker": 2}
    shutil.copy(path, directory / "copy")
    before = content(directory / "s.db")
    load(directory / "s.db", directory / "copy")
    assert content(directory / "s.db") == before


def test_high_throughput(directory):
    htex(directory / "htex")
    twice(directory / "s.db", directory / "htex", "--timezone", "UTC")
    prefix = "parsl.executor.htex."
    assert types(directory / "s.db") == {prefix + "interchange.task": 2, prefix + "manager": 1, prefix + "manager.task": 2,
                                         prefix + "worker": 1, prefix + "worker.task": 2}
    assert events(directory / "s.db") == {
        (prefix + span, event): 2
        for span, event in (("interchange.task", "interchange_to_manager"), ("interchange.task", "interchange_removing_task"),
                            ("manager.task", "manager_got_task"), ("worker.task", "worker_received_task"),
                            ("worker.task", "worker_completed_task"), ("worker.task", "worker_all_finished_task"))}
    assert edges(directory / "s.db") == {
        (prefix + "manager", prefix + "worker", "3"): 1,
        **{(prefix + "interchange.task", prefix + "manager.task", t): 1 for t in "12"},
        **{(prefix + "manager.task", prefix + "worker.task", t): 1 for t in "12"}}
    assert ask(directory / "s.db", "select distinct time from event where type = 'interchange_to_manager'") == [("1680774961.123",)]
    assert ask(directory / "s.db", "select distinct time from event where type = 'worker_received_task'") == [("1680774962",)]


def test_metrics(directory):
    log = write(directory / "a.log", "no metric", '1700000000.5 w METRIC app.step 7 loss=0.25 n=3 word what=two name="a b" x=',
                "[2023-04-06 09:55:58,25] METRIC app.step 7 loss=0.125", "METRIC app.step 8 a=1",
                "1700000001 w METRIC app.step", "1700000001 w METRIC a=1 b=2")
    done = twice(directory / "s.db", log, "--timezone", "UTC")
    assert b"METRIC lines" in done.out and b"2 skipped" in done.out, done.out
    assert [f"{log}:{n}: skipped" in done.err for n in range(1, 7)] == [False, False, False, False, True, True], done.err
    assert types(directory / "s.db") == {"app.step": 1}
    assert ask(directory / "s.db", "select time, key, value from metric order by 1, 2") == [
        ("1680774958.25", "loss", 0.125), ("1700000000.5", "loss", 0.25), ("1700000000.5", "n", 3), ("1700000000.5", "name", "a b"),
        ("1700000000.5", "what", "two"), ("1700000000.5", "x", "")]


def test_uuids(directory):
    """Those of spans are of version 5 (SHA-1), over names of all lengths; those of events begin with the milliseconds."""
    ids = ["x" * n for n in range(1, 200)]
    load(directory / "s.db", write(directory / "log", *(f"1700000000.{n:03} METRIC t.y {id_} a=1" for n, id_ in enumerate(ids))))
    space = bytes.fromhex("5c0b2a6e913d4f7a8e26d41763b8f092")
    for found, id_, event in ask(directory / "s.db", "select span_uuid, id, e.uuid from identity join event e using (span_uuid)"):
        names = b"".join(len(name).to_bytes(4, "big") + name.encode() for name in ("span", "t.y", "", id_))
        assert found == str(uuid.UUID(bytes=hashlib.sha1(space + names).digest()[:16], version=5)), id_
        assert uuid.UUID(event).version == 8 and int(event.replace("-", "")[:12], 16) == 1_700_000_000_000 + ids.index(id_)


def test_json_documents(directory):
    path = tracing(directory / "any")
    twice(directory / "s.db", path)
    assert types(directory / "s.db") == {"parsl.tracing.TASK": 2, "parsl.tracing.EXECUTOR_TASK": 1}
    assert edges(directory / "s.db") == {("parsl.tracing.TASK", "parsl.tracing.EXECUTOR_TASK", "10"): 1}
    assert ask(directory / "s.db", "select time from event order by 1") == [
        ("1680774958",), ("1680774958.526384",), ("1680774958.526384123",), ("1680774960.5",)]
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2))  # over many lines
    before = content(directory / "s.db")
    load(directory / "s.db", path)
    assert content(directory / "s.db") == before
    path.write_text(json.dumps({"events": [[1, "a"], 3, ["x", "e", "T", 1], [5, "e", "T", 1]], "binds": [["T"]]}))
    done = load(directory / "t.db", path)
    assert b"4 skipped" in done.out and b"1 spans, 1 events" in done.out, done.out
    path.write_text(json.dumps({"events": [["", "e", "T", 1], [5, "e", "T", 1]], "binds": []}))
    done = load(directory / "e.db", path)
    assert b"1 skipped" in done.out and ask(directory / "e.db", "select time from event") == [("5",)], done.out
    lines = write(directory / "lines", *(json.dumps({"time": time, "span_type": "t", "span_id": "i", "event": "e"}) for time in ("", 5)))
    done = load(directory / "l.db", lines)
    assert b"1 skipped" in done.out and ask(directory / "l.db", "select time from event") == [("5",)], done.out


def test_json_lines(directory):
    records = [{"time": 1700000000.5, "span_type": "job", "span_id": 1, "event": "begin", "cores": 4, "load": 0.5, "ok": True},
               {"time": "2023-04-06T09:55:58Z", "span_type": "part", "span_id": "a", "event": "e", "super_type": "job", "super_id": 1,
                "key": "first", "note": "n"}, {"created": 5, "msg": "another kind"}]
    path = write(directory / "lines", json.dumps(records[0]), "{broken", json.dumps(records[1]), "", json.dumps(records[2]))
    done = twice(directory / "s.db", path)
    assert b"1 skipped" in done.out and f"{path}:2: skipped" in done.err and b"1 lines of other kinds" in done.out, done
    assert types(directory / "s.db") == {"job": 1, "part": 1} and edges(directory / "s.db") == {("job", "part", "first"): 1}
    assert ask(directory / "s.db", "select key, value from metric order by 1") == [("cores", 4), ("load", 0.5)]
    assert not ask(directory / "s.db", "select * from record")
    twice(directory / "s.db", path, "--json-lines")
    assert [json.loads(row[0]) for row in ask(directory / "s.db", "select json from record order by line")] == records
    write(path, *(json.dumps({"msg": "m"}) for _ in range(3)))  # records of no span are kept when asked for, all of them
    assert load(directory / "t.db", path, expect=1).err.count("of no kind that is known") == 1
    twice(directory / "t.db", path, "--json-lines")
    assert len(ask(directory / "t.db", "select * from record")) == 3


def test_rules(directory):
    own = write(directory / "rules", "# spans of my program", "",
                r'app.step match="^([0-9.]+) step ([0-9]+) (began|ended)" id=\2 event=\3 time=\1 in=app.run:r1 key="step \2" note=\0',
                r'app.\1 match="job ([a-z]+) says "([^"]+)" in task ([0-9]+)" id=\2 event=said same=parsl.task:\3  # quotes in it')
    log = write(directory / "log", "1700000000.25 step 5 began", "1700000001 step 5 ended", "nothing", "12..3 step 6 ended",
                '2023-04-06 09:55:58 job x says "hello you" in task 4', 'job x says "no time" in task 4')
    done = twice(directory / "s.db", log, "--rules", own, "--timezone", "UTC")
    assert b"lines that rules choose" in done.out and b"2 skipped" in done.out, done
    assert types(directory / "s.db") == {"app.step": 2, "app.run": 1, "app.x": 2, "parsl.task": 1}, types(directory / "s.db")
    assert events(directory / "s.db") == {("app.step", "began"): 1, ("app.step", "ended"): 1, ("app.x", "said"): 1}
    assert edges(directory / "s.db") == {("app.run", "app.step", f"step {n}"): 1 for n in "56"}
    assert facets(directory / "s.db") == {("app.x", "parsl.task"): 2}
    for text, expected in ((r"t match=( id=\0", "t match"), ("t id=3", "lacks match="), (r"t match=a id=\1", "parentheses"),
                           ("t match=a ids=1", "Did you mean id?"), ("t match=a id=1 id=2", "twice"), ('t match="a id=1', "quote"),
                           ("t match=a id=1 in=x", "TYPE:ID"), ("t match=a id=", "no value"), ("# none", "no rule"), ("t x", "KEY=VALUE")):
        write(own, text)
        done = load(directory / "u.db", log, "--rules", own, expect=2)
        assert f"{own}" in done.err and expected.split(" match")[0] in done.err, (text, done.err)
        assert not (directory / "u.db").exists()


# --- what is joined ---------------------------------------------------------------------------------


def test_any_order(directory):
    """The views of a run are joined, whatever was imported first, and whatever is imported together."""
    run = rundir(directory / "runinfo" / "000")
    inputs = [monitoring(directory / "runinfo" / "monitoring.db"), run / "parsl.log", run / "my_wq",
              write(run / "my_wq" / "transaction_log", *TRANSACTIONS), tracing(run / "tracing.json"), htex(run / "threads", (11, 12))]
    zone = ("--timezone", "UTC")
    load(directory / "all.db", directory / "runinfo", *zone)
    expected = content(directory / "all.db")
    assert facets(directory / "all.db") == {
        ("parsl.tracing.TASK", "parsl.rundir.task"): 2, ("parsl.rundir.task", "parsl.monitoring.task"): 3,
        ("parsl.rundir.workflow", "parsl.monitoring.workflow"): 1}, facets(directory / "all.db")
    assert edges(directory / "all.db")[("parsl.rundir.try", "parsl.executor.htex.interchange.task", "htex subtask")] == 1
    assert set(ask(directory / "all.db", "select distinct note from facet")) == {("joined by importer",)}
    for seed in range(4):
        random.Random(seed).shuffle(inputs)
        database = directory / f"{seed}.db"
        for path in inputs:
            load(database, path, *zone)
        assert content(database) == expected, [str(p) for p in inputs]


def test_work_queue_of_a_run(directory):
    run = rundir(directory / "000")
    texts = [text.replace("TASK 10 ", "TASK 100 ").replace("PUT 10 ", "PUT 100 ") for text in TRANSACTIONS]
    write(run / "my_wq" / "transaction_log", *texts)
    load(directory / "s.db", run)
    assert facets(directory / "s.db") == {("parsl.executors.workqueue.executor_task", "workqueue.task"): 1}, facets(directory / "s.db")


# --- times ------------------------------------------------------------------------------------------


def test_zones(directory):
    """Local times as Python's zoneinfo has them, over changes of the clock."""
    chance = random.Random(5)
    names = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC", "+02:00", "-0930")
    special = ["2023-03-26 01:59:59.999999", "2023-03-26 02:30:00", "2023-03-26 03:00:00", "2023-10-29 01:59:59",
               "2023-10-29 02:30:00.000001", "2023-10-29 03:00:00", "2023-11-05 01:30:00", "2023-04-02 01:45:00", "2023-10-01 02:15:00"]
    for name in names:
        texts = special + [f"20{chance.randrange(10, 30)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02} "
                           f"{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}.{chance.randrange(10**6):06}"
                           for _ in range(100)]
        log = write(directory / "log", *(f"{text} METRIC t {i} a=1" for i, text in enumerate(texts)))
        database = directory / f"{names.index(name)}.db"
        load(database, log, "--timezone", name)
        offset = {"+02:00": 7200, "-0930": -34200}.get(name)
        zone = zoneinfo.ZoneInfo(name) if offset is None else datetime.timezone(datetime.timedelta(seconds=offset))
        found = dict(ask(database, "select cast(i.id as integer), e.time from event e join identity i using (span_uuid)"))
        for i, text in enumerate(texts):
            local = datetime.datetime.fromisoformat(text).replace(tzinfo=zone)
            seconds = (local - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)
            whole, rest = divmod(seconds, 10**6)
            assert found[i] == (f"{whole}.{rest:06}".rstrip("0").rstrip(".")), (name, text, found[i], whole, rest)
    log = write(directory / "log", "2023-07-01 12:00:00 METRIC t 1 a=1")
    load(directory / "local.db", log, env={"TZ": "Europe/Berlin"})  # without the option: the zone of the user
    assert ask(directory / "local.db", "select time from event") == [("1688205600",)]
    for name in ("Nowhere/Town", "", "/etc/passwd", "../zoneinfo/UTC", "+99:00"):
        assert "--timezone" in load(directory / "u.db", log, "--timezone", name, expect=2).err
        assert not (directory / "u.db").exists()


# --- traces -----------------------------------------------------------------------------------------


def seconds(ns):
    whole, rest = divmod(ns, 10**9)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


def nested(records):
    """[type, begin, end, number of the region around it or None, I/O in it] of the regions of one thread."""
    regions, stack = [], []
    records = sorted(records, key=lambda r: (r["ts"], -(r["ts"] + r["dur"]), r["seq"]))
    for record in records:
        end = record["ts"] + record["dur"]
        while stack and (regions[stack[-1]][2] < record["ts"] or (regions[stack[-1]][2] == record["ts"] and record["dur"])):
            stack.pop()
        if record["cat"] in ("APP", "LIB") and "phase" not in record:
            regions.append([f"dftrace.region.{record['cat']}.{record['name']}", record["ts"], end, stack[-1] if stack else None, 0])
            stack.append(len(regions) - 1)
        elif record["class"] in IO and "phase" not in record:
            for i in stack:
                regions[i][4] += record["dur"]
    return regions


def test_traces(directory):
    make(directory / "t", processes=4, threads=2, events=400, ppid=1, ranks=1)
    twice(directory / "s.db", directory / "t")
    records = dump(directory / "t")
    threads = collections.defaultdict(list)
    for record in records:
        threads[record["pid"], record["tid"]].append(record)
    regions = {key: nested(list_) for key, list_ in threads.items()}
    expected = collections.Counter((r[0], seconds(r[1]), seconds(r[2])) for list_ in regions.values() for r in list_)
    found = collections.Counter(ask(directory / "s.db", "select s.type, b.time, e.time from span s join event b on b.span_uuid = s.uuid"
                                    " and b.type = 'begin' join event e on e.span_uuid = s.uuid and e.type = 'end'"
                                    " where s.type like 'dftrace.region.%'"))
    assert found == expected, (sum(found.values()), sum(expected.values()))
    expected = collections.Counter((list_[r[3]][0] if r[3] is not None else "dftrace.process", r[0])
                                   for list_ in regions.values() for r in list_)
    found = collections.Counter()
    for (super_type, sub_type, _), count in edges(directory / "s.db").items():
        if sub_type != "dftrace.process":
            found[super_type, sub_type] += count
    assert found == expected, (found, expected)
    totals = dict(ask(directory / "s.db", "select key, sum(value) from metric m join span s on s.uuid = m.span_uuid where s.type ="
                                          " 'dftrace.process' group by 1"))
    io = [r for r in records if r["class"] in IO and "phase" not in r]
    assert totals["io_ns"] == sum(r["dur"] for r in io)
    assert totals["read_bytes"] + totals["written_bytes"] == sum(r.get("bytes", 0) for r in io)
    expected = collections.Counter((r[0], r[4]) for list_ in regions.values() for r in list_ if r[4])
    found = collections.Counter(ask(directory / "s.db", "select s.type, m.value from metric m join span s on s.uuid = m.span_uuid where"
                                    " s.type <> 'dftrace.process' and key = 'io_ns' and value > 0"))
    assert found == expected
    keys = ask(directory / "s.db", "select superspan_uuid, group_concat(key) from (select * from subspan where key not like 'pid %'"
                                   " order by superspan_uuid, cast(key as integer)) group by 1")
    assert all(row[1] == ",".join(map(str, range(row[1].count(",") + 1))) for row in keys)


def test_dftracer_traces(directory):
    for i, task in enumerate((0, 1)):
        writer = Writer("2.x", pid=100 + i)
        writer.call("APP", "work", 1_700_000_000_000_000, 1000)
        writer.call("POSIX", "read", 1_700_000_000_000_010, 100, file="/data/a", ret=4096, count=4096)
        (directory / f"t{i}.pfw").write_text("[\n" + "\n".join(writer.lines) + "\n")
    plain = (directory / "t0.pfw").read_bytes()
    twice(directory / "s.db", directory)
    assert types(directory / "s.db")["dftrace.process"] == 2
    (directory / "x").mkdir()
    (directory / "x" / "a name without an ending").write_bytes(plain)
    done = load(directory / "x.db", directory / "x" / "a name without an ending")
    assert types(directory / "x.db")["dftrace.process"] == 1, done


def test_tasks_of_traces(directory):
    """A task and the processes that say they ran it: one join answers which tasks waited for I/O."""
    runs = [monitoring(directory / "monitoring.db", ("run",), tasks=3)]
    need_library()
    for task in range(3):
        subprocess.run(["dd", "if=/dev/zero", f"of={directory / 'out'}", "bs=1000", f"count={task + 1}"], check=True,
                       stderr=subprocess.DEVNULL,
                       env={**os.environ, "LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1",
                            "DFTRACER_LOG_FILE": str(directory / f"traces/t{task}"),
                            "DFTRACER_RUN_ID": f"parsl:run:{task}:0" if task else f"parsl:run:{task}"})
    twice(directory / "s.db", *runs, directory / "traces", "--timezone", "UTC")
    assert facets(directory / "s.db") == {("dftrace.process", "parsl.monitoring.task"): 3, ("dftrace.process", "parsl.monitoring.try"): 2}
    found = ask(directory / "s.db", "select s.key, m.value from subspan s join facet f on f.right_uuid = s.subspan_uuid join metric m on"
                                    " m.span_uuid = f.left_uuid and m.key = 'written_bytes' join span p on p.uuid = s.superspan_uuid"
                                    " where p.type = 'parsl.monitoring.workflow' order by 1")
    assert [(key, value >= 1000 * (int(key) + 1)) for key, value in found] == [("0", True), ("1", True), ("2", True)], found
    query = (ROOT / "docs" / "spans.md").read_text().split("```sql\n")[1].split("```")[0]
    found = ask(directory / "s.db", query)
    assert sorted(row[0] for row in found) == ["0", "1", "2"] and all("dd if=" in row[1] and row[2] > 0 for row in found), found
    load(directory / "order.db", directory / "traces")
    load(directory / "order.db", *runs, "--timezone", "UTC")
    assert content(directory / "order.db") == content(directory / "s.db")


def program(directory, text):
    """A program in C, and the environment that traces it."""
    need_library()
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (directory / "p.c").write_text(text)
    subprocess.run(["gcc", f"-I{ROOT / 'include'}", "-o", directory / "p", directory / "p.c"], check=True)
    return {**os.environ, "LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(directory / "t" / "t")}


def test_annotations(directory):
    """Asynchronous spans with parents and flows, of a program in C."""
    traced = program(directory, PROGRAM)
    subprocess.run(["sh", "-c", f"{directory / 'p'}; true"], check=True, env=traced)
    twice(directory / "s.db", directory / "t")
    started = ask(directory / "s.db", "select a.note, b.note, key like 'pid %' from subspan join span a on a.uuid = superspan_uuid join"
                                      " span b on b.uuid = subspan_uuid and b.type = 'dftrace.process'")
    assert any(above.startswith("sh -c ") and below == str(directory / "p") and key for above, below, key in started), started
    found = {key: count for key, count in edges(directory / "s.db").items() if key[2][:3] != "pid"}
    named_ = collections.Counter()
    for (above, below, key), count in found.items():
        named_[above, below, "" if key.startswith("span ") or key.isdigit() else key] += count
    region = "dftrace.region.APP."
    assert named_ == {("dftrace.process", "dftrace.span.request", ""): 3, ("dftrace.span.request", "dftrace.span.part", ""): 6,
                      ("dftrace.process", "dftrace.span.never", ""): 1, ("dftrace.process", region + "send", ""): 3,
                      ("dftrace.process", region + "take", ""): 3, (region + "send", region + "take", "flow queue"): 3,
                      ("dftrace.span.never", "dftrace.span.part", ""): 1}, named_
    assert events(directory / "s.db")["dftrace.span.part", "end"] == 7
    assert ("dftrace.span.never", "end") not in events(directory / "s.db")


def test_running(directory):
    """A process that runs, and then the same one when it has ended or was killed: no span comes twice."""
    traced = program(directory, WAITING)
    for ending in ("exit", "kill"):
        shutil.rmtree(directory / "t", ignore_errors=True)
        database, fresh = directory / f"{ending}.db", directory / f"{ending}-fresh.db"
        with subprocess.Popen([directory / "p"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=traced) as child:
            child.stdout.readline()
            twice_running = [load(database, directory / "t"), load(database, directory / "t")]
            assert "1 processes ran when they were imported before" in twice_running[1].err, twice_running
            assert types(database) == {"dftrace.process": 1, "dftrace.region.APP.done": 1}, types(database)
            assert ("dftrace.process", "end") not in events(database)
            if ending == "kill":
                child.kill()
            child.communicate(b"x\n")
        twice(database, directory / "t")
        load(fresh, directory / "t")
        assert content(database) == content(fresh)
        assert events(database)["dftrace.process", "end"] == 1


WAITING = """
#include <dftrace/dftrace.h>
#include <unistd.h>
int main(void)
{
    char byte;
    DFTRACE_BEGIN("done");
    write(1, "a", 1);
    DFTRACE_END("done");
    DFTRACE_BEGIN("open");
    write(1, "\\n", 1);
    read(0, &byte, 1);
    DFTRACE_END("open");
    return 0;
}
"""
PROGRAM = """
#include <dftrace/dftrace.h>
int main(void)
{
    struct dftrace_span never, request, part;
    DFTRACE_SPAN_BEGIN(&never, "never");
    for (int i = 0; i < 3; i++) {
        DFTRACE_SPAN_BEGIN(&request, "request");
        for (int k = 0; k < 2; k++) {
            DFTRACE_SPAN_CHILD(&part, &request, "part");
            DFTRACE_SPAN_END(&part);
        }
        DFTRACE_SPAN_END(&request);
        DFTRACE_BEGIN("send");
        DFTRACE_FLOW_START("queue", 5);
        DFTRACE_END("send");
        DFTRACE_BEGIN("take");
        DFTRACE_FLOW_FINISH("queue", 5);
        DFTRACE_END("take");
    }
    DFTRACE_SPAN_CHILD(&part, &never, "part");
    DFTRACE_SPAN_END(&part);
    return 0;
}
"""


# --- bad input --------------------------------------------------------------------------------------


def test_strange_lines(directory):
    log = directory / "log"
    log.write_bytes(b"1700000000 METRIC t 1 a=1\r\n" + b"1700000001 METRIC t \x00\xff\x1b a=\x01\r\n" + b"x" * 3_000_000 +
                    b" METRIC t 2 a=1\n" + b"1700000002 METRIC t 3 a=1")
    done = twice(directory / "s.db", log)
    assert f"{log}:3: skipped: longer than 1 MiB" in done.err, done.err
    assert ask(directory / "s.db", "select id from identity order by 1") == [("1",), ("3",), ("\\x00\\xff\\x1b",)]
    assert ask(directory / "s.db", "select value from metric order by 1") == [(1,), (1,), ("\\x01",)]
    texts = TRANSACTIONS + ["nonsense", "1680774985770900 372 TASK x", "1680774985770900 372 TASK 5", "1680774985770900 372 TASK 5 RUNNING",
                            "1680774985770900 372 TRANSFER SIDEWAYS 5", "99999999999999999999 1 TASK 1 DONE", "16807749857"]
    path = write(directory / "w", *texts)
    done = twice(directory / "w.db", path)
    assert b"7 skipped because they make no sense" in done.out and done.err.count("skipped:") == 7, done
    path = write(directory / "p.log", line(0, "Run id is: r"), line(0, "Run id is: "), line(0, "Parsl task 5 try x launched on executor e with executor id 5"),
                 line(0, "Parsl task 5 try 1 launched on executor e"), line(0, "Completed Work Queue task 7, par"),
                 line(0, "Task 3 submitted to WorkQueue with id "), line(0, "Sent tasks: [1, x] to manager"), line(0, "Sent tasks: [1, "))
    done = twice(directory / "p.db", path)
    assert b"5 skipped" in done.out and b"1 lines of other kinds" in done.out, done
    # Executors of threads number no tasks: their tasks and tries are there all the same.
    threads = write(directory / "t.log", line(0, "Run id is: t"), *[line(i, f"Parsl task {i} try 0 launched on executor threads{end}")
                                                                    for i, end in enumerate(["", " with executor id None", " with executor id 7"] * 100)])
    assert b"make no sense" not in twice(directory / "t.db", threads).out
    assert types(directory / "t.db") == {"parsl.rundir.workflow": 1, "parsl.rundir.task": 300, "parsl.rundir.try": 300}
    assert b"3 skipped because" in load(directory / "bad.db", write(directory / "bad", *["1700000000 METRIC x"] * 3), expect=1).out
    many = write(directory / "many", *["1700000000 METRIC"] * 3, *["1700000000 METRIC x"] * 50, "1700000000 METRIC t 1")
    done = load(directory / "many.db", many)
    assert done.err.count("skipped:") == 10 and b"50 skipped" in done.out, done


def test_any_bytes(directory):
    """Whatever the bytes of a file are, the import ends, with a word."""
    chance = random.Random(3)
    real = "\n".join(TRANSACTIONS + [line(0, f"Run id is: {RUN}"), "1700000000 METRIC t 1 a=1"]).encode()
    base = monitoring(directory / "m.db").read_bytes()
    trace = make(directory / "t", processes=1, events=50).glob("*.dft")
    samples = [real, base, json.dumps({"events": [[1, "a", "b", "c"]], "binds": []}).encode(), next(trace).read_bytes()]
    for i in range(60):
        sample = bytearray(samples[i % 4])
        for _ in range(chance.randrange(1, 30)):
            sample[chance.randrange(len(sample))] = chance.randrange(256)
        path = directory / "x"
        path.write_bytes(sample[:chance.randrange(len(sample) + 1)] if i % 3 == 0 else sample)
        done = load(directory / "s.db", path, expect=None)
        assert done.code in (0, 1) and (done.out or done.err), done
    assert ask(directory / "s.db", "pragma integrity_check") == [("ok",)]


def test_inputs(directory):
    good = write(directory / "good", "1700000000 METRIC t 1 a=1")
    text = write(directory / "text", "nothing of spans")
    done = load(directory / "s.db", directory / "nowhere", good, text, expect=1)
    assert "nowhere: No such file" in done.err and f"{text}: of no kind that is known; known are" in done.err and b"1 spans" in done.out
    assert types(directory / "s.db") == {"t": 1}  # the others are imported
    before = content(directory / "s.db")
    (directory / "parsl_tracing.pickle").write_bytes(pickle.dumps({"events": [], "binds": []}))
    for path in (directory / "parsl_tracing.pickle", directory):
        done = load(directory / "s.db", path, expect=1)
        assert "unpickling runs code" in done.err and '"events": [[time' in done.err, done.err
    assert content(directory / "s.db") == before
    (directory / "empty").mkdir()
    assert "no file is of a kind" in load(directory / "e.db", directory / "empty", expect=1).err
    assert not (directory / "e.db").exists()  # nothing was imported: nothing is left
    assert "this is the database itself" in load(directory / "s.db", directory / "s.db", expect=1).err
    assert "what is to be imported" in load(directory / "s.db", expect=2).err
    broken = directory / "broken.db"
    broken.write_bytes(monitoring(directory / "whole.db", tasks=400).read_bytes()[:20_000] + b"\x55" * 30_000)
    done = load(directory / "s.db", broken, good, expect=1)
    assert "cannot be read, and nothing of it is kept" in done.err and b"good: METRIC" in done.out, done
    assert content(directory / "s.db") == before
    if os.geteuid():
        good.chmod(0)
        assert "Permission denied" in load(directory / "p.db", good, expect=1).err


def test_bad_databases(directory):
    good = write(directory / "good", "1700000000 METRIC t 1 a=1")
    text = write(directory / "a text", "which is no database, and longer than a hundred bytes " * 3)
    before = text.read_bytes()
    assert "no database of SQLite" in load(text, good, expect=1).err and text.read_bytes() == before
    other = monitoring(directory / "monitoring.db")  # the words in the wrong order
    before = other.read_bytes()
    done = load(other, good, expect=1)
    assert "a database of something else" in done.err and "FILE.db PATH" in done.err and other.read_bytes() == before
    assert "No such file" in load(directory / "no folder" / "s.db", good, expect=1).err
    load(directory / "s.db", good)
    damaged = bytearray((directory / "s.db").read_bytes())
    damaged[4096:12288] = b"\x77" * 8192
    (directory / "damaged.db").write_bytes(damaged)
    assert "damaged" in load(directory / "damaged.db", good, expect=1).err
    with sqlite3.connect(directory / "theirs.db") as db:  # one with the tables of spans alone
        db.executescript("create table span (uuid text primary key, type text not null, note text);"
                         "create table event (uuid text primary key, span_uuid text, time text not null, type text not null, note text);"
                         "create table subspan (superspan_uuid, subspan_uuid, key text not null, note text);"
                         "create table facet (left_uuid, right_uuid, note text); insert into span values ('u', 'x', null);")
    db.close()
    twice(directory / "theirs.db", good)
    assert types(directory / "theirs.db") == {"x": 1, "t": 1}
    os.mkfifo(directory / "pipe.db")
    assert "no regular file" in load(directory / "pipe.db", good, expect=1).err
    assert "no regular file" in dftmerge("spans", "types", directory / "pipe.db", expect=1).err
    locked = sqlite3.connect(directory / "s.db", isolation_level=None)
    locked.execute("begin immediate")
    assert "another program writes" in load(directory / "s.db", good, expect=1).err
    locked.close()


def test_ended(directory):
    """A signal in the middle: nothing is left of the import."""
    big = write(directory / "big", *(f"{1700000000 + i} METRIC t {i} a=1" for i in range(300_000)))
    good = write(directory / "good", "1700000000 METRIC t 1 a=1")
    load(directory / "s.db", good)
    before = content(directory / "s.db")
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for database in (directory / "s.db", directory / "new.db"):
            child = subprocess.Popen([DFTMERGE, "spans", "import", database, big], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            journal = pathlib.Path(f"{database}-journal")
            while child.poll() is None and not journal.exists():
                time.sleep(0.005)
            time.sleep(0.05)
            child.send_signal(sent)
            _, err = child.communicate()
            assert child.returncode == (-signal.SIGKILL if sent == signal.SIGKILL else 1), (child.returncode, err)
            assert sent == signal.SIGKILL or b"ended by a signal" in err, err
            assert sent == signal.SIGKILL or not (directory / "new.db").exists()
    assert content(directory / "s.db") == before
    load(directory / "new.db", good)  # what the killed one left of a new database does not disturb
    assert content(directory / "new.db") == before


def holds(child, path):
    """Has the process this file open?"""
    try:
        return any(os.readlink(entry) == str(path) for entry in pathlib.Path(f"/proc/{child.pid}/fd").iterdir())
    except OSError:
        return False


def test_two_at_once(directory):
    """Two make the same database: the one that comes too late leaves it alone, and says why once."""
    big = write(directory / "big", *(f"{1700000000 + i} METRIC t {i} a=1" for i in range(100_000)))
    database = directory / "new.db"
    children = [subprocess.Popen([DFTMERGE, "spans", "import", database, big], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    first = []
    while not first and all(child.poll() is None for child in children):
        first = [child for child in children if holds(child, f"{database}-journal")]
        time.sleep(0.001)
    if not first:
        return  # it was over before it was seen
    first[0].send_signal(signal.SIGSTOP)
    late = children[1 - children.index(first[0])]
    _, err = late.communicate()
    first[0].send_signal(signal.SIGCONT)
    _, more = first[0].communicate()
    if late.returncode:
        assert late.returncode == 1 and b"another program writes" in err and err.count(b"\n") == 1, err
    assert first[0].returncode == 0, more
    assert types(database) == {"t": 100_000}


def test_disk_full(directory):
    big = write(directory / "big", *(f"{1700000000 + i} METRIC t {i} a=1" for i in range(50_000)))
    good = write(directory / "good", "1700000000 METRIC t 1 a=1")
    load(directory / "s.db", good)
    before = content(directory / "s.db")
    done = subprocess.run(["sh", "-c", f"ulimit -f 2000; exec {DFTMERGE} spans import {directory / 's.db'} {big}"], capture_output=True)
    assert done.returncode == 1 and b"make room" in done.stderr, done
    assert content(directory / "s.db") == before


def test_real_samples(directory):
    if not REAL.exists():
        pytest.skip("there are no real samples")
    twice(directory / "s.db", REAL, "--timezone", "UTC")
    assert types(directory / "s.db") == {"parsl.monitoring.workflow": 1, "parsl.monitoring.task": 50, "parsl.monitoring.try": 50,
                                         "workqueue.task": 50, "workqueue.worker": 1}
    found = events(directory / "s.db")
    assert sum(n for (span, _), n in found.items() if span == "parsl.monitoring.try") == 250
    assert sum(n for (span, _), n in found.items() if span == "parsl.monitoring.task") == 100
    assert sum(n for (_, event), n in found.items() if event.startswith("TRANSFER_")) == 250
    assert ask(directory / "s.db", "select min(time + 0), max(time + 0) from event e join span s on s.uuid = e.span_uuid"
                                   " where s.type like 'parsl.%'") == [(1680774958.425735, 1680774988.753103)]
