# SPDX-License-Identifier: MIT
"""A program of others, run plain and traced in the same freshly made place: what must be the same, and that the traces are sound."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import sys
import tempfile
import time

import pytest

from endings import Endings
from tracing import BUILD, DFTRUN, FULL, LIBRARY, SHARED_MEMORY, dftmerge, equal, environment, need, run, tracing, true  # noqa: F401

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so would all programs here
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
SECONDS = 900
WITNESS_SECONDS = 2
CHILD_SECONDS = 60
UNWRITABLE = {"no space for the trace", "no descriptor for the trace", "write failed"}

# What differs between two plain runs: a pattern, what takes its place, and why that says nothing about the tracer.
Rule = collections.namedtuple("Rule", "pattern replacement reason")


def full(function):
    """A case of the full form only."""
    def test(directory):
        if not FULL:
            pytest.skip("in the full form only")
        function(directory)
    test.__name__ = function.__name__
    return test


def described(path):
    """A file as a program could see it, but for its times."""
    status = path.lstat()
    what = (stat.filemode(status.st_mode), status.st_uid, status.st_gid)
    if path.is_symlink():
        return what + (os.readlink(path),)
    if stat.S_ISREG(status.st_mode):
        attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
        return what + (status.st_nlink, status.st_size, hashlib.sha256(path.read_bytes()).hexdigest(), attributes)
    return what


def tree(place, ignore):
    """All files below, except those whose names match a rule."""
    found = {}
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if not any(re.search(rule.pattern, name) for rule in ignore):
            found[name] = described(path)
    return found


def normalised(text, rules):
    for rule in rules:
        text = re.sub(rule.pattern, rule.replacement, text, flags=re.M)
    return text


def first_difference(plain, traced):
    """Where two texts part, for a person."""
    a, b = (text.decode(errors="replace").splitlines() for text in (plain, traced))
    for i in range(max(len(a), len(b))):
        left, right = (lines[i] if i < len(lines) else "(nothing)" for lines in (a, b))
        if left != right:
            return f"line {i + 1}: plain {left[:300]!r}, traced {right[:300]!r}"
    return "bytes that are no text"


def trees_differ(plain, traced):
    lines = [f"{name}: plain {plain.get(name)}, traced {traced.get(name)}"
             for name in sorted(plain.keys() | traced.keys()) if plain.get(name) != traced.get(name)]
    return "; ".join(lines[:5])


def fresh(directory, prepare):
    """The directories of one run: always the same paths, because programs print them."""
    for name in ("work", "tmp", "home"):
        run(["rm", "-rf", directory / name])
        (directory / name).mkdir()
    if prepare:
        prepare(directory / "work")
    return directory / "work"


def own_environment(directory, more):
    return {"TMPDIR": str(directory / "tmp"), "HOME": str(directory / "home"), **(more or {})}


def run_plain(directory, command, prepare=None, stdin=None, env=None, seconds=SECONDS):
    work = fresh(directory, prepare)
    return run(command, cwd=work, stdin=stdin, env={**environment(), **own_environment(directory, env)}, seconds=seconds)


def live_directory(place):
    """A place for live files where the traces' file system is not fit for them: in /dev/shm itself, whoever has become another user cannot
    remove his own."""
    kind = run(["stat", "-f", "-c", "%t", place]).out.decode().strip()
    if kind in ("ef53", "58465342", "1021994"):  # ext2 to 4, xfs, tmpfs
        return None
    live = tempfile.mkdtemp(prefix="dft-guest-", dir=SHARED_MEMORY)
    os.chmod(live, 0o777)
    return live


def run_traced(directory, command, prepare=None, stdin=None, env=None, seconds=SECONDS, settings=None, preload=(),
               sound=True, writable=True, dropped=()):
    """Runs it, and checks its traces. settings: of the tracer; preload: other libraries; sound: whether the traces are checked; writable: for
    all users; dropped: reasons for lost events that are meant."""
    work = fresh(directory, prepare)
    directory.chmod(0o755)
    place = directory / "traces"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    place.chmod(0o777 if writable else 0o755)  # some become another user
    env = {**tracing(place / "t", **(settings or {})), **own_environment(directory, env)}
    env["LD_PRELOAD"] = ":".join([str(LIBRARY), *map(str, preload)])
    endings = Endings()
    live = live_directory(place)
    if live:
        env.setdefault("DFTRACER_LIVE_DIR", live)
    try:
        done = run(command, cwd=work, stdin=stdin, env=env, seconds=seconds)
        if sound:
            check_traces(place, endings, set(dropped))
    finally:
        endings.close()
        if live:
            shutil.rmtree(live)
    return done


def processes_of(place):
    done = dftmerge("ps", "--json", "-q", place, seconds=SECONDS)
    return json.loads(done.out)["processes"] if done.out else []


def is_ending(process):
    """It says that it has ended, and has not removed its live file yet."""
    return process["ended"] != "killed" and process["live_file"] and os.path.exists(f"/proc/{process['pid']}")


def wait_for_the_last(place):
    """Some programs do not wait for all of their children."""
    until = time.monotonic() + CHILD_SECONDS
    while time.monotonic() < until and any(process["ended"] == "running" or is_ending(process) for process in processes_of(place)):
        time.sleep(0.1)


def died_of_signal(endings, process, until):
    """The kernel's word comes a little later than the parent's wait."""
    while endings.died_of_signal(process) is None and endings.statuses is not None and time.monotonic() < until:
        time.sleep(0.02)
    return endings.died_of_signal(process)


def cut_short(notes):
    """(file, process) of those that were not whole yet when their process was killed."""
    for note in notes:
        # the last: there was no room for a live file (a limit on the size of files), and a signal of that limit ended it
        found = re.match(r"(.*-(\d+)-\d+-[0-9a-f]+\.dft(?:\.live)?): (?:empty|not a live file|process \d+ has no end and no live file)", note)
        if found:
            yield found.group(1), int(found.group(2))


def check_traces(place, endings, dropped):
    """Every block is good, nothing was dropped, and only processes that a signal ended left their live file."""
    if not any(place.iterdir()):
        return
    wait_for_the_last(place)
    done = dftmerge("check", "--json", "-q", place, seconds=SECONDS)
    true(done.out, f"dftmerge check says nothing: {done.err.decode()}")
    report = json.loads(done.out)
    until = time.monotonic() + WITNESS_SECONDS
    begun = {file: process for file, process in cut_short(report["notes"])}
    told = {process["live_file"] for process in processes_of(place) if process["ended"] not in ("killed", "running")}
    unasked = [file for file, process in begun.items() if file + ".live" not in told and died_of_signal(endings, process, until) is False]
    true(not unasked, f"begun and left by processes that no signal ended: {unasked}")
    report["files_bad"] -= sum(file.endswith(".live") for file in begun)  # an empty trace counts as none
    bad = {key: value for key, value in report.items() if value and key.startswith(("files_bad", "blocks_", "bytes_"))
           and key not in ("blocks",)}
    true(not bad, f"dftmerge check: {bad}: {[note for note in report['notes'] if 'killed' not in note][:4]}")
    images = processes_of(place)
    many = {pid for pid, n in collections.Counter(p["pid"] for p in images).items() if n > 1}
    wrong = []
    for process in images:
        who = f"{process['pid']} {' '.join(process['command']).strip()[:100]}"
        if process["dropped"].keys() - dropped:
            wrong.append(f"{who}: dropped {process['dropped']}")
        if process["ended"] == "killed" or process["live_file"]:
            killed = died_of_signal(endings, process["pid"], until)
            # what could not be written at the end, or was lost, the live file alone can tell of
            meant = dropped & UNWRITABLE and process["ended"] != "killed" or process["dropped"] and not process["dropped"].keys() - dropped
            if not meant and not (process["ended"] == "killed" if killed is None else killed):
                wrong.append(f"{who}: ended ({process['ended']}, {process['status']}) and left {process['live_file']}")
        elif process["ended"] == "exit" and process["status"] is not None and process["pid"] not in many and endings.statuses is not None:
            status = endings.statuses.get(process["pid"])
            if status not in (None, process["status"] << 8):
                wrong.append(f"{who}: the trace says it ended with {process['status']}, the kernel {status:#x}")
    true(not wrong, f"{len(wrong)} processes: " + "; ".join(wrong[:4]))
    killed = any(process["status"] is None and died_of_signal(endings, process["pid"], until) for process in images)  # without a live file
    true(report["live_left"] or report["good"] or report["dropped"] or killed or len(begun) == len(report["notes"]),
         f"dftmerge check: {report['notes'][:3]}")


def both(directory, command, prepare=None, expect=0, rules=(), ignore=(), least=1, **more):
    """Runs it plain and traced: the same exit code, output, messages and files. Returns the plain result.

    rules: what is replaced in the output and the messages, ignore: names of files that are not compared (all Rules); least: trace
    files that there must be; more: as for run_traced."""
    need(str(command[0]))
    for_plain = {k: v for k, v in more.items() if k in ("stdin", "env", "seconds")}
    if more.get("preload"):
        for_plain["env"] = {**for_plain.get("env", {}), "LD_PRELOAD": ":".join(map(str, more["preload"]))}
    plain = run_plain(directory, command, prepare, **for_plain)
    equal(plain.code, expect, f"exit code of the plain run ({plain.out.decode()[-300:]} {plain.err.decode()[-600:]})")
    left = {name: tree(directory / name, ignore) for name in ("work", "tmp", "home")}
    traced = run_traced(directory, command, prepare, **more)
    equal(traced.code, plain.code, f"exit code ({traced.out.decode()[-300:]} {traced.err.decode()[-600:]})")
    for what in ("out", "err"):
        texts = [normalised(getattr(result, what), rules) for result in (plain, traced)]
        true(texts[0] == texts[1], f"{what}: {first_difference(*texts)}")
    for name, before in left.items():
        after = tree(directory / name, ignore)
        true(after == before, f"files in {name}: {trees_differ(before, after)}")
    found = len(list((directory / "traces").glob("*.dft")))
    true(found >= least, f"{found} traces, at least {least} were expected")
    return plain
