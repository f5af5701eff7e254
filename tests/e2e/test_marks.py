# SPDX-License-Identifier: MIT
"""What events are marked with: their class, where an access lies, read-write turns. Against what a program says of each of its calls,
and through merging, splitting and export."""

import json
import os
import subprocess
import sys

import pytest

from tracing import SHARED_MEMORY, compile_program, dftmerge, dump, equal, run, run_checked, tracing, true

import facets

DATA = {"turns": bytes(1000), "firsts": bytes(1000), "bursts": (b"x" * 99 + b"\n") * 90}
PROCESS = {"fork", "waitpid", "exit", "_exit", "kill", "aio_suspend", "aio_error", "aio_return", "wait4"}


def marks(event):
    return event["name"], event["class"], event.get("access", "-"), int(event.get("turn", False))


def traced(directory, what, where, code=0, **more):
    """The events, and what the program says of them."""
    program = compile_program("marks.c", directory / "python", "-Wall", "-Wextra", "-Werror", "-fno-inline", "-O0", "-lrt")  # what it reads is start-up
    done = run([program, what, where], env=tracing(directory / "out" / "t", **more))
    equal((done.code, done.err), (code, b""), "exit code and standard error")
    told = [tuple(line.split(" ")) for line in done.out.decode().splitlines()]
    return dump(directory / "out"), [(n, c, a, int(t)) for n, c, a, t in told]


def work(directory):
    (directory / "work").mkdir()
    return directory / "work"


def on_files(events, where):
    return [e for e in events if e["name"] not in PROCESS and e.get("file", "").startswith(str(where))]


def expect(events, told, where):
    got = [marks(e) for e in on_files(events, where)]
    for i, (have, want) in enumerate(zip(got, told)):
        equal(have, want, f"event {i}: name, class, access, turn")
    equal(len(got), len(told), "number of events")


@pytest.mark.parametrize("what", ("places", "firsts", "bursts", "turns", "library"))
def test_simple(directory, what):
    where = work(directory)
    (where / "data").write_bytes(DATA.get(what, b""))
    events, told = traced(directory, what, where)
    expect(events, told, where)


def test_inherited(directory):
    """Who gets a descriptor goes on where it stands."""
    where = work(directory)
    (where / "data").write_bytes(bytes(1000))
    with open(where / "data", "rb+", buffering=0) as data:
        data.seek(300)
        source = "import os; os.read(0, 100); os.lseek(0, 900, 0); os.read(0, 100); os.read(1, 100); os.lseek(2, 7, 0); os.read(2, 7)"
        with open(where / "data", "rb", buffering=0) as same, open(where / "data", "rb+", buffering=0) as moved:
            same.seek(5)
            done = subprocess.run([sys.executable, "-S", "-c", source], stdin=data, stdout=same, stderr=moved,
                                  env={**os.environ, **tracing(directory / "out" / "t", DATA_DIR=where)})
    equal(done.returncode, 0, "exit code")
    equal([(e["fd"], e["access"]) for e in dump(directory / "out") if e["name"] == "read"],
          [(0, "consecutive"), (0, "sequential"), (1, "consecutive"), (2, "random")], "descriptor and access of each read")


def test_memory(directory):
    name = SHARED_MEMORY / f"dft-marks-{os.getpid()}"
    if not os.access(SHARED_MEMORY, os.W_OK):
        pytest.skip("there is no /dev/shm")
    events, told = traced(directory, "memory", name)
    expect(events, told, name)


def test_data_where_programs_lie(directory):
    """What a program reads itself is its data; what a library or an interpreter asks for is start-up, and so is the search for a library."""
    where = work(directory) / "perl5"
    where.mkdir()
    for name in ("A.pm", "libb.so.1"):
        (where / name).write_text("text\n")
    source = directory / "asks.c"
    source.write_text("#include <fcntl.h>\n#include <unistd.h>\nvoid asks(const char *path) { char c; int fd = open(path, O_RDONLY); read(fd, &c, 1); "
                      "close(fd); access(path, R_OK); }\n#ifdef MAIN\nint main(int n, char **v) { for (int i = 1; i < n; i++) asks(v[i]); }\n#endif\n")
    run_checked(["gcc", "-w", "-o", directory / "reader", "-DMAIN", source])
    run_checked(["gcc", "-w", "-o", directory / "perl5.36", "-DMAIN", source])
    run_checked(["gcc", "-w", "-shared", "-fPIC", "-o", directory / "libasks.so", source])
    (directory / "main.c").write_text("void asks(const char *); int main(int n, char **v) { for (int i = 1; i < n; i++) asks(v[i]); }\n")
    run_checked(["gcc", "-w", "-o", directory / "user", directory / "main.c", f"-L{directory}", "-lasks", f"-Wl,-rpath,{directory}"])
    data, looks, start = ["meta", "read", "meta"], {"A.pm": "meta", "libb.so.1": "startup"}, ["startup"] * 3
    for program, own in (("reader", data), ("perl5.36", start), ("user", start)):
        run_checked([directory / program, where / "A.pm", where / "libb.so.1"], env=tracing(directory / f"out-{program}" / "t"))
        for name in ("A.pm", "libb.so.1"):
            got = [e["class"] for e in dump(directory / f"out-{program}") if e.get("file") == f"{where}/{name}"]
            equal(got, own + (["startup"] if own is start else [looks[name]]), f"{name}, by {program}")


def test_handed_on(directory):
    where = work(directory)
    events, told = traced(directory, "handed_on", where)
    expect(events, told, where)
    true(all(e["class"] == "wait" for e in events if e["name"] in ("fork", "waitpid", "wait4", "aio_suspend")), "waiting")
    true({"fork", "aio_suspend"} & {e["name"] for e in events}, "there is some")
    true(all(e["class"] == "none" for e in events if "exit" in e["name"]), "an exit is no waiting")


def test_killed(directory):
    where = work(directory)
    (where / "lib.so").write_bytes(bytes(100))
    events, told = traced(directory, "killed", where, code=-9)
    expect(events, told, where)


def test_in_a_ring_that_is_drained(directory):
    """Thousands of calls, on files of two classes in turn: through the encoder's short ways."""
    where = work(directory)
    source = "import os\n" + f"os.chdir({str(where)!r})\n" + """
open("a.so", "wb").write(bytes(1 << 16)); open("b", "wb").write(bytes(1 << 16))
a, b = os.open("a.so", os.O_RDONLY), os.open("b", os.O_RDWR)
for i in range(6000):
    os.pread(a, 10, i * 10 % 60000); os.pread(b, 10, i * 10 % 60000)
for i in range(3000):
    os.pread(b, 10, i * 20); os.pwrite(b, bytes(10), i * 20 + 10)
for i in range(3000):
    os.pread(a, 4, i * 16)
"""
    done = run([sys.executable, "-c", source], env=tracing(directory / "out" / "t", DATA_DIR=where))
    equal((done.code, done.err), (0, b""), "the program")
    events = [e for e in dump(directory / "out") if e["name"] in ("pread", "pwrite", "pread64", "pwrite64")]
    counted = {}
    for event in events:
        key = (event["name"][:5].rstrip("6"), event["class"], event.get("access"), "turn" in event)
        counted[key] = counted.get(key, 0) + 1
    wanted = {("pread", "startup", "random", False): 1, ("pread", "startup", "consecutive", False): 6000,
              ("pread", "startup", "strided", False): 2998, ("pread", "startup", "sequential", False): 1,
              ("pread", "read", "random", False): 1, ("pread", "read", "consecutive", False): 6000,
              ("pread", "read", "consecutive", True): 2999, ("pwrit", "write", "consecutive", True): 3000}
    equal(counted, wanted, "marks of the calls")


def test_kept_by_tools(directory):
    """Merged, split in groups and exported, each event keeps its marks."""
    where = work(directory)
    events, _ = traced(directory, "library", where)
    of = sorted(map(marks, events))
    equal(dftmerge("merge", "-q", "-o", directory / "one.dft", directory / "out").code, 0, "merge")
    equal(sorted(map(marks, dump(directory / "one.dft"))), of, "merged")
    equal(dftmerge("merge", "-q", "-o", directory / "groups", "--group", "so: path=*.so*; rest:", directory / "out").code, 0, "groups")
    equal(sorted(map(marks, dump(directory / "groups"))), of, "in groups")


def test_as_computed_from_events(directory):
    """The answers of `summary` are what facets.py computes from the events."""
    where = work(directory)
    for what in ("places", "turns", "library"):
        traced(directory, what, where)
    events = dump(directory / "out")
    for by in ("class", "cat,name", "class,name", "region", "rank", "access", "size", "errno", "class,access", "file"):
        done = dftmerge("summary", "--json", "-q", "--by", by, directory / "out")
        equal((done.code, done.err), (0, b""), f"summary --by {by}")
        answer = json.loads(done.out)["groups"]
        wanted = [m for _, m in facets.groups(events, by.split(","))]
        names = set(answer[0]) & set(wanted[0])
        true({"count", "errors", "time_ns", "time_p99_ns", "bytes", "turns"} <= names, f"{by}: {sorted(names)}")
        equal(sorted(json.dumps({n: g[n] for n in sorted(names)}) for g in answer),
              sorted(json.dumps({n: g[n] for n in sorted(names)}) for g in wanted), f"--by {by}: {sorted(names)}")


def test_facets_of_aggregates(directory):
    """Calls that differ in one facet alone lie in different rows, also where rows are made at once, without events."""
    program = compile_program("alike.c", directory / "alike", "-Wall", "-Wextra", "-Werror")
    answers = []
    for rows in (0, 1):
        where = directory / f"work{rows}"
        where.mkdir()
        equal(run([program], cwd=where, env=tracing(where / "out" / "t", ENABLE_AGGREGATION=rows)).code, 0, "exit code")
        groups = json.loads(dftmerge("summary", "--json", "--by", "name,size,access,errno", where / "out").out)["groups"]
        answers.append({(g["name"], g["size"], g["access"], g["errno"]): (g["count"], g["bytes"], g["errors"]) for g in groups})
    equal(len([k for k in answers[0] if k[0] == "read"]), 6, "kinds of reads")
    equal(answers[1], answers[0], "name, size class, access, errno: calls, bytes, errors")


def test_bursts_in_rows(directory):
    """Bursts are counted alike in rows that the process makes, and in those of its events."""
    answers = []
    for rows in (0, 1):
        where = directory / f"run{rows}"
        where.mkdir()
        (where / "data").write_bytes(DATA["bursts"])
        program = compile_program("marks.c", where / "marks", "-Wall", "-Wextra", "-Werror", "-fno-inline", "-O0")
        equal(run([program, "bursts", where], env=tracing(where / "out" / "t", ENABLE_AGGREGATION=rows)).code, 0, "exit code")
        groups = json.loads(dftmerge("summary", "--json", "--by", "name,size,access", where / "out").out)["groups"]
        answers.append({(g["name"], g["size"], g["access"]): (g["count"], g["bytes"], g["asked"], g["common_size"]) for g in groups})
    equal(answers[1], answers[0], "name, size class, access: calls, bytes, asked")
    calls = {(name, access): count[0] for (name, _, access), count in answers[0].items() if access != "none"}
    equal(calls, {("fgets", "consecutive"): 75, ("getc", "consecutive"): 208, ("getc", "random"): 1, ("fgets", "random"): 1,
                  ("fread", "consecutive"): 1}, "calls by access")
