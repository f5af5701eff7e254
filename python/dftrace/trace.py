# SPDX-License-Identifier: MIT
"""Reads traces: dftrace.open("traces/") and what it answers. dftmerge does the work, in a process of its own."""

from __future__ import annotations

import collections.abc
import difflib
import glob
import json
import os
import subprocess
import sys
import tempfile
from typing import IO, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from dftrace import _arrow, _find
from dftrace._table import Row, Table, arrow_table

FILTERS = ("from", "to", "last", "rank", "pid", "host", "program", "role", "cat", "name", "region", "file", "dir",
           "ext", "mount", "op", "class", "size", "access", "errno", "errors", "slower-than", "align", "classes", "job", "run",
           "dedupe", "no-index", "profile-granularity", "profile-end", "threads")
SWITCHES = ("errors", "dedupe", "no-index", "profile-end")
Where = Optional[Mapping[str, Any]]
OF_NEWEST = ("summary", "timeline", "findings")  # of several runs in a folder they take the last one


class TraceError(Exception):
    """What dftmerge could not do, or was not asked rightly; the text says what to do next."""


def _nearest(word: str, words: Sequence[str], what: str) -> TraceError:
    near = difflib.get_close_matches(word, words, 1)
    hint = f"did you mean {near[0]}?" if near else "there are " + ", ".join(words)
    return TraceError(f"{what} {word}: there is none; {hint}")


def _texts(name: str, value: Any) -> List[str]:
    """The values that one filter is given, as words."""
    if isinstance(value, (str, int, float, os.PathLike)) and not isinstance(value, bool):
        return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    if isinstance(value, (list, tuple, set, frozenset, range)) and value:
        return [word for item in value for word in _texts(name, item)]
    raise TraceError(f"filter {name}: {value!r} is no text, no number and no list of these")


def _several(name: str, value: object, example: str) -> List[str]:
    """Words in a list, or in a text with commas."""
    words = value.split(",") if isinstance(value, str) else value
    if isinstance(words, (list, tuple)) and words and all(isinstance(word, str) and word for word in words):
        return list(words)
    raise TraceError(f"{name}: {value!r} is no name and no list of names, such as {example}")


def _filters(where: Where, more: Mapping[str, Any]) -> List[str]:
    """The options of dftmerge for these filters. Python's own words get a blank line below: class_, from_."""
    options = []
    if where is not None and not isinstance(where, collections.abc.Mapping):
        raise TraceError(f'where: {where!r} is no dict of filters, such as {{"name": "read*"}}')
    for word, value in [*(where or {}).items(), *more.items()]:
        name = str(word).rstrip("_").replace("_", "-")
        if name not in FILTERS:
            raise _nearest(str(word), [known.replace("-", "_") for known in FILTERS], "filter")
        if value is None or value is False:
            continue
        if name in SWITCHES:
            if value is not True:
                raise TraceError(f"filter {name}: True or False, not {value!r}")
            options.append(f"--{name}")
        elif name == "file":
            options += [f"--file={text}" for text in _texts(name, value)]
        else:
            options.append(f"--{name}=" + ",".join(_texts(name, value)))
    return options


def _notes(err: IO[bytes]) -> List[str]:
    """The lines that dftmerge wrote for people."""
    err.seek(0)
    lines = err.read().decode("utf-8", "replace").splitlines()
    return [line.split(": ", 1)[1] if line.startswith("dftmerge") and ": " in line else line for line in lines]


class _Question:
    """One run of dftmerge: its standard output is read, its notes are collected."""

    def __init__(self, words: Sequence[str]) -> None:
        try:
            program = _find.tool("dftmerge")
        except _find.NotFound as error:
            raise TraceError(str(error)) from None
        self._err = tempfile.TemporaryFile()
        env = {**os.environ, "DFTRACER_ENABLE": "0", "LC_ALL": "C.UTF-8"}  # its own I/O belongs in no trace
        try:
            self._process = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=self._err, env=env)
        except (OSError, ValueError) as error:
            self._err.close()
            raise TraceError(f"{program} cannot be started: {error}") from error
        assert self._process.stdout
        self.out = self._process.stdout

    def end(self) -> List[str]:
        """Waits, and returns the notes; TraceError where there is no answer."""
        self.out.close()
        code = self._process.wait()
        notes = _notes(self._err)
        self._err.close()
        if code not in (0, 1) or (code and any("no trace found" in note for note in notes)):
            raise TraceError("\n".join(notes) or f"dftmerge ended with {code}")
        return notes

    def stop(self) -> None:
        """Ends it early: its answer is not wanted any more."""
        if self._process.poll() is None:
            self._process.kill()
        self.out.close()
        self._process.wait()
        self._err.close()


def _whole(words: Sequence[str]) -> Tuple[str, List[str]]:
    """All that dftmerge prints, and its notes."""
    question = _Question(words)
    ended = False
    try:
        text = question.out.read()
        ended = True
    finally:
        if not ended:
            question.stop()
    return text.decode("utf-8", "surrogateescape"), question.end()


def _answer(words: Sequence[str]) -> Row:
    """The object that dftmerge prints, with its notes."""
    text, said = _whole(words)
    try:
        answer = json.loads(text)
    except ValueError:
        raise TraceError("\n".join(said) or "dftmerge gave no answer") from None
    answer.setdefault("notes", said)
    return dict(answer)


def _arrays(text: str, said: Sequence[str]) -> List[List[Row]]:
    """The arrays of rows that dftmerge prints, one a statement that gives rows."""
    decoder, arrays = json.JSONDecoder(), []
    text = text.strip()
    try:
        while text:
            rows, end = decoder.raw_decode(text)
            arrays.append(rows)
            text = text[end:].lstrip()
    except ValueError:
        raise TraceError("\n".join(said) or "dftmerge gave no answer") from None
    return arrays


class Events:
    """Events one by one, in order of time: each iteration, and each reader of Arrow, asks dftmerge anew.

    Memory is bounded: a batch has 65,536 events, or 64 MiB. `notes` are those of the last reading that came to the
    end. Columns are those of lines of events (docs/sql.md); `ts` and `dur` are nanoseconds.
    """

    def __init__(self, words: Sequence[str], columns: Union[str, Sequence[str], None]) -> None:
        columns = _several("columns", columns, '["ts", "name"]') if columns is not None else None
        for name in columns or ():
            if name not in _arrow.EVENTS:
                raise _nearest(str(name), list(_arrow.EVENTS), "column")
        self._words = list(words)
        self.columns = list(dict.fromkeys(columns)) if columns else list(_arrow.EVENTS)
        self.notes: List[str] = []

    def _types(self) -> List[Tuple[str, str]]:
        return [(name, _arrow.EVENTS[name]) for name in self.columns]

    def _empty(self) -> _arrow.Table:
        return arrow_table(self._types(), [[] for _ in self.columns])

    def _batches(self) -> Iterator[_arrow.Table]:
        question = _Question([*self._words[:1], "--batches=" + ",".join(self.columns), *self._words[1:]])
        ended = False
        try:
            while True:
                head = question.out.read(8)
                length = int.from_bytes(head, sys.byteorder)
                frame = question.out.read(length)
                if len(head) < 8 or len(frame) < length:
                    break  # end() says what was wrong
                try:
                    table = _arrow.Table(self._types(), frame)
                except ValueError as error:
                    raise TraceError(str(error)) from None
                yield table
            ended = True
            self.notes = question.end()
        finally:
            if not ended:
                question.stop()

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches():
            for values in batch.rows():
                yield dict(zip(self.columns, values))

    def to_dicts(self) -> List[Row]:
        """All events as dicts, in memory."""
        return list(self)

    def head(self, rows: int = 10) -> Table:
        """The first events as a table."""
        first: List[Row] = []
        notes: List[str] = []
        stream = iter(self)
        for row in stream:
            if len(first) == rows:
                break
            first.append(row)
        else:
            notes = self.notes
            return Table(first, self._shown(first), notes)
        stream.close()  # type: ignore[attr-defined]
        return Table(first, self._shown(first), notes, more=True)

    def _shown(self, rows: Sequence[Row]) -> List[str]:
        return [name for name in self.columns
                if name != "seq" and any(row[name] not in (None, _arrow.ABSENT.get(name)) for row in rows)]

    def __str__(self) -> str:
        return str(self.head())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.head()._repr_html_()

    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule interface: the schema."""
        return self._empty().schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface: batches as they are read. Calls and paths are dictionaries."""
        return self._empty().stream(self._batches())


class Trace:
    """Traces that lie at some paths; each method asks dftmerge.

    Filters are those of the command line, as keywords or in a dict `where`: rank="0,4-7", name="read*",
    file=["*.h5"], slower_than="1ms", errors=True, class_="read", from_="2s". TraceError says what was wrong.
    Of several runs, summary, timeline and findings take the newest, and note it: run="all", run=NAME.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)

    def __repr__(self) -> str:
        return f"dftrace.open({', '.join(map(repr, self.paths))})"

    def _words(self, command: str, options: Mapping[str, Any], where: Where, filters: Mapping[str, Any]) -> List[str]:
        own = [f"--{name}={value}" for name, value in options.items() if value is not None]
        given = _filters(where, filters)
        if command in OF_NEWEST and not any(option.startswith(("--run=", "--job=")) for option in given):
            own.append("--run=newest")
        return [command, "--json", *own, *given, "--", *self.paths]

    def _ask(self, command: str, options: Mapping[str, Any], where: Where, filters: Mapping[str, Any]) -> Row:
        return _answer(self._words(command, options, where, filters))

    def summary(self, by: Union[str, Sequence[str]] = "call", where: Where = None, *, top: Optional[int] = None,
                sort: Optional[str] = None, width: Optional[float] = None, **filters: Any) -> Table:
        """Where the time goes: a row for each group.

        by: keys such as "file" or ["role", "name"], see `dftmerge summary --help`. top: only so many rows.
        sort: the column that orders them. width: seconds of a group of time. Raises TraceError.
        """
        keys = _several("by", by, '["role", "name"]')
        answer = self._ask("summary", {"by": ",".join(keys), "top": top, "sort": sort, "width": width}, where, filters)
        rows = answer.pop("groups")
        numbers = ("count", "errors", "time_ns", "self_ns", "time_max_ns", "bytes")
        names = [name for row in rows[:1] for name in row]
        first = names[:names.index("count")] if "count" in names else keys
        return _table(rows, [*first, *numbers], answer)

    def events(self, where: Where = None, columns: Union[str, Sequence[str], None] = None, **filters: Any) -> Events:
        """Events one by one, in order of time, read when they are asked for.

        columns: names of those that are wanted, one or a list (default: all). Raises TraceError; dftmerge's own errors come when the
        events are read.
        """
        return Events(self._words("dump", {}, where, filters), columns)

    def timeline(self, by: Optional[str] = None, where: Where = None, *, interval: Optional[float] = None,
                 **filters: Any) -> Table:
        """Bytes, calls and time of each interval; with by ("rank", "class", "process" or "role") a row for each of these.

        interval: seconds. Raises TraceError.
        """
        answer = self._ask("timeline", {"by": by, "interval": interval}, where, filters)
        rows = answer.pop("intervals")
        if by:
            rows = answer.pop("series")
            return _table(rows, [by, "calls", "time_ns", "read", "written"], answer)
        return _table(rows, ["t_ns", "calls", "errors", "time_ns", "read", "written", "in_flight_max"], answer)

    def findings(self, where: Where = None, *, top: Optional[int] = None, **filters: Any) -> Table:
        """What is wrong, what it costs, and what to do; the dearest first. Raises TraceError."""
        answer = self._ask("findings", {"top": top}, where, filters)
        rows = answer.pop("findings")
        return _table(rows, ["number", "title", "cost_ns", "where", "advice"], answer)

    def processes(self, where: Where = None, **filters: Any) -> Table:
        """One row for each process image, children behind their parents. Raises TraceError."""
        answer = self._ask("ps", {}, where, filters)
        rows = answer.pop("processes")
        return _table(rows, ["pid", "ppid", "rank", "role", "exe", "start_ns", "end_ns", "io_ns", "read_bytes",
                             "write_bytes", "ended", "events"], answer)

    def sql(self, query: str, where: Where = None, **filters: Any) -> Table:
        """The rows of a query in SQL over all runs, as `dftmerge sql` has them; docs/sql.md has tables and columns.

        A second column of the same name is called NAME:2. Without rows there are no columns. Raises TraceError.
        """
        if not isinstance(query, str) or not query.strip() or query.lstrip().startswith("."):
            raise TraceError(f'query: {query!r} is no statement of SQL, such as "select * from by_call"')
        text, notes = _whole([*self._words("sql", {}, where, filters), query + "\n"])
        wrong = [note for note in notes if note.startswith("sql: ")]  # also where some rows came before
        if wrong:
            raise TraceError("\n".join(wrong))
        answers = _arrays(text, notes)
        if len(answers) > 1:
            raise TraceError(f"query: {len(answers)} statements give rows; ask one after the other")
        rows = answers[0] if answers else []
        return Table(rows, list(rows[0]) if rows else [], notes)


def _table(rows: List[Row], shown: Sequence[str], answer: Row) -> Table:
    return Table(rows, shown, [str(note) for note in answer.pop("notes", None) or ()], answer)


def open(*paths: Union[str, "os.PathLike[str]"]) -> Trace:
    """Opens traces: files, directories (searched), or patterns.

    TraceError where there is no such file; that no trace lies there is found out by the first question.
    """
    words = [os.fspath(path) for path in paths]
    if not words:
        raise TraceError('no path: dftrace.open("traces/")')
    for path in words:
        if not os.path.exists(path) and not glob.has_magic(path):
            raise TraceError(f"{path}: there is no such file or directory; `python -m dftrace run -o DIR script.py` "
                             "writes traces into DIR")
    return Trace(words)
