# SPDX-License-Identifier: MIT
"""Runs fuzz_calls plain and traced in the same directory, and says what differs and what the trace has wrong."""

import collections
import hashlib
import json
import os
import pathlib
import shutil
import stat
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import fuzz_log  # noqa: E402
import fuzz_trace  # noqa: E402
from tracing import BUILD, dftmerge, dump, environment, live_files, run, tracing  # noqa: E402

PROGRAM = BUILD / "bin" / "fuzz_calls"
SECONDS = 900

Size = collections.namedtuple("Size", "ops processes threads")


def table():
    return fuzz_trace.Table(json.loads(dftmerge("debug", "calls", "--json").out)["calls"])


def make_tree(work, size):
    """What the workers find: a directory each, and a file of which each eight bytes tell their place."""
    for p in range(size.processes):
        workers = [f"w{p}t{t}" for t in range(size.threads)] if p % 2 and size.threads else []
        for name in [f"w{p}", *workers]:
            (work / name / "d1" / "d2").mkdir(parents=True)
            for more in ("d0", "outside/d0", "outside/d1/d2"):
                (work / name / more).mkdir(parents=True)
            for file in ("a", "d0/b", "d1/a"):
                (work / name / file).write_bytes(b"".join(b"line %d of %s\n" % (i, file.encode()) for i in range(300)))
            (work / name / "b").write_bytes(bytes(i * i % 251 for i in range(20000)))
    (work / "common").write_bytes(struct.pack("<131072Q", *range(0, 131072 * 8, 8)))


def tree(work):
    """Everything that can be seen of the files afterwards."""
    found = {}
    for path in sorted(work.rglob("*")):
        st = path.lstat()
        content = os.readlink(path) if path.is_symlink() else hashlib.md5(path.read_bytes()).hexdigest() \
            if path.is_file() else ""
        found[str(path.relative_to(work))] = (stat.filemode(st.st_mode), st.st_nlink, content,
                                              st.st_size if not path.is_dir() else 0)
    return found


class Once:
    """One run of one seed; what it left."""

    def __init__(self, directory, seed, size, traced, only=()):
        self.work, self.logs, self.traces = directory / "work", directory / "logs", directory / "traces"
        for place in (self.work, self.logs, self.traces):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
        make_tree(self.work, size)
        shutil.copy2(PROGRAM, self.logs / "fuzz_calls")
        env = tracing(self.traces / "t", DATA_DIR=":".join([str(self.work), *(f"!{place}/outside" for place in sorted(self.work.glob("w*")))])) if traced else environment()
        done = run([self.logs / "fuzz_calls", self.work, self.logs, seed, size.ops, size.processes, size.threads, *only],
                   cwd=directory, env=env, seconds=SECONDS)
        self.code, self.out, self.err = done
        self.tree = tree(self.work)
        self.log = fuzz_log.read_all(self.logs)


class Result:
    """What is wrong with a seed: findings, each with its kind; and what was compared."""

    def __init__(self):
        self.findings, self.counts, self.missing, self.nulls = [], collections.Counter(), collections.Counter(), \
            collections.Counter()

    def found(self, kind, call, text):
        self.findings.append(fuzz_trace.Finding(kind, call, text))


def behaviour(result, plain, traced):
    for what in ("code", "out", "err"):
        if getattr(plain, what) != getattr(traced, what):
            result.found(f"{what} differs", None, f"{getattr(plain, what)!r}, traced {getattr(traced, what)!r}")
    if plain.code:
        result.found("the program fails", None, f"{plain.code} {plain.err[-500:]!r}")
    for call, text in fuzz_log.differences(plain.log, traced.log):
        result.found(f"behaves differently: {call.name if call else ''}", call, text)
    for name in sorted(set(plain.tree) | set(traced.tree)):
        if plain.tree.get(name) != traced.tree.get(name):
            result.found("a file differs", None, f"{name}: {plain.tree.get(name)}, traced {traced.tree.get(name)}")


def examine(directory, calls, seed, size, only=()):
    """Runs the seed both ways and compares everything."""
    result = Result()
    plain = Once(directory, seed, size, False, only)
    traced = Once(directory, seed, size, True, only)
    behaviour(result, plain, traced)
    if live_files(traced.traces):
        result.found("a live file is left", None, str(live_files(traced.traces)))
    events = dump(traced.traces)
    checker = fuzz_trace.check(calls, traced.log, events)
    result.findings += checker.findings
    result.counts, result.missing, result.nulls = checker.counts, checker.missing, checker.nulls
    return result


# --- fewer operations that show the same ---

def ranges(numbers):
    """[1, 2, 3, 7] -> "1-3,7"."""
    parts = []
    for n in numbers:
        if parts and parts[-1][1] == n - 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in parts) or "-1"


def shrink(directory, calls, seed, size, finding, attempts=60):
    """The program's arguments for fewer operations of one process that still have this finding; None: not alone."""
    if not finding.call:
        return None
    worker = finding.call.worker.split(".")[0][1:]
    process, _, thread = worker.partition("t")
    more = [thread] if thread else []

    def shows(numbers):
        result = examine(directory, calls, seed, size, [process, ranges(numbers), *more])
        return any(f.kind == finding.kind for f in result.findings)

    last = finding.call.number if "." not in finding.call.worker else size.ops - 1
    numbers = list(range(last + 1))
    if not shows(numbers):
        return None
    step = max(len(numbers) // 2, 1)
    while attempts > 0:
        at = 0
        while at < len(numbers) and attempts > 0:
            fewer = numbers[:at] + numbers[at + step:]
            attempts -= 1
            if shows(fewer):
                numbers = fewer
            else:
                at += step
        if step == 1:
            break
        step = max(step // 2, 1)
    return [process, ranges(numbers), *more]
