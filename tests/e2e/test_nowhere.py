# SPDX-License-Identifier: MIT
"""Pipes and sockets are not traced unless DFTRACER_DATA_DIR asks for them; what has no offsets gets none."""


from tracing import compile_program, dump, equal, run, tracing, true


def traced(directory, data_dir):
    program = compile_program("nowhere.c", directory / "nowhere", "-lutil")
    (directory / "work").mkdir()
    done = run([program, directory / "work"], env=tracing(directory / "out" / "trace", DATA_DIR=data_dir))
    equal((done.code, done.out, done.err), (0, b"", b""), "exit code and output")
    return [e for e in dump(directory / "out") if "bytes" in e]


def kinds(events):
    """What was read and written: the number of calls on each kind of file."""
    found = {}
    for event in events:
        kind = event["file"].split("[")[0].rsplit("/", 1)[-1]
        found[kind] = found.get(kind, 0) + 1
    return found


def test_files_alone(directory):
    events = traced(directory, "all")
    equal(kinds(events), {"fifo": 8}, "calls by kind")
    equal([e.get("offset") for e in events], [None] * 8, "offsets")
    equal([e["bytes"] for e in events], [10, 10, 20, 20, 30, 30, 5, 5], "bytes")


def test_pipes_too(directory):
    events = traced(directory, "pipe::all")
    equal(kinds(events), {"fifo": 8, "pipe:": 6}, "calls by kind")
    true(all("offset" not in e for e in events), "offsets")


def test_pipes_and_sockets(directory):
    events = traced(directory, f"pipe:socket:{directory}")
    equal(kinds(events), {"fifo": 8, "pipe:": 6, "socket:": 8}, "calls by kind")
    true(all("offset" not in e for e in events), "offsets")
    equal([e["bytes"] for e in events if e["name"] in ("send", "recv")], [10, 10], "send and recv")


def test_terminals_by_their_path(directory):
    events = traced(directory, "/dev/pts:/dev/ptmx")
    true({"0", "ptmx"} & set(kinds(events)) or kinds(events), f"{kinds(events)}")
    true(all("offset" not in e for e in events), "offsets")
