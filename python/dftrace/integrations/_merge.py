# SPDX-License-Identifier: MIT
"""Questions to dftmerge about the traces of this process, and how people read the answers."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Iterable, List, Sequence

from dftrace import _find

START = os.path.abspath(os.environ.get("DFTRACER_LOG_FILE") or "./trace")  # before anybody changes the directory


class Unknown(Exception):
    """What was asked for is not known; the text says why."""


def directory() -> str:
    """The folder of the traces."""
    return START if START.endswith("/") else os.path.dirname(START)


def ask_text(arguments: Sequence[str], paths: Iterable[str], table: str = "") -> str:
    """What dftmerge prints on standard output. table: classes of files, for --classes.

    dftmerge is not traced. What this process does for it is, unless the caller has paused. Raises Unknown.
    """
    variables = {key: value for key, value in os.environ.items()
                 if key not in ("LD_PRELOAD", "DFTRACER_FOLLOW_EXEC", "DFTRACER_ENABLE")}
    command: List[str] = []
    try:
        command = [_find.tool("dftmerge"), *arguments, "--quiet"]
        if table:
            command += ["--classes", "/dev/stdin"]
        done = subprocess.run([*command, "--", *paths], input=table, env=variables, encoding="utf-8",
                              errors="surrogateescape", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Unknown(str(error)) from error
    if done.returncode not in (0, 1):
        raise Unknown(done.stderr.strip().partition("\n")[0])
    return done.stdout


def ask(arguments: Sequence[str], paths: Iterable[str], table: str = "") -> Dict[str, Any]:
    """The JSON object that dftmerge prints; see ask_text."""
    text = ask_text([*arguments, "--json"], paths, table)
    if not text:
        raise Unknown(f"dftmerge {arguments[0]} has no answer")
    answer: Dict[str, Any] = json.loads(text)
    return answer


def size(count: float) -> str:
    """A number of bytes, as dftmerge writes it: 9.77 KiB."""
    unit = ""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            break
        count /= 1024
    return f"{count:.0f} B" if unit == "B" else f"{_three(count)} {unit}"


def duration(ns: float) -> str:
    """A time in nanoseconds, as dftmerge writes it: 6.16 ms."""
    for unit, scale in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * scale:
            return f"{ns:.0f} ns" if unit == "ns" else f"{_three(ns / scale)} {unit}"
    return f"{_three(ns / 1e9)} s"


def _three(number: float) -> str:
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"
