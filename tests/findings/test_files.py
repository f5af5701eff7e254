# SPDX-License-Identifier: MIT
"""Findings by file: each has a program that plants the trouble, and one beside it that must stay silent."""

import pathlib
import re
import sys

import pytest

from told import surely, told_once
from tracing import LIBRARY, answer_of, equal, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20


def compiled(directory, source, *flags):
    need("gcc")
    output = directory / source.partition(".")[0]
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", output, HERE / "programs" / source, *flags])
    return output


SEEKS = """
#include <stdio.h>
int main(void)
{
    char record[200];
    FILE *in = fopen("all.bin", "r");
    for (long i = 0; i < 30000; i++) {
        fseek(in, i * 7919 % 30000 * 200, SEEK_SET);
        if (!fread(record, sizeof record, 1, in))
            return 1;
    }
    return fclose(in);
}
"""


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


def prepared(directory):
    prepare(directory)
    return directory


def traced(directory, trouble, number, slow=None, program="files.c", **settings):
    """Runs the program; the answer of dftmerge findings."""
    env = tracing(directory / "traces/t", **settings)
    if slow:
        library = compiled(directory, "slow_calls.c", "-shared", "-fPIC", "-ldl")
        env.update(LD_PRELOAD=f"{LIBRARY}:{library}", **{name: str(value) for name, value in slow.items()})
    run_checked([compiled(directory, program), trouble, number], cwd=directory, env=env)
    return findings_of(directory / "traces")


def findings_of(traces, *options):
    return told_once(traces, answer_of("findings", *options, traces))


def found(answer):
    return {finding["code"]: finding for finding in answer["findings"]}


def silent(answer, *codes):
    equal([finding for finding in answer["findings"] if finding["code"] in codes], [], "findings that must not be")


# --- the planted program ----------------------------------------------------------------------------------------------


def test_slow_program(directory):
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


def test_slow_program_from_aggregates(directory):
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


def test_small_files(directory):
    prepare(directory, small=3000)
    finding = found(traced(directory, "small", 3000))["small-files"]
    equal((finding["files"], finding["bytes"], finding["calls"]), (3000, 600000, 12000), "files, bytes and calls")


def test_small_files_that_are_mapped(directory):
    prepare(directory, small=3000)
    answer = traced(directory, "map_small", 3000)
    finding = found(answer)["small-files"]
    equal((finding["files"], finding["bytes"]), (3000, 600000), "files and bytes")
    silent(answer, "metadata")


def test_small_files_from_aggregates(directory):
    prepare(directory, small=150)
    finding = found(traced(directory, "small", 150, ENABLE_AGGREGATION=1))["small-files"]
    equal((finding["where"], finding["bytes"], finding["calls"]), (f"{directory}/many", 30000, 600), "bytes and calls")
    true(finding["files"] >= 100, finding)


def test_a_file_that_aggregates_do_not_tell_apart(directory):
    """It is opened again and again: these may be many files, or one."""
    for i in range(100):
        (directory / f"f{i}").write_text("1")
    script = "for i in range(100): open(f'f{i}').read()\nfor i in range(20000): open('f99').read()\n"
    run_checked([sys.executable, "-c", script], cwd=directory,
                env=tracing(directory / "traces/t", ENABLE_AGGREGATION=1, DATA_DIR="all"))
    finding = found(findings_of(directory / "traces"))["small-files"]
    equal((finding["title"], finding["sure"]), ("small files, many or again and again", "medium"), f"{finding}")
    true("Where they are few: keep them open" in finding["advice"], finding["advice"])


def test_small_files_of_a_tree(directory):
    prepare(directory, letters=2000)
    finding = found(traced(directory, "tree", 2000))["small-files"]
    equal((finding["where"], finding["files"]), (f"{directory}/tree", 2000), "where, and how many")


def test_small_files_in_a_container_are_silent(directory):
    prepare(directory, size=600000)
    silent(traced(directory, "container", 3000), "small-files", "metadata", "missing", "reopened", "reread", "random")


def test_missing_files(directory):
    prepare(directory)
    finding = found(traced(directory, "missing", 3000))["missing"]
    equal(finding["errors"], 3000, "calls")
    true("3,000 stats failed (ENOENT) in 1 directory, 1 of which probably does not exist" in finding["evidence"],
         finding["evidence"])


def test_missing_files_from_aggregates(directory):
    prepare(directory)
    finding = found(traced(directory, "missing", 3000, ENABLE_AGGREGATION=1))["missing"]
    equal(finding["errors"], 3000, "calls")


def summary_of_file(traces, file):
    groups = answer_of("summary", "--by", "file", traces)["groups"]
    return next((group for group in groups if group["file"] == file), {"errors": 0})


def test_files_anywhere_from_aggregates(directory):
    """A thread keeps some files apart. What is looked up of the others is found all the same, or is said to be
    unknown."""
    def look_up(path, where):
        for i in range(200):
            (where / f"d{i}").mkdir(parents=True)
            (where / f"d{i}/in").write_text("1")
        script = (f"import os\nfor i in range(200): open(f'd{{i}}/in').read()\nos.chdir('/usr')\n"
                  f"for i in range(40000): os.access('{path}', 0)\n")
        run_checked([sys.executable, "-c", script], cwd=where, env=tracing(where / "t/t", ENABLE_AGGREGATION=1, DATA_DIR="all"))
        return findings_of(where / "t")

    answer = look_up(".", directory / "there")
    true("metadata" in found(answer) and "below /: " in found(answer)["metadata"]["evidence"], answer)
    answer = look_up("nowhere", directory / "lost")
    unknown = summary_of_file(directory / "lost/t", "//")["errors"]
    true("metadata" not in found(answer), answer)
    if unknown >= 39900:
        true("missing" in answer["findings_not_looked_for"] and "missing" not in found(answer), answer)
    else:  # in some runs, by its hashes and times, the thread still has room for /usr
        true("/usr" in found(answer)["missing"]["where"] and found(answer)["missing"]["calls"] + unknown >= 40000, answer)


def test_files_that_are_there_are_not_missing(directory):
    prepare(directory, small=3000)
    silent(traced(directory, "there", 3000), "missing", "reopened", "small-files")


def test_files_that_are_made_then_are_not_missing(directory):
    prepare(directory)
    silent(traced(directory, "create", 3000), "missing")


def test_files_that_others_are_renamed_to_are_not_missing(directory):
    prepare(directory)
    silent(traced(directory, "rename", 3000), "missing")


def test_a_file_opened_again(directory):
    prepare(directory)
    traced(directory, "reopen", 3000)
    answer = findings_of(directory / "traces", "--rules", surely(directory))
    finding = found(answer)["reopened"]
    equal((finding["calls"], finding["sure"]), (3001, "high"), "opens")
    silent(answer, "reread", "metadata", "small-files")


def test_a_file_kept_open_is_silent(directory):
    prepare(directory)
    silent(traced(directory, "keep", 3000), "reopened", "metadata", "small-files")


def test_a_metadata_storm(directory):
    prepare(directory, small=500)
    finding = found(traced(directory, "storm", 20))["metadata"]
    true(finding["calls"] >= 10000, f"calls: {finding}")
    true("stat" in finding["evidence"] and finding["sure"] == "medium", finding)


def changed(directory, what, number, slow_us=0, **settings):
    """Runs the program that changes files, on a file system whose unlink, rename and ftruncate take so long."""
    return traced(directory, what, number, {"SLOW_CHANGE_US": slow_us} if slow_us else None, "changes.c", **settings)


def both(directory, what, number, slow_us):
    """From events, and from aggregates: each in a folder of its own."""
    for aggregates in (0, 1):
        place = directory / f"aggregates{aggregates}"
        place.mkdir()
        prepare(place, small=100)
        yield place, changed(place, what, number, slow_us, **({"ENABLE_AGGREGATION": 1} if aggregates else {}))


def test_large_files_that_are_removed(directory):
    for place, answer in both(directory, "remove_large", 4, 100000):
        finding = found(answer)["removal"]
        equal((finding["title"], finding["calls"], finding["files"]), ("large files removed", 4, 4), "removals")
        true("4 removals of files of 2.00 MiB" in finding["evidence"] and finding["cost_ns"] >= 400_000_000, finding)
        true("Remove large files less often" in finding["advice"], finding["advice"])
        silent(answer, "metadata", "seeks")


def test_large_files_that_are_renamed_over(directory):
    for place, answer in both(directory, "rename_over", 10, 50000):
        finding = found(answer)["removal"]
        equal((finding["title"], finding["calls"]), ("large files renamed over others", 10), "renames")
        silent(answer, "metadata", "saves", "small-files")


def test_a_large_file_that_is_truncated(directory):
    answer = changed(prepared(directory), "cut", 20, 20000)
    finding = found(answer)["removal"]
    equal((finding["title"], finding["where"], finding["calls"]), ("large files truncated", f"{directory}/out/data", 20), "truncates")
    true("Write over the old data" in finding["advice"], finding["advice"])
    silent(answer, "metadata", "growth")


def test_a_large_file_that_grows(directory):
    answer = changed(prepared(directory), "grow", 20, 20000)
    finding = found(answer)["growth"]
    equal((finding["where"], finding["calls"]), (f"{directory}/out/data", 20), "truncates")
    silent(answer, "metadata", "removal")


def test_a_name_that_is_saved_again_and_again(directory):
    for what in ("save", "save_same"):
        place = directory / what
        place.mkdir()
        answer = changed(prepared(place), what, 1000)
        finding = found(answer)["saves"]
        equal((finding["where"], finding["bytes"]), (f"{place}/out/state.json", 2_000_000), "where, and how much")
        true("saved 1,000 times" in finding["evidence"] and "Save less often" in finding["advice"], finding)
        silent(answer, "small-files", "reopened", "metadata")
    place = directory / "aggregates"
    place.mkdir()
    advice = found(changed(prepared(place), "save", 300, ENABLE_AGGREGATION=1))["small-files"]["advice"]
    true("save it less often" in advice, advice)


def test_files_that_are_renamed_apart_are_no_saves(directory):
    answer = changed(prepared(directory), "rename_apart", 1000)
    silent(answer, "saves")
    true("small-files" in found(answer), answer["findings"])


def test_copies_through_temporary_files(directory):
    prepare(directory, size=32 * MIB)
    finding = found(changed(directory, "stages", 1))["copies"]
    equal((finding["files"], finding["bytes"]), (2, 64 * MIB), "temporary files")
    true("out/result.bin is as large; and 1 more temporary file" in finding["evidence"], finding["evidence"])


def test_a_checkpoint_that_is_read_again_is_no_copy(directory):
    prepare(directory, size=2 * MIB)
    silent(changed(directory, "restart", 1), "copies")
    place = directory / "benchmark"
    place.mkdir()
    silent(changed(prepared(place), "benchmark", 20), "copies")


def test_missing_files_are_named_where_they_cost(directory):
    prepare(directory)
    slow = {"SLOW_STAT_US": 2000, "SLOW_STAT_IN": "many"}
    finding = found(traced(directory, "miss", 400, slow, "changes.c"))["missing"]
    equal(finding["where"], f"{directory}/many", "where")
    true("; 100 in many, 300 in out" in finding["evidence"], finding["evidence"])


def test_a_whole_file_read_for_each_record(directory):
    prepare(directory, size=MIB)
    answer = traced(directory, "records", 300, program="changes.c")
    finding = found(answer)["reread"]
    equal((finding["title"], finding["bytes"]), ("a whole file read again and again", 300 * MIB), "what, and how much")
    true("all of it each of the 300 times that it is opened" in finding["evidence"], finding["evidence"])
    silent(answer, "reopened")


def test_the_head_of_a_file_is_no_whole_file(directory):
    prepare(directory, size=MIB)
    finding = found(traced(directory, "heads", 3000, program="changes.c"))["reread"]
    equal((finding["title"], finding["bytes"]), ("the same data read again", 6000 * 64 * 1024), "what, and how much")
    true("375 MiB read, but at most 64.0 KiB of it differ (6,000x)" in finding["evidence"], finding["evidence"])


def test_a_storm_is_named_by_its_time(directory):
    words = {"list": ("listings", "List a directory once"), "ask": ("lookups that fail", "Do not ask before"),
             "make": ("open and close", "Keep files open"), "remove_all": ("removals", "Have fewer files")}
    for what, (word, advice) in words.items():
        place = directory / what
        place.mkdir()
        prepare(place, small=2000)
        slow = {"ask": {"SLOW_STAT_US": 1000, "SLOW_STAT_IN": "out"}, "remove_all": {"SLOW_CHANGE_US": 1000}}.get(what)
        finding = found(traced(place, what, 1000, slow, "changes.c"))["metadata"]
        true(re.search(rf"; of the time [0-9.]+ % {word}(,|$)", finding["evidence"]), f"{what}: {finding}")
        true(finding["advice"].startswith(advice), f"{what}: {finding['advice']}")


def test_seeks_in_one_file(directory):
    prepare(directory)
    answer = traced(directory, "seek", 20000)
    finding = found(answer)["seeks"]
    equal((finding["title"], finding["where"], finding["calls"]), ("many seeks", f"{directory}/app.conf", 20000), "what, and where")
    true(finding["evidence"].startswith("app.conf: 20,000 seeks, "), finding["evidence"])
    silent(answer, "metadata")


def test_a_bound_has_the_longest_seek_too(directory):
    prepare(directory)
    finding = found(traced(directory, "seek", 200000, {"SLOW_SEEK_US": 300000}))["seeks"]
    true(finding["cost_ns"] >= 300_000_000 and finding["sure"] == "high", finding)


def test_a_stream_that_seeks_reads_blocks(directory):
    prepare(directory, size=8 * MIB)
    need("gcc")
    (directory / "seeks.c").write_text(SEEKS)
    run_checked(["gcc", "-o", directory / "seeks", directory / "seeks.c"])
    run_checked([directory / "seeks"], cwd=directory, env=tracing(directory / "traces/t"))
    finding = found(findings_of(directory / "traces"))["seeks"]
    equal(finding["sure"], "medium", f"how sure: {finding}")
    true("its seek reads a block" in finding["why_sure"], finding["why_sure"])


def test_a_few_seeks_are_silent(directory):
    prepare(directory)
    silent(traced(directory, "seek", 500), "seeks", "metadata")


def test_accesses_at_offsets_without_seeks_are_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "in_order", 2000), "seeks")


def test_a_few_metadata_calls_are_silent(directory):
    prepare(directory, small=20)
    silent(traced(directory, "storm", 20), "metadata")


def test_data_read_again(directory):
    prepare(directory, size=16 * MIB)
    finding = found(traced(directory, "again", 10))["reread"]
    equal((finding["bytes"], finding["where"]), (160 * MIB, f"{directory}/all.bin"), "bytes")
    true("160 MiB read, but at most 16.0 MiB of it differ (10x)" in finding["evidence"], finding["evidence"])


def test_data_read_once_are_silent(directory):
    prepare(directory, size=64 * MIB)
    silent(traced(directory, "again", 1), "reread", "random")


def test_random_access(directory):
    prepare(directory, size=8 * MIB)
    finding = found(traced(directory, "random", 500, slow={"SLOW_READ_US": 200}))["random"]
    true(finding["calls"] >= 450 and finding["cost_ns"] >= 450 * 200000, f"calls and cost: {finding}")


def test_ordered_access_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "in_order", 500, slow={"SLOW_READ_US": 200}), "random", "reread")


def test_blocks_that_are_written_where_they_were_read(directory):
    """Each write goes back to where the read began: that is no random place, if the reads are in order."""
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "in_place", 500, slow={"SLOW_US": 200}), "random")


def test_random_blocks_that_are_written_where_they_were_read(directory):
    prepare(directory, size=8 * MIB)
    finding = found(traced(directory, "random_in_place", 500, slow={"SLOW_US": 200}))["random"]
    true(finding["calls"] >= 450, f"calls: {finding}")


def test_writes_in_order_between_reads_are_silent(directory):
    """The reads go back to the head of the file. Memory answers them, and the writes that are slow are in order."""
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "behind_head", 500, slow={"SLOW_US": 200}), "random")


def test_random_access_to_memory_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "random", 50000), "random")


def test_misaligned_access(directory):
    prepare(directory, size=8 * MIB)
    finding = found(traced(directory, "misaligned", 400, slow={"SLOW_READ_US": 50, "SLOW_INSIDE_US": 2000}))["misaligned"]
    equal((finding["calls"], finding["where"]), (200, f"{directory}/all.bin"), "calls and file")
    true(finding["cost_ns"] >= 200 * 1000000, f"cost: {finding}")


def test_misaligned_access_that_is_as_fast_is_silent(directory):
    prepare(directory, size=8 * MIB)
    silent(traced(directory, "misaligned", 400, slow={"SLOW_READ_US": 300}), "misaligned", "random")


def test_a_mapped_file_is_noted(directory):
    prepare(directory, size=32 * MIB)
    answer = traced(directory, "map", 1)
    true(answer["findings_notes"].startswith("32.0 MiB mapped: all.bin; reads of it are not seen"), answer["findings_notes"])
    silent(answer, "mapped")


def test_a_small_mapped_file_is_not_noted(directory):
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


@pytest.mark.parametrize("what, codes", (("reread", {"small-reads"}), ("reopen", {"reopened"}), ("twelve", {"small-files"}), ("sync", {"fsync"}),
                                         ("stats", {"metadata"}), ("later", {"metadata"}), ("flush", {"flush"}), ("rows", {"small-reads"}),
                                         ("one_of_eight", {"reopened"}), ("streams", {"small-files"})))
def test_mixed(directory, what, codes):
    for aggregates in (0, 1):
        answer = mixed(directory, what, aggregates)
        for finding in answer["findings"]:
            true(not re.search("[:;] *[;:]|;  |^[;:]", finding["evidence"]), f"empty words: {finding}")
            true("run#" not in (finding["where"] or "") + finding["evidence"], f"a number that never varies stays: {finding}")
        if not aggregates:
            equal(set(found(answer)) & codes, codes, f"found with {what}: {answer['findings']}")
