#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds beyond those of the test suite, and parts of one.

    DFT_BUILD=build tests/fuzz_calls/fuzz.py --seeds 1-500 --ops 5000
    DFT_BUILD=build tests/fuzz_calls/fuzz.py --seconds 3600          # new seeds all the time
    DFT_BUILD=build tests/fuzz_calls/fuzz.py --seeds 17 --only 0 120-140,200   # operations of process 0
"""

import argparse
import collections
import itertools
import pathlib
import shutil
import sys
import tempfile
import time

import fuzz_run
from fuzz_run import Size


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", help="a number, or first-last")
    parser.add_argument("--ops", type=int, default=2000, help="operations of each worker")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--threads", type=int, default=3, help="in each second process; 0: no threads")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--only", nargs="+", metavar="PROCESS [OPS [THREAD]]", default=[])
    parser.add_argument("--show", type=int, default=3, help="findings of a kind that are shown")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the directory of the last seed")
    return parser.parse_args()


shown = collections.Counter()


def seeds(options):
    size = Size(options.ops, options.processes, options.threads)
    if not options.seeds:
        return ((seed, size) for seed in itertools.count(1))
    first, _, last = options.seeds.partition("-")
    return ((seed, size) for seed in range(int(first), int(last or first) + 1))


def command(seed, size, only):
    text = f"fuzz.py --seeds {seed} --ops {size.ops} --processes {size.processes} --threads {size.threads}"
    return text + (" --only " + " ".join(only) if only else "")


def report(directory, calls, seed, size, result, options, told):
    """Tells the first few findings of each kind."""
    kinds = collections.Counter(f.kind for f in result.findings)
    for kind, count in kinds.most_common():
        first = next(f for f in result.findings if f.kind == kind)
        about = kind.partition(":")[0]
        told[about] += count
        shown[about] += 1
        if shown[about] > options.show:
            continue
        print(f"  seed {seed}: {kind} ({count})\n    {first.text}")
        if not options.no_shrink and not options.only:
            only = fuzz_run.shrink(directory, calls, seed, size, first)
            print(f"    again: {command(seed, size, only)}")
        sys.stdout.flush()


def main():
    options = arguments()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dft-fuzz-")).resolve()
    calls = fuzz_run.table()
    passed = failed = 0
    told, sums = collections.Counter(), [collections.Counter() for _ in range(3)]
    start = time.monotonic()
    for seed, size in seeds(options):
        result = fuzz_run.examine(directory, calls, seed, size, options.only)
        for total, more in zip(sums, (result.counts, result.missing, result.nulls)):
            total.update(more)
        failed += bool(result.findings)
        passed += not result.findings
        report(directory, calls, seed, size, result, options, told)
        if options.seconds and time.monotonic() - start > options.seconds:
            break
    for title, total in zip(("compared", "not in calls.def, so not compared", "offsets that are null, by rule"), sums):
        print(f"{title}: " + (", ".join(f"{k} {v}" for k, v in total.most_common()) or "none"))
    if told:
        print("found: " + ", ".join(f"{k} {v}" for k, v in told.most_common()))
    if options.keep:
        print(f"kept {directory}")
    else:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{passed} seeds without a finding, {failed} with one")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
