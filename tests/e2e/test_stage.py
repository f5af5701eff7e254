# SPDX-License-Identifier: MIT
"""DFTRACER_STAGE_DIR: traces are written on the node and move to their place at the end, whatever the end is, and
`dftmerge collect` and dftrun bring what was left. The program counts its own calls, and no call may be missing.

DFT_LONG=1 kills a hundred times in place of a few."""

import contextlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

import pytest

from tracing import (DFTMERGE, DFTRUN, LONG, SECONDS, SHARED_MEMORY, compile_program, dftmerge, environment, equal, need, ranks_here, run,
                     traces, tracing, true)

KILLS = 100 if LONG else 8
COUNT = 200


def program(directory):
    return compile_program("staged.c", directory / "staged", "-pthread")


@contextlib.contextmanager
def staging(directory, same=False):
    """A directory on another file system than the traces, or on the same one."""
    place = (directory if same else SHARED_MEMORY) / f"stage-{directory.name}"
    if not same and (not SHARED_MEMORY.is_dir() or os.stat(SHARED_MEMORY).st_dev == os.stat(directory).st_dev):
        pytest.skip("/dev/shm is no file system of its own")
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def disk(place, size):
    place.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place]).code:
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        run(["umount", "-l", place])


def settings(directory, stage, **more):
    return tracing(directory / "out" / "t", STAGE_DIR=stage, **more)


def opens(*paths, expect=0):
    """How often the work of the program is in these traces, and whether all is whole."""
    checked = dftmerge("check", *paths)
    if expect is not None:
        equal(checked.code, expect, f"check: {checked.out.decode()}{checked.err.decode()}")
    done = dftmerge("summary", "--json", "--by", "name", "--file", "*/work", *paths)
    equal(done.code, 0, done.err.decode())
    return sum(group["count"] for group in json.loads(done.out)["groups"] if group["name"] == "open")


def staged(stage):
    return sorted(path.name for path in stage.iterdir()) if stage.exists() else []


def collect(directory, *what, expect=0):
    done = dftmerge("collect", "-o", directory / "out", *what)
    equal(done.code, expect, f"collect: {done.out.decode()}{done.err.decode()}")
    return done


# --- ends -------------------------------------------------------------------------------------------------------------

ENDS = {"return": (1, 0), "_exit": (1, 0), "quick_exit": (1, 0), "pthread_exit": (1, 0), "exec": (3, 0), "exec_fails": (2, 0), "fork": (2, 0),
        "vfork": (1, 0), "threads": (5, 0)}


def test_every_end_moves_the_trace(directory):
    it = program(directory)
    for same in (False, True):
        with staging(directory, same) as stage:
            for mode, (times, code) in ENDS.items():
                shutil.rmtree(directory / "out", ignore_errors=True)
                done = run([it, mode, COUNT, directory], env=settings(directory, stage))
                equal((done.code, done.err, staged(stage)), (code, b"", []), f"{mode}: nothing is left")
                equal(opens(directory / "out"), times * COUNT, mode)
                equal([p.name for p in (directory / "out").iterdir() if p.suffix != ".dft"], [], f"{mode}: nothing but traces")


def test_a_fatal_signal_moves_it_where_it_is_bound(directory):
    it = program(directory)
    with staging(directory) as stage:
        for mode, number in (("abort", signal.SIGABRT), ("term", signal.SIGTERM)):
            shutil.rmtree(directory / "out", ignore_errors=True)
            equal(run([it, mode, COUNT, directory], env=settings(directory, stage, BIND_SIGNALS=1)).code, -number, mode)
            equal((opens(directory / "out"), staged(stage)), (COUNT, []), f"{mode}, bound")
        shutil.rmtree(directory / "out")
        equal(run([it, "abort", COUNT, directory], env=settings(directory, stage)).code, -signal.SIGABRT, "abort")
        equal(len(staged(stage)), 2, "not bound: the trace and its live file stay")
        done = collect(directory, stage)
        true(b"1 file moved to " in done.out and b"1 live file put into" in done.out, f"{done}")
        equal((opens(directory / "out"), staged(stage)), (COUNT, []), "collected")


def test_relative_paths_and_missing_directories(directory):
    it = program(directory)
    (directory / "there").mkdir()
    env = tracing("out/t", STAGE_DIR="deep/er/stage/")
    done = run(["sh", "-c", f'cd there && exec "{it}" return {COUNT} "{directory}"'], cwd=directory, env=env)
    equal((done.code, done.err), (0, b""), "runs")
    places = {path.parent for path in traces(directory)}
    equal(places, {directory / "out"}, "where the first program began")
    equal(opens(directory), COUNT, "all is there")
    equal([path.parent for path in directory.rglob("stage")], [directory / "deep" / "er"], "one stage was made")


def test_a_move_without_a_number(directory):
    """There may be no number left for the trace's descriptor: each write opens the file by its name, and so does the
    move."""
    it = program(directory)
    for same in (False, True):
        with staging(directory, same) as stage:
            shutil.rmtree(directory / "out", ignore_errors=True)
            done = run(["prlimit", "--nofile=24:24", it, "return", COUNT, directory], env=settings(directory, stage))
            equal((done.code, done.err, staged(stage)), (0, b"", []), "nothing is left")
            equal(opens(directory / "out"), COUNT, "all is there")


# --- bad stages -----------------------------------------------------------------------------------


def test_a_stage_that_cannot_serve_is_named_once(directory):
    it = program(directory)
    (directory / "file").write_text("")
    (directory / "out").mkdir()
    for place, why in ((directory / "file", b"Not a directory"), ("/proc/nowhere", b"traces are written to their place at once"),
                       (directory / "out", b"traces belong there anyway"), (f"{directory}/./out/", b"traces belong there anyway"),
                       ("/" + "x" * 3600, b"File name too long")):
        shutil.rmtree(directory / "out")
        (directory / "out").mkdir()
        done = run([it, "fork", COUNT, directory], env=settings(directory, place))
        lines = [line for line in done.err.splitlines() if b"STAGE_DIR" in line]
        equal((done.code, len(lines)), (0, 1), f"{place}: {done.err.decode()}")
        true(why in lines[0] and b"has no effect" in lines[0], f"says why: {lines[0].decode()}")
        equal(opens(directory / "out"), 2 * COUNT, f"{place}: traced all the same")


def test_a_long_name_is_not_staged(directory):
    """The name of a trace fits; that of its copy would not, nor would it when it is collected."""
    it = program(directory)
    longest = 255 - len(f"-staged-{os.uname().nodename}-1234567-1234567890123456789-1234567890123456.dft")
    with staging(directory) as stage:
        for letters, exists in ((longest // 2, True), (longest, True), (3000, False)):
            out = directory / f"out{letters}"
            name = out / ("n" * letters)
            deep = stage.joinpath(*["d" * 200] * 17) if letters == 3000 else stage
            done = run([it, "return", COUNT, directory], env=tracing(name, STAGE_DIR=deep))
            equal((done.code, b"stays" in done.err), (0, False), done.err.decode())
            true(exists == (b"cannot create" not in done.err), done.err.decode())
            equal(opens(out) if exists else 0, COUNT if exists else 0, f"{letters} letters")
            equal([path for path in stage.rglob("*") if path.is_file()], [], "nothing is left")


def test_a_full_stage_is_left(directory):
    it = program(directory)
    with disk(directory / "small", "96k") as small:
        done = run([it, "threads", 20000, directory], env=settings(directory, small, TRACE_COMPRESSION=0))
        equal((done.code, done.err), (0, b""), "runs")
        equal((opens(directory / "out"), staged(small)), (100000, []), "every call, from threads that wrote meanwhile")
        shutil.rmtree(directory / "out")
        run(["sh", "-c", f"cat /dev/zero > {small}/filler"])
        done = run([it, "fork", COUNT, directory], env=settings(directory, small))
        equal((done.code, opens(directory / "out"), staged(small)), (0, 2 * COUNT, ["filler"]), f"full from the start: {done.err.decode()}")


def test_a_full_place_leaves_it_staged(directory):
    it = program(directory)
    with staging(directory) as stage, disk(directory / "out", "16k") as out:
        done = run([it, "threads", 20000, directory], env=settings(directory, stage, TRACE_COMPRESSION=0))
        equal(done.code, 0, "runs")
        lines = done.err.splitlines()
        true(len(lines) == 1 and b"stays in its stage: No space left" in lines[0], f"says so: {done.err.decode()}")
        equal(staged(out), [], "no part of it")
        failed = collect(directory, stage, expect=1)
        true(b"No space left" in failed.err, failed.err.decode())
        equal((staged(out), len(staged(stage))), ([], 1), "whole or nothing")
        run(["mount", "-o", "remount,size=64m", out])
        command = lines[0].decode().split("later: ")[1].split()
        equal(command[:2], ["dftmerge", "collect"], "the command that collects")
        equal(run([DFTMERGE, *command[1:]]).code, 0, "as it stands there")
        equal((opens(out), staged(stage)), (100000, []), "every call")


def test_a_place_that_cannot_be_had_leaves_it_staged(directory):
    it = program(directory)
    (directory / "out").write_text("no directory")
    with staging(directory) as stage:
        done = run([it, "return", COUNT, directory], env=settings(directory, stage))
        true(done.code == 0 and b"stays in its stage: Not a directory" in done.err, done.err.decode())
        done = run([it, "numbers", COUNT, directory], env=settings(directory, stage))
        true(done.code == 0 and b"stays in its stage" in done.err, done.err.decode())
        (directory / "out").unlink()
        done = run([it, "numbers", COUNT, directory], env=settings(directory, stage))
        true(b"Too many open files" in done.err, f"no descriptor is left: {done.err.decode()}")
        (directory / "jail").mkdir()
        jailed = run([it, "chroot", COUNT, directory, directory / "jail"], env=settings(directory, stage))
        if jailed.code == 3:
            print("        (no chroot here)")
        else:
            equal(staged(directory / "jail"), [], "nothing is made behind a chroot")
        left = len([name for name in staged(stage) if name.endswith(".dft")])
        equal(left, 3 if jailed.code == 3 else 4, "all are left")
        collect(directory, stage)
        equal((opens(directory / "out"), staged(stage)), (COUNT * 4, []), "and collected")


def test_faults_of_the_move(directory):
    """Each system call of the move fails once; nothing is lost."""
    need("strace")
    it = program(directory)
    if run(["strace", "-o", "/dev/null", "-e", "inject=renameat:error=EIO", "true"]).code:
        pytest.skip("strace cannot inject faults here")
    with staging(directory, same=True) as stage:
        for fault, left in (("renameat:error=EIO", 1), ("renameat:error=EXDEV:when=1", 0), ("renameat:error=EXDEV", 1),
                            ("unlinkat:error=EIO:when=2+", None), ("pwrite64:error=EDQUOT:when=3", None)):
            shutil.rmtree(directory / "out", ignore_errors=True)
            names = [f"inject={fault}"] + (["inject=renameat:error=EXDEV:when=1"] if left is None else [])
            env = environment()
            inside = [f"-E{name}={value}" for name, value in settings(directory, stage).items() if name not in env]
            done = run(["strace", "-o", "/dev/null", *[word for name in names for word in ("-e", name)], *inside, it, "return", COUNT, directory],
                       env=env)
            equal(done.code, 0, f"{fault}: {done.err.decode()}")
            if left is not None:
                equal(len(staged(stage)), left, f"{fault}: left")
            (directory / "out").mkdir(exist_ok=True)
            collect(directory, stage)
            equal((opens(directory / "out"), staged(stage)), (COUNT, []), fault)
            equal([p.name for p in (directory / "out").iterdir() if p.suffix != ".dft"], [], f"{fault}: no rest")


def test_a_move_stays_with_its_process(directory):
    """Another thread forks while the trace is copied. The child has no descriptor of it."""
    need("strace")
    it = program(directory)
    with staging(directory) as stage:
        env = environment()
        inside = [f"-E{name}={value}" for name, value in settings(directory, stage).items() if name not in env]
        done = run(["strace", "-f", "-o", "/dev/null", "-e", "inject=pread64:delay_enter=300000", *inside, it, "fork_late", COUNT, directory],
                   env=env)
        equal((done.code, done.err, staged(stage)), (0, b"", []), "nothing is seen of it")
        true(opens(directory / "out") in (COUNT, COUNT + 1), "and every call, of the child as well if there is one")


def test_a_copy_has_the_mode_of_its_file(directory):
    it = program(directory)
    with staging(directory) as stage:
        equal(run([it, "umask", COUNT, directory], env=settings(directory, stage)).code, 0, "ends")
        there, = traces(directory / "out")
        equal(oct(os.stat(there).st_mode & 0o777), oct(0o644), "as it was made")


def test_a_thread_that_ends_the_process_waits_for_the_move(directory):
    """Longer than for anything else at an end, so the move takes longer than that."""
    need("strace")
    if not LONG:
        pytest.skip("takes 8 s: in the long form only")
    it = program(directory)
    with staging(directory) as stage:
        env = environment()
        inside = [f"-E{name}={value}" for name, value in settings(directory, stage).items() if name not in env]
        done = run(["strace", "-f", "-o", "/dev/null", "-e", "inject=renameat:delay_enter=7000000:when=1", *inside, it, "ends_twice", COUNT,
                    directory], env=env)
        equal((done.code, opens(directory / "out"), staged(stage)), (0, COUNT, []), done.err.decode())


# --- killed ---------------------------------------------------------------------------------------


def begin(directory, stage, count):
    """The program, once it has made its calls and begins to end."""
    process = subprocess.Popen([directory / "staged", "tell", str(count), directory], env=settings(directory, stage, TRACE_COMPRESSION=0, STACK=8),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.readline()
    return process


def test_killed_while_it_is_moved(directory):
    program(directory)
    count = 100000
    rest = moved = 0
    with staging(directory) as stage:
        process = begin(directory, stage, count)
        started = time.monotonic()
        process.communicate()
        takes = time.monotonic() - started
        equal((opens(directory / "out"), staged(stage)), (count, []), "not killed")
        for turn in range(KILLS):
            shutil.rmtree(directory / "out")
            process = begin(directory, stage, count)
            time.sleep(random.random() * takes)
            process.kill()
            process.communicate()
            (directory / "out").mkdir(exist_ok=True)
            rest += any(path.name.endswith(".moving") for path in (directory / "out").iterdir())
            done = not staged(stage)
            moved += done
            takes *= 0.8 if done else 1.1  # so most fall near the end of the move
            collect(directory, stage)
            equal((opens(directory / "out"), staged(stage)), (count, []), f"turn {turn}")
            equal([p.name for p in (directory / "out").iterdir() if p.suffix != ".dft"], [], f"turn {turn}: no rest")
    print(f"        killed {KILLS} times: {rest} within the copy, {moved} after the move")


def test_a_collector_is_killed(directory):
    it = program(directory)
    with staging(directory) as stage:
        run([it, "abort", 100000, directory], env=settings(directory, stage, TRACE_COMPRESSION=0))
        (directory / "out").mkdir()
        for _ in range(KILLS):
            process = subprocess.Popen([DFTMERGE, "collect", "-o", directory / "out", stage], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=environment())
            time.sleep(random.random() * 0.05)
            process.kill()
            process.wait()
        collect(directory, stage)
        equal((opens(directory / "out"), staged(stage)), (100000, []), "every call, once")


def test_two_collectors_at_once(directory):
    it = program(directory)
    with staging(directory) as stage:
        for _ in range(6):
            run([it, "abort", COUNT, directory], env=settings(directory, stage))
        equal(len(staged(stage)), 12, "killed ones")
        (directory / "out").mkdir()
        both = [subprocess.Popen([DFTMERGE, "collect", "-o", directory / "out", stage], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=environment()) for _ in range(3)]
        said = [process.communicate(timeout=SECONDS) for process in both]
        equal([process.returncode for process in both], [0, 0, 0], str(said))
        equal((opens(directory / "out"), staged(stage)), (6 * COUNT, []), "every call, once")
        equal(len(traces(directory / "out")), 6, "a trace each")


# --- collecting -----------------------------------------------------------------------------------


def test_running_processes_are_left_alone(directory):
    it = program(directory)
    with staging(directory) as stage:
        process = subprocess.Popen([it, "pause", str(COUNT), directory], env=settings(directory, stage), stdout=subprocess.PIPE)
        process.stdout.readline()
        run([it, "abort", COUNT, directory], env=settings(directory, stage))
        before = len(staged(stage))
        done = collect(directory, stage)
        true(f"({process.pid}) still runs".encode() in done.err, done.err.decode())
        equal((before, len(staged(stage)), opens(directory / "out")), (4, 2, COUNT), "the other one's")
        for path in sorted(stage.iterdir()):
            collect(directory, path)
        equal(len(staged(stage)), 2, "named one by one")
        process.kill()
        process.communicate()
        collect(directory, f"{stage}/t-staged-*")
        equal((opens(directory / "out"), staged(stage)), (2 * COUNT, []), "once it is dead")
        equal(collect(directory, stage).out.split()[0], b"0", "and again")


def test_other_content_is_refused(directory):
    it = program(directory)
    with staging(directory) as stage:
        run([it, "abort", COUNT, directory], env=settings(directory, stage))
        name = next(name for name in staged(stage) if name.endswith(".dft"))
        (directory / "out").mkdir()
        (directory / "out" / name).write_bytes(b"something else")
        done = collect(directory, stage, expect=1)
        true(b"another file of that name" in done.err, done.err.decode())
        equal(((directory / "out" / name).read_bytes(), len(staged(stage))), (b"something else", 2), "both stay")
        (directory / "out" / name).unlink()
        (directory / "out" / f"{name}.moving").mkdir()
        done = collect(directory, stage, expect=1)
        true(f"out has a {name}.moving".encode() in done.err and b"another file" not in done.err, done.err.decode())
        equal(len(staged(stage)), 2, "both stay again")
        (directory / "out" / f"{name}.moving").rmdir()
        shutil.copy(stage / name, directory / "out" / name)
        collect(directory, stage)
        equal((opens(directory / "out"), staged(stage)), (COUNT, []), "the same content is no trouble")


def test_access_lists_give_the_group_nothing(directory):
    """Where a file has an access list, the bits of the group are the list's mask."""
    it = program(directory)
    entries = ((1, 6, -1), (2, 6, 65534), (4, 0, -1), (16, 6, -1), (32, 0, -1))  # the owner and 65534 may, the group and others not
    mine = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    with staging(directory) as stage:
        stage.mkdir()
        try:
            os.setxattr(stage, "system.posix_acl_default", mine)
        except OSError as error:
            pytest.skip("no access lists here")
        run([it, "return", COUNT, directory], env=settings(directory, stage))
        equal([path.stat().st_mode & 0o777 for path in traces(directory / "out")], [0o600], "the library moved it")
        run([it, "abort", COUNT, directory], env=settings(directory, stage))
        left = next(path for path in stage.iterdir() if path.suffix == ".dft")
        equal(os.getxattr(left, "system.posix_acl_access"), mine, "inherited")
        collect(directory, stage)
        there = directory / "out" / left.name
        try:
            equal(os.getxattr(there, "system.posix_acl_access"), mine, "collected")
        except OSError:  # no lists on this file system
            equal(there.stat().st_mode & 0o777, 0o600, "collected without a list")


def test_what_lies_in_place_stays(directory):
    """Where -o lies in the stage, its traces are there already."""
    run(["cat", "/etc/hostname"], env=tracing(directory / "stage" / "traces" / "t"))
    run(["cat", "/etc/hostname"], env=tracing(directory / "stage" / "t"))
    (directory / "link").symlink_to(directory / "stage" / "traces")
    for place in (directory / "stage" / "traces", directory / "stage" / "." / "traces" / ".." / "traces", directory / "link"):
        done = dftmerge("collect", "-o", place, directory / "stage")
        equal((done.code, len(traces(directory / "stage" / "traces"))), (0, 2), f"{place}: {done.err.decode()}, traces")


def test_what_is_no_trace_stays(directory):
    """A pattern may name results beside the traces."""
    run(["cat", "/etc/hostname"], env=tracing(directory / "stage" / "t"))
    (directory / "stage" / "results.csv").write_text("1,2")
    for what in ("stage/*", "stage/results.csv"):
        done = collect(directory, directory / what, expect=1)
        true(b"results.csv: left, because it is no trace" in done.err, done.err.decode())
        equal((staged(directory / "stage"), len(traces(directory / "out"))), (["results.csv"], 1), what)


def test_nobody_is_given_rights(directory):
    """A stage may be of all users: a copy has no bits of other users' identity, and its owner."""
    with staging(directory) as stage:
        stage.mkdir(parents=True, exist_ok=True)
        planted = stage / "t-x-1-2-3.dft"
        planted.write_bytes(b"x")
        owner = 1234 if not os.geteuid() else os.geteuid()
        os.chown(planted, owner, -1)
        planted.chmod(0o6755)
        collect(directory, stage)
        [there] = traces(directory / "out")
        equal((oct(there.stat().st_mode & 0o7777), there.stat().st_uid), (oct(0o755), owner), "mode and owner")


def test_a_live_file_elsewhere_comes_along(directory):
    it = program(directory)
    (directory / "live").mkdir()
    with staging(directory) as stage:
        run([it, "abort", COUNT, directory], env=settings(directory, stage, LIVE_DIR=directory / "live"))
        elsewhere = len(list((directory / "live").iterdir())) or len(list(SHARED_MEMORY.glob("t-staged-*.dft.live")))
        true(elsewhere, "it lies elsewhere")
        collect(directory, stage)
        equal((opens(directory / "out"), list((directory / "live").iterdir())), (COUNT, []), "with what it held")


def test_wrong_usage_says_what_to_do(directory):
    (directory / "out").mkdir()
    for words, why in ((("collect", directory), b"-o DIR"), (("collect", "-o", directory / "out", directory / "nowhere"), b"No such file"),
                       (("collect", "-o", directory / "out", directory / "out"), b"DFTRACER_STAGE_DIR"), (("collect", "-o", directory / "out"), b"which")):
        done = dftmerge(*words)
        true(done.code == 2 and why in done.err, f"{words}: {done.code}: {done.err.decode()}")
    done = dftmerge("collect", "-o", directory / "out", str(directory / "nothing-*"))
    equal((done.code, done.err), (0, b""), "a pattern without files")


# --- dftrun ---------------------------------------------------------------------------------------


def rank(directory, number, size, *words, options=(), **more):
    return subprocess.Popen([DFTRUN, "-o", "out", *options, "--", *words], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE,
                            env=environment(OMPI_COMM_WORLD_RANK=number, OMPI_COMM_WORLD_SIZE=size, PMIX_NAMESPACE=f"job-{directory.name}", **more))


def said_by(processes):
    return "".join(process.communicate(timeout=SECONDS)[1].decode() for process in processes)


def test_dftrun_collects_killed_ranks(directory):
    it = program(directory)
    with ranks_here(), staging(directory) as stage:
        page = said_by([rank(directory, r, 4, it, "abort" if r % 2 else "return", str(COUNT), directory, options=("--stage", stage)) for r in range(4)])
        true("4 of 4 ranks" in page, page)
        equal((opens(directory / "out"), staged(stage)), (4 * COUNT, []), "all ranks")
        done = run([DFTRUN, "-o", "out2", "--quiet", "--", it, "abort", COUNT, directory], cwd=directory, env=environment(DFTRACER_STAGE_DIR=stage))
        equal((done.code, opens(directory / "out2"), staged(stage)), (-signal.SIGABRT, COUNT, []), "by the variable")


def test_a_stage_that_is_the_output_is_no_stage(directory):
    it = program(directory)
    (directory / "out").mkdir()
    done = run([DFTRUN, "-o", "out", "--stage", "out/", "--quiet", "--", it, "fork", COUNT, directory], cwd=directory)
    equal((done.code, len(done.err.splitlines())), (0, 1), done.err.decode())
    true(b"traces belong there anyway" in done.err, done.err.decode())
    equal(opens(directory / "out"), 2 * COUNT, "traced all the same")


def test_a_missing_rank_is_pointed_to(directory):
    it = program(directory)
    with staging(directory) as stage:
        for r, mode in ((0, "return"), (1, "abort")):
            run([it, mode, COUNT, directory], env=settings(directory, stage, RANK=r, WORLD_SIZE=2, JOB_ID="7"))
        note = dftmerge("summary", directory / "out").err.decode()
        true("1 of 2 ranks" in note and f"dftmerge collect -o DIR {stage}" in note and os.uname().nodename in note, note)
        collect(directory, stage)
        note = dftmerge("summary", directory / "out").err.decode()
        true("collect" not in note, note)
    for private in (0, 1):
        run([it, "return", COUNT, directory], env=tracing(directory / f"none{private}" / "t", STAGE_DIR="/proc/nowhere", RANK=0, WORLD_SIZE=2,
                                                          JOB_ID="7", PRIVATE=private))
        note = dftmerge("summary", directory / f"none{private}").err.decode()
        true("collect" not in note, f"not to a stage that could not serve: {note}")


def test_every_nth_rank_keeps_events(directory):
    it = program(directory)
    with ranks_here():
        page = said_by([rank(directory, r, 5, "sh", "-c", f'"{it}" return {COUNT} "{directory}"; true', options=("--every", "2", "--stack", "4"),
                             DFTRACER_ENABLE_AGGREGATION=1) for r in range(5)])
    true("events of 3 of 5 ranks" in " ".join(page.split()), page)
    done = dftmerge("summary", "--json", "--by", "rank,name", "--name", "open", directory / "out")
    calls = {group["rank"]: group["count"] for group in json.loads(done.out)["groups"]}
    true(all(calls[r] >= COUNT for r in range(5)), f"counts of all ranks: {calls}")
    shown = run([DFTMERGE, "dump", "--json", "--name", "open", "--file", "*/work", directory / "out"])
    found = {}
    for line in shown.out.splitlines():
        number = json.loads(line)["rank"]
        found[number] = found.get(number, 0) + 1
    equal(found, {0: COUNT, 2: COUNT, 4: COUNT}, "events, also of what a rank runs")


def test_every_is_refused_where_it_means_nothing(directory):
    for words, why in ((("--every", "2"), "no effect without ranks"), (("--every", "0"), "from 1 on"), (("--every", "x"), "from 1 on"),
                       (("--every", "2", "--aggregate"), "contradict")):
        done = run([DFTRUN, *words, "--", "touch", directory / "it-ran"], cwd=directory)
        true(done.code == 2 and why in done.err.decode() and not (directory / "it-ran").exists(), f"{words}: {done.err.decode()}")
