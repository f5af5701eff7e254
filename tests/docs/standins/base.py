# SPDX-License-Identifier: MIT
"""What all stand-ins use: their options, and running the command that they are given."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

RANKS = 4  # at most
SOURCE = pathlib.Path(__file__).resolve().parents[3]
BUILD = os.environ.get("DFT_BUILD", str(SOURCE / "build"))
STANDIN = sys.argv[1] if len(sys.argv) > 1 else ""
PROGRAM = os.path.basename(STANDIN)


def fail(why):
    """Ends with a word and exit code 1."""
    sys.exit(f"{PROGRAM} (a stand-in): {why}")


def parse(words, valued="", flags=""):
    """({option: its values}, the words behind them). Options with a value take it in the next word, behind "=", or at
    once."""
    valued, flags, options, words = valued.split(), flags.split(), {}, list(words)
    while words and re.match("-.", words[0]):
        word = words.pop(0)
        name, equals, value = word.partition("=")
        short = word[:2]
        if word == "--":
            break
        if word in flags:
            options.setdefault(word, []).append("")
        elif name in valued and equals:
            options.setdefault(name, []).append(value)
        elif word in valued:
            if not words:
                fail(f"{word} wants a value")
            options.setdefault(word, []).append(words.pop(0))
        elif short in valued and not word.startswith("--"):
            options.setdefault(short, []).append(word[2:])
        else:
            fail(f"no option {word} is known. If the real program has it, add it to tests/docs/standins")
    return options, words


def one(options, *names):
    return next((options[name][-1] for name in names if name in options), None)


def number(options, *names):
    value = one(options, *names) or "1"
    if not value.isdigit() or int(value) < 1:
        fail(f"{names[0]} {value} is not a number of ranks")
    return min(int(value), RANKS)


def run(command, **variables):
    """The exit code of a command."""
    if not command:
        fail("a command is missing")
    try:
        return subprocess.run(command, env={**os.environ, **variables}, check=False).returncode
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")


def run_ranks(count, command, variables):
    """All ranks after each other; VARIABLES are those of a rank. Returns the worst exit code."""
    return max(abs(run(command, **{name: str(value) for name, value in variables(rank, count).items()})) for rank in range(count))


def real(program):
    """The real program's path, or None."""
    return shutil.which(program, path=":".join(part for part in os.environ["PATH"].split(":") if part != os.path.dirname(STANDIN)))
