# SPDX-License-Identifier: MIT
"""Findings about ranks and MPI-IO: each has a program that plants the trouble, and one beside it that must stay
silent."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from told import told_once
from tracing import (BUILD, DFTMERGE, LIBRARY, SECONDS, environment, equal, need, run, run_checked, tracing,
                     true)

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 4
MPIRUN = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", RANKS]


def compiled(directory):
    """The program of a rank, and the slow file system."""
    need("gcc")
    for source, output, *flags in (("ranks.c", "ranks"), ("changes.c", "changes"), ("files.c", "files"), ("slow_calls.c", "slow.so", "-shared", "-fPIC", "-ldl")):
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", directory / output, HERE / "programs" / source, *flags])
    (directory / "out").mkdir()
    (directory / "lock").write_bytes(bytes(4096))


def planted(directory, *arguments, ranks=RANKS, pieces=None, settings=None, program="ranks", **slow):
    """Runs the ranks beside each other; the findings by code. pieces: of some ranks other than those of arguments."""
    compiled(directory)
    processes = []
    for rank in range(ranks):
        env = tracing(directory / "traces/t", **(settings or {}))
        env.update({k: str(v) for k, v in slow.items()}, LD_PRELOAD=f"{LIBRARY}:{directory}/slow.so",
                   OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE=str(ranks), PMIX_NAMESPACE="job")
        own = [str(a) for a in arguments]
        own[1] = str((pieces or {}).get(rank, own[1]))
        processes.append(subprocess.Popen([directory / program, *own], cwd=directory, env=env))
    equal([process.wait(SECONDS) for process in processes], [0] * ranks, "exit codes")
    return findings(directory)


def findings(directory, *options):
    done = run_checked([DFTMERGE, "findings", "--json", *options, directory / "traces"])
    return {finding["code"]: finding for finding in told_once(directory / "traces", json.loads(done.out))["findings"]}


def not_found(found, *codes):
    equal([code for code in codes if code in found], [], f"findings that must not be: {found}")


def test_a_straggler(directory):
    found = planted(directory, "out/data", 200, 4096, "own", SLOW_US=200, SLOW_RANK=2, SLOW_AFTER=80, SLOW_RANK_US=5000)
    finding = found["straggler"]
    equal((finding["rank"], finding["title"]), (2, "rank 2 is slow"), "which rank")
    equal(finding["where"], str(directory / "out"), "where")
    true(re.search(r"^rank 2 since \+[\d.]+ .?s in write below .*/out/: [\d.]+ ms a call against [\d.]+ .?s of the others; "
                   r"the job ran [\d.]+ .?s instead of [\d.]+ .?s$", finding["evidence"]), finding["evidence"])
    true(120 * 5_000_000 <= finding["cost_ns"] <= finding["of_ns"], f"cost: {finding}")
    true(finding["to_ns"] - finding["from_ns"] >= 120 * 5_000_000, f"since when: {finding}")
    not_found(found, "imbalance", "contention", "no-collective")
    not_found(findings(directory, "--rank", 2), "straggler", "imbalance")  # there is nobody to compare it with
    equal(findings(directory, "--rank", "0,2,3")["straggler"]["rank"], 2, "of three ranks")


def test_ranks_that_are_equally_slow(directory):
    found = planted(directory, "out/data", 200, 4096, "own", SLOW_US=3000)
    not_found(found, "straggler", "imbalance", "contention", "no-collective")


def test_a_file_of_each_rank(directory):
    for aggregates in ({}, {"ENABLE_AGGREGATION": 1}):
        place = directory / f"aggregates{len(aggregates)}"
        place.mkdir()
        found = planted(place, "out/data", 8, 131072, "own", ranks=16, settings=aggregates, SLOW_US=1000)
        finding = found["file-explosion"]
        equal((finding["title"], finding["where"], finding["files"]), ("a file of each rank", f"{place}/out/data.#", 16), "files")
        true("16 files of 1.00 MiB, each written by one of 16 ranks" in finding["evidence"], finding["evidence"])
        not_found(found, "metadata", "small-files", "removal")


def test_files_of_each_rank_and_phase(directory):
    found = planted(directory, "phases", 20, program="changes", SLOW_US=1000)
    finding = found["file-explosion"]
    equal((finding["title"], finding["files"]), ("files of each rank and phase", 80), "files")
    place = directory / "few"
    place.mkdir()
    not_found(planted(place, "phases", 10, program="changes", SLOW_US=1000), "file-explosion")


def test_more_files_of_ranks_than_are_looked_at(directory):
    """What other findings have of them is not known of all: no storm of metadata is made of the rest."""
    found = planted(directory, "phases", 700, program="changes", SLOW_US=100)
    true(re.search(r": at least [\d,]+ files of ", found["file-explosion"]["evidence"]), found)
    not_found(found, "metadata")


def test_large_files_of_each_rank_are_no_explosion(directory):
    not_found(planted(directory, "out/data", 20, 1048576, "own", ranks=16, SLOW_US=1000), "file-explosion")


def test_files_of_a_few_ranks_are_no_explosion(directory):
    not_found(planted(directory, "out/data", 8, 131072, "own", SLOW_US=1000), "file-explosion")


def test_one_long_call_makes_no_straggler(directory):
    found = planted(directory, "out/data", 200, 4096, "own", SLOW_US=1000, SLOW_RANK=2, SLOW_AFTER=199, SLOW_RANK_US=900000)
    not_found(found, "straggler", "imbalance")


def test_a_rank_that_does_more(directory):
    found = planted(directory, "out/data", 50, 4096, "own", SLOW_US=1000, pieces={0: 500})
    true("imbalance" not in found, "the time of small writes is told twice")
    true(found["small-writes"]["rank"] == 0 and "; rank 0: " in found["small-writes"]["evidence"], found)
    rules = directory / "rules"
    rules.write_text("small-writes = off\n")
    found = findings(directory, "--rules", rules)
    finding = found["imbalance"]
    equal((finding["rank"], finding["title"]), (0, "rank 0 does more I/O"), "which rank")
    true("1.95 MiB" in finding["evidence"] and "200 KiB" in finding["evidence"], finding["evidence"])
    not_found(found, "straggler")


def test_stragglers_of_aggregates(directory):
    found = planted(directory, "out/data", 200, 4096, "own", settings={"ENABLE_AGGREGATION": 1}, SLOW_US=200, SLOW_RANK=1,
                    SLOW_AFTER=0, SLOW_RANK_US=5000)
    equal(found["straggler"]["rank"], 1, "which rank")


def test_ranks_in_each_others_way(directory):
    found = planted(directory, "out/data", 150, 4096, "between", 4096, ranks=6, SLOW_US=1000, SLOW_LOCK=directory / "lock")
    finding = found["contention"]
    equal(finding["where"], str(directory / "out/data"), "which file")
    true("up to 6 ranks" in finding["evidence"], finding["evidence"])


def test_ranks_that_share_a_file_in_peace(directory):
    found = planted(directory, "out/data", 150, 4096, "between", 4096, ranks=6, SLOW_US=3000)
    not_found(found, "contention")


def test_larger_calls_take_longer_in_any_company(directory):
    not_found(planted(directory, "out/data", 120, 131072, "between", 64, SLOW_US=500, SLOW_MIB_US=24000), "contention")


def test_pieces_that_lie_between_each_other(directory):
    found = planted(directory, "out/data", 3000, 2048, "between", SLOW_US=50)
    finding = found["no-collective"]
    equal(finding["where"], str(directory / "out/data"), "which file")
    true("4 ranks write 23.4 MiB in 12,000 pieces of 2.00 KiB" in finding["evidence"], finding["evidence"])
    equal((finding["calls"], finding["bytes"]), (12000, 12000 * 2048), "calls and bytes")


def test_pieces_of_exactly_the_limit(directory):
    """The first piece of all begins the file. It is a piece as the others are."""
    true("no-collective" in planted(directory, "out/data", 8, 1 << 20, "between", SLOW_US=5000), "pieces of 1 MiB")


def test_each_rank_looks_for_its_own_settings(directory):
    slow = {"program": "files", "SLOW_STAT_US": 1000, "SLOW_STAT_IN": "plugins"}
    not_found(planted(directory, "missing", 60, **slow), "missing")


def test_each_rank_looks_for_too_much(directory):
    slow = {"program": "files", "SLOW_STAT_US": 1000, "SLOW_STAT_IN": "plugins"}
    equal(planted(directory, "missing", 150, **slow)["missing"]["errors"], 600, "lookups")


def test_a_rank_that_moves_more(directory):
    """Another one is slower here. On a parallel file system the bytes take as long as their requests, and longer."""
    not_found(planted(directory, "out/data", 5, 4 << 20, "own", pieces={0: 10}, SLOW_RANK=1, SLOW_AFTER=0, SLOW_RANK_US=100000),
              "imbalance", "straggler")
    page = json.loads(run_checked([DFTMERGE, "findings", "--json", directory / "traces"]).out)
    [risk] = [risk for risk in page["risks"] if risk["code"] == "imbalance"]
    equal((risk["rank"], risk["trips"], risk["at_ns"]), (0, 5, 5 * 500_000 + (20 << 20) * 10**9 // (1 << 30)), "the risk")


def test_pieces_that_do_not(directory):
    not_found(planted(directory, "out/data", 3000, 2048, "behind", SLOW_US=50), "no-collective")


def test_too_few_to_matter(directory):
    not_found(planted(directory, "out/data", 1000, 2048, "between", SLOW_US=50), "no-collective")


def job_of(directory, ranks, command):
    """Runs ranks beside each other, each of which lives for some seconds; the findings by code. command: of a rank."""
    compiled(directory)
    processes = []
    for rank in range(ranks):
        env = {**tracing(directory / "traces/t"), "SLOW_US": "1000", "OMPI_COMM_WORLD_RANK": str(rank),
               "OMPI_COMM_WORLD_SIZE": str(ranks), "PMIX_NAMESPACE": "job"}
        env["LD_PRELOAD"] = f"{LIBRARY}:{directory}/slow.so"
        processes.append(subprocess.Popen(["sh", "-c", f"{command(rank)}\nsleep 4"], cwd=directory, env=env))
    equal([process.wait(SECONDS) for process in processes], [0] * ranks, "exit codes")
    return findings(directory)


def test_one_rank_of_two_hundred(directory):
    """Of all processes it is nothing. The job waits for it."""
    finding = job_of(directory, 200, lambda rank: "./ranks out/data 900 4096 own" if rank == 7 else "")["small-writes"]
    true(finding["cost_ns"] * 100 < finding["of_ns"], f"of all processes: {finding}")
    true(finding["cost_job_ns"] * 100 >= finding["job_ns"] and finding["cost_job_ns"] <= finding["cost_ns"], f"of the job: {finding}")


def test_a_little_of_each_rank_beside_much_of_one(directory):
    """Each rank writes 10 small pieces, and one of them much in large ones: that is not the cost of small ones."""
    (directory / "rules").write_text("any.share = 0 %\nimbalance = off\nstraggler = off\n")
    job_of(directory, 60, lambda rank: "./ranks out/data 10 4096 own" + ("; ./ranks out/large 900 65536 own" if rank == 7 else ""))
    little = findings(directory, "--rules", directory / "rules")["small-writes"]
    true(little["cost_job_ns"] * 5 < little["cost_ns"], f"a rank has a sixtieth: {little}")
    percent = 100 * little["cost_job_ns"] // little["job_ns"] + 1
    (directory / "rules").write_text(f"any.share = {percent} %\n")
    not_found(findings(directory, "--rules", directory / "rules"), "small-writes")


def test_more_ranks_than_are_looked_at(directory):
    """Ranks with less time are left out of the facts: that does not make the others slow."""
    make = BUILD / "bin" / "make_ranks"
    if not make.exists():
        pytest.skip("make_ranks is not built")
    run_checked([make, directory / "traces", "ranks=3000", "seconds=4", "rate=20", "keep=0"])
    not_found(findings(directory), "straggler", "imbalance", "contention")


def of_mpi(directory, *arguments, weave=None, ranks=RANKS, **launcher):
    """A program that is linked to MPI has its calls of MPI-IO woven unasked."""
    need("mpirun", "mpicc")
    done = run(["mpicc", "-O1", "-o", "program", HERE / "programs/mpi_data.c"], cwd=directory)
    if done.code:
        pytest.skip(f"mpicc cannot compile here: {done.err.decode(errors='replace').splitlines()[-1]}")
    # where nobody knows the host's name, MPI_Init waits for a server of names: shares of the time would be none
    home = {"HOME": directory, "OMPI_MCA_btl": "self,vader", "RES_OPTIONS": "timeout:1 attempts:1", **launcher}
    if run([*MPIRUN, "true"], cwd=directory, env=environment(**home)).code:
        pytest.skip("mpirun does not work here")
    settings = {k: v for k, v in tracing(directory / "traces/t", **({"WEAVE": weave} if weave else {})).items()
                if k.startswith(("DFTRACER", "LD_PRELOAD"))}
    run_checked([*MPIRUN[:-1], ranks, "env", *(f"{k}={v}" for k, v in settings.items()), "./program", *arguments], cwd=directory,
                env=environment(**home))
    return findings(directory)


def test_one_rank_moves_all(directory):
    """One for eight is too few. One for four is what a node has where nobody says more."""
    not_found(of_mpi(directory, "data", 4, 8 << 20, 0, "collective"), "aggregators", "collective")
    shutil.rmtree(directory / "traces")
    found = of_mpi(directory, "data", 4, 4 << 20, 0, "collective", ranks=8)
    finding = found["aggregators"]
    equal((finding["title"], finding["bytes"]), ("1 rank moves the data of 8", 8 * 4 * (4 << 20)), "what is moved")
    true("128 MiB moved by rank 0 (1 aggregator for 8 ranks)" in finding["evidence"], finding["evidence"])
    true("MPI_File_write_at_all" in finding["evidence"] and "waiting and exchange" in finding["evidence"], finding["evidence"])
    not_found(found, "collective", "imbalance", "straggler", "no-collective")


def test_ranks_that_wait_in_collective_calls(directory):
    """All ranks move data, and one comes late each time."""
    found = of_mpi(directory, "data", 8, 1 << 18, 100000, "collective", OMPI_MCA_io_ompio_num_aggregators=RANKS)
    finding = found["collective"]
    equal((finding["title"], finding["bytes"]), ("collective I/O waits", RANKS * 8 << 18), "what is moved")
    true(finding["cost_ns"] >= 3 * 7 * 50_000_000, f"what three ranks wait: {finding}")
    true(re.search(r"rank [123] is in MPI_File_write_at_all for", finding["evidence"]), finding["evidence"])
    not_found(found, "aggregators")


def test_every_rank_moves_its_own(directory):
    found = of_mpi(directory, "data", 4, 8 << 20, 20000, "independent")
    not_found(found, "aggregators", "collective", "no-collective")


def test_what_every_job_is_told(directory):
    """Shared files and those of one rank, collective and independent calls, and who moves the data."""
    of_mpi(directory, "data", 4, 1 << 20, 0, "collective")
    note = json.loads(run_checked([DFTMERGE, "findings", "--json", directory / "traces"]).out)["findings_notes"]
    true(re.search(r"files that ranks read or write: [1-9]\d* shared, [\d,]+ of one rank alone; "
                   r"MPI-IO: 16 collective calls, [\d.]+ .?s; 0 independent ones, 0 ns; "
                   r"collective data moved by rank 0: 16.0 MiB, [\d.]+ .?s in the file system", note), note)
    planted(directory, "out/data", 100, 4096, "own")
    note = json.loads(run_checked([DFTMERGE, "findings", "--run", "job", "--json", directory / "traces"]).out)["findings_notes"]
    true("0 shared, 4 of one rank alone" in note and "MPI-IO" not in note, note)


def test_texts_that_other_ranks_make(directory):
    """dftmerge-mpi: a source line, a stack or a call that only one rank came across is a text on all."""
    need("gcc", "mpirun")
    program = BUILD / "bin" / "dftmerge-mpi"
    if not program.exists():
        pytest.skip("dftmerge-mpi was not built")
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", directory / "slow", HERE / "programs" / "slow.c"])
    (directory / "work").mkdir()
    run_checked([directory / "slow", directory / "work", "prepare"])
    run_checked([directory / "slow", directory / "work", "run"], env=tracing(directory / "traces/t", DATA_DIR="all", STACK=2))
    for arguments in (("findings",), ("summary", "--by", "line,file", "--json"), ("summary", "--by", "stack,name", "--json"),
                      ("export", "--format", "folded", "-o")):
        outputs = []
        for number, command in enumerate(([DFTMERGE], [*MPIRUN[:-1], 3, program])):
            more = [directory / f"{number}.folded"] if arguments[-1] == "-o" else []
            done = run_checked([*command, *arguments, *more, directory / "traces"])
            outputs.append(more[0].read_bytes() if more else done.out)
        equal(outputs[1], outputs[0], f"{arguments}: of 3 ranks and of one process")
        true(not re.search(rb"#[0-9a-f]{16}", outputs[0]) and re.search(rb"slow\.c:\d|main;", outputs[0]), outputs[0][:2000])


def test_what_is_not_woven_is_not_looked_for(directory):
    of_mpi(directory, "data", 4, 1 << 20, 0, "independent", weave="none")
    done = run_checked([DFTMERGE, "findings", "--json", directory / "traces"])
    page = json.loads(done.out)
    true({"aggregators", "collective"} <= set(page["findings_not_looked_for"]), page["findings_not_looked_for"])
    true("DFTRACER_WEAVE=mpiio" in page["findings_why_not"], page["findings_why_not"])
