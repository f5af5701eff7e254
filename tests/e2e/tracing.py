# SPDX-License-Identifier: MIT
"""What every end-to-end test needs: run programs plain and traced, read traces through dftmerge."""

import collections
import contextlib
import fcntl
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
LIBRARY = BUILD / "lib" / "libdftrace.so"
DFTMERGE = BUILD / "bin" / "dftmerge"
DFTRUN = BUILD / "bin" / "dftrun"
SHARED_MEMORY = pathlib.Path("/dev/shm")
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
LONG = bool(os.environ.get("DFT_LONG"))  # as tests/run.sh --full runs them
FULL = bool(os.environ.get("DFT_FULL"))  # many more rounds, for hours
SECONDS = 900  # what takes longer hangs: many times what the slowest takes on a busy machine

Result = collections.namedtuple("Result", "code out err")


def settle_process():
    """What programs inherit is the same however the tests were started: by nohup or from a hook, without standard input, with other limits."""
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for limit, usual in ((resource.RLIMIT_NOFILE, 1024), (resource.RLIMIT_STACK, 8 << 20)):
        most = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (usual if most == resource.RLIM_INFINITY else min(usual, most), most))
    while (fd := os.open(os.devnull, os.O_RDWR)) < 3:  # those that were closed
        os.set_inheritable(fd, True)
    os.close(fd)


settle_process()
INHERITED = ("HOME", "TMPDIR", "USER", "LOGNAME")


def environment(**more):
    """A clean environment: nothing from outside but who and where the user is, messages in English."""
    env = {k: os.environ[k] for k in INHERITED if k in os.environ}
    env.update(LC_ALL="C", TZ="UTC", PATH="/usr/bin:/bin:/usr/sbin:/sbin")
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


def run(command, cwd=None, stdin=None, env=None, seconds=SECONDS):
    """Runs to the end; stdin is bytes. A hang fails the test."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, input=stdin, env=env or environment(), timeout=seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL if stdin is None
                          else None,
                          check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def tracing(prefix, **more):
    """The environment that traces into prefix; more are DFTRACER_ settings without that prefix."""
    return environment(LD_PRELOAD=LIBRARY, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=prefix,
                       **{"DFTRACER_" + k: v for k, v in more.items()})


def dftmerge(*arguments, env=None, seconds=SECONDS):
    return run([DFTMERGE, *arguments], env=env, seconds=seconds)


def dump(*paths, expect=0, options=()):
    """All events of these traces, as dictionaries."""
    done = dftmerge("dump", "--json", *options, *paths)
    if expect is not None and done.code != expect:
        raise AssertionError(f"dftmerge dump: exit code {done.code}: {done.err.decode(errors='replace').strip()}")
    return [json.loads(line) for line in done.out.decode("utf-8").splitlines()]


def traces(directory):
    return sorted(pathlib.Path(directory).rglob("*.dft"))


def live_files(directory):
    """Beside the traces, and where they are when the file system of the traces is not fit for them."""
    elsewhere = [SHARED_MEMORY / f"{path.name}.live" for path in traces(directory)]
    return sorted(pathlib.Path(directory).rglob("*.dft.live")) + [path for path in elsewhere if os.path.exists(path)]


@contextlib.contextmanager
def ranks_here(alone=False):
    """While ranks run under dftrun: they share files of the node, and clear away what killed ranks of this user have
    left. `alone`: for a test that counts these files."""
    with open(pathlib.Path(tempfile.gettempdir()) / f"dft-tests-ranks-{os.getuid()}", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def compile_program(source, output, *flags):
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", output, PROGRAMS / source, *flags])
    return output


def run_checked(command, **more):
    done = run(command, **more)
    if done.code:
        raise AssertionError(f"{command[0]}: exit code {done.code}: {done.err.decode(errors='replace')}")
    return done


def answer_of(command, *arguments):
    """What the command of dftmerge answers, as JSON."""
    return json.loads(run_checked([DFTMERGE, command, "--json", *arguments]).out)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def need_others():
    """Skips where another user cannot reach the build: it lies below a directory that only its owner may enter, as /root is."""
    if not all(folder.stat().st_mode & 1 for folder in (BUILD, *BUILD.parents)):
        pytest.skip("another user cannot reach the build")


def shown(value):
    text = repr(value)
    return text if len(text) <= 2000 else f"{text[:2000]}... ({len(text):,} characters)"


def equal(got, expected, what):
    if got != expected:
        raise AssertionError(f"{what}: {shown(got)}, expected {shown(expected)}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)
