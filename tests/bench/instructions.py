#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tracing costs real programs, in instructions: exact on any machine, whatever else it does.

    tests/bench/instructions.py [--build DIRECTORY] [--only WORD] [--aggregates] [--functions N]

Each row runs a program under callgrind and the library. It divides the instructions in libdftrace.so and its
compressor by the events in the trace, start and end of the process included. Then come the functions of the library
that take the most, with their share. --aggregates: with DFTRACER_ENABLE_AGGREGATION=1, where an event is one that the
same run with events keeps."""

import argparse
import collections
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = "/usr/share/perl"
DOCUMENTS = "/usr/share/doc"
PACKAGES = "json, re, argparse, subprocess, logging, unittest, email, http.client, xml.dom.minidom, asyncio"
DATABASE = "CREATE TABLE t(a INTEGER, b TEXT);" + "".join(
    f"INSERT INTO t VALUES({i}, 'row {i}');" for i in range(500))
LOOP = 100_000

Row = collections.namedtuple("Row", "name needs command input goal goal_aggregates")


def rows(bench_calls, folder):
    """The programs, with what has to be there for each."""
    file = os.path.join(folder, "file")
    copy = os.path.join(folder, "copy")
    with open(file, "wb") as out:
        out.truncate(16 << 20)
    return [
        Row("tar", [TREE], ["tar", "cf", os.path.join(folder, "t.tar"), TREE], None, 650, 350),
        Row("grep", [TREE], ["grep", "-rc", "no such words", TREE], None, 650, 350),
        Row("cp", [TREE], ["cp", "-r", TREE, copy], None, 700, 350),
        Row("find", [DOCUMENTS], ["find", DOCUMENTS, "-newer", "/etc/passwd"], None, 700, 350),
        Row("sqlite3", [], ["sqlite3", os.path.join(folder, "database")], DATABASE, 500, 250),
        Row("dd", [], ["dd", "if=" + file, "of=" + os.path.join(folder, "dd"), "bs=512", "count=2000"], None, 450, 200),
        Row("python", [], ["python3", "-Bc", f"import {PACKAGES}"], None, 1000, 600),
        Row("loop", [], [bench_calls, "pread", str(LOOP), file], None, 350, 150),
    ]


def missing(row):
    """Why the row cannot be measured here, or None."""
    if not shutil.which(row.command[0]):
        return f"there is no {row.command[0]} here"
    return next((f"there is no {path} here" for path in row.needs if not os.path.isdir(path)), None)


def read_profile(path, library):
    """Instructions by function of the library, without those of the functions that they call."""
    names, functions = {}, collections.Counter()
    function, is_own, is_call = None, False, False
    with open(path) as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("ob", "fn", "cob", "cfn"):
                number, _, name = value.partition(" ")
                full = names.setdefault((key[-2:], number), name)
                if key == "ob":
                    is_own = full.endswith(library)
                elif key == "fn":
                    function = full
            elif key == "calls":
                is_call = True  # the next line is what the call takes
            elif line[:1].isdigit() or line[:1] in "+-*":
                if is_own and not is_call:
                    functions[function] += int(line.split()[1])
                is_call = False
    return functions


def run(row, build, folder, aggregates):
    """One traced run under callgrind: instructions by function, and the number of events."""
    traces = os.path.join(folder, "traces")
    env = {name: value for name, value in os.environ.items() if not name.startswith("DFTRACER_")}
    settings = [f"LD_PRELOAD={build}/lib/libdftrace.so", "DFTRACER_ENABLE=1", f"DFTRACER_LOG_FILE={traces}/t"]
    if aggregates:
        settings.append("DFTRACER_ENABLE_AGGREGATION=1")
    os.mkdir(traces)
    command = ["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/profile.%p",
               "env", *settings, *row.command]
    done = subprocess.run(command, input=row.input, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=env, check=False)
    found = glob.glob(f"{traces}/*.dft")
    if not found:
        sys.exit(f"{row.name} left no trace under valgrind:\n{done.stderr}")
    functions = collections.Counter()
    for profile in glob.glob(f"{folder}/profile.*"):
        functions.update(read_profile(profile, "/libdftrace.so"))
    asked = subprocess.run([f"{build}/bin/dftmerge", "summary", "--json", *found], stdout=subprocess.PIPE, check=True)
    return functions, json.loads(asked.stdout)["events"]


def measure(name, build, bench_calls, aggregates):
    """Runs a row in a folder of its own, since a program finds what the last run of it made."""
    with tempfile.TemporaryDirectory() as folder:
        row = next(row for row in rows(bench_calls, folder) if row.name == name)
        return run(row, build, folder, aggregates)


def show(row, functions, events, options):
    own = sum(functions.values())
    goal = row.goal_aggregates if options.aggregates else row.goal
    print(f"{row.name:<10}{events:>9}{own / events:>10.0f}{goal:>8}", flush=True)
    for name, instructions in functions.most_common(options.functions):
        print(f"{'':<19}{instructions / events:>10.1f}  {instructions / own:>5.1%}  {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="where libdftrace.so was built")
    parser.add_argument("--only", default="", help="the rows whose name contains the word")
    parser.add_argument("--aggregates", action="store_true", help="keep aggregates alone")
    parser.add_argument("--functions", type=int, default=10, help="so many functions of each row (default 10)")
    options = parser.parse_args()
    build = os.path.realpath(options.build)
    bench_calls = os.path.join(build, "bin", "bench_calls")
    if not shutil.which("valgrind"):
        sys.exit("instructions.py counts with valgrind, and there is none here: install the package valgrind")
    if not os.path.exists(bench_calls):
        sys.exit(f"{bench_calls} is not there: build first (cmake -S . -B build && cmake --build build)")
    print(f"{'program':<10}{'events':>9}{'an event':>10}{'goal':>8}")
    with tempfile.TemporaryDirectory() as folder:
        chosen = [row for row in rows(bench_calls, folder) if options.only in row.name]
    if not chosen:
        sys.exit(f"no row's name contains '{options.only}'")
    for row in chosen:
        reason = missing(row)
        if reason:
            print(f"{row.name:<10}   skipped: {reason}", flush=True)
            continue
        functions, events = measure(row.name, build, bench_calls, False)
        if options.aggregates:
            functions, _ = measure(row.name, build, bench_calls, True)
        show(row, functions, events, options)


if __name__ == "__main__":
    main()
