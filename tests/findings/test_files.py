#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Findings by file: each has a program that plants the trouble, and one beside it that must stay silent."""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from told import told_once  # noqa: E402
from tracing import DFTMERGE, LIBRARY, Tests, environment, equal, need, run, run_checked, tracing, true  # noqa: E402

tests = Tests()
MIB = 1 << 20


def compiled(directory, source, *flags):
    need("gcc")
    output = directory / source.partition(".")[0]
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", output, HERE / "programs" / source, *flags])
    return output


def prepare(directory, small=0, letters=0, size=0):
    """The files that the program reads: many/f_#.txt, tree/*/*.txt, all.bin, app.conf."""
    for name in ("many", "out", *(f"tree/{letter}" for letter in "abcde")):
        (directory / name).mkdir(parents=True, exist_ok=True)
    for i in range(small):
        (directory / f"many/f_{i}.txt").write_bytes(bytes(200))
    for i in range(letters):
        name = "".join(chr(97 + i // n % 26) for n in (676, 26, 1))
        (directory / f"tree/{'abcde'[i % 5]}/{name}.txt").write_bytes(bytes(200))
    (directory / "all.bin").write_bytes(bytes(size))
    (directory / "app.conf").write_bytes(bytes(8))


def traced(directory, trouble, number, slow=None, **settings):
    """Runs the program; the answer of dftmerge findings."""
    env = tracing(directory / "traces/t", **settings)
    if slow:
        library = compiled(directory, "slow_calls.c", "-shared", "-fPIC", "-ldl")
        env.update(LD_PRELOAD=f"{LIBRARY}:{library}", **{name: str(value) for name, value in slow.items()})
    run_checked([compiled(directory, "files.c"), trouble, number], cwd=directory, env=env)
    return findings_of(directory / "traces")


def findings_of(traces, *options):
    return told_once(traces, json.loads(run_checked([DFTMERGE, "findings", "--json", *options, traces]).out))


def found(answer):
    return {finding["code"]: finding for finding in answer["findings"]}


def silent(answer, *codes):
    equal([finding for finding in answer["findings"] if finding["code"] in codes], [], "findings that must not be")


# --- the planted program ----------------------------------------------------------------------------------------------


@tests.case
def slow_program(directory):
    program = compiled(directory, "slow.c")
    (directory / "w").mkdir()
    run_checked([program, directory / "w", "prepare"])
    run_checked([program, directory / "w", "run"], env=tracing(directory / "traces/t", STACK=4))
    (directory / "rules").write_text("any.share = 0.1 %\n")  # a slow fsync makes all else small
    answer = findings_of(directory / "traces", "--rules", directory / "rules")
    findings = found(answer)

    small = findings["small-files"]
    equal((small["where"], small["files"], small["calls"]), (f"{directory}/w/in/many/f_#.txt", 20000, 100000), "small files")
    true("20,000 files of 200 B, 100,000 calls (5 a file), " in small["evidence"], small["evidence"])
    true(re.search(r"slow\.c:[78]\d$", small["line"]), small["line"])

    missing = findings["missing"]
    equal((missing["errors"], missing["files"]), (20000, 20000), "missing files")
    true(missing["evidence"].startswith("20,000 stats failed (ENOENT) in 4 directories, 3 of which probably do not exist"),
         missing["evidence"])
    true(missing["evidence"].endswith(", 5,000 in 1 more"), missing["evidence"])
    true(re.search(r"slow\.c:64$", missing["line"]), missing["line"])

    reopened = findings["reopened"]
    equal((reopened["where"], reopened["calls"], reopened["files"]), (f"{directory}/w/etc/app.conf", 10000, 1), "reopened")
    true("10,000 opens by one process, 8 B each, never changed between" in reopened["evidence"], reopened["evidence"])
    true(re.search(r"slow\.c:48$", reopened["line"]), reopened["line"])
    silent(answer, "metadata", "reread", "random")  # that time is told already


@tests.case
def slow_program_from_aggregates(directory):
    program = compiled(directory, "slow.c")
    (directory / "w").mkdir()
    run_checked([program, directory / "w", "prepare"])
    run_checked([program, directory / "w", "run"], env=tracing(directory / "traces/t", ENABLE_AGGREGATION=1))
    (directory / "rules").write_text("any.share = 0.1 %\n")  # a slow fsync makes all else small
    answer = findings_of(directory / "traces", "--rules", directory / "rules")
    many = [finding for finding in answer["findings"] if "in/many" in (finding["where"] or "")]
    told = [finding["code"] for finding in many] or answer["findings_not_looked_for"]  # it depends on what was told apart
    true("small-files" in told or "metadata" in told, f"in/many: {told}")
    true(len(many) <= 1, f"in/many is told once: {many}")
    silent(answer, "reopened")
    true("reopened" in answer["findings_not_looked_for"], answer["findings_not_looked_for"])
    true("record events" in answer["findings_why_not"], answer["findings_why_not"])


# --- one trouble at a time --------------------------------------------------------------------------------------------


@tests.case
def small_files(directory):
    prepare(directory, small=3000)
    finding = found(traced(directory, "small", 3000))["small-files"]
    equal((finding["files"], finding["bytes"], finding["calls"]), (3000, 600000, 12000), "files, bytes and calls")


@tests.case
def small_files_that_are_mapped(directory):
    prepare(directory, small=3000)
    answer = traced(directory, "map_small", 3000)
    finding = found(answer)["small-files"]
    equal((finding["files"], finding["bytes"]), (3000, 600000), "files and bytes")
    silent(answer, "metadata")


@tests.case
def small_files_from_aggregates(directory):
    prepare(directory, small=150)
    finding = found(traced(directory, "small", 150, ENABLE_AGGREGATION=1))["small-files"]
    equal((finding["where"], finding["bytes"], finding["calls"]), (f"{directory}/many", 30000, 600), "bytes and calls")
    true(finding["files"] >= 100, finding)


@tests.case
def small_files_of_a_tree(directory):
    prepare(directory, letters=2000)
    finding = found(traced(directory, "tree", 2000))["small-files"]
    equal((finding["where"], finding["files"]), (f"{directory}/tree", 2000), "where, and how many")


@tests.case
def small_files_in_a_container_are_silent(directory):
    prepare(directory, size=600000)
    silent(traced(directory, "container", 3000), "small-files", "metadata", "missing", "reopened", "reread", "random")


@tests.case
def missing_files(directory):
    prepare(directory)
    finding = found(traced(directory, "missing", 3000))["missing"]
    equal(finding["errors"], 3000, "calls")
    true("3,000 stats failed (ENOENT) in 1 directory, 1 of which probably does not exist" in finding["evidence"],
         finding["evidence"])


@tests.case
def missing_files_from_aggregates(directory):
    prepare(directory)
    finding = found(traced(directory, "missing", 3000, ENABLE_AGGREGATION=1))["missing"]
    equal(finding["errors"], 3000, "calls")


@tests.case
def files_that_are_there_are_not_missing(directory):
    prepare(directory, small=3000)
    silent(traced(directory, "there", 3000), "missing", "reopened", "small-files")


@tests.case
def files_that_are_made_then_are_not_missing(directory):
    prepare(directory)
    silent(traced(directory, "create", 3000), "missing")


@tests.case
def files_that_others_are_renamed_to_are_not_missing(directory):
    prepare(directory)
    silent(traced(directory, "rename", 3000), "missing")


@tests.case
def a_file_opened_again(directory):
    prepare(directory)
    answer = traced(directory, "reopen", 3000)
    finding = found(answer)["reopened"]
    equal((finding["calls"], finding["sure"]), (3001, "high"), "opens")
    silent(answer, "reread", "metadata", "small-files")


@tests.case
def a_file_kept_open_is_silent(directory):
    prepare(directory)
    silent(traced(directory, "keep", 3000), "reopened", "metadata", "small-files")


@tests.case
def a_metadata_storm(directory):
    prepare(directory, small=500)
    finding = found(traced(directory, "storm", 20))["metadata"]
    true(finding["calls"] >= 10000, f"calls: {finding}")
    true("stat" in finding["evidence"] and finding["sure"] == "medium", finding)


@tests.case
def seeks_in_one_file(directory):
    prepare(directory)
    answer = traced(directory, "seek", 20000)
    finding = found(answer)["seeks"]
    equal((finding["title"], finding["where"], finding["calls"]), ("many seeks", f"{directory}/app.conf", 20000), "what, and where")
    true(finding["evidence"].startswith("app.conf: 20,000 seeks, "), finding["evidence"])
    silent(answer, "metadata")


@tests.case
def a_few_seeks_are_silent(directory):
    prepare(directory)
    silent(traced(directory, "seek", 500), "seeks", "metadata")


@tests.case
def accesses_at_offsets_without_seeks_are_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "in_order", 2000), "seeks")


@tests.case
def a_few_metadata_calls_are_silent(directory):
    prepare(directory, small=20)
    silent(traced(directory, "storm", 20), "metadata")


@tests.case
def data_read_again(directory):
    prepare(directory, size=16 * MIB)
    finding = found(traced(directory, "again", 10))["reread"]
    equal((finding["bytes"], finding["where"]), (160 * MIB, f"{directory}/all.bin"), "bytes")
    true("160 MiB read, but at most 16.0 MiB of it differ (10.0 times)" in finding["evidence"], finding["evidence"])


@tests.case
def data_read_once_are_silent(directory):
    prepare(directory, size=64 * MIB)
    silent(traced(directory, "again", 1), "reread", "random")


@tests.case
def random_access(directory):
    prepare(directory, size=8 * MIB)
    finding = found(traced(directory, "random", 500, slow={"SLOW_READ_US": 200}))["random"]
    true(finding["calls"] >= 450 and finding["cost_ns"] >= 450 * 200000, f"calls and cost: {finding}")


@tests.case
def ordered_access_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "in_order", 500, slow={"SLOW_READ_US": 200}), "random", "reread")


@tests.case
def random_access_to_memory_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "random", 50000), "random")


@tests.case
def misaligned_access(directory):
    prepare(directory, size=8 * MIB)
    finding = found(traced(directory, "misaligned", 400, slow={"SLOW_READ_US": 50, "SLOW_INSIDE_US": 2000}))["misaligned"]
    equal((finding["calls"], finding["where"]), (200, f"{directory}/all.bin"), "calls and file")
    true(finding["cost_ns"] >= 200 * 1000000, f"cost: {finding}")


@tests.case
def misaligned_access_that_is_as_fast_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "misaligned", 400, slow={"SLOW_READ_US": 300}), "misaligned", "random")


@tests.case
def a_mapped_file_is_noted(directory):
    prepare(directory, size=32 * MIB)
    answer = traced(directory, "map", 1)
    true(answer["findings_notes"].startswith("32.0 MiB mapped: all.bin; reads of it are not seen"), answer["findings_notes"])
    silent(answer, "mapped")


@tests.case
def a_small_mapped_file_is_not_noted(directory):
    prepare(directory, size=4096)
    true("mapped" not in (traced(directory, "map", 1)["findings_notes"] or ""), "no note")


# --- several troubles at the same files -------------------------------------------------------------------------------


def mixed(directory, what, aggregates):
    """Runs the program in a directory whose name has a digit."""
    work = directory / "run7"
    work.mkdir(exist_ok=True)
    program = compiled(directory, "mixed.c")
    run_checked([program, work, "prepare"])
    settings = {"ENABLE_AGGREGATION": 1} if aggregates else {}
    run_checked([program, work, what], cwd=work, env=tracing(directory / f"traces{aggregates}/t", **settings))
    return findings_of(directory / f"traces{aggregates}")


def add_mixed(what, codes):
    @tests.case
    def case(directory):
        for aggregates in (0, 1):
            answer = mixed(directory, what, aggregates)
            for finding in answer["findings"]:
                true(not re.search("[:;] *[;:]|;  |^[;:]", finding["evidence"]), f"empty words: {finding}")
                true("run#" not in (finding["where"] or "") + finding["evidence"], f"a number that never varies stays: {finding}")
            if not aggregates:
                equal(set(found(answer)) & codes, codes, f"found with {what}: {answer['findings']}")

    case.__name__ = f"mixed_{what}"


for what, codes in (("reread", {"small-reads"}), ("reopen", {"reopened"}), ("twelve", {"small-files"}), ("sync", {"fsync"}),
                    ("stats", {"metadata"}), ("later", {"metadata"}), ("flush", {"flush"}), ("rows", {"small-reads"}),
                    ("one_of_eight", {"reopened"}), ("streams", {"small-files"})):
    add_mixed(what, codes)


if __name__ == "__main__":
    sys.exit(tests.main())
