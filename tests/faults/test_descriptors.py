# SPDX-License-Identifier: MIT
"""Programs that take every descriptor number, the trace's included, by library calls and past them: their files never receive a byte of
the trace, and every call is in the trace or counted as lost."""

import re

from faults import FULL, compile_program, dump, dropped, environment, equal, files_of, need, run, run_checked, tracing, true

CALLS = 30000


def stolen(directory, how, calls=CALLS):
    place = directory / how
    program = compile_program(directory, "thief", "-fno-builtin")
    results = []
    for name, env in (("plain", environment()), ("traced", tracing(place / "traces" / "t", DATA_DIR=place / "traced"))):
        (place / name).mkdir(parents=True)
        done = run([program, place / name, how, calls], env=env)
        results.append((done, files_of(place / name)))
    equal(results[1], results[0], f"{how}: output and files")
    equal(results[1][1]["victim"], b"", f"{how}: the program's file")
    writes = len([e for e in dump(place / "traces") if e["name"] == "pwrite"])
    lost = dropped(place / "traces")
    return writes, lost


def test_seen(directory):
    """Through the library: nothing is lost."""
    for how in ("close", "dup2", "close_range", "closefrom"):
        equal(stolen(directory, how), (CALLS, {}), how)


def test_closed_unseen(directory):
    """The file is opened again."""
    for how in ("rawclose", "rawrange"):
        equal(stolen(directory, how), (CALLS, {}), how)


def test_replaced_unseen(directory):
    """The file is opened again, on another number; not for ever."""
    writes, lost = stolen(directory, "rawdup2")
    true(set(lost) <= {"no descriptor for the trace"}, f"reasons: {lost}")
    true(writes + sum(lost.values()) >= CALLS, f"{writes} writes and {lost}")
    true(writes >= CALLS // 3, f"{writes} writes: tracing did not go on")


def test_at_any_time(directory):
    """From another thread, all the time."""
    for how in ("stormlib", "storm"):
        for i in range(10 if FULL else 2):
            (directory / str(i)).mkdir(exist_ok=True)
            writes, lost = stolen(directory / str(i), how, 4 * CALLS)
            true(set(lost) <= {"no descriptor for the trace"}, f"{how}: {lost}")
            true(writes + sum(lost.values()) >= 4 * CALLS, f"{how}: {writes} writes and {lost}")


def few(directory, how, limit, calls, **more):
    place = directory / f"{how}-{limit}"
    before, after = place / "before", place / "after"
    before.mkdir(parents=True)
    program = compile_program(place, "few", "-fno-builtin")
    done = run(["prlimit", f"--nofile={limit}", program, how, calls, before, after, place / "work"],
               env=tracing(before / "t", DATA_DIR="all", **more))
    equal((done.code, done.err), (0, b"0 writes to a closed descriptor\n"), f"{how} {limit}")
    place = before if how == "closed" else after
    equal(dropped(place), {}, f"{how} {limit}: lost")
    return sum(e["name"] in ("pwrite", "fwrite") for e in dump(place))


def test_the_trace_stays_open(directory):
    """Whatever becomes of its name: also where numbers are few, and where the program's are not watched."""
    for how, limit, more in (("posix", "256:256", {}), ("posix", "64:64", {}), ("stdio", "1024:4096", {"DISABLE_POSIX": 1}),
                             ("stdio", "1024:1024", {"DISABLE_POSIX": 1}), ("stdio", "5000:5000", {"DISABLE_POSIX": 1})):
        equal(few(directory, how, limit, CALLS, **more), CALLS, f"{how} {limit}: calls")


def test_a_closed_descriptor_stays_closed(directory):
    """The trace is not opened there for each write."""
    equal(few(directory, "closed", "256:256", 40 * CALLS), 40 * CALLS, "calls")


def test_children_have_no_strays(directory):
    """A fork may find another thread with the trace, the live file or a file of /proc open, for a moment."""
    program = compile_program(directory, "strays", "-fno-builtin")
    for limit in ("24:24", "300:300"):
        for interval in (1000, 1):  # milliseconds: samples of the counters read /proc
            done = run(["prlimit", f"--nofile={limit}", program, directory / "work", 1000 if FULL else 200],
                       env=tracing(directory / "traces" / "t", TRACE_INTERVAL_MS=interval))
            equal((done.code, done.err), (0, b"0 children with a descriptor that is not theirs\n"), f"{limit}, {interval} ms")


def test_table_grows_early(directory):
    """In a process with threads, the kernel takes up to 20 ms to enlarge the table of descriptors. So that is done before the first
    thread, in a child, too."""
    need("strace")
    program = compile_program(directory, "holes", "-pthread")
    (directory / "file").write_bytes(b"text")
    env = tracing(directory / "t")
    preload = env.pop("LD_PRELOAD")
    for way, least in (("threads", 1), ("child", 2)):
        run_checked(["strace", "-f", "-e", "trace=fcntl,clone,clone3", "-o", directory / way, "-E", f"LD_PRELOAD={preload}",
                     program, way, directory / "file"], env=env)
        before, thread, after = (directory / way).read_text().partition("CLONE_THREAD")
        true(thread, "threads were made")
        numbers = [[int(number) for number in re.findall(r"F_DUPFD_CLOEXEC, (\d+)", text)] for text in (before, after)]
        true(len(numbers[0]) >= least, f"{way}: a thread is made before the table is enlarged: {before}")
        true(max(numbers[1]) <= numbers[0][0], f"{way}: the table grows later: {numbers}")
