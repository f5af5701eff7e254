# SPDX-License-Identifier: MIT
"""Findings about remote file systems and the page cache: each has a program that plants the trouble, and one beside it
that must stay silent. The file systems are slow by a preloaded library, and remote by what the traces say of them."""

import json
import pathlib
import re

import pytest

from remount import remount
from told import told_once
from tracing import LIBRARY, answer_of, dftmerge, equal, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
CALLS = 500


def compiled(directory, source, *flags):
    need("gcc")
    output = directory / source.partition(".")[0]
    if not output.exists():
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", output, HERE / "programs" / source, *flags])
    return output


def traced(directory, place, trouble, number=CALLS, slow_us=0, small=0, size=8 * MIB, **settings):
    """Runs the program in a folder of its own, that of a mount point."""
    work = directory / place
    (work / "many").mkdir(parents=True, exist_ok=True)
    for i in range(small):
        (work / f"many/f_{i}.txt").write_bytes(bytes(200))
    (work / "all.bin").write_bytes(bytes(size))
    (work / "app.conf").write_bytes(bytes(8))
    library = compiled(directory, "slow_calls.c", "-shared", "-fPIC", "-ldl")
    env = tracing(directory / "traces" / place, **settings)
    env.update(LD_PRELOAD=f"{LIBRARY}:{library}", SLOW_READ_US=str(slow_us))
    run_checked([compiled(directory, "files.c"), trouble, number], cwd=work, env=env)
    return directory / "traces"


def answer(traces, *options):
    return told_once(traces, answer_of("findings", *options, traces))


def found(directory, kind, *options):
    """The findings, where the folder `far` is the mount point of such a file system."""
    remount(directory / "traces", {"/": "ext4", str(directory / "far"): kind})
    return {finding["code"]: finding for finding in answer(directory / "traces", *options)["findings"]}


def says(finding, pattern):
    true(re.search(pattern, finding["evidence"]), f"{pattern!r} is not in: {finding['evidence']}")


# --- remote file systems ----------------------------------------------------------------------------------------------


def test_calls_on_a_network(directory):
    traced(directory, "far", "in_order", slow_us=200)
    traced(directory, "near", "in_order")
    finding = found(directory, "nfs4")["mount"]
    equal((finding["where"], finding["title"], finding["sure"]),
          (f"{directory}/far", "calls on a network file system", "high"), "where, what and how sure")
    true(CALLS * 190000 <= finding["cost_ns"] and CALLS <= finding["calls"] <= CALLS + 20, f"cost and calls: {finding}")
    says(finding, rf"/far \(nfs4\): 50\d calls that no other finding has, 1\.95 MiB, .* each; "
                  r"most costly pread: 500 calls of 4\.00 KiB, \S+ us each, on / \(ext4\) \S+ [nu]s")


def test_calls_on_a_network_with_nothing_to_compare(directory):
    traced(directory, "far", "in_order", slow_us=200)
    finding = found(directory, "lustre")["mount"]
    equal(finding["sure"], "medium", "how sure")
    true("20.0 us a call and 500 MiB/s" in finding["why_sure"], finding["why_sure"])
    true(CALLS * 170000 <= finding["cost_ns"], f"cost: {finding}")


def test_calls_through_fuse(directory):
    traced(directory, "far", "in_order", slow_us=200)
    equal(found(directory, "fuse.sshfs")["mount"]["title"], "calls on a FUSE file system", "what")


def test_calls_on_a_network_from_aggregates(directory):
    traced(directory, "far", "in_order", slow_us=200, ENABLE_AGGREGATION=1)
    finding = found(directory, "nfs4")["mount"]
    says(finding, r"most costly read: 500 calls of 4\.00 KiB")


def test_slow_calls_on_a_local_file_system_are_silent(directory):
    traced(directory, "far", "in_order", slow_us=200)
    for kind in ("ext4", "fuseblk", "nfsd"):
        true("mount" not in found(directory, kind), f"a finding on {kind}")


def test_fast_calls_on_a_network_are_silent(directory):
    traced(directory, "far", "again", 8, size=32 * MIB)
    true("mount" not in found(directory, "nfs4"), "a finding")


def test_few_calls_on_a_network_are_silent(directory):
    traced(directory, "far", "in_order", 50, slow_us=200)
    true("mount" not in found(directory, "nfs4"), "a finding")


def test_limits_are_the_users(directory):
    traced(directory, "far", "in_order", 50, slow_us=200)
    (directory / "rules").write_text("mount.calls = 10\n")
    true("mount" in found(directory, "nfs4", "--rules", directory / "rules"), "fewer calls are wanted")
    (directory / "rules").write_text("mount.calls = 10\nmount.latency = 1 s\n")
    true("mount" not in found(directory, "nfs4", "--rules", directory / "rules"), "a slow file system is wanted")


def test_what_other_findings_have_is_silent(directory):
    traced(directory, "far", "small", 3000, small=3000)
    findings = found(directory, "nfs4")
    true("small-files" in findings and "mount" not in findings, f"findings: {sorted(findings)}")


def test_missing_files_on_a_network_are_silent(directory):
    traced(directory, "far", "missing", 3000)
    findings = found(directory, "nfs4")
    true("missing" in findings and "mount" not in findings, f"findings: {sorted(findings)}")


def test_random_access_on_a_network_is_told_once(directory):
    traced(directory, "far", "random", slow_us=200)
    findings = found(directory, "nfs4")
    true("random" in findings and "mount" not in findings, f"findings: {sorted(findings)}")


# --- the page cache ---------------------------------------------------------------------------------------------------


def test_data_from_memory_are_noted(directory):
    traces = traced(directory, "near", "again", 10, size=16 * MIB)
    note = answer(traces)["findings_notes"] or ""
    true(re.search(r"of 160 MiB read, storage gave \S+ \w+: memory had the rest", note), f"note: {note}")


def test_a_little_from_memory_is_not_noted(directory):
    traces = traced(directory, "near", "again", 10, size=MIB)
    true("storage" not in (answer(traces)["findings_notes"] or ""), "no note")


def test_what_is_not_counted_is_not_noted(directory):
    traces = traced(directory, "near", "again", 10, size=16 * MIB, SYSTEM_METRICS=0)
    true("storage" not in (answer(traces)["findings_notes"] or ""), "no note without samples")


def test_what_the_kernel_does_not_count_is_not_noted(directory):
    traces = traced(directory, "far", "again", 10, size=16 * MIB)
    for kind, is_noted in (("lustre", False), ("nfs4", True), ("zfs", False)):
        remount(traces, {"/": "ext4", str(directory / "far"): kind})
        equal("storage gave" in (answer(traces)["findings_notes"] or ""), is_noted, f"a note on {kind}")


def test_data_from_storage_are_counted(directory):
    traces = traced(directory, "near", "drop", 1, size=32 * MIB)
    counted = json.loads(dftmerge("counters", "--json", traces).out)["counters"]
    if not any(line.get("name") == "read_bytes" and line.get("change", 0) >= 32 * MIB for line in counted):
        pytest.skip("the files of this machine do not come from storage that the kernel counts")
    true("storage" not in (answer(traces)["findings_notes"] or ""), "as much as was read")
    (directory / "rules").write_text("cache.factor = 0.5\n")
    note = answer(traces, "--rules", directory / "rules")["findings_notes"] or ""
    true(re.search(r"storage gave \S+ MiB for 32\.\d MiB read \(1\.\d times\)", note), f"note: {note}")
