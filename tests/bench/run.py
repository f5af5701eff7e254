#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of tests/bench/run.sh: what tracing costs. Traced and untraced runs take turns; medians are shown."""

import argparse
import glob
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# title, case of bench_calls, operations in one run, goal for what tracing adds to one
CALLS = [
    ("pread 4 KiB, page cache", "pread", 400_000, "<= 60 ns"),
    ("pread, two threads at once", "pread2", 400_000, "as one thread"),
    ("lseek", "lseek", 1_500_000, "<= 50 ns"),
    ("fstat", "fstat", 1_500_000, "<= 50 ns"),
    ("open + close (two events)", "open", 100_000, "<= 300 ns"),
    ("fread 64 B", "fread", 5_000_000, "<= 45 ns"),
    ("getc", "getc", 20_000_000, "<= 5 ns"),
    ("read of an untraced descriptor", "untraced", 2_000_000, "<= 5 ns"),
    ("mmap + munmap of a file (two events)", "mapfile", 200_000, ""),
    ("mmap + munmap of memory", "mapmemory", 400_000, "<= 5 ns"),
    ("the same, 500 parts of files mapped", "mapbeside", 400_000, ""),
    ("annotated region", "region", 4_000_000, "<= 35 ns"),
    ("woven function (rand)", "woven", 1_000_000, "", {"DFTRACER_WEAVE": "rand.weave"}),
    ("pread with a call stack", "pread", 200_000, "", {"DFTRACER_STACK": "16"}),
    ("thread create + join, one call", "thread", 5_000, "<= 40 us"),
]
STARTS = 300  # processes in one run
LOOP_EVENTS = 4_000_000  # of the trace that is read back


def show_ns(value):
    if abs(value) >= 10_000:
        return f"{value / 1000:.1f} us"
    return f"{value:.1f} ns" if abs(value) < 100 else f"{value:.0f} ns"


class Bench:
    def __init__(self, options, tmp):
        self.rounds, self.only, self.tmp = options.rounds, options.only, tmp
        self.bin = os.path.join(options.build, "bin")
        self.preload = options.preload or os.path.join(options.build, "lib", "libdftrace.so")
        self.calls = os.path.join(self.bin, "bench_calls")
        self.dftmerge = os.path.join(self.bin, "dftmerge")
        self.file = os.path.join(tmp, "file")
        self.small = os.path.join(tmp, "small")
        for path, size in ((self.file, 16 << 20), (self.small, 100)):
            with open(path, "wb") as out:
                out.write(os.urandom(size // 2).hex().encode())

    def folder(self):
        return tempfile.TemporaryDirectory(dir=self.tmp)

    def environment(self, folder, settings=()):
        """Of a traced program that leaves its traces in the folder."""
        env = dict(os.environ, LD_PRELOAD=self.preload, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=os.path.join(folder, "trace"))
        env.update(settings)
        if "DFTRACER_WEAVE" in env:
            env["DFTRACER_WEAVE"] = os.path.join(folder, env["DFTRACER_WEAVE"])
            with open(env["DFTRACER_WEAVE"], "w") as rules:
                rules.write("libc.so*  int rand(void)\n")
        return env

    # --- added time

    def run_calls(self, case, count, folder=None, settings=()):
        done = subprocess.run([self.calls, case, str(count), self.file], stdout=subprocess.PIPE, check=True,
                              env=self.environment(folder, settings) if folder else None)
        return float(done.stdout)

    def run_starts(self, command, folder=None):
        """bench_calls itself is not traced here; it gives its children the library."""
        arguments = [self.calls, "spawn", str(STARTS), self.file, self.preload if folder else "",
                     os.path.join(folder or self.tmp, "trace")]
        done = subprocess.run(arguments + command, stdout=subprocess.PIPE, check=True)
        return float(done.stdout)

    def print_cost(self, title, goal, run):
        if self.only not in title:
            return
        pairs = []
        for _ in range(self.rounds):
            with self.folder() as folder:
                pairs.append((run(None), run(folder)))
        untraced, traced = (show_ns(statistics.median(column)) for column in zip(*pairs))
        added = show_ns(statistics.median(b - a for a, b in pairs))
        print(f"{title:<36}{untraced:>10}{traced:>10}{added:>10}   {goal}", flush=True)

    def print_costs(self):
        print(f"{'time of one operation':<36}{'untraced':>10}{'traced':>10}{'added':>10}   goal")
        for title, case, count, goal, *settings in CALLS:
            self.print_cost(title, goal,
                            lambda folder, c=case, n=count, s=settings: self.run_calls(c, n, folder, *s))
        self.print_cost("start + exit of `true`", "<= 150 us", lambda folder: self.run_starts(["true"], folder))
        self.print_cost("start + exit of `cat FILE`", "<= 400 us",
                        lambda folder: self.run_starts(["cat", self.small], folder))

    # --- bytes per event

    def workloads(self, folder):
        """title, command, goal; the command is None where its program is missing."""
        tree = "/usr/include"
        sql = "CREATE TABLE t(a INTEGER, b TEXT);" + "".join(
            f"INSERT INTO t VALUES({i}, 'row {i}');" for i in range(2000))
        return [
            ("sequential loop of pread", [self.calls, "pread", "400000", self.file], None, "<= 2"),
            (f"tar of {tree}", ["tar", "cf", os.path.join(folder, "out.tar"), tree], None, "<= 4.5"),
            (f"grep -r in {tree}", ["grep", "-r", "-c", "no such words", tree], None, "<= 4.5"),
            ("sqlite3, 2000 transactions", ["sqlite3", os.path.join(folder, "db")], sql, "<= 3"),
        ]

    def print_bytes(self):
        print(f"\n{'trace':<36}{'events':>10}{'bytes':>12}{'per event':>11}   goal")
        for place in range(4):
            with self.folder() as folder:
                title, command, text, goal = self.workloads(folder)[place]
                if self.only not in title:
                    continue
                if not shutil.which(command[0]):
                    print(f"{title:<36}   skipped: no {command[0]} here")
                    continue
                subprocess.run(command, input=text, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=self.environment(folder), check=False)
                traces = glob.glob(os.path.join(folder, "*.dft"))
                events = self.summary(traces)["events_kept"] if traces else 0
                size = sum(map(os.path.getsize, traces))
                each = f"{size / events:.2f}" if events else "no events"
                print(f"{title:<36}{events:>10}{size:>12}{each:>11}   {goal}", flush=True)

    # --- off line

    def summary(self, paths, *options):
        done = subprocess.run([self.dftmerge, "summary", "--json", *options, *paths], stdout=subprocess.PIPE,
                              check=True)
        return json.loads(done.stdout)

    def print_reading(self):
        readers = [("summary", ["summary", "--json"], "at once"),
                   ("summary by file", ["summary", "--json", "--by", "file"], "> 30 million"),
                   ("check, every event decoded", ["check"], "> 30 million"),
                   ("dump as JSON lines", ["dump", "--json", "--unsorted"], "")]
        readers = [reader for reader in readers if self.only in reader[0]]
        if not readers:
            return
        print(f"\n{'reading back':<36}{'seconds':>10}{'CPU':>10}{'events a CPU second':>21}   goal")
        with self.folder() as folder:
            subprocess.run([self.calls, "pread", str(LOOP_EVENTS), self.file], stdout=subprocess.DEVNULL, check=True,
                           env=self.environment(folder))
            traces = glob.glob(os.path.join(folder, "*.dft"))
            events = self.summary(traces)["events_kept"]
            for title, arguments, goal in readers:
                self.print_reader(title, arguments + traces, events, goal)

    def print_reader(self, title, arguments, events, goal):
        walls, cpus = [], []
        for _ in range(self.rounds):
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run([self.dftmerge] + arguments, stdout=subprocess.DEVNULL, check=True)
            walls.append(time.monotonic() - start)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        wall, cpu = statistics.median(walls), max(statistics.median(cpus), 1e-4)
        print(f"{title:<36}{wall:>10.3f}{cpu:>10.3f}{events / cpu / 1e6:>13.1f} million   {goal}", flush=True)

    def print_parts(self):
        """The codec and the aggregator alone, by programs of their own."""
        if self.only:
            return
        for program, goals in (
                ("bench_codec", "encode <= 40 ns with libdeflate, 70 with zlib; decode > 30 million a second"),
                ("bench_aggregator", "add <= 15 ns; merge > 20 million rows a second")):
            path = os.path.join(self.bin, program)
            if os.access(path, os.X_OK):
                print(f"\n{program} (goals: {goals})", flush=True)
                subprocess.run([path], check=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(here, "..", "..", "build"))
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs a line (default 5)")
    parser.add_argument("--only", default="", metavar="WORD", help="only lines whose title contains WORD")
    parser.add_argument("--preload", help="another library than build/lib/libdftrace.so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dftrace-bench-") as tmp:
        bench = Bench(options, tmp)
        print(f"{platform.system()} {platform.release()}, {os.cpu_count()} CPUs, "
              f"{'/'.join(platform.libc_ver())}; medians of {options.rounds}, traced and untraced in turn\n")
        busy = os.getloadavg()[0]
        if busy > 0.5:
            print(f"note: other programs are running here (load {busy:.1f}); the times below are too high\n")
        if not os.path.exists(bench.preload):
            sys.exit(f"{bench.preload} is not there: build first (cmake --build build)")
        bench.print_costs()
        bench.print_bytes()
        bench.print_reading()
        bench.print_parts()


if __name__ == "__main__":
    main()
