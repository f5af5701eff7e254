# SPDX-License-Identifier: MIT
"""Limits of I/O as people write them: bytes="10 MiB", opens=100, time="50 ms"."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Tuple

from . import _merge

_SCALES = {"": 1.0, "b": 1.0}
for _power, _letter in enumerate("kmgt", 1):
    _SCALES.update({_letter + "b": 1000.0**_power, _letter + "ib": 1024.0**_power, _letter: 1024.0**_power})
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "": 1e9}
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)\s*\Z")


class Wrong(ValueError):
    """A limit that cannot be understood; the text says what can be written."""


@dataclass(frozen=True)
class Kind:
    """What can be limited: its unit, and how much of it calls of one operation and class are."""

    unit: str  # "bytes", "calls" or "ns"
    noun: str
    take: Callable[[Mapping[str, Any]], int]


def _of(member: str, *classes: str) -> Callable[[Mapping[str, Any]], int]:
    return lambda group: int(group[member]) if group["class"] in classes else 0


def _opens(group: Mapping[str, Any]) -> int:
    return int(group["count"] - group["errors"]) if group["op"] in ("OPEN", "FOPEN") else 0


def _writes(group: Mapping[str, Any]) -> int:
    return int(group["count"]) if group["class"] == "write" and group["op"] != "FFLUSH" else 0


IO = ("read", "write", "sync", "meta")
KINDS = {
    "bytes": Kind("bytes", "read and written", _of("bytes", "read", "write")),
    "read": Kind("bytes", "read", _of("bytes", "read")),
    "written": Kind("bytes", "written", _of("bytes", "write")),
    "opens": Kind("calls", "files opened", _opens),
    "reads": Kind("calls", "calls that read", _of("count", "read")),
    "writes": Kind("calls", "calls that write", _writes),
    "fsyncs": Kind("calls", "fsync and the like", _of("count", "sync")),
    "stats": Kind("calls", "stat and the like", lambda group: int(group["count"]) if group["op"] == "STAT" else 0),
    "failed": Kind("calls", "calls that failed", _of("errors", *IO)),
    "calls": Kind("calls", "calls of any kind", _of("count", *IO)),
    "time": Kind("ns", "in these calls", _of("time_ns", *IO)),
}
Sums = Dict[str, int]


def _scaled(name: str, value: object, scales: Mapping[str, float], example: str) -> int:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number, unit = float(value), ""
    else:
        match = _NUMBER.match(value) if isinstance(value, str) else None
        number, unit = (float(match[1]), match[2].lower()) if match else (-1.0, "")
    if not 0 <= number < math.inf or unit not in scales:
        raise Wrong(f"limit_io: {name}={value!r} is no amount; write {name}={example}")
    return int(number * scales[unit])


def parse(given: Mapping[str, object]) -> Sums:
    """Limits by name: bytes, calls or nanoseconds. Raises Wrong, with the nearest name."""
    limits: Sums = {}
    for name, value in given.items():
        kind = KINDS.get(name)
        if kind is None:
            near = difflib.get_close_matches(name, KINDS, 1, 0.5)
            raise Wrong(f"limit_io does not know {name}. " +
                        (f"Did you mean {near[0]}?" if near else f"It knows {', '.join(KINDS)}"))
        if kind.unit == "bytes":
            limits[name] = _scaled(name, value, _SCALES, '"10 MiB"')
        elif kind.unit == "ns":
            limits[name] = _scaled(name, value, _TIMES, '"50 ms"')
        elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            limits[name] = value
        else:
            raise Wrong(f"limit_io: {name}={value!r} is no number of calls; write {name}=100")
    return limits


def of_marks(marks: Iterable[Any]) -> Sums:
    """The limits of all marks of a test, the closest first. Raises Wrong."""
    given: Dict[str, object] = {}
    for mark in marks:
        if mark.args:
            first = f"bytes={mark.args[0]!r}" if len(mark.args) == 1 and not mark.kwargs else 'bytes="10 MiB", opens=100'
            raise Wrong(f"limit_io takes names: write limit_io({first})")
        for name, value in mark.kwargs.items():
            given.setdefault(name, value)
    if not given:
        raise Wrong('limit_io limits nothing: limit_io(bytes="10 MiB", opens=100)')
    return parse(given)


def sums(groups: Iterable[Mapping[str, Any]], names: Iterable[str]) -> Sums:
    """How much the groups of dftmerge summary --by op,class are, by name."""
    total = dict.fromkeys(names, 0)
    for group in groups:
        if group["class"] in IO:
            for name in total:
                total[name] += KINDS[name].take(group)
    return total


def text(name: str, value: int) -> str:
    """An amount as people read it."""
    unit = KINDS[name].unit
    if unit == "bytes":
        return _merge.size(value)
    return _merge.duration(value) if unit == "ns" else f"{value:,}"


def exceeded(done: Sums, limits: Sums) -> List[str]:
    """The names whose limit was passed, in the order of KINDS."""
    return [name for name in KINDS if name in limits and done[name] > limits[name]]


def _amounts(name: str, done: int, limit: int) -> Tuple[str, str]:
    """Both amounts; with all digits where they would look the same."""
    both = text(name, done), text(name, limit)
    if both[0] == both[1] and KINDS[name].unit != "calls":
        unit = "B" if KINDS[name].unit == "bytes" else "ns"
        return f"{done:,} {unit}", f"{limit:,} {unit}"
    return both


def verdict(done: Sums, limits: Sums) -> List[str]:
    """Lines that hold what was done against the limits that it passed."""
    rows = [(name, *_amounts(name, done[name], limits[name]), KINDS[name].noun) for name in exceeded(done, limits)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}, limit {row[2]:>{widths[2]}}  ({row[3]})" for row in rows]
