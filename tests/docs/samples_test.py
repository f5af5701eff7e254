#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands in the pages are tried.

Each `console` block of README.md and docs/ runs in a folder made for it, and prints what the page shows, in form.

A line that begins with "$ " is a command; the lines behind it are its output, of which "..." leaves some out. A command whose program
is not installed is not run. Form means words: numbers, units and paths may differ, and so may the order of lines.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()

# What pages call ./app and train.py.
APP = """#!/bin/sh
for i in 1 2 3 4 5 6 7 8; do cat app >part.$i; done
cat part.* >whole
rm -f part.* whole
"""
TRAIN = """import multiprocessing
def load(number):
    with open(__file__, "rb") as file:
        return len(file.read()) + number
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(load, range(8))))
"""

# Exit code 1 is an answer of these: a run was slower, a worker was killed by its pool, no process runs that has stacks.
MAY_FIND = re.compile(r"--fail-over|--recover|--stacks")


def environment():
    kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "100",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def blocks(page):
    """[[(command, lines of output)]] of each block."""
    for text in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        commands = []
        for line in text.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        yield commands


def form(line):
    line = re.sub(r"(?<!\S)(?:[#▏▎▍▌▋▊▉█]+|[▁▂▃▄▅▆▇█·_.:=+*#@-]{9,})(?!\S)", "", line)  # bars, and I/O over time
    line = re.sub(r"\S*/\S+", "PATH", line)
    line = re.sub(r"[+-]?\d[\d,.:x-]*( ?(ns|us|ms|s|B|KiB|MiB|GiB|%)(/s)?)?(?=\s|,|\.|\)|$)|(?<=\s)-(?=\s|$)", "N", line)
    return " ".join(line.split())


def installed(command):
    return all(shutil.which(word, path=environment()["PATH"]) or word.startswith("./")
               for word in re.findall(r"(?:^|\| |-n \d+ |-- )([\w./-]+)", command))


def run(folder, command):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.returncode, done.stdout


def folder_for(directory):
    (directory / "examples").symlink_to(ROOT / "examples")
    (directory / "app").write_text(APP)
    (directory / "app").chmod(0o755)
    (directory / "train.py").write_text(TRAIN)
    return directory


def try_page(page):
    """A page's commands run one after the other in one folder. Returns how many ran, and how many could not."""
    ran = skipped = 0
    with tempfile.TemporaryDirectory(prefix="dftrace-docs-") as directory:
        folder = folder_for(pathlib.Path(directory))
        for command, sample in (pair for block in blocks(page) for pair in block):
            if not installed(command):
                print(f"skipped {command}")
                skipped += 1
                continue
            code, output = run(folder, command)
            assert code == 0 or (code == 1 and MAY_FIND.search(command)), f"$ {command}\nexit code {code}\n{output}"
            printed = {form(line) for line in output.splitlines()}
            sentences = form(" ".join(output.splitlines()))  # which end their lines elsewhere, with other numbers
            for line in sample:
                there = form(line) in (sentences if re.match("   |->|job  |time |I/O  |when |answered", line) else printed)
                assert line == "..." or there, f"$ {command}\nhas no line like\n{line}\n({form(line)}) but\n{output}"
            ran += 1
    return ran, skipped


def main():
    passed = failed = skipped = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        try:
            ran, left_out = try_page(page)
            passed, skipped = passed + ran, skipped + left_out
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {page.relative_to(ROOT)}: {error}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
