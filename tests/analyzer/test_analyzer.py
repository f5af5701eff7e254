# SPDX-License-Identifier: MIT
"""What gcc -fanalyzer warns of: each warning is mended, or known.txt says why it is false.

The tree is built in build-analyzer, all anew, with gcc-12.

A line of known.txt is 'room function option: reason'. It has no line number, so other edits leave it alone. One line
stands for all warnings of that option in that function. A warning without a line fails, and so does a line without a
warning. Another version of gcc warns of other things: the list is that of gcc 12.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
KNOWN = pathlib.Path(__file__).with_name("known.txt")
FUNCTION = re.compile(r"^(?:\S+: )?In function '(\w+)")
SOURCE = re.compile(r"Building C object (\S+)/CMakeFiles/[^/]+\.dir/(\S+\.c)\.o$")
WARNING = re.compile(r": warning: .*\[-W(analyzer-[\w-]+)\]$")
ENTRY = re.compile(r"(\S+ \w+ analyzer-[\w-]+): \S.*")


def build_log(build):
    """All that a build says; the build itself must succeed."""
    environment = dict(os.environ, CC="gcc-12", LC_ALL="C")
    flags = "-DCMAKE_C_FLAGS=-fanalyzer -fdiagnostics-plain-output"
    subprocess.run(["cmake", "-S", TOP, "-B", build, "-G", "Ninja", "-DDFT_TESTS=OFF", flags], env=environment, check=True)
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    built = subprocess.run(["cmake", "--build", build, "--clean-first", "-j", jobs], env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert not built.returncode, built.stdout[-4000:]
    return built.stdout


def warnings_of(log):
    """{'room function option': first line of the warning}."""
    found, room, function = {}, "?", "?"
    for line in log.splitlines():
        if match := SOURCE.search(line):
            room, function = os.path.dirname(f"{match[1]}/{match[2]}"), "?"
        elif match := FUNCTION.match(line):
            function = match[1]
        elif match := WARNING.search(line):
            found.setdefault(f"{room} {function} {match[1]}", line)
    return found


def known_entries():
    """The keys of known.txt."""
    entries = set()
    for number, line in enumerate(KNOWN.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            match = ENTRY.fullmatch(line)
            assert match, f"{KNOWN}:{number}: '{line}' is no line 'room function option: reason'"
            entries.add(match[1])
    return entries


@pytest.mark.skipif(not shutil.which("gcc-12"), reason="gcc-12 is not installed")
def test_warnings():
    known, found = known_entries(), warnings_of(build_log(TOP / "build-analyzer"))
    wrong = [f"new: {key}\n    {found[key]}\n    mend the cause, or say in {KNOWN.name} why the warning is false" for key in sorted(found.keys() - known)]
    wrong += [f"{KNOWN.name}: {key}: gcc no longer warns of this: remove the line" for key in sorted(known - found.keys())]
    assert not wrong, "\n".join(wrong)
