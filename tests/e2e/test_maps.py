# SPDX-License-Identifier: MIT
"""Mappings of files: what mmap, munmap, mremap, msync, madvise and their like did to which part of which file, compared with strace; and
nothing of that where no traced file is mapped."""

import collections
import errno
import json
import pathlib
import sys

import pytest

import mapped_files
from tracing import (compile_program, dftmerge, dump, environment, equal, need, run, run_checked, traces, tracing, true)

NAMES = {*mapped_files.CALLS, "posix_madvise"}


def compared(event):
    """An event of a trace as the model has them."""
    error = errno.errorcode[event["errno"]] if "errno" in event else None
    name = "madvise" if event["name"] == "posix_madvise" else event["name"]
    return mapped_files.Event(name, event["file"], event.get("size", 0), event["offset"], event.get("flags", 0), error,
                              event.get("calls", 1) == 0)


def asks_no_kernel(event):
    """An offset in the middle of a page is refused by the C library itself."""
    return event["name"] == "mmap" and event["offset"] % mapped_files.PAGE and event.get("errno") == errno.EINVAL


def of_processes(events):
    """The calls on mappings of each process, the first one's first. A vfork child has its parent's mappings."""
    parents = {e["ret"]: e["pid"] for e in events if e["name"] == "vfork" and e["ret"] > 0}
    found = collections.defaultdict(list)
    for event in sorted(events, key=lambda e: e["ts"]):
        found[parents.get(event["pid"], event["pid"])].append(event)
    first = {pid: min(e["ts"] for e in own) for pid, own in found.items()}
    return [[compared(e) for e in found[pid] if e["name"] in NAMES and not asks_no_kernel(e)] for pid in sorted(found, key=first.get)]


def agree(directory, command, stdin=None, least=1):
    """Runs the program under strace and traced, in the same directory. Returns the traced run's events."""
    plain, expected = mapped_files.strace(command, directory, stdin)
    done = run(command, cwd=directory, stdin=stdin, env=tracing(directory / "out" / "t", DATA_DIR=directory / "work"))
    equal((done.code, done.out, done.err), (plain.code, plain.out, plain.err), "outcome of the traced program")
    work = str(directory / "work") + "/"
    expected = [[e for e in own if e.file.startswith(work)] for own in expected]
    events = dump(directory / "out")
    got = of_processes(events)
    expected, got = [own for own in expected if own], [own for own in got if own]
    equal(len(got), len(expected), "processes that map files")
    for want, have in zip(expected, got):
        for i, (a, b) in enumerate(zip(want, have)):
            equal(b, a, f"call {i}, in the trace")
        equal(len(have), len(want), "calls")
    true(sum(map(len, got)) >= least, f"only {sum(map(len, got))} calls were compared")
    return events


def test_every_case(directory):
    program = compile_program("mappings.c", directory / "mappings")
    (directory / "work").mkdir()
    events = agree(directory, [program, directory / "work"], least=80)
    true(all(e["ret"] in (0, -1) or e["name"] == "posix_madvise" for e in events if e["name"] in NAMES), "no address in the trace")
    equal([e["offset"] for e in events if asks_no_kernel(e)], [5], "refused by the C library")
    first = next(e for e in events if e["name"] == "mmap")
    equal((first["mode"], first["flags"], first["fd"]), (3, 1, first["fd"]), "protection, flags and descriptor")
    advice = [e for e in events if e["name"] == "posix_madvise"]
    equal([(e["ret"], e.get("errno")) for e in advice], [(0, None), (22, 22)], "posix_madvise returns its error")


INTERRUPTED = """\
1 mmap(NULL, 8192, 0x3, 0x1, 3</w/one>, 0) = 0x10000
1 clone(child_stack=NULL, flags=0x1200000|17 <unfinished ...>
2 msync(0x11000, 4096, 0x1 <unfinished ...>
1 <... clone resumed>, child_tidptr=0x20000) = 2
2 <... msync resumed>) = 0
2 munmap(0x10000, 8192 <unfinished ...>
1 msync(0x10000, 4096, 0x1) = 0
2 <... munmap resumed>) = 0
"""


def test_interrupted_lines():
    """Two processes at once: strace cuts the calls of one in two. No call is lost, none goes to the other process."""
    spaces = [[(e.name, e.offset) for e in space.events] for space in mapped_files.read(INTERRUPTED.splitlines())]
    equal(spaces, [[("mmap", 0), ("msync", 0)], [("msync", 4096), ("munmap", 0)]], "calls of each process")


def test_counts_of_calls(directory):
    """A call on two files is two events and one call."""
    program = compile_program("mappings.c", directory / "mappings")
    (directory / "work").mkdir()
    run_checked([program, directory / "work"], env=tracing(directory / "out" / "t", DATA_DIR=directory / "work"))
    groups = {g["name"]: g["count"] for g in json.loads(dftmerge("summary", "--json", "--by", "name", directory / "out").out)["groups"]}
    events = [e for e in dump(directory / "out") if e["name"] in NAMES]
    true(any(e.get("calls", 1) == 0 for e in events), "no call on two files")
    for name in NAMES:
        equal(groups.get(name, 0), sum(e.get("calls", 1) for e in events if e["name"] == name), f"calls of {name}")


def test_untraced_files_and_memory(directory):
    """The same calls outside of what is traced leave nothing."""
    program = compile_program("mappings.c", directory / "mappings")
    (directory / "work").mkdir()
    (directory / "elsewhere").mkdir()
    run_checked([program, directory / "work"], env=tracing(directory / "out" / "t", DATA_DIR=directory / "elsewhere"))
    equal([e["name"] for path in traces(directory) for e in dump(path) if e["name"] in NAMES], [], "calls on mappings")


PYTHON = """
import mmap, os, sys
path = sys.argv[1] + "/data"
with open(path, "w+b") as file:
    file.write(bytes(64 * 4096))
    file.flush()
    with mmap.mmap(file.fileno(), 0) as whole:
        whole[100:103] = b"abc"
        whole.flush(0, 8192)
        whole.madvise(mmap.MADV_SEQUENTIAL)
        whole.madvise(mmap.MADV_WILLNEED, 4096, 20000)
        whole.resize(16 * 4096)
        whole.flush()
    with mmap.mmap(file.fileno(), 5000, access=mmap.ACCESS_READ, offset=8192) as part:
        part.find(b"x")
    with mmap.mmap(-1, 4096) as memory:
        memory[0] = 1
"""


def test_python(directory):
    need("python3")
    (directory / "work").mkdir()
    (directory / "program.py").write_text(PYTHON)
    agree(directory, [sys.executable, directory / "program.py", directory / "work"], least=8)


SQL = """PRAGMA mmap_size=100000000;
CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b TEXT);
SELECT count(*), min(a), max(a) FROM t;
{more} 5000) {insert}
SELECT count(*), min(a), max(a) FROM t;
{more} 15000) {insert}
SELECT count(*), sum(length(b)) FROM t;
DELETE FROM t WHERE a % 2;
VACUUM;
SELECT count(*) FROM t;
PRAGMA mmap_size=0;
SELECT count(*), sum(length(b)) FROM t;
PRAGMA mmap_size=100000;
SELECT count(*), sum(length(b)) FROM t;
PRAGMA mmap_size=1000000;
SELECT count(*), sum(length(b)) FROM t;
""".format(more="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <",
           insert="INSERT OR REPLACE INTO t SELECT i, hex(zeroblob(50)) FROM n;")


def test_sqlite(directory):
    need("sqlite3")
    (directory / "work").mkdir()
    database = directory / "work" / "db"
    run_checked(["sqlite3", database], stdin=SQL.encode())
    whole = database.read_bytes()
    plain, expected = mapped_files.strace(["sqlite3", database], directory, SQL.encode())
    database.write_bytes(whole)
    done = run(["sqlite3", database], cwd=directory, stdin=SQL.encode(), env=tracing(directory / "out" / "t", DATA_DIR=directory / "work"))
    equal((done.code, done.out, done.err), (plain.code, plain.out, plain.err), "outcome of the traced program")
    (want,), (got,) = [[e for e in own if e.file == str(database)] for own in expected], of_processes(dump(directory / "out"))
    equal(got, want, "calls on mappings")
    true({e.name for e in got} == {"mmap", "mremap", "munmap"}, "kinds of calls")


def test_other_allocators(directory):
    """They map memory before any constructor has run, and in between; traced they do so undisturbed."""
    library = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/libjemalloc.so.2"))), None)
    if library is None:
        pytest.skip("jemalloc is not installed")
    program = compile_program("mappings.c", directory / "mappings")
    calls = []
    for i, order in enumerate(("{ours}", "{ours}:{theirs}", "{theirs}:{ours}")):
        work = directory / f"work{i}"
        work.mkdir()
        env = tracing(directory / f"out{i}" / "t", DATA_DIR=work)
        env["LD_PRELOAD"] = order.format(ours=env["LD_PRELOAD"], theirs=library)
        done = run([program, work], env=env)
        equal((done.code, done.err), (0, b""), "exit code and messages")
        plain = run([program, work], env=environment(LD_PRELOAD=library))
        equal(plain.code, 0, "without tracing")
        calls.append([[e._replace(file=e.file.rsplit("/", 1)[1]) for e in own] for own in of_processes(dump(directory / f"out{i}"))])
    true(len(calls[0][0]) > 70, f"only {len(calls[0][0])} calls on mappings")
    true(calls[0] == calls[1] == calls[2], "the same calls, whatever the allocator")
