# SPDX-License-Identifier: MIT
"""Each command line in `sh` blocks of the pages runs, and ends as the page says.

Each page has a folder of its own, made by sandbox.py; each block a shell of its own. What a test cannot have has a
stand-in in the folder standins. Output is not looked at: that of `console` blocks is, by samples_test.py.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import textwrap

import pytest

import sandbox
from sandbox import BUILD, ROOT

SECONDS = 120  # for a block
ADVICE = """What to do: mend the page. Or give the command what it needs: a file or a program in tests/docs/sandbox.py, a stand-in in
tests/docs/standins. A line that no test can run goes into UNRUN of tests/docs/commands_test.py, with the reason."""

# Lines that no test runs, and why.
UNRUN = {
    "examples/quickstart.sh": "builds the tree, for minutes",
    "tests/run.sh": "runs all tests, this one, too",
    "tests/run.sh --quick": "builds the tree, and runs a test of the pages, too",
    "DFT_BUILD=build python3 -m pytest tests/e2e/test_programs.py -k sqlite": "a test of its own",
    "python3 -m pytest tests/aarch64/test_aarch64.py": "a test of its own",
}
# Exit codes of lines that are right, but do not end with 0 here, and why.
EXPECTED = {
    "dftmerge ranks --name 'open*,stat*' --from 60 traces/": (1, "the job of the test is over before, and an empty answer is 1"),
}
# They end when they are told to.
ENDLESS = re.compile(r"^(dftmerge serve\b.*)")
# What a command needs that a machine may not have: programs, and modules of Python.
PROGRAMS = {"fio", "fakeroot", "faketime", "eatmydata", "stdbuf", "valgrind", "gdb", "rr", "perf"}
MODULES = {r"-m jsonschema": "jsonschema", r"-m pytest.* -n \d": "xdist", r"dftrace kernel": "jupyter_client"}
# Exit code 1 is an answer of these.
MAY_FIND = re.compile(r"--fail-over|--recover|--stacks")


def pages():
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("*/README.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page):
    """[(line number, text)] of the blocks, also of those in lists."""
    text = page.read_text()
    return [(text.count("\n", 0, match.start()) + 2, textwrap.dedent(match[2]))
            for match in re.finditer(r"^( *)```(?:sh|bash|shell)\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)]


def is_whole(text):
    """Whether lines are a command, or the next line belongs to it."""
    document = re.search(r"<<-?\s*['\"]?(\w+)", text)
    if document:
        return re.search(rf"^\s*{document[1]}$", text, re.MULTILINE) is not None
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    if text.rstrip().endswith("\\"):
        return False
    starts = re.match(r"(for|while|until|if|case)\b|.*\{$|\w+\(\)", text)
    return not starts or subprocess.run(["sh", "-n", "-c", text], stderr=subprocess.DEVNULL, check=False).returncode == 0


# What submits a script with such lines.
SUBMIT = {"#SBATCH": "sbatch {}", "#BSUB": "bsub <{}", "#PBS": "qsub {}", "# ?flux:": "flux batch {}"}


def commands(number, block):
    """[(line number, text)] of a block. A script for a job system, or for a shell, is submitted as one."""
    if block.startswith("#!"):
        submit = next((command for sign, command in SUBMIT.items() if re.search(f"^{sign}", block, re.MULTILINE)), "sh {}")
        return [(number, f"cat >submitted.sh <<'END_OF_SCRIPT'\n{block}END_OF_SCRIPT\n{submit.format('submitted.sh')}")]
    found, text = [], ""
    for at, line in enumerate(block.splitlines()):
        if not text and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = at if not text else start
        text += line + "\n"
        if is_whole(text):
            found.append((number + start, text.rstrip("\n")))
            text = ""
    return found + ([(number + start, text)] if text else [])


def plain(command):
    """A command as it stands in lists: without its comment."""
    return " ".join(re.sub(r"(?<=\s)#\s.*$", "", command).split())


def missing(command, folder):
    """What a command needs and this machine has not."""
    made = sandbox.environment(folder)
    for program in PROGRAMS & set(plain(command).split()):
        if not shutil.which(program, path=made["PATH"]):
            return program
    for pattern, module in MODULES.items():
        if re.search(pattern, command):
            code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{module}'))"
            if subprocess.run([shutil.which("python3", path=made["PATH"]), "-c", code], env=made, check=False).returncode:
                return f"Python's {module}"
    if "--gpu" in command and not (BUILD / "lib" / "libdftcupti.so").exists():
        return "CUPTI"
    return None


def script(lines, folder, process):
    """A block as a script that tells the exit code of each command, and keeps its output. Later commands see what
    earlier ones set."""
    text = ["exec 8>codes"]
    for at, (_, command) in enumerate(lines):
        text.append(f"exec >out.{at} 2>&1")
        command = re.sub(r"\b12345\b", str(process), sandbox.here(command, folder))
        text.append(ENDLESS.sub(r"timeout --preserve-status -s INT 2 \1", command))
        text.append(f"echo {at} $? >&8")
    return "\n".join(text) + "\n"


def run_block(folder, lines, process):
    """[(line number, command, exit code or None, output)]."""
    (folder / "codes").unlink(missing_ok=True)
    shell = subprocess.Popen(["sh", "-c", script(lines, folder, process)], cwd=folder, env=sandbox.environment(folder), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        shell.wait(SECONDS)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(shell.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shell.wait()
    codes = dict(map(int, line.split()) for line in (folder / "codes").read_text().splitlines())
    outputs = [folder / f"out.{at}" for at in range(len(lines))]
    return [(number, command, codes.get(at), output.read_text(errors="replace") if output.exists() else "")
            for at, ((number, command), output) in enumerate(zip(lines, outputs))]


def try_page(page, template):
    """(how many ran, those left out, what went wrong)."""
    ran, skipped, wrong = 0, [], []
    lines_of = [commands(*block) for block in blocks(page)]
    with tempfile.TemporaryDirectory(prefix="docs-", dir="/var/tmp") as directory:
        folder = pathlib.Path(directory) / "here"
        shutil.copytree(template, folder, symlinks=True)
        running = sandbox.start_running(folder) if any(re.search(r"12345|--stacks|dftmerge (top|ps|control)", command)
                                                       for lines in lines_of for _, command in lines) else None
        try:
            for lines in lines_of:
                lines = [line for line in lines if plain(line[1]) not in UNRUN]
                lacking = {line: missing(line[1], folder) for line in lines}
                skipped += [f"{command}: {need} is not installed" for (_, command), need in lacking.items() if need]
                for number, command, code, output in run_block(folder, [line for line in lines if not lacking[line]], running and running.pid):
                    ran += 1
                    if code != EXPECTED.get(plain(command), (0,))[0] and not (code == 1 and MAY_FIND.search(command)):
                        how = f"exit code {code}" if code is not None else f"did not end within {SECONDS} s, or ended the shell"
                        wrong.append(f"{os.path.relpath(page, ROOT)}:{number}: {how}\n$ {command}\n{output[-2000:]}")
        finally:
            if running:
                running.kill()
                running.wait()
    return ran, skipped, wrong


def untested():
    """Commands in blocks of text, which nobody runs. A synopsis has words in brackets."""
    wrong = []
    for page in pages():
        text = page.read_text()
        for match in re.finditer(r"^ *```(?:text)?\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            wrong += [f"{page.relative_to(ROOT)}: {line}: a command in a block of text: make it `sh`, or `console` with its output"
                      for line in re.findall(r"^ *(?:\$ .*|(?:dftrun|dftmerge|python3 -m dftrace) .*)$", match[1], re.MULTILINE)
                      if "[" not in line]
    return wrong


def stale():
    """Lines of UNRUN and EXPECTED that no page has."""
    there = {plain(command) for page in pages() for block in blocks(page) for _, command in commands(*block)}
    return [f"{line}: no page has this line of UNRUN or EXPECTED in tests/docs/commands_test.py any more: take it out"
            for line in [*UNRUN, *EXPECTED] if line not in there]


WRONG = """
```sh
export WORD=kept
cat >file.txt <<'END'
it's one command
END
test "$WORD" = kept && test "
a" != b && \\
    test -s file.txt
for i in 1 2; do
    test $i != 3
done
```

1. In a list:
   ```sh
   test -z "$WORD"
   false   # a comment
   no-such-program traces/
   srun --no-such-option -n 2 ./app
   sbatch no-such-script
   podman run -e LD_PRELOAD=/none/libdftrace.so image ./app
   apt-get install no-such-package
   cmake --build build --target no-such-target
   dftmerge traces/ --no-such-option
   dftmerge traces/none
   exit 3
   ```
"""


def test_finds_what_is_wrong(template):
    """The first block is right, and of the second the first line alone."""
    with tempfile.TemporaryDirectory() as directory:
        page = pathlib.Path(directory) / "page.md"
        page.write_text(WRONG)
        first, second = blocks(page)
        assert [number for number, _ in commands(*first)] == [3, 4, 7, 10], commands(*first)
        ran, _, wrong = try_page(page, template)
        found = [line.splitlines()[1][2:] for line in wrong]
        assert found == [command for _, command in commands(*second)[1:]] and ran == len(found) + 5, wrong
        script = "#!/bin/sh\n#SBATCH -n 2 --time=10 # minutes\nsrun dftrun -o traces --no-summary -- ./app\n"
        page.write_text(f"```sh\n{script}```\n```sh\n{script.replace('--time', '--no-such')}```\n")
        ran, _, failures = try_page(page, template)
        assert ran == 2 and len(failures) == 1 and "no option --no-such=10 is known" in failures[0], failures
        assert "If the real program has it, add it to tests/docs/standins" in wrong[2], wrong[2]


@pytest.fixture(scope="module", name="template")
def folder_of_all():
    with tempfile.TemporaryDirectory(prefix="docs-", dir="/var/tmp") as directory:
        sandbox.make(pathlib.Path(directory))
        yield pathlib.Path(directory)


@pytest.mark.parametrize("page", [page for page in pages() if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, template):
    ran, left_out, failures = try_page(page, template)
    for line in left_out:
        print(f"skipped {line}")
    assert not failures, "\n".join([*failures, ADVICE])
    if not ran:
        pytest.skip("none of its lines can run here")


def test_lists():
    """No line of a list here is stale, and no command stands where nobody runs it."""
    wrong = stale() + untested()
    assert not wrong, "\n".join(wrong)
