# SPDX-License-Identifier: MIT
"""Whose a live file is, and whether its process still runs: copies, archives, other PID namespaces, other host names, other boots."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

from tracing import (BUILD, DFTMERGE, SHARED_MEMORY, compile_program, dftmerge, dump, equal, live_files, need, run, traces,
                     tracing, true)


ANOTHER_NAME = "import os, socket, sys; socket.sethostname('another'); os.execv(sys.argv[1], sys.argv[1:])"
PARENT_IS_KILLED = """import os, signal, sys
open(sys.argv[1], "w").close()
if not os.fork():
    os.close(os.open(sys.argv[1], os.O_RDONLY))  # its first call
    print("ready", flush=True)
    signal.pause()
os.wait()"""


def unshared(*what):
    """The command that runs another one in other namespaces."""
    need("unshare")
    for options in ((), ("-U", "-r")):
        command = ["unshare", *options, *what]
        if run([*command, "true"]).code == 0:
            return command
    pytest.skip("no namespaces may be made here")


def other_pids():
    return unshared("-p", "-f", "--mount-proc")


def start(directory, before=(), **more):
    """A process that has written 100 times and now waits; `before` is what runs it, untraced."""
    program = compile_program("endings.c", directory / "endings")
    settings = [f"{k}={v}" for k, v in tracing(directory / "out" / "t", **more).items()]
    process = subprocess.Popen([*before, "env", "-i", *settings, program, "hang", directory / "file", "100"],
                               stdout=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the program's word")
    return process


def kill(process):
    process.kill()
    process.wait()


def kill_child(process):
    """SIGKILL to the one child of a process that then ends."""
    [child] = [entry.name for entry in pathlib.Path("/proc").iterdir()
               if entry.name.isdigit() and is_child(entry, process.pid)]
    os.kill(int(child), 9)
    process.wait()


def is_child(entry, parent):
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent
    except OSError:  # it has gone
        return False


def ended(*paths, before=()):
    done = run([*before, DFTMERGE, "ps", "--json", *paths])
    return [p["ended"] for p in json.loads(done.out)["processes"]]


def writes(*paths):
    return sum(e["name"] == "write" and not e.get("open") for e in dump(*paths, expect=None))


def recovered(directory, *options):
    done = dftmerge("check", "--recover", *options, directory / "out")
    equal((live_files(directory / "out"), ended(directory / "out"), writes(directory / "out")), ([], ["killed"], 100),
          f"live files, how it ended and writes after --recover ({done.err.decode()})")


def test_copies_leave_the_original_alone(directory):
    live = pathlib.Path(tempfile.mkdtemp(prefix="dft-e2e-", dir=SHARED_MEMORY))  # surely fit for live files
    try:
        for place in (None, live):
            one = directory / ("elsewhere" if place else "beside")
            one.mkdir()
            kill(start(one, LIVE_DIR=place))
            for name, code in (("copy", 1), ("archive.dft", 0), ("together.dft", 1)):
                copy_is_recovered(one, place or one / "out", one / name, code)
            recovered(one)
            equal(live_files(live), [], "live files elsewhere")
    finally:
        shutil.rmtree(live)


def copy_is_recovered(directory, place, copy, code):
    [trace] = traces(directory / "out")
    before = [path.read_bytes() for path in (trace, *live_files(place))]
    if copy.name == "copy":
        shutil.copytree(directory / "out", copy)
    elif copy.name == "archive.dft":
        dftmerge("merge", "-o", copy, directory / "out")
    else:
        copy.write_bytes(trace.read_bytes())
    equal(dftmerge("check", "--recover", copy).code, code, f"{copy}: check --recover")
    equal([path.read_bytes() for path in (trace, *live_files(place))], before, f"{copy}: the original's files")
    equal((len(before), writes(directory / "out")), (2, 100), f"{copy}: files, and writes in the original")


def test_beside_its_copy_too(directory):
    """Named together, each live file goes into the trace beside it, and nothing into an archive."""
    kill(start(directory))
    [trace] = traces(directory / "out")
    dftmerge("merge", "-o", directory / "archive.dft", directory / "out")
    archive = (directory / "archive.dft").read_bytes()
    dftmerge("check", "--recover", directory / "archive.dft", directory / "out")
    equal((directory / "archive.dft").read_bytes(), archive, "the archive")
    equal(([p["file"] for p in json.loads(dftmerge("ps", "--json", directory / "out").out)["processes"]],
           ended(directory / "out"), live_files(directory / "out")), ([str(trace)], ["killed"], []), "the original")


def test_killed_in_another_namespace(directory):
    """Its pid is 1 there, and there is a process 1 here."""
    process = start(directory, other_pids())
    equal(ended(directory / "out"), ["running"], "while it runs, from outside")
    equal(len(live_files(directory / "out")), 1, "live files")
    dftmerge("check", "--recover", directory / "out")
    equal(len(live_files(directory / "out")), 1, "live files: it runs")
    kill_child(process)
    equal((ended(directory / "out"), dftmerge("check", directory / "out").code), (["killed"], 1), "how it ended, and check")
    recovered(directory)


def test_unknown_where_it_cannot_be_seen(directory):
    inside = other_pids()
    process = start(directory)
    try:
        equal(ended(directory / "out", before=inside), ["unknown"], "from another namespace")
        summary = json.loads(run([*inside, DFTMERGE, "summary", "--json", directory / "out"]).out)
        equal((summary["killed"], summary["running"], summary["unknown"]), (0, 0, 1), "the summary")
        true(any("cannot be seen from here" in note for note in summary["notes"]), summary["notes"])
        done = run([*inside, DFTMERGE, "check", "--recover", directory / "out"])
        equal((done.code, len(live_files(directory / "out"))), (1, 1), "check --recover from there, and live files")
        true(b"--force" in done.err and b"not moved into its trace" in done.err, done.err)
        equal(ended(directory / "out"), ["running"], "from here")
    finally:
        kill(process)
    recovered(directory)


def test_the_host_name_is_no_matter(directory):
    another = [*unshared("-u"), sys.executable, "-c", ANOTHER_NAME]
    process = start(directory)
    try:
        equal(ended(directory / "out", before=another), ["running"], "under another name")
    finally:
        kill(process)
    equal(ended(directory / "out", before=another), ["killed"], "under another name, when it was killed")


def test_a_child_is_not_taken_for_its_parent(directory):
    """A forked child has no file of its parent's mapped once it has made a call."""
    inside = other_pids()
    settings = tracing(directory / "out" / "t")
    process = subprocess.Popen([sys.executable, "-c", PARENT_IS_KILLED, directory / "file"], env=settings, stdout=subprocess.PIPE)
    equal(process.stdout.readline(), b"ready\n", "the child's word")
    [child] = [entry.name for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit() and is_child(entry, process.pid)]
    try:
        kill(process)
        equal(ended(directory / "out", before=inside), ["killed", "unknown"], "the parent and the child, from another namespace")
    finally:
        os.kill(int(child), 9)


def test_of_another_boot(directory):
    kill(start(directory))
    [live] = live_files(directory / "out")
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    content = live.read_bytes()
    equal(content[:4096].count(boot), 1, "boot ids in the header")
    live.write_bytes(content.replace(boot, b"0" * len(boot), 1))
    equal(ended(directory / "out"), ["unknown"], "how it ended")
    done = dftmerge("check", "--recover", directory / "out")
    equal((done.code, live_files(directory / "out")), (1, [live]), "check --recover, and live files")
    equal(json.loads(dftmerge("check", "--json", directory / "out").out)["live_unknown"], 1, "live_unknown")
    equal(dftmerge("check", directory / "out").code, 1, "check")
    recovered(directory, "--force")


def test_ready_between_two_looks(directory):
    """A live file that was just being made when dftmerge first looked at it is not one of an unknown process."""
    process = start(directory)
    [live] = live_files(directory / "out")
    kill(process)
    magic, seen = live.read_bytes()[:8], 0
    for at in range(1, 8):
        with open(live, "r+b") as file:
            file.write(bytes(8))
        env = dict(os.environ, LD_PRELOAD=str(BUILD / "lib" / "libend_meanwhile.so"), ENDS_LIVE=str(live), ENDS_AT=str(at),
                   READY_MAGIC=magic[::-1].hex())
        found = json.loads(dftmerge("ps", "--json", directory / "out", env=env).out)["processes"]
        if live.read_bytes()[:8] == magic:
            seen += 1
            equal([p["ended"] for p in found], ["killed"], f"ready when it is opened for the {at}. time")
    true(seen > 1, "it is opened more than once")
