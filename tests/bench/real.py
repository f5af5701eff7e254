#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tracing costs real programs, in processor time: user and system time of the program and its children.

    tests/bench/real.py [--build DIRECTORY] [--only WORD] [--rounds N] [--aggregates] [--preload LIBRARY]

Each row runs a program as it is and under the library, in turn, with everything it reads in the page cache. The first of
a pair is the other one each time. Times are medians; what is added is the median of the differences within the pairs.
Bytes are those of all trace files of a run. Traces and outputs lie in a folder of their own for each run, below TMPDIR.
--aggregates: with DFTRACER_ENABLE_AGGREGATION=1, where an event is one that the same run with events keeps."""

import argparse
import collections
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from instructions import DATABASE, DOCUMENTS, PACKAGES, ROOT, TREE, missing

REPOSITORY_FILES = 5000
CACHED_BYTES = 64 << 20
GOAL, GOAL_AGGREGATES = 6, 3  # percent

# command: WORK in it is the run's own folder; make: what the row's folder must hold before the first run
Row = collections.namedtuple("Row", "name needs command input goal_bytes make", defaults=(None, None, None))


def make_repository(folder):
    """A repository whose files are older than its index, so that git need not read them."""
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments], cwd=folder,
                       stdout=subprocess.DEVNULL, check=True)

    for i in range(REPOSITORY_FILES):
        file = pathlib.Path(folder, f"directory-{i // 100}", f"file-{i}.txt")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{i}\n")
        os.utime(file, (1_000_000_000, 1_000_000_000))
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "files")


def make_cached(folder):
    pathlib.Path(folder, "cached").write_bytes(bytes(CACHED_BYTES))


def fio(pattern, folder):
    return ["fio", "--name=bench", f"--filename={folder}/cached", f"--size={CACHED_BYTES}", f"--rw={pattern}", "--bs=4k",
            "--ioengine=psync", "--invalidate=0", "--loops=4", "--output=/dev/null"]


def rows(build, folder):
    """The programs. `folder` keeps what their runs share."""
    segments = f"{build}/bin/bench_segments"
    compile_c = ["gcc", "-O2", "-I", f"{ROOT}/include", "-c", f"{ROOT}/tests/bench/bench_calls.c", "-o", "WORK/object"]
    return [
        Row("tar", [TREE], ["tar", "cf", "WORK/out.tar", TREE], None, 4.5),
        Row("grep", [TREE], ["grep", "-rc", "no such words", TREE], None, 4.5),
        Row("cp", [TREE], ["cp", "-r", TREE, "WORK/copy"], None, 4.5),
        Row("find", [DOCUMENTS], ["find", DOCUMENTS, "-newer", "/etc/passwd"]),
        Row("sqlite3", [], ["sqlite3", "WORK/database"], DATABASE, 3),
        Row("gcc", [], compile_c),
        Row("python", [], ["python3", "-Bc", f"import {PACKAGES}"], None, 6),
        Row("git", [], ["git", "-C", folder, "--no-optional-locks", "status"], make=make_repository),
        Row("fio read", [], fio("read", folder), make=make_cached),
        Row("fio randread", [], fio("randread", folder), make=make_cached),
        Row("ior 4 KiB", [], [segments, "2", "8192", "4096", "WORK/shared"]),
        Row("ior 47,008", [], [segments, "2", "1024", "47008", "WORK/shared"]),
    ]


class Bench:
    def __init__(self, options):
        self.build = os.path.realpath(options.build)
        self.preload = os.path.realpath(options.preload or f"{self.build}/lib/libdftrace.so")
        self.rounds, self.aggregates = options.rounds, options.aggregates
        self.plain = {name: value for name, value in os.environ.items()
                      if not name.startswith("DFTRACER_") and name != "LD_PRELOAD"}
        # git reads no settings of the user, who may have a monitor of files running
        self.plain.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")

    def environment(self, traces, aggregates):
        env = dict(self.plain, LD_PRELOAD=self.preload, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{traces}/t")
        if aggregates:
            env["DFTRACER_ENABLE_AGGREGATION"] = "1"
        return env

    def run(self, row, env, work):
        """Processor time of one run (s)."""
        command = [part.replace("WORK", work) for part in row.command]
        with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, text=True) as process:
            if row.input:
                process.stdin.write(row.input)
            process.stdin.close()
            usage = os.wait4(process.pid, 0)[2]
            process.returncode = 0  # grep, which finds nothing, ends with 1
        return usage.ru_utime + usage.ru_stime

    def run_plain(self, row):
        with tempfile.TemporaryDirectory() as work:
            return self.run(row, self.plain, work)

    def run_traced(self, row, aggregates, ask=False):
        """Processor time; events where they are asked for; bytes of the traces."""
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as traces:
            seconds = self.run(row, self.environment(traces, aggregates), work)
            found = glob.glob(f"{traces}/*.dft")
            if not found:
                sys.exit(f"{row.name} left no trace")
            events = self.count_events(found) if ask else None
            return seconds, events, sum(map(os.path.getsize, found))

    def count_events(self, traces):
        done = subprocess.run([f"{self.build}/bin/dftmerge", "summary", "--json", *traces], stdout=subprocess.PIPE,
                              check=True)
        return json.loads(done.stdout)["events"]

    def run_pairs(self, row):
        """Untraced and traced times of each pair, and the bytes of the traces of each."""
        pairs = []
        for i in range(self.rounds):
            plain = self.run_plain(row) if i % 2 else None
            traced, _, size = self.run_traced(row, self.aggregates)
            pairs.append((self.run_plain(row) if plain is None else plain, traced, size))
        return pairs

    def measure(self, row):
        self.run_plain(row)  # fills the page cache
        events = self.run_traced(row, False, ask=True)[1]
        pairs = self.run_pairs(row)
        plain, traced, size = (statistics.median(column) for column in zip(*pairs))
        self.show(row, events, plain, traced, statistics.median(b - a for a, b, _ in pairs), size / events)

    def show(self, row, events, plain, traced, added, each):
        goal = GOAL_AGGREGATES if self.aggregates else GOAL
        goal_bytes = f"<= {row.goal_bytes}" if row.goal_bytes and not self.aggregates else ""
        print(f"{row.name:<14}{events:>9}{plain * 1e3:>13.1f}{traced * 1e3:>11.1f}{added / plain:>+9.1%}"
              f"{added / events * 1e9:>10.0f}   <= {goal} %{each:>9.2f}   {goal_bytes}".rstrip(), flush=True)


def measure_all(bench, names):
    """Each row in a folder of its own. What is missing is said, and the other rows go on."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            row = next(row for row in rows(bench.build, folder) if row.name == name)
            reason = missing(row)
            if reason:
                print(f"{name:<14}   skipped: {reason}", flush=True)
                continue
            if row.make:
                row.make(folder)
            bench.measure(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="where libdftrace.so was built")
    parser.add_argument("--only", default="", metavar="WORD", help="the rows whose name contains the word")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="pairs of runs a row (default 11)")
    parser.add_argument("--aggregates", action="store_true", help="keep aggregates alone")
    parser.add_argument("--preload", metavar="LIBRARY", help="another library than that of the build")
    options = parser.parse_args()
    bench = Bench(options)
    for path in (bench.preload, f"{bench.build}/bin/dftmerge", f"{bench.build}/bin/bench_segments"):
        if not os.path.exists(path):
            sys.exit(f"{path} is not there: build first (cmake -S . -B build && cmake --build build)")
    names = [row.name for row in rows(bench.build, "") if options.only in row.name]
    if not names:
        sys.exit(f"no row's name contains '{options.only}'")
    if options.rounds < 1:
        sys.exit("--rounds: at least one pair of runs")
    print(f"{'program':<14}{'events':>9}{'untraced ms':>13}{'traced ms':>11}{'added':>9}{'ns/event':>10}   goal"
          f"{'bytes':>10}   goal")
    measure_all(bench, names)


if __name__ == "__main__":
    main()
