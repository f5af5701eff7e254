# SPDX-License-Identifier: MIT
"""DFTRACER_BIND_SIGNALS=1: whatever signal ends a process, it dies of it as without us, everything is in the trace, and descriptor 2 gets a
stack trace; and the program cannot tell that its defaults are not what they seem."""

import json
import os
import re
import signal
import subprocess

import pytest

from tracing import BUILD, SECONDS, dftmerge, dump, environment, equal, live_files, need, run, tracing, true

FATAL = BUILD / "bin" / "fatal"
CALLS = 20000


def both(directory, *arguments, program=FATAL, wrap=(), **settings):
    """Runs plain and bound; the bound run as (result, place of its traces). What the program prints and dies of is the same."""
    results = []
    for name, env in (("plain", environment()), ("bound", tracing(directory / "traces" / "t", BIND_SIGNALS=1, **settings))):
        (directory / name).mkdir(parents=True)
        results.append(run([*wrap, program, *arguments], cwd=directory / name, env=env))
    plain, bound = results
    equal(bound.code, plain.code, f"{arguments}: exit code")
    for said, expected in zip(bound.out.splitlines(), plain.out.splitlines()):
        equal(said, expected, f"{arguments}: a line of output")
    equal(len(bound.out), len(plain.out), f"{arguments}: length of output")
    return bound, directory / "traces"


def processes(place):
    done = dftmerge("ps", "--json", place)
    return json.loads(done.out)["processes"]


def ended(place):
    return [(p["ended"], p.get("status")) for p in processes(place)]


def all_there(place, name="file", calls=CALLS):
    offsets = sorted(e["offset"] for e in dump(place, options=("--name", "pwrite", "--file", f"*/{name}")))
    true(offsets == list(range(calls)), f"{name}: {len(offsets)} writes of {calls}, {len(set(offsets))} different ones")


def frames(err):
    """Header and [(function or None, module)]; every line fits."""
    lines = err.decode().splitlines()
    true(lines and re.fullmatch(r"dftrace: process \d+, thread \d+: SIG[A-Z]+( at address 0x[0-9a-f]+| from process \d+)?", lines[0]),
         f"header: {lines[:1]}")
    found = []
    for number, line in enumerate(lines[1:-1] if lines[-1] == "..." else lines[1:]):
        match = re.fullmatch(r"#(\d+) 0x[0-9a-f]+(?: (\S+)\+0x[0-9a-f]+ \((.+)\)| \((.+?)(\+0x[0-9a-f]+)?\))", line)
        true(match and int(match[1]) == number, f"frame {number}: {line}")
        found.append((match[2], match[3] or match[4]))
    return lines[0], found


def test_each_signal(directory):
    ways = {"segv": signal.SIGSEGV, "ill": signal.SIGILL, "bus": signal.SIGBUS, "abort": signal.SIGABRT,
            **{str(int(s)): s for s in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGFPE, signal.SIGSEGV)}}
    if os.uname().machine == "x86_64":
        ways["fpe"] = signal.SIGFPE
    for way, number in ways.items():
        bound, place = both(directory / way, "die", way)
        equal(bound.code, -number, f"{way}: dies of it")
        equal((ended(place), live_files(place)), ([("signal", int(number))], []), f"{way}: how it ended, live files")
        all_there(place)
        header, found = frames(bound.err)
        true(number.name in header, f"{way}: {header}")
        names = [function for function, _ in found]
        true("strike" in names and "main" in names and names.index("strike") < names.index("main"), f"{way}: {names}")
        true(all(module == str(FATAL) for function, module in found if function in ("strike", "main")), f"{way}: modules")
        equal(dftmerge("check", place).code, 0, f"{way}: check")


def test_the_program_cannot_tell(directory):
    bound, place = both(directory, "told")
    equal((bound.code, bound.err.count(b"dftrace:")), (7, 1), "exit code, and stack traces: that of a shell")
    true(bound.out.count(b"\n") > 300, "it was told something")
    all_there(place)


def test_the_program_starts_as_ever(directory):
    """Its arguments and its environment are there, whatever the constructor has done."""
    bound, _ = both(directory, "start")
    true(b"PATH=" in bound.out, "the environment")


def test_nothing_is_bound_without_the_option(directory):
    (directory / "a").mkdir()
    plain = run([FATAL, "caught"], cwd=directory / "a")
    traced = run([FATAL, "caught"], cwd=directory / "a", env=tracing(directory / "t"))
    equal(traced, plain, "signals that are caught")
    bound = run([FATAL, "caught"], cwd=directory / "a", env=tracing(directory / "t", BIND_SIGNALS=1))
    mask = int(bound.out.split()[1], 16)
    equal(mask & ~int(plain.out.split()[1], 16), sum(1 << (s - 1) for s in (1, 2, 3, 4, 6, 7, 8, 11, 15)), "with it")


def test_ignored_signals_stay_ignored(directory):
    env = tracing(directory / "t", BIND_SIGNALS=1)
    done = subprocess.run([FATAL, "die", str(int(signal.SIGHUP))], cwd=directory, env=env, stderr=subprocess.PIPE, timeout=SECONDS, check=False,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    equal((done.returncode, done.stderr), (0, b""), "it goes on")


def test_handlers_that_jump(directory):
    bound, place = both(directory, "jumps")
    equal((bound.code, bound.err, ended(place)), (8, b"", [("exit", 8)]), "exit code, messages, ended")
    all_there(place)


def test_handlers_that_die_of_the_same_signal(directory):
    for case in ("reports", "reports_once"):
        bound, place = both(directory / case, case)
        equal((bound.code, bound.out), (-11, b"report 11\n"), f"{case}: exit code and output")
        equal((ended(place), live_files(place)), ([("signal", 11)], []), f"{case}: ended")
        frames(bound.err)
        all_there(place)


def test_handlers_that_end_the_process(directory):
    bound, place = both(directory, "leaves")
    equal((bound.code, bound.out, bound.err), (11, b"left 11 11 1 1\n", b""), "exit code, output, messages")
    equal((ended(place), live_files(place)), ([("_exit", 11)], []), "ended")
    all_there(place)


def test_handlers_that_call_the_one_before(directory):
    bound, place = both(directory, "chained")
    equal((bound.code, bound.out), (-11, b"before: default\n"), "exit code and output")
    equal((ended(place), live_files(place)), ([("signal", 11)], []), "ended")
    names = [function for function, _ in frames(bound.err)[1]]
    equal(names[:2], ["strike", "chained"], "frames")
    all_there(place)


def test_a_heap_that_is_broken(directory):
    bound, place = both(directory, "heap")
    equal((bound.code, ended(place), live_files(place)), (-6, [("signal", 6)], []), "exit code, ended")
    all_there(place)


def test_many_threads_at_once(directory):
    for n in range(5):
        bound, place = both(directory / str(n), "all_at_once")
        equal(bound.code, -11, "dies of it")
        frames(bound.err)
        for i in range(8):
            all_there(place, f"file{i}")


def test_a_loader_that_is_locked(directory):
    bound, place = both(directory, "loader_is_locked")
    equal((bound.code, ended(place)), (-11, [("signal", 11)]), "exit code, ended")
    equal([function for function, _ in frames(bound.err)[1]][:3], ["strike", "loader_is_locked", "main"], "frames")
    all_there(place)


def test_stacks_that_overflow(directory):
    bound, place = both(directory / "a", "overflow_beside")
    equal((bound.code, ended(place)), (-11, [("signal", 11)]), "on an alternate stack")
    true(len(frames(bound.err)[1]) > 20, "frames")
    all_there(place)
    bound, place = both(directory / "little", "overflow_beside_little")
    equal((bound.code, ended(place)), (-11, [("signal", 11)]), "on the smallest one that there may be")
    true(len(frames(bound.err)[1]) > 20, "frames")
    all_there(place)
    bound, place = both(directory / "b", "overflow")
    equal((bound.code, bound.err, len(live_files(place))), (-11, b"", 1), "without one: no handler can run")
    all_there(place)


def test_stacks_that_are_lost(directory):
    bound, place = both(directory, "die", "call")
    equal((bound.code, ended(place)), (-11, [("signal", 11)]), "a call of a function at 0")
    equal([function for function, _ in frames(bound.err)[1]][:3], [None, "strike", "main"], "frames: it is known who called")
    all_there(place)


def test_stacks_that_are_damaged(directory):
    """The list of frames ends where the stack makes no sense; nothing faults on the way."""
    for case in ("smashed_wild", "smashed_low", "smashed_guard"):
        bound, place = both(directory / case, case)
        equal((bound.code, ended(place)), (-11, [("signal", 11)]), f"{case}: exit code, ended")
        equal([function for function, _ in frames(bound.err)[1]], ["strike", "smash", None], f"{case}: frames")
        all_there(place)


def test_signals_that_are_waited_for(directory):
    bound, place = both(directory, "waits")
    equal((bound.code, ended(place)), (-15, [("signal", 15)]), "exit code, ended")
    all_there(place)


def test_children(directory):
    bound, place = both(directory / "vfork", "child_of_vfork")
    equal((bound.code, bound.err, ended(place)), (9, b"", [("exit", 9)]), "vfork")
    all_there(place)
    bound, place = both(directory / "fork", "child_of_fork")
    equal((bound.code, sorted(ended(place))), (9, [("exit", 9), ("signal", 11)]), "fork")
    all_there(place)
    all_there(place, "child")
    bound, place = both(directory / "exec", "child_of_exec")
    equal((bound.code, sorted(ended(place))), (9, [("exec", 0), ("exit", 9), ("signal", 11)]), "exec")
    equal(len([e for e in dump(place) if e["name"] == "pwrite"]), 2 * CALLS, "calls of both programs")


def test_cores(directory):
    """All of the status is as it was, with what it says of a core."""
    bound, place = both(directory, "core")
    equal((bound.code, sorted(ended(place))), (12, [("exit", 12), ("signal", 6), ("signal", 11), ("signal", 15)]), "exit code, ended")
    for way in ("segv", "abort", "15"):
        all_there(place, way, 100)


def test_not_a_byte_into_other_files(directory):
    bound, place = both(directory, "other_file")
    equal((bound.err, (directory / "bound" / "data").read_bytes()), (b"", b""), "descriptor 2, and the file that took its number")
    equal(ended(place), [("signal", 11)], "ended")


def test_where_no_handler_can_be_set(directory):
    bound, place = both(directory, "filtered")
    equal(bound.code, -11, "dies of it")
    all_there(place, calls=1000)


def test_the_first_process(directory):
    wrap = ("unshare", "--pid", "--fork")
    need("unshare")
    if run([*wrap, "true"]).code:
        pytest.skip("no right to make a name space")
    bound, place = both(directory, "spared", wrap=wrap)
    equal((bound.code, bound.err), (10, b""), "is spared from signals")
    all_there(place)


def test_python(directory):
    need("python3")
    code = "import os, signal\nfor i in range(20000): os.stat('/')\n"
    for name, more, number in (("abort", "os.abort()", 6), ("fault", "import faulthandler\nfaulthandler.enable()\nfaulthandler._sigsegv()", 11),
                               ("int", "os.kill(os.getpid(), 2)\nimport time\ntime.sleep(9)", 2), ("term", "os.kill(os.getpid(), 15)", 15)):
        bound, place = both(directory / name, "-c", code + more, program="/usr/bin/python3")
        equal((bound.code, ended(place)), (-number, [("signal", number)]), f"{name}: exit code, ended")
        equal(len([e for e in dump(place) if e["name"].endswith("stat") and e.get("file") == "/"]), 20000, f"{name}: calls")
