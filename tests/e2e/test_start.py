#!/usr/bin/env python3
"""What is put off until it is needed: libisal is mapped when there is much to compress, past the loader, and functions are looked up
when they are first called."""

import os
import pathlib
import re
import shutil
import sys

from tracing import LIBRARY, Skip, Tests, compile_program, dump, environment, equal, run, run_checked, traces, tracing

tests = Tests()
EVENTS = 20_000


def libisal():
    found = re.search(rb"/[^\0]*/libisal\.so\.[0-9]+\0", pathlib.Path(LIBRARY).read_bytes())
    if not found:
        raise Skip("built without ISA-L")
    return pathlib.Path(os.fsdecode(found[0][:-1]))


def compress(directory, count, *root):
    program = compile_program("start.c", directory / "start")
    (directory / "file").write_bytes(bytes(4096))
    done = run_checked([program, "compress", directory / "file", count, *root], env=tracing(directory / "out" / "trace"))
    events = [e for e in dump(*traces(directory)) if e["name"] == "lseek" and e["file"] == str(directory / "file")]
    equal(len(events), 2 * count, "events")
    return done.out.decode().splitlines()


@tests.case
def a_short_process_does_without(directory):
    libisal()
    equal(compress(directory, 10), [f"{when}: 0, not found" for when in ("before", "after", "child")], "libisal")


@tests.case
def a_longer_one_maps_it_but_does_not_show_its_names(directory):
    libisal()
    equal(compress(directory, EVENTS), ["before: 0, not found", "after: 1, not found", "child: 1, not found"], "libisal")


@tests.case
def another_file_under_its_name_is_not_mapped(directory):
    path = libisal()
    if os.geteuid():
        raise Skip("chroot is root's")
    copy = directory / "root" / path.relative_to("/")
    copy.parent.mkdir(parents=True)
    shutil.copy2(path, copy)
    (directory / "root" / directory.relative_to("/") / "out").mkdir(parents=True)
    equal(compress(directory, EVENTS, directory / "root"), ["before: 0, not found", "after: 0, not found"], "libisal")


@tests.case
def a_preloaded_library_comes_next(directory):
    program = compile_program("start.c", directory / "start")
    (directory / "next.c").write_text("int fdatasync(int fd) { return fd + 41; }\n")
    run_checked(["gcc", "-shared", "-fPIC", "-o", directory / "next.so", directory / "next.c"])
    env = tracing(directory / "out" / "trace")
    env["LD_PRELOAD"] += f" {directory / 'next.so'}"
    equal(run([program, "next"], env=env).code, 42, "exit code")


@tests.case
def loaded_by_a_program(directory):
    script = ("import ctypes, os, sys; own = ctypes.CDLL(sys.argv[1], use_errno=True); own.lseek.restype = ctypes.c_long; "
              "fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT); "
              "print(own.ftruncate(fd, 9), own.lseek(fd, 0, 2), own.access(b'/none', 0), ctypes.get_errno())")
    for variables in ({}, {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(directory / "trace")}):
        done = run_checked([sys.executable, "-c", script, LIBRARY, directory / "file"], env=environment(**variables))
        equal(done.out, b"0 9 -1 2\n", "results")


if __name__ == "__main__":
    sys.exit(tests.main())
