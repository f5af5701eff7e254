# SPDX-License-Identifier: MIT
"""Who else may write to a directory may put anything in the place of a file there, and who runs a program with other
rights sets its variables. The program must run on as untraced, and no file may change that is not of its run."""

import collections
import contextlib
import functools
import os
import pathlib
import resource
import shutil
import stat
import subprocess
import sys
import threading
import time

import pytest

from tracing import (DFTRUN, LIBRARY, SECONDS, SHARED_MEMORY, compile_program, dftmerge, dump, environment, equal, need,
                     need_others, ranks_here, run, traces, tracing, true)

OTHER = 65534
VICTIM = b"key = value\n"
LARGE = 3_000_000


def need_root():
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")


def program(directory):
    return compile_program("trusting.c", directory / "trusting", "-pthread")


def victims(directory):
    """Files of the user that nobody else may change: a short one, and one that is longer than any live file."""
    folder = directory / "victims"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "short").write_bytes(VICTIM)
    (folder / "long").write_bytes(b"x" * LARGE)
    return folder


def state(folder):
    return {path.name: (path.stat().st_ino, path.stat().st_mode, path.read_bytes()) for path in folder.iterdir()}


def a_file(path, size=0, mode=0o666):
    with open(path, "wb") as file:
        file.truncate(size)
    path.chmod(mode)


PLANTED = {
    "link to a short file": lambda path, folder: path.symlink_to(folder / "short"),
    "link to a long file": lambda path, folder: path.symlink_to(folder / "long"),
    "link to nothing": lambda path, folder: path.symlink_to(folder / "new"),
    "link to a device": lambda path, folder: path.symlink_to("/dev/full"),
    "second name of a file": lambda path, folder: os.link(folder / "long", path),
    "pipe": lambda path, folder: os.mkfifo(path),
    "directory": lambda path, folder: path.mkdir(),
    "empty file": lambda path, folder: a_file(path),
    "file of 12 GiB": lambda path, folder: a_file(path, 12 << 30),
    "file without rights": lambda path, folder: a_file(path, 4096, 0),
    "nothing": lambda path, folder: None,
}
IF_ROOT = {
    "device": lambda path, folder: os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7)),
    "file of another user": lambda path, folder: (a_file(path, 1 << 20), os.chown(path, OTHER, OTHER)),
}
PLANTED.update(IF_ROOT if os.geteuid() == 0 else {})


def plant(path, what, folder):
    """Puts it in the place of the file, which goes elsewhere. Returns how it may be known again."""
    os.rename(path, path.parent / f"gone-{len(list(path.parent.iterdir()))}")
    PLANTED[what](path, folder)
    return planted(path)


def planted(path):
    if not os.path.lexists(path):
        return None
    st = path.lstat()
    return (st.st_ino, st.st_mode, st.st_nlink, st.st_size)


def disturb(it, how, env, disturbance, files=1024, by=()):
    """Runs the program (by another one); does this while it waits. Returns its exit code, its output behind "ready", and its messages."""
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (files, files))
    with subprocess.Popen([*by, it, how, "/etc/passwd"], env=env, preexec_fn=limit, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            equal(process.stdout.readline(), b"ready\n", f"{how}: begins")
            kept = disturbance()
            out, err = process.communicate(b"\n", timeout=SECONDS)
        finally:
            process.kill()
    return process.returncode, out, err, kept


# --- files that are replaced ---------------------------------------------------------------------


def test_a_live_file_that_is_replaced(directory):
    it = program(directory)
    for how in ("threads", "fork", "exec"):
        for what in PLANTED:
            folder = victims(directory)
            before = state(folder)
            shutil.rmtree(directory / "out", ignore_errors=True)
            code, out, err, kept = disturb(it, how, tracing(directory / "out" / "t"), lambda w=what, f=folder: [
                (path, plant(path, w, f)) for path in (directory / "out").glob("*.live")])
            equal((code, out, err), (0, b"done\n", b""), f"{how}, {what}: the program")
            equal(state(folder), before, f"{how}, {what}: the files of the user")
            equal(len(kept), 1, f"{how}, {what}: there was a live file")
            equal([planted(path) for path, _ in kept], [known for _, known in kept], f"{how}, {what}: what was planted stays")


def test_a_trace_that_is_replaced(directory):
    it = program(directory)
    few = 200  # then the trace keeps no descriptor, and is opened for each write
    for stage, files in ((None, 1024), (None, few), (directory / "stage", 1024), (directory / "stage", few)):
        for what in PLANTED:
            folder = victims(directory)
            before = state(folder)
            for place in ("out", "stage"):
                shutil.rmtree(directory / place, ignore_errors=True)
            code, out, err, kept = disturb(it, "threads", tracing(directory / "out" / "t", STAGE_DIR=stage), lambda w=what, f=folder, s=stage: [
                (path, plant(path, w, f)) for path in (s or directory / "out").glob("*.dft")], files)
            equal((code, out), (0, b"done\n"), f"{what}: the program: {err}")
            true(not err if not stage else err.count(b"\n") == 1 and b"the trace stays in its stage" in err, f"{what}: {err}")
            equal(state(folder), before, f"{what}: the files of the user")
            equal([planted(path) for path, _ in kept], [known for _, known in kept], f"{what}: what was planted stays")
            equal(len(kept), 1, f"{what}: there was a trace")


def test_a_name_that_is_taken_where_a_staged_trace_belongs(directory):
    it = program(directory)
    others = SHARED_MEMORY / f"trust-{directory.name}"
    for stage, tail in ((directory / "stage", ""), (others, ""), (others, ".moving")):
        for what in PLANTED:
            folder = victims(directory)
            before = state(folder)
            shutil.rmtree(directory / "out", ignore_errors=True)
            (directory / "out").mkdir()

            def take_name(stage=stage, tail=tail, what=what, folder=folder):
                found = [directory / "out" / (path.name + tail) for path in stage.glob("*.dft")]
                for path in found:
                    PLANTED[what](path, folder)
                return [(path, planted(path)) for path in found]

            try:
                code, out, err, kept = disturb(it, "threads", tracing(directory / "out" / "t", STAGE_DIR=stage), take_name)
                left = traces(stage)
            finally:
                shutil.rmtree(stage, ignore_errors=True)
            equal((code, out, len(kept)), (0, b"done\n", 1), f"{what}: the program: {err}")
            equal(state(folder), before, f"{what}{tail}: the files of the user")
            if what == "nothing":
                equal((left, err), ([], b""), "the trace has moved")
            else:
                equal((len(left), err.count(b"File exists")), (1, 1), f"{what}{tail}: the trace stays: {err}")
                equal([planted(path) for path, _ in kept], [known for _, known in kept], f"{what}{tail}: what was planted stays")


def test_a_directory_that_is_replaced(directory):
    it = program(directory)
    for how in ("threads", "fork", "exec"):
        folder = victims(directory)
        before = state(folder)
        shutil.rmtree(directory / "out", ignore_errors=True)
        shutil.rmtree(directory / "gone", ignore_errors=True)

        def replace(folder=folder):
            names = [path.name for path in (directory / "out").iterdir()]
            os.rename(directory / "out", directory / "gone")
            (directory / "elsewhere").mkdir(exist_ok=True)
            for name in names:
                (directory / "elsewhere" / name).unlink(missing_ok=True)
                (directory / "elsewhere" / name).symlink_to(folder / "long")
            (directory / "out").symlink_to(directory / "elsewhere")
            return names

        code, out, err, names = disturb(it, how, tracing(directory / "out" / "t"), replace)
        (directory / "out").unlink()
        equal((code, out, err), (0, b"done\n", b""), f"{how}: the program")
        equal(state(folder), before, f"{how}: the files of the user")
        true(all((directory / "elsewhere" / name).is_symlink() for name in names), f"{how}: what was planted stays")


def test_a_trace_that_goes_as_soon_as_it_is_made(directory):
    """Between its making and the first look at its name. No descriptor is left then: the program gets the number that it would get alone."""
    need("strace")
    script = "import os\nfor _ in range(3): print(fd := os.open('/etc/passwd', os.O_RDONLY)); os.close(fd)"
    slowly = ["strace", "-qq", "-o", directory / "calls", "-e", "trace=newfstatat", "-e", "inject=newfstatat:delay_enter=20000"]
    plain = run([sys.executable, "-S", "-c", script], env=environment())
    for how in ("renamed", "removed", "replaced"):
        made, goes_on = directory / how, threading.Event()
        made.mkdir()

        def take(made=made, how=how, goes_on=goes_on):
            while not goes_on.is_set():
                for path in made.glob("*.dft"):
                    if how == "renamed":
                        path.rename(directory / "taken")
                    else:
                        path.unlink()
                    if how == "replaced":
                        path.symlink_to("/etc/passwd")
                        goes_on.set()

        thread = threading.Thread(target=take)
        thread.start()
        try:
            settings = [f"-E{name}={value}" for name, value in tracing(made / "t").items() if name.startswith("DFTRACER_") or name == "LD_PRELOAD"]
            done = run([*slowly, *settings, sys.executable, "-S", "-c", script], env=environment())
        finally:
            goes_on.set()
            thread.join()
        true(b"Stale file handle" in done.err, f"{how}: it is told: {done.err}")
        equal((done.code, done.out), (0, plain.out), f"{how}: the program")


def test_files_of_settings_are_plain_files(directory):
    folder = victims(directory)
    for what in PLANTED:
        if what == "nothing":
            continue
        path = directory / "settings"
        PLANTED[what](path, folder)
        for name, more in (("CONFIGURATION", {}), ("AGGREGATION_FILE", {"AGGREGATION_TYPE": "SELECTIVE"}), ("WEAVE", {})):
            done = run(["cat", folder / "short"], env=tracing(directory / "out" / "t", **{name: path}, **more))
            equal((done.code, done.out), (0, VICTIM), f"{name}, {what}: the program")
            if what in ("link to a device", "pipe", "directory", "file of 12 GiB", "device"):
                true(bytes(path) in done.err, f"{name}, {what}: it is told: {done.err}")
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()


# --- directories of others ------------------------------------------------------------------------


def refused(directory, setting, place, why):
    env = tracing(directory / "out" / "t", **{setting: place})
    done = run(["cat", "/etc/passwd"], env=env)
    said = [line for line in done.err.splitlines() if b"has no effect: " in line]
    equal((done.code, len(said), len(done.err.splitlines())), (0, 1, 1), f"{setting} {place}: {done.err}")
    true(why.encode() in said[0] and f"DFTRACER_{setting}=".encode() in said[0], f"{setting} {place}: {done.err}")
    true(traces(directory / "out"), f"{setting} {place}: the trace is in its place")
    shutil.rmtree(directory / "out")


def serves(directory, setting, place):
    it = program(directory)
    _, _, err, found = disturb(it, "threads", tracing(directory / "out" / "t", **{setting: place}),
                               lambda: [path for path in pathlib.Path(place).iterdir() if ".dft" in path.name])
    true(found and not err, f"{setting} {place}: serves: {found} {err}")
    shutil.rmtree(directory / "out")


def test_a_directory_that_others_may_write_to_is_no_stage(directory):
    writes = "others may write to it"
    for setting in ("STAGE_DIR", "LIVE_DIR"):
        place = directory / setting
        place.mkdir()
        for mode, why in ((0o777, writes), (0o770, writes), (0o2775, writes), (0o707, writes), (0o1777, None), (0o3770, None), (0o755, None)):
            place.chmod(mode)
            if why:
                refused(directory, setting, place, why)
            else:
                serves(directory, setting, place)
        (place / "below").mkdir(mode=0o700)
        place.chmod(0o777)
        refused(directory, setting, place / "below", writes)
        (directory / f"link-{setting}").symlink_to(place / "below")
        refused(directory, setting, directory / f"link-{setting}", writes)
        place.chmod(0o755)
        serves(directory, setting, directory / f"link-{setting}")
    stage = directory / "new" / "stage"
    serves(directory, "STAGE_DIR", stage)
    equal([path.stat().st_mode & 0o7777 for path in (stage.parent, stage)], [0o700, 0o700], "what is made is for the user alone")


def test_a_directory_of_another_user_is_no_stage(directory):
    need_root()
    need("setpriv")
    directory.chmod(0o755)
    for setting in ("STAGE_DIR", "LIVE_DIR"):
        place = directory / setting
        place.mkdir()
        for mode in (0o755, 0o777, 0o1777, 0o700):
            place.chmod(mode)
            os.chown(place, OTHER, OTHER)
            refused(directory, setting, place, "another user owns it")
        os.chown(place, 0, 0)
        place.chmod(0o700)
        link = directory / f"link-{setting}"
        link.symlink_to(place)
        os.chown(link, OTHER, OTHER, follow_symlinks=False)
        refused(directory, setting, link, "another user owns it")
        os.chown(directory, OTHER, OTHER)
        refused(directory, setting, place, "another user owns it")
        os.chown(directory, 0, 0)
    need_others()
    (directory / "out").mkdir()
    os.chown(directory / "out", OTHER, OTHER)
    (directory / "STAGE_DIR").chmod(0o1777)  # of root: as /dev/shm
    done = run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", "cat", "/etc/passwd"],
               env=tracing(directory / "out" / "t", STAGE_DIR=directory / "STAGE_DIR"))
    equal((done.code, done.err), (0, b""), "a directory of root serves")


def test_dftrun_leaves_a_stage_of_others_alone(directory):
    stage = directory / "stage"
    stage.mkdir()
    stage.chmod(0o777)
    (stage / "cat-planted.dft").write_text("this is no trace\n")
    done = run([DFTRUN, "-o", directory / "out", "--stage", stage, "cat", "/etc/passwd"])
    equal(done.code, 0, "the program")
    true(b"others may write to it" in done.err, f"it is told: {done.err}")
    equal([path.name for path in stage.iterdir()], ["cat-planted.dft"], "what lies there stays")
    true(traces(directory / "out"), "the trace is in its place")


# --- files of dftrun ------------------------------------------------------------------------------


def test_files_of_dftrun_that_were_there_before(directory):
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    host = os.uname().nodename
    for what in PLANTED:
        folder = victims(directory)
        before = state(folder)
        shutil.rmtree(directory / "out", ignore_errors=True)
        (directory / "out").mkdir()
        lock = directory / "out" / f".node-{host}-{boot}.lock"
        PLANTED[what](lock, folder)
        known = planted(lock)
        done = run([DFTRUN, "--node", "-o", directory / "out", "cat", folder / "short"])
        equal((done.code, done.out), (0, VICTIM), f"{what}: {done.err}")
        equal(state(folder), before, f"{what}: the files of the user")
        if what not in ("empty file", "file of 12 GiB", "file without rights", "nothing"):  # these serve as well as its own
            equal(planted(lock), known, f"{what}: what was planted stays")


def test_a_script_that_was_a_pipe(directory):
    os.mkfifo(directory / "script")
    with subprocess.Popen(["sh", "-c", f"echo exit 3 >{directory}/script"]):
        done = run([DFTRUN, "-o", directory / "out", "sh", directory / "script"], seconds=20)
    equal(done.code, 3, "nobody waits for the pipe when the script has ended")


def rank_of_two(directory, folder):
    """Rank 1 of a job whose other rank does not run. Returns what it leaves for the others: its name holds the id of the job."""
    env = environment(OMPI_COMM_WORLD_RANK=1, OMPI_COMM_WORLD_SIZE=2, OMPI_COMM_WORLD_LOCAL_SIZE=2, PMIX_NAMESPACE=directory.name)
    done = run([DFTRUN, "-o", directory / "out", "cat", folder / "short"], env=env)
    equal((done.code, done.out), (0, VICTIM), f"the rank: {done.err}")
    return [path for path in (directory / "out").iterdir() if path.name.startswith(".dftrun-")]


def test_files_that_ranks_share(directory):
    if not SHARED_MEMORY.is_dir() or not os.access(SHARED_MEMORY, os.W_OK):
        pytest.skip("ranks share no memory here")
    with ranks_here(alone=True), contextlib.ExitStack() as after:
        folder = victims(directory)
        marks, = rank_of_two(directory, folder)
        equal(marks.stat().st_mode & 0o777, 0o700, "marks are for the user alone")
        shared = SHARED_MEMORY / f"dftrun-{os.geteuid()}-{marks.name.removeprefix('.dftrun-')}"
        memory = SHARED_MEMORY / f"trust-{directory.name}"
        memory.mkdir()
        after.callback(shutil.rmtree, memory)
        for what in PLANTED:
            target = victims(memory)
            before = state(target)
            PLANTED[what](shared, target)
            try:
                start = time.monotonic()
                rank_of_two(directory, folder)
                true(time.monotonic() - start < 4, f"{what}: nobody waits for a lock that others hold")
            finally:
                if shared.is_dir() and not shared.is_symlink():
                    shared.rmdir()
                else:
                    shared.unlink(missing_ok=True)
            equal(state(target), before, f"{what}: the files of the user")
        shutil.rmtree(marks)
        for place in ("link", "open to others"):
            (folder / "a=5").write_bytes(VICTIM)
            if place == "link":
                marks.symlink_to(folder)
            else:
                marks.unlink()
                folder.rename(marks)
                marks.chmod(0o777)
            names = sorted(path.name for path in marks.iterdir())
            rank_of_two(directory, marks)
            equal(sorted(path.name for path in marks.iterdir()), names, f"marks, {place}: nothing goes, and nothing comes")


# --- programs with other rights -------------------------------------------------------------------


def as_other(command, env, cwd="/"):
    return run(["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", *command], env=env, cwd=cwd)


def secure_program(directory):
    """A set-uid program of root that is linked with the library."""
    need_root()
    need("setpriv")
    directory.chmod(0o755)
    shutil.copy(LIBRARY, directory / "libdftrace.so")
    it = compile_program("trusting.c", directory / "secure", "-pthread", "-Wl,--no-as-needed", directory / "libdftrace.so", f"-Wl,-rpath,{directory}")
    it.chmod(0o4755)
    done = as_other([it, "environment", "/etc/passwd"], environment())
    if done.code or os.statvfs(directory).f_flag & os.ST_NOSUID:
        pytest.skip("programs cannot be set-uid here")
    return it


def unfriendly(directory, **more):
    return environment(DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / "made" / "t", DFTRACER_LOG_LEVEL="DEBUG", DFTRACER_BIND_SIGNALS=1,
                       PERFFLOW_OPTIONS="x=y", **{"DFTRACER_" + k: v for k, v in more.items()})


def test_a_set_uid_program_obeys_no_variable(directory):
    it = secure_program(directory)
    secret = directory / "secret"
    secret.write_text("root:secret:1:0\n")
    secret.chmod(0o600)
    for more in ({}, {"CONFIGURATION": secret}, {"AGGREGATION_TYPE": "SELECTIVE", "AGGREGATION_FILE": secret}, {"WEAVE": secret},
                 {"STAGE_DIR": directory / "made-stage"}, {"LIVE_DIR": directory}, {"ENABL": 1}, {"FOLLOWED": 1}):
        done = as_other([it, "environment", "/etc/passwd"], unfriendly(directory, **more))
        equal((done.code, done.err), (0, b""), f"{more}: the program")
        true(b"DFTRACER_" not in done.out and b"LC_ALL=C" in done.out, f"{more}: neither it nor a program that it runs sees the variables: {done.out}")
        equal([path.name for path in directory.iterdir() if path.name.startswith("made")], [], f"{more}: nothing is made")
    for rights in ("set-gid", "capability"):
        it.chmod(0o2755 if rights == "set-gid" else 0o755)
        if rights == "capability" and (not shutil.which("setcap") or run(["setcap", "cap_dac_override+ep", it]).code):
            continue  # no tool or no file system for it
        done = as_other([it, "environment", "/etc/passwd"], unfriendly(directory))
        equal((done.code, done.err, b"DFTRACER_" in done.out), (0, b"", False), f"{rights}: the program")
        equal([path.name for path in directory.iterdir() if path.name.startswith("made")], [], f"{rights}: nothing is made")
    if shutil.which("setcap"):
        run(["setcap", "-r", it])
    os.chown(directory, OTHER, OTHER)
    as_other([it, "environment", "/etc/passwd"], unfriendly(directory))
    true(traces(directory / "made"), "the same program with the user's own rights is traced")


def test_a_set_uid_program_obeys_the_file_of_root(directory):
    it = secure_program(directory)
    if run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o mode=755 tmpfs /etc"]).code:
        pytest.skip("no file system can be mounted here")
    (directory / "places").mkdir()
    for name, change, prefix, expected in (
            ("as it should be", "", directory / "places" / "t", True), ("a file of the user", f"chown {OTHER} /etc/dftrace.conf", directory / "places" / "t", False),
            ("writable", "chmod 664 /etc/dftrace.conf", directory / "places" / "t", False), ("folder", "chmod 777 /etc", directory / "places" / "t", False),
            ("link", "mv /etc/dftrace.conf /etc/x; ln -s x /etc/dftrace.conf", directory / "places" / "t", False),
            ("pipe", "rm /etc/dftrace.conf; mkfifo /etc/dftrace.conf", directory / "places" / "t", False), ("relative", "", "here/t", False),
            ("wrong", "echo nonsense: 1 >> /etc/dftrace.conf", directory / "places" / "t", True)):
        shutil.rmtree(directory / "places")
        (directory / "places").mkdir()
        script = f"""mount -t tmpfs -o mode=755 tmpfs /etc && echo "$1" > /etc/dftrace.conf && echo root > /etc/passwd && {{ {change or 'true'}; }} && cd "$2" &&
            umask 0 && exec setpriv --reuid={OTHER} --regid={OTHER} --clear-groups "$3" environment /etc/passwd"""
        text = f"enable: true\nprofiler:\n  log_file: {prefix}\n"
        done = run(["unshare", "-m", "sh", "-c", script, "sh", text, directory / "places", it], env=unfriendly(directory))
        equal((done.code, done.err), (0, b""), f"{name}: the program")
        found = traces(directory)
        if expected and not found and not run([it, "environment", "/etc/passwd"], env=environment()).code and b"libyaml" in dftmerge("--version").out:
            pytest.skip("built without libyaml")
        equal(len(found), int(expected), f"{name}: traces")
        equal([(path.parent, path.stat().st_mode & 0o7777, path.stat().st_uid) for path in found], [(directory / "places", 0o600, 0)] * expected,
              f"{name}: what root reads")


def test_a_program_that_drops_its_rights(directory):
    need_root()
    it = program(directory)
    code, out, err, _ = disturb(it, "drop", tracing(directory / "out" / "t"), lambda: None)
    equal((code, out), (0, b"done\n"), "the program")
    true(b"Permission denied" in err, f"its child cannot write where root does, and says so: {err}")
    equal({path.stat().st_uid for path in traces(directory / "out")}, {0}, "the trace of root goes on; no other user made a file there")
    (directory / "out").chmod(0o1777)
    directory.chmod(0o755)
    disturb(it, "drop", tracing(directory / "out" / "u"), lambda: None)
    equal({path.stat().st_uid for path in (directory / "out").glob("u-*.dft")}, {0, OTHER}, "a child's trace is the user's that made it")


def test_no_live_file_is_of_a_user_who_has_fewer_rights(directory):
    """Its owner could change what the process believes, and so steer it."""
    need_others()
    it = secure_program(directory)
    other, place = [f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"], directory / "places"

    def live(name, expected, how="threads", env=None, by=()):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        place.chmod(0o1777)
        code, out, err, owners = disturb(it, how, env or tracing(place / "t"), lambda: [path.stat().st_uid for path in place.glob("*.live")], by=by)
        equal((code, out.replace(b"ready\n", b""), err), (0, b"done\n", b""), f"{name}: the program")
        equal(owners, expected, f"{name}: owners of live files")
        reads = collections.Counter((e["name"], e.get("file")) for e in dump(place))["pread", "/etc/passwd"]
        equal(reads, 31 * 300, f"{name}: calls")

    it.chmod(0o755)
    live("a user", [OTHER], by=["setpriv", *other])
    live("root", [0])
    live("a user with a capability", [], by=["setpriv", *other, "--inh-caps=+dac_override", "--ambient-caps=+dac_override"])
    live("root, for a while a user", [], "aside")
    if run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o mode=755 tmpfs /etc"]).code:
        pytest.skip("no file system can be mounted here")
    text = f"enable: true\nprofiler:\n  log_file: {place}/t\n"
    script = """mount -t tmpfs -o mode=755 tmpfs /etc && echo "$1" > /etc/dftrace.conf && echo root > /etc/passwd && shift && exec "$@\""""
    for rights, owners in (("set-uid", [0]), ("set-gid", []), ("capability", [])):
        os.chown(it, 0, 1 if rights == "set-gid" else 0)
        it.chmod({"set-uid": 0o4755, "set-gid": 0o2755, "capability": 0o755}[rights])
        if rights == "capability" and (not shutil.which("setcap") or run(["setcap", "cap_dac_override+ep", it]).code):
            continue  # no tool or no file system for it
        live(rights, owners, env=environment(), by=["unshare", "-m", "sh", "-c", script, "sh", text, "setpriv", *other])


# --- modes ----------------------------------------------------------------------------------------


def modes(place):
    return sorted({path.stat().st_mode & 0o7777 for path in traces(place)})


def test_the_mode_of_a_trace(directory):
    for mask, mode, expected in ((0o022, None, 0o644), (0o002, None, 0o664), (0o077, None, 0o600), (0o777, None, 0o600), (0, None, 0o666),
                                 (0o022, "0600", 0o600), (0o077, "0644", 0o644), (0o777, "660", 0o660), (0, "0640", 0o640), (0o022, "0777", 0o777)):
        for stage in (None, SHARED_MEMORY / f"trust-{directory.name}"):
            place = directory / f"{mask:o}-{mode}-{stage is None}"
            place.mkdir()
            command = f'umask {mask:o}; exec cat /etc/passwd'
            done = run(["sh", "-c", command], env=tracing(place / "t", MODE=mode, STAGE_DIR=stage))
            if stage:
                shutil.rmtree(stage, ignore_errors=True)
            equal((done.code, done.err, modes(place)), (0, b"", [expected]), f"umask {mask:o}, {mode}, {stage}")
    done = run(["sh", "-c", "umask 077; exec \"$0\" --node -o out cat /etc/passwd", DFTRUN], cwd=directory, env=environment(DFTRACER_MODE="0640"))
    equal((done.code, modes(directory / "out")), (0, [0o640]), f"dftrun, and the samples of the node: {done.err}")
    command = "umask 077; exec \"$0\" --no-summary -o killed sh -c 'cat /etc/passwd; kill -9 $$'"
    run(["sh", "-c", command, DFTRUN], cwd=directory, env=environment(DFTRACER_MODE="0640"))
    end, = (directory / "killed").glob("*-ended.dft")
    equal(end.stat().st_mode & 0o7777, 0o640, "how the program ended")


def test_a_wrong_mode_is_told(directory):
    for mode, why in (("0400", b"must be able to read and write"), ("0", b"must be able"), ("rw", b"not understood"), ("0680", b"not understood"),
                      ("01777", b"not understood"), ("-600", b"not understood"), ("0x180", b"not understood")):
        place = directory / mode
        done = run(["cat", "/etc/passwd"], env=tracing(place / "t", MODE=mode))
        true(b"DFTRACER_MODE=" + mode.encode() in done.err and why in done.err, f"{mode}: {done.err}")
        equal((done.code, modes(place)), (0, [0o644]), f"{mode}: the umask rules")


def test_a_trace_that_is_recovered_keeps_its_mode(directory):
    it = program(directory)
    source = "/etc/passwd"
    for keep in (True, False):
        place = directory / str(keep)
        with subprocess.Popen([it, "threads", source], env=tracing(place / "t", MODE="0600"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            process.kill()
        if not keep:
            for path in traces(place):
                path.unlink()
        done = dftmerge("check", "--recover", place)
        true(b"moved into" in done.err and not list(place.glob("*.live")), f"it is recovered: {done.err}")
        equal(modes(place), [0o600], f"the trace was there: {keep}")
