# SPDX-License-Identifier: MIT
"""Tables that dftmerge's answers become: rows in Python, columns through Arrow, aligned text on the screen."""

from __future__ import annotations

import array
import datetime
import html
import itertools
import json
import struct
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from dftrace import _arrow

Row = Dict[str, Any]
SHOWN = 40  # rows on the screen
WIDEST = 60  # characters of a column
TIMES_OF_DAY = {"ts", "t_ns", "start_ns", "end_ns", "first_ns", "last_ns", "from_ns", "to_ns"}
TIMES_OF_TABLES = {"time", "first", "last", "start", "end"}  # columns of SQL; queries may have durations of these names
BYTES = {"bytes", "read", "written", "read_bytes", "write_bytes", "size", "size_min", "size_max"}
WORDS = {"cat", "name", "class", "op", "region", "region_cat", "file", "file2", "dir", "pattern", "ext", "mount",
         "host", "process", "program", "job", "role", "access", "errno", "run", "stack", "line", "phase", "key", "exe", "ended",
         "size"}
TEXTS = {"title", "evidence", "advice", "where", "why_sure", "code", "sure", "when", "command", "cwd", "parent_key",
         "job_id", "notes", "unmet", "options", "version", "live_file", "fstype", "child_of"}


def duration(value: int) -> str:
    """Nanoseconds as a person reads them."""
    size = abs(value)
    for unit, name in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if size >= unit:
            return f"{value / unit:.3g} {name}" if size < 1000 * unit else f"{value // unit:,} {name}"
    return f"{value} ns"


def amount(value: int) -> str:
    """Bytes as a person reads them."""
    for shift, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if abs(value) >= 1 << shift:
            return f"{value / (1 << shift):.3g} {name}" if abs(value) < 1000 << shift else f"{value >> shift:,} {name}"
    return f"{value} B"


def time_of_day(value: int) -> str:
    """Nanoseconds since the Unix epoch, UTC."""
    seconds, rest = divmod(value, 10**9)
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{day:%Y-%m-%d %H:%M:%S}.{rest:09}"


def shown(text: str) -> str:
    """A text that disturbs no terminal and turns no page around."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def cell(name: str, value: Any) -> str:
    """A value on the screen."""
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        if name in TIMES_OF_DAY or (name in TIMES_OF_TABLES and value >= 10**17):
            return time_of_day(value)
        if name.endswith("_ns") or name == "dur":
            return duration(value)
        if name in BYTES:
            return amount(value)
        return f"{value:,}" if name not in ("pid", "ppid", "tid", "fd", "rank") else str(value)
    text = shown(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if len(text) <= WIDEST or name in ("evidence", "advice"):
        return text
    return text[:WIDEST // 3] + "..." + text[3 + WIDEST // 3 - WIDEST:]


def title(name: str) -> str:
    """A column's title; its unit stands with each value."""
    return (name[:-3] if name.endswith("_ns") else name).replace("_", " ")


def grid(columns: Sequence[str], rows: Sequence[Row]) -> Tuple[List[bool], List[List[str]]]:
    """Which columns are numbers, and the cells, titles first."""
    numbers = [all(isinstance(row.get(name), (int, float, type(None))) for row in rows) for name in columns]
    return numbers, [[title(name) for name in columns],
                     *([cell(name, row.get(name)) for name in columns] for row in rows)]


def as_text(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """An aligned table: numbers to the right, text to the left."""
    numbers, cells = grid(columns, rows)
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = (("  ".join(text.rjust(width) if number else text.ljust(width)
                        for text, width, number in zip(line, widths, numbers))).rstrip() for line in cells)
    return "\n".join(lines)


def as_html(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """The same for a notebook."""
    numbers, cells = grid(columns, rows)

    def line(values: Sequence[str], tag: str) -> str:
        sides = ("right" if number else "left" for number in numbers)
        return "<tr>" + "".join(f'<{tag} style="text-align:{side}">{html.escape(value)}</{tag}>'
                                for value, side in zip(values, sides)) + "</tr>"

    head, *body = cells
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{''.join(line(row, 'td') for row in body)}</tbody></table>"


def column_type(name: str, values: Iterable[Any]) -> str:
    """A column's letter for _arrow.Table: by its name and its values. Of a query they may differ in type."""
    kinds = {type(value) for value in values if value is not None}
    if name in TIMES_OF_DAY and kinds <= {int}:
        return "t"
    if float in kinds and kinds <= {int, float}:
        return "f"
    if kinds <= {int, bool} and name not in TEXTS:
        return "w" if not kinds and name in WORDS else "i"
    return "w" if name in WORDS and kinds == {str} else "s"


class Table(Sequence[Row]):
    """Rows of one answer: a sequence of dicts that prints as a table.

    `columns` are all names; `notes` says what could not be read; `info` has the answer's other members. Members that
    end in _ns are nanoseconds, and times of day count from the Unix epoch.
    """

    def __init__(self, rows: List[Row], shown: Sequence[str], notes: Sequence[str] = (), info: Optional[Row] = None,
                 more: bool = False) -> None:
        self._rows = rows
        self.columns = list(dict.fromkeys(name for row in rows for name in row)) or list(shown)
        self.notes = list(notes)
        self.info = info or {}
        self._more = more
        self._shown = [name for name in shown if name in self.columns]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def to_dicts(self) -> List[Row]:
        """A new list with a dict for each row."""
        return [dict(row) for row in self._rows]

    def _above(self) -> List[str]:
        """The verdict, where the first row is not what it says."""
        verdict = self.info.get("verdict") or {}
        return [str(verdict["line"])] if verdict.get("level", "findings") not in ("lost", "findings") else []

    def _below(self) -> List[str]:
        left = len(self._rows) - SHOWN
        more = ["... more"] if self._more else [f"... {left:,} more"] if left > 0 else []
        return more + [f"note: {note}" for note in self.notes]

    def __str__(self) -> str:
        if not self._rows:
            return "\n".join([*(self._above() or ["no rows"]), *self._below()])
        return "\n".join([*self._above(), as_text(self._shown, self._rows[:SHOWN]), *self._below()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        above, below = ("".join(f"<p>{html.escape(line)}</p>" for line in lines) for lines in (self._above(), self._below()))
        return above + as_html(self._shown, self._rows[:SHOWN]) + below

    def _arrow_table(self) -> _arrow.Table:
        types = tuple((name, column_type(name, (row.get(name) for row in self._rows))) for name in self.columns)
        return arrow_table(types, [[_plain(row.get(name), letter) for row in self._rows] for name, letter in types])

    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule interface: the schema."""
        return self._arrow_table().schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's PyCapsule interface: one batch with all columns. Lists and objects are text, in JSON."""
        table = self._arrow_table()
        return table.stream([table])


def _plain(value: Any, letter: str) -> Union[int, float, str, None]:
    if value is None or isinstance(value, str):
        return value
    if letter == "f":
        return float(value)
    return json.dumps(value) if letter in "sw" else int(value)


def arrow_table(types: Sequence[Tuple[str, str]], columns: Sequence[Sequence[Any]]) -> _arrow.Table:
    """Values, column by column, as the frame that dftmerge would write."""
    rows = len(columns[0]) if columns else 0
    return _arrow.Table(types, struct.pack("=II", rows, len(types)) +
                        b"".join(_packed(letter, values) for (_, letter), values in zip(types, columns)))


def _packed(letter: str, values: Sequence[Any]) -> bytes:
    valid = bytearray((len(values) + 7) // 8)
    for row, value in enumerate(values):
        valid[row // 8] |= (value is not None) << row % 8
    head = letter.encode() + valid
    if letter == "s":
        return head + _packed_texts(["" if value is None else value for value in values])
    if letter == "w":
        words = {word: number for number, word in enumerate(dict.fromkeys(v for v in values if v is not None))}
        codes = array.array("i", [words.get(value, 0) for value in values])
        return head + codes.tobytes() + struct.pack("=I", len(words)) + _packed_texts(list(words))
    if letter == "f":
        return head + array.array("d", [value or 0.0 for value in values]).tobytes()
    return head + array.array("Q", [(value or 0) & 2**64 - 1 for value in values]).tobytes()


def _packed_texts(texts: Sequence[str]) -> bytes:
    pieces = [text.encode("utf-8", "surrogatepass") for text in texts]
    return array.array("i", itertools.accumulate(map(len, pieces), initial=0)).tobytes() + b"".join(pieces)
