#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that lead elsewhere: what is opened through /proc/self/fd is the file itself, renamed directories have their new name, and a library's
old version of a function is not the C library's function."""

import re
import sys

from tracing import Tests, compile_program, dump, equal, run, tracing

tests = Tests()


@tests.case
def files_come_out_as_a_person_expects(directory):
    program = compile_program("doors.c", directory / "doors")
    (directory / "work").mkdir()
    done = run([program, directory / "work"], env=tracing(directory / "out" / "trace"))
    equal((done.code, done.err), (0, b""), "exit code")
    events = [e for e in dump(directory / "out") if e.get("file", "").startswith(str(directory / "work"))]
    name = lambda e: re.sub("#.*", "#", e["file"][len(str(directory / "work")) + 1:])
    equal([(e["name"], name(e), e.get("offset")) for e in events if "bytes" in e and e["name"].endswith("read")],
          [("read", "file", 0), ("read", "file", 4), ("fread", "file", 0), ("read", "file", 0), ("read", "file", 0)], "reads")
    equal([name(e) for e in events if e["name"] in ("open", "openat", "fopen")],
          ["file"] * 5 + ["a/b", "a/one", "a/b/two", "c/three", "c/b/four", "c/gone", "c/#"], "opened")
    equal([(name(e), e.get("offset")) for e in events if e["name"] == "write"],
          [("file", 0), ("a/one", 0), ("c/three", 0), ("c/gone", 0), ("c/gone", 10), ("c/#", 0)],
          "written, also when it is deleted, or has no name")


@tests.case
def an_old_version_in_another_library_is_not_the_function(directory):
    (directory / "map").write_text("OLD_1.0 { global: calls_of_old_version; fsync; local: *; };\n")
    compile_program("old_version.c", directory / "libold.so", "-shared", "-fPIC", "-DOLD_VERSION", f"-Wl,--version-script={directory / 'map'}")
    program = compile_program("old_version.c", directory / "program", f"-L{directory}", "-lold", f"-Wl,-rpath,{directory}")
    (directory / "file").touch()
    for env in (None, tracing(directory / "out" / "trace")):
        done = run(["sh", "-c", f"exec {program} < {directory / 'file'}"], env=env)
        equal((done.code, done.out, done.err), (0, b"0 0\n", b""), "the C library's is called")
    equal([e["name"] for e in dump(directory / "out") if e["name"] == "fsync"], ["fsync"], "events")


if __name__ == "__main__":
    sys.exit(tests.main())
