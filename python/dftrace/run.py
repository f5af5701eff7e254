# SPDX-License-Identifier: MIT
"""`python -m dftrace run`: runs a Python program under dftrun, with what names its processes."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass, field
from typing import Dict, List, NoReturn, Optional

from dftrace import _find

HELP = """\
usage: python -m dftrace run [OPTION...] [--] SCRIPT | -m MODULE | -c CODE [ARGUMENT...]
Runs a Python program under the I/O tracer, then prints where its I/O time went (on standard error).

  -o, --output DIR   directory for the trace files (default: traces)
      --stack [N]    record call stacks up to N frames deep, with Python's lines (default: 16)
      --torch        record what PyTorch's data loaders and optimizers do
      --fsspec       record what fsspec's file systems do
      --no-roles     do not name processes (MainProcess, DataLoader worker 3/8, SpawnPoolWorker-1)
      --aggregate, --data-dir D, --node, -b/--by KEYS, -n/--top N, --json FILE, --no-summary, -q/--quiet:
                     those of dftrun: dftrun --help
  -h, --help         this text

The interpreter is the one that runs this, with its own options (-X, -W, -O ...). The exit code of the program, or the
signal that it dies of, is that of this command.

Examples:
  python -m dftrace run train.py --epochs 3
  python -m dftrace run -o /scratch/traces --torch --data-dir /data -- train.py
  mpirun -n 4 python -m dftrace run -m package.train
"""
DEPTHS = "--stack takes a number of frames, 1 to 128 (0: no call stacks)"
USAGE = 2
OWN = 125
SWITCHES = {"--torch", "--fsspec", "--no-roles"}
PASSED = {"--aggregate": False, "--data-dir": True, "--node": False, "--by": True, "--top": True, "--json": True,
          "--no-summary": False, "--quiet": False, "--output": True}
SHORT = {"-o": "--output", "-b": "--by", "-n": "--top", "-q": "--quiet", "-h": "--help"}
STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


class Usage(Exception):
    """Wrong usage; its text says what to do."""


@dataclass
class Wish:
    """What the command line asks for."""

    dftrun: List[str] = field(default_factory=list)
    switches: List[str] = field(default_factory=list)
    stack: Optional[str] = None
    program: List[str] = field(default_factory=list)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def is_depth(text: str) -> bool:
    """Is this a number of frames that stacks can have?"""
    return _is_number(text) and len(text) < 9 and int(text) <= 128


def _deny(option: str) -> NoReturn:
    words = [*PASSED, *SWITCHES, "--stack", "--help"]
    near = difflib.get_close_matches(option, words, 1) if option.startswith("--") else []
    raise Usage(f"there is no option {option}" + (f". Did you mean {near[0]}?" if near else
                                                  ": python -m dftrace run --help"))


def _value(option: str, given: Optional[str], rest: List[str]) -> str:
    if given is not None:
        return given
    if not rest:
        raise Usage(f"{option}: its value is missing: python -m dftrace run --help")
    return rest.pop(0)


def parse(arguments: List[str]) -> Optional[Wish]:
    """Reads the command line behind `run`. Returns None when help is asked for; raises Usage."""
    wish, rest = Wish(), list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "-m", "-c"):
        word = rest.pop(0)
        if word == "--":
            break
        option, given = word, None
        if word.startswith("--") and "=" in word:
            option, given = word.split("=", 1)
        elif not word.startswith("--") and len(word) > 2 and word[:2] in ("-o", "-b", "-n"):
            option, given = word[:2], word[2:]
        name = SHORT.get(option, option)
        if name == "--help":
            return None
        if name == "--stack":
            wish.stack = given if given is not None else rest.pop(0) if rest and _is_number(rest[0]) else "16"
            if not is_depth(wish.stack):
                raise Usage(f"{DEPTHS}, not '{wish.stack}'")
        elif name not in SWITCHES and name not in PASSED:
            _deny(option)
        elif PASSED.get(name):
            wish.dftrun += [name, _value(option, given, rest)]
        elif given is not None:
            raise Usage(f"{name} takes no value")
        else:
            (wish.switches if name in SWITCHES else wish.dftrun).append(name)
    wish.program = rest
    _check_program(rest)
    return wish


def _check_program(program: List[str]) -> None:
    if not program:
        raise Usage("which program shall be traced? For example: python -m dftrace run train.py")
    if program[0] in ("-m", "-c"):
        if len(program) < 2:
            raise Usage(f"{program[0]}: its value is missing: python -m dftrace run --help")
    elif program[0] != "-" and not os.path.exists(program[0]):
        raise Usage(f"there is no file '{program[0]}'; nothing was run")


def interpreter_options() -> List[str]:
    """The options that this interpreter was started with, as they can be given to another one."""
    with open("/proc/self/cmdline", "rb") as file:
        line = [os.fsdecode(word) for word in file.read().split(b"\0")[1:-1]]
    options: List[str] = []
    while line and line[0].startswith("-") and len(line[0]) > 1:
        word = line.pop(0)
        if word.startswith("--"):
            options.append(word)
            if word == "--check-hash-based-pycs" and line:
                options.append(line.pop(0))
            continue
        letters = word[1:]
        ends = min((letters.index(letter) for letter in "mcXW" if letter in letters), default=-1)
        if ends < 0:
            options.append(word)
        elif letters[ends] in "mc":
            return options + (["-" + letters[:ends]] if ends else [])
        else:
            options.append(word)
            if ends == len(letters) - 1 and line:
                options.append(line.pop(0))
    return options


def environment(wish: Wish, before: Dict[str, str], has_site: bool) -> Dict[str, str]:
    """The program's variables: those of before, DFTRACE_PYTHON, and PYTHONPATH with the startup folder in front."""
    after = dict(before)
    wanted = [] if "--no-roles" in wish.switches else ["roles"]
    wanted += [name for name in ("torch", "fsspec") if "--" + name in wish.switches]
    if wish.stack not in (None, "0"):
        wanted.append("stack")
    after.pop("DFTRACE_PYTHON", None)
    others = [path for path in before.get("PYTHONPATH", "").split(os.pathsep) if path != STARTUP]
    if wanted and has_site:
        after["DFTRACE_PYTHON"] = ",".join(wanted)
        others = [STARTUP] + (others if others != [""] else [])
    if others != [""] or "PYTHONPATH" in before:
        after["PYTHONPATH"] = os.pathsep.join(others)
    return after


def is_traced(before: Dict[str, str]) -> bool:
    """Has the preload begun already, as under dftrun?"""
    return "libdftrace.so" in before.get("LD_PRELOAD", "") and before.get("DFTRACER_ENABLE") == "1"


def main(arguments: List[str]) -> int:
    """Runs the program in place of this one. Returns only where that fails: an exit code."""
    try:
        wish = parse(arguments)
        if wish is None:
            sys.stdout.write(HELP)
            return 0
        if not sys.executable:
            raise Usage("this Python does not know its own file (sys.executable); run dftrun -- PYTHON SCRIPT")
    except Usage as error:
        print(f"dftrace run: {error}", file=sys.stderr)
        return USAGE
    command = [sys.executable, *interpreter_options(), *wish.program]
    variables = environment(wish, dict(os.environ), not sys.flags.no_site)
    sys.stdout.flush()
    if is_traced(dict(os.environ)):
        if wish.dftrun:
            print(f"dftrace run: already traced: {' '.join(wish.dftrun)} has no effect", file=sys.stderr)
        if wish.stack:
            variables["DFTRACER_STACK"] = wish.stack
        return _execute(command[0], command, variables)
    try:
        dftrun = _find.tool("dftrun")
    except FileNotFoundError as error:
        print(f"dftrace run: {error}", file=sys.stderr)
        return OWN
    stack = [f"--stack={wish.stack}"] if wish.stack is not None else []
    return _execute(dftrun, [dftrun, *wish.dftrun, *stack, "--", *command], variables)


def _execute(file: str, command: List[str], variables: Dict[str, str]) -> int:
    try:
        os.execve(file, command, variables)
    except OSError as error:
        print(f"dftrace run: cannot run '{file}': {error.strerror}", file=sys.stderr)
        return OWN
