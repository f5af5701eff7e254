# SPDX-License-Identifier: MIT
"""dftmerge ps --stacks: what the threads of a running program are doing, and what is said where that cannot be seen."""

import json
import os
import signal
import subprocess
import threading

import pytest

from tracing import DFTMERGE, PROGRAMS, ROOT, SECONDS, compile_program, dftmerge, environment, equal, need, run, tracing, true

READ_LINE = 1 + next(i for i, line in enumerate((PROGRAMS / "hung.c").read_text().splitlines()) if "sink = read(" in line)


class Hung:
    """The program, until its threads wait; then it is let go, and ends as it does when nobody has looked at it."""

    def __init__(self, directory, *arguments, wrap=(), threads=1):
        self.place, self.threads = directory / "traces", threads
        self.fifo = directory / "fifo"
        os.mkfifo(self.fifo)
        self.end = os.open(self.fifo, os.O_RDWR)
        program = compile_program("hung.c", directory / "hung", f"-I{ROOT / 'include'}", "-pthread")
        self.process = subprocess.Popen([*wrap, program, *map(str, arguments)], cwd=directory, env=tracing(self.place / "t"))

    def __enter__(self):
        """All threads are in their reads: nothing but time can pass before that."""
        while True:
            true(self.process.poll() is None, "the program has not ended")
            done = dftmerge("ps", "--json", self.place) if list(self.place.glob("*.live")) else None
            reads = [f for p in json.loads(done.out)["processes"] for f in p["in_flight"] if f["name"] == "read"] if done else []
            if len(reads) >= self.threads:
                return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.write(self.end, b"x" * self.threads)
            self.process.wait(SECONDS)
        os.close(self.end)

    def goes_on(self, what):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            said = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        equal((said["State"][0] in "SRD", said["TracerPid"]), (True, "0"), f"{what}: it runs, and nobody traces it")
        os.write(self.end, b"x" * self.threads)
        equal(self.process.wait(SECONDS), 7, f"{what}: its exit code")


def stacks_of(*arguments, expect=0, env=None):
    done = dftmerge("ps", "--stacks", "--json", *arguments, env=env)
    equal(done.code, expect, f"exit code: {done.err.decode()}")
    return [stack for process in json.loads(done.out)["processes"] for stack in process["stacks"]], done.err.decode()


def built_with_libunwind():
    done = dftmerge("ps", "--stacks", "/nowhere")
    if b"built without libunwind" in done.err:
        true(done.code == 1 and b"libunwind-dev" in done.err, "what to do is said")
        pytest.skip("built without libunwind (libunwind-dev)")


def is_in_order(names, *wanted):
    at = [names.index(name) for name in wanted if name in names]
    return len(at) == len(wanted) and at == sorted(at)


def test_two_threads_and_a_region(directory):
    built_with_libunwind()
    with Hung(directory, "threads", 1, threads=2) as hung:
        for where in (hung.place, hung.process.pid, next(hung.place.glob("*.live"))):
            stacks, _ = stacks_of(where)
            names = {stack["tid"] == hung.process.pid: [frame["function"] for frame in stack["frames"]] for stack in stacks}
            equal((len(stacks), [s["trouble"] for s in stacks]), (2, [None, None]), f"{where}: stacks")
            true(is_in_order(names[True], "wait_for_parent", "first_of_main", "main"), f"{where}: main thread: {names}")
            true(is_in_order(names[False], "wait_for_parent", "first_of_thread"), f"{where}: other thread: {names}")
        for frame in (f for s in stacks for f in s["frames"] if f["function"] == "wait_for_parent"):
            equal(frame["module"], str(directory / "hung"), "module")
            true(frame["line"] is None or frame["line"].endswith(f"hung.c:{READ_LINE}"), f"line {frame['line']}")
        text = dftmerge("ps", "--stacks", hung.place).out.decode()
        said = [line.strip() for line in text.splitlines()]
        region = next(i for i, line in enumerate(said) if "region_of_main" in line)
        read = next(i for i, line in enumerate(said) if i > region and "POSIX read of" in line)
        true(any(line.startswith("#") and "first_of_main+0x" in line and "(hung)" in line for line in said[read:]), text)
        true("#0 " in text and not any("#" in line.split(" ")[0] for line in dftmerge("ps", hung.place).out.decode().splitlines()),
             "frames are shown when they are asked for")
        hung.goes_on("two threads")


def test_many_threads(directory):
    built_with_libunwind()
    with Hung(directory, "threads", 119, threads=120) as hung:
        stacks, said = stacks_of(hung.process.pid)
        equal((len(stacks), {s["trouble"] for s in stacks}), (100, {None}), "as many as are shown")
        true("too many threads: the first 100 of a process are shown" in said, said)
        hung.goes_on("many threads")


def test_interrupted(directory):
    """dftmerge ends while it holds a thread: the kernel lets go of that."""
    built_with_libunwind()
    meddle = compile_program("meddle.c", directory / "meddle.so", "-shared", "-fPIC")
    with Hung(directory, "threads", 1, threads=2) as hung:
        done = run([DFTMERGE, "ps", "--stacks", hung.place], env=environment(LD_PRELOAD=meddle, MEDDLE="interrupt"))
        equal(done.code, -signal.SIGINT, "dftmerge was interrupted")
        hung.goes_on("interrupted")


def test_ends_meanwhile(directory):
    built_with_libunwind()
    meddle = compile_program("meddle.c", directory / "meddle.so", "-shared", "-fPIC")
    with Hung(directory, "threads", 1, threads=2) as hung:
        reaper = threading.Thread(target=hung.process.wait)
        reaper.start()
        stacks, said = stacks_of(hung.place, env=environment(LD_PRELOAD=meddle, MEDDLE="end"))
        reaper.join()
        true({s["trouble"] for s in stacks} == {"it has ended meanwhile"}, f"{stacks} {said}")
        true("it has ended meanwhile" in said, said)


def test_nothing_runs(directory):
    built_with_libunwind()
    with Hung(directory, "threads", 1, threads=2) as hung:
        hung.process.kill()
        hung.process.wait(SECONDS)
        stacks, said = stacks_of(hung.place, expect=1)
        true(not stacks and "none of these processes is running" in said, said)
        done = dftmerge("ps", "--stacks", hung.process.pid)
        equal((done.code, done.out), (1, b""), "a process that is no more")
        true(f"there is no process {hung.process.pid} here" in done.err.decode(), done.err.decode())
    done = dftmerge("ps", "--stacks", os.getpid())
    true(done.code == 1 and b"has no live file: it is not traced" in done.err, done.err.decode())


def test_another_users(directory):
    built_with_libunwind()
    need("setpriv")
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    for path in (directory, *directory.parents):
        if not path.stat().st_mode & 1 and path != directory:
            pytest.skip(f"{path} is not for all users")
    directory.chmod(0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", DFTMERGE, "ps", "--stacks"]
    if run([*nobody, "--help"]).code:
        pytest.skip("another user cannot run dftmerge here")
    with Hung(directory, "threads", 1, threads=2) as hung:
        for path in (hung.place, *hung.place.iterdir()):
            path.chmod(0o755)
        done = run([*nobody, hung.place])
        equal(done.code, 1, "exit code")
        said = done.err.decode()
        true("tracing it is not permitted: it is another user's: run dftmerge as that user, or as root (sudo)" in said, said)
        true(b"region_of_main" in done.out and b"no stack of thread" in done.out, "the rest is shown")
        done = run([*nobody, hung.process.pid])
        true(done.code == 1 and b"cannot be looked at: Permission denied. Run dftmerge as" in done.err, done.err.decode())
        hung.goes_on("another user")


def test_traced_by_another(directory):
    built_with_libunwind()
    need("strace")
    with Hung(directory, "threads", 1, threads=2) as hung:
        strace = subprocess.Popen(["strace", "-f", "-p", str(hung.process.pid)], stderr=subprocess.PIPE)
        line = strace.stderr.readline()
        if b"attached" not in line:
            strace.wait(SECONDS)
            pytest.skip(f"strace: {line.decode()}")
        stacks, said = stacks_of(hung.place, expect=1)
        true({s["trouble"] for s in stacks} == {"another program traces it"}, f"{stacks} {said}")
        strace.send_signal(signal.SIGINT)
        strace.communicate()
        strace.wait(SECONDS)
        hung.goes_on("traced by another")


def test_another_namespace(directory):
    built_with_libunwind()
    wrap = ("unshare", "--pid", "--fork")
    need("unshare")
    if run([*wrap, "true"]).code:
        pytest.skip("no right to make a name space")
    with Hung(directory, "threads", 1, threads=2, wrap=wrap) as hung:
        done = dftmerge("ps", "--stacks", "--json", hung.place)
        troubles = {s["trouble"] for p in json.loads(done.out)["processes"] for s in p["stacks"] if p["exe"].endswith("/hung")}
        said = done.err.decode()
        equal((done.code, troubles), (1, {"it runs on another host or in another PID namespace"}), f"it is pid 1 there: {said}")
        true("run 'dftmerge ps --stacks' there" in said, said)


def test_a_thread_that_cannot_be_stopped(directory):
    built_with_libunwind()
    with Hung(directory, "vfork") as hung:
        done = dftmerge("ps", "--stacks", "--json", hung.place)
        troubles = [s["trouble"] for p in json.loads(done.out)["processes"] for s in p["stacks"] if s["tid"] == hung.process.pid]
        equal(troubles, ["it does not stop: it waits in the kernel and cannot be interrupted"], f"of the parent: {done.out}")
        equal(done.code, 1, "exit code")
        hung.goes_on("vfork")
