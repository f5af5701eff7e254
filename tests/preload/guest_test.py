# SPDX-License-Identifier: MIT
"""A good guest: each case of the program guest runs plain and traced, and what it prints, how it ends and which files it leaves are
the same; then what the trace says of its calls is compared with what they did."""

import collections
import errno
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import tempfile

import pytest

from tracing import (BUILD, SECONDS, dftmerge, dump, equal, live_files, need, need_others, run_checked, traces, tracing,
                     environment, true)

GUEST = BUILD / "bin" / "guest"

# What a run left: exit status, output, messages, the files of its working directory, and the place of its traces.
Run = collections.namedtuple("Run", "code out err files place")


def content(path):
    """Of a file; of one that its owner may not read (root may) its mode and size."""
    if not path.is_file():
        return None
    return path.read_bytes() if path.stat().st_mode & 0o400 else (path.stat().st_mode, path.stat().st_size)


def tree(directory):
    """Names and contents of all files."""
    return {str(p.relative_to(directory)): content(p) for p in directory.rglob("*")}


def run_in(place, case, traced, before=(), **settings):
    """Runs a case in place/work, with place/in and place/out as its input and output."""
    work = place / "work"
    work.mkdir(parents=True)
    (place / "in").write_bytes(b"".join(b"%d\n" % i for i in range(1000)))
    (place / "out").write_bytes(b"header\n")
    settings = {"DATA_DIR": f"{work}:{place}/in:{place}/out", **settings}
    env = tracing(settings.pop("LOG_FILE", place / "traces" / "t"), **settings) if traced else environment()
    with open(place / "in", "rb") as source, open(place / "out", "ab") as sink:
        done = subprocess.run([*before, GUEST, case], cwd=work, env=env, stdin=source, stdout=sink, stderr=subprocess.PIPE,
                              timeout=SECONDS, check=False)
    return Run(done.returncode, (place / "out").read_bytes(), done.stderr, tree(work), place)


def both(directory, case, expect=0, **more):
    """Runs it plain and traced; they are the same. Returns the traced run."""
    plain = run_in(directory / "plain", case, False, before=more.get("before", ()))
    equal(plain.code, expect, f"{case}: exit code of the plain run ({plain.err.decode()})")
    traced = run_in(directory / "traced", case, True, **more)
    equal(traced.code, plain.code, f"{case}: exit code ({traced.err.decode()[-300:]})")
    equal(traced.err.decode(), plain.err.decode(), f"{case}: messages")
    equal(traced.out, plain.out, f"{case}: output")
    equal(sorted(traced.files), sorted(plain.files), f"{case}: files")
    differ = [name for name in plain.files if plain.files[name] != traced.files[name]]
    equal(differ, [], f"{case}: files that differ")
    return traced


def whatever_is_there(directory):
    """All events that can be read, where a part cannot."""
    done = dftmerge("dump", "--json", directory)
    true(done.code in (0, 1), f"dump: exit code {done.code}: {done.err.decode()}")
    return [json.loads(line) for line in done.out.splitlines()]


def events_of(traced, damaged=False):
    """The events of a run, with names of files from its place on."""
    events = whatever_is_there(traced.place / "traces") if damaged else dump(traced.place / "traces")
    for event in events:
        for name in ("file", "file2"):
            if name in event:
                event[name] = os.path.relpath(event[name], traced.place)
    return events


def accesses(events, *names):
    """(name, offset, bytes) of calls that moved data, or of these calls."""
    return [(e["name"], e.get("offset"), e.get("bytes")) for e in events if (e["name"] in names if names else "bytes" in e)]


def whole(traced):
    """All blocks are good, and none of the program's bytes are in the trace. The exit code tells of lost events."""
    checked = dftmerge("check", traced.place / "traces")
    equal(checked.code, 1 if lost(traced) else 0, f"check: {checked.out.decode()}{checked.err.decode()}")
    true(b"all good" in checked.out or b"every block is whole" in checked.out, f"check: {checked.out.decode()}")


def dropped(traced):
    return json.loads(dftmerge("--json", traced.place / "traces").out)["dropped"]


def of_file(events, name):
    return [e for e in events if e.get("file") == name]


# --- descriptors -----------------------------------------------------------------------------------------------------


def test_all_descriptors_closed_and_used_again(directory):
    traced = both(directory, "close_all")
    whole(traced)
    events = events_of(traced)
    for fd in range(4, 301):
        equal(traced.files[f"n{fd}"], b"file %d\nmore\n" % fd, "what the program wrote")
        lengths = [e["bytes"] for e in of_file(events, f"work/n{fd}") if e["name"] == "write"]
        equal(lengths, [len(b"file %d\n" % fd), 5], f"writes to n{fd}")
        equal([e["offset"] for e in of_file(events, f"work/n{fd}") if e["name"] == "write"], [0, lengths[0]], "offsets")
    equal(len(of_file(events, "work/last")), 1, "events after everything was closed")


def test_numbers_used_again_and_again(directory):
    traced = both(directory, "reuse_numbers")
    whole(traced)
    names = collections.Counter(e["name"] for e in events_of(traced))
    equal((names["open"], names["write"]), (1 + 1200 + 1, 1200), "opened and written")
    equal(names["close"], 1 + 400 + 400, "closed")


def test_dup2_over_our_number(directory):
    traced = both(directory, "dup2_over")
    whole(traced)
    writes = [e for e in events_of(traced) if e["name"] == "write"]
    equal([(e["fd"], e["offset"]) for e in writes], [(250 + i, i) for i in range(51)], "writes")


def test_all_numbers_taken(directory):
    """The program gets each number that it gets without us; nothing is lost while there is room above its limit."""
    for case, calls in (("all_numbers", 18 + 20000), ("moving_limit", None), ("numbers_unseen", 0), ("raised_limit", 4),
                        ("numbers_of_ioctl", 0)):
        traced = both(directory / case, case)
        whole(traced)
        equal(dropped(traced), {}, f"{case}: lost")
        if calls is not None:
            equal(len([e for e in events_of(traced) if e["name"] == "pwrite"]), calls, "writes")


def test_few_numbers(directory):
    """They come at once, in messages, and so reach where our number was."""
    true(set(dropped(both(directory, "few_numbers"))) <= {"no descriptor for the trace"}, "nothing else is lost")


def test_no_number_left(directory):
    """Without that room events are lost while no number is free, and counted; what comes later is kept."""
    traced = both(directory, "all_numbers_there_are")
    lost = dropped(traced)
    true(set(lost) <= {"no descriptor for the trace"}, f"reasons: {lost}")
    writes = len([e for e in events_of(traced) if e["name"] == "pwrite"])
    true(20000 <= writes and writes + sum(lost.values()) >= 18 + 40000, f"{writes} writes and {lost}")


def test_our_descriptor_is_hidden(directory):
    """It is as little open as any other number, in the trace, too."""
    traced = both(directory, "hidden", DATA_DIR="all")
    events = events_of(traced)
    equal(len([e for e in events if e["name"] == "open"]), 1, "events")
    refused = collections.Counter(e["name"] for e in events if e.get("errno") == errno.EBADF and "file" not in e)
    equal(refused, {"fcntl": 774, "dup": 774, "dup2": 2 * 774, "close": 774, "mmap": 774, "fstat": 1024 - 4}, "EBADF")


def test_ranges_closed(directory):
    traced = both(directory, "close_ranges")
    whole(traced)
    events = events_of(traced)
    names = collections.Counter(e["name"] for e in events)
    equal((names["open"], names["write"], names["close_range"], names["closefrom"]), (8, 2, 6, 2), "events")


def test_raw_system_calls_take_our_number(directory):
    traced = both(directory, "raw_close")
    whole(traced)
    equal(accesses(events_of(traced), "pwrite"), [("pwrite", 10 * i, 10) for i in range(20000)], "writes")


# --- offsets ---------------------------------------------------------------------------------------------------------


def test_appends(directory):
    events = events_of(both(directory, "append"))
    equal(accesses(of_file(events, "work/append")),
          [("write", 0, 100), ("write", 100, 50), ("write", 150, 100), ("read", 10, 20), ("write", 250, 30)], "appended")
    equal(accesses(of_file(events, "work/late")), [("write", 0, 60), ("write", 60, 7), ("write", 5, 3)], "appended later")


def test_copies_share_an_offset(directory):
    events = events_of(both(directory, "copies"))
    equal(accesses(events), [("write", 0, 10), ("write", 10, 20), ("write", 30, 30), ("writev", 60, 15), ("read", 5, 7),
                             ("readv", 12, 15), ("pread", 50, 4), ("read", 27, 1), ("read", 72, 3), ("read", 75, 0)], "accesses")


def test_offsets_shared_with_a_child(directory):
    events = events_of(both(directory, "shared_with_child"))
    equal(accesses(of_file(events, "work/shared")), [("write", 0, 10), ("write", 10, 20), ("write", 30, 30), ("write", 60, 40)],
          "accesses")


def test_inherited_input_and_output(directory):
    events = events_of(both(directory, "inherited"))
    equal(accesses(of_file(events, "in")), [("read", 0, 10), ("read", 10, 10)], "reads of the inherited input")
    equal(accesses(of_file(events, "out")), [("write", 7, 5), ("write", 12, 6)], "writes to the inherited output")
    equal(accesses(of_file(events, "work/new")), [("write", 0, 3)], "descriptor 0, another file")


def test_after_calls_that_were_left(directory):
    found = accesses(events_of(both(directory, "left_calls")))
    equal(found[:1] + found[-4:], [("write", 0, 10), ("write", 10, 20), ("write", 30, 30), ("read", 5, 40), ("read", 45, 15)], "accesses")


def test_far_offsets(directory):
    far = 5 << 32
    events = events_of(both(directory, "far_away"))
    equal(accesses(events), [("pwrite", far, 8), ("read", far, 4), ("read", far + 4, 0), ("read", far + 4, 0), ("write", 0, 1)],
          "accesses")
    equal([e["ret"] for e in events if e["name"] == "lseek"], [far, 0], "results of lseek")
    equal([e["offset"] for e in events if e["name"] == "ftruncate"], [100], "length of ftruncate")


def test_paths_are_absolute(directory):
    events = events_of(both(directory, "directories"))
    found = [(e["name"], e["file"]) + ((e["file2"],) if "file2" in e else ()) for e in events]
    equal(found, [("mkdir", "work/sub"), ("open", "work/sub"), ("open", "work"), ("openat", "work/sub/a"),
                  ("renameat", "work/sub/a", "work/b"), ("chdir", "work/sub"), ("fstatat", "work/b"),
                  ("rename", "work/b", "work/sub/c"), ("fchdir", "work"), ("stat", "work/sub/c"), ("unlinkat", "work/sub/c"),
                  ("unlinkat", "work/sub"), ("openat", "work/sub/d"), ("statx", "work")], "paths")


def test_paths_behind_duplicates(directory):
    events = events_of(both(directory, "duplicates"))
    found = [(e["name"], e["file"]) for e in events if e["name"] in ("openat", "faccessat", "unlinkat", "rmdir")]
    equal(found, [("openat", "work/sub/a"), ("faccessat", "work/sub/a"), ("faccessat", "work/moved/a"),
                  ("unlinkat", "work/moved/a"), ("rmdir", "work/moved")], "paths")


def test_paths_behind_replaced_directories(directory):
    events = events_of(both(directory, "replaced"))
    equal([e["file"] for e in events if e["name"] == "faccessat"], ["work/moved/a", "work/sub/a", "work/moved/a"], "paths")


def test_directories_of_a_walk_are_known(directory):
    """find duplicates the descriptors of directories: the kernel is not asked for each path."""
    need("strace")
    for number in range(60):
        (directory / "tree" / f"d{number}").mkdir(parents=True)
        (directory / "tree" / f"d{number}" / "file").write_text("")
    settings = tracing(directory / "traces" / "t")
    given = [f"-E{key}={settings[key]}" for key in settings if key == "LD_PRELOAD" or key.startswith("DFTRACER_")]
    run_checked(["strace", "-f", "-e", "trace=readlink,readlinkat", "-o", directory / "calls", *given,
                 "find", directory / "tree", "-newer", "/etc/passwd"])
    asked = [line for line in (directory / "calls").read_text().splitlines() if "/proc/self/fd/" in line]
    true(len(asked) < 20, f"asked for {len(asked)} paths")
    found = {event["file"] for event in dump(directory / "traces") if event["name"] == "fstatat"}
    true({str(directory / "tree" / f"d{number}" / "file") for number in range(60)} <= found, "each file has its path")


def test_offsets_that_the_program_asked_about(directory):
    """cat asks what it reads with fstat: nothing of its own is asked for the first read."""
    need("strace")
    data = directory / "data"
    data.write_bytes(b"x" * 300_000)
    settings = tracing(directory / "traces" / "t")
    given = [f"-E{key}={settings[key]}" for key in settings if key == "LD_PRELOAD" or key.startswith("DFTRACER_")]
    run_checked(["strace", "-f", "-y", "-e", "trace=read,lseek", "-o", directory / "calls", *given, "cat", data])
    calls = collections.Counter(line.split("(")[0].split()[-1] for line in (directory / "calls").read_text().splitlines()
                                if f"<{data}>" in line)
    equal(calls["lseek"], 0, "lseek")
    reads = [event for event in dump(directory / "traces") if event["name"] == "read" and event.get("file") == str(data)]
    equal(len(reads), calls["read"], "reads")
    equal([event["offset"] for event in reads], [sum(e["ret"] for e in reads[:i]) for i in range(len(reads))], "offsets")


def test_paths_are_clean(directory):
    behind = ("", "/", "//", "/.", "/..", "/.a", "/..a", "/...", "/./a", "//a", "/../a", "/.a/", "/a/./", "/a/..", "/.a.b",
              "/a//b/../../..c")
    found = [event["file"] for event in events_of(both(directory, "spellings"))]
    equal(found, [os.path.normpath("work/" + "d" * length + end) for length in range(1, 40) for end in behind], "paths")


# --- little of everything --------------------------------------------------------------------------------------------


def lost(traced):
    """The events that were lost, as the trace itself says."""
    listed = json.loads(dftmerge("ps", "--json", traced.place / "traces").out)["processes"]
    return sum(sum(process["dropped"].values()) for process in listed)


def endings(traced):
    return {process["ended"] for process in json.loads(dftmerge("ps", "--json", traced.place / "traces").out)["processes"]}


def test_few_descriptor_numbers_later(directory):
    traced = both(directory, "few_numbers_later")
    events = events_of(traced)
    equal(len([e for e in events if e["name"] == "pread"]), 20000, "reads: the descriptor that was there before stays")
    whole(traced)


def test_few_descriptor_numbers(directory):
    """None is left for a trace: what cannot be kept is counted."""
    traced = both(directory, "few_numbers_first")
    kept = len([e for e in events_of(traced, damaged=True) if e["name"] == "pread"])
    true(kept + lost(traced) >= 20000, f"{kept} reads kept, {lost(traced)} known as lost")


def test_no_room_in_files(directory):
    for case in ("small_files_handled", "small_files", "no_files", "pending_signal"):
        (directory / case).mkdir()
        traced = both(directory / case, case)
        made = 20000 * (2 if case in ("small_files_handled", "pending_signal") else 1)
        kept = len([e for e in events_of(traced, damaged=True) if e["name"] == "pread"])
        true(kept < made, "the limit has no effect")
        # Where not even a live file fits, nothing can tell; then the trace has no end either.
        true(kept + lost(traced) >= made or endings(traced) == {"unknown"},
             f"{case}: {kept} reads kept, {lost(traced)} known as lost, of {made}, and it ended by {endings(traced)}")


def test_little_memory(directory):
    traced = both(directory, "little_memory")
    events = events_of(traced)
    equal(len([e for e in events if e["name"] == "pread"]) + lost(traced), 40000, "reads kept or counted")


def test_no_memory_from_the_start(directory):
    both(directory, "no_memory_at_the_start", LOG_LEVEL="OFF")  # that nothing can be recorded is told otherwise


def test_another_root(directory):
    if os.geteuid():
        pytest.skip("chroot needs root")
    for case in ("new_root", "new_root_first"):
        (directory / case).mkdir()
        traced = both(directory / case, case, DATA_DIR="all")
        events = dump(traced.place / "traces")
        equal(len([e for e in events if e["name"] == "pread"]), 20000, f"{case}: reads")
        equal({e["file"] for e in events if e["name"] == "pread"}, {"/inside"}, f"{case}: path")
        whole(traced)
        # its name means nothing inside, so the live file stays, as that of a process that has ended well
        equal(endings(traced), {"exit"}, f"{case}: end")
        equal(len(live_files(traced.place / "traces")), 1, f"{case}: live files")
        equal(dftmerge("check", "--recover", traced.place / "traces").code, 0, f"{case}: recover")
        equal(live_files(traced.place / "traces"), [], f"{case}: live files behind it")
        equal(len([e for e in dump(traced.place / "traces") if e["name"] == "pread"]), 20000, f"{case}: reads behind it")


def test_nobody_may_write_the_trace(directory):
    """A file where a directory should be, a directory without rights, no directory at all below /proc."""
    blocked = directory / "blocked"
    blocked.write_text("")
    for i, (prefix, why) in enumerate(((blocked / "t", "Not a directory (ENOTDIR)"),
                                       (blocked / "deep" / "t", "Not a directory (ENOTDIR)"),
                                       ("/proc/self/nothing/t", "No such file or directory (ENOENT)"))):
        (directory / str(i)).mkdir()
        plain = run_in(directory / str(i) / "plain", "plain_work", False)
        traced = run_in(directory / str(i) / "traced", "plain_work", True, LOG_FILE=prefix)
        equal((traced.code, traced.out, traced.files), (plain.code, plain.out, plain.files), "what the program does")
        said = traced.err.decode().replace(plain.err.decode(), "")
        true(said.count("\n") == 1 and said.startswith("dftrace: error: cannot create"), f"one line that says so: {said!r}")
        true(why in said and str(prefix) in said, f"the reason and the place: {said!r}")


def run_as_nobody(directory, case, env):
    """Runs a case without root's rights; env is the program's alone, not that of what takes the rights away."""
    work = directory / "work"
    work.mkdir(parents=True)
    for folder in (directory, work):
        os.chmod(folder, 0o777)
    names = [f"{k}={v}" for k, v in env.items() if k.startswith(("DFTRACER_", "LD_PRELOAD"))]
    rights = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if rights:
        need("setpriv")
        need_others()
    os.chmod(directory.parent, 0o755)
    done = subprocess.run([*rights, "env", *names, GUEST, case], cwd=work, env=environment(), capture_output=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, done.stderr


def test_read_only_trace_directory(directory):
    place = directory / "read-only"
    place.mkdir(mode=0o555)
    plain = run_as_nobody(directory / "plain", "plain_work", environment())
    traced = run_as_nobody(directory / "traced", "plain_work", tracing(place / "t"))
    equal(plain[0], 0, f"plain: {plain[2]}")
    equal(traced[:2], plain[:2], "exit code and output")
    equal(list(place.iterdir()), [], "files in the read-only directory")


def test_full_disk(directory):
    disk = directory / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", disk], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        traced = both(directory, "plain_work", LOG_FILE=disk / "t")
        left = list(disk.iterdir())
        true(left, "not even a file was made")
        events = whatever_is_there(disk)
        true(len(events) < 20002, "the disk was not full")
    finally:
        run_checked(["umount", disk])
    equal(traced.code, 0, "exit code")


# --- errors ----------------------------------------------------------------------------------------------------------


def failures(events):
    return [(e["name"], e["errno"]) for e in events if "errno" in e]


def test_errors_of_missing_files(directory):
    traced = both(directory, "missing")
    found = failures(events_of(traced))
    equal(found[:11], [(name, errno.ENOENT) for name in ("open", "openat", "creat", "stat", "lstat", "fstatat", "unlink", "rename",
                                                         "mkdir", "chdir", "opendir")], "failures")
    true(("open", errno.EISDIR) in found and ("fopen", errno.EINVAL) in found and ("execl", errno.ENOENT) in found, f"{found}")


def test_errors_of_numbers_that_are_not_open(directory):
    """Events without a file; with folders named (the default of these tests) they are in none of these."""
    traced = both(directory, "not_open", DATA_DIR="all")
    found = collections.Counter((e["name"], e.get("fd")) for e in events_of(traced) if e.get("errno") == errno.EBADF and "file" not in e)
    for name in ("read", "write", "pread", "pwritev", "lseek", "fstat", "fsync", "ftruncate", "dup", "dup2", "fcntl", "close", "fdopen",
                 "fdopendir", "fchdir", "dprintf"):
        equal([found[name, fd] for fd in (77, None, 5000, 0x7fffffff)], [1, 1, 1, 1], name)
    equal((found["openat", None], sum(found.values())), (4, 4 * 17), "below such a number; all")
    equal(lost(traced), 0, "lost")
    equal(traces(both(directory / "named", "not_open").place / "traces"), [], "outside of the folders that are named")


def test_errors_of_calls_that_are_refused(directory):
    traced = both(directory, "refused", DATA_DIR="all")
    found = failures(events_of(traced))
    for expected in (("write", errno.EBADF), ("pread", errno.EINVAL), ("lseek", errno.EINVAL), ("ftruncate", errno.EINVAL),
                     ("open", errno.EEXIST)):
        true(expected in found, f"{expected} is not in {found}")


def test_errors_without_rights(directory):
    plain = run_as_nobody(directory / "plain", "refused", environment())
    traced = run_as_nobody(directory / "traced", "refused", tracing(directory / "traced" / "out" / "t", DATA_DIR="all"))
    equal(traced, plain, "what it prints")
    true(b"etc: -1 (EACCES)" in plain[2], f"EACCES: {plain[2]}")
    found = failures(dump(directory / "traced" / "out"))
    equal(found.count(("open", errno.EACCES)), 3, f"EACCES in {found}")


def test_errors_of_bad_addresses(directory):
    traced = both(directory, "bad_addresses")
    found = failures(events_of(traced))
    true(("pread", errno.EFAULT) in found and ("write", errno.EFAULT) in found and ("fstat", errno.EFAULT) in found, f"{found}")


# --- texts that end before what cannot be read -----------------------------------------------------------------------


def counted(events, *keys):
    return collections.Counter(tuple(e.get(key) for key in keys) for e in events if "errno" in e)


def test_paths_without_an_end(directory):
    """They are known as far as the kernel reads them."""
    traced = both(directory, "unterminated")
    found = counted(events_of(traced), "name", "errno", "file", "cut")
    for name in ("open", "openat", "mkdir", "rmdir", "unlink", "stat", "lstat", "statx", "access", "readlink", "chdir", "chmod", "chown",
                 "truncate", "utimensat", "statfs", "getxattr", "mkfifo", "fopen"):
        equal(found[name, errno.ENAMETOOLONG, "work/" + 4096 * "a", None], 3, f"{name}: with the part that the kernel reads")
        equal(found[name, errno.EFAULT, None, None], 1, f"{name}: of a path that ends in what cannot be read")
    for name, calls in (("rename", 4), ("link", 2), ("symlink", 2)):
        equal(sum(n for key, n in found.items() if key[0] == name), 4 * calls, f"{name}: calls")
    equal(lost(traced), 0, "lost")


def test_paths_are_looked_up_once(directory):
    """Strace counts the calls on the letters: the library asks the file system for none of its own."""
    need("strace")
    asked = []
    for name, settings in (("plain", {}), ("traced", tracing(directory / "traces" / "t"))):
        (directory / name).mkdir()
        given = [f"-E{key}={settings[key]}" for key in settings if key == "LD_PRELOAD" or key.startswith("DFTRACER_")]
        run_checked(["strace", "-f", "-s5", "-etrace=%file", "-esignal=none", f"-o{directory}/{name}.txt", *given, GUEST, "unterminated"],
                    cwd=directory / name)
        lines = (directory / f"{name}.txt").read_text().splitlines()
        asked.append(collections.Counter(line.split("(")[0].split()[-1] for line in lines if '"aaaaa' in line))
    true(sum(asked[0].values()) > 60, f"calls on the letters: {asked[0]}")
    equal(asked[1], asked[0], "calls on them, traced")


def test_paths_up_to_an_edge(directory):
    traced = both(directory, "terminated", DATA_DIR="all")
    found = counted(events_of(traced), "name", "errno", "file", "file2")
    for expected in (("open", errno.ENOENT, "work/missing", None), ("rmdir", errno.ENOTEMPTY, "work/full", None),
                     ("rename", errno.ENOTEMPTY, "work/full/sub", "work/full"), ("open", errno.EMFILE, "work/full/sub", None)):
        equal(found[expected], 1, f"{expected}")


def test_programs_without_an_end(directory):
    for follow in (0, 1):
        traced = both(directory / str(follow), "unterminated_programs", FOLLOW_EXEC=follow)
        found = counted(events_of(traced), "name", "errno", "file")
        equal(found["posix_spawn", errno.ENAMETOOLONG, "work/" + 4096 * "a"], 1, "a program with a path that is too long")
        equal(found["posix_spawn", errno.EFAULT, None], 1, "a program with none")


def test_variables_up_to_an_edge(directory):
    """A program with a cleaned environment, of which the only variable ends where memory does, is followed."""
    traced = both(directory, "variable_at_the_edge", FOLLOW_EXEC=1)
    true(any(e["name"] == "read" for e in of_file(events_of(traced), "work/file")), "what cat read")


def test_errno_is_kept(directory):
    events = events_of(both(directory, "kept"))
    equal(failures(events), [], "failures")
    equal(len([e for e in events if e["name"] == "readdir"]), 5, "readdir: . .. sub, and twice the end")


# --- streams ---------------------------------------------------------------------------------------------------------


def test_reading_streams(directory):
    events = [e for e in events_of(both(directory, "reading")) if e["name"] != "fprintf"]
    equal(accesses(events), [("getc", 0, 1), ("fgetc", 1, 1), ("getc", 2, 1), ("fgets", 3, 7), ("fread", 10, 12),
                             ("getline", 22, 8), ("getdelim", 30, 29), ("fread", 500, 10), ("fread", 490, 20), ("fread", 985, 10),
                             ("getc", 1000, 0), ("fgets", 0, 10)], "reads; two lines are one run; a part of an item moves the position too")
    equal([e["ret"] for e in events if e["name"] == "ftell"], [59], "ftell")


def test_writing_streams(directory):
    events = events_of(both(directory, "writing"))
    first = accesses(events)[:6]
    equal(first, [("fputs", 0, 12), ("fputc", 12, 1), ("putc", 13, 1), ("fwrite", 14, 6), ("fprintf", 20, 8), ("fwrite", 2, 2)],
          "writes")
    equal(accesses(events)[6][0::2], ("fputs", 8), "appended")


def test_printing_to_a_file(directory):
    traced = both(directory, "printing")
    events = [e for e in of_file(events_of(traced), "out") if "bytes" in e]
    equal([e["bytes"] for e in events], [9 + 7, 8, 1, 5, 10, 16, 10], "bytes printed, the first two calls in a burst")
    equal(sum(e["bytes"] for e in events), len(traced.out) - len(b"header\n"), "bytes in the file")


def test_other_streams(directory):
    events = [e for e in events_of(both(directory, "other_streams")) if e["name"] not in ("fprintf", "fputs")]
    equal([(e["name"], e["file"], e.get("offset"), e.get("bytes")) for e in events if "bytes" in e],
          [("fgets", "work/first", 0, 10), ("fgets", "work/second", 0, 10), ("write", "work/third", 0, 10),
           ("fread", "work/third", 4, 3)], "reads")


# --- calls that meet others halfway ------------------------------------------------------------------------------------


def test_a_signal_before_vfork_has_returned(directory):
    traced = both(directory, "signal_of_a_vfork_child")
    whole(traced)
    events = events_of(traced)
    for i in range(3):
        equal([e["name"] for e in of_file(events, f"work/handler{i}")], ["open", "write", "lseek", "read", "close"], "the handler's calls")
        equal(accesses(of_file(events, f"work/handler{i}")), [("write", 0, 16), ("read", 5, 8)], "where they happened")


def test_a_vfork_child_takes_every_number(directory):
    traced = both(directory, "vfork_over_all_numbers")
    whole(traced)
    equal(accesses(of_file(events_of(traced), "work/file"), "pwrite"), [("pwrite", 100 + i, 1) for i in range(20000)], "writes")


def test_children_of_clone_take_every_number(directory):
    traced = both(directory, "clone_over_all_numbers")
    whole(traced)
    offsets = [e["offset"] for e in of_file(events_of(traced), "work/file") if e["name"] == "pwrite"]
    true(offsets == list(range(64000)), f"{len(offsets)} writes")


def test_a_thread_that_seeks_while_another_reads(directory):
    events = of_file(events_of(both(directory, "seeks_of_another_thread")), "work/records")
    wrong = [(e["offset"], 4 * i) for i, e in enumerate(e for e in events if e["name"] == "read") if e.get("offset", 4 * i) != 4 * i]
    equal(wrong[:5], [], f"{len(wrong)} offsets are wrong: (found, expected)")


def test_threads_that_read_one_stream(directory):
    traced = both(directory, "threads_on_one_stream")
    whole(traced)
    events, last, wrong, parts = events_of(traced), {}, [], 0
    for event in sorted(events, key=lambda e: e["seq"]):
        tid = event["tid"]
        if event["name"] == "fread":
            last[tid] = event.get("offset")
        elif event["name"] == "pwrite" and event["file"] == "work/got":
            parts += 1
            if last[tid] not in (None, 64 * event["offset"]):
                wrong.append((last[tid], 64 * event["offset"]))
    equal(parts, 20000, "parts")
    equal(wrong[:5], [], f"{len(wrong)} offsets are wrong: (found, right one)")
    letters = [e for e in events if e["name"] == "fgetc"]
    equal(sum(e["bytes"] for e in letters), 64 * 20000, "letters")
    spans = sorted((e["offset"], e["offset"] + e["bytes"]) for e in letters if e.get("offset") is not None and e["bytes"])
    equal([(a, b) for a, b in zip(spans, spans[1:]) if a[1] > b[0]][:5], [], "letters that two have read")


def test_a_stream_whose_memory_is_gone(directory):
    events = events_of(both(directory, "stream_is_gone"))
    equal(sum(e["bytes"] for e in events if e["name"] == "getc"), 13, "letters")


def test_a_thread_that_lets_no_other_run(directory):
    traced = both(directory, "urgent_thread")
    whole(traced)
    if b"not allowed" in traced.err:
        pytest.skip("no threads of real-time classes here")
    groups = json.loads(dftmerge("summary", "--json", "--events", "--by", "name", "--name", "pwrite", "--file", "*/work/urgent",
                                 traced.place / "traces").out)["groups"]
    equal([group["count"] for group in groups], [400000], "calls")


def test_numbers_in_the_making(directory):
    """A number on which the library is just opening a file is free for the program's dup2."""
    traced = both(directory, "numbers_in_the_making")
    whole(traced)
    equal(len([e for e in events_of(traced) if e["name"] == "stat"]), 300, "calls")


# --- threads ---------------------------------------------------------------------------------------------------------


def test_tiny_stacks(directory):
    events = events_of(both(directory, "tiny_stacks"))
    equal(sorted(e["offset"] for e in events if e["name"] == "pwrite"), list(range(40000)), "writes")


def test_two_thousand_threads(directory):
    traced = both(directory, "many_threads")
    writes = [e for e in events_of(traced) if e["name"] == "pwrite"]
    equal(sorted(e["offset"] for e in writes), list(range(0, 20000, 10)), "writes")
    equal(len({e["tid"] for e in writes}), 2000, "thread ids")
    size = sum(p.stat().st_size for p in traces(traced.place))
    true(size < 1000 * 2000, f"a trace of {size} bytes for 2,000 threads with a call each")


def test_calls_when_a_thread_ends(directory):
    writes = [e for e in events_of(both(directory, "thread_destructors")) if e["name"] == "pwrite"]
    equal(sorted(e["offset"] for e in writes), list(range(1, 101)), "writes of destructors")


def test_handlers_on_their_own_stack(directory):
    reads = [e for e in events_of(both(directory, "signal_stacks")) if e["name"] == "pread"]
    equal([e["offset"] for e in reads], list(range(5000)), "reads of handlers")


def test_faults_in_a_call(directory):
    events = events_of(both(directory, "faults"))
    equal(len([e for e in of_file(events, "work/faults") if e["name"] == "write"]), 50, "writes of handlers")


def test_cancelled_threads(directory):
    events = events_of(both(directory, "cancellation"))
    equal(len([e for e in events if e["name"] == "pwrite"]), 50, "writes after cancellations")


# --- processes -------------------------------------------------------------------------------------------------------


def test_vfork_children_that_exec(directory):
    traced = both(directory, "vfork_exec")
    events = events_of(traced)
    equal(accesses(of_file(events, "work/parent")), [("write", 0, 6), ("write", 6, 6), ("write", 12, 6)], "the parent's writes")
    equal(len({e["pid"] for e in of_file(events, "work/output") if e["name"] == "fputs"}), 3, "children that wrote")
    equal(len([e for e in events if e["name"] == "execl" and e.get("phase") == "begin"]), 3, "execs")
    whole(traced)


def test_children_of_clone(directory):
    traced = both(directory, "clones")
    whole(traced)
    events = events_of(traced)
    equal(accesses(of_file(events, "work/file")), [("pwrite", 1000, 5), ("write", 0, 6), ("pwrite", 1000, 5), ("write", 6, 6)], "accesses")
    equal([e["file"] for e in events if e["name"] == "open"], ["work/file", "work/after"], "opened: the directory stayed")
    pids = [e["ret"] for e in events if e["name"] == "clone" and e["ret"] > 0]
    equal(pids, [e["ret"] for e in events if e["name"] == "waitpid"], "children")
    equal((endings(traced), lost(traced), live_files(traced.place / "traces")), ({"exit", "_exit"}, 0, []), "ends")


def test_clone_that_shares_descriptors(directory):
    traced = both(directory, "clone_shares_files")
    whole(traced)
    equal([(e["name"], e.get("errno")) for e in of_file(events_of(traced), "work/file")], [("open", None), ("pwrite", None), ("close", None)],
          "calls: closed for all")


def test_clone_that_borrows_memory(directory):
    """The child runs at the same time on the thread's memory: its calls are counted, the parent's are all there."""
    traced = both(directory, "clone_borrows")
    whole(traced)
    events = of_file(events_of(traced), "work/file")
    equal(accesses(events, "write"), [("write", 10 * i, 10) for i in range(20000)], "writes behind it")
    written = accesses(events, "pwrite")
    equal(written, [("pwrite", i % 5000 * 6, 6) for i in range(len(written))], "writes beside it")
    true(len(written) >= 5000, f"{len(written)} writes beside it")
    true(5002 <= lost(traced) <= 5010, f"{lost(traced)} calls of the child counted")
    equal(endings(traced), {"exit"}, "end")


def test_vfork_children_that_fail(directory):
    traced = both(directory, "vfork_fails")
    events = events_of(traced)
    equal(accesses(of_file(events, "work/parent")), [("write", 0, 6), ("write", 6, 6), ("write", 12, 6)], "the parent's writes")
    equal(len(of_file(events, "work/after")), 1, "the working directory of the parent")
    whole(traced)


def test_calls_before_a_child_ends(directory):
    """Each call of a child in its parent's memory is there once, with the child's pid, and is on what the child's number means."""
    traced = both(directory, "calls_of_children")
    whole(traced)
    equal(lost(traced), 0, "lost")
    events = events_of(traced)
    makers = [e for e in events if e["name"] in ("vfork", "clone")]
    parent, children = makers[0]["pid"], [e["ret"] for e in makers]
    equal(accesses(of_file([e for e in events if e["pid"] == parent], "work/file"), "write"),
          [("write", 6 * i, 6) for i in range(6)], "the parent's writes")
    for pid in children:
        calls = [(e["name"], e["file"], e.get("bytes")) for e in events if e["pid"] == pid and e["cat"] == "POSIX"]
        equal(calls, [("open", "work/own", None), *[("write", "work/own", 5)] * 5, ("dup2", "work/own", None), ("write", "work/own", 5),
                      ("lseek", "work/own", None), ("close", "work/own", None)], "a child's calls")
        for offset in [e["offset"] for e in events if e["pid"] == pid and e["name"] == "write" and "offset" in e]:
            true(offset in range(0, 30, 5), f"offset {offset}")
    found = {p["pid"]: (p["ended"], p["status"], p["ppid"]) for p in json.loads(dftmerge("ps", "--json", traced.place / "traces").out)["processes"]}
    equal([found[pid] for pid in children], [("_exit", 11, parent), ("killed", 9, parent), ("_exit", 11, parent)], "ends")
    for more in ([], ["--events"]):
        rows = json.loads(dftmerge("summary", "--json", "--by", "pid", *more, traced.place / "traces").out)["groups"]
        equal({r["pid"]: r["count"] for r in rows}, collections.Counter(e["pid"] for e in events), f"calls by pid {more}")


def test_a_signal_in_exit_comes_too_late(directory):
    both(directory, "told_to_end_in_exit")


def test_a_child_outlives_its_parent(directory):
    traced = both(directory, "child_kills_parent", expect=-signal.SIGKILL)
    for recovers in (False, True):
        if recovers:
            dftmerge("check", "--recover", traced.place / "traces")
            equal(live_files(traced.place / "traces"), [], "live files")
        events = events_of(traced)
        found = json.loads(dftmerge("ps", "--json", traced.place / "traces").out)["processes"]
        parent = next(p["pid"] for p in found if p["parent_key"] is None)
        calls = collections.Counter((e["name"], e["file"]) for e in events if e["pid"] != parent and e["cat"] == "POSIX")
        equal(calls, {("open", "work/own"): 1, ("write", "work/own"): 6, ("dup2", "work/own"): 1, ("lseek", "work/own"): 1,
                      ("close", "work/own"): 1}, "the child's calls")
        equal([(p["ended"], p["pid"] == parent) for p in found], [("killed", True), ("killed", False)], "processes")


def test_a_child_makes_the_first_call(directory):
    traced = both(directory, "child_is_first")
    whole(traced)
    events = events_of(traced)
    equal([(e["name"], e["pid"] == events[0]["pid"]) for e in events if e["name"] in ("vfork", "open", "_exit")],
          [("vfork", True), ("open", False), ("_exit", False)], "calls")
    equal(lost(traced), 0, "lost")


def test_spawned_programs(directory):
    traced = both(directory, "spawn")
    events = events_of(traced)
    writes = of_file(events, "work/spawned")
    equal([e["bytes"] for e in writes if e["name"] == "write"], [2, 2], "writes of the spawned")
    equal(len({e["pid"] for e in writes}), 2, "the spawned")
    whole(traced)


def test_children_past_every_wrapper(directory):
    traced = both(directory, "raw_clone")
    events = events_of(traced)
    equal(sorted(e["bytes"] for e in of_file(events, "work/file") if e["name"] == "write"), [5, 5, 5, 6, 6], "writes")
    for i in range(3):
        equal(accesses(of_file(events, f"work/child{i}")), [("write", 0, 3)], "the child's own")
    equal(len({e["pid"] for e in events}), 4, "processes")
    whole(traced)


def test_children_on_stacks_of_their_own(directory):
    traced = both(directory, "clone_with_stack")
    equal(lost(traced), 2 * 3, "lost")  # those in the parent's memory are not recorded, and counted: pwrite, close, _exit
    equal(sorted(e["offset"] for e in events_of(traced) if e["name"] == "pwrite"), [0, 1, 2, 3, 100, 102], "writes")
    whole(traced)


def test_forked_children(directory):
    events = events_of(both(directory, "forks"))
    equal(sorted(e["offset"] for e in events if e["name"] == "pwrite"), list(range(20)) + list(range(100, 200, 5)), "writes")
    names = collections.Counter(e["name"] for e in events)
    equal((names["fork"], names["_Fork"], names["_exit"]), (10, 10, 20), "forks and ends")


def test_every_form_of_exec(directory):
    events = events_of(both(directory, "exec_forms", DATA_DIR="all"))
    begun = [e["name"] for e in events if e.get("phase") == "begin"]
    equal(begun, ["execl", "execlp", "execle", "execv", "execvp", "execvpe", "execve", "fexecve", "execveat"], "execs")
    named = {e["name"] for e in events if e.get("phase") == "begin" and e.get("file")}
    true({"execlp", "execvp", "execvpe"} <= named, f"files that are looked for in PATH: {named}")


def test_exec_that_fails_late(directory):
    events = events_of(both(directory, "exec_fails", expect=-signal.SIGKILL))
    equal(accesses(of_file(events, "work/file")), [("write", 10 * i, 10) for i in range(102)], "writes, before a kill -9")


def test_runs_of_characters_over_execs_that_fail(directory):
    traced = both(directory, "runs_over_execs")
    reads = [e for e in of_file(events_of(traced), "work/characters") if e["name"] == "fgetc"]
    where = collections.Counter(at for e in reads for at in range(e["offset"], e["offset"] + e["bytes"]))
    equal([at for at in range(600) if where[at] != 1][:10], [], "characters that were not read once")
    equal((sum(e.get("calls", 1) for e in reads), lost(traced)), (600, 0), "calls, lost")


def test_exec_from_a_thread(directory):
    plain = run_in(directory / "plain", "exec_from_thread", False)
    traced = run_in(directory / "traced", "exec_from_thread", True)
    equal((traced.code, traced.out, traced.err), (6, plain.out, plain.err), "exit code and messages")
    equal(traced.files["file"], b"after\n", "what the new program wrote")
    true(len([e for e in events_of(traced) if e["name"] == "pwrite"]) >= 1000, "writes of the other threads")


# --- endings ---------------------------------------------------------------------------------------------------------

THREADS = 8


def counters_of(place):
    """How many writes each thread has begun, then how many have returned."""
    return struct.unpack("<16Q", (place / "work" / "counters").read_bytes()[:128])


def check_writers(traced, allowed=0):
    """Every write that had returned is in the trace, once, and none that never began."""
    counters = counters_of(traced.place)
    events = events_of(traced, damaged=True)
    for i in range(THREADS):
        seen = [e["offset"] for e in of_file(events, f"work/file{i}") if e["name"] == "pwrite" and not e.get("open")]
        started, returned = counters[i], counters[THREADS + i]
        equal(len(seen), len(set(seen)), f"thread {i}: writes, each once")
        missing = set(range(returned)) - set(seen)
        true(len(missing) <= allowed, f"thread {i}: {len(missing)} of {returned} writes that returned are missing: {sorted(missing)[:5]}")
        true(set(seen) <= set(range(started)), f"thread {i}: writes that never began")
    return sum(counters[THREADS:])


def test_killed_at_any_moment(directory):
    rng = random.Random(20)
    for round_number in range(8):
        place = directory / str(round_number)
        (place / "work").mkdir(parents=True)
        process = subprocess.Popen([GUEST, "killed"], cwd=place / "work", stderr=subprocess.PIPE,
                                   env=tracing(place / "traces" / "t", DATA_DIR=place / "work"))
        equal(process.stderr.readline(), b"ready: 0\n", "the program's word")
        enough = rng.randrange(20000)
        while sum(counters_of(place)[THREADS:]) < enough:
            equal(process.poll(), None, "it ended by itself")
        process.kill()
        process.wait()
        equal(len(live_files(place)), 1, "live files")
        check_writers(Run(0, b"", b"", {}, place))


def test_ends_while_others_write(directory):
    for case, code in 3 * (("exit_while_writing", 21), ("end_while_writing", 22), ("exec_while_writing", 27)):
        traced = run_in(pathlib.Path(tempfile.mkdtemp(dir=directory)), case, True)
        equal((traced.code, traced.err), (code, b""), f"{case}: exit code")
        true(check_writers(traced) >= THREADS * 3000, "not all of them wrote")


def test_end_from_a_handler(directory):
    traced = run_in(directory / "traced", "end_in_handler", True)
    equal((traced.code, traced.err), (23, b""), "exit code")
    writes = [e for e in events_of(traced) if e["name"] == "write"]
    equal([e["bytes"] for e in writes], [4], "the handler's write")
    equal([e["name"] for e in events_of(traced)][-1], "_exit", "last event")


def test_calls_at_the_end(directory):
    events = events_of(both(directory, "late_calls", expect=24))
    equal(accesses(of_file(events, "work/at_exit")), [("write", 0, 7)], "at exit")
    equal(accesses(of_file(events, "work/destructor")), [("write", 0, 10)], "in a destructor")


def test_buffers_written_at_the_end(directory):
    events = events_of(both(directory, "buffered_at_exit", expect=25))
    equal([e["name"] for e in events][:2], ["fopen", "fputs"], "events")


def test_abort_and_quick_exit(directory):
    for case, code in (("aborted", -signal.SIGABRT), ("fast_exit", 26)):
        (directory / case).mkdir()
        events = events_of(both(directory / case, case, expect=code))
        equal([e["offset"] for e in events if e["name"] == "pwrite"], list(range(100)), f"{case}: writes")


# --- what is traced --------------------------------------------------------------------------------------------------


def test_rules_of_directories(directory):
    """The most specific entry wins, whatever the order; whole components; made absolute; an empty one means nothing."""
    work = directory / "x" / "work"

    def seen(rules):
        place = directory / "x"
        if place.exists():
            run_checked(["rm", "-rf", place])
        traced = run_in(place, "directories", True, DATA_DIR=rules)
        equal(traced.code, 0, "exit code")
        return sorted({e["file"] for e in (events_of(traced) if traces(place) else [])})

    everything = ["work", "work/b", "work/sub", "work/sub/a", "work/sub/c", "work/sub/d"]
    equal(seen("all"), everything, "all")
    equal(seen(work), everything, "a directory")
    equal(seen(f"{work}/"), everything, "with a slash")
    equal(seen("."), everything, "the working directory")
    equal(seen(f"{work}/sub"), ["work/b", "work/sub", "work/sub/a", "work/sub/c", "work/sub/d"],
          "a directory below (rename has a second file)")
    equal(seen(f"{work}/su"), [], "not a whole component")
    equal(seen(f"!{work}/sub:{work}"), ["work", "work/b", "work/sub/a"], "without a directory below (renames have both)")
    equal(seen(f"{work}:!{work}/sub"), ["work", "work/b", "work/sub/a"], "in the other order")
    equal(seen(f"!{work}:{work}/sub/c"), ["work/b", "work/sub/c"], "nothing but one file")
    equal(seen("/nowhere"), [], "elsewhere")
