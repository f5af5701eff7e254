# SPDX-License-Identifier: MIT
"""Lines of C++ programs: the program's own line of each call, however deep in the C++ library the call is made."""

import json
import re
import shutil
import subprocess

import pytest

from tracing import DFTMERGE, PROGRAMS, dftmerge, environment, equal, need, run_checked, tracing, true

SOURCES = ("streams.cpp", "streams_library.cpp")
MARKED = {
    name: f"{PROGRAMS / source}:{number}"
    for source in SOURCES
    for number, text in enumerate((PROGRAMS / source).read_text().splitlines(), 1)
    for name in re.findall(r"// line (\w+)$", text)
}
CALLS = {"endl": 10, "template": 13, "inlined": 2, "lines": 14, "lambda": 3, "made": 1, "absent": 1, "library": 1}
OWN = re.compile(r"[^;]* \([a-z_]+\.cpp:\d+\)")


def build(directory, compiler, *flags):
    need(compiler)
    if b"libdw" not in run_checked(["ldd", DFTMERGE]).out:
        pytest.skip("dftmerge is built without libdw")
    both = [compiler, "-std=c++17", *flags]
    library, program = directory / "libstreams.so", directory / "streams"
    run_checked([*both, "-fPIC", "-shared", "-o", library, PROGRAMS / SOURCES[1]], cwd=directory)
    run_checked([*both, "-o", program, PROGRAMS / SOURCES[0], library], cwd=directory)
    return program


def traced(directory, program):
    data = directory / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.rmtree(directory / "out", ignore_errors=True)
    data.mkdir()
    run_checked([program, data], env=tracing(directory / "out/t", DATA_DIR=data, STACK=32))
    return directory / "out"


def groups(traces, *options):
    return json.loads(dftmerge("summary", "--json", *options, traces).out)["groups"]


def each_line_is_named(directory, compiler, *flags):
    found = groups(traced(directory, build(directory, compiler, *flags)), "--by", "line,file")
    lines = {(group["file"].rsplit("/", 1)[-1], group["line"]): group["count"] for group in found}
    for name, line in MARKED.items():
        equal(lines.get((name, line)), CALLS[name], f"{compiler} {flags}: calls of {name} at {line}; there are {lines}")
    true(all(line.startswith(str(PROGRAMS)) for _, line in lines), f"{compiler} {flags}: lines of others: {lines}")


VARIANTS = {
    "gcc_as_written": ("g++", "-g", "-O0"),
    "gcc_optimized": ("g++", "-g", "-O2"),
    "gcc_most_optimized": ("g++", "-g", "-O3"),
    "gcc_of_all_units": ("g++", "-g", "-O2", "-flto"),
    "gcc_dwarf_4_compressed": ("g++", "-gdwarf-4", "-gz", "-O2"),
    "gcc_split": ("g++", "-g", "-gsplit-dwarf", "-O2"),
    "clang_as_written": ("clang++", "-g", "-O0"),
    "clang_dwarf_4": ("clang++", "-gdwarf-4", "-O2"),
    "clang_split": ("clang++", "-g", "-gsplit-dwarf", "-O2"),
}


@pytest.mark.parametrize("how", VARIANTS)
def test_each_line_is_named(directory, how):
    each_line_is_named(directory, *VARIANTS[how])


def test_lines_beside_the_program(directory):
    """A stripped program has lines where its debug file lies beside it."""
    program = build(directory, "g++", "-g", "-O2")
    need("objcopy")
    run_checked(["objcopy", "--only-keep-debug", program, f"{program}.debug"])
    run_checked(["objcopy", "--strip-all", f"--add-gnu-debuglink={program}.debug", program], cwd=directory)
    lines = {group["line"] for group in groups(traced(directory, program), "--by", "line", "--file", "*/endl")}
    true(MARKED["endl"] in lines, lines)


def test_without_lines(directory):
    """The program's function is told, not that of the C++ library; of a stripped program where it lies."""
    program = build(directory, "g++", "-O2")
    lines = {group["line"] for group in groups(traced(directory, program), "--by", "line")}
    true("main" in lines and not any("std::" in line for line in lines), lines)
    run_checked(["strip", program])
    lines = {group["line"] for group in groups(traced(directory, program), "--by", "line")}
    true(all(line.startswith("streams+0x") for line in lines), lines)


def test_frames(directory):
    """Own functions have their file and line, those in line too; others have their module."""
    traces = traced(directory, build(directory, "g++", "-g", "-O2"))
    folded = dftmerge("export", "--format", "folded", "-o", "-", traces).out.decode()
    for name, inner in (("inlined", ("main", "write_twice", "write_block")), ("endl", ("main", "note"))):
        (line,) = {group["stack"] for group in groups(traces, "--by", "stack", "--name", "write*", "--file", f"*/{name}", "--top", "1")}
        own = [frame for frame in line.split(";") if OWN.fullmatch(frame)]
        equal(tuple(frame.split(" ")[0] for frame in own), inner, f"own functions of {line}")
        equal(own[-1].split("(")[-1], MARKED[name].rsplit("/", 1)[-1] + ")", "the innermost")
        true(re.search(r"main \(streams\.cpp:\d+\);.*std::ostream.* \[libstdc\+\+\.so[.0-9]*\]", line), line)
        true(line.replace(" ", "_") in folded, f"{line} in {folded}")


def test_tree(directory):
    """Each function once, below what called it, with the sum of what it called."""
    traces = traced(directory, build(directory, "g++", "-g", "-O2"))
    text = dftmerge("summary", "--by", "stack", "--file", "*/endl,*/inlined", "--top", "100", traces, env=environment(COLUMNS=200)).out.decode()
    rows = [re.match(r"( *)(\S.*?\S)  +(\d+)  ", row) for row in text.splitlines()]
    rows = [(len(row[1]), row[2], int(row[3])) for row in rows if row]
    line = MARKED["inlined"].rsplit("/", 1)[-1]
    blocks = [i for i, row in enumerate(rows) if row[1] == f"write_block ({line})"]
    equal([rows[i][2] for i in blocks], [1, 1], f"calls: {text}")
    for i in blocks:
        true(rows[i - 1][1].startswith("write_twice (") and rows[i - 1][0] == rows[i][0] - 2, text)
        true(rows[i + 1][1] == "std::__basic_file::xsputn_2 [libstdc++.so.6]" and rows[i + 1][0] == rows[i][0] + 2, text)
    equal([row[2] for row in rows if row[1].startswith("note (")], [CALLS["endl"]], text)
    (group,) = groups(traces, "--by", "class", "--file", "*/endl,*/inlined", "--name", "write*")
    true(group["count"] == CALLS["endl"] + CALLS["inlined"], group)


def test_a_split_file_that_is_none(directory):
    """A FIFO in place of the file with the functions is not waited for."""
    program = build(directory, "g++", "-g", "-gsplit-dwarf", "-O2")
    splits = list(directory.glob("*.dwo"))
    true(splits, "split files")
    for split in splits:
        split.unlink()
        subprocess.run(["mkfifo", split], check=True, env=environment())
    lines = {group["line"] for group in groups(traced(directory, program), "--by", "line", "--name", "mkdir")}
    equal(lines, {MARKED["made"]}, "a line that is of no function in line")
