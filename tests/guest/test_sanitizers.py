# SPDX-License-Identifier: MIT
"""Programs built with a sanitizer, through dftrun, which loads the sanitizer's runtime first: the same output, messages and exit code,
whether they are clean or have the fault that the sanitizer is there for. And under valgrind's two tools for threads, with our file of
suppressions: what they say of the program alone is what they say of it traced."""

import re

import pytest

from compare import DFTRUN, LIBRARY, PROGRAMS, Rule, dftmerge, equal, full, need, normalised, run, run_plain, true
from compare import first_difference, fresh, own_environment, environment

CASES = []
SUPPRESSIONS = PROGRAMS.parents[2] / "preload" / "valgrind" / "dftrace.supp"

# What differs between two plain runs of a program with a fault.
REPORT = [Rule(rb"==\d+==", b"==N==", "process ids"), Rule(rb"0x[0-9a-f]+", b"0xN", "addresses are random"),
          Rule(rb"pid=\d+|tid=\d+|\(\d+\)|T\d+", b"N", "numbers of processes and threads"),
          Rule(rb"\(.*?\+0xN\)( \(BuildId: \w+\))?", b"(M)", "offsets in modules, of which there is one more"),
          Rule(rb", (running|finished)\)", b", N)", "a thread that races may have ended when it is told"),
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
        pytest.skip(f"{compiler} has no -fsanitize={kind} here")
    if run([target, "clean"], cwd=directory).code:
        pytest.skip(f"{compiler}'s -fsanitize={kind} does not work on this machine")
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
        CASES.append(case if kind in ("address", "thread") else full(case))

def said_by_valgrind(directory, tool, fault, more):
    """The program's functions that are named, and all that was said."""
    program = directory / "program"
    done = run(["valgrind", f"--tool={tool}", "--fullpath-after=", "--error-limit=no", f"--suppressions={SUPPRESSIONS}", program, fault],
               cwd=fresh(directory, None), env={**environment(), **more})
    text = done.err.decode(errors="replace")
    equal(done.code, 0, f"{tool} {fault}: exit code ({text[-600:]})")
    return sorted(set(re.findall(r"(\w+) \((?:\S*/)?faulty\.c:\d+\)", text))), text


def of_valgrind(tool):
    def test(directory):
        need("valgrind")
        if run(["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", directory / "program", PROGRAMS / "faulty.c", "-pthread"]).code:
            pytest.skip("gcc does not work here")
        if run(["valgrind", f"--tool={tool}", "/bin/true"]).code:
            pytest.skip(f"valgrind's {tool} does not work on this machine")
        ours = {"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(directory / "traces" / "t")}
        plain = said_by_valgrind(directory, tool, "race", {})[0]
        for fault, functions in (("clean", []), ("race", plain)):
            found, text = said_by_valgrind(directory, tool, fault, ours)
            equal(found, functions, f"{fault}: functions that are named ({text[-2000:]})")
            true("libdftrace.so" not in text, f"{fault}: none is ours: {text[-2000:]}")
            true(fault == "race" or set(re.findall(r"ERROR SUMMARY: (\d+) errors", text)) == {"0"}, f"{fault}: no error: {text[-2000:]}")
        true("race" in plain, "the race is found")
        equal(dftmerge("check", "-q", directory / "traces").code, 0, "dftmerge check")
    test.__name__ = f"valgrind_{tool}"
    return test


CASES.append(of_valgrind("helgrind"))
CASES.append(full(of_valgrind("drd")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_sanitizers(directory, case):
    case(directory)
