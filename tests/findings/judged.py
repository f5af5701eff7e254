#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs patterns of I/O whose trouble is known by construction, and says which of it the findings name.

    judged.py [NAME...]    one line a scenario; then precision, recall and F1 over the dimensions of trouble

A run is right when exactly the dimensions of its label are named. Findings that no dimension has (reread, seeks,
exposed-io) are not counted against it. Needs mpicc and mpirun; DFT_BUILD is the folder of the build."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", HERE.parents[1] / "build")).resolve()

DIMENSIONS = {
    "granularity": {"one-byte", "small-reads", "small-writes", "stream", "misaligned"},
    "pattern": {"random", "strided"},
    "metadata": {"metadata", "missing", "reopened"},
    "interface": {"no-collective", "collective"},
    "strategy": {"small-files", "file-explosion", "contention"},
    "parallelism": {"imbalance", "straggler", "serial-phase", "slow-worker", "aggregators"},
    "throughput": {"fsync", "flush", "mount", "direct"},
}
DIMENSION_OF = {code: dimension for dimension, codes in DIMENSIONS.items() for code in codes}

Scenario = collections.namedtuple("Scenario", "name ranks words labels")
SCENARIOS = [
    Scenario("small_512", 4, "ior t=512 b=65536 s=100 F e C", "granularity"),
    Scenario("small_direct", 4, "ior t=4096 b=1048576 s=40 F C D", "granularity"),
    Scenario("misaligned_7000", 4, "ior t=7000 b=7000000 s=10 F e C", "granularity"),
    Scenario("random_direct", 4, "ior t=4096 b=8388608 s=2 z e D", "pattern"),
    Scenario("random_512", 4, "ior t=512 b=4194304 s=5 F z e C", "pattern granularity"),
    Scenario("independent", 8, "ior mpi t=1048576 b=8388608 s=2 e C", "interface"),
    Scenario("file_a_rank", 16, "ior t=65536 b=1048576 s=4 F e C D", "strategy"),
    Scenario("fsync_each", 4, "ior t=65536 b=8388608 s=2 F e C Y", "throughput"),
    Scenario("ior_hard", 8, "ior t=47008 b=47008 s=400 e C", "granularity interface"),
    Scenario("md_storm", 4, "md n=5000", "metadata"),
    Scenario("md_small_files", 16, "md n=100 w=4096 u", "strategy"),
    Scenario("md_tree", 4, "md n=500 depth=3 branch=5", "metadata"),
    Scenario("one_does_more", 4, "more b=10485760 x=2 t=1048576", "parallelism"),
    Scenario("good_alike", 4, "more b=20971520 x=1 t=1048576", ""),
    Scenario("good_collective", 4, "ior mpi c t=4194304 b=33554432 s=1 e C", ""),
    Scenario("good_large", 4, "ior t=4194304 b=33554432 s=2 F e C D", ""),
    Scenario("good_few_files", 4, "md n=10 w=1048576 u", ""),
]

# The same kinds with other sizes, ranks and interfaces: what no rule was made by.
RELATIVES = [
    Scenario("small_2k_write", 8, "ior t=2048 b=131072 s=40 F e w", "granularity"),
    Scenario("small_shared", 4, "ior t=1000 b=1000 s=20000 e C", "granularity interface"),
    Scenario("page_direct", 2, "ior t=4096 b=4194304 s=8 F D", "granularity"),
    Scenario("random_64k", 4, "ior t=65536 b=16777216 s=4 F z e C D", "pattern"),
    Scenario("random_1m", 4, "ior t=1048576 b=67108864 s=1 z e C D", "pattern"),
    Scenario("mpi_64k_strided", 4, "ior mpi t=65536 b=65536 s=512 e C", "interface"),
    Scenario("posix_64k_strided", 8, "ior t=65536 b=65536 s=256 e C", "interface"),
    Scenario("file_a_rank_32", 32, "ior t=262144 b=1048576 s=1 F e C", "strategy"),
    Scenario("fsync_1m", 8, "ior t=1048576 b=16777216 s=1 F e C Y", "throughput"),
    Scenario("md_easy", 8, "md n=2000 u", "metadata"),
    Scenario("md_hard", 8, "md n=1000 w=3901", "strategy"),
    Scenario("three_times", 8, "more b=16777216 x=3 t=1048576", "parallelism"),
    Scenario("good_own_mpi", 4, "ior mpi F t=1048576 b=67108864 s=1 e", ""),
    Scenario("good_blocks", 4, "ior t=1048576 b=67108864 s=1 e C", ""),
    Scenario("good_collective_8", 8, "ior mpi c t=8388608 b=16777216 s=2 e C", ""),
    Scenario("good_alike_16", 16, "more b=10485760 x=1 t=1048576", ""),
    Scenario("good_own_2m", 8, "ior t=2097152 b=33554432 s=1 F e C", ""),
]


def scaled(words, factor):
    """As words, with so many times fewer segments, files and requests of a rank."""
    def fewer(word):
        name, _, value = word.partition("=")
        return f"{name}={max(1, int(value) // factor)}" if name in ("s", "n") else word
    return [fewer(word) for word in words.split()]


def mpirun(ranks):
    more = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", "--oversubscribe", *more, "--mca", "io", "romio321", "-n", str(ranks)]


def compiled(directory):
    program = directory / "patterns"
    subprocess.run(["mpicc", "-O1", "-D_GNU_SOURCE", "-o", program, HERE / "programs" / "patterns.c"], check=True)
    return program


def traced(scenario, program, directory):
    """Runs a scenario; the place of its traces."""
    work, traces = directory / scenario.name / "work", directory / scenario.name / "traces"
    work.mkdir(parents=True)
    traces.mkdir()
    words = scaled(scenario.words, int(os.environ.get("JUDGED_FEWER", 1)))
    place = work / "data" if words[0] == "ior" else work
    env = {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(traces / "t"), **(os.environ.get("JUDGED_ENV") and
           dict(pair.split("=", 1) for pair in os.environ["JUDGED_ENV"].split()) or {})}
    preload = f"LD_PRELOAD={BUILD / 'lib' / 'libdftrace.so'}"
    subprocess.run([*mpirun(scenario.ranks), "env", preload, program, *words, place], env=env, check=True, timeout=600,
                   stdout=subprocess.DEVNULL)
    return traces


def findings(traces, *options):
    """What is found, and what is at risk."""
    done = subprocess.run([BUILD / "bin" / "dftmerge", "findings", "--json", *options, traces], check=True, stdout=subprocess.PIPE)
    answer = json.loads(done.stdout)
    return answer["findings"] + answer["risks"]


def named(found):
    return {DIMENSION_OF[f["code"]] for f in found if f["code"] in DIMENSION_OF}


def main(names):
    keep = os.environ.get("JUDGED_KEEP")
    directory = pathlib.Path(keep or tempfile.mkdtemp())
    hits = invented = missed = 0
    program = compiled(directory)
    for scenario in SCENARIOS + RELATIVES:
        if names and scenario.name not in names:
            continue
        shutil.rmtree(directory / scenario.name, ignore_errors=True)
        found = findings(traced(scenario, program, directory))
        got, expected = named(found), set(scenario.labels.split())
        hits += len(got & expected)
        invented += len(got - expected)
        missed += len(expected - got)
        shares = " ".join(f"{f['code']}:{100 * f['cost_ns'] / f['of_ns']:.1f}%" if f.get("cost_ns") else f["code"] for f in found)
        print(f"{'right' if got == expected else 'WRONG':6}{scenario.name:18}{' '.join(sorted(expected)) or 'none':24}{shares}", flush=True)
    if not keep:
        shutil.rmtree(directory)
    precision, recall = (hits / (hits + n) if hits + n else 1 for n in (invented, missed))
    print(f"precision {precision:.2f}, recall {recall:.2f}, F1 {2 * precision * recall / (precision + recall or 1):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
