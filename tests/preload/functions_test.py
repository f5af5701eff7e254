# SPDX-License-Identifier: MIT
"""Programs compiled with -finstrument-functions: every call is a region with the function's name, however it is left, and nesting is right
where it can be known."""

import collections
import json
import os
import pathlib
import random
import shutil

import pytest

from tracing import DFTMERGE, dftmerge, dump, environment, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
INSTRUMENT = "-finstrument-functions"


def compiled(directory, compiler, source, *flags):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    program = directory / f"{compiler}-program"
    run_checked([compiler, "-D_GNU_SOURCE", "-o", program, HERE / source, INSTRUMENT, "-pthread", *flags])
    return program


def traced(directory, *command, **settings):
    plain = run(command)
    equal((plain.code, plain.err), (0, b""), "without the library")
    done = run(command, env=tracing(directory / "out" / "t", DATA_DIR=directory, **settings))
    equal((done.code, done.out, done.err), (0, plain.out, b""), "traced")
    return done.out.decode(), dump(directory / "out")


def functions(events):
    return [e for e in events if e["cat"] == "FUNC"]


def end(event):
    return event["ts"] + event["dur"]


def check(own, events):
    counts = dict((line.split()[0], int(line.split()[1])) for line in own.splitlines())
    equal(dict(collections.Counter(e["name"] for e in functions(events))), counts, "calls of functions")
    equal({e["region"] for e in events if e["name"] == "write"}, {"write_byte"}, "the function that writes")
    main, = [e for e in functions(events) if e["name"] == "main"]
    mine = [e for e in functions(events) if e["tid"] == main["tid"]]
    true(all(e["ts"] >= main["ts"] and end(e) <= end(main) for e in mine), "all in main")
    behind = [e for e in mine if e["name"] == "behind_the_jump"]
    equal([e["region"] for e in behind], ["main", "main"], "behind jumps")
    jumping = sorted((e for e in mine if e["name"] == "jumping"), key=lambda e: e["ts"])
    true(end(jumping[0]) <= behind[0]["ts"], "functions that were jumped out of have ended")
    true(end(jumping[1]) < end(jumping[0]), "the function that was jumped to ended before the one around it")
    equal(len({end(e) for e in jumping[1:]}), 1, "those that were jumped out of ended with it")
    handler, = [e for e in mine if e["name"] == "in_handler"]
    equal(handler["region"], "interrupted", "a handler on a stack of its own")
    inner = [e for e in mine if e["name"] == "interrupted"]
    equal(sorted(e["region"] for e in inner), ["interrupted"] * 3 + ["main"], "what it interrupted")
    equal(len({end(e) for e in inner}), 4, "each of its calls has its own end")
    deep = sorted((e for e in mine if e["name"] == "deep"), key=lambda e: e["ts"])
    true(all(end(a) >= end(b) for a, b in zip(deep, deep[1:])), "deep recursion nests")


def test_c_by_several_compilers(directory):
    for compiler in ("gcc", "clang"):
        for flags in (("-O0",), ("-O2",), ("-O2", "-no-pie", "-fno-pie"), ("-O1", "-fomit-frame-pointer", "-s", "-rdynamic")):
            if not shutil.which(compiler):
                continue
            place = directory / (compiler + "".join(flags))
            place.mkdir()
            program = compiled(place, compiler, "functions.c", *flags)
            own, events = traced(place, program, place / "file")
            if "-s" in flags: # the dynamic symbols alone: no static function is among them
                for event in events:
                    event["name"] = "of_this_file" if "+0x" in event["name"] else event["name"]
            try:
                check(own, events)
            except (AssertionError, KeyError, ValueError) as error:
                raise AssertionError(f"{compiler} {' '.join(flags)}: {error}") from error


def test_c_plus_plus(directory):
    for compiler in ("g++", "clang++"):
        place = directory / compiler
        place.mkdir()
        try:
            program = compiled(place, compiler, "functions.cpp", "-O1", "-std=c++11")
        except (pytest.skip.Exception, AssertionError):
            if compiler == "clang++":
                continue
            raise
        _, events = traced(place, program)
        counts = collections.Counter(e["name"] for e in functions(events))
        plain = {name: n for name, n in counts.items() if name.split("(")[0].split("<")[0].split()[-1]
                 in ("shop::thrower", "shop::catcher", "shop::item::price", "shop::item::item", "behind", "main",
                     "shop::twice")}
        equal(plain, {"shop::thrower(int)": 20, "shop::catcher(int)": 5, "shop::item::price() const": 5,
                      "shop::item::item(int)": 5, "behind(int)": 1, "main": 1, "int shop::twice<int>(int)": 1,
                      "double shop::twice<double>(double)": 1}, f"{compiler}: functions")
        behind, = [e for e in events if e["name"] == "behind(int)"]
        equal(behind["region"], "main", f"{compiler}: behind exceptions")
        true(all(end(e) <= behind["ts"] for e in events if e["name"] == "shop::thrower(int)"), "what was thrown out of ended")


def test_names_are_found_where_the_file_is_the_one_that_ran(directory):
    program = compiled(directory, "gcc", "functions.c", "-O1", "-Wl,--build-id")
    traced(directory, program, directory / "file")
    counts = collections.Counter(e["name"] for e in functions(dump(directory / "out")))
    merged = directory / "merged.dft"
    equal(dftmerge("merge", "-o", merged, directory / "out").code, 0, "merge")
    shutil.move(program, directory / "elsewhere")
    shown = collections.Counter(e["name"] for e in functions(dump(merged)))
    true(sorted(shown.values()) == sorted(counts.values()) and all(name.startswith("gcc-program+0x") for name in shown),
         f"without the program: {shown}")
    run_checked(["gcc", "-D_GNU_SOURCE", "-O0", "-Wl,--build-id", "-o", program, HERE / "functions.c", "-pthread"])
    equal(collections.Counter(e["name"] for e in functions(dump(merged))), shown, "another program in its place")
    shutil.move(directory / "elsewhere", program)
    equal(collections.Counter(e["name"] for e in functions(dump(merged))), counts, "the program is back")
    done = dftmerge("summary", "--json", "--name", "deep", merged)
    true(b'"deep"' in done.out, "functions can be asked for by name")


def test_names_from_a_separate_debug_file(directory):
    need("objcopy")
    program = compiled(directory, "gcc", "functions.c", "-O1", "-Wl,--build-id")
    _, events = traced(directory, program, directory / "file")
    build_id = run_checked(["readelf", "-n", program]).out.decode().split("Build ID:")[1].split()[0]
    target = directory / "debug" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
    target.parent.mkdir(parents=True)
    run_checked(["objcopy", "--only-keep-debug", program, target])
    run_checked(["strip", program])
    true(all("+0x" in e["name"] for e in functions(dump(directory / "out"))), "without it")
    done = run([DFTMERGE, "dump", "--json", directory / "out"], env=environment(DFTMERGE_DEBUG_DIR=directory / "debug"))
    found = [json.loads(line) for line in done.out.splitlines()]
    equal([e["name"] for e in functions(found)], [e["name"] for e in functions(events)], "names")


def test_damaged_programs_give_no_names_and_no_harm(directory):
    program = compiled(directory, "gcc", "functions.c", "-O1", "-Wl,--build-id")
    traced(directory, program, directory / "file")
    whole = bytearray(program.read_bytes())
    sections = int.from_bytes(whole[40:48], "little")
    random.seed(7)
    for i in range(40):
        damaged = bytearray(whole[:random.randrange(64, len(whole))] if i % 4 == 0 else whole)
        for _ in range(random.randrange(1, 8)):
            at = random.choice((random.randrange(64), random.randrange(sections, len(whole)), random.randrange(len(whole))))
            if at < len(damaged):
                damaged[at] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        program.unlink()
        program.write_bytes(damaged)
        done = dftmerge("dump", "--json", directory / "out")
        true(done.code == 0 and done.out.count(b'"FUNC"') > 1000, f"damage {i}: {done.code} {done.err}")


def test_what_is_no_file_is_not_waited_for(directory):
    """Somebody may put a pipe, or a huge file, where the program or its debug file was."""
    need("objcopy")
    program, separate = compiled(directory, "gcc", "functions.c", "-g", "-O1", "-Wl,--build-id=none"), directory / ".debug" / "functions.debug"
    traced(directory, program, directory / "file")
    separate.parent.mkdir()
    run_checked(["objcopy", "--only-keep-debug", program, separate])
    run_checked(["objcopy", "--strip-all", f"--add-gnu-debuglink={separate}", program])
    true(any("+0x" not in e["name"] for e in functions(dump(directory / "out"))), "with the debug file that it names")
    for path in (separate, program):
        for huge in (True, False):
            path.unlink()
            if huge:
                path.touch()
                os.truncate(path, 12 << 30)
            else:
                os.mkfifo(path)
            done = run(["timeout", "60", DFTMERGE, "dump", "--json", directory / "out"])
            true(done.code == 0 and all("+0x" in e["name"] for e in functions([json.loads(line) for line in done.out.splitlines()])),
                 f"{path}, {huge}: {done.code} {done.err}")


def test_own_hooks_win(directory):
    hooks = directory / "hooks.o"
    run_checked(["gcc", "-O1", "-fPIC", "-c", "-o", hooks, HERE / "hooks.c"])
    program = compiled(directory, "gcc", "functions.c", "-O1", str(hooks))
    done = run([program, directory / "file"], env=tracing(directory / "own" / "t", DATA_DIR=directory))
    calls = sum(int(line.split()[1]) for line in done.out.decode().splitlines())
    true(done.err.startswith(f"own hooks: {calls} ".encode()), f"a program's own hooks: {done.err}")
    equal(functions(dump(directory / "own")), [], "functions of a program that has hooks itself")
    run_checked(["gcc", "-shared", "-o", directory / "libhooks.so", hooks])
    program = compiled(directory, "gcc", "functions.c", "-O1", "-Wl,--no-as-needed", f"-L{directory}", "-lhooks",
                       f"-Wl,-rpath,{directory}")
    done = run([program, directory / "file"], env=tracing(directory / "library" / "t", DATA_DIR=directory))
    true(done.err.startswith(f"own hooks: {calls} ".encode()), f"a library's hooks are called as well: {done.err}")
    equal(len(functions(dump(directory / "library"))), calls, "and all functions recorded")


def test_off_means_off(directory):
    program = compiled(directory, "gcc", "functions.c", "-O1")
    env = tracing(directory / "out" / "t")
    env["DFTRACER_ENABLE"] = "0"
    equal((run([program, directory / "file"], env=env).code, (directory / "out").exists()), (0, False), "switched off")
