# SPDX-License-Identifier: MIT
"""Traces of aggregates alone: what a program counted of its own calls is what the rows say, in loops, over many intervals
and files, in threads, handlers and children, and however the program ends. And how large the trace and the live file are.

DFT_FILES: files that are touched once (30000). DFT_INTERVALS: intervals of a millisecond of the longer run (7200)."""

import collections
import json
import os
import signal
import subprocess

import pytest

from tracing import ROOT, SECONDS, compile_program, dftmerge, equal, live_files, need, run_checked, traces, tracing, true

KIB, MIB = 1 << 10, 1 << 20
FILES = int(os.environ.get("DFT_FILES", "30000"))
INTERVALS = int(os.environ.get("DFT_INTERVALS", "7200"))
NAMES = "open,close,read,write,pread,pwrite,lseek,ftruncate,fsync,unlink,flock,fgetc,fgets,fputc,chdir,mkdir,step"
Ran = collections.namedtuple("Ran", "told words out work code")


class Program:
    """The program, running, and its trace."""

    def __init__(self, directory, what, *numbers, code=0, label="", **settings):
        self.work, self.out, self.code = directory / f"work{label}", directory / f"out{label}", code
        self.work.mkdir()
        self.out.mkdir()
        program = directory / "rows"
        if not program.exists():
            compile_program("rows.c", program, f"-I{ROOT / 'include'}", "-pthread", "-Wall", "-Wextra", "-Werror")
        env = tracing(self.out / "t", DATA_DIR=self.work, **{"ENABLE_AGGREGATION": 1, **settings})
        self.process = subprocess.Popen([program, what, self.work, *map(str, numbers)], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, text=b""):
        out, err = self.process.communicate(text, timeout=SECONDS)
        equal((self.process.returncode, err), (self.code, b""), "exit code and standard error")
        told, words = {}, {}
        for line in out.decode().splitlines():
            fields = line.split()
            if len(fields) == 2:
                words[fields[0]] = int(fields[1])
            else:
                told[int(fields[0]), fields[1]] = tuple(map(int, fields[2:]))
        return Ran(told, words, self.out, self.work, self.process.returncode)


def traced(directory, what, *numbers, **more):
    return Program(directory, what, *numbers, **more).end()


def summary(*arguments):
    done = dftmerge("summary", "--json", "-q", *arguments)
    equal((done.code, done.err), (0, b""), f"summary {arguments}")
    return json.loads(done.out)


def seen(out, *arguments):
    """What the trace says that each process called: (pid, name) -> count, errors, bytes."""
    answer = summary("--by", "pid,name", "--name", NAMES, *arguments, out)
    equal((answer["dropped"], answer["unread"]), ({}, 0), "nothing is lost")
    return {(g["pid"], g["name"]): (g["count"], g["errors"], g["bytes"]) for g in answer["groups"] if g["count"]}


def same(ran):
    equal(seen(ran.out), ran.told, "calls of the trace, and what the program counted")


def size(out):
    return sum(path.stat().st_size for path in traces(out))


def at_most(number, most, what):
    true(number <= most, f"{what}: {number:,} of {most:,} bytes")


def by_file(out):
    """Calls by file; files that were not told apart are under their directory."""
    answer = summary("--by", "file", out)
    true(len(answer["groups"]) == len({g["file"] for g in answer["groups"]}), "each file once")
    return {g["file"]: g["count"] for g in answer["groups"] if g["file"]}, answer["notes"]


# --- how much, and how large --------------------------------------------------------------------


def test_a_loop(directory):
    ran = traced(directory, "loop", 400000)
    same(ran)
    at_most(size(ran.out), 16 * KIB, "the trace")


def check_intervals(ran, count):
    same(ran)
    at_most(size(ran.out), 2 * MIB * count / 3600, f"the trace of {count} intervals")
    found, _ = by_file(ran.out)
    equal(found.pop(str(ran.work)), 1, "chdir")
    calls = {str(ran.work / name): number for name, number in ran.words.items()}
    equal(sum(found.values()), 8 * count, "calls on files")
    true(found.pop("//", 0) < 8 * count / 20, "few calls are counted for any files")
    true(set(found) <= {*calls, f"{ran.work}/"}, f"files and their directory: {sorted(set(found) - set(calls))}")
    for name, number in calls.items():
        true(found.get(name, 0) <= number, f"{name}: {found.get(name)} calls, of {number}")


def test_many_files_over_many_intervals(directory):
    """Both at once: they sleep most of the time."""
    programs = [(count, Program(directory, "intervals", count, label=count, TRACE_INTERVAL_MS=1)) for count in (3600, INTERVALS)]
    sizes = []
    for count, program in programs:
        ran = program.end()
        check_intervals(ran, count)
        sizes.append(size(ran.out) / count)
    true(sizes[1] <= 1.25 * sizes[0], f"it grows with the number of intervals alone: {sizes} bytes an interval")


def test_files_touched_once(directory):
    ran = traced(directory, "touch", FILES)
    same(ran)
    found, notes = by_file(ran.out)
    equal(sum(found.values()), sum(numbers[0] for numbers in ran.told.values()), "calls on files")
    folded = sum(count for name, count in found.items() if name.endswith("/"))
    true(folded and any(note.startswith(f"{folded} calls are on more files than aggregates tell apart") for note in notes),
         f"{folded} calls are counted by directory: {notes}")
    true(all(count <= 4 for name, count in found.items() if not name.endswith("/")), "a file that is told apart has its calls at most")
    at_most(size(ran.out), MIB, "the trace")


FOLDERS = """
import os
for i in range(400):
    os.makedirs("d/%d" % i)
    open("d/%d/f" % i, "w").write("x")
"""


def test_files_of_too_many_directories(directory):
    run_checked(["/usr/bin/python3", "-S", "-c", FOLDERS], cwd=directory, env=tracing(directory / "out" / "t", ENABLE_AGGREGATION=1))
    found, _ = by_file(directory / "out")
    anywhere = found["//"]
    true(anywhere > 0, f"{found}")
    for key, count in (("dir", anywhere), ("dir:1", anywhere), ("mount", anywhere), ("ext", sum(n for name, n in found.items() if name.endswith("/")))):
        groups = {g[key[:5].split(":")[0]]: g["count"] for g in summary("--by", key, directory / "out")["groups"]}
        equal(groups["(unknown)"], count, key)


def test_the_live_file(directory):
    """A page for the process, 64 KiB a thread, and a page where the file has grown to, which the library reserves."""
    for count, most in ((4, 5 * 64 * KIB + 8 * KIB), (110, 8 * MIB), (300, 24 * MIB)):
        program = Program(directory, "threads", count, label=count)
        equal(program.process.stdout.readline(), f"ready {count}\n".encode(), "the program")
        live, = live_files(program.out)
        at_most(live.stat().st_blocks * 512, most, f"the live file of {count} threads")
        found = seen(program.out)
        equal({name: numbers[0] for (_, name), numbers in found.items()},
              {"chdir": 1, "open": count, "ftruncate": count, "pread": count * 100 + count * (count - 1) // 2}, "while it runs")
        ran = program.end(b"x")
        same(ran)
        equal(live_files(program.out), [], "live files at the end")


# --- handlers, children, threads ----------------------------------------------------------------


def test_a_handler_that_calls(directory):
    ran = traced(directory, "alarms", 5000)
    same(ran)
    equal(ran.words["handled"] >= 5000, True, "the handler ran")
    found, _ = by_file(ran.out)
    equal(found[str(ran.work / "handler")], ran.words["handled"] + 2, "calls of the handler")
    at_most(size(ran.out), 16 * KIB, "the trace: most calls do not go through the ring")


def test_a_handler_that_jumps(directory):
    ran = traced(directory, "jumps", 5000)
    true(ran.words["jumped"] > 100, f"it jumped {ran.words['jumped']} times")
    found = seen(ran.out)
    for key, (count, errors, _) in ran.told.items():
        most = count + (ran.words["jumped"] if key[1] == "pread" else 0)
        true(count <= found[key][0] <= most and found[key][1] == errors, f"{key}: {found[key]}, of {count} to {most}")
    at_most(size(ran.out), 16 * KIB, "the trace: most calls do not go through the ring")


def test_children_and_threads(directory):
    ran = traced(directory, "family", 4)
    same(ran)
    equal(len(traces(ran.out)), 1 + 4 + 4, "a trace for each process")
    equal(len({pid for pid, _ in ran.told}), 9, "processes that counted")
    at_most(size(ran.out), 9 * 16 * KIB, "the traces")


# --- long calls ---------------------------------------------------------------------------------


def test_calls_longer_than_intervals(directory):
    ran = traced(directory, "locks", 5, TRACE_INTERVAL_MS=10)
    pid, = {pid for pid, _ in ran.told}
    equal({key: numbers for key, numbers in seen(ran.out).items() if key[0] == pid}, ran.told, "calls of the trace, and what the program counted")
    call, = (g for g in summary("--by", "pid,name", "--name", "flock", ran.out)["groups"] if g["pid"] == pid)
    true(5 * 59_000_000 <= call["time_ns"] <= ran.words["most_ns"], f"{call['time_ns']} ns, at most {ran.words['most_ns']}")
    true(ran.words["most_ns"] - call["time_ns"] < 50_000_000, f"{call['time_ns']} ns, about {ran.words['most_ns']}")
    answer = summary("--by", "time,pid", "--name", "flock", ran.out)
    groups = [g for g in answer["groups"] if g["pid"] == pid]
    equal(answer["width_ns"], 10_000_000, "width")
    equal((sum(g["busy_ns"] for g in groups), sum(g["time_ns"] for g in groups)), (call["time_ns"], call["time_ns"]),
          "busy and call times of the intervals")
    true(all(g["busy_ns"] <= answer["width_ns"] for g in groups), "one thread is busy for at most the whole interval")
    true(sum(g["busy_ns"] == answer["width_ns"] for g in groups) >= 5 * 4, "some intervals are busy as a whole")


# --- pauses and ends ----------------------------------------------------------------------------


def test_pauses(directory):
    same(traced(directory, "pauses", 20))


@pytest.mark.parametrize("how, code", (("exit", 0), ("_exit", 0), ("abort", -signal.SIGABRT), ("fault", -signal.SIGSEGV), ("kill", -signal.SIGKILL)))
def test_end(directory, how, code):
    ran = traced(directory, "end", how, code=code)
    equal(bool(live_files(ran.out)), code < 0, "a killed program leaves its live file")
    same(ran)
    execs = summary("--by", "name", "--name", "exec*", ran.out)["groups"]
    equal([(g["count"], g["errors"]) for g in execs], [(1, 1)], "the exec that failed")


# --- streams, and a real program ----------------------------------------------------------------


def test_streams_and_regions(directory):
    ran = traced(directory, "streams", 500)
    same(ran)
    regions = {(g["region"], g["name"]): g["count"] for g in summary("--by", "region,name", "--name", "fputc,fgetc", ran.out)["groups"]}
    equal(regions, {("step", "fputc"): 50000, (None, "fgetc"): 50001}, "calls of regions")
    at_most(size(ran.out), 32 * KIB, "the trace")


def test_tar_of_small_files(directory):
    """The same calls as with events, in less: how much less depends on how many files there are."""
    need("tar")
    for files, share in ((300, 0.8), (3000, 0.5)):
        for i in range(files):
            folder = directory / f"tree{files}" / f"d{i % 10}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"file{i}").write_bytes(b"x" * (i % 300))
        sizes, counts = [], []
        for label, settings in (("events", {}), ("rows", {"ENABLE_AGGREGATION": 1})):
            out = directory / f"{label}{files}"
            run_checked(["tar", "-cf", directory / f"{label}.tar", "-C", directory, f"tree{files}"], env=tracing(out / "t", **settings))
            answer = summary("--by", "name,class", out)
            counts.append({(g["name"], g["class"]): (g["count"], g["errors"], g["bytes"]) for g in answer["groups"]})
            sizes.append(size(out))
        equal(counts[1], counts[0], f"calls of both, {files} files")
        true(sizes[1] <= share * sizes[0], f"{files} files: bytes with events, and of rows alone: {sizes}")
