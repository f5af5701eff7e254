# SPDX-License-Identifier: MIT
"""What the tracer brings with it: its compressor never calls the program's allocator, and functions are looked up when they are
first called."""

import pathlib
import re
import sys

from tracing import LIBRARY, compile_program, dftmerge, dump, environment, equal, run, run_checked, traces, tracing, true

EVENTS = 20_000


def deflated_blocks(path):
    """How many blocks of a trace are deflated: bit 0 of the flags behind the magic, type and version."""
    return len(re.findall(rb"DfBlk\r\x1a\n[\s\S]{2}\x01\x01", path.read_bytes()))


def test_compressing_never_allocates(directory):
    program = compile_program("start.c", directory / "start")
    (directory / "file").write_bytes(bytes(4096))
    done = run_checked([program, "allocations", directory / "file", EVENTS], env=tracing(directory / "out" / "trace"))
    equal(done.out, b"here: 0\nchild: 0\n", "calls of allocator functions")
    files = traces(directory)
    events = [e for e in dump(*files) if e["name"] == "lseek" and e["file"] == str(directory / "file")]
    equal(len(events), 2 * EVENTS, "events")
    true(len(files) == 2 and all(deflated_blocks(pathlib.Path(path)) > 3 for path in files), files)


def test_a_preloaded_library_comes_next(directory):
    program = compile_program("start.c", directory / "start")
    (directory / "next.c").write_text("int fdatasync(int fd) { return fd + 41; }\n")
    run_checked(["gcc", "-shared", "-fPIC", "-o", directory / "next.so", directory / "next.c"])
    env = tracing(directory / "out" / "trace")
    env["LD_PRELOAD"] += f" {directory / 'next.so'}"
    equal(run([program, "next"], env=env).code, 42, "exit code")


def test_loaded_by_a_program(directory):
    script = ("import ctypes, os, sys; own = ctypes.CDLL(sys.argv[1], use_errno=True); own.lseek.restype = ctypes.c_long; "
              "fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT); "
              "print(own.ftruncate(fd, 9), own.lseek(fd, 0, 2), own.access(b'/none', 0), ctypes.get_errno())")
    for variables in ({}, {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(directory / "trace")}):
        done = run_checked([sys.executable, "-c", script, LIBRARY, directory / "file"], env=environment(**variables))
        equal(done.out, b"0 9 -1 2\n", "results")


def test_loaded_behind_the_c_library(directory):
    """Nothing takes the program's calls then, and the page says so."""
    code = f"import ctypes; ctypes.CDLL({str(LIBRARY)!r}, mode=ctypes.RTLD_GLOBAL); open('f', 'w').write('x')"
    run_checked(["/usr/bin/python3", "-c", code], cwd=directory, env=environment(DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / "out" / "t"))
    done = dftmerge("summary", directory / "out")
    true(b"annotations alone are recorded, and no I/O" in done.err and b"hands on past" not in done.err, f"{done.err!r}")
    true(done.out.startswith(b"not seen: no I/O was recorded in 1 process (annotations alone)\n"), f"{done.out!r}")
