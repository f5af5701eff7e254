# SPDX-License-Identifier: MIT
"""`python -m dftrace kernel`: starts the Python kernel of Jupyter under the I/O tracer, and tells Jupyter of it."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Dict, List, NoReturn, Optional

from dftrace import _find, _preload, run

HELP = """\
usage: python -m dftrace kernel install [OPTION...]
       python -m dftrace kernel [-o DIR] [--stack [N]] -f FILE
`install` adds a kernel to Jupyter's list: "Python 3 (dftrace)". The I/O of its notebooks is traced.
The second form is what Jupyter runs for a notebook with that kernel.

  --user               for this user (default)
  --prefix DIR         into DIR/share/jupyter/kernels, such as that of a virtual environment
  --name NAME          the folder of the kernel, and its name for Jupyter (default: python3-dftrace)
  --display-name TEXT  what Jupyter shows (default: Python 3 (dftrace))
  -o, --output DIR     directory for the traces (default: traces, in the notebook's folder)
  --stack [N]          record call stacks up to N frames deep, for `%%dftrace --by line` (default: 16)
  -h, --help           this text

Example:
  python -m dftrace kernel install --user
"""
USAGE = 2
VALUES = {"--prefix", "--name", "--display-name", "--output"}
SWITCHES = {"--user", "--stack", "--help"}
SHORT = {"-o": "--output", "-h": "--help"}
WHY_NOT = "DFTRACE_KERNEL"  # why the kernel is not traced, for %load_ext dftrace


class Usage(Exception):
    """Wrong usage; its text says what to do."""


@dataclass
class Wish:
    """What the command line asks for; `rest` is for ipykernel."""

    install: bool = False
    options: Dict[str, str] = field(default_factory=dict)
    rest: List[str] = field(default_factory=list)

    @property
    def stack(self) -> int:
        """How many frames of the call stack each event shall have."""
        return int(self.options.get("--stack", "0"))


def _deny(option: str) -> NoReturn:
    near = difflib.get_close_matches(option, [*VALUES, *SWITCHES, "install"], 1)
    what = "option" if option.startswith("-") else "command"
    raise Usage(f"there is no {what} {option}" + (f". Did you mean {near[0]}?" if near else
                                                  ": python -m dftrace kernel --help"))


def parse(arguments: List[str]) -> Wish:
    """Reads the command line behind `kernel`. Raises Usage."""
    wish, words = Wish(), list(arguments)
    if words and words[0] == "install":
        wish.install = True
        words.pop(0)
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        name = SHORT.get(option, option)
        if name in VALUES:
            if not equals and not words:
                raise Usage(f"{option}: its value is missing: python -m dftrace kernel --help")
            wish.options[name] = value if equals else words.pop(0)
        elif name == "--stack":
            wish.options[name] = value if equals else words.pop(0) if words and words[0].isdigit() else "16"
            if not run.is_depth(wish.options[name]):
                raise Usage(f"{run.DEPTHS}, not '{wish.options[name]}'")
        elif name in SWITCHES:
            wish.options[name] = ""
        elif wish.install or not (word == "-f" or wish.rest):
            _deny(option)
        else:  # -f and all behind it
            wish.rest += [word, *words]
            words = []
    if "--user" in wish.options and "--prefix" in wish.options:
        raise Usage("--user and --prefix: one of the two")
    return wish


def _is_found_by_path() -> bool:
    """Does Python find this package by PYTHONPATH alone?"""
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return above in [os.path.abspath(path) for path in given if path]


def specification(wish: Wish) -> Dict[str, object]:
    """The kernel.json: how Jupyter starts the kernel."""
    command = [sys.executable, "-m", "dftrace", "kernel"]
    if "--output" in wish.options:
        command += ["--output", os.path.abspath(wish.options["--output"])]
    if wish.stack:
        command.append(f"--stack={wish.stack}")
    names = ["DFTRACE_HOME"] + (["PYTHONPATH"] if _is_found_by_path() else [])
    return {"argv": [*command, "-f", "{connection_file}"],
            "display_name": wish.options.get("--display-name", "Python 3 (dftrace)"),
            "language": "python", "metadata": {"debugger": True},
            "env": {name: os.environ[name] for name in names if os.environ.get(name)}}


def install(wish: Wish) -> int:
    """Writes the kernel's specification where Jupyter looks for it. Returns the exit code."""
    missing = [name for name in ("ipykernel", "jupyter_client") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"dftrace kernel: {' and '.join(missing)} missing for {sys.executable}: install ipykernel "
              "(Debian: python3-ipykernel)", file=sys.stderr)
        return 1
    specifications = importlib.import_module("jupyter_client.kernelspec").KernelSpecManager()
    prefix = wish.options.get("--prefix")
    try:
        _find.library()
        with tempfile.TemporaryDirectory(prefix="dftrace-kernel-") as folder:
            with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
                json.dump(specification(wish), file, indent=1)
            path = specifications.install_kernel_spec(
                folder, kernel_name=wish.options.get("--name", "python3-dftrace"), user=prefix is None,
                prefix=os.path.abspath(prefix) if prefix is not None else None)
    except (OSError, ValueError) as error:
        print(f"dftrace kernel: {error}", file=sys.stderr)
        return 1
    where = os.path.abspath(wish.options["--output"]) if "--output" in wish.options else "traces, in its folder"
    print(f"installed in {path}; a notebook's traces go to {where}\n"
          f"choose the kernel \"{wish.options.get('--display-name', 'Python 3 (dftrace)')}\", then: %load_ext dftrace")
    return 0


def _directory(wished: Optional[str]) -> str:
    """Where the traces go: what was wished, else traces, else a folder in the user's cache where that cannot be."""
    if wished is not None or os.access("traces" if os.path.isdir("traces") else ".", os.W_OK | os.X_OK):
        return os.path.abspath(wished or "traces")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "dftrace", "traces")


def start(wish: Wish) -> int:
    """Executes ipykernel in place of this process, traced. A kernel that cannot be traced starts all the same."""
    if importlib.util.find_spec("ipykernel") is None:
        print(f"dftrace kernel: ipykernel is missing for {sys.executable} (Debian: python3-ipykernel)", file=sys.stderr)
        return 1
    variables = dict(os.environ)
    if not _preload.is_preloaded():
        try:
            directory = _directory(wish.options.get("--output"))
            variables = _preload.environment(directory, "kernel", wish.stack)
            print(f"dftrace kernel: traces go to {directory}", file=sys.stderr)
        except OSError as error:
            variables[WHY_NOT] = str(error)
            print(f"dftrace kernel: not traced: {error}", file=sys.stderr)
    sys.stderr.flush()
    command = [sys.executable, "-m", "ipykernel_launcher", *wish.rest]
    os.execve(sys.executable, command, variables)


def main(arguments: List[str]) -> int:
    """Installs or starts the kernel. Returns an exit code."""
    try:
        wish = parse(arguments)
        if "--help" in wish.options:
            sys.stdout.write(HELP)
            return 0
        if not wish.install and not wish.rest:
            raise Usage("install it, or name the connection file by -f: python -m dftrace kernel --help")
    except Usage as error:
        print(f"dftrace kernel: {error}", file=sys.stderr)
        return USAGE
    return install(wish) if wish.install else start(wish)
