# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: programs run under the preloaded library, and the events read back."""

from __future__ import annotations

import collections
import json
import os
import pathlib
import subprocess
import sys
import textwrap
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DFT_BUILD", ROOT / "build")).resolve()
TREE = BUILD / "python"
LIBRARY = BUILD / "lib" / "libdftrace.so"
DFTMERGE = BUILD / "bin" / "dftmerge"
DFTRUN = BUILD / "bin" / "dftrun"
SECONDS = 600  # what takes longer hangs
Event = Dict[str, Any]


class Done(NamedTuple):
    """A program that has ended: its exit code, its output, its traces."""

    code: int
    out: str
    err: str
    traces: pathlib.Path

    def events(self, *options: str) -> List[Event]:
        """All events, as `dftmerge dump --json` prints them; times in nanoseconds."""
        return dump(self.traces, *options)

    def named(self, name: str) -> List[Event]:
        """The events of this name, begins of spans left out."""
        return [event for event in self.events() if event["name"] == name and event.get("phase") != "async_begin"]

    def own(self) -> List[Event]:
        """The events of annotations, without begins of spans and metadata."""
        return [event for event in self.events() if event["cat"] not in ("POSIX", "STDIO", "PROCESS")
                and event.get("phase") not in ("async_begin", "metadata")]

    def counted(self) -> Dict[Tuple[str, str], int]:
        """How many of these there are of each category and name."""
        return dict(collections.Counter((event["cat"], event["name"]) for event in self.own()))


def environment(**more: Optional[object]) -> Dict[str, str]:
    """The caller's, without what would trace this or say where; None removes a variable."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DFTRACE", "LD_PRELOAD", "PYTHON"))}
    env["PYTHONPATH"] = str(TREE)
    for name, value in more.items():
        env.pop(name, None)
        if value is not None:
            env[name] = str(value)
    return env


def run(command: Sequence[object], folder: pathlib.Path, env: Optional[Dict[str, str]] = None,
        stdin: Optional[str] = None) -> Done:
    """Runs a command in the folder; its traces are expected in folder/traces."""
    done = subprocess.run([str(word) for word in command], cwd=folder, env=env or environment(), timeout=SECONDS,
                          input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, errors="replace")
    return Done(done.returncode, done.stdout, done.stderr, folder / "traces")


def tracing(folder: pathlib.Path, **more: Optional[object]) -> Dict[str, str]:
    """The environment that preloads the library and traces into folder/traces; DFTRACER_ settings by name."""
    (folder / "traces").mkdir(exist_ok=True)
    settings: Dict[str, Optional[object]] = {"LD_PRELOAD": LIBRARY, "DFTRACER_ENABLE": 1,
                                             "DFTRACER_LOG_FILE": folder / "traces" / "t", "DFTRACER_DATA_DIR": folder}
    settings.update(more)
    return environment(**settings)


def python(program: str, folder: pathlib.Path, *arguments: object, plain: bool = False, check: bool = True,
           executable: str = sys.executable, **more: Optional[object]) -> Done:
    """Writes the program to folder/program.py and runs it, traced unless plain; `more` is for the environment."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8", errors="surrogatepass")
    env = environment(**more) if plain else tracing(folder, **more)
    done = run([executable, path, *arguments], folder, env)
    if check and done.code:
        raise AssertionError(f"exit code {done.code}: {done.err}")
    return done


def dump(traces: pathlib.Path, *options: str) -> List[Event]:
    """All events of the traces in a folder, as `dftmerge dump --json` prints them."""
    done = subprocess.run([str(DFTMERGE), "dump", "--json", *options, str(traces)], check=False, timeout=SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"dftmerge dump: {done.stderr.decode(errors='replace')}")
    return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


def merge(*arguments: object) -> Done:
    """Runs dftmerge."""
    return run([DFTMERGE, *arguments], ROOT)
