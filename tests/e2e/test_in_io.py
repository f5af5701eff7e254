# SPDX-License-Identifier: MIT
"""What is in I/O: every command, view and reader gives one number for the same trace. Two ranks do I/O of every class,
and wait for a lock, for a child, and in shared memory, which is none."""

import pathlib
import subprocess
import sys

import reportpage
from tracing import (BUILD, DFTMERGE, answer_of, compile_program, dump, environment, equal,
                     run_checked, tracing, true)

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = ("none", "read", "write", "sync", "meta", "wait", "startup")
IO = set(WORDS) - {"none", "wait"}
RANKS = 2
LONGER = 50_000_000  # what is waited for takes longer than all I/O


def traced(directory, **settings):
    program, place = directory / "in_io", directory / "work"
    if not program.exists():
        compile_program("in_io.c", program, f"-I{ROOT / 'include'}", "-ldl")
        place.mkdir()
    traces = directory / f"traces{len(list(directory.glob('traces*')))}"
    for rank in range(RANKS):
        run_checked([program, place], env={**tracing(traces / "t", **settings), "OMPI_COMM_WORLD_RANK": str(rank),
                                           "OMPI_COMM_WORLD_SIZE": str(RANKS), "PMIX_NAMESPACE": "job"})
    return traces


def rows(traces, query):
    return answer_of("sql", traces, query)


def groups(traces, by, *options):
    return answer_of("summary", traces, "--by", by, *options)["groups"]


def truth(traces):
    """By rank: the time of calls of these classes, event by event, or class by class where there are no events."""
    events = dump(traces, expect=None)
    by_rank = {rank: sum(e["dur"] for e in events if e["rank"] == rank and e["class"] in IO) for rank in range(RANKS)}
    classes = groups(traces, "rank,class")
    from_rows = {rank: sum(g["time_ns"] for g in classes if g["rank"] == rank and g["class"] in IO) for rank in range(RANKS)}
    if events:
        equal(from_rows, by_rank, "classes and events")
        true(all(any(e["class"] == c for e in events) for c in WORDS), "calls of every class")
    waits = sum(g["time_ns"] for g in classes if g["class"] == "wait")
    true(waits > LONGER * RANKS and sum(from_rows.values()) > 0, f"waits of {waits} ns, {from_rows} in I/O")
    return from_rows


def summaries(traces, by_rank):
    whole = sum(by_rank.values())
    equal({g["rank"]: g["io_ns"] for g in groups(traces, "rank")}, by_rank, "summary --by rank")
    for by in ("process", "job", "run", "host", "role", "program", "pid", "tid", "region", "name", "class", "rank,name", "time"):
        for options in ((), ("--events",)):
            equal(sum(g["io_ns"] for g in groups(traces, by, *options)), whole, f"summary --by {by} {options}")
    equal({g["class"]: g["io_ns"] for g in groups(traces, "class")},
          {g["class"]: g["time_ns"] * (g["class"] in IO) for g in groups(traces, "class")}, "a class is in I/O, or it is not")
    every = answer_of("summary", traces, "--all")
    equal(sum(g["time_ns"] for g in every["classes"] if g["class"] in IO), whole, "summary --all")
    equal(sum(g["io_ns"] for g in every["by_rank"]), whole, "summary --all, by rank")


def tables(traces):
    """On the screen the head and each table say it in the same words."""
    wide = environment(COLUMNS=250)
    head = run_checked([DFTMERGE, traces], env=wide).out.decode()
    said = next(line for line in head.splitlines() if line.startswith("I/O ")).split(" = ")[0].removeprefix("I/O   ")
    for by in ("job", "host", "role", "run", "program", "rank", "process", "pid"):
        table = run_checked([DFTMERGE, "summary", "--by", by, traces], env=wide).out.decode()
        lines = table[table.index("I/O of groups"):].splitlines()
        true("in I/O" in lines[1] and said in lines[-2], f"{said} in the last line of --by {by}: {table}")


def others(traces, by_rank, has_events):
    whole = sum(by_rank.values())
    equal(sum(p["io_ns"] for p in answer_of("ps", traces)["processes"]), whole, "ps")
    equal({r["rank"]: r["io_ns"] for r in answer_of("ranks", traces)["ranks"]}, by_rank, "ranks")
    equal(sum(r["read_ns"] + r["write_ns"] + r["metadata_ns"] for r in answer_of("ranks", traces)["ranks"]), whole, "ranks, by kind")
    equal(sum(i["time_ns"] for i in answer_of("timeline", traces)["intervals"]), whole, "timeline")
    equal(answer_of("top", traces, "--once")["total"]["time_ns"], whole, "top --once")
    if has_events:
        equal(answer_of("overlap", traces)["io_ns"], whole, "overlap")
        instances = answer_of("summary", traces, "--by", "instance", "--region", "all")["instances"]
        true(0 < sum(i["io_ns"] for i in instances) <= whole, "summary --by instance")


def views(traces, by_rank, has_events):
    whole = sum(by_rank.values())

    def seconds(query):
        return round(sum(next(iter(row.values())) for row in rows(traces, query)) * 1e9 / 1000)

    for query in ("select io_s from by_rank", "select io_s from by_host"):
        true(abs(seconds(query) - whole / 1000) <= RANKS, f"{query}: {seconds(query)} us of {whole} ns")
    examples = run_checked([DFTMERGE, "sql", "--examples"]).out.decode()
    example = next(text for text in examples.split(";\n") if "as io_s" in text)
    found = rows(traces, example)
    true(abs(sum(row["io_s"] for row in found) * 1e9 - whole) < 1000 * len(found) + 1000, f"{example}: {found} of {whole} ns")
    equal(rows(traces, "select sum(dur) as n from rows where is_io")[0]["n"], whole, "rows")
    if has_events:
        equal(rows(traces, "select sum(dur) as n from events where is_io")[0]["n"], whole, "events")
        waits = {row["name"] for row in rows(traces, "select name from slowest_calls")} & {"flock", "waitpid", "fork"}
        equal(waits, set(), "slowest_calls")


def page_and_reader(traces, by_rank):
    """The data of the page to look at: the cells of its first cube; and the reader for Python."""
    whole = sum(by_rank.values())
    page = reportpage.read(run_checked([DFTMERGE, "report", "-o", "-", traces]).out)[0]
    cells, classes = page.table(page["cubes"][0]["table"]), page.table("calls")["class"]
    equal(sum(d for d, c in zip(cells["d"], cells["c"]) if WORDS[classes[c]] in IO), whole, "report")
    found = subprocess.run([sys.executable, "-c", "import sys, dftrace.trace; t = dftrace.trace.open(sys.argv[1]); "
                            "print(sum(g['io_ns'] for g in t.summary('process')), sum(p['io_ns'] for p in t.processes()))", str(traces)],
                           env=environment(PYTHONPATH=BUILD / "python", PATH=f"{DFTMERGE.parent}:/usr/bin:/bin"), stdout=subprocess.PIPE, check=True)
    equal([int(n) for n in found.stdout.split()], [whole] * 2, "the reader for Python")


def test_one_number(directory):
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        traces, has_events = traced(directory, **settings), not settings
        by_rank = truth(traces)
        summaries(traces, by_rank)
        tables(traces)
        others(traces, by_rank, has_events)
        views(traces, by_rank, has_events)
        page_and_reader(traces, by_rank)


def test_shells_wait(directory):
    """A shell that waits for what it runs leads no table of I/O."""
    run_checked(["sh", "-c", "sleep 0.3; :"], env=tracing(directory / "traces" / "t"))
    for by in ("job", "run", "process", "program"):
        found = groups(directory / "traces", by)
        text = run_checked([DFTMERGE, "summary", "--by", by, directory / "traces"], env=environment(COLUMNS=250)).out.decode()
        true(sum(g["io_ns"] for g in found) * 2 < sum(g["time_ns"] for g in found), found)
        true("in I/O" in text and "wait" not in text, text)
