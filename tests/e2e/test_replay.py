# SPDX-License-Identifier: MIT
"""dftmerge replay: the trace of a replay has the calls and bytes of the recorded program, file by file; and nothing outside the root is
ever touched, whatever a trace says and whoever puts links there."""

import collections
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tracing import BUILD, DFTMERGE, LONG, compile_program, dftmerge, dump, environment, equal, run_checked, tracing, true

from pfw_files import Writer


def record(directory, *arguments, **settings):
    """A trace of the program in the folder `work`, with the files that it expects."""
    program = compile_program("replayed.c", directory / "replayed", "-pthread", "-Wall", "-Wextra", "-Werror")
    work = directory / "work"
    work.mkdir()
    (work / "input.bin").write_bytes(os.urandom(10_000))
    (work / "given.txt").write_bytes(b"x" * 9_000)
    if arguments[0] == "hole":
        with open(work / "hole.bin", "wb") as file:
            file.truncate((1 << 42) + 4096)
    run_checked([program, work, *arguments], env=tracing(directory / "t" / "t", **settings))
    return directory / "t"


def new_root(directory, name="root"):
    root = directory / name
    root.mkdir()
    return root


def replay(*arguments, expect=0, env=None):
    done = dftmerge("replay", *arguments, env=env)
    equal(done.code, expect, f"exit code of replay {arguments}: {done.err.decode(errors='replace')}")
    return done


def replayed(*arguments, **more):
    return json.loads(replay("--json", *arguments, **more).out)


def is_repeated(event):
    file = event.get("file", "")
    return event["cat"] in ("POSIX", "STDIO") and file.startswith("/") and not file.startswith(("/proc/", "/sys/", "/dev/")) \
        and event["name"] != "chdir"


def calls_by_file(events, root=""):
    """What was called on each file: (name, path) -> calls, errors, bytes."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for event in events:
        if not is_repeated(event):
            continue
        path = event["file"]
        true(path.startswith(str(root)), f"{path} is not below {root}")
        key = event["name"], path[len(str(root)):]
        sums[key][0] += event.get("calls", 1)
        sums[key][1] += "errno" in event
        sums[key][2] += event.get("bytes", 0)
    return dict(sums)


def snapshot(folder, but):
    """All that is in a folder, but for one part of it: path -> size, time of change, what it is."""
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns, path.lstat().st_mode)
            for path in folder.rglob("*") if but != path and but not in path.parents}


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists():
        true(time.monotonic() < end, f"{path} was never made")
        time.sleep(0.01)


def background(*arguments, **more):
    return subprocess.Popen([str(a) for a in (DFTMERGE, "replay", *arguments)], env=environment(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


# --- what is repeated -------------------------------------------------------------------------------------------------------


def same_calls(directory, speed, what="all"):
    out = record(directory, what)
    root = new_root(directory)
    answer = replayed("--root", root, "--speed", speed, out, env=tracing(directory / "again" / "t"))
    recorded, again = dump(out), dump(directory / "again")
    expected, got = calls_by_file(recorded), calls_by_file(again, root)
    wrong = {key: (expected.get(key), got.get(key)) for key in expected.keys() | got.keys() if expected.get(key) != got.get(key)}
    equal(wrong, {}, "calls that are not those of the program: (recorded, replayed)")
    equal([c for c in answer["calls"] if c["other_result"] or c["not_made"]], [], "calls with another result")
    equal(answer["events"], sum(map(is_repeated, recorded)), "number of events")
    equal(answer["threads"], len({(e["pid"], e["tid"]) for e in recorded if is_repeated(e)}), "threads")
    return answer


def test_the_calls_of_the_program(directory):
    same_calls(directory, "max")


def test_the_calls_at_their_times(directory):
    answer = same_calls(directory, "1")
    true(answer["replayed_ns"] >= answer["recorded_ns"] // 2, "replayed faster than recorded")


def test_streams_over_what_was_inherited(directory):
    same_calls(directory, "max", "inherit")
    equal((directory / "root" / str(directory / "work" / "inherited")[1:]).stat().st_size, 9_600, "bytes of the file")


def test_pauses_are_kept(directory):
    out = record(directory, "slow")
    events = [e for e in dump(out) if is_repeated(e)]
    span = max(e["ts"] for e in events) - min(e["ts"] for e in events)
    answer = replayed("--root", new_root(directory), out)
    true(answer["replayed_ns"] >= span, f"{answer['replayed_ns']} ns, and the last call began after {span} ns")
    answer = replayed("--root", new_root(directory, "fast"), "--speed", "max", out)
    equal([c["made"] for c in answer["calls"]], [c["recorded"] for c in answer["calls"]], "calls without pauses")


def test_numbers_that_are_used_again(directory):
    """A descriptor stands for its file from the return of the open on, however long the open took."""
    out = record(directory, "crowd")
    root = new_root(directory)
    answer = replayed("--root", root, "--speed", "max", out, env=tracing(directory / "again" / "t"))
    equal([c for c in answer["calls"] if c["other_result"] or c["not_made"]], [], "calls with another result")
    equal(calls_by_file(dump(directory / "again"), root), calls_by_file(dump(out)), "calls")


def test_few_descriptors(directory):
    """Where too many files are open at once, the replay ends and says so."""
    out = record(directory, "crowd")
    root = new_root(directory)
    done = subprocess.run(["sh", "-c", f'ulimit -n 12 && exec "{DFTMERGE}" replay --threads 1 --root "{root}" --speed max "{out}"'],
                          env=environment(), capture_output=True, timeout=120, check=False)
    true(done.returncode in (0, 1), done)
    if done.returncode:
        true(b"too many files" in done.stderr or b"unreadable" in done.stderr or b"Too many" in done.stderr, done.stderr)


def test_the_same_files(directory):
    """What the program leaves is there, with the same sizes."""
    out = record(directory, "all")
    root = new_root(directory)
    replay("--root", root, "--speed", "max", out)
    work = directory / "work"
    sizes = {path.relative_to(work): path.stat().st_size for path in work.rglob("*") if path.is_file()}
    below = pathlib.Path(f"{root}{work}")
    equal({path.relative_to(below): path.stat().st_size for path in below.rglob("*") if path.is_file()}, sizes, "files")


def moved(events, root=""):
    """Where each call read and wrote how much: file, class, offset, bytes."""
    return sorted((os.path.relpath(e["file"], root or "/"), e["class"], e["offset"], e["bytes"]) for e in events
                  if is_repeated(e) and e.get("class") in ("read", "write"))


TRANSFERS = """
import os, shutil
open("given", "wb").write(b"z" * 50_000)
i, o = os.open("given", os.O_RDONLY), os.open("copied", os.O_RDWR | os.O_CREAT)
os.sendfile(o, i, 0, 1 << 40)
os.sendfile(o, i, 50_000, 1 << 30)
os.read(i, 100)
os.copy_file_range(i, o, 3_000, 0, 90_000)
os.copy_file_range(i, o, 4_000, 2_000)
os.read(i, 100)
os.sendfile(o, i, None, 500)
d = os.dup(i)
os.read(d, 10)
os.write(o, b"end")
shutil.copyfile("given", "whole")
"""


def test_transfers_between_files(directory):
    """Halves of transfers move what was moved, where it was moved: not what was asked for, nor from where the descriptor stands."""
    work = directory / "work"
    work.mkdir()
    run_checked([sys.executable, "-S", "-c", TRANSFERS], cwd=work, env=tracing(directory / "t" / "t", DATA_DIR=work))
    recorded = moved(dump(directory / "t"))
    true(any(size == 0 for _, _, _, size in recorded) and all(size <= 50_000 for _, _, _, size in recorded), recorded)
    root = new_root(directory)
    answer = replayed("--root", root, "--speed", "max", directory / "t", env=tracing(directory / "again" / "t"))
    equal(moved(dump(directory / "again"), root), recorded, "what was moved where")
    equal([c for c in answer["calls"] if c["other_result"] or c["not_made"]], [], "calls with another result")
    true(answer["bytes_needed"] < 1 << 20, f"{answer['bytes_needed']} bytes are needed")
    below = pathlib.Path(f"{root}{work}")
    equal({p.name: p.stat().st_size for p in below.iterdir()}, {p.name: p.stat().st_size for p in work.iterdir()}, "files")


def test_short_writes(directory):
    """A write that found no more room writes what it wrote, not what it was asked for."""
    work = directory / "work"
    work.mkdir()
    source = """
import os, resource
o, (soft, hard) = os.open("short", os.O_WRONLY | os.O_CREAT), resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
os.write(o, bytes(1 << 20))
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
"""
    run_checked([sys.executable, "-S", "-c", source], cwd=work, env=tracing(directory / "t" / "t", DATA_DIR=work))
    equal(moved(dump(directory / "t"), work), [("short", "write", 0, 50_000)], "what was recorded")
    root = new_root(directory)
    answer = replayed("--root", root, "--speed", "max", directory / "t")
    equal(pathlib.Path(f"{root}{work}/short").stat().st_size, 50_000, "bytes of the file")
    true(answer["bytes_needed"] < 100_000, f"{answer['bytes_needed']} bytes are needed")


def modes_in(traces):
    return [(e["name"], os.path.basename(e["file"]), e.get("flags", os.O_RDONLY), e.get("mode"), e.get("errno", 0)) for e in dump(traces)
            if e["name"] in ("fopen", "freopen", "fdopen")]


def test_modes_of_streams(directory):
    """A stream is opened as it was: the mode is recorded as the flags of an open, and a stream that moves nothing makes and cuts its
    file, too."""
    program = compile_program("modes.c", directory / "modes", "-Wall", "-Wextra", "-Werror")
    work = directory / "work"
    work.mkdir()
    (work / "given").write_bytes(bytes(100))
    run_checked([program], cwd=work, env=tracing(directory / "t" / "t", DATA_DIR=work))
    make, cut, all_can = os.O_CREAT, os.O_TRUNC, 0o666
    recorded = modes_in(directory / "t")
    equal(recorded, [("fopen", "given", os.O_RDONLY, None, 0), ("freopen", "given", os.O_RDWR, None, 0),
                     ("freopen", "again", os.O_WRONLY | make | cut, all_can, 0),
                     ("fopen", "appended", os.O_RDWR | make | cut | os.O_CLOEXEC, all_can, 0),
                     ("fopen", "appended", os.O_WRONLY | make | os.O_APPEND, all_can, 0),
                     ("fopen", "appended", os.O_RDWR | make | os.O_APPEND, all_can, 0),
                     ("fopen", "new", os.O_WRONLY | make | cut | os.O_EXCL, all_can, 0),
                     ("fopen", "new", os.O_WRONLY | make | cut | os.O_EXCL, all_can, errno.EEXIST),
                     ("fopen", "none", os.O_RDONLY, None, errno.ENOENT),
                     ("fdopen", "given", os.O_WRONLY | os.O_APPEND, None, 0),
                     ("fopen", "given", os.O_WRONLY | make | cut, all_can, 0)], "flags of modes")
    root = new_root(directory)
    replay("--root", root, "--speed", "max", directory / "t", env=tracing(directory / "again" / "t", DATA_DIR=root))
    below = pathlib.Path(f"{root}{work}")
    equal({p.name: p.stat().st_size for p in below.iterdir()}, {p.name: p.stat().st_size for p in work.iterdir()}, "files")
    fopens = [(name, flags & ~os.O_CLOEXEC) for call, name, flags, _, _ in recorded if call == "fopen"]
    again = [(name, flags) for call, name, flags, _, _ in modes_in(directory / "again") if call == "fopen"]
    true(all(each in again for each in fopens), f"the replay's: {again}")


def test_compare_sees_the_same(directory):
    out = record(directory, "all")
    replay("--root", new_root(directory), "--speed", "max", out, env=tracing(directory / "again" / "t"))
    done = dftmerge("compare", "--json", "--cat", "POSIX,STDIO", out, directory / "again")
    total = json.loads(done.out)["total"][0]
    equal(total["bytes"]["a"], total["bytes"]["b"], "bytes")
    guard = sum(e["name"] == "fopencookie" for e in dump(directory / "again"))  # dftmerge's own, before its messages
    equal((total["count"]["a"], guard), (total["count"]["b"] - guard + 1, 1), "calls, but for chdir")


# --- the plan ---------------------------------------------------------------------------------------------------------------


def test_a_plan_makes_nothing(directory):
    out = record(directory, "all")
    before = snapshot(directory, directory / "none")
    answer = replayed("--dry-run", out)
    equal(snapshot(directory, directory / "none"), before, "files after a dry run")
    events = [e for e in dump(out) if is_repeated(e)]
    names = collections.Counter()
    for event in events:
        names[event["name"]] += event.get("calls", 1)
    equal({c["call"]: c["recorded"] for c in answer["calls"]}, dict(names), "calls by name")
    equal(answer["bytes_at_start"], 19_000, "bytes before the start")
    equal(answer["files"], 2, "files before the start")
    left = {entry["name"] for entry in answer["left_out"]}
    true({"fork", "waitpid", "chdir"} <= left, f"left out: {left}")
    true("Left out:" in dftmerge("replay", "--dry-run", out).out.decode(), "the list of what is left out")


def test_a_part_of_a_trace(directory):
    """A rank alone: only its calls; from the middle on: descriptors are opened when they are first used."""
    out = record(directory, "all")
    child = [e for e in dump(out) if e["cat"] == "PROCESS" and e["name"] == "fork"][0]["ret"]
    root = new_root(directory)
    answer = replayed("--root", root, "--speed", "max", "--pid", child, out, env=tracing(directory / "again" / "t"))
    expected = calls_by_file([e for e in dump(out) if e["pid"] == child])
    equal(calls_by_file(dump(directory / "again"), root), expected, "calls of the child")
    equal(answer["processes"], 1, "processes")
    equal(answer["threads"], 1, "threads")


def test_few_bytes_of_memory(directory):
    out = record(directory, "many", "200000")
    child = background("--root", new_root(directory), "--speed", "max", "--json", out)
    answer = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    equal(child.returncode, 0, "exit code")
    equal({c["call"]: c["made"] for c in answer["calls"] if c["call"].startswith("p")}, {"pread": 400_000, "pwrite": 400_000}, "calls")
    true(usage.ru_maxrss < 256 * 1024, f"{usage.ru_maxrss} KiB")


# --- what is refused --------------------------------------------------------------------------------------------------------


def test_roots_that_are_refused(directory):
    out = record(directory, "all")
    full = new_root(directory, "full")
    (full / "file").write_text("mine")
    shared = new_root(directory, "shared")
    shared.chmod(0o777)
    link = directory / "link"
    link.symlink_to(full)
    for root, why in ((full, "not empty"), (directory / "none", "mkdir -p"), ("/", "whole machine"), (full / "file", "no folder"),
                      (directory, "is in this folder"), (shared, "chmod o-w"), (link, "not empty")):
        done = replay("--root", root, "--speed", "max", out, expect=1)
        true(why in done.err.decode(), f"{root}: {done.err.decode()}")
        equal(done.out, b"", "output")
    equal((full / "file").read_text(), "mine", "what was there")
    true("which folder?" in replay(out, expect=2).err.decode(), "without --root")
    true("takes 1" in replay("--root", full, "--speed", "2", out, expect=2).err.decode(), "--speed 2")
    empty = new_root(directory, "empty")
    true("no trace" in replay("--root", new_root(directory, "root"), empty, expect=1).err.decode(), "an empty folder of traces")


def test_too_little_space(directory):
    try:
        out = record(directory, "hole")
    except (AssertionError, OSError) as error:
        pytest.skip("this file system has no files of 4 TiB")
    root = new_root(directory)
    free = os.statvfs(root)
    if free.f_bavail * free.f_frsize > 1 << 42:
        pytest.skip("there are 4 TiB of space")
    done = replay("--root", root, "--speed", "max", out, expect=1)
    true("need up to 4.00 TiB" in done.err.decode() and "are free" in done.err.decode(), done.err.decode())
    equal(list(root.iterdir()), [], "what was made")


def test_aggregates_alone(directory):
    out = record(directory, "all", ENABLE_AGGREGATION=1)
    true("aggregates" in replay("--root", new_root(directory), out, expect=1).err.decode(), "the note")


# --- links, and traces that lie ---------------------------------------------------------------------------------------------


def test_links_that_others_plant(directory):
    """A link to a folder, and one to a file, appear in the root while the replay runs."""
    out = record(directory, "slow")
    root, outside = new_root(directory), new_root(directory, "outside")
    (outside / "victim").write_text("untouched")
    child = background("--root", root, "--speed", "1", out)
    below = pathlib.Path(f"{root}{directory}/work")
    wait_for(below / "first.txt")
    (below / "later-7").symlink_to(outside)
    (below / "plain-8").symlink_to(outside / "victim")
    (below / "plain-9").symlink_to(outside / "new")
    _, err = child.communicate(timeout=120)
    equal(child.returncode, 1, "exit code")
    equal({path.name: path.read_text() for path in outside.iterdir()}, {"victim": "untouched"}, "outside of the root")
    true(b"4 calls were not made: a link" in err, err)
    equal((below / "later-6" / "file").stat().st_size, 100, "what else was made")


HOSTILE = ["/../../../{outside}/a", "{outside}/../../..{outside}/b", "/" + "n" * 256 + "/c", "/" + "d/" * 3000 + "e", "relative", "", "/",
           "/..", "//x///y", "/tmp/./f", "/z\u0000{outside}/g", "/proc/self/h", "/dev/null", "/line\nbreak", "/\udcff\udc80", "-", "/x/../.."]


def test_traces_that_lie(directory):
    writer, outside = Writer("2023"), new_root(directory, "outside")
    at = 1_000_000
    for i, path in enumerate(HOSTILE):
        file = path.format(outside=outside)
        for name, more in (("open64", {"flags": 0o101, "ret": 5 + i}), ("write", {"fd": 5 + i, "ret": 10}),
                           ("pread64", {"fd": 5 + i, "ret": 5, "offset": 100}), ("ftruncate64", {"fd": 5 + i, "ret": 0}),
                           ("close", {"fd": 5 + i, "ret": 0}), ("rename", {"ret": 0}), ("unlink", {"ret": 0}), ("fopen64", {"ret": 7}),
                           ("fwrite", {"ret": 10}), ("fclose", {"ret": 0}), ("unlink", {"ret": 0}), ("mkdir", {"ret": 0}), ("opendir", {"ret": 3}),
                           ("rmdir", {"ret": 0})):
            at += 10
            writer.call("STDIO" if name[0] == "f" and name != "ftruncate64" else "POSIX", name, at, 5, file, **more)
    trace = directory / "lies.pfw"
    trace.write_bytes(writer.text().encode("utf-8", "surrogateescape"))
    for speed in ("max", "1"):
        root = new_root(directory, f"root-{speed}")
        before = snapshot(directory, root)
        done = replay("--json", "--no-index", "--root", root, "--speed", speed, trace)
        true(any(call["made"] for call in json.loads(done.out)["calls"]), "nothing was repeated")
        equal(snapshot(directory, root), before, "outside of the root")


def test_calls_that_are_not_what_they_say(directory):
    """Operations of other calls, and second files of calls that have none."""
    if not (BUILD / "bin" / "make_traces").exists():
        pytest.skip("there is no make_traces")
    for number in (5, 20, 23, 25, 26):
        out = directory / f"t{number}"
        run_checked([BUILD / "bin" / "make_traces", out, f"liar={number}", f"events={60 if LONG else 10}", "processes=1"])
        root = new_root(directory, f"root{number}")
        done = dftmerge("replay", "--json", "--root", root, "--speed", "max", out)
        true(done.code in (0, 1) and not done.err.count(b"Sanitizer"), f"operation {number}: {done.code}, {done.err}")
        shutil.rmtree(root)


def lies(directory, calls):
    """A trace of these calls: (µs, category, name, file, arguments)."""
    writer = Writer("2023")
    for at, category, name, file, more in calls:
        writer.call(category, name, at, 5, file, **more)
    trace = directory / "lies.pfw"
    trace.write_text(writer.text())
    return trace


def test_sizes_that_lie(directory):
    """No sum of sizes is so large that it looks small, and appended bytes take space."""
    huge = [(10 * i, "POSIX", "pread64", f"/file{i}", {"fd": 5 + i, "ret": 1 << 62, "offset": 1 << 61}) for i in range(8)]
    root = new_root(directory)
    done = replay("--no-index", "--root", root, "--speed", "max", lies(directory, huge), expect=1)
    true(b"are free" in done.err, done.err)
    far = lies(directory, [(1, "POSIX", "open64", "/a", {"flags": os.O_CREAT | os.O_RDWR, "ret": 5}),
                           (2, "POSIX", "pwrite64", "/a", {"fd": 5, "ret": 1 << 62, "offset": (1 << 62) + 1})])
    done = dftmerge("replay", "--no-index", "--dry-run", far)
    true(b"16.0 EiB/s" in done.out and not done.err.count(b"runtime error"), f"{done.out} {done.err}")
    done = replay("--no-index", "--root", root, "--speed", "max", far, expect=1)
    true(b"are free" in done.err, done.err)
    equal(list(root.iterdir()), [], "what was made")
    calls = []
    for i in range(20):
        calls += [(30 * i, "POSIX", "open64", "/log", {"flags": os.O_CREAT | os.O_WRONLY | os.O_APPEND, "ret": 5}),
                  (30 * i + 10, "POSIX", "write", "/log", {"fd": 5, "ret": 10_000}),
                  (30 * i + 20, "POSIX", "close", "/log", {"fd": 5, "ret": 0})]
    answer = replayed("--no-index", "--root", root, "--speed", "max", lies(directory, calls))
    equal((root / "log").stat().st_size, 200_000, "bytes of the log")
    true(answer["bytes_needed"] >= 200_000, f"{answer['bytes_needed']} bytes are needed")


def test_streams_and_folders_on_one_descriptor(directory):
    """What no program does leaves no memory behind: builds with sanitizers see it."""
    calls = [(1, "POSIX", "open64", "/d", {"flags": os.O_DIRECTORY, "ret": 5}), (20, "STDIO", "fdopen", "/d", {"fd": 5, "ret": 5}),
             (40, "POSIX", "fdopendir", "/d", {"fd": 5, "ret": 5}), (60, "STDIO", "fread", "/d", {"fd": 5, "ret": 0, "size": 1}),
             (80, "POSIX", "readdir", "/d", {"fd": 5, "ret": 0}), (100, "STDIO", "fclose", "/d", {"fd": 5, "ret": 0})]
    again = [(200, "POSIX", "opendir", "/d", {"ret": 5}), (220, "STDIO", "fdopen", "/d", {"fd": 5, "ret": 5}),
             (240, "STDIO", "fclose", "/d", {"fd": 5, "ret": 0}), (300, "POSIX", "opendir", "/d", {"ret": 5}),
             (320, "POSIX", "close", "/d", {"fd": 5, "ret": 0})]
    done = replay("--no-index", "--root", new_root(directory), "--speed", "max", lies(directory, calls + again))
    true(not done.err.count(b"Sanitizer"), done.err)


def test_links_without_descriptors(directory):
    """Where no path can be checked, for too many files are open, no call is made on it."""
    opens = [(i, "POSIX", "open64", f"/f{i}", {"flags": os.O_CREAT | os.O_RDWR, "ret": 5 + i}) for i in range(40)]
    closes = [(4_000_000 + i, "POSIX", "close", f"/f{i}", {"fd": 5 + i, "ret": 0}) for i in range(40)]
    trace = lies(directory, opens + [(3_000_000, "POSIX", "unlink", "/later/victim", {"ret": 0})] + closes)
    root, outside = new_root(directory), new_root(directory, "outside")
    (outside / "victim").write_text("untouched")
    child = subprocess.Popen(["prlimit", "--nofile=24:24", DFTMERGE, "replay", "--no-index", "--root", root, trace],
                             env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(root / "f8")
    if (root / "later").exists():
        (root / "later" / "victim").unlink()
        (root / "later").rmdir()
    (root / "later").symlink_to(outside)
    _, err = child.communicate(timeout=120)
    equal(child.returncode, 1, "exit code")
    true(b"too many files are open" in err, err)
    equal((outside / "victim").read_text(), "untouched", "outside of the root")


def test_files_without_names(directory):
    """What was written into a file of O_TMPFILE can be read again, and its folder stays one."""
    program = "import os\nd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)\nos.write(d, b'x' * 1000)\nos.pread(d, 1000, 0)\n"
    try:
        run_checked([sys.executable, "-c", program], env=tracing(directory / "t" / "t"), cwd=directory)
    except AssertionError as error:
        pytest.skip("this file system has no files without names")
    equal([e["bytes"] for e in dump(directory / "t") if e.get("bytes") == 1000], [1000, 1000], "bytes recorded")
    root = new_root(directory)
    replay("--root", root, "--speed", "max", directory / "t", env=tracing(directory / "again" / "t"))
    equal([e["bytes"] for e in dump(directory / "again") if e.get("bytes") == 1000], [1000, 1000], "bytes moved")


def test_names_that_are_missing(directory):
    """Calls on files whose names the trace lacks are there, and cannot be repeated: it says so, and not that there is no event."""
    for key, hint in (("fhash", b"5 calls are on files whose names are not in the traces"), ("none", b"5 calls name no file")):
        path = directory / f"{key}.pfw"
        path.write_text("\n".join(json.dumps({"id": i, "name": "read", "cat": "POSIX", "pid": 1, "tid": 1, "ph": "X", "ts": 1000 * i,
                                              "dur": 9, "args": {key: f"h{i}", "ret": 7}}) for i in range(5)))
        done = replay("--dry-run", "--no-index", path, expect=1)
        true(hint in done.err and b"there is no event" not in done.err, done.err)
        true((b"the name of its file is not in the traces" in done.out) == (key == "fhash"), done.out)
    (directory / "nothing.pfw").write_text('{"id":1,"name":"CM","cat":"x","pid":1,"tid":1,"ph":"M","args":{"name":"a","value":"b"}}\n')
    true(b"there is no event" in replay("--dry-run", directory / "nothing.pfw", expect=1).err, "there is none")


def test_interrupted(directory):
    out = record(directory, "slow")
    root = new_root(directory)
    child = background("--root", root, out)
    wait_for(pathlib.Path(f"{root}{directory}/work/first.txt"))
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    equal(child.returncode, 1, "exit code")
    true(b"interrupted" in err and str(root).encode() in err, err)
    true(pathlib.Path(f"{root}{directory}/work/first.txt").exists(), "what was made stays")


def test_ignored_signals_stay_ignored(directory):
    """As under nohup: a signal that the caller ignores does not end the replay."""
    out = record(directory, "slow")
    root = new_root(directory)
    child = background("--root", root, out, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(pathlib.Path(f"{root}{directory}/work/first.txt"))
    child.send_signal(signal.SIGHUP)
    _, err = child.communicate(timeout=120)
    equal(child.returncode, 0, err)
