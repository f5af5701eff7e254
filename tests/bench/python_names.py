#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processor time that the annotations of DFTracer and PerfFlowAspect add to Python programs, traced and not.

    tests/bench/python_names.py            # needs build/python and build/lib; prints a table

Each line is the best of some rounds of a loop, less the same loop with the bare function or with nothing.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("DFT_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build")).resolve()
CALLS, ROUNDS = 20000, 9


def best(loop, *words):
    """Nanoseconds of processor time of one pass of the loop."""
    times = []
    for _ in range(ROUNDS):
        before = time.thread_time_ns()
        loop(*words)
        times.append((time.thread_time_ns() - before) / CALLS)
    return min(times)


def call(function):
    for _ in range(CALLS):
        function(1)


def nothing():
    for _ in range(CALLS):
        pass


def measure():
    from dftracer.python import ai, dft_fn, dftracer
    from perfflowaspect import aspect

    import dftrace

    fn, logger = dft_fn("BENCH"), dftracer.get_instance()

    def bare(step):
        return step

    def other(x):
        return x

    class Thing:
        def bare(self, x):
            return x

        @fn.log
        def logged(self, x):
            return x

    def block():
        for _ in range(CALLS):
            with ai.compute.forward:
                pass

    def block_of_function():
        for _ in range(CALLS):
            with dft_fn("BENCH", "block"):
                pass

    def loop():
        for _ in fn.iter(range(CALLS)):
            pass

    def given():
        for _ in range(CALLS):
            logger.log_event("given", "BENCH", logger.get_time(), 1)

    plain, method, empty = best(call, other), best(call, Thing().bare), best(nothing)
    for title, time_ns in (
            ("`@dftrace.region`", best(call, dftrace.region(other)) - plain),
            ("`@dft_fn.log`", best(call, fn.log(other)) - plain),
            ("`@dft_fn.log`, a parameter `step`", best(call, fn.log(bare)) - plain),
            ("`@dft_fn.log`, a method", best(call, Thing().logged) - method),
            ("`@ai.compute.forward`", best(call, ai.compute.forward(other)) - plain),
            ("`with ai.compute.forward:`", best(block) - empty),
            ("`with dft_fn(cat, name):`", best(block_of_function) - empty),
            ("`dft_fn.iter`, an element", best(loop) - empty),
            ("`log_event`, with `get_time`", best(given) - empty),
            ("`@critical_path()`", best(call, aspect.critical_path()(other)) - plain)):
        print(f"{title}\t{max(time_ns, 0):.0f}")


def run(**settings):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACE", "LD_PRELOAD", "PERFFLOW"))}
    env.update(settings, PYTHONPATH=str(BUILD / "python"))
    out = subprocess.run([sys.executable, __file__, "measure"], env=env, check=True, stdout=subprocess.PIPE).stdout
    return dict(line.split("\t") for line in out.decode().splitlines())


def main():
    if len(sys.argv) > 1:
        measure()
        return
    with tempfile.TemporaryDirectory() as folder:
        traced = run(LD_PRELOAD=str(BUILD / "lib" / "libdftrace.so"), DFTRACER_ENABLE="1",
                     DFTRACER_LOG_FILE=folder + "/t")
    untraced = run()
    print(f"Python {sys.version.split()[0]}\n\n| annotation | traced | not traced |\n| --- | --- | --- |")
    for title, nanoseconds in traced.items():
        print(f"| {title} | {nanoseconds} ns | {untraced[title]} ns |")


main()
