#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the limit of cost (DFTRACER_MAX_OVERHEAD_PERCENT) hold in the long run? Takes about 15 minutes.

    tests/bench/governor.py [--build DIRECTORY] [--seconds 10] [--rounds 3] [--limits 2,5,20]

A program goes through phases: characters of a cached file by getc, preads of 4 KiB of it, and sleep with ten preads a
second. Each phase takes so many seconds untraced. It runs under each limit, and with aggregates alone (floor), which
no limit goes below. Before or after each traced run the same work runs untraced.

counted    the share as the library counts it: drains, and four readings of the clock a record. The trace has the time of
           drains by the clock, and waiting for a processor with it, which the library itself leaves out
added      the share by processor time, against the untraced run; then getc and pread alone, medians over the rounds
events     for which share of the time events were kept; and how often that changed

A limit holds when `counted` and `added` are at most a point above the limit or the floor, whichever is higher. `added`
is judged in the preads: a getc costs the same whatever is kept. `counted` is judged where no thread waits, which the
load average tells. Counts of calls must be those that the program made,
changes at least a second apart and no more than phases, and the summary must say how long events were kept."""

import argparse
import collections
import glob
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHASES = ("getc", "pread", "idle")
FILE_BYTES = 1 << 20
READINGS_OF_CALL = 4  # as preload/rows/mode.c has it
POINT = 1.0
LEAST_GAP_NS = 900_000_000  # a change is written down some time after it was decided

Traced = collections.namedtuple("Traced", "counted added changes events_share faults")


class Bench:
    def __init__(self, build, folder, options):
        self.build, self.folder, self.options = build, folder, options
        self.program = f"{build}/bin/bench_phases"
        self.file = os.path.join(folder, "file")
        pathlib.Path(self.file).write_bytes(bytes(FILE_BYTES))
        self.plain = {name: value for name, value in os.environ.items()
                      if not name.startswith("DFTRACER_") and name != "LD_PRELOAD"}
        done = subprocess.run([self.program, "measure", self.file, str(options.seconds)], env=self.plain,
                              stdout=subprocess.PIPE, check=True)
        self.work = [self.program, "work", self.file, str(options.rounds), *map(str, json.loads(done.stdout))]
        self.is_traced_first = False

    def run(self, env):
        """What the program says of itself."""
        return json.loads(subprocess.run(self.work, env=env, stdout=subprocess.PIPE, check=True).stdout)

    def ask(self, *arguments):
        return subprocess.run([f"{self.build}/bin/dftmerge", *arguments], stdout=subprocess.PIPE, check=True).stdout

    def run_pair(self, name, **settings):
        """One traced run beside an untraced one; the first of them is the other one each time."""
        traces = os.path.join(self.folder, name)
        env = dict(self.plain, LD_PRELOAD=f"{self.build}/lib/libdftrace.so", DFTRACER_ENABLE="1",
                   DFTRACER_LOG_FILE=f"{traces}/t", **settings)
        os.mkdir(traces)
        plain = None if self.is_traced_first else self.run(self.plain)
        traced = self.run(env)
        plain = plain or self.run(self.plain)
        self.is_traced_first = not self.is_traced_first
        if not glob.glob(f"{traces}/*.dft"):
            sys.exit(f"{name} left no trace")
        return self.look(traces, traced, plain)

    def look(self, traces, traced, plain):
        """Compares what the program and the traces say."""
        [process] = json.loads(self.ask("ps", "--json", traces))["processes"]
        groups = json.loads(self.ask("summary", "--json", "--by", "name", traces))["groups"]
        counts = {group["name"]: group["count"] for group in groups}
        records = sum(counts.values()) - counts["getc"]  # of getc there is one record for many calls
        own = process["overhead_ns"] + records * READINGS_OF_CALL * traced["reading_ns"]
        program = sum(map(sum, traced["cpu_ns"])) - own
        counted = 100 * own / program if program > 0 else math.inf
        return Traced(counted, added_shares(traced, plain), len(process["kept"]) - 1, share_of_events(process["kept"]),
                      self.faults_of(traces, traced, process, counts))

    def faults_of(self, traces, traced, process, counts):
        """What is not as it must be, whatever the machine does meanwhile."""
        faults = []
        for name, count in traced["calls"].items():
            if counts.get(name, 0) != count:
                faults.append(f"{counts.get(name, 0)} calls of {name} are counted, and {count} were made")
        kept = process["kept"]
        if any(one["to_ns"] != other["from_ns"] for one, other in zip(kept, kept[1:])):
            faults.append("what was kept has gaps")
        if any(span["why"] != "overhead" or span["to_ns"] - span["from_ns"] < LEAST_GAP_NS for span in kept[1:-1]):
            faults.append("changes follow each other within a second, or have another reason")
        if len(kept) - 1 > len(PHASES) * self.options.rounds:
            faults.append(f"{len(kept) - 1} changes: it swings")
        return faults + footer_faults(self.ask("summary", traces).decode(), kept)


def share_of_events(kept):
    times = collections.Counter()
    for span in kept:
        times[span["keep"]] += span["to_ns"] - span["from_ns"]
    return 100 * times["events"] / sum(times.values())


def footer_faults(text, kept):
    """The summary tells the share of time where there is more than one kind."""
    told = re.search(r"events were kept for ([\d.]+) % of the time", text)
    is_mixed = len({span["keep"] for span in kept}) > 1
    if bool(told) != is_mixed:
        return ["the summary " + ("does not say" if is_mixed else "says") + " how long events were kept"]
    if told and abs(float(told[1]) - share_of_events(kept)) > 0.1:
        return [f"the summary says {told[1]} %, and events were kept for {share_of_events(kept):.1f} %"]
    return []


def added_shares(traced, plain):
    """In percent of the untraced processor time: all; then each phase, the median over the rounds."""
    def share(with_it, without):
        return 100 * (with_it - without) / without

    pairs = list(zip(traced["cpu_ns"], plain["cpu_ns"]))
    each = [statistics.median(share(one[phase], other[phase]) for one, other in pairs) for phase in range(len(PHASES))]
    return [share(sum(map(sum, traced["cpu_ns"])), sum(map(sum, plain["cpu_ns"]))), *each]


def show(name, run, verdict):
    shares = "".join(f"{share:>9.1f}" for share in run.added[:3])
    print(f"{name:<10}{run.counted:>9.2f}{shares}{run.events_share:>9.1f}{run.changes:>9}  {verdict}", flush=True)
    for fault in run.faults:
        print(f"{'':<10}{fault}", flush=True)


def judge(limit, run, floor):
    """The preads alone: the second phase."""
    if os.getloadavg()[0] <= os.cpu_count() and run.counted > max(limit, floor.counted) + POINT:
        return "does not hold: counted"
    if run.added[2] > max(limit, floor.added[2]) + POINT:
        return "does not hold: added in preads"
    return "wrong" if run.faults else "holds"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="where libdftrace.so was built")
    parser.add_argument("--seconds", type=float, default=10, help="of each phase, untraced (default 10)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each phase comes (default 3)")
    parser.add_argument("--limits", default="2,5,20", help="in percent (default 2,5,20)")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    if not os.path.exists(f"{build}/bin/bench_phases"):
        sys.exit(f"{build}/bin/bench_phases is not there: build first (cmake -S . -B build && cmake --build build)")
    limits = [int(limit) for limit in options.limits.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder, options)
        print("percent   " + "".join(f"{title:>9}" for title in ("counted", "added", *PHASES[:2], "events", "changes")))
        floor = bench.run_pair("floor", DFTRACER_ENABLE_AGGREGATION="1")
        show("floor", floor, "wrong" if floor.faults else "")
        verdicts = ["wrong" if floor.faults else "holds"]
        for limit in limits:
            run = bench.run_pair(f"limit-{limit}", DFTRACER_MAX_OVERHEAD_PERCENT=str(limit))
            verdicts.append(judge(limit, run, floor))
            show(f"{limit} %", run, verdicts[-1])
    sys.exit(any(verdict != "holds" for verdict in verdicts))


if __name__ == "__main__":
    main()
