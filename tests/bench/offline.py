#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What dftmerge needs for large inputs, beside the goals: processor time (of one thread), wall time, memory.

    DFT_BUILD=build tests/bench/offline.py [--dftracer DIRECTORY] [--copies N] [--events MILLIONS] [--rounds N]

--dftracer: a directory of .pfw or .pfw.gz files, each of which is copied --copies times (default 50): read cold, then
indexed, then asked about with 1,000 of them in the directory. Without it DFTracer's lines are those made here alone.
--events: of the native trace (default 100 million), which is one traced loop over and over under other process keys.
Takes about two minutes and half a gigabyte. Best of --rounds (default 3) runs each; nothing is judged, and what cannot
be measured is said."""

import argparse
import collections
import gzip
import json
import os
import pathlib
import random
import secrets
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
DFTMERGE = BUILD / "bin" / "dftmerge"
sys.path.insert(0, str(ROOT / "tests" / "format"))
import read_dft  # noqa: E402  (the independent reader: header layout and checksum)

LOOP_EVENTS = 4_000_000
MADE_LINES = 1_000_000
FILES_ASKED = 1000
Cost = collections.namedtuple("Cost", "out wall cpu mib")


class Unmeasured(Exception):
    """Why a part of the tables is left out."""


def run_once(arguments, to):
    start = time.monotonic()
    with subprocess.Popen([str(DFTMERGE), *map(str, arguments)], stdout=to, stderr=subprocess.DEVNULL) as process:
        out = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Unmeasured(f"dftmerge {' '.join(map(str, arguments))}: exit code {process.returncode}")
    return Cost(out, time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(rounds, *arguments, to=subprocess.PIPE):
    """The best time of each kind, the most memory."""
    costs = [run_once(arguments, to) for _ in range(rounds)]
    return Cost(costs[0].out, min(c.wall for c in costs), min(c.cpu for c in costs), max(c.mib for c in costs))


def print_head(title):
    print(f"\n{title:<58}{'CPU s':>8}{'wall s':>8}{'MiB':>6}{'million/s':>11}   goal", flush=True)


def print_cost(title, cost, count=None, goal=""):
    rate = f"{count / max(cost.cpu, 1e-4) / 1e6:.1f}" if count else ""
    print(f"{title:<58}{cost.cpu:>8.3f}{cost.wall:>8.3f}{cost.mib:>6.0f}{rate:>11}   {goal}", flush=True)


# --- DFTracer's traces

def copy_all(files, directory, copies):
    directory.mkdir()
    for i in range(copies):
        for path in files:
            shutil.copyfile(path, directory / f"{i}-{path.name}")


def print_dftracer(source, copies, rounds, tmp):
    files = sorted(p for p in source.glob("*") if p.name.endswith((".pfw", ".pfw.gz")))
    if not files:
        raise Unmeasured(f"{source}: no .pfw or .pfw.gz in it")
    copy_all(files, tmp / "all", copies)
    lines = json.loads(measure(1, "check", "--json", "--no-index", tmp / "all").out)["dftracer_records"]
    print_head(f"DFTracer, {len(files) * copies} files, {lines / 1e6:.1f} million lines")
    print_cost("cold, nothing kept: summary --by rank (1 thread)",
               measure(rounds, "summary", "--csv", "--by", "rank", "--threads", 1, "--no-index", tmp / "all"), lines,
               "> 3 million/s with libdeflate, 2 with zlib")
    print_cost("cold, index written: the same", measure(1, "summary", "--csv", "--by", "rank", "--threads", 1, tmp / "all"), lines)
    shutil.rmtree(tmp / "all")
    some = (files * (FILES_ASKED // len(files) + 1))[:FILES_ASKED]
    (tmp / "some").mkdir()
    for i, path in enumerate(some):
        shutil.copyfile(path, tmp / "some" / f"{i}-{path.name}")
    events = json.loads(measure(1, "summary", "--json", tmp / "some").out)["events"]
    print_head(f"the same indexed, {FILES_ASKED} files, {events / 1e6:.1f} million events")
    print_cost("the first question by file: counts what all did together",
               measure(1, "summary", "--by", "file", tmp / "some"), events)
    for question in ("--by cat,name", "--by rank", "--by rank,name", "--by time", "--by file", "--by file,name", "--by dir",
                     "--by pattern,class", "--by name --file *a*", "--csv --by file"):
        print_cost(f"summary {question}", measure(rounds, "summary", *question.split(), tmp / "some"), events,
                   "wall < 0.1 s")
    print_cost("summary", measure(rounds, "summary", tmp / "some"), events)
    for question in ("--by file --events", "--by rank,file", "--by call --from 1", "--csv --by time", "--csv --by file --events"):
        print_cost(f"summary {question}, from events", measure(1, "summary", *question.split(), tmp / "some"), events)
        print_cost("    once more", measure(rounds, "summary", *question.split(), tmp / "some"), events, "wall < 0.1 s")
    shutil.rmtree(tmp / "some")


def made_lines(count, length):
    """Lines of one process, as DFTracer writes them: calls on 300 files. `length`: of each, 0: as they come."""
    dice, now = random.Random(1), 1_700_000_000_000_000
    files = [dice.getrandbits(128 if length else 16) for _ in range(300)]
    value = '"%032x"' if length else "%d"
    host = value % dice.getrandbits(16)
    yield "[\n"
    for i, number in enumerate(files):
        yield (f'{{"id":{i},"name":"FH","cat":"dftracer","pid":100,"tid":100,"ph":"M","args":{{"hhash":{host},'
               f'"name":"/scratch/project/run/{i:05}/output.h5","value":{value % number}}}}}\n')
    for i in range(len(files), count):
        duration = dice.randrange(1, 900)
        name = dice.choice(("read", "write", "__xstat", "open64", "close"))
        line = (f'{{"id":{i},"name":"{name}","cat":"POSIX","pid":100,"tid":100,"ts":{now},"dur":{duration},'
                f'"ph":"X","args":{{"hhash":{host},"p_idx":-1,"level":1,"fhash":{value % dice.choice(files)},'
                f'"ret":{dice.randrange(65536)}')
        if length:
            line += f',"count":65536,"offset":{dice.randrange(1 << 40)},"epoch":{i // 10000},"step":{i % 10000},"note":"'
            line += "x" * (length - len(line) - 4) + '"'
        now += duration + dice.randrange(5, 400)
        yield line + "}}\n"


def print_made(rounds, tmp):
    print_head(f"DFTracer's lines made here, {MADE_LINES / 1e6:.1f} million of one process")
    for title, name, length, goal in (("short lines, in gzip", "short.pfw.gz", 0, "> 3 million/s with libdeflate, 2 with zlib"),
                                      ("lines of 320 bytes", "long.pfw", 320, "> 1.5 million/s, which is 500 MB/s")):
        path = tmp / name
        with (gzip.open if name.endswith(".gz") else open)(path, "wt") as out:
            out.writelines(made_lines(MADE_LINES, length))
        print_cost(f"{title}: summary --by rank (1 thread)",
                   measure(rounds, "summary", "--csv", "--by", "rank", "--threads", 1, "--no-index", path), MADE_LINES, goal)
        path.unlink()


# --- a native trace

def with_other_key(trace):
    """The same blocks under another process key. A CRC is linear, so that all headers' change by the same bits."""
    head, key = read_dft.HEADER, secrets.randbits(64)
    fields = [0] * len(read_dft.FIELDS)
    nothing = read_dft.crc32c(head.pack(*fields))
    fields[read_dft.FIELDS.index("key")] = key
    crc = nothing ^ read_dft.crc32c(head.pack(*fields))
    key_at = head.pack(*fields).index(struct.pack("<Q", key))
    fields[read_dft.FIELDS.index("key")] = 0
    fields[read_dft.FIELDS.index("header_crc")] = 0xA5A5A5A5
    crc_at = head.pack(*fields).index(b"\xa5" * 4)
    copy, at = bytearray(trace), 0
    while at + head.size <= len(copy):
        header = dict(zip(read_dft.FIELDS, head.unpack_from(copy, at)))
        if header["magic"] != int.from_bytes(read_dft.MAGIC, "little"):
            at += 8  # a hole
            continue
        struct.pack_into("<Q", copy, at + key_at, header["key"] ^ key)
        struct.pack_into("<I", copy, at + crc_at, header["header_crc"] ^ crc)
        at += (head.size + header["stored"] + 7) // 8 * 8
    return copy


def make_native(directory, events):
    directory.mkdir()
    (directory / "file").write_bytes(bytes(16 << 20))
    environment = dict(os.environ, LD_PRELOAD=str(BUILD / "lib" / "libdftrace.so"), DFTRACER_ENABLE="1",
                       DFTRACER_LOG_FILE=str(directory / "loop"))
    subprocess.run([BUILD / "bin" / "bench_calls", "pread", str(LOOP_EVENTS), directory / "file"], env=environment,
                   stdout=subprocess.DEVNULL, check=True)
    (directory / "file").unlink()
    trace = next(directory.glob("*.dft")).read_bytes()
    for i in range(max(events // LOOP_EVENTS - 1, 0)):
        (directory / f"copy-{i}.dft").write_bytes(with_other_key(trace))


def print_native(events, rounds, tmp):
    directory = tmp / "native"
    make_native(directory, events)
    size = sum(file.stat().st_size for file in directory.iterdir())
    events = json.loads(measure(1, "summary", "--json", "--by", "name", directory).out)["events_kept"]
    print_head(f"native, {events / 1e6:.0f} million events, {size / 2**20:.0f} MiB")
    for title, goal, arguments in (
            ("summary --by cat,name: from rows", "wall < 0.1 s", ["summary", "--by", "cat,name"]),
            ("summary: calls from rows, files from events", "", ["summary"]),
            ("check: every event decoded", "> 47 million/s", ["check"]),
            ("summary --events: the default page from events", "> 25 million/s", ["summary", "--events"]),
            ("summary --by file: every event grouped", "", ["summary", "--by", "file"]),
            ("summary --by file,name", "", ["summary", "--by", "file,name"])):
        print_cost(title, measure(rounds, *arguments, "--threads", 1, directory), events, goal)
    one = next(directory.glob("*.dft"))
    events = json.loads(measure(1, "summary", "--json", "--by", "name", one).out)["events_kept"]
    print_head(f"one of its files, {events / 1e6:.0f} million events, to /dev/null")
    for arguments in (["dump", "--json", "--unsorted"], ["dump", "--json"], ["dump"], ["export", "--format", "csv", "-o", "-"]):
        print_cost(" ".join(arguments), measure(rounds, *arguments, "--threads", 1, one, to=subprocess.DEVNULL), events,
                   "> 4 million/s")
    shutil.rmtree(directory)


def print_rows():
    aggregator = BUILD / "bin" / "bench_aggregator"
    if not os.access(aggregator, os.X_OK):
        raise Unmeasured(f"{aggregator} is not built")
    print("\nrows (goal: > 20 million merged a second)", flush=True)
    text = subprocess.run([aggregator], stdout=subprocess.PIPE, check=True).stdout.decode()
    print("".join(line + "\n" for line in text.splitlines() if "merged" in line), end="")


def attempt(part, *arguments):
    """The parts do not depend on each other."""
    try:
        part(*arguments)
    except (Unmeasured, OSError, subprocess.CalledProcessError) as error:
        print(f"\nnot measured: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dftracer", type=pathlib.Path, metavar="DIRECTORY")
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--events", type=int, default=100, metavar="MILLIONS")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; best of {options.rounds} runs")
    with tempfile.TemporaryDirectory(prefix="dftrace-bench-") as name:
        tmp = pathlib.Path(name)
        if options.events:
            attempt(print_native, options.events * 1_000_000, options.rounds, tmp)
        attempt(print_made, options.rounds, tmp)
        if options.dftracer:
            attempt(print_dftracer, options.dftracer, options.copies, options.rounds, tmp)
        else:
            print("\nnot measured: traces of DFTracer (--dftracer DIRECTORY)")
    attempt(print_rows)


if __name__ == "__main__":
    main()
