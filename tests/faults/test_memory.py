# SPDX-License-Identifier: MIT
"""Much of everything: memory stays within the bound that preload/README.md states, names of any bytes and lengths come out as they are,
arguments of any length are cut where it says so."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest

from faults import DFTMERGE, FULL, ROOT, compile_program, dftmerge, dropped, dump, environment, equal, run, run_checked, summary, tracing, true

from tooltest import csv_text

KIB_OF_A_PROCESS = 4096  # resident, all but rings
KIB_OF_A_THREAD = 36  # alive
KIB_OF_AN_ENDED_THREAD = 8


def memory(directory, what, n):
    """{when: [KiB resident plain, traced]}, as often as it is said."""
    program = compile_program(directory, "much", "-I", ROOT / "include")
    said = []
    for name, env in (("plain", environment()), ("traced", tracing(directory / "traces" / "t", DATA_DIR=directory / "traced"))):
        (directory / name).mkdir()
        done = run([program, what, n, directory / name], env=env)
        equal((done.code, done.err), (0, b""), f"{name}: exit code")
        said.append([line.split() for line in done.out.decode().splitlines()])
    equal([line[0] for line in said[0]], [line[0] for line in said[1]], "what was said")
    equal(dropped(directory / "traces"), {}, "lost")
    return [(plain[0], int(plain[2]), int(traced[2])) for plain, traced in zip(*said)]


def test_locked_memory(directory):
    """A program that may lock 8 MiB locks all it has and will have; what it does before and after is recorded."""
    directory.chmod(0o777)
    (directory / "file").write_bytes(b"text")
    program = compile_program(directory, "locked")
    for before, after in ((0, 10), (5, 10), (0, 5000)):
        place = directory / f"{before}-{after}"
        place.mkdir()
        place.chmod(0o777)
        command = [program, directory / "file", before, after]
        plain = run(command, env=environment())
        if plain.out != b"0\n":
            pytest.skip(f"memory cannot be locked here, or nobody's rights not be taken: {plain}")
        done = run(command, env=tracing(place / "t", DATA_DIR=directory))
        equal((done.code, done.out, done.err), (0, b"0\n", b""), f"{before} calls before, {after} after")
        equal(dropped(place), {}, "lost")
        equal(len([e for e in dump(place) if e["name"] == "pread"]), before + after, "calls")


def events_named(directory, name):
    return sum(group["count"] for group in summary(directory / "traces")["groups"] if group["name"] == name)


def test_holes(directory):
    """Room that a program has given back stays free, until the program takes it again."""
    program = compile_program(directory, "holes", "-pthread")
    (directory / "file").write_bytes(b"text")
    for way in ("fixed", "asked", "stack", "break", "threads"):
        plain = run([program, way, directory / "file"], env=environment())
        for aggregates in ("0", "1") * (10 if FULL else 1):
            place = directory / "traces" / way
            traced = run([program, way, directory / "file"], env=tracing(place / aggregates, ENABLE_AGGREGATION=aggregates))
            equal(traced, plain, f"{way}, aggregates {aggregates}")
        equal(dropped(place), {}, f"{way}: lost")


DUMPED = """
import sys
for i in range(3000):
    open(sys.argv[1]).close()
kib = 0
for line in open("/proc/self/smaps"):
    words = line.split()
    if words[0] == "Size:":
        size = int(words[1])
    elif words[0] == "VmFlags:" and "wr" in words and "dd" not in words:
        kib += size
print(kib)
"""


def test_core_files(directory):
    """Hardly anything of ours goes into a core file."""
    (directory / "file").write_bytes(b"text")
    kib = [int(run([sys.executable, "-c", DUMPED, directory / "file"], env=env).out)
           for env in (environment(), tracing(directory / "traces" / "t"))]
    true(kib[1] - kib[0] <= 256, f"KiB of memory for a core file, plain and traced: {kib}")


def test_threads_one_after_another(directory):
    n = 10000
    said = {when: (plain, traced) for when, plain, traced in memory(directory, "series", n)}
    true(said["last"][1] - said["tenth"][1] <= 256, f"resident memory grows with the number of threads that have ended: {said}")
    true(said["last"][1] - said["last"][0] <= KIB_OF_A_PROCESS, f"memory: {said}")
    equal(events_named(directory, "pwrite"), n, "writes")


def test_threads_at_once(directory):
    n = 10000 if FULL else 2000
    for when, plain, traced in memory(directory, "crowd", n):
        bound = KIB_OF_A_PROCESS + n * (KIB_OF_A_THREAD if when == "most" else KIB_OF_AN_ENDED_THREAD)
        true(traced - plain <= bound, f"{when}: {plain} KiB plain, {traced} traced: more than {bound} in addition")
    equal(events_named(directory, "pwrite"), 2 * n, "writes")


def test_large_rings(directory):
    """Threads with so many calls that their rings grow: no more than 256 of these."""
    n = 300 if FULL else 60
    for when, plain, traced in memory(directory, "busy", n):
        bound = KIB_OF_A_PROCESS + n * KIB_OF_A_THREAD + min(n, 256) * 260 if when == "most" else \
            KIB_OF_A_PROCESS + 16 * 300 + n * 2 * KIB_OF_AN_ENDED_THREAD
        true(traced - plain <= bound, f"{when}: {plain} KiB plain, {traced} traced: more than {bound} in addition")
    equal(events_named(directory, "pwrite"), 2 * n * 10000, "writes")


def test_many_files(directory):
    n = 1000000 if FULL else 200000
    said = {when: (plain, traced) for when, plain, traced in memory(directory, "files", n)}
    true(said["last"][1] - said["tenth"][1] <= 256, f"resident memory grows with the number of files: {said}")
    equal(events_named(directory, "access"), n, "calls")
    files = [e["file"] for e in dump(directory / "traces") if e["name"] == "access"]
    equal(files, [f"{directory}/traced/name{i}" for i in range(n)], "names")
    commands = [("summary",), ("dump",), ("dump", "--json"), ("dump", "--unsorted"), ("check",), ("ps",), ("stat",), ("summary", "--by", "dir"),
                ("merge", "-o", directory / "merged.dft"), *(("export", "--format", kind, "-o", "-") for kind in ("perfetto", "pfw", "csv"))]
    for command in commands if FULL else commands[:2]:
        used = memory_of(*command, directory / "traces")
        bound = (512 if command[0] == "summary" else 256) << 10
        true(used <= bound, f"dftmerge {command} took {used} KiB for {n} names: more than {bound}")


MEMORY_OF = """
import os, subprocess, sys
null = subprocess.DEVNULL
_, status, usage = os.wait4(subprocess.Popen(sys.argv[1:], stdout=null, stderr=null).pid, 0)
print(status, usage.ru_maxrss)
"""


def memory_of(*arguments):
    """KiB that dftmerge took at most. Asked by a small process: the kernel counts what a child was before its exec, a copy of its parent."""
    status, used = run_checked([sys.executable, "-S", "-c", MEMORY_OF, DFTMERGE, *arguments]).out.split()
    equal(int(status), 0, f"dftmerge {arguments}")
    return int(used)


def test_names_beyond_memory(directory):
    """More text than dftmerge keeps: fetched for the events at hand, and forgotten."""
    n = 300000 if FULL else 30000
    place = directory
    while len(str(place)) < 3700:
        place /= "d" * 200
    place.mkdir(parents=True)
    program = compile_program(directory, "much", "-I", ROOT / "include")
    run_checked([program, "files", n, place], env=tracing(directory / "traces" / "t", DATA_DIR=directory))
    wanted = [f"{place}/name{i}" for i in range(n)]
    for command in (["dump", "--json"], ["dump", "--unsorted", "--json"]):
        equal([e["file"] for e in lines_of(*command, directory / "traces") if e["name"] == "access"], wanted, f"{command}: names")
    perfetto = [e["args"]["file"] for e in lines_of("export", "--format", "perfetto", "-o", "-", directory / "traces") if e.get("name") == "access"]
    equal(perfetto, wanted, "perfetto: names")
    files, hashes = {}, []
    for record in lines_of("export", "--format", "pfw", "-o", "-", directory / "traces"):
        if record["name"] == "FH":
            files[record["args"]["value"]] = record["args"]["name"]
        elif record["name"] == "access":
            hashes.append(record["args"]["fhash"])
    equal([files[h] for h in hashes], wanted, "pfw: names")
    for command in (("dump",), ("dump", "--unsorted"), *(("export", "--format", kind, "-o", "-") for kind in ("perfetto", "pfw", "csv"))):
        if FULL:
            used = memory_of(*command, directory / "traces")
            true(used <= 400 << 10, f"dftmerge {command} took {used} KiB")


def lines_of(*arguments):
    """Of a command that writes one JSON object a line."""
    process = subprocess.Popen([DFTMERGE, *arguments], stdout=subprocess.PIPE)
    for line in process.stdout:
        line = line.strip(b",\n")
        if line.startswith(b"{") and line.endswith(b"}"):
            yield json.loads(line)
    equal(process.wait(), 0, f"dftmerge {arguments}")


# --- names -----------------------------------------------------------------------------------------------------------

NAMES = [b"plain", b"new\nline", b'quo"te', b"apo'strophe", b"back\\slash", b"comma,semi;colon", b"tab\ttab", b"\x01\x02\x1f\x7f",
         b"invalid \xff\xfe\xc3", b"cut \xe2\x82", b"overlong \xc0\xaf", b"surrogate \xed\xa0\x80", "umläut €".encode(), b"$(x) `y` %s %n",
         b"<script>", b"\xf0\x9f\x98\x80", b"n" * 255, b" ", b"-", b"=cmd"]

TOUCH = """
import os, sys
for name in %r:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x" * (len(name) %% 7 + 1))
    os.close(fd)
"""

DEEP = """
import os
at = os.open(".", os.O_RDONLY)
for i in range(%d):
    os.mkdir("d" * 200, dir_fd=at)
    below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = below
fd = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=at)
os.write(fd, b"12345")
"""


def python_traced(directory, script, data_dir=None):
    work = directory / "work"
    work.mkdir()
    done = run(["python3", "-S", "-c", script], cwd=work, env=tracing(directory / "traces" / "t", DATA_DIR=data_dir or work))
    equal((done.code, done.err), (0, b""), "exit code")
    equal(dropped(directory / "traces"), {}, "lost")
    return work


def exported(directory, kind):
    output = directory / f"out.{kind}"
    done = dftmerge("export", "--format", kind, "-o", output, directory / "traces")
    equal((done.code, done.err), (0, b""), f"export --to {kind}")
    return output.read_bytes()


def test_names_of_all_kinds(directory):
    work = python_traced(directory, TOUCH % NAMES)
    events = [e for e in dump(directory / "traces") if e["name"] == "write"]
    equal([e["bytes"] for e in events], [len(name) % 7 + 1 for name in NAMES], "writes")
    for name, event in zip(NAMES, events):
        if name.decode("utf-8", "replace").encode() == name:
            equal(event["file"], f"{work}/{name.decode()}", "a name")
    equal(len({e["file"] for e in events}), len(NAMES), "names that differ still do")
    done = dftmerge("summary", "--json", "--by", "file", directory / "traces")
    equal(sum(g["file"] is not None for g in json.loads(done.out)["groups"]) >= len(NAMES), True, "summary by file")
    true(all(ord(c) >= 32 or c == "\n" for c in dftmerge("summary", directory / "traces").out.decode()), "control characters for a terminal")
    json.loads(exported(directory, "perfetto"))
    for line in exported(directory, "pfw").splitlines():
        if line.strip(b"[], "):
            json.loads(line.rstrip(b","))
    text = exported(directory, "csv").decode()  # escaped, as docs/json.md says
    rows = list(csv.reader(io.StringIO(text, newline="")))
    equal({len(row) for row in rows}, {len(rows[0])}, "fields of a line")
    names = {os.fsencode(csv_text(field)) for row in rows for field in row}
    equal([name for name in NAMES if os.fsencode(work) + b"/" + name not in names], [], "names that are not there byte for byte")
    json.loads(dftmerge("ps", "--json", directory / "traces").out)


def test_long_paths(directory):
    """Nearly PATH_MAX, and longer than any path can be written: by way of descriptors."""
    for depth in (18, 60):
        place = directory / str(depth)
        place.mkdir()
        work = python_traced(place, DEEP % depth, "all")
        writes = [e for e in dump(place / "traces") if e["name"] == "write"]
        equal([e["bytes"] for e in writes], [5], "writes")
        path = str(work) + ("/" + "d" * 200) * depth + "/file"
        equal(writes[0]["file"], path if len(path) < 4096 else "/(too long)/file", "the name")
        run(["rm", "-rf", work])


def test_long_arguments(directory):
    """The arguments of an open region have 1,024 bytes together; a text takes 13 besides itself, and leaves 128 when it is cut. How many
    are cut is counted, also by a process that is killed and by one that keeps no events."""
    program = compile_program(directory, "much", "-I", ROOT / "include")
    (directory / "work").mkdir()
    for name, end, env in (("whole", 0, {}), ("killed", 9, {}), ("aggregates", 0, {"ENABLE_AGGREGATION": 1})):
        place = directory / name
        done = run([program, "arguments", end, directory / "work"], env=tracing(place / "t", DATA_DIR=directory / "work", **env))
        equal(done.code, -end, f"{name}: exit code {done.err}")
        lengths = [0, 1, 100, 500, 1000, 1024, 4096, 100000, 10000000]
        answer = summary(place)
        equal((answer["arguments_cut"], answer["dropped"]), (6, {}), f"{name}: arguments cut, events lost")
        true(b"6 arguments (cut or left out)" in dftmerge("summary", place).out, f"{name}: summary")
        checked = dftmerge("check", place)
        true(checked.code == (1 if end else 0) and b"annotations: 6 arguments cut or left out, in 1 process" in checked.out + checked.err, f"{name}: check {checked}")
        equal([p["arguments_cut"] for p in json.loads(dftmerge("ps", "--json", place).out)["processes"]], [6], f"{name}: ps")
        if name == "aggregates":
            continue
        events = dump(place)
        texts = [e for e in events if e["name"] == "long argument"]
        equal([(len(e["args"]["text"]), e.get("cut", False)) for e in texts], [(n if n <= 1011 else 883, n > 1011) for n in lengths], "texts")
        equal({e["name"]: e.get("cut", False) for e in events if e["name"] in ("outer", "inner", "fits", "does not fit")},
              {"outer": True, "inner": False, "fits": False, "does not fit": True}, "which are cut")
