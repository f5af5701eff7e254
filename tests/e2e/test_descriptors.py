# SPDX-License-Identifier: MIT
"""Descriptors whose names are hard to have: the first thread has ended, there is no /proc, a thread has a table of its own. Each call is there,
under the right name, or under none."""

import collections
import json
import os

import pytest

from tracing import compile_program, dftmerge, dump, equal, run, traces, tracing

MODES = ("events", "aggregates")
SETTINGS = {"events": {}, "aggregates": {"ENABLE_AGGREGATION": 1}}


def traced(directory, program, *arguments, mode="events", **more):
    """Runs it in a new directory, with its output in a file there. Returns that directory and that of the trace."""
    work, out = directory / f"{mode}-work", directory / f"{mode}-out"
    work.mkdir(parents=True)
    done = run(["sh", "-c", 'exec "$@" > output', "sh", program, *arguments], cwd=work, env=tracing(out / "t", **SETTINGS[mode], **more))
    if done.code == 77:
        pytest.skip("not permitted here")
    equal((done.code, done.err), (3, b""), f"{arguments}")
    for trace in traces(work):  # of a child behind a chroot
        trace.rename(out / trace.name)
    return work, out


def summary(out, by, *options):
    answer = dftmerge("summary", "--by", by, "--json", "-q", *options, out)
    equal(answer.code, 0, answer.err)
    answer = json.loads(answer.out)
    equal(answer["dropped"], {}, "lost")
    return collections.Counter({g[by]: g["count"] for g in answer["groups"]})


CALLS = ("write", "pread", "openat", "fstatat")


def check(out, mode, expected, what):
    """expected: {(file, call): how often}. Aggregates have the files and the calls apart."""
    names, files = collections.Counter(), collections.Counter()
    for (file, name), count in expected.items():
        names[name] += count
        files[file] += count
    found = summary(out, "name")
    equal({name: found[name] for name in names}, dict(names), f"calls, {what}, {mode}")
    if mode == "events":
        found = summary(out, "file", "--name", ",".join(names))
        equal({file: found[file] for file in files}, dict(files), f"files, {what}")
    else:
        found = summary(out, "file")
        equal({file: found[file] >= count for file, count in files.items()}, dict.fromkeys(files, True), f"files, {what}: {found}")


def expected(named, work):
    return {(named("output"), "write"): 11, (named("file"), "pread"): 10, (named("folder") + "/below", "openat"): 10,
            (named("folder") + "/below", "write"): 10, (named("folder") + "/below", "fstatat"): 10, (f"{work}/known", "write"): 1}


def test_the_first_thread_has_ended(directory):
    program = compile_program("unnamed.c", directory / "unnamed", "-pthread")
    for how in ("plain", "exits", "exits-raw"):
        for mode in MODES:
            work, out = traced(directory / how, program, how, mode=mode)
            check(out, mode, expected(lambda name, work=work: f"{work}/{name}", work), how)


def unnamed(work, name):
    st = os.stat(work / name)
    return f"/(unnamed)/{os.major(st.st_dev)}:{os.minor(st.st_dev)}/{st.st_ino}"


def test_nobody_tells_names(directory):
    """Without /proc the calls are those on a file without a name."""
    program = compile_program("unnamed.c", directory / "unnamed", "-pthread")
    for how in ("without", "chroot"):
        for mode in MODES:
            work, out = traced(directory / how, program, how, mode=mode)
            check(out, mode, expected(lambda name, work=work: unnamed(work, name), work), how)


def test_what_has_no_name_is_in_no_directory(directory):
    """A list of directories leaves such files out, and says so."""
    program = compile_program("unnamed.c", directory / "unnamed", "-pthread")
    for number, entries in enumerate(("{}", "!{}/secret", "all:!{}/secret", "all:!{}/secret:/(unnamed)")):
        named = entries.endswith("(unnamed)")
        work, out = traced(directory / f"{number}", program, "without", DATA_DIR=entries.format(directory))
        files = summary(out, "file")
        equal((files[unnamed(work, "output")], files[f"{work}/known"] > 0), (11 if named else 0, True), f"DATA_DIR={entries}: {files}")
        page = dftmerge("summary", out).err.decode()
        equal("outside DFTRACER_DATA_DIR left out" in page, not named, f"{entries}: {page}")


def test_pipes_without_names(directory):
    program = compile_program("unnamed.c", directory / "unnamed", "-pthread")
    for how in ("plain", "without"):
        _, out = traced(directory / how, program, how, DATA_DIR="pipe::all")
        files = summary(out, "file", "--name", "write")
        equal([count for file, count in files.items() if (file or "").startswith("pipe:[")], [10], f"{how}: writes to the pipe")


def test_a_thread_with_a_table_of_its_own(directory):
    """What the thread, its children and the threads that it makes do to a number is theirs, and changes nothing for the others."""
    program = compile_program("own_files.c", directory / "own_files", "-pthread")
    for how in ("unshare", "syscall", "close_range"):
        for mode in MODES:
            work, out = traced(directory / how, program, how, mode=mode)
            writes = {"main": 60, "own": 40 + 20 + 1 + 20 + 20, "of-child": 20, "friend": 20}
            check(out, mode, {(f"{work}/{name}", "write"): count for name, count in writes.items()}, how)
            if mode == "aggregates":
                continue
            events = [e for e in dump(out) if e["name"] == "write"]
            equal([e["offset"] for e in events if e["file"] == f"{work}/main"], list(range(60)), "where the others write")
            own = [e["offset"] for e in events if e["file"] == f"{work}/own" and e["size"] == 3]
            equal(own, [*range(0, 120, 3), *range(own[40], own[40] + 60, 3)], "where the thread writes")
            equal(sum(e["bytes"] for e in dump(out) if e.get("file") == f"{work}/stream" and "bytes" in e), 100, "its stream")
