# SPDX-License-Identifier: MIT
"""Functions that are found in other ways, libraries that take the same calls, other copies of the library: each call counts once, or a note
says that it is unseen."""

import shutil

from tracing import (DFTMERGE, LIBRARY, ROOT, answer_of, compile_program, dftmerge, dump, equal, run,
                     run_checked, traces, tracing, true)

ONCE = {"write": 10, "read": 1}


def made(directory):
    return compile_program("found.c", directory / "found", "-ldl", f"-I{ROOT / 'include'}")


def library(directory, name, define):
    return compile_program("takes.c", directory / name, "-shared", "-fPIC", f"-D{define}", f"-I{ROOT / 'include'}", *(["-ldl"] if define == "BY_HANDLE" else []))


def traced(directory, how, *more, preload=LIBRARY, aggregates=0, err=b"", **settings):
    """The reads and writes of the program in its trace, as they are counted."""
    program, out = made(directory), directory / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = run([program, how, directory / "file", *more],
               env={**tracing(out / "t", ENABLE_AGGREGATION=aggregates, **settings), "LD_PRELOAD": str(preload)})
    equal((done.code, done.out), (0, b""), done.err.decode())
    equal(done.err if err is not None else None, err, "nothing is printed")
    if not traces(out):
        return {}
    answer = answer_of("summary", "-q", "--by", "name", out)
    return {g["name"]: g["count"] for g in answer["groups"] if g["name"] in ONCE}


def notes(directory, command="summary"):
    return run_checked([DFTMERGE, command, directory / "out"]).err.decode()


def test_by_a_handle_of_the_c_library(directory):
    for aggregates in (0, 1):
        equal(traced(directory, "handle", aggregates=aggregates), ONCE, "calls")
    true("unseen" not in notes(directory), "nothing is unseen")


def test_a_library_that_takes_calls_and_finds_the_next_by_a_handle(directory):
    other = library(directory, "libother.so", "BY_HANDLE")
    for preload in (f"{other}:{LIBRARY}", f"{LIBRARY}:{other}"):
        for how in ("plain", "handle"):
            found = traced(directory, how, preload=preload)
            if how == "plain" or preload.startswith(str(other)):
                equal(found, ONCE, f"{how} calls with {preload}")
                true("unseen" not in notes(directory), "nothing is unseen")
            else:  # the tracer's function would lead to the other library, whose function leads to the tracer's
                equal(found, {}, "calls past both")
                true("found by dlsym behind a library that takes them" in notes(directory), notes(directory))


def test_the_next_function_behind_a_library_that_came_later(directory):
    for aggregates in (0, 1):
        equal(traced(directory, "next", library(directory, "libnext.so", "NEXT"), aggregates=aggregates), ONCE, "calls")
    true("unseen" not in notes(directory), "nothing is unseen")


def test_nothing_seen_is_told(directory):
    """A process leaves a trace that says why it has no events."""
    other, out = library(directory, "libtakes.so", "ITSELF"), directory / "out"
    for preload, count in ((LIBRARY, 0), (f"{other}:{LIBRARY}", 1)):
        run_checked(["true"], env={**tracing(out / "t"), "LD_PRELOAD": str(preload)})
        equal(len(traces(out)), count, "traces")
    true("libtakes.so (read, write)" in dftmerge("summary", out).err.decode(), "the note")


def test_a_library_that_takes_calls_away(directory):
    other = library(directory, "libtakes.so", "ITSELF")
    equal(traced(directory, "plain", preload=f"{LIBRARY}:{other}"), ONCE, "calls before it")
    true("unseen" not in notes(directory), "nothing is unseen")
    equal(traced(directory, "plain", preload=f"{other}:{LIBRARY}"), {}, "calls behind it")
    said = "in 1 process: calls are unseen that a library takes before libdftrace.so and hands on past it: libtakes.so (read, write)"
    for command in ("summary", "check", "findings"):
        true(said in notes(directory, command), notes(directory, command))
    traced(directory, "plain", preload=f"{other}:{LIBRARY}", LOG_LEVEL="WARN", err=None)
    run_checked([DFTMERGE, "anonymize", "--new-key", directory / "key"])
    run_checked([DFTMERGE, "anonymize", "--key", directory / "key", "-o", directory / "public", directory / "out"])
    hidden = run_checked([DFTMERGE, "check", directory / "public"]).err.decode()
    true("hands on past it: " in hidden and "takes.so" not in hidden, hidden)


def test_a_library_that_sees_itself_first(directory):
    other = library(directory, "libdeep.so", "ITSELF")
    equal(traced(directory, "deep", other), ONCE, "calls of the program")
    true("a library was loaded with RTLD_DEEPBIND" in notes(directory), notes(directory))
    equal(traced(directory, "deep", "libc.so.6"), ONCE, "calls of the program")
    true("RTLD_DEEPBIND" not in notes(directory), "it was there already")


def test_a_second_copy_steps_back(directory):
    copy = shutil.copy(LIBRARY, directory / "libcopy.so")
    said = "another copy of the library is loaded, too: it stepped back, and each call counts once"
    for preload in (f"{LIBRARY}:{copy}", f"{copy}:{LIBRARY}", f"{LIBRARY} {copy}"):
        for aggregates in (0, 1):
            equal(traced(directory, "plain", preload=preload, aggregates=aggregates), ONCE, f"calls with {preload}")
            equal(len(traces(directory / "out")), 1, "traces")
            if not aggregates:
                equal({e.get("region") for e in dump(directory / "out") if e["name"] in ONCE}, {"told"}, "the region")
            for command in ("summary", "check"):
                true(said in notes(directory, command), notes(directory, command))
    traced(directory, "plain", preload=f"{copy}:{LIBRARY}", err=b"dftrace: warning: another copy of this library is loaded, and steps back: %s\n"
           % str(copy).encode(), LOG_LEVEL="WARN")


def test_a_copy_that_comes_later_steps_back(directory):
    copy = shutil.copy(LIBRARY, directory / "libcopy.so")
    equal(traced(directory, "later", copy), ONCE, "calls")
    equal({e.get("region") for e in dump(directory / "out") if e["name"] in ONCE}, {"told"}, "the region that was told to it")
    true("it stepped back" in notes(directory), notes(directory))


def test_nothing_beside_an_older_copy(directory):
    older = library(directory, "libolder.so", "OLDER")
    for preload in (f"{LIBRARY}:{older}", f"{older}:{LIBRARY}"):
        equal(traced(directory, "plain", preload=preload), {}, "calls")
        equal(traces(directory / "out"), [], "traces")
        traced(directory, "plain", preload=preload, LOG_LEVEL="WARN",
               err=b"dftrace: warning: an older copy of this library is loaded; this one steps back: %s\n" % str(LIBRARY).encode())
