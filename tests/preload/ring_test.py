# SPDX-License-Identifier: MIT
"""Nothing lost and nothing twice in the rings: under storms of signals (storm.c), and with a signal after every single instruction
of a wrapper (step.c). What the programs count is compared with what stands in the trace."""

import collections
import os

import pytest

from tracing import BUILD, dump, equal, live_files, run, tracing, true


def traced(directory, program, *arguments):
    """Runs the program; its words, and the events of each (name, file) that it works on."""
    work = directory / "work"
    work.mkdir()
    done = run([BUILD / "bin" / program, work, *arguments], env=tracing(directory / "out" / "t", DATA_DIR=work))
    if done.code == 77:
        pytest.skip(done.out.decode().strip())
    equal((done.code, done.err), (0, b""), "exit code and messages")
    events = collections.defaultdict(list)
    for event in dump(directory / "out"):
        events[event["name"], os.path.basename(event.get("file", ""))].append(event)
    return done.out.decode().split("\n"), events


def offsets(events):
    return sorted(event["offset"] for event in events)


# --- storms ----------------------------------------------------------------------------------------------------------


def storm(directory, how, calls):
    lines, events = traced(directory, "storm", how, str(calls))
    words = {}
    for line in lines:
        name, *rest = line.split() or [""]
        words[name] = dict(zip(rest[0::2], rest[1::2])) if name.startswith("main") is False else rest
    return words, events


def started(words, thread):
    """The calls that a thread began, at least as many as it was told to."""
    calls = int(words[f"main{thread}"][1])
    true(calls >= 20000, f"thread {thread} began {calls} calls")
    return calls


def test_signals_whose_handlers_make_calls(directory):
    words, events = storm(directory, "plain", 20000)
    for i in range(8):
        equal(offsets(events["pwrite", f"main{i}"]), list(range(started(words, i))), f"writes of thread {i}")
        equal(words[f"main{i}"][2:4], ["left", "0"], "the program's own count")
        handled = int(words[f"handler{i}"]["handled"])
        true(handled > 100, f"only {handled} signals in thread {i}: no storm")
        equal(offsets(events["pread", f"handler{i}"]), list(range(handled)), f"reads of the handlers of thread {i}")
        opened = int(words[f"opened{i}"]["opened"])
        equal((len(events["open", f"opened{i}"]), len(events["close", f"opened{i}"])), (opened, opened), "opened and closed")
        equal(len({e["tid"] for e in events["pwrite", f"main{i}"]}), 1, "thread ids of a thread's events")
    equal(live_files(directory), [], "live files")


def test_handlers_that_jump_out(directory):
    words, events = storm(directory, "jump", 20000)
    for i in range(8):
        left = {int(n) for n in words[f"main{i}"][4:]}
        jumps, handled = int(words[f"jumps{i}"]["jumps"]), int(words[f"handler{i}"]["handled"])
        true(jumps > 20, f"only {jumps} jumps in thread {i}: no storm")
        seen = offsets(events["pwrite", f"main{i}"])
        equal(len(seen), len(set(seen)), "writes, each once")
        equal(set(range(started(words, i))) - left - set(seen), set(), f"writes of thread {i} that returned and are not in the trace")
        reads = offsets(events["pread", f"handler{i}"])
        equal(len(reads), len(set(reads)), "reads of handlers, each once")
        true(handled - jumps <= len(reads) <= handled, f"reads of handlers: {len(reads)} of {handled}, {jumps} jumps")


def test_forks_while_others_write(directory):
    words, events = storm(directory, "fork", 20000)
    children = int(words["child0"]["children"])
    equal(children, 8 * 8 * 3, "the children's own count")
    equal(offsets(events["pwrite", "child0"]), list(range(children)), "writes of children")
    equal(len({e["pid"] for e in events["pwrite", "child0"]}), children // 3, "processes that wrote them")
    for i in range(8):
        equal(offsets(events["pwrite", f"main{i}"]), list(range(started(words, i))), f"writes of thread {i}")
        equal(offsets(events["pread", f"handler{i}"]), list(range(int(words[f"handler{i}"]["handled"]))), "reads of handlers")
    equal(live_files(directory), [], "live files")


# --- steps -----------------------------------------------------------------------------------------------------------


def step(directory, *arguments):
    lines, events = traced(directory, "step", *arguments)
    words = lines[0].split()
    counts = {name: int(n) for name, n in zip(words[0::2], words[1::2])}
    equal(offsets(events["pwrite", "main"]), list(range(counts["started"])), "calls without steps")
    equal(counts["made"], counts["started"], "the program's own count")
    return counts, events


def stepped(events, kind):
    return {"pwrite": events["pwrite", "child"], "open": [e for e in events["open", "stepped"]][1:],
            "stat": events["stat", "stepped"], "region": events["stepped", ""]}[kind]


def a_call_at_every_instruction(directory, kind, first, last):
    counts, events = step(directory, "call", kind, str(first), str(last))
    true(counts["handled"] > 50 * (last - first), f"only {counts['handled']} steps")
    equal(offsets(events["pread", "handler"]), list(range(counts["handled"])), "calls of the handler")
    equal(len(stepped(events, kind)), counts["stepped"], f"{kind}: stepped calls")


def test_a_call_at_every_instruction_of_pwrite(directory):
    """With all fillings of the ring between two drains, since the ring grows at the second."""
    a_call_at_every_instruction(directory, "pwrite", 190, 390)


def test_a_call_at_every_instruction_of_open(directory):
    a_call_at_every_instruction(directory, "open", 165, 195)


def test_a_call_at_every_instruction_of_stat(directory):
    a_call_at_every_instruction(directory, "stat", 165, 195)


def test_a_call_at_every_instruction_of_a_region(directory):
    a_call_at_every_instruction(directory, "region", 165, 195)


def test_a_jump_out_of_every_instruction(directory):
    for kind, stride in (("pwrite", 1), ("stat", 5), ("open", 5)):
        (directory / kind).mkdir()
        counts, events = step(directory / kind, "jump", kind, str(stride))
        true(counts["left"] > 100, f"only {counts['left']} jumps")
        true(counts["stepped"] <= len(stepped(events, kind)) <= counts["stepped"] + counts["left"],
             f"{kind}: {len(stepped(events, kind))} recorded of {counts}")
        if kind == "pwrite":
            true(len(set(offsets(stepped(events, kind)))) == len(stepped(events, kind)), "stepped calls, each once")


def test_a_fork_at_every_instruction(directory):
    """The child makes calls in the handler, goes on with the interrupted call, and ends."""
    counts, events = step(directory, "fork", "pwrite")
    children = [e for e in events["pwrite", "child"] if e["offset"] < 1000000]
    equal(offsets(children), list(range(counts["children"])), "calls of children")
    equal(len({e["pid"] for e in children}), counts["children"] // 3, "children")
    parent = {e["pid"] for e in events["pwrite", "main"]}
    mine = [e for e in events["pwrite", "child"] if e["offset"] >= 1000000 and e["pid"] in parent]
    equal(len(mine), counts["stepped"], "stepped calls of the parent")


def test_a_fork_at_every_instruction_of_a_run(directory):
    """The child goes on with the interrupted call before it knows that it is one."""
    counts, events = step(directory, "child", "refill")
    true(counts["stepped"] > 300, f"only {counts['stepped']} steps")
    parent = {e["pid"] for e in events["pwrite", "main"]}
    calls = sum(e.get("calls", 1) for e in events["getc", "stream"] if e["pid"] in parent)
    equal(calls, counts["stepped"], "characters of the parent")


def test_one_call_at_any_instruction_of_a_run(directory):
    for kind in ("getc", "refill"):
        (directory / kind).mkdir()
        counts, events = step(directory / kind, "once", kind)
        equal(offsets(events["pread", "handler"]), list(range(counts["handled"])), f"{kind}: calls of the handler")
        equal(sum(e.get("calls", 1) for e in events["getc", "stream"]), counts["stepped"], f"{kind}: characters")


def test_another_reads_at_any_instruction(directory):
    """The handler reads three bytes of the same descriptor; what is read one byte of, or sought, knows no offset then, or the right one."""
    for kind in ("read", "lseek"):
        (directory / kind).mkdir()
        counts, events = step(directory / kind, "once", kind)
        true(counts["handled"] > 100, f"only {counts['handled']} steps")
        reads = sorted(events["read", "shared"], key=lambda e: e["ts"])
        equal(len(reads), counts["handled"] + (counts["stepped"] if kind == "read" else 0), f"{kind}: reads")
        at, wrong = 0, []
        while reads:
            first = reads.pop(0)
            pair = first["bytes"] == 1 and reads and reads[0]["bytes"] == 3  # which of the two was in the kernel first is not known
            found = [e.get("offset") for e in ([first, reads.pop(0)] if pair else [first])]
            if not any(all(f in (None, r) for f, r in zip(found, right)) for right in ([at, at + 1], [at + 3, at])[:1 + bool(pair)]):
                wrong.append((found, at))
            at += 4 if pair else first["bytes"]
        equal(wrong[:5], [], f"{kind}: {len(wrong)} offsets are wrong: (found, right one)")


def test_an_end_at_every_instruction(directory):
    """The process ends while a thread stands in an append; the thread then goes on, and its call returns before all is over."""
    counts, events = step(directory, "exit", "pwrite", "2")
    true(counts["stepped"] > 100, f"only {counts['stepped']} steps")
    equal([e["offset"] - 1000000 for e in sorted(events["pwrite", "child"], key=lambda e: e["offset"])],
          list(range(counts["stepped"])), "stepped calls")


def test_a_region_at_every_instruction(directory):
    for kind in ("region", "pwrite", "open"):
        (directory / kind).mkdir()
        counts, events = step(directory / kind, "region", kind)
        true(counts["regions"] > 300, f"only {counts['regions']} steps")
        equal(len(events["handler", ""]), counts["regions"], "regions of the handler")
        equal({str(e.get("args")) for e in events["handler", ""]}, {"{'h': 7}"}, "their arguments")
        equal(len(stepped(events, kind)), counts["stepped"], f"{kind}: stepped")
        if kind == "region":
            equal([e.get("args") for e in events["stepped", ""]], [{"n": 1}] * counts["stepped"], "arguments")
