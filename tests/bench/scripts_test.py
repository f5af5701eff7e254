# SPDX-License-Identifier: MIT
"""The scripts of the benchmark say what is missing, in a line, and go on with the other rows. No figure is looked at."""

import json
import shutil
import sys

from tracing import BUILD, ROOT, environment, equal, need, run, true

BENCH = ROOT / "tests" / "bench"


def ask(script, *arguments, path=None):
    """Runs a script of the benchmark, on another PATH where one is given."""
    variables = environment(**({"PATH": str(path)} if path else {}))
    return run([sys.executable, BENCH / script, "--build", BUILD, *arguments], env=variables)


def run_without_trees(script, *arguments):
    """Runs a script where the trees that it reads are missing."""
    code = (f"import sys; sys.path.insert(0, {str(BENCH)!r}); import instructions; "
            f"instructions.TREE = instructions.DOCUMENTS = '/no/such/tree'; import {script}; "
            f"sys.argv[1:] = ['--build', {str(BUILD)!r}, *{arguments!r}]; {script}.main()")
    return run([sys.executable, "-Bc", code])


def path_with(directory, *programs):
    """A folder with these programs alone, to be the PATH."""
    for program in programs:
        (directory / program).symlink_to(shutil.which(program))
    return directory


def test_instructions_need_valgrind(directory):
    done = ask("instructions.py", path=directory)
    equal((done.code, done.out), (1, b""), "code and output")
    true(b"install the package valgrind" in done.err, done.err)


def test_unknown_rows_are_an_error(directory):
    need("valgrind")
    for script in ("instructions.py", "real.py"):
        done = ask(script, "--only", "no such row")
        equal(done.code, 1, f"{script}: code")
        true(b"no row's name contains 'no such row'" in done.err, done.err)


def test_a_build_that_is_missing_is_an_error(directory):
    need("valgrind")
    for script in ("instructions.py", "real.py", "governor.py", "python.py"):
        done = ask(script, "--build", directory)
        equal((done.code, done.out), (1, b""), f"{script}: code and output")
        true(b"build first" in done.err, done.err)


def test_missing_trees_are_skipped(directory):
    need("valgrind")
    for script, arguments in (("real", ("--only", "p", "--rounds", "1")), ("instructions", ("--only", "find"))):
        done = run_without_trees(script, *arguments)
        equal((done.code, done.err), (0, b""), f"{script}: code and messages")
        true(b"skipped: there is no /no/such/tree here" in done.out, done.out)


def test_missing_programs_are_skipped(directory):
    done = ask("real.py", "--only", "t", "--rounds", "1", path=path_with(directory, "python3"))
    equal((done.code, done.err), (0, b""), "code and messages")
    lines = done.out.decode().splitlines()[1:]
    equal([line.split()[0] for line in lines if "skipped: there is no " in line], ["tar", "sqlite3", "git"], "skipped rows")
    measured = [line for line in lines if line.startswith("python")]
    true(len(measured) == 1 and "<= 6 %" in measured[0], f"python is measured: {lines}")


def test_helps_say_what_is_measured(directory):
    for script, word in (("governor.py", b"counted"), ("instructions.py", b"callgrind"), ("real.py", b"medians")):
        done = run([sys.executable, BENCH / script, "--help"])
        equal((done.code, done.err), (0, b""), f"{script}: code and messages")
        true(word in done.out and f"tests/bench/{script}".encode() in done.out, f"{script}: {done.out}")


def test_phases_make_the_calls_that_they_say(directory):
    (directory / "file").write_bytes(bytes(10000))
    done = run([BUILD / "bin" / "bench_phases", "work", directory / "file", "2", "10010", "0", "0"])
    equal(json.loads(done.out)["calls"], {"getc": 20020, "pread": 0, "rewind": 2}, "calls")
    done = run([BUILD / "bin" / "bench_phases", "work", directory / "file", "101", "1", "1", "1"])
    equal((done.code, done.out), (2, b""), "too many rounds")
