#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What annotations cost a Python program, in nanoseconds of wall time an operation.

    tests/bench/python.py [--build DIRECTORY] [--python PROGRAM] [--rounds N]

Each row is a loop with the annotation and the same loop without, in turn, in one process: the median of the differences.
"off" has no library; "on" runs under the library and records. The import is what -X importtime says of it, the median.
A process of each kind is run in turn, as often as there are rounds."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOALS = {"@region, function of two arguments": (50, 250), "with region(\"x\", step=3)": (None, 500)}

PROGRAM = r'''
import asyncio, json, statistics, time
import dftrace

N, TURNS = 20000, 9
region = dftrace.region
def plain(a, b): return a
decorated = region(plain)
class Thing:
    def plain(self, a): return a
    @region
    def decorated(self, a): return a
thing = Thing()
reused = region("reused")
def generator():
    yield 1
decorated_generator = region(generator)
async def coroutine(): return 1
decorated_coroutine = region(coroutine)
async def numbers():
    yield 1
decorated_numbers = region(numbers)

def loop(body):
    names = {**globals()}
    exec("def run():\n    for i in range(N):\n        " + body, names)
    return names["run"]

def awaits(body):
    names = {**globals()}
    exec("async def inner():\n    for i in range(N):\n        " + body, names)
    return lambda: asyncio.run(names["inner"]())

ROWS = {
    "@region, function of two arguments": (loop("plain(i, 2)"), loop("decorated(i, 2)")),
    "@region, method": (loop("thing.plain(2)"), loop("thing.decorated(2)")),
    "with region(\"x\", step=3)": (loop("pass"), loop("with region('x', step=3): pass")),
    "with a region made before": (loop("pass"), loop("with reused: pass")),
    "iter, an element": (loop("pass"), lambda: [None for _ in dftrace.iter(range(N), "loop")]),
    "@region, generator of one element": (loop("for _ in generator(): pass"), loop("for _ in decorated_generator(): pass")),
    "@region, coroutine without a wait": (awaits("await coroutine()"), awaits("await decorated_coroutine()")),
    "@region, async generator of one": (awaits("async for _ in numbers(): pass"),
                                        awaits("async for _ in decorated_numbers(): pass")),
}

def timed(run):
    start = time.perf_counter_ns()
    run()
    return (time.perf_counter_ns() - start) / N

result = {}
for name, (bare, annotated) in ROWS.items():
    timed(bare), timed(annotated)
    result[name] = statistics.median(-timed(bare) + timed(annotated) for _ in range(TURNS))
print(json.dumps(result))
'''


def environment(build: pathlib.Path, traces: str = "") -> "dict[str, str]":
    env = {k: v for k, v in os.environ.items() if not k.startswith(("DFTRACE", "LD_PRELOAD", "PYTHON"))}
    env["PYTHONPATH"] = str(build / "python")
    if traces:
        env.update(LD_PRELOAD=str(build / "lib" / "libdftrace.so"), DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{traces}/t")
    return env


def run_one(python: str, env: "dict[str, str]") -> "dict[str, float]":
    done = subprocess.run([python, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, check=True)
    return {name: float(ns) for name, ns in json.loads(done.stdout).items()}


def import_us(python: str, env: "dict[str, str]") -> float:
    done = subprocess.run([python, "-X", "importtime", "-c", "import dftrace"], env=env, stderr=subprocess.PIPE,
                          universal_newlines=True, check=True)
    return float(done.stderr.splitlines()[-1].split("|")[1])


def main() -> None:
    parser = argparse.ArgumentParser(description="What annotations cost a Python program.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if not (arguments.build / "python" / "dftrace").is_dir():
        sys.exit(f"{arguments.build}/python is missing: build first (it needs Python's headers: python3-dev)")
    rounds: "list[tuple[dict[str, float], dict[str, float]]]" = []
    for _ in range(max(arguments.rounds, 1)):
        with tempfile.TemporaryDirectory() as traces:
            rounds.append((run_one(arguments.python, environment(arguments.build)),
                           run_one(arguments.python, environment(arguments.build, traces))))
    print(f"{'added, ns':40} {'off':>7} {'goal':>7} {'on':>7} {'goal':>7}")
    for name in rounds[0][0]:
        off, on = (statistics.median(one[i][name] for one in rounds) for i in (0, 1))
        goals = [str(goal or "") for goal in GOALS.get(name, ("", ""))]
        print(f"{name:40} {off:7.0f} {goals[0]:>7} {on:7.0f} {goals[1]:>7}")
    imports = [import_us(arguments.python, environment(arguments.build)) for _ in range(11)]
    print(f"{'import dftrace, us':40} {statistics.median(imports):7.0f} {'10000':>7}")


if __name__ == "__main__":
    main()
