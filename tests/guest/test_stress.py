# SPDX-License-Identifier: MIT
"""stress-ng, which checks itself what it does to files and processes: every stressor ends as it does untraced."""

import re

import pytest

from compare import equal, full, need, run, run_plain, run_traced

CASES = []

# Operations in the short form, or None for the full form alone: stressors that take their time, or much of the machine.
STRESSORS = {
    "access": 20, "aio": 200, "aiol": 50, "chdir": None, "chmod": 20, "chown": 50, "clone": 50, "close": 200, "copy-file": 20,
    "daemon": 20, "dentry": 500, "dir": 200, "dirdeep": None, "dirmany": 200, "dup": 200, "epoll": 200, "eventfd": 500,
    "exec": 40, "exit-group": None, "fallocate": 5, "fcntl": 100, "fiemap": None, "fifo": 500, "file-ioctl": 20, "filename": 5,
    "flock": 200, "fork": 100, "fstat": 10, "fsize": None, "full": 50, "get": None, "getdent": 20, "handle": 20, "hdd": 50,
    "inotify": None, "iomix": None, "io": 5, "io-uring": None, "kcmp": 20, "kill": 200, "lease": 20, "link": 5, "locka": 20,
    "lockf": 20, "lockofd": 20, "longjmp": 1000, "madvise": None, "memfd": None, "mknod": 20, "mmap": None, "mmapfork": None,
    "mmapmany": None, "mq": None, "msync": 20, "munmap": None, "null": 200, "open": None, "pidfd": 50, "pipe": 200,
    "poll": 50, "procfs": None, "pthread": 50, "pty": None, "readahead": 5, "remap": 5, "rename": 200, "revio": 20,
    "ring-pipe": 20, "seek": 100, "sendfile": 20, "shm": None, "sigabrt": 20, "sigfd": 100, "sigpipe": 20, "sigsegv": 100,
    "sockfd": None, "sockpair": 50, "sock": None, "spawn": 20, "splice": 50, "stack": None, "stream": None, "switch": 200,
    "symlink": None, "sync-file": 5, "syncload": None, "tee": 20, "touch": 50, "tree": None, "unlink": 20, "unshare": None,
    "utime": 50, "verity": None, "vfork": 100, "vforkmany": None, "vm-splice": 50, "wait": None, "xattr": 20, "yield": None,
    "zero": 50, "zombie": 50, "tmpfs": None, "signest": 100, "sigq": 100, "metamix": None, "prio-inv": None, "fd-fork": None,
    "fd-race": None, "filerace": None, "umask": None, "dynlib": None, "exec-method": None, "nop": None,
}
FULL_SECONDS = 8
SHORT_SECONDS = 600  # that is: all operations are done, however long they take
GROUPS = 4
# Calls of what clone() starts on the thread-local memory of the thread that goes on beside it: counted, not recorded.
BORROWED = "in a child that shares memory"
# They take from the trace too what they take from themselves: the size of files, descriptors; what is lost is counted.
DROPS = {"fsize": {"no space for the trace"}, "dup": {"no descriptor for the trace"}, "open": {"no descriptor for the trace"}}
WORD = re.compile(rb"(fail|error|warn|unexpected|corrupt|mismatch|differ)", re.I)


def said(text):
    """The lines in which stress-ng finds fault, without numbers."""
    lines = [re.sub(rb"\d+", b"N", line.split(b"]", 1)[-1]) for line in text.splitlines() if WORD.search(line)]
    return sorted(set(lines))


def known():
    """What this version of stress-ng has."""
    need("stress-ng")
    return set(run(["stress-ng", "--stressors"]).out.decode().split())


def compare(directory, names, instances, times, seconds):
    """All of these at the same time."""
    names = [name for name in names if name in known()]
    if not names:
        pytest.skip("this version of stress-ng has none of them")
    chosen = [argument for name in names for argument in (f"--{name}", instances, f"--{name}-ops", (STRESSORS[name] or 100) * times)]
    command = ["stress-ng", "--verify", "--oomable", "--temp-path", ".", "--timeout", f"{seconds}s", *chosen]
    plain = run_plain(directory, command)
    traced = run_traced(directory, command, dropped={BORROWED}.union(*(DROPS.get(name, ()) for name in names)))
    equal(traced.code, plain.code, f"exit code ({(traced.out + traced.err).decode()[-1500:]})")
    equal(said(traced.err), said(plain.err), "what it finds fault with")


def one(name):
    def test(directory):
        compare(directory, [name], 2, 20, FULL_SECONDS)
    test.__name__ = name.replace("-", "_")
    return full(test)


def several(number, names):
    def test(directory):
        compare(directory, names, 1, 1, SHORT_SECONDS)
    test.__name__ = f"several_{number}"
    return test


SHORT = sorted(name for name, operations in STRESSORS.items() if operations)
for i in range(GROUPS):
    CASES.append(several(i + 1, SHORT[i::GROUPS]))
for stressor in STRESSORS:
    CASES.append(one(stressor))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_stress(directory, case):
    case(directory)
