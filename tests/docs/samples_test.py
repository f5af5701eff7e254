# SPDX-License-Identifier: MIT
"""Commands in the pages are tried.

Each `console` block of README.md and docs/ runs in a folder made for it, and prints what the page shows, in form.

A line that begins with "$ " is a command; the lines behind it are its output, of which "..." leaves some out. A command
whose program is not installed is not run; job systems have stand-ins (the folder standins). Form means words, columns
and kinds of numbers: times, bytes, shares and counts may be others, and so may the order of rows. What is not left out
is complete: sections between blank lines have all of their lines, and follow each other.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import standins

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
COLUMNS = 100
FOLDER = "/mnt/ann/tutorial"  # what pages call the folder; its components are as long as those of ours
STANDINS = tempfile.TemporaryDirectory(prefix="standins-")  # for PATH
standins.put_into(STANDINS.name)

# What pages call ./app, train.py and test_store.py.
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
TEST_STORE = """import os
def test_save(tmp_path):
    with open(tmp_path / "index", "w") as file:
        file.write("x" * 5000)
        file.flush()
        os.fsync(file.fileno())
def test_load():
    with open(__file__) as file:
        assert "index" in file.read()
"""

# Exit code 1 is an answer of these: a run was slower, a worker was killed by its pool, no process runs that has stacks.
MAY_FIND = re.compile(r"--fail-over|--recover|--stacks")


def environment(width=COLUMNS):
    kept = {name: os.environ[name] for name in ("HOME", "USER", "LOGNAME", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": f"{STANDINS.name}:{BUILD / 'bin'}:{os.environ['PATH']}", "DFT_BUILD": str(BUILD), "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "PYTHONPATH": str(BUILD / "python"),
            "COLUMNS": str(width), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def blocks(page):
    """[[(command, lines of output)]] of each block."""
    for text in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        commands = []
        for line in text.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands[-1][0].endswith("\\"):
                commands[-1] = (commands[-1][0][:-1] + line.strip(), [])
            else:
                commands[-1][1].append(line)
        yield commands


# --- form ----------------------------------------------------------------------------------------------------

KINDS = {**{unit: "<time>" for unit in ("ns", "us", "ms", "s")}, "%": "<share>", "x": "<factor>", "": "<number>",
         **{f"{scale}B{rate}": f"<bytes{rate}>" for scale in ("", "Ki", "Mi", "Gi") for rate in ("", "/s")}}
NUMBER = re.compile(r"(?<![\w/.#-])[+-]?\d[\d,]*(?:\.\d+)?(?: ?((?:[KMG]i)?B(?:/s)?|[num]?s|%|x))?(?![\w/])")
NAMES = ((r"(?<=^when  )[▁▂▃▄▅▆▇█·]+", "<over time>"), (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "<date>"),
         (r"(?<= since )the start", "<time>"), (r"^/\S* +\(\w+\)", "<mount>"),
         (rf"(?:\.\.\.|{FOLDER})/(?:\S*/)?", ".../"),  # a path is cut as room wants it
         (r"[\w.-]+-\d+-\d{10}\.\d{6}", "<run>"), (r"prterun-\S+|\b\d+/\d+\b", "<number>"),
         (rf"\b{re.escape(os.uname().nodename)}\b", "vm"),
         (r"(?<!\S)[▏▎▍▌▋▊▉█]+(?!\S)", ""))
# Their sentences go on below, behind blanks.
HEADS = r"(job|run|time|I/O|when|evidence|how sure)  |(not|note:|answered) "


def form(line):
    """The words of a line, of numbers their kinds. Bars are held against their numbers by true_bars()."""
    for pattern, name in NAMES:
        line = re.sub(pattern, name, line)
    return NUMBER.sub(lambda match: KINDS[match[1] or ""], line).split()


def is_like(shown, printed):
    """What is not known, or nothing, is "-"."""
    return len(shown) == len(printed) and all(a == b or ("-" in (a, b) and re.fullmatch("[-<].*", a + b))
                                              for a, b in zip(shown, printed))


def true_bars(lines):
    """The bars of a table are as long as the shares behind them say, and shares stand below their title."""
    end = 0
    for line in lines:
        title = re.search(r" %(?= |$)", line)
        end = title.end() if title and not re.search(r"\d", re.sub(r"p\d+", "", line)) else end if line else 0
        row = re.search(r"(?:^| )([▏▎▍▌▋▊▉█]*) +(\d+\.\d)$", line[:end])
        bar = re.search(r"[▏▎▍▌▋▊▉█]+", line)
        if end and (row or bar):
            assert row and (not bar or bar[0] == row[1]), f"a bar without a share below the title:\n{line}"
            eighths = sum("▏▎▍▌▋▊▉█".index(cell) + 1 for cell in row[1])
            assert abs(eighths - float(row[2]) * 0.8) <= 1.1, f"a bar of {eighths} eighths for {row[2]} %:\n{line}"


def units(section, width):
    """Lines, but sentences in one piece: they end their lines elsewhere, with other numbers."""
    joined, inside = [], False
    for before, line in zip(["", *section], section):
        advice = line.startswith("   -> ")
        wraps = "  " not in before.strip() and len(before) + 1 + len(line.split()[0]) > width
        if joined and not advice and (wraps or (inside and line.startswith("   "))):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
            inside = advice or bool(re.match(r"\d+  \S", before) or re.match(HEADS, line))
    return [form(unit) for unit in joined]


def sections(lines):
    """[(lines, what stands before, what stands behind)], where "..." or a blank line stands there, or None."""
    found, before = [([], None, None)], None
    for line in lines:
        if line in ("", "..."):
            if found[-1][0]:
                found[-1] = (*found[-1][:2], line)
                found.append(([], line, None))
            else:
                found[-1] = ([], "..." if "..." in (line, found[-1][1]) else line, None)
        else:
            found[-1][0].append(line)
    return [section for section in found if section[0]]


def place(shown, printed, used, whole, first):
    """Finds each unit in a printed section. Returns which, or None where one is not there. Titles keep their order."""
    taken, last = [], -1
    for unit in shown:
        is_row = sum(word.startswith("<") for word in unit) > 1 or unit[0] == "->"
        free = (i for i in range(0 if is_row else last + 1, len(printed)) if i not in used and i not in taken)
        at = next((i for i in free if is_like(unit, printed[i])), None)
        if at is None:
            return None
        taken.append(at)
        last = last if is_row else at
    complete = not whole or len(taken) == len(printed)
    begins = not first or shown[0][0].startswith("<") or 0 in taken
    return taken if complete and begins else None


def hold(sample, output, width):
    """Returns the first lines of a sample that are not printed so, or None."""
    true_bars(sample)
    printed = [units(lines, width) for lines, _, _ in sections(line for line in output if line != "...")]
    used = [set() for _ in printed]
    at = -1
    for lines, before, behind in sections(sample):
        shown = units(lines, COLUMNS)
        choices = range(max(at, 0), len(printed)) if before == "..." else range(at + 1, min(at + 2, len(printed)))
        for at in choices:
            found = place(shown, printed[at], used[at], before != "..." and behind != "...", before != "...")
            if found is not None:
                used[at].update(found)
                break
        else:
            return lines
    return None if sample[-1:] == ["..."] or at == len(printed) - 1 else ["(the end)"]


# --- commands ------------------------------------------------------------------------------------------------


def installed(command):
    command = re.sub(r"\b[A-Z_]+=\S* ", "", command)
    return all(shutil.which(word, path=environment()["PATH"]) or word.startswith("./")
               for word in re.findall(r"(?:^|\| |&& |-n \d+ |-- )([\w./-]+)", command))


def run(folder, command, width):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(width), stdin=subprocess.DEVNULL,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    assert done.returncode == 0 or (done.returncode == 1 and MAY_FIND.search(command)), \
        f"$ {command}\nexit code {done.returncode}\n{done.stdout}"
    return done.stdout.replace(str(folder)[1:], FOLDER[1:]).replace(folder.name, pathlib.Path(FOLDER).name)


def try_command(folder, command, sample):
    """Numbers of other lengths leave room for other columns: those of a page are there in some width near its own."""
    others = range(COLUMNS - 12, COLUMNS + 13, 3) if command.startswith("dftmerge ") else ()
    for width in (COLUMNS, *others):
        output = run(folder, command, width)
        wrong = hold(sample, output.splitlines(), width) if sample else None
        if not wrong:
            return
        if width == COLUMNS:
            message = "\n".join([f"$ {command}", "does not print", *wrong, "but", output])
    raise AssertionError(message)


def folder_for(directory):
    for name in ("examples", "include", "tests"):
        (directory / name).symlink_to(ROOT / name)
    (directory / "app").write_text(APP)
    (directory / "app").chmod(0o755)
    (directory / "train.py").write_text(TRAIN)
    (directory / "test_store.py").write_text(TEST_STORE)
    return directory


def try_page(page):
    """A page's commands run one after the other in one folder. Returns how many ran, and how many could not."""
    ran = skipped = 0
    with tempfile.TemporaryDirectory(prefix="", dir="/var/tmp") as directory:  # fsync takes time there
        folder = folder_for(pathlib.Path(directory))
        for command, sample in (pair for block in blocks(page) for pair in block):
            if not installed(command):
                print(f"skipped {command}")
                skipped += 1
                continue
            try_command(folder, command, sample)
            ran += 1
    return ran, skipped


@pytest.mark.parametrize("page", [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks(page)],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page):
    ran, _ = try_page(page)
    if not ran:
        pytest.skip("no program of its commands is installed")
