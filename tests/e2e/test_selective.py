# SPDX-License-Identifier: MIT
"""Rules and limits: what becomes an event, while every call is counted all the same."""

import collections
import json
import os
import sys
import time

import pytest

from steady import Steady
from tracing import ROOT, SECONDS, compile_program, dftmerge, equal, run, tracing, true

COUNT = 5000


def events(out):
    """What is there of single events: dump says so when there is none."""
    done = dftmerge("dump", "--json", out)
    true(done.code == 0 or b"there are no single events here" in done.err, f"{done}")
    return [json.loads(line) for line in done.out.splitlines()]


def run_mixed(directory, name, rules=None, count=COUNT, **settings):
    """What the program says it did, the events that were kept, and what the summary counts: by name."""
    program = directory / "mixed_calls"
    if not program.exists():
        compile_program("mixed_calls.c", program, f"-I{ROOT / 'include'}")
    work, out = directory / f"work-{name}", directory / name
    work.mkdir()
    if rules is not None:
        (directory / f"{name}.yaml").write_text(rules.replace("WORK", str(work)))
        settings.update(AGGREGATION_TYPE="SELECTIVE", AGGREGATION_FILE=directory / f"{name}.yaml")
    done = run([program, work, count], env=tracing(out / "t", DATA_DIR=directory, **settings))
    if b"cannot read YAML" in done.err:
        pytest.skip("built without libyaml")
    equal((done.code, done.err), (0, b""), f"{name}: the program")
    kept = collections.Counter()
    for event in events(out):
        kept[event["name"]] += event.get("calls", 1)
    summary = json.loads(dftmerge("summary", "--json", "--by", "name", out).out)
    equal(summary["dropped"], {}, f"{name}: nothing is lost")
    counted = {group["name"]: group["count"] for group in summary["groups"]}
    said = json.loads(done.out)
    equal({call: counted.get(call) for call in said}, said, f"{name}: what the summary counts")
    return said, {call: kept.get(call, 0) for call in said}, out


def without(said, *names):
    return {call: 0 if call in names else count for call, count in said.items()}


def test_all_events_without_rules(directory):
    said, kept, _ = run_mixed(directory, "all")
    equal(kept, said, "events")


def test_rules_about_names(directory):
    said, kept, _ = run_mixed(directory, "name", "inclusion: [\"name == 'pread'\"]\n")
    equal(kept, without(said, "pread"), "one name")
    said, kept, _ = run_mixed(directory, "list", "inclusion: ['name IN {pread, stat}', \"name LIKE 'wri%'\"]\n")
    equal(kept, without(said, "pread", "stat", "write"), "several rules")
    said, kept, _ = run_mixed(directory, "excluded", "inclusion: ['cat == posix']\nexclusion: ['name == fsync']\n")
    equal(kept, without({**said}, *(set(said) - {"fsync", "step", "pause"})), "exclusion")
    said, kept, _ = run_mixed(directory, "regions", "inclusion: [\"cat == 'app' AND name == 'step'\"]\n")
    equal(kept, without(said, "step"), "regions")


def test_rules_about_times_and_errors(directory):
    said, kept, _ = run_mixed(directory, "slow", "inclusion: ['dur < 10min']\n")
    equal(kept, without(said, *said), "nothing is as slow as that")
    said, kept, _ = run_mixed(directory, "fast", "inclusion: ['dur > 10min']\n")
    equal(kept, said, "all is faster")
    said, kept, _ = run_mixed(directory, "errors", "inclusion: ['errno == 0']\n")
    equal(kept, {**without(said, *said), "stat": said["stat"], "step": said["step"], "pause": 1}, "failures, and what has no errno")
    said, kept, out = run_mixed(directory, "some", "inclusion: ['dur < 3us']\n")
    true(all(event["dur"] >= 2990 for event in events(out)), "slow ones alone")


def test_rules_about_files_and_sizes(directory):
    said, kept, out = run_mixed(directory, "file", "inclusion: [\"file LIKE 'WORK/%' AND NOT file == 'WORK/b'\"]\n")
    files = {event["name"]: event.get("file", "")[-2:] for event in events(out) if event["name"] in ("open", "write", "fsync")}
    equal((kept["pread"], kept["stat"], kept["write"], kept["fsync"], kept["open"]), (0, 0, said["write"], 1, 1), "events")
    equal(set(files.values()), {"/b"}, "files of events")
    said, kept, _ = run_mixed(directory, "size", "inclusion: ['size <= 64']\n")
    equal(kept, without(said, "pread"), "sizes")
    said, kept, _ = run_mixed(directory, "offset", "inclusion: ['name == pread AND offset >= 2K']\n")
    true(0 < kept["pread"] < said["pread"], f"offsets: {kept}")


def test_settings_of_the_child_are_those_of_the_parent(directory):
    (directory / "rules.yaml").write_text("inclusion: ['name == read']\n")
    env = tracing(directory / "out" / "t", AGGREGATION_TYPE="SELECTIVE", AGGREGATION_FILE=directory / "rules.yaml")
    script = f"import os; os.fork() or os.read(os.open('{ROOT / 'CMakeLists.txt'}', 0), 5); os.wait() if os.getpid() == {0} else 0"
    done = run([sys.executable, "-c", script], env=env)
    if b"cannot read YAML" in done.err:
        pytest.skip("built without libyaml")
    processes = json.loads(dftmerge("ps", "--json", directory / "out").out)["processes"]
    true(len(processes) > 1, "a child")
    for process in processes:
        equal({(span["keep"], span["why"]) for span in process["kept"]}, {("selected events", "settings")}, "what is kept")
    true("read" not in {event["name"] for event in events(directory / "out")}, "no reads")


def stretches(out):
    [process] = json.loads(dftmerge("ps", "--json", out).out)["processes"]
    kept = process["kept"]
    for one, other in zip(kept, kept[1:]):
        equal(one["to_ns"], other["from_ns"], "one stretch after the other")
    return [(span["keep"], span["why"]) for span in kept]


def test_a_limit_of_bytes_stops_events(directory):
    limit = 200000
    said, kept, out = run_mixed(directory, "bytes", count=60000, MAX_TRACE_BYTES=limit)
    equal(stretches(out), [("events", "settings"), ("aggregates", "bytes")], "what was kept")
    true(0 < kept["pread"] < said["pread"], f"events: {kept}")
    size = sum(os.path.getsize(out / name) for name in os.listdir(out))
    true(limit // 2 < size < limit + 16384, f"{size} bytes")
    said, kept, out = run_mixed(directory, "enough", MAX_TRACE_BYTES=100000000)
    equal((kept, stretches(out)), (said, [("events", "settings")]), "a limit that is not reached")


def check_counts(program, reads):
    """Whatever was kept, all calls are counted. Returns how many reads were kept as events."""
    equal(program.end(), 0, "exit status")
    summary = json.loads(dftmerge("summary", "--json", "--by", "name", program.place).out)
    equal(next(group["count"] for group in summary["groups"] if group["name"] == "pread"), reads, "counted reads")
    return sum(event.get("calls", 1) for event in events(program.place) if event["name"] == "pread")


def test_a_limit_of_cost_changes_to_aggregates(directory):
    """Preads of 100 bytes, until they are found too dear, however long a busy machine takes for that: events always
    cost more than 1 % of them."""
    with Steady(directory, MAX_OVERHEAD_PERCENT=1) as program:
        blocks, end, kept = 0, time.monotonic() + SECONDS, []
        while len(kept) <= 1 and time.monotonic() < end:
            program.do("r 100000")  # before the program has begun there is no trace
            blocks += 1
            kept = stretches(program.place)
        equal(stretches(program.place)[:2], [("events", "settings"), ("aggregates", "overhead")], "what was kept")
        program.do("r 5")
        kept = check_counts(program, blocks * 100000 + 5)
        true(0 < kept < blocks * 100000, f"{kept} events")


def test_a_limit_of_cost_that_is_not_reached_changes_nothing(directory):
    """Most of the processor time is the program's own, so events never cost 100 % of it."""
    with Steady(directory, MAX_OVERHEAD_PERCENT=100) as program:
        program.do("r 20000")
        for _ in range(2):
            program.do("b 1100")
            program.do("r 20000")
        equal(check_counts(program, 60000), 60000, "events")
        equal(stretches(program.place), [("events", "settings")], "what was kept")


def test_aggregates_alone_are_told(directory):
    _, kept, out = run_mixed(directory, "alone", ENABLE_AGGREGATION=1)
    equal((set(kept.values()), stretches(out)), ({0}, [("aggregates", "settings")]), "no events")
