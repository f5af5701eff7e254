# SPDX-License-Identifier: MIT
"""STDIO calls that are kept in runs, those whose bytes the stream's position tells, and transfers between descriptors: against what
the program counted, or is known to do."""

import collections
import errno
import json
import shutil
import struct
import subprocess
import sys

from tracing import compile_program, dftmerge, dump, environment, equal, run, tracing, true


def traced(directory, mode, code=0):
    """Runs the program; returns its counts, one (calls of getc, of putc) a thread, and the events of its directory."""
    program = compile_program("runs.c", directory / "runs", "-fno-inline", "-lpthread")
    (directory / "work").mkdir()
    done = run([program, mode, directory / "work"], env=tracing(directory / "out" / "trace", DATA_DIR=directory / "work"))
    equal((done.code, done.err), (code, b""), "exit code and standard error")
    numbers = struct.unpack("8q", (directory / "work" / "counts").read_bytes())
    return list(zip(numbers[::2], numbers[1::2])), dump(directory / "out")


def calls(events, *names):
    """{file's name: (events, calls, bytes)} of these calls."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for event in events:
        if event["name"] in names and "bytes" in event:  # not the call in flight
            entry = found[event["file"].rsplit("/", 1)[-1]]
            entry[0] += 1
            entry[1] += event.get("calls", 1)
            entry[2] += event.get("bytes", 0)
    return {name: tuple(entry) for name, entry in found.items()}


def test_characters(directory):
    counts, events = traced(directory, "characters")
    equal(calls(events, "fgetc", "getc"), {"in0": (1, counts[0][0], 100000)}, "events, calls and bytes read")
    equal(calls(events, "fputc", "putc"), {"out0": (1, counts[0][1], 100000)}, "and written")
    equal([e["offset"] for e in events if e["name"] in ("fgetc", "fputc")], [0, 0], "offsets")
    equal(counts[0], (100001, 100000), "the program's own")


def test_lines(directory):
    counts, events = traced(directory, "lines")
    equal(counts[0], (500, 500), "the program's own")
    equal(calls(events, "fgets", "fputs"), {"in0": (1, 500, 50000), "out0": (1, 500, 50000)}, "events, calls and bytes")


def test_formatted(directory):
    """Calls without a size have the size that they moved, in events and in rows that the process makes."""
    program = compile_program("formatted.c", directory / "formatted", "-O0", "-Wall", "-Wextra", "-Werror")
    answers = []
    for rows in (0, 1):
        work = directory / f"run{rows}"
        work.mkdir()
        done = run([program, "" if rows else "fails"], cwd=work,
                   env=tracing(directory / f"out{rows}" / "t", DATA_DIR=work, ENABLE_AGGREGATION=rows))
        equal((done.code, done.err), (0, b""), "exit code and standard error")
        groups = json.loads(dftmerge("summary", "--json", "--by", "name,size", directory / f"out{rows}").out)["groups"]
        answers.append({(g["name"], g["size"]): (g["count"], g["bytes"], g["asked"], g["common_size"]) for g in groups if g["bytes"]})
    equal(answers[1], answers[0], "calls, bytes, asked, common size")
    found = {(n, s): v for (n, s), v in answers[0].items() if n != "fscanf"}
    equal(found, {("fprintf", "2 B-64 B"): (10050, 310400, 310400, 2), ("fprintf", "4 KiB-16 KiB"): (20, 200000, 200000, 4096),
                  ("fwprintf", "2 B-64 B"): (1000, 11000, 11000, 2), ("fwscanf", "2 B-64 B"): (1000, 10999, 10999, 2),
                  ("dprintf", "2 B-64 B"): (100, 600, 600, 2), ("getline", "2 B-64 B"): (100, 600, 600, 2),
                  ("fgetc", "1 B"): (1, 1, 1, 1)}, "calls, bytes, asked, common size")
    equal(answers[0]["fscanf", "2 B-64 B"], (10001, 310000, 310000, 2), "fscanf")
    equal(sum(v[1] for (n, _), v in answers[0].items() if n == "fscanf"), 310000 + 199999, "fscanf's bytes")
    events = [e for e in dump(directory / "out0") if e["name"] in ("fprintf", "fscanf")]
    of = [(e["name"], e["calls"], e["offset"], e["access"]) for e in events if e["file"].endswith("/narrow")]
    equal(of, [("fprintf", 10000, 0, "consecutive"), ("fscanf", 10001, 0, "consecutive")], "bursts")
    failed = [e for e in events if e["file"].endswith("/failing")]
    equal([(e["errno"], e.get("size", 0), e.get("bytes", 0)) for e in failed], [(errno.EFBIG, 0, 0)], "a failure")


def test_lines_that_are_odd(directory):
    counts, events = traced(directory, "odd")
    found = calls(events, "fgets")["in1"]
    equal(found[1:], (counts[0][0], 200 * 6 + 9000 + 1 + 3), "calls and bytes, NULs included")
    reads = [e for e in events if e["name"] == "fgets" and e.get("bytes")]
    equal([e["offset"] for e in reads][:1] + [e["offset"] + e["bytes"] for e in reads][-1:], [0, 200 * 6 + 9004], "from start to end")
    for event, following in zip(reads, reads[1:]):
        equal(following["offset"], event["offset"] + event["bytes"], "one behind the other")


def check_threads(counts, events):
    """A call may be over that the program did not live to count."""
    gets, puts = calls(events, "fgetc"), calls(events, "fputc")
    for number, (got, put) in enumerate(counts):
        true(0 <= gets[f"in{number}"][1] - got <= 1, f"thread {number}: {gets[f'in{number}']} of fgetc, it counted {got}")
        true(0 <= puts[f"out{number}"][1] - put <= 1, f"thread {number}: {puts[f'out{number}']} of fputc, it counted {put}")
        true(puts[f"out{number}"][1] == puts[f"out{number}"][2], "a byte a call")
        true(put >= 20000, f"thread {number} did something: {put}")


def test_other_threads_are_at_it_when_the_process_exits(directory):
    for number in range(5):
        (directory / str(number)).mkdir()
        counts, events = traced(directory / str(number), "exit")
        check_threads(counts, events)


def test_killed_in_the_middle(directory):
    for number in range(5):
        (directory / str(number)).mkdir()
        counts, events = traced(directory / str(number), "kill", -9)
        check_threads(counts, events)


def test_recovered_runs_are_in_the_summary(directory):
    counts, events = traced(directory, "kill", -9)
    done = dftmerge("summary", "--csv", "--by", "name", directory / "out")
    equal(done.code, 0, "exit code")
    rows = {line.split(",")[0]: line.split(",") for line in done.out.decode().splitlines()}
    header = rows["name"]
    for name in ("fgetc", "fputc"):
        equal(int(rows[name][header.index("count")]), sum(e.get("calls", 1) for e in events if e["name"] == name and "bytes" in e), name)
        true(sum(pair[name == "fputc"] for pair in counts) >= 20000, "it did something")


def test_a_fork_in_the_middle(directory):
    counts, events = traced(directory, "fork")
    equal(counts[:2], [(1500, 0), (300, 0)], "the program's own")
    by_pid = collections.Counter()
    for event in events:
        if event["name"] == "getc":
            by_pid[event["pid"]] += event.get("calls", 1)
    equal(sorted(by_pid.values()), [300, 1500], "calls of each process")


def test_handlers_do_the_same(directory):
    counts, events = traced(directory, "signals")
    found = calls(events, "fgetc", "getc")
    equal(found["in0"][1:], (counts[0][0], 30 * 100000), "the main program's")
    true(found["in1"][1] >= counts[1][0] > 0 and found["in1"][2] == counts[1][0], f"the handlers': {found['in1']}, {counts[1]}")


def accesses(events, name):
    """What happened to a file: (call, offset, bytes, calls)."""
    return [(e["name"], e.get("offset"), e.get("bytes"), e.get("calls", 1)) for e in events
            if e.get("file", "").endswith("/" + name) and "bytes" in e]


def positions(directory):
    program = compile_program("positions.c", directory / "positions", "-O2", "-Wno-unused-result")
    (directory / "plain").mkdir()
    (directory / "work").mkdir()
    equal(run([program, directory / "plain"], env=environment()).code, 0, "exit code, plain")
    done = run([program, directory / "work"], env=tracing(directory / "out" / "trace", DATA_DIR=directory / "work"))
    equal((done.code, done.out, done.err), (0, b"", b""), "exit code and output")
    for name in ("inlined", "wide", "scanned", "copy", "left"):
        equal((directory / "work" / name).read_bytes(), (directory / "plain" / name).read_bytes(), name)
    return dump(directory / "out")


def test_positions_of_streams(directory):
    events = positions(directory)
    equal(accesses([e for e in events if "STDIO" == e["cat"]], "inlined"),
          [("putc", 0, 10000, 10000), ("fwrite", 10000, 3, 1), ("putc", 10003, 1, 1), ("getc", 0, 100, 100), ("fread", 100, 50, 1),
           ("getc", 150, 100, 100), ("getc", 9000, 1, 1), ("getc", 9001, 1003, 1004)], "characters moved by inlined code")
    equal(accesses(events, "left"), [("putc", 0, 123, 123)], "what was in the buffer at the end")
    equal(accesses(events, "wide"),
          [("fputwc", 0, 2000, 1000), ("fwprintf", 2000, 10, 1), ("fputws", 2010, 7, 1), ("fgetwc", 0, 2000, 1000),
           ("fwscanf", 2000, 5, 1), ("fgetws", 2005, 5, 1), ("fgetwc", 2008, 2, 1)], "wide characters")
    equal(accesses(events, "scanned"),
          [("fprintf", 0, 18, 1), ("fscanf", 0, 5, 1), ("getc", 5, 1, 1), ("fscanf", 5, 3, 1), ("getc", 8, 1, 1), ("fgets", 8, 1, 1),
           ("fscanf", 9, 9, 2)], "formatted input")


def test_transfers_between_descriptors(directory):
    events = [e for e in positions(directory) if e["cat"] == "POSIX" and "bytes" in e or e.get("errno")]
    equal(accesses(events, "inlined"),
          [("copy_file_range", 0, 1000, 1), ("copy_file_range", 100, 500, 1), ("sendfile", 1000, 200, 1), ("sendfile", 600, 300, 1),
           ("splice", 1200, 400, 1), ("sendfile", 1600, 50, 1), ("read", 1650, 8, 1)], "the reading halves")
    equal(accesses(events, "copy"),
          [("copy_file_range", 0, 1000, 0), ("copy_file_range", 5000, 500, 0), ("sendfile", 1000, 200, 0), ("sendfile", 1200, 300, 0),
           ("splice", 5500, 400, 1), ("write", 1500, 8, 1)], "the writing halves, that count no call unless they are alone")
    equal([(e["name"], e["errno"]) for e in events if e.get("errno")], [("copy_file_range", 22)], "a failure")


def moved(directory):
    """{file: (bytes read, bytes written)}, as the summary has them."""
    done = dftmerge("summary", "--json", "--by", "file,class", directory)
    equal(done.code, 0, "exit code of dftmerge summary")
    found = collections.defaultdict(lambda: [0, 0])
    for group in json.loads(done.out)["groups"]:
        if group["file"] and group["class"] in ("read", "write"):
            found[group["file"].rsplit("/", 1)[-1]][group["class"] == "write"] += group["bytes"]
    return {name: tuple(entry) for name, entry in found.items() if any(entry)}


WHERE = {
    "flushed": [("fprintf", 3100, 2000, 1), ("fputs", 8100, 2000, 1)],
    "reread": [("fprintf", None, 10000, 2000), ("fgets", 0, 5, 1), ("fread", 305, 10, 1), ("fscanf", 4093, 1, 1), ("fgets", 4094, 1, 1)],
    "long_items": [*(("fprintf", i, 5000, 1) for i in range(0, 50000, 5000)), ("fgetc", 0, 1, 1), ("fscanf", 1, 8999, 1), ("fgets", 9010, 19, 1), ("fscanf", 9029, 5100, 2),
                   ("fscanf", 14130, 5000, 1), ("fscanf", 19130, 4096, 1), ("fgetc", 23226, 1, 1), ("fscanf", 23227, 8292, 2), ("fread", 31519, 10, 1),
                   ("fscanf", 31529, 8392, 3)],
}


UNLOCKED = {  # what each mode of unlocked.c reads and writes; where the stream's buffer is lost, what the kernel got
    "copy": {"in": (20000, 0), "out": (0, 20000)},
    "die": {"in": (20000, 0), "out": (0, 16384)},
    "leave": {"out": (0, 100)},
    "append": {"log": (0, 5014), "both": (1000, 3011)},
    "printed": {"out": (0, 205), "printed": (0, 68)},
    "turned": {"turned": (5022, 6011)},
    "reopened": {"out": (0, 500), "second": (0, 201), "third": (0, 300), "fourth": (500, 500)},
    "ranged": {"out": (0, 110), "second": (0, 305), "third": (0, 7)},
    "forked": {"in": (5055, 0), "out": (0, 11110)},
    "twice": {"twice": (1510, 6125)},
    "threads": {"in": (20000, 0), "out": (0, 20000)},
    "measured": {"wide": (12000, 12000), "words": (0, 15000)},
    "flushed": {"flushed": (1, 20000)},
    "reread": {"reread": (4095, 10000)},
    "freed": {"in": (3, 0)},
    "long_items": {"long_items": (39921, 50000)},
}


def test_inlined_characters_without_a_known_offset(directory):
    program = compile_program("unlocked.c", directory / "unlocked", "-Wno-unused-result", "-lpthread")
    for mode, expected in UNLOCKED.items():
        for aggregates in (0, 1):
            work, out = directory / f"{mode}{aggregates}", directory / f"{mode}{aggregates}.out"
            work.mkdir()
            (work / "in").write_bytes(b"x" * 20000)
            env = tracing(out / "trace", DATA_DIR=work, ENABLE_AGGREGATION=aggregates)
            with open(work / "in", "rb") as given, open(work / "out", "ab") as taken:
                subprocess.run([program, mode], cwd=work, env=env, stdin=given, stdout=taken, check=mode != "die")
            equal(moved(out), expected, f"{mode}, {'aggregates' if aggregates else 'events'}: bytes read and written of each file")


def test_threads_that_print_and_flush_put_no_characters(directory):
    """Where another thread is between a look at the stream and its call, the stream looks as if inlined code had moved
    it."""
    program = compile_program("unlocked.c", directory / "unlocked", "-Wno-unused-result", "-lpthread")
    for turn in range(15):
        out = directory / f"out{turn}"
        equal(run([program, "shared"], cwd=directory, env=tracing(out / "trace", DATA_DIR=directory)).code, 0, "exit code")
        counted = collections.Counter()
        for event in dump(out):
            if event["file"].endswith("/shared"):
                counted[event["name"]] += event.get("calls", 1)
        equal(counted, {"fopen": 1, "fprintf": 80000, "fflush": 12000, "fclose": 1}, f"calls of run {turn + 1}")
        shutil.rmtree(out)


def test_where_calls_among_inlined_characters_happen(directory):
    program = compile_program("unlocked.c", directory / "unlocked", "-Wno-unused-result", "-lpthread")
    for mode, expected in WHERE.items():
        work = directory / mode
        work.mkdir()
        (work / "in").write_bytes(b"x" * 20000)
        equal(run([program, mode], cwd=work, env=tracing(directory / f"{mode}.out" / "trace", DATA_DIR=work)).code, 0, mode)
        found = [a for a in accesses(dump(directory / f"{mode}.out"), mode) if a[0] not in ("putc", "getc")]
        equal(found, expected, f"{mode}: calls that are seen, their offsets, bytes and numbers")


def test_sizes_of_calls_that_are_given_none(directory):
    program = compile_program("unlocked.c", directory / "unlocked", "-Wno-unused-result", "-lpthread")
    equal(run([program, "vforked"], cwd=directory, env=tracing(directory / "out" / "trace", DATA_DIR=directory)).code, 0, "exit code")
    equal([(e["name"], e["size"], e["bytes"]) for e in dump(directory / "out") if e["name"] in ("fprintf", "fwrite")],
          [("fprintf", 2, 2), ("fwrite", 4, 4)], "a vfork child's calls, their sizes and bytes")


FILTERS = ("cut -c1-3", "cut -d3 -f1", "paste -", "uniq", "nl", "fold -w3", "tr 1 2", "od -c", "sort", "fmt", "expand", "unexpand -a", "wc",
           "pr -t", "comm - in2", "join - in2", "csplit -s - 9", "tac", "sum", "base64", "split -l 9000", "awk {print}", "sed s/1/2/",
           "grep 1", "head -n 9", "tail -n 9", "numfmt --invalid=ignore", "tsort")


def test_filters_are_counted_as_the_kernel_does(directory):
    """Whole programs that were redirected: what they wrote is there to be measured; they read to the end but those that say so."""
    (directory / "in").write_text("".join(f"{i}\n" for i in range(10000, 20000)))
    (directory / "in2").write_bytes((directory / "in").read_bytes())
    size = (directory / "in").stat().st_size
    for number, command in enumerate(FILTERS):
        name = command.split()[0]
        if not shutil.which(name):
            continue
        work, out = directory / f"work{number}", directory / f"out{number}"
        work.mkdir()
        (work / "in2").symlink_to(directory / "in2")
        (work / "log").write_bytes(b"before\n")
        with open(directory / "in", "rb") as given, open(work / "log", "ab") as taken:
            subprocess.run(command.split(), cwd=work, env=tracing(out / "trace", DATA_DIR=directory), stdin=given, stdout=taken,
                           stderr=subprocess.DEVNULL, check=False)
        found = moved(out)
        equal(found.get("log", (0, 0))[1], (work / "log").stat().st_size - 7, f"{command}: bytes written")
        if name not in ("head", "tail"):
            equal(found.get("in", (0, 0))[0], size, f"{command}: bytes read")


def test_both_halves_ask_for_the_same(directory):
    """Both halves of a transfer are filed under the size that was asked for, however little was there."""
    source = """
import os
open("from", "wb").write(bytes(1000))
a, b = os.open("from", os.O_RDONLY), os.open("to", os.O_WRONLY | os.O_CREAT)
os.sendfile(b, a, 0, 1 << 20)
os.copy_file_range(a, b, 5 << 30, 100, 0)
"""
    answers = []
    for rows in (0, 1):
        work = directory / f"run{rows}"
        work.mkdir()
        done = run([sys.executable, "-S", "-c", source], cwd=work, env=tracing(directory / f"out{rows}" / "t", DATA_DIR=work, ENABLE_AGGREGATION=rows))
        equal((done.code, done.err), (0, b""), "exit code and standard error")
        groups = json.loads(dftmerge("summary", "--json", "--by", "name,class,size", directory / f"out{rows}").out)["groups"]
        answers.append({(g["name"], g["class"], g["size"]): (g["count"], g["bytes"], g["asked"]) for g in groups
                        if g["name"] in ("sendfile", "copy_file_range")})
    equal(answers[1], answers[0], "name, class, size: calls, bytes, asked")
    equal(answers[0], {("sendfile", "read", "1 MiB-4 MiB"): (1, 1000, 1 << 20), ("sendfile", "write", "1 MiB-4 MiB"): (0, 1000, 1 << 20),
                       ("copy_file_range", "read", "1 GiB or more"): (1, 900, 5 << 30),
                       ("copy_file_range", "write", "1 GiB or more"): (0, 900, 5 << 30)}, "name, class, size: calls, bytes, asked")
    halves = [e for e in dump(directory / "out0") if e["name"] in ("sendfile", "copy_file_range")]
    equal([e["size"] for e in halves], [1 << 20] * 2 + [5 << 30] * 2, "sizes of the events")
