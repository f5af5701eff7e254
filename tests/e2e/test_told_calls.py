# SPDX-License-Identifier: MIT
"""A program that tells of each of its calls what the event must say: file, descriptor, result, errno, range, mode and flags of every
call that is about files but moves no data. The trace must say the same, call by call, in the same order; and strace, too."""

import collections
import json
import os
import re

import system_calls
from tracing import ROOT, compile_program, dump, equal, run, tracing, true

SOURCES = ("told.c", "told_names.c", "told_files.c", "told_streams.c", "told_walks.c")
# Sections of calls.def whose rows must all be called here.
SECTIONS = ("names:", "owner, mode, times", "space, advice", "directories in other ways", "files whose name")
LINES = ("lines of other forms",)
CANNOT_FAIL = {"sync", "rewinddir", "seekdir", "telldir", "readahead", "syncfs", "isfdtype", "readdir_r", "fts_children", "fts_close",
               "fstatfs", "fstatvfs", "fchmod", "fchown", "futimes", "futimens", "fts_read"}
# Some file systems, or users other than root, cannot.
MAY_FAIL_ALWAYS = {"chroot", "open_by_handle_at", "fanotify_mark", "name_to_handle_at", "fallocate", "lchmod",
                   *(f"{kind}{what}xattr" for kind in ("", "l", "f") for what in ("get", "set", "list", "remove"))}
FIELDS = ("name", "ret", "errno", "file", "file2", "fd", "size", "offset", "mode", "flags")


def build(directory):
    # without inlining: headers would call other functions
    more = [str(ROOT / "tests" / "e2e" / "programs" / name) for name in SOURCES]
    return compile_program("told_calls.c", directory / "told_calls", *more, "-fno-inline", "-fno-builtin", "-U_FORTIFY_SOURCE", "-w")


def traced_run(directory):
    program, work = build(directory), directory / "work"
    work.mkdir()
    done = run([program, work], env=tracing(directory / "out" / "t"))
    equal((done.code, done.err), (0, b""), "exit code and standard error")
    return [json.loads(line) for line in done.out.decode().splitlines()], dump(directory / "out")


def fields(event, told=None):
    """What is compared of an event. The file that tmpfile has nobody knows before."""
    found = {key: event[key] for key in FIELDS if event.get(key) is not None}
    if told is not None and told.get("outside"):
        true(found.pop("file", None), f"{event['name']} has no file")
    if told is not None and not told.get("size") and "size" in found:  # a call that is given none has what it moved
        equal(found.pop("size"), event.get("bytes", 0), f"{event['name']}: size")
    for key in ("file", "file2"):
        if key in found:
            found[key] = os.path.normpath(found[key])
    for key in ("mode", "flags", "size"):
        if not found.get(key):
            found.pop(key, None)
    return found


def is_of_the_frame(event):
    """Made around the calls that are told of: the ends of processes, and what is printed."""
    return event["cat"] == "PROCESS" or (event["name"] == "write" and event["fd"] == 1)


def by_process(lines):
    found = collections.defaultdict(list)
    for line in lines:
        found[line["pid"]].append(line)
    return found


def test_every_event_says_what_the_call_did(directory):
    expected, events = traced_run(directory)
    events.sort(key=lambda e: e["seq"])  # by their ends, as they are told
    got = by_process(e for e in events if not is_of_the_frame(e))
    compared = 0
    for pid, lines in by_process(line for line in expected if line["name"] != "fork").items():
        for number, line in enumerate(lines):
            true(number < len(got[pid]), f"{line} is not in the trace")
            equal(fields(got[pid][number], line), fields(line), f"call {number} of {pid}")
            compared += 1
        equal([e["name"] for e in got[pid][len(lines):]], [], f"more events of {pid} than calls")
    true(compared > 250, f"only {compared} calls")


def rows_of(sections):
    text = (ROOT / "include" / "dftrace" / "calls.def").read_text()
    rows = []
    for title, body in re.findall(r"^/\* --- (.*?) -+ \*/$(.*?)(?=^/\* ---|\Z)", text, flags=re.M | re.S):
        if title.startswith(sections):
            rows += re.findall(r"^DFT_(?:CALL|CUSTOM)\(\w+, \w+, [^,]+?, (\w+),", body, flags=re.M)
    return rows


def test_every_row_succeeds_and_fails(directory):
    """So that none is forgotten here."""
    expected, _ = traced_run(directory)
    good = {line["name"] for line in expected if "errno" not in line}
    bad = {line["name"] for line in expected if "errno" in line} | {"glob"}  # which fails without errno
    rows = rows_of(SECTIONS)
    true(len(rows) > 85, f"only {len(rows)} rows in these sections of calls.def")
    equal(sorted(set(rows) - good - MAY_FAIL_ALWAYS), [], "rows that are never called with success")
    equal(sorted(set(rows_of(LINES)) - good), [], "rows that are never called with success")
    equal(sorted(set(rows) - bad - CANNOT_FAIL), [], "rows that are never called with failure")


def test_equal_to_strace(directory):
    program, work = build(directory), directory / "work"
    work.mkdir()
    _, calls = system_calls.strace([program, work, "still"], directory, directory)
    run(["rm", "-rf", work])
    work.mkdir()
    done = run([program, work, "still"], env=tracing(directory / "out" / "t"))
    equal(done.code, 0, "exit code")
    random_names = [(r"(temp|made)-(?!XXXXXX)\w{6}", r"\1-random"), (r"/no/\w{6}$", "/no/random"), (r"/tmp/#\d+( \(deleted\))?$", "/tmp/#"),
                    (r"dftrace-test-\d+", "dftrace-test")]
    lines, compared = system_calls.differences(calls, dump(directory / "out"), random_names)
    true(compared > 140, f"only {compared} calls were compared")
    true(not lines, "; ".join(lines[:20]))
