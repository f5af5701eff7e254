# SPDX-License-Identifier: MIT
"""Our unwinder against libunwind, frame by frame, at thousands of places of programs in several languages: oracle.c steps through each
program and says where they differ."""

import os
import pathlib
import re
import shutil

import pytest

from tracing import BUILD, environment, need, run, run_checked, true

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = BUILD / "bin" / "oracle"
WALKER = BUILD / "lib" / "libwalker.so"
PLACES = 120  # in 64 KiB of code
STEPS = 1000000
RUST = [pathlib.Path(os.environ.get("HOME", "/")) / ".cargo" / "bin" / "rustc", "rustc"]


def compare(directory, name, command, least, places_max=PLACES, **more):
    """Both walks are the same at each place of the program, and there are at least so many places."""
    if os.uname().machine != "x86_64":
        pytest.skip("steps through x86-64 programs only")
    if not ORACLE.exists():
        pytest.skip("built without libunwind (libunwind-dev)")
    work = directory / f"{name}-work"
    work.mkdir()
    for file in ("a", "b", ".c"):
        (work / file).touch()
    done = run([ORACLE, WALKER, places_max, STEPS, *command], cwd=work, env=environment(**more))
    said = done.out.decode(errors="replace")
    if "Operation not permitted" in done.err.decode(errors="replace"):
        pytest.skip("no right to trace a process")
    found = re.search(r"places (\d+) frames (\d+) deepest \d+ guessed (\d+) excused (\d+) different (\d+)$", said, re.M)
    true(found, f"{name}: exit code {done.code}: {said[-2000:]} {done.err.decode(errors='replace')[-2000:]}")
    places, frames, guessed, excused, different = map(int, found.groups())
    print(f"        {name}: {found[0]}", flush=True)
    true(not different and not done.code, f"{name}: {said[-6000:]}")
    true(places >= least, f"{name}: {places} places, at least {least}")
    true(frames > 3 * places and 10 * guessed < places and 50 * excused < places, f"{name}: {found[0]}")
    return excused


def long_form():
    """Each program takes ten seconds: the short form has one of a kind."""
    if not os.environ.get("DFT_LONG"):
        pytest.skip("in the long form: tests/run.sh --full")


def compile_places(directory, name, compiler, *flags):
    need(compiler)
    run_checked([compiler, "-g", "-D_GNU_SOURCE", "-o", directory / name, *flags], cwd=directory)
    return directory / name


C = (HERE / "places.c", HERE / "places_asm.S", "-pthread")
CPP = (HERE / "places_plus.cpp", "-std=c++17", "-pthread")


def test_c_without_frame_pointers(directory):
    program = compile_places(directory, "c", "gcc", "-O2", "-fomit-frame-pointer", *C)
    excused = compare(directory, "c", [program], 3000, places_max=1000)
    true(excused > 0, "it went through longjmp")


def test_c_with_frame_pointers(directory):
    long_form()
    compare(directory, "c", [compile_places(directory, "c", "gcc", "-O2", "-fno-omit-frame-pointer", *C)], 2000)


def test_c_without_optimization(directory):
    long_form()
    compare(directory, "c", [compile_places(directory, "c", "gcc", "-O0", *C)], 2000)


def test_c_with_lazy_binding(directory):
    """Calls go through the linkage table and the loader's resolver."""
    compare(directory, "c", [compile_places(directory, "c", "gcc", "-O2", "-fplt", "-fcf-protection=full", "-Wl,-z,lazy", *C)], 2000)


def test_c_by_clang(directory):
    long_form()
    compare(directory, "c", [compile_places(directory, "c", "clang", "-Os", *C)], 2000)


def test_c_with_an_old_library(directory):
    """Without _dl_find_object the loader's list is searched."""
    compare(directory, "c", [compile_places(directory, "c", "gcc", "-O2", *C)], 2000, WALKER_OLD=1)


def test_cpp(directory):
    for level in ("-O2", "-O0") if os.environ.get("DFT_LONG") else ("-O2",):
        compare(directory, f"cpp{level}", [compile_places(directory, f"cpp{level}", "g++", level, *CPP)], 2000)


def test_fortran(directory):
    long_form()
    compare(directory, "fortran", [compile_places(directory, "fortran", "gfortran", "-O2", HERE / "places.f90")], 1000)


def test_ada(directory):
    long_form()
    need("gnatmake")
    shutil.copy(HERE / "places.adb", directory)
    run_checked(["gnatmake", "-q", "-O2", "-g", "places.adb"], cwd=directory)
    compare(directory, "ada", [directory / "places"], 1000)


def test_rust(directory):
    """Its linker is lld, which puts code at other addresses than offsets in the file."""
    long_form()
    compiler = next((str(path) for path in RUST if shutil.which(path)), None)
    if not compiler:
        pytest.skip("rustc is not installed")
    run_checked([compiler, "-C", "opt-level=2", "-g", "-o", directory / "rust", HERE / "places.rs"], cwd=directory)
    compare(directory, "rust", [directory / "rust"], 1000)


def test_programs(directory):
    commands = {"sqlite3": [":memory:", "create table t(a); insert into t values (1); select sum(a) from t order by 1;"],
                "git": ["--version"], "perl": ["-e", "print join ',', sort { $a <=> $b } map { $_ * 7 % 5 } 1 .. 9"],
                "bash": ["-c", "for i in 1 2 3; do echo $((i * i)); done"], "python3": ["-S", "-c", "1"]}
    if not os.environ.get("DFT_LONG"):
        commands = {"sqlite3": commands["sqlite3"]}
    there = {name: arguments for name, arguments in commands.items() if shutil.which(name)}
    if not there:
        pytest.skip("none of them is installed")
    for name, arguments in there.items():
        compare(directory, name, [shutil.which(name), *arguments], 1000)
