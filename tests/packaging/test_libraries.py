# SPDX-License-Identifier: MIT
"""What the built libraries ask of a machine: the versions of the C library, and other libraries. And what libdftrace.so
does in a program whose C library is musl."""

import pathlib
import re

import pytest

from tracing import BUILD, LIBRARY, environment, equal, need, run, run_checked, traces, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
OLDEST = (2, 17)
SQLITE = BUILD / "lib" / "libdftsqlite.so"
# Of libdftsqlite.so, without versions. It is for the machine that it was built on.
SQLITE_NEEDS = {"libc.so", "ld-linux-x86-64.so", "ld-linux-aarch64.so", "libm.so", "libz.so", "liburcu.so", "liburcu-cds.so",
                "liburcu-common.so", "libdw.so", "libunwind.so", "libunwind-generic.so", "libunwind-x86_64.so",
                "libunwind-aarch64.so", "libjson-c.so", "libzstd.so"}


def needed(library):
    text = run_checked(["readelf", "-dW", library]).out.decode()
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def versions(library):
    """Of each library that is needed: the versions that must be there, weak references too. An old loader refuses those
    as well."""
    needs, of = {}, None
    for line in run_checked(["readelf", "-VW", library]).out.decode().splitlines():
        if "Version needs section" in line:
            of = ""
        elif "section '" in line:
            of = None
        if of is not None and (match := re.search(r"File: (\S+)", line)):
            of = match.group(1)
        elif of and (match := re.search(r"Name: (\S+)", line)):
            needs.setdefault(of, set()).add(match.group(1))
    return needs


def too_new(names):
    """A version that is no plain number of glibc's is too new as well: GLIBC_ABI_DT_RELR, GLIBC_PRIVATE."""
    numbers = {name: re.fullmatch(r"GLIBC_([0-9.]+)", name) for name in names}
    return sorted(name for name, match in numbers.items()
                  if not match or tuple(map(int, match.group(1).split("."))) > OLDEST)


def test_the_library_asks_for_glibc_2_17_at_most(directory):
    need("readelf")
    equal(needed(LIBRARY), ["libc.so.6"], "NEEDED")
    needs = versions(LIBRARY)
    equal(list(needs), ["libc.so.6"], "libraries with versions")
    true(needs["libc.so.6"], "there are versions")
    equal(too_new(needs["libc.so.6"]), [], f"versions above {OLDEST}")


def test_the_check_finds_newer_versions(directory):
    """The test itself."""
    equal(too_new({"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.18", "GLIBC_2.34", "GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE"}),
          ["GLIBC_2.18", "GLIBC_2.34", "GLIBC_ABI_DT_RELR", "GLIBC_PRIVATE"], "newer versions")
    need("readelf")
    dftmerge = versions(BUILD / "bin" / "dftmerge")
    true("libc.so.6" in dftmerge and len(dftmerge["libc.so.6"]) > 3, f"versions of dftmerge: {dftmerge}")


def test_the_module_for_sqlite_needs_what_is_listed(directory):
    need("readelf")
    if not SQLITE.exists():
        pytest.skip("there is no libdftsqlite.so in this build")
    names = {re.sub(r"\.so.*", ".so", name) for name in needed(SQLITE)}
    equal(sorted(names - SQLITE_NEEDS), [], "NEEDED of libdftsqlite.so beyond the list")


# --- musl -----------------------------------------------------------------------------------------

def musl_program(directory, name):
    need("musl-gcc")
    program = directory / name
    run_checked(["musl-gcc", "-D_GNU_SOURCE", "-O1", "-o", program, HERE / f"{name}.c"])
    return program


def outcome(program, work, env):
    work.mkdir()
    return run([program, work], cwd=work, env=env)


def test_a_musl_program_runs_on_and_says_that_nothing_is_traced(directory):
    program = musl_program(directory, "many_calls")
    plain = outcome(program, directory / "plain", environment())
    equal(plain.code, 7, f"exit code: {plain.err}")
    true(len(plain.out.splitlines()) > 15, plain.out)
    off = outcome(program, directory / "off", environment(LD_PRELOAD=LIBRARY))
    equal((off.code, off.out, off.err), (plain.code, plain.out, plain.err), "with the library, not enabled")
    on = outcome(program, directory / "on", tracing(directory / "trace"))
    equal((on.code, on.out), (plain.code, plain.out), "enabled")
    lines = on.err.decode().splitlines()
    equal(len(lines), 1 + len(plain.err.splitlines()), f"lines: {lines}")
    true("musl" in lines[0] and "nothing is traced" in lines[0], lines[0])
    equal([path.name for path in traces(directory) if "many_calls" in path.name], [], "traces of the program")


def test_a_musl_program_may_be_run_by_its_loader(directory):
    program = musl_program(directory, "many_calls")
    loader = re.search(r"interpreter: (.*)\]", run_checked(["readelf", "-lW", program]).out.decode()).group(1)

    def by_loader(name, env):
        work = directory / name
        work.mkdir()
        return run([loader, program, work], cwd=work, env=env)

    plain = by_loader("plain", environment())
    for enable in (0, 1):
        done = by_loader(f"enabled{enable}", env={**tracing(directory / "trace"), "DFTRACER_ENABLE": str(enable)})
        equal((done.code, done.out), (plain.code, plain.out), f"enabled: {enable}: {done.err.decode()}")
        equal(done.err.decode().count("nothing is traced"), enable, done.err.decode())


def test_programs_of_a_musl_program_do_not_repeat_it(directory):
    program = musl_program(directory, "many_calls")
    (directory / "work").mkdir()
    done = run([program, directory / "work", program], cwd=directory, env=tracing(directory / "trace"))
    equal(done.code, 7, done.err)
    equal(done.err.decode().count("musl"), 1, done.err)


def test_programs_with_glibc_are_traced_below_a_musl_program(directory):
    program = musl_program(directory, "many_calls")
    outcome(program, directory / "work", tracing(directory / "trace"))
    true(any("-sh-" in path.name for path in traces(directory)), f"a trace of sh: {traces(directory)}")
