#!/usr/bin/env python3
"""Programs built with a sanitizer, through dftrun, which loads the sanitizer's runtime first: the same output, messages and exit code,
whether they are clean or have the fault that the sanitizer is there for."""

import re
import sys

from compare import DFTRUN, PROGRAMS, Rule, Skip, Tests, dftmerge, equal, full, need, normalised, run, run_plain, true
from compare import first_difference, fresh, own_environment, environment

tests = Tests()

# What differs between two plain runs of a program with a fault.
REPORT = [Rule(rb"==\d+==", b"==N==", "process ids"), Rule(rb"0x[0-9a-f]+", b"0xN", "addresses are random"),
          Rule(rb"pid=\d+|tid=\d+|\(\d+\)|T\d+", b"N", "numbers of processes and threads"),
          Rule(rb"\(.*?\+0xN\)( \(BuildId: \w+\))?", b"(M)", "offsets in modules, of which there is one more"),
          Rule(rb"^ *#\d+ .*\n", b"", "frames: those of the tracer are among them"),
          Rule(rb"^.*(Shadow bytes|=>0xN|^ +0xN).*\n", b"", "memory around the fault"),
          Rule(rb"^(==N==ABORTING|SUMMARY:.*)\n", b"", "the summary names the innermost frame")]
FAULTS = {
    "address": ("heap", 1, b"heap-buffer-overflow"),
    "leak": ("leak", 23, b"detected memory leaks"),
    "undefined": ("overflow", 0, b"signed integer overflow"),
    "thread": ("race", 66, b"data race"),
    "memory": ("uninitialised", 1, b"use-of-uninitialized-value"),
}


def made(directory, compiler, kind):
    need(compiler)
    target = directory / "program"
    done = run([compiler, "-O1", "-g", "-D_GNU_SOURCE", f"-fsanitize={kind}", "-o", target, PROGRAMS / "faulty.c", "-pthread"])
    if done.code:
        raise Skip(f"{compiler} has no -fsanitize={kind} here")
    if run([target, "clean"], cwd=directory).code:
        raise Skip(f"{compiler}'s -fsanitize={kind} does not work on this machine")
    return target


def through_dftrun(directory, program, fault):
    work = fresh(directory, None)
    env = {**environment(), **own_environment(directory, {})}
    return run([DFTRUN, "--no-summary", "-o", directory / "traces", "--", program, fault], cwd=work, env=env)


def compare(directory, program, fault):
    plain = run_plain(directory, [program, fault])
    traced = through_dftrun(directory, program, fault)
    equal(traced.code, plain.code, f"{fault}: exit code ({traced.err.decode(errors='replace')[-600:]})")
    equal(traced.out, plain.out, f"{fault}: output")
    texts = [normalised(result.err, REPORT) for result in (plain, traced)]
    true(texts[0] == texts[1], f"{fault}: messages: {first_difference(*texts)}")
    return plain


def sanitizer(compiler, kind):
    def test(directory):
        fault, code, words = FAULTS[kind]
        program = made(directory, compiler, kind)
        equal(compare(directory, program, "clean").code, 0, "exit code of a program without a fault")
        done = dftmerge("check", "-q", directory / "traces")
        equal(done.code, 0, f"dftmerge check: {done.out.decode()} {done.err.decode()}")
        plain = compare(directory, program, fault)
        equal(plain.code, code, "exit code of the fault")
        true(words in plain.err, f"the fault is found: {plain.err.decode(errors='replace')[:300]}")
    test.__name__ = f"{compiler}_{kind}"
    return test


for compiler in ("gcc", "clang"):
    for kind in FAULTS:
        case = sanitizer(compiler, kind)
        tests.case(case if kind in ("address", "thread") else full(case))

if __name__ == "__main__":
    sys.exit(tests.main())
