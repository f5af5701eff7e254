# SPDX-License-Identifier: MIT
"""Findings about calls that wait for locks, and about calls that fail: each has a program that plants the trouble, and
one beside it that must stay silent."""

import pathlib
import re
import sys

import pytest

from told import told_once
from tracing import answer_of, dump, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
HELD_NS = 200_000_000  # as locks.c holds it
WAYS = {"flock": "flock", "lockf": "lockf", "fcntl": "fcntl", "ofd": "fcntl", "syscall": "fcntl"}  # and the names of their events
TIMES = 2000


def traced(directory, source, *arguments, number=0, **settings):
    """What the program prints, and its traces."""
    need("gcc")
    program, work, traces = directory / source, directory / "work", directory / "_".join(["traces", *arguments, str(number), *settings])
    work.mkdir(exist_ok=True)
    if not program.exists():
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", program, HERE / "programs" / f"{source}.c"])
    for old in work.iterdir():
        old.unlink()
    more = [str(number)] if number else []
    done = run([program, *arguments, *more], cwd=work, env=tracing(traces / "t", DATA_DIR=work, **settings))
    if done.code == 77:
        pytest.skip(f"{arguments}: the file system cannot do it")
    equal((done.code, done.err), (0, b""), f"{arguments}: exit code and standard error")
    return done.out.decode().split(), traces


def findings(traces, *options):
    return told_once(traces, answer_of("findings", *options, traces))


def of_kind(answer, code):
    return [finding for finding in answer["findings"] if finding["code"] == code]


def says(finding, *patterns):
    for pattern in patterns:
        true(re.search(pattern, finding["evidence"]), f"{pattern!r} is not in: {finding['evidence']}")


def only(answer, code):
    found = of_kind(answer, code)
    equal(len(found), 1, f"{code}: {answer['findings']}")
    return found[0]


# --- locks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_waits(directory, way):
    """However a lock is had and given back: how long, for which file, and who held it."""
    for end in ("unlock", "close", "exit"):
        (waiter, holder), traces = traced(directory, "locks", way, end)
        finding = only(findings(traces), "locks")
        equal((finding["where"], finding["files"], finding["sure"]), (f"{directory}/work/lock", 1, "high"), f"{end}: where")
        true(HELD_NS * 0.9 <= finding["cost_ns"], f"{end}: cost {finding['cost_ns']}")
        says(finding, r"; lock: .* by 2 processes; the longest, ",
             rf"\(locks, pid {waiter}\), ended when locks, pid {holder}, gave the lock back after ")
        groups = {(g["name"], g["class"]): g["time_ns"] for g in answer_of("summary", "--by", "name,class", traces)["groups"]}
        equal([key for key in groups if key[0] == WAYS[way]], [(WAYS[way], "wait")], f"{end}: classes")
        equal(finding["cost_ns"], groups[WAYS[way], "wait"], f"{end}: the time is that of these calls")


def test_waits_from_aggregates(directory):
    """As from events, but for who held it: aggregates do not know."""
    for way in ("flock", "fcntl", "syscall"):
        _, traces = traced(directory, "locks", way, "unlock", ENABLE_AGGREGATION=1)
        finding = only(findings(traces), "locks")
        equal((finding["where"], finding["files"], finding["calls"]), (f"{directory}/work/lock", 1, 4), f"{way}: where, files and calls")
        says(finding, r"; lock: 4 of these, .* by 2 processes, the longest \d+ ms$")


def test_free_locks(directory):
    """What nobody else holds is had at once, however often."""
    rules = directory / "rules"
    rules.write_text("any.share = 0 %\n")
    for way in WAYS:
        _, traces = traced(directory, "locks", way, "alone")
        equal(of_kind(findings(traces, "--rules", rules), "locks"), [], way)


def test_trying_is_no_wait(directory):
    """F_SETLK answers at once; but an unlock is one of locks. The mode says what is locked, and unlocked."""
    work = directory / "work"
    work.mkdir()
    source = """
import fcntl, struct
file = open("lock", "w")
for command in (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW):
    for kind in (fcntl.F_WRLCK, fcntl.F_UNLCK):
        fcntl.fcntl(file, command, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))
"""
    run_checked([sys.executable, "-S", "-c", source], cwd=work, env=tracing(directory / "traces/t", DATA_DIR=work))
    events = [e for e in dump(directory / "traces") if e["name"] == "fcntl" and e.get("flags") in (6, 7, 37, 38)]
    equal([(e["flags"], e["class"], e.get("mode")) for e in events],
          [(6, "meta", None), (6, "wait", 2), (7, "wait", 1), (7, "wait", 2), (37, "meta", None), (37, "wait", 2), (38, "wait", 1), (38, "wait", 2)],
          "command, class and kind of lock")


# --- calls that fail --------------------------------------------------------------------------------------------------


def failing(directory, what, title, advice, again, name, **settings):
    _, traces = traced(directory, "failing", what, number=TIMES, **settings)
    finding = only(findings(traces), "failing")
    equal((finding["title"], finding["calls"], finding["errors"]), (title, TIMES, TIMES), f"{what}: title, calls and errors")
    equal(finding["classes"], [{"writes": "write", "reads": "read", "opens": "meta"}[title.split()[1].rstrip(":")]], f"{what}: classes")
    true(re.search(advice, finding["advice"]), f"{what}: {finding['advice']}")
    says(finding, rf"^2,000 of \S+ .* failed, .*: 2,000 with {title.rpartition(' ')[2]} \(")
    if not settings:
        says(finding, rf"; {name}: all of them; {again}$")
    if name:
        equal(finding["where"], str(pathlib.Path(directory, "work", name)), f"{what}: where")
    groups = answer_of("summary", "--by", "name,errno", traces)["groups"]
    equal(finding["cost_ns"], sum(g["time_ns"] for g in groups if g["errors"] and g["count"] == TIMES), f"{what}: cost")
    return finding


def test_misaligned_direct_writes(directory):
    finding = failing(directory, "direct", "failed writes: EINVAL", "O_DIRECT.*multiples of the logical block",
                      "2,000 were done again, and succeeded", "direct.dat")
    equal(finding["sure"], "high", "how sure")
    finding = failing(directory, "direct", "failed writes: EINVAL", "O_DIRECT", None, "direct.dat", ENABLE_AGGREGATION=1)
    equal(finding["sure"], "medium", "how sure: aggregates know neither places nor flags")


def test_other_failures(directory):
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        for what, title, name in (("limited", "failed writes: EFBIG", "limited.dat"), ("directory", "failed reads: EISDIR", ""),
                                  ("loop", "failed opens: ELOOP", "loop")):
            name = None if settings and what == "loop" else name  # which of the files' calls were opens, aggregates do not know
            failing(directory, what, title, "See why", "none was done again with success", name if name or settings else f"{directory}/work", **settings)


def test_failed_writes_are_told_whatever_they_cost(directory):
    """And before what costs more; reads only where they cost."""
    rules = directory / "rules"
    rules.write_text("any.share = 100 %\n")
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        _, traces = traced(directory, "failing", "limited", number=3, **settings)
        equal([f["title"] for f in findings(traces, "--rules", rules)["findings"]], ["failed writes: EFBIG"], f"writes {settings}")
        _, traces = traced(directory, "failing", "directory", number=3, **settings)
        equal(findings(traces, "--rules", rules)["findings"], [], f"reads {settings}")


def test_answers_are_no_failures(directory):
    rules = directory / "rules"
    rules.write_text("any.share = 0 %\n")
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        _, traces = traced(directory, "failing", "answers", number=TIMES, **settings)
        equal(of_kind(findings(traces, "--rules", rules), "failing"), [], f"there already, nothing there yet, no file {settings}")
