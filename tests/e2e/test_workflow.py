# SPDX-License-Identifier: MIT
"""The example of a workflow whose tasks run traced programs: tasks, processes and I/O in one database."""

import json
import pathlib
import sqlite3
import sys

from tracing import BUILD, environment, equal, need, run_checked, true

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "workflow.py"
TASKS = """
select s.key, f.left_uuid,
       (select sum(value) from metric m where m.span_uuid = f.left_uuid and m.key = 'calls'),
       (select sum(value) from metric m where m.span_uuid = f.left_uuid and m.key = 'io_ns')
from span t join subspan s on s.subspan_uuid = t.uuid left join facet f on f.right_uuid = t.uuid
where t.type = 'parsl.monitoring.task'
"""


def summary(traces, run):
    done = run_checked([BUILD / "bin" / "dftmerge", "summary", "--json", "--by", "class", "--run", run, traces])
    groups = [g for g in json.loads(done.out)["groups"] if g["class"] in ("read", "write", "sync", "meta", "startup")]
    return sum(g["count"] for g in groups), sum(g["time_ns"] for g in groups)


def test_tasks_and_their_io(directory):
    """Every task that traced something has its process, and the I/O of the process is that of summary."""
    need("cc", "awk")
    where = directory / "workflow"
    env = environment(PATH=f"{BUILD / 'bin'}:/usr/bin:/bin")
    done = run_checked([sys.executable, EXAMPLE, where], env=env)
    with sqlite3.connect(where / "spans.db") as db:
        tasks = {int(key): (process, calls, ns) for key, process, calls, ns in db.execute(TASKS)}
    with sqlite3.connect(where / "monitoring.db") as db:
        kinds = dict(db.execute("select task_id, task_func_name from task"))
        (workflow,), = db.execute("select run_id from workflow")
    equal(sorted(tasks), list(range(12)), "tasks")
    for task, (process, calls, ns) in tasks.items():
        if kinds[task] == "compute":
            continue
        true(process, f"task {task} has no process")
        equal((calls, ns), summary(where / "traces", f"parsl:{workflow}:{task}:0"), f"task {task}")
    io = {kind: [ns for task, (_, _, ns) in tasks.items() if kinds[task] == kind] for kind in ("slow", "fast")}
    true(min(io["slow"]) > max(io["fast"]), io)
    text = done.out.decode()
    true(text.index("slow") < text.index("fast"), "the tasks that waited longest come first")
    true("journal.log" in text and "table.bin" in text, text)
    equal(done.err, b"", "notes")
