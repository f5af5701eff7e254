# SPDX-License-Identifier: MIT
"""Calls between two files: counted once, as reads; what they write are bytes without calls. And the law that holds for every call: an
answer from buckets is that from events."""

import itertools
import re
import json

from tracing import BUILD, ROOT, compile_program, dftmerge, equal, run_checked, traces, tracing, true

INTERVAL_NS = 10_000_000
TRANSFERS = "sendfile,copy_file_range,splice"
KEYS = ("call", "cat", "name", "region", "region,call", "op", "op,call", "class", "class,call", "class,rank", "region,class", "rank", "pid",
        "tid", "tid,op", "host", "program", "process", "time", "time,class", "time,op,call")
SOME_KEYS = ("call", "class", "op,rank", "region,class", "time,class")
FILE_KEYS = ("file", "file,class", "dir,op", "pattern,call")
ONLY_SWEPT = {"busy_union_ns", "in_flight_max"}


def program(directory):
    return compile_program("two_files.c", directory / "two_files", f"-I{ROOT / 'include'}", "-pthread", "-Wall", "-Wextra", "-Werror")


def summary(*arguments):
    done = dftmerge("summary", "--json", "-q", *arguments)
    equal((done.code, done.err), (0, b""), f"summary {arguments}")
    return json.loads(done.out)


def traced(directory, *arguments, **settings):
    """What the program says its calls between two files came to, of all its processes: (call, class) -> count, errors, bytes."""
    (directory / "out").mkdir()
    done = run_checked([program(directory), *arguments],
                       env=tracing(directory / "out" / "t", TRACE_INTERVAL_MS=INTERVAL_NS // 1_000_000, **settings))
    told = {}
    for line in done.out.decode().splitlines():
        call, kind, *numbers = line.split()
        told[(call, kind)] = tuple(map(sum, zip(told.get((call, kind), (0, 0, 0)), map(int, numbers))))
    return {key: numbers for key, numbers in told.items() if any(numbers)}


def seen(*arguments):
    """The same, as an answer has it."""
    groups = summary("--by", "name,class", "--name", TRANSFERS, *arguments)["groups"]
    for group in groups:
        if not group["count"]:  # bytes alone: no time, no call
            equal([group[key] for key in ("errors", "time_ns", "time_min_ns", "time_max_ns", "time_p50_ns")], [0, 0, None, None, None],
                  f"a group without calls: {group}")
    return {(g["name"], g["class"]): (g["count"], g["errors"], g["bytes"]) for g in groups}


def all_files(directory):
    (directory / "work").mkdir()
    return traced(directory, "all", directory / "work"), directory / "out"


def test_a_copy_is_read_once_and_written_once(directory):
    size = 3_000_000
    source, target = directory / "from", directory / "to"
    source.write_bytes(bytes(size))
    told = traced(directory, "copy", source, target)
    count = told[("sendfile", "read")][0]
    equal(told, {("sendfile", "read"): (count, 0, size), ("sendfile", "write"): (0, 0, size)}, "what the program says")
    out = directory / "out"
    for options in ((), ("--events",)):
        equal(seen(*options, out), told, f"both files {options}")
        equal(seen(*options, "--file", source, out), {("sendfile", "read"): (count, 0, size)}, f"--file FROM {options}")
        equal(seen(*options, "--file", target, out), {("sendfile", "write"): (0, 0, size)}, f"--file TO {options}")
        text = dftmerge(*options, out).out.decode()
        true("; 2.86 MiB read, 2.86 MiB written in " in text, f"{options}: {text}")
        text = dftmerge("--by", "class", *options, out).out.decode()
        true(all(re.search(rf"^{class_} .* 2\.86 MiB ", text, re.M) for class_ in ("read", "write")), f"{options}: {text}")
    done = dftmerge("summary", "--name", "sendfile", "--file", target, out)
    true(b"0 B read, 2.86 MiB written in 0 calls" in done.out and not done.err, f"bytes alone are an answer: {done}")
    of_file = {g["file"]: (g["count"], g["bytes"]) for g in summary("--by", "file", "--name", "sendfile", out)["groups"]}
    equal(of_file, {str(source): (count, size), str(target): (0, size)}, "--by file")


def test_every_call_between_two_files(directory):
    told, out = all_files(directory)
    for options in ((), ("--events",), ("--file", "*.from", "--file", "*.to")):
        equal(seen(*options, out), told, f"{options}")
    read, written = seen("--file", "*.from", out), seen("--file", "*.to", out)
    within = 7000 * 9  # copy_file_range from one place of a file to another one
    for call in TRANSFERS.split(","):
        count, errors, moved = told[(call, "read")]
        equal(read[(call, "read")], (count, errors, moved), f"{call}: read")
        equal(read.get((call, "write")), (0, 0, within) if call == "copy_file_range" else None, f"{call}: written within the file")
        true((call, "read") not in written, f"{call}: reads of what is written")
        count, errors, moved = told[(call, "write")]
        equal(written[(call, "write")], (count, errors, moved - (within if call == "copy_file_range" else 0)), f"{call}: written")


def test_aggregates_alone(directory):
    (directory / "work").mkdir()
    told = traced(directory, "all", directory / "work", ENABLE_AGGREGATION=1)
    equal(seen(directory / "out"), told, "from rows alone")
    groups = summary("--by", "file,class", "--file", "*.to", directory / "out")["groups"]
    moved = sum(numbers[2] for (_, kind), numbers in told.items() if kind == "write") - 7000 * 9
    equal(sum(g["bytes"] for g in groups if g["class"] == "write"), moved, "rows of files")


def test_exports_say_the_same(directory):
    told, out = all_files(directory)
    told = {key: numbers for key, numbers in told.items() if key[0] != "splice"}  # the form has no word for which way it goes
    again = directory / "again.pfw"
    run_checked([BUILD / "bin" / "dftmerge", "export", "--format", "pfw", "-o", again, out])
    for options in ((), ("--events",)):
        answer = seen("--no-index", *options, again)
        equal({key: answer.get(key) for key in told}, told, f"exported to pfw, and read again {options}")
    merged = directory / "merged.dft"
    run_checked([BUILD / "bin" / "dftmerge", "merge", "-o", merged, out])
    equal(seen(merged), seen(out), "merged")


# --- the law ------------------------------------------------------------------------------------------------------------


TRAITS = ("cat", "name", "region_cat", "region", "file", "dir", "pattern", "rank", "pid", "tid", "host", "program", "process", "t_ns", "op",
          "class")


def by_key(answer, question):
    groups = {json.dumps([g.get(key) for key in TRAITS]): g for g in answer["groups"]}
    equal(len(groups), len(answer["groups"]), f"{question}: groups, each once")
    return groups


def law(*question):
    """Both answers have the same groups with the same integers; what buckets cannot know is null."""
    rows, events = summary(*question), summary("--events", *question)
    a, b = by_key(rows, question), by_key(events, question)
    equal((rows["events"], sorted(a)), (events["events"], sorted(b)), f"{question}: events and groups")
    for key in a:
        for column, value in a[key].items():
            known = b[key][column]
            true(value == known or (value is None and (column in ONLY_SWEPT or column.startswith("time_p"))),
                 f"{question}: {key}: {column}: {value} from {rows['source']}, {known} from {events['source']}")
    return rows["source"], bool(a)


def on_the_grid(*paths):
    """Two times, in seconds from the start, where buckets begin."""
    facts = summary(*paths)
    first = facts["start_ns"] // INTERVAL_NS
    last = (facts["start_ns"] + facts["wall_ns"]) // INTERVAL_NS
    true(last - first >= 4, "the program takes several buckets")
    return [f"{(k * INTERVAL_NS - facts['start_ns']) / 1e9:.9f}" for k in (first + (last - first) // 3, first + (last - first) // 3 * 2)]


def all_questions(*paths, call, file, region):
    """Every key, and every filter with some keys: answered from buckets where these know, and at any rate alike."""
    low, high = on_the_grid(*paths)
    filters = (("--file", file), ("--name", call), ("--cat", "POSIX"), ("--cat", "STDIO,A*"), ("--name", call, "--file", file), ("--rank", "0"),
               ("--name", region), ("--from", low), ("--to", high), ("--from", low, "--to", high, "--name", call))
    asked = [law("--by", key, *paths) for key in KEYS + FILE_KEYS]
    equal({source for (source, _) in asked[:len(KEYS)]}, {"buckets", "events"}, "where answers come from")
    asked += [law("--by", key, *filter_, *paths) for key, filter_ in itertools.product(SOME_KEYS + FILE_KEYS[:1], filters)]
    true(sum(any_ for _, any_ in asked) > len(asked) / 2, "most questions have an answer")


def test_the_law_of_a_program(directory):
    _, out = all_files(directory)
    true(len(traces(out)) == 2, "two processes")
    all_questions(out, call=TRANSFERS, file="*.to", region="sending")


def test_the_law_of_made_traces(directory):
    run_checked([BUILD / "bin" / "make_traces", directory / "made", "ranks=1", "transfers=1", "events=600", "block=11", "slow=0",
                 f"interval_ms={INTERVAL_NS // 1_000_000}"])
    all_questions(directory / "made", call="sendfile", file="/data/in/*", region="solve")
