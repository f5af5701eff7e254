# SPDX-License-Identifier: MIT
"""Call stacks: the functions and the lines that made each call, and what is made of them."""

import collections
import json
import platform
import re
import signal

from tracing import DFTMERGE, PROGRAMS, compile_program, dftmerge, dump, environment, equal, run, run_checked, tracing, true

SOURCE = "stacks.c"
LINE = 1 + next(i for i, text in enumerate((PROGRAMS / SOURCE).read_text().splitlines()) if "line A" in text)


def traced(directory, *arguments, source=SOURCE, flags=("-pthread",), code=0, **settings):
    program = compile_program(source, directory / "program", *flags)
    plain = run([program, *arguments], env=environment())
    done = run([program, *arguments], env=tracing(directory / "out/t", DATA_DIR="all", **settings))
    equal((done.code, done.out), (plain.code, plain.out), "what the program did")
    equal(done.code, code, "exit code")
    return dump(directory / "out")


def reads(events):
    return [e for e in events if e["name"] == "pread"]


def place_of_leaf():
    """The line of its read; without libdw dftmerge says the function alone."""
    return f" ({SOURCE}:{LINE})" if b"libdw" in run_checked(["ldd", DFTMERGE]).out else ""


def functions(folded):
    """The names of a folded stack, without places."""
    return re.sub(r" (\([^;]*:[0-9]+\)|\[[^;]*\])(?=;|$)", "", folded)


def inner(event, count):
    return tuple(event.get("stack", ())[:count])


def test_functions_of_each_call(directory):
    events = traced(directory, STACK=16)
    true(all("stack" in e for e in events), "every event has a stack")
    equal(len(reads(events)), 10 + 1 + 10 + 2000, "reads")
    found = collections.Counter(inner(e, 2) for e in reads(events))
    equal(found, {("leaf", "main"): 10, ("leaf", "middle"): 2001, ("leaf", "on_signal"): 10}, "the two innermost functions")
    depths = collections.Counter(e["stack"].count("middle") for e in reads(events) if e["stack"][:2] == ["leaf", "middle"])
    equal((depths[1], depths[2], depths[3], depths[15]), (668, 666, 666, 1), "depths; 16 frames at most")
    true(all(len(e["stack"]) <= 16 for e in events), "depth")
    true(all("in_thread" in e["stack"] for e in reads(events) if e["tid"] != e["pid"]), "threads")


def test_only_what_takes_long(directory):
    events = traced(directory, STACK=4, STACK_MIN_US=300)
    for event in events:
        true("stack" in event or event["dur"] < 306000, f"long, and without a stack: {event}")
        true("stack" not in event or event["dur"] > 294000, f"short, and with a stack: {event}")
        true(len(event.get("stack", ())) <= 4, event)


def test_stacks_of_a_killed_process(directory):
    events = [e for e in traced(directory, "kill", STACK=8, code=-signal.SIGKILL) if not e.get("open")]
    equal(len(reads(events)), 2021, "reads")
    true(all(inner(e, 1) == ("leaf",) for e in reads(events)), "their functions")


def test_sums_by_stack_and_line(directory):
    events = traced(directory, STACK=16)
    done = dftmerge("summary", "--by", "stack,name", "--json", directory / "out")
    expected = collections.defaultdict(lambda: [0, 0])
    for event in events:
        counts = expected[";".join(reversed(event["stack"])), event["name"]]
        counts[0] += event.get("calls", 1)
        counts[1] += event["dur"]
    groups = collections.defaultdict(lambda: [0, 0])
    places = collections.Counter()
    for group in json.loads(done.out)["groups"]:
        counts = groups[functions(group["stack"]), group["name"]]
        counts[0] += group["count"]
        counts[1] += group["time_ns"]
        if group["name"] == "pread":
            equal(group["stack"].split(";")[-1], "leaf" + place_of_leaf(), "the line of pread")
        if group["time_ns"]:
            places[f"{group['stack']};{group['name']}".replace(" ", "_")] += group["time_ns"]
    equal(dict(groups), dict(expected), "groups")
    folded = dftmerge("export", "--format", "folded", "-o", "-", directory / "out").out.decode().splitlines()
    sums = collections.Counter()
    for line in folded:
        stack, weight = line.rsplit(" ", 1)
        sums[stack] += int(weight)
    equal(sums, places, "folded")
    done = dftmerge("summary", "--by", "line", "--name", "pread", "--json", directory / "out")
    (group,) = json.loads(done.out)["groups"]
    equal(group["count"], 2021, "reads")
    equal(group["line"], f"{PROGRAMS / SOURCE}:{LINE}" if place_of_leaf() else "leaf", "its line")


def test_where_it_is_hard(directory):
    """The program prints its descriptors and errno: traced() compares that."""
    events = traced(directory, source="hard_stacks.c", STACK=32)
    true(all("stack" in e for e in reads(events)), "every read has a stack")
    found = collections.Counter(e["stack"][1] for e in reads(events) if e["stack"][1] != "in_busy_thread")
    equal((found["on_signal"], found["in_small_thread"], found["in_children"]), (10, 10, 50), "who called leaf")
    for event in reads(events):
        if event["stack"][1] == "on_signal":
            true({"on_signal_stack", "main"} <= set(event["stack"]), f"what was interrupted: {event['stack']}")
    if platform.machine() == "x86_64":
        without = [e["stack"] for e in reads(events) if e["stack"][1].startswith("0x")]
        equal(len(without), 20, f"reads called by code without tables {found}")
        chained = [s for s in without if len(s) > 2]
        true(len(chained) >= 10 and all(s[2:4] == ["in_code_without_tables", "main"] for s in chained), chained)


def test_a_program_without_symbols(directory):
    """Names of modules and addresses, the same as addr2line would take."""
    events = traced(directory, flags=("-pthread", "-s"), STACK=16)
    frames = {e["stack"][0] for e in reads(events)}
    equal(len(frames), 1, f"places that read: {frames}")
    true(next(iter(frames)).startswith("program+0x"), frames)


def test_without_stacks_the_export_says_so(directory):
    traced(directory)
    done = dftmerge("export", "--format", "folded", "-o", directory / "f", directory / "out")
    true(b"without a call stack" in done.err and not (directory / "f").read_bytes(), done.err)
