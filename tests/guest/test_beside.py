# SPDX-License-Identifier: MIT
"""What else is in a process, or around it: other libraries that are preloaded, sanitizers, debuggers, other tracers.
Each in both orders.

A program makes a known number of calls (programs/beside.c). strace tells which those are, with nothing else loaded, and
which of them reach the kernel beneath the other tool. With dftrace nearer to the program than the tool, the trace has
the former; with dftrace nearer to the kernel, the latter. Output, exit code and files are those of a run with the other
tool alone."""

import collections
import contextlib
import os
import pathlib
import re
import subprocess
import time

import pytest

from compare import (DFTRUN, FULL, LIBRARY, PROGRAMS, SHARED_MEMORY, Endings, both, check_traces, environment, equal, fresh, full,
                     need, processes_of, run, tracing, tree, true)

import system_calls
from tracing import Result, dump, run_checked

CASES = []

SCRIPTS = PROGRAMS.parent / "scripts"
CODE = 7  # of the program
SYNCS = 66  # fsync, fdatasync and msync of six workers
FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")


def library(name, *more):
    """A library that is to be preloaded, too."""
    for folder in (*more, *FOLDERS):
        found = sorted(pathlib.Path(folder).glob(name))
        if found:
            return found[0]
    pytest.skip(f"{name} is not installed")


class Place:
    """The program, and what it does with nothing else loaded."""

    def __init__(self, directory, compiler="gcc", *flags):
        need(compiler)
        self.directory, self.program = directory, directory / "beside"
        self.work, self.traces = directory / "work", directory / "traces"
        run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", self.program, PROGRAMS / "beside.c", "-pthread"])
        self.called = self.beneath([self.program])[1]
        if flags:
            done = run([compiler, "-O1", "-g", "-D_GNU_SOURCE", *flags, "-o", self.program, PROGRAMS / "beside.c", "-pthread"])
            if done.code:
                pytest.skip(f"{compiler} has no {' '.join(flags)} here")

    def is_inside(self, path):
        """The program's own files: tools look for others there."""
        return bool(path) and re.fullmatch(rf"{self.work}(/(file\d+|other\d+|stream|owned))?", path) is not None

    def beneath(self, command, **env):
        """Runs it under strace. Returns its result, and what reached the kernel."""
        done, reader = system_calls.strace(command, fresh(self.directory, None), self.directory, env=environment(**env))
        reader.calls = [call for call in reader.calls if self.is_inside(call.path)]
        return done, reader

    def alone(self, command, **env):
        """Runs it untraced. Returns the result and the files that it leaves."""
        done = run(command, cwd=fresh(self.directory, None), env=environment(**env))
        return done, tree(self.work, ())

    def traced(self, command, **env):
        """Runs it traced: with dftrun in the command, or the library among what is preloaded."""
        run_checked(["rm", "-rf", self.traces])
        self.traces.mkdir()
        done = run(command, cwd=fresh(self.directory, None), env={**environment(), **env})
        return done, tree(self.work, ())

    def events(self):
        endings = Endings()
        try:
            check_traces(self.traces, endings, set())
        finally:
            endings.close()
        return [event for event in dump(self.traces) if self.is_inside(event.get("file"))]

    @staticmethod
    def within_others(events, name):
        """Events of this name that begin and end while another one of their thread goes on."""
        def around(inner, outer):
            return (outer is not inner and outer["tid"] == inner["tid"] and outer["pid"] == inner["pid"] and outer["ts"] <= inner["ts"]
                    and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"])
        whole = [event for event in events if "dur" in event]
        return [event for event in whole if event["name"] == name and any(around(event, other) for other in whole)]

    def counted(self, reader, inside=None):
        """Compares the traces with what strace said. inside: calls that the other tool makes within the program's.
        Returns how many calls there are."""
        events = self.events()
        for name, many in (inside or {}).items():
            within = self.within_others(events, name)
            equal(len(within), many, f"{name} within other calls")
            events = [event for event in events if event not in within]
        wrong, compared = system_calls.differences(reader, events)
        true(not wrong and compared > 100, f"{compared} calls by strace; {'; '.join(wrong[:5])}")
        names = collections.Counter(event["name"] for event in events)
        for name in ("mmap", "munmap"):
            equal(names[name], 6, f"events {name}")
        return f"{len(events)} calls"


def settings(place, **more):
    env = tracing(place.traces / "t", **more)
    del env["LD_PRELOAD"]
    return env


def same(traced, alone, messages=True, code=CODE):
    """Results and files of two runs."""
    equal(alone[0].code, code, f"exit code with the other tool alone ({alone[0].err.decode(errors='replace')[-600:]})")
    equal(traced[0].code, code, f"exit code ({traced[0].out.decode(errors='replace')[-300:]} {traced[0].err.decode(errors='replace')[-900:]})")
    equal(traced[0].out, alone[0].out, "output")
    if messages:
        equal(traced[0].err, alone[0].err, "messages")
    equal(traced[1], alone[1], "files")


# --- libraries that are preloaded -----------------------------------------------------------------------------------------


def preloaded(tool, names, order, env=None, also=None, inside=None):
    """dftrace and a library of these names in LD_PRELOAD. also: what else must hold, told the place and the order;
    inside: calls that the library makes by names that dftrace, when it is first, sees."""
    def test(directory):
        found = library(*names) if isinstance(names, tuple) else names()
        place = Place(directory)
        more = {name: value.format(directory=directory) for name, value in (env or {}).items()}
        alone, kernel = place.beneath(["env", f"LD_PRELOAD={found}", place.program], **more)
        alone = (alone, tree(place.work, ()))
        both_loaded = [LIBRARY, found] if order == "first" else [found, LIBRARY]
        loaded = {"LD_PRELOAD": ":".join(map(str, both_loaded)), **settings(place), **more}
        same(place.traced([place.program], **loaded), alone)
        said = place.counted(place.called, inside) if order == "first" else place.counted(kernel)
        if also:
            said += also(place, order, loaded)
        return said
    test.__name__ = f"{tool}, dftrace {order}"
    return test


def kept_from_the_disk(place, order, loaded):
    """eatmydata: what the program called is in the trace only where dftrace is the first to see it; none of it reaches
    the kernel."""
    synced = sum(event["name"] in ("fsync", "fdatasync", "msync") for event in place.events())
    equal(synced, SYNCS if order == "first" else 0, "fsyncs, fdatasyncs and msyncs in the trace")
    del loaded["DFTRACER_ENABLE"]  # so that strace sees nothing of ours
    done, kernel = place.beneath(["env", f"LD_PRELOAD={loaded['LD_PRELOAD']}", place.program])
    equal(done.code, CODE, "exit code under strace")
    equal([call.name for call in kernel.calls if call.family == "sync"], [], "fsyncs that reach the kernel")
    return f", {synced} of {SYNCS} syncs in the trace, none in the kernel"


def real_times(traces):
    """libfaketime: times of the program are false, those of the trace are not."""
    now = time.time_ns()
    for process in processes_of(traces):
        true(now - 600_000_000_000 < process["start_ns"] <= process["end_ns"] <= now, f"times of a process in the trace: {process}")
    return ", real times"


def darshan():
    named = os.environ.get("DFT_DARSHAN")
    return pathlib.Path(named) if named else library("libdarshan.so", "/usr/local/lib", "/opt/darshan/lib")


FAKED = {"FAKETIME": "@2001-02-03 04:05:06"}
for order in ("first", "last"):
    CASES.append(preloaded("jemalloc", ("libjemalloc.so.2",), order))
    CASES.append(preloaded("tcmalloc", ("libtcmalloc_minimal.so.4",), order))
    CASES.append(preloaded("mimalloc", ("libmimalloc.so.2",), order))
    CASES.append(preloaded("libfaketime", ("faketime/libfaketime.so.1",), order, env=FAKED, also=lambda place, *_: real_times(place.traces)))
    CASES.append(preloaded("eatmydata", ("libeatmydata.so",), order, also=kept_from_the_disk, inside={"fcntl": SYNCS - 6}))
    for tool in ("socket_wrapper", "nss_wrapper"):
        CASES.append(preloaded(tool, (f"lib{tool}.so",), order, env={"SOCKET_WRAPPER_DIR": "{directory}", "SOCKET_WRAPPER_DEFAULT_IFACE": "1"}))
    CASES.append(preloaded("Darshan", darshan, order, env={"DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGPATH": "{directory}"}))


def forget_faketime():
    """Shells leave what libfaketime shares with their children, by their number: who has it again would be told of
    it."""
    for path in SHARED_MEMORY.glob("*faketime_s*_*"):
        with contextlib.suppress(OSError):
            if not os.path.exists(f"/proc/{path.name.rpartition('_')[2]}"):
                path.unlink()


def other_programs(tool, name):
    """A database and an interpreter with another allocator."""
    def test(directory):
        found = library(name)
        both(directory, ["sh", SCRIPTS / "sqlite.sh"], env={"N": "20000" if FULL else "500"}, preload=[found])
        both(directory, ["perl", SCRIPTS / "perl.pl"], expect=5, least=15, preload=[found])
    test.__name__ = f"sqlite3 and perl with {tool}"
    return test


CASES.append(other_programs("jemalloc", "libjemalloc.so.2"))
CASES.append(full(other_programs("tcmalloc", "libtcmalloc_minimal.so.4")))
CASES.append(full(other_programs("mimalloc", "libmimalloc.so.2")))


def shell_with_libfaketime(directory):
    forget_faketime()
    script = ("date +%F; touch a; cp -p a b; find a -newermt 2001-02-03 ! -newermt 2001-02-04; echo x > c; sleep 0.1; date +%F\n"
              "perl -e 'for (1 .. 30) { open(my $f, \">\", \"p\"); print $f 1; close $f; select(undef, undef, undef, 0.01) }'")
    both(directory, ["sh", "-c", script], preload=[library("faketime/libfaketime.so.1")], env=FAKED, least=4)
    forget_faketime()
    real_times(directory / "traces")


shell_with_libfaketime.__name__ = "sh with libfaketime"
CASES.append(shell_with_libfaketime)


# --- commands that run a program --------------------------------------------------------------------------------------------


def dftrun(place):
    return [DFTRUN, "--no-summary", "-o", place.traces, "--"]


def works(*command):
    """Some tools are there, and may not do their work."""
    need(command[0])
    done = run(command)
    if done.code:
        why = [line for line in done.err.decode(errors="replace").splitlines() if line.strip()]
        pytest.skip(f"{command[0]} does not work here: {why[0] if why else f'exit code {done.code}'}")


def command(tool, order, arguments, able=None, env=None, messages=False, also=None, inside=None, code=CODE):
    """A command around the program, with dftrun around both or between the two. inside: as above, for a command that
    preloads a library: that lies before dftrace's when dftrun is around it, and behind it else. code: the command's own
    exit code."""
    def test(directory):
        need(arguments(directory)[0])
        if able:
            works(*able(directory))
        place = Place(directory)
        tool_of = arguments(directory)
        alone = place.alone([*tool_of, place.program], **(env or {}))
        line = [*dftrun(place), *tool_of] if order == "around" else [*tool_of, *dftrun(place)]
        same(place.traced([*line, place.program], **(env or {})), alone, messages, code)
        if inside and order == "around":
            said = place.counted(place.beneath([*tool_of, place.program], **(env or {}))[1])
        else:
            said = place.counted(place.called, inside)
        return said + (also(place) if also else "")
    test.__name__ = f"{tool}, dftrace {order} it" if order == "around" else f"{tool}, dftrace within"
    return test


def faked_owner(place):
    """fakeroot: the program was told of owners that no file has."""
    status = (place.work / "owned").stat()
    equal((status.st_uid, status.st_gid), (os.getuid(), os.getgid()), "owner of the file")
    return ", owner faked"


for order in ("around", "within"):
    CASES.append(command("fakeroot", order, lambda d: ["fakeroot", "--"], able=lambda d: ["fakeroot", "true"], env={"FAKEROOTDONTTRYCHOWN": "1"},
                       messages=True, also=faked_owner, inside={"fstat": 6, "stat": 7}))
    CASES.append(command("stdbuf", order, lambda d: ["stdbuf", "-o0"], messages=True))
    CASES.append(command("strace", order, lambda d: ["strace", "-f", "-o", d / "strace.out", "-e", "trace=%file,%desc"],
                       able=lambda d: ["strace", "-o", d / "strace.out", "true"], messages=True))
    CASES.append(command("ltrace", order, lambda d: ["ltrace", "-f", "-o", d / "ltrace.out", "-e", "fsync"],
                       able=lambda d: ["ltrace", "-o", d / "ltrace.out", "true"], code=0))
    CASES.append(command("perf stat", order, lambda d: ["perf", "stat", "-e", "task-clock", "-o", d / "perf.out", "--"],
                       able=lambda d: ["perf", "stat", "-e", "task-clock", "-o", d / "perf.out", "true"]))
    CASES.append(command("perf record", order, lambda d: ["perf", "record", "-q", "-B", "-N", "-e", "cpu-clock", "-o", d / "perf.data", "--"],
                       able=lambda d: ["perf", "record", "-e", "cpu-clock", "-o", d / "perf.data", "true"]))
    CASES.append(command("rr", order, lambda d: ["rr", "record", "-o", d / "rr"], able=lambda d: ["rr", "record", "-o", d / "able", "true"]))
    CASES.append(command("valgrind memcheck", order, lambda d: ["valgrind", "-q", "--trace-children=yes", "--error-exitcode=99"],
                       able=lambda d: ["valgrind", "-q", "true"], messages=True))


# --- a debugger -----------------------------------------------------------------------------------------------------------

STOPS = """set pagination off
set confirm off
set breakpoint pending on
break beside_round if round % 20 == 7
commands
silent
continue
end
"""


def of_gdb(order):
    """Stops of all threads at a breakpoint, by a debugger that is traced itself or not."""
    def test(directory):
        works("gdb", "-nx", "-batch", "-ex", "run", "--args", "/bin/true")
        place = Place(directory)
        script = directory / "stops"
        line = ["gdb", "-nx", "-batch", "-x", script, "--args", place.program]
        script.write_text(f"{STOPS}run\nquit $_exitcode\n")
        alone = place.alone(line)
        true(b"Breakpoint" in alone[0].out, f"a breakpoint: {alone[0].out.decode()[-600:]}")
        if order == "around":
            traced = place.traced([*dftrun(place), *line])
        else:
            inner = " ".join(f"{name}={value}" for name, value in {**settings(place), "LD_PRELOAD": LIBRARY}.items()
                             if name.startswith(("DFTRACER", "LD_")))
            script.write_text(f"set exec-wrapper env {inner}\n{STOPS}run\nquit $_exitcode\n")
            traced = place.traced(line)
        equal(traced[0].code, CODE, f"exit code ({traced[0].out.decode()[-600:]} {traced[0].err.decode()[-600:]})")
        said = [[text for text in result[0].out.decode().splitlines() if re.match(r"(threads|lines|fork|spawn|entries|owner|year) ", text)]
                for result in (alone, traced)]
        true(len(said[0]) == 7, f"output: {said[0]}")
        equal(said[1], said[0], "the program's output")
        equal(traced[1], alone[1], "files")
        return place.counted(place.called)
    test.__name__ = f"gdb, dftrace {order} it" if order == "around" else "gdb, dftrace within"
    return test


CASES.append(of_gdb("around"))
CASES.append(of_gdb("within"))


def gdb_that_attaches(directory):
    """Attaches to a traced program, sees a breakpoint with the stacks of all threads, and goes."""
    works("gdb", "-nx", "-batch", "-ex", "run", "--args", "/bin/true")
    place = Place(directory)
    alone = place.alone([place.program])
    run_checked(["rm", "-rf", place.traces])
    place.traces.mkdir()
    pipe = directory / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # so that neither side waits for the other
    try:
        program = subprocess.Popen([place.program, "wait"], cwd=fresh(directory, None), env={**settings(place), "LD_PRELOAD": str(LIBRARY)},
                                   stdin=end, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        script = directory / "stops"
        script.write_text("set pagination off\nset confirm off\ntbreak beside_round if round == 30\n"
                          f"shell echo go > {pipe}\ncontinue\nthread apply all backtrace\ndetach\n")
        done = run(["gdb", "-nx", "-batch", "-x", script, "-p", program.pid])
        out, err = program.communicate(timeout=60)
    finally:
        os.close(end)
    if b"ptrace: Operation not permitted" in done.err:
        pytest.skip("gdb may not attach here")
    true(b"blocks (fd=" in done.out and b"Detaching" in done.out + done.err or b"detached" in done.out,
         f"gdb's stacks: {done.out.decode()[-900:]} {done.err.decode()[-600:]}")
    same((Result(program.returncode, out, err), tree(place.work, ())), alone)
    return place.counted(place.called)


gdb_that_attaches.__name__ = "gdb that attaches, and goes"
CASES.append(gdb_that_attaches)


# --- sanitizers -------------------------------------------------------------------------------------------------------------

RUNTIMES = {"address": "libasan.so.?", "thread": "libtsan.so.?", "leak": "liblsan.so.?", "undefined": "libubsan.so.?"}
REFUSED = b"ASan runtime does not come first"


def sanitized(compiler, kind, order):
    """A program with a sanitizer: through dftrun, which puts the runtime where it must be; and in both orders by hand.
    clang's runtimes are part of the program, and lie before all that is preloaded."""
    def test(directory):
        place = Place(directory, compiler, f"-fsanitize={kind}")
        alone = place.alone([place.program])
        if alone[0].code != CODE:
            pytest.skip(f"{compiler}'s -fsanitize={kind} does not work on this machine")
        if order == "dftrun":
            traced = place.traced([*dftrun(place), place.program])
        else:
            runtime = library(RUNTIMES[kind])
            names = [LIBRARY, runtime] if order == "first" else [runtime, LIBRARY]
            traced = place.traced([place.program], LD_PRELOAD=":".join(map(str, names)), **settings(place))
        if (compiler, kind, order) == ("gcc", "address", "first"):
            true(traced[0].code == 1 and REFUSED in traced[0].err, f"what AddressSanitizer says: {traced[0].err.decode()[-600:]}")
            return "refused by its runtime, which must be the first, as dftrun has it"
        same(traced, alone)
        return place.counted(place.called)
    how = {"dftrun": "through dftrun", "first": "dftrace first", "last": "dftrace last"}[order]
    test.__name__ = f"{compiler} -fsanitize={kind}, {how}"
    return test


for kind in RUNTIMES:
    for order in ("dftrun", "first", "last"):
        case = sanitized("gcc", kind, order)
        CASES.append(case if order == "dftrun" or kind in ("address", "thread") else full(case))
    CASES.append(sanitized("clang", kind, "dftrun"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_beside(directory, case):
    print(case(directory))
