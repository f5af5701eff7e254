# SPDX-License-Identifier: MIT
"""Real commands: each is run traced, and every finding about it stands in real.md, with a verdict. One that does not
is a failure."""

import atexit
import functools
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile

import pytest

from tracing import DFTMERGE, environment, equal, run, run_checked, tracing, true

TABLE = pathlib.Path(__file__).resolve().parent / "real.md"


def rows():
    """(name, command, findings it may have) of each line of the table."""
    found = []
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 4 and cells[1].startswith("`"):
            codes = set() if cells[2] == "none" else set(cells[2].split(", "))
            found.append((cells[0], cells[1].strip("`").replace("\\|", "|"), codes))
    return found


# --- what the commands work on ----------------------------------------------------------------------


def words(numbers, count):
    return " ".join(numbers.choice(("alpha", "beta", "gamma", "delta", "read", "write", "open", "close")) for _ in range(count))


def make_sources(where, numbers):
    """A small C project: 60 sources in 6 folders, a header each, a Makefile."""
    for folder in range(6):
        place = where / "src" / f"part{folder}"
        place.mkdir(parents=True)
        for i in range(10):
            (place / f"f{i}.h").write_text(f"int f{folder}_{i}(int);\n")
            (place / f"f{i}.c").write_text(f'#include <stdio.h>\n#include "f{i}.h"\n/* {words(numbers, 300)} */\n'
                                           f"int f{folder}_{i}(int x) {{ return x * {i + 1}; }}\n")
    (where / "src" / "main.c").write_text("int main(void) { return 0; }\n")
    objects = " ".join(f"part{folder}/f{i}.o" for folder in range(2) for i in range(10))
    (where / "src" / "Makefile").write_text(f"all: prog\nprog: main.o {objects}\n\tcc -o $@ $^\n")


def make_files(where):
    """What every command starts from; the same at each run. The many files are links: no command writes into them."""
    where.mkdir()
    for there in sorted(first_files().iterdir()):
        run_checked(["cp", "-al" if there.name == "many" else "-a", there, where])
    make_repository(where)  # not copied, as git compares inodes


@functools.cache
def first_files():
    numbers = random.Random(15)
    where = pathlib.Path(tempfile.mkdtemp(prefix="dft-real-"))
    atexit.register(shutil.rmtree, where, ignore_errors=True)
    make_sources(where, numbers)
    (where / "many").mkdir()
    for i in range(3000):
        (where / "many" / f"f_{i}.txt").write_text(words(numbers, 20) + "\n")
    (where / "log.txt").write_text("".join(f"{i} {words(numbers, 10)}\n" for i in range(100_000)))
    (where / "big.bin").write_bytes(numbers.randbytes(32 << 20))
    with sqlite3.connect(where / "db.sqlite") as db:
        db.execute("create table t(id integer primary key, word text, n integer)")
        db.executemany("insert into t(word, n) values (?, ?)", ((words(numbers, 3), i) for i in range(50_000)))
    db.close()
    (where / "numbers.csv").write_text("".join(f"{i},{i * i}\n" for i in range(50_000)))
    return where


def make_repository(where):
    if not shutil.which("git", path=environment()["PATH"]):
        return
    shutil.copytree(where / "src", where / "repo")
    settings = environment(HOME=where, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        run_checked(["git", *command], cwd=where / "repo", env=settings)


# --- the commands -----------------------------------------------------------------------------------


def findings_of(traces):
    done = run([DFTMERGE, "findings", "--json", traces])
    equal(done.code, 0, done.err.decode(errors="replace"))
    return json.loads(done.out)["findings"]


def check_finding(finding, codes):
    """Listed, and told whole."""
    true(finding["code"] in codes, f"{finding['code']} is not in {TABLE.name}: {finding['title']}: {finding['evidence']}")
    true(finding["title"] and finding["evidence"] and finding["advice"], f"told whole: {finding}")
    true(finding["cost_ns"] <= finding["of_ns"] or finding["code"] == "lost", f"costs more than there is: {finding}")


@pytest.mark.parametrize("name, command, codes", rows(), ids=lambda value: value if isinstance(value, str) and " " not in value else "")
def test_real(directory, name, command, codes):
    for program in re.findall(r"(?:^|[|;&] *)([a-z0-9_]+)", re.sub(r"'[^']*'", "", command)):
        if program not in ("cd", "for", "do", "done", "read", "while") and not shutil.which(program, path=environment()["PATH"]):
            pytest.skip(f"{program} is not installed")
    make_files(directory / "work")
    (directory / "traces").mkdir()
    done = run(["sh", "-c", command], cwd=directory / "work", env=dict(tracing(directory / "traces" / "t"), HOME=str(directory / "work")))
    equal(done.code, 0, done.err.decode(errors="replace")[-2000:])
    for finding in findings_of(directory / "traces"):
        if os.environ.get("DFT_SHOW"):
            print(f"{name}: {finding['code']}: {finding['cost_ns'] / finding['of_ns'] if finding['of_ns'] else 0:.1%} {finding['title']}: "
                  f"{finding['evidence']}")
            continue
        check_finding(finding, codes)


def test_table_is_read_whole(directory):
    """A line that the pattern misses would not be run."""
    lines = [line for line in TABLE.read_text().splitlines() if line.startswith("| ") and "`" in line]
    equal(len(lines), len(rows()), "lines of the table")
    true(len(rows()) > 30, "more than 30 commands")
    equal(len({name for name, _, _ in rows()}), len(rows()), "names are told apart")
    known = set(re.findall(r"^# ([a-z-]+):", run([DFTMERGE, "findings", "--list"]).out.decode(), re.M))
    listed = set().union(*(codes for _, _, codes in rows()))
    equal(listed - known, set(), "kinds of findings that dftmerge does not know")
