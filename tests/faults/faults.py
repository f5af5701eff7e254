# SPDX-License-Identifier: MIT
"""What the tests of faults share: small disks of several kinds, programs in phases, and the account that has to come out even."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from tracing import (DFTMERGE, FULL, LIBRARY, ROOT, Result, SECONDS, dftmerge, dump, environment, equal, need, run, run_checked,  # noqa: F401
                     traces, tracing, true)

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def compile_program(directory, name, *flags):
    output = directory / name
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-I", PROGRAMS.parents[2] / "include", "-o", output, PROGRAMS / f"{name}.c",
                 "-pthread", *flags])
    return output


# --- disks -----------------------------------------------------------------------------------------------------------

SIZES = {"ext4": 16 << 20, "btrfs": 128 << 20, "tmpfs": 4 << 20}


@contextlib.contextmanager
def disk(directory, kind):
    """A small file system of its own. The test is skipped where none can be had."""
    place = directory / f"disk-{kind}"
    place.mkdir()
    if kind == "tmpfs":
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZES[kind]}", "tmpfs", place]
    else:
        image = directory / f"{kind}.img"
        with open(image, "wb") as file:
            file.truncate(SIZES[kind])
        make = shutil.which(f"mkfs.{kind}", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if not make:
            pytest.skip(f"mkfs.{kind} is not installed")
        run_checked([make, "-q", image] if kind == "btrfs" else [make, "-q", "-m", "0", image])
        mount = ["mount", "-t", kind, "-o", "loop", image, place]
    done = run(mount)
    if done.code:
        pytest.skip(f"no {kind} can be mounted here: {done.err.decode(errors='replace').strip()}")
    try:
        yield place
    finally:
        run(["umount", "-l", place])


def fill(place, leave):
    """Fills a disk but for so many bytes. Returns the file that does so."""
    filler = place / "filler"
    with open(filler, "wb", buffering=0) as file:
        for _ in range(2):  # what is written back may need less than was reserved
            for size in (1 << 20, 4096):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
            with contextlib.suppress(OSError):
                os.fsync(file.fileno())
        if leave:
            file.truncate(max(0, file.tell() - leave))
            os.fsync(file.fileno())
    return filler


# --- programs in phases ----------------------------------------------------------------------------------------------


def in_phases(program, work, calls, phases, what=(), between=None, env=None):
    """Runs it; between(phase, process) is called when a phase is over and the program waits."""
    work.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen([program, work, str(calls), str(phases), *what], env=env or environment(), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out = b""
    try:
        for phase in range(phases):
            line = process.stdout.readline()
            out += line
            if not line:
                break
            if between:
                between(phase, process)
            with contextlib.suppress(BrokenPipeError):  # it may have been killed between
                process.stdin.write(b"\n")
                process.stdin.flush()
        more, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait()
    return Result(process.returncode, out + more, err)


def files_of(work):
    return {path.name: path.read_bytes() for path in work.iterdir()}


# --- the account -----------------------------------------------------------------------------------------------------


def summary(place, expect=0):
    done = dftmerge("summary", "--json", place)
    equal(done.code, expect, f"dftmerge summary: {done.err.decode(errors='replace')}")
    return json.loads(done.out)


def dropped(place):
    return summary(place)["dropped"]


PREFIX = "t" + os.urandom(8).hex()  # of traces: others have live files in /dev/shm, too


def leftovers():
    """Our live files in /dev/shm, where they go when there is no room beside the trace."""
    return set(pathlib.Path("/dev/shm").glob(f"{PREFIX}-*.dft.live"))
