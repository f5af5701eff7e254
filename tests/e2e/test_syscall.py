# SPDX-License-Identifier: MIT
"""Calls through the function syscall(): the same events as by the functions of the same meaning."""

import json
import os
import shutil

import system_calls
from tracing import compile_program, dftmerge, dump, environment, equal, live_files, run, traces, tracing, true

PASSING = {"ts", "ts_s", "dur", "pid", "tid", "seq"}  # what differs from one run to the next


def do(program, directory, *arguments, trace=None, expect=0, **settings):
    """Runs it in an empty directory that has the same name every time. Returns what it printed."""
    work = directory / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    env = tracing(directory / trace / "t", **{"DATA_DIR": work, **settings}) if trace else environment()
    done = run([program, *arguments], cwd=work, env=env)
    equal((done.code if expect is not None else None, done.err), (expect, b""), "exit code and standard error")
    return done.out.decode(), done.code


def without_time(events):
    return [{k: v for k, v in event.items() if k not in PASSING} for event in events]


def plain(events):
    """Of processes that end in different ways the last events differ."""
    return [e for e in without_time(events) if e["cat"] != "PROCESS"]


def test_the_same_events_as_by_functions(directory):
    program = compile_program("both_ways.c", directory / "both_ways")
    output = {(way, trace): do(program, directory, way, trace=trace)
              for way, trace in (("function", None), ("function", "f"), ("syscall", None), ("syscall", "s"))}
    equal(len(set(output.values())), 1, f"outputs: {output}")
    functions, syscalls = plain(dump(directory / "f")), plain(dump(directory / "s"))
    true(len(functions) > 60, f"only {len(functions)} events")
    # glibc's renameat is the system call renameat2 where there is no other
    syscalls = [{**e, "name": "renameat"} if e["name"] == "renameat2" and "flags" not in e else e for e in syscalls]
    functions = [{**e, "name": "renameat"} if e["name"] == "renameat2" and "flags" not in e else e for e in functions]
    for number, (one, other) in enumerate(zip(functions, syscalls)):
        equal(other, one, f"event {number}")
    equal(len(syscalls), len(functions), "events")
    equal(live_files(directory), [], "live files")


def test_equal_to_strace(directory):
    program = compile_program("both_ways.c", directory / "both_ways")
    (directory / "work").mkdir()
    _, calls = system_calls.strace([program, "syscall"], directory / "work", directory)
    do(program, directory, "syscall", trace="s", DATA_DIR="all")
    lines, compared = system_calls.differences(calls, dump(directory / "s"))
    true(compared > 60, f"only {compared} calls were compared")
    true(not lines, "; ".join(lines[:20]))


def test_calls_without_a_function(directory):
    """openat2, io_uring; and our descriptor is open for nobody."""
    program = compile_program("only_syscall.c", directory / "only_syscall")
    untraced, traced = do(program, directory), do(program, directory, trace="s")
    equal(traced, untraced, "output")
    true("fstat" not in untraced[0] and "bad address: -1 (EFAULT)" in untraced[0], f"output untraced: {untraced}")
    events = dump(*traces(directory))
    opens = [(e.get("file", "").rsplit("/", 1)[-1], e.get("flags"), e.get("mode"), e.get("errno", 0))
             for e in events if e["name"] == "openat2"]
    equal(len(opens), 8, "openat2")
    equal(opens[0][0], "how", f"the file that was opened: {opens}")
    equal([e[3] for e in opens], 2 * [0, 22, 14, 14], "errno of openat2")
    how = [e for e in events if e["name"] == "openat2"][0]
    equal((how["flags"], how["mode"]), (0o102, 0o600), "flags and mode of openat2")
    equal([(e["offset"], e["bytes"]) for e in events if e["name"] == "write" and e["file"].endswith("/how")],
          2 * [(0, 4)], "writes, before and behind")
    rings = {e["name"]: e for e in events if e["name"].startswith("io_uring")}
    equal(sorted(rings), ["io_uring_enter", "io_uring_register", "io_uring_setup"], "io_uring")
    true("errno" in rings["io_uring_register"], "an impossible operation")
    equal(len(traces(directory)), 1, "trace files")
    equal(live_files(directory), [], "live files")


def processes(directory, how, expect):
    """(events, {pid: how it ended}) of a run that is the same without tracing."""
    program = directory / "syscall_processes"
    if not program.exists():
        compile_program("syscall_processes.c", program, "-pthread")
    equal(do(program, directory, how, expect=expect), do(program, directory, how, trace=how, expect=expect), "output")
    if expect is not None:
        equal(live_files(directory / how), [], f"live files: {how}")
    ps = json.loads(dftmerge("ps", "--json", directory / how).out)["processes"]
    equal({sum(p["dropped"].values()) for p in ps}, {0}, "lost")
    return dump(directory / how), ps


def offsets(events):
    return sorted(e["offset"] for e in events if e["name"] == "pwrite")


def test_children_by_system_calls(directory):
    events, ps = processes(directory, "children", 1)
    equal(offsets(events), [*range(7), *range(100, 106)], "writes")
    equal(len(ps), 7, "processes")
    made = [e["name"] for e in events if e["name"] in ("fork", "clone", "clone3")]
    equal(made, 2 * ["fork" if "fork" in made else "clone", "clone", "clone3"], "how they were made")
    equal({e["ret"] for e in events if e["name"] in ("fork", "clone", "clone3")}, {e["pid"] for e in events} - {events[0]["pid"]},
          "the pids of the children are results")
    equal(sorted((p["ended"], p["status"]) for p in ps), [("_exit", 10 + i) for i in range(6)] + [("exit", 1)], "ends")


def test_threads_that_end_by_system_calls(directory):
    events, ps = processes(directory, "threads", 2)
    equal(offsets(events), sorted(1000 * i + k for i in range(1, 201) for k in range(10)), "writes")
    equal((ps[0]["ended"], ps[0]["status"]), ("exit", 2), "end")


def test_ends_by_system_calls(directory):
    for how, code in (("last", 3), ("group", 4)):
        events, ps = processes(directory, how, code)
        equal(offsets(events), [0], f"writes: {how}")
        equal((ps[0]["ended"], ps[0]["status"]), ("_exit", code), how)
    events, ps = processes(directory, "rest", None)  # its code is that of the last thread, or with older kernels of the first
    equal(offsets(events), [0, *range(1000, 1010)], "writes behind the end of the first thread")
    equal(len(live_files(directory / "rest")), 1, "live files: nobody told that the process ends")


def test_exec_by_system_calls(directory):
    for how in ("execve", "execveat"):
        events, ps = processes(directory, how, 0)
        equal(offsets(events), [0, 1, 2], f"writes: {how}")
        execs = [(e["name"], os.path.basename(e["file"]), e.get("errno"), e.get("phase")) for e in events if e["name"].startswith("exec")]
        equal(execs, [("execve", "program", 2, None), ("execve", "passwd", 13, None), (how, "echo", None, "begin")],
              "execs")
