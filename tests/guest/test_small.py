# SPDX-License-Identifier: MIT
"""Small programs that do what large ones do now and then: the same output, exit code and files plain and traced."""

import functools
import os
import pathlib
import shutil
import signal
import tempfile

import pytest

from compare import PROGRAMS, Rule, both, full, need, run, true

CASES = []
programs = tempfile.TemporaryDirectory(prefix="dft-guest-")

# How the ways to end that around_main.cpp has come out.
ENDS = {"quick": 4, "exit": 3, "_exit": 5, "thread": 6, "return": 7, "last": 0, "throw": -signal.SIGABRT}
MESSAGES = [Rule(rb"^dftrace: error: (no memory|cannot create).*\n", b"", "the one line that the log level asks for, where nothing can be recorded")]
# Where the tracer cannot do its work, and says or counts it: its own memory would not fit, its calls are forbidden.
SEEN = {"no_locked_memory": {"rules": MESSAGES}, "no_more_data": {"rules": MESSAGES}, "filtered": {"dropped": {"sandboxed"}}}
AS_ROOT = {"nobody", "nobody_after_work", "for_file_access_only", "no_locked_memory", "new_name_spaces"}


@functools.cache
def built(source, *flags):
    """The program made of a source, or what the compiler says of it; each is made once."""
    target = pathlib.Path(programs.name) / f"{len(list(pathlib.Path(programs.name).iterdir()))}"
    compiler = "g++" if source.endswith(".cpp") else "gcc"
    need(compiler)
    done = run([compiler, "-O1", "-g", "-D_GNU_SOURCE", "-o", target, PROGRAMS / source, "-pthread", *flags])
    return None if done.code else target, f"{' '.join([compiler, *flags])}: {done.err.decode()}"


def compiled(directory, source, *flags, output="program"):
    """Skips the case when it cannot be made here (32 bits)."""
    made, message = built(source, *flags)
    if not made and "-m32" in flags:
        pytest.skip(message.splitlines()[-1])
    true(made, message)
    shutil.copy(made, directory / output)
    return directory / output


def cases_of(source):
    """The names in the table of a program."""
    text = (PROGRAMS / source).read_text()
    table = text[text.index("struct guest_case cases[]"):]
    return [part.split('"')[0] for part in table.split('{"')[1:]]


def add(source, name, *flags, kind="", wrap=None, prepare=None, **more):
    def test(directory):
        if name in AS_ROOT and os.getuid():
            pytest.skip("needs root")
        program = compiled(directory, source, *flags)
        if prepare:
            prepare(directory)
        both(directory, [program, name], **more)
    test.__name__ = f"{source.split('.')[0]}_{name}{kind}"
    CASES.append(wrap(test) if wrap else test)


def plugin(directory):
    compiled(directory, "plugin.c", "-shared", "-fPIC", output="plugin.so")


def add_plugin(source):
    for name in cases_of(source):
        def test(directory, name=name):
            program = compiled(directory, source)
            plugin(directory)
            both(directory, [program, name], least=0, prepare=lambda work: (work / "plugin.so").symlink_to("../plugin.so"))
        test.__name__ = f"loading_{name}"
        CASES.append(test)


add_plugin("loading.c")
for how, status in ENDS.items():
    add("around_main.cpp", how, expect=status)
for case in cases_of("jumps.cpp"):
    add("jumps.cpp", case)
for case in cases_of("threads.c"):
    add("threads.c", case)
for case in cases_of("confined.c"):
    add("confined.c", case, least=0, **SEEN.get(case, {}))
for case in ("nobody", "nobody_after_work"):  # in a directory where only the first user can make traces
    add("confined.c", case, kind="_without_rights", least=0, sound=False, writable=False, rules=MESSAGES)
add("own_functions.c", "", "-Wno-builtin-declaration-mismatch", "-Wno-unused-result", "-ldl")
for level in range(4):
    for case in cases_of("streams.c"):
        add("streams.c", case, "-O2", "-U_FORTIFY_SOURCE", f"-D_FORTIFY_SOURCE={level}", "-Wno-unused-result", kind=f"_fortified_{level}",
            expect=-signal.SIGABRT if case == "overrun" and level else 0, wrap=full if level in (0, 1) else None)
for case in cases_of("streams.c"):
    add("streams.c", case, "-O0", "-Wno-unused-result", kind="_not_optimised", wrap=full)
    add("streams.c", case, "-m32", "-Wno-unused-result", kind="_32_bits", wrap=full)
    add("streams.c", case, "-static", "-Wno-unused-result", kind="_static", wrap=full, least=0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_small(directory, case):
    case(directory)
