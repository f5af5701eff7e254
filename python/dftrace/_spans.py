# SPDX-License-Identifier: MIT
"""Reads databases of spans: dftrace.spans("workflow.db") and what it answers. dftmerge does the work."""

from __future__ import annotations

import os
import pathlib
import sqlite3
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from dftrace._table import Row, Table
from dftrace.trace import TraceError, _answer, _table

ROOT = "parsl.monitoring.task"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


class Spans:
    """Spans of workflows in a database; each method asks dftmerge spans, and TraceError says what was wrong.

    An event is "SPANTYPE/EVENT", or "EVENT" where one type of spans has it.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"dftrace.spans({self.path!r})"

    def _ask(self, verb: str, **options: Union[str, float, bool, None]) -> Row:
        given = [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()
                 if value is not None and value is not False]
        return _answer(["spans", verb, "--json", *given, "--", self.path])

    def types(self) -> Table:
        """A row for each type of spans and type of its events. `event` is None where a type has none."""
        answer = self._ask("types")
        rows: List[Row] = []
        for kind in answer.pop("types"):
            own: Row = {"type": kind["type"], "spans": kind["spans"]}
            rows += [{**own, **event} for event in kind["events"]] or [{**own, "event": None, "count": None}]
        return _table(rows, ["type", "spans", "event", "count"], answer)

    def sequences(self, root: str = ROOT, *, all: bool = False) -> Table:  # as the option is called
        """A row for each event of the most common ordering. `info["orderings"]` has it; with all=True the others, too."""
        answer = self._ask("sequences", root=root, all=all)
        rows = answer.pop("most_common")
        return _table(rows, ["event", "since_first_mean_ns", "since_before_mean_ns", "since_before_min_ns",
                             "since_before_max_ns"], answer)

    def between(self, start: str, end: str, root: str = ROOT) -> Table:
        """How long it takes from the event `start` to the event `end`: a row for each root, the distribution in `info`."""
        answer = self._ask("between", **{"from": start, "to": end, "root": root})
        rows = answer.pop("times")
        return _table(rows, ["root", "start_ns", "duration_ns"], answer)

    def states(self, root: str = ROOT, *, interval: Optional[float] = None) -> Table:
        """How many roots are in which state, in the mean: a row for each interval and state. interval: seconds."""
        answer = self._ask("states", root=root, interval=interval)
        rows = [{"start_ns": answer["start_ns"] + number * answer["width_ns"], "state": state["state"], "roots": roots}
                for state in answer["states"] for number, roots in enumerate(state.pop("means"))]
        return _table(rows, ["start_ns", "state", "roots"], answer)

    def rate(self, event: str, *, interval: Optional[float] = None) -> Table:
        """How often an event happens: a row for each interval. interval: seconds."""
        answer = self._ask("rate", event=event, interval=interval)
        rows = answer.pop("intervals")
        return _table(rows, ["start_ns", "events", "per_second"], answer)

    def graph(self) -> Table:
        """How types of spans relate: a row for each pair that does. `info["nodes"]` has the types."""
        answer = self._ask("graph")
        rows = answer.pop("edges")
        return _table(rows, ["from", "to", "kind", "count"], answer)

    def sql(self, query: str, parameters: Union[Sequence[Any], Mapping[str, Any]] = ()) -> Table:
        """The rows of a query, by Python's own sqlite3. The database is only read.

        parameters: values for `?` or `:name`. Bytes become text of hex digits.
        """
        try:
            database = sqlite3.connect(pathlib.Path(os.path.abspath(self.path)).as_uri() + "?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise TraceError(f"{self.path}: {error}") from error
        try:
            database.text_factory = _text
            cursor = database.execute(query, parameters)
            names = [column[0] for column in cursor.description or ()]
            rows: List[Dict[str, Any]] = [
                {name: value.hex() if isinstance(value, bytes) else value for name, value in zip(names, row)}
                for row in cursor]
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise TraceError(f"{self.path}: {error}") from error
        finally:
            database.close()
        return Table(rows, names)


def spans(path: Union[str, "os.PathLike[str]"]) -> Spans:
    """Opens a database of spans, as `dftmerge spans import` makes them. TraceError where there is no such file."""
    word = os.fspath(path)
    if not os.path.isfile(word):
        raise TraceError(f"{word}: there is no such file; `dftmerge spans import {word} PATH` makes databases of spans")
    return Spans(word)
