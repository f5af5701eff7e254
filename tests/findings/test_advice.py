# SPDX-License-Identifier: MIT
"""Advice is followed: each program has the trouble, and the cure that its finding advises. The finding is there before
and gone after, fewer system calls are made, and no more time is saved than the finding has as "at most"."""

import pathlib
import re

import pytest

from told import io_ns
from tracing import answer_of, need, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
TRIES = 3  # the times are those of a machine that others use
NOISE_NS, NOISE = 20_000_000, 1.25
SIZE = 8 << 20


def followed(directory, name, when, rules):
    """The findings by code, the time in I/O, and the system calls that the kernel counted."""
    work, traces, program = directory / "work", directory / f"traces_{when}_{len(list(directory.iterdir()))}", directory / "advice"
    work.mkdir(exist_ok=True)
    (work / "data").write_bytes(bytes(SIZE))
    (work / "settings").write_bytes(b"settings")
    (directory / "rules").write_text(rules)
    run_checked([program, name, when], cwd=work, env=tracing(traces / "t", DATA_DIR=work))
    answer = answer_of("findings", "--rules", directory / "rules", traces)
    calls = len(re.findall(r"^(?:read|write|pread64|pwrite64|lseek|openat|close|newfstatat|stat|fsync|rename)\(",
                           run_checked(["strace", "-o", "/dev/stdout", program, name, when], cwd=work).out.decode(), re.M))
    return {finding["code"]: finding for finding in answer["findings"]}, io_ns(traces), calls


def helps(directory, name, code=None, rules="any.share = 1 %\n"):
    """Returns the finding of the program before."""
    code = code or name
    need("gcc", "strace")
    run_checked(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", directory / "advice", HERE / "programs" / "advice.c"])
    wrong = []
    for _ in range(TRIES):
        found, before_ns, before = followed(directory, name, "before", rules)
        rest, after_ns, after = followed(directory, name, "after", rules)
        true(code in found, f"{name}: {code} is not found before: {sorted(found)}")
        true(code not in rest, f"{name}: {code} is found after: {rest.get(code)}")
        true(after < before, f"{name}: {before} system calls before, {after} after")
        cost_ns = sum(finding["cost_ns"] for finding in found.values())  # one cure may be that of several findings
        print(f"{name}: {before_ns / 1e6:.1f} ms, {before} system calls; after {after_ns / 1e6:.1f} ms, {after}; "
              f"at most {cost_ns / 1e6:.1f} ms")
        wrong.append(before_ns - after_ns - cost_ns * NOISE - NOISE_NS)
        if wrong[-1] <= 0:
            return found[code]
    true(False, f"{name}: more was saved than \"at most\" says: {wrong} ns too much")
    return None


@pytest.mark.parametrize("code", ("one-byte", "small-reads", "small-writes", "flush", "reopened", "missing", "fsync", "metadata", "small-files", "saves",
                                  "reread"))
def test_helps(directory, code):
    helps(directory, code)


def test_a_stream_with_a_buffer_of_its_own(directory):
    finding = helps(directory, "stream")
    true("setvbuf(f, buffer, _IOFBF, 1 << 20)" in finding["advice"], finding["advice"])


def test_a_stream_that_seeks_needs_no_larger_buffer(directory):
    # a seek reads a block, too: the reads have half of the time
    finding = helps(directory, "seeks", "stream", "any.share = 0 %\nstream.call = 1 ns\n")
    true("pread" in finding["advice"] and "setvbuf" not in finding["advice"], finding["advice"])
