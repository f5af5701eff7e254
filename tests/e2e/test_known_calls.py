# SPDX-License-Identifier: MIT
"""A program that knows what it does: threads, generations of forks, every kind of call; the trace must say the same."""

import collections
import json

import system_calls
from tracing import compile_program, dump, environment, equal, live_files, run, traces, tracing, true

GENERATIONS, THREADS, ROUNDS = 3, 4, 5
PROCESSES = 2 ** (GENERATIONS + 1) - 1


def build(directory):
    # without inlining: headers turn getline into __getdelim, getchar into getc
    return compile_program("known_calls.c", directory / "known_calls", "-fno-inline", "-lpthread")


def traced_run(directory, *arguments, **options):
    program = build(directory)
    (directory / "work").mkdir()
    (directory / "out").mkdir()
    done = run([program, directory / "work", *arguments],
               env=tracing(directory / "out" / "trace", DATA_DIR=directory / "work",
                                                                     **options))
    equal((done.code, done.err), (0, b""), "exit code and standard error")
    return json.loads(done.out)


def counted(events):
    counts = collections.defaultdict(lambda: {"calls": 0, "errors": 0, "bytes": 0})
    for event in events:
        entry = counts[event["name"]]
        entry["calls"] += event.get("calls", 1)
        entry["errors"] += "errno" in event
        entry["bytes"] += event.get("bytes", 0)
    return counts


def test_every_call_is_counted(directory):
    expected = traced_run(directory, GENERATIONS, THREADS, ROUNDS)
    events = dump(directory / "out")
    got = counted(events)
    wrong = [f"{name}: {dict(got[name])}, the program says {want}" for name, want in expected.items()
             if got[name] != want]
    true(not wrong, "; ".join(wrong))
    invented = set(got) - set(expected) - {"_exit", "exit", "waitpid"}
    true(not invented, f"calls that the program did not make: {invented}")
    equal(len({e["pid"] for e in events}), PROCESSES, "processes")
    equal(len(traces(directory / "out")), PROCESSES, "trace files, one for each process")
    equal(live_files(directory / "out"), [], "live files left behind")
    equal(len({e["tid"] for e in events if e["name"] == "pwritev"}), PROCESSES * THREADS, "threads")


def test_every_call_is_counted_in_many_rounds(directory):
    """Rings fill and are drained while other threads write and children are forked."""
    expected = traced_run(directory, 1, 3, 400)
    got = counted(dump(directory / "out"))
    wrong = [f"{name}: {dict(got[name])}, the program says {want}" for name, want in expected.items()
             if got[name] != want]
    true(not wrong, "; ".join(wrong))


def test_offsets_and_arguments(directory):
    """One thread: where each access happened, and what was asked for."""
    traced_run(directory, 0, 1, 1)
    events = [e for e in dump(directory / "out") if e.get("file", "").endswith("/file")]
    by_name = collections.defaultdict(list)
    for event in events:
        by_name[event["name"]].append(event)
    equal([(e["offset"], e["size"], e["bytes"]) for e in by_name["write"]],
          [(0, 1000, 1000), (1000, 1000, 1000), (2000, 1000, 1000),  # one behind the other
           (8000 - 8000 + 8222 + 5, 10, 10),                         # a copy by dup, behind dprintf
           (8222 + 15, 11, 11)],                                     # O_APPEND: at the end
          "offset, size and bytes of write")
    equal([(e["offset"], e["size"], e["bytes"]) for e in by_name["read"] if "errno" not in e],
          [(0, 300, 300), (300, 300, 300), (8222, 10, 0)], "offset, size and bytes of read")
    equal([(e["offset"], e["size"]) for e in by_name["pread"]], [(50, 100), (0, 10)], "pread")
    equal([(e["offset"], e["size"]) for e in by_name["pwrite"]], [(4096, 500)], "pwrite")
    equal([(e["offset"], e["size"]) for e in by_name["readv"]], [(600, 30)], "readv")
    equal([(e["offset"], e["size"]) for e in by_name["preadv"]], [(8000, 30)], "preadv")
    equal([e["ret"] for e in by_name["lseek"]], [0, 8222], "lseek")
    equal([e["errno"] for e in by_name["read"] if "errno" in e], [9], "a read of what is not open for reading: EBADF")
    equal([e.get("file2", "").rsplit("/", 1)[-1] for e in by_name["rename"]], ["other"], "the new name of a rename")
    true(all(e["ts"] > 1.5e18 and 0 <= e["dur"] < 60e9 for e in events), "times are Unix nanoseconds")


def test_equal_to_strace(directory):
    program = build(directory)
    work = directory / "work"
    work.mkdir()
    _, calls = system_calls.strace([program, work, 0, 1, 3], directory, directory)
    for entry in work.iterdir():
        for file in entry.iterdir():
            file.unlink()
        entry.rmdir()
    done = run([program, work, "0", "1", "3"], env=tracing(directory / "trace"))
    equal(done.code, 0, "exit code")
    lines, compared = system_calls.differences(calls, dump(*traces(directory)), [(r"/p\d+-t", "/pN-t")])
    true(compared > 100, f"only {compared} calls were compared")
    true(not lines, "; ".join(lines[:20]))


def test_aggregates_only(directory):
    """No events are kept, and yet everything is counted."""
    from tracing import dftmerge
    expected = traced_run(directory, 1, 2, 20, ENABLE_AGGREGATION=1)
    done = dftmerge("summary", "--json", "--by", "name", directory / "out")
    equal(done.code, 0, "exit code of summary")
    summary = json.loads(done.out)
    equal(summary["events_kept"], 0, "events kept")
    got = {g["name"]: {"calls": g["count"], "errors": g["errors"], "bytes": g["bytes"]} for g in summary["groups"]}
    wrong = [f"{name}: {got.get(name)}, the program says {want}" for name, want in expected.items()
             if got.get(name) != want]
    true(not wrong, "; ".join(wrong))


def test_switched_off(directory):
    """Without DFTRACER_ENABLE the library is there and does nothing."""
    program = build(directory)
    for number, value in enumerate((None, "0", "false", "off")):
        work = directory / f"work{number}"
        work.mkdir()
        env = tracing(directory / "out" / "trace")
        del env["DFTRACER_ENABLE"]
        if value is not None:
            env["DFTRACER_ENABLE"] = value
        done = run([program, work, "1", "2", "1"], env=env)
        equal((done.code, done.err), (0, b""), "exit code and standard error")
        true(not (directory / "out").exists(), f"DFTRACER_ENABLE={value} wrote files")
    plain = run([program, directory / "work0", "9"], env=environment())
    equal(plain.code, 2, "wrong usage of the program")
