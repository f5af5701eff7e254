#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dftmerge-mpi on a job of many ranks, made for the purpose: wall time and memory by number of ranks of its own.

    tests/bench/mpi.py [BUILD [RANKS_OF_THE_JOB [EVENTS_OF_EACH [COMMAND]]]]        (build, 10000, 200, all)

Prints a table; compares what every number of ranks answers with what dftmerge answers."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

QUESTIONS = (["summary", "--json", "--by", "rank,call", "--top", "20"], ["summary"], ["check"],
             ["summary", "--json", "--by", "file,name"], ["merge", "-q", "-o", "all.dft"],
             ["merge", "-q", "--split-by", "rank", "-o", "split"],
             ["merge", "-q", "--group", "reads: class=read; writes: class=write", "-o", "groups"],
             ["export", "-q", "--format", "pfw", "-o", "all.pfw.gz"], ["export", "-q", "--format", "pfw", "-o", "."],
             ["export", "-q", "--format", "csv", "-o", "all.csv"], ["dump", "-q", "--json"], ["ranks", "--json"],
             ["compare", "--json"])


def one_rank(log, *command):
    """What mpirun starts: the program, and a line about what it took."""
    pid = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    with open(log, "a", encoding="ascii") as out:
        out.write(f"{usage.ru_maxrss} {usage.ru_utime + usage.ru_stime}\n")
    return os.waitstatus_to_exitcode(status)


def taken(directory):
    """A checksum of what was written there; it is removed."""
    total = hashlib.sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(directory)} {path.stat().st_size} ".encode() + path.read_bytes())
    shutil.rmtree(directory)
    return total.digest()


def measure(log, launch, command):
    log.unlink(missing_ok=True)
    out = log.parent / "out"
    out.mkdir()
    start = time.monotonic()
    done = subprocess.run([*launch, sys.executable, os.path.abspath(__file__), "--rank", log, *command], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=out, check=False)
    wall = time.monotonic() - start
    lines = [line.split() for line in log.read_text().splitlines()]
    return done.stdout + taken(out), done.returncode, wall, max(int(l[0]) for l in lines) / 1024, sum(float(l[1]) for l in lines)


def main(build="build", ranks="10000", events="200", command=None):
    tools = pathlib.Path(build).resolve() / "bin"
    mpirun = ["mpirun", "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    with tempfile.TemporaryDirectory(prefix="dftmerge-bench-") as directory:
        traces, log = pathlib.Path(directory) / "job", pathlib.Path(directory) / "log"
        subprocess.run([tools / "make_traces", traces, f"processes={ranks}", "threads=1", f"events={events}", "ranks=1",
                        "hosts=100"], check=True)
        size = sum(file.stat().st_size for file in traces.iterdir())
        print(f"{ranks} traces of {events} events, {size / 2**20:.0f} MiB, {os.cpu_count()} processors")
        for question in QUESTIONS:
            if command not in (None, question[0]):
                continue
            paths = [traces, traces] if question[0] == "compare" else [traces]
            wanted = measure(log, [], [tools / "dftmerge", *question, *paths])
            print(f"\n{' '.join(question)}\n{'':>12} {'wall s':>8} {'CPU s':>8} {'MiB a rank':>11}")
            print(f"{'dftmerge':>12} {wanted[2]:8.2f} {wanted[4]:8.2f} {wanted[3]:11.0f}")
            for n in (1, 2, 4, 8):
                got = measure(log, [*mpirun, "-n", str(n)], [tools / "dftmerge-mpi", *question, *paths])
                same = "" if got[:2] == wanted[:2] else "   DIFFERS"
                print(f"{n:>8} rank{'s' if n > 1 else ' '} {got[2]:8.2f} {got[4]:8.2f} {got[3]:11.0f}{same}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        sys.exit(one_rank(*sys.argv[2:]))
    main(*sys.argv[1:])
