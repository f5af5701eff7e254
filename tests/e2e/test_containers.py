# SPDX-License-Identifier: MIT
"""Programs in containers: the flags of dftrun --container lead to a trace on the host, and what is missing inside is
said.

Containers are made by container.py, a stand-in for docker that applies its flags with unshare, bind mounts and
chroot."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import pytest

from tracing import (BUILD, DFTMERGE, DFTRUN, LIBRARY, SECONDS, dftmerge, dump, environment, equal, live_files, need, need_others,
                     run, traces, tracing, true)

STAND_IN = pathlib.Path(__file__).resolve().parent / "container.py"
NAMES = ("docker", "podman", "apptainer", "singularity")


def prepare(directory):
    """A folder with commands called as the real ones, and an image."""
    need("unshare", "chroot", "mount")
    if run(["unshare", "--mount", "--uts", "--pid", "--fork", "mount", "-t", "tmpfs", "tmpfs", directory]).code:
        pytest.skip("namespaces and mounts are not permitted here")
    directory.chmod(0o755)
    image = directory / "image"
    for name in ("usr", "etc", "dev", "proc", "tmp", "work", "opt"):
        (image / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            (image / name).symlink_to(os.readlink(f"/{name}"))
        elif os.path.isdir(f"/{name}"):
            (image / name).mkdir()
    (image / "work" / "in").write_text("some text\n")
    (directory / "bin").mkdir()
    for name in NAMES:
        (directory / "bin" / name).write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(STAND_IN))} \"$@\"\n")
        (directory / "bin" / name).chmod(0o755)
    done = shell(directory, "docker run image true")
    if done.code:
        pytest.skip(f"no container can be made here: {done.err.decode().strip()}")
    return image


def user(directory, **more):
    """The environment of a user with the stand-ins and dftrun in PATH."""
    env = environment(**more)
    env["PATH"] = f"{directory}/bin:{DFTRUN.parent}:{env['PATH']}"
    return env


def shell(directory, line, **more):
    """A line as a user pastes it."""
    return run(["sh", "-c", line], cwd=directory, env=user(directory, **more))


def flags(directory, *arguments, **more):
    done = run([DFTRUN, "--container", *arguments], cwd=directory, env=environment(**more))
    equal((done.code, done.err), (0, b""), f"{arguments}")
    return done.out.decode().split()


def processes(*paths):
    return json.loads(dftmerge("ps", "--json", "--run", "all", *paths).out)["processes"]


def test_the_whole_way(directory):
    """What is printed makes a pasted line write its trace on the host."""
    prepare(directory)
    for runtime, verb in (("docker", "run --rm"), ("podman", "run"), ("apptainer", "exec"), ("singularity", "exec")):
        done = shell(directory, f"{runtime} {verb} $(dftrun --container {runtime} -o t/{runtime}) image sh -c 'cat /work/in; exit 3'")
        equal((done.code, done.out, done.err), (3, b"some text\n", b""), f"{runtime}: the command's own")
        files = {e.get("file") for e in dump(directory / "t" / runtime)}
        true("/work/in" in files, f"{runtime}: the file in the trace: {files}")
        page = dftmerge("summary", directory / "t" / runtime)
        true(page.code == 0 and b"cat" in page.out, f"{runtime}: the answer on the host: {page}")
        equal({p["host"] for p in processes(directory / "t" / runtime)}, {"box"}, "the host")
    equal(list(directory.rglob("*.live")), [], "live files left")


def test_settings_go_along(directory):
    prepare(directory)
    done = shell(directory, "docker run $(dftrun --container docker --stack 5 --data-dir /work) image env", DFTRACER_ROLE="x")
    got = dict(line.split("=", 1) for line in done.out.decode().splitlines() if line.startswith("DFTRACER_"))
    equal((got["DFTRACER_STACK"], got["DFTRACER_DATA_DIR"], got["DFTRACER_ROLE"], got["DFTRACER_ENABLE"]), ("5", "/work", "x", "1"), "settings")
    for value in ("a b", "$(id)", "`id`", "a;id", "a|id", "a&id", "a>b", "'a", '"a', "a\\", "a\nb", "a\x1b", "a\x7f"):
        done = run([DFTRUN, "--container", "docker"], cwd=directory, env=environment(DFTRACER_ROLE=value))
        shown = re.sub(r"[\x1b\x7f]", lambda sign: f"\\x{ord(sign[0]):02x}", value)
        true(done.code == 125 and f"DFTRACER_ROLE={shown}".encode() in done.err and not done.out, f"{value!r}: {done}")
    equal(flags(directory, "docker", DFTRACER_RUN_ID="{task}", DFTRACER_DATA_DIR="/a:/b~,c")[-4:], ["--env", "DFTRACER_RUN_ID={task}", "--env", "DFTRACER_DATA_DIR=/a:/b~,c"],
          "other signs go along")
    text = run([DFTRUN, "--container", "kubernetes"], cwd=directory, env=environment(DFTRACER_ROLE="it's b")).out.decode()
    true("value: 'it''s b'" in text, text)
    text = run([DFTRUN, "--container", "kubernetes"], cwd=directory, env=environment(DFTRACER_ROLE='a"\n\\b\x01')).out.decode()
    true('value: "a\\"\\n\\\\b\\u0001"\n' in text, text)


def test_what_is_no_setting_stays_outside(directory):
    """A name may hold anything, and an entry of the environment need not have a value."""
    prepare(directory)
    for runtime in ("docker", "kubernetes"):
        done = run([DFTRUN, "--container", runtime, "-o", "t"], cwd=directory, env=environment(**{"DFTRACER_X --privileged --env Y": "1"}))
        true(done.code == 0 and b"--privileged" not in done.out, f"{done}")
        bare = ("import ctypes, sys; words = [w.encode() for w in sys.argv[1:]]; a = (ctypes.c_char_p * (len(words) + 1))(*words, None); "
                "ctypes.CDLL(None).execve(words[0], a, (ctypes.c_char_p * 2)(b'DFTRACER_ROLE', None))")
        done = run(["python3", "-c", bare, DFTRUN, "--container", runtime, "-o", "t"], cwd=directory)
        true(done.code == 0 and b"ROLE" not in done.out, f"{done}")


def test_the_pod(directory):
    """The YAML, with its variables and mounts given to the stand-in one by one."""
    prepare(directory)
    text = run([DFTRUN, "--container", "kubernetes", "-o", "t"], cwd=directory).out.decode()
    where = dict(re.findall(r"  - name: (\S+)\n    hostPath:\n      path: '([^']*)'", text))
    words = []
    for name, inside, readonly in re.findall(r"    - name: (dftrace-\S+)\n      mountPath: (\S+)\n(      readOnly: true)?", text):
        words += ["--volume", f"{where[name]}:{inside}{':ro' if readonly else ''}"]
    for name, value in re.findall(r"    - name: ([A-Z_]+)\n      value: '([^']*)'", text):
        words += ["--env", f"{name}={value}"]
    done = shell(directory, f"docker run {shlex.join(words)} image cat /work/in")
    equal((done.code, done.out, done.err), (0, b"some text\n", b""), "the command's own")
    true("/work/in" in {e.get("file") for e in dump(directory / "t")}, "the trace")


def real_podman(image):
    """How podman runs here, with the host's programs in an image; where it does not, that is said."""
    need("podman")
    more = ["--rm", "--network=host", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--volume", "/usr:/usr:ro"]
    for way in ([], ["--runtime=runc", "--cgroup-manager=cgroupfs"]):
        words = ["podman", *way, "run", *more]
        done = run([*words, "--rootfs", image, "true"], cwd=image.parent)
        if done.code == 0:
            return shlex.join(words)
    pytest.skip(f"podman does not run here: {done.err.decode().strip()}")


def test_by_podman_itself(directory):
    if not os.environ.get("DFT_LONG"):
        pytest.skip("podman itself: tests/run.sh --full")
    prepare(directory)
    podman = real_podman(directory / "image")
    line = f"{podman} $({shlex.quote(str(DFTRUN))} --container podman -o t) --read-only --rootfs {shlex.quote(str(directory / 'image'))} sh -c 'cat /work/in; exit 3'"
    done = run(["sh", "-c", line], cwd=directory)
    equal((done.code, done.out, done.err), (3, b"some text\n", b""), "the command's own")
    true("/work/in" in {e.get("file") for e in dump(directory / "t")}, "the file in the trace")
    equal(sorted({p["ended"] for p in processes(directory / "t")}), ["_exit", "exec", "exit"], "how the processes ended")


def test_names_and_paths_that_cannot_be(directory):
    for arguments, why in ((["dokcer"], "Did you mean docker?"), (["docker", "-o", "a b"], "another directory"), (["docker", "-o", "a:b"], "':'"),
                           (["docker", "-o", "a$b"], "'$'"), (["podman", "ls"], "write 'ls' behind the IMAGE"), (["docker", "--doctor"], "--container and --doctor"),
                           (["docker", "--top", "3"], "--container and --top")):
        done = run([DFTRUN, "--container", *arguments], cwd=directory)
        equal((done.code, done.out), (2, b""), f"{arguments}")
        true(why in done.err.decode(), f"{arguments}: {done.err.decode()}")
    equal(list(directory.iterdir()), [], "nothing is made")
    (directory / "file").write_text("")
    done = run([DFTRUN, "--container", "docker", "-o", "file/t"], cwd=directory)
    true(done.code == 125 and b"Not a directory" in done.err, f"{done}")


def test_another_user(directory):
    if os.geteuid():
        pytest.skip("only root may become another user")
    need("setpriv")
    need_others()
    other = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
    directory.chmod(0o777)
    for runtime, words in (("docker", ["--user", "12345:12345"]), ("podman", ["--userns=keep-id"])):
        done = run([*other, DFTRUN, "--container", runtime], cwd=directory)
        true(done.code == 0 and " ".join(words) in " ".join(done.out.decode().split()), f"{runtime}: the user: {done}")


def test_the_same_pid_again(directory):
    """Process 1 of several containers with one host name and one folder: as many traces."""
    prepare(directory)
    line = " ".join(flags(directory, "docker", "-o", "t"))
    for _ in range(3):
        equal(shell(directory, f"docker run {line} image cat /work/in").code, 0, "exit code")
    both = [subprocess.Popen(["sh", "-c", f"docker run {line} image cat /work/in"], cwd=directory, stdout=subprocess.DEVNULL,
                             env=user(directory)) for _ in range(2)]
    for process in both:
        equal(process.wait(SECONDS), 0, "exit code")
    found = processes(directory / "t")
    equal([(p["pid"], p["host"], p["ended"]) for p in found], [(1, "box", "exit")] * 5, "processes")
    equal((len({p["key"] for p in found}), len(traces(directory / "t"))), (5, 5), "keys and files")
    page = json.loads(dftmerge("summary", "--json", "--by", "process", directory / "t").out)
    equal(len(page["groups"]), 5, "the summary keeps them apart")


def test_killed_and_running(directory):
    """Process 1 of the host runs always: it is not taken for that of the container."""
    prepare(directory)
    words = flags(directory, "docker", "-o", "t")
    process = subprocess.Popen([directory / "bin" / "docker", "run", *words, directory / "image", "sh", "-c", "read line </work/in; sleep 900; :"],
                               cwd=directory, env=environment(), stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and not (traces(directory / "t") and processes(directory / "t")):
            time.sleep(0.05)
        equal({p["ended"] for p in processes(directory / "t") if p["pid"] == 1}, {"running"}, "while it runs")
    finally:
        process.kill()
        process.wait()
    while time.monotonic() < end and "running" in {p["ended"] for p in processes(directory / "t")}:
        time.sleep(0.05)
    first = [p for p in processes(directory / "t") if p["pid"] == 1]
    true(len(first) == 1 and first[0]["ended"] == "killed", f"afterwards: {first}")
    true(any(e.get("file") == "/work/in" for e in dump(directory / "t", expect=None)), "the events before")


def test_live_files_elsewhere(directory):
    """A directory that does not serve for live files: they lie in the host's /dev/shm, and outlive the container."""
    prepare(directory)
    (directory / "ram").mkdir()
    if run(["mount", "-t", "ramfs", "ramfs", directory / "ram"]).code:
        pytest.skip("no file system can be mounted here")
    try:
        words = flags(directory, "docker", "-o", "ram/t")
        true("/dev/shm:/opt/dftrace/live" in words and "DFTRACER_LIVE_DIR=/opt/dftrace/live" in words, f"{words}")
        (directory / "image" / "work" / "killed").write_text("read line </work/in\nkill -9 $$\n")
        done = shell(directory, f"docker run {' '.join(words)} image sh -c 'sh /work/killed; cat /work/in'")
        equal((done.code, done.out), (0, b"some text\n"), "the command's own")
        killed = [p for p in processes(directory / "ram" / "t") if p["ended"] == "killed"]
        equal([bool(p["live_file"] and p["live_file"].startswith("/dev/shm/")) for p in killed], [True], f"{killed}")
        true(any(e["pid"] == killed[0]["pid"] and e.get("file") == "/work/in" for e in dump(directory / "ram" / "t", expect=None)), "its last events")
    finally:
        for path in live_files(directory):
            path.unlink()
        run(["umount", "-l", directory / "ram"])


def test_what_is_not_mounted(directory):
    """The trace goes with the layer, and the host says that there is none; the library is missing; the root is
    read-only."""
    prepare(directory)
    words = flags(directory, "docker", "-o", "t")
    at = words.index(f"{directory}/t:/opt/dftrace/traces")
    without = " ".join(words[:at - 1] + words[at + 1:])
    done = shell(directory, f"docker run --read-only {without} image cat /work/in")
    equal((done.code, done.out), (0, b"some text\n"), "the command's own")
    true(b"cannot create a trace" in done.err and b"Read-only file system" in done.err and b"DFTRACER_LOG_FILE" in done.err, done.err.decode())
    done = shell(directory, f"docker run {without} image cat /work/in")
    equal((done.code, done.out, done.err), (0, b"some text\n", b""), "the command's own")
    done = run([DFTMERGE, directory / "t"])
    true(done.code == 1 and b"dftrun --doctor -- COMMAND" in done.err, f"on the host: {done}")
    inside = shell(directory, f"docker run --volume {BUILD}:/build {without} image /build/bin/dftrun --doctor -o /opt/dftrace/traces -- cat /work/in")
    true(inside.code in (0, 1), f"the doctor inside: {inside}")
    library = words.index(f"{LIBRARY.resolve()}:/opt/dftrace/lib/libdftrace.so:ro")
    done = shell(directory, f"docker run {' '.join(words[:library - 1] + words[library + 1:])} image cat /work/in")
    shutil.rmtree(directory / "image" / "opt" / "dftrace")
    done = shell(directory, f"docker run {' '.join(words[:library - 1] + words[library + 1:])} image cat /work/in")
    equal((done.code, done.out), (0, b"some text\n"), "the program runs")
    true(b"LD_PRELOAD cannot be preloaded" in done.err, f"the loader says it: {done.err.decode()}")


def test_read_only_without_proc_and_shm(directory):
    """Also as a user without a name."""
    prepare(directory)
    (directory / "t").mkdir()
    (directory / "t").chmod(0o1777)
    line = " ".join(flags(directory, "docker", "-o", "t"))
    # the folders of mounts are there in an image; the stand-in makes them in a first run
    shell(directory, f"docker run {line} image true")
    for more in ("--read-only", "--no-proc", "--no-shm", "--read-only --no-proc --no-shm --user 12345:12345"):
        for path in traces(directory / "t"):
            path.unlink()
        done = shell(directory, f"docker run {more} {line} image sh -c 'cat /work/in; cat /work/in'")
        equal((done.code, done.out, done.err), (0, b"some text\n" * 2, b""), f"{more}: the command's own")
        found = processes(directory / "t")
        reads = [e for e in dump(directory / "t") if e["name"] == "read" and e.get("file") == "/work/in"]
        equal((len(found), sum(e["ret"] for e in reads)), (5, 20), f"{more}: processes, and bytes that were read")
    equal(list(directory.rglob("*.live")), [], "live files left")


def test_the_doctor_inside(directory):
    prepare(directory)
    for more in ("", "--no-proc", "--no-shm", "--user 12345:12345"):
        done = shell(directory, f"docker run {more} --env TMPDIR=/dev/shm --volume {BUILD}:/build image /build/bin/dftrun --doctor -o /dev/shm/t -- cat /work/in"
                     if "--no-shm" not in more else
                     f"docker run {more} --volume {BUILD}:/build image /build/bin/dftrun --doctor -o /work/t -- cat /work/in")
        true(done.code == 0 and b"WRONG" not in done.out, f"{more}: {done.out.decode()}{done.err.decode()}")
        if more == "--no-proc":
            true(b"/proc is not mounted" in done.out, done.out.decode())
        else:
            true(b"a namespace of their own" in done.out, done.out.decode())


def test_user_namespaces(directory):
    if run(["unshare", "--user", "--map-root-user", "--pid", "--fork", "true"]).code:
        pytest.skip("user namespaces are not permitted here")
    (directory / "in").write_text("1")
    done = run(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", "cat in; cat in"], cwd=directory,
               env=tracing(directory / "t" / "x"))
    equal((done.code, done.out, done.err), (0, b"11", b""), "the command's own")
    reads = [e for e in dump(directory / "t") if e["name"] == "read" and e.get("file") == str(directory / "in") and e["ret"]]
    equal(len(reads), 2, "reads")
    equal({p["ended"] for p in processes(directory / "t")} - {"exec"}, {"exit", "_exit"}, "how they ended")


def test_a_chroot_after_the_start(directory):
    prepare(directory)
    (directory / "in").write_text("1")
    program = "import os\nopen('in').read()\nos.chroot('image')\nos.chdir('/')\nopen('/work/in').read()\n"
    done = run([sys.executable, "-S", "-E", "-c", program], cwd=directory, env=tracing(directory / "t" / "x"))
    equal((done.code, done.out, done.err), (0, b"", b""), "the program's own")
    files = {e.get("file") for e in dump(directory / "t")}
    true(str(directory / "in") in files and any(str(f).endswith("/work/in") for f in files), f"files: {files}")
