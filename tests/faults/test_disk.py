# SPDX-License-Identifier: MIT
"""The trace's disk is full, fails, goes away, or is free again: the program never notices, what is in the trace can be read, and what is
not in it is counted with its reason."""

import contextlib
import errno
import json
import os
import platform
import shutil
import sys
import time

import pytest

from faults import (FULL, LIBRARY, PREFIX, compile_program, dftmerge, disk, dropped, dump, equal, files_of, fill, in_phases, leftovers,
                    run, run_checked, summary, traces, tracing, true)

CALLS = 10000
PHASES = 3
MADE = 1 + PHASES * (CALLS + 3) + 1  # an open; writes, and open, write, close of a phase; a close
HEADROOM = 4096  # calls that a ring may have kept over the end of a fault


def plain_and_traced(directory, prefix, what=(), between=None):
    """Runs the phases plain and traced; all that can be told from outside is the same."""
    program = compile_program(directory, "phases")
    plain = in_phases(program, directory / "plain", CALLS, PHASES, what)
    traced = in_phases(program, directory / "work", CALLS, PHASES, what, between,
                       tracing(prefix, DATA_DIR=directory / "work"))
    equal((traced.code, traced.out, traced.err), (plain.code, plain.out, plain.err), "exit code and output")
    equal((plain.code, plain.err), (0, b""), "the program by itself")
    equal(files_of(directory / "work"), files_of(directory / "plain"), "files of the program")


def is_accounted_for(place, reasons):
    """What is there and what is counted as lost are all calls together. Returns the events."""
    events = dump(place)
    lost = dropped(place)
    equal(len(events) + sum(lost.values()), MADE, f"{len(events)} events and {lost}")
    true(set(lost) <= set(reasons), f"reasons: {lost}")
    check = dftmerge("check", place)
    true(b"damaged" not in check.out + check.err and b"torn" not in check.out + check.err, check.out + check.err)
    equal((check.code, b"all good" in check.out), (1, False) if lost else (0, True), f"the verdict with {lost}: {check}")
    for count, reason in ((count, reason) for reason, count in lost.items()):
        true(f"{count:,} events ({reason})".encode() in check.out, f"{reason} is told: {check.out}")
    return events


def names_are_known(events, directory):
    files = {e["file"] for e in events if "file" in e}
    true(files <= {str(directory / "work" / name) for name in ("link", "phase0", "phase1", "phase2")}, f"names: {files}")


@contextlib.contextmanager
def nothing_stays_in_shm():
    before = leftovers()
    try:
        yield
    finally:
        for path in leftovers() - before:
            path.unlink()


# --- full disks ------------------------------------------------------------------------------------------------------


def full_and_free(directory, kind, leave):
    """Full from the first phase to the second, free in the third."""
    with disk(directory, kind) as place, nothing_stays_in_shm():
        (place / "traces").mkdir()
        filler = fill(place, leave)

        def between(phase, process):
            if phase == 1:
                filler.unlink()
                os.sync()

        plain_and_traced(directory, place / "traces" / PREFIX, between=between)
        events = is_accounted_for(place / "traces", ["no space for the trace"])
        names_are_known(events, directory)
        late = [e for e in events if e.get("name") == "write" and e["file"].endswith("link") and e["offset"] >= 2 * CALLS + HEADROOM]
        equal(len(late), CALLS - HEADROOM, "writes after the disk was free again")
        equal(summary(place / "traces")["pids"], 1, "processes")
        return sum(dropped(place / "traces").values())


def test_full_ext4(directory):
    true(full_and_free(directory, "ext4", 0) > CALLS, "nothing was lost: the disk was not full")


def test_nearly_full_ext4(directory):
    for leave in (8 << 10, 44 << 10, 72 << 10, 100 << 10) if FULL else (44 << 10,):
        (directory / str(leave)).mkdir()
        full_and_free(directory / str(leave), "ext4", leave)


def test_full_btrfs(directory):
    full_and_free(directory, "btrfs", 0)


def test_quota(directory):
    """A real EDQUOT: a btrfs subvolume at its limit, which is lifted in the third phase."""
    btrfs = shutil.which("btrfs", path="/usr/sbin:/sbin:/usr/bin:/bin")
    with disk(directory, "btrfs") as place, nothing_stays_in_shm():
        if not btrfs or run([btrfs, "quota", "enable", place]).code:
            pytest.skip("no quota can be set on btrfs here")
        run_checked([btrfs, "subvolume", "create", place / "limited"])
        run_checked([btrfs, "qgroup", "limit", "2M", place / "limited"])
        (place / "limited" / "traces").mkdir()
        equal(fill_to_error(place / "limited" / "filler"), errno.EDQUOT, "why the disk is full")

        def between(phase, process):
            if phase == 1:
                run_checked([btrfs, "qgroup", "limit", "none", place / "limited"])
                time.sleep(0.2)  # creating the trace is tried again after 0.1 s

        plain_and_traced(directory, place / "limited" / "traces" / PREFIX, between=between)
        events = is_accounted_for(place / "limited" / "traces", ["no space for the trace", "no trace file"])
        names_are_known(events, directory)
        true(sum(dropped(place / "limited" / "traces").values()) > CALLS, "nothing was lost: there was no limit")
        true(sum(e["name"] == "write" and e["file"].endswith("link") for e in events) >= CALLS, "writes after the limit was lifted are not all there")


def fill_to_error(filler):
    """Writes until that fails, to the last page. Returns errno."""
    error = 0
    with open(filler, "wb", buffering=0) as file:
        for size in (65536, 4096, 512):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    os.fsync(file.fileno())
        try:
            while True:
                file.write(bytes(4096))
                os.fsync(file.fileno())
        except OSError as e:
            error = e.errno
    return error


@contextlib.contextmanager
def disk_that_fails_later(directory):
    """ext4 on a sparse image for whose blocks there is no room: writes succeed, and fail when they are written back."""
    with disk(directory, "tmpfs") as below:
        image, place = below / "image", directory / "later"
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        make = shutil.which("mkfs.ext4", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if not make:
            pytest.skip("mkfs.ext4 is not installed")
        run_checked([make, "-q", "-m", "0", "-O", "^has_journal", "-b", "4096", "-E", "lazy_itable_init=1", image])
        place.mkdir()
        done = run(["mount", "-t", "ext4", "-o", "loop,errors=continue", image, place])
        if done.code:
            pytest.skip(f"no ext4 can be mounted here: {done.err.decode(errors='replace').strip()}")
        try:
            yield below, image, place
        finally:
            run(["umount", "-l", place])


def test_fails_at_write_back(directory):
    """An error that only write-back meets: nobody is told who does not ask (fsync), so what is missing is only seen afterwards. The
    program does not notice; a trace that lost blocks is not passed off as whole."""
    with disk_that_fails_later(directory) as (below, image, place), nothing_stays_in_shm():
        (place / "traces").mkdir()
        run_checked(["sync", "-f", place])
        filler = fill(below, 0)

        def between(phase, process):
            run(["sync", "-f", place])  # fails, or does not

        plain_and_traced(directory, place / "traces" / PREFIX, between=between)
        run(["umount", place])
        filler.unlink()
        run_checked(["mount", "-t", "ext4", "-o", "loop", image, place])
        found = traces(place / "traces")
        if not found:
            return
        check, told = dftmerge("check", place / "traces"), dftmerge("summary", "--json", place / "traces")
        events = dftmerge("dump", "--json", place / "traces").out.count(b"\n")
        lost = sum(json.loads(told.out)["dropped"].values()) if told.out else 0
        true(events + lost <= MADE, f"{events} events and {lost} lost of {MADE}")
        equal(check.code, 0 if events + lost == MADE else 1, f"check, with {events} events: {check}")


def test_full_tmpfs(directory):
    true(full_and_free(directory, "tmpfs", 0) > CALLS, "nothing was lost: the disk was not full")


def test_nearly_full_tmpfs(directory):
    for leave in (4 << 10, 8 << 10, 40 << 10, 52 << 10, 68 << 10) if FULL else (40 << 10,):
        (directory / str(leave)).mkdir()
        full_and_free(directory / str(leave), "tmpfs", leave)


def test_full_to_the_end(directory):
    """END cannot be written either, nor is there room for the live file beside the trace: what was lost is known all the same, and
    what was in the rings at the end is in the live file, with its names."""
    with disk(directory, "tmpfs") as place, nothing_stays_in_shm():
        (place / "traces").mkdir()
        fill(place, 0)
        plain_and_traced(directory, place / "traces" / PREFIX)
        events = is_accounted_for(place / "traces", ["no space for the trace"])
        equal(events[-1]["name"], "close", f"the last of {len(events)} events")
        true(len(events) > 10, f"{len(events)} events of the end")
        names_are_known(events, directory)
        text = dftmerge("summary", place / "traces").out.decode()
        true("not all of the job is here" in text.splitlines()[0], f"the summary begins with something else: {text[:60]!r}")


def test_killed_on_a_full_disk(directory):
    """The live file must not be where stores fail: no SIGBUS, and the last events are found after SIGKILL."""
    with disk(directory, "tmpfs") as place, nothing_stays_in_shm():
        (place / "traces").mkdir()
        filler = fill(place, 60 << 10)
        program = compile_program(directory, "phases")
        work = directory / "work"

        def between(phase, process):
            with contextlib.suppress(OSError), open(filler, "ab") as file:
                while True:
                    file.write(bytes(4096))
                    file.flush()
            if phase == PHASES - 1:
                process.kill()

        killed = in_phases(program, work, CALLS, PHASES, between=between,
                           env=tracing(place / "traces" / PREFIX, DATA_DIR=work))
        equal(killed.code, -9, "exit code")
        lost = summary(place / "traces")["dropped"]
        equal(len(dump(place / "traces")) + sum(lost.values()), MADE - 1, f"events and losses {lost}")


LAST_MOMENT = """
import os, sys
for i in range(100):
    os.stat(".")
os.unlink(sys.argv[1])
os._exit(0)
"""


def test_room_at_the_last_moment(directory):
    """The trace cannot be created until the process ends, at once: there is one all the same, which counts what is missing."""
    with disk(directory, "tmpfs") as place, nothing_stays_in_shm():
        (place / "traces").mkdir()
        (place / "filler").touch()
        run_checked(["mount", "-o", "remount,nr_inodes=3", place])
        run_checked([sys.executable, "-S", "-c", LAST_MOMENT, place / "filler"], env=tracing(place / "traces" / PREFIX, DATA_DIR="all"))
        lost = dropped(place / "traces")
        true(set(lost) == {"no trace file"} and lost["no trace file"] > 100, f"lost: {lost}")


# --- calls that fail -------------------------------------------------------------------------------------------------

SYSTEM_CALLS = {"x86_64": {"pwrite64": 18, "openat": 257, "pwritev": 296, "fstat": 5, "mmap": 9, "fallocate": 285},
                "aarch64": {"pwrite64": 68, "openat": 56, "pwritev": 70, "fstat": 80, "mmap": 222, "fallocate": 47}}

REASONS = {errno.ENOSPC: "no space for the trace", errno.EDQUOT: "no space for the trace", errno.EIO: "write failed",
           errno.EROFS: "write failed", errno.ENFILE: "no descriptor for the trace"}


def denied(directory, *faults):
    """faults: (system call, phase, errno)."""
    numbers = SYSTEM_CALLS.get(platform.machine())
    if not numbers:
        pytest.skip("numbers of system calls are not written down for this processor")
    what = [f"deny:{phase}:{numbers[call]}:{error}" for call, phase, error in faults]
    with nothing_stays_in_shm():
        plain_and_traced(directory, directory / "traces" / PREFIX, what)
        if not traces(directory / "traces"):
            return None
        return is_accounted_for(directory / "traces", ["no trace file", *(REASONS.get(e, "write failed") for _, _, e in faults)])


def test_writes_fail(directory):
    for error in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS) if FULL else (errno.EDQUOT, errno.EIO):
        place = directory / errno.errorcode[error]
        place.mkdir()
        events = denied(place, ("pwrite64", 1, error))
        true(CALLS - HEADROOM < len(events) < 2 * CALLS, f"{len(events)} events")
        names_are_known(events, place)


def test_the_live_file_cannot_grow(directory):
    """Rings are in plain memory then; nothing is lost as long as the process ends by itself."""
    for call in ("pwritev", "fallocate"):
        for phase in (0, 1):
            place = directory / f"{call}{phase}"
            place.mkdir()
            equal(len(denied(place, (call, phase, errno.ENOSPC))), MADE, f"{call} from phase {phase}: events")


# --- files and directories that go ----------------------------------------------------------------------------------


def test_directory_deleted(directory):
    def between(phase, process):
        if not phase:
            shutil.rmtree(directory / "traces")

    plain_and_traced(directory, directory / "traces" / PREFIX, between=between)
    true(list((directory / "traces").iterdir()), "what is left of the job is there again")
    done = dftmerge("summary", "--json", directory / "traces")
    true(any("removed" in note for note in json.loads(done.out)["notes"]), f"told: {done.out[-600:]}")


def test_unmounted(directory):
    with disk(directory, "ext4") as place:
        def between(phase, process):
            if not phase:
                run_checked(["umount", "-l", place])

        plain_and_traced(directory, place / PREFIX, between=between)
        equal(list(place.iterdir()), [], "files below the mount point")


def test_remounted_read_only(directory):
    """The file system fails under the trace (ext4 with errors=remount-ro does it like this)."""
    with disk(directory, "ext4") as place, nothing_stays_in_shm():
        def between(phase, process):
            if not phase:
                run(["mount", "-o", "remount,abort", place])

        plain_and_traced(directory, place / PREFIX, between=between)


# --- descriptors and sizes -------------------------------------------------------------------------------------------


def test_no_numbers_left(directory):
    """RLIMIT_NOFILE: none for the trace, then some."""
    plain_and_traced(directory, directory / "traces" / PREFIX, ["numbers:0:64", "numbers:1:64"])
    events = is_accounted_for(directory / "traces", ["no trace file", "no descriptor for the trace"])
    names_are_known(events, directory)


def test_size_limit(directory):
    """Both sides of RLIMIT_FSIZE; no SIGXFSZ reaches the program (its output counts them)."""
    for limit in (0, 20000, 45056, 60000) if FULL else (60000,):
        place = directory / str(limit)
        place.mkdir()
        if limit < 3 * CALLS:
            continue
        plain_and_traced(place, place / "traces" / PREFIX, [f"size:0:{limit}"])
        names_are_known(is_accounted_for(place / "traces", ["no space for the trace"]), place)


# --- large files -----------------------------------------------------------------------------------------------------


def place_of(symbol):
    for line in run_checked(["nm", LIBRARY]).out.decode().splitlines():
        words = line.split()
        if len(words) == 3 and words[2] == symbol:
            return int(words[0], 16)
    pytest.skip("the library was stripped")


def test_beyond_4_gib(directory):
    """The trace goes on at 2 GiB - 1000, 4 GiB - 1000 and beyond: a hole, then blocks."""
    offsets = ((1 << 31) - 1000, (1 << 32) - 1000) if not FULL else ((1 << 31) - 1000, (1 << 32) - 1000, 5 << 30)
    where = place_of("end_offset")
    what = [f"add:{i + 1}:{where}:{offset}" for i, offset in enumerate(offsets[:2])]
    plain_and_traced(directory, directory / "traces" / PREFIX, what)
    events = is_accounted_for(directory / "traces", [])
    equal(len(events), MADE, "events")
    names_are_known(events, directory)
    true(traces(directory / "traces")[0].stat().st_size > offsets[1], "the file is not that long")
