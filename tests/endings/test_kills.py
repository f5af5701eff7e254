# SPDX-License-Identifier: MIT
"""Real programs, killed with all their children after so and so many calls: what the trace has is what a library that knows nothing
of ours counted on the other side of it.

DFT_KILLS: how often each program is killed (8)."""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time

from tracing import LIBRARY, LONG, SECONDS, dftmerge, equal, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = int(os.environ.get("DFT_KILLS", "8"))
KINDS = ("read", "write", "pread", "pwrite", "open", "fsync", "ftruncate")
NAMES = {"read": "read", "write": "write", "pread": "pread", "pread64": "pread", "pwrite": "pwrite",
         "pwrite64": "pwrite", "open": "open", "open64": "open", "openat": "open", "openat64": "open",
         "fsync": "fsync", "fdatasync": "fsync", "ftruncate": "ftruncate", "ftruncate64": "ftruncate"}
OF_DIRECTORIES = {"open", "fsync"}
EXPECTED = ("was killed|were killed|ended by|: empty$|before its first event|DATA_DIR left out|"
            "before it had written anything")
# A kill may hit each thread while it stores the record of a call that has not returned to the program yet.
TORN = re.compile(r"dftmerge: (\d+) events? lost: half-written at the end, in (\d+) process(?:es)?")
THREADS = max(4, os.cpu_count() + 1)  # of python; git's first one, and one a processor
SLOTS, HEADER, SLOT = 4096, 64, 8 * (2 + 2 * len(KINDS))

PYTHON = """
import os, sqlite3, threading
def work(number):
    for i in range(100000):
        with open(f"file{number}", "ab", buffering=0) as f:
            f.write(b"x" * 100)
        with open(f"file{number}", "rb") as f:
            f.read(50); f.seek(10); f.read(20)
        if i % 50 == 0 and os.fork() == 0:
            os.write(os.open(f"child{number}", os.O_WRONLY | os.O_CREAT), b"child")
            os._exit(0)
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
[t.start() for t in threads]
"""
SQL = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\n" + "".join(
    f"INSERT INTO t(b) VALUES('{'text' * 20}{i}');\nSELECT count(*) FROM t;\n" for i in range(3000))
MAKEFILE = "all:" + "".join(f" o{i}" for i in range(200)) + "\n" + "".join(
    f"o{i}: Makefile\n\tcat Makefile > t{i} && sort t{i} | head -c 9999 > u{i} && cp u{i} o{i}\n" for i in range(200))


def counted(path):
    data = path.read_bytes()
    slots = struct.unpack_from("<Q", data)[0]
    least, most = collections.Counter(), collections.Counter()
    for i in range(slots):
        pid, *fields = struct.unpack_from(f"<{1 + 2 * len(KINDS)}Q", data, HEADER + i * SLOT)
        for kind, returned, inside in zip(KINDS, fields, fields[len(KINDS):]):
            least[pid, kind] += returned
            most[pid, kind] += returned + inside
    return least, most


def answered(*command):
    """What a command prints; None where the first process was killed before it had begun."""
    done = dftmerge(*command)
    notes = [line for line in done.err.decode().splitlines() if not re.search(EXPECTED, line)]
    torn = [match for match in map(TORN.fullmatch, notes) if match]
    true(all(int(match[1]) <= THREADS * int(match[2]) for match in torn), f"more events are half-written than threads were killed: {notes}")
    notes = [line for line in notes if not TORN.fullmatch(line)]
    if done.code == 1 and all("nothing in the" in note for note in notes):  # the first process was killed before it had begun
        return None
    equal((done.code, notes), (0, []), f"{command[0]}: exit code and notes")
    return done.out.decode()


def found_in_rows(directory):
    """Only the directory and files below are traced. The directory itself, which nobody counts, is opened and synced
    alone."""
    answer = answered("summary", "--json", "--by", "pid,name", directory)
    calls = collections.Counter()
    for group in json.loads(answer)["groups"] if answer else ():
        kind = NAMES.get(group["name"])
        if kind and kind not in OF_DIRECTORIES:
            calls[group["pid"], kind] += group["count"]
    return calls


def found(directory, below):
    calls = collections.Counter()
    for line in (answered("dump", "--json", directory) or "").splitlines():
        event = json.loads(line)
        kind = NAMES.get(event["name"])
        if not kind or event.get("open") or event.get("phase") or not event.get("file", "").startswith(f"{below}/"):
            continue
        if kind == "open" and event["ret"] < 0:
            continue
        calls[event["pid"], kind] += event.get("calls", 1)
    return calls


def is_dead(pid):
    """All its threads: the first may be a zombie while others still die."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            state, *numbers = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "X" or (state == "Z" and int(numbers[16]) <= 1)


def wait_for(pids):
    """A process closes its files before it is dead."""
    for pid in pids:
        while not is_dead(pid):
            time.sleep(0.01)


def pid_of(path):
    """Of the process whose trace or live file it is."""
    return int(re.search(r"-(\d+)-\d+-[0-9a-f]+\.dft", path.name).group(1))


def kill(place, program, stdin, enough, aggregates):
    """Runs it in `place`/work, kills it and all its children when they have made so many calls, and compares."""
    work, out, counters = place / "work", place / "out", place / "counters"
    counters.write_bytes(bytes(HEADER + SLOTS * SLOT))
    env = tracing(out / "t", DATA_DIR=work, **({"ENABLE_AGGREGATION": 1} if aggregates else {}))
    env.update(LD_PRELOAD=f"{place.parent / 'counting.so'}:{LIBRARY}", COUNTING_FILE=str(counters),
               COUNTING_BELOW=str(work), HOME=str(place), GIT_CONFIG_NOSYSTEM="1")
    with open(stdin, "rb") as source:
        process = subprocess.Popen(program, cwd=work, env=env, stdin=source, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        # One that has ended by itself is left a zombie: its number stays its own.
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while not os.waitid(os.P_PID, process.pid, ended) and sum(counted(counters)[0].values()) < enough:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)  # until all who hold its output are dead
    least, most = counted(counters)
    if not any(out.glob("*")):
        equal(sum(least.values()), 0, "calls of a process that has no trace yet")
        return 0
    wait_for({pid for pid, _ in least} | {pid_of(path) for path in out.iterdir()})
    calls = found_in_rows(out) if aggregates else found(out, work)
    kinds = set(KINDS) - OF_DIRECTORIES if aggregates else set(KINDS)
    wrong = [f"pid {pid}: {calls[pid, kind]} {kind} found, {least[pid, kind]} returned, {most[pid, kind]} begun"
             for pid, kind in set(least) | set(calls)
             if kind in kinds and not least[pid, kind] <= calls[pid, kind] <= most[pid, kind]]
    true(not wrong, f"{len(wrong)} differences: " + "; ".join(wrong[:5]))
    return sum(calls.values())


def rounds(directory, program, prepare, stdin="/dev/null", most=3000, aggregates=False, times=ROUNDS):
    need(program[0], "gcc")
    run_checked(["gcc", "-O1", "-shared", "-fPIC", "-D_GNU_SOURCE", "-fno-builtin", "-o", directory / "counting.so",
                 HERE / "counting.c", "-ldl"])
    calls, chance = 0, random.Random(1)
    for i in range(times):
        place = directory / str(i)
        (place / "work").mkdir(parents=True)
        prepare(place / "work")
        calls += kill(place, program, stdin, chance.randrange(most), aggregates)
        shutil.rmtree(place, ignore_errors=True)
    true(calls > 10 * times, f"only {calls} calls in {times} rounds")


def test_python(directory):
    rounds(directory, ["python3", "-c", PYTHON], lambda work: None)


def test_sqlite(directory):
    script = directory / "script.sql"
    script.write_text(SQL)
    rounds(directory, ["sqlite3", "base.db"], lambda work: None, script)


def test_make_in_parallel(directory):
    rounds(directory, ["make", "-j8"], lambda work: (work / "Makefile").write_text(MAKEFILE), most=1000, times=ROUNDS if LONG else -(-ROUNDS // 3))


def test_git_gc(directory):
    need("git")
    base = directory / "base"
    base.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
    run_checked([*git, "init", "-q"], cwd=base)
    for i in range(20):
        for j in range(20):
            (base / f"f{j}").write_text(f"{i} {j}\n" * 200)
        run_checked([*git, "add", "-A"], cwd=base)
        run_checked([*git, "commit", "-qm", str(i)], cwd=base)
    rounds(directory, ["git", "gc", "--prune=now"], lambda work: shutil.copytree(base, work, dirs_exist_ok=True), most=1000)


def test_aggregates_of_python(directory):
    rounds(directory, ["python3", "-c", PYTHON], lambda work: None, aggregates=True)


def test_aggregates_of_sqlite(directory):
    script = directory / "script.sql"
    script.write_text(SQL)
    rounds(directory, ["sqlite3", "base.db"], lambda work: None, script, aggregates=True)
