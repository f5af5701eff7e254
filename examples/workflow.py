#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A workflow whose tasks run traced programs, and the question: which tasks waited for I/O?

It needs no Parsl. It runs twelve tasks, four at a time, and records them in a monitoring.db as Parsl does. Each task is
a program under dftrun. The name of the task in DFTRACER_RUN_ID ties its processes to it. Then `dftmerge spans import`
puts workflow, tasks, processes, regions and I/O into one database, and `dftmerge sql` asks.

    python3 examples/workflow.py FOLDER          # dftmerge, dftrun on PATH, or in build/bin; cc for the programs
"""

import concurrent.futures
import datetime
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import threading
import uuid

HERE = pathlib.Path(__file__).resolve().parent
TASKS = 12
AT_ONCE = 4
TABLES = """
create table workflow (run_id text primary key, workflow_name text, time_began datetime, time_completed datetime);
create table task (task_id integer, run_id text, task_func_name text, task_time_invoked datetime,
                   task_time_returned datetime, primary key (task_id, run_id));
create table try (try_id integer, task_id integer, run_id text, primary key (try_id, task_id, run_id));
create table status (task_id integer, task_status_name text, timestamp datetime, run_id text, try_id integer);
"""
# Which tasks waited for I/O? Spans of tasks, of the processes that ran them (facets), and what these did (metric).
WAITED = """
attach 'monitoring.db' as parsl;
select p.task_id as task, p.task_func_name as what,
       round((select max(cast(e.time as real)) - min(cast(e.time as real)) from event e where e.span_uuid = f.left_uuid), 3)
           as process_s,
       round(sum(m.value) filter (where m.key = 'io_ns') / 1e9, 3) as io_s,
       sum(m.value) filter (where m.key = 'calls') as calls
from subspan s join span t on t.uuid = s.subspan_uuid and t.type = 'parsl.monitoring.task'
     join parsl.task p on p.task_id = cast(s.key as integer)
     left join facet f on f.right_uuid = t.uuid left join metric m on m.span_uuid = f.left_uuid
group by task order by io_s desc
"""
# For which files? The traces stand beside the spans; the run of a process names its task.
FILES = """
select replace(file, rtrim(file, replace(file, '/', '')), '') as name, class, sum(calls) as calls,
       round(sum(dur) / 1e9, 3) as seconds
from files where class <> 'startup' group by name, class order by seconds desc limit 5
"""


def tool(name):
    path = shutil.which(name) or HERE.parent / "build" / "bin" / name
    if not os.access(path, os.X_OK):
        sys.exit(f"workflow.py: there is no {name} on PATH, and none in build/bin: build dftrace first")
    return str(path)


class Monitor:
    """Records a workflow as Parsl's monitoring does."""

    def __init__(self, path):
        self.run = str(uuid.uuid4())
        self.lock = threading.Lock()
        self.db = sqlite3.connect(path, check_same_thread=False)
        self.db.executescript(TABLES)
        self.write("insert into workflow values (?, 'workflow.py', ?, null)", self.run, self.now())

    @staticmethod
    def now():
        return datetime.datetime.now().isoformat(" ")

    def write(self, sql, *values):
        with self.lock, self.db:
            self.db.execute(sql, values)

    def invoked(self, task, name):
        self.write("insert into task values (?, ?, ?, ?, null)", task, self.run, name, self.now())
        self.write("insert into try values (0, ?, ?)", task, self.run)
        self.status(task, "pending")

    def status(self, task, name):
        self.write("insert into status values (?, ?, ?, ?, 0)", task, name, self.now(), self.run)

    def returned(self, task):
        self.write("update task set task_time_returned = ? where task_id = ? and run_id = ?", self.now(), task, self.run)

    def close(self):
        self.write("update workflow set time_completed = ? where run_id = ?", self.now(), self.run)
        self.db.close()


def programs(folder):
    """What tasks run: one that waits for files, the same without its faults, and one that computes."""
    for name in ("slow", "fast"):
        subprocess.run(["cc", "-O2", "-o", folder / name, HERE / f"{name}.c"], check=True)
    compute = ["awk", "BEGIN { for (i = 0; i < 5000000; i++) sum += i }"]
    return [("slow", [folder / "slow", "."]), ("fast", [folder / "fast", "."]), ("compute", compute)]


def run_task(monitor, folder, task, name, command):
    """One try of one task. Its name in DFTRACER_RUN_ID is all that ties the trace to it."""
    place = folder / "tasks" / f"{task}-{name}"
    place.mkdir(parents=True)
    monitor.status(task, "launched")
    env = {**os.environ, "DFTRACER_RUN_ID": f"parsl:{monitor.run}:{task}:0"}
    monitor.status(task, "running")
    subprocess.run([tool("dftrun"), "--quiet", "-o", folder / "traces", "--", *command], cwd=place, env=env, check=True,
                   stdout=subprocess.DEVNULL)
    monitor.status(task, "exec_done")
    monitor.returned(task)


def run_workflow(folder):
    kinds = programs(folder)
    monitor = Monitor(folder / "monitoring.db")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        done = []
        for task in range(TASKS):
            name, command = kinds[task % len(kinds)]
            monitor.invoked(task, name)
            done.append(pool.submit(run_task, monitor, folder, task, name, command))
        for future in done:
            future.result()
    monitor.close()


def ask(*words):
    print("$ dftmerge " + " ".join(f'"{word.strip()}"' if " " in word else word for word in words), flush=True)
    subprocess.run([tool("dftmerge"), *words], check=True)
    print(flush=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: workflow.py FOLDER    (made; programs, traces and databases go there)")
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True)
    print(f"Running {TASKS} tasks, {AT_ONCE} at a time, in {folder} ...", flush=True)
    run_workflow(folder)
    os.chdir(folder)
    ask("spans", "import", "spans.db", "monitoring.db", "traces")
    ask("spans", "types", "spans.db")
    ask("sql", "spans.db", WAITED)
    ask("sql", "--run", "parsl:*", "spans.db", "traces", FILES)


if __name__ == "__main__":
    main()
