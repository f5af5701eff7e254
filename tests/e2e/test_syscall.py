#!/usr/bin/env python3
"""Calls through the function syscall(): the same events as by the functions of the same meaning."""

import shutil
import sys

import system_calls
from tracing import Tests, compile_program, dump, environment, equal, live_files, run, traces, tracing, true

tests = Tests()
PASSING = {"ts", "ts_s", "dur", "pid", "tid", "seq"}  # what differs from one run to the next


def do(program, directory, *arguments, trace=None):
    """Runs it in an empty directory that has the same name every time. Returns what it printed."""
    work = directory / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    env = tracing(directory / trace / "t", DATA_DIR=work) if trace else environment()
    done = run([program, *arguments], cwd=work, env=env)
    equal((done.code, done.err), (0, b""), "exit code and standard error")
    return done.out.decode()


def without_time(events):
    return [{k: v for k, v in event.items() if k not in PASSING} for event in events]


def plain(events):
    """Of processes that end in different ways the last events differ."""
    return [e for e in without_time(events) if e["cat"] != "PROCESS"]


@tests.case
def the_same_events_as_by_functions(directory):
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


@tests.case
def equal_to_strace(directory):
    program = compile_program("both_ways.c", directory / "both_ways")
    (directory / "work").mkdir()
    _, calls = system_calls.strace([program, "syscall"], directory / "work", directory)
    do(program, directory, "syscall", trace="s")
    lines, compared = system_calls.differences(calls, dump(directory / "s"))
    true(compared > 60, f"only {compared} calls were compared")
    true(not lines, "; ".join(lines[:20]))


@tests.case
def calls_without_a_function(directory):
    """openat2, io_uring; and our descriptor is open for nobody."""
    program = compile_program("only_syscall.c", directory / "only_syscall")
    untraced, traced = do(program, directory), do(program, directory, trace="s")
    equal(traced, untraced, "output")
    true("fstat" not in untraced and "bad address: -1 (EFAULT)" in untraced, f"output untraced: {untraced}")
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


if __name__ == "__main__":
    sys.exit(tests.main())
