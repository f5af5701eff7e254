# SPDX-License-Identifier: MIT
"""Every way to end a process, alone and in the middle of eight threads' calls: what the trace has is what the program counted."""

import collections
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest

import counts
from tracing import (ROOT, SECONDS, dftmerge, dump, equal, live_files, need, run, run_checked, tracing,
                     true)

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 20000

# how: exit code; does the program end by a call or a handler that the library sees?
ENDINGS = {"return": (0, 1), "exit": (0, 1), "_exit": (0, 1), "_Exit": (0, 1), "quick_exit": (0, 1), "late": (0, 1),
           "syscall": (0, 1), "raw": (0, 0), "abort": (-signal.SIGABRT, 0), "segv": (-signal.SIGSEGV, 0),
           "term": (-signal.SIGTERM, 0), "kill": (-signal.SIGKILL, 0), "exec": (0, 1), "fexecve": (0, 1),
           "failing_exec": (0, 1), "failed_execs_and_kill": (-signal.SIGKILL, 0), "exec_in_thread": (0, 1), "exit_in_thread": (0, 1), "pthread_exit": (0, 1),
           "cancel": (0, 1), "daemon": (0, 1)}


def build(directory):
    program = directory / "ends"
    gcc = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-fno-inline", "-fno-builtin", f"-I{ROOT / 'include'}"]
    for name in ("libends_library.so", "libends_other.so"):
        run_checked([*gcc, "-shared", "-fPIC", "-o", directory / name, HERE / "ends_library.c"])
    run_checked([*gcc, "-o", program, HERE / "ends.c", HERE / "ends_work.c", "-lpthread", "-ldl", f"-L{directory}",
                 "-lends_library", "-Wl,-rpath,$ORIGIN"])
    work = directory / "work"
    work.mkdir()
    (work / "input").write_bytes(b"g" * CALLS)
    (work / "not_a_program").write_bytes(b"\x7fELF, but no program at all\n")
    (work / "not_a_program").chmod(0o755)
    (work / "libends_other.so").symlink_to(directory / "libends_other.so")
    counts.create(directory / "counters")
    return program


def begin(directory, env, *arguments):
    return subprocess.Popen([directory / "ends", directory / "counters", *map(str, arguments)], cwd=directory / "work",
                            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))


def settings(directory, **more):
    return tracing(directory / "out" / "t", DATA_DIR=directory / "work", **more)


def traced(directory, *arguments, code=0, says=b"", **more):
    """Runs it until it and all its children have ended (they hold its output open)."""
    process = begin(directory, settings(directory, **more), *arguments)
    out, err = process.communicate(timeout=SECONDS)
    equal((process.returncode, out), (code, b""), f"exit code and output; {err}")
    true(says in err if says else not err, f"standard error: {err}")


def compare(directory, clean=True, images=None):
    slots, made = counts.read(directory / "counters")
    if images:
        equal(made, images, "process images")
    done = dftmerge("dump", "--json", directory / "out")
    equal(done.code, 0, f"dump: {done.err}")
    events = [json.loads(line) for line in done.out.decode().splitlines()]
    wrong = counts.differences(slots, events, clean)
    if wrong:
        wrong = counts.differences(slots, events, clean, {p["pid"]: p["dropped"].get("half-written at the end", 0) for p in processes(directory)})
    true(not wrong, f"{len(wrong)} differences: " + "; ".join(wrong[:6]))
    return slots, events


def processes(directory):
    done = dftmerge("ps", "--json", directory / "out")
    true(done.code in (0, 1), f"ps: {done.code}: {done.err}")
    return json.loads(done.out)["processes"]


def check(directory):
    """`check` complains only when a process was killed, or a thread in the midst of a record; what --recover makes of it says the same."""
    kept = processes(directory)
    killed = any(p["ended"] == "killed" for p in kept)
    lost = sum((collections.Counter(p["dropped"]) for p in kept), collections.Counter())
    true(set(lost) <= {"half-written at the end"}, f"lost: {lost}")
    done = dftmerge("check", directory / "out")
    equal((done.code, b"all good" in done.out), (int(killed or bool(lost)), not killed and not lost), f"check: {done.out}{done.err}")
    equal(f"lost: {sum(lost.values())} events (half".encode() in done.out, bool(lost), f"check: {done.out}")
    if live_files(directory / "out"):
        dftmerge("check", "--recover", directory / "out")
        equal(live_files(directory / "out"), [], "live files after check --recover")
        equal([(p["key"], p["ended"], p["events"]) for p in processes(directory)],
              [(p["key"], p["ended"], p["events"]) for p in kept], "processes after check --recover")
        compare(directory, clean=not killed)
        equal(dftmerge("check", directory / "out").code, int(bool(lost)), "check after check --recover")


def one(directory, how, threads, clean=None, code=None, arguments=(), images=None, **more):
    build(directory)
    traced(directory, threads, CALLS, how, *arguments, code=ENDINGS[how][0] if code is None else code, **more)
    slots, events = compare(directory, ENDINGS[how][1] if clean is None else clean, images)
    check(directory)
    made = sum(sum(slot.returned.values()) for slot in slots)
    true(made > CALLS * 0.4, f"only {made} calls were made")
    return slots, events


@pytest.mark.parametrize("threads", (0, 8))
@pytest.mark.parametrize("how", ENDINGS)
def test_ends(directory, how, threads):
    one(directory, how, threads)


@pytest.mark.parametrize("threads", (0, 8))
@pytest.mark.parametrize("how", ("abort", "segv", "term"))
def test_ends_with_bound_signals(directory, how, threads):
    """DFTRACER_BIND_SIGNALS: the trace is finished before the process dies."""
    one(directory, how, threads, clean=True, BIND_SIGNALS=1, says=b"dftrace")
    equal([p["ended"] for p in processes(directory)], ["signal"], "how it ended")


def test_ended_by_all_at_once(directory):
    for threads in (0, 8):
        for i in range(10):
            place = directory / f"{threads}-{i}"
            place.mkdir()
            build(place)
            traced(place, threads, 4000, "at_once")
            compare(place)


def test_exec_of_itself_many_times(directory):
    """The program runs itself nine times: ten images of one process, alone and with threads."""
    for threads in (0, 4):
        place = directory / str(threads)
        place.mkdir()
        slots, _ = one(place, "again", threads, clean=True, code=0, arguments=(9,), images=10)
        equal(len({slot.pid for slot in slots}), 1, "pids")


def test_children_that_end_in_every_way(directory):
    for threads in (0, 8):
        for parent in ("forks", "orphans"):
            place = directory / f"{parent}{threads}"
            place.mkdir()
            build(place)
            traced(place, threads, 4000, parent, *ENDINGS)
            slots, _ = compare(place, clean=False, images=len(ENDINGS) + 1)
            equal(len({slot.pid for slot in slots}), len(ENDINGS) + 2, "pids (with the child of daemon)")
            ended = collections.Counter(p["ended"] for p in processes(place))
            equal(ended["killed"], 6, f"killed children of {ended}")


def test_killed_at_any_moment(directory):
    """From before the first event to long after the rings were filled and drained a few times."""
    rounds = int(os.environ.get("DFT_KILLS", "12"))
    for i in range(rounds):
        place = directory / str(i)
        place.mkdir()
        build(place)
        threads, number = random.choice((0, 1, 8)), random.choice((signal.SIGKILL, signal.SIGTERM))
        process = begin(place, settings(place), threads, CALLS, "wait")
        equal(process.stdout.read(6), b"ready\n", "the program's word")
        time.sleep(random.random() ** 2 * 0.3)
        process.send_signal(number)
        process.wait()
        process.communicate()
        slots, _ = compare(place, clean=False)
        equal([p["ended"] for p in processes(place)], ["killed"], f"how process {slots[0].pid} ended")
        shutil.rmtree(place)


def test_killed_between_two_writes(directory):
    """After each write to its trace of a program that writes nothing else so: what was begun is no damage, and nothing of it is missing."""
    need("strace", "dd")
    unfinished = 0
    for n in range(1, int(os.environ.get("DFT_WRITES", "14"))):
        place = directory / str(n)
        (place / "work").mkdir(parents=True)
        settled = [f"{name}={value}" for name, value in settings(place).items() if name.startswith(("LD_PRELOAD", "DFTRACER_"))]
        run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", f"inject=pwrite64:signal=KILL:when={n}", "env",
             *settled, "dd", "if=/dev/zero", "of=file", "bs=16", f"count={CALLS}"], cwd=place / "work")
        report = json.loads(dftmerge("check", "--json", place / "out").out)
        equal((report["blocks_damaged"], report["bytes_unreadable"]), (0, 0), f"check after write {n}: {report['notes']}")
        unfinished += report["unfinished"]
        for _ in range(2):
            written = [e for e in dump(place / "out") if e["name"] == "write" and e["file"].endswith("/file")]
            equal(len(written), (place / "work" / "file").stat().st_size // 16, f"writes, killed after write {n} to the trace")
            dftmerge("check", "--recover", place / "out")
            equal(live_files(place / "out"), [], "live files after check --recover")
    true(unfinished > 2, f"{unfinished} unfinished blocks")


def test_recovered_into_its_trace(directory):
    """Killed in its first write to the trace, which is empty and names no live file: that is found where it may be, and comes into the trace."""
    need("strace", "dd")
    place = directory / "shared"
    (place / "work").mkdir(parents=True)
    settled = [f"{name}={value}" for name, value in settings(place, LIVE_DIR="/dev/shm").items() if name.startswith(("LD_PRELOAD", "DFTRACER_"))]
    run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=KILL:when=1", "env", *settled, "dd",
         "if=/dev/zero", "of=file", "bs=16", "count=10"], cwd=place / "work")
    [trace] = (place / "out").iterdir()
    equal((trace.stat().st_size, len(live_files(place / "out"))), (0, 1), "bytes of the trace, live files")
    before = processes(place)
    equal([p["ended"] for p in before], ["killed"], "how it ended")
    dftmerge("check", "--recover", place / "out")
    equal((live_files(place / "out"), list((place / "out").iterdir())), ([], [trace]), "live files, and files of the directory")
    equal([(p["key"], p["ended"], p["file"]) for p in processes(place)], [(before[0]["key"], "killed", str(trace))], "after check --recover")


LATER = """
import os, resource, threading
def work():
    for i in range(100):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY))
work()
resource.setrlimit(resource.RLIMIT_FSIZE, (28 << 10, 28 << 10))
for i in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_noted_when_it_is_found_out(directory):
    """That the live file cannot grow is known when the process has been described long ago."""
    (directory / "work").mkdir()
    run_checked(["python3", "-c", LATER], cwd=directory / "work", env=settings(directory))
    process, = processes(directory)
    true("some rings lie in plain memory" in (process["notes"] or ""), f"notes: {process['notes']}")
    equal((process["ended"], sum(e["name"] == "close" for e in dump(directory / "out") if e.get("file", "").endswith("/file"))),
          ("exit", 300), "its end, and closes")


def between(before, after):
    """What a trace read between the two may say: slots that were there before, with what had returned; nothing that was
    not started afterwards. A thread may begin in between: afterwards it has said who it is."""
    return [slot._replace(started=later.started, pid=later.pid, tid=later.tid, open=None)
            for slot, later in zip(before, after)]


def read_once(place, what):
    """Reads a running job, and compares it with what was counted before and afterwards."""
    before, _ = counts.read(place / "counters")
    done = dftmerge("dump", "--json", place / "out")
    after, _ = counts.read(place / "counters")
    equal(done.code, 0, f"dump of a running job: {done.err}")
    events = [json.loads(line) for line in done.out.decode().splitlines()]
    wrong = counts.differences(between(before, after), events, False)
    true(not wrong, f"{what}: {len(wrong)} differences: " + "; ".join(wrong[:6]))


def test_read_while_it_runs(directory):
    """A running job is read again and again: what had returned before is there, once; nothing is called lost or damaged."""
    for name, threads, live in (("alone", 0, None), ("threads", 8, None), ("elsewhere", 4, directory / "live")):
        place = directory / name
        place.mkdir()
        (directory / "live").mkdir(exist_ok=True)
        build(place)
        process = begin(place, settings(place, LIVE_DIR=live), threads, CALLS, "paced")
        equal(process.stdout.read(6), b"ready\n", "the program's word")
        for i in range(int(os.environ.get("DFT_READS", "6"))):
            read_once(place, f"{name}, {i}")
            summary = dftmerge("summary", place / "out")
            true(summary.code == 0 and b"1 still running" in summary.out and b"nothing lost" in summary.out and
                 b"still running; shown is what it did so far" in summary.err, f"summary: {summary}")
        process.kill()
        process.communicate()
        compare(place, clean=False)
        summary = dftmerge("summary", place / "out")
        true(summary.code == 0 and b"1 killed" in summary.out and b"events recovered from this file" in summary.err,
             f"summary after kill -9: {summary}")


BEFORE_A_DRAIN = 505  # calls of a thread that has drained its first ring once, and soon does again


def test_read_while_rings_are_drained(directory):
    """Threads end their bursts, and drain their rings, between the copy of the live file and the last look at the
    trace."""
    (directory / "built").mkdir()
    build(directory / "built")
    for i in range(12):
        place = directory / f"run{i}"
        shutil.copytree(directory / "built", place, symlinks=True)
        with begin(place, settings(place), 8, CALLS, "paced") as process:
            try:
                equal(process.stdout.read(6), b"ready\n", "the program's word")
                while len(slots := counts.read(place / "counters")[0]) < 3 or sum(slots[2].started.values()) < BEFORE_A_DRAIN:
                    true(process.poll() is None, f"run {i}: it has ended")
                    time.sleep(0.001)
                read_once(place, f"read {i}")
            finally:
                process.kill()


def outstanding(directory):
    """What is known of requests: those in flight, and those that have ended, as (size, offset)."""
    done = dftmerge("dump", "--json", directory / "out")
    equal(done.code, 0, f"dump: {done.err}")
    requests = [e for e in map(json.loads, done.out.decode().splitlines()) if e["name"] == "aio_write"]
    return ([e for e in requests if e.get("open")], sorted((e["size"], e["offset"]) for e in requests if not e.get("open")))


def wanted(rest):
    return sorted((number + 1, number * 1000 + i * 10) for number in range(3) for i in range(40) if i % 2 == rest)


def test_requests_outstanding_at_a_kill(directory):
    """While it runs and when it was killed: each request of which the program had not asked for the result is in flight, once."""
    (directory / "work").mkdir()
    run_checked(["gcc", "-O1", "-g", f"-I{ROOT / 'include'}", "-o", directory / "requests", HERE / "requests.c", "-lpthread"])
    with subprocess.Popen([directory / "requests"], cwd=directory / "work", env=settings(directory), stdout=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            equal(process.stdout.readline(), b"ready\n", "the program's word")
            running = outstanding(directory)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)
    for when, (flying, ended) in (("while it runs", running), ("killed", outstanding(directory))):
        equal(ended, wanted(1), f"requests that have ended, {when}")
        equal(sorted((e["size"], e["offset"]) for e in flying), wanted(0), f"requests in flight, {when}")
        equal({(e["pid"], e["file"], e.get("region", "").rpartition(":")[2]) for e in flying},
              {(process.pid, str(directory / "work" / "file"), "submitting")}, f"where they are, {when}")
        equal(len({e["tid"] for e in flying}), 3, f"threads, {when}")
        equal(len({e["id"] for e in flying}), 60, f"ids, {when}")
    flights = [f for p in processes(directory) for f in p["in_flight"] if f["name"] == "aio_write"]
    equal(len(flights), 60, "in flight, says ps")
    killed = outstanding(directory)
    dftmerge("check", "--recover", directory / "out")
    equal((live_files(directory / "out"), outstanding(directory)), ([], killed), "after check --recover")
