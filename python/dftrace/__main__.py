# SPDX-License-Identifier: MIT
"""`python -m dftrace COMMAND`: finds the module of the command and runs it."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from typing import List

# What each command is for. The module dftrace.COMMAND has main(arguments), which returns the exit code.
COMMANDS = {"run": "run a Python program under the I/O tracer",
            "kernel": "start or install a kernel of Jupyter under the I/O tracer"}


def main(arguments: List[str]) -> int:
    """Runs the command that the first argument names; the others are the command's."""
    if not arguments or arguments[0] in ("-h", "--help"):
        lines = "".join(f"  {name:10} {what}\n" for name, what in COMMANDS.items())
        print(f"usage: python -m dftrace COMMAND [ARGUMENT...]\n\n{lines}\npython -m dftrace COMMAND --help says more. "
              "For example: python -m dftrace run train.py", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print("dftrace", importlib.import_module("dftrace").__version__)
        return 0
    if arguments[0] not in COMMANDS:
        near = difflib.get_close_matches(arguments[0], COMMANDS, 1)
        print(f"dftrace: there is no command '{arguments[0]}'" +
              (f". Did you mean {near[0]}?" if near else ": python -m dftrace --help"), file=sys.stderr)
        return 2
    code: int = importlib.import_module(f"dftrace.{arguments[0]}").main(arguments[1:])
    return code


if __name__ == "__main__":
    if not __package__:  # `python -I FOLDER/dftrace run`: the folder is on sys.path, and not the one that it is in
        sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.exit(main(sys.argv[1:]))
