# SPDX-License-Identifier: MIT
"""dftmerge anonymize: a program full of planted names, recorded in many ways. No name is left anywhere, and all answers
are the same."""

import json
import re

import pytest

from tracing import DFTMERGE, ROOT, compile_program, dftmerge, equal, run, run_checked, tracing, true

import anonymized

QUESTIONS = (("summary", "--all", "--json"), ("findings", "--json"), ("ranks", "--json"), ("ps", "--json"), ("counters", "--json"),
             ("lineage", "--json"), ("overlap", "--json"), ("layers", "--json"), ("timeline", "--json"), ("summary", "--json", "--by", "ext"),
             ("summary", "--json", "--by", "pattern"), ("summary", "--json", "--by", "mount"), ("summary", "--json", "--by", "role"))
KEY = re.compile("process-[0-9a-f]{16}")
PLANTED = b"uux"  # in any case of the first letter


def record(directory, name, *more, **settings):
    program, folder, out = directory / "planted", directory / f"Quux-{name}", directory / name
    if not program.exists():
        compile_program("planted.c", program, f"-I{ROOT / 'include'}")
    folder.mkdir()
    env = tracing(out / "Quuxtrace", DATA_DIR="all:pipe:socket:", JOB_ID="Quux4711", RUN_ID="Quuxrun", RANK=3, **settings)
    equal(run([program, folder, *more], env=env).code, -9 if more else 0, "exit code")
    return out


def anonymize(directory, source):
    key, out = directory / "key", directory / f"{source.name}-out"
    if not key.exists() and dftmerge("anonymize", "--new-key", key).code:
        pytest.skip("built without libsodium")
    table = directory / f"{source.name}.table"
    run_checked([DFTMERGE, "anonymize", "-q", "--key", key, "--table", table, "-o", out, source])
    return out, anonymized.read_table(table)


def difference(before, after, table, without=()):
    """A word around a mark is cut in pieces, and stays so."""
    after = json.dumps(anonymized.canonical(after, table, without)).replace("Quux_fetch", "Quuxfetch")
    texts = [KEY.sub("process-", text) for text in (json.dumps(before), after)]
    before, after = (anonymized.canonical(json.loads(text), None, without) for text in texts)
    return anonymized.difference(before, after)


def no_name_is_left(out):
    for path in out.iterdir():
        true(path.suffix == ".dft" and PLANTED not in path.name.encode(), f"name of {path.name}")
        for part in anonymized.inflated(path):
            true(PLANTED not in part and b"planted" not in part, f"a planted name in {path.name}: "
                 f"{part[max(0, part.find(PLANTED) - 40):][:80]!r}")
    for question in (("dump",), ("dump", "--json"), ("ps",), ("debug", "stat", "--json"), ("check",), ("summary", "--all")):
        said = dftmerge(*question, out).out
        true(PLANTED not in said and b"planted" not in said, f"a planted name in {question}")


def answers_are_the_same(source, out, table):
    """But for the paths and keys of traces, and for what is said of live files, which are recovered on the way."""
    without = ("notes", "recovered", "live_file", "key", "parent_key", "trace")
    for question in QUESTIONS:
        before, after = (json.loads(dftmerge(*question, path).out) for path in (source, out))
        if question[0] == "ps":
            for found in (before, after):
                for process in found["processes"]:
                    process.pop("file")
        equal(difference(before, after, table, without), "", f"{question}")


def events_are_the_same(source, out, table):
    before, after = ([json.loads(line) for line in dftmerge("dump", "--json", path).out.splitlines()] for path in (source, out))
    for event in before + after:
        event.pop("stack", None)  # names of functions come from files of this machine
    equal(difference(before, after, table), "", "events")


def holds(directory, source):
    out, table = anonymize(directory, source)
    no_name_is_left(out)
    answers_are_the_same(source, out, table)
    events_are_the_same(source, out, table)
    expected = anonymized.Hashes(directory / "key")
    for token, text in table.items():
        equal(token, expected.of_token(token, text), f"hash of {text!r}")
    return out, table


def test_of_a_program(directory):
    out, table = holds(directory, record(directory, "plain", STACK=8))
    events = [json.loads(line) for line in dftmerge("dump", "--json", out).out.splitlines()]
    files = {event.get("file", "") for event in events}
    expected = anonymized.Hashes(directory / "key")
    folder = "/".join(expected.name(part.encode()) for part in [*directory.parts[2:], "Quux-plain"])
    for name in ("Quux.h5", "part-Quux-0001.csv", "Quux.tar.gz", "libQuux.so.1.2", ".Quuxrc"):
        stem, points, extension = name.strip(".").partition({"Quux.tar.gz": ".gz", "libQuux.so.1.2": ".so.1.2"}.get(name, "." + name.split(".")[-1]))
        if name == ".Quuxrc":
            stem, points, extension = "Quuxrc", "", ""
        hashed = "." * name.startswith(".") + expected.name(stem.encode()) + points + extension
        true(f"/tmp/{folder}/{hashed}" in files or not str(directory).startswith("/tmp/"), f"{name}: {hashed} of {sorted(files)}")
    true(any(file.startswith("pipe:[") for file in files) and any(file.startswith("socket:[") for file in files), "pipes and sockets")
    deep = max(files, key=lambda file: file.count("/"))
    equal((deep.count("/"), set(deep.split("/")[1:])), (818, {expected.word(b"Quux")}), "the longest path")
    region = next(event for event in events if event["name"].endswith(" 7") and event["cat"] != "POSIX")
    true("_fetch_" in region["name"] and region["args"]["epoch"] == "3" and region["args"]["step"] == 7, f"{region}")


def test_addresses_of_machines(directory):
    """Their short numbers do not stay, as those of versions do."""
    directory.joinpath("libx.so.1.2.3").write_text("x")
    names = [directory / name for name in ("libx.so.1.2.3", "192.168.17.23", "node-192.168.17.23", "a.192.168.17.23", "192.168.17.23.log", "192.168.17.23:80")]
    run(["cat", *names], env=tracing(directory / "in" / "t", ROLE="rank 7 of 192.168.17.23:80", DATA_DIR=f"{directory}:192.168.17.23"))
    out, _ = anonymize(directory, directory / "in")
    said = dftmerge("dump", "--json", out).out + dftmerge("ps", "--json", out).out
    true(not re.search(rb"192[.]168|[.]168[.]|[.]17[.]23", said), "no part of an address is left")
    true(b".so.1.2.3" in said and b"rank 7 of " in said, "versions and counts are")


def test_of_a_killed_program(directory):
    source = record(directory, "killed", "killed")
    true(list(source.glob("*.live")), "a live file")
    holds(directory, source)
    true(list(source.glob("*.live")), "what is read is not touched")


def test_of_aggregates_alone(directory):
    holds(directory, record(directory, "rows", ENABLE_AGGREGATION=1))


def test_of_merged_traces_and_groups(directory):
    source = record(directory, "plain")
    (directory / "merged").mkdir()
    run_checked([DFTMERGE, "merge", "-q", "-o", directory / "merged" / "all.dft", source])
    holds(directory, directory / "merged")
    run_checked([DFTMERGE, "merge", "-q", "-o", directory / "groups", "--group", "Quuxgroup: path=*Quux*; meta: class=meta", source])
    out, table = anonymize(directory, directory / "groups")
    no_name_is_left(out)
    events_are_the_same(source, out, table)
