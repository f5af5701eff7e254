# SPDX-License-Identifier: MIT
"""The I/O of this process, and of the processes that it has started, between two moments.

The moments are two instants of the same name in this process's trace, so the trace's own clock says which calls lie
between. Of a process that was started meanwhile all calls count; of one that was there before, those between.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, Sequence, Set, Tuple

import dftrace

from . import _merge

_NAME = re.compile(r"-(\d+)-(\d+)-[0-9a-f]{1,16}\.dft\Z")
_OWN_TABLE = ("none PART /__pycache__/", "none PART /.pytest_cache/")
_count = 0
_others: Set[str] = set()  # files of processes that are none of ours, or that have ended
_begins: Dict[str, int] = {}  # of a trace file: start of its first process


def output_files() -> List[str]:
    """What standard output and standard error are, where they are files."""
    found = []
    for fd in (1, 2):
        try:
            path = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if path.startswith("/") and not path.startswith("/dev/"):
            found.append(path[:-len(" (deleted)")] if path.endswith(" (deleted)") else path)
    return sorted(set(found))


def table(outputs: Sequence[str]) -> str:
    """Classes for dftmerge: what a program prints, and what Python and pytest keep for the next time, is no I/O."""
    return "\n".join([*_OWN_TABLE, *(f"none START {path}" for path in outputs if len(path) > 4)]) + "\n"


def files() -> Set[str]:
    """The names of all traces that lie beside this process's."""
    before = os.path.basename(_merge.START)
    try:
        names = os.listdir(_merge.directory())
    except OSError:
        return set()
    names = [name[:-5] if name.endswith(".live") else name for name in names if name.startswith(before)]
    return {name for name in names if _NAME.search(name)}


def own_file(names: Set[str]) -> str:
    """The trace of this process. Raises Unknown."""
    mine = []
    for name in names:
        match = _NAME.search(name)
        if match and int(match[1]) == os.getpid():
            mine.append((int(match[2]), name))
    if not mine:
        raise _merge.Unknown(f"no trace of this process in {_merge.directory()}")
    return max(mine)[1]


class Window:
    """Begin and end of what shall be counted; then questions about it."""

    def __init__(self, name: str, ignored: Sequence[str] = ()) -> None:
        """name: what the two instants are called, with a number. ignored: files and folders that do not count."""
        global _count
        _count += 1
        self._name = f"{name} {_count}"
        with dftrace.paused(thread=True):
            self._outputs = [*output_files(), *ignored]
            self._before = files()
        self._parts: List[Tuple[List[str], List[str]]] = []  # options and files of one question each
        dftrace.instant(self._name)

    def end(self) -> None:
        """The window ends."""
        dftrace.instant(self._name)
        dftrace.flush()

    def find(self) -> None:
        """Looks for the traces of the window, which has ended. Raises Unknown where it is in none."""
        names = files()
        own = own_file(names)
        old, new = self._related(own, names)
        self._parts = [(self._bounds(own), self._paths([own, *old]))]
        if new:
            self._parts.append(([], self._paths(new)))

    def ask(self, keys: str) -> List[Dict[str, Any]]:
        """The groups of `dftmerge summary --by keys` in the window, of each part. Raises Unknown."""
        groups: List[Dict[str, Any]] = []
        for number, (options, paths) in enumerate(self._parts):
            answer = _merge.ask(["summary", "--by", keys, *options], paths, table(self._outputs))
            if answer["calls_from_aggregates"]:
                raise _merge.Unknown("the trace has aggregates alone, which do not say when a call was made")
            if answer["dropped"] or answer["events_missing"]:
                raise _merge.Unknown("the trace is not complete: " + json.dumps(answer["dropped"]))
            groups += [dict(group, child=number > 0) for group in answer["groups"]]
        return groups

    def _paths(self, names: Sequence[str]) -> List[str]:
        folder = _merge.directory()
        paths = [os.path.join(folder, name) for name in names]
        return [path if os.path.exists(path) else path + ".live" for path in paths]

    def _bounds(self, own: str) -> List[str]:
        path = self._paths([own])
        lines = _merge.ask_text(["dump", "--json", "--unsorted", "--name", self._name], path).splitlines()
        times = [json.loads(line)["ts"] for line in lines]
        if len(times) != 2:
            raise _merge.Unknown("the trace has no event of the test: aggregates alone are kept, or nothing")
        if own not in _begins:
            _begins[own] = min(process["start_ns"] for process in _merge.ask(["ps"], path)["processes"])
        begin = _begins[own]
        return ["--from", f"{times[0] - begin}ns", "--to", f"{times[1] - begin}ns"]

    def _related(self, own: str, names: Set[str]) -> Tuple[List[str], List[str]]:
        """The traces of processes that this one has started: those before the window, and those within."""
        others = sorted(names - _others - {own})
        if not others:
            return [], []
        processes = _merge.ask(["ps"], self._paths([own, *others]))["processes"]
        children: Dict[Any, List[Any]] = {}
        for process in processes:
            children.setdefault(process["child_of"], []).append(process)
        mine = [p["key"] for p in processes if _stem(p["file"] or p["live_file"]) == own]
        found: Set[str] = set()
        while mine:
            for process in children.get(mine.pop(), ()):
                mine.append(process["key"])
                found.add(_stem(process["file"] or process["live_file"]))
        alive = {_stem(p["file"] or p["live_file"]) for p in processes if p["ended"] in ("running", "unknown")}
        _others.update(name for name in others if name not in found or name not in alive)
        found.discard(own)
        return sorted(found & self._before), sorted(found - self._before)


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return name[:-5] if name.endswith(".live") else name
